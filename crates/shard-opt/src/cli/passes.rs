//! The pass runner, with mlir-opt's conventions.

use std::fmt::Write as _;
use std::ops::Range;

use clap::Args;
use shard_ir::{Diagnostic, Place};
use shard_opt::{ParseOptions, PrintOptions};
use shard_passes::pass_manager::{AfterPass, PassPipeline};
use shard_passes::registry::{PASSES, PIPELINES, PassContext, PassOptions};

use super::expected::Expectations;
use super::io::{self, InputArgs, Source, say};
use super::shared::{self, PrintFlags};
use super::timing::Timing;
use super::{Failure, Outcome};

/// The options of the pass runner.
#[derive(Debug, Args)]
pub(crate) struct PassesArgs {
    #[command(flatten)]
    input: InputArgs,
    /// The passes to run, such as 'builtin.module(inline-calls,import,propagate)'
    #[arg(long, value_name = "PIPELINE")]
    pass_pipeline: Option<String>,
    /// A pass to run; what --NAME is short for
    #[arg(long = "pass", value_name = "NAME[=OPTIONS]", hide = true)]
    passes: Vec<String>,
    /// Show the passes with their options, and end
    #[arg(long)]
    list_passes: bool,
    /// Show the pipeline that runs, on standard error
    #[arg(long)]
    dump_pass_pipeline: bool,
    /// Treat the parts of the input between lines `// -----` as programs of their own
    #[arg(long)]
    split_input_file: bool,
    /// Check that just those diagnostics appear that comments such as
    /// `// expected-error@+1 {{text}}` announce
    #[arg(long)]
    verify_diagnostics: bool,
    /// Print the program after each pass, on standard error
    #[arg(long)]
    mlir_print_ir_after_all: bool,
    /// Taken for compatibility: ops of any dialect are read and kept
    #[arg(long)]
    allow_unregistered_dialect: bool,
    /// Check the program when it is read and after each pass
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_value = "true", default_missing_value = "true",
          action = clap::ArgAction::Set, hide_possible_values = true)]
    verify_each: bool,
    #[command(flatten)]
    print: PrintFlags,
}

impl PassesArgs {
    fn pipeline(&self) -> Result<PassPipeline, Failure> {
        if let Some(text) = &self.pass_pipeline {
            if !self.passes.is_empty() {
                let message = "passes can be given as flags or by --pass-pipeline, not both";
                return Err(Failure::Usage(message.to_owned()));
            }
            return PassPipeline::parse(text)
                .map_err(|error| Failure::Usage(format!("--pass-pipeline: {error}")));
        }
        let mut pipeline = PassPipeline::default();
        for pass in &self.passes {
            let (name, options) = pass.split_once('=').unwrap_or((pass, ""));
            let options = PassOptions::parse(options)
                .map_err(|error| Failure::Usage(format!("--{name}: {error}")))?;
            pipeline.push(name, options).map_err(Failure::Usage)?;
        }
        Ok(pipeline)
    }
}

pub(crate) fn run(args: &PassesArgs) -> Outcome {
    if args.list_passes {
        return io::write_result(args.print.output.as_deref(), list_passes());
    }
    let pipeline = args.pipeline()?;
    if args.dump_pass_pipeline {
        say(&format!("Pass Manager with {} passes:\n{pipeline}\n", pipeline.steps.len()));
    }
    let source = Source::read(&args.input)?;
    let text = String::from_utf8_lossy(&source.bytes);
    let parts: Vec<(usize, &[u8])> = match (args.split_input_file, &text) {
        (true, std::borrow::Cow::Borrowed(text)) => shard_text::split_input(text)
            .into_iter()
            .map(|(offset, part)| (offset, part.as_bytes()))
            .collect(),
        _ => vec![(0, source.bytes.as_slice())],
    };

    let options = source.options();
    let mut runner = Runner { args, pipeline, timing: Timing::default(), options };
    let mut outputs: Vec<Vec<u8>> = Vec::new();
    let mut failed = false;
    for (offset, part) in parts {
        let mut said = Vec::new();
        let output = runner.part(&source, offset..offset + part.len(), &mut said);
        if args.verify_diagnostics {
            let range = offset..offset + part.len();
            failed |= !Expectations::of(&source.bytes, range).check(&said, &source);
        } else {
            let _ = source.say_all(&said);
            failed |= output.is_none();
        }
        outputs.extend(output);
    }
    if !failed || args.split_input_file {
        io::write_result(args.print.output.as_deref(), outputs.join(&b"// -----\n"[..]))?;
    }
    if args.print.mlir_timing {
        runner.timing.say();
    }
    if failed { Err(Failure::Said) } else { Ok(()) }
}

