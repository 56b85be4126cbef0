//! Reading shardings as HLO writes them.

use std::str::FromStr;
use std::sync::Arc;

use smallvec::SmallVec;

use super::cursor::{Cursor, Parsed, ShardingTextError};
use super::groups::{MAX_LISTED_DEVICES, iota_digits};
use super::hlo::{
    HloSharding, HloShardingKind, NamedSharding, ShardGroup, SubgroupKind, TileAssignment,
    TileDevices, TiledSharding,
};
use super::mesh::Mesh;
use super::parse::{Reader, mesh_axes};
use super::{digits, tensor::Combiner};

/// Reads `{replicated}`, `{devices=[2,4]<=[8]}`, `{mesh['x'=2], [{'x'}]}`, `{{...}, {...}}` and
/// the other forms.
///
/// # Errors
/// What was expected, with its byte offset.
impl FromStr for HloSharding {
    type Err = ShardingTextError;

    fn from_str(text: &str) -> Result<HloSharding, ShardingTextError> {
        let mut cursor = Cursor::new(text);
        let sharding = sharding(&mut cursor)?;
        cursor.end("sharding")?;
        Ok(sharding)
    }
}

fn sharding(cursor: &mut Cursor<'_>) -> Parsed<HloSharding> {
    cursor.expect("{", "at the beginning of a sharding")?;
    if !matches!(cursor.peek(), Some('{' | '}')) {
        return single(cursor);
    }
    let mut elements = Vec::new();
    if !cursor.eat("}") {
        loop {
            cursor.expect("{", "before the sharding of a tuple's element")?;
            elements.push(single(cursor)?);
            if cursor.eat("}") {
                break;
            }
            cursor.expect(",", "or `}` after the sharding of a tuple's element")?;
        }
    }
    Ok(HloShardingKind::Tuple(elements).into())
}

/// What a non-tuple sharding has so far.
#[derive(Default)]
struct Single {
    kind: Option<HloShardingKind>,
    maximal: bool,
    device: Option<u64>,
    tiles: Option<TileAssignment>,
    subgroups: SmallVec<[SubgroupKind; 2]>,
    group: Option<ShardGroup>,
    metadata: Option<Arc<str>>,
}

/// What follows the opening brace, up to and including the closing one.
fn single(cursor: &mut Cursor<'_>) -> Parsed<HloSharding> {
    let begin = cursor.offset();
    let mut found = Single::default();
    while !cursor.eat("}") {
        let at = cursor.offset();
        match cursor.word() {
            Some("replicated") => found.kind = Some(HloShardingKind::Replicated),
            Some("manual") => found.kind = Some(HloShardingKind::Manual),
            Some("unreduced") => found.kind = Some(HloShardingKind::Unreduced),
            Some("unknown") => found.kind = Some(HloShardingKind::Unknown),
            Some("maximal") => found.maximal = true,
            Some("device") => {
                cursor.expect("=", "after `device`")?;
                found.device = Some(cursor.number("a device id")?);
            }
            Some("devices") => {
                cursor.expect("=", "after `devices`")?;
                found.tiles = Some(tile_assignment(cursor)?);
            }
            Some("last_tile_dim_replicate") => {
                found.subgroups = SmallVec::from_slice(&[SubgroupKind::Replicated]);
            }
            Some("last_tile_dims") => {
                cursor.expect("=", "after `last_tile_dims`")?;
                found.subgroups = subgroups(cursor)?;
            }
            Some("shard_as") => {
                found.group = Some(ShardGroup::As(cursor.number("a shard group")?));
            }
            Some("shard_like") => {
                found.group = Some(ShardGroup::Like(cursor.number("a shard group")?));
            }
            Some("metadata") => {
                cursor.expect("=", "after `metadata`")?;
                found.metadata = Some(cursor.balanced()?.into());
            }
            Some(word @ ("mesh" | "maximal_mesh")) => {
                let (named, metadata) = named(cursor, word == "maximal_mesh")?;
                found.kind = Some(HloShardingKind::Named(Box::new(named)));
                found.metadata = metadata.or(found.metadata);
            }
            word => {
                let word = match word {
                    Some(word) => format!("`{word}`"),
                    None => cursor.found(),
                };
                return cursor.error_at(
                    at,
                    format!(
                        "expected `replicated`, `manual`, `unreduced`, `unknown`, \
                         `maximal device=`, `devices=[...]` or `mesh[...]`, found {word}"
                    ),
                );
            }
        }
    }
    let kind = match (found.kind, found.tiles) {
        (Some(kind), None) if !found.maximal => kind,
        (None, None) => match found.device {
            Some(device) => HloShardingKind::Maximal(device),
            None => return cursor.error_at(begin, "the sharding says nothing of any device"),
        },
        (None, Some(tiles)) if !found.maximal => {
            if found.subgroups.len() > tiles.dims.len() {
                let message = "more kinds in `last_tile_dims` than dimensions in `devices`";
                return cursor.error_at(begin, message);
            }
            HloShardingKind::Tiled(TiledSharding { tiles, subgroups: found.subgroups })
        }
        _ => return cursor.error_at(begin, "the sharding says two different things"),
    };
    Ok(HloSharding { kind, group: found.group, metadata: found.metadata })
}

