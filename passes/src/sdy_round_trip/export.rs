//! From Shardy's own attributes and ops to frontend attributes and custom calls.

use std::fmt::Write as _;

use shard_ir::ops::{
    Call, Callee, Constant, Control, ManualAxes, ManualComputation, Op, Sdy, ShardingList,
};
use shard_ir::sharding::{AxisList, HloSharding};
use shard_ir::{
    Attr, AttrsId, Diagnostic, Func, FuncId, FuncResult, Item, Module, OpId, RegionId, ShardingId,
    Symbol, TypeId, ValueId,
};
use shard_propagate::rules::RULE_ATTR;

use super::names;
use crate::annotations;
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// Runs the pass; a program without meshes is left as it is.
///
/// # Errors
/// If an op can't be rewritten; none of those of today.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    if module.meshes.is_empty() {
        return Ok(());
    }
    // The bodies of shard_maps become functions on the way.
    let mut open: Vec<(FuncId, ManualAxes)> =
        module.func_ids().map(|func| (func, ManualAxes::default())).collect();
    open.reverse();
    let mut bodies = 0;
    while let Some((func, manual)) = open.pop() {
        arguments(module, func, &manual);
        let mut pass = Export { func, manual, open: &mut open, bodies };
        let body = module.funcs[func].body;
        rewrite(module, body, &mut pass)?;
        bodies = pass.bodies;
    }
    meshes(module);
    Ok(())
}

/// Meshes that have a name move to an attribute of the module.
fn meshes(module: &mut Module) {
    let mut text = String::new();
    for item in &module.items {
        let Item::Mesh(id) = item else { continue };
        let def = &module.meshes[*id];
        let Some(name) = def.name else { continue };
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} = #sdy.mesh{}", key(module.str(name)), def.mesh);
    }
    if !text.is_empty() {
        let attrs = module.attrs;
        let text = format!("{{{text}}}");
        module.attrs = annotations::with_frontend(module, attrs, names::MESHES, Some(&text));
    }
    module.items.retain(|item| !matches!(item, Item::Mesh(_)));
}

/// A name as the key of a dictionary.
fn key(name: &str) -> String {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte));
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}

fn arguments(module: &mut Module, func: FuncId, manual: &ManualAxes) {
    for (index, value) in module.args(func).to_vec().into_iter().enumerate() {
        let Some(sharding) = module.shardings[value].take() else { continue };
        let text = format!("#sdy.sharding{}", stripped(module, sharding));
        let attrs = module.funcs[func].arg_attrs[index];
        let attrs = annotations::with_frontend(module, attrs, names::SHARDING, Some(&text));
        let tiles = tiles(module, &[sharding], manual);
        module.funcs[func].arg_attrs[index] = module.with_attr(attrs, annotations::TILES, tiles);
    }
}

/// `<@mesh, [{"x"}]>`, or the mesh itself in the place of its name.
fn stripped(module: &Module, sharding: ShardingId) -> String {
    let sharding = module.sharding(sharding);
    let def = &module.meshes[sharding.mesh];
    match def.name {
        Some(name) => sharding.stripped_text(&def.mesh, module.str(name)).to_string(),
        None => format!("<mesh{}, {}>", def.mesh, sharding.bare_text(&def.mesh)),
    }
}

/// `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`
fn per_value(module: &Module, shardings: &[ShardingId]) -> String {
    let list: Vec<String> = shardings.iter().map(|&one| stripped(module, one)).collect();
    format!("#sdy.sharding_per_value<[{}]>", list.join(", "))
}

