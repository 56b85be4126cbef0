//! Reads a file once and says what that took: `parse_once FILE` prints the time of parsing and the
//! most memory that the process had, the text included. `tools/bench-peers parse` runs it.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Instant;

use shard_text::{ParseOptions, parse_shared};

fn main() -> io::Result<()> {
    let file = std::env::args().nth(1).ok_or(io::ErrorKind::InvalidInput)?;
    let text = Arc::new(std::fs::read(file)?);
    let start = Instant::now();
    let parsed = parse_shared(&text, 0..text.len(), &ParseOptions::default());
    let time = start.elapsed();
    if let Some(diagnostic) = parsed.diagnostics.first() {
        return Err(io::Error::other(diagnostic.clone()));
    }
    // Linux's high-water mark of this program alone: a parent sees its own in a child's, too.
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    writeln!(io::stdout(), "parse: {:.3} ms\npeak: {peak}", time.as_secs_f64() * 1e3)?;
    // The system takes all of it back at once.
    std::mem::forget((text, parsed));
    Ok(())
}
