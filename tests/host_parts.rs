//! A large host side is compiled in parts, which mean what the whole does, and of which a change makes few anew.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Objects of parts in a cache.
fn parts(cache: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(cache).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part")).collect()
}

/// What a program says that is built of a source.
fn said(source: &Path, cache: &Path, more: &[&str]) -> String {
    let program = source.with_extension("");
    let built = Command::new(env!("CARGO_BIN_EXE_sirius-rs"))
        .args(["--sirius-device=cpu", "-arch=sm_80", "-O1"])
        .args(more)
        .arg(source)
        .arg("-o")
        .arg(&program)
        .env("SIRIUS_STRICT", "1")
        .env("SIRIUS_CACHE", cache)
        .output()
        .unwrap();
    let messages = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{messages}");
    let output = Command::new(&program).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn parts_mean_what_the_whole_does() {
    let folder = tempfile::tempdir().unwrap();
    let (source, cache) = (folder.path().join("large.cu"), folder.path().join("cache"));
    let text = std::fs::read_to_string("tests/host_parts/large.cu").unwrap();
    std::fs::write(&source, &text).unwrap();
    // An option that may speak of a whole object has the host side stay whole.
    let whole = said(&source, &cache, &["-Xcompiler", "-ffunction-sections"]);
    assert_eq!(parts(&cache), BTreeSet::new());
    assert_eq!(whole.matches("begin").count(), 3, "{whole}");
    assert_eq!(said(&source, &cache, &[]), whole);
    let before = parts(&cache);
    assert!(before.len() >= 4, "{before:?}");
    // In one function of sixty another number.
    let changed = text.replace("value = 5;", "value = 6;");
    assert_ne!(changed, text);
    std::fs::write(&source, changed).unwrap();
    assert_ne!(said(&source, &cache, &[]), whole);
    let after = parts(&cache);
    assert_eq!(after.difference(&before).count(), 1, "{before:?} {after:?}");
    // Every part is one that was kept, and there is the same program again.
    std::fs::write(&source, &text).unwrap();
    assert_eq!(said(&source, &cache, &[]), whole);
    assert_eq!(parts(&cache), after);
}
