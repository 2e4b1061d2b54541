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
    let one = "4 bytes, 5 before, none 500, last 1, sum 1056\nafterwards 400\n";
    let linked = format!("nothing to link: 1\ntwo files: 801\n{one}");
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        one.repeat(6) + &linked.repeat(3) + "done\n",
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );

    // What is for GPUs alone is refused with a sentence.
    let foreign = path("foreign.ptx");
    let options = ["--sirius-device=cuda", "-ptx", "-arch=sm_80"];
    sirius(&[&options[..], &[&source("kernels.cu"), "-o", &foreign]].concat());
    let ran = Command::new(&program).arg(&foreign).output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "cuModuleLoad(&module, files[index]): 200\n"
    );
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(said.contains("wrote for it"), "{said}");
}