struct Runner<'a> {
    args: &'a PassesArgs,
    pipeline: PassPipeline,
    timing: Timing,
    options: ParseOptions,
}

impl Runner<'_> {
    /// Runs the pipeline on one part of the input; `None` where something failed. Diagnostics
    /// are collected, placed in the whole input.
    fn part(
        &mut self,
        source: &Source,
        range: Range<usize>,
        said: &mut Vec<Diagnostic>,
    ) -> Option<Vec<u8>> {
        let offset = range.start;
        let text = &source.bytes[range.clone()];
        let shift = |mut diagnostic: Diagnostic| {
            if let Place::Text(range) = &mut diagnostic.place {
                *range = range.start + offset..range.end + offset;
            }
            diagnostic
        };
        let options = self.options.clone();
        let parsed =
            self.timing.time("parse", || shard_text::parse_shared(&source.bytes, range, &options));
        let bad = parsed.has_errors();
        said.extend(parsed.diagnostics.into_iter().map(shift));
        if bad {
            return None;
        }
        let mut module = parsed.module;
        let (timing, print) = (&mut self.timing, &self.args.print);
        // Passes work on StableHLO's form; without any, HLO text comes back as HLO text.
        if !self.pipeline.steps.is_empty()
            && let Err(error) = shard_passes::hlo_to_stablehlo::run(&mut module)
        {
            said.push(shift(error));
            return None;
        }
        if self.args.verify_each {
            let mut found = timing.time("verify", || shard_ir::verify(&module));
            found.extend(shard_passes::sdy::verify_rules(&module));
            if !found.is_empty() {
                shared::place_in_text(text, &options, &mut found);
                said.extend(found.into_iter().map(shift));
                return None;
            }
        }
        let mut context = PassContext::default();
        let mut complaints = Vec::new();
        let result = self.pipeline.run(&mut module, &mut context, |after| {
            let name = after.step.pass.name;
            timing.add(name, after.duration);
            if self.args.mlir_print_ir_after_all {
                say(&dump(&after, &print.options(false)));
            }
            if !self.args.verify_each || after.failed {
                return Ok(());
            }
            complaints = timing.time("verify", || shard_ir::verify(after.module));
            if complaints.is_empty() {
                return Ok(());
            }
            Err(Diagnostic::error(format!("the program isn't valid after pass '{name}'"))
                .help("this is a fault of the pass: please report it with the program"))
        });
        said.extend(context.warnings.drain(..).map(shift));
        if let Err(error) = result {
            said.extend(complaints.into_iter().chain([error]).map(shift));
            return None;
        }
        let fallbacks = shard_opt::report::describe_fallbacks(&module, &context.fallbacks);
        said.extend(fallbacks.iter().map(|fallback| shift(fallback.diagnostic())));
        let options = print.options(false);
        let content = self.timing.time("print", || print.content(&module, &options));
        content.map_err(|error| said.push(shift(error))).ok()
    }
}

fn dump(after: &AfterPass<'_>, options: &PrintOptions) -> String {
    let failed = if after.failed { " Failed" } else { "" };
    let text = shard_text::print(after.module, options);
    format!("// -----// IR Dump After {}{failed} //----- //\n{text}\n", after.step.pass.name)
}

fn list_passes() -> String {
    // A name too long for its column has a line of its own.
    let row = |text: &mut String, name: &str, description: &str| {
        let _ = match name.len() {
            0..=26 => writeln!(text, "  --{name:<26} {description}"),
            _ => writeln!(text, "  --{name}\n    {:<26} {description}", ""),
        };
    };
    let mut text = String::from("Passes:\n");
    for pass in PASSES {
        row(&mut text, pass.name, pass.description);
        for option in pass.options {
            let _ = writeln!(text, "      {:<24} {}", option.name, option.description);
        }
    }
    text.push_str("\nPipelines:\n");
    for pipeline in PIPELINES {
        row(&mut text, pipeline.name, pipeline.description);
        for option in pipeline.options {
            let _ = writeln!(text, "      {:<24} {}", option.name, option.description);
        }
        let passes = (pipeline.passes)(&PassOptions::default()).unwrap_or_default();
        let _ = writeln!(text, "      {}", passes.join(","));
    }
    text
}
