//! Where the elements of matrices are, and which.

use super::descriptors::{Dense, Elements, Layout, Sparse};
use super::{SparseError, SparseResult, turned};

impl Elements {
    /// A multiple of a number, which is not read where it counts for nothing.
    pub fn scaled(&self, factor: f64, position: usize) -> f64 {
        match factor {
            0.0 => 0.0,
            _ => factor * self.get(position),
        }
    }

    /// The elements from one on.
    fn after(self, elements: usize) -> Self {
        Self {
            start: self.start + elements * self.bytes,
            ..self
        }
    }
}

impl Dense {
    /// Where an element is.
    pub fn position(&self, row: usize, column: usize) -> usize {
        match self.by_rows {
            true => row * self.leading + column,
            false => column * self.leading + row,
        }
    }

    /// Errors: it is not device memory.
    pub fn check(&self) -> SparseResult {
        match self.rows.min(self.columns) {
            0 => Ok(()),
            _ => self
                .values
                .check(self.position(self.rows - 1, self.columns - 1) + 1),
        }
    }

    /// One of a batch; a single matrix is the same for all.
    pub fn in_batch(mut self, index: usize, batches: usize) -> SparseResult<Self> {
        if self.batches != 1 && self.batches != batches {
            return Err(SparseError::INVALID_VALUE);
        }
        if self.batches > 1 {
            self.values = self.values.after(index * self.stride);
        }
        Ok(self)
    }
}

impl Sparse {
    /// Errors: what describes it is not device memory.
    pub fn check(&self) -> SparseResult {
        self.first.check(self.firsts())?;
        self.second.check(self.count)?;
        self.values.check(self.count)
    }

    /// How many offsets, or rows, there are.
    pub fn firsts(&self) -> usize {
        match self.layout {
            Layout::Rows => self.rows + 1,
            Layout::Columns => self.columns + 1,
            Layout::Coordinates => self.count,
        }
    }

    /// One of a batch; a single matrix is the same for all.
    pub fn in_batch(mut self, index: usize, batches: usize) -> SparseResult<Self> {
        if self.batches != 1 && self.batches != batches {
            return Err(SparseError::INVALID_VALUE);
        }
        if self.batches > 1 {
            let [firsts, seconds] = self.strides.map(|stride| index * stride);
            self.first = self.first.after(firsts);
            self.second = self.second.after(seconds);
            self.values = self.values.after(seconds);
        }
        Ok(self)
    }

    /// Calls with row, column and position of each element. Errors: what is told lies outside.
    pub fn each(&self, mut visit: impl FnMut(usize, usize, usize)) -> SparseResult {
        let mut element = |row: i64, column: i64, at: i64| {
            let within = |index: i64, extent: usize| {
                let index = usize::try_from(index).ok().filter(|index| *index < extent);
                index.ok_or(SparseError::INVALID_VALUE)
            };
            visit(
                within(row, self.rows)?,
                within(column, self.columns)?,
                within(at, self.count)?,
            );
            Ok(())
        };
        let lines = match self.layout {
            Layout::Rows => self.rows,
            Layout::Columns => self.columns,
            Layout::Coordinates => {
                for at in 0..self.count {
                    element(self.first.get(at), self.second.get(at), at as i64)?;
                }
                return Ok(());
            }
        };
        for line in 0..lines {
            for at in self.first.get(line)..self.first.get(line + 1) {
                let index = usize::try_from(at).ok().filter(|at| *at < self.count);
                let other = self.second.get(index.ok_or(SparseError::INVALID_VALUE)?);
                match self.layout {
                    Layout::Columns => element(other, line as i64, at)?,
                    _ => element(line as i64, other, at)?,
                }
            }
        }
        Ok(())
    }

    /// The elements of each row, or of each column when the matrix is turned: the other index and the
    /// position, in the order in which they are stored.
    pub fn lines(&self, turn: bool) -> SparseResult<Vec<Vec<(usize, usize)>>> {
        self.check()?;
        let (rows, _) = turned(turn, self.rows, self.columns);
        let mut lines = vec![Vec::new(); rows];
        self.each(|row, column, at| {
            let (row, column) = turned(turn, row, column);
            lines[row].push((column, at));
        })?;
        Ok(lines)
    }
}
