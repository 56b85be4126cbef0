//! Algorithms of dots: `dot_bf16_bf16_f32_x3`, which StableHLO spells with all that the name means.

use shard_ir::{Attr, Interner};

/// What StableHLO's attribute begins with.
const PREFIX: &str = "#stablehlo.dot_algorithm<";
/// Every algorithm that HLO has a name for.
const KNOWN: &[&str] = &[
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
];

/// The attribute of an algorithm's name; `None` for names that aren't known.
pub(super) fn read(name: &str, interner: &mut Interner) -> Option<Attr> {
    let known = KNOWN.iter().find(|known| **known == name)?;
    let name = known.strip_prefix("dot_")?.replace("any_f8", "f8E5M2");
    let (name, imprecise) = match name.strip_suffix("_fast_accum") {
        Some(name) => (name, true),
        None => (name.as_str(), false),
    };
    let mut words = name.split('_');
    let (lhs, rhs, sum) = (words.next()?, words.next()?, words.next()?);
    let times = words.next().map_or("1", |times| &times[1..]);
    let text = format!(
        "{PREFIX}lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, \
         accumulation_type = {sum}, lhs_component_count = 1, rhs_component_count = 1, \
         num_primitive_operations = {times}, allow_imprecise_accumulation = {imprecise}>"
    );
    Some(Attr::Text(interner.symbol(&text)))
}

/// The name of the algorithm that an attribute describes; `None` where it has none.
pub(super) fn name(attr: &Attr, interner: &Interner) -> Option<&'static str> {
    let Attr::Text(text) = attr else { return None };
    let fields = interner.str(*text).strip_prefix(PREFIX)?.strip_suffix('>')?;
    let field = |name: &str| {
        let field = fields.split(',').find_map(|field| field.trim().strip_prefix(name))?;
        Some(field.trim_start().strip_prefix('=')?.trim())
    };
    let operand = |name: &str| {
        let ty = field(name)?;
        Some(if ty.starts_with("f8") { "any_f8" } else { ty })
    };
    let (lhs, rhs) = (operand("lhs_precision_type")?, operand("rhs_precision_type")?);
    let mut name = format!("dot_{lhs}_{rhs}_{}", field("accumulation_type")?);
    match field("num_primitive_operations")? {
        "1" => {}
        times => name = format!("{name}_x{times}"),
    }
    if field("allow_imprecise_accumulation")? == "true" {
        name.push_str("_fast_accum");
    }
    KNOWN.iter().find(|known| **known == name).copied()
}
