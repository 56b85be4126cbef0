//! Every spelling of ops, attributes, types and constants survives.

mod support;

use support::{read, survives};

/// Reads a text, checks that it survives, and returns it as it is printed.
fn printed(text: &str) -> String {
    let module = read(text);
    survives(&module);
    shard_text::print(&module, &Default::default())
}

/// Ops that are printed as they are written, one a line. `args` are those of the function.
#[track_caller]
fn ops(args: &str, body: &str) {
    let lines: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = format!(
        "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\nfunc.func @f({args}) {{\n{}\nreturn\n}}",
        lines.join("\n")
    );
    let out = printed(&text);
    let found: Vec<&str> = out.lines().map(str::trim).collect();
    for line in lines {
        assert!(found.contains(&line), "{line}\nisn't in\n{out}");
    }
}

#[test]
fn elementwise() {
    ops(
        "%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xi1>, %arg3: tensor<?xf32>, %arg4: tensor<4xi32>",
        "%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
         %1 = stablehlo.add %arg0, %arg3 : (tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
         %2 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
         %3 = stablehlo.select %arg2, %arg0, %arg1 : tensor<4xi1>, tensor<4xf32>
         %4 = stablehlo.select %arg2, %arg0, %arg3 : (tensor<4xi1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>
         %5 = stablehlo.compare LT, %arg0, %arg1, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
         %6 = stablehlo.compare EQ, %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
         %7 = stablehlo.complex %arg0, %arg1 : tensor<4xcomplex<f32>>
         %8 = stablehlo.real %7 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
         %9 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
         %10 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
         %11 = stablehlo.clamp %arg0, %arg1, %arg0 : tensor<4xf32>
         %12 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
         %13 = chlo.next_after %arg0, %arg1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
         %14 = stablehlo.tanh %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
         %15 = stablehlo.negate %arg0 {foo, mhlo.sharding = \"{devices=[2,4]<=[8]}\", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"x\", ?}p1], replicated={\"y\"}>]>} : tensor<4xf32>
         %16 = chlo.mulhi %arg4, %arg4 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
         %17 = \"chlo.constant_like\"(%arg0) <{value = 2.500000e+00 : f32}> : (tensor<4xf32>) -> tensor<4xf32>",
    );
}

#[test]
fn creation() {
    ops(
        "%arg0: tensor<1xi64>",
        "%c = stablehlo.constant dense<1> : tensor<ui32>
         %c_0 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
         %c_1 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi4>
         %c_2 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
         %c_3 = stablehlo.constant dense<> : tensor<0x3xi32>
         %cst = stablehlo.constant dense<[0.899999976, 1.000000e-01, 0x7FC00001, 1.22070313E-4]> : tensor<4xf32>
         %cst_4 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,0xFF800000)]> : tensor<2xcomplex<f32>>
         %cst_5 = stablehlo.constant dense<[0x7FC0, 1.000000e+00]> : tensor<2xbf16>
         %cst_6 = stablehlo.constant dense<[0x7F, 4.480000e+02]> : tensor<2xf8E4M3FN>
         %cst_7 = stablehlo.constant dense_resource<blob> : tensor<4xf32>
         %cst_8 = stablehlo.constant {foo = 1 : i64} dense<-0.000000e+00> : tensor<f64>
         %0 = stablehlo.iota dim = 1 : tensor<4x8xi32>
         %1 = stablehlo.dynamic_iota %arg0, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>
         %2 = sdy.constant dense<1.000000e+00> : tensor<8xf32>",
    );
    // Long constants are bytes; booleans, of which MLIR changed the layout, stay a list.
    let numbers: Vec<String> = (0..200).map(|n| n.to_string()).collect();
    let flags = vec!["true, false"; 100].join(", ");
    let out = printed(&format!(
        "func.func @f() {{ %0 = stablehlo.constant dense<[{}]> : tensor<200xi16>\n\
         %1 = stablehlo.constant dense<[{flags}]> : tensor<200xi1> return }}",
        numbers.join(", ")
    ));
    assert!(out.contains("dense<\"0x00000100020003"), "{out}");
    assert!(out.contains("dense<[true, false, true"), "{out}");
    // Both layouts of booleans are read.
    let bits = format!("\"0x{}\"", "55".repeat(25));
    let bytes = format!("\"0x{}\"", "0100".repeat(100));
    for hex in [bits, bytes] {
        let text = format!(
            "func.func @f() {{ %0 = stablehlo.constant dense<{hex}> : tensor<200xi1> return }}"
        );
        assert!(printed(&text).contains("dense<[true, false, true"));
    }
}

#[test]
fn constants_of_a_shared_text_are_those_of_any_other() {
    let digits = "0000803f00000040".repeat(200);
    let same = "0000803F".repeat(400);
    let text = format!(
        "func.func @f() {{ %0 = stablehlo.constant dense<\"0x{digits}\"> : tensor<400xf32>\n\
         %1 = stablehlo.constant dense<\"0x{same}\"> : tensor<400xf32> return }}"
    );
    let module = read(&text);
    let before = "// something else\n";
    let whole = std::sync::Arc::new(format!("{before}{text}").into_bytes());
    let options = shard_text::ParseOptions::default();
    let shared = shard_text::parse_shared(&whole, before.len()..whole.len(), &options);
    let shared = shared.into_result().expect("the same text");
    assert!(std::sync::Arc::strong_count(&whole) > 1, "the module keeps the text");
    shard_text::equal(&module, &shared).expect("the same module");
    let print = |module: &shard_text::Module| shard_text::print(module, &Default::default());
    assert_eq!(print(&module), print(&shared));
    assert!(print(&shared).contains("dense<1.000000e+00>"), "a splat is found");
    // Digits that are none are found, too.
    let bad = std::sync::Arc::new(text.replace("00000040", "0000004g").into_bytes());
    let parsed = shard_text::parse_shared(&bad, 0..bad.len(), &options);
    assert!(parsed.diagnostics[0].message.contains("hexadecimal"), "{:?}", parsed.diagnostics);
}

#[test]
fn contractions() {
    ops(
        "%arg0: tensor<2x4x8xf32>, %arg1: tensor<2x8x3xf32>, %arg2: tensor<4x4xf32>",
        "%0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
         %1 = stablehlo.dot_general %arg2, %arg2, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
         %2 = stablehlo.dot %arg2, %arg2, precision = [HIGH, HIGH] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>",
    );
    ops(
        "%arg0: tensor<1x4x4x1xf32>, %arg1: tensor<3x3x1x1xf32>",
        "%0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x4x4x1xf32>
         %1 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[f, 0, b, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x2x1x2xf32>",
    );
}

#[test]
fn reductions() {
    ops(
        "%arg0: tensor<4x8xf32>, %arg1: tensor<f32>, %arg2: tensor<4x8xi32>, %arg3: tensor<i32>",
        "%0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
         %1:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = [1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
         reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
         %3 = stablehlo.maximum %arg4, %arg6 : tensor<f32>
         stablehlo.return %3, %arg5 : tensor<f32>, tensor<i32>
         }
         %2 = \"stablehlo.reduce_window\"(%arg0, %arg1) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
         ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
         %3 = stablehlo.add %arg4, %arg5 : tensor<f32>
         stablehlo.return %3 : tensor<f32>
         }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x4xf32>",
    );
}

#[test]
fn movement() {
    ops(
        "%arg0: tensor<4x8xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2xi64>",
        "%0 = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
         %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
         %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
         %3 = stablehlo.slice %arg0 [0:4:2, 1:8] : (tensor<4x8xf32>) -> tensor<2x7xf32>
         %4 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 2] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
         %5 = stablehlo.dynamic_update_slice %arg0, %4, %arg2, %arg2 : (tensor<4x8xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
         %6 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x21xf32>
         %7 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
         %8 = stablehlo.reverse %arg0, dims = [0] : tensor<4x8xf32>
         %9 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x8xf32>) -> tensor<i32>
         %10 = stablehlo.set_dimension_size %arg0, %arg2, dim = 0 : (tensor<4x8xf32>, tensor<i32>) -> tensor<?x8xf32, #stablehlo.bounds<4, ?>>
         %11 = stablehlo.dynamic_broadcast_in_dim %arg1, %arg3, dims = [] {known_expanding_dimensions = array<i64: 0>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
         %12 = stablehlo.bitcast_convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xi32>
         %13 = stablehlo.broadcast %arg1, sizes = [3] : (tensor<f32>) -> tensor<3xf32>",
    );
}

#[test]
fn indexing_and_sorting() {
    ops(
        "%arg0: tensor<8x8xf32>, %arg1: tensor<3x1xi32>, %arg2: tensor<3x8xf32>",
        "%0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<8x8xf32>, tensor<3x1xi32>) -> tensor<3x8xf32>
         %1 = \"stablehlo.scatter\"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
         ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
         stablehlo.return %arg4 : tensor<f32>
         }) : (tensor<8x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<8x8xf32>
         %2 = \"stablehlo.sort\"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
         ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
         %3 = stablehlo.compare LT, %arg3, %arg4, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
         stablehlo.return %3 : tensor<i1>
         }) : (tensor<8x8xf32>) -> tensor<8x8xf32>
         %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<8x8xf32> -> (tensor<8x2xf32>, tensor<8x2xi32>)",
    );
}

