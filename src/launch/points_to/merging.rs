//! Host objects that one pointer cannot tell apart become one object.
//!
//! Invariant: a merged object stands for any byte of all its members, in every set and as a
//! container, so that merging costs precision and never soundness. Memory that CUDA allocates and
//! device variables are never merged. While the solver runs, sets may still name members; whoever
//! looks at an object asks [`PointsTo::merged`] first.

use super::*;

/// Which objects stand for others.
#[derive(Debug, Default)]
pub(super) struct Merging {
    /// For each object the one that stands for it; itself where none does.
    into: Vec<usize>,
    /// The other objects that an object stands for.
    members: HashMap<usize, Vec<usize>>,
    /// Objects that stand for several: one cell, and no offsets.
    collapsed: Vec<bool>,
}

impl Merging {
    pub(super) fn add_object(&mut self) {
        self.into.push(self.into.len());
        self.collapsed.push(false);
    }

    /// The place as it is called now.
    pub(super) fn rename(&self, target: Target) -> Target {
        let object = self.into[target.object];
        Target {
            object,
            offset: match self.collapsed[object] {
                true => Offset::ANY,
                false => target.offset,
            },
        }
    }

    /// Makes one object stand for all of a group: the one that stands for most already.
    fn merge(&mut self, group: &[usize]) -> Option<usize> {
        let size = |object: &usize| self.members.get(object).map_or(0, Vec::len);
        let name = *group.iter().max_by_key(|object| size(object))?;
        for object in group.iter().filter(|object| **object != name) {
            let mut members = self.members.remove(object).unwrap_or_default();
            members.push(*object);
            for member in &members {
                self.into[*member] = name;
            }
            self.members.entry(name).or_default().extend(members);
        }
        self.collapsed[name] = true;
        Some(name)
    }

    fn rename_all(&self, set: &mut Targets) {
        if set.iter().any(|target| self.rename(*target) != *target) {
            *set = set.iter().map(|target| self.rename(*target)).collect();
        }
    }
}

impl PointsTo {
    /// The object that stands for an object.
    pub(super) fn merged(&self, object: usize) -> usize {
        let target = Target {
            object,
            offset: Offset::ANY,
        };
        self.merging.rename(target).object
    }

    /// Merges the host objects of a set that has too many of them.
    pub(super) fn merge_large(&mut self, set: &mut Targets) {
        if set.len() <= self.limits.objects_per_set {
            return;
        }
        self.work += set.len();
        self.merging.rename_all(set);
        let mut group: Vec<usize> = set.iter().map(|target| target.object).collect();
        group.dedup();
        group.retain(|object| {
            matches!(
                self.objects[*object].kind,
                ObjectKind::Stack | ObjectKind::Heap | ObjectKind::Global
            )
        });
        if group.len() <= self.limits.objects_per_set {
            return;
        }
        let Some(name) = self.merging.merge(&group) else {
            return;
        };
        self.progress.everything_changed();
        let mut everything = Targets::new();
        for object in &group {
            self.objects[name].escaped |= self.objects[*object].escaped;
            self.objects[name].leaked |= self.objects[*object].leaked;
            let cells = std::mem::take(&mut self.contents[*object]);
            everything.extend(cells.into_values().flatten());
        }
        self.merging.rename_all(set);
        self.work += everything.len();
        self.merge_large(&mut everything);
        // The object may have been merged with what it holds.
        let name = self.merged(name);
        self.contents[name]
            .entry(Offset::ANY)
            .or_default()
            .extend(everything);
        self.changed = true;
    }

    /// Merges the host objects of every set that has too many of them, and the cells of every object.
    pub(super) fn merge_all_large(&mut self) {
        for function in 0..self.values.len() {
            for at in 0..self.values[function].len() {
                let mut set = std::mem::take(&mut self.values[function][at]);
                self.merge_large(&mut set);
                self.values[function][at] = set;
            }
        }
        for object in 0..self.contents.len() {
            let cells: Vec<Offset> = self.contents[object].keys().copied().collect();
            let too_many = cells.len() > self.limits.cells_per_object;
            for cell in cells {
                let mut set = self.contents[object].remove(&cell).unwrap_or_default();
                self.merge_large(&mut set);
                let place = self.merging.rename(Target {
                    object,
                    offset: if too_many { Offset::ANY } else { cell },
                });
                let cells = &mut self.contents[place.object];
                cells.entry(place.offset).or_default().extend(set);
            }
        }
        self.rename_everywhere();
    }

    /// Names all places as they are called now.
    pub(super) fn rename_everywhere(&mut self) {
        self.wholes.get_mut().clear();
        let changed = self.progress.last_change_of_all();
        self.loads.get_mut().rename(changed);
        let merging = &self.merging;
        let mut work = 0;
        let mut rename = |set: &mut Targets| {
            work += set.len();
            merging.rename_all(set);
        };
        self.values
            .iter_mut()
            .chain(&mut self.parameters)
            .flatten()
            .chain(&mut self.returns)
            .for_each(&mut rename);
        self.contents
            .iter_mut()
            .flat_map(BTreeMap::values_mut)
            .for_each(&mut rename);
        self.work += work;
        let names = &self.merging.into;
        self.globals
            .iter_mut()
            .chain(self.sites.values_mut())
            .for_each(|object| *object = names[*object]);
    }
}
