//! Descriptors of vectors and matrices.

use std::ffi::{c_int, c_void};

use super::{SparseError, SparseResult, check_range, cusparse_functions, length, store, written};
use crate::handles::Handles;

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

    /// Stores an index, counted from 0.
    pub fn set(&self, position: usize, index: usize) {
        let at = self.start + position * self.bytes;
        let index = index as i64 + self.base;
        // SAFETY: as above.
        unsafe {
            match self.bytes {
                4 => (at as *mut i32).write_unaligned(index as i32),
                _ => (at as *mut i64).write_unaligned(index),
            }
        }
        written(at, self.bytes);
    }

    /// The indices from one on.
    pub fn after(self, indices: usize) -> Self {
        Self {
            start: self.start + indices * self.bytes,
            ..self
        }
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
    /// Of `cudaDataType`.
    pub fn new(start: *const c_void, kind: u32) -> SparseResult<Self> {
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
        written(at, self.bytes);
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
    /// For triangular systems: whether the upper triangle counts, and whether its diagonal is all ones.
    pub triangle: [u32; 2],
    /// How many there are, and indices from one to the next: offsets, and elements.
    pub batches: usize,
    /// See above.
    pub strides: [usize; 2],
}

/// A sparse vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SparseVector {
    /// Elements, with those that are not stored.
    pub length: usize,
    /// Elements that are stored.
    pub count: usize,
    /// Where in the vector they are.
    pub indices: Indices,
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
    /// How many there are, and elements from one to the next.
    pub batches: usize,
    /// See above.
    pub stride: usize,
}

/// What a descriptor describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// A sparse matrix.
    Sparse(Sparse),
    /// A dense matrix or vector.
    Dense(Dense),
    /// A sparse vector.
    SparseVector(SparseVector),
    /// Settings of a matrix, of old functions: type, index base, fill mode and kind of diagonal.
    Settings([u32; 4]),
}

static DESCRIPTORS: Handles<Descriptor> = Handles::new();

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
            triangle: [0; 2],
            batches: 1,
            strides: [0; 2],
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
            triangle: [0; 2],
            batches: 1,
            strides: [0; 2],
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
            triangle: [0; 2],
            batches: 1,
            strides: [0; 2],
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
    fn cusparseSpMatSetValues = cusparseDnVecSetValues cusparseDnMatSetValues cusparseSpVecSetValues (
        descriptor: *mut c_void,
        values: *const c_void,
    ) {
        change(descriptor, |known| {
            match known {
                Descriptor::Sparse(sparse) => sparse.values.start = values as usize,
                Descriptor::Dense(dense) => dense.values.start = values as usize,
                Descriptor::SparseVector(vector) => vector.values.start = values as usize,
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

    /// For triangular systems: which triangle counts (0), and whether its diagonal is all ones (1).
    fn cusparseSpMatSetAttribute(
        descriptor: *mut c_void,
        attribute: u32,
        value: *const u32,
        bytes: usize,
    ) {
        if value.is_null() || attribute > 1 || bytes != 4 {
            return Err(SparseError::INVALID_VALUE);
        }
        // SAFETY: the program passes as many bytes as it says.
        let value = unsafe { value.read_unaligned() };
        change(descriptor, |known| match known {
            Descriptor::Sparse(sparse) if value <= 1 => {
                sparse.triangle[attribute as usize] = value;
                Ok(())
            }
            _ => Err(SparseError::INVALID_VALUE),
        })
    }

    /// What was set.
    fn cusparseSpMatGetAttribute(
        descriptor: *const c_void,
        attribute: u32,
        value: *mut u32,
        bytes: usize,
    ) {
        let known = sparse(descriptor)?;
        let set = known.triangle.get(attribute as usize).filter(|_| bytes == 4);
        // SAFETY: as above.
        unsafe { store(value, *set.ok_or(SparseError::INVALID_VALUE)?) }
    }

    /// Several matrices by rows, at equal distances of offsets and of elements.
    fn cusparseCsrSetStridedBatch = cusparseCscSetStridedBatch (
        descriptor: *mut c_void,
        batches: c_int,
        first_stride: i64,
        second_stride: i64,
    ) {
        set_batch(descriptor, batches, [first_stride, second_stride])
    }

    /// Several matrices by coordinates.
    fn cusparseCooSetStridedBatch(descriptor: *mut c_void, batches: c_int, stride: i64) {
        set_batch(descriptor, batches, [stride; 2])
    }

    /// Several dense matrices.
    fn cusparseDnMatSetStridedBatch(descriptor: *mut c_void, batches: c_int, stride: i64) {
        set_batch(descriptor, batches, [stride; 2])
    }

    /// A sparse vector.
    fn cusparseCreateSpVec = cusparseCreateConstSpVec (
        descriptor: *mut *mut c_void,
        elements: i64,
        count: i64,
        indices: *const c_void,
        values: *const c_void,
        index_kind: u32,
        base: u32,
        value_kind: u32,
    ) {
        let vector = SparseVector {
            length: length(elements)?,
            count: length(count)?,
            indices: Indices::new(indices as usize, index_kind, base)?,
            values: Elements::new(values, value_kind)?,
        };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::SparseVector(vector)) }
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
        let dense = Dense {
            rows,
            columns: 1,
            leading: rows,
            by_rows: false,
            values,
            batches: 1,
            stride: 0,
        };
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
        let dense = Dense { rows, columns, leading, by_rows, values, batches: 1, stride: 0 };
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Dense(dense)) }
    }

    /// Settings of a matrix, of old functions.
    fn cusparseCreateMatDescr(descriptor: *mut *mut c_void) {
        // SAFETY: as above.
        unsafe { add(descriptor, Descriptor::Settings([0; 4])) }
    }

    /// General, 0, or another type, which products here take as general.
    fn cusparseSetMatType(descriptor: *mut c_void, kind: u32) {
        set(descriptor, 0, kind)
    }

    /// The first index.
    fn cusparseSetMatIndexBase(descriptor: *mut c_void, base: u32) {
        set(descriptor, 1, base)
    }

    /// The triangle of a triangular matrix.
    fn cusparseSetMatFillMode(descriptor: *mut c_void, fill: u32) {
        set(descriptor, 2, fill)
    }

    /// Whether its diagonal is all ones.
    fn cusparseSetMatDiagType(descriptor: *mut c_void, diagonal: u32) {
        set(descriptor, 3, diagonal)
    }

    /// Forgets a descriptor.
    fn cusparseDestroySpMat = cusparseDestroyDnVec cusparseDestroyDnMat cusparseDestroyMatDescr
        cusparseDestroySpVec
    (
        descriptor: *const c_void,
    ) {
        if descriptor.is_null() {
            return Ok(());
        }
        let known = DESCRIPTORS.close(descriptor);
        known.map(|_| ()).ok_or(SparseError::INVALID_VALUE)
    }
}

