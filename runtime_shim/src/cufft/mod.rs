//! cuFFT on the CPU device: plans of one to three dimensions, alone or in batches, of complex and real
//! numbers in both precisions.
//!
//! Lines are transformed by the crate `rustfft`; nothing is scaled, as with cuFFT. Transforms of real numbers
//! go through complex ones. Results agree with NVIDIA's library up to rounding. Work is done in order of the
//! plan's stream, before the call returns; no work area is needed. [`extended`] has the calls of `cufftXt.h`, for the
//! one device that there is. A function that is not here is missing when the program is linked.

mod callback;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_longlong, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::library_calls::{self, LibraryError};
use plan::{Kind, Plan, Side};

/// Version of cuFFT whose interface this is.
const VERSION: c_int = 12_000;

/// A result other than `CUFFT_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformError(u32);

/// What a call comes to.
pub type TransformResult<T = ()> = Result<T, TransformError>;

impl TransformError {
    /// `CUFFT_INVALID_PLAN`.
    pub const INVALID_PLAN: Self = Self(1);
    /// `CUFFT_INVALID_TYPE`.
    pub const INVALID_TYPE: Self = Self(3);
    /// `CUFFT_INVALID_VALUE`.
    pub const INVALID_VALUE: Self = Self(4);
    /// `CUFFT_EXEC_FAILED`.
    pub const EXEC_FAILED: Self = Self(6);
    /// `CUFFT_ALLOC_FAILED`.
    pub const ALLOC_FAILED: Self = Self(2);
    /// `CUFFT_INVALID_SIZE`.
    pub const INVALID_SIZE: Self = Self(8);
    /// `CUFFT_INVALID_DEVICE`.
    pub const INVALID_DEVICE: Self = Self(11);
    /// `CUFFT_NOT_SUPPORTED`.
    pub const NOT_SUPPORTED: Self = Self(16);
}

/// Defines C functions whose bodies return a `TransformResult`.
macro_rules! cufft_functions {
    ($($functions:tt)*) => {
        $crate::library_calls::library_functions! { "cuFFT" $crate::cufft::TransformError; $($functions)* }
    };
}

mod extended;
mod plan;

struct Entry {
    plan: Option<Plan>,
    stream: usize,
}

struct Plans {
    all: BTreeMap<c_int, Entry>,
    last: c_int,
}

static PLANS: Mutex<Plans> = Mutex::new(Plans {
    all: BTreeMap::new(),
    last: 0,
});

