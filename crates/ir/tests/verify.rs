//! The verifier: structure, symbols, shardings and manual computations.

mod verify_support;

use cranelift_entity::EntityRef;
use shard_ir::infer::{InferredType, infer};
use shard_ir::ops::{Control, Elementwise, Op};
use shard_ir::sharding::TensorSharding;
use shard_ir::{BlockId, ElementType, LocId, MeshId, Module, OpId, Type, verify};
use verify_support::{complaints, expect, read};

fn models() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/models");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the models are part of the repository")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "mlir"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let load = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        (path.display().to_string(), text)
    };
    paths.into_iter().map(load).collect()
}

#[test]
fn models_are_valid() {
    for (path, text) in models() {
        let found = complaints(&text);
        assert!(found.is_empty(), "{path}: {found:#?}");
    }
}

#[test]
fn inferred_types_are_those_of_the_models() {
    let (mut exact, mut given) = (0, 0);
    for (path, text) in models() {
        let module = read(&text);
        for op in (0..module.op_count()).map(OpId::new) {
            let found = infer(&module, module.kind(op), module.operands(op), module.regions(op));
            let Ok(found) = found else { continue };
            for (found, &value) in found.iter().zip(module.results(op)) {
                let declared = module.ty(module.value_type(value));
                match found {
                    InferredType::Tensor(ty) | InferredType::TensorOr(ty) => {
                        assert_eq!(
                            Some(ty),
                            declared.as_tensor(),
                            "{path}: {}",
                            module.op_name(op)
                        );
                        exact += 1;
                    }
                    InferredType::Known(ty) => assert_eq!(module.ty(*ty), declared),
                    InferredType::Shape(dims) => {
                        assert_eq!(Some(dims), declared.as_tensor().map(|ty| &ty.dims));
                    }
                    InferredType::Token => assert_eq!(Type::Token, *declared),
                    InferredType::Tuple(_) | InferredType::Given => given += 1,
                }
            }
        }
    }
    assert!(exact > 2 * given, "{exact} of {given}");
}

#[test]
fn control_flow() {
    let program = |cond: &str, step: &str| {
        format!(
            "func.func @f(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {{
  %r:2 = \"stablehlo.while\"(%x, %n) ({{
  ^bb0(%a: tensor<4xf32>, %i: tensor<i32>):
    {cond}
  }}, {{
  ^bb0(%a: tensor<4xf32>, %i: tensor<i32>):
    {step}
  }}) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %r#0 : tensor<4xf32>
}}"
        )
    };
    let cond = "%p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1> stablehlo.return %p : tensor<i1>";
    let step = "stablehlo.return %a, %i : tensor<4xf32>, tensor<i32>";
    expect(&program(cond, step), "");
    expect(
        &program("stablehlo.return %i : tensor<i32>", step),
        "the condition returns tensor<i32>",
    );
    expect(
        &program(cond, "stablehlo.return %i, %a : tensor<i32>, tensor<4xf32>"),
        "number 0 of the operands has type tensor<4xf32>, of the values that the body returns tensor<i32>",
    );
    expect(&program(cond, "stablehlo.return %a : tensor<4xf32>"), "there are 2 operands, but 1");
    let branches = |second: &str| {
        format!(
            "func.func @f(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {{
  %r = \"stablehlo.if\"(%p) ({{ stablehlo.return %x : tensor<4xf32> }}, {{ {second} }}) : (tensor<i1>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}}"
        )
    };
    expect(&branches("stablehlo.return %x : tensor<4xf32>"), "");
    expect(&branches("stablehlo.return %y : tensor<2xf32>"), "of the values that branch 1 returns");
}

