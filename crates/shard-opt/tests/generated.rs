//! Properties of random programs: what is printed is read back, every pass keeps what the program
//! computes, and propagation gives the same each time.
//!
//! `SHARD_OPT_CASES=20000 cargo nextest run -p shard-opt --test generated` tries so many, from
//! `SHARD_OPT_SEED` if that is set.

#![allow(clippy::print_stderr, reason = "a fresh seed is said")]

mod generate;

use std::cell::{Cell, RefCell};
use std::env::var;
use std::panic::{AssertUnwindSafe, catch_unwind};

use generate::{Program, recipes};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use shard_opt::ir::sharding::axes;
use shard_opt::ir::{FuncResult, Module, ShardingId, TypeId, ValueId};
use shard_opt::verify::engine::Interpreter;
use shard_opt::verify::{Prepared, VerifyOptions, deletion, stages};
use shard_opt::{ParseOptions, PartitionOptions, PrintOptions, text};

/// How many cases CI tries of each kind.
const CASES: u32 = 600;

fn number(name: &str) -> Option<u64> {
    var(name).ok()?.parse().ok()
}

/// Tries a property on programs drawn from a seed.
fn check(seed: u64, cases: u32, steps: usize, property: impl Fn(&Program) -> Result<(), String>) {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 4000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&recipes(steps), |recipe| {
        let program = recipe.program();
        match catch_unwind(AssertUnwindSafe(|| property(&program))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) => Err(TestCaseError::fail(message)),
            Err(panic) => {
                let message = panic.downcast_ref::<String>().cloned();
                Err(TestCaseError::fail(format!("panic: {}", message.unwrap_or_default())))
            }
        }
    });
    if let Err(error) = result {
        panic!("seed {seed}: {error}");
    }
}

/// Tries a property on programs of a fixed seed, and on those of a fresh one, of at most so many ops
/// unless `SHARD_OPT_STEPS` says how many.
fn check_both(steps: usize, property: impl Fn(&Program) -> Result<(), String>) {
    let steps = number("SHARD_OPT_STEPS").map_or(steps, |steps| steps as usize);
    let cases = number("SHARD_OPT_CASES").map_or(CASES, |cases| cases as u32);
    if let Some(seed) = number("SHARD_OPT_SEED") {
        return check(seed, cases, steps, property);
    }
    check(1, cases, steps, &property);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = now.map_or(0, |now| now.as_nanos() as u64);
    eprintln!("fresh seed: SHARD_OPT_SEED={seed}");
    check(seed, cases.min(CASES) / 2, steps, &property);
}

fn parse(program: &str) -> Result<Module, String> {
    text::parse(program, &ParseOptions::default())
        .into_result()
        .map_err(|errors| format!("it isn't read: {errors:?}"))
}

/// It is valid, and printing is the inverse of reading.
fn round_trip(program: &Program) -> Result<(), String> {
    let module = parse(&program.text)?;
    let complaints = shard_opt::ir::verify(&module);
    if !complaints.is_empty() {
        return Err(format!("it isn't valid: {complaints:?}"));
    }
    for generic in [false, true] {
        let options = PrintOptions { generic, debug_info: true, ..PrintOptions::default() };
        let printed = text::print(&module, &options);
        let again = text::print(&parse(&printed)?, &options);
        if printed != again {
            return Err("printed again it is another text".to_owned());
        }
    }
    Ok(())
}

/// After every pass, one device or all devices compute what the whole program computes.
fn every_pass_keeps_values(program: &Program) -> Result<(), String> {
    let whole = parse(&program.text)?;
    let options = PartitionOptions { keep_stages: true, ..PartitionOptions::default() };
    let partitioned = shard_opt::passes::pipeline::partition(whole.clone(), &options)
        .map_err(|error| format!("partition: {error:?}"))?;
    for stage in &partitioned.stages {
        let complaints = shard_opt::ir::verify(&stage.module);
        if !complaints.is_empty() {
            return Err(format!("after {}: {complaints:?}", stage.pass));
        }
    }
    let checks = VerifyOptions { runs: 1, seed: 7, ..VerifyOptions::default() };
    let prepared = Prepared::new(&partitioned, &whole, &Interpreter, &checks)
        .map_err(|error| format!("verify: {error}"))?;
    let report = stages::check_stages(&prepared, &partitioned.stages)
        .map_err(|error| format!("verify: {error}"))?;
    if report.passed() { Ok(()) } else { Err(report.to_text(100)) }
}

