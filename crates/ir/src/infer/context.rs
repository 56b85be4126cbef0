//! What the families' functions work with: the op's surroundings, and the complaints.

use std::fmt::Write;

use crate::ops::{Arity, Creation, Op, dense_i64};
use crate::{
    AttrsId, DYNAMIC, Dims, ElementType, FuncId, Interner, Module, NumberKind, RegionId, Symbol,
    TensorType, Type, TypeId, ValueId,
};

use super::{FuncTable, InferredType};

/// The types of the results, or `None` where they are unknown or something is wrong.
pub(super) type Found = Option<Vec<InferredType>>;

/// Adds a complaint.
macro_rules! complain {
    ($cx:expr, $($arg:tt)*) => {{
        let message = format!($($arg)*);
        $cx.errors.push(message);
    }};
}

/// Adds a complaint where the condition doesn't hold, and goes on.
macro_rules! check {
    ($cx:expr, $cond:expr, $($arg:tt)*) => {
        if !$cond {
            complain!($cx, $($arg)*);
        }
    };
}

/// Adds a complaint where the condition doesn't hold, and returns `None`.
macro_rules! require {
    ($cx:expr, $cond:expr, $($arg:tt)*) => {
        if !$cond {
            complain!($cx, $($arg)*);
            return None;
        }
    };
}

/// Ends of the complaints about regions that are empty or have no terminator.
pub(super) const IS_EMPTY: &str = "is empty";
pub(super) const NO_RETURN: &str = "doesn't end with a return";

/// An op being looked at.
pub(super) struct Cx<'a> {
    pub module: &'a Module,
    pub operands: &'a [ValueId],
    pub regions: &'a [RegionId],
    /// The result types that the program gives, if any.
    pub declared: Option<&'a [TypeId]>,
    pub funcs: Option<&'a FuncTable>,
    /// The attributes of the op that aren't its fields.
    pub attrs: AttrsId,
    pub errors: Vec<String>,
}

/// Sets of number kinds, as bits.
pub(super) mod kinds {
    pub const BOOL: u8 = 1;
    pub const SIGNED: u8 = 2;
    pub const UNSIGNED: u8 = 4;
    pub const FLOAT: u8 = 8;
    pub const COMPLEX: u8 = 16;
    pub const QUANTIZED: u8 = 32;
    pub const INT: u8 = SIGNED | UNSIGNED;
    pub const ANY: u8 = 63;
}

fn bit(element: ElementType) -> u8 {
    match element.kind() {
        NumberKind::Bool => kinds::BOOL,
        NumberKind::Signed => kinds::SIGNED,
        NumberKind::Unsigned => kinds::UNSIGNED,
        NumberKind::Float => kinds::FLOAT,
        NumberKind::Complex => kinds::COMPLEX,
        NumberKind::Quantized => kinds::QUANTIZED,
    }
}

fn kinds_text(set: u8) -> String {
    let names = [
        (kinds::BOOL, "boolean"),
        (kinds::SIGNED, "signed integer"),
        (kinds::UNSIGNED, "unsigned integer"),
        (kinds::FLOAT, "float"),
        (kinds::COMPLEX, "complex"),
        (kinds::QUANTIZED, "quantized"),
    ];
    let list: Vec<&str> = names.iter().filter(|(bit, _)| set & bit != 0).map(|n| n.1).collect();
    list.join(" or ")
}

/// Whether two sizes can be the same: they are, or one is dynamic.
pub fn compatible_dim(a: i64, b: i64) -> bool {
    a == b || a == DYNAMIC || b == DYNAMIC
}

/// Whether two shapes can be the same: equal ranks, and each two sizes equal or one dynamic.
pub fn compatible_dims(a: &[i64], b: &[i64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| compatible_dim(a, b))
}

/// Whether two element types are the same, or one is quantized and the other quantized or float.
pub fn compatible_element(a: ElementType, b: ElementType) -> bool {
    let loose = |a: ElementType, b: ElementType| {
        a.kind() == NumberKind::Quantized
            && matches!(b.kind(), NumberKind::Quantized | NumberKind::Float)
    };
    a == b || loose(a, b) || loose(b, a)
}

