module {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{},{"x"}]>}) -> (tensor<8x16xf32>) {
    %3 = "stablehlo.reverse"(%a) <{dimensions = array<i64: 1>}> {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=16}, custom>} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %3 : tensor<8x16xf32>
  }
}