//! Singular values and eigenvalues.

use std::ffi::{c_char, c_int, c_void};

use nalgebra::{Complex, DMatrix};

use super::factors::is_upper;
use super::tell;
use super::{
    SolverError, SolverResult, WORKSPACE_ELEMENTS, cusolver_functions, given, in_order, store,
};
use crate::cublas::Matrix;
use crate::dense::{Scalar, eigenvalues, singular_values};

macro_rules! spectrum_functions {
    ($kind:ty, $real:ty, $singular_size:ident $singular:ident $eigen_size:ident $eigen:ident) => {
        cusolver_functions! {
            /// Elements of the workspace: none, but programs may allocate it.
            fn $singular_size(
                _handle: *mut c_void,
                _rows: c_int,
                _columns: c_int,
                elements: *mut c_int,
            ) {
                // SAFETY: the program passes a writable address or null; the same in this file.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// `A = U * S * V'`; of `U` and `V'` all (A), the first (S), in place of `A` (O) or nothing (N).
            fn $singular(
                handle: *mut c_void,
                left_job: c_char,
                right_job: c_char,
                rows: c_int,
                columns: c_int,
                matrix: *mut $kind,
                leading: c_int,
                values: *mut $real,
                left: *mut $kind,
                left_leading: c_int,
                right: *mut $kind,
                right_leading: c_int,
                workspace: *mut $kind,
                _elements: c_int,
                _real_workspace: *mut $real,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let jobs = [Part::new(left_job)?, Part::new(right_job)?];
                if rows < columns || jobs == [Part::InPlace; 2] {
                    return Err(SolverError::INVALID_VALUE);
                }
                let matrix = Matrix::new(rows, columns, matrix, leading)?;
                let Some(singular) = singular_values(matrix.load(), jobs.contains(&Part::All)) else {
                    return tell(found, 1);
                };
                put_values(values, &singular.values)?;
                match jobs[0] {
                    Part::All => Matrix::new(rows, rows, left, left_leading)?.store(&singular.left),
                    Part::First => Matrix::new(rows, columns, left, left_leading)?.store(&singular.left),
                    Part::InPlace => matrix.store(&singular.left),
                    Part::Nothing => {}
                }
                match jobs[1] {
                    Part::All | Part::First => Matrix::new(columns, columns, right, right_leading)?.store(&singular.right),
                    Part::InPlace => Matrix::new(columns, columns, matrix.start(), leading)?.store(&singular.right),
                    Part::Nothing => {}
                }
                tell(found, 0)
            }

            /// Elements of the workspace: none, but programs may allocate it.
            fn $eigen_size(
                _handle: *mut c_void,
                _job: u32,
                _fill: u32,
                _size: c_int,
                _matrix: *const $kind,
                _leading: c_int,
                _values: *const $real,
                elements: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(elements, WORKSPACE_ELEMENTS) }
            }

            /// Eigenvalues of a symmetric or Hermitian matrix, and with job 1 its eigenvectors in its place.
            fn $eigen(
                handle: *mut c_void,
                job: u32,
                fill: u32,
                size: c_int,
                matrix: *mut $kind,
                leading: c_int,
                values: *mut $real,
                workspace: *mut $kind,
                _elements: c_int,
                found: *mut c_int,
            ) {
                in_order(handle)?;
                given(workspace)?;
                let matrix = Matrix::new(size, size, matrix, leading)?;
                let whole = hermitian(&matrix.load(), is_upper(fill)?);
                let Some((numbers, vectors)) = eigenvalues(whole) else {
                    return tell(found, 1);
                };
                put_values(values, &numbers)?;
                if job == 1 {
                    matrix.store(&vectors);
                }
                tell(found, 0)
            }
        }
    };
}

spectrum_functions!(f32, f32, cusolverDnSgesvd_bufferSize cusolverDnSgesvd
    cusolverDnSsyevd_bufferSize cusolverDnSsyevd);
spectrum_functions!(f64, f64, cusolverDnDgesvd_bufferSize cusolverDnDgesvd
    cusolverDnDsyevd_bufferSize cusolverDnDsyevd);
spectrum_functions!(Complex<f32>, f32, cusolverDnCgesvd_bufferSize cusolverDnCgesvd
    cusolverDnCheevd_bufferSize cusolverDnCheevd);
spectrum_functions!(Complex<f64>, f64, cusolverDnZgesvd_bufferSize cusolverDnZgesvd
    cusolverDnZheevd_bufferSize cusolverDnZheevd);

/// What is wanted of the singular vectors of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    All,
    First,
    InPlace,
    Nothing,
}

impl Part {
    fn new(job: c_char) -> SolverResult<Self> {
        match job as u8 {
            b'A' => Ok(Self::All),
            b'S' => Ok(Self::First),
            b'O' => Ok(Self::InPlace),
            b'N' => Ok(Self::Nothing),
            _ => Err(SolverError::INVALID_VALUE),
        }
    }
}

fn put_values<R: Scalar>(start: *mut R, values: &[R]) -> SolverResult {
    let count = c_int::try_from(values.len()).map_err(|_| SolverError::INVALID_VALUE)?;
    let place = Matrix::new(count, 1, start.cast_const(), count.max(1))?;
    place.store(&DMatrix::from_column_slice(values.len(), 1, values));
    Ok(())
}

/// The whole of a matrix, one triangle of which counts.
fn hermitian<T: Scalar>(matrix: &DMatrix<T>, upper: bool) -> DMatrix<T> {
    DMatrix::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        if row == column {
            T::from_real(matrix[(row, row)].real())
        } else if (column > row) == upper {
            matrix[(row, column)]
        } else {
            matrix[(column, row)].conjugate()
        }
    })
}
