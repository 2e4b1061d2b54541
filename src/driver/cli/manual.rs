//! The manual page, made of the tables that `--help` is made of.

use super::descriptions::VARIABLES;
use super::subcommands::{own_options, whole_command};
use crate::build::Optimisation;
use clap_mangen::Man;
use roff::{Roff, bold, roman};

/// The page in the form that `man` reads.
pub(super) fn manual_page() -> String {
    let command = whole_command().long_about(
        "Compiles CUDA programs with nvcc's command line, finds kernel launches that can run as one, proves it, and \
         links a program that gives the same results with fewer launches.\n\n\
         Long names of options begin with two dashes, short ones with one. A value stands behind '=' or a space.",
    );
    let page = Man::new(command.clone()).manual("sirius-rs");
    let mut commands = Roff::new();
    commands.control("SH", ["COMMANDS"]);
    for subcommand in command.get_subcommands() {
        let about = subcommand.get_about().map(ToString::to_string);
        entry(
            &mut commands,
            subcommand.get_name(),
            &about.unwrap_or_default(),
        );
    }
    for (spelled, what) in own_options() {
        entry(&mut commands, &spelled, &what);
    }
    let mut tables = Roff::new();
    tables.control("SH", ["NAMES FOR --sirius-opt"]);
    for optimisation in Optimisation::ALL {
        entry(&mut tables, optimisation.name(), optimisation.description());
    }
    tables.control("SH", ["ENVIRONMENT"]);
    for (name, what) in VARIABLES {
        entry(&mut tables, name, what);
    }
    tables.control("SH", ["EXIT STATUS"]);
    tables.text([roman(
        "0 where all went well; 1 where the command line is wrong, a tool or file is missing, the preprocessor, host \
         compiler or linker refuses, or an output cannot be written; 2 where clang refuses a CUDA source; with -run, that \
         of the program.",
    )]);
    tables.control("SH", ["SEE ALSO"]);
    tables.text([bold("nvcc"), roman("(1), "), bold("clang"), roman("(1)")]);

    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = page.render_title(&mut text);
    let _ = page.render_name_section(&mut text);
    let _ = page.render_synopsis_section(&mut text);
    let _ = page.render_description_section(&mut text);
    let _ = commands.to_writer(&mut text);
    let _ = page.render_options_section(&mut text);
    let _ = tables.to_writer(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// A name, and behind it what it is.
fn entry(page: &mut Roff, name: &str, what: &str) {
    page.control("TP", [])
        .text([bold(name)])
        .text([roman(what)]);
}
