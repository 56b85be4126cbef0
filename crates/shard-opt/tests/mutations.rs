//! Mutations of partitioned programs: whatever one op of the per-device program does wrong, `verify`
//! finds that the program is wrong, and names the op or one that uses its value.
//!
//! The mutations are those of `mutate/`; they are tried on the programs of `testdata/models` with
//! fewer than a thousand ops, and on two with what these lack. The smallest try three ops a mutation,
//! the others one. With SHARD_OPT_TEST_ALL=1 every op that a mutation fits is tried, of all models;
//! SHARD_OPT_TEST_MODELS=gpt,moe tries these only.

#![allow(clippy::print_stderr, reason = "what the test found is said")]

mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mutate::{MUTATIONS, Mutation, edit};
use shard_opt::ir::{Module, OpId, Place, place_of};
use shard_opt::passes::pipeline::StageModule;
use shard_opt::verify::engine::Interpreter;
use shard_opt::verify::stages::{self, Baseline};
use shard_opt::verify::{Prepared, VerifyOptions};
use shard_opt::{ParseOptions, PartitionOptions, text};

/// What the models lack: windows, padding, slices and reversals along a dimension that is split.
const WINDOWS: &str = include_str!("mutate/windows.mlir");

/// And what only the big ones have: collectives of every kind, on a mesh of two axes of one size.
const EXCHANGES: &str = include_str!("mutate/exchanges.mlir");

/// Mutants that change no result: the mutation, where the op comes from, and the reason.
const EQUIVALENT: &[(&str, &str, &str)] = &[
    ("all-reduce: add for maximum", "gpt.py:138:24", SOFTMAX),
    ("reduce: add for maximum", "gpt.py:138:24", SOFTMAX),
    ("reduce: add for maximum", "ring_attention.py:41:41", SOFTMAX),
    ("reduce: maximum for add", "moe.py:23:18", "all but one of what is added are zeros"),
    ("iota along another dimension", "ring_attention.py:39:38", BLOCK),
    ("broadcast along other dimensions", "ring_attention.py:40:21", BLOCK),
    ("comparison off by one", "ring_attention.py:40:31", BLOCK),
    ("mask always false", "gpt.py:138:24", SOFTMAX),
    ("mask inverted", "gpt.py:138:24", SOFTMAX),
    ("mask always true", "gpt.py:99:17", "its gradient: that of a weight of zero is zero anyhow"),
    ("one in the place of a masked zero", "gpt.py:138:24", "it stands for an infinite maximum"),
    ("all-gather among other devices", "gpt.py:93:19", "it is summed over what is exchanged"),
    ("comparison off by one", "gpt.py:138:24", "no maximum of what is drawn is infinite"),
    ("comparison off by one", "decode.py:80:15", TIES),
    ("comparison turned around", "decode.py:80:15", TIES),
    ("comparison off by one", "mlp.py:27:21", RELU),
    ("comparison off by one", "moe.py:66:17", RELU),
    ("comparison off by one", "moe.py:17:27", TIES),
    ("comparison off by one", "resnet_block.py:54:12", RELU),
    ("comparison off by one", "resnet_block.py:56:26", RELU),
    ("mask always false", "ring_attention.py:57:48", "the mask is: no divisor is zero"),
];

const SOFTMAX: &str = "a softmax stays when the same number is subtracted everywhere";
const BLOCK: &str = "in blocks off the diagonal the causal mask is the same everywhere";
const TIES: &str = "of floats that are drawn no two are equal";
const RELU: &str = "no sum of floats that are drawn is zero";

/// What is said of a mutant that passes.
const SURVIVES: &str = "it passes";

/// How the mutants of one mutation fared in one program.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Ops that were changed.
    tried: usize,
    /// Mutants that don't pass.
    caught: usize,
    /// Of these, those whose op, or a user of its value, is named.
    named: usize,
    /// Of these, those whose own op is named.
    exact: usize,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.tried += other.tried;
        self.caught += other.caught;
        self.named += other.named;
        self.exact += other.exact;
    }
}

/// A program and the stage before and the one that is mutated.
struct Subject {
    name: String,
    prepared: Prepared,
    /// What it is compared with, which lives as long as the test.
    before: Baseline<'static>,
    local: StageModule,
}

impl Subject {
    /// Whether it takes so little time that several ops a mutation are tried.
    fn is_small(&self) -> bool {
        edit::all_ops(&self.local.module).len() < 200
    }
}

fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/models");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|extension| extension == "mlir"))
        .collect();
    files.sort();
    let read = |file: std::path::PathBuf| {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        (name, std::fs::read_to_string(&file).expect("it can be read"))
    };
    let mut programs: Vec<(String, String)> = files.into_iter().map(read).collect();
    programs.push(("windows".to_owned(), WINDOWS.to_owned()));
    programs.push(("exchanges".to_owned(), EXCHANGES.to_owned()));
    match std::env::var("SHARD_OPT_TEST_MODELS") {
        Ok(wanted) => programs.retain(|(name, _)| wanted.split(',').any(|other| other == name)),
        Err(_) => programs.retain(|(_, text)| everything() || text.lines().count() < 1500),
    }
    programs
}

fn subject(name: &str, source: &str) -> Subject {
    let whole = text::parse(source, &ParseOptions::default())
        .into_result()
        .unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
    let options = PartitionOptions { keep_stages: true, ..PartitionOptions::default() };
    let partitioned = shard_opt::passes::pipeline::partition(whole.clone(), &options)
        .unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let checks = VerifyOptions { seed: 7, ..VerifyOptions::default() };
    let prepared = Prepared::new(&partitioned, &whole, &Interpreter, &checks)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let at = partitioned.stages.iter().position(|stage| stage.pass == "global-to-local");
    let at = at.unwrap_or_else(|| panic!("{name} has no local stage"));
    // Without a mutation all is well; so each mutant needs only the stage before it.
    let report = stages::check_stages(&prepared, &partitioned.stages[at - 1..=at])
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(report.passed(), "{name}: {}", report.to_text(120));
    let stage = |at: usize| partitioned.stages[at].clone();
    let before = Baseline::new(Box::leak(Box::new(stage(at - 1))));
    Subject { name: name.to_owned(), prepared, before, local: stage(at) }
}

/// The ops that a mutation fits, found on a copy that nothing else is done with.
fn eligible(mutation: &Mutation, module: &Module, ops: &[OpId]) -> Vec<OpId> {
    let mut scratch = module.clone();
    ops.iter().copied().filter(|&op| (mutation.apply)(&mut scratch, op)).collect()
}

/// The first, the middle and the last; one of them where there is no time for more.
fn chosen(found: &[OpId], one: Option<usize>) -> Vec<OpId> {
    let Some(last) = found.len().checked_sub(1) else { return Vec::new() };
    if everything() {
        return found.to_vec();
    }
    let places = [0, last / 2, last];
    let places = match one {
        Some(one) => &places[one % 3..][..1],
        None => &places[..],
    };
    let places: BTreeSet<usize> = places.iter().copied().collect();
    places.into_iter().map(|place| found[place]).collect()
}

/// As `verify` writes a location that isn't known. It names nothing.
const NOWHERE: &str = "an unknown place";

/// As `verify` writes the location of an op.
fn location(module: &Module, op: OpId) -> String {
    match place_of(module, module.op(op).loc) {
        Place::Source { file, line, col } => format!("{file}:{line}:{col}"),
        Place::Text(range) => format!("byte {} of the text", range.start),
        Place::Nowhere => NOWHERE.to_owned(),
    }
}

/// Locations and names of the op that is changed, of those put in its place, and of all that use
/// their values.
fn may_be_named(before: &Module, mutant: &Module, op: OpId) -> BTreeSet<(String, String)> {
    let known: BTreeSet<OpId> = edit::all_ops(before).into_iter().collect();
    let new = edit::all_ops(mutant).into_iter().filter(|op| !known.contains(op));
    let name = |module: &Module, op| (location(module, op), module.op_name(op).to_owned());
    // What an op that is replaced affects is known only before.
    let mut named: BTreeSet<_> =
        edit::affected(before, op).into_iter().map(|op| name(before, op)).collect();
    for op in new.chain([op]) {
        named.extend(edit::affected(mutant, op).into_iter().map(|op| name(mutant, op)));
    }
    // Of an op that is gone nothing is left but what stands in its place.
    if !edit::all_ops(mutant).contains(&op) {
        let operands = before.operands(op).iter();
        named.extend(operands.filter_map(|&v| before.defining_op(v)).map(|op| name(before, op)));
    }
    named.retain(|(place, _)| place != NOWHERE);
    named
}

