//! From MLIR's module to ours.

use std::borrow::Cow;

use melior::ir::block::{BlockArgument, BlockLike};
use melior::ir::operation::{OperationLike, OperationRef, WalkOrder, WalkResult};
use melior::ir::{Attribute, BlockRef, Identifier, RegionLike, RegionRef, ValueLike};
use rustc_hash::FxHashMap;
use shard_ir::{
    Attr, BlockId, Diagnostic, Item, LocId, MeshId, Module, OpId, RegionId, Symbol, ValueId,
};
use shard_text::generic::{
    GenericOp, Parts, add_func, declare_mesh, place_mesh, read_attr, read_mesh,
};

use crate::read_attrs::{Attributes, entries};
use crate::{Error, ffi};

/// How deep regions may nest: as in text, no program needs more.
const MAX_DEPTH: u32 = 256;

type Named = Vec<(Symbol, Attr)>;

/// Makes our module of MLIR's: `module` is read and stays as it is.
///
/// Ops, regions, blocks, values, attributes, types and locations are MLIR's own, read one by one;
/// each type, attribute and location once. Ops that shard-opt has no model of are kept whole, and
/// so are attributes and types. Fields of ops may be properties or attributes, as an
/// [`OperationBuilder`](melior::ir::operation::OperationBuilder) makes them.
///
/// # Errors
/// [`Error::Program`] says what shard-opt can't hold and where it is: an op of StableHLO or Shardy
/// without an attribute that it needs, a sharding that fits no value, a use of a value before its
/// definition. MLIR's verifier isn't asked.
pub fn from_melior(module: &melior::ir::Module<'_>) -> Result<Module, Error> {
    let mut reader = Reader::default();
    reader.module(module)?;
    Ok(reader.m)
}

#[derive(Default)]
struct Reader<'c> {
    m: Module,
    attributes: Attributes<'c>,
    /// Our values by the addresses of MLIR's.
    values: FxHashMap<usize, ValueId>,
    /// Meshes by the addresses of the ops that declare them.
    meshes: FxHashMap<usize, MeshId>,
    /// Numbers of blocks in their regions, by their addresses.
    blocks: FxHashMap<usize, u32>,
    depth: u32,
}

fn address<'c>(value: &impl ValueLike<'c>) -> usize {
    value.to_raw().ptr as usize
}

fn op_name<'c>(op: &OperationRef<'c, '_>) -> Cow<'c, str> {
    String::from_utf8_lossy(ffi::bytes(&op.name()))
}

fn ops<'c: 'a, 'a>(block: BlockRef<'c, 'a>) -> impl Iterator<Item = OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block())
}

fn blocks<'c: 'a, 'a>(region: RegionRef<'c, 'a>) -> impl Iterator<Item = BlockRef<'c, 'a>> {
    std::iter::successors(region.first_block(), |block| block.next_in_region())
}

impl<'c> Reader<'c> {
    fn module(&mut self, module: &melior::ir::Module<'c>) -> Result<(), Error> {
        let top = module.as_operation();
        self.declare_meshes(&top)?;
        let (mut attrs, discardable) = self.attrs(&top)?;
        attrs.extend(discardable);
        let is_name = |(key, attr): &(Symbol, Attr)| {
            self.m.str(*key) == "sym_name" && matches!(attr, Attr::String(_))
        };
        if let Some(at) = attrs.iter().position(is_name)
            && let (_, Attr::String(name)) = attrs.remove(at)
        {
            self.m.name = Some(name);
        }
        self.m.attrs = self.m.attrs_id(attrs);
        self.m.loc = Some(self.attributes.loc(&mut self.m, top.location())?).into();
        let region = self.m.new_region();
        let block = self.m.new_block(region);
        for op in ops(module.body()) {
            self.item(block, op)?;
        }
        self.m.resources = self.attributes.resources().map(|text| self.m.symbol(&text));
        Ok(())
    }

    /// Shardings name meshes, which may be declared after them, or in an inner module.
    fn declare_meshes(&mut self, top: &OperationRef<'c, '_>) -> Result<(), Error> {
        let mut found = Vec::new();
        top.walk(WalkOrder::PreOrder, |op| {
            if ffi::bytes(&op.name()) == b"sdy.mesh" {
                let own = |name| match op.inherent_attribute(name) {
                    Ok(attribute) => Some(attribute),
                    Err(_) => op.attribute(name).ok(),
                };
                let texts = own("sym_name").zip(own("mesh"));
                let texts = texts.map(|(name, mesh)| (name.to_string(), mesh.to_string()));
                found.push((op.to_raw().ptr as usize, texts));
            }
            WalkResult::Advance
        });
        for (address, texts) in found {
            let Some((name, mesh)) = texts else {
                let message = "'sdy.mesh' needs a 'sym_name' and a 'mesh'";
                return Err(Diagnostic::error(message).into());
            };
            let Attr::String(name) = read_attr(&mut self.m, &name, None)? else {
                return Err(Diagnostic::error("the name of a mesh must be a string").into());
            };
            let mesh = read_mesh(&mut self.m, &mesh)?;
            let id = declare_mesh(&mut self.m, name, mesh, LocId::UNKNOWN);
            self.meshes.insert(address, id);
        }
        Ok(())
    }

