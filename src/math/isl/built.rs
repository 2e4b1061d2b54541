//! Sets made of formulas.
//!
//! Invariant: the set of a formula has the points that satisfy it; a formula with a number that did not fit gives none.

use super::{
    Context, DIM_INPUT, DIM_PARAMETER, DIM_SET, IslError, Result, Set, c_string, context,
    dimension, isl_set_from_basic_set, isl_set_intersect, isl_set_union, isl_space_set_alloc,
    isl_space_set_dim_name, isl_val_int_from_si,
};
use crate::math::formula::{Formula, Sum, Term};
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::fmt::Display;
use std::hash::Hash;
use std::ptr::NonNull;
use std::rc::Rc;

impl Set {
    /// The points of a space that satisfy a formula. Parameters and dimensions have the names that they are written
    /// with, by which the parameters of several sets are the same; dimensions are in the order given.
    ///
    /// # Errors
    /// Quota, a number that does not fit, or a variable that is neither a parameter nor a dimension.
    pub fn of<V: Clone + Eq + Hash + Display>(
        parameters: &[V],
        dimensions: &[V],
        formula: &Formula<V>,
    ) -> Result<Self> {
        let context = context();
        context.start();
        let space = Space::new(&context, parameters, dimensions)?;
        Builder {
            context: &context,
            space,
        }
        .set(formula)
    }
}

/// An `isl_space`, and where each variable is in it.
struct Space<V> {
    raw: Owned,
    places: HashMap<V, (c_int, c_int)>,
}

impl<V: Clone + Eq + Hash + Display> Space<V> {
    fn new(context: &Context, parameters: &[V], dimensions: &[V]) -> Result<Self> {
        let names = |variables: &[V]| -> Result<Vec<CString>> {
            let names = variables.iter().map(V::to_string);
            names.map(|name| c_string(&name)).collect()
        };
        let names = [
            (DIM_PARAMETER, names(parameters)?),
            (DIM_SET, names(dimensions)?),
        ];
        let counts = [dimension(parameters.len())?, dimension(dimensions.len())?];
        // SAFETY: the context lives; what comes back is ours, or null.
        let mut raw = unsafe { isl_space_set_alloc(context.raw.as_ptr(), counts[0], counts[1]) };
        for (kind, names) in &names {
            for (index, name) in (0..).zip(names) {
                // SAFETY: isl takes the space and gives one back that is ours, or null, which it passes through; the
                // name is NUL-terminated and copied.
                raw = unsafe { isl_space_set_dim_name(raw, *kind, index, name.as_ptr()) };
            }
        }
        let raw = Owned::new(context, raw, isl_space_free)?;
        let parameters = parameters.iter().cloned().zip(0..);
        let parameters = parameters.map(|(variable, at)| (variable, (DIM_PARAMETER, at)));
        let dimensions = dimensions.iter().cloned().zip(0..);
        // By this kind the dimensions of a sum's domain are named.
        let dimensions = dimensions.map(|(variable, at)| (variable, (DIM_INPUT, at)));
        Ok(Self {
            raw,
            places: parameters.chain(dimensions).collect(),
        })
    }

    /// One more reference to the space, for a call that takes it.
    fn copy(&self) -> *mut c_void {
        // SAFETY: the space lives; copying counts one more reference.
        unsafe { isl_space_copy(self.raw.object.as_ptr()) }
    }
}

struct Builder<'c, V> {
    context: &'c Rc<Context>,
    space: Space<V>,
}

