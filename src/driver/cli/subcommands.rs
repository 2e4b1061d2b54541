//! Our own subcommands, whose options clap reads. What is none of these is nvcc's, and stays for its table.
//!
//! Invariant: what clap is given here is all that shell completions and the manual page are made of.

use super::Invocation;
use super::descriptions::{Description, groups};
use super::options::{Arity, all_options};
use super::parse::UsageError;
use super::sirius_options::read_policy;
use super::values::undefined;
use crate::build::{Planning, ReportFormat, TensorForm, TensorTuning};
use crate::planner::{Planner, Priority, Score};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, Command, CommandFactory, Parser, ValueHint};
use clap_complete::Shell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What stands before the options.
#[derive(Parser)]
#[command(
    name = "sirius-rs",
    about = "A compiler for CUDA programs that fuses kernel launches",
    override_usage = "sirius-rs [options] files... [-o FILE]\n       \
                      sirius-rs COMMAND [options] files... [-o FILE]",
    disable_help_subcommand = true
)]
pub(super) enum Subcommand {
    /// Reports which launches can run as one and why others cannot; builds nothing
    Analyze(AnalysisOptions),
    /// Measures variants of fused kernels here, or with --pack makes a program that does it elsewhere
    Tune(TuneOptions),
    /// Writes the CUDA C++ of tensor definitions, or their header
    Tc(TensorCommand),
    /// Prints, as JSON, the plan that a planner makes of a problem (--sirius-dump=problem writes such files)
    Plan(PlanningOptions),
    /// Trains a policy for --sirius-priority=learned on the problems in a folder; runs the program sirius-rs-train
    Train(TrainingOptions),
    /// Prints a script that completes options in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the manual page
    Man,
}

/// What the help of a command that compiles ends with.
const COMPILER_OPTIONS: &str =
    "It takes a compiler's options as well; 'sirius-rs --help' lists them.";

/// What only `sirius-rs analyze` takes.
#[derive(Args)]
#[command(
    override_usage = "sirius-rs analyze [--format=FORM] [--dependences] [--why=FILE:LINE] [options] files... [-o FILE]",
    after_help = COMPILER_OPTIONS
)]
pub(super) struct AnalysisOptions {
    /// Form of the report (default: by the ending of -o FILE, else text)
    #[arg(long, value_enum, value_name = "FORM")]
    pub(super) format: Option<ReportFormat>,
    /// The text form lists the dependences, too; the other forms always have them
    #[arg(long)]
    pub(super) dependences: bool,
    /// Only what becomes of the launches at a place of the source, with reasons
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["format", "dependences"])]
    pub(super) why: Option<String>,
    /// Statistics (SIRIUS_STATS) of a run without and a run with fusion: how many launches were executed
    #[arg(long, value_name = "UNFUSED,FUSED", value_parser = two_files)]
    pub(super) with_stats: Option<[PathBuf; 2]>,
}

/// Two files with a comma between.
fn two_files(text: &str) -> Result<[PathBuf; 2], String> {
    match text.split(',').collect::<Vec<_>>()[..] {
        [one, other] if !one.is_empty() && !other.is_empty() => {
            Ok([PathBuf::from(one), PathBuf::from(other)])
        }
        _ => Err(String::from("it takes two files with a comma between")),
    }
}

/// What only `sirius-rs tune` takes.
#[derive(Args)]
#[command(
    override_usage = "sirius-rs tune [--pack] [options] files... -o FILE",
    after_help = COMPILER_OPTIONS
)]
pub(super) struct TuneOptions {
    /// Make one program that measures where it is run, and needs no compiler there
    #[arg(long)]
    pub(super) pack: bool,
}

