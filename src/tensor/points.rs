//! What is asked of isl about sizes, indices and elements, and forms as what such questions are made of.
//!
//! Invariant: the points of a set that is made here are those at which its conditions hold. A form that cannot be said is
//! unknown, and no set is made of it.

use super::linear::{Atom, Linear};
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{Set, System};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A number that conditions speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// A symbol of the function.
    Symbol(usize),
    /// A product of sizes, of which nothing is known but what is said of it.
    Product(Atom),
    /// A coordinate of an element.
    Element(usize),
    /// An index of one instance of a statement.
    Index(Instance, usize),
    /// A time other than the present one, by number.
    Time(usize),
}

/// Tells the instances of statements apart that one question speaks of.
pub type Instance = usize;

/// A condition on them.
pub type Condition = Formula<Name>;

/// What the atoms of a form are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naming {
    /// The instance whose indices they are.
    pub instance: Instance,
    /// A symbol that is another time, and which.
    pub time: Option<(usize, usize)>,
}

/// What a form is in each of some cases, which together are all.
#[derive(Clone, Debug)]
pub struct Value(Vec<(Vec<Condition>, Sum<Name>)>);

/// The points of the given dimensions, for each value of symbols and products, that satisfy all conditions; of whatever else
/// they speak there is some number. `None` where isl does not say, or there are too many cases.
pub fn set(dimensions: &[Name], conditions: Vec<Condition>) -> Option<Set> {
    let formula = Formula::All(conditions);
    let mut parameters = BTreeSet::new();
    let mut hidden = BTreeSet::new();
    formula.visit(&mut |name: &Name| {
        match name {
            Name::Symbol(_) | Name::Product(_) => parameters.insert(name.clone()),
            _ if dimensions.contains(name) => false,
            _ => hidden.insert(name.clone()),
        };
    });
    let parameters: Vec<Name> = parameters.into_iter().collect();
    let all: Vec<Name> = dimensions.iter().cloned().chain(hidden).collect();
    let set = Set::of(&parameters, &all, &formula).ok()?;
    match all.len() - dimensions.len() {
        0 => Some(set),
        hidden => set.project_out(dimensions.len(), hidden).ok(),
    }
}

/// Whether no numbers satisfy all conditions; `None` where isl does not say.
///
/// Mappings and versions of a definition ask the same, so that answers are remembered for the thread's life.
pub fn is_empty(conditions: Vec<Condition>) -> Option<bool> {
    let formula = Formula::All(conditions);
    if let Some(known) = ANSWERS.with_borrow(|answers| answers.get(&formula).copied()) {
        return known;
    }
    let mut names = BTreeSet::new();
    formula.visit(&mut |name: &Name| {
        names.insert(name.clone());
    });
    let names: Vec<Name> = names.into_iter().collect();
    let answer = by_rows(&names, &formula).or_else(|| {
        let set = Set::of(&[], &names, &formula);
        set.and_then(|set| set.is_empty()).ok()
    });
    ANSWERS.with_borrow_mut(|answers| {
        if answers.len() >= MOST_ANSWERS {
            answers.clear();
        }
        answers.insert(formula, answer);
    });
    answer
}

/// By rows, one alternative after the other; `None` where a number has more than 64 bits, or there are too many.
fn by_rows(names: &[Name], formula: &Condition) -> Option<bool> {
    let mut system = System::new(&[], names);
    let rows = system.rows(formula).ok()?;
    system.is_empty(&rows, MOST_CONJUNCTIONS).ok()
}

thread_local! {
    static ANSWERS: RefCell<HashMap<Condition, Option<bool>>> = RefCell::default();
}

/// Answers that are remembered.
const MOST_ANSWERS: usize = 10_000;
/// Conjunctions that one question may be taken apart into.
const MOST_CONJUNCTIONS: usize = 200;

/// Coordinates of an element.
pub fn coordinates(rank: usize) -> Vec<Name> {
    (0..rank).map(Name::Element).collect()
}

impl Value {
    /// A form.
    pub fn of(form: &Linear, naming: Naming) -> Self {
        let terms = form.terms.iter();
        let mut sum = Self::number(form.constant);
        for (atom, factor) in terms {
            let term = Self::of_atom(atom, naming);
            sum = sum.with(&term, |sum, term| sum + term * i128::from(*factor));
        }
        sum
    }

