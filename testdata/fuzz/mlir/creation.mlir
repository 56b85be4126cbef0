sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<1xi64>) {
  %c = stablehlo.constant dense<1> : tensor<ui32>
  %c_0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %c_1 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi4>
  %c_2 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %c_3 = stablehlo.constant dense<> : tensor<0x3xi32>
  %cst = stablehlo.constant dense<[0.899999976, 1.000000e-01, 0x7FC00001, 1.22070313E-4]> : tensor<4xf32>
  %cst_4 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,0xFF800000)]> : tensor<2xcomplex<f32>>
  %cst_5 = stablehlo.constant dense<[0x7FC0, 1.000000e+00]> : tensor<2xbf16>
  %cst_6 = stablehlo.constant dense<[0x7F, 4.480000e+02]> : tensor<2xf8E4M3FN>
  %cst_7 = stablehlo.constant dense_resource<blob> : tensor<4xf32>
  %cst_8 = stablehlo.constant {foo = 1 : i64} dense<-0.000000e+00> : tensor<f64>
  %0 = stablehlo.iota dim = 1 : tensor<4x8xi32>
  %1 = stablehlo.dynamic_iota %arg0, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
  %2 = sdy.constant dense<1.000000e+00> : tensor<8xf32>
  return
}
