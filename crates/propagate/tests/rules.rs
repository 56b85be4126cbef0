//! The rule of every kind of op, as sdy would write it.

use shard_ir::ops::*;
use shard_ir::{
    Attr, BlockId, Builder, ElementType, LocId, Module, OpId, RegionId, TypeId, ValueId,
};
use shard_propagate::rules::{Reducer, region_reducer, rule, rule_with};
use shard_propagate::{FactorKind, OpRule};

const F32: ElementType = ElementType::F32;

/// A module under construction.
#[derive(Default)]
struct Program {
    module: Module,
    block: Option<BlockId>,
}

impl Program {
    fn value(&mut self, shape: &[i64]) -> ValueId {
        let ty = self.module.tensor(F32, shape.iter().copied());
        let block = match self.block {
            Some(block) => block,
            None => {
                let region = self.module.new_region();
                *self.block.insert(self.module.new_block(region))
            }
        };
        self.module.new_param(block, ty)
    }

    fn op_with(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        results: &[&[i64]],
        regions: &[RegionId],
    ) -> OpId {
        let results: Vec<TypeId> =
            results.iter().map(|shape| self.module.tensor(F32, shape.iter().copied())).collect();
        self.module.new_op(op, operands, &results, regions, LocId::UNKNOWN)
    }

    fn op(&mut self, op: impl Into<Op>, operands: &[&[i64]], results: &[&[i64]]) -> OpId {
        let operands: Vec<ValueId> = operands.iter().map(|shape| self.value(shape)).collect();
        self.op_with(op, &operands, results, &[])
    }

    /// A region that applies `kind` to its pairs of scalar parameters.
    fn reducer(&mut self, kind: &Elementwise, count: usize, element: ElementType) -> RegionId {
        let ty = self.module.tensor(element, []);
        let region = self.module.new_region();
        let block = self.module.new_block(region);
        let params: Vec<ValueId> =
            (0..2 * count).map(|_| self.module.new_param(block, ty)).collect();
        let mut body = Builder::at_end(&mut self.module, block);
        let returned: Vec<ValueId> = (0..count)
            .map(|index| body.typed(kind.clone(), &[params[index], params[count + index]], ty))
            .collect();
        body.op_typed(Control::Return, &returned, &[], &[]);
        region
    }

    fn rule_of(&self, op: OpId) -> OpRule {
        rule(&self.module, op).expect("a rule")
    }

    fn text(&self, op: OpId) -> String {
        self.rule_of(op).to_string()
    }
}

fn text(op: impl Into<Op>, operands: &[&[i64]], results: &[&[i64]]) -> String {
    let mut program = Program::default();
    let op = program.op(op, operands, results);
    let rule = program.rule_of(op);
    for dim in rule.tensors().flatten() {
        assert!(!dim.is_empty());
        assert!(dim.iter().all(|&factor| factor < rule.factors.len()));
    }
    // What is written is read back, up to the combiners.
    let text = rule.to_string();
    assert_eq!(text.parse::<OpRule>().expect("a rule that parses").to_string(), text);
    text
}

fn dims(numbers: &[i64]) -> shard_ir::Dims {
    numbers.iter().copied().collect()
}

#[test]
fn elementwise() {
    assert_eq!(text(Elementwise::Tanh, &[&[8, 4]], &[&[8, 4]]), "([i, j])->([i, j]) {i=8, j=4}");
    assert_eq!(
        text(Elementwise::Select, &[&[], &[8, 4], &[8, 4]], &[&[8, 4]]),
        "([], [i, j], [i, j])->([i, j]) {i=8, j=4}"
    );
    assert_eq!(text(Elementwise::Add, &[&[], &[]], &[&[]]), "([], [])->([])");
    let shape = [2i64; 20];
    let many = text(Elementwise::Abs, &[&shape], &[&shape]);
    assert!(many.contains("y, z, z_1, z_2]"), "{many}");
}

#[test]
fn unknown_sizes_are_blocked() {
    let shape = [shard_ir::DYNAMIC, 8];
    let mut program = Program::default();
    let op = program.op(Elementwise::Abs, &[&shape], &[&shape]);
    let rule = program.rule_of(op);
    assert!(rule.factors[0].blocked && !rule.factors[1].blocked);
}

