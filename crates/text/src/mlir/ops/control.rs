//! Loops, barriers, calls and terminators.

use shard_ir::OpId;
use shard_ir::ops::{Call, Callee, Op};
use smallvec::SmallVec;

use super::super::parser::{OpStart, Parser, Parts, Read, Types};
use super::super::regions::RegionArg;
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.while" => while_loop,
        "stablehlo.optimization_barrier" => barrier,
        "stablehlo.return" | "func.return" => terminator,
        "sdy.return" => sdy_return,
        "func.call" => call,
        _ => return None,
    })
}

/// `(%iterArg = %0, ...) : types attributes {...} cond {...} do {...}`.
fn while_loop<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    let mut names: SmallVec<[(&'a str, usize); 8]> = SmallVec::new();
    p.list(b'(', b')', |p| {
        names.push(p.value_name()?);
        p.expect(b'=')?;
        parts.operands.push(p.operand()?);
        Ok(())
    })?;
    if !names.is_empty() {
        p.expect(b':')?;
        p.c.skip_space();
        let at = p.c.pos();
        p.type_list(&mut parts.results)?;
        p.check_types(at, &parts.operands, &parts.results)?;
    }
    if p.c.eat_word("attributes") {
        p.attr_dict(&mut parts.attrs)?;
    }
    let args: SmallVec<[RegionArg<'a>; 8]> = names
        .iter()
        .zip(&parts.results)
        .map(|(&(name, at), &ty)| RegionArg { name, at, ty, loc: None })
        .collect();
    p.expect_word("cond")?;
    let cond = p.region(&args, false)?;
    parts.regions.push(cond);
    p.expect_word("do")?;
    let body = p.region(&args, false)?;
    parts.regions.push(body);
    p.finish(start, op, parts)
}

/// `{...} %0, %1 : types`, or `()`.
fn barrier<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.optional_attr_dict(&mut parts.attrs)?;
    if p.c.eat(b'(') {
        p.expect(b')')?;
        return p.finish(start, op, parts);
    }
    p.operands(&mut parts.operands)?;
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    p.type_list(&mut parts.results)?;
    p.check_types(at, &parts.operands, &parts.results)?;
    p.finish(start, op, parts)
}

/// `%0, %1 {...} : types`.
fn terminator<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    if start.name == "func.return" {
        p.optional_attr_dict(&mut parts.attrs)?;
    }
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    typed_terminator(p, start, op, parts)
}

/// `{...} %0, %1 : types`.
fn sdy_return<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    let mut parts = Parts::default();
    p.optional_attr_dict(&mut parts.attrs)?;
    p.operands(&mut parts.operands)?;
    typed_terminator(p, start, op, parts)
}

fn typed_terminator<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    op: Op,
    parts: Parts,
) -> Read<OpId> {
    if !parts.operands.is_empty() {
        p.expect(b':')?;
        p.c.skip_space();
        let at = p.c.pos();
        let mut types = Types::new();
        p.type_list(&mut types)?;
        p.check_types(at, &parts.operands, &types)?;
    }
    p.finish(start, op, parts)
}

/// `@callee(%0) {...} : (types) -> types`.
fn call<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let callee = Callee(p.symbol_name()?);
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    p.functional(start, Call { callee }, parts)
}
