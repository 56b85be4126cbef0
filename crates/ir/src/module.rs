//! A program: functions, ops, regions, blocks and values in arenas, and side tables.

use std::ops::{Deref, DerefMut};

use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntityList, ListPool, PrimaryMap, SecondaryMap};

use crate::ops::Op;
use crate::sharding::{Mesh, TensorSharding};
use crate::{
    AttrsId, BlockId, FuncId, Interner, LocId, MeshId, OpId, RegionId, ShardingId, Symbol,
    TensorType, TypeId, ValueId,
};

/// An op in the module. Its operands, results and regions are lists in the module's pools.
#[derive(Clone, Debug)]
pub struct OpData {
    /// What it is.
    pub op: Op,
    operands: EntityList<ValueId>,
    /// Results have consecutive ids: the first, and how many.
    first_result: ValueId,
    result_count: u32,
    regions: EntityList<RegionId>,
    /// Attributes that aren't fields of the op.
    pub attrs: AttrsId,
    /// Where it comes from.
    pub loc: LocId,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result of an op.
    Result(OpId, u32),
    /// Parameter of a block.
    Param(BlockId, u32),
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: TypeId,
    /// Where it comes from.
    pub def: ValueDef,
}

/// What owns a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionOwner {
    /// A function's body.
    Func(FuncId),
    /// A region of an op.
    Op(OpId),
    /// Not placed yet.
    None,
}

/// A region: a list of blocks, almost always one.
#[derive(Clone, Debug)]
pub struct RegionData {
    /// Its blocks; the first is the entry.
    pub blocks: Vec<BlockId>,
    /// What it belongs to.
    pub owner: RegionOwner,
    /// Name of the HLO computation that it was.
    pub name: PackedOption<Symbol>,
    /// Attributes of that computation.
    pub attrs: AttrsId,
}

/// A block.
#[derive(Clone, Debug)]
pub struct BlockData {
    params: EntityList<ValueId>,
    /// Its ops, in order.
    pub ops: Vec<OpId>,
    /// The region it lies in.
    pub region: RegionId,
}

/// A mesh with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshDef {
    /// Name of the symbol; `None` for a mesh written inside a sharding.
    pub name: Option<Symbol>,
    /// The mesh.
    pub mesh: Mesh,
    /// Further attributes of the op that declared it.
    pub attrs: AttrsId,
    /// Where it was declared.
    pub loc: LocId,
}

/// A result of a function's signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FuncResult {
    /// Its type.
    pub ty: TypeId,
    /// Its sharding, from `sdy.sharding`.
    pub sharding: PackedOption<ShardingId>,
    /// Its other attributes.
    pub attrs: AttrsId,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Its name.
    pub name: Symbol,
    /// `private`, `nested`, or `public` where written.
    pub visibility: Option<Symbol>,
    /// Its body; its arguments are the parameters of the entry block. A function without ops
    /// (a declaration) has an entry block that `is_declaration` marks.
    pub body: RegionId,
    /// It has no body in the text.
    pub is_declaration: bool,
    /// Attributes of each argument (its sharding is the value's).
    pub arg_attrs: Vec<AttrsId>,
    /// Results.
    pub results: Vec<FuncResult>,
    /// Attributes of the function.
    pub attrs: AttrsId,
    /// Where it comes from.
    pub loc: LocId,
}

/// What stands at the top level of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `sdy.mesh`.
    Mesh(MeshId),
    /// A function.
    Func(FuncId),
    /// Any other op.
    Op(OpId),
}

/// The language whose rules a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Language {
    /// StableHLO: ops have several results, regions may use values from outside.
    #[default]
    StableHlo,
    /// HLO: each op has one result, perhaps a tuple; regions use their parameters alone.
    Hlo,
}

