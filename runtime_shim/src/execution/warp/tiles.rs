//! Products of tiles of matrices that the lanes of a warp hold in fragments.
//!
//! Invariant: a product depends on the elements alone: sums begin with C and add the products in ascending
//! order of k, each addition rounded once.

use super::super::warp::WARP_LANES;
use std::ffi::c_void;

/// What one lane gives to a product, each element in 4 bytes (`float`, `int`) or 8 (`double`).
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Elements of A.
    pub a: *const c_void,
    /// Elements of B.
    pub b: *const c_void,
    /// Elements of C.
    pub c: *const c_void,
    /// Where those of D go, as many as of C.
    pub d: *mut c_void,
    /// How many elements of A, B and C a lane holds, from the lowest byte.
    pub held: u32,
}

/// Which of three tiles.
#[derive(Clone, Copy)]
enum Which {
    A,
    B,
    C,
}

/// Where elements lie in the fragments of a warp.
#[derive(Clone, Copy)]
struct Arrangement {
    m: usize,
    n: usize,
    k: usize,
    /// Elements of A or B in a register where PTX tells the arrangement (`mma.sync`); 0 where the compiler
    /// chose it: runs of the rows of A and C and of the columns of B.
    packed: usize,
}

impl Arrangement {
    /// The index of a lane's element in the tile by lines: rows of A and C, columns of B.
    fn index(self, which: Which, lane: usize, element: usize, held: usize) -> usize {
        let (lines, line) = match which {
            Which::A => (self.m, self.k),
            Which::B => (self.n, self.k),
            Which::C => (self.m, self.n),
        };
        if self.packed == 0 {
            let parts = lines * line / held;
            return lane % parts * held + element;
        }
        let (group, within) = (lane / 4, lane % 4);
        match which {
            Which::A => {
                let (register, inside) = (element / self.packed, element % self.packed);
                let halves = self.m / 8;
                let row = group + 8 * (register % halves);
                let column = within * self.packed + inside + 4 * self.packed * (register / halves);
                row * line + column
            }
            Which::B => {
                let (register, inside) = (element / self.packed, element % self.packed);
                group * line + within * self.packed + inside + 4 * self.packed * register
            }
            Which::C => (group + 8 * (element / 2)) * line + within * 2 + element % 2,
        }
    }
}

/// Multiplies what the lanes hold: `shape` has m, n and k in its bytes from the lowest, `form` the arithmetic
/// (0 `float`, 1 `double`, 2 integers that wrap, 3 that saturate, 4 words of bits by xor, 5 by and) and
/// in its second byte the elements of a register, or 0. Elements of lanes that take no part are zero.
///
/// # Safety
/// The fragments of each lane have as many elements as it says, in the form's type.
pub unsafe fn multiply(lanes: &[Option<*const Tiles>; WARP_LANES], shape: u32, form: u32) {
    let byte = |word: u32, position: u32| (word >> (8 * position) & 0xff) as usize;
    let arrangement = Arrangement {
        m: byte(shape, 0),
        n: byte(shape, 1),
        k: byte(shape, 2),
        packed: byte(form, 1),
    };
    // SAFETY: as the caller promises.
    unsafe {
        match byte(form, 0) {
            0 => product(lanes, arrangement, |sum: f32, a: f32, b: f32| sum + a * b),
            1 => product(lanes, arrangement, |sum: f64, a: f64, b: f64| {
                a.mul_add(b, sum)
            }),
            2 => product(lanes, arrangement, |sum: i32, a: i32, b: i32| {
                sum.wrapping_add(a.wrapping_mul(b))
            }),
            3 => saturating(lanes, arrangement),
            4 => product(lanes, arrangement, |sum: i32, a: i32, b: i32| {
                sum.wrapping_add((a ^ b).count_ones().cast_signed())
            }),
            _ => product(lanes, arrangement, |sum: i32, a: i32, b: i32| {
                sum.wrapping_add((a & b).count_ones().cast_signed())
            }),
        }
    }
}

