//! Functions that are told the types of what they work on (`cusolverDnX…`).
//!
//! Each passes on to the function of that type. What is computed in is what the matrix has.

use std::ffi::{c_int, c_void};

use nalgebra::Complex;

use super::factors::{
    cusolverDnCpotrf, cusolverDnCpotrs, cusolverDnDpotrf, cusolverDnDpotrs, cusolverDnSpotrf,
    cusolverDnSpotrs, cusolverDnZpotrf, cusolverDnZpotrs,
};
use super::spectra::{cusolverDnCheevd, cusolverDnDsyevd, cusolverDnSsyevd, cusolverDnZheevd};
use super::{HANDLES, SolverError, SolverResult, cusolver_functions, store};
use crate::handles::Handles;

/// Sets of parameters. None of them changes a result.
static PARAMETERS: Handles<()> = Handles::new();

/// Some programs take a workspace of nothing for a failure.
const WORKSPACE_BYTES: usize = 16;

cusolver_functions! {
    /// A set of parameters.
    fn cusolverDnCreateParams(parameters: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(parameters, PARAMETERS.open(())) }
    }

    /// Forgets it.
    fn cusolverDnDestroyParams(parameters: *mut c_void) {
        PARAMETERS.close(parameters).ok_or(SolverError::NOT_INITIALIZED)
    }

    /// Chooses between ways to the same result.
    fn cusolverDnSetAdvOptions(parameters: *mut c_void, function: u32, algorithm: u32) {
        PARAMETERS.get(parameters).ok_or(SolverError::NOT_INITIALIZED)?;
        match function <= 2 && algorithm <= 2 {
            true => Ok(()),
            false => Err(SolverError::INVALID_VALUE),
        }
    }

    /// Bytes of the workspaces: none are needed.
    fn cusolverDnXsyevd_bufferSize(
        handle: *mut c_void,
        _parameters: *mut c_void,
        _job: u32,
        _fill: u32,
        _size: i64,
        matrix_type: u32,
        _matrix: *const c_void,
        _leading: i64,
        values_type: u32,
        _values: *const c_void,
        compute_type: u32,
        device_bytes: *mut usize,
        host_bytes: *mut usize,
    ) {
        Element::of(matrix_type, [values_type], compute_type, Element::real)?;
        // SAFETY: as above.
        unsafe { sizes(handle, device_bytes, host_bytes) }
    }

    /// Eigenvalues of a symmetric or Hermitian matrix, and with job 1 its eigenvectors in its place.
    fn cusolverDnXsyevd(
        handle: *mut c_void,
        _parameters: *mut c_void,
        job: u32,
        fill: u32,
        size: i64,
        matrix_type: u32,
        matrix: *mut c_void,
        leading: i64,
        values_type: u32,
        values: *mut c_void,
        compute_type: u32,
        workspace: *mut c_void,
        bytes: usize,
        _host_workspace: *mut c_void,
        _host_bytes: usize,
        found: *mut c_int,
    ) {
        let [size, leading, bytes] = [int(size)?, int(leading)?, workspace_elements(bytes)];
        // SAFETY: what the program passes; the same in this file.
        came_to(unsafe {
            match Element::of(matrix_type, [values_type], compute_type, Element::real)? {
                Element::Single => cusolverDnSsyevd(
                    handle, job, fill, size, matrix.cast::<f32>(), leading, values.cast(), workspace.cast(), bytes, found,
                ),
                Element::Double => cusolverDnDsyevd(
                    handle, job, fill, size, matrix.cast::<f64>(), leading, values.cast(), workspace.cast(), bytes, found,
                ),
                Element::ComplexSingle => cusolverDnCheevd(
                    handle, job, fill, size, matrix.cast::<Complex<f32>>(), leading, values.cast(), workspace.cast(), bytes,
                    found,
                ),
                Element::ComplexDouble => cusolverDnZheevd(
                    handle, job, fill, size, matrix.cast::<Complex<f64>>(), leading, values.cast(), workspace.cast(), bytes,
                    found,
                ),
            }
        })
    }

    /// Bytes of the workspaces: none are needed.
    fn cusolverDnXpotrf_bufferSize(
        handle: *mut c_void,
        _parameters: *mut c_void,
        _fill: u32,
        _size: i64,
        matrix_type: u32,
        _matrix: *const c_void,
        _leading: i64,
        compute_type: u32,
        device_bytes: *mut usize,
        host_bytes: *mut usize,
    ) {
        Element::of(matrix_type, [], compute_type, Element::same)?;
        // SAFETY: as above.
        unsafe { sizes(handle, device_bytes, host_bytes) }
    }

    /// `A = L * L'` or `A = U' * U` in place of a triangle of `A`.
    fn cusolverDnXpotrf(
        handle: *mut c_void,
        _parameters: *mut c_void,
        fill: u32,
        size: i64,
        matrix_type: u32,
        matrix: *mut c_void,
        leading: i64,
        compute_type: u32,
        workspace: *mut c_void,
        bytes: usize,
        _host_workspace: *mut c_void,
        _host_bytes: usize,
        found: *mut c_int,
    ) {
        let [size, leading, bytes] = [int(size)?, int(leading)?, workspace_elements(bytes)];
        // SAFETY: as above.
        came_to(unsafe {
            match Element::of(matrix_type, [], compute_type, Element::same)? {
                Element::Single => {
                    cusolverDnSpotrf(handle, fill, size, matrix.cast::<f32>(), leading, workspace.cast(), bytes, found)
                }
                Element::Double => {
                    cusolverDnDpotrf(handle, fill, size, matrix.cast::<f64>(), leading, workspace.cast(), bytes, found)
                }
                Element::ComplexSingle => cusolverDnCpotrf(
                    handle, fill, size, matrix.cast::<Complex<f32>>(), leading, workspace.cast(), bytes, found,
                ),
                Element::ComplexDouble => cusolverDnZpotrf(
                    handle, fill, size, matrix.cast::<Complex<f64>>(), leading, workspace.cast(), bytes, found,
                ),
            }
        })
    }

    /// Solves `A * X = B` in place of `B`, by the factors of [`cusolverDnXpotrf`].
    fn cusolverDnXpotrs(
        handle: *mut c_void,
        _parameters: *mut c_void,
        fill: u32,
        size: i64,
        columns: i64,
        factor_type: u32,
        factor: *const c_void,
        leading: i64,
        right_type: u32,
        right: *mut c_void,
        right_leading: i64,
        found: *mut c_int,
    ) {
        let [size, columns, leading, right_leading] =
            [int(size)?, int(columns)?, int(leading)?, int(right_leading)?];
        // SAFETY: as above.
        came_to(unsafe {
            match Element::of(factor_type, [right_type], factor_type, Element::same)? {
                Element::Single => cusolverDnSpotrs(
                    handle, fill, size, columns, factor.cast::<f32>(), leading, right.cast(), right_leading, found,
                ),
                Element::Double => cusolverDnDpotrs(
                    handle, fill, size, columns, factor.cast::<f64>(), leading, right.cast(), right_leading, found,
                ),
                Element::ComplexSingle => cusolverDnCpotrs(
                    handle, fill, size, columns, factor.cast::<Complex<f32>>(), leading, right.cast(), right_leading, found,
                ),
                Element::ComplexDouble => cusolverDnZpotrs(
                    handle, fill, size, columns, factor.cast::<Complex<f64>>(), leading, right.cast(), right_leading, found,
                ),
            }
        })
    }
}