/// The same in tiles, for XLA's partitioner without Shardy. `None` where there are no such tiles:
/// partial results of a maximum, say.
fn tiles(module: &mut Module, shardings: &[ShardingId], manual: &ManualAxes) -> Option<Attr> {
    let mut list = Vec::new();
    for &sharding in shardings {
        let sharding = module.sharding(sharding);
        let mesh = &module.meshes[sharding.mesh].mesh;
        let axes: AxisList =
            manual.0.iter().filter_map(|&axis| mesh.axis(module.str(axis))).collect();
        list.push(HloSharding::from_mesh(sharding, mesh, &axes).ok()?.to_string());
    }
    let text = match &list[..] {
        [only] => only.clone(),
        _ => format!("{{{}}}", list.join(", ")),
    };
    Some(Attr::String(module.symbol(&text)))
}

struct Export<'a> {
    func: FuncId,
    /// The axes along which the function is one device's.
    manual: ManualAxes,
    /// The functions to come.
    open: &'a mut Vec<(FuncId, ManualAxes)>,
    bodies: usize,
}

impl Rewrite for Export<'_> {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        match rw.module.kind(op).clone() {
            Op::Control(Control::FuncReturn) => self.returned(rw, op),
            Op::Sdy(kind) => self.sdy(rw, op, kind),
            _ => {
                self.annotate(rw.module, op);
                rw.keep(op);
            }
        }
        Ok(())
    }
}

