//! Incomplete factors of a matrix by rows, in the places of its elements.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};

use super::descriptors::{Elements, Indices, Layout, Sparse, index_base};
use super::{
    BUFFER_BYTES, SparseError, SparseResult, cusparse_functions, given, in_order, length, store,
};
use crate::handles::Handles;

/// The first row without a pivot, of each factorisation that programs hold on to.
static ZERO_PIVOTS: Handles<Option<usize>> = Handles::new();

cusparse_functions! {
    /// What a factorisation finds out.
    fn cusparseCreateCsrilu02Info = cusparseCreateCsric02Info (info: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(info, ZERO_PIVOTS.open(None)) }
    }

    /// Forgets it.
    fn cusparseDestroyCsrilu02Info = cusparseDestroyCsric02Info (info: *mut c_void) {
        let known = ZERO_PIVOTS.close(info);
        known.map(|_| ()).ok_or(SparseError::INVALID_VALUE)
    }

    /// The first row without a pivot, or -1.
    fn cusparseXcsrilu02_zeroPivot = cusparseXcsric02_zeroPivot (
        handle: *mut c_void,
        info: *mut c_void,
        position: *mut c_int,
    ) {
        in_order(handle)?;
        let known = ZERO_PIVOTS.get(info);
        let row = known.ok_or(SparseError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(position, row.map_or(-1, |row| row as c_int))? };
        row.map_or(Ok(()), |_| Err(SparseError::ZERO_PIVOT))
    }
}

macro_rules! factor_functions {
    ($bytes_kind:expr, $factor:path, $size:ident $analysis:ident $numbers:ident) => {
        cusparse_functions! {
            /// Bytes of the buffer: none, but programs may allocate it.
            fn $size(
                _handle: *mut c_void,
                _rows: c_int,
                _count: c_int,
                _settings: *const c_void,
                _values: *mut c_void,
                _offsets: *const c_int,
                _columns: *const c_int,
                _info: *mut c_void,
                bytes: *mut c_int,
            ) {
                // SAFETY: as above.
                unsafe { store(bytes, BUFFER_BYTES as c_int) }
            }

            /// Looks for rows without a diagonal element.
            fn $analysis(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                values: *const c_void,
                offsets: *const c_int,
                columns: *const c_int,
                info: *mut c_void,
                _policy: u32,
                buffer: *mut c_void,
            ) {
                in_order(handle)?;
                given(buffer)?;
                let matrix = matrix([rows, count], settings, (values, $bytes_kind), [offsets, columns])?;
                let mut lines = matrix.lines(false)?.into_iter().enumerate();
                let missing = lines.find(|(row, line)| line.iter().all(|(column, _)| column != row));
                note(info, missing.map(|(row, _)| row))
            }

            /// Puts the factors in the places of the elements.
            fn $numbers(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                values: *mut c_void,
                offsets: *const c_int,
                columns: *const c_int,
                info: *mut c_void,
                _policy: u32,
                buffer: *mut c_void,
            ) {
                in_order(handle)?;
                given(buffer)?;
                let matrix = matrix([rows, count], settings, (values, $bytes_kind), [offsets, columns])?;
                note(info, $factor(&matrix)?)
            }
        }
    };
}

/// `CUDA_R_32F`, `CUDA_R_64F`.
const SINGLE: u32 = 0;
const DOUBLE: u32 = 1;

factor_functions!(SINGLE, lower_and_upper,
    cusparseScsrilu02_bufferSize cusparseScsrilu02_analysis cusparseScsrilu02);
factor_functions!(DOUBLE, lower_and_upper,
    cusparseDcsrilu02_bufferSize cusparseDcsrilu02_analysis cusparseDcsrilu02);
factor_functions!(SINGLE, cholesky,
    cusparseScsric02_bufferSize cusparseScsric02_analysis cusparseScsric02);
factor_functions!(DOUBLE, cholesky,
    cusparseDcsric02_bufferSize cusparseDcsric02_analysis cusparseDcsric02);

