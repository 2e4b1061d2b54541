//! Matrices from one form into another.

use std::ffi::{c_int, c_void};

use super::descriptors::{Dense, Elements, Indices, Layout, Sparse, dense, index_base};
use super::descriptors::{set_count, sparse};
use super::{
    BUFFER_BYTES, SparseError, SparseResult, check_range, cusparse_functions, given, in_order,
};
use super::{length, store, written};

cusparse_functions! {
    /// Bytes of the buffer: none, but programs may allocate it.
    fn cusparseSparseToDense_bufferSize = cusparseDenseToSparse_bufferSize (
        _handle: *mut c_void,
        _from: *const c_void,
        _to: *mut c_void,
        _algorithm: u32,
        bytes: *mut usize,
    ) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// Every element, with those that are not stored.
    fn cusparseSparseToDense(
        handle: *mut c_void,
        from: *const c_void,
        to: *mut c_void,
        _algorithm: u32,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let (from, to) = (sparse(from)?, dense(to)?);
        same_extents(&from, &to)?;
        from.check()?;
        to.check()?;
        for row in 0..to.rows {
            (0..to.columns).for_each(|column| to.values.set(to.position(row, column), 0.0));
        }
        from.each(|row, column, at| to.values.set(to.position(row, column), from.values.get(at)))
    }

    /// How many elements of each row or column are not zero.
    fn cusparseDenseToSparse_analysis(
        handle: *mut c_void,
        from: *const c_void,
        to: *mut c_void,
        _algorithm: u32,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let (from, sparse) = (dense(from)?, sparse(to)?);
        same_extents(&sparse, &from)?;
        from.check()?;
        let found = elements(&from, sparse.layout == Layout::Columns);
        let count = found.iter().map(Vec::len).sum();
        if sparse.layout != Layout::Coordinates {
            sparse.first.check(sparse.firsts())?;
            put_offsets(&sparse.first, &found);
        }
        set_count(to, count)
    }

    /// The elements that are not zero.
    fn cusparseDenseToSparse_convert(
        handle: *mut c_void,
        from: *const c_void,
        to: *mut c_void,
        _algorithm: u32,
        _buffer: *mut c_void,
    ) {
        in_order(handle)?;
        let (from, to) = (dense(from)?, sparse(to)?);
        same_extents(&to, &from)?;
        from.check()?;
        let found = elements(&from, to.layout == Layout::Columns);
        if found.iter().map(Vec::len).sum::<usize>() != to.count {
            return Err(SparseError::INVALID_VALUE);
        }
        to.check()?;
        let mut at = 0;
        for (line, elements) in found.iter().enumerate() {
            for (other, position) in elements.iter().copied() {
                if to.layout == Layout::Coordinates {
                    to.first.set(at, line);
                }
                to.second.set(at, other);
                to.values.set(at, from.values.get(position));
                at += 1;
            }
        }
        if to.layout != Layout::Coordinates {
            put_offsets(&to.first, &found);
        }
        Ok(())
    }

    /// Bytes of the buffer: none, but programs may allocate it.
    fn cusparseCsr2cscEx2_bufferSize(
        _handle: *mut c_void,
        _rows: c_int,
        _columns: c_int,
        _count: c_int,
        _values: *const c_void,
        _offsets: *const c_int,
        _indices: *const c_int,
        _turned_values: *mut c_void,
        _turned_offsets: *mut c_int,
        _turned_indices: *mut c_int,
        _kind: u32,
        _action: u32,
        _base: u32,
        _algorithm: u32,
        bytes: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// A matrix by rows as one by columns; without its values with action 0.
    fn cusparseCsr2cscEx2(
        handle: *mut c_void,
        rows: c_int,
        columns: c_int,
        count: c_int,
        values: *const c_void,
        offsets: *const c_int,
        indices: *const c_int,
        turned_values: *mut c_void,
        turned_offsets: *mut c_int,
        turned_indices: *mut c_int,
        kind: u32,
        action: u32,
        base: u32,
        _algorithm: u32,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let extents = [rows, columns, count];
        let from = by_rows(extents, [offsets, indices], base)?;
        let (first, second) = (
            Indices::new(turned_offsets as usize, 2, base)?,
            Indices::new(turned_indices as usize, 2, base)?,
        );
        first.check(from.columns + 1)?;
        second.check(from.count)?;
        let numbers = match action {
            0 => None,
            _ => {
                let numbers = (Elements::new(values, kind)?, Elements::new(turned_values, kind)?);
                numbers.0.check(from.count)?;
                numbers.1.check(from.count)?;
                Some(numbers)
            }
        };
        let mut lines = vec![Vec::new(); from.columns];
        from.each(|row, column, at| lines[column].push((row, at)))?;
        put_offsets(&first, &lines);
        for (at, (row, position)) in lines.into_iter().flatten().enumerate() {
            second.set(at, row);
            if let Some((values, turned)) = numbers {
                turned.set(at, values.get(position));
            }
        }
        Ok(())
    }

    /// Bytes of the buffer: none, but programs may allocate it.
    fn cusparseXcsrsort_bufferSizeExt = cusparseXcoosort_bufferSizeExt (
        _handle: *mut c_void,
        _rows: c_int,
        _columns: c_int,
        _count: c_int,
        _first: *const c_int,
        _second: *const c_int,
        bytes: *mut usize,
    ) {
        // SAFETY: as above.
        unsafe { store(bytes, BUFFER_BYTES) }
    }

    /// 0, 1, 2, …
    fn cusparseCreateIdentityPermutation(handle: *mut c_void, count: c_int, order: *mut c_int) {
        in_order(handle)?;
        let order = Indices::new(order as usize, 2, 0)?;
        let count = length(i64::from(count))?;
        order.check(count)?;
        (0..count).for_each(|at| order.set(at, at));
        Ok(())
    }

    /// Sorts each row's indices, and moves what is in `order` with them.
    fn cusparseXcsrsort(
        handle: *mut c_void,
        rows: c_int,
        columns: c_int,
        count: c_int,
        settings: *const c_void,
        offsets: *const c_int,
        indices: *mut c_int,
        order: *mut c_int,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        let from = by_rows([rows, columns, count], [offsets, indices.cast_const()], index_base(settings)?)?;
        let mut keys = Vec::with_capacity(from.count);
        from.each(|row, column, at| keys.push(([row, column], at)))?;
        let order = permutation(order, from.count)?;
        sort(keys, [None, Some(from.second)], order);
        Ok(())
    }

    /// Sorts coordinates by row, and moves what is in `order` with them.
    fn cusparseXcoosortByRow(
        handle: *mut c_void,
        _rows: c_int,
        _columns: c_int,
        count: c_int,
        row_indices: *mut c_int,
        column_indices: *mut c_int,
        order: *mut c_int,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        sort_coordinates(count, [row_indices, column_indices], order)
    }

    /// Sorts coordinates by column, and moves what is in `order` with them.
    fn cusparseXcoosortByColumn(
        handle: *mut c_void,
        _rows: c_int,
        _columns: c_int,
        count: c_int,
        row_indices: *mut c_int,
        column_indices: *mut c_int,
        order: *mut c_int,
        buffer: *mut c_void,
    ) {
        in_order(handle)?;
        given(buffer)?;
        sort_coordinates(count, [column_indices, row_indices], order)
    }

    /// How many elements of each row (direction 0) or column (1) are not zero, and of all.
    fn cusparseSnnz(
        handle: *mut c_void,
        direction: u32,
        rows: c_int,
        columns: c_int,
        _settings: *const c_void,
        values: *const c_void,
        leading: c_int,
        counts: *mut c_int,
        total: *mut c_int,
    ) {
        in_order(handle)?;
        count_elements(direction, [rows, columns, leading], (values, 0), counts, total)
    }

    /// The same of doubles.
    fn cusparseDnnz(
        handle: *mut c_void,
        direction: u32,
        rows: c_int,
        columns: c_int,
        _settings: *const c_void,
        values: *const c_void,
        leading: c_int,
        counts: *mut c_int,
        total: *mut c_int,
    ) {
        in_order(handle)?;
        count_elements(direction, [rows, columns, leading], (values, 1), counts, total)
    }

    /// Row indices to offsets of rows.
    fn cusparseXcoo2csr(
        handle: *mut c_void,
        row_indices: *const c_int,
        count: c_int,
        rows: c_int,
        offsets: *mut c_int,
        base: u32,
    ) {
        in_order(handle)?;
        let (count, rows) = (length(i64::from(count))?, length(i64::from(rows))?);
        let indices = Indices::new(row_indices as usize, 2, base)?;
        let offsets = Indices::new(offsets as usize, 2, base)?;
        indices.check(count)?;
        offsets.check(rows + 1)?;
        let mut at = 0;
        for row in 0..=rows {
            while at < count && indices.get(at) < row as i64 {
                at += 1;
            }
            offsets.set(row, at);
        }
        Ok(())
    }

    /// Offsets of rows to row indices.
    fn cusparseXcsr2coo(
        handle: *mut c_void,
        offsets: *const c_int,
        count: c_int,
        rows: c_int,
        row_indices: *mut c_int,
        base: u32,
    ) {
        in_order(handle)?;
        let (count, rows) = (length(i64::from(count))?, length(i64::from(rows))?);
        let starts = Indices::new(offsets as usize, 2, base)?;
        let indices = Indices::new(row_indices as usize, 2, base)?;
        starts.check(rows + 1)?;
        indices.check(count)?;
        for row in 0..rows {
            for at in starts.get(row)..starts.get(row + 1) {
                let at = usize::try_from(at).ok().filter(|at| *at < count);
                indices.set(at.ok_or(SparseError::INVALID_VALUE)?, row);
            }
        }
        Ok(())
    }
}

fn same_extents(sparse: &Sparse, dense: &Dense) -> SparseResult {
    if (sparse.rows, sparse.columns) != (dense.rows, dense.columns) {
        return Err(SparseError::INVALID_VALUE);
    }
    if [sparse.batches, dense.batches] != [1; 2] {
        return Err(SparseError::NOT_SUPPORTED);
    }
    Ok(())
}

/// The elements of each row, or of each column, that are not zero: the other index and the position.
fn elements(dense: &Dense, by_columns: bool) -> Vec<Vec<(usize, usize)>> {
    let (lines, others) = super::turned(by_columns, dense.rows, dense.columns);
    let line = |line| {
        let positions = (0..others).map(|other| {
            let (row, column) = super::turned(by_columns, line, other);
            (other, dense.position(row, column))
        });
        positions
            .filter(|(_, at)| dense.values.get(*at) != 0.0)
            .collect()
    };
    (0..lines).map(line).collect()
}

/// Stores where each line begins.
fn put_offsets<T>(offsets: &Indices, lines: &[Vec<T>]) {
    let mut at = 0;
    offsets.set(0, 0);
    for (index, line) in lines.iter().enumerate() {
        at += line.len();
        offsets.set(index + 1, at);
    }
}

/// A matrix by rows whose values nobody looks at.
fn by_rows(
    [rows, columns, count]: [c_int; 3],
    [offsets, indices]: [*const c_int; 2],
    base: u32,
) -> SparseResult<Sparse> {
    let matrix = Sparse {
        rows: length(i64::from(rows))?,
        columns: length(i64::from(columns))?,
        count: length(i64::from(count))?,
        layout: Layout::Rows,
        first: Indices::new(offsets as usize, 2, base)?,
        second: Indices::new(indices as usize, 2, base)?,
        values: Elements { start: 0, bytes: 4 },
        triangle: [0; 2],
        batches: 1,
        strides: [0; 2],
    };
    matrix.first.check(matrix.rows + 1)?;
    matrix.second.check(matrix.count)?;
    Ok(matrix)
}

fn sort_coordinates(count: c_int, indices: [*mut c_int; 2], order: *mut c_int) -> SparseResult {
    let count = length(i64::from(count))?;
    let [first, second] = indices.map(|start| Indices::new(start as usize, 2, 0));
    let (first, second) = (first?, second?);
    first.check(count)?;
    second.check(count)?;
    let order = permutation(order, count)?;
    let key = |at| {
        let index = |indices: Indices| length(indices.get(at));
        Ok(([index(first)?, index(second)?], at))
    };
    let keys = (0..count).map(key).collect::<SparseResult<_>>()?;
    sort(keys, [Some(first), Some(second)], order);
    Ok(())
}

/// The numbers that move with what is sorted, if the program wants that.
fn permutation(order: *mut c_int, count: usize) -> SparseResult<Option<Indices>> {
    if order.is_null() {
        return Ok(None);
    }
    let order = Indices::new(order as usize, 2, 0)?;
    order.check(count)?;
    Ok(Some(order))
}

/// Sorts keys with their positions, and stores both parts of the keys and what moves with them.
fn sort(mut keys: Vec<([usize; 2], usize)>, parts: [Option<Indices>; 2], order: Option<Indices>) {
    keys.sort_by_key(|(key, _)| *key);
    let moved: Vec<i64> = match order {
        Some(order) => keys.iter().map(|(_, at)| order.get(*at)).collect(),
        None => Vec::new(),
    };
    for (at, (key, _)) in keys.iter().enumerate() {
        for (part, index) in parts.iter().zip(key) {
            if let Some(part) = part {
                part.set(at, *index);
            }
        }
    }
    if let Some(order) = order {
        for (at, number) in moved.into_iter().enumerate() {
            order.set(at, usize::try_from(number).unwrap_or(0));
        }
    }
}

fn count_elements(
    direction: u32,
    [rows, columns, leading]: [c_int; 3],
    (values, kind): (*const c_void, u32),
    counts: *mut c_int,
    total: *mut c_int,
) -> SparseResult {
    let dense = Dense {
        rows: length(i64::from(rows))?,
        columns: length(i64::from(columns))?,
        leading: length(i64::from(leading))?,
        by_rows: false,
        values: Elements::new(values, kind)?,
        batches: 1,
        stride: 0,
    };
    if direction > 1 || dense.leading < dense.rows {
        return Err(SparseError::INVALID_VALUE);
    }
    dense.check()?;
    let found = elements(&dense, direction == 1);
    let counted = Indices::new(counts as usize, 2, 0)?;
    counted.check(found.len())?;
    for (at, line) in found.iter().enumerate() {
        counted.set(at, line.len());
    }
    let sum = found.iter().map(Vec::len).sum::<usize>();
    // SAFETY: as above.
    unsafe { store(total, sum as c_int)? };
    if check_range(total as usize, 4).is_ok() {
        written(total as usize, 4);
        crate::execution::check::streams::host_waits_for_last();
    }
    Ok(())
}
