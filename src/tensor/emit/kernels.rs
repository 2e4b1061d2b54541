//! One kernel: its parameters, the indices that a thread takes, and loops over the others.

use super::values::Scope;
use super::{Arguments, arguments, factor, size, values};
use crate::tensor::fault::Span;
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Role, Statement, SymbolKind};
use crate::tensor::syntax::tree::{Operator, Reduction};
use crate::tensor::types::Scalar;

/// Lines with their indentation.
#[derive(Default)]
pub(super) struct Lines {
    pub text: String,
    pub depth: usize,
}

impl Lines {
    pub fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.depth);
        self.text += line;
        self.text.push('\n');
    }

    pub fn open(&mut self, line: &str) {
        let space = if line.is_empty() { "" } else { " " };
        self.line(&format!("{line}{space}{{"));
        self.depth += 1;
    }

    pub fn close_to(&mut self, depth: usize) {
        while self.depth > depth {
            self.depth -= 1;
            self.line("}");
        }
    }
}

/// The text of a kernel.
pub(super) fn kernel(function: &Function, kernel: &Kernel<'_>, name: &str, source: &str) -> String {
    let mut lines = Lines::default();
    lines.line(&format!(
        "static __global__ void {name}({})",
        parameters(function, kernel)
    ));
    lines.line("{");
    lines.depth = 1;
    threads(function, kernel, &mut lines);
    let alone = kernel.parts.len() == 1;
    for part in &kernel.parts {
        lines.line(&format!("// {}", comment(source, part.statement.span)));
        let depth = lines.depth;
        if !alone {
            lines.line("{");
            lines.depth += 1;
        }
        self::part(function, kernel, part, &mut lines);
        lines.close_to(depth);
    }
    lines.depth = 0;
    lines.line("}");
    lines.text
}

/// The number of a thread; those that are too many end.
pub(super) fn threads(function: &Function, kernel: &Kernel<'_>, lines: &mut Lines) {
    if kernel.threads.is_empty() {
        return;
    }
    lines.line("const long long tc_thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;");
    let all: Vec<String> = kernel
        .threads
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    lines.line(&format!("if (tc_thread >= {})", all.join(" * ")));
    lines.line("    return;");
}

/// The statement in one line.
pub(super) fn comment(source: &str, span: Span) -> String {
    let text = source.get(span.start..span.end).unwrap_or_default();
    let words: Vec<&str> = text
        .lines()
        .map(without_comment)
        .flat_map(str::split_whitespace)
        .collect();
    words.join(" ").replace('\\', "")
}

fn without_comment(line: &str) -> &str {
    let end = [line.find('#'), line.find("//"), line.find("/*")]
        .into_iter()
        .flatten()
        .min();
    &line[..end.unwrap_or(line.len())]
}

pub(super) fn parameters(function: &Function, kernel: &Kernel<'_>) -> String {
    let arguments = arguments(function, kernel);
    let mut all: Vec<String> = numbers(function, &arguments)
        .map(|name| format!("long long {name}"))
        .collect();
    for (tensor, written) in &arguments.tensors {
        let tensor = &function.tensors[*tensor];
        let cuda = tensor.scalar.cuda();
        all.push(match (tensor.role, written) {
            (Role::Value, _) => format!("{cuda} {}", tensor.name),
            (_, true) => format!("{cuda} *{}", tensor.name),
            (_, false) => format!("const {cuda} *{}", tensor.name),
        });
    }
    all.join(", ")
}

/// Names of the numbers that a kernel takes and that are not among its tensors.
fn numbers<'f>(function: &'f Function, arguments: &'f Arguments) -> impl Iterator<Item = &'f str> {
    let is_also_tensor = |symbol: usize| match function.symbols[symbol].kind {
        SymbolKind::Value(tensor) => arguments.tensors.iter().any(|(known, _)| *known == tensor),
        _ => false,
    };
    let symbols = arguments.symbols.iter();
    symbols
        .filter(move |symbol| !is_also_tensor(**symbol))
        .map(|symbol| function.symbols[*symbol].name.as_str())
}

/// What a launch passes, in the order of [`parameters`].
pub(super) fn passed(function: &Function, kernel: &Kernel<'_>) -> String {
    let arguments = arguments(function, kernel);
    let symbols = numbers(function, &arguments);
    let tensors = arguments
        .tensors
        .iter()
        .map(|(tensor, _)| function.tensors[*tensor].name.as_str());
    symbols.chain(tensors).collect::<Vec<_>>().join(", ")
}

fn part(function: &Function, kernel: &Kernel<'_>, part: &Part<'_>, lines: &mut Lines) {
    let statement = part.statement;
    match &part.work {
        Work::Initialise => initialise(function, kernel, statement, lines),
        Work::Compute { taken, atomic } => {
            let names = taken.iter().map(|index| {
                let variable = &statement.variables[*index];
                let low = variable.low.linear().cloned().unwrap_or_default();
                (variable.name.clone(), low)
            });
            take(function, ("tc_thread", &kernel.threads), names, lines);
            let rest = statement.free().filter(|index| !taken.contains(index));
            for index in rest {
                open_loop(function, statement, index, lines);
            }
            match statement.scatter {
                true => scatter(function, statement, *atomic, lines),
                false => element(function, statement, lines),
            }
        }
    }
}

