module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}) -> (tensor<8x8xf32>) {
    %0 = stablehlo.negate %a : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}