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
