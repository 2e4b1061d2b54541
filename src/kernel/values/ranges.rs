//! Symbolic bounds of affine expressions, and obligations turned into preconditions.
//!
//! Every bound is a [`Polynomial`] over the launch's values that holds for all blocks and threads
//! and for every loop iteration that the given constraints allow; for one block
//! ([`Level::Block`]) it may mention the block's indices. Conditions tighten bounds by
//! elimination: `i <= i + m·c` for any constraint `c >= 0` and `m > 0`.

use super::super::KernelSymbol;
use super::super::polynomial::Polynomial;
use super::super::space::{Mentioned, Space};
use super::super::walk::Obligation;
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::{Condition, Expression};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// What is known where an expression is evaluated.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Constraints that hold.
    pub facts: Vec<Constraint>,
    /// For each loop around, innermost last, its index and what held at the end of the iteration
    /// before, expressed at that iteration.
    pub loops: Vec<(usize, Vec<Constraint>)>,
}

/// For whom a bound holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// For all threads of the launch.
    Kernel,
    /// For all threads of a block, whose indices are values like those of the launch
    /// ([`block_index`]).
    Block,
}

/// Stands for an index of the block among a launch's values.
pub fn block_index(axis: Axis) -> KernelSymbol {
    KernelSymbol::Opaque(usize::MAX - axis.index())
}

/// Search effort for one bound.
const ELIMINATIONS: usize = 4;
const VISITS: usize = 160;
/// The same, with all searches inside it.
const ALL_VISITS: usize = 2_000;
/// What all bounds of one kernel may take, a second or so, after which expressions are bounded without
/// eliminations: a kernel that is written out or unrolled asks for tens of thousands of bounds.
const MANY_VISITS: usize = 80_000;
/// How many bounds are worth testing at run time.
const CANDIDATES: usize = 3;
/// How many relaxations of a bound are looked at.
const RELAXATIONS: usize = 8;

/// Bounds from above for all threads; each holds, none: no bound was found.
pub fn upper(space: &Space, affine: &Affine, facts: &[Constraint]) -> Vec<Polynomial> {
    let bounds = all_upper(Level::Kernel, space, affine, facts);
    bounds.iter().take(CANDIDATES).cloned().collect()
}

/// Bounds from above (from below) as tight as those that were found: the two simplest, and one that
/// never exceeds (falls below) one of them. In place of a bound by the launch's shape the latter
/// stands alone, since at the launch both are numbers.
pub fn tight_at(
    level: Level,
    space: &Space,
    affine: &Affine,
    facts: &[Constraint],
    from_above: bool,
) -> Vec<Polynomial> {
    let sign = if from_above { 1 } else { -1 };
    let Some(signed) = affine.scale(sign) else {
        return Vec::new();
    };
    let all = all_upper(level, space, &signed, facts);
    let mut chosen: Vec<_> = all.iter().take(2).cloned().collect();
    let tighter = all.iter().skip(1).rev().find(|bound| {
        let larger = relaxed(bound);
        chosen
            .iter()
            .any(|each| each != *bound && exceeds_one(each, &larger))
    });
    if let Some(tighter) = tighter {
        let larger = relaxed(tighter);
        chosen.retain(|each| {
            each != tighter
                && !(exceeds_one(each, &larger)
                    && each.monomials().all(|(_, each)| of_shape(&each)))
        });
        chosen.push(tighter.clone());
    }
    chosen
        .into_iter()
        .filter_map(|bound| bound.scale(sign))
        .collect()
}

/// All bounds from above that were found, simple ones first.
fn all_upper(
    level: Level,
    space: &Space,
    affine: &Affine,
    facts: &[Constraint],
) -> Rc<Vec<Polynomial>> {
    let about = space.mentioned(affine);
    let (eliminations, chosen) = match space.visits.get() < MANY_VISITS {
        true => (ELIMINATIONS, relevant(space, &about, facts)),
        false => (0, BTreeMap::new()),
    };
    let question = (level, about.number, chosen.values().copied().collect());
    if let Some(known) = space.bounds.borrow().get(&question) {
        return Rc::clone(known);
    }
    let facts = chosen.keys().map(|position| &facts[*position]);
    let bounds = Rc::new(search_upper(level, space, affine, facts, eliminations));
    let mut known = space.bounds.borrow_mut();
    known.insert(question, Rc::clone(&bounds));
    bounds
}

