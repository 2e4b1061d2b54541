//! Where rows of tensors lie: in registers, or in regions of shared memory that several have one after the other.
//!
//! Parts of a kernel run one after the other, so that each dominates those behind it: a row may have the region of another
//! one if all that touch that one lie before all that touch this one, in another loop, and if it is no larger. Barriers
//! follow from that as from any other conflict in memory.

use super::{
    Kernel, RowArray, RowPart, RowPlace, Team, inner, parts, place, ranges, row_extents,
    shared_out, whole_row,
};
use crate::tensor::linear::Linear;
use crate::tensor::program::Function;

/// Threads of a block at most.
pub const MOST_THREADS: usize = 256;
/// Shared memory of rows at most, in bytes: what every GPU gives, less what reductions need.
pub const MOST_BYTES: usize = 47 * 1024;
/// Registers of a thread for rows at most.
const MOST_REGISTERS: usize = 48;
/// Elements of one row that a thread has at most.
const MOST_ELEMENTS: usize = 16;

/// Where a row is to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// In registers where that is possible, else in shared memory.
    Best,
    /// In registers.
    Registers,
    /// In shared memory.
    Shared,
    /// In device memory.
    Memory,
}

/// How many threads compute a row, where that is a number.
pub(super) fn threads(kernel: &Kernel<'_>, team: Team) -> Option<usize> {
    match team {
        Team::Lanes { lanes, .. } => Some(lanes),
        Team::Columns { threads } => Some(threads),
        Team::Block => {
            let lengths = kernel.parts.iter().map(|part| {
                let extents = shared_out(part).into_iter().map(|index| {
                    let variable = &part.statement.variables[index];
                    let extent = variable.high.linear()?.subtract(variable.low.linear()?)?;
                    (!extent.has_variables()).then_some(extent)
                });
                // What only the row or data say may be long.
                let Some(extents) = extents.collect::<Option<Vec<Linear>>>() else {
                    return Some(MOST_THREADS);
                };
                let numbers = extents.iter().map(|extent| {
                    let number = extent.as_number()?;
                    usize::try_from(number.max(0)).ok()
                });
                numbers.product::<Option<usize>>()
            });
            let lengths: Option<Vec<usize>> = lengths.collect();
            let longest = lengths?.into_iter().max().unwrap_or(1);
            Some(longest.clamp(1, MOST_THREADS).next_multiple_of(32))
        }
    }
}

