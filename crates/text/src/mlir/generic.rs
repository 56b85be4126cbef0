//! Making ops, functions and meshes of the parts that the generic form gives them, wherever those
//! come from: text, or MLIR's own data structures. Errors say what is wrong; who read the parts
//! knows where.

use shard_ir::ops::{Arity, Op, Opaque};
use shard_ir::sharding::Mesh;
use shard_ir::{
    Attr, AttrsId, BlockId, Diagnostic, Func, FuncId, FuncResult, Item, LocId, MeshDef, MeshId,
    Module, OpId, RegionId, ShardingId, Symbol, Type, TypeId, ValueId,
};
use smallvec::SmallVec;

use super::ops;
use super::parser::AttrList;

/// The parts that an op is made of, beside what it is.
#[derive(Debug, Default)]
pub struct Parts {
    /// Its operands.
    pub operands: SmallVec<[ValueId; 4]>,
    /// Types of its results.
    pub results: SmallVec<[TypeId; 4]>,
    /// Its regions, whose blocks are complete.
    pub regions: SmallVec<[RegionId; 2]>,
    /// Its attributes: those between `{` and `}`.
    pub attrs: Vec<(Symbol, Attr)>,
}

/// What only the generic form states apart: the name, properties, and successors.
#[derive(Debug, Default)]
pub struct GenericOp<'a> {
    /// The op's name.
    pub name: &'a str,
    /// Attributes between `<{` and `}>`.
    pub properties: Vec<(Symbol, Attr)>,
    /// Successor blocks, by number in the region.
    pub successors: Vec<u32>,
    /// Everything else.
    pub parts: Parts,
}

/// An argument or a result in a signature.
pub(crate) struct Signed {
    pub(crate) ty: TypeId,
    pub(crate) attrs: AttrsId,
    pub(crate) sharding: Option<ShardingId>,
}

/// A function whose body, if it has one, is complete.
pub(crate) struct FuncParts {
    pub(crate) name: Symbol,
    pub(crate) visibility: Option<Symbol>,
    pub(crate) args: Vec<Signed>,
    pub(crate) results: Vec<Signed>,
    pub(crate) attrs: AttrList,
    pub(crate) body: Option<RegionId>,
    pub(crate) loc: LocId,
}

type Made<T> = Result<T, Diagnostic>;

impl GenericOp<'_> {
    /// Makes the op and adds it to the end of the block: one of the table if its name is there,
    /// else one that is kept whole. `sdy.sharding` becomes the sharding of the results.
    ///
    /// # Errors
    /// An attribute that is missing or has another form than the op needs, numbers of operands,
    /// results or regions that don't fit, a sharding that doesn't fit its result.
    pub fn add(self, m: &mut Module, block: BlockId, loc: LocId) -> Result<OpId, Diagnostic> {
        let GenericOp { name, mut properties, successors, mut parts } = self;
        let op = match ops::find(name) {
            Some(entry) => {
                properties.append(&mut parts.attrs);
                let op = table_op(m, entry, &mut properties)?;
                parts.attrs = properties;
                op
            }
            None => {
                let (name, properties) = (m.symbol(name), sorted(m, properties));
                Op::Opaque(Box::new(Opaque { name, properties, successors }))
            }
        };
        add_op(m, block, op, parts, loc)
    }
}

/// Makes an op of the table from its attributes, and takes those that are its fields.
pub(crate) fn table_op(m: &mut Module, entry: &ops::Entry, attrs: &mut AttrList) -> Made<Op> {
    ops::settle_defaults(entry.info.name, attrs, m);
    (entry.read)(attrs, m).map_err(|error| on_op(entry.info.name, error.to_string()))
}

fn on_op(name: &str, message: String) -> Diagnostic {
    let mut diagnostic = Diagnostic::error(message);
    diagnostic.op = Some(name.to_owned());
    diagnostic
}

fn check_count(m: &Module, op: &Op, what: &str, arity: Arity, count: usize) -> Made<()> {
    if arity.fits(count) {
        return Ok(());
    }
    let wanted = match arity {
        Arity::Exactly(n) => n.to_string(),
        Arity::AtLeast(n) => format!("at least {n}"),
    };
    Err(on_op(op.name(m), format!("needs {wanted} {what}, but has {count}")))
}

