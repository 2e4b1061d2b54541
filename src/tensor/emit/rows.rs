//! A kernel of rows: the row's place, what of it lies in shared memory, and one statement after the other.

mod by_four;
mod memory;
mod team;

pub(super) use by_four::fours;
pub(super) use memory::{bytes, fit, is_shared};
pub(super) use team::{block_rows, block_threads};

use super::factor;
use super::kernels::{Lines, accumulate, comment, open_loop, parameters, passed, take};
use super::values::{self, Scope, bracketed};
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Subscript};
use crate::tensor::syntax::tree::{Operator, Reduction};
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{MOST_THREADS, RowArray, Team, holder, place, ranges};
use memory::in_row;
use std::ops::Range;
use team::{TeamText, share_out, shared_indices};

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

/// The text of a kernel of rows.
pub(super) fn kernel(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    name: &str,
    source: &str,
) -> String {
    let mut lines = Lines::default();
    lines.line(match rows.team {
        Team::Block => "// A block computes a row.",
        Team::Lanes { .. } => "// Lanes of a warp compute a row.",
        Team::Columns { .. } => {
            "// A thread of each warp of a block computes a column with the others."
        }
    });
    let all = parameters(function, kernel);
    let threads = block_threads(rows).unwrap_or(MOST_THREADS);
    let head = format!("static __global__ void __launch_bounds__({threads}) {name}");
    // Where rows may lie in shared memory, or may be read by four, the code for either is apart.
    let by_four = fours(function, kernel, rows).is_some();
    let is_chosen = [("tc_fits", is_shared(rows)), ("tc_fours", by_four)];
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
    team::begin(function, kernel, rows, &mut lines);
    memory::declare(function, kernel, rows, &mut lines);
    let mut start = 0;
    while start < kernel.parts.len() {
        let behind = rows.parts[start + 1..].iter().take_while(|row| row.joins);
        let end = start + 1 + behind.count();
        if rows.parts[start].barrier {
            lines.line(&TeamText::of(rows).barrier);
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
        let in_loop = by_four && !rows.parts[start].shared_out.is_empty();
        let in_loop = in_loop || team::is_whole_loop(kernel, rows, &(start..end));
        match end == start + 1 && !in_loop {
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
    team::open_row(rows, lines);
    let of_rows = lines.depth;
    if by_four {
        lines.open("if (tc_fours)");
        by_four::run(function, (kernel, rows), numbers.clone(), lines);
        lines.close_to(of_rows);
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
    let depth = lines.depth;
    team::open_elements(function, (kernel, rows), (&numbers, 1), lines);
    for input in team::copied(function, (kernel, rows), &numbers) {
        let (name, cuda, row) = (&input.name, input.cuda, &input.row);
        lines.line(&format!("const {cuda} tc_new_{name} = ({row})[tc_at];"));
        match input.is_kept {
            true => lines.line(&format!("tc_keep_{name}[tc_turn] = tc_new_{name};")),
            false => {
                lines.line("if (tc_fits)");
                lines.line(&format!("    tc_copy_{name}[tc_at] = tc_new_{name};"));
            }
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

fn taken<'p>(part: &'p Part<'_>) -> &'p [usize] {
    match &part.work {
        Work::Compute { taken, .. } => taken,
        Work::Initialise => &[],
    }
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
        team::open_row(rows, lines);
        share_out(function, (scope, rows), &row.shared_out, true, lines);
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
        team::open_row(rows, lines);
        let sequential = statement
            .reduced()
            .filter(|index| !row.shared_out.contains(index));
        for index in sequential {
            open_loop(function, scope, index, lines);
        }
        share_out(function, (scope, rows), &row.shared_out, false, lines);
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
                    let by_four = fours(function, kernel, rows).is_some();
                    lines.line(&team::reduce(rows, (&value, by_four), reduction));
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
    let team = TeamText::of(rows);
    if let Some(condition) = team.has_row {
        lines.line(&format!("if ({condition})"));
    }
    let indent = team.has_row.map_or("", |_| "    ");
    lines.line(&format!("{indent}{own} = {stored};"));
    statement.value.reads(&mut |tensor, subscripts| {
        reads_itself |= tensor == statement.target && held(tensor, subscripts).is_none();
    });
    if row.is_stored {
        // All have read the element before one changes it.
        if reads_itself {
            lines.line(&team.barrier);
        }
        lines.line(&format!("if ({})", team.first));
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
