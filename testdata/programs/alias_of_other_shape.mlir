module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32}) -> (tensor<7x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0 = stablehlo.negate %a : tensor<7x8xf32>
    return %0 : tensor<7x8xf32>
  }
}
