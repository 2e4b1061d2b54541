//! Separate compilation: what `-c` writes is a complete object, and a link of ours sees the whole
//! program in it.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

/// What these tests have in common: precompiled headers, above all.
const CACHE: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/cache");

/// The objects, compiled once.
static OBJECTS: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    for source in SOURCES {
        let source = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/objects")
            .join(source);
        let object = folder
            .path()
            .join(source.with_extension("o").file_name().unwrap());
        let built = sirius([
            OsStr::new("-c"),
            OsStr::new("-O2"),
            source.as_os_str(),
            OsStr::new("-o"),
            object.as_os_str(),
        ]);
        assert!(built.status.success(), "{}", text(&built.stderr));
    }
    folder
});

const SOURCES: [&str; 6] = [
    "main.cu",
    "scale.cu",
    "shift.cu",
    "square.cu",
    "unused.cu",
    "blocks.cpp",
];

const CHAIN: [&str; 5] = ["main.o", "scale.o", "shift.o", "square.o", "blocks.o"];

fn sirius<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg("--sirius-device=cpu")
        .args(arguments)
        .env("SIRIUS_STRICT", "1")
        .env("SIRIUS_CACHE", CACHE)
        .output()
        .unwrap()
}

fn tool<A: AsRef<OsStr>>(name: &str, arguments: impl IntoIterator<Item = A>) -> Output {
    let output = Command::new(name).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn objects(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(|name| OBJECTS.path().join(name)).collect()
}

/// What the linked program prints, and what the link says.
fn linked(arguments: &[PathBuf], others: &[&str]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let arguments = arguments.iter().map(|path| path.as_os_str());
    let others = others.iter().map(OsStr::new);
    let output = [OsStr::new("-o"), program.as_os_str()];
    let built = sirius(arguments.chain(others).chain(output));
    assert!(built.status.success(), "{}", text(&built.stderr));
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success(), "{}", text(&run.stderr));
    (text(&run.stdout), text(&built.stderr))
}

/// What the program prints when g++ links the objects.
fn expected() -> &'static str {
    static EXPECTED: LazyLock<String> = LazyLock::new(|| {
        let flags = text(&sirius(["--sirius-print-link-flags"]).stdout);
        let program = OBJECTS.path().join("by_the_host_compiler");
        let mut arguments = objects(&CHAIN);
        arguments.extend(flags.split_whitespace().map(PathBuf::from));
        arguments.extend([PathBuf::from("-o"), program.clone()]);
        tool("g++", arguments);
        let sections = text(&tool("readelf", [OsStr::new("-SW"), program.as_os_str()]).stdout);
        assert!(!sections.contains(".sirius.unit"), "{sections}");
        let run = Command::new(&program).output().unwrap();
        assert!(run.status.success(), "{}", text(&run.stderr));
        text(&run.stdout)
    });
    &EXPECTED
}

const FUSED: &str = "sirius: 3 launches -> 1\n";

#[test]
fn objects_are_one_program() {
    assert_eq!(
        linked(&objects(&CHAIN), &[]),
        (expected().to_owned(), FUSED.to_owned())
    );
}

/// A unit that sees only the declaration of a template relies on an instance that another unit used, whether
/// or not an optimiser has inlined that use.
#[test]
fn instances_of_templates_that_launch_stay_in_objects() {
    let folder = tempfile::tempdir().unwrap();
    let header = "template <class T> struct Filler { void fill(T *array, int n); };\n";
    let kernel = "#include \"filler.h\"\n\
        template <class T> __global__ void store(T *array, int n) {\n\
            if ((int)threadIdx.x < n) array[threadIdx.x] = (T)(threadIdx.x + 1);\n\
        }\n\
        template <class T> void Filler<T>::fill(T *array, int n) {\n\
            T *device;\n\
            cudaMalloc((void **)&device, n * sizeof(T));\n\
            store<<<1, 32>>>(device, n);\n\
            cudaMemcpy(array, device, n * sizeof(T), cudaMemcpyDeviceToHost);\n\
            cudaFree(device);\n\
        }\n\
        void never_called() { Filler<float> filler; filler.fill(0, 0); }\n";
    let main = "#include \"filler.h\"\n#include <cstdio>\n\
        int main() {\n\
            float array[4];\n\
            Filler<float>().fill(array, 4);\n\
            printf(\"%g\\n\", array[3]);\n\
        }\n";
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("filler.h"), header).unwrap();
    std::fs::write(place("filler.cu"), kernel).unwrap();
    std::fs::write(place("main.cpp"), main).unwrap();
    let object = place("filler.o");
    let compiled = sirius([
        "-c".as_ref(),
        "-O3".as_ref(),
        place("filler.cu").as_os_str(),
        "-o".as_ref(),
        object.as_os_str(),
    ]);
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    let (printed, _) = linked(&[place("main.cpp"), object], &[]);
    assert_eq!(printed, "4\n");
}

