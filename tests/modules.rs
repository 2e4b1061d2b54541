//! Kernels that come from files when the program runs: what `-ptx`, `-cubin` and `-fatbin` write for the CPU
//! device, that device loads.

use std::path::Path;
use std::process::{Command, Output};

fn sirius(arguments: &[&str]) -> Output {
    let made = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(arguments)
        .env_remove("SIRIUS_FLAGS")
        .env_remove("SIRIUS_DEVICE")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{arguments:?}: {said}");
    made
}

#[test]
fn files_for_the_cpu_device_are_loaded_there() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = |name: &str| sources.join(name).display().to_string();
    let program = path("program");
    let cpu = "--sirius-device=cpu";
    sirius(&[cpu, &source("main.cu"), "-o", &program]);
    let kinds = ["-ptx", "-cubin", "-fatbin"];
    let files = kinds.map(|kind| path(&format!("kernels{kind}")));
    for (kind, file) in kinds.iter().zip(&files) {
        sirius(&[cpu, kind, &source("kernels.cu"), "-o", file]);
    }
    let text = String::from_utf8(std::fs::read(&files[0]).unwrap()).unwrap();
    assert!(
        text.contains(".visible .entry reverse("),
        "PTX as for a GPU"
    );

    let ran = Command::new(&program).args(&files).output().unwrap();
    // The square roots of 1 to 32 squared, in reverse and twice.
    let one = "4 bytes, 5 before, none 500, last 1, sum 1056, 32 threads\nafterwards 400\n";
    let linked = format!("nothing to link: 1\ntwo files: 801\n{one}");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        one.repeat(6) + &linked.repeat(3) + "done\n",
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );

    // What is for GPUs runs where it has PTX, and is refused with a sentence where it has not.
    let gpu = ["--sirius-device=cuda", "-gencode"];
    let foreign = [
        ("text", "-ptx", "arch=compute_80,code=compute_80"),
        ("both", "-fatbin", "arch=compute_80,code=[sm_80,compute_80]"),
    ];
    let foreign = foreign.map(|(name, kind, code)| {
        let file = path(name);
        sirius(&[&gpu[..], &[code, kind, &source("kernels.cu"), "-o", &file]].concat());
        file
    });
    let ran = Command::new(&program).args(&foreign).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        one.repeat(4) + &linked.repeat(2) + "done\n",
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    for (kind, status, sentence) in [
        ("-cubin", 200, "that sirius-rs wrote for it"),
        ("-fatbin", 200, "machine code for GPUs without PTX"),
    ] {
        let file = path(&format!("machine{kind}"));
        let code = "arch=compute_80,code=sm_80";
        sirius(&[&gpu[..], &[code, kind, &source("kernels.cu"), "-o", &file]].concat());
        let ran = Command::new(&program).arg(&file).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&ran.stdout),
            format!("cuModuleLoad(&module, files[index]): {status}\n")
        );
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains(sentence), "{said}");
    }

    // What is no PTX is named with its line.
    let broken = path("broken.ptx");
    std::fs::write(
        &broken,
        ".version 8.0\n.target sm_80\n.entry k() { jump there; }\n",
    )
    .unwrap();
    let ran = Command::new(&program).arg(&broken).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "cuModuleLoad(&module, files[index]): 218\n"
    );
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        said.contains("module.ptx(3)") || said.contains("module.ptx:3"),
        "{said}"
    );
}

#[test]
fn kernels_are_compiled_when_the_program_runs() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules/compiled.cpp");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program").display().to_string();
    let source = source.display().to_string();
    sirius(&[
        "--sirius-device=cpu",
        &source,
        "-o",
        &program,
        "-lnvrtc",
        "-lcuda",
    ]);
    let run = |compiler: Option<&str>| {
        let mut command = Command::new(&program);
        command.env_remove("SIRIUS_COMPILER");
        command.envs(compiler.map(|path| ("SIRIUS_COMPILER", path)));
        command.output().unwrap()
    };
    let ran = run(None);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "version 1, last architecture 121\n\
         before: NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION\n\
         refused: NVRTC_ERROR_INVALID_OPTION\n\
         log: ''\n\
         _ZN5kinds6scaledIfLi2EEEvPT_ _ZN5kinds6factorE _ZN5kinds6scaledI6__halfLi2EEEvPT_, \
         other: NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID\n\
         PTX 1, ends with zero 1\n\
         4 bytes, first 621, last 1\n\
         4 bytes, first 621, last 1\n\
         destroyed 1, again: NVRTC_ERROR_INVALID_PROGRAM\n\
         machine code 0\n\
         broken: NVRTC_ERROR_COMPILATION\n\
         broken.cu:1:28: error: use of undeclared identifier 'none'\n\
         then: NVRTC_ERROR_INVALID_PROGRAM\n\
         type unsigned int const&\n",
        "{said}"
    );
    assert_eq!(
        said,
        "sirius: NVRTC on the CPU device does not know -default-device\n"
    );

    // Without a compiler there is a sentence.
    let ran = run(Some("/nowhere/sirius-rs"));
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("SIRIUS_COMPILER can name"), "{said}");
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(printed.contains("NVRTC_ERROR_INTERNAL_ERROR"), "{printed}");
}
