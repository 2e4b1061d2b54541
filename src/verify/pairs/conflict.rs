//! The sets of conflicting instances, for isl.
//!
//! A set here contains every pair of instances of two accesses that touch a common byte from
//! different blocks, from different threads of one block, from one thread, or from anywhere, whenever the
//! assumptions hold. It may
//! contain more: a product of a variable with a run-time value is replaced by an unknown about which
//! only true statements are made. So an empty set proves that there is no such pair.

use super::super::delinearised::{Delinearised, domain_only};
use super::super::emptiness::{
    Condition, Instance, Points, Sum, Symbol, constraints_condition, is_empty,
};
use super::super::formula::{self, Assumptions, ParameterNames};
use super::super::member::Member;
use super::super::polynomial::Polynomial;
use super::super::rearranged::{self, ArrangedMember};
use super::super::remapped::Numbers;
use crate::kernel::{Access, AccessId};
use crate::math::affine::{Affine, Axis, Constraint, Constraints, Variable};
use crate::math::formula::Formula;
use crate::program::KernelId;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Which pairs of instances are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) enum Separation {
    /// In different blocks of the grid.
    Blocks,
    /// In different threads of the same block.
    Threads,
    /// Not at all: in one thread.
    Nowhere,
    /// Anyhow: in whatever blocks and threads.
    Anyhow,
    /// In threads of different numbers, or in different runs of them.
    Numbers,
}

/// Where the instances of two members are in the fused launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) enum Positions {
    /// Where they are in their own launches.
    Own,
    /// In the threads of these numbers.
    Numbers(Box<[Numbers; 2]>),
    /// In blocks and threads of other arrangements.
    Arranged(Box<[ArrangedMember; 2]>),
}

/// What was found out so far. Programs ask the same of many launches, and of many kernels.
#[derive(Default)]
pub(in crate::verify) struct Answers {
    alike: HashMap<Alike, usize>,
    forms: HashMap<String, usize>,
    form_of: HashMap<(usize, AccessId), usize>,
    /// By member's number and access.
    moved: HashMap<(usize, AccessId), Option<Moved>>,
    assumed: HashMap<Vec<formula::Formula>, usize>,
    places: HashMap<Positions, usize>,
    known: HashMap<Question, Option<bool>>,
}

/// An access without the part of its subscript that is the same for all threads.
#[derive(Clone)]
struct Moved {
    access: Rc<Access>,
    /// The number of its form.
    form: usize,
    /// That part.
    uniform: Polynomial,
}

/// All of a member that its subscripts depend on.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    kernel: KernelId,
    extents: [Polynomial; 6],
    parameters: Vec<Polynomial>,
}

/// Everything that an answer depends on.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    assumptions: usize,
    /// The numbers of the forms of the two accesses.
    forms: [usize; 2],
    difference: Polynomial,
    separation: Separation,
    /// The number of the places.
    places: usize,
}

impl Answers {
    /// A number that equal members share.
    pub(in crate::verify) fn number(&mut self, member: &Member<'_>) -> usize {
        let alike = Alike {
            kernel: member.model.id,
            extents: member.extents.clone(),
            parameters: member.parameters.clone(),
        };
        let next = self.alike.len();
        *self.alike.entry(alike).or_insert(next)
    }

    /// A number that accesses share of which [`never_meet`] is told the same.
    fn form(&mut self, member: &Member<'_>, access: &Access, number: usize) -> usize {
        let key = (number, access.id);
        if let Some(known) = self.form_of.get(&key) {
            return *known;
        }
        let form = self.form_of_text(member, access);
        self.form_of.insert(key, form);
        form
    }

    fn form_of_text(&mut self, member: &Member<'_>, access: &Access) -> usize {
        let (extents, parameters) = (&member.extents, &member.parameters);
        let products = &member.model.products;
        let (size_bytes, domain) = (access.size_bytes, &access.domain);
        let text = format!(
            "{:?}",
            (
                extents,
                parameters,
                products,
                &access.subscript,
                size_bytes,
                domain
            )
        );
        let next = self.forms.len();
        *self.forms.entry(text).or_insert(next)
    }