impl Export<'_> {
    /// The shardings of an op's results, and its rule.
    fn annotate(&self, module: &mut Module, op: OpId) {
        let results = module.results(op).to_vec();
        let stated: Vec<Option<ShardingId>> =
            results.iter().map(|&value| module.shardings[value].take()).collect();
        let mut attrs = module.op(op).attrs;
        if let Some(list) = stated.into_iter().collect::<Option<Vec<_>>>()
            && !list.is_empty()
        {
            let text = per_value(module, &list);
            attrs = annotations::with_frontend(module, attrs, names::SHARDING, Some(&text));
            let tiles = tiles(module, &list, &self.manual);
            attrs = module.with_attr(attrs, annotations::TILES, tiles);
        }
        if let Some(Attr::Text(rule)) = module.attr(attrs, RULE_ATTR) {
            let rule = module.str(*rule).to_owned();
            attrs = annotations::with_frontend(module, attrs, names::RULE, Some(&rule));
            attrs = module.with_attr(attrs, RULE_ATTR, None);
        }
        module.op_mut(op).attrs = attrs;
    }

    /// States the shardings of the function's results.
    fn returned(&self, rw: &mut Rewriter<'_>, op: OpId) {
        let mut operands = rw.module.operands(op).to_vec();
        for (index, operand) in operands.iter_mut().enumerate() {
            let Some(result) = rw.module.funcs[self.func].results.get_mut(index) else { break };
            let Some(sharding) = result.sharding.take() else { continue };
            let attrs = result.attrs;
            let tiles = tiles(rw.module, &[sharding], &self.manual);
            let attrs = rw.module.with_attr(attrs, annotations::TILES, tiles);
            rw.module.funcs[self.func].results[index].attrs = attrs;
            *operand = self.stated(rw, names::RESULT_SHARDING, *operand, sharding);
        }
        rw.module.set_operands(op, &operands);
        rw.keep(op);
    }

    /// A custom call that states the sharding of a value.
    fn stated(
        &self,
        rw: &mut Rewriter<'_>,
        target: &str,
        operand: ValueId,
        sharding: ShardingId,
    ) -> ValueId {
        let text = per_value(rw.module, &[sharding]);
        let tiles = match target {
            names::CONSTRAINT => tiles(rw.module, &[sharding], &self.manual),
            _ => None,
        };
        let ty = rw.module.value_type(operand);
        let new = call(rw, target, &[operand], &[ty], &[(names::SHARDING, text)]);
        let attrs = rw.module.op(new).attrs;
        rw.module.op_mut(new).attrs = rw.module.with_attr(attrs, annotations::TILES, tiles);
        rw.module.result(new, 0)
    }

    fn sdy(&mut self, rw: &mut Rewriter<'_>, op: OpId, kind: Sdy) {
        let stated = |this: &Self, rw: &mut Rewriter<'_>, sharding| {
            let value = this.stated(rw, names::CONSTRAINT, rw.module.operand(op, 0), sharding);
            let result = rw.module.result(op, 0);
            rw.module.value_names[value] = rw.module.value_names[result];
            rw.replace(result, value);
        };
        match kind {
            Sdy::ShardingConstraint(constraint) => stated(self, rw, constraint.sharding),
            Sdy::Reshard(reshard) => stated(self, rw, reshard.sharding),
            Sdy::DataFlowEdge(edge) => match edge.sharding {
                Some(sharding) => stated(self, rw, sharding),
                None => rw.replace(rw.module.result(op, 0), rw.module.operand(op, 0)),
            },
            Sdy::FuncDataFlowEdge => rw.replace(rw.module.result(op, 0), rw.module.operand(op, 0)),
            Sdy::SdyConstant(constant) => {
                rw.module.op_mut(op).op = Constant { value: constant.value }.into();
                self.annotate(rw.module, op);
                rw.keep(op);
            }
            Sdy::ShardingGroup(group) => {
                let text = format!("{} : i64", group.group);
                let operand = rw.module.operand(op, 0);
                call(rw, names::SHARDING_GROUP, &[operand], &[], &[(names::GROUP, text)]);
            }
            Sdy::PropagationBarrier(barrier) => {
                let text = match barrier.allowed {
                    Attr::Int(direction, _) => format!("{direction} : i32"),
                    _ => "0 : i32".to_owned(),
                };
                let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
                let ty = rw.module.value_type(result);
                let new = call(rw, names::BARRIER, &[operand], &[ty], &[(names::DIRECTION, text)]);
                rw.replace(result, rw.module.result(new, 0));
            }
            Sdy::ManualComputation(manual) => self.manual(rw, op, &manual),
            Sdy::NamedComputation(named) => {
                let name = rw.module.str(named.name).to_owned();
                let region = rw.module.regions(op)[0];
                let func = self.function(rw.module, &name, region);
                let args = rw.module.args(func).to_vec();
                for (value, &sharding) in args.into_iter().zip(listed(&named.in_shardings)) {
                    rw.module.shardings[value] = sharding.into();
                }
                let results = &mut rw.module.funcs[func].results;
                for (result, &sharding) in results.iter_mut().zip(listed(&named.out_shardings)) {
                    result.sharding = sharding.into();
                }
                self.open.push((func, self.manual.clone()));
                let operands = rw.module.operands(op).to_vec();
                let results = rw.module.results(op).to_vec();
                let values = self.call_of(rw, func, &operands);
                for (old, new) in results.into_iter().zip(values) {
                    rw.replace(old, new);
                }
            }
            // Collectives between shardings have no other form: what reads the result says so.
            Sdy::SdyAllGather(_)
            | Sdy::SdyAllSlice(_)
            | Sdy::SdyAllToAll(_)
            | Sdy::SdyCollectivePermute(_)
            | Sdy::SdyAllReduce(_)
            | Sdy::SdyReduceScatter(_)
            | Sdy::ShardedToUnreduced(_)
            | Sdy::ReplicatedToUnreduced(_) => rw.keep(op),
        }
    }

    /// A `shard_map`: its body is a function between two custom calls.
    fn manual(&mut self, rw: &mut Rewriter<'_>, op: OpId, manual: &ManualComputation) {
        let region = rw.module.regions(op)[0];
        let mut name = names::BODY.to_owned();
        if self.bodies > 0 {
            let _ = write!(name, "_{}", self.bodies);
        }
        self.bodies += 1;
        let func = self.function(rw.module, &name, region);
        let mut axes = self.manual.clone();
        axes.0.extend(manual.manual_axes.0.iter().copied());
        self.open.push((func, axes));

        let spelled: Vec<String> = manual
            .manual_axes
            .0
            .iter()
            .map(|&axis| format!("\"{}\"", rw.module.str(axis)))
            .collect();
        let axes = format!("#sdy<manual_axes{{{}}}>", spelled.join(", "));
        let border = |rw: &Rewriter<'_>, name: &'static str, list: &ShardingList| {
            [(name, per_value(rw.module, &list.0)), (names::MANUAL_AXES, axes.clone())]
        };
        let mut operands = rw.module.operands(op).to_vec();
        if !operands.is_empty() {
            let types: Vec<TypeId> =
                rw.module.args(func).iter().map(|&arg| rw.module.value_type(arg)).collect();
            let said = border(rw, names::IN_SHARDINGS, &manual.in_shardings);
            let cut = call(rw, names::GLOBAL_TO_LOCAL, &operands, &types, &said);
            operands = rw.module.results(cut).to_vec();
        }
        let local = self.call_of(rw, func, &operands);
        let results = rw.module.results(op).to_vec();
        if !results.is_empty() {
            let types: Vec<TypeId> =
                results.iter().map(|&value| rw.module.value_type(value)).collect();
            let said = border(rw, names::OUT_SHARDINGS, &manual.out_shardings);
            let joined = call(rw, names::LOCAL_TO_GLOBAL, &local, &types, &said);
            for (old, new) in results.into_iter().zip(rw.module.results(joined).to_vec()) {
                rw.replace(old, new);
            }
        }
    }

    fn call_of(&self, rw: &mut Rewriter<'_>, func: FuncId, operands: &[ValueId]) -> Vec<ValueId> {
        let callee = Callee(rw.module.funcs[func].name);
        let types: Vec<TypeId> =
            rw.module.funcs[func].results.iter().map(|result| result.ty).collect();
        let new = rw.module.new_op(Call { callee }, operands, &types, &[], rw.loc);
        rw.place(new);
        rw.module.results(new).to_vec()
    }

    /// A function of a region.
    fn function(&self, module: &mut Module, name: &str, body: RegionId) -> FuncId {
        let block = module.entry(body);
        let mut results = Vec::new();
        if let Some(end) = module.terminator(block) {
            module.op_mut(end).op = Control::FuncReturn.into();
            for &value in module.operands(end) {
                let ty = module.value_type(value);
                results.push(FuncResult { ty, sharding: None.into(), attrs: AttrsId::EMPTY });
            }
        }
        let arg_attrs = vec![AttrsId::EMPTY; module.params(block).len()];
        let func = Func {
            name: free_name(module, name),
            visibility: Some(module.symbol("private")),
            body,
            is_declaration: false,
            arg_attrs,
            results,
            attrs: AttrsId::EMPTY,
            loc: module.funcs[self.func].loc,
        };
        module.new_func(func)
    }
}

/// The shardings of a list that may be absent.
fn listed(list: &Option<ShardingList>) -> &[ShardingId] {
    list.as_ref().map_or(&[], |list| &list.0)
}

/// A name that no function has.
fn free_name(module: &mut Module, name: &str) -> Symbol {
    let mut wanted = module.symbol(name);
    let mut number = 0;
    while module.find_func(wanted).is_some() {
        wanted = module.symbol(&format!("{name}_{number}"));
        number += 1;
    }
    wanted
}

/// Emits a custom call with frontend attributes.
fn call(
    rw: &mut Rewriter<'_>,
    target: &str,
    operands: &[ValueId],
    types: &[TypeId],
    said: &[(&str, String)],
) -> OpId {
    let call = names::custom_call(rw.module, target);
    let new = rw.module.new_op(call, operands, types, &[], rw.loc);
    let mut attrs = AttrsId::EMPTY;
    for (name, text) in said {
        attrs = annotations::with_frontend(rw.module, attrs, name, Some(text));
    }
    rw.module.op_mut(new).attrs = attrs;
    rw.place(new);
    new
}
