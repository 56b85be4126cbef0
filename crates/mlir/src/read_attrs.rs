//! From MLIR's types, attributes and locations to ours. MLIR has each of them once, and each is
//! read once.
//!
//! What holds others or elements is taken apart; the rest, which is small, goes by its text, as
//! MLIR itself holds what belongs to a dialect that it doesn't know.

use melior::ir::attribute::{
    ArrayAttribute, AttributeLike, DenseElementsAttribute, DictionaryAttribute,
};
use melior::ir::{Attribute, Identifier, Location, Type};
use rustc_hash::FxHashMap;
use shard_ir::{Attr, Dense, DenseData, Diagnostic, Loc, LocId, MeshId, Module, Symbol, TypeId};
use shard_text::generic::{read_attr, read_type};

use crate::{Error, ffi, resources};

/// How deep attributes may nest.
const MAX_DEPTH: u32 = 256;

/// What was read so far.
#[derive(Default)]
pub(crate) struct Attributes<'c> {
    types: FxHashMap<Type<'c>, TypeId>,
    attrs: FxHashMap<(Attribute<'c>, Option<MeshId>), Attr>,
    /// By the address of the location.
    locs: FxHashMap<usize, LocId>,
    /// Constants whose elements are blobs beside the program.
    resources: Vec<Attribute<'c>>,
    depth: u32,
}

/// The entries of a dictionary.
pub(crate) fn entries<'c>(
    attribute: Attribute<'c>,
) -> Result<Vec<(Identifier<'c>, Attribute<'c>)>, Error> {
    let Ok(dictionary) = DictionaryAttribute::try_from(attribute) else {
        let message = format!("the properties of an op aren't a dictionary: {attribute}");
        return Err(Diagnostic::error(message).into());
    };
    Ok((0..dictionary.len()).filter_map(|index| dictionary.element(index).ok()).collect())
}

impl<'c> Attributes<'c> {
    pub(crate) fn ty(&mut self, m: &mut Module, ty: Type<'c>) -> Result<TypeId, Error> {
        if let Some(id) = self.types.get(&ty) {
            return Ok(*id);
        }
        let id = read_type(m, &ty.to_string())?;
        self.types.insert(ty, id);
        Ok(id)
    }

    /// An attribute; `mesh` is that of axes that are written without one.
    pub(crate) fn attr(
        &mut self,
        m: &mut Module,
        attribute: Attribute<'c>,
        mesh: Option<MeshId>,
    ) -> Result<Attr, Error> {
        if let Some(attr) = self.attrs.get(&(attribute, mesh)) {
            return Ok(attr.clone());
        }
        if self.depth == MAX_DEPTH {
            let message = format!("attributes nest deeper than {MAX_DEPTH} levels");
            return Err(Diagnostic::error(message).into());
        }
        self.depth += 1;
        let attr = self.fresh_attr(m, attribute, mesh)?;
        self.depth -= 1;
        self.attrs.insert((attribute, mesh), attr.clone());
        Ok(attr)
    }

    fn fresh_attr(
        &mut self,
        m: &mut Module,
        attribute: Attribute<'c>,
        mesh: Option<MeshId>,
    ) -> Result<Attr, Error> {
        if let Ok(array) = ArrayAttribute::try_from(attribute) {
            let mut items = Vec::with_capacity(array.len());
            for item in (0..array.len()).filter_map(|index| array.element(index).ok()) {
                items.push(self.attr(m, item, mesh)?);
            }
            return Ok(Attr::Array(items.into()));
        }
        if attribute.is_dictionary() {
            let mut list: Vec<(Symbol, Attr)> = Vec::new();
            for (name, item) in entries(attribute)? {
                let name = m.symbol(&String::from_utf8_lossy(ffi::bytes(&name)));
                list.push((name, self.attr(m, item, mesh)?));
            }
            return Ok(Attr::Dict(m.attrs_id(list)));
        }
        if let Ok(dense) = DenseElementsAttribute::try_from(attribute) {
            let ty = self.ty(m, attribute.r#type())?;
            let tensor = m.ty(ty).as_tensor().cloned();
            if let Some(data) = tensor.and_then(|tensor| crate::dense::read(&dense, &tensor)) {
                return Ok(Attr::Dense(Dense { ty, data }));
            }
        }
        let attr = read_attr(m, &attribute.to_string(), mesh)?;
        if matches!(&attr, Attr::Dense(Dense { data: DenseData::Resource(_), .. })) {
            self.resources.push(attribute);
        }
        Ok(attr)
    }

    /// The text of the blobs that the constants read so far name.
    pub(crate) fn resources(&self) -> Option<String> {
        resources::read(&self.resources)
    }

    /// A location. Needs no recursion: calls nest deep.
    pub(crate) fn loc(&mut self, m: &mut Module, location: Location<'c>) -> Result<LocId, Error> {
        let mut stack = vec![location];
        let mut id = LocId::UNKNOWN;
        while let Some(&top) = stack.last() {
            let key = top.to_raw().ptr as usize;
            if let Some(&known) = self.locs.get(&key) {
                id = known;
                stack.pop();
                continue;
            }
            let children = children(&top);
            let height = stack.len();
            stack.extend(
                children
                    .iter()
                    .filter(|child| !self.locs.contains_key(&(child.to_raw().ptr as usize))),
            );
            if stack.len() > height {
                continue;
            }
            let known = |child: &Location<'c>| {
                self.locs.get(&(child.to_raw().ptr as usize)).copied().unwrap_or(LocId::UNKNOWN)
            };
            let loc = if top.is_name() {
                Loc::Name { name: symbol(m, &top.name_value()), child: known(&children[0]) }
            } else if top.is_call_site() {
                Loc::CallSite { callee: known(&children[0]), caller: known(&children[1]) }
            } else if top.is_fused() {
                let locs = children.iter().map(known).collect();
                let metadata = top.fused_metadata();
                let metadata = (!ffi::is_none(metadata)).then(|| m.symbol(&metadata.to_string()));
                Loc::Fused { metadata, locs }
            } else {
                source(m, &top)
            };
            id = m.loc_id(loc);
            self.locs.insert(key, id);
            stack.pop();
        }
        Ok(id)
    }
}

fn symbol(m: &mut Module, name: &Identifier<'_>) -> Symbol {
    m.symbol(&String::from_utf8_lossy(ffi::bytes(name)))
}

/// The locations that a location consists of.
fn children<'c>(location: &Location<'c>) -> Vec<Location<'c>> {
    if location.is_name() {
        vec![location.name_child_location()]
    } else if location.is_call_site() {
        vec![location.call_site_callee(), location.call_site_caller()]
    } else if location.is_fused() {
        ffi::fused_locations(location)
    } else {
        Vec::new()
    }
}

/// A place in a file; any other kind of location says nothing that ours could.
fn source(m: &mut Module, location: &Location<'_>) -> Loc {
    if !location.is_file_line_col_range() {
        return Loc::Unknown;
    }
    let line = location.file_line_col_range_start_line() as u32;
    let col = location.file_line_col_range_start_column() as u32;
    let end = (
        location.file_line_col_range_end_line() as u32,
        location.file_line_col_range_end_column() as u32,
    );
    let file = symbol(m, &location.file_line_col_range_filename());
    Loc::File { file, line, col, end: (end != (line, col)).then_some(end) }
}
