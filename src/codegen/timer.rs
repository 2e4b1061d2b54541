//! Programs that are built to be measured: their launches go through `timer.c`.

use super::CodegenError;
use super::host_library::HostLibrary;
use super::launch_call::{Launcher, declared};
use crate::cli::{Build, Device, Toolchain};
use crate::program::Program;
use std::path::Path;

/// Puts the timer into the host module; how launches are spelled then.
///
/// # Errors
/// When the timer does not fit: our bug.
pub(super) fn link_timer(
    program: &Program<'_>,
    (build, toolchain): (&Build, &Toolchain),
    launcher: Launcher,
    folder: &Path,
) -> Result<Launcher, CodegenError> {
    let (timed, suffix) = match build.per_thread_default_stream {
        true => ("sirius_timed_launch_ptsz", "_ptsz"),
        false => ("sirius_timed_launch", ""),
    };
    let mut macros = vec![
        format!("SIRIUS_LAUNCH={}", launcher.launch_function),
        format!("SIRIUS_TIMED={timed}"),
        format!("SIRIUS_RECORD=cudaEventRecord{suffix}"),
        format!("SIRIUS_MEMSET=cudaMemsetAsync{suffix}"),
        format!("SIRIUS_IS_CAPTURING=cudaStreamIsCapturing{suffix}"),
    ];
    if build.device == Device::Cpu {
        macros.push("SIRIUS_CPU_DEVICE".to_owned());
    }
    let reset = program.host.get_function("cudaDeviceReset");
    if let Some(reset) = reset {
        let own = declared(program, "sirius_timed_reset", reset.get_type());
        reset.replace_all_uses_with(own);
    }
    let timer = HostLibrary {
        name: "sirius_timer",
        source: include_str!("timer.c"),
        macros,
        functions: &[timed, SITE],
    };
    timer.link_into(program, (build, toolchain), folder)?;
    Ok(Launcher {
        launch_function: timed,
        announce_site: Some(SITE),
        ..launcher
    })
}

const SITE: &str = "sirius_timed_site";
