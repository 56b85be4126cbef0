// A loop that runs as often as an argument says: edge inputs must leave it at a moderate number.
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%n: tensor<i32>, %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<i32>, tensor<8x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:3 = stablehlo.while(%i = %zero, %end = %n, %s = %x) : tensor<i32>, tensor<i32>, tensor<8x4xf32>
    cond {
      %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.sine %s : tensor<8x4xf32>
      stablehlo.return %j, %end, %t : tensor<i32>, tensor<i32>, tensor<8x4xf32>
    }
    return %0#0, %0#2 : tensor<i32>, tensor<8x4xf32>
  }
}
