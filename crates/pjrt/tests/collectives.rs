//! Collectives between eight CPU devices, in both ways that a partitioned program can be
//! written, and the bytes that are counted for them.

mod common;

use common::{cpu_plugins, f32s, label, values};
use shard_pjrt::{
    Client, Collective, CollectiveKind, CompileOptions, HostArray, OptimizedModule, Program,
};

const DEVICES: usize = 8;

/// Each device adds its id to its argument; groups of four take the sum.
const REPLICAS: &str = r#"
module @m attributes {mhlo.num_replicas = 8 : i32, mhlo.num_partitions = 1 : i32} {
  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %f = stablehlo.convert %id : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %s = stablehlo.add %a, %b : tensor<4xf32>
    %r = "stablehlo.all_reduce"(%s) <{
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}"#;

/// The same with partition ids: every op is marked as already partitioned.
const PARTITIONS: &str = r#"
module @m attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<4xf32> {mhlo.sharding = "{manual}"})
      -> (tensor<4xf32> {mhlo.sharding = "{manual}"}) {
    %id = stablehlo.partition_id {mhlo.sharding = "{manual}"} : tensor<ui32>
    %f = stablehlo.convert %id {mhlo.sharding = "{manual}"} : (tensor<ui32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] {mhlo.sharding = "{manual}"}
      : (tensor<f32>) -> tensor<4xf32>
    %s = stablehlo.add %a, %b {mhlo.sharding = "{manual}"} : tensor<4xf32>
    %r = "stablehlo.all_reduce"(%s) <{
      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}"#;

fn inputs() -> Vec<Vec<HostArray>> {
    let device = |device: usize| (0..4).map(move |element| (10 * device + element) as f32);
    (0..DEVICES).map(|d| vec![f32s(&[4], device(d))]).collect()
}

/// Device d gives 11·d + e in element e.
fn expected(device: usize) -> Vec<f32> {
    let sum_of_ids = if device < 4 { 6 } else { 22 };
    (0..4).map(|element| (11 * sum_of_ids + 4 * element) as f32).collect()
}

fn sums_over_groups(text: &str, options: &CompileOptions) {
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, DEVICES).expect("a client");
        assert_eq!(client.device_count(), DEVICES);
        let executable = client
            .compile(&Program::Mlir(text), options)
            .unwrap_or_else(|error| panic!("{}: {error}", label(&plugin)));
        assert_eq!(executable.device_count(), DEVICES);
        let results = executable.execute(&inputs()).expect("it runs");
        for (device, results) in results.iter().enumerate() {
            assert_eq!(results.len(), 1);
            assert_eq!(values(&results[0]), expected(device), "{} of {device}", label(&plugin));
        }

        // Uploaded once, run many times.
        let buffers = executable.upload(&inputs()).expect("they are uploaded");
        let times = executable.time(&buffers, 2, 5).expect("it runs");
        assert_eq!(times.len(), 5);
        let again = executable.run(&buffers).expect("the inputs are still there");
        assert_eq!(executable.download(&again).expect("they are read back"), results);

        let module = executable.optimized().expect("it can be read");
        let [reduction] = module.collectives() else {
            panic!("{}: {:?}", label(&plugin), module.collectives())
        };
        assert_eq!(reduction.kind, CollectiveKind::AllReduce);
        assert_eq!((reduction.payload_bytes, reduction.group_size), (16, 4));
        assert_eq!(reduction.wire_bytes, 24);
        assert_eq!(module.wire_bytes(), 24);

        let memory = executable.memory_stats().expect("the plugin answers").expect("it knows");
        assert_eq!((memory.arguments, memory.results), (16, 16), "{}", label(&plugin));
        let cost = executable.cost_analysis().expect("the plugin answers");
        if let Some(cost) = cost {
            assert!(cost.flops.is_some_and(|flops| flops > 0.0), "{cost:?}");
        }
        executable.code_size().expect("the plugin answers");
    }
}

#[test]
fn all_reduce_between_replicas() {
    sums_over_groups(REPLICAS, &CompileOptions::replicas(DEVICES));
}

#[test]
fn all_reduce_between_partitions() {
    sums_over_groups(PARTITIONS, &CompileOptions::partitions(DEVICES));
}

/// Many more devices than cores: each device of a collective has to get a thread.
#[test]
fn sixty_four_devices() {
    const MANY: usize = 64;
    let text = REPLICAS
        .replace("num_replicas = 8", "num_replicas = 64")
        .replace("replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>", {
            "replica_groups = dense<> : tensor<0x0xi64>"
        });
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, MANY).expect("a client");
        let executable = client
            .compile(&Program::Mlir(&text), &CompileOptions::replicas(MANY))
            .unwrap_or_else(|error| panic!("{}: {error}", label(&plugin)));
        let inputs = vec![vec![f32s(&[4], [1.0; 4])]; MANY];
        let results = executable.execute(&inputs).expect("it runs");
        let sum = (MANY + MANY * (MANY - 1) / 2) as f32;
        assert_eq!(results, vec![vec![f32s(&[4], [sum; 4])]; MANY], "{}", label(&plugin));
        let module = executable.optimized().expect("it can be read");
        assert_eq!(module.collectives()[0].group_size, MANY as u64);
    }
}

#[test]
fn devices_in_another_order() {
    let plugin = cpu_plugins().swap_remove(0);
    let client = Client::cpu(&plugin, DEVICES).expect("a client");
    let options = CompileOptions {
        device_assignment: Some((0..DEVICES as i64).rev().collect()),
        ..CompileOptions::replicas(DEVICES)
    };
    let executable = client.compile(&Program::Mlir(REPLICAS), &options).expect("it compiles");
    // Positions count, whichever devices are behind them.
    let results = executable.execute(&inputs()).expect("it runs");
    for (device, results) in results.iter().enumerate() {
        assert_eq!(values(&results[0]), expected(device));
    }
}

