//! A plan: what is transformed, how it lies in memory, and doing it.

use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftNum, FftPlanner};

use super::{TransformError, TransformResult};
use crate::{check, memory, trace};

/// `CUFFT_FORWARD`.
pub const FORWARD: i32 = -1;
/// `CUFFT_INVERSE`.
pub const INVERSE: i32 = 1;

/// `cufftType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Complex.
    C2C,
    /// Real to complex.
    R2C,
    /// Complex to real.
    C2R,
    /// Complex, double precision.
    Z2Z,
    /// Real to complex, double precision.
    D2Z,
    /// Complex to real, double precision.
    Z2D,
}

impl Kind {
    fn from_number(number: u32) -> TransformResult<Self> {
        Ok(match number {
            0x29 => Self::C2C,
            0x2a => Self::R2C,
            0x2c => Self::C2R,
            0x69 => Self::Z2Z,
            0x6a => Self::D2Z,
            0x6c => Self::Z2D,
            _ => return Err(TransformError::INVALID_TYPE),
        })
    }

    fn reads_reals(self) -> bool {
        matches!(self, Self::R2C | Self::D2Z)
    }

    fn writes_reals(self) -> bool {
        matches!(self, Self::C2R | Self::Z2D)
    }

    fn is_double(self) -> bool {
        matches!(self, Self::Z2Z | Self::D2Z | Self::Z2D)
    }
}

/// How elements of one side lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// Elements from one index to the next, for each axis.
    strides: Vec<usize>,
    /// Elements from one transform of a batch to the next.
    distance: usize,
}

impl Side {
    /// Of rows within an allocation of other extents, elements apart.
    pub fn new(embedding: &[i64], stride: i64, distance: i64) -> TransformResult<Self> {
        let positive =
            |value: i64| usize::try_from(value).map_err(|_| TransformError::INVALID_SIZE);
        let mut step = positive(stride)?;
        let mut strides = vec![0; embedding.len()];
        for axis in (0..embedding.len()).rev() {
            strides[axis] = step;
            step = step
                .checked_mul(positive(embedding[axis])?)
                .ok_or(TransformError::INVALID_SIZE)?;
        }
        Ok(Self {
            strides,
            distance: positive(distance)?,
        })
    }

    /// Of elements without gaps; the last axis is so long.
    fn packed(extents: &[usize], last: usize) -> Self {
        let mut step = 1;
        let mut strides = vec![0; extents.len()];
        for axis in (0..extents.len()).rev() {
            strides[axis] = step;
            step *= if axis + 1 == extents.len() {
                last
            } else {
                extents[axis]
            };
        }
        Self {
            strides,
            distance: step,
        }
    }

    fn element(&self, batch: usize, index: &[usize]) -> usize {
        let within: usize = index
            .iter()
            .zip(&self.strides)
            .map(|(at, step)| at * step)
            .sum();
        batch * self.distance + within
    }
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What is transformed into what.
    pub kind: Kind,
    extents: Vec<usize>,
    batch: usize,
    /// Input and output, where the program says how they lie.
    sides: [Option<Side>; 2],
}

impl Plan {
    /// A plan for elements without gaps.
    pub fn packed(extents: &[i32], kind: u32, batch: i32) -> TransformResult<Self> {
        let extents: Vec<i64> = extents.iter().map(|extent| i64::from(*extent)).collect();
        Self::new(&extents, kind, i64::from(batch), [None, None])
    }

