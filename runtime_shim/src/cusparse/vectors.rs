//! Sparse vectors with dense ones.

use std::ffi::c_void;

use super::descriptors::{Dense, Elements, SparseVector, dense, float_bytes, sparse_vector};
use super::{
    BUFFER_BYTES, SparseError, SparseResult, check_range, cusparse_functions, given, in_order,
};
use super::{scalar, store, written};
use crate::sums::pairwise;

cusparse_functions! {
    /// `y = alpha * x + beta * y`.
    fn cusparseAxpby(
        handle: *mut c_void,
        alpha: *const c_void,
        vector: *const c_void,
        beta: *const c_void,
        result: *mut c_void,
    ) {
        in_order(handle)?;
        let (vector, result) = (sparse_vector(vector)?, dense(result)?);
        let kind = kind(result.values)?;
        // SAFETY: the program passes scalars of the vectors' kind; the same in this file.
        let [alpha, beta] = unsafe { [scalar(alpha, kind)?, scalar(beta, kind)?] };
        let places = places(&vector, &result)?;
        let mut sums: Vec<f64> = (0..result.rows).map(|at| result.values.scaled(beta, at)).collect();
        for (at, place) in places.into_iter().enumerate() {
            sums[place] += alpha * vector.values.get(at);
        }
        for (at, sum) in sums.into_iter().enumerate() {
            result.values.set(at, sum);
        }
        Ok(())
    }

    /// What a dense vector has where a sparse one has elements.
    fn cusparseGather(handle: *mut c_void, from: *const c_void, vector: *mut c_void) {
        in_order(handle)?;
        let (from, vector) = (dense(from)?, sparse_vector(vector)?);
        for (at, place) in places(&vector, &from)?.into_iter().enumerate() {
            vector.values.set(at, from.values.get(place));
        }
        Ok(())
    }

    /// A sparse vector's elements into a dense one.
    fn cusparseScatter(handle: *mut c_void, vector: *const c_void, result: *mut c_void) {
        in_order(handle)?;
        let (vector, result) = (sparse_vector(vector)?, dense(result)?);
        for (at, place) in places(&vector, &result)?.into_iter().enumerate() {
            result.values.set(place, vector.values.get(at));
        }
        Ok(())
    }

    /// Turns the pairs of elements of two vectors by an angle.
    fn cusparseRot(
        handle: *mut c_void,
        cosine: *const c_void,
        sine: *const c_void,
        vector: *mut c_void,
        other: *mut c_void,
    ) {
        in_order(handle)?;
        let (vector, other) = (sparse_vector(vector)?, dense(other)?);
        let kind = kind(other.values)?;
        // SAFETY: as above.
        let [cosine, sine] = unsafe { [scalar(cosine, kind)?, scalar(sine, kind)?] };
        for (at, place) in places(&vector, &other)?.into_iter().enumerate() {
            let (x, y) = (vector.values.get(at), other.values.get(place));
            vector.values.set(at, cosine * x + sine * y);
            other.values.set(place, cosine * y - sine * x);
        }
        Ok(())
    }

    /// Bytes of the buffer of a product: none, but programs may allocate it.
    fn cusparseSpVV_bufferSize(
        _handle: *mut c_void,
        _operation: u32,
        _vector: *const c_void,
        _other: *const c_void,
        _result: *mut c_void,
        _kind: u32,
        bytes: *mut usize,
    ) {
        // SAFETY: the program passes a writable address or null.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// The scalar product.
    fn cusparseSpVV(
        handle: *mut c_void,
        _operation: u32,
        vector: *const c_void,
        other: *const c_void,
        result: *mut c_void,
        kind: u32,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let (vector, other) = (sparse_vector(vector)?, dense(other)?);
        let places = places(&vector, &other)?.into_iter().enumerate();
        let products = places.map(|(at, place)| vector.values.get(at) * other.values.get(place));
        let sum = pairwise(0.0, products);
        let bytes = float_bytes(kind)?;
        // SAFETY: as above.
        unsafe {
            match bytes {
                4 => store(result.cast(), sum as f32)?,
                _ => store(result.cast(), sum)?,
            }
        }
        if check_range(result as usize, bytes).is_ok() {
            written(result as usize, bytes);
            // The host may read it when the call returns.
            crate::execution::check::streams::host_waits_for_last();
        }
        Ok(())
    }
}

/// `CUDA_R_32F` or `CUDA_R_64F`.
fn kind(elements: Elements) -> SparseResult<u32> {
    Ok(if elements.bytes == 4 { 0 } else { 1 })
}

/// Where the elements of a sparse vector are in a dense one.
fn places(vector: &SparseVector, other: &Dense) -> SparseResult<Vec<usize>> {
    if vector.length != other.rows || other.columns != 1 {
        return Err(SparseError::INVALID_VALUE);
    }
    vector.indices.check(vector.count)?;
    vector.values.check(vector.count)?;
    other.check()?;
    let place = |at| {
        let index = usize::try_from(vector.indices.get(at)).ok();
        let index = index.filter(|index| *index < vector.length);
        index.ok_or(SparseError::INVALID_VALUE)
    };
    (0..vector.count).map(place).collect()
}
