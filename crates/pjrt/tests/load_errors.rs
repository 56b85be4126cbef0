//! Files that aren't plugins give errors that say so, and nothing else happens.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use shard_pjrt::{Error, LoadError, Plugin};

fn refused(path: &Path) -> (LoadError, String) {
    let error = Plugin::load(path).expect_err("it is not a plugin");
    let message = error.to_string();
    match error {
        Error::Load { reason, .. } => (reason, message),
        error => panic!("another kind of error: {error}"),
    }
}

/// A library of one C file, in a folder of its own.
fn library(name: &str, source: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (file, library) = (folder.join("plugin.c"), folder.join("plugin.so"));
    std::fs::write(&file, source).expect("a source file");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&file);
    assert!(compiler.status().expect("cc runs").success(), "cc compiles {}", file.display());
    library
}

/// A plugin whose table has the size and the version that are given.
fn table(name: &str, size: usize, major: i32, minor: i32) -> PathBuf {
    let source = format!(
        "#include <stddef.h>
         static struct {{
           size_t size; void *extension;
           size_t version_size; void *version_extension; int major, minor;
           void *functions[200];
         }} table = {{ {size}, 0, 24, 0, {major}, {minor}, {{ 0 }} }};
         void *GetPjrtApi(void) {{ return &table; }}"
    );
    library(name, &source)
}

#[test]
fn a_missing_file() {
    let path = Path::new("/nowhere/pjrt_cpu.so");
    let (reason, message) = refused(path);
    assert!(matches!(reason, LoadError::Missing));
    assert!(message.contains("/nowhere/pjrt_cpu.so"), "{message}");
    assert!(message.contains("tools/setup cpu-plugins"), "{message}");
}

#[test]
fn a_file_that_is_no_library() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let (reason, message) = refused(&path);
    assert!(matches!(reason, LoadError::Open(_)), "{message}");
    let (reason, message) = refused(Path::new(env!("CARGO_MANIFEST_DIR")));
    assert!(matches!(reason, LoadError::Open(_)), "{message}");
}

#[test]
fn a_library_that_is_no_plugin() {
    let (reason, message) = refused(&library("not-a-plugin", "int answer(void) { return 42; }"));
    assert!(matches!(reason, LoadError::NotAPlugin), "{message}");
    if let Some(libm) = ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"]
        .into_iter()
        .map(Path::new)
        .find(|path| path.exists())
    {
        let (reason, message) = refused(libm);
        assert!(matches!(reason, LoadError::NotAPlugin), "{message}");
    }
}

#[test]
fn a_plugin_without_an_api() {
    let (reason, message) = refused(&library("null-api", "void *GetPjrtApi(void) { return 0; }"));
    assert!(matches!(reason, LoadError::NullApi), "{message}");
}

#[test]
fn a_plugin_of_another_version() {
    let (reason, message) = refused(&table("version-99", 1700, 99, 0));
    assert!(matches!(reason, LoadError::Version { major: 99, minor: 0, .. }), "{message}");
    assert!(message.contains("99.0"), "{message}");
    let (reason, message) = refused(&table("version-0-10", 400, 0, 10));
    assert!(matches!(reason, LoadError::Version { major: 0, minor: 10, .. }), "{message}");
}

#[test]
fn a_plugin_with_a_short_table() {
    let (reason, message) = refused(&table("short-table", 100, 0, 99));
    assert!(matches!(reason, LoadError::Table { found: 100, .. }), "{message}");
}

#[test]
fn a_plugin_without_functions() {
    let error = Plugin::load(&table("no-functions", 1700, 0, 99)).expect_err("it has none");
    assert!(matches!(error, Error::Misbehaviour { call: "PJRT_Plugin_Initialize", .. }), "{error}");
}

#[test]
fn a_plugin_is_loaded_once() {
    for plugin in common::cpu_plugins() {
        let again = Plugin::load(plugin.path()).expect("it was loaded before");
        assert_eq!(again.path(), plugin.path());
        assert_eq!(again.api_version(), plugin.api_version());
        assert!(plugin.api_version() >= (0, 54), "{:?}", plugin.api_version());
    }
}
