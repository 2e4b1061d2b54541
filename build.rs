//! Puts the headers and the CPU device's runtime library, in both of its forms, into the compiler, which then needs no
//! file beside it: `cargo install` installs a program alone.
//!
//! That is done for release builds (`SIRIUS_EMBED_RUNTIME=0` leaves it out, `=1` does it for any). Others find both in
//! the project, and need not be built again where one of these changes.

use std::error::Error;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether they are put into it.
const SWITCH: &str = "SIRIUS_EMBED_RUNTIME";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={SWITCH}");
    println!("cargo::rerun-if-changed=build.rs");
    let embeds = match std::env::var(SWITCH) {
        Ok(value) => value != "0",
        Err(_) => std::env::var("PROFILE")? == "release",
    };
    let project = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    let mut files = Vec::new();
    if embeds {
        for changing in [
            "include",
            "abi/src",
            "abi/Cargo.toml",
            "runtime_shim/src",
            "runtime_shim/Cargo.toml",
            "Cargo.lock",
        ] {
            println!("cargo::rerun-if-changed={changing}");
        }
        let headers = project.join("include");
        for header in files_below(&headers)? {
            let below = header.strip_prefix(&project)?.display().to_string();
            files.push((below, header));
        }
        let built = build_runtime(&project, &out)?;
        for name in ["libsirius_runtime.a", "libsirius_runtime.so"] {
            files.push((format!("lib/{name}"), built.join(name)));
        }
    }
    let mut digest = DefaultHasher::new();
    let mut text = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    for (name, path) in &files {
        (name, std::fs::read(path)?).hash(&mut digest);
        writeln!(text, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    let digest = digest.finish();
    writeln!(text, "];\nconst DIGEST: u64 = {digest:#x};")?;
    std::fs::write(out.join("embedded.rs"), text)?;
    Ok(())
}

/// Builds the runtime library in a folder of its own, since cargo holds the one that this is built in.
fn build_runtime(project: &Path, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let folder = out.join("runtime");
    let status = Command::new(std::env::var("CARGO")?)
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "runtime_shim",
            "--lib",
        ])
        .arg("--manifest-path")
        .arg(project.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder)
        // Of this build's target, where that is another than the machine's.
        .env_remove("CARGO_BUILD_TARGET")
        .status()?;
    match status.success() {
        true => Ok(folder.join("release")),
        false => Err("the CPU device's runtime library does not build".into()),
    }
}

fn files_below(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}
