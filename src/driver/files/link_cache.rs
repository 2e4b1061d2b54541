//! What links of programs made of their objects' bitcode, kept for links of the same again.
//!
//! Reading and analysing a program is most of its link; a build that changed no object comes here with
//! the same bitcode.
//!
//! Invariant: all that a link's objects depend on (bitcode, options, variables, tools) is what its [`Entry`] is made from.

use super::super::outcome::Outcome;
use crate::build::{Build, Input, Language, Phase, SiriusOptions, Tuning};
use crate::cache::{Entry, put, tools_as_text};
use crate::tools::Toolchain;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The place of one link in the cache.
pub(in crate::driver) struct LinkCache(Entry);

/// What a link came to, before the host's linker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::driver) struct Linked {
    /// Object files, in order.
    pub(in crate::driver) objects: Vec<Vec<u8>>,
    /// What was said.
    pub(in crate::driver) warnings: String,
    /// The summary, where something fused.
    pub(in crate::driver) summary: Option<String>,
}

impl LinkCache {
    /// `None` for a build that is no link of bitcode, that asks for more than the program, or where nothing
    /// is to be kept.
    pub(in crate::driver) fn of(build: &Build, toolchain: &Toolchain) -> Option<Self> {
        if !Self::asks_for_the_program_only(build) {
            return None;
        }
        Entry::of("link", made_from(build, toolchain)?).map(Self)
    }

    /// Whether this is a link that is to leave a program and nothing else.
    pub(in crate::driver) fn asks_for_the_program_only(build: &Build) -> bool {
        let options = &build.sirius;
        build.phase == Phase::Link
            && options.report.is_none()
            && options.dump.is_empty()
            && options.stop_after.is_none()
            && options.save_directory.is_none()
            && build.keep_directory.is_none()
            && !options.reference
            && options.tuning == Tuning::default()
            && !build.dry_run
            && !build.verbose
    }

    /// What an earlier link of the same came to.
    pub(in crate::driver) fn take(&self) -> Option<Linked> {
        let mut parts = self.0.take()?.into_iter();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok();
        let warnings = text(parts.next()?)?;
        let summary = text(parts.next()?)?;
        Some(Linked {
            objects: parts.collect(),
            warnings,
            summary: summary.strip_prefix('s').map(str::to_owned),
        })
    }

    /// Keeps what a link came to: what was said, the summary (nothing, or after a letter), the objects.
    pub(in crate::driver) fn keep(&self, outcome: &Outcome) {
        if outcome.objects.is_empty() {
            return;
        }
        let summary = outcome.summary.as_ref().map(|text| format!("s{text}"));
        let summary = summary.unwrap_or_default();
        let mut parts = vec![outcome.warnings.as_bytes(), summary.as_bytes()];
        parts.extend(outcome.objects.iter().map(Vec::as_slice));
        self.0.keep(&parts);
    }
}

/// Whether a link whose plan changes nothing can take its objects as they are: all of them were compiled by us
/// without anything fused, no device code is linked, and nobody asks for more than the program.
pub(in crate::driver) fn objects_will_do(build: &Build) -> bool {
    let mut kept = build
        .inputs
        .iter()
        .filter_map(|input| input.bitcode.as_ref());
    kept.all(|bitcode| bitcode.unfused_object) && objects_can_be_linked(build)
}

/// Whether a link can take its objects as they are, with what is fused in each: all of them were compiled by us, no device
/// code is linked, and nobody asks for more than the program.
pub(in crate::driver) fn objects_can_be_linked(build: &Build) -> bool {
    let as_it_is = |input: &Input| match &input.bitcode {
        Some(bitcode) => bitcode.relocatable.is_none(),
        None => input.language == Language::Object,
    };
    // Code of a shared library has to be independent of its place, which `-c` was not told.
    LinkCache::asks_for_the_program_only(build)
        && !build.shared
        && build.inputs.iter().all(as_it_is)
        && build.inputs.iter().any(|input| input.bitcode.is_some())
}

/// `None` where an input is no bitcode, or cannot be read.
fn made_from(build: &Build, toolchain: &Toolchain) -> Option<Vec<u8>> {
    // Neither says what the objects are.
    let mut lasting = Build {
        output: None,
        run: None,
        times: None,
        sirius: SiriusOptions {
            command: String::new(),
            ..build.sirius.clone()
        },
        ..build.clone()
    };
    let mut modules = Vec::new();
    for input in &mut lasting.inputs {
        if input.language == Language::Object {
            continue;
        }
        let bitcode = input.bitcode.as_mut()?;
        let newer = bitcode.newer.iter_mut().map(|(_, path)| Some(path));
        let oldest = [Some(&mut bitcode.host), bitcode.device.as_mut()];
        for path in oldest.into_iter().chain(newer) {
            modules.push(path.as_ref().map(std::fs::read));
            // A name of this run.
            path.map(std::mem::take);
        }
    }
    let mut text = format!("{lasting:?}\n{toolchain:?}\n");
    let tools = [
        Some(&toolchain.clang),
        Some(&toolchain.libdevice),
        toolchain.ptxas.as_ref(),
        toolchain.fatbinary.as_ref(),
    ];
    let tools = tools.into_iter().flatten().map(PathBuf::as_path);
    text += &tools_as_text(tools)?;
    let mut variables: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| name.to_string_lossy().starts_with("SIRIUS_"))
        .filter(|(name, _)| name != "SIRIUS_CACHE")
        .collect();
    variables.sort();
    let _ = writeln!(text, "{variables:?}");
    let mut bytes = Vec::new();
    put(&mut bytes, text.as_bytes());
    for module in modules {
        put(&mut bytes, &module.transpose().ok()?.unwrap_or_default());
    }
    Some(bytes)
}
