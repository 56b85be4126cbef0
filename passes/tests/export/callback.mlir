// RUN: shard-opt partition %s
// A callback that is placed on one device runs on every one: that is said, and the output has no
// sharding over a mesh that it doesn't declare.
module @callback {
  sdy.mesh @mesh = <["x"=4]>
  sdy.mesh @maximal_mesh_0 = <[], device_ids=[0]>
  func.func public @main(%x: tensor<16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<16xf32> {
    stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@maximal_mesh_0, []>]>} : (tensor<16xf32>) -> ()
    %0 = stablehlo.tanh %x : tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
