//! cuSOLVER's functions on sparse matrices by rows, on the host and on the device.
//!
//! Systems are solved by exchanging rows ([`factors::LowerUpper`]) and, of positive definite matrices, by Cholesky's
//! factors. So are those of the functions that cuSOLVER has for orthogonal factors, whose solutions are the same up
//! to rounding; systems with more rows than columns are not there. Where an order is asked for that keeps factors
//! sparse, it is Cuthill's and McKee's, whichever is named. A matrix is singular where a pivot is not above
//! the tolerance.

mod factors;
mod lower_upper;
mod ordering;
mod refactoring;
mod stepwise;

use std::ffi::{c_int, c_void};

use nalgebra::{Complex, RealField};

use super::{HANDLES, SolverError, SolverResult, cusolver_functions, in_order, store};
use crate::cusparse::descriptors::index_base;
use crate::dense::Scalar;
use crate::execution::check;
use crate::memory;
use crate::output::trace;
use factors::{Cholesky, Factors, Lines, LowerUpper, Pivots, turned};
use ordering::reverse_cuthill_mckee;

/// Where the memory of a call's matrices is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Host,
    Device,
}

/// A matrix by rows, as programs pass it.
#[derive(Clone, Copy)]
struct Given<T> {
    side: Side,
    rows: c_int,
    columns: c_int,
    count: c_int,
    settings: Settings,
    values: *const T,
    offsets: *const c_int,
    places: *const c_int,
}

/// What says how a matrix counts its rows and columns.
#[derive(Clone, Copy)]
enum Settings {
    /// By a descriptor.
    Described(*const c_void),
    FromZero,
}

impl Settings {
    /// The first index.
    fn base(self) -> SolverResult<c_int> {
        match self {
            Self::FromZero => Ok(0),
            Self::Described(descriptor) => {
                let base = index_base(descriptor).map_err(|_| SolverError::INVALID_VALUE)?;
                Ok(base as c_int)
            }
        }
    }
}

cusolver_functions! {
    /// A handle.
    fn cusolverSpCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(handle, HANDLES.open(0)) }
    }

    /// Forgets a handle.
    fn cusolverSpDestroy(handle: *mut c_void) {
        HANDLES.close(handle).map(drop).ok_or(SolverError::NOT_INITIALIZED)
    }

    /// The stream in whose order work is done.
    fn cusolverSpSetStream(handle: *mut c_void, stream: *mut c_void) {
        let set = HANDLES.visit(handle, |known| *known = stream as usize);
        set.ok_or(SolverError::NOT_INITIALIZED)
    }

    /// That stream.
    fn cusolverSpGetStream(handle: *mut c_void, stream: *mut *mut c_void) {
        let known = HANDLES.get(handle).ok_or(SolverError::NOT_INITIALIZED)?;
        // SAFETY: as above.
        unsafe { store(stream, known as *mut c_void) }
    }

    /// Whether a matrix has an element wherever its transpose has one.
    fn cusolverSpXcsrissymHost(
        handle: *mut c_void,
        rows: c_int,
        count: c_int,
        settings: *const c_void,
        begins: *const c_int,
        ends: *const c_int,
        places: *const c_int,
        symmetric: *mut c_int,
    ) {
        known(handle)?;
        let given = pattern([rows, rows], count, settings, begins, places);
        // SAFETY: the program passes such a matrix.
        let lines = unsafe { given.pattern_between(ends)? };
        let mut elements: Vec<(usize, usize)> = Vec::new();
        for (row, columns) in lines.iter().enumerate() {
            elements.extend(columns.iter().map(|column| (row, *column)));
        }
        let turned: std::collections::HashSet<(usize, usize)> =
            elements.iter().map(|(row, column)| (*column, *row)).collect();
        let all = elements.iter().all(|element| turned.contains(element));
        // SAFETY: as above.
        unsafe { store(symmetric, c_int::from(all)) }
    }

    /// An order that keeps factors sparse.
    fn cusolverSpXcsrsymrcmHost = cusolverSpXcsrsymamdHost cusolverSpXcsrsymmdqHost (
        handle: *mut c_void,
        rows: c_int,
        count: c_int,
        settings: *const c_void,
        offsets: *const c_int,
        places: *const c_int,
        order: *mut c_int,
    ) {
        known(handle)?;
        // SAFETY: the program passes such a matrix, and room for as many numbers as it has rows.
        unsafe { ordered(pattern([rows, rows], count, settings, offsets, places), order) }
    }

    /// The same with options, which change nothing.
    fn cusolverSpXcsrmetisndHost(
        handle: *mut c_void,
        rows: c_int,
        count: c_int,
        settings: *const c_void,
        offsets: *const c_int,
        places: *const c_int,
        _options: *const i64,
        order: *mut c_int,
    ) {
        known(handle)?;
        // SAFETY: as above.
        unsafe { ordered(pattern([rows, rows], count, settings, offsets, places), order) }
    }

    /// Bytes of a buffer for [`cusolverSpXcsrpermHost`], which is not used.
    fn cusolverSpXcsrperm_bufferSizeHost(
        handle: *mut c_void,
        _rows: c_int,
        _columns: c_int,
        _count: c_int,
        _settings: *const c_void,
        _offsets: *const c_int,
        _places: *const c_int,
        _row_order: *const c_int,
        _column_order: *const c_int,
        bytes: *mut usize,
    ) {
        known(handle)?;
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// A matrix with its rows and columns in other orders, in its place; a list of numbers goes with its elements.
    fn cusolverSpXcsrpermHost(
        handle: *mut c_void,
        rows: c_int,
        columns: c_int,
        count: c_int,
        settings: *const c_void,
        offsets: *mut c_int,
        places: *mut c_int,
        row_order: *const c_int,
        column_order: *const c_int,
        numbers: *mut c_int,
        _buffer: *mut c_void,
    ) {
        known(handle)?;
        let given = pattern([rows, columns], count, settings, offsets, places);
        // SAFETY: the program passes such a matrix and lists of such lengths, or null.
        unsafe { permuted(given, [row_order, column_order], (offsets, places, numbers)) }
    }
}

