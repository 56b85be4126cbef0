//! Blocks, regions, terminators, and the visibility of values.

use cranelift_entity::{EntitySet, SecondaryMap};

use crate::infer::{check_op_with, is_about_ends, type_text};
use crate::ops::{Control, Op, Traits};
use crate::{
    BlockId, FuncId, Item, Language, LocId, OpId, RegionId, RegionOwner, ValueDef, ValueId,
};

use super::{Complaints, Funcs, collectives, manual, shardings};

/// A region being walked.
struct Frame {
    region: RegionId,
    begun: bool,
    block: usize,
    index: usize,
    /// The op that the region belongs to.
    op: Option<OpId>,
    func: Option<FuncId>,
    /// Values defined in it so far.
    defined: Vec<ValueId>,
    /// Depth of the outermost region whose values are seen.
    floor: u32,
}

/// What is still to be done; the last comes first.
enum Step {
    /// The rest of a region.
    Region(Frame),
    /// The op's regions are done: its results are visible from here on.
    Results(OpId),
}

/// Where an op is placed.
struct Context {
    owner: Option<OpId>,
    func: Option<FuncId>,
    /// It is the last of its block.
    last: bool,
    floor: u32,
}

struct Walk<'a, 'b> {
    complaints: &'b mut Complaints<'a>,
    funcs: &'b Funcs,
    scopes: manual::Scopes,
    /// Depth of the region that a visible value is defined in, from 1; 0 where it isn't visible.
    depth: SecondaryMap<ValueId, u32>,
    ops: EntitySet<OpId>,
    regions: EntitySet<RegionId>,
    /// Depth of the region that is walked.
    current: u32,
    steps: Vec<Step>,
}

/// Walks all functions and top-level ops.
pub(super) fn verify(complaints: &mut Complaints, funcs: &Funcs) {
    let module = complaints.module;
    let mut walk = Walk {
        complaints,
        funcs,
        scopes: manual::Scopes::default(),
        depth: SecondaryMap::with_capacity(module.value_count()),
        ops: EntitySet::new(),
        regions: EntitySet::new(),
        current: 0,
        steps: Vec::new(),
    };
    for &item in &module.items {
        match item {
            Item::Mesh(_) => {}
            Item::Func(id) => {
                let func = &module.funcs[id];
                if !func.is_declaration {
                    walk.open(func.body, None, Some(id), 1);
                }
            }
            Item::Op(op) => walk.enter(op, None),
        }
        walk.run();
    }
}

impl Walk<'_, '_> {
    /// Puts a region on the stack, once.
    fn open(&mut self, region: RegionId, op: Option<OpId>, func: Option<FuncId>, floor: u32) {
        let owner = self.complaints.module.region(region).owner;
        let expected = match (op, func) {
            (Some(op), _) => RegionOwner::Op(op),
            (None, Some(func)) => RegionOwner::Func(func),
            (None, None) => RegionOwner::None,
        };
        if !self.regions.insert(region) || owner != expected {
            match op {
                Some(op) => self.complaints.op(op, "has a region that belongs to another op"),
                None => self.complaints.at(
                    LocId::UNKNOWN,
                    "a function has a body that belongs to another function or op",
                ),
            }
            return;
        }
        self.steps.push(Step::Region(Frame {
            region,
            begun: false,
            block: 0,
            index: 0,
            op,
            func,
            defined: Vec::new(),
            floor,
        }));
    }

    fn run(&mut self) {
        let module = self.complaints.module;
        while let Some(step) = self.steps.pop() {
            let mut frame = match step {
                Step::Results(op) => {
                    self.results(op);
                    continue;
                }
                Step::Region(frame) => frame,
            };
            if !frame.begun {
                self.begin(&mut frame);
            }
            let Some(&block) = module.region(frame.region).blocks.get(frame.block) else {
                self.end(&frame);
                continue;
            };
            let ops = module.block_ops(block);
            let Some(&op) = ops.get(frame.index) else {
                self.block_end(block, frame.op, frame.func);
                frame.block += 1;
                frame.index = 0;
                self.steps.push(Step::Region(frame));
                continue;
            };
            frame.index += 1;
            let context = Context {
                owner: frame.op,
                func: frame.func,
                last: frame.index == ops.len(),
                floor: frame.floor,
            };
            self.steps.push(Step::Region(frame));
            self.enter(op, Some(context));
        }
    }

