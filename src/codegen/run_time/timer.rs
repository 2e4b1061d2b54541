//! Programs that are built to be measured: their launches go through `timer.c`.

use super::super::CodegenError;
use super::super::host_library::HostLibrary;
use super::super::launch_call::{DriverLaunch, Launcher, has_driver_launches, redirect};
use crate::build::{Boundary, Build, Device};
use crate::launch::{LaunchGraph, NodeKind};
use crate::program::Program;
use crate::tools::Toolchain;
use std::fmt::Write as _;
use std::path::Path;

/// Puts the timer into the host module; how launches are spelled then.
///
/// # Errors
/// When the timer does not fit: our bug.
pub(in crate::codegen) fn link_timer(
    program: &Program<'_>,
    graph: &LaunchGraph,
    (build, toolchain): (&Build, &Toolchain),
    launcher: Launcher,
    folder: &Path,
) -> Result<Launcher, CodegenError> {
    let (timed, suffix) = match build.per_thread_default_stream {
        true => ("sirius_timed_launch_ptsz", "_ptsz"),
        false => ("sirius_timed_launch", ""),
    };
    let mut functions = vec![timed.to_owned(), SITE.to_owned()];
    let mut macros = vec![
        format!("SIRIUS_LAUNCH={}", launcher.launch_function),
        format!("SIRIUS_TIMED={timed}"),
        format!("SIRIUS_RECORD=cudaEventRecord{suffix}"),
        format!("SIRIUS_RECORD_AS=cudaEventRecordWithFlags{suffix}"),
        format!("SIRIUS_MEMSET=cudaMemsetAsync{suffix}"),
        format!("SIRIUS_IS_CAPTURING=cudaStreamIsCapturing{suffix}"),
        format!("SIRIUS_SEEN={}", seen_in_captures(graph)),
    ];
    if build.device == Device::Cpu {
        macros.push("SIRIUS_CPU_DEVICE".to_owned());
    }
    let mut cooperative_launch = launcher.cooperative_launch;
    // Other programs are linked with toolkits that have none, too.
    if build.sirius.boundaries.contains(&Boundary::GridBarrier) {
        macros.push(format!("SIRIUS_COOPERATIVE_LAUNCH={cooperative_launch}"));
        macros.push(format!("SIRIUS_TIMED_COOPERATIVE={TIMED_COOPERATIVE}"));
        functions.push(TIMED_COOPERATIVE.to_owned());
        cooperative_launch = TIMED_COOPERATIVE;
    }
    let mut driver_launch = launcher.driver_launch;
    // Programs that do not use the driver are linked without its library.
    if has_driver_launches(program) {
        macros.push(format!("SIRIUS_DRIVER_LAUNCH={}", driver_launch.function));
        macros.push(format!("SIRIUS_TIMED_DRIVER_LAUNCH={TIMED_DRIVER_LAUNCH}"));
        functions.push(TIMED_DRIVER_LAUNCH.to_owned());
        driver_launch = DriverLaunch {
            function: TIMED_DRIVER_LAUNCH,
            takes_stub: true,
        };
    }
    let mut graphs = String::new();
    for name in GRAPH_LAUNCHES {
        if let Some(own) = redirect(program, name, PREFIX) {
            let _ = write!(graphs, "GRAPH_LAUNCH({name}) ");
            functions.push(own);
        }
    }
    macros.push(format!("SIRIUS_GRAPH_LAUNCHES={graphs}"));
    let mut ends = String::new();
    for (name, what) in ENDS {
        if let Some(own) = redirect(program, name, PREFIX) {
            let _ = write!(ends, "END({name}, {what}) ");
            functions.push(own);
        }
    }
    macros.push(format!("SIRIUS_ENDS={ends}"));
    if let Some(own) = redirect(program, "cudaDeviceReset", PREFIX) {
        macros.push("SIRIUS_RESETS".to_owned());
        functions.push(own);
    }
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    let timer = HostLibrary {
        name: "sirius_timer",
        source: include_str!("timer.c"),
        macros,
        functions: &functions,
    };
    timer.link_into(program, (build, toolchain), folder)?;
    Ok(Launcher {
        launch_function: timed,
        cooperative_launch,
        driver_launch,
        announce_site: Some(SITE),
        ..launcher
    })
}

/// What our own functions are called in the place of others.
const PREFIX: &str = "sirius_timed_";
const SITE: &str = "sirius_timed_site";
const TIMED_COOPERATIVE: &str = "sirius_timed_cooperative_launch";
const TIMED_DRIVER_LAUNCH: &str = "sirius_timed_driver_launch";

/// What runs a graph.
const GRAPH_LAUNCHES: [&str; 4] = [
    "cudaGraphLaunch",
    "cudaGraphLaunch_ptsz",
    "cuGraphLaunch",
    "cuGraphLaunch_ptsz",
];

/// What can end a context, and what type says which one.
const ENDS: [(&str, &str); 6] = [
    ("cuCtxDestroy", "void *"),
    ("cuCtxDestroy_v2", "void *"),
    ("cuDevicePrimaryCtxRelease", "int"),
    ("cuDevicePrimaryCtxRelease_v2", "int"),
    ("cuDevicePrimaryCtxReset", "int"),
    ("cuDevicePrimaryCtxReset_v2", "int"),
];

/// The sites that somebody may see in a graph, each with a comma behind it.
fn seen_in_captures(graph: &LaunchGraph) -> String {
    let mut sites = String::new();
    for node in &graph.nodes {
        if let NodeKind::Launch(launch) = &node.kind
            && graph.is_seen_in_capture(node.id, launch)
        {
            let _ = write!(sites, "{},", launch.id.0);
        }
    }
    sites
}
