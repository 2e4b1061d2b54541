//! The table of our own options, which all begin with `--sirius-`.

use super::draft::{Draft, Information};
use super::options::{Arity, OptionRow, honour, inform, integer, own};
use super::parse::UsageError;
use super::values::{one_of, undefined};
use crate::build::{Boundary, Device, Fusion, KnownOptions, Optimisation, ReportFormat, TuneMode};
use crate::planner::policy::{self, Policy};
use crate::planner::{Planner, Priority, Score};
use crate::stage::Stage;
use crate::tensor::mapping::{Mapping, Scatter};
use crate::tensor::polyhedral::Strategy;
use crate::tensor::split::Split;
use crate::tensor::stitch::template::Teams;
use crate::tensor::transform::{Reductions, SharedMemory, TensorCores, TileSizes};
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

/// Our options, in the order in which `--help` has them. A new one is a row here; what it means goes to
/// [`crate::build::SiriusOptions`].
pub(super) static SIRIUS_OPTIONS: &[OptionRow] = &[
    own(
        BUILT,
        ("sirius-device", Arity::Scalar),
        "cuda|cpu",
        "build for NVIDIA GPUs, or for this machine's processors (default: $SIRIUS_DEVICE, else cuda)",
        |draft, value| {
            draft.build.device = one_of(
                "sirius-device",
                value,
                &Device::ALL.map(|device| (device.name(), device)),
            )?;
            Ok(())
        },
    ),
    own(
        BUILT,
        ("sirius-toolkit", Arity::Scalar),
        "DIR",
        "lay out a folder that stands for a CUDA toolkit, with this compiler as its nvcc",
        |draft, value| {
            draft.toolkit_folder = Some(PathBuf::from(value));
            Ok(())
        },
    ),
    own(
        BUILT,
        ("sirius-print-link-flags", Arity::Flag),
        "",
        "print what plain g++ needs to link our objects",
        |draft, _| inform(draft, Information::LinkFlags),
    ),
    own(
        FUSED,
        ("sirius-fusion", Arity::Scalar),
        "off|local|all",
        "nothing; launches that depend on each other by thread or block; also independent launches and those of loops (default: all)",
        |draft, value| {
            let how_much = [
                ("off", Fusion::Off),
                ("local", Fusion::Local),
                ("all", Fusion::All),
            ];
            draft.build.sirius.fusion = one_of("sirius-fusion", value, &how_much)?;
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-layout", Arity::Scalar),
        "auto|v|h|vmax|vmin|NAME",
        "how the launches of a group lie in the fused kernel: v one after another in the same threads, h side by side in blocks of their own, or mixed as the report names it, such as v2h3 (default: auto)",
        layout,
    ),
    own(
        FUSED,
        ("sirius-opt", Arity::List),
        "all|none|[-]NAME,...",
        "what is done to fused kernels, by the names below; '-' before a name takes it away (default: all)",
        |draft, value| {
            let chosen = &mut draft.build.sirius.optimisations;
            // A list says what is on; `-name` behind it takes one away.
            if !std::mem::replace(&mut draft.optimisations_listed, true) && !value.starts_with('-')
            {
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
        },
    ),
    own(
        FUSED,
        ("sirius-boundaries", Arity::List),
        "none|all|NAME,...",
        "what is done where launches stay apart: graph issues launches that wait as CUDA graphs where they come again; grid-barrier makes launches that need what other blocks made one cooperative launch, with barriers across its grid; last-block lets the last block of a launch run one of one block that needs what all made; overlap lets a launch begin before the one before it has ended, from sm_90 on (default: last-block)",
        |draft, value| {
            // A list says all that is wanted, so that its first word takes away what is done by default.
            let chosen = &mut draft.build.sirius.boundaries;
            if !std::mem::replace(&mut draft.boundaries_listed, true) {
                chosen.clear();
            }
            add_boundary(chosen, value)
        },
    ),
    own(
        FUSED,
        ("sirius-planner", Arity::Scalar),
        "auto|greedy|ilp|span|priority|xla",
        "who chooses the groups: greedy grouping, an integer program, layers, a priority, or, to compare with, XLA's rule; auto takes the best of the others by the cost model (default: auto)",
        |draft, value| {
            let planners = Planner::ALL.map(|planner| (planner.name(), planner));
            draft.build.sirius.planning.planner = one_of("sirius-planner", value, &planners)?;
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-priority", Arity::Scalar),
        "default|annealing|learned",
        "the order in which the planner 'priority' joins launches (default: default)",
        |draft, value| {
            let orders = Priority::ALL.map(|priority| (priority.name(), priority));
            draft.build.sirius.planning.priority = one_of("sirius-priority", value, &orders)?;
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-policy", Arity::Scalar),
        "FILE",
        "the policy of the learned order, as 'sirius-rs train' writes it (default: the compiler's own)",
        |draft, value| {
            draft.build.sirius.planning.policy = Some(read_policy(value)?);
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-plan-score", Arity::Scalar),
        "model|measured|bytes",
        "what planners go by: the cost model, what --sirius-tune-results measured, or bytes alone (default: model)",
        |draft, value| {
            let scores = Score::ALL.map(|score| (score.name(), score));
            draft.build.sirius.planning.score = one_of("sirius-plan-score", value, &scores)?;
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-plan-budget", Arity::Scalar),
        "SECONDS",
        "how long a planner may search (default: 10)",
        |draft, value| {
            let seconds = integer("sirius-plan-budget", value)?;
            draft.build.sirius.planning.budget = Duration::from_secs(seconds.into());
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-plan-seed", Arity::Scalar),
        "N",
        "seed of simulated annealing and of the learned order (default: 0)",
        |draft, value| {
            draft.build.sirius.planning.seed = integer("sirius-plan-seed", value)?.into();
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-keep-syncs", Arity::Flag),
        "",
        "no launch moves across a synchronisation of the host",
        |draft, _| {
            draft.build.sirius.keep_synchronisations = true;
            Ok(())
        },
    ),
    own(
        FUSED,
        ("sirius-max-fusions", Arity::Scalar),
        "N",
        "fuse at most N groups, to find a culprit by bisection",
        |draft, value| {
            let number = integer("sirius-max-fusions", value)?;
            draft.build.sirius.max_fusions = usize::try_from(number).ok();
            Ok(())
        },
    ),
    own(
        TUNED,
        ("sirius-tune", Arity::Scalar),
        "off|model|measure",
        "the planned one, the best by a cost model, or the best of those that are run now (default: off)",
        |draft, value| {
            let modes = [
                ("off", TuneMode::Off),
                ("model", TuneMode::Model),
                ("measure", TuneMode::Measure),
            ];
            draft.build.sirius.tuning.mode = one_of("sirius-tune", value, &modes)?;
            Ok(())
        },
    ),
    own(
        TUNED,
        ("sirius-tune-budget", Arity::Scalar),
        "SECONDS",
        "how long building and running variants may take (default: 60)",
        |draft, value| {
            draft.build.sirius.tuning.budget_seconds = integer("sirius-tune-budget", value)?.into();
            Ok(())
        },
    ),
    own(
        TUNED,
        ("sirius-tune-seed", Arity::Scalar),
        "N",
        "seed of the search where there are many variants (default: 0)",
        |draft, value| {
            draft.build.sirius.tuning.seed = integer("sirius-tune-seed", value)?.into();
            Ok(())
        },
    ),
    own(
        TUNED,
        ("sirius-tune-results", Arity::Scalar),
        "FILE",
        "choose by what 'sirius-rs tune' measured",
        |draft, value| {
            draft.build.sirius.tuning.results = Some(PathBuf::from(value));
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-mapping", Arity::Scalar),
        "identity|parallel|tiled|auto|stitched",
        "one thread with the loops as written, a thread for each element, products in tiles, rows by blocks, too, or kernels by templates (default: auto)",
        |draft, value| {
            draft.build.sirius.tensor.mapping =
                one_of("sirius-tc-mapping", value, &Mapping::NAMES)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-fusion", Arity::Scalar),
        "auto|min|max|three-parallel",
        "which statements share a kernel: those that the mapping puts together, none, or, by isl's scheduler, as many as leave one parallel dimension, or three if there are (default: auto)",
        |draft, value| {
            draft.build.sirius.tensor.fusion = one_of("sirius-tc-fusion", value, &Strategy::NAMES)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-reductions", Arity::Scalar),
        "parallel|ordered",
        "how terms of a row are joined: by all threads of a block, or in the order of the indices (default: parallel)",
        |draft, value| {
            let orders = [
                ("parallel", Reductions::Parallel),
                ("ordered", Reductions::Ordered),
            ];
            draft.build.sirius.tensor.reductions = one_of("sirius-tc-reductions", value, &orders)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-tile", Arity::Scalar),
        "ROWS,COLUMNS,STRIP",
        "points of a tile, and terms between two loads (default: 64,64,16)",
        |draft, value| {
            let sizes = TileSizes::parse(value).map_err(|expected| UsageError::UndefinedValue {
                option: "sirius-tc-tile".to_owned(),
                value: value.to_owned(),
                instead: format!("it takes {expected}"),
            })?;
            draft.build.sirius.tensor.tile = Some(sizes);
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-stages", Arity::Scalar),
        "1|2|3",
        "how many strips of a tile lie in shared memory at once, of which all but one are on their way (default: 3 for tensor cores, else 1)",
        |draft, value| {
            let stages = [("1", 1), ("2", 2), ("3", 3)];
            draft.build.sirius.tensor.stages = Some(one_of("sirius-tc-stages", value, &stages)?);
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-tensor-cores", Arity::Scalar),
        "on|off",
        "whether tensor cores make products of half and of bfloat16, where reductions are parallel (default: on)",
        |draft, value| {
            draft.build.sirius.tensor.tensor_cores =
                one_of("sirius-tc-tensor-cores", value, &TensorCores::NAMES)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-shared", Arity::Scalar),
        "on|off",
        "whether what several threads read lies in shared memory; templates say it themselves (default: on)",
        |draft, value| {
            draft.build.sirius.tensor.shared =
                one_of("sirius-tc-shared", value, &SharedMemory::NAMES)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-split", Arity::Scalar),
        "auto|off|TERMS",
        "whether sums of many terms for few elements are made in pieces by several blocks, and then of these: where that is worth it, never, or always, with so many values of the outermost index in a piece (default: auto)",
        |draft, value| {
            let split = Split::parse(value).ok_or_else(|| UsageError::UndefinedValue {
                option: "sirius-tc-split".to_owned(),
                value: value.to_owned(),
                instead: "it takes auto, off or a number".to_owned(),
            })?;
            draft.build.sirius.tensor.split = split;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-templates", Arity::Scalar),
        "any|elements|blocks|lanes|columns",
        "which kernels --sirius-tc-mapping=stitched may choose beside those of elements and tiles: all, none, rows by blocks, rows by lanes, or columns (default: any)",
        |draft, value| {
            draft.build.sirius.tensor.teams = one_of("sirius-tc-templates", value, &Teams::NAMES)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-known", Arity::Scalar),
        "FILE|off",
        "a file of options that were found best, as 'sirius-rs tc --tune' makes it, or none (default: tuned.json in the cache)",
        |draft, value| {
            draft.build.sirius.tensor_known = match value {
                "off" => KnownOptions::Off,
                file => KnownOptions::File(PathBuf::from(file)),
            };
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-scatter", Arity::Scalar),
        "ordered|atomic",
        "how terms that meet in one element are joined: in order, the same in each run, or by atomic operations (default: ordered)",
        |draft, value| {
            let orders = [("ordered", Scatter::Ordered), ("atomic", Scatter::Atomic)];
            draft.build.sirius.tensor.scatter = one_of("sirius-tc-scatter", value, &orders)?;
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-template", Arity::Scalar),
        "FILE|TEXT",
        "implementation templates of definitions, as 'sirius-rs tc --emit=template' writes them: a file, or the text itself",
        |draft, value| {
            draft.build.sirius.tensor_template = Some(value.to_owned());
            Ok(())
        },
    ),
    own(
        TENSOR,
        ("sirius-tc-emit", Arity::Scalar),
        "DIR",
        "write the CUDA that is made of them, too: FILE.tc.cu and FILE.tc.h",
        |draft, value| {
            draft.build.sirius.tensor_emit = Some(PathBuf::from(value));
            Ok(())
        },
    ),
    own(
        TOLD,
        ("sirius-report", Arity::Scalar),
        "FILE",
        "write a report; its form follows the ending: .txt .json .dot .html",
        |draft, value| {
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
        },
    ),
    own(
        TOLD,
        ("sirius-stop-after", Arity::Scalar),
        "STAGE",
        "for developers: end after program, launch, kernel, dependence, schedule, verify or codegen",
        |draft, value| {
            draft.build.sirius.stop_after = Some(stage("sirius-stop-after", value)?);
            Ok(())
        },
    ),
    own(
        TOLD,
        ("sirius-dump", Arity::List),
        "STAGE,...",
        "for developers: write what these stages found to standard error",
        |draft, value| {
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
        },
    ),
    // What it was called before.
    honour("sirius-orientation", &[], Arity::Scalar, layout),
    // Of lines that `-dryrun` shows; the folder is entered before anything is read.
    honour("sirius-folder", &[], Arity::Scalar, |_, _| Ok(())),
    honour("sirius-source", &[], Arity::Scalar, |draft, value| {
        draft.source = Some(value.to_owned());
        Ok(())
    }),
];

const BUILT: &str = "What is built";
const FUSED: &str = "What is fused";
const TUNED: &str = "Which variant of a fused kernel is taken";
const TENSOR: &str = "How tensor definitions (.tc) become kernels";
const TOLD: &str = "What is told";

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
