//! The names of values as MLIR's printer assigns them: `%0`, `%0:2`, `%arg0`, `%c`, `%cst_1`,
//! `%iterArg`.
//!
//! The values of a region are numbered before those of the regions inside it, and sibling regions
//! begin with the same numbers. A name that is taken gets a number that all such names share.

use cranelift_entity::SecondaryMap;
use shard_ir::ops::{Control, Creation, Normalization, Op, Random, Sorting};
use shard_ir::{BlockId, ElementType, Item, Module, NumberKind, OpId, RegionId, ValueId};

use super::push_number;

/// The words that names begin with.
const WORDS: [&str; 13] = [
    "arg",
    "c",
    "cst",
    "iterArg",
    "values",
    "indices",
    "output_state",
    "output",
    "batch_mean",
    "batch_var",
    "grad_operand",
    "grad_scale",
    "grad_offset",
];
const ARG: u8 = 0;
const NUMBER: u8 = 254;
const NONE: u8 = 255;
const NO_NUMBER: u32 = u32::MAX;

/// The name of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueName {
    word: u8,
    number: u32,
    /// Position in its group of results, if that has several.
    index: u32,
}

impl Default for ValueName {
    fn default() -> Self {
        ValueName { word: NONE, number: 0, index: NO_NUMBER }
    }
}

/// The names of all values of a module.
#[derive(Clone, Debug)]
pub struct Names {
    of: SecondaryMap<ValueId, ValueName>,
}

#[derive(Clone, Copy, Default)]
struct State {
    value: u32,
    arg: u32,
    conflict: u32,
    /// Which words are taken, as bits.
    taken: u32,
}

impl Names {
    /// Names every value of the module. In generic form results have numbers only.
    pub fn new(module: &Module, generic: bool) -> Names {
        let mut of = SecondaryMap::with_capacity(module.value_count());
        of.resize(module.value_count());
        let mut names = Names { of };
        let mut state = State::default();
        let mut stack: Vec<(RegionId, State)> = Vec::new();
        for item in &module.items {
            if let Item::Op(op) = item {
                names.op(module, *op, generic, &mut state);
            }
        }
        for item in &module.items {
            match item {
                Item::Func(func) => stack.push((module.funcs[*func].body, state)),
                Item::Op(op) => {
                    stack.extend(module.regions(*op).iter().map(|region| (*region, state)));
                }
                Item::Mesh(_) => {}
            }
        }
        while let Some((region, mut state)) = stack.pop() {
            names.region(module, region, generic, &mut state);
            for &block in &module.region(region).blocks {
                for &op in module.block_ops(block) {
                    stack.extend(module.regions(op).iter().map(|region| (*region, state)));
                }
            }
        }
        names
    }

    fn region(&mut self, module: &Module, region: RegionId, generic: bool, state: &mut State) {
        let parent =
            module.region(region).blocks.first().and_then(|block| module.parent_op(*block));
        let is_loop = !generic
            && parent.is_some_and(|op| matches!(module.kind(op), Op::Control(Control::While)));
        for (at, &block) in module.region(region).blocks.iter().enumerate() {
            self.block(module, block, at == 0, is_loop, generic, state);
        }
    }

    fn block(
        &mut self,
        module: &Module,
        block: BlockId,
        entry: bool,
        is_loop: bool,
        generic: bool,
        state: &mut State,
    ) {
        for &param in module.params(block) {
            if is_loop && entry {
                self.word(param, 3, state);
            } else if entry {
                self.of[param] = ValueName { word: ARG, number: state.arg, index: NO_NUMBER };
                state.arg += 1;
            } else {
                self.number(param, state);
            }
        }
        for &op in module.block_ops(block) {
            self.op(module, op, generic, state);
        }
    }

    fn word(&mut self, value: ValueId, word: u8, state: &mut State) {
        let bit = 1 << word;
        let mut number = NO_NUMBER;
        if state.taken & bit != 0 {
            number = state.conflict;
            state.conflict += 1;
        }
        state.taken |= bit;
        self.of[value] = ValueName { word, number, index: NO_NUMBER };
    }

    fn number(&mut self, value: ValueId, state: &mut State) {
        self.of[value] = ValueName { word: NUMBER, number: state.value, index: NO_NUMBER };
        state.value += 1;
    }

    fn op(&mut self, module: &Module, op: OpId, generic: bool, state: &mut State) {
        let results = module.results(op);
        let Some(&first) = results.first() else { return };
        if !generic {
            let words: &[u8] = match module.kind(op) {
                Op::Creation(Creation::Constant(_)) => {
                    let integer = module.tensor_type(first).is_some_and(|tensor| {
                        matches!(
                            tensor.element.kind(),
                            NumberKind::Bool | NumberKind::Signed | NumberKind::Unsigned
                        ) && tensor.element != ElementType::Index
                    });
                    if integer { &[1] } else { &[2] }
                }
                Op::Sorting(Sorting::TopK(_)) => &[4, 5],
                Op::Random(Random::RngBitGenerator(_)) => &[6, 7],
                Op::Normalization(Normalization::BatchNormTraining(_)) => &[7, 8, 9],
                Op::Normalization(Normalization::BatchNormGrad(_)) => &[10, 11, 12],
                _ => &[],
            };
            if words.len() == results.len() {
                for (&value, &word) in results.iter().zip(words) {
                    self.word(value, word, state);
                }
                return;
            }
        }
        self.number(first, state);
        if results.len() > 1 {
            let name = self.of[first];
            for (index, &value) in results.iter().enumerate() {
                self.of[value] = ValueName { index: index as u32, ..name };
            }
        }
    }

    /// The name of a value.
    pub fn get(&self, value: ValueId) -> ValueName {
        self.of[value]
    }

    /// The name of a value as it is used, such as `%0#1`.
    pub fn text(&self, value: ValueId) -> String {
        let mut text = String::new();
        self.push(value, &mut text);
        text
    }

    /// Appends the name of a value as it is used.
    pub(super) fn push(&self, value: ValueId, out: &mut String) {
        let name = self.of[value];
        self.push_head(name, out);
        if name.index != NO_NUMBER {
            out.push('#');
            push_number(name.index.into(), out);
        }
    }

    fn push_head(&self, name: ValueName, out: &mut String) {
        out.push('%');
        match name.word {
            NUMBER => push_number(name.number.into(), out),
            NONE => out.push_str("<<unplaced>>"),
            word => {
                out.push_str(WORDS[usize::from(word)]);
                if word == ARG {
                    push_number(name.number.into(), out);
                } else if name.number != NO_NUMBER {
                    out.push('_');
                    push_number(name.number.into(), out);
                }
            }
        }
    }

    /// Appends `%0 = `, `%0:2 = ` or `%a, %b = ` for the results of an op.
    pub(super) fn push_results(&self, results: &[ValueId], out: &mut String) {
        let mut first = true;
        for &value in results {
            let name = self.of[value];
            if name.index != NO_NUMBER && name.index != 0 {
                continue;
            }
            if !first {
                out.push_str(", ");
            }
            first = false;
            self.push_head(name, out);
            if name.index == 0 {
                out.push(':');
                push_number(results.len() as u64, out);
            }
        }
        out.push_str(" = ");
    }
}
