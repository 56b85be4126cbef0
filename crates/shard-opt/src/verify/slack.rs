//! What the order of sums and reductions inside a program leaves open of its results.
//!
//! Sums in another order have other rounding errors, each of about the size of the last place of
//! what is added. The program is run a few times with errors of that size put in, and with
//! reductions nested the other way; what that changes of a result, some of it by cancellation, is
//! what another order may change.

use shard_ir::{HostArray, NumberKind};

use super::engine::Whole;
use super::{VerifyError, compare, elements};

/// What is open of a result in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slack {
    /// How far floats may be apart besides their tolerance.
    pub noise: f64,
    /// For each element, whether it may be something else altogether: another integer, NaN, or
    /// infinite. Empty where none may.
    pub open: Vec<bool>,
}

/// How much larger the rounding errors of another order may be than those put in.
pub(super) const NOISE_MARGIN: f64 = 8.0;

/// What is open of each result: nothing where that can't be told.
///
/// # Errors
/// If the program can't be run.
pub(super) fn of_run(
    reference: &dyn Whole,
    globals: &[HostArray],
    results: &[HostArray],
) -> Result<Vec<Slack>, VerifyError> {
    const RUNS: u64 = 2;
    let mut all = vec![Slack::default(); results.len()];
    for seed in 1..=RUNS {
        let Some(changed) = reference.run_jittered(globals, seed)? else { break };
        for ((slack, result), changed) in all.iter_mut().zip(results).zip(&changed) {
            slack.noise = slack.noise.max(NOISE_MARGIN * compare::distance(result, changed));
            widen(&mut slack.open, result, changed);
        }
    }
    Ok(all)
}

/// Marks the elements that have become something else altogether.
fn widen(open: &mut Vec<bool>, before: &HostArray, after: &HostArray) {
    let element = before.element_type;
    let width = element.storage_bytes();
    let pairs = before.bytes.chunks_exact(width).zip(after.bytes.chunks_exact(width));
    for (at, (a, b)) in pairs.enumerate() {
        let other = a != b
            && match element.kind() {
                NumberKind::Float | NumberKind::Complex => {
                    let (a, b) = (elements::parts(element, a), elements::parts(element, b));
                    !compare::apart(a, b).is_finite()
                }
                NumberKind::Bool
                | NumberKind::Signed
                | NumberKind::Unsigned
                | NumberKind::Quantized => true,
            };
        if other {
            open.resize(before.bytes.len() / width, false);
            open[at] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use shard_ir::ElementType;

    use super::*;

    #[test]
    fn what_is_something_else_is_open() {
        let floats = |values: &[f32]| HostArray {
            element_type: ElementType::F32,
            dims: vec![values.len() as i64],
            bytes: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let (nan, inf) = (f32::NAN, f32::INFINITY);
        let mut open = Vec::new();
        widen(&mut open, &floats(&[1.0, nan, inf]), &floats(&[2.0, nan, inf]));
        assert!(open.is_empty());
        widen(&mut open, &floats(&[1.0, nan, inf]), &floats(&[nan, nan, inf]));
        widen(&mut open, &floats(&[1.0, nan, inf]), &floats(&[1.0, nan, -inf]));
        assert_eq!(open, [true, false, true]);
    }
}