    /// A number that equal assumptions share.
    pub(in crate::verify) fn assumption_number(&mut self, assumptions: &Assumptions) -> usize {
        let next = self.assumed.len();
        let formulas = assumptions.formulas().to_vec();
        *self.assumed.entry(formulas).or_insert(next)
    }

    /// An access that is moved to where its threads' own part of the subscript begins; `None` where there is no subscript, or
    /// numbers grow too large.
    fn moved(&mut self, member: &Member<'_>, access: &Access, number: usize) -> Option<Moved> {
        let key = (number, access.id);
        if let Some(known) = self.moved.get(&key) {
            return known.clone();
        }
        let moved = split_uniform(member, access).map(|(uniform, varying)| {
            let access = Access {
                subscript: Some(varying),
                ..access.clone()
            };
            Moved {
                form: self.form_of_text(member, &access),
                access: Rc::new(access),
                uniform,
            }
        });
        self.moved.insert(key, moved.clone());
        moved
    }

    /// See [`never_meet`]; the numbers are those of the assumptions and the two members.
    ///
    /// Only how far apart two accesses are matters, of what is the same for all threads. Kernels that are written out ask about
    /// hundreds of places that are so many times the number of threads apart: these are asked about once for each distance.
    pub(in crate::verify) fn never_meet(
        &mut self,
        (assumptions, assumed): (&Assumptions, usize),
        (source, first, source_number): (&Member<'_>, &Access, usize),
        (sink, second, sink_number): (&Member<'_>, &Access, usize),
        difference: &Polynomial,
        (separation, places): (Separation, &Positions),
    ) -> Option<bool> {
        let next = self.places.len();
        let number = match self.places.get(places) {
            Some(number) => *number,
            None => *self.places.entry(places.clone()).or_insert(next),
        };
        let question = |forms, difference: &Polynomial| Question {
            assumptions: assumed,
            forms,
            difference: difference.clone(),
            separation,
            places: number,
        };
        let how = (separation, places);
        let one = self.moved(source, first, source_number);
        let other = self.moved(sink, second, sink_number);
        if let (Some(one), Some(other)) = (one, other) {
            let apart = difference.add(&one.uniform);
            let apart = apart.and_then(|apart| apart.subtract(&other.uniform));
            if let Some(apart) = apart {
                let asked = question([one.form, other.form], &apart);
                let never = *self.known.entry(asked).or_insert_with(|| {
                    let (source, sink) = ((source, &*one.access), (sink, &*other.access));
                    never_meet(assumptions, source, sink, &apart, how)
                });
                if never == Some(true) {
                    return never;
                }
            }
        }
        // Some proofs want the subscripts as they are written.
        let forms = [
            self.form(source, first, source_number),
            self.form(sink, second, sink_number),
        ];
        let asked = question(forms, difference);
        *self.known.entry(asked).or_insert_with(|| {
            let (source, sink) = ((source, first), (sink, second));
            never_meet(assumptions, source, sink, difference, how)
        })
    }
}

/// The part of an access's subscript that is the same for all threads of a launch, and the rest.
fn split_uniform(member: &Member<'_>, access: &Access) -> Option<(Polynomial, Affine)> {
    let subscript = access.subscript.as_ref()?;
    let mut uniform = Polynomial::constant(subscript.constant);
    let mut varying = Affine::default();
    for (coefficient, variable) in &subscript.terms {
        match variable {
            Variable::Parameter(index) => {
                let value = member.parameters.get(*index)?;
                uniform = uniform.add(&value.scale(*coefficient)?)?;
            }
            _ => varying.terms.push((*coefficient, variable.clone())),
        }
    }
    Some((uniform, varying))
}

/// Whether no two instances that are separation touch a common byte, where offset `x` of the first
/// access is offset `x + difference` of the second. `None` when that could not be found out.
///
/// Domains of many alternatives (loops between larger and smaller of two bounds) can be too much to
/// ask of at once; then each alternative of the one is asked with each of the other.
fn never_meet(
    assumptions: &Assumptions,
    (source, first): (&Member<'_>, &Access),
    (sink, second): (&Member<'_>, &Access),
    difference: &Polynomial,
    how: (Separation, &Positions),
) -> Option<bool> {
    // Places that were written in two ways are alike by their components.
    let by_components = |first: &Access, second: &Access| {
        let (one, other) = ((source, first), (sink, second));
        let components = Delinearised::of(assumptions, one, other, difference)?;
        let [first, second] = [first, second].map(domain_only);
        let (one, other) = ((source, &first), (sink, &second));
        let meeting = Meeting::Delinearised(&components);
        let never = never_meet_at_once(assumptions, one, other, (how, meeting));
        (never == Some(true)).then_some(true)
    };
    let ask = |first: &Access, second: &Access| {
        let (one, other) = ((source, first), (sink, second));
        let meeting = Meeting::Bytes(difference);
        // Most questions are answered without components, and sooner.
        match never_meet_at_once(assumptions, one, other, (how, meeting)) {
            Some(true) => Some(true),
            answer => by_components(first, second).or(answer),
        }
    };
    let pairs = first.domain.len() * second.domain.len();
    match ask(first, second) {
        None if (2..=MOST_ALTERNATIVES).contains(&pairs) => {
            let alternatives = |access: &Access| -> Vec<Access> {
                let alternatives = access.domain.iter().map(|alternative| {
                    let mut one = access.clone();
                    one.domain = vec![alternative.clone()];
                    one
                });
                alternatives.collect()
            };
            let others = alternatives(second);
            for one in alternatives(first) {
                for other in &others {
                    match ask(&one, other) {
                        Some(true) => {}
                        answer => return answer,
                    }
                }
            }
            Some(true)
        }
        answer => answer,
    }
}

/// Pairs of alternatives that are asked of one by one.
const MOST_ALTERNATIVES: usize = 64;

/// How it is said that two instances touch a common byte.
#[derive(Clone, Copy)]
enum Meeting<'a> {
    /// By their subscripts, of which this is the distance of the second's start from the first's.
    Bytes(&'a Polynomial),
    /// By the components of both.
    Delinearised(&'a Delinearised),
    /// It is not known: anywhere.
    Anywhere,
}

/// Whether one of two accesses surely never happens, so that it does not matter where they are.
pub(in crate::verify) fn one_never_happens(
    assumptions: &Assumptions,
    one: (&Member<'_>, &Access),
    other: (&Member<'_>, &Access),
) -> bool {
    let how = (Separation::Anyhow, &Positions::Own);
    never_meet_at_once(assumptions, one, other, (how, Meeting::Anywhere)) == Some(true)
}

fn never_meet_at_once(
    assumptions: &Assumptions,
    (source, source_access): (&Member<'_>, &Access),
    (sink, sink_access): (&Member<'_>, &Access),
    ((separation, places), meeting): ((Separation, &Positions), Meeting<'_>),
) -> Option<bool> {
    let (first_size, second_size) = (source_access.size_bytes, sink_access.size_bytes);
    if first_size == 0 || second_size == 0 {
        return None;
    }
    let mut set = ConflictSet::default();
    let mut sides = [
        set.side(Instance::Source, source, source_access)?,
        set.side(Instance::Sink, sink, sink_access)?,
    ];
    match meeting {
        Meeting::Bytes(difference) => {
            let first = set.affine(&sides[0], source_access.subscript.as_ref()?)?;
            let second = set.affine(&sides[1], sink_access.subscript.as_ref()?)?;
            let first = first + set.names.sum(difference);
            let first_end = first.clone() + i128::from(first_size);
            let second_end = second.clone() + i128::from(second_size);
            set.require(first.below(second_end));
            set.require(second.below(first_end));
            set.rows_apart(&sides, [source_access, sink_access], difference)?;
        }
        Meeting::Delinearised(components) => components.state(&mut set, &mut sides)?,
        Meeting::Anywhere => {}
    }
    let [mut source, mut sink] = sides;
    // What has no number is separation from all that has one.
    let mut outside = Vec::new();
    let (numbers, quotients) = match (separation, places) {
        (Separation::Numbers, Positions::Numbers(numbers)) => {
            let [first, second] = &**numbers;
            let one = first.sum(&mut set, &mut source, assumptions)?;
            let other = second.sum(&mut set, &mut sink, assumptions)?;
            outside.extend(first.outside(&mut set, &mut source, assumptions)?);
            outside.extend(second.outside(&mut set, &mut sink, assumptions)?);
            (Some([one.0, other.0]), [one.1, other.1])
        }
        (Separation::Numbers, _) => return None,
        _ => (None, [None, None]),
    };
    // Blocks, and threads of a block, by coordinates of which one differs when they do.
    let [blocks, threads] = match places {
        Positions::Arranged(arranged) => {
            let sides = [&mut source, &mut sink];
            rearranged::coordinates(&mut set, sides, arranged, assumptions)?
        }
        Positions::Own | Positions::Numbers(_) => {
            let kinds: [fn(Instance, Axis) -> Symbol; 2] = [Symbol::Block, Symbol::Thread];
            kinds.map(|kind| {
                let both = |axis| {
                    [Instance::Source, Instance::Sink].map(|of| Sum::variable(kind(of, axis)))
                };
                Axis::ALL.map(both).to_vec()
            })
        }
    };
    for member in [&source, &sink] {
        set.products(member)?;
    }
    set.product_pairs(assumptions, &source, &sink)?;
    for quotient in quotients.iter().flatten() {
        for side in [&source, &sink] {
            quotient.lie_to_products(&mut set, assumptions, side)?;
        }
    }
    let none = Vec::new();
    let (equal, different) = match separation {
        Separation::Blocks => (vec![], &blocks),
        Separation::Threads => (vec![&blocks], &threads),
        Separation::Nowhere => (vec![&blocks, &threads], &none),
        Separation::Anyhow | Separation::Numbers => (vec![], &none),
    };
    for [one, other] in equal.into_iter().flatten() {
        set.require(one.clone().equal(other.clone()));
    }
    if matches!(separation, Separation::Nowhere | Separation::Anyhow) {
        return is_empty(set.points(assumptions, Formula::truth()));
    }
    if let Some([one, other]) = numbers {
        outside.extend(orders(&one, &other));
        for way in outside {
            if !is_empty(set.points(assumptions, way))? {
                return Some(false);
            }
        }
        return Some(true);
    }
    // One question for each way of being separation keeps the sets small. On an axis of extent 1 there is
    // no way.
    let first_extent = if separation == Separation::Blocks {
        0
    } else {
        3
    };
    let wide = |at: usize| {
        *places != Positions::Own
            || [&source, &sink].into_iter().any(|side| {
                let extent = &side.member.extents[first_extent + at];
                extent.as_constant() != Some(1)
            })
    };
    let different = different.iter().enumerate();
    let different = different.filter(|(at, _)| wide(*at));
    none_differs(&set, assumptions, different.map(|(_, both)| both))
}

/// Whether no instances have one of some coordinates that differs.
fn none_differs<'c>(
    set: &ConflictSet,
    assumptions: &Assumptions,
    coordinates: impl Iterator<Item = &'c [Sum; 2]>,
) -> Option<bool> {
    let mut equal_so_far = Vec::new();
    for [one, other] in coordinates {
        for order in orders(one, other) {
            let mut way = equal_so_far.clone();
            way.push(order);
            if !is_empty(set.points(assumptions, Formula::All(way)))? {
                return Some(false);
            }
        }
        equal_so_far.push(one.clone().equal(other.clone()));
    }
    Some(true)
}

/// The two ways in which two numbers differ.
pub(in crate::verify) fn orders(one: &Sum, other: &Sum) -> [Condition; 2] {
    [Sum::below, Sum::above].map(|order| order(one.clone(), other.clone()))
}

/// A set while it is put together.
#[derive(Clone, Debug, Default)]
pub(in crate::verify) struct ConflictSet {
    pub(in crate::verify) names: ParameterNames,
    variables: BTreeSet<Symbol>,
    constraints: Vec<Condition>,
}

/// One of the two instances.
pub(in crate::verify) struct Side<'a> {
    pub(in crate::verify) instance: Instance,
    pub(in crate::verify) member: &'a Member<'a>,
    /// The products that it mentions, directly or through others.
    pub(in crate::verify) products: BTreeSet<usize>,
}

impl Side<'_> {
    /// Takes a product among those that are mentioned.
    pub(in crate::verify) fn mention(&mut self, product: usize) {
        if self.products.insert(product) {
            let member = self.member;
            collect_products(
                member,
                &member.model.products[product].factor,
                &mut self.products,
            );
        }
    }

    /// Takes the products of an expression among those that are mentioned.
    pub(in crate::verify) fn mention_all(&mut self, affine: &Affine) {
        collect_products(self.member, affine, &mut self.products);
    }
}

impl ConflictSet {
    /// A host value.
    pub(in crate::verify) fn polynomial(&mut self, polynomial: &Polynomial) -> Sum {
        self.names.sum(polynomial)
    }

    /// Adds what holds for every pair.
    pub(in crate::verify) fn require(&mut self, constraint: Condition) {
        self.constraints.push(constraint);
    }

    /// The instances that are separation in a way.
    pub(in crate::verify) fn points(&self, assumptions: &Assumptions, way: Condition) -> Points {
        let mut names = self.names.clone();
        let mut constraints = vec![way];
        constraints.extend(self.constraints.iter().cloned());
        constraints.extend(assumptions.constraints(&mut names));
        Points {
            parameters: names.all(),
            variables: self.variables.iter().copied().collect(),
            condition: Formula::All(constraints),
        }
    }

    /// Declares an instance of an access: its ranges and its domain.
    pub(in crate::verify) fn side<'a>(
        &mut self,
        instance: Instance,
        member: &'a Member<'a>,
        access: &Access,
    ) -> Option<Side<'a>> {
        let kinds: [fn(Instance, Axis) -> Symbol; 2] = [Symbol::Block, Symbol::Thread];
        for (index, kind) in kinds.into_iter().enumerate() {
            for axis in Axis::ALL {
                let place = self.variable(kind(instance, axis));
                let extent = self.names.sum(&member.extents[3 * index + axis.index()]);
                self.require(Formula::within(place, Sum::number(0), extent));
            }
        }
        let mut products = BTreeSet::new();
        let subscript = access.subscript.iter();
        for affine in subscript.chain(constraint_expressions(&access.domain)) {
            collect_products(member, affine, &mut products);
        }
        let side = Side {
            instance,
            member,
            products,
        };
        let domain = self.constraints(&side, &access.domain)?;
        self.require(domain);
        Some(side)
    }

    /// The instances of constraints, and the numbers that it keeps factors of products below or above.
    fn constraints(&mut self, side: &Side<'_>, constraints: &Constraints) -> Option<Condition> {
        constraints_condition(
            self,
            constraints,
            |set, conjunction| set.bounded_products(side, conjunction),
            |set, affine| set.affine(side, affine),
        )
    }

    /// What constraints say of products by a value that is not negative: `factor <= c` bounds the product by
    /// `c` times the value, and `factor >= c` likewise.
    fn bounded_products(
        &mut self,
        side: &Side<'_>,
        conjunction: &[Constraint],
    ) -> Option<Vec<Condition>> {
        let mut parts = Vec::new();
        for index in side.products.iter().copied() {
            let product = &side.member.model.products[index];
            let parameter = side.member.parameters.get(product.parameter)?;
            if parameter.as_constant().is_some() {
                continue;
            }
            let mut bound = |value: &Polynomial, compare: fn(Sum, Sum) -> Condition| {
                let limit = self.names.sum(&parameter.multiply(value)?);
                let product = self.product(side, index);
                parts.push(compare(product, limit));
                Some(())
            };
            for constraint in conjunction {
                let (Constraint::NonNegative(affine) | Constraint::Zero(affine)) = constraint;
                let is_zero = matches!(constraint, Constraint::Zero(_));
                let above = affine.add(&product.factor);
                if let Some(most) = above.and_then(|sum| plain_bound(side.member, &sum)) {
                    bound(&most, if is_zero { Sum::equal } else { Sum::at_most })?;
                }
                let below = affine
                    .subtract(&product.factor)
                    .and_then(|rest| rest.as_constant());
                if let Some(least) = below {
                    let compare = if is_zero { Sum::equal } else { Sum::at_least };
                    bound(&Polynomial::constant(least.checked_neg()?), compare)?;
                }
            }
        }
        Some(parts)
    }

    /// An affine expression of one side.
    pub(in crate::verify) fn affine(&mut self, side: &Side<'_>, affine: &Affine) -> Option<Sum> {
        let mut sum = Sum::number(affine.constant);
        for (coefficient, variable) in &affine.terms {
            let term = match variable {
                Variable::Parameter(index) => {
                    let parameter = side.member.parameters.get(*index)?;
                    sum = sum + self.names.sum(&parameter.scale(*coefficient)?);
                    continue;
                }
                Variable::Block(axis) => Sum::variable(Symbol::Block(side.instance, *axis)),
                Variable::Thread(axis) => Sum::variable(Symbol::Thread(side.instance, *axis)),
                Variable::Loop(index) => {
                    let symbol = Symbol::Loop(side.instance, *index);
                    if self.variables.insert(symbol) {
                        self.require(Formula::NonNegative(Sum::variable(symbol)));
                    }
                    Sum::variable(symbol)
                }
                Variable::Product(index) => self.product(side, *index),
                Variable::Floor(numerator, divisor) => {
                    self.affine(side, numerator)?.floor(*divisor)
                }
            };
            sum = sum + term * i128::from(*coefficient);
        }
        Some(sum)
    }

    /// A variable of its own.
    pub(in crate::verify) fn variable(&mut self, symbol: Symbol) -> Sum {
        self.variables.insert(symbol);
        Sum::variable(symbol)
    }

    /// The variable that stands for a product of one side.
    pub(in crate::verify) fn product(&mut self, side: &Side<'_>, index: usize) -> Sum {
        self.variable(Symbol::Product(side.instance, index))
    }
}

/// A bound that is the same for all threads, but for the last number below a parameter that is no quotient: what is
/// known of such is looked at with all that products are compared with.
fn plain_bound(member: &Member<'_>, affine: &Affine) -> Option<Polynomial> {
    let bound = member.uniform(&affine.terms)?;
    let bound = bound.add(&Polynomial::constant(affine.constant))?;
    let end = bound.add(&Polynomial::constant(1))?;
    let is_looked_at = member.parameters.contains(&end) && !end.is_quotient();
    (!is_looked_at).then_some(bound)
}

fn constraint_expressions(constraints: &Constraints) -> impl Iterator<Item = &Affine> {
    constraints
        .iter()
        .flatten()
        .map(|constraint| match constraint {
            Constraint::NonNegative(affine) | Constraint::Zero(affine) => affine,
        })
}

fn collect_products(member: &Member<'_>, affine: &Affine, products: &mut BTreeSet<usize>) {
    for (_, variable) in &affine.terms {
        match variable {
            Variable::Product(index) if products.insert(*index) => {
                collect_products(member, &member.model.products[*index].factor, products);
            }
            Variable::Floor(numerator, _) => collect_products(member, numerator, products),
            _ => {}
        }
    }
}
