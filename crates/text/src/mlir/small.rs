//! Small grammars that stand for themselves, as `nom` parsers.

use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::{char, digit1, multispace0};
use nom::combinator::{all_consuming, map, map_res, opt};
use nom::multi::separated_list0;
use nom::sequence::{delimited, preceded, separated_pair};
use nom::{IResult, Parser as _};
use shard_ir::Dims;
use shard_ir::ops::ConvDims;

use super::parser::{Parser, Read};

/// A token with space before it.
fn tok(text: &'static str) -> impl Fn(&str) -> IResult<&str, &str> {
    move |input| preceded(multispace0, tag(text)).parse(input)
}

fn number<T: std::str::FromStr>(input: &str) -> IResult<&str, T> {
    preceded(multispace0, map_res(digit1, str::parse::<T>)).parse(input)
}

/// `e5m10`: bits of the exponent and the mantissa.
pub(crate) fn exponent_mantissa(input: &str) -> Option<(i32, i32)> {
    let e = preceded(char::<&str, nom::error::Error<&str>>('e'), number::<i32>);
    let m = preceded(char('m'), number::<i32>);
    all_consuming((e, m)).parse(input).ok().map(|(_, pair)| pair)
}

/// `(pre)size`, the part of an axis.
pub(crate) fn sub_axis(input: &str) -> IResult<&str, (u32, u32)> {
    (delimited(tok("("), number, tok(")")), number).parse(input)
}

/// `line:col`, then perhaps `to line:col` or `to :col`.
pub(crate) type FileRange = ((u32, u32), Option<(Option<u32>, u32)>);

/// What follows a file name in a location: `:24:31 to :34`.
pub(crate) fn file_range(input: &str) -> IResult<&str, FileRange> {
    let start = preceded(tok(":"), separated_pair(number, tok(":"), number));
    let end = preceded(tok("to"), separated_pair(opt(number), tok(":"), number));
    (start, opt(end)).parse(input)
}

/// One entry of a tensor's dimension numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConvEntry {
    Spatial(usize),
    Letter(char),
    Unknown,
}

fn conv_side(input: &str) -> IResult<&str, Vec<ConvEntry>> {
    let entry = preceded(
        multispace0,
        alt((
            map(number::<usize>, ConvEntry::Spatial),
            map(nom::character::complete::one_of("bfio"), ConvEntry::Letter),
            map(char('?'), |_| ConvEntry::Unknown),
        )),
    );
    delimited(tok("["), separated_list0(tok(","), entry), tok("]")).parse(input)
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
fn conv_dims(input: &str) -> IResult<&str, [Vec<ConvEntry>; 3]> {
    map(
        (conv_side, preceded(tok("x"), conv_side), preceded(tok("->"), conv_side)),
        |(input, kernel, output)| [input, kernel, output],
    )
    .parse(input)
}

/// The positions of two letters and of the spatial dimensions in order.
fn places(entries: &[ConvEntry], first: char, second: char) -> Option<(i64, i64, Dims)> {
    let find = |wanted: ConvEntry| {
        let mut found = entries.iter().enumerate().filter(|(_, entry)| **entry == wanted);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(at as i64),
            _ => None,
        }
    };
    let spatial = (0..entries.len().checked_sub(2)?)
        .map(|dim| find(ConvEntry::Spatial(dim)))
        .collect::<Option<Dims>>()?;
    Some((find(ConvEntry::Letter(first))?, find(ConvEntry::Letter(second))?, spatial))
}

impl Parser<'_> {
    /// Dimension numbers of a convolution.
    pub(crate) fn conv_dims(&mut self) -> Read<ConvDims> {
        self.c.skip_space();
        let at = self.c.pos();
        let rest = self.c.rest();
        let Ok((after, sides)) = conv_dims(rest) else {
            return self
                .expected("dimension numbers such as '[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]'");
        };
        self.c.set_pos(at + rest.len() - after.len());
        let read = || {
            let (input_batch, input_feature, input_spatial) = places(&sides[0], 'b', 'f')?;
            let (kernel_input_feature, kernel_output_feature, kernel_spatial) =
                places(&sides[1], 'i', 'o')?;
            let (output_batch, output_feature, output_spatial) = places(&sides[2], 'b', 'f')?;
            Some(ConvDims {
                input_batch,
                input_feature,
                input_spatial,
                kernel_input_feature,
                kernel_output_feature,
                kernel_spatial,
                output_batch,
                output_feature,
                output_spatial,
            })
        };
        match read() {
            Some(dims) => Ok(dims),
            None => {
                let end = self.c.pos();
                self.error(
                    at..end,
                    "each tensor of a convolution needs its two letters (b and f, or i and o) and \
                     the spatial dimensions 0, 1, ... once each",
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert_eq!(exponent_mantissa("e5m10"), Some((5, 10)));
        assert_eq!(exponent_mantissa("e5"), None);
        assert_eq!(exponent_mantissa("e99999999999m1"), None);
        assert_eq!(sub_axis("(2)4>"), Ok((">", (2, 4))));
    }

    #[test]
    fn source_ranges() {
        assert_eq!(file_range(":24:31 to :34)").unwrap().1, ((24, 31), Some((None, 34))));
        assert_eq!(file_range(":1:2 to 3:4)").unwrap().1, ((1, 2), Some((Some(3), 4))));
        assert_eq!(file_range(":1:2)"), Ok((")", ((1, 2), None))));
    }

    #[test]
    fn convolutions() {
        let (rest, sides) = conv_dims("[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window").unwrap();
        assert_eq!(rest, ", window");
        assert_eq!(places(&sides[1], 'i', 'o').unwrap().2.as_slice(), [0, 1]);
        assert_eq!(places(&sides[0], 'i', 'o'), None);
    }
}
