//! From our types, attributes and locations to MLIR's. Each is made once, but for constants' bytes,
//! which MLIR itself has once.

use melior::Context;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, StringAttribute};
use melior::ir::{Attribute, Identifier, Location, Type};
use rustc_hash::FxHashMap;
use shard_ir::{Attr, AttrsId, Dense, DenseData, FuncId, Loc, LocId, MeshId, Module, OpId, TypeId};
use shard_text::generic::{GenericForm, NamedValues, Value};

use crate::{Error, dense, ffi, resources};

/// Attributes by their names.
pub(crate) type Named<'c, 'm> = Vec<(&'m str, Attribute<'c>)>;

pub(crate) struct Attributes<'c, 'm> {
    context: &'c Context,
    m: &'m Module,
    form: GenericForm<'m>,
    types: FxHashMap<TypeId, Type<'c>>,
    /// Those that go by their text.
    texts: FxHashMap<String, Attribute<'c>>,
    locs: FxHashMap<LocId, Location<'c>>,
    /// Constants whose elements are blobs beside the program.
    resources: Vec<(&'m Dense, Attribute<'c>)>,
}

fn refused(what: String) -> Error {
    Error::Mlir { what, said: Vec::new() }
}

impl<'c, 'm> Attributes<'c, 'm> {
    pub(crate) fn new(context: &'c Context, m: &'m Module) -> Result<Self, Error> {
        let mut form = GenericForm::new(m);
        let resources = resources::write(context, m, |dense| form.dense(dense))?;
        let types = FxHashMap::default();
        let texts = FxHashMap::default();
        let locs = FxHashMap::default();
        Ok(Attributes { context, m, form, types, texts, locs, resources })
    }

