//! Ops in pretty form: which op is read how, and what the families share.

mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod foreign;
mod indexing;
mod linalg;
mod movement;
mod random;
mod reduction;
mod sdy;
mod sorting;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use shard_ir::ops::{OP_TABLE, Op, OpInfo, OpReader, OpRow};
use shard_ir::{Attr, Diagnostic, Interner, OpId};

use super::parser::{AttrList, OpStart, Parser, Parts, Read};

/// Reads an op in pretty form, the cursor being behind its name.
pub(crate) type Pretty = for<'a> fn(&mut Parser<'a>, &OpStart<'a>, &'static Entry) -> Read<OpId>;

/// How an op of the table is read.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) info: &'static OpInfo,
    /// Makes the op from attributes.
    pub(crate) read: OpReader,
    /// Reads its pretty form; `None` if it has only the generic one.
    pretty: Option<Pretty>,
    /// The op itself, if it has no fields that must be there.
    plain: Option<Op>,
}

/// The entry of an op by its MLIR name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    static ENTRIES: OnceLock<FxHashMap<&'static str, Entry>> = OnceLock::new();
    let entries = ENTRIES.get_or_init(|| {
        let interner = Interner::default();
        let entry = |OpRow { info, read }: &'static OpRow| {
            let plain = read(&mut Vec::new(), &interner).ok();
            (info.name, Entry { info, read: *read, pretty: pretty_form(info.name), plain })
        };
        OP_TABLE.iter().flat_map(|(_, rows)| rows.iter()).map(entry).collect()
    });
    entries.get(name)
}

fn pretty_form(name: &str) -> Option<Pretty> {
    [
        elementwise::pretty,
        creation::pretty,
        dot::pretty,
        convolution::pretty,
        reduction::pretty,
        movement::pretty,
        indexing::pretty,
        sorting::pretty,
        linalg::pretty,
        random::pretty,
        control::pretty,
        collective::pretty,
        sdy::pretty,
        effects::pretty,
        custom::pretty,
    ]
    .into_iter()
    .find_map(|family| family(name))
}

/// Adds attributes whose absence says what the table has no absence for.
pub(crate) fn settle_defaults(op: &str, attrs: &mut AttrList, interner: &mut Interner) {
    if op == "stablehlo.sort" {
        let dimension = interner.symbol("dimension");
        if attrs.iter().all(|(name, _)| *name != dimension) {
            let ty = interner.scalar(shard_ir::ElementType::I64);
            attrs.push((dimension, Attr::Int(-1, ty)));
        }
    }
}

impl<'a> Parser<'a> {
    /// An op in pretty form, its name being read.
    pub(crate) fn pretty_op(&mut self, start: &mut OpStart<'a>, at: usize) -> Read<OpId> {
        start.name = match start.name {
            "return" => "func.return",
            "call" => "func.call",
            "module" => "builtin.module",
            "call_indirect" => "func.call_indirect",
            "constant" => "func.constant",
            name => name,
        };
        let name = start.name;
        let range = at..self.c.pos();
        let Some(entry) = find(name) else {
            if let Some(op) = foreign::read(self, start) {
                return op;
            }
            return self.report(
                Diagnostic::error(format!("op '{name}' isn't known")).at(range).help(
                    "ops of other dialects are read in generic form: \"dialect.op\"(%0) : ...",
                ),
            );
        };
        match entry.pretty {
            Some(pretty) => pretty(self, start, entry),
            None => self.report(
                Diagnostic::error(format!("op '{name}' has no pretty form"))
                    .at(range)
                    .help(format!("write \"{name}\"(%0, ...) <{{...}}> : (...) -> ...")),
            ),
        }
    }

    /// The op of an entry without required fields.
    pub(crate) fn plain(&mut self, start: &OpStart<'a>, entry: &'static Entry) -> Read<Op> {
        match &entry.plain {
            Some(op) => Ok(op.clone()),
            None => {
                let range = start.start..self.c.pos();
                self.error(range, "the op needs attributes")
            }
        }
    }

    /// `{...} : (types) -> types`, and then the op.
    pub(crate) fn functional(
        &mut self,
        start: &OpStart<'a>,
        op: impl Into<Op>,
        mut parts: Parts,
    ) -> Read<OpId> {
        self.optional_attr_dict(&mut parts.attrs)?;
        self.functional_type(start, op, parts)
    }

    /// `: (types) -> types`, and then the op.
    pub(crate) fn functional_type(
        &mut self,
        start: &OpStart<'a>,
        op: impl Into<Op>,
        mut parts: Parts,
    ) -> Read<OpId> {
        self.expect(b':')?;
        self.c.skip_space();
        let at = self.c.pos();
        let (inputs, results) = self.function_type()?;
        self.check_types(at, &parts.operands, &inputs)?;
        parts.results = results;
        self.finish(start, op.into(), parts)
    }

    /// `{...} : type`, of all operands and the result, or a function type where they differ.
    pub(crate) fn same_types(
        &mut self,
        start: &OpStart<'a>,
        op: impl Into<Op>,
        mut parts: Parts,
    ) -> Read<OpId> {
        self.optional_attr_dict(&mut parts.attrs)?;
        self.expect(b':')?;
        let first = self.c.peek();
        let at = self.c.pos();
        if first == b'(' {
            let (inputs, results) = self.function_type()?;
            self.check_types(at, &parts.operands, &inputs)?;
            parts.results = results;
        } else {
            let ty = self.ty()?;
            for index in 0..parts.operands.len() {
                if self.m.value_type(parts.operands[index]) != ty {
                    let types = vec![ty; parts.operands.len()];
                    self.check_types(at, &parts.operands, &types)?;
                }
            }
            parts.results.push(ty);
        }
        self.finish(start, op.into(), parts)
    }

    /// Operands, then `{...} : (types) -> types`.
    pub(crate) fn operands_functional(
        &mut self,
        start: &OpStart<'a>,
        op: impl Into<Op>,
    ) -> Read<OpId> {
        let mut parts = Parts::default();
        self.operands(&mut parts.operands)?;
        self.functional(start, op, parts)
    }
}