#[test]
fn linear_algebra_and_random() {
    ops(
        "%arg0: tensor<4x4xf32>, %arg1: tensor<f32>, %arg2: tensor<2xi64>, %arg3: tensor<2xui64>, %arg4: tensor<4xcomplex<f32>>, %arg5: tensor<4xf32>",
        "%0 = stablehlo.cholesky %arg0, lower = true : tensor<4x4xf32>
         %1 = \"stablehlo.triangular_solve\"(%arg0, %arg0) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
         %2 = stablehlo.fft %arg4, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
         %3 = stablehlo.rng %arg1, %arg1, %arg2, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x4xf32>
         %output_state, %output = stablehlo.rng_bit_generator %arg3, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
         %4 = \"stablehlo.batch_norm_inference\"(%arg0, %arg5, %arg5, %arg5, %arg5) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>",
    );
}

#[test]
fn control() {
    ops(
        "%arg0: tensor<i32>, %arg1: tensor<4xf32>, %arg2: tensor<i1>",
        "%0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<4xf32> attributes {foo = 1 : i64}
         cond {
         %4 = stablehlo.compare LT, %iterArg, %iterArg, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
         stablehlo.return %4 : tensor<i1>
         } do {
         %4 = func.call @f(%iterArg) : (tensor<i32>) -> tensor<i32>
         stablehlo.return %4, %iterArg_0 : tensor<i32>, tensor<4xf32>
         }
         %1 = \"stablehlo.case\"(%0#0) ({
         stablehlo.return %arg1 : tensor<4xf32>
         }, {
         stablehlo.return %0#1 : tensor<4xf32>
         }) : (tensor<i32>) -> tensor<4xf32>
         %2:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<i32>, tensor<4xf32>
         stablehlo.optimization_barrier()
         %3:2 = call @g() {foo} : () -> (tensor<f32>, tensor<f32>)",
    );
}

