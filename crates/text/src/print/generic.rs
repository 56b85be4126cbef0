//! The generic form: what it says of ops, functions and meshes, and its text.

use shard_ir::ops::{FieldRef, Op};
use shard_ir::{Attr, AttrsId, Dense, FuncId, MeshId, Module, OpId, ShardingId, TypeId, ValueId};

use super::ops::{Entries, Entry};
use super::{Printer, push_number, push_string};

/// The value of a named attribute in generic form.
#[derive(Clone, Debug)]
pub enum Value<'m> {
    /// An attribute of the module.
    Attr(&'m Attr),
    /// A constant that is a field of the op.
    Dense(&'m Dense),
    /// The text of what is no attribute in the module: another field of an op, a sharding.
    Text(String),
}

/// Named attributes of an op in generic form.
pub type NamedValues<'m> = Vec<(&'m str, Value<'m>)>;

/// Says what stands in the generic form of a module's ops, functions and meshes, piece by piece.
pub struct GenericForm<'m>(Printer<'m>);

impl<'m> GenericForm<'m> {
    /// The generic form of the module.
    pub fn new(m: &'m Module) -> Self {
        let has_shardings = m.shardings.values().any(|sharding| sharding.is_some());
        GenericForm(Printer { has_shardings, ..Printer::without_names(m) })
    }

    /// What an op has between `<{` and `}>`, and what it has between `{` and `}`.
    pub fn op(&mut self, op: OpId) -> (NamedValues<'m>, NamedValues<'m>) {
        let (properties, attrs) = self.0.generic_entries(op);
        let mut values = |entries: Entries<'m>| {
            let value = |(name, entry)| {
                let value = match entry {
                    Entry::Attr(attr) | Entry::Field(FieldRef::Attr(attr)) => Value::Attr(attr),
                    Entry::Field(FieldRef::Dense(dense)) => Value::Dense(dense),
                    Entry::Field(field) => Value::Text(self.0.piece(|p| p.field(field))),
                    Entry::Shardings(list) => Value::Text(self.0.piece(|p| {
                        p.attr(&Attr::ShardingPerValue(list.into()), false);
                    })),
                };
                (name, value)
            };
            entries.into_iter().map(value).collect()
        };
        (values(properties), values(attrs))
    }

    /// What a function has between `<{` and `}>`; between `{` and `}` it has its attributes.
    pub fn func(&mut self, func: FuncId) -> Vec<(&'static str, String)> {
        self.0.func_properties(func)
    }

    /// What a mesh has between `<{` and `}>`; between `{` and `}` it has its attributes.
    pub fn mesh(&mut self, mesh: MeshId) -> Vec<(&'static str, String)> {
        self.0.mesh_properties(mesh)
    }

    /// The text of a type.
    pub fn ty(&mut self, ty: TypeId) -> String {
        self.0.piece(|p| p.ty(ty))
    }

    /// The text of an attribute, in full.
    pub fn attr(&mut self, attr: &Attr) -> String {
        self.0.piece(|p| p.attr(attr, false))
    }

    /// The text of a constant, in full.
    pub fn dense(&mut self, dense: &Dense) -> String {
        self.0.piece(|p| p.dense(dense))
    }
}

impl<'m> Printer<'m> {
    /// What `print` prints, instead of printing it.
    fn piece(&mut self, print: impl FnOnce(&mut Self)) -> String {
        let outside = std::mem::take(&mut self.out);
        print(self);
        std::mem::replace(&mut self.out, outside)
    }

    /// The properties and the attributes of an op.
    fn generic_entries(&self, op: OpId) -> (Entries<'m>, Entries<'m>) {
        let m = self.m;
        let mut properties = Entries::new();
        let mut extra = Entries::new();
        self.extra_attrs(op, &mut extra);
        if let Op::Opaque(opaque) = m.kind(op) {
            let list = opaque.properties.iter();
            properties.extend(list.map(|(name, attr)| (m.str(*name), Entry::Attr(attr))));
        } else {
            m.kind(op).visit_fields(&mut |name, field| {
                properties.push((name, Entry::Field(field)));
            });
            // An inherent attribute that the table has no field for.
            let mut at = 0;
            while at < extra.len() {
                if matches!(extra[at].0, "result_accuracy" | "is_stable") {
                    let entry = extra.remove(at);
                    properties.push(entry);
                } else {
                    at += 1;
                }
            }
        }
        (properties, extra)
    }

