//! What a module says, in the form that propagation needs: ops in order, who uses what, data-flow
//! edges, and the shardings that are given.
//!
//! This is Shardy's import as an analysis. Nothing in the module changes; where Shardy rewires uses
//! (to the result of a sharding constraint), the uses recorded here are rewired.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;
use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Op, Sdy, Traits};
use shard_ir::sharding::{Mesh, TensorSharding, axes};
use shard_ir::{BlockId, FuncId, MeshId, Module, OpId, RegionId, ShardingId, Symbol, ValueId};
use smallvec::SmallVec;

use super::Options;
use super::borders::Crossing;
use super::table::{ShardingTable, SharedSharding};

/// A value: one of the module's, or the result of a constraint that only propagation has.
pub(super) type Ssa = u32;

pub(super) fn ssa(value: ValueId) -> Ssa {
    value.as_u32()
}

/// Keys of ops are this far apart, so that ops can be moved between.
pub(super) const GAP: u64 = 1 << 24;

/// What an entry of the list of ops is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecKind {
    /// An op of the module.
    Op(OpId),
    /// A data-flow edge, by its number.
    Edge(u32),
    /// A sharding constraint that the module hasn't; its result.
    Constraint(Ssa),
}

/// An op in the order of the program.
#[derive(Clone, Debug)]
pub(super) struct Rec {
    pub kind: RecKind,
    /// Ops are visited in the order of their keys.
    pub key: u64,
    pub block: PackedOption<BlockId>,
    pub(super) first_operand: u32,
    operand_count: u32,
}

/// A use of a value: which operand of which op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use {
    pub rec: u32,
    pub operand: u32,
}

/// Values that data flow makes equal: the sources are copied to the targets, which share one
/// sharding.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// The target that stands for all.
    pub owner: Ssa,
    /// The value that users of the owner see: the owner, or the result of the edge's own op.
    pub seen: Ssa,
    /// The other targets.
    pub others: SmallVec<[Ssa; 2]>,
    /// Operands of ops.
    pub sources: SmallVec<[Use; 2]>,
    /// The border of a manual computation that lies between.
    pub crossing: Option<Crossing>,
    pub rec: u32,
}

/// The analysed module.
pub(super) struct Setup<'m> {
    pub module: &'m Module,
    pub(super) options: &'m Options,
    pub table: ShardingTable,
    /// The first of the meshes equal to each.
    pub(super) meshes: SecondaryMap<MeshId, PackedOption<MeshId>>,
    pub recs: Vec<Rec>,
    pub(super) operands: Vec<Ssa>,
    /// The uses of each value. Shardy's compiler walks them from the last to the first.
    pub uses: Vec<SmallVec<[Use; 2]>>,
    /// The sharding that each value is given.
    pub given: Vec<SharedSharding>,
    pub edges: Vec<Edge>,
    /// The edge that a value is a target of.
    pub edge_of: FxHashMap<Ssa, u32>,
    /// Number of each op's entry.
    pub rec_of: SecondaryMap<OpId, PackedOption<RecId>>,
    /// Values of each sharding group.
    pub groups: Vec<Vec<Ssa>>,
    /// Functions in the order of their visit; those of the program's entry first.
    pub funcs: Vec<FuncId>,
    /// Functions by their names.
    pub by_name: FxHashMap<Symbol, FuncId>,
    main: Option<FuncId>,
    /// The entry of each constraint that only propagation has, by its result.
    pub constraint_of: FxHashMap<Ssa, u32>,
    /// The calls of each function.
    pub callers: SecondaryMap<FuncId, Vec<OpId>>,
    explicit_edges: FxHashMap<ValueId, OpId>,
    edge_of_op: FxHashMap<OpId, u32>,
    /// Constraints and manual computations in the order in which they apply to their inputs.
    pub(super) constraints: Vec<u32>,
    next_key: u64,
    pub(super) moves: u64,
}

/// A number in [`Setup::recs`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct RecId(pub u32);
cranelift_entity::entity_impl!(RecId, "rec");

