//! Dimension numbers of dots, convolutions, gathers and scatters.

use crate::Dims;

/// Which dimensions a `dot_general` contracts and batches over.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct DotDims {
    /// Batch dimensions of the left operand.
    pub lhs_batch: Dims,
    /// Batch dimensions of the right operand.
    pub rhs_batch: Dims,
    /// Contracting dimensions of the left operand.
    pub lhs_contracting: Dims,
    /// Contracting dimensions of the right operand.
    pub rhs_contracting: Dims,
}

impl DotDims {
    /// Dimensions of the left operand that are neither batch nor contracting, ascending.
    pub fn lhs_free(&self, rank: usize) -> Dims {
        free(rank, &self.lhs_batch, &self.lhs_contracting)
    }

    /// Dimensions of the right operand that are neither batch nor contracting, ascending.
    pub fn rhs_free(&self, rank: usize) -> Dims {
        free(rank, &self.rhs_batch, &self.rhs_contracting)
    }
}

fn free(rank: usize, batch: &[i64], contracting: &[i64]) -> Dims {
    (0..rank as i64).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect()
}

/// Which dimensions of a convolution are batch, feature and spatial.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ConvDims {
    /// Batch dimension of the input.
    pub input_batch: i64,
    /// Feature dimension of the input.
    pub input_feature: i64,
    /// Spatial dimensions of the input.
    pub input_spatial: Dims,
    /// Input feature dimension of the kernel.
    pub kernel_input_feature: i64,
    /// Output feature dimension of the kernel.
    pub kernel_output_feature: i64,
    /// Spatial dimensions of the kernel.
    pub kernel_spatial: Dims,
    /// Batch dimension of the result.
    pub output_batch: i64,
    /// Feature dimension of the result.
    pub output_feature: i64,
    /// Spatial dimensions of the result.
    pub output_spatial: Dims,
}

/// Dimension numbers of a gather.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct GatherDims {
    /// Result dimensions that hold the slices.
    pub offset_dims: Dims,
    /// Operand dimensions of slice size one that the result leaves out.
    pub collapsed_slice_dims: Dims,
    /// Operand dimensions that go along with the indices' batching dimensions.
    pub operand_batching_dims: Dims,
    /// Dimensions of the indices that go along with the operand's batching dimensions.
    pub start_indices_batching_dims: Dims,
    /// Operand dimension that each component of an index vector addresses.
    pub start_index_map: Dims,
    /// Dimension of the indices that holds the index vector.
    pub index_vector_dim: i64,
}

/// Dimension numbers of a scatter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ScatterDims {
    /// Dimensions of the updates that hold the windows.
    pub update_window_dims: Dims,
    /// Input dimensions of window size one that the updates leave out.
    pub inserted_window_dims: Dims,
    /// Input dimensions that go along with the indices' batching dimensions.
    pub input_batching_dims: Dims,
    /// Dimensions of the indices that go along with the input's batching dimensions.
    pub scatter_indices_batching_dims: Dims,
    /// Input dimension that each component of an index vector addresses.
    pub scatter_dims_to_operand_dims: Dims,
    /// Dimension of the indices that holds the index vector.
    pub index_vector_dim: i64,
}

/// Which dimensions a ragged dot contracts, batches over and divides into groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct RaggedDims {
    /// Batch dimensions of the left and of the right operand.
    pub batch: [Dims; 2],
    /// Contracting dimensions of the left and of the right operand.
    pub contracting: [Dims; 2],
    /// The dimension of the left operand whose rows belong to groups.
    pub ragged: Dims,
    /// The dimension of the right operand that has one slice a group.
    pub group: Dims,
}

impl RaggedDims {
    /// Reads `#chlo.ragged_dot<...>`; `None` if the text has another form.
    pub fn from_text(text: &str) -> Option<RaggedDims> {
        let list = |name: &str| -> Option<Dims> {
            let Some(at) = text.find(name) else { return Some(Dims::new()) };
            let rest = text[at + name.len()..].trim_start().strip_prefix('=')?;
            let body = rest.trim_start().strip_prefix('[')?.split_once(']')?.0;
            body.split(',')
                .map(str::trim)
                .filter(|n| !n.is_empty())
                .map(|n| n.parse().ok())
                .collect()
        };
        Some(RaggedDims {
            batch: [list("lhs_batching_dimensions")?, list("rhs_batching_dimensions")?],
            contracting: [list("lhs_contracting_dimensions")?, list("rhs_contracting_dimensions")?],
            ragged: list("lhs_ragged_dimensions")?,
            group: list("rhs_group_dimensions")?,
        })
    }

    /// The dimensions of the left operand, of rank `rank`, outside of the ragged one: those that
    /// `group_sizes` has a list for. `None` where there isn't one ragged dimension.
    pub fn outer(&self, rank: usize) -> Option<Dims> {
        let &[ragged] = &self.ragged[..] else { return None };
        let (batch, contracting) = (&self.batch[0], &self.contracting[0]);
        let before = |dims: &Dims| dims.iter().copied().take_while(|&dim| dim != ragged).collect();
        if batch.contains(&ragged) {
            return Some(before(batch));
        }
        let inner: Dims = match contracting.contains(&ragged) {
            true => before(contracting),
            false => free(rank, batch, contracting).into_iter().filter(|&d| d < ragged).collect(),
        };
        Some(batch.iter().copied().chain(inner).collect())
    }
}