/// The facts that can say something about an expression, directly or through others: positions, and a number
/// that no other fact of the kernel has.
fn relevant(space: &Space, about: &Mentioned, facts: &[Constraint]) -> BTreeMap<usize, usize> {
    let mut chosen = BTreeMap::new();
    // Nothing can be said of a number.
    if about.variables.is_empty() {
        return chosen;
    }
    let mut reached = about.variables.to_vec();
    let mut pending: Vec<_> = facts
        .iter()
        .enumerate()
        .map(|(position, fact)| match fact {
            Constraint::NonNegative(row) => (position, 0, space.mentioned(row)),
            Constraint::Zero(row) => (position, 1, space.mentioned(row)),
        })
        .collect();
    loop {
        let before = pending.len();
        pending.retain(|(position, kind, fact)| {
            let meets = reached
                .iter()
                .zip(&*fact.variables)
                .any(|(a, b)| a & b != 0);
            if meets {
                if reached.len() < fact.variables.len() {
                    reached.resize(fact.variables.len(), 0);
                }
                for (known, more) in reached.iter_mut().zip(&*fact.variables) {
                    *known |= more;
                }
                chosen.insert(*position, 2 * fact.number + kind);
            }
            !meets
        });
        if pending.len() == before {
            break;
        }
    }
    chosen
}

fn search_upper<'a>(
    level: Level,
    space: &Space,
    affine: &Affine,
    facts: impl Iterator<Item = &'a Constraint>,
    eliminations: usize,
) -> Vec<Polynomial> {
    let mut rows = Vec::new();
    for fact in facts {
        match fact {
            Constraint::NonNegative(row) => rows.push(row.clone()),
            Constraint::Zero(row) => {
                rows.extend(row.scale(-1));
                rows.push(row.clone());
            }
        }
    }
    for by_parts in [false, true] {
        let inner = Inner::default();
        let mut search = Search {
            level,
            space,
            rows: &rows,
            inner: &inner,
            by_parts,
            seen: HashSet::new(),
            found: BTreeSet::new(),
        };
        search.visit(affine, eliminations);
        space.visits.set(space.visits.get() + inner.visits.get());
        if !search.found.is_empty() {
            return rank(search.found);
        }
    }
    Vec::new()
}

/// Bounds from below for all threads; each holds, none: no bound was found.
pub fn lower(space: &Space, affine: &Affine, facts: &[Constraint]) -> Vec<Polynomial> {
    let Some(negated) = affine.scale(-1) else {
        return Vec::new();
    };
    upper(space, &negated, facts)
        .into_iter()
        .filter_map(|bound| bound.scale(-1))
        .collect()
}

/// Whether a launch may be asked for this to be at least zero: some bound from below asks nothing of
/// the launch's shape but to be large.
pub fn may_be_required(space: &Space, affine: &Affine) -> bool {
    lower(space, affine, &[]).iter().any(|bound| {
        bound.monomials().all(|(coefficient, monomial)| {
            coefficient > 0 || !mentions_shape(&monomial.expression())
        })
    })
}

/// Sizes of ordinary launches: what holds for none of them, with every number the same, is asked of
/// no launch.
const ORDINARY_SIZES: [i64; 3] = [16, 64, 256];

/// Whether some ordinary launch satisfies conditions.
pub fn plausible(conditions: &[Condition<KernelSymbol>]) -> bool {
    ORDINARY_SIZES.into_iter().any(|size| {
        let mut ordinary = |_: &KernelSymbol| Some(Expression::<KernelSymbol>::Constant(size));
        conditions.iter().all(|condition| {
            let decided = condition.substitute(&mut ordinary);
            decided.and_then(|decided| decided.decided()) == Some(true)
        })
    })
}

/// Whether some ordinary launch has this at zero at least.
pub fn ordinarily_positive(space: &Space, affine: &Affine) -> bool {
    let zero = Expression::Constant(0);
    lower(space, affine, &[])
        .into_iter()
        .any(|bound| plausible(&[Condition::LessEqual(zero.clone(), bound.expression())]))
}

