//! Ops of dialects that aren't modelled, in their pretty form: `arith`, `shape`, `tensor` and the
//! like, which stand beside StableHLO where shapes are computed, and `check` and `interpreter` of
//! StableHLO's own tests. They are kept whole, as [`Opaque`], and printed in generic form.

use shard_ir::ops::{Op, Opaque};
use shard_ir::{Attr, Dense, DenseData, Diagnostic, ElementType, OpId, TensorType, Type, TypeId};
use smallvec::SmallVec;

use super::super::parser::{AttrList, OpStart, Parser, Parts, Read, Types};
use super::super::regions::RegionArg;

/// The pretty form of an op.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// `%0, %1 {...} : type`: the type of all operands and of the result.
    Same,
    /// The same with `overflow<...>` before the attributes.
    Overflow,
    /// The same with `fastmath<...>` before the attributes.
    FastMath,
    /// `%0 {...} : type to type`.
    Cast,
    /// `%0, %1 {...} : types -> types`.
    Arrow,
    /// `%0, %1 {...} : (types) -> types`.
    Functional,
    /// `%0, %1 {...} : types`: the types of the operands.
    Operands,
    /// `{...} value`: the type of the result is that of the attribute `value`.
    Constant,
    /// `eq, %0, %1 : type`: the predicate is one of the words.
    Predicate(&'static [&'static str]),
    /// `%0, %1 : type`: the operands' type, there is no result.
    Pair,
    /// An irregular one.
    Own(for<'a> fn(&mut Parser<'a>, &OpStart<'a>) -> Read<OpId>),
}

/// How an op of a foreign dialect is written.
fn form(name: &str) -> Option<Form> {
    const INTEGERS: &[&str] = &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
    const FLOATS: &[&str] = &[
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult",
        "ule", "une", "uno", "true",
    ];
    let (dialect, op) = name.split_once('.')?;
    Some(match (dialect, op) {
        ("check", "expect_eq" | "expect_almost_eq") => Form::Own(check_pair),
        ("check", "expect_eq_const" | "expect_almost_eq_const") => Form::Own(check_constant),
        ("check", "expect_close") => Form::Own(check_close),
        ("check", "expect_serialized_eq") => Form::Own(check_serialized),
        ("interpreter", "probe") => Form::Own(probe),
        ("interpreter", "print") => Form::Pair,
        ("arith", "constant") => Form::Constant,
        ("arith", "cmpi") => Form::Predicate(INTEGERS),
        ("arith", "cmpf") => Form::Predicate(FLOATS),
        ("arith", "select") => Form::Own(arith_select),
        ("arith", "addi" | "subi" | "muli" | "shli") => Form::Overflow,
        ("arith", "trunci") => Form::Cast,
        (
            "arith",
            "index_cast" | "index_castui" | "extsi" | "extui" | "extf" | "truncf" | "sitofp"
            | "uitofp" | "fptosi" | "fptoui" | "bitcast",
        )
        | ("tensor" | "memref", "cast")
        | ("bufferization", "to_tensor" | "to_buffer")
        | ("builtin", "unrealized_conversion_cast")
        | ("sparse_tensor", "convert") => Form::Cast,
        (
            "arith",
            "addf" | "subf" | "mulf" | "divf" | "remf" | "maximumf" | "minimumf" | "maxnumf"
            | "minnumf" | "negf",
        )
        | ("math", _)
        | ("complex", "add" | "sub" | "mul" | "div" | "neg") => Form::FastMath,
        ("arith", _) => Form::Same,
        ("tensor", "dim") | ("memref", "dim") => Form::Own(tensor_dim),
        ("tensor", "extract") => Form::Own(tensor_extract),
        ("tensor", "insert") => Form::Own(tensor_insert),
        ("tensor", "from_elements") => Form::Own(from_elements),
        ("tensor", "empty") => Form::Own(tensor_empty),
        ("shape", "const_shape") => Form::Own(const_shape),
        ("shape", "cstr_broadcastable") => Form::Own(cstr_broadcastable),
        ("shape", "assuming") => Form::Own(assuming),
        ("shape", "assuming_yield") | ("scf" | "tensor", "yield") => Form::Operands,
        ("shape", "const_size") => Form::Own(const_size),
        ("shape", _) | ("chlo", "ragged_dot") => Form::Arrow,
        ("chlo", "scan") => Form::Own(scan),
        ("scf", "for") => Form::Own(scf_for),
        ("cf", "br") => Form::Own(branch),
        ("func", "func") => Form::Own(|p, start| p.nested_func(start)),
        ("builtin", "module") => Form::Own(|p, start| p.nested_module(start)),
        ("sdy", "mesh") => Form::Own(|p, start| p.nested_mesh(start)),
        ("func", "constant") => Form::Own(func_constant),
        ("func", "call_indirect") => Form::Own(call_indirect),
        ("chlo", "constant") => Form::Constant,
        ("chlo", broadcast) if broadcast.starts_with("broadcast_") => Form::Functional,
        ("tosa", _) => Form::Functional,
        _ => return None,
    })
}

