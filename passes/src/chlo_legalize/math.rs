//! Formulas that write themselves into a program: `x * polynomial(x * x, &T)` emits the ops that
//! compute it.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

use rustc_hash::FxHashMap;
use shard_ir::ops::{Compare, Constant, Direction, Elementwise, Movement, Op};
use shard_ir::{Dense, DenseData, ElementType, LocId, Module, OpId, TypeId, ValueId};

use crate::numbers;

/// Where the ops of formulas go.
pub(super) struct Math<'m> {
    module: RefCell<&'m mut Module>,
    ops: RefCell<Vec<OpId>>,
    /// The constants so far, by their type and their bytes.
    constants: RefCell<FxHashMap<(TypeId, Vec<u8>), ValueId>>,
    loc: LocId,
}

/// A value that formulas compute with, element by element.
#[derive(Clone, Copy)]
pub(super) struct X<'m> {
    math: &'m Math<'m>,
    /// The value.
    pub(super) value: ValueId,
}

impl<'m> Math<'m> {
    pub(super) fn new(module: &'m mut Module, loc: LocId) -> Self {
        let (ops, constants) = Default::default();
        Math { module: RefCell::new(module), ops, constants, loc }
    }

    /// A value of the program.
    pub(super) fn x(&'m self, value: ValueId) -> X<'m> {
        X { math: self, value }
    }

    /// The ops that were emitted.
    pub(super) fn take_ops(&self) -> Vec<OpId> {
        self.ops.take()
    }

    fn emit(&'m self, op: impl Into<Op>, operands: &[X<'m>], ty: TypeId) -> X<'m> {
        let operands: Vec<ValueId> = operands.iter().map(|x| x.value).collect();
        let mut module = self.module.borrow_mut();
        let op = module.new_op(op, &operands, &[ty], &[], self.loc);
        self.ops.borrow_mut().push(op);
        X { math: self, value: module.result(op, 0) }
    }

    /// A constant whose elements all have these bytes.
    fn constant(&'m self, ty: TypeId, bytes: Vec<u8>) -> X<'m> {
        let known = self.constants.borrow().get(&(ty, bytes.clone())).copied();
        if let Some(value) = known {
            return X { math: self, value };
        }
        let value = Dense { ty, data: DenseData::splat(&bytes) };
        let x = self.emit(Constant { value }, &[], ty);
        self.constants.borrow_mut().insert((ty, bytes), x.value);
        x
    }
}

/// What stands beside a value in a formula: another one, or a number.
pub(super) trait Like<'m> {
    /// It as a value of the same shape and type as `x`.
    fn like(self, x: X<'m>) -> X<'m>;
}

impl<'m> Like<'m> for X<'m> {
    fn like(self, _: X<'m>) -> X<'m> {
        self
    }
}

impl<'m> Like<'m> for f64 {
    fn like(self, x: X<'m>) -> X<'m> {
        x.c(self)
    }
}

impl<'m> X<'m> {
    fn ty(self) -> TypeId {
        self.math.module.borrow().value_type(self.value)
    }

    /// The type of its elements.
    pub(super) fn element(self) -> ElementType {
        self.math.module.borrow().tensor_type(self.value).map_or(ElementType::F32, |ty| ty.element)
    }

    /// Its type with other elements.
    fn ty_of(self, element: ElementType) -> TypeId {
        let mut module = self.math.module.borrow_mut();
        match module.tensor_type(self.value).cloned() {
            Some(ty) => module.tensor(element, ty.dims),
            None => module.tensor(element, []),
        }
    }

    /// A number, of the same shape and type.
    pub(super) fn c(self, number: f64) -> X<'m> {
        let bytes = numbers::encode_float(self.element(), number).unwrap_or_default();
        self.math.constant(self.ty(), bytes)
    }