/// Tries a mutation at an op. Returns what is to be said against it.
fn try_mutant(
    subject: &Subject,
    mutation: &Mutation,
    op: OpId,
    tally: &mut Tally,
) -> Option<String> {
    let mut module = subject.local.module.clone();
    let own = location(&module, op);
    if !(mutation.apply)(&mut module, op) {
        return None;
    }
    tally.tried += 1;
    let what = format!("{} of {own}", subject.local.module.op_name(op));
    let complaints = shard_opt::ir::verify(&module);
    if !complaints.is_empty() {
        return Some(format!("{what}: the mutant isn't valid: {complaints:?}"));
    }
    let named = may_be_named(&subject.local.module, &module, op);
    let mutant = StageModule { pass: mutation.name, module, local: true };
    let report = match stages::check_next(&subject.prepared, Some(&subject.before), &mutant) {
        Ok(report) => report,
        Err(error) => return Some(format!("{what}: {error}")),
    };
    if report.passed() {
        return Some(format!("{what}: {SURVIVES}"));
    }
    tally.caught += 1;
    let wrong = report.stages.iter().find(|stage| !stage.equal);
    let error = wrong.and_then(|stage| stage.error.clone());
    if let Some(error) = error {
        return Some(format!("{what}: the mutant doesn't run: {error}"));
    }
    if wrong.is_none_or(|stage| stage.pass != mutation.name) {
        return Some(format!("{what}: another pass is blamed:\n{}", report.to_text(120)));
    }
    let Some(culprit) = &report.culprit else {
        return Some(format!("{what}: no op is named"));
    };
    if !named.contains(&(culprit.location.clone(), culprit.op.clone())) {
        return Some(format!("{what}: another op is named:\n{}", report.to_text(120)));
    }
    tally.named += 1;
    tally.exact += usize::from(culprit.location == own);
    None
}

/// Whether every op that a mutation fits is tried.
fn everything() -> bool {
    std::env::var_os("SHARD_OPT_TEST_ALL").is_some()
}

/// Does something for each number below `count`, as many at a time as there are processors.
fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, T>> = Mutex::new(BTreeMap::new());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = work(index);
                    done.lock().unwrap().insert(index, result);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

#[test]
fn every_mutant_is_caught_and_named() {
    let programs = programs();
    let begin = std::time::Instant::now();
    let subjects = each(programs.len(), |index| subject(&programs[index].0, &programs[index].1));
    eprintln!("prepared after {:.1?}", begin.elapsed());
    let fitting: Vec<Vec<Vec<OpId>>> = each(subjects.len(), |index| {
        let module = &subjects[index].local.module;
        let ops = edit::all_ops(module);
        MUTATIONS.iter().map(|mutation| eligible(mutation, module, &ops)).collect()
    });

    let mut jobs = Vec::new();
    for (number, mutation) in MUTATIONS.iter().enumerate() {
        let fits_tiny = (0..subjects.len())
            .any(|index| subjects[index].is_small() && !fitting[index][number].is_empty());
        for (index, subject) in subjects.iter().enumerate() {
            let found = &fitting[index][number];
            let ops = match subject.is_small() {
                true => chosen(found, None),
                // Every second one, unless the programs that take no time have no such op.
                false if everything() || !fits_tiny || number % 2 == index % 2 => {
                    chosen(found, Some(number))
                }
                false => Vec::new(),
            };
            jobs.extend(ops.into_iter().map(|op| (number, mutation, index, subject, op)));
        }
    }
    let tried = each(jobs.len(), |job| {
        let (_, mutation, _, subject, op) = jobs[job];
        let mut tally = Tally::default();
        let against = try_mutant(subject, mutation, op, &mut tally);
        (tally, against)
    });
    eprintln!("{} mutants after {:.1?}", jobs.len(), begin.elapsed());

    let mut tallies: BTreeMap<(usize, usize), Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    for ((number, mutation, index, subject, _), (tally, against)) in jobs.into_iter().zip(tried) {
        tallies.entry((number, index)).or_default().add(tally);
        let Some(text) = against else { continue };
        let known = EQUIVALENT
            .iter()
            .any(|(name, place, _)| *name == mutation.name && text.contains(place));
        if !(known && text.ends_with(SURVIVES)) {
            wrong.push(format!("{}, {}: {text}", subject.name, mutation.name));
        }
    }
    eprintln!("tried/caught/named (itself), of those it fits");
    for (number, mutation) in MUTATIONS.iter().enumerate() {
        let mut line = format!("{:<40}", mutation.name);
        for (index, subject) in subjects.iter().enumerate() {
            if let Some(Tally { tried, caught, named, exact }) = tallies.get(&(number, index)) {
                let (name, fits) = (&subject.name, fitting[index][number].len());
                line.push_str(&format!(" {name} {tried}/{caught}/{named} ({exact}) of {fits};"));
            }
        }
        eprintln!("{line}");
    }
    // With some of the programs left out, mutations may find nothing.
    if std::env::var_os("SHARD_OPT_TEST_MODELS").is_none() {
        for (number, mutation) in MUTATIONS.iter().enumerate() {
            if fitting.iter().all(|found| found[number].is_empty()) {
                wrong.push(format!("{} fits no program", mutation.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
