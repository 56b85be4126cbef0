//! From frontend attributes and custom calls to Shardy's own attributes and ops.

use rustc_hash::{FxHashMap, FxHashSet};
use shard_ir::clone::{ValueMap, clone_region};
use shard_ir::ops::{
    Control, ManualAxes, ManualComputation, Op, PropagationBarrier, ShardingConstraint,
    ShardingGroup, ShardingList,
};
use shard_ir::sharding::{HloSharding, TensorSharding};
use shard_ir::{
    Attr, AttrsId, Diagnostic, FuncId, Item, Module, OpId, ShardingId, Symbol, ValueId,
};
use shard_propagate::rules::RULE_ATTR;
use shard_text::generic::{read_attr, read_mesh};

use super::names;
use crate::annotations;
use crate::rewrite::{Rewrite, Rewriter, rewrite};
use crate::shardings::walk_module;

/// Runs the pass; a program without Shardy's frontend attributes is left as it is.
///
/// # Errors
/// If an attribute can't be read or doesn't suit its value, or the border of a `shard_map` isn't
/// whole.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    if !is_annotated(module) {
        return Ok(());
    }
    // XLA leaves ops behind that nothing uses but which use what is about to change.
    crate::dead_code::run(module);
    meshes(module)?;
    let mut pass = Import::new(module)?;
    for func in callees_first(module) {
        arguments(module, func)?;
        pass.func = Some(func);
        let body = module.funcs[func].body;
        rewrite(module, body, &mut pass)?;
        for index in 0..module.funcs[func].results.len() {
            let attrs = module.funcs[func].results[index].attrs;
            module.funcs[func].results[index].attrs =
                module.with_attr(attrs, annotations::TILES, None);
        }
    }
    tuples(module)?;
    let is_body =
        |module: &Module, func: FuncId| names::is_body(module.str(module.funcs[func].name));
    let items = std::mem::take(&mut module.items);
    module.items = items
        .into_iter()
        .filter(|item| !matches!(item, Item::Func(func) if is_body(module, *func)))
        .collect();
    Ok(())
}

/// Whether anything in the program says something of Shardy's in a frontend attribute.
fn is_annotated(module: &Module) -> bool {
    let says = |attrs: AttrsId| match module.attr(attrs, annotations::FRONTEND) {
        Some(Attr::Dict(dict)) => {
            module.attrs(*dict).iter().any(|(key, _)| module.str(*key).starts_with("xla.sdy."))
        }
        _ => false,
    };
    let mut found = says(module.attrs);
    for func in module.func_ids() {
        found |= module.funcs[func].arg_attrs.iter().any(|&attrs| says(attrs));
    }
    walk_module(module, |op| found |= says(module.op(op).attrs));
    found
}

/// `xla.sdy.meshes = "{mesh = #sdy.mesh<["x"=2]>}"`
fn meshes(module: &mut Module) -> Result<(), Diagnostic> {
    if let Some(text) = annotations::frontend(module, module.attrs, names::MESHES) {
        let text = text.to_owned();
        let wrong = |what: String| Diagnostic::error(format!("{} = {text}: {what}", names::MESHES));
        let read = read_attr(module, &text, None).map_err(|error| wrong(error.message))?;
        let Attr::Dict(list) = read else {
            return Err(wrong(
                "expected meshes by name, such as {mesh = #sdy.mesh<[\"x\"=2]>}".into(),
            ));
        };
        for (at, (name, attr)) in module.attrs(list).to_vec().into_iter().enumerate() {
            let Attr::Text(spelled) = attr else {
                return Err(wrong("expected a mesh such as #sdy.mesh<[\"x\"=2]>".into()));
            };
            let spelled = module.str(spelled).to_owned();
            let mesh = read_mesh(module, &spelled).map_err(|error| wrong(error.message))?;
            mesh.verify().map_err(|error| wrong(error.to_string()))?;
            if module.find_mesh(module.str(name)).is_some() {
                continue;
            }
            crate::meshes::declare(module, name, mesh, at);
        }
    }
    for name in names::NOTES.into_iter().chain([names::MESHES]) {
        let attrs = module.attrs;
        module.attrs = annotations::with_frontend(module, attrs, name, None);
    }
    Ok(())
}