    pub(crate) fn ty(&mut self, id: TypeId) -> Result<Type<'c>, Error> {
        if let Some(ty) = self.types.get(&id) {
            return Ok(*ty);
        }
        let text = self.form.ty(id);
        let ty = Type::parse(self.context, &text);
        let ty = ty.ok_or_else(|| refused(format!("the type {text}")))?;
        self.types.insert(id, ty);
        Ok(ty)
    }

    /// The properties and the attributes of an op.
    pub(crate) fn op(&mut self, op: OpId) -> Result<(Named<'c, 'm>, Named<'c, 'm>), Error> {
        let (properties, attrs) = self.form.op(op);
        Ok((self.named(properties)?, self.named(attrs)?))
    }

    /// The properties of a function.
    pub(crate) fn func(&mut self, func: FuncId) -> Result<Named<'c, 'm>, Error> {
        let properties = self.form.func(func);
        properties.into_iter().map(|(name, text)| Ok((name, self.text(text)?))).collect()
    }

    /// The properties of a mesh.
    pub(crate) fn mesh(&mut self, mesh: MeshId) -> Result<Named<'c, 'm>, Error> {
        let properties = self.form.mesh(mesh);
        properties.into_iter().map(|(name, text)| Ok((name, self.text(text)?))).collect()
    }

    /// A list of attributes.
    pub(crate) fn list(&mut self, id: AttrsId) -> Result<Named<'c, 'm>, Error> {
        let m = self.m;
        let list = m.attrs(id).iter();
        list.map(|(name, attr)| Ok((m.str(*name), self.attr(attr)?))).collect()
    }

    pub(crate) fn string(&self, text: &str) -> Result<Attribute<'c>, Error> {
        Ok(StringAttribute::new(self.context, text).into())
    }

    fn named(&mut self, list: NamedValues<'m>) -> Result<Named<'c, 'm>, Error> {
        let mut named = Vec::with_capacity(list.len());
        for (name, value) in list {
            let attribute = match value {
                Value::Attr(attr) => self.attr(attr)?,
                Value::Dense(dense) => self.dense(dense)?,
                Value::Text(text) => self.text(text)?,
            };
            named.push((name, attribute));
        }
        Ok(named)
    }

    fn attr(&mut self, attr: &'m Attr) -> Result<Attribute<'c>, Error> {
        match attr {
            Attr::Array(items) => {
                let items: Vec<_> =
                    items.iter().map(|item| self.attr(item)).collect::<Result<_, _>>()?;
                Ok(ArrayAttribute::new(self.context, &items).into())
            }
            Attr::Dict(id) => {
                let context = self.context;
                let list: Vec<_> = self
                    .list(*id)?
                    .into_iter()
                    .map(|(name, attribute)| (Identifier::new(context, name), attribute))
                    .collect();
                Ok(DictionaryAttribute::new(context, &list).into())
            }
            Attr::Dense(dense) => self.dense(dense),
            attr => {
                let text = self.form.attr(attr);
                self.text(text)
            }
        }
    }

    fn dense(&mut self, dense: &'m Dense) -> Result<Attribute<'c>, Error> {
        if matches!(dense.data, DenseData::Resource(_))
            && let Some((_, known)) = self.resources.iter().find(|(other, _)| *other == dense)
        {
            return Ok(*known);
        }
        if let Some(tensor) = self.m.ty(dense.ty).as_tensor() {
            let ty = self.ty(dense.ty)?;
            if let Some(attribute) = dense::write(ty, tensor, &dense.data) {
                return Ok(attribute.into());
            }
        }
        let text = self.form.dense(dense);
        self.text(text)
    }

    /// An attribute by its text.
    fn text(&mut self, text: String) -> Result<Attribute<'c>, Error> {
        if let Some(attribute) = self.texts.get(&text) {
            return Ok(*attribute);
        }
        let attribute = Attribute::parse(self.context, &text);
        let attribute = attribute.ok_or_else(|| refused(format!("the attribute {text}")))?;
        self.texts.insert(text, attribute);
        Ok(attribute)
    }

    /// A location. Needs no recursion: calls nest deep.
    pub(crate) fn loc(&mut self, id: LocId) -> Result<Location<'c>, Error> {
        let unknown = Location::unknown(self.context);
        let mut stack = vec![id];
        let mut made = unknown;
        while let Some(&top) = stack.last() {
            if let Some(known) = self.locs.get(&top) {
                made = *known;
                stack.pop();
                continue;
            }
            let loc = self.m.loc(top);
            let height = stack.len();
            let children: &[LocId] = match &loc {
                Loc::Name { child, .. } => &[*child],
                Loc::CallSite { callee, caller } => &[*callee, *caller],
                Loc::Fused { locs, .. } => locs,
                Loc::Unknown | Loc::Input(_) | Loc::File { .. } => &[],
            };
            stack.extend(children.iter().filter(|child| !self.locs.contains_key(child)));
            if stack.len() > height {
                continue;
            }
            made = self.fresh_loc(&loc)?;
            self.locs.insert(top, made);
            stack.pop();
        }
        Ok(made)
    }

    /// A location whose parts are made.
    fn fresh_loc(&mut self, loc: &Loc) -> Result<Location<'c>, Error> {
        let (context, m) = (self.context, self.m);
        let unknown = Location::unknown(context);
        let part = |this: &Self, id: &LocId| this.locs.get(id).copied().unwrap_or(unknown);
        Ok(match loc {
            Loc::Unknown | Loc::Input(_) => unknown,
            Loc::File { file, line, col, end } => {
                let (file, line, col) = (m.str(*file), *line as usize, *col as usize);
                match *end {
                    None => Location::new(context, file, line, col),
                    Some((end_line, end_col)) => {
                        let (end_line, end_col) = (end_line as usize, end_col as usize);
                        Location::file_line_col_range(context, file, line, col, end_line, end_col)
                    }
                }
            }
            Loc::Name { name, child } => Location::name(context, m.str(*name), part(self, child)),
            Loc::CallSite { callee, caller } => {
                Location::call_site(part(self, callee), part(self, caller))
            }
            Loc::Fused { metadata, locs } => {
                let metadata = match metadata {
                    Some(text) => self.text(m.str(*text).to_owned())?,
                    None => ffi::no_attribute(),
                };
                let locs: Vec<_> = locs.iter().map(|id| part(self, id)).collect();
                Location::fused(context, &locs, metadata)
            }
        })
    }
}