#[test]
fn functions_and_calls() {
    let callee =
        "func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }\n";
    let call = |line: &str| {
        format!("{callee}func.func @f(%x: tensor<4xf32>, %y: tensor<2xf32>) {{ {line} return }}")
    };
    expect(&call("%r = call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>"), "");
    expect(
        &call("%r = call @h(%x) : (tensor<4xf32>) -> tensor<4xf32>"),
        "there is no function '@h'",
    );
    expect(
        &call("%r = call @g(%y) : (tensor<2xf32>) -> tensor<4xf32>"),
        "number 0 of the operands has type tensor<2xf32>, of the arguments of the function tensor<4xf32>",
    );
    expect(&format!("{callee}{callee}"), "@g is defined twice");
    expect(
        "func.func @f(%x: tensor<4xf32>) -> tensor<2xf32> { return %x : tensor<4xf32> }",
        "value 0 has type tensor<4xf32>, but the function's result tensor<2xf32>",
    );
    expect(
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return }",
        "returns 0 values, but the function has 1 results",
    );
}

/// A function `(tensor<4xf32>) -> ()` with a block to fill.
fn function() -> (Module, BlockId) {
    let mut module = read("func.func @f(%x: tensor<4xf32>) { return }");
    let func = module.func_ids().next().expect("one function");
    let entry = module.func_entry(func);
    module.block_mut(entry).ops.clear();
    (module, entry)
}

fn messages(module: &Module) -> Vec<String> {
    verify(module).iter().map(|found| found.message.clone()).collect()
}

#[test]
fn uses_come_after_definitions() {
    let (mut module, entry) = function();
    let ty = module.tensor(ElementType::F32, [4]);
    let x = module.params(entry)[0];
    let loc = LocId::UNKNOWN;
    let first = module.new_op(Elementwise::Negate, &[x], &[ty], &[], loc);
    let second = module.new_op(Elementwise::Negate, &[module.result(first, 0)], &[ty], &[], loc);
    let end = module.new_op(Control::FuncReturn, &[], &[], &[], loc);
    module.block_mut(entry).ops = vec![first, second, end];
    assert_eq!(messages(&module), [""; 0]);
    module.block_mut(entry).ops = vec![second, first, end];
    assert!(messages(&module)[0].starts_with("operand 0 isn't defined before"));
    module.block_mut(entry).ops = vec![second, end];
    assert!(messages(&module)[0].starts_with("operand 0 isn't defined before"));
    module.block_mut(entry).ops = vec![first, first, end];
    assert_eq!(messages(&module), ["is placed twice"]);
    module.block_mut(entry).ops = vec![first, end, second];
    assert!(messages(&module).contains(&"must be the last op of its block".to_owned()));
    module.block_mut(entry).ops = vec![first];
    assert_eq!(messages(&module), ["function '@f' doesn't end with a return"]);
}

#[test]
fn regions_end_and_belong_to_one_op() {
    let (mut module, entry) = function();
    let pred = module.tensor(ElementType::I1, []);
    let loc = LocId::UNKNOWN;
    let p = module.new_param(entry, pred);
    let func = module.func_ids().next().expect("one function");
    module.funcs[func].arg_attrs.push(Default::default());
    let region = module.new_region();
    let inner = module.new_block(region);
    let end = module.new_op(Control::FuncReturn, &[], &[], &[], loc);
    let branch = module.new_op(Control::If, &[p], &[], &[region, region], loc);
    module.block_mut(entry).ops = vec![branch, end];
    let found = messages(&module);
    assert!(found.contains(&"has a region that belongs to another op".to_owned()), "{found:?}");
    assert!(found.contains(&"region 0 doesn't end with a return".to_owned()), "{found:?}");
    let wrong = module.new_op(Control::FuncReturn, &[], &[], &[], loc);
    module.block_mut(inner).ops = vec![wrong];
    assert!(messages(&module).contains(&"can't end a region of stablehlo.if".to_owned()));
    let empty = module.new_region();
    let branch = module.new_op(Control::If, &[p], &[], &[empty, empty], loc);
    module.block_mut(entry).ops = vec![branch, end];
    assert!(messages(&module).contains(&"has a region without a block".to_owned()));
}