/// Elements of a row that a thread has in registers, one or four at a time, where all is a number.
pub fn registers(
    function: &Function,
    (kernel, threads): (&Kernel<'_>, usize),
    tensor: usize,
) -> Option<usize> {
    let numbers = row_extents(function, kernel, tensor).iter().map(|extent| {
        let number = extent.as_number().filter(|number| *number > 0)?;
        usize::try_from(number).ok()
    });
    let elements = numbers.product::<Option<usize>>()?;
    Some(match elements % 4 == 0 {
        true => (elements / 4).div_ceil(threads) * 4,
        false => elements.div_ceil(threads),
    })
}

/// The rows that go where they are wished to be.
pub(super) fn placed(
    function: &Function,
    (kernel, threads): (&Kernel<'_>, Option<usize>),
    arrays: Vec<RowArray>,
    wish: &dyn Fn(usize) -> Wish,
) -> Vec<RowArray> {
    let mut left = MOST_REGISTERS;
    let is_column = matches!(super::team(kernel), Team::Columns { .. });
    let each = arrays.into_iter().filter_map(|array| {
        let wish = wish(array.tensor);
        let words = function.tensors[array.tensor].scalar.bytes().div_ceil(4);
        let few = |count: &usize| *count <= MOST_ELEMENTS && count * words as usize <= left;
        let count = threads
            .filter(|_| matches!(wish, Wish::Best | Wish::Registers))
            .filter(|_| is_by_thread(function, kernel, &array))
            .and_then(|threads| registers(function, (kernel, threads), array.tensor))
            .filter(few);
        match (count, wish) {
            (Some(count), _) if !(is_column && array.is_copied) => {
                left -= count * words as usize;
                Some(RowArray {
                    place: RowPlace::Registers,
                    ..array
                })
            }
            // A row that is a column is that of no block alone.
            _ if is_column => None,
            (_, Wish::Memory | Wish::Registers) => None,
            _ => Some(array),
        }
    });
    each.collect()
}

/// Whether each element of a row is touched by the thread that makes it, and by no other one.
fn is_by_thread(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> bool {
    let whole = whole_row(function, kernel, array.tensor);
    let mut is_own = !array.is_copied || array.copied_by.is_some();
    for part in &kernel.parts {
        let shared_out = shared_out(part);
        let mut see = |subscripts: &[_]| {
            let place = place(kernel, part, subscripts, &shared_out);
            let ranges = ranges(part, &shared_out);
            is_own &= place.as_ref() == Some(&whole) && ranges.as_ref() == Some(&whole);
        };
        part.statement.reads(&mut |tensor, subscripts| {
            if tensor == array.tensor {
                see(subscripts);
            }
        });
        if part.statement.target == array.tensor {
            see(&part.statement.subscripts);
            is_own &= inner(part).next().is_some();
        }
    }
    is_own
}

/// The same rows in regions of shared memory, as few as need no more barriers, and what parts then need.
pub(super) fn in_regions(
    function: &Function,
    kernel: &Kernel<'_>,
    arrays: Vec<RowArray>,
) -> (Vec<RowArray>, Vec<RowPart>) {
    let mut apart = arrays;
    for (number, array) in apart.iter_mut().enumerate() {
        if let RowPlace::Shared { region } = &mut array.place {
            *region = number;
        }
    }
    let parts_apart = parts(function, kernel, &apart);
    let shared = with_regions(function, kernel, &apart, &parts_apart);
    if shared == apart {
        return (apart, parts_apart);
    }
    let parts_shared = parts(function, kernel, &shared);
    let waits = |parts: &[RowPart]| parts.iter().filter(|part| part.barrier).count();
    let loops = |parts: &[RowPart]| parts.iter().filter(|part| !part.joins).count();
    let is_free =
        waits(&parts_shared) <= waits(&parts_apart) && loops(&parts_shared) <= loops(&parts_apart);
    match is_free || !rows_fit(function, kernel, &apart) {
        true => (shared, parts_shared),
        false => (apart, parts_apart),
    }
}

/// Whether rows are known to be short enough for shared memory, or not known to be too long.
pub fn rows_fit(function: &Function, kernel: &Kernel<'_>, arrays: &[RowArray]) -> bool {
    let shared = arrays
        .iter()
        .filter(|array| array.place != RowPlace::Registers);
    let each = shared.map(|array| bytes(function, kernel, array.tensor));
    let rows = match super::team(kernel) {
        Team::Lanes { rows, .. } => rows,
        _ => 1,
    };
    each.sum::<Option<usize>>()
        .is_none_or(|bytes| bytes * rows <= MOST_BYTES)
}

/// Bytes of a row in shared memory, where that is a number.
pub fn bytes(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> Option<usize> {
    let numbers = row_extents(function, kernel, tensor)
        .iter()
        .map(|extent| usize::try_from(extent.as_number()?).ok());
    let bytes = function.tensors[tensor].scalar.bytes();
    let elements = numbers.product::<Option<usize>>()?;
    Some((elements * bytes as usize).next_multiple_of(16))
}

/// Rows with regions by the loops that touch them.
fn with_regions(
    function: &Function,
    kernel: &Kernel<'_>,
    arrays: &[RowArray],
    parts: &[RowPart],
) -> Vec<RowArray> {
    // The loops that first and last touch a row; copies come before all of them.
    let life = |array: &RowArray| {
        let mut loops: Vec<usize> = Vec::new();
        let mut number = 0;
        for (position, (part, row)) in kernel.parts.iter().zip(parts).enumerate() {
            number += usize::from(position == 0 || !row.joins);
            let mut touches = part.statement.target == array.tensor;
            part.statement
                .reads(&mut |tensor, _| touches |= tensor == array.tensor);
            if touches {
                loops.push(number);
            }
        }
        if array.is_copied && array.copied_by.is_none() {
            loops.insert(0, 0);
        }
        let (first, last) = (loops.first().copied(), loops.last().copied());
        (first.unwrap_or(0), last.unwrap_or(usize::MAX))
    };
    let extents = |array: &RowArray| row_extents(function, kernel, array.tensor);
    let scalar = |array: &RowArray| function.tensors[array.tensor].scalar.bytes();
    // A region is as large as the row that was there first.
    let is_room = |of: &RowArray, array: &RowArray| {
        let numbers = bytes(function, kernel, of.tensor).zip(bytes(function, kernel, array.tensor));
        match numbers {
            Some((room, need)) => need <= room,
            None => extents(of) == extents(array) && scalar(array) <= scalar(of),
        }
    };
    let mut order: Vec<usize> = (0..arrays.len())
        .filter(|number| matches!(arrays[*number].place, RowPlace::Shared { .. }))
        .collect();
    order.sort_by_key(|number| life(&arrays[*number]));
    let mut made = arrays.to_vec();
    // By region: the row that was there first, and the loop that touches the region last.
    let mut regions: Vec<(usize, usize)> = Vec::new();
    for number in order {
        let (first, last) = life(&arrays[number]);
        let mut free = regions.iter_mut();
        let free =
            free.find(|(of, until)| *until < first && is_room(&arrays[*of], &arrays[number]));
        let region = match free {
            Some((of, until)) => {
                *until = last;
                *of
            }
            None => {
                regions.push((number, last));
                number
            }
        };
        made[number].place = RowPlace::Shared { region };
    }
    made
}

/// Which rows share memory, and how large elements are.
pub(super) struct Regions {
    /// Tensor, region, bytes of an element.
    of: Vec<(usize, usize, u64)>,
}

impl Regions {
    fn find(&self, tensor: usize) -> Option<(usize, u64)> {
        let mut all = self.of.iter();
        let (_, region, bytes) = all.find(|(known, _, _)| *known == tensor)?;
        Some((*region, *bytes))
    }

    /// Whether the rows of two tensors lie in one region.
    pub fn meet(&self, a: usize, b: usize) -> bool {
        let both = self.find(a).zip(self.find(b));
        both.is_some_and(|((a, _), (b, _))| a == b)
    }

    /// Whether elements of one number lie in one place, if the rows lie in one region.
    pub fn are_alike(&self, a: usize, b: usize) -> bool {
        let both = self.find(a).zip(self.find(b));
        both.is_none_or(|((_, a), (_, b))| a == b)
    }
}

/// The regions of rows.
pub(super) fn region_names(function: &Function, arrays: &[RowArray]) -> Regions {
    let of = arrays.iter().filter_map(|array| match array.place {
        RowPlace::Shared { region } => {
            let bytes = function.tensors[array.tensor].scalar.bytes();
            Some((array.tensor, region, bytes))
        }
        RowPlace::Registers => None,
    });
    Regions { of: of.collect() }
}
