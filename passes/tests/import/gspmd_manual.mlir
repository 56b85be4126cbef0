// RUN: shard-opt %s --import
// A program that is partitioned already isn't one for several devices.
module @gspmd_manual attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{manual}"}) -> tensor<16x64xf32> {
    return %x : tensor<16x64xf32>
  }
}