    /// Enters a region: parameters become visible; where there are several blocks, so does
    /// everything in them (the order of blocks isn't that of execution).
    fn begin(&mut self, frame: &mut Frame) {
        let module = self.complaints.module;
        frame.begun = true;
        self.current += 1;
        let blocks = &module.region(frame.region).blocks;
        if let (true, Some(op)) = (blocks.is_empty(), frame.op) {
            self.complaints.op(op, "has a region without a block");
        }
        for &block in blocks {
            if let (true, Some(op)) = (module.block(block).region != frame.region, frame.op) {
                self.complaints.op(op, "has a block that belongs to another region");
            }
            for &value in module.params(block) {
                let loc = match (module.param_locs[value].expand(), frame.op, frame.func) {
                    (Some(loc), ..) => loc,
                    (None, Some(op), _) => module.op(op).loc,
                    (None, None, Some(func)) => module.funcs[func].loc,
                    (None, None, None) => LocId::UNKNOWN,
                };
                shardings::verify_value(self.complaints, &self.scopes, value, loc);
            }
            frame.defined.extend(module.params(block));
            if blocks.len() > 1 {
                let results = module.block_ops(block).iter().flat_map(|&op| module.results(op));
                frame.defined.extend(results);
            }
        }
        for &value in &frame.defined {
            self.depth[value] = self.current;
        }
    }

    /// Leaves a region: its values are no longer visible.
    fn end(&mut self, frame: &Frame) {
        self.current -= 1;
        for &value in &frame.defined {
            self.depth[value] = 0;
        }
    }

    /// The results of an op become visible to the ops after it.
    fn results(&mut self, op: OpId) {
        let results = self.complaints.module.results(op);
        self.scopes.leave(op);
        for &value in results {
            self.depth[value] = self.current;
        }
        if let Some(Step::Region(frame)) = self.steps.last_mut() {
            frame.defined.extend(results);
        }
    }

    fn enter(&mut self, op: OpId, context: Option<Context>) {
        let module = self.complaints.module;
        if !self.ops.insert(op) {
            self.complaints.op(op, "is placed twice");
            return;
        }
        let mut floor = 1;
        if let Some(context) = context {
            floor = context.floor;
            self.operands(op, floor);
            self.terminator(op, &context);
        }
        // HLO's ops have tuples for several results, and operands that regions of ours don't need:
        // conversion to StableHLO makes of them what can be checked.
        if module.language == Language::StableHlo
            && let Err(messages) = check_op_with(module, Some(self.funcs), op)
        {
            // That a region has no end is said once, by the walk.
            for message in messages.into_iter().filter(|message| !is_about_ends(message)) {
                self.complaints.op(op, message);
            }
        }
        self.bodies(op);
        collectives::verify(self.complaints, op);
        for &value in module.results(op) {
            shardings::verify_value(self.complaints, &self.scopes, value, module.op(op).loc);
        }
        self.scopes.enter(self.complaints, op);
        self.steps.push(Step::Results(op));
        if module.kind(op).info().traits.has(Traits::ISOLATED) {
            floor = self.current + 1;
        }
        for &region in module.regions(op).iter().rev() {
            self.open(region, Some(op), None, floor);
        }
    }

    fn operands(&mut self, op: OpId, floor: u32) {
        let module = self.complaints.module;
        for (at, &value) in module.operands(op).iter().enumerate() {
            let depth = self.depth[value];
            if depth >= floor {
                continue;
            }
            let name = match module.value_names[value].expand() {
                Some(name) => format!("operand {at} (%{})", module.str(name)),
                None => format!("operand {at}"),
            };
            let why = if depth > 0 {
                "is a value from outside of a region that sees none"
            } else {
                match module.value_def(value) {
                    ValueDef::Result(def, _) if self.ops.contains(def) => {
                        "is defined in a region that doesn't enclose the op"
                    }
                    ValueDef::Result(..) => {
                        "isn't defined before: the op that defines it comes later, or is in no block"
                    }
                    ValueDef::Param(..) => "is a parameter of a block that doesn't enclose the op",
                }
            };
            self.complaints.op(op, format!("{name} {why}"));
        }
    }

