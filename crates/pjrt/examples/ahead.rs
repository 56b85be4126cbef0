//! Compiles a StableHLO file for a TPU topology, with no TPU, and shows what the compiler says:
//! `cargo run -p shard-pjrt --example ahead -- v4:2x2x2 FILE replicas|partitions|shardy`

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::time::Instant;

use shard_pjrt::{CompileOptions, Plugin, Program, child};

fn main() -> Result<(), Box<dyn Error>> {
    if !child::is_child() {
        std::process::exit(child::run_self(child::Work::Ahead, &child::Setup::default())?);
    }
    let mut args = std::env::args().skip(1);
    let (Some(topology), Some(file)) = (args.next(), args.next()) else {
        return Err("usage: ahead TOPOLOGY FILE replicas|partitions|shardy".into());
    };
    let plugin = Plugin::load_tpu(&Plugin::find_tpu()?)?;
    let topology = plugin.tpu_topology(&topology)?;
    let devices = topology.device_count()?;
    let options = match args.next().as_deref() {
        Some("partitions") => CompileOptions::partitions(devices),
        Some("shardy") => CompileOptions::shardy(devices),
        _ => CompileOptions::replicas(devices),
    };
    let text = std::fs::read_to_string(file)?;
    let start = Instant::now();
    let executable = plugin.compile_ahead(&topology, &Program::Mlir(&text), &options)?;
    println!("{devices} devices of {}, {:?} to compile", topology.name(), start.elapsed());
    println!("the compiler's estimates, for one device:");
    println!("  memory {:?}", executable.memory_stats()?);
    println!("  code {:?} bytes, {:?} FLOP", executable.code_size()?, executable.flops()?);
    let module = executable.optimized()?;
    println!("  {:?}", module.estimated_cycles());
    println!("  {} FLOP in dots and convolutions", module.contraction_flops());
    println!("  {} wire bytes", module.wire_bytes());
    for collective in module.collectives() {
        let source = collective.source.as_ref();
        println!(
            "  {} x {} of {} bytes over {} devices: {} wire bytes each; {} {}",
            collective.times.count,
            collective.kind,
            collective.payload_bytes,
            collective.group_size,
            collective.wire_bytes,
            source.map_or(String::new(), |source| format!("{}:{}", source.file, source.line)),
            collective.op_name,
        );
    }
    Ok(())
}
