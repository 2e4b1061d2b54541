//! The polyhedral way: isl's scheduler says which statements share a kernel, and what its threads and loops are.
//!
//! | module | what it does |
//! |---|---|
//! | [`dependences`] | what isl is told: instances, and which come before which |
//! | [`groups`] | which statements go together, by a [`Strategy`] |
//! | [`nest`] | loops of a kernel, of isl's tree |
//! | [`order`] | the proof that they keep the order of what depends on each other |
//! | [`text`] | the tree as text |
//!
//! Statements between two that are not polyhedral, such as scatters, are scheduled together. isl is asked for one group after
//! the other, each as large as the strategy wants it.
//!
//! Invariant: a kernel is made of a schedule only where [`order`] proves it, and [`nest`] keeps the terms of each element in
//! their order. Else statements become the kernels that they are without this module, and an [`Obstacle`] says why.

pub mod dependences;
pub mod groups;
pub mod nest;
pub mod order;
pub mod text;

#[cfg(test)]
mod tests;

pub use nest::Nest;

use super::Options;
use super::linear::Linear;
use super::mapping::{self, Kernel, Mapping, Part, Plan, Step, Work};
use super::program::{self, Function, Statement};
use super::transform;
use crate::math::isl::schedule::Tree;
use groups::Group;

/// Which statements go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Those that the mapping puts together: isl is not asked.
    #[default]
    Auto,
    /// None.
    Minimal,
    /// As many as isl can, as long as one dimension stays parallel.
    Maximal,
    /// As many as isl can, as long as no statement has fewer parallel dimensions than three, or all that it has alone.
    ThreeParallel,
}

impl Strategy {
    /// All, by the names of options.
    pub const NAMES: [(&'static str, Self); 4] = [
        ("auto", Self::Auto),
        ("min", Self::Minimal),
        ("max", Self::Maximal),
        ("three-parallel", Self::ThreeParallel),
    ];
}

/// Why a schedule is not used, or statements do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// No answer within the budget, or instances that cannot be said.
    #[error("isl has no answer within its budget")]
    Unknown,
    /// More statements than are tried.
    #[error("there are too many statements to try all")]
    Many,
    /// Not all statements are in one outermost band.
    #[error("isl does not put them into one band")]
    Sequence,
    /// Values of a band that are not whole.
    #[error("the schedule has quotients")]
    Quotient,
    /// Several indices in one value.
    #[error("the schedule is skewed")]
    Skewed,
    /// A loop that would run downwards.
    #[error("the schedule is reversed")]
    Reversed,
    /// A loop that is ahead of an index by a size.
    #[error("the schedule is shifted by a size")]
    ShiftedBySize,
    /// A statement with one value where others have a loop.
    #[error("a statement has no index for a loop of the others")]
    Fixed,
    /// Bounds that depend on other indices or on data.
    #[error("a shared loop would have bounds of indices or data")]
    Ranges,
    /// A reduced loop outside of one on the left, or of a reduced one before it.
    #[error("an element would begin within the loop of its terms")]
    Terms,
    /// The proof fails for two statements.
    #[error("the order of what depends on each other is not proven")]
    Dependence(usize, usize),
    /// Too few parallel dimensions.
    #[error("of {1} parallel dimensions {0} would be left")]
    Parallel(usize, usize),
    /// Sums that are rounded to the type of their elements at the end, and so belong into a register.
    #[error("a sum has another type than its element")]
    Rounded,
}

/// What is planned of a definition.
pub struct Planned<'f> {
    /// Kernels and loops of the host.
    pub steps: Vec<Step<'f>>,
    /// Statements that were scheduled together, in the order of the text.
    pub segments: Vec<Segment<'f>>,
}

/// Statements that were scheduled together.
pub struct Segment<'f> {
    /// The statements.
    pub statements: Vec<&'f Statement>,
    /// Which of them share a kernel, in the order of the kernels.
    pub groups: Vec<Group>,
    /// What was tried and refused: a statement, those that it would have joined, and why.
    pub refusals: Vec<(usize, Vec<usize>, Obstacle)>,
}

/// Plans the kernels of a definition.
pub fn plan(function: &Function, options: Options) -> Planned<'_> {
    let mut planned = Planned {
        steps: Vec::new(),
        segments: Vec::new(),
    };
    planned.steps = steps(function, &function.body, options, &mut planned.segments);
    planned
}

