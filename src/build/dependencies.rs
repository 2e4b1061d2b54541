//! `-M…`: what is asked of dependency files, how clang is asked for them, and by which names, nvcc's.

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
    /// What the command makes, where it says that.
    pub output: Option<PathBuf>,
    /// Else where each source's file goes.
    pub directory: PathBuf,
}

impl DependencyOptions {
    /// Whether anything is asked.
    pub fn is_asked(&self) -> bool {
        self.only.is_some() || self.beside.is_some()
    }

    /// The front end's arguments for a source, whose rule goes to `place` where it stands beside a compilation.
    pub fn arguments(&self, source: &Path, place: &Path) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        match (self.only, self.beside) {
            (Some(only), _) => {
                words.push(only.to_owned());
                let file = self.file.iter().flat_map(|file| ["-MF", file]);
                words.extend(file.map(str::to_owned));
            }
            (None, Some(beside)) => {
                words.extend([beside, "-MF"].map(str::to_owned));
                words.push(place.display().to_string());
            }
            (None, None) => return words,
        }
        // The rule's target is the object, wherever a rule that is all there is goes.
        let named = self.output.as_ref().filter(|_| self.only.is_none());
        let target = named.cloned().unwrap_or_else(|| self.of(source, "o"));
        let target = target.display().to_string();
        words.extend(["-MT".to_owned(), self.target.clone().unwrap_or(target)]);
        if self.phony {
            words.push("-MP".to_owned());
        }
        words
    }

    /// The file of a rule beside a compilation: beside what is made, by its name.
    pub fn file_of(&self, source: &Path) -> PathBuf {
        match (&self.file, &self.output) {
            (Some(file), _) => file.into(),
            (None, Some(output)) => output.with_extension("d"),
            (None, None) => self.of(source, "d"),
        }
    }

    fn of(&self, source: &Path, ending: &str) -> PathBuf {
        let stem = source.file_stem().unwrap_or_default();
        self.directory.join(Path::new(stem).with_extension(ending))
    }
}
