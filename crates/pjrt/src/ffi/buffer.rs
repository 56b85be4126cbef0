//! Buffers on devices, and copies to the host.

use std::sync::Arc;

use pjrt_sys::*;

use super::client::ClientHandle;
use crate::error::Error;

/// A buffer on a device, freed when dropped.
#[derive(Debug)]
pub(crate) struct BufferHandle {
    pub(super) client: Arc<ClientHandle>,
    pub(super) raw: *mut PJRT_Buffer,
}

// SAFETY: PjRtBuffer is documented thread-safe; the pointer is only passed to its functions.
unsafe impl Send for BufferHandle {}
// SAFETY: as above.
unsafe impl Sync for BufferHandle {}

impl BufferHandle {
    /// # Safety
    ///
    /// `raw` is a buffer of `client`, and nobody else owns it.
    pub(super) unsafe fn new(client: Arc<ClientHandle>, raw: *mut PJRT_Buffer) -> Self {
        BufferHandle { client, raw }
    }

    /// Waits until the buffer's contents are there, and returns what went wrong in making them.
    pub(crate) fn wait(&self) -> Result<(), Error> {
        let api = &self.client.api;
        let mut args = PJRT_Buffer_ReadyEvent_Args { buffer: self.raw, ..Default::default() };
        // SAFETY: the buffer is alive.
        unsafe {
            api.call("PJRT_Buffer_ReadyEvent", api.table.PJRT_Buffer_ReadyEvent, &mut args)?;
        }
        api.wait(args.event)
    }

    pub(crate) fn element_type(&self) -> Result<u32, Error> {
        let api = &self.client.api;
        let mut args = PJRT_Buffer_ElementType_Args { buffer: self.raw, ..Default::default() };
        // SAFETY: the buffer is alive.
        unsafe {
            api.call("PJRT_Buffer_ElementType", api.table.PJRT_Buffer_ElementType, &mut args)?;
        }
        Ok(args.type_)
    }

    pub(crate) fn dims(&self) -> Result<Vec<i64>, Error> {
        let api = &self.client.api;
        let mut args = PJRT_Buffer_Dimensions_Args { buffer: self.raw, ..Default::default() };
        // SAFETY: the buffer is alive.
        unsafe {
            api.call("PJRT_Buffer_Dimensions", api.table.PJRT_Buffer_Dimensions, &mut args)?;
        }
        if args.dims.is_null() {
            return Ok(Vec::new());
        }
        // SAFETY: the buffer owns the list, which has this length.
        Ok(unsafe { std::slice::from_raw_parts(args.dims, args.num_dims) }.to_vec())
    }

    /// Copies the contents to the host, dense and row-major. `rank` is that of the buffer, and
    /// `size` the bytes that its shape takes.
    pub(crate) fn download(&self, rank: usize, size: usize) -> Result<Vec<u8>, Error> {
        const CALL: &str = "PJRT_Buffer_ToHostBuffer";
        let api = &self.client.api;
        // Without an explicit layout the copy would keep the device's, which needn't be
        // row-major.
        let minor_to_major: Vec<i64> = (0..rank as i64).rev().collect();
        let mut layout = PJRT_Buffer_MemoryLayout {
            struct_size: size_of::<PJRT_Buffer_MemoryLayout>(),
            type_: PJRT_Buffer_MemoryLayout_Type_PJRT_Buffer_MemoryLayout_Type_Tiled,
            ..Default::default()
        };
        layout.__bindgen_anon_1.tiled = PJRT_Buffer_MemoryLayout_Tiled {
            struct_size: size_of::<PJRT_Buffer_MemoryLayout_Tiled>(),
            minor_to_major: minor_to_major.as_ptr(),
            minor_to_major_size: rank,
            ..Default::default()
        };
        let mut args = PJRT_Buffer_ToHostBuffer_Args {
            src: self.raw,
            host_layout: &raw mut layout,
            ..Default::default()
        };
        // SAFETY: the buffer is alive, the layout outlives the call; a null destination asks
        // for the size only.
        unsafe { api.call(CALL, api.table.PJRT_Buffer_ToHostBuffer, &mut args)? };
        api.wait(args.event)?;
        if args.dst_size != size {
            let what = format!("it wants {} bytes for an array of {size}", args.dst_size);
            return Err(api.misbehaviour(CALL, what));
        }
        let mut bytes = vec![0u8; size];
        if size == 0 {
            return Ok(bytes);
        }
        args.dst = bytes.as_mut_ptr().cast();
        args.event = std::ptr::null_mut();
        // SAFETY: as above, and the destination has the size that the plugin asked for; it is
        // neither moved nor freed before the event says that the copy is done, or the call
        // failed and no copy was begun.
        unsafe { api.call(CALL, api.table.PJRT_Buffer_ToHostBuffer, &mut args)? };
        api.wait(args.event)?;
        Ok(bytes)
    }
}

impl Drop for BufferHandle {
    fn drop(&mut self) {
        let api = &self.client.api;
        let mut args = PJRT_Buffer_Destroy_Args { buffer: self.raw, ..Default::default() };
        // SAFETY: the buffer is freed here, once. An error can't be reported from here.
        let _ =
            unsafe { api.call("PJRT_Buffer_Destroy", api.table.PJRT_Buffer_Destroy, &mut args) };
    }
}
