//! Results of custom calls that share an operand's memory: `{{0}: (1, {})}` says that result 0 is
//! where operand 1 was.

use shard_ir::{Attr, Interner};

use crate::hlo::attrs::{inside, ints};

/// What StableHLO's attribute begins with.
const PREFIX: &str = "#stablehlo.output_operand_alias<";

/// Reads a table; `None` if the text has another form.
pub(super) fn read(text: &str, interner: &mut Interner) -> Option<Attr> {
    let mut rest = inside(text, '{', '}')?.trim();
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (output, after) = rest.split_once(':')?;
        let (input, after) = after.trim_start().strip_prefix('(')?.split_once(')')?;
        let (operand, path) = input.split_once(',')?;
        let operand: u32 = operand.trim().parse().ok()?;
        let (output, path) = (ints(output.trim())?, ints(path.trim())?);
        let text = format!(
            "{PREFIX}output_tuple_indices = {output:?}, operand_index = {operand}, \
             operand_tuple_indices = {path:?}>"
        );
        entries.push(Attr::Text(interner.symbol(&text)));
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    Some(Attr::Array(entries.into()))
}

/// The table of an attribute; `None` where it has another form.
pub(super) fn table(attr: &Attr, interner: &Interner) -> Option<String> {
    let Attr::Array(entries) = attr else { return None };
    let entry = |attr: &Attr| {
        let Attr::Text(text) = attr else { return None };
        let text = interner.str(*text).strip_prefix(PREFIX)?;
        let list = |name: &str| {
            let list = text.split_once(name)?.1.trim_start().strip_prefix('=')?.trim_start();
            let numbers = list.strip_prefix('[')?.split_once(']')?.0.replace(' ', "");
            let is_number = |part: &str| part.parse::<u32>().is_ok();
            (numbers.is_empty() || numbers.split(',').all(is_number)).then_some(numbers)
        };
        let operand = text.split_once("operand_index")?.1.trim_start().strip_prefix('=')?;
        let operand: u32 = operand.split_once(',')?.0.trim().parse().ok()?;
        let (output, path) = (list("output_tuple_indices")?, list("operand_tuple_indices")?);
        Some(format!("{{{output}}}: ({operand}, {{{path}}})"))
    };
    let entries: Option<Vec<String>> = entries.iter().map(entry).collect();
    Some(format!("{{{}}}", entries?.join(", ")))
}
