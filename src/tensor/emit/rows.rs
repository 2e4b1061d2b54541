//! A kernel of rows: the row's place, what of it lies in shared memory, and one statement after the other.

mod by_four;

pub(super) use by_four::fours;

use super::kernels::{Lines, accumulate, comment, open_loop, parameters, passed, take};
use super::values::{self, Scope, bracketed};
use super::{factor, size};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Statement, Subscript};
use crate::tensor::syntax::tree::{Operator, Reduction};
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{RowArray, behind_row, holder, place, ranges};
use crate::tensor::types::Scalar;
use std::ops::Range;

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
    let all = parameters(function, kernel);
    let head = format!("static __global__ void __launch_bounds__({MOST_THREADS}) {name}");
    // Where rows may lie in shared memory, or may be read by four, the code for either is apart.
    let by_four = fours(function, kernel, rows).is_some();
    let is_chosen = [("tc_fits", !rows.arrays.is_empty()), ("tc_fours", by_four)];
    let chosen = is_chosen.iter().filter(|(_, is_chosen)| *is_chosen);
    let chosen: Vec<String> = chosen.map(|(name, _)| format!("bool {name}")).collect();
    match !chosen.is_empty() {
        true => {
            lines.line(&format!("template <{}>", chosen.join(", ")));
            lines.line(&format!(
                "static __device__ __forceinline__ void {name}_row({all})"
            ));
        }
        false => lines.line(&format!("{head}({all})")),
    }
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
    let mut start = 0;
    while start < kernel.parts.len() {
        let behind = rows.parts[start + 1..].iter().take_while(|row| row.joins);
        let end = start + 1 + behind.count();
        if rows.parts[start].barrier {
            lines.line("__syncthreads();");
        }
        for (number, part) in kernel.parts.iter().enumerate().take(end).skip(start) {
            lines.line(&format!("// {}", comment(source, part.statement.span)));
            let target = &function.tensors[part.statement.target];
            if rows.parts[number].is_held {
                lines.line(&format!("{} tc_element_{number};", target.scalar.cuda()));
            }
        }
        let depth = lines.depth;
        lines.open("");
        let copies = rows
            .arrays
            .iter()
            .any(|array| array.copied_by.is_some_and(|by| (start..end).contains(&by)));
        let in_loop = by_four && !rows.parts[start].shared_out.is_empty();
        match end == start + 1 && !copies && !in_loop {
            true => {
                row_indices(function, kernel, &kernel.parts[start], &mut lines);
                self::part(function, (kernel, rows), start, &mut lines);
            }
            false => joined(function, (kernel, rows), (start..end, by_four), &mut lines),
        }
        lines.close_to(depth);
        start = end;
    }
    lines.depth = 0;
    lines.line("}");
    let body = without_unused(&lines.text);
    let passed = passed(function, kernel);
    let cases: &[(&str, &str)] = match (chosen.len(), by_four) {
        (0, _) => return body,
        (1, false) => &[("tc_fits", "true"), ("", "false")],
        (1, true) => &[("tc_fours", "true"), ("", "false")],
        _ => &[
            ("tc_fits && tc_fours", "true, true"),
            ("tc_fits", "true, false"),
            ("", "false, false"),
        ],
    };
    let calls = cases.iter().map(|(condition, arguments)| {
        let test = match condition.is_empty() {
            true => String::new(),
            false => format!("if ({condition})"),
        };
        format!("    {test}\n        {name}_row<{arguments}>({passed});\n")
    });
    let calls: Vec<String> = calls.collect();
    let calls = calls.join("    else");
    let calls = calls
        .replace("else    if", "else if")
        .replace("else    \n", "else\n");
    format!(
        "{body}\n{head}({all}, {})\n{{\n{calls}}}\n",
        chosen.join(", ")
    )
}

/// The text without the names of indices that nothing in their block uses.
fn without_unused(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    // From behind, so that what only an unused name uses is unused, too.
    for line in text.lines().rev() {
        let depth = |line: &str| line.len() - line.trim_start().len();
        let name = line
            .trim_start()
            .strip_prefix("const long long ")
            .and_then(|rest| rest.split_once(" = "))
            .map(|(name, _)| name);
        let is_used = name.is_none_or(|name| {
            let block = kept
                .iter()
                .rev()
                .take_while(|later| depth(later) >= depth(line));
            let is_name = |byte: char| byte.is_alphanumeric() || byte == '_';
            block
                .flat_map(|later| later.split(|byte| !is_name(byte)))
                .any(|word| word == name)
        });
        if is_used {
            kept.push(line);
        }
    }
    kept.reverse();
    kept.join("\n") + "\n"
}

