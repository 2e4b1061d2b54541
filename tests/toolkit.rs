//! Folders that stand for a CUDA toolkit, and what `-v` and `-dryrun` show.

use std::process::{Command, Output};

const SOURCE: &str = "#include <cstdio>\n\
    __global__ void set(int *place) { *place = 7; }\n\
    int main() {\n\
      int *place, value = 0;\n\
      cudaMalloc(&place, sizeof(int));\n\
      set<<<1, 1>>>(place);\n\
      cudaMemcpy(&value, place, sizeof(int), cudaMemcpyDeviceToHost);\n\
      printf(\"%d\\n\", value);\n\
    }\n";

#[test]
fn a_folder_of_ours_is_a_toolkit_and_no_other_folder_is_overwritten() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("toolkit");
    let name = folder.to_str().unwrap().to_owned();
    let made = run(compiler().args(["--sirius-toolkit", &name, "--sirius-device=cpu"]));
    assert!(made.status.success(), "{}", text(&made.stderr));
    for file in [
        "bin/nvcc",
        "bin/ptxas",
        "include/cuda_runtime.h",
        "include/crt/host_config.h",
        "lib64/libcudart_static.a",
        "lib64/libcudart.so",
        "nvvm/libdevice/libdevice.10.bc",
        "version.json",
    ] {
        assert!(folder.join(file).exists(), "{file}");
    }
    // Its nvcc has its own folder as the toolkit and builds for the device that was asked for.
    let nvcc = folder.join("bin/nvcc");
    let variables = run(plain(&mut Command::new(&nvcc)).args(["-v", "__cmake_determine_cuda"]));
    let said = text(&variables.stderr);
    assert_eq!(variables.status.code(), Some(1), "{said}");
    for line in [
        format!("#$ TOP={name}\n"),
        format!("#$ NVVMIR_LIBRARY_DIR={name}/nvvm/libdevice\n"),
        format!("#$ INCLUDES=\"-I{name}/include\"\n"),
        format!("#$ LIBRARIES=\"-L{name}/lib64\"\n"),
    ] {
        assert!(said.contains(&line), "{line} is not in {said}");
    }
    // Anew into the same folder, by its own program, and from a folder of ours to another.
    let other = place.path().join("other");
    for folder in [&folder, &other] {
        let folder = folder.to_str().unwrap();
        let made = run(plain(&mut Command::new(&nvcc)).args(["--sirius-toolkit", folder]));
        assert!(made.status.success(), "{}", text(&made.stderr));
        let said = text(&made.stdout);
        assert!(
            said.contains("for the device cpu") && !said.contains(&format!("in {name}")),
            "{said}"
        );
    }
    let foreign = place.path().to_str().unwrap();
    let refused = run(compiler().args(["--sirius-toolkit", foreign]));
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("is not empty and was not made by"));
}

/// A program's own `cuda.h` in a folder that it names is not taken for the toolkit's, nor is the toolkit's hidden.
#[test]
fn programs_have_headers_of_the_toolkits_names() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("cuda.h"), "#define OWN 5\n").unwrap();
    let own = format!("#include <cuda.h>\n#if !OWN\n#error not its own\n#endif\n{SOURCE}");
    let theirs = format!("#include <cuda.h>\nCUresult result;\n{SOURCE}");
    for (source, folder) in [(own, Some(place.path())), (theirs, None)] {
        let file = place.path().join("set.cu");
        std::fs::write(&file, source).unwrap();
        for mode in ["-o", "-E"] {
            let mut build = compiler();
            build.arg("--sirius-device=cpu").arg(&file);
            if let Some(folder) = folder {
                build.arg("-I").arg(folder);
            }
            let executable = place.path().join("set");
            match mode {
                "-o" => build.arg("-o").arg(&executable),
                _ => build.arg(mode),
            };
            let built = run(&mut build);
            assert!(built.status.success(), "{}", text(&built.stderr));
            if mode == "-o" {
                assert_eq!(text(&run(&mut Command::new(&executable)).stdout), "7\n");
            }
        }
    }
}

