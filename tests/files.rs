//! What the compiler does to files: outputs are whole or not there and never an input, what is made on the way is the
//! user's alone and goes, also where a signal ends the run, and messages come while the front end runs.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A folder with sources, and one for temporary files.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["a", "b", "temporary"] {
            std::fs::create_dir(place.path(folder)).unwrap();
        }
        for source in ["x.cu", "a/x.cu", "b/x.cu"] {
            place.write(source, "int main() { return 0; }\n");
        }
        place.write("y.c", "int main(void) { return 0; }\n");
        place.write("x.o", "old");
        place.write("options", "-O2\n");
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name)).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The compiler in this place, for the CPU device.
    fn compiler(&self, arguments: &[&str]) -> Command {
        self.given(Command::new(env!("CARGO_BIN_EXE_sirius-rs")), arguments)
    }

    fn given(&self, mut command: Command, arguments: &[&str]) -> Command {
        for name in ["SIRIUS_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"] {
            command.env_remove(name);
        }
        command.env("SIRIUS_DEVICE", "cpu");
        command.env("TMPDIR", self.path("temporary"));
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.compiler(arguments).output().unwrap()
    }

    /// Files that nobody asked for.
    fn left(&self) -> Vec<String> {
        let names = |folder: &Path| {
            let entries = std::fs::read_dir(folder).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name());
            let names = names.map(|name| name.to_string_lossy().into_owned());
            names.collect::<Vec<String>>()
        };
        let hidden = names(self.folder.path()).into_iter();
        let hidden = hidden.filter(|name| name.starts_with('.'));
        names(&self.path("temporary"))
            .into_iter()
            .chain(hidden)
            .collect()
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_output_is_an_input_or_another_output() {
    let place = Folder::new();
    std::fs::hard_link(place.path("x.cu"), place.path("same.cu")).unwrap();
    std::os::unix::fs::symlink("x.cu", place.path("link.cu")).unwrap();
    let input = "is an input as well";
    let two = "Two outputs would have the name";
    for (arguments, sentence) in [
        (&["x.cu", "-o", "x.cu"][..], input),
        (&["-c", "x.cu", "-o", "./same.cu"], input),
        (&["-ptx", "x.cu", "-o", "link.cu"], input),
        (&["-E", "x.cu", "-o", "a/../x.cu"], input),
        (&["-clean", "x.cu", "-o", "x.cu"], input),
        (&["-c", "x.cu", "-o", "y", "-MD", "-MF", "x.cu"], input),
        (&["-c", "x.cu", "-time", "x.cu"], input),
        (&["-optf", "options", "-c", "x.cu", "-o", "options"], input),
        (&["-keep", "x.cu", "x.o", "-o", "y"], input),
        (&["-lib", "x.cu", "x.o", "-o", "x.o"], input),
        (&["analyze", "x.cu", "-o", "x.cu"], input),
        (&["tune", "x.cu", "-o", "same.cu"], input),
        (&["-c", "a/x.cu", "b/x.cu"], two),
        (&["-c", "x.cu", "-o", "y", "-MD", "-MF", "y"], two),
        (&["x.cu", "-o", "y.txt", "--sirius-report=a/../y.txt"], two),
    ] {
        let output = place.run(arguments);
        assert!(
            said(&output).contains(sentence),
            "{arguments:?}: {}",
            said(&output)
        );
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
    assert_eq!(place.read("x.cu"), "int main() { return 0; }\n");
    assert_eq!(
        (&*place.read("x.o"), &*place.read("options")),
        ("old", "-O2\n")
    );
    assert!(!place.path("y").exists());
    // What takes everything is no file.
    let output = place.run(&["-c", "y.c", "-o", "/dev/null", "-MD", "-MF", "/dev/null"]);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn what_cannot_be_written_leaves_the_old_file_and_says_why() {
    let place = Folder::new();
    let output = place.run(&["-c", "y.c", "-o", "/dev/full"]);
    assert!(
        said(&output).contains("Cannot write '/dev/full': No space left"),
        "{}",
        said(&output)
    );
    assert_eq!(output.status.code(), Some(1));
    let output = place.run(&["-c", "y.c", "-o", "nowhere/y.o"]);
    assert!(
        said(&output).contains("there is no folder 'nowhere'"),
        "{}",
        said(&output)
    );
    // Objects that LLVM, another tool and we ourselves write.
    for arguments in [&["-c", "y.c", "-o", "x.o"], &["-c", "x.cu", "-o", "x.o"]] {
        let mut limited = Command::new("sh");
        let program = env!("CARGO_BIN_EXE_sirius-rs");
        limited.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\"", program]);
        let output = place.given(limited, arguments).output().unwrap();
        let said = said(&output);
        assert!(
            said.contains("ulimit -f") || said.contains("File too large"),
            "{said}"
        );
        assert!(
            output.status.code().is_some_and(|status| status != 0),
            "{said}"
        );
        assert_eq!(place.read("x.o"), "old");
    }
    // A link stays one, and a name is taken as it is.
    std::os::unix::fs::symlink("x.o", place.path("link.o")).unwrap();
    let output = place.run(&["-c", "y.c", "-o", "link.o"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(place.path("link.o").is_symlink() && place.read("x.o").starts_with("\u{7f}ELF"));
    assert_eq!(place.left(), [""; 0]);
}

/// A front end that waits for a header for ever, and what interrupts it.
#[test]
fn what_is_interrupted_leaves_nothing() {
    let place = Folder::new();
    place.write("x.cu", "#warning first\n#include \"pipe.h\"\n");
    let made = Command::new("mkfifo").arg(place.path("pipe.h")).status();
    assert!(made.unwrap().success());
    for (arguments, signal, ends) in [
        (&["-c", "x.cu", "-o", "x.o"], "TERM", None),
        (&["tune", "x.cu", "-o", "x.o"], "INT", Some(130)),
    ] {
        let mut compiler = place.compiler(arguments);
        let mut compiler = compiler.stderr(Stdio::piped()).spawn().unwrap();
        let mut messages = BufReader::new(compiler.stderr.take().unwrap());
        // It comes before the end.
        let mut first = String::new();
        messages.read_line(&mut first).unwrap();
        assert!(first.contains("first"), "{first}");
        let mut folders = vec![place.path("temporary")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let mode = path.metadata().unwrap().permissions().mode();
                if path.is_dir() {
                    assert_eq!(mode & 0o777, 0o700, "{}", path.display());
                    folders.push(path);
                }
            }
        }
        assert!(!place.left().is_empty());
        let id = compiler.id().to_string();
        let asked = Instant::now();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
        let status = compiler.wait().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(20));
        assert_eq!(
            (status.code(), status.signal()),
            (ends, ends.map_or(Some(15), |_| None))
        );
        let mut rest = String::new();
        messages.read_to_string(&mut rest).unwrap();
        let last = rest.lines().last().unwrap_or_default();
        assert_eq!(last.contains("tune: interrupted"), ends.is_some(), "{rest}");
        assert_eq!(place.left(), [""; 0]);
        assert_eq!(place.read("x.o"), "old");
    }
}

