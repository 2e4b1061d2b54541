//! Unions of relations as texts, kept short.
//!
//! Invariant: a union holds every pair that one of its relations holds; where that is more than anybody
//! reads, or would take long to write, it holds all pairs of the scope.

use super::super::Scope;
use super::super::relation::universal_relation;
use crate::math::isl::{self, Map};
use std::collections::HashMap;
use std::rc::Rc;

/// Longest relation that is kept as text.
pub(in crate::dependence) const LONGEST_RELATION: usize = 1_500;
/// Most relations that are united.
const MOST_UNITED: usize = 32;
/// Most that is read to unite relations; a long one with ten quotients is a tenth of that.
const MOST_READ: usize = 150_000;
/// What a whole program may read after which its unions get little each.
const MUCH_READ: usize = 600_000;
/// What is always read to unite relations.
const LEAST_READ: usize = 10_000;
/// What a whole program may read after which its unions get hardly anything.
const VERY_MUCH_READ: usize = 2_000_000;
/// What is read even then.
const HARDLY_READ: usize = 500;
/// Budget of one isl call while relations are united.
const UNION_BUDGET: u64 = 60_000;

/// The relations of a union.
#[derive(Default)]
pub(in crate::dependence) struct Union {
    /// Each once.
    relations: Vec<String>,
    too_long: bool,
}

impl Union {
    /// Adds a relation.
    pub(in crate::dependence) fn add(&mut self, relation: String) {
        if !self.relations.contains(&relation) {
            self.too_long |= self.relations.len() == MOST_UNITED;
            if !self.too_long {
                self.relations.push(relation);
            }
        }
    }

    /// Gives up on a text.
    pub(in crate::dependence) fn give_up(&mut self) {
        self.too_long = true;
    }
}

/// The unions of a program so far: its relations repeat themselves, and to read one takes isl much longer
/// than to unite it with others.
#[derive(Default)]
pub(in crate::dependence) struct Unions {
    /// What was read, as [`reading`] measures it.
    read: usize,
    maps: HashMap<String, Option<Rc<Map>>>,
    texts: HashMap<Vec<String>, Option<String>>,
}

impl Unions {
    /// A union, and whether it is exactly that: where it would grow beyond use or reading it would
    /// take long, all pairs of `scope`.
    pub(in crate::dependence) fn text(&mut self, mut union: Union, scope: Scope) -> (String, bool) {
        if !union.too_long && union.relations.len() == 1 {
            return (union.relations.swap_remove(0), true);
        }
        let everything = || (universal_relation(scope), false);
        if union.too_long {
            return everything();
        }
        union.relations.sort_unstable();
        if let Some(known) = self.texts.get(&union.relations) {
            return known.clone().map_or_else(everything, |text| (text, true));
        }
        let new = union.relations.iter();
        let new = new.filter(|text| !self.maps.contains_key(*text));
        let effort: usize = new.map(|text| reading(text)).sum();
        if effort > self.allowance() {
            return everything();
        }
        self.read = self.read.saturating_add(effort);
        let united = isl::with_operation_budget(UNION_BUDGET, || self.unite(&union.relations));
        let text = united.filter(|text| text.len() <= LONGEST_RELATION);
        self.texts.insert(union.relations, text.clone());
        text.map_or_else(everything, |text| (text, true))
    }

    /// What may be read for the next union.
    fn allowance(&self) -> usize {
        let share = MUCH_READ.saturating_sub(self.read) / (MUCH_READ / MOST_READ);
        match self.read < VERY_MUCH_READ {
            true => share.max(LEAST_READ),
            false => HARDLY_READ,
        }
    }

    fn unite(&mut self, relations: &[String]) -> Option<String> {
        let maps = relations.iter().map(|relation| self.map(relation));
        let maps: Vec<Rc<Map>> = maps.collect::<Option<_>>()?;
        let (first, others) = maps.split_first()?;
        let mut union: Option<Map> = None;
        for other in others {
            union = Some(union.as_ref().unwrap_or(first).union(other).ok()?);
        }
        union?.coalesce().ok()?.to_text().ok()
    }

    fn map(&mut self, relation: &str) -> Option<Rc<Map>> {
        if let Some(known) = self.maps.get(relation) {
            return known.clone();
        }
        let map = Map::parse(relation).ok().map(Rc::new);
        self.maps.insert(relation.to_owned(), map.clone());
        map
    }
}

/// A measure of what it takes isl to read a relation, which it does not count: characters, for each
/// quotient once more.
fn reading(text: &str) -> usize {
    text.len() * (1 + text.matches("floor(").count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_exact_or_everything() {
        let union = |relations: &[String]| {
            let mut union = Union::default();
            relations
                .iter()
                .for_each(|relation| union.add(relation.clone()));
            Unions::default().text(union, Scope::Block)
        };
        let shifted = |by: usize| format!("{{ source[i] -> sink[i + {by}] }}");
        assert_eq!(union(&[shifted(1), shifted(1)]), (shifted(1), true));
        let two = union(&[shifted(0), shifted(1)]);
        assert_eq!(two.0, "{ source[i] -> sink[o0] : i <= o0 <= 1 + i }");
        assert!(two.1);
        let many: Vec<_> = (0..40).map(|by| shifted(2 * by)).collect();
        assert_eq!(union(&many), (universal_relation(Scope::Block), false));
        let quotients = "floor(i/3) + ".repeat(120);
        let dear = format!("{{ source[i] -> sink[{quotients}0] }}");
        let dear = [dear, shifted(0)];
        assert_eq!(union(&dear), (universal_relation(Scope::Block), false));
    }
}