#[test]
fn members_of_archives_take_part_where_the_linker_chooses_them() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("libchain.a");
    let members = objects(&["unused.o", "shift.o", "square.o", "blocks.o"]);
    let words = [PathBuf::from("rcs"), archive.clone()];
    tool("ar", words.iter().chain(&members));
    let rest = objects(&["main.o", "scale.o"]);
    let whole = (expected().to_owned(), FUSED.to_owned());
    let named: Vec<PathBuf> = rest.iter().cloned().chain([archive]).collect();
    assert_eq!(linked(&named, &[]), whole);
    let folder = format!("-L{}", folder.path().display());
    assert_eq!(linked(&rest, &[&folder, "-lchain"]), whole);
}

/// `-cuda`: the C++ files that other compilers take, and what they make of them is the object that `-c`
/// writes, whose bitcode a link of ours still takes.
#[test]
fn cxx_files_are_objects_after_the_host_compiler() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let mut made = objects(&["square.o", "blocks.o"]);
    for (name, options) in [("main.cu", "-O0"), ("scale.cu", "-O2"), ("shift.cu", "-g")] {
        let directory = format!("-odir={}", folder.path().display());
        let words = ["-cuda", "-O2", &directory].map(OsStr::new);
        let source = sources.join(name);
        let written = sirius(words.into_iter().chain([source.as_os_str()]));
        assert!(written.status.success(), "{}", text(&written.stderr));
        let cxx = folder.path().join(format!("{name}.cpp.ii"));
        let object = folder.path().join(format!("{name}.o"));
        let words = ["-c", options, "-o"].map(OsStr::new);
        tool(
            "g++",
            words
                .into_iter()
                .chain([object.as_os_str(), cxx.as_os_str()]),
        );
        made.push(object);
    }
    assert_eq!(
        linked(&made, &[]),
        (expected().to_owned(), FUSED.to_owned())
    );
    let flags = text(&sirius(["--sirius-print-link-flags"]).stdout);
    let program = folder.path().join("by_the_host_compiler");
    made.extend(flags.split_whitespace().map(PathBuf::from));
    made.extend([PathBuf::from("-o"), program.clone()]);
    tool("g++", made);
    let run = Command::new(&program).output().unwrap();
    assert_eq!(text(&run.stdout), expected());
}

/// An object whose program is elsewhere: its launches pass what the host does in between where the running program
/// finds that their memory is the device's, and exceptions leave behind what was written before them.
#[test]
fn objects_fuse_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let object = folder.path().join("fields.o");
    let made = sirius([
        OsStr::new("-c"),
        sources.join("fields.cu").as_os_str(),
        OsStr::new("-o"),
        object.as_os_str(),
    ]);
    assert_eq!(text(&made.stderr), "sirius: 4 launches -> 2\n");
    let main = folder.path().join("main.o");
    let made = sirius([
        OsStr::new("-c"),
        sources.join("fields_main.cpp").as_os_str(),
        OsStr::new("-o"),
        main.as_os_str(),
    ]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let program = folder.path().join("program");
    let flags = text(&sirius(["--sirius-print-link-flags"]).stdout);
    let mut words = vec![object, main];
    words.extend(flags.split_whitespace().map(PathBuf::from));
    words.extend([PathBuf::from("-o"), program.clone()]);
    tool("g++", words);
    let statistics = folder.path().join("statistics.json");
    for (which, printed, executed) in [
        ("plain", "1 4 7 0\n", 1),
        ("throw", "1 0 7 1\n", 1),
        ("look", "0 3 15 0\n", 2),
        ("wait", "1 4 7 0\n", 1),
    ] {
        let run = Command::new(&program)
            .arg(which)
            .env("SIRIUS_STATS", &statistics)
            .output()
            .unwrap();
        assert_eq!(text(&run.stdout), printed, "{which}");
        let counted = std::fs::read_to_string(&statistics).unwrap();
        let counted: serde_json::Value = serde_json::from_str(&counted).unwrap();
        assert_eq!(counted["launches"], executed, "{which}");
    }
}

