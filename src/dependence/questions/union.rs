//! Relations between the places of two launches, and their unions, kept short.
//!
//! Invariant: a union holds every pair that one of its relations holds; where that is more than anybody
//! reads, or would take long to make, it holds all pairs of the scope.

use super::super::Scope;
use super::super::problem::Problem;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{self, Map, System};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

/// Longest text of a relation that anybody reads.
pub(in crate::dependence) const LONGEST_RELATION: usize = 1_500;
/// Most relations that are united.
const MOST_UNITED: usize = 32;
/// Most numbers in the matrices of relations that are united; a long one with ten quotients has a tenth of that.
const MOST_CELLS: usize = 150_000;
/// What a whole program may unite after which its unions get little each.
const MUCH_UNITED: usize = 2_100_000;
/// What is always united.
const LEAST_CELLS: usize = 30_000;
/// What a whole program may unite after which its unions get hardly anything.
const VERY_MUCH_UNITED: usize = 6_000_000;
/// What is united even then.
const HARDLY_ANY_CELLS: usize = 1_500;
/// Budget of one isl call while relations are united.
const UNION_BUDGET: u64 = 60_000;

/// Names of a launch's place.
const PLACE: [&str; 6] = ["bx", "by", "bz", "tx", "ty", "tz"];

/// Pairs of a source's block and thread with a sink's.
#[derive(Clone, Debug)]
pub(in crate::dependence) enum Relation {
    Nothing,
    /// All pairs of a scope.
    All(Scope),
    Some(Pairs),
}

/// A relation that isl made.
#[derive(Clone, Debug)]
pub(in crate::dependence) struct Pairs {
    map: Rc<Map>,
    /// What parameters are called, where that is not their number.
    parameters: Rc<[String]>,
    text: Rc<str>,
    cells: usize,
}

/// Text of the relation that holds all pairs of a scope.
pub(in crate::dependence) fn universal_relation(scope: Scope) -> Arc<str> {
    // Most edges of a large program have one of these.
    static UNIVERSAL: LazyLock<[Arc<str>; 3]> = LazyLock::new(|| {
        let source = "bx, by, bz, tx, ty, tz";
        let sinks = [
            source,
            "bx, by, bz, tx', ty', tz'",
            "bx', by', bz', tx', ty', tz'",
        ];
        sinks.map(|sink| format!("{{ source[{source}] -> sink[{sink}] }}").into())
    });
    let [thread, block, global] = &*UNIVERSAL;
    Arc::clone(match scope {
        Scope::Thread => thread,
        Scope::Block => block,
        Scope::Global => global,
    })
}

impl Relation {
    /// Pairs in canonical parameters.
    ///
    /// # Errors
    /// Quota.
    pub(in crate::dependence) fn of(map: Map) -> isl::Result<Self> {
        Ok(Self::Some(Pairs {
            text: map.to_text()?.into(),
            cells: map.cells()?,
            map: Rc::new(map),
            parameters: Rc::new([]),
        }))
    }

    /// How long its text is.
    pub(in crate::dependence) fn length(&self) -> usize {
        match self {
            Self::Some(pairs) => pairs.text.len(),
            Self::Nothing | Self::All(_) => 0,
        }
    }

    /// Numbers in its matrices.
    pub(in crate::dependence) fn cells(&self) -> usize {
        match self {
            Self::Some(pairs) => pairs.cells,
            Self::Nothing | Self::All(_) => 0,
        }
    }

    /// In the names of a problem.
    pub(in crate::dependence) fn with_real_names(&self, problem: &Problem) -> Self {
        match self {
            Self::Some(pairs) => {
                let names = problem.parameter_names();
                Self::Some(Pairs {
                    text: with_real_names(&pairs.text, &names).into(),
                    parameters: names.into(),
                    ..pairs.clone()
                })
            }
            Self::Nothing | Self::All(_) => self.clone(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Nothing => String::from("{ }"),
            Self::All(scope) => universal_relation(*scope).to_string(),
            Self::Some(pairs) => pairs.text.to_string(),
        }
    }

    /// The relation, parameters by name.
    fn map(&self) -> isl::Result<Rc<Map>> {
        match self {
            Self::Nothing => Ok(Rc::new(places(&[Formula::Zero(Sum::number(1))])?)),
            Self::All(scope) => {
                let equal = match scope {
                    Scope::Thread => 6,
                    Scope::Block => 3,
                    Scope::Global => 0,
                };
                let place = |at: usize| Sum::variable(at);
                let equal = (0..equal).map(|at| place(at).equal(place(6 + at)));
                Ok(Rc::new(places(&equal.collect::<Vec<_>>())?))
            }
            Self::Some(pairs) => {
                let map = pairs.map.with_parameters(&pairs.parameters)?;
                Ok(Rc::new(map))
            }
        }
    }
}

/// The pairs of places, together twelve numbers, that satisfy conditions without alternatives.
fn places(conditions: &[Formula<usize>]) -> isl::Result<Map> {
    let numbers: Vec<usize> = (0..12).collect();
    let mut system = System::new(&[], &numbers);
    let all = system.conjunction(conditions)?;
    system.set(&[&all])?.relation(6, ["source", "sink"])
}

/// The relations of a union.
#[derive(Default)]
pub(in crate::dependence) struct Union {
    /// Each once, by its text.
    relations: Vec<(String, Relation)>,
    too_long: bool,
}

impl Union {
    /// Adds a relation.
    pub(in crate::dependence) fn add(&mut self, relation: Relation) {
        let text = relation.text();
        if !self.relations.iter().any(|(known, _)| *known == text) {
            self.too_long |= self.relations.len() == MOST_UNITED;
            if !self.too_long {
                self.relations.push((text, relation));
            }
        }
    }

