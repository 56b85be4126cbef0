//! Blobs beside a program: `{-# dialect_resources: {...} #-}`, to which constants refer by name.
//!
//! MLIR holds them in the context, and reads and prints them beside an op only. So constants that
//! refer to blobs go to MLIR and back together, as the attributes of one op.

use melior::Context;
use melior::ir::attribute::AttributeLike;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};
use melior::ir::{Attribute, Identifier, Location};
use shard_ir::ops::{FieldRef, Op};
use shard_ir::{Attr, AttrsId, Dense, DenseData, Item, Module, OpId};

use crate::error::{Error, listening};
use crate::ffi;

const HOLDER: &str = "shard.holder";

/// The text of the blobs of constants, if there are any.
pub(crate) fn read(constants: &[Attribute<'_>]) -> Option<String> {
    let context = constants.first()?.context();
    let context = ffi::context(&context);
    let name = |index| Identifier::new(context, &format!("r{index}"));
    let attributes: Vec<_> =
        constants.iter().zip(0..).map(|(constant, index)| (name(index), *constant)).collect();
    let holder = OperationBuilder::new(HOLDER, Location::unknown(context))
        .add_attributes(&attributes)
        .build()
        .ok()?;
    let text = holder.to_string();
    let begin = text.find("{-#")?;
    Some(text[begin..].trim_end().to_owned())
}

/// Gives a module's blobs to the context; its constants that refer to them, each with MLIR's.
pub(crate) fn write<'c, 'm>(
    context: &'c Context,
    m: &'m Module,
    mut text: impl FnMut(&'m Dense) -> String,
) -> Result<Vec<(&'m Dense, Attribute<'c>)>, Error> {
    let mut constants: Vec<&Dense> = Vec::new();
    each(m, &mut |dense| {
        if !constants.contains(&dense) {
            constants.push(dense);
        }
    });
    if constants.is_empty() {
        return Ok(Vec::new());
    }
    let mut source = format!("\"{HOLDER}\"() {{");
    for (index, dense) in constants.iter().enumerate() {
        let separator = if index > 0 { ", " } else { "" };
        source.push_str(&format!("{separator}r{index} = {}", text(dense)));
    }
    source.push_str("} : () -> ()\n");
    source.push_str(m.resources.map_or("", |text| m.str(text)));
    let (holder, said) = listening(context, || ffi::parse(context, source.as_bytes()));
    let op = holder.as_ref().and_then(|holder| holder.body().first_operation());
    let Some(op) = op else {
        return Err(Error::Mlir { what: "the blobs beside the program".to_owned(), said });
    };
    let attribute = |index| op.attribute(&format!("r{index}")).ok();
    Ok(constants.iter().enumerate().filter_map(|(i, d)| Some((*d, attribute(i)?))).collect())
}

/// Calls `visit` with each constant of the module that refers to a blob.
fn each<'m>(m: &'m Module, visit: &mut impl FnMut(&'m Dense)) {
    list(m, m.attrs, visit);
    for item in &m.items {
        match item {
            Item::Mesh(mesh) => list(m, m.meshes[*mesh].attrs, visit),
            Item::Op(op) => {
                of_op(m, *op, visit);
                for &region in m.regions(*op) {
                    m.walk(region, |op| of_op(m, op, visit));
                }
            }
            Item::Func(func) => {
                let func = &m.funcs[*func];
                list(m, func.attrs, visit);
                m.walk(func.body, |op| of_op(m, op, visit));
            }
        }
    }
}

fn of_op<'m>(m: &'m Module, op: OpId, visit: &mut impl FnMut(&'m Dense)) {
    m.kind(op).visit_fields(&mut |_, field| match field {
        FieldRef::Dense(dense) => of_dense(dense, visit),
        FieldRef::Attr(attr) => of_attr(m, attr, visit),
        _ => {}
    });
    if let Op::Opaque(opaque) = m.kind(op) {
        opaque.properties.iter().for_each(|(_, attr)| of_attr(m, attr, visit));
    }
    list(m, m.op(op).attrs, visit);
}

fn list<'m>(m: &'m Module, attrs: AttrsId, visit: &mut impl FnMut(&'m Dense)) {
    m.attrs(attrs).iter().for_each(|(_, attr)| of_attr(m, attr, visit));
}

fn of_attr<'m>(m: &'m Module, attr: &'m Attr, visit: &mut impl FnMut(&'m Dense)) {
    match attr {
        Attr::Array(items) => items.iter().for_each(|item| of_attr(m, item, visit)),
        Attr::Dict(id) => list(m, *id, visit),
        Attr::Dense(dense) => of_dense(dense, visit),
        _ => {}
    }
}

fn of_dense<'m>(dense: &'m Dense, visit: &mut impl FnMut(&'m Dense)) {
    if matches!(dense.data, DenseData::Resource(_)) {
        visit(dense);
    }
}
