//! The table of functions that a plugin exports, and the one way to call them.

use std::ffi::c_char;
use std::marker::PhantomData;
use std::mem;
use std::path::{Path, PathBuf};

use pjrt_sys::*;

use crate::error::{Error, ErrorCode, PluginError};

/// Bytes of the buffer in which an argument struct is passed: several times what any struct of the
/// interface has.
const PADDED: usize = 1024;

/// An argument struct as the plugin sees it: followed by zeros.
///
/// A plugin refuses a struct whose `struct_size` is below that of its own version, so a struct
/// of the bindings' version (0.54) is refused by newer plugins. It accepts a longer one, and a
/// zero means "not set" in every field that was added since. So each call passes a kilobyte.
#[repr(C, align(16))]
pub(super) struct Padded<A> {
    bytes: [u8; PADDED],
    begins_with: PhantomData<A>,
}

/// Structs of the C interface.
///
/// # Safety
///
/// The type is `repr(C)`, begins with `struct_size: usize`, has at most [`PADDED`] bytes and is
/// valid when all its bytes are zero.
pub(super) unsafe trait Args: Sized {}

impl<A: Args> Padded<A> {
    /// Copies an argument struct into a padded buffer and sets its `struct_size`.
    pub(super) fn of(args: &A) -> Box<Self> {
        const { assert!(mem::size_of::<A>() <= PADDED && mem::align_of::<A>() <= 16) };
        let mut padded = Box::new(Padded { bytes: [0; PADDED], begins_with: PhantomData });
        // SAFETY: source and destination are valid for the size of A, which is at most that of
        // the buffer; they don't overlap, since the buffer was just allocated.
        unsafe {
            let source = std::ptr::from_ref(args).cast::<u8>();
            std::ptr::copy_nonoverlapping(source, padded.bytes.as_mut_ptr(), mem::size_of::<A>());
        }
        padded.bytes[..mem::size_of::<usize>()].copy_from_slice(&PADDED.to_ne_bytes());
        padded
    }

    /// The struct that the buffer begins with, for the plugin to read and write.
    pub(super) fn pointer(&mut self) -> *mut A {
        self.bytes.as_mut_ptr().cast()
    }

    /// Copies the struct back, with what the plugin wrote.
    pub(super) fn read(&self) -> A {
        // SAFETY: the buffer is aligned for A and longer than A; it was copied from an A, and a
        // plugin only writes values of the fields' types.
        unsafe { self.bytes.as_ptr().cast::<A>().read() }
    }
}

/// A loaded plugin's table of functions.
///
/// The library is never unloaded, so the table lives as long as the process.
#[derive(Debug)]
pub(crate) struct Api {
    pub(super) table: &'static PJRT_Api,
    pub(super) path: PathBuf,
    pub(super) version: (i32, i32),
}

// SAFETY: the table is never written after the plugin filled it, and PJRT's functions may be
// called from any thread (the C++ interface behind it, PjRtClient, is documented thread-safe).
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

/// A function of the table that can fail.
pub(super) type Fallible<A> = Option<unsafe extern "C" fn(*mut A) -> *mut PJRT_Error>;

impl Api {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Calls `function` with `args` in a padded buffer, and copies what it wrote back.
    ///
    /// # Safety
    ///
    /// `function` is the entry of this plugin's table that is named `call`, and the pointers in
    /// `args` are valid for what the interface says that it does with them.
    pub(super) unsafe fn call<A: Args>(
        &self,
        call: &'static str,
        function: Fallible<A>,
        args: &mut A,
    ) -> Result<(), Error> {
        let function =
            function.ok_or_else(|| self.misbehaviour(call, "the plugin doesn't have it"))?;
        let mut padded = Padded::of(args);
        // SAFETY: the caller vouches for the function and the pointers in the arguments; the
        // struct is as long as its `struct_size` says.
        let error = unsafe { function(padded.pointer()) };
        *args = padded.read();
        self.check(call, error)
    }

    /// Turns an error of the plugin into one of ours, and frees it.
    pub(super) fn check(&self, call: &'static str, error: *mut PJRT_Error) -> Result<(), Error> {
        if error.is_null() {
            return Ok(());
        }
        let message = self.message(error);
        let code = self.code(error);
        self.destroy_error(error);
        let error = PluginError { code, message };
        Err(Error::Plugin { path: self.path.clone(), call, error })
    }

    fn message(&self, error: *mut PJRT_Error) -> String {
        let Some(function) = self.table.PJRT_Error_Message else {
            return "an error without a message".to_owned();
        };
        let mut padded =
            Padded::of(&PJRT_Error_Message_Args { error, ..PJRT_Error_Message_Args::default() });
        // SAFETY: `error` came from this plugin and wasn't freed; the text that is returned has
        // its lifetime and is copied before it ends.
        unsafe {
            function(padded.pointer());
            let args: PJRT_Error_Message_Args = padded.read();
            text(args.message, args.message_size)
        }
    }