    /// Gives up on a text.
    pub(in crate::dependence) fn give_up(&mut self) {
        self.too_long = true;
    }
}

/// The unions of a program so far, which repeat themselves.
#[derive(Default)]
pub(in crate::dependence) struct Unions {
    /// Numbers in the matrices of what was united.
    united: usize,
    texts: HashMap<Vec<String>, Option<Arc<str>>>,
}

impl Unions {
    /// A union, and whether it is exactly that: where it would grow beyond use or making it would
    /// take long, all pairs of `scope`.
    pub(in crate::dependence) fn text(
        &mut self,
        mut union: Union,
        scope: Scope,
    ) -> (Arc<str>, bool) {
        if !union.too_long && union.relations.len() == 1 {
            return (union.relations.swap_remove(0).0.into(), true);
        }
        let everything = || (universal_relation(scope), false);
        if union.too_long {
            return everything();
        }
        union
            .relations
            .sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let (texts, relations): (Vec<String>, Vec<Relation>) = union.relations.into_iter().unzip();
        if let Some(known) = self.texts.get(&texts) {
            return known.clone().map_or_else(everything, |text| (text, true));
        }
        let cells: usize = relations.iter().map(Relation::cells).sum();
        if cells > self.allowance() {
            return everything();
        }
        self.united = self.united.saturating_add(cells);
        let united = isl::with_operation_budget(UNION_BUDGET, || unite(&relations));
        let text = united.filter(|text| text.len() <= LONGEST_RELATION);
        let text: Option<Arc<str>> = text.map(Arc::from);
        self.texts.insert(texts, text.clone());
        text.map_or_else(everything, |text| (text, true))
    }

    /// What the next union may take.
    fn allowance(&self) -> usize {
        let share = MUCH_UNITED.saturating_sub(self.united) / (MUCH_UNITED / MOST_CELLS);
        match self.united < VERY_MUCH_UNITED {
            true => share.max(LEAST_CELLS),
            false => HARDLY_ANY_CELLS,
        }
    }
}

fn unite(relations: &[Relation]) -> Option<String> {
    let maps = relations.iter().map(|relation| relation.map().ok());
    let maps: Vec<Rc<Map>> = maps.collect::<Option<_>>()?;
    let (first, others) = maps.split_first()?;
    let mut union: Option<Map> = None;
    for other in others {
        union = Some(union.as_ref().unwrap_or(first).union(other).ok()?);
    }
    let text = union?.coalesce().ok()?.to_text().ok()?;
    Some(with_real_names(&text, &[]))
}

/// What isl writes, with names for the places, and for parameters that have their number for a name.
fn with_real_names(relation: &str, parameters: &[String]) -> String {
    let mut text = String::new();
    let mut rest = relation;
    while let Some(first) = rest.chars().next() {
        if !(first.is_ascii_alphabetic() || first == '_') {
            text.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '\''))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        let number = word[1..].parse::<usize>().ok();
        match (first, number) {
            ('p', Some(n)) if n < parameters.len() => text.push_str(&parameters[n]),
            ('i', Some(n)) if n < PLACE.len() => text.push_str(PLACE[n]),
            ('o', Some(n)) if n < PLACE.len() => {
                text.push_str(PLACE[n]);
                text.push('\'');
            }
            _ => text.push_str(word),
        }
        rest = &rest[end..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pairs of blocks that lie so far apart on axis x.
    fn shifted(by: i64) -> Relation {
        let equal = (0..6).map(|at| {
            let added = if at == 0 { i128::from(by) } else { 0 };
            Sum::variable(6 + at).equal(Sum::variable(at) + added)
        });
        Relation::of(places(&equal.collect::<Vec<_>>()).unwrap()).unwrap()
    }

    #[test]
    fn unions_are_exact_or_everything() {
        let union = |relations: &[Relation]| {
            let mut union = Union::default();
            relations
                .iter()
                .for_each(|relation| union.add(relation.clone()));
            Unions::default().text(union, Scope::Block)
        };
        let one = union(&[shifted(1), shifted(1)]);
        assert_eq!(one, (shifted(1).text().into(), true));
        assert!(one.0.contains("sink[1 + "), "{}", one.0);
        let two = union(&[shifted(0), shifted(1)]);
        let expected = "{ source[bx, by, bz, tx, ty, tz] -> sink[bx', by, bz, tx, ty, tz] : \
                        bx <= bx' <= 1 + bx }";
        assert_eq!(two, (Arc::from(expected), true));
        let all = union(&[Relation::All(Scope::Thread), shifted(0)]);
        assert_eq!(all, (universal_relation(Scope::Thread), true));
        let none = union(&[Relation::Nothing, shifted(1)]);
        assert!(none.1);
        let many: Vec<_> = (0..40).map(|by| shifted(2 * by)).collect();
        assert_eq!(union(&many), (universal_relation(Scope::Block), false));
        let mut dear = shifted(3);
        if let Relation::Some(pairs) = &mut dear {
            pairs.cells = MUCH_UNITED;
        }
        let dear = [dear, shifted(0)];
        assert_eq!(union(&dear), (universal_relation(Scope::Block), false));
    }
}