#[test]
fn dots() {
    let batched = DotGeneral {
        dims: DotDims {
            lhs_batch: dims(&[0]),
            rhs_batch: dims(&[2]),
            lhs_contracting: dims(&[1]),
            rhs_contracting: dims(&[0]),
        },
        precision: Precisions::default(),
        algorithm: None,
    };
    assert_eq!(
        text(batched, &[&[2, 32, 8], &[32, 16, 2]], &[&[2, 8, 16]]),
        "([i, l, j], [l, k, i])->([i, j, k]) {i=2, j=8, k=16, l=32} reduction={l}"
    );
    let plain = || DotPlain { precision: Precisions::default() };
    assert_eq!(
        text(plain(), &[&[8, 32], &[32, 16]], &[&[8, 16]]),
        "([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"
    );
    assert_eq!(
        text(plain(), &[&[32], &[32, 16]], &[&[16]]),
        "([j], [j, i])->([i]) {i=16, j=32} reduction={j}"
    );
}

#[test]
fn reshapes() {
    let reshape = |from: &[i64], to: &[i64]| text(Movement::Reshape, &[from], &[to]);
    assert_eq!(reshape(&[8], &[2, 4]), "([ij])->([i, j]) {i=2, j=4}");
    assert_eq!(reshape(&[2, 4, 32], &[8, 32]), "([i, j, k])->([ij, k]) {i=2, j=4, k=32}");
    assert_eq!(reshape(&[8, 4], &[2, 16]), "([ij, k])->([i, jk]) {i=2, j=4, k=4}");
    assert_eq!(
        reshape(&[1, 8], &[8, 1]),
        "([i, j])->([j, k]) {i=1, j=8, k=1} need_replication={i, k}"
    );
    assert_eq!(reshape(&[], &[1]), "([])->([i]) {i=1} need_replication={i}");
    assert_eq!(
        reshape(&[6, 4], &[4, 6]),
        "([ij, lm])->([ij, km]) {i=2, j=3, k=3, l=2, m=2} need_replication={k, l} permutation={j}"
    );
    assert_eq!(
        reshape(&[2, 3, 5], &[3, 2, 5]),
        "([i, j, l])->([i, k, l]) {i=2, j=3, k=2, l=5} need_replication={j, k} permutation={i}"
    );
    // A tensor without elements.
    let mut program = Program::default();
    let op = program.op(Movement::Reshape, &[&[0, 4]], &[&[0]]);
    assert_eq!(rule(&program.module, op), None);
}

#[test]
fn movement() {
    let broadcast = BroadcastInDim { dimensions: dims(&[0, 2]) };
    assert_eq!(
        text(broadcast, &[&[4, 1]], &[&[4, 8, 16]]),
        "([i, k])->([i, j, l]) {i=4, j=8, k=1, l=16}"
    );
    assert_eq!(
        text(Transpose { permutation: dims(&[1, 2, 0]) }, &[&[2, 4, 8]], &[&[4, 8, 2]]),
        "([k, i, j])->([i, j, k]) {i=4, j=8, k=2}"
    );
    let slice = Slice { start: dims(&[0, 0]), limit: dims(&[8, 2]), strides: dims(&[1, 1]) };
    assert_eq!(
        text(slice, &[&[8, 4]], &[&[8, 2]]),
        "([i, j])->([i, j]) {i=8, j=4} permutation={j}"
    );
    assert_eq!(
        text(DynamicSlice { sizes: dims(&[8, 2]) }, &[&[8, 4], &[], &[]], &[&[8, 2]]),
        "([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}"
    );
    assert_eq!(
        text(Movement::DynamicUpdateSlice, &[&[8, 4], &[8, 2], &[], &[]], &[&[8, 4]]),
        "([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} permutation={j, k}"
    );
    let pad = |low, high| Pad { low: dims(low), high: dims(high), interior: dims(&[0, 0]) };
    assert_eq!(
        text(pad(&[0, 1], &[0, 1]), &[&[8, 4], &[]], &[&[8, 6]]),
        "([i, j], [])->([i, j]) {i=8, j=4} permutation={j}"
    );
    assert_eq!(
        text(pad(&[1, 0], &[-1, 0]), &[&[8, 4], &[]], &[&[8, 4]]),
        "([i, j], [])->([i, j]) {i=8, j=4} permutation={i}"
    );
    assert_eq!(
        text(Reverse { dimensions: dims(&[1]) }, &[&[8, 4]], &[&[8, 4]]),
        "([i, j])->([i, j]) {i=8, j=4} permutation={j}"
    );
    assert_eq!(
        text(Concatenate { dimension: 0 }, &[&[8, 4], &[2, 4]], &[&[10, 4]]),
        "([i, j], [i, j])->([i, j]) {i=10, j=4} need_replication={i}"
    );
    assert_eq!(
        text(Movement::BitcastConvert, &[&[8, 4]], &[&[8, 4, 2]]),
        "([i, j])->([i, j, k]) {i=8, j=4, k=2} need_replication={k}"
    );
}

