//! Groups of devices: `{{0,1},{2,3}}`, `[2,4]<=[8]T(1,0)`, `mesh['x'=2,'y'=4] {'y'}`.

use std::fmt::Write as _;
use std::str::FromStr as _;

use shard_ir::sharding::{DimSharding, HloSharding, HloShardingKind, NamedSharding};
use shard_ir::{Groups, Module};
use smallvec::SmallVec;

use crate::hlo::attrs::{inside, ints, lists};

/// Reads groups; `None` if the text has another form.
pub(super) fn read(text: &str, module: &mut Module) -> Option<Groups> {
    if text.starts_with('{') {
        let groups = lists(text)?;
        return Some(Groups::list(groups.iter().map(|group| group.as_slice())));
    }
    if text.starts_with("mesh") || text.starts_with("maximal_mesh") {
        // Written as a sharding of one dimension, a mesh and axes of it have a reader already.
        let (mesh, axes) = text.rsplit_once('{')?;
        let sharding = format!("{{{}, [{{{axes}]}}", mesh.trim_end());
        let HloShardingKind::Named(named) = HloSharding::from_str(&sharding).ok()?.kind else {
            return None;
        };
        let axes = named.dims?.first()?.axes.clone();
        let mesh = module.inline_mesh(named.mesh);
        return Some(Groups::Axes { mesh, axes });
    }
    let (sizes, iota) = text.split_once("<=")?;
    let braced = |text: &str, open, close| {
        let inner = inside(text, open, close)?;
        ints(&format!("{{{inner}}}"))
    };
    let sizes = braced(sizes, '[', ']')?;
    let &[num_groups, group_size] = &sizes[..] else { return None };
    let (dims, perm) = match iota.split_once('T') {
        Some((dims, perm)) => (braced(dims, '[', ']')?, braced(perm, '(', ')')?),
        None => {
            let dims = braced(iota, '[', ']')?;
            let perm = (0..dims.len() as i64).collect();
            (dims, perm)
        }
    };
    let unsigned = |n: &i64| u64::try_from(*n).ok();
    let dims: SmallVec<[u64; 4]> = dims.iter().map(unsigned).collect::<Option<_>>()?;
    let count = dims.iter().try_fold(1u64, |n, dim| n.checked_mul(*dim))?;
    let (num_groups, group_size) = (unsigned(&num_groups)?, unsigned(&group_size)?);
    let perm: SmallVec<[u32; 4]> =
        perm.iter().map(|dim| u32::try_from(*dim).ok()).collect::<Option<_>>()?;
    let each_once = (0..dims.len() as u32).all(|dim| perm.contains(&dim));
    let fits =
        perm.len() == dims.len() && each_once && num_groups.checked_mul(group_size)? == count;
    fits.then_some(Groups::Iota { dims, perm, num_groups, group_size })
}

/// Appends groups.
pub(super) fn write(groups: &Groups, module: &Module, out: &mut String) {
    match groups {
        Groups::Axes { mesh, axes } => {
            let dims = [DimSharding { axes: axes.clone(), ..DimSharding::default() }];
            let mesh = module.meshes[*mesh].mesh.clone();
            let named = NamedSharding {
                mesh,
                dims: Some(SmallVec::from_iter(dims)),
                ..NamedSharding::default()
            };
            let text = named.to_string();
            let (mesh, axes) = text.rsplit_once(", [").unwrap_or((&text, "{}"));
            let _ = write!(out, "{mesh} {}", axes.strip_suffix(']').unwrap_or(axes));
        }
        Groups::Iota { dims, perm, num_groups, group_size } => {
            let _ = write!(out, "[{num_groups},{group_size}]<=[");
            commas(dims, out);
            out.push(']');
            if perm.iter().enumerate().any(|(at, dim)| at as u32 != *dim) {
                out.push_str("T(");
                commas(perm, out);
                out.push(')');
            }
        }
        Groups::List { ids, group_size, .. } => {
            out.push('{');
            for (at, group) in ids.chunks((*group_size).max(1) as usize).enumerate() {
                out.push_str(if at > 0 { ",{" } else { "{" });
                let members: Vec<i64> = group.iter().copied().filter(|id| *id >= 0).collect();
                commas(&members, out);
                out.push('}');
            }
            out.push('}');
        }
    }
}

/// Appends numbers with commas between them.
pub(super) fn commas(numbers: &[impl std::fmt::Display], out: &mut String) {
    for (at, number) in numbers.iter().enumerate() {
        let _ = write!(out, "{}{number}", if at > 0 { "," } else { "" });
    }
}
