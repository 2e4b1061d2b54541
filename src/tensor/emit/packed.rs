//! A packing: blocks of several kernels side by side in one launch.

use super::kernels::{self, Lines, parameters, passed};
use super::{product, rows};
use crate::tensor::mapping::{Kernel, Plan};
use crate::tensor::program::Function;
use crate::tensor::transform::rows::MOST_THREADS;

/// Dynamic shared memory of rows at most: other parts have shared memory of their own.
const MOST_BYTES: usize = 36 * 1024;

/// The text of a packing.
pub(super) fn kernel(
    function: &Function,
    (kernel, parts): (&Kernel<'_>, &[Kernel<'_>]),
    name: &str,
    source: &str,
) -> String {
    let mut text = String::new();
    for (number, part) in parts.iter().enumerate() {
        text += &as_function(function, part, &format!("{name}_part{number}"), source);
        text.push('\n');
    }
    let mut lines = Lines::default();
    lines.line("// Blocks of several kernels side by side.");
    let mut all = vec![parameters(function, kernel)];
    for number in 1..parts.len() {
        all.push(format!("unsigned tc_blocks{}", number - 1));
    }
    for (number, part) in parts.iter().enumerate() {
        all.extend(choices(function, part).map(|choice| format!("bool {choice}{number}")));
    }
    lines.line(&format!(
        "static __global__ void __launch_bounds__({MOST_THREADS}) {name}({})",
        all.join(", ")
    ));
    lines.open("");
    lines.line("unsigned tc_block = blockIdx.x;");
    for (number, part) in parts.iter().enumerate() {
        let depth = lines.depth;
        let is_last = number + 1 == parts.len();
        if !is_last {
            lines.open(&format!("if (tc_block < tc_blocks{number})"));
        }
        let mut given = vec!["tc_block".to_owned(), passed(function, part)];
        given.retain(|one| !one.is_empty());
        given.extend(choices(function, part).map(|choice| format!("{choice}{number}")));
        lines.line(&format!("{name}_part{number}({});", given.join(", ")));
        if !is_last {
            lines.line("return;");
            lines.close_to(depth);
            lines.line(&format!("tc_block -= tc_blocks{number};"));
        }
    }
    lines.close_to(0);
    text + &lines.text
}

/// What the launcher chooses for a kernel: names of parameters.
fn choices(function: &Function, kernel: &Kernel<'_>) -> impl Iterator<Item = &'static str> {
    let (mut fits, mut fours) = (None, None);
    if let Plan::Rows(plan) = &kernel.plan {
        fits = rows::is_shared(plan).then_some("tc_fits");
        fours = rows::fours(function, kernel, plan).map(|_| "tc_fours");
    }
    fits.into_iter().chain(fours)
}

/// A kernel as a function of the number of its block.
fn as_function(function: &Function, kernel: &Kernel<'_>, name: &str, source: &str) -> String {
    let text = match &kernel.plan {
        Plan::Rows(plan) => rows::kernel(function, (kernel, plan), name, source),
        _ => kernels::kernel(function, kernel, name, source),
    };
    let (global, device) = (
        "static __global__ void",
        "static __device__ __forceinline__ void",
    );
    let bounds = format!("{global} __launch_bounds__({MOST_THREADS}) {name}(");
    let own = format!("{device} {name}(unsigned tc_block, ");
    let text = text
        .replace(&bounds, &own)
        .replace(&format!("{global} {name}("), &own)
        .replace(
            &format!("void {name}_row("),
            &format!("void {name}_row(unsigned tc_block, "),
        )
        // A kernel that is passed nothing else.
        .replace("unsigned tc_block, )", "unsigned tc_block)")
        .replace("blockIdx.x", "tc_block")
        .replace("blockDim.x", &MOST_THREADS.to_string());
    // Calls of what is apart for each choice.
    let lines = text.lines().map(|line| {
        let is_call = line.trim_start().starts_with(&format!("{name}_row<"));
        match is_call {
            true => line.replacen(">(", ">(tc_block, ", 1),
            false => line.to_owned(),
        }
    });
    lines.map(|line| line + "\n").collect()
}

/// Blocks of a kernel of blocks of as many threads as a packing has.
fn blocks(function: &Function, kernel: &Kernel<'_>) -> String {
    let points = product(function, &kernel.threads);
    match &kernel.plan {
        Plan::Rows(_) if kernel.threads.is_empty() => "1u".to_owned(),
        Plan::Rows(plan) => {
            let each = rows::block_rows(plan);
            format!(
                "static_cast<unsigned>(tc_max(({points} + {}) / {each}, 1))",
                each - 1
            )
        }
        _ => format!("tc_blocks({points})"),
    }
}

/// The lines of a launch: what it needs, and what is passed of it.
pub(super) struct Launch {
    pub lines: Vec<String>,
    pub shape: String,
    pub shared: String,
    pub more: String,
}

/// How a packing is launched.
pub(super) fn launch(function: &Function, parts: &[Kernel<'_>]) -> Launch {
    let (mut lines, mut more) = (Vec::new(), String::new());
    let (mut all, mut shared) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter().enumerate() {
        let name = format!("tc_blocks{number}");
        lines.push(format!(
            "const unsigned {name} = {};",
            blocks(function, part)
        ));
        if number + 1 < parts.len() {
            more += &format!(", {name}");
        }
        all.push(name);
    }
    for (number, part) in parts.iter().enumerate() {
        let Plan::Rows(plan) = &part.plan else {
            continue;
        };
        if rows::is_shared(plan) {
            let bytes = rows::bytes(function, part, plan);
            lines.push(format!("const long long tc_bytes{number} = {bytes};"));
            lines.push(format!(
                "const bool tc_fits{number} = tc_bytes{number} <= {MOST_BYTES};"
            ));
            more += &format!(", tc_fits{number}");
            shared.push(format!("(tc_fits{number} ? tc_bytes{number} : 0)"));
        }
        if let Some(condition) = rows::fours(function, part, plan) {
            lines.push(format!("const bool tc_fours{number} = {condition};"));
            more += &format!(", tc_fours{number}");
        }
    }
    let mut shared = shared.into_iter();
    let first = shared.next().unwrap_or_else(|| "0".to_owned());
    Launch {
        lines,
        shape: format!("{}, {MOST_THREADS}", all.join(" + ")),
        shared: shared.fold(first, |most, one| format!("tc_max({most}, {one})")),
        more,
    }
}