/// Programs allocate workspaces as they are told, of which none is used.
const BUFFER_BYTES: usize = 512;

/// Says how many bytes are kept and used as a workspace.
///
/// # Safety
/// The addresses are writable or null.
unsafe fn sizes(kept: *mut usize, work: *mut usize) -> SolverResult {
    // SAFETY: as the caller promises.
    unsafe {
        store(kept, BUFFER_BYTES)?;
        store(work, BUFFER_BYTES)
    }
}

/// What the library is asked first: those for the device come after what its stream has.
fn ready(handle: *mut c_void, side: Side) -> SolverResult {
    match side {
        Side::Host => known(handle),
        Side::Device => in_order(handle),
    }
}

macro_rules! systems {
    ($kind:ty, $real:ty, $($side:expr, $factor:path: $name:ident;)*) => {
        cusolver_functions! {$(
            /// Solves a system, and says which column is the first without a pivot, or -1.
            fn $name(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                values: *const $kind,
                offsets: *const c_int,
                places: *const c_int,
                right: *const $kind,
                tolerance: $real,
                reorder: c_int,
                solution: *mut $kind,
                singular: *mut c_int,
            ) {
                ready(handle, $side)?;
                let given = Given { side: $side, rows, columns: rows, count, settings: Settings::Described(settings), values, offsets, places };
                // SAFETY: the program passes such a matrix and vectors; those of the device are checked.
                unsafe {
                    let found = solved(given, $factor, (right, solution), (tolerance, reorder != 0))?;
                    store(singular, found.map_or(-1, |column| column as c_int))
                }
            }
        )*}
    };
}

systems! {
    f32, f32,
    Side::Host, exchanged: cusolverSpScsrlsvluHost;
    Side::Host, exchanged: cusolverSpScsrlsvqrHost;
    Side::Device, exchanged: cusolverSpScsrlsvqr;
    Side::Host, definite: cusolverSpScsrlsvcholHost;
    Side::Device, definite: cusolverSpScsrlsvchol;
}
systems! {
    f64, f64,
    Side::Host, exchanged: cusolverSpDcsrlsvluHost;
    Side::Host, exchanged: cusolverSpDcsrlsvqrHost;
    Side::Device, exchanged: cusolverSpDcsrlsvqr;
    Side::Host, definite: cusolverSpDcsrlsvcholHost;
    Side::Device, definite: cusolverSpDcsrlsvchol;
}
systems! {
    Complex<f32>, f32,
    Side::Host, exchanged: cusolverSpCcsrlsvluHost;
    Side::Host, exchanged: cusolverSpCcsrlsvqrHost;
    Side::Device, exchanged: cusolverSpCcsrlsvqr;
    Side::Host, definite: cusolverSpCcsrlsvcholHost;
    Side::Device, definite: cusolverSpCcsrlsvchol;
}
systems! {
    Complex<f64>, f64,
    Side::Host, exchanged: cusolverSpZcsrlsvluHost;
    Side::Host, exchanged: cusolverSpZcsrlsvqrHost;
    Side::Device, exchanged: cusolverSpZcsrlsvqr;
    Side::Host, definite: cusolverSpZcsrlsvcholHost;
    Side::Device, definite: cusolverSpZcsrlsvchol;
}

fn exchanged<T: Scalar>(lines: &Lines<T>) -> Box<dyn Factors<T>> {
    Box::new(LowerUpper::new(&turned(lines), Pivots::Largest))
}