#[test]
fn collectives() {
    ops(
        "%arg0: tensor<4x4xf32>",
        "%0 = stablehlo.partition_id : tensor<ui32>
         %1 = \"stablehlo.all_reduce\"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
         ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
         %7 = stablehlo.add %arg1, %arg2 : tensor<f32>
         stablehlo.return %7 : tensor<f32>
         }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
         %2 = \"stablehlo.all_gather\"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = \"y\">]>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
         %3 = \"stablehlo.all_to_all\"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>, split_count = 1 : i64, split_dimension = 0 : i64}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
         %4 = \"stablehlo.collective_permute\"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
         %5 = \"stablehlo.all_gather\"(%arg0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = \"a\", size = 4>]>, axes = [#stablehlo.axis_ref<name = \"a\", sub_axis_info = (1)2>]>}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
         %6 = \"stablehlo.collective_broadcast\"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>",
    );
}

#[test]
fn sdy() {
    ops(
        "%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {?}]>}, %arg1: tensor<8x8xf32>",
        "%0 = sdy.sharding_constraint %arg0 <@mesh, [{\"x\":(1)2, ?}p2, {}], unreduced={\"y\"}> : tensor<8x8xf32>
         %1 = sdy.reshard %arg0 <@mesh, [{\"y\", \"x\"}, {}]> : tensor<8x8xf32>
         %2 = sdy.reshard %arg0 <mesh<[\"a\"=4], device_ids=[3, 2, 1, 0]>, [{\"a\"}, {}]> : tensor<8x8xf32>
         %3:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{\"x\"}, {}]>, <@mesh, [{\"x\"}, {}]>] out_shardings=[<@mesh, [{\"x\"}, {}]>, <@mesh, [{\"x\"}, {}]>] manual_axes={\"x\"} (%arg2: tensor<2x8xf32>, %arg3: tensor<2x8xf32>) {
         %17 = func.call @g(%arg2) : (tensor<2x8xf32>) -> tensor<2x8xf32>
         sdy.return %17, %arg3 : tensor<2x8xf32>, tensor<2x8xf32>
         } : (tensor<8x8xf32>, tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
         sdy.manual_computation() in_shardings=[] out_shardings=[] manual_axes={} () {
         sdy.return
         } : () -> ()
         %4 = sdy.named_computation<\"foo\">(%arg0) in_shardings=[<@mesh, [{}, {}]>] (%arg2: tensor<8x8xf32>) {
         sdy.return %arg2 : tensor<8x8xf32>
         } : (tensor<8x8xf32>) -> tensor<8x8xf32>
         sdy.sharding_group %arg0 group_id=3 : tensor<8x8xf32>
         %5 = sdy.data_flow_edge %arg0 sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
         %6 = sdy.propagation_barrier %arg0 allowed_direction=BACKWARD : tensor<8x8xf32>
         %7 = sdy.all_gather [{\"x\"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
         %8 = sdy.all_slice [{\"y\"}, {\"x\":(2)2}] %arg0 out_sharding=<@mesh, [{\"y\"}, {\"x\":(2)2}]> : tensor<8x8xf32>
         %9 = sdy.all_to_all [{\"x\"}: 0->1] %arg0 out_sharding=<@mesh, [{}, {\"x\"}]> : tensor<8x8xf32>
         %10 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{\"x\"}, {}]> : tensor<8x8xf32>
         %11 = sdy.all_reduce {\"x\", \"y\"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
         %12 = sdy.all_reduce max {\"y\"} %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
         %13 = sdy.reduce_scatter min [{}, {\"y\"}] %arg0 out_sharding=<@mesh, [{}, {\"y\"}]> : tensor<8x8xf32>
         %14 = sdy.sharded_to_unreduced [{\"x\"}, {}] %arg0 out_sharding=<@mesh, [{}, {}], unreduced={\"x\"}> : tensor<8x8xf32>
         %15 = sdy.replicated_to_unreduced {\"y\"} %arg0 out_sharding=<@mesh, [{}, {}], unreduced=max{\"y\"}> : tensor<8x8xf32>
         %16 = stablehlo.add %arg0, %arg1 {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=8} reduction={j}, custom>} : tensor<8x8xf32>",
    );
    let out = printed(
        "func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@late, [{\"x\"}]>}) -> (tensor<4xf32> {jax.result_info = \"r\", sdy.sharding = #sdy.sharding<@late, [{}]>}) { return %a : tensor<4xf32> }\n\
         sdy.mesh @late = <[\"x\"=2, \"y\"=1], device_ids=[1, 0]> {foo = 1}\n\
         sdy.mesh @one = <[], device_ids=[3]>",
    );
    assert!(
        out.contains("sdy.mesh @late = <[\"x\"=2, \"y\"=1], device_ids=[1, 0]> {foo = 1 : i64}"),
        "{out}"
    );
    assert!(out.contains("sdy.mesh @one = <[], device_ids=[3]>"), "{out}");
}

#[test]
fn effects_and_custom_calls() {
    ops(
        "%arg0: tensor<4xf32>, %arg1: !stablehlo.token",
        "%0 = stablehlo.create_token : !stablehlo.token
         %1 = stablehlo.after_all %0, %arg1 : !stablehlo.token
         %2 = stablehlo.tuple %arg0, %1 : tuple<tensor<4xf32>, !stablehlo.token>
         %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
         %4:2 = \"stablehlo.infeed\"(%arg1) <{infeed_config = \"x\", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
         %5 = \"stablehlo.send\"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
         %6 = stablehlo.custom_call @foo(%arg0) {backend_config = \"\", has_side_effect = true, mhlo.backend_config = {n = 76 : ui8}, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
         %7 = stablehlo.custom_call @\"a b\"() {api_version = 4 : i32, bytes = \"\\08\\FF\"} : () -> tensor<f32>
         stablehlo.custom_call @effect() : () -> ()
         %8 = stablehlo.composite \"foo.bar\" %arg0 {composite_attributes = {n = 2 : i64}, decomposition = @f, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>",
    );
}

#[test]
fn unknown_ops_attributes_and_types() {
    ops(
        "%arg0: !foo.bar<\"a>\", [1, 2], (x) -> y>, %arg1: tensor<4x!quant.uniform<i8:f32, 2.000000e+00:15>>, %arg2: tensor<*xf32>, %arg3: tuple<>, %arg4: (i32) -> (i32, f32), %arg5: tensor<4xi37>, %arg6: memref<4xf32, strided<[1]>>",
        "%0:2 = \"foo.op\"(%arg0, %arg1) <{p = #foo.attr<{\"a\"}: 0->1>, q = affine_map<(d0) -> (d0)>}> ({
         ^bb0(%arg7: index):
         \"cf.br\"(%arg7)[^bb1] : (index) -> ()
         ^bb1(%1: index):
         \"foo.end\"()[^bb1, ^bb0] : () -> ()
         }, {
         }) {a = #foo<bar>, b = [1, 2.500000e+00, 3 : i8, unit, i32, \"s\\22\", @a::@\"b c\"], c = -5 : index, d = 0x7FC00000 : f32, e, f = array<f32: 1.000000e+00, 2.500000e+00>, g = array<i64>, h = #stablehlo<comparison_direction EQ>, i = dense<\"text\"> : tensor<1x!foo.string>, \"j k\" = {}, l = 340282366920938463463374607431768211455 : i128} : (!foo.bar<\"a>\", [1, 2], (x) -> y>, tensor<4x!quant.uniform<i8:f32, 2.000000e+00:15>>) -> (i32, none)",
    );
}

#[test]
fn modules_and_functions() {
    let text = "module @jit_f attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32> {jax.buffer_donor = true}, %arg1: tensor<f32>) -> (tensor<4xf32> {jax.result_info = \"result\"}, tensor<f32>) attributes {foo, no_inline} {
    return %arg0, %arg1 : tensor<4xf32>, tensor<f32>
  }
  func.func private @declared(tensor<4xf32> {foo = 1 : i64}, i32) -> tensor<4xf32>
  func.func nested @nothing() {
    return
  }
}
";
    assert_eq!(printed(text), text);
}

#[test]
fn aliases_and_comments() {
    let out = printed(
        "// A comment.\n#dims = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>\n\
         !t = tensor<4x4xf32>\n\
         func.func @f(%a: !t) -> !t { // another\n\
           %0 = \"stablehlo.dot_general\"(%a, %a) {dot_dimension_numbers = #dims} : (!t, !t) -> !t loc(#loc2)\n\
           \"foo.op\"() {a = #later, b = #foo.bar<#later, !t, \"#later\">} : () -> ()\n\
           return %0 : !t } loc(#loc1)\n\
         #later = {x = !t}\n\
         #loc1 = loc(fused<\"m\">[#loc2, \"f.py\":3:4 to 5:6])\n#loc2 = loc(callsite(\"n\"(\"g.py\":1:2 to :3) at unknown))\n",
    );
    assert!(out.contains("contracting_dims = [1] x [0]"), "{out}");
    assert!(out.contains("a = {x = tensor<4x4xf32>}"), "{out}");
    assert!(out.contains("#foo.bar<{x = tensor<4x4xf32>}, tensor<4x4xf32>, \"#later\">"), "{out}");
}

#[test]
fn names_are_kept_aside() {
    let module = read(
        "func.func @f(%x: tensor<f32>) { %sum = stablehlo.add %x, %x : tensor<f32> %1 = stablehlo.abs %sum : tensor<f32> return }",
    );
    let func = module.main_func().expect("a function");
    let ops = module.block_ops(module.func_entry(func));
    let name = |value| module.value_names[value].expand().map(|name| module.str(name));
    assert_eq!(name(module.args(func)[0]), Some("x"));
    assert_eq!(name(module.result(ops[0], 0)), Some("sum"));
    assert_eq!(name(module.result(ops[1], 0)), None);
    let names = shard_text::Names::new(&module, false);
    assert_eq!(names.text(module.result(ops[0], 0)), "%0");
}

#[test]
fn places_without_locations() {
    let text =
        "func.func @f(%x: tensor<f32>) {\n  %0 = stablehlo.abs %x : tensor<f32>\n  return\n}";
    let module = read(text);
    let func = module.main_func().expect("a function");
    let op = module.block_ops(module.func_entry(func))[0];
    assert_eq!(module.op(op).loc.input_offset(), Some(text.find("%0").expect("there") as u32));
}

#[test]
fn flags_that_are_absent_or_false() {
    ops(
        "%arg0: tensor<4x4xf32>, %arg1: tensor<2x1xi32>",
        "%0 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
         %1 = \"stablehlo.gather\"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
         %2 = stablehlo.cholesky %arg0, lower = false : tensor<4x4xf32>
         %3 = stablehlo.cholesky %arg0 : tensor<4x4xf32>",
    );
}

#[test]
fn quantized_types_have_one_spelling() {
    let out = printed(
        "func.func @f(%arg0: tensor<2x!quant.uniform<ui8<0:255>:f32, 0.5:0>>, \
         %arg1: tensor<2x!quant.uniform<i8:f32:0, {0.25:3, 2.0}>>, \
         %arg2: tensor<?xf32, #stablehlo.type_extensions<bounds = [ 4 ]>>) { return }",
    );
    assert!(out.contains("!quant.uniform<u8:f32, 5.000000e-01>"), "{out}");
    assert!(out.contains("!quant.uniform<i8:f32:0, {2.500000e-01:3,2.000000e+00}>"), "{out}");
    assert!(out.contains("tensor<?xf32, #stablehlo.bounds<4>>"), "{out}");
}

#[test]
fn ops_of_other_dialects() {
    let out = printed(
        "func.func private @g(tensor<2xi32>) -> tensor<2xi32>
         func.func @f(%arg0: tensor<2x?xf32>, %i: index, %x: tensor<2xi32>, %p: i1) {
         %c = arith.constant 3 : index
         %0 = arith.addi %i, %c overflow<nsw> : index
         %1 = arith.cmpi slt, %i, %c : index
         %2 = arith.select %p, %i, %c : index
         %3 = arith.index_cast %x : tensor<2xi32> to tensor<2xindex>
         %4 = tensor.dim %arg0, %c : tensor<2x?xf32>
         %5 = tensor.extract %x[%i] : tensor<2xi32>
         %6 = tensor.from_elements %i, %c : tensor<2xindex>
         %7 = shape.shape_of %arg0 : tensor<2x?xf32> -> tensor<2xindex>
         %8 = shape.const_shape [1, 2] : tensor<2xindex>
         %w = shape.cstr_broadcastable %7, %8 : tensor<2xindex>, tensor<2xindex>
         %9 = shape.assuming %w -> (tensor<2xi32>) { shape.assuming_yield %x : tensor<2xi32> }
         %10 = scf.for %k = %i to %c step %c iter_args(%a = %x) -> (tensor<2xi32>) {
           %v = tensor.insert %5 into %a[%k] : tensor<2xi32>
           scf.yield %v : tensor<2xi32>
         }
         %11 = func.constant @g : (tensor<2xi32>) -> tensor<2xi32>
         %12 = call_indirect %11(%x) : (tensor<2xi32>) -> tensor<2xi32>
         %13 = chlo.broadcast_add %x, %x {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
         check.expect_eq_const %x, dense<1> : tensor<2xi32>
         check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xi32>, tensor<2xi32>
         %14 = interpreter.probe %x, probe_id = \"p\" : tensor<2xi32>
         return }",
    );
    for line in [
        "\"arith.addi\"(%i, %c) <{overflowFlags = #arith.overflow<nsw>}> : (index, index) -> index",
        "\"arith.cmpi\"(%i, %c) <{predicate = 2 : i64}> : (index, index) -> i1",
        "\"tensor.dim\"(%arg0, %c) : (tensor<2x?xf32>, index) -> index",
        "\"check.expect_eq_const\"(%x) <{value = dense<1> : tensor<2xi32>}> : (tensor<2xi32>) -> ()",
        "\"check.expect_close\"(%x, %x) <{max_ulp_difference = 3 : ui64}>",
        "\"chlo.broadcast_add\"(%x, %x) <{broadcast_dimensions = array<i64: 0>}>",
    ] {
        // As the printer names them.
        let line = line.replace("%i", "%arg1").replace("%x", "%arg2").replace("%c", "%0");
        assert!(out.contains(&line), "{line}\nisn't in\n{out}");
    }
}

#[test]
fn modules_inside_and_blobs_beside() {
    let out = printed(
        "module @outer attributes {a.b = @x::@y} {
           module @inner {
             sdy.mesh @m = <[\"x\"=2]>
             func.func private @g(%arg0: tensor<2xf32> {a.c}) -> tensor<2xf32>
             func.func @h(%arg0: tensor<2xf32>) -> tensor<2xf32> {
               %0 = call @g(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
               return {a.d} %0 : tensor<2xf32>
             }
           }
         }
         {-# dialect_resources: { builtin: { blob: \"0x04000000000000000000803F\" } } #-}",
    );
    assert!(out.contains("\"builtin.module\"() <{sym_name = \"inner\"}>"), "{out}");
    assert!(out.contains("func.return {a.d} %0 : tensor<2xf32>"), "{out}");
    assert!(out.ends_with("0x04000000000000000000803F\" } } #-}\n"), "{out}");
}
