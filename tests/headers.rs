//! Headers that are precompiled, or left out, change nothing of what clang makes of a source.

use std::path::Path;
use std::process::Command;

/// What clang makes of the host side of a source and of its device side, in a folder that may keep precompiled headers,
/// how often it ran with one of them and how often without, and what is said of the source.
fn with_headers(folder: &Path, kept: &str) -> (String, [usize; 2], String) {
    with_headers_for(&["cuda", "cpu"], folder, kept)
}

/// As [`with_headers`], for these devices.
fn with_headers_for(devices: &[&str], folder: &Path, kept: &str) -> (String, [usize; 2], String) {
    let run = |options: &[&str]| {
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .current_dir(folder)
            .args(["kernel.cu", "-v", "-I", "own", "-include", "own/first.h"])
            .args(options)
            .env("SIRIUS_PRECOMPILED_HEADERS", kept)
            .env_remove("SIRIUS_FRONT_END_CACHE")
            .env_remove("SIRIUS_FLAGS")
            .output()
            .expect("the compiler starts");
        String::from_utf8_lossy(&built.stderr).into_owned()
    };
    let options = ["--sirius-device=cpu", "-MD", "-MP", "-MF", "rule.d"];
    let dump = ["--sirius-stop-after=program", "--sirius-dump=program"];
    let text: String = (devices.iter())
        .map(|device| match *device {
            "cuda" => run(&["--sirius-device=cuda", "-ptx", "-o", "kernel.ptx"]),
            _ => run(&[&options[..], &dump[..]].concat()),
        })
        .collect();
    let runs = text
        .lines()
        .filter(|line| line.contains("-emit-llvm") && !line.contains("-emit-pch"));
    let (with, without): (Vec<&str>, Vec<&str>) =
        runs.partition(|line| line.contains("-include-pch"));
    let lines = text.lines();
    let (said, made): (Vec<&str>, Vec<&str>) = lines
        .filter(|line| !line.starts_with("#$ ") && !line.starts_with("; ModuleID"))
        .partition(|line| line.starts_with("kernel.cu:"));
    let rule = std::fs::read_to_string(folder.join("rule.d")).unwrap_or_default();
    // Lean headers stand in the place of larger ones.
    let varies = |word: &str| {
        ["/lean/", "texture_intrinsics", "/tr1/"]
            .iter()
            .any(|part| word.contains(part))
    };
    let mut listed: Vec<&str> = rule
        .split_whitespace()
        .filter(|word| *word != "\\" && !varies(word))
        .collect();
    listed.sort_unstable();
    let ptx = std::fs::read_to_string(folder.join("kernel.ptx")).unwrap_or_default();
    let made = made.join("\n") + &listed.join("\n") + &ptx;
    (made, [with.len(), without.len()], said.join("\n"))
}

/// That two long texts are the same.
fn same_lines(found: &str, expected: &str) {
    let mut pairs = found.lines().zip(expected.lines());
    assert_eq!(pairs.find(|(found, expected)| found != expected), None);
    assert_eq!(found.lines().count(), expected.lines().count());
}