    /// A whole number, of the same shape and type.
    pub(super) fn int(self, number: i64) -> X<'m> {
        self.math.constant(self.ty(), numbers::encode(self.element(), number))
    }

    fn unary(self, kind: Elementwise) -> X<'m> {
        self.math.emit(kind, &[self], self.ty())
    }

    /// An op of two values of this one's type.
    pub(super) fn binary(self, kind: Elementwise, other: impl Like<'m>) -> X<'m> {
        self.math.emit(kind, &[self, other.like(self)], self.ty())
    }

    pub(super) fn convert(self, element: ElementType) -> X<'m> {
        self.math.emit(Elementwise::Convert, &[self], self.ty_of(element))
    }

    /// The same bits as another type of as many.
    pub(super) fn bitcast(self, element: ElementType) -> X<'m> {
        self.math.emit(Movement::BitcastConvert, &[self], self.ty_of(element))
    }

    pub(super) fn complex(self, imag: X<'m>) -> X<'m> {
        let element = match self.element() {
            ElementType::F64 => ElementType::C128,
            _ => ElementType::C64,
        };
        self.math.emit(Elementwise::Complex, &[self, imag], self.ty_of(element))
    }

    fn part(self, kind: Elementwise) -> X<'m> {
        let element = match self.element() {
            ElementType::C128 => ElementType::F64,
            _ => ElementType::F32,
        };
        self.math.emit(kind, &[self], self.ty_of(element))
    }

    pub(super) fn re(self) -> X<'m> {
        self.part(Elementwise::Real)
    }

    pub(super) fn im(self) -> X<'m> {
        self.part(Elementwise::Imag)
    }

    fn compare(self, direction: Direction, other: impl Like<'m>) -> X<'m> {
        let compare = Compare { direction, compare_type: None };
        self.math.emit(compare, &[self, other.like(self)], self.ty_of(ElementType::I1))
    }

    pub(super) fn lt(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Lt, other)
    }

    pub(super) fn le(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Le, other)
    }

    pub(super) fn gt(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Gt, other)
    }

    pub(super) fn ge(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Ge, other)
    }

    pub(super) fn eq(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Eq, other)
    }

    pub(super) fn ne(self, other: impl Like<'m>) -> X<'m> {
        self.compare(Direction::Ne, other)
    }

    /// Where this holds, `yes`, elsewhere `no`.
    pub(super) fn select(self, yes: X<'m>, no: X<'m>) -> X<'m> {
        self.math.emit(Elementwise::Select, &[self, yes, no], yes.ty())
    }

    pub(super) fn is_finite(self) -> X<'m> {
        self.math.emit(Elementwise::IsFinite, &[self], self.ty_of(ElementType::I1))
    }

    pub(super) fn is_whole(self) -> X<'m> {
        self.eq(self.floor())
    }

    /// Between two numbers.
    pub(super) fn clamp(self, low: f64, high: f64) -> X<'m> {
        let operands = [self.c(low), self, self.c(high)];
        self.math.emit(Elementwise::Clamp, &operands, self.ty())
    }

    pub(super) fn inf(self) -> X<'m> {
        self.c(f64::INFINITY)
    }

    pub(super) fn nan(self) -> X<'m> {
        self.c(f64::NAN)
    }

    /// The largest finite number of the type.
    pub(super) fn largest(self) -> X<'m> {
        self.c(match self.element() {
            ElementType::F16 => half::f16::MAX.to_f64(),
            ElementType::BF16 => half::bf16::MAX.to_f64(),
            ElementType::F64 => f64::MAX,
            _ => f32::MAX.into(),
        })
    }

    /// The smallest positive number of the type that has all its digits.
    pub(super) fn smallest_normal(self) -> X<'m> {
        self.c(match self.element() {
            ElementType::F64 => f64::MIN_POSITIVE,
            _ => f32::MIN_POSITIVE.into(),
        })
    }

    /// The smallest positive number of the type.
    pub(super) fn smallest(self) -> X<'m> {
        self.c(match self.element() {
            ElementType::F64 => f64::from_bits(1),
            _ => f32::from_bits(1).into(),
        })
    }
}

/// Methods that are one op.
macro_rules! functions {
    ($($name:ident = $kind:ident)*) => {
        impl<'m> X<'m> {
            $(pub(super) fn $name(self) -> X<'m> {
                self.unary(Elementwise::$kind)
            })*
        }
    };
}

