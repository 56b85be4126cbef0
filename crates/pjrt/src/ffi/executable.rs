//! Compiled programs: running them and asking about them.

use std::sync::Arc;

use pjrt_sys::*;

use super::api::{Api, Args, Padded};
use super::buffer::BufferHandle;
use super::client::ClientHandle;
use super::values::{self, NamedValue};
use crate::error::{Error, InputError};

/// A compiled program that isn't loaded on devices, freed when dropped.
#[derive(Debug)]
pub(crate) struct ExecutableHandle {
    api: Arc<Api>,
    raw: *mut PJRT_Executable,
}

// SAFETY: PjRtExecutable is immutable once made; the pointer is only passed to its functions.
unsafe impl Send for ExecutableHandle {}
// SAFETY: as above.
unsafe impl Sync for ExecutableHandle {}

/// Memory statistics in bytes, with the fields that were added after the bindings' version.
///
/// A plugin that doesn't know a field leaves its zero.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawMemoryStats {
    head: PJRT_Executable_GetCompiledMemoryStats_Args,
    peak_memory_in_bytes: i64,
    total_size_in_bytes: i64,
}

// SAFETY: `repr(C)`, beginning with a struct of the interface that begins with `struct_size`;
// integers and a nullable pointer may be zero.
unsafe impl Args for RawMemoryStats {}

impl RawMemoryStats {
    pub(crate) fn generated_code(&self) -> i64 {
        self.head.generated_code_size_in_bytes
    }
    pub(crate) fn arguments(&self) -> i64 {
        self.head.argument_size_in_bytes
    }
    pub(crate) fn results(&self) -> i64 {
        self.head.output_size_in_bytes
    }
    pub(crate) fn aliased(&self) -> i64 {
        self.head.alias_size_in_bytes
    }
    pub(crate) fn temporaries(&self) -> i64 {
        self.head.temp_size_in_bytes
    }
    pub(crate) fn host_temporaries(&self) -> i64 {
        self.head.host_temp_size_in_bytes
    }
    pub(crate) fn peak(&self) -> i64 {
        self.peak_memory_in_bytes
    }
}

impl ExecutableHandle {
    /// # Safety
    ///
    /// `raw` is an executable of this plugin, and nobody else owns it.
    pub(super) unsafe fn new(api: Arc<Api>, raw: *mut PJRT_Executable) -> Self {
        ExecutableHandle { api, raw }
    }

    pub(crate) fn api(&self) -> &Arc<Api> {
        &self.api
    }

    pub(crate) fn result_count(&self) -> Result<usize, Error> {
        let mut args =
            PJRT_Executable_NumOutputs_Args { executable: self.raw, ..Default::default() };
        // SAFETY: the executable is alive.
        unsafe {
            self.api.call(
                "PJRT_Executable_NumOutputs",
                self.api.table.PJRT_Executable_NumOutputs,
                &mut args,
            )?;
        }
        Ok(args.num_outputs)
    }

    pub(crate) fn code_size(&self) -> Result<i64, Error> {
        let mut args = PJRT_Executable_SizeOfGeneratedCodeInBytes_Args {
            executable: self.raw,
            ..Default::default()
        };
        // SAFETY: the executable is alive.
        unsafe {
            self.api.call(
                "PJRT_Executable_SizeOfGeneratedCodeInBytes",
                self.api.table.PJRT_Executable_SizeOfGeneratedCodeInBytes,
                &mut args,
            )?;
        }
        Ok(args.size_in_bytes)
    }

    pub(crate) fn cost_analysis(&self) -> Result<Vec<NamedValue>, Error> {
        let mut args =
            PJRT_Executable_GetCostAnalysis_Args { executable: self.raw, ..Default::default() };
        // SAFETY: the executable is alive; it owns the properties, which are copied while it is.
        unsafe {
            self.api.call(
                "PJRT_Executable_GetCostAnalysis",
                self.api.table.PJRT_Executable_GetCostAnalysis,
                &mut args,
            )?;
            Ok(values::read(args.properties, args.num_properties))
        }
    }

    pub(crate) fn memory_stats(&self) -> Result<RawMemoryStats, Error> {
        const CALL: &str = "PJRT_Executable_GetCompiledMemoryStats";
        let Some(function) = self.api.table.PJRT_Executable_GetCompiledMemoryStats else {
            return Err(self.api.misbehaviour(CALL, "the plugin doesn't have it"));
        };
        let mut stats = RawMemoryStats {
            head: PJRT_Executable_GetCompiledMemoryStats_Args {
                executable: self.raw,
                ..Default::default()
            },
            peak_memory_in_bytes: 0,
            total_size_in_bytes: 0,
        };
        let mut padded = Padded::of(&stats);
        // SAFETY: the executable is alive; the buffer begins with the struct that the function
        // expects and has room for the fields of newer versions.
        let error = unsafe { function(padded.pointer().cast()) };
        self.api.check(CALL, error)?;
        stats = padded.read();
        Ok(stats)
    }

