//! Sums of many numbers, added pairwise: the error grows with the logarithm of their count, as in the many
//! partial sums of a GPU's library, and not with the count.

use std::ops::Add;

/// Numbers that are added one after the other before pairs are.
const RUN: usize = 16;

/// The sum of the terms; `zero` when there are none. As many as a run has are added in their order.
pub fn pairwise<T: Copy + Add<Output = T>>(zero: T, terms: impl Iterator<Item = T>) -> T {
    // Sums of 1, 2, 4 … runs, the longest first: those that the number of runs so far has as binary digits.
    let mut partial: Vec<T> = Vec::new();
    let (mut run, mut in_run, mut runs) = (zero, 0, 0_usize);
    for term in terms {
        run = run + term;
        in_run += 1;
        if in_run == RUN {
            let mut sum = run;
            for _ in 0..runs.trailing_ones() {
                sum = partial.pop().map_or(sum, |before| before + sum);
            }
            partial.push(sum);
            runs += 1;
            (run, in_run) = (zero, 0);
        }
    }
    partial.into_iter().rev().fold(run, |sum, more| more + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_terms_are_added_in_order() {
        let terms = [1e8_f32, 1.0, -1e8, 3.0];
        let in_order = terms.iter().fold(0.0, |sum, term| sum + term);
        assert_eq!(pairwise(0.0, terms.into_iter()), in_order);
        assert_eq!(pairwise(7, std::iter::empty()), 7);
    }

    #[test]
    fn every_term_counts_once() {
        for count in [15, 16, 17, 48, 255, 1000, 4097_u64] {
            assert_eq!(pairwise(0, 0..count), count * (count - 1) / 2);
        }
    }

    #[test]
    fn a_float_holds_the_sum_of_many() {
        let count = 1 << 25;
        let sum = pairwise(0.0, (0..count).map(|_| 0.1_f32));
        let exact = f64::from(0.1_f32) * f64::from(count);
        assert!((f64::from(sum) / exact - 1.0).abs() < 1e-6);
    }
}
