//! What is known before and after the sweeps: the results of functions, and the outcome.

use cranelift_entity::SecondaryMap;
use shard_ir::ops::{Op, Sdy};
use shard_ir::{FuncId, ValueId};

use super::manual;
use super::setup::{RecKind, Setup, Ssa, ssa};
use super::sweep::{Engine, EntryResults};
use super::table::SharedSharding;
use super::{Border, Propagation, rewired};

impl Engine<'_, '_> {
    pub(super) fn finish(mut self) -> Propagation {
        let module = self.setup.module;
        let mut shardings = SecondaryMap::with_capacity(module.value_count());
        for value in (0..module.value_count() as u32).map(ValueId::from_u32) {
            let sharding = match self.graph.node_of(value) {
                Some(node) => self.graph.sharding(node),
                None => self.setup.given[ssa(value) as usize],
            };
            if !sharding.is_none() {
                shardings[value] = sharding;
            }
        }
        let mut func_results: SecondaryMap<FuncId, Vec<SharedSharding>> = SecondaryMap::new();
        for entry in &self.entries {
            func_results[entry.func].clone_from(&entry.shardings);
        }
        for &func in self.setup.funcs.iter().filter(|&&func| !self.setup.is_entry(func)) {
            let last = module.terminator(module.func_entry(func));
            let returned = last.map_or(&[][..], |last| module.operands(last));
            func_results[func] = returned.iter().map(|&value| shardings[value]).collect();
        }
        let borders = self.borders(&shardings);
        Propagation {
            rewired: rewired(&self.setup),
            table: self.setup.table,
            shardings,
            func_results,
            borders,
            graph: self.graph,
        }
    }

    pub(super) fn borders(
        &mut self,
        shardings: &SecondaryMap<ValueId, SharedSharding>,
    ) -> Vec<Border> {
        let module = self.setup.module;
        let mut borders = Vec::new();
        for rec in 0..self.setup.recs.len() {
            let RecKind::Op(op) = self.setup.recs[rec].kind else { continue };
            let Op::Sdy(Sdy::ManualComputation(_) | Sdy::NamedComputation(_)) = module.kind(op)
            else {
                continue;
            };
            let entry = module.regions(op).first().map(|&region| module.entry(region));
            let params = entry.map_or(&[][..], |entry| module.params(entry));
            let (outer, axes) = self.setup.border(op, true);
            let operands = params
                .iter()
                .enumerate()
                .map(|(index, &param)| {
                    let inside = shardings[param];
                    let outer = outer.get(index).and_then(Option::as_ref);
                    match (outer, self.setup.table.get(inside)) {
                        (Some(outer), Some(current)) => {
                            let crossed = manual::outside(outer, current, &axes);
                            self.setup.table.add(crossed)
                        }
                        _ => inside,
                    }
                })
                .collect();
            let results = module.results(op).iter().map(|&result| shardings[result]).collect();
            borders.push(Border { op, operands, results });
        }
        borders
    }
}

/// What entry functions return, and the shardings that their results are given.
pub(super) fn entry_results(setup: &mut Setup<'_>) -> Vec<EntryResults> {
    let module = setup.module;
    let funcs: Vec<FuncId> = setup.funcs.iter().copied().filter(|&f| setup.is_entry(f)).collect();
    let mut entries = Vec::new();
    for func in funcs {
        let last = module.terminator(module.func_entry(func));
        let rec = last.and_then(|last| setup.rec_of[last].expand());
        let values: Vec<Ssa> = rec.map_or(Vec::new(), |rec| setup.operands(rec.0).to_vec());
        let shardings = (0..values.len())
            .map(|index| {
                let result = module.funcs[func].results.get(index);
                let given = result.and_then(|result| result.sharding.expand());
                let rank =
                    result.and_then(|result| module.ty(result.ty).as_tensor()).map(|ty| ty.rank());
                given
                    .filter(|&given| Some(module.sharding(given).rank()) == rank)
                    .map_or(SharedSharding::NONE, |given| setup.stated(given))
            })
            .collect();
        entries.push(EntryResults { func, values, shardings });
    }
    entries
}
