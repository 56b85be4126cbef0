// RUN: shard-opt %s --strip-shardings
// What one device would run: annotations and resharding are the identity on whole values.
module @annotations attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    %0 = sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
