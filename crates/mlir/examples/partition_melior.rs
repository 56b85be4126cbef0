//! Builds a program with melior as a compiler would, partitions it, and prints what each device
//! runs.
//!
//!     cargo run -p shard-mlir --example partition_melior
//!
//! The program is `x · w`, with the rows of `x` split over the axis "data" and what is summed over
//! split over "model". So each device multiplies its shards, and the partial products are added
//! up by an all-reduce over "model".

use melior::Context;
use melior::ir::attribute::{StringAttribute, TypeAttribute};
use melior::ir::operation::{Operation, OperationBuilder, OperationLike};
use melior::ir::{
    Attribute, Block, BlockLike, Identifier, Location, Module, Region, RegionLike, Type, Value,
};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let context = shard_mlir::context();
    let (module, warnings) = partition(&context)?;
    warnings.iter().for_each(report);
    show(&module.as_operation().to_string());
    Ok(())
}

/// The program that each device runs, and what the user should know of it.
pub fn partition(context: &Context) -> Result<(Module<'_>, Vec<shard_ir::Diagnostic>), Failure> {
    let mut module = build(context)?;
    let warnings = shard_mlir::run_pipeline(
        &mut module,
        "builtin.module(inline-calls,import,simplify,propagate,insert-reshards,place-reductions,\
         dead-code,pad-uneven,reshard-to-collectives,global-to-local,simplify,export)",
    )?;
    if !module.as_operation().verify() {
        return Err("MLIR's verifier refuses the partitioned program".into());
    }
    Ok((module, warnings))
}

#[expect(clippy::print_stdout, reason = "the example's result")]
fn show(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "what the user should know beside the result")]
fn report(warning: &shard_ir::Diagnostic) {
    eprintln!("{warning}");
}

/// Ops of StableHLO and Shardy are built by their names; their attributes are read from text.
fn build(context: &Context) -> Result<Module<'_>, Failure> {
    let module = Module::new(Location::new(context, "product.py", 1, 1));
    let at = |line| Location::new(context, "product.py", line, 5);
    let attribute = |text: &str| {
        Attribute::parse(context, text).ok_or_else(|| format!("MLIR can't read {text}"))
    };
    let ty = |text: &str| Type::parse(context, text).ok_or_else(|| format!("no type {text}"));
    let name = |text: &str| Identifier::new(context, text);

    let mesh = OperationBuilder::new("sdy.mesh", at(1))
        .add_attributes(&[
            (name("sym_name"), StringAttribute::new(context, "mesh").into()),
            (name("mesh"), attribute(r#"#sdy.mesh<["data"=4, "model"=2]>"#)?),
        ])
        .build()?;
    module.body().append_operation(mesh);

    let (x, w) = (ty("tensor<32x64xf32>")?, ty("tensor<64x16xf32>")?);
    let product = ty("tensor<32x16xf32>")?;
    let body = Region::new();
    let block = body.append_block(Block::new(&[(x, at(2)), (w, at(2))]));
    let arguments: [Value<'_, '_>; 2] = [block.argument(0)?.into(), block.argument(1)?.into()];
    let dot: Operation<'_> = OperationBuilder::new("stablehlo.dot_general", at(3))
        .add_operands(&arguments)
        .add_results(&[product])
        .add_attributes(&[(
            name("dot_dimension_numbers"),
            attribute(
                "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>",
            )?,
        )])
        .build()?;
    let dot = block.append_operation(dot);
    let result: Value<'_, '_> = dot.result(0)?.into();
    block.append_operation(
        OperationBuilder::new("func.return", at(4)).add_operands(&[result]).build()?,
    );

    let signature = ty("(tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>")?;
    let shardings = r#"[{sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>},
        {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}]"#;
    let main = OperationBuilder::new("func.func", at(2))
        .add_attributes(&[
            (name("sym_name"), StringAttribute::new(context, "main").into()),
            (name("function_type"), TypeAttribute::new(signature).into()),
            (name("arg_attrs"), attribute(shardings)?),
        ])
        .add_regions([body])
        .build()?;
    module.body().append_operation(main);
    Ok(module)
}