/// The names of the row's indices.
fn row_indices(function: &Function, kernel: &Kernel<'_>, part: &Part<'_>, lines: &mut Lines) {
    let names = taken(part).iter().map(|index| {
        let variable = &part.statement.variables[*index];
        let low = variable.low.linear().cloned().unwrap_or_default();
        (variable.name.clone(), low)
    });
    take(function, ("tc_row", &kernel.threads), names, lines);
}

/// Several parts in one loop: what one makes the others have in registers.
fn joined(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    (numbers, by_four): (Range<usize>, bool),
    lines: &mut Lines,
) {
    for number in numbers.clone() {
        let part = &kernel.parts[number];
        let target = &function.tensors[part.statement.target];
        if let (Operator::Reduce(reduction, _), true) =
            (part.statement.operator, rows.parts[number].is_held)
        {
            let neutral = values::neutral(reduction, target.scalar);
            let cuda = target.scalar.computed().cuda();
            lines.line(&format!("{cuda} tc_value_{number} = {neutral};"));
        }
    }
    let depth = lines.depth;
    if by_four {
        lines.open("if (tc_fours)");
        by_four::run(function, (kernel, rows), numbers.clone(), lines);
        lines.close_to(depth);
        lines.open("else");
    }
    loop_of(function, (kernel, rows), numbers.clone(), lines);
    lines.close_to(depth);
    for number in numbers {
        let part = &kernel.parts[number];
        if rows.parts[number].is_held {
            let depth = lines.depth;
            lines.open("");
            row_indices(function, kernel, part, lines);
            reduced(function, (kernel, rows), number, lines);
            lines.close_to(depth);
        }
    }
}

/// The loop of several parts, element by element.
fn loop_of(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    numbers: Range<usize>,
    lines: &mut Lines,
) {
    let first = &kernel.parts[numbers.start];
    let shared_out = &rows.parts[numbers.start].shared_out;
    let all: Vec<String> = shared_out
        .iter()
        .map(|index| extent(function, first.statement, *index))
        .collect();
    let depth = lines.depth;
    lines.open(&format!(
        "for (long long tc_at = threadIdx.x; tc_at < {}; tc_at += blockDim.x)",
        all.join(" * ")
    ));
    for array in &rows.arrays {
        if array.copied_by.is_some_and(|by| numbers.contains(&by)) {
            let tensor = &function.tensors[array.tensor];
            let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
            let row = row_place(function, kernel, array);
            lines.line(&format!("const {cuda} tc_new_{name} = ({row})[tc_at];"));
            lines.line("if (tc_fits)");
            lines.line(&format!("    tc_copy_{name}[tc_at] = tc_new_{name};"));
        }
    }
    for number in numbers.clone() {
        let (part, row) = (&kernel.parts[number], &rows.parts[number]);
        let statement = part.statement;
        let target = &function.tensors[statement.target];
        let computed = target.scalar.computed();
        let held = |tensor: usize, subscripts: &[Subscript]| {
            at_hand(
                function,
                (kernel, rows),
                (number, &numbers),
                (tensor, subscripts),
            )
        };
        let scope = Scope {
            statement,
            held: &held,
        };
        if !row.is_held {
            lines.line(&format!("{} tc_new_{number};", target.scalar.cuda()));
        }
        let depth = lines.depth;
        lines.open("");
        row_indices(function, kernel, part, lines);
        shared_indices(function, scope, &row.shared_out, lines);
        match (row.is_held, statement.operator) {
            (true, Operator::Reduce(reduction, _)) => {
                let term = values::value_as(function, scope, &statement.value, computed);
                let value = format!("tc_value_{number}");
                lines.line(&accumulate(reduction, computed, &value, &term));
            }
            _ => inner_element(function, (kernel, rows), number, scope, lines),
        }
        lines.close_to(depth);
    }
    lines.close_to(depth);
}

/// What a read is in a loop of several parts, where it is at hand.
fn at_hand(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    (number, numbers): (usize, &Range<usize>),
    (tensor, subscripts): (usize, &[Subscript]),
) -> Option<String> {
    let (part, row) = (&kernel.parts[number], &rows.parts[number]);
    let own = ranges(part, &row.shared_out);
    if let Some(writer) = holder(kernel, &rows.parts[..number], part, tensor, subscripts) {
        return Some(format!("tc_element_{writer}"));
    }
    let place = place(kernel, part, subscripts, &row.shared_out);
    if place.is_some() && place == own {
        let writer = (numbers.start..number).rev().find(|before| {
            kernel.parts[*before].statement.target == tensor && !rows.parts[*before].is_held
        });
        let copies = |array: &&RowArray| {
            let by = array.copied_by.filter(|by| numbers.contains(by));
            array.tensor == tensor && by.is_some()
        };
        if let Some(writer) = writer {
            return Some(format!("tc_new_{writer}"));
        }
        if rows.arrays.iter().any(|array| copies(&array)) {
            return Some(format!("tc_new_{}", function.tensors[tensor].name));
        }
    }
    in_row(function, (kernel, rows), part, tensor, subscripts)
}

