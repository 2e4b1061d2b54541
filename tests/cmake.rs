//! Real projects of a real CMake: `tests/cmake/*` are configured and built for the CPU device by the nvcc
//! of a toolkit folder, and what they build is run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn a_project_of_cuda_alone_is_linked_as_one_program() {
    build_cuda_only(Toolkit::Cuda13);
}

#[test]
fn a_project_of_cuda_alone_is_linked_as_one_program_with_cuda_12() {
    build_cuda_only(Toolkit::Cuda12);
}

#[test]
fn a_project_with_cxx_and_libraries_is_linked_by_the_cxx_compiler() {
    build_mixed(Toolkit::Cuda13);
}

#[test]
fn a_project_with_cxx_and_libraries_is_linked_by_the_cxx_compiler_with_cuda_12() {
    build_mixed(Toolkit::Cuda12);
}

fn build_cuda_only(toolkit: Toolkit) {
    let project = Project::new("cuda_only", toolkit);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", project.toolkit.join("bin").display());
    let said = project.build("Ninja", |cmake| cmake.env("PATH", path));
    // Each of the two sources has a launch site or a kernel of its own only.
    assert!(said.contains("sirius: 2 launches -> 1"), "{said}");
    project.run("cuda_only");
}

fn build_mixed(toolkit: Toolkit) {
    let mut project = Project::new("mixed", toolkit);
    let mut compiler = project.toolkit.join("bin/nvcc");
    if toolkit == Toolkit::Cuda13 {
        // The compiler by itself, which makes the folder that CMake needs.
        compiler = PathBuf::from(env!("CARGO_BIN_EXE_sirius-rs"));
        let cache = project.place.path().join("cache");
        project.variables = vec![("SIRIUS_DEVICE", "cpu".into()), ("SIRIUS_CACHE", cache)];
    }
    project.build("Unix Makefiles", |cmake| {
        cmake.arg(format!("-DCMAKE_CUDA_COMPILER={}", compiler.display()))
    });
    for program in [
        "with_cxx",
        "with_static",
        "with_shared",
        "with_package",
        "with_device_link",
        "with_openmp",
    ] {
        project.run(program);
    }
}

/// What a toolkit folder of ours is laid out from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Toolkit {
    /// What the compiler finds by itself.
    Cuda13,
    /// What `scripts/toolkit12` lays out.
    Cuda12,
}

/// A project of `tests/cmake` with a toolkit folder and a place to build it.
struct Project {
    name: &'static str,
    place: tempfile::TempDir,
    source: Toolkit,
    toolkit: PathBuf,
    /// Of the environment.
    variables: Vec<(&'static str, PathBuf)>,
}

impl Project {
    fn new(name: &'static str, source: Toolkit) -> Self {
        let place = tempfile::tempdir().unwrap();
        let toolkit = place.path().join("toolkit");
        let mut layout = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        layout.arg("--sirius-toolkit").arg(&toolkit);
        plain(layout.arg("--sirius-device=cpu"));
        if source == Toolkit::Cuda12 {
            let cuda12 = Path::new(env!("CARGO_MANIFEST_DIR")).join(".venv/cuda-12.9");
            assert!(
                cuda12.join("include/cuda.h").is_file(),
                "scripts/toolkit12 installs it"
            );
            layout.env("CUDA_PATH", cuda12);
        }
        succeed(&mut layout);
        Self {
            name,
            place,
            source,
            toolkit,
            variables: Vec::new(),
        }
    }

    /// Configures and builds; returns what the build said.
    fn build(
        &self,
        generator: &str,
        settings: impl FnOnce(&mut Command) -> &mut Command,
    ) -> String {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/cmake")
            .join(self.name);
        let folder = self.place.path().join("build");
        let mut cmake = Command::new("cmake");
        cmake.args(["-G", generator, "-S"]).arg(sources);
        cmake.arg("-B").arg(&folder);
        let given = || self.variables.iter().map(|(name, value)| (*name, value));
        let said = succeed(plain(settings(&mut cmake)).envs(given()));
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = match self.source {
            Toolkit::Cuda13 => "NVIDIA 13.",
            Toolkit::Cuda12 => "NVIDIA 12.9",
        };
        let identified = format!("The CUDA compiler identification is {version}");
        assert!(text.contains(&identified), "{text}");
        let mut build = Command::new("cmake");
        let build = plain(build.arg("--build").arg(&folder).arg("-j2"));
        let said = succeed(build.envs(given()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&said.stdout) + &text(&said.stderr)
    }

    fn run(&self, program: &str) {
        let path = self.place.path().join("build").join(program);
        let said = succeed(&mut Command::new(path));
        assert_eq!(
            String::from_utf8_lossy(&said.stdout),
            "0 wrong\n",
            "{program}"
        );
    }
}

/// Without the variables that change what a compiler is or does.
fn plain(command: &mut Command) -> &mut Command {
    for name in [
        "SIRIUS_FLAGS",
        "SIRIUS_DEVICE",
        "CUDA_PATH",
        "CUDACXX",
        "CUDAARCHS",
        "CUDAFLAGS",
    ] {
        command.env_remove(name);
    }
    command
}

fn succeed(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}; scripts/setup tests installs it"));
    assert!(
        output.status.success(),
        "{command:?}\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
