//! `sdy-remove-size-one-axes`: shardings without axes of size one, which split nothing.

use shard_ir::Module;
use shard_ir::sharding::axes::without_unit_axes;

use crate::shardings::map_shardings;

/// Runs the pass. The meshes keep their axes.
pub(super) fn run(module: &mut Module) {
    map_shardings(module, |_, old| {
        let mut new = old.clone();
        for dim in &mut new.dims {
            dim.axes = without_unit_axes(&dim.axes);
            if dim.axes.is_empty() && !dim.open {
                dim.priority = None;
            }
        }
        new.replicated = without_unit_axes(&new.replicated);
        new.unreduced = without_unit_axes(&new.unreduced);
        new
    });
}
