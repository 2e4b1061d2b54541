//! What an option is: how a row of the option tables is made, and how values are read.
//!
//! A row says how an option is spelled, what it takes, and what becomes of it: it is honoured (by
//! changing the [`Draft`]), accepted without effect, or refused with a sentence. Invariant:
//! everything that the compiler knows about an option stands in its row, but for what `--help` says of
//! nvcc's, which is a row of [`super::descriptions`].

use super::draft::{Draft, Information};
use super::nvcc_options::NVCC_OPTIONS;
use super::parse::UsageError;
use super::sirius_options::SIRIUS_OPTIONS;
use std::num::NonZero;

/// Every option: nvcc's, then ours.
pub(super) fn all_options() -> impl Iterator<Item = &'static OptionRow> {
    NVCC_OPTIONS.iter().chain(SIRIUS_OPTIONS)
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arity {
    /// Nothing.
    Flag,
    /// One value; the last one counts, and a repetition with another value warns.
    Scalar,
    /// A comma-separated list; repetitions add to it.
    List,
    /// One value that may contain commas; repetitions add to it.
    Repeated,
}

/// What an honoured option does with its value (empty for flags); called once for each list element.
pub(super) type Effect = fn(&mut Draft, &str) -> Result<(), UsageError>;

/// What becomes of an option.
pub(super) enum Class {
    /// It changes the draft.
    Honour(Effect),
    /// It is accepted; programs build the same without it.
    Ignore,
    /// It is refused, with this sentence.
    Reject(&'static str),
}

/// One option.
pub(super) struct OptionRow {
    /// Its long name, spelled with two dashes.
    pub long: &'static str,
    /// Its short names, spelled with one dash.
    pub short: &'static [&'static str],
    /// What it takes.
    pub arity: Arity,
    /// Whether a value may follow the short name directly, as in `-lm`.
    pub joined: bool,
    /// What becomes of it.
    pub class: Class,
    /// What `--help` says of it, where that is said here: the title of its group, its values and a line or two.
    pub shown: Option<[&'static str; 3]>,
}

impl std::fmt::Debug for OptionRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.long)
    }
}

pub(super) const fn row(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
    class: Class,
) -> OptionRow {
    OptionRow {
        long,
        short,
        arity,
        joined: false,
        class,
        shown: None,
    }
}

/// An option of our own: the title of its group in `--help`, its long name and what it takes, its values, what it does in
/// words, and its effect.
pub(super) const fn own(
    title: &'static str,
    (long, arity): (&'static str, Arity),
    values: &'static str,
    text: &'static str,
    effect: Effect,
) -> OptionRow {
    let mut own = honour(long, &[], arity, effect);
    own.shown = Some([title, values, text]);
    own
}

pub(super) const fn honour(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
    effect: Effect,
) -> OptionRow {
    row(long, short, arity, Class::Honour(effect))
}

pub(super) const fn ignore(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
) -> OptionRow {
    row(long, short, arity, Class::Ignore)
}

pub(super) const fn reject(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
    sentence: &'static str,
) -> OptionRow {
    row(long, short, arity, Class::Reject(sentence))
}

pub(super) const fn joined(mut row: OptionRow) -> OptionRow {
    row.joined = true;
    row
}

pub(super) fn inform(draft: &mut Draft, information: Information) -> Result<(), UsageError> {
    draft.information.get_or_insert(information);
    Ok(())
}

pub(super) fn integer(option: &'static str, value: &str) -> Result<u32, UsageError> {
    value.parse().map_err(|_| UsageError::UndefinedValue {
        option: option.to_owned(),
        value: value.to_owned(),
        instead: format!("it takes a whole number from 0 to {}", u32::MAX),
    })
}

/// How many sources are read at the same time where the command does not say: below a `make` that counts its jobs, one.
pub(super) fn at_once_below(makeflags: Option<&str>) -> usize {
    match makeflags.is_some_and(|flags| flags.contains("--jobserver")) {
        true => 1,
        false => processors(),
    }
}

pub(super) fn sources_at_once(draft: &mut Draft, value: &str) -> Result<(), UsageError> {
    draft.build.sources_at_once = match integer("threads", value)? {
        0 => processors(),
        threads => usize::try_from(threads).unwrap_or(usize::MAX),
    };
    Ok(())
}

/// How many processors this machine has.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

pub(super) fn static_template_stubs(draft: &mut Draft, value: &str) -> Result<(), UsageError> {
    draft.build.kernel_symbols.local_templates = Some(boolean(value)?);
    Ok(())
}

pub(super) fn hidden_device_entities(draft: &mut Draft, value: &str) -> Result<(), UsageError> {
    draft.build.kernel_symbols.hidden = Some(boolean(value)?);
    Ok(())
}

pub(super) fn boolean(value: &str) -> Result<bool, UsageError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(UsageError::NotBoolean(value.to_owned())),
    }
}
