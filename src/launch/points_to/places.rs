//! Sets of places.
//!
//! Invariant: what [`Targets`] holds is in order, each place once. Sets are copied and joined all the time, for which
//! one piece of memory serves better than a tree.

use super::Target;

/// Where a pointer may point. Empty: nowhere that is known (null, or dead code).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Targets(Vec<Target>);

impl Targets {
    /// No place.
    pub fn new() -> Self {
        Self::default()
    }

    /// All places, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Target> {
        self.0.iter()
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first place.
    pub fn first(&self) -> Option<&Target> {
        self.0.first()
    }

    /// Whether a place is among them.
    pub fn contains(&self, target: &Target) -> bool {
        self.0.binary_search(target).is_ok()
    }

    /// Adds a place; false: it was there.
    pub fn insert(&mut self, target: Target) -> bool {
        match self.0.binary_search(&target) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, target);
                true
            }
        }
    }

    /// Takes a place away.
    pub(super) fn remove(&mut self, target: &Target) {
        if let Ok(at) = self.0.binary_search(target) {
            self.0.remove(at);
        }
    }

    /// The places in one object.
    pub(super) fn in_object(&self, object: usize) -> &[Target] {
        let first = self.0.partition_point(|target| target.object < object);
        let own = &self.0[first..];
        &own[..own.partition_point(|target| target.object == object)]
    }

    fn put_in_order(&mut self) {
        // Sets that are joined are in order one by one, which a stable sort finds out.
        self.0.sort();
        self.0.dedup();
    }
}

impl<const N: usize> From<[Target; N]> for Targets {
    fn from(targets: [Target; N]) -> Self {
        targets.into_iter().collect()
    }
}

impl FromIterator<Target> for Targets {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Self {
        let mut all = Self::new();
        all.extend(targets);
        all
    }
}

impl Extend<Target> for Targets {
    fn extend<I: IntoIterator<Item = Target>>(&mut self, targets: I) {
        let mut in_order = true;
        for target in targets {
            in_order &= self.0.last().is_none_or(|last| *last < target);
            self.0.push(target);
        }
        if !in_order {
            self.put_in_order();
        }
    }
}

impl<'a> Extend<&'a Target> for Targets {
    fn extend<I: IntoIterator<Item = &'a Target>>(&mut self, targets: I) {
        self.extend(targets.into_iter().copied());
    }
}

impl IntoIterator for Targets {
    type Item = Target;
    type IntoIter = std::vec::IntoIter<Target>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Targets {
    type Item = &'a Target;
    type IntoIter = std::slice::Iter<'a, Target>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
