//! Options and properties: named values.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::mem;

use pjrt_sys::*;

use super::api::text;

/// An option's or a property's value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Integers(Vec<i64>),
    Float(f32),
    Bool(bool),
}

/// A value with its name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NamedValue {
    pub(crate) name: String,
    pub(crate) value: Value,
}

/// Named values as the C interface takes them, which point into `values`.
pub(super) struct RawValues<'a> {
    raw: Vec<PJRT_NamedValue>,
    values: PhantomData<&'a [NamedValue]>,
}

impl<'a> RawValues<'a> {
    pub(super) fn new(values: &'a [NamedValue]) -> Self {
        let raw = values.iter().map(raw).collect();
        RawValues { raw, values: PhantomData }
    }

    pub(super) fn as_ptr(&self) -> *const PJRT_NamedValue {
        self.raw.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.raw.len()
    }
}

fn raw(named: &NamedValue) -> PJRT_NamedValue {
    let mut raw = PJRT_NamedValue {
        // Unlike argument structs these lie in an array, so their size is the true one.
        struct_size: mem::size_of::<PJRT_NamedValue>(),
        name: named.name.as_ptr().cast::<c_char>(),
        name_size: named.name.len(),
        value_size: 1,
        ..PJRT_NamedValue::default()
    };
    match &named.value {
        Value::Text(text) => {
            raw.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kString;
            raw.__bindgen_anon_1.string_value = text.as_ptr().cast();
            raw.value_size = text.len();
        }
        Value::Integer(value) => {
            raw.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kInt64;
            raw.__bindgen_anon_1.int64_value = *value;
        }
        Value::Integers(values) => {
            raw.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kInt64List;
            raw.__bindgen_anon_1.int64_array_value = values.as_ptr();
            raw.value_size = values.len();
        }
        Value::Float(value) => {
            raw.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kFloat;
            raw.__bindgen_anon_1.float_value = *value;
        }
        Value::Bool(value) => {
            raw.type_ = PJRT_NamedValue_Type_PJRT_NamedValue_kBool;
            raw.__bindgen_anon_1.bool_value = *value;
        }
    }
    raw
}

/// Copies `count` named values out of the plugin's memory; those of unknown types are left out.
///
/// # Safety
///
/// `start` is null or points to `count` named values whose pointers are valid.
pub(super) unsafe fn read(start: *const PJRT_NamedValue, count: usize) -> Vec<NamedValue> {
    if start.is_null() {
        return Vec::new();
    }
    // SAFETY: the caller vouches for the array. The struct has had the same size in every 0.x
    // version, so ours steps through the plugin's array.
    let raw = unsafe { std::slice::from_raw_parts(start, count) };
    raw.iter()
        .filter_map(|raw| {
            // SAFETY: the caller vouches for the pointers, and `type_` says which member of the
            // union was written.
            let (name, value) = unsafe { (text(raw.name, raw.name_size), value(raw)?) };
            Some(NamedValue { name, value })
        })
        .collect()
}

/// # Safety
///
/// `type_` says which member of the union was written, and a pointer in it is valid.
#[allow(non_upper_case_globals)]
unsafe fn value(raw: &PJRT_NamedValue) -> Option<Value> {
    let union = &raw.__bindgen_anon_1;
    // SAFETY: the caller vouches for the member that is read.
    unsafe {
        Some(match raw.type_ {
            PJRT_NamedValue_Type_PJRT_NamedValue_kString => {
                Value::Text(text(union.string_value, raw.value_size))
            }
            PJRT_NamedValue_Type_PJRT_NamedValue_kInt64 => Value::Integer(union.int64_value),
            PJRT_NamedValue_Type_PJRT_NamedValue_kInt64List
                if !union.int64_array_value.is_null() =>
            {
                Value::Integers(
                    std::slice::from_raw_parts(union.int64_array_value, raw.value_size).to_vec(),
                )
            }
            PJRT_NamedValue_Type_PJRT_NamedValue_kFloat => Value::Float(union.float_value),
            PJRT_NamedValue_Type_PJRT_NamedValue_kBool => Value::Bool(union.bool_value),
            _ => return None,
        })
    }
}
