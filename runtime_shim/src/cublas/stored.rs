//! Matrices of which only a part is stored: one triangle, as a whole, packed or of a band; and bands.

use std::ffi::c_int;

use super::{BlasError, BlasResult, Vector, check};
use crate::dense::{Operation, Scalar};
use crate::execution::check as checked;
use crate::output::trace;

/// Where elements stand.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// By columns, so many elements apart.
    Whole(usize),
    /// Diagonals of a band as rows: elements from one column to the next, and diagonals above the main one.
    Band(usize, usize),
    /// The columns of a triangle one behind the other; whether it is the upper one.
    Packed(bool),
}

/// A matrix as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored<T> {
    start: *mut T,
    layout: Layout,
    rows: usize,
    columns: usize,
    /// Diagonals with elements below and above the main one.
    below: usize,
    above: usize,
}

fn extent(value: c_int) -> BlasResult<usize> {
    usize::try_from(value).map_err(|_| BlasError::INVALID_VALUE)
}

/// Whether `cublasFillMode_t` means the upper triangle.
pub(super) fn is_upper(fill: u32) -> BlasResult<bool> {
    match fill {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(BlasError::INVALID_VALUE),
    }
}

/// `cublasOperation_t`.
pub(super) fn operation(number: u32) -> BlasResult<Operation> {
    Operation::new(number).ok_or(BlasError::INVALID_VALUE)
}

impl<T: Scalar> Stored<T> {
    /// A triangle within a square matrix.
    pub(super) fn triangle(
        size: c_int,
        fill: u32,
        start: *const T,
        leading: c_int,
    ) -> BlasResult<Self> {
        let (size, leading) = (extent(size)?, extent(leading)?);
        if leading < size.max(1) {
            return Err(BlasError::INVALID_VALUE);
        }
        let bytes = leading * size.saturating_sub(1) + size;
        Self::one_triangle(size, fill, start, Layout::Whole(leading), size, bytes)
    }

    /// A packed triangle.
    pub(super) fn packed(size: c_int, fill: u32, start: *const T) -> BlasResult<Self> {
        let size = extent(size)?;
        let layout = Layout::Packed(is_upper(fill)?);
        Self::one_triangle(size, fill, start, layout, size, size * (size + 1) / 2)
    }

    /// The diagonals of a triangle that are next to the main one, so many of them.
    pub(super) fn banded(
        size: c_int,
        fill: u32,
        diagonals: c_int,
        start: *const T,
        leading: c_int,
    ) -> BlasResult<Self> {
        let (size, diagonals, leading) = (extent(size)?, extent(diagonals)?, extent(leading)?);
        if leading <= diagonals {
            return Err(BlasError::INVALID_VALUE);
        }
        let above = if is_upper(fill)? { diagonals } else { 0 };
        let elements = leading * size.saturating_sub(1) + diagonals + 1;
        let layout = Layout::Band(leading, above);
        Self::one_triangle(size, fill, start, layout, diagonals, elements)
    }

    /// A band that may have diagonals on both sides.
    pub(super) fn band(
        [rows, columns, below, above]: [c_int; 4],
        start: *const T,
        leading: c_int,
    ) -> BlasResult<Self> {
        let (rows, columns, leading) = (extent(rows)?, extent(columns)?, extent(leading)?);
        let (below, above) = (extent(below)?, extent(above)?);
        if leading <= below + above {
            return Err(BlasError::INVALID_VALUE);
        }
        if rows > 0 && columns > 0 {
            let elements = leading * (columns - 1) + below + above + 1;
            check(start.cast(), elements * size_of::<T>())?;
        }
        Ok(Self {
            start: start.cast_mut(),
            layout: Layout::Band(leading, above),
            rows,
            columns,
            below,
            above,
        })
    }

    fn one_triangle(
        size: usize,
        fill: u32,
        start: *const T,
        layout: Layout,
        diagonals: usize,
        elements: usize,
    ) -> BlasResult<Self> {
        if size > 0 {
            check(start.cast(), elements * size_of::<T>())?;
        }
        let upper = is_upper(fill)?;
        Ok(Self {
            start: start.cast_mut(),
            layout,
            rows: size,
            columns: size,
            below: if upper { 0 } else { diagonals },
            above: if upper { diagonals } else { 0 },
        })
    }

