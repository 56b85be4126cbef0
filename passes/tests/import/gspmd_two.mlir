// RUN: shard-opt %s --import
// Halves beside thirds: no mesh of six devices has both tilings.
module @gspmd_two attributes {mhlo.num_partitions = 6 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{devices=[2,3]<=[6]}"}) -> (tensor<16x64xf32> {mhlo.sharding = "{devices=[3,2]<=[6]}"}) {
    return %x : tensor<16x64xf32>
  }
}
