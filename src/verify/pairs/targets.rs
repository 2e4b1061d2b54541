//! Which accesses of one kernel may touch the same memory.

use crate::kernel::{ArgumentPointer, Target};

/// Whether two targets of one kernel may have a byte in common. `disjoint` says of two pointers that
/// the host never lets them lead to common memory.
pub(in crate::verify) fn may_meet(
    one: &Target,
    other: &Target,
    disjoint: &impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> bool {
    match (one, other) {
        (Target::Shared(one), Target::Shared(other)) => one == other,
        // Pointers from the host never lead to shared memory.
        (
            Target::Shared(_) | Target::UnknownShared,
            Target::Argument { .. } | Target::Global(_),
        )
        | (
            Target::Argument { .. } | Target::Global(_),
            Target::Shared(_) | Target::UnknownShared,
        ) => false,
        (Target::Global(one), Target::Global(other)) => one == other,
        (
            Target::Argument {
                argument: one,
                offset_bytes: of_one,
            },
            Target::Argument {
                argument: other,
                offset_bytes: of_other,
            },
        ) => {
            let pointers = [(*one, *of_one), (*other, *of_other)];
            pointers[0] == pointers[1] || !disjoint(pointers[0], pointers[1])
        }
        _ => true,
    }
}
