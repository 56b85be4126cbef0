//! What arguments are used for: found by following each through the program, so that the inputs
//! that are drawn keep results alive.

use cranelift_entity::SecondaryMap;
use shard_ir::ops::{
    Control, Creation, Elementwise, Indexing, Movement, Op, Reduction, Sdy, Sorting,
};
use shard_ir::{Dense, DenseData, ElementType, Module, NumberKind, OpId, RegionId, ValueId};

use super::dependence::{Args, Dependence, join};
use super::elements;

/// What is known of the use of an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Role {
    /// It indexes something: values are from 0 to below this.
    pub below: Option<i64>,
    /// Its elements address different places.
    pub distinct: bool,
    /// Its elements are in order.
    pub sorted: bool,
    /// A square root, logarithm or power is taken of it, or of sums and products of it with
    /// positive things.
    pub positive: bool,
    /// It is a running average: a part of it and a part of something else make a result. Small
    /// values leave the something else to be seen.
    pub average: bool,
    /// It is a weight: itself and something else, its update, make a result. Where it is small, the
    /// update is seen.
    pub updated: bool,
    /// It is the kernel of a convolution.
    pub kernel: bool,
    /// Loops run as often, or values are as large, as it says.
    pub steering: bool,
}

/// Products of more factors are taken as they are nested.
const MOST_FACTORS: usize = 8;

/// The roles of the main function's arguments. Calls must have been inlined.
pub fn roles(module: &Module) -> Vec<Role> {
    let Some(func) = module.main_func() else { return Vec::new() };
    let args = module.args(func);
    let mut walk = Walk {
        module,
        roles: vec![Role::default(); args.len()],
        from: SecondaryMap::new(),
        positive: SecondaryMap::new(),
        iota: SecondaryMap::new(),
        share: SecondaryMap::new(),
    };
    for (index, &arg) in args.iter().enumerate() {
        let index = index as u32;
        let Some(ty) = module.tensor_type(arg) else { continue };
        if ty.element.is_integer() {
            walk.from[arg] = vec![index];
        }
        if ty.element.is_integer() || ty.element.is_float() {
            walk.positive[arg] = Some(vec![index]);
            walk.share[arg] = Some(index);
        }
    }
    walk.region(module.funcs[func].body);
    if let Some(end) = module.terminator(module.func_entry(func)) {
        let returned = module.operands(end).to_vec();
        walk.averages(args, &returned);
    }
    for arg in Dependence::of(module).steering {
        walk.roles[arg as usize].steering = true;
    }
    walk.roles
}

struct Walk<'m> {
    module: &'m Module,
    roles: Vec<Role>,
    /// Integer arguments whose values a value consists of.
    from: SecondaryMap<ValueId, Args>,
    /// Arguments that, being positive, make a value positive; `None` if none do.
    positive: SecondaryMap<ValueId, Option<Args>>,
    /// The length of the iota that a value repeats.
    iota: SecondaryMap<ValueId, Option<i64>>,
    /// The argument that a value is a constant part of.
    share: SecondaryMap<ValueId, Option<u32>>,
}

fn join_known(a: &Option<Args>, b: &Option<Args>) -> Option<Args> {
    Some(join(a.as_ref()?, b.as_ref()?))
}

