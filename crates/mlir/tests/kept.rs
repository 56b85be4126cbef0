//! What must survive the way to MLIR and back: what nobody has a model of, blocks and branches,
//! every kind of location and of constant.

mod common;

use common::{generic, read, text};
use melior::ir::operation::OperationLike;
use shard_ir::{Attr, Dense, DenseData, Module};
use shard_mlir::{from_melior, read_bytecode, to_melior, write_bytecode};

/// Goes both ways; MLIR must find the module valid.
fn round(program: &Module) -> Module {
    let context = shard_mlir::context();
    let module = to_melior(&context, program).unwrap();
    assert!(module.as_operation().verify(), "{}", module.as_operation());
    from_melior(&module).unwrap()
}

fn survives(source: &str) -> Module {
    let program = read(source);
    let back = round(&program);
    for (before, after) in [text, generic].map(|print| (print(&program), print(&back))) {
        for (before, after) in before.lines().zip(after.lines()) {
            assert_eq!(before, after);
        }
        assert_eq!(before, after);
    }
    let compare = shard_text::equal::Compare { locations: true };
    compare.modules(&program, &back).unwrap();
    let bytes = write_bytecode(&program).unwrap();
    compare.modules(&program, &read_bytecode(&bytes).unwrap()).unwrap();
    back
}

#[test]
fn unknown_ops_attributes_and_types() {
    let back = survives(
        r#"module @m attributes {jax.uses = #other.thing<"a > b", [1, 2]>} {
  "other.global"() <{name = @x::@y, value = !other.ty<4, i7>}> {tag, map = affine_map<(d0) -> (d0 + 1)>} : () -> ()
  func.func @main(%a: !other.handle {other.attr = "\00\FF"}, %b: tensor<4xf32, #other.layout<1>>) -> vector<4xf32> attributes {other.f = 1.5 : f32} {
    %0:2 = "other.op"(%a, %b) <{list = [1, "s", {k = true, v = array<i8: 1, -2>}]}> ({
    ^bb0(%c: i32):
      "other.inner"(%c) {only = unit} : (i32) -> ()
    }, {
    }) {z = loc("in":1:2)} : (!other.handle, tensor<4xf32, #other.layout<1>>) -> (vector<4xf32>, !other<strange "thing">)
    return %0#0 : vector<4xf32>
  }
}
"#,
    );
    let shown = generic(&back);
    // Properties stay apart from other attributes.
    assert!(shown.contains("<{name = @x::@y, value = !other.ty<4, i7>}>"), "{shown}");
    assert!(shown.contains("{map = affine_map<(d0) -> (d0 + 1)>, tag}"), "{shown}");
}

#[test]
fn blocks_and_branches() {
    survives(
        r#"func.func @main(%a: i1, %b: tensor<f32>) -> tensor<f32> {
  "cf.cond_br"(%a, %b, %b)[^bb2, ^bb1] <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (i1, tensor<f32>, tensor<f32>) -> ()
^bb1(%c: tensor<f32>):
  "cf.br"(%c)[^bb2] : (tensor<f32>) -> ()
^bb2(%d: tensor<f32>):
  "other.loop"(%d)[^bb2, ^bb3] : (tensor<f32>) -> ()
^bb3:
  return %d : tensor<f32>
}
"#,
    );
}

