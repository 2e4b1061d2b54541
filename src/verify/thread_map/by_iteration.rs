//! Members whose iterations count as their threads: whether they are all there, each once, and need nothing of each other.
//!
//! A model says of its kernel that it runs one iteration, `blockIdx.x`, of another, which is one loop from a thread's number by the
//! number of all threads. By that alone a launch of the other along x runs each iteration from 0 to below a bound once, if no counter
//! wraps around: the number of its threads and the bound together are below 2³¹. A launch of the kernel of one
//! iteration, of so many blocks of one thread as the bound, runs the same ones, and a block beyond the bound would write
//! nothing. What the bound is stands in the domains of writes: each alternative of each has a constraint `blockIdx.x < bound`.
//!
//! The original runs the iterations of a thread in order; here any order may come. So no two iterations may touch a common byte,
//! one of the two writing it, but for updates whose order does not matter. A value that is handed on otherwise there
//! is not: that is the model's word, too.
//!
//! Then the member is judged as that launch everywhere, with blocks of one thread; its configuration, which CUDA sees, is that of
//! the original.

use super::super::conflict::{Positions, Separation};
use super::super::device::{GroupCheck, Judged, global_accesses};
use super::super::formula::{Assumptions, Formula};
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::{Polynomial, normal_form};
use super::super::reduction::in_any_order;
use super::super::{Refusal, Site};
use crate::kernel::AccessKind;
use crate::launch::{LaunchGraph, ValueId};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::schedule::{FusionGroup, ThreadMap, ThreadOrder};

/// The sites of a group, where the plan says so as launches that are counted by iterations.
///
/// # Errors
/// Where there is no such launch, or one of something else.
pub(in crate::verify) fn counted<'a>(
    graph: &LaunchGraph,
    group: &FusionGroup,
    sites: &[Site<'a>],
) -> Result<Vec<Site<'a>>, Refusal> {
    let planned = sites.iter().zip(&group.members);
    planned
        .map(|(site, planned)| match planned.map.counts_iterations() {
            false => Ok(*site),
            true => of_site(graph, site).map_err(|what| Refusal::NotByIteration {
                launch: site.launch.id,
                what: what.to_owned(),
            }),
        })
        .collect()
}

fn of_site<'a>(graph: &LaunchGraph, site: &Site<'a>) -> Result<Site<'a>, &'static str> {
    let (launch, model) = site
        .by_iteration
        .ok_or("no kernel that runs one iteration")?;
    let original = site.launch;
    if model.iteration_of.is_none() || model.iteration_of != original.kernel {
        return Err("a kernel that is no iteration of its own");
    }
    if launch.id != original.id
        || launch.arguments != original.arguments
        || launch.stream != original.stream
        || launch.special
    {
        return Err("other arguments than those of the launch");
    }
    let is = |value: &ValueId, number: i64| {
        let known = graph.values.get(value.0);
        known.and_then(|known| known.constant) == Some(number)
    };
    let mut ones = launch.grid[1..].iter().chain(&launch.block);
    if !ones.all(|extent| is(extent, 1)) || !is(&launch.shared_bytes, 0) {
        return Err("iterations that are not blocks of one thread");
    }
    if !model.opaque.is_empty() || !model.unfusable.is_empty() {
        return Err("an iteration that is not known");
    }
    Ok(Site {
        launch,
        model,
        ..*site
    })
}

/// What speaks against a member that is counted by iterations, by itself; `original` is its launch as the program has it.
pub(in crate::verify) fn refusal(
    original: &Member<'_>,
    counted: &Member<'_>,
    assumptions: &Assumptions,
) -> Option<Refusal> {
    let implied = |formula: Option<Formula>| formula.is_some_and(|one| assumptions.imply(&one));
    let one = Polynomial::constant(1);
    let along_x = [1, 2, 4, 5].map(|axis| &original.extents[axis]);
    let count = &counted.extents[0];
    let total = original.extents[0].multiply(&original.extents[3]);
    let last = total.and_then(|total| total.add(count));
    let most = Polynomial::constant(MOST_NUMBERS);
    let what = if !along_x.iter().all(|extent| assumptions.equal(extent, &one)) {
        "perhaps threads that are not along x"
    } else if !implied(Formula::less_equal(&one, count)) {
        "perhaps no iteration"
    } else if !last.is_some_and(|last| implied(Formula::less_equal(&last, &most))) {
        "perhaps a counter that wraps around"
    } else if !writes_below(counted, count, assumptions) {
        "perhaps more iterations than are counted"
    } else {
        return None;
    };
    Some(Refusal::NotByIteration {
        launch: original.launch.id,
        what: what.to_owned(),
    })
}

/// Whether no block from `count` on writes anything.
fn writes_below(member: &Member<'_>, count: &Polynomial, assumptions: &Assumptions) -> bool {
    let accesses = member.model.accesses.iter();
    let mut writes = accesses.filter(|access| access.kind != AccessKind::Read);
    let is_below = |constraint: &Constraint| {
        let bound = match constraint {
            Constraint::NonNegative(affine) => bound(member, affine),
            Constraint::Zero(_) => None,
        };
        let bound = bound.and_then(|bound| Formula::less_equal(&bound, count));
        bound.is_some_and(|bound| assumptions.imply(&bound))
    };
    writes.all(|access| {
        let mut alternatives = access.domain.iter();
        alternatives.all(|all| all.iter().any(is_below))
    })
}

