//! The texts of `--help` and `--version`.

use super::descriptions::{Description, Group, NVCC_GROUPS, VARIABLES, own_groups};
use super::options::{Arity, Class, all_options};
use super::subcommands::own_options;
use crate::build::Optimisation;
use std::fmt::Write as _;

/// How `sirius-rs` is used, with every option of the table.
pub(super) fn help() -> String {
    let mut text = String::from(
        "\
Usage: sirius-rs [options] files... [-o FILE]
       sirius-rs analyze [options] files... [-o FILE]
       sirius-rs tune [--pack] [options] files... -o FILE
       sirius-rs plan [options] PROBLEM.json
       sirius-rs train FOLDER -o POLICY [options]
       sirius-rs completions SHELL
       sirius-rs man

Compiles CUDA programs with nvcc's command line, fuses kernel launches that it can prove to be
one, and links a program with the same results. 'analyze' reports and builds nothing. 'tune'
measures variants of fused kernels here, or with --pack makes a program that does it elsewhere.
'plan' and 'train' are for planners of fusion, whose problems --sirius-dump=problem writes.
Each command says with --help what it takes. 'completions' and 'man' print a shell's script and
the manual page.

Options of sirius-rs
",
    );
    groups(&mut text, &own_groups());
    text.push_str("\n Of the commands\n");
    for (spelled, what) in own_options() {
        entry(&mut text, &spelled, &what);
    }
    text.push_str("\n Names for --sirius-opt\n");
    for optimisation in Optimisation::ALL {
        entry(&mut text, optimisation.name(), optimisation.description());
    }
    text.push_str("\nOptions of nvcc\n");
    groups(&mut text, NVCC_GROUPS);
    text.push_str(
        "
Options of the host compiler (-pthread -fPIC -Wall -march=... -Wl,...) are passed on.

Environment
",
    );
    for (name, what) in VARIABLES {
        entry(&mut text, name, what);
    }
    text
}

fn groups(text: &mut String, groups: &[Group]) {
    for group in groups {
        let _ = writeln!(text, "\n {}", group.title);
        for option in group.options.iter() {
            let (spelled, what) = described(option);
            entry(text, &spelled, &what);
        }
    }
}

/// An option as it is spelled, and what it does.
fn described(option: &Description) -> (String, String) {
    let Some(row) = all_options().find(|row| row.long == option.option) else {
        return (option.option.to_owned(), option.text.to_owned());
    };
    let mut spelled = format!("--{}", row.long);
    if row.arity != Arity::Flag {
        let _ = write!(spelled, "={}", option.values);
    }
    for short in row.short {
        let _ = write!(spelled, " (-{short})");
    }
    let what = match row.class {
        Class::Honour(_) => option.text.to_owned(),
        Class::Ignore => format!("{} [accepted, changes nothing]", option.text),
        Class::Reject(sentence) => format!("{} [refused: {sentence}]", option.text),
    };
    (spelled, what)
}

/// The column in which what an option does begins, and the one before which lines end.
const COLUMN: usize = 36;
const WIDTH: usize = 100;

/// A line for an option, or several.
fn entry(text: &mut String, spelled: &str, what: &str) {
    let mut line = format!("  {spelled}");
    if line.len() + 2 > COLUMN {
        let _ = writeln!(text, "{line}");
        line.clear();
    }
    let mut words = what.split(' ').peekable();
    while words.peek().is_some() {
        line = format!("{line:<COLUMN$}");
        line.push_str(words.next().unwrap_or_default());
        while let Some(word) = words.next_if(|word| line.len() + 1 + word.len() <= WIDTH) {
            line.push(' ');
            line.push_str(word);
        }
        let _ = writeln!(text, "{line}");
        line.clear();
    }
}

/// What `--version` prints: CMake looks for the first line's words and for `V…`, the toolkit's
/// full version.
pub(super) fn version(toolkit_release: Option<String>) -> String {
    let mut text = format!(
        "nvcc: NVIDIA (R) Cuda compiler driver\n\
         The line above is for build systems; this is sirius-rs {}, not a product of NVIDIA\n",
        env!("CARGO_PKG_VERSION")
    );
    match toolkit_release {
        Some(full) => {
            let short = full.split('.').take(2).collect::<Vec<_>>().join(".");
            let _ = writeln!(text, "Cuda compilation tools, release {short}, V{full}");
        }
        None => text.push_str("No CUDA toolkit was found; run scripts/setup\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_option_is_described_once() {
        let mut described: BTreeMap<&str, Description> = BTreeMap::new();
        for option in
            crate::driver::cli::descriptions::groups().flat_map(|group| group.options.into_owned())
        {
            let before = described.insert(option.option, option);
            assert!(before.is_none(), "{} is described twice", option.option);
        }
        // Those that only lines of `-dryrun` have, and a former name.
        let hidden = ["sirius-folder", "sirius-source", "sirius-orientation"];
        for row in all_options().filter(|row| !hidden.contains(&row.long)) {
            let option = described.remove(row.long);
            let option = option.unwrap_or_else(|| panic!("{} is not described", row.long));
            let takes_values = row.arity != Arity::Flag;
            assert_eq!(takes_values, !option.values.is_empty(), "{}", row.long);
            assert!(!option.text.is_empty(), "{}", row.long);
        }
        assert!(
            described.is_empty(),
            "there are no {:?}",
            described.keys().collect::<Vec<_>>()
        );
    }

    #[test]
    fn lines_fit_a_terminal() {
        for line in help().lines() {
            assert!(line.len() <= WIDTH, "{line}");
        }
    }
}
