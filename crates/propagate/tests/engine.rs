//! Small programs, and the shardings that propagation gives their values.

use shard_ir::{Module, ValueId};
use shard_propagate::engine::{Node, Reason, RewiredTo, Strategy, obstacles};
use shard_propagate::{Log, Options, Propagation, propagate, propagate_traced};
use shard_text::{ParseOptions, parse};

fn module(text: &str) -> Module {
    let parsed = parse(text, &ParseOptions::default());
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    parsed.module
}

fn named(module: &Module, name: &str) -> ValueId {
    let symbol = module.find_symbol(name).unwrap_or_else(|| panic!("no %{name}"));
    (0..module.value_count() as u32)
        .map(ValueId::from_u32)
        .find(|&value| module.value_names[value].expand() == Some(symbol))
        .unwrap_or_else(|| panic!("no %{name}"))
}

fn text_of(module: &Module, result: &Propagation, name: &str) -> String {
    match result.sharding(named(module, name)) {
        Some(sharding) => sharding.bare_text(&module.meshes[sharding.mesh].mesh).to_string(),
        None => "none".into(),
    }
}

/// Propagates and compares: names of values with their shardings.
fn check_with(text: &str, options: &Options, expected: &[(&str, &str)]) -> Propagation {
    let module = module(text);
    let result = propagate(&module, options);
    for (name, sharding) in expected {
        assert_eq!(text_of(&module, &result, name), *sharding, "%{name}");
    }
    result
}

fn check(text: &str, expected: &[(&str, &str)]) -> Propagation {
    check_with(text, &Options::default(), expected)
}

#[test]
fn a_two_layer_perceptron() {
    check(
        r#"
        sdy.mesh @mesh = <["data"=2, "model"=4]>
        func.func @main(
            %x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
            %w1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>},
            %w2: tensor<32x16xf32>) -> tensor<8x16xf32> {
          %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
          %t = stablehlo.tanh %h : tensor<8x32xf32>
          %y = stablehlo.dot_general %t, %w2, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
          return %y : tensor<8x16xf32>
        }"#,
        &[
            ("h", r#"[{"data", ?}, {"model", ?}]"#),
            ("t", r#"[{"data", ?}, {"model", ?}]"#),
            ("w2", r#"[{"model", ?}, {?}]"#),
            ("y", r#"[{"data", ?}, {?}]"#),
        ],
    );
}

#[test]
fn results_of_the_function_go_backward_and_forward() {
    let result = check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
            -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32>) {
          %p = stablehlo.negate %x : tensor<8xf32>
          %q = stablehlo.negate %y : tensor<8xf32>
          return %p, %q : tensor<8xf32>, tensor<8xf32>
        }"#,
        &[("p", r#"[{"a", ?}]"#), ("x", r#"[{"a", ?}]"#), ("q", r#"[{"a", ?}]"#)],
    );
    let func = shard_ir::FuncId::from_u32(0);
    assert!(result.func_result(func, 0).is_some_and(|sharding| !sharding.dims[0].open));
    assert!(result.func_result(func, 1).is_some_and(|sharding| sharding.dims[0].open));
}

const CONFLICT: &str = r#"
    sdy.mesh @mesh = <["a"=2, "b"=2]>
    func.func @main(
        %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>},
        %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) -> tensor<8x8xf32> {
      %z = stablehlo.add %x, %y : tensor<8x8xf32>
      return %z : tensor<8x8xf32>
    }"#;

#[test]
fn the_aggressive_strategy_resolves_a_conflict_and_the_basic_one_does_not() {
    check(CONFLICT, &[("z", r#"[{"a", ?}, {?}]"#)]);
    let basic = Options { strategy: Strategy::Basic, ..Options::default() };
    check_with(CONFLICT, &basic, &[("z", "none")]);
    let both = Options { strategy: Strategy::BasicThenAggressive, ..Options::default() };
    check_with(CONFLICT, &both, &[("z", r#"[{"a", ?}, {?}]"#)]);
}

#[test]
fn closed_dimensions_and_replicated_axes_stop_axes() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2, "b"=2]>
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}]>})
            -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %p = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {?}]>]>} : tensor<8x8xf32>
          %q = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{?}, {?}], replicated={"b"}>]>} : tensor<8x8xf32>
          return %p, %q : tensor<8x8xf32>, tensor<8x8xf32>
        }"#,
        &[("p", r#"[{}, {"b", ?}]"#), ("q", r#"[{"a", ?}, {?}], replicated={"b"}"#)],
    );
}