#[test]
fn the_host_compiler_answers_for_itself() {
    let place = Folder::new();
    // The name that ggml's build asks with; no such file is there.
    for (arguments, answer) in [
        (&[".c", "-Xcompiler", "--version"][..], "clang version 22"),
        (
            &[".c", "-Xcompiler", "-dumpfullversion -dumpversion"],
            "22.",
        ),
        (&["y.c", "-c", "-Xcompiler", "-Wall,-dumpmachine"], "x86_64"),
        (
            &["-ccbin", "g++", "x.cu", "-Xcompiler", "--version"],
            "Free Software Foundation",
        ),
    ] {
        let output = place.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && text.contains(answer),
            "{arguments:?}: {text}"
        );
    }
    assert!(!place.path("y.o").exists());
}

#[test]
fn a_wrapper_of_the_host_compiler_adds_its_options() {
    let place = Folder::new();
    std::fs::create_dir(place.path("hidden")).unwrap();
    place.write("hidden/ranks.h", "#define RANKS_OF() [RANKS]\n");
    let source = "#include <ranks.h>\n__device__ int n RANKS_OF();\nstatic_assert(RANKS == 3);\n\
                  static_assert(sizeof(TEXT) == 4);\n";
    place.write("w.cu", source);
    let arguments = ["-ccbin", "./mpicxx", "-c", "w.cu", "-o", "w.o"];
    for behind in ["g++", "clang++-22"] {
        let script =
            format!("#!/bin/sh\nexec {behind} -Ihidden -DRANKS=3 '-DTEXT=\"a b\"' \"$@\"\n");
        place.write("mpicxx", &script);
        let everyone = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path("mpicxx"), everyone).unwrap();
        let output = place.run(&arguments);
        assert!(output.status.success(), "{behind}: {}", said(&output));
    }
}

#[test]
fn times_are_added_to_a_table() {
    let place = Folder::new();
    for lines in [2, 3] {
        let output = place.run(&["-c", "y.c", "-o", "y.o", "-time", "times.csv"]);
        assert!(output.status.success(), "{}", said(&output));
        let table = place.read("times.csv");
        assert!(
            table.starts_with("source file name , phase name ,"),
            "{table}"
        );
        assert_eq!(table.matches("phase name").count(), 1);
        assert!(table.lines().count() >= lines, "{table}");
        for line in table.lines().skip(1) {
            assert_eq!(line.split(',').count(), 8, "{line}");
            assert!(
                line.starts_with("y.c , ") && line.ends_with(" , ms"),
                "{line}"
            );
        }
    }
}

/// Two levels of quotes go, as with nvcc.
#[test]
fn options_files_are_read_as_nvcc_reads_them() {
    let place = Folder::new();
    place.write("s.c", "const char *s = S;\n");
    place.write("t.c", "int hi = 1, *s = &S;\n");
    for (source, option) in [("s.c", r#"-DS=\\\"hi\\\""#), ("t.c", r#"-DS=\"hi\""#)] {
        place.write("options", option);
        let output = place.run(&["-optf", "options", "-c", source, "-o", "/dev/null"]);
        assert!(output.status.success(), "{option}: {}", said(&output));
    }
}

#[test]
fn a_file_of_ptx_says_what_it_does_not_hold() {
    let place = Folder::new();
    let kernels =
        "__global__ void one(int *x) { *x = 1; }\n__global__ void two(int *x) { *x += 1; }\n";
    place.write("kernels.cu", kernels);
    let main = "int main() { int *x; cudaMalloc(&x, 4); one<<<1, 1>>>(x); two<<<1, 1>>>(x); }\n";
    place.write("x.cu", &format!("{kernels}{main}"));
    for (source, options, speaks) in [
        ("kernels.cu", "--sirius-fusion=all", false),
        ("x.cu", "--sirius-fusion=all", true),
        ("x.cu", "--sirius-fusion=off", false),
    ] {
        let output = place.run(&["-ptx", source, "-o", "x.ptx", options]);
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(
            said(&output).contains("the kernels as they are written"),
            speaks,
            "{source}"
        );
        assert!(place.read("x.ptx").contains(".entry _Z3twoPi"));
    }
}