/// A whole program. Dereferences to its [`Interner`].
#[derive(Clone, Debug, Default)]
pub struct Module {
    interner: Interner,
    /// Whose rules it follows.
    pub language: Language,
    /// Name of the module.
    pub name: Option<Symbol>,
    /// Attributes of the module.
    pub attrs: AttrsId,
    /// Where it comes from.
    pub loc: PackedOption<LocId>,
    /// Meshes, named ones and those written inside shardings.
    pub meshes: PrimaryMap<MeshId, MeshDef>,
    /// Functions; those that `items` no longer lists are gone.
    pub funcs: PrimaryMap<FuncId, Func>,
    /// What stands beside the program, as its text: `{-# dialect_resources: {...} #-}` with the
    /// elements of constants that are written elsewhere.
    pub resources: Option<Symbol>,
    /// What stands at the top level, in order.
    pub items: Vec<Item>,
    ops: PrimaryMap<OpId, OpData>,
    values: PrimaryMap<ValueId, ValueData>,
    /// The id of each value under itself, so that an op's results are a slice without a list.
    value_ids: Vec<ValueId>,
    blocks: PrimaryMap<BlockId, BlockData>,
    regions: PrimaryMap<RegionId, RegionData>,
    value_lists: ListPool<ValueId>,
    region_lists: ListPool<RegionId>,
    /// The sharding of each value, where it has one.
    pub shardings: SecondaryMap<ValueId, PackedOption<ShardingId>>,
    /// The name that each value had in the text, without `%`.
    pub value_names: SecondaryMap<ValueId, PackedOption<Symbol>>,
    /// The location of each block parameter, where it has one of its own.
    pub param_locs: SecondaryMap<ValueId, PackedOption<LocId>>,
    /// Attributes of parameters of blocks inside ops (a function's are with the function).
    pub param_attrs: SecondaryMap<ValueId, AttrsId>,
}

impl Deref for Module {
    type Target = Interner;
    fn deref(&self) -> &Interner {
        &self.interner
    }
}

impl DerefMut for Module {
    fn deref_mut(&mut self) -> &mut Interner {
        &mut self.interner
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Module::default()
    }

    /// An op.
    #[inline]
    pub fn op(&self, op: OpId) -> &OpData {
        &self.ops[op]
    }

    /// An op, to change it.
    #[inline]
    pub fn op_mut(&mut self, op: OpId) -> &mut OpData {
        &mut self.ops[op]
    }

    /// What an op is.
    #[inline]
    pub fn kind(&self, op: OpId) -> &Op {
        &self.ops[op].op
    }

    /// The op's name in MLIR text.
    pub fn op_name(&self, op: OpId) -> &str {
        self.ops[op].op.name(&self.interner)
    }

    /// The operands of an op.
    #[inline]
    pub fn operands(&self, op: OpId) -> &[ValueId] {
        self.ops[op].operands.as_slice(&self.value_lists)
    }

    /// One operand of an op.
    #[inline]
    pub fn operand(&self, op: OpId, index: usize) -> ValueId {
        self.operands(op)[index]
    }

    /// The operands of an op, to change them.
    pub fn operands_mut(&mut self, op: OpId) -> &mut [ValueId] {
        self.ops[op].operands.as_mut_slice(&mut self.value_lists)
    }

    /// Replaces all operands of an op.
    pub fn set_operands(&mut self, op: OpId, operands: &[ValueId]) {
        self.ops[op].operands = EntityList::from_slice(operands, &mut self.value_lists);
    }

    /// The results of an op.
    #[inline]
    pub fn results(&self, op: OpId) -> &[ValueId] {
        let data = &self.ops[op];
        let first = data.first_result.as_u32() as usize;
        &self.value_ids[first..first + data.result_count as usize]
    }

    /// One result of an op.
    #[inline]
    pub fn result(&self, op: OpId, index: usize) -> ValueId {
        self.results(op)[index]
    }

    /// The regions of an op.
    #[inline]
    pub fn regions(&self, op: OpId) -> &[RegionId] {
        self.ops[op].regions.as_slice(&self.region_lists)
    }

    /// The type of a value.
    #[inline]
    pub fn value_type(&self, value: ValueId) -> TypeId {
        self.values[value].ty
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, value: ValueId, ty: TypeId) {
        self.values[value].ty = ty;
    }

