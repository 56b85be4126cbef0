module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  sdy.mesh @max3 = <[], device_ids=[3]>
  func.func public @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@max3, []>]>} : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}