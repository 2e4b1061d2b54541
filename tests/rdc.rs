//! Relocatable device code: units that use each other's device functions and variables, linked by us and
//! by others.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// What these tests have in common: precompiled headers, above all.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

const SIRIUS: &str = env!("CARGO_BIN_EXE_sirius-rs");

/// The objects and what `-dlink` makes of them, for the CPU device.
static OBJECTS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    sirius(
        folder.path(),
        &[
            "-dc",
            "-Xcompiler",
            "-fPIC",
            &source("main.cu"),
            &source("device.cu"),
            &source("half.cu"),
        ],
    );
    sirius(
        folder.path(),
        &["-dlink", "main.o", "device.o", "half.o", "-o", "linked.o"],
    );
    tool(
        folder.path(),
        "ar",
        &["rcs", "libdevice.a", "device.o", "half.o"],
    );
    folder
});

/// 100 threads count; each counter is its unit's own.
const PRINTED: &str = "100 200 300 761962.500000 no error\n";

fn source(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rdc");
    path.join(name).display().to_string()
}

fn attempt(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(SIRIUS)
        .args(arguments)
        .current_dir(folder)
        .env("SIRIUS_DEVICE", "cpu")
        .env("SIRIUS_STRICT", "1")
        .env("SIRIUS_CACHE", CACHE)
        .output()
        .unwrap()
}

/// What a successful run says.
fn sirius(folder: &Path, arguments: &[&str]) -> String {
    let output = attempt(folder, arguments);
    let said = text(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    said
}

fn tool(folder: &Path, name: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(name);
    let output = command
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

fn run(program: &Path) -> String {
    let run = Command::new(program).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    text(&run.stdout)
}

fn link_flags(options: &[&str]) -> Vec<String> {
    let words = [&["--sirius-print-link-flags"], options].concat();
    let flags = attempt(Path::new("."), &words).stdout;
    text(&flags).split_whitespace().map(str::to_owned).collect()
}

fn by_the_host_compiler(folder: &Path, arguments: &[&str]) -> PathBuf {
    let program = folder.join("by_the_host_compiler");
    let flags = link_flags(&[]);
    let mut words: Vec<&str> = arguments.to_vec();
    words.extend(flags.iter().map(String::as_str));
    words.extend(["-o", program.to_str().unwrap()]);
    tool(OBJECTS.path(), "g++", &words);
    program
}

#[test]
fn the_host_compiler_links_what_dlink_linked() {
    let folder = tempfile::tempdir().unwrap();
    let program =
        by_the_host_compiler(folder.path(), &["main.o", "device.o", "half.o", "linked.o"]);
    assert_eq!(run(&program), PRINTED);
    // Members of libraries are in the device link whether or not the host's linker takes them.
    sirius(
        OBJECTS.path(),
        &[
            "-dlink",
            "main.o",
            "-L.",
            "-ldevice",
            "-lcudadevrt",
            "-o",
            "with_library.o",
        ],
    );
    let words = ["main.o", "with_library.o", "-L.", "-ldevice"];
    assert_eq!(run(&by_the_host_compiler(folder.path(), &words)), PRINTED);
}

#[test]
fn without_a_device_link_nothing_links() {
    let words = ["main.o", "device.o", "half.o", "-o", "/dev/null"];
    let flags = link_flags(&[]);
    let linked = Command::new("g++")
        .args(
            words
                .iter()
                .copied()
                .chain(flags.iter().map(String::as_str)),
        )
        .current_dir(OBJECTS.path())
        .output()
        .unwrap();
    assert!(!linked.status.success());
    assert!(text(&linked.stderr).contains("__cudaRegisterLinkedBinary_"));
}

#[test]
fn managed_variables_are_those_of_other_units() {
    let folder = tempfile::tempdir().unwrap();
    let sources = [source("managed_main.cu"), source("managed_unit.cu")];
    let sources = sources.each_ref().map(String::as_str);
    sirius(
        folder.path(),
        &[&["-rdc=true", "-o", "program"], &sources[..]].concat(),
    );
    assert_eq!(run(&folder.path().join("program")), "9 PASS\n");
}

#[test]
fn a_link_of_ours_sees_one_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let output = program.to_str().unwrap();
    for inputs in [
        &["main.o", "device.o", "half.o"][..],
        &["main.o", "device.o", "half.o", "linked.o", "-lcudadevrt"],
        &["main.o", "-L.", "-ldevice"],
        &[
            "-rdc=true",
            "-I../tests/rdc",
            &source("main.cu"),
            "libdevice.a",
        ],
    ] {
        let said = sirius(OBJECTS.path(), &[inputs, &["-o", output]].concat());
        assert!(
            said.starts_with("sirius: 4 launches -> "),
            "{inputs:?}: {said}"
        );
        assert_eq!(run(&program), PRINTED, "{inputs:?}");
    }
}

#[test]
fn objects_that_others_joined_are_linked_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let joined = folder.path().join("joined.o");
    let program = folder.path().join("program");
    let (joined, output) = (joined.to_str().unwrap(), program.to_str().unwrap());
    tool(
        OBJECTS.path(),
        "ld",
        &["-r", "main.o", "device.o", "half.o", "-o", joined],
    );
    let said = sirius(OBJECTS.path(), &[joined, "-o", output]);
    assert_eq!((said.as_str(), run(&program).as_str()), ("", PRINTED));
    let said = sirius(OBJECTS.path(), &[joined, "linked.o", "-o", output]);
    assert_eq!((said.as_str(), run(&program).as_str()), ("", PRINTED));
}