    /// The tensor type of a value, if it is a ranked tensor.
    #[inline]
    pub fn tensor_type(&self, value: ValueId) -> Option<&TensorType> {
        self.interner.ty(self.values[value].ty).as_tensor()
    }

    /// Where a value comes from.
    #[inline]
    pub fn value_def(&self, value: ValueId) -> ValueDef {
        self.values[value].def
    }

    /// The op whose result a value is.
    pub fn defining_op(&self, value: ValueId) -> Option<OpId> {
        match self.values[value].def {
            ValueDef::Result(op, _) => Some(op),
            ValueDef::Param(..) => None,
        }
    }

    /// The sharding of a value.
    pub fn value_sharding(&self, value: ValueId) -> Option<&TensorSharding> {
        self.shardings[value].expand().map(|id| self.interner.sharding(id))
    }

    /// A region.
    #[inline]
    pub fn region(&self, region: RegionId) -> &RegionData {
        &self.regions[region]
    }

    /// A region, to change it.
    pub fn region_mut(&mut self, region: RegionId) -> &mut RegionData {
        &mut self.regions[region]
    }

    /// The first block of a region.
    ///
    /// # Panics
    /// If the region has no block; readers of text give every region one.
    #[inline]
    pub fn entry(&self, region: RegionId) -> BlockId {
        self.regions[region].blocks[0]
    }

    /// A block.
    #[inline]
    pub fn block(&self, block: BlockId) -> &BlockData {
        &self.blocks[block]
    }

    /// A block, to change it.
    #[inline]
    pub fn block_mut(&mut self, block: BlockId) -> &mut BlockData {
        &mut self.blocks[block]
    }

    /// The ops of a block, in order.
    #[inline]
    pub fn block_ops(&self, block: BlockId) -> &[OpId] {
        &self.blocks[block].ops
    }

    /// The parameters of a block.
    #[inline]
    pub fn params(&self, block: BlockId) -> &[ValueId] {
        self.blocks[block].params.as_slice(&self.value_lists)
    }

    /// The last op of a block.
    pub fn terminator(&self, block: BlockId) -> Option<OpId> {
        self.blocks[block].ops.last().copied().filter(|op| self.ops[*op].op.is_terminator())
    }

    /// The entry block of a function.
    pub fn func_entry(&self, func: FuncId) -> BlockId {
        self.entry(self.funcs[func].body)
    }

    /// The arguments of a function.
    pub fn args(&self, func: FuncId) -> &[ValueId] {
        self.params(self.func_entry(func))
    }

    /// Makes a region without blocks.
    pub fn new_region(&mut self) -> RegionId {
        self.regions.push(RegionData {
            blocks: Vec::new(),
            owner: RegionOwner::None,
            name: None.into(),
            attrs: AttrsId::EMPTY,
        })
    }

    /// Adds a block to a region.
    pub fn new_block(&mut self, region: RegionId) -> BlockId {
        let block =
            self.blocks.push(BlockData { params: EntityList::new(), ops: Vec::new(), region });
        self.regions[region].blocks.push(block);
        block
    }

    /// Adds a parameter to a block.
    pub fn new_param(&mut self, block: BlockId, ty: TypeId) -> ValueId {
        let index = self.params(block).len() as u32;
        let value = self.new_value(ty, ValueDef::Param(block, index));
        self.blocks[block].params.push(value, &mut self.value_lists);
        value
    }

    fn new_value(&mut self, ty: TypeId, def: ValueDef) -> ValueId {
        let value = self.values.push(ValueData { ty, def });
        self.value_ids.push(value);
        value
    }

