//! One device: its values, and where in the program it is.

use cranelift_entity::EntityRef;
use shard_ir::ops::{Control, Custom, Effects, Op, Sdy};
use shard_ir::{BlockId, Dims, OpId, Symbol, Type, ValueId};

use super::{Event, Program, foreign, jitter, manual};
use crate::site::{Outside, Site};
use crate::{Buffer, Fault, Tensor, Value, ops};

/// The deepest nesting of regions and calls.
const MOST_FRAMES: usize = 4096;

/// The most bytes that one op may make.
const MOST_BYTES: u64 = 1 << 34;

/// A block that is being executed.
#[derive(Debug)]
struct Frame {
    block: BlockId,
    /// Number of the next op.
    next: usize,
    then: Then,
}

/// What becomes of what a block returns.
#[derive(Debug)]
enum Then {
    /// It is what the device computed.
    Finish,
    /// It is the results of an op.
    Results(OpId),
    /// It is whether a `while` goes on with these values.
    Condition(OpId, Vec<Value>),
    /// It is the next values of a `while`.
    Body(OpId),
    /// It is this device's part of the results of a manual computation.
    Manual(OpId),
    /// It is what `async_done` will give.
    Future(OpId),
}

/// Whether a device goes on.
#[derive(Debug)]
pub(super) enum State {
    /// It does.
    Ready,
    /// It waits for others at an op, with the op's operands (or, at a manual computation, with its
    /// part of the results).
    Waiting(OpId, Vec<Value>),
    /// It is through.
    Done(Vec<Value>),
}

/// One device.
pub(super) struct Device<'m> {
    /// Its number: `replica * partitions + partition`.
    pub id: usize,
    pub state: State,
    /// What it said while it ran.
    pub events: Vec<Event>,
    program: &'m Program<'m>,
    outside: &'m dyn Outside,
    values: Vec<Option<Value>>,
    frames: Vec<Frame>,
    steps: u64,
}

/// The values of a device, for regions that use them.
struct Environment<'a>(&'a [Option<Value>], &'a dyn Outside);

impl Outside for Environment<'_> {
    fn value(&self, value: ValueId) -> Option<Value> {
        match self.0.get(value.index()) {
            Some(Some(value)) => Some(value.clone()),
            _ => self.1.value(value),
        }
    }
}

impl<'m> Device<'m> {
    /// A device that will execute a block on arguments.
    ///
    /// # Errors
    /// If the block takes another number of arguments.
    pub fn new(
        id: usize,
        program: &'m Program<'m>,
        outside: &'m dyn Outside,
        block: BlockId,
        args: Vec<Value>,
    ) -> Result<Self, Fault> {
        let mut device = Device {
            id,
            state: State::Ready,
            events: Vec::new(),
            program,
            outside,
            values: vec![None; program.module.value_count()],
            frames: Vec::new(),
            steps: 0,
        };
        device.enter(block, args, Then::Finish)?;
        Ok(device)
    }

