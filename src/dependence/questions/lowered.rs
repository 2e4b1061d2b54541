//! A problem as linear constraints, and the search through its choices.
//!
//! Choices are explored depth first: an alternative that a point found before satisfies needs no
//! question to isl, and a partial choice without an integer point is left at once, so that the number
//! of alternatives does not multiply.
//!
//! What a question costs isl is the number of its elementary operations, each of which goes through
//! the numbers of a matrix of constraints by columns, and neither is known before: a question is asked
//! with few operations first and with many where these do not do, and what was allowed counts as
//! spent, times the size of the matrix.
//! Points that were found are kept: what one of them shows needs no question.
//! Before many are allowed the sums of the base are taken apart into components, once, by a bounded number of
//! small questions that do not count.
//!
//! Invariant: a point belongs to the problem when it belongs to the base and to one alternative of
//! each choice; its coordinates are the problem's parameters, its dimensions, and the quotients that
//! these are made of.

use super::super::problem::{Choice, Condition, Problem, Sum, Symbol};
use crate::math::isl::{self, Conjunction, Found, IslError, Set, System};
use std::cell::{Cell, OnceCell, Ref, RefCell};

/// A problem's conditions as linear constraints.
pub(in crate::dependence) struct Lowered {
    system: System<Symbol>,
    base: Conjunction,
    /// The base with its sums taken apart, for questions that are not answered at once.
    delinearised: OnceCell<Conjunction>,
    choices: Vec<Vec<Conjunction>>,
    /// Those that only sharpen.
    late_choices: Vec<Vec<Conjunction>>,
    /// In operations times numbers in the matrices that they went through.
    spent: Cell<u64>,
    /// Most that is spent on all questions.
    most_spent: u64,
    /// The problem's parameters and dimensions.
    columns: usize,
    /// Points of the problem.
    points: RefCell<Vec<Point>>,
}

/// A point of a problem: the values of its parameters, and of its dimensions.
pub(in crate::dependence) type Point = Vec<i64>;

/// What an answer is taken to cost that came with the fewest operations.
const OPERATIONS_TAKEN: u64 = 200;
/// Elementary operations with which a question is tried; proofs take hundreds.
const OPERATIONS_TRIED: [u64; 3] = [800, 6_000, 60_000];
/// How many calls of isl may use up what is left.
const SHARES: u64 = 4;

/// Most partial choices explored for one question.
const MOST_CHOICES: usize = 600;

impl Problem {
    /// The problem as linear constraints, with so much to spend on all questions about it, in operations
    /// times numbers in a matrix.
    ///
    /// # Errors
    /// A number that leaves 64 bits.
    pub(in crate::dependence) fn lowered(&self, most_spent: u64) -> isl::Result<Lowered> {
        let mut system = System::new(&self.parameters(), &self.dimensions);
        let base = system.conjunction(&self.base)?;
        let mut rows = |choices: &[Choice]| -> isl::Result<Vec<Vec<Conjunction>>> {
            let alternatives = choices.iter();
            alternatives
                .map(|choice| {
                    let each = choice.iter().map(std::slice::from_ref);
                    each.map(|alternative| system.conjunction(alternative))
                        .collect()
                })
                .collect()
        };
        let choices = rows(&self.choices)?;
        let late_choices = rows(&self.late_choices)?;
        Ok(Lowered {
            system,
            base,
            delinearised: OnceCell::new(),
            choices,
            late_choices,
            spent: Cell::new(0),
            most_spent,
            columns: self.monomials.len() + self.dimensions.len(),
            points: RefCell::default(),
        })
    }

    /// The value of a sum at a point of the problem; `None` where it leaves 128 bits.
    pub(in crate::dependence) fn value_at(&self, point: &Point, sum: &Sum) -> Option<i128> {
        sum.value(&|symbol| {
            let column = match symbol {
                Symbol::Parameter(number) => *number,
                symbol => {
                    let mut dimensions = self.dimensions.iter();
                    self.monomials.len() + dimensions.position(|known| known == symbol)?
                }
            };
            point.get(column).copied().map(i128::from)
        })
    }
}

impl Lowered {
    /// A further condition without alternatives, as rows.
    ///
    /// # Errors
    /// A number that leaves 64 bits.
    pub(in crate::dependence) fn conjunction(
        &mut self,
        condition: &Condition,
    ) -> isl::Result<Conjunction> {
        self.system.conjunction(std::slice::from_ref(condition))
    }