/// A function that chooses one of hundreds of launches, of which any may depend on any: the program is not planned as a whole,
/// and the other object keeps what is fused in it. What depends on what is found when the launches wait, so that they do all the same.
#[test]
fn objects_of_too_large_a_program_keep_what_is_fused() {
    let folder = tempfile::tempdir().unwrap();
    let (many, pair) = (folder.path().join("many.cu"), folder.path().join("pair.cu"));
    let cases: String = (0..400)
        .map(|case| format!("        case {case}: far<<<grid, block>>>(x + k * n, y, n); break;\n"))
        .collect();
    let choice = format!(
        "__global__ void far(float *x, const float *y, int n) {{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
         if (i < n) x[i] = y[(i + 1) % n];\n}}\n\
         void choose(int first, int count, float *x, float *y, int grid, int block, int n) {{\n    \
         for (int k = 0; k < count; ++k)\n        switch ((first + 131 * k) % 400) {{\n{cases}        }}\n}}\n"
    );
    std::fs::write(&many, choice).unwrap();
    let main = r#"#include <cstdio>
void choose(int first, int count, float *x, float *y, int grid, int block, int n);
__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
__global__ void next(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
int main() {
    float *x, *y, sum[192];
    cudaMalloc(&x, sizeof sum), cudaMalloc(&y, sizeof sum);
    cudaMemset(x, 0, sizeof sum), cudaMemset(y, 0, sizeof sum);
    twice<<<2, 32>>>(y, 64);
    next<<<2, 32>>>(y, 64);
    choose(7, 3, x, y, 2, 32, 64);
    cudaMemcpy(sum, x, sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("%g\n", sum[0] + sum[63] + sum[64] + sum[191]);
}
"#;
    std::fs::write(&pair, main).unwrap();
    let object = |source: &Path, says: &str| {
        let object = source.with_extension("o");
        let [c, o] = ["-c", "-o"].map(OsStr::new);
        let made = sirius([c, source.as_os_str(), o, object.as_os_str()]);
        assert_eq!(text(&made.stderr), says);
        object
    };
    let objects = [
        object(&many, ""),
        object(&pair, "sirius: 2 launches -> 1, with 1 set in them\n"),
    ];
    let program = folder.path().join("program");
    let made = sirius([objects[0].as_path(), &objects[1], Path::new("-o"), &program]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    assert!(
        text(&made.stderr).contains("each object keeps what is fused in it"),
        "{}",
        text(&made.stderr)
    );
    let statistics = folder.path().join("statistics.json");
    let run = Command::new(&program)
        .env("SIRIUS_STATS", &statistics)
        .output()
        .unwrap();
    assert_eq!(text(&run.stdout), "4\n");
    let counted = std::fs::read_to_string(&statistics).unwrap();
    let counted: serde_json::Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["launches"], 2);
}

/// `SIRIUS_REFERENCE=1` at the link of objects: the bitcode that they keep is built both ways.
#[test]
fn programs_of_objects_have_a_reference() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    let archive = folder.path().join("libchain.a");
    let words = [PathBuf::from("rcs"), archive.clone()];
    tool(
        "ar",
        words.iter().chain(&objects(&["square.o", "blocks.o"])),
    );
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .arg("--sirius-device=cpu")
        .args(objects(&["main.o", "scale.o", "shift.o"]))
        .args([archive.as_os_str(), OsStr::new("-o"), program.as_os_str()])
        .env("SIRIUS_REFERENCE", "1")
        .env("SIRIUS_STRICT", "1")
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    assert_eq!(text(&built.stderr), FUSED);
    let run = Command::new(&program).output().unwrap();
    assert_eq!(text(&run.stdout), expected());
    let said = text(&run.stderr);
    assert!(said.contains("the fused program does the same"), "{said}");
}

