//! Whether two modules are the same program, whatever the ids of its parts.

use shard_ir::ops::{FieldRef, Op};
use shard_ir::{
    Attr, AttrsId, BlockId, Dense, Func, Item, Loc, LocId, MeshDef, MeshId, Module, OpId, RegionId,
    ShardingId, TypeId, ValueId,
};

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::print::{attr_text, type_text};

/// What is compared beside the program itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare {
    /// Source locations too. An offset in the text that was read is an unknown location.
    pub locations: bool,
}

/// Compares two modules without their locations.
///
/// # Errors
/// The first difference, in words.
pub fn equal(a: &Module, b: &Module) -> Result<(), String> {
    Compare::default().modules(a, b)
}

impl Compare {
    /// Compares two modules.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn modules(self, a: &Module, b: &Module) -> Result<(), String> {
        let mut pair = Pair { a, b, values: SecondaryMap::new(), locations: self.locations };
        pair.modules()
    }
}

struct Pair<'m> {
    a: &'m Module,
    b: &'m Module,
    /// The value of `b` that each value of `a` is.
    values: SecondaryMap<ValueId, PackedOption<ValueId>>,
    locations: bool,
}

type Same = Result<(), String>;

fn check(same: bool, what: impl FnOnce() -> String) -> Same {
    if same { Ok(()) } else { Err(what()) }
}

