//! The CPU device's folder of libraries under CUDA's names, and programs that run with it.

use libtest_mimic::Failed;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The compiler under test.
pub const COMPILER: &str = env!("CARGO_BIN_EXE_sirius-rs");

/// CUDA's libraries, of which programs take those that they use.
pub const LIBRARIES: [&str; 9] = [
    "-lcuda",
    "-lcublas",
    "-lcublasLt",
    "-lcurand",
    "-lcufft",
    "-lcusolver",
    "-lcusparse",
    "-lnvrtc",
    "-lnvidia-ml",
];

static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let place = tempfile::tempdir().expect("a folder");
    let output = compiler()
        .arg("--sirius-device=cpu")
        .arg("--sirius-toolkit")
        .arg(place.path().join("cpu"))
        .output()
        .expect("the compiler runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    place
});

/// Where the libraries are.
pub fn libraries() -> PathBuf {
    FOLDER.path().join("cpu/lib64")
}

/// The compiler without what the user asks of it elsewhere.
pub fn compiler() -> Command {
    let mut command = Command::new(COMPILER);
    command
        .env_remove("SIRIUS_FLAGS")
        .env_remove("SIRIUS_DEVICE");
    command
}

/// Runs a program with these libraries and no others of CUDA's; it must say PASS.
pub fn run(program: &Path, arguments: &[String]) -> Result<Output, Failed> {
    let output = Command::new(program)
        .args(arguments)
        .env("LD_LIBRARY_PATH", libraries())
        .env("SIRIUS_COMPILER", COMPILER)
        .env("SIRIUS_CPU_THREADS", "1")
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && said.contains("PASS") {
        return Ok(output);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{} {arguments:?}: {}\n{said}{errors}",
        program.display(),
        output.status
    )
    .into())
}

/// Runs a command that builds something.
pub fn build(command: &mut Command) -> Result<(), Failed> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{command:?}\n{said}").into())
        }
    }
}

/// What the first lines of a program say: with which arguments it runs, and with which options it is built, those for
/// its architecture among them.
pub fn asked(source: &Path) -> Result<(Vec<Vec<String>>, Vec<String>), Failed> {
    let text = std::fs::read_to_string(source)?;
    let mut runs = Vec::new();
    let mut options = vec!["-arch=sm_80".to_owned()];
    for line in text.lines().take_while(|line| line.starts_with("//")) {
        if let Some(words) = line.strip_prefix("// arguments:") {
            runs.push(words.split_whitespace().map(str::to_owned).collect());
        } else if let Some(name) = line.strip_prefix("// architecture: ") {
            options[0] = format!("-arch={}", name.trim());
        } else if line.contains("-arch=sm_90") {
            options[0] = "-arch=sm_90".to_owned();
        } else if let Some(words) = line.strip_prefix("// built with:") {
            options.extend(words.split_whitespace().map(str::to_owned));
        }
    }
    if runs.is_empty() {
        runs.push(Vec::new());
    }
    Ok((runs, options))
}

/// Of the programs of the project one in so many, or in as many as `SIRIUS_TEST_ONE_IN` says, the first by `offset`.
pub fn programs(one_in: usize, offset: usize) -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let asked = std::env::var("SIRIUS_TEST_ONE_IN").ok();
    let step = asked.map_or(one_in, |text| text.parse().expect("a number of programs"));
    let folders = ["test_programs", "tests/run"];
    let mut sources: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    sources.sort();
    let sources = sources.into_iter().skip(offset % step).step_by(step);
    sources
        .map(|source| {
            let name = source.file_stem().unwrap_or_default().to_string_lossy();
            (name.into_owned(), source)
        })
        .collect()
}

/// Whether something was built, or why not.
pub type Built = Result<(), Failed>;

/// A program and a library, both of which launch kernels before `main`, and the program once more with the library loaded
/// later. `build_cuda` builds a source with further options.
pub fn launches_before_main(build_cuda: &dyn Fn(&Path, &[String]) -> Built) -> Built {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda_path/early");
    let place = tempfile::tempdir()?;
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| (*word).to_owned())
            .collect::<Vec<_>>()
    };
    let library = place.path().join("libearly.so");
    let folder = place.path().display().to_string();
    let output = |path: &Path| vec!["-o".to_owned(), path.display().to_string()];
    let mut options = words(&["-shared", "-Xcompiler", "-fPIC"]);
    options.extend(output(&library));
    build_cuda(&sources.join("library.cu"), &options)?;
    let linked = place.path().join("linked");
    let mut options = vec![format!("-L{folder}"), "-learly".to_owned()];
    options.extend(words(&["-Xlinker", "-rpath", "-Xlinker", &folder]));
    options.extend(output(&linked));
    build_cuda(&sources.join("program.cu"), &options)?;
    let loaded = place.path().join("loaded");
    let mut options = words(&["-DLOADED", "-ldl"]);
    options.extend(output(&loaded));
    build_cuda(&sources.join("program.cu"), &options)?;
    run(&linked, &[])?;
    run(&loaded, &[library.display().to_string()])?;
    Ok(())
}
