//! What others see of our objects: names of kernels' host functions, when kernels are registered, and one runtime for a
//! program and all shared libraries of its process.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What these tests have in common: precompiled headers, above all.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

fn attempt(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(arguments)
        .current_dir(folder)
        .env("SIRIUS_DEVICE", "cpu")
        .env("SIRIUS_STRICT", "1")
        .env("SIRIUS_CACHE", CACHE)
        .output()
        .unwrap()
}

fn sirius(folder: &Path, arguments: &[&str]) {
    let built = attempt(folder, arguments);
    assert!(
        built.status.success(),
        "{arguments:?}: {}",
        text(&built.stderr)
    );
}

/// What a tool or a program prints.
fn run(folder: &Path, name: &str, arguments: &[&str]) -> String {
    let output = Command::new(name)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {said}");
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/libraries");
    path.join(name).display().to_string()
}

fn link_flags(options: &[&str]) -> Vec<String> {
    let flags = attempt(
        Path::new("."),
        &[&["--sirius-print-link-flags"], options].concat(),
    );
    text(&flags.stdout)
        .split_whitespace()
        .map(str::to_owned)
        .collect()
}

#[test]
fn libraries_and_their_program_have_one_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let library = |number: u32, other: &[&str]| -> PathBuf {
        let (name, define) = (format!("lib{number}.so"), format!("-DLIBRARY={number}"));
        let options = ["-shared", "-Xcompiler", "-fPIC", &define, "-o", &name];
        sirius(folder, &[&options, other].concat());
        folder.join(name)
    };
    let counter = source("counter.cu");
    let (one, two) = (library(1, &[&counter]), library(2, &[&counter]));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    run(
        folder,
        "cc",
        &[&source("plugins.c"), "-o", "plugins", "-ldl"],
    );
    assert_eq!(run(folder, "./plugins", &[one, two]), "11 101 1011\n");
    // Linked with one of them, and loading the other; the kernels of one name are three.
    sirius(
        folder,
        &[&source("program.cu"), one, "-o", "program", "-ldl"],
    );
    assert_eq!(run(folder, "./program", &[two]), "209 -4\n");
    // The same when another linker makes the libraries.
    for number in ["1", "2"] {
        let (object, define) = (format!("{number}.o"), format!("-DLIBRARY={number}"));
        sirius(
            folder,
            &[
                "-c",
                "-Xcompiler",
                "-fPIC",
                &define,
                &counter,
                "-o",
                &object,
            ],
        );
        let name = format!("lib{number}.so");
        let mut words = vec!["-shared", &object, "-o", &name];
        let flags = link_flags(&[]);
        words.extend(flags.iter().map(String::as_str));
        run(folder, "g++", &words);
    }
    assert_eq!(run(folder, "./plugins", &[one, two]), "11 101 1011\n");
}

#[test]
fn a_program_by_itself_carries_the_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let early = source("early.cu");
    for (options, is_shared) in [(&[][..], false), (&["-cudart", "shared"], true)] {
        sirius(folder, &[options, &[&early, "-o", "early"]].concat());
        let needed = run(folder, "readelf", &["-d", "early"]);
        assert_eq!(
            needed.contains("libsirius_runtime.so"),
            is_shared,
            "{needed}"
        );
        let said = run(folder, "./early", &[]);
        assert_eq!(said, "loaded\nconstructor\nmain\ndestructor\n");
    }
}

#[test]
fn kernels_are_registered_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    run(
        folder,
        "cc",
        &["-w", "-c", &source("order.c"), "-o", "order.o"],
    );
    let registered = "__cudaRegisterFatBinary\n__cudaRegisterFunction\n__cudaRegisterVar\n__cudaRegisterFatBinaryEnd\n";
    let early = "loaded\ncudaLaunchKernel\nconstructor\ncudaGetSymbolSize\ncudaLaunchKernel\nmain\n\
                 destructor\ncudaLaunchKernel\n__cudaUnregisterFatBinary\n";
    for fusion in ["off", "all"] {
        let fusion = format!("--sirius-fusion={fusion}");
        sirius(
            folder,
            &[
                "--sirius-device=cuda",
                &fusion,
                "-c",
                &source("early.cu"),
                "-o",
                "early.o",
            ],
        );
        run(folder, "g++", &["early.o", "order.o", "-o", "early"]);
        assert_eq!(run(folder, "./early", &[]), format!("{registered}{early}"));
    }
}