fn subgroups(cursor: &mut Cursor<'_>) -> Parsed<SmallVec<[SubgroupKind; 2]>> {
    cursor.expect("{", "before the kinds of the last tile dimensions")?;
    let mut kinds = SmallVec::new();
    while !cursor.eat("}") {
        if !kinds.is_empty() {
            cursor.expect(",", "or `}` in `last_tile_dims`")?;
        }
        let at = cursor.offset();
        kinds.push(match cursor.word() {
            Some("manual") => SubgroupKind::Manual,
            Some("unreduced") => SubgroupKind::Unreduced,
            Some("replicated") => SubgroupKind::Replicated,
            _ => return cursor.error_at(at, "expected `manual`, `unreduced` or `replicated`"),
        });
    }
    Ok(kinds)
}

/// `[2,4]<=[8]`, `[2,4]<=[4,2]T(1,0)` or `[2,2]0,2,1,3`
fn tile_assignment(cursor: &mut Cursor<'_>) -> Parsed<TileAssignment> {
    let begin = cursor.offset();
    cursor.expect("[", "before the dimensions of the tile assignment")?;
    let dims: SmallVec<[u64; 6]> = cursor.numbers("a tile dimension", "]")?.into();
    let devices = if cursor.eat("<=") {
        iota(cursor)?
    } else {
        let mut ids = vec![cursor.number("a device id")?];
        while cursor.eat(",") {
            ids.push(cursor.number("a device id")?);
        }
        TileDevices::List(ids.into())
    };
    let tiles = TileAssignment { dims, devices };
    let listed = match &tiles.devices {
        TileDevices::Iota { reshape, .. } => {
            reshape.iter().fold(1u64, |count, &dim| count.saturating_mul(dim))
        }
        TileDevices::List(ids) => ids.len() as u64,
    };
    if listed != tiles.count() || listed == 0 || listed == u64::MAX {
        let message = format!(
            "the tile assignment has {} tiles, but {listed} devices are given for it",
            tiles.count()
        );
        return cursor.error_at(begin, message);
    }
    Ok(tiles)
}

/// `[8]` or `[4,2]T(1,0)`
fn iota(cursor: &mut Cursor<'_>) -> Parsed<TileDevices> {
    let begin = cursor.offset();
    cursor.expect("[", "before the dimensions of the iota")?;
    let reshape: SmallVec<[u64; 4]> = cursor.numbers("a dimension", "]")?.into();
    let perm: SmallVec<[u32; 4]> = if cursor.eat("T") {
        cursor.expect("(", "before the transposition")?;
        let perm = cursor.numbers("a dimension", ")")?;
        perm.iter().map(|&dim| u32::try_from(dim).unwrap_or(u32::MAX)).collect()
    } else {
        (0..reshape.len() as u32).collect()
    };
    if iota_digits(&reshape, &perm).is_none() {
        let message = "the iota needs dimensions of at least 1, and after `T` each of its \
                       dimension numbers once";
        return cursor.error_at(begin, message);
    }
    Ok(TileDevices::Iota { reshape, perm })
}