/// # Safety
/// As for [`multiply`].
unsafe fn product<T: Copy + Default>(
    lanes: &[Option<*const Tiles>; WARP_LANES],
    arrangement: Arrangement,
    add: impl Fn(T, T, T) -> T,
) {
    // SAFETY: as the caller promises.
    unsafe {
        with_sums(lanes, arrangement, |sum, row: &[T], column: &[T]| {
            let pairs = row.iter().zip(column);
            pairs.fold(sum, |sum, (a, b)| add(sum, *a, *b))
        })
    };
}

/// Integers whose sum saturates at the end.
///
/// # Safety
/// As for [`multiply`].
unsafe fn saturating(lanes: &[Option<*const Tiles>; WARP_LANES], arrangement: Arrangement) {
    // SAFETY: as the caller promises.
    unsafe {
        with_sums(
            lanes,
            arrangement,
            |sum: i32, row: &[i32], column: &[i32]| {
                let pairs = row.iter().zip(column);
                let products = pairs.map(|(a, b)| i64::from(*a) * i64::from(*b));
                let sum = i64::from(sum) + products.sum::<i64>();
                sum.clamp(i32::MIN.into(), i32::MAX.into()) as i32
            },
        )
    };
}

/// Gathers the tiles, computes each element of D from that of C, a row of A and a column of B, and gives
/// the lanes theirs.
///
/// # Safety
/// As for [`multiply`].
unsafe fn with_sums<T: Copy + Default>(
    lanes: &[Option<*const Tiles>; WARP_LANES],
    arrangement: Arrangement,
    sum: impl Fn(T, &[T], &[T]) -> T,
) {
    let Arrangement { m, n, k, .. } = arrangement;
    let mut a = vec![T::default(); m * k];
    let mut b = vec![T::default(); n * k];
    let mut c = vec![T::default(); m * n];
    let present = || {
        let lanes = lanes.iter().enumerate();
        lanes.filter_map(|(lane, tiles)| Some((lane, (*tiles)?)))
    };
    // SAFETY: as the caller promises.
    unsafe {
        for (lane, tiles) in present() {
            let Tiles {
                a: from_a,
                b: from_b,
                c: from_c,
                held,
                ..
            } = *tiles;
            let parts = [
                (Which::A, from_a, &mut a),
                (Which::B, from_b, &mut b),
                (Which::C, from_c, &mut c),
            ];
            for (position, (which, from, to)) in parts.into_iter().enumerate() {
                let count = (held >> (8 * position) & 0xff) as usize;
                for element in 0..count {
                    let index = arrangement.index(which, lane, element, count);
                    to[index] = from.cast::<T>().add(element).read();
                }
            }
        }
        for (index, element) in c.iter_mut().enumerate() {
            let (row, column) = (index / n, index % n);
            *element = sum(*element, &a[row * k..][..k], &b[column * k..][..k]);
        }
        for (lane, tiles) in present() {
            let count = ((*tiles).held >> 16 & 0xff) as usize;
            for element in 0..count {
                let index = arrangement.index(Which::C, lane, element, count);
                (*tiles).d.cast::<T>().add(element).write(c[index]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PTX tells where the elements of `mma.sync.m16n8k16` lie: each is held once.
    #[test]
    fn fragments_of_mma_cover_each_element_once() {
        let arrangement = Arrangement {
            m: 16,
            n: 8,
            k: 16,
            packed: 2,
        };
        for (which, held, size) in [(Which::A, 8, 256), (Which::B, 4, 128), (Which::C, 4, 128)] {
            let mut seen = vec![0; size];
            for lane in 0..WARP_LANES {
                for element in 0..held {
                    seen[arrangement.index(which, lane, element, held)] += 1;
                }
            }
            assert!(seen.iter().all(|times| *times == 1));
        }
        // Register 1 of A is eight rows below, register 2 eight columns further.
        assert_eq!(arrangement.index(Which::A, 5, 2, 8), 9 * 16 + 2);
        assert_eq!(arrangement.index(Which::A, 5, 5, 8), 16 + 2 + 1 + 8);
    }
}
