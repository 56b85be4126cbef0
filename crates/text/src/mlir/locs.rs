//! Source locations.

use shard_ir::{Loc, LocId};

use super::parser::{Alias, Parser, Read};
use super::small;

impl<'a> Parser<'a> {
    /// `loc(...)` if it comes next.
    #[inline]
    pub(crate) fn trailing_loc(&mut self) -> Read<Option<LocId>> {
        if self.c.peek() != b'l' || !self.c.is_word("loc") {
            return Ok(None);
        }
        self.c.eat_word("loc");
        self.expect(b'(')?;
        // Almost always an alias that was seen before.
        let loc = if self.c.here() == b'#'
            && let Some(len) = memchr::memchr(b')', self.c.rest_bytes())
            && let Some(spelling) = self.c.text().get(self.c.pos()..self.c.pos() + len)
            && let Some(&loc) = self.loc_cache.get(spelling)
        {
            self.c.set_pos(self.c.pos() + len + 1);
            loc
        } else {
            let start = self.c.pos();
            let loc = self.loc()?;
            if self.c.text().as_bytes().get(start) == Some(&b'#') {
                self.loc_cache.insert(self.c.slice_from(start), loc);
            }
            self.expect(b')')?;
            loc
        };
        Ok(self.options.locations.then_some(loc))
    }

    /// What stands between the brackets of `loc(...)`.
    pub(crate) fn loc(&mut self) -> Read<LocId> {
        self.nested(|p| match p.c.peek() {
            b'#' => p.loc_alias(),
            b'"' => p.file_or_name(),
            b'l' if p.c.is_word("loc") => {
                p.c.eat_word("loc");
                p.expect(b'(')?;
                let loc = p.loc()?;
                p.expect(b')')?;
                Ok(loc)
            }
            _ => {
                if p.c.eat_word("unknown") {
                    return Ok(LocId::UNKNOWN);
                }
                if p.c.eat_word("callsite") {
                    p.expect(b'(')?;
                    let callee = p.loc()?;
                    p.expect_word("at")?;
                    let caller = p.loc()?;
                    p.expect(b')')?;
                    return Ok(p.m.loc_id(Loc::CallSite { callee, caller }));
                }
                if p.c.eat_word("fused") {
                    return p.fused();
                }
                p.expected("a location")
            }
        })
    }

    fn fused(&mut self) -> Read<LocId> {
        let metadata = if self.c.eat(b'<') {
            self.c.skip_space();
            let at = self.c.pos();
            self.attr()?;
            let text = self.c.slice_from(at);
            let text = self.without_aliases(text);
            self.expect(b'>')?;
            Some(text)
        } else {
            None
        };
        let mut locs = Vec::new();
        self.list(b'[', b']', |p| {
            locs.push(p.loc()?);
            Ok(())
        })?;
        Ok(self.m.loc_id(Loc::Fused { metadata, locs: locs.into() }))
    }

    /// `"file":1:2 to :3`, `"name"(child)` or `"name"`.
    fn file_or_name(&mut self) -> Read<LocId> {
        let text = self.string_symbol()?;
        if self.c.peek() == b':' {
            let rest = self.c.rest();
            let Ok((after, ((line, col), end))) = small::file_range(rest) else {
                return self.expected("a line and a column such as ':12:5'");
            };
            self.c.set_pos(self.c.pos() + rest.len() - after.len());
            let end = end.map(|(end_line, end_col)| (end_line.unwrap_or(line), end_col));
            return Ok(self.m.loc_id(Loc::File { file: text, line, col, end }));
        }
        let child = if self.c.eat(b'(') {
            let child = self.loc()?;
            self.expect(b')')?;
            child
        } else {
            LocId::UNKNOWN
        };
        Ok(self.m.loc_id(Loc::Name { name: text, child }))
    }

    fn loc_alias(&mut self) -> Read<LocId> {
        let start = self.c.pos();
        self.c.eat(b'#');
        self.c.suffix();
        let name = self.c.slice_from(start);
        let at = match self.aliases.get(name) {
            Some(Alias::Loc(loc)) => return Ok(*loc),
            Some(Alias::At(at)) => *at,
            Some(Alias::Open) => {
                let end = self.c.pos();
                return self.error(start..end, format!("alias '{name}' is defined by itself"));
            }
            Some(Alias::Attr(_) | Alias::Type(_)) => {
                let end = self.c.pos();
                return self.error(start..end, format!("alias '{name}' isn't a location"));
            }
            None => {
                let end = self.c.pos();
                return self.error(start..end, format!("alias '{name}' isn't defined"));
            }
        };
        let back = self.c.pos();
        self.aliases.insert(name, Alias::Open);
        self.c.set_pos(at);
        let loc = self.loc()?;
        self.alias_ends.insert(at, self.c.pos());
        self.c.set_pos(back);
        self.aliases.insert(name, Alias::Loc(loc));
        Ok(loc)
    }
}
