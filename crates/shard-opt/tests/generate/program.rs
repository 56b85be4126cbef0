//! A program that grows op by op.

use std::fmt::Write;

use super::shardings::Mesh;
use super::{Numbers, Recipe, ops};

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ty {
    /// Such as `f32`.
    pub element: &'static str,
    /// Sizes.
    pub dims: Vec<i64>,
}

impl Ty {
    pub fn new(element: &'static str, dims: impl Into<Vec<i64>>) -> Ty {
        Ty { element, dims: dims.into() }
    }

    pub fn text(&self) -> String {
        let dims: String = self.dims.iter().map(|size| format!("{size}x")).collect();
        format!("tensor<{dims}{}>", self.element)
    }

    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    pub fn elements(&self) -> i64 {
        self.dims.iter().product()
    }

    pub fn is_float(&self) -> bool {
        matches!(self.element, "f32" | "f64" | "bf16" | "f16")
    }

    pub fn is_integer(&self) -> bool {
        matches!(self.element, "i32" | "i64" | "i8" | "ui8" | "ui32")
    }

    pub fn is_complex(&self) -> bool {
        self.element.starts_with("complex")
    }
}

/// A value.
#[derive(Clone, Debug)]
pub struct Val {
    pub name: String,
    pub ty: Ty,
    /// It is the same to the bit however it is computed: no sum of floats went into it. What jumps,
    /// such as a comparison, takes such values alone.
    pub exact: bool,
}

/// A generated program.
#[derive(Clone, Debug)]
pub struct Program {
    /// StableHLO with shardings.
    pub text: String,
}

/// Elements beyond this many aren't worth their time.
pub const MOST_ELEMENTS: i64 = 4096;

/// What grows.
pub struct Builder {
    pub mesh: Mesh,
    pub values: Vec<Val>,
    pub lines: Vec<String>,
    /// Functions that are called.
    pub functions: Vec<String>,
    count: usize,
}

/// Takes numbers one by one; there is always another.
pub struct Dice {
    numbers: Numbers,
    at: usize,
    spin: u64,
}

impl Dice {
    pub fn new(numbers: &Numbers) -> Dice {
        Dice { numbers: *numbers, at: 0, spin: 0 }
    }

    /// A number below `limit` (0 if that is 0).
    pub fn below(&mut self, limit: usize) -> usize {
        let number = match self.numbers.get(self.at) {
            Some(number) => u64::from(*number),
            None => {
                // Beyond the recipe: a function of it, which small numbers keep small.
                let sum: u64 = self.numbers.iter().map(|n| u64::from(*n)).sum();
                if sum == 0 {
                    0
                } else {
                    self.spin = self
                        .spin
                        .wrapping_add(sum)
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    self.spin >> 33
                }
            }
        };
        self.at += 1;
        if limit == 0 { 0 } else { (number % limit as u64) as usize }
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == one_in - 1
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }
}

impl Builder {
    /// A new name.
    pub fn name(&mut self) -> String {
        self.count += 1;
        format!("%v{}", self.count)
    }