fn steps<'f>(
    function: &'f Function,
    body: &'f [program::Step],
    options: Options,
    segments: &mut Vec<Segment<'f>>,
) -> Vec<Step<'f>> {
    let mut made = Vec::new();
    let mut pending: Vec<&Statement> = Vec::new();
    for step in body {
        match step {
            program::Step::Statement(statement) if !statement.scatter => pending.push(statement),
            other => {
                flush(function, &mut pending, options, (&mut made, segments));
                match other {
                    program::Step::Loop(time_loop) => made.push(Step::Loop {
                        symbol: time_loop.symbol,
                        low: &time_loop.low,
                        high: &time_loop.high,
                        body: steps(function, &time_loop.body, options, segments),
                    }),
                    program::Step::Statement(statement) => {
                        made.extend(apart(function, &[statement], options));
                    }
                }
            }
        }
    }
    flush(function, &mut pending, options, (&mut made, segments));
    made
}

fn flush<'f>(
    function: &'f Function,
    pending: &mut Vec<&'f Statement>,
    options: Options,
    (made, segments): (&mut Vec<Step<'f>>, &mut Vec<Segment<'f>>),
) {
    if pending.is_empty() {
        return;
    }
    let segment = groups::segment(function, std::mem::take(pending), options.fusion);
    for group in &segment.groups {
        let members = group.members.iter();
        let members: Vec<&Statement> = members.map(|member| segment.statements[*member]).collect();
        made.extend(kernels(function, &members, group, options));
    }
    segments.push(segment);
}

/// The kernels of a group: one, where its schedule can be used.
fn kernels<'f>(
    function: &'f Function,
    members: &[&'f Statement],
    group: &Group,
    options: Options,
) -> Vec<Step<'f>> {
    let Ok(nest) = &group.nest else {
        return apart(function, members, options);
    };
    if options.mapping != Mapping::Parallel {
        // Tiles, rows and layers know better ways for what is in one kernel.
        let made = apart(function, members, options);
        let is_element =
            |step: &Step<'_>| matches!(step, Step::Kernel(kernel) if kernel.plan == Plan::Elements);
        if made.len() == 1 && !is_element(&made[0]) {
            return made;
        }
    }
    let count = |number: usize| nest.loops[number].high.subtract(&nest.loops[number].low);
    let threads: Option<Vec<Linear>> = (0..nest.threads).map(count).collect();
    let Some(threads) = threads else {
        return apart(function, members, options);
    };
    let is_plain = nest.is_plain(members);
    let order: Vec<usize> = match is_plain {
        true => nest.parts_in_order(),
        false => (0..members.len()).collect(),
    };
    let parts = order.into_iter().map(|part| Part {
        statement: members[part],
        work: Work::Compute {
            taken: nest.taken(part),
            atomic: false,
        },
    });
    vec![Step::Kernel(Kernel {
        threads,
        parts: parts.collect(),
        plan: match is_plain {
            true => Plan::Elements,
            false => Plan::Nest(nest.clone()),
        },
    })]
}

/// The kernels of statements as they are without isl's scheduler.
fn apart<'f>(function: &'f Function, members: &[&'f Statement], options: Options) -> Vec<Step<'f>> {
    let steps = mapping::statements(function, members, options);
    transform::transform(function, steps, options)
}

/// A tree with other numbers of its statements.
fn renumbered(tree: &Tree, members: &[usize]) -> Tree {
    match tree {
        Tree::Leaf => Tree::Leaf,
        Tree::Band {
            permutable,
            members: dimensions,
            child,
        } => {
            let mut dimensions = dimensions.clone();
            for (statement, _) in dimensions.iter_mut().flat_map(|each| &mut each.values) {
                *statement = members[*statement];
            }
            Tree::Band {
                permutable: *permutable,
                members: dimensions,
                child: Box::new(renumbered(child, members)),
            }
        }
        Tree::Sequence { ordered, children } => Tree::Sequence {
            ordered: *ordered,
            children: children
                .iter()
                .map(|(filter, child)| {
                    let filter = filter.iter().map(|statement| members[*statement]);
                    (filter.collect(), renumbered(child, members))
                })
                .collect(),
        },
    }
}
