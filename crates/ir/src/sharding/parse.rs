//! Reading shardings and meshes as sdy writes them, and as command lines do.

use smallvec::SmallVec;

use super::axes::AxisList;
use super::axis::AxisRef;
use super::cursor::{Cursor, Parsed, ShardingTextError};
use super::mesh::{Mesh, MeshAxis};
use super::tensor::{Combiner, DimSharding, TensorSharding};
use crate::MeshId;

/// A sharding read from text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedSharding {
    /// The mesh's symbol, where the text names one.
    pub mesh_symbol: Option<String>,
    /// The sharding.
    pub sharding: TensorSharding,
}

/// Reads a sharding: `[{"x"}, {"y":(1)2, ?}p1, {}], replicated={"z"}, unreduced={"w"}`, optionally
/// inside `<@mesh, ...>` or `#sdy.sharding<@mesh, ...>`. Axis names may go without quotes where
/// they are plain words (`[{x},{}]`), as a shell is apt to eat the quotes.
///
/// The axes are looked up in `mesh`; whether the sharding suits a tensor is left to
/// [`TensorSharding::verify`].
///
/// # Errors
/// What was expected, with its byte offset.
pub fn parse_sharding(
    text: &str,
    mesh: &Mesh,
    id: MeshId,
) -> Result<ParsedSharding, ShardingTextError> {
    let mut cursor = Cursor::new(text);
    let attribute = cursor.eat("#sdy.sharding");
    let angled = cursor.eat("<");
    if attribute && !angled {
        cursor.expect("<", "after `#sdy.sharding`")?;
    }
    let mut mesh_symbol = None;
    if cursor.eat("@") {
        let symbol = match cursor.peek() {
            Some('"') => Some(cursor.string('"')?),
            _ => cursor.word().map(str::to_owned),
        };
        let Some(symbol) = symbol else {
            return cursor.error("expected the name of a mesh after `@`");
        };
        mesh_symbol = Some(symbol);
        cursor.expect(",", "after the mesh")?;
    }
    let sharding = Reader { cursor: &mut cursor, mesh, quote: '"' }.body(id)?;
    if angled {
        cursor.expect(">", "at the end of the sharding")?;
    }
    cursor.end("sharding")?;
    Ok(ParsedSharding { mesh_symbol, sharding })
}

/// Reads a mesh: `<["x"=2, "y"=4], device_ids=[...]>` as sdy writes it, or just its axes
/// (`x=2,y=4`) as a command line does. The mesh is checked ([`Mesh::verify`]).
///
/// # Errors
/// What was expected, with its byte offset.
pub fn parse_mesh(text: &str) -> Result<Mesh, ShardingTextError> {
    let mut cursor = Cursor::new(text);
    let begin = cursor.offset();
    let angled = cursor.eat("<");
    let mut mesh = Mesh::default();
    let bracketed = cursor.eat("[");
    if angled && !bracketed {
        cursor.expect("[", "before the axes of the mesh")?;
    }
    mesh.axes = mesh_axes(&mut cursor, '"', if bracketed { Some("]") } else { None })?;
    if angled {
        if cursor.eat(",") {
            if !cursor.keyword("device_ids") {
                return cursor.error("expected `device_ids=[...]` after the axes of the mesh");
            }
            cursor.expect("=", "after `device_ids`")?;
            cursor.expect("[", "before the device ids")?;
            let ids = cursor.numbers("a device id", "]")?;
            mesh = mesh.with_device_ids(&ids);
        }
        cursor.expect(">", "at the end of the mesh")?;
    }
    cursor.end("mesh")?;
    match mesh.verify() {
        Ok(()) => Ok(mesh),
        Err(error) => cursor.error_at(begin, error.to_string()),
    }
}

/// `"x"=2, "y"=4`, up to `close` (which is skipped) or the end.
pub(super) fn mesh_axes(
    cursor: &mut Cursor<'_>,
    quote: char,
    close: Option<&str>,
) -> Parsed<SmallVec<[MeshAxis; 4]>> {
    let mut axes = SmallVec::new();
    let at_close = |cursor: &mut Cursor<'_>| match close {
        Some(close) => cursor.eat(close),
        None => cursor.peek().is_none(),
    };
    if at_close(cursor) {
        return Ok(axes);
    }
    loop {
        let name = axis_name(cursor, quote)?;
        cursor.expect("=", "and the size of the axis, as in `x=2`")?;
        let size = cursor.number32("the size of a mesh axis")?;
        axes.push(MeshAxis { name: name.into(), size });
        if at_close(cursor) {
            return Ok(axes);
        }
        cursor.expect(",", "between the axes of the mesh")?;
    }
}

fn axis_name(cursor: &mut Cursor<'_>, quote: char) -> Parsed<String> {
    if cursor.peek() == Some(quote) {
        return cursor.string(quote);
    }
    match cursor.word() {
        Some(word) => Ok(word.to_owned()),
        None => {
            let found = cursor.found();
            cursor.error(format!("expected the name of a mesh axis, found {found}"))
        }
    }
}

