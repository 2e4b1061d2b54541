//! The function that a program calls: it checks sizes, allocates temporaries and launches.

use super::{BLOCK_THREADS, factor, interface, kernel_name, kernels, rows, size, tiles};
use crate::tensor::fault::place;
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Plan, Step};
use crate::tensor::program::{Function, Role, SymbolKind};
use std::fmt::Write;

/// `void mv(cudaStream_t stream, int M, …)`.
pub(super) fn signature(function: &Function) -> String {
    let each = parameters(function).map(|(_, cuda, name)| format!("{cuda}{name}"));
    let each: Vec<String> = std::iter::once("cudaStream_t stream".to_owned())
        .chain(each)
        .collect();
    format!("void {}({})", function.name, each.join(", "))
}

/// What a parameter is.
enum ParameterKind {
    Size,
    Other,
}

/// Parameters behind the stream: what each is, its type with what stands before the name, and its name.
fn parameters(function: &Function) -> impl Iterator<Item = (ParameterKind, String, &str)> {
    let sizes = function
        .symbols
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Size);
    let sizes = sizes.map(|symbol| (ParameterKind::Size, "int ".to_owned(), symbol.name.as_str()));
    let tensors = interface(function).map(|number| {
        let tensor = &function.tensors[number];
        let cuda = tensor.scalar.cuda();
        let before = match tensor.role {
            Role::Value => format!("{cuda} "),
            Role::Input => format!("const {cuda} *"),
            _ => format!("{cuda} *"),
        };
        (ParameterKind::Other, before, tensor.name.as_str())
    });
    sizes.chain(tensors)
}

/// The text of the launcher.
pub(super) fn launcher(
    function: &Function,
    steps: &[Step<'_>],
    (name, source): (&str, &str),
) -> String {
    // Inside of it, sizes have 64 bits.
    let mut text = format!("static {}\n{{\n", inner_signature(function));
    checks(function, (name, source), &mut text);
    let mut kernels = Vec::new();
    super::all_kernels(steps, &mut kernels);
    let passed: Vec<usize> = kernels
        .iter()
        .flat_map(|kernel| super::arguments(function, kernel).tensors)
        .map(|(tensor, _)| tensor)
        .collect();
    let temporaries: Vec<_> = (function.tensors.iter().enumerate())
        .filter(|(number, tensor)| tensor.role == Role::Temporary && passed.contains(number))
        .map(|(_, tensor)| tensor)
        .collect();
    for tensor in &temporaries {
        let cuda = tensor.scalar.cuda();
        let count = product(function, &tensor.extents);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "    {cuda} *{} = nullptr;", tensor.name);
        let _ = writeln!(
            text,
            "    if (cudaMallocAsync((void **)&{0}, sizeof({cuda}) * ({count} + 1), stream) != cudaSuccess)\n        \
             tc_refuse(\"{1}: {2}: there is no memory for the temporary '{0}'\", {count}, sizeof({cuda}));",
            tensor.name,
            literal(name),
            function.name,
        );
    }
    let mut number = 0;
    launches(function, steps, 1, &mut number, &mut text);
    for tensor in temporaries.iter().rev() {
        let _ = writeln!(text, "    cudaFreeAsync({}, stream);", tensor.name);
    }
    text += "}\n\n";
    let passed = parameters(function).map(|(_, _, name)| name);
    let passed: Vec<&str> = std::iter::once("stream").chain(passed).collect();
    let _ = writeln!(
        text,
        "{}\n{{\n    {}({});\n}}",
        signature(function),
        inner_name(function),
        passed.join(", ")
    );
    text
}

fn inner_name(function: &Function) -> String {
    format!("tc_{}", function.name)
}

fn inner_signature(function: &Function) -> String {
    let each = parameters(function).map(|(kind, cuda, name)| match kind {
        ParameterKind::Size => format!("long long {name}"),
        ParameterKind::Other => format!("{cuda}{name}"),
    });
    let each: Vec<String> = std::iter::once("cudaStream_t stream".to_owned())
        .chain(each)
        .collect();
    format!("void {}({})", inner_name(function), each.join(", "))
}

/// Extents multiplied.
fn product(function: &Function, extents: &[Linear]) -> String {
    let factors: Vec<String> = extents
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    match factors.is_empty() {
        true => "1".to_owned(),
        false => factors.join(" * "),
    }
}

fn literal(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', " ")
}

