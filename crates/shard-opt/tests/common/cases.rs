//! Small programs, a few for each family of ops, without shardings.

/// A program of one function, to which shardings are added.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub name: &'static str,
    /// Types of the arguments `%a`, `%b`, ...
    pub args: &'static [&'static str],
    /// Types of the results.
    pub results: &'static [&'static str],
    /// The ops; what is returned is `%r`, `%s`, ...
    pub body: &'static str,
}

/// The names of arguments and results.
pub const ARGS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
pub const RESULTS: [&str; 4] = ["r", "s", "t", "u"];

macro_rules! cases {
    ($($name:literal ($($arg:literal),*) -> ($($result:literal),*) $body:literal)*) => {
        pub const CASES: &[Case] = &[$(Case {
            name: $name,
            args: &[$($arg),*],
            results: &[$($result),*],
            body: $body,
        },)*];
    };
}

cases! {
    "identity" ("16x8xf32") -> ("16x8xf32") "%r = stablehlo.negate %a : tensor<16x8xf32>"
    "identity3" ("8x16x4xi32") -> ("8x16x4xi32") "%r = stablehlo.negate %a : tensor<8x16x4xi32>"
    "identity uneven" ("10x7xf32") -> ("10x7xf32") "%r = stablehlo.negate %a : tensor<10x7xf32>"
    "identity small" ("3x5xi8") -> ("3x5xi8") "%r = stablehlo.negate %a : tensor<3x5xi8>"
    "transpose" ("8x16x4xf32") -> ("4x8x16xf32")
        "%r = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<8x16x4xf32>) -> tensor<4x8x16xf32>"
    "a plus its transpose" ("8x8xf32") -> ("8x8xf32")
        "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
         %r = stablehlo.add %a, %0 : tensor<8x8xf32>"

    "dot" ("16x24xf32", "24x8xf32") -> ("16x8xf32")
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>"
    "dot uneven" ("10x6xf32", "6x14xf32") -> ("10x14xf32")
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<10x6xf32>, tensor<6x14xf32>) -> tensor<10x14xf32>"
    "dot of integers" ("16x24xi32", "24x8xi32") -> ("16x8xi32")
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xi32>, tensor<24x8xi32>) -> tensor<16x8xi32>"
    "batched dot" ("4x8x16xf32", "4x16x8xf32") -> ("4x8x8xf32")
        "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x8x16xf32>, tensor<4x16x8xf32>) -> tensor<4x8x8xf32>"
    "dot of bf16" ("16x32xbf16", "32x8xbf16") -> ("16x8xbf16")
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x32xbf16>, tensor<32x8xbf16>) -> tensor<16x8xbf16>"
    "dot of two contracted" ("8x4x16xf32", "4x16x8xf32") -> ("8x8xf32")
        "%r = stablehlo.dot_general %a, %b, contracting_dims = [1, 2] x [0, 1] : (tensor<8x4x16xf32>, tensor<4x16x8xf32>) -> tensor<8x8xf32>"
    "dot, bias, relu" ("16x24xf32", "24x8xf32", "8xf32") -> ("16x8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>
         %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<8xf32>) -> tensor<16x8xf32>
         %2 = stablehlo.add %0, %1 : tensor<16x8xf32>
         %z = stablehlo.constant dense<0.0> : tensor<16x8xf32>
         %r = stablehlo.maximum %2, %z : tensor<16x8xf32>"
    "sum of two dots" ("16x24xf32", "24x8xf32", "16x32xf32", "32x8xf32") -> ("16x8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>
         %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
         %2 = stablehlo.add %0, %1 : tensor<16x8xf32>
         %h = stablehlo.constant dense<0.5> : tensor<16x8xf32>
         %r = stablehlo.multiply %2, %h : tensor<16x8xf32>"
    "difference of two transposed dots" ("8x16x6xf32", "8x16x12xf32", "8x16x12xf32") -> ("12x6xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [0, 1] : (tensor<8x16x6xf32>, tensor<8x16x12xf32>) -> tensor<6x12xf32>
         %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x12xf32>) -> tensor<12x6xf32>
         %2 = stablehlo.dot_general %a, %c, contracting_dims = [0, 1] x [0, 1] : (tensor<8x16x6xf32>, tensor<8x16x12xf32>) -> tensor<6x12xf32>
         %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<6x12xf32>) -> tensor<12x6xf32>
         %r = stablehlo.subtract %3, %1 : tensor<12x6xf32>"
    "transposed, scaled, reshaped dot" ("16x8xf32", "16x12xf32", "f32") -> ("3x4x8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x12xf32>) -> tensor<8x12xf32>
         %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x12xf32>) -> tensor<12x8xf32>
         %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<12x8xf32>
         %3 = stablehlo.multiply %2, %1 : tensor<12x8xf32>
         %4 = stablehlo.negate %3 : tensor<12x8xf32>
         %r = stablehlo.reshape %4 : (tensor<12x8xf32>) -> tensor<3x4x8xf32>"
    "product of two dots" ("16x24xf32", "24x8xf32") -> ("16x8xf32", "16x8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>
         %r = stablehlo.multiply %0, %0 : tensor<16x8xf32>
         %1 = stablehlo.subtract %0, %r : tensor<16x8xf32>
         %s = stablehlo.tanh %1 : tensor<16x8xf32>"
    "chain of dots" ("8x16xf32", "16x32xf32", "32x16xf32") -> ("8x16xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
         %1 = stablehlo.tanh %0 : tensor<8x32xf32>
         %r = stablehlo.dot_general %1, %c, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>"
    "dot, converted" ("16x24xf32", "24x8xf32") -> ("16x8xbf16")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>
         %r = stablehlo.convert %0 : (tensor<16x8xf32>) -> tensor<16x8xbf16>"
    "dot, reduced" ("16x24xf32", "24x8xf32") -> ("8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<16x24xf32>, tensor<24x8xf32>) -> tensor<16x8xf32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %r = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>"

    "embedding" ("16x8xf32", "12xi32") -> ("12x8xf32")
        "%r = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<12xi32>) -> tensor<12x8xf32>"
    "embedding uneven" ("10x6xf32", "7xi64") -> ("7x6xf32")
        "%r = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf32>, tensor<7xi64>) -> tensor<7x6xf32>"
    "embedding at the edges" ("16x8xf32") -> ("8x8xf32")
        "%i = stablehlo.constant dense<[0, 15, 16, -1, 7, 8, 2147483647, -2147483648]> : tensor<8xi32>
         %r = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<8xi32>) -> tensor<8x8xf32>"
    "gather of blocks" ("16x8xf32", "6x2xi32") -> ("6x4x2xf32")
        "%r = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 4, 2>}> : (tensor<16x8xf32>, tensor<6x2xi32>) -> tensor<6x4x2xf32>"
    "batched gather" ("4x16x8xf32", "4x6xi32") -> ("4x6x8xf32")
        "%0 = stablehlo.reshape %b : (tensor<4x6xi32>) -> tensor<4x6x1xi32>
         %r = \"stablehlo.gather\"(%a, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 8>}> : (tensor<4x16x8xf32>, tensor<4x6x1xi32>) -> tensor<4x6x8xf32>"
    "scatter-add" ("16x8xf32", "12x1xi32", "12x8xf32") -> ("16x8xf32")
        "%r = \"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
         ^bb0(%x: tensor<f32>, %y: tensor<f32>):
           %9 = stablehlo.add %x, %y : tensor<f32>
           stablehlo.return %9 : tensor<f32>
         }) : (tensor<16x8xf32>, tensor<12x1xi32>, tensor<12x8xf32>) -> tensor<16x8xf32>"
    "scatter-add at the edges" ("16x8xf32", "8x8xf32") -> ("16x8xf32")
        "%i = stablehlo.constant dense<[[0], [15], [16], [-1], [7], [8], [2147483647], [-2147483648]]> : tensor<8x1xi32>
         %r = \"stablehlo.scatter\"(%a, %i, %b) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
         ^bb0(%x: tensor<f32>, %y: tensor<f32>):
           %9 = stablehlo.add %x, %y : tensor<f32>
           stablehlo.return %9 : tensor<f32>
         }) : (tensor<16x8xf32>, tensor<8x1xi32>, tensor<8x8xf32>) -> tensor<16x8xf32>"
    "scatter-max uneven" ("10x6xi32", "7x1xi32", "7x6xi32") -> ("10x6xi32")
        "%r = \"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
         ^bb0(%x: tensor<i32>, %y: tensor<i32>):
           %9 = stablehlo.maximum %x, %y : tensor<i32>
           stablehlo.return %9 : tensor<i32>
         }) : (tensor<10x6xi32>, tensor<7x1xi32>, tensor<7x6xi32>) -> tensor<10x6xi32>"
    "scatter-set" ("16x8xf32", "6x1xi32", "6x8xf32") -> ("16x8xf32")
        "%r = \"stablehlo.scatter\"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
         ^bb0(%x: tensor<f32>, %y: tensor<f32>):
           stablehlo.return %y : tensor<f32>
         }) : (tensor<16x8xf32>, tensor<6x1xi32>, tensor<6x8xf32>) -> tensor<16x8xf32>"

    "iota f32" ("16x8xf32") -> ("16x8xf32")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xf32>
         %r = stablehlo.add %a, %i : tensor<16x8xf32>"
    "iota bf16 uneven" ("10x6xbf16") -> ("10x6xbf16")
        "%i = stablehlo.iota dim = 1 : tensor<10x6xbf16>
         %r = stablehlo.add %a, %i : tensor<10x6xbf16>"
    "iota f16" ("8x16xf16") -> ("8x16xf16")
        "%i = stablehlo.iota dim = 1 : tensor<8x16xf16>
         %r = stablehlo.add %a, %i : tensor<8x16xf16>"
    "iota f64" ("16x8xf64") -> ("16x8xf64")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xf64>
         %r = stablehlo.add %a, %i : tensor<16x8xf64>"
    "iota i8" ("16x8xi8") -> ("16x8xi8")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xi8>
         %r = stablehlo.add %a, %i : tensor<16x8xi8>"
    "iota ui8 beyond 255" ("512x2xui8") -> ("512x2xui8")
        "%i = stablehlo.iota dim = 0 : tensor<512x2xui8>
         %r = stablehlo.add %a, %i : tensor<512x2xui8>"
    "iota i16" ("8x16xi16") -> ("8x16xi16")
        "%i = stablehlo.iota dim = 1 : tensor<8x16xi16>
         %r = stablehlo.add %a, %i : tensor<8x16xi16>"
    "iota i64" ("16x8xi64") -> ("16x8xi64")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xi64>
         %r = stablehlo.add %a, %i : tensor<16x8xi64>"
    "iota ui64" ("16x8xui64") -> ("16x8xui64")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xui64>
         %r = stablehlo.add %a, %i : tensor<16x8xui64>"
    "iota complex" ("16x8xcomplex<f32>") -> ("16x8xcomplex<f32>")
        "%i = stablehlo.iota dim = 0 : tensor<16x8xcomplex<f32>>
         %r = stablehlo.add %a, %i : tensor<16x8xcomplex<f32>>"
    "causal mask" ("16x16xf32") -> ("16x16xf32")
        "%i = stablehlo.iota dim = 0 : tensor<16x16xi32>
         %j = stablehlo.iota dim = 1 : tensor<16x16xi32>
         %m = stablehlo.compare GE, %i, %j : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
         %z = stablehlo.constant dense<0.0> : tensor<16x16xf32>
         %r = stablehlo.select %m, %a, %z : tensor<16x16xi1>, tensor<16x16xf32>"
    "constant" ("4x4xi32") -> ("4x4xi32")
        "%k = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]]> : tensor<4x4xi32>
         %r = stablehlo.add %a, %k : tensor<4x4xi32>"

    "dynamic slice" ("16x8xf32", "i32", "i32") -> ("4x8xf32")
        "%r = stablehlo.dynamic_slice %a, %b, %c, sizes = [4, 8] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>"
    "dynamic slice at the edges" ("16x8xf32") -> ("4x2xf32", "16x3xf32")
        "%big = stablehlo.constant dense<100> : tensor<i32>
         %low = stablehlo.constant dense<-5> : tensor<i32>
         %r = stablehlo.dynamic_slice %a, %big, %low, sizes = [4, 2] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
         %s = stablehlo.dynamic_slice %a, %low, %big, sizes = [16, 3] : (tensor<16x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x3xf32>"
    "dynamic slice uneven" ("10x6xf32", "i64", "i64") -> ("3x6xf32")
        "%r = stablehlo.dynamic_slice %a, %b, %c, sizes = [3, 6] : (tensor<10x6xf32>, tensor<i64>, tensor<i64>) -> tensor<3x6xf32>"
    "dynamic update slice" ("16x8xf32", "1x8xf32", "i32") -> ("16x8xf32")
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %r = stablehlo.dynamic_update_slice %a, %b, %c, %z : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>"
    "dynamic update slice at the edges" ("16x8xf32", "1x8xf32", "3x4xf32") -> ("16x8xf32")
        "%big = stablehlo.constant dense<100> : tensor<i32>
         %low = stablehlo.constant dense<-5> : tensor<i32>
         %0 = stablehlo.dynamic_update_slice %a, %b, %big, %low : (tensor<16x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
         %r = stablehlo.dynamic_update_slice %0, %c, %low, %big : (tensor<16x8xf32>, tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>"
    "dynamic update slice uneven" ("10x6xi32", "3x2xi32", "i32", "i32") -> ("10x6xi32")
        "%r = stablehlo.dynamic_update_slice %a, %b, %c, %d : (tensor<10x6xi32>, tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<10x6xi32>"

    "reduce add" ("16x24xf32") -> ("16xf32", "24xf32", "f32")
        "%z = stablehlo.constant dense<0.0> : tensor<f32>
         %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<16x24xf32>, tensor<f32>) -> tensor<16xf32>
         %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16x24xf32>, tensor<f32>) -> tensor<24xf32>
         %t = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x24xf32>, tensor<f32>) -> tensor<f32>"
    "reduce add from one" ("16x24xi32") -> ("16xi32", "i32")
        "%z = stablehlo.constant dense<1> : tensor<i32>
         %r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<16x24xi32>, tensor<i32>) -> tensor<16xi32>
         %s = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x24xi32>, tensor<i32>) -> tensor<i32>"
    "reduce max and min" ("10x6xf32") -> ("10xf32", "6xf32")
        "%n = stablehlo.constant dense<0xFF800000> : tensor<f32>
         %p = stablehlo.constant dense<0x7F800000> : tensor<f32>
         %r = stablehlo.reduce(%a init: %n) applies stablehlo.maximum across dimensions = [1] : (tensor<10x6xf32>, tensor<f32>) -> tensor<10xf32>
         %s = stablehlo.reduce(%a init: %p) applies stablehlo.minimum across dimensions = [0] : (tensor<10x6xf32>, tensor<f32>) -> tensor<6xf32>"
    "reduce max and min of integers" ("10x6xi32", "16x8xui8") -> ("10xi32", "8xui8")
        "%n = stablehlo.constant dense<-2147483648> : tensor<i32>
         %p = stablehlo.constant dense<255> : tensor<ui8>
         %r = stablehlo.reduce(%a init: %n) applies stablehlo.maximum across dimensions = [1] : (tensor<10x6xi32>, tensor<i32>) -> tensor<10xi32>
         %s = stablehlo.reduce(%b init: %p) applies stablehlo.minimum across dimensions = [0] : (tensor<16x8xui8>, tensor<ui8>) -> tensor<8xui8>"
    "reduce and, or, xor" ("4x16xi32", "16x8xi32") -> ("16xi32", "16xi32", "16xi32")
        "%o = stablehlo.constant dense<-1> : tensor<i32>
         %z = stablehlo.constant dense<0> : tensor<i32>
         %r = stablehlo.reduce(%a init: %o) applies stablehlo.and across dimensions = [0] : (tensor<4x16xi32>, tensor<i32>) -> tensor<16xi32>
         %s = stablehlo.reduce(%a init: %z) applies stablehlo.or across dimensions = [0] : (tensor<4x16xi32>, tensor<i32>) -> tensor<16xi32>
         %t = stablehlo.reduce(%b init: %z) applies stablehlo.xor across dimensions = [1] : (tensor<16x8xi32>, tensor<i32>) -> tensor<16xi32>"
    "reduce booleans" ("4x8xi1", "8x4xi1") -> ("8xi1", "4xi1")
        "%t = stablehlo.constant dense<true> : tensor<i1>
         %f = stablehlo.constant dense<false> : tensor<i1>
         %r = stablehlo.reduce(%a init: %t) applies stablehlo.and across dimensions = [0] : (tensor<4x8xi1>, tensor<i1>) -> tensor<8xi1>
         %n = stablehlo.not %b : tensor<8x4xi1>
         %m = stablehlo.and %n, %b : tensor<8x4xi1>
         %k = stablehlo.slice %b [0:3, 0:4] : (tensor<8x4xi1>) -> tensor<3x4xi1>
         %s = stablehlo.reduce(%k init: %f) applies stablehlo.or across dimensions = [0] : (tensor<3x4xi1>, tensor<i1>) -> tensor<4xi1>"
    "reduce multiply" ("8x6xf32", "16x8xi32") -> ("8xf32", "8xi32")
        "%o = stablehlo.constant dense<1.0> : tensor<f32>
         %i = stablehlo.constant dense<1> : tensor<i32>
         %r = stablehlo.reduce(%a init: %o) applies stablehlo.multiply across dimensions = [1] : (tensor<8x6xf32>, tensor<f32>) -> tensor<8xf32>
         %s = stablehlo.reduce(%b init: %i) applies stablehlo.multiply across dimensions = [0] : (tensor<16x8xi32>, tensor<i32>) -> tensor<8xi32>"
    "arg-max" ("16x24xf32") -> ("16xf32", "16xi32")
        "%n = stablehlo.constant dense<0xFF800000> : tensor<f32>
         %z = stablehlo.constant dense<0> : tensor<i32>
         %i = stablehlo.iota dim = 1 : tensor<16x24xi32>
         %r, %s = stablehlo.reduce(%a init: %n), (%i init: %z) across dimensions = [1] : (tensor<16x24xf32>, tensor<16x24xi32>, tensor<f32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xi32>)
         reducer(%x: tensor<f32>, %x1: tensor<f32>) (%y: tensor<i32>, %y1: tensor<i32>) {
           %4 = stablehlo.compare GT, %x, %x1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
           %5 = stablehlo.select %4, %x, %x1 : tensor<i1>, tensor<f32>
           %6 = stablehlo.select %4, %y, %y1 : tensor<i1>, tensor<i32>
           stablehlo.return %5, %6 : tensor<f32>, tensor<i32>
         }"
    "softmax" ("16x24xf32") -> ("16x24xf32")
        "%n = stablehlo.constant dense<0xFF800000> : tensor<f32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %0 = stablehlo.reduce(%a init: %n) applies stablehlo.maximum across dimensions = [1] : (tensor<16x24xf32>, tensor<f32>) -> tensor<16xf32>
         %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<16xf32>) -> tensor<16x24xf32>
         %2 = stablehlo.subtract %a, %1 : tensor<16x24xf32>
         %3 = stablehlo.exponential %2 : tensor<16x24xf32>
         %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<16x24xf32>, tensor<f32>) -> tensor<16xf32>
         %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<16xf32>) -> tensor<16x24xf32>
         %r = stablehlo.divide %3, %5 : tensor<16x24xf32>"

    "reshape merges" ("24x8xi32") -> ("192xi32")
        "%r = stablehlo.reshape %a : (tensor<24x8xi32>) -> tensor<192xi32>"
    "reshape splits" ("192xi32") -> ("24x8xi32")
        "%r = stablehlo.reshape %a : (tensor<192xi32>) -> tensor<24x8xi32>"
    "reshape heads" ("4x16x32xf32") -> ("4x16x8x4xf32")
        "%r = stablehlo.reshape %a : (tensor<4x16x32xf32>) -> tensor<4x16x8x4xf32>"
    "reshape mixes" ("6x8x4xi32") -> ("8x24xi32")
        "%r = stablehlo.reshape %a : (tensor<6x8x4xi32>) -> tensor<8x24xi32>"
    "reshape uneven" ("10x6xi32") -> ("60xi32")
        "%r = stablehlo.reshape %a : (tensor<10x6xi32>) -> tensor<60xi32>"
    "reshape adds ones" ("16x8xf32") -> ("1x16x1x8xf32")
        "%r = stablehlo.reshape %a : (tensor<16x8xf32>) -> tensor<1x16x1x8xf32>"
    "broadcast" ("8xf32", "16x1xf32") -> ("16x8xf32")
        "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<8xf32>) -> tensor<16x8xf32>
         %1 = stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<16x1xf32>) -> tensor<16x8xf32>
         %r = stablehlo.add %0, %1 : tensor<16x8xf32>"
    "convert" ("16x8xf32") -> ("16x8xi32", "16x8xf64", "16x8xi1")
        "%h = stablehlo.constant dense<100.0> : tensor<16x8xf32>
         %0 = stablehlo.multiply %a, %h : tensor<16x8xf32>
         %r = stablehlo.convert %0 : (tensor<16x8xf32>) -> tensor<16x8xi32>
         %s = stablehlo.convert %a : (tensor<16x8xf32>) -> tensor<16x8xf64>
         %z = stablehlo.constant dense<0.0> : tensor<16x8xf32>
         %t = stablehlo.compare LT, %a, %z : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xi1>"
    "bitcast" ("16x8xf32", "16x8x2xi16") -> ("16x8x2xui16", "16x8xi32")
        "%r = stablehlo.bitcast_convert %a : (tensor<16x8xf32>) -> tensor<16x8x2xui16>
         %s = stablehlo.bitcast_convert %b : (tensor<16x8x2xi16>) -> tensor<16x8xi32>"
    "slice" ("16x12xf32") -> ("7x12xf32", "16x4xf32", "4x3xf32")
        "%r = stablehlo.slice %a [1:15:2, 0:12] : (tensor<16x12xf32>) -> tensor<7x12xf32>
         %s = stablehlo.slice %a [0:16, 8:12] : (tensor<16x12xf32>) -> tensor<16x4xf32>
         %t = stablehlo.slice %a [12:16, 1:12:4] : (tensor<16x12xf32>) -> tensor<4x3xf32>"
    "pad" ("8x6xf32", "f32") -> ("12x6xf32", "15x4xf32")
        "%r = stablehlo.pad %a, %b, low = [1, 0], high = [3, 0], interior = [0, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<12x6xf32>
         %s = stablehlo.pad %a, %b, low = [0, -1], high = [0, -1], interior = [1, 0] : (tensor<8x6xf32>, tensor<f32>) -> tensor<15x4xf32>"
    "concatenate" ("8x6xf32", "4x6xf32", "8x2xf32") -> ("12x6xf32", "8x8xf32")
        "%r = stablehlo.concatenate %a, %b, dim = 0 : (tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<12x6xf32>
         %s = stablehlo.concatenate %c, %a, dim = 1 : (tensor<8x2xf32>, tensor<8x6xf32>) -> tensor<8x8xf32>"
    "reverse" ("16x6xf32") -> ("16x6xf32", "16x6xf32")
        "%r = stablehlo.reverse %a, dims = [0] : tensor<16x6xf32>
         %s = stablehlo.reverse %a, dims = [0, 1] : tensor<16x6xf32>"
    "sort" ("16x10xf32") -> ("16x10xf32")
        "%r = \"stablehlo.sort\"(%a) <{dimension = 1 : i64, is_stable = true}> ({
         ^bb0(%x: tensor<f32>, %y: tensor<f32>):
           %9 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
           stablehlo.return %9 : tensor<i1>
         }) : (tensor<16x10xf32>) -> tensor<16x10xf32>"
    "top-k" ("8x24xf32") -> ("8x3xf32", "8x3xi32")
        "%r, %s = chlo.top_k(%a, k = 3) : tensor<8x24xf32> -> (tensor<8x3xf32>, tensor<8x3xi32>)"
    "cumulative sum" ("16x8xi32") -> ("16x8xi32")
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %r = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[15, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 16, 1>}> ({
         ^bb0(%x: tensor<i32>, %y: tensor<i32>):
           %9 = stablehlo.add %x, %y : tensor<i32>
           stablehlo.return %9 : tensor<i32>
         }) : (tensor<16x8xi32>, tensor<i32>) -> tensor<16x8xi32>"
    "pooling" ("4x16x16x8xf32") -> ("4x8x8x8xf32")
        "%n = stablehlo.constant dense<0xFF800000> : tensor<f32>
         %r = \"stablehlo.reduce_window\"(%a, %n) <{padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
         ^bb0(%x: tensor<f32>, %y: tensor<f32>):
           %9 = stablehlo.maximum %x, %y : tensor<f32>
           stablehlo.return %9 : tensor<f32>
         }) : (tensor<4x16x16x8xf32>, tensor<f32>) -> tensor<4x8x8x8xf32>"
    "convolution" ("8x8x8x4xf32", "3x3x4x8xf32") -> ("8x8x8x8xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<8x8x8x8xf32>"
    "strided convolution" ("4x12x12x4xf32", "3x3x4x6xf32") -> ("4x6x6x6xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x12x12x4xf32>, tensor<3x3x4x6xf32>) -> tensor<4x6x6x6xf32>"
    "grouped convolution" ("4x8x8x8xf32", "3x3x2x16xf32") -> ("4x6x6x16xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<4x8x8x8xf32>, tensor<3x3x2x16xf32>) -> tensor<4x6x6x16xf32>"
    "depthwise convolution" ("8x6x6x16xf32", "3x3x1x16xf32") -> ("8x6x6x16xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<8x6x6x16xf32>, tensor<3x3x1x16xf32>) -> tensor<8x6x6x16xf32>"
    "depthwise convolution, two a group" ("8x6x6x8xf32", "3x3x1x16xf32") -> ("8x6x6x16xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<8x6x6x8xf32>, tensor<3x3x1x16xf32>) -> tensor<8x6x6x16xf32>"
    "kernel gradient of a depthwise convolution" ("8x6x6x16xf32", "8x6x6x16xf32") -> ("3x3x1x16xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 16 : i64, feature_group_count = 1 : i64} : (tensor<8x6x6x16xf32>, tensor<8x6x6x16xf32>) -> tensor<3x3x1x16xf32>"
    "kernel gradient of a grouped convolution" ("16x6x6x8xf32", "16x6x6x32xf32") -> ("3x3x2x32xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<16x6x6x8xf32>, tensor<16x6x6x32xf32>) -> tensor<3x3x2x32xf32>"
    "convolution of batch groups" ("16x5x5x8xf32", "3x3x8x32xf32") -> ("2x5x5x32xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 8 : i64, feature_group_count = 1 : i64} : (tensor<16x5x5x8xf32>, tensor<3x3x8x32xf32>) -> tensor<2x5x5x32xf32>"
    "kernel gradient of a transposed convolution" ("8x4x5x8xf32", "8x8x9x8xf32") -> ("3x2x8x8xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[2, 1], [1, 0]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4x5x8xf32>, tensor<8x8x9x8xf32>) -> tensor<3x2x8x8xf32>"
    "input gradient of a strided convolution" ("8x4x4x8xf32", "3x3x16x8xf32") -> ("8x8x8x16xf32")
        "%r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4x4x8xf32>, tensor<3x3x16x8xf32>) -> tensor<8x8x8x16xf32>"

    "while" ("16x16xf32", "16x16xf32", "i32") -> ("16x16xf32")
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %n = stablehlo.constant dense<3> : tensor<i32>
         %0:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<16x16xf32>
         cond {
           %7 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %7 : tensor<i1>
         } do {
           %8 = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0] : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
           %9 = stablehlo.tanh %8 : tensor<16x16xf32>
           %10 = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %10, %9 : tensor<i32>, tensor<16x16xf32>
         }
         %r = stablehlo.negate %0#1 : tensor<16x16xf32>"
    "scan" ("4x16xf32", "4x16x16xf32") -> ("4x16xf32", "4x4x16xf32")
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %n = stablehlo.constant dense<4> : tensor<i32>
         %f = stablehlo.constant dense<0.0> : tensor<4x4x16xf32>
         %0:3 = stablehlo.while(%i = %z, %x = %a, %y = %f) : tensor<i32>, tensor<4x16xf32>, tensor<4x4x16xf32>
         cond {
           %7 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %7 : tensor<i1>
         } do {
           %8 = stablehlo.dynamic_slice %b, %i, %z, %z, sizes = [1, 16, 16] : (tensor<4x16x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x16xf32>
           %9 = stablehlo.reshape %8 : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
           %10 = stablehlo.dot_general %x, %9, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
           %11 = stablehlo.tanh %10 : tensor<4x16xf32>
           %12 = stablehlo.reshape %11 : (tensor<4x16xf32>) -> tensor<1x4x16xf32>
           %13 = stablehlo.dynamic_update_slice %y, %12, %i, %z, %z : (tensor<4x4x16xf32>, tensor<1x4x16xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x4x16xf32>
           %14 = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %14, %11, %13 : tensor<i32>, tensor<4x16xf32>, tensor<4x4x16xf32>
         }
         %r = stablehlo.negate %0#1 : tensor<4x16xf32>
         %s = stablehlo.negate %0#2 : tensor<4x4x16xf32>"
    "sum in a loop" ("16x8xf32", "8x8xf32") -> ("8x8xf32")
        "%z = stablehlo.constant dense<0> : tensor<i32>
         %one = stablehlo.constant dense<1> : tensor<i32>
         %n = stablehlo.constant dense<3> : tensor<i32>
         %0:2 = stablehlo.while(%i = %z, %x = %b) : tensor<i32>, tensor<8x8xf32>
         cond {
           %7 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %7 : tensor<i1>
         } do {
           %8 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
           %9 = stablehlo.add %x, %8 : tensor<8x8xf32>
           %10 = stablehlo.add %i, %one : tensor<i32>
           stablehlo.return %10, %9 : tensor<i32>, tensor<8x8xf32>
         }
         %r = stablehlo.negate %0#1 : tensor<8x8xf32>"
    "case" ("16x8xf32", "i32") -> ("16x8xf32")
        "%r = \"stablehlo.case\"(%b) ({
           %7 = stablehlo.tanh %a : tensor<16x8xf32>
           stablehlo.return %7 : tensor<16x8xf32>
         }, {
           %8 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
           %9 = stablehlo.dot_general %a, %8, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
           stablehlo.return %9 : tensor<16x8xf32>
         }) : (tensor<i32>) -> tensor<16x8xf32>"
    "if" ("16x8xf32", "i1") -> ("16x8xf32", "8xf32")
        "%z = stablehlo.constant dense<0.0> : tensor<f32>
         %r, %s = \"stablehlo.if\"(%b) ({
           %7 = stablehlo.negate %a : tensor<16x8xf32>
           %8 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16x8xf32>, tensor<f32>) -> tensor<8xf32>
           stablehlo.return %7, %8 : tensor<16x8xf32>, tensor<8xf32>
         }, {
           %7 = stablehlo.broadcast_in_dim %z, dims = [] : (tensor<f32>) -> tensor<8xf32>
           stablehlo.return %a, %7 : tensor<16x8xf32>, tensor<8xf32>
         }) : (tensor<i1>) -> (tensor<16x8xf32>, tensor<8xf32>)"
    "barrier" ("16x8xf32", "8x16xf32") -> ("16x8xf32", "16x16xf32")
        "%0 = stablehlo.negate %a : tensor<16x8xf32>
         %1, %2 = stablehlo.optimization_barrier %0, %b : tensor<16x8xf32>, tensor<8x16xf32>
         %r = stablehlo.tanh %1 : tensor<16x8xf32>
         %s = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>"

    "random bits" ("2xui64", "16x8xui32") -> ("2xui64", "16x8xui32")
        "%r, %0 = stablehlo.rng_bit_generator %a, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<16x8xui32>)
         %s = stablehlo.xor %0, %b : tensor<16x8xui32>"
    "random bits of Philox" ("3xui64", "16x8xui32") -> ("16x8xui32")
        "%1, %0 = stablehlo.rng_bit_generator %a, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<16x8xui32>)
         %r = stablehlo.add %0, %b : tensor<16x8xui32>"
    "batch norm" ("16x8xf32", "8xf32", "8xf32") -> ("16x8xf32", "8xf32", "8xf32")
        "%r, %s, %t = \"stablehlo.batch_norm_training\"(%a, %b, %c) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<16x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<16x8xf32>, tensor<8xf32>, tensor<8xf32>)"
    "complex" ("16x8xf32", "16x8xf32") -> ("16x8xcomplex<f32>", "16x8xf32", "8xcomplex<f32>")
        "%0 = stablehlo.complex %a, %b : tensor<16x8xcomplex<f32>>
         %r = stablehlo.multiply %0, %0 : tensor<16x8xcomplex<f32>>
         %s = stablehlo.imag %r : (tensor<16x8xcomplex<f32>>) -> tensor<16x8xf32>
         %z = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
         %t = stablehlo.reduce(%r init: %z) applies stablehlo.add across dimensions = [0] : (tensor<16x8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8xcomplex<f32>>"
    "fft" ("8x16xcomplex<f32>") -> ("8x16xcomplex<f32>")
        "%r = stablehlo.fft %a, type = FFT, length = [16] : (tensor<8x16xcomplex<f32>>) -> tensor<8x16xcomplex<f32>>"
    "clamp and select" ("16x8xf32", "f32", "i1", "16x8xf32") -> ("16x8xf32", "16x8xf32")
        "%k = stablehlo.constant dense<1.0> : tensor<f32>
         %0 = stablehlo.abs %b : tensor<f32>
         %1 = stablehlo.negate %0 : tensor<f32>
         %r = stablehlo.clamp %1, %a, %k : (tensor<f32>, tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
         %s = stablehlo.select %c, %a, %d : tensor<i1>, tensor<16x8xf32>"
    "one-hot loss" ("16x12xf32", "16xi32") -> ("f32", "16x12xf32")
        "%i = stablehlo.iota dim = 1 : tensor<16x12xi32>
         %0 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<16xi32>) -> tensor<16x12xi32>
         %1 = stablehlo.compare EQ, %i, %0 : (tensor<16x12xi32>, tensor<16x12xi32>) -> tensor<16x12xi1>
         %2 = stablehlo.convert %1 : (tensor<16x12xi1>) -> tensor<16x12xf32>
         %s = stablehlo.multiply %2, %a : tensor<16x12xf32>
         %z = stablehlo.constant dense<0.0> : tensor<f32>
         %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<16x12xf32>, tensor<f32>) -> tensor<f32>"

    "product from three" ("16x8xi32") -> ("8xi32")
        "%z = stablehlo.constant dense<3> : tensor<i32>
         %r = stablehlo.reduce(%a init: %z) applies stablehlo.multiply across dimensions = [0] : (tensor<16x8xi32>, tensor<i32>) -> tensor<8xi32>"
    "exclusive or from five" ("16x8xi32") -> ("8xi32")
        "%z = stablehlo.constant dense<5> : tensor<i32>
         %r = stablehlo.reduce(%a init: %z) applies stablehlo.xor across dimensions = [0] : (tensor<16x8xi32>, tensor<i32>) -> tensor<8xi32>"
    "dot, reshaped unevenly" ("3x5x8xf32", "8x8xf32") -> ("15x8xf32")
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [2] x [0] : (tensor<3x5x8xf32>, tensor<8x8xf32>) -> tensor<3x5x8xf32>
         %r = stablehlo.reshape %0 : (tensor<3x5x8xf32>) -> tensor<15x8xf32>"
    "empty slice of uneven" ("7x5xf32") -> ("7x5xf32")
        "%0 = stablehlo.slice %a [0:7, 2:2] : (tensor<7x5xf32>) -> tensor<7x0xf32>
         %r = stablehlo.concatenate %a, %0, dim = 1 : (tensor<7x5xf32>, tensor<7x0xf32>) -> tensor<7x5xf32>"
    "two bits" ("8x8xui2") -> ("8x8xui2")
        "%r = stablehlo.not %a : tensor<8x8xui2>"
    "gathered rows, scaled" ("16x8xf32", "6xi32") -> ("6x8xf32")
        "%0 = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<16x8xf32>, tensor<6xi32>) -> tensor<6x8xf32>
         %k = stablehlo.constant dense<0.0> : tensor<6x8xf32>
         %1 = stablehlo.divide %0, %k : tensor<6x8xf32>
         %2 = stablehlo.constant dense<1.0> : tensor<6x8xf32>
         %3 = stablehlo.minimum %1, %2 : tensor<6x8xf32>
         %4 = stablehlo.constant dense<-1.0> : tensor<6x8xf32>
         %r = stablehlo.maximum %3, %4 : tensor<6x8xf32>"
    "use before a constraint" ("16xf32") -> ("16xf32", "16xf32")
        "%v = stablehlo.optimization_barrier %a : tensor<16xf32>
         %r = stablehlo.negate %v : tensor<16xf32>
         %s = sdy.sharding_constraint %v <@mesh, [{}]> : tensor<16xf32>"
}
