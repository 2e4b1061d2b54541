//! Products whose result is sparse: of two sparse matrices, and of two dense ones where a sparse one has elements.

use std::collections::BTreeMap;
use std::ffi::c_void;

use super::descriptors::{Dense, Layout, Sparse, dense, set_count, sparse};
use super::{
    BUFFER_BYTES, SparseError, SparseResult, cusparse_functions, given, in_order, scalar, store,
};
use super::{transposed, turned};
use crate::handles::Handles;

/// A product's rows: columns and sums, by column.
type Rows = Vec<BTreeMap<usize, f64>>;

/// Products that were made and not yet stored, by the descriptor of each.
static PRODUCTS: Handles<Rows> = Handles::new();

cusparse_functions! {
    /// What a product needs from step to step.
    fn cusparseSpGEMM_createDescr(descriptor: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(descriptor, PRODUCTS.open(Rows::new())) }
    }

    /// Forgets it.
    fn cusparseSpGEMM_destroyDescr(descriptor: *mut c_void) {
        let known = PRODUCTS.close(descriptor);
        known.map(|_| ()).ok_or(SparseError::INVALID_VALUE)
    }

    /// Bytes of the first buffer: none, but programs may allocate it.
    fn cusparseSpGEMM_workEstimation(
        handle: *mut c_void,
        _operation: u32,
        _other_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _other: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _descriptor: *mut c_void,
        bytes: *mut usize,
        _buffer: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Bytes of the second buffer, and with that buffer how many elements `alpha * op(A) * op(B)` has.
    fn cusparseSpGEMM_compute(
        handle: *mut c_void,
        operation: u32,
        other_operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        other: *const c_void,
        beta: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        descriptor: *mut c_void,
        bytes: *mut usize,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES)? };
        if buffer.is_null() {
            return Ok(());
        }
        // SAFETY: the program passes scalars of the kind that it names.
        let [alpha, beta] = unsafe { [scalar(alpha, kind)?, scalar(beta, kind)?] };
        if beta != 0.0 {
            return Err(SparseError::NOT_SUPPORTED);
        }
        let operands = (sparse(matrix)?, sparse(other)?);
        let turns = [transposed(operation)?, transposed(other_operation)?];
        let rows = multiply(operands, turns, alpha, sparse(result)?)?;
        set_count(result, rows.iter().map(BTreeMap::len).sum())?;
        let kept = PRODUCTS.visit(descriptor, |place| *place = rows);
        kept.ok_or(SparseError::INVALID_VALUE)
    }

    /// Stores the product.
    fn cusparseSpGEMM_copy(
        handle: *mut c_void,
        _operation: u32,
        _other_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _other: *const c_void,
        _beta: *const c_void,
        result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        descriptor: *mut c_void,
    ) {
        in_order(handle)?;
        let result = sparse(result)?;
        let rows = PRODUCTS.get(descriptor).ok_or(SparseError::INVALID_VALUE)?;
        let count: usize = rows.iter().map(BTreeMap::len).sum();
        if result.layout != Layout::Rows || rows.len() != result.rows || count != result.count {
            return Err(SparseError::INVALID_VALUE);
        }
        result.check()?;
        let mut at = 0;
        result.first.set(0, 0);
        for (row, elements) in rows.iter().enumerate() {
            for (column, value) in elements {
                result.second.set(at, *column);
                result.values.set(at, *value);
                at += 1;
            }
            result.first.set(row + 1, at);
        }
        Ok(())
    }

    /// Bytes of the buffer of a sampled product: none, but programs may allocate it.
    fn cusparseSDDMM_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _other_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _other: *const c_void,
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
    fn cusparseSDDMM_preprocess(
        handle: *mut c_void,
        _operation: u32,
        _other_operation: u32,
        _alpha: *const c_void,
        _matrix: *const c_void,
        _other: *const c_void,
        _beta: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)
    }

    /// `C = alpha * op(A) * op(B) + beta * C` where `C` has elements.
    fn cusparseSDDMM(
        handle: *mut c_void,
        operation: u32,
        other_operation: u32,
        alpha: *const c_void,
        matrix: *const c_void,
        other: *const c_void,
        beta: *const c_void,
        result: *mut c_void,
        kind: u32,
        _algorithm: u32,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        // SAFETY: as above.
        let scalars = unsafe { [scalar(alpha, kind)?, scalar(beta, kind)?] };
        let (matrix, other, result) = (dense(matrix)?, dense(other)?, sparse(result)?);
        let turns = [transposed(operation)?, transposed(other_operation)?];
        let batches = result.batches;
        for batch in 0..batches {
            let (matrix, other) = (matrix.in_batch(batch, batches)?, other.in_batch(batch, batches)?);
            sample((matrix, other, result.in_batch(batch, batches)?), turns, scalars)?;
        }
        Ok(())
    }
}

fn multiply(
    (matrix, other): (Sparse, Sparse),
    turns: [bool; 2],
    alpha: f64,
    result: Sparse,
) -> SparseResult<Rows> {
    let (rows, inner) = turned(turns[0], matrix.rows, matrix.columns);
    let (inner_rows, columns) = turned(turns[1], other.rows, other.columns);
    if inner != inner_rows || (rows, columns) != (result.rows, result.columns) {
        return Err(SparseError::INVALID_VALUE);
    }
    let (left, right) = (matrix.lines(turns[0])?, other.lines(turns[1])?);
    let row = |line: &Vec<(usize, usize)>| {
        let mut sums = BTreeMap::new();
        for (inner, at) in line.iter().copied() {
            let factor = alpha * matrix.values.get(at);
            for (column, at) in right[inner].iter().copied() {
                *sums.entry(column).or_insert(0.0) += factor * other.values.get(at);
            }
        }
        sums
    };
    Ok(left.iter().map(row).collect())
}

fn sample(
    (matrix, other, result): (Dense, Dense, Sparse),
    turns: [bool; 2],
    [alpha, beta]: [f64; 2],
) -> SparseResult {
    let (rows, inner) = turned(turns[0], matrix.rows, matrix.columns);
    let (inner_rows, columns) = turned(turns[1], other.rows, other.columns);
    if inner != inner_rows || (rows, columns) != (result.rows, result.columns) {
        return Err(SparseError::INVALID_VALUE);
    }
    matrix.check()?;
    other.check()?;
    result.check()?;
    result.each(|row, column, at| {
        let mut sum = 0.0;
        for k in 0..inner {
            let (left_row, left_column) = turned(turns[0], row, k);
            let (right_row, right_column) = turned(turns[1], k, column);
            sum += matrix.values.get(matrix.position(left_row, left_column))
                * other.values.get(other.position(right_row, right_column));
        }
        result
            .values
            .set(at, alpha * sum + result.values.scaled(beta, at));
    })
}