/// Adds an op to the end of the block. `sdy.sharding` becomes the sharding of the results.
pub(crate) fn add_op(
    m: &mut Module,
    block: BlockId,
    op: Op,
    parts: Parts,
    loc: LocId,
) -> Made<OpId> {
    let info = op.info();
    let Parts { operands, results, regions, mut attrs } = parts;
    check_count(m, &op, "operands", info.operands, operands.len())?;
    check_count(m, &op, "results", info.results, results.len())?;
    check_count(m, &op, "regions", info.regions, regions.len())?;
    let shardings = take_shardings(m, &mut attrs, &results)?;
    let attrs = sorted_id(m, attrs);
    let id = m.new_op(op, &operands, &results, &regions, loc);
    m.op_mut(id).attrs = attrs;
    m.block_mut(block).ops.push(id);
    for (index, &sharding) in shardings.iter().enumerate() {
        let value = m.result(id, index);
        m.shardings[value] = sharding.into();
    }
    Ok(id)
}

/// Takes `sdy.sharding` out of an op's attributes, unless it says something of an op without
/// results.
fn take_shardings(m: &Module, attrs: &mut AttrList, results: &[TypeId]) -> Made<Box<[ShardingId]>> {
    let Some(at) = attrs.iter().position(|(name, _)| m.str(*name) == "sdy.sharding") else {
        return Ok(Box::default());
    };
    let Attr::ShardingPerValue(list) = &attrs[at].1 else {
        return Err(Diagnostic::error("'sdy.sharding' of an op must hold a sharding per result")
            .help("write #sdy.sharding_per_value<[<@mesh, [...]>]>"));
    };
    if results.is_empty() && list.len() <= 1 {
        // An op without results may have a sharding of its effect.
        return Ok(Box::default());
    }
    if list.len() != results.len() {
        let (have, want) = (list.len(), results.len());
        return Err(Diagnostic::error(format!(
            "'sdy.sharding' has {have} shardings, but the op has {want} results"
        )));
    }
    let list = list.clone();
    for (&sharding, &ty) in list.iter().zip(results) {
        check_sharding(m, sharding, ty)?;
    }
    attrs.remove(at);
    Ok(list)
}

/// Says what is wrong with a sharding for a value of the type.
pub(crate) fn check_sharding(m: &Module, id: ShardingId, ty: TypeId) -> Made<()> {
    let rank = match m.ty(ty) {
        Type::Tensor(tensor) => tensor.rank(),
        _ => 0,
    };
    let sharding = m.sharding(id);
    if sharding.dims.len() == rank {
        return Ok(());
    }
    let mesh = &m.meshes[sharding.mesh].mesh;
    sharding.verify(mesh, rank).map_err(|error| Diagnostic::error(error.to_string()))
}

pub(crate) fn sorted(m: &Module, mut attrs: AttrList) -> AttrList {
    if attrs.len() > 1 {
        attrs.sort_by(|a, b| m.str(a.0).cmp(m.str(b.0)));
    }
    attrs
}

/// The id of a list of attributes, which is kept sorted by name.
pub(crate) fn sorted_id(m: &mut Module, attrs: AttrList) -> AttrsId {
    if attrs.is_empty() {
        return AttrsId::EMPTY;
    }
    let attrs = sorted(m, attrs);
    m.attrs_id(attrs)
}

pub(crate) fn take_attr(m: &Module, attrs: &mut AttrList, name: &str) -> Option<Attr> {
    let at = attrs.iter().position(|(key, _)| m.str(*key) == name)?;
    Some(attrs.remove(at).1)
}

/// Splits the attributes of an argument or a result from its sharding.
pub(crate) fn signed(m: &mut Module, ty: TypeId, mut attrs: AttrList) -> Made<Signed> {
    let sharding = match take_attr(m, &mut attrs, "sdy.sharding") {
        None => None,
        Some(Attr::Sharding(id)) => {
            check_sharding(m, id, ty)?;
            Some(id)
        }
        Some(_) => {
            let message = "'sdy.sharding' must be #sdy.sharding<@mesh, [...]>";
            return Err(Diagnostic::error(message));
        }
    };
    Ok(Signed { ty, attrs: sorted_id(m, attrs), sharding })
}

fn signed_list(m: &mut Module, types: &[TypeId], attrs: Option<&Attr>) -> Made<Vec<Signed>> {
    let own = |m: &Module, index: usize| match attrs {
        Some(Attr::Array(items)) => match items.get(index) {
            Some(Attr::Dict(id)) => m.attrs(*id).to_vec(),
            _ => AttrList::new(),
        },
        _ => AttrList::new(),
    };
    let mut list = Vec::with_capacity(types.len());
    for (index, &ty) in types.iter().enumerate() {
        let own = own(m, index);
        list.push(signed(m, ty, own)?);
    }
    Ok(list)
}

