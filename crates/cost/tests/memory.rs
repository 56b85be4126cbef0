//! Live memory, on programs from text.

use shard_cost::liveness::{Memory, MemoryOptions, memory};
use shard_ir::Module;

fn read(text: &str) -> Module {
    let parsed = shard_text::parse(text, &shard_text::ParseOptions::default());
    let messages: Vec<String> = parsed.diagnostics.iter().map(ToString::to_string).collect();
    assert!(messages.is_empty(), "{text}\n{messages:#?}");
    parsed.module
}

fn of(text: &str, options: &MemoryOptions) -> Memory {
    let module = read(text);
    memory(&module, module.main_func().expect("a function"), options)
}

const KIB: u64 = 1024;
const PLAIN: MemoryOptions = MemoryOptions { reuse_elementwise: false, fuse_cheap: false, top: 10 };

#[test]
fn values_live_to_their_last_use() {
    let text = "func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.sine %x : tensor<256xf32>
  %1 = stablehlo.cosine %0 : tensor<256xf32>
  %2 = stablehlo.sine %1 : tensor<256xf32>
  return %2 : tensor<256xf32>
}";
    let found = of(text, &PLAIN);
    assert_eq!((found.arguments, found.results), (KIB, KIB));
    assert_eq!(found.peak, 3 * KIB);
    assert_eq!(found.temporaries, KIB);
    assert_eq!(found.live.len(), 3);
    // One buffer is enough where each op writes over its operand.
    assert_eq!(of(text, &MemoryOptions::default()).peak, 2 * KIB);
}

#[test]
fn donated_arguments_are_reused() {
    let text = |attrs: &str| {
        format!(
            "func.func @main(%x: tensor<256xf32> {attrs}) -> tensor<256xf32> {{
  %0 = stablehlo.add %x, %x : tensor<256xf32>
  return %0 : tensor<256xf32>
}}"
        )
    };
    assert_eq!(of(&text(""), &MemoryOptions::default()).peak, 2 * KIB);
    for attrs in ["{tf.aliasing_output = 0 : i32}", "{jax.buffer_donor = true}"] {
        let found = of(&text(attrs), &MemoryOptions::default());
        assert_eq!((found.donated, found.peak, found.temporaries), (KIB, KIB, 0));
    }
}

#[test]
fn renamed_values_take_no_room() {
    let text = "func.func @main(%x: tensor<256xf32>, %i: tensor<i32>, %u: tensor<1x16xf32>) -> tensor<256xf32> {
  %0 = stablehlo.negate %x : tensor<256xf32>
  %1 = stablehlo.reshape %0 : (tensor<256xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.optimization_barrier %1 : tensor<16x16xf32>
  %3 = stablehlo.dynamic_update_slice %2, %u, %i, %i : (tensor<16x16xf32>, tensor<1x16xf32>, tensor<i32>, tensor<i32>) -> tensor<16x16xf32>
  %4 = stablehlo.reshape %3 : (tensor<16x16xf32>) -> tensor<256xf32>
  return %4 : tensor<256xf32>
}";
    assert_eq!(of(text, &PLAIN).peak, 2 * KIB + 4 + 64);
}

#[test]
fn cheap_values_are_made_where_they_are_used() {
    let text = "func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<256xf32>
  %0 = stablehlo.add %x, %b : tensor<256xf32>
  return %0 : tensor<256xf32>
}";
    assert_eq!(of(text, &PLAIN).peak, 3 * KIB);
    assert_eq!(of(text, &MemoryOptions::default()).peak, 2 * KIB);
    // Returned, it must be somewhere.
    let text = "func.func @main() -> tensor<256xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<256xf32>
  return %c : tensor<256xf32>
}";
    assert_eq!(of(text, &MemoryOptions::default()).peak, KIB);
}

#[test]
fn loops_hold_what_they_carry_once() {
    let text = "func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<10> : tensor<i32>
  %start = stablehlo.transpose %x, dims = [0] : (tensor<256xf32>) -> tensor<256xf32>
  %r:2 = stablehlo.while(%a = %start, %i = %i0) : tensor<256xf32>, tensor<i32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.concatenate %a, %a, dim = 0 : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
    %b = stablehlo.slice %t [0:256] : (tensor<512xf32>) -> tensor<256xf32>
    stablehlo.return %b, %j : tensor<256xf32>, tensor<i32>
  }
  return %r#0 : tensor<256xf32>
}";
    let module = read(text);
    let found = memory(&module, module.main_func().expect("main"), &MemoryOptions::default());
    // The argument, the carried value, and in the body 2 KiB with the next 1 KiB; the counter.
    assert_eq!(found.peak, 5 * KIB + 4);
    assert_eq!(found.at.map(|op| module.op_name(op)), Some("stablehlo.slice"));
    assert_eq!(found.live[0].bytes, 2 * KIB);
}

#[test]
fn calls_hold_what_the_callee_needs() {
    let text = "func.func private @g(%x: tensor<256xf32>) -> tensor<256xf32> {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<256xf32>, tensor<256xf32>) -> tensor<512xf32>
  %1 = stablehlo.slice %0 [0:256] : (tensor<512xf32>) -> tensor<256xf32>
  return %1 : tensor<256xf32>
}
func.func @main(%x: tensor<256xf32>) -> tensor<256xf32> {
  %0 = call @g(%x) : (tensor<256xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}";
    assert_eq!(of(text, &MemoryOptions::default()).peak, 4 * KIB);
}

#[test]
fn peaks_are_between_bounds_for_the_models() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/models");
    for entry in std::fs::read_dir(folder).expect("the models are part of the repository") {
        let path = entry.expect("readable").path();
        let module = read(&std::fs::read_to_string(&path).expect("readable"));
        let func = module.main_func().expect("main");
        let [plain, reused] = [PLAIN, MemoryOptions::default()].map(|o| memory(&module, func, &o));
        assert!(reused.peak <= plain.peak, "{path:?}");
        let least = reused.arguments.max(reused.results);
        assert!(reused.peak >= least, "{path:?}: {reused:?}");
        assert!(!reused.live.is_empty() && reused.at.is_some());
        let work = shard_cost::program::work(&module, func);
        assert!(work.work.flops > 0.0 && work.unknown_loops.is_empty(), "{path:?}");
    }
}
