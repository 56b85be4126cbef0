// Steps over a dimension of one element say nothing, until it is padded to as many as there are
// devices: strides of a slice, interior padding, strides of windows.
module @steps_over_one_element {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%arg0: tensor<8x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<10x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<7x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0 = stablehlo.tanh %arg0 : tensor<8x1xf32>
    %1 = stablehlo.slice %0 [0:4, 0:1:3] : (tensor<8x1xf32>) -> tensor<4x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.pad %0, %cst, low = [1, 0], high = [1, 0], interior = [0, 2] : (tensor<8x1xf32>, tensor<f32>) -> tensor<10x1xf32>
    %3 = "stablehlo.reduce_window"(%0, %cst) <{window_dimensions = array<i64: 2, 1>, base_dilations = array<i64: 1, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x1xf32>, tensor<f32>) -> tensor<7x1xf32>
    return %1, %2, %3 : tensor<4x1xf32>, tensor<10x1xf32>, tensor<7x1xf32>
  }
}
