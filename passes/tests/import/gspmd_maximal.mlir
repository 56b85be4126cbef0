// RUN: shard-opt %s --import
// A value on one device alone is refused.
module @gspmd_maximal attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{maximal device=3}"}) -> tensor<16x64xf32> {
    return %x : tensor<16x64xf32>
  }
}
