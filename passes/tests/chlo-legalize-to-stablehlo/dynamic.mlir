// RUN: shard-opt %s --chlo-legalize-to-stablehlo
// Constants need a shape.
module @dynamic {
  func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = chlo.digamma %x : tensor<?xf32> -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
