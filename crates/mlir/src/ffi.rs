//! Calls into MLIR beyond melior's safe interface. All `unsafe` code of the crate is here.
#![allow(unsafe_code)]

use melior::ir::attribute::{AttributeLike, DenseElementsAttribute};
use melior::ir::operation::{Operation, OperationLike};
use melior::ir::{Attribute, Identifier, Location, Module};
use melior::{Context, ContextRef};
use mlir_sys::{
    MlirAttribute, MlirContext, MlirOperation, MlirStringRef, mlirLocationFusedGetLocations,
    mlirModuleCreateParse,
};

unsafe extern "C" {
    fn shardLoadKeptDialects(context: MlirContext);
    fn shardGetProperties(op: MlirOperation) -> MlirAttribute;
    fn shardSetProperties(op: MlirOperation, properties: MlirAttribute) -> bool;
}

/// Loads `stablehlo`, `chlo`, `mhlo` and `sdy` as dialects that keep what they don't know, where
/// the context has none of that name.
pub(crate) fn load_kept_dialects(context: &Context) {
    // SAFETY: the context is alive; the function only adds dialects to it.
    unsafe { shardLoadKeptDialects(context.to_raw()) }
}

/// The properties of an op as a dictionary, if it has any.
pub(crate) fn properties<'c: 'a, 'a>(op: &impl OperationLike<'c, 'a>) -> Option<Attribute<'c>> {
    // SAFETY: the op is alive, and the attribute lives as long as the context.
    unsafe { Attribute::from_option_raw(shardGetProperties(op.to_raw())) }
}

/// Sets the properties of an op from a dictionary; false if they don't suit it.
pub(crate) fn set_properties<'c>(op: &mut Operation<'c>, properties: Attribute<'c>) -> bool {
    // SAFETY: the op is alive and borrowed exclusively; the attribute is of its context.
    unsafe { shardSetProperties(op.to_raw(), properties.to_raw()) }
}

/// The bytes of a name.
pub(crate) fn bytes<'c>(name: &Identifier<'c>) -> &'c [u8] {
    let raw = name.as_string_ref().to_raw();
    if raw.length == 0 {
        return &[];
    }
    // SAFETY: MLIR keeps the bytes of an identifier as long as its context lives.
    unsafe { std::slice::from_raw_parts(raw.data.cast(), raw.length) }
}

/// The parts of a fused location.
pub(crate) fn fused_locations<'c>(location: &Location<'c>) -> Vec<Location<'c>> {
    let mut parts = vec![*location; location.fused_num_locations()];
    // SAFETY: the call writes as many locations as there are parts, and a `Location` is laid out
    // as the raw one.
    unsafe { mlirLocationFusedGetLocations(location.to_raw(), parts.as_mut_ptr().cast()) }
    parts
}

/// The bytes in which MLIR holds the elements of a constant: `len` of them.
///
/// `len` must be what MLIR takes for the constant's type, or for one element of a splat; `dense.rs`
/// alone calls this, and knows.
pub(crate) fn raw_data<'d>(dense: &'d DenseElementsAttribute<'_>, len: usize) -> &'d [u8] {
    let data = dense.raw_data().cast::<u8>();
    if len == 0 || data.is_null() {
        return &[];
    }
    // SAFETY: MLIR keeps `len` bytes there as long as the attribute's context lives, and doesn't
    // change them, since attributes are immutable.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// No attribute, where one may be absent.
pub(crate) fn no_attribute<'c>() -> Attribute<'c> {
    // SAFETY: a null attribute is only handed to functions for which it means that there is none.
    unsafe { Attribute::from_raw(MlirAttribute { ptr: std::ptr::null() }) }
}

/// Whether there is no attribute.
pub(crate) fn is_none(attribute: Attribute<'_>) -> bool {
    attribute.to_raw().ptr.is_null()
}

/// Reads a module from text or bytecode.
pub(crate) fn parse<'c>(context: &'c Context, bytes: &[u8]) -> Option<Module<'c>> {
    let source = MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() };
    // SAFETY: the bytes outlive the call, and MLIR copies what it keeps of them.
    unsafe { Module::from_option_raw(mlirModuleCreateParse(context.to_raw(), source)) }
}

/// A context by a reference to it. melior makes a reference to the `ContextRef` itself, so it lives
/// only as long as that is borrowed, whatever melior's own types say.
pub(crate) fn context<'r>(context: &'r ContextRef<'_>) -> &'r Context {
    // SAFETY: a `ContextRef` is laid out as a `Context`, and is borrowed for the whole of `'r`.
    unsafe { context.to_ref() }
}

/// Puts another module of the same context in the place of a module.
///
/// # Panics
/// If the contexts differ.
pub(crate) fn replace(module: &mut Module<'_>, other: Module<'_>) {
    assert!(module.context() == other.context(), "modules of different contexts");
    let raw = other.to_raw();
    std::mem::forget(other);
    // SAFETY: nobody else owns the raw module, and its context, being that of `module`, lives as
    // long as the type of `module` says.
    *module = unsafe { Module::from_raw(raw) };
}
