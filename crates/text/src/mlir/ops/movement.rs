//! Ops that move data: `stablehlo.transpose %0, dims = [1, 0] : (type) -> type`, and others.

use shard_ir::ops::{
    Broadcast, BroadcastInDim, Concatenate, DynamicBroadcastInDim, DynamicSlice, GetDimensionSize,
    Pad, Reverse, SetDimensionSize, Slice, Transpose,
};
use shard_ir::{Attr, Dims, OpId};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    Some(match name {
        "stablehlo.reshape"
        | "stablehlo.bitcast_convert"
        | "stablehlo.dynamic_update_slice"
        | "stablehlo.dynamic_reshape"
        | "stablehlo.real_dynamic_slice"
        | "stablehlo.dynamic_pad" => functional,
        "stablehlo.broadcast_in_dim" => broadcast_in_dim,
        "stablehlo.dynamic_broadcast_in_dim" => dynamic_broadcast_in_dim,
        "stablehlo.broadcast" => broadcast,
        "stablehlo.transpose" => transpose,
        "stablehlo.slice" => slice,
        "stablehlo.dynamic_slice" => dynamic_slice,
        "stablehlo.pad" => pad,
        "stablehlo.concatenate" => concatenate,
        "stablehlo.reverse" => reverse,
        "stablehlo.get_dimension_size" => get_dimension_size,
        "stablehlo.set_dimension_size" => set_dimension_size,
        _ => return None,
    })
}

fn functional<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let op = p.plain(start, entry)?;
    p.operands_functional(start, op)
}

impl<'a> Parser<'a> {
    /// `%0, key = [...]`.
    fn one_with_dims(&mut self, key: &str) -> Read<(Parts, Dims)> {
        let mut parts = Parts::default();
        parts.operands.push(self.operand()?);
        self.expect(b',')?;
        self.key(key)?;
        Ok((parts, self.dims()?))
    }

    /// Operands, each followed by a comma, up to something else.
    fn operands_with_commas(&mut self, parts: &mut Parts) -> Read<()> {
        while self.c.peek() == b'%' {
            parts.operands.push(self.operand()?);
            self.expect(b',')?;
        }
        Ok(())
    }
}

fn broadcast_in_dim<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let (parts, dimensions) = p.one_with_dims("dims")?;
    p.functional(start, BroadcastInDim { dimensions }, parts)
}

fn dynamic_broadcast_in_dim<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("dims")?;
    let dimensions = p.dims()?;
    p.optional_attr_dict(&mut parts.attrs)?;
    let mut known = |name| match p.take_attr(&mut parts.attrs, name) {
        Some(Attr::DenseArray(_, dims)) => Some(dims),
        _ => None,
    };
    let expanding = known("known_expanding_dimensions");
    let nonexpanding = known("known_nonexpanding_dimensions");
    p.functional_type(start, DynamicBroadcastInDim { dimensions, expanding, nonexpanding }, parts)
}

fn broadcast<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let (parts, sizes) = p.one_with_dims("sizes")?;
    p.functional(start, Broadcast { sizes }, parts)
}

fn transpose<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let (parts, permutation) = p.one_with_dims("dims")?;
    p.functional(start, Transpose { permutation }, parts)
}

fn reverse<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let (parts, dimensions) = p.one_with_dims("dims")?;
    p.same_types(start, Reverse { dimensions }, parts)
}

/// `%0 [0:4, 1:8:2]`.
fn slice<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    let mut op = Slice { start: Dims::new(), limit: Dims::new(), strides: Dims::new() };
    p.list(b'[', b']', |p| {
        op.start.push(p.integer()?);
        p.expect(b':')?;
        op.limit.push(p.integer()?);
        op.strides.push(if p.c.eat(b':') { p.integer()? } else { 1 });
        Ok(())
    })?;
    p.functional(start, op, parts)
}

fn dynamic_slice<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("sizes")?;
    let sizes = p.dims()?;
    p.functional(start, DynamicSlice { sizes }, parts)
}

fn pad<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("low")?;
    let low = p.dims()?;
    p.expect(b',')?;
    p.key("high")?;
    let high = p.dims()?;
    p.expect(b',')?;
    p.key("interior")?;
    let interior = p.dims()?;
    p.functional(start, Pad { low, high, interior }, parts)
}

fn concatenate<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, _: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("dim")?;
    let dimension = p.integer()?;
    p.functional(start, Concatenate { dimension }, parts)
}

fn get_dimension_size<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("dim")?;
    let dimension = p.integer()?;
    p.functional(start, GetDimensionSize { dimension }, parts)
}

fn set_dimension_size<'a>(
    p: &mut Parser<'a>,
    start: &OpStart<'a>,
    _: &'static Entry,
) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands_with_commas(&mut parts)?;
    p.key("dim")?;
    let dimension = p.integer()?;
    p.functional(start, SetDimensionSize { dimension }, parts)
}
