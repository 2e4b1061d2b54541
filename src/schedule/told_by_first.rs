//! Tests of several pairs of members that compare the same pointers are one.

use super::obstacle::Candidate;
use crate::dependence::{Guard, PointerRange};
use crate::launch::Operand;

/// The same test with each pointer taken from the first member that has it, so that equal tests of
/// several pairs are one.
pub(super) fn told_by_first(members: &[Candidate], guard: Guard) -> Guard {
    let in_order = |left: PointerRange, right: PointerRange| {
        let [left, right] = [left, right].map(|side| range_of_first(members, side));
        if left <= right {
            (left, right)
        } else {
            (right, left)
        }
    };
    match guard {
        Guard::RangesDisjoint { left, right } => {
            let (left, right) = in_order(left, right);
            Guard::RangesDisjoint { left, right }
        }
        Guard::SameOrDisjoint { left, right } => {
            let (left, right) = in_order(left, right);
            Guard::SameOrDisjoint { left, right }
        }
        guard => guard,
    }
}

fn range_of_first(members: &[Candidate], range: PointerRange) -> PointerRange {
    let Operand::Argument {
        argument,
        offset_bytes,
        bits: 64,
        signed,
    } = range.operand
    else {
        return range;
    };
    let own = members
        .iter()
        .find(|member| member.launch.id == range.launch)
        .and_then(|member| member.launch.pointer_piece(argument, offset_bytes));
    let Some(own) = own else { return range };
    for member in members {
        for (argument, passed) in member.launch.arguments.iter().enumerate() {
            let mut pieces = passed.pieces.iter();
            if let Some(piece) = pieces.find(|piece| piece.value == own.value && piece.bits == 64) {
                return PointerRange {
                    launch: member.launch.id,
                    operand: Operand::Argument {
                        argument,
                        offset_bytes: piece.offset_bytes,
                        bits: 64,
                        signed,
                    },
                    ..range
                };
            }
        }
    }
    range
}