#[test]
fn a_reshape_splits_and_merges_axes() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=4, "b"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}]>}) -> tensor<8xf32> {
          %p = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
          %q = stablehlo.negate %p : tensor<2x4xf32>
          %r = stablehlo.reshape %q : (tensor<2x4xf32>) -> tensor<8xf32>
          return %r : tensor<8xf32>
        }"#,
        &[("p", r#"[{"a":(1)2, ?}, {"a":(2)2, "b", ?}]"#), ("r", r#"[{"a", "b", ?}]"#)],
    );
}

#[test]
fn sub_axes_stay_out_of_conservative_propagation() {
    let text = r#"
        sdy.mesh @mesh = <["a"=4]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<2x4xf32> {
          %p = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
          return %p : tensor<2x4xf32>
        }"#;
    check(text, &[("p", r#"[{"a":(1)2, ?}, {"a":(2)2, ?}]"#)]);
    let conservative = Options { conservative: true, ..Options::default() };
    check_with(text, &conservative, &[("p", "none")]);
}

#[test]
fn user_priorities_come_first() {
    let text = r#"
        sdy.mesh @mesh = <["a"=2, "b"=2]>
        func.func @main(
            %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p1, {}]>},
            %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<8x8xf32> {
          %z = stablehlo.add %x, %y : tensor<8x8xf32>
          return %z : tensor<8x8xf32>
        }"#;
    check(text, &[("z", r#"[{?}, {"a", ?}]"#), ("x", r#"[{"a"}, {}]"#)]);
    let flat = Options { user_priorities: false, ..Options::default() };
    check_with(text, &flat, &[("z", r#"[{"a", ?}, {?}]"#)]);
}

#[test]
fn elementwise_ops_come_before_contractions() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(
            %x: tensor<8x16xf32>,
            %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>},
            %c: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
          %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
          %z = stablehlo.add %y, %c : tensor<8x8xf32>
          return %z : tensor<8x8xf32>
        }"#,
        &[("y", r#"[{"a", ?}, {?}]"#), ("z", r#"[{"a", ?}, {?}]"#), ("x", r#"[{"a", ?}, {?}]"#)],
    );
}

#[test]
fn a_closed_constraint_applies_to_its_input() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %p = stablehlo.negate %x : tensor<8xf32>
          %q = sdy.sharding_constraint %p <@mesh, [{"a"}]> : tensor<8xf32>
          %r = stablehlo.negate %p : tensor<8xf32>
          return %q, %r : tensor<8xf32>, tensor<8xf32>
        }"#,
        &[("p", r#"[{"a"}]"#), ("q", r#"[{"a"}]"#), ("r", r#"[{"a", ?}]"#)],
    );
}

#[test]
fn constraints_that_disagree_apply_to_nothing() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2, "b"=2]>
        func.func @main(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %p = stablehlo.negate %x : tensor<8x8xf32>
          %q = sdy.sharding_constraint %p <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
          %r = sdy.sharding_constraint %p <@mesh, [{}, {"b"}]> : tensor<8x8xf32>
          return %q, %r : tensor<8x8xf32>, tensor<8x8xf32>
        }"#,
        &[("q", r#"[{"a"}, {}]"#), ("r", r#"[{}, {"b"}]"#), ("p", r#"[{"a", ?}, {"b", ?}]"#)],
    );
}

#[test]
fn users_after_a_chain_of_constraints_take_its_result() {
    let result = check(
        r#"
        sdy.mesh @mesh = <["a"=2, "b"=2]>
        func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %p = stablehlo.negate %x : tensor<8xf32>
          %q = sdy.sharding_constraint %p <@mesh, [{"a"}]> : tensor<8xf32>
          %r = sdy.sharding_constraint %q <@mesh, [{"b"}]> : tensor<8xf32>
          %s = stablehlo.negate %p : tensor<8xf32>
          return %r, %s : tensor<8xf32>, tensor<8xf32>
        }"#,
        &[("p", r#"[{"a"}]"#), ("s", r#"[{"b", ?}]"#)],
    );
    assert_eq!(result.rewired.len(), 1);
}

#[test]
fn loops_have_one_sharding_for_each_variable() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}, %i: tensor<i32>) -> tensor<8xf32> {
          %n = stablehlo.constant dense<4> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %r:2 = stablehlo.while(%v = %x, %k = %i) : tensor<8xf32>, tensor<i32>
           cond {
            %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %next = stablehlo.negate %v : tensor<8xf32>
            %k2 = stablehlo.add %k, %one : tensor<i32>
            stablehlo.return %next, %k2 : tensor<8xf32>, tensor<i32>
          }
          %out = stablehlo.negate %r#0 : tensor<8xf32>
          return %out : tensor<8xf32>
        }"#,
        &[("v", r#"[{"a", ?}]"#), ("next", r#"[{"a", ?}]"#), ("out", r#"[{"a", ?}]"#)],
    );
}

#[test]
fn branches_and_barriers_carry_shardings() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32>, %i: tensor<i32>, %p: tensor<i1>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
          %r = "stablehlo.case"(%i) ({
            %b0 = stablehlo.negate %x : tensor<8xf32>
            stablehlo.return %b0 : tensor<8xf32>
          }, {
            %b1 = stablehlo.abs %x : tensor<8xf32>
            stablehlo.return %b1 : tensor<8xf32>
          }) : (tensor<i32>) -> tensor<8xf32>
          %s = "stablehlo.if"(%p) ({
            stablehlo.return %r : tensor<8xf32>
          }, {
            %b2 = stablehlo.abs %r : tensor<8xf32>
            stablehlo.return %b2 : tensor<8xf32>
          }) : (tensor<i1>) -> tensor<8xf32>
          %t = stablehlo.optimization_barrier %s : tensor<8xf32>
          return %t : tensor<8xf32>
        }"#,
        &[
            ("s", r#"[{"a", ?}]"#),
            ("b2", r#"[{"a", ?}]"#),
            ("b0", r#"[{"a", ?}]"#),
            ("b1", r#"[{"a", ?}]"#),
            ("x", r#"[{"a", ?}]"#),
        ],
    );
}

#[test]
fn a_barrier_lets_one_direction_through() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(
            %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
            %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %p = sdy.propagation_barrier %x allowed_direction=FORWARD : tensor<8x8xf32>
          %q = stablehlo.negate %p : tensor<8x8xf32>
          %r = sdy.propagation_barrier %y allowed_direction=FORWARD : tensor<8x8xf32>
          %s = stablehlo.negate %r {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {}]>]>} : tensor<8x8xf32>
          return %q, %s : tensor<8x8xf32>, tensor<8x8xf32>
        }"#,
        &[("q", r#"[{"a", ?}, {?}]"#), ("r", r#"[{"a", ?}, {?}]"#), ("y", "none")],
    );
}

#[test]
fn manual_axes_stay_outside() {
    let result = check(
        r#"
        sdy.mesh @mesh = <["m"=2, "f"=2]>
        func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
          %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"m"}, {"f", ?}]>] out_shardings=[<@mesh, [{"m"}, {?}]>] manual_axes={"m"} (%v: tensor<4x8xf32>) {
            %t = stablehlo.tanh %v : tensor<4x8xf32>
            sdy.return %t : tensor<4x8xf32>
          } : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %s = stablehlo.negate %r : tensor<8x8xf32>
          return %s : tensor<8x8xf32>
        }"#,
        &[
            ("v", r#"[{}, {"f", ?}]"#),
            ("t", r#"[{?}, {"f", ?}]"#),
            ("r", r#"[{"m"}, {"f", ?}]"#),
            ("s", r#"[{"m", ?}, {"f", ?}]"#),
            ("x", r#"[{"m", ?}, {"f", ?}]"#),
        ],
    );
    assert_eq!(result.borders.len(), 1);
    let outside = result.table.get(result.borders[0].operands[0]).expect("a sharding");
    assert_eq!((outside.dims[0].axes.len(), outside.dims[1].axes.len()), (1, 1));
}

#[test]
fn calls_carry_shardings_both_ways() {
    let result = check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> tensor<8xf32> {
          %p = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
          %q = call @f(%y) : (tensor<8xf32>) -> tensor<8xf32>
          %z = stablehlo.add %p, %q : tensor<8xf32>
          return %z : tensor<8xf32>
        }
        func.func private @f(%v: tensor<8xf32>) -> tensor<8xf32> {
          %w = stablehlo.negate %v : tensor<8xf32>
          return %w : tensor<8xf32>
        }"#,
        &[
            ("v", r#"[{"a", ?}]"#),
            ("w", r#"[{"a", ?}]"#),
            ("y", r#"[{"a", ?}]"#),
            ("q", r#"[{"a", ?}]"#),
            ("z", r#"[{"a", ?}]"#),
        ],
    );
    let callee = shard_ir::FuncId::from_u32(1);
    assert!(result.func_result(callee, 0).is_some());
}

#[test]
fn values_of_a_group_are_sharded_alike() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
          %p = stablehlo.negate %x : tensor<8xf32>
          sdy.sharding_group %p group_id=3 : tensor<8xf32>
          %q = stablehlo.negate %y : tensor<8xf32>
          sdy.sharding_group %q group_id=3 : tensor<8xf32>
          return %p, %q : tensor<8xf32>, tensor<8xf32>
        }"#,
        &[("p", r#"[{"a", ?}]"#), ("q", r#"[{"a", ?}]"#), ("y", r#"[{"a", ?}]"#)],
    );
}

#[test]
fn equal_meshes_are_one_and_axes_of_size_one_are_none() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2, "b"=2, "c"=1]>
        sdy.mesh @mesh_0 = <["a"=2, "b"=2, "c"=1]>
        sdy.mesh @other = <["a"=4]>
        func.func @main(
            %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
            %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh_0, [{}, {"c", "b"}]>},
            %u: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@other, [{"a"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
          %z = stablehlo.add %x, %y : tensor<8x8xf32>
          %w = stablehlo.add %x, %u : tensor<8x8xf32>
          return %z, %w : tensor<8x8xf32>, tensor<8x8xf32>
        }"#,
        &[("z", r#"[{"a", ?}, {"b", ?}]"#), ("y", r#"[{}, {"b"}]"#), ("w", "none")],
    );
}

#[test]
fn a_constraint_on_a_loop_variable_constrains_only_its_users() {
    let result = check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32>, %i: tensor<i32>) -> tensor<8xf32> {
          %r:2 = stablehlo.while(%v = %x, %k = %i) : tensor<8xf32>, tensor<i32>
           cond {
            %c = stablehlo.compare LT, %k, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %u = sdy.sharding_constraint %v <@mesh, [{"a"}]> : tensor<8xf32>
            %next = stablehlo.negate %v : tensor<8xf32>
            stablehlo.return %next, %k : tensor<8xf32>, tensor<i32>
          }
          return %r#0 : tensor<8xf32>
        }"#,
        &[("u", r#"[{"a"}]"#), ("next", r#"[{"a", ?}]"#), ("v", r#"[{"a", ?}]"#)],
    );
    assert!(matches!(result.rewired[0].to, RewiredTo::Value(_)));
}

#[test]
fn the_log_says_where_axes_come_from() {
    let module = module(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<8xf32> {
          %y = stablehlo.negate %x : tensor<8xf32>
          return %y : tensor<8xf32>
        }"#,
    );
    let mut log = Log::default();
    let traced = propagate_traced(&module, &Options::default(), &mut log);
    let (x, y) = (named(&module, "x"), named(&module, "y"));
    let placement = &log.placements[0];
    assert_eq!((placement.value, &placement.sources[..]), (Some(y), &[x][..]));
    assert_eq!((placement.before.len(), placement.after.len()), (0, 1));
    // Tracing changes nothing.
    let plain = propagate(&module, &Options::default());
    assert_eq!(plain.sharding(y), traced.sharding(y));
}

/// The reasons for which axes stopped at the op that makes a value.
fn reasons(text: &str, name: &str) -> Vec<(usize, Reason)> {
    let module = module(text);
    let options = Options::default();
    let result = propagate(&module, &options);
    let op = module.defining_op(named(&module, name));
    let node = result.graph.graph.node_indices().find(
        |&node| matches!(&result.graph.graph[node], Node::Op(node) if node.op.expand() == op),
    );
    let found = obstacles(&module, &options, &result, node.expect("a node"));
    found.into_iter().map(|obstacle| (obstacle.tensor, obstacle.reason)).collect()
}

#[test]
fn an_axis_that_stops_says_why() {
    let program = |given: &str, op: &str| {
        format!(
            r#"
            sdy.mesh @mesh = <["a"=2, "b"=2]>
            func.func @main(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"a"}}, {{}}]>}}) -> tensor<8x8xf32> {{
              %y = {op} {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {given}>]>}} : tensor<8x8xf32>
              return %y : tensor<8x8xf32>
            }}"#
        )
    };
    let negate = |given: &str| reasons(&program(given, "stablehlo.negate %x"), "y");
    assert_eq!(negate("[{?}, {?}]"), []);
    assert_eq!(negate("[{}, {?}]"), [(1, Reason::Closed)]);
    assert_eq!(negate(r#"[{?}, {?}], replicated={"a"}"#), [(1, Reason::Replicated)]);
    let taken = negate(r#"[{?}, {"a"}]"#);
    assert_eq!(taken, [(0, Reason::OtherFactor(0)), (1, Reason::OtherFactor(1))]);
    let other = negate(r#"[{"b"}, {?}]"#);
    assert!(matches!(other[..], [(0, Reason::OtherAxis(_)), (1, Reason::OtherAxis(_))]));
    let barrier = r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8x8xf32> {
          %y = sdy.propagation_barrier %x allowed_direction=BACKWARD : tensor<8x8xf32>
          return %y : tensor<8x8xf32>
        }"#;
    assert_eq!(reasons(barrier, "y"), [(1, Reason::Barrier)]);
    let blocked = r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %i: tensor<i32>) -> tensor<2x8xf32> {
          %y = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 8] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
          return %y : tensor<2x8xf32>
        }"#;
    assert_eq!(reasons(blocked, "y"), [(3, Reason::BlockedFactor)]);
}

#[test]
fn dynamic_sizes_and_unknown_ops_stop_nothing_else() {
    check(
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<?x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<?x8xf32> {
          %y = stablehlo.negate %x : tensor<?x8xf32>
          %z = "foo.bar"(%y) : (tensor<?x8xf32>) -> tensor<?x8xf32>
          return %z : tensor<?x8xf32>
        }"#,
        &[("y", r#"[{?}, {"a", ?}]"#), ("z", "none")],
    );
}

#[test]
fn programs_that_make_no_sense_do_no_harm() {
    for text in [
        // No function; a rank that doesn't fit; a call of nothing; a maximal mesh.
        r#"sdy.mesh @mesh = <["a"=2]>"#,
        r#"
        sdy.mesh @mesh = <["a"=2]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) -> tensor<8xf32> {
          %y = stablehlo.negate %x : tensor<8xf32>
          return %y : tensor<8xf32>
        }"#,
        r#"
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %y = call @gone(%x) : (tensor<8xf32>) -> tensor<8xf32>
          return %y : tensor<8xf32>
        }"#,
        r#"
        sdy.mesh @one = <[], device_ids=[3]>
        func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@one, [{}]>}) -> tensor<8xf32> {
          %y = stablehlo.negate %x : tensor<8xf32>
          return %y : tensor<8xf32>
        }"#,
        r#"
        func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
          %y = call @main(%x) : (tensor<8xf32>) -> tensor<8xf32>
          return %y : tensor<8xf32>
        }"#,
    ] {
        let module = parse(text, &ParseOptions::default()).module;
        propagate(&module, &Options::default());
    }
}