/// What follows `mesh` or `maximal_mesh`, up to the closing brace (not included).
fn named(cursor: &mut Cursor<'_>, maximal: bool) -> Parsed<(NamedSharding, Option<Arc<str>>)> {
    let begin = cursor.offset();
    cursor.expect("[", "before the axes of the mesh")?;
    let mut named = NamedSharding::default();
    if maximal {
        if !cursor.keyword("device_id") {
            return cursor.error("expected `device_id=N` in `maximal_mesh`");
        }
        cursor.expect("=", "after `device_id`")?;
        named.mesh = Mesh::maximal(cursor.number("a device id")?);
        cursor.expect("]", "after the device id")?;
    } else {
        named.mesh.axes = mesh_axes(cursor, '\'', Some("]"))?;
    }
    let mut metadata = None;
    let mesh_end = cursor.offset();
    while cursor.eat(",") {
        let at = cursor.offset();
        if cursor.peek() == Some('[') {
            let dims = Reader { cursor, mesh: &named.mesh, quote: '\'' }.dims()?;
            named.dims = Some(dims);
            continue;
        }
        match cursor.word() {
            Some("device_ids") => {
                cursor.expect("=", "after `device_ids`")?;
                let ids = mesh_devices(cursor)?;
                named.mesh = named.mesh.with_device_ids(&ids);
            }
            Some("metadata") => {
                cursor.expect("=", "after `metadata`")?;
                metadata = Some(Arc::from(cursor.balanced()?));
            }
            Some(word @ ("replicated" | "unreduced" | "manual")) => {
                let kind = match word {
                    "replicated" => SubgroupKind::Replicated,
                    "unreduced" => SubgroupKind::Unreduced,
                    _ => SubgroupKind::Manual,
                };
                if !cursor.eat("=") {
                    named.whole = Some(kind);
                    continue;
                }
                let mut reader = Reader { cursor, mesh: &named.mesh, quote: '\'' };
                match kind {
                    SubgroupKind::Replicated => named.replicated = reader.axes()?,
                    SubgroupKind::Manual => named.manual = reader.axes()?,
                    SubgroupKind::Unreduced => {
                        let combiner = reader.combiner();
                        named.unreduced = reader.axes()?;
                        let none = named.unreduced.is_empty();
                        named.combiner = if none { Combiner::Sum } else { combiner };
                    }
                }
            }
            _ => {
                return cursor.error_at(
                    at,
                    "expected dimension shardings `[...]`, `replicated`, `unreduced`, `manual`, \
                     `device_ids=(...)` or `metadata={...}`",
                );
            }
        }
    }
    if let Err(error) = named.mesh.verify() {
        return cursor.error_at(begin, error.to_string());
    }
    if named.whole.is_some() && named.dims.is_some() {
        return cursor.error_at(mesh_end, "the sharding says two different things");
    }
    Ok((named, metadata))
}

/// `([4,2]T(1,0))` or `(0,2,1,3)`
fn mesh_devices(cursor: &mut Cursor<'_>) -> Parsed<Vec<u64>> {
    cursor.expect("(", "before the device ids of the mesh")?;
    if cursor.peek() != Some('[') {
        return cursor.numbers("a device id", ")");
    }
    let begin = cursor.offset();
    let devices = iota(cursor)?;
    cursor.expect(")", "after the device ids of the mesh")?;
    let order = match &devices {
        TileDevices::Iota { reshape, perm } => iota_digits(reshape, perm).unwrap_or_default(),
        TileDevices::List(_) => digits::Digits::new(),
    };
    let count = digits::count(&order);
    if count > MAX_LISTED_DEVICES {
        let message = format!("a mesh of {count} devices in another order is too large");
        return cursor.error_at(begin, message);
    }
    Ok((0..count).map(|at| digits::device(&order, at)).collect())
}
