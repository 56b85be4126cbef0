//! Programs on several devices: groups of every mode, divergence, transfers, deadlocks.

use shard_interp::{Event, Machine, Outcome, RunError, RunOptions, Tensor, Value};
use shard_ir::{ElementType, Module};

fn parse(text: &str) -> Module {
    let parsed = shard_text::parse(text, &shard_text::ParseOptions::default());
    let module = parsed.into_result().unwrap_or_else(|errors| panic!("{errors:?}"));
    let complaints = shard_ir::verify(&module);
    assert!(complaints.is_empty(), "{complaints:?}");
    module
}

fn ints(values: &[i64]) -> Value {
    Tensor::from_lanes(ElementType::I64, vec![values.len() as i64], values.to_vec()).into()
}

/// Runs the main function on devices of which device `d` is given `[10 d, 10 d + 1]`.
fn run(text: &str, replicas: usize, partitions: usize) -> Result<Outcome, RunError> {
    let module = parse(text);
    let func = module.main_func().expect("it has a function");
    let inputs = (0..(replicas * partitions) as i64).map(|d| vec![ints(&[10 * d, 10 * d + 1])]);
    let options = RunOptions { replicas, partitions, ..RunOptions::default() };
    Machine::new(&module).run(func, inputs.collect(), &options)
}

fn numbers(outcome: &Outcome) -> Vec<Vec<i64>> {
    let first = |list: &Vec<Value>| list[0].tensor().expect("a tensor").integers();
    outcome.results.iter().map(first).collect()
}

fn all_reduce(attributes: &str) -> String {
    format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
          %0 = \"stablehlo.all_reduce\"(%x) <{{{attributes}}}> ({{
          ^bb0(%a: tensor<i64>, %b: tensor<i64>):
            %s = stablehlo.add %a, %b : tensor<i64>
            stablehlo.return %s : tensor<i64>
          }}) : (tensor<2xi64>) -> tensor<2xi64>
          return %0 : tensor<2xi64>
        }}"
    )
}

const CHANNEL: &str = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>";

#[test]
fn groups_number_replicas_partitions_or_devices() {
    // Four devices hold 0, 10, 20, 30 (first elements); two replicas of two partitions.
    let groups = "replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>";
    // Replicas 0 and 1, each partition by itself: devices 0 and 2, 1 and 3.
    let sums = numbers(&run(&all_reduce(groups), 2, 2).expect("it runs"));
    assert_eq!(sums, [[20, 22], [40, 42], [20, 22], [40, 42]]);
    // With a channel: all partitions of those replicas.
    let sums = numbers(&run(&all_reduce(&format!("{groups}, {CHANNEL}")), 2, 2).expect("it runs"));
    assert_eq!(sums, vec![vec![60, 64]; 4]);
    // Devices by their numbers.
    let groups = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>";
    let text = all_reduce(&format!("{groups}, {CHANNEL}, use_global_device_ids"));
    let sums = numbers(&run(&text, 2, 2).expect("it runs"));
    assert_eq!(sums, [[10, 12], [10, 12], [50, 52], [50, 52]]);
}

#[test]
fn devices_that_arent_there_are_an_error() {
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = \"stablehlo.collective_permute\"(%x) <{source_target_pairs = dense<[[0, 7]]> : \
         tensor<1x2xi64>}> : (tensor<2xi64>) -> tensor<2xi64>
      return %0 : tensor<2xi64>
    }";
    let error = run(text, 2, 1).expect_err("it is refused");
    assert!(error.to_string().contains("there is no replica 7"), "{error}");
}

#[test]
fn permutations_give_zeros_to_who_receives_nothing() {
    let text = format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
          %0 = \"stablehlo.collective_permute\"(%x) <{{source_target_pairs = dense<[[0, 1], [1, 2]]> \
         : tensor<2x2xi64>, {CHANNEL}}}> : (tensor<2xi64>) -> tensor<2xi64>
          return %0 : tensor<2xi64>
        }}"
    );
    let moved = numbers(&run(&text, 1, 4).expect("it runs"));
    assert_eq!(moved, [[0, 0], [0, 1], [10, 11], [0, 0]]);
}

