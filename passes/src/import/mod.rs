//! `import`: annotations become one mesh and shardings on values.
//!
//! Meshes that are equal become one; a program that has none but GSPMD's tile assignments gets the
//! mesh that they fit. The command line's mesh, arguments and results are put in
//! place of what the program has.

mod gspmd;

pub use gspmd::as_stated as import_tiles;
pub(crate) use gspmd::unspecified_dims;

use shard_ir::ops::{Op, Sdy};
use shard_ir::sharding::{Mesh, TensorSharding, parse_sharding};
use shard_ir::{Diagnostic, FuncId, Item, MeshId, Module, ShardingId, ValueId};

use crate::shardings::{map_shardings, walk_module};

/// What the command line says about a program.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The mesh, in place of the one the program names.
    pub mesh: Option<Mesh>,
    /// Shardings of arguments: name or index, and the sharding's text.
    pub arguments: Vec<(String, String)>,
    /// Shardings of results: index (or name), and the sharding's text.
    pub results: Vec<(String, String)>,
}

/// Runs the pass.
///
/// # Errors
/// If the mesh can't be put in place of the program's, if meshes don't fit together, or an
/// argument or result isn't there.
pub fn run(module: &mut Module, options: &ImportOptions) -> Result<(), Diagnostic> {
    gspmd::run(module, options.mesh.as_ref())?;
    if let Some(mesh) = &options.mesh {
        replace_mesh(module, mesh)?;
    }
    spread_maximal(module);
    unify_meshes(module)?;
    let Some(func) = module.main_func() else { return Ok(()) };
    for (name, text) in &options.arguments {
        for index in find_arguments(module, func, name)? {
            let value = module.args(func)[index];
            let rank = module.tensor_type(value).map_or(0, |ty| ty.rank());
            let sharding = parse(module, text, rank)?;
            module.shardings[value] = sharding.into();
        }
    }
    for (name, text) in &options.results {
        let index = find_result(module, func, name)?;
        let ty = module.funcs[func].results[index].ty;
        let rank = module.ty(ty).as_tensor().map_or(0, |ty| ty.rank());
        let sharding = parse(module, text, rank)?;
        module.funcs[func].results[index].sharding = sharding.into();
    }
    Ok(())
}

fn replace_mesh(module: &mut Module, wanted: &Mesh) -> Result<(), Diagnostic> {
    wanted.verify().map_err(|error| Diagnostic::error(format!("--mesh: {error}")))?;
    let names = |mesh: &Mesh| -> Vec<String> {
        mesh.axes.iter().map(|axis| axis.name.to_string()).collect()
    };
    let meshes: Vec<MeshId> = module.meshes.keys().collect();
    let mut placed = false;
    for id in meshes {
        let old = module.meshes[id].mesh.clone();
        if old.is_maximal() {
            continue;
        }
        if names(&old) != names(wanted) {
            return Err(Diagnostic::error(format!(
                "--mesh has the axes {:?}, the program's mesh {:?}",
                names(wanted),
                names(&old)
            ))
            .at_loc(module, module.meshes[id].loc)
            .help("give each axis of the program's mesh a size, in its order"));
        }
        placed = true;
        if old.same_axes(wanted) {
            continue;
        }
        let mut manual = None;
        walk_module(module, |op| {
            if matches!(module.kind(op), Op::Sdy(Sdy::ManualComputation(_))) {
                manual.get_or_insert(op);
            }
        });
        if let Some(op) = manual {
            return Err(Diagnostic::error(
                "is written for the sizes of the program's mesh, which --mesh changes",
            )
            .at_op(module, op)
            .help("trace the program anew with the mesh that you want"));
        }
        module.meshes[id].mesh = wanted.clone();
    }
    if !placed {
        let name = module.symbol("mesh");
        crate::meshes::declare(module, name, wanted.clone(), 0);
        return Ok(());
    }
    // Whole axes are written with their size, so shardings have to learn the new ones.
    let meshes = module.meshes.clone();
    map_shardings(module, |_, sharding| {
        let mesh = &meshes[sharding.mesh].mesh;
        let mut sharding = sharding.clone();
        let lists = sharding.dims.iter_mut().map(|dim| &mut dim.axes);
        for list in lists.chain([&mut sharding.replicated, &mut sharding.unreduced]) {
            for axis in list.iter_mut() {
                if axis.pre == 1
                    && let Some(whole) = mesh.whole_axis(axis.axis)
                {
                    *axis = whole;
                }
            }
        }
        sharding
    });
    Ok(())
}

