//! Arguments from outside.

use shard_ir::{Diagnostic, ElementType, HostArray, Module, Type};

/// An argument from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Number of the argument.
    pub index: usize,
    /// Its value: whole, or of one device's shape and then the same on each.
    pub array: HostArray,
}

impl Input {
    /// What is given for an argument: the last counts.
    pub fn of(inputs: &[Input], index: usize) -> Option<&Input> {
        inputs.iter().rev().find(|input| input.index == index)
    }
}

/// The element type that an argument has.
///
/// # Errors
/// If there is no such argument, or it is no tensor.
pub fn element_of(module: &Module, index: usize) -> Result<ElementType, Diagnostic> {
    let args = module.main_func().map(|func| module.args(func)).unwrap_or_default();
    let Some(&arg) = args.get(index) else {
        let message = format!("there is no argument {index}: the program has {}", args.len());
        return Err(Diagnostic::error(message));
    };
    match module.ty(module.value_type(arg)) {
        Type::Tensor(ty) => Ok(ty.element),
        _ => Err(Diagnostic::error(format!("argument {index} is no tensor"))),
    }
}

/// What is wrong with an array whose shape or type isn't the argument's.
pub(crate) fn misfit(module: &Module, input: &Input) -> Diagnostic {
    let Input { index, array } = input;
    let wanted = module
        .main_func()
        .and_then(|func| module.args(func).get(*index))
        .and_then(|&arg| module.tensor_type(arg));
    let Some(ty) = wanted else {
        return Diagnostic::error(format!("argument {index} is no tensor"));
    };
    if ty.element != array.element_type {
        return Diagnostic::error(format!(
            "argument {index} is of element type {}, and the array given for it of {}",
            ty.element, array.element_type
        ));
    }
    let wanted: Vec<String> = ty.dims.iter().map(i64::to_string).collect();
    Diagnostic::error(format!(
        "argument {index} is of shape [{}], and the array given for it of {:?}",
        wanted.join(", "),
        array.dims
    ))
}
