//! Sizes, bounds and affine subscripts: linear forms over sizes and indices, with quotients, minima and maxima.
//!
//! Invariant: forms are normal, so that equal sums are equal forms. Every operation that would leave 64 bits gives `None`.

use std::collections::BTreeMap;

/// What a form is linear in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// A size, a value that the host knows, or the index of a time loop: a number in the function's `symbols`.
    Symbol(usize),
    /// An index: a number in the statement's `variables`.
    Variable(usize),
    /// A quotient, rounded down, by a positive number.
    Floor(Box<Linear>, i64),
    /// The smallest of several forms.
    Minimum(Vec<Linear>),
    /// The largest of several forms.
    Maximum(Vec<Linear>),
    /// A product of two forms without indices.
    Product(Box<Linear>, Box<Linear>),
}

/// A linear form.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Linear {
    /// Factors, none of them 0.
    pub terms: BTreeMap<Atom, i64>,
    /// What is added.
    pub constant: i64,
}

impl Linear {
    /// A number.
    pub fn number(constant: i64) -> Self {
        Self {
            terms: BTreeMap::new(),
            constant,
        }
    }

    /// One atom.
    pub fn atom(atom: Atom) -> Self {
        Self {
            terms: BTreeMap::from([(atom, 1)]),
            constant: 0,
        }
    }

    /// A symbol.
    pub fn symbol(symbol: usize) -> Self {
        Self::atom(Atom::Symbol(symbol))
    }

    /// An index.
    pub fn variable(variable: usize) -> Self {
        Self::atom(Atom::Variable(variable))
    }

    /// Its value where it is a number.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The index that it is, where it is nothing but one.
    pub fn as_variable(&self) -> Option<usize> {
        match (self.terms.iter().next(), self.terms.len(), self.constant) {
            (Some((Atom::Variable(variable), 1)), 1, 0) => Some(*variable),
            _ => None,
        }
    }

    /// `self + factor · other`.
    pub fn plus(&self, other: &Self, factor: i64) -> Option<Self> {
        let mut sum = self.clone();
        let scaled = |number: i64| number.checked_mul(factor);
        sum.constant = sum.constant.checked_add(scaled(other.constant)?)?;
        for (atom, number) in &other.terms {
            let entry = sum.terms.entry(atom.clone()).or_insert(0);
            *entry = entry.checked_add(scaled(*number)?)?;
            if *entry == 0 {
                sum.terms.remove(atom);
            }
        }
        Some(sum)
    }

    /// `self + other`.
    pub fn add(&self, other: &Self) -> Option<Self> {
        self.plus(other, 1)
    }

    /// `self - other`.
    pub fn subtract(&self, other: &Self) -> Option<Self> {
        self.plus(other, -1)
    }

    /// `self + number`.
    pub fn offset(&self, number: i64) -> Option<Self> {
        self.plus(&Self::number(number), 1)
    }

    /// `self · number`.
    pub fn scale(&self, number: i64) -> Option<Self> {
        Self::default().plus(self, number)
    }

    /// The product, a form itself where one side is a number or neither has indices.
    pub fn multiply(&self, other: &Self) -> Option<Self> {
        match (self.as_number(), other.as_number()) {
            (Some(number), _) => other.scale(number),
            (_, Some(number)) => self.scale(number),
            _ if self.has_variables() || other.has_variables() => None,
            _ => {
                let (first, second) = (self.min(other), self.max(other));
                let product = Atom::Product(Box::new(first.clone()), Box::new(second.clone()));
                Some(Self::atom(product))
            }
        }
    }

