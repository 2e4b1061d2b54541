//! Descriptors of vectors and matrices.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{SparseError, SparseResult, check_range, cusparse_functions, length, store};

/// Indices in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Indices {
    start: usize,
    bytes: usize,
    base: i64,
}

impl Indices {
    /// Of `cusparseIndexType_t` and `cusparseIndexBase_t`.
    pub fn new(start: usize, kind: u32, base: u32) -> SparseResult<Self> {
        let bytes = match kind {
            2 => 4,
            3 => 8,
            _ => return Err(SparseError::NOT_SUPPORTED),
        };
        Ok(Self {
            start,
            bytes,
            base: i64::from(base),
        })
    }

    /// An index, counted from 0.
    pub fn get(&self, position: usize) -> i64 {
        let at = self.start + position * self.bytes;
        // SAFETY: whoever works with indices has checked their range.
        let index = unsafe {
            match self.bytes {
                4 => i64::from((at as *const i32).read_unaligned()),
                _ => (at as *const i64).read_unaligned(),
            }
        };
        index - self.base
    }

    /// Errors: so many indices are not device memory.
    pub fn check(&self, count: usize) -> SparseResult {
        check_range(self.start, count * self.bytes)
    }
}

/// Numbers in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Address of the first.
    pub start: usize,
    /// Bytes of each: 4 or 8.
    pub bytes: usize,
}

impl Elements {
    fn new(start: *const c_void, kind: u32) -> SparseResult<Self> {
        Ok(Self {
            start: start as usize,
            bytes: float_bytes(kind)?,
        })
    }

    /// A number.
    pub fn get(&self, position: usize) -> f64 {
        let at = self.start + position * self.bytes;
        // SAFETY: whoever works with elements has checked their range.
        unsafe {
            match self.bytes {
                4 => f64::from((at as *const f32).read_unaligned()),
                _ => (at as *const f64).read_unaligned(),
            }
        }
    }

    /// Stores a number, rounded.
    pub fn set(&self, position: usize, value: f64) {
        let at = self.start + position * self.bytes;
        // SAFETY: as above.
        unsafe {
            match self.bytes {
                4 => (at as *mut f32).write_unaligned(value as f32),
                _ => (at as *mut f64).write_unaligned(value),
            }
        }
    }

    /// Errors: so many elements are not device memory.
    pub fn check(&self, count: usize) -> SparseResult {
        check_range(self.start, count * self.bytes)
    }
}

/// Bytes of a `cudaDataType` that is a float or a double.
pub fn float_bytes(kind: u32) -> SparseResult<usize> {
    match kind {
        0 => Ok(4),
        1 => Ok(8),
        _ => Err(SparseError::NOT_SUPPORTED),
    }
}

/// How a sparse matrix tells the row and the column of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Where each row begins, and columns.
    Rows,
    /// Where each column begins, and rows.
    Columns,
    /// Row and column.
    Coordinates,
}

/// A sparse matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sparse {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements that are stored.
    pub count: usize,
    /// How they are told.
    pub layout: Layout,
    /// Offsets, or rows.
    pub first: Indices,
    /// Columns, or rows.
    pub second: Indices,
    /// The elements.
    pub values: Elements,
}

/// A dense matrix, or a vector as its only column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements from column to column, or from row to row.
    pub leading: usize,
    /// The elements of a row follow each other.
    pub by_rows: bool,
    /// The elements.
    pub values: Elements,
}

/// What a descriptor describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// A sparse matrix.
    Sparse(Sparse),
    /// A dense matrix or vector.
    Dense(Dense),
    /// Settings of a matrix, of old functions: type and index base.
    Settings([u32; 2]),
}

static DESCRIPTORS: Mutex<BTreeMap<usize, Descriptor>> = Mutex::new(BTreeMap::new());

