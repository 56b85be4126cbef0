//! The op that is being executed, as kernels see it.

use shard_ir::ops::Op;
use shard_ir::{Dims, ElementType, Module, OpId, TensorType, ValueId};
use smallvec::SmallVec;

use crate::region::Region;
use crate::tensor::quantized;
use crate::{Fault, Tensor, Value};

/// What a kernel returns: a tensor a result.
pub(crate) type Results = SmallVec<[Tensor; 2]>;

/// Values that the regions of an op use from outside.
pub(crate) trait Outside: Sync {
    /// The value, if it is there.
    fn value(&self, value: ValueId) -> Option<Value>;
}

/// Nothing outside.
pub(crate) struct Nothing;

impl Outside for Nothing {
    fn value(&self, _: ValueId) -> Option<Value> {
        None
    }
}

/// The op that is being executed.
#[derive(Clone, Copy)]
pub(crate) struct Site<'m> {
    /// The program.
    pub module: &'m Module,
    /// The op.
    pub op: OpId,
    /// What its regions use from outside.
    pub outside: &'m dyn Outside,
    /// Quantized types are taken as the floats that they stand for: operands were dequantized and
    /// results will be quantized.
    pub expressed: bool,
    /// Reductions are nested the other way, as another machine might.
    pub backwards: bool,
}

impl<'m> Site<'m> {
    /// What the op is.
    pub fn kind(&self) -> &'m Op {
        self.module.kind(self.op)
    }

    /// The type of a result.
    ///
    /// # Errors
    /// If it is no tensor.
    pub fn result_type(&self, index: usize) -> Result<&'m TensorType, Fault> {
        let value = self.module.results(self.op).get(index);
        value
            .and_then(|value| self.module.tensor_type(*value))
            .ok_or_else(|| Fault::invalid(format!("result {index} is no tensor")))
    }

    /// The element type of a result.
    ///
    /// # Errors
    /// As [`Site::result_type`].
    pub fn result_element(&self, index: usize) -> Result<ElementType, Fault> {
        match self.result_type(index)?.element {
            ElementType::Quantized(text) if self.expressed => {
                Ok(quantized(self.module.str(text))?.expressed)
            }
            element => Ok(element),
        }
    }

    /// The shape of a result where the program states all of it; kernels that can tell the shape
    /// from the operands do that instead, so that dynamic shapes need nothing of their own.
    ///
    /// # Errors
    /// If the shape is dynamic.
    pub fn result_dims(&self, index: usize) -> Result<Dims, Fault> {
        let ty = self.result_type(index)?;
        if ty.is_static() {
            Ok(ty.dims.clone())
        } else {
            Err(Fault::invalid("the size of the result can't be told from the operands"))
        }
    }

    /// A region of the op.
    ///
    /// # Errors
    /// If there is none of that number, or it isn't one block.
    pub fn region(&self, index: usize) -> Result<Region<'m>, Fault> {
        Region::new(*self, index)
    }
}