    /// Begins again, with other arguments.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn restart(&mut self, block: BlockId, args: Vec<Value>) -> Result<(), Fault> {
        self.frames.clear();
        self.state = State::Ready;
        self.enter(block, args, Then::Finish)
    }

    /// Runs until the device waits or is through.
    ///
    /// # Errors
    /// The op that can't be executed, and why.
    pub fn run(&mut self) -> Result<(), (OpId, Fault)> {
        while matches!(self.state, State::Ready) {
            let Some(frame) = self.frames.last_mut() else {
                self.state = State::Done(Vec::new());
                break;
            };
            let block = frame.block;
            let ops = self.program.module.block_ops(block);
            let Some(&op) = ops.get(frame.next) else {
                let last = ops.last().copied().unwrap_or(OpId::new(0));
                return Err((last, Fault::invalid("the block has no terminator")));
            };
            frame.next += 1;
            self.steps += 1;
            if self.program.fuel.is_some_and(|fuel| self.steps > fuel) {
                let text = format!("more than {} ops were executed", self.steps - 1);
                return Err((op, Fault::Invalid(text)));
            }
            self.step(op).map_err(|fault| (op, fault))?;
        }
        Ok(())
    }

    fn step(&mut self, op: OpId) -> Result<(), Fault> {
        let module = self.program.module;
        let kind = module.kind(op);
        if kind.is_terminator() {
            let values = self.operands(op)?;
            self.forget(op);
            return self.leave(values);
        }
        match kind {
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
            | Op::Hlo(_) => {
                let mut operands = self.tensors(op)?;
                self.affordable(op)?;
                if let Some(seed) = self.program.jitter.filter(|_| jitter::accumulates(kind)) {
                    for operand in &mut operands {
                        let seed = seed ^ self.steps.wrapping_mul(0x2545_f491_4f6c_dd1d);
                        *operand = jitter::jittered(operand.clone(), seed);
                    }
                }
                let results = {
                    let outside = Environment(&self.values, self.outside);
                    let backwards = self.program.backwards;
                    let site = Site { module, op, outside: &outside, expressed: false, backwards };
                    ops::eval(&site, &operands)?
                };
                self.finish(op, results.into_iter().map(Value::Tensor).collect())
            }
            Op::Control(control) => self.control(op, control),
            Op::Collective(_) => self.wait(op),
            Op::Sdy(sdy) => self.sdy(op, sdy),
            Op::Effects(effects) => self.effects(op, effects),
            Op::Custom(custom) => self.custom(op, custom),
            Op::Opaque(opaque) => foreign::execute(self, op, opaque),
        }
    }

    fn control(&mut self, op: OpId, control: &Control) -> Result<(), Fault> {
        let module = self.program.module;
        match control {
            Control::While => {
                let carry = self.operands(op)?;
                self.condition(op, carry)
            }
            Control::If => {
                let predicate = self.integer(op)?;
                self.branch(op, usize::from(predicate == 0))
            }
            Control::Case => {
                let index = self.integer(op)?;
                let last = module.regions(op).len().saturating_sub(1);
                let index = usize::try_from(index).map_or(last, |index| index.min(last));
                self.branch(op, index)
            }
            Control::OptimizationBarrier => {
                let values = self.operands(op)?;
                self.finish(op, values)
            }
            Control::Call(call) => self.call(op, call.callee.0),
            Control::Return | Control::FuncReturn | Control::SdyReturn => Ok(()),
        }
    }

    fn condition(&mut self, op: OpId, carry: Vec<Value>) -> Result<(), Fault> {
        let block = self.region(op, 0)?;
        self.enter(block, carry.clone(), Then::Condition(op, carry))
    }

    fn branch(&mut self, op: OpId, index: usize) -> Result<(), Fault> {
        let block = self.region(op, index)?;
        self.enter(block, Vec::new(), Then::Results(op))
    }

    /// Calls a function whose results are the op's.
    pub(super) fn call(&mut self, op: OpId, callee: Symbol) -> Result<(), Fault> {
        let module = self.program.module;
        let func = self.program.func(callee)?;
        let block = module.func_entry(func);
        if self.frames.iter().any(|frame| frame.block == block) {
            return Err(Fault::invalid(format!("@{} calls itself", module.str(callee))));
        }
        let args = self.operands(op)?;
        self.enter(block, args, Then::Results(op))
    }

    fn sdy(&mut self, op: OpId, sdy: &Sdy) -> Result<(), Fault> {
        match sdy {
            // Where a value lies doesn't change what it is: these ops stand in programs of global
            // shapes, in which a value that is partial is taken as the whole that its parts make.
            Sdy::ShardingConstraint(_)
            | Sdy::Reshard(_)
            | Sdy::DataFlowEdge(_)
            | Sdy::FuncDataFlowEdge
            | Sdy::PropagationBarrier(_)
            | Sdy::SdyAllGather(_)
            | Sdy::SdyAllSlice(_)
            | Sdy::SdyAllToAll(_)
            | Sdy::SdyCollectivePermute(_)
            | Sdy::SdyAllReduce(_)
            | Sdy::SdyReduceScatter(_)
            | Sdy::ShardedToUnreduced(_)
            | Sdy::ReplicatedToUnreduced(_) => {
                let values = self.operands(op)?;
                self.finish(op, values)
            }
            Sdy::ShardingGroup(_) => self.finish(op, Vec::new()),
            Sdy::SdyConstant(constant) => {
                let tensor = Tensor::from_dense(&constant.value, self.program.module)?;
                self.finish(op, vec![tensor.into()])
            }
            Sdy::NamedComputation(_) => {
                let (block, args) = (self.region(op, 0)?, self.operands(op)?);
                self.enter(block, args, Then::Results(op))
            }
            Sdy::ManualComputation(computation) => {
                let operands = self.operands(op)?;
                if self.program.manual.is_none() {
                    let results = manual::run_all(self.program, op, computation, operands)?;
                    self.events.extend(results.events);
                    return self.finish(op, results.values);
                }
                let parts = manual::parts(self.program, op, computation, self.id, &operands)?;
                let block = self.region(op, 0)?;
                self.enter(block, parts, Then::Manual(op))
            }
        }
    }

    fn effects(&mut self, op: OpId, effects: &Effects) -> Result<(), Fault> {
        match effects {
            Effects::CreateToken | Effects::AfterAll => self.finish(op, vec![Value::Token]),
            Effects::Tuple => {
                let values = self.operands(op)?;
                self.finish(op, vec![Value::Tuple(values.into())])
            }
            Effects::GetTupleElement(get) => {
                let values = self.operands(op)?;
                let element = match values.first() {
                    Some(Value::Tuple(elements)) => {
                        usize::try_from(get.index).ok().and_then(|index| elements.get(index))
                    }
                    _ => None,
                };
                let element = element.ok_or_else(|| Fault::invalid("no such element"))?.clone();
                self.finish(op, vec![element])
            }
            Effects::Outfeed(_) => self.finish(op, vec![Value::Token]),
            Effects::Infeed(_) | Effects::Send(_) | Effects::Recv(_) => self.wait(op),
        }
    }

    fn custom(&mut self, op: OpId, custom: &Custom) -> Result<(), Fault> {
        match custom {
            Custom::Composite(composite) => self.call(op, composite.decomposition.0),
            Custom::CustomCall(call) => foreign::custom_call(self, op, call),
        }
    }

    /// The program that is executed.
    pub(super) fn program(&self) -> &'m Program<'m> {
        self.program
    }

    /// What regions of an op of this device see.
    pub(super) fn with_site<T>(&self, op: OpId, f: impl FnOnce(&Site<'_>) -> T) -> T {
        let outside = Environment(&self.values, self.outside);
        let module = self.program.module;
        f(&Site { module, op, outside: &outside, expressed: false, backwards: false })
    }

    /// Executes the region of an op; what it returns becomes the value of `async_done`.
    pub(super) fn future(&mut self, op: OpId) -> Result<(), Fault> {
        let (block, args) = (self.region(op, 0)?, self.operands(op)?);
        self.enter(block, args, Then::Future(op))
    }

    /// Waits for other devices at an op.
    pub(super) fn wait(&mut self, op: OpId) -> Result<(), Fault> {
        self.state = State::Waiting(op, self.operands(op)?);
        Ok(())
    }

    /// Goes on after waiting, with the results of the op.
    ///
    /// # Errors
    /// As [`Device::finish`].
    pub fn resume(&mut self, op: OpId, results: Vec<Value>) -> Result<(), Fault> {
        self.state = State::Ready;
        self.finish(op, results)
    }

    /// Sets the results of an op, and forgets what nobody wants any more.
    pub(super) fn finish(&mut self, op: OpId, results: Vec<Value>) -> Result<(), Fault> {
        let module = self.program.module;
        let ids = module.results(op);
        if ids.len() != results.len() {
            return Err(Fault::invalid(format!(
                "{} results where {} are wanted",
                results.len(),
                ids.len()
            )));
        }
        if let Some(watch) = self.program.watch {
            watch.results(self.id, op, &results);
        }
        for (&id, value) in ids.iter().zip(results) {
            self.check_type(id, &value)?;
            self.values[id.index()] = Some(value);
        }
        self.forget(op);
        Ok(())
    }

    /// The value is of the type that the program states.
    fn check_type(&self, id: ValueId, value: &Value) -> Result<(), Fault> {
        let module = self.program.module;
        let (Type::Tensor(ty), Value::Tensor(tensor)) = (module.ty(module.value_type(id)), value)
        else {
            return Ok(());
        };
        let fits = ty.element == tensor.element()
            && ty.dims.len() == tensor.rank()
            && ty.dims.iter().zip(tensor.dims()).all(|(&want, &is)| want < 0 || want == is);
        let bounded = ty.encoding.is_some();
        if fits || bounded && ty.dims.len() == tensor.rank() {
            return Ok(());
        }
        Err(Fault::invalid(format!(
            "the result is {} of shape {:?}, and the program states {} of shape {:?}",
            tensor.element(),
            tensor.dims(),
            ty.element,
            ty.dims.as_slice()
        )))
    }

    fn forget(&mut self, op: OpId) {
        for value in self.program.plan.dead_after(op) {
            self.values[value.index()] = None;
        }
    }

    fn enter(&mut self, block: BlockId, args: Vec<Value>, then: Then) -> Result<(), Fault> {
        let params = self.program.module.params(block);
        if params.len() != args.len() {
            return Err(Fault::invalid(format!(
                "a block of {} parameters is given {} values",
                params.len(),
                args.len()
            )));
        }
        if self.frames.len() >= MOST_FRAMES {
            return Err(Fault::unsupported(format!("nesting deeper than {MOST_FRAMES}")));
        }
        for (&param, value) in params.iter().zip(args) {
            self.check_type(param, &value)?;
            self.values[param.index()] = Some(value);
        }
        self.frames.push(Frame { block, next: 0, then });
        Ok(())
    }

    fn leave(&mut self, values: Vec<Value>) -> Result<(), Fault> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        match frame.then {
            Then::Finish => {
                self.state = State::Done(values);
                Ok(())
            }
            Then::Results(op) => self.finish(op, values),
            Then::Condition(op, carry) => {
                let [Value::Tensor(predicate)] = values.as_slice() else {
                    return Err(Fault::invalid("a condition that returns no tensor"));
                };
                if predicate.integer()? == 0 {
                    return self.finish(op, carry);
                }
                let block = self.region(op, 1)?;
                self.enter(block, carry, Then::Body(op))
            }
            Then::Body(op) => self.condition(op, values),
            Then::Manual(op) => {
                self.state = State::Waiting(op, values);
                Ok(())
            }
            Then::Future(op) => self.finish(op, vec![Value::Tuple(values.into())]),
        }
    }

    fn region(&self, op: OpId, index: usize) -> Result<BlockId, Fault> {
        let module = self.program.module;
        let region = module.regions(op).get(index);
        let region = region.filter(|region| module.region(**region).blocks.len() == 1);
        region
            .map(|region| module.entry(*region))
            .ok_or_else(|| Fault::unsupported(format!("region {index}, which isn't one block,")))
    }

    /// The operands of an op.
    pub(super) fn operands(&self, op: OpId) -> Result<Vec<Value>, Fault> {
        let outside = Environment(&self.values, self.outside);
        let operands = self.program.module.operands(op).iter();
        operands
            .map(|value| {
                outside
                    .value(*value)
                    .ok_or_else(|| Fault::invalid("an operand is used before it is computed"))
            })
            .collect()
    }

    /// The operands of an op that takes tensors alone.
    pub(super) fn tensors(&self, op: OpId) -> Result<Vec<Tensor>, Fault> {
        self.operands(op)?.iter().map(|value| value.tensor().cloned()).collect()
    }

    fn integer(&self, op: OpId) -> Result<i64, Fault> {
        match self.operands(op)?.first() {
            Some(value) => value.tensor()?.integer(),
            None => Err(Fault::invalid("an operand is missing")),
        }
    }

    /// There is memory for the results of an op, as far as the program states their shapes.
    fn affordable(&self, op: OpId) -> Result<(), Fault> {
        let module = self.program.module;
        let bytes = |value: &ValueId| {
            module
                .tensor_type(*value)
                .map_or(0, |ty| ty.elements().saturating_mul(ty.element.storage_bytes() as u64))
        };
        let total = module.results(op).iter().map(bytes).fold(0, u64::saturating_add);
        if total > MOST_BYTES {
            return Err(Fault::unsupported(format!("a result of {total} bytes")));
        }
        Ok(())
    }
}

/// A tensor of zeros, as what a device gets that nobody sends to.
pub(super) fn zeros_like(tensor: &Tensor) -> Tensor {
    let buffer: Buffer =
        crate::each_width!(tensor.buffer(), |words| vec![Default::default(); words.len()]);
    Tensor::new(tensor.element(), Dims::from_slice(tensor.dims()), buffer)
}