/// The bound where an expression is at least 0 just where `blockIdx.x` is below it.
fn bound(member: &Member<'_>, affine: &Affine) -> Option<Polynomial> {
    let own = (-1, Variable::Block(Axis::X));
    let rest = affine.terms.iter().filter(|term| **term != own);
    let rest = Affine {
        constant: affine.constant.checked_add(1)?,
        terms: rest.cloned().collect(),
    };
    let uniform = in_parameters(&rest).filter(|_| rest.terms.len() + 1 == affine.terms.len())?;
    normal_form(&uniform, &mut |index| {
        member.parameters.get(*index).cloned()
    })
}

/// A sum over the model's parameters alone, whose numbers are the leaves.
fn in_parameters(affine: &Affine) -> Option<Expression<usize>> {
    let mut sum = Expression::Constant(affine.constant);
    for (coefficient, variable) in &affine.terms {
        let value = match variable {
            Variable::Parameter(index) => Expression::Leaf(*index),
            Variable::Floor(numerator, divisor) => {
                in_parameters(numerator)?.floor_divide(Expression::Constant(*divisor))
            }
            _ => return None,
        };
        sum = sum.add(Expression::Constant(*coefficient).multiply(value));
    }
    Some(sum)
}

impl GroupCheck<'_> {
    /// What speaks against members that are counted by iterations.
    pub(in crate::verify) fn by_iteration(&self, originals: &[Member<'_>]) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let planned = self.members.iter().zip(&self.group.members);
        let counted = planned.enumerate();
        for (position, (member, _)) in
            counted.filter(|(_, (_, planned))| planned.map.counts_iterations())
        {
            let original = &originals[position];
            refusals.extend(refusal(original, member, self.assumptions));
            for first in global_accesses(member) {
                for second in global_accesses(member) {
                    let reads = [first, second].map(|access| access.kind == AccessKind::Read);
                    if reads == [true; 2] || in_any_order(first, second) {
                        continue;
                    }
                    let pair = ((member, first), (member, second));
                    let meet = match self.met([pair.0, pair.1]) {
                        Ok(None) => false,
                        Ok(Some(difference)) => {
                            let places = (Separation::Blocks, &Positions::Own);
                            self.meet(pair, [self.numbers[position]; 2], &difference, places)
                        }
                        Err(_) => true,
                    };
                    if meet {
                        refusals.push(Refusal::IterationsMeet {
                            launch: member.launch.id,
                            what: format!("{} and {}", first.location, second.location),
                        });
                    }
                }
            }
        }
        refusals
    }
}

/// By member, a launch that leads with its loop as it is, as one that is counted by iterations, and its number in
/// [`Answers`](super::super::conflict::Answers).
///
/// The fused launch has its shape, so that the thread of number t runs the iterations t, t + T, t + 2T and so on, T the number of
/// threads: just those whose numbers less a multiple of T are t. Their order in the thread is that of the loop.
pub(in crate::verify) fn led<'a>(
    check: &GroupCheck<'_>,
    sites: &[Site<'a>],
    originals: &[Member<'_>],
) -> Vec<Option<(Member<'a>, usize)>> {
    let of_member = |position: usize| {
        let remapping = check.remapping.as_ref()?;
        let planned = &check.group.members[position];
        let original = &originals[position];
        let leads = planned.map == ThreadMap::Identity
            && remapping.has_shape_of(original, check.assumptions);
        let site = of_site(check.graph, &sites[position])
            .ok()
            .filter(|_| leads)?;
        let counted = Member::new(check.graph, check.values, site.launch, site.model);
        if refusal(original, &counted, check.assumptions).is_some() {
            return None;
        }
        let number = check.answers.borrow_mut().number(&counted);
        Some((counted, number))
    };
    (0..sites.len()).map(of_member).collect()
}

/// Two members, one of which leads with its loop, and is counted by iterations here, while the threads of the other one are
/// placed by numbers.
pub(in crate::verify) fn with_led<'b>(
    led: &'b [Option<(Member<'b>, usize)>],
    pair: [usize; 2],
    own: [Judged<'b>; 2],
) -> Option<[Judged<'b>; 2]> {
    let counted = |at: usize| {
        let (member, number) = led[pair[at]].as_ref()?;
        Some(Judged {
            member,
            number: *number,
            map: &LED,
        })
    };
    match own.map(|judged| judged.map.is_remapped()) {
        [false, true] => Some([counted(0)?, own[1]]),
        [true, false] => Some([own[0], counted(1)?]),
        _ => None,
    }
}

/// Where the iterations of a loop run whose launch the fused one is.
static LED: ThreadMap = ThreadMap::Remapped {
    own: ThreadOrder::Iterations,
    fused: ThreadOrder::Blocks,
    repeats: true,
};

/// The launches as the program has them, for what is known of configurations.
pub(in crate::verify) fn originals<'a>(
    graph: &LaunchGraph,
    values: &Values<'_>,
    sites: &[Site<'a>],
) -> Vec<Member<'a>> {
    let sites = sites.iter();
    sites
        .map(|site| Member::new(graph, values, site.launch, site.model))
        .collect()
}

/// The most threads and iterations together that are counted.
const MOST_NUMBERS: i64 = (1 << 31) - 1;
