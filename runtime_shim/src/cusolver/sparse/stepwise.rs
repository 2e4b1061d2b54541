//! Factors of sparse matrices that programs make once and solve with again and again.

use std::any::Any;
use std::ffi::{c_int, c_void};

use super::factors::{Factors, Lines};
use super::{
    Given, Settings, Side, SolverError, SolverResult, cusolver_functions, definite, exchanged,
    known, pattern, read, ready, sizes, store, tolerated, write,
};
use crate::dense::Scalar;
use crate::handles::Handles;

/// What a program holds of a factorisation.
#[derive(Default)]
struct Held {
    /// Elements by rows, a `Lines<T>`, where they are given before they are factored.
    elements: Option<Box<dyn Any + Send>>,
    /// A `Box<dyn Factors<T>>`.
    factors: Option<Box<dyn Any + Send>>,
    size: usize,
}

static HELD: Handles<Held> = Handles::new();

cusolver_functions! {
    /// What a factorisation finds out.
    fn cusolverSpCreateCsrcholInfo = cusolverSpCreateCsrcholInfoHost cusolverSpCreateCsrqrInfo
        cusolverSpCreateCsrqrInfoHost (held: *mut *mut c_void)
    {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(held, HELD.open(Held::default())) }
    }

    /// Forgets it.
    fn cusolverSpDestroyCsrcholInfo = cusolverSpDestroyCsrcholInfoHost cusolverSpDestroyCsrqrInfo
        cusolverSpDestroyCsrqrInfoHost (held: *mut c_void)
    {
        HELD.close(held).map(drop).ok_or(SolverError::INVALID_VALUE)
    }
}

macro_rules! analyses {
    ($($side:expr, $square:ident $oblong:ident;)*) => {
        cusolver_functions! {$(
            /// Looks whether there is such a matrix.
            fn $square(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                offsets: *const c_int,
                places: *const c_int,
                held: *mut c_void,
            ) {
                ready(handle, $side)?;
                let given = Given { side: $side, ..pattern([rows, rows], count, settings, offsets, places) };
                // SAFETY: the program passes such a matrix; the device's memory is checked.
                analysed(unsafe { given.pattern()?.len() }, held)
            }

            /// The same of a matrix with as many columns as rows.
            fn $oblong(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                count: c_int,
                settings: *const c_void,
                offsets: *const c_int,
                places: *const c_int,
                held: *mut c_void,
            ) {
                ready(handle, $side)?;
                square(rows, columns)?;
                let given = Given { side: $side, ..pattern([rows, columns], count, settings, offsets, places) };
                // SAFETY: as above.
                analysed(unsafe { given.pattern()?.len() }, held)
            }
        )*}
    };
}

analyses! {
    Side::Host, cusolverSpXcsrcholAnalysisHost cusolverSpXcsrqrAnalysisHost;
    Side::Device, cusolverSpXcsrcholAnalysis cusolverSpXcsrqrAnalysis;
}

