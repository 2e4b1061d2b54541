//! Kernels with loops that several statements share.
//!
//! The sum of a reduction whose loops are shared is in a register from before the first of them to behind it.

use super::kernels::{self, Lines, accumulate, comment, open_loop, parameters};
use super::{size, values};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::Kernel;
use crate::tensor::polyhedral::Nest;
use crate::tensor::polyhedral::nest::{Node, Place};
use crate::tensor::program::{Function, Statement};
use crate::tensor::syntax::tree::Operator;

/// The text of a kernel.
pub(super) fn kernel(
    function: &Function,
    (kernel, nest): (&Kernel<'_>, &Nest),
    name: &str,
    source: &str,
) -> String {
    let mut lines = Lines::default();
    lines.line(&format!(
        "static __global__ void {name}({})",
        parameters(function, kernel)
    ));
    lines.line("{");
    lines.depth = 1;
    kernels::threads(function, kernel, &mut lines);
    let names = loop_names(kernel, nest);
    let dimensions = (0..nest.threads).map(|number| {
        let low = nest.loops[number].low.clone();
        (names[number].clone(), low)
    });
    let threads = ("tc_thread", kernel.threads.as_slice());
    kernels::take(function, threads, dimensions, &mut lines);
    let statements = kernel.parts.iter().enumerate();
    let statements = statements.map(|(part, own)| renamed(own.statement, nest, (part, &names)));
    let mut writer = Writer {
        function,
        kernel,
        nest,
        statements: &statements.collect::<Vec<_>>(),
        names: &names,
        source,
        lines,
    };
    writer.nodes(&nest.body);
    let mut lines = writer.lines;
    lines.depth = 0;
    lines.line("}");
    lines.text
}

/// Names of loops: that of an index that follows it, where no part within has it for something else.
fn loop_names(kernel: &Kernel<'_>, nest: &Nest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for number in 0..nest.loops.len() {
        let follows = |place: &Option<Place>| place.is_some_and(|place| place.number == number);
        let within = kernel.parts.iter().zip(&nest.places);
        let within = within.filter(|(_, places)| places.iter().any(follows));
        let first = within.clone().find_map(|(part, places)| {
            let index = places.iter().position(follows)?;
            Some(part.statement.variables[index].name.clone())
        });
        let name = first.unwrap_or_default();
        let is_taken = within.clone().any(|(part, places)| {
            let mut variables = part.statement.variables.iter().zip(places);
            variables.any(|(variable, place)| match place {
                Some(place) => place.number < number && names[place.number] == name,
                None => variable.name == name,
            })
        });
        names.push(match is_taken {
            true => format!("tc_{name}{number}"),
            false => name,
        });
    }
    names
}

/// The statement with its indices named by the loops that they follow.
fn renamed(statement: &Statement, nest: &Nest, (part, names): (usize, &[String])) -> Statement {
    let mut renamed = statement.clone();
    for (variable, place) in renamed.variables.iter_mut().zip(&nest.places[part]) {
        let Some(place) = place else { continue };
        let name = &names[place.number];
        variable.name = match place.shift {
            0 => name.clone(),
            shift if shift < 0 => format!("({name} + {})", shift.unsigned_abs()),
            shift => format!("({name} - {shift})"),
        };
    }
    renamed
}

struct Writer<'w> {
    function: &'w Function,
    kernel: &'w Kernel<'w>,
    nest: &'w Nest,
    /// By part, with names of loops.
    statements: &'w [Statement],
    names: &'w [String],
    source: &'w str,
    lines: Lines,
}

