//! Live memory in program order: what a device holds at the worst moment.
//!
//! Values are held in *buffers*, from the op that makes them to their last use. Ops that only
//! rename bytes (reshapes, tuples, annotations, barriers) make no buffer; a loop's carried values
//! stay in the buffers they begin in; an update of a slice, a scatter and (optionally) an
//! elementwise op write into an operand's buffer where that has no later use. An argument that the
//! caller donates may be written to, and is gone after its last use; others live throughout.

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use shard_ir::infer::FuncTable;
use shard_ir::ops::{Control, Creation, Effects, Indexing, Movement, Op, Sdy};
use shard_ir::{DenseData, FuncId, Module, OpId, RegionId, RegionOwner, ValueDef, ValueId};
use smallvec::SmallVec;

use crate::ops::type_bytes;
use crate::program::{callee, callees_first, functions, ops_of};

/// How memory is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// An elementwise op may write into the buffer of an operand that it uses last.
    pub reuse_elementwise: bool,
    /// Splat constants, iotas and broadcasts take no memory of their own until a loop or a return
    /// needs them in a buffer: compilers make their elements where they are used. What is
    /// broadcast is held for as long.
    pub fuse_cheap: bool,
    /// How many values of the worst moment are listed.
    pub top: usize,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        MemoryOptions { reuse_elementwise: true, fuse_cheap: true, top: 10 }
    }
}

/// A value that is held at the worst moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveValue {
    /// The first value that its buffer holds.
    pub value: ValueId,
    /// Bytes of the buffer.
    pub bytes: u64,
}

/// The memory that a function needs, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Arguments, donated ones included.
    pub arguments: u64,
    /// Arguments that may be reused.
    pub donated: u64,
    /// Results.
    pub results: u64,
    /// The most that is held at once, arguments and results included.
    pub peak: u64,
    /// Of that, what is neither an argument nor a result: the peak less the arguments and the
    /// results that aren't in donated memory.
    pub temporaries: u64,
    /// The op at which that is, innermost.
    pub at: Option<OpId>,
    /// What is held then, largest first, at most as many as asked for.
    pub live: Vec<LiveValue>,
}

/// The memory that a function needs, with the functions it calls and the bodies of its loops.
pub fn memory(module: &Module, func: FuncId, options: &MemoryOptions) -> Memory {
    let names = functions(module);
    let mut plan = Plan {
        module,
        options,
        names: &names,
        last_use: SecondaryMap::with_capacity(module.value_count()),
        place: SecondaryMap::with_capacity(module.op_count()),
        inner: FxHashMap::default(),
    };
    for callee in callees_first(module, &names, func) {
        plan.uses(callee);
        let ops = ops_of(module, callee);
        // Regions inside come before the ones around them.
        let mut regions: Vec<RegionId> = Vec::new();
        for &(op, _) in &ops {
            if crate::program::runs_regions(module.kind(op)) {
                regions.extend(module.regions(op));
            }
        }
        for &region in regions.iter().rev() {
            let peak = plan.simulate(region, plan.params(region), None).peak;
            plan.inner.insert(region, peak);
        }
        let body = module.funcs[callee].body;
        if callee != func {
            let peak = plan.simulate(body, plan.params(body), None).peak;
            plan.inner.insert(body, peak);
        }
    }
    plan.report(func)
}

/// Whether an argument's memory may be reused.
fn is_donated(module: &Module, func: FuncId, index: usize) -> bool {
    let attrs = module.funcs[func].arg_attrs.get(index);
    attrs.is_some_and(|&attrs| {
        ["tf.aliasing_output", "jax.buffer_donor"]
            .iter()
            .any(|name| module.attr(attrs, name).is_some())
    })
}

/// What a region's parameters are.
#[derive(Clone, Copy)]
enum Params {
    /// Values that are counted outside.
    Held {
        /// Their buffers may be written to: those that a loop carries.
        reusable: bool,
    },
    /// Arguments of the function.
    Arguments(FuncId),
}

type Buffers = SmallVec<[u32; 1]>;

struct Buffer {
    value: ValueId,
    /// What it adds to what is held here: nothing for values that are counted outside.
    bytes: u64,
    /// How big it is.
    size: u64,
    /// Whether it may be written to, and is gone after its last use.
    reusable: bool,
    /// The op after which nothing uses it, by its number in the region.
    last: u32,
    live: bool,
}