#[test]
fn nesting_is_no_matter() {
    let (mut module, entry) = function();
    let pred = module.tensor(ElementType::I1, []);
    let loc = LocId::UNKNOWN;
    let p = module.new_param(entry, pred);
    let func = module.func_ids().next().expect("one function");
    module.funcs[func].arg_attrs.push(Default::default());
    let mut block = entry;
    for _ in 0..100_000 {
        let regions = [module.new_region(), module.new_region()];
        let [then, other] = regions.map(|region| module.new_block(region));
        let ret = module.new_op(Control::Return, &[], &[], &[], loc);
        module.block_mut(other).ops.push(ret);
        let branch = module.new_op(Control::If, &[p], &[], &regions, loc);
        let kind = if block == entry { Control::FuncReturn } else { Control::Return };
        let end = module.new_op(Op::from(kind), &[], &[], &[], loc);
        module.block_mut(block).ops = vec![branch, end];
        block = then;
    }
    let end = module.new_op(Control::Return, &[], &[], &[], loc);
    module.block_mut(block).ops = vec![end];
    assert_eq!(messages(&module), [""; 0]);
}

const MESH: &str = "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n";

#[test]
fn shardings() {
    let arg = |sharding: &str| {
        format!(
            "{MESH}func.func @f(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {sharding}>}}) {{ return }}"
        )
    };
    expect(&arg("[{\"x\"}, {\"y\"}]"), "");
    expect(&arg("[{\"x\"}]"), "the sharding has 1 dimension shardings, but the tensor has rank 2");
    expect(&arg("[{\"x\"}, {\"x\"}]"), "axis \"x\" is used twice");
    expect(&arg("[{\"y\":(1)2}, {\"y\":(2)2}]"), "");
    expect(&arg("[{\"y\":(1)4}, {\"y\":(2)2}]"), "overlap");
    let result = format!(
        "{MESH}func.func @f(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}]>}}) {{ return %x : tensor<8x8xf32> }}"
    );
    expect(&result, "the sharding has 1 dimension shardings, but");
}

#[test]
fn shardings_that_no_text_has() {
    let text = format!(
        "{MESH}func.func @f(%x: tensor<8x8xf32>) {{ %y = stablehlo.negate %x : tensor<8x8xf32> return }}"
    );
    let mut module = read(&text);
    let entry = module.func_entry(module.func_ids().next().expect("one function"));
    let (x, op) = (module.params(entry)[0], module.block_ops(entry)[0]);
    let mesh = module.find_mesh("mesh").expect("it is there");
    let axis = module.meshes[mesh].mesh.axis("x").expect("it is there");
    let long = module.sharding_id(TensorSharding::fully_replicated(mesh, 3));
    let twice = module.sharding_id(TensorSharding::closed_over(mesh, &[&[axis], &[axis]]));
    let lost = module.sharding_id(TensorSharding::fully_replicated(MeshId::new(7), 2));
    for (sharding, expected) in [
        (long, "the sharding has 3 dimension shardings, but the tensor has rank 2"),
        (twice, "axis \"x\" is used twice"),
        (lost, "which the module doesn't have"),
    ] {
        for value in [x, module.result(op, 0)] {
            module.shardings[value] = sharding.into();
            let found = messages(&module);
            assert!(found.len() == 1 && found[0].contains(expected), "{found:?}");
            module.shardings[value] = None.into();
        }
    }
}

