module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %v = stablehlo.optimization_barrier %a : tensor<4xf32>
    %r = stablehlo.negate %v : tensor<4xf32>
    %c = sdy.sharding_constraint %v <@mesh, [{"x"}]> : tensor<4xf32>
    return %r, %c : tensor<4xf32>, tensor<4xf32>
  }
}
