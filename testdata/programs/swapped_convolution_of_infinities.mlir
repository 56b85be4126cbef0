// The kernel's gradient of a transposed convolution, whose operands change places: zeros that pad the
// one then pad the other, and times infinity they are NaN.
module {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%a: tensor<8x4x5x8xf32>, %b: tensor<8x8x9x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}, {"x"}]>}) -> tensor<3x2x8x8xf32> {
    %0 = stablehlo.convolution(%a, %b) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[2, 1], [1, 0]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4x5x8xf32>, tensor<8x8x9x8xf32>) -> tensor<3x2x8x8xf32>
    return %0 : tensor<3x2x8x8xf32>
  }
}
