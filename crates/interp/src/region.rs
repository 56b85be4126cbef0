//! Regions that compute one element from others: reducers, comparators, updates.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Creation, Elementwise, Movement, Op};
use shard_ir::{BlockId, Dims, OpId, ValueId};

use crate::machine;
use crate::site::{Outside, Site};
use crate::{Fault, Tensor, Value, ops};

/// A region of an op that takes scalars to scalars.
///
/// Almost all regions consist of elementwise ops alone. Such a region is applied to many elements
/// at once: its ops are executed on tensors of rank 1 in the place of scalars.
pub(crate) struct Region<'m> {
    site: Site<'m>,
    block: BlockId,
    /// Every op in it is elementwise.
    elementwise: bool,
}

impl<'m> Region<'m> {
    pub fn new(site: Site<'m>, index: usize) -> Result<Self, Fault> {
        let module = site.module;
        let region = module.regions(site.op).get(index).copied();
        let Some(region) = region.filter(|region| module.region(*region).blocks.len() == 1) else {
            return Err(Fault::invalid(format!("region {index} isn't a single block")));
        };
        let block = module.entry(region);
        let elementwise = module.block_ops(block).iter().all(|op| is_elementwise(module.kind(*op)));
        Ok(Region { site, block, elementwise })
    }

    /// The op of a region `(a, b) -> op(a, b)`, or `op(b, a)`.
    pub fn single_op(&self) -> Option<&'m Op> {
        let module = self.site.module;
        let [op, end] = module.block_ops(self.block) else { return None };
        let [a, b] = module.params(self.block) else { return None };
        let straight = module.operands(*op) == [*a, *b];
        let swapped = module.operands(*op) == [*b, *a];
        let returned = module.operands(*end) == module.results(*op);
        ((straight || swapped) && returned && module.regions(*op).is_empty())
            .then(|| module.kind(*op))
    }

    /// The parameter that the region returns as it is, if it does nothing else.
    pub fn single_param(&self) -> Option<usize> {
        let module = self.site.module;
        let [end] = module.block_ops(self.block) else { return None };
        let [value] = module.operands(*end) else { return None };
        module.params(self.block).iter().position(|param| param == value)
    }

    /// Applies the region to each element: `args` are one tensor a parameter, all of the same
    /// length, or of length 1 and the same for each. The results have rank 1 and that length,
    /// whatever the shapes of the arguments.
    ///
    /// # Errors
    /// Those of the ops in the region.
    pub fn apply(&self, args: &[Tensor]) -> Result<Vec<Tensor>, Fault> {
        let module = self.site.module;
        let params = module.params(self.block);
        if params.len() != args.len() {
            return Err(Fault::invalid(format!(
                "a region of {} parameters is applied to {} values",
                params.len(),
                args.len()
            )));
        }
        let count = args.iter().map(Tensor::len).find(|len| *len != 1).unwrap_or(1);
        let flat = |tensor: &Tensor| tensor.reshaped(Dims::from_slice(&[tensor.len() as i64]));
        let results = if self.elementwise {
            self.apply_at_once(&args.iter().map(flat).collect::<Vec<_>>())?
        } else {
            self.apply_one_by_one(args, count)?
        };
        // A result that no argument enters is a scalar still.
        Ok(results
            .iter()
            .map(|result| if result.len() == count { flat(result) } else { repeat(result, count) })
            .collect())
    }

    fn apply_at_once(&self, args: &[Tensor]) -> Result<Vec<Tensor>, Fault> {
        let module = self.site.module;
        let mut local: FxHashMap<ValueId, Tensor> = FxHashMap::default();
        local.extend(module.params(self.block).iter().copied().zip(args.iter().cloned()));
        for &op in module.block_ops(self.block) {
            let operands = self.operands(op, &local)?;
            if module.kind(op).is_terminator() {
                return Ok(operands);
            }
            let inner = Inside { local: &local, outside: self.site.outside };
            let site = Site { op, outside: &inner, ..self.site };
            let results = ops::eval(&site, &operands)?;
            local.extend(module.results(op).iter().copied().zip(results));
        }
        Err(Fault::invalid("a region has no terminator"))
    }

    fn operands(&self, op: OpId, local: &FxHashMap<ValueId, Tensor>) -> Result<Vec<Tensor>, Fault> {
        let find = |value: &ValueId| match local.get(value) {
            Some(tensor) => Ok(tensor.clone()),
            None => match self.site.outside.value(*value) {
                Some(value) => value.tensor().cloned(),
                None => Err(Fault::invalid("a region uses a value that isn't there")),
            },
        };
        self.site.module.operands(op).iter().map(find).collect()
    }

    fn apply_one_by_one(&self, args: &[Tensor], count: usize) -> Result<Vec<Tensor>, Fault> {
        let scalars = |index: usize| {
            let at = |arg: &Tensor| scalar_at(arg, if arg.len() == 1 { 0 } else { index });
            args.iter().map(|arg| Value::from(at(arg))).collect()
        };
        let lists = (0..count).map(scalars);
        let rows = machine::run_block(self.site.module, self.block, lists, self.site.outside)?;
        let mut columns: Vec<Vec<Tensor>> = Vec::new();
        for results in rows {
            columns.resize_with(results.len(), Vec::new);
            for (column, result) in columns.iter_mut().zip(results) {
                column.push(result.tensor()?.clone());
            }
        }
        Ok(columns.iter().map(|column| joined(column)).collect())
    }
}

/// Values of a region, and those outside of it.
struct Inside<'a> {
    local: &'a FxHashMap<ValueId, Tensor>,
    outside: &'a dyn Outside,
}

impl Outside for Inside<'_> {
    fn value(&self, value: ValueId) -> Option<Value> {
        match self.local.get(&value) {
            Some(tensor) => Some(Value::Tensor(tensor.clone())),
            None => self.outside.value(value),
        }
    }
}

/// Whether an op in a region of scalars means the same on tensors of rank 1, each element for
/// itself.
fn is_elementwise(op: &Op) -> bool {
    match op {
        Op::Elementwise(Elementwise::Map(_)) => false,
        Op::Elementwise(_) => true,
        Op::Creation(Creation::Constant(_)) => true,
        // Between scalars it changes nothing.
        Op::Movement(Movement::Reshape) => true,
        Op::Control(Control::Return) => true,
        _ => false,
    }
}

/// An element as a scalar.
pub(crate) fn scalar_at(tensor: &Tensor, index: usize) -> Tensor {
    let one = crate::each_width!(tensor.buffer(), |words| vec![words[index]]);
    Tensor::new(tensor.element(), Dims::new(), one)
}

/// A scalar, `count` times.
fn repeat(tensor: &Tensor, count: usize) -> Tensor {
    let all = crate::each_width!(tensor.buffer(), |words| {
        vec![words.first().copied().unwrap_or_default(); count]
    });
    Tensor::new(tensor.element(), Dims::from_slice(&[count as i64]), all)
}

/// Scalars of one type, one after the other.
fn joined(scalars: &[Tensor]) -> Tensor {
    let bytes: Vec<u8> = scalars.iter().flat_map(|s| s.buffer().bytes().to_vec()).collect();
    let width = bytes.len() / scalars.len().max(1);
    let element = scalars.first().map_or(shard_ir::ElementType::I1, Tensor::element);
    let dims = Dims::from_slice(&[scalars.len() as i64]);
    Tensor::new(element, dims, crate::Buffer::from_bytes(&bytes, width))
}
