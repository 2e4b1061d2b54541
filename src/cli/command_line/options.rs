//! What an option is: how a row of the option tables is made, and how values are read.
//!
//! A row says how an option is spelled, what it takes, and what becomes of it: it is honoured (by
//! changing the [`Draft`]), accepted without effect, or refused with a sentence. Invariant:
//! everything that the compiler knows about an option stands in its row, but for what `--help` says of
//! it, which is a row of [`super::super::descriptions`].

use super::super::draft::{Draft, Information};
use super::super::nvcc_options::NVCC_OPTIONS;
use super::super::parse::UsageError;
use super::super::sirius_options::SIRIUS_OPTIONS;

/// Every option: nvcc's, then ours.
pub(in crate::cli) fn all_options() -> impl Iterator<Item = &'static OptionRow> {
    NVCC_OPTIONS.iter().chain(SIRIUS_OPTIONS)
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Arity {
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
pub(in crate::cli) type Effect = fn(&mut Draft, &str) -> Result<(), UsageError>;

/// What becomes of an option.
pub(in crate::cli) enum Class {
    /// It changes the draft.
    Honour(Effect),
    /// It is accepted; programs build the same without it.
    Ignore,
    /// It is refused, with this sentence.
    Reject(&'static str),
}

/// One option.
pub(in crate::cli) struct OptionRow {
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
}

impl std::fmt::Debug for OptionRow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.long)
    }
}

pub(in crate::cli) const fn row(
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
    }
}

pub(in crate::cli) const fn honour(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
    effect: Effect,
) -> OptionRow {
    row(long, short, arity, Class::Honour(effect))
}

pub(in crate::cli) const fn ignore(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
) -> OptionRow {
    row(long, short, arity, Class::Ignore)
}

pub(in crate::cli) const fn reject(
    long: &'static str,
    short: &'static [&'static str],
    arity: Arity,
    sentence: &'static str,
) -> OptionRow {
    row(long, short, arity, Class::Reject(sentence))
}

pub(in crate::cli) const fn joined(mut row: OptionRow) -> OptionRow {
    row.joined = true;
    row
}

pub(in crate::cli) fn inform(
    draft: &mut Draft,
    information: Information,
) -> Result<(), UsageError> {
    draft.information.get_or_insert(information);
    Ok(())
}

pub(in crate::cli) fn integer(option: &'static str, value: &str) -> Result<u32, UsageError> {
    value.parse().map_err(|_| UsageError::UndefinedValue {
        option: option.to_owned(),
        value: value.to_owned(),
        instead: format!("it takes a whole number from 0 to {}", u32::MAX),
    })
}

pub(in crate::cli) fn static_template_stubs(
    draft: &mut Draft,
    value: &str,
) -> Result<(), UsageError> {
    draft.build.kernel_symbols.local_templates = Some(boolean(value)?);
    Ok(())
}

pub(in crate::cli) fn hidden_device_entities(
    draft: &mut Draft,
    value: &str,
) -> Result<(), UsageError> {
    draft.build.kernel_symbols.hidden = Some(boolean(value)?);
    Ok(())
}

pub(in crate::cli) fn boolean(value: &str) -> Result<bool, UsageError> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(UsageError::NotBoolean(value.to_owned())),
    }
}