#[test]
fn host_functions_of_kernels_have_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sirius(folder, &["-c", &source("kernels.cu"), "-o", "kernels.o"]);
    let symbols = run(folder, "nm", &["kernels.o"]);
    // As nvcc's objects have them.
    for symbol in [
        "T _Z3addPii",
        "T _ZN5scope4pairE4PairPi",
        "T plain",
        "t _ZL3ownPi",
        "t _Z8instanceIiEvPT_",
        "W _Z6launchIXadL_Z5plainEEEvPi",
    ] {
        assert!(
            symbols.contains(&format!(" {symbol}\n")),
            "{symbol}: {symbols}"
        );
    }
    assert!(!symbols.contains("__device_stub__"), "{symbols}");
    let hidden = run(folder, "readelf", &["-sW", "kernels.o"]);
    let line = hidden.lines().find(|line| line.ends_with(" _Z3addPii"));
    assert!(line.is_some_and(|line| line.contains("HIDDEN")), "{hidden}");
    let options = [
        "-device-entity-has-hidden-visibility=false",
        "-static-global-template-stub=false",
    ];
    let kernels = source("kernels.cu");
    let unlike = [&options[..], &["-c", &kernels, "-o", "seen.o"]].concat();
    sirius(folder, &unlike);
    let seen = run(folder, "readelf", &["-sW", "seen.o"]);
    for name in ["_Z3addPii", "_Z8instanceIiEvPT_"] {
        let line = seen
            .lines()
            .find(|line| line.ends_with(&format!(" {name}")));
        assert!(
            line.is_some_and(|line| !line.contains("HIDDEN") && !line.contains("LOCAL")),
            "{seen}"
        );
    }
    let include = attempt(
        folder,
        &[
            "-E",
            "-include",
            "cuda_runtime_api.h",
            "-x",
            "cu",
            "/dev/null",
        ],
    );
    let header = text(&include.stdout);
    let header = header.lines().find_map(|line| {
        let path = line.split('"').nth(1)?;
        path.ends_with("/cuda_runtime_api.h")
            .then(|| Path::new(path).parent())?
    });
    let include = format!("-I{}", header.unwrap().display());
    let flags = link_flags(&[]);
    let mut words = vec![&include, "kernels.o", "-o", "host"];
    let host = source("host.cpp");
    words.insert(1, &host);
    words.extend(flags.iter().map(String::as_str));
    run(folder, "g++", &words);
    assert_eq!(run(folder, "./host", &[]), "2 7 37 0\n");
}

#[test]
fn undefined_device_functions_are_errors_of_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, body: &str| {
        let text = format!(
            "__device__ int helper(int);\n__device__ int unused(int x) {{ return helper(x); }}\n\
             __global__ void k(int *p) {{ {body} }}\nint main() {{ k<<<1, 1>>>(0); }}\n"
        );
        std::fs::write(folder.join(name), text).unwrap();
    };
    write("uses.cu", "*p = helper(3);");
    write("never.cu", "if (false) *p = helper(3);");
    for device in ["--sirius-device=cpu", "--sirius-device=cuda"] {
        for options in [&["-o", "x"][..], &["-c", "-o", "x.o"]] {
            let refused = attempt(folder, &[&[device, "uses.cu"], options].concat());
            let said = text(&refused.stderr);
            assert_eq!(refused.status.code(), Some(255), "{said}");
            assert!(
                said.contains("undefined reference to 'helper(int)' in device code of 'uses.cu'"),
                "{said}"
            );
        }
        sirius(folder, &[device, "-c", "never.cu", "-o", "never.o"]);
    }
}

#[test]
fn openmp_is_clangs_whoever_links() {
    let folder = tempfile::tempdir().unwrap();
    let threads = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmake/mixed/threads.cu");
    let threads = threads.to_str().unwrap();
    let with = |options: &[&str]| {
        let built = attempt(
            folder.path(),
            &[&[threads, "-o", "program"], options].concat(),
        );
        let said = text(&built.stderr);
        assert!(built.status.success(), "{options:?}: {said}");
        assert_eq!(run(folder.path(), "./program", &[]), "0 wrong\n");
        said
    };
    let note = "note: the program needs clang's OpenMP library, libomp.so";
    for options in [
        &["-Xcompiler", "-fopenmp"] as &[_],
        &["-Xcompiler", "-fopenmp", "-ccbin", "g++"],
        &["-Xcompiler=-fopenmp,-O2", "-ccbin", "g++", "-lgomp"],
    ] {
        let said = with(options);
        assert_eq!(said.matches(note).count(), 1, "{options:?}: {said}");
    }
    let said = with(&["-ccbin", "g++"]);
    assert!(!said.contains(note), "{said}");
}
