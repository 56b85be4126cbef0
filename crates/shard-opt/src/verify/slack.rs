//! What the order of sums and reductions inside a program leaves open of its results.
//!
//! Sums in another order have other rounding errors, each of about the size of the last place of
//! what is added. The program is run a few times with errors of that size put in; what they change
//! of a result, some of it by cancellation, is what another order may change. Then it is run in
//! another form: reductions nested the other way, and convolutions with operands swapped. Elements
//! that become something else are open.

use shard_ir::HostArray;

use super::VerifyError;
use super::compare::{self, Rule};
use super::engine::{Otherwise, Whole};

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

/// What is open of each result: nothing where that can't be told. Each is compared by its rule.
///
/// # Errors
/// If the program can't be run.
pub(super) fn of_run(
    reference: &dyn Whole,
    globals: &[HostArray],
    results: &[HostArray],
    rules: &[Rule],
) -> Result<Vec<Slack>, VerifyError> {
    let mut all = vec![Slack::default(); results.len()];
    // Last what isn't rounding, which is what is more than rounding does.
    for otherwise in [Otherwise::Rounding(1), Otherwise::Rounding(2), Otherwise::Form] {
        let Some(changed) = reference.run_otherwise(globals, otherwise)? else { break };
        for (((slack, result), changed), rule) in
            all.iter_mut().zip(results).zip(&changed).zip(rules)
        {
            let finite = match otherwise {
                Otherwise::Rounding(_) => {
                    let noise = NOISE_MARGIN * compare::distance(result, changed);
                    slack.noise = slack.noise.max(noise);
                    f64::INFINITY
                }
                Otherwise::Form => 1.0,
            };
            let rule = rule.with_noise(slack.noise);
            widen(&mut slack.open, result, changed, |error| error >= finite, rule);
        }
    }
    Ok(all)
}

/// Marks the elements that have become something else altogether, by how far they are from what
/// they were, in units of what is allowed.
fn widen(
    open: &mut Vec<bool>,
    before: &HostArray,
    after: &HostArray,
    is_other: impl Fn(f64) -> bool,
    rule: Rule,
) {
    let element = before.element_type;
    let width = element.storage_bytes();
    let pairs = before.bytes.chunks_exact(width).zip(after.bytes.chunks_exact(width));
    for (at, (a, b)) in pairs.enumerate() {
        if is_other(compare::error(element, a, b, rule)) {
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
        let before = floats(&[1.0, nan, inf]);
        let rule = Rule::of(&before, Some(1e-4), 0.0);
        let open = |after: &[&[f32]], finite: f64| {
            let mut open = Vec::new();
            for after in after {
                widen(&mut open, &before, &floats(after), |error| error >= finite, rule);
            }
            open
        };
        let (other, infinite) = ([2.0, nan, inf], f64::INFINITY);
        assert!(open(&[&other, &[1.0, nan, inf]], infinite).is_empty());
        assert_eq!(open(&[&other], 1.0), [true, false, false]);
        assert!(open(&[&[1.000_01, nan, inf]], 1.0).is_empty());
        assert_eq!(open(&[&[nan, nan, inf], &[1.0, nan, -inf]], infinite), [true, false, true]);
    }
}
