// RUN: shard-opt partition %s --stop-after=local
// Each device has its share of the feature groups, or of the batch groups; the kernel's gradient
// sums over images that are spread over the devices.
module @grouped_convolutions {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %k: tensor<3x1x8xf32>, %g: tensor<8x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {"x"}]>}, %d: tensor<8x6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) -> (tensor<8x6x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32>) {
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<8x6x8xf32>, tensor<3x1x8xf32>) -> tensor<8x6x8xf32>
    %1 = stablehlo.convolution(%a, %g) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 8 : i64, feature_group_count = 1 : i64} : (tensor<8x6x8xf32>, tensor<8x6x8xf32>) -> tensor<3x1x8xf32>
    %2 = stablehlo.convolution(%d, %d) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]} {batch_group_count = 8 : i64, feature_group_count = 1 : i64} : (tensor<8x6x8xf32>, tensor<8x6x8xf32>) -> tensor<3x1x8xf32>
    return %0, %1, %2 : tensor<8x6x8xf32>, tensor<3x1x8xf32>, tensor<3x1x8xf32>
  }
}