/// What only `sirius-rs tc` takes.
#[derive(Args)]
#[command(
    override_usage = "sirius-rs tc [--emit=FORM] [--tune=SIZES] [--sirius-tc-...] FILE.tc [-o FILE]",
    after_help = COMPILER_OPTIONS
)]
pub(super) struct TensorCommand {
    /// What is written: kernels and launchers, the declarations that programs include, what is inferred,
    /// how it is scheduled, its implementation templates, what a caller passes, or which options '--tune' chose
    #[arg(long, value_enum, value_name = "FORM", default_value = "cuda")]
    pub(super) emit: TensorForm,
    /// Choose mapping, fusion and tiles of each definition for these sizes, such as M=128,K=64
    #[arg(long, value_name = "SIZES", value_parser = sizes, num_args = 0..=1, require_equals = true, default_missing_value = "")]
    tune: Option<Sizes>,
    /// A file of what '--tune' found before, which is taken without a search; what is found is added
    #[arg(long, value_name = "FILE", requires = "tune", value_hint = ValueHint::FilePath)]
    known: Option<PathBuf>,
}

impl TensorCommand {
    /// What is tuned.
    pub(super) fn tuning(&self) -> Option<TensorTuning> {
        self.tune.clone().map(|Sizes(sizes)| TensorTuning {
            sizes,
            known: self.known.clone(),
        })
    }
}

/// Numbers for sizes.
#[derive(Clone)]
struct Sizes(Vec<(String, i64)>);

/// Names with numbers, and commas between.
fn sizes(text: &str) -> Result<Sizes, String> {
    let each = text.split(',').filter(|part| !part.is_empty()).map(|part| {
        let (name, number) = part.split_once('=')?;
        let number: i64 = number.parse().ok()?;
        (0..=i64::from(i32::MAX))
            .contains(&number)
            .then(|| (name.to_owned(), number))
    });
    let all: Option<Vec<(String, i64)>> = each.collect();
    all.map(Sizes)
        .ok_or_else(|| String::from("it takes sizes with numbers, such as M=128,K=64"))
}

/// What `sirius-rs plan` takes.
#[derive(Args)]
#[command(
    override_usage = "sirius-rs plan [--planner=NAME] [--priority=NAME] [options] PROBLEM.json"
)]
pub(super) struct PlanningOptions {
    /// The problem
    #[arg(value_name = "PROBLEM.json", value_hint = ValueHint::FilePath)]
    problem: PathBuf,
    /// Who plans
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = PossibleValuesParser::new(Planner::ALL.map(Planner::name)))]
    planner: String,
    /// The order of the planner 'priority'
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = PossibleValuesParser::new(Priority::ALL.map(Priority::name)))]
    priority: String,
    /// The policy of the learned order
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    policy: Option<String>,
    /// Most seconds, which may be parts of one
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    budget: f64,
    /// Seed of annealing and of the learned order
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Most walks of annealing and of the learned order
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    walks: usize,
}

impl PlanningOptions {
    /// In the compiler's own form.
    ///
    /// # Errors
    /// The policy cannot be read.
    pub(super) fn settled(self) -> Result<Invocation, UsageError> {
        let mut planners = Planner::ALL.into_iter();
        let mut orders = Priority::ALL.into_iter();
        let planning = Planning {
            score: Score::Model,
            planner: planners
                .find(|planner| planner.name() == self.planner)
                .unwrap_or_default(),
            priority: orders
                .find(|priority| priority.name() == self.priority)
                .unwrap_or_default(),
            policy: self.policy.as_deref().map(read_policy).transpose()?,
            budget: Duration::try_from_secs_f64(self.budget).map_err(|error| {
                UsageError::Refused(format!("'--budget' takes seconds: {error}"))
            })?,
            seed: self.seed,
        };
        Ok(Invocation::Plan {
            problem: self.problem,
            planning,
            walks: self.walks,
        })
    }
}