#[test]
fn libraries_are_made_and_programs_run() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("chain.a");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let inner = folder.path().join("inner.a");
    let mut words = vec![PathBuf::from("rcs"), inner.clone()];
    words.extend(objects(&["square.o", "blocks.o"]));
    tool("ar", words);
    let made = sirius([
        OsStr::new("-lib"),
        sources.join("shift.cu").as_os_str(),
        OBJECTS.path().join("scale.o").as_os_str(),
        inner.as_os_str(),
        OsStr::new("-o"),
        library.as_os_str(),
    ]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let members = text(&tool("ar", [OsStr::new("t"), library.as_os_str()]).stdout);
    assert_eq!(members, "shift.o\nscale.o\nsquare.o\nblocks.o\n");
    let program = folder.path().join("program");
    let run = sirius([
        OsStr::new("-run"),
        OBJECTS.path().join("main.o").as_os_str(),
        library.as_os_str(),
        OsStr::new("-o"),
        program.as_os_str(),
        OsStr::new("-run-args"),
        OsStr::new("one,two"),
    ]);
    assert_eq!(
        text(&run.stdout),
        format!("arguments: one two\n{}", expected())
    );
    assert_eq!(run.status.code(), Some(2));
    let again = sirius([OsStr::new("-run"), program.as_os_str()]);
    assert_eq!(text(&again.stdout), expected());
    assert_eq!(again.status.code(), Some(0));
}

#[test]
fn what_others_changed_is_linked_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (renamed, joined) = (
        folder.path().join("renamed.o"),
        folder.path().join("joined.o"),
    );
    let objects = objects(&CHAIN);
    // `shift` and `square` change names, and with them what `main` calls.
    tool(
        "objcopy",
        [
            OsStr::new("--redefine-sym"),
            OsStr::new("_Z5shiftPfPKffi=_Z5other"),
            objects[2].as_os_str(),
            renamed.as_os_str(),
        ],
    );
    let main = folder.path().join("main.o");
    tool(
        "objcopy",
        [
            OsStr::new("--redefine-sym"),
            OsStr::new("_Z5shiftPfPKffi=_Z5other"),
            objects[0].as_os_str(),
            main.as_os_str(),
        ],
    );
    tool(
        "ld",
        [
            OsStr::new("-r"),
            objects[1].as_os_str(),
            objects[3].as_os_str(),
            OsStr::new("-o"),
            joined.as_os_str(),
        ],
    );
    let inputs = [main, renamed, joined, objects[4].clone()];
    assert_eq!(linked(&inputs, &[]), (expected().to_owned(), String::new()));
}

#[test]
fn sources_and_objects_are_one_program() {
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/main.cu");
    let inputs: Vec<PathBuf> = [main].into_iter().chain(objects(&CHAIN[1..])).collect();
    assert_eq!(
        linked(&inputs, &["-O2"]),
        (expected().to_owned(), FUSED.to_owned())
    );
}

#[test]
fn one_source_with_several_macros_is_several_objects() {
    let folder = tempfile::tempdir().unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/twice.cu");
    let source = source.to_str().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (int, float) = (place("int.o"), place("float.o"));
    for (object, macros) in [
        (&int, ["-DTYPE=int", "-DMAIN"]),
        (&float, ["-DTYPE=float", "-DOTHER"]),
    ] {
        let built = sirius(["-c", macros[0], macros[1], source, "-o", object]);
        assert!(built.status.success(), "{}", text(&built.stderr));
    }
    let flags = text(&sirius(["--sirius-print-link-flags"]).stdout);
    let (ours, theirs) = (place("ours"), place("theirs"));
    let linked = sirius([int.as_str(), &float, "-o", &ours]);
    assert!(linked.status.success(), "{}", text(&linked.stderr));
    let others = [int.as_str(), &float].into_iter();
    tool(
        "g++",
        others
            .chain(flags.split_whitespace())
            .chain(["-o", theirs.as_str()]),
    );
    for program in [ours, theirs] {
        let run = Command::new(program).output().unwrap();
        assert_eq!(text(&run.stdout), "1 32\n1.5 32\n");
    }
}

#[test]
fn an_object_for_the_other_device_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let linked = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(objects(&CHAIN))
        .args([OsStr::new("--sirius-device=cuda"), OsStr::new("-o")])
        .arg(folder.path().join("program"))
        .output()
        .unwrap();
    let said = text(&linked.stderr);
    assert_eq!(linked.status.code(), Some(1), "{said}");
    assert!(
        said.contains("main.o' was compiled for the cpu device"),
        "{said}"
    );
}