/// A value that one device was to hold is computed wherever it is used: on a mesh, that device would
/// have to send it to all others.
fn spread_maximal(module: &mut Module) {
    let Some(main) = crate::meshes::main_mesh(module) else { return };
    let maximal =
        |module: &Module, id: ShardingId| module.meshes[module.sharding(id).mesh].mesh.is_maximal();
    for index in 0..module.value_count() {
        let value = ValueId::from_u32(index as u32);
        if module.shardings[value].expand().is_some_and(|id| maximal(module, id)) {
            module.shardings[value] = None.into();
        }
    }
    for func in module.func_ids().collect::<Vec<_>>() {
        for index in 0..module.funcs[func].results.len() {
            let stated = module.funcs[func].results[index].sharding.expand();
            if stated.is_some_and(|id| maximal(module, id)) {
                module.funcs[func].results[index].sharding = None.into();
            }
        }
    }
    let mut found = Vec::new();
    walk_module(module, |op| match module.kind(op) {
        Op::Sdy(Sdy::ShardingConstraint(constraint)) if maximal(module, constraint.sharding) => {
            found.push(op);
        }
        Op::Sdy(Sdy::Reshard(reshard)) if maximal(module, reshard.sharding) => found.push(op),
        _ => {}
    });
    for op in found {
        let rank = module.tensor_type(module.operand(op, 0)).map_or(0, |ty| ty.rank());
        let whole = module.sharding_id(TensorSharding::fully_replicated(main, rank));
        match &mut module.op_mut(op).op {
            Op::Sdy(Sdy::ShardingConstraint(constraint)) => constraint.sharding = whole,
            Op::Sdy(Sdy::Reshard(reshard)) => reshard.sharding = whole,
            _ => {}
        }
    }
}

/// Makes all shardings refer to one of several equal meshes.
fn unify_meshes(module: &mut Module) -> Result<(), Diagnostic> {
    let Some(main) = crate::meshes::main_mesh(module) else { return Ok(()) };
    let mesh = module.meshes[main].mesh.clone();
    let mut same: Vec<MeshId> = Vec::new();
    for (id, def) in &module.meshes {
        if def.mesh == mesh {
            same.push(id);
        } else if !def.mesh.is_maximal() && def.mesh.device_count() > 1 {
            return Err(Diagnostic::error(format!(
                "the program has two meshes that differ: {:?} and {:?}",
                axes_text(&mesh),
                axes_text(&def.mesh)
            ))
            .at_loc(module, def.loc)
            .help("use one mesh for the whole program"));
        }
    }
    if same.len() > 1 {
        map_shardings(module, |_, sharding| {
            let mut sharding = sharding.clone();
            if same.contains(&sharding.mesh) {
                sharding.mesh = main;
            }
            sharding
        });
        module.items.retain(|item| match item {
            Item::Mesh(id) => *id == main || !same.contains(id),
            Item::Func(_) | Item::Op(_) => true,
        });
    }
    Ok(())
}

fn axes_text(mesh: &Mesh) -> String {
    let axes: Vec<String> =
        mesh.axes.iter().map(|axis| format!("{}={}", axis.name, axis.size)).collect();
    axes.join(",")
}

/// Whether the module has GSPMD's annotations of a whole program, which the pass imports.
pub fn has_gspmd_annotations(module: &Module) -> bool {
    gspmd::is_annotated(module)
}

/// A sharding as JAX spells it, `P('data', None)`, in sdy's spelling: `[{"data"}, {}]`. Dimensions
/// that it leaves out aren't split. `None` for a text that isn't one.
fn of_partition_spec(text: &str, rank: usize) -> Option<String> {
    let text = text.trim();
    let inner = text.strip_prefix("PartitionSpec(").or_else(|| text.strip_prefix("P("))?;
    let mut rest = inner.strip_suffix(')')?.trim();
    let mut dims: Vec<String> = Vec::new();
    let name = |text: &str| -> Option<String> {
        let text = text.trim();
        let bare = ['\'', '"']
            .into_iter()
            .find_map(|quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote)))?;
        (!bare.contains(['\'', '"'])).then(|| format!("\"{bare}\""))
    };
    while !rest.is_empty() {
        let (entry, after) = match rest.strip_prefix('(') {
            Some(tuple) => {
                let (entry, after) = tuple.split_once(')')?;
                let names = entry.split(',').filter(|name| !name.trim().is_empty());
                let names: Vec<String> = names.map(name).collect::<Option<_>>()?;
                (names.join(", "), after)
            }
            None => {
                let (entry, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                let entry = match entry.trim() {
                    "None" => String::new(),
                    entry => name(entry)?,
                };
                (entry, after)
            }
        };
        dims.push(format!("{{{entry}}}"));
        rest = after.trim();
        if !rest.is_empty() {
            rest = rest.strip_prefix(',')?.trim();
        }
    }
    dims.resize(rank.max(dims.len()), "{}".to_owned());
    Some(format!("[{}]", dims.join(", ")))
}

