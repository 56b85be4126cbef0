//! Compiling for TPU v4 on a machine without one.

mod common;

use common::libtpu;
use shard_pjrt::{CollectiveKind, CompileOptions, Error, InputError, Program};

/// A matrix product whose parts are summed over groups of four, in a loop of six rounds.
const TEXT: &str = r#"
module @m attributes {mhlo.num_replicas = 8 : i32, mhlo.num_partitions = 1 : i32} {
  func.func @main(%a: tensor<256x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<256x512xbf16> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<256x512xbf16>
    cond {
      %c = stablehlo.compare LT, %i, %six : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.dot_general %x, %b, contracting_dims = [1] x [0]
        : (tensor<256x512xbf16>, tensor<512x512xbf16>) -> tensor<256x512xbf16>
      %r = "stablehlo.all_reduce"(%d) <{
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
      ^bb0(%x1: tensor<bf16>, %y1: tensor<bf16>):
        %z = stablehlo.add %x1, %y1 : tensor<bf16>
        stablehlo.return %z : tensor<bf16>
      }) : (tensor<256x512xbf16>) -> tensor<256x512xbf16>
      %t = stablehlo.tanh %r : tensor<256x512xbf16>
      stablehlo.return %n, %t : tensor<i32>, tensor<256x512xbf16>
    }
    return %loop#1 : tensor<256x512xbf16>
  }
}"#;

#[test]
fn a_program_is_compiled_for_eight_chips() {
    let plugin = libtpu();
    let topology = plugin.tpu_topology("v4:2x2x2").expect("libtpu knows it");
    assert_eq!(topology.name(), "v4:2x2x2");
    assert_eq!(topology.device_count().expect("it says"), 8);
    // Several in one process.
    for _ in 0..2 {
        let executable = plugin
            .compile_ahead(&topology, &Program::Mlir(TEXT), &CompileOptions::replicas(8))
            .unwrap_or_else(|error| panic!("{error}"));

        let memory = executable.memory_stats().expect("it answers").expect("it knows");
        assert_eq!(memory.arguments, 256 * 512 * 2 + 512 * 512 * 2);
        assert_eq!(memory.results, 256 * 512 * 2);
        assert!(memory.peak.is_some_and(|peak| peak > memory.arguments), "{memory:?}");
        assert!(executable.code_size().expect("it answers").is_some_and(|size| size > 0));
        assert!(executable.flops().expect("it answers").is_some_and(|flops| flops > 0.0));

        let module = executable.optimized().expect("it can be read");
        let [reduction] = module.collectives() else { panic!("{:?}", module.collectives()) };
        assert_eq!(reduction.kind, CollectiveKind::AllReduce);
        assert_eq!(reduction.group_size, 4);
        assert_eq!(reduction.payload_bytes, 256 * 512 * 2);
        assert_eq!(reduction.wire_bytes, 256 * 512 * 2 * 2 * 3 / 4);
        // TPU's compiler doesn't say how often the loop runs.
        assert_eq!((reduction.times.count, reduction.times.exact), (6, true));

        assert_eq!(module.contraction_flops(), 6 * 2 * 256 * 512 * 512);

        let cycles = module.estimated_cycles();
        assert!(cycles.cycles > 0 && cycles.estimated > 0 && cycles.exact, "{cycles:?}");
        assert_eq!(cycles.collectives, 1);
        assert_eq!(executable.estimated_cycles().expect("it can be read"), cycles);
    }
}

#[test]
fn larger_topologies() {
    let plugin = libtpu();
    for (name, devices) in [("v4:2x2x1", 4), ("v4:4x4x4", 64)] {
        let topology = plugin.tpu_topology(name).expect("libtpu knows it");
        assert_eq!(topology.device_count().expect("it says"), devices);
    }
}

#[test]
fn what_cannot_be_compiled_is_an_error() {
    let plugin = libtpu();
    for name in ["", "v4", "v4:", ":2x2x2", "v4:2x0x2", "v4:2x2x2x2", "v4:2xtwox2"] {
        let error = plugin.tpu_topology(name).expect_err("not a topology");
        assert!(matches!(error, Error::Input(InputError::Topology(_))), "{error}");
    }
    let error = plugin.tpu_topology("v4:3x5x7").expect_err("no such slice");
    assert!(error.plugin_error().is_some(), "{error}");

    let topology = plugin.tpu_topology("v4:2x2x2").expect("libtpu knows it");
    let compile = |text: &str, options: &CompileOptions| {
        plugin.compile_ahead(&topology, &Program::Mlir(text), options)
    };
    let error = compile("func.func @main( oops", &CompileOptions::replicas(8));
    assert!(error.expect_err("it is malformed").plugin_error().is_some());
    // The program's groups have eight replicas.
    let error = compile(TEXT, &CompileOptions::replicas(4));
    assert!(error.expect_err("four are too few").plugin_error().is_some());
}
