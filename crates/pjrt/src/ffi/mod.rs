//! Everything that touches the C interface of a plugin: the only unsafe code of the workspace.
//!
//! What leaves this module is safe to use: handles own their objects, keep what these depend on
//! alive, and free them once.

#![allow(unsafe_code)]

mod api;
mod buffer;
mod client;
mod environment;
mod executable;
mod library;
mod topology;
mod values;

pub(crate) use api::Api;
pub(crate) use buffer::BufferHandle;
pub(crate) use client::ClientHandle;
pub(crate) use environment::set_unless_set;
pub(crate) use executable::{ExecutableHandle, LoadedHandle};
pub(crate) use library::load;
pub(crate) use topology::TopologyHandle;
pub(crate) use values::{NamedValue, Value};
