//! Regions and blocks.

use shard_ir::{BlockId, LocId, RegionId, TypeId};

use super::parser::{Fail, Names, Parser, Read};

/// An argument of a region that was read before the region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionArg<'a> {
    pub(crate) name: &'a str,
    pub(crate) at: usize,
    pub(crate) ty: TypeId,
    pub(crate) loc: Option<LocId>,
}

/// How to come back from a region to the names outside.
enum Scope<'a> {
    /// They weren't visible in it.
    Alone(Names<'a>),
    /// They were; the mark of those that it added.
    Inner(usize),
}

impl<'a> Parser<'a> {
    /// `{ ops }` or `{ ^bb0(%a: type): ops ... }`. `args` are those of the entry block where the
    /// op states them itself; an isolated region sees no values from outside.
    pub(crate) fn region(&mut self, args: &[RegionArg<'a>], isolated: bool) -> Read<RegionId> {
        self.nested(|p| {
            let scope =
                if isolated { Scope::Alone(p.isolate()) } else { Scope::Inner(p.enter_scope()) };
            let labels = std::mem::take(&mut p.labels);
            let uses = std::mem::take(&mut p.label_uses);
            let result = p.region_inner(args);
            p.labels = labels;
            p.label_uses = uses;
            match scope {
                Scope::Alone(outside) => p.end_isolation(outside),
                Scope::Inner(mark) => p.leave_scope(mark),
            }
            result
        })
    }

    fn region_inner(&mut self, args: &[RegionArg<'a>]) -> Read<RegionId> {
        self.expect(b'{')?;
        let region = self.m.new_region();
        let mut block = self.m.new_block(region);
        for arg in args {
            self.block_arg(block, *arg)?;
        }
        let mut first = true;
        loop {
            match self.c.peek() {
                b'}' => {
                    self.c.eat(b'}');
                    break;
                }
                b'^' => {
                    if !first {
                        block = self.m.new_block(region);
                    }
                    self.block_header(block)?;
                    if first && self.labels.len() == 1 && !args.is_empty() {
                        // The arguments of the entry block are those of the op.
                    }
                }
                _ => {
                    if first && self.labels.is_empty() {
                        self.labels.push("");
                    }
                    if self.c.at_end() {
                        return self.expected("'}' at the end of the region");
                    }
                    self.op_or_recover(block)?;
                }
            }
            first = false;
        }
        for (op, index, label, at) in std::mem::take(&mut self.label_uses) {
            let found = self.labels.iter().position(|known| *known == label);
            let Some(number) = found else {
                let message = format!("there is no block '^{label}' in this region");
                return self.error(at..at + label.len() + 1, message);
            };
            if let shard_ir::ops::Op::Opaque(opaque) = &mut self.m.op_mut(op).op
                && let Some(successor) = opaque.successors.get_mut(index)
            {
                *successor = number as u32;
            }
        }
        Ok(region)
    }

    /// An op; after an error in it reading goes on behind it, unless nothing more is worth it.
    pub(crate) fn op_or_recover(&mut self, block: BlockId) -> Read<()> {
        let start = self.c.pos();
        if self.op(block).is_err() {
            if self.fatal {
                return Err(Fail);
            }
            self.c.recover(start);
        }
        Ok(())
    }

    fn block_arg(&mut self, block: BlockId, arg: RegionArg<'a>) -> Read<()> {
        let value = self.m.new_param(block, arg.ty);
        if let Some(loc) = arg.loc {
            self.m.param_locs[value] = loc.into();
        }
        self.define(arg.name, arg.at, Some(value), 1)
    }

    /// `^label(%a: type, ...):`.
    fn block_header(&mut self, block: BlockId) -> Read<()> {
        self.expect(b'^')?;
        let at = self.c.pos();
        let label = self.c.suffix();
        if label.is_empty() {
            return self.expected("the name of a block after '^'");
        }
        if self.labels.contains(&label) {
            let message = format!("block '^{label}' is defined twice");
            return self.error(at..at + label.len(), message);
        }
        self.labels.push(label);
        if self.c.peek() == b'(' {
            self.list(b'(', b')', |p| {
                let arg = p.region_arg()?;
                p.block_arg(block, arg)
            })?;
        }
        self.expect(b':')
    }

    /// `%a: type loc(...)`.
    pub(crate) fn region_arg(&mut self) -> Read<RegionArg<'a>> {
        let (name, at) = self.value_name()?;
        self.expect(b':')?;
        let ty = self.ty()?;
        let loc = self.trailing_loc()?;
        Ok(RegionArg { name, at, ty, loc })
    }
}
