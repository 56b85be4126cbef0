//! NumPy's file format for one array, <https://numpy.org/neps/nep-0001-npy-format.html>.

use shard_ir::{ElementType, HostArray, NumberKind};
use thiserror::Error;

/// Why a file is no array of the wanted type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NpyError {
    /// It doesn't begin as such files do, or ends too early.
    #[error("it is no .npy file")]
    Format,
    /// Its elements lie in an order that isn't read.
    #[error("its elements are in Fortran's order; save numpy.ascontiguousarray(x) instead")]
    Order,
    /// Its elements are of another type.
    #[error("its elements are of NumPy's type '{found}', and '{wanted}' is wanted for {element}")]
    Type {
        /// What the file has.
        found: String,
        /// What it should have.
        wanted: String,
        /// The element type of the argument.
        element: ElementType,
    },
}

const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's name of an element type. Types that NumPy hasn't are plain bytes, as `ml_dtypes`, which
/// JAX uses, saves them.
fn type_name(element: ElementType) -> String {
    let width = element.storage_bytes();
    let kind = match (element, element.kind()) {
        (ElementType::I1, _) => return "|b1".to_owned(),
        (ElementType::F16 | ElementType::F32 | ElementType::F64, _) => 'f',
        (_, NumberKind::Signed) if element.bits() >= 8 => 'i',
        (_, NumberKind::Unsigned) if element.bits() >= 8 => 'u',
        (_, NumberKind::Complex) => 'c',
        _ => 'V',
    };
    let order = if width == 1 || kind == 'V' { '|' } else { '<' };
    format!("{order}{kind}{width}")
}

/// The file of an array.
pub fn write(array: &HostArray) -> Vec<u8> {
    let sizes: Vec<String> = array.dims.iter().map(|size| format!("{size},")).collect();
    let mut header = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        type_name(array.element_type),
        sizes.join(" ")
    );
    // The elements begin at a multiple of 64 bytes; the header ends with a line feed.
    let before = MAGIC.len() + 4;
    while !(before + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.into_bytes());
    file.extend(&array.bytes);
    file
}

/// The array of a file, whose elements are of a known type.
///
/// # Errors
/// If the file is no such array.
pub fn read(file: &[u8], element: ElementType) -> Result<HostArray, NpyError> {
    let rest = file.strip_prefix(MAGIC).ok_or(NpyError::Format)?;
    let (version, rest) = rest.split_at_checked(2).ok_or(NpyError::Format)?;
    let (length, rest) = match version {
        [1, _] => {
            let (length, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::Format)?;
            (usize::from(u16::from_le_bytes(*length)), rest)
        }
        _ => {
            let (length, rest) = rest.split_first_chunk::<4>().ok_or(NpyError::Format)?;
            (u32::from_le_bytes(*length) as usize, rest)
        }
    };
    let (header, elements) = rest.split_at_checked(length).ok_or(NpyError::Format)?;
    let header = std::str::from_utf8(header).map_err(|_| NpyError::Format)?;
    if field(header, "fortran_order").ok_or(NpyError::Format)?.starts_with("True") {
        return Err(NpyError::Order);
    }
    let found = field(header, "descr").ok_or(NpyError::Format)?;
    let found = found.split(['\'', '"']).nth(1).ok_or(NpyError::Format)?;
    let wanted = type_name(element);
    // The order of bytes says nothing of plain ones.
    let plain = |name: &str| name.trim_start_matches(['|', '<', '=']).to_owned();
    if plain(found) != plain(&wanted) {
        return Err(NpyError::Type { found: found.to_owned(), wanted, element });
    }
    let shape = field(header, "shape").ok_or(NpyError::Format)?;
    let shape = shape.trim_start_matches('(').split(')').next().ok_or(NpyError::Format)?;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    let dims: Vec<i64> =
        sizes.map(|size| size.parse().map_err(|_| NpyError::Format)).collect::<Result<_, _>>()?;
    HostArray::new(element, dims, elements.to_vec()).map_err(|_| NpyError::Format)
}

/// What stands behind a key of the header's dictionary.
fn field<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let at = header.find(&format!("'{key}'"))?;
    header[at..].split_once(':').map(|(_, value)| value.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_survive() {
        for (element, dims) in [
            (ElementType::F32, vec![2, 3]),
            (ElementType::I1, vec![]),
            (ElementType::BF16, vec![5]),
            (ElementType::C128, vec![0, 4]),
            (ElementType::UI64, vec![1, 1, 1]),
        ] {
            let size = HostArray::size(element, &dims).expect("it fits");
            let bytes = (0..size).map(|i| (i % 2) as u8).collect();
            let array = HostArray::new(element, dims, bytes).expect("it fits");
            let file = write(&array);
            assert_eq!((file.len() - size) % 64, 0);
            assert_eq!(read(&file, element), Ok(array));
        }
    }

    #[test]
    fn what_is_no_such_array_is_refused() {
        let array = HostArray::new(ElementType::F32, vec![2], vec![0; 8]).expect("it fits");
        let file = write(&array);
        assert_eq!(read(&file[..20], ElementType::F32), Err(NpyError::Format));
        assert_eq!(read(b"", ElementType::F32), Err(NpyError::Format));
        assert!(matches!(read(&file, ElementType::I32), Err(NpyError::Type { .. })));
        let text = String::from_utf8_lossy(&file[10..]).replace("False", "True ");
        let other = [&file[..10], text.as_bytes()].concat();
        assert_eq!(read(&other, ElementType::F32), Err(NpyError::Order));
    }
}