cusparse_functions! {
    /// A matrix by rows.
    fn cusparseCreateCsr = cusparseCreateConstCsr (
        descriptor: *mut *mut c_void,
        rows: i64,
        columns: i64,
        count: i64,
        offsets: *const c_void,
        indices: *const c_void,
        values: *const c_void,
        offset_kind: u32,
        index_kind: u32,
        base: u32,
        value_kind: u32,
    ) {
        let sparse = Sparse {
            rows: length(rows)?,
            columns: length(columns)?,
            count: length(count)?,
            layout: Layout::Rows,
            first: Indices::new(offsets as usize, offset_kind, base)?,
            second: Indices::new(indices as usize, index_kind, base)?,
            values: Elements::new(values, value_kind)?,
        };
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { add(descriptor, Descriptor::Sparse(sparse)) }
    }

    /// A matrix by columns.
    fn cusparseCreateCsc = cusparseCreateConstCsc (
        descriptor: *mut *mut c_void,
        rows: i64,
        columns: i64,
        count: i64,
        offsets: *const c_void,
        indices: *const c_void,
        values: *const c_void,
        offset_kind: u32,
        index_kind: u32,
        base: u32,
        value_kind: u32,
    ) {
        let sparse = Sparse {
            rows: length(rows)?,
            columns: length(columns)?,
            count: length(count)?,
            layout: Layout::Columns,
            first: Indices::new(offsets as usize, offset_kind, base)?,
            second: Indices::new(indices as usize, index_kind, base)?,
            values: Elements::new(values, value_kind)?,
        };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Sparse(sparse)) }
    }

    /// A matrix by coordinates.
    fn cusparseCreateCoo = cusparseCreateConstCoo (
        descriptor: *mut *mut c_void,
        rows: i64,
        columns: i64,
        count: i64,
        row_indices: *const c_void,
        column_indices: *const c_void,
        values: *const c_void,
        index_kind: u32,
        base: u32,
        value_kind: u32,
    ) {
        let sparse = Sparse {
            rows: length(rows)?,
            columns: length(columns)?,
            count: length(count)?,
            layout: Layout::Coordinates,
            first: Indices::new(row_indices as usize, index_kind, base)?,
            second: Indices::new(column_indices as usize, index_kind, base)?,
            values: Elements::new(values, value_kind)?,
        };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Sparse(sparse)) }
    }

    /// Other memory for a matrix by rows.
    fn cusparseCsrSetPointers = cusparseCscSetPointers cusparseCooSetPointers (
        descriptor: *mut c_void,
        first: *const c_void,
        second: *const c_void,
        values: *const c_void,
    ) {
        change(descriptor, |known| match known {
            Descriptor::Sparse(sparse) => {
                sparse.first.start = first as usize;
                sparse.second.start = second as usize;
                sparse.values.start = values as usize;
                Ok(())
            }
            _ => Err(SparseError::INVALID_VALUE),
        })
    }

    /// Other memory for elements.
    fn cusparseSpMatSetValues = cusparseDnVecSetValues cusparseDnMatSetValues (
        descriptor: *mut c_void,
        values: *const c_void,
    ) {
        change(descriptor, |known| {
            match known {
                Descriptor::Sparse(sparse) => sparse.values.start = values as usize,
                Descriptor::Dense(dense) => dense.values.start = values as usize,
                Descriptor::Settings(_) => return Err(SparseError::INVALID_VALUE),
            }
            Ok(())
        })
    }

    /// Rows, columns and stored elements.
    fn cusparseSpMatGetSize(
        descriptor: *const c_void,
        rows: *mut i64,
        columns: *mut i64,
        count: *mut i64,
    ) {
        let known = sparse(descriptor)?;
        // SAFETY: as above.
        unsafe {
            store(rows, known.rows as i64)?;
            store(columns, known.columns as i64)?;
            store(count, known.count as i64)
        }
    }

    /// A dense vector.
    fn cusparseCreateDnVec = cusparseCreateConstDnVec (
        descriptor: *mut *mut c_void,
        count: i64,
        values: *const c_void,
        kind: u32,
    ) {
        let rows = length(count)?;
        let values = Elements::new(values, kind)?;
        let dense = Dense { rows, columns: 1, leading: rows, by_rows: false, values };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Dense(dense)) }
    }

    /// A dense matrix, by columns (1) or by rows (2).
    fn cusparseCreateDnMat = cusparseCreateConstDnMat (
        descriptor: *mut *mut c_void,
        rows: i64,
        columns: i64,
        leading: i64,
        values: *const c_void,
        kind: u32,
        order: u32,
    ) {
        let (rows, columns, leading) = (length(rows)?, length(columns)?, length(leading)?);
        let by_rows = match order {
            1 => false,
            2 => true,
            _ => return Err(SparseError::INVALID_VALUE),
        };
        if leading < if by_rows { columns } else { rows } {
            return Err(SparseError::INVALID_VALUE);
        }
        let values = Elements::new(values, kind)?;
        let dense = Dense { rows, columns, leading, by_rows, values };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Dense(dense)) }
    }

    /// Settings of a matrix, of old functions.
    fn cusparseCreateMatDescr(descriptor: *mut *mut c_void) {
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Settings([0, 0])) }
    }

    /// General, 0, or another type, which products here take as general.
    fn cusparseSetMatType(descriptor: *mut c_void, kind: u32) {
        set(descriptor, 0, kind)
    }

    /// The first index.
    fn cusparseSetMatIndexBase(descriptor: *mut c_void, base: u32) {
        set(descriptor, 1, base)
    }

    /// Forgets a descriptor.
    fn cusparseDestroySpMat = cusparseDestroyDnVec cusparseDestroyDnMat cusparseDestroyMatDescr (
        descriptor: *const c_void,
    ) {
        if descriptor.is_null() {
            return Ok(());
        }
        let known = descriptors().remove(&(descriptor as usize));
        known.map(|_| ()).ok_or(SparseError::INVALID_VALUE)
    }
}

/// The sparse matrix of a descriptor.
pub fn sparse(descriptor: *const c_void) -> SparseResult<Sparse> {
    match descriptors().get(&(descriptor as usize)) {
        Some(Descriptor::Sparse(sparse)) => Ok(*sparse),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// The dense matrix or vector of a descriptor.
pub fn dense(descriptor: *const c_void) -> SparseResult<Dense> {
    match descriptors().get(&(descriptor as usize)) {
        Some(Descriptor::Dense(dense)) => Ok(*dense),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

fn set(descriptor: *mut c_void, which: usize, value: u32) -> SparseResult {
    change(descriptor, |known| match known {
        Descriptor::Settings(settings) => {
            settings[which] = value;
            Ok(())
        }
        _ => Err(SparseError::INVALID_VALUE),
    })
}

fn change(
    descriptor: *mut c_void,
    how: impl FnOnce(&mut Descriptor) -> SparseResult,
) -> SparseResult {
    how(descriptors()
        .get_mut(&(descriptor as usize))
        .ok_or(SparseError::INVALID_VALUE)?)
}

/// # Safety
/// The address is writable or null.
unsafe fn add(descriptor: *mut *mut c_void, what: Descriptor) -> SparseResult {
    // A block of its own gives each an address that nothing else has, ever.
    let made: *mut c_void = Box::into_raw(Box::new(0_u64)).cast();
    // SAFETY: as the caller promises.
    unsafe { store(descriptor, made)? };
    descriptors().insert(made as usize, what);
    Ok(())
}

fn descriptors() -> MutexGuard<'static, BTreeMap<usize, Descriptor>> {
    DESCRIPTORS.lock().unwrap_or_else(PoisonError::into_inner)
}
