//! What a kernel costs by a model: its launch, bytes of device memory, terms, and waits.
//!
//! The constants are orders of magnitude of a large GPU; only the order of candidates matters. Sizes that no number says are
//! taken as 4096 if they are first in a tensor, else as 512.

use crate::tensor::linear::{Atom, Linear};
use crate::tensor::mapping::{Kernel, Part, Plan, Work};
use crate::tensor::program::{Function, Role, Statement, SymbolKind, Tensor};
use crate::tensor::transform::rows::{
    MOST_THREADS, RowPlace, Rows, Team, is_in_registers, rows_fit,
};

/// What a size is taken as that no number says.
const SIZE: i64 = 512;
/// The same of one that is the first extent of a tensor.
const FIRST_SIZE: i64 = 4096;
/// Nanoseconds of a launch.
const LAUNCH: f64 = 2500.0;
/// Bytes of device memory in a nanosecond, and of one block.
const BYTES: f64 = 2000.0;
const BLOCK_BYTES: f64 = 30.0;
/// Terms of all threads in a nanosecond.
const TERMS: f64 = 1000.0;
/// The same in tiles, which have what they read in registers.
const TILED_TERMS: f64 = 8000.0;
/// Nanoseconds of a term in one thread.
const TERM: f64 = 8.0;
/// Nanoseconds for which a block waits for its threads.
const WAIT: f64 = 50.0;
/// Nanoseconds for which lanes of a warp exchange what they have.
const SHUFFLES: f64 = 15.0;
/// Threads that run at a time.
const RESIDENT: f64 = 132.0 * 1024.0;
/// How many times more is read where neighbouring threads read no neighbours.
const APART: f64 = 8.0;
/// What a second look at the same costs, which caches may have.
const AGAIN: f64 = 0.5;

/// Nanoseconds of a kernel.
pub(super) fn cost(function: &Function, kernel: &Kernel<'_>) -> f64 {
    let terms: f64 = kernel
        .parts
        .iter()
        .map(|part| terms(function, part.statement))
        .sum();
    let of = |form: &Linear| value(function, form);
    let points: f64 = kernel.threads.iter().map(of).product();
    let bytes = bytes(function, kernel);
    let (threads, waits, rate) = match &kernel.plan {
        Plan::Elements => (points, 0.0, TERMS),
        Plan::Tiles(_) => (points / 16.0, 0.0, TILED_TERMS),
        Plan::Rows(rows) => {
            let (threads, waits) = of_rows(kernel, rows, points);
            (threads, waits, TERMS)
        }
        Plan::Layers(_) | Plan::Packed(_) | Plan::Nest(_) => (points, 0.0, TERMS),
    };
    let chain = terms / threads.max(1.0) * TERM;
    let blocks = (threads / 256.0).ceil().max(1.0);
    let rate_of_bytes = BYTES.min(blocks * BLOCK_BYTES);
    LAUNCH + (bytes / rate_of_bytes).max(terms / rate).max(chain) + waits
}

/// All threads, and for how long they wait for each other.
fn of_rows(kernel: &Kernel<'_>, rows: &Rows, points: f64) -> (f64, f64) {
    let reductions = kernel.parts.iter().zip(&rows.parts);
    let reductions = reductions
        .filter(|(part, row)| row.is_held && part.statement.reduced().next().is_some())
        .count() as f64;
    let barriers = rows.parts.iter().filter(|row| row.barrier).count() as f64;
    let team = rows.threads.unwrap_or(MOST_THREADS) as f64;
    let threads = points * team;
    let waves = (threads / RESIDENT).ceil().max(1.0);
    let waits = match rows.team {
        Team::Lanes { .. } => (reductions + barriers) * SHUFFLES,
        Team::Block | Team::Columns { .. } => (2.0 * reductions + barriers) * WAIT,
    };
    (threads, waves * waits)
}

