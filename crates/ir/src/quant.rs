//! Quantized element types: integers that stand for floats by a scale and a zero point.

use crate::ElementType;

/// A scale with its zero point: a stored `q` stands for `(q - zero_point) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuantParam {
    /// How much one step is.
    pub scale: f64,
    /// What stands for zero.
    pub zero_point: i64,
}

/// How the parameters are spread over a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantParams {
    /// One for the whole tensor.
    Tensor(QuantParam),
    /// One for each index of a dimension.
    Axis {
        /// That dimension.
        axis: i64,
        /// The parameters.
        params: Vec<QuantParam>,
    },
    /// One for each block of some dimensions.
    Blocks {
        /// The dimensions, each with the size of its blocks.
        blocks: Vec<(i64, i64)>,
        /// The parameters, in lists nested as deep as there are blocks.
        params: QuantList,
    },
}

/// Nested lists of parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantList {
    /// A list.
    List(Vec<QuantList>),
    /// One parameter.
    One(QuantParam),
}

impl QuantList {
    /// How many there are on each level, where all lists of a level have as many.
    fn sizes(&self) -> Option<Vec<usize>> {
        let QuantList::List(items) = self else { return Some(Vec::new()) };
        let mut inner = items.iter().map(QuantList::sizes);
        let first = inner.next()??;
        inner
            .all(|other| other.as_ref() == Some(&first))
            .then(|| std::iter::once(items.len()).chain(first).collect())
    }
}