#[test]
fn exchanges_gather_and_scatter() {
    let text = format!(
        "func.func @main(%x: tensor<2xi64>) -> (tensor<4xi64>, tensor<2xi64>, tensor<1xi64>) {{
          %g = \"stablehlo.all_gather\"(%x) <{{all_gather_dim = 0 : i64, replica_groups = \
         dense<[[1, 0]]> : tensor<1x2xi64>, {CHANNEL}, use_global_device_ids}}> : (tensor<2xi64>) -> \
         tensor<4xi64>
          %t = \"stablehlo.all_to_all\"(%x) <{{split_dimension = 0 : i64, concat_dimension = 0 : \
         i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, \
         {CHANNEL}}}> : (tensor<2xi64>) -> tensor<2xi64>
          %s = \"stablehlo.reduce_scatter\"(%x) <{{scatter_dimension = 0 : i64, replica_groups = \
         dense<[[0, 1]]> : tensor<1x2xi64>, {CHANNEL}, use_global_device_ids}}> ({{
          ^bb0(%a: tensor<i64>, %b: tensor<i64>):
            %m = stablehlo.maximum %a, %b : tensor<i64>
            stablehlo.return %m : tensor<i64>
          }}) : (tensor<2xi64>) -> tensor<1xi64>
          return %g, %t, %s : tensor<4xi64>, tensor<2xi64>, tensor<1xi64>
        }}"
    );
    let outcome = run(&text, 1, 2).expect("it runs");
    let values = |device: usize| -> Vec<Vec<i64>> {
        let list = &outcome.results[device];
        list.iter().map(|value| value.tensor().expect("a tensor").integers()).collect()
    };
    // The order of a group is the order of the parts.
    assert_eq!(values(0), [vec![10, 11, 0, 1], vec![0, 10], vec![10]]);
    assert_eq!(values(1), [vec![10, 11, 0, 1], vec![1, 11], vec![11]]);
}

#[test]
fn devices_may_take_different_ways() {
    // Device d runs its loop d times; those that are through wait at the sum for the others.
    let text = format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<i64> {{
          %id = stablehlo.partition_id : tensor<ui32>
          %n = stablehlo.convert %id : (tensor<ui32>) -> tensor<i64>
          %zero = stablehlo.constant dense<0> : tensor<i64>
          %one = stablehlo.constant dense<1> : tensor<i64>
          %r:2 = stablehlo.while(%i = %zero, %s = %zero) : tensor<i64>, tensor<i64>
          cond {{
            %c = stablehlo.compare LT, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          }} do {{
            %j = stablehlo.add %i, %one : tensor<i64>
            %t = stablehlo.add %s, %j : tensor<i64>
            stablehlo.return %j, %t : tensor<i64>, tensor<i64>
          }}
          %0 = \"stablehlo.all_reduce\"(%r#1) <{{replica_groups = dense<[[0, 1, 2, 3]]> : \
         tensor<1x4xi64>, {CHANNEL}, use_global_device_ids}}> ({{
          ^bb0(%a: tensor<i64>, %b: tensor<i64>):
            %m = stablehlo.add %a, %b : tensor<i64>
            stablehlo.return %m : tensor<i64>
          }}) : (tensor<i64>) -> tensor<i64>
          return %0 : tensor<i64>
        }}"
    );
    // 0 + 1 + (1 + 2) + (1 + 2 + 3).
    assert_eq!(numbers(&run(&text, 1, 4).expect("it runs")), vec![vec![10]; 4]);
}

