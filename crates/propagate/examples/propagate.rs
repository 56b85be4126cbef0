//! Propagates shardings through a program and prints it with a sharding on every value.
//!
//!     propagate [--dump] [--time] [--split] [--PASS] [--conservative] FILE
//!
//! With `--split`, splits constants first, as Shardy's import does. With `--time`, runs it many times
//! and prints the shortest time. With `--dump`, prints instead a line for each sharded value and
//! each rule, by the op's `shard.id` (see `tools/compare_propagation.py`). PASS is the part of
//! Shardy's pipeline to do: `basic`, `aggressive`, `op-priority` or `user-priority`, without import
//! (`--edges` after it adds data-flow edges); else all of it.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::time::{Duration, Instant};

use shard_ir::{Attr, AttrsId, BlockId, Module, OpId};
use shard_propagate::rules::rule_with;
use shard_propagate::{Options, Propagation, Strategy, propagate};
use shard_text::{ParseOptions, PrintOptions, parse, print};

fn main() {
    let (mut dump, mut split, mut runs) = (false, false, 1);
    let mut path = None;
    let mut options = Options::default();
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--dump" => dump = true,
            "--split" => split = true,
            "--time" => runs = 30,
            "--edges" => options.add_edges = true,
            "--conservative" => options.conservative = true,
            "--basic" | "--aggressive" | "--op-priority" | "--user-priority" => {
                options.add_edges = false;
                options.apply_constraints = false;
                options.keep_unit_axes = true;
                options.user_priorities = arg == "--user-priority";
                options.op_priorities = options.user_priorities || arg == "--op-priority";
                if arg == "--basic" {
                    options.strategy = Strategy::Basic;
                }
            }
            _ => path = Some(arg),
        }
    }
    let path = path.unwrap_or_else(|| fail("usage: propagate [--dump] [--time] FILE"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
    let mut module = match parse(&text, &ParseOptions::default()).into_result() {
        Ok(module) => module,
        Err(errors) => {
            for error in &errors {
                eprintln!("{}", error.message);
            }
            fail(&format!("{path} is no program"));
        }
    };
    if split && let Err(error) = shard_passes::split_constants::run(&mut module) {
        fail(&error.message);
    }
    let (result, time) = timed(&module, &options, runs);
    eprintln!(
        "here {:.2} ms for {} ops, {} shardings",
        time.as_secs_f64() * 1e3,
        module.op_count(),
        result.table.len()
    );
    if dump {
        print!("{}", Dump { module: &module, result: &result, options: &options }.run());
    } else {
        annotate(&mut module, &result);
        print!("{}", print(&module, &PrintOptions::default()));
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(1);
}

/// Propagates; the shortest time of a few runs.
fn timed(module: &Module, options: &Options, runs: usize) -> (Propagation, Duration) {
    let run = || {
        let start = Instant::now();
        let result = propagate(module, options);
        (result, start.elapsed())
    };
    (0..runs).map(|_| run()).min_by_key(|(_, time)| *time).unwrap_or_else(run)
}

/// Puts the shardings on the module's values.
fn annotate(module: &mut Module, result: &Propagation) {
    let ids: Vec<_> =
        result.table.iter().map(|sharding| module.sharding_id(sharding.clone())).collect();
    let id_of = |shared| {
        let at = result.table.iter().position(|s| Some(s) == result.table.get(shared));
        at.map(|at| ids[at])
    };
    for value in (0..module.value_count() as u32).map(shard_ir::ValueId::from_u32) {
        if let Some(id) = id_of(result.shared(value)) {
            module.shardings[value] = Some(id).into();
        }
    }
    for func in module.func_ids().collect::<Vec<_>>() {
        for index in 0..module.funcs[func].results.len() {
            if let Some(id) = id_of(result.shared_result(func, index)) {
                module.funcs[func].results[index].sharding = Some(id).into();
            }
        }
    }
}

struct Dump<'a> {
    module: &'a Module,
    result: &'a Propagation,
    options: &'a Options,
}

impl Dump<'_> {
    fn tag(&self, attrs: AttrsId) -> Option<i128> {
        match self.module.attr(attrs, "shard.id")? {
            Attr::Int(number, _) => Some(*number),
            _ => None,
        }
    }

    fn text(&self, sharding: &shard_ir::sharding::TensorSharding) -> String {
        sharding.bare_text(&self.module.meshes[sharding.mesh].mesh).to_string()
    }

    fn run(&self) -> String {
        let mut out = String::new();
        let module = self.module;
        for func in module.func_ids() {
            let Some(tag) = self.tag(module.funcs[func].attrs) else { continue };
            for (index, &arg) in module.args(func).iter().enumerate() {
                if let Some(sharding) = self.result.sharding(arg) {
                    out += &format!("{tag} arg {index}: {}\n", self.text(sharding));
                }
            }
            for index in 0..module.funcs[func].results.len() {
                if let Some(sharding) = self.result.func_result(func, index) {
                    out += &format!("{tag} out {index}: {}\n", self.text(sharding));
                }
            }
            module.walk(module.funcs[func].body, |op| self.op(op, &mut out));
        }
        out
    }

    fn op(&self, op: OpId, out: &mut String) {
        let module = self.module;
        let Some(tag) = self.tag(module.op(op).attrs) else { return };
        for (index, &result) in module.results(op).iter().enumerate() {
            if let Some(sharding) = self.result.sharding(result) {
                *out += &format!("{tag} result {index}: {}\n", self.text(sharding));
            }
        }
        let name = module.op_name(op);
        for (region, &id) in module.regions(op).iter().enumerate() {
            let entry: BlockId = module.entry(id);
            // Only these own their edges in Shardy.
            if !matches!(name, "sdy.manual_computation" | "sdy.named_computation") {
                break;
            }
            for (index, &param) in module.params(entry).iter().enumerate() {
                if let Some(sharding) = self.result.sharding(param) {
                    *out += &format!("{tag} param {region} {index}: {}\n", self.text(sharding));
                }
            }
        }
        if let Some(rule) = rule_with(module, op, self.options.conservative) {
            *out += &format!("{tag} rule: {rule}\n");
        }
    }
}