functions! {
    abs = Abs
    cos = Cosine
    exp = Exponential
    exp_m1 = ExponentialMinusOne
    floor = Floor
    ln = Log
    ln_1p = LogPlusOne
    sign = Sign
    sin = Sine
    sqrt = Sqrt
    tan = Tan
}

/// Methods that are one op of two values.
macro_rules! functions_of_two {
    ($($name:ident = $kind:ident)*) => {
        impl<'m> X<'m> {
            $(pub(super) fn $name(self, other: impl Like<'m>) -> X<'m> {
                self.binary(Elementwise::$kind, other)
            })*
        }
    };
}

functions_of_two! {
    atan2 = Atan2
    max = Maximum
    min = Minimum
    pow = Power
    shift_right = ShiftRightLogical
}

/// Operators between values, and between values and numbers.
macro_rules! operators {
    ($($trait:ident $method:ident = $kind:ident)*) => {$(
        impl<'m, R: Like<'m>> $trait<R> for X<'m> {
            type Output = X<'m>;

            fn $method(self, other: R) -> X<'m> {
                self.binary(Elementwise::$kind, other)
            }
        }

        impl<'m> $trait<X<'m>> for f64 {
            type Output = X<'m>;

            fn $method(self, other: X<'m>) -> X<'m> {
                other.c(self).binary(Elementwise::$kind, other)
            }
        }
    )*};
}

operators! {
    Add add = Add
    Sub sub = Subtract
    Mul mul = Multiply
    Div div = Divide
    Rem rem = Remainder
}

impl<'m> Neg for X<'m> {
    type Output = X<'m>;

    fn neg(self) -> X<'m> {
        self.unary(Elementwise::Negate)
    }
}

impl<'m> Not for X<'m> {
    type Output = X<'m>;

    fn not(self) -> X<'m> {
        self.unary(Elementwise::Not)
    }
}

impl<'m> BitAnd for X<'m> {
    type Output = X<'m>;

    fn bitand(self, other: X<'m>) -> X<'m> {
        self.binary(Elementwise::And, other)
    }
}

impl<'m> BitOr for X<'m> {
    type Output = X<'m>;

    fn bitor(self, other: X<'m>) -> X<'m> {
        self.binary(Elementwise::Or, other)
    }
}

/// A polynomial by Horner's rule; the coefficient of the highest power comes first.
pub(super) fn polynomial<'m, C: Copy + Into<f64>>(x: X<'m>, coefficients: &[C]) -> X<'m> {
    let mut all = coefficients.iter().map(|&c| c.into());
    let first = x.c(all.next().unwrap_or(0.0));
    all.fold(first, |sum, c| sum * x + c)
}

/// A sum of Chebyshev polynomials by Clenshaw's rule, as Cephes has it: the coefficient of the
/// highest order comes first, and the argument is twice what the polynomials are of.
pub(super) fn chebyshev<'m, C: Copy + Into<f64>>(x: X<'m>, coefficients: &[C]) -> X<'m> {
    let zero = x.c(0.0);
    let (mut b0, mut b1, mut b2) = (zero, zero, zero);
    for &c in coefficients {
        (b1, b2) = (b0, b1);
        b0 = x * b1 - b2 + c.into();
    }
    (b0 - b2) * 0.5
}

/// A formula computed in `f32` where the type has fewer bits.
pub(super) fn in_f32<'m, const N: usize>(
    args: [X<'m>; N],
    formula: impl FnOnce([X<'m>; N]) -> X<'m>,
) -> X<'m> {
    let element = args[0].element();
    if element.is_float() && element.bits() < 32 {
        formula(args.map(|x| x.convert(ElementType::F32))).convert(element)
    } else {
        formula(args)
    }
}

/// A formula that is another for `f64` than for `f32`; what is narrower is computed in `f32`.
pub(super) fn by_width<'m>(
    x: X<'m>,
    in_single: impl FnOnce(X<'m>) -> X<'m>,
    in_double: impl FnOnce(X<'m>) -> X<'m>,
) -> X<'m> {
    match x.element() {
        ElementType::F64 => in_double(x),
        _ => in_f32([x], |[x]| in_single(x)),
    }
}
