//! Where the rows of tensors lie: registers, shared memory, device memory.

use super::team::TeamText;
use super::{by_four, fours};
use crate::tensor::emit::factor;
use crate::tensor::emit::kernels::Lines;
use crate::tensor::emit::values::{self, bracketed};
use crate::tensor::mapping::{Kernel, Part};
use crate::tensor::program::{Function, Subscript};
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{
    MOST_BYTES, RowArray, RowPlace, Team, behind_row, registers, row_extents,
};
use crate::tensor::types::Scalar;

/// Elements of a row of a tensor.
fn row_elements(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> String {
    let extents = row_extents(function, kernel, array.tensor);
    let extents: Vec<String> = extents
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    extents.join(" * ")
}

/// Bytes of shared memory that a row takes, with what the next one is aligned by.
fn row_bytes(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> String {
    let bytes = function.tensors[array.tensor].scalar.bytes();
    let elements = row_elements(function, kernel, array);
    format!("({elements} * {bytes} + 15) / 16 * 16")
}

/// The rows after which regions of shared memory are made, in their order.
fn regions(rows: &Rows) -> impl Iterator<Item = &RowArray> {
    let arrays = rows.arrays.iter().enumerate();
    arrays
        .filter(|(number, array)| array.place == RowPlace::Shared { region: *number })
        .map(|(_, array)| array)
}

/// Bytes of shared memory that all regions of a row take.
fn team_bytes(function: &Function, kernel: &Kernel<'_>, rows: &Rows) -> String {
    let each: Vec<String> = regions(rows)
        .map(|array| row_bytes(function, kernel, array))
        .collect();
    each.join(" + ")
}

/// Bytes of shared memory that all rows of a block take.
pub(in crate::tensor::emit) fn bytes(
    function: &Function,
    kernel: &Kernel<'_>,
    rows: &Rows,
) -> String {
    let bytes = team_bytes(function, kernel, rows);
    match rows.team {
        Team::Lanes { rows, .. } => format!("{rows} * ({bytes})"),
        _ => bytes,
    }
}

/// Whether that many bytes are there, as a condition of the host.
pub(in crate::tensor::emit) fn fit() -> String {
    format!("tc_bytes <= {MOST_BYTES}")
}

/// Whether rows may lie in shared memory, which the launcher then decides.
pub(in crate::tensor::emit) fn is_shared(rows: &Rows) -> bool {
    rows.shared().next().is_some()
}

/// Where the rows of tensors lie, and copies of those that are inputs.
pub(super) fn declare(function: &Function, kernel: &Kernel<'_>, rows: &Rows, lines: &mut Lines) {
    for array in rows.arrays.iter().filter(|array| rows.keeps(array.tensor)) {
        let tensor = &function.tensors[array.tensor];
        let count = (rows.threads)
            .and_then(|threads| registers(function, (kernel, threads), array.tensor))
            .unwrap_or(1);
        let (cuda, name) = (tensor.scalar.cuda(), &tensor.name);
        lines.line(&format!("__align__(16) {cuda} tc_keep_{name}[{count}];"));
    }
    if !is_shared(rows) {
        return;
    }
    lines.line("extern __shared__ __align__(16) unsigned char tc_shared[];");
    let mut base = "tc_shared".to_owned();
    if let Team::Lanes { lanes, .. } = rows.team {
        let bytes = team_bytes(function, kernel, rows);
        lines.line(&format!(
            "unsigned char *const tc_team = tc_shared + threadIdx.x / {lanes} * ({bytes});"
        ));
        base = "tc_team".to_owned();
    }
    // By four, rows have a multiple of four elements.
    let of_fours = fours(function, kernel, rows)
        .and_then(|_| by_four::along(function, kernel, rows))
        .map(|(_, extents)| extents);
    let mut offsets = vec![String::new(); rows.arrays.len()];
    let mut offset = base;
    for (number, array) in rows.arrays.iter().enumerate() {
        if array.place != (RowPlace::Shared { region: number }) {
            continue;
        }
        offsets[number].clone_from(&offset);
        let tensor = &function.tensors[array.tensor];
        let by_four =
            (of_fours.iter().flatten()).any(|extent| Some(extent) == tensor.extents.last());
        let bytes = row_bytes(function, kernel, array);
        let elements = row_elements(function, kernel, array);
        offset += &match by_four && tensor.scalar == Scalar::Float {
            true => format!(" + (tc_fours ? {elements} * 4 : {bytes})"),
            false => format!(" + {bytes}"),
        };
    }
    for array in &rows.arrays {
        let RowPlace::Shared { region } = array.place else {
            continue;
        };
        let tensor = &function.tensors[array.tensor];
        let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
        let row = row_place(function, kernel, array);
        let here = format!("reinterpret_cast<{cuda} *>({})", offsets[region]);
        match array.is_copied {
            true => {
                lines.line(&format!("{cuda} *const tc_copy_{name} = {here};"));
                lines.line(&format!(
                    "const {cuda} *const tc_row_{name} = tc_fits ? tc_copy_{name} : {row};"
                ));
            }
            false => lines.line(&format!(
                "{cuda} *const tc_row_{name} = tc_fits ? {here} : {row};"
            )),
        }
    }
    copies(function, kernel, rows, lines);
}

/// Copies of inputs that no loop makes.
fn copies(function: &Function, kernel: &Kernel<'_>, rows: &Rows, lines: &mut Lines) {
    let before = |array: &&RowArray| array.is_copied && array.copied_by.is_none();
    if !rows.shared().any(|array| before(&array)) {
        return;
    }
    let team = TeamText::of(rows);
    lines.open("if (tc_fits)");
    for array in rows.shared().filter(before) {
        let name = &function.tensors[array.tensor].name;
        let elements = row_elements(function, kernel, array);
        let row = row_place(function, kernel, array);
        lines.line(&format!(
            "for (long long tc_at = {}; tc_at < {elements}; tc_at += {})",
            team.thread, team.count
        ));
        lines.line(&format!("    tc_copy_{name}[tc_at] = ({row})[tc_at];"));
    }
    lines.line(&team.barrier);
    lines.close_to(lines.depth - 1);
}

/// The row of a tensor in device memory.
pub(super) fn row_place(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> String {
    let name = &function.tensors[array.tensor].name;
    let elements = row_elements(function, kernel, array);
    match kernel.threads.is_empty() {
        true => name.clone(),
        false => format!("{name} + tc_row * {}", bracketed(&elements)),
    }
}

/// An element of a row that lies in a register, or in shared memory where it fits.
pub(super) fn in_row(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    part: &Part<'_>,
    tensor: usize,
    subscripts: &[Subscript],
) -> Option<String> {
    rows.arrays.iter().find(|array| array.tensor == tensor)?;
    let rest = behind_row(kernel, part, subscripts)?;
    let name = &function.tensors[tensor].name;
    if rows.keeps(tensor) {
        return Some(format!("tc_keep_{name}[tc_turn]"));
    }
    let extents = row_extents(function, kernel, tensor);
    let mut place = String::new();
    for (subscript, extent) in rest.iter().zip(extents) {
        let index = values::form(function, part.statement, subscript.linear.as_ref()?);
        place = match place.is_empty() {
            true => index,
            false => format!(
                "{} * {} + {}",
                bracketed(&place),
                factor(function, extent),
                bracketed(&index)
            ),
        };
    }
    Some(format!("tc_row_{name}[{place}]"))
}

/// The four registers of an element that is one in a register of its own.
pub(super) fn four_registers(element: &str) -> Option<String> {
    let array = element.strip_suffix("[tc_turn]")?;
    Some(format!("({array} + tc_turn * 4)"))
}