    /// A number that conditions speak of.
    pub fn name(name: Name) -> Self {
        Self(vec![(Vec::new(), Sum::variable(name))])
    }

    /// A number.
    pub fn number(number: i64) -> Self {
        Self(vec![(Vec::new(), Sum::number(number))])
    }

    /// How it compares with another one.
    pub fn is(
        &self,
        compare: impl Fn(Sum<Name>, Sum<Name>) -> Condition,
        other: &Self,
    ) -> Condition {
        let mut cases = Vec::new();
        for (holding, left) in &self.0 {
            for (also, right) in &other.0 {
                let mut all = [holding.as_slice(), also].concat();
                all.push(compare(left.clone(), right.clone()));
                cases.push(match all.len() {
                    1 => all.remove(0),
                    _ => Formula::All(all),
                });
            }
        }
        match cases.len() {
            1 => cases.remove(0),
            _ => Formula::Any(cases),
        }
    }

    fn of_atom(atom: &Atom, naming: Naming) -> Self {
        match atom {
            Atom::Symbol(symbol) => Self::name(match naming.time {
                Some((own, time)) if own == *symbol => Name::Time(time),
                _ => Name::Symbol(*symbol),
            }),
            Atom::Variable(variable) => Self::name(Name::Index(naming.instance, *variable)),
            Atom::Floor(form, divisor) => {
                let cases = Self::of(form, naming).0.into_iter();
                let cases = cases.map(|(holding, sum)| (holding, sum.floor(*divisor)));
                Self(cases.collect())
            }
            Atom::Minimum(forms) => Self::extreme(forms, naming, Sum::at_most),
            Atom::Maximum(forms) => Self::extreme(forms, naming, Sum::at_least),
            Atom::Product(..) => Self::name(Name::Product(atom.clone())),
        }
    }

    /// The one of some forms that compares so with all others.
    fn extreme(
        forms: &[Linear],
        naming: Naming,
        compare: impl Fn(Sum<Name>, Sum<Name>) -> Condition + Copy,
    ) -> Self {
        let forms: Vec<Self> = forms.iter().map(|form| Self::of(form, naming)).collect();
        let mut cases = Vec::new();
        for (at, form) in forms.iter().enumerate() {
            let others = forms.iter().enumerate().filter(|(other, _)| *other != at);
            let wins: Vec<Condition> = others.map(|(_, other)| form.is(compare, other)).collect();
            for (holding, sum) in &form.0 {
                let holding = holding.iter().chain(&wins).cloned();
                cases.push((holding.collect(), sum.clone()));
            }
        }
        Self(cases).bounded()
    }

    /// What two make together.
    fn with(&self, other: &Self, join: impl Fn(Sum<Name>, Sum<Name>) -> Sum<Name>) -> Self {
        let mut cases = Vec::new();
        for (holding, one) in &self.0 {
            for (also, another) in &other.0 {
                let holding = [holding.as_slice(), also].concat();
                cases.push((holding, join(one.clone(), another.clone())));
            }
        }
        Self(cases).bounded()
    }

    /// Unknown where there are too many cases.
    fn bounded(self) -> Self {
        match self.0.len() {
            0..=MOST_CASES => self,
            _ => Self(vec![(Vec::new(), Sum::unknown())]),
        }
    }
}