    /// How many dimensions there are with the quotients.
    pub(in crate::dependence) fn dimensions(&self) -> usize {
        self.system.dimensions()
    }

    /// The points that were found of the problem so far.
    pub(in crate::dependence) fn points(&self) -> Ref<'_, Vec<Point>> {
        self.points.borrow()
    }

    /// What was spent on questions so far, in operations times numbers in a matrix.
    pub(in crate::dependence) fn spent(&self) -> u64 {
        self.spent.get()
    }

    /// Does other work about the problem, each call of isl with as many operations as one question may
    /// take.
    pub(in crate::dependence) fn within_budget<T>(
        &self,
        work: impl FnOnce() -> isl::Result<T>,
    ) -> isl::Result<T> {
        let cells = self.cells(&[&self.base]);
        let left = self.most_spent.saturating_sub(self.spent.get()) / SHARES / cells;
        let [.., most] = OPERATIONS_TRIED;
        isl::with_operation_budget(most.min(left).max(1), work)
    }

    fn cells(&self, chosen: &[&Conjunction]) -> u64 {
        self.system.cells(chosen).max(1) as u64
    }

    /// A point of what was chosen, the base first.
    fn find(&self, chosen: &[&Conjunction]) -> isl::Result<Found> {
        let mut chosen = chosen.to_vec();
        let mut taken = OPERATIONS_TAKEN;
        for tried in OPERATIONS_TRIED {
            if tried > OPERATIONS_TRIED[0] {
                let taken_apart = || self.system.delinearised(&self.base);
                chosen[0] = self.delinearised.get_or_init(taken_apart);
            }
            let cells = self.cells(&chosen);
            let left = self.most_spent.saturating_sub(self.spent.get()) / cells;
            let operations = tried.min(left);
            if operations == 0 {
                break;
            }
            let found = isl::with_operation_budget(operations, || self.system.find(&chosen));
            let gave_up = found == Err(IslError::Quota);
            let took = if gave_up { operations } else { taken };
            self.spent
                .set(self.spent.get() + took.min(operations) * cells);
            if !gave_up {
                return found;
            }
            taken = 2 * tried;
        }
        Err(IslError::Quota)
    }

    /// Whether some point of the problem satisfies `conditions`.
    ///
    /// # Errors
    /// Quota.
    pub(in crate::dependence) fn is_satisfiable(
        &self,
        conditions: &[&Conjunction],
    ) -> isl::Result<bool> {
        let choices: Vec<_> = self.choices.iter().chain(&self.late_choices).collect();
        let mut found = false;
        self.explore(conditions, &choices, MOST_CHOICES, &mut |_, point| {
            if let Found::Point(point) = point {
                let point = point[..self.columns].to_vec();
                self.points.borrow_mut().push(point);
            }
            found = true;
            Ok(false)
        })?;
        Ok(found)
    }

    /// The sets of points that satisfy `conditions`, one for each way to choose, without what the
    /// late choices would leave out. Dimensions are the problem's and behind them its quotients.
    ///
    /// # Errors
    /// Quota, or more than `most` sets.
    pub(in crate::dependence) fn leaves(
        &self,
        conditions: &[&Conjunction],
        most: usize,
    ) -> isl::Result<Vec<Set>> {
        let choices: Vec<_> = self.choices.iter().collect();
        let mut leaves = Vec::new();
        self.explore(conditions, &choices, MOST_CHOICES, &mut |chosen, _| {
            if leaves.len() == most {
                return Err(IslError::Quota);
            }
            leaves.push(self.system.set(chosen)?);
            Ok(true)
        })?;
        Ok(leaves)
    }

    /// A point that satisfies `conditions`, which give each parameter one value, in the first way to
    /// choose that has one; late choices do not count. Each of the dimensions `least`, none of which is
    /// negative, is as small as it can be given those before it, as far as what may be spent allows.
    /// `None` too where more than `most_explored` partial choices are looked into.
    ///
    /// # Errors
    /// What isl refuses; where the quota ends there is no point.
    pub(in crate::dependence) fn first_point(
        &self,
        conditions: &[&Conjunction],
        least: &[usize],
        most_explored: usize,
    ) -> isl::Result<Option<Vec<i64>>> {
        let choices: Vec<_> = self.choices.iter().collect();
        let mut point = None;
        let explored = self.explore(conditions, &choices, most_explored, &mut |chosen, _| {
            if let Found::Point(any) = self.find(chosen)? {
                let any = self.system.without_parameters(&any).to_vec();
                point = Some(self.smallest(any, chosen, least));
            }
            Ok(point.is_none())
        });
        match explored {
            Err(IslError::Quota) if point.is_none() => Ok(None),
            Err(error) => Err(error),
            Ok(()) => Ok(point),
        }
    }

    /// Goes from one point of what was chosen to the one that is smallest in some dimensions, one after
    /// the other, by halving; isl's own search for it would go through all of them at once, which no
    /// number of operations bounds well.
    fn smallest(&self, mut point: Vec<i64>, chosen: &[&Conjunction], order: &[usize]) -> Vec<i64> {
        let mut fixed: Vec<Conjunction> = Vec::new();
        for dimension in order {
            let mut low = 0;
            // Most are 0.
            let mut tried = 0;
            while low < point[*dimension] {
                let bound = self.system.at_most(*dimension, tried);
                let mut asked = chosen.to_vec();
                asked.extend(&fixed);
                asked.push(&bound);
                match self.find(&asked) {
                    Ok(Found::Point(smaller)) => {
                        point = self.system.without_parameters(&smaller).to_vec();
                    }
                    Ok(Found::Nothing) => low = tried + 1,
                    Ok(Found::TooLarge) | Err(_) => break,
                }
                tried = low + (point[*dimension] - low) / 2;
            }
            fixed.push(self.system.exactly(*dimension, point[*dimension]));
        }
        point
    }

    /// Calls `leaf` with each way to choose that has a point, until it says no.
    fn explore(
        &self,
        conditions: &[&Conjunction],
        choices: &[&Vec<Conjunction>],
        most_explored: usize,
        leaf: Leaf,
    ) -> isl::Result<()> {
        let mut search = Search {
            lowered: self,
            chosen: vec![&self.base, self.system.definitions()],
            left: most_explored,
            leaf,
        };
        search.chosen.extend(conditions);
        match search.find()? {
            Found::Nothing => Ok(()),
            found => search.descend(&found, choices).map(|_| ()),
        }
    }
}

