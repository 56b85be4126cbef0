module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %c = stablehlo.constant dense<1.0> : tensor<f32>
    %u = stablehlo.reduce(%a init: %c) applies stablehlo.add across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [], unreduced={"x"}>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %v = sdy.all_reduce {"x"} %u out_sharding=<@mesh, []> : tensor<f32>
    %b = stablehlo.broadcast_in_dim %v, dims = [] : (tensor<f32>) -> tensor<4xf32>
    return %b : tensor<4xf32>
  }
}