/// Reads an op of a foreign dialect, its name being read; `None` if its form isn't known.
pub(super) fn read<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Option<Read<OpId>> {
    let form = form(start.name)?;
    Some(p.foreign(start, form))
}

impl<'a> Parser<'a> {
    fn foreign(&mut self, start: &OpStart<'a>, form: Form) -> Read<OpId> {
        let mut parts = Parts::default();
        let mut properties = AttrList::new();
        match form {
            Form::Own(read) => return read(self, start),
            Form::Constant => {
                self.optional_attr_dict(&mut parts.attrs)?;
                self.c.skip_space();
                let at = self.c.pos();
                let value = self.attr()?;
                parts.results.push(self.type_of_attr(&value, at)?);
                self.property(&mut properties, "value", value);
                return self.finish_foreign(start, properties, parts);
            }
            Form::Predicate(words) => {
                self.c.skip_space();
                let number = self.enumeration("a predicate such as 'eq' or 'olt'", |word| {
                    words.iter().position(|known| *known == word)
                })?;
                let ty = self.m.scalar(ElementType::I64);
                self.property(&mut properties, "predicate", Attr::Int(number as i128, ty));
                self.expect(b',')?;
            }
            _ => {}
        }
        self.operands(&mut parts.operands)?;
        match form {
            Form::Overflow => self.flags(&mut properties, "overflow", "overflowFlags")?,
            Form::FastMath => self.flags(&mut properties, "fastmath", "fastmath")?,
            Form::Predicate(_) if start.name == "arith.cmpf" => {
                self.flags(&mut properties, "fastmath", "fastmath")?;
            }
            _ => {}
        }
        self.optional_attr_dict(&mut parts.attrs)?;
        if matches!(form, Form::Operands) && parts.operands.is_empty() {
            return self.finish_foreign(start, properties, parts);
        }
        self.expect(b':')?;
        self.c.skip_space();
        let at = self.c.pos();
        match form {
            Form::Functional => {
                let (inputs, results) = self.function_type()?;
                self.check_types(at, &parts.operands, &inputs)?;
                parts.results = results;
                // What an op of CHLO or TOSA has by its definition is a property.
                properties.append(&mut parts.attrs);
                parts.attrs = self.split_discardable(&mut properties);
            }
            Form::Arrow => {
                let mut inputs = Types::new();
                self.type_list(&mut inputs)?;
                self.check_types(at, &parts.operands, &inputs)?;
                self.expect_str("->")?;
                self.result_types(&mut parts.results)?;
                if start.name.starts_with("chlo.") {
                    properties.append(&mut parts.attrs);
                    parts.attrs = self.split_discardable(&mut properties);
                }
            }
            Form::Operands => {
                let mut inputs = Types::new();
                self.type_list(&mut inputs)?;
                self.check_types(at, &parts.operands, &inputs)?;
            }
            Form::Cast => {
                let mut inputs = Types::new();
                self.type_list(&mut inputs)?;
                self.check_types(at, &parts.operands, &inputs)?;
                self.expect_word("to")?;
                self.type_list(&mut parts.results)?;
            }
            _ => {
                let ty = self.ty()?;
                let types = vec![ty; parts.operands.len()];
                self.check_types(at, &parts.operands, &types)?;
                match form {
                    Form::Pair => {}
                    Form::Predicate(_) => {
                        let result = self.with_element(ty, ElementType::I1);
                        parts.results.push(result);
                    }
                    _ => parts.results.push(ty),
                }
            }
        }
        self.finish_foreign(start, properties, parts)
    }