/// Keeps what an analysis or a factorisation found.
fn note(info: *mut c_void, zero_pivot: Option<usize>) -> SparseResult {
    let noted = ZERO_PIVOTS.visit(info, |known| *known = zero_pivot);
    noted.ok_or(SparseError::INVALID_VALUE)
}

fn matrix(
    [rows, count]: [c_int; 2],
    settings: *const c_void,
    (values, kind): (*const c_void, u32),
    [offsets, columns]: [*const c_int; 2],
) -> SparseResult<Sparse> {
    let base = index_base(settings)?;
    let rows = length(i64::from(rows))?;
    Ok(Sparse {
        rows,
        columns: rows,
        count: length(i64::from(count))?,
        layout: Layout::Rows,
        first: Indices::new(offsets as usize, 2, base)?,
        second: Indices::new(columns as usize, 2, base)?,
        values: Elements::new(values, kind)?,
        triangle: [0; 2],
        batches: 1,
        strides: [0; 2],
    })
}

/// `A = L * U` where `A` has elements. The first row without a pivot.
fn lower_and_upper(matrix: &Sparse) -> SparseResult<Option<usize>> {
    let lines = sorted(matrix)?;
    let mut zero_pivot = None;
    let mut diagonals = vec![None; lines.len()];
    for (row, line) in lines.iter().enumerate() {
        let places: HashMap<usize, usize> = line.iter().copied().collect();
        for (column, at) in line.iter().copied().take_while(|(column, _)| *column < row) {
            let pivot: f64 = diagonals[column].map_or(0.0, |at| matrix.values.get(at));
            let factor = matrix.values.get(at) / pivot;
            matrix.values.set(at, factor);
            for (later, above) in lines[column].iter().copied() {
                if let (true, Some(place)) = (later > column, places.get(&later)) {
                    let changed = matrix.values.get(*place) - factor * matrix.values.get(above);
                    matrix.values.set(*place, changed);
                }
            }
        }
        diagonals[row] = places.get(&row).copied();
        if diagonals[row].is_none_or(|at| matrix.values.get(at) == 0.0) {
            zero_pivot = zero_pivot.or(Some(row));
        }
    }
    Ok(zero_pivot)
}

/// `A = L * L'` where `A` has elements; those above the diagonal stay as they are.
fn cholesky(matrix: &Sparse) -> SparseResult<Option<usize>> {
    let lines = sorted(matrix)?;
    let mut zero_pivot = None;
    let mut diagonals = vec![None; lines.len()];
    for (row, line) in lines.iter().enumerate() {
        let places: HashMap<usize, usize> = line.iter().copied().collect();
        for (column, at) in line
            .iter()
            .copied()
            .take_while(|(column, _)| *column <= row)
        {
            let mut rest = matrix.values.get(at);
            let above = lines[column].iter().copied();
            for (earlier, other) in above.take_while(|(earlier, _)| *earlier < column) {
                if let Some(place) = places.get(&earlier) {
                    rest -= matrix.values.get(*place) * matrix.values.get(other);
                }
            }
            if column == row {
                diagonals[row] = Some(at);
                if rest <= 0.0 {
                    zero_pivot = zero_pivot.or(Some(row));
                }
                matrix.values.set(at, rest.sqrt());
            } else {
                let pivot = diagonals[column].map_or(0.0, |at| matrix.values.get(at));
                matrix.values.set(at, rest / pivot);
            }
        }
        if diagonals[row].is_none() {
            zero_pivot = zero_pivot.or(Some(row));
        }
    }
    Ok(zero_pivot)
}

/// The rows' columns and positions, by column.
fn sorted(matrix: &Sparse) -> SparseResult<Vec<Vec<(usize, usize)>>> {
    let mut lines = matrix.lines(false)?;
    lines.iter_mut().for_each(|line| line.sort_unstable());
    Ok(lines)
}
