//! GSPMD's annotations become shardings over one mesh: a part of `import`.
//!
//! A program that was lowered without Shardy has tile assignments in `mhlo.sharding` attributes of
//! arguments, results and ops, and `@Sharding` custom calls that state those of values. The mesh
//! is the coarsest one on whose axes all of them are expressed, named `"_axis_0"`, `"_axis_1"`, ...
//! as XLA's import names them, or that of the command line.

use rustc_hash::FxHashSet;
use shard_ir::ops::{Custom, Op, ShardingConstraint};
use shard_ir::sharding::{
    DimSharding, HloSharding, HloShardingKind, Mesh, TensorSharding, common_mesh,
};
use shard_ir::{Attr, AttrsId, Diagnostic, FuncId, MeshId, Module, OpId, Place, ValueId, place_of};

use crate::annotations::{TILES, call_target};
use crate::rewrite::{Rewrite, Rewriter, rewrite};

/// What an annotation is of.
#[derive(Clone, Copy, Debug)]
enum Target {
    Argument(usize),
    Result(usize),
    /// A result of an op.
    Value(OpId, usize),
}

struct Annotation {
    target: Target,
    sharding: HloSharding,
}

/// Imports the annotations of the main function if it has no meshes; `stated` is the mesh of the
/// command line.
///
/// # Errors
/// If an annotation can't be read, places a value on one device, is for code of one device, or if
/// there is no mesh that all of them fit.
pub(super) fn run(module: &mut Module, stated: Option<&Mesh>) -> Result<(), Diagnostic> {
    let Some(func) = module.main_func() else { return Ok(()) };
    if module.meshes.values().any(|def| !def.mesh.is_maximal()) {
        return Ok(());
    }
    let annotations = collect(module, func)?;
    if annotations.is_empty() {
        return Ok(());
    }
    let shardings: Vec<&HloSharding> = annotations.iter().map(|one| &one.sharding).collect();
    let devices = devices(module, &shardings);
    if devices < 2 {
        return Ok(());
    }
    let id = module.meshes.next_key();
    let ranks: Vec<usize> = annotations.iter().map(|one| rank(module, func, one.target)).collect();
    let converted = |mesh: &Mesh| -> Result<Vec<TensorSharding>, usize> {
        let mut list = Vec::new();
        for (at, (sharding, &rank)) in shardings.iter().zip(&ranks).enumerate() {
            let (sharding, _) = sharding.on_mesh(mesh, id, rank).map_err(|_| at)?;
            list.push(sharding);
        }
        Ok(list)
    };

    let mut candidates: Vec<Mesh> = Vec::new();
    match stated {
        Some(stated) => candidates.push(stated.clone()),
        None => {
            candidates.extend(common_mesh(shardings.iter().copied(), devices));
            for (sharding, &rank) in shardings.iter().zip(&ranks) {
                if let Ok(own) = sharding.to_mesh(id, rank, devices)
                    && !candidates.contains(&own.mesh)
                    && own.mesh.device_count() == devices
                {
                    candidates.push(own.mesh);
                }
            }
        }
    }
    let mut misfit = 0;
    let fitting = candidates.into_iter().find_map(|mesh| match converted(&mesh) {
        Ok(list) => Some((mesh, list)),
        Err(at) => {
            misfit = misfit.max(at);
            None
        }
    });
    let Some((mesh, list)) = fitting else {
        let text = shardings[misfit].to_string();
        let error = match stated {
            Some(_) => Diagnostic::error(format!("the sharding {text} doesn't fit --mesh"))
                .help("leave --mesh out: the mesh is then made of the annotations"),
            None => Diagnostic::error(format!(
                "the sharding {text} and those before it don't fit one mesh of {devices} devices"
            ))
            .help("state one with --mesh, or lower with Shardy: jax_use_shardy_partitioner=True"),
        };
        return Err(at_target(module, func, annotations[misfit].target, error));
    };
    place(module, func, vec![mesh], &annotations, list, Rest::Goes)
}

