//! Programs that give nodes of their graphs other parameters: the host side of [chains](GraphChain) whose launches fuse.
//!
//! Invariant: what is not used of the chains is gone afterwards, so that a program in which none of their launches fuses is as
//! it was written.

use super::super::host_library::HostLibrary;
use super::super::launch_call::{Launcher, redirect};
use super::super::{CodegenError, FusedKernel};
use crate::build::{Build, Device};
use crate::launch::{LaunchGraph, NodeKind};
use crate::llvm::{Linkage, Value};
use crate::program::{GraphChain, Program};
use crate::schedule::FusionPlan;
use crate::tools::Toolchain;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The chains of which launches fuse.
pub(in crate::codegen) fn chains_in_use<'p>(
    program: &'p Program<'_>,
    graph: &LaunchGraph,
    plan: &FusionPlan,
    fused: &[FusedKernel],
) -> Vec<&'p GraphChain> {
    let groups: BTreeSet<usize> = fused.iter().map(|kernel| kernel.group).collect();
    let groups = groups.iter().filter_map(|group| plan.groups.get(*group));
    let members = groups.filter(|group| group.members.len() > 1);
    let launches: BTreeSet<_> = members
        .flat_map(|group| group.members.iter().map(|member| member.launch))
        .collect();
    let mut functions = BTreeSet::new();
    for node in &graph.nodes {
        if let NodeKind::Launch(launch) = &node.kind
            && launches.contains(&launch.id)
        {
            let function = graph.blocks[node.block.0].function;
            functions.insert(graph.functions[function].name.as_str());
        }
    }
    let chains = program.graph_chains.iter();
    chains
        .filter(|chain| functions.contains(chain.function.as_str()))
        .collect()
}

/// Puts what keeps records of nodes into the host module, and lets the program's calls go through it; how launches are spelled
/// then.
///
/// # Errors
/// When clang fails or what it makes does not fit: our bugs.
pub(in crate::codegen) fn link_graph_updates(
    program: &Program<'_>,
    chains: &[&GraphChain],
    (build, toolchain): (&Build, &Toolchain),
    launcher: Launcher,
    folder: &Path,
) -> Result<Launcher, CodegenError> {
    let launch = match build.per_thread_default_stream {
        true => "sirius_updated_launch_ptsz",
        false => "sirius_updated_launch",
    };
    let mut functions = vec![launch.to_owned()];
    let mut calls = String::new();
    for (name, kind) in CALLS {
        if let Some(own) = redirect(program, name, "sirius_updated_") {
            let _ = write!(calls, "{kind}({name}) ");
            functions.push(own);
        }
    }
    let mut macros = vec![
        format!("SIRIUS_LAUNCH={}", launcher.launch_function),
        format!("SIRIUS_UPDATED_LAUNCH={launch}"),
        format!("SIRIUS_CALLS={calls}"),
    ];
    if build.device == Device::Cpu {
        macros.push("SIRIUS_CPU_DEVICE".to_owned());
    }
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let source = format!(
        "{}{}{}",
        include_str!("graph_records.h"),
        tables(chains),
        include_str!("graph_updates.c")
    );
    let library = HostLibrary {
        name: "sirius_graph_updates",
        source: &source,
        macros,
        functions: &functions,
    };
    library.link_into(program, (build, toolchain), folder)?;
    Ok(Launcher {
        launch_function: launch,
        ..launcher
    })
}

/// Makes functions of chains the program's own where they are used, and takes the others away.
pub(in crate::codegen) fn settle_chains(program: &Program<'_>, used: &[&GraphChain]) {
    for chain in &program.graph_chains {
        let Some(function) = Value::function(&program.host, &chain.function) else {
            continue;
        };
        match used.contains(&chain) && !function.users().is_empty() {
            true => function.set_linkage(Linkage::LLVMInternalLinkage),
            false => function.delete_function(),
        }
    }
}

/// The functions of the runtime that records are kept at, and what each does.
const CALLS: [(&str, &str); 11] = [
    ("cudaGraphAddKernelNode", "ADDS"),
    ("cudaGraphInstantiate", "INSTANTIATES"),
    ("cudaGraphInstantiateWithFlags", "INSTANTIATES"),
    ("cudaGraphInstantiateWithParams", "INSTANTIATES"),
    ("cudaGraphInstantiateWithParams_ptsz", "INSTANTIATES"),
    ("cudaGraphExecKernelNodeSetParams", "UPDATES"),
    ("cudaGraphLaunch", "LAUNCHES"),
    ("cudaGraphLaunch_ptsz", "LAUNCHES"),
    ("cudaGraphExecDestroy", "ENDS_EXECUTABLE"),
    ("cudaGraphDestroy", "ENDS_GRAPH"),
    ("cudaDeviceReset", "RESETS"),
];

/// The chains as C.
fn tables(chains: &[&GraphChain]) -> String {
    let mut text = String::new();
    let stubs: BTreeSet<&str> = chains
        .iter()
        .flat_map(|chain| chain.kernels.iter().map(|kernel| kernel.stub.as_str()))
        .collect();
    let stubs: Vec<&str> = stubs.into_iter().collect();
    for (number, stub) in stubs.iter().enumerate() {
        let _ = writeln!(text, "void stub_{number}(void) __asm__({stub:?});");
    }
    for (number, chain) in chains.iter().enumerate() {
        let name = &chain.function;
        let _ = writeln!(
            text,
            "void run_{number}(void *, struct record **) __asm__({name:?});"
        );
        for (position, kernel) in chain.kernels.iter().enumerate() {
            let _ = write!(
                text,
                "static const struct argument arguments_{number}_{position}[] = {{"
            );
            for (bytes, offset) in &kernel.arguments {
                let _ = write!(text, "{{{bytes}, {offset}}}, ");
            }
            text.push_str("{0, 0}};\n");
        }
        let _ = write!(text, "static const struct kernel kernels_{number}[] = {{");
        for (position, kernel) in chain.kernels.iter().enumerate() {
            let stub = stubs
                .iter()
                .position(|stub| *stub == kernel.stub)
                .unwrap_or(0);
            let end = kernel
                .arguments
                .iter()
                .map(|(bytes, offset)| bytes + offset);
            let _ = write!(
                text,
                "{{(const void *)stub_{stub}, {}, {}, arguments_{number}_{position}}}, ",
                kernel.arguments.len(),
                end.max().unwrap_or(0)
            );
        }
        text.push_str("};\n");
        let _ = write!(text, "static const struct equal equal_{number}[] = {{");
        for ([(one, offset), (other, of_other)], bytes) in &chain.equal {
            let _ = write!(text, "{{{one}, {offset}, {other}, {of_other}, {bytes}}}, ");
        }
        text.push_str("{0, 0, 0, 0, 0}};\n");
        let _ = write!(
            text,
            "static const struct constant constant_{number}[] = {{"
        );
        for ((kernel, offset), value) in &chain.constant {
            let _ = write!(text, "{{{kernel}, {offset}, {value}u}}, ");
        }
        text.push_str("{0, 0, 0}};\n");
    }
    text.push_str("static const struct chain chains[] = {\n");
    for (number, chain) in chains.iter().enumerate() {
        let _ = writeln!(
            text,
            "    {{run_{number}, {}, {}, {}, kernels_{number}, equal_{number}, constant_{number}}},",
            chain.kernels.len(),
            chain.equal.len(),
            chain.constant.len()
        );
    }
    text.push_str("};\n");
    text
}