    /// A plan.
    pub fn new(
        extents: &[i64],
        kind: u32,
        batch: i64,
        sides: [Option<Side>; 2],
    ) -> TransformResult<Self> {
        let positive = |value: i64| match usize::try_from(value) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(TransformError::INVALID_SIZE),
        };
        Ok(Self {
            kind: Kind::from_number(kind)?,
            extents: extents
                .iter()
                .map(|extent| positive(*extent))
                .collect::<Result<_, _>>()?,
            batch: positive(batch)?,
            sides,
        })
    }

    /// Transforms what lies at one address to another, or in place.
    pub fn execute(&self, input: usize, output: usize, direction: i32) -> TransformResult {
        let direction = match direction {
            FORWARD => FftDirection::Forward,
            INVERSE => FftDirection::Inverse,
            _ => return Err(TransformError::INVALID_VALUE),
        };
        match self.kind.is_double() {
            false => self.transform::<f32>(input, output, direction),
            true => self.transform::<f64>(input, output, direction),
        }
    }

    fn transform<T: FftNum>(
        &self,
        input: usize,
        output: usize,
        direction: FftDirection,
    ) -> TransformResult {
        let last = self.extents.len() - 1;
        let half = self.extents[last] / 2 + 1;
        let side = |number: usize, reals: bool, halved: bool| {
            let length = match (reals, halved) {
                (true, _) if input == output => 2 * half,
                (true, _) | (_, false) => self.extents[last],
                (false, true) => half,
            };
            let packed = || Side::packed(&self.extents, length);
            self.sides[number].clone().unwrap_or_else(packed)
        };
        let (reads_reals, writes_reals) = (self.kind.reads_reals(), self.kind.writes_reals());
        let from = side(0, reads_reals, writes_reals);
        let to = side(1, writes_reals, reads_reals);
        let mut input_extents = self.extents.clone();
        let mut output_extents = self.extents.clone();
        if writes_reals {
            input_extents[last] = half;
        }
        if reads_reals {
            output_extents[last] = half;
        }
        let bytes = |reals: bool| size_of::<T>() * if reals { 1 } else { 2 };
        self.check(&from, &input_extents, input, bytes(reads_reals))?;
        self.check(&to, &output_extents, output, bytes(writes_reals))?;
        let mut planner = FftPlanner::new();
        let total: usize = self.extents.iter().product();
        // In place, a result may lie where another transform's input does: all are read first.
        let mut all = Vec::with_capacity(total * self.batch);
        for batch in 0..self.batch {
            let start = all.len();
            all.resize(start + total, Complex::new(T::zero(), T::zero()));
            self.gather(&mut all[start..], input, (batch, &from, &input_extents));
        }
        for values in all.chunks_exact_mut(total) {
            for axis in 0..self.extents.len() {
                self.transform_axis(values, axis, &mut planner, direction);
            }
        }
        for (batch, values) in all.chunks_exact(total).enumerate() {
            each_index(&output_extents, |index| {
                let value = values[self.dense(index)];
                let at = output + to.element(batch, index) * bytes(writes_reals);
                // SAFETY: `check` found all elements within device memory.
                unsafe {
                    match writes_reals {
                        true => (at as *mut T).write_unaligned(value.re),
                        false => (at as *mut Complex<T>).write_unaligned(value),
                    }
                }
                trace::set(at, bytes(writes_reals));
                check::filled(at, bytes(writes_reals));
            });
        }
        Ok(())
    }

    /// Reads one transform's input; of complex numbers that give real ones the other half follows.
    fn gather<T: FftNum>(
        &self,
        values: &mut [Complex<T>],
        input: usize,
        (batch, side, extents): (usize, &Side, &[usize]),
    ) {
        let reals = self.kind.reads_reals();
        let bytes = size_of::<T>() * if reals { 1 } else { 2 };
        each_index(extents, |index| {
            let at = input + side.element(batch, index) * bytes;
            // SAFETY: as above.
            values[self.dense(index)] = unsafe {
                match reals {
                    true => Complex::new((at as *const T).read_unaligned(), T::zero()),
                    false => (at as *const Complex<T>).read_unaligned(),
                }
            };
        });
        if !self.kind.writes_reals() {
            return;
        }
        let last = self.extents.len() - 1;
        each_index(&self.extents, |index| {
            if index[last] >= extents[last] {
                let mirrored: Vec<usize> = index
                    .iter()
                    .zip(&self.extents)
                    .map(|(at, extent)| (extent - at) % extent)
                    .collect();
                values[self.dense(index)] = values[self.dense(&mirrored)].conj();
            }
        });
    }

    fn transform_axis<T: FftNum>(
        &self,
        values: &mut [Complex<T>],
        axis: usize,
        planner: &mut FftPlanner<T>,
        direction: FftDirection,
    ) {
        let length = self.extents[axis];
        let transform = planner.plan_fft(length, direction);
        let step: usize = self.extents[axis + 1..].iter().product();
        if step == 1 {
            transform.process(values);
            return;
        }
        let mut line = vec![Complex::new(T::zero(), T::zero()); length];
        for block in values.chunks_exact_mut(length * step) {
            for first in 0..step {
                for (at, value) in line.iter_mut().enumerate() {
                    *value = block[first + at * step];
                }
                transform.process(&mut line);
                for (at, value) in line.iter().enumerate() {
                    block[first + at * step] = *value;
                }
            }
        }
    }

    fn dense(&self, index: &[usize]) -> usize {
        index
            .iter()
            .zip(&self.extents)
            .fold(0, |sum, (at, extent)| sum * extent + at)
    }

    /// Errors: not all elements are within one allocation that the device sees.
    fn check(&self, side: &Side, extents: &[usize], start: usize, bytes: usize) -> TransformResult {
        let last: Vec<usize> = extents.iter().map(|extent| extent - 1).collect();
        let elements = side.element(self.batch - 1, &last) + 1;
        match memory::place(start) {
            Some(place) if elements * bytes <= place.bytes - (start - place.base) => Ok(()),
            _ => Err(TransformError::EXEC_FAILED),
        }
    }
}

/// Calls with each index below the extents, the last running fastest.
fn each_index(extents: &[usize], mut visit: impl FnMut(&[usize])) {
    let mut index = vec![0; extents.len()];
    loop {
        visit(&index);
        let mut axis = extents.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < extents[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}
