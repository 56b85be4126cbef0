// RUN: shard-opt %s --import
// An order of devices that isn't a transposition is kept in the mesh.
module @gspmd_order attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{devices=[4,2]0,1,3,2,6,7,5,4}"}) -> (tensor<16x64xf32> {mhlo.sharding = "{devices=[4,1,2]0,1,3,2,6,7,5,4 last_tile_dim_replicate}"}) {
    %0 = stablehlo.tanh %x : tensor<16x64xf32>
    return %0 : tensor<16x64xf32>
  }
}