/// Most cases of a form.
const MOST_CASES: usize = 64;

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(number) => write!(f, "s{number}"),
            // The same product has the same name, and no other one has it.
            Self::Product(product) => write!(f, "{product:?}"),
            Self::Element(number) => write!(f, "a{number}"),
            Self::Index(instance, number) => write!(f, "i{instance}_{number}"),
            Self::Time(number) => write!(f, "t{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::formula::Term;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    fn form(random: &mut StdRng, depth: usize) -> Linear {
        let leaf = match random.random_range(0..3) {
            0 => Linear::symbol(random.random_range(0..2)),
            1 => Linear::variable(random.random_range(0..2)),
            _ => Linear::number(random.random_range(-5..6)),
        };
        if depth == 0 {
            return leaf;
        }
        let (one, other) = (form(random, depth - 1), form(random, depth - 1));
        let made = match random.random_range(0..5) {
            0 => one.minimum(&other),
            1 => one.maximum(&other),
            2 => one.floor_divide(random.random_range(2..5)),
            3 => one.plus(&other, random.random_range(-2..3)),
            _ => one.add(&leaf),
        };
        made.unwrap()
    }

    fn sum_at(sum: &Sum<Name>, at: &dyn Fn(&Name) -> i64) -> i128 {
        let (terms, constant) = sum.parts().unwrap();
        let each = terms.iter().map(|(term, factor)| {
            factor
                * match term {
                    Term::Variable(name) => i128::from(at(name)),
                    Term::Floor(inner, divisor) => sum_at(inner, at).div_euclid(*divisor),
                }
        });
        constant + each.sum::<i128>()
    }

    fn holds_at(condition: &Condition, at: &dyn Fn(&Name) -> i64) -> bool {
        match condition {
            Formula::NonNegative(sum) => sum_at(sum, at) >= 0,
            Formula::Zero(sum) => sum_at(sum, at) == 0,
            Formula::All(parts) => parts.iter().all(|part| holds_at(part, at)),
            Formula::Any(parts) => parts.iter().any(|part| holds_at(part, at)),
        }
    }

    #[test]
    fn conditions_hold_where_the_values_of_forms_compare_so() {
        let mut random = StdRng::seed_from_u64(3);
        for _ in 0..500 {
            let (left, right) = (form(&mut random, 2), form(&mut random, 2));
            let naming = Naming {
                instance: 7,
                time: None,
            };
            let [one, other] = [&left, &right].map(|form| Value::of(form, naming));
            for _ in 0..8 {
                let numbers: [i64; 4] = std::array::from_fn(|_| random.random_range(-9..10));
                let of = |atom: &Atom| match atom {
                    Atom::Symbol(symbol) => numbers[*symbol],
                    Atom::Variable(variable) => numbers[2 + variable],
                    _ => unreachable!(),
                };
                let at = |name: &Name| match name {
                    Name::Symbol(symbol) => numbers[*symbol],
                    Name::Index(7, variable) => numbers[2 + variable],
                    _ => unreachable!(),
                };
                let (a, b) = (left.value(&of).unwrap(), right.value(&of).unwrap());
                assert_eq!(holds_at(&one.is(Sum::below, &other), &at), a < b);
                assert_eq!(holds_at(&one.is(Sum::equal, &other), &at), a == b);
                assert_eq!(holds_at(&one.is(Formula::differ, &other), &at), a != b);
            }
        }
    }

    #[test]
    fn what_is_no_dimension_is_some_number() {
        // 0 <= i < min(n, 4), and the element is 2i.
        let bound = Linear::symbol(0).minimum(&Linear::number(4)).unwrap();
        let naming = Naming::default();
        let index = Value::name(Name::Index(0, 0));
        let double = Linear::variable(0).scale(2).unwrap();
        let conditions = vec![
            Value::number(0).is(Sum::at_most, &index),
            index.is(Sum::below, &Value::of(&bound, naming)),
            Value::name(Name::Element(0)).is(Sum::equal, &Value::of(&double, naming)),
        ];
        let set = set(&coordinates(1), conditions).unwrap();
        let expected = "[s0] -> { [a] : 0 <= a < 2s0 and a <= 6 and a mod 2 = 0 }";
        let expected = Set::parse(expected).unwrap();
        assert!(set.is_subset(&expected).unwrap() && expected.is_subset(&set).unwrap());
    }

    #[test]
    fn products_are_told_apart_by_what_they_are() {
        let [n, m] = [0, 1].map(Linear::symbol);
        let (product, square) = (n.multiply(&m).unwrap(), m.multiply(&m).unwrap());
        let above =
            |form: &Linear| Value::of(form, Naming::default()).is(Sum::at_least, &Value::number(1));
        let [one, other] = [&product, &square].map(|form| set(&[], vec![above(form)]).unwrap());
        assert_eq!(one.is_subset(&one), Ok(true));
        assert_eq!(one.is_subset(&other), Ok(false));
    }

    #[test]
    fn too_many_cases_are_no_set() {
        let pairs = (0..8).map(|number| {
            Linear::symbol(2 * number)
                .minimum(&Linear::symbol(2 * number + 1))
                .unwrap()
        });
        let sum = pairs.reduce(|sum, pair| sum.add(&pair).unwrap()).unwrap();
        let value = Value::of(&sum, Naming::default());
        assert!(set(&[], vec![value.is(Sum::equal, &Value::number(0))]).is_none());
    }
}
