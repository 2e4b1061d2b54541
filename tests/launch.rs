//! The launch stage on host IR in `tests/launch/`. A case is one file: what the program has besides
//! its host module stands in comments at its head (`; kernel: STUB`, `; variable: SHADOW BYTES
//! [constant] [managed]`, `; host-visible-memory`), the expected graph in the comments after
//! `; expect:`. `SIRIUS_BLESS=1` rewrites the expectations.

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use sirius_rs::launch::build_launch_graph;
use sirius_rs::program::{DeviceVariable, Kernel, KernelId, Program};
use std::path::Path;

const EXPECT: &str = "; expect:\n";

#[test]
fn graphs_of_host_modules() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/launch");
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a case").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ll"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    let bless = std::env::var_os("SIRIUS_BLESS").is_some();
    let mut failures = Vec::new();
    for path in cases {
        let text = std::fs::read_to_string(&path).expect("a case");
        let (source, expected) = text.split_once(EXPECT).unwrap_or((&text, ""));
        let graph = graph_of(source);
        let found: String = graph.lines().map(|line| format!(";   {line}\n")).collect();
        if bless {
            let source = source.trim_end();
            std::fs::write(&path, format!("{source}\n\n{EXPECT}{found}")).expect("write a case");
        } else if found != expected {
            failures.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn graph_of(source: &str) -> String {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(source.as_bytes(), "case");
    let host = context.create_module_from_ir(buffer).expect("valid IR");
    host.verify().expect("verified IR");
    let program = Program {
        context: &context,
        host,
        units: Vec::new(),
        analysis: context.create_module("analysis"),
        kernels: header(source, "; kernel: ")
            .enumerate()
            .map(|(index, stub)| kernel(index, stub))
            .collect(),
        variables: header(source, "; variable: ").map(variable).collect(),
        warnings: String::new(),
        host_visible_memory: source.contains("; host-visible-memory"),
    };
    build_launch_graph(&program).to_string()
}

fn header<'a>(source: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    source
        .lines()
        .filter_map(move |line| line.strip_prefix(key))
}

fn kernel(index: usize, stub: &str) -> Kernel {
    Kernel {
        id: KernelId(index),
        name: stub.to_owned(),
        unique_name: stub.to_owned(),
        stub: stub.to_owned(),
        unit: 0,
    }
}

fn variable(line: &str) -> DeviceVariable {
    let words: Vec<&str> = line.split(' ').collect();
    DeviceVariable {
        name: words[0].to_owned(),
        unique_name: words[0].to_owned(),
        shadow: words[0].to_owned(),
        unit: 0,
        bytes: words[1].parse().expect("a number of bytes"),
        constant: words.contains(&"constant"),
        managed: words.contains(&"managed"),
    }
}
