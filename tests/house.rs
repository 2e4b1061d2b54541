//! The house rules that a compiler does not check: data flows down the list of stages in `lib.rs`,
//! the judge of plans shares no algorithm with those who make them, and files stay readable.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of code above which a file is to be split; tests at its end do not count.
const LONGEST_FILE: usize = 800;

#[test]
fn a_stage_uses_only_stages_above_it() {
    check_order("src");
}

#[test]
fn a_module_of_the_runtime_uses_only_those_above_it() {
    check_order("runtime_shim/src");
}

/// The modules of a crate, in the order of its `lib.rs`, use only those above them.
fn check_order(package: &str) {
    let order = modules_of(package);
    let place = |module: &str| order.iter().position(|name| name == module);
    let mut checked = 0;
    for path in sources_below(package) {
        let module = module_of(package, &path);
        let Some(own) = place(&module) else { continue };
        for used in used_paths(&code_of(&path)) {
            let other = used.split("::").next().unwrap_or_default();
            let Some(other_place) = place(other) else {
                continue;
            };
            checked += 1;
            assert!(
                other == module || other_place < own,
                "{} uses crate::{used}, but {other} is not above {module} in {package}/lib.rs",
                path.display()
            );
        }
    }
    assert!(checked > 20, "the test reads too few use lines: {checked}");
}

#[test]
fn the_verifier_shares_no_algorithm_with_the_planner() {
    for path in sources().iter().filter(|path| stage_of(path) == "verify") {
        for used in used_paths(&code_of(path)) {
            let parts: Vec<_> = used.split("::").collect();
            if !matches!(parts.first(), Some(&("schedule" | "dependence"))) {
                continue;
            }
            // Types stand in the stage's mod.rs; functions and submodules begin in lower case.
            let is_type = parts
                .get(1)
                .is_some_and(|name| name.starts_with(char::is_uppercase));
            assert!(
                is_type,
                "{} imports the algorithm crate::{used}",
                path.display()
            );
        }
    }
}

#[test]
fn one_function_of_the_driver_asks_the_verifier() {
    let mut asking = Vec::new();
    for path in sources().iter().filter(|path| stage_of(path) == "driver") {
        let used = used_paths(&code_of(path));
        if used.iter().any(|used| used == "verify::verify") {
            let below = path.strip_prefix(root()).unwrap();
            asking.push(below.to_string_lossy().into_owned());
        }
    }
    assert_eq!(asking, ["src/driver/facts.rs"]);
}

#[test]
fn only_the_wrappers_call_what_is_unsafe() {
    // The wrapper over LLVM, and that over the integer set library.
    const WRAPPERS: [&str; 3] = ["src/llvm/", "src/math/isl.rs", "src/math/isl/"];
    let mut others = Vec::new();
    for path in sources() {
        let code = fs::read_to_string(&path).unwrap();
        let mut words = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .flat_map(|line| line.split(|c: char| !(c.is_alphanumeric() || c == '_')));
        let below = path.strip_prefix(root()).unwrap().to_string_lossy();
        let is_wrapper = WRAPPERS.iter().any(|wrapper| below.starts_with(wrapper));
        if !is_wrapper && words.any(|word| ["unsafe", "llvm_sys"].contains(&word)) {
            others.push(below.into_owned());
        }
    }
    assert!(others.is_empty(), "outside of the wrappers: {others:#?}");
}

/// What is asked of isl is made of formulas, and never printed and parsed.
#[test]
fn only_tests_have_isl_read_text() {
    let mut readers = Vec::new();
    for path in sources() {
        let code = code_of(&path);
        if ["Map::parse(", "Set::parse("]
            .iter()
            .any(|call| code.contains(call))
        {
            readers.push(path);
        }
    }
    assert!(readers.is_empty(), "{readers:#?}");
}

#[test]
fn files_are_short_enough_to_read() {
    let mut long = Vec::new();
    for path in sources() {
        let lines = code_of(&path).lines().count();
        if lines > LONGEST_FILE {
            long.push(format!("{} has {lines} lines", path.display()));
        }
    }
    assert!(long.is_empty(), "files to split: {long:#?}");
}

/// What a build leaves behind does not belong into the repository, where one `git add` too many would keep it for ever.
#[test]
fn only_text_is_kept() {
    // A copy without its history has nothing that could be added to it.
    if !root().join(".git").exists() {
        return;
    }
    let listed = Command::new("git")
        .current_dir(root())
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .output()
        .expect("git runs");
    assert!(listed.status.success(), "git does not list its files");
    let names = String::from_utf8(listed.stdout).expect("names in UTF-8");
    let names: Vec<_> = names.split_terminator('\0').collect();
    assert!(names.len() > 500, "git lists {} files", names.len());
    let binary: Vec<_> = names
        .iter()
        .filter(|name| {
            // A file that somebody is about to remove is none.
            fs::read(root().join(name)).is_ok_and(|bytes| std::str::from_utf8(&bytes).is_err())
        })
        .collect();
    assert!(binary.is_empty(), "no text: {binary:?}");
}

