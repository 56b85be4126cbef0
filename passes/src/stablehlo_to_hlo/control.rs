//! Loops and branches: what they use from outside becomes part of what they are given, or is made
//! again inside where that takes no room.

use shard_ir::ops::{Control, Hlo, Op};
use shard_ir::{Diagnostic, LocId, Module, OpId, RegionId, Type, TypeId, ValueId};

use super::ops::is_cheap;
use super::{Convert, captured};

impl Convert {
    /// A loop over one tuple: its own values, then what it uses from outside.
    pub(super) fn repeat(
        &mut self,
        module: &mut Module,
        op: OpId,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let regions = module.regions(op).to_vec();
        let mut outside = Vec::new();
        for &region in &regions {
            for value in captured(module, region) {
                if !outside.contains(&value) && !is_cheap(module, value) {
                    outside.push(value);
                }
            }
        }
        let own = module.operands(op).len();
        let mut state = self.operands(module, op);
        state.extend(outside.iter().map(|&value| self.map[value].unwrap_or(value)));
        let loc = module.op(op).loc;
        let input = match state[..] {
            // A loop over one value needs no tuple.
            [only] if own == 1 => only,
            _ => self.tuple(module, &state, loc),
        };
        let ty = module.value_type(input);
        let mut new = Vec::new();
        for (index, &region) in regions.iter().enumerate() {
            let body = index == 1;
            new.push(self.closed(module, region, ty, own, &outside, body)?);
        }
        let repeat = self.at(module, loc).op_typed(Control::While, &[input], &[ty], &new);
        let result = module.result(repeat, 0);
        let mut elements = if state.len() == 1 && own == 1 {
            vec![result]
        } else {
            self.elements(module, result, loc)
        };
        elements.truncate(own);
        Ok(elements)
    }

    /// A region of one parameter of type `ty`, the tuple of its own parameters and of `outside`. A
    /// loop's body returns the latter too.
    fn closed(
        &mut self,
        module: &mut Module,
        old: RegionId,
        ty: TypeId,
        own: usize,
        outside: &[ValueId],
        passes_on: bool,
    ) -> Result<RegionId, Diagnostic> {
        let region = module.new_region();
        let outer = std::mem::replace(&mut self.block, module.new_block(region));
        let param = module.new_param(self.block, ty);
        let parts = match module.ty(ty) {
            Type::Tuple(_) if own + outside.len() != 1 || own == 0 => {
                self.elements(module, param, LocId::UNKNOWN)
            }
            _ => vec![param],
        };
        for (&old, &new) in module.params(module.entry(old)).to_vec().iter().zip(&parts) {
            self.map[old] = Some(new);
        }
        let captured = captured(module, old);
        let cheap = captured.into_iter().filter(|&value| is_cheap(module, value));
        let cheap: Vec<ValueId> = cheap.collect();
        let all = outside.iter().chain(&cheap);
        let before: Vec<(ValueId, Option<ValueId>)> =
            all.map(|&value| (value, self.map[value])).collect();
        for value in cheap {
            self.again(module, value)?;
        }
        for (&value, &new) in outside.iter().zip(&parts[own.min(parts.len())..]) {
            self.map[value] = Some(new);
        }
        let mut returned = self.body(module, old)?;
        if passes_on {
            returned.extend(&parts[own.min(parts.len())..]);
            let one = returned.len() == 1 && own == 1;
            let root = match returned[..] {
                [only] if one => only,
                _ => self.tuple(module, &returned, LocId::UNKNOWN),
            };
            self.at(module, LocId::UNKNOWN).op_typed(Control::Return, &[root], &[], &[]);
        } else {
            self.end(module, &returned);
        }
        for (value, before) in before {
            self.map[value] = before;
        }
        self.block = outer;
        Ok(region)
    }

    /// Branches that are given what they use from outside.
    pub(super) fn branch(
        &mut self,
        module: &mut Module,
        op: OpId,
    ) -> Result<Vec<ValueId>, Diagnostic> {
        let loc = module.op(op).loc;
        let mut operands = self.operands(module, op);
        let mut new = Vec::new();
        for region in module.regions(op).to_vec() {
            let mut outside = captured(module, region);
            outside.retain(|&value| !is_cheap(module, value));
            let values: Vec<ValueId> =
                outside.iter().map(|&value| self.map[value].unwrap_or(value)).collect();
            let input = self.tuple(module, &values, loc);
            operands.push(input);
            let ty = module.value_type(input);
            new.push(self.closed(module, region, ty, 0, &outside, false)?);
        }
        let kind = Op::from(Hlo::Conditional);
        Ok(self.multiple(module, op, kind, &operands, &new))
    }
}
