//! Bitwise combinations with a literal, as digits of a number.

use super::body::BinaryOperator;
use super::walk::{OVERFLOW, Obstacle, Outcome, Quantity};
use crate::affine::Affine;

/// More runs of ones in a mask are given up.
const RUNS: usize = 4;

/// `x & mask`, `x | mask` and `x ^ mask`, up to a multiple of 2^w when x is.
pub(super) fn bitwise(
    operator: BinaryOperator,
    quantity: Quantity,
    mask: i64,
) -> Outcome<Quantity> {
    const TOO_MANY: Obstacle = Obstacle::Unknown("it is a bitwise combination");
    // x & mask is x less the bits that the mask leaves out.
    let kept = if mask < 0 {
        let dropped = masked(&quantity.affine, !mask).ok_or(TOO_MANY)?;
        quantity.affine.subtract(&dropped).ok_or(OVERFLOW)?
    } else {
        masked(&quantity.affine, mask).ok_or(TOO_MANY)?
    };
    let affine = match operator {
        BinaryOperator::And => Some(kept),
        // x | y = x + y - (x & y), and x ^ y leaves out both copies of what is in both.
        _ => {
            let shared = if operator == BinaryOperator::Or { 1 } else { 2 };
            kept.scale(-shared)
                .and_then(|less| quantity.affine.add(&less))
                .and_then(|sum| sum.add(&Affine::constant(mask)))
        }
    };
    Ok(Quantity {
        affine: affine.ok_or(OVERFLOW)?,
        obligations: quantity.obligations,
    })
}

/// `x & mask` for a mask that is not negative: each run of ones is a digit of x. Bits above the
/// mask do not matter, so it is the same for every congruent x.
fn masked(affine: &Affine, mask: i64) -> Option<Affine> {
    let mut sum = Affine::constant(0);
    let mut rest = mask;
    for _ in 0..RUNS {
        if rest == 0 {
            return Some(sum);
        }
        let low = rest.trailing_zeros();
        let length = (rest >> low).trailing_ones();
        if low + length > 62 {
            return None;
        }
        let digit = affine
            .floor_divide(1 << low)
            .modulo(1 << length)?
            .scale(1 << low)?;
        sum = sum.add(&digit)?;
        rest &= !(((1 << length) - 1) << low);
    }
    (rest == 0).then_some(sum)
}
