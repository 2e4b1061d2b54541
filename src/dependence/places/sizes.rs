//! Sizes that two launches are given each, and that only a run can find equal.
//!
//! A buffer has one layout, so that two launches that walk over it in rows have been told the same
//! scope, though perhaps by two arguments, or by an argument and a literal. Where the pair is of global scope as
//! it is, it is looked at again as if these were equal, which then is a condition of the edge. So it is where
//! the one is that of elements and the other that of vectors, and the number of elements divides evenly.

use super::super::Guard;
use super::super::instance::{Instance, TargetUse};
use super::super::polynomial::{Atom, Monomial, Polynomial};
use super::super::problem::divide;
use crate::launch::ValueId;
use crate::math::affine::{Affine, Variable};
use crate::math::expression::{Condition, Expression};

/// Sizes of one launch that are taken to be sizes of the other.
pub(in crate::dependence) struct EqualSizes {
    /// What each value is taken to be.
    images: Vec<(ValueId, Polynomial)>,
    /// That it is so.
    pub(in crate::dependence) guards: Vec<Guard>,
}

impl EqualSizes {
    /// A polynomial over host values with these replaced; `None` where it leaves 64 bits.
    pub(in crate::dependence) fn applied(&self, polynomial: &Polynomial) -> Option<Polynomial> {
        polynomial.substitute(&|value| {
            let mut images = self.images.iter();
            let found = images.find(|(known, _)| *known == value);
            found.map(|(_, image)| image.clone())
        })
    }
}

/// The sizes that may be equal of two targets, the likeliest first.
pub(in crate::dependence) fn candidates(
    (source, from, source_parameters): (&Instance, &TargetUse, &[Polynomial]),
    (sink, to, sink_parameters): (&Instance, &TargetUse, &[Polynomial]),
) -> Vec<EqualSizes> {
    let of_source = Sizes::of(source, from, source_parameters);
    let of_sink = Sizes::of(sink, to, sink_parameters);
    let mut found = Vec::new();
    let roles = [
        (true, &of_source.strides, &of_sink.strides),
        (false, &of_source.offsets, &of_sink.offsets),
    ];
    let mut all = EqualSizes {
        images: Vec::new(),
        guards: Vec::new(),
    };
    for (are_strides, ours, theirs) in roles {
        let only = |list: &[Polynomial], other: &[Polynomial]| -> Vec<Polynomial> {
            let list = list.iter().filter(|size| !other.contains(size));
            list.cloned().collect()
        };
        let (mut ours, theirs) = (only(ours, theirs), only(theirs, ours));
        // Many things begin at a literal, and few are as wide as one by chance.
        if !are_strides {
            ours.retain(|size| size.as_constant().is_none());
        }
        let in_order = ours.len() == theirs.len();
        for (first, one) in ours.iter().enumerate() {
            for (second, other) in theirs.iter().enumerate() {
                let Some((value, guard)) = equal(one, other) else {
                    continue;
                };
                if in_order && first == second {
                    all.images.push((value, one.clone()));
                    all.guards.push(guard.clone());
                }
                found.push(EqualSizes {
                    images: vec![(value, one.clone())],
                    guards: vec![guard],
                });
            }
        }
    }
    if all.images.len() > 1 {
        found.insert(0, all);
    }
    found.splice(0..0, multiples(&of_source.scaled, &of_sink.scaled));
    let of_rows = [
        rows_of_product(&of_source, source_parameters, &of_sink.strides),
        rows_of_product(&of_sink, sink_parameters, &of_source.strides),
    ];
    found.splice(0..0, of_rows.into_iter().flatten());
    found.truncate(MOST_TRIED);
    found
}

/// The distance between rows that a launch multiplies out of several numbers, for the one row that all its threads share, and
/// that the other launch is told as one number: the row of a cache that a token has, and the rows of all tokens.
fn rows_of_product(
    one: &Sizes,
    parameters: &[Polynomial],
    strides: &[Polynomial],
) -> Vec<EqualSizes> {
    // How many rows of this distance the shared one is behind the first may itself be a product.
    let rows_of = |distance: &Polynomial| {
        let factors = product_of_several(distance)?;
        let monomials = one.offsets.iter().flat_map(|offset| offset.terms.keys());
        monomials
            .filter_map(|monomial| Some(divide(monomial, factors)?.len()))
            .max()
    };
    let distances = parameters
        .iter()
        .filter(|distance| !strides.contains(distance));
    let mut distances: Vec<_> = distances
        .filter_map(|distance| Some((rows_of(distance)?, distance)))
        .collect();
    // The number of a row that is no literal is a factor, too.
    distances.sort_by_key(|(rows, _)| std::cmp::Reverse(*rows));
    let most = distances.first().map_or(0, |(rows, _)| *rows);
    let distances = distances.into_iter().filter(|(rows, _)| *rows == most);
    let of_distance = |(_, distance): (usize, &Polynomial)| {
        let equal = |stride| {
            let (value, guard) = equal(distance, stride)?;
            Some(EqualSizes {
                images: vec![(value, distance.clone())],
                guards: vec![guard],
            })
        };
        strides.iter().filter_map(equal).collect::<Vec<_>>()
    };
    distances.flat_map(of_distance).collect()
}

/// The factors of a polynomial that is a product of at least two of them.
fn product_of_several(polynomial: &Polynomial) -> Option<&Monomial> {
    let mut terms = polynomial.terms.iter();
    match (terms.next()?, terms.next()) {
        ((monomial, 1), None) if monomial.len() > 1 => Some(monomial),
        _ => None,
    }
}

