//! Triangular systems with one or several right sides.

use std::ffi::c_void;

use super::descriptors::{Dense, Sparse, dense, sparse};
use super::{
    BUFFER_BYTES, SparseError, SparseResult, cusparse_functions, given, in_order, scalar, store,
};
use super::{transposed, turned};

cusparse_functions! {
    /// What an analysis finds out: nothing here, but programs hold on to it.
    fn cusparseSpSV_createDescr = cusparseSpSM_createDescr (descriptor: *mut *mut c_void) {
        let made: *mut c_void = Box::into_raw(Box::new(0_u64)).cast();
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(descriptor, made) }
    }

    /// Forgets it.
    fn cusparseSpSV_destroyDescr = cusparseSpSM_destroyDescr (descriptor: *mut c_void) {
        if !descriptor.is_null() {
            // SAFETY: the program passes what `cusparseSpSV_createDescr` made, once.
            drop(unsafe { Box::from_raw(descriptor.cast::<u64>()) });
        }
        Ok(())
    }

    /// Bytes of the buffer of a solution: none, but programs may allocate it.
    fn cusparseSpSV_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _right: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
        bytes: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Nothing is prepared.
    fn cusparseSpSV_analysis(
        handle: *mut c_void,
        operation: u32,
        _alpha: *const c_void,
        matrix: *const c_void,
        right: *const c_void,
        result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
        _buffer: *mut c_void,
    ) {
        in_order(handle)?;
        let operands = (sparse(matrix)?, dense(right)?, dense(result)?);
        fits(operands, [transposed(operation)?, false])
    }

    /// `op(A) * y = alpha * x`.
    fn cusparseSpSV_solve(
        handle: *mut c_void,
        operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        right: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: the program passes scalars of the kind that it names.
        let alpha = unsafe { scalar(alpha, kind)? };
        let operands = (sparse(matrix)?, dense(right)?, dense(result)?);
        solve(operands, [operation, 0], alpha)
    }

    /// Bytes of the buffer of a solution: none, but programs may allocate it.
    fn cusparseSpSM_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _right_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _right: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
        bytes: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Nothing is prepared.
    fn cusparseSpSM_analysis(
        handle: *mut c_void,
        operation: u32,
        right_operation: u32,
        _alpha: *const c_void,
        matrix: *const c_void,
        right: *const c_void,
        result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let operands = (sparse(matrix)?, dense(right)?, dense(result)?);
        fits(operands, [transposed(operation)?, transposed(right_operation)?])
    }

    /// `op(A) * C = alpha * op(B)`.
    fn cusparseSpSM_solve(
        handle: *mut c_void,
        operation: u32,
        right_operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        right: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: as above.
        let alpha = unsafe { scalar(alpha, kind)? };
        let operands = (sparse(matrix)?, dense(right)?, dense(result)?);
        solve(operands, [operation, right_operation], alpha)
    }
}

fn fits((matrix, right, result): (Sparse, Dense, Dense), turns: [bool; 2]) -> SparseResult {
    let (rows, columns) = turned(turns[1], right.rows, right.columns);
    let square = matrix.rows == matrix.columns && matrix.rows == rows;
    if !square || (result.rows, result.columns) != (rows, columns) {
        return Err(SparseError::INVALID_VALUE);
    }
    if [matrix.batches, right.batches, result.batches] != [1; 3] {
        return Err(SparseError::NOT_SUPPORTED);
    }
    Ok(())
}

fn solve(
    (matrix, right, result): (Sparse, Dense, Dense),
    operations: [u32; 2],
    alpha: f64,
) -> SparseResult {
    let turns = [transposed(operations[0])?, transposed(operations[1])?];
    fits((matrix, right, result), turns)?;
    right.check()?;
    result.check()?;
    let lines = matrix.lines(turns[0])?;
    let [upper, ones] = matrix.triangle.map(|set| set == 1);
    // The transpose of an upper triangle is a lower one.
    let upwards = upper != turns[0];
    let order: Vec<usize> = match upwards {
        true => (0..lines.len()).rev().collect(),
        false => (0..lines.len()).collect(),
    };
    let mut solution = vec![0.0; lines.len()];
    for column in 0..result.columns {
        for row in order.iter().copied() {
            let (at_row, at_column) = turned(turns[1], row, column);
            let mut sum = alpha * right.values.get(right.position(at_row, at_column));
            let mut diagonal = if ones { 1.0 } else { 0.0 };
            for (other, at) in lines[row].iter().copied() {
                if other == row && !ones {
                    diagonal += matrix.values.get(at);
                } else if other != row && (other > row) == upwards {
                    sum -= matrix.values.get(at) * solution[other];
                }
            }
            solution[row] = sum / diagonal;
        }
        for (row, value) in solution.iter().enumerate() {
            result.values.set(result.position(row, column), *value);
        }
    }
    Ok(())
}
