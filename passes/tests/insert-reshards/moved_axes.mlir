// RUN: shard-opt %s --propagate --insert-reshards
// A sort needs its rows whole. The axis goes to the other dimension, which is an exchange of parts,
// where that is cheaper than gathering all rows (large), and not where it isn't (small).
module @moved_axes {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%large: tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %small: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<1024x4096xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
    %0 = "stablehlo.sort"(%large) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
    %1 = "stablehlo.sort"(%small) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0, %1 : tensor<1024x4096xf32>, tensor<4x8xf32>
  }
}
