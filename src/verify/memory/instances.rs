//! The instances of a kernel's accesses in one block, and questions about two of them to isl.
//!
//! Invariant: what is not known of an instance is free, so that an answer that there is none holds whatever it is. Subscripts are
//! those of runs in which the model's preconditions hold, by which no product has a negative parameter.

use crate::kernel::{Access, KernelModel, KernelSymbol};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{Set, with_operation_budget};
use std::collections::BTreeSet;
use std::fmt;

/// What the instances of accesses range over.
pub(in crate::verify) struct Space<'a> {
    pub(in crate::verify) kernel: &'a KernelModel,
    /// Extents of a block, where they are known.
    pub(in crate::verify) threads: [Option<u64>; 3],
}

/// What questions speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::verify) enum Symbol {
    /// What is the same for all instances in a block.
    Common(Variable),
    /// What tells an instance from others, of the first or (`true`) of the second access.
    Own(Variable, bool),
    /// A byte of the buffer.
    Byte,
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Common(variable) | Self::Own(variable, false) => write!(formatter, "{variable}"),
            Self::Own(variable, true) => write!(formatter, "{variable}_"),
            Self::Byte => formatter.write_str("byte"),
        }
    }
}

/// The thread index on an axis.
pub(in crate::verify) fn thread(axis: Axis, primed: bool) -> Sum<Symbol> {
    Sum::variable(Symbol::Own(Variable::Thread(axis), primed))
}

/// Operations of isl for each question.
pub(in crate::verify) const MOST_OPERATIONS: u64 = 200_000;

/// Whether all threads of a block find one value, in all iterations.
pub(in crate::verify) fn is_uniform(kernel: &KernelModel, affine: &Affine) -> bool {
    affine.terms.iter().all(|(_, variable)| match variable {
        Variable::Block(_) | Variable::Parameter(_) => true,
        Variable::Thread(_) | Variable::Loop(_) => false,
        Variable::Floor(inner, _) => is_uniform(kernel, inner),
        Variable::Product(index) => {
            let product = kernel.products.get(*index);
            product.is_some_and(|product| is_uniform(kernel, &product.factor))
        }
    })
}

/// Most threads of a block on each axis.
const MOST_THREADS: [u64; 3] = [1024, 1024, 64];

