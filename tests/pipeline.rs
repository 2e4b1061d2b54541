//! What the compiler does when a stage of its own fails: the program is built all the same. And what it
//! offers to find out why a program goes wrong.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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

/// A plan that the verifier refuses for one group is carried out for the others.
#[test]
fn a_refused_group_costs_itself() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let build = |fault: &str| {
        let (program, report) = (
            folder.path().join("program"),
            folder.path().join("report.json"),
        );
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .arg(root.join("tests/run/asynchronous_copies.cu"))
            .args(["-arch=sm_80", "-std=c++17", "--sirius-device=cpu", "-o"])
            .arg(&program)
            .arg(format!("--sirius-report={}", report.display()))
            .env("SIRIUS_FAULT", fault)
            .env("SIRIUS_SAVE_DIR", folder.path().join("saved"))
            .env_remove("SIRIUS_FLAGS")
            .env_remove("SIRIUS_STRICT")
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{messages}");
        let run = Command::new(&program).output().unwrap();
        assert!(String::from_utf8_lossy(&run.stdout).contains("PASS"));
        let report: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        let sizes = report["fusions"].as_array().unwrap().iter();
        let sizes = sizes.map(|fusion| fusion["members"].as_array().unwrap().len());
        let missed = report["missed"].as_array().unwrap().iter();
        let missed = missed.filter(|missed| missed["reason"] == "not_verified");
        (messages, sizes.collect::<Vec<_>>(), missed.count())
    };
    let (messages, planned, missed) = build("none");
    assert!(!messages.contains("internal error"), "{messages}");
    assert!(planned.len() > 1 && missed == 0, "{messages}");
    let (messages, left, missed) = build("plan");
    assert!(messages.contains("internal error: the verifier refuses the plan"));
    let consequence = "the launches of one group stay unfused; a reproducer is in";
    assert!(messages.contains(consequence), "{messages}");
    assert_eq!((left.as_slice(), missed), (&planned[1..], planned[0] - 1));
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
/// its text, in order of the alphabet.
fn front_end_runs(folder: &Path, options: &[&str]) -> (usize, String) {
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(folder)
        .args(["kernel.cu", "-v", "--sirius-device=cpu"])
        .args(["--sirius-stop-after=program", "--sirius-dump=program"])
        .args(options)
        .env("SIRIUS_FRONT_END_CACHE", folder.join("kept"))
        .env("SIRIUS_PRECOMPILED_HEADERS", "off")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler starts");
    let text = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{text}");
    let commands = text.lines().filter(|line| line.contains("-emit-llvm"));
    // The name of a module is that of a temporary file.
    let mut lasting = text.lines().collect::<Vec<_>>();
    let varies = |line: &str| line.starts_with("#$ ") || line.starts_with("; ModuleID");
    lasting.retain(|line| !line.is_empty() && !varies(line));
    // What clang says is passed on when it runs, what is kept of that at the end.
    lasting.sort_unstable();
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

const COUNTS_RUNS: &str = "tests/pipeline/counts_runs.cu";

fn run_with(program: &Path, arguments: &[&Path], input: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// The program of `SIRIUS_REFERENCE=1` ends as itself where fusion changes nothing, and names byte,
/// launches and source lines where two runs differ.
#[test]
fn a_program_compares_itself_with_its_reference() {
    let folder = tempfile::tempdir().unwrap();
    let (program, counter) = (folder.path().join("program"), folder.path().join("counter"));
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([COUNTS_RUNS, "-O1", "-o"])
        .arg(&program)
        .env("SIRIUS_REFERENCE", "1")
        .env("SIRIUS_STRICT", "1")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{messages}");
    assert_eq!(
        messages.trim(),
        "sirius: 2 launches -> 1, with 1 set in them"
    );

    let (status, output, messages) = run_with(&program, &[], "5");
    assert_eq!((status, output.as_str()), (Some(7), "PASS\n"), "{messages}");
    assert!(
        messages.contains("the fused program does the same"),
        "{messages}"
    );

    let (status, output, messages) = run_with(&program, &[&counter], "5");
    assert_eq!((status, output.as_str()), (Some(1), "PASS\n"), "{messages}");
    for part in [
        "of allocation 2 is 0x",
        "launch 1 (counted from 0), kernel shift",
        "launch 0 (counted from 0), kernel sirius_fused_0",
        "block (0,0,0), thread (0,0,0)",
        "shift.h:6",
    ] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
}

/// What a kernel leaves in memory whose assertion failed is no difference, and no agreement either.
#[test]
fn nothing_is_compared_after_a_failed_assertion() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("fails.cu"), folder.path().join("fails"));
    let text = "#include <cassert>\n\
        __global__ void checks(int *a) { assert(a[threadIdx.x] == 0); a[threadIdx.x] = 1; }\n\
        int main() {\n\
            int *a;\n\
            cudaMalloc(&a, 32 * sizeof(int));\n\
            cudaMemset(a, 1, 32 * sizeof(int));\n\
            checks<<<1, 32>>>(a);\n\
            cudaDeviceSynchronize();\n\
        }\n";
    std::fs::write(&source, text).unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg("--sirius-device=cpu")
        .args([source.as_os_str(), "-o".as_ref(), program.as_os_str()])
        .env("SIRIUS_REFERENCE", "1")
        .output()
        .unwrap();
    assert!(built.status.success());
    let (status, _, messages) = run_with(&program, &[], "");
    assert_eq!(status, Some(1), "{messages}");
    for part in [
        "Assertion `a[threadIdx.x] == 0` failed",
        "with fusion and without (device-side assert triggered); nothing is compared",
    ] {
        assert!(messages.contains(part), "{part}: {messages}");
    }
    assert!(!messages.contains("of allocation"), "{messages}");
}

