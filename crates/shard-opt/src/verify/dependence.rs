//! Which arguments each result depends on, and which say how often loops run.

use cranelift_entity::SecondaryMap;
use shard_ir::ops::{Control, Convolution, Creation, Indexing, Movement, Op, Sdy};
use shard_ir::{Module, OpId, RegionId, ValueId};

/// Numbers of arguments, ascending.
pub(super) type Args = Vec<u32>;

/// The union of two sets of arguments.
pub(super) fn join(a: &[u32], b: &[u32]) -> Args {
    let mut all: Args = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What the results of a program depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Dependence {
    /// For each result of the main function, the arguments that may change it.
    pub results: Vec<Args>,
    /// Arguments that say how often a loop runs, or how large a value is: with extreme values the
    /// program may not end, or not fit in memory.
    pub steering: Args,
}

impl Dependence {
    /// Of the main function, into which calls must have been inlined.
    pub fn of(module: &Module) -> Dependence {
        let Some(func) = module.main_func() else { return Dependence::default() };
        let mut walk = Walk { module, on: SecondaryMap::new(), steering: Args::new() };
        for (index, &arg) in module.args(func).iter().enumerate() {
            walk.on[arg] = vec![index as u32];
        }
        let returned = walk.region(module.funcs[func].body);
        Dependence { results: returned, steering: walk.steering }
    }
}

struct Walk<'m> {
    module: &'m Module,
    /// The arguments that a value depends on.
    on: SecondaryMap<ValueId, Args>,
    steering: Args,
}

impl Walk<'_> {
    /// Walks a region, whose parameters are known; returns what each value that it returns depends
    /// on.
    fn region(&mut self, region: RegionId) -> Vec<Args> {
        let module = self.module;
        let mut returned = Vec::new();
        for &block in &module.region(region).blocks {
            for &op in module.block_ops(block) {
                self.op(op);
            }
            let end = module.terminator(block);
            let values = end.map(|end| module.operands(end)).unwrap_or_default();
            returned = values.iter().map(|&value| self.on[value].clone()).collect();
        }
        returned
    }

    fn all(&self, values: &[ValueId]) -> Args {
        values.iter().fold(Args::new(), |all, &value| join(&all, &self.on[value]))
    }

    fn op(&mut self, op: OpId) {
        let module = self.module;
        let operands = module.operands(op);
        self.steering = join(&self.steering, &self.all(sizes(module.kind(op), operands)));
        let results: Vec<Args> = match module.kind(op) {
            Op::Control(Control::While) => self.repeated(op),
            Op::Control(Control::If | Control::Case) => self.branches(op),
            Op::Control(Control::OptimizationBarrier) => {
                operands.iter().map(|&operand| self.on[operand].clone()).collect()
            }
            Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) => self.body(op),
            Op::Control(
                Control::Call(_) | Control::Return | Control::FuncReturn | Control::SdyReturn,
            )
            | Op::Elementwise(_)
            | Op::Creation(_)
            | Op::Movement(_)
            | Op::Indexing(_)
            | Op::Dot(_)
            | Op::Convolution(_)
            | Op::Reduction(_)
            | Op::Sorting(_)
            | Op::Linalg(_)
            | Op::Random(_)
            | Op::Normalization(_)
            | Op::Collective(_)
            | Op::Sdy(_)
            | Op::Effects(_)
            | Op::Custom(_)
            | Op::Hlo(_)
            | Op::Opaque(_) => vec![self.mixed(op); module.results(op).len()],
        };
        for (&result, on) in module.results(op).iter().zip(results) {
            self.on[result] = on;
        }
    }

    /// All that goes into an op, be it into its regions.
    fn mixed(&mut self, op: OpId) -> Args {
        let mut on = self.all(self.module.operands(op));
        for &region in self.module.regions(op) {
            for &param in self.module.params(self.module.entry(region)) {
                self.on[param] = on.clone();
            }
            for value in self.region(region) {
                on = join(&on, &value);
            }
        }
        on
    }

    /// What the values of a loop depend on: on each other, as far as they are carried round, and on
    /// what ends it.
    fn repeated(&mut self, op: OpId) -> Vec<Args> {
        let module = self.module;
        let mut carried: Vec<Args> =
            module.operands(op).iter().map(|&operand| self.on[operand].clone()).collect();
        loop {
            for &region in module.regions(op) {
                for (&param, on) in module.params(module.entry(region)).iter().zip(&carried) {
                    self.on[param] = on.clone();
                }
            }
            let (cond, body) = (module.regions(op)[0], module.regions(op)[1]);
            let end = self.region(cond).pop().unwrap_or_default();
            let again = self.region(body);
            let next: Vec<Args> = carried.iter().zip(&again).map(|(a, b)| join(a, b)).collect();
            if next == carried {
                self.steering = join(&self.steering, &end);
                return carried.iter().map(|on| join(on, &end)).collect();
            }
            carried = next;
        }
    }

    fn branches(&mut self, op: OpId) -> Vec<Args> {
        let module = self.module;
        let which = self.all(module.operands(op));
        let mut results = vec![which; module.results(op).len()];
        for &region in module.regions(op) {
            for (result, on) in results.iter_mut().zip(self.region(region)) {
                *result = join(result, &on);
            }
        }
        results
    }

    /// A region whose parameters are the operands, and which gives the results.
    fn body(&mut self, op: OpId) -> Vec<Args> {
        let module = self.module;
        let Some(&region) = module.regions(op).first() else { return Vec::new() };
        let params = module.params(module.entry(region));
        for (&operand, &param) in module.operands(op).iter().zip(params) {
            self.on[param] = self.on[operand].clone();
        }
        self.region(region)
    }
}

/// The operands that say how large the result is, or what is padded how far.
fn sizes<'v>(op: &Op, operands: &'v [ValueId]) -> &'v [ValueId] {
    let from = match op {
        Op::Creation(Creation::DynamicIota(_)) => 0,
        Op::Movement(
            Movement::DynamicReshape
            | Movement::RealDynamicSlice
            | Movement::DynamicBroadcastInDim(_)
            | Movement::SetDimensionSize(_),
        ) => 1,
        Op::Movement(Movement::DynamicPad)
        | Op::Indexing(Indexing::DynamicGather(_))
        | Op::Convolution(Convolution::DynamicConv(_)) => 2,
        _ => operands.len(),
    };
    operands.get(from..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str) -> Dependence {
        let module = shard_text::parse(source, &shard_text::ParseOptions::default())
            .into_result()
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        Dependence::of(&module)
    }

    #[test]
    fn loops_end_by_what_they_count_alone() {
        let found = of("
func.func @main(%n: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<f32>
   cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.add %s, %s : tensor<f32>
    stablehlo.return %j, %t : tensor<i32>, tensor<f32>
  }
  return %0#1, %y : tensor<f32>, tensor<f32>
}");
        assert_eq!(found.steering, [0]);
        assert_eq!(found.results, [vec![0, 1], vec![2]]);
    }

    #[test]
    fn branches_depend_on_their_index() {
        let found = of("
func.func @main(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = \"stablehlo.if\"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}");
        assert_eq!(found, Dependence { results: vec![vec![0, 1]], steering: vec![] });
    }
}
