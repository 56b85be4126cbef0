module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%a: tensor<3x5x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {"y"}]>}, %b: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<15x8xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<3x5x8xf32>, tensor<8x8xf32>) -> tensor<3x5x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<3x5x8xf32>) -> tensor<15x8xf32>
    return %1 : tensor<15x8xf32>
  }
}