/// What the attributes of a function's arguments say.
fn arguments(module: &mut Module, func: FuncId) -> Result<(), Diagnostic> {
    for index in 0..module.funcs[func].arg_attrs.len() {
        let attrs = module.funcs[func].arg_attrs[index];
        let value = module.args(func)[index];
        if let Some(text) = annotations::frontend(module, attrs, names::SHARDING) {
            let text = text.to_owned();
            let sharding = one_sharding(module, &text, value).map_err(|error| {
                let loc = module.param_locs[value].expand().unwrap_or(module.funcs[func].loc);
                error.at_loc(module, loc).note(format!("it is that of argument {index}"))
            })?;
            module.shardings[value] = sharding.into();
        }
        let attrs = annotations::with_frontend(module, attrs, names::SHARDING, None);
        module.funcs[func].arg_attrs[index] = module.with_attr(attrs, annotations::TILES, None);
    }
    Ok(())
}

/// Shardings of the entry's arguments and results that the module has as lists, since they were
/// tuples.
fn tuples(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(main) = module.main_func() else { return Ok(()) };
    for name in [names::TUPLE_ARGS, names::TUPLE_RESULTS] {
        let Some(text) = annotations::frontend(module, module.attrs, name) else { continue };
        let text = text.to_owned();
        let list = list(module, &text)?;
        for (index, sharding) in list.into_iter().enumerate() {
            if name == names::TUPLE_ARGS {
                if let Some(&value) = module.args(main).get(index) {
                    module.shardings[value] = sharding.into();
                }
            } else if let Some(result) = module.funcs[main].results.get_mut(index) {
                result.sharding = sharding.into();
            }
        }
        let attrs = module.attrs;
        module.attrs = annotations::with_frontend(module, attrs, name, None);
    }
    Ok(())
}

fn unreadable(text: &str, what: impl std::fmt::Display) -> Diagnostic {
    Diagnostic::error(format!("can't take over {text}: {what}"))
}

fn read(module: &mut Module, text: &str) -> Result<Attr, Diagnostic> {
    read_attr(module, text, None).map_err(|error| unreadable(text, error.message))
}

/// `#sdy.sharding<@mesh, [{"x"}]>` of a value.
fn one_sharding(module: &mut Module, text: &str, value: ValueId) -> Result<ShardingId, Diagnostic> {
    let sharding = match read(module, text)? {
        Attr::Sharding(id) => id,
        Attr::ShardingPerValue(list) if list.len() == 1 => list[0],
        _ => return Err(unreadable(text, "it isn't the sharding of one value")),
    };
    fits(module, sharding, value).map_err(|error| unreadable(text, error))?;
    Ok(sharding)
}

/// `#sdy.sharding_per_value<[<@mesh, [{"x"}]>]>`
fn list(module: &mut Module, text: &str) -> Result<Vec<ShardingId>, Diagnostic> {
    match read(module, text)? {
        Attr::ShardingPerValue(list) => Ok(list.into_vec()),
        Attr::Sharding(one) => Ok(vec![one]),
        _ => Err(unreadable(text, "it isn't a list of shardings")),
    }
}

/// Whether a sharding suits a value.
fn fits(module: &Module, sharding: ShardingId, value: ValueId) -> Result<(), String> {
    let sharding = module.sharding(sharding);
    let mesh = &module.meshes[sharding.mesh].mesh;
    let rank = module.tensor_type(value).map_or(0, |ty| ty.rank());
    let rank = if mesh.is_maximal() { 0 } else { rank };
    sharding.verify(mesh, rank).map_err(|error| error.to_string())
}

/// Functions in an order in which each comes after those it calls.
fn callees_first(module: &Module) -> Vec<FuncId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    for root in module.func_ids() {
        let mut stack = vec![(root, false)];
        while let Some((func, done)) = stack.pop() {
            if done {
                order.push(func);
                continue;
            }
            if !seen.insert(func) {
                continue;
            }
            stack.push((func, true));
            module.walk(module.funcs[func].body, |op| {
                if let Op::Control(Control::Call(call)) = module.kind(op)
                    && let Some(callee) = module.find_func(call.callee.0)
                {
                    stack.push((callee, false));
                }
            });
        }
    }
    order
}

/// Who uses a value.
#[derive(Default)]
struct Users {
    /// The results of the function that it is.
    returned: Vec<usize>,
    /// The first other op.
    other: Option<OpId>,
}

/// Whether an op calls the body of a `shard_map`.
fn is_body_call(module: &Module, op: OpId) -> bool {
    match module.kind(op) {
        Op::Control(Control::Call(call)) => names::is_body(module.str(call.callee.0)),
        _ => false,
    }
}

