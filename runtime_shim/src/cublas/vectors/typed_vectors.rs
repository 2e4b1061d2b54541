//! Operations on vectors whose types are named: computed in single or double precision, rounded once.

use std::ffi::{c_int, c_void};

use super::super::mixed::{BFLOAT, DOUBLE, HALF, SINGLE, bytes, load, store};
use super::super::{BlasError, BlasResult, check, handle};
use crate::execution::check as checked;
use crate::output::trace;
use crate::sums::pairwise;
use crate::termination;

cublas_functions! {
    /// The scalar product.
    fn cublasDotEx(
        handle: *mut c_void,
        n: c_int,
        x: *const c_void,
        x_type: u32,
        x_increment: c_int,
        y: *const c_void,
        y_type: u32,
        y_increment: c_int,
        result: *mut c_void,
        result_type: u32,
        execution_type: u32,
    ) {
        // SAFETY: the program passes a place for the result or null; the same in this file.
        unsafe {
            dot(handle, n, [(x, x_type, x_increment), (y, y_type, y_increment)], result, [result_type, execution_type])
        }
    }

    /// The scalar product of real vectors.
    fn cublasDotcEx(
        handle: *mut c_void,
        n: c_int,
        x: *const c_void,
        x_type: u32,
        x_increment: c_int,
        y: *const c_void,
        y_type: u32,
        y_increment: c_int,
        result: *mut c_void,
        result_type: u32,
        execution_type: u32,
    ) {
        // SAFETY: as above.
        unsafe {
            dot(handle, n, [(x, x_type, x_increment), (y, y_type, y_increment)], result, [result_type, execution_type])
        }
    }

    /// `y += alpha * x`.
    fn cublasAxpyEx(
        handle: *mut c_void,
        n: c_int,
        alpha: *const c_void,
        alpha_type: u32,
        x: *const c_void,
        x_type: u32,
        x_increment: c_int,
        y: *mut c_void,
        y_type: u32,
        y_increment: c_int,
        execution_type: u32,
    ) {
        handle::in_order(handle)?;
        known(&[x_type, y_type], Some(alpha_type), execution_type)?;
        // SAFETY: as above.
        let alpha = unsafe { scalar(alpha, alpha_type)? };
        let x = Typed::new(n, x, x_type, x_increment)?;
        let y = Typed::new(n, y, y_type, y_increment)?;
        let single = execution_type == SINGLE;
        (0..y.length).for_each(|i| y.set(i, sum(product(alpha, x.get(i), single), y.get(i), single)));
        Ok(())
    }

    /// `x *= alpha`.
    fn cublasScalEx(
        handle: *mut c_void,
        n: c_int,
        alpha: *const c_void,
        alpha_type: u32,
        x: *mut c_void,
        x_type: u32,
        x_increment: c_int,
        execution_type: u32,
    ) {
        handle::in_order(handle)?;
        known(&[x_type], Some(alpha_type), execution_type)?;
        // SAFETY: as above.
        let alpha = unsafe { scalar(alpha, alpha_type)? };
        let x = Typed::new(n, x, x_type, x_increment)?;
        let single = execution_type == SINGLE;
        (0..x.length).for_each(|i| x.set(i, product(alpha, x.get(i), single)));
        Ok(())
    }

    /// The Euclidean norm.
    fn cublasNrm2Ex(
        handle: *mut c_void,
        n: c_int,
        x: *const c_void,
        x_type: u32,
        x_increment: c_int,
        result: *mut c_void,
        result_type: u32,
        execution_type: u32,
    ) {
        handle::in_order(handle)?;
        known(&[x_type, result_type], None, execution_type)?;
        let x = Typed::new(n, x, x_type, x_increment)?;
        // Squares of floats neither leave the range of doubles nor vanish in it.
        let largest = (0..x.length).map(|i| x.get(i).abs()).fold(0.0, f64::max);
        let scale = if x_type == DOUBLE && largest > 0.0 && largest.is_finite() { largest } else { 1.0 };
        let squares = pairwise(0.0, (0..x.length).map(|i| (x.get(i) / scale).powi(2)));
        // SAFETY: as above.
        unsafe { give(result, result_type, scale * squares.sqrt()) }
    }
}

