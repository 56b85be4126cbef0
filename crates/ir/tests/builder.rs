//! Programs built op by op are those that text gives.

use shard_ir::infer::InferError;
use shard_ir::ops::{Control, DotDims, DotGeneral, Elementwise, Iota, Precisions, Reduce};
use shard_ir::{BuildError, Builder, Dims, ElementType, Module, verify};

const F32: ElementType = ElementType::F32;

#[test]
fn types_of_results_are_inferred() -> Result<(), BuildError> {
    let mut module = Module::new();
    let lhs = module.tensor(F32, [4, 8]);
    let rhs = module.tensor(F32, [8, 2]);
    let scalar = module.tensor(F32, []);
    let func = Builder::func(&mut module, "main", &[lhs, rhs, scalar], |b, args| {
        let dims = DotDims {
            lhs_contracting: Dims::from_slice(&[1]),
            rhs_contracting: Dims::from_slice(&[0]),
            ..DotDims::default()
        };
        let product = b.value(
            DotGeneral { dims, precision: Precisions::default(), algorithm: None },
            &args[..2],
        )?;
        let add = b.reducer(Elementwise::Add, scalar)?;
        let sum =
            b.op(Reduce { dimensions: Dims::from_slice(&[0]) }, &[product, args[2]], &[add])?;
        Ok(vec![b.module.result(sum, 0)])
    })?;
    assert_eq!(verify(&module), []);
    let result = module.funcs[func].results[0].ty;
    assert_eq!(result, module.tensor(F32, [2]));
    Ok(())
}

#[test]
fn loops_have_regions() -> Result<(), BuildError> {
    let mut module = Module::new();
    let index = module.tensor(ElementType::I32, []);
    let flag = module.tensor(ElementType::I1, []);
    Builder::func(&mut module, "main", &[index, flag], |b, args| {
        let stop = args[1];
        let condition = b.region(&[index], |_, _| Ok(vec![stop]))?;
        let body =
            b.region(&[index], |b, params| Ok(vec![b.value(Elementwise::Negate, &[params[0]])?]))?;
        let repeat = b.op(Control::While, &args[..1], &[condition, body])?;
        Ok(b.module.results(repeat).to_vec())
    })?;
    assert_eq!(verify(&module), []);
    Ok(())
}

#[test]
fn errors_name_the_op() {
    let mut module = Module::new();
    let vector = module.tensor(F32, [4]);
    let other = module.tensor(F32, [5]);
    let unequal = Builder::func(&mut module, "main", &[vector, other], |b, args| {
        Ok(vec![b.value(Elementwise::Add, args)?])
    });
    let error = unequal.expect_err("4 and 5 don't agree");
    assert!(error.to_string().starts_with("stablehlo.add: "), "{error}");
    let open = Builder::func(&mut module, "main", &[], |b, _| {
        Ok(vec![b.value(Iota { dimension: 0 }, &[])?])
    });
    assert_eq!(open.map_err(|e| e.error), Err(InferError::NotDetermined));
    assert_eq!(module.items, [], "what failed adds no function");
}