struct Import {
    func: Option<FuncId>,
    /// The users of what the custom calls and the bodies of `shard_map` return.
    users: FxHashMap<ValueId, Users>,
    /// How often each body is called.
    calls: FxHashMap<Symbol, usize>,
}

impl Import {
    /// Looks at the uses of what is about to change.
    ///
    /// # Errors
    /// If a value inside the border of a `shard_map` is used outside it.
    fn new(module: &Module) -> Result<Self, Diagnostic> {
        let mut users: FxHashMap<ValueId, Users> = FxHashMap::default();
        let mut calls: FxHashMap<Symbol, usize> = FxHashMap::default();
        walk_module(module, |op| {
            if let Op::Control(Control::Call(call)) = module.kind(op) {
                *calls.entry(call.callee.0).or_default() += 1;
            }
            if is_body_call(module, op)
                || annotations::call_target(module, op) == Some(names::RESULT_SHARDING)
            {
                users.extend(module.results(op).iter().map(|&value| (value, Users::default())));
            }
        });
        let mut stray = None;
        walk_module(module, |op| {
            let returns = matches!(module.kind(op), Op::Control(Control::FuncReturn));
            for (index, value) in module.operands(op).iter().enumerate() {
                let inside = match module.defining_op(*value) {
                    Some(source)
                        if annotations::call_target(module, source)
                            == Some(names::GLOBAL_TO_LOCAL) =>
                    {
                        is_body_call(module, op)
                    }
                    Some(source) if is_body_call(module, source) => {
                        annotations::call_target(module, op) == Some(names::LOCAL_TO_GLOBAL)
                    }
                    _ => true,
                };
                if !inside {
                    stray.get_or_insert(op);
                }
                let Some(users) = users.get_mut(value) else { continue };
                if returns {
                    users.returned.push(index);
                } else {
                    users.other.get_or_insert(op);
                }
            }
        });
        match stray {
            Some(op) => Err(Diagnostic::error("uses a value of a shard_map's body outside it")
                .at_op(module, op)
                .help("dump the HLO before XLA's passes (the before_optimizations dump)")),
            None => Ok(Import { func: None, users, calls }),
        }
    }

    /// Takes over the sharding of an op's results, where an op may have one.
    fn sharding(&self, module: &mut Module, op: OpId) -> Result<(), Diagnostic> {
        let attrs = module.op(op).attrs;
        if let Some(text) = annotations::frontend(module, attrs, names::SHARDING) {
            let text = text.to_owned();
            let shardings = list(module, &text)?;
            let results = module.results(op).to_vec();
            // XLA copies attributes from op to op when it makes new ones: what the tiles don't
            // confirm may be another op's.
            let tiles = match module.attr(attrs, annotations::TILES) {
                Some(Attr::String(tiles)) => module.str(*tiles).parse::<HloSharding>().ok(),
                _ => None,
            };
            let sure = match module.kind(op) {
                Op::Custom(_) | Op::Effects(_) => true,
                _ => {
                    results.len() == 1
                        && tiles.is_some_and(|tiles| agree(module, &tiles, &shardings))
                }
            };
            if sure && shardings.len() == results.len() {
                for (&result, sharding) in results.iter().zip(shardings) {
                    if fits(module, sharding, result).is_ok() {
                        module.shardings[result] = sharding.into();
                    }
                }
            }
        }
        Ok(())
    }

    fn constraint(
        &self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        text: &str,
        open: &[usize],
    ) -> Result<(), Diagnostic> {
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let sharding = one_sharding(rw.module, text, result)?;
        let sharding = if open.is_empty() { sharding } else { opened(rw.module, sharding, open) };
        let ty = rw.module.value_type(result);
        let value = rw.emit(ShardingConstraint { sharding }, &[operand], ty);
        rw.module.value_names[value] = rw.module.value_names[result];
        rw.replace(result, value);
        Ok(())
    }

    /// `@xla.sdy.FuncResultSharding`: the sharding of a result; a constraint where inlining has
    /// left no result to be that of.
    fn result_sharding(
        &self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        text: &str,
    ) -> Result<(), Diagnostic> {
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        let sharding = one_sharding(rw.module, text, result)?;
        let users = &self.users[&result];
        if let Some(func) = self.func {
            for &index in &users.returned {
                if let Some(result) = rw.module.funcs[func].results.get_mut(index) {
                    result.sharding = sharding.into();
                }
            }
        }
        match users.other {
            Some(_) => {
                let all: Vec<usize> = (0..rw.module.sharding(sharding).rank()).collect();
                self.constraint(rw, op, text, &all)
            }
            None => {
                rw.replace(result, operand);
                Ok(())
            }
        }
    }

