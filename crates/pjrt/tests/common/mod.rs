//! What the tests share: the plugins, and small arrays.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::path::Path;
use std::sync::Once;

use shard_ir::ElementType;
use shard_pjrt::{HostArray, Plugin};

/// Builds of the CPU plugin that `tools/setup` fetches.
const CPU_BUILDS: usize = 3;

/// Goes to the repository's root, below which plugins are looked for.
fn go_to_root() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        std::env::set_current_dir(root).expect("the repository's root exists");
    });
}

/// Every build of the CPU plugin that `tools/setup` fetches, and one that `SHARD_OPT_CPU_PLUGIN`
/// names. Nothing is skipped: where one is missing, the test fails.
pub fn cpu_plugins() -> Vec<Plugin> {
    go_to_root();
    let files = Plugin::list_cpu().unwrap_or_else(|error| panic!("{error}"));
    assert!(
        files.len() >= CPU_BUILDS,
        "only {files:?} found of {CPU_BUILDS} CPU plugins: run `tools/setup cpu-plugins`"
    );
    files.iter().map(|file| Plugin::load(file).unwrap_or_else(|error| panic!("{error}"))).collect()
}

/// TPU's compiler.
pub fn libtpu() -> Plugin {
    go_to_root();
    let file = Plugin::find_tpu().unwrap_or_else(|error| panic!("{error}"));
    Plugin::load_tpu(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// What a plugin is called in messages.
pub fn label(plugin: &Plugin) -> String {
    format!("{} (API {:?})", plugin.path().display(), plugin.api_version())
}

pub fn f32s(dims: &[i64], values: impl IntoIterator<Item = f32>) -> HostArray {
    let bytes = values.into_iter().flat_map(f32::to_ne_bytes).collect();
    HostArray::new(ElementType::F32, dims.to_vec(), bytes).expect("as many values as the shape has")
}

pub fn values(array: &HostArray) -> Vec<f32> {
    assert_eq!(array.element_type, ElementType::F32);
    let chunks = array.bytes.chunks_exact(4);
    chunks.map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("four bytes"))).collect()
}