/// Host compilers read the libraries' headers of such a folder, in C and in C++.
#[test]
fn host_compilers_read_the_headers_of_libraries() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("toolkit");
    let name = folder.to_str().unwrap();
    let made = run(compiler().args(["--sirius-toolkit", name, "--sirius-device=cpu"]));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/include/libraries");
    let names = std::fs::read_dir(ours).unwrap().map(|entry| {
        let name = entry.unwrap().file_name();
        name.into_string().unwrap()
    });
    let mut lines: Vec<String> = names
        .filter(|name| !name.starts_with("sirius_"))
        .map(|name| format!("#include <{name}>\n"))
        .collect();
    lines.sort();
    assert!(lines.len() > 10);
    let include = folder.join("include");
    for (program, language) in [("cc", "c"), ("c++", "c++")] {
        // cuBLAS's two interfaces have the same names.
        let mut together = lines.clone();
        together.retain(|line| line != "#include <cublas.h>\n");
        for line in lines.iter().chain([&together.concat()]) {
            let source = place.path().join("headers.in");
            std::fs::write(&source, line).unwrap();
            let mut host = Command::new(program);
            host.args(["-fsyntax-only", "-x", language, "-I"]);
            let read = run(host.arg(&include).arg(&source));
            assert!(
                read.status.success(),
                "{program}: {line}{}",
                text(&read.stderr)
            );
        }
    }
}

#[test]
fn a_dry_run_is_a_shell_script_that_builds_the_same() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("set value.cu");
    std::fs::write(&source, SOURCE).unwrap();
    let mut dry = compiler();
    dry.env("NVCC_PREPEND_FLAGS", "-DTEXT=\"x\"")
        .current_dir(place.path());
    dry.args([
        "--dryrun",
        "--keep",
        "--sirius-device=cpu",
        "-arch=sm_35",
        "set value.cu",
        "-o",
        "program",
    ]);
    let said = run(&mut dry);
    assert!(said.status.success() && said.stdout.is_empty());
    assert!(!place.path().join("program").exists());
    let script = text(&said.stderr);
    let lines: Vec<_> = script
        .lines()
        .map(|line| line.strip_prefix("#$ "))
        .collect();
    assert!(lines.iter().all(Option::is_some), "{script}");
    assert_eq!(
        lines[0],
        Some("NVCC_PREPEND_FLAGS=\"-DTEXT=\\\"x\\\"\""),
        "{script}"
    );
    let lines: Vec<_> = lines.into_iter().flatten().collect();
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", &lines.join("\n")])
        .current_dir(place.path());
    let ran = run(plain(&mut shell));
    assert!(ran.status.success(), "{script}\n{}", text(&ran.stderr));
    let program = run(&mut Command::new(place.path().join("program")));
    assert_eq!(text(&program.stdout), "7\n");
}

/// What configure scripts do to learn what a program is linked with: they let nvcc show the build of a file
/// that is not there, and read what stands behind the output's name.
#[test]
fn a_dry_run_looks_at_no_file() {
    let place = tempfile::tempdir().unwrap();
    let mut dry = compiler();
    dry.args(["-dryrun", "--sirius-device=cpu", "bogus.cu"]);
    let said = run(dry.current_dir(place.path()));
    assert!(said.status.success(), "{}", text(&said.stderr));
    let script = text(&said.stderr);
    let (_, libraries) = script.rsplit_once(" -o \"a.out\" ").expect(&script);
    assert!(libraries.starts_with("\"-L"), "{script}");
    assert!(
        libraries.ends_with("\" -lcudadevrt -lcudart_static -lrt -lpthread -ldl\n"),
        "{script}"
    );
}

