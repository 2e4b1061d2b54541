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
