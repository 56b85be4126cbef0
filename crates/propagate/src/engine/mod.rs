//! The propagation engine.
//!
//! It does what Shardy's propagation pipeline does, step for step, so that a program propagates
//! here as it does there:
//!
//! - *User priorities* are the outer loop: dimensions with priority 0 (or none) propagate to the
//!   end, then those with the next, and so on.
//! - *Op priorities* are the loop inside: first elementwise ops, reshapes and transposes whose
//!   operands have no other use, then those with several uses, then every pass-through factor (but
//!   broadcasts only backward), then every factor, then broadcasts forward too.
//! - *Sweeps* are the innermost: ops in the order of the program, with those that a change concerns
//!   and that were visited before it coming next, the last told first.
//!
//! What Shardy does to the module before it propagates is an analysis here (`setup`): constraints
//! apply to their inputs, data-flow edges stand behind loops, branches, barriers, calls and manual
//! regions, and values of a group are one. One thing is left to a pass, since it is a real change:
//! constants and broadcasts of scalars are to have one user each, or they carry shardings from one
//! user to another (`split_constants`).
//!
//! Where it is faster: shardings and rules are interned, and what a step does depends on nothing
//! but these, so that the many equal layers of a model are steps that have been done before, found
//! by their numbers; an op at which no direction and no strategy can change anything leaves the
//! list until one of its tensors changes; every sweep after the first starts from what is left.

mod borders;
mod constraints;
mod factors;
mod finish;
mod graph;
mod manual;
mod obstacles;
mod priority;
mod setup;
mod step;
mod sweep;
mod table;
mod trace;

use cranelift_entity::SecondaryMap;
use shard_ir::sharding::TensorSharding;
use shard_ir::{FuncId, Module, OpId, ValueId};

pub use factors::{Direction, FactorStrategy};
pub use graph::{Node, OpKind, OpNode, Port, PropagationGraph, ValueNode};
pub use obstacles::{Obstacle, Reason, node_rule, obstacles};
pub use table::{ShardingTable, SharedSharding};
pub use trace::{Log, Placement, Tracer};

use setup::{RecKind, Setup};
use sweep::Engine;

/// Which strategies run in each round of op priorities, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Conflicts are resolved within each tensor.
    #[default]
    Aggressive,
    /// Only what is compatible with all tensors propagates.
    Basic,
    /// The basic strategy to the end, then the aggressive one.
    BasicThenAggressive,
}

/// How to propagate. The default is what Shardy's pipeline does.
#[derive(Clone, Debug)]
pub struct Options {
    /// Strategies of each round.
    pub strategy: Strategy,
    /// Ops propagate in rounds by what they are; else all at once.
    pub op_priorities: bool,
    /// Dimensions propagate in the order of their priorities; else all at once.
    pub user_priorities: bool,
    /// No sub-axes, and nothing through what may not divide.
    pub conservative: bool,
    /// Data-flow ops get edges. Programs that contain `sdy.data_flow_edge` have just those.
    pub add_edges: bool,
    /// Constraints apply to their inputs.
    pub apply_constraints: bool,
    /// Axes of size one stay in shardings.
    pub keep_unit_axes: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            strategy: Strategy::default(),
            op_priorities: true,
            user_priorities: true,
            conservative: false,
            add_edges: true,
            apply_constraints: true,
            keep_unit_axes: false,
        }
    }
}

/// A use that took the result of a constraint in place of the operand it has in the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewired {
    /// The user.
    pub op: OpId,
    /// Which of its operands.
    pub operand: usize,
    /// The value it takes.
    pub to: RewiredTo,
}

/// What a rewired use takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewiredTo {
    /// A value of the module: a constraint's result.
    Value(ValueId),
    /// A constraint that the module hasn't, on this value, with this sharding.
    Constraint(ValueId, SharedSharding),
}

/// The shardings at the border of a manual or named computation, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Border {
    /// The computation.
    pub op: OpId,
    /// Of its operands.
    pub operands: Vec<SharedSharding>,
    /// Of its results.
    pub results: Vec<SharedSharding>,
}

/// What propagation found. The module is as it was.
#[derive(Clone, Debug, Default)]
pub struct Propagation {
    /// The shardings, each once, on the first of equal meshes.
    pub table: ShardingTable,
    shardings: SecondaryMap<ValueId, SharedSharding>,
    func_results: SecondaryMap<FuncId, Vec<SharedSharding>>,
    /// The borders of manual and named computations, in the order of the program.
    pub borders: Vec<Border>,
    /// Uses that took a constraint's result.
    pub rewired: Vec<Rewired>,
    /// The graph, with the values' final shardings.
    pub graph: PropagationGraph,
}

impl Propagation {
    /// The sharding of a value; `None` where nothing was given and nothing propagated: it is open.
    pub fn sharding(&self, value: ValueId) -> Option<&TensorSharding> {
        self.table.get(self.shardings[value])
    }

    /// The number of a value's sharding in the table.
    pub fn shared(&self, value: ValueId) -> SharedSharding {
        self.shardings[value]
    }

    /// The sharding of a function's result.
    pub fn func_result(&self, func: FuncId, index: usize) -> Option<&TensorSharding> {
        self.table.get(self.shared_result(func, index))
    }

    /// The number of the sharding of a function's result.
    pub fn shared_result(&self, func: FuncId, index: usize) -> SharedSharding {
        self.func_results[func].get(index).copied().unwrap_or(SharedSharding::NONE)
    }
}

/// Gives every value a sharding. Takes time linear in the ops.
pub fn propagate(module: &Module, options: &Options) -> Propagation {
    Engine::new(module, options, None).run()
}

/// Like [`propagate`], telling `tracer` of every axis that is placed.
pub fn propagate_traced(
    module: &Module,
    options: &Options,
    tracer: &mut dyn Tracer,
) -> Propagation {
    Engine::new(module, options, Some(tracer)).run()
}

/// The uses that an analysed module has rewired.
fn rewired(setup: &Setup<'_>) -> Vec<Rewired> {
    let module = setup.module;
    let mut list = Vec::new();
    for rec in 0..setup.recs.len() as u32 {
        let RecKind::Op(op) = setup.recs[rec as usize].kind else { continue };
        for (operand, (&now, &was)) in
            setup.operands(rec).iter().zip(module.operands(op)).enumerate()
        {
            if now == setup::ssa(was) {
                continue;
            }
            let to = if (now as usize) < module.value_count() {
                RewiredTo::Value(ValueId::from_u32(now))
            } else {
                RewiredTo::Constraint(was, setup.given[now as usize])
            };
            list.push(Rewired { op, operand, to });
        }
    }
    list
}
