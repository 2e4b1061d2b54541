//! What memory holds.

use super::*;
use std::collections::{HashMap, HashSet};

impl PointsTo {
    /// What a load of so many bytes may give.
    pub(super) fn load(&self, address: &Targets, bytes: u64) -> Targets {
        if address.len() <= FEW_PLACES {
            let mut loaded = Vec::new();
            for target in address {
                self.see_loaded(*target, bytes, |place| loaded.push(place));
            }
            return loaded.into_iter().collect();
        }
        if let Some(kept) = self.kept_load(address, bytes) {
            return kept;
        }
        // Many objects hold much the same: what they hold is told apart before it is sorted.
        let mut loaded = hashbrown::HashSet::new();
        let mut wholes = HashSet::new();
        for target in address {
            let object = self.merged(target.object);
            if !target.offset.is_any() || wholes.insert(object) {
                self.see_loaded(*target, bytes, |place| {
                    loaded.insert(place);
                });
            }
        }
        let loaded: Targets = loaded.into_iter().collect();
        self.keep_load(address, bytes, &loaded);
        loaded
    }

    /// What the same load gave before, where no object that it reads has changed since.
    fn kept_load(&self, address: &Targets, bytes: u64) -> Option<Targets> {
        let loads = self.loads.borrow();
        let (change, loaded) = loads.by_bytes.get(&bytes)?.get(address)?;
        if self.last_change_among(address) > *change {
            return None;
        }
        for target in address {
            self.progress.reads_object(self.merged(target.object));
        }
        Some(loaded.clone())
    }

    fn keep_load(&self, address: &Targets, bytes: u64, loaded: &Targets) {
        let mut loads = self.loads.borrow_mut();
        loads.places += address.len() + loaded.len();
        if loads.places > MOST_KEPT_PLACES {
            let renamed = loads.renamed;
            *loads = Loads {
                renamed,
                ..Loads::default()
            };
        }
        let kept = (self.last_change_among(address), loaded.clone());
        let of_bytes = loads.by_bytes.entry(bytes).or_default();
        of_bytes.insert(address.clone(), kept);
    }

    /// The last change of what a load at these places reads.
    fn last_change_among(&self, address: &Targets) -> u64 {
        let changes = address.iter().map(|target| {
            let object = self.merged(target.object);
            self.progress.last_change(object)
        });
        changes.max().unwrap_or(0)
    }

    /// Shows what a load of so many bytes at one place may give, some of it more than once.
    pub(super) fn see_loaded(&self, address: Target, bytes: u64, mut see: impl FnMut(Target)) {
        let object = self.merged(address.object);
        self.progress.reads_object(object);
        if address.offset.is_any() {
            self.everything_in(object)
                .iter()
                .for_each(|place| see(*place));
        } else {
            for (cell, targets) in &self.contents[object] {
                if address.offset.meets(Some(bytes), *cell, Some(8)) {
                    targets.iter().for_each(|place| see(*place));
                }
            }
        }
        if self.objects[object].escaped {
            unknown().into_iter().for_each(see);
        }
    }

    /// What all cells of an object hold, kept until one of them changes.
    fn everything_in(&self, object: usize) -> Rc<Targets> {
        let change = self.progress.last_change(object);
        let mut kept = self.wholes.borrow_mut();
        if let Some((of_change, whole)) = kept.get(&object)
            && *of_change == change
        {
            return Rc::clone(whole);
        }
        let cells = self.contents[object].values();
        let whole: Rc<Targets> = Rc::new(cells.flatten().copied().collect());
        kept.insert(object, (change, Rc::clone(&whole)));
        whole
    }
}

/// Loads of many places, by how many bytes they load and from where: the last change of what they read, and what they gave.
#[derive(Debug, Default)]
pub(super) struct Loads {
    by_bytes: HashMap<u64, HashMap<Targets, (u64, Targets)>>,
    /// How many places all of them have.
    places: usize,
    /// The change of names that they know.
    renamed: u64,
}

impl Loads {
    /// Forgets all where names may have changed since they last did.
    pub(super) fn rename(&mut self, change: u64) {
        if self.renamed != change {
            *self = Self {
                renamed: change,
                ..Self::default()
            };
        }
    }
}

/// Most places of loads that are kept at once.
const MOST_KEPT_PLACES: usize = 1 << 20;

/// So few places hold little enough to sort what is in all of them.
const FEW_PLACES: usize = 8;