    /// The program after the compiler's passes, with its format.
    pub(crate) fn optimized_program(&self) -> Result<(String, Vec<u8>), Error> {
        const CALL: &str = "PJRT_Executable_OptimizedProgram";
        let function = self.api.table.PJRT_Executable_OptimizedProgram;
        let mut program = super::client::program("", &[]);
        program.code = std::ptr::null_mut();
        let mut args = PJRT_Executable_OptimizedProgram_Args {
            executable: self.raw,
            program: &raw mut program,
            ..Default::default()
        };
        // SAFETY: the executable is alive; without a code buffer only the size is written.
        unsafe { self.api.call(CALL, function, &mut args)? };
        let mut code = vec![0u8; program.code_size];
        program.code = code.as_mut_ptr().cast();
        // SAFETY: as above, and the code buffer has the size that the plugin asked for.
        unsafe { self.api.call(CALL, function, &mut args)? };
        if program.code_size > code.len() {
            return Err(self.api.misbehaviour(CALL, "it needs more bytes than it asked for"));
        }
        code.truncate(program.code_size);
        // SAFETY: the plugin owns the format's text, which lives as long as the process.
        let format = unsafe { super::api::text(program.format, program.format_size) };
        Ok((format, code))
    }
}

impl Drop for ExecutableHandle {
    fn drop(&mut self) {
        let mut args = PJRT_Executable_Destroy_Args { executable: self.raw, ..Default::default() };
        // SAFETY: the executable is freed here, once. An error can't be reported from here.
        let _ = unsafe {
            self.api.call(
                "PJRT_Executable_Destroy",
                self.api.table.PJRT_Executable_Destroy,
                &mut args,
            )
        };
    }
}

/// A compiled program that is loaded on devices, freed when dropped.
#[derive(Debug)]
pub(crate) struct LoadedHandle {
    client: Arc<ClientHandle>,
    raw: *mut PJRT_LoadedExecutable,
    devices: Vec<*mut PJRT_Device>,
    executable: Option<ExecutableHandle>,
    results: usize,
}

// SAFETY: PjRtLoadedExecutable is documented thread-safe; the pointers are only passed to its
// functions.
unsafe impl Send for LoadedHandle {}
// SAFETY: as above.
unsafe impl Sync for LoadedHandle {}

impl LoadedHandle {
    /// # Safety
    ///
    /// `raw` is a loaded executable of `client`, and nobody else owns it.
    pub(super) unsafe fn new(
        client: Arc<ClientHandle>,
        raw: *mut PJRT_LoadedExecutable,
    ) -> Result<Self, Error> {
        let mut loaded =
            LoadedHandle { client, raw, devices: Vec::new(), executable: None, results: 0 };
        loaded.devices = loaded.addressable_devices()?;
        let executable = loaded.get_executable()?;
        loaded.results = executable.result_count()?;
        loaded.executable = Some(executable);
        Ok(loaded)
    }

    fn addressable_devices(&self) -> Result<Vec<*mut PJRT_Device>, Error> {
        let api = &self.client.api;
        let mut args = PJRT_LoadedExecutable_AddressableDevices_Args {
            executable: self.raw,
            ..Default::default()
        };
        // SAFETY: the executable is alive.
        unsafe {
            api.call(
                "PJRT_LoadedExecutable_AddressableDevices",
                api.table.PJRT_LoadedExecutable_AddressableDevices,
                &mut args,
            )?;
        }
        if args.addressable_devices.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the executable owns the list, which has this length.
        let devices = unsafe {
            std::slice::from_raw_parts(args.addressable_devices, args.num_addressable_devices)
        };
        Ok(devices.to_vec())
    }

    fn get_executable(&self) -> Result<ExecutableHandle, Error> {
        const CALL: &str = "PJRT_LoadedExecutable_GetExecutable";
        let api = &self.client.api;
        let mut args = PJRT_LoadedExecutable_GetExecutable_Args {
            loaded_executable: self.raw,
            ..Default::default()
        };
        // SAFETY: the executable is alive.
        unsafe { api.call(CALL, api.table.PJRT_LoadedExecutable_GetExecutable, &mut args)? };
        if args.executable.is_null() {
            return Err(api.misbehaviour(CALL, "it returned no executable"));
        }
        // SAFETY: the interface gives the caller its own handle, to be freed by it.
        Ok(unsafe { ExecutableHandle::new(api.clone(), args.executable) })
    }

