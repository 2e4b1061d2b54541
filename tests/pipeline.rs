//! What the compiler does when a stage of its own fails: the program is built all the same.

use std::path::Path;
use std::process::{Command, Output};

fn build(fault: &str, program: &Path, strict: bool) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    command
        .arg(root.join("test_programs/pointwise_chain.cu"))
        .args(["-O1", "--sirius-device=cpu", "-o"])
        .arg(program)
        .env("SIRIUS_FAULT", fault)
        .env_remove("SIRIUS_FLAGS")
        .env_remove("SIRIUS_STRICT");
    if strict {
        command.env("SIRIUS_STRICT", "1");
    }
    command.output().expect("the compiler starts")
}

#[test]
fn a_failing_stage_costs_fusion_and_not_the_program() {
    let folder = tempfile::tempdir().unwrap();
    for stage in ["launch", "verify"] {
        let program = folder.path().join(stage);
        let built = build(stage, &program, false);
        let messages = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{stage}: {messages}");
        let about: Vec<_> = messages.lines().collect();
        assert!(
            matches!(about.as_slice(), [what, then]
                if what.contains("internal error") && what.contains(stage)
                    && then.contains("built without fusion")),
            "{stage}: {messages}"
        );
        let run = Command::new(&program).output().unwrap();
        let said = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status.success() && said.contains("PASS"), "{said}");
    }
}

#[test]
fn a_failing_stage_is_fatal_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let built = build("dependence", &program, true);
    let messages = String::from_utf8_lossy(&built.stderr).into_owned();
    assert_eq!(built.status.code(), Some(1), "{messages}");
    assert!(messages.contains("internal error"), "{messages}");
    assert!(!program.exists());
}

/// Compiles a source with `-v` and a folder for what clang makes; how often clang's front end ran, and
/// its text.
fn front_end_runs(folder: &Path, options: &[&str]) -> (usize, String) {
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(folder)
        .args(["kernel.cu", "-v", "--sirius-device=cpu"])
        .args(["--sirius-stop-after=program", "--sirius-dump=program"])
        .args(options)
        .env("SIRIUS_FRONT_END_CACHE", folder.join("kept"))
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler starts");
    let text = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{text}");
    let commands = text.lines().filter(|line| line.contains("-emit-llvm"));
    // The name of a module is that of a temporary file.
    let mut lasting = text.lines().collect::<Vec<_>>();
    lasting.retain(|line| !line.starts_with("#$ ") && !line.starts_with("; ModuleID"));
    (commands.count(), lasting.join("\n"))
}

#[test]
fn what_clang_made_is_taken_while_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = "#include \"factor.h\"\n#warning here\n#ifndef FACTOR\n#define FACTOR factor\n#endif\n\
                  __host__ __device__ float scaled(float x) { return x * FACTOR; }\n";
    std::fs::write(folder.join("kernel.cu"), source).unwrap();
    let header = |factor: &str| {
        let text = format!("constexpr float factor = {factor};\n");
        std::fs::write(folder.join("factor.h"), text).unwrap();
        // Files are kept only once they are older than the clock's step.
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    header("3.0f");
    let (runs, first) = front_end_runs(folder, &[]);
    assert_eq!(runs, 2, "{first}");
    assert!(
        first.contains("[-W#warnings]") && first.contains("3.000000e+00"),
        "{first}"
    );
    let (runs, again) = front_end_runs(folder, &["--sirius-fusion=off"]);
    assert_eq!(runs, 0, "{again}");
    assert_eq!(first, again);
    let (runs, other) = front_end_runs(folder, &["-DFACTOR=5.0f"]);
    assert_eq!(runs, 2, "{other}");
    assert!(other.contains("5.000000e+00"), "{other}");
    header("7.0f");
    let (runs, changed) = front_end_runs(folder, &[]);
    assert_eq!(runs, 2, "{changed}");
    assert!(
        changed.contains("7.000000e+00") && !changed.contains("3.000000e+00"),
        "{changed}"
    );
    assert_eq!(front_end_runs(folder, &[]), (0, changed));
}