/// `!quant.uniform<...>`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantType {
    /// Whether the stored integers have a sign.
    pub signed: bool,
    /// Their bits.
    pub width: u32,
    /// The least and the largest that occur.
    pub bounds: (i64, i64),
    /// The float that they stand for.
    pub expressed: ElementType,
    /// The parameters.
    pub params: QuantParams,
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(text) {
            Some(after) => {
                self.rest = after;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        if self.eat(text) {
            return Ok(());
        }
        let found: String = self.rest.trim_start().chars().take(8).collect();
        Err(format!("a quantized type needs '{text}' before '{found}'"))
    }

    fn word(&mut self, kept: impl Fn(char) -> bool) -> &'a str {
        self.rest = self.rest.trim_start();
        let end = self.rest.find(|c| !kept(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn integer(&mut self) -> Result<i64, String> {
        let word = self.word(|c| c == '-' || c.is_ascii_digit());
        word.parse().map_err(|_| format!("a quantized type needs an integer, not '{word}'"))
    }

    fn param(&mut self) -> Result<QuantParam, String> {
        let word = self.word(|c| matches!(c, '-' | '+' | '.' | 'e' | 'E') || c.is_ascii_digit());
        let scale =
            word.parse().map_err(|_| format!("the scale of a quantized type isn't '{word}'"))?;
        let zero_point = if self.eat(":") { self.integer()? } else { 0 };
        Ok(QuantParam { scale, zero_point })
    }

    fn list(&mut self, depth: usize) -> Result<QuantList, String> {
        if !self.eat("{") {
            return self.param().map(QuantList::One);
        }
        if depth == 0 {
            return Err("the parameters of a quantized type are nested too deep".into());
        }
        let mut items = Vec::new();
        loop {
            items.push(self.list(depth - 1)?);
            if !self.eat(",") {
                break;
            }
        }
        self.expect("}")?;
        Ok(QuantList::List(items))
    }
}

impl QuantType {
    /// Reads `!quant.uniform<...>`; `None` for another type of the dialect, which isn't modelled.
    ///
    /// # Errors
    /// What is wrong with the text, or with the type that it states.
    pub fn parse(text: &str) -> Option<Result<QuantType, String>> {
        let body = text
            .strip_prefix("!quant.uniform")
            .or_else(|| {
                text.strip_prefix("!quant<uniform").and_then(|rest| rest.strip_suffix('>'))
            })?
            .trim_start()
            .strip_prefix('<')?
            .strip_suffix('>')?;
        Some(Self::parse_body(body).and_then(|ty| ty.verify().map(|()| ty)))
    }

    fn parse_body(body: &str) -> Result<QuantType, String> {
        let mut r = Reader { rest: body };
        let storage = r.word(|c| c.is_ascii_alphanumeric());
        let (signed, width) = match storage.strip_prefix('i') {
            Some(width) => (true, width),
            None => match storage.strip_prefix("ui").or_else(|| storage.strip_prefix('u')) {
                Some(width) => (false, width),
                None => return Err(format!("a quantized type can't be stored as '{storage}'")),
            },
        };
        let width: u32 = width.parse().unwrap_or(0);
        if !(1..=32).contains(&width) {
            return Err(format!("a quantized type is stored in 1 to 32 bits, not as '{storage}'"));
        }
        let full = full_range(signed, width);
        let mut bounds = full;
        if r.eat("<") {
            bounds.0 = r.integer()?;
            r.expect(":")?;
            bounds.1 = r.integer()?;
            r.expect(">")?;
        }
        r.expect(":")?;
        let word = r.word(|c| c.is_ascii_alphanumeric());
        let expressed = ElementType::from_mlir(word)
            .filter(|element| element.is_float())
            .ok_or_else(|| format!("a quantized type stands for floats, not for '{word}'"))?;
        let params = if !r.eat(":") {
            r.expect(",")?;
            QuantParams::Tensor(r.param()?)
        } else if r.eat("{") {
            let mut blocks = Vec::new();
            loop {
                let axis = r.integer()?;
                r.expect(":")?;
                blocks.push((axis, r.integer()?));
                if !r.eat(",") {
                    break;
                }
            }
            r.expect("}")?;
            r.expect(",")?;
            let depth = 16;
            QuantParams::Blocks { blocks, params: r.list(depth)? }
        } else {
            let axis = r.integer()?;
            r.expect(",")?;
            r.expect("{")?;
            let mut params = Vec::new();
            loop {
                params.push(r.param()?);
                if !r.eat(",") {
                    break;
                }
            }
            r.expect("}")?;
            QuantParams::Axis { axis, params }
        };
        if !r.rest.trim().is_empty() {
            return Err(format!("'{}' isn't part of a quantized type", r.rest.trim()));
        }
        Ok(QuantType { signed, width, bounds, expressed, params })
    }

    /// Checks what the quant dialect asks of the type itself.
    fn verify(&self) -> Result<(), String> {
        let (low, high) = full_range(self.signed, self.width);
        let (min, max) = self.bounds;
        if min >= max || min < low || max > high {
            return Err(format!(
                "the bounds {min} and {max} of a quantized type don't lie in order within \
                 {low} to {high}"
            ));
        }
        let (smallest, largest) = float_range(self.expressed);
        for param in self.all_params() {
            if !(param.scale >= smallest && param.scale <= largest) {
                return Err(format!(
                    "the scale {} of a quantized type is out of the range of {}: {smallest:e} to \
                     {largest:e}",
                    param.scale, self.expressed
                ));
            }
        }
        let axes: Vec<i64> = match &self.params {
            QuantParams::Tensor(_) => Vec::new(),
            QuantParams::Axis { axis, .. } => vec![*axis],
            QuantParams::Blocks { blocks, .. } => {
                if let Some((_, size)) = blocks.iter().find(|(_, size)| *size <= 0) {
                    return Err(format!(
                        "the block size {size} of a quantized type isn't positive"
                    ));
                }
                blocks.iter().map(|(axis, _)| *axis).collect()
            }
        };
        match axes.iter().find(|axis| **axis < 0) {
            Some(axis) => Err(format!("a quantized type can't have dimension {axis}")),
            None => Ok(()),
        }
    }

    /// All parameters, in order.
    pub fn all_params(&self) -> Vec<QuantParam> {
        fn flatten(list: &QuantList, out: &mut Vec<QuantParam>) {
            match list {
                QuantList::One(param) => out.push(*param),
                QuantList::List(items) => items.iter().for_each(|item| flatten(item, out)),
            }
        }
        match &self.params {
            QuantParams::Tensor(param) => vec![*param],
            QuantParams::Axis { params, .. } => params.clone(),
            QuantParams::Blocks { params, .. } => {
                let mut out = Vec::new();
                flatten(params, &mut out);
                out
            }
        }
    }

    /// The dimension along which the parameters differ, and how many there are.
    pub fn axis(&self) -> Option<(usize, usize)> {
        match &self.params {
            QuantParams::Axis { axis, params } => Some((*axis as usize, params.len())),
            QuantParams::Tensor(_) | QuantParams::Blocks { .. } => None,
        }
    }

    /// Where each element's parameters are in [`all_params`](Self::all_params), for a tensor of these
    /// dimensions: the sum over all dimensions of the element's index divided by the first number,
    /// times the second. `None` if there are too few parameters for the tensor.
    pub fn param_steps(&self, dims: &[i64]) -> Option<Vec<(i64, usize)>> {
        let mut steps = vec![(1, 0); dims.len()];
        match &self.params {
            QuantParams::Tensor(_) => {}
            QuantParams::Axis { axis, params } => {
                let at = usize::try_from(*axis).ok().filter(|at| *at < dims.len())?;
                if dims[at] > params.len() as i64 {
                    return None;
                }
                steps[at].1 = 1;
            }
            QuantParams::Blocks { blocks, params } => {
                let sizes = params.sizes()?;
                // A list is nested as deep as there are blocks, or as the tensor has dimensions.
                let axes: Vec<(i64, i64)> = if sizes.len() == blocks.len() {
                    blocks.clone()
                } else {
                    let block = |axis: i64| {
                        blocks.iter().find(|(other, _)| *other == axis).map_or(0, |(_, size)| *size)
                    };
                    (0..dims.len() as i64).map(|axis| (axis, block(axis))).collect()
                };
                if axes.len() != sizes.len() {
                    return None;
                }
                let mut step = sizes.iter().product::<usize>();
                for ((axis, block), size) in axes.into_iter().zip(sizes) {
                    step = step.checked_div(size)?;
                    let at = usize::try_from(axis).ok().filter(|at| *at < dims.len())?;
                    if block <= 0 {
                        // All indices of a dimension without blocks have the same.
                        continue;
                    }
                    if dims[at] > block.saturating_mul(size as i64) {
                        return None;
                    }
                    steps[at] = (block, step);
                }
            }
        }
        Some(steps)
    }

    /// Whether both are stored alike: sign, width and bounds.
    pub fn same_storage(&self, other: &QuantType) -> bool {
        self.signed == other.signed && self.width == other.width && self.bounds == other.bounds
    }

    /// The text of the type; `float` appends a scale.
    pub fn text(&self, mut float: impl FnMut(f64, &mut String)) -> String {
        use std::fmt::Write as _;
        let mut out = String::from("!quant.uniform<");
        let _ = write!(out, "{}{}", if self.signed { 'i' } else { 'u' }, self.width);
        if self.bounds != full_range(self.signed, self.width) {
            let _ = write!(out, "<{}:{}>", self.bounds.0, self.bounds.1);
        }
        let _ = write!(out, ":{}", self.expressed.mlir_name());
        let mut push = |param: &QuantParam, out: &mut String| {
            float(param.scale, out);
            if param.zero_point != 0 {
                let _ = write!(out, ":{}", param.zero_point);
            }
        };
        match &self.params {
            QuantParams::Tensor(param) => {
                out.push_str(", ");
                push(param, &mut out);
            }
            QuantParams::Axis { axis, params } => {
                let _ = write!(out, ":{axis}, {{");
                for (at, param) in params.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    push(param, &mut out);
                }
                out.push('}');
            }
            QuantParams::Blocks { blocks, params } => {
                let list: Vec<String> =
                    blocks.iter().map(|(axis, size)| format!("{axis}:{size}")).collect();
                let _ = write!(out, ":{{{}}}, ", list.join(", "));
                push_list(params, &mut push, &mut out);
            }
        }
        out.push('>');
        out
    }
}

fn push_list(list: &QuantList, push: &mut impl FnMut(&QuantParam, &mut String), out: &mut String) {
    match list {
        QuantList::One(param) => push(param, out),
        QuantList::List(items) => {
            out.push('{');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                push_list(item, push, out);
            }
            out.push('}');
        }
    }
}

