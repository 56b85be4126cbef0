//! Programs that are compiled and loaded on devices.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shard_ir::{ElementType, HostArray};

use crate::array;
use crate::error::{Error, InputError};
use crate::ffi::{BufferHandle, LoadedHandle};
use crate::hlo::{self, OptimizedModule, Shape};
use crate::stats::{self, CostAnalysis, MemoryStats};

/// A program that is ready to run.
#[derive(Debug)]
pub struct Executable {
    loaded: LoadedHandle,
    /// A number that no other program of this process has.
    id: u64,
    /// Its arguments on one device, read when first needed; `None` if the plugin doesn't tell.
    arguments: OnceLock<Option<Vec<Shape>>>,
}

/// Arrays on the devices of a program: one list a device, all of the same length.
#[derive(Debug)]
pub struct DeviceBuffers {
    lists: Vec<Vec<BufferHandle>>,
    /// The program whose arguments these were last seen to fit, so that runs that are timed
    /// don't check it again; 0 for none.
    fits: AtomicU64,
}

impl Executable {
    pub(crate) fn new(loaded: LoadedHandle) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Executable { loaded, id, arguments: OnceLock::new() }
    }

    /// Devices that the program runs on: replicas times partitions.
    pub fn device_count(&self) -> usize {
        self.loaded.device_count()
    }

    /// Runs the program once on all its devices.
    ///
    /// `inputs` has one list of arguments a device, in the order of positions (see
    /// [`crate::CompileOptions`]); so have the results.
    ///
    /// # Errors
    ///
    /// Where the inputs don't fit each other or the program, and where the plugin fails.
    pub fn execute(&self, inputs: &[Vec<HostArray>]) -> Result<Vec<Vec<HostArray>>, Error> {
        let inputs = self.upload(inputs)?;
        self.download(&self.run(&inputs)?)
    }

    /// Copies inputs to the devices, and returns when they are there.
    ///
    /// # Errors
    ///
    /// As [`Executable::execute`].
    pub fn upload(&self, inputs: &[Vec<HostArray>]) -> Result<DeviceBuffers, Error> {
        let expected = self.device_count();
        if inputs.len() != expected {
            return Err(InputError::Devices { expected, found: inputs.len() }.into());
        }
        let first = inputs.first().map_or(0, Vec::len);
        if let Some(device) = inputs.iter().position(|list| list.len() != first) {
            return Err(InputError::Uneven { first, device, found: inputs[device].len() }.into());
        }
        for (device, list) in inputs.iter().enumerate() {
            for array in list {
                array.check().map_err(InputError::from)?;
                array::buffer_type(array.element_type)?;
            }
            self.check(device, list.iter().map(|array| (array.element_type, &*array.dims)))?;
        }
        let upload = |device: usize, array: &HostArray| {
            let type_ = array::buffer_type(array.element_type)?;
            self.loaded.upload(device, type_, &array.dims, &array.bytes)
        };
        let lists = inputs
            .iter()
            .enumerate()
            .map(|(device, list)| list.iter().map(|array| upload(device, array)).collect())
            .collect::<Result<_, Error>>()?;
        Ok(DeviceBuffers { lists, fits: AtomicU64::new(self.id) })
    }

    /// Checks that inputs fit the arguments. A plugin of API 0.106 crashes if they don't and
    /// there are several devices.
    fn check<'a>(
        &self,
        device: usize,
        inputs: impl ExactSizeIterator<Item = (ElementType, &'a [i64])>,
    ) -> Result<(), Error> {
        if self.arguments.get().is_none() {
            let _ = self.arguments.set(hlo::arguments(self.loaded.executable()?)?);
        }
        let Some(Some(arguments)) = self.arguments.get() else { return Ok(()) };
        let (expected, found) = (arguments.len(), inputs.len());
        if expected != found {
            return Err(InputError::Arguments { expected, found }.into());
        }
        for (argument, (expected, (element_type, dims))) in arguments.iter().zip(inputs).enumerate()
        {
            let dims = dims.iter().map(|dim| u64::try_from(*dim).unwrap_or(u64::MAX)).collect();
            let found = Shape::Array { element_type, dims };
            if found != *expected {
                let (expected, found) = (expected.to_string(), found.to_string());
                return Err(InputError::Argument { argument, device, expected, found }.into());
            }
        }
        Ok(())
    }

    /// Runs the program on inputs that are on the devices, and returns when all devices are
    /// done. The inputs stay as they are, also those that the program would overwrite with its
    /// results (the plugin copies them then).
    ///
    /// # Errors
    ///
    /// Where the inputs don't fit the program, and where the plugin fails.
    pub fn run(&self, inputs: &DeviceBuffers) -> Result<DeviceBuffers, Error> {
        if inputs.fits.load(Ordering::Relaxed) != self.id {
            for (device, list) in inputs.lists.iter().enumerate() {
                let shapes = list.iter().map(shape).collect::<Result<Vec<_>, Error>>()?;
                self.check(device, shapes.iter().map(|(ty, dims)| (*ty, dims.as_slice())))?;
            }
            inputs.fits.store(self.id, Ordering::Relaxed);
        }
        let lists = self.loaded.execute(&inputs.lists)?;
        for buffer in lists.iter().flatten() {
            buffer.wait()?;
        }
        Ok(DeviceBuffers { lists, fits: AtomicU64::new(0) })
    }

    /// Runs the program `warm_up` times, then `runs` times, and returns the wall-clock time of
    /// each of the latter, from the call until all devices are done.
    ///
    /// # Errors
    ///
    /// As [`Executable::run`].
    pub fn time(
        &self,
        inputs: &DeviceBuffers,
        warm_up: usize,
        runs: usize,
    ) -> Result<Vec<Duration>, Error> {
        for _ in 0..warm_up {
            self.run(inputs)?;
        }
        let timed = || {
            let start = Instant::now();
            let results = self.run(inputs)?;
            let time = start.elapsed();
            drop(results);
            Ok(time)
        };
        (0..runs).map(|_| timed()).collect()
    }

    /// Copies arrays back to the host.
    ///
    /// # Errors
    ///
    /// Where an element type isn't known here, and where the plugin fails.
    pub fn download(&self, buffers: &DeviceBuffers) -> Result<Vec<Vec<HostArray>>, Error> {
        buffers.lists.iter().map(|list| list.iter().map(download).collect()).collect()
    }

    /// The program as the compiler left it.
    ///
    /// # Errors
    ///
    /// Where the plugin doesn't return it in a form that can be read.
    pub fn optimized(&self) -> Result<OptimizedModule, Error> {
        OptimizedModule::of(self.loaded.executable()?)
    }

    /// The compiler's estimate of the program's cost on one device; `None` where the plugin has
    /// none.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn cost_analysis(&self) -> Result<Option<CostAnalysis>, Error> {
        stats::cost_analysis(self.loaded.executable()?)
    }

    /// The program's memory on one device; `None` where the plugin doesn't say.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn memory_stats(&self) -> Result<Option<MemoryStats>, Error> {
        stats::memory_stats(self.loaded.executable()?)
    }

    /// Bytes of machine code; `None` where the plugin doesn't say.
    ///
    /// # Errors
    ///
    /// Where the plugin fails.
    pub fn code_size(&self) -> Result<Option<u64>, Error> {
        stats::code_size(self.loaded.executable()?)
    }
}

fn shape(buffer: &BufferHandle) -> Result<(ElementType, Vec<i64>), Error> {
    let number = buffer.element_type()?;
    let element_type = array::element_type(number)
        .ok_or_else(|| InputError::ElementType(format!("number {number}")))?;
    Ok((element_type, buffer.dims()?))
}

fn download(buffer: &BufferHandle) -> Result<HostArray, Error> {
    let (element_type, dims) = shape(buffer)?;
    let size = HostArray::size(element_type, &dims).map_err(InputError::from)?;
    let bytes = buffer.download(dims.len(), size)?;
    Ok(HostArray { element_type, dims, bytes })
}

impl DeviceBuffers {
    /// Devices that there are lists for.
    pub fn device_count(&self) -> usize {
        self.lists.len()
    }
}