macro_rules! settings_functions {
    ($($(#[$attribute:meta])* fn $name:ident = $which:literal)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuSPARSE's own name")]
        pub extern "C" fn $name(descriptor: *const c_void) -> u32 {
            match DESCRIPTORS.get(descriptor) {
                Some(Descriptor::Settings(settings)) => settings[$which],
                _ => 0,
            }
        }
    )*};
}

settings_functions! {
    /// The type that was set.
    fn cusparseGetMatType = 0
    /// The first index that was set.
    fn cusparseGetMatIndexBase = 1
    /// The triangle that was set.
    fn cusparseGetMatFillMode = 2
    /// The kind of diagonal that was set.
    fn cusparseGetMatDiagType = 3
}

/// The sparse matrix of a descriptor.
pub fn sparse(descriptor: *const c_void) -> SparseResult<Sparse> {
    match DESCRIPTORS.get(descriptor) {
        Some(Descriptor::Sparse(sparse)) => Ok(sparse),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// The dense matrix or vector of a descriptor.
pub fn dense(descriptor: *const c_void) -> SparseResult<Dense> {
    match DESCRIPTORS.get(descriptor) {
        Some(Descriptor::Dense(dense)) => Ok(dense),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// The sparse vector of a descriptor.
pub fn sparse_vector(descriptor: *const c_void) -> SparseResult<SparseVector> {
    match DESCRIPTORS.get(descriptor) {
        Some(Descriptor::SparseVector(vector)) => Ok(vector),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// The first index of a matrix that settings describe.
pub fn index_base(settings: *const c_void) -> SparseResult<u32> {
    match DESCRIPTORS.get(settings) {
        Some(Descriptor::Settings([_, base, ..])) => Ok(base),
        _ => Err(SparseError::INVALID_VALUE),
    }
}

/// How many elements a sparse matrix has, once that is known.
pub fn set_count(descriptor: *mut c_void, count: usize) -> SparseResult {
    change(descriptor, |known| match known {
        Descriptor::Sparse(sparse) => {
            sparse.count = count;
            Ok(())
        }
        _ => Err(SparseError::INVALID_VALUE),
    })
}

fn set_batch(descriptor: *mut c_void, count: c_int, strides: [i64; 2]) -> SparseResult {
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or(SparseError::INVALID_VALUE)?;
    let distances = [length(strides[0])?, length(strides[1])?];
    change(descriptor, |known| {
        match known {
            Descriptor::Sparse(sparse) => {
                sparse.batches = count;
                sparse.strides = distances;
            }
            Descriptor::Dense(dense) => {
                dense.batches = count;
                dense.stride = distances[0];
            }
            _ => return Err(SparseError::INVALID_VALUE),
        }
        Ok(())
    })
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
    DESCRIPTORS
        .visit(descriptor, how)
        .ok_or(SparseError::INVALID_VALUE)?
}

/// # Safety
/// The address is writable or null.
unsafe fn add(descriptor: *mut *mut c_void, what: Descriptor) -> SparseResult {
    // SAFETY: as the caller promises.
    unsafe { store(descriptor, DESCRIPTORS.open(what)) }
}