impl<'m> Setup<'m> {
    pub fn new(module: &'m Module, options: &'m Options) -> Setup<'m> {
        let count = module.value_count();
        let mut setup = Setup {
            module,
            options,
            table: ShardingTable::default(),
            meshes: SecondaryMap::new(),
            recs: Vec::with_capacity(module.op_count()),
            operands: Vec::with_capacity(2 * module.op_count()),
            uses: vec![SmallVec::new(); count],
            given: vec![SharedSharding::NONE; count],
            edges: Vec::new(),
            edge_of: FxHashMap::default(),
            rec_of: SecondaryMap::with_capacity(module.op_count()),
            groups: Vec::new(),
            funcs: Vec::new(),
            by_name: module.func_ids().map(|func| (module.funcs[func].name, func)).collect(),
            main: None,
            constraint_of: FxHashMap::default(),
            callers: SecondaryMap::new(),
            explicit_edges: FxHashMap::default(),
            edge_of_op: FxHashMap::default(),
            constraints: Vec::new(),
            next_key: GAP,
            moves: 0,
        };
        setup.unify_meshes();
        setup.find_explicit_edges();
        setup.order_functions();
        for at in 0..setup.funcs.len() {
            setup.function(setup.funcs[at]);
        }
        setup.close_edges();
        if options.apply_constraints {
            setup.apply_constraints();
        }
        setup.form_groups();
        setup
    }

    /// The operands of an op's entry, as rewired.
    pub fn operands(&self, rec: u32) -> &[Ssa] {
        let Rec { first_operand, operand_count, .. } = self.recs[rec as usize];
        &self.operands[first_operand as usize..(first_operand + operand_count) as usize]
    }

    /// The value at a use.
    pub fn at(&self, place: Use) -> Ssa {
        self.operands(place.rec)[place.operand as usize]
    }

    pub fn mesh(&self, mesh: MeshId) -> &'m Mesh {
        &self.module.meshes[mesh].mesh
    }

    fn unify_meshes(&mut self) {
        let mut seen: FxHashMap<&Mesh, MeshId> = FxHashMap::default();
        for (id, def) in &self.module.meshes {
            self.meshes[id] = (*seen.entry(&def.mesh).or_insert(id)).into();
        }
    }

    /// A sharding as propagation sees it: on the first of equal meshes, without axes of size one.
    pub(super) fn imported(&self, sharding: &TensorSharding) -> TensorSharding {
        let mut sharding = sharding.clone();
        sharding.mesh = self.meshes[sharding.mesh].expand().unwrap_or(sharding.mesh);
        if self.options.keep_unit_axes {
            return sharding;
        }
        let unit = |list: &[shard_ir::sharding::AxisRef]| list.iter().any(|axis| axis.size == 1);
        for dim in sharding.dims.iter_mut().filter(|dim| unit(&dim.axes)) {
            dim.axes = axes::without_unit_axes(&dim.axes);
            if dim.axes.is_empty() && !dim.open {
                dim.priority = None;
            }
        }
        for list in [&mut sharding.replicated, &mut sharding.unreduced] {
            if unit(list) {
                *list = axes::without_unit_axes(list);
            }
        }
        sharding
    }

    /// Gives a value a sharding, if it fits the value's type and its mesh exists.
    fn give(&mut self, value: ValueId, sharding: PackedOption<ShardingId>) {
        let Some(sharding) = sharding.expand() else { return };
        let sharding = self.module.sharding(sharding);
        if !self.module.meshes.is_valid(sharding.mesh) {
            return;
        }
        // One that just names a device has no dimensions, whatever the value.
        let fits = self.module.tensor_type(value).is_some_and(|ty| ty.rank() == sharding.rank());
        if fits || self.mesh(sharding.mesh).is_maximal() {
            let sharding = self.imported(sharding);
            self.given[ssa(value) as usize] = self.table.add(sharding);
        }
    }

    /// The sharding that a constraint or a border states, on the first of equal meshes.
    pub fn stated(&mut self, sharding: ShardingId) -> SharedSharding {
        let sharding = self.module.sharding(sharding);
        if !self.module.meshes.is_valid(sharding.mesh) {
            return SharedSharding::NONE;
        }
        let sharding = self.imported(sharding);
        self.table.add(sharding)
    }

    fn find_explicit_edges(&mut self) {
        for op in (0..self.module.op_count() as u32).map(OpId::from_u32) {
            let is_edge = matches!(
                self.module.kind(op),
                Op::Sdy(Sdy::DataFlowEdge(_) | Sdy::FuncDataFlowEdge)
            );
            if let (true, Some(&owner)) = (is_edge, self.module.operands(op).first()) {
                self.explicit_edges.insert(owner, op);
            }
        }
    }

    /// Entry functions, each followed by those it calls, before their callees.
    fn order_functions(&mut self) {
        let module = self.module;
        let mut calls: SecondaryMap<FuncId, Vec<FuncId>> = SecondaryMap::new();
        for func in module.func_ids() {
            module.walk(module.funcs[func].body, |op| {
                if let Op::Control(Control::Call(call)) = module.kind(op)
                    && let Some(&callee) = self.by_name.get(&call.callee.0)
                {
                    calls[func].push(callee);
                    self.callers[callee].push(op);
                }
            });
        }
        let main = module.find_symbol("main").and_then(|name| self.by_name.get(&name).copied());
        self.main = main;
        let uncalled = module.func_ids().filter(|&func| self.callers[func].is_empty());
        let mut stack: Vec<FuncId> = main.into_iter().chain(uncalled).collect();
        stack.reverse();
        let mut seen: SecondaryMap<FuncId, bool> = SecondaryMap::new();
        while let Some(func) = stack.pop() {
            if !std::mem::replace(&mut seen[func], true) && !module.funcs[func].is_declaration {
                self.funcs.push(func);
                stack.extend(calls[func].iter().rev());
            }
        }
    }

    /// Whether a function's results get their shardings from the values that it returns: the
    /// program's entry, or any function that nothing calls where there is no `main`.
    pub fn is_entry(&self, func: FuncId) -> bool {
        match self.main {
            Some(main) => main == func,
            None => self.callers[func].is_empty(),
        }
    }

    fn key(&mut self) -> u64 {
        self.next_key += GAP;
        self.next_key
    }

    pub(super) fn push_rec(
        &mut self,
        kind: RecKind,
        key: u64,
        block: Option<BlockId>,
        operands: &[Ssa],
    ) -> u32 {
        let rec = self.recs.len() as u32;
        let first_operand = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        let operand_count = operands.len() as u32;
        self.recs.push(Rec { kind, key, block: block.into(), first_operand, operand_count });
        rec
    }

    fn function(&mut self, func: FuncId) {
        let module = self.module;
        for &arg in module.args(func) {
            self.give(arg, module.shardings[arg]);
        }
        if !self.callers[func].is_empty() {
            for &arg in module.args(func) {
                // The callers' operands are added when all calls are known.
                self.edge(arg, &[], SmallVec::new(), None);
            }
        }
        self.walk(module.funcs[func].body);
    }

    /// Visits the ops of a region and of those inside it. Needs no recursion.
    fn walk(&mut self, body: RegionId) {
        enum Frame {
            Region(RegionId, usize),
            Block(BlockId, usize),
            After(OpId, u32),
        }
        let module = self.module;
        let mut stack = vec![Frame::Region(body, 0)];
        while let Some(frame) = stack.pop() {
            match frame {
                Frame::Region(region, index) => {
                    if let Some(&block) = module.region(region).blocks.get(index) {
                        stack.push(Frame::Region(region, index + 1));
                        stack.push(Frame::Block(block, 0));
                    }
                }
                Frame::Block(block, index) => {
                    let Some(&op) = module.block_ops(block).get(index) else { continue };
                    stack.push(Frame::Block(block, index + 1));
                    let rec = self.op(op, block);
                    let regions = module.regions(op);
                    if regions.is_empty() {
                        self.after(op, rec);
                        continue;
                    }
                    stack.push(Frame::After(op, rec));
                    stack.extend(regions.iter().rev().map(|&region| Frame::Region(region, 0)));
                }
                Frame::After(op, rec) => self.after(op, rec),
            }
        }
    }

    /// An op comes into view: its entry, and the shardings of its results.
    fn op(&mut self, op: OpId, block: BlockId) -> u32 {
        let module = self.module;
        let key = self.key();
        let rec = self.recs.len() as u32;
        let first_operand = self.operands.len() as u32;
        self.operands.extend(module.operands(op).iter().map(|&value| ssa(value)));
        let operand_count = module.operands(op).len() as u32;
        let edge = self.edge_of_op.get(&op).copied();
        let kind = edge.map_or(RecKind::Op(op), RecKind::Edge);
        if let Some(edge) = edge {
            self.edges[edge as usize].rec = rec;
        }
        self.recs.push(Rec { kind, key, block: Some(block).into(), first_operand, operand_count });
        self.rec_of[op] = Some(RecId(rec)).into();
        self.give_results(op);
        if let (Some(edge), Some(&result)) = (edge, module.results(op).first()) {
            let owner = self.edges[edge as usize].owner;
            self.given[owner as usize] = self.given[ssa(result) as usize];
        }
        if let Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) = module.kind(op) {
            self.border_params(op, rec);
        }
        rec
    }

    fn give_results(&mut self, op: OpId) {
        let module = self.module;
        let results = module.results(op);
        if let Op::Sdy(kind) = module.kind(op) {
            let stated = kind.result_sharding();
            if let (Some(sharding), Some(&result)) = (stated, results.first()) {
                self.give(result, Some(sharding).into());
                return;
            }
        }
        for &result in results {
            self.give(result, module.shardings[result]);
        }
        if let Op::Control(Control::Call(call)) = module.kind(op)
            && results.iter().all(|&result| module.shardings[result].is_none())
            && let Some(&callee) = self.by_name.get(&call.callee.0)
        {
            // A call without shardings has those of the function's results.
            let given: Vec<_> =
                module.funcs[callee].results.iter().map(|result| result.sharding).collect();
            for (&result, sharding) in results.iter().zip(given) {
                self.give(result, sharding);
            }
        }
    }

    /// An op goes out of view: its operands are used, and its results may be targets of edges.
    fn after(&mut self, op: OpId, rec: u32) {
        let module = self.module;
        for (operand, &value) in module.operands(op).iter().enumerate() {
            self.uses[ssa(value) as usize].push(Use { rec, operand: operand as u32 });
        }
        match module.kind(op) {
            Op::Control(kind) => match kind {
                Control::While => self.while_edges(op, rec),
                Control::If | Control::Case => self.branch_edges(op),
                Control::OptimizationBarrier => {
                    for (index, &result) in module.results(op).iter().enumerate() {
                        let source = Use { rec, operand: index as u32 };
                        self.edge(result, &[], SmallVec::from_slice(&[source]), None);
                    }
                }
                Control::Call(_) => {
                    for &result in module.results(op) {
                        self.edge(result, &[], SmallVec::new(), None);
                    }
                }
                Control::Return | Control::FuncReturn | Control::SdyReturn => {}
            },
            Op::Sdy(kind) => match kind {
                Sdy::ManualComputation(_) | Sdy::NamedComputation(_) => {
                    self.border_results(op);
                    if self.is_manual(op) {
                        self.constraints.push(rec);
                    }
                }
                Sdy::ShardingConstraint(_) => self.constraints.push(rec),
                _ => {}
            },
            _ => {}
        }
    }

    /// The operand `index` of the op that ends a region.
    pub(super) fn returned(&self, region: RegionId, index: usize) -> Option<Use> {
        let &entry = self.module.region(region).blocks.first()?;
        let last = self.module.terminator(entry)?;
        let rec = self.rec_of[last].expand()?.0;
        (index < self.module.operands(last).len()).then_some(Use { rec, operand: index as u32 })
    }

    fn while_edges(&mut self, op: OpId, rec: u32) {
        let module = self.module;
        let &[condition, body] = module.regions(op) else { return };
        let params = |region: RegionId| {
            module.region(region).blocks.first().map_or(&[][..], |&entry| module.params(entry))
        };
        for (index, &result) in module.results(op).iter().enumerate() {
            let others: SmallVec<[Ssa; 2]> = [condition, body]
                .iter()
                .filter_map(|&region| params(region).get(index).map(|&param| ssa(param)))
                .collect();
            let mut sources = SmallVec::from_slice(&[Use { rec, operand: index as u32 }]);
            sources.extend(self.returned(body, index));
            self.edge(result, &others, sources, None);
        }
    }

    fn branch_edges(&mut self, op: OpId) {
        let module = self.module;
        for (index, &result) in module.results(op).iter().enumerate() {
            let returned = |&region: &RegionId| self.returned(region, index);
            let sources = module.regions(op).iter().filter_map(returned).collect();
            self.edge(result, &[], sources, None);
        }
    }

    /// Adds the edge that owns `owner`, where its type has a static shape.
    pub(super) fn edge(
        &mut self,
        owner: ValueId,
        others: &[Ssa],
        sources: SmallVec<[Use; 2]>,
        crossing: Option<Crossing>,
    ) {
        if !self.module.tensor_type(owner).is_some_and(|ty| ty.is_static()) {
            return;
        }
        let explicit = self.explicit_edges.get(&owner).copied();
        if explicit.is_none() && (!self.explicit_edges.is_empty() || !self.options.add_edges) {
            return;
        }
        let number = self.edges.len() as u32;
        let seen = explicit.and_then(|op| self.module.results(op).first()).copied();
        let rec = match explicit {
            // Its entry comes when its op comes into view.
            Some(op) => {
                self.edge_of_op.insert(op, number);
                u32::MAX
            }
            None => {
                let key = self.key();
                self.push_rec(RecKind::Edge(number), key, None, &[])
            }
        };
        let seen = seen.map_or(ssa(owner), ssa);
        for target in others.iter().copied().chain([ssa(owner), seen]) {
            self.edge_of.insert(target, number);
        }
        let others = SmallVec::from_slice(others);
        self.edges.push(Edge { owner: ssa(owner), seen, others, sources, crossing, rec });
    }

    /// When everything is in view: the sources of calls' edges, and the order of the users of
    /// values that edges own.
    fn close_edges(&mut self) {
        let module = self.module;
        for at in 0..self.funcs.len() {
            let func = self.funcs[at];
            for call in 0..self.callers[func].len() {
                let call = self.callers[func][call];
                let Some(rec) = self.rec_of[call].expand() else { continue };
                for (index, &arg) in module.args(func).iter().enumerate() {
                    if let Some(&edge) = self.edge_of.get(&ssa(arg))
                        && index < module.operands(call).len()
                    {
                        let source = Use { rec: rec.0, operand: index as u32 };
                        self.edges[edge as usize].sources.push(source);
                    }
                }
                for (index, &result) in module.results(call).iter().enumerate() {
                    if let Some(&edge) = self.edge_of.get(&ssa(result)) {
                        let source = self.returned(module.funcs[func].body, index);
                        self.edges[edge as usize].sources.extend(source);
                    }
                }
            }
        }
        self.edges.iter().filter(|edge| edge.seen == edge.owner).for_each(|edge| {
            // The edge takes over the uses one by one, from the last to the first.
            self.uses[edge.owner as usize].reverse();
        });
    }

    /// Whether an op may be dropped where nothing uses its results.
    pub fn is_pure(&self, op: OpId) -> bool {
        let kind = self.module.kind(op);
        let traits = kind.info().traits;
        if traits.has(Traits::EFFECT) || traits.has(Traits::COLLECTIVE) || kind.is_terminator() {
            return false;
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
            | Op::Normalization(_)
            | Op::Random(_) => true,
            Op::Sdy(kind) => {
                matches!(kind, Sdy::Reshard(_) | Sdy::SdyConstant(_) | Sdy::PropagationBarrier(_))
            }
            Op::Custom(kind) => matches!(kind, shard_ir::ops::Custom::CustomCall(call)
                if call.has_side_effect != Some(true)),
            Op::Control(_) | Op::Collective(_) | Op::Effects(_) | Op::Hlo(_) | Op::Opaque(_) => {
                false
            }
        }
    }
}
