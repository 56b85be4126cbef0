module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%b: tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<7x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.slice %b [0:7, 0:0] : (tensor<7x5xf32>) -> tensor<7x0xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<7x0xf32>, tensor<f32>) -> tensor<7xf32>
    %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<7xf32>) -> tensor<7x5xf32>
    %r = stablehlo.add %t, %b : tensor<7x5xf32>
    return %r : tensor<7x5xf32>
  }
}
