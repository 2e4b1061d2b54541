//! Filetests of the launch stage. A case in `tests/launch/` is one file. For a host module (`.ll`),
//! what the program has besides stands in comments at its head (`; kernel: STUB`, `; variable:
//! SHADOW BYTES [constant] [managed]`, `; host-visible-memory` or `-allocations`); a `.cu` goes through the program
//! stage. The expected graph stands in the trailing comments that begin with `> `;
//! `SIRIUS_BLESS=1` rewrites them.

#[path = "harness/filetests.rs"]
mod filetests;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use libtest_mimic::{Arguments, Failed};
use sirius_rs::driver::cli::{Invocation, parse};
use sirius_rs::launch::{build_launch_graph, fold_launches_by_handles};
use sirius_rs::program::{
    DeviceVariable, HostVisibleMemory, Kernel, KernelId, Program, read_program,
};
use sirius_rs::tools::find_toolchain;
use std::path::Path;

fn main() {
    let is_case = |path: &Path| {
        path.extension()
            .is_some_and(|ending| ending == "ll" || ending == "cu")
    };
    libtest_mimic::run(
        &Arguments::from_args(),
        filetests::trials("launch", is_case, check),
    )
    .exit()
}

fn check(case: &Path) -> Result<(), Failed> {
    if case.extension().is_some_and(|ending| ending == "ll") {
        let graph = graph_of_module(&std::fs::read_to_string(case)?)?;
        filetests::compare(case, ";>", &graph)
    } else {
        filetests::compare(case, "//>", &graph_of_source(case)?)
    }
}

fn graph_of_source(case: &Path) -> Result<String, Failed> {
    let arguments = [case.as_os_str().to_owned(), "-o".into(), "program".into()];
    let environment = |name: &str| std::env::var(name).ok();
    let (invocation, _) = parse(&arguments, &environment)?;
    let Invocation::Build(build) = invocation else {
        return Err("not a build".into());
    };
    let toolchain = find_toolchain(&build)?;
    let context = Context::create();
    let program = read_program(&context, &build, &toolchain)?;
    if let Some(path) = std::env::var_os("SIRIUS_HOST_IR") {
        program
            .host
            .print_to_file(Path::new(&path))
            .map_err(|error| error.to_string())?;
    }
    fold_launches_by_handles(&program)?;
    Ok(build_launch_graph(&program).to_string())
}

fn graph_of_module(source: &str) -> Result<String, Failed> {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(source.as_bytes(), "case");
    let host = context
        .create_module_from_ir(buffer)
        .map_err(|error| error.to_string())?;
    host.verify().map_err(|error| error.to_string())?;
    let program = Program {
        mapping_function: None,
        graph_chains: Vec::new(),
        context: &context,
        host,
        units: Vec::new(),
        bitcode: None,
        operations: None,
        iterations: std::collections::BTreeMap::new(),
        analysis: context.create_module("analysis"),
        kernels: header(source, "; kernel: ")
            .enumerate()
            .map(|(index, stub)| kernel(index, stub))
            .collect(),
        variables: header(source, "; variable: ").map(variable).collect(),
        host_visible_memory: if source.contains("; host-visible-memory") {
            HostVisibleMemory::Anything
        } else if source.contains("; host-visible-allocations") {
            HostVisibleMemory::Allocations
        } else {
            HostVisibleMemory::Nothing
        },
        closed: source.contains("; closed"),
        warnings: String::new(),
    };
    fold_launches_by_handles(&program)?;
    Ok(build_launch_graph(&program).to_string())
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
        iteration_of: None,
        ended_threads_wait: false,
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
