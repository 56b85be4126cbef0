// RUN: shard-opt %s --stablehlo-to-hlo
// HLO text begins at an entry.
module @m {
  sdy.mesh @mesh = <["x"=2]>
}
