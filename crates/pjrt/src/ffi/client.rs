//! Clients: their devices, compilation, and copies from the host.

use std::sync::Arc;

use pjrt_sys::*;

use super::api::{Api, text};
use super::buffer::BufferHandle;
use super::executable::LoadedHandle;
use super::values::{NamedValue, RawValues};
use crate::error::Error;

/// A client, destroyed when the last handle that needs it is dropped.
#[derive(Debug)]
pub(crate) struct ClientHandle {
    pub(super) api: Arc<Api>,
    raw: *mut PJRT_Client,
    devices: Vec<*mut PJRT_Device>,
}

// SAFETY: PjRtClient is documented thread-safe; the pointers are only passed to its functions.
unsafe impl Send for ClientHandle {}
// SAFETY: as above.
unsafe impl Sync for ClientHandle {}

impl ClientHandle {
    pub(crate) fn create(api: Arc<Api>, options: &[NamedValue]) -> Result<Arc<Self>, Error> {
        let options = RawValues::new(options);
        let mut args = PJRT_Client_Create_Args {
            create_options: options.as_ptr(),
            num_options: options.len(),
            ..Default::default()
        };
        // SAFETY: the options live until after the call; no callbacks are given.
        unsafe { api.call("PJRT_Client_Create", api.table.PJRT_Client_Create, &mut args)? };
        if args.client.is_null() {
            return Err(api.misbehaviour("PJRT_Client_Create", "it returned no client"));
        }
        let mut client = ClientHandle { api, raw: args.client, devices: Vec::new() };
        client.devices = client.addressable_devices()?;
        Ok(Arc::new(client))
    }

    fn addressable_devices(&self) -> Result<Vec<*mut PJRT_Device>, Error> {
        let mut args =
            PJRT_Client_AddressableDevices_Args { client: self.raw, ..Default::default() };
        // SAFETY: the client is alive.
        unsafe {
            self.api.call(
                "PJRT_Client_AddressableDevices",
                self.api.table.PJRT_Client_AddressableDevices,
                &mut args,
            )?;
        }
        if args.addressable_devices.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the client owns the list, which has this length.
        let devices = unsafe {
            std::slice::from_raw_parts(args.addressable_devices, args.num_addressable_devices)
        };
        Ok(devices.to_vec())
    }

    pub(crate) fn device_count(&self) -> usize {
        self.devices.len()
    }

    pub(crate) fn platform_name(&self) -> Result<String, Error> {
        let mut args = PJRT_Client_PlatformName_Args { client: self.raw, ..Default::default() };
        // SAFETY: the client is alive, and owns the text that is returned.
        unsafe {
            self.api.call(
                "PJRT_Client_PlatformName",
                self.api.table.PJRT_Client_PlatformName,
                &mut args,
            )?;
            Ok(text(args.platform_name, args.platform_name_size))
        }
    }

    pub(crate) fn platform_version(&self) -> Result<String, Error> {
        let mut args = PJRT_Client_PlatformVersion_Args { client: self.raw, ..Default::default() };
        // SAFETY: the client is alive, and owns the text that is returned.
        unsafe {
            self.api.call(
                "PJRT_Client_PlatformVersion",
                self.api.table.PJRT_Client_PlatformVersion,
                &mut args,
            )?;
            Ok(text(args.platform_version, args.platform_version_size))
        }
    }

    /// Compiles `code`, which is in `format`, with a serialised `CompileOptionsProto`.
    pub(crate) fn compile(
        self: &Arc<Self>,
        format: &str,
        code: &[u8],
        options: &[u8],
    ) -> Result<LoadedHandle, Error> {
        let program = program(format, code);
        let mut args = PJRT_Client_Compile_Args {
            client: self.raw,
            program: &raw const program,
            compile_options: options.as_ptr().cast(),
            compile_options_size: options.len(),
            ..Default::default()
        };
        // SAFETY: the client is alive; program, code, format and options outlive the call, and
        // the plugin only reads them.
        unsafe {
            self.api.call("PJRT_Client_Compile", self.api.table.PJRT_Client_Compile, &mut args)?;
        }
        if args.executable.is_null() {
            let what = "it returned no executable";
            return Err(self.api.misbehaviour("PJRT_Client_Compile", what));
        }
        // SAFETY: the executable was just made by this client, and nobody else owns it.
        unsafe { LoadedHandle::new(self.clone(), args.executable) }
    }

    /// Copies a dense row-major array to a device, and waits until it is there.
    pub(super) fn upload(
        self: &Arc<Self>,
        device: *mut PJRT_Device,
        type_: PJRT_Buffer_Type,
        dims: &[i64],
        bytes: &[u8],
    ) -> Result<BufferHandle, Error> {
        let mut args = PJRT_Client_BufferFromHostBuffer_Args {
            client: self.raw,
            data: bytes.as_ptr().cast(),
            type_,
            dims: dims.as_ptr(),
            num_dims: dims.len(),
            host_buffer_semantics:
                PJRT_HostBufferSemantics_PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
            device,
            ..Default::default()
        };
        // SAFETY: the client is alive and the device is one of its own; `bytes` has the bytes of
        // the shape (the caller of the safe interface is checked), and the plugin promises to
        // read them during the call only.
        unsafe {
            self.api.call(
                "PJRT_Client_BufferFromHostBuffer",
                self.api.table.PJRT_Client_BufferFromHostBuffer,
                &mut args,
            )?;
        }
        let buffer = if args.buffer.is_null() {
            let what = "it returned no buffer";
            Err(self.api.misbehaviour("PJRT_Client_BufferFromHostBuffer", what))
        } else {
            // SAFETY: the buffer was just made by this client, and nobody else owns it.
            Ok(unsafe { BufferHandle::new(self.clone(), args.buffer) })
        };
        let waited = self.api.wait(args.done_with_host_buffer);
        let buffer = buffer?;
        waited?;
        buffer.wait()?;
        Ok(buffer)
    }
}

impl Drop for ClientHandle {
    fn drop(&mut self) {
        let mut args = PJRT_Client_Destroy_Args { client: self.raw, ..Default::default() };
        // SAFETY: buffers and executables hold a handle of the client, so none is left; the
        // client is freed here, once. An error can't be reported from here.
        let _ = unsafe {
            self.api.call("PJRT_Client_Destroy", self.api.table.PJRT_Client_Destroy, &mut args)
        };
    }
}

/// A program as the C interface takes it. It points into `format` and `code`.
pub(super) fn program(format: &str, code: &[u8]) -> PJRT_Program {
    PJRT_Program {
        // Its layout has never changed, so its true size serves every version.
        struct_size: size_of::<PJRT_Program>(),
        code: code.as_ptr().cast_mut().cast(),
        code_size: code.len(),
        format: format.as_ptr().cast(),
        format_size: format.len(),
        ..Default::default()
    }
}