    /// The quotient by a positive number, rounded down.
    pub fn floor_divide(&self, divisor: i64) -> Option<Self> {
        if divisor <= 0 {
            return None;
        }
        // What divides evenly comes out of the quotient.
        let mut whole = Self::number(self.constant.div_euclid(divisor));
        let mut rest = Self::number(self.constant.rem_euclid(divisor));
        for (atom, number) in &self.terms {
            let part = match number % divisor {
                0 => &mut whole,
                _ => &mut rest,
            };
            let number = if number % divisor == 0 {
                number / divisor
            } else {
                *number
            };
            part.terms.insert(atom.clone(), number);
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        whole.add(&Self::atom(Atom::Floor(Box::new(rest), divisor)))
    }

    /// The quotient by a positive number, rounded up.
    pub fn ceil_divide(&self, divisor: i64) -> Option<Self> {
        self.offset(divisor.checked_sub(1)?)?.floor_divide(divisor)
    }

    /// The smaller of two.
    pub fn minimum(&self, other: &Self) -> Option<Self> {
        self.extreme(other, true)
    }

    /// The larger of two.
    pub fn maximum(&self, other: &Self) -> Option<Self> {
        self.extreme(other, false)
    }

    fn extreme(&self, other: &Self, smaller: bool) -> Option<Self> {
        let mut parts: Vec<Self> = Vec::new();
        for side in [self, other] {
            let nested = match (side.terms.iter().next(), side.terms.len(), side.constant) {
                (Some((Atom::Minimum(nested), 1)), 1, 0) if smaller => nested.clone(),
                (Some((Atom::Maximum(nested), 1)), 1, 0) if !smaller => nested.clone(),
                _ => vec![side.clone()],
            };
            for part in nested {
                let known = parts.iter_mut().find_map(|known| {
                    let difference = part.subtract(known)?.as_number()?;
                    Some((known, difference))
                });
                match known {
                    Some((known, difference)) if (difference < 0) == smaller && difference != 0 => {
                        *known = part;
                    }
                    Some(_) => {}
                    None => parts.push(part),
                }
            }
        }
        parts.sort();
        match parts.len() {
            1 => parts.pop(),
            _ if smaller => Some(Self::atom(Atom::Minimum(parts))),
            _ => Some(Self::atom(Atom::Maximum(parts))),
        }
    }

    /// The form with other forms in the place of atoms; those without one stay.
    pub fn substitute(&self, replace: &dyn Fn(&Atom) -> Option<Self>) -> Option<Self> {
        let mut sum = Self::number(self.constant);
        for (atom, number) in &self.terms {
            let inner = |forms: &[Self]| -> Option<Vec<Self>> {
                forms.iter().map(|form| form.substitute(replace)).collect()
            };
            let replaced = match (replace(atom), atom) {
                (Some(form), _) => form,
                (None, Atom::Symbol(_) | Atom::Variable(_)) => Self::atom(atom.clone()),
                (None, Atom::Floor(form, divisor)) => {
                    form.substitute(replace)?.floor_divide(*divisor)?
                }
                (None, Atom::Minimum(forms)) => {
                    let forms = inner(forms)?;
                    let (first, rest) = forms.split_first()?;
                    let smallest = |a: Self, b: &Self| a.minimum(b);
                    rest.iter().try_fold(first.clone(), smallest)?
                }
                (None, Atom::Maximum(forms)) => {
                    let forms = inner(forms)?;
                    let (first, rest) = forms.split_first()?;
                    let largest = |a: Self, b: &Self| a.maximum(b);
                    rest.iter().try_fold(first.clone(), largest)?
                }
                (None, Atom::Product(a, b)) => {
                    a.substitute(replace)?.multiply(&b.substitute(replace)?)?
                }
            };
            sum = sum.plus(&replaced, *number)?;
        }
        Some(sum)
    }

    /// Calls `visit` with each symbol and index, also inside of quotients and the like.
    pub fn visit(&self, visit: &mut dyn FnMut(&Atom)) {
        for atom in self.terms.keys() {
            match atom {
                Atom::Symbol(_) | Atom::Variable(_) => visit(atom),
                Atom::Floor(form, _) => form.visit(visit),
                Atom::Minimum(forms) | Atom::Maximum(forms) => {
                    forms.iter().for_each(|form| form.visit(visit));
                }
                Atom::Product(a, b) => {
                    a.visit(visit);
                    b.visit(visit);
                }
            }
        }
    }

    /// Whether it has an index.
    pub fn has_variables(&self) -> bool {
        let mut found = false;
        self.visit(&mut |atom| found |= matches!(atom, Atom::Variable(_)));
        found
    }

    /// The indices in it.
    pub fn variables(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(&mut |atom| {
            if let Atom::Variable(variable) = atom
                && !found.contains(variable)
            {
                found.push(*variable);
            }
        });
        found
    }

    /// Its value; `None` where a number leaves 64 bits.
    pub fn value(&self, of: &dyn Fn(&Atom) -> i64) -> Option<i64> {
        let mut sum = self.constant;
        for (atom, number) in &self.terms {
            let values = |forms: &[Self]| -> Option<Vec<i64>> {
                forms.iter().map(|form| form.value(of)).collect()
            };
            let value = match atom {
                Atom::Symbol(_) | Atom::Variable(_) => of(atom),
                Atom::Floor(form, divisor) => form.value(of)?.div_euclid(*divisor),
                Atom::Minimum(forms) => values(forms)?.into_iter().min()?,
                Atom::Maximum(forms) => values(forms)?.into_iter().max()?,
                Atom::Product(a, b) => a.value(of)?.checked_mul(b.value(of)?)?,
            };
            sum = sum.checked_add(value.checked_mul(*number)?)?;
        }
        Some(sum)
    }

    /// As text: in the notation of C++ or of messages, with names from `name`, which says `/` for quotients that
    /// C++ rounds down, too: those of what is never negative.
    pub fn text(&self, notation: Notation, name: &mut dyn FnMut(&Atom) -> String) -> String {
        let mut text = String::new();
        let mut terms: Vec<(&Atom, &i64)> = self.terms.iter().collect();
        // What is subtracted stands last: `H - KH + 1`, not `-KH + H + 1`.
        terms.sort_by_key(|(_, number)| **number < 0);
        for (atom, number) in terms {
            let atom = Self::atom_text(atom, notation, name);
            let sign = match (number.is_negative(), text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            text += sign;
            match (number.unsigned_abs(), notation) {
                (1, _) => text += &atom,
                (size, Notation::Message) if atom.contains('/') => {
                    text += &format!("{size}*({atom})")
                }
                (size, Notation::Cuda) => text += &format!("{size} * {atom}"),
                (size, _) => text += &format!("{size}*{atom}"),
            }
        }
        match (self.constant, text.is_empty()) {
            (number, true) => text = number.to_string(),
            (0, false) => {}
            (number, false) if number < 0 => text += &format!(" - {}", number.unsigned_abs()),
            (number, false) => text += &format!(" + {number}"),
        }
        text
    }

    fn atom_text(atom: &Atom, notation: Notation, name: &mut dyn FnMut(&Atom) -> String) -> String {
        let mut list = |word: &str, forms: &[Self]| {
            // `min` takes two in C++.
            let mut parts = forms.iter().map(|form| form.text(notation, name));
            let first = parts.next().unwrap_or_default();
            parts.fold(first, |text, part| format!("{word}({text}, {part})"))
        };
        match (atom, notation) {
            (Atom::Symbol(_) | Atom::Variable(_), _) => name(atom),
            (Atom::Product(a, b), _) => {
                let (a, b) = (a.factor_text(notation, name), b.factor_text(notation, name));
                match notation {
                    Notation::Cuda => format!("({a} * {b})"),
                    _ => format!("{a}*{b}"),
                }
            }
            (Atom::Floor(form, divisor), Notation::Cuda) => match name(atom).as_str() {
                "/" => format!("({} / {divisor})", form.factor_text(notation, name)),
                _ => format!("tc_floor({}, {divisor})", form.text(notation, name)),
            },
            (Atom::Floor(form, divisor), Notation::Message) => {
                format!("{}/{divisor}", form.factor_text(notation, name))
            }
            (Atom::Minimum(forms), Notation::Cuda) => list("tc_min", forms),
            (Atom::Maximum(forms), Notation::Cuda) => list("tc_max", forms),
            (Atom::Minimum(forms), Notation::Message) => list("min", forms),
            (Atom::Maximum(forms), Notation::Message) => list("max", forms),
        }
    }

    fn factor_text(&self, notation: Notation, name: &mut dyn FnMut(&Atom) -> String) -> String {
        let text = self.text(notation, name);
        let is_one = self.as_number().is_some() || (self.terms.len() == 1 && !text.contains(' '));
        match is_one {
            true => text,
            false => format!("({text})"),
        }
    }
}

/// How a form is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// For the compiler of CUDA C++.
    Cuda,
    /// For people.
    Message,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n() -> Linear {
        Linear::symbol(0)
    }

    fn shown(form: &Linear) -> String {
        form.text(Notation::Message, &mut |atom| match atom {
            Atom::Symbol(symbol) => ["N", "M"][*symbol].to_owned(),
            _ => "i".to_owned(),
        })
    }

    #[test]
    fn equal_sums_are_equal_forms() {
        let m = Linear::symbol(1);
        let sum = n().add(&m).unwrap().subtract(&n()).unwrap();
        assert_eq!(sum, m);
        assert_eq!(
            shown(&n().subtract(&m).unwrap().offset(1).unwrap()),
            "N - M + 1"
        );
        let half = n()
            .scale(4)
            .unwrap()
            .offset(3)
            .unwrap()
            .floor_divide(2)
            .unwrap();
        assert_eq!(shown(&half), "2*N + 1");
        assert_eq!(shown(&n().ceil_divide(2).unwrap()), "(N + 1)/2");
        let least = n()
            .minimum(&m)
            .unwrap()
            .minimum(&n().offset(-2).unwrap())
            .unwrap();
        assert_eq!(shown(&least), "min(N - 2, M)");
        assert_eq!(n().multiply(&m).unwrap(), m.multiply(&n()).unwrap());
        assert_eq!(n().scale(i64::MAX).unwrap().scale(2), None);
    }

    #[test]
    fn values_are_those_of_the_parts() {
        let form = n()
            .floor_divide(3)
            .unwrap()
            .maximum(&Linear::number(2))
            .unwrap();
        assert_eq!(form.value(&|_| 7), Some(2));
        assert_eq!(form.value(&|_| 12), Some(4));
        let product = n().multiply(&Linear::symbol(1)).unwrap();
        assert_eq!(product.value(&|_| 5), Some(25));
    }
}
