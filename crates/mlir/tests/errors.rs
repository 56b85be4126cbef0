//! What is wrong gives an error that says what and where, and nothing else happens.

mod common;

use common::{read, text};
use melior::Context;
use melior::ir::Module;
use shard_ir::Place;
use shard_mlir::{Error, from_melior, read_bytecode, run_pipeline, to_melior, write_bytecode};

/// What `from_melior` says of a text that MLIR reads.
fn refused(source: &str) -> Error {
    let context = shard_mlir::context();
    let module = Module::parse(&context, source).unwrap();
    from_melior(&module).unwrap_err()
}

#[test]
fn ops_that_lack_something() {
    let error = refused(
        r#"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.transpose"(%a) : (tensor<4xf32>) -> tensor<4xf32> loc("x.py":3:4)
  return %0 : tensor<4xf32>
}"#,
    );
    let Error::Program(said) = &error else { panic!("{error:?}") };
    assert_eq!(said.message, "attribute 'permutation' is missing");
    assert_eq!(said.op.as_deref(), Some("stablehlo.transpose"));
    assert_eq!(said.place, Place::Source { file: "x.py".to_owned(), line: 3, col: 4 });
    assert_eq!(error.diagnostics(), std::slice::from_ref(said));

    let error = refused(r#""stablehlo.tanh"() : () -> tensor<f32>"#);
    assert!(error.to_string().contains("needs 1 operands, but has 0"), "{error}");
}

#[test]
fn shardings_that_fit_nothing() {
    let error = refused(
        r##"module {
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
  func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    return
  }
}"##,
    );
    assert!(error.to_string().contains("rank"), "{error}");
    let error = refused(
        r##"func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@gone, [{"x"}]>}) {
  return
}"##,
    );
    assert!(error.to_string().contains("there is no mesh @gone"), "{error}");
    let error = refused(r#""sdy.mesh"() {sym_name = "mesh"} : () -> ()"#);
    assert!(error.to_string().contains("'sdy.mesh' needs"), "{error}");
}

#[test]
fn bytes_that_are_no_bytecode() {
    let good = write_bytecode(&read("func.func @main() {\n  return\n}")).unwrap();
    for bytes in [&b"func.func @main"[..], b"", b"ML\xefR", &good[..good.len() / 2]] {
        let error = read_bytecode(bytes).unwrap_err();
        let Error::Mlir { what, said } = &error else { panic!("{error:?}") };
        assert_eq!(what, "the bytecode");
        assert!(!said.is_empty(), "nothing was said of {bytes:?}");
    }
}

#[test]
fn text_that_mlir_refuses() {
    let mut program = read("func.func @main() {\n  return\n}");
    let wrong = program.symbol("#broken<");
    let name = program.symbol("a.b");
    program.attrs = program.attrs_id(vec![(name, shard_ir::Attr::Text(wrong))]);
    let context = shard_mlir::context();
    let error = to_melior(&context, &program).unwrap_err();
    let Error::Mlir { what, said } = &error else { panic!("{error:?}") };
    assert_eq!(what, "the attribute #broken<");
    assert!(!said.is_empty());
}

#[test]
fn contexts_that_take_nothing_else() {
    let program = read("func.func @main() {\n  return\n}");
    let context = Context::new();
    assert_eq!(to_melior(&context, &program).unwrap_err(), Error::Context);
    context.set_allow_unregistered_dialects(true);
    to_melior(&context, &program).unwrap();
}

#[test]
fn programs_in_hlo_form() {
    let hlo = "HloModule m\n\nENTRY main {\n  ROOT a = f32[] parameter(0)\n}\n";
    assert_eq!(to_melior(&shard_mlir::context(), &read(hlo)).unwrap_err(), Error::Hlo);
}

/// A pipeline that fails leaves the module as it was.
#[test]
fn pipelines() {
    let context = shard_mlir::context();
    let source = r#"func.func @main(%a: tensor<4xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}"#;
    let mut module = Module::parse(&context, source).unwrap();
    let before = text(&from_melior(&module).unwrap());
    let error = run_pipeline(&mut module, "inline-calls").unwrap_err();
    assert!(matches!(error, Error::Program(_)), "{error:?}");
    let error = run_pipeline(&mut module, "no-such-pass").unwrap_err();
    assert!(matches!(error, Error::Pipeline(_)), "{error:?}");
    assert_eq!(text(&from_melior(&module).unwrap()), before);
}