/// # Safety
/// The result's place is writable or null.
unsafe fn dot(
    handle: *mut c_void,
    n: c_int,
    vectors: [(*const c_void, u32, c_int); 2],
    result: *mut c_void,
    [result_type, execution_type]: [u32; 2],
) -> BlasResult {
    handle::in_order(handle)?;
    known(
        &[vectors[0].1, vectors[1].1, result_type],
        None,
        execution_type,
    )?;
    let [x, y] = vectors.map(|(start, kind, increment)| Typed::new(n, start, kind, increment));
    let (x, y) = (x?, y?);
    let single = execution_type == SINGLE;
    let products = (0..x.length).map(|i| product(x.get(i), y.get(i), single));
    let total = match single {
        true => pairwise(0.0, products.map(|product| product as f32)).into(),
        false => pairwise(0.0, products),
    };
    // SAFETY: as the caller promises.
    unsafe { give(result, result_type, total) }
}

/// In single precision, or in double.
fn product(left: f64, right: f64, single: bool) -> f64 {
    match single {
        true => (left as f32 * right as f32).into(),
        false => left * right,
    }
}

fn sum(left: f64, right: f64, single: bool) -> f64 {
    match single {
        true => (left as f32 + right as f32).into(),
        false => left + right,
    }
}

/// Checks types: vectors and the result of a sum have one type, and a factor has that in which is computed, which is
/// single precision for shorter numbers, too.
fn known(types: &[u32], factor: Option<u32>, execution_type: u32) -> BlasResult {
    let known = |kind: &u32| match execution_type {
        SINGLE => matches!(*kind, SINGLE | HALF | BFLOAT),
        DOUBLE => *kind == DOUBLE,
        _ => false,
    };
    let alike = types.windows(2).all(|pair| pair[0] == pair[1]);
    if alike && types.iter().all(known) && factor.is_none_or(|kind| kind == execution_type) {
        return Ok(());
    }
    if matches!(execution_type, 4 | 5) {
        termination::notice(
            "the CPU device's cuBLAS takes vectors of named types in float, double, half and bfloat16 only",
        );
    }
    Err(BlasError::NOT_SUPPORTED)
}

/// # Safety
/// The address is readable or null.
unsafe fn scalar(place: *const c_void, kind: u32) -> BlasResult<f64> {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { load(place as usize, kind) })
}

/// # Safety
/// The address is writable or null.
unsafe fn give(place: *mut c_void, kind: u32, value: f64) -> BlasResult {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { store(place as usize, kind, value) };
    trace::set(place as usize, bytes(kind));
    checked::filled(place as usize, bytes(kind));
    // The host may read it when the call returns.
    checked::streams::host_waits_for_last();
    Ok(())
}

/// A vector of numbers of one type.
struct Typed {
    first: usize,
    kind: u32,
    step_bytes: isize,
    length: usize,
}

impl Typed {
    fn new(length: c_int, start: *const c_void, kind: u32, increment: c_int) -> BlasResult<Self> {
        let length = usize::try_from(length).unwrap_or(0);
        let steps = length.saturating_sub(1);
        let increment = increment as isize;
        if length > 0 {
            check(start, (increment.unsigned_abs() * steps + 1) * bytes(kind))?;
        }
        let step_bytes = increment * bytes(kind) as isize;
        // Increments below zero run backwards.
        let back = if increment < 0 {
            -step_bytes * steps as isize
        } else {
            0
        };
        Ok(Self {
            first: (start as usize).wrapping_add_signed(back),
            kind,
            step_bytes,
            length,
        })
    }

    fn at(&self, index: usize) -> usize {
        self.first
            .wrapping_add_signed(self.step_bytes * index as isize)
    }

    fn get(&self, index: usize) -> f64 {
        // SAFETY: `new` found all elements within device memory.
        unsafe { load(self.at(index), self.kind) }
    }

    fn set(&self, index: usize, value: f64) {
        // SAFETY: as above.
        unsafe { store(self.at(index), self.kind, value) };
        trace::set(self.at(index), bytes(self.kind));
        checked::filled(self.at(index), bytes(self.kind));
    }
}
