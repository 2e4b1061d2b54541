//! The threads that compute a row together: which one a thread is, how they share loops out, wait, and join what they have.

use super::memory::four_registers;
use super::{bracketed, memory};
use crate::tensor::emit::kernels::Lines;
use crate::tensor::emit::values::{self, Scope};
use crate::tensor::emit::{factor, rows::join, size};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::Kernel;
use crate::tensor::program::{Function, Statement};
use crate::tensor::syntax::tree::Reduction;
use crate::tensor::transform::Rows;
use crate::tensor::transform::rows::{MOST_THREADS, Team};
use std::ops::Range;

/// Lanes of a warp.
const WARP: usize = 32;

/// How a team is spoken of.
pub(super) struct TeamText {
    /// The number of a thread in it.
    pub thread: &'static str,
    /// How many threads it has.
    pub count: String,
    /// Its threads wait for each other.
    pub barrier: String,
    /// What holds of one of its threads, which writes what all have.
    pub first: &'static str,
    /// Threads that have no row stay, as the others wait for them: what holds of those that have one.
    pub has_row: Option<&'static str>,
}

impl TeamText {
    pub fn of(rows: &Rows) -> Self {
        match rows.team {
            Team::Block => Self {
                thread: "threadIdx.x",
                count: "blockDim.x".to_owned(),
                barrier: "__syncthreads();".to_owned(),
                first: "threadIdx.x == 0",
                has_row: None,
            },
            Team::Lanes { lanes, .. } => Self {
                thread: "tc_lane",
                count: lanes.to_string(),
                barrier: match lanes {
                    WARP => "__syncwarp();".to_owned(),
                    _ => "__syncwarp(tc_lanes);".to_owned(),
                },
                first: "tc_lane == 0",
                has_row: None,
            },
            Team::Columns { threads } => Self {
                thread: "tc_lane",
                count: threads.to_string(),
                barrier: "__syncthreads();".to_owned(),
                first: "tc_lane == 0 && tc_has_row",
                has_row: Some("tc_has_row"),
            },
        }
    }
}

/// Threads of a block, as a number where it is one.
pub(in crate::tensor::emit) fn block_threads(rows: &Rows) -> Option<usize> {
    match rows.team {
        Team::Block => None,
        Team::Lanes { lanes, rows } => Some(lanes * rows),
        Team::Columns { threads } => Some(threads * WARP),
    }
}

/// Rows of a block.
pub(in crate::tensor::emit) fn block_rows(rows: &Rows) -> usize {
    match rows.team {
        Team::Block => 1,
        Team::Lanes { rows, .. } => rows,
        Team::Columns { .. } => WARP,
    }
}

/// What a kernel of such a team begins with: which row a thread computes, and which of its threads it is.
pub(super) fn begin(function: &Function, kernel: &Kernel<'_>, rows: &Rows, lines: &mut Lines) {
    let all: Vec<String> = kernel
        .threads
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    let all = all.join(" * ");
    match rows.team {
        Team::Block => lines.line("const long long tc_row = blockIdx.x;"),
        Team::Lanes { lanes, rows } => {
            lines.line(&format!("const int tc_lane = threadIdx.x % {lanes};"));
            lines.line(&format!(
                "const long long tc_row = (long long)blockIdx.x * {rows} + threadIdx.x / {lanes};"
            ));
            if lanes < WARP {
                let mask = (1_u64 << lanes) - 1;
                lines.line(&format!(
                    "const unsigned tc_lanes = {mask:#x}u << (threadIdx.x % {WARP} / {lanes} * {lanes});"
                ));
            }
        }
        Team::Columns { .. } => {
            lines.line(&format!("const int tc_lane = threadIdx.x / {WARP};"));
            lines.line(&format!(
                "const long long tc_row = (long long)blockIdx.x * {WARP} + threadIdx.x % {WARP};"
            ));
            lines.line(&format!("const bool tc_has_row = tc_row < {all};"));
            return;
        }
    }
    if !kernel.threads.is_empty() {
        lines.line(&format!("if (tc_row >= {all})"));
        lines.line("    return;");
    }
}

/// What all threads of a team have in a variable, joined.
pub(super) fn reduce(rows: &Rows, (value, by_four): (&str, bool), reduction: Reduction) -> String {
    let join = join(reduction);
    match rows.team {
        Team::Block => {
            let threads = match by_four {
                true => format!("tc_fours ? {MOST_THREADS} : 0"),
                false => "0".to_owned(),
            };
            format!("{value} = tc_reduce<{threads}>({value}, {join}());")
        }
        Team::Lanes { lanes: WARP, .. } => {
            format!("{value} = tc_reduce_lanes<{WARP}>({value}, {join}());")
        }
        Team::Lanes { lanes, .. } => {
            format!("{value} = tc_reduce_team<{lanes}>({value}, tc_lanes, {join}());")
        }
        Team::Columns { threads } => {
            format!("{value} = tc_reduce_columns<{threads}>({value}, {join}());")
        }
    }
}

/// Opens what only threads that have a row do, if others are there.
pub(super) fn open_row(rows: &Rows, lines: &mut Lines) {
    if let Some(condition) = TeamText::of(rows).has_row {
        lines.open(&format!("if ({condition})"));
    }
}

