// RUN: shard-opt %s --sdy-sharding-group-import --verify-diagnostics
func.func @main(%a: tensor<8xf32>, %b: tensor<4xf32>) {
  sdy.sharding_group %a group_id=7 : tensor<8xf32>
  // expected-error@+1 {{must have the same shape}}
  sdy.sharding_group %b group_id=7 : tensor<4xf32>
  return
}
