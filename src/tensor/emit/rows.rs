//! A kernel of rows: the row's place, what of it lies in shared memory, and one statement after the other.

use super::kernels::{Lines, accumulate, comment, open_loop, parameters, take};
use super::values::{self, Scope, bracketed};
use super::{factor, size};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Statement, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{RowArray, behind_row, holder};

/// Threads of a block at most.
const MOST_THREADS: usize = 256;
/// Shared memory of rows at most, in bytes: what every GPU gives, less what reductions need.
const ROW_BYTES: usize = 47 * 1024;

/// The length of the longest range that the threads of a block share out, as a number of the host.
pub(super) fn length(function: &Function, kernel: &Kernel<'_>, rows: &Rows) -> String {
    let mut lengths: Vec<String> = Vec::new();
    for (part, row) in kernel.parts.iter().zip(&rows.parts) {
        let extents = row.shared_out.iter().map(|index| {
            let variable = &part.statement.variables[*index];
            let extent = variable.high.linear()?.subtract(variable.low.linear()?)?;
            (!extent.has_variables()).then(|| factor(function, &extent))
        });
        // What only the row or data say may be long.
        let extents: Option<Vec<String>> = extents.collect();
        let text = match extents {
            Some(extents) if extents.is_empty() => continue,
            Some(extents) => extents.join(" * "),
            None => MOST_THREADS.to_string(),
        };
        if !lengths.contains(&text) {
            lengths.push(text);
        }
    }
    let mut lengths = lengths.into_iter();
    let first = lengths.next().unwrap_or_else(|| "1".to_owned());
    lengths.fold(first, |most, length| format!("tc_max({most}, {length})"))
}