#[test]
fn conservative_rules_block_what_may_not_divide() {
    let mut program = Program::default();
    let op = program.op(Concatenate { dimension: 0 }, &[&[8, 4], &[2, 4]], &[&[10, 4]]);
    let rule = rule_with(&program.module, op, true).expect("a rule");
    assert_eq!(rule.to_string(), "([j, i], [k, i])->([l, i]) {i=4, j=1, k=1, l=1}");
}

#[test]
fn a_roll_is_a_permutation() {
    let mut program = Program::default();
    let x = program.value(&[8]);
    let slice = |from, to| Slice { start: dims(&[from]), limit: dims(&[to]), strides: dims(&[1]) };
    let left = program.op_with(slice(0, 3), &[x], &[&[3]], &[]);
    let right = program.op_with(slice(3, 8), &[x], &[&[5]], &[]);
    let parts = [program.module.result(right, 0), program.module.result(left, 0)];
    let op = program.op_with(Concatenate { dimension: 0 }, &parts, &[&[8]], &[]);
    assert_eq!(program.text(op), "([i], [i])->([i]) {i=8} permutation={i}");
    // A tensor with a piece of itself before it is one too.
    let around = program.op_with(Concatenate { dimension: 0 }, &[parts[1], x], &[&[11]], &[]);
    assert_eq!(program.text(around), "([i], [i])->([i]) {i=11} permutation={i}");
}

#[test]
fn reductions() {
    let mut program = Program::default();
    let region = program.reducer(&Elementwise::Maximum, 1, F32);
    let operands = [program.value(&[8, 4, 2]), program.value(&[])];
    let reduce = Reduce { dimensions: dims(&[1]) };
    let op = program.op_with(reduce, &operands, &[&[8, 2]], &[region]);
    let rule = program.rule_of(op);
    assert_eq!(rule.to_string(), "([i, j, k], [])->([i, k]) {i=8, j=4, k=2} reduction={j}");
    assert_eq!(rule.factors[1].kind, FactorKind::Reduction(Reducer::Max));
}

#[test]
fn windows() {
    let window = |padding: Option<Padding>| ReduceWindow {
        window: dims(&[1, 3]),
        strides: None,
        base_dilations: None,
        window_dilations: None,
        padding,
    };
    assert_eq!(
        text(window(None), &[&[8, 6], &[]], &[&[8, 4]]),
        "([i, j], [])->([i, j]) {i=8, j=4} permutation={j}"
    );
    let padding: Padding = [[1, 0], [2, 0]].into_iter().collect();
    assert_eq!(
        text(window(Some(padding)), &[&[8, 6], &[]], &[&[9, 6]]),
        "([i, j], [])->([i, j]) {i=9, j=6} permutation={i, j}"
    );
    let select = SelectAndScatter {
        window: Some(dims(&[1, 2])),
        strides: Some(dims(&[1, 2])),
        padding: None,
    };
    assert_eq!(
        text(select, &[&[8, 6], &[8, 3], &[]], &[&[8, 6]]),
        "([i, k], [i, j], [])->([i, k]) {i=8, j=3, k=6} need_replication={j} permutation={k}"
    );
}

#[test]
fn reducers_are_read_from_regions() {
    let mut program = Program::default();
    let cases = [
        (Elementwise::Add, F32, Reducer::Sum),
        (Elementwise::Multiply, F32, Reducer::Product),
        (Elementwise::Minimum, F32, Reducer::Min),
        (Elementwise::Or, ElementType::I32, Reducer::Or),
        (Elementwise::Xor, ElementType::I32, Reducer::Xor),
        (Elementwise::Add, ElementType::I1, Reducer::Or),
        (Elementwise::Minimum, ElementType::I1, Reducer::And),
        (Elementwise::Subtract, F32, Reducer::Other),
    ];
    for (kind, element, expected) in cases {
        for count in [1, 2] {
            let region = program.reducer(&kind, count, element);
            assert_eq!(region_reducer(&program.module, region, count), expected, "{kind:?}");
        }
    }
}

