//! The process's environment, which libtpu reads its settings from.

use std::sync::{Mutex, PoisonError};

/// Sets each variable that isn't set yet.
pub(crate) fn set_unless_set(variables: &[(&str, &str)]) {
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    for (name, value) in variables {
        if std::env::var_os(name).is_none() {
            // SAFETY: changing the environment is unsafe because C code of another thread may be
            // reading it at the same time without a lock (Rust's own accessors take one). libtpu
            // has no other way to be told, and reads the variables in its initialiser, which
            // the caller runs after this on the same thread; before that no thread of libtpu
            // exists. What remains is other C code of the process that reads the environment
            // just now: `Plugin::load_tpu` documents that it is to be called early, and
            // `child::run_self` avoids the question by setting the child's environment.
            unsafe { std::env::set_var(name, value) };
        }
    }
}
