// RUN: shard-opt %s --import
// Tile assignments by iota, by list and by transposed iota fit one mesh; a constraint leaves its
// first dimension open; what is on a device for its effects stays.
module @gspmd attributes {mhlo.num_partitions = 8 : i32} {
  func.func public @main(%x: tensor<16x64xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"}, %w: tensor<64x32xf32> {mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"}, %b: tensor<32xf32> {mhlo.sharding = "{devices=[4,2]0,1,2,3,4,5,6,7 last_tile_dim_replicate}"}) -> (tensor<16x32xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "unspecified_dims=[0]", mhlo.sharding = "{devices=[1,4,2]<=[8] last_tile_dim_replicate}"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<32xf32>) -> tensor<16x32xf32>
    %3 = stablehlo.add %1, %2 : tensor<16x32xf32>
    stablehlo.custom_call @callback(%3) {has_side_effect = true, mhlo.sharding = "{maximal device=0}"} : (tensor<16x32xf32>) -> ()
    return %3 : tensor<16x32xf32>
  }
}
