//! Text that several mappings make of one definition, which stands in a program once.

use std::collections::{BTreeSet, HashMap};

/// What stands in a program already, by its text and what it uses.
#[derive(Default)]
pub struct Known {
    pieces: HashMap<(String, BTreeSet<usize>), (usize, String)>,
}

impl Known {
    /// The text of a namespace, whose functions and types are those of an earlier one where they have the same text and use
    /// the same.
    pub fn once(&mut self, namespace: &str, text: &str) -> String {
        let mut pieces = Vec::new();
        // What a name stands for here; several functions of one name are all meant.
        let mut numbers: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        let all: Vec<&str> = text.split("\n\n").collect();
        let count = |name| {
            all.iter()
                .filter(|piece| declared(piece) == Some(name))
                .count()
        };
        for piece in &all {
            let Some(name) = declared(piece).filter(|name| count(*name) == 1) else {
                pieces.push((*piece).to_owned());
                continue;
            };
            let is_word = |character: char| !character.is_alphanumeric() && character != '_';
            let uses = piece.split(is_word).filter_map(|word| numbers.get(word));
            let uses: BTreeSet<usize> = uses.flatten().copied().collect();
            let new = (self.pieces.len(), namespace.to_owned());
            let key = (piece.trim().to_owned(), uses);
            let (number, owner) = self.pieces.entry(key).or_insert(new);
            numbers.entry(name).or_default().insert(*number);
            pieces.push(match owner == namespace {
                true => (*piece).to_owned(),
                false => format!("using {owner}::{name};"),
            });
        }
        pieces.join("\n\n")
    }
}

/// The function or type that a piece of a source declares.
fn declared(piece: &str) -> Option<&str> {
    let lines = piece.trim().lines();
    let mut lines = lines.filter(|line| !line.starts_with("//") && !line.starts_with("template"));
    let first = lines.next()?;
    if let Some(rest) = first.strip_prefix("struct ") {
        return rest.split_whitespace().next();
    }
    let bounds = first.split_once("__launch_bounds__(");
    let behind = bounds.and_then(|(_, rest)| rest.split_once(')'));
    let rest = behind.map_or(first, |(_, rest)| rest);
    let before = rest.split_once('(')?.0;
    before.split_whitespace().next_back()
}