/// Reads axis references of one mesh, their names in one kind of quotes.
pub(super) struct Reader<'c, 't, 'm> {
    pub(super) cursor: &'c mut Cursor<'t>,
    pub(super) mesh: &'m Mesh,
    pub(super) quote: char,
}

impl Reader<'_, '_, '_> {
    fn body(&mut self, id: MeshId) -> Parsed<TensorSharding> {
        let dims = self.dims()?;
        let mut sharding = TensorSharding::from_dims(id, dims);
        let (mut replicated, mut unreduced) = (false, false);
        while self.cursor.eat(",") {
            let begin = self.cursor.offset();
            if !replicated && self.cursor.keyword("replicated") {
                replicated = true;
                self.cursor.expect("=", "after `replicated`")?;
                sharding.replicated = self.axes()?;
            } else if !unreduced && self.cursor.keyword("unreduced") {
                unreduced = true;
                self.cursor.expect("=", "after `unreduced`")?;
                sharding.combiner = self.combiner();
                sharding.unreduced = self.axes()?;
                if sharding.unreduced.is_empty() {
                    sharding.combiner = Combiner::Sum;
                }
            } else {
                return self.cursor.error_at(
                    begin,
                    "expected `replicated={...}` or `unreduced={...}`, each at most once",
                );
            }
        }
        Ok(sharding)
    }

    pub(super) fn combiner(&mut self) -> Combiner {
        if self.cursor.keyword("max") {
            Combiner::Max
        } else if self.cursor.keyword("min") {
            Combiner::Min
        } else {
            self.cursor.keyword("sum");
            Combiner::Sum
        }
    }

    pub(super) fn dims(&mut self) -> Parsed<SmallVec<[DimSharding; 4]>> {
        self.cursor.expect("[", "before the dimension shardings, as in `[{\"x\"}, {}]`")?;
        let mut dims = SmallVec::new();
        if self.cursor.eat("]") {
            return Ok(dims);
        }
        loop {
            dims.push(self.dim()?);
            if self.cursor.eat("]") {
                return Ok(dims);
            }
            self.cursor.expect(",", "or `]` after a dimension sharding")?;
        }
    }

    fn dim(&mut self) -> Parsed<DimSharding> {
        self.cursor.expect("{", "before the axes of a dimension")?;
        let mut dim = DimSharding::default();
        if !self.cursor.eat("}") {
            loop {
                if self.cursor.eat("?") {
                    dim.open = true;
                    self.cursor.expect("}", "after `?`, which comes last in a dimension")?;
                    break;
                }
                dim.axes.push(self.axis()?);
                if self.cursor.eat("}") {
                    break;
                }
                self.cursor.expect(",", "or `}` after an axis")?;
            }
        }
        let begin = self.cursor.offset();
        if let Some(priority) = self.cursor.word() {
            let digits = priority.strip_prefix('p').unwrap_or("");
            let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            if !plain || digits.len() > 1 && digits.starts_with('0') {
                let message = format!("expected a priority such as `p1`, found `{priority}`");
                return self.cursor.error_at(begin, message);
            }
            match digits.parse() {
                Ok(priority) => dim.priority = Some(priority),
                Err(_) => return self.cursor.error_at(begin, "the priority is beyond 32 bits"),
            }
        }
        Ok(dim)
    }

    /// `{"x", "y":(1)2}`
    pub(super) fn axes(&mut self) -> Parsed<AxisList> {
        self.cursor.expect("{", "before the axes")?;
        let mut axes = AxisList::new();
        if self.cursor.eat("}") {
            return Ok(axes);
        }
        loop {
            axes.push(self.axis()?);
            if self.cursor.eat("}") {
                return Ok(axes);
            }
            self.cursor.expect(",", "or `}` after an axis")?;
        }
    }

    fn axis(&mut self) -> Parsed<AxisRef> {
        let begin = self.cursor.offset();
        let name = axis_name(self.cursor, self.quote)?;
        let Some(whole) = self.mesh.axis(&name) else {
            let known: Vec<String> = self
                .mesh
                .axes
                .iter()
                .map(|axis| format!("\"{}\" (size {})", axis.name, axis.size))
                .collect();
            let known = if known.is_empty() {
                "the mesh has no axes".to_owned()
            } else {
                format!("the mesh has {}", known.join(", "))
            };
            return self.cursor.error_at(begin, format!("unknown mesh axis \"{name}\": {known}"));
        };
        if !self.cursor.eat(":") {
            return Ok(whole);
        }
        self.cursor.expect("(", "and the pre-size of the sub-axis, as in `\"x\":(1)2`")?;
        let pre = self.cursor.number32("the pre-size of a sub-axis")?;
        self.cursor.expect(")", "after the pre-size of the sub-axis")?;
        let size = self.cursor.number32("the size of a sub-axis")?;
        Ok(AxisRef::sub(whole.axis, pre, size))
    }
}
