//! One pair of threads that shows why an edge is as wide as it is.
//!
//! A conflict is a set with parameters, some of them products of host values. To find a point of it
//! the host values are given small numbers that a launch could have (blocks of 256 threads, a
//! handful of blocks), which makes every product plain; the first point in the order of source
//! block, source thread, sink block, sink thread is taken.
//!
//! Invariant: a witness belongs to the relation of its edge for the values that it names. It
//! explains and decides nothing.

use super::super::Scope;
use super::super::lowered::Lowered;
use super::super::polynomial::{Atom, Monomial, Polynomial};
use super::super::problem::{Condition, Problem, Question, Sum, Symbol};
use super::super::relation::{Facts, Shape, Side};
use crate::math::affine::Axis;
use crate::math::formula::Formula;
use crate::math::isl;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Two threads that touch a common byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dependence) struct Sample {
    /// The source's block and thread, x, y, z each.
    pub(in crate::dependence) source: [i64; 6],
    /// The sink's.
    pub(in crate::dependence) sink: [i64; 6],
    /// The first byte that both touch, counted from the sink's pointer.
    pub(in crate::dependence) byte: i64,
}

/// A sample and the values that it is for.
#[derive(Clone, Debug)]
pub(in crate::dependence) struct Example {
    pub(in crate::dependence) sample: Sample,
    pub(in crate::dependence) assignment: Assignment,
    /// The host values that the two accesses and shapes mention.
    pub(in crate::dependence) mentioned: BTreeSet<Atom>,
}

impl Example {
    /// The same with other names for the host values; `None` where one has none.
    pub(in crate::dependence) fn renamed(
        &self,
        rename: &impl Fn(&Atom) -> Option<Atom>,
    ) -> Option<Self> {
        let known = self.assignment.known.iter();
        let known = known.map(|(atom, value)| Some((rename(atom)?, *value)));
        Some(Self {
            sample: self.sample.clone(),
            assignment: Assignment {
                known: known.collect::<Option<_>>()?,
                other: self.assignment.other,
            },
            mentioned: self.mentioned.iter().map(rename).collect::<Option<_>>()?,
        })
    }
}

/// What is known of samples.
#[derive(Debug, Default)]
pub(in crate::dependence) struct KnownSamples {
    /// By what was asked, with the number of the values that gave them; programs repeat themselves.
    samples: HashMap<Asked, Option<(Sample, usize)>>,
    /// Values tried in vain.
    fruitless: usize,
    /// What all searches took, as [`super::super::lowered::Lowered::spent`] measures it.
    spent: u64,
}

/// The scope, the problem, and what it has in place of host values, each time that it is tried.
type Asked = (Scope, Question, Vec<Condition>);

/// Numbers for host values.
#[derive(Clone, Debug, Default)]
pub(in crate::dependence) struct Assignment {
    /// Extents of grids and blocks, and counters of host loops.
    known: BTreeMap<Atom, i64>,
    other: i64,
}

/// How often values are tried before there is no witness.
const MOST_ATTEMPTS: usize = 12;
/// After so many values tried in vain in a program, only the likeliest are tried for each problem: a
/// witness explains, and may not cost more than the analysis.
const MOST_FRUITLESS_ATTEMPTS: usize = 10 * MOST_ATTEMPTS;
/// Most that is spent in search of one witness, as [`super::super::lowered::Lowered::spent`] measures it; a
/// tenth of what decides an edge.
const MOST_SPENT: u64 = 15_000_000;
/// What a whole program may spend after which its witnesses get little each.
const MUCH_SPENT: u64 = 300_000_000;
/// What a search may always take; an ordinary one takes a tenth of it.
const LEAST_SPENT: u64 = 500_000;
/// Most alternatives that are looked into for one assignment.
const MOST_ALTERNATIVES: usize = 60;

