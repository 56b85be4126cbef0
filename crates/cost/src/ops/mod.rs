//! Work of ops: floating-point operations and memory traffic, from the shapes as they stand in
//! the module (global or per device).
//!
//! Counts follow XLA's cost analysis where it has one, so that the two can be compared: an
//! addition is one operation, a multiplication with an addition two; `exp`, `log`, `tanh` and
//! their like are counted apart, as transcendentals; moving data costs bytes only. A dynamic
//! dimension counts as one element. What is fused isn't known here: bytes are those of each op by
//! itself.

mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod indexing;
mod linalg;
mod movement;
mod normalization;
mod random;
mod reduction;
mod sdy;
mod sorting;

use shard_ir::ops::Op;
use shard_ir::{
    ElementType, Module, NumberKind, OpId, RegionId, TensorType, Type, TypeId, ValueId,
};

/// What an op, a region or a program costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Arithmetic operations on elements.
    pub flops: f64,
    /// Evaluations of transcendental functions.
    pub transcendentals: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

impl Work {
    /// The sum of two.
    pub fn plus(self, other: Work) -> Work {
        Work {
            flops: self.flops + other.flops,
            transcendentals: self.transcendentals + other.transcendentals,
            bytes: self.bytes + other.bytes,
        }
    }

    /// So many times the same.
    pub fn times(self, count: f64) -> Work {
        Work {
            flops: self.flops * count,
            transcendentals: self.transcendentals * count,
            bytes: self.bytes * count,
        }
    }

    /// The larger of each.
    pub fn max(self, other: Work) -> Work {
        Work {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
        }
    }
}

/// Operations of an op, without those of the regions of control flow (see
/// [`crate::program::work`]); bodies of reductions and the like are counted in.
pub fn flops(module: &Module, op: OpId) -> f64 {
    arithmetic(module, op).flops
}

/// Bytes that an op reads and writes, without those of the regions of control flow.
pub fn bytes_accessed(module: &Module, op: OpId) -> f64 {
    let cx = Cx { module, op };
    match module.kind(op) {
        Op::Elementwise(_) | Op::Linalg(_) | Op::Normalization(_) => cx.all_bytes(),
        Op::Dot(_) | Op::Convolution(_) | Op::Reduction(_) => cx.all_bytes(),
        Op::Collective(kind) => collective::bytes(cx, kind),
        Op::Creation(kind) => creation::bytes(cx, kind),
        Op::Movement(kind) => movement::bytes(cx, kind),
        Op::Indexing(kind) => indexing::bytes(cx, kind),
        Op::Sorting(_) | Op::Random(_) => cx.all_bytes(),
        Op::Control(kind) => control::bytes(kind),
        Op::Sdy(kind) => sdy::bytes(cx, kind),
        Op::Effects(kind) => effects::bytes(cx, kind),
        Op::Custom(kind) => custom::bytes(cx, kind),
        Op::Hlo(_) | Op::Opaque(_) => cx.all_bytes(),
    }
}

/// Operations, transcendentals and bytes of an op, without those of the regions of control flow.
pub fn op_work(module: &Module, op: OpId) -> Work {
    Work { bytes: bytes_accessed(module, op), ..arithmetic(module, op) }
}

