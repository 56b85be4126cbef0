//! The sdy dialect.

use shard_ir::ops::{
    DataFlowEdge, ManualComputation, NamedComputation, PropagationBarrier, ReplicatedToUnreduced,
    Reshard, SdyAllGather, SdyAllReduce, SdyAllSlice, SdyAllToAll, SdyCollectivePermute,
    SdyReduceScatter, ShardedToUnreduced, ShardingConstraint, ShardingGroup, ShardingList,
};
use shard_ir::sharding::Combiner;
use shard_ir::{Attr, Diagnostic, MeshId, OpId, ShardingId};
use smallvec::SmallVec;

use super::super::parser::{AttrList, OpStart, Parser, Parts, Read};
use super::super::regions::RegionArg;
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "sdy.sharding_constraint" | "sdy.reshard" => resharding,
        "sdy.manual_computation" => manual_computation,
        "sdy.named_computation" => named_computation,
        "sdy.sharding_group" => sharding_group,
        "sdy.data_flow_edge" => data_flow_edge,
        "sdy.func_data_flow_edge" => func_data_flow_edge,
        "sdy.propagation_barrier" => propagation_barrier,
        "sdy.all_gather" | "sdy.all_slice" | "sdy.sharded_to_unreduced" | "sdy.reduce_scatter" => {
            axis_lists
        }
        "sdy.all_reduce" | "sdy.replicated_to_unreduced" => one_axis_list,
        "sdy.all_to_all" => all_to_all,
        "sdy.collective_permute" => collective_permute,
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    /// `%0 out_sharding=<...>`.
    fn with_out_sharding(&mut self, parts: &mut Parts) -> Read<(ShardingId, MeshId)> {
        parts.operands.push(self.operand()?);
        self.key("out_sharding")?;
        let at = self.c.pos();
        let out = self.sharding_body()?;
        let ty = self.m.value_type(parts.operands[0]);
        self.check_sharding(out, ty, at)?;
        Ok((out, self.m.sharding(out).mesh))
    }

    /// `{...} : type`, of the operand and the result.
    fn one_type(
        &mut self,
        start: &OpStart<'a>,
        op: impl Into<shard_ir::ops::Op>,
        parts: Parts,
    ) -> Read<OpId> {
        self.same_types(start, op, parts)
    }

    /// `max`, `min`, `sum` or nothing.
    fn combiner(&mut self) -> Combiner {
        for (word, combiner) in
            [("max", Combiner::Max), ("min", Combiner::Min), ("sum", Combiner::Sum)]
        {
            if self.c.eat_word(word) {
                return combiner;
            }
        }
        Combiner::Sum
    }

    /// Each manual axis must be one of the mesh.
    fn check_manual_axes(&mut self, at: usize, op: &ManualComputation) -> Read<()> {
        // The mesh of the first sharding that has one with axes.
        let mut all = op.in_shardings.0.iter().chain(&op.out_shardings.0);
        let m = &self.m;
        let Some(first) = all.find(|id| !m.meshes[m.sharding(**id).mesh].mesh.axes.is_empty())
        else {
            return Ok(());
        };
        let def = &self.m.meshes[self.m.sharding(*first).mesh];
        if def.mesh.is_maximal() {
            return Ok(());
        }
        let unknown =
            op.manual_axes.0.iter().find(|axis| def.mesh.axis_index(self.m.str(**axis)).is_none());
        let Some(unknown) = unknown else { return Ok(()) };
        let unknown = self.m.str(*unknown).to_owned();
        let known: Vec<String> =
            def.mesh.axes.iter().map(|axis| format!("\"{}\"", axis.name)).collect();
        let end = self.c.pos();
        self.report(
            Diagnostic::error(format!("the mesh has no axis \"{unknown}\""))
                .at(at..end)
                .help(format!("its axes are {}", known.join(", "))),
        )
    }

    /// `(%arg0: type, ...) {...}`.
    fn region_with_args(&mut self) -> Read<shard_ir::RegionId> {
        let mut args: SmallVec<[RegionArg<'a>; 8]> = SmallVec::new();
        let mut shardings = Vec::new();
        self.list(b'(', b')', |p| {
            let (name, at) = p.value_name()?;
            p.expect(b':')?;
            let ty = p.ty()?;
            let mut attrs = AttrList::new();
            p.optional_attr_dict(&mut attrs)?;
            if let Some(Attr::Sharding(id)) = p.take_attr(&mut attrs, "sdy.sharding") {
                shardings.push((args.len(), id));
            }
            let loc = p.trailing_loc()?;
            args.push(RegionArg { name, at, ty, loc });
            Ok(())
        })?;
        let region = self.region(&args, true)?;
        let entry = self.m.entry(region);
        for (index, id) in shardings {
            let value = self.m.params(entry)[index];
            self.m.shardings[value] = id.into();
        }
        Ok(region)
    }
}

/// `%0 <@mesh, [...]> : type`.
fn resharding<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.c.skip_space();
    let at = p.c.pos();
    let sharding = p.sharding_body()?;
    let ty = p.m.value_type(parts.operands[0]);
    p.check_sharding(sharding, ty, at)?;
    if start.name == "sdy.reshard" {
        return p.one_type(start, Reshard { sharding }, parts);
    }
    p.one_type(start, ShardingConstraint { sharding }, parts)
}

