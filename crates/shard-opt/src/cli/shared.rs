//! Options that several commands have, and reading programs.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use shard_cost::Topology;
use shard_ir::sharding::{Mesh, parse_mesh};
use shard_ir::{Diagnostic, Module, Place};
use shard_opt::report::units;
use shard_opt::{ImportOptions, ParseOptions, PartitionOptions, PrintOptions, SpmdMode};

use super::Failure;
use super::io::{self, Format, Source};
use super::timing::Timing;

/// Annotations from outside.
#[derive(Debug, Args)]
pub(crate) struct AnnotationFlags {
    /// The device mesh, such as 'data=4,model=2'; where the program names one with these axes,
    /// their new sizes
    #[arg(long, value_name = "AXES", value_parser = read_mesh)]
    pub mesh: Option<Mesh>,
    /// A sharding for an argument in place of the one it has, as sdy or JAX spells it; may be given
    /// for each argument, and for all that differ in the numbers in their names, as in
    /// "layers[*]['w']=P('data')"
    #[arg(long, value_name = "NAME_OR_INDEX=SHARDING", value_parser = read_sharding)]
    pub arg: Vec<(String, String)>,
    /// A sharding for a result in place of the one it has; may be given for each result
    #[arg(long, value_name = "NAME_OR_INDEX=SHARDING", value_parser = read_sharding)]
    pub result: Vec<(String, String)>,
}

impl AnnotationFlags {
    /// The options of the import.
    pub fn import(&self) -> ImportOptions {
        ImportOptions {
            mesh: self.mesh.clone(),
            arguments: self.arg.clone(),
            results: self.result.clone(),
        }
    }
}

/// Options of every command that partitions.
#[derive(Debug, Args)]
pub(crate) struct PartitionFlags {
    #[command(flatten)]
    pub annotations: AnnotationFlags,
    #[command(flatten)]
    pub machine: MachineFlags,
    /// The number of devices, where neither the program nor --mesh states any
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub num_partitions: Option<u32>,
    /// Which kind of XLA device id the collectives use [default: partitions]
    #[arg(long, value_name = "KIND", value_enum)]
    pub spmd_mode: Option<Mode>,
}

/// What the cost model assumes.
#[derive(Debug, Args)]
pub(crate) struct MachineFlags {
    /// The machine that costs are for: a name such as v4:2x2x2 or even:8, or a JSON file
    #[arg(long, value_name = "NAME_OR_FILE", default_value = "even")]
    pub topology: String,
    /// The memory of a device that the program may use, such as 28GiB [default: the topology's]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_bytes)]
    pub memory_limit: Option<u64>,
}

/// The values of --spmd-mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// Sets mhlo.num_partitions: compile with use_spmd_partitioning=true
    Partitions,
    /// Sets mhlo.num_replicas
    Replicas,
}

pub(crate) fn read_mesh(text: &str) -> Result<Mesh, String> {
    parse_mesh(text).map_err(|error| error.to_string())
}

/// `NAME=[...]`: a name may contain `=` itself, so the sharding begins at the first `=` that one
/// can follow.
fn read_sharding(text: &str) -> Result<(String, String), String> {
    let starts = ["=[", "=<", "=#sdy", "=P(", "=PartitionSpec("];
    let at = starts.iter().filter_map(|start| text.find(start)).min();
    match at {
        Some(at) if at > 0 => Ok((text[..at].to_owned(), text[at + 1..].to_owned())),
        _ => Err("expected a name or number, '=', and a sharding, as in '0=[{\"data\"},{}]' or \
                 'x=P(\"data\",None)'"
            .into()),
    }
}

impl MachineFlags {
    /// The machine.
    pub fn topology(&self) -> Result<Topology, Failure> {
        let file = Path::new(&self.topology);
        if !file.is_file() {
            return Topology::parse(&self.topology)
                .map_err(|error| Failure::Usage(format!("--topology: {error}")));
        }
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("can't read '{}'", file.display()))?;
        let topology = Topology::from_json(&text);
        Ok(topology.with_context(|| format!("--topology={}", file.display()))?)
    }
}

impl PartitionFlags {
    /// The options of the partitioner for a program.
    pub fn options(&self, source: &Source, module: &Module) -> Result<PartitionOptions, Failure> {
        let mut options = PartitionOptions {
            import: self.annotations.import(),
            topology: self.machine.topology()?,
            mode: match self.spmd_mode {
                None | Some(Mode::Partitions) => SpmdMode::Partitions,
                Some(Mode::Replicas) => SpmdMode::Replicas,
            },
            ..PartitionOptions::default()
        };
        if let Some(wanted) = self.num_partitions {
            let stated = match &self.annotations.mesh {
                Some(mesh) => Some(mesh.device_count()),
                None => shard_passes::meshes::main_mesh(module)
                    .map(|mesh| module.meshes[mesh].mesh.device_count()),
            };
            match stated {
                None => options.import.mesh = Some(Mesh::new(&[("devices", wanted)])),
                Some(stated) if stated == u64::from(wanted) => {}
                Some(stated) => {
                    let message =
                        format!("--num-partitions={wanted}, but the mesh has {stated} devices");
                    let help = "leave the option out, or state another mesh with --mesh";
                    return Err(source.fail(&Diagnostic::error(message).help(help)));
                }
            }
        }
        Ok(options)
    }
}