/// Gives each dimension of the threads its name; the last one is the fastest.
pub(super) fn take(
    function: &Function,
    (number, threads): (&str, &[Linear]),
    names: impl Iterator<Item = (String, Linear)>,
    lines: &mut Lines,
) {
    let names: Vec<(String, Linear)> = names.collect();
    for (dimension, (name, low)) in names.iter().enumerate() {
        let after: Vec<String> = threads[dimension + 1..]
            .iter()
            .map(|extent| factor(function, extent))
            .collect();
        let mut text = number.to_owned();
        if !after.is_empty() {
            text = match after.as_slice() {
                [only] => format!("{text} / {only}"),
                several => format!("{text} / ({})", several.join(" * ")),
            };
        }
        if dimension > 0 {
            text = format!("{text} % {}", factor(function, &threads[dimension]));
        }
        if low.as_number() != Some(0) {
            text = format!("{} + {text}", size(function, low));
        }
        lines.line(&format!("const long long {name} = {text};"));
    }
}

pub(super) fn open_loop<'s>(
    function: &Function,
    scope: impl Into<Scope<'s>>,
    index: usize,
    lines: &mut Lines,
) {
    let scope = scope.into();
    let variable = &scope.statement.variables[index];
    let low = values::bound(function, scope, &variable.low);
    let high = values::bound(function, scope, &variable.high);
    let name = &variable.name;
    // What data say is read once, before the loop.
    let high = match variable.high.linear() {
        Some(_) => high,
        None => {
            lines.line(&format!("const long long tc_end_{name} = {high};"));
            format!("tc_end_{name}")
        }
    };
    lines.open(&format!(
        "for (long long {name} = {low}; {name} < {high}; ++{name})"
    ));
}

fn initialise(function: &Function, kernel: &Kernel<'_>, statement: &Statement, lines: &mut Lines) {
    let target = &function.tensors[statement.target];
    let Operator::Reduce(reduction, _) = statement.operator else {
        unreachable!("only reductions have a neutral element")
    };
    let place = match kernel.threads.is_empty() {
        // The threads are the elements, in their order.
        false => "tc_thread".to_owned(),
        true => {
            let all: Vec<String> = target
                .extents
                .iter()
                .map(|extent| factor(function, extent))
                .collect();
            let all = match all.is_empty() {
                true => "1".to_owned(),
                false => all.join(" * "),
            };
            lines.open(&format!(
                "for (long long tc_element = 0; tc_element < {all}; ++tc_element)"
            ));
            "tc_element".to_owned()
        }
    };
    let neutral = values::neutral(reduction, target.scalar);
    let neutral = values::stored(neutral, target.scalar, target.scalar.computed());
    lines.line(&format!("{}[{place}] = {neutral};", target.name));
}

/// One element that no other instance of the statement writes.
pub(super) fn element(function: &Function, statement: &Statement, lines: &mut Lines) {
    let target = &function.tensors[statement.target];
    let place = values::place(function, statement, statement.target, &statement.subscripts);
    let element = format!("{}[{place}]", target.name);
    element_at(function, statement.into(), (&element, &element), lines);
}

/// The same: where the element is, and what it is assigned to.
pub(super) fn element_at(
    function: &Function,
    scope: Scope<'_>,
    (element, into): (&str, &str),
    lines: &mut Lines,
) {
    let statement = scope.statement;
    let target = &function.tensors[statement.target];
    let computed = target.scalar.computed();
    let Operator::Reduce(reduction, starts) = statement.operator else {
        let value = values::value_as(function, scope, &statement.value, computed);
        lines.line(&format!(
            "{into} = {};",
            values::stored(value, target.scalar, computed)
        ));
        return;
    };
    let first = match starts {
        true => values::neutral(reduction, target.scalar),
        false => values::loaded(element, target.scalar),
    };
    lines.line(&format!("{} tc_value = {first};", computed.cuda()));
    let depth = lines.depth;
    for index in statement.reduced() {
        open_loop(function, scope, index, lines);
    }
    let term = values::value_as(function, scope, &statement.value, computed);
    lines.line(&accumulate(reduction, computed, "tc_value", &term));
    lines.close_to(depth);
    let stored = values::stored("tc_value".to_owned(), target.scalar, computed);
    lines.line(&format!("{into} = {stored};"));
}

pub(super) fn accumulate(reduction: Reduction, computed: Scalar, into: &str, term: &str) -> String {
    match reduction {
        Reduction::Sum => format!("{into} += {term};"),
        Reduction::Product => format!("{into} *= {term};"),
        _ => format!(
            "{into} = {};",
            values::joined(reduction, computed, into, term)
        ),
    }
}

/// One term that meets others in its element.
fn scatter(function: &Function, statement: &Statement, atomic: bool, lines: &mut Lines) {
    let target = &function.tensors[statement.target];
    let computed = target.scalar.computed();
    let Operator::Reduce(reduction, _) = statement.operator else {
        unreachable!("a scatter is a reduction")
    };
    let place = values::place(function, statement, statement.target, &statement.subscripts);
    lines.line(&format!("const long long tc_element = {place};"));
    if statement
        .subscripts
        .iter()
        .any(|subscript| subscript.guarded)
    {
        lines.open("if (tc_element >= 0)");
    }
    for index in statement.reduced() {
        open_loop(function, statement, index, lines);
    }
    let term = values::value_as(function, statement, &statement.value, computed);
    let element = format!("{}[tc_element]", target.name);
    if atomic {
        let name = match reduction {
            Reduction::Minimum => "atomicMin",
            Reduction::Maximum => "atomicMax",
            _ => "atomicAdd",
        };
        lines.line(&format!("{name}(&{element}, {term});"));
        return;
    }
    let both = values::joined(reduction, computed, &element, &term);
    lines.line(&format!(
        "{element} = {};",
        values::stored(both, target.scalar, computed)
    ));
}
