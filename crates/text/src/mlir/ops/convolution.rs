//! `stablehlo.convolution(%0, %1) dim_numbers = ..., window = {...} {...} : (types) -> type`.

use shard_ir::ops::{Flags, Padding};
use shard_ir::{Attr, Dims, ElementType, OpId};

use super::super::parser::{OpStart, Parser, Parts, Read};
use super::{Entry, Pretty};

pub(super) fn pretty(name: &str) -> Option<Pretty> {
    match name {
        "stablehlo.convolution" => Some(convolution),
        _ => None,
    }
}

fn convolution<'a>(p: &mut Parser<'a>, start: &OpStart<'a>, entry: &'static Entry) -> Read<OpId> {
    let mut parts = Parts::default();
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    p.key("dim_numbers")?;
    let dims = p.conv_dims()?;
    p.expect(b',')?;
    p.key("window")?;
    let mut fields = vec![(p.m.symbol("dimension_numbers"), Attr::ConvDims(Box::new(dims)))];
    p.list(b'{', b'}', |p| {
        p.c.skip_space();
        let at = p.c.pos();
        let key = p.c.ident();
        p.expect(b'=')?;
        let (name, attr) = match key {
            "pad" => ("padding", p.padding()?),
            "stride" => ("window_strides", Attr::DenseArray(ElementType::I64, p.dims()?)),
            "lhs_dilate" => ("lhs_dilation", Attr::DenseArray(ElementType::I64, p.dims()?)),
            "rhs_dilate" => ("rhs_dilation", Attr::DenseArray(ElementType::I64, p.dims()?)),
            "reverse" => ("window_reversal", p.reversal()?),
            _ => {
                let end = at + key.len().max(1);
                return p.error(
                    at..end,
                    "expected 'stride', 'pad', 'lhs_dilate', 'rhs_dilate' or 'reverse'",
                );
            }
        };
        let name = p.m.symbol(name);
        if fields.iter().any(|(known, _)| *known == name) {
            return p.error(at..at + key.len(), format!("'{key}' is given twice"));
        }
        fields.push((name, attr));
        Ok(())
    })?;
    p.optional_attr_dict(&mut parts.attrs)?;
    fields.append(&mut parts.attrs);
    let op = p.op_from_attrs(start, entry, &mut fields)?;
    parts.attrs = fields;
    p.functional_type(start, op, parts)
}

impl Parser<'_> {
    /// `[[0, 1], [2, 3]]`.
    fn padding(&mut self) -> Read<Attr> {
        let mut padding = Padding::new();
        self.list(b'[', b']', |p| {
            p.c.skip_space();
            let at = p.c.pos();
            match p.dims()?.as_slice() {
                &[low, high] => padding.push([low, high]),
                _ => {
                    let end = p.c.pos();
                    return p.error(at..end, "padding needs two amounts a dimension");
                }
            }
            Ok(())
        })?;
        let flat: Vec<i64> = padding.iter().flatten().copied().collect();
        let dense = shard_ir::ops::dense_from_i64(&flat, [padding.len() as i64, 2], &mut self.m);
        Ok(Attr::Dense(dense))
    }

    /// `[false, true]` or `[0, 1]`.
    fn reversal(&mut self) -> Read<Attr> {
        let mut flags = Flags::default();
        self.list(b'[', b']', |p| {
            let flag = if p.c.eat_word("true") {
                true
            } else if p.c.eat_word("false") {
                false
            } else {
                p.integer()? != 0
            };
            flags.0.push(flag);
            Ok(())
        })?;
        let values: Dims = flags.0.iter().map(|flag| i64::from(*flag)).collect();
        Ok(Attr::DenseArray(ElementType::I1, values))
    }
}
