//! Bitwise combinations with a literal, as digits of a number.

use super::super::KernelSymbol;
use super::super::body::BinaryOperator;
use super::super::polynomial::symbol_range;
use super::super::walk::{OVERFLOW, Obstacle, Outcome, Quantity};
use crate::math::affine::{Affine, Variable};

/// More runs of ones in a mask are given up.
const RUNS: usize = 4;

/// `x & mask`, `x | mask` and `x ^ mask`, up to a multiple of 2^w when x is.
pub(in crate::kernel) fn bitwise(
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
        let above = affine.floor_divide(1 << low);
        // Above the digit there is nothing where the number is known to be small.
        let is_digit =
            thread_range(&above).is_some_and(|(least, most)| least >= 0 && most < 1 << length);
        let digit = if is_digit {
            above
        } else {
            above.modulo(1 << length)?
        };
        sum = sum.add(&digit.scale(1 << low)?)?;
        rest &= !(((1 << length) - 1) << low);
    }
    (rest == 0).then_some(sum)
}

/// The range of an expression of nothing but thread indices, in any launch that CUDA allows.
fn thread_range(affine: &Affine) -> Option<(i128, i128)> {
    let mut range = (i128::from(affine.constant), i128::from(affine.constant));
    for (coefficient, variable) in &affine.terms {
        let (least, most) = match variable {
            Variable::Thread(axis) => (0, symbol_range(&KernelSymbol::BlockSize(*axis)).1 - 1),
            Variable::Floor(inner, divisor) => {
                let (least, most) = thread_range(inner)?;
                let divisor = i128::from(*divisor);
                (least.div_euclid(divisor), most.div_euclid(divisor))
            }
            _ => return None,
        };
        let coefficient = i128::from(*coefficient);
        let ends = (coefficient * least, coefficient * most);
        range = (range.0 + ends.0.min(ends.1), range.1 + ends.0.max(ends.1));
    }
    Some(range)
}
