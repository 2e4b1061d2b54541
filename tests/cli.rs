//! The command line: `tests/cli/*.txt` say what command lines mean, and the built program says what
//! it answers and with which exit status.
//!
//! In a file, a line `$ [NAME=value…] arguments` is a command line in a shell's spelling; the
//! lines below it are what differs from the empty command line, or the error. `SIRIUS_BLESS=1`
//! rewrites the files.

#[path = "cli/meaning.rs"]
mod meaning;

use meaning::{meaning, parse};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn command_lines_mean_what_their_files_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "txt") {
            continue;
        }
        files += 1;
        let before = std::fs::read_to_string(&path).unwrap();
        let after = answered(&before);
        if std::env::var_os("SIRIUS_BLESS").is_some() {
            std::fs::write(&path, after).unwrap();
        } else {
            assert_eq!(
                before,
                after,
                "{} (SIRIUS_BLESS=1 rewrites it)",
                path.display()
            );
        }
    }
    assert!(files > 0);
}

/// The text of a file with every answer made anew.
fn answered(text: &str) -> String {
    let mut answer = String::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let _ = writeln!(answer, "{line}");
            answer.push_str(&meaning(command));
        } else if line.is_empty() || line.starts_with('#') {
            let _ = writeln!(answer, "{line}");
        }
    }
    answer
}

/// Runs the built program without the variables that change its meaning.
fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    for name in [
        "SIRIUS_FLAGS",
        "SIRIUS_DEVICE",
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
    ] {
        command.env_remove(name);
    }
    command.args(arguments).output().unwrap()
}