fn parse(module: &mut Module, text: &str, rank: usize) -> Result<ShardingId, Diagnostic> {
    let spelled = of_partition_spec(text, rank);
    let text = spelled.as_deref().unwrap_or(text);
    let Some(mesh) = crate::meshes::main_mesh(module) else {
        return Err(Diagnostic::error("the program has no mesh")
            .help("state one, such as --mesh='data=4,model=2'"));
    };
    let def = &module.meshes[mesh].mesh;
    let parsed = parse_sharding(text, def, mesh)
        .map_err(|error| Diagnostic::error(format!("sharding '{text}': {error}")))?;
    let sharding: TensorSharding = parsed.sharding;
    if let Err(error) = sharding.verify(def, rank) {
        return Err(Diagnostic::error(format!("sharding '{text}': {error}")));
    }
    Ok(module.sharding_id(sharding))
}

/// The name of an argument: its SSA name, or what its location calls it.
pub fn argument_names(module: &Module, func: FuncId, index: usize) -> Vec<String> {
    let value = module.args(func)[index];
    let mut names = Vec::new();
    if let Some(loc) = module.param_locs[value].expand()
        && let shard_ir::Loc::Name { name, .. } = module.loc(loc)
    {
        names.push(module.str(name).to_owned());
    }
    if let Some(name) = module.value_names[value].expand() {
        names.push(module.str(name).to_owned());
    }
    names
}

/// A name with `*` for the numbers in brackets: `layers[*].w` of `layers[3].w`. Reports show
/// arguments that are alike so.
pub fn name_pattern(name: &str) -> String {
    let mut parts = name.split('[');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push('[');
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 && part[digits..].starts_with(']') {
            text.push('*');
            text.push_str(&part[digits..]);
        } else {
            text.push_str(part);
        }
    }
    text
}

/// The argument of a number or name, or all those of a name with `[*]` in it.
fn find_arguments(module: &Module, func: FuncId, name: &str) -> Result<Vec<usize>, Diagnostic> {
    let count = module.args(func).len();
    if let Ok(index) = name.parse::<usize>() {
        if index < count {
            return Ok(vec![index]);
        }
        return Err(Diagnostic::error(format!(
            "--arg={index}: the program has {count} arguments, numbered from 0"
        )));
    }
    let wanted = name.strip_prefix('%').unwrap_or(name);
    let named = |index: usize| argument_names(module, func, index);
    let exact = (0..count).find(|&index| named(index).iter().any(|own| own == wanted));
    let found: Vec<usize> = match exact {
        Some(index) => vec![index],
        None if wanted.contains("[*]") => (0..count)
            .filter(|&index| named(index).iter().any(|own| name_pattern(own) == wanted))
            .collect(),
        None => Vec::new(),
    };
    if !found.is_empty() {
        return Ok(found);
    }
    let known: Vec<String> =
        (0..count.min(12)).filter_map(|index| named(index).into_iter().next()).collect();
    let more = if count > 12 { ", ..." } else { "" };
    Err(Diagnostic::error(format!("--arg={name}: the program has no argument of that name"))
        .note(format!("its arguments are {}{more}", known.join(", "))))
}

fn find_result(module: &Module, func: FuncId, name: &str) -> Result<usize, Diagnostic> {
    let results = &module.funcs[func].results;
    let by_name = || {
        results.iter().position(|result| {
            matches!(
                module.attr(result.attrs, "jax.result_info"),
                Some(shard_ir::Attr::String(own)) if module.str(*own) == name
            )
        })
    };
    name.parse::<usize>().ok().filter(|&index| index < results.len()).or_else(by_name).ok_or_else(
        || {
            Diagnostic::error(format!(
                "--result={name}: the program has {} results, numbered from 0",
                results.len()
            ))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_specs_are_shardings() {
        for (spec, rank, sharding) in [
            ("P('data', None)", 2, "[{\"data\"}, {}]"),
            ("P(\"model\")", 3, "[{\"model\"}, {}, {}]"),
            ("PartitionSpec(('a', 'b'), None, 'c',)", 3, "[{\"a\", \"b\"}, {}, {\"c\"}]"),
            ("P(None,('a',))", 2, "[{}, {\"a\"}]"),
            ("P()", 2, "[{}, {}]"),
            ("P()", 0, "[]"),
        ] {
            assert_eq!(of_partition_spec(spec, rank).as_deref(), Some(sharding), "{spec}");
        }
        for text in ["[{\"x\"}]", "P(data)", "P('a' 'b')", "P('a'", "P(('a')"] {
            assert_eq!(of_partition_spec(text, 2), None, "{text}");
        }
    }

    #[test]
    fn numbers_in_brackets_are_left_open() {
        assert_eq!(name_pattern("ps[3]['a'][12].w[x]"), "ps[*]['a'][*].w[x]");
    }
}
