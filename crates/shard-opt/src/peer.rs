//! A program in the forms in which it is compiled for comparison: whole, and as XLA's own
//! partitioner gets it.

use shard_ir::sharding::TensorSharding;
use shard_ir::{Attr, Diagnostic, ElementType, MeshId, Module};
use shard_passes::import::ImportOptions;
use shard_passes::pipeline::Partitioned;

/// The program for one device.
///
/// # Errors
/// If parts of it are written for one device of several.
pub fn whole(module: &Module) -> Result<Module, Diagnostic> {
    let mut module = module.clone();
    shard_passes::strip_shardings::run(&mut module)?;
    Ok(module)
}

/// The program as XLA's own partitioner gets it: with the annotations that it has, and those of
/// its arguments and results as they are in our partition, so that devices hold the same parts.
pub fn for_xla(module: &Module, partitioned: &Partitioned) -> Module {
    let mut module = module.clone();
    if shard_passes::meshes::main_mesh(&module).is_none() {
        // Annotations of GSPMD's, or a mesh of the command line.
        let mut imported = module.clone();
        let own = shard_passes::meshes::main_mesh(&partitioned.whole);
        let mesh = own.map(|mesh| partitioned.whole.meshes[mesh].mesh.clone());
        let options = ImportOptions { mesh, ..ImportOptions::default() };
        let done = shard_passes::inline_calls::run(&mut imported)
            .and_then(|()| shard_passes::import::run(&mut imported, &options));
        if done.is_ok() {
            module = imported;
        }
    }
    let (Some(func), Some(mesh)) = (module.main_func(), shard_passes::meshes::main_mesh(&module))
    else {
        return module;
    };
    // The axes are those of one mesh, whatever its number is in either module.
    let own = |sharding: &TensorSharding, mesh: MeshId| TensorSharding { mesh, ..sharding.clone() };
    for value in &partitioned.parameters {
        if let Some(sharding) = &value.sharding {
            let id = module.sharding_id(own(sharding, mesh));
            let arg = module.args(func)[value.index];
            module.shardings[arg] = id.into();
        }
    }
    for value in &partitioned.results {
        if let Some(sharding) = &value.sharding {
            let id = module.sharding_id(own(sharding, mesh));
            module.funcs[func].results[value.index].sharding = id.into();
        }
    }
    let devices = module.meshes[mesh].mesh.device_count();
    let i32 = module.scalar(ElementType::I32);
    let attrs = module.attrs;
    let count = Attr::Int(devices.into(), i32);
    module.attrs = module.with_attr(attrs, "mhlo.num_partitions", Some(count));
    module
}
