//! Attributes of dialects: those of `stablehlo` and `sdy` that ops have as fields; any other is
//! kept as its text.

use shard_ir::ops::{ConvDims, DotDims, GatherDims, MeshAxes, ScatterDims};
use shard_ir::sharding::{AxisList, Groups, Mesh, MeshAxis};
use shard_ir::{Attr, Channel, Dims, MeshId, Symbol};
use smallvec::SmallVec;

use super::parser::{Parser, Read};
use super::shardings::RawAxis;

impl<'a> Parser<'a> {
    /// An attribute that begins with `#`.
    pub(crate) fn hash_attr(&mut self) -> Read<Attr> {
        let start = self.c.pos();
        self.c.eat(b'#');
        let name = self.c.suffix();
        match (name.split_once('.'), self.c.here()) {
            (None, b'<') => {
                // `#dialect<kind body>`.
                self.c.eat(b'<');
                self.c.skip_space();
                let kind = self.c.ident();
                if let Some(attr) = self.known_attr(name, kind)? {
                    self.expect(b'>')?;
                    return Ok(attr);
                }
                if let Some(attr) = self.enum_attr(name, kind) {
                    return Ok(attr);
                }
                self.c.set_pos(start + 1 + name.len());
                self.text_attr(start)
            }
            (None, _) if name.is_empty() => self.expected("the name of an attribute after '#'"),
            (None, _) => self.attr_alias(start),
            (Some((dialect, kind)), _) => {
                if let Some(attr) = self.known_attr(dialect, kind)? {
                    return Ok(attr);
                }
                self.text_attr(start)
            }
        }
    }

    fn text_attr(&mut self, start: usize) -> Read<Attr> {
        if self.c.here() == b'<' {
            self.balanced("attribute")?;
        }
        let text = self.c.slice_from(start);
        let text = self.without_aliases(text);
        let spelling = self.m.str(text);
        let wrong = match spelling.strip_prefix("#stablehlo.") {
            Some(rest) if rest.starts_with("dot_algorithm<") => wrong_algorithm(rest),
            Some(rest) if rest.starts_with("result_accuracy<") => wrong_accuracy(rest),
            _ => None,
        };
        match wrong {
            Some(message) => {
                let end = self.c.pos();
                self.error(start..end, message)
            }
            None => Ok(Attr::Text(text)),
        }
    }

    /// `VALUE>` of an enumeration.
    fn enum_attr(&mut self, dialect: &'a str, kind: &'a str) -> Option<Attr> {
        if kind.is_empty() {
            return None;
        }
        let value = self.c.ident();
        if value.is_empty() || !self.c.eat(b'>') {
            return None;
        }
        Some(Attr::Enum {
            dialect: self.m.symbol(dialect),
            kind: self.m.symbol(kind),
            value: self.m.symbol(value),
        })
    }

    /// The body of an attribute of a known kind.
    fn known_attr(&mut self, dialect: &str, kind: &str) -> Read<Option<Attr>> {
        Ok(Some(match (dialect, kind) {
            ("stablehlo", "channel_handle") => Attr::Channel(self.channel()?),
            ("stablehlo", "dot") => Attr::DotDims(Box::new(self.dot_dims()?)),
            ("stablehlo", "gather") => Attr::GatherDims(Box::new(self.gather_dims()?)),
            ("stablehlo", "scatter") => Attr::ScatterDims(Box::new(self.scatter_dims()?)),
            ("stablehlo", "conv") => Attr::ConvDims(Box::new(self.conv_attr()?)),
            ("stablehlo", "replica_group_mesh_axes") => {
                let start = self.c.pos();
                match self.mesh_axes_groups()? {
                    Some(groups) => Attr::Groups(Box::new(groups)),
                    None => {
                        // A form that isn't modelled is kept.
                        self.c.set_pos(start);
                        return Ok(None);
                    }
                }
            }
            ("sdy", "sharding") => Attr::Sharding(self.sharding_body()?),
            ("sdy", "sharding_per_value") => {
                self.expect(b'<')?;
                let list = self.sharding_list()?;
                self.expect(b'>')?;
                Attr::ShardingPerValue(list.into())
            }
            ("sdy", "manual_axes") => Attr::ManualAxes(self.manual_axes()?),
            ("sdy", "axis_ref_list" | "list_of_axis_ref_lists" | "all_to_all_param_list") => {
                self.c.skip_space();
                let at = self.c.pos();
                self.balanced("attribute")?;
                let body = self.c.slice_from(at);
                let text = format!("#sdy<{kind}{body}>");
                let symbol = self.m.symbol(&text);
                self.deferred_axes.insert(symbol, at);
                Attr::Text(symbol)
            }
            _ => return Ok(None),
        }))
    }