#[test]
fn a_reducer_is_seen_through_a_constraint() {
    let mut program = Program::default();
    let region = program.reducer(&Elementwise::Add, 1, F32);
    let block = program.module.entry(region);
    let (sum, last) = (program.module.block_ops(block)[0], program.module.block_ops(block)[1]);
    let mesh = program.module.inline_mesh(shard_ir::sharding::Mesh::new(&[("x", 2)]));
    let sharding = shard_ir::sharding::TensorSharding::fully_replicated(mesh, 0);
    let sharding = program.module.sharding_id(sharding);
    let value = program.module.result(sum, 0);
    let op = program.op_with(ShardingConstraint { sharding }, &[value], &[&[]], &[]);
    program.module.block_mut(block).ops.insert(1, op);
    let constrained = program.module.result(op, 0);
    program.module.set_operands(last, &[constrained]);
    assert_eq!(region_reducer(&program.module, region, 1), Reducer::Sum);
}

/// Input b, 0, 1, f; kernel 0, 1, i, o; output b, 0, 1, f.
fn conv(feature_groups: i64, batch_groups: i64) -> Conv {
    Conv {
        strides: None,
        padding: None,
        lhs_dilation: None,
        rhs_dilation: None,
        reversal: None,
        dims: ConvDims {
            input_batch: 0,
            input_feature: 3,
            input_spatial: dims(&[1, 2]),
            kernel_input_feature: 2,
            kernel_output_feature: 3,
            kernel_spatial: dims(&[0, 1]),
            output_batch: 0,
            output_feature: 3,
            output_spatial: dims(&[1, 2]),
        },
        feature_groups,
        batch_groups,
        precision: Precisions::default(),
    }
}

#[test]
fn convolutions() {
    // The kernel's spatial dimensions have factors of their own where the input has none left.
    assert_eq!(
        text(conv(1, 1), &[&[2, 32, 32, 16], &[3, 1, 16, 64]], &[&[2, 30, 32, 64]]),
        "([i, j, l, m], [k, o, m, n])->([i, j, l, n]) \
         {i=2, j=30, k=3, l=32, m=16, n=64, o=1} reduction={m} permutation={j, k, l}"
    );
    assert_eq!(
        text(conv(1, 1), &[&[2, 32, 8, 16], &[3, 8, 16, 64]], &[&[2, 10, 1, 64]]),
        "([i, jk, l, m], [k, l, m, n])->([i, j, o, n]) \
         {i=2, j=10, k=3, l=8, m=16, n=64, o=1} reduction={k, l, m} permutation={j}"
    );
    assert_eq!(
        text(conv(4, 1), &[&[2, 8, 8, 16], &[1, 1, 4, 8]], &[&[2, 8, 8, 8]]),
        "([i, j, k, lm], [o, p, m, ln])->([i, j, k, ln]) \
         {i=2, j=8, k=8, l=4, m=4, n=2, o=1, p=1} reduction={m} permutation={j, k}"
    );
    assert_eq!(
        text(conv(1, 2), &[&[4, 8, 8, 16], &[8, 8, 16, 8]], &[&[2, 1, 1, 8]]),
        "([ij, k, l, m], [k, l, m, in])->([j, o, p, in]) \
         {i=2, j=2, k=8, l=8, m=16, n=4, o=1, p=1} reduction={k, l, m}"
    );
}