    /// A call of the body of a `shard_map`, with what cuts its operands up and puts its results
    /// together.
    fn manual(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        callee: Symbol,
    ) -> Result<(), Diagnostic> {
        let Some(body) = rw.module.find_func(callee) else {
            let name = rw.module.str(callee);
            return Err(Diagnostic::error(format!(
                "calls @{name}, which the module doesn't define"
            )));
        };
        let incomplete = |what: &str| {
            Diagnostic::error(format!("is the body of a shard_map, but {what}"))
                .help("dump the HLO before XLA's passes (the before_optimizations dump)")
        };
        let cut = rw.module.operands(op).iter().find_map(|&value| {
            let op = rw.module.defining_op(value)?;
            (annotations::call_target(rw.module, op) == Some(names::GLOBAL_TO_LOCAL)).then_some(op)
        });
        if cut.is_none() && !rw.module.operands(op).is_empty() {
            return Err(incomplete("its operands don't come from xla.sdy.GlobalToLocalShape"));
        }
        let results = rw.module.results(op).to_vec();
        let joined = results.iter().find_map(|value| self.users.get(value)?.other);
        let joined = joined.filter(|&user| {
            annotations::call_target(rw.module, user) == Some(names::LOCAL_TO_GLOBAL)
        });
        if joined.is_none() && !results.is_empty() {
            // Results without elements are constants by now, and nothing uses those of the call.
            if results.iter().all(|value| {
                self.users
                    .get(value)
                    .is_none_or(|users| users.other.is_none() && users.returned.is_empty())
            }) {
                return Ok(());
            }
            return Err(incomplete("its results don't go to xla.sdy.LocalToGlobalShape"));
        }
        let mut axes: Option<ManualAxes> = None;
        let mut shardings = |rw: &mut Rewriter<'_>, border: Option<OpId>, name: &str| {
            let Some(border) = border else { return Ok(ShardingList::default()) };
            let attrs = rw.module.op(border).attrs;
            if axes.is_none()
                && let Some(text) = annotations::frontend(rw.module, attrs, names::MANUAL_AXES)
            {
                let text = text.to_owned();
                match read(rw.module, &text)? {
                    Attr::ManualAxes(list) => axes = Some(list),
                    _ => return Err(unreadable(&text, "it isn't a list of axes")),
                }
            }
            match annotations::frontend(rw.module, attrs, name).map(str::to_owned) {
                Some(text) => Ok(ShardingList(list(rw.module, &text)?)),
                None => Ok(ShardingList::default()),
            }
        };
        let in_shardings = shardings(rw, cut, names::IN_SHARDINGS)?;
        let out_shardings = shardings(rw, joined, names::OUT_SHARDINGS)?;
        let operands = cut.map(|cut| rw.module.operands(cut).to_vec()).unwrap_or_default();
        let whole = joined.map(|joined| rw.module.results(joined).to_vec()).unwrap_or_default();
        let params = rw.module.args(body).len();
        if in_shardings.0.len() != operands.len()
            || params != operands.len()
            || out_shardings.0.len() != whole.len()
            || rw.module.funcs[body].results.len() != whole.len()
        {
            return Err(incomplete("its operands, results and their shardings differ in number"));
        }
        let region = rw.module.funcs[body].body;
        let region = if self.calls.get(&callee) == Some(&1) {
            region
        } else {
            clone_region(rw.module, region, &mut ValueMap::default(), &mut |_, loc| loc)
        };
        let block = rw.module.entry(region);
        if let Some(end) = rw.module.terminator(block) {
            rw.module.op_mut(end).op = Control::SdyReturn.into();
        }
        let types: Vec<_> = whole.iter().map(|&value| rw.module.value_type(value)).collect();
        let manual = ManualComputation {
            in_shardings,
            out_shardings,
            manual_axes: axes.unwrap_or_default(),
        };
        let new = rw.module.new_op(manual, &operands, &types, &[region], rw.loc);
        rw.place(new);
        for (old, new) in whole.into_iter().zip(rw.module.results(new).to_vec()) {
            rw.replace(old, new);
        }
        Ok(())
    }
}