/// What a link of the same objects made before is linked again; nothing else is.
#[test]
fn unchanged_links_come_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let program = folder.path().join("program");
    let link = |options: &[&str]| {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .arg("--sirius-device=cpu")
            .args(options)
            .args(objects(&CHAIN))
            .arg("-o")
            .arg(&program)
            .env("SIRIUS_CACHE", &cache)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
        let run = Command::new(&program).output().unwrap();
        assert_eq!(text(&run.stdout), expected());
        text(&built.stderr)
    };
    let entries = || {
        let mut entries: Vec<PathBuf> = std::fs::read_dir(&cache)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|sort| sort == "link"))
            .collect();
        entries.sort();
        entries
    };
    assert_eq!(link(&[]), FUSED);
    let [entry] = entries().try_into().unwrap();
    let kept = std::fs::read(&entry).unwrap();
    // What is made anew is a new file.
    let number = || std::fs::metadata(&entry).unwrap().ino();
    let first = number();
    std::fs::remove_file(&program).unwrap();
    assert_eq!(link(&[]), FUSED);
    assert_eq!((entries(), number()), (vec![entry.clone()], first));
    // A damaged one is made again, and other options have an entry of their own.
    std::fs::write(&entry, &kept[..kept.len() - 1]).unwrap();
    assert_eq!(link(&[]), FUSED);
    assert_ne!(number(), first);
    assert_eq!(std::fs::read(&entry).unwrap().len(), kept.len());
    assert_eq!(link(&["--sirius-opt=none"]), FUSED);
    assert_eq!(entries().len(), 2);
}

/// Of a program whose host code alone has changed, the CPU device's objects are taken from the cache; of one with other
/// device code they are not.
#[test]
fn objects_of_unchanged_device_code_come_from_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let says = |kernel: &str, host: &str| {
        let source = format!(
            "#include <cstdio>\n__global__ void make(int *made) {{ *made = {kernel}; }}\n\
             int main()\n{{\n    int *made, copy;\n    cudaMalloc(&made, sizeof copy);\n    make<<<1, 1>>>(made);\n    \
             cudaMemcpy(&copy, made, sizeof copy, cudaMemcpyDeviceToHost);\n    std::printf(\"%d\", copy + {host});\n}}\n"
        );
        std::fs::write(place("main.cu"), source).unwrap();
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .arg("--sirius-device=cpu")
            .arg(place("main.cu"))
            .arg("-o")
            .arg(place("program"))
            .env("SIRIUS_CACHE", place("cache"))
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
        text(&Command::new(place("program")).output().unwrap().stdout)
    };
    // What is made anew is a new file.
    let entries = || {
        let entries = std::fs::read_dir(place("cache")).unwrap();
        let entries = entries.map(|entry| entry.unwrap().path());
        let of_objects = |path: &PathBuf| path.extension().is_some_and(|sort| sort == "cpu");
        let mut files: Vec<u64> = entries
            .filter(of_objects)
            .map(|path| std::fs::metadata(path).unwrap().ino())
            .collect();
        files.sort_unstable();
        files
    };
    assert_eq!(says("1", "10"), "11");
    let first = entries();
    assert_eq!(first.len(), 1);
    assert_eq!(says("1", "20"), "21");
    assert_eq!(entries(), first);
    assert_eq!(says("2", "20"), "22");
    assert_eq!(entries().len(), 2);
}

/// What ptxas made of a source with `-c` a link takes from the cache, and says of it what ptxas said.
#[test]
fn a_link_does_not_assemble_again() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, object) = (folder.path().join("cache"), folder.path().join("scale.o"));
    let cuda = |arguments: &[&OsStr]| {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .args(["--sirius-device=cuda", "-arch=sm_80", "-Xptxas", "-v"])
            .args(arguments)
            .env("SIRIUS_CACHE", &cache)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
        text(&built.stderr)
    };
    let source = OsStr::new("tests/objects/scale.cu");
    let compile = [
        OsStr::new("-c"),
        source,
        OsStr::new("-o"),
        object.as_os_str(),
    ];
    let said = cuda(&compile);
    assert!(said.contains("Compiling entry function"), "{said}");
    let entry = |sort: &str| {
        let entries = std::fs::read_dir(&cache).unwrap();
        let entries = entries.map(|entry| entry.unwrap().path());
        let is_sort = |path: &PathBuf| path.extension().is_some_and(|ending| ending == sort);
        let [entry] = entries
            .filter(is_sort)
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        entry
    };
    let [image, cubin] = ["image", "cubin"].map(entry);
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    for entry in [&image, &cubin] {
        let file = std::fs::File::options().append(true).open(entry).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    // What was taken counts as used.
    let was_taken = |entry: &Path| {
        let used = std::fs::metadata(entry).unwrap().modified().unwrap();
        used > long_ago + Duration::from_secs(60)
    };
    let shared = folder.path().join("libscale.so");
    let link = [
        OsStr::new("-shared"),
        object.as_os_str(),
        OsStr::new("-o"),
        shared.as_os_str(),
    ];
    let again = cuda(&link);
    assert!(again.contains("Compiling entry function"), "{again}");
    assert_eq!(
        ["image", "cubin"].map(entry),
        [image.clone(), cubin.clone()]
    );
    assert!(was_taken(&image) && !was_taken(&cubin));
    // What is damaged is made again.
    let damage = |entry: &Path| {
        let kept = std::fs::read(entry).unwrap();
        let damaged = kept[..kept.len() - 1].to_vec();
        std::fs::write(entry, &damaged).unwrap();
        damaged
    };
    let damaged = damage(&image);
    assert!(cuda(&compile).contains("Compiling entry function"));
    assert!(was_taken(&cubin));
    assert_ne!(std::fs::read(&image).unwrap(), damaged);
    let damaged = [&image, &cubin].map(|entry| damage(entry));
    cuda(&compile);
    assert_ne!(
        [&image, &cubin].map(|entry| std::fs::read(entry).unwrap()),
        damaged
    );
}

