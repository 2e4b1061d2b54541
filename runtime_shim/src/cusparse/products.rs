//! Products of a sparse matrix with a dense vector or matrix.

use std::ffi::c_void;

use super::descriptors::{Dense, Elements, Layout, Sparse, dense, float_bytes, sparse};
use super::{SparseError, SparseResult, cusparse_functions, in_order, store, written};

cusparse_functions! {
    /// Bytes of the buffer of a product with a vector: none, but programs may allocate it.
    fn cusparseSpMV_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _vector: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        bytes: *mut usize,
    ) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Nothing is prepared.
    fn cusparseSpMV_preprocess(
        handle: *mut c_void,
        _operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _vector: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)
    }

    /// `y = alpha * op(A) * x + beta * y`.
    fn cusparseSpMV(
        handle: *mut c_void,
        operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        vector: *const c_void,
        beta: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: the program passes scalars of the kind that it names.
        let scalars = unsafe { [scalar(alpha, kind)?, scalar(beta, kind)?] };
        let operands = (sparse(matrix)?, dense(vector)?, dense(result)?);
        multiply(operands, [operation, 0], scalars)
    }

    /// Bytes of the buffer of a product with a matrix: none, but programs may allocate it.
    fn cusparseSpMM_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _dense_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _dense: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        bytes: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Nothing is prepared.
    fn cusparseSpMM_preprocess(
        handle: *mut c_void,
        _operation: u32,
        _dense_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _dense: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)
    }

    /// `C = alpha * op(A) * op(B) + beta * C`.
    fn cusparseSpMM(
        handle: *mut c_void,
        operation: u32,
        dense_operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        other: *const c_void,
        beta: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: as above.
        let scalars = unsafe { [scalar(alpha, kind)?, scalar(beta, kind)?] };
        let operands = (sparse(matrix)?, dense(other)?, dense(result)?);
        multiply(operands, [operation, dense_operation], scalars)
    }
}

/// Some programs take a buffer of no bytes for a failure.
const BUFFER_BYTES: usize = 8;

/// # Safety
/// The pointer is null or to a scalar of that kind.
unsafe fn scalar(pointer: *const c_void, kind: u32) -> SparseResult<f64> {
    let bytes = float_bytes(kind)?;
    if pointer.is_null() {
        return Err(SparseError::INVALID_VALUE);
    }
    let scalar = Elements {
        start: pointer as usize,
        bytes,
    };
    Ok(scalar.get(0))
}

impl Dense {
    fn position(&self, row: usize, column: usize) -> usize {
        match self.by_rows {
            true => row * self.leading + column,
            false => column * self.leading + row,
        }
    }

    fn check(&self) -> SparseResult {
        match self.rows.min(self.columns) {
            0 => Ok(()),
            _ => self
                .values
                .check(self.position(self.rows - 1, self.columns - 1) + 1),
        }
    }
}

impl Sparse {
    fn check(&self) -> SparseResult {
        let firsts = match self.layout {
            Layout::Rows => self.rows + 1,
            Layout::Columns => self.columns + 1,
            Layout::Coordinates => self.count,
        };
        self.first.check(firsts)?;
        self.second.check(self.count)?;
        self.values.check(self.count)
    }

    /// Calls with row, column and value of each element. Errors: what is told lies outside.
    fn each(&self, mut visit: impl FnMut(usize, usize, f64)) -> SparseResult {
        let mut element = |row: i64, column: i64, at: i64| {
            let within = |index: i64, extent: usize| {
                let index = usize::try_from(index).ok().filter(|index| *index < extent);
                index.ok_or(SparseError::INVALID_VALUE)
            };
            let at = within(at, self.count)?;
            visit(
                within(row, self.rows)?,
                within(column, self.columns)?,
                self.values.get(at),
            );
            Ok(())
        };
        let lines = match self.layout {
            Layout::Rows => self.rows,
            Layout::Columns => self.columns,
            Layout::Coordinates => {
                for at in 0..self.count {
                    element(self.first.get(at), self.second.get(at), at as i64)?;
                }
                return Ok(());
            }
        };
        for line in 0..lines {
            for at in self.first.get(line)..self.first.get(line + 1) {
                let index = usize::try_from(at).ok().filter(|at| *at < self.count);
                let other = self.second.get(index.ok_or(SparseError::INVALID_VALUE)?);
                match self.layout {
                    Layout::Columns => element(other, line as i64, at)?,
                    _ => element(line as i64, other, at)?,
                }
            }
        }
        Ok(())
    }
}

fn multiply(
    (matrix, other, result): (Sparse, Dense, Dense),
    operations: [u32; 2],
    [alpha, beta]: [f64; 2],
) -> SparseResult {
    let mut transposed = [false; 2];
    for (transposed, operation) in transposed.iter_mut().zip(operations) {
        *transposed = match operation {
            0 => false,
            1 | 2 => true,
            _ => return Err(SparseError::INVALID_VALUE),
        };
    }
    let turned = |turn: bool, rows: usize, columns: usize| match turn {
        true => (columns, rows),
        false => (rows, columns),
    };
    let (rows, inner) = turned(transposed[0], matrix.rows, matrix.columns);
    let (inner_rows, columns) = turned(transposed[1], other.rows, other.columns);
    if inner != inner_rows || rows != result.rows || columns != result.columns {
        return Err(SparseError::INVALID_VALUE);
    }
    matrix.check()?;
    other.check()?;
    result.check()?;
    let mut sums = vec![0.0; rows * columns];
    matrix.each(|row, column, value| {
        let (row, column) = turned(transposed[0], row, column);
        for n in 0..columns {
            let (at_row, at_column) = turned(transposed[1], column, n);
            sums[row * columns + n] += value * other.values.get(other.position(at_row, at_column));
        }
    })?;
    for row in 0..rows {
        for column in 0..columns {
            let at = result.position(row, column);
            // Nothing is read where it counts for nothing.
            let before = if beta == 0.0 {
                0.0
            } else {
                beta * result.values.get(at)
            };
            result
                .values
                .set(at, alpha * sums[row * columns + column] + before);
            written(
                result.values.start + at * result.values.bytes,
                result.values.bytes,
            );
        }
    }
    Ok(())
}
