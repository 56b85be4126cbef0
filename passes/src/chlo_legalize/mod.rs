//! `chlo-legalize-to-stablehlo`: ops of CHLO become the ops of StableHLO that compute them.
//!
//! Each function of numbers is written as its formula (`math.rs`), with the steps of StableHLO's own
//! pass of this name, so that both give the same bits.

mod bessel;
mod bits;
mod broadcasts;
mod error_functions;
mod gamma;
mod hyperbolic;
mod inverse;
mod math;
mod predicates;
mod ragged_dot;
mod scan;
mod top_k;

use shard_ir::ops::{Constant, Elementwise, Op, Opaque, Sorting};
use shard_ir::{
    Attr, Dense, DenseData, Diagnostic, ElementType, Module, NumberKind, OpId, TensorType, ValueId,
};

use self::math::{Math, X};
use crate::numbers;
use crate::rewrite::{Rewrite, Rewriter, rewrite_module};

/// Expands every op of CHLO.
///
/// # Errors
/// A located diagnostic for the first op that has no expansion for its types.
pub fn run(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut Legalize { keep_opcodes: false })
}

/// Expands the ops of CHLO that HLO has no opcode for.
///
/// # Errors
/// As [`run`].
pub fn run_for_hlo(module: &mut Module) -> Result<(), Diagnostic> {
    rewrite_module(module, &mut Legalize { keep_opcodes: true })
}

struct Legalize {
    /// What HLO has an opcode for stays.
    keep_opcodes: bool,
}

impl Rewrite for Legalize {
    fn op(&mut self, rw: &mut Rewriter<'_>, op: OpId) -> Result<(), Diagnostic> {
        let kind = rw.module.kind(op).clone();
        if self.keep_opcodes && !kind.info().hlo.is_empty() {
            rw.keep(op);
            return Ok(());
        }
        match &kind {
            Op::Elementwise(Elementwise::ConstantLike(like)) => constant_like(rw, op, &like.value),
            Op::Elementwise(kind) => match function(kind) {
                Some(function) => elementwise(rw, op, Some(kind), function),
                None => {
                    rw.keep(op);
                    Ok(())
                }
            },
            Op::Sorting(Sorting::TopK(top_k)) => top_k::expand(rw, op, top_k),
            Op::Opaque(opaque) => self.opaque(rw, op, opaque),
            _ => {
                rw.keep(op);
                Ok(())
            }
        }
    }
}

impl Legalize {
    fn opaque(
        &mut self,
        rw: &mut Rewriter<'_>,
        op: OpId,
        opaque: &Opaque,
    ) -> Result<(), Diagnostic> {
        match rw.module.str(opaque.name).to_owned().strip_prefix("chlo.") {
            Some("constant") => constant(rw, op, opaque),
            Some("_asin_acos_kernel") => {
                elementwise(rw, op, None, |args| Some(inverse::asin_acos_kernel(*args.first()?)))
            }
            Some("ragged_dot") => ragged_dot::expand(rw, op, opaque),
            Some("scan") => {
                let repeat = scan::expand(rw, op, opaque)?;
                rw.one(repeat, self)
            }
            Some(name) => match broadcasts::expand(rw, op, opaque, name)? {
                // It may be one of CHLO's too.
                Some(plain) => rw.one(plain, self),
                None => Err(no_expansion(rw.module, op)),
            },
            None => {
                rw.keep(op);
                Ok(())
            }
        }
    }
}

/// A function of one or two values; `None` for types that it has no formula for.
type Function = for<'m> fn(&[X<'m>]) -> Option<X<'m>>;

/// Wraps a function of one value that is defined for numbers of some kinds.
macro_rules! of {
    ($($kind:ident)|+, $function:path) => {
        |args| match *args {
            [x] if matches!(x.element().kind(), $(NumberKind::$kind)|+) => Some($function(x)),
            _ => None,
        }
    };
}

/// Wraps a function of two floats.
macro_rules! of_two {
    ($function:path) => {
        |args| match *args {
            [x, y] if x.element().is_float() => Some($function(x, y)),
            _ => None,
        }
    };
}

/// The formula of an op of CHLO.
fn function(kind: &Elementwise) -> Option<Function> {
    use Elementwise as E;
    Some(match kind {
        E::Acos => of!(Float | Complex, inverse::acos),
        E::Acosh => of!(Float | Complex, inverse::acosh),
        E::Asin => of!(Float | Complex, inverse::asin),
        E::Asinh => of!(Float | Complex, inverse::asinh),
        E::Atan => of!(Float | Complex, inverse::atan),
        E::Atanh => of!(Float | Complex, inverse::atanh),
        E::BesselI1e => of!(Float, bessel::bessel_i1e),
        E::ChloTan => of!(Float | Complex, X::tan),
        E::Conj => |args| args.first().map(|&x| conj(x)),
        E::Cosh => of!(Float | Complex, hyperbolic::cosh),
        E::Digamma => of!(Float, gamma::digamma),
        E::Erf => of!(Float, error_functions::erf),
        E::ErfInv => of!(Float, error_functions::erf_inv),
        E::Erfc => of!(Float, error_functions::erfc),
        E::IsInf => of!(Float, predicates::is_inf),
        E::IsNegInf => of!(Float, predicates::is_neg_inf),
        E::IsPosInf => of!(Float, predicates::is_pos_inf),
        E::Lgamma => of!(Float, gamma::lgamma),
        E::Mulhi => |args| match *args {
            [x, y] if x.element().is_integer() => Some(bits::mulhi(x, y)),
            _ => None,
        },
        E::NextAfter => of_two!(bits::next_after),
        E::Polygamma => of_two!(gamma::polygamma),
        E::Sinh => of!(Float | Complex, hyperbolic::sinh),
        E::Square => |args| args.first().map(|&x| square(x)),
        E::Zeta => of_two!(gamma::zeta),
        _ => return None,
    })
}

