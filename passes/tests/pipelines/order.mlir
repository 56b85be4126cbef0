// RUN: shard-opt %s -inline-calls --dump-pass-pipeline --import -simplify --mlir-print-ir-after-all
module @order {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
