//! The stitched way: statements that move more than they compute become kernels by implementation templates.
//!
//! A template says which statements are one kernel, how its threads share them, and by which of four compositions a value
//! reaches those that read it: in the registers of its thread, by the lanes of a warp, through the shared memory of a block,
//! or, where statements need nothing of each other, packed side by side. Templates are those of FusionStitching (Zheng et al.,
//! arXiv 1811.05213 and 1911.11576), their schedules of rows and columns those of its predecessor.
//!
//! | module | what it does |
//! |---|---|
//! | [`template`] | templates, and their text |
//! | [`parser`] | the text back to templates |
//! | `consistency` | which statements can share a kernel under a schedule |
//! | `again` | values that are computed again where they are read |
//! | `build` | templates to kernels, with all that is wrong with one |
//! | `cost`, `choose` | the template that a model finds best |
//!
//! Invariant: a template may be given by hand; kernels come only of one that is consistent, by the dependences that
//! [`super::transform::legality`] finds.

mod again;
mod build;
mod choose;
mod consistency;
mod cost;
pub mod parser;
mod statements;
pub mod template;

use super::Options;
use super::fault::Fault;
use super::mapping::{self, Mapping, Step};
use super::program::Function;
use template::Template;

/// The template that a definition gets without one by hand.
pub fn chosen(function: &Function, options: Options) -> Template {
    choose::with_again(function, options)
}

/// A definition as a template has it: without the values that are computed again.
#[derive(Clone, Debug)]
pub struct Stitched {
    /// The definition.
    pub function: Function,
    /// What is left of its template; none: other mappings say how statements become kernels.
    pub template: Option<Template>,
    /// What is chosen for it.
    pub options: Options,
}

impl Stitched {
    /// Takes a definition by a template, where there is one, or where the options want one.
    ///
    /// # Errors
    /// A value of the template that cannot be computed again.
    pub fn new(
        function: &Function,
        template: Option<&Template>,
        options: Options,
    ) -> Result<Self, Fault> {
        let template = match (template, options.mapping) {
            (Some(template), _) => template.clone(),
            (None, Mapping::Stitched) => chosen(function, options),
            (None, _) => {
                return Ok(Self {
                    function: function.clone(),
                    template: None,
                    options,
                });
            }
        };
        let (function, template) = again::without(function, &template)?;
        Ok(Self {
            function,
            template: Some(template),
            options,
        })
    }

    /// The kernels.
    ///
    /// # Errors
    /// What is wrong with the template, at its place in the template's text.
    pub fn steps(&self) -> Result<Vec<Step<'_>>, Fault> {
        match &self.template {
            Some(template) => build::build(&self.function, template, self.options),
            None => Ok(mapping::map(&self.function, self.options)),
        }
    }
}

/// The kernels that a model finds best, where all values are kept.
pub(super) fn map(function: &Function, options: Options) -> Option<Vec<Step<'_>>> {
    let (template, _) = choose::choose(function, options);
    build::build(function, &template, options).ok()
}
