//! Two accesses that may touch a common byte -> which (block, thread) pairs do, and how wide that is.
//!
//! The conflict of a source and a sink access is an isl set over both sides' blocks, threads, loops
//! and products. A product `q = e · p` with run-time `p` is a free dimension tied to the others by
//! the axioms of [`crate::kernel`]: order of the factors, at distance `p`. Each axiom is a choice
//! between conjunctions; choices are explored depth first and pruned as soon as a partial choice
//! has no integer point, so that their number does not multiply.
//!
//! Invariant: the set only ever over-approximates. When isl runs out of its budget the answer is
//! [`Width::Global`] over all pairs.

use super::Width;
use super::lowered::Lowered;
use super::mapped::Coordinate;
use super::polynomial::{Atom, Polynomial};
use super::problem::Problem;
use super::witness::KnownSamples;
use crate::affine::Axis;
use crate::isl::{self, Conjunction, IslError, Map, Set};
use crate::kernel::{Access, KernelModel};
use std::collections::{BTreeSet, HashMap};

/// Extents of a launch, x, y, z.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) grid: [Polynomial; 3],
    pub(super) block: [Polynomial; 3],
}

/// One access at one launch.
pub(super) struct Side<'a> {
    pub(super) model: &'a KernelModel,
    pub(super) access: &'a Access,
    /// Values of `KernelModel::parameters`.
    pub(super) parameters: &'a [Polynomial],
    pub(super) shape: &'a Shape,
}

/// What is known about the uniform values.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// Each is at least zero.
    pub(super) holding: Vec<Polynomial>,
    /// Counters of host loops that the facts relate: products with them are ordered as they are.
    pub(super) counters: BTreeSet<Atom>,
}

/// How two accesses conflict.
#[derive(Clone, Debug)]
pub(super) struct Conflict {
    /// `None`: they never touch a common byte.
    pub(super) width: Option<Width>,
    /// isl text that contains all conflicting pairs.
    pub(super) relation: String,
    /// Neither more nor fewer pairs.
    pub(super) exact: bool,
    /// False when the places are not known or the question was too expensive: the width is then
    /// global for want of a proof.
    pub(super) proven: bool,
}

/// Answers by canonical problem text; programs repeat themselves.
#[derive(Default)]
pub(super) struct Solver {
    answers: HashMap<String, Conflict>,
    pub(super) samples: KnownSamples,
    agreements: HashMap<String, bool>,
    /// Questions that were not answered from memory.
    pub(super) problems: usize,
    /// What these took, as [`work_of`] measures it.
    pub(super) work: usize,
}

/// Text of the relation that holds all pairs of a width.
pub(super) fn universal_relation(width: Width) -> String {
    let source = "bx, by, bz, tx, ty, tz";
    let sink = match width {
        Width::Thread => source,
        Width::Block => "bx, by, bz, tx', ty', tz'",
        Width::Global => "bx', by', bz', tx', ty', tz'",
    };
    format!("{{ source[{source}] -> sink[{sink}] }}")
}

/// The union of two relations, kept short: where it would grow beyond use, all pairs of `width`.
/// The second part says whether it is still exactly the union.
pub(super) fn unite_relations(left: &str, right: &str, width: Width) -> (String, bool) {
    if left == right {
        return (left.to_owned(), true);
    }
    let united = isl::with_operation_budget(RELATION_BUDGET, || {
        Map::parse(left)?
            .union(&Map::parse(right)?)?
            .coalesce()?
            .to_text()
    });
    match united {
        Ok(text) if text.len() <= LONGEST_RELATION => (text, true),
        _ => (universal_relation(width), false),
    }
}