impl Writer<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Part(part) => self.part(*part),
                Node::Loop(number, body) => {
                    let sums = (0..self.statements.len()).filter(|part| {
                        let statement = &self.statements[*part];
                        self.nest.outermost_reduced(*part, statement) == Some(*number)
                    });
                    let sums: Vec<usize> = sums.collect();
                    sums.iter().for_each(|part| self.begin(*part));
                    let range = &self.nest.loops[*number];
                    let low = size(self.function, &range.low);
                    let high = size(self.function, &range.high);
                    let name = &self.names[*number];
                    let depth = self.lines.depth;
                    let head = format!("for (long long {name} = {low}; {name} < {high}; ++{name})");
                    self.lines.open(&head);
                    self.nodes(body);
                    self.lines.close_to(depth);
                    sums.iter().for_each(|part| self.end(*part));
                }
            }
        }
    }

    /// The statement, or the term of a sum that has begun.
    fn part(&mut self, part: usize) {
        let statement = &self.statements[part];
        let depth = self.lines.depth;
        let is_sum = self.nest.outermost_reduced(part, statement).is_some();
        if !is_sum {
            self.comment(part);
        }
        // An element of its own is summed up in a variable.
        let names_sum = !is_sum && statement.operator != Operator::Assign;
        match self.guard(part, true) {
            Some(guard) => self.lines.open(&format!("if ({guard})")),
            None if names_sum => self.lines.open(""),
            None => {}
        }
        for index in statement.free() {
            if self.nest.places[part][index].is_none() {
                open_loop(self.function, statement, index, &mut self.lines);
            }
        }
        if is_sum {
            self.term(part);
        } else {
            kernels::element(self.function, statement, &mut self.lines);
        }
        self.lines.close_to(depth);
    }

    fn term(&mut self, part: usize) {
        let statement = &self.statements[part];
        let Operator::Reduce(reduction, _) = statement.operator else {
            unreachable!("only reductions have terms")
        };
        for index in statement.reduced() {
            if self.nest.places[part][index].is_none() {
                open_loop(self.function, statement, index, &mut self.lines);
            }
        }
        let computed = self.function.tensors[statement.target].scalar.computed();
        let term = values::value_as(self.function, statement, &statement.value, computed);
        let line = accumulate(reduction, computed, &format!("tc_value{part}"), &term);
        self.lines.line(&line);
    }

    /// Where a sum begins.
    fn begin(&mut self, part: usize) {
        let statement = &self.statements[part];
        let Operator::Reduce(reduction, starts) = statement.operator else {
            unreachable!("only reductions have reduced indices")
        };
        self.comment(part);
        let scalar = self.function.tensors[statement.target].scalar;
        let neutral = values::neutral(reduction, scalar);
        let cuda = scalar.computed().cuda();
        self.lines
            .line(&format!("{cuda} tc_value{part} = {neutral};"));
        if starts {
            return;
        }
        let loaded = values::loaded(&self.element(part), scalar);
        self.guarded(part, &format!("tc_value{part} = {loaded};"));
    }

    /// Where it ends.
    fn end(&mut self, part: usize) {
        let statement = &self.statements[part];
        let scalar = self.function.tensors[statement.target].scalar;
        let stored = values::stored(format!("tc_value{part}"), scalar, scalar.computed());
        let line = format!("{} = {stored};", self.element(part));
        self.guarded(part, &line);
    }

    fn guarded(&mut self, part: usize, line: &str) {
        match self.guard(part, false) {
            Some(guard) => {
                self.lines.line(&format!("if ({guard})"));
                self.lines.line(&format!("    {line}"));
            }
            None => self.lines.line(line),
        }
    }

    fn element(&self, part: usize) -> String {
        let statement = &self.statements[part];
        let target = statement.target;
        let place = values::place(self.function, statement, target, &statement.subscripts);
        format!("{}[{place}]", self.function.tensors[target].name)
    }

    /// That the indices on the left, or all, are in their ranges where loops are wider.
    fn guard(&self, part: usize, with_reduced: bool) -> Option<String> {
        let statement = &self.statements[part];
        let mut all = Vec::new();
        for (index, place) in self.nest.places[part].iter().enumerate() {
            let variable = &statement.variables[index];
            let Some(place) = place.filter(|_| variable.on_left || with_reduced) else {
                continue;
            };
            if !self.nest.is_wider(statement, index, place) {
                continue;
            }
            let range = &self.nest.loops[place.number];
            let end = |bound: Option<&Linear>| bound.cloned().unwrap_or_default();
            let (low, high) = (end(variable.low.linear()), end(variable.high.linear()));
            let own = |form: &Linear| size(self.function, form);
            if low.offset(place.shift).as_ref() != Some(&range.low) {
                all.push(format!("{} >= {}", variable.name, own(&low)));
            }
            if high.offset(place.shift).as_ref() != Some(&range.high) {
                all.push(format!("{} < {}", variable.name, own(&high)));
            }
        }
        (!all.is_empty()).then(|| all.join(" && "))
    }

    fn comment(&mut self, part: usize) {
        let span = self.kernel.parts[part].statement.span;
        self.lines
            .line(&format!("// {}", comment(self.source, span)));
    }
}
