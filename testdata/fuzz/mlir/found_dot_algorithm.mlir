sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x3xf32>, %arg2: tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  %1 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [1] x [0], algorithm =stablehlo.dot <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count =Z 1, rhs_component_count = 1, num_primitivchlo.zetaons = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.dot %arg2, %arg2, precision = [HIGH, HIGH] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