/// What a matrix has: of `cudaDataType`, what cuSOLVER takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Element {
    Single,
    Double,
    ComplexSingle,
    ComplexDouble,
}

impl Element {
    fn new(data_type: u32) -> Option<Self> {
        match data_type {
            0 => Some(Self::Single),
            1 => Some(Self::Double),
            4 => Some(Self::ComplexSingle),
            5 => Some(Self::ComplexDouble),
            _ => None,
        }
    }

    /// The elements of a matrix, where what is computed in is the same, and other operands have what belongs to that.
    fn of<const N: usize>(
        matrix: u32,
        others: [u32; N],
        computed: u32,
        belonging: fn(Self) -> Self,
    ) -> SolverResult<Self> {
        let element = Self::new(matrix).ok_or(SolverError::NOT_SUPPORTED)?;
        let expected = Some(belonging(element));
        let fits = others.iter().all(|other| Self::new(*other) == expected);
        match computed == matrix && fits {
            true => Ok(element),
            false => Err(SolverError::INVALID_VALUE),
        }
    }

    fn same(self) -> Self {
        self
    }

    /// What its eigenvalues have.
    fn real(self) -> Self {
        match self {
            Self::Single | Self::ComplexSingle => Self::Single,
            Self::Double | Self::ComplexDouble => Self::Double,
        }
    }
}

/// # Safety
/// The addresses are writable or null.
unsafe fn sizes(handle: *mut c_void, device: *mut usize, host: *mut usize) -> SolverResult {
    HANDLES.get(handle).ok_or(SolverError::NOT_INITIALIZED)?;
    // SAFETY: as the caller promises.
    unsafe {
        store(device, WORKSPACE_BYTES)?;
        store(host, 0)
    }
}

/// Matrices whose extents do not fit do not fit into memory either.
fn int(extent: i64) -> SolverResult<c_int> {
    c_int::try_from(extent).map_err(|_| SolverError::INVALID_VALUE)
}

/// The functions of one type ask for no more than that there is one.
fn workspace_elements(bytes: usize) -> c_int {
    c_int::try_from(bytes).unwrap_or(c_int::MAX)
}

/// What a function of the library returned.
fn came_to(status: u32) -> SolverResult {
    match status {
        0 => Ok(()),
        status => Err(SolverError(status)),
    }
}
