// RUN: shard-opt %s --propagate --insert-reshards --place-reductions
// The reduction of a weight gradient stays at the dot and isn't put behind its transpose; of a sum
// of transposes, it stays at the sum, which is transposed once; a reduce-scatter goes before it.
module @back_to_the_dot {
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%x: tensor<16x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %g: tensor<16x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %h: tensor<16x32xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<32x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, tensor<4x8x8xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}) {
    %0 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<16x8xbf16>, tensor<16x32xbf16>) -> tensor<8x32xbf16>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x32xbf16>) -> tensor<32x8xbf16>
    %2 = stablehlo.dot_general %x, %h, contracting_dims = [0] x [0] : (tensor<16x8xbf16>, tensor<16x32xbf16>) -> tensor<8x32xbf16>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x32xbf16>) -> tensor<32x8xbf16>
    %4 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<16x8xbf16>, tensor<16x8xbf16>) -> tensor<8x8xbf16>
    %5 = stablehlo.negate %3 : tensor<32x8xbf16>
    %6 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<16x32xbf16>, tensor<16x8xbf16>) -> tensor<32x8xbf16>
    %7 = stablehlo.add %5, %6 : tensor<32x8xbf16>
    %8 = stablehlo.reshape %7 : (tensor<32x8xbf16>) -> tensor<4x8x8xbf16>
    return %1, %8 : tensor<32x8xbf16>, tensor<4x8x8xbf16>
  }
}