#[test]
fn gathers() {
    // An embedding: a table of 1000 x 64, indices 8 x 128.
    let embedding = Gather {
        dims: GatherDims {
            offset_dims: dims(&[2]),
            collapsed_slice_dims: dims(&[0]),
            start_index_map: dims(&[0]),
            index_vector_dim: 2,
            ..GatherDims::default()
        },
        slice_sizes: dims(&[1, 64]),
        sorted: Some(false),
    };
    assert_eq!(
        text(embedding, &[&[1000, 64], &[8, 128, 1]], &[&[8, 128, 64]]),
        "([l, k], [i, j, m])->([i, j, k]) {i=8, j=128, k=64, l=1000, m=1} \
         reduction={l} need_replication={m}"
    );
    // A batching dimension, an uncollapsed slice of size one, and a slice of several rows.
    let batched = Gather {
        dims: GatherDims {
            offset_dims: dims(&[1, 2]),
            operand_batching_dims: dims(&[0]),
            start_indices_batching_dims: dims(&[0]),
            start_index_map: dims(&[1, 2]),
            index_vector_dim: 1,
            ..GatherDims::default()
        },
        slice_sizes: dims(&[1, 1, 3]),
        sorted: Some(false),
    };
    assert_eq!(
        text(batched, &[&[4, 6, 8], &[4, 2]], &[&[4, 1, 3]]),
        "([i, j, l], [i, m])->([i, k, l]) {i=4, j=6, k=1, l=8, m=2} \
         reduction={j} need_replication={k, l, m} blocked_propagation={l}"
    );
}

#[test]
fn scatters() {
    let scatter = || Scatter {
        dims: ScatterDims {
            update_window_dims: dims(&[1]),
            inserted_window_dims: dims(&[0]),
            scatter_dims_to_operand_dims: dims(&[0]),
            index_vector_dim: 1,
            ..ScatterDims::default()
        },
        sorted: Some(false),
        unique: Some(false),
    };
    let mut program = Program::default();
    let region = program.reducer(&Elementwise::Add, 1, F32);
    let operands = [program.value(&[1000, 64]), program.value(&[8, 1]), program.value(&[8, 64])];
    let op = program.op_with(scatter(), &operands, &[&[1000, 64]], &[region]);
    assert_eq!(
        program.text(op),
        "([k, j], [i, l], [i, j])->([k, j]) {i=8, j=64, k=1000, l=1} \
         reduction={i} need_replication={l}"
    );
    // What the region computes can't be put together from parts.
    let region = program.reducer(&Elementwise::Subtract, 1, F32);
    let op = program.op_with(scatter(), &operands, &[&[1000, 64]], &[region]);
    assert_eq!(
        program.text(op),
        "([k, j], [i, l], [i, j])->([k, j]) {i=8, j=64, k=1000, l=1} need_replication={i, l}"
    );
}

#[test]
fn sorts() {
    let sort = |dimension| Sort { dimension, stable: Some(false) };
    assert_eq!(
        text(sort(-1), &[&[8, 4], &[8, 4]], &[&[8, 4], &[8, 4]]),
        "([i, j], [i, j])->([i, j], [i, j]) {i=8, j=4} need_replication={j}"
    );
    assert_eq!(
        text(sort(0), &[&[8, 1]], &[&[8, 1]]),
        "([i, j])->([i, j]) {i=8, j=1} need_replication={i} blocked_propagation={i}"
    );
    assert_eq!(
        text(TopK { k: 2 }, &[&[8, 4]], &[&[8, 2], &[8, 2]]),
        "([i, j])->([i, j], [i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}"
    );
}

#[test]
fn linear_algebra() {
    assert_eq!(
        text(Cholesky { lower: Some(true) }, &[&[2, 8, 8]], &[&[2, 8, 8]]),
        "([i, j, k])->([i, j, k]) {i=2, j=8, k=8} need_replication={j, k}"
    );
    let solve = |left_side, transpose_a| TriangularSolve {
        left_side,
        lower: true,
        unit_diagonal: false,
        transpose_a,
    };
    assert_eq!(
        text(solve(true, TransposeKind::No), &[&[8, 8], &[8, 4]], &[&[8, 4]]),
        "([i, k], [i, j])->([k, j]) {i=8, j=4, k=8} need_replication={i, j, k}"
    );
    assert_eq!(
        text(solve(false, TransposeKind::Transpose), &[&[8, 8], &[4, 8]], &[&[4, 8]]),
        "([j, k], [i, j])->([i, k]) {i=4, j=8, k=8} need_replication={i, j, k}"
    );
    let fft = Fft { kind: FftType::Rfft, length: dims(&[8, 8]) };
    assert_eq!(
        text(fft, &[&[4, 8, 8]], &[&[4, 8, 5]]),
        "([i, j, k])->([i, j, k]) {i=4, j=8, k=8} need_replication={j, k} blocked_propagation={k}"
    );
}