    fn code(&self, error: *mut PJRT_Error) -> ErrorCode {
        let Some(function) = self.table.PJRT_Error_GetCode else { return ErrorCode::Unknown };
        let mut padded =
            Padded::of(&PJRT_Error_GetCode_Args { error, ..PJRT_Error_GetCode_Args::default() });
        // SAFETY: `error` came from this plugin and wasn't freed.
        let failure = unsafe { function(padded.pointer()) };
        if !failure.is_null() {
            self.destroy_error(failure);
            return ErrorCode::Unknown;
        }
        let args: PJRT_Error_GetCode_Args = padded.read();
        match args.code {
            1 => ErrorCode::Cancelled,
            3 => ErrorCode::InvalidArgument,
            4 => ErrorCode::DeadlineExceeded,
            5 => ErrorCode::NotFound,
            6 => ErrorCode::AlreadyExists,
            7 => ErrorCode::PermissionDenied,
            8 => ErrorCode::ResourceExhausted,
            9 => ErrorCode::FailedPrecondition,
            10 => ErrorCode::Aborted,
            11 => ErrorCode::OutOfRange,
            12 => ErrorCode::Unimplemented,
            13 => ErrorCode::Internal,
            14 => ErrorCode::Unavailable,
            15 => ErrorCode::DataLoss,
            16 => ErrorCode::Unauthenticated,
            _ => ErrorCode::Unknown,
        }
    }

    fn destroy_error(&self, error: *mut PJRT_Error) {
        let Some(function) = self.table.PJRT_Error_Destroy else { return };
        let mut padded =
            Padded::of(&PJRT_Error_Destroy_Args { error, ..PJRT_Error_Destroy_Args::default() });
        // SAFETY: `error` came from this plugin and is freed here, once.
        unsafe { function(padded.pointer()) };
    }

    pub(super) fn misbehaviour(&self, call: &'static str, what: impl Into<String>) -> Error {
        Error::Misbehaviour { path: self.path.clone(), call, what: what.into() }
    }

    /// Waits for an event, frees it, and returns its error. A null event is ready.
    pub(super) fn wait(&self, event: *mut PJRT_Event) -> Result<(), Error> {
        if event.is_null() {
            return Ok(());
        }
        let mut args = PJRT_Event_Await_Args { event, ..Default::default() };
        // SAFETY: the caller owns the event, which came from this plugin.
        let waited =
            unsafe { self.call("PJRT_Event_Await", self.table.PJRT_Event_Await, &mut args) };
        let mut args = PJRT_Event_Destroy_Args { event, ..Default::default() };
        // SAFETY: the event is freed here, once; nobody uses it afterwards.
        let destroyed =
            unsafe { self.call("PJRT_Event_Destroy", self.table.PJRT_Event_Destroy, &mut args) };
        waited.and(destroyed)
    }
}

/// Copies `size` bytes of text; a null pointer is no text.
///
/// # Safety
///
/// `start` is null or points to `size` readable bytes.
pub(super) unsafe fn text(start: *const c_char, size: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    // SAFETY: the caller vouches for the bytes.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}

macro_rules! args {
    ($($name:ident),* $(,)?) => {
        $(
            // SAFETY: bindgen made it from the C header: `repr(C)`, beginning with
            // `struct_size`; integers, floats, booleans and nullable pointers may all be zero.
            unsafe impl Args for $name {}
        )*
    };
}

args! {
    PJRT_Buffer_Destroy_Args,
    PJRT_Buffer_Dimensions_Args,
    PJRT_Buffer_ElementType_Args,
    PJRT_Buffer_ReadyEvent_Args,
    PJRT_Buffer_ToHostBuffer_Args,
    PJRT_Client_AddressableDevices_Args,
    PJRT_Client_BufferFromHostBuffer_Args,
    PJRT_Client_Compile_Args,
    PJRT_Client_Create_Args,
    PJRT_Client_Destroy_Args,
    PJRT_Client_PlatformName_Args,
    PJRT_Client_PlatformVersion_Args,
    PJRT_Compile_Args,
    PJRT_Error_Destroy_Args,
    PJRT_Error_GetCode_Args,
    PJRT_Error_Message_Args,
    PJRT_Event_Await_Args,
    PJRT_Event_Destroy_Args,
    PJRT_Executable_Destroy_Args,
    PJRT_Executable_GetCostAnalysis_Args,
    PJRT_Executable_NumOutputs_Args,
    PJRT_Executable_OptimizedProgram_Args,
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args,
    PJRT_ExecuteOptions,
    PJRT_LoadedExecutable_AddressableDevices_Args,
    PJRT_LoadedExecutable_Destroy_Args,
    PJRT_LoadedExecutable_Execute_Args,
    PJRT_LoadedExecutable_GetExecutable_Args,
    PJRT_Plugin_Initialize_Args,
    PJRT_TopologyDescription_Create_Args,
    PJRT_TopologyDescription_Destroy_Args,
    PJRT_TopologyDescription_GetDeviceDescriptions_Args,
}