#[test]
fn collectives_of_sdy() {
    let program = |from: &str, op: &str| {
        format!(
            "{MESH}func.func @f(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, {from}>}}) {{
  %r = {op} : tensor<8x8xf32>
  return
}}"
        )
    };
    for (from, op, expected) in [
        (
            "[{\"x\", \"y\"}, {}]",
            "sdy.all_gather [{\"y\"}, {}] %x out_sharding=<@mesh, [{\"x\"}, {}]>",
            "",
        ),
        (
            "[{\"x\", \"y\"}, {}]",
            "sdy.all_gather [{\"x\"}, {}] %x out_sharding=<@mesh, [{\"y\"}, {}]>",
            "axes {\"x\"} aren't the last of dimension 0 of the operand, which has {\"x\", \"y\"}",
        ),
        (
            "[{\"x\", \"y\"}, {}]",
            "sdy.all_gather [{\"y\"}, {}] %x out_sharding=<@mesh, [{}, {}]>",
            "dimension 0 of the result has axes {}, expected {\"x\"}",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.all_slice [{\"y\"}, {}] %x out_sharding=<@mesh, [{\"x\", \"y\"}, {}]>",
            "",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.all_slice [{\"y\"}, {}] %x out_sharding=<@mesh, [{\"y\", \"x\"}, {}]>",
            "expected {\"x\", \"y\"}",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.all_to_all [{\"x\"}: 0->1] %x out_sharding=<@mesh, [{}, {\"x\"}]>",
            "",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.all_to_all [{\"x\"}: 0->1] %x out_sharding=<@mesh, [{\"x\"}, {}]>",
            "dimension 0 of the result has axes {\"x\"}, expected {}",
        ),
        (
            "[{\"y\"}, {}]",
            "sdy.collective_permute %x out_sharding=<@mesh, [{}, {\"y\"}]>",
            "dimension 0 has 4 shards in the operand, 1 in the result",
        ),
        (
            "[{}, {}], unreduced={\"x\"}",
            "sdy.all_reduce {\"x\"} %x out_sharding=<@mesh, [{}, {}]>",
            "",
        ),
        (
            "[{}, {}], unreduced={\"x\", \"y\"}",
            "sdy.all_reduce {\"x\"} %x out_sharding=<@mesh, [{}, {}]>",
            "the result is unreduced along {}, expected {\"y\"}",
        ),
        (
            "[{}, {}], unreduced={\"x\"}",
            "sdy.reduce_scatter [{\"x\"}, {}] %x out_sharding=<@mesh, [{\"x\"}, {}]>",
            "",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.reduce_scatter [{\"x\"}, {}] %x out_sharding=<@mesh, [{\"x\"}, {}]>",
            "axes {\"x\"} split dimensions of the operand",
        ),
        (
            "[{\"x\"}, {}]",
            "sdy.reshard %x <@mesh, [{\"y\"}]>",
            "the sharding has 1 dimension shardings",
        ),
    ] {
        expect(&program(from, op), expected);
    }
}

#[test]
fn manual_computations() {
    let program = |ins: &str, axes: &str, local: &str, body: &str| {
        format!(
            "{MESH}func.func @f(%x: tensor<8x8xf32>) {{
  %r = sdy.manual_computation(%x) in_shardings=[<@mesh, {ins}>] out_shardings=[<@mesh, {ins}>] manual_axes={{{axes}}} (%a: {local}) {{
    {body}
    sdy.return %a : {local}
  }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}}"
        )
    };
    expect(&program("[{\"x\"}, {}]", "\"x\"", "tensor<4x8xf32>", ""), "");
    expect(
        &program("[{\"x\"}, {}]", "\"x\"", "tensor<8x8xf32>", ""),
        "operand 0 has type tensor<8x8xf32> in the body, expected local shape [4, 8]",
    );
    expect(&program("[{\"x\"}, {}]", "\"z\"", "tensor<8x8xf32>", ""), "the mesh has no axis \"z\"");
    expect(
        &program("[{\"y\", \"x\"}, {}]", "\"x\"", "tensor<4x8xf32>", ""),
        "manual axis \"x\" comes after a free one in dimension 0",
    );
    let text = program(
        "[{\"x\"}, {}]",
        "\"x\"",
        "tensor<4x8xf32>",
        "%0 = stablehlo.negate %a : tensor<4x8xf32>",
    );
    let mut module = read(&text);
    let entry = module.func_entry(module.func_ids().next().expect("one function"));
    let manual = module.block_ops(entry)[0];
    let body = module.entry(module.regions(manual)[0]);
    let (negate, outside) = (module.block_ops(body)[0], module.params(entry)[0]);
    module.operands_mut(negate)[0] = outside;
    let found = messages(&module);
    let hit = "operand 0 (%x) is a value from outside of a region that sees none";
    assert!(found.contains(&hit.to_owned()), "{found:?}");
    expect(
        &program(
            "[{\"x\"}, {}]",
            "\"x\"",
            "tensor<4x8xf32>",
            "%0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{\"x\"}, {}]>]>} : tensor<4x8xf32>",
        ),
        "axis \"x\" is manual in the enclosing computation",
    );
}