/// The complex conjugate; a real number is its own.
fn conj(z: X<'_>) -> X<'_> {
    match z.element().kind() {
        NumberKind::Complex => z.re().complex(-z.im()),
        _ => z,
    }
}

/// z z, as (x - y) (x + y) + 2 x y i: exact where both parts are the same.
fn square(z: X<'_>) -> X<'_> {
    if z.element().kind() != NumberKind::Complex {
        return z * z;
    }
    let (x, y) = (z.re(), z.im());
    let same = x.is_finite() & x.abs().eq(y.abs());
    let re = same.select(x.c(0.0), (x - y) * (x + y));
    re.complex(2.0 * (x * y))
}

/// Puts a formula in the place of an op.
fn elementwise(
    rw: &mut Rewriter<'_>,
    op: OpId,
    kind: Option<&Elementwise>,
    function: Function,
) -> Result<(), Diagnostic> {
    let operands = rw.module.operands(op).to_vec();
    for &operand in &operands {
        let known = rw.module.tensor_type(operand).is_some_and(|ty| has_constants(ty, kind));
        if !known {
            return Err(no_expansion(rw.module, op));
        }
    }
    let math = Math::new(rw.module, rw.loc);
    let args: Vec<X<'_>> = operands.iter().map(|&value| math.x(value)).collect();
    let value = function(&args).map(|x| x.value);
    let ops = math.take_ops();
    let Some(value) = value else { return Err(no_expansion(rw.module, op)) };
    for op in ops {
        rw.place(op);
    }
    replace(rw, op, &[value]);
    Ok(())
}

/// Whether the formula's constants can be written with the operand's type.
fn has_constants(ty: &TensorType, kind: Option<&Elementwise>) -> bool {
    use Elementwise as E;
    // Computed in f32.
    let widened = matches!(
        kind,
        Some(
            E::BesselI1e
                | E::Cosh
                | E::Digamma
                | E::Erf
                | E::ErfInv
                | E::Erfc
                | E::Lgamma
                | E::Polygamma
                | E::Sinh
                | E::Zeta
        )
    );
    let no_constants = matches!(kind, Some(E::ChloTan | E::Conj | E::Square));
    let float = ty.element.is_float();
    let element =
        widened || no_constants || !float || numbers::encode_float(ty.element, 0.0).is_some();
    element && (no_constants || ty.is_static())
}

/// The results of an op are now other values, which get its shardings and attributes.
fn replace(rw: &mut Rewriter<'_>, op: OpId, values: &[ValueId]) {
    for (&old, &new) in rw.module.results(op).to_vec().iter().zip(values) {
        let made = !rw.module.operands(op).contains(&new);
        if made {
            succeed(rw, op, old, new);
        }
        rw.replace(old, new);
    }
}

/// Gives a new value what was said of the result that it takes the place of.
fn succeed(rw: &mut Rewriter<'_>, op: OpId, old: ValueId, new: ValueId) {
    let module = &mut *rw.module;
    module.shardings[new] = module.shardings[old];
    module.value_names[new] = module.value_names[old];
    // Attributes of other dialects; the op's own are gone with it.
    let mut attrs = module.attrs(module.op(op).attrs).to_vec();
    attrs.retain(|(key, _)| module.str(*key).contains('.'));
    let attrs = module.attrs_id(attrs);
    if let Some(op) = module.defining_op(new) {
        module.op_mut(op).attrs = attrs;
    }
}

/// A property of an op, or an attribute written beside the properties.
fn attr<'a>(module: &'a Module, op: OpId, opaque: &'a Opaque, name: &str) -> Option<&'a Attr> {
    let all = opaque.properties.iter().chain(module.attrs(module.op(op).attrs));
    all.into_iter().find(|(key, _)| module.str(*key) == name).map(|(_, attr)| attr)
}

fn constant(rw: &mut Rewriter<'_>, op: OpId, opaque: &Opaque) -> Result<(), Diagnostic> {
    let Some(Attr::Dense(value)) = attr(rw.module, op, opaque, "value").cloned() else {
        return Err(no_expansion(rw.module, op));
    };
    let ty = rw.module.value_type(rw.module.result(op, 0));
    let value = rw.emit(Constant { value }, &[], ty);
    replace(rw, op, &[value]);
    Ok(())
}

fn constant_like(rw: &mut Rewriter<'_>, op: OpId, value: &Attr) -> Result<(), Diagnostic> {
    let id = rw.module.value_type(rw.module.result(op, 0));
    let ty = rw.module.ty(id).as_tensor().filter(|ty| ty.is_static());
    let bytes = ty.and_then(|ty| match value {
        Attr::Int(value, _) => Some(numbers::encode(ty.element, *value as i64)),
        Attr::Float(bits, _) => numbers::encode_float(ty.element, f64::from_bits(*bits)),
        _ => None,
    });
    let Some(bytes) = bytes else { return Err(no_expansion(rw.module, op)) };
    let value = Dense { ty: id, data: DenseData::splat(&bytes) };
    let value = rw.emit(Constant { value }, &[], id);
    replace(rw, op, &[value]);
    Ok(())
}

fn no_expansion(module: &Module, op: OpId) -> Diagnostic {
    Diagnostic::error("has no expansion into ops of StableHLO for these types")
        .at_op(module, op)
        .help(
            "floats and complex numbers of 16 bits and more in tensors of static shapes have one: \
             convert the operands, or refine the shapes",
        )
}

/// An element type of the whole numbers that positions are.
const INDEX: ElementType = ElementType::I64;
