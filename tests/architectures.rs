//! Device code for several architectures: each has what the source has for it, in one file, in objects and across
//! a device link, and what differs is not fused.

use std::path::Path;
use std::process::{Command, Output};

/// What these tests have in common: precompiled headers, above all.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

const THREE: [&str; 6] = [
    "-gencode",
    "arch=compute_75,code=sm_75",
    "-gencode",
    "arch=compute_86,code=sm_86",
    "-gencode",
    "arch=compute_90,code=[sm_90,compute_90]",
];

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/architectures");
    path.join(name).display().to_string()
}

fn sirius(folder: &Path, device: &str, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(arguments)
        .current_dir(folder)
        .env("SIRIUS_DEVICE", device)
        .env("SIRIUS_STRICT", "1")
        .env("SIRIUS_CACHE", CACHE)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    output
}

/// Which of the numbers that `own_number` gives are in the PTX that a link kept for an architecture.
fn numbers(folder: &Path, stem: &str, target: u32) -> Vec<u32> {
    let path = folder.join(format!("{stem}.compute_{target}.ptx"));
    let ptx = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{stem}: {error}"));
    assert!(ptx.contains(&format!(".target sm_{target}")));
    let numbers = [75757, 80808, 90909].into_iter();
    numbers
        .filter(|number| ptx.contains(&number.to_string()))
        .collect()
}

#[test]
fn each_architecture_has_its_own_code() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let apart = source("apart.cu");
    let arguments = [&THREE[..], &["-keep", "-o", "apart", &apart]].concat();
    let said = sirius(place, "cuda", &arguments);
    // Those that are the same for all are fused for all.
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("3 launches -> 2"), "{said}");
    assert_eq!(numbers(place, "apart", 75), [75757]);
    assert_eq!(numbers(place, "apart", 86), [80808]);
    assert_eq!(numbers(place, "apart", 90), [90909]);
    for target in [75, 86, 90] {
        assert_eq!(numbers(place, "fused", target), []);
        let kept = place.join(format!("apart.compute_{target}.cpp1.ii"));
        let text = std::fs::read_to_string(kept).unwrap();
        let own = match target {
            75 => "return 75757",
            86 => "return 80808",
            _ => "return 90909",
        };
        assert!(text.contains(own), "{target}");
    }
    let reasons = sirius(
        place,
        "cuda",
        &[&["analyze"], &THREE[..], &[&apart]].concat(),
    );
    let reasons = String::from_utf8_lossy(&reasons.stdout);
    let reason = "`answer` is other code for sm_86 (it asks for __CUDA_ARCH__)";
    assert!(reasons.contains(reason), "{reasons}");
}

#[test]
fn objects_keep_the_code_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let apart = source("apart.cu");
    let compile = [&THREE[..], &["-c", "-o", "apart.o", &apart]].concat();
    sirius(place, "cuda", &compile);
    let said = sirius(place, "cuda", &["-keep", "apart.o", "-o", "apart"]);
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("3 launches -> 2"), "{said}");
    assert_eq!(numbers(place, "apart", 75), [75757]);
    assert_eq!(numbers(place, "apart", 86), [80808]);
    assert_eq!(numbers(place, "apart", 90), [90909]);
}

#[test]
fn a_device_link_links_each() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let (caller, number) = (source("caller.cu"), source("number.cu"));
    let compile = [&THREE[..], &["-dc", &caller, &number]].concat();
    sirius(place, "cuda", &compile);
    let compiled = std::fs::read(place.join("caller.o")).unwrap();
    let link = ["-keep", "caller.o", "number.o", "-o", "linked"];
    sirius(place, "cuda", &[&THREE[..], &link].concat());
    // What is kept has other names than what the link was given.
    assert_eq!(compiled, std::fs::read(place.join("caller.o")).unwrap());
    let expected = [(75, 75757), (86, 75757), (90, 90909)];
    for (target, number) in expected {
        assert_eq!(numbers(place, "caller", target), [number], "{target}");
    }
    // A link for one newer architecture takes what that runs.
    let newer = ["-arch=sm_90", "-keep", "-keep-dir", "newer", "-dlink"];
    let newer = [&newer[..], &["caller.o", "number.o", "-o", "newer.o"]].concat();
    sirius(place, "cuda", &newer);
    let ptx = std::fs::read_to_string(place.join("newer/caller.ptx")).unwrap();
    assert!(ptx.contains("90909") && !ptx.contains("75757"));
}

#[test]
fn both_sides_know_all_architectures() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    // The CPU device is of 8.0, and runs the newest code that such a GPU would. The host side is told of all.
    let run = |arguments: &[&str], printed: &str| {
        let (apart, program) = (source("apart.cu"), place.join("program"));
        sirius(
            place,
            "cpu",
            &[arguments, &["-o", "program", &apart]].concat(),
        );
        let output = Command::new(program).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), printed);
    };
    run(&THREE, "75757 1999, of 3 from 750\n");
    run(&["-arch=sm_80"], "80808 1999, of 1 from 800\n");
    // For the GPU too: it is in what the preprocessor leaves.
    let apart = source("apart.cu");
    let text = sirius(place, "cuda", &[&THREE[..], &["-E", &apart]].concat());
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("{750,860,900}"));
}