/// Where the rows of tensors lie, and copies of those that are inputs.
fn shared(function: &Function, kernel: &Kernel<'_>, rows: &Rows, lines: &mut Lines) {
    if rows.arrays.is_empty() {
        return;
    }
    lines.line("extern __shared__ __align__(16) unsigned char tc_shared[];");
    let mut offset = String::new();
    // By four, rows have a multiple of four elements.
    let of_fours = fours(function, kernel, rows)
        .and_then(|_| by_four::along(function, kernel, rows))
        .map(|(_, extents)| extents);
    for array in &rows.arrays {
        let last = function.tensors[array.tensor].extents.last();
        let by_four = (of_fours.iter().flatten()).any(|extent| Some(extent) == last);
        let tensor = &function.tensors[array.tensor];
        let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
        let row = row_place(function, kernel, array);
        let here = format!("reinterpret_cast<{cuda} *>(tc_shared{offset})");
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
        let bytes = row_bytes(function, kernel, array);
        let elements = row_elements(function, kernel, array);
        offset += &match by_four && tensor.scalar == Scalar::Float {
            true => format!(" + (tc_fours ? {elements} * 4 : {bytes})"),
            false => format!(" + {bytes}"),
        };
    }
    let before = |array: &&RowArray| array.is_copied && array.copied_by.is_none();
    if !rows.arrays.iter().any(|array| before(&array)) {
        return;
    }
    lines.open("if (tc_fits)");
    for array in rows.arrays.iter().filter(before) {
        let name = &function.tensors[array.tensor].name;
        let elements = row_elements(function, kernel, array);
        let row = row_place(function, kernel, array);
        lines.line(&format!(
            "for (long long tc_at = threadIdx.x; tc_at < {elements}; tc_at += blockDim.x)"
        ));
        lines.line(&format!("    tc_copy_{name}[tc_at] = ({row})[tc_at];"));
    }
    lines.line("__syncthreads();");
    lines.close_to(lines.depth - 1);
}

/// The row of a tensor in device memory.
fn row_place(function: &Function, kernel: &Kernel<'_>, array: &RowArray) -> String {
    let name = &function.tensors[array.tensor].name;
    let elements = row_elements(function, kernel, array);
    match kernel.threads.is_empty() {
        true => name.clone(),
        false => format!("{name} + tc_row * {}", bracketed(&elements)),
    }
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
        element_at_hand(function, (kernel, rows), number, tensor, subscripts)
    };
    let scope = Scope {
        statement,
        held: &held,
    };
    if !row.is_held {
        share_out(function, scope, &row.shared_out, true, lines);
        inner_element(function, (kernel, rows), number, scope, lines);
        return;
    }
    if let (Operator::Reduce(reduction, _), false) = (statement.operator, row.shared_out.is_empty())
    {
        let neutral = values::neutral(reduction, target.scalar);
        lines.line(&format!(
            "{} tc_value_{number} = {neutral};",
            computed.cuda()
        ));
        let depth = lines.depth;
        let sequential = statement
            .reduced()
            .filter(|index| !row.shared_out.contains(index));
        for index in sequential {
            open_loop(function, scope, index, lines);
        }
        share_out(function, scope, &row.shared_out, false, lines);
        let term = values::value_as(function, scope, &statement.value, computed);
        let value = format!("tc_value_{number}");
        lines.line(&accumulate(reduction, computed, &value, &term));
        lines.close_to(depth);
    }
    reduced(function, (kernel, rows), number, lines);
}

/// What a read is, where it is in a register of all threads or in the row.
fn element_at_hand(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    number: usize,
    tensor: usize,
    subscripts: &[Subscript],
) -> Option<String> {
    let part = &kernel.parts[number];
    match holder(kernel, &rows.parts[..number], part, tensor, subscripts) {
        Some(writer) => Some(format!("tc_element_{writer}")),
        None => in_row(function, (kernel, rows), part, tensor, subscripts),
    }
}

