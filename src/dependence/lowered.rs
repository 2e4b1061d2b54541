//! A problem as isl's sets.
//!
//! Invariant: the dimensions of every set are those of the problem and behind them its quotients; a
//! point belongs to the problem when it belongs to the base and to one alternative of each choice.

use super::problem::{Choice, Problem};
use crate::isl::{self, Conjunction, Set, System};

/// A problem's conditions as linear constraints.
pub(super) struct Lowered {
    system: System,
    base: Conjunction,
    choices: Vec<Vec<Conjunction>>,
    late_choices: Vec<Vec<Conjunction>>,
}

impl Problem {
    /// The problem as linear constraints.
    ///
    /// # Errors
    /// A number that leaves 64 bits.
    pub(super) fn lowered(&self) -> isl::Result<Lowered> {
        let mut system = System::new(&self.parameters(), &self.dimensions);
        let base: Vec<&str> = self.base.iter().map(String::as_str).collect();
        let base = system.read(&base)?;
        let mut read = |choices: &[Choice]| -> isl::Result<Vec<Vec<Conjunction>>> {
            let alternatives = choices.iter();
            alternatives
                .map(|choice| choice.iter().map(|text| system.read(&[text])).collect())
                .collect()
        };
        let choices = read(&self.choices)?;
        let late_choices = read(&self.late_choices)?;
        Ok(Lowered {
            system,
            base,
            choices,
            late_choices,
        })
    }
}

impl Lowered {
    /// Reads a further condition. One with quotients of its own makes the space of later sets another
    /// one than that of earlier ones.
    ///
    /// # Errors
    /// A number that leaves 64 bits.
    pub(super) fn read(&mut self, condition: &str) -> isl::Result<Conjunction> {
        self.system.read(&[condition])
    }

    /// How many dimensions there are with the quotients.
    pub(super) fn dimensions(&self) -> usize {
        self.system.dimensions()
    }

    /// The points for which the base and all of `conditions` hold.
    ///
    /// # Errors
    /// Quota.
    pub(super) fn base(&self, conditions: &[&Conjunction]) -> isl::Result<Set> {
        let base = [&self.base, self.system.definitions()];
        self.system.set(&[&base, conditions].concat())
    }

    /// The alternatives of each choice, with `condition`.
    ///
    /// # Errors
    /// Quota.
    pub(super) fn choices(&self, condition: &Conjunction) -> isl::Result<Vec<Vec<Set>>> {
        self.sets(&self.choices, condition)
    }

    /// The alternatives of the choices that only sharpen.
    ///
    /// # Errors
    /// Quota.
    pub(super) fn late_choices(&self) -> isl::Result<Vec<Vec<Set>>> {
        self.sets(&self.late_choices, &Conjunction::default())
    }

    fn sets(
        &self,
        choices: &[Vec<Conjunction>],
        condition: &Conjunction,
    ) -> isl::Result<Vec<Vec<Set>>> {
        let of_choice = |choice: &Vec<Conjunction>| {
            let alternatives = choice.iter();
            alternatives
                .map(|alternative| self.system.set(&[alternative, condition]))
                .collect()
        };
        choices.iter().map(of_choice).collect()
    }
}
