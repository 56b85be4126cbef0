//! Programs on a PJRT plugin.

use shard_ir::sharding::Mesh;
use shard_ir::{HostArray, Module};
use shard_passes::pipeline::Partitioned;
use shard_pjrt::{Client, CompileOptions, Executable, Program};
use shard_text::PrintOptions;

use super::VerifyError;
use super::engine::{Engine, Loaded, Whole, device_counts};
use super::reference::Reference;

impl Engine for Client {
    fn most_devices(&self) -> Option<usize> {
        Some(self.device_count())
    }

    fn whole(
        &self,
        partitioned: &Partitioned,
        whole: &Module,
        mesh: &Mesh,
    ) -> Result<Box<dyn Whole>, VerifyError> {
        Ok(Box::new(Reference::new(partitioned, whole, mesh, self)?))
    }

    fn load<'e>(
        &'e self,
        module: &Module,
        stage: &'static str,
    ) -> Result<Box<dyn Loaded + 'e>, VerifyError> {
        Ok(Box::new(compile(self, module, stage)?))
    }
}

impl Loaded for Executable {
    fn execute(&self, inputs: &[Vec<HostArray>]) -> Result<Vec<Vec<HostArray>>, VerifyError> {
        Executable::execute(self, inputs)
            .map_err(VerifyError::plugin("running the partitioned program"))
    }
}

/// The options with which a partitioned program is compiled: it says itself whether its devices
/// are partitions or replicas.
pub fn compile_options(module: &Module) -> CompileOptions {
    match device_counts(module) {
        (replicas, 1) => CompileOptions::replicas(replicas),
        (replicas, partitions) => {
            CompileOptions { num_replicas: replicas, ..CompileOptions::partitions(partitions) }
        }
    }
}

/// Prints and compiles a partitioned program.
pub(crate) fn compile(
    client: &Client,
    module: &Module,
    stage: &'static str,
) -> Result<Executable, VerifyError> {
    let text = shard_text::print(module, &PrintOptions::default());
    client
        .compile(&Program::Mlir(&text), &compile_options(module))
        .map_err(VerifyError::plugin(stage))
}
