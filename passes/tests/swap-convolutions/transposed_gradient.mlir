// RUN: shard-opt %s --swap-convolutions
// The gradient of a transposed convolution's kernel: the dilated input becomes the kernel, and the
// result is read from its end. A strided one, and one with a small kernel, stay.
module @transposed_gradient {
  func.func public @main(%x: tensor<2x8x8x4xf32>, %g: tensor<2x16x16x6xf32>, %w: tensor<3x3x4x6xf32>) -> (tensor<3x2x4x6xf32>, tensor<1x1x4x6xf32>, tensor<2x16x16x6xf32>) {
    %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[2, 1], [1, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]} : (tensor<2x8x8x4xf32>, tensor<2x16x16x6xf32>) -> tensor<3x2x4x6xf32>
    %1 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [3, 3], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<2x16x16x6xf32>) -> tensor<1x1x4x6xf32>
    %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x4xf32>, tensor<3x3x4x6xf32>) -> tensor<2x16x16x6xf32>
    return %0, %1, %2 : tensor<3x2x4x6xf32>, tensor<1x1x4x6xf32>, tensor<2x16x16x6xf32>
  }
}
