#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32} loc("x"), %arg1: tensor<f32> loc(unknown)) -> (tensor<4xf32> {jax.result_info = "result"}, tensor<f32>) attributes {foo, no_inline} {
    %0 = call @inner(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc(#loc2)
    return %0, %arg1 : tensor<4xf32>, tensor<f32> loc(#loc)
  } loc(#loc)
  func.func private @inner(%arg0: tensor<4xf32> loc("jit(f)/jit(inner)"(#loc2))) -> tensor<4xf32> {
    %cst = stablehlo.constant dense<"0x0000803F000000400000404000008040"> : tensor<4xf32>
    %0 = stablehlo.add %arg0, %cst : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @declared(tensor<4xf32> {foo = 1 : i64}, i32) -> tensor<4xf32>
  func.func nested @nothing() {
    return
  }
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc(fused<{a = 1 : i64}>["f.py":3:4 to 5:6, callsite("f"("f.py":1:1) at "g.py":2:2)])