    /// Takes out of the properties those that belong to another dialect: `mhlo.sharding`.
    fn split_discardable(&mut self, properties: &mut AttrList) -> AttrList {
        let mut discardable = AttrList::new();
        let m = &self.m;
        properties.retain(|(name, attr)| {
            let foreign = m.str(*name).contains('.');
            if foreign {
                discardable.push((*name, attr.clone()));
            }
            !foreign
        });
        discardable
    }

    fn property(&mut self, properties: &mut AttrList, name: &str, value: Attr) {
        let name = self.m.symbol(name);
        properties.push((name, value));
    }

    /// `word<flag, ...>`, or none of the flags.
    fn flags(&mut self, properties: &mut AttrList, word: &str, name: &str) -> Read<()> {
        let mut body = "<none>";
        if self.c.eat_word(word) {
            let at = self.c.pos();
            self.balanced("list of flags")?;
            body = self.c.slice_from(at);
        }
        let text = self.m.symbol(&format!("#arith.{word}{body}"));
        self.property(properties, name, Attr::Text(text));
        Ok(())
    }

    /// The type that an attribute has.
    fn type_of_attr(&mut self, attr: &Attr, at: usize) -> Read<TypeId> {
        match attr {
            Attr::Int(_, ty) | Attr::Float(_, ty) => Ok(*ty),
            Attr::Dense(dense) => Ok(dense.ty),
            Attr::Bool(_) => Ok(self.m.scalar(ElementType::I1)),
            _ => {
                let end = self.c.pos();
                self.report(
                    Diagnostic::error("the value of this constant has no type")
                        .at(at..end)
                        .help("write a number or dense<...> with its type"),
                )
            }
        }
    }

    /// The type with another type of elements.
    fn with_element(&mut self, ty: TypeId, element: ElementType) -> TypeId {
        match self.m.ty(ty).clone() {
            Type::Tensor(tensor) => self.m.type_id(Type::Tensor(TensorType { element, ..tensor })),
            Type::Unranked(_) => self.m.type_id(Type::Unranked(element)),
            _ => self.m.scalar(element),
        }
    }

    /// The type of the elements.
    fn element_type(&mut self, ty: TypeId, at: usize) -> Read<TypeId> {
        match self.m.ty(ty) {
            Type::Tensor(TensorType { element, .. }) | Type::Unranked(element) => {
                let element = *element;
                Ok(self.m.scalar(element))
            }
            _ => {
                let end = self.c.pos();
                self.error(at..end, "expected the type of a tensor")
            }
        }
    }

    /// Makes an op that is kept whole.
    pub(crate) fn finish_foreign(
        &mut self,
        start: &OpStart<'a>,
        properties: AttrList,
        parts: Parts,
    ) -> Read<OpId> {
        let op = Opaque {
            name: self.m.symbol(start.name),
            properties: self.sorted(properties),
            successors: Vec::new(),
        };
        self.finish(start, Op::Opaque(Box::new(op)), parts)
    }

    /// `, word = value`, if it comes next, as a property of the type.
    fn keyed_property(
        &mut self,
        properties: &mut AttrList,
        word: &str,
        name: &str,
        element: ElementType,
    ) -> Read<bool> {
        let back = self.c.pos();
        if !(self.c.eat(b',') && self.c.eat_word(word) && self.c.eat(b'=')) {
            self.c.set_pos(back);
            return Ok(false);
        }
        let ty = self.m.scalar(element);
        let value = if self.c.peek() == b'"' {
            Attr::String(self.string_symbol()?)
        } else if element.is_float() {
            let at = self.c.pos();
            let literal = self.number();
            match crate::float::parse(literal, element) {
                Some(value) => Attr::Float(value.to_bits(), ty),
                None => return self.error(at..at + literal.len().max(1), "expected a float"),
            }
        } else {
            // As 64 bits without a sign.
            let value = self.integer()?;
            Attr::Int(
                if element == ElementType::UI64 { (value as u64).into() } else { value.into() },
                ty,
            )
        };
        self.property(properties, name, value);
        Ok(true)
    }