/// Bytes of device memory that a kernel moves.
fn bytes(function: &Function, kernel: &Kernel<'_>) -> f64 {
    let mut sum = 0.0;
    for (tensor, known) in function.tensors.iter().enumerate() {
        if known.role == Role::Value || is_in_registers(kernel, tensor) {
            continue;
        }
        let extents = known.extents.iter().map(|extent| value(function, extent));
        let size = extents.product::<f64>() * known.scalar.bytes() as f64;
        // Statements that read it, worst way of any, and whether one writes it.
        let (mut reads, mut apart, mut writes) = (0.0_f64, 1.0_f64, false);
        for (number, part) in kernel.parts.iter().enumerate() {
            writes |= part.statement.target == tensor;
            let fast = fast(kernel, number, part);
            let mut is_read = false;
            part.statement.reads(&mut |read, subscripts| {
                if read != tensor {
                    return;
                }
                is_read = true;
                let has = |form: Option<&Linear>| {
                    form.is_some_and(|form| {
                        fast.is_some_and(|fast| form.variables().contains(&fast))
                    })
                };
                let Some((last, before)) = subscripts.split_last() else {
                    return;
                };
                let is_strided =
                    !has(last.linear.as_ref()) && before.iter().any(|one| has(one.linear.as_ref()));
                if is_strided {
                    apart = APART;
                }
            });
            reads += f64::from(is_read);
        }
        let again = (reads - 1.0).max(0.0) * AGAIN;
        let (looks, stores) = match place(function, kernel, tensor) {
            // What is kept is read once, if it is an input.
            Some((is_copied, is_stored)) => (f64::from(is_copied), f64::from(is_stored)),
            None => (reads.min(1.0) + again, f64::from(writes)),
        };
        sum += size * (looks * apart + stores);
    }
    sum
}

/// Of a row that a kernel keeps: whether it is an input, and whether it is written to device memory.
fn place(function: &Function, kernel: &Kernel<'_>, tensor: usize) -> Option<(bool, bool)> {
    let Plan::Rows(rows) = &kernel.plan else {
        return None;
    };
    let array = rows.arrays.iter().find(|array| array.tensor == tensor)?;
    let is_kept = array.place == RowPlace::Registers || rows_fit(function, kernel, &rows.arrays);
    is_kept.then_some((array.is_copied, array.is_stored))
}

/// The index in which neighbouring threads differ.
fn fast(kernel: &Kernel<'_>, number: usize, part: &Part<'_>) -> Option<usize> {
    let Work::Compute { taken, .. } = &part.work else {
        return None;
    };
    match &kernel.plan {
        Plan::Rows(rows) if !matches!(rows.team, Team::Columns { .. }) => {
            rows.parts[number].shared_out.last().copied()
        }
        // Tiles load by rows.
        Plan::Tiles(_) => None,
        _ => taken.last().copied(),
    }
}

/// How many terms or elements a statement has.
fn terms(function: &Function, statement: &Statement) -> f64 {
    let each = statement.variables.iter().map(|variable| {
        let both = variable.high.linear().zip(variable.low.linear());
        let extent = both.and_then(|(high, low)| high.subtract(low));
        extent.map_or(16.0, |extent| value(function, &extent))
    });
    each.product()
}

/// What a number is taken as.
fn value(function: &Function, form: &Linear) -> f64 {
    fn of(function: &Function, atom: &Atom) -> i64 {
        match atom {
            Atom::Symbol(symbol) => match function.symbols[*symbol].kind {
                SymbolKind::Size => {
                    let is_first = |tensor: &Tensor| {
                        let first = tensor.extents.first();
                        first == Some(&Linear::symbol(*symbol)) && tensor.extents.len() > 1
                    };
                    match function.tensors.iter().any(is_first) {
                        true => FIRST_SIZE,
                        false => SIZE,
                    }
                }
                SymbolKind::Value(_) | SymbolKind::Time => 16,
            },
            // Ranges that depend on others are half as long.
            Atom::Variable(_) => SIZE / 2,
            _ => SIZE,
        }
    }
    let number = form.value(&|atom| of(function, atom)).unwrap_or(SIZE);
    number.max(1) as f64
}
