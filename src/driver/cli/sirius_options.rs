//! The table of our own options, which all begin with `--sirius-`.

use super::draft::{Draft, Information};
use super::options::{Arity, OptionRow, honour, inform, integer};
use super::parse::UsageError;
use super::values::{one_of, undefined};
use crate::build::{Boundary, Device, Fusion, Optimisation, ReportFormat, TuneMode};
use crate::planner::policy::{self, Policy};
use crate::planner::{Planner, Priority, Score};
use crate::stage::Stage;
use crate::tensor::mapping::{Mapping, Scatter};
use crate::tensor::transform::{Reductions, TileSizes};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The policy of a file. Caches of what was compiled know it by its values.
///
/// # Errors
/// A sentence that names the file, where it is none.
pub(super) fn read_policy(path: &str) -> Result<Arc<Policy>, UsageError> {
    let refused =
        |why: String| UsageError::Refused(format!("Cannot take the policy '{path}': {why}"));
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    let policy = policy::read(&text).map_err(|error| refused(error.to_string()))?;
    Ok(Arc::new(policy))
}

/// Our options.
pub(super) static SIRIUS_OPTIONS: &[OptionRow] = &[
    honour("sirius-device", &[], Arity::Scalar, |draft, value| {
        draft.build.device = one_of(
            "sirius-device",
            value,
            &Device::ALL.map(|device| (device.name(), device)),
        )?;
        Ok(())
    }),
    honour("sirius-fusion", &[], Arity::Scalar, |draft, value| {
        let how_much = [
            ("off", Fusion::Off),
            ("local", Fusion::Local),
            ("all", Fusion::All),
        ];
        draft.build.sirius.fusion = one_of("sirius-fusion", value, &how_much)?;
        Ok(())
    }),
    honour("sirius-report", &[], Arity::Scalar, |draft, value| {
        let path = PathBuf::from(value);
        let format = path
            .extension()
            .and_then(|ending| report_format(&ending.to_string_lossy()))
            .ok_or_else(|| {
                UsageError::Refused(format!(
                    "The report '{value}' must end in .txt, .json, .dot or .html"
                ))
            })?;
        draft.build.sirius.report = Some((path, format));
        Ok(())
    }),
    honour("sirius-stop-after", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.stop_after = Some(stage("sirius-stop-after", value)?);
        Ok(())
    }),
    honour("sirius-dump", &[], Arity::List, |draft, value| {
        match value {
            "problem" => draft.build.sirius.dump_problem = true,
            _ => {
                let stages = Stage::ALL.map(|stage| (stage.name(), Some(stage)));
                let shown = [stages.as_slice(), &[("problem", None)]].concat();
                draft
                    .build
                    .sirius
                    .dump
                    .extend(one_of("sirius-dump", value, &shown)?);
            }
        }
        Ok(())
    }),
    honour("sirius-max-fusions", &[], Arity::Scalar, |draft, value| {
        let number = integer("sirius-max-fusions", value)?;
        draft.build.sirius.max_fusions = usize::try_from(number).ok();
        Ok(())
    }),
    honour("sirius-keep-syncs", &[], Arity::Flag, |draft, _| {
        draft.build.sirius.keep_synchronisations = true;
        Ok(())
    }),
    honour("sirius-layout", &[], Arity::Scalar, layout),
    // What it was called before.
    honour("sirius-orientation", &[], Arity::Scalar, layout),
    honour("sirius-opt", &[], Arity::List, |draft, value| {
        let chosen = &mut draft.build.sirius.optimisations;
        // A list says what is on; `-name` behind it takes one away.
        if !std::mem::replace(&mut draft.optimisations_listed, true) && !value.starts_with('-') {
            chosen.clear();
        }
        match value {
            "none" => chosen.clear(),
            "all" => chosen.extend(Optimisation::ALL),
            _ => match (
                Optimisation::of_name(value),
                value.strip_prefix('-').and_then(Optimisation::of_name),
            ) {
                (Some(on), _) => {
                    chosen.insert(on);
                }
                (None, Some(off)) => {
                    chosen.remove(&off);
                }
                (None, None) => {
                    let names = Optimisation::ALL.map(Optimisation::name);
                    let bare = value.strip_prefix('-').unwrap_or(value);
                    return Err(undefined(
                        "sirius-opt",
                        bare,
                        names.into_iter().chain(["all", "none"]),
                    ));
                }
            },
        }
        Ok(())
    }),
    honour("sirius-boundaries", &[], Arity::List, |draft, value| {
        // A list says all that is wanted, so that its first word takes away what is done by default.
        let chosen = &mut draft.build.sirius.boundaries;
        if !std::mem::replace(&mut draft.boundaries_listed, true) {
            chosen.clear();
        }
        add_boundary(chosen, value)
    }),
    honour("sirius-planner", &[], Arity::Scalar, |draft, value| {
        let planners = Planner::ALL.map(|planner| (planner.name(), planner));
        draft.build.sirius.planning.planner = one_of("sirius-planner", value, &planners)?;
        Ok(())
    }),
    honour("sirius-priority", &[], Arity::Scalar, |draft, value| {
        let orders = Priority::ALL.map(|priority| (priority.name(), priority));
        draft.build.sirius.planning.priority = one_of("sirius-priority", value, &orders)?;
        Ok(())
    }),
    honour("sirius-policy", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.planning.policy = Some(read_policy(value)?);
        Ok(())
    }),
    honour("sirius-plan-score", &[], Arity::Scalar, |draft, value| {
        let scores = Score::ALL.map(|score| (score.name(), score));
        draft.build.sirius.planning.score = one_of("sirius-plan-score", value, &scores)?;
        Ok(())
    }),
    honour("sirius-plan-budget", &[], Arity::Scalar, |draft, value| {
        let seconds = integer("sirius-plan-budget", value)?;
        draft.build.sirius.planning.budget = Duration::from_secs(seconds.into());
        Ok(())
    }),
    honour("sirius-plan-seed", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.planning.seed = integer("sirius-plan-seed", value)?.into();
        Ok(())
    }),
    honour("sirius-tune", &[], Arity::Scalar, |draft, value| {
        let modes = [
            ("off", TuneMode::Off),
            ("model", TuneMode::Model),
            ("measure", TuneMode::Measure),
        ];
        draft.build.sirius.tuning.mode = one_of("sirius-tune", value, &modes)?;
        Ok(())
    }),
    honour("sirius-tune-budget", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.tuning.budget_seconds = integer("sirius-tune-budget", value)?.into();
        Ok(())
    }),
    honour("sirius-tune-seed", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.tuning.seed = integer("sirius-tune-seed", value)?.into();
        Ok(())
    }),
    honour("sirius-tune-results", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.tuning.results = Some(PathBuf::from(value));
        Ok(())
    }),
    honour("sirius-tc-mapping", &[], Arity::Scalar, |draft, value| {
        let mappings = [
            ("identity", Mapping::Identity),
            ("parallel", Mapping::Parallel),
            ("tiled", Mapping::Tiled),
            ("auto", Mapping::Auto),
        ];
        draft.build.sirius.tensor.mapping = one_of("sirius-tc-mapping", value, &mappings)?;
        Ok(())
    }),
    honour("sirius-tc-scatter", &[], Arity::Scalar, |draft, value| {
        let orders = [("ordered", Scatter::Ordered), ("atomic", Scatter::Atomic)];
        draft.build.sirius.tensor.scatter = one_of("sirius-tc-scatter", value, &orders)?;
        Ok(())
    }),
    honour(
        "sirius-tc-reductions",
        &[],
        Arity::Scalar,
        |draft, value| {
            let orders = [
                ("parallel", Reductions::Parallel),
                ("ordered", Reductions::Ordered),
            ];
            draft.build.sirius.tensor.reductions = one_of("sirius-tc-reductions", value, &orders)?;
            Ok(())
        },
    ),
    honour("sirius-tc-tile", &[], Arity::Scalar, |draft, value| {
        let sizes = TileSizes::parse(value).map_err(|expected| UsageError::UndefinedValue {
            option: "sirius-tc-tile".to_owned(),
            value: value.to_owned(),
            instead: format!("it takes {expected}"),
        })?;
        draft.build.sirius.tensor.tile = Some(sizes);
        Ok(())
    }),
    honour("sirius-tc-emit", &[], Arity::Scalar, |draft, value| {
        draft.build.sirius.tensor_emit = Some(PathBuf::from(value));
        Ok(())
    }),
    honour("sirius-print-link-flags", &[], Arity::Flag, |draft, _| {
        inform(draft, Information::LinkFlags)
    }),
    // Of lines that `-dryrun` shows; the folder is entered before anything is read.
    honour("sirius-folder", &[], Arity::Scalar, |_, _| Ok(())),
    honour("sirius-source", &[], Arity::Scalar, |draft, value| {
        draft.source = Some(value.to_owned());
        Ok(())
    }),
    honour("sirius-toolkit", &[], Arity::Scalar, |draft, value| {
        draft.toolkit_folder = Some(PathBuf::from(value));
        Ok(())
    }),
];

