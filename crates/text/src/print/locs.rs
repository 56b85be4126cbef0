//! Source locations and their aliases.
//!
//! Every location that an op has gets an alias, numbered as MLIR numbers them: by depth, and in the
//! order in which printing meets them. Locations of arguments are printed in place, and what they
//! contain is defined at the top; everything else is defined at the end.

use rustc_hash::FxHashMap;
use shard_ir::ops::{Control, Op, Reduction, Sdy};
use shard_ir::{Item, Loc, LocId, OpId, RegionId, ValueId};
use smallvec::SmallVec;

use super::Printer;

/// An alias: its location, and whether it is defined at the end.
#[derive(Clone, Copy, Debug)]
struct Info {
    loc: LocId,
    depth: u32,
    deferred: bool,
}

/// The aliases in the order of their numbers.
pub(super) struct LocAliases(Vec<Info>);

#[derive(Default)]
struct Finder {
    infos: Vec<Info>,
    index: FxHashMap<LocId, usize>,
}

/// The location that is printed: offsets in the text read aren't.
fn printed(loc: LocId) -> LocId {
    if loc.input_offset().is_some() { LocId::UNKNOWN } else { loc }
}

impl Finder {
    fn visit(&mut self, p: &Printer<'_>, loc: LocId, deferred: bool) {
        let loc = printed(loc);
        if let Some(&at) = self.index.get(&loc) {
            if !deferred {
                self.mark(p, at);
            }
            return;
        }
        // Parents are met before what they contain; the depth follows from that.
        enum Step {
            Enter(LocId),
            Leave(LocId),
        }
        let mut steps = vec![Step::Enter(loc)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Enter(loc) => {
                    if let Some(&at) = self.index.get(&loc) {
                        if !deferred {
                            self.mark(p, at);
                        }
                        continue;
                    }
                    self.index.insert(loc, self.infos.len());
                    self.infos.push(Info { loc, depth: 1, deferred });
                    let children = children(p, loc);
                    if !children.is_empty() {
                        steps.push(Step::Leave(loc));
                        steps.extend(children.into_iter().rev().map(Step::Enter));
                    }
                }
                Step::Leave(loc) => {
                    let depth = children(p, loc)
                        .into_iter()
                        .filter_map(|child| self.index.get(&child))
                        .map(|at| self.infos[*at].depth)
                        .max();
                    if let (Some(depth), Some(&at)) = (depth, self.index.get(&loc)) {
                        self.infos[at].depth = depth + 1;
                    }
                }
            }
        }
    }

    /// This alias and those in it are defined at the top.
    fn mark(&mut self, p: &Printer<'_>, at: usize) {
        let mut stack = vec![at];
        while let Some(at) = stack.pop() {
            if !self.infos[at].deferred {
                continue;
            }
            self.infos[at].deferred = false;
            let inside = children(p, self.infos[at].loc);
            stack.extend(inside.into_iter().filter_map(|child| self.index.get(&child).copied()));
        }
    }

    fn op(&mut self, p: &Printer<'_>, op: OpId) {
        let m = p.m;
        self.visit(p, m.op(op).loc, true);
        let regions = m.regions(op);
        if regions.is_empty() {
            return;
        }
        let generic = p.options.generic;
        match m.kind(op) {
            Op::Reduction(Reduction::Reduce(_)) if !generic => {
                if p.compact_reduce(op).is_none() {
                    let region = regions[0];
                    let params = m.params(m.entry(region));
                    let pairs = params.len() / 2;
                    for at in 0..pairs {
                        self.param(p, params[at]);
                        self.param(p, params[at + pairs]);
                    }
                    self.region(p, region, false);
                }
            }
            Op::Control(Control::While) if !generic => {
                for &region in regions {
                    self.region(p, region, false);
                }
            }
            Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) if !generic => {
                for &param in m.params(m.entry(regions[0])) {
                    self.param(p, param);
                }
                self.region(p, regions[0], false);
            }
            _ => {
                for &region in regions {
                    self.region(p, region, true);
                }
            }
        }
    }

    fn param(&mut self, p: &Printer<'_>, param: ValueId) {
        self.visit(p, p.m.param_locs[param].expand().unwrap_or(LocId::UNKNOWN), false);
    }

    fn region(&mut self, p: &Printer<'_>, region: RegionId, entry_args: bool) {
        for (at, &block) in p.m.region(region).blocks.iter().enumerate() {
            if at > 0 || entry_args {
                for &param in p.m.params(block) {
                    self.param(p, param);
                }
            }
            for &op in p.m.block_ops(block) {
                self.op(p, op);
            }
        }
    }
}

