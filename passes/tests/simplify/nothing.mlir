// RUN: shard-opt %s --simplify
// What has no elements is a constant, and of a branch that a constant decides only what is taken
// stays.
func.func @main(%a: tensor<4x2xf32>) -> (tensor<0x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = stablehlo.cosine %a : tensor<4x2xf32>
  %1 = stablehlo.slice %0 [2:2, 0:2] : (tensor<4x2xf32>) -> tensor<0x2xf32>
  %2 = stablehlo.negate %1 : tensor<0x2xf32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %3 = "stablehlo.if"(%false) ({
    %4 = stablehlo.sine %a : tensor<4x2xf32>
    stablehlo.return %4 : tensor<4x2xf32>
  }, {
    %4 = stablehlo.tanh %a : tensor<4x2xf32>
    stablehlo.return %4 : tensor<4x2xf32>
  }) : (tensor<i1>) -> tensor<4x2xf32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %5 = "stablehlo.case"(%seven) ({
    stablehlo.return %a : tensor<4x2xf32>
  }, {
    %6 = stablehlo.add %3, %a : tensor<4x2xf32>
    stablehlo.return %6 : tensor<4x2xf32>
  }) : (tensor<i32>) -> tensor<4x2xf32>
  return %2, %3, %5 : tensor<0x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