/// What `sirius-rs train` takes, and passes on to the trainer.
#[derive(Args)]
#[command(
    override_usage = "sirius-rs train FOLDER -o POLICY [--seed=N] [--budget=SECONDS] [options]"
)]
pub(super) struct TrainingOptions {
    /// Where problem files are (*.json)
    #[arg(value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// The policy that is written
    #[arg(short, long, value_name = "POLICY", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// Seed of all that is random (default: 0)
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Training ends after so many seconds, with the best policy so far (default: 900)
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
    /// Rounds of policy optimisation (default: 150)
    #[arg(long, value_name = "N")]
    rounds: Option<u64>,
    /// Rounds of imitation before them (default: 40)
    #[arg(long, value_name = "N")]
    imitation: Option<u64>,
    /// So many generated problems beside those of the folder (default: 200)
    #[arg(long, value_name = "N")]
    generated: Option<u64>,
    /// A policy or checkpoint to go on from, without imitation
    #[arg(long, value_name = "POLICY", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,
}

impl TrainingOptions {
    /// The trainer's command line.
    pub(super) fn arguments(self) -> Vec<OsString> {
        let numbers = [
            ("--seed", self.seed),
            ("--budget", self.budget),
            ("--rounds", self.rounds),
            ("--imitation", self.imitation),
            ("--generated", self.generated),
        ];
        let mut arguments = vec![OsString::from("--output"), self.output.into()];
        for (name, number) in numbers {
            if let Some(number) = number {
                arguments.extend([name.into(), number.to_string().into()]);
            }
        }
        if let Some(from) = self.from {
            arguments.extend(["--from".into(), from.into()]);
        }
        // A folder may have any name.
        arguments.extend(["--".into(), self.folder.into()]);
        arguments
    }
}

/// What the first word and its options ask for; a compiler's options stay in `words`. `None` where the first word is no
/// command.
///
/// # Errors
/// An option of the command lacks its value, or has one that it does not know.
pub(super) fn take_subcommand(words: &mut Vec<String>) -> Result<Option<Asked>, UsageError> {
    let whole = Subcommand::command();
    let named = words.first().and_then(|name| whole.find_subcommand(name));
    let Some(named) = named else { return Ok(None) };
    let takes_files = has_compiler_options(named);
    let mut given = std::mem::take(words).into_iter();
    let mut own = vec![whole.get_name().to_owned()];
    own.extend(given.next());
    while let Some(word) = given.next() {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) => (option, Some(value)),
            None => (word.as_str(), None),
        };
        let asks_for_help = matches!(option, "-h" | "--help");
        let name = option.strip_prefix("--");
        let row = name.and_then(|name| {
            named
                .get_arguments()
                .find(|row| row.get_long() == Some(name))
        });
        if takes_files && row.is_none() && !asks_for_help {
            words.push(word);
            continue;
        }
        let wants_value = row.is_some_and(|row| row.get_action().takes_values());
        let next = (wants_value && value.is_none()).then(|| given.next());
        own.push(word);
        own.extend(next.flatten());
    }
    match Subcommand::try_parse_from(own) {
        Ok(command) => Ok(Some(Asked::Command(command))),
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Ok(Some(Asked::Help(error.to_string())))
        }
        Err(error) => Err(usage_error(named.get_name(), &error)),
    }
}

/// What is asked for.
pub(super) enum Asked {
    /// The command.
    Command(Subcommand),
    /// What it takes: the text that says so.
    Help(String),
}

/// Names of the commands.
pub(super) fn commands() -> Vec<String> {
    let named = Subcommand::command();
    let named = named.get_subcommands();
    named.map(|command| command.get_name().to_owned()).collect()
}

/// What only commands take: the spelling, and what it does.
pub(super) fn own_options() -> Vec<(String, String)> {
    let mut options = Vec::new();
    for command in Subcommand::command().get_subcommands() {
        let named = command.get_arguments().filter(|row| !row.is_positional());
        for row in named {
            let known = row.get_possible_values();
            let known: Vec<&str> = known.iter().map(PossibleValue::get_name).collect();
            let named = row.get_value_names().and_then(|names| names.first());
            let values = match (row.get_action().takes_values(), named) {
                (false, _) => String::new(),
                (true, Some(name)) if known.is_empty() => format!("={name}"),
                (true, _) => format!("={}", known.join("|")),
            };
            let spelled = format!(
                "{} --{}{values}",
                command.get_name(),
                row.get_long().unwrap_or_default()
            );
            options.push((
                spelled,
                row.get_help().map(ToString::to_string).unwrap_or_default(),
            ));
        }
    }
    options
}