fn definite<T: Scalar>(lines: &Lines<T>) -> Box<dyn Factors<T>> {
    Box::new(Cholesky::new(lines))
}

/// # Safety
/// The program's pointers are what they are said to be; those of the device are checked.
unsafe fn solved<T: Scalar>(
    given: Given<T>,
    factor: fn(&Lines<T>) -> Box<dyn Factors<T>>,
    (right, solution): (*const T, *mut T),
    (tolerance, reorder): (T::RealField, bool),
) -> SolverResult<Option<usize>> {
    // SAFETY: as the caller promises; the same in this function.
    let lines = unsafe { given.lines()? };
    let size = lines.len();
    let order: Vec<usize> = match reorder {
        true => reverse_cuthill_mckee(&places_of(&lines)),
        false => (0..size).collect(),
    };
    let mut place_of = vec![0; size];
    for (place, column) in order.iter().enumerate() {
        place_of[*column] = place;
    }
    let moved = |row: &usize| {
        let line = lines[*row].iter();
        line.map(|(column, value)| (place_of[*column], *value))
            .collect()
    };
    let factors = factor(&order.iter().map(moved).collect());
    // A pivot of zero is none, whatever is tolerated.
    if let Some(column) = factors.without_pivot(tolerance.max(nalgebra::zero())) {
        return Ok(Some(column));
    }
    // SAFETY: as above.
    let right = unsafe { read(given.side, right, size)? };
    let right = order.iter().map(|row| right[*row]).collect();
    let mut found = vec![nalgebra::zero(); size];
    for (value, column) in factors.solve(right).into_iter().zip(order) {
        found[column] = value;
    }
    // SAFETY: as above.
    unsafe { write(given.side, solution, &found)? };
    Ok(None)
}

fn places_of<T>(lines: &Lines<T>) -> Vec<Vec<usize>> {
    let places = |line: &Vec<(usize, T)>| line.iter().map(|(column, _)| *column).collect();
    lines.iter().map(places).collect()
}

/// A matrix of the host's without its values.
fn pattern(
    [rows, columns]: [c_int; 2],
    count: c_int,
    settings: *const c_void,
    offsets: *const c_int,
    places: *const c_int,
) -> Given<u8> {
    Given {
        side: Side::Host,
        rows,
        columns,
        count,
        settings: Settings::Described(settings),
        values: std::ptr::null(),
        offsets,
        places,
    }
}

impl<T: Copy> Given<T> {
    /// The columns of its elements, from the offsets to others.
    ///
    /// # Safety
    /// It is what it says.
    unsafe fn pattern_between(self, ends: *const c_int) -> SolverResult<Vec<Vec<usize>>> {
        let number = |value: c_int| usize::try_from(value).map_err(|_| SolverError::INVALID_VALUE);
        let (rows, columns) = (number(self.rows)?, number(self.columns)?);
        let base = self.settings.base()?;
        // SAFETY: as the caller promises; the same in this function.
        let (begins, ends, places) = unsafe {
            (
                read(self.side, self.offsets, rows)?,
                read(self.side, ends, rows)?,
                read(self.side, self.places, number(self.count)?)?,
            )
        };
        let mut lines = Vec::new();
        for (begin, end) in begins.into_iter().zip(ends) {
            let range = number(begin - base)?..number(end - base)?;
            let line = places.get(range).ok_or(SolverError::INVALID_VALUE)?;
            let mut list = Vec::new();
            for place in line {
                let column = number(place - base)?;
                list.push(column);
                if column >= columns {
                    return Err(SolverError::INVALID_VALUE);
                }
            }
            lines.push(list);
        }
        Ok(lines)
    }

    /// The columns of its elements.
    ///
    /// # Safety
    /// It is what it says.
    unsafe fn pattern(self) -> SolverResult<Vec<Vec<usize>>> {
        if self.offsets.is_null() {
            return Err(SolverError::INVALID_VALUE);
        }
        // SAFETY: as the caller promises.
        unsafe { self.pattern_between(self.offsets.add(1)) }
    }

    /// Its elements by rows.
    ///
    /// # Safety
    /// It is what it says.
    unsafe fn lines(self) -> SolverResult<Lines<T>> {
        // SAFETY: as the caller promises.
        let (places, values) = unsafe {
            let count = usize::try_from(self.count).map_err(|_| SolverError::INVALID_VALUE)?;
            (self.pattern()?, read(self.side, self.values, count)?)
        };
        let mut values = values.into_iter();
        let line = |places: Vec<usize>| places.into_iter().zip(values.by_ref()).collect();
        Ok(places.into_iter().map(line).collect())
    }
}

