//! The bytes of a constant's elements.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use smallvec::SmallVec;

/// The bytes of a constant's elements. Whoever has some, shares them.
///
/// A big constant of a text that the module shares stays the hexadecimal digits that it is written
/// with: decoding them would make the program half as large again. Nobody sees the difference.
#[derive(Clone)]
pub struct Blob(Repr);

#[derive(Clone)]
enum Repr {
    Bytes(Arc<[u8]>),
    Digits(Arc<Digits>),
}

/// An even number of hexadecimal digits in a text.
struct Digits {
    text: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl Digits {
    fn digits(&self) -> &[u8] {
        &self.text[self.range.clone()]
    }
}

impl Blob {
    /// The bytes that digits of a text stand for, which keeps the whole text; `None` if they aren't
    /// pairs of hexadecimal digits.
    pub fn of_digits(text: &Arc<Vec<u8>>, range: Range<usize>) -> Option<Blob> {
        let digits = text.get(range.clone())?;
        // Without a branch a digit, so that many are checked at once.
        let good = |part: &[u8]| part.iter().fold(true, |good, b| good & b.is_ascii_hexdigit());
        let whole = digits.len().is_multiple_of(2) && digits.chunks(4096).all(good);
        whole.then(|| Blob(Repr::Digits(Arc::new(Digits { text: text.clone(), range }))))
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Repr::Bytes(bytes) => bytes.len(),
            Repr::Digits(digits) => digits.range.len() / 2,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All bytes.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.0 {
            Repr::Bytes(bytes) => Cow::Borrowed(bytes),
            Repr::Digits(digits) => Cow::Owned(decode(digits.digits()).collect()),
        }
    }

    /// Some of the bytes, such as those of one element; `None` if there are fewer.
    pub fn get(&self, range: Range<usize>) -> Option<SmallVec<[u8; 16]>> {
        match &self.0 {
            Repr::Bytes(bytes) => bytes.get(range).map(SmallVec::from_slice),
            Repr::Digits(digits) => {
                let range = range.start.checked_mul(2)?..range.end.checked_mul(2)?;
                digits.digits().get(range).map(|digits| decode(digits).collect())
            }
        }
    }

    /// Whether it repeats its first `width` bytes to its end.
    pub fn repeats(&self, width: usize) -> bool {
        if width == 0 || self.len() < width {
            return false;
        }
        match &self.0 {
            Repr::Bytes(bytes) => bytes.chunks_exact(width).all(|chunk| *chunk == bytes[..width]),
            Repr::Digits(digits) => {
                let mut chunks = digits.digits().chunks_exact(2 * width);
                let first = chunks.next().unwrap_or_default();
                chunks.all(|chunk| chunk.eq_ignore_ascii_case(first))
            }
        }
    }
}

/// The bytes of pairs of digits.
fn decode(digits: &[u8]) -> impl ExactSizeIterator<Item = u8> + '_ {
    // Letters have bit 6, digits haven't; both have their value in the low bits, letters less 9.
    let value = |digit: u8| (digit & 15) + 9 * (digit >> 6);
    digits.chunks_exact(2).map(move |pair| value(pair[0]) << 4 | value(pair[1]))
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Blob(Repr::Bytes(bytes.into()))
    }
}

impl PartialEq for Blob {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Bytes(a), Repr::Bytes(b)) => a == b,
            (Repr::Digits(a), Repr::Digits(b)) => a.digits().eq_ignore_ascii_case(b.digits()),
            (Repr::Bytes(bytes), Repr::Digits(digits))
            | (Repr::Digits(digits), Repr::Bytes(bytes)) => {
                decode(digits.digits()).eq(bytes.iter().copied())
            }
        }
    }
}

impl Eq for Blob {}

impl Hash for Blob {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes().fmt(f)
    }
}