    /// `: type`, the type of all operands.
    fn operand_type(&mut self, parts: &Parts) -> Read<TypeId> {
        self.expect(b':')?;
        self.c.skip_space();
        let at = self.c.pos();
        let ty = self.ty()?;
        let types = vec![ty; parts.operands.len()];
        self.check_types(at, &parts.operands, &types)?;
        Ok(ty)
    }
}

/// `%0, dense<...> : type, tolerance = 0.1`.
fn check_constant<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    p.c.skip_space();
    let at = p.c.pos();
    let value = p.attr()?;
    let ty = p.type_of_attr(&value, at)?;
    p.check_types(at, &parts.operands, &[ty])?;
    p.property(&mut properties, "value", value);
    p.keyed_property(&mut properties, "tolerance", "tolerance", ElementType::F64)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.finish_foreign(start, properties, parts)
}

/// `%0, %1, tolerance = 0.1 : type`.
fn check_pair<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    parts.operands.push(p.operand()?);
    p.keyed_property(&mut properties, "tolerance", "tolerance", ElementType::F64)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.operand_type(&parts)?;
    p.finish_foreign(start, properties, parts)
}

/// `%0, %1, max_ulp_difference = 3, min_ulp_difference = 0 : type, type`.
fn check_close<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    parts.operands.push(p.operand()?);
    p.expect(b',')?;
    parts.operands.push(p.operand()?);
    for name in ["max_ulp_difference", "min_ulp_difference"] {
        p.keyed_property(&mut properties, name, name, ElementType::UI64)?;
    }
    p.expect(b':')?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.c.skip_space();
    let at = p.c.pos();
    let mut types = Types::new();
    p.type_list(&mut types)?;
    p.check_types(at, &parts.operands, &types)?;
    p.finish_foreign(start, properties, parts)
}

/// `%0, probe_id = "a", iter = 1 : type`.
fn check_serialized<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    parts.operands.push(p.operand()?);
    p.keyed_property(&mut properties, "probe_id", "probe_id", ElementType::UI32)?;
    p.keyed_property(&mut properties, "iter", "iteration", ElementType::UI32)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.operand_type(&parts)?;
    p.finish_foreign(start, properties, parts)
}

/// `%0, probe_id = "a" : type`.
fn probe<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    parts.operands.push(p.operand()?);
    p.keyed_property(&mut properties, "probe_id", "probe_id", ElementType::UI32)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    let ty = p.operand_type(&parts)?;
    parts.results.push(ty);
    p.finish_foreign(start, properties, parts)
}

/// `%p, %a, %b : type`, or `: predicate, type`.
fn arith_select<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    let mut ty = p.ty()?;
    let mut predicate = p.m.scalar(ElementType::I1);
    if p.c.eat(b',') {
        predicate = ty;
        ty = p.ty()?;
    }
    p.check_types(at, &parts.operands, &[predicate, ty, ty])?;
    parts.results.push(ty);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `%0, %1 : type`: the operand's type; the other one and the result are indices.
fn tensor_dim<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    let (at, ty) = attrs_and_type(p, &mut parts)?;
    let index = p.m.scalar(ElementType::Index);
    p.check_types(at, &parts.operands, &[ty, index])?;
    parts.results.push(index);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `%0[%1, %2] : type`.
fn tensor_extract<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b'[')?;
    p.operands(&mut parts.operands)?;
    p.expect(b']')?;
    let (at, ty) = attrs_and_type(p, &mut parts)?;
    let first = [parts.operands[0]];
    p.check_types(at, &first, &[ty])?;
    let element = p.element_type(ty, at)?;
    parts.results.push(element);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `%0 into %1[%2] : type`.
