//! Constraints of the ops, family by family: valid uses, and uses that break one constraint.

mod verify_support;

use verify_support::expect_ops;

#[test]
fn elementwise() {
    expect_ops(
        "%f: tensor<2x4xf32>, %g: tensor<2x5xf32>, %d: tensor<?x4xf32>, %i: tensor<2x4xi32>, \
         %u: tensor<2x4xui8>, %p: tensor<2x4xi1>, %s: tensor<f32>, %c: tensor<2x4xcomplex<f32>>",
        &[
            (
                "\"stablehlo.add\"(%f, %f) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
                "",
            ),
            (
                "\"stablehlo.add\"(%f, %d) : (tensor<2x4xf32>, tensor<?x4xf32>) -> tensor<2x4xf32>",
                "",
            ),
            (
                "\"stablehlo.add\"(%f, %g) : (tensor<2x4xf32>, tensor<2x5xf32>) -> tensor<2x4xf32>",
                "dimension 1 of lhs is 4, of rhs 5",
            ),
            (
                "\"stablehlo.add\"(%f, %i) : (tensor<2x4xf32>, tensor<2x4xi32>) -> tensor<2x4xf32>",
                "element type of lhs is f32, of rhs i32",
            ),
            (
                "\"stablehlo.add\"(%f, %f) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf64>",
                "result 0 has type tensor<2x4xf64>, expected tensor<2x4xf32>",
            ),
            (
                "\"stablehlo.subtract\"(%p, %p) : (tensor<2x4xi1>, tensor<2x4xi1>) -> tensor<2x4xi1>",
                "lhs has element type i1",
            ),
            (
                "\"stablehlo.exponential\"(%i) : (tensor<2x4xi32>) -> tensor<2x4xi32>",
                "operand has element type i32, not float or complex or quantized",
            ),
            ("\"stablehlo.abs\"(%c) : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>", ""),
            ("\"stablehlo.abs\"(%u) : (tensor<2x4xui8>) -> tensor<2x4xui8>", "element type ui8"),
            ("\"stablehlo.convert\"(%f) : (tensor<2x4xf32>) -> tensor<2x4xi8>", ""),
            ("\"stablehlo.convert\"(%f) : (tensor<2x4xf32>) -> tensor<8xi8>", "shape [2, 4]"),
            ("\"stablehlo.real\"(%c) : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>", ""),
            ("\"stablehlo.is_finite\"(%f) : (tensor<2x4xf32>) -> tensor<2x4xi1>", ""),
            (
                "\"stablehlo.complex\"(%f, %f) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xcomplex<f32>>",
                "",
            ),
            (
                "\"stablehlo.select\"(%p, %f, %f) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
                "",
            ),
            (
                "\"stablehlo.select\"(%i, %f, %f) : (tensor<2x4xi32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
                "pred has element type i32, not boolean",
            ),
            (
                "\"stablehlo.clamp\"(%s, %f, %s) : (tensor<f32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>",
                "",
            ),
            (
                "\"stablehlo.clamp\"(%g, %f, %s) : (tensor<2x5xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>",
                "dimension 1 of min is 5, of operand 4",
            ),
            (
                "\"stablehlo.compare\"(%f, %f) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>",
                "",
            ),
            (
                "\"stablehlo.compare\"(%f, %f) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type SIGNED>}> : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xi1>",
                "",
            ),
            (
                "\"stablehlo.reduce_precision\"(%f) <{exponent_bits = 0 : i32, mantissa_bits = 7 : i32}> : (tensor<2x4xf32>) -> tensor<2x4xf32>",
                "exponent_bits is 0, less than 1",
            ),
            (
                "\"stablehlo.map\"(%f, %f) <{dimensions = array<i64: 0, 1>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> stablehlo.return %r : tensor<f32> }) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
                "",
            ),
            (
                "\"stablehlo.map\"(%f, %f) <{dimensions = array<i64: 1, 0>}> ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> stablehlo.return %r : tensor<f32> }) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>",
                "dimensions are [1, 0], not all 2 in order",
            ),
        ],
    );
}