/// Simple bounds first: those by arguments before those by the launch's shape. Of bounds that differ
/// by a constant only the tightest stays.
fn rank(found: BTreeSet<Polynomial>) -> Vec<Polynomial> {
    let mut tightest: BTreeMap<Polynomial, i64> = BTreeMap::new();
    for bound in found {
        let constant = bound.constant_term();
        let Some(symbols) = bound.subtract(&Polynomial::constant(constant)) else {
            continue;
        };
        let known = tightest.entry(symbols).or_insert(constant);
        *known = constant.min(*known);
    }
    let mut bounds: Vec<_> = tightest.into_iter().collect();
    bounds.sort_by_key(|(symbols, _)| (mentions_shape(&symbols.expression()), symbols.len()));
    bounds
        .into_iter()
        .filter_map(|(symbols, constant)| symbols.add(&Polynomial::constant(constant)))
        .collect()
}

/// Values that are at least as large as one: it without some of its divisions.
fn relaxed(bound: &Polynomial) -> Vec<Polynomial> {
    let mut found: Vec<Polynomial> = bound.without_a_division().collect();
    let mut at = 0;
    while at < found.len() && found.len() < RELAXATIONS {
        let more: Vec<_> = found[at].without_a_division().collect();
        found.extend(
            more.into_iter()
                .filter(|each| !found.contains(each))
                .collect::<Vec<_>>(),
        );
        at += 1;
    }
    found
}

/// Whether a bound is at least as large as one of others wherever the launch's values lie.
fn exceeds_one(bound: &Polynomial, others: &[Polynomial]) -> bool {
    others.iter().any(|other| {
        bound
            .subtract(other)
            .and_then(|difference| difference.as_constant())
            .is_some_and(|difference| difference >= 0)
    })
}

/// Whether nothing but the launch's shape and the block's indices is in an expression.
pub fn of_shape(polynomial: &Polynomial) -> bool {
    !mentions(&polynomial.expression(), &|symbol| {
        !is_shape(symbol) && Axis::ALL.iter().all(|axis| block_index(*axis) != *symbol)
    })
}

fn mentions_shape(expression: &Expression<KernelSymbol>) -> bool {
    mentions(expression, &is_shape)
}

fn is_shape(symbol: &KernelSymbol) -> bool {
    matches!(
        symbol,
        KernelSymbol::GridSize(_) | KernelSymbol::BlockSize(_)
    )
}

fn mentions(expression: &Expression<KernelSymbol>, wanted: &dyn Fn(&KernelSymbol) -> bool) -> bool {
    match expression {
        Expression::Constant(_) => false,
        Expression::Leaf(symbol) => wanted(symbol),
        Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::FloorDivide(a, b)
        | Expression::Minimum(a, b)
        | Expression::Maximum(a, b) => mentions(a, wanted) || mentions(b, wanted),
    }
}

struct Search<'a> {
    level: Level,
    space: &'a Space,
    /// Each is at least zero.
    rows: &'a [Affine],
    inner: &'a Inner,
    /// Counters of loops are bounded by parts of rows, which is tried where nothing else bounds a number: such
    /// bounds are not simple ones.
    by_parts: bool,
    seen: HashSet<Affine>,
    found: BTreeSet<Polynomial>,
}

/// What searches inside a search share: every visited sum asks for the bounds of the same factors,
/// dividends and numerators.
#[derive(Default)]
struct Inner {
    /// The best bound by expression and effort.
    best: RefCell<HashMap<(Affine, usize), Option<Polynomial>>>,
    visits: Cell<usize>,
}