/// Whether the work of an op is unknown and counted as none: calls of what the program doesn't
/// contain, and ops that the table doesn't know.
pub fn is_unpriced(op: &Op) -> bool {
    match op {
        Op::Hlo(_) | Op::Opaque(_) => true,
        Op::Custom(kind) => custom::is_unpriced(kind),
        Op::Elementwise(_)
        | Op::Creation(_)
        | Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Movement(_)
        | Op::Indexing(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Control(_)
        | Op::Collective(_)
        | Op::Sdy(_)
        | Op::Effects(_) => false,
    }
}

fn arithmetic(module: &Module, op: OpId) -> Work {
    let cx = Cx { module, op };
    match module.kind(op) {
        Op::Elementwise(kind) => elementwise::work(cx, kind),
        Op::Dot(kind) => dot::work(cx, kind),
        Op::Convolution(kind) => convolution::work(cx, kind),
        Op::Reduction(kind) => reduction::work(cx, kind),
        Op::Indexing(kind) => indexing::work(cx, kind),
        Op::Sorting(kind) => sorting::work(cx, kind),
        Op::Linalg(kind) => linalg::work(cx, kind),
        Op::Random(kind) => random::work(cx, kind),
        Op::Normalization(kind) => normalization::work(cx, kind),
        Op::Collective(kind) => collective::work(cx, kind),
        Op::Sdy(kind) => sdy::work(cx, kind),
        Op::Creation(_)
        | Op::Movement(_)
        | Op::Control(_)
        | Op::Effects(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => Work::default(),
    }
}

/// An op whose cost is asked for.
#[derive(Clone, Copy)]
struct Cx<'a> {
    module: &'a Module,
    op: OpId,
}

impl<'a> Cx<'a> {
    fn operand(self, index: usize) -> Option<&'a TensorType> {
        self.module.operands(self.op).get(index).and_then(|&v| self.module.tensor_type(v))
    }

    fn result(self, index: usize) -> Option<&'a TensorType> {
        self.module.results(self.op).get(index).and_then(|&v| self.module.tensor_type(v))
    }

    /// Elements of an operand; 0 where it isn't a tensor.
    fn operand_elements(self, index: usize) -> f64 {
        self.operand(index).map_or(0.0, |ty| ty.elements() as f64)
    }

    /// Elements of a result; 0 where it isn't a tensor.
    fn result_elements(self, index: usize) -> f64 {
        self.result(index).map_or(0.0, |ty| ty.elements() as f64)
    }

    fn bytes(self, values: &[ValueId]) -> f64 {
        values
            .iter()
            .map(|&value| type_bytes(self.module, self.module.value_type(value)) as f64)
            .sum()
    }

    fn operand_bytes(self) -> f64 {
        self.bytes(self.module.operands(self.op))
    }

    fn result_bytes(self) -> f64 {
        self.bytes(self.module.results(self.op))
    }

    fn all_bytes(self) -> f64 {
        self.operand_bytes() + self.result_bytes()
    }

    /// Work of one run of a body of scalar ops; bytes are those of the op around it.
    fn body(self, index: usize) -> Work {
        let region = self.module.regions(self.op).get(index);
        let work = region.map_or(Work::default(), |&region| body_work(self.module, region));
        Work { bytes: 0.0, ..work }
    }
}

/// Sum over the ops of a region and those inside them. Bodies of scalars rarely have regions; an
/// op inside is counted once.
fn body_work(module: &Module, region: RegionId) -> Work {
    let mut work = Work::default();
    module.walk(region, |op| {
        // Only families without bodies of their own: no recursion.
        if module.regions(op).is_empty() {
            work = work.plus(arithmetic(module, op));
        }
    });
    work
}

/// Bytes of a value of a type: of all elements of a tuple; 0 for tokens and what isn't known.
pub fn type_bytes(module: &Module, ty: TypeId) -> u64 {
    let mut sum = 0u64;
    let mut types = vec![ty];
    let mut steps = 0;
    while let Some(ty) = types.pop() {
        steps += 1;
        if steps > 100_000 {
            break;
        }
        match module.ty(ty) {
            Type::Tensor(tensor) => sum = sum.saturating_add(tensor.bytes()),
            Type::Tuple(parts) => types.extend(parts.iter()),
            Type::Scalar(element) => sum = sum.saturating_add(element.bytes(1)),
            Type::Unranked(_) | Type::Token | Type::Function { .. } | Type::None => {}
            Type::Opaque(_) => {}
        }
    }
    sum
}

/// Real multiplications and additions in a multiplication with an addition of elements, as a
/// multiple of those of a real one.
fn complex_factor(element: ElementType) -> f64 {
    if element.kind() == NumberKind::Complex { 4.0 } else { 1.0 }
}

fn flops_only(flops: f64) -> Work {
    Work { flops, ..Work::default() }
}
