//! Which runs a check makes, and on what kind of inputs.

use serde::Serialize;
use shard_ir::{Diagnostic, Module};

use crate::run::{self, Input};

/// Which inputs are tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// Random ones.
    Random,
    /// Those at the edges of what programs are written for: one run of each kind.
    Edge,
    /// Both.
    #[default]
    All,
}

/// What the arguments of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// All are given.
    Given,
    /// Random numbers that keep results alive.
    Random,
    /// With indices outside of what they index, extremes of integers, and zeros.
    Extremes,
    /// With NaN and infinities.
    NonFinite,
}

impl RunKind {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            RunKind::Given => "given",
            RunKind::Random => "random",
            RunKind::Extremes => "edge: indices outside, extremes and zeros",
            RunKind::NonFinite => "edge: NaN and infinities",
        }
    }

    /// Whether it is one of the edges.
    pub fn is_edge(self) -> bool {
        match self {
            RunKind::Given | RunKind::Random => false,
            RunKind::Extremes | RunKind::NonFinite => true,
        }
    }
}

/// How many runs are of which kind, such as `2 random and 2 edge inputs`.
pub(super) fn count_text(runs: &[RunKind]) -> String {
    let count = |wanted: &dyn Fn(RunKind) -> bool, name: &str| {
        let count = runs.iter().filter(|kind| wanted(**kind)).count();
        (count > 0).then(|| format!("{count} {name}"))
    };
    let counts: Vec<String> = [
        count(&|kind| kind == RunKind::Given, "given"),
        count(&|kind| kind == RunKind::Random, "random"),
        count(&RunKind::is_edge, "edge"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let inputs = if runs.len() == 1 { "input" } else { "inputs" };
    format!("{} {inputs}", counts.join(" and "))
}

/// The runs of a check, in their order: `random` are so many random ones.
pub fn runs_of(inputs: Inputs, random: usize, all_given: bool) -> Vec<RunKind> {
    if all_given {
        return vec![RunKind::Given];
    }
    let mut runs = match inputs {
        Inputs::Random | Inputs::All => vec![RunKind::Random; random.max(1)],
        Inputs::Edge => Vec::new(),
    };
    match inputs {
        Inputs::Random => {}
        Inputs::Edge | Inputs::All => runs.extend([RunKind::Extremes, RunKind::NonFinite]),
    }
    runs
}

/// Checks that arguments from outside are those of a program of global shapes. Returns whether all
/// are given.
///
/// # Errors
/// If an argument isn't there, or has another type.
pub(super) fn check_given(module: &Module, given: &[Input]) -> Result<bool, Diagnostic> {
    let args = module.main_func().map(|func| module.args(func)).unwrap_or_default();
    for input in given {
        run::element_of(module, input.index)?;
        let ty = module.tensor_type(args[input.index]);
        let fits = ty.is_some_and(|ty| {
            ty.element == input.array.element_type && ty.dims.as_slice() == input.array.dims
        });
        if !fits {
            return Err(run::misfit(module, input));
        }
    }
    Ok(!args.is_empty() && (0..args.len()).all(|index| Input::of(given, index).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_counted_by_kind() {
        use RunKind::{Extremes, Given, NonFinite, Random};
        assert_eq!(runs_of(Inputs::All, 2, false), [Random, Random, Extremes, NonFinite]);
        assert_eq!(runs_of(Inputs::Random, 1, false), [Random]);
        assert_eq!(runs_of(Inputs::Edge, 5, false), [Extremes, NonFinite]);
        assert_eq!(runs_of(Inputs::All, 5, true), [Given]);
        let text = |inputs, random| count_text(&runs_of(inputs, random, false));
        assert_eq!(text(Inputs::All, 3), "3 random and 2 edge inputs");
        assert_eq!(text(Inputs::Random, 1), "1 random input");
        assert_eq!(text(Inputs::Edge, 1), "2 edge inputs");
    }
}
