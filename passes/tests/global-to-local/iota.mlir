// RUN: shard-opt %s --propagate --insert-reshards --reshard-to-collectives --global-to-local
// An iota along a split dimension begins at each device's offset.
module @iota {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main() -> (tensor<8xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    return %0 : tensor<8xi32>
  }
}