#[test]
fn who_waits_for_nobody_is_named() {
    // Only device 0 comes to the sum.
    let text = format!(
        "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {{
          %id = stablehlo.partition_id : tensor<ui32>
          %zero = stablehlo.constant dense<0> : tensor<ui32>
          %c = stablehlo.compare EQ, %id, %zero : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
          %0 = \"stablehlo.if\"(%c) ({{
            %1 = \"stablehlo.all_reduce\"(%x) <{{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, \
         {CHANNEL}, use_global_device_ids}}> ({{
            ^bb0(%a: tensor<i64>, %b: tensor<i64>):
              %m = stablehlo.add %a, %b : tensor<i64>
              stablehlo.return %m : tensor<i64>
            }}) : (tensor<2xi64>) -> tensor<2xi64>
            stablehlo.return %1 : tensor<2xi64>
          }}, {{
            stablehlo.return %x : tensor<2xi64>
          }}) : (tensor<i1>) -> tensor<2xi64>
          return %0 : tensor<2xi64>
        }}"
    );
    let error = run(&text, 1, 2).expect_err("nobody comes");
    let RunError::Deadlock { waiting, done } = &error else { panic!("{error}") };
    assert_eq!((waiting[0].1.as_slice(), done.as_slice()), (&[0][..], &[1][..]));
    let diagnostic = error.diagnostic(&parse(&text));
    assert_eq!(diagnostic.op.as_deref(), Some("stablehlo.all_reduce"));
    assert!(
        diagnostic.notes.iter().any(|note| note.starts_with("device 0 waits")),
        "{diagnostic:?}"
    );
}

#[test]
fn manual_computations_run_on_all_devices_of_the_mesh() {
    let text = r#"
      sdy.mesh @mesh = <["x"=2, "y"=2]>
      func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<1xi64>) {
          %1 = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
          ^bb0(%p: tensor<i64>, %q: tensor<i64>):
            %m = stablehlo.add %p, %q : tensor<i64>
            stablehlo.return %m : tensor<i64>
          }) : (tensor<1xi64>) -> tensor<1xi64>
          %2 = stablehlo.add %1, %a : tensor<1xi64>
          sdy.return %2 : tensor<1xi64>
        } : (tensor<2xi64>) -> tensor<2xi64>
        return %0 : tensor<2xi64>
      }"#;
    // [0, 1]: each half is the sum 1, and itself.
    assert_eq!(numbers(&run(text, 1, 1).expect("it runs")), [[1, 2]]);
}

#[test]
fn loops_without_end_are_found() {
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %0 = stablehlo.while(%i = %x) : tensor<2xi64>
      cond {
        %c = stablehlo.constant dense<true> : tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        stablehlo.return %i : tensor<2xi64>
      }
      return %0 : tensor<2xi64>
    }";
    let module = parse(text);
    let func = module.main_func().expect("it has a function");
    let options = RunOptions { fuel: Some(1000), ..RunOptions::default() };
    let run = Machine::new(&module).run(func, vec![vec![ints(&[0, 1])]], &options);
    let error = run.expect_err("it doesn't end");
    assert!(error.to_string().contains("more than 1000 ops"), "{error}");
}

#[test]
fn checks_that_dont_hold_are_events() {
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      check.expect_eq_const %x, dense<[0, 2]> : tensor<2xi64>
      return %x : tensor<2xi64>
    }";
    let outcome = run(text, 1, 1).expect("it runs");
    let [Event::Failed { message, .. }] = &outcome.events[..] else {
        panic!("{:?}", outcome.events)
    };
    assert_eq!(message, "1 of 2 elements differs at [1]: 1 instead of 2");
}

#[test]
fn regions_may_have_control_flow() {
    // The reducer takes the larger by a branch, element by element.
    let text = "func.func @main(%x: tensor<2xi64>) -> tensor<i64> {
      %low = stablehlo.constant dense<-5> : tensor<i64>
      %0 = \"stablehlo.reduce\"(%x, %low) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<i64>, %b: tensor<i64>):
        %c = stablehlo.compare GT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %m = \"stablehlo.if\"(%c) ({
          stablehlo.return %a : tensor<i64>
        }, {
          stablehlo.return %b : tensor<i64>
        }) : (tensor<i1>) -> tensor<i64>
        stablehlo.return %m : tensor<i64>
      }) : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
      return %0 : tensor<i64>
    }";
    assert_eq!(numbers(&run(text, 1, 3).expect("it runs")), [[1], [11], [21]]);
}
