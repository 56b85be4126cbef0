//! Compiles `src/kept.cpp` against the MLIR that mlir-sys links.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/kept.cpp");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    let prefix = std::env::var_os("MLIR_SYS_220_PREFIX").map(PathBuf::from).unwrap_or_default();
    let config =
        prefix.join(if prefix.as_os_str().is_empty() { "llvm-config" } else { "bin/llvm-config" });
    let output = Command::new(&config).arg("--includedir").output();
    let include = match output {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        result => panic!("{} --includedir: {result:?}; run tools/setup mlir", config.display()),
    };
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .include(include)
        // As LLVM itself is built.
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .define("NDEBUG", None)
        .warnings(false)
        .file("src/kept.cpp")
        .compile("shard_mlir_kept");
}
