// A convolution whose window fits one place, and whose result is sharded along that dimension.
module @convolution_with_one_place {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%arg0: tensor<2x5x4xf32>, %arg1: tensor<3x4x2xf32>) -> (tensor<2x1x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {"y"}]>}) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[-1, 2]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x5x4xf32>, tensor<3x4x2xf32>) -> tensor<2x1x2xf32>
    return %0 : tensor<2x1x2xf32>
  }
}