#[test]
fn a_compiler_cache_sees_what_only_the_device_side_includes() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("toolkit");
    let made = run(compiler()
        .args(["--sirius-device=cpu", "--sirius-toolkit"])
        .arg(&folder));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let source = format!("#ifdef __CUDA_ARCH__\n#include \"device_only.h\"\n#endif\n{SOURCE}");
    std::fs::write(place.path().join("set.cu"), source).unwrap();
    let header = place.path().join("device_only.h");
    std::fs::write(&header, "static const int seven = 7;\n").unwrap();
    let ccache = |arguments: &[&std::ffi::OsStr]| {
        let mut command = Command::new("ccache");
        command.env("CCACHE_DIR", place.path().join("cache"));
        command.args(arguments).current_dir(place.path());
        let output = run(plain(&mut command));
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let nvcc = folder.join("bin/nvcc");
    let compile = [nvcc.as_os_str(), "-c".as_ref(), "set.cu".as_ref()];
    let count = |name: &str| {
        let counts = ccache(&["--print-stats".as_ref()]);
        let lines: Vec<_> = counts
            .lines()
            .filter(|line| line.starts_with(name))
            .collect();
        let number = |line: &&str| line.rsplit('\t').next()?.parse::<u32>().ok();
        lines.iter().filter_map(number).sum::<u32>()
    };
    for (hits, misses) in [(0, 1), (1, 1)] {
        ccache(&compile);
        let seen = (count("direct_cache_hit"), count("cache_miss"));
        assert_eq!(seen, (hits, misses));
    }
    std::fs::write(&header, "static const int seven = 8;\n").unwrap();
    ccache(&compile);
    assert_eq!((count("direct_cache_hit"), count("cache_miss")), (1, 2));
    assert_eq!(count("preprocessed_cache_hit"), 0);
}

#[test]
fn the_nvcc_of_a_folder_shows_sccache_what_it_knows() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("toolkit");
    let made = run(compiler()
        .args(["--sirius-device=cpu", "--sirius-toolkit"])
        .arg(&folder));
    assert!(made.status.success(), "{}", text(&made.stderr));
    std::fs::write(place.path().join("set.cu"), SOURCE).unwrap();
    let mut dry = Command::new(folder.join("bin/nvcc"));
    dry.args(["-c", "set.cu", "-o", "set.o", "--dryrun", "--keep"]);
    let said = run(plain(&mut dry).current_dir(place.path()));
    let script = text(&said.stderr);
    let lines: Vec<_> = script
        .lines()
        .map(|line| {
            line.strip_prefix("#$ ")
                .unwrap_or_else(|| panic!("{script}"))
        })
        .collect();
    // A run that preprocesses, known by a macro of nvcc's, and one of cicc on what it made.
    let [.., first, second] = lines.as_slice() else {
        panic!("{script}")
    };
    assert!(
        first.contains(" -D__NVCC__ -E set.cu -o set.cpp1.ii"),
        "{first}"
    );
    let words: Vec<_> = second.split(' ').collect();
    assert!(
        words[0].ends_with("/cicc") && words.contains(&"set.cpp1.ii"),
        "{second}"
    );
    // It is run in another folder.
    let elsewhere = place.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    for (line, at) in [(first, place.path()), (second, elsewhere.as_path())] {
        let mut shell = Command::new("sh");
        let ran = run(plain(shell.args(["-ec", line]).current_dir(at)));
        assert!(ran.status.success(), "{line}\n{}", text(&ran.stderr));
    }
    assert!(place.path().join("set.o").exists());
}

fn compiler() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    plain(&mut command);
    command
}

/// Without the variables that change what a compiler does.
fn plain(command: &mut Command) -> &mut Command {
    for name in [
        "SIRIUS_FLAGS",
        "SIRIUS_DEVICE",
        "NVCC_PREPEND_FLAGS",
        "NVCC_APPEND_FLAGS",
    ] {
        command.env_remove(name);
    }
    command
}

fn run(command: &mut Command) -> Output {
    command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
