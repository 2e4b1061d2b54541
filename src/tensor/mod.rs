//! Tensor Comprehensions: a language in which a program says *what* a tensor is, and the compiler writes the kernels.
//!
//! The stages of this folder, in order:
//!
//! | stage | from | to |
//! |---|---|---|
//! | [`syntax`] | text | [`syntax::tree::Definition`]s |
//! | [`ranges`] | trees | [`program::Function`]s: typed statements, each index with its range |
//! | [`mapping`] | a function | [`mapping::Step`]s: kernels and loops of the host |
//! | [`polyhedral`] | a function | steps by isl's scheduler, where a strategy of fusion is asked for |
//! | [`transform`] | steps | steps whose kernels are tiled, or compute rows by whole blocks |
//! | [`stitch`] | a function | steps by implementation templates, instead of the two stages before |
//! | [`split`] | a function | a function whose sums across blocks are sums of pieces |
//! | [`versions`] | options for sizes | steps for these, beside those for all sizes |
//! | [`emit`] | steps | CUDA C++: kernels, a launcher, a header |
//! | [`signature`] | typed statements | JSON: what a caller passes |
//!
//! The language follows Vasilache et al., "Tensor Comprehensions" (2018), figure 14 and §3; `docs/tensor.md` says what is
//! different. Nothing here sees LLVM, and what comes out is ordinary CUDA C++.
//!
//! Invariant: a definition that comes out of [`ranges`] reads no element outside its tensor, and none that nothing has
//! defined, whatever values and sizes it gets: what is not proven is checked by the launcher or guarded at the access, and
//! what can be neither is refused. Every mapping computes what [`mapping::Mapping::Identity`] computes, up to the order in
//! which [`transform::Reductions`] joins the terms of a row.

pub mod builtins;
pub mod canonical;
pub mod describe;
pub mod emit;
pub mod fault;
pub mod linear;
pub mod mapping;
mod points;
pub mod polyhedral;
pub mod program;
pub mod ranges;
pub mod signature;
pub mod split;
pub mod stitch;
pub mod syntax;
pub mod transform;
pub mod types;
pub mod versions;

use fault::Fault;
use mapping::{Mapping, Scatter};
use polyhedral::Strategy;
use split::Split;
use stitch::template::{Teams, Template};
use transform::{Reductions, SharedMemory, TensorCores, TileSizes};
use versions::{Choice, Versions};

/// What is chosen for a whole file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `--sirius-tc-mapping`.
    pub mapping: Mapping,
    /// `--sirius-tc-scatter`.
    pub scatter: Scatter,
    /// `--sirius-tc-reductions`.
    pub reductions: Reductions,
    /// `--sirius-tc-fusion`.
    pub fusion: Strategy,
    /// `--sirius-tc-tile`; else by the rule of [`transform::tiles`].
    pub tile: Option<TileSizes>,
    /// `--sirius-tc-tensor-cores`.
    pub tensor_cores: TensorCores,
    /// `--sirius-tc-stages`; else by the rule of [`transform::tiles::stages`].
    pub stages: Option<u8>,
    /// `--sirius-tc-shared`.
    pub shared: SharedMemory,
    /// `--sirius-tc-templates`.
    pub teams: Teams,
    /// `--sirius-tc-split`.
    pub split: Split,
}

/// The CUDA C++ of a file of definitions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// Kernels and launchers; it includes the header by its name.
    pub source: String,
    /// What a program includes: one declaration a definition.
    pub header: String,
}

/// Compiles the definitions of one file. `name` is the file as messages name it, and its last part names the header: of
/// `nets/net.tc` that is `net.tc.h`.
///
/// # Errors
/// What is wrong with the text, in the order of its lines.
pub fn translate(name: &str, text: &str, options: Options) -> Result<Translation, Vec<Fault>> {
    match translate_by(name, text, &mut |_| options, &[]) {
        Ok(made) => Ok(made),
        Err(Wrong::Definitions(faults)) => Err(faults),
        // There is none.
        Err(Wrong::Template(fault)) => Err(vec![fault]),
    }
}

/// What is wrong with definitions, or with templates for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The text of the definitions.
    Definitions(Vec<Fault>),
    /// The text of the templates.
    Template(Fault),
}

/// Options for each definition.
pub type OptionsOf<'a> = dyn FnMut(&program::Function) -> Options + 'a;

/// Options for each definition, and others for some sizes.
pub type ChoiceOf<'a> = dyn FnMut(&program::Function) -> Choice + 'a;

/// The same, with options for each definition, and templates for some.
///
/// # Errors
/// What is wrong with the text, or with a template.
pub fn translate_by(
    name: &str,
    text: &str,
    options: &mut OptionsOf<'_>,
    templates: &[Template],
) -> Result<Translation, Wrong> {
    translate_versions(name, text, &mut |each| options(each).into(), templates)
}

/// The same, with other options for some sizes, among which the launcher chooses.
///
/// # Errors
/// As [`translate_by`].
pub fn translate_versions(
    name: &str,
    text: &str,
    choice: &mut ChoiceOf<'_>,
    templates: &[Template],
) -> Result<Translation, Wrong> {
    let functions = check(text).map_err(Wrong::Definitions)?;
    let each = functions.iter().map(|function| {
        let template = template_of(function, templates);
        Versions::new(function, template, choice(function))
    });
    let versions: Result<Vec<Versions>, Fault> = each.collect();
    let versions = versions.map_err(Wrong::Template)?;
    emit::emit(name, text, &versions).map_err(Wrong::Template)
}

fn template_of<'t>(
    function: &program::Function,
    templates: &'t [Template],
) -> Option<&'t Template> {
    let mut templates = templates.iter();
    templates.find(|template| template.name.text == function.name)
}

/// The typed statements of all definitions of a file.
///
/// # Errors
/// As [`translate`].
pub fn check(text: &str) -> Result<Vec<program::Function>, Vec<Fault>> {
    let definitions = syntax::parse(text)?;
    ranges::infer(&definitions)
}
