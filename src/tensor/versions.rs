//! Versions of a definition: kernels for all sizes, and others for sizes of which it is known that they are better there.
//!
//! Invariant: each version computes what the definition says, whatever the sizes are: the launcher's choice among them is one
//! of speed alone.

use super::Options;
use super::fault::Fault;
use super::mapping::Step;
use super::program::{Function, SymbolKind};
use super::split::{Few, Pieces, split};
use super::stitch::Stitched;
use super::stitch::template::Template;

/// What a version is made by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Its options.
    pub options: Options,
    /// Its template, where that does not follow from options.
    pub template: Option<Template>,
}

impl From<Options> for Chosen {
    fn from(options: Options) -> Self {
        Self {
            options,
            template: None,
        }
    }
}

/// What is chosen for a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// For all sizes.
    pub general: Chosen,
    /// For some sizes, each in the order of the definition; the first ones are best known.
    pub known: Vec<(Vec<i64>, Chosen)>,
}

impl From<Options> for Choice {
    fn from(options: Options) -> Self {
        Self {
            general: options.into(),
            known: Vec::new(),
        }
    }
}

/// A definition in all its versions.
#[derive(Clone, Debug)]
pub struct Versions {
    /// For all sizes.
    pub general: Stitched,
    /// For some sizes.
    pub known: Vec<(When, Stitched)>,
}

/// For which sizes a version is.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// These, in the order of the definition.
    Sizes(Vec<i64>),
    /// Where one of these holds.
    Few(Vec<Few>),
}

/// The kernels of a version for some sizes.
pub struct Version<'v> {
    /// For which sizes.
    pub when: &'v When,
    /// The definition as the version has it.
    pub function: &'v Function,
    /// Its kernels.
    pub steps: Vec<Step<'v>>,
}

/// Versions for some sizes at most: each one makes the program larger.
const MOST_KNOWN: usize = 8;

impl Versions {
    /// Takes a definition by a template, where there is one, or by options. A template by hand is for all sizes.
    ///
    /// # Errors
    /// A value of the template that cannot be computed again.
    pub fn new(
        function: &Function,
        template: Option<&Template>,
        choice: Choice,
    ) -> Result<Self, Fault> {
        let sizes = function.symbols.iter();
        let sizes = sizes.filter(|symbol| symbol.kind == SymbolKind::Size);
        let count = sizes.count();
        let mut choice = choice;
        choice
            .known
            .retain(|(sizes, _)| sizes.len() == count && template.is_none());
        if count == 0 && !choice.known.is_empty() {
            // All that it is called with is known.
            choice.general = choice.known.swap_remove(0).1;
            choice.known.clear();
        }
        let Chosen {
            options,
            template: chosen,
        } = choice.general;
        let template = template.or(chosen.as_ref());
        let known = choice.known.into_iter().take(MOST_KNOWN);
        let known = known.filter_map(|(sizes, Chosen { options, template })| {
            let version = Stitched::new(function, template.as_ref(), options).ok()?;
            Some((When::Sizes(sizes), version))
        });
        let mut known: Vec<(When, Stitched)> = known.collect();
        let pieces = split(function, options).filter(|_| template.is_none());
        let general = match pieces {
            Some(Pieces { function, when }) if when.is_empty() => {
                Stitched::new(&function, None, options)?
            }
            Some(Pieces {
                function: split,
                when,
            }) => {
                let version = Stitched::new(&split, None, options)?;
                known.push((When::Few(when), version));
                Stitched::new(function, None, options)?
            }
            None => Stitched::new(function, template, options)?,
        };
        Ok(Self { general, known })
    }

    /// The versions for some sizes whose kernels are others than those for all sizes, which are given.
    pub fn others(&self, general: &[Step<'_>]) -> Vec<Version<'_>> {
        let mut found: Vec<Version<'_>> = Vec::new();
        for (when, version) in &self.known {
            // One that cannot be made is none.
            let Ok(steps) = version.steps() else { continue };
            let is_general = version.function == self.general.function && steps == general;
            if !is_general && found.iter().all(|other| other.when != when) {
                found.push(Version {
                    when,
                    function: &version.function,
                    steps,
                });
            }
        }
        found
    }
}