/// The same units in two shared libraries: each has a device link, and counters, of its own.
#[test]
fn each_shared_library_has_a_device_link_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    std::fs::write(place.join("library.cu"), LIBRARY).unwrap();
    std::fs::write(place.join("use.cu"), USE).unwrap();
    std::fs::write(place.join("both.cpp"), BOTH).unwrap();
    for (name, step) in [("one", "1"), ("two", "10")] {
        let (object, define) = (format!("{name}.o"), format!("-DNAME={name}"));
        let (caller, linked) = (format!("use_{name}.o"), format!("linked_{name}.o"));
        let (step, library) = (format!("-DSTEP={step}"), format!("lib{name}.so"));
        let common = ["-dc", "-Xcompiler=-fPIC", define.as_str(), step.as_str()];
        sirius(
            place,
            &[&common[..], &["library.cu", "-o", &object]].concat(),
        );
        sirius(place, &[&common[..], &["use.cu", "-o", &caller]].concat());
        if name == "one" {
            // As CMake does.
            sirius(
                place,
                &[
                    "-Xcompiler=-fPIC",
                    "-shared",
                    "-dlink",
                    &object,
                    &caller,
                    "-o",
                    &linked,
                ],
            );
            // It carries a runtime, which must not get in the way of the one that the others have in common.
            let flags = link_flags(&["-cudart", "static"]);
            let mut words = vec!["-shared", &object, &caller, &linked, "-o", &library];
            words.extend(flags.iter().map(String::as_str));
            tool(place, "g++", &words);
        } else {
            sirius(place, &["-shared", &object, &caller, "-o", &library]);
        }
    }
    sirius(
        place,
        &[
            "both.cpp", "-L.", "-lone", "-ltwo", "-Xlinker", "-rpath=.", "-o", "both",
        ],
    );
    let run = Command::new("./both").current_dir(place).output().unwrap();
    assert_eq!(text(&run.stdout), "96 960\n", "{}", text(&run.stderr));
}

const LIBRARY: &str = "__device__ int counter;
    __device__ int step() { return STEP; }";
const USE: &str = "extern __device__ int counter;
    __device__ int step();
    // What the host side names would be one for both libraries.
    template <int Step> static __global__ void count() { atomicAdd(&counter, step()); }
    template <int Step> static __global__ void take(int *all) { *all = counter; }
    int NAME() {
        int host, *all;
        cudaMalloc(&all, sizeof host);
        count<STEP><<<3, 32>>>();
        take<STEP><<<1, 1>>>(all);
        cudaMemcpy(&host, all, sizeof host, cudaMemcpyDeviceToHost);
        return host;
    }";