    /// An op at the top level.
    fn item<'a>(&mut self, block: BlockId, op: OperationRef<'c, 'a>) -> Result<(), Error>
    where
        'c: 'a,
    {
        match ffi::bytes(&op.name()) {
            b"sdy.mesh" => {
                let loc = self.attributes.loc(&mut self.m, op.location())?;
                let id = self.meshes[&(op.to_raw().ptr as usize)];
                let (mut attrs, discardable) = self.attrs(&op)?;
                attrs.extend(discardable);
                attrs.retain(|(key, _)| !matches!(self.m.str(*key), "mesh" | "sym_name"));
                place_mesh(&mut self.m, id, attrs, loc).map_err(|error| self.at(error, loc))?;
            }
            b"func.func" => {
                let loc = self.attributes.loc(&mut self.m, op.location())?;
                let (mut attrs, discardable) = self.attrs(&op)?;
                attrs.extend(discardable);
                let Ok(region) = op.region(0) else {
                    let message = "a function needs a region";
                    return Err(self.at(Diagnostic::error(message), loc));
                };
                let body = self.region(region)?;
                add_func(&mut self.m, attrs, body, loc).map_err(|error| self.at(error, loc))?;
            }
            _ => {
                let op = self.op(block, op)?;
                self.m.items.push(Item::Op(op));
            }
        }
        Ok(())
    }

    fn at(&self, error: Diagnostic, loc: LocId) -> Error {
        Error::Program(error.at_loc(&self.m, loc))
    }

    /// Properties and other attributes.
    fn attrs<'a>(&mut self, op: &OperationRef<'c, 'a>) -> Result<(Named, Named), Error>
    where
        'c: 'a,
    {
        let properties = match ffi::properties(op) {
            Some(dictionary) => entries(dictionary)?,
            None => Vec::new(),
        };
        let discardable: Vec<_> = (0..op.discardable_attribute_count())
            .filter_map(|index| op.discardable_attribute_at(index).ok())
            .collect();
        // Axes of sdy's collectives are written without their mesh, which the op's sharding names.
        let mut mesh = None;
        if ffi::bytes(&op.name()).starts_with(b"sdy.") {
            let mut all = properties.iter().chain(&discardable);
            if let Some((_, out)) = all.find(|(name, _)| ffi::bytes(name) == b"out_sharding")
                && let Attr::Sharding(id) = self.attributes.attr(&mut self.m, *out, None)?
            {
                mesh = Some(self.m.sharding(id).mesh);
            }
        }
        let mut read = |list: Vec<(Identifier<'c>, Attribute<'c>)>| -> Result<Named, Error> {
            let mut named = Vec::with_capacity(list.len());
            for (name, attribute) in list {
                let name = String::from_utf8_lossy(ffi::bytes(&name));
                let name = self.m.symbol(&name);
                named.push((name, self.attributes.attr(&mut self.m, attribute, mesh)?));
            }
            Ok(named)
        };
        Ok((read(properties)?, read(discardable)?))
    }

    fn op<'a>(&mut self, block: BlockId, op: OperationRef<'c, 'a>) -> Result<OpId, Error>
    where
        'c: 'a,
    {
        let name = op_name(&op);
        let loc = self.attributes.loc(&mut self.m, op.location())?;
        let mut parts = Parts::default();
        for operand in op.operands() {
            match self.values.get(&address(&operand)) {
                Some(value) => parts.operands.push(*value),
                None => {
                    let message = "an operand is defined after its use, or outside of the module";
                    let mut error = Diagnostic::error(message);
                    error.op = Some(name.into_owned());
                    return Err(self.at(error, loc));
                }
            }
        }
        for result in op.results() {
            parts.results.push(self.attributes.ty(&mut self.m, result.r#type())?);
        }
        let (properties, attrs) = self.attrs(&op)?;
        parts.attrs = attrs;
        for region in op.regions() {
            parts.regions.push(self.region(region)?);
        }
        let number = |block: BlockRef<'c, '_>| self.blocks.get(&(block.to_raw().ptr as usize));
        let successors = op.successors().map(|block| number(block).copied().unwrap_or(0)).collect();
        let made = GenericOp { name: &name, properties, successors, parts };
        let id = made.add(&mut self.m, block, loc).map_err(|error| self.at(error, loc))?;
        for (index, result) in op.results().enumerate() {
            self.values.insert(address(&result), self.m.result(id, index));
        }
        Ok(id)
    }

    /// A region; one without blocks has an empty block here, as a declaration's body has.
    fn region<'a>(&mut self, region: RegionRef<'c, 'a>) -> Result<RegionId, Error>
    where
        'c: 'a,
    {
        if self.depth == MAX_DEPTH {
            let message = format!("regions nest deeper than {MAX_DEPTH} levels");
            return Err(Diagnostic::error(message).into());
        }
        self.depth += 1;
        let id = self.m.new_region();
        // Branches and uses may go to later blocks.
        for (block, number) in blocks(region).zip(0..) {
            self.blocks.insert(block.to_raw().ptr as usize, number);
            let made = self.m.new_block(id);
            for index in 0..block.argument_count() {
                if let Ok(argument) = block.argument(index) {
                    self.argument(made, &argument)?;
                }
            }
        }
        if self.m.region(id).blocks.is_empty() {
            self.m.new_block(id);
        }
        for (index, block) in blocks(region).enumerate() {
            let made = self.m.region(id).blocks[index];
            for op in ops(block) {
                self.op(made, op)?;
            }
        }
        self.depth -= 1;
        Ok(id)
    }

    fn argument(&mut self, block: BlockId, argument: &BlockArgument<'c, '_>) -> Result<(), Error> {
        let ty = self.attributes.ty(&mut self.m, argument.r#type())?;
        let value = self.m.new_param(block, ty);
        let loc = self.attributes.loc(&mut self.m, argument.location())?;
        if loc != LocId::UNKNOWN {
            self.m.param_locs[value] = loc.into();
        }
        self.values.insert(address(argument), value);
        Ok(())
    }
}