/// What a walk over a region finds.
#[derive(Default)]
struct Simulation {
    peak: u64,
    /// Number of the op at the peak.
    step: usize,
    /// What was live when the walk stopped.
    live: Vec<LiveValue>,
}

/// What is known before the walks.
struct Plan<'a> {
    module: &'a Module,
    options: &'a MemoryOptions,
    names: &'a FuncTable,
    /// One more than the number, in the region that defines the value, of the last op that uses
    /// it, itself or in its regions.
    last_use: SecondaryMap<ValueId, u32>,
    /// The region of each op and its number there.
    place: SecondaryMap<OpId, Option<(RegionId, u32)>>,
    /// The most that is held inside a region, without what comes from outside.
    inner: FxHashMap<RegionId, u64>,
}

/// Use by the end of the region.
const END: u32 = u32::MAX;

impl Plan<'_> {
    /// Numbers the ops of a function and finds the last use of each value.
    fn uses(&mut self, func: FuncId) {
        let module = self.module;
        let ops = ops_of(module, func);
        let mut next: FxHashMap<RegionId, u32> = FxHashMap::default();
        for &(op, region) in &ops {
            let number = next.entry(region).or_default();
            self.place[op] = Some((region, *number));
            *number += 1;
        }
        for &(op, region) in &ops {
            let end = module.kind(op).is_terminator();
            let mut used: SmallVec<[ValueId; 8]> = SmallVec::from_slice(module.operands(op));
            if !crate::program::runs_regions(module.kind(op)) {
                // Bodies of reductions and the like may capture values.
                for &inner in module.regions(op) {
                    module.walk(inner, |op| used.extend_from_slice(module.operands(op)));
                }
            }
            for value in used {
                let home = match module.value_def(value) {
                    ValueDef::Result(def, _) => self.place[def].map(|(region, _)| region),
                    ValueDef::Param(block, _) => Some(module.block(block).region),
                };
                // The op of the value's own region that uses it.
                let (mut user, mut at) = (op, region);
                while Some(at) != home {
                    let RegionOwner::Op(around) = module.region(at).owner else { break };
                    let Some((outer, _)) = self.place[around] else { break };
                    (user, at) = (around, outer);
                }
                if Some(at) == home {
                    let number = self.place[user].map_or(0, |(_, number)| number + 1);
                    let number = if end && user == op { END } else { number };
                    self.last_use[value] = self.last_use[value].max(number);
                }
            }
        }
    }

    /// Walks the ops of a region in order, up to and with the op at `stop`.
    fn simulate(&self, region: RegionId, params: Params, stop: Option<usize>) -> Simulation {
        let mut walk = Walk {
            plan: self,
            region,
            buffers: Vec::new(),
            of: FxHashMap::default(),
            dying: FxHashMap::default(),
            held: 0,
            found: Simulation::default(),
        };
        walk.run(params, stop);
        walk.found
    }

    /// What the parameters of a region inside are.
    fn params(&self, region: RegionId) -> Params {
        let reusable = match self.module.region(region).owner {
            RegionOwner::Op(op) => *self.module.kind(op) == Op::Control(Control::While),
            RegionOwner::Func(_) | RegionOwner::None => false,
        };
        Params::Held { reusable }
    }

    fn bytes(&self, value: ValueId) -> u64 {
        type_bytes(self.module, self.module.value_type(value))
    }

    fn report(&self, func: FuncId) -> Memory {
        let module = self.module;
        let args = module.args(func);
        let mut memory = Memory::default();
        for (at, &arg) in args.iter().enumerate() {
            let bytes = self.bytes(arg);
            memory.arguments = memory.arguments.saturating_add(bytes);
            if is_donated(module, func, at) {
                memory.donated = memory.donated.saturating_add(bytes);
            }
        }
        for result in &module.funcs[func].results {
            memory.results = memory.results.saturating_add(type_bytes(module, result.ty));
        }
        let (mut region, mut params) = (module.funcs[func].body, Params::Arguments(func));
        memory.peak = self.simulate(region, params, None).peak;
        let fixed = memory.arguments.saturating_add(memory.results.saturating_sub(memory.donated));
        memory.temporaries = memory.peak.saturating_sub(fixed);
        // Down to the op at which the peak is, gathering what is live on the way.
        for _ in 0..10_000 {
            let step = self.simulate(region, params, None).step;
            memory.live.extend(self.simulate(region, params, Some(step)).live);
            let ops = module.region(region).blocks.iter().flat_map(|&b| module.block_ops(b));
            let Some(&op) = ops.into_iter().nth(step) else { break };
            memory.at = Some(op);
            let Some(inner) = self.dearest(op) else { break };
            (region, params) = (inner, self.params(inner));
        }
        memory.live.retain(|live| live.bytes > 0);
        memory.live.sort_by_key(|live| (std::cmp::Reverse(live.bytes), live.value));
        memory.live.truncate(self.options.top);
        memory
    }

    /// The region that an op runs in which most is held, if anything is.
    fn dearest(&self, op: OpId) -> Option<RegionId> {
        let called = callee(self.module.kind(op), self.names);
        let body = called.map(|func| self.module.funcs[func].body);
        let regions = self.module.regions(op).iter().copied().chain(body);
        let held = |region: &RegionId| self.inner.get(region).copied().unwrap_or_default();
        regions.filter(|region| held(region) > 0).max_by_key(|region| held(region))
    }
}

