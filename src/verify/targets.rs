//! Which accesses of one kernel may touch the same memory.

use crate::kernel::Target;

/// Whether two targets of one kernel may have a byte in common. `apart` says of two pointer arguments that
/// the host never lets them lead to common memory.
pub(super) fn may_meet(
    one: &Target,
    other: &Target,
    apart: &impl Fn(usize, usize) -> bool,
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
                offset_bytes: 0,
            },
            Target::Argument {
                argument: other,
                offset_bytes: 0,
            },
        ) => one == other || !apart(*one, *other),
        _ => true,
    }
}