#[test]
fn random_and_normalisation() {
    let generator = RngBitGenerator { algorithm: RngAlgorithm::ThreeFry };
    assert_eq!(
        text(generator, &[&[2]], &[&[2], &[8, 4]]),
        "([i])->([i], [j, k]) {i=2, j=8, k=4} need_replication={i} blocked_propagation={i}"
    );
    let inference = BatchNormInference { epsilon: FloatBits(0), feature: 1 };
    assert_eq!(
        text(inference, &[&[8, 4], &[4], &[4], &[4], &[4]], &[&[8, 4]]),
        "([i, j], [j], [j], [j], [j])->([i, j]) {i=8, j=4}"
    );
    let training = BatchNormTraining { epsilon: FloatBits(0), feature: 1 };
    assert_eq!(
        text(training, &[&[8, 4], &[4], &[4]], &[&[8, 4], &[4], &[4]]),
        "([i, j], [j], [j])->([i, j], [j], [j]) {i=8, j=4} need_replication={i}"
    );
}

#[test]
fn collectives() {
    let groups = || shard_ir::sharding::Groups::list([&[0i64, 1][..]]);
    let gather =
        AllGather { dimension: 0, groups: groups(), channel: None, global_ids: Flag(false) };
    assert_eq!(
        text(gather, &[&[4, 8]], &[&[8, 8]]),
        "([j, i])->([k, i]) {i=8, j=4, k=8} need_replication={j, k}"
    );
    let exchange = AllToAll { split: 0, concat: 1, count: 2, groups: groups(), channel: None };
    assert_eq!(
        text(exchange, &[&[8, 4, 2]], &[&[4, 8, 2]]),
        "([j, l, i])->([k, m, i]) {i=2, j=8, k=4, l=4, m=8} need_replication={j, k, l, m}"
    );
    let reduce = AllReduce { groups: groups(), channel: None, global_ids: Flag(false) };
    assert_eq!(text(reduce, &[&[4], &[2]], &[&[4], &[2]]), "([i], [j])->([i], [j]) {i=4, j=2}");
}

#[test]
fn custom_calls() {
    let text = |target: &str, operands: &[&[i64]], results: &[&[i64]]| {
        let mut program = Program::default();
        let call = CustomCall::new(program.module.symbol(target));
        let op = program.op(call, operands, results);
        rule(&program.module, op).map(|rule| rule.to_string())
    };
    assert_eq!(text("something_else", &[&[8]], &[&[8]]), None);
    assert_eq!(text("MoveToHost", &[&[8]], &[&[8]]).as_deref(), Some("([i])->([i]) {i=8}"));
    assert_eq!(
        text("Qr", &[&[2, 8, 4]], &[&[2, 8, 4], &[2, 4]]).as_deref(),
        Some("([i, j, k])->([i, j, k], [i, l]) {i=2, j=8, k=4, l=4} need_replication={j, k, l}")
    );
    assert_eq!(
        text("Eigh", &[&[2, 8, 8]], &[&[2, 8, 8], &[2, 8]]).as_deref(),
        Some("([i, j, k])->([i, j, k], [i, k]) {i=2, j=8, k=8} need_replication={j, k}")
    );
    assert_eq!(
        text("ApproxTopK", &[&[8, 4], &[8, 4], &[], &[]], &[&[8, 2], &[8, 2]]).as_deref(),
        Some(
            "([i, j], [i, j], [], [])->([i, k], [i, k]) {i=8, j=4, k=2} \
             need_replication={j, k} blocked_propagation={k}"
        )
    );
}

#[test]
fn a_rule_in_the_text_wins() {
    let mut program = Program::default();
    let op = program.op(Elementwise::Abs, &[&[8, 4]], &[&[8, 4]]);
    let stated = "#sdy.op_sharding_rule<([i, j])->([k, j]) {i=8, j=4, k=8} \
                  need_replication={i, k}, custom>";
    let attr = Attr::Text(program.module.symbol(stated));
    let key = program.module.symbol("sdy.sharding_rule");
    let attrs = program.module.attrs_id(vec![(key, attr)]);
    program.module.op_mut(op).attrs = attrs;
    assert_eq!(
        program.text(op),
        "([i, j])->([k, j]) {i=8, j=4, k=8} need_replication={i, k}, custom"
    );
}

#[test]
fn texts_that_are_no_rules() {
    for text in ["", "([i])", "([i])->([j]) {i=2}", "([i])->([i]) {j=2}", "([])->() x", "([i"] {
        assert!(text.parse::<OpRule>().is_err(), "{text}");
    }
}
