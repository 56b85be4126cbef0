//! Control flow, calls and terminators.

use shard_ir::ops::Control;
use shard_ir::{OpId, ValueId};

use super::super::Printer;

impl Printer<'_> {
    pub(super) fn control(&mut self, op: OpId, kind: &Control) {
        let m = self.m;
        match kind {
            Control::While => self.while_loop(op),
            Control::If | Control::Case => self.generic_op(op),
            Control::OptimizationBarrier => {
                let types = |values: &[ValueId]| {
                    values.iter().map(|v| m.value_type(*v)).collect::<Vec<_>>()
                };
                if types(m.operands(op)) != types(m.results(op)) {
                    return self.generic_op(op);
                }
                self.op_name(op);
                self.attr_dict(op);
                if m.operands(op).is_empty() {
                    self.str("()");
                    return;
                }
                self.operands(op);
                self.str(" : ");
                self.types_of(m.operands(op));
            }
            Control::Return | Control::FuncReturn => {
                self.func_name(op);
                // As each dialect has it.
                let attrs_first = matches!(kind, Control::FuncReturn);
                if attrs_first {
                    self.attr_dict(op);
                }
                self.operands(op);
                if !attrs_first {
                    self.attr_dict(op);
                }
                if !m.operands(op).is_empty() {
                    self.str(" : ");
                    self.types_of(m.operands(op));
                }
            }
            Control::SdyReturn => {
                self.op_name(op);
                self.attr_dict(op);
                self.operands(op);
                if !m.operands(op).is_empty() {
                    self.str(" : ");
                    self.types_of(m.operands(op));
                }
            }
            Control::Call(call) => {
                self.func_name(op);
                self.str(" ");
                self.symbol(call.callee.0);
                self.str("(");
                self.values(m.operands(op));
                self.str(")");
                self.functional(op);
            }
        }
    }

    /// The name, without `func.` where that is the default.
    fn func_name(&mut self, op: OpId) {
        let name = self.m.op_name(op);
        match name.strip_prefix("func.") {
            Some(short) if self.in_func => self.str(short),
            _ => self.str(name),
        }
    }

    fn while_loop(&mut self, op: OpId) {
        let m = self.m;
        let operands = m.operands(op);
        let regions = m.regions(op);
        let params = m.params(m.entry(regions[1]));
        let same = |values: &[ValueId]| {
            values.len() == operands.len()
                && values.iter().zip(operands).all(|(a, b)| m.value_type(*a) == m.value_type(*b))
        };
        if !same(params)
            || !same(m.params(m.entry(regions[0])))
            || !same(m.results(op))
            || regions.iter().any(|region| m.region(*region).blocks.len() != 1)
        {
            return self.generic_op(op);
        }
        self.op_name(op);
        self.str("(");
        for (at, (&param, &operand)) in params.iter().zip(operands).enumerate() {
            if at > 0 {
                self.str(", ");
            }
            self.value(param);
            self.str(" = ");
            self.value(operand);
        }
        self.str(")");
        if !operands.is_empty() {
            self.str(" : ");
            self.types_of(operands);
        }
        let before = self.out.len();
        self.attr_dict(op);
        if self.out.len() > before {
            self.out.insert_str(before, " attributes");
        }
        self.newline();
        self.str("cond ");
        self.region(regions[0], false, false);
        self.str(" do ");
        self.region(regions[1], false, false);
    }
}