/// Elements of a row of a tensor.
fn row_elements(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> String {
    let extents = &function.tensors[array.tensor].extents[kernel.threads.len()..];
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

/// Bytes of shared memory that all rows take.
pub(super) fn bytes(function: &Function, kernel: &Kernel<'_>, rows: &Rows) -> String {
    let arrays = rows.arrays.iter();
    let each: Vec<String> = arrays
        .map(|array| row_bytes(function, kernel, array))
        .collect();
    each.join(" + ")
}

/// Whether that many bytes are there, as a condition of the host.
pub(super) fn fit() -> String {
    format!("tc_bytes <= {ROW_BYTES}")
}

/// The text of a kernel of rows.
pub(super) fn kernel(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    name: &str,
    source: &str,
) -> String {
    let mut lines = Lines::default();
    lines.line("// A block computes a row.");
    let mut all = vec![parameters(function, kernel)];
    if !rows.arrays.is_empty() {
        all.push("bool tc_fits".to_owned());
    }
    lines.line(&format!(
        "static __global__ void __launch_bounds__({MOST_THREADS}) {name}({})",
        all.join(", ")
    ));
    lines.line("{");
    lines.depth = 1;
    lines.line("const long long tc_row = blockIdx.x;");
    if !kernel.threads.is_empty() {
        let all: Vec<String> = kernel
            .threads
            .iter()
            .map(|extent| factor(function, extent))
            .collect();
        lines.line(&format!("if (tc_row >= {})", all.join(" * ")));
        lines.line("    return;");
    }
    shared(function, kernel, rows, &mut lines);
    for (number, part) in kernel.parts.iter().enumerate() {
        let row = &rows.parts[number];
        if row.barrier {
            lines.line("__syncthreads();");
        }
        lines.line(&format!("// {}", comment(source, part.statement.span)));
        let target = &function.tensors[part.statement.target];
        if row.is_held {
            lines.line(&format!("{} tc_element_{number};", target.scalar.cuda()));
        }
        let depth = lines.depth;
        lines.open("");
        let names = taken(part).iter().map(|index| {
            let variable = &part.statement.variables[*index];
            let low = variable.low.linear().cloned().unwrap_or_default();
            (variable.name.clone(), low)
        });
        take(function, ("tc_row", &kernel.threads), names, &mut lines);
        self::part(function, (kernel, rows), number, &mut lines);
        lines.close_to(depth);
    }
    lines.depth = 0;
    lines.line("}");
    lines.text
}

/// Where the rows of tensors lie, and copies of those that are inputs.
fn shared(function: &Function, kernel: &Kernel<'_>, rows: &Rows, lines: &mut Lines) {
    if rows.arrays.is_empty() {
        return;
    }
    lines.line("extern __shared__ __align__(16) unsigned char tc_shared[];");
    let mut offset = String::new();
    for array in &rows.arrays {
        let tensor = &function.tensors[array.tensor];
        let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
        let elements = row_elements(function, kernel, array);
        let place = match kernel.threads.is_empty() {
            true => name.clone(),
            false => format!("{name} + tc_row * {}", bracketed(&elements)),
        };
        let here = format!("reinterpret_cast<{cuda} *>(tc_shared{offset})");
        match array.is_copied {
            true => lines.line(&format!("const {cuda} *tc_row_{name} = {place};")),
            false => lines.line(&format!(
                "{cuda} *const tc_row_{name} = tc_fits ? {here} : {place};"
            )),
        }
        offset += &format!(" + {}", row_bytes(function, kernel, array));
    }
    if !rows.arrays.iter().any(|array| array.is_copied) {
        return;
    }
    lines.open("if (tc_fits)");
    let mut offset = String::new();
    for array in &rows.arrays {
        let tensor = &function.tensors[array.tensor];
        let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
        if array.is_copied {
            let elements = row_elements(function, kernel, array);
            lines.line(&format!(
                "{cuda} *const tc_copy_{name} = reinterpret_cast<{cuda} *>(tc_shared{offset});"
            ));
            lines.line(&format!(
                "for (long long tc_at = threadIdx.x; tc_at < {elements}; tc_at += blockDim.x)"
            ));
            lines.line(&format!("    tc_copy_{name}[tc_at] = tc_row_{name}[tc_at];"));
            lines.line(&format!("tc_row_{name} = tc_copy_{name};"));
        }
        offset += &format!(" + {}", row_bytes(function, kernel, array));
    }
    lines.line("__syncthreads();");
    lines.close_to(lines.depth - 1);
}

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
}

/// An element of a row that lies in shared memory where it fits.
fn in_row(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    part: &Part<'_>,
    tensor: usize,
    subscripts: &[Subscript],
) -> Option<String> {
    rows.arrays.iter().find(|array| array.tensor == tensor)?;
    let rest = behind_row(kernel, part, subscripts)?;
    let extents = &function.tensors[tensor].extents[kernel.threads.len()..];
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
    Some(format!("tc_row_{}[{place}]", function.tensors[tensor].name))
}

/// One statement for the row.
fn part(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    number: usize,
    lines: &mut Lines,
) {
    let (part, row) = (&kernel.parts[number], &rows.parts[number]);
    let statement = part.statement;
    let target = &function.tensors[statement.target];
    let computed = target.scalar.computed();
    let held = |tensor: usize, subscripts: &[Subscript]| {
        match holder(kernel, &rows.parts[..number], part, tensor, subscripts) {
            Some(writer) => Some(format!("tc_element_{writer}")),
            None => in_row(function, (kernel, rows), part, tensor, subscripts),
        }
    };
    let scope = Scope {
        statement,
        held: &held,
    };
    let place = values::place(function, scope, statement.target, &statement.subscripts);
    let memory = format!("{}[{place}]", target.name);
    let element = held(statement.target, &statement.subscripts).unwrap_or_else(|| memory.clone());
    let first = match statement.operator {
        Operator::Reduce(reduction, true) => Some(values::neutral(reduction, target.scalar)),
        Operator::Reduce(_, false) => Some(values::loaded(&element, target.scalar)),
        Operator::Assign => None,
    };
    if !row.is_held {
        share_out(function, scope, &row.shared_out, true, lines);
        let value = match (statement.operator, first) {
            (Operator::Reduce(reduction, _), Some(first)) => {
                lines.line(&format!("{} tc_value = {first};", computed.cuda()));
                let depth = lines.depth;
                for index in statement.reduced() {
                    open_loop(function, scope, index, lines);
                }
                let term = values::value_as(function, scope, &statement.value, computed);
                lines.line(&accumulate(reduction, computed, "tc_value", &term));
                lines.close_to(depth);
                "tc_value".to_owned()
            }
            _ => values::value_as(function, scope, &statement.value, computed),
        };
        let stored = values::stored(value, target.scalar, computed);
        let array = rows
            .arrays
            .iter()
            .find(|array| array.tensor == statement.target);
        match array {
            Some(array) if array.is_stored => {
                lines.line(&format!("{memory} = {element} = {stored};"));
            }
            _ => lines.line(&format!("{element} = {stored};")),
        }
        return;
    }
    let own = format!("tc_element_{number}");
    let mut reads_itself = first.as_ref().is_some_and(|first| first.contains(&memory));
    statement.reads(&mut |tensor, subscripts| {
        reads_itself |= tensor == statement.target && held(tensor, subscripts).is_none();
    });
    match statement.operator {
        Operator::Reduce(reduction, starts) if !row.shared_out.is_empty() => {
            let neutral = values::neutral(reduction, target.scalar);
            let cuda = computed.cuda();
            lines.line(&format!("{cuda} tc_value = {neutral};"));
            let before = first.filter(|_| !starts);
            if let Some(before) = &before {
                lines.line(&format!("const {cuda} tc_before = {before};"));
            }
            let depth = lines.depth;
            let sequential = statement
                .reduced()
                .filter(|index| !row.shared_out.contains(index));
            for index in sequential {
                open_loop(function, scope, index, lines);
            }
            share_out(function, scope, &row.shared_out, false, lines);
            let term = values::value_as(function, scope, &statement.value, computed);
            lines.line(&accumulate(reduction, computed, "tc_value", &term));
            lines.close_to(depth);
            let join = values::joined(reduction, computed, "a", "b");
            lines.line(&format!(
                "tc_value = tc_reduce(tc_value, []({cuda} a, {cuda} b) {{ return {join}; }});"
            ));
            let value = match before {
                Some(_) => values::joined(reduction, computed, "tc_before", "tc_value"),
                None => "tc_value".to_owned(),
            };
            let stored = values::stored(value, target.scalar, computed);
            lines.line(&format!("{own} = {stored};"));
        }
        Operator::Reduce(reduction, _) => {
            let term = values::value_as(function, scope, &statement.value, computed);
            let first = first.unwrap_or_default();
            let value = values::joined(reduction, computed, &first, &term);
            let stored = values::stored(value, target.scalar, computed);
            lines.line(&format!("{own} = {stored};"));
        }
        Operator::Assign => {
            let value = values::value_as(function, scope, &statement.value, computed);
            let stored = values::stored(value, target.scalar, computed);
            lines.line(&format!("{own} = {stored};"));
        }
    }
    if row.is_stored {
        // All have read the element before one changes it.
        if reads_itself {
            lines.line("__syncthreads();");
        }
        lines.line("if (threadIdx.x == 0)");
        lines.line(&format!("    {memory} = {own};"));
    }
}

/// The loop by which the threads of a block share out ranges.
fn share_out(
    function: &Function,
    scope: Scope<'_>,
    indices: &[usize],
    on_left: bool,
    lines: &mut Lines,
) {
    let statement = scope.statement;
    if let ([index], false) = (indices, on_left) {
        let variable = &statement.variables[*index];
        let low = values::bound(function, scope, &variable.low);
        let high = values::bound(function, scope, &variable.high);
        let start = match low.as_str() {
            "0" => "threadIdx.x".to_owned(),
            _ => format!("{low} + threadIdx.x"),
        };
        let name = &variable.name;
        lines.line(&format!("const long long tc_end_{name} = {high};"));
        lines.open(&format!(
            "for (long long {name} = {start}; {name} < tc_end_{name}; {name} += blockDim.x)"
        ));
        return;
    }
    let extent = |index: usize| extent(function, statement, index);
    let all: Vec<String> = indices.iter().map(|index| extent(*index)).collect();
    lines.open(&format!(
        "for (long long tc_at = threadIdx.x; tc_at < {}; tc_at += blockDim.x)",
        all.join(" * ")
    ));
    for (position, index) in indices.iter().enumerate() {
        let variable = &statement.variables[*index];
        let mut text = "tc_at".to_owned();
        match &all[position + 1..] {
            [] => {}
            [only] => text += &format!(" / {only}"),
            several => text += &format!(" / ({})", several.join(" * ")),
        }
        if position > 0 {
            text += &format!(" % {}", all[position]);
        }
        let low = values::bound(function, scope, &variable.low);
        if low != "0" {
            text = format!("{low} + {text}");
        }
        lines.line(&format!("const long long {} = {text};", variable.name));
    }
}

/// How many values an index has, as a factor.
fn extent(function: &Function, statement: &Statement, index: usize) -> String {
    let variable = &statement.variables[index];
    let both = variable.high.linear().zip(variable.low.linear());
    let difference: Option<Linear> = both.and_then(|(high, low)| high.subtract(low));
    let text = match &difference {
        Some(form) if !form.has_variables() => size(function, form),
        Some(form) => values::form(function, statement, form),
        None => "0".to_owned(),
    };
    bracketed(&text)
}
