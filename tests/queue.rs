//! The queue of waiting launches by itself, on a device that is made up: what `tests/queue/scenes.c` shows of graphs, by
//! costs, errors, captures and resets that are told; and random programs, whose graphs run in any order that their edges
//! allow, while calls fail. `SIRIUS_FUZZ_SEEDS=from..to` runs other seeds.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// The calls that its text leaves open, as for programs of the legacy default stream.
const MACROS: [&str; 11] = [
    "-DSIRIUS_LAUNCH=cudaLaunchKernel",
    "-DSIRIUS_LAUNCH_TOGETHER=cudaLaunchCooperativeKernel",
    "-DSIRIUS_SLOTS=64",
    "-DSIRIUS_WAIT=cudaStreamSynchronize",
    "-DSIRIUS_COPY=cudaMemcpyAsync",
    "-DSIRIUS_ALLOCATE=cudaMallocAsync",
    "-DSIRIUS_FREE=cudaFreeAsync",
    "-DSIRIUS_IS_CAPTURING=cudaStreamIsCapturing",
    "-DSIRIUS_GRAPH_LAUNCH=cudaGraphLaunch",
    "-DSIRIUS_STREAM_NUMBER=cudaStreamGetId",
    "-DSIRIUS_STREAM_PRIORITY=cudaStreamGetPriority",
];

/// Its text, in this order.
const QUEUE: [&str; 4] = ["records.c", "graphs.c", "phases.c", "queue.c"];

/// Builds the scenes, with `changed` done to the queue's text.
fn build(folder: &TempDir, changed: impl Fn(String) -> String) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a source");
    let queue = QUEUE.map(|name| read(&format!("src/codegen/batches/{name}")));
    let device = ["device.c", "scenes.c"].map(|name| read(&format!("tests/queue/{name}")));
    let source = folder.path().join("queue.c");
    let text = changed(queue.concat()) + &device.concat();
    std::fs::write(&source, text).expect("a source is written");
    compile(folder, &source, Some("-DSIRIUS_GRAPHS"))
}

/// Compiles a text that has all of the queue.
fn compile(folder: &TempDir, source: &Path, option: Option<&str>) -> PathBuf {
    let program = folder.path().join("queue");
    let built = Command::new("cc")
        .args(["-std=gnu11", "-O1"])
        .args(option)
        .args(MACROS)
        .args([source, Path::new("-o"), &program])
        .output();
    let built = built.expect("a C compiler runs");
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    program
}

/// Runs the scenes with these arguments; what they say.
fn run(program: &Path, mode: Option<&str>, arguments: &[&str]) -> String {
    let ran = output(program, mode, arguments);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{arguments:?}: {said}");
    said
}

fn output(program: &Path, mode: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("SIRIUS_GRAPHS");
    command.envs(mode.map(|mode| ("SIRIUS_GRAPHS", mode)));
    command.output().expect("the scenes run")
}

/// Gives all launches one hash.
fn without_hash(text: String) -> String {
    let hash = "return (hash ^ value) * 1099511628211u;";
    assert!(text.contains(hash), "the hash is another one");
    text.replace(hash, "return (void)value, hash;")
}

#[test]
fn launches_are_told_apart_whatever_their_hashes_say() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(&folder, without_hash);
    for scene in [
        "launches_that_look_alike",
        "edges_of_other_nodes",
        "waves_of_other_kernels",
    ] {
        run(&program, None, &[scene]);
    }
}

#[test]
fn graphs_come_and_go_as_they_should() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = build(&folder, |text| text);
    for scene in [
        "cheap_graphs_stay",
        "dear_graphs_end",
        "equal_arguments_set_nothing",
        "dear_graphs_leave_waves",
        "iterations_are_alike",
        "slow_hosts_wait_for_nothing",
        "a_programs_error_stays",
        "captures_have_no_graphs",
        "ended_contexts_are_left_alone",
    ] {
        run(&program, None, &[scene]);
    }
    run(&program, Some("off"), &["switched_off"]);
    run(&program, Some("always"), &["always"]);
    for (mode, is_known) in [("", true), ("auto", true), ("alway", false)] {
        let ran = output(&program, Some(mode), &["cheap_graphs_stay"]);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{said}");
        assert_eq!(
            said.matches("not auto, always or off").count(),
            usize::from(!is_known),
            "{said}"
        );
    }
}