#[test]
fn use_trees_are_read_completely() {
    let text = "pub use crate::kernel::{self, Model, access::{Read, Write as W}};\n\
                // use crate::commented::Out;\n\
                fn f(x: crate::launch::Graph) -> Vec<crate::math::affine::Map> { crate::math::isl::parse() }\n\
                pub(crate) use crate::report::*;\n";
    let mut found = used_paths(text);
    found.sort();
    let expected = [
        "kernel",
        "kernel::Model",
        "kernel::access::Read",
        "kernel::access::Write",
        "launch::Graph",
        "math::affine::Map",
        "math::isl::parse",
        "report::*",
    ];
    assert_eq!(found, expected);
}

/// The stages, in the order of `lib.rs`.
/// The modules of a crate, in the order of its `lib.rs`.
fn modules_of(package: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(package).join("lib.rs")).unwrap();
    let modules = text.lines().filter_map(|line| {
        let name = line
            .trim()
            .strip_prefix("pub mod ")
            .or(line.trim().strip_prefix("mod "))?;
        name.strip_suffix(';').map(str::to_owned)
    });
    modules.collect()
}

/// The module that a file belongs to: its folder or file name below the folder of its crate.
fn module_of(package: &str, path: &Path) -> String {
    let below = path.strip_prefix(root().join(package)).unwrap();
    let first = below
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_owned()
}

fn stage_of(path: &Path) -> String {
    module_of("src", path)
}

fn sources() -> Vec<PathBuf> {
    sources_below("src")
}

/// Every Rust file below a folder.
fn sources_below(package: &str) -> Vec<PathBuf> {
    let mut folders = vec![root().join(package)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// A file without its tests: unit tests stand at the end, or in files and folders of their own that a line names.
fn code_of(path: &Path) -> String {
    if path.ancestors().any(is_test_module) {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    without_tests(&text)
}

/// Whether a file or folder is a module that the one around it has for tests alone.
fn is_test_module(path: &Path) -> bool {
    let (Some(name), Some(folder)) = (path.file_stem(), path.parent()) else {
        return false;
    };
    let line = format!("\n#[cfg(test)]\nmod {};\n", name.to_string_lossy());
    let around = [folder.join("mod.rs"), folder.with_extension("rs")];
    let mut texts = around
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    texts.any(|text| text.contains(&line))
}

fn without_tests(text: &str) -> String {
    const BEGIN: &str = "\n#[cfg(test)]\nmod ";
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, module)) = rest.split_once(BEGIN) {
        code.push_str(before);
        code.push('\n');
        let line = module.lines().next().unwrap_or_default();
        if !line.ends_with(';') {
            return code;
        }
        rest = &module[line.len()..];
    }
    code + rest
}

#[test]
fn what_follows_a_named_file_of_tests_is_read() {
    let named = "use a;\n#[cfg(test)]\nmod tests;\n\nfn f() {}\n#[cfg(test)]\nmod more {\n    fn g() {}\n}\n";
    assert_eq!(without_tests(named), "use a;\n\n\nfn f() {}\n");
    assert_eq!(without_tests("fn f() {}\n"), "fn f() {}\n");
}

/// Every path that begins with `crate::`, without that beginning, braces multiplied out.
fn used_paths(code: &str) -> Vec<String> {
    let without_comments: Vec<_> = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let code = without_comments.join("\n");
    let mut paths = Vec::new();
    for (start, _) in code.match_indices("crate::") {
        read_tree(&code[start + "crate::".len()..], "", &mut paths);
    }
    paths
}

/// Reads one use tree at the beginning of `text` below `prefix`; gives what follows it.
fn read_tree<'a>(text: &'a str, prefix: &str, paths: &mut Vec<String>) -> &'a str {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        let mut rest = list;
        loop {
            rest = rest.trim_start().trim_start_matches(',').trim_start();
            if let Some(after) = rest.strip_prefix('}') {
                return after;
            }
            if rest.is_empty() {
                return rest;
            }
            rest = read_tree(rest, prefix, paths);
        }
    }
    let end = text
        .find(|character: char| !(character.is_alphanumeric() || "_*".contains(character)))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if name.is_empty() {
        // Not a use tree: step over one character, so that a list always gets on.
        return text.get(1..).unwrap_or_default();
    }
    let path = match (prefix, name) {
        ("", _) => name.to_owned(),
        (_, "self") => prefix.to_owned(),
        _ => format!("{prefix}::{name}"),
    };
    if let Some(rest) = rest.strip_prefix("::") {
        let deeper = rest.starts_with(|next: char| next.is_alphabetic() || "{*_".contains(next));
        if deeper {
            return read_tree(rest, &path, paths);
        }
    }
    paths.push(path);
    let rest = rest.trim_start();
    match rest.strip_prefix("as ") {
        Some(alias) => alias.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
        None => rest,
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