cufft_functions! {
    /// A plan for lines.
    fn cufftPlan1d(handle: *mut c_int, length: c_int, kind: u32, batch: c_int) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { create(handle, Some(Plan::packed(&[length], kind, batch)?)) }
    }

    /// A plan for a plane.
    fn cufftPlan2d(handle: *mut c_int, rows: c_int, columns: c_int, kind: u32) {
        // SAFETY: as above.
        unsafe { create(handle, Some(Plan::packed(&[rows, columns], kind, 1)?)) }
    }

    /// A plan for a volume.
    fn cufftPlan3d(handle: *mut c_int, slices: c_int, rows: c_int, columns: c_int, kind: u32) {
        // SAFETY: as above.
        unsafe { create(handle, Some(Plan::packed(&[slices, rows, columns], kind, 1)?)) }
    }

    /// A plan for a batch, at distances of the program's choice.
    fn cufftPlanMany(
        handle: *mut c_int,
        rank: c_int,
        extents: *const c_int,
        input: *const c_int,
        input_stride: c_int,
        input_distance: c_int,
        output: *const c_int,
        output_stride: c_int,
        output_distance: c_int,
        kind: u32,
        batch: c_int,
    ) {
        // SAFETY: the program passes as many numbers as the rank says, or null.
        unsafe {
            let plan = many(rank, extents, Kind::from_number(kind)?, batch, [
                (input, input_stride, input_distance),
                (output, output_stride, output_distance),
            ])?;
            create(handle, Some(plan))
        }
    }

    /// A handle that gets its plan later.
    fn cufftCreate(handle: *mut c_int) {
        // SAFETY: as above.
        unsafe { create(handle, None) }
    }

    /// Gives a handle its plan.
    fn cufftMakePlan1d(handle: c_int, length: c_int, kind: u32, batch: c_int, work: *mut usize) {
        // SAFETY: as above.
        unsafe { make(handle, Plan::packed(&[length], kind, batch)?, work) }
    }

    /// Gives a handle its plan.
    fn cufftMakePlan2d(handle: c_int, rows: c_int, columns: c_int, kind: u32, work: *mut usize) {
        // SAFETY: as above.
        unsafe { make(handle, Plan::packed(&[rows, columns], kind, 1)?, work) }
    }

    /// Gives a handle its plan.
    fn cufftMakePlan3d(
        handle: c_int,
        slices: c_int,
        rows: c_int,
        columns: c_int,
        kind: u32,
        work: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { make(handle, Plan::packed(&[slices, rows, columns], kind, 1)?, work) }
    }

    /// Gives a handle its plan.
    fn cufftMakePlanMany(
        handle: c_int,
        rank: c_int,
        extents: *const c_int,
        input: *const c_int,
        input_stride: c_int,
        input_distance: c_int,
        output: *const c_int,
        output_stride: c_int,
        output_distance: c_int,
        kind: u32,
        batch: c_int,
        work: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe {
            let plan = many(rank, extents, Kind::from_number(kind)?, batch, [
                (input, input_stride, input_distance),
                (output, output_stride, output_distance),
            ])?;
            make(handle, plan, work)
        }
    }

    /// Gives a handle its plan.
    fn cufftMakePlanMany64(
        handle: c_int,
        rank: c_int,
        extents: *const c_longlong,
        input: *const c_longlong,
        input_stride: c_longlong,
        input_distance: c_longlong,
        output: *const c_longlong,
        output_stride: c_longlong,
        output_distance: c_longlong,
        kind: u32,
        batch: c_longlong,
        work: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe {
            let plan = many(rank, extents, Kind::from_number(kind)?, batch, [
                (input, input_stride, input_distance),
                (output, output_stride, output_distance),
            ])?;
            make(handle, plan, work)
        }
    }

    /// Forgets a plan.
    fn cufftDestroy(handle: c_int) {
        plans().all.remove(&handle).map(|_| ()).ok_or(TransformError::INVALID_PLAN)
    }

    /// The stream in whose order transforms are done.
    fn cufftSetStream(handle: c_int, stream: *mut c_void) {
        let mut plans = plans();
        let entry = plans.all.get_mut(&handle).ok_or(TransformError::INVALID_PLAN)?;
        entry.stream = stream as usize;
        Ok(())
    }

    /// Nothing: no work area is used.
    fn cufftSetAutoAllocation(handle: c_int, _automatic: c_int) {
        known(handle)
    }

    /// Nothing: no work area is used.
    fn cufftSetWorkArea(handle: c_int, _area: *mut c_void) {
        known(handle)
    }

    /// Bytes of the work area: none.
    fn cufftGetSize(handle: c_int, bytes: *mut usize) {
        known(handle)?;
        // SAFETY: as above.
        unsafe { store(bytes, 0) }
    }

    /// The interface's version.
    fn cufftGetVersion(version: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(version, VERSION) }
    }

    /// Complex to complex.
    fn cufftExecC2C(handle: c_int, input: *const c_void, output: *mut c_void, direction: c_int) {
        execute(handle, Kind::C2C, input, output, direction)
    }

    /// Real to complex, forward.
    fn cufftExecR2C(handle: c_int, input: *const c_void, output: *mut c_void) {
        execute(handle, Kind::R2C, input, output, plan::FORWARD)
    }

    /// Complex to real, backward.
    fn cufftExecC2R(handle: c_int, input: *const c_void, output: *mut c_void) {
        execute(handle, Kind::C2R, input, output, plan::INVERSE)
    }

    /// Complex to complex in double precision.
    fn cufftExecZ2Z(handle: c_int, input: *const c_void, output: *mut c_void, direction: c_int) {
        execute(handle, Kind::Z2Z, input, output, direction)
    }

    /// Real to complex in double precision, forward.
    fn cufftExecD2Z(handle: c_int, input: *const c_void, output: *mut c_void) {
        execute(handle, Kind::D2Z, input, output, plan::FORWARD)
    }

    /// Complex to real in double precision, backward.
    fn cufftExecZ2D(handle: c_int, input: *const c_void, output: *mut c_void) {
        execute(handle, Kind::Z2D, input, output, plan::INVERSE)
    }
}