/// An element of the row that a thread makes by itself.
fn inner_element(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    number: usize,
    scope: Scope<'_>,
    lines: &mut Lines,
) {
    let part = &kernel.parts[number];
    let statement = part.statement;
    let target = &function.tensors[statement.target];
    let computed = target.scalar.computed();
    let place = values::place(function, scope, statement.target, &statement.subscripts);
    let memory = format!("{}[{place}]", target.name);
    let element = in_row(
        function,
        (kernel, rows),
        part,
        statement.target,
        &statement.subscripts,
    )
    .unwrap_or_else(|| memory.clone());
    let value = match statement.operator {
        Operator::Reduce(reduction, starts) => {
            let at_hand = (scope.held)(statement.target, &statement.subscripts);
            let before = at_hand.unwrap_or_else(|| memory.clone());
            let first = match starts {
                true => values::neutral(reduction, target.scalar),
                false => values::loaded(&before, target.scalar),
            };
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
        Operator::Assign => values::value_as(function, scope, &statement.value, computed),
    };
    let mut stored = values::stored(value, target.scalar, computed);
    let row = &rows.parts[number];
    let goes_on = rows.parts.get(number + 1).is_some_and(|next| next.joins);
    if row.joins
        || goes_on
        || rows
            .arrays
            .iter()
            .any(|array| array.copied_by == Some(number))
    {
        lines.line(&format!("tc_new_{number} = {stored};"));
        stored = format!("tc_new_{number}");
    }
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
}

/// The one element that a part makes: threads join what each has in `tc_value`, and one of them writes it.
fn reduced(
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
        element_at_hand(function, (kernel, rows), number, tensor, subscripts)
    };
    let scope = Scope {
        statement,
        held: &held,
    };
    let place = values::place(function, scope, statement.target, &statement.subscripts);
    let memory = format!("{}[{place}]", target.name);
    let at_hand = held(statement.target, &statement.subscripts);
    let (own, is_in_memory) = (format!("tc_element_{number}"), at_hand.is_none());
    let before = values::loaded(&at_hand.unwrap_or_else(|| memory.clone()), target.scalar);
    let mut reads_itself = is_in_memory && matches!(statement.operator, Operator::Reduce(_, false));
    let value = match statement.operator {
        Operator::Assign => values::value_as(function, scope, &statement.value, computed),
        Operator::Reduce(reduction, starts) => {
            let term = match row.shared_out.is_empty() {
                true => values::value_as(function, scope, &statement.value, computed),
                false => {
                    let value = format!("tc_value_{number}");
                    let join = join(reduction);
                    let threads = match fours(function, kernel, rows) {
                        Some(_) => format!("tc_fours ? {MOST_THREADS} : 0"),
                        None => "0".to_owned(),
                    };
                    lines.line(&format!(
                        "{value} = tc_reduce<{threads}>({value}, {join}());"
                    ));
                    value
                }
            };
            match starts {
                true if row.shared_out.is_empty() => {
                    let neutral = values::neutral(reduction, target.scalar);
                    values::joined(reduction, computed, &neutral, &term)
                }
                true => term,
                false => values::joined(reduction, computed, &before, &term),
            }
        }
    };
    let stored = values::stored(value, target.scalar, computed);
    lines.line(&format!("{own} = {stored};"));
    statement.value.reads(&mut |tensor, subscripts| {
        reads_itself |= tensor == statement.target && held(tensor, subscripts).is_none();
    });
    if row.is_stored {
        // All have read the element before one changes it.
        if reads_itself {
            lines.line("__syncthreads();");
        }
        lines.line("if (threadIdx.x == 0)");
        lines.line(&format!("    {memory} = {own};"));
    }
}

/// What joins two values of a reduction, as a type of the generated code.
pub(super) fn join(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Sum => "tc_join_sum",
        Reduction::Product => "tc_join_product",
        Reduction::Minimum => "tc_join_smallest",
        Reduction::Maximum => "tc_join_largest",
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
            // A negative number and an unsigned one would be a large one.
            _ => format!("{low} + (long long)threadIdx.x"),
        };
        let name = &variable.name;
        lines.line(&format!("const long long tc_end_{name} = {high};"));
        lines.open(&format!(
            "for (long long {name} = {start}; {name} < tc_end_{name}; {name} += blockDim.x)"
        ));
        return;
    }
    let all: Vec<String> = indices
        .iter()
        .map(|index| extent(function, statement, *index))
        .collect();
    lines.open(&format!(
        "for (long long tc_at = threadIdx.x; tc_at < {}; tc_at += blockDim.x)",
        all.join(" * ")
    ));
    shared_indices(function, scope, indices, lines);
}

/// The names of the indices that a thread takes of such a loop.
fn shared_indices(function: &Function, scope: Scope<'_>, indices: &[usize], lines: &mut Lines) {
    let statement = scope.statement;
    let all: Vec<String> = indices
        .iter()
        .map(|index| extent(function, statement, *index))
        .collect();
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