fn tensor_insert<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect_word("into")?;
    parts.operands.push(p.operand()?);
    p.expect(b'[')?;
    p.operands(&mut parts.operands)?;
    p.expect(b']')?;
    let (at, ty) = attrs_and_type(p, &mut parts)?;
    let target = [parts.operands[1]];
    p.check_types(at, &target, &[ty])?;
    parts.results.push(ty);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `%0, %1 : type`: the result's type.
fn from_elements<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    let (at, ty) = attrs_and_type(p, &mut parts)?;
    let element = p.element_type(ty, at)?;
    let types = vec![element; parts.operands.len()];
    p.check_types(at, &parts.operands, &types)?;
    parts.results.push(ty);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `(%0, %1) : type`.
fn tensor_empty<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    parts.results.push(p.ty()?);
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `[1, 2] : type`.
fn const_shape<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    p.optional_attr_dict(&mut parts.attrs)?;
    let dims = p.dims()?;
    p.expect(b':')?;
    parts.results.push(p.ty()?);
    let tensor = TensorType::new(ElementType::Index, [dims.len() as i64]);
    let ty = p.m.type_id(Type::Tensor(tensor));
    let bytes = dims.iter().flat_map(|dim| dim.to_le_bytes()).collect();
    let data = DenseData::from_bytes(bytes, 8);
    p.property(&mut properties, "shape", Attr::Dense(Dense { ty, data }));
    p.finish_foreign(start, properties, parts)
}

/// `3`, of type `!shape.size`.
fn const_size<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    let value = p.integer()?;
    p.optional_attr_dict(&mut parts.attrs)?;
    let index = p.m.scalar(ElementType::Index);
    p.property(&mut properties, "value", Attr::Int(value.into(), index));
    let size = p.m.symbol("!shape.size");
    parts.results.push(p.m.type_id(Type::Opaque(size)));
    p.finish_foreign(start, properties, parts)
}

/// `%0, %1 : types`, giving a witness.
fn cstr_broadcastable<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.operands(&mut parts.operands)?;
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    let mut types = Types::new();
    p.type_list(&mut types)?;
    p.check_types(at, &parts.operands, &types)?;
    let witness = p.m.symbol("!shape.witness");
    parts.results.push(p.m.type_id(Type::Opaque(witness)));
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `%0 -> (types) {...}`.
fn assuming<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    if p.c.eat_str("->") {
        p.result_types(&mut parts.results)?;
    }
    parts.regions.push(p.region(&[], false)?);
    p.optional_attr_dict(&mut parts.attrs)?;
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `@name : type`.
fn func_constant<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    p.optional_attr_dict(&mut parts.attrs)?;
    let value = p.attr()?;
    p.property(&mut properties, "value", value);
    p.expect(b':')?;
    parts.results.push(p.ty()?);
    p.finish_foreign(start, properties, parts)
}

/// `%f(%0, %1) : (types) -> types`, the type of the function.
fn call_indirect<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    parts.operands.push(p.operand()?);
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    let (at, ty) = attrs_and_type(p, &mut parts)?;
    let Type::Function { inputs, results } = p.m.ty(ty).clone() else {
        let end = p.c.pos();
        return p.error(at..end, "expected the type of a function");
    };
    let types: Types = std::iter::once(ty).chain(inputs.iter().copied()).collect();
    p.check_types(at, &parts.operands, &types)?;
    parts.results.extend(results.iter().copied());
    p.finish_foreign(start, AttrList::new(), parts)
}

/// `^bb1(%0, %1 : types)`.
fn branch<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    p.c.skip_space();
    let at = p.c.pos();
    p.expect(b'^')?;
    let label = p.c.suffix();
    if p.c.eat(b'(') {
        p.operands(&mut parts.operands)?;
        p.expect(b':')?;
        let at = p.c.pos();
        let mut types = Types::new();
        p.type_list(&mut types)?;
        p.check_types(at, &parts.operands, &types)?;
        p.expect(b')')?;
    }
    p.optional_attr_dict(&mut parts.attrs)?;
    let name = p.m.symbol(start.name);
    let op = Opaque { name, properties: Vec::new(), successors: vec![0] };
    let op = p.finish(start, Op::Opaque(Box::new(op)), parts)?;
    p.label_uses.push((op, 0, label, at));
    Ok(op)
}

