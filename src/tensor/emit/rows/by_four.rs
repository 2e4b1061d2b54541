//! Rows of which threads take four neighbours at once.
//!
//! A thread keeps its elements from loop to loop, so that either all loops of a kernel go by four or none does.

use super::team::{copied, one_of_four, open_elements};
use super::{MOST_THREADS, at_hand, in_row, length, memory, row_indices};
use crate::tensor::emit::fours;
use crate::tensor::emit::kernels::{Lines, accumulate};
use crate::tensor::emit::values::{self, Scope};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::Kernel;
use crate::tensor::program::{Function, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{Team, ranges};
use crate::tensor::types::Scalar;
use std::ops::Range;

/// Tensors that are read or written by four where that is possible, with the extent of rows.
pub(super) fn along(
    function: &Function,
    kernel: &Kernel<'_>,
    rows: &Rows,
) -> Option<(Vec<usize>, Vec<Linear>)> {
    let (mut tensors, mut extents) = (Vec::new(), Vec::new());
    // Neighbours along a column are not neighbours in memory.
    if matches!(rows.team, Team::Columns { .. }) {
        return None;
    }
    // Threads keep their elements from loop to loop, so that it is all of them or none.
    for (part, row) in kernel.parts.iter().zip(&rows.parts) {
        if row.shared_out.is_empty() {
            continue;
        }
        let ranges = ranges(part, &row.shared_out)?;
        let ([(low, high)], [index]) = (ranges.as_slice(), row.shared_out.as_slice()) else {
            return None;
        };
        let is_plain = row.is_held || part.statement.reduced().next().is_none();
        if low.as_number() != Some(0) || !is_plain {
            return None;
        }
        tensors.extend(fours::tensors(function, part.statement, (*index, high))?);
        if !extents.contains(high) {
            extents.push(high.clone());
        }
    }
    (!extents.is_empty()).then_some((tensors, extents))
}

/// Under which condition rows are read by four, if ever, as a condition of the host.
pub(in crate::tensor::emit) fn fours(
    function: &Function,
    kernel: &Kernel<'_>,
    rows: &Rows,
) -> Option<String> {
    let (mut tensors, extents) = along(function, kernel, rows)?;
    tensors.sort_unstable();
    tensors.dedup();
    let extents: Vec<&Linear> = extents.iter().collect();
    let is_possible = extents
        .iter()
        .all(|extent| extent.as_number().is_none_or(|number| number % 4 == 0));
    is_possible.then(|| {
        let condition = fours::condition(function, &tensors, &extents);
        match rows.team {
            // The block then has all of its threads.
            Team::Block => {
                let length = length(function, kernel, rows);
                format!("{condition} && {length} >= {}", MOST_THREADS * 2)
            }
            _ => condition,
        }
    })
}

/// The loop of several parts by four neighbours.
pub(super) fn run(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    numbers: Range<usize>,
    lines: &mut Lines,
) {
    open_elements(function, (kernel, rows), (&numbers, 4), lines);
    copies(function, (kernel, rows), &numbers, lines);
    for number in numbers.clone() {
        let (part, row) = (&kernel.parts[number], &rows.parts[number]);
        let (statement, index) = (part.statement, row.shared_out[0]);
        let Some(high) = statement.variables[index].high.linear() else {
            continue;
        };
        let before = |tensor: usize, subscripts: &[Subscript]| {
            at_hand(
                function,
                (kernel, rows),
                (number, &numbers),
                (tensor, subscripts),
            )
            .map(one_of_four)
        };
        let outer = Scope {
            statement,
            held: &before,
        };
        if !row.is_held {
            lines.line(&format!("__align__(16) float tc_new_{number}[4];"));
        }
        let depth = lines.depth;
        lines.open("");
        row_indices(function, kernel, part, lines);
        lines.line(&format!(
            "const long long {} = tc_at;",
            statement.variables[index].name
        ));
        let loaded = fours::reads(function, statement, (index, high));
        for four in &loaded {
            fours::load(function, outer, four, lines);
        }
        let held = |tensor: usize, subscripts: &[Subscript]| {
            fours::find(&loaded, tensor, subscripts).or_else(|| before(tensor, subscripts))
        };
        let scope = Scope {
            statement,
            held: &held,
        };
        let places = row_places(function, (kernel, rows), number);
        if let (false, Operator::Reduce(_, false)) = (row.is_held, statement.operator) {
            lines.line(&format!(
                "*reinterpret_cast<float4 *>(tc_new_{number}) = *reinterpret_cast<const float4 *>(&{});",
                places[places.len() - 1]
            ));
        }
        fours::each(lines);
        let term = values::value_as(function, scope, &statement.value, Scalar::Float);
        let line = match (row.is_held, statement.operator) {
            (true, Operator::Reduce(reduction, _)) => {
                let computed = function.tensors[statement.target].scalar.computed();
                let term = values::value_as(function, scope, &statement.value, computed);
                accumulate(reduction, computed, &format!("tc_value_{number}"), &term)
            }
            (_, Operator::Reduce(reduction, false)) => accumulate(
                reduction,
                Scalar::Float,
                &format!("tc_new_{number}[tc_j]"),
                &term,
            ),
            (_, Operator::Reduce(reduction, true)) => {
                let neutral = values::neutral(reduction, Scalar::Float);
                let value = values::joined(reduction, Scalar::Float, &neutral, &term);
                format!("tc_new_{number}[tc_j] = {value};")
            }
            (_, Operator::Assign) => format!("tc_new_{number}[tc_j] = {term};"),
        };
        lines.line(&line);
        lines.close_to(lines.depth - 1);
        if !row.is_held {
            fours::store(&format!("tc_new_{number}"), &places, lines);
        }
        lines.close_to(depth);
    }
}

/// Copies of inputs that the loop of some parts makes.
fn copies(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    numbers: &Range<usize>,
    lines: &mut Lines,
) {
    for input in copied(function, (kernel, rows), numbers) {
        let (name, row) = (&input.name, &input.row);
        lines.line(&format!("__align__(16) float tc_new_{name}[4];"));
        lines.line(&format!(
            "*reinterpret_cast<float4 *>(tc_new_{name}) = *reinterpret_cast<const float4 *>(&({row})[tc_at]);"
        ));
        let (indent, copy) = match input.is_kept {
            true => ("", format!("tc_keep_{name}[tc_turn * 4]")),
            false => {
                lines.line("if (tc_fits)");
                ("    ", format!("tc_copy_{name}[tc_at]"))
            }
        };
        lines.line(&format!(
            "{indent}*reinterpret_cast<float4 *>(&{copy}) = *reinterpret_cast<const float4 *>(tc_new_{name});"
        ));
    }
}

/// Where the element of the row is that a part makes; the last one is the nearest.
fn row_places(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    number: usize,
) -> Vec<String> {
    let part = &kernel.parts[number];
    let (target, subscripts) = (part.statement.target, &part.statement.subscripts);
    let place = values::place(function, part.statement, target, subscripts);
    let memory = format!("{}[{place}]", function.tensors[target].name);
    let mut arrays = rows.arrays.iter();
    let is_stored = arrays
        .find(|array| array.tensor == target)
        .is_none_or(|array| array.is_stored);
    let element = in_row(function, (kernel, rows), part, target, subscripts);
    let element = element.map(|element| match memory::four_registers(&element) {
        Some(array) => format!("{array}[0]"),
        None => element,
    });
    match element {
        Some(element) if is_stored => vec![memory, element],
        Some(element) => vec![element],
        None => vec![memory],
    }
}