/// ptxas optimises what has lines of the source, but nothing that has sections of debug information.
#[test]
fn debug_information_of_the_host_is_no_obstacle() {
    let folder = tempfile::tempdir().unwrap();
    for option in ["-g", "-lineinfo"] {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args([COUNTS_RUNS, "-O1", option, "-arch=sm_80"])
            .args(["--sirius-device=cuda", "-o"])
            .arg(folder.path().join("program"))
            .env("SIRIUS_STRICT", "1")
            .env("SIRIUS_CACHE", "off")
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&built.stderr);
        assert_eq!(
            messages.trim(),
            "sirius: 2 launches -> 1, with 1 set in them",
            "{option}"
        );
    }
}

/// Addresses in device memory are other ones in each run; what they lead to is compared.
#[test]
fn tables_of_addresses_are_no_difference() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tests/pipeline/pointer_tables.cu", "-O1", "-o"])
        .arg(&program)
        .env("SIRIUS_REFERENCE", "1")
        .env("SIRIUS_STRICT", "1")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{messages}");
    let (status, output, messages) = run_with(&program, &[], "");
    assert_eq!((status, output.as_str()), (Some(0), "PASS\n"), "{messages}");
    let same = "the fused program does the same";
    assert!(messages.contains(same), "{messages}");
}

/// What is written behind barriers is computed from a pointer that is only read: to LLVM that one is not alone either,
/// or loads could be moved across the barriers.
#[test]
fn a_base_of_what_others_write_is_not_alone() {
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["--sirius-device=cpu", "--sirius-dump=codegen", "-O3"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/read_only_base.cu"))
        .arg("-o")
        .arg(folder.path().join("program"))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{stderr}");
    let mut lines = stderr.lines();
    let kernel = lines.find(|line| line.starts_with("define") && line.contains("@sirius_fused_"));
    let kernel = kernel.expect("the launches run as one");
    assert!(!kernel.contains("noalias"), "{kernel}");
}

/// The folder of a run under `SIRIUS_SAVE_DIR` builds the program again by itself.
#[test]
fn a_saved_folder_holds_all_that_a_report_needs() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, program) = (folder.path().join("saved"), folder.path().join("program"));
    let build = |mut command: Command| {
        let output = command.env("SIRIUS_STRICT", "1").output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{messages}");
        assert!(
            messages.contains("sirius: 2 launches -> 1, with 1 set in them"),
            "{messages}"
        );
    };
    let compiler = Path::new(env!("CARGO_BIN_EXE_sirius-rs"));
    let mut command = Command::new(compiler);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([COUNTS_RUNS, "-O1", "--sirius-device=cpu", "-o"])
        .arg(&program)
        .env("SIRIUS_SAVE_DIR", &saved);
    build(command);
    let runs: Vec<_> = std::fs::read_dir(&saved).unwrap().collect();
    assert_eq!(runs.len(), 1);
    let run = runs[0].as_ref().unwrap().path();
    for (name, part) in [
        ("command.sh", COUNTS_RUNS),
        ("graph.json", "\"nodes\""),
        ("models.json", "shift"),
        ("plan.json", "\"members\""),
        ("report.txt", "shift"),
        ("messages.txt", "2 launches -> 1"),
        ("host.before.ll", "sirius.launch"),
        ("host.after.ll", "sirius.group.0"),
        ("device0.before.ll", "define"),
        ("device.fused.ll", "sirius_fused_0"),
    ] {
        let text = std::fs::read_to_string(run.join(name)).unwrap();
        assert!(text.contains(part), "{name} lacks {part}");
    }

    // Elsewhere, without the tree that it came from.
    let moved = folder.path().join("elsewhere");
    std::fs::rename(&run, &moved).unwrap();
    std::fs::remove_file(&program).unwrap();
    let tools = std::env::var("PATH").unwrap();
    let path = format!("{}:{tools}", compiler.parent().unwrap().display());
    let mut again = Command::new("sh");
    again.arg(moved.join("command.sh")).env("PATH", path);
    build(again);
    let (status, output, _) = run_with(&program, &[], "5");
    assert_eq!((status, output.as_str()), (Some(7), "PASS\n"));
}

