//! Global arrays and the parts of them that devices hold.

use shard_interp::each_index;
use shard_ir::HostArray;
use shard_ir::sharding::{Mesh, TensorSharding};

use super::elements;

/// A device's part of an array: where it begins, and its shape with padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Index of its first element in each dimension.
    pub offsets: Vec<i64>,
    /// Its shape; rounded up where the dimension doesn't divide.
    pub shape: Vec<i64>,
    /// How much of the shape is inside the array.
    pub inside: Vec<i64>,
}

/// The part that the device of a runtime's number holds; `None` if the sharding doesn't fit.
pub(super) fn part(
    sharding: Option<&TensorSharding>,
    mesh: &Mesh,
    device: u64,
    dims: &[i64],
) -> Option<Part> {
    let Some(sharding) = sharding else {
        let offsets = vec![0; dims.len()];
        return Some(Part { offsets, shape: dims.to_vec(), inside: dims.to_vec() });
    };
    let logical = mesh.logical_index(device)?;
    let offsets = sharding.offsets(mesh, logical, dims)?;
    let shape = sharding.local_shape(dims)?;
    let inside = dims
        .iter()
        .zip(&offsets)
        .zip(&shape)
        .map(|((&size, &offset), &shape)| (size - offset).clamp(0, shape))
        .collect();
    Some(Part { offsets, shape, inside })
}

/// The position of an index in a row-major array.
pub(super) fn position(dims: &[i64], index: impl IntoIterator<Item = i64>) -> usize {
    dims.iter().zip(index).fold(0, |at, (&size, index)| at * size as usize + index as usize)
}

/// Cuts a part out of an array; what lies outside is poison.
pub(super) fn cut(array: &HostArray, part: &Part) -> HostArray {
    let element = array.element_type;
    let width = element.storage_bytes();
    // (A dimension of one element has its whole shape on every device, and itself on one.)
    if part.inside == array.dims && part.shape == array.dims {
        return array.clone();
    }
    let count: i64 = part.shape.iter().product();
    let mut bytes = if part.inside == part.shape {
        vec![0; count as usize * width]
    } else {
        elements::poison(element).repeat(count as usize)
    };
    // Rows of the last dimension are copied whole.
    let (rows, length) = match part.inside.split_last() {
        Some((&last, rows)) => (rows.to_vec(), last),
        None => (Vec::new(), 1),
    };
    if length > 0 {
        each_index(&rows, |index| {
            let mut full = index.to_vec();
            if !part.inside.is_empty() {
                full.push(0);
            }
            let global = full.iter().zip(&part.offsets).map(|(at, offset)| at + offset);
            let from = position(&array.dims, global) * width;
            let to = position(&part.shape, full.iter().copied()) * width;
            let size = length as usize * width;
            bytes[to..to + size].copy_from_slice(&array.bytes[from..from + size]);
        });
    }
    HostArray { element_type: element, dims: part.shape.clone(), bytes }
}

/// Writes a device's part back into the whole array.
#[cfg(any(test, feature = "pjrt"))]
pub(super) fn paste(array: &mut HostArray, part: &Part, shard: &HostArray) {
    let width = array.element_type.storage_bytes();
    each_index(&part.inside, |index| {
        let global = index.iter().zip(&part.offsets).map(|(at, offset)| at + offset);
        let to = position(&array.dims, global) * width;
        let from = position(&part.shape, index.iter().copied()) * width;
        array.bytes[to..to + width].copy_from_slice(&shard.bytes[from..from + width]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use shard_ir::sharding::parse_sharding;
    use shard_ir::{ElementType, HostArray, MeshId};

    fn bytes(dims: &[i64]) -> HostArray {
        let count: i64 = dims.iter().product();
        let bytes = (0..count).map(|value| value as u8).collect();
        HostArray { element_type: ElementType::UI8, dims: dims.to_vec(), bytes }
    }

    fn sharding(text: &str, mesh: &Mesh) -> TensorSharding {
        parse_sharding(text, mesh, MeshId::from_u32(0)).expect("it is a sharding").sharding
    }

    #[test]
    fn parts_are_cut_and_pasted() {
        let mesh = Mesh::new(&[("a", 2), ("b", 2)]);
        for text in ["[{}, {}]", "[{\"a\"}, {\"b\"}]", "[{\"b\", \"a\"}, {}]", "[{}, {\"a\"}]"] {
            for dims in [[4, 8], [5, 3], [1, 1], [3, 7]] {
                let whole = bytes(&dims);
                let mut joined = HostArray { bytes: vec![0; whole.bytes.len()], ..whole.clone() };
                for device in 0..4 {
                    let part =
                        part(Some(&sharding(text, &mesh)), &mesh, device, &dims).expect("it fits");
                    let shard = cut(&whole, &part);
                    shard.check().expect("it has its shape");
                    paste(&mut joined, &part, &shard);
                }
                assert_eq!(joined, whole, "{text} {dims:?}");
            }
        }
    }

    #[test]
    fn padding_is_poison() {
        let mesh = Mesh::new(&[("a", 4)]);
        let whole = bytes(&[6]);
        let part = |device| {
            part(Some(&sharding("[{\"a\"}]", &mesh)), &mesh, device, &[6]).expect("it fits")
        };
        assert_eq!(cut(&whole, &part(2)).bytes, [4, 5]);
        assert_eq!(cut(&whole, &part(3)).bytes, [255, 255]);
        let whole = bytes(&[5]);
        let cut_of = |device| {
            let sharding = sharding("[{\"a\"}]", &mesh);
            cut(&whole, &super::part(Some(&sharding), &mesh, device, &[5]).expect("it fits")).bytes
        };
        assert_eq!(cut_of(2), [4, 255]);
        let part = |device| {
            super::part(Some(&sharding("[{\"a\"}]", &mesh)), &mesh, device, &[1]).expect("it fits")
        };
        let one = bytes(&[1]);
        assert_eq!(cut(&one, &part(0)).bytes, [0]);
        assert_eq!(cut(&one, &part(1)).bytes, [255]);
    }

    #[test]
    fn devices_may_be_in_another_order() {
        let mesh = Mesh::new(&[("a", 2)]).with_device_ids(&[1, 0]);
        let sharding = sharding("[{\"a\"}]", &mesh);
        let part = part(Some(&sharding), &mesh, 0, &[4]).expect("it fits");
        assert_eq!(part.offsets, [2]);
    }
}