/// `@xla.sdy.ShardingGroup`: its value joins a group.
fn group(rw: &mut Rewriter<'_>, op: OpId, text: Option<String>) -> Result<(), Diagnostic> {
    let Some(text) = text else {
        return Err(Diagnostic::error(format!("has no frontend attribute {}", names::GROUP)));
    };
    let Attr::Int(group, _) = read(rw.module, &text)? else {
        return Err(unreadable(&text, "it isn't the number of a group"));
    };
    if !rw.module.results(op).is_empty() {
        return Err(Diagnostic::error("has a result, but a value that joins a group makes none"));
    }
    let operand = rw.module.operand(op, 0);
    let new = rw.module.new_op(ShardingGroup { group: group as i64 }, &[operand], &[], &[], rw.loc);
    rw.place(new);
    Ok(())
}

/// The sharding with dimensions open.
fn opened(module: &mut Module, sharding: ShardingId, dims: &[usize]) -> ShardingId {
    let mut sharding: TensorSharding = module.sharding(sharding).clone();
    for &dim in dims {
        if let Some(dim) = sharding.dims.get_mut(dim) {
            dim.open = true;
        }
    }
    module.sharding_id(sharding)
}

/// Whether tiles say what a sharding does.
fn agree(module: &Module, tiles: &HloSharding, shardings: &[ShardingId]) -> bool {
    let &[sharding] = shardings else { return false };
    let sharding = module.sharding(sharding);
    let mesh = &module.meshes[sharding.mesh].mesh;
    match tiles.on_mesh(mesh, sharding.mesh, sharding.rank()) {
        Ok((same, _)) => {
            same.dim_axes_in_order().eq(sharding.dim_axes_in_order())
                && same.shard_counts() == sharding.shard_counts()
        }
        Err(_) => false,
    }
}

impl Rewrite for Import {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        self.one(rw, op).map_err(|error| error.at_op(rw.module, op))
    }
}

impl Import {
    fn one(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let attrs = rw.module.op(op).attrs;
        let said = |module: &Module, name: &str| {
            annotations::frontend(module, attrs, name).map(str::to_owned)
        };
        if let Op::Control(Control::Call(call)) = rw.module.kind(op)
            && names::is_body(rw.module.str(call.callee.0))
        {
            let callee = call.callee.0;
            return self.manual(rw, op, callee);
        }
        let one_to_one = rw.module.operands(op).len() == 1 && rw.module.results(op).len() == 1;
        match annotations::call_target(rw.module, op).map(str::to_owned).as_deref() {
            Some(names::GLOBAL_TO_LOCAL | names::LOCAL_TO_GLOBAL) => return Ok(()),
            Some(names::CONSTRAINT) if one_to_one => {
                if let Some(text) = said(rw.module, names::SHARDING) {
                    let open = crate::import::unspecified_dims(rw.module, op);
                    return self.constraint(rw, op, &text, &open);
                }
            }
            Some(names::RESULT_SHARDING) if one_to_one => {
                if let Some(text) = said(rw.module, names::SHARDING) {
                    return self.result_sharding(rw, op, &text);
                }
            }
            Some(names::BARRIER) if one_to_one => {
                if let Some(text) = said(rw.module, names::DIRECTION) {
                    let allowed = read(rw.module, &text)?;
                    let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
                    let ty = rw.module.value_type(result);
                    let value = rw.emit(PropagationBarrier { allowed }, &[operand], ty);
                    rw.replace(result, value);
                    return Ok(());
                }
            }
            Some(names::SHARDING_GROUP) if rw.module.operands(op).len() == 1 => {
                return group(rw, op, said(rw.module, names::GROUP));
            }
            _ => {}
        }
        self.sharding(rw.module, op)?;
        let mut attrs = annotations::with_frontend(rw.module, attrs, names::SHARDING, None);
        if let Some(text) = said(rw.module, names::RULE) {
            let rule = read(rw.module, &text)?;
            attrs = annotations::with_frontend(rw.module, attrs, names::RULE, None);
            attrs = rw.module.with_attr(attrs, RULE_ATTR, Some(rule));
        }
        // Infeeds and outfeeds have no other sharding.
        let feeds = matches!(
            rw.module.kind(op),
            Op::Effects(shard_ir::ops::Effects::Infeed(_) | shard_ir::ops::Effects::Outfeed(_))
        );
        if !feeds {
            attrs = rw.module.with_attr(attrs, annotations::TILES, None);
        }
        rw.module.op_mut(op).attrs = attrs;
        rw.keep(op);
        Ok(())
    }
}
