//! `cusolverRf.h`: factors of one matrix after the other, in orders of rows and columns that were found before.
//!
//! The factors that a program passes have the pattern that the values give, so that they are not kept. There is one
//! matrix at a time; work is done before a call returns.

use std::ffi::{c_int, c_void};

use super::factors::{Factors, Lines, LowerUpper, Pivots, turned};
use super::{
    Given, Settings, Side, SolverError, SolverResult, cusolver_functions, read, store, write,
};
use crate::api::stream;
use crate::handles::Handles;

struct Held {
    /// What a program sets and asks for, which changes nothing: format, unit diagonal, fast mode, ways to factor and
    /// to solve.
    modes: [u32; 5],
    /// What is smaller than the first of these becomes the second, if that is not zero.
    boost: (f64, f64),
    matrix: Option<Matrix>,
    factors: Option<LowerUpper<f64>>,
}

struct Matrix {
    lines: Lines<f64>,
    /// Which row and column of the matrix comes to each place.
    orders: [Vec<usize>; 2],
}

static HELD: Handles<Held> = Handles::new();

/// How often each of the modes' numbers may be counted up.
const MODES: [u32; 5] = [2, 4, 2, 3, 4];

cusolver_functions! {
    /// A handle.
    fn cusolverRfCreate(handle: *mut *mut c_void) {
        let held = Held { modes: [0, 0, 0, 0, 1], boost: (0.0, 0.0), matrix: None, factors: None };
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(handle, HELD.open(held)) }
    }

    /// Forgets a handle.
    fn cusolverRfDestroy(handle: *mut c_void) {
        HELD.close(handle).map(drop).ok_or(SolverError::NOT_INITIALIZED)
    }

    /// How the factors are passed, which is remembered; matrices by columns are not there.
    fn cusolverRfSetMatrixFormat(handle: *mut c_void, format: u32, diagonal: u32) {
        const BY_COLUMNS: u32 = 1;
        if format == BY_COLUMNS {
            return Err(SolverError::NOT_SUPPORTED);
        }
        set_modes(handle, [(0, format), (1, diagonal)])
    }

    /// How the factors are passed.
    fn cusolverRfGetMatrixFormat(handle: *mut c_void, format: *mut u32, diagonal: *mut u32) {
        let modes = visit(handle, |held| held.modes)?;
        // SAFETY: as above.
        unsafe {
            store(format, modes[0])?;
            store(diagonal, modes[1])
        }
    }

    /// Which pivots are taken for zero, and what stands for them.
    fn cusolverRfSetNumericProperties(handle: *mut c_void, zero: f64, boost: f64) {
        visit(handle, |held| held.boost = (zero, boost))
    }

    /// Which pivots are taken for zero, and what stands for them.
    fn cusolverRfGetNumericProperties(handle: *mut c_void, zero: *mut f64, boost: *mut f64) {
        let known = visit(handle, |held| held.boost)?;
        // SAFETY: as above.
        unsafe {
            store(zero, known.0)?;
            store(boost, known.1)
        }
    }

    /// In which way is factored and solved, which is remembered.
    fn cusolverRfSetAlgs(handle: *mut c_void, factor: u32, solve: u32) {
        set_modes(handle, [(3, factor), (4, solve)])
    }

    /// In which way is factored and solved.
    fn cusolverRfGetAlgs(handle: *mut c_void, factor: *mut u32, solve: *mut u32) {
        let modes = visit(handle, |held| held.modes)?;
        // SAFETY: as above.
        unsafe {
            store(factor, modes[3])?;
            store(solve, modes[4])
        }
    }

    /// Whether new values come fast, which is remembered.
    fn cusolverRfSetResetValuesFastMode(handle: *mut c_void, fast: u32) {
        set_modes(handle, [(2, fast), (2, fast)])
    }

    /// Whether new values come fast.
    fn cusolverRfGetResetValuesFastMode(handle: *mut c_void, fast: *mut u32) {
        let modes = visit(handle, |held| held.modes)?;
        // SAFETY: as above.
        unsafe { store(fast, modes[2]) }
    }

    /// Takes a matrix and its orders from the host.
    fn cusolverRfSetupHost(
        rows: c_int,
        count: c_int,
        offsets: *const c_int,
        places: *const c_int,
        values: *const f64,
        _lower_count: c_int,
        _lower_offsets: *const c_int,
        _lower_places: *const c_int,
        _lower_values: *const f64,
        _upper_count: c_int,
        _upper_offsets: *const c_int,
        _upper_places: *const c_int,
        _upper_values: *const f64,
        row_order: *const c_int,
        column_order: *const c_int,
        handle: *mut c_void,
    ) {
        let given = given(Side::Host, [rows, count], offsets, places, values);
        // SAFETY: the program passes such a matrix and such orders.
        unsafe { take(handle, given, [row_order, column_order]) }
    }

    /// Takes them from the device.
    fn cusolverRfSetupDevice(
        rows: c_int,
        count: c_int,
        offsets: *const c_int,
        places: *const c_int,
        values: *const f64,
        _lower_count: c_int,
        _lower_offsets: *const c_int,
        _lower_places: *const c_int,
        _lower_values: *const f64,
        _upper_count: c_int,
        _upper_offsets: *const c_int,
        _upper_places: *const c_int,
        _upper_values: *const f64,
        row_order: *const c_int,
        column_order: *const c_int,
        handle: *mut c_void,
    ) {
        let given = given(Side::Device, [rows, count], offsets, places, values);
        // SAFETY: the device's memory is checked.
        unsafe { take(handle, given, [row_order, column_order]) }
    }

    /// Nothing: what could be done at once is done one after another.
    fn cusolverRfAnalyze(handle: *mut c_void) {
        match visit(handle, |held| held.matrix.is_some())? {
            true => Ok(()),
            false => Err(SolverError::INVALID_VALUE),
        }
    }

    /// Takes other values.
    fn cusolverRfResetValues(
        rows: c_int,
        count: c_int,
        offsets: *const c_int,
        places: *const c_int,
        values: *const f64,
        row_order: *const c_int,
        column_order: *const c_int,
        handle: *mut c_void,
    ) {
        let given = given(Side::Device, [rows, count], offsets, places, values);
        // SAFETY: as above.
        unsafe { take(handle, given, [row_order, column_order]) }
    }

    /// Factors the matrix in its orders, without further exchanges.
    fn cusolverRfRefactor(handle: *mut c_void) {
        let complete = visit(handle, |held| {
            let matrix = held.matrix.as_ref()?;
            let [rows, columns] = &matrix.orders;
            let mut place_of = vec![0; columns.len()];
            for (place, column) in columns.iter().enumerate() {
                place_of[*column] = place;
            }
            let moved = |row: &usize| {
                let line = matrix.lines[*row].iter();
                line.map(|(column, value)| (place_of[*column], *value)).collect()
            };
            let lines: Lines<f64> = rows.iter().map(moved).collect();
            let factors = LowerUpper::new(&turned(&lines), Pivots::Diagonal(held.boost));
            let complete = factors.is_complete(lines.len());
            held.factors = complete.then_some(factors);
            Some(complete)
        })?;
        match complete {
            None => Err(SolverError::INVALID_VALUE),
            Some(false) => Err(SolverError::ZERO_PIVOT),
            Some(true) => Ok(()),
        }
    }

    /// Solves systems in the place of their right sides.
    fn cusolverRfSolve(
        handle: *mut c_void,
        row_order: *const c_int,
        column_order: *const c_int,
        count: c_int,
        _work: *mut f64,
        _work_leading: c_int,
        sides: *mut f64,
        leading: c_int,
    ) {
        in_order()?;
        let size = visit(handle, |held| {
            held.factors.as_ref()?;
            Some(held.matrix.as_ref()?.lines.len())
        })?;
        let size = size.ok_or(SolverError::INVALID_VALUE)?;
        let number = |value: c_int| usize::try_from(value).map_err(|_| SolverError::INVALID_VALUE);
        let (count, leading) = (number(count)?, number(leading)?);
        if leading < size {
            return Err(SolverError::INVALID_VALUE);
        }
        // SAFETY: the device's memory is checked.
        let [rows, columns] = unsafe { orders(Side::Device, size, [row_order, column_order])? };
        for side in (0..count).map(|index| sides.wrapping_add(index * leading)) {
            // SAFETY: as above.
            let right = unsafe { read(Side::Device, side, size)? };
            let right = rows.iter().map(|row| right[*row]).collect();
            let solved = visit(handle, |held| Some(held.factors.as_ref()?.solve(right)))?;
            let mut found = vec![0.0; size];
            for (value, column) in solved.into_iter().flatten().zip(&columns) {
                found[*column] = value;
            }
            // SAFETY: as above.
            unsafe { write(Side::Device, side, &found)? };
        }
        Ok(())
    }
}

