//! What `--mlir-timing` shows.

use std::time::{Duration, Instant};

use super::io::say;

/// The time that each phase took, in order; a phase that comes again is added up.
#[derive(Debug, Default)]
pub(crate) struct Timing {
    rows: Vec<(String, Duration)>,
}

impl Timing {
    /// Runs and times a phase.
    pub fn time<T>(&mut self, phase: &str, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = run();
        self.add(phase, begin.elapsed());
        result
    }

    /// Adds the time of a phase.
    pub fn add(&mut self, phase: &str, duration: Duration) {
        match self.rows.iter_mut().find(|(name, _)| name == phase) {
            Some((_, sum)) => *sum += duration,
            None => self.rows.push((phase.to_owned(), duration)),
        }
    }

    /// Says a line a phase on standard error: `parse: 12.3 ms`.
    pub fn say(&self) {
        for (phase, duration) in &self.rows {
            say(&format!("{phase}: {:.3} ms\n", duration.as_secs_f64() * 1e3));
        }
    }
}
