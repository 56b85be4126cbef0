//! Clients: a plugin's devices, on which programs run.

use std::sync::Arc;

use crate::error::{Error, InputError};
use crate::executable::Executable;
use crate::ffi::{ClientHandle, NamedValue, Value};
use crate::options::{CompileOptions, FlagValue, Program};
use crate::plugin::Plugin;

/// The devices of a plugin.
#[derive(Clone, Debug)]
pub struct Client {
    handle: Arc<ClientHandle>,
    platform: String,
}

/// XLA's CPU runtime aborts the process when a device waits longer than this for the others of
/// its collective; its default of 40 s is too short where many devices share few cores.
const CPU_FLAGS: &[(&str, FlagValue)] = &[
    ("xla_cpu_collective_call_warn_stuck_seconds", FlagValue::Integer(600)),
    ("xla_cpu_collective_call_terminate_timeout_seconds", FlagValue::Integer(7200)),
];

impl Client {
    /// Makes a client of a CPU plugin with `devices` devices, which share the machine's cores.
    ///
    /// # Errors
    ///
    /// Where there are no devices or too many, or the plugin refuses.
    pub fn cpu(plugin: &Plugin, devices: usize) -> Result<Client, Error> {
        let count = i32::try_from(devices)
            .ok()
            .filter(|count| *count > 0)
            .ok_or(InputError::DeviceCount(devices))?;
        let option =
            NamedValue { name: "cpu_device_count".to_owned(), value: Value::Integer(count.into()) };
        Client::create(plugin, &[option])
    }

    /// Makes a client of the devices that the plugin finds on this machine, such as a TPU.
    ///
    /// # Errors
    ///
    /// Where the plugin finds no device.
    pub fn of_machine(plugin: &Plugin) -> Result<Client, Error> {
        Client::create(plugin, &[])
    }

    fn create(plugin: &Plugin, options: &[NamedValue]) -> Result<Client, Error> {
        let handle = ClientHandle::create(plugin.api.clone(), options)?;
        let platform = handle.platform_name()?;
        Ok(Client { handle, platform })
    }

    /// The platform's name, such as `cpu` or `tpu`.
    pub fn platform_name(&self) -> &str {
        &self.platform
    }

    /// The version of the platform's software, in the plugin's words.
    ///
    /// # Errors
    ///
    /// Where the plugin doesn't say.
    pub fn platform_version(&self) -> Result<String, Error> {
        self.handle.platform_version()
    }

    /// Devices that programs can run on.
    pub fn device_count(&self) -> usize {
        self.handle.device_count()
    }

    /// Compiles a program and loads it on the devices.
    ///
    /// A plugin may abort the process on a program that breaks its compiler's assumptions;
    /// nothing can be done about that in this process.
    ///
    /// # Errors
    ///
    /// Where the options don't fit each other, and where the plugin refuses the program.
    pub fn compile(
        &self,
        program: &Program<'_>,
        options: &CompileOptions,
    ) -> Result<Executable, Error> {
        let defaults = if self.platform == "cpu" { CPU_FLAGS } else { &[] };
        let options = options.encode(defaults)?;
        let loaded = self.handle.compile(program.format(), program.code(), &options)?;
        Ok(Executable::new(loaded))
    }
}
