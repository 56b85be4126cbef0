//! From our module to MLIR's.

use melior::Context;
use melior::dialect::DialectHandle;
use melior::ir::attribute::DictionaryAttribute;
use melior::ir::block::{Block, BlockLike, BlockRef};
use melior::ir::operation::{Operation, OperationBuilder, OperationMutLike, OperationRef};
use melior::ir::{Attribute, Identifier, Location, Region, RegionLike, Value};
use rustc_hash::FxHashMap;
use shard_ir::ops::Op;
use shard_ir::{FuncId, Item, Language, LocId, MeshId, Module, OpId, RegionId, ValueId};

use crate::error::{Error, listening};
use crate::ffi;
use crate::write_attrs::{Attributes, Named};

/// Makes MLIR's module of ours, in the context. It is as MLIR would read our text in generic form;
/// its verifier isn't asked (see
/// [`OperationLike::verify`](melior::ir::operation::OperationLike::verify)).
///
/// Fields of ops whose dialect isn't registered become properties, as MLIR reads them from between
/// `<{` and `}>`; names of values and offsets in a text that was read have no place in MLIR.
///
/// # Errors
/// [`Error::Context`] if the context allows no unregistered dialects (see
/// [`prepare`](crate::prepare)), [`Error::Hlo`] for a program in HLO's form, and [`Error::Mlir`]
/// with what MLIR says if it can't make an op, a type or an attribute.
pub fn to_melior<'c>(
    context: &'c Context,
    module: &Module,
) -> Result<melior::ir::Module<'c>, Error> {
    if module.language == Language::Hlo {
        return Err(Error::Hlo);
    }
    // Without this MLIR ends the process at the first such op.
    if !context.allow_unregistered_dialects() {
        return Err(Error::Context);
    }
    DialectHandle::func().load_dialect(context);
    let mut made = melior::ir::Module::new(Location::unknown(context));
    let (written, said) = listening(context, || {
        let attributes = Attributes::new(context, module)?;
        let values = vec![None; module.value_count()];
        let registered = FxHashMap::default();
        Writer { context, m: module, attributes, values, registered }.module(&mut made)
    });
    written.map(|()| made).map_err(|error| match error {
        Error::Mlir { what, said: earlier } if earlier.is_empty() => Error::Mlir { what, said },
        error => error,
    })
}

struct Writer<'c, 'm, 'v> {
    context: &'c Context,
    m: &'m Module,
    attributes: Attributes<'c, 'm>,
    /// MLIR's value for each of ours that is defined.
    values: Vec<Option<Value<'c, 'v>>>,
    /// Whether the context knows ops of the name.
    registered: FxHashMap<&'m str, bool>,
}

/// What an op has beside its attributes.
struct Shape<'c, 'v, 'b> {
    operands: Vec<Value<'c, 'v>>,
    results: Vec<melior::ir::Type<'c>>,
    regions: Vec<Region<'c>>,
    successors: Vec<&'b Block<'c>>,
    loc: LocId,
}