    /// Adds a line.
    pub fn line(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Adds an op with one result, `%name = body`, and its value.
    pub fn op(&mut self, ty: Ty, exact: bool, body: impl Into<String>) -> Val {
        let name = self.name();
        self.line(format!("{name} = {}", body.into()));
        let value = Val { name, ty, exact };
        self.values.push(value.clone());
        value
    }

    /// A value that fits, if there is one.
    pub fn find(&self, dice: &mut Dice, fits: impl Fn(&Val) -> bool) -> Option<Val> {
        let all: Vec<&Val> = self.values.iter().filter(|value| fits(value)).collect();
        if all.is_empty() { None } else { Some((*dice.pick(&all)).clone()) }
    }

    /// A value of this type: one that is there, or a constant.
    pub fn of_type(&mut self, dice: &mut Dice, ty: &Ty, exact: bool) -> Val {
        let found = self.find(dice, |value| value.ty == *ty && (value.exact || !exact));
        match found {
            Some(value) => value,
            None => self.constant(dice, ty),
        }
    }

    /// A splat.
    pub fn constant(&mut self, dice: &mut Dice, ty: &Ty) -> Val {
        let literal = literal(ty.element, dice);
        self.op(ty.clone(), true, format!("stablehlo.constant dense<{literal}> : {}", ty.text()))
    }
}

/// A small number of an element type.
pub fn literal(element: &str, dice: &mut Dice) -> String {
    match element {
        "i1" => (*dice.pick(&["false", "true"])).to_owned(),
        "f32" | "f64" | "bf16" | "f16" => (*dice.pick(&["1.0", "0.5", "-2.0", "3.0"])).to_owned(),
        "complex<f32>" => (*dice.pick(&["(1.0,0.0)", "(0.5,-1.0)"])).to_owned(),
        "ui8" | "ui32" => (*dice.pick(&["1", "2", "3"])).to_owned(),
        _ => (*dice.pick(&["1", "-1", "2", "3"])).to_owned(),
    }
}

/// Element types, the common ones more often.
const ELEMENTS: &[&str] = &[
    "f32",
    "f32",
    "f32",
    "i32",
    "i32",
    "f64",
    "bf16",
    "i1",
    "i8",
    "ui8",
    "ui32",
    "i64",
    "f16",
    "complex<f32>",
];

/// Sizes of dimensions; those that divide well, those that don't, and an empty one.
const SIZES: &[i64] = &[4, 8, 2, 6, 3, 12, 1, 5, 7, 16, 9, 0];

impl Program {
    pub fn of(recipe: &Recipe) -> Program {
        let mesh = Mesh::of(&recipe.mesh);
        let mut builder = Builder {
            mesh,
            values: Vec::new(),
            lines: Vec::new(),
            functions: Vec::new(),
            count: 0,
        };
        let mut args = Vec::new();
        for (index, numbers) in recipe.args.iter().enumerate() {
            let mut dice = Dice::new(numbers);
            let element = *dice.pick(ELEMENTS);
            let rank = dice.below(4);
            let mut dims = Vec::new();
            for _ in 0..rank {
                let size = *dice.pick(SIZES);
                let all: i64 = dims.iter().product();
                dims.push(if all * size > MOST_ELEMENTS / 4 { 2 } else { size });
            }
            let ty = Ty::new(element, dims);
            let sharding = builder.mesh.argument(&mut dice, ty.rank());
            args.push(format!("%arg{index}: {}{sharding}", ty.text()));
            builder.values.push(Val { name: format!("%arg{index}"), ty, exact: true });
        }
        for numbers in &recipe.steps {
            ops::step(&mut builder, &mut Dice::new(numbers));
        }
        let used: std::collections::BTreeSet<&str> = builder
            .lines
            .iter()
            .flat_map(|line| line.split_once(" = ").map_or("", |(_, body)| body).split_whitespace())
            .flat_map(|word| word.split(|c: char| !(c.is_alphanumeric() || c == '%')))
            .collect();
        let mut unused: Vec<Val> =
            builder.values.iter().filter(|v| !used.contains(v.name.as_str())).cloned().collect();
        if unused.is_empty() {
            unused.clone_from(&builder.values);
        }
        let (mut names, mut types, mut signed) = (Vec::new(), Vec::new(), Vec::new());
        for (index, numbers) in recipe.results.iter().enumerate() {
            let mut dice = Dice::new(numbers);
            // What nobody uses is seen here, or not at all; the last value always.
            let value = match index {
                0 => builder.values[builder.values.len() - 1].clone(),
                _ => dice.pick(&unused).clone(),
            };
            let sharding = builder.mesh.argument(&mut dice, value.ty.rank());
            signed.push(format!("{}{sharding}", value.ty.text()));
            types.push(value.ty.text());
            names.push(value.name);
        }
        let mut text = String::new();
        let _ = writeln!(text, "module @generated {{");
        let _ = writeln!(text, "  sdy.mesh @mesh = {}", builder.mesh.text());
        let _ = writeln!(
            text,
            "  func.func public @main({}) -> ({}) {{",
            args.join(", "),
            signed.join(", ")
        );
        for line in builder.lines.iter().flat_map(|line| line.lines()) {
            let _ = writeln!(text, "    {line}");
        }
        let _ = writeln!(text, "    return {} : {}\n  }}", names.join(", "), types.join(", "));
        for function in &builder.functions {
            for line in function.lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        text.push_str("}\n");
        Program { text }
    }
}
