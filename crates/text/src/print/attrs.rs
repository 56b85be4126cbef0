//! Attributes, fields of ops, meshes and shardings.

use std::fmt::Write as _;

use shard_ir::ops::{
    AllToAllParams, AxisLists, ConvDims, DotDims, FieldRef, GatherDims, ManualAxes, Padding,
    ScatterDims,
};
use shard_ir::sharding::{AxesText, AxisRef, Combiner, Groups, Mesh};
use shard_ir::{Attr, AttrsId, Channel, ElementType, MeshId, ShardingId, Symbol, Type};

use super::{Printer, is_bare_name, push_number, push_signed, push_string};
use crate::float;

impl<'m> Printer<'m> {
    /// `{name = attribute, ...}` of a list, sorted by name.
    pub(crate) fn attrs(&mut self, id: AttrsId) {
        let m = self.m;
        let list = m.attrs(id);
        let sorted = list.windows(2).all(|pair| m.str(pair[0].0) <= m.str(pair[1].0));
        self.str("{");
        if sorted {
            for (at, (name, attr)) in list.iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                self.named_attr(m.str(*name), attr);
            }
        } else {
            let mut list: Vec<&(Symbol, Attr)> = list.iter().collect();
            list.sort_by(|a, b| m.str(a.0).cmp(m.str(b.0)));
            for (at, (name, attr)) in list.into_iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                self.named_attr(m.str(*name), attr);
            }
        }
        self.str("}");
    }

    pub(crate) fn attr_name(&mut self, name: &str) {
        if is_bare_name(name) {
            self.str(name);
        } else {
            push_string(name, &mut self.out);
        }
    }

    pub(crate) fn named_attr(&mut self, name: &str, attr: &Attr) {
        self.attr_name(name);
        if *attr != Attr::Unit {
            self.str(" = ");
            self.attr(attr, false);
        }
    }

    pub(crate) fn named_field(&mut self, name: &str, field: FieldRef<'m>) {
        self.attr_name(name);
        if !matches!(field, FieldRef::Unit) {
            self.str(" = ");
            self.field(field);
        }
    }

    /// An attribute. Types that are the default (`i64`, `f64`) may be left out inside arrays.
    pub(crate) fn attr(&mut self, attr: &Attr, in_array: bool) {
        let m = self.m;
        match attr {
            Attr::Unit => self.str("unit"),
            Attr::Bool(value) => self.str(if *value { "true" } else { "false" }),
            Attr::Int(value, ty) => {
                let _ = write!(self.out, "{value}");
                let default = matches!(m.ty(*ty), Type::Scalar(ElementType::I64));
                if !(in_array && default) {
                    self.str(" : ");
                    self.ty(*ty);
                }
            }
            Attr::Float(bits, ty) => {
                let element = match m.ty(*ty) {
                    Type::Scalar(element) => *element,
                    _ => ElementType::F64,
                };
                let bits = float::from_f64(f64::from_bits(*bits), element);
                let hex = float::print(bits, element, &mut self.out);
                if !(in_array && element == ElementType::F64 && !hex) {
                    self.str(" : ");
                    self.ty(*ty);
                }
            }
            Attr::String(text) => self.string(*text),
            Attr::Array(items) => {
                self.str("[");
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.attr(item, true);
                }
                self.str("]");
            }
            Attr::Dict(id) => self.attrs(*id),
            Attr::Type(ty) => self.ty(*ty),
            Attr::SymbolRef(path) => {
                for (at, name) in path.iter().enumerate() {
                    if at > 0 {
                        self.str("::");
                    }
                    self.symbol(*name);
                }
            }
            Attr::Dense(dense) => self.dense(dense),
            Attr::DenseArray(element, values) => self.dense_array(*element, values),
            Attr::Enum { dialect, kind, value } => {
                self.str("#");
                self.str(m.str(*dialect));
                self.str("<");
                self.str(m.str(*kind));
                self.str(" ");
                self.str(m.str(*value));
                self.str(">");
            }
            Attr::Channel(channel) => self.channel(*channel),
            Attr::DotDims(dims) => self.dot_dims(dims),
            Attr::ConvDims(dims) => self.conv_attr(dims),
            Attr::GatherDims(dims) => self.gather_dims(dims),
            Attr::ScatterDims(dims) => self.scatter_dims(dims),
            Attr::Groups(groups) => self.groups(groups),
            Attr::Sharding(id) => {
                self.str("#sdy.sharding");
                self.sharding(*id);
            }
            Attr::ShardingPerValue(list) => {
                self.str("#sdy.sharding_per_value<");
                self.sharding_list(list);
                self.str(">");
            }
            Attr::ManualAxes(axes) => {
                self.str("#sdy<manual_axes");
                self.manual_axes(axes);
                self.str(">");
            }
            Attr::AxisRefs(axes) => {
                self.str("#sdy<axis_ref_list");
                self.axes(axes.mesh, &axes.axes);
                self.str(">");
            }
            Attr::AxisLists(lists) => {
                self.str("#sdy<list_of_axis_ref_lists");
                self.axis_lists(lists);
                self.str(">");
            }
            Attr::AllToAllParams(params) => {
                self.str("#sdy<all_to_all_param_list");
                self.all_to_all(params);
                self.str(">");
            }
            Attr::Text(text) => self.str(m.str(*text)),
        }
    }

    /// A field of an op as an attribute.
    pub(crate) fn field(&mut self, field: FieldRef<'m>) {
        match field {
            FieldRef::Int(value, element) => {
                push_signed(value, &mut self.out);
                self.str(" : ");
                self.str(element.mlir_name());
            }
            FieldRef::Bool(value) => self.str(if value { "true" } else { "false" }),
            FieldRef::Unit => self.str("unit"),
            FieldRef::F32(bits) => {
                let bits = float::from_f64(f64::from_bits(bits), ElementType::F32);
                float::print(bits, ElementType::F32, &mut self.out);
                self.str(" : f32");
            }
            FieldRef::Dims(dims) => self.dense_array(ElementType::I64, dims),
            FieldRef::Flags(flags) => {
                self.str("array<i1");
                for (at, flag) in flags.iter().enumerate() {
                    self.str(if at == 0 { ": " } else { ", " });
                    self.str(if *flag { "true" } else { "false" });
                }
                self.str(">");
            }
            FieldRef::Pairs(pairs) => {
                let flat: Vec<i64> = pairs.iter().flatten().copied().collect();
                self.dense_matrix(pairs.len(), 2, &flat);
            }
            FieldRef::Groups(groups) => self.groups(groups),
            FieldRef::String(text) => self.string(text),
            FieldRef::SymbolRef(name) => self.symbol(name),
            FieldRef::Attr(attr) => self.attr(attr, false),
            FieldRef::Dense(dense) => self.dense(dense),
            FieldRef::DotDims(dims) => self.dot_dims(dims),
            FieldRef::ConvDims(dims) => self.conv_attr(dims),
            FieldRef::GatherDims(dims) => self.gather_dims(dims),
            FieldRef::ScatterDims(dims) => self.scatter_dims(dims),
            FieldRef::Channel(channel) => self.channel(channel),
            FieldRef::Enum { kind, value } => {
                self.str("#stablehlo<");
                self.str(kind);
                self.str(" ");
                self.str(value);
                self.str(">");
            }
            FieldRef::Precisions(list) => {
                self.str("[");
                for (at, precision) in list.iter().enumerate() {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.str("#stablehlo<precision ");
                    self.str(precision.text());
                    self.str(">");
                }
                self.str("]");
            }
            FieldRef::Sharding(id) => {
                self.str("#sdy.sharding");
                self.sharding(id);
            }
            FieldRef::Shardings(list) => {
                self.str("#sdy.sharding_per_value<");
                self.sharding_list(list);
                self.str(">");
            }
            FieldRef::AxisLists(lists) => {
                self.str("#sdy<list_of_axis_ref_lists");
                self.axis_lists(lists);
                self.str(">");
            }
            FieldRef::Axes(axes) => {
                self.str("#sdy<axis_ref_list");
                self.axes(axes.mesh, &axes.axes);
                self.str(">");
            }
            FieldRef::AllToAll(params) => {
                self.str("#sdy<all_to_all_param_list");
                self.all_to_all(params);
                self.str(">");
            }
            FieldRef::ManualAxes(axes) => {
                self.str("#sdy<manual_axes");
                self.manual_axes(axes);
                self.str(">");
            }
            FieldRef::Combiner(combiner) => self.str(match combiner {
                Combiner::Sum => "0 : i32",
                Combiner::Max => "1 : i32",
                Combiner::Min => "2 : i32",
            }),
        }
    }

    fn dense_array(&mut self, element: ElementType, values: &[i64]) {
        self.str("array<");
        self.str(element.mlir_name());
        for (at, &value) in values.iter().enumerate() {
            self.str(if at == 0 { ": " } else { ", " });
            match element {
                ElementType::I1 => self.str(if value == 0 { "false" } else { "true" }),
                element if element.is_float() => {
                    let bits = float::from_f64(f64::from_bits(value as u64), element);
                    float::print(bits, element, &mut self.out);
                }
                _ => push_signed(value, &mut self.out),
            }
        }
        self.str(">");
    }

    /// `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>`.
    fn dense_matrix(&mut self, rows: usize, width: usize, flat: &[i64]) {
        self.str("dense<");
        let count = flat.len();
        match flat.first() {
            None => {}
            Some(&first) if flat.iter().all(|value| *value == first) => self.integer(first),
            Some(_) if count > self.options.hex_above => {
                self.str("\"0x");
                for byte in flat.iter().flat_map(|value| value.to_le_bytes()) {
                    let _ = write!(self.out, "{byte:02X}");
                }
                self.str("\"");
            }
            Some(_) => {
                self.str("[");
                for (at, row) in flat.chunks(width.max(1)).enumerate() {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.number_list(row);
                }
                self.str("]");
            }
        }
        self.str("> : tensor<");
        push_number(rows as u64, &mut self.out);
        self.str("x");
        push_number(width as u64, &mut self.out);
        self.str("xi64>");
    }

    fn channel(&mut self, channel: Channel) {
        self.str("#stablehlo.channel_handle<handle = ");
        self.integer(channel.handle);
        self.str(", type = ");
        self.integer(channel.kind);
        self.str(">");
    }

    /// `<key = [..], ...>`, empty lists and a zero left out.
    fn dim_fields(&mut self, lists: &[(&str, &[i64])], last: Option<(&str, i64)>) {
        self.str("<");
        let mut separator = "";
        for (key, dims) in lists.iter().filter(|(_, dims)| !dims.is_empty()) {
            self.str(separator);
            separator = ", ";
            self.str(key);
            self.str(" = ");
            self.number_list(dims);
        }
        if let Some((key, value)) = last.filter(|(_, value)| *value != 0) {
            self.str(separator);
            self.str(key);
            self.str(" = ");
            self.integer(value);
        }
        self.str(">");
    }

    fn dot_dims(&mut self, dims: &DotDims) {
        self.str("#stablehlo.dot");
        self.dim_fields(
            &[
                ("lhs_batching_dimensions", &dims.lhs_batch),
                ("rhs_batching_dimensions", &dims.rhs_batch),
                ("lhs_contracting_dimensions", &dims.lhs_contracting),
                ("rhs_contracting_dimensions", &dims.rhs_contracting),
            ],
            None,
        );
    }

    fn gather_dims(&mut self, dims: &GatherDims) {
        self.str("#stablehlo.gather");
        self.dim_fields(
            &[
                ("offset_dims", &dims.offset_dims),
                ("collapsed_slice_dims", &dims.collapsed_slice_dims),
                ("operand_batching_dims", &dims.operand_batching_dims),
                ("start_indices_batching_dims", &dims.start_indices_batching_dims),
                ("start_index_map", &dims.start_index_map),
            ],
            Some(("index_vector_dim", dims.index_vector_dim)),
        );
    }

    fn scatter_dims(&mut self, dims: &ScatterDims) {
        self.str("#stablehlo.scatter");
        self.dim_fields(
            &[
                ("update_window_dims", &dims.update_window_dims),
                ("inserted_window_dims", &dims.inserted_window_dims),
                ("input_batching_dims", &dims.input_batching_dims),
                ("scatter_indices_batching_dims", &dims.scatter_indices_batching_dims),
                ("scatter_dims_to_operand_dims", &dims.scatter_dims_to_operand_dims),
            ],
            Some(("index_vector_dim", dims.index_vector_dim)),
        );
    }

    fn conv_attr(&mut self, dims: &ConvDims) {
        self.str("#stablehlo.conv<");
        if has_short_form(dims) {
            self.conv_dims(dims);
            self.str(">");
            return;
        }
        self.str("raw ");
        let sides = [
            (
                "input",
                ["batch", "feature"],
                [dims.input_batch, dims.input_feature],
                &dims.input_spatial,
            ),
            (
                "kernel",
                ["input_feature", "output_feature"],
                [dims.kernel_input_feature, dims.kernel_output_feature],
                &dims.kernel_spatial,
            ),
            (
                "output",
                ["batch", "feature"],
                [dims.output_batch, dims.output_feature],
                &dims.output_spatial,
            ),
        ];
        for (at, (side, names, numbers, spatial)) in sides.into_iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            for (name, number) in names.into_iter().zip(numbers) {
                let _ = write!(self.out, "{side}_{name}_dimension = {number}, ");
            }
            let _ = write!(self.out, "{side}_spatial_dimensions = ");
            self.number_list(spatial);
        }
        self.str(">");
    }

    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(crate) fn conv_dims(&mut self, dims: &ConvDims) {
        self.conv_side(dims.input_batch, 'b', dims.input_feature, 'f', &dims.input_spatial);
        self.str("x");
        self.conv_side(
            dims.kernel_input_feature,
            'i',
            dims.kernel_output_feature,
            'o',
            &dims.kernel_spatial,
        );
        self.str("->");
        self.conv_side(dims.output_batch, 'b', dims.output_feature, 'f', &dims.output_spatial);
    }

    fn conv_side(&mut self, first: i64, a: char, second: i64, b: char, spatial: &[i64]) {
        self.str("[");
        for at in 0..spatial.len() as i64 + 2 {
            if at > 0 {
                self.str(", ");
            }
            if at == first {
                self.out.push(a);
            } else if at == second {
                self.out.push(b);
            } else if let Some(dim) = spatial.iter().position(|dim| *dim == at) {
                push_number(dim as u64, &mut self.out);
            } else {
                self.str("?");
            }
        }
        self.str("]");
    }

    /// `stride = [1], pad = [[0, 1]]`.
    pub(crate) fn padding(&mut self, padding: &Padding) {
        self.str("[");
        for (at, pair) in padding.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.number_list(pair);
        }
        self.str("]");
    }

    pub(crate) fn groups(&mut self, groups: &Groups) {
        match groups {
            Groups::List { ids, num_groups, group_size } => {
                self.dense_matrix(*num_groups as usize, *group_size as usize, ids);
            }
            // MLIR has no short form for these.
            Groups::Iota { .. } => match groups.to_list(&Mesh::default()) {
                Some(Groups::List { ids, num_groups, group_size }) => {
                    self.dense_matrix(num_groups as usize, group_size as usize, &ids);
                }
                _ => self.dense_matrix(0, 0, &[]),
            },
            Groups::Axes { mesh, axes } => {
                self.str("#stablehlo.replica_group_mesh_axes<mesh = ");
                let def = &self.m.meshes[*mesh];
                match def.name {
                    Some(name) => self.symbol(name),
                    None => self.stablehlo_mesh(&def.mesh),
                }
                self.str(", axes = [");
                for (at, axis) in axes.iter().enumerate() {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.str("#stablehlo.axis_ref<name = ");
                    push_string(def.mesh.axis_name(axis.axis).unwrap_or(""), &mut self.out);
                    if !axis.is_whole(&def.mesh) {
                        let _ = write!(self.out, ", sub_axis_info = ({}){}", axis.pre, axis.size);
                    }
                    self.str(">");
                }
                self.str("]>");
            }
        }
    }

    fn stablehlo_mesh(&mut self, mesh: &Mesh) {
        self.str("#stablehlo.mesh<axes=[");
        for (at, axis) in mesh.axes.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.str("#stablehlo.mesh_axis<name = ");
            push_string(&axis.name, &mut self.out);
            let _ = write!(self.out, ", size = {}>", axis.size);
        }
        self.str("]");
        if let Some(ids) = &mesh.device_ids {
            self.str(", device_ids=dense<[");
            for (at, id) in ids.iter().enumerate() {
                if at > 0 {
                    self.str(", ");
                }
                push_number(*id, &mut self.out);
            }
            let _ = write!(self.out, "]> : tensor<{}xi64>", ids.len());
        }
        self.str(">");
    }

    /// `<["x"=2], device_ids=[1, 0]>`.
    pub(crate) fn mesh(&mut self, mesh: &Mesh) {
        push_mesh(mesh, &mut self.out);
    }

    /// `<@mesh, [{"x"}, {}]>`.
    pub(crate) fn sharding(&mut self, id: ShardingId) {
        let (start, end) = self.shardings[id];
        if end > start {
            self.out.push_str(&self.cache[start as usize..end as usize]);
            return;
        }
        let start = self.cache.len();
        let sharding = self.m.sharding(id);
        let def = &self.m.meshes[sharding.mesh];
        match def.name {
            Some(name) => {
                let text = sharding.stripped_text(&def.mesh, self.m.str(name));
                let _ = write!(self.cache, "{text}");
            }
            None => {
                self.cache.push_str("<mesh");
                push_mesh(&def.mesh, &mut self.cache);
                let _ = write!(self.cache, ", {}>", sharding.bare_text(&def.mesh));
            }
        }
        let end = self.cache.len();
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) {
            self.shardings[id] = (start, end);
        }
        self.out.push_str(&self.cache[start..end]);
    }

    /// `[<...>, <...>]`.
    pub(crate) fn sharding_list(&mut self, list: &[ShardingId]) {
        self.str("[");
        for (at, &id) in list.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.sharding(id);
        }
        self.str("]");
    }

    /// `{"x", "y"}`.
    pub(crate) fn manual_axes(&mut self, axes: &ManualAxes) {
        self.str("{");
        for (at, &axis) in axes.0.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.string(axis);
        }
        self.str("}");
    }

    /// `{"x", "y":(1)2}`.
    pub(crate) fn axes(&mut self, mesh: MeshId, axes: &[AxisRef]) {
        let mesh = &self.m.meshes[mesh].mesh;
        let _ = write!(self.out, "{{{}}}", AxesText { axes, mesh });
    }

    /// `[{"x"}, {}]`.
    pub(crate) fn axis_lists(&mut self, lists: &AxisLists) {
        self.str("[");
        for (at, axes) in lists.dims.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.axes(lists.mesh, axes);
        }
        self.str("]");
    }

    /// `[{"x"}: 0->1]`.
    pub(crate) fn all_to_all(&mut self, params: &AllToAllParams) {
        self.str("[");
        for (at, param) in params.params.iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.axes(params.mesh, &param.axes);
            let _ = write!(self.out, ": {}->{}", param.src, param.dst);
        }
        self.str("]");
    }
}

/// Whether every dimension number is in its range and used once, so that the letters say it all.
pub(super) fn has_short_form(dims: &ConvDims) -> bool {
    let side = |first: i64, second: i64, spatial: &[i64]| {
        let mut seen: Vec<i64> = [first, second].iter().chain(spatial).copied().collect();
        seen.sort_unstable();
        seen.iter().copied().eq(0..seen.len() as i64)
    };
    side(dims.input_batch, dims.input_feature, &dims.input_spatial)
        && side(dims.kernel_input_feature, dims.kernel_output_feature, &dims.kernel_spatial)
        && side(dims.output_batch, dims.output_feature, &dims.output_spatial)
}

fn push_mesh(mesh: &Mesh, out: &mut String) {
    out.push_str("<[");
    for (at, axis) in mesh.axes.iter().enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_string(&axis.name, out);
        out.push('=');
        push_number(axis.size.into(), out);
    }
    out.push(']');
    if let Some(ids) = &mesh.device_ids {
        out.push_str(", device_ids=[");
        for (at, id) in ids.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            push_number(*id, out);
        }
        out.push(']');
    }
    out.push('>');
}