/// `--sirius-max-fusions=N` takes in one more with each N: groups, operations, what stands side by side
/// and at last batches; the program does the same with all of them.
#[test]
fn fusions_are_bisected() {
    let folder = tempfile::tempdir().unwrap();
    let (program, statistics) = (folder.path().join("program"), folder.path().join("counts"));
    let mut seen = Vec::new();
    for most in [0, 2, 4, 5] {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["tests/pipeline/bisected.cu", "-O1", "--sirius-device=cpu"])
            .arg(format!("--sirius-max-fusions={most}"))
            .arg("-o")
            .arg(&program)
            .env("SIRIUS_STRICT", "1")
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{messages}");
        let run = Command::new(&program)
            .env("SIRIUS_STATS", &statistics)
            .output()
            .unwrap();
        let counts = std::fs::read_to_string(&statistics).unwrap();
        let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
        seen.push((counts["launches"].as_u64().unwrap(), run.stdout));
    }
    assert!(seen.iter().all(|(_, output)| *output == seen[0].1));
    let launches: Vec<u64> = seen.iter().map(|(launches, _)| *launches).collect();
    assert!(
        launches.windows(2).all(|pair| pair[0] > pair[1]),
        "{launches:?}"
    );
    assert_eq!(launches[0], 29);
}

/// Constraints of kernel templates may say what the C++ library's concepts say of conversions and
/// swaps, which clang checks as device code; in earlier standards nothing changes.
#[test]
fn kernels_are_constrained_by_concepts_of_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <concepts>\n#include <cstdio>\n#include <utility>\n\
        #if __cplusplus >= 202002L\n\
        template <class F> concept Function = requires(F f) { { f(1, 2) } -> std::convertible_to<int>; };\n\
        template <Function F, std::copyable T> __global__ void apply(T *o, F f) { *o = f(3, 4); }\n\
        #else\n\
        template <class F, class T> __global__ void apply(T *o, F f) { *o = f(3, 4); }\n\
        #endif\n\
        int main() {\n\
          int *p, *q, h;\n\
          cudaMalloc(&p, 4), cudaMalloc(&q, 4), std::swap(p, q);\n\
          apply<<<1, 1>>>(p, [] __device__(int x, int y) { return 10 * x + y; });\n\
          cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost);\n\
          std::printf(\"%d\\n\", h);\n\
        }\n";
    let source = source.replace(
        "#include <concepts>",
        "#if __cplusplus >= 202002L\n#include <concepts>\n#endif",
    );
    std::fs::write(folder.path().join("constrained.cu"), source).unwrap();
    for standard in ["-std=c++14", "-std=c++17", "-std=c++20"] {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .current_dir(folder.path())
            .args([standard, "--extended-lambda", "--sirius-device=cpu"])
            .args(["constrained.cu", "-o", "constrained"])
            .env_remove("SIRIUS_FLAGS")
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&built.stderr).into_owned();
        assert!(built.status.success(), "{standard}: {messages}");
        let run = Command::new(folder.path().join("constrained"))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&run.stdout), "34\n", "{standard}");
    }
}

#[test]
fn what_the_optimiser_cannot_do_is_no_message() {
    for device in ["--sirius-device=cpu", "--sirius-device=cuda"] {
        assert_says_nothing(&[device, "-arch=sm_80"]);
    }
}

/// g++ hands what is meant for the linker on without a word; clang speaks of what a step does not use.
#[test]
fn options_for_the_linker_are_no_message() {
    assert_says_nothing(&["--sirius-device=cpu", "-Xcompiler", "-fuse-ld=lld,-Werror"]);
}