/// Imports the annotations of the main function if it has no meshes, over as few meshes as they
/// need: one for all tilings in the natural order of devices, and for others one each that lists
/// the devices in their order. Nothing is lost or changed thereby.
///
/// # Errors
/// If an annotation can't be read or is for code of one device, or if values are to be sharded as
/// others are, which meshes can't say. The program is then as it was.
pub fn as_stated(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(func) = module.main_func() else { return Ok(()) };
    if module.meshes.values().any(|def| !def.mesh.is_maximal()) {
        return Ok(());
    }
    let annotations = collect(module, func)?;
    if let Some(one) = annotations.iter().find(|one| one.sharding.group.is_some()) {
        let error = Diagnostic::error(format!("the sharding {} names a group", one.sharding));
        return Err(at_target(module, func, one.target, error));
    }
    let shardings: Vec<&HloSharding> = annotations.iter().map(|one| &one.sharding).collect();
    let devices = devices(module, &shardings);
    if annotations.is_empty() || devices < 2 {
        return Ok(());
    }
    let natural = |sharding: &&HloSharding| common_mesh([*sharding], devices).is_some();
    let mut meshes: Vec<Mesh> = Vec::new();
    meshes.extend(common_mesh(shardings.iter().copied().filter(natural), devices));
    let first = module.meshes.next_key().as_u32();
    let id = |index: usize| MeshId::from_u32(first + index as u32);
    let mut list = Vec::new();
    for annotation in &annotations {
        let rank = rank(module, func, annotation.target);
        let placed = meshes.iter().enumerate().find_map(|(index, mesh)| {
            annotation.sharding.on_mesh(mesh, id(index), rank).ok().map(|(sharding, _)| sharding)
        });
        let placed = match placed {
            Some(placed) => placed,
            None => {
                let own = annotation.sharding.to_mesh(id(meshes.len()), rank, devices);
                let own = own.map_err(|error| {
                    let text = &annotation.sharding;
                    let error = Diagnostic::error(format!("the sharding {text}: {error}"));
                    at_target(module, func, annotation.target, error)
                })?;
                meshes.push(own.mesh);
                own.sharding
            }
        };
        list.push(placed);
    }
    place(module, func, meshes, &annotations, list, Rest::Stays)
}

/// Whether the main function has annotations of GSPMD's that speak of the whole program.
pub(super) fn is_annotated(module: &Module) -> bool {
    let Some(func) = module.main_func() else { return false };
    let speaks = |attrs: AttrsId| match module.attr(attrs, TILES) {
        Some(Attr::String(text)) => module.str(*text).trim() != "{manual}",
        _ => false,
    };
    let mut found = module.funcs[func].arg_attrs.iter().any(|&attrs| speaks(attrs))
        || module.funcs[func].results.iter().any(|result| speaks(result.attrs));
    module.walk(module.funcs[func].body, |op| found |= speaks(module.op(op).attrs));
    found
}

/// Gives values their shardings and takes the annotations away.
fn place(
    module: &mut Module,
    func: FuncId,
    meshes: Vec<Mesh>,
    annotations: &[Annotation],
    list: Vec<TensorSharding>,
    rest: Rest,
) -> Result<(), Diagnostic> {
    for (index, mesh) in meshes.into_iter().enumerate() {
        let name = match index {
            0 => module.symbol("mesh"),
            _ => module.symbol(&format!("mesh_{}", index - 1)),
        };
        crate::meshes::declare(module, name, mesh, index);
    }
    for (annotation, mut sharding) in annotations.iter().zip(list) {
        match annotation.target {
            Target::Argument(index) => {
                let sharding = module.sharding_id(sharding);
                let value = module.args(func)[index];
                module.shardings[value] = sharding.into();
            }
            Target::Result(index) => {
                let sharding = module.sharding_id(sharding);
                module.funcs[func].results[index].sharding = sharding.into();
            }
            Target::Value(op, index) => {
                for dim in unspecified_dims(module, op) {
                    if let Some(dim) = sharding.dims.get_mut(dim) {
                        *dim = DimSharding { open: true, ..dim.clone() };
                    }
                }
                let sharding = module.sharding_id(sharding);
                let value = module.result(op, index);
                module.shardings[value] = sharding.into();
            }
        }
    }
    for index in 0..module.funcs[func].arg_attrs.len() {
        let attrs = module.funcs[func].arg_attrs[index];
        module.funcs[func].arg_attrs[index] = module.with_attr(attrs, TILES, None);
    }
    for index in 0..module.funcs[func].results.len() {
        let attrs = module.funcs[func].results[index].attrs;
        module.funcs[func].results[index].attrs = module.with_attr(attrs, TILES, None);
    }
    let taken = annotations.iter().filter_map(|annotation| match annotation.target {
        Target::Value(op, _) => Some(op),
        Target::Argument(_) | Target::Result(_) => None,
    });
    let mut pass = Constrain { taken: taken.collect(), rest };
    let body = module.funcs[func].body;
    rewrite(module, body, &mut pass)
}