/// Strides that are equal in bytes where one size is a multiple of the other: the rows of a matrix by single
/// elements and by vectors of them, whose number the host or the kernel found by a division that may leave
/// something over.
fn multiples(ours: &[(i64, Polynomial)], theirs: &[(i64, Polynomial)]) -> Vec<EqualSizes> {
    let mut found = Vec::new();
    for (bytes, size) in ours {
        for (other_bytes, other) in theirs {
            let ((small_bytes, small), (large_bytes, large)) = match bytes < other_bytes {
                true => ((*bytes, size), (*other_bytes, other)),
                false => ((*other_bytes, other), (*bytes, size)),
            };
            if small_bytes <= 0 || small_bytes == large_bytes || large_bytes % small_bytes != 0 {
                continue;
            }
            let image = large.scale(large_bytes / small_bytes);
            let multiple = single_value(small).zip(image).and_then(|(value, image)| {
                let condition = Condition::Equal(Expression::Leaf(value), expression(&image)?);
                let class = String::from("divisible");
                Some(EqualSizes {
                    images: vec![(value, image)],
                    guards: vec![Guard::Holds { class, condition }],
                })
            });
            found.extend(multiple);
        }
    }
    found
}

/// Ways to be equal that are tried.
const MOST_TRIED: usize = 4;

/// Uniform values that the subscripts of a target's accesses mention.
#[derive(Default)]
struct Sizes {
    /// What something that differs between threads or iterations is multiplied by.
    strides: Vec<Polynomial>,
    /// The same of what differs between blocks, each with how many bytes one of it is.
    scaled: Vec<(i64, Polynomial)>,
    /// What is added.
    offsets: Vec<Polynomial>,
}

impl Sizes {
    fn of(instance: &Instance, used: &TargetUse, parameters: &[Polynomial]) -> Self {
        let mut sizes = Self::default();
        for access in used.reads.iter().chain(&used.writes) {
            if let Some(subscript) = &instance.model.accesses[*access].subscript {
                sizes.collect(instance, subscript, parameters);
                sizes.collect_scaled(instance, subscript, parameters);
            }
        }
        sizes
    }

    fn collect_scaled(
        &mut self,
        instance: &Instance,
        subscript: &Affine,
        parameters: &[Polynomial],
    ) {
        for (bytes, variable) in &subscript.terms {
            let Variable::Product(index) = variable else {
                continue;
            };
            let product = &instance.model.products[*index];
            let is_block = |(_, variable): &(i64, Variable)| matches!(variable, Variable::Block(_));
            let size = parameters.get(product.parameter);
            if let Some(size) = size.filter(|_| product.factor.terms.iter().any(is_block)) {
                let scaled = (*bytes, size.clone());
                if !self.scaled.contains(&scaled) {
                    self.scaled.push(scaled);
                }
            }
        }
    }

    fn collect(&mut self, instance: &Instance, affine: &Affine, parameters: &[Polynomial]) {
        let mut add = |list: fn(&mut Self) -> &mut Vec<Polynomial>, index: usize| {
            let list = list(self);
            if let Some(size) = parameters.get(index).filter(|size| !list.contains(size)) {
                list.push(size.clone());
            }
        };
        let mut inner = Vec::new();
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Parameter(index) => add(|sizes| &mut sizes.offsets, *index),
                Variable::Product(index) => {
                    let product = &instance.model.products[*index];
                    add(|sizes| &mut sizes.strides, product.parameter);
                    inner.push(&product.factor);
                }
                Variable::Floor(numerator, _) => inner.push(&**numerator),
                Variable::Block(_) | Variable::Thread(_) | Variable::Loop(_) => {}
            }
        }
        for affine in inner {
            self.collect(instance, affine, parameters);
        }
    }
}

/// The value that is taken to be a size, and that it is.
fn equal(size: &Polynomial, other: &Polynomial) -> Option<(ValueId, Guard)> {
    let value = single_value(other)?;
    let is_own = |atom: &&Atom| **atom == Atom::Value(value);
    if size.atoms().iter().any(is_own) {
        return None;
    }
    let guard = Guard::Holds {
        class: String::from("size"),
        condition: Condition::Equal(Expression::Leaf(value), expression(size)?),
    };
    Some((value, guard))
}

fn single_value(size: &Polynomial) -> Option<ValueId> {
    let mut terms = size.terms.iter();
    match (terms.next()?, terms.next()) {
        ((monomial, 1), None) => match monomial.as_slice() {
            [Atom::Value(value)] => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

/// A literal, or a product of values and quotients by literals, as a guard would write it.
fn expression(size: &Polynomial) -> Option<Expression<ValueId>> {
    if let Some(constant) = size.as_constant() {
        return Some(Expression::Constant(constant));
    }
    let mut terms = size.terms.iter();
    let ((monomial, factor), None) = (terms.next()?, terms.next()) else {
        return None;
    };
    let mut product = Expression::Constant(*factor);
    for atom in monomial {
        let factor = match atom {
            Atom::Value(value) => Expression::Leaf(*value),
            Atom::FloorDivide(size, divisor) => {
                let divisor = divisor.as_constant().filter(|divisor| *divisor > 0)?;
                expression(size)?.floor_divide(Expression::Constant(divisor))
            }
            _ => return None,
        };
        product = product.multiply(factor);
    }
    Some(product)
}