#[test]
fn precompiled_headers_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    std::fs::create_dir(folder.join("own")).unwrap();
    write(
        "own/first.h",
        "#ifndef CUDART_VERSION\n#error too early\n#endif\n#define FACTOR 3.0f\n",
    );
    // Where this header begins in all that clang reads depends on what was precompiled.
    let fence = "inline void fence() { asm volatile(\"\" ::: \"memory\"); }\n";
    write("own/fence.h", fence);
    let source = "#include <climits>\n#include <algorithm>\n#warning here\n\
                  #ifdef OTHERS\n#define SUMMAND 7.0f\n#else\n#define SUMMAND 5.0f\n#endif\n\
                  __global__ void k(float *x) { x[threadIdx.x] = std::max(x[0] * FACTOR + SUMMAND, sinf(x[1])); }\n\
                  #include \"own/fence.h\"\n\
                  float scaled(float x) { return fence(), x + SUMMAND; }\n\
                  int main() { k<<<1, 2>>>(nullptr); }\n";
    write("kernel.cu", source);
    let plain = with_headers(folder, "off");
    assert_eq!(plain.1, [0, 4]);
    assert!(plain.2.contains("[-W#warnings]"), "{}", plain.2);
    assert!(plain.0.contains("5.000000e+00"), "{}", plain.0);
    // Met, made and used, used.
    for runs in [[0, 4], [4, 0], [4, 0]] {
        let found = with_headers(folder, "kept");
        assert_eq!((found.1, &found.2), (runs, &plain.2));
        same_lines(&found.0, &plain.0);
    }
    // What does not compile is told of as ever.
    write("kernel.cu", &format!("{source}int wrong = unknown;\n"));
    assert_eq!(
        with_headers_for(&["cpu"], folder, "kept").2,
        with_headers_for(&["cpu"], folder, "off").2
    );
    write("kernel.cu", source);
    // A damaged one is none, and neither is one that an own header has come in front of.
    for entry in std::fs::read_dir(folder.join("kept")).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, bytes).unwrap();
    }
    let found = with_headers(folder, "kept");
    assert_eq!(found.1, [0, 4]);
    same_lines(&found.0, &plain.0);
    write("own/climits", "#include_next <climits>\n#define OTHERS\n");
    let found = with_headers_for(&["cpu"], folder, "kept");
    assert!(found.0.contains("7.000000e+00") && !found.0.contains("5.000000e+00"));
    // Nor is one of whose files one has changed since.
    write(
        "own/climits",
        "#include_next <climits>\n// Nothing is others'.\n",
    );
    let found = with_headers_for(&["cpu"], folder, "kept");
    assert!(found.0.contains("5.000000e+00"));
}

#[test]
fn what_a_command_includes_is_precompiled_for_sources_that_go_on_differently() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("first.h"), "#include <vector>\n").unwrap();
    let ptx = |header: &str, kept: &str| {
        let text = format!(
            "#include <{header}>\n__global__ void k(long *x) {{ x[threadIdx.x] += sizeof(std::vector<int>); }}\n"
        );
        std::fs::write(folder.join("kernel.cu"), text).unwrap();
        let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
            .current_dir(folder)
            .args(["kernel.cu", "-include", "first.h", "-ptx"])
            .env("SIRIUS_PRECOMPILED_HEADERS", kept)
            .env_remove("SIRIUS_FRONT_END_CACHE")
            .env_remove("SIRIUS_FLAGS")
            .status();
        assert!(built.is_ok_and(|status| status.success()));
        std::fs::read_to_string(folder.join("kernel.ptx")).unwrap()
    };
    for header in ["list", "deque"] {
        ptx(header, "kept");
    }
    let found = ptx("array", "kept");
    let kept = std::fs::read_dir(folder.join("kept")).unwrap();
    let texts = kept.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_text = path.to_str()?.ends_with(".leading.h");
        is_text.then(|| std::fs::read_to_string(path).ok())?
    });
    let texts: Vec<String> = texts.collect();
    assert!(
        matches!(&texts[..], [text] if text.ends_with("sirius_compatibility.h\"\n#include <vector>\n")),
        "{texts:?}"
    );
    same_lines(&found, &ptx("array", "off"));
}