/// Whether an accumulator of type `to` can take elements of type `from`: the same kind of number,
/// and for integers no narrower. Floats of any precision are accepted, as StableHLO does.
pub(super) fn promotable(from: ElementType, to: ElementType) -> bool {
    use NumberKind::{Complex, Float, Quantized, Signed, Unsigned};
    if compatible_element(from, to) {
        return true;
    }
    match (from.kind(), to.kind()) {
        (Float, Float) | (Quantized, Quantized) => true,
        (Signed, Signed) | (Unsigned, Unsigned) | (Complex, Complex) => from.bits() <= to.bits(),
        _ => false,
    }
}

/// The more specific of two compatible shapes: the size that isn't dynamic.
pub(super) fn merge_dims(a: &[i64], b: &[i64]) -> Dims {
    a.iter().zip(b).map(|(&a, &b)| if a == DYNAMIC { b } else { a }).collect()
}

/// The real part's type of a complex one, else the type itself.
pub(super) fn real_part(element: ElementType) -> ElementType {
    match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

/// A shape such as `[4, ?, 8]`.
pub(super) fn dims_text(dims: &[i64]) -> String {
    let list: Vec<String> = dims.iter().map(|&dim| size(dim)).collect();
    format!("[{}]", list.join(", "))
}

/// A size, `?` where it is dynamic.
pub(super) fn size(dim: i64) -> String {
    if dim == DYNAMIC { "?".to_owned() } else { dim.to_string() }
}

fn write_type(interner: &Interner, id: TypeId, depth: usize, out: &mut String) {
    let list = |ids: &[TypeId], out: &mut String| {
        for (at, &id) in ids.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            if depth < 8 {
                write_type(interner, id, depth + 1, out);
            } else {
                out.push_str("...");
            }
        }
    };
    match interner.ty(id) {
        Type::Tensor(ty) => out.push_str(&tensor_text(interner, ty)),
        Type::Unranked(element) => _ = write!(out, "tensor<*x{element}>"),
        Type::Token => out.push_str("!stablehlo.token"),
        Type::Tuple(parts) => {
            out.push_str("tuple<");
            list(parts, out);
            out.push('>');
        }
        Type::Function { inputs, results } => {
            out.push('(');
            list(inputs, out);
            out.push_str(") -> (");
            list(results, out);
            out.push(')');
        }
        Type::Scalar(element) => _ = write!(out, "{element}"),
        Type::None => out.push_str("none"),
        Type::Opaque(text) => out.push_str(interner.str(*text)),
    }
}

/// A tensor type in MLIR's spelling.
pub(super) fn tensor_text(interner: &Interner, ty: &TensorType) -> String {
    let mut out = "tensor<".to_owned();
    for &dim in &ty.dims {
        out.push_str(&size(dim));
        out.push('x');
    }
    match ty.element {
        ElementType::Quantized(text) => out.push_str(interner.str(text)),
        other => out.push_str(other.mlir_name()),
    }
    if let Some(encoding) = ty.encoding {
        out.push_str(", ");
        out.push_str(interner.str(encoding));
    }
    out.push('>');
    out
}

/// A type in MLIR's spelling, for messages; what is nested deeper than 8 levels is left out.
pub fn type_text(interner: &Interner, id: TypeId) -> String {
    let mut out = String::new();
    write_type(interner, id, 0, &mut out);
    out
}

/// Types in MLIR's spelling, with commas.
pub(super) fn types_text(interner: &Interner, ids: &[TypeId]) -> String {
    let list: Vec<String> = ids.iter().map(|&id| type_text(interner, id)).collect();
    format!("({})", list.join(", "))
}

impl std::fmt::Display for Arity {
    /// As the end of a sentence: "expected exactly 2".
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arity::Exactly(count) => write!(f, "expected exactly {count}"),
            Arity::AtLeast(count) => write!(f, "expected at least {count}"),
        }
    }
}

