sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @f(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}, %arg1: tensor<8x8xf32>) {
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x":(1)2, ?}p2, {}], unreduced={"y"}> : tensor<8x8xf32>
  %1 = sdy.reshard %arg0 <@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %arg0 <mesh<["a"=4], device_ids=[3, 2, 1, 0]>, [{"a"}, {}]> : tensor<8x8xf32>
  %3:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<2x8xf32>, %arg3: tensor<2x8xf32>) {
  %17 = func.call @g(%arg2) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  sdy.return %17, %arg3 : tensor<2x8xf32>, tensor<2x8xf32>
  } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
  sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
  sdy.return
  } : () -> ()
  %4 = sdy.named_computation<"foo">(%arg0) in_shardings=[<@mesh, [{}, {}]>] (%arg2: tensor<8x8xf32>) {
  sdy.return %arg2 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  sdy.sharding_group %arg0 group_id=3 : tensor<8x8xf32>
  %5 = sdy.data_flow_edge %arg0 sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
  %6 = sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<8x8xf32>
  %7 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %8 = sdy.all_slice [{"y"}, {"x":(2)2}] %arg0 out_sharding=<@mesh, [{"y"}, {"x":(2)2}]> : tensor<8x8xf32>
  %9 = sdy.all_to_all [{"x"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %10 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %11 = sdy.all_reduce {"x", "y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %12 = sdy.all_reduce max {"y"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %13 = sdy.reduce_scatter min [{}, {"y"}] %arg0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
  %14 = sdy.sharded_to_unreduced [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={"x"}> : tensor<8x8xf32>
  %15 = sdy.replicated_to_unreduced {"y"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced=max{"y"}> : tensor<8x8xf32>
  %16 = stablehlo.add %arg0, %arg1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={j}, custom>} : tensor<8x8xf32>
  return
}