/// A walk over the ops of a region.
struct Walk<'a> {
    plan: &'a Plan<'a>,
    region: RegionId,
    buffers: Vec<Buffer>,
    /// The buffers that a value is in.
    of: FxHashMap<ValueId, Buffers>,
    /// Buffers by the number of the op after which they may be gone.
    dying: FxHashMap<u32, Vec<u32>>,
    held: u64,
    found: Simulation,
}

/// Where an op's results lie.
enum Home {
    /// Result `i` is operand `i`.
    Operands,
    /// The one result is all operands together.
    All,
    /// The one result is an element of a tuple.
    Element(usize),
    /// Result `i` is in the buffer of operand `i` if that has no later use; else it is copied.
    InPlace,
    /// New buffers; the first operand of the same size that has no later use may be it.
    Reuse,
    /// New buffers.
    New,
    /// Nowhere.
    Fused,
}

impl Walk<'_> {
    fn run(&mut self, params: Params, stop: Option<usize>) {
        let module = self.plan.module;
        let blocks = &module.region(self.region).blocks;
        for &block in blocks {
            for (at, &param) in module.params(block).iter().enumerate() {
                match params {
                    Params::Held { reusable } => self.add(param, 0, reusable),
                    Params::Arguments(func) => {
                        let donated = is_donated(module, func, at);
                        self.add(param, self.plan.bytes(param), donated);
                    }
                }
            }
        }
        let mut number = 0usize;
        for &op in blocks.iter().flat_map(|&block| module.block_ops(block)) {
            self.op(op, number);
            if stop == Some(number) {
                break;
            }
            self.free(number);
            number += 1;
        }
        self.peak(number.saturating_sub(1), 0);
        let live = self.buffers.iter().filter(|buffer| buffer.live);
        self.found.live =
            live.map(|buffer| LiveValue { value: buffer.value, bytes: buffer.bytes }).collect();
    }

    fn peak(&mut self, step: usize, inside: u64) {
        let now = self.held.saturating_add(inside);
        if now > self.found.peak {
            (self.found.peak, self.found.step) = (now, step);
        }
    }

    fn op(&mut self, op: OpId, number: usize) {
        let plan = self.plan;
        let module = plan.module;
        // While its regions run, or the function it calls, its operands are held.
        let inside = plan.dearest(op).and_then(|region| plan.inner.get(&region)).copied();
        let inside = inside.unwrap_or_default();
        let (operands, results) = (module.operands(op), module.results(op));
        if module.kind(op).is_terminator() {
            for &value in operands {
                if !self.is_materialised(value) && self.is_local(value) {
                    self.place(value, None);
                }
            }
        }
        let home = home(plan, op);
        if !matches!(home, Home::InPlace) {
            self.peak(number, inside);
        }
        match home {
            Home::Operands => {
                for (&result, &operand) in results.iter().zip(operands) {
                    // What is made where it is used stays so; values from outside are held there.
                    if let Some(buffers) = self.of.get(&operand).cloned() {
                        self.join(result, buffers);
                    } else if !self.is_local(operand) {
                        self.add(result, 0, false);
                    }
                }
            }
            Home::All => {
                let all = operands.iter().filter_map(|value| self.of.get(value)).flatten();
                let all: Buffers = all.copied().collect();
                if let Some(&result) = results.first() {
                    self.join(result, all);
                }
            }
            Home::Element(at) => {
                // A tuple has a buffer for each element where it was made here, else one.
                let buffers = operands.first().and_then(|value| self.of.get(value));
                let buffers = buffers.cloned().unwrap_or_default();
                let own = match buffers.get(at) {
                    Some(&one) if buffers.len() > 1 => Buffers::from_slice(&[one]),
                    _ => buffers,
                };
                if let Some(&result) = results.first() {
                    self.join(result, own);
                }
            }
            Home::InPlace => {
                for (at, &result) in results.iter().enumerate() {
                    let taken = operands.get(at).and_then(|&v| self.take(v, number, None));
                    self.place(result, taken);
                }
                // Copies of what a loop carries are made before it runs.
                self.peak(number, inside);
            }
            Home::Reuse => {
                let Some(&result) = results.first() else { return };
                let bytes = plan.bytes(result);
                let taken =
                    operands.iter().find_map(|&value| self.take(value, number, Some(bytes)));
                self.place(result, taken);
            }
            Home::New => {
                for &result in results {
                    self.place(result, None);
                }
            }
            Home::Fused => {}
        }
        self.peak(number, 0);
    }

    /// Whether a value's elements all lie in its buffers: those of a broadcast don't.
    fn is_materialised(&self, value: ValueId) -> bool {
        self.of.get(&value).is_some_and(|buffers| {
            let sizes = buffers.iter().map(|&at| self.buffers[at as usize].size);
            sizes.fold(0, u64::saturating_add) == self.plan.bytes(value)
        })
    }

    /// Whether a value is defined in the region that is walked: it may be in no buffer only if it
    /// is made where it is used.
    fn is_local(&self, value: ValueId) -> bool {
        match self.plan.module.value_def(value) {
            ValueDef::Result(op, _) => {
                self.plan.place[op].is_some_and(|(region, _)| region == self.region)
            }
            ValueDef::Param(..) => false,
        }
    }

    /// The buffers of a value that nothing uses after the op, if all may be written to, and (where
    /// a size is wanted) have that size.
    fn take(&self, value: ValueId, number: usize, bytes: Option<u64>) -> Option<Buffers> {
        let buffers = self.of.get(&value).filter(|list| !list.is_empty())?;
        let own = self.plan.bytes(value);
        if bytes.is_some_and(|bytes| bytes != own) || !self.is_materialised(value) {
            return None;
        }
        let free = buffers.iter().all(|&at| {
            let buffer = &self.buffers[at as usize];
            buffer.reusable && buffer.last as usize <= number + 1
        });
        free.then(|| buffers.clone())
    }

    /// Puts a value into buffers, or into a new one.
    fn place(&mut self, value: ValueId, taken: Option<Buffers>) {
        match taken {
            Some(buffers) => self.join(value, buffers),
            None => self.add(value, self.plan.bytes(value), true),
        }
    }

    fn add(&mut self, value: ValueId, bytes: u64, reusable: bool) {
        let at = self.buffers.len() as u32;
        let last = self.plan.last_use[value];
        let size = self.plan.bytes(value);
        self.buffers.push(Buffer { value, bytes, size, reusable, last, live: true });
        self.held = self.held.saturating_add(bytes);
        self.of.insert(value, Buffers::from_slice(&[at]));
        self.dies(at, last);
    }

    /// A value lies in buffers that are there already, and keeps them.
    fn join(&mut self, value: ValueId, buffers: Buffers) {
        let last = self.plan.last_use[value];
        for &at in &buffers {
            let buffer = &mut self.buffers[at as usize];
            if last > buffer.last {
                buffer.last = last;
                self.dies(at, last);
            }
        }
        self.of.insert(value, buffers);
    }

    fn dies(&mut self, buffer: u32, last: u32) {
        if last != END {
            // A value without a use is gone after the op that makes it, at the next clearing.
            self.dying.entry(last).or_default().push(buffer);
        }
    }

    /// Gives up the buffers whose last use is behind.
    fn free(&mut self, number: usize) {
        let mut gone = self.dying.remove(&(number as u32 + 1)).unwrap_or_default();
        gone.extend(self.dying.remove(&0).unwrap_or_default());
        for at in gone {
            let buffer = &mut self.buffers[at as usize];
            if buffer.live && buffer.reusable && buffer.last as usize <= number + 1 {
                buffer.live = false;
                self.held = self.held.saturating_sub(buffer.bytes);
            }
        }
    }
}