impl<'a> Cx<'a> {
    pub fn new(
        module: &'a Module,
        operands: &'a [ValueId],
        regions: &'a [RegionId],
        declared: Option<&'a [TypeId]>,
        funcs: Option<&'a FuncTable>,
    ) -> Self {
        let attrs = AttrsId::EMPTY;
        Cx { module, operands, regions, declared, funcs, attrs, errors: Vec::new() }
    }

    /// The type of an operand.
    pub fn operand_type(&self, index: usize) -> TypeId {
        self.module.value_type(self.operands[index])
    }

    /// The types of all operands.
    pub fn operand_types(&self) -> Vec<TypeId> {
        self.operands.iter().map(|&value| self.module.value_type(value)).collect()
    }

    pub fn show(&self, id: TypeId) -> String {
        type_text(self.module, id)
    }

    pub fn show_tensor(&self, ty: &TensorType) -> String {
        tensor_text(self.module, ty)
    }

    /// An element type's spelling.
    pub fn show_element(&self, element: ElementType) -> &'a str {
        match element {
            ElementType::Quantized(text) => self.module.str(text),
            other => other.mlir_name(),
        }
    }

    /// An operand that must be a ranked tensor.
    pub fn tensor(&mut self, index: usize, name: &str) -> Option<&'a TensorType> {
        let id = self.operand_type(index);
        let module = self.module;
        let ty = module.ty(id).as_tensor();
        if ty.is_none() {
            complain!(self, "{name} has type {}, not a ranked tensor", self.show(id));
        }
        ty
    }

    /// Operands that must be ranked tensors.
    pub fn tensors(
        &mut self,
        range: std::ops::Range<usize>,
        name: &str,
    ) -> Option<Vec<&'a TensorType>> {
        range.map(|at| self.tensor(at, &format!("{name} {at}"))).collect()
    }

    /// An operand that must be a scalar of one of the kinds.
    pub fn scalar(&mut self, index: usize, name: &str, set: u8) -> Option<&'a TensorType> {
        let ty = self.tensor(index, name)?;
        check!(self, ty.rank() == 0, "{name} has rank {}, not 0", ty.rank());
        self.kind(ty, name, set);
        Some(ty)
    }

    /// The integers of an operand that is a constant, by way of nothing but the constant.
    pub fn constant_dims(&self, index: usize) -> Option<Dims> {
        let op = self.module.defining_op(*self.operands.get(index)?)?;
        match self.module.kind(op) {
            Op::Creation(Creation::Constant(op)) => dense_i64(&op.value, self.module),
            _ => None,
        }
    }

    /// A shape, or amounts of a dimension each, that is an operand: an integer for each dimension
    /// of a known rank. Returns the integers where they are constants.
    pub fn shape_operand(
        &mut self,
        index: usize,
        name: &str,
        rank: Option<usize>,
    ) -> Option<Option<Dims>> {
        let count = self.index_vector(index, name)?;
        require!(self, count != DYNAMIC, "{name} has a dynamic number of elements");
        if let Some(rank) = rank {
            let fits = usize::try_from(count) == Ok(rank);
            require!(self, fits, "{name} has {count} elements for {rank} dimensions");
        }
        Some(self.constant_dims(index))
    }

    /// Complains where the result's shape isn't the one that is a constant operand.
    pub fn constant_shape(&mut self, name: &str, dims: &[i64], result: &TensorType) {
        let fits = dims.iter().all(|&dim| dim >= 0) && compatible_dims(dims, &result.dims);
        check!(
            self,
            fits,
            "{name} is {}, the result's shape {}",
            dims_text(dims),
            dims_text(&result.dims)
        );
    }

    /// Complains where a result that the program gives a type is dynamic without bounds.
    pub fn static_result(&mut self, result: &TensorType) {
        check!(
            self,
            result.is_static() || result.encoding.is_some(),
            "result has the dynamic shape {}, without bounds",
            dims_text(&result.dims)
        );
    }

    /// An operand that must be a one-dimensional tensor of integers, whose size is returned.
    pub fn index_vector(&mut self, index: usize, name: &str) -> Option<i64> {
        let ty = self.tensor(index, name)?;
        self.kind(ty, name, kinds::INT);
        require!(self, ty.rank() == 1, "{name} has rank {}, not 1", ty.rank());
        Some(ty.dims[0])
    }

    /// Complains where the elements aren't of one of the kinds.
    pub fn kind(&mut self, ty: &TensorType, name: &str, set: u8) {
        check!(
            self,
            bit(ty.element) & set != 0,
            "{name} has element type {}, not {}",
            self.show_element(ty.element),
            kinds_text(set)
        );
    }

    /// Complains where two element types differ.
    pub fn same_element(&mut self, a: (&str, &TensorType), b: (&str, &TensorType)) {
        check!(
            self,
            compatible_element(a.1.element, b.1.element),
            "element type of {} is {}, of {} {}",
            a.0,
            self.show_element(a.1.element),
            b.0,
            self.show_element(b.1.element)
        );
    }

    /// Complains where two shapes aren't compatible.
    pub fn same_shape(&mut self, a: (&str, &[i64]), b: (&str, &[i64])) -> Option<()> {
        if a.1.len() != b.1.len() {
            complain!(self, "{} has rank {}, {} {}", a.0, a.1.len(), b.0, b.1.len());
            return None;
        }
        for (at, (&x, &y)) in a.1.iter().zip(b.1).enumerate() {
            require!(
                self,
                compatible_dim(x, y),
                "dimension {at} of {} is {}, of {} {}",
                a.0,
                size(x),
                b.0,
                size(y)
            );
        }
        Some(())
    }

    /// A dimension number as an index; complains where it is out of range.
    pub fn dim(&mut self, name: &str, dim: i64, rank: usize) -> Option<usize> {
        match usize::try_from(dim) {
            Ok(at) if at < rank => Some(at),
            _ => {
                complain!(self, "{name} is {dim}, out of range for rank {rank}");
                None
            }
        }
    }

    /// Dimension numbers as indices; complains where one is out of range or appears twice.
    pub fn dims(&mut self, name: &str, dims: &[i64], rank: usize) -> Option<Vec<usize>> {
        let mut seen = vec![false; rank];
        let mut list = Vec::with_capacity(dims.len());
        for &dim in dims {
            let at = self.dim(name, dim, rank)?;
            require!(self, !seen[at], "{name} {} names dimension {dim} twice", dims_text(dims));
            seen[at] = true;
            list.push(at);
        }
        Some(list)
    }

    /// Complains where a list of numbers, one a dimension, has another length.
    pub fn per_dim(&mut self, name: &str, len: usize, rank: usize) -> Option<()> {
        require!(self, len == rank, "{name} has {len} elements for {rank} dimensions");
        Some(())
    }

    /// Complains where numbers aren't in strictly ascending order.
    pub fn ascending(&mut self, name: &str, dims: &[i64]) -> Option<()> {
        let sorted = dims.windows(2).all(|pair| pair[0] < pair[1]);
        require!(self, sorted, "{name} {} isn't in ascending order", dims_text(dims));
        Some(())
    }

    /// The given type of a result, if the program gives a tensor.
    pub fn declared_tensor(&mut self, index: usize) -> Option<&'a TensorType> {
        let id = *self.declared?.get(index)?;
        let module = self.module;
        let ty = module.ty(id).as_tensor();
        if ty.is_none() {
            complain!(self, "result {index} has type {}, not a ranked tensor", self.show(id));
        }
        ty
    }

    /// The types are what the program says: only their number is known, where it gives them.
    pub fn all_given(&self) -> Found {
        self.declared.map(|types| vec![InferredType::Given; types.len()])
    }

    /// The functions named `name`.
    pub fn func(&self, name: Symbol) -> Option<FuncId> {
        match self.funcs {
            Some(table) => table.get(&name).copied(),
            None => self.module.find_func(name),
        }
    }

    /// The types of the parameters of a region's entry block; complains where it has no block.
    pub fn region_params(&mut self, index: usize) -> Option<Vec<TypeId>> {
        let region = self.module.region(self.regions[index]);
        require!(self, !region.blocks.is_empty(), "region {index} {IS_EMPTY}");
        let params = self.module.params(region.blocks[0]);
        Some(params.iter().map(|&value| self.module.value_type(value)).collect())
    }

    /// The types of what a region returns; complains where it has no terminator.
    pub fn region_returns(&mut self, index: usize) -> Option<Vec<TypeId>> {
        let module = self.module;
        let last = module.region(self.regions[index]).blocks.last();
        let terminator = last.and_then(|&block| module.terminator(block));
        require!(self, terminator.is_some(), "region {index} {NO_RETURN}");
        let values = module.operands(terminator?);
        Some(values.iter().map(|&value| module.value_type(value)).collect())
    }

    /// Whether two types can be the same.
    pub fn compatible(&self, a: TypeId, b: TypeId) -> bool {
        if a == b {
            return true;
        }
        match (self.module.ty(a), self.module.ty(b)) {
            (Type::Tensor(a), Type::Tensor(b)) => {
                compatible_element(a.element, b.element) && compatible_dims(&a.dims, &b.dims)
            }
            (Type::Tuple(a), Type::Tuple(b)) => {
                // One level: tuples inside tuples must be the same.
                a.len() == b.len()
                    && a.iter().zip(b).all(|(&a, &b)| {
                        a == b
                            || match (self.module.ty(a), self.module.ty(b)) {
                                (Type::Tensor(a), Type::Tensor(b)) => {
                                    compatible_element(a.element, b.element)
                                        && compatible_dims(&a.dims, &b.dims)
                                }
                                _ => false,
                            }
                    })
            }
            _ => false,
        }
    }

    /// Complains where two lists of types differ in number or aren't compatible.
    pub fn same_types(&mut self, a: (&str, &[TypeId]), b: (&str, &[TypeId])) -> Option<()> {
        if a.1.len() != b.1.len() {
            complain!(self, "there are {} {}, but {} {}", a.1.len(), a.0, b.1.len(), b.0);
            return None;
        }
        for (at, (&x, &y)) in a.1.iter().zip(b.1).enumerate() {
            require!(
                self,
                self.compatible(x, y),
                "number {at} of the {} has type {}, of the {} {}",
                a.0,
                self.show(x),
                b.0,
                self.show(y)
            );
        }
        Some(())
    }

    /// Complains where the given result types don't fit what was inferred.
    pub fn compare(&mut self, found: &[InferredType]) {
        let Some(declared) = self.declared else { return };
        if declared.len() != found.len() {
            complain!(self, "has {} results, but {} are expected", declared.len(), found.len());
            return;
        }
        for (at, (&id, found)) in declared.iter().zip(found).enumerate() {
            let given = self.module.ty(id);
            let tensor = given.as_tensor();
            let (fits, expected) = match found {
                InferredType::Tensor(ty) => (
                    tensor.is_some_and(|given| {
                        compatible_dims(&given.dims, &ty.dims)
                            && compatible_element(given.element, ty.element)
                    }),
                    Some(self.show_tensor(ty)),
                ),
                InferredType::TensorOr(TensorType { dims, .. }) | InferredType::Shape(dims) => (
                    tensor.is_some_and(|given| compatible_dims(&given.dims, dims)),
                    Some(format!("a tensor of shape {}", dims_text(dims))),
                ),
                InferredType::Known(ty) => (self.compatible(id, *ty), Some(self.show(*ty))),
                InferredType::Token => (*given == Type::Token, Some("a token".to_owned())),
                InferredType::Tuple(parts) => (
                    matches!(given, Type::Tuple(given) if given == parts),
                    Some(format!("a tuple of {}", types_text(self.module, parts))),
                ),
                InferredType::Given => (true, None),
            };
            if let (false, Some(expected)) = (fits, expected) {
                complain!(self, "result {at} has type {}, expected {expected}", self.show(id));
            }
        }
    }
}

/// `count` times the type of an operand.
pub(super) fn like(ty: &TensorType) -> Found {
    Some(vec![InferredType::Tensor(ty.clone())])
}

/// A tensor of the element type and sizes.
pub(super) fn tensor(element: ElementType, dims: impl IntoIterator<Item = i64>) -> InferredType {
    InferredType::Tensor(TensorType::new(element, dims))
}