/// The integers of a width.
fn full_range(signed: bool, width: u32) -> (i64, i64) {
    if signed { (-(1 << (width - 1)), (1 << (width - 1)) - 1) } else { (0, (1 << width) - 1) }
}

/// The least positive and the largest finite float of a type.
fn float_range(element: ElementType) -> (f64, f64) {
    match element {
        ElementType::F16 => (2f64.powi(-24), 65504.0),
        ElementType::BF16 => (2f64.powi(-133), f64::from(f32::from_bits(0x7f7f_0000))),
        ElementType::F32 | ElementType::TF32 => (f64::from(f32::from_bits(1)), f32::MAX.into()),
        _ => (f64::from_bits(1), f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &str) -> Result<String, String> {
        let ty = QuantType::parse(source).expect("a uniform type")?;
        Ok(ty.text(|scale, out| out.push_str(&scale.to_string())))
    }

    #[test]
    fn spellings_become_one() {
        for (source, wanted) in [
            ("!quant.uniform<ui8<0:255>:f32, 0.5:0>", "!quant.uniform<u8:f32, 0.5>"),
            (
                "!quant.uniform<i8<-127:127>:f16:1, {0.5, 2.0:-3}>",
                "!quant.uniform<i8<-127:127>:f16:1, {0.5,2:-3}>",
            ),
            ("!quant<uniform<i4:bf16, 0.25:1>>", "!quant.uniform<i4:bf16, 0.25:1>"),
            (
                "!quant.uniform<i8:f32:{0:1,1:2}, {{2.0:1,3.0},{4.0,5.0}}>",
                "!quant.uniform<i8:f32:{0:1, 1:2}, {{2:1, 3}, {4, 5}}>",
            ),
        ] {
            assert_eq!(text(source).as_deref(), Ok(wanted));
            assert_eq!(text(wanted).as_deref(), Ok(wanted));
        }
        assert!(QuantType::parse("!quant.any<i8>").is_none());
    }

    #[test]
    fn parameters_are_found_by_the_index() {
        let steps = |source: &str, dims: &[i64]| {
            QuantType::parse(source).expect("a uniform type").expect("a type").param_steps(dims)
        };
        let one = "!quant.uniform<i8:f32, 2.0>";
        assert_eq!(steps(one, &[4, 5]), Some(vec![(1, 0), (1, 0)]));
        let axis = "!quant.uniform<i8:f32:1, {1.0, 2.0}>";
        assert_eq!(steps(axis, &[4, 2]), Some(vec![(1, 0), (1, 1)]));
        assert_eq!(steps(axis, &[4, 3]), None);
        assert_eq!(steps(axis, &[4]), None);
        let blocks = "!quant.uniform<i8:f32:{0:1, 1:2}, {{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}}>";
        assert_eq!(steps(blocks, &[2, 6]), Some(vec![(1, 3), (2, 1)]));
        assert_eq!(steps(blocks, &[3, 6]), None);
        let some = "!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0}}>";
        assert_eq!(steps(some, &[7, 4]), Some(vec![(1, 0), (2, 1)]));
    }

    #[test]
    fn impossible_types_are_refused() {
        for (source, wrong) in [
            ("!quant.uniform<i8:f32, 0.0>", "scale"),
            ("!quant.uniform<i8:f16, 1.0e+05>", "scale"),
            ("!quant.uniform<i64:f32, 1.0>", "32 bits"),
            ("!quant.uniform<i8<-200:3>:f32, 1.0>", "bounds"),
            ("!quant.uniform<i8:i32, 1.0>", "floats"),
            ("!quant.uniform<i8:f32:-1, {1.0}>", "dimension -1"),
            ("!quant.uniform<i8:f32:{0:0}, {1.0}>", "block size"),
            ("!quant.uniform<i8:f32, x>", "scale"),
            ("!quant.uniform<i8:f32, 1.0, 2>", "isn't part"),
            ("!quant.uniform<f8:f32, 1.0>", "stored"),
        ] {
            let message = text(source).expect_err(source);
            assert!(message.contains(wrong), "{message}");
        }
    }
}