#[test]
fn creation_and_random() {
    expect_ops(
        "%n: tensor<2xi64>, %s: tensor<f32>, %u: tensor<2xui64>",
        &[
            ("\"stablehlo.iota\"() <{iota_dimension = 1 : i64}> : () -> tensor<2x4xi32>", ""),
            (
                "\"stablehlo.iota\"() <{iota_dimension = 2 : i64}> : () -> tensor<2x4xi32>",
                "iota_dimension is 2, out of range for rank 2",
            ),
            (
                "\"stablehlo.constant\"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>",
                "result 0 has type tensor<3xf32>, expected tensor<2xf32>",
            ),
            (
                "\"stablehlo.dynamic_iota\"(%n) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x?x?xi32>",
                "output_shape has 2 elements for 3 dimensions",
            ),
            (
                "\"stablehlo.rng\"(%s, %s, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>",
                "",
            ),
            (
                "\"stablehlo.rng_bit_generator\"(%u) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)",
                "",
            ),
            (
                "\"stablehlo.rng_bit_generator\"(%u) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<3xui64>, tensor<8xui32>)",
                "result 0 has type tensor<3xui64>, expected tensor<2xui64>",
            ),
        ],
    );
}

#[test]
fn dot() {
    let dot = |dims: &str, result: &str| {
        format!(
            "\"stablehlo.dot_general\"(%a, %b) <{{dot_dimension_numbers = #stablehlo.dot<{dims}>}}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> {result}"
        )
    };
    let full = "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]";
    let cases = [
        (dot(full, "tensor<2x3x5xf32>"), ""),
        (dot(full, "tensor<2x3x5xbf16>"), ""),
        (dot(full, "tensor<2x3x4xf32>"), "expected a tensor of shape [2, 3, 5]"),
        (
            dot(
                "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]",
                "tensor<2x4x2x5xf32>",
            ),
            "contracting dimension 1 of lhs is 3, dimension 1 of rhs 4",
        ),
        (
            dot(
                "lhs_batching_dimensions = [2], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]",
                "tensor<f32>",
            ),
            "[2, 2] names dimension 2 twice",
        ),
        (
            dot(
                "lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]",
                "tensor<f32>",
            ),
            "is 3, out of range for rank 3",
        ),
        (
            dot("lhs_contracting_dimensions = [2]", "tensor<f32>"),
            "lhs has 1 contracting dimensions, rhs 0",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>", &cases);
}

#[test]
fn convolution() {
    let conv = |fields: &str, result: &str| {
        format!(
            "\"stablehlo.convolution\"(%x, %k) <{{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, {fields}}}> : (tensor<4x9x9x6xf32>, tensor<3x3x3x8xf32>) -> {result}"
        )
    };
    let two = "feature_group_count = 2 : i64, batch_group_count = 1 : i64";
    let strided =
        format!("{two}, window_strides = array<i64: 2, 2>, padding = dense<1> : tensor<2x2xi64>");
    let cases = [
        (conv(two, "tensor<4x7x7x8xf32>"), ""),
        (conv(&strided, "tensor<4x5x5x8xf32>"), ""),
        (conv(two, "tensor<4x9x9x8xf32>"), "expected a tensor of shape [4, 7, 7, 8]"),
        (
            conv(
                "feature_group_count = 1 : i64, batch_group_count = 1 : i64",
                "tensor<4x7x7x8xf32>",
            ),
            "input feature dimension 6 / feature_group_count 1 isn't the kernel's 3",
        ),
        (
            conv(
                "feature_group_count = 2 : i64, batch_group_count = 2 : i64",
                "tensor<2x7x7x8xf32>",
            ),
            "one must be 1",
        ),
        (
            conv(&format!("{two}, window_strides = array<i64: 1, 0>"), "tensor<4x7x7x8xf32>"),
            "stride of the window in dimension 1 is 0, not positive",
        ),
        (
            conv(&format!("{two}, window_strides = array<i64: 1>"), "tensor<4x7x7x8xf32>"),
            "window_strides has 1 elements for 2 dimensions",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%x: tensor<4x9x9x6xf32>, %k: tensor<3x3x3x8xf32>", &cases);
}

const ADD: &str = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.add %a, %b : tensor<f32> stablehlo.return %r : tensor<f32> })";

#[test]
fn reduction() {
    let cases = [
        (
            format!("\"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 1>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>"),
            "",
        ),
        (
            format!("\"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 2>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>"),
            "dimensions is 2, out of range for rank 2",
        ),
        (
            format!("\"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 0, 0>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>"),
            "names dimension 0 twice",
        ),
        (
            format!("\"stablehlo.reduce\"(%x, %i) <{{dimensions = array<i64: 1>}}> {ADD} : (tensor<4x8xf32>, tensor<i32>) -> tensor<4xf32>"),
            "the body returns tensor<f32>, the initial value has i32",
        ),
        (
            "\"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 1>}> ({ ^bb0(%a: tensor<f32>): stablehlo.return %a : tensor<f32> }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>".to_owned(),
            "the body has 1 parameters, 2 are needed for 1 inputs",
        ),
        (
            format!("\"stablehlo.reduce_window\"(%x, %z) <{{window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<2x6xf32>"),
            "",
        ),
        (
            format!("\"stablehlo.reduce_window\"(%x, %z) <{{window_dimensions = array<i64: 2>}}> {ADD} : (tensor<4x8xf32>, tensor<f32>) -> tensor<3x8xf32>"),
            "window_dimensions has 1 elements for 2 dimensions",
        ),
        (
            format!("\"stablehlo.select_and_scatter\"(%x, %s, %z) <{{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}}> ({{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }}, {}) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>", &ADD[1..ADD.len() - 1]),
            "",
        ),
        (
            format!("\"stablehlo.select_and_scatter\"(%x, %s, %z) <{{window_dimensions = array<i64: 2, 2>}}> ({{ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> }}, {}) : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<f32>) -> tensor<4x8xf32>", &ADD[1..ADD.len() - 1]),
            "dimension 0 of source is 2, of the windows' places 3",
        ),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops(
        "%x: tensor<4x8xf32>, %s: tensor<2x4xf32>, %z: tensor<f32>, %i: tensor<i32>",
        &cases,
    );
}

#[test]
fn movement() {
    expect_ops(
        "%x: tensor<4x8xf32>, %y: tensor<4x2xf32>, %z: tensor<f32>, %i: tensor<i32>, %v: tensor<8xf32>",
        &[
            ("\"stablehlo.reshape\"(%x) : (tensor<4x8xf32>) -> tensor<2x16xf32>", ""),
            (
                "\"stablehlo.reshape\"(%x) : (tensor<4x8xf32>) -> tensor<2x15xf32>",
                "operand of shape [4, 8] has 32 elements, result of shape [2, 15] has 30",
            ),
            ("\"stablehlo.bitcast_convert\"(%x) : (tensor<4x8xf32>) -> tensor<4x8x4xi8>", ""),
            (
                "\"stablehlo.bitcast_convert\"(%x) : (tensor<4x8xf32>) -> tensor<4x8x2xi8>",
                "2 * 8 bits aren't 32",
            ),
            (
                "\"stablehlo.broadcast_in_dim\"(%v) <{broadcast_dimensions = array<i64: 1>}> : (tensor<8xf32>) -> tensor<4x8xf32>",
                "",
            ),
            (
                "\"stablehlo.broadcast_in_dim\"(%v) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<4x8xf32>",
                "dimension 0 of operand is 8, neither 1 nor 4 of dimension 0 of the result",
            ),
            (
                "\"stablehlo.transpose\"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>",
                "",
            ),
            (
                "\"stablehlo.transpose\"(%x) <{permutation = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>",
                "permutation [1, 1] names dimension 1 twice",
            ),
            (
                "\"stablehlo.slice\"(%x) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 3, 8>, strides = array<i64: 1, 3>}> : (tensor<4x8xf32>) -> tensor<2x3xf32>",
                "",
            ),
            (
                "\"stablehlo.slice\"(%x) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 5, 8>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>",
                "limit index 5 of dimension 0 exceeds its size 4",
            ),
            (
                "\"stablehlo.dynamic_slice\"(%x, %i, %i) <{slice_sizes = array<i64: 2, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>",
                "",
            ),
            (
                "\"stablehlo.dynamic_slice\"(%x, %i) <{slice_sizes = array<i64: 2, 8>}> : (tensor<4x8xf32>, tensor<i32>) -> tensor<2x8xf32>",
                "has 1 start indices for an operand of rank 2",
            ),
            (
                "\"stablehlo.dynamic_update_slice\"(%x, %y, %i, %i) : (tensor<4x8xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>",
                "",
            ),
            (
                "\"stablehlo.dynamic_update_slice\"(%y, %x, %i, %i) : (tensor<4x2xf32>, tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>",
                "dimension 1 of update is 8, more than 2 of operand",
            ),
            (
                "\"stablehlo.pad\"(%x, %z) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 0, -1>, interior_padding = array<i64: 1, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<8x7xf32>",
                "",
            ),
            (
                "\"stablehlo.pad\"(%x, %z) <{edge_padding_low = array<i64: -5, 0>, edge_padding_high = array<i64: 0, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<0x8xf32>",
                "dimension 0 becomes -1, negative",
            ),
            (
                "\"stablehlo.concatenate\"(%x, %y) <{dimension = 1 : i64}> : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>",
                "",
            ),
            (
                "\"stablehlo.concatenate\"(%x, %y) <{dimension = 0 : i64}> : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<8x8xf32>",
                "dimension 1 of operand 0 is 8, of operand 1 2",
            ),
            (
                "\"stablehlo.reverse\"(%x) <{dimensions = array<i64: 2>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>",
                "dimensions is 2, out of range",
            ),
            (
                "\"stablehlo.get_dimension_size\"(%x) <{dimension = 1 : i64}> : (tensor<4x8xf32>) -> tensor<i32>",
                "",
            ),
            (
                "%s = stablehlo.constant dense<[2, 2]> : tensor<2xi64> \"stablehlo.dynamic_reshape\"(%v, %s) : (tensor<8xf32>, tensor<2xi64>) -> tensor<?x?xf32>",
                "operand of shape [8] has 8 elements, output_shape [2, 2] has 4",
            ),
        ],
    );
}

#[test]
fn indexing() {
    let gather = |fields: &str, sizes: &str, result: &str| {
        format!(
            "\"stablehlo.gather\"(%x, %i) <{{dimension_numbers = #stablehlo.gather<{fields}>, slice_sizes = array<i64: {sizes}>}}> : (tensor<10x8xf32>, tensor<3x1xi32>) -> {result}"
        )
    };
    let rows = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1";
    let scatter = |updates: &str, result: &str| {
        format!(
            "\"stablehlo.scatter\"(%x, %i, {updates}) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}}> {ADD} : (tensor<10x8xf32>, tensor<3x1xi32>, {result}) -> tensor<10x8xf32>"
        )
    };
    let cases = [
        (gather(rows, "1, 8", "tensor<3x8xf32>"), ""),
        (gather(rows, "1, 4", "tensor<3x4xf32>"), ""),
        (gather(rows, "1, 9", "tensor<3x9xf32>"), "slice size 9 of dimension 1 exceeds 8"),
        (gather(rows, "2, 8", "tensor<3x8xf32>"), "slice size 2 of dimension 0"),
        (gather(rows, "1, 8", "tensor<8x3xf32>"), "expected tensor<3x8xf32>"),
        (
            gather(
                "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1",
                "1, 8",
                "tensor<3x8xf32>",
            ),
            "start_index_map has 2 elements, an index vector has 1",
        ),
        (scatter("%u", "tensor<3x8xf32>"), ""),
        (
            scatter("%v", "tensor<4x8xf32>"),
            "scatter dimension 0 of the updates is 4, of the indices 3",
        ),
        (scatter("%w", "tensor<3x9xf32>"), "window dimension 1 of the updates is 9, more than 8"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops(
        "%x: tensor<10x8xf32>, %i: tensor<3x1xi32>, %u: tensor<3x8xf32>, %v: tensor<4x8xf32>, %w: tensor<3x9xf32>",
        &cases,
    );
}

#[test]
fn sorting_linalg_normalization() {
    let less = "({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %r = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> stablehlo.return %r : tensor<i1> })";
    let cases = [
        (format!("\"stablehlo.sort\"(%x) <{{dimension = -1 : i64}}> {less} : (tensor<4x4xf32>) -> tensor<4x4xf32>"), ""),
        (format!("\"stablehlo.sort\"(%x) <{{dimension = 2 : i64}}> {less} : (tensor<4x4xf32>) -> tensor<4x4xf32>"), "dimension is 2, out of range"),
        (format!("\"stablehlo.sort\"(%x) <{{dimension = 0 : i64}}> {ADD} : (tensor<4x4xf32>) -> tensor<4x4xf32>"), "the comparator returns tensor<f32>, not tensor<i1>"),
        ("\"chlo.top_k\"(%x) <{k = 2 : i64}> : (tensor<4x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)".into(), ""),
        ("\"chlo.top_k\"(%x) <{k = 5 : i64}> : (tensor<4x4xf32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)".into(), "k is 5, more than 4"),
        ("\"stablehlo.cholesky\"(%x) <{lower = true}> : (tensor<4x4xf32>) -> tensor<4x4xf32>".into(), ""),
        ("\"stablehlo.cholesky\"(%y) <{lower = true}> : (tensor<4x6xf32>) -> tensor<4x6xf32>".into(), "the last two dimensions of a are 4 and 6, not equal"),
        ("\"stablehlo.triangular_solve\"(%x, %y) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>".into(), ""),
        ("\"stablehlo.triangular_solve\"(%x, %y) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>".into(), "the last dimension of a is 4, dimension 1 of b 6"),
        ("\"stablehlo.fft\"(%y) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 6>}> : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>".into(), ""),
        ("\"stablehlo.fft\"(%y) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 6>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>".into(), "operand has element type f32, not complex"),
        ("\"stablehlo.batch_norm_training\"(%y, %f, %f) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)".into(), ""),
        ("\"stablehlo.batch_norm_training\"(%y, %f, %f) <{epsilon = 1.0e-3 : f32, feature_index = 0 : i64}> : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>)".into(), "dimension 0 of scale is 6, of the feature dimension 4"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%x: tensor<4x4xf32>, %y: tensor<4x6xf32>, %f: tensor<6xf32>", &cases);
}

#[test]
fn collective() {
    let groups = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>";
    let cases = [
        (format!("\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<8x8xf32>"), ""),
        (format!("\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<16x8xf32>"), ""),
        (format!("\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<9x8xf32>"), "isn't a multiple"),
        (format!("\"stablehlo.all_gather\"(%x) <{{all_gather_dim = 2 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<8x8xf32>"), "all_gather_dim is 2, out of range"),
        ("\"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>".into(), "replica_groups has id 1 twice"),
        ("\"stablehlo.all_gather\"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [4, 3]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<8x8xf32>".into(), "replica_groups has 4 ids, but not 2"),
        (format!("\"stablehlo.all_reduce\"(%x) <{{{groups}}}> {ADD} : (tensor<4x8xf32>) -> tensor<4x8xf32>"), ""),
        (format!("\"stablehlo.all_reduce\"(%x) <{{{groups}, use_global_device_ids}}> {ADD} : (tensor<4x8xf32>) -> tensor<4x8xf32>"), "the channel is 0, not positive"),
        (format!("\"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 1 : i64, {groups}}}> {ADD} : (tensor<4x8xf32>) -> tensor<4x4xf32>"), ""),
        (format!("\"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 1 : i64, {groups}}}> {ADD} : (tensor<4x8xf32>) -> tensor<4x2xf32>"), "expected tensor<4x4xf32>"),
        (format!("\"stablehlo.reduce_scatter\"(%o) <{{scatter_dimension = 0 : i64, {groups}}}> {ADD} : (tensor<5xf32>) -> tensor<2xf32>"), "is 5, not a multiple of the group size 2"),
        (format!("\"stablehlo.all_to_all\"(%x) <{{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<8x4xf32>"), ""),
        (format!("\"stablehlo.all_to_all\"(%x) <{{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 4 : i64, {groups}}}> : (tensor<4x8xf32>) -> tensor<16x2xf32>"), "split_count is 4, but the group size is 2"),
        ("\"stablehlo.collective_permute\"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>".into(), ""),
        ("\"stablehlo.collective_permute\"(%x) <{source_target_pairs = dense<[[0, 1], [2, 1]]> : tensor<2x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>".into(), "source_target_pairs has target 1 twice"),
        ("\"stablehlo.partition_id\"() : () -> tensor<i32>".into(), "expected tensor<ui32>"),
    ];
    let cases: Vec<(&str, &str)> = cases.iter().map(|(op, why)| (op.as_str(), *why)).collect();
    expect_ops("%x: tensor<4x8xf32>, %o: tensor<5xf32>", &cases);
}

#[test]
fn effects_and_custom() {
    expect_ops(
        "%x: tensor<4xf32>, %t: !stablehlo.token",
        &[
            (
                "\"stablehlo.after_all\"(%t, %t) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token",
                "",
            ),
            (
                "\"stablehlo.after_all\"(%x) : (tensor<4xf32>) -> !stablehlo.token",
                "operand 0 has type tensor<4xf32>, not a token",
            ),
            (
                "%p = \"stablehlo.tuple\"(%x, %t) : (tensor<4xf32>, !stablehlo.token) -> tuple<tensor<4xf32>, !stablehlo.token> \"stablehlo.get_tuple_element\"(%p) <{index = 2 : i32}> : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>",
                "index is 2, out of range",
            ),
            (
                "\"stablehlo.send\"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
                "",
            ),
            (
                "\"stablehlo.send\"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token",
                "the channel's type is 1, expected 2",
            ),
            (
                "\"stablehlo.custom_call\"(%x) <{call_target_name = \"foo\"}> : (tensor<4xf32>) -> tensor<2xi8>",
                "",
            ),
            (
                "\"stablehlo.custom_call\"(%x) <{call_target_name = \"foo\", called_computations = [@nowhere]}> : (tensor<4xf32>) -> tensor<2xi8>",
                "",
            ),
            (
                "\"stablehlo.composite\"(%x) <{name = \"a.b\", decomposition = @nowhere}> : (tensor<4xf32>) -> tensor<4xf32>",
                "there is no function '@nowhere'",
            ),
        ],
    );
}
