sdy.mesh @mesh = <["data"=4, "model"=2]>

func.func @main(
    %x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
    %w: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
    %v: tensor<128x64xf32>,
    %c: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
    %d: tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model", ?}, {?}]>},
    %t: tensor<128x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", ?}, {?}]>})
    -> (tensor<32x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, tensor<32x64xf32>) {
  // An axis comes along the rows of one operand, another along the columns of the other.
  %product = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf32>, tensor<64x128xf32>) -> tensor<32x128xf32>
  // The columns are summed over: the other operand gets their axis, the result doesn't.
  %summed = stablehlo.dot_general %product, %v, contracting_dims = [1] x [0] : (tensor<32x128xf32>, tensor<128x64xf32>) -> tensor<32x64xf32>
  // A closed argument: its dimensions take nothing.
  %closed = stablehlo.add %product, %c : tensor<32x128xf32>
  // Two axes want the same dimension.
  %conflict = stablehlo.multiply %closed, %d : tensor<32x128xf32>
  // The axis is on another dimension already.
  %turned = stablehlo.transpose %t, dims = [1, 0] : (tensor<128x32xf32>) -> tensor<32x128xf32>
  %elsewhere = stablehlo.subtract %turned, %conflict : tensor<32x128xf32>
  // Rows that are sorted must be whole.
  %blocked = "stablehlo.sort"(%elsewhere) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  }) : (tensor<32x128xf32>) -> tensor<32x128xf32>
  // A barrier lets nothing through forward.
  %stopped = sdy.propagation_barrier %summed allowed_direction=BACKWARD : tensor<32x64xf32>
  // Through a loop.
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %loop:2 = stablehlo.while(%i = %zero, %carry = %summed) : tensor<i32>, tensor<32x64xf32>
  cond {
    %more = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %sine = stablehlo.sine %carry : tensor<32x64xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %sine : tensor<i32>, tensor<32x64xf32>
  }
  // A part of a dimension: what is left doesn't divide.
  %pieces = stablehlo.reshape %loop#1 : (tensor<32x64xf32>) -> tensor<2x16x64xf32>
  %piece = stablehlo.cosine %pieces : tensor<2x16x64xf32>
  // A constraint.
  %own = sdy.sharding_constraint %piece <@mesh, [{?}, {?}, {"model"}]> : tensor<2x16x64xf32>
  %mine = stablehlo.negate %own : tensor<2x16x64xf32>
  %back = stablehlo.reshape %mine : (tensor<2x16x64xf32>) -> tensor<32x64xf32>
  %sum = stablehlo.add %back, %stopped : tensor<32x64xf32>
  // Nothing leads to it.
  %numbers = stablehlo.iota dim = 0 : tensor<7xf32>
  %alone = stablehlo.sine %numbers : tensor<7xf32>
  %kept = stablehlo.custom_call @keep(%alone) {has_side_effect = true} : (tensor<7xf32>) -> tensor<7xf32>
  return %blocked, %sum : tensor<32x128xf32>, tensor<32x64xf32>
}
