//! The tuner, on the CPU device: programs that measure, their results, and what comes of these.
//!
//! Times are what they are on the day, so that the tests take results apart and put other times in.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/run/orientations.cu");

fn compiler(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(folder)
        .args(arguments)
        .env("SIRIUS_CACHE", folder.join("cache"))
        .env("SIRIUS_FRONT_END_CACHE", folder.join("front"))
        .env("SIRIUS_DEVICE", "cpu")
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler starts")
}

/// What was chosen for each group by a report.
fn chosen(report: &str) -> Vec<Option<String>> {
    let report: Value = serde_json::from_str(report).unwrap();
    let fusions = report["fusions"].as_array().unwrap().iter();
    let chosen = fusions.map(|fusion| fusion["tuned"].as_str().map(str::to_owned));
    chosen.collect()
}

/// Builds the program; what the compiler said, what was chosen, and what the program prints.
fn built(folder: &Path, options: &[&str]) -> (String, Vec<Option<String>>, String) {
    let mut arguments = vec![SOURCE, "-o", "program", "--sirius-report=report.json"];
    arguments.extend(options);
    let built = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{said}");
    let report = std::fs::read_to_string(folder.join("report.json")).unwrap();
    let run = Command::new(folder.join("program")).arg("7").output();
    let run = run.unwrap();
    assert!(run.status.success());
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    (said, chosen(&report), printed)
}

/// The lines that the compiler says of the program, and what is chosen.
fn analysed(folder: &Path, options: &[&str]) -> (Vec<String>, Vec<Option<String>>) {
    let mut arguments = vec!["analyze", "--format=json", SOURCE];
    arguments.extend(options);
    let output = compiler(folder, &arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    (said.lines().map(str::to_owned).collect(), chosen(&report))
}

/// Gives each site of each run a time.
fn retime(results: &Value, time: impl Fn(u64) -> f64) -> String {
    let mut results = results.clone();
    for run in results["runs"].as_array_mut().unwrap() {
        let configuration = run["configuration"].as_u64().unwrap();
        for site in run["sites"].as_array_mut().unwrap() {
            site[2] = time(configuration).into();
        }
    }
    results.to_string()
}

#[test]
fn what_a_packed_program_measures_chooses_variants_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (_, as_planned, expected) = built(folder, &[]);
    assert_eq!(as_planned, [None, None]);

    let pack = [
        "tune",
        "--pack",
        SOURCE,
        "-o",
        "packed",
        "--sirius-tune-budget=1",
    ];
    let packed = compiler(folder, &pack);
    let said = String::from_utf8_lossy(&packed.stderr).into_owned();
    assert!(packed.status.success(), "{said}");
    assert!(
        said.contains("2 fused kernels in 2 configurations"),
        "{said}"
    );
    let run = Command::new(folder.join("packed"))
        .arg("7")
        .current_dir(folder)
        .output();
    let run = run.unwrap();
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(
        run.status.success() && said.contains("runs on 80"),
        "{said}"
    );
    let results = std::fs::read_to_string(folder.join("packed.json")).unwrap();
    let results: Value = serde_json::from_str(&results).unwrap();
    // The planned variant and another one of both groups, each launched in every run.
    let sites = |run: &Value| run["sites"].as_array().unwrap().len();
    let runs = results["runs"].as_array().unwrap();
    assert!(runs.len() >= 2 && runs.iter().all(|run| sites(run) >= 2));
    let others = &results["manifest"]["configurations"][1];
    let others: Vec<&str> = others
        .as_object()
        .unwrap()
        .values()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(others.len(), 2);

    // Where the others are faster they are taken.
    let told = |text: &str| std::fs::write(folder.join("told.json"), text).unwrap();
    let faster = retime(
        &results,
        |configuration| {
            if configuration == 0 { 1e6 } else { 1e3 }
        },
    );
    told(&faster);
    let (said, chosen, printed) = built(folder, &["--sirius-tune-results=told.json"]);
    assert!(!said.contains("results"), "{said}");
    let mut taken: Vec<&str> = chosen.iter().flatten().map(String::as_str).collect();
    taken.sort_unstable();
    let mut wanted = others.clone();
    wanted.sort_unstable();
    assert_eq!(taken, wanted);
    assert_eq!(printed, expected);

    // Names of variants that are not there, a subject that is not, another version, half a file.
    let strange = faster.replace(&format!("\"{}\"", others[0]), "\"v77 -speed\"");
    let key = results["manifest"]["subjects"][0]["key"].as_str().unwrap();
    let unknown = faster.replace(key, "0123");
    let foreign = faster.replace(env!("CARGO_PKG_VERSION"), "0.0.0");
    let half = faster[..faster.len() / 2].to_owned();
    for (text, words, left) in [
        (strange, "there is no variant 'v77 -speed'", 1),
        (unknown, "1 of 2 results in told.json fit nothing", 1),
        (foreign, "it is of sirius-rs 0.0.0", 0),
        (half, "it is no file of measurements", 0),
    ] {
        told(&text);
        let (lines, chosen) = analysed(folder, &["--sirius-tune-results=told.json"]);
        assert!(
            matches!(lines.as_slice(), [line] if line.contains(words)),
            "{lines:?}"
        );
        assert_eq!(chosen.iter().flatten().count(), left, "{words}");
    }
}

#[test]
fn what_was_measured_once_is_known_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let measure = [
        "--sirius-tune=measure",
        "--sirius-tune-budget=1",
        "-run-args=7",
    ];
    let (said, first, _) = built(folder, &measure);
    assert!(first.iter().all(Option::is_some), "{said}");
    let kept: Vec<_> = std::fs::read_dir(folder.join("cache/tune"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(kept.len(), 2);
    // Nothing is run for an analysis.
    let known = ["--sirius-tune=measure"];
    assert_eq!(analysed(folder, &known), (Vec::new(), first));
    // Entries of a cache are names as well.
    for entry in &kept {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let mut verdict: Value = serde_json::from_str(&text).unwrap();
        verdict["choice"] = "v2h9".into();
        std::fs::write(entry.path(), verdict.to_string()).unwrap();
    }
    let (lines, chosen) = analysed(folder, &known);
    let strange = lines
        .iter()
        .filter(|line| line.contains("there is no variant 'v2h9'"));
    assert_eq!(strange.count(), 2, "{lines:?}");
    assert_eq!(chosen, [None, None]);
}

#[test]
fn without_fusion_there_is_nothing_to_measure() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("one.cu");
    let text = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let refused = compiler(folder, &["tune", "--pack", "one.cu", "-o", "one.tune"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no launches were fused") && said.lines().count() == 1,
        "{said}"
    );
    assert!(!folder.join("one.tune").exists());
}