    /// Makes room for so many more ops with a result each, where that is known before.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve_exact(ops);
        self.values.reserve_exact(ops);
        self.value_ids.reserve_exact(ops);
        if self.ops.is_empty() {
            // A short list, such as an op has of its operands, takes four words.
            self.value_lists = ListPool::with_capacity(4 * ops);
        }
    }

    /// Makes an op that lies in no block yet.
    pub fn new_op(
        &mut self,
        op: impl Into<Op>,
        operands: &[ValueId],
        result_types: &[TypeId],
        regions: &[RegionId],
        loc: LocId,
    ) -> OpId {
        let id = self.ops.next_key();
        let first_result = self.values.next_key();
        for (index, &ty) in result_types.iter().enumerate() {
            self.new_value(ty, ValueDef::Result(id, index as u32));
        }
        for &region in regions {
            self.regions[region].owner = RegionOwner::Op(id);
        }
        self.ops.push(OpData {
            op: op.into(),
            operands: EntityList::from_slice(operands, &mut self.value_lists),
            first_result,
            result_count: result_types.len() as u32,
            regions: EntityList::from_slice(regions, &mut self.region_lists),
            attrs: AttrsId::EMPTY,
            loc,
        })
    }

    /// Adds a function; its body needs a block already.
    pub fn new_func(&mut self, func: Func) -> FuncId {
        let body = func.body;
        let id = self.funcs.push(func);
        self.regions[body].owner = RegionOwner::Func(id);
        self.items.push(Item::Func(id));
        id
    }

    /// The functions at the top level, in order.
    pub fn func_ids(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.items.iter().filter_map(|item| match item {
            Item::Func(func) => Some(*func),
            Item::Mesh(_) | Item::Op(_) => None,
        })
    }

    /// The function named `name`.
    pub fn find_func(&self, name: Symbol) -> Option<FuncId> {
        self.func_ids().find(|func| self.funcs[*func].name == name)
    }

    /// The function that runs: `@main`, or the only public one, or the first.
    pub fn main_func(&self) -> Option<FuncId> {
        self.find_symbol("main").and_then(|name| self.find_func(name)).or_else(|| {
            let private = self.find_symbol("private");
            let mut public = self
                .func_ids()
                .filter(|f| self.funcs[*f].visibility != private || private.is_none());
            public.next().or_else(|| self.func_ids().next())
        })
    }

    /// The mesh named `name`.
    pub fn find_mesh(&self, name: &str) -> Option<MeshId> {
        let name = self.find_symbol(name)?;
        self.meshes.iter().find(|(_, def)| def.name == Some(name)).map(|(id, _)| id)
    }

    /// The id of an unnamed mesh equal to `mesh`, added if it isn't there.
    pub fn inline_mesh(&mut self, mesh: Mesh) -> MeshId {
        let found = self.meshes.iter().find(|(_, def)| def.name.is_none() && def.mesh == mesh);
        if let Some((id, _)) = found {
            return id;
        }
        self.meshes.push(MeshDef { name: None, mesh, attrs: AttrsId::EMPTY, loc: LocId::UNKNOWN })
    }

    /// Number of ops ever made, those no longer placed included; sizes side tables.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Number of values ever made; sizes side tables.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Calls `visit` for every op of a region, outer ones before those inside them, in order.
    /// Needs no recursion, so the depth of nesting is of no concern.
    pub fn walk(&self, region: RegionId, mut visit: impl FnMut(OpId)) {
        let mut stack: Vec<(RegionId, usize, usize)> = vec![(region, 0, 0)];
        while let Some((region, block, index)) = stack.pop() {
            let Some(&block_id) = self.regions[region].blocks.get(block) else { continue };
            match self.blocks[block_id].ops.get(index) {
                None => stack.push((region, block + 1, 0)),
                Some(&op) => {
                    stack.push((region, block, index + 1));
                    visit(op);
                    for &inner in self.regions(op).iter().rev() {
                        stack.push((inner, 0, 0));
                    }
                }
            }
        }
    }

    /// The op whose region holds `block`, if it isn't a function's body.
    pub fn parent_op(&self, block: BlockId) -> Option<OpId> {
        match self.regions[self.blocks[block].region].owner {
            RegionOwner::Op(op) => Some(op),
            RegionOwner::Func(_) | RegionOwner::None => None,
        }
    }
}
