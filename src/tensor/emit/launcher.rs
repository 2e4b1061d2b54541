//! The function that a program calls: it checks sizes, allocates temporaries and launches.

use super::{
    BLOCK_THREADS, all_kernels, interface, kernel_name, kernels, layers, packed, product, rows,
    size, tiles,
};
use crate::tensor::fault::place;
use crate::tensor::mapping::{Kernel, Plan, Step};
use crate::tensor::program::{Function, Role, SymbolKind};
use crate::tensor::transform::Layers;
use crate::tensor::transform::layers::THREADS as LAYER_THREADS;
use crate::tensor::transform::rows::SHORT_ROW;
use crate::tensor::versions::{Version, When};
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
    (steps, others): (&[Step<'_>], &[Version<'_>]),
    (name, source): (&str, &str),
) -> String {
    // Inside of it, sizes have 64 bits.
    let mut text = format!("static {}\n{{\n", inner_signature(function));
    checks(function, (name, source), &mut text);
    // Kernels of other versions are numbered behind those for all sizes.
    let mut general = Vec::new();
    all_kernels(steps, &mut general);
    let mut number = general.len();
    for other in others {
        let _ = writeln!(text, "    if ({}) {{", are_sizes(other));
        let mut launches = Launches {
            function: other.function,
            name,
            text,
            number,
        };
        launches.all(&other.steps, 2);
        launches.line(2, "return;");
        launches.line(1, "}");
        (text, number) = (launches.text, launches.number);
    }
    let mut launches = Launches {
        function,
        name,
        text,
        number: 0,
    };
    launches.all(steps, 1);
    let mut text = launches.text;
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

/// Whether the sizes of a call are those of a version.
fn are_sizes(version: &Version<'_>) -> String {
    let function = version.function;
    match version.when {
        When::Sizes(sizes) => {
            let symbols = function.symbols.iter();
            let names = symbols.filter(|symbol| symbol.kind == SymbolKind::Size);
            let each = names.zip(sizes);
            let each: Vec<String> = each
                .map(|(symbol, number)| format!("{} == {number}", symbol.name))
                .collect();
            each.join(" && ")
        }
        When::Few(all) => {
            let each = all.iter().map(|few| {
                let (most, least) = (few.most_elements, few.least_terms);
                let terms = format!("{} >= {least}", size(function, &few.terms));
                match few.elements.is_empty() {
                    true => terms,
                    false => format!("{} <= {most} && {terms}", product(function, &few.elements)),
                }
            });
            let each: Vec<String> = each.collect();
            match each.as_slice() {
                [only] => only.clone(),
                several => format!("({})", several.join(") || (")),
            }
        }
    }
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

/// The body of a launcher behind its checks.
struct Launches<'f> {
    function: &'f Function,
    /// The file as messages name it.
    name: &'f str,
    text: String,
    /// How many kernels were launched so far.
    number: usize,
}

impl Launches<'_> {
    fn line(&mut self, depth: usize, line: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(depth));
    }

    /// Temporaries that kernels get and that are not among the given ones; what only some sizes need is apart.
    fn temporaries(&self, steps: &[Step<'_>], known: &[usize]) -> Vec<usize> {
        // Of a choice in a loop, what either needs is there before the loop.
        fn passed(function: &Function, steps: &[Step<'_>], in_loop: bool, found: &mut Vec<usize>) {
            for step in steps {
                match step {
                    Step::Kernel(kernel)
                    | Step::Either {
                        together: kernel, ..
                    } => {
                        let tensors = super::arguments(function, kernel).tensors;
                        found.extend(tensors.into_iter().map(|(tensor, _)| tensor));
                    }
                    Step::Loop { body, .. } => passed(function, body, true, found),
                }
                if let (Step::Either { apart, .. }, true) = (step, in_loop) {
                    passed(function, apart, true, found);
                }
            }
        }
        let mut found = Vec::new();
        passed(self.function, steps, false, &mut found);
        found.retain(|tensor| {
            self.function.tensors[*tensor].role == Role::Temporary && !known.contains(tensor)
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// All launches, with the temporaries that they need.
    fn all(&mut self, steps: &[Step<'_>], depth: usize) {
        let temporaries = self.temporaries(steps, &[]);
        self.allocate(&temporaries, depth);
        self.steps(steps, &temporaries, depth);
        self.free(&temporaries, depth);
    }

    fn allocate(&mut self, temporaries: &[usize], depth: usize) {
        for tensor in temporaries {
            let tensor = &self.function.tensors[*tensor];
            let cuda = tensor.scalar.cuda();
            let count = product(self.function, &tensor.extents);
            self.line(depth, &format!("{cuda} *{} = nullptr;", tensor.name));
            let test = format!(
                "if (cudaMallocAsync((void **)&{}, sizeof({cuda}) * ({count} + 1), stream) != cudaSuccess)",
                tensor.name
            );
            self.line(depth, &test);
            let message = format!(
                "{}: {}: there is no memory for the temporary '{}'",
                literal(self.name),
                self.function.name,
                tensor.name
            );
            let refuse = format!("    tc_refuse(\"{message}\", {count}, sizeof({cuda}));");
            self.line(depth, &refuse);
        }
    }

    fn free(&mut self, temporaries: &[usize], depth: usize) {
        for tensor in temporaries.iter().rev() {
            let name = &self.function.tensors[*tensor].name;
            self.line(depth, &format!("cudaFreeAsync({name}, stream);"));
        }
    }

    fn steps(&mut self, steps: &[Step<'_>], allocated: &[usize], depth: usize) {
        for step in steps {
            match step {
                Step::Kernel(kernel) => self.kernel(kernel, depth),
                Step::Either { together, apart } => {
                    self.either((together, apart), allocated, depth);
                }
                Step::Loop {
                    symbol,
                    low,
                    high,
                    body,
                } => {
                    let symbol = &self.function.symbols[*symbol].name;
                    let (low, high) = (size(self.function, low), size(self.function, high));
                    let head = format!(
                        "for (long long {symbol} = {low}; {symbol} < {high}; ++{symbol}) {{"
                    );
                    self.line(depth, &head);
                    self.steps(body, allocated, depth + 1);
                    self.line(depth, "}");
                }
            }
        }
    }

    /// One launch where the sizes allow it, else others.
    fn either(
        &mut self,
        (together, apart): (&Kernel<'_>, &[Step<'_>]),
        allocated: &[usize],
        depth: usize,
    ) {
        match &together.plan {
            Plan::Layers(layers) => {
                let bytes = layers::bytes(self.function, layers);
                let condition = layers::condition(self.function, layers);
                self.line(depth, "{");
                self.line(depth + 1, &format!("const long long tc_bytes = {bytes};"));
                self.line(depth + 1, &format!("if ({condition}) {{"));
                let fours = self.fours(layers, depth + 2);
                let launch = self.launch(together, "tc_bytes", fours);
                self.line(depth + 2, &launch);
                self.otherwise(apart, allocated, depth + 1);
                self.line(depth, "}");
            }
            Plan::Rows(plan) => {
                let length = rows::length(self.function, together, plan);
                self.line(depth, &format!("if ({length} <= {SHORT_ROW}) {{"));
                self.kernel(together, depth + 1);
                self.otherwise(apart, allocated, depth);
            }
            _ => unreachable!("the launcher chooses layers and rows"),
        }
    }

    /// The other side of a choice.
    fn otherwise(&mut self, apart: &[Step<'_>], allocated: &[usize], depth: usize) {
        self.line(depth, "} else {");
        let mut known = allocated.to_vec();
        let temporaries = self.temporaries(apart, &known);
        known.extend(&temporaries);
        self.allocate(&temporaries, depth + 1);
        self.steps(apart, &known, depth + 1);
        self.free(&temporaries, depth + 1);
        self.line(depth, "}");
    }

    fn kernel(&mut self, kernel: &Kernel<'_>, depth: usize) {
        match &kernel.plan {
            Plan::Rows(plan) => {
                let fours = rows::fours(self.function, kernel, plan);
                if !rows::is_shared(plan) && fours.is_none() {
                    let launch = self.launch(kernel, "0", "");
                    return self.line(depth, &launch);
                }
                let (mut shared, mut more) = ("0", String::new());
                self.line(depth, "{");
                if rows::is_shared(plan) {
                    let bytes = rows::bytes(self.function, kernel, plan);
                    self.line(depth + 1, &format!("const long long tc_bytes = {bytes};"));
                    self.line(depth + 1, &format!("const bool tc_fits = {};", rows::fit()));
                    (shared, more) = ("tc_fits ? tc_bytes : 0", ", tc_fits".to_owned());
                }
                if let Some(condition) = fours {
                    self.line(depth + 1, &format!("const bool tc_fours = {condition};"));
                    more += ", tc_fours";
                }
                let launch = self.launch(kernel, shared, &more);
                self.line(depth + 1, &launch);
                self.line(depth, "}");
            }
            Plan::Layers(plan) => {
                let bytes = layers::bytes(self.function, plan);
                self.line(depth, "{");
                let fours = self.fours(plan, depth + 1);
                let launch = self.launch(kernel, &bytes, fours);
                self.line(depth + 1, &launch);
                self.line(depth, "}");
            }
            Plan::Packed(parts) => {
                let own = packed::launch(self.function, parts);
                self.line(depth, "{");
                for line in &own.lines {
                    self.line(depth + 1, line);
                }
                let launch = self.launch(kernel, &own.shared, &own.more);
                self.line(depth + 1, &launch);
                self.line(depth, "}");
            }
            Plan::Elements | Plan::Tiles(_) | Plan::Nest(_) => {
                let launch = self.launch(kernel, "0", "");
                self.line(depth, &launch);
            }
        }
    }

    /// Says whether stages load four elements at once; what the kernel gets of it.
    fn fours(&mut self, layers: &Layers<'_>, depth: usize) -> &'static str {
        match layers::fours(self.function, layers) {
            Some(condition) => {
                self.line(depth, &format!("const bool tc_fours = {condition};"));
                ", tc_fours"
            }
            None => "",
        }
    }

    fn launch(&mut self, kernel: &Kernel<'_>, shared: &str, more: &str) -> String {
        let function = self.function;
        let name = kernel_name(function, self.number);
        self.number += 1;
        let passed = kernels::passed(function, kernel);
        let shape = match &kernel.plan {
            Plan::Elements | Plan::Nest(_) if kernel.threads.is_empty() => "1, 1".to_owned(),
            Plan::Elements | Plan::Nest(_) => {
                let threads = product(function, &kernel.threads);
                format!("tc_blocks({threads}), {BLOCK_THREADS}")
            }
            Plan::Tiles(tiles) => {
                let blocks = tiles::blocks(function, kernel, tiles).join(" * ");
                let blocks = format!("static_cast<unsigned>({blocks})");
                format!("{blocks}, {}", tiles::threads(tiles))
            }
            Plan::Rows(plan) => {
                let blocks = match (kernel.threads.is_empty(), rows::block_rows(plan)) {
                    (true, _) => "1".to_owned(),
                    (false, 1) => {
                        let rows = product(function, &kernel.threads);
                        format!("static_cast<unsigned>(tc_max({rows}, 1))")
                    }
                    (false, each) => {
                        let rows = product(function, &kernel.threads);
                        format!(
                            "static_cast<unsigned>(tc_max(({rows} + {}) / {each}, 1))",
                            each - 1
                        )
                    }
                };
                let threads = match rows::block_threads(plan) {
                    Some(threads) => threads.to_string(),
                    None => {
                        let length = rows::length(function, kernel, plan);
                        match rows::fours(function, kernel, plan) {
                            Some(_) => {
                                format!("tc_fours ? {BLOCK_THREADS} : tc_row_threads({length})")
                            }
                            None => format!("tc_row_threads({length})"),
                        }
                    }
                };
                format!("{blocks}, {threads}")
            }
            Plan::Layers(plan) => {
                let blocks = layers::blocks(function, kernel, plan);
                format!("static_cast<unsigned>({blocks}), {}", LAYER_THREADS)
            }
            Plan::Packed(parts) => packed::launch(function, parts).shape,
        };
        format!("{name}<<<{shape}, {shared}, stream>>>({passed}{more});")
    }
}
