//! `shard-opt run`: executes a program on the interpreter.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, ValueEnum};
use shard_interp::{Event, Value};
use shard_ir::ops::Op;
use shard_ir::{Diagnostic, Module};
use shard_opt::run::{self, Form};
use shard_opt::verify::engine;

use super::inputs::{self, InputFile};
use super::io::{self, InputArgs, Source};
use super::shared;
use super::timing::Timing;
use super::{Failure, Outcome};

/// Executes a program on the embedded interpreter
///
/// A program of global shapes runs on one device, whatever its shardings; a partitioned one on as
/// many as it states (mhlo.num_partitions, mhlo.num_replicas), in lock step. Results are printed,
/// or written as .npy files. Checks in the program (check.expect_eq and the like) are evaluated.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  \
    shard-opt run step.mlir --seed=7\n  \
    shard-opt run step.mlir --input=0:weights.npy --input=1:batch.npy --output-dir=out\n  \
    shard-opt partition step.mlir | shard-opt run - --elements=4\n\n\
    Exit status: 0 done, 1 an op can't be executed, or a check doesn't hold.")]
pub(crate) struct RunArgs {
    #[command(flatten)]
    input: InputArgs,
    /// An argument: its number and a .npy file. Global arrays are cut by the argument's sharding;
    /// what has one device's shape goes to each
    #[arg(long = "input", value_name = "NUMBER:FILE")]
    inputs: Vec<InputFile>,
    /// What other arguments are drawn from: the same number gives the same arguments
    #[arg(long, value_name = "N", default_value = "0")]
    seed: u64,
    /// Where results go as .npy files: result0.npy, and result0.device1.npy where devices differ
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Where the values of interpreter.probe go as .npy files
    #[arg(long, value_name = "DIR")]
    probe_output_dir: Option<PathBuf>,
    /// What the program is written for, where it doesn't tell: `whole` for global shapes
    #[arg(long = "as", value_name = "FORM", value_enum)]
    form: Option<FormName>,
    /// How many elements of each result are printed
    #[arg(long, value_name = "N", default_value = "64")]
    elements: usize,
    /// The most ops that a device may execute, to end loops that don't
    #[arg(long, value_name = "N")]
    max_ops: Option<u64>,
}

/// The values of --as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FormName {
    /// Global shapes
    Whole,
    /// What each device runs
    Devices,
}

pub(crate) fn run(args: &RunArgs) -> Outcome {
    let source = Source::read(&args.input)?;
    let module = shared::parse(&source, &mut Timing::default())?;
    let form = match args.form {
        None => Form::of(&module),
        Some(FormName::Whole) => Form::Whole,
        Some(FormName::Devices) => {
            let (replicas, partitions) = engine::device_counts(&module);
            Form::Devices { replicas, partitions }
        }
    };
    let module = prepared(module, form).map_err(|error| source.fail(&error))?;
    let inputs = inputs::read(&args.inputs, &source, &module)?;
    let arguments =
        run::arguments(&module, form, &inputs, args.seed).map_err(|error| source.fail(&error))?;
    let outcome =
        run::run(&module, form, arguments, args.max_ops).map_err(|error| source.fail(&error))?;

    let mut failed = false;
    let mut probes: Vec<(&str, usize)> = Vec::new();
    for event in &outcome.events {
        match event {
            Event::Failed { op, device, message } => {
                let mut diagnostic =
                    Diagnostic::error(format!("the check doesn't hold: {message}"))
                        .at_op(&module, *op);
                if form.devices() > 1 {
                    diagnostic = diagnostic.note(format!("on device {device}"));
                }
                source.say(&diagnostic);
                failed = true;
            }
            Event::Print { value, .. } => {
                let text = run::value_text(&Value::Tensor(value.clone()), usize::MAX);
                io::write_result(None, format!("{text}\n"))?;
            }
            Event::Probe { name, value, .. } => {
                let Some(dir) = &args.probe_output_dir else { continue };
                let count = probes.iter().filter(|(known, _)| known == name).count() + 1;
                probes.push((name, count));
                let array = engine::array_of(&Value::Tensor(value.clone()));
                write_file(dir, &format!("{name}_{count}.npy"), &run::write_npy(&array))?;
            }
        }
    }
    write_results(args, &outcome.results)?;
    if failed { Err(Failure::Said) } else { Ok(()) }
}

/// The program as the interpreter takes it: annotations in other forms than sdy's, which stand for
/// parts of the meaning of a whole program, are imported, and what CHLO has without the op table
/// is expanded.
fn prepared(mut module: Module, form: Form) -> Result<Module, Diagnostic> {
    let mut expand = false;
    for func in module.func_ids() {
        module.walk(module.funcs[func].body, |op| {
            expand |=
                matches!(module.kind(op), Op::Opaque(_)) && module.op_name(op).starts_with("chlo.");
        });
    }
    if expand {
        shard_passes::chlo_legalize::run(&mut module)?;
    }
    if form == Form::Whole {
        shard_passes::sdy_round_trip::import(&mut module)?;
    }
    Ok(module)
}

fn write_file(dir: &std::path::Path, name: &str, content: &[u8]) -> Result<(), Failure> {
    std::fs::create_dir_all(dir).with_context(|| format!("can't make '{}'", dir.display()))?;
    // A name from the program stays in the folder.
    let name: String = name.chars().map(|c| if c == '/' || c == '\\' { '_' } else { c }).collect();
    let file = dir.join(name);
    std::fs::write(&file, content).with_context(|| format!("can't write '{}'", file.display()))?;
    Ok(())
}

/// Prints or writes results: once where all devices have the same, else each device's.
fn write_results(args: &RunArgs, lists: &[Vec<Value>]) -> Outcome {
    let Some(first) = lists.first() else { return Ok(()) };
    let mut text = String::new();
    for (index, value) in first.iter().enumerate() {
        // NaN is equal to itself here.
        let array = engine::array_of(value);
        let same = lists
            .iter()
            .all(|list| list.get(index).is_some_and(|other| engine::array_of(other) == array));
        let devices = if same { 1 } else { lists.len() };
        for (device, list) in lists.iter().enumerate().take(devices) {
            let suffix = if same { String::new() } else { format!(".device{device}") };
            if let Some(dir) = &args.output_dir {
                if *value == Value::Token {
                    continue;
                }
                let content = run::write_npy(&engine::array_of(&list[index]));
                write_file(dir, &format!("result{index}{suffix}.npy"), &content)?;
            } else {
                let value = run::value_text(&list[index], args.elements);
                text.push_str(&format!("result{index}{suffix}: {value}\n"));
            }
        }
    }
    io::write_result(None, text)
}