impl Search<'_> {
    fn visit(&mut self, affine: &Affine, effort: usize) {
        let visits = self.inner.visits.get();
        if self.seen.len() >= VISITS || visits >= ALL_VISITS || !self.seen.insert(affine.clone()) {
            return;
        }
        self.inner.visits.set(visits + 1);
        if let Some(bound) = self.plain(affine, effort) {
            self.found.insert(bound);
        }
        if effort == 0 {
            return;
        }
        let mut next = Vec::new();
        for (coefficient, variable) in &affine.terms {
            if matches!(variable, Variable::Parameter(_)) {
                continue;
            }
            let mut own_rows = self.space.quotient_rows(variable);
            own_rows.extend(self.space.product_rows(variable, self.rows));
            own_rows.extend(
                self.space
                    .as_unknown(variable)
                    .and_then(|each| each.row.clone()),
            );
            if let Variable::Floor(inner, divisor) = variable {
                own_rows.extend(remainder_rows(variable, inner, *divisor));
            }
            for row in self.rows.iter().chain(&own_rows) {
                let in_row = row.terms.iter().find(|(_, at)| at == variable);
                let Some((pivot, _)) = in_row else {
                    continue;
                };
                // coefficient + multiple * pivot = 0 with a positive multiple.
                if coefficient.signum() == pivot.signum() || coefficient % pivot != 0 {
                    continue;
                }
                let combined = (coefficient / pivot)
                    .checked_neg()
                    .and_then(|multiple| row.scale(multiple))
                    .and_then(|row| affine.add(&row));
                next.extend(combined);
            }
        }
        for combined in next {
            self.visit(&combined, effort - 1);
        }
    }

    /// Each variable at its own bound.
    fn plain(&self, affine: &Affine, effort: usize) -> Option<Polynomial> {
        let mut sum = Polynomial::constant(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let rising = *coefficient > 0;
            let extent = |symbol| Polynomial::symbol(symbol).subtract(&Polynomial::constant(1));
            let value = match variable {
                Variable::Block(axis) if self.level == Level::Block => {
                    Polynomial::symbol(block_index(*axis))
                }
                Variable::Block(axis) if rising => extent(KernelSymbol::GridSize(*axis))?,
                Variable::Thread(axis) if rising => extent(KernelSymbol::BlockSize(*axis))?,
                Variable::Loop(_) if rising => {
                    if let Some(unknown) = self.space.as_unknown(variable) {
                        sum = sum.plus(unknown.extent.as_ref()?, *coefficient)?;
                        continue;
                    }
                    match self.space.as_quotient(variable) {
                        Some(quotient) => self
                            .best(&quotient.dividend, rising, effort)?
                            .floor_divide(&quotient.parameter),
                        None => self.part_of_row(variable, effort)?,
                    }
                }
                Variable::Block(_) | Variable::Thread(_) | Variable::Loop(_) => {
                    Polynomial::default()
                }
                Variable::Parameter(index) => {
                    sum = sum.plus(&self.space.parameters[*index], *coefficient)?;
                    continue;
                }
                Variable::Product(index) => {
                    let product = &self.space.products[*index];
                    let factor = self.best(&product.factor, rising, effort)?;
                    factor.multiply(&self.space.parameters[product.parameter])?
                }
                Variable::Floor(inner, divisor) => self
                    .best(inner, rising, effort)?
                    .floor_divide(&Polynomial::constant(*divisor)),
            };
            sum = sum.plus(&value, *coefficient)?;
        }
        Some(sum)
    }

    /// A loop's counter by a row that holds it below a part of something, which no elimination in whole numbers
    /// shows where the counter's coefficient is no multiple of the row's.
    fn part_of_row(&self, variable: &Variable, effort: usize) -> Option<Polynomial> {
        let effort = effort.checked_sub(1).filter(|_| self.by_parts)?;
        self.rows.iter().find_map(|row| {
            let mut terms = row.terms.iter();
            let (pivot, _) = terms.find(|(pivot, at)| at == variable && *pivot < -1)?;
            let divisor = pivot.checked_neg()?;
            let rest = Affine::variable(variable.clone())
                .scale(divisor)?
                .add(row)?;
            let bound = self.best(&rest, true, effort)?;
            Some(bound.floor_divide(&Polynomial::constant(divisor)))
        })
    }

    fn best(&self, affine: &Affine, from_above: bool, effort: usize) -> Option<Polynomial> {
        let sign = if from_above { 1 } else { -1 };
        let effort = effort.saturating_sub(1).min(2);
        let question = (affine.scale(sign)?, effort);
        if let Some(known) = self.inner.best.borrow().get(&question) {
            return known.as_ref()?.scale(sign);
        }
        let mut search = Search {
            level: self.level,
            space: self.space,
            rows: self.rows,
            inner: self.inner,
            by_parts: self.by_parts,
            seen: HashSet::new(),
            found: BTreeSet::new(),
        };
        search.visit(&question.0, effort);
        let best = rank(search.found).into_iter().next();
        let answer = best.as_ref().and_then(|best| best.scale(sign));
        self.inner.best.borrow_mut().insert(question, best);
        answer
    }
}