/// How programs are printed.
#[derive(Debug, Args)]
pub(crate) struct PrintFlags {
    /// Where the result goes; standard output where it is `-` or left out
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print every op in generic form
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true",
          action = clap::ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    pub mlir_print_op_generic: bool,
    /// Print locations
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", hide_possible_values = true)]
    pub mlir_print_debuginfo: Option<bool>,
    /// Say on standard error how long each phase took
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true",
          action = clap::ArgAction::Set, hide_default_value = true, hide_possible_values = true)]
    pub mlir_timing: bool,
    /// Write MLIR's bytecode instead of text
    #[cfg(feature = "mlir")]
    #[arg(long)]
    pub emit_bytecode: bool,
}

impl PrintFlags {
    /// The printer's options; `locations` says whether locations are printed unless stated.
    pub fn options(&self, locations: bool) -> PrintOptions {
        PrintOptions {
            debug_info: self.mlir_print_debuginfo.unwrap_or(locations),
            generic: self.mlir_print_op_generic,
            ..PrintOptions::default()
        }
    }

    /// Whether bytecode is asked for.
    #[cfg(feature = "mlir")]
    fn bytecode(&self) -> bool {
        self.emit_bytecode
    }

    #[cfg(not(feature = "mlir"))]
    fn bytecode(&self) -> bool {
        false
    }

    /// What is written of a module.
    pub fn content(&self, module: &Module, options: &PrintOptions) -> Result<Vec<u8>, Diagnostic> {
        #[cfg(feature = "mlir")]
        if self.emit_bytecode {
            let written = shard_mlir::write_bytecode(module);
            return written.map_err(|error| Diagnostic::error(error.to_string()));
        }
        shard_text::print_as_is(module, options).map(String::into_bytes)
    }
}

/// Reads and checks the module of a program, in StableHLO's form; says what is wrong with it.
pub(crate) fn parse(source: &Source, timing: &mut Timing) -> Result<Module, Failure> {
    parse_with(source, &source.options(), timing)
}

/// The same with the names of all values.
pub(crate) fn parse_with_names(source: &Source) -> Result<Module, Failure> {
    let options = ParseOptions { all_names: true, ..source.options() };
    parse_with(source, &options, &mut Timing::default())
}

fn parse_with(
    source: &Source,
    options: &ParseOptions,
    timing: &mut Timing,
) -> Result<Module, Failure> {
    let parsed = timing
        .time("parse", || shard_text::parse_shared(&source.bytes, 0..source.bytes.len(), options));
    source.say_all(&parsed.diagnostics)?;
    let mut module = parsed.module;
    let converted =
        timing.time("hlo-to-stablehlo", || shard_passes::hlo_to_stablehlo::run(&mut module));
    converted.map_err(|error| source.fail(&error))?;
    let mut complaints = timing.time("verify", || shard_ir::verify(&module));
    place_in_text(&source.bytes, options, &mut complaints);
    source.say_all(&complaints)?;
    Ok(module)
}

/// Gives complaints about ops whose locations name no place that of the ops in the text.
pub(crate) fn place_in_text(text: &[u8], options: &ParseOptions, complaints: &mut [Diagnostic]) {
    if complaints.iter().all(|complaint| complaint.place != Place::Nowhere) {
        return;
    }
    let options = ParseOptions { locations: false, ..options.clone() };
    let plain = shard_text::parse_bytes(text, &options);
    let placed = shard_ir::verify(&plain.module);
    if placed.len() != complaints.len() {
        return;
    }
    for (complaint, placed) in complaints.iter_mut().zip(placed) {
        if complaint.place == Place::Nowhere && complaint.message == placed.message {
            complaint.place = placed.place;
        }
    }
}

/// Whether a program's text has locations, so that what is made of it should have them too.
fn has_locations(source: &Source) -> bool {
    let has = |word: &[u8]| source.bytes.windows(word.len()).any(|window| window == word);
    has(b"loc(") || has(b"metadata={")
}

/// Prints what was made of a program, and writes it.
pub(crate) fn write_module(
    source: &Source,
    mut module: Module,
    format: Format,
    flags: &PrintFlags,
    timing: &mut Timing,
) -> Result<(), Failure> {
    if format == Format::Hlo && !flags.bytecode() {
        let converted =
            timing.time("stablehlo-to-hlo", || shard_passes::stablehlo_to_hlo::run(&mut module));
        converted.map_err(|error| source.fail(&error))?;
    }
    let options = flags.options(has_locations(source));
    let content = timing.time("print", || flags.content(&module, &options));
    let content = content.map_err(|error| source.fail(&error))?;
    io::write_result(flags.output.as_deref(), content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_contain_brackets_and_equals_signs() {
        for (text, name, sharding) in [
            ("0=[{\"x\"},{}]", "0", "[{\"x\"},{}]"),
            ("p['a=b'][0]=[{x}], replicated={\"y\"}", "p['a=b'][0]", "[{x}], replicated={\"y\"}"),
            ("x=<@mesh, [{}]>", "x", "<@mesh, [{}]>"),
            ("ps[*]['a']=P('model',None)", "ps[*]['a']", "P('model',None)"),
        ] {
            assert_eq!(read_sharding(text), Ok((name.to_owned(), sharding.to_owned())));
        }
        assert!(read_sharding("x").is_err());
        assert!(read_sharding("=[{}]").is_err());
    }
}
