//! How often computations run.

use serde_json::Value;

use super::graph::{Graph, Node};
use super::instruction::{Times, number};
use super::trip_count;
use crate::error::DecodeError;

/// How a computation runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub times: Times,
    /// Whether it only runs as part of fusions.
    pub fused: bool,
    /// The fusion that it is the body of, if that is its only caller.
    pub fusion: Option<Node>,
}

/// For each computation how it runs, or `None` where it doesn't, or only on elements.
pub(super) fn of_computations(graph: &Graph<'_>) -> Result<Vec<Option<Run>>, DecodeError> {
    let mut runs: Vec<Option<Run>> = vec![None; graph.len()];
    runs[graph.entry] =
        Some(Run { times: Times { count: 1, exact: true }, fused: false, fusion: None });
    // Callers come after what they call, so that going backwards each is done before its callees.
    for computation in (0..graph.len()).rev() {
        let Some(run) = runs[computation] else { continue };
        for position in 0..graph.instructions(computation).len() {
            let node = Node { computation, position };
            visit_calls(graph, node, |callee, calls| {
                add(&mut runs[callee], graph, node, run, calls);
            });
        }
    }
    Ok(runs)
}

/// Adds the runs of `callee` that come from one call in a computation with `run`.
fn add(callee: &mut Option<Run>, graph: &Graph<'_>, node: Node, run: Run, calls: Times) {
    let is_fusion = graph.get(node).opcode == "fusion";
    let call = Run {
        times: Times {
            count: run.times.count.saturating_mul(calls.count),
            exact: run.times.exact && calls.exact,
        },
        fused: run.fused || is_fusion,
        fusion: is_fusion.then_some(node),
    };
    *callee = Some(match *callee {
        None => call,
        Some(other) => Run {
            times: Times {
                count: other.times.count.saturating_add(call.times.count),
                exact: other.times.exact && call.times.exact,
            },
            fused: other.fused && call.fused,
            fusion: None,
        },
    });
}

/// Calls `visit` with each computation that runs when the instruction does, and how often.
fn visit_calls(graph: &Graph<'_>, node: Node, mut visit: impl FnMut(usize, Times)) {
    let once = Times { count: 1, exact: true };
    match graph.get(node).opcode.as_str() {
        // Of an asynchronous operation the start stands for all of it; update and done name the
        // same computation again.
        "call" | "fusion" | "async-start" => {
            graph.called(node).for_each(|callee| visit(callee, once));
        }
        "while" => {
            let known = trip_count(graph, node);
            let count = known.unwrap_or(1);
            let mut called = graph.called(node);
            if let Some(body) = called.next() {
                visit(body, Times { count, exact: known.is_some() });
            }
            if let Some(condition) = called.next() {
                let count = count.saturating_add(1);
                visit(condition, Times { count, exact: known.is_some() });
            }
        }
        "conditional" => {
            let maybe = Times { count: 1, exact: false };
            graph.called(node).for_each(|branch| visit(branch, maybe));
        }
        // Everything else applies what it calls to elements (reduce, sort, scatter, map,
        // all-reduce, ...), or is a custom call that uses it in its own way.
        _ => {}
    }
}

/// Iterations of a `while`: what the compiler wrote down, else what its counter shows.
fn trip_count(graph: &Graph<'_>, node: Node) -> Option<u64> {
    let config: Option<Value> = serde_json::from_slice(graph.backend_config(node)).ok();
    let known = config.as_ref().and_then(|config| config.get("known_trip_count")?.get("n"));
    match known {
        Some(count) => number(count),
        None => trip_count::infer(graph, node),
    }
}