/// Assignments that the facts allow, likely ones first.
pub(in crate::dependence) fn assignments(shapes: [&Shape; 2], facts: &Facts) -> Vec<Assignment> {
    let shapes_tried = [
        ([256, 1, 1], [4, 1, 1]),
        ([16, 16, 1], [4, 4, 1]),
        ([32, 8, 1], [8, 8, 1]),
        ([8, 8, 4], [4, 4, 4]),
    ];
    let mut found: Vec<Assignment> = Vec::new();
    for (block, grid) in shapes_tried {
        let mut known_values = BTreeMap::new();
        for shape in shapes {
            let named = shape.block.iter().zip(block);
            for (extent, value) in named.chain(shape.grid.iter().zip(grid)) {
                if let Some(atom) = single_atom(extent) {
                    known_values.entry(atom.clone()).or_insert(value);
                }
            }
        }
        // The first iterations of all loops, and the next ones for the sink.
        for counter in &facts.counters {
            let later = matches!(counter, Atom::SinkSide(_));
            known_values.insert(counter.clone(), i64::from(later));
        }
        let shaped = Assignment {
            known: known_values,
            other: 0,
        };
        let across = shaped.threads(shapes[0], &[Axis::X]);
        let down = shaped.threads(shapes[0], &[Axis::Y]);
        let all = shaped.threads(shapes[0], &Axis::ALL);
        for other in [across, all, down, Some(64), Some(4096)] {
            let Some(other) = other else { continue };
            let assignment = Assignment {
                other,
                ..shaped.clone()
            };
            let known = found
                .iter()
                .any(|known| known.known == assignment.known && known.other == assignment.other);
            let allowed = facts
                .holding
                .iter()
                .all(|fact| assignment.evaluate(fact).is_some_and(|value| value >= 0));
            if !known && allowed && found.len() < MOST_ATTEMPTS {
                found.push(assignment);
            }
        }
    }
    found
}

impl Assignment {
    /// The value of a polynomial; `None` when it leaves 64 bits.
    pub(in crate::dependence) fn evaluate(&self, polynomial: &Polynomial) -> Option<i64> {
        let mut sum = 0i64;
        for (monomial, coefficient) in &polynomial.terms {
            let mut term = *coefficient;
            for atom in monomial {
                term = term.checked_mul(self.atom(atom)?)?;
            }
            sum = sum.checked_add(term)?;
        }
        Some(sum)
    }

    /// The value of a product of indeterminates.
    fn monomial(&self, monomial: &Monomial) -> Option<i64> {
        self.evaluate(&Polynomial {
            terms: BTreeMap::from([(monomial.clone(), 1)]),
        })
    }

    /// The value of an indeterminate.
    pub(in crate::dependence) fn atom(&self, atom: &Atom) -> Option<i64> {
        if let Some(value) = self.known.get(atom) {
            return Some(*value);
        }
        match atom {
            Atom::Value(_) | Atom::Private(..) => Some(self.other),
            Atom::SinkSide(atom) => self.atom(atom),
            Atom::FloorDivide(a, b) => {
                let (a, b) = (self.evaluate(a)?, self.evaluate(b)?);
                (b > 0).then(|| a.div_euclid(b))
            }
            Atom::Minimum(a, b) => Some(self.evaluate(a)?.min(self.evaluate(b)?)),
            Atom::Maximum(a, b) => Some(self.evaluate(a)?.max(self.evaluate(b)?)),
        }
    }

    /// Threads of the whole grid along some axes.
    fn threads(&self, shape: &Shape, axes: &[Axis]) -> Option<i64> {
        axes.iter().try_fold(1i64, |product, axis| {
            let grid = self.evaluate(&shape.grid[axis.index()])?;
            let block = self.evaluate(&shape.block[axis.index()])?;
            product.checked_mul(grid)?.checked_mul(block)
        })
    }
}

/// The atom that an extent is.
fn single_atom(extent: &Polynomial) -> Option<&Atom> {
    let (monomial, coefficient) = extent.terms.first_key_value()?;
    match monomial.as_slice() {
        [atom] if extent.terms.len() == 1 && *coefficient == 1 => Some(atom),
        _ => None,
    }
}