#[test]
fn locations() {
    survives(
        r##"#loc1 = loc("a.py":1:2)
#loc2 = loc("a.py":1:2 to 3:4)
#loc3 = loc("a.py":5:6 to :9)
#loc4 = loc("name"(#loc1))
#loc5 = loc(callsite(#loc4 at #loc2))
#loc6 = loc(fused<{kind = "why", n = 1 : i64}>[#loc5, #loc3])
#loc7 = loc(fused[#loc1, #loc2])
#loc8 = loc("")
module {
  func.func @main(%a: tensor<f32> loc(#loc4)) -> tensor<f32> {
    %0 = stablehlo.tanh %a : tensor<f32> loc(#loc6)
    %1 = stablehlo.tanh %0 : tensor<f32> loc(#loc7)
    %2 = stablehlo.tanh %1 : tensor<f32> loc(unknown)
    %3 = stablehlo.tanh %2 : tensor<f32> loc("only a name")
    %4 = stablehlo.tanh %3 : tensor<f32> loc(#loc8)
    return %4 : tensor<f32> loc(#loc5)
  } loc(#loc2)
} loc(#loc1)
"##,
    );
}

/// As deep as calls may nest in a traced program, and deeper than a stack would hold.
#[test]
fn deep_locations() {
    let mut program = read("func.func @main() {\n  return\n}");
    let file = program.symbol("deep.py");
    let mut loc = program.loc_id(shard_ir::Loc::File { file, line: 1, col: 1, end: None });
    for line in 0..200_000 {
        let caller = program.loc_id(shard_ir::Loc::File { file, line, col: 2, end: None });
        loc = program.loc_id(shard_ir::Loc::CallSite { callee: loc, caller });
    }
    let main = program.main_func().unwrap();
    let end = program.terminator(program.func_entry(main)).unwrap();
    program.op_mut(end).loc = loc;
    let context = shard_mlir::context();
    let back = from_melior(&to_melior(&context, &program).unwrap()).unwrap();
    shard_text::equal::Compare { locations: true }.modules(&program, &back).unwrap();
}

/// Element types with their odd widths, splats, and shapes without elements.
#[test]
fn constants() {
    let mut source = String::from("func.func @main() {\n");
    for (at, constant) in [
        "dense<true> : tensor<8xi1>",
        "dense<false> : tensor<3xi1>",
        "dense<true> : tensor<1xi1>",
        "dense<[true, false, true, true, false, true, false, true, true]> : tensor<9xi1>",
        "dense<[true, true, true, true, true, true, true, false]> : tensor<8xi1>",
        "dense<-2> : tensor<2xi4>",
        "dense<[-8, 7, -1]> : tensor<3xi4>",
        "dense<[15, 0]> : tensor<2xui4>",
        "dense<[-2, 1, 0]> : tensor<3xi2>",
        "dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>",
        "dense<18446744073709551615> : tensor<2xui64>",
        "dense<[1.5, -0.0, 0x7FC00000]> : tensor<3xf32>",
        "dense<[1.5, 2.0]> : tensor<2xbf16>",
        "dense<[1.0, 6.0]> : tensor<2xf4E2M1FN>",
        "dense<[1.0, 0x7F]> : tensor<2xf8E4M3FN>",
        "dense<[1.0, 2.0]> : tensor<2xtf32>",
        "dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>",
        "dense<[(1.0, -2.0), (3.0, 4.0)]> : tensor<2xcomplex<f64>>",
        "dense<> : tensor<0x3xf32>",
        "dense<3.0> : tensor<f64>",
    ]
    .into_iter()
    .enumerate()
    {
        source.push_str(&format!("  %{at} = stablehlo.constant {constant}\n"));
    }
    source.push_str("  \"other.op\"() {i = dense<[0, 5]> : tensor<2xindex>, s = dense<[\"a\", \"b>\"]> : tensor<2x!other.string>, v = dense<[1, 2]> : vector<2xi32>, n = sparse<0, 1> : tensor<3xi32>} : () -> ()\n");
    source.push_str("  return\n}\n");
    survives(&source);
}

/// The bytes of a constant, whatever they are.
#[test]
fn random_bytes() {
    let mut program = read(
        "func.func @main() -> tensor<100000xf32> {\n  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n  \"other.op\"() : () -> ()\n  %1 = \"other.big\"() : () -> tensor<100000xf32>\n  return %1 : tensor<100000xf32>\n}",
    );
    let ty = program.tensor(shard_ir::ElementType::F32, [100_000]);
    let mut state = 1u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    })
    .take(400_000)
    .collect();
    let attr = Attr::Dense(Dense { ty, data: DenseData::from_bytes(bytes, 4) });
    let (name, attrs) = (program.symbol("value"), program.op_count() - 2);
    let op = shard_ir::OpId::from_u32(attrs as u32);
    let list = program.attrs_id(vec![(name, attr)]);
    program.op_mut(op).attrs = list;
    let back = round(&program);
    shard_text::equal(&program, &back).unwrap();
    assert_eq!(text(&program), text(&back));
}

/// Blobs beside the program, as MLIR itself prints them; one of them isn't there.
#[test]
fn resources() {
    let source = r#"module {
  func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %1 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
    "other.op"() <{value = [dense_resource<weights> : tensor<2xf32>, dense_resource<other> : tensor<1xi8>]}> : () -> ()
    return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      other: "0x010000000A"
    }
  }
#-}
"#;
    let back = survives(source);
    assert!(text(&back).contains("weights: \"0x040000000000803F00000040\""), "{}", text(&back));
    // In one context, the blobs of another program don't replace those of the first.
    let context = shard_mlir::context();
    let other = read(&source.replace("803F00000040", "803F0000803F"));
    let (first, second) = (to_melior(&context, &read(source)), to_melior(&context, &other));
    let texts = [first, second].map(|module| text(&from_melior(&module.unwrap()).unwrap()));
    assert!(texts[0].contains("0x040000000000803F00000040"), "{}", texts[0]);
    assert!(texts[1].contains("0x040000000000803F0000803F"), "{}", texts[1]);
}