/// Is given what was chosen, and what was found of that; says whether the search goes on.
type Leaf<'l> = &'l mut dyn FnMut(&[&Conjunction], &Found) -> isl::Result<bool>;

/// A search under way.
struct Search<'s, 'l> {
    lowered: &'s Lowered,
    /// What holds for the alternatives taken so far.
    chosen: Vec<&'s Conjunction>,
    /// How many more may be looked into.
    left: usize,
    leaf: Leaf<'l>,
}

impl<'s> Search<'s, '_> {
    /// Goes through the choices that are left, given what was found for those taken; says whether
    /// the search goes on.
    fn descend(&mut self, found: &Found, choices: &[&'s Vec<Conjunction>]) -> isl::Result<bool> {
        let Some((first, rest)) = choices.split_first() else {
            return (self.leaf)(&self.chosen, found);
        };
        let known = match found {
            Found::Point(point) => first.iter().position(|taken| taken.holds_at(point)),
            Found::Nothing | Found::TooLarge => None,
        };
        if let Some(known) = known
            && !self.take(&first[known], Some(found), rest)?
        {
            return Ok(false);
        }
        for (index, alternative) in first.iter().enumerate() {
            if known != Some(index) && !self.take(alternative, None, rest)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes on with an alternative, of which a point may be known.
    fn take(
        &mut self,
        alternative: &'s Conjunction,
        known: Option<&Found>,
        rest: &[&'s Vec<Conjunction>],
    ) -> isl::Result<bool> {
        self.chosen.push(alternative);
        let found = match known {
            Some(known) => {
                self.count()?;
                known.clone()
            }
            None => self.find()?,
        };
        let goes_on = match found {
            Found::Nothing => true,
            found => self.descend(&found, rest)?,
        };
        self.chosen.pop();
        Ok(goes_on)
    }

    fn find(&mut self) -> isl::Result<Found> {
        self.count()?;
        self.lowered.find(&self.chosen)
    }

    fn count(&mut self) -> isl::Result<()> {
        self.left = self.left.checked_sub(1).ok_or(IslError::Quota)?;
        Ok(())
    }
}
