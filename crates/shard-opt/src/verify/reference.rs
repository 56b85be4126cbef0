//! What a partitioned program is checked against.

use shard_ir::sharding::Mesh;
use shard_ir::{HostArray, Module};
use shard_passes::pipeline::Partitioned;
use shard_pjrt::{Client, CompileOptions, Executable, Program};
use shard_text::PrintOptions;

use crate::peer;

use super::engine::Whole;
use super::{VerifyError, cut, parts_of, shards};

/// The whole program, ready to run.
pub(super) enum Reference {
    /// On one device.
    Whole(Executable),
    /// A program with parts that are written for one device of several runs on all devices, as
    /// XLA's own partitioner has it.
    Xla { executable: Executable, partitioned: Box<Partitioned>, mesh: Mesh },
}

impl Reference {
    pub fn new(
        partitioned: &Partitioned,
        whole: &Module,
        mesh: &Mesh,
        client: &Client,
    ) -> Result<Self, VerifyError> {
        let local = shard_passes::strip_shardings::first_local_op(whole).is_some();
        let (module, options) = if local {
            let devices = usize::try_from(mesh.device_count()).unwrap_or(usize::MAX);
            (peer::for_xla(whole, partitioned), CompileOptions::shardy(devices))
        } else {
            let module = peer::whole(whole).map_err(VerifyError::Pass)?;
            (module, CompileOptions::replicas(1))
        };
        let text = shard_text::print(&module, &PrintOptions::default());
        let executable = client
            .compile(&Program::Mlir(&text), &options)
            .map_err(VerifyError::plugin("compiling the whole program"))?;
        Ok(if local {
            let partitioned = Box::new(partitioned.clone());
            Reference::Xla { executable, partitioned, mesh: mesh.clone() }
        } else {
            Reference::Whole(executable)
        })
    }
}

impl Whole for Reference {
    fn name(&self) -> &'static str {
        match self {
            Reference::Whole(_) => "the whole program on one device",
            Reference::Xla { .. } => {
                "XLA's own partition of the program (it has parts that are written for one device \
                 of several, so it has no form for one device)"
            }
        }
    }

    fn run(&self, globals: &[HostArray]) -> Result<Vec<HostArray>, VerifyError> {
        let failed = VerifyError::plugin("running the whole program");
        match self {
            Reference::Whole(executable) => {
                let mut lists =
                    Executable::execute(executable, &[globals.to_vec()]).map_err(failed)?;
                Ok(lists.pop().unwrap_or_default())
            }
            Reference::Xla { executable, partitioned, mesh } => {
                let devices = executable.device_count();
                let inputs = cut(partitioned, mesh, devices, globals)?;
                let lists = Executable::execute(executable, &inputs).map_err(failed)?;
                join(partitioned, mesh, &lists)
            }
        }
    }
}

/// Joins each device's results.
fn join(
    partitioned: &Partitioned,
    mesh: &Mesh,
    lists: &[Vec<HostArray>],
) -> Result<Vec<HostArray>, VerifyError> {
    let results = partitioned.results.iter().enumerate();
    results
        .map(|(index, value)| {
            let misshapen = |device| VerifyError::Shape { what: "result", index, device };
            let ty = partitioned.module.ty(value.global).as_tensor().ok_or(misshapen(0))?;
            let width = ty.element.storage_bytes();
            let mut whole = HostArray {
                element_type: ty.element,
                dims: ty.dims.to_vec(),
                bytes: vec![0; ty.elements() as usize * width],
            };
            let parts = parts_of(value, mesh, lists.len(), &ty.dims, "result")?;
            for (device, (list, part)) in lists.iter().zip(&parts).enumerate() {
                let shard = list.get(index).filter(|shard| shard.dims == part.shape);
                shards::paste(&mut whole, part, shard.ok_or(misshapen(device))?);
            }
            Ok(whole)
        })
        .collect()
}