    /// Rows and columns.
    pub(super) fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Whether its elements are above the diagonal.
    pub(super) fn is_upper(&self) -> bool {
        self.above > 0
    }

    fn at(&self, row: usize, column: usize) -> *mut T {
        let index = match self.layout {
            Layout::Whole(leading) => row + column * leading,
            Layout::Band(leading, above) => above + row - column + column * leading,
            Layout::Packed(true) => row + column * (column + 1) / 2,
            Layout::Packed(false) => row + column * (2 * self.columns - column - 1) / 2,
        };
        self.start.wrapping_add(index)
    }

    /// Whether an element is stored.
    fn has(&self, row: usize, column: usize) -> bool {
        row <= column + self.below && column <= row + self.above
    }

    /// The rows of a column whose elements are stored.
    fn stored_rows(&self, column: usize) -> std::ops::Range<usize> {
        let end = self.rows.min(column + self.below + 1);
        column.saturating_sub(self.above).min(end)..end
    }

    /// A stored element.
    pub(super) fn get(&self, row: usize, column: usize) -> T {
        // SAFETY: the stored elements were found within device memory.
        unsafe { self.at(row, column).read() }
    }

    /// Adds to each stored element what `more` says of its row and column; of a Hermitian matrix, the diagonal stays real.
    pub(super) fn add(&self, adjoint: bool, more: impl Fn(usize, usize) -> T) {
        for column in 0..self.columns {
            for row in self.stored_rows(column) {
                let sum = self.get(row, column) + more(row, column);
                let real = adjoint && row == column;
                self.set(
                    row,
                    column,
                    if real { T::from_real(sum.real()) } else { sum },
                );
            }
        }
    }

    /// Sets a stored element.
    pub(super) fn set(&self, row: usize, column: usize, value: T) {
        let place = self.at(row, column);
        // SAFETY: as above.
        unsafe { place.write(value) };
        trace::set(place as usize, size_of::<T>());
        checked::filled(place as usize, size_of::<T>());
    }

    /// An element of the symmetric or Hermitian matrix of which this is a triangle.
    pub(super) fn mirrored(&self, adjoint: bool, row: usize, column: usize) -> T {
        match self.has(row, column) {
            true if adjoint && row == column => T::from_real(self.get(row, column).real()),
            true => self.get(row, column),
            false if adjoint => self.get(column, row).conjugate(),
            false => self.get(column, row),
        }
    }

    /// The columns in which a row of the symmetric matrix has elements.
    pub(super) fn mirrored_columns(&self, row: usize) -> std::ops::Range<usize> {
        let diagonals = self.below.max(self.above);
        row.saturating_sub(diagonals)..self.columns.min(row + diagonals + 1)
    }

    /// An element of `op(A)` that has a stored one.
    pub(super) fn operated(&self, operation: Operation, row: usize, column: usize) -> T {
        match operation {
            Operation::Plain => self.get(row, column),
            Operation::Transposed => self.get(column, row),
            Operation::Adjoint => self.get(column, row).conjugate(),
        }
    }

    /// The columns in which a row of `op(A)` has stored elements.
    pub(super) fn operated_columns(
        &self,
        operation: Operation,
        row: usize,
    ) -> std::ops::Range<usize> {
        match operation {
            Operation::Plain => {
                let end = self.columns.min(row + self.above + 1);
                row.saturating_sub(self.below).min(end)..end
            }
            _ => self.stored_rows(row),
        }
    }
}

/// `y = alpha * sum + beta * y`, where `sum` says what a row's sum is.
pub(super) fn scaled_sums<T: Scalar>(
    (alpha, beta): (T, T),
    y: &Vector<T>,
    sum: impl Fn(usize) -> T,
) {
    for row in 0..y.length {
        // A factor of zero does not look at what it is a factor of.
        let more = if alpha.is_zero() {
            T::zero()
        } else {
            alpha * sum(row)
        };
        let before = if beta.is_zero() {
            T::zero()
        } else {
            beta * y.get(row)
        };
        y.set(row, more + before);
    }
}