fn home(plan: &Plan, op: OpId) -> Home {
    let (module, options) = (plan.module, plan.options);
    let same_bytes = || {
        let (operands, results) = (module.operands(op), module.results(op));
        plan.bytes(operands[0]) == plan.bytes(results[0])
    };
    match module.kind(op) {
        Op::Elementwise(_) if options.reuse_elementwise => Home::Reuse,
        Op::Elementwise(_) => Home::New,
        Op::Creation(Creation::Constant(op)) => match op.value.data {
            DenseData::Splat(_) if options.fuse_cheap => Home::Fused,
            DenseData::Splat(_)
            | DenseData::Bytes(_)
            | DenseData::Resource(_)
            | DenseData::Text(_) => Home::New,
        },
        Op::Creation(Creation::Iota(_) | Creation::DynamicIota(_)) => {
            if options.fuse_cheap {
                Home::Fused
            } else {
                Home::New
            }
        }
        Op::Movement(kind) => match kind {
            Movement::Reshape | Movement::DynamicReshape => Home::Operands,
            Movement::BitcastConvert if same_bytes() => Home::Operands,
            Movement::BitcastConvert => Home::New,
            Movement::DynamicUpdateSlice => Home::InPlace,
            Movement::BroadcastInDim(_)
            | Movement::DynamicBroadcastInDim(_)
            | Movement::Broadcast(_) => {
                if options.fuse_cheap {
                    Home::Operands
                } else {
                    Home::New
                }
            }
            Movement::RealDynamicSlice
            | Movement::DynamicPad
            | Movement::Transpose(_)
            | Movement::Slice(_)
            | Movement::DynamicSlice(_)
            | Movement::Pad(_)
            | Movement::Concatenate(_)
            | Movement::Reverse(_)
            | Movement::GetDimensionSize(_) => Home::New,
            Movement::SetDimensionSize(_) => Home::Operands,
        },
        Op::Indexing(Indexing::Scatter(_)) => Home::InPlace,
        Op::Indexing(
            Indexing::Gather(_) | Indexing::DynamicGather(_) | Indexing::TorchIndexSelect(_),
        ) => Home::New,
        Op::Control(kind) => match kind {
            Control::While => Home::InPlace,
            Control::OptimizationBarrier => Home::Operands,
            Control::If
            | Control::Case
            | Control::Return
            | Control::FuncReturn
            | Control::SdyReturn
            | Control::Call(_) => Home::New,
        },
        Op::Sdy(kind) => match kind {
            Sdy::ShardingConstraint(_)
            | Sdy::DataFlowEdge(_)
            | Sdy::FuncDataFlowEdge
            | Sdy::PropagationBarrier(_) => Home::Operands,
            Sdy::SdyConstant(_) if options.fuse_cheap => Home::Fused,
            Sdy::SdyConstant(_)
            | Sdy::Reshard(_)
            | Sdy::ManualComputation(_)
            | Sdy::ShardingGroup(_)
            | Sdy::NamedComputation(_)
            | Sdy::SdyAllGather(_)
            | Sdy::SdyAllSlice(_)
            | Sdy::SdyAllToAll(_)
            | Sdy::SdyCollectivePermute(_)
            | Sdy::SdyAllReduce(_)
            | Sdy::SdyReduceScatter(_)
            | Sdy::ShardedToUnreduced(_)
            | Sdy::ReplicatedToUnreduced(_) => Home::New,
        },
        Op::Effects(kind) => match kind {
            Effects::Tuple => Home::All,
            Effects::GetTupleElement(element) => {
                Home::Element(usize::try_from(element.index).unwrap_or_default())
            }
            Effects::CreateToken
            | Effects::AfterAll
            | Effects::Infeed(_)
            | Effects::Outfeed(_)
            | Effects::Send(_)
            | Effects::Recv(_) => Home::New,
        },
        Op::Dot(_)
        | Op::Convolution(_)
        | Op::Reduction(_)
        | Op::Sorting(_)
        | Op::Linalg(_)
        | Op::Random(_)
        | Op::Normalization(_)
        | Op::Collective(_)
        | Op::Custom(_)
        | Op::Hlo(_)
        | Op::Opaque(_) => Home::New,
    }
}
