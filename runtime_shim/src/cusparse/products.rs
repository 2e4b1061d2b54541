//! Products of a sparse matrix with a dense vector or matrix.

use std::ffi::c_void;

use super::descriptors::{Dense, Sparse, dense, sparse};
use super::{
    BUFFER_BYTES, SparseResult, cusparse_functions, given, in_order, scalar, store, transposed,
};
use super::{SparseError, turned};

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
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
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

fn multiply(
    (matrix, other, result): (Sparse, Dense, Dense),
    operations: [u32; 2],
    scalars: [f64; 2],
) -> SparseResult {
    let transposed = [transposed(operations[0])?, transposed(operations[1])?];
    let batches = result.batches;
    for batch in 0..batches {
        let matrix = matrix.in_batch(batch, batches)?;
        let (other, result) = (
            other.in_batch(batch, batches)?,
            result.in_batch(batch, batches)?,
        );
        multiply_one((matrix, other, result), transposed, scalars)?;
    }
    Ok(())
}

fn multiply_one(
    (matrix, other, result): (Sparse, Dense, Dense),
    transposed: [bool; 2],
    [alpha, beta]: [f64; 2],
) -> SparseResult {
    let (rows, inner) = turned(transposed[0], matrix.rows, matrix.columns);
    let (inner_rows, columns) = turned(transposed[1], other.rows, other.columns);
    if inner != inner_rows || rows != result.rows || columns != result.columns {
        return Err(SparseError::INVALID_VALUE);
    }
    matrix.check()?;
    other.check()?;
    result.check()?;
    let mut sums = vec![0.0; rows * columns];
    matrix.each(|row, column, at| {
        let value = matrix.values.get(at);
        let (row, column) = turned(transposed[0], row, column);
        for n in 0..columns {
            let (at_row, at_column) = turned(transposed[1], column, n);
            sums[row * columns + n] += value * other.values.get(other.position(at_row, at_column));
        }
    })?;
    for row in 0..rows {
        for column in 0..columns {
            let at = result.position(row, column);
            let sum = alpha * sums[row * columns + column];
            result.values.set(at, sum + result.values.scaled(beta, at));
        }
    }
    Ok(())
}