macro_rules! steps {
    ($kind:ty, $real:ty, $side:expr,
        $chol_size:ident $chol_factor:ident $chol_zero:ident $chol_solve:ident,
        $qr_size:ident $qr_setup:ident $qr_factor:ident $qr_zero:ident $qr_solve:ident
    ) => {
        cusolver_functions! {
            /// Bytes of what is kept and of a workspace, of which none is used.
            fn $chol_size(
                handle: *mut c_void,
                _rows: c_int,
                _count: c_int,
                _settings: *const c_void,
                _values: *const $kind,
                _offsets: *const c_int,
                _places: *const c_int,
                _held: *mut c_void,
                kept: *mut usize,
                work: *mut usize,
            ) {
                known(handle)?;
                // SAFETY: as above.
                unsafe { sizes(kept, work) }
            }

            /// Makes Cholesky's factors, as far as there are any.
            fn $chol_factor(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                values: *const $kind,
                offsets: *const c_int,
                places: *const c_int,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                ready(handle, $side)?;
                let given = Given { side: $side, rows, columns: rows, count, settings: Settings::Described(settings), values, offsets, places };
                // SAFETY: as above.
                let lines = unsafe { given.lines()? };
                keep::<$kind>(held, definite(&lines), lines.len())
            }

            /// The first column whose pivot is not above a limit, or -1.
            fn $chol_zero(
                handle: *mut c_void,
                held: *mut c_void,
                limit: $real,
                position: *mut c_int,
            ) {
                ready(handle, $side)?;
                // SAFETY: as above.
                unsafe { without_pivot::<$kind>(held, limit, position) }
            }

            /// Solves a system.
            fn $chol_solve(
                handle: *mut c_void,
                rows: c_int,
                right: *const $kind,
                solution: *mut $kind,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                ready(handle, $side)?;
                // SAFETY: the program passes such vectors; the device's memory is checked.
                unsafe { solve(held, $side, rows, right, solution) }
            }

            /// Bytes of what is kept and of a workspace, of which none is used.
            fn $qr_size(
                handle: *mut c_void,
                _rows: c_int,
                _columns: c_int,
                _count: c_int,
                _settings: *const c_void,
                _values: *const $kind,
                _offsets: *const c_int,
                _places: *const c_int,
                _held: *mut c_void,
                kept: *mut usize,
                work: *mut usize,
            ) {
                known(handle)?;
                // SAFETY: as above.
                unsafe { sizes(kept, work) }
            }

            /// Takes the elements of a matrix less a multiple of the identity.
            fn $qr_setup(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                count: c_int,
                settings: *const c_void,
                values: *const $kind,
                offsets: *const c_int,
                places: *const c_int,
                shift: $kind,
                held: *mut c_void,
            ) {
                ready(handle, $side)?;
                square(rows, columns)?;
                let given = Given { side: $side, rows, columns, count, settings: Settings::Described(settings), values, offsets, places };
                // SAFETY: as above.
                let mut lines = unsafe { given.lines()? };
                for (row, line) in lines.iter_mut().enumerate() {
                    line.push((row, -shift));
                }
                let kept = HELD.visit(held, |held| held.elements = Some(Box::new(lines)));
                kept.ok_or(SolverError::INVALID_VALUE)
            }

            /// Factors them, and solves a system if there is one.
            fn $qr_factor(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                _count: c_int,
                right: *const $kind,
                solution: *mut $kind,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                ready(handle, $side)?;
                square(rows, columns)?;
                let factors = HELD.visit(held, |held| {
                    let elements = held.elements.as_ref()?.downcast_ref::<Lines<$kind>>()?;
                    Some((exchanged(elements), elements.len()))
                });
                let (factors, size) = factors.flatten().ok_or(SolverError::INVALID_VALUE)?;
                keep::<$kind>(held, factors, size)?;
                match right.is_null() || solution.is_null() {
                    true => Ok(()),
                    // SAFETY: as above.
                    false => unsafe { solve(held, $side, rows, right, solution) },
                }
            }

            /// The first column whose pivot is not above a limit, or -1.
            fn $qr_zero(handle: *mut c_void, held: *mut c_void, limit: $real, position: *mut c_int) {
                ready(handle, $side)?;
                // SAFETY: as above.
                unsafe { without_pivot::<$kind>(held, limit, position) }
            }

            /// Solves a system.
            fn $qr_solve(
                handle: *mut c_void,
                rows: c_int,
                columns: c_int,
                right: *const $kind,
                solution: *mut $kind,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                ready(handle, $side)?;
                square(rows, columns)?;
                // SAFETY: as above.
                unsafe { solve(held, $side, rows, right, solution) }
            }
        }
    };
}

steps!(f32, f32, Side::Host,
    cusolverSpScsrcholBufferInfoHost cusolverSpScsrcholFactorHost cusolverSpScsrcholZeroPivotHost
    cusolverSpScsrcholSolveHost,
    cusolverSpScsrqrBufferInfoHost cusolverSpScsrqrSetupHost cusolverSpScsrqrFactorHost
    cusolverSpScsrqrZeroPivotHost cusolverSpScsrqrSolveHost);
