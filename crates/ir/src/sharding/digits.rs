//! Mixed-radix digits of a device index: what axes, tile assignments and groups have in common.
//!
//! The coordinate of a device along an axis or sub-axis is one digit of its logical index,
//! `device / stride % size`. A list of axes is a list of digits, major to minor, and so is the
//! `[4,2]<=[2,4]T(1,0)` of HLO. Everything about devices and tiles is arithmetic on such lists,
//! whose length has nothing to do with the number of devices.

use smallvec::SmallVec;

/// One digit of a device index: its value is `device / stride % size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digit {
    /// The number of values.
    pub size: u64,
    /// How far apart, in device indices, neighbouring values are.
    pub stride: u64,
}

/// Digits, major to minor.
pub type Digits = SmallVec<[Digit; 6]>;

impl Digit {
    /// The digit's value for a device.
    pub fn of(self, device: u64) -> u64 {
        if self.size == 0 || self.stride == 0 { 0 } else { device / self.stride % self.size }
    }
}

/// The number of combinations of the digits' values, saturating.
pub fn count(digits: &[Digit]) -> u64 {
    digits.iter().fold(1, |count, digit| count.saturating_mul(digit.size))
}

/// The row-major position of a device among the combinations of the digits (major first).
pub fn position(digits: &[Digit], device: u64) -> u64 {
    digits
        .iter()
        .fold(0u64, |at, digit| at.saturating_mul(digit.size).saturating_add(digit.of(device)))
}

/// The device at a row-major position, the other digits of its index being zero. Positions wrap.
pub fn device(digits: &[Digit], position: u64) -> u64 {
    let mut rest = position;
    let mut device = 0u64;
    for digit in digits.iter().rev().filter(|digit| digit.size > 0) {
        device = device.saturating_add((rest % digit.size).saturating_mul(digit.stride));
        rest /= digit.size;
    }
    device
}

/// The digits in their shortest form: without digits of size 1, and with neighbours merged where
/// the minor one's range is the major one's stride.
pub fn merged(digits: &[Digit]) -> Digits {
    let mut merged = Digits::new();
    for &digit in digits.iter().filter(|digit| digit.size != 1) {
        match merged.last_mut() {
            Some(last) if last.stride == digit.size.saturating_mul(digit.stride) => {
                *last = Digit { size: last.size.saturating_mul(digit.size), stride: digit.stride };
            }
            _ => merged.push(digit),
        }
    }
    merged
}

/// Cuts the digits into consecutive runs, run `i` having `sizes[i]` combinations, splitting digits
/// where a cut falls inside one. `None` where a cut falls where no digit can be split, or the
/// sizes don't multiply to the digits' count.
pub fn cut(digits: &[Digit], sizes: &[u64]) -> Option<Vec<Digits>> {
    let mut runs = Vec::with_capacity(sizes.len());
    let mut rest: Digits = digits.iter().rev().filter(|digit| digit.size != 1).copied().collect();
    for &size in sizes {
        let mut wanted = size;
        let mut run = Digits::new();
        while wanted > 1 {
            let digit = rest.pop()?;
            if digit.size == 0 {
                return None;
            }
            if wanted % digit.size == 0 {
                run.push(digit);
                wanted /= digit.size;
            } else if digit.size % wanted == 0 {
                let minor = digit.size / wanted;
                run.push(Digit { size: wanted, stride: digit.stride.checked_mul(minor)? });
                rest.push(Digit { size: minor, stride: digit.stride });
                wanted = 1;
            } else {
                return None;
            }
        }
        if wanted == 0 {
            return None;
        }
        runs.push(run);
    }
    rest.is_empty().then_some(runs)
}

/// Finds the digits, in shortest form, that enumerate a list of devices:
/// `list[i] = list[0] + device(digits, i)`. `None` where the list isn't of that form.
pub fn raise(list: &[u64]) -> Option<Digits> {
    let first = *list.first()?;
    let offset = |at: usize| list.get(at).and_then(|&device| device.checked_sub(first));
    let mut digits = Digits::new();
    let mut block = 1; // list[..block] is explained by `digits`
    while block < list.len() {
        let stride = offset(block)?;
        let mut size = 1usize;
        while offset(size.checked_mul(block)?)
            .is_some_and(|at| stride.checked_mul(size as u64) == Some(at))
        {
            size += 1;
        }
        if size < 2 || stride == 0 || !list.len().is_multiple_of(size.checked_mul(block)?) {
            return None;
        }
        digits.insert(0, Digit { size: size as u64, stride });
        block *= size;
    }
    let right = (0..list.len()).all(|at| offset(at) == Some(device(&digits, at as u64)));
    right.then(|| merged(&digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raises_a_transposed_list() {
        let digits = raise(&[0, 4, 1, 5, 2, 6, 3, 7]);
        let expected = [Digit { size: 4, stride: 1 }, Digit { size: 2, stride: 4 }];
        assert_eq!(digits.as_deref(), Some(&expected[..]));
        assert_eq!(raise(&[0, 1, 3, 2]), None);
        assert_eq!(raise(&[5]).as_deref(), Some(&[][..]));
        assert_eq!(raise(&[]), None);
        assert_eq!(raise(&[1, 1]), None);
    }

    #[test]
    fn cuts_inside_a_digit() {
        let digits = [Digit { size: 8, stride: 1 }];
        let runs = cut(&digits, &[2, 1, 4]).map(|runs| runs.concat_for_test());
        let expected = [Digit { size: 2, stride: 4 }, Digit { size: 4, stride: 1 }];
        assert_eq!(runs.as_deref(), Some(&expected[..]));
        assert_eq!(cut(&digits, &[3]), None);
        assert_eq!(cut(&digits, &[2, 2]), None);
        assert_eq!(cut(&digits, &[0]), None);
    }

    trait Concat {
        fn concat_for_test(self) -> Vec<Digit>;
    }

    impl Concat for Vec<Digits> {
        fn concat_for_test(self) -> Vec<Digit> {
            self.into_iter().flatten().collect()
        }
    }
}