#[test]
fn what_lean_headers_lack_is_read_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    std::fs::create_dir(folder.join("own")).unwrap();
    write("own/first.h", "#define FACTOR 3.0f\n");
    let kernel = |fetched: &str, computed: &str| {
        let source = format!(
            "#include <cmath>\n\
             __global__ void k(cudaTextureObject_t t, float *x) {{ x[0] = {fetched} * FACTOR; }}\n\
             double f(double x) {{ return {computed}; }}\n\
             int main() {{ k<<<1, 1>>>(0, nullptr); return f(3) > 1; }}\n"
        );
        write("kernel.cu", &source);
        // Nothing is precompiled for options that are met for the first time.
        let kept = tempfile::tempdir_in(folder).unwrap();
        let (made, runs, said) = with_headers(folder, &kept.path().display().to_string());
        assert!(!made.contains("sirius_lean_header_lacks"), "{made}");
        assert_eq!(said, "");
        (made, runs)
    };
    assert_eq!(kernel("sinf(x[1])", "std::erf(x)").1, [0, 4]);
    // Only the side that needs more reads more.
    let (made, runs) = kernel("tex2D<float>(t, 0.5f, x[1])", "std::erf(x)");
    assert!(
        runs == [0, 6] && made.contains("tex.2d.v4.f32.f32"),
        "{runs:?} {made}"
    );
    let (made, runs) = kernel("sinf(x[1])", "std::beta(x, 2.0)");
    assert!(
        runs == [0, 6] && made.contains("__detail6__betaIdE"),
        "{runs:?} {made}"
    );
}

#[test]
fn headers_in_front_of_a_source_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    std::fs::create_dir(folder.join("own")).unwrap();
    let own = |guard: &str, summand: &str| {
        let own = format!(
            "#ifndef {guard} // Once.\n#define {guard}\n#include <vector>\n#define SUMMAND {summand}\n#endif\n"
        );
        write("own/own.h", &own);
    };
    write("own/first.h", "#pragma once\n#include \"own.h\"\n");
    own("OWN_H", "5.0f");
    let source = "/* A source. */\n#include <list>\n#include \"own/own.h\"\n\
                  #ifndef SUMMAND\n#define SUMMAND 7.0f\n#endif\n\
                  __global__ void k(float *x) { x[threadIdx.x] = x[0] + SUMMAND; }\n\
                  int main() { std::vector<int> v(3); k<<<1, v[2]>>>(nullptr); }\n";
    write("kernel.cu", source);
    let plain = with_headers(folder, "off");
    assert!(plain.0.contains("0f40A00000"), "{}", plain.0);
    let made_from = || {
        let entries = std::fs::read_dir(folder.join("kept")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let texts = paths.filter(|path| path.to_string_lossy().ends_with(".leading.h"));
        let texts = texts.map(|path| std::fs::read_to_string(path).unwrap());
        texts.collect::<Vec<String>>()
    };
    // Our headers are met, and then made while the others are met, which are made and used then.
    for (runs, headers) in [
        ([0, 4], None),
        ([4, 0], None),
        ([4, 0], Some("<vector>")),
        ([4, 0], Some("<vector>")),
    ] {
        let found = with_headers(folder, "kept");
        assert_eq!(found.1, runs);
        same_lines(&found.0, &plain.0);
        let made_from = made_from();
        assert_eq!(made_from.len(), usize::from(headers.is_some()));
        assert!(
            made_from
                .iter()
                .all(|text| headers.is_some_and(|name| text.contains(name)))
        );
    }
    // One of the library has a guard that ends in this one's name.
    own("GLIBCXX_VECTOR", "5.0f");
    same_lines(&with_headers(folder, "kept").0, &plain.0);
    // One of the library has the guard: what includes it later must not be seen earlier.
    own("_GLIBCXX_LIST", "5.0f");
    for _ in 0..3 {
        let found = with_headers(folder, "kept");
        assert_eq!(found.1[0], 4);
        assert!(found.0.contains("0f40A00000"), "{}", found.0);
    }
    // clang itself has the guard, so that nothing of the header is seen.
    own("__ELF__", "5.0f");
    let (found, plain) = (with_headers(folder, "kept"), with_headers(folder, "off"));
    assert!(plain.2.contains("error"), "{}", plain.2);
    assert_eq!(found.2, plain.2);
    // A header of the user takes the place of one of the library.
    own("OWN_H", "5.0f");
    write("own/vector", "#include_next <vector>\n#undef SUMMAND\n");
    std::fs::remove_file(folder.join("own/first.h")).unwrap();
    write("own/first.h", "#include \"own.h\"\n#include <vector>\n");
    let found = with_headers(folder, "kept");
    assert!(found.0.contains("0f40E00000"), "{}", found.0);
}