const BOTH: &str = "#include <cstdio>
    int one();
    int two();
    int main() { int first = one(); printf(\"%d %d\\n\", first, two()); }";

/// What a toolkit says of device links, without a GPU.
#[test]
fn device_links_for_gpus_are_assembled() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    let (main, device, half) = (source("main.cu"), source("device.cu"), source("half.cu"));
    let gpu = |arguments: &[&str]| {
        let words = [&["--sirius-device=cuda", "-arch=sm_80"], arguments].concat();
        sirius(place, &words)
    };
    gpu(&["-rdc=true", "-c", &main, &device, &half]);
    gpu(&["-dlink", "main.o", "device.o", "half.o", "-o", "linked.o"]);
    let flags = attempt(
        place,
        &["--sirius-device=cuda", "--sirius-print-link-flags"],
    );
    let flags = text(&flags.stdout);
    let mut words = vec!["main.o", "device.o", "half.o", "linked.o", "-o", "program"];
    words.extend(flags.split_whitespace());
    tool(place, "g++", &words);
    let sections = tool(place, "readelf", &["-SW", "program"]);
    assert!(
        sections.contains(".nv_fatbin") && !sections.contains(".sirius"),
        "{sections}"
    );
    let symbols = tool(place, "nm", &["linked.o"]);
    assert_eq!(
        symbols.matches("T __cudaRegisterLinkedBinary_").count(),
        3,
        "{symbols}"
    );
    // The device side of one unit alone is assembled as a part.
    gpu(&["-rdc=true", "-cubin", &main, "-o", "main.cubin"]);
    gpu(&["-rdc=true", "-ptx", &main, "-o", "main.ptx"]);
    let ptx = std::fs::read_to_string(place.join("main.ptx")).unwrap();
    assert!(
        ptx.contains(".extern .const .align 4 .b8 weights[16]"),
        "{ptx}"
    );
    let older = attempt(
        place,
        &[
            "--sirius-device=cuda",
            "-arch=sm_75",
            "-dlink",
            "main.o",
            "-o",
            "x.o",
        ],
    );
    assert_eq!(older.status.code(), Some(255));
    let said = text(&older.stderr);
    assert!(
        said.contains("'main.o' was compiled for sm_80 and cannot be linked for sm_75"),
        "{said}"
    );
}

/// Without `-rdc=true` only kernels are entered: what none of them calls may call other sources'.
#[test]
fn functions_that_no_kernel_calls_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("unused.cu");
    let text = "__device__ float elsewhere(float);
        __device__ float unused(float x) { return elsewhere(x); }
        __global__ void kernel(int *a) { a[0] = __dp4a(a[1], a[2], a[3]); }";
    std::fs::write(&source, text).unwrap();
    for device in ["cuda", "cpu"] {
        let device = format!("--sirius-device={device}");
        let words = [&device, "-arch=sm_80", "-c", "unused.cu"];
        sirius(folder.path(), &words);
    }
    let words = ["--sirius-device=cuda", "-rdc=true", "-ptx", "unused.cu"];
    sirius(folder.path(), &words);
    let ptx = std::fs::read_to_string(folder.path().join("unused.ptx")).unwrap();
    assert!(ptx.contains("unused") && ptx.contains("elsewhere"), "{ptx}");
}

/// Thrust in a kernel works in sequence; it names functions of the host there.
#[test]
fn thrust_runs_in_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let text = r#"#include <cstdio>
        #include <thrust/count.h>
        #include <thrust/execution_policy.h>
        __global__ void count(const int *a, int *sum, int n) {
          *sum = (int)thrust::count_if(thrust::device, a, a + n, [](int x) { return x % 3 == 0; });
        }
        int main() {
          int *a, *sum, host[100], found;
          cudaMalloc(&a, sizeof host);
          cudaMalloc(&sum, sizeof(int));
          for (int i = 0; i < 100; i++) host[i] = i;
          cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
          count<<<1, 1>>>(a, sum, 100);
          cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost);
          printf("%d\n", found);
        }"#;
    std::fs::write(folder.path().join("count.cu"), text).unwrap();
    let words = [
        "--sirius-device=cpu",
        "-arch=sm_80",
        "count.cu",
        "-o",
        "count",
    ];
    sirius(folder.path(), &words);
    let said = tool(folder.path(), "./count", &[]);
    assert_eq!(said, "34\n");
}