/// Whether a command compiles, and so takes all that a compiler takes.
fn has_compiler_options(command: &Command) -> bool {
    matches!(command.get_name(), "analyze" | "tune" | "tc")
}

/// In the words that other options have.
fn usage_error(command: &str, error: &clap::Error) -> UsageError {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let named = text(ContextKind::InvalidArg);
    let option = named.split_whitespace().next().unwrap_or_default();
    match (error.kind(), error.get(ContextKind::ValidValue)) {
        (ErrorKind::InvalidValue, Some(ContextValue::Strings(known))) => {
            let value = text(ContextKind::InvalidValue);
            match value.is_empty() {
                true => UsageError::MissingValue(option.to_owned()),
                false => {
                    let name = option.trim_matches(['-', '<', '>']);
                    undefined(name, &value, known.iter().map(String::as_str))
                }
            }
        }
        (ErrorKind::MissingRequiredArgument, _) => match missing_option(error) {
            Some(option) => UsageError::Refused(format!("option '{option}' is missing")),
            None => UsageError::MissingValue(command.to_owned()),
        },
        _ => {
            let said = error.to_string();
            let first = said.lines().next().unwrap_or_default();
            UsageError::Refused(first.trim_start_matches("error: ").to_owned())
        }
    }
}

/// The option that another one needs.
fn missing_option(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let option = missing.iter().find(|each| each.starts_with("--"))?;
    let name = option.split(['=', '[', ' ']).next()?;
    Some(name.to_owned())
}

/// A script that completes the compiler's options and commands in a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole_command(), "sirius-rs", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// The commands and the tables of options in clap's form. It knows long names, and short ones of one letter.
pub(super) fn whole_command() -> Command {
    let mut command = Subcommand::command()
        .disable_help_flag(true)
        .args(compiler_arguments())
        .arg(
            Arg::new("files")
                .num_args(0..)
                .value_hint(ValueHint::FilePath),
        );
    let compiling: Vec<String> = (command.get_subcommands())
        .filter(|command| has_compiler_options(command))
        .map(|command| command.get_name().to_owned())
        .collect();
    for name in compiling {
        command = command.mut_subcommand(name, |command| {
            let files = Arg::new("files")
                .num_args(0..)
                .value_hint(ValueHint::FilePath);
            command
                .disable_help_flag(true)
                .args(compiler_arguments())
                .arg(files)
        });
    }
    command
}

fn compiler_arguments() -> impl Iterator<Item = Arg> {
    groups().flat_map(|group| {
        let options = group.options.into_owned().into_iter();
        options.map(move |option| argument(&option).help_heading(group.title))
    })
}

fn argument(option: &Description) -> Arg {
    let mut argument = Arg::new(option.option)
        .long(option.option)
        .help(option.text);
    let Some(row) = all_options().find(|row| row.long == option.option) else {
        return argument;
    };
    let mut longer = Vec::new();
    for short in row.short {
        match (short.chars().next(), short.len()) {
            (Some(letter), 1) => argument = argument.short(letter),
            _ => longer.push(format!("-{short}")),
        }
    }
    if !longer.is_empty() {
        argument = argument.help(format!("{} ({})", option.text, longer.join(", ")));
    }
    if row.arity == Arity::Flag {
        return argument.action(ArgAction::SetTrue);
    }
    let known: Vec<&'static str> = option.values.split('|').collect();
    let is_name = |value: &&str| {
        value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let argument = argument.action(ArgAction::Append).value_name(option.values);
    match option.values {
        "FILE" | "FILE,..." => argument.value_hint(ValueHint::FilePath),
        "DIR" | "DIR,..." => argument.value_hint(ValueHint::DirPath),
        _ if known.len() > 1 && known.iter().all(is_name) => argument.value_parser(known),
        _ => argument,
    }
}
