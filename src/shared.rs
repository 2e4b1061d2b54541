//! Values that many hold, as trees of expressions hold their operands.
//!
//! Invariant: a [`Shared`] value is equal to another, and stands before or behind it, as what they hold does. What it saves
//! is time: to copy one takes no longer for a large value, and two copies are compared without a look into them.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// A value that is copied by copying a pointer to it.
#[derive(Clone, Debug)]
pub(crate) struct Shared<T> {
    value: Arc<T>,
    /// The hash of the value, so that nobody walks through its own shared parts again.
    hash: u64,
}

impl<T: Hash> Shared<T> {
    /// Takes a value.
    pub(crate) fn new(value: T) -> Self {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        Self {
            value: Arc::new(value),
            hash: hasher.finish(),
        }
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        let same = Arc::ptr_eq(&self.value, &other.value);
        same || self.hash == other.hash && self.value == other.value
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<T: Ord> PartialOrd for Shared<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> Ord for Shared<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        match Arc::ptr_eq(&self.value, &other.value) {
            true => Ordering::Equal,
            false => self.value.cmp(&other.value),
        }
    }
}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_it_holds() {
        let [one, same, larger] = [1, 1, 2].map(Shared::new);
        assert_eq!(one, same);
        assert_eq!(one, one.clone());
        assert!(one != larger && one < larger);
        assert_eq!(one.cmp(&same), Ordering::Equal);
        let hash = |value: &Shared<i32>| {
            let mut hasher = DefaultHasher::new();
            value.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&one), hash(&same));
        assert_ne!(hash(&one), hash(&larger));
    }
}
