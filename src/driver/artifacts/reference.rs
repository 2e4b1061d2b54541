//! `SIRIUS_REFERENCE=1`: a program that runs itself without fusion and with it, on the CPU device, and says
//! whether both do the same.
//!
//! Invariant: what it compares are whole programs from the same sources, or bitcode that objects keep, and
//! options; the one without
//! fusion has seen no analysis. Allocations that nobody reads afterwards need not be written, so that
//! memory is compared with a build that writes them.

use super::super::outcome::{Outcome, PipelineError};
use super::link::link_program;
use crate::build::{Build, Device, Fusion, Optimisation, Phase, SiriusOptions};
use crate::files::private_folder;
use crate::tools::{find_toolchain, run_tool};
use std::path::Path;

const DRIVER: &str = include_str!("reference.c");

/// Why a build cannot have a reference; `None`: it can.
pub(in crate::driver) fn obstacle(build: &Build) -> Option<&'static str> {
    match build.phase {
        // A program that an object becomes part of compares it.
        Phase::Compile | Phase::Library => None,
        _ if build.phase != Phase::Link || build.shared => Some("only a program has one"),
        _ if build.sirius.stop_after.is_some() => Some("nothing is built"),
        _ => None,
    }
}

/// Builds the program, its reference and what compares them.
///
/// # Errors
/// Those of a build.
pub(in crate::driver) fn build_with_reference(
    build: &Build,
    output: &Path,
    outcome: &mut Outcome,
) -> Result<(), PipelineError> {
    let write = |path: &Path, error| PipelineError::Write {
        path: path.to_owned(),
        error,
    };
    let folder = private_folder().map_err(|error| write(output, error))?;
    let place = |name: &str| folder.path().join(name);
    let on_cpu = Build {
        device: Device::Cpu,
        ..build.clone()
    };
    let toolchain = find_toolchain(&on_cpu)?;
    link_program(&on_cpu, &toolchain, &place("fused"), outcome)?;
    let mut quiet = Outcome::default();
    let mut build_other = |name: &str, sirius: SiriusOptions| {
        let other = Build {
            sirius: SiriusOptions {
                report: None,
                dump: Vec::new(),
                save_directory: None,
                ..sirius
            },
            ..on_cpu.clone()
        };
        link_program(&other, &toolchain, &place(name), &mut quiet)
    };
    let mut sirius = build.sirius.clone();
    let leaves_out = sirius.optimisations.remove(&Optimisation::DeadStores);
    let complete = leaves_out && outcome.summary.is_some();
    if complete {
        build_other("all_stores", sirius.clone())?;
    }
    sirius.fusion = Fusion::Off;
    build_other("unfused", sirius)?;

    let driver = place("reference.c");
    std::fs::write(&driver, DRIVER).map_err(|error| write(&driver, error))?;
    let mut arguments = vec!["-x".to_owned(), "c".to_owned(), "-O1".to_owned()];
    let mut embed = |macro_name: &str, name: &str| {
        arguments.push(format!("-D{macro_name}=\"{}\"", place(name).display()));
    };
    embed("SIRIUS_UNFUSED", "unfused");
    embed("SIRIUS_FUSED", "fused");
    if complete {
        embed("SIRIUS_ALL_STORES", "all_stores");
    }
    arguments.extend([
        driver.display().to_string(),
        "-o".to_owned(),
        output.display().to_string(),
    ]);
    run_tool(&toolchain.clang, &arguments, build)?;
    Ok(())
}