/// Whether some value is cut into more parts than it has elements along a dimension: then devices
/// hold nothing but padding, and what brings them padding from others is superfluous.
fn has_idle_devices(module: &Module) -> bool {
    let Some(func) = module.main_func() else { return false };
    let idle = |ty: TypeId, sharding: Option<ShardingId>| {
        let (Some(ty), Some(sharding)) = (module.ty(ty).as_tensor(), sharding) else {
            return false;
        };
        let sharding = module.sharding(sharding);
        let parts = (0..ty.rank()).map(|dim| axes::product(sharding.dim_axes(dim)));
        ty.dims.iter().zip(parts).any(|(&size, parts)| parts > 1 && (size as u64) < parts)
    };
    let of_value =
        |&value: &ValueId| idle(module.value_type(value), module.shardings[value].expand());
    let of_result = |result: &FuncResult| idle(result.ty, result.sharding.expand());
    let mut found = module.args(func).iter().any(of_value);
    found |= module.funcs[func].results.iter().any(of_result);
    module.walk(module.funcs[func].body, |op| found |= module.results(op).iter().any(of_value));
    found
}

/// How many collectives a partitioned program has, and those that are superfluous: without one,
/// every result on every device is the same, to the last bit, with all inputs tried.
///
/// What tells nothing is left out: programs with results that are inconclusive (constant or not
/// finite), and fallbacks, which gather more than is needed, and of which a warning says so.
fn superfluous_collectives(program: &Program) -> Result<(usize, Vec<String>), String> {
    let whole = parse(&program.text)?;
    let partitioned =
        shard_opt::passes::pipeline::partition(whole.clone(), &PartitionOptions::default())
            .map_err(|error| format!("partition: {error:?}"))?;
    if has_idle_devices(&partitioned.whole) {
        return Ok((0, Vec::new()));
    }
    let fallbacks: Vec<String> = partitioned
        .fallbacks
        .iter()
        .map(|fallback| format!("operand {} of {}", fallback.operand, fallback.op))
        .collect();
    let mut superfluous: Option<Vec<(usize, String)>> = None;
    let mut count = 0;
    for seed in [7, 8] {
        let checks = VerifyOptions { runs: 2, seed, ..VerifyOptions::default() };
        let prepared = Prepared::new(&partitioned, &whole, &Interpreter, &checks)
            .map_err(|error| format!("verify: {error}"))?;
        let report = deletion::delete_collectives(&partitioned, &prepared, &Interpreter)
            .map_err(|error| format!("deletion: {error}"))?;
        if !report.with_all.passed() {
            return Ok((0, Vec::new()));
        }
        count = report.deleted.len();
        let here = report.deleted.into_iter().enumerate().filter_map(|(index, deleted)| {
            let why = deleted.reason.unwrap_or_default();
            let same = !deleted.noticed && deleted.change == Some(0.0) && !fallbacks.contains(&why);
            same.then(|| (index, format!("{} for {why}", deleted.op)))
        });
        let again = |op: &_| superfluous.as_ref().is_none_or(|before| before.contains(op));
        let here: Vec<(usize, String)> = here.filter(again).collect();
        let done = here.is_empty();
        superfluous = Some(here);
        if done {
            break;
        }
    }
    Ok((count, superfluous.unwrap_or_default().into_iter().map(|(_, text)| text).collect()))
}

/// The same program gets the same shardings, and the same text.
fn partition_is_determined(program: &Program) -> Result<(), String> {
    let partition = || {
        let module = parse(&program.text)?;
        let done = shard_opt::passes::pipeline::partition(module, &PartitionOptions::default())
            .map_err(|error| format!("partition: {error:?}"))?;
        let options = PrintOptions::default();
        Ok::<_, String>((text::print(&done.whole, &options), text::print(&done.module, &options)))
    };
    if partition()? == partition()? { Ok(()) } else { Err("two runs differ".to_owned()) }
}

#[test]
fn generated_programs_survive_printing() {
    check_both(20, round_trip);
}

#[test]
fn generated_programs_are_partitioned_rightly() {
    check_both(10, every_pass_keeps_values);
}

#[test]
fn generated_programs_are_partitioned_alike() {
    check_both(10, partition_is_determined);
}

/// Without any one of its collectives a program gives something else, and `verify` sees it. The few
/// that are superfluous are those where the planner could do better: of values that are the same
/// everywhere, or of operands of which less is needed.
#[test]
fn collectives_of_generated_programs_matter() {
    let cases = number("SHARD_OPT_CASES").map_or(1500, |cases| cases as u32);
    let (total, superfluous) = (Cell::new(0), RefCell::new(Vec::new()));
    check(number("SHARD_OPT_SEED").unwrap_or(1), cases, 10, |program| {
        let (count, found) = superfluous_collectives(program)?;
        total.set(total.get() + count);
        superfluous.borrow_mut().extend(found);
        Ok(())
    });
    let (total, superfluous) = (total.get(), superfluous.into_inner());
    assert!(total * 10 > cases as usize, "{total} collectives say little");
    assert!(
        superfluous.len() * 20 < total,
        "{} of {total} collectives do nothing:\n{}",
        superfluous.len(),
        superfluous.join("\n")
    );
}
