//! What CUDA's libraries do to pointers: handles, and descriptors that keep pointers to device memory.
//!
//! Invariant: whatever a library may touch through a descriptor is in what the descriptor's object holds.

use super::*;
use calls::{DeviceLibraryCall, Part};

/// True for functions that make a descriptor.
pub(super) fn is_made_by(name: &str) -> bool {
    calls::device_library_call(name).is_some_and(|library| library.makes.is_some())
}

impl PointsTo {
    /// A call of a library's function that the table has: it touches what it is given while it runs,
    /// and keeps what the table says.
    pub(super) fn device_library_call(
        &mut self,
        function: usize,
        at: usize,
        library: &DeviceLibraryCall,
        arguments: &[Targets],
    ) {
        let argument = |position: usize| arguments.get(position).cloned().unwrap_or_default();
        for (output, _) in &library.outputs {
            self.store(&argument(*output), &unknown(), 8);
        }
        let made = self.sites.get(&(function, at)).map(|object| Target {
            object: *object,
            offset: Offset::exact(0),
        });
        let made: Targets = made.into_iter().collect();
        if let Some(slot) = library.makes {
            self.store(&argument(slot), &made, 8);
        }
        for (descriptor, pointer, part) in &library.keeps {
            let descriptor = match library.makes == Some(*descriptor) {
                true => made.clone(),
                false => argument(*descriptor),
            };
            let kept = self.behind_descriptors(&argument(*pointer));
            self.store(&shift(&descriptor, Offset::exact(part.offset())), &kept, 8);
        }
        for (descriptor, slot, part) in &library.gives {
            let kept = self.kept(&argument(*descriptor), *part);
            self.store(&argument(*slot), &kept, 8);
        }
        if library.waits {
            let source = library.reads.iter();
            let source: Targets = source.flat_map(|(read, _)| argument(*read)).collect();
            for (written, _) in &library.writes {
                self.device_copy(&argument(*written), &source);
            }
        }
    }

    /// The pointers that descriptors keep for a purpose.
    pub fn kept(&self, descriptors: &Targets, part: Part) -> Targets {
        self.load(&shift(descriptors, Offset::exact(part.offset())), 8)
    }

    /// The places themselves, with all that is kept by the descriptors among them instead of those.
    fn behind_descriptors(&self, places: &Targets) -> Targets {
        let is_descriptor =
            |target: &&Target| self.objects[target.object].kind == ObjectKind::Descriptor;
        let (descriptors, others): (Vec<&Target>, Vec<&Target>) =
            places.iter().partition(is_descriptor);
        let descriptors: Targets = descriptors.into_iter().copied().collect();
        let mut all = self.load(&shift(&descriptors, Offset::ANY), 8);
        all.extend(others);
        all
    }
}
