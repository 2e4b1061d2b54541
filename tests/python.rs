//! The Python package: definitions called with tensors of NumPy, and of PyTorch where there is one.
//!
//! `SIRIUS_PYTHON` names the Python that is used; without it, it is the first of `python3` on `PATH` and the system's that has
//! NumPy. `scripts/setup tests` installs that one.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn python_with(modules: &str) -> Option<PathBuf> {
    let named = std::env::var_os("SIRIUS_PYTHON").map(PathBuf::from);
    let usual = ["python3", "/usr/bin/python3"].map(PathBuf::from);
    let has = |python: &PathBuf| {
        let asked = Command::new(python)
            .args(["-c", &format!("import {modules}")])
            .output();
        asked.is_ok_and(|output| output.status.success())
    };
    named.into_iter().chain(usual).find(has)
}

fn run(python: &Path, pattern: &str) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cache = tempfile::tempdir().unwrap();
    Command::new(python)
        .args(["-m", "unittest", "discover", "-s", "python/tests", "-p"])
        .arg(pattern)
        .current_dir(root)
        .env("PYTHONPATH", root.join("python"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("SIRIUS_RS", env!("CARGO_BIN_EXE_sirius-rs"))
        .env("SIRIUS_CACHE", cache.path())
        .env("SIRIUS_STRICT", "1")
        .output()
        .unwrap()
}

#[test]
fn definitions_take_tensors_of_numpy() {
    let python =
        python_with("numpy").expect("no Python has NumPy; scripts/setup tests installs it");
    for (pattern, fewest) in [("test_definitions.py", 23), ("test_archived.py", 9)] {
        let output = run(&python, pattern);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        // A folder without tests would pass, too.
        let ran = said
            .split("Ran ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        let ran: Option<u32> = ran.and_then(|number| number.parse().ok());
        assert!(ran.is_some_and(|tests| tests >= fewest), "{said}");
    }
}

#[test]
fn models_of_pytorch_are_compiled() {
    let Some(python) = python_with("numpy, torch") else {
        println!("left out: no Python here has PyTorch");
        return;
    };
    let output = run(&python, "test_torch.py");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
