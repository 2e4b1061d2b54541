//! Runs of places: as many threads of one launch, in the order of their numbers, as a block of the other
//! touches elements of theirs. The length of a run may be known at run time only.
//!
//! Invariant: a quotient by a length that only the run knows is one that every pair has where the length is at
//! least 1, which is a condition of the map.

use super::super::Scope;
use super::super::mapped::push_condition;
use super::super::mapped::{
    Candidate, Terms, divided, expand, host_expression, linear_block, linear_place,
};
use super::super::pair::PairOfTargets;
use super::super::polynomial::Polynomial;
use super::super::problem::{Builder, Choice, ProductDimension, Sum, Symbol, written};
use super::super::relation::Shape;
use crate::kernel::{Access, KernelModel};
use crate::math::affine::{Affine, Axis, Variable};
use crate::math::expression::{Condition, Expression};
use crate::math::formula::Formula;

/// `run = floor(number / (factor · value))`, and `begin = run · factor · value`.
pub(in crate::dependence) struct Quotient {
    run: Symbol,
    begin: Symbol,
    factor: i64,
    value: Polynomial,
}

/// Maps of runs of either side to blocks of the other.
pub(in crate::dependence) fn candidates(
    pair: &PairOfTargets,
    [source, sink]: [&Shape; 2],
    (earlier, later): (&Access, &Access),
) -> Vec<Candidate> {
    let mut found = Vec::new();
    let sides = [
        (pair.source.model, earlier, pair.source_parameters, source),
        (pair.sink.model, later, pair.sink_parameters, sink),
    ];
    for (of_runs, of_blocks) in [(0, 1), (1, 0)] {
        let candidate = || {
            let (model, access, parameters, shape) = sides[of_runs];
            let mut runs = linear_place(shape)?;
            let step = step_of_places(model, access, parameters, &runs.terms)?;
            let (model, access, parameters, shape) = sides[of_blocks];
            let length = divided(&step_of_blocks(model, access, parameters)?, step)?;
            let mut conditions = Vec::new();
            match length.as_constant() {
                Some(length) if length <= 1 => return None,
                Some(_) => {}
                None => push_condition(
                    &mut conditions,
                    Condition::LessEqual(Expression::Constant(1), host_expression(&length)?),
                ),
            }
            runs.divisor = length;
            let mut coordinates = [linear_block(shape)?, runs];
            let mut blocks = (1, 0);
            if of_runs == 0 {
                coordinates.reverse();
                blocks = (0, 1);
            }
            let [source, sink] = coordinates;
            Some(Candidate {
                scope: Scope::Block,
                source: vec![source],
                sink: vec![sink],
                blocks,
                conditions,
            })
        };
        found.extend(candidate());
    }
    found
}

/// How many bytes a place is from the one before, where the access goes by their numbers.
fn step_of_places(
    model: &KernelModel,
    access: &Access,
    parameters: &[Polynomial],
    places: &Terms,
) -> Option<i64> {
    let (terms, _) = expand(model, access.subscript.as_ref()?, parameters)?;
    let (_, first) = places.first()?;
    let of = |variable: &Variable| {
        let mut terms = terms.iter();
        terms.find(|(_, known)| known == variable).map(|(of, _)| of)
    };
    let step = of(first)?.as_constant().filter(|step| *step > 0)?;
    let alike = places.iter().all(|(coefficient, variable)| {
        of(variable).is_some_and(|found| coefficient.scale(step).as_ref() == Some(found))
    });
    (alike && terms.len() == places.len()).then_some(step)
}

/// How many bytes a block is from the one before, whatever its threads and loops add.
fn step_of_blocks(
    model: &KernelModel,
    access: &Access,
    parameters: &[Polynomial],
) -> Option<Polynomial> {
    let subscript = access.subscript.as_ref()?;
    let steps = [Axis::X, Axis::Y].map(|axis| step_on(model, subscript, parameters, axis));
    let mut steps = steps.into_iter().flatten();
    steps.find(|step| !step.terms.is_empty())
}

fn step_on(
    model: &KernelModel,
    affine: &Affine,
    parameters: &[Polynomial],
    axis: Axis,
) -> Option<Polynomial> {
    let mut step = Polynomial::default();
    for (coefficient, variable) in &affine.terms {
        let inner = match variable {
            Variable::Block(own) if *own == axis => Polynomial::constant(1),
            Variable::Product(index) => {
                let product = model.products.get(*index)?;
                let inner = step_on(model, &product.factor, parameters, axis)?;
                inner.multiply(parameters.get(product.parameter)?)?
            }
            // Warps counted through all blocks: as many more for each block as it has, if these are whole.
            Variable::Floor(inner, divisor) => {
                let inner = step_on(model, inner, parameters, axis)?;
                match divided(&inner, *divisor) {
                    Some(step) => step,
                    None => continue,
                }
            }
            _ => continue,
        };
        step = step.add(&inner.scale(*coefficient)?)?;
    }
    Some(step)
}

impl Builder<'_> {
    /// A number, which is not negative, by a length of at least 1 that is not constant, rounded down.
    pub(in crate::dependence) fn quotient(
        &mut self,
        side: usize,
        number: &Sum,
        length: &Polynomial,
    ) -> Option<Sum> {
        let (factor, value) = length.split_content();
        let count = self.quotients.len();
        let (run, begin) = (Symbol::Run(side, count), Symbol::Begin(side, count));
        self.dimensions.extend([run, begin]);
        let (length, step) = (self.polynomial(length), self.polynomial(&value));
        let start = || Sum::variable(begin);
        self.base.push(Formula::All(vec![
            Formula::NonNegative(Sum::variable(run)),
            step.at_least(Sum::number(1)),
        ]));
        self.base.push(Formula::All(vec![
            Formula::NonNegative(start()),
            start().at_most(number.clone()),
            number.clone().below(start() + length),
        ]));
        self.quotients.push(Quotient {
            run,
            begin,
            factor,
            value,
        });
        Some(Sum::variable(run))
    }

    /// How products of the same value lie to the quotients' own.
    pub(in crate::dependence) fn quotient_axioms(&self) -> Option<Vec<Choice>> {
        let mut choices = Vec::new();
        for quotient in &self.quotients {
            let step = written(&self.monomial_index, &quotient.value)?;
            let factor = i128::from(quotient.factor);
            let begin = || Sum::variable(quotient.begin);
            let end = || begin() + step.clone() * factor;
            // Factors from the first to one past the last of the run.
            let first = || Sum::variable(quotient.run) * factor;
            let past = || first() + factor;
            let alike = |product: &&ProductDimension| product.parameter == quotient.value;
            for product in self.products.iter().filter(alike) {
                let e = || product.factor_sum.clone();
                let q = || Sum::variable(product.symbol);
                choices.push(vec![
                    Formula::All(vec![
                        first().at_most(e()),
                        e().below(past()),
                        begin().at_most(q()),
                        (q() + step.clone()).at_most(end()),
                    ]),
                    Formula::All(vec![
                        e().below(first()),
                        (q() + step.clone()).at_most(begin()),
                    ]),
                    Formula::All(vec![e().at_least(past()), q().at_least(end())]),
                ]);
            }
        }
        Some(choices)
    }
}
