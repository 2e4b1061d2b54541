//! A reader of isl's notation for tests: conditions are shorter as text.
//!
//! Invariant: the rows that are read hold where isl says that the text does.

use super::formula::RowFormula;
use super::linear::{Conjunction, Linear, Row};
use super::{IslError, Result, System};

impl System<String> {
    /// Reads conditions that all hold: linear comparisons, also of more than two sides, joined by
    /// `and`, in which a quotient is `floor(e/d)` with a positive number `d`.
    ///
    /// # Errors
    /// [`IslError::Invalid`] for any other text, and where a coefficient leaves 64 bits.
    pub fn read(&mut self, conditions: &[&str]) -> Result<Conjunction> {
        let mut read = Conjunction::default();
        for condition in conditions {
            let mut reader = Reader::new(self, condition);
            reader
                .condition(&mut read)
                .filter(|()| reader.is_at_end())
                .ok_or_else(|| IslError::Invalid(format!("not a conjunction: {condition}")))?;
        }
        Ok(read)
    }
}

impl System<String> {
    /// Reads comparisons as [`System::read`] does, joined by `and`, `or` and parentheses.
    ///
    /// # Errors
    /// [`IslError::Invalid`] for any other text, and where a coefficient leaves 64 bits.
    pub fn read_formula(&mut self, text: &str) -> Result<RowFormula> {
        let mut reader = Reader::new(self, text);
        alternatives(&mut reader)
            .filter(|_| reader.is_at_end())
            .ok_or_else(|| IslError::Invalid(format!("not a formula: {text}")))
    }
}

/// What is left of a text.
struct Reader<'s, 't> {
    system: &'s mut System<String>,
    rest: &'t str,
}

impl<'s, 't> Reader<'s, 't> {
    /// Of a whole text.
    fn new(system: &'s mut System<String>, text: &'t str) -> Self {
        Self { system, rest: text }
    }

    /// Whether nothing is left.
    fn is_at_end(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    /// What is left, for [`Self::go_back`].
    fn rest(&self) -> &'t str {
        self.rest
    }

    /// Reads from here again.
    fn go_back(&mut self, rest: &'t str) {
        self.rest = rest;
    }

    /// `comparison and comparison and …`, added to `read`.
    fn condition(&mut self, read: &mut Conjunction) -> Option<()> {
        loop {
            if !self.word("true") {
                self.comparison(read)?;
            }
            if !self.word("and") {
                return Some(());
            }
        }
    }

    /// `a <= b < c`.
    fn comparison(&mut self, read: &mut Conjunction) -> Option<()> {
        let mut left = self.sum()?;
        let mut compared = false;
        while let Some(order) = self.order() {
            let right = self.sum()?;
            // The difference, and what has to be added so that it is at least 0.
            let (difference, slack) = match order {
                "<=" => (right.add(&left, -1)?, 0),
                "<" => (right.add(&left, -1)?, -1),
                ">=" | "=" => (left.add(&right, -1)?, 0),
                _ => (left.add(&right, -1)?, -1),
            };
            read.rows.push(Row {
                linear: difference.add(&Linear::number(slack), 1)?,
                equality: order == "=",
            });
            left = right;
            compared = true;
        }
        compared.then_some(())
    }

    fn order(&mut self) -> Option<&'static str> {
        ["<=", ">=", "<", ">", "="]
            .into_iter()
            .find(|order| self.symbol(order))
    }

    fn sum(&mut self) -> Option<Linear> {
        let mut sum = self.product()?;
        loop {
            let factor = if self.symbol("+") {
                1
            } else if self.symbol("-") {
                -1
            } else {
                return Some(sum);
            };
            sum = sum.add(&self.product()?, factor)?;
        }
    }

    fn product(&mut self) -> Option<Linear> {
        let mut product = self.factor()?;
        while self.symbol("*") {
            let other = self.factor()?;
            let (number, linear) = match (product.terms.as_slice(), other.terms.as_slice()) {
                ([], _) => (product.constant, &other),
                (_, []) => (other.constant, &product),
                _ => return None,
            };
            product = Linear::default().add(linear, number)?;
        }
        Some(product)
    }

    fn factor(&mut self) -> Option<Linear> {
        if self.symbol("-") {
            return Linear::default().add(&self.factor()?, -1);
        }
        if self.symbol("(") {
            let inner = self.sum()?;
            return self.symbol(")").then_some(inner);
        }
        let length = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.rest = rest;
            return Some(Linear::number(word.parse().ok()?));
        }
        let column = if word == "floor" {
            self.rest = rest;
            self.floor()?
        } else {
            self.rest = rest;
            *self.system.columns.get(word)?
        };
        Some(Linear {
            terms: vec![(column, 1)],
            constant: 0,
        })
    }

    /// `(numerator/divisor)`.
    fn floor(&mut self) -> Option<usize> {
        if !self.symbol("(") {
            return None;
        }
        let numerator = self.sum()?;
        if !self.symbol("/") {
            return None;
        }
        let divisor = self.factor()?;
        let whole = divisor.terms.is_empty() && divisor.constant > 0 && self.symbol(")");
        whole.then(|| self.system.quotient(numerator, divisor.constant))?
    }

    /// Takes a symbol, if it comes next.
    fn symbol(&mut self, symbol: &str) -> bool {
        let text = self.rest.trim_start();
        let Some(rest) = text.strip_prefix(symbol) else {
            self.rest = text;
            return false;
        };
        self.rest = rest;
        true
    }

    /// Takes a word, if it comes next.
    fn word(&mut self, word: &str) -> bool {
        let text = self.rest.trim_start();
        self.rest = text;
        let Some(rest) = text.strip_prefix(word) else {
            return false;
        };
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        self.rest = rest;
        true
    }
}

/// `all or all or …`.
fn alternatives(reader: &mut Reader<'_, '_>) -> Option<RowFormula> {
    let mut parts = vec![all(reader)?];
    while reader.word("or") {
        parts.push(all(reader)?);
    }
    match parts.len() {
        1 => parts.pop(),
        _ => Some(RowFormula::Any(parts)),
    }
}

/// `part and part and …`.
fn all(reader: &mut Reader<'_, '_>) -> Option<RowFormula> {
    let mut rows = Conjunction::default();
    let mut parts = Vec::new();
    loop {
        // A parenthesis may begin a sum or a formula.
        let before = reader.rest();
        let mut compared = Conjunction::default();
        if reader.comparison(&mut compared).is_some() {
            rows.append(compared);
        } else {
            reader.go_back(before);
            if !reader.symbol("(") {
                return None;
            }
            parts.push(alternatives(reader)?);
            if !reader.symbol(")") {
                return None;
            }
        }
        if !reader.word("and") {
            break;
        }
    }
    if parts.is_empty() {
        return Some(RowFormula::Rows(rows));
    }
    parts.push(RowFormula::Rows(rows));
    Some(RowFormula::All(parts))
}
