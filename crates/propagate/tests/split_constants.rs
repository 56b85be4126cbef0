//! Constants that are split before propagation carry no shardings between their users.

#[path = "../../../passes/src/split_constants.rs"]
mod split_constants;

use shard_propagate::{Options, propagate};
use shard_text::{ParseOptions, PrintOptions, parse, print};
use split_constants::split_constants;

const PROGRAM: &str = r#"
sdy.mesh @mesh = <["a"=2]>
func.func @main(%s: tensor<f32>, %x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %i = stablehlo.iota dim = 0 : tensor<8xf32>
  %one = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %sum = stablehlo.add %i, %one : tensor<8xf32>
  %wide = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8xf32>
  %unused = stablehlo.negate %i : tensor<8xf32>
  %p = stablehlo.multiply %x, %sum : tensor<8xf32>
  %q = stablehlo.multiply %y, %sum : tensor<8xf32>
  %r = stablehlo.multiply %y, %wide : tensor<8xf32>
  %t = stablehlo.multiply %p, %wide : tensor<8xf32>
  return %q, %r, %t : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
"#;

fn count(text: &str, op: &str) -> usize {
    text.matches(&format!("stablehlo.{op} ")).count()
}

#[test]
fn each_use_has_its_own_constants() {
    let mut module = parse(PROGRAM, &ParseOptions::default()).into_result().expect("a program");
    split_constants(&mut module);
    let text = print(&module, &PrintOptions::default());
    assert_eq!(count(&text, "constant"), 1, "{text}");
    assert_eq!(count(&text, "iota"), 2, "{text}");
    assert_eq!(count(&text, "add"), 2, "{text}");
    // Two of the constant, two of the scalar.
    assert_eq!(count(&text, "broadcast_in_dim"), 4, "{text}");
    assert_eq!(count(&text, "negate"), 0, "{text}");
    // What was printed is a program, and splitting it again changes nothing.
    let mut again = parse(&text, &ParseOptions::default()).into_result().expect("a program");
    split_constants(&mut again);
    assert_eq!(print(&again, &PrintOptions::default()), text);
}

#[test]
fn shardings_stay_with_their_user() {
    let whole = parse(PROGRAM, &ParseOptions::default()).into_result().expect("a program");
    let mut split = whole.clone();
    split_constants(&mut split);
    for (module, open) in [(whole, false), (split, true)] {
        let result = propagate(&module, &Options::default());
        let y = module.args(shard_ir::FuncId::from_u32(0))[2];
        assert_eq!(result.sharding(y).is_none(), open);
    }
}
