//! Locations of ops as text.

use shard_ir::{LocId, Module, Place, place_of};

use crate::render::{Input, line_and_column};

/// Turns locations into text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places<'a> {
    /// The program's text, for ops without a location of their own.
    pub input: Option<Input<'a>>,
}

impl Places<'_> {
    /// `file:line:column`, if it is known.
    pub fn text(&self, module: &Module, loc: LocId) -> Option<String> {
        match place_of(module, loc) {
            Place::Nowhere => None,
            Place::Source { file, line, col } => Some(format!("{file}:{line}:{col}")),
            Place::Text(range) => {
                let input = self.input.as_ref()?;
                let (line, col) = line_and_column(input.bytes, range.start);
                Some(format!("{}:{line}:{col}", input.name))
            }
        }
    }
}

/// The last part of a path and the line: `train.py:88` of `/home/me/train.py:88:5`.
pub(crate) fn short(location: &str) -> &str {
    let name = location.rfind(['/', '\\']).map_or(location, |at| &location[at + 1..]);
    match name.rsplit_once(':') {
        Some((line, column))
            if line.contains(':') && column.bytes().all(|b| b.is_ascii_digit()) =>
        {
            line
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn paths_and_columns_go() {
        assert_eq!(short("/home/me/train.py:88:5"), "train.py:88");
        assert_eq!(short("train.py:88"), "train.py:88");
        assert_eq!(short("<stdin>:1:2"), "<stdin>:1");
        assert_eq!(short(""), "");
    }
}
