//! A plan: what is transformed, how it lies in memory, and doing it.

use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftNum, FftPlanner};

use super::callback::{self, Callback, Elements};
use super::{TransformError, TransformResult};
use crate::execution::check;
use crate::memory;
use crate::output::trace;

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
    /// By a `cufftType`.
    pub fn from_number(number: u32) -> TransformResult<Self> {
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

    /// By the `cudaDataType` of input, output and computation.
    ///
    /// # Errors
    /// There is no such transform.
    pub fn of_types(input: u32, output: u32, computation: u32) -> TransformResult<Self> {
        const REAL_FLOAT: u32 = 0;
        const REAL_DOUBLE: u32 = 1;
        const FLOAT: u32 = 4;
        const DOUBLE: u32 = 5;
        let kind = match (input, output) {
            (FLOAT, FLOAT) => Self::C2C,
            (REAL_FLOAT, FLOAT) => Self::R2C,
            (FLOAT, REAL_FLOAT) => Self::C2R,
            (DOUBLE, DOUBLE) => Self::Z2Z,
            (REAL_DOUBLE, DOUBLE) => Self::D2Z,
            (DOUBLE, REAL_DOUBLE) => Self::Z2D,
            _ => return Err(TransformError::NOT_SUPPORTED),
        };
        let computes_double = computation == DOUBLE;
        match kind.is_double() == computes_double && [FLOAT, DOUBLE].contains(&computation) {
            true => Ok(kind),
            false => Err(TransformError::INVALID_TYPE),
        }
    }

    /// The elements that a callback of it has: loads of its input, stores of its output.
    pub fn elements(self, store: bool) -> Elements {
        let real = match store {
            true => self.writes_reals(),
            false => self.reads_reals(),
        };
        Elements {
            store,
            real,
            double: self.is_double(),
        }
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
    /// What loads elements and what stores results in the place of the library.
    pub callbacks: [Option<Callback>; 2],
}

impl Plan {
    /// A plan for elements without gaps.
    pub fn packed(extents: &[i32], kind: u32, batch: i32) -> TransformResult<Self> {
        let extents: Vec<i64> = extents.iter().map(|extent| i64::from(*extent)).collect();
        Self::new(
            &extents,
            Kind::from_number(kind)?,
            i64::from(batch),
            [None, None],
        )
    }

    /// A plan.
    pub fn new(
        extents: &[i64],
        kind: Kind,
        batch: i64,
        sides: [Option<Side>; 2],
    ) -> TransformResult<Self> {
        let positive = |value: i64| match usize::try_from(value) {
            Ok(value) if value > 0 => Ok(value),
            _ => Err(TransformError::INVALID_SIZE),
        };
        Ok(Self {
            kind,
            extents: extents
                .iter()
                .map(|extent| positive(*extent))
                .collect::<Result<_, _>>()?,
            batch: positive(batch)?,
            sides,
            callbacks: [None; 2],
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

    /// Bytes that a transform in place needs.
    pub fn bytes_in_place(&self) -> usize {
        let element = if self.kind.is_double() { 8 } else { 4 };
        let needed = [false, true].map(|store| {
            let (side, extents, reals) = self.side(store, true);
            let last: Vec<usize> = extents.iter().map(|extent| extent - 1).collect();
            // Rows are padded behind the last, too.
            let rows = side.distance.max(side.element(0, &last) + 1);
            let elements = side.element(self.batch - 1, &vec![0; extents.len()]) + rows;
            elements * element * if reals { 1 } else { 2 }
        });
        needed[0].max(needed[1])
    }

    /// How input or output lies, its extents, and whether it is real.
    fn side(&self, store: bool, in_place: bool) -> (Side, Vec<usize>, bool) {
        let last = self.extents.len() - 1;
        let half = self.extents[last] / 2 + 1;
        let Elements { real, .. } = self.kind.elements(store);
        let halved = self.kind.elements(!store).real;
        let mut extents = self.extents.clone();
        if halved {
            extents[last] = half;
        }
        let length = match real && in_place {
            true => 2 * half,
            false => extents[last],
        };
        let packed = || Side::packed(&self.extents, length);
        let side = self.sides[usize::from(store)].clone();
        (side.unwrap_or_else(packed), extents, real)
    }

    fn transform<T: FftNum + Into<f64>>(
        &self,
        input: usize,
        output: usize,
        direction: FftDirection,
    ) -> TransformResult {
        let bytes = |reals: bool| size_of::<T>() * if reals { 1 } else { 2 };
        let (from, input_extents, reads_reals) = self.side(false, input == output);
        let (to, output_extents, writes_reals) = self.side(true, input == output);
        let [load, store] = self.callbacks;
        if load.is_none() {
            self.check(&from, &input_extents, input, bytes(reads_reals))?;
        }
        if store.is_none() {
            self.check(&to, &output_extents, output, bytes(writes_reals))?;
        }
        let mut planner = FftPlanner::new();
        let total: usize = self.extents.iter().product();
        // In place, a result may lie where another transform's input does: all are read first.
        let mut all = vec![Complex::new(T::zero(), T::zero()); total * self.batch];
        match load {
            None => self.gather(&mut all, (&from, &input_extents), |element| {
                let at = input + element * bytes(reads_reals);
                // SAFETY: `check` found all elements within device memory.
                unsafe {
                    match reads_reals {
                        true => Complex::new((at as *const T).read_unaligned(), T::zero()),
                        false => (at as *const Complex<T>).read_unaligned(),
                    }
                }
            }),
            Some(load) => {
                let offsets = self.offsets(&from, &input_extents);
                let mut values = vec![[0.0; 2]; offsets.len()];
                callback::run(
                    load,
                    self.kind.elements(false),
                    input,
                    &offsets,
                    &mut values,
                )?;
                let mut values = values.into_iter();
                self.gather(&mut all, (&from, &input_extents), |_| {
                    let [re, im] = values.next().unwrap_or_default();
                    Complex::new(number(re), number(im))
                });
            }
        }
        for values in all.chunks_exact_mut(total) {
            for axis in 0..self.extents.len() {
                self.transform_axis(values, axis, &mut planner, direction);
            }
        }
        let mut stored = Vec::new();
        for (batch, values) in all.chunks_exact(total).enumerate() {
            each_index(&output_extents, |index| {
                let value = values[self.dense(index)];
                if store.is_some() {
                    stored.push([value.re.into(), value.im.into()]);
                    return;
                }
                let at = output + to.element(batch, index) * bytes(writes_reals);
                // SAFETY: as above.
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
        let Some(store) = store else { return Ok(()) };
        let offsets = self.offsets(&to, &output_extents);
        callback::run(
            store,
            self.kind.elements(true),
            output,
            &offsets,
            &mut stored,
        )?;
        // A callback mostly writes where it is told; that it may write elsewhere, too, no check knows.
        if let Some(place) = memory::place(output) {
            check::filled(output, place.bytes - (output - place.base));
        }
        Ok(())
    }

    /// How far the elements of one side lie behind its start, in order.
    fn offsets(&self, side: &Side, extents: &[usize]) -> Vec<usize> {
        let mut offsets = Vec::new();
        for batch in 0..self.batch {
            each_index(extents, |index| offsets.push(side.element(batch, index)));
        }
        offsets
    }

    /// Reads all transforms' input; of complex numbers that give real ones the other half follows.
    fn gather<T: FftNum>(
        &self,
        all: &mut [Complex<T>],
        (side, extents): (&Side, &[usize]),
        mut read: impl FnMut(usize) -> Complex<T>,
    ) {
        let total: usize = self.extents.iter().product();
        let last = self.extents.len() - 1;
        for (batch, values) in all.chunks_exact_mut(total).enumerate() {
            each_index(extents, |index| {
                values[self.dense(index)] = read(side.element(batch, index));
            });
            if !self.kind.writes_reals() {
                continue;
            }
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

/// A part of an element in the precision that it came from.
fn number<T: FftNum>(value: f64) -> T {
    T::from_f64(value).unwrap_or_else(T::zero)
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