/// XLA's own partitioner, as a peer to compare with: the rows of `a` and of `b` are split, so the
/// contraction needs them whole or reduced.
#[test]
fn xla_partitions_a_program() {
    const TEXT: &str = r#"
    module @m attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 8 : i32} {
      func.func @main(%a: tensor<16x32xf32> {mhlo.sharding = "{devices=[1,8]<=[8]}"},
                      %b: tensor<32x4xf32> {mhlo.sharding = "{devices=[8,1]<=[8]}"})
          -> (tensor<16x4xf32> {mhlo.sharding = "{replicated}"}) {
        %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
        return %r : tensor<16x4xf32>
      }
    }"#;
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, DEVICES).expect("a client");
        let executable = client
            .compile(&Program::Mlir(TEXT), &CompileOptions::partitions(DEVICES))
            .expect("it compiles");
        let input = || vec![f32s(&[16, 4], [1.0; 64]), f32s(&[4, 4], [2.0; 16])];
        let results = executable.execute(&vec![input(); DEVICES]).expect("it runs");
        for results in &results {
            assert_eq!(results[0], f32s(&[16, 4], [64.0; 64]));
        }
        let module = executable.optimized().expect("it can be read");
        let kinds: Vec<_> = module.collectives().iter().map(|collective| collective.kind).collect();
        assert_eq!(kinds, [CollectiveKind::AllReduce], "{}", label(&plugin));
        assert_eq!(module.wire_bytes(), 2 * 7 * 256 / 8);
        assert_eq!((module.num_replicas, module.num_partitions), (1, 8));
        assert_eq!(module.contraction_flops(), 2 * 16 * 4 * 4, "{}", label(&plugin));
    }
}

/// One of each collective, with a permute and an all-gather in a loop that runs five times.
const EACH: &str = r#"
module @m attributes {mhlo.num_replicas = 8 : i32, mhlo.num_partitions = 1 : i32} {
  func.func @main(%a: tensor<16x8xf32>) -> (tensor<16x8xf32>, tensor<4x8xf32>, tensor<64x2xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %loop:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<16x8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %n = stablehlo.add %i, %one : tensor<i32>
      %p = "stablehlo.collective_permute"(%x) <{
        source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 0]]>
          : tensor<8x2xi64>}> : (tensor<16x8xf32>) -> tensor<16x8xf32>
      %g = "stablehlo.all_gather"(%p) <{all_gather_dim = 0 : i64,
        replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}>
        : (tensor<16x8xf32>) -> tensor<32x8xf32>
      %s = stablehlo.slice %g [8:24, 0:8] : (tensor<32x8xf32>) -> tensor<16x8xf32>
      %t = stablehlo.tanh %s : tensor<16x8xf32>
      stablehlo.return %n, %t : tensor<i32>, tensor<16x8xf32>
    }
    %r = "stablehlo.reduce_scatter"(%loop#1) <{scatter_dimension = 0 : i64,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %z = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %z : tensor<f32>
    }) : (tensor<16x8xf32>) -> tensor<4x8xf32>
    %q = "stablehlo.all_to_all"(%loop#1) <{split_dimension = 1 : i64, concat_dimension = 0 : i64,
      split_count = 4 : i64,
      replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>}>
      : (tensor<16x8xf32>) -> tensor<64x2xf32>
    return %loop#1, %r, %q : tensor<16x8xf32>, tensor<4x8xf32>, tensor<64x2xf32>
  }
}"#;

fn find(module: &OptimizedModule, kind: CollectiveKind) -> &Collective {
    let mut found = module.collectives().iter().filter(|collective| collective.kind == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind}: {:?}", module.collectives()));
    assert!(found.next().is_none(), "two of {kind}: {:?}", module.collectives());
    first
}

#[test]
fn wire_bytes_of_each_collective() {
    // One array of a device.
    const BYTES: u64 = 16 * 8 * 4;
    for plugin in cpu_plugins() {
        let client = Client::cpu(&plugin, DEVICES).expect("a client");
        let executable = client
            .compile(&Program::Mlir(EACH), &CompileOptions::replicas(DEVICES))
            .expect("it compiles");
        let module = executable.optimized().expect("it can be read");
        let figures = |kind| {
            let found = find(&module, kind);
            assert!(found.times.exact, "{}: {found:?}", label(&plugin));
            (found.payload_bytes, found.group_size, found.wire_bytes, found.times.count)
        };
        // Payload, group, wire bytes a run, runs.
        let expected = [
            (CollectiveKind::CollectivePermute, (BYTES, 8, BYTES, 5)),
            (CollectiveKind::AllGather, (2 * BYTES, 2, BYTES, 5)),
            (CollectiveKind::ReduceScatter, (BYTES, 4, BYTES * 3 / 4, 1)),
            (CollectiveKind::AllToAll, (BYTES, 4, BYTES * 3 / 4, 1)),
        ];
        for (kind, expected) in expected {
            assert_eq!(figures(kind), expected, "{kind} of {}", label(&plugin));
        }
        assert_eq!(module.wire_bytes(), 10 * BYTES + BYTES * 3 / 2, "{}", label(&plugin));
        let input: Vec<f32> = (0..128).map(|element| element as f32 / 128.0).collect();
        let results =
            executable.execute(&vec![vec![f32s(&[16, 8], input)]; DEVICES]).expect("it runs");
        assert_eq!(results.len(), DEVICES);
    }
}