fn checks(function: &Function, (name, source): (&str, &str), text: &mut String) {
    let at = |byte: usize| {
        format!(
            "{}:{}: {}",
            literal(name),
            place(source, byte).0,
            function.name
        )
    };
    let sizes = function
        .symbols
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Size);
    let sizes: Vec<&str> = sizes.map(|symbol| symbol.name.as_str()).collect();
    if !sizes.is_empty() {
        let conditions: Vec<String> = sizes.iter().map(|size| format!("{size} < 0")).collect();
        let least = sizes[1..].iter().fold(sizes[0].to_owned(), |least, size| {
            format!("tc_min({least}, {size})")
        });
        let _ = writeln!(
            text,
            "    if ({})\n        tc_refuse(\"{}: a size is negative: {}\", {least}, 0);",
            conditions.join(" || "),
            at(function.span.start),
            sizes.join(", "),
        );
    }
    let mut seen = Vec::new();
    for tensor in &function.tensors {
        for (dimension, extent) in tensor.extents.iter().enumerate() {
            if function.is_natural(extent, &|_| false) || seen.contains(&extent) {
                continue;
            }
            seen.push(extent);
            let extent = size(function, extent);
            let _ = writeln!(
                text,
                "    if ({extent} < 0)\n        tc_refuse(\"{}: the extent {dimension} of '{}' is negative\", {extent}, 0);",
                at(tensor.span.start),
                literal(&tensor.name),
            );
        }
    }
    for check in &function.checks {
        let (left, right) = (size(function, &check.left), size(function, &check.right));
        let mut condition = String::new();
        for count in &check.when_positive {
            let _ = write!(condition, "{} > 0 && ", size(function, count));
        }
        let operator = if check.equal { "!=" } else { ">" };
        let _ = writeln!(
            text,
            "    if ({condition}{left} {operator} {right})\n        tc_refuse(\"{}: {}\", {left}, {right});",
            at(check.span.start),
            literal(&check.message),
        );
    }
}

fn launches(
    function: &Function,
    steps: &[Step<'_>],
    depth: usize,
    number: &mut usize,
    text: &mut String,
) {
    let indent = "    ".repeat(depth);
    for step in steps {
        match step {
            Step::Kernel(kernel) => {
                let name = kernel_name(function, *number);
                *number += 1;
                let passed = kernels::passed(function, kernel);
                let (mut shared, mut passed) = ("0", passed);
                let shape = match &kernel.plan {
                    Plan::Elements if kernel.threads.is_empty() => "1, 1".to_owned(),
                    Plan::Elements => {
                        let threads = product(function, &kernel.threads);
                        format!("tc_blocks({threads}), {BLOCK_THREADS}")
                    }
                    Plan::Tiles(tiles) => {
                        let blocks = tiles::blocks(function, kernel, tiles).join(" * ");
                        let blocks = format!("static_cast<unsigned>({blocks})");
                        format!("{blocks}, {}", tiles::threads(tiles))
                    }
                    Plan::Rows(plan) => {
                        if !plan.arrays.is_empty() {
                            let bytes = rows::bytes(function, kernel, plan);
                            let _ = writeln!(text, "{indent}{{");
                            let _ =
                                writeln!(text, "{indent}    const long long tc_bytes = {bytes};");
                            let _ =
                                writeln!(text, "{indent}    const bool tc_fits = {};", rows::fit());
                            shared = "tc_fits ? tc_bytes : 0";
                            passed += ", tc_fits";
                        }
                        let blocks = match kernel.threads.is_empty() {
                            true => "1".to_owned(),
                            false => {
                                let rows = product(function, &kernel.threads);
                                format!("static_cast<unsigned>(tc_max({rows}, 1))")
                            }
                        };
                        let length = rows::length(function, kernel, plan);
                        format!("{blocks}, tc_row_threads({length})")
                    }
                };
                let launch = format!("{name}<<<{shape}, {shared}, stream>>>({passed});");
                match shared {
                    "0" => {
                        let _ = writeln!(text, "{indent}{launch}");
                    }
                    _ => {
                        let _ = writeln!(text, "{indent}    {launch}\n{indent}}}");
                    }
                }
            }
            Step::Loop {
                symbol,
                low,
                high,
                body,
            } => {
                let symbol = &function.symbols[*symbol].name;
                let (low, high) = (size(function, low), size(function, high));
                let _ = writeln!(
                    text,
                    "{indent}for (long long {symbol} = {low}; {symbol} < {high}; ++{symbol}) {{"
                );
                launches(function, body, depth + 1, number, text);
                let _ = writeln!(text, "{indent}}}");
            }
        }
    }
}