/// `(%0) in_shardings=[...] out_shardings=[...] manual_axes={...} (%arg0: type) {...} : ...`.
fn manual_computation<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    p.key("in_shardings")?;
    let in_shardings = ShardingList(p.sharding_list()?);
    p.key("out_shardings")?;
    let out_shardings = ShardingList(p.sharding_list()?);
    p.key("manual_axes")?;
    let at = p.c.pos();
    let manual_axes = p.manual_axes()?;
    let op = ManualComputation { in_shardings, out_shardings, manual_axes };
    p.check_manual_axes(at, &op)?;
    let region = p.region_with_args()?;
    parts.regions.push(region);
    let counts = (op.in_shardings.0.len(), parts.operands.len());
    if counts.0 != counts.1 {
        return p.error(
            at..p.c.pos(),
            format!("there are {} operands, but {} shardings of operands", counts.1, counts.0),
        );
    }
    p.functional(start, op, parts)
}

/// `<"name">(%0) in_shardings=[...] out_shardings=[...] (%arg0: type) {...} : ...`.
fn named_computation<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.expect(b'<')?;
    let name = p.string_symbol()?;
    p.expect(b'>')?;
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    let mut lists = [None, None];
    for (word, list) in ["in_shardings", "out_shardings"].into_iter().zip(&mut lists) {
        if p.c.eat_word(word) {
            p.expect(b'=')?;
            *list = Some(ShardingList(p.sharding_list()?));
        }
    }
    let [in_shardings, out_shardings] = lists;
    let region = p.region_with_args()?;
    parts.regions.push(region);
    p.functional(start, NamedComputation { name, in_shardings, out_shardings }, parts)
}

/// `%0 group_id=1 : type`.
fn sharding_group<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.key("group_id")?;
    let group = p.integer()?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    let at = p.c.pos();
    let ty = p.ty()?;
    p.check_types(at, &parts.operands, &[ty])?;
    p.finish(start, ShardingGroup { group }.into(), parts)
}

/// `%0 sharding=<...> : type`.
fn data_flow_edge<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    let mut sharding = None;
    if p.c.eat_word("sharding") {
        p.expect(b'=')?;
        let at = p.c.pos();
        let id = p.sharding_body()?;
        let ty = p.m.value_type(parts.operands[0]);
        p.check_sharding(id, ty, at)?;
        sharding = Some(id);
    }
    p.one_type(start, DataFlowEdge { sharding }, parts)
}

/// `%0 : type`.
fn func_data_flow_edge<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.one_type(start, shard_ir::ops::Sdy::FuncDataFlowEdge, parts)
}

/// `%0 allowed_direction=NONE : type`.
fn propagation_barrier<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.key("allowed_direction")?;
    let value = p.enumeration("NONE, FORWARD, BACKWARD or BOTH", |word| {
        ["NONE", "FORWARD", "BACKWARD", "BOTH"].iter().position(|known| *known == word)
    })?;
    // As the generic form has it.
    let ty = p.m.scalar(shard_ir::ElementType::I32);
    p.one_type(start, PropagationBarrier { allowed: Attr::Int(value as i128, ty) }, parts)
}

/// `[{"x"}, {}] %0 out_sharding=<...> : type`.
fn axis_lists<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let combiner = p.combiner();
    let raw = p.raw_axis_lists()?;
    let (out, mesh) = p.with_out_sharding(&mut parts)?;
    let axes = p.resolve_axis_lists(&raw, mesh)?;
    match start.name {
        "sdy.all_gather" => p.one_type(start, SdyAllGather { axes, out }, parts),
        "sdy.all_slice" => p.one_type(start, SdyAllSlice { axes, out }, parts),
        "sdy.sharded_to_unreduced" => p.one_type(start, ShardedToUnreduced { axes, out }, parts),
        _ => p.one_type(start, SdyReduceScatter { axes, combiner, out }, parts),
    }
}

/// `{"x"} %0 out_sharding=<...> : type`.
fn one_axis_list<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let combiner = p.combiner();
    let raw = p.raw_axes()?;
    let (out, mesh) = p.with_out_sharding(&mut parts)?;
    let axes = p.mesh_axes(mesh, &raw)?;
    match start.name {
        "sdy.all_reduce" => p.one_type(start, SdyAllReduce { axes, combiner, out }, parts),
        _ => p.one_type(start, ReplicatedToUnreduced { axes, out }, parts),
    }
}

/// `[{"x"}: 0->1] %0 out_sharding=<...> : type`.
fn all_to_all<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    let raw = p.raw_all_to_all()?;
    let (out, mesh) = p.with_out_sharding(&mut parts)?;
    let params = p.resolve_all_to_all(&raw, mesh)?;
    p.one_type(start, SdyAllToAll { params, out }, parts)
}

/// `%0 out_sharding=<...> : type`.
fn collective_permute<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    let (out, _) = p.with_out_sharding(&mut parts)?;
    p.one_type(start, SdyCollectivePermute { out }, parts)
}