/// A report's form by its name or a file's ending.
pub(super) fn report_format(name: &str) -> Option<ReportFormat> {
    match name {
        "text" | "txt" => Some(ReportFormat::Text),
        "json" => Some(ReportFormat::Json),
        "dot" => Some(ReportFormat::Dot),
        "html" => Some(ReportFormat::Html),
        _ => None,
    }
}

fn layout(draft: &mut Draft, value: &str) -> Result<(), UsageError> {
    value.clone_into(&mut draft.build.sirius.layout);
    Ok(())
}

fn stage(option: &'static str, value: &str) -> Result<Stage, UsageError> {
    one_of(
        option,
        value,
        &Stage::ALL.map(|stage| (stage.name(), stage)),
    )
}

/// Takes one more word of the list.
///
/// # Errors
/// A name that is none.
fn add_boundary(chosen: &mut BTreeSet<Boundary>, word: &str) -> Result<(), UsageError> {
    match word {
        "none" => chosen.clear(),
        "all" => chosen.extend(Boundary::ALL),
        name => {
            let mut all = Boundary::ALL.into_iter();
            let found = all.find(|boundary| boundary.name() == name);
            let names = Boundary::ALL.map(Boundary::name).into_iter();
            let unknown = || undefined("sirius-boundaries", name, names.chain(["none", "all"]));
            chosen.insert(found.ok_or_else(unknown)?);
        }
    }
    Ok(())
}
