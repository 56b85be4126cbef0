//! Compiling ahead of time, for devices that aren't there.

use std::ops::RangeInclusive;

use crate::error::{Error, InputError};
use crate::ffi::{ExecutableHandle, NamedValue, TopologyHandle, Value};
use crate::hlo::{EstimatedCycles, OptimizedModule};
use crate::options::{CompileOptions, Program};
use crate::plugin::Plugin;
use crate::stats::{self, CostAnalysis, MemoryStats};

/// Devices that aren't there, described well enough to compile for.
#[derive(Debug)]
pub struct Topology {
    handle: TopologyHandle,
    name: String,
}

impl Topology {
    /// Its name, such as `v4:2x2x2`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its devices; on a TPU v4 one a chip.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn device_count(&self) -> Result<usize, Error> {
        self.handle.device_count()
    }
}

/// A program that is compiled for a topology, and can't be run here.
#[derive(Debug)]
pub struct AheadExecutable {
    executable: ExecutableHandle,
}

impl Plugin {
    /// A topology of TPUs, such as `v4:2x2x2`, with one device a chip (the two cores of a v4
    /// chip work as one, "megacore").
    ///
    /// The plugin is to be loaded with [`Plugin::load_tpu`].
    ///
    /// # Errors
    ///
    /// Where the name isn't one of a topology, or libtpu doesn't know it.
    pub fn tpu_topology(&self, name: &str) -> Result<Topology, Error> {
        let bounds = chips_per_host(name).ok_or_else(|| InputError::Topology(name.to_owned()))?;
        let option = |name: &str, value| NamedValue { name: name.to_owned(), value };
        let options = [
            option("chip_config_name", Value::Text("megacore".to_owned())),
            option("chips_per_host_bounds", Value::Integers(bounds.to_vec())),
            option("num_slices", Value::Integer(1)),
        ];
        let handle = TopologyHandle::create(self.api.clone(), name, &options)?;
        Ok(Topology { handle, name: name.to_owned() })
    }

    /// Compiles a program for a topology.
    ///
    /// libtpu's compiler aborts the process on some programs that it can't compile. A tool that
    /// must not die with it works in a child process: see [`crate::child`].
    ///
    /// # Errors
    ///
    /// Where the options don't fit each other, and where the plugin refuses the program.
    pub fn compile_ahead(
        &self,
        topology: &Topology,
        program: &Program<'_>,
        options: &CompileOptions,
    ) -> Result<AheadExecutable, Error> {
        let options = options.encode(&[])?;
        let executable = topology.handle.compile(program.format(), program.code(), &options)?;
        Ok(AheadExecutable { executable })
    }
}

impl AheadExecutable {
    /// The program as the compiler left it.
    ///
    /// # Errors
    ///
    /// Where the plugin doesn't return it in a form that can be read.
    pub fn optimized(&self) -> Result<OptimizedModule, Error> {
        OptimizedModule::of(&self.executable)
    }

    /// The compiler's estimate of the program's cost on one device.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn cost_analysis(&self) -> Result<Option<CostAnalysis>, Error> {
        stats::cost_analysis(&self.executable)
    }

    /// The program's memory on one device.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn memory_stats(&self) -> Result<Option<MemoryStats>, Error> {
        stats::memory_stats(&self.executable)
    }

    /// Bytes of machine code.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn code_size(&self) -> Result<Option<u64>, Error> {
        stats::code_size(&self.executable)
    }

    /// Floating-point operations on one device, by the compiler's estimate.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn flops(&self) -> Result<Option<f64>, Error> {
        Ok(self.cost_analysis()?.and_then(|cost| cost.flops))
    }

    /// Cycles of one device, by the compiler's estimate: see [`OptimizedModule::estimated_cycles`].
    ///
    /// # Errors
    ///
    /// Where the plugin doesn't return the program in a form that can be read.
    pub fn estimated_cycles(&self) -> Result<EstimatedCycles, Error> {
        Ok(self.optimized()?.estimated_cycles())
    }
}

/// Chips of a host: at most 2 in each of the first two dimensions, 1 in the third, as a host of
/// TPU v4 has them.
fn chips_per_host(topology: &str) -> Option<[i64; 3]> {
    const SIZES: RangeInclusive<i64> = 1..=1024;
    let (kind, shape) = topology.split_once(':')?;
    if kind.is_empty() {
        return None;
    }
    let mut bounds = [1; 3];
    for (dim, size) in shape.split('x').enumerate() {
        let size: i64 = size.parse().ok().filter(|size| SIZES.contains(size))?;
        let most = if dim < 2 { 2 } else { 1 };
        *bounds.get_mut(dim)? = size.min(most);
    }
    Some(bounds)
}