/// `0 <= inner - divisor · floor(inner / divisor) <= divisor - 1`.
fn remainder_rows(variable: &Variable, inner: &Affine, divisor: i64) -> Vec<Affine> {
    let remainder = Affine::variable(variable.clone())
        .scale(divisor)
        .and_then(|whole| inner.subtract(&whole));
    let Some(remainder) = remainder else {
        return Vec::new();
    };
    let below = Affine::constant(divisor - 1).subtract(&remainder);
    below.into_iter().chain([remainder]).collect()
}

/// What a launch must satisfy so that an obligation holds wherever the context does; empty: it
/// always holds. `None`: no condition was found.
pub fn discharge(
    space: &Space,
    obligation: &Obligation,
    context: &Context,
) -> Option<Vec<Condition<KernelSymbol>>> {
    let mut needed = Vec::new();
    for from_above in [true, false] {
        needed.extend(one_side(space, obligation, context, from_above)?);
    }
    Some(needed)
}

fn one_side(
    space: &Space,
    obligation: &Obligation,
    context: &Context,
    from_above: bool,
) -> Option<Vec<Condition<KernelSymbol>>> {
    let test = |facts: &[Constraint]| {
        let bounds = if from_above {
            upper(space, &obligation.affine, facts)
        } else {
            lower(space, &obligation.affine, facts)
        };
        test_bounds(&bounds, obligation, from_above)
    };
    let plain = test(&context.facts);
    if matches!(&plain, Some(None)) {
        return Some(Vec::new());
    }
    // First iteration and later ones apart: later ones know what held at the end of the one before.
    let involved = space.loops_in(&obligation.affine);
    let involved: Vec<_> = context
        .loops
        .iter()
        .filter(|(index, _)| involved.contains(index))
        .collect();
    let mut conditions = Vec::new();
    let mut complete = !involved.is_empty() && involved.len() <= 3;
    for combination in 0..1usize << involved.len().min(3) {
        let mut facts = context.facts.clone();
        for (position, (index, held)) in involved.iter().enumerate() {
            let counter = Affine::variable(Variable::Loop(*index));
            if combination >> position & 1 == 0 {
                facts.push(Constraint::Zero(counter));
            } else {
                facts.extend(
                    counter
                        .add(&Affine::constant(-1))
                        .map(Constraint::NonNegative),
                );
                facts.extend(held.iter().filter_map(|fact| previous(space, fact, *index)));
            }
        }
        match test(&facts) {
            Some(condition) => conditions.extend(condition),
            None => complete = false,
        }
    }
    if complete {
        return Some(conditions);
    }
    plain.map(|condition| condition.into_iter().collect())
}

/// A constraint one iteration of a loop earlier.
pub fn previous(space: &Space, constraint: &Constraint, index: usize) -> Option<Constraint> {
    Some(match constraint {
        Constraint::NonNegative(row) => {
            Constraint::NonNegative(space.previous_iteration(row, index)?)
        }
        Constraint::Zero(row) => Constraint::Zero(space.previous_iteration(row, index)?),
    })
}

/// `Some(None)`: always within; `Some(Some(_))`: within when this holds; `None`: nothing helps.
fn test_bounds(
    bounds: &[Polynomial],
    obligation: &Obligation,
    from_above: bool,
) -> Option<Option<Condition<KernelSymbol>>> {
    // One less than 64 bits hold, so that the difference of both sides is a number, too.
    let most = i128::from(i64::MAX) - 1;
    let clamp = |value: i128| Expression::Constant(value.clamp(i64::MIN.into(), most) as i64);
    let mut tests = Vec::new();
    for bound in bounds {
        let (least, largest) = bound.range();
        let (always, never) = if from_above {
            (largest <= obligation.high, least > obligation.high)
        } else {
            (least >= obligation.low, largest < obligation.low)
        };
        if always {
            return Some(None);
        }
        if never {
            continue;
        }
        tests.push(if from_above {
            Condition::LessEqual(bound.expression(), clamp(obligation.high))
        } else {
            Condition::LessEqual(clamp(obligation.low), bound.expression())
        });
    }
    match tests.len() {
        0 => None,
        1 => tests.pop().map(Some),
        _ => Some(Some(Condition::Any(tests))),
    }
}