/// Builds a program without launches to fuse.
fn assert_says_nothing(options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(options)
        .args(["tests/pipeline/unrolled_in_vain.cu", "-o"])
        .arg(folder.path().join("program"))
        .env("SIRIUS_STRICT", "1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&built.stderr), "");
    assert!(built.status.success());
}

#[test]
fn every_stage_shows_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_programs/pointwise_chain.cu");
    let stages = "program,launch,kernel,dependence,schedule,verify,codegen";
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source)
        .args(["-arch=sm_80", "--sirius-device=cpu", "-o"])
        .arg(folder.path().join("program"))
        .arg(format!("--sirius-dump={stages}"))
        .env_remove("SIRIUS_FLAGS")
        .output()
        .expect("the compiler starts");
    let text = String::from_utf8_lossy(&built.stderr).into_owned();
    assert!(built.status.success(), "{text}");
    for stage in stages.split(',') {
        let (_, shown) = text
            .split_once(&format!("; {stage}"))
            .unwrap_or_else(|| panic!("{stage} shows nothing:\n{text}"));
        // More than a heading.
        assert!(
            shown.lines().nth(2).is_some_and(|line| !line.is_empty()),
            "{stage}"
        );
    }
    let (_, generated) = text
        .split_once("; codegen: device.fused.ll")
        .expect("the fused kernel is shown");
    assert!(
        generated.contains("define ptx_kernel void @"),
        "{generated}"
    );
}

/// A program that is linked with a library of which nothing is known: what cuBLAS reads there is written all the same.
#[test]
fn a_library_that_is_not_known_reads() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("other.c"), "void other(void) {}\n").unwrap();
    std::fs::write(
        path("sum.cu"),
        "#include <cstdio>\n#include <cublas_v2.h>\n\
         __global__ void fill(float *out, float by) { out[threadIdx.x] = by; }\n\
         int main() {\n\
           cublasHandle_t handle;\n  cublasCreate(&handle);\n\
           float *x, *y, two = 2, sums[64];\n\
           cudaMalloc(&x, sizeof sums);\n  cudaMalloc(&y, sizeof sums);\n\
           fill<<<1, 64>>>(x, 3);\n  fill<<<1, 64>>>(y, 4);\n\
           cublasSaxpy(handle, 64, &two, x, 1, y, 1);\n\
           cublasGetVector(64, sizeof(float), y, 1, sums, 1);\n\
           printf(sums[63] == 10 ? \"PASS\\n\" : \"FAIL: %g\\n\", sums[63]);\n\
           cublasDestroy(handle);\n  cudaFree(x);\n  cudaFree(y);\n}\n",
    )
    .unwrap();
    let library = path("libother.so");
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(path("other.c"))
        .status()
        .unwrap();
    assert!(made.success());
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(path("sum.cu"))
        .arg(&library)
        .args(["-O2", "--sirius-device=cpu", "-lcublas", "-o"])
        .arg(path("sum"))
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{messages}");
    // What is read stays written where launches become one, too.
    assert!(messages.contains("2 launches -> 1"), "{messages}");
    let run = Command::new(path("sum"))
        .env("LD_LIBRARY_PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "PASS\n");
}

