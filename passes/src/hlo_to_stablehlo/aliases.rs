//! Which arguments give their memory to results: HLO's header has it as a table.

use shard_ir::{Attr, ElementType, FuncId, Module};

/// Moves the header's tables of aliases and donors to the arguments of the entry.
pub(super) fn convert(module: &mut Module, entry: FuncId) {
    let table = |module: &Module, key: &str| match module.attr(module.attrs, key) {
        Some(Attr::String(text)) => module.str(*text).to_owned(),
        _ => String::new(),
    };
    let count = module.funcs[entry].arg_attrs.len();
    let results = module.funcs[entry].results.len();
    let ty = module.scalar(ElementType::I32);
    for (output, (parameter, path)) in entries(&table(module, "hlo.input_output_alias")) {
        let output = output.first().copied().unwrap_or(0);
        // Arguments that are tuples are rare; their parts have other numbers here.
        if path.is_empty() && parameter < count && output < results {
            let attrs = module.funcs[entry].arg_attrs[parameter];
            let attr = Attr::Int(output as i128, ty);
            module.funcs[entry].arg_attrs[parameter] =
                module.with_attr(attrs, "tf.aliasing_output", Some(attr));
        }
    }
    for (parameter, path) in donors(&table(module, "hlo.buffer_donor")) {
        if path.is_empty() && parameter < count {
            let attrs = module.funcs[entry].arg_attrs[parameter];
            module.funcs[entry].arg_attrs[parameter] =
                module.with_attr(attrs, "jax.buffer_donor", Some(Attr::Bool(true)));
        }
    }
}

type Path = Vec<usize>;

fn numbers(text: &str) -> Path {
    text.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// `{ {0}: (1, {}, may-alias), {1}: (2, {}) }`
fn entries(table: &str) -> Vec<(Path, (usize, Path))> {
    let mut found = Vec::new();
    let mut rest = table.trim().strip_prefix('{').unwrap_or("");
    while let Some((output, after)) = rest.split_once(':') {
        let Some((input, after)) = after.split_once(')') else { break };
        let output = output.rsplit_once('{').map_or("", |(_, path)| path).trim_end_matches('}');
        if let Some(input) = input.split_once('(').and_then(|(_, input)| donor(input)) {
            found.push((numbers(output.trim_end().trim_end_matches('}')), input));
        }
        rest = after;
    }
    found
}

/// `{ (0, {}), (1, {}) }`
fn donors(table: &str) -> Vec<(usize, Path)> {
    table.split('(').skip(1).filter_map(donor).collect()
}

/// `1, {0}, ...`
fn donor(text: &str) -> Option<(usize, Path)> {
    let (parameter, rest) = text.split_once(',')?;
    let path = rest.split_once('{')?.1.split_once('}')?.0;
    Some((parameter.trim().parse().ok()?, numbers(path)))
}
