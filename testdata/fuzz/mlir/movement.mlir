sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<4x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2xi64>) {
  %0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.slice %arg0 [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>
  %4 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %5 = stablehlo.dynamic_update_slice %arg0, %4, %arg2, %arg2 : (tensor<4x8xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %6 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x21xf32>
  %7 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  %8 = stablehlo.reverse %arg0, dims = [0] : tensor<4x8xf32>
  %9 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x8xf32>) -> tensor<i32>
  %10 = stablehlo.set_dimension_size %arg0, %arg2, dim = 0 : (tensor<4x8xf32>, tensor<i32>) -> tensor<?x8xf32, #stablehlo.bounds<4, ?>>
  %11 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg3, dims = [] {known_expanding_dimensions = array<i64: 0>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  %12 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi32>
  %13 = stablehlo.broadcast %arg1, sizes = [3] : (tensor<f32>) -> tensor<3xf32>
  return
}
