//! Where plugins are looked for.

use std::path::{Path, PathBuf};

use crate::error::NotFound;

/// Folders are searched this deep for plugins: a wheel has them two or three folders down.
const DEPTH: usize = 4;

/// Packages of XLA's CPU plugin that `tools/setup` fetches, the preferred one first.
const CPU_PACKAGES: &[&str] = &["lammps_jax_pjrt_cpu", "fastatomstruct_xla_cpu", "xla_cpu_pjrt"];

pub(crate) struct Platform {
    /// In words.
    pub name: &'static str,
    /// The argument of `tools/setup`.
    pub setup: &'static str,
    /// Environment variables that name the file; the first is ours.
    pub variables: &'static [&'static str],
    /// An environment variable that lists several files, as `PATH` lists folders.
    pub list: Option<&'static str>,
    /// Whether a file name is that of such a plugin.
    pub is_plugin: fn(&str) -> bool,
}

pub(crate) const CPU: Platform = Platform {
    name: "CPU",
    setup: "cpu-plugins",
    variables: &["SHARD_OPT_CPU_PLUGIN", "PJRT_PLUGIN_LIBRARY_PATH"],
    list: Some("SHARD_OPT_CPU_PLUGINS"),
    is_plugin: |name| name.contains("pjrt") && name.contains("cpu"),
};

pub(crate) const TPU: Platform = Platform {
    name: "TPU",
    setup: "libtpu",
    variables: &["SHARD_OPT_TPU_PLUGIN", "TPU_LIBRARY_PATH"],
    list: None,
    is_plugin: |name| name.starts_with("libtpu"),
};

/// Every plugin of the platform: those that variables name, whether they exist or not (the
/// loader's message is better than another plugin in silence), then those in the folders.
pub(crate) fn find(platform: &Platform) -> Result<Vec<PathBuf>, NotFound> {
    let mut found = Vec::new();
    let mut places = Vec::new();
    for variable in platform.variables {
        match std::env::var_os(variable) {
            Some(value) if !value.is_empty() => found.push(PathBuf::from(value)),
            _ => places.push(format!("${variable}, which is not set")),
        }
    }
    if let Some(list) = platform.list.and_then(std::env::var_os) {
        found.extend(std::env::split_paths(&list).filter(|file| !file.as_os_str().is_empty()));
    }
    for folder in folders() {
        let mut files = Vec::new();
        search(&folder, platform, DEPTH, &mut files);
        files.sort_by_cached_key(|file| (rank(file), file.clone()));
        found.extend(files);
    }
    places.push(".cache/pjrt of this folder and of those above the executable".to_owned());
    let mut unique: Vec<PathBuf> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in found {
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        if !seen.contains(&real) {
            seen.push(real);
            unique.push(file);
        }
    }
    if unique.is_empty() {
        return Err(NotFound {
            platform: platform.name,
            setup: platform.setup,
            variable: platform.variables.first().copied().unwrap_or_default(),
            places,
        });
    }
    Ok(unique)
}

/// `pjrt` of the folder that `SHARD_OPT_CACHE` names, as in `tools/setup`; `.cache/pjrt` of the
/// current folder and of each folder above the executable.
fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    let executable = std::env::current_exe().ok();
    let above = executable.iter().flat_map(|file| file.ancestors().skip(1)).map(Path::to_owned);
    let near = std::env::current_dir().into_iter().chain(above).map(|folder| folder.join(".cache"));
    for cache in std::env::var_os("SHARD_OPT_CACHE").map(PathBuf::from).into_iter().chain(near) {
        let folder = cache.join("pjrt");
        if folder.is_dir() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn search(folder: &Path, platform: &Platform, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            if depth > 1 {
                search(&path, platform, depth - 1, found);
            }
            continue;
        }
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.ends_with(".so") && (platform.is_plugin)(name) {
            found.push(path);
        }
    }
}

fn rank(file: &Path) -> usize {
    let path = file.to_string_lossy().replace('-', "_");
    CPU_PACKAGES.iter().position(|package| path.contains(package)).unwrap_or(CPU_PACKAGES.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Platform = Platform {
        name: "test",
        setup: "test-plugins",
        variables: &["SHARD_OPT_NO_SUCH_PLUGIN"],
        list: None,
        is_plugin: |_| false,
    };

    #[test]
    fn nothing_found_says_what_to_do() {
        let message = find(&NONE).expect_err("nothing is found").to_string();
        assert!(message.contains("no PJRT plugin for test found"), "{message}");
        assert!(message.contains("$SHARD_OPT_NO_SUCH_PLUGIN, which is not set"), "{message}");
        assert!(message.contains("run `tools/setup test-plugins`"), "{message}");
    }

    #[test]
    fn names_of_plugins() {
        for name in ["pjrt_c_api_cpu_plugin.so", "libpjrt_cpu.so", "xla_cpu_pjrt.so"] {
            assert!((CPU.is_plugin)(name) && !(TPU.is_plugin)(name), "{name}");
        }
        assert!((TPU.is_plugin)("libtpu.so") && !(CPU.is_plugin)("libtpu.so"));
    }

    #[test]
    fn the_preferred_package_comes_first() {
        let lammps = rank(Path::new(".cache/pjrt/lammps-jax-pjrt-cpu/lammps_jax_pjrt_cpu/a.so"));
        let fast = rank(Path::new(".cache/pjrt/fastatomstruct-xla-cpu/libpjrt_cpu.so"));
        let xla = rank(Path::new(".cache/pjrt/xla-cpu-pjrt/xla_plugins/xla_cpu_pjrt.so"));
        assert!(lammps < fast && fast < xla && xla < rank(Path::new("other/pjrt_cpu.so")));
    }
}