/// Debug information of host code is in an object when it was asked for, as with nvcc, and a link leaves it there.
#[test]
fn debug_information_is_there_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("scale.o");
    let program = folder.path().join("scale.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/scale.cu");
    let cuda = |arguments: &[&OsStr]| {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .args(["--sirius-device=cuda", "-arch=sm_80"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
    };
    let tells = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        memchr::memmem::find(&bytes, b".debug_info").is_some()
    };
    let output = OsStr::new("-o");
    for (options, asked) in [
        (&[][..], false),
        (&["-g"], true),
        (&["-Xcompiler", "-g"], true),
    ] {
        let options: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        let compile = [
            OsStr::new("-c"),
            source.as_os_str(),
            output,
            object.as_os_str(),
        ];
        cuda(&[&options[..], &compile].concat());
        assert_eq!(tells(&object), asked, "{options:?}");
        if asked {
            let link = [
                OsStr::new("-shared"),
                object.as_os_str(),
                output,
                program.as_os_str(),
            ];
            cuda(&link);
            assert!(tells(&program), "{options:?}");
        }
    }
}

/// Host code that nobody wants optimised lets an `int` that overflows wrap around, in one run of the compiler and in two.
#[test]
fn host_numbers_wrap_around_without_optimisation() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects/host_overflow.cu");
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("overflow.o");
    let built = sirius([
        OsStr::new("-c"),
        source.as_os_str(),
        OsStr::new("-o"),
        object.as_os_str(),
    ]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    for input in [source, object] {
        let (printed, said) = linked(&[input], &[]);
        assert_eq!(
            (printed.as_str(), said.as_str()),
            ("0 wrong squares, wraps 1, same numbers 1\nPASS\n", "")
        );
    }
}

/// Where neither the objects nor the program have launches that fuse, the objects are linked as they are.
#[test]
fn objects_without_fusion_are_not_compiled_again() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/objects");
    let folder = tempfile::tempdir().unwrap();
    let object = folder.path().join("overflow.o");
    let program = folder.path().join("program");
    let built = sirius([
        OsStr::new("-c"),
        sources.join("host_overflow.cu").as_os_str(),
        OsStr::new("-o"),
        object.as_os_str(),
    ]);
    assert!(built.status.success(), "{}", text(&built.stderr));
    // Images have names of what they are made from, and for which whole.
    let images = |file: &Path| {
        let names = text(&tool("nm", [file.as_os_str()]).stdout);
        let words = names.split_whitespace().map(str::to_owned);
        words
            .filter(|word| word.starts_with("sirius_cpu_image"))
            .collect::<std::collections::BTreeSet<_>>()
    };
    let link = |options: &[&str]| {
        let built = sirius(options.iter().map(OsStr::new).chain([
            object.as_os_str(),
            OsStr::new("-o"),
            program.as_os_str(),
        ]));
        assert!(built.status.success(), "{}", text(&built.stderr));
        images(&program)
    };
    assert_eq!(link(&[]), images(&object));
    assert_eq!(link(&["--sirius-fusion=off"]), images(&object));
    // Who wants to know more gets the program as a whole.
    let report = format!(
        "--sirius-report={}",
        folder.path().join("report.json").display()
    );
    assert_ne!(link(&[&report]), images(&object));
}
