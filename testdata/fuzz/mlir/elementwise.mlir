sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<?xf32>) {
  %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
  %1 = stablehlo.add %arg0, %arg3 : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  %2 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.select %arg2, %arg0, %arg1 : tensor<4xi1>, tensor<4xf32>
  %4 = stablehlo.select %arg2, %arg0, %arg3 : (tensor<4xi1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
  %5 = stablehlo.compare LT, %arg0, %arg1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %6 = stablehlo.compare EQ, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %7 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
  %8 = stablehlo.real %7 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %9 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
  %10 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
  %11 = stablehlo.clamp %arg0, %arg1, %arg0 : tensor<4xf32>
  %12 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
  %13 = chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %14 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %15 = stablehlo.negate %arg0 {foo, mhlo.sharding = "{devices=[2,4]<=[8]}", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", ?}p1], replicated={"y"}>]>} : tensor<4xf32>
  return
}