/// What becomes of annotations that aren't taken over: those of devices for effects, say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Goes,
    Stays,
}

/// `@Sharding` custom calls become constraints, and annotations that were taken over go.
struct Constrain {
    taken: FxHashSet<OpId>,
    rest: Rest,
}

impl Rewrite for Constrain {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let taken = self.taken.contains(&op);
        if taken || self.rest == Rest::Goes {
            let attrs = rw.module.op(op).attrs;
            rw.module.op_mut(op).attrs = rw.module.with_attr(attrs, TILES, None);
        }
        if !is_call(rw.module, op, "Sharding") || !taken && self.rest == Rest::Stays {
            rw.keep(op);
            return Ok(());
        }
        let (operand, result) = (rw.module.operand(op, 0), rw.module.result(op, 0));
        match rw.module.shardings[result].expand() {
            Some(sharding) => {
                let ty = rw.module.value_type(result);
                let value = rw.emit(ShardingConstraint { sharding }, &[operand], ty);
                rw.replace(result, value);
            }
            None => rw.replace(result, operand),
        }
        Ok(())
    }
}

fn collect(module: &Module, func: FuncId) -> Result<Vec<Annotation>, Diagnostic> {
    let mut found = Vec::new();
    let mut add = |target, attrs: AttrsId| -> Result<(), Diagnostic> {
        let Some(Attr::String(text)) = module.attr(attrs, TILES) else { return Ok(()) };
        let text = module.str(*text);
        let sharding: HloSharding = text.parse().map_err(|error| {
            let error = Diagnostic::error(format!("mhlo.sharding = \"{text}\": {error}"));
            at_target(module, func, target, error)
        })?;
        let parts: Vec<(Target, HloSharding)> = match (target, sharding.kind.clone()) {
            (Target::Value(op, _), HloShardingKind::Tuple(parts)) => {
                let results = module.results(op).len();
                let parts = parts.into_iter().take(results).enumerate();
                parts.map(|(at, part)| (Target::Value(op, at), part)).collect()
            }
            (Target::Value(op, _), _) => {
                // Side effects are where they are; all results are alike.
                (0..module.results(op).len())
                    .map(|at| (Target::Value(op, at), sharding.clone()))
                    .collect()
            }
            _ => vec![(target, sharding)],
        };
        for (target, sharding) in parts {
            if let Some(error) = refuse(module, target, &sharding.kind) {
                return Err(at_target(module, func, target, error));
            }
            let says = match sharding.kind {
                HloShardingKind::Unknown => sharding.group.is_some(),
                HloShardingKind::Maximal(_) => false,
                _ => true,
            };
            if says && is_tensor(module, func, target) {
                found.push(Annotation { target, sharding });
            }
        }
        Ok(())
    };
    for (index, &attrs) in module.funcs[func].arg_attrs.iter().enumerate() {
        add(Target::Argument(index), attrs)?;
    }
    for (index, result) in module.funcs[func].results.iter().enumerate() {
        add(Target::Result(index), result.attrs)?;
    }
    let mut ops = Vec::new();
    module.walk(module.funcs[func].body, |op| ops.push(op));
    for op in ops {
        add(Target::Value(op, 0), module.op(op).attrs)?;
    }
    Ok(found)
}

