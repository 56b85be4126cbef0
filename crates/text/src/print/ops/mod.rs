//! Ops: the pretty form of each family, and the generic form of all.

mod collective;
mod control;
mod convolution;
mod creation;
mod custom;
mod dot;
mod effects;
mod elementwise;
mod indexing;
mod linalg;
mod movement;
mod normalization;
mod random;
mod reduction;
mod sdy;
mod sorting;

use shard_ir::ops::{FieldRef, Op};
use shard_ir::{Attr, AttrsId, OpId, ShardingId};
use smallvec::SmallVec;

use super::Printer;

/// One entry of an attribute dictionary.
pub(super) enum Entry<'m> {
    Attr(&'m Attr),
    Field(FieldRef<'m>),
    Shardings(Vec<ShardingId>),
}

pub(super) type Entries<'m> = SmallVec<[(&'m str, Entry<'m>); 4]>;

impl<'m> Printer<'m> {
    pub(super) fn pretty_op(&mut self, op: OpId) {
        match self.m.kind(op) {
            Op::Elementwise(kind) => self.elementwise(op, kind),
            Op::Creation(kind) => self.creation(op, kind),
            Op::Dot(kind) => self.dot(op, kind),
            Op::Convolution(kind) => self.convolution(op, kind),
            Op::Reduction(kind) => self.reduction(op, kind),
            Op::Movement(kind) => self.movement(op, kind),
            Op::Indexing(kind) => self.indexing(op, kind),
            Op::Sorting(kind) => self.sorting(op, kind),
            Op::Linalg(kind) => self.linalg(op, kind),
            Op::Random(kind) => self.random(op, kind),
            Op::Normalization(kind) => self.normalization(op, kind),
            Op::Control(kind) => self.control(op, kind),
            Op::Collective(kind) => self.collective(op, kind),
            Op::Sdy(kind) => self.sdy(op, kind),
            Op::Effects(kind) => self.effects(op, kind),
            Op::Custom(kind) => self.custom(op, kind),
            Op::Hlo(_) | Op::Opaque(_) => self.generic_op(op),
        }
    }

    /// The name, as it begins the pretty form.
    pub(super) fn op_name(&mut self, op: OpId) {
        self.str(self.m.op_name(op));
    }

    /// The shardings of the results as an attribute, if any has one.
    fn result_shardings(&self, op: OpId) -> Option<Vec<ShardingId>> {
        if !self.has_shardings {
            return None;
        }
        self.m.results(op).iter().find(|value| self.m.shardings[**value].is_some())?;
        let shardings = self.m.results(op).iter().map(|value| self.m.shardings[*value].expand());
        let first = shardings.clone().flatten().next()?;
        Some(shardings.map(|sharding| sharding.unwrap_or(first)).collect())
    }

    /// Attributes of the op that aren't fields.
    pub(super) fn extra_attrs(&self, op: OpId, entries: &mut Entries<'m>) {
        let m = self.m;
        let id = m.op(op).attrs;
        if id != AttrsId::EMPTY {
            entries
                .extend(m.attrs(id).iter().map(|(name, attr)| (m.str(*name), Entry::Attr(attr))));
        }
        if let Some(list) = self.result_shardings(op) {
            entries.push(("sdy.sharding", Entry::Shardings(list)));
        }
    }

    pub(super) fn entries(&mut self, mut entries: Entries<'m>) {
        entries.sort_by(|a, b| a.0.cmp(b.0));
        self.str("{");
        for (at, (name, entry)) in entries.into_iter().enumerate() {
            if at > 0 {
                self.str(", ");
            }
            match entry {
                Entry::Attr(attr) => self.named_attr(name, attr),
                Entry::Field(field) => self.named_field(name, field),
                Entry::Shardings(list) => {
                    self.str("sdy.sharding = #sdy.sharding_per_value<");
                    self.sharding_list(&list);
                    self.str(">");
                }
            }
        }
        self.str("}");
    }

    /// ` {...}` of what the pretty form doesn't show, if there is any.
    pub(super) fn attr_dict(&mut self, op: OpId) {
        let mut entries = Entries::new();
        self.extra_attrs(op, &mut entries);
        if !entries.is_empty() {
            self.str(" ");
            self.entries(entries);
        }
    }

    /// The same with the fields that `shown` doesn't name.
    pub(super) fn attr_dict_with_fields(&mut self, op: OpId, shown: &[&str]) {
        let mut entries = Entries::new();
        self.extra_attrs(op, &mut entries);
        self.m.kind(op).visit_fields(&mut |name, field| {
            if !shown.contains(&name) {
                entries.push((name, Entry::Field(field)));
            }
        });
        if !entries.is_empty() {
            self.str(" ");
            self.entries(entries);
        }
    }

    /// ` {...} : (types) -> types`.
    pub(super) fn functional(&mut self, op: OpId) {
        self.attr_dict(op);
        self.str(" : ");
        self.function_type(op);
    }

    /// ` {...} : type` if all operands and the result have it, else the types in full.
    pub(super) fn same_types(&mut self, op: OpId) {
        self.attr_dict(op);
        self.str(" : ");
        let m = self.m;
        let result = m.value_type(m.result(op, 0));
        if m.operands(op).iter().all(|value| m.value_type(*value) == result) {
            self.ty(result);
        } else {
            self.function_type(op);
        }
    }

    /// ` %0, %1`.
    pub(super) fn operands(&mut self, op: OpId) {
        let operands = self.m.operands(op);
        if !operands.is_empty() {
            self.str(" ");
            self.values(operands);
        }
    }
}
