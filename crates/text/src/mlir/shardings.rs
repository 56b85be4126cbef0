//! Meshes and shardings.

use memchr::memmem;
use shard_ir::ops::{AllToAllParam, AllToAllParams, AxisLists, ManualAxes};
use shard_ir::sharding::{
    AxisList, AxisRef, Combiner, DimSharding, Mesh, MeshAxis, TensorSharding,
};
use shard_ir::{Attr, Diagnostic, LocId, MeshId, ShardingId, Symbol};
use smallvec::SmallVec;

use super::generic::{declare_mesh, place_mesh};
use super::parser::{AttrList, Parser, Read};
use super::small;

/// An axis as it is written, its mesh not known yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawAxis {
    pub(crate) name: Symbol,
    /// `(pre)size`.
    pub(crate) sub: Option<(u32, u32)>,
    pub(crate) at: usize,
}

pub(crate) type RawAxes = SmallVec<[RawAxis; 2]>;

impl<'a> Parser<'a> {
    /// Reads the declarations of meshes, which may come after their uses. Errors are left to the
    /// reading proper.
    pub(crate) fn find_meshes(&mut self) {
        let text = self.c.text();
        for at in memmem::find_iter(text.as_bytes(), b"sdy.mesh") {
            let line = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |at| at + 1);
            let before = text[line..at].trim_start();
            let start = match before {
                "" => at,
                "\"" => at - 1,
                _ => continue,
            };
            let known = self.diagnostics.len();
            self.c.set_pos(start);
            let found = if before.is_empty() { self.mesh_head() } else { self.generic_mesh_head() };
            if let Ok((name, mesh)) = found {
                let id = declare_mesh(&mut self.m, name, mesh, LocId::input(start));
                self.mesh_at.insert(start, id);
            }
            self.diagnostics.truncate(known);
            self.fatal = false;
        }
        self.c.set_pos(0);
    }

    /// `sdy.mesh @name = <["x"=2], device_ids=[1, 0]>`.
    fn mesh_head(&mut self) -> Read<(Symbol, Mesh)> {
        self.expect_word("sdy.mesh")?;
        let name = self.symbol_name()?;
        self.expect(b'=')?;
        // With or without the name of the attribute.
        self.c.eat_str("#sdy.mesh");
        Ok((name, self.mesh_body()?))
    }

    /// `"sdy.mesh"() <{mesh = #sdy.mesh<...>, sym_name = "name"}>`.
    fn generic_mesh_head(&mut self) -> Read<(Symbol, Mesh)> {
        self.expect_str("\"sdy.mesh\"")?;
        self.expect_str("(")?;
        self.expect_str(")")?;
        let wrapped = self.c.eat(b'<');
        let mut name = None;
        let mut mesh = None;
        self.list(b'{', b'}', |p| {
            match p.c.ident() {
                "mesh" => {
                    p.expect(b'=')?;
                    p.expect_str("#sdy.mesh")?;
                    mesh = Some(p.mesh_body()?);
                }
                "sym_name" => {
                    p.expect(b'=')?;
                    name = Some(p.string_symbol()?);
                }
                _ => {
                    if p.c.eat(b'=') {
                        p.attr()?;
                    }
                }
            }
            Ok(())
        })?;
        if wrapped {
            self.expect(b'>')?;
        }
        match (name, mesh) {
            (Some(name), Some(mesh)) => Ok((name, mesh)),
            _ => self.expected("the attributes 'mesh' and 'sym_name' before"),
        }
    }

    /// The op `sdy.mesh`, at `start`.
    pub(crate) fn mesh_op(&mut self, start: usize, generic: bool) -> Read<()> {
        self.c.set_pos(start);
        let (name, mesh) = if generic { self.generic_mesh_head()? } else { self.mesh_head()? };
        let mut attrs = AttrList::new();
        self.optional_attr_dict(&mut attrs)?;
        if generic {
            self.expect(b':')?;
            self.function_type()?;
        }
        let loc = self.trailing_loc()?.unwrap_or(LocId::input(start));
        let id = match self.mesh_at.get(&start) {
            Some(id) => *id,
            None => declare_mesh(&mut self.m, name, mesh, loc),
        };
        let placed = place_mesh(&mut self.m, id, attrs, loc);
        self.made(start, placed)
    }

    /// `<["x"=2, "y"=4], device_ids=[...]>`.
    pub(crate) fn mesh_body(&mut self) -> Read<Mesh> {
        self.expect(b'<')?;
        let mut axes = SmallVec::new();
        self.list(b'[', b']', |p| {
            let name = p.string_symbol()?;
            p.expect(b'=')?;
            let size = p.axis_size()?;
            axes.push(MeshAxis { name: p.m.str(name).into(), size });
            Ok(())
        })?;
        let mut mesh = Mesh { axes, device_ids: None };
        if self.c.eat(b',') {
            self.key("device_ids")?;
            let mut ids = Vec::new();
            self.list(b'[', b']', |p| {
                let at = p.c.pos();
                match u64::try_from(p.integer()?) {
                    Ok(id) => ids.push(id),
                    Err(_) => return p.error(at..at + 1, "device ids aren't negative"),
                }
                Ok(())
            })?;
            mesh = mesh.with_device_ids(&ids);
        }
        self.expect(b'>')?;
        Ok(mesh)
    }

    pub(crate) fn axis_size(&mut self) -> Read<u32> {
        self.c.skip_space();
        let at = self.c.pos();
        let size = self.integer()?;
        match u32::try_from(size) {
            Ok(size) if size > 0 => Ok(size),
            _ => {
                let end = self.c.pos();
                self.error(at..end, format!("an axis of a mesh can't have size {size}"))
            }
        }
    }

    /// The mesh of the name.
    pub(crate) fn mesh_named(&mut self, name: Symbol, at: usize) -> Read<MeshId> {
        let found = self.m.meshes.iter().find(|(_, def)| def.name == Some(name)).map(|(id, _)| id);
        if let Some(id) = found {
            return Ok(id);
        }
        let text = self.m.str(name).to_owned();
        let known: Vec<String> = self
            .m
            .meshes
            .values()
            .filter_map(|def| def.name.map(|name| format!("@{}", self.m.str(name))))
            .collect();
        let end = self.c.pos();
        let diagnostic = Diagnostic::error(format!("there is no mesh @{text}")).at(at..end);
        self.report(if known.is_empty() {
            diagnostic.help(format!("declare it: sdy.mesh @{text} = <[\"x\"=2, \"y\"=4]>"))
        } else {
            diagnostic.help(format!("the meshes are {}", known.join(", ")))
        })
    }

    /// `"x"` or `"x":(1)2`.
    fn raw_axis(&mut self) -> Read<RawAxis> {
        self.c.skip_space();
        let at = self.c.pos();
        let name = self.string_symbol()?;
        // In an all-to-all, ':' after a whole axis isn't possible: the list is closed before.
        let sub = if self.c.eat(b':') { Some(self.sub_axis()?) } else { None };
        Ok(RawAxis { name, sub, at })
    }

    /// `(pre)size`.
    pub(crate) fn sub_axis(&mut self) -> Read<(u32, u32)> {
        let rest = self.c.rest();
        match small::sub_axis(rest) {
            Ok((after, sub)) => {
                self.c.set_pos(self.c.pos() + rest.len() - after.len());
                Ok(sub)
            }
            Err(_) => self.expected("a part of an axis such as '(2)4'"),
        }
    }

    /// `{"x", "y":(1)2}`.
    pub(crate) fn raw_axes(&mut self) -> Read<RawAxes> {
        let mut axes = RawAxes::new();
        self.list(b'{', b'}', |p| {
            axes.push(p.raw_axis()?);
            Ok(())
        })?;
        Ok(axes)
    }

    pub(crate) fn resolve_axis(&mut self, raw: RawAxis, mesh: MeshId) -> Read<AxisRef> {
        let def = &self.m.meshes[mesh];
        let name = self.m.str(raw.name);
        let Some(axis) = def.mesh.axis_index(name) else {
            let known: Vec<String> = def
                .mesh
                .axes
                .iter()
                .map(|axis| format!("\"{}\" ({})", axis.name, axis.size))
                .collect();
            let mesh_name = match def.name {
                Some(name) => format!("mesh @{}", self.m.str(name)),
                None => "the mesh".to_owned(),
            };
            let message = format!("{mesh_name} has no axis \"{name}\"");
            let end = raw.at + name.len() + 2;
            let diagnostic = Diagnostic::error(message).at(raw.at..end.min(self.c.text().len()));
            return self.report(if known.is_empty() {
                diagnostic.help(format!("{mesh_name} has no axes"))
            } else {
                diagnostic.help(format!("its axes are {}", known.join(", ")))
            });
        };
        let whole = def.mesh.axis_size(axis).unwrap_or(1);
        Ok(match raw.sub {
            None => AxisRef::whole(axis, whole),
            Some((pre, size)) => AxisRef::sub(axis, pre, size),
        })
    }

    pub(crate) fn resolve_axes_list(&mut self, raw: &[RawAxis], mesh: MeshId) -> Read<AxisList> {
        raw.iter().map(|axis| self.resolve_axis(*axis, mesh)).collect()
    }

    /// `<@mesh, [{"x"}, {?}p1], replicated={"y"}>`; looked up by its spelling first.
    pub(crate) fn sharding_body(&mut self) -> Read<ShardingId> {
        self.c.skip_space();
        let start = self.c.pos();
        let bytes = self.c.rest_bytes();
        if let Some(len) = memchr::memchr(b'>', bytes)
            && let Some(spelling) = self.c.text().get(start..start + len + 1)
        {
            if let Some(&id) = self.sharding_cache.get(spelling) {
                self.c.set_pos(start + len + 1);
                return Ok(id);
            }
            let id = self.fresh_sharding()?;
            if self.c.pos() == start + len + 1 {
                self.sharding_cache.insert(spelling, id);
            }
            return Ok(id);
        }
        self.fresh_sharding()
    }

    fn fresh_sharding(&mut self) -> Read<ShardingId> {
        let start = self.c.pos();
        self.expect(b'<')?;
        self.c.skip_space();
        let at = self.c.pos();
        let mesh = if self.c.eat_word("mesh") {
            let mesh = self.mesh_body()?;
            if let Err(error) = mesh.verify() {
                let end = self.c.pos();
                return self.error(at..end, error.to_string());
            }
            self.m.inline_mesh(mesh)
        } else {
            let name = self.symbol_name()?;
            self.mesh_named(name, at)?
        };
        let mut sharding = TensorSharding::fully_replicated(mesh, 0);
        self.expect(b',')?;
        self.list(b'[', b']', |p| {
            let dim = p.dim_sharding(mesh)?;
            sharding.dims.push(dim);
            Ok(())
        })?;
        while self.c.eat(b',') {
            if self.c.eat_word("replicated") {
                self.expect(b'=')?;
                let raw = self.raw_axes()?;
                sharding.replicated = self.resolve_axes_list(&raw, mesh)?;
            } else if self.c.eat_word("unreduced") {
                self.c.eat(b'=');
                for (word, combiner) in
                    [("sum", Combiner::Sum), ("max", Combiner::Max), ("min", Combiner::Min)]
                {
                    if self.c.eat_word(word) {
                        sharding.combiner = combiner;
                    }
                }
                let raw = self.raw_axes()?;
                sharding.unreduced = self.resolve_axes_list(&raw, mesh)?;
            } else {
                return self.expected("'replicated' or 'unreduced'");
            }
        }
        self.expect(b'>')?;
        let def = &self.m.meshes[mesh].mesh;
        if let Err(error) = sharding.verify(def, sharding.rank()) {
            let end = self.c.pos();
            return self.error(start..end, error.to_string());
        }
        Ok(self.m.sharding_id(sharding))
    }

    /// `{"x", ?}p1`.
    fn dim_sharding(&mut self, mesh: MeshId) -> Read<DimSharding> {
        let mut dim = DimSharding::default();
        self.list(b'{', b'}', |p| {
            if dim.open {
                return p.expected("'}' after '?'");
            }
            if p.c.eat(b'?') {
                dim.open = true;
                return Ok(());
            }
            let raw = p.raw_axis()?;
            let axis = p.resolve_axis(raw, mesh)?;
            dim.axes.push(axis);
            Ok(())
        })?;
        if self.c.here() == b'p' {
            let at = self.c.pos();
            let word = self.c.ident();
            match word[1..].parse::<u32>() {
                Ok(priority) => dim.priority = Some(priority),
                Err(_) => {
                    let message = format!("expected a priority such as 'p1', found '{word}'");
                    return self.error(at..at + word.len(), message);
                }
            }
        }
        Ok(dim)
    }

    /// `[<...>, <...>]`.
    pub(crate) fn sharding_list(&mut self) -> Read<Vec<ShardingId>> {
        let mut list = Vec::new();
        self.list(b'[', b']', |p| {
            if p.c.peek() != b'#' {
                list.push(p.sharding_body()?);
                return Ok(());
            }
            let at = p.c.pos();
            match p.attr()? {
                Attr::Sharding(id) => list.push(id),
                _ => {
                    let end = p.c.pos();
                    return p.error(at..end, "expected a sharding such as '<@mesh, [{}]>'");
                }
            }
            Ok(())
        })?;
        Ok(list)
    }

    /// `{"x", "y"}`.
    pub(crate) fn manual_axes(&mut self) -> Read<ManualAxes> {
        let mut axes = ManualAxes::default();
        self.list(b'{', b'}', |p| {
            axes.0.push(p.string_symbol()?);
            Ok(())
        })?;
        Ok(axes)
    }

    /// `[{"x"}, {}]`, one list a dimension.
    pub(crate) fn raw_axis_lists(&mut self) -> Read<Vec<RawAxes>> {
        let mut lists = Vec::new();
        self.list(b'[', b']', |p| {
            lists.push(p.raw_axes()?);
            Ok(())
        })?;
        Ok(lists)
    }

    pub(crate) fn resolve_axis_lists(&mut self, raw: &[RawAxes], mesh: MeshId) -> Read<AxisLists> {
        let dims = raw.iter().map(|axes| self.resolve_axes_list(axes, mesh));
        let dims: Vec<AxisList> = dims.collect::<Read<_>>()?;
        Ok(AxisLists { mesh, dims: dims.into() })
    }

    /// `[{"x"}: 0->1, ...]`.
    pub(crate) fn raw_all_to_all(&mut self) -> Read<Vec<(RawAxes, u32, u32)>> {
        let mut params = Vec::new();
        self.list(b'[', b']', |p| {
            let axes = p.raw_axes()?;
            p.expect(b':')?;
            let src = p.dim_number()?;
            p.expect_str("->")?;
            let dst = p.dim_number()?;
            params.push((axes, src, dst));
            Ok(())
        })?;
        Ok(params)
    }

    fn dim_number(&mut self) -> Read<u32> {
        self.c.skip_space();
        let at = self.c.pos();
        match u32::try_from(self.integer()?) {
            Ok(dim) => Ok(dim),
            Err(_) => {
                let end = self.c.pos();
                self.error(at..end, "dimensions aren't negative")
            }
        }
    }

    pub(crate) fn resolve_all_to_all(
        &mut self,
        raw: &[(RawAxes, u32, u32)],
        mesh: MeshId,
    ) -> Read<AllToAllParams> {
        let mut params = Vec::with_capacity(raw.len());
        for (axes, src, dst) in raw {
            let axes = self.resolve_axes_list(axes, mesh)?;
            params.push(AllToAllParam { axes, src: *src, dst: *dst });
        }
        Ok(AllToAllParams { mesh, params })
    }

    /// Reads the axes of an sdy collective in generic form, now that its mesh is known.
    pub(crate) fn resolve_axes(&mut self, attrs: &mut AttrList, op_at: usize) -> Read<()> {
        let mesh = attrs.iter().find_map(|(name, attr)| match attr {
            Attr::Sharding(id) if self.m.str(*name) == "out_sharding" => {
                Some(self.m.sharding(*id).mesh)
            }
            _ => None,
        });
        for (_, attr) in attrs.iter_mut() {
            let Attr::Text(text) = attr else { continue };
            if !self.deferred_axes.contains_key(text) {
                continue;
            }
            let Some(mesh) = mesh else {
                return self.error(op_at..op_at + 1, "the op needs an 'out_sharding'");
            };
            *attr = self.resolve_deferred(attr.clone(), mesh)?;
        }
        Ok(())
    }

    /// An attribute with its axes read, if they were left for when their mesh is known.
    pub(crate) fn resolve_deferred(&mut self, attr: Attr, mesh: MeshId) -> Read<Attr> {
        let Attr::Text(text) = attr else { return Ok(attr) };
        let Some(&at) = self.deferred_axes.get(&text) else { return Ok(attr) };
        let kind = self.m.str(text).to_owned();
        let back = self.c.pos();
        self.c.set_pos(at);
        let attr = if kind.starts_with("#sdy<axis_ref_list") {
            let raw = self.raw_axes()?;
            Attr::AxisRefs(Box::new(self.mesh_axes(mesh, &raw)?))
        } else if kind.starts_with("#sdy<list_of") {
            let raw = self.raw_axis_lists()?;
            Attr::AxisLists(Box::new(self.resolve_axis_lists(&raw, mesh)?))
        } else {
            let raw = self.raw_all_to_all()?;
            Attr::AllToAllParams(Box::new(self.resolve_all_to_all(&raw, mesh)?))
        };
        self.c.set_pos(back);
        Ok(attr)
    }
}