    /// `<key = value, ...>`, the values read by `field`, which says whether it knows the key.
    fn fields(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Read<bool>) -> Read<()> {
        let mut seen: SmallVec<[&str; 8]> = SmallVec::new();
        self.list(b'<', b'>', |p| {
            // A comma after the last field is allowed.
            if p.c.peek() == b'>' && !seen.is_empty() {
                return Ok(());
            }
            let at = p.c.pos();
            let key = p.c.ident();
            if key.is_empty() {
                return p.expected("the name of a field");
            }
            if seen.contains(&key) {
                return p.error(at..at + key.len(), format!("field '{key}' is given twice"));
            }
            seen.push(key);
            p.expect(b'=')?;
            if field(p, key)? {
                Ok(())
            } else {
                p.error(at..at + key.len(), format!("there is no field '{key}' here"))
            }
        })
    }

    fn channel(&mut self) -> Read<Channel> {
        let mut channel = Channel { handle: 0, kind: 0 };
        self.fields(|p, key| {
            match key {
                "handle" => channel.handle = p.integer()?,
                "type" => channel.kind = p.integer()?,
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(channel)
    }

    fn dot_dims(&mut self) -> Read<DotDims> {
        let mut dims = DotDims::default();
        self.fields(|p, key| {
            let field = match key {
                "lhs_batching_dimensions" => &mut dims.lhs_batch,
                "rhs_batching_dimensions" => &mut dims.rhs_batch,
                "lhs_contracting_dimensions" => &mut dims.lhs_contracting,
                "rhs_contracting_dimensions" => &mut dims.rhs_contracting,
                _ => return Ok(false),
            };
            *field = p.dims()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    fn gather_dims(&mut self) -> Read<GatherDims> {
        let mut dims = GatherDims::default();
        self.fields(|p, key| {
            let field = match key {
                "offset_dims" => &mut dims.offset_dims,
                "collapsed_slice_dims" => &mut dims.collapsed_slice_dims,
                "operand_batching_dims" => &mut dims.operand_batching_dims,
                "start_indices_batching_dims" => &mut dims.start_indices_batching_dims,
                "start_index_map" => &mut dims.start_index_map,
                "index_vector_dim" => {
                    dims.index_vector_dim = p.integer()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = p.dims()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    fn scatter_dims(&mut self) -> Read<ScatterDims> {
        let mut dims = ScatterDims::default();
        self.fields(|p, key| {
            let field = match key {
                "update_window_dims" => &mut dims.update_window_dims,
                "inserted_window_dims" => &mut dims.inserted_window_dims,
                "input_batching_dims" => &mut dims.input_batching_dims,
                "scatter_indices_batching_dims" => &mut dims.scatter_indices_batching_dims,
                "scatter_dims_to_operand_dims" => &mut dims.scatter_dims_to_operand_dims,
                "index_vector_dim" => {
                    dims.index_vector_dim = p.integer()?;
                    return Ok(true);
                }
                _ => return Ok(false),
            };
            *field = p.dims()?;
            Ok(true)
        })?;
        Ok(dims)
    }

    /// `<[b, 0, f]x[0, i, o]->[b, 0, f]>`, or `<raw input_batch_dimension = ...>`.
    fn conv_attr(&mut self) -> Read<ConvDims> {
        let start = self.c.pos();
        self.expect(b'<')?;
        if self.c.is_word("raw") {
            self.c.eat_word("raw");
            return self.raw_conv(start);
        }
        let dims = self.conv_dims()?;
        self.expect(b'>')?;
        Ok(dims)
    }

    fn raw_conv(&mut self, start: usize) -> Read<ConvDims> {
        let mut dims = ConvDims::default();
        loop {
            let key = self.c.ident();
            self.expect(b'=')?;
            match key {
                "input_batch_dimension" => dims.input_batch = self.integer()?,
                "input_feature_dimension" => dims.input_feature = self.integer()?,
                "input_spatial_dimensions" => dims.input_spatial = self.dims()?,
                "kernel_input_feature_dimension" => dims.kernel_input_feature = self.integer()?,
                "kernel_output_feature_dimension" => dims.kernel_output_feature = self.integer()?,
                "kernel_spatial_dimensions" => dims.kernel_spatial = self.dims()?,
                "output_batch_dimension" => dims.output_batch = self.integer()?,
                "output_feature_dimension" => dims.output_feature = self.integer()?,
                "output_spatial_dimensions" => dims.output_spatial = self.dims()?,
                _ => {
                    let end = self.c.pos();
                    return self.error(start..end, format!("there is no field '{key}' here"));
                }
            }
            if self.c.eat(b'>') {
                return Ok(dims);
            }
            self.expect(b',')?;
        }
    }

    /// `<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>`; `None` if the axes are of
    /// another form.
    fn mesh_axes_groups(&mut self) -> Read<Option<Groups>> {
        self.expect(b'<')?;
        self.key("mesh")?;
        let mesh = if self.c.peek() == b'@' {
            let at = self.c.pos();
            let name = self.symbol_name()?;
            if self.m.find_mesh(self.m.str(name)).is_none() && self.is_func(name) {
                // Any symbol will do for StableHLO; what isn't a mesh says nothing of groups.
                return Ok(None);
            }
            self.mesh_named(name, at)?
        } else {
            let at = self.c.pos();
            let Some(mesh) = self.stablehlo_mesh()? else {
                self.c.set_pos(at);
                return Ok(None);
            };
            self.m.inline_mesh(mesh)
        };
        self.expect(b',')?;
        self.key("axes")?;
        let mut axes = AxisList::new();
        let mut modelled = true;
        self.list(b'[', b']', |p| {
            p.c.skip_space();
            let at = p.c.pos();
            if !p.c.eat_str("#stablehlo.axis_ref") {
                modelled = false;
                p.attr()?;
                return Ok(());
            }
            let mut raw = RawAxis { name: p.m.symbol(""), sub: None, at };
            p.fields(|p, key| {
                match key {
                    "name" => raw.name = p.string_symbol()?,
                    "sub_axis_info" => {
                        let full = p.c.eat_str("#stablehlo.sub_axis_info<");
                        raw.sub = Some(p.sub_axis()?);
                        if full {
                            p.expect(b'>')?;
                        }
                    }
                    _ => return Ok(false),
                }
                Ok(true)
            })?;
            let axis = p.resolve_axis(raw, mesh)?;
            axes.push(axis);
            Ok(())
        })?;
        self.expect(b'>')?;
        Ok(modelled.then_some(Groups::Axes { mesh, axes }))
    }

    /// Whether a function of the name is declared somewhere in the text.
    fn is_func(&self, name: Symbol) -> bool {
        let text = self.c.text();
        let generic = format!("sym_name = \"{}\"", self.m.str(name));
        if memchr::memmem::find(text.as_bytes(), generic.as_bytes()).is_some() {
            return true;
        }
        let needle = format!("@{}(", self.m.str(name));
        memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()).any(|at| {
            let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
            text[line..at].trim_start().starts_with("func.func ")
        })
    }

    /// `#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "x", size = 2>], device_ids = ...>`.
    fn stablehlo_mesh(&mut self) -> Read<Option<Mesh>> {
        if !self.c.eat_str("#stablehlo.mesh") {
            return Ok(None);
        }
        let mut mesh = Mesh::default();
        let mut device_ids: Option<Dims> = None;
        let mut modelled = true;
        self.fields(|p, key| {
            match key {
                "axes" => {
                    let mut axes = SmallVec::new();
                    p.list(b'[', b']', |p| {
                        p.expect_str("#stablehlo.mesh_axis")?;
                        let mut axis = MeshAxis { name: "".into(), size: 1 };
                        p.fields(|p, key| {
                            match key {
                                "name" => {
                                    let name = p.string_symbol()?;
                                    axis.name = p.m.str(name).into();
                                }
                                "size" => axis.size = p.axis_size()?,
                                _ => return Ok(false),
                            }
                            Ok(true)
                        })?;
                        axes.push(axis);
                        Ok(())
                    })?;
                    mesh.axes = axes;
                }
                "device_ids" => match p.attr()? {
                    Attr::Dense(dense) => {
                        device_ids = shard_ir::ops::dense_i64(&dense, &p.m);
                        modelled &= device_ids.is_some();
                    }
                    _ => modelled = false,
                },
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        if let Some(ids) = device_ids {
            let ids: Vec<u64> = ids.iter().map(|id| *id as u64).collect();
            mesh = mesh.with_device_ids(&ids);
        }
        Ok(modelled.then_some(mesh))
    }

    /// Axes of one list on a mesh.
    pub(crate) fn mesh_axes(&mut self, mesh: MeshId, raw: &[RawAxis]) -> Read<MeshAxes> {
        Ok(MeshAxes { mesh, axes: self.resolve_axes_list(raw, mesh)? })
    }
}

/// The value of a field in the text of an attribute.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let before = rest[..at].chars().next_back();
        rest = &rest[at + name.len()..];
        let Some(value) = rest.trim_start().strip_prefix('=') else { continue };
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let end = value.find([',', '>']).unwrap_or(value.len());
        return Some(value[..end].trim());
    }
    None
}

/// What is wrong with `dot_algorithm<...>`: it must be one that some machine has.
pub(super) fn wrong_algorithm(text: &str) -> Option<String> {
    const FIELDS: [&str; 7] = [
        "lhs_precision_type",
        "rhs_precision_type",
        "accumulation_type",
        "lhs_component_count",
        "rhs_component_count",
        "num_primitive_operations",
        "allow_imprecise_accumulation",
    ];
    let body = text.trim().split_once('<').and_then(|(_, body)| body.strip_suffix('>'));
    let Some(body) = body else {
        return Some("expected '<...>' with the fields of an algorithm".to_owned());
    };
    for part in body.split(',') {
        let Some((name, value)) = part.split_once('=') else {
            return Some(format!("'{}' is no field with a value", part.trim()));
        };
        let (name, value) = (name.trim(), value.trim());
        if !FIELDS.contains(&name) {
            return Some(format!("an algorithm has no field '{name}'"));
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if value.is_empty() || !value.chars().all(is_word) {
            return Some(format!("'{value}' is no value of '{name}'"));
        }
    }
    let count = |name: &str| field(text, name).and_then(|value| value.parse::<i64>().ok());
    let counts = ["lhs_component_count", "rhs_component_count", "num_primitive_operations"];
    let [lhs_parts, rhs_parts, steps] = counts.map(count);
    for (name, count) in counts.iter().zip([lhs_parts, rhs_parts, steps]) {
        if count.is_some_and(|count| count < 1) {
            return Some(format!("{name} is {}, not positive", count.unwrap_or(0)));
        }
    }
    let types = ["lhs_precision_type", "rhs_precision_type", "accumulation_type"];
    let [lhs, rhs, sum] = types.map(|name| field(text, name).unwrap_or(""));
    let fast = field(text, "allow_imprecise_accumulation") == Some("true");
    let is_f8 = |ty: &str| ty.starts_with("f8E");
    let steps = steps.unwrap_or(1);
    let known = match (lhs, rhs, sum) {
        (lhs, rhs, "f32") if is_f8(lhs) && is_f8(rhs) => steps == 1,
        _ if fast => false,
        ("f16", "f16", "f16" | "f32")
        | ("bf16", "bf16", "bf16")
        | ("f32", "f32", "f32")
        | ("f64", "f64", "f64") => steps == 1,
        ("bf16", "bf16", "f32") => matches!(steps, 1 | 3 | 6 | 9),
        ("tf32", "tf32", "f32") => matches!(steps, 1 | 3),
        _ => false,
    };
    let whole = lhs_parts.is_none_or(|n| n == 1) && rhs_parts.is_none_or(|n| n == 1);
    (!known || !whole).then(|| {
        format!(
            "no machine is known to compute {lhs} x {rhs} to {sum} in {steps} steps{}",
            if fast { " with imprecise sums" } else { "" }
        )
    })
}

/// What is wrong with `result_accuracy<...>`: tolerances belong to one mode.
fn wrong_accuracy(text: &str) -> Option<String> {
    let number = |name: &str| field(text, name).and_then(|value| value.parse::<f64>().ok());
    let tolerances = ["atol", "rtol", "ulps"].map(|name| number(name).unwrap_or(0.0));
    let mode = text.split("result_accuracy_mode<").nth(1)?.split('>').next()?;
    if mode != "TOLERANCE" && tolerances.iter().any(|tolerance| *tolerance != 0.0) {
        return Some(format!("a result accuracy of mode {mode} can't have tolerances"));
    }
    (tolerances.iter().any(|tolerance| *tolerance < 0.0))
        .then(|| "the tolerances of a result accuracy can't be negative".to_owned())
}
