//! Shardings as sdy writes them.

use std::fmt;

use super::axis::AxisRef;
use super::mesh::Mesh;
use super::tensor::{Combiner, DimSharding, TensorSharding};

/// A string in double quotes, escaped as MLIR does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for byte in self.0.bytes() {
            match byte {
                b'\\' => f.write_str("\\\\")?,
                b' '..=b'~' if byte != b'"' => write!(f, "{}", char::from(byte))?,
                _ => write!(f, "\\{byte:02X}")?,
            }
        }
        f.write_str("\"")
    }
}

/// A symbol reference, quoted where its name isn't an identifier: `@mesh`, `@"my mesh"`.
#[derive(Clone, Copy, Debug)]
struct SymbolText<'a>(&'a str);

impl fmt::Display for SymbolText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |at: usize, byte: u8| {
            byte.is_ascii_alphabetic()
                || byte == b'_'
                || at > 0 && (byte.is_ascii_digit() || matches!(byte, b'$' | b'.' | b'-'))
        };
        let name = self.0;
        if !name.is_empty() && name.bytes().enumerate().all(|(at, byte)| plain(at, byte)) {
            write!(f, "@{name}")
        } else {
            write!(f, "@{}", Quoted(name))
        }
    }
}

/// An axis reference as text: `"x"`, or `"x":(2)4` for a sub-axis.
#[derive(Clone, Copy, Debug)]
pub struct AxisText<'a> {
    /// The reference.
    pub axis: AxisRef,
    /// The mesh that it is of.
    pub mesh: &'a Mesh,
}

impl fmt::Display for AxisText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mesh.axis_name(self.axis.axis) {
            Some(name) => write!(f, "{}", Quoted(name))?,
            None => write!(f, "<axis {}>", self.axis.axis.index())?,
        }
        if self.axis.is_whole(self.mesh) {
            return Ok(());
        }
        write!(f, ":({}){}", self.axis.pre, self.axis.size)
    }
}

/// A list of axis references as text: `"x", "y":(1)2`.
#[derive(Clone, Copy, Debug)]
pub struct AxesText<'a> {
    /// The references.
    pub axes: &'a [AxisRef],
    /// The mesh that they are of.
    pub mesh: &'a Mesh,
}

impl fmt::Display for AxesText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, &axis) in self.axes.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}", AxisText { axis, mesh: self.mesh })?;
        }
        Ok(())
    }
}

/// A dimension's sharding as text: `{"x", ?}p1`.
#[derive(Clone, Copy, Debug)]
pub struct DimText<'a> {
    /// The sharding.
    pub dim: &'a DimSharding,
    /// The mesh that its axes are of.
    pub mesh: &'a Mesh,
}

impl fmt::Display for DimText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}", AxesText { axes: &self.dim.axes, mesh: self.mesh })?;
        match (self.dim.open, self.dim.axes.is_empty()) {
            (true, true) => f.write_str("?}")?,
            (true, false) => f.write_str(", ?}")?,
            (false, _) => f.write_str("}")?,
        }
        self.dim.priority.map_or(Ok(()), |priority| write!(f, "p{priority}"))
    }
}

/// How much of a sharding is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Attribute,
    Stripped,
    Bare,
}

/// A tensor's sharding as text, in one of three forms.
#[derive(Clone, Copy, Debug)]
pub struct ShardingText<'a> {
    sharding: &'a TensorSharding,
    mesh: &'a Mesh,
    mesh_symbol: &'a str,
    form: Form,
}

impl TensorSharding {
    /// The whole attribute: `#sdy.sharding<@mesh, [{"x"}, {}], replicated={"y"}>`.
    pub fn text<'a>(&'a self, mesh: &'a Mesh, mesh_symbol: &'a str) -> ShardingText<'a> {
        ShardingText { sharding: self, mesh, mesh_symbol, form: Form::Attribute }
    }

    /// As it is written inside other attributes: `<@mesh, [{"x"}, {}], replicated={"y"}>`.
    pub fn stripped_text<'a>(&'a self, mesh: &'a Mesh, mesh_symbol: &'a str) -> ShardingText<'a> {
        ShardingText { sharding: self, mesh, mesh_symbol, form: Form::Stripped }
    }

    /// Without the mesh: `[{"x"}, {}], replicated={"y"}`.
    pub fn bare_text<'a>(&'a self, mesh: &'a Mesh) -> ShardingText<'a> {
        ShardingText { sharding: self, mesh, mesh_symbol: "", form: Form::Bare }
    }
}

impl fmt::Display for ShardingText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sharding, mesh) = (self.sharding, self.mesh);
        match self.form {
            Form::Attribute => write!(f, "#sdy.sharding<{}, [", SymbolText(self.mesh_symbol))?,
            Form::Stripped => write!(f, "<{}, [", SymbolText(self.mesh_symbol))?,
            Form::Bare => f.write_str("[")?,
        }
        for (at, dim) in sharding.dims.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}", DimText { dim, mesh })?;
        }
        f.write_str("]")?;
        if !sharding.replicated.is_empty() {
            write!(f, ", replicated={{{}}}", AxesText { axes: &sharding.replicated, mesh })?;
        }
        if !sharding.unreduced.is_empty() {
            let combiner = match sharding.combiner {
                Combiner::Sum => "",
                Combiner::Max => "max",
                Combiner::Min => "min",
            };
            let axes = AxesText { axes: &sharding.unreduced, mesh };
            write!(f, ", unreduced={combiner}{{{axes}}}")?;
        }
        if self.form == Form::Bare { Ok(()) } else { f.write_str(">") }
    }
}