/// What can't be imported.
fn refuse(module: &Module, target: Target, kind: &HloShardingKind) -> Option<Diagnostic> {
    match (kind, target) {
        (HloShardingKind::Manual, Target::Value(op, _))
            if ["SPMDFullToShardShape", "SPMDShardToFullShape", "Sharding"]
                .iter()
                .any(|name| is_call(module, op, name)) =>
        {
            Some(
                Diagnostic::error("is the border of a shard_map in GSPMD's form, which isn't read")
                    .help("lower the program with Shardy: jax_use_shardy_partitioner=True"),
            )
        }
        (HloShardingKind::Manual, _) => Some(
            Diagnostic::error("is marked {manual}: the program is partitioned already")
                .help("give the program as it was before; 'report' and 'time' take this one"),
        ),
        (HloShardingKind::Maximal(device), Target::Argument(_) | Target::Result(_)) => {
            Some(on_one(*device))
        }
        (HloShardingKind::Maximal(device), Target::Value(op, _))
            if is_call(module, op, "Sharding") =>
        {
            Some(on_one(*device))
        }
        _ => None,
    }
}

fn on_one(device: u64) -> Diagnostic {
    Diagnostic::error(format!("is placed on device {device} alone, which isn't supported"))
        .help("leave the annotation out, or make it {replicated}")
}

fn at_target(module: &Module, func: FuncId, target: Target, mut error: Diagnostic) -> Diagnostic {
    let (what, loc) = match target {
        Target::Value(op, _) => return error.at_op(module, op),
        Target::Argument(index) => {
            let value: ValueId = module.args(func)[index];
            let names = crate::import::argument_names(module, func, index);
            let name = names.into_iter().next().unwrap_or_else(|| index.to_string());
            (format!("argument {name}"), module.param_locs[value].expand())
        }
        Target::Result(index) => (format!("result {index}"), None),
    };
    error.message = format!("{what}: {}", error.message);
    let own = loc.filter(|&loc| matches!(place_of(module, loc), Place::Source { .. }));
    error.at_loc(module, own.unwrap_or(module.funcs[func].loc))
}

fn is_call(module: &Module, op: OpId, name: &str) -> bool {
    call_target(module, op) == Some(name)
}

fn is_tensor(module: &Module, func: FuncId, target: Target) -> bool {
    match target {
        Target::Argument(index) => module.tensor_type(module.args(func)[index]).is_some(),
        Target::Result(index) => {
            module.ty(module.funcs[func].results[index].ty).as_tensor().is_some()
        }
        Target::Value(op, index) => module.tensor_type(module.result(op, index)).is_some(),
    }
}

fn rank(module: &Module, func: FuncId, target: Target) -> usize {
    let ty = match target {
        Target::Argument(index) => module.value_type(module.args(func)[index]),
        Target::Result(index) => module.funcs[func].results[index].ty,
        Target::Value(op, index) => module.value_type(module.result(op, index)),
    };
    module.ty(ty).as_tensor().map_or(0, |ty| ty.rank())
}

/// The devices that the module names, or the first tile assignment.
fn devices(module: &Module, shardings: &[&HloSharding]) -> u64 {
    let stated = match module.attr(module.attrs, "mhlo.num_partitions") {
        Some(&Attr::Int(count, _)) => u64::try_from(count).ok().filter(|&count| count > 1),
        _ => None,
    };
    let tiled = || {
        shardings.iter().find_map(|sharding| match &sharding.kind {
            HloShardingKind::Tiled(tiled) => Some(tiled.tiles.count()),
            HloShardingKind::Named(named) => Some(named.mesh.device_count()),
            _ => None,
        })
    };
    stated.or_else(tiled).unwrap_or(1)
}

/// The dimensions that a `@Sharding` call leaves open: `unspecified_dims=[0,2]`.
pub(crate) fn unspecified_dims(module: &Module, op: OpId) -> Vec<usize> {
    let Op::Custom(Custom::CustomCall(call)) = module.kind(op) else { return Vec::new() };
    let Some(Attr::String(text)) = &call.backend_config else { return Vec::new() };
    let text = module.str(*text);
    let list = text.split_once("unspecified_dims=[").and_then(|(_, rest)| rest.split_once(']'));
    let Some((list, _)) = list else { return Vec::new() };
    list.split(',').filter_map(|dim| dim.trim().parse().ok()).collect()
}
