module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<i32> {
    %z = stablehlo.constant dense<3> : tensor<i32>
    %r = stablehlo.reduce(%a init: %z) applies stablehlo.multiply across dimensions = [0] : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
    return %r : tensor<i32>
  }
}