impl Space<'_> {
    /// Whether two threads of a block never touch a common byte by these accesses at these places.
    pub(in crate::verify) fn never_meet(
        &self,
        one: (&Access, &Affine),
        other: (&Access, &Affine),
    ) -> bool {
        let sides = [(one, false), (other, true)];
        let instances = sides.map(|((access, _), primed)| self.instances(access, primed));
        let places = sides.map(|((_, place), primed)| self.sum(place, primed));
        let ([Some(first), Some(second)], [Some(low), Some(also)]) = (instances, places) else {
            return false;
        };
        let (mut variables, mut conditions) = first;
        variables.extend(second.0);
        conditions.extend(second.1);
        let [size, other_size] = [one.0, other.0].map(|access| i128::from(access.size_bytes));
        conditions.push(low.clone().below(also.clone() + other_size));
        conditions.push(also.below(low + size));
        let products = [one.0, other.0].map(|access| self.products(access));
        let signs = products.iter().zip([false, true]);
        let signs = signs.flat_map(|(own, primed)| own.iter().map(move |index| (*index, primed)));
        let signs = signs.map(|(index, primed)| self.sign_of_product(index, primed));
        let both = products[0].intersection(&products[1]);
        let orders = both.filter(|index| !self.is_of_block(**index));
        let orders = orders.map(|index| self.order_of_products(*index));
        let known: Option<Vec<Formula<Symbol>>> = signs.chain(orders).collect();
        let Some(known) = known else {
            return false;
        };
        conditions.extend(known);
        let differ = Axis::ALL.into_iter().map(|axis| {
            let [one, other] = [false, true].map(|primed| thread(axis, primed));
            Formula::differ(one, other)
        });
        conditions.push(Formula::Any(differ.collect()));
        self.is_empty(variables, conditions)
    }

    /// Of two values of a product, the one with the larger factor is larger by the parameter at least, which is not negative.
    fn order_of_products(&self, index: usize) -> Option<Formula<Symbol>> {
        let product = self.kernel.products.get(index)?;
        let [factor, of_other] = [false, true].map(|primed| self.sum(&product.factor, primed));
        let (factor, of_other) = (factor?, of_other?);
        let value = |primed| Sum::variable(Symbol::Own(Variable::Product(index), primed));
        let step = || Sum::variable(Symbol::Common(Variable::Parameter(product.parameter)));
        let (one, other) = (value(false), value(true));
        Some(Formula::Any(vec![
            Formula::All(vec![
                factor.clone().equal(of_other.clone()),
                one.clone().equal(other.clone()),
            ]),
            Formula::All(vec![
                factor.clone().below(of_other.clone()),
                (one.clone() + step()).at_most(other.clone()),
            ]),
            Formula::All(vec![factor.above(of_other), (other + step()).at_most(one)]),
        ]))
    }

    /// The parameter of a product is not negative, and the product is not where its factor is not.
    fn sign_of_product(&self, index: usize, primed: bool) -> Option<Formula<Symbol>> {
        let product = self.kernel.products.get(index)?;
        let factor = self.sum(&product.factor, primed)?;
        let value = self.sum(&Affine::variable(Variable::Product(index)), primed)?;
        let step = Sum::variable(Symbol::Common(Variable::Parameter(product.parameter)));
        let zero = || Sum::number(0);
        Some(Formula::All(vec![
            step.at_least(zero()),
            Formula::Any(vec![factor.below(zero()), value.at_least(zero())]),
        ]))
    }

    pub(in crate::verify) fn is_empty(
        &self,
        variables: BTreeSet<Symbol>,
        conditions: Vec<Formula<Symbol>>,
    ) -> bool {
        let variables: Vec<Symbol> = variables.into_iter().collect();
        let condition = Formula::All(conditions);
        let ask = || Set::of(&self.common(), &variables, &condition)?.is_empty();
        with_operation_budget(MOST_OPERATIONS, ask).is_ok_and(|empty| empty)
    }

    /// What is the same for all instances in a block: the launch's values, the block's indices and products of
    /// these.
    pub(in crate::verify) fn common(&self) -> Vec<Symbol> {
        let products = (0..self.kernel.products.len()).filter(|index| self.is_of_block(*index));
        (0..self.kernel.parameters.len())
            .map(Variable::Parameter)
            .chain(Axis::ALL.map(Variable::Block))
            .chain(products.map(Variable::Product))
            .map(Symbol::Common)
            .collect()
    }

    pub(in crate::verify) fn is_of_block(&self, product: usize) -> bool {
        let product = self.kernel.products.get(product);
        product.is_some_and(|product| is_uniform(self.kernel, &product.factor))
    }

    /// What tells one instance of an access from the others of its block, and what holds for all; the former are
    /// `primed` for the second of two accesses. `None` for no expression.
    pub(in crate::verify) fn instances(
        &self,
        access: &Access,
        primed: bool,
    ) -> Option<(BTreeSet<Symbol>, Vec<Formula<Symbol>>)> {
        let kernel = self.kernel;
        let mut variables: BTreeSet<Symbol> = BTreeSet::new();
        let mut conditions = Vec::new();
        let number = |number: u64| Sum::number(number);
        for axis in Axis::ALL {
            let extent = self.threads[axis.index()];
            let most = extent.unwrap_or(MOST_THREADS[axis.index()]);
            let block = Sum::variable(Symbol::Common(Variable::Block(axis)));
            variables.insert(Symbol::Own(Variable::Thread(axis), primed));
            conditions.push(block.clone().at_least(number(0)));
            conditions.push(Formula::within(
                thread(axis, primed),
                number(0),
                number(most),
            ));
            let named = |symbol| {
                let symbol = Expression::Leaf(symbol);
                let index = kernel
                    .parameters
                    .iter()
                    .position(|known| *known == symbol)?;
                Some(Sum::variable(Symbol::Common(Variable::Parameter(index))))
            };
            if let Some(size) = named(KernelSymbol::BlockSize(axis)) {
                conditions.push(match extent {
                    Some(extent) => size.equal(number(extent)),
                    None => thread(axis, primed).below(size),
                });
            }
            if let Some(size) = named(KernelSymbol::GridSize(axis)) {
                conditions.push(block.below(size));
            }
        }
        for index in &access.loops {
            let counter = Symbol::Own(Variable::Loop(*index), primed);
            conditions.push(Sum::variable(counter.clone()).at_least(number(0)));
            variables.insert(counter);
        }
        let products = self.products(access).into_iter();
        let moving = products.filter(|index| !self.is_of_block(*index));
        variables.extend(moving.map(|index| Symbol::Own(Variable::Product(index), primed)));
        let domain = access.domain.iter().map(|conjunction| {
            let rows = conjunction.iter().map(|constraint| {
                Some(match constraint {
                    Constraint::NonNegative(row) => Formula::NonNegative(self.sum(row, primed)?),
                    Constraint::Zero(row) => Formula::Zero(self.sum(row, primed)?),
                })
            });
            rows.collect::<Option<_>>().map(Formula::All)
        });
        conditions.push(Formula::Any(domain.collect::<Option<_>>()?));
        Some((variables, conditions))
    }

    /// The value of an expression; `None` for no expression.
    pub(in crate::verify) fn sum(&self, affine: &Affine, primed: bool) -> Option<Sum<Symbol>> {
        Sum::of_affine(affine, &mut |variable| {
            let is_common = match variable {
                Variable::Block(_) | Variable::Parameter(_) => true,
                Variable::Product(index) => self.is_of_block(*index),
                Variable::Thread(_) | Variable::Loop(_) | Variable::Floor(..) => false,
            };
            Some(Sum::variable(match is_common {
                true => Symbol::Common(variable.clone()),
                false => Symbol::Own(variable.clone(), primed),
            }))
        })
    }

    /// The products that an access mentions, directly or through others.
    pub(in crate::verify) fn products(&self, access: &Access) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let domain = access.domain.iter().flatten().map(|constraint| {
            let (Constraint::NonNegative(row) | Constraint::Zero(row)) = constraint;
            row
        });
        for affine in domain.chain(&access.subscript) {
            self.note_products(affine, &mut found);
        }
        found
    }

    fn note_products(&self, affine: &Affine, found: &mut BTreeSet<usize>) {
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Product(index) => {
                    found.insert(*index);
                    self.note_products(&self.kernel.products[*index].factor, found);
                }
                Variable::Floor(inner, _) => self.note_products(inner, found),
                _ => {}
            }
        }
    }
}
