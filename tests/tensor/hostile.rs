//! Texts that are almost definitions: each is accepted or refused, and what is accepted is translated.

use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use sirius_rs::tensor::{Options, check, translate};
use std::path::PathBuf;

/// Changed texts for each case.
const CHANGES: usize = 12;

/// Cuts, swaps and repeats words of all cases.
///
/// # Errors
/// The text of which a panic came.
pub fn texts(cases: &[PathBuf]) -> Result<(), Failed> {
    let mut random = StdRng::seed_from_u64(1);
    let mut accepted = 0;
    for case in cases {
        let text = std::fs::read_to_string(case)?;
        let source: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("#>"))
            .collect();
        let source = source.join("\n");
        let words = words(&source);
        // Some are large on purpose.
        if words.is_empty() || words.len() > 600 {
            continue;
        }
        for _ in 0..CHANGES {
            let mut changed = words.clone();
            for _ in 0..random.random_range(1..4) {
                let place = random.random_range(0..changed.len());
                let other = random.random_range(0..changed.len());
                match random.random_range(0..5) {
                    0 => drop(changed.remove(place)),
                    1 => changed.swap(place, other),
                    2 => changed.insert(place, changed[other]),
                    3 => changed[place] = changed[other],
                    _ => changed[place] = STRANGE.choose(&mut random).copied().unwrap_or("0"),
                }
                if changed.is_empty() {
                    changed.push("def");
                }
            }
            let text = changed.concat();
            let outcome = std::panic::catch_unwind(|| match check(&text) {
                Ok(_) => translate("x.tc", &text, Options::default()).is_ok(),
                Err(faults) => {
                    let rendered = faults.iter().map(|fault| fault.render("x.tc", &text, true));
                    assert!(rendered.collect::<String>().contains("x.tc:"));
                    false
                }
            });
            accepted += usize::from(outcome.map_err(|_| format!("a panic for:\n{text}"))?);
        }
    }
    match accepted > cases.len() / 5 {
        true => Ok(()),
        false => Err(format!("only {accepted} changed texts are accepted").into()),
    }
}

/// Names, numbers, blanks and single signs.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let end = match is_word(first) {
            true => rest
                .find(|character| !is_word(character))
                .unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

const STRANGE: &[&str] = &[
    "0",
    "1",
    "9223372036854775807",
    "4294967296",
    "-",
    "(",
    ")",
    "{",
    "}",
    ":",
    ",",
    "+=!",
    "=",
    "where",
    "for",
    "in",
    "i",
    "k",
    "N",
    "A",
    "B",
    ".0",
    ".7",
    "1e300",
    "%",
    "/ 0",
    "% 0",
    "/ 2",
    "half",
    "bool",
    "é",
    "\"",
    "concat",
    "exp",
    " i in 0:N ",
    "\0",
];