impl Walk<'_> {
    fn region(&mut self, region: RegionId) {
        for &block in &self.module.region(region).blocks {
            for &op in self.module.block_ops(block) {
                self.op(op);
            }
        }
    }

    fn op(&mut self, op: OpId) {
        let module = self.module;
        let operands = module.operands(op);
        let results = module.results(op);
        match module.kind(op) {
            Op::Elementwise(kind) => self.elementwise(op, kind),
            Op::Creation(Creation::Constant(constant)) => {
                self.constant(results[0], &constant.value);
            }
            Op::Sdy(Sdy::SdyConstant(constant)) => self.constant(results[0], &constant.value),
            Op::Creation(Creation::Iota(iota)) => {
                let dims = module.tensor_type(results[0]).map(|ty| ty.dims.clone());
                let dim = usize::try_from(iota.dimension).ok();
                self.iota[results[0]] =
                    dims.zip(dim).and_then(|(dims, dim)| dims.get(dim).copied());
                self.positive[results[0]] = Some(Args::new());
            }
            Op::Creation(Creation::DynamicIota(_)) => {
                self.positive[results[0]] = Some(Args::new());
            }
            Op::Movement(kind) => self.movement(op, kind),
            Op::Indexing(kind) => self.indexing(op, kind),
            Op::Reduction(Reduction::Reduce(_) | Reduction::ReduceWindow(_)) => {
                for (index, &result) in results.iter().enumerate() {
                    self.pass(&[operands[index]], result);
                }
            }
            Op::Sorting(Sorting::Sort(_)) => {
                for (&operand, &result) in operands.iter().zip(results) {
                    self.pass(&[operand], result);
                }
            }
            Op::Sorting(Sorting::TopK(_)) => self.pass(&[operands[0]], results[0]),
            Op::Control(kind) => self.control(op, kind),
            Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) => {
                self.body(op, 0, operands);
                self.returned(op, 0);
            }
            Op::Sdy(_) => {
                if let (Some(&operand), Some(&result)) = (operands.first(), results.first()) {
                    self.pass(&[operand], result);
                }
            }
            Op::Custom(_) | Op::Collective(_) => {
                for (&operand, &result) in operands.iter().zip(results) {
                    self.pass(&[operand], result);
                }
            }
            Op::Dot(_) | Op::Convolution(_) => {
                if let (Op::Convolution(_), &[_, kernel]) = (module.kind(op), operands)
                    && let Some(arg) = self.share[kernel]
                {
                    self.roles[arg as usize].kernel = true;
                }
                if let (&[a, b], Some(&result)) = (operands, results.first()) {
                    self.positive[result] = join_known(&self.positive[a], &self.positive[b]);
                }
            }
            Op::Reduction(Reduction::SelectAndScatter(_))
            | Op::Linalg(_)
            | Op::Random(_)
            | Op::Normalization(_)
            | Op::Effects(_)
            | Op::Hlo(_)
            | Op::Opaque(_) => {
                for &region in module.regions(op) {
                    self.region(region);
                }
            }
        }
    }

    /// The result consists of the operands' values.
    fn pass(&mut self, operands: &[ValueId], result: ValueId) {
        let mut from = std::mem::take(&mut self.from[result]);
        let mut positive = Some(Args::new());
        for &operand in operands {
            from = join(&from, &self.from[operand]);
            positive = join_known(&positive, &self.positive[operand]);
        }
        self.from[result] = from;
        self.positive[result] = positive;
        if let &[operand] = operands {
            self.iota[result] = self.iota[operand];
            self.share[result] = self.share[operand];
        }
    }

    fn constant(&mut self, result: ValueId, value: &Dense) {
        let Some(ty) = self.module.ty(value.ty).as_tensor() else { return };
        if is_positive(ty.element, &value.data) {
            self.positive[result] = Some(Args::new());
        }
    }

    fn is_constant(&self, value: ValueId) -> bool {
        let Some(op) = self.module.defining_op(value) else { return false };
        match self.module.kind(op) {
            Op::Creation(Creation::Constant(_)) => true,
            Op::Movement(Movement::BroadcastInDim(_) | Movement::Reshape) => {
                self.is_constant(self.module.operand(op, 0))
            }
            Op::Elementwise(Elementwise::Convert) => self.is_constant(self.module.operand(op, 0)),
            _ => false,
        }
    }

    fn elementwise(&mut self, op: OpId, kind: &Elementwise) {
        use Elementwise::*;
        let operands = self.module.operands(op);
        let result = self.module.result(op, 0);
        match (kind, operands) {
            (Convert | Ceil | Floor | RoundNearestAfz | RoundNearestEven, &[x])
            | (ReducePrecision(_), &[x]) => self.pass(&[x], result),
            (Abs | Exponential | Logistic | Square | Cosh | IsFinite, _) => {
                self.positive[result] = Some(Args::new());
            }
            (Sqrt | Rsqrt | Log | LogPlusOne | Cbrt | Lgamma | Digamma, &[x]) => {
                self.needs_positive(x);
                self.positive[result] = Some(Args::new());
            }
            (Sign | Tanh | Erf | Sine, &[x]) => self.positive[result] = self.positive[x].clone(),
            (Power, &[base, exponent]) => {
                if self.is_constant(exponent) {
                    // A square says nothing about the sign of its base.
                    self.positive[result] = Some(Args::new());
                } else {
                    self.needs_positive(base);
                    self.needs_positive(exponent);
                    self.positive[result] = self.positive[base].clone();
                }
            }
            (Multiply | Divide, &[a, b]) => {
                self.positive[result] = match kind {
                    Multiply => self.product(result),
                    _ => join_known(&self.positive[a], &self.positive[b]),
                };
                self.share[result] = match (self.share[a], self.share[b]) {
                    (Some(arg), None) if self.is_constant(b) => Some(arg),
                    (None, Some(arg)) if self.is_constant(a) => Some(arg),
                    _ => None,
                };
                self.from[result] = self.either(a, b);
            }
            (Add, &[a, b]) => {
                self.positive[result] = join_known(&self.positive[a], &self.positive[b]);
                self.from[result] = self.either(a, b);
                self.iota[result] = self.iota[a].or(self.iota[b]);
            }
            (Subtract, &[a, b]) => {
                // 1 - beta^t is the one difference that programs divide by and take roots of.
                let known = self.is_constant(a) && self.positive[a].is_some();
                self.positive[result] = if known { self.positive[b].clone() } else { None };
                self.from[result] = self.either(a, b);
                self.iota[result] = self.iota[a].or(self.iota[b]);
            }
            (Remainder, &[a, _]) => {
                self.positive[result] = self.positive[a].clone();
                self.from[result] = self.from[a].clone();
            }
            (Maximum, &[a, b]) => {
                self.positive[result] = match (&self.positive[a], &self.positive[b]) {
                    (Some(a), Some(b)) => Some(if a.len() <= b.len() { a } else { b }.clone()),
                    (known, other) => known.clone().or(other.clone()),
                };
                self.from[result] = self.either(a, b);
            }
            (Minimum, &[a, b]) => self.pass(&[a, b], result),
            (Clamp, &[low, x, _]) => {
                self.pass(&[x], result);
                if self.positive[low].as_ref().is_some_and(Vec::is_empty) {
                    self.positive[result] = Some(Args::new());
                }
            }
            (Select, &[_, a, b]) => self.pass(&[a, b], result),
            (Compare(_), &[a, b]) => {
                for (index, other) in [(a, b), (b, a)] {
                    if let Some(length) = self.iota[other] {
                        self.bound(index, length);
                    }
                }
            }
            _ => {}
        }
    }

    /// What makes a product positive: squares of anything are, however the factors are nested.
    fn product(&self, result: ValueId) -> Option<Args> {
        let mut factors = Vec::new();
        let mut stack = vec![result];
        while let Some(value) = stack.pop() {
            let op = self.module.defining_op(value);
            match op.map(|op| (self.module.kind(op), self.module.operands(op))) {
                Some((Op::Elementwise(Elementwise::Multiply), operands))
                    if factors.len() + stack.len() < MOST_FACTORS =>
                {
                    stack.extend_from_slice(operands);
                }
                _ => match factors.iter().position(|factor| *factor == value) {
                    Some(at) => {
                        factors.swap_remove(at);
                    }
                    None => factors.push(value),
                },
            }
        }
        let mut positive = Some(Args::new());
        for factor in factors {
            positive = join_known(&positive, &self.positive[factor]);
        }
        positive
    }

    fn either(&self, a: ValueId, b: ValueId) -> Args {
        join(&self.from[a], &self.from[b])
    }

    fn needs_positive(&mut self, value: ValueId) {
        for arg in self.positive[value].clone().unwrap_or_default() {
            self.roles[arg as usize].positive = true;
        }
    }

    /// What a value is made of indexes something of so many elements.
    fn bound(&mut self, index: ValueId, length: i64) {
        if length < 2 {
            return;
        }
        for &arg in &self.from[index] {
            let below = &mut self.roles[arg as usize].below;
            *below = Some(below.map_or(length, |below| below.min(length)));
        }
    }

    fn movement(&mut self, op: OpId, kind: &Movement) {
        let operands = self.module.operands(op);
        let result = self.module.result(op, 0);
        match kind {
            Movement::Concatenate(_) => self.pass(operands, result),
            Movement::Pad(_) | Movement::DynamicPad => self.pass(&operands[..2], result),
            Movement::DynamicUpdateSlice => {
                self.starts(operands[0], &operands[2..], self.dims(operands[1]));
                self.pass(&operands[..2], result);
            }
            Movement::DynamicSlice(slice) => {
                self.starts(operands[0], &operands[1..], slice.sizes.to_vec());
                self.pass(&operands[..1], result);
            }
            _ => self.pass(&operands[..1], result),
        }
    }

    fn dims(&self, value: ValueId) -> Vec<i64> {
        self.module.tensor_type(value).map_or(Vec::new(), |ty| ty.dims.to_vec())
    }

    fn starts(&mut self, whole: ValueId, starts: &[ValueId], sizes: Vec<i64>) {
        let whole = self.dims(whole);
        for ((&start, whole), size) in starts.iter().zip(whole).zip(sizes) {
            self.bound(start, whole - size + 1);
        }
    }

    fn indexing(&mut self, op: OpId, kind: &Indexing) {
        let operands = self.module.operands(op);
        let results = self.module.results(op);
        match kind {
            Indexing::Gather(gather) => {
                let whole = self.dims(operands[0]);
                for &dim in &gather.dims.start_index_map {
                    let at = usize::try_from(dim).unwrap_or(usize::MAX);
                    if let (Some(whole), Some(size)) = (whole.get(at), gather.slice_sizes.get(at)) {
                        self.bound(operands[1], whole - size + 1);
                    }
                }
                self.order(operands[1], gather.sorted == Some(true), false);
                self.pass(&operands[..1], results[0]);
            }
            Indexing::DynamicGather(gather) => {
                self.order(operands[1], gather.sorted == Some(true), false);
                self.pass(&operands[..1], results[0]);
            }
            Indexing::Scatter(scatter) => {
                let inputs = results.len();
                let whole = self.dims(operands[0]);
                for &dim in &scatter.dims.scatter_dims_to_operand_dims {
                    let at = usize::try_from(dim).unwrap_or(usize::MAX);
                    if let Some(&whole) = whole.get(at) {
                        self.bound(operands[inputs], whole);
                    }
                }
                self.order(
                    operands[inputs],
                    scatter.sorted == Some(true),
                    scatter.unique == Some(true),
                );
                for (index, &result) in results.iter().enumerate() {
                    self.pass(&[operands[index], operands[inputs + 1 + index]], result);
                }
            }
            Indexing::TorchIndexSelect(select) => {
                let at = usize::try_from(select.dim).unwrap_or(usize::MAX);
                if let Some(&whole) = self.dims(operands[0]).get(at) {
                    self.bound(operands[1], whole);
                }
                self.pass(&operands[..1], results[0]);
            }
        }
    }

    fn order(&mut self, indices: ValueId, sorted: bool, distinct: bool) {
        for &arg in &self.from[indices] {
            self.roles[arg as usize].sorted |= sorted;
            self.roles[arg as usize].distinct |= distinct;
        }
    }

    fn control(&mut self, op: OpId, kind: &Control) {
        let operands = self.module.operands(op);
        let results = self.module.results(op);
        match kind {
            Control::While => {
                // Twice: what the body returns comes in again.
                for _ in 0..2 {
                    self.body(op, 0, operands);
                    self.body(op, 1, operands);
                    self.carry(op);
                }
                let region = self.module.regions(op)[1];
                let params = self.module.params(self.module.entry(region));
                for (&param, &result) in params.iter().zip(results) {
                    self.pass(&[param], result);
                }
            }
            Control::If => {
                for region in 0..2 {
                    self.body(op, region, &[]);
                    self.returned(op, region);
                }
            }
            Control::Case => {
                let branches = self.module.regions(op).len();
                self.bound(operands[0], branches as i64);
                for region in 0..branches {
                    self.body(op, region, &[]);
                    self.returned(op, region);
                }
            }
            Control::OptimizationBarrier => {
                for (&operand, &result) in operands.iter().zip(results) {
                    self.pass(&[operand], result);
                }
            }
            Control::Call(_) | Control::Return | Control::FuncReturn | Control::SdyReturn => {}
        }
    }

    /// Walks a region whose parameters are the operands.
    fn body(&mut self, op: OpId, region: usize, operands: &[ValueId]) {
        let Some(&region) = self.module.regions(op).get(region) else { return };
        let params = self.module.params(self.module.entry(region));
        for (&operand, &param) in operands.iter().zip(params) {
            self.from[param] = self.either(operand, param);
            self.positive[param] = self.positive[operand].clone();
        }
        self.region(region);
    }

    /// What a loop's body returns is what its parameters are the next time.
    fn carry(&mut self, op: OpId) {
        let region = self.module.regions(op)[1];
        let block = self.module.entry(region);
        let Some(end) = self.module.terminator(block) else { return };
        let params = self.module.params(block);
        for (&value, &param) in self.module.operands(end).iter().zip(params) {
            self.from[param] = self.either(value, param);
        }
    }

    /// What a region returns is what the op gives.
    fn returned(&mut self, op: OpId, region: usize) {
        let Some(&region) = self.module.regions(op).get(region) else { return };
        let Some(end) = self.module.terminator(self.module.entry(region)) else { return };
        for (&value, &result) in self.module.operands(end).iter().zip(self.module.results(op)) {
            self.pass(&[value], result);
        }
    }

    /// Arguments that return as themselves, or a part of themselves, and something else.
    fn averages(&mut self, args: &[ValueId], returned: &[ValueId]) {
        for &value in returned {
            let Some(op) = self.module.defining_op(value) else { continue };
            if !matches!(
                self.module.kind(op),
                Op::Elementwise(Elementwise::Add | Elementwise::Subtract)
            ) {
                continue;
            }
            let operands = self.module.operands(op);
            for (part, other) in [(operands[0], operands[1]), (operands[1], operands[0])] {
                let Some(arg) = self.share[part] else { continue };
                let whole = args[arg as usize];
                let same = self.module.value_type(whole) == self.module.value_type(value);
                if same && !self.is_constant(other) && self.share[other] != Some(arg) {
                    self.roles[arg as usize].average |= part != whole;
                    self.roles[arg as usize].updated |= part == whole;
                }
            }
        }
    }
}

/// Whether every element of a constant is zero or more.
fn is_positive(element: ElementType, data: &DenseData) -> bool {
    let width = element.storage_bytes();
    let positive = |bytes: &[u8]| match element.kind() {
        NumberKind::Float => elements::float(element, bytes) >= 0.0,
        NumberKind::Signed | NumberKind::Unsigned => elements::integer(element, bytes) >= 0,
        NumberKind::Bool | NumberKind::Complex | NumberKind::Quantized => false,
    };
    match data {
        DenseData::Splat(bytes) => positive(bytes),
        DenseData::Bytes(bytes) if width > 0 => bytes.bytes().chunks_exact(width).all(positive),
        DenseData::Bytes(_) | DenseData::Resource(_) | DenseData::Text(_) => false,
    }
}