impl Pair<'_> {
    fn modules(&mut self) -> Same {
        let (a, b) = (self.a, self.b);
        check(a.name.map(|name| a.str(name)) == b.name.map(|name| b.str(name)), || {
            "the modules have different names".to_owned()
        })?;
        let resources = |m: &Module| m.resources.map(|text| m.str(text).to_owned());
        check(resources(a) == resources(b), || {
            "the blobs beside the program are different".to_owned()
        })?;
        self.attrs("the module", a.attrs, b.attrs)?;
        let unknown = LocId::UNKNOWN;
        self.loc(
            "the module",
            a.loc.expand().unwrap_or(unknown),
            b.loc.expand().unwrap_or(unknown),
        )?;
        check(a.items.len() == b.items.len(), || {
            format!("the modules have {} and {} items", a.items.len(), b.items.len())
        })?;
        for (at, (x, y)) in a.items.iter().zip(&b.items).enumerate() {
            match (x, y) {
                (Item::Mesh(x), Item::Mesh(y)) => self.mesh(*x, *y)?,
                (Item::Func(x), Item::Func(y)) => self.func(&a.funcs[*x], &b.funcs[*y])?,
                (Item::Op(x), Item::Op(y)) => self.op(*x, *y)?,
                _ => return Err(format!("item {at} of the modules is of different kinds")),
            }
        }
        Ok(())
    }

    fn mesh(&self, x: MeshId, y: MeshId) -> Same {
        let (x, y): (&MeshDef, &MeshDef) = (&self.a.meshes[x], &self.b.meshes[y]);
        let names = (x.name.map(|name| self.a.str(name)), y.name.map(|name| self.b.str(name)));
        check(names.0 == names.1 && x.mesh == y.mesh, || {
            format!("meshes {names:?} differ: {:?} and {:?}", x.mesh, y.mesh)
        })?;
        self.attrs("a mesh", x.attrs, y.attrs)?;
        self.loc("a mesh", x.loc, y.loc)
    }

    fn func(&mut self, x: &Func, y: &Func) -> Same {
        let (a, b) = (self.a, self.b);
        let name = a.str(x.name).to_owned();
        let what = format!("function @{name}");
        check(name == b.str(y.name), || format!("@{name} and @{} differ", b.str(y.name)))?;
        check(
            x.visibility.map(|text| a.str(text)) == y.visibility.map(|text| b.str(text)),
            || format!("{what}: visibility differs"),
        )?;
        check(x.is_declaration == y.is_declaration, || format!("{what}: one has no body"))?;
        check(
            x.arg_attrs.len() == y.arg_attrs.len() && x.results.len() == y.results.len(),
            || format!("{what}: signatures differ"),
        )?;
        for (p, q) in x.arg_attrs.iter().zip(&y.arg_attrs) {
            self.attrs(&what, *p, *q)?;
        }
        for (p, q) in x.results.iter().zip(&y.results) {
            self.ty(&what, p.ty, q.ty)?;
            self.attrs(&what, p.attrs, q.attrs)?;
            self.sharding(&what, p.sharding.expand(), q.sharding.expand())?;
        }
        self.attrs(&what, x.attrs, y.attrs)?;
        self.loc(&what, x.loc, y.loc)?;
        self.region(&what, x.body, y.body)
    }

    fn region(&mut self, what: &str, x: RegionId, y: RegionId) -> Same {
        let (p, q) = (&self.a.region(x).blocks, &self.b.region(y).blocks);
        check(p.len() == q.len(), || format!("{what}: {} and {} blocks", p.len(), q.len()))?;
        for (&p, &q) in p.iter().zip(q) {
            self.params(what, p, q)?;
        }
        for (&p, &q) in p.iter().zip(q) {
            let (ops, others) = (self.a.block_ops(p), self.b.block_ops(q));
            check(ops.len() == others.len(), || {
                format!("{what}: {} and {} ops in a block", ops.len(), others.len())
            })?;
            for (&op, &other) in ops.iter().zip(others) {
                self.op(op, other)?;
            }
        }
        Ok(())
    }

    fn params(&mut self, what: &str, x: BlockId, y: BlockId) -> Same {
        let (p, q) = (self.a.params(x), self.b.params(y));
        check(p.len() == q.len(), || format!("{what}: {} and {} arguments", p.len(), q.len()))?;
        for (&p, &q) in p.iter().zip(q) {
            self.value(what, p, q)?;
            let unknown = LocId::UNKNOWN;
            self.loc(
                what,
                self.a.param_locs[p].expand().unwrap_or(unknown),
                self.b.param_locs[q].expand().unwrap_or(unknown),
            )?;
        }
        Ok(())
    }

    /// Defines a value: its type and sharding must be the same.
    fn value(&mut self, what: &str, x: ValueId, y: ValueId) -> Same {
        self.ty(what, self.a.value_type(x), self.b.value_type(y))?;
        self.sharding(what, self.a.shardings[x].expand(), self.b.shardings[y].expand())?;
        self.values[x] = y.into();
        Ok(())
    }

    fn op(&mut self, x: OpId, y: OpId) -> Same {
        let (a, b) = (self.a, self.b);
        let name = a.op_name(x).to_owned();
        check(name == b.op_name(y), || format!("'{name}' and '{}' differ", b.op_name(y)))?;
        let place = match shard_ir::place_of(a, a.op(x).loc) {
            shard_ir::Place::Text(range) => format!(" at byte {}", range.start),
            shard_ir::Place::Source { file, line, .. } => format!(" at {file}:{line}"),
            shard_ir::Place::Nowhere => String::new(),
        };
        let what = format!("'{name}'{place}");
        let (p, q) = (a.operands(x), b.operands(y));
        check(
            p.len() == q.len()
                && p.iter().zip(q).all(|(p, q)| self.values[*p].expand() == Some(*q)),
            || format!("{what}: operands differ"),
        )?;
        self.fields(&what, a.kind(x), b.kind(y))?;
        self.attrs(&what, a.op(x).attrs, b.op(y).attrs)?;
        self.loc(&what, a.op(x).loc, b.op(y).loc)?;
        let (p, q) = (a.results(x), b.results(y));
        check(p.len() == q.len(), || format!("{what}: {} and {} results", p.len(), q.len()))?;
        for (&p, &q) in p.iter().zip(q) {
            self.value(&what, p, q)?;
        }
        let (p, q) = (a.regions(x), b.regions(y));
        check(p.len() == q.len(), || format!("{what}: {} and {} regions", p.len(), q.len()))?;
        for (&p, &q) in p.iter().zip(q) {
            self.region(&what, p, q)?;
        }
        Ok(())
    }

    fn fields(&self, what: &str, x: &Op, y: &Op) -> Same {
        if let (Op::Opaque(x), Op::Opaque(y)) = (x, y) {
            check(x.successors == y.successors, || format!("{what}: successors differ"))?;
            return self.attr_lists(what, &x.properties, &y.properties);
        }
        let mut lists: [Vec<(&str, String)>; 2] = Default::default();
        for ((list, op), m) in lists.iter_mut().zip([x, y]).zip([self.a, self.b]) {
            op.visit_fields(&mut |name, field| list.push((name, field_text(m, field))));
        }
        let [p, q] = lists;
        for (p, q) in p.iter().zip(&q) {
            check(p == q, || format!("{what}: field {p:?} is {q:?}"))?;
        }
        check(p.len() == q.len(), || format!("{what}: {} and {} fields", p.len(), q.len()))
    }

    fn attrs(&self, what: &str, x: AttrsId, y: AttrsId) -> Same {
        self.attr_lists(what, self.a.attrs(x), self.b.attrs(y))
    }

    fn attr_lists(
        &self,
        what: &str,
        x: &[(shard_ir::Symbol, Attr)],
        y: &[(shard_ir::Symbol, Attr)],
    ) -> Same {
        check(x.len() == y.len(), || format!("{what}: {} and {} attributes", x.len(), y.len()))?;
        let mut lists: [Vec<(&str, String)>; 2] = Default::default();
        for ((list, attrs), m) in lists.iter_mut().zip([x, y]).zip([self.a, self.b]) {
            list.extend(attrs.iter().map(|(name, attr)| (m.str(*name), attr_text(m, attr))));
            list.sort();
        }
        let [p, q] = lists;
        for (p, q) in p.iter().zip(&q) {
            check(p == q, || format!("{what}: attribute {p:?} is {q:?}"))?;
        }
        Ok(())
    }

    fn ty(&self, what: &str, x: TypeId, y: TypeId) -> Same {
        let (x, y) = (type_text(self.a, x), type_text(self.b, y));
        check(x == y, || format!("{what}: type {x} is {y}"))
    }

    fn sharding(&self, what: &str, x: Option<ShardingId>, y: Option<ShardingId>) -> Same {
        let text =
            |m: &Module, id: Option<ShardingId>| id.map(|id| attr_text(m, &Attr::Sharding(id)));
        let (x, y) = (text(self.a, x), text(self.b, y));
        check(x == y, || format!("{what}: sharding {x:?} is {y:?}"))
    }

    fn loc(&self, what: &str, x: LocId, y: LocId) -> Same {
        if !self.locations {
            return Ok(());
        }
        let mut stack = vec![(x, y)];
        while let Some((x, y)) = stack.pop() {
            let (x, y) = (plain(self.a.loc(x)), plain(self.b.loc(y)));
            let (a, b) = (self.a, self.b);
            let same = match (x, y) {
                (Loc::Unknown, Loc::Unknown) => true,
                (
                    Loc::File { file: f, line: l, col: c, end: e },
                    Loc::File { file: g, line: m, col: d, end: o },
                ) => a.str(f) == b.str(g) && (l, c, e) == (m, d, o),
                (Loc::Name { name: n, child: c }, Loc::Name { name: m, child: d }) => {
                    stack.push((c, d));
                    a.str(n) == b.str(m)
                }
                (
                    Loc::CallSite { callee: c, caller: d },
                    Loc::CallSite { callee: e, caller: f },
                ) => {
                    stack.extend([(c, e), (d, f)]);
                    true
                }
                (Loc::Fused { metadata: m, locs: l }, Loc::Fused { metadata: n, locs: k }) => {
                    stack.extend(l.iter().copied().zip(k.iter().copied()));
                    l.len() == k.len() && m.map(|m| a.str(m)) == n.map(|n| b.str(n))
                }
                _ => false,
            };
            check(same, || format!("{what}: locations differ"))?;
        }
        Ok(())
    }
}

fn plain(loc: Loc) -> Loc {
    match loc {
        Loc::Input(_) => Loc::Unknown,
        loc => loc,
    }
}

/// A field as text; the bytes of constants are compared as they are.
fn field_text(m: &Module, field: FieldRef<'_>) -> String {
    match field {
        FieldRef::Dense(Dense { ty, data }) => match data {
            shard_ir::DenseData::Splat(bytes) => format!("splat {bytes:?} {}", type_text(m, *ty)),
            shard_ir::DenseData::Bytes(bytes) => format!("{bytes:?} {}", type_text(m, *ty)),
            _ => crate::print::field_text(m, field),
        },
        field => crate::print::field_text(m, field),
    }
}
