//! Shardings of values that two programs have in common.

use std::collections::BTreeMap;

use serde::Serialize;
use shard_ir::{Module, Place, ShardingId, TypeId, ValueId, place_of};

use super::Side;
use crate::report::place::Places;

/// A value whose sharding changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ValueChange {
    /// What it is called: `argument 2`, `result 0`, or its op.
    pub name: String,
    /// Its type, such as `8x16xf32`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Where it comes from.
    pub location: Option<String>,
    /// Its sharding in the first program.
    pub before: String,
    /// Its sharding in the second.
    pub after: String,
}

/// What was found of all values.
pub(super) struct Compared {
    pub common: usize,
    pub changed: Vec<ValueChange>,
    pub gone: usize,
    pub new: usize,
}

/// What a value is recognised by: what makes it and where that comes from, its type, and its number
/// among those of which all this is the same.
type Key = (String, String, String, usize);

struct Value {
    key: Key,
    location: Option<String>,
    sharding: String,
}

pub(super) fn compare(before: Side<'_>, after: Side<'_>) -> Compared {
    let old = values(before);
    let mut new: BTreeMap<Key, Value> =
        values(after).into_iter().map(|value| (value.key.clone(), value)).collect();
    let (mut common, mut gone) = (0, 0);
    let mut changed = Vec::new();
    for value in old {
        let Some(other) = new.remove(&value.key) else {
            gone += 1;
            continue;
        };
        common += 1;
        if other.sharding != value.sharding {
            let (name, _, ty, _) = value.key;
            changed.push(ValueChange {
                name,
                ty,
                location: value.location,
                before: value.sharding,
                after: other.sharding,
            });
        }
    }
    Compared { common, changed, gone, new: new.len() }
}

/// The values of a program's main function.
fn values(side: Side<'_>) -> Vec<Value> {
    let module = &side.program.whole;
    let Some(main) = module.main_func() else { return Vec::new() };
    let mut list = List { module, seen: BTreeMap::new(), values: Vec::new() };
    for (index, &arg) in module.args(main).iter().enumerate() {
        let name = format!("argument {index}");
        list.add(name, None, module.value_type(arg), module.shardings[arg].expand());
    }
    let places = Places { input: side.input };
    module.walk(module.funcs[main].body, |op| {
        let loc = module.op(op).loc;
        let is_source = matches!(place_of(module, loc), Place::Source { .. });
        let location = places.text(module, loc);
        for (index, &result) in module.results(op).iter().enumerate() {
            // In programs without locations places are those of the text, which move.
            let named = || module.value_names[result].expand().map(|name| module.str(name));
            let place = match is_source {
                true => location.clone(),
                false => named().map(|name| format!("%{name}")),
            };
            let op = module.op_name(op);
            let name = if index == 0 { op.to_owned() } else { format!("{op}#{index}") };
            let place = place.map(|place| (place, location.clone()));
            list.add(name, place, module.value_type(result), sharding(module, result));
        }
    });
    for (index, result) in module.funcs[main].results.iter().enumerate() {
        list.add(format!("result {index}"), None, result.ty, result.sharding.expand());
    }
    list.values
}

fn sharding(module: &Module, value: ValueId) -> Option<ShardingId> {
    module.shardings[value].expand()
}

struct List<'m> {
    module: &'m Module,
    seen: BTreeMap<(String, String, String), usize>,
    values: Vec<Value>,
}

impl List<'_> {
    fn add(
        &mut self,
        name: String,
        place: Option<(String, Option<String>)>,
        ty: TypeId,
        sharding: Option<ShardingId>,
    ) {
        let module = self.module;
        let Some(tensor) = module.ty(ty).as_tensor() else { return };
        let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
        let ty = [dims, vec![tensor.element.to_string()]].concat().join("x");
        let (place, location) = place.unzip();
        let short = (name, place.unwrap_or_default(), ty);
        let count = self.seen.entry(short.clone()).or_default();
        let key = (short.0, short.1, short.2, *count);
        *count += 1;
        let sharding = sharding.map_or("open".to_owned(), |id| {
            let sharding = module.sharding(id);
            sharding.bare_text(&module.meshes[sharding.mesh].mesh).to_string()
        });
        self.values.push(Value { key, location: location.flatten(), sharding });
    }
}