fn children(p: &Printer<'_>, loc: LocId) -> SmallVec<[LocId; 2]> {
    match p.m.loc(loc) {
        Loc::Unknown | Loc::Input(_) | Loc::File { .. } => SmallVec::new(),
        Loc::Name { child, .. } if printed(child) == LocId::UNKNOWN => SmallVec::new(),
        Loc::Name { child, .. } => SmallVec::from_slice(&[printed(child)]),
        Loc::CallSite { callee, caller } => {
            SmallVec::from_slice(&[printed(callee), printed(caller)])
        }
        Loc::Fused { locs, .. } => locs.iter().map(|loc| printed(*loc)).collect(),
    }
}

impl Printer<'_> {
    pub(super) fn find_loc_aliases(&mut self) -> LocAliases {
        let m = self.m;
        let mut finder = Finder::default();
        finder.visit(self, m.loc.expand().unwrap_or(LocId::UNKNOWN), true);
        for item in &m.items {
            match item {
                Item::Mesh(mesh) => finder.visit(self, m.meshes[*mesh].loc, true),
                Item::Op(op) => finder.op(self, *op),
                Item::Func(id) => {
                    let func = &m.funcs[*id];
                    finder.visit(self, func.loc, true);
                    if func.is_declaration {
                        continue;
                    }
                    for &arg in m.args(*id) {
                        finder.param(self, arg);
                    }
                    finder.region(self, func.body, false);
                }
            }
        }
        let mut infos = finder.infos;
        infos.sort_by_key(|info| info.depth);
        self.loc_names = infos.iter().zip(0..).map(|(info, number)| (info.loc, number)).collect();
        LocAliases(infos)
    }

    pub(super) fn loc_definitions(&mut self, aliases: &LocAliases, deferred: bool) {
        for (number, info) in aliases.0.iter().enumerate() {
            if info.deferred != deferred {
                continue;
            }
            self.alias(number as u32);
            self.str(" = loc(");
            self.loc_body(info.loc, 0);
            self.str(")\n");
        }
    }

    fn alias(&mut self, number: u32) {
        self.str("#loc");
        if number > 0 {
            super::push_number(number.into(), &mut self.out);
        }
    }

    /// ` loc(#loc1)`, if locations are printed.
    pub(super) fn trailing_loc(&mut self, loc: LocId) {
        if !self.options.debug_info {
            return;
        }
        self.str(" loc(");
        self.nested_loc(loc, 0);
        self.str(")");
    }

    /// ` loc(...)` without an alias for itself.
    pub(super) fn inline_loc(&mut self, loc: LocId) {
        self.str(" loc(");
        self.loc_body(printed(loc), 0);
        self.str(")");
    }

    fn nested_loc(&mut self, loc: LocId, depth: u32) {
        let loc = printed(loc);
        match self.loc_names.get(&loc) {
            Some(&number) => self.alias(number),
            None => self.loc_body(loc, depth),
        }
    }

    /// A location without an alias for itself.
    pub(super) fn loc_body(&mut self, loc: LocId, depth: u32) {
        if depth > 200 {
            self.str("unknown");
            return;
        }
        let m = self.m;
        match m.loc(printed(loc)) {
            Loc::Unknown | Loc::Input(_) => self.str("unknown"),
            Loc::File { file, line, col, end } => {
                self.string(file);
                self.str(":");
                super::push_number(line.into(), &mut self.out);
                self.str(":");
                super::push_number(col.into(), &mut self.out);
                if let Some((end_line, end_col)) = end {
                    self.str(" to ");
                    if end_line != line {
                        super::push_number(end_line.into(), &mut self.out);
                    }
                    self.str(":");
                    super::push_number(end_col.into(), &mut self.out);
                }
            }
            Loc::Name { name, child } => {
                self.string(name);
                if printed(child) != LocId::UNKNOWN {
                    self.str("(");
                    self.nested_loc(child, depth + 1);
                    self.str(")");
                }
            }
            Loc::CallSite { callee, caller } => {
                self.str("callsite(");
                self.nested_loc(callee, depth + 1);
                self.str(" at ");
                self.nested_loc(caller, depth + 1);
                self.str(")");
            }
            Loc::Fused { metadata, locs } => {
                self.str("fused");
                if let Some(metadata) = metadata {
                    self.str("<");
                    self.str(m.str(metadata));
                    self.str(">");
                }
                self.str("[");
                for (at, &loc) in locs.iter().enumerate() {
                    if at > 0 {
                        self.str(", ");
                    }
                    self.nested_loc(loc, depth + 1);
                }
                self.str("]");
            }
        }
    }
}