    /// `"name"(%0)[^bb1] <{...}> ({...}) {...} : (types) -> types`.
    pub(super) fn generic_op(&mut self, op: OpId) {
        let m = self.m;
        self.str("\"");
        self.str(m.op_name(op));
        self.str("\"(");
        self.values(m.operands(op));
        self.str(")");
        if let Op::Opaque(opaque) = m.kind(op)
            && !opaque.successors.is_empty()
        {
            self.str("[");
            for (at, block) in opaque.successors.iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                self.str("^bb");
                push_number((*block).into(), &mut self.out);
            }
            self.str("]");
        }
        let (properties, extra) = self.generic_entries(op);
        if !properties.is_empty() {
            self.str(" <");
            self.entries(properties);
            self.str(">");
        }
        let regions = m.regions(op);
        if !regions.is_empty() {
            self.str(" (");
            for (at, &region) in regions.iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                self.region(region, true, false);
            }
            self.str(")");
        }
        if !extra.is_empty() {
            self.str(" ");
            self.entries(extra);
        }
        self.str(" : ");
        self.function_type(op);
    }

    /// `{name = text, ...}`.
    pub(super) fn text_entries(&mut self, entries: &[(&str, String)]) {
        self.str("{");
        for (at, (name, text)) in entries.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.str(name);
            self.str(" = ");
            self.str(text);
        }
        self.str("}");
    }

    pub(super) fn mesh_properties(&mut self, id: MeshId) -> Vec<(&'static str, String)> {
        let def = &self.m.meshes[id];
        let name = def.name.map_or("", |name| self.m.str(name));
        let mesh = self.piece(|p| {
            p.str("#sdy.mesh");
            p.mesh(&def.mesh);
        });
        vec![("mesh", mesh), ("sym_name", self.piece(|p| push_string(name, &mut p.out)))]
    }

    fn func_properties(&mut self, id: FuncId) -> Vec<(&'static str, String)> {
        let m = self.m;
        let func = &m.funcs[id];
        let arg =
            |(index, arg): (usize, &ValueId)| (func.arg_attrs[index], m.shardings[*arg].expand());
        let args = m.args(id).iter().enumerate().map(arg).collect();
        let results = &func.results;
        let result_attrs =
            results.iter().map(|result| (result.attrs, result.sharding.expand())).collect();
        let mut list = Vec::new();
        list.extend(self.signed_dicts(args).map(|text| ("arg_attrs", text)));
        let function_type = self.piece(|p| {
            p.str("(");
            p.types_of(m.args(id));
            p.str(") -> ");
            match &results[..] {
                [result] => p.ty(result.ty),
                results => {
                    p.str("(");
                    for (at, result) in results.iter().enumerate() {
                        if at > 0 {
                            p.str(", ");
                        }
                        p.ty(result.ty);
                    }
                    p.str(")");
                }
            }
        });
        list.push(("function_type", function_type));
        list.extend(self.signed_dicts(result_attrs).map(|text| ("res_attrs", text)));
        list.push(("sym_name", self.piece(|p| p.string(func.name))));
        if let Some(visibility) = func.visibility {
            list.push(("sym_visibility", self.piece(|p| p.string(visibility))));
        }
        list
    }

    /// `[{...}, {}]`, the attributes of arguments or results; `None` if there are none.
    fn signed_dicts(&mut self, list: Vec<(AttrsId, Option<ShardingId>)>) -> Option<String> {
        if list.iter().all(|(attrs, sharding)| *attrs == AttrsId::EMPTY && sharding.is_none()) {
            return None;
        }
        Some(self.piece(|p| {
            p.str("[");
            for (at, (attrs, sharding)) in list.into_iter().enumerate() {
                if at > 0 {
                    p.str(", ");
                }
                if !p.signed_attrs(attrs, sharding, false) {
                    p.str("{}");
                }
            }
            p.str("]");
        }))
    }

    pub(super) fn generic_func(&mut self, id: FuncId) {
        let func = &self.m.funcs[id];
        self.str("\"func.func\"() <");
        let properties = self.func_properties(id);
        self.text_entries(&properties);
        self.str("> (");
        if func.is_declaration {
            self.str("{");
            self.newline();
            self.str("}");
        } else {
            self.region(func.body, true, false);
        }
        self.str(")");
        if func.attrs != AttrsId::EMPTY {
            self.str(" ");
            self.attrs(func.attrs);
        }
        self.str(" : () -> ()");
        self.trailing_loc(func.loc);
    }
}