impl<V: Clone + Eq + Hash + Display> Builder<'_, V> {
    fn set(&self, formula: &Formula<V>) -> Result<Set> {
        let (parts, join): (_, Join) = match formula {
            Formula::NonNegative(sum) => return self.points(sum, isl_aff_nonneg_basic_set),
            Formula::Zero(sum) => return self.points(sum, isl_aff_zero_basic_set),
            Formula::All(parts) => (parts, isl_set_intersect),
            Formula::Any(parts) => (parts, isl_set_union),
        };
        let mut sets = parts.iter().map(|part| self.set(part));
        let Some(first) = sets.next() else {
            // SAFETY: both calls take the space, of which the copy is one reference.
            let raw = unsafe {
                match formula {
                    Formula::Any(_) => isl_set_empty(self.space.copy()),
                    _ => isl_set_universe(self.space.copy()),
                }
            };
            return Set::own(self.context.clone(), raw);
        };
        sets.try_fold(first?, |all, set| {
            // SAFETY: the call takes both sets, each ours and given away once.
            let raw = unsafe { join(all.into_raw(), set?.into_raw()) };
            Set::own(self.context.clone(), raw)
        })
    }

    /// The points at which a sum compares so with zero.
    fn points(&self, sum: &Sum<V>, compare: Compare) -> Result<Set> {
        let sum = self.sum(sum)?;
        // SAFETY: the calls take what they are given, ours and given away once, and pass null through.
        let raw = unsafe { isl_set_from_basic_set(compare(sum.into_raw())) };
        Set::own(self.context.clone(), raw)
    }

    /// An `isl_aff`.
    fn sum(&self, sum: &Sum<V>) -> Result<Owned> {
        let (terms, constant) = sum
            .parts()
            .ok_or_else(|| IslError::Invalid(String::from("a number of more than 128 bits")))?;
        let own = |raw| Owned::new(self.context, raw, isl_aff_free);
        // SAFETY: the calls take the space, of which the copy is one reference, and what they are given of each
        // other, and pass null through.
        let mut aff = own(unsafe {
            let space = isl_local_space_from_space(self.space.copy());
            let zero = isl_aff_zero_on_domain(space);
            isl_aff_set_constant_val(zero, self.number(constant))
        })?;
        for (term, coefficient) in terms {
            match term {
                Term::Variable(variable) => {
                    let place = self.space.places.get(variable).copied();
                    let (kind, at) = place.ok_or_else(|| {
                        IslError::Invalid(format!("{variable} is not in the space"))
                    })?;
                    // SAFETY: the call takes the sum and the value, both ours and given away once.
                    aff = own(unsafe {
                        let number = self.number(*coefficient);
                        isl_aff_set_coefficient_val(aff.into_raw(), kind, at, number)
                    })?;
                }
                Term::Floor(numerator, divisor) => {
                    let numerator = self.sum(numerator)?;
                    // SAFETY: the calls take sums and values, each ours and given away once, and pass null through.
                    aff = own(unsafe {
                        let quotient =
                            isl_aff_scale_down_val(numerator.into_raw(), self.number(*divisor));
                        let floor = isl_aff_floor(quotient);
                        let scaled = isl_aff_scale_val(floor, self.number(*coefficient));
                        isl_aff_add(aff.into_raw(), scaled)
                    })?;
                }
            }
        }
        Ok(aff)
    }

    /// An `isl_val` that is for the taker; null where isl has none.
    fn number(&self, number: i128) -> *mut c_void {
        let context = self.context.raw.as_ptr();
        // SAFETY: the context lives; of the two halves, the lower first, isl reads as many bytes as is said. It takes
        // the value that it negates.
        unsafe {
            if let Ok(number) = i64::try_from(number) {
                return isl_val_int_from_si(context, number);
            }
            let size = number.unsigned_abs();
            let halves = [size as u64, (size >> 64) as u64];
            let value = isl_val_int_from_chunks(
                context,
                halves.len(),
                size_of::<u64>(),
                halves.as_ptr().cast(),
            );
            match number < 0 {
                true => isl_val_neg(value),
                false => value,
            }
        }
    }
}

/// An object of isl that is given back once.
pub(super) struct Owned {
    pub(super) object: NonNull<c_void>,
    free: Free,
}

impl Owned {
    pub(super) fn new(context: &Context, raw: *mut c_void, free: Free) -> Result<Self> {
        let object = NonNull::new(raw).ok_or_else(|| context.failure())?;
        Ok(Self { object, free })
    }

