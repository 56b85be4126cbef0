module {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>) {
    %0 = stablehlo.composite "my.op" %a {composite_attributes = {k = 1 : i64}, decomposition = @f} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @f(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>) {
    %0 = stablehlo.negate %a : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}