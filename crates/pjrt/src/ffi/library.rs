//! Loading a plugin's library and checking its table of functions.

use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pjrt_sys::*;

use super::api::Api;
use crate::error::{Error, LoadError};

/// The version of the bindings, whose table every plugin must fill.
const LOWEST_MINOR: i32 = 54;

/// Plugins that this process has loaded: each is initialised once.
static LOADED: Mutex<Vec<Arc<Api>>> = Mutex::new(Vec::new());

/// Loads the plugin in `path` and initialises it, or returns it if it was loaded before.
pub(crate) fn load(path: &Path) -> Result<Arc<Api>, Error> {
    let file = path.canonicalize().map_err(|_| Error::load(path, LoadError::Missing))?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(api) = loaded.iter().find(|api| api.path == file) {
        return Ok(api.clone());
    }
    let api = Arc::new(open(&file)?);
    let mut args = PJRT_Plugin_Initialize_Args::default();
    // SAFETY: the entry belongs to this plugin's table; the arguments hold no pointers.
    unsafe {
        api.call("PJRT_Plugin_Initialize", api.table.PJRT_Plugin_Initialize, &mut args)?;
    }
    loaded.push(api.clone());
    Ok(api)
}

fn open(file: &Path) -> Result<Api, Error> {
    let fail = |reason| Error::load(file, reason);
    // SAFETY: loading a library runs its initialisers. The user chose this file to be run as a
    // plugin, which is what such a choice means; nothing can check it before.
    let library = unsafe { libloading::Library::new(file) }
        .map_err(|error| fail(LoadError::Open(error.to_string())))?;
    type GetPjrtApi = unsafe extern "C" fn() -> *const PJRT_Api;
    // SAFETY: the interface fixes the type of the function with this name.
    let get_api = unsafe { library.get::<GetPjrtApi>(b"GetPjrtApi\0") }
        .map_err(|_| fail(LoadError::NotAPlugin))?;
    // SAFETY: the function takes nothing and may be called at any time.
    let table = unsafe { get_api() };
    if table.is_null() {
        return Err(fail(LoadError::NullApi));
    }
    // Only the head of the table is sure to be there before its size is known.
    // SAFETY: every version of the table begins with its size, an extension pointer and the
    // version; `addr_of!` makes no reference to the rest.
    let (found, version) = unsafe {
        let found = std::ptr::addr_of!((*table).struct_size).read();
        let version = std::ptr::addr_of!((*table).pjrt_api_version).read();
        (found, (version.major_version, version.minor_version))
    };
    let (major, minor) = version;
    if major != 0 || minor < LOWEST_MINOR {
        return Err(fail(LoadError::Version { major, minor, lowest: LOWEST_MINOR }));
    }
    let needed = mem::size_of::<PJRT_Api>();
    if found < needed {
        return Err(fail(LoadError::Table { found, needed }));
    }
    // A plugin leaves threads and static objects behind, so unloading it is never safe.
    mem::forget(library);
    // SAFETY: the table has at least the bytes of the bindings' version, within the same major
    // version fields are only added at the end, and it lives as long as the library, which is
    // never unloaded.
    let table = unsafe { &*table };
    Ok(Api { table, path: file.to_owned(), version })
}
