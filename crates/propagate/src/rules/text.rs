//! Rules as sdy writes them: `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`.

use std::fmt;
use std::str::FromStr;

use super::{DimMapping, Factor, FactorIndex, FactorKind, OpRule, Reducer, TensorMapping};

/// Names go from `i` to `z`, then `z_1`, `z_2`, ...
const LETTERS: usize = 18;

/// The name of a factor in text: `i`, `j`, ..., `z`, `z_1`, ...
pub fn factor_name(index: FactorIndex) -> String {
    match index.checked_sub(LETTERS - 1) {
        None | Some(0) => char::from(b'i' + index as u8).to_string(),
        Some(beyond) => format!("z_{beyond}"),
    }
}

/// The text of a rule between `<` and `>`. The combiner of a reduction isn't written.
impl fmt::Display for OpRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mappings = |f: &mut fmt::Formatter<'_>, tensors: &[TensorMapping]| {
            f.write_str("(")?;
            for (at, tensor) in tensors.iter().enumerate() {
                f.write_str(if at > 0 { ", [" } else { "[" })?;
                for (at, dim) in tensor.iter().enumerate() {
                    f.write_str(if at > 0 { ", " } else { "" })?;
                    for &factor in dim {
                        f.write_str(&factor_name(factor))?;
                    }
                }
                f.write_str("]")?;
            }
            f.write_str(")")
        };
        mappings(f, &self.operands)?;
        f.write_str("->")?;
        mappings(f, &self.results)?;
        if !self.factors.is_empty() {
            f.write_str(" {")?;
            for (at, factor) in self.factors.iter().enumerate() {
                let comma = if at > 0 { ", " } else { "" };
                write!(f, "{comma}{}={}", factor_name(at), factor.size)?;
            }
            f.write_str("}")?;
        }
        let group = |f: &mut fmt::Formatter<'_>, name: &str, keep: &dyn Fn(&Factor) -> bool| {
            let chosen = self.factors.iter().enumerate().filter(|(_, factor)| keep(factor));
            let names: Vec<String> = chosen.map(|(index, _)| factor_name(index)).collect();
            if names.is_empty() { Ok(()) } else { write!(f, " {name}={{{}}}", names.join(", ")) }
        };
        group(f, "reduction", &|factor| factor.kind.is_reduction())?;
        group(f, "need_replication", &|factor| factor.kind == FactorKind::NeedReplication)?;
        group(f, "permutation", &|factor| factor.kind == FactorKind::Permutation)?;
        group(f, "blocked_propagation", &|factor| factor.blocked)?;
        f.write_str(if self.is_custom { ", custom" } else { "" })
    }
}

/// Why a text isn't a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a sharding rule: expected {expected} at byte {at}")]
pub struct RuleTextError {
    /// What should stand there.
    pub expected: &'static str,
    /// Where, in the text.
    pub at: usize,
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, RuleTextError>;

impl<'a> Cursor<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn fail<T>(&self, expected: &'static str) -> Parsed<T> {
        Err(RuleTextError { expected, at: self.at })
    }

    fn want(&mut self, token: &'static str) -> Parsed<()> {
        if self.eat(token) { Ok(()) } else { self.fail(token) }
    }

    fn number(&mut self) -> Parsed<i64> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse() else { return self.fail("a number") };
        self.at += end;
        Ok(number)
    }

    /// One factor, if a name follows directly.
    fn factor(&mut self) -> Parsed<Option<FactorIndex>> {
        let Some(letter @ b'i'..=b'z') = self.rest().bytes().next() else { return Ok(None) };
        self.at += 1;
        let index = usize::from(letter - b'i');
        if letter == b'z' && self.text[self.at..].starts_with('_') {
            self.at += 1;
            let Ok(beyond) = usize::try_from(self.number()?) else { return self.fail("a number") };
            return Ok(Some(index.saturating_add(beyond)));
        }
        Ok(Some(index))
    }

    fn list<T>(
        &mut self,
        open: &'static str,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        self.want(open)?;
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.eat(",") {
                self.want(close)?;
                return Ok(items);
            }
        }
    }

    fn mappings(&mut self) -> Parsed<Vec<TensorMapping>> {
        self.list("(", ")", |this| {
            this.list("[", "]", |this| {
                let mut dim = DimMapping::new();
                while let Some(factor) = this.factor()? {
                    dim.push(factor);
                }
                if dim.is_empty() { this.fail("a factor") } else { Ok(dim) }
            })
        })
    }

    fn named(&mut self) -> Parsed<Vec<FactorIndex>> {
        self.list("{", "}", |this| match this.factor()? {
            Some(factor) => Ok(factor),
            None => this.fail("a factor"),
        })
    }
}

/// Reads a rule with or without `#sdy.op_sharding_rule<...>` around it.
impl FromStr for OpRule {
    type Err = RuleTextError;

    fn from_str(text: &str) -> Parsed<OpRule> {
        let mut cursor = Cursor { text, at: 0 };
        let wrapped = cursor.eat("#sdy.op_sharding_rule");
        if wrapped || cursor.rest().starts_with('<') {
            cursor.want("<")?;
        }
        let operands = cursor.mappings()?;
        cursor.want("->")?;
        let results = cursor.mappings()?;
        let mut factors = Vec::new();
        if cursor.rest().starts_with('{') {
            let mut expected = 0;
            factors = cursor.list("{", "}", |this| {
                if this.factor()? != Some(expected) {
                    return this.fail("factors in order");
                }
                expected += 1;
                this.want("=")?;
                let size = this.number()?;
                Ok(Factor { size, kind: FactorKind::PassThrough, blocked: false })
            })?;
        }
        let kinds = [
            ("reduction", Some(FactorKind::Reduction(Reducer::Sum))),
            ("need_replication", Some(FactorKind::NeedReplication)),
            ("permutation", Some(FactorKind::Permutation)),
            ("blocked_propagation", None),
        ];
        for (name, kind) in kinds {
            if !cursor.eat(name) {
                continue;
            }
            cursor.want("=")?;
            let list = cursor.named()?;
            if !list.is_sorted_by(|a, b| a < b) {
                return cursor.fail("factors in order");
            }
            for index in list {
                let Some(factor) = factors.get_mut(index) else {
                    return cursor.fail("a factor with a size");
                };
                match kind {
                    Some(_) if factor.kind != FactorKind::PassThrough => {
                        return cursor.fail("a factor of no other kind");
                    }
                    Some(kind) => factor.kind = kind,
                    None => factor.blocked = true,
                }
            }
        }
        let is_custom = cursor.eat(",");
        if is_custom {
            cursor.want("custom")?;
        }
        cursor.eat(">");
        if !cursor.rest().is_empty() {
            return cursor.fail("the end");
        }
        let known = |tensors: &[TensorMapping]| {
            tensors.iter().flatten().flatten().all(|&factor| factor < factors.len())
        };
        if !known(&operands) || !known(&results) {
            return cursor.fail("a size for every factor");
        }
        Ok(OpRule { factors, operands, results, is_custom })
    }
}