impl Solver {
    /// Decides one pair. `distance` is the source pointer's offset less the sink pointer's, in
    /// bytes; `None` when unknown.
    pub(super) fn conflict(
        &mut self,
        source: &Side,
        sink: &Side,
        distance: Option<&Polynomial>,
        facts: &Facts,
    ) -> Conflict {
        let Some(problem) = Problem::build(source, sink, distance, facts) else {
            return everything();
        };
        let key = problem.text();
        let canonical = match self.answers.get(&key) {
            Some(known) => known.clone(),
            None => {
                self.problems += 1;
                let work = work_of(&key);
                self.work = self.work.saturating_add(work);
                let answer = if work > MOST_WORK_OF_A_PROBLEM {
                    everything()
                } else {
                    isl::with_operation_budget(SOLVER_BUDGET, || problem.solve())
                        .unwrap_or_else(|_| everything())
                };
                self.answers.insert(key, answer.clone());
                answer
            }
        };
        Conflict {
            relation: problem.with_real_names(&canonical.relation),
            exact: canonical.exact && problem.exact && source.access.exact && sink.access.exact,
            ..canonical
        }
    }
}

impl Solver {
    /// Whether no conflicting pair differs in one of the coordinates; false when that is not proven.
    pub(super) fn agree(
        &mut self,
        source: &Side,
        sink: &Side,
        distance: &Polynomial,
        facts: &Facts,
        mapped: (&[Coordinate], &[Coordinate]),
    ) -> bool {
        let problem = Problem::with_coordinates(source, sink, Some(distance), facts, mapped);
        let Some(problem) = problem.filter(|problem| problem.placed) else {
            return false;
        };
        let key = format!("{} {:?}", problem.text(), problem.coordinates);
        let problems = &mut self.problems;
        *self.agreements.entry(key).or_insert_with(|| {
            *problems += 1;
            isl::with_operation_budget(SOLVER_BUDGET, || problem.coordinates_agree())
                .unwrap_or(false)
        })
    }
}

/// Budget of one isl call while a width is decided; questions that prove something cost hundreds.
const SOLVER_BUDGET: u64 = 60_000;
/// Most work that one problem may be; three hundred times that of an ordinary one.
const MOST_WORK_OF_A_PROBLEM: usize = 400_000;
/// Budget of one isl call while a relation is made readable.
const RELATION_BUDGET: u64 = 60_000;
/// Longest relation that is kept as text.
const LONGEST_RELATION: usize = 1_500;
/// Most partial choices explored for one question.
const MOST_CHOICES: usize = 600;

/// A measure of what it takes to read and solve a problem: characters, for each quotient once more.
/// isl counts what its solver does and not what its reader does, to which quotients are dear.
fn work_of(text: &str) -> usize {
    text.len() * (1 + text.matches("floor(").count())
}

fn everything() -> Conflict {
    Conflict {
        width: Some(Width::Global),
        relation: universal_relation(Width::Global),
        exact: false,
        proven: false,
    }
}

/// What all pairs of a width have in common.
fn same_place(width: Width) -> String {
    let kinds: &[&str] = match width {
        Width::Thread => &["b", "t"],
        Width::Block => &["b"],
        Width::Global => &[],
    };
    let mut equal = vec![String::from("true")];
    for kind in kinds {
        for axis in Axis::ALL {
            equal.push(format!("s{kind}{0} = t{kind}{0}", axis.name()));
        }
    }
    equal.join(" and ")
}

impl Problem {
    fn solve(&self) -> isl::Result<Conflict> {
        let mut lowered = self.lowered()?;
        let base = lowered.base(&[])?;
        let choices = lowered.choices(&Conjunction::default())?;
        let mut all_choices = choices.clone();
        all_choices.extend(lowered.late_choices()?);
        if !satisfiable(&base, &all_choices, &mut 0)? {
            return Ok(Conflict {
                width: None,
                relation: String::from("{ }"),
                exact: true,
                proven: true,
            });
        }
        if !self.placed {
            return Ok(everything());
        }
        let mut width = Width::Thread;
        for (kind, wider) in [("b", Width::Global), ("t", Width::Block)] {
            if self.may_differ(&mut lowered, &all_choices, kind)? {
                width = wider;
                break;
            }
        }
        let relation = isl::with_operation_budget(RELATION_BUDGET, || {
            // What was proven holds for the text as well, which leaves some axioms out.
            let same = lowered.read(&same_place(width))?;
            let narrow = lowered.base(&[&same])?;
            self.relation(&narrow, lowered.dimensions(), &choices)
        });
        Ok(match relation {
            Ok(relation) if relation.len() <= LONGEST_RELATION => Conflict {
                width: Some(width),
                relation,
                exact: true,
                proven: true,
            },
            _ => Conflict {
                width: Some(width),
                relation: universal_relation(width),
                exact: false,
                proven: true,
            },
        })
    }