/// `%i = %0 to %1 step %2 iter_args(%a = %b) -> (types) : type {...}`.
fn scf_for<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let mut parts = Parts::default();
    let mut args: SmallVec<[RegionArg<'a>; 4]> = SmallVec::new();
    let index = p.m.scalar(ElementType::Index);
    let (name, at) = p.value_name()?;
    args.push(RegionArg { name, at, ty: index, loc: None });
    p.expect(b'=')?;
    parts.operands.push(p.operand()?);
    p.expect_word("to")?;
    parts.operands.push(p.operand()?);
    p.expect_word("step")?;
    parts.operands.push(p.operand()?);
    if p.c.eat_word("iter_args") {
        p.list(b'(', b')', |p| {
            let (name, at) = p.value_name()?;
            p.expect(b'=')?;
            let value = p.operand()?;
            let ty = p.m.value_type(value);
            args.push(RegionArg { name, at, ty, loc: None });
            parts.operands.push(value);
            Ok(())
        })?;
        p.expect_str("->")?;
        p.result_types(&mut parts.results)?;
    }
    if p.c.eat(b':') {
        args[0].ty = p.ty()?;
    }
    let region = p.region(&args, false)?;
    p.close_with_yield(region, "scf.yield");
    parts.regions.push(region);
    p.optional_attr_dict(&mut parts.attrs)?;
    p.finish_foreign(start, AttrList::new(), parts)
}

impl Parser<'_> {
    /// Ends a region that yields nothing and says nothing of it.
    fn close_with_yield(&mut self, region: shard_ir::RegionId, name: &str) {
        let entry = self.m.entry(region);
        let ends = self.m.block_ops(entry).last().is_some_and(|op| self.m.op_name(*op) == name);
        if !ends {
            let name = self.m.symbol(name);
            let op = Opaque { name, properties: Vec::new(), successors: Vec::new() };
            let op = Op::Opaque(Box::new(op));
            let op = self.m.new_op(op, &[], &[], &[], shard_ir::LocId::UNKNOWN);
            self.m.block_mut(entry).ops.push(op);
        }
    }
}

/// `(%0) inits (%1) dimension = 0 attributes {...} {region} : (types) -> types`.
fn scan<'a>(p: &mut Parser<'a>, start: &OpStart<'a>) -> Read<OpId> {
    let (mut parts, mut properties) = (Parts::default(), AttrList::new());
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    let inputs = parts.operands.len();
    p.expect_word("inits")?;
    p.expect(b'(')?;
    p.operands(&mut parts.operands)?;
    p.expect(b')')?;
    let inits = parts.operands.len() - inputs;
    p.key("dimension")?;
    let dimension = p.integer()?;
    let i64_type = p.m.scalar(ElementType::I64);
    if p.c.eat_word("attributes") {
        p.attr_dict(&mut properties)?;
    }
    parts.attrs = p.split_discardable(&mut properties);
    p.property(&mut properties, "dimension", Attr::Int(dimension.into(), i64_type));
    let region = p.region(&[], false)?;
    parts.regions.push(region);
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    let (types, results) = p.function_type()?;
    p.check_types(at, &parts.operands, &types)?;
    let outputs = results.len().saturating_sub(inits);
    parts.results = results;
    for (name, sizes) in
        [("operandSegmentSizes", [inputs, inits]), ("resultSegmentSizes", [outputs, inits])]
    {
        let sizes = sizes.iter().map(|size| *size as i64).collect();
        p.property(&mut properties, name, Attr::DenseArray(ElementType::I32, sizes));
    }
    p.finish_foreign(start, properties, parts)
}

/// `{attrs} : type`, the end of most ops: where the type begins, and the type.
fn attrs_and_type(p: &mut Parser<'_>, parts: &mut Parts) -> Read<(usize, TypeId)> {
    p.optional_attr_dict(&mut parts.attrs)?;
    p.expect(b':')?;
    p.c.skip_space();
    let at = p.c.pos();
    Ok((at, p.ty()?))
}