/// Adds the function that `func.func` in generic form is. `attrs` are its properties and its
/// other attributes; a declaration's body is an empty block.
///
/// # Errors
/// A name or a type that is missing, a name that is taken, a body with other arguments than the
/// type has, a sharding that doesn't fit its argument or result.
pub fn add_func(
    m: &mut Module,
    mut attrs: Vec<(Symbol, Attr)>,
    body: RegionId,
    loc: LocId,
) -> Result<FuncId, Diagnostic> {
    let Some(Attr::String(name)) = take_attr(m, &mut attrs, "sym_name") else {
        return Err(Diagnostic::error("a function needs a 'sym_name'"));
    };
    let visibility = match take_attr(m, &mut attrs, "sym_visibility") {
        Some(Attr::String(visibility)) => Some(visibility),
        _ => None,
    };
    let signature = match take_attr(m, &mut attrs, "function_type") {
        Some(Attr::Type(ty)) => match m.ty(ty) {
            Type::Function { inputs, results } => Some((inputs.clone(), results.clone())),
            _ => None,
        },
        _ => None,
    };
    let Some((inputs, outputs)) = signature else {
        return Err(Diagnostic::error("a function needs a 'function_type'"));
    };
    let arg_attrs = take_attr(m, &mut attrs, "arg_attrs");
    let res_attrs = take_attr(m, &mut attrs, "res_attrs");
    let args = signed_list(m, &inputs, arg_attrs.as_ref())?;
    let results = signed_list(m, &outputs, res_attrs.as_ref())?;
    let entry = m.entry(body);
    let empty = m.block_ops(entry).is_empty() && m.params(entry).is_empty();
    let body = (!empty).then_some(body);
    finish_func(m, FuncParts { name, visibility, args, results, attrs, body, loc })
}

pub(crate) fn finish_func(m: &mut Module, func: FuncParts) -> Made<FuncId> {
    let FuncParts { name, visibility, args, results, attrs, body, loc } = func;
    if m.find_func(name).is_some() {
        let text = m.str(name);
        return Err(Diagnostic::error(format!("function @{text} is defined twice")));
    }
    let is_declaration = body.is_none();
    let body = match body {
        Some(body) => {
            let params = m.params(m.entry(body)).iter().map(|value| m.value_type(*value));
            if !params.eq(args.iter().map(|arg| arg.ty)) {
                return Err(Diagnostic::error(
                    "the arguments of the body aren't those of the function's type",
                ));
            }
            body
        }
        None => {
            let region = m.new_region();
            let block = m.new_block(region);
            for arg in &args {
                m.new_param(block, arg.ty);
            }
            region
        }
    };
    let entry = m.entry(body);
    for (index, arg) in args.iter().enumerate() {
        let value = m.params(entry)[index];
        m.shardings[value] = arg.sharding.into();
    }
    let attrs = sorted_id(m, attrs);
    let result = |result: &Signed| FuncResult {
        ty: result.ty,
        sharding: result.sharding.into(),
        attrs: result.attrs,
    };
    Ok(m.new_func(Func {
        name,
        visibility,
        body,
        is_declaration,
        arg_attrs: args.iter().map(|arg| arg.attrs).collect(),
        results: results.iter().map(result).collect(),
        attrs,
        loc,
    }))
}

/// Makes a mesh known by its name, so that shardings can be read; [`place_mesh`] gives it its
/// place.
pub fn declare_mesh(m: &mut Module, name: Symbol, mesh: Mesh, loc: LocId) -> MeshId {
    m.meshes.push(MeshDef { name: Some(name), mesh, attrs: AttrsId::EMPTY, loc })
}

/// Adds a declared mesh to the items of the module.
///
/// # Errors
/// A mesh that can't be, or a name that is taken.
pub fn place_mesh(
    m: &mut Module,
    id: MeshId,
    attrs: Vec<(Symbol, Attr)>,
    loc: LocId,
) -> Result<(), Diagnostic> {
    m.meshes[id].mesh.verify().map_err(|error| Diagnostic::error(error.to_string()))?;
    let name = m.meshes[id].name;
    let is_earlier =
        |item: &Item| matches!(item, Item::Mesh(other) if m.meshes[*other].name == name);
    if m.items.iter().any(is_earlier) {
        let text = name.map_or("", |name| m.str(name));
        return Err(Diagnostic::error(format!("mesh @{text} is declared twice")));
    }
    m.meshes[id].attrs = sorted_id(m, attrs);
    m.meshes[id].loc = loc;
    m.items.push(Item::Mesh(id));
    Ok(())
}