/// A pair of threads that conflict and are as far apart as `scope` says, with the values for which
/// they do. `None` where none is found with little effort.
pub(in crate::dependence) fn sample(
    source: &Side,
    sink: &Side,
    distance: &Polynomial,
    facts: &Facts,
    scope: Scope,
    known: &mut KnownSamples,
) -> Option<Example> {
    let problem = Problem::build(source, sink, Some(distance), facts)?;
    problem.addresses.as_ref()?;
    let attempts: Vec<(Assignment, Condition)> = assignments([source.shape, sink.shape], facts)
        .into_iter()
        .filter_map(|assignment| {
            let fixed = fixed_values(&problem, &assignment)?;
            Some((assignment, fixed))
        })
        .collect();
    let values = attempts.iter().map(|(_, fixed)| fixed.clone()).collect();
    let key = (scope, problem.question(), values);
    let (fruitless, spent) = (&mut known.fruitless, &mut known.spent);
    let found = known.samples.entry(key).or_insert_with(|| {
        let tried = if *fruitless < MOST_FRUITLESS_ATTEMPTS {
            attempts.len()
        } else {
            1
        };
        let share = MUCH_SPENT.saturating_sub(*spent) / (MUCH_SPENT / MOST_SPENT);
        let mut search = WitnessSearch {
            problem: &problem,
            scope,
            left: share.max(LEAST_SPENT),
        };
        let allowed = search.left;
        let mut tried = attempts.iter().take(tried).enumerate();
        let found = tried.find_map(|(index, (assignment, fixed))| {
            let point = search.first_point(assignment, fixed).ok().flatten();
            *fruitless += usize::from(point.is_none());
            Some((point?, index))
        });
        *spent += allowed - search.left;
        found
    });
    let (sample, index) = found.as_ref()?;
    Some(Example {
        sample: sample.clone(),
        assignment: attempts.into_iter().nth(*index)?.0,
        mentioned: problem.monomials.iter().flatten().cloned().collect(),
    })
}

/// A search under way.
struct WitnessSearch<'p> {
    problem: &'p Problem,
    scope: Scope,
    /// What may still be spent.
    left: u64,
}

impl WitnessSearch<'_> {
    /// The first point of the problem for the values of an assignment.
    fn first_point(
        &mut self,
        assignment: &Assignment,
        fixed: &Condition,
    ) -> isl::Result<Option<Sample>> {
        let mut lowered = self.problem.lowered(self.left)?;
        let point = self.first_point_of(&mut lowered, fixed);
        self.left = self.left.saturating_sub(lowered.spent());
        Ok(point?.and_then(|point| read_point(self.problem, assignment, &point)))
    }

    fn first_point_of(
        &self,
        lowered: &mut Lowered,
        fixed: &Condition,
    ) -> isl::Result<Option<Vec<i64>>> {
        let fixed_values = lowered.conjunction(fixed)?;
        let kind = match self.scope {
            Scope::Thread => return Ok(None),
            Scope::Block => Symbol::Thread,
            Scope::Global => Symbol::Block,
        };
        let least = self.problem.places();
        for axis in Axis::ALL {
            for order in [Sum::below, Sum::above] {
                let [source, sink] = [0, 1].map(|side| Sum::variable(kind(side, axis)));
                let different = lowered.conjunction(&order(source, sink))?;
                let conditions = [&different, &fixed_values];
                let point = lowered.first_point(&conditions, &least, MOST_ALTERNATIVES)?;
                if point.is_some() {
                    return Ok(point);
                }
            }
        }
        Ok(None)
    }
}

/// Each parameter and each product as what it is for these values.
fn fixed_values(problem: &Problem, assignment: &Assignment) -> Option<Condition> {
    let mut fixed = Vec::new();
    for (index, monomial) in problem.monomials.iter().enumerate() {
        let parameter = Sum::variable(Symbol::Parameter(index));
        fixed.push(parameter.equal(Sum::number(assignment.monomial(monomial)?)));
    }
    for (symbol, factor, parameter) in &problem.definitions {
        let times = i128::from(assignment.evaluate(parameter)?);
        fixed.push(Sum::variable(*symbol).equal(factor.clone() * times));
    }
    Some(Formula::All(fixed))
}

/// The twelve places and the common byte of a point.
fn read_point(problem: &Problem, assignment: &Assignment, point: &[i64]) -> Option<Sample> {
    let side = |first: usize| -> Option<[i64; 6]> { point.get(first..first + 6)?.try_into().ok() };
    let (source, sink) = (side(0)?, side(6)?);
    let dimensions = problem.dimensions.iter().copied().zip(point);
    let dimensions = dimensions.map(|(symbol, value)| Some((symbol, *value)));
    let parameters = problem.parameters().into_iter().zip(&problem.monomials);
    let parameters =
        parameters.map(|(symbol, monomial)| Some((symbol, assignment.monomial(monomial)?)));
    let values = dimensions.chain(parameters);
    let values: HashMap<Symbol, i64> = values.collect::<Option<_>>()?;
    let value = |address: &Sum| {
        let value = address.value(&|symbol| values.get(symbol).copied().map(i128::from))?;
        i64::try_from(value).ok()
    };
    let [left, right] = problem.addresses.as_ref()?;
    let byte = value(left)?.max(value(right)?);
    Some(Sample { source, sink, byte })
}