#[test]
fn columns_of_one_matrix_wait_for_each_other_where_they_meet() {
    let right = "behind >= range->column_bytes && bytes <= range->pitch - behind";
    let wrong = [
        (right, "bytes <= range->pitch - behind"),
        (right, "behind >= range->column_bytes"),
    ];
    programs_find("columns.c", None, &wrong);
}

#[test]
fn launches_of_several_codes_are_those_of_the_program() {
    let wrong = [
        ("++at) records[at] = 0;", "++at) {}"),
        (
            "piece->to, arguments + piece->from",
            "piece->to, arguments + piece->to",
        ),
        (" && plane * grid->z * number <= most - blocks", ""),
        (
            "blocks += plane * grid->z * number",
            "blocks += plane * number",
        ),
    ];
    programs_find("mixed.c", None, &wrong);
}

#[test]
fn batches_that_are_phases_of_one_launch_do_what_the_program_does() {
    let wrong = [
        ("if (run.blocks > resident) run.blocks", "if (0) run.blocks"),
        (
            "uint64_t most = resident * phases->rounds;",
            "uint64_t most = resident * 9;",
        ),
        ("return able && blocks > 0", "return blocks > 0"),
        (
            "if (queue.batches < 2 || is_recorded(queue.stream)) return 0;",
            "",
        ),
        ("record->kernel->phases != first->kernel->phases || ", ""),
        (" || record->shared > shared ||", " ||"),
        ("phases ? phases->shared : 0", "~(size_t)0"),
        ("(int)threads, shared)) {", "(int)threads, 0)) {"),
        (
            "(unsigned)bytes, {0, 0}};",
            "(unsigned)(bytes - record->kernel->record_bytes), {0, 0}};",
        ),
        (
            "next.end = end_of_batch(records, run.end, count);",
            "next.end = count;",
        ),
        (
            "end = end_of_batch(records, at, run->end);",
            "end = run->end;",
        ),
        ("record->kernel->phase_code,", "0,"),
        ("* (last - own);", "* 1;"),
        (
            "    free(text);\n    if (failed) {",
            "    if (failed) {\n        free(text);\n        return at;",
        ),
        (
            "+= (size_t)(end - own) * record->kernel->record_bytes;",
            "+= record->kernel->record_bytes;",
        ),
        (
            "if (blocks > next.blocks) next.blocks",
            "if (0) next.blocks",
        ),
    ];
    programs_find("phases.c", Some("-DSIRIUS_PHASES"), &wrong);
}

/// Random programs pass with the queue as it is, and find what is wrong in the place of something right.
fn programs_find(programs: &str, option: Option<&str>, wrong: &[(&str, &str)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).expect("a source");
    let text = QUEUE.map(|name| read(&format!("src/codegen/batches/{name}")));
    let text = text.concat();
    let build = |text: String| {
        let source = folder.path().join(programs);
        std::fs::write(&source, text + &read(&format!("tests/queue/{programs}")))
            .expect("a source is written");
        compile(&folder, &source, option)
    };
    println!("{}", run(&build(text.clone()), None, &["0", "2000"]));
    for (right, wrong) in wrong {
        let changed = text.replace(right, wrong);
        assert_ne!(changed, text, "`{right}` is another one");
        let ran = output(&build(changed), None, &["0", "2000"]);
        assert!(!ran.status.success(), "`{wrong}` is not found");
    }
}

#[test]
fn graphs_do_what_the_program_does() {
    let seeds = std::env::var("SIRIUS_FUZZ_SEEDS").unwrap_or_else(|_| "0..300".to_owned());
    let (from, to) = seeds.split_once("..").expect("`from..to`");
    let folder = tempfile::tempdir().expect("a folder");
    for mode in [None, Some("always")] {
        for changed in [without_hash as fn(String) -> String, |text| text] {
            let program = build(&folder, changed);
            println!("{}", run(&program, mode, &["random", from, to]));
        }
    }
}