impl<'c: 'v, 'm, 'v> Writer<'c, 'm, 'v> {
    fn module(mut self, module: &'v mut melior::ir::Module<'c>) -> Result<(), Error> {
        let m = self.m;
        let loc = self.attributes.loc(m.loc.expand().unwrap_or(LocId::UNKNOWN))?;
        module.as_operation_mut().set_location(loc);
        let mut attrs = self.attributes.list(m.attrs)?;
        if let Some(name) = m.name {
            attrs.push(("sym_name", self.attributes.string(m.str(name))?));
        }
        for (name, attribute) in attrs {
            module.as_operation_mut().set_attribute(name, attribute);
        }
        let block = module.body();
        for item in &m.items {
            match item {
                Item::Mesh(mesh) => self.mesh(*mesh, block)?,
                Item::Func(func) => self.func(*func, block)?,
                Item::Op(op) => self.op(*op, block, &[])?,
            }
        }
        Ok(())
    }

    fn mesh(&mut self, id: MeshId, block: BlockRef<'c, 'v>) -> Result<(), Error> {
        let def = &self.m.meshes[id];
        let properties = self.attributes.mesh(id)?;
        let attrs = self.attributes.list(def.attrs)?;
        let shape = Shape::empty(def.loc);
        self.build("sdy.mesh", properties, attrs, shape, block)?;
        Ok(())
    }

    fn func(&mut self, id: FuncId, block: BlockRef<'c, 'v>) -> Result<(), Error> {
        let func = &self.m.funcs[id];
        let properties = self.attributes.func(id)?;
        let attrs = self.attributes.list(func.attrs)?;
        let body = if func.is_declaration { Region::new() } else { self.region(func.body)? };
        let shape = Shape { regions: vec![body], ..Shape::empty(func.loc) };
        self.build("func.func", properties, attrs, shape, block)?;
        Ok(())
    }

    fn op(
        &mut self,
        id: OpId,
        block: BlockRef<'c, 'v>,
        blocks: &[BlockRef<'c, 'v>],
    ) -> Result<(), Error> {
        let m = self.m;
        let mut shape = Shape::empty(m.op(id).loc);
        for &value in m.operands(id) {
            match self.values[value.as_u32() as usize] {
                Some(value) => shape.operands.push(value),
                None => {
                    let message = "an operand is defined after its use, or not at all";
                    let diagnostic = shard_ir::Diagnostic::error(message).at_op(m, id);
                    return Err(Error::Program(diagnostic));
                }
            }
        }
        for &result in m.results(id) {
            shape.results.push(self.attributes.ty(m.value_type(result))?);
        }
        for &region in m.regions(id) {
            shape.regions.push(self.region(region)?);
        }
        if let Op::Opaque(opaque) = m.kind(id) {
            let block = |number: &u32| blocks.get(*number as usize).map(|block| &**block);
            shape.successors = opaque.successors.iter().filter_map(block).collect();
        }
        let (properties, attrs) = self.attributes.op(id)?;
        let op = self.build(m.op_name(id), properties, attrs, shape, block)?;
        for (index, &result) in m.results(id).iter().enumerate() {
            self.values[result.as_u32() as usize] = op.result(index).ok().map(Value::from);
        }
        Ok(())
    }

    /// Makes an op and adds it to the end of the block.
    fn build(
        &mut self,
        name: &'m str,
        properties: Named<'c, 'm>,
        attrs: Named<'c, 'm>,
        shape: Shape<'c, 'v, '_>,
        block: BlockRef<'c, 'v>,
    ) -> Result<OperationRef<'c, 'v>, Error> {
        let context = self.context;
        let named = |list: Named<'c, 'm>| -> Vec<(Identifier<'c>, Attribute<'c>)> {
            list.into_iter().map(|(name, value)| (Identifier::new(context, name), value)).collect()
        };
        let registered = self.registered.entry(name);
        let registered = *registered.or_insert_with(|| context.is_registered_operation(name));
        let (mut attrs, properties) = (named(attrs), named(properties));
        // Only a registered op knows which of its attributes are properties.
        if registered {
            attrs.extend(&properties);
        }
        let refused = || Error::Mlir { what: format!("an op '{name}'"), said: Vec::new() };
        let mut op: Operation<'c> = OperationBuilder::new(name, self.attributes.loc(shape.loc)?)
            .add_operands(&shape.operands)
            .add_results(&shape.results)
            .add_regions_vec(shape.regions)
            .add_successors(&shape.successors)
            .add_attributes(&attrs)
            .build()
            .map_err(|_| refused())?;
        if !registered && !properties.is_empty() {
            let properties = DictionaryAttribute::new(context, &properties).into();
            if !ffi::set_properties(&mut op, properties) {
                return Err(refused());
            }
        }
        Ok(block.append_operation(op))
    }

    /// A region. One with just an empty block has no block in MLIR, as in text.
    fn region(&mut self, id: RegionId) -> Result<Region<'c>, Error> {
        let m = self.m;
        let region = Region::new();
        let ours = &m.region(id).blocks;
        if let [only] = ours[..]
            && m.params(only).is_empty()
            && m.block_ops(only).is_empty()
        {
            return Ok(region);
        }
        let mut blocks: Vec<BlockRef<'c, 'v>> = Vec::with_capacity(ours.len());
        for &block in ours {
            let mut arguments = Vec::new();
            for &param in m.params(block) {
                let loc = m.param_locs[param].expand().unwrap_or(LocId::UNKNOWN);
                arguments
                    .push((self.attributes.ty(m.value_type(param))?, self.attributes.loc(loc)?));
            }
            let made = region.append_block(Block::new(&arguments));
            for (index, &param) in m.params(block).iter().enumerate() {
                self.define(param, made, index);
            }
            blocks.push(made);
        }
        for (&block, &made) in ours.iter().zip(&blocks) {
            for &op in m.block_ops(block) {
                self.op(op, made, &blocks)?;
            }
        }
        Ok(region)
    }

    fn define(&mut self, param: ValueId, block: BlockRef<'c, 'v>, index: usize) {
        self.values[param.as_u32() as usize] = block.argument(index).ok().map(Value::from);
    }
}

impl Shape<'_, '_, '_> {
    fn empty(loc: LocId) -> Self {
        Shape {
            operands: Vec::new(),
            results: Vec::new(),
            regions: Vec::new(),
            successors: Vec::new(),
            loc,
        }
    }
}