#[test]
fn what_is_missing_is_named() {
    let linked = attempt(OBJECTS.path(), &["-dlink", "main.o", "-o", "/dev/null"]);
    let said = text(&linked.stderr);
    assert_eq!(linked.status.code(), Some(255), "{said}");
    for name in ["scale(float)", "counter", "weights"] {
        let sentence = format!("undefined reference to '{name}' in '{}'", source("main.cu"));
        assert!(said.contains(&sentence), "{said}");
    }
    assert!(!said.contains("weigh(float"), "{said}");
    let twice = attempt(OBJECTS.path(), &["device.o", "device.o", "-o", "/dev/null"]);
    assert_eq!(twice.status.code(), Some(255), "{}", text(&twice.stderr));
    let parent = attempt(
        OBJECTS.path(),
        &["-dc", &source("parent.cu"), "-o", "/dev/null"],
    );
    let said = text(&parent.stderr);
    assert!(
        said.contains("(dynamic parallelism) are not supported"),
        "{said}"
    );
    assert!(!parent.status.success());
}

/// Texture and surface references that are local to units, with the same names in two of them; and the
/// reference of a program whose device code is linked.
#[test]
fn references_of_one_name_are_their_units_own() {
    let folder = tempfile::tempdir().unwrap();
    let sources = ["shown_main.cu", "shown_a.cu", "shown_b.cu"].map(source);
    let mut words = vec!["-dc"];
    words.extend(sources.iter().map(String::as_str));
    sirius(folder.path(), &words);
    let objects = ["shown_main.o", "shown_a.o", "shown_b.o"];
    let link = |name: &str, reference: bool| {
        let mut command = Command::new(SIRIUS);
        command.args(objects).args(["-o", name]);
        command.current_dir(folder.path());
        command
            .env("SIRIUS_DEVICE", "cpu")
            .env("SIRIUS_CACHE", CACHE);
        command.env("SIRIUS_STRICT", "1");
        if reference {
            command.env("SIRIUS_REFERENCE", "1");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        Command::new(folder.path().join(name)).output().unwrap()
    };
    const EXPECTED: &str = "11 2013 no error\n";
    assert_eq!(text(&link("plain", false).stdout), EXPECTED);
    let compared = link("compared", true);
    assert_eq!(text(&compared.stdout), EXPECTED);
    let said = text(&compared.stderr);
    assert!(said.contains("the fused program does the same"), "{said}");
}

#[test]
fn dlink_compiles_sources_for_itself() {
    // The host's side of a source is in its own object only, which is compiled with the same options.
    let folder = tempfile::tempdir().unwrap();
    let linked = folder.path().join("linked.o").display().to_string();
    let [device, half] = ["device.cu", "half.cu"].map(source);
    sirius(
        OBJECTS.path(),
        &[
            "-rdc=true",
            "-dlink",
            "-Xcompiler",
            "-fPIC",
            "main.o",
            &device,
            &half,
            "-o",
            &linked,
        ],
    );
    let words = ["main.o", "device.o", "half.o", &*linked];
    assert_eq!(run(&by_the_host_compiler(folder.path(), &words)), PRINTED);
    // The phase that ends first is what is asked for: CMake adds `-c` to a target's own `-dlink`.
    let object = folder.path().join("main.o").display().to_string();
    let main = source("main.cu");
    sirius(
        OBJECTS.path(),
        &[
            "-rdc=true",
            "-dlink",
            "-Xcompiler",
            "-fPIC",
            "-x",
            "cu",
            "-c",
            &main,
            "-o",
            &object,
        ],
    );
    let words = [&*object, "device.o", "half.o", "linked.o"];
    assert_eq!(run(&by_the_host_compiler(folder.path(), &words)), PRINTED);
}

/// `new` and `delete` are calls of `malloc` and `free`, also for a GPU and where units are linked.
#[test]
fn memory_of_new_comes_from_malloc() {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/device_allocation.cu");
    let source = path.to_str().unwrap();
    sirius(folder.path(), &["-rdc=true", source, "-o", "linked"]);
    assert_eq!(run(&folder.path().join("linked")), "PASS\n");
    let on_gpus = ["--sirius-device=cuda", "-ptx", source, "-o", "all.ptx"];
    sirius(folder.path(), &on_gpus);
    let ptx = std::fs::read_to_string(folder.path().join("all.ptx")).unwrap();
    assert!(ptx.contains("malloc") && ptx.contains("free"), "{ptx}");
    assert!(!ptx.contains("_Zn") && !ptx.contains("_Zd"), "{ptx}");
}
