//! `-M…`: what is asked of dependency files, and how clang is asked for them.

use std::path::{Path, PathBuf};

/// What is asked of dependency files, for every source alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependencyOptions {
    /// `-M` or `-MM`: the rule instead of a compilation, in clang's spelling.
    pub only: Option<&'static str>,
    /// `-MD` or `-MMD`: the rule beside a compilation, in clang's spelling.
    pub beside: Option<&'static str>,
    /// `-MF`.
    pub file: Option<String>,
    /// `-MT`.
    pub target: Option<String>,
    /// `-MP`.
    pub phony: bool,
}

impl DependencyOptions {
    /// Whether anything is asked.
    pub fn is_asked(&self) -> bool {
        self.only.is_some() || self.beside.is_some()
    }

    /// The front end's arguments for a source that `output` is made of: by default a rule for that, in
    /// a file beside it.
    pub fn arguments(&self, source: &Path, output: &Path) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let mut file = self.file.clone();
        words.extend(self.only.map(str::to_owned));
        if let Some(beside) = self.beside {
            words.push(beside.to_owned());
            let beside_output = if output.extension().is_some_and(|ending| ending == "o") {
                output.with_extension("d")
            } else {
                PathBuf::from(format!("{}.d", output.display()))
            };
            file.get_or_insert_with(|| beside_output.display().to_string());
        }
        if let Some(file) = file {
            words.extend(["-MF".to_owned(), file]);
        }
        let stem = source.file_stem().unwrap_or_default();
        let target = match self.only {
            // The rule's target is the object, wherever the rule itself goes.
            Some(_) => Path::new(stem).with_extension("o").display().to_string(),
            None => output.display().to_string(),
        };
        words.extend(["-MT".to_owned(), self.target.clone().unwrap_or(target)]);
        if self.phony {
            words.push("-MP".to_owned());
        }
        words
    }
}