/// A variable and a parameter of a kernel with barriers, of one without, and of a function that is called.
#[test]
fn a_debugger_shows_variables_of_device_code() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "#include <cstdio>
__device__ float square(float side) {
  float area = side * side; // break 1
  return area;
}
__global__ void turn(float *data, float factor) {
  __shared__ float tile[64];
  float own = data[threadIdx.x] + 1;
  tile[threadIdx.x] = own;
  __syncthreads();
  float other = tile[threadIdx.x ^ 1];
  data[threadIdx.x] = square(other) * factor; // break 2
}
__global__ void plain(float *data, int limit) {
  int index = blockIdx.x * blockDim.x + threadIdx.x;
  float half = data[index] / 2;
  if (index < limit) data[index] = half; // break 3
}
int main() {
  float *data;
  cudaMallocManaged(&data, 256);
  for (int i = 0; i < 64; ++i) data[i] = i;
  turn<<<1, 64>>>(data, 0.5f);
  plain<<<1, 64>>>(data, 48);
  cudaDeviceSynchronize();
  printf(\"%g %g\\n\", data[0], data[50]);
}
";
    std::fs::write(folder.join("seen.cu"), text).unwrap();
    let place = |mark: &str| {
        let line = text.lines().position(|line| line.ends_with(mark)).unwrap();
        format!("seen.cu:{}", line + 1)
    };
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["-g", "-G", "--sirius-device=cpu", "seen.cu", "-o", "seen"])
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let mut commands = vec!["set debuginfod enabled off".to_owned()];
    commands.push(format!("tbreak {}", place("// break 2")));
    commands.push("run".to_owned());
    commands.extend(["own", "other", "factor"].map(|name| format!("print {name}")));
    commands.push(format!("tbreak {}", place("// break 1")));
    commands.push("continue".to_owned());
    commands.push("print side".to_owned());
    commands.push(format!("tbreak {}", place("// break 3")));
    commands.push("continue".to_owned());
    commands.extend(["index", "half", "limit"].map(|name| format!("print {name}")));
    commands.push("continue".to_owned());
    let commands = commands.iter().flat_map(|command| ["-ex", command]);
    let shown = Command::new("gdb")
        .args(["-q", "-nx", "-batch"])
        .args(commands)
        .arg("./seen")
        .env("SIRIUS_CPU_THREADS", "1")
        .current_dir(folder)
        .output()
        .expect("gdb is there (scripts/setup tests)");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let values: Vec<&str> = shown
        .lines()
        .filter(|line| line.starts_with('$'))
        .filter_map(|line| line.split_once(" = "))
        .map(|(_, value)| value)
        .collect();
    // Thread 0 comes first, or the last one to a barrier; they see 1 or 64.
    assert_eq!(values.len(), 7, "{shown}");
    let number = |at: usize| {
        values[at]
            .parse::<f64>()
            .unwrap_or_else(|_| panic!("{shown}"))
    };
    assert!(number(0) >= 1.0 && number(1) >= 1.0, "{shown}");
    assert_eq!(number(2), 0.5, "{shown}");
    assert!(number(3) >= 1.0, "{shown}");
    assert_eq!((number(4), number(6)), (0.0, 48.0), "{shown}");
    assert!(shown.contains("1 1352"), "{shown}");
}

/// A group of launches that wait for each other is refused where the CPU device has too few stacks for its threads.
#[test]
fn blocks_that_would_wait_without_stacks_run_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
#include <cstdio>
#include <vector>
__global__ void first(int *of, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) of[i] = i + 1; }
__global__ void second(int *of, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) of[i] = from[i * 7 % n] + from[0];
}
int main() {
    const int n = 24 * 1024;
    std::vector<int> host(n);
    int *a, *b;
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    first<<<24, 1024>>>(a, n);
    second<<<24, 1024>>>(b, a, n);
    cudaMemcpy(host.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d %d %s\n", host[1], host[n - 1], cudaGetErrorString(cudaGetLastError()));
}
"#;
    std::fs::write(folder.path().join("waits.cu"), source).unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args([
            "--sirius-device=cpu",
            "--sirius-boundaries=grid-barrier",
            "waits.cu",
        ])
        .args(["-o", "waits"])
        .env("SIRIUS_STRICT", "1")
        .env_remove("SIRIUS_FLAGS")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    // 19 blocks of 1,024 threads have a stack each, 24 have not.
    for (threads, launches) in [("19", 1), ("24", 2)] {
        let run = Command::new("./waits")
            .env("SIRIUS_CPU_THREADS", threads)
            .env("SIRIUS_STATS", "stats.json")
            .current_dir(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert_eq!(said, "9 24571 no error\n", "{threads}");
        let stats = std::fs::read_to_string(folder.path().join("stats.json")).unwrap();
        let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
        assert_eq!(stats["launches"], launches, "{threads}");
    }
}

/// A kernel that reads nothing of a variable in shared memory, and calls what only libdevice has.
#[test]
fn a_shared_variable_of_which_nothing_is_left_is_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
#include <cstdio>
__global__ void larger(int *of) {
    __shared__ int unread[32];
    int first = unread[threadIdx.x];
    of[threadIdx.x] = max(of[threadIdx.x], 3);
}
int main() {
    int *of, host[2] = {1, 7};
    cudaMalloc(&of, sizeof host);
    cudaMemcpy(of, host, sizeof host, cudaMemcpyHostToDevice);
    larger<<<1, 2>>>(of);
    cudaMemcpy(host, of, sizeof host, cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", host[0], host[1]);
}
"#;
    std::fs::write(folder.path().join("unread.cu"), source).unwrap();
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args([
            "--sirius-device=cpu",
            "--sirius-fusion=off",
            "-Ofc=max",
            "-O0",
        ])
        .args(["unread.cu", "-o", "unread"])
        .env_remove("SIRIUS_FLAGS")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let run = Command::new("./unread")
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stdout), "3 7\n", "{run:?}");
}
