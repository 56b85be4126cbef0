//! Records stay small: programs have millions of ops.

use shard_ir::{OpData, ops::Op};

#[test]
fn op_records_fit_a_cache_line() {
    assert!(size_of::<Op>() <= 24, "{}", size_of::<Op>());
    assert!(size_of::<OpData>() <= 64, "{}", size_of::<OpData>());
}
