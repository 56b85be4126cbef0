// RUN: shard-opt %s --sdy-propagation-pipeline --verify-diagnostics --split-input-file
module @good {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module @unknown_axis {
  sdy.mesh @mesh = <["x"=2]>
  // expected-error@+1 {{"z"}}
  func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error@below {{this is not said}}
module @good_again {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
