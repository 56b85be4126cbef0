// An arg-max that doesn't expect NaN: where it meets one, the result depends on how the reduction is
// nested, which differs when each device reduces its part first.
module {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4xf32>, tensor<4xi32>) {
    %i = stablehlo.iota dim = 0 : tensor<16x4xi32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.reduce(%a init: %low), (%i init: %zero) across dimensions = [0] : (tensor<16x4xf32>, tensor<16x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
     reducer(%x: tensor<f32>, %y: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
      %g = stablehlo.compare GT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %e = stablehlo.compare EQ, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %l = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %f = stablehlo.and %e, %l : tensor<i1>
      %t = stablehlo.or %g, %f : tensor<i1>
      %v = stablehlo.select %g, %x, %y : tensor<i1>, tensor<f32>
      %w = stablehlo.select %t, %j, %k : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
  }
}