    /// Gives the object away.
    pub(super) fn into_raw(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).object.as_ptr()
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: this object owns one reference, given back once, to what frees it.
        unsafe { (self.free)(self.object.as_ptr()) };
    }
}

pub(super) type Free = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Compare = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type Join = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;

// SAFETY: the signatures are those of isl's headers; enumerations are C ints there, and `__isl_take` pointers are
// consumed also when the call fails.
unsafe extern "C" {
    fn isl_space_copy(space: *mut c_void) -> *mut c_void;
    fn isl_space_free(space: *mut c_void) -> *mut c_void;
    fn isl_local_space_from_space(space: *mut c_void) -> *mut c_void;
    fn isl_set_empty(space: *mut c_void) -> *mut c_void;
    fn isl_set_universe(space: *mut c_void) -> *mut c_void;
    fn isl_aff_zero_on_domain(space: *mut c_void) -> *mut c_void;
    fn isl_aff_set_constant_val(aff: *mut c_void, value: *mut c_void) -> *mut c_void;
    fn isl_aff_set_coefficient_val(
        aff: *mut c_void,
        kind: c_int,
        position: c_int,
        value: *mut c_void,
    ) -> *mut c_void;
    fn isl_aff_scale_down_val(aff: *mut c_void, value: *mut c_void) -> *mut c_void;
    fn isl_aff_scale_val(aff: *mut c_void, value: *mut c_void) -> *mut c_void;
    fn isl_aff_floor(aff: *mut c_void) -> *mut c_void;
    fn isl_aff_add(one: *mut c_void, other: *mut c_void) -> *mut c_void;
    fn isl_aff_nonneg_basic_set(aff: *mut c_void) -> *mut c_void;
    fn isl_aff_zero_basic_set(aff: *mut c_void) -> *mut c_void;
    fn isl_aff_free(aff: *mut c_void) -> *mut c_void;
    fn isl_val_int_from_chunks(
        context: *mut c_void,
        count: usize,
        size: usize,
        chunks: *const c_void,
    ) -> *mut c_void;
    fn isl_val_neg(value: *mut c_void) -> *mut c_void;
}

#[cfg(test)]
mod tests {
    use super::super::System;
    use super::*;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    const PARAMETERS: [&str; 2] = ["p0", "p1"];
    const DIMENSIONS: [&str; 3] = ["a", "b", "c"];

    /// A sum, and how isl writes it.
    fn sum(random: &mut StdRng, depth: usize) -> (Sum<&'static str>, String) {
        let names = [PARAMETERS.as_slice(), &DIMENSIONS].concat();
        let number = random.random_range(-9i64..10);
        match random.random_range(0..if depth == 0 { 2 } else { 5 }) {
            0 => (Sum::number(number), number.to_string()),
            1 => {
                let name = names[random.random_range(0..names.len())];
                let sum = Sum::variable(name) * number.into();
                (sum, format!("{number}*{name}"))
            }
            2 => {
                let (one, other) = (sum(random, depth - 1), sum(random, depth - 1));
                (one.0 + other.0, format!("({} + {})", one.1, other.1))
            }
            3 => {
                let (inner, text) = sum(random, depth - 1);
                (inner * number.into(), format!("({number}*{text})"))
            }
            _ => {
                let divisor = random.random_range(1i64..9);
                let (inner, text) = sum(random, depth - 1);
                (inner.floor(divisor), format!("floor(({text})/{divisor})"))
            }
        }
    }

    /// A formula, and how isl writes it.
    fn formula(random: &mut StdRng, depth: usize) -> (Formula<&'static str>, String) {
        let kind = random.random_range(0..if depth == 0 { 6 } else { 9 });
        if kind < 6 {
            let ((one, left), (other, right)) = (sum(random, 2), sum(random, 2));
            let (made, order) = match kind {
                0 => (one.below(other), "<"),
                1 => (one.at_most(other), "<="),
                2 => (one.equal(other), "="),
                3 => (one.at_least(other), ">="),
                4 => (one.above(other), ">"),
                _ => (Formula::differ(one, other), "!="),
            };
            return (made, format!("{left} {order} {right}"));
        }
        let count = random.random_range(0..4);
        let parts = (0..count).map(|_| formula(random, depth - 1));
        let (parts, texts): (Vec<_>, Vec<_>) = parts.unzip();
        let texts: Vec<_> = texts.iter().map(|text| format!("({text})")).collect();
        match (kind, count) {
            (6, 0) => (Formula::falsehood(), "0 = 1".to_owned()),
            (6, _) => (Formula::Any(parts), texts.join(" or ")),
            (_, 0) => (Formula::truth(), "0 = 0".to_owned()),
            _ => (Formula::All(parts), texts.join(" and ")),
        }
    }

