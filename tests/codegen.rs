//! Code generation for both devices, on small kernels.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use sirius_rs::build::Build;
use sirius_rs::codegen::DeviceCode;
use sirius_rs::codegen::DeviceImage;
use sirius_rs::codegen::cpu::{CpuImageRequest, CpuImageWork};
use sirius_rs::codegen::device::{device_target_machine, optimise_device};
use sirius_rs::codegen::ptx::{emit_fatbin, emit_ptx};
use sirius_rs::driver::cli::{Invocation, parse};
use sirius_rs::tools::{Toolchain, find_toolchain};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The toolkit: `CUDA_PATH`, else the project's own environment.
fn toolkit() -> PathBuf {
    if let Some(path) = std::env::var_os("CUDA_PATH") {
        return path.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/lib");
    let python = std::fs::read_dir(&root)
        .expect("scripts/setup has made .venv")
        .filter_map(Result::ok)
        .find(|entry| entry.file_name().to_string_lossy().starts_with("python"))
        .expect("a Python library folder in .venv");
    python.path().join("site-packages/nvidia/cu13")
}

fn libdevice() -> PathBuf {
    toolkit().join("nvvm/libdevice/libdevice.10.bc")
}

fn device_bitcode(source: &Path, output: &Path) {
    let status = Command::new("clang++-22")
        .args([
            "-x",
            "cuda",
            "--cuda-device-only",
            "--offload-arch=sm_80",
            "-O2",
        ])
        .arg(format!("--cuda-path={}", toolkit().display()))
        .args([
            "-Xclang",
            "-disable-llvm-passes",
            "-nocudalib",
            "-Wno-unknown-cuda-version",
        ])
        .args([
            "-Xclang",
            "-target-sdk-version=12.8",
            "-gline-tables-only",
            "-ffp-contract=off",
            "-emit-llvm",
            "-c",
        ])
        .arg(source)
        .arg("-o")
        .arg(output)
        .status()
        .expect("clang++-22 runs");
    assert!(status.success(), "clang++-22 accepts {}", source.display());
}

/// Final device IR of a `.cu` file in `tests/codegen`.
fn device_module<'ctx>(context: &'ctx Context, name: &str, folder: &Path) -> Module<'ctx> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/codegen")
        .join(name);
    let bitcode = folder.join("device.bc");
    device_bitcode(&source, &bitcode);
    let buffer = MemoryBuffer::create_from_file(&bitcode).expect("clang wrote it");
    let module = context
        .create_module_from_ir(buffer)
        .expect("LLVM reads clang's bitcode");
    let machine = device_target_machine("sm_80").expect("LLVM knows sm_80");
    optimise_device(&module, &machine).expect("the module can be optimised");
    module
}

#[test]
fn cpu_image_runs() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::create();
    let module = device_module(&context, "pointwise.cu", folder.path());
    let object = folder.path().join("image.o");
    let request = CpuImageRequest {
        symbol: "image_under_test".to_owned(),
        architecture: 80,
        toolkit_version: 13_000,
        managed: Vec::new(),
        libdevice: libdevice(),
        objects: [object.clone(), object.with_extension("instrumented.o")],
        optimised: true,
    };
    let image = CpuImageWork::new(&module, request).emit().unwrap();
    let DeviceImage::CpuObjects { objects, .. } = image else {
        panic!("an image for the CPU device is made of objects");
    };
    let program = folder.path().join("driver");
    let status = Command::new("clang-22")
        .arg(format!(
            "-DABI_VERSION={}",
            sirius_runtime::abi::ABI_VERSION
        ))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codegen/driver.c"))
        .args(&objects)
        .args(["-lm", "-o"])
        .arg(&program)
        .status()
        .unwrap();
    assert!(status.success(), "the image links");
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "PASS\n");
}

/// The command line `sirius-rs <options> case.cu`, and the tools that it finds.
fn build(options: &[&str]) -> (Build, Toolchain) {
    let environment = |name: &str| match name {
        "CUDA_PATH" => Some(toolkit().display().to_string()),
        _ => std::env::var(name).ok(),
    };
    let words = options.iter().copied().chain(["tests/codegen/math.cu"]);
    let arguments: Vec<OsString> = words.map(OsString::from).collect();
    let (invocation, _) = parse(&arguments, &environment).expect("valid options");
    let Invocation::Build(build) = invocation else {
        panic!("a build");
    };
    let toolchain = find_toolchain(&build).expect("the toolkit of the project");
    (build, toolchain)
}

#[test]
fn ptxas_accepts_both_kinds_of_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::create();
    for (case, options) in [
        ("pointwise.cu", &["-arch=sm_80"][..]),
        (
            "math.cu",
            &[
                "-gencode",
                "arch=compute_90,code=[sm_90,compute_90]",
                "-lineinfo",
            ],
        ),
    ] {
        let (build, toolchain) = build(options);
        let module = device_module(&context, case, folder.path());
        let number = build.architectures[0].target();
        let ptx = emit_ptx(&module, number, &build, &toolchain).unwrap();
        assert!(ptx.contains(&format!(".target sm_{number}")), "{ptx}");
        assert!(!ptx.contains("__nv_"), "libdevice is linked");
        for line in ptx
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("//"))
        {
            // Without an explicit rounding ptxas could contract.
            assert!(
                !line.starts_with("add.f") && !line.starts_with("mul.f"),
                "{line}"
            );
        }
        // What libdevice keeps out of line is there once, for all who call it.
        let reductions =
            |line: &&str| line.contains("call") && line.contains("trig_reduction_slow");
        if case == "math.cu" {
            assert_eq!(ptx.lines().filter(reductions).count(), 2, "{ptx}");
        }
        let code = DeviceCode::for_all(module);
        let packed = emit_fatbin(&code, &build, &toolchain, folder.path(), "case").unwrap();
        let DeviceImage::Fatbin(bytes) = packed.image else {
            panic!("a fat binary");
        };
        assert_eq!(bytes[..4], 0xba55_ed50_u32.to_le_bytes());
    }
}

/// Names of what a program would report as unsupported when it gets there.
fn unsupported(object: &Path) -> Vec<String> {
    let bytes = std::fs::read(object).unwrap();
    let texts = bytes
        .split(|byte| *byte == 0)
        .map(|text| String::from_utf8_lossy(text));
    // What stands before a section's first text need not end with a zero.
    texts
        .filter_map(|text| {
            let start = ["inline PTX", "llvm.nvvm."].map(|name| text.find(name));
            Some(text[start.into_iter().flatten().min()?..].to_owned())
        })
        .collect()
}

#[test]
fn warp_half_and_conversion_operations_are_supported() {
    let folder = tempfile::tempdir().unwrap();
    let context = Context::create();
    let module = device_module(&context, "breadth.cu", folder.path());
    let object = folder.path().join("image.o");
    let request = CpuImageRequest {
        symbol: "image_under_test".to_owned(),
        architecture: 80,
        toolkit_version: 13_000,
        managed: Vec::new(),
        libdevice: libdevice(),
        objects: [object.clone(), object.with_extension("instrumented.o")],
        optimised: true,
    };
    let image = CpuImageWork::new(&module, request).emit().unwrap();
    let DeviceImage::CpuObjects { objects, .. } = image else {
        panic!("an image for the CPU device is made of objects");
    };
    // The last kernel asks for what is not there, to show that this test sees it.
    assert_eq!(unsupported(&objects[0]), ["inline PTX `brkpt;`"]);
}
