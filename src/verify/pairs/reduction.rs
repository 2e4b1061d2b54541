//! Updates whose order does not matter.
//!
//! An atomic update whose result nobody uses replaces the bits `c` of a cell by `f(c)`. Two cells of
//! one size whose addresses are multiples of it, as CUDA demands of atomics, are the same or disjoint,
//! and on one cell the functions of two updates with operands `a` and `b` commute:
//! * integer sums and differences, `c + a` modulo the width, in whichever of both readings;
//! * `min(c, a)` and `max(c, a)`, signed or unsigned, each with itself; `c & a`, `c | a`, `c ^ a`;
//! * a counter that wraps around at a limit, with a counter of the same limit and direction: the two
//!   functions are one function.
//!
//! So any interleaving of such updates, of one operator, leaves the bits that any other leaves; who
//! reads the cell is another pair of accesses. Floating-point sums round, extrema of floating-point
//! numbers may keep either zero or NaN, and what is atomic within a block is none between blocks.

use crate::kernel::{Access, AccessKind, ReductionOperator};

/// Whether two accesses, by whichever threads, leave the same bits in both orders and read nothing
/// that anybody sees.
pub(in crate::verify) fn in_any_order(first: &Access, second: &Access) -> bool {
    let (AccessKind::Reduction(one), AccessKind::Reduction(two)) = (first.kind, second.kind) else {
        return false;
    };
    let plain = |access: &Access| !access.volatile && !access.invariant_load;
    let device_wide = !one.within_block && !two.within_block;
    let whole_cells = one.cell_bytes == two.cell_bytes
        && [first, second]
            .into_iter()
            .all(|access| access.subscript.is_none() || access.size_bytes == one.cell_bytes);
    let exact = match (one.operator, two.operator) {
        (ReductionOperator::Add, ReductionOperator::Add)
        | (ReductionOperator::Minimum, ReductionOperator::Minimum)
        | (ReductionOperator::Maximum, ReductionOperator::Maximum)
        | (ReductionOperator::UnsignedMinimum, ReductionOperator::UnsignedMinimum)
        | (ReductionOperator::UnsignedMaximum, ReductionOperator::UnsignedMaximum)
        | (ReductionOperator::And, ReductionOperator::And)
        | (ReductionOperator::Or, ReductionOperator::Or)
        | (ReductionOperator::Xor, ReductionOperator::Xor) => true,
        (ReductionOperator::Increment(limit), ReductionOperator::Increment(other))
        | (ReductionOperator::Decrement(limit), ReductionOperator::Decrement(other)) => {
            limit == other
        }
        _ => false,
    };
    plain(first) && plain(second) && device_wide && whole_cells && exact
}