/// # Safety
/// On the host, so many can be read; the device's memory is checked.
unsafe fn read<T: Copy>(side: Side, start: *const T, count: usize) -> SolverResult<Vec<T>> {
    checked(side, start, count)?;
    // SAFETY: as the caller promises, or checked.
    Ok((0..count)
        .map(|index| unsafe { start.add(index).read_unaligned() })
        .collect())
}

/// # Safety
/// On the host, so many can be written; the device's memory is checked.
unsafe fn write<T: Copy>(side: Side, start: *mut T, values: &[T]) -> SolverResult {
    checked(side, start, values.len())?;
    for (index, value) in values.iter().enumerate() {
        // SAFETY: as the caller promises, or checked.
        unsafe { start.add(index).write_unaligned(*value) };
    }
    if side == Side::Device {
        trace::set(start as usize, size_of_val(values));
        check::filled(start as usize, size_of_val(values));
        // Solutions are there when the call returns.
        check::streams::host_waits_for_last();
    }
    Ok(())
}

fn checked<T>(side: Side, start: *const T, count: usize) -> SolverResult {
    if start.is_null() && count > 0 {
        return Err(SolverError::INVALID_VALUE);
    }
    let place = memory::place(start as usize);
    match (side, place) {
        (Side::Host, _) => Ok(()),
        (Side::Device, Some(place))
            if count * size_of::<T>() <= place.bytes - (start as usize - place.base) =>
        {
            Ok(())
        }
        (Side::Device, _) => Err(SolverError::EXECUTION_FAILED),
    }
}

/// # Safety
/// The matrix is what it says, and there is room for as many numbers as it has rows.
unsafe fn ordered(given: Given<u8>, order: *mut c_int) -> SolverResult {
    // SAFETY: as the caller promises.
    unsafe {
        let found = reverse_cuthill_mckee(&given.pattern()?);
        let found: Vec<c_int> = found.into_iter().map(|column| column as c_int).collect();
        write(Side::Host, order, &found)
    }
}

/// # Safety
/// The matrix is what it says; orders have as many numbers as it has rows and columns; the lists as it has elements, or
/// null.
unsafe fn permuted(
    given: Given<u8>,
    orders: [*const c_int; 2],
    (offsets, places, numbers): (*mut c_int, *mut c_int, *mut c_int),
) -> SolverResult {
    let base = given.settings.base()?;
    // SAFETY: as the caller promises; the same in this function.
    let lines = unsafe { given.pattern()? };
    let extents = [lines.len(), given.columns as usize];
    let mut lists = Vec::new();
    for (order, extent) in orders.into_iter().zip(extents) {
        // SAFETY: as above.
        let list = unsafe { read(Side::Host, order, extent)? };
        let list: Vec<usize> = list.into_iter().map(|number| number as usize).collect();
        let mut sorted = list.clone();
        sorted.sort_unstable();
        if sorted.into_iter().ne(0..extent) {
            return Err(SolverError::INVALID_VALUE);
        }
        lists.push(list);
    }
    let mut place_of = vec![0; extents[1]];
    for (place, column) in lists[1].iter().enumerate() {
        place_of[*column] = place;
    }
    let mut firsts = Vec::new();
    let mut next = 0;
    for line in &lines {
        firsts.push(next);
        next += line.len();
    }
    let old_numbers = match numbers.is_null() {
        true => Vec::new(),
        // SAFETY: as above.
        false => unsafe { read(Side::Host, numbers, given.count as usize)? },
    };
    let (mut new_offsets, mut new_places, mut new_numbers) = (vec![base], Vec::new(), Vec::new());
    for row in &lists[0] {
        let mut line: Vec<(usize, usize)> = lines[*row]
            .iter()
            .enumerate()
            .map(|(index, column)| (place_of[*column], firsts[*row] + index))
            .collect();
        line.sort_unstable();
        for (place, element) in line {
            new_places.push(place as c_int + base);
            new_numbers.extend(old_numbers.get(element).copied());
        }
        new_offsets.push(new_places.len() as c_int + base);
    }
    // SAFETY: as above.
    unsafe {
        write(Side::Host, offsets, &new_offsets)?;
        write(Side::Host, places, &new_places)?;
        match numbers.is_null() {
            true => Ok(()),
            false => write(Side::Host, numbers, &new_numbers),
        }
    }
}

fn known(handle: *mut c_void) -> SolverResult {
    HANDLES
        .get(handle)
        .map(drop)
        .ok_or(SolverError::NOT_INITIALIZED)
}

/// Whether a number can be a tolerance.
fn tolerated<R: RealField>(tolerance: R) -> SolverResult<R> {
    match tolerance >= nalgebra::zero() {
        true => Ok(tolerance),
        false => Err(SolverError::INVALID_VALUE),
    }
}
