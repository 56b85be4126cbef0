//! Topologies: devices that programs are compiled for without being there.

use std::sync::Arc;

use pjrt_sys::*;

use super::api::Api;
use super::executable::ExecutableHandle;
use super::values::{NamedValue, RawValues};
use crate::error::Error;

/// A topology, freed when dropped.
#[derive(Debug)]
pub(crate) struct TopologyHandle {
    api: Arc<Api>,
    raw: *mut PJRT_TopologyDescription,
}

// SAFETY: a topology description is immutable; the pointer is only passed to its functions.
unsafe impl Send for TopologyHandle {}
// SAFETY: as above.
unsafe impl Sync for TopologyHandle {}

impl TopologyHandle {
    pub(crate) fn create(api: Arc<Api>, name: &str, options: &[NamedValue]) -> Result<Self, Error> {
        const CALL: &str = "PJRT_TopologyDescription_Create";
        let options = RawValues::new(options);
        let mut args = PJRT_TopologyDescription_Create_Args {
            topology_name: name.as_ptr().cast(),
            topology_name_size: name.len(),
            create_options: options.as_ptr(),
            num_options: options.len(),
            ..Default::default()
        };
        // SAFETY: name and options outlive the call.
        unsafe { api.call(CALL, api.table.PJRT_TopologyDescription_Create, &mut args)? };
        if args.topology.is_null() {
            return Err(api.misbehaviour(CALL, "it returned no topology"));
        }
        Ok(TopologyHandle { api, raw: args.topology })
    }

    pub(crate) fn device_count(&self) -> Result<usize, Error> {
        let mut args = PJRT_TopologyDescription_GetDeviceDescriptions_Args {
            topology: self.raw,
            ..Default::default()
        };
        // SAFETY: the topology is alive.
        unsafe {
            self.api.call(
                "PJRT_TopologyDescription_GetDeviceDescriptions",
                self.api.table.PJRT_TopologyDescription_GetDeviceDescriptions,
                &mut args,
            )?;
        }
        Ok(args.num_descriptions)
    }

    /// Compiles `code`, which is in `format`, with a serialised `CompileOptionsProto`.
    pub(crate) fn compile(
        &self,
        format: &str,
        code: &[u8],
        options: &[u8],
    ) -> Result<ExecutableHandle, Error> {
        const CALL: &str = "PJRT_Compile";
        let program = super::client::program(format, code);
        let mut args = PJRT_Compile_Args {
            topology: self.raw,
            program: &raw const program,
            compile_options: options.as_ptr().cast(),
            compile_options_size: options.len(),
            ..Default::default()
        };
        // SAFETY: the topology is alive; program, code, format and options outlive the call, and
        // the plugin only reads them.
        unsafe { self.api.call(CALL, self.api.table.PJRT_Compile, &mut args)? };
        if args.executable.is_null() {
            return Err(self.api.misbehaviour(CALL, "it returned no executable"));
        }
        // SAFETY: the executable was just made, and nobody else owns it.
        Ok(unsafe { ExecutableHandle::new(self.api.clone(), args.executable) })
    }
}

impl Drop for TopologyHandle {
    fn drop(&mut self) {
        let mut args =
            PJRT_TopologyDescription_Destroy_Args { topology: self.raw, ..Default::default() };
        // SAFETY: the topology is freed here, once. An error can't be reported from here.
        let _ = unsafe {
            self.api.call(
                "PJRT_TopologyDescription_Destroy",
                self.api.table.PJRT_TopologyDescription_Destroy,
                &mut args,
            )
        };
    }
}