    /// Regions of ops that the table knows have one block.
    fn bodies(&mut self, op: OpId) {
        let module = self.complaints.module;
        if matches!(module.kind(op), Op::Opaque(_)) {
            return;
        }
        for (at, &region) in module.regions(op).iter().enumerate() {
            let blocks = module.region(region).blocks.len();
            if blocks > 1 {
                self.complaints.op(op, format!("region {at} has {blocks} blocks, not 1"));
            }
        }
    }

    /// A terminator is the last op of its block, and of the kind that the region needs.
    fn terminator(&mut self, op: OpId, context: &Context) {
        let &Context { owner, func, last, .. } = context;
        let module = self.complaints.module;
        let kind = module.kind(op);
        if kind.is_terminator() && !last {
            self.complaints.op(op, "must be the last op of its block");
        }
        let fits = match kind {
            Op::Control(Control::FuncReturn) => owner.is_none() || opaque(module, owner),
            Op::Control(Control::SdyReturn) => {
                owner.is_some_and(|op| matches!(module.kind(op), Op::Sdy(_) | Op::Opaque(_)))
            }
            // JAX ends the functions that it passes to custom calls so.
            Op::Control(Control::Return) => {
                owner.is_none_or(|op| !matches!(module.kind(op), Op::Sdy(_)))
            }
            _ => true,
        };
        if !fits {
            let of = owner.map_or("a function", |op| module.op_name(op));
            self.complaints.op(op, format!("can't end a region of {of}"));
        }
        let returns = match kind {
            Op::Control(Control::FuncReturn) => true,
            Op::Control(Control::Return) => owner.is_none(),
            _ => false,
        };
        if let (true, Some(func)) = (returns, func) {
            self.returns(op, func);
        }
    }

    /// What a function returns is what its signature says.
    fn returns(&mut self, op: OpId, func: FuncId) {
        let module = self.complaints.module;
        let results = &module.funcs[func].results;
        let operands = module.operands(op);
        if operands.len() != results.len() {
            self.complaints.op(
                op,
                format!(
                    "returns {} values, but the function has {} results",
                    operands.len(),
                    results.len()
                ),
            );
            return;
        }
        for (at, (&value, result)) in operands.iter().zip(results).enumerate() {
            let ty = module.value_type(value);
            if ty != result.ty {
                self.complaints.op(
                    op,
                    format!(
                        "value {at} has type {}, but the function's result {}",
                        type_text(module, ty),
                        type_text(module, result.ty)
                    ),
                );
            }
        }
    }

    /// A block ends with a terminator, or with an op that isn't known.
    fn block_end(&mut self, block: BlockId, owner: Option<OpId>, func: Option<FuncId>) {
        let module = self.complaints.module;
        if opaque(module, owner) {
            return;
        }
        let last = module.block_ops(block).last();
        let ends = last.is_some_and(|&op| {
            module.kind(op).is_terminator() || matches!(module.kind(op), Op::Opaque(_))
        });
        if ends {
            return;
        }
        match (owner, func) {
            (Some(op), _) => {
                let region = module.block(block).region;
                let at = module.regions(op).iter().position(|&r| r == region).unwrap_or_default();
                self.complaints.op(op, format!("region {at} doesn't end with a return"));
            }
            (None, Some(func)) => {
                let func = &module.funcs[func];
                let name = module.str(func.name);
                self.complaints
                    .at(func.loc, format!("function '@{name}' doesn't end with a return"));
            }
            (None, None) => {}
        }
    }
}

fn opaque(module: &crate::Module, op: Option<OpId>) -> bool {
    op.is_some_and(|op| matches!(module.kind(op), Op::Opaque(_)))
}