fn given(
    side: Side,
    [rows, count]: [c_int; 2],
    offsets: *const c_int,
    places: *const c_int,
    values: *const f64,
) -> Given<f64> {
    Given {
        side,
        rows,
        columns: rows,
        count,
        settings: Settings::FromZero,
        values,
        offsets,
        places,
    }
}

/// # Safety
/// What is on the host is what it is said to be.
unsafe fn take(handle: *mut c_void, given: Given<f64>, lists: [*const c_int; 2]) -> SolverResult {
    if given.side == Side::Device {
        in_order()?;
    }
    // SAFETY: as the caller promises.
    let matrix = unsafe {
        let lines = given.lines()?;
        let orders = orders(given.side, lines.len(), lists)?;
        Matrix { lines, orders }
    };
    visit(handle, |held| held.matrix = Some(matrix))
}

/// # Safety
/// What is on the host is what it is said to be.
unsafe fn orders(
    side: Side,
    size: usize,
    lists: [*const c_int; 2],
) -> SolverResult<[Vec<usize>; 2]> {
    let mut orders = [const { Vec::new() }; 2];
    for (order, list) in orders.iter_mut().zip(lists) {
        // SAFETY: as the caller promises.
        let list = unsafe { read(side, list, size)? };
        *order = list.into_iter().map(|place| place as usize).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if sorted.into_iter().ne(0..size) {
            return Err(SolverError::INVALID_VALUE);
        }
    }
    Ok(orders)
}

fn in_order() -> SolverResult {
    stream::all_in_order().map_err(|_| SolverError::EXECUTION_FAILED)
}

fn visit<R>(handle: *mut c_void, how: impl FnOnce(&mut Held) -> R) -> SolverResult<R> {
    HELD.visit(handle, how).ok_or(SolverError::NOT_INITIALIZED)
}

fn set_modes(handle: *mut c_void, modes: [(usize, u32); 2]) -> SolverResult {
    if modes.iter().any(|(mode, value)| *value >= MODES[*mode]) {
        return Err(SolverError::INVALID_VALUE);
    }
    visit(handle, |held| {
        for (mode, value) in modes {
            held.modes[mode] = value;
        }
    })
}
