//! What a compiler says about a program that it compiled: its estimates, not measurements.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorCode};
use crate::ffi::{ExecutableHandle, Value};

/// The compiler's estimate of a program's cost on one device.
///
/// These come from XLA's `HloCostAnalysis`, which counts the body of a loop once, however often
/// it runs: see [`crate::OptimizedModule::contraction_flops`] for a count that doesn't. The CPU
/// plugins of API 0.106 and 0.115 have no cost analysis, that of 0.81 and libtpu do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CostAnalysis {
    /// Floating-point operations (a multiply and an add are two).
    pub flops: Option<f64>,
    /// Bytes that operations read and write.
    pub bytes_accessed: Option<f64>,
    /// Transcendental operations (exponentials, logarithms, ...).
    pub transcendentals: Option<f64>,
    /// Seconds that the compiler thinks the program takes at best. On large programs it is known
    /// to be nonsense, even negative.
    pub optimal_seconds: Option<f64>,
    /// Every property by the compiler's name, with these.
    pub properties: BTreeMap<String, f64>,
}

/// Bytes of memory that a program takes on one device, by the compiler's plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStats {
    /// Machine code; CPU plugins say 0.
    pub generated_code: u64,
    /// Arguments.
    pub arguments: u64,
    /// Results.
    pub results: u64,
    /// What arguments and results share.
    pub aliased: u64,
    /// Values in between.
    pub temporaries: u64,
    /// Values in between that lie in the host's memory.
    pub host_temporaries: u64,
    /// The most that is in use at any time, where the plugin says so (since API 0.8x).
    pub peak: Option<u64>,
}

/// `None` where the plugin lacks the function or the figures.
fn known<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Error::Plugin { error, .. }) if error.code == ErrorCode::Unimplemented => Ok(None),
        Err(Error::Misbehaviour { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn code_size(executable: &ExecutableHandle) -> Result<Option<u64>, Error> {
    let size = known(executable.code_size())?;
    // XLA says -1 where it doesn't know.
    Ok(size.and_then(|size| u64::try_from(size).ok()))
}

pub(crate) fn cost_analysis(executable: &ExecutableHandle) -> Result<Option<CostAnalysis>, Error> {
    let Some(values) = known(executable.cost_analysis())? else { return Ok(None) };
    let properties: BTreeMap<String, f64> = values
        .into_iter()
        .filter_map(|named| match named.value {
            Value::Float(value) => Some((named.name, value.into())),
            Value::Integer(value) => Some((named.name, value as f64)),
            _ => None,
        })
        .collect();
    let property = |name: &str| properties.get(name).copied();
    Ok(Some(CostAnalysis {
        flops: property("flops"),
        bytes_accessed: property("bytes accessed"),
        transcendentals: property("transcendentals"),
        optimal_seconds: property("optimal_seconds"),
        properties,
    }))
}

pub(crate) fn memory_stats(executable: &ExecutableHandle) -> Result<Option<MemoryStats>, Error> {
    let Some(raw) = known(executable.memory_stats())? else { return Ok(None) };
    let bytes = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    Ok(Some(MemoryStats {
        generated_code: bytes(raw.generated_code()),
        arguments: bytes(raw.arguments()),
        results: bytes(raw.results()),
        aliased: bytes(raw.aliased()),
        temporaries: bytes(raw.temporaries()),
        host_temporaries: bytes(raw.host_temporaries()),
        peak: u64::try_from(raw.peak()).ok().filter(|peak| *peak > 0),
    }))
}
