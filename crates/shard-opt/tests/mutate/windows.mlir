module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%x: tensor<2x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}, %w: tensor<3x3x4x4xf32>, %p: tensor<i32>) -> (tensor<2x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}, tensor<2x18x8x4xf32> , tensor<2x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}, tensor<2x4x8x4xf32> , tensor<2x16x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}, {}]>}) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [2, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x16x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<2x16x8x4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.pad %x, %z, low = [0, 2, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<2x16x8x4xf32>, tensor<f32>) -> tensor<2x18x8x4xf32>
    %2 = stablehlo.reverse %x, dims = [1] : tensor<2x16x8x4xf32>
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.dynamic_slice %x, %c0, %p, %c0, %c0, sizes = [2, 4, 8, 4] : (tensor<2x16x8x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x8x4xf32>
    %4 = stablehlo.slice %x [0:2, 1:16, 0:8, 0:4] : (tensor<2x16x8x4xf32>) -> tensor<2x15x8x4xf32>
    %5 = stablehlo.slice %x [0:2, 0:1, 0:8, 0:4] : (tensor<2x16x8x4xf32>) -> tensor<2x1x8x4xf32>
    %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<2x15x8x4xf32>, tensor<2x1x8x4xf32>) -> tensor<2x16x8x4xf32>
    return %0, %1, %2, %3, %6 : tensor<2x16x8x4xf32>, tensor<2x18x8x4xf32>, tensor<2x16x8x4xf32>, tensor<2x4x8x4xf32>, tensor<2x16x8x4xf32>
  }
}
