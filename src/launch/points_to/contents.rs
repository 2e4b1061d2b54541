//! What memory holds.

use super::*;
use std::collections::HashSet;

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
        loaded.into_iter().collect()
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

/// So few places hold little enough to sort what is in all of them.
const FEW_PLACES: usize = 8;
