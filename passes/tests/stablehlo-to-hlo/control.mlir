// RUN: shard-opt %s --stablehlo-to-hlo
// Loops and branches are given what they use from outside; several results are a tuple.
module @step attributes {mhlo.num_partitions = 2 : i32} {
  func.func public @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %flag: tensor<i1>) -> (tensor<4xf32>, tensor<f32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.add %y, %x : tensor<4xf32>
      stablehlo.return %next, %sum : tensor<i32>, tensor<4xf32>
    }
    %z = "stablehlo.if"(%flag) ({
      stablehlo.return %loop#1 : tensor<4xf32>
    }, {
      %n = stablehlo.negate %x : tensor<4xf32>
      stablehlo.return %n : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %nothing = stablehlo.constant dense<0.0> : tensor<f32>
    %total = stablehlo.reduce(%z init: %nothing) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %z, %total : tensor<4xf32>, tensor<f32>
  }
}
