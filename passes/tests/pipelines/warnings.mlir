// RUN: shard-opt partition %s --memory-limit=64B
// Nothing is sharded, so that each device does all of the work, and needs more memory than it has.
module @warnings {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<16xf32>) -> tensor<16xf32> {
    %0 = stablehlo.tanh %x : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