/// Opens the loop in which the threads of a row take elements of some parts that are in one loop, one or four at a time. The
/// caller closes it. Where elements stay in registers, it is unrolled.
pub(super) fn open_elements(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    (numbers, at_once): (&Range<usize>, usize),
    lines: &mut Lines,
) {
    let team = TeamText::of(rows);
    let statement = kernel.parts[numbers.start].statement;
    let shared_out = &rows.parts[numbers.start].shared_out;
    let all: Vec<String> = shared_out
        .iter()
        .map(|index| extent(function, statement, *index))
        .collect();
    let all = all.join(" * ");
    if let Some((threads, elements)) = turns(kernel, rows, numbers) {
        let count = elements.div_ceil(threads * at_once);
        lines.line("#pragma unroll");
        lines.open(&format!(
            "for (int tc_turn = 0; tc_turn < {count}; ++tc_turn)"
        ));
        let step = threads * at_once;
        lines.line(&match at_once {
            1 => format!(
                "const long long tc_at = tc_turn * {step} + {};",
                team.thread
            ),
            _ => format!(
                "const long long tc_at = tc_turn * {step} + {} * {at_once};",
                team.thread
            ),
        });
        if !elements.is_multiple_of(step) {
            lines.open(&format!("if (tc_at < {elements})"));
        }
        return;
    }
    match at_once {
        1 => lines.open(&format!(
            "for (long long tc_at = {}; tc_at < {all}; tc_at += {})",
            team.thread, team.count
        )),
        _ => {
            let step = match rows.team {
                Team::Block => (MOST_THREADS * at_once).to_string(),
                _ => format!("{} * {at_once}", team.count),
            };
            // Rows have a multiple of four; said this way, it is plain that nothing behind them is touched.
            lines.line(&format!("const long long tc_end = {all} - 3;"));
            lines.open(&format!(
                "for (long long tc_at = {} * {at_once}; tc_at < tc_end; tc_at += {step})",
                team.thread
            ));
        }
    }
}

/// Threads and elements of the loop of some parts, where an element of theirs stays in a register.
pub(super) fn turns(
    kernel: &Kernel<'_>,
    rows: &Rows,
    numbers: &Range<usize>,
) -> Option<(usize, usize)> {
    let mut keeps = false;
    for part in &kernel.parts[numbers.clone()] {
        part.statement
            .reads(&mut |tensor, _| keeps |= rows.keeps(tensor));
        keeps |= rows.keeps(part.statement.target);
    }
    let threads = rows.threads.filter(|_| keeps)?;
    let statement = kernel.parts[numbers.start].statement;
    let shared_out = rows.parts[numbers.start].shared_out.iter();
    let extents = shared_out.map(|index| {
        let variable = &statement.variables[*index];
        let extent = variable.high.linear()?.subtract(variable.low.linear()?)?;
        usize::try_from(extent.as_number()?).ok()
    });
    Some((threads, extents.product::<Option<usize>>()?))
}

/// An element that four at once find in registers, as one of the counter `tc_j`.
pub(super) fn one_of_four(element: String) -> String {
    match four_registers(&element) {
        Some(array) => format!("{array}[tc_j]"),
        None if element.starts_with("tc_new_") => format!("{element}[tc_j]"),
        None => element,
    }
}

/// The loop by which the threads of a row share out ranges.
pub(super) fn share_out(
    function: &Function,
    (scope, rows): (Scope<'_>, &Rows),
    indices: &[usize],
    on_left: bool,
    lines: &mut Lines,
) {
    let team = TeamText::of(rows);
    let statement = scope.statement;
    if let ([index], false) = (indices, on_left) {
        let variable = &statement.variables[*index];
        let low = values::bound(function, scope, &variable.low);
        let high = values::bound(function, scope, &variable.high);
        let start = match low.as_str() {
            "0" => team.thread.to_owned(),
            // A negative number and an unsigned one would be a large one.
            _ => format!("{low} + (long long){}", team.thread),
        };
        let name = &variable.name;
        lines.line(&format!("const long long tc_end_{name} = {high};"));
        lines.open(&format!(
            "for (long long {name} = {start}; {name} < tc_end_{name}; {name} += {})",
            team.count
        ));
        return;
    }
    let all: Vec<String> = indices
        .iter()
        .map(|index| extent(function, statement, *index))
        .collect();
    lines.open(&format!(
        "for (long long tc_at = {}; tc_at < {}; tc_at += {})",
        team.thread,
        all.join(" * "),
        team.count
    ));
    shared_indices(function, scope, indices, lines);
}

/// The names of the indices that a thread takes of such a loop.
pub(super) fn shared_indices(
    function: &Function,
    scope: Scope<'_>,
    indices: &[usize],
    lines: &mut Lines,
) {
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
pub(super) fn extent(function: &Function, statement: &Statement, index: usize) -> String {
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

/// Whether a loop of some parts copies inputs, or keeps elements in registers.
pub(super) fn is_whole_loop(kernel: &Kernel<'_>, rows: &Rows, numbers: &Range<usize>) -> bool {
    let copies = rows
        .arrays
        .iter()
        .any(|array| array.copied_by.is_some_and(|by| numbers.contains(&by)));
    copies || turns(kernel, rows, numbers).is_some()
}

/// The inputs that the loop of some parts copies: name, type, the place in device memory, and the expression that it is assigned to, which
/// says when.
pub(super) fn copied(
    function: &Function,
    (kernel, rows): (&Kernel<'_>, &Rows),
    numbers: &Range<usize>,
) -> Vec<Copied> {
    let mut found = Vec::new();
    for array in &rows.arrays {
        if array.copied_by.is_some_and(|by| numbers.contains(&by)) {
            let tensor = &function.tensors[array.tensor];
            found.push(Copied {
                name: tensor.name.clone(),
                cuda: tensor.scalar.cuda(),
                row: memory::row_place(function, kernel, array),
                is_kept: rows.keeps(array.tensor),
            });
        }
    }
    found
}

/// An input that a loop copies.
pub(super) struct Copied {
    pub name: String,
    pub cuda: &'static str,
    /// Its row in device memory.
    pub row: String,
    /// The copy is in registers.
    pub is_kept: bool,
}
