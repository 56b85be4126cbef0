// RUN: shard-opt %s --stablehlo-to-hlo --allow-unregistered-dialect
// An op beside the functions isn't dropped in silence.
module @m {
  "my.setting"() {value = 1 : i32} : () -> ()
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
}