    fn coordinates_agree(&self) -> isl::Result<bool> {
        let mut lowered = self.lowered()?;
        let mut differences = Vec::new();
        for [left, right] in &self.coordinates {
            for order in ["<", ">"] {
                differences.push(lowered.read(&format!("{left} {order} {right}"))?);
            }
        }
        let mut choices = lowered.choices(&Conjunction::default())?;
        choices.extend(lowered.late_choices()?);
        for differs in &differences {
            if satisfiable(&lowered.base(&[differs])?, &choices, &mut 0)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether some conflicting pair differs on an axis of a kind: `b`, blocks, or `t`, threads.
    fn may_differ(
        &self,
        lowered: &mut Lowered,
        choices: &[Vec<Set>],
        kind: &str,
    ) -> isl::Result<bool> {
        let free = self.free_axes[usize::from(kind == "t")];
        for axis in Axis::ALL {
            if !free[axis.index()] {
                continue;
            }
            for order in ["<", ">"] {
                let name = axis.name();
                let differs = lowered.read(&format!("s{kind}{name} {order} t{kind}{name}"))?;
                if satisfiable(&lowered.base(&[&differs])?, choices, &mut 0)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The conflict over blocks and threads alone, in canonical parameters.
    fn relation(&self, base: &Set, dimensions: usize, choices: &[Vec<Set>]) -> isl::Result<String> {
        let extra = dimensions - 12;
        let mut leaves = Vec::new();
        collect_leaves(base, choices, &mut leaves)?;
        let mut union: Option<Set> = None;
        for leaf in leaves {
            let leaf = leaf.project_out(12, extra)?;
            union = Some(match union {
                None => leaf,
                Some(before) => before.union(&leaf)?,
            });
        }
        let Some(union) = union else {
            return Ok(universal_relation(Width::Global));
        };
        let pairs = Map::parse(
            "{ [a, b, c, d, e, f, g, h, i, j, k, l] -> \
             [source[a, b, c, d, e, f] -> sink[g, h, i, j, k, l]] }",
        )?;
        union
            .coalesce()?
            .apply(&pairs)?
            .unwrap()?
            .coalesce()?
            .to_text()
    }
}

/// Whether a point is left when one alternative of each choice is taken.
fn satisfiable(set: &Set, choices: &[Vec<Set>], explored: &mut usize) -> isl::Result<bool> {
    *explored += 1;
    if *explored > MOST_CHOICES {
        return Err(IslError::Quota);
    }
    if set.is_empty()? {
        return Ok(false);
    }
    let Some((first, rest)) = choices.split_first() else {
        return Ok(true);
    };
    for alternative in first {
        if satisfiable(&set.intersect(alternative)?, rest, explored)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The non-empty combinations of alternatives.
fn collect_leaves(set: &Set, choices: &[Vec<Set>], leaves: &mut Vec<Set>) -> isl::Result<()> {
    if leaves.len() > 27 {
        return Err(IslError::Quota);
    }
    if set.is_empty()? {
        return Ok(());
    }
    let Some((first, rest)) = choices.split_first() else {
        leaves.push(set.clone());
        return Ok(());
    };
    for alternative in first {
        collect_leaves(&set.intersect(alternative)?, rest, leaves)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_work() {
        assert_eq!(work_of("{ [i] : i >= 0 }"), 16);
        assert_eq!(work_of("{ [i] : floor(floor(i/3)/5) = 1 }"), 33 * 3);
    }
}
