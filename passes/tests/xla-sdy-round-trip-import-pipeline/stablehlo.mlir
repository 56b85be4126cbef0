// RUN: shard-opt %s --xla-sdy-round-trip-import-pipeline
// A mesh in the place of its name, a rule, a sharding that the tiles confirm and one that XLA
// copied from another op, which they don't.
module @m attributes {mhlo.frontend_attributes = {xla.sdy.use_tuple_args = "t"}} {
  func.func public @main(%arg0: tensor<8x8xf32> {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding<mesh<[\22a\22=2, \22b\22=2]>, [{\22a\22}, {?}]>"}, mhlo.sharding = "{devices=[2,1,2]<=[4] last_tile_dim_replicate}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.negate %arg0 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<mesh<[\22a\22=2, \22b\22=2]>, [{}, {\22b\22}]>]>"}, mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : tensor<8x8xf32>
    %1 = stablehlo.negate %0 {mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<mesh<[\22a\22=2, \22b\22=2]>, [{}, {\22b\22}]>]>"}, mhlo.sharding = "{replicated}"} : tensor<8x8xf32>
    %2 = stablehlo.custom_call @mine(%1) {mhlo.frontend_attributes = {xla.sdy.sharding_rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}, custom>"}} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %2 : tensor<8x8xf32>
  }
}