    /// What can be asked of the program without running it.
    pub(crate) fn executable(&self) -> Result<&ExecutableHandle, Error> {
        self.executable.as_ref().ok_or_else(|| {
            let what = "it returned no executable";
            self.client.api.misbehaviour("PJRT_LoadedExecutable_GetExecutable", what)
        })
    }

    pub(crate) fn device_count(&self) -> usize {
        self.devices.len()
    }

    /// Copies an array to the device that runs part `device` of the program.
    pub(crate) fn upload(
        &self,
        device: usize,
        type_: u32,
        dims: &[i64],
        bytes: &[u8],
    ) -> Result<BufferHandle, Error> {
        self.client.upload(self.devices[device], type_, dims, bytes)
    }

    /// Runs the program on all its devices and waits until all are done.
    ///
    /// `inputs` has one list a device, all of the same length. None of them is donated, so that
    /// they can be used again. Buffers of another client are refused.
    pub(crate) fn execute(
        &self,
        inputs: &[Vec<BufferHandle>],
    ) -> Result<Vec<Vec<BufferHandle>>, Error> {
        const CALL: &str = "PJRT_LoadedExecutable_Execute";
        let api = &self.client.api;
        let devices = inputs.len();
        let arguments = inputs.first().map_or(0, Vec::len);
        if devices != self.devices.len() {
            return Err(InputError::Devices { expected: self.devices.len(), found: devices }.into());
        }
        for (device, list) in inputs.iter().enumerate() {
            if list.len() != arguments {
                return Err(
                    InputError::Uneven { first: arguments, device, found: list.len() }.into()
                );
            }
            if list.iter().any(|buffer| !Arc::ptr_eq(&buffer.client, &self.client)) {
                return Err(InputError::OtherClient { device }.into());
            }
        }
        let lists: Vec<Vec<*mut PJRT_Buffer>> =
            inputs.iter().map(|list| list.iter().map(|buffer| buffer.raw).collect()).collect();
        let list_starts: Vec<*const *mut PJRT_Buffer> =
            lists.iter().map(|list| list.as_ptr()).collect();
        let mut results = vec![vec![std::ptr::null_mut::<PJRT_Buffer>(); self.results]; devices];
        let result_starts: Vec<*mut *mut PJRT_Buffer> =
            results.iter_mut().map(|list| list.as_mut_ptr()).collect();
        let mut events = vec![std::ptr::null_mut::<PJRT_Event>(); devices];
        let kept: Vec<i64> = (0..arguments as i64).collect();
        let mut options = Padded::of(&PJRT_ExecuteOptions {
            non_donatable_input_indices: kept.as_ptr(),
            num_non_donatable_input_indices: kept.len(),
            ..Default::default()
        });
        let mut args = PJRT_LoadedExecutable_Execute_Args {
            executable: self.raw,
            options: options.pointer(),
            argument_lists: list_starts.as_ptr(),
            num_devices: devices,
            num_args: arguments,
            output_lists: result_starts.as_ptr(),
            device_complete_events: events.as_mut_ptr(),
            ..Default::default()
        };
        // SAFETY: the executable and the buffers are alive; every list has the length that the
        // arguments say, the result lists that of the program's results, and all outlive the
        // call.
        let called = unsafe { api.call(CALL, api.table.PJRT_LoadedExecutable_Execute, &mut args) };
        // Whatever came back is owned before anything can return early.
        let results: Vec<Vec<Option<BufferHandle>>> = results
            .into_iter()
            .map(|list| {
                list.into_iter()
                    .map(|raw| {
                        // SAFETY: a buffer that isn't null was just made by this client for us.
                        (!raw.is_null())
                            .then(|| unsafe { BufferHandle::new(self.client.clone(), raw) })
                    })
                    .collect()
            })
            .collect();
        called?;
        let mut waited = Ok(());
        for event in events {
            let done = api.wait(event);
            waited = waited.and(done);
        }
        waited?;
        results
            .into_iter()
            .map(|list| list.into_iter().collect::<Option<Vec<_>>>())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| api.misbehaviour(CALL, "it returned fewer results than it has"))
    }
}

impl Drop for LoadedHandle {
    fn drop(&mut self) {
        self.executable = None;
        let api = &self.client.api;
        let mut args =
            PJRT_LoadedExecutable_Destroy_Args { executable: self.raw, ..Default::default() };
        // SAFETY: the executable is freed here, once. An error can't be reported from here.
        let _ = unsafe {
            api.call(
                "PJRT_LoadedExecutable_Destroy",
                api.table.PJRT_LoadedExecutable_Destroy,
                &mut args,
            )
        };
    }
}
