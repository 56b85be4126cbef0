//! Columns of text.

/// On which side a column's cells end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table without rules: columns are as wide as their widest cell, and the last one takes what
/// is left of the line.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    align: Vec<Align>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of such columns.
    pub fn new(align: &[Align]) -> Table {
        Table { align: align.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.align.len(), String::new());
        self.rows.push(row);
    }

    /// Writes the table, with no line wider than `width` columns.
    pub fn write(&self, out: &mut String, width: usize) {
        let columns = self.align.len();
        let widest =
            |at: usize| self.rows.iter().map(|row| columns_of(&row[at])).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (at, cell) in row.iter().enumerate() {
                if widths[at] == 0 {
                    continue;
                }
                let fill = widths[at] - columns_of(cell);
                if self.align[at] == Align::Right {
                    line.extend(std::iter::repeat_n(' ', fill));
                }
                line.push_str(cell);
                if self.align[at] == Align::Left {
                    line.extend(std::iter::repeat_n(' ', fill));
                }
                if at + 1 < columns {
                    line.push_str("  ");
                }
            }
            out.push_str(&clip(line.trim_end(), width));
            out.push('\n');
        }
    }
}

/// The columns that a text takes on a terminal, one a character.
pub(super) fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// A text of at most `width` columns; `…` stands for what is cut off at the end.
pub(super) fn clip(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// A text of at most `width` columns; `…` stands for what is cut out of the middle.
pub(super) fn clip_middle(text: &str, width: usize) -> String {
    let count = columns_of(text);
    if count <= width || width < 3 {
        return clip(text, width);
    }
    let front = (width - 1) / 2;
    let back = width - 1 - front;
    let mut short: String = text.chars().take(front).collect();
    short.push('…');
    short.extend(text.chars().skip(count - back));
    short
}

/// Breaks a text at blanks into lines of at most `width` columns, the second and later ones
/// indented.
pub(super) fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        let fits = columns_of(&line) + columns_of(word.trim_end()) <= width;
        if !fits && !line.trim().is_empty() {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = indent.to_owned();
        }
        line.push_str(word);
    }
    lines.push_str(line.trim_end());
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[Align::Left, Align::Right, Align::Left]);
        table.row(["a", "1", "first"]);
        table.row(["bcd", "23", "a rather long text"]);
        table.row(["µ"]);
        let mut text = String::new();
        table.write(&mut text, 18);
        assert_eq!(text, "a     1  first\nbcd  23  a rather…\nµ\n");
    }

    #[test]
    fn texts_are_cut_and_broken() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip_middle("abcdefgh", 5), "ab…gh");
        assert_eq!(wrap("one two three", 7, "  "), "one two\n  three\n");
        assert_eq!(wrap("incomprehensible", 7, "  "), "incomprehensible\n");
    }
}
