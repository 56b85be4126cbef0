//! Bitcasts: the same bytes as another shape, which depends on layouts.

use shard_ir::ops::{Movement, Op, Transpose};
use shard_ir::{Attr, AttrsId, Dims, LocId, Module, TypeId, ValueId};

use super::Convert;

/// The dimensions from major to minor, by the shape that was written: `f32[2,3]{0,1}`.
fn major_to_minor(module: &Module, attrs: AttrsId, rank: usize) -> Dims {
    let default = || (0..rank as i64).collect();
    let Some(Attr::String(text)) = module.attr(attrs, "hlo.shape") else { return default() };
    let layout = module.str(*text).split_once('{').map_or("", |(_, layout)| layout);
    let end = layout.find(['}', ':']).unwrap_or(layout.len());
    let dims: Option<Dims> = layout[..end].split(',').map(|dim| dim.trim().parse().ok()).collect();
    let mut dims = dims.unwrap_or_default();
    dims.reverse();
    let mut sorted = dims.clone();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..rank as i64) { dims } else { default() }
}

impl Convert {
    /// A value's bytes, which lie as `from` says, as a value of another type, which lies as `to`
    /// says.
    pub(super) fn bitcast(
        &self,
        module: &mut Module,
        value: ValueId,
        ty: TypeId,
        (from, to): (AttrsId, AttrsId),
        loc: LocId,
    ) -> ValueId {
        let (Some(old), Some(new)) =
            (module.tensor_type(value).cloned(), module.ty(ty).as_tensor().cloned())
        else {
            return value;
        };
        if old.element != new.element {
            return self.at(module, loc).typed(Movement::BitcastConvert, &[value], ty);
        }
        let order = major_to_minor(module, from, old.rank());
        let value = self.transpose(module, value, order, loc);
        let order = major_to_minor(module, to, new.rank());
        let physical = module.tensor(new.element, order.iter().map(|&dim| new.dims[dim as usize]));
        let value = match module.value_type(value) == physical {
            true => value,
            false => self.at(module, loc).typed(Movement::Reshape, &[value], physical),
        };
        // Back to the order of the dimensions.
        let mut back = vec![0; order.len()];
        for (at, &dim) in order.iter().enumerate() {
            back[dim as usize] = at as i64;
        }
        self.transpose(module, value, back.into(), loc)
    }

    fn transpose(&self, module: &mut Module, value: ValueId, order: Dims, loc: LocId) -> ValueId {
        let Some(ty) = module.tensor_type(value).cloned() else { return value };
        if order.iter().copied().eq(0..order.len() as i64) {
            return value;
        }
        let ty = module.tensor(ty.element, order.iter().map(|&dim| ty.dims[dim as usize]));
        self.at(module, loc).typed(Op::from(Transpose { permutation: order }), &[value], ty)
    }
}
