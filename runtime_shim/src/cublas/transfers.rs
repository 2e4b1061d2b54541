//! Copies of vectors and matrices between host and device.

use std::ffi::{c_int, c_void};

use super::{BlasError, BlasResult};
use crate::api::{copy, stream};

/// `CUBLAS_STATUS_MAPPING_ERROR`.
const MAPPING_ERROR: BlasError = BlasError(11);

cublas_functions! {
    /// A vector to the device.
    fn cublasSetVector(
        n: c_int,
        element_bytes: c_int,
        x: *const c_void,
        x_increment: c_int,
        y: *mut c_void,
        y_increment: c_int,
    ) {
        let (from, to) = ((x as usize, x_increment), (y as usize, y_increment));
        elements(n, element_bytes, from, to, copy::HOST_TO_DEVICE)
    }

    /// A vector to the host.
    fn cublasGetVector(
        n: c_int,
        element_bytes: c_int,
        x: *const c_void,
        x_increment: c_int,
        y: *mut c_void,
        y_increment: c_int,
    ) {
        let (from, to) = ((x as usize, x_increment), (y as usize, y_increment));
        elements(n, element_bytes, from, to, copy::DEVICE_TO_HOST)
    }

    /// A matrix to the device.
    fn cublasSetMatrix(
        rows: c_int,
        columns: c_int,
        element_bytes: c_int,
        a: *const c_void,
        a_leading: c_int,
        b: *mut c_void,
        b_leading: c_int,
    ) {
        let (from, to) = ((a as usize, a_leading), (b as usize, b_leading));
        matrix([rows, columns, element_bytes], from, to, copy::HOST_TO_DEVICE)
    }

    /// A matrix to the host.
    fn cublasGetMatrix(
        rows: c_int,
        columns: c_int,
        element_bytes: c_int,
        a: *const c_void,
        a_leading: c_int,
        b: *mut c_void,
        b_leading: c_int,
    ) {
        let (from, to) = ((a as usize, a_leading), (b as usize, b_leading));
        matrix([rows, columns, element_bytes], from, to, copy::DEVICE_TO_HOST)
    }
}

/// Copies elements at distances of increments.
fn elements(
    n: c_int,
    element_bytes: c_int,
    (source, source_increment): (usize, c_int),
    (destination, destination_increment): (usize, c_int),
    kind: u32,
) -> BlasResult {
    let step = |increment: c_int| extent(increment).map(|increment| increment.max(1));
    let (from, to) = (step(source_increment)?, step(destination_increment)?);
    let (n, bytes) = (extent(n)?, extent(element_bytes)?);
    stream::in_order(std::ptr::null_mut()).map_err(|_| MAPPING_ERROR)?;
    if from == 1 && to == 1 {
        return transfer(destination, source, n * bytes, kind);
    }
    for index in 0..n {
        let destination = destination.wrapping_add(index * to * bytes);
        let source = source.wrapping_add(index * from * bytes);
        transfer(destination, source, bytes, kind)?;
    }
    Ok(())
}

/// Copies columns.
fn matrix(
    [rows, columns, element_bytes]: [c_int; 3],
    (source, source_leading): (usize, c_int),
    (destination, destination_leading): (usize, c_int),
    kind: u32,
) -> BlasResult {
    let (rows, columns) = (extent(rows)?, extent(columns)?);
    let bytes = extent(element_bytes)?;
    let (from, to) = (extent(source_leading)?, extent(destination_leading)?);
    if from < rows || to < rows {
        return Err(BlasError::INVALID_VALUE);
    }
    stream::in_order(std::ptr::null_mut()).map_err(|_| MAPPING_ERROR)?;
    for column in 0..columns {
        let destination = destination.wrapping_add(column * to * bytes);
        let source = source.wrapping_add(column * from * bytes);
        transfer(destination, source, rows * bytes, kind)?;
    }
    Ok(())
}

fn transfer(destination: usize, source: usize, bytes: usize, kind: u32) -> BlasResult {
    copy::copy(destination, source, bytes, kind).map_err(|_| MAPPING_ERROR)
}

fn extent(value: c_int) -> BlasResult<usize> {
    usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE)
}