steps!(f32, f32, Side::Device,
    cusolverSpScsrcholBufferInfo cusolverSpScsrcholFactor cusolverSpScsrcholZeroPivot cusolverSpScsrcholSolve,
    cusolverSpScsrqrBufferInfo cusolverSpScsrqrSetup cusolverSpScsrqrFactor cusolverSpScsrqrZeroPivot
    cusolverSpScsrqrSolve);
steps!(f64, f64, Side::Host,
    cusolverSpDcsrcholBufferInfoHost cusolverSpDcsrcholFactorHost cusolverSpDcsrcholZeroPivotHost
    cusolverSpDcsrcholSolveHost,
    cusolverSpDcsrqrBufferInfoHost cusolverSpDcsrqrSetupHost cusolverSpDcsrqrFactorHost
    cusolverSpDcsrqrZeroPivotHost cusolverSpDcsrqrSolveHost);
steps!(f64, f64, Side::Device,
    cusolverSpDcsrcholBufferInfo cusolverSpDcsrcholFactor cusolverSpDcsrcholZeroPivot cusolverSpDcsrcholSolve,
    cusolverSpDcsrqrBufferInfo cusolverSpDcsrqrSetup cusolverSpDcsrqrFactor cusolverSpDcsrqrZeroPivot
    cusolverSpDcsrqrSolve);

/// Errors: there are more rows than columns, or fewer.
fn square(rows: c_int, columns: c_int) -> SolverResult {
    match rows == columns {
        true => Ok(()),
        false => Err(SolverError::INVALID_VALUE),
    }
}

fn analysed(size: usize, held: *mut c_void) -> SolverResult {
    let fresh = Held {
        size,
        ..Held::default()
    };
    let changed = HELD.visit(held, |held| *held = fresh);
    changed.ok_or(SolverError::INVALID_VALUE)
}

fn keep<T: Scalar>(held: *mut c_void, factors: Box<dyn Factors<T>>, size: usize) -> SolverResult {
    let kept = HELD.visit(held, |held| {
        held.factors = Some(Box::new(factors));
        held.size == size
    });
    match kept {
        Some(true) => Ok(()),
        _ => Err(SolverError::INVALID_VALUE),
    }
}

/// # Safety
/// The address is writable or null.
unsafe fn without_pivot<T: Scalar>(
    held: *mut c_void,
    limit: T::RealField,
    position: *mut c_int,
) -> SolverResult {
    let limit = tolerated(limit)?;
    let found = HELD.visit(held, |held| {
        let factors = held
            .factors
            .as_ref()?
            .downcast_ref::<Box<dyn Factors<T>>>()?;
        Some(factors.without_pivot(limit))
    });
    let found = found.flatten().ok_or(SolverError::INVALID_VALUE)?;
    // SAFETY: as the caller promises.
    unsafe { store(position, found.map_or(-1, |column| column as c_int)) }
}

/// # Safety
/// Vectors of the host are what they are said to be.
unsafe fn solve<T: Scalar>(
    held: *mut c_void,
    side: Side,
    rows: c_int,
    right: *const T,
    solution: *mut T,
) -> SolverResult {
    let rows = usize::try_from(rows).map_err(|_| SolverError::INVALID_VALUE)?;
    // SAFETY: as the caller promises.
    let right = unsafe { read(side, right, rows)? };
    let found = HELD.visit(held, |held| {
        let factors = held
            .factors
            .as_ref()?
            .downcast_ref::<Box<dyn Factors<T>>>()?;
        let solvable = held.size == rows && factors.without_pivot(nalgebra::zero()).is_none();
        solvable.then(|| factors.solve(right))
    });
    let found = found.flatten().ok_or(SolverError::INVALID_VALUE)?;
    // SAFETY: as the caller promises.
    unsafe { write(side, solution, &found) }
}
