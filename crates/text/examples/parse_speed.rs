//! How fast files are read and printed: `parse_speed FILE...`, the best of twenty runs each.

use std::io::{self, Write};
use std::time::Instant;

use shard_text::{ParseOptions, PrintOptions, parse, print};

fn best<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut best = f64::INFINITY;
    let mut last = None;
    for _ in 0..20 {
        let start = Instant::now();
        let result = run();
        best = best.min(start.elapsed().as_secs_f64());
        last = Some(result);
    }
    match last {
        Some(result) => (best, result),
        None => (best, run()),
    }
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for file in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&file)?;
        let megabytes = text.len() as f64 / 1e6;
        let (parse_time, parsed) = best(|| parse(&text, &ParseOptions::default()));
        if let Some(diagnostic) = parsed.diagnostics.first() {
            writeln!(out, "{file}: {diagnostic}")?;
            continue;
        }
        let ops = parsed.module.op_count();
        for debug_info in [false, true] {
            let options = PrintOptions { debug_info, ..PrintOptions::default() };
            let (print_time, printed) = best(|| print(&parsed.module, &options));
            writeln!(
                out,
                "{file}: {megabytes:.2} MB, {ops} ops: parse {:.2} ms ({:.0} MB/s, {:.0} ns an op); \
                 print {:.2} ms ({:.0} MB/s{})",
                parse_time * 1e3,
                megabytes / parse_time,
                parse_time * 1e9 / ops as f64,
                print_time * 1e3,
                printed.len() as f64 / 1e6 / print_time,
                if debug_info { ", with locations" } else { "" },
            )?;
        }
    }
    Ok(())
}