impl LibraryError for TransformError {
    const EXECUTION_FAILED: Self = Self::EXEC_FAILED;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        match self {
            Self::EXEC_FAILED => Some("input or output is not within device memory"),
            _ => None,
        }
    }
}

fn execute(
    handle: c_int,
    kind: Kind,
    input: *const c_void,
    output: *mut c_void,
    direction: c_int,
) -> TransformResult {
    let (plan, stream) = planned(handle)?;
    if plan.kind != kind {
        return Err(TransformError::INVALID_TYPE);
    }
    library_calls::in_order(stream).map_err(|_| TransformError::EXEC_FAILED)?;
    plan.execute(input as usize, output as usize, direction)
}

/// The plan of a handle, and its stream.
fn planned(handle: c_int) -> TransformResult<(Plan, *mut c_void)> {
    let plans = plans();
    let entry = plans.all.get(&handle).ok_or(TransformError::INVALID_PLAN)?;
    let plan = entry.plan.clone().ok_or(TransformError::INVALID_PLAN)?;
    Ok((plan, entry.stream as *mut c_void))
}

fn known(handle: c_int) -> TransformResult {
    plans()
        .all
        .get(&handle)
        .map(|_| ())
        .ok_or(TransformError::INVALID_PLAN)
}

/// # Safety
/// The address is writable or null.
unsafe fn create(handle: *mut c_int, plan: Option<Plan>) -> TransformResult {
    let mut plans = plans();
    plans.last += 1;
    let number = plans.last;
    // SAFETY: as the caller promises.
    unsafe { store(handle, number)? };
    plans.all.insert(number, Entry { plan, stream: 0 });
    Ok(())
}

/// # Safety
/// The address is writable or null.
unsafe fn make(handle: c_int, plan: Plan, work: *mut usize) -> TransformResult {
    let mut plans = plans();
    let entry = plans
        .all
        .get_mut(&handle)
        .ok_or(TransformError::INVALID_PLAN)?;
    entry.plan = Some(plan);
    if !work.is_null() {
        // SAFETY: as the caller promises.
        unsafe { work.write(0) };
    }
    Ok(())
}

/// # Safety
/// Lists have as many numbers as the rank says, or are null.
unsafe fn many<T: Copy + TryInto<i64>>(
    rank: c_int,
    extents: *const T,
    kind: Kind,
    batch: T,
    sides: [(*const T, T, T); 2],
) -> TransformResult<Plan> {
    let number = |value: T| value.try_into().map_err(|_| TransformError::INVALID_SIZE);
    let list = |start: *const T| -> TransformResult<Option<Vec<i64>>> {
        if start.is_null() {
            return Ok(None);
        }
        // SAFETY: as the caller promises; the rank was checked.
        let values = unsafe { std::slice::from_raw_parts(start, rank as usize) };
        values
            .iter()
            .map(|value| number(*value))
            .collect::<Result<_, _>>()
            .map(Some)
    };
    if !(1..=3).contains(&rank) {
        return Err(TransformError::INVALID_SIZE);
    }
    let extents = list(extents)?.ok_or(TransformError::INVALID_VALUE)?;
    let mut layouts = [const { None }; 2];
    for (layout, (embedding, stride, distance)) in layouts.iter_mut().zip(sides) {
        *layout = match list(embedding)? {
            // Without them cuFFT takes no notice of strides either.
            None => None,
            Some(embedding) => Some(Side::new(&embedding, number(stride)?, number(distance)?)?),
        };
    }
    Plan::new(&extents, kind, number(batch)?, layouts)
}

/// # Safety
/// The address is writable or null.
unsafe fn store<T>(pointer: *mut T, value: T) -> TransformResult {
    if pointer.is_null() {
        return Err(TransformError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

fn plans() -> MutexGuard<'static, Plans> {
    PLANS.lock().unwrap_or_else(PoisonError::into_inner)
}