    fn by_text(condition: &str) -> Set {
        let (parameters, dimensions) = (PARAMETERS.join(", "), DIMENSIONS.join(", "));
        Set::parse(&format!(
            "[{parameters}] -> {{ [{dimensions}] : {condition} }}"
        ))
        .unwrap()
    }

    #[test]
    fn sets_of_formulas_are_what_isl_reads() {
        let mut random = StdRng::seed_from_u64(11);
        let mut empty = 0;
        for _ in 0..400 {
            let (formula, text) = formula(&mut random, 2);
            let (expected, found) = (
                by_text(&text),
                Set::of(&PARAMETERS, &DIMENSIONS, &formula).unwrap(),
            );
            assert!(found.is_subset(&expected).unwrap(), "more: {text}");
            assert!(expected.is_subset(&found).unwrap(), "less: {text}");
            let mut system = System::new(&PARAMETERS, &DIMENSIONS);
            let rows = system.rows(&formula).unwrap();
            let is_empty = expected.is_empty().unwrap();
            assert_eq!(system.is_empty(&rows, 1000), Ok(is_empty), "{text}");
            empty += usize::from(is_empty);
        }
        assert!((20..380).contains(&empty), "{empty} are empty");
    }

    #[test]
    fn numbers_have_128_bits() {
        let power = 1i128 << 100;
        let numbers = [
            i64::MAX.into(),
            i64::MIN.into(),
            power + 12345,
            -power - 678,
            i128::MAX,
        ];
        for number in numbers {
            let [a, b] = ["a", "b"].map(Sum::variable);
            let formula = Formula::All(vec![
                a.clone().equal(b.clone() * number + number),
                b.clone().at_least(Sum::number(number)),
            ]);
            let found = Set::of(&PARAMETERS, &DIMENSIONS, &formula).unwrap();
            let expected = by_text(&format!("a = {number}*b + {number} and b >= {number}"));
            assert!(found.is_subset(&expected).unwrap() && expected.is_subset(&found).unwrap());
            let fits = i64::try_from(number).is_ok_and(|number| number.checked_neg().is_some());
            let rows = System::new(&PARAMETERS, &DIMENSIONS).rows(&formula);
            assert_eq!(rows.is_ok(), fits, "{number}");
        }
        let none = (Sum::variable("a") + Sum::number(i128::MAX)) + Sum::number(1);
        let none = Formula::Zero(none);
        assert!(Set::of(&PARAMETERS, &DIMENSIONS, &none).is_err());
        assert!(System::new(&PARAMETERS, &DIMENSIONS).rows(&none).is_err());
        let unknown = Formula::Zero(Sum::variable("d"));
        assert!(Set::of(&PARAMETERS, &DIMENSIONS, &unknown).is_err());
        assert!(
            System::new(&PARAMETERS, &DIMENSIONS)
                .rows(&unknown)
                .is_err()
        );
    }

    #[test]
    fn quotients_that_are_one_as_rows_are_one() {
        let double = (Sum::variable("a") * 2).floor(6) - Sum::variable("a").floor(3);
        let formula = Formula::All(vec![Formula::Zero(double), Formula::truth()]);
        let set = Set::of::<&str>(&[], &["a"], &formula).unwrap();
        let all = Set::of::<&str>(&[], &["a"], &Formula::truth()).unwrap();
        assert!(all.is_subset(&set).unwrap());
    }
}
