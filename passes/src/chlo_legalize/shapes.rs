//! Ops that are made of others by their shapes: implicit broadcasts, `constant_like`, `top_k`.

use shard_ir::ops::{
    BroadcastInDim, Compare, CompareType, Constant, Control, Direction, Iota, Op, Slice, Sort, TopK,
};
use shard_ir::{
    Attr, AttrsId, Builder, DYNAMIC, Dense, DenseData, Diagnostic, Dims, ElementType, Module, OpId, Symbol,
    TensorType, TypeId, ValueId,
};

use crate::numbers;
use crate::rewrite::Rewriter;