#[test]
fn wrong_command_lines_end_with_one_sentence_and_status_1() {
    let cases: [(&[&str], &str); 4] = [
        (
            &["-frobnicate-not", "-q"],
            "sirius-rs fatal   : Unknown option '-q'\n",
        ),
        (
            &[],
            "sirius-rs fatal   : No input files specified; use option --help for more information\n",
        ),
        (
            &["nowhere.cu"],
            "sirius-rs fatal   : Cannot find input file 'nowhere.cu'\n",
        ),
        (
            &["-fmad=perhaps"],
            "sirius-rs fatal   : 'perhaps': expected true or false\n",
        ),
    ];
    for (arguments, sentence) in cases {
        let output = program(arguments);
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            sentence,
            "{arguments:?}"
        );
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_missing_clang_or_toolkit_is_one_sentence() {
    let source = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
    std::fs::write(source.path(), "int main() { return 0; }\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg(source.path())
        .env("SIRIUS_CLANG", "/nowhere/clang++")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "sirius-rs fatal   : The environment variable SIRIUS_CLANG names '/nowhere/clang++', which \
         does not exist\n"
    );
    assert_eq!(output.status.code(), Some(1));
    let path = source.path().to_str().unwrap();
    let output = program(&["-ccbin", "nowhere++", "-c", path, "-o", "/dev/null"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "sirius-rs fatal   : Cannot find the host compiler 'nowhere++' (-ccbin, NVCC_CCBIN)\n"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_front_end_error_is_clangs_own_with_the_status_of_nvcc() {
    // Sources of the host go to its compiler alone.
    for (suffix, status) in [(".cu", 2), (".c", 1), (".cpp", 1)] {
        let source = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
        std::fs::write(source.path(), "int main() { return undeclared_name; }\n").unwrap();
        let path = source.path().to_str().unwrap();
        for phase in [&[][..], &["-c"]] {
            let arguments = [&[path, "--sirius-device=cpu", "-o", "/dev/null"], phase].concat();
            let output = program(&arguments);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(
                stderr.contains("error: use of undeclared identifier 'undeclared_name'"),
                "{stderr}"
            );
            assert_eq!(output.status.code(), Some(status), "{suffix}: {stderr}");
        }
    }
}

/// Programs ask which options they are compiled with.
#[test]
fn options_have_nvccs_macros() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("asks.cu");
    let names = [
        "__CUDACC_EXTENDED_LAMBDA__",
        "__CUDACC_RELAXED_CONSTEXPR__",
        "__CUDACC_RDC__",
        "__CUDACC_DEBUG__",
        "CUDA_API_PER_THREAD_DEFAULT_STREAM",
    ];
    let options = [
        "--extended-lambda",
        "--expt-relaxed-constexpr",
        "-rdc=true",
        "-G",
        "-default-stream=per-thread",
    ];
    let path = source.to_str().unwrap();
    for (options, test) in [(&options[..], "ifndef"), (&[], "ifdef")] {
        let tests = names.map(|name| format!("#{test} {name}\n#error {name}\n#endif\n"));
        // Who is told of extended lambdas asks which these are.
        let asks = match options {
            [] => "",
            _ => {
                "static_assert(!__nv_is_extended_host_device_lambda_closure_type(int), \"\");\n\
                 __global__ void holds(int **p) { *p = new int; std::pair<int, int> two(1, 2); **p = two.first; delete *p; }\n"
            }
        };
        std::fs::write(&source, tests.concat() + asks).unwrap();
        for phase in ["-c", "-E"] {
            let words = [path, "-o", "/dev/null", "--sirius-device=cpu", phase];
            let made = program(&[&words[..], options].concat());
            let said = String::from_utf8_lossy(&made.stderr);
            assert!(made.status.success(), "{phase} {options:?}: {said}");
        }
    }
}

/// nvcc preprocesses with the host compiler, whose status is 1.
#[test]
fn what_the_preprocessor_refuses_ends_with_status_1() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("refused.cu");
    let path = source.to_str().unwrap();
    for (text, message) in [
        (
            "#include \"nowhere.h\"\n",
            "fatal error: 'nowhere.h' file not found",
        ),
        ("#error never\n", "error: never"),
        (
            "#ifdef __CUDA_ARCH__\n#error device only\n#endif\n",
            "error: device only",
        ),
    ] {
        std::fs::write(&source, format!("{text}int main() {{ return 0; }}\n")).unwrap();
        for phase in [
            &["-o", "/dev/null"][..],
            &["-c", "-o", "/dev/null"],
            &["-E"],
        ] {
            let output = program(&[&[path, "--sirius-device=cpu"], phase].concat());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(stderr.matches(message).count(), 1, "{phase:?}: {stderr}");
            assert_eq!(output.status.code(), Some(1), "{phase:?}: {stderr}");
        }
    }
}

/// Who stops reading, or has no room left, is told nothing by a panic.
#[test]
fn standard_output_that_takes_nothing_is_one_sentence() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    for (output, reason) in [(Stdio::from(full), "No space"), (writer.into(), "pipe")] {
        let run = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .arg("--version")
            .stdout(output)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert!(
            stderr.contains("Cannot write to standard output"),
            "{stderr}"
        );
        assert!(stderr.contains(reason), "{stderr}");
    }
}

#[test]
fn the_address_of_a_managed_variable_is_no_initial_value() {
    let source = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
    let text =
        "__managed__ int shared[2];\nint *second = &shared[1];\nint main() { return *second; }\n";
    std::fs::write(source.path(), text).unwrap();
    let path = source.path().to_str().unwrap();
    let output = program(&[path, "--sirius-device=cpu", "-o", "/dev/null"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let sentence = "the address of the __managed__ variable shared is the initial value of another";
    assert!(stderr.contains(sentence), "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
}

/// LLVM ends the process where it meets one of these; nvcc refuses them, too.
#[test]
fn operations_without_a_mask_are_refused_from_sm_70_on() {
    let source = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
    let text = "__device__ int first(int v) {\n  return __shfl(v, 0);\n}\n\
        __global__ void kernel(int *p) {\n  *p = first(*p);\n}\nint main() {}\n";
    std::fs::write(source.path(), text).unwrap();
    let path = source.path().to_str().unwrap();
    for device in ["cpu", "cuda"] {
        let device = format!("--sirius-device={device}");
        let output = program(&[path, &device, "-arch=sm_80", "-c", "-o", "/dev/null"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let sentence = ":2:10: error: `__shfl` does not name the lanes that take part, and sm_80 has no \
            such operation: use `__shfl_sync`\n    2 |   return __shfl(v, 0);\n      |          ^\n";
        assert!(stderr.contains(sentence), "{stderr}");
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        // What no kernel reaches is no matter, unless other units may.
        let unreached = text.replace("first(*p)", "1");
        let unreached_source = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
        std::fs::write(unreached_source.path(), unreached).unwrap();
        let path = unreached_source.path().to_str().unwrap();
        for (relocatable, status) in [("-rdc=false", 0), ("-rdc=true", 1)] {
            let arguments = [
                path,
                &device,
                "-arch=sm_80",
                relocatable,
                "-c",
                "-o",
                "/dev/null",
            ];
            let output = program(&arguments);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(
                output.status.code(),
                Some(status),
                "{relocatable}: {stderr}"
            );
        }
    }
}

#[test]
fn a_failed_link_is_the_linkers_own_with_status_1() {
    let source = tempfile::Builder::new().suffix(".c").tempfile().unwrap();
    let text = "int absent(void); int main(void) { return absent(); }\n";
    std::fs::write(source.path(), text).unwrap();
    let path = source.path().to_str().unwrap();
    let output = program(&[path, "--sirius-device=cpu", "-o", "/dev/null"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("absent"), "{stderr}");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
}

/// What gcc only warned of for decades is no error of ours, unless the user says so.
#[test]
fn old_c_is_compiled_with_warnings() {
    let source = tempfile::Builder::new().suffix(".c").tempfile().unwrap();
    let text = "static count = 3;\ntypedef int (*callback)(int);\nlong twice(long x) { return 2 * x; }\n\
                void nothing() { return 1; }\ncallback chosen = twice;\nint *place;\n\
                main(int argc, char **argv) { place = argc; double *d = place; return later(d) + count; }\n\
                int later(void *x) { return x != 0; }\n";
    std::fs::write(source.path(), text).unwrap();
    let path = source.path().to_str().unwrap();
    let compiled = |more: &[&str]| {
        let arguments = [
            &[path, "--sirius-device=cpu", "-c", "-o", "/dev/null"],
            more,
        ]
        .concat();
        let output = program(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let (status, stderr) = compiled(&[]);
    assert_eq!(status, Some(0), "{stderr}");
    assert!(
        stderr.contains("-Wimplicit-function-declaration"),
        "{stderr}"
    );
    let (status, _) = compiled(&["-Xcompiler", "-Werror=implicit-function-declaration"]);
    assert_eq!(status, Some(1));
}

/// What nvcc reads otherwise than clang is repaired in a source of any encoding, on the same line too.
#[test]
fn sources_that_are_not_utf8_are_repaired() {
    let source = tempfile::Builder::new().suffix(".cu").tempfile().unwrap();
    let text = b"// \xcf\xf0\xe8\n#include <cstdio>\n__global__ void k() { printf(\"%d\\n\", 7); }\n\
                 int main() { /* \xe9\xe8 */ puts(\"\xe9\"); k << <1, 1, 0, 0 >> > (); return cudaDeviceSynchronize(); }\n";
    std::fs::write(source.path(), text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let built = folder.path().join("built");
    let (path, built) = (source.path().to_str().unwrap(), built.to_str().unwrap());
    let output = program(&[path, "--sirius-device=cpu", "-o", built]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let run = Command::new(built).output().unwrap();
    assert!(run.status.success());
    // Other bytes are left as they are.
    assert_eq!(run.stdout, b"\xe9\n7\n");
}

/// Code for `sm_90a` sees nvcc's macros, has instructions that no other architecture has, and is assembled.
#[test]
fn architecture_specific_code_is_compiled_and_assembled() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("specific.cu");
    std::fs::write(
        &source,
        "#if defined(__CUDA_ARCH__) && !(defined(__CUDA_ARCH_FEAT_SM90_ALL) && \
           __CUDA_ARCH_SPECIFIC__ == 900 && __CUDA_ARCH_FAMILY_SPECIFIC__ == 900)\n#error features\n#endif\n\
         __global__ void fence(int *done) { asm volatile(\"wgmma.fence.sync.aligned;\"); *done = 1; }\n",
    )
    .unwrap();
    let source = source.to_str().unwrap();
    let cubin = folder.path().join("specific.cubin");
    let cubin = cubin.to_str().unwrap();
    let made = program(&["-cubin", "-arch=sm_90a", source, "-o", cubin]);
    assert!(made.status.success(), "{made:?}");
    let made = program(&["-cubin", "-arch=sm_90", source, "-o", cubin]);
    // The preprocessor of the device side refuses it.
    assert_eq!(made.status.code(), Some(1), "{made:?}");
    let made = program(&["-ptx", "-arch=compute_90a", source, "-o", "-"]);
    let text = String::from_utf8_lossy(&made.stdout);
    assert!(text.contains(".target sm_90a"), "{text}");
}

/// What the toolkit's own nvcc has is in our table, honoured or not.
#[test]
fn every_option_of_nvcc_is_known() {
    let shown = program(&["-v", "__nothing"]);
    let shown = String::from_utf8_lossy(&shown.stderr).into_owned();
    let root = shown.lines().find_map(|line| line.strip_prefix("#$ TOP="));
    let nvcc = Path::new(root.unwrap()).join("bin/nvcc");
    let help = Command::new(nvcc).arg("--help").output().unwrap();
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let lines = help.lines().filter(|line| line.starts_with("--"));
    let options: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    assert!(options.len() > 100, "{help}");
    for option in options {
        let words = ["--dryrun", "-c", "nowhere.cu", option, "1"].map(str::to_owned);
        let told = parse(&words, &BTreeMap::new());
        let told = told.map_or_else(|refusal| refusal, |(_, warnings)| warnings.join("\n"));
        assert!(!told.contains("Unknown option"), "{told}");
    }
}

/// Each architecture has code of its own, for some in a later version of PTX than for most.
#[test]
fn every_architecture_that_is_listed_is_compiled_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("one.cu");
    std::fs::write(
        &source,
        "__global__ void one(int *number) { *number = 1; }\n",
    )
    .unwrap();
    let source = source.to_str().unwrap();
    let listed = program(&["--list-gpu-arch"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.lines().count() > 8, "{listed}");
    for architecture in listed.lines() {
        let made = program(&["-ptx", "-arch", architecture, source, "-o", "-"]);
        let text = String::from_utf8_lossy(&made.stdout);
        let target = architecture.replace("compute", ".target sm");
        assert!(text.contains(&target), "{architecture}: {made:?}");
    }
}

/// With `-G` a debugger finds variables and lines; without it optimised code has no room for them.
#[test]
fn device_debug_code_has_debug_information() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("debug.cu");
    std::fs::write(
        &source,
        "__global__ void scale(float *of, float by) { float own = of[threadIdx.x] * by; of[threadIdx.x] = own; }\n\
         __global__ void fill(float *of) { for (int i = 0; i < 4; ++i) of[i] = 1; }\n",
    )
    .unwrap();
    let source = source.to_str().unwrap();
    let ptx = |options: &[&str]| {
        let made = program(&[options, &["-arch=sm_80", "-ptx", source, "-o", "-"]].concat());
        assert!(made.status.success(), "{made:?}");
        String::from_utf8_lossy(&made.stdout).into_owned()
    };
    let text = ptx(&["-g", "-G"]);
    assert!(text.contains(".target sm_80, debug"), "{text}");
    assert!(text.contains(".section\t.debug_info"), "{text}");
    assert!(!ptx(&["-g"]).contains("debug_info"));
    // What is compiled quickly is as little optimised, with nothing for a debugger.
    let (quick, other) = (ptx(&["-Ofc=max"]), ptx(&["--Ofast-compile", "mid"]));
    assert!(
        quick.contains("bra") && !quick.contains("debug_info"),
        "{quick}"
    );
    assert_eq!(other, ptx(&[]));
    assert!(!other.contains("bra"), "{other}");
    let wrong = program(&["-Ofc=most", "-ptx", source, "-o", "-"]);
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("there are '0', 'min', 'mid' and 'max'")
    );
    // Who asks ptxas does not ask us.
    let told = program(&["-Xptxas", "-v", "-ptx", source, "-o", "/dev/null"]);
    assert!(told.status.success() && told.stderr.is_empty(), "{told:?}");
    // ptxas has nothing to say to it.
    let object = folder.path().join("debug.o");
    let made = program(&["-g", "-G", "-c", source, "-o", object.to_str().unwrap()]);
    assert!(made.status.success() && made.stderr.is_empty(), "{made:?}");
}

/// A source by standard input is read once, and spoken of as compilers do.
#[test]
fn standard_input_is_a_source_with_a_language() {
    let folder = tempfile::tempdir().unwrap();
    let given = |text: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        command.args(arguments).current_dir(folder.path());
        let (input, mut end) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut end, text.as_bytes()).unwrap();
        drop(end);
        command.stdin(input).output().unwrap()
    };
    let kernel = "__global__ void one(int *number) { *number = 1; }\n";
    let made = given(kernel, &["-x", "cu", "-ptx", "-", "-o", "-"]);
    let text = String::from_utf8_lossy(&made.stdout);
    assert!(text.contains("_Z3onePi"), "{made:?}");
    let made = given(kernel, &["-x", "cu", "-c", "-"]);
    assert!(made.status.success(), "{made:?}");
    assert!(folder.path().join("stdin.o").is_file());
    let made = given("int wrong = nothing;\n", &["-x", "c++", "-c", "-"]);
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(said.starts_with("<stdin>:1:13: error: "), "{said}");
    let made = given(kernel, &["-c", "-"]);
    let said = String::from_utf8_lossy(&made.stderr);
    assert_eq!(said, "sirius-rs fatal   : Don't know what to do with '-'\n");
}

/// `-keep` leaves files under nvcc's names, and `-clean` with the same words takes them away again.
#[test]
fn intermediate_files_have_nvccs_names() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("some.cu");
    std::fs::write(
        &source,
        "__device__ int twice(int x) { return 2 * x; }\n\
         __global__ void fill(int *x) { *x = twice(1); }\nint main() { fill<<<1, 1>>>(nullptr); }\n",
    )
    .unwrap();
    let kept = folder.path().join("kept");
    let options = ["-arch=sm_80", "-keep", "-keep-dir", kept.to_str().unwrap()];
    let made = folder.path().join("some");
    let words = [source.to_str().unwrap(), "-o", made.to_str().unwrap()];
    let built = program(&[&options[..], &["--keep-device-functions"], &words].concat());
    assert!(built.status.success(), "{built:?}");
    let names = [
        "some.cpp1.ii",
        "some.cpp4.ii",
        "some.ptx",
        "some.sm_80.cubin",
        "some.fatbin",
        "some.o",
    ];
    for name in names {
        assert!(kept.join(name).is_file(), "{name}");
    }
    let text = std::fs::read_to_string(kept.join("some.ptx")).unwrap();
    assert!(text.contains(".visible .func"), "{text}");
    // What is linked later has no machine code yet.
    std::fs::remove_file(kept.join("some.ptx")).unwrap();
    let object = folder.path().join("some.o");
    let words = [source.to_str().unwrap(), "-o", object.to_str().unwrap()];
    let made_later = program(&[&options[..], &["-dc"], &words].concat());
    assert!(made_later.status.success(), "{made_later:?}");
    let text = std::fs::read_to_string(kept.join("some.ptx")).unwrap();
    assert!(text.contains(".visible .entry _Z4fillPi"), "{text}");
    let words = [source.to_str().unwrap(), "-o", made.to_str().unwrap()];
    let cleaned = program(&[&options[..], &["-clean"], &words].concat());
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert!(!made.exists());
    assert!(names.iter().all(|name| !kept.join(name).exists()));
}

#[test]
fn information_goes_to_standard_output() {
    let version = program(&["--version"]);
    let text = String::from_utf8_lossy(&version.stdout).into_owned();
    assert!(version.status.success());
    // What CMake looks for: `nvcc: [^\n]+ Cuda compiler driver` and `V[0-9]+.[0-9]+.[0-9]+`.
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("nvcc: ") && first.ends_with(" Cuda compiler driver"),
        "{text}"
    );
    let full = text
        .split(", V")
        .nth(1)
        .unwrap_or_else(|| panic!("no version in {text}"));
    let numbers: Vec<_> = full.trim().split('.').map(str::parse::<u32>).collect();
    assert!(
        numbers.len() == 3 && numbers.iter().all(Result::is_ok),
        "{text}"
    );

    let help = String::from_utf8_lossy(&program(&["-h"]).stdout).into_owned();
    for option in [
        "--sirius-device=cuda|cpu",
        "--generate-code",
        "(-arch)",
        "-Wl",
    ] {
        assert!(help.contains(option), "{option} is not in the help");
    }
    let flags = program(&["--sirius-print-link-flags", "--sirius-device=cpu"]);
    assert!(String::from_utf8_lossy(&flags.stdout).contains("sirius_runtime"));
}

#[test]
fn dependency_rules_name_the_object_and_what_is_included() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("a.cu");
    std::fs::write(folder.path().join("own.h"), "").unwrap();
    std::fs::write(&source, "#include \"own.h\"\nint main() { return 0; }\n").unwrap();
    let rule = program(&["-M", source.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&rule.stdout).into_owned();
    assert!(
        rule.status.success(),
        "{}",
        String::from_utf8_lossy(&rule.stderr)
    );
    assert!(text.starts_with("a.o:") && text.contains("own.h"), "{text}");

    let object = folder.path().join("a.o");
    let arguments = [
        "-c",
        "-MD",
        "--sirius-device=cpu",
        source.to_str().unwrap(),
        "-o",
        object.to_str().unwrap(),
    ];
    let built = program(&arguments);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let text = std::fs::read_to_string(folder.path().join("a.d")).unwrap();
    assert!(
        text.starts_with(object.to_str().unwrap()) && text.contains("own.h"),
        "{text}"
    );

    // Beside what is made, by its name without its ending; a program's file has the rules of all its sources.
    let run = |arguments: &[&str]| {
        let made = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .args(arguments)
            .arg("--sirius-device=cpu")
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{arguments:?}: {made:?}");
        String::from_utf8(made.stdout).unwrap()
    };
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let no_main = "#include \"other.h\"\nint other() { return 0; }\n";
    std::fs::write(folder.path().join("other.cpp"), no_main).unwrap();
    std::fs::write(folder.path().join("other.h"), "").unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    run(&["-c", "-MMD", "a.cu", "-o", "sub/b.obj"]);
    assert!(read("sub/b.d").starts_with("sub/b.obj:"));
    run(&["-MMD", "a.cu", "other.cpp"]);
    assert!(read("a.d").starts_with("a.o:"));
    assert!(read("other.d").starts_with("other.o:"));
    run(&["-MMD", "a.cu", "other.cpp", "-o", "all.exe"]);
    let text = read("all.d");
    assert_eq!(text.matches("all.exe:").count(), 2, "{text}");
    assert!(text.contains("own.h") && text.contains("other.h"), "{text}");
    let text = run(&["-MM", "-odir", "sub", "other.cpp"]);
    assert_eq!(text, "sub/other.o: other.cpp other.h\n");
}
