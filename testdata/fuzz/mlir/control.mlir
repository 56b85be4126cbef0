sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<i32>, %arg1: tensor<4xf32>, %arg2: tensor<i1>) {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<4xf32> attributes {foo = 1 : i64}
  cond {
  %4 = stablehlo.compare LT, %iterArg, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %4 : tensor<i1>
  } do {
  %4 = func.call @f(%iterArg) : (tensor<i32>) -> tensor<i32>
  stablehlo.return %4, %iterArg_0 : tensor<i32>, tensor<4xf32>
  }
  %1 = "stablehlo.case"(%0#0) ({
  stablehlo.return %arg1 : tensor<4xf32>
  }, {
  stablehlo.return %0#1 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<i32>, tensor<4xf32>
  stablehlo.optimization_barrier()
  %3:2 = call @g() {foo} : () -> (tensor<f32>, tensor<f32>)
  return
}
