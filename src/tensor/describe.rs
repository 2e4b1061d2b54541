//! Typed definitions as text: what each index ranges over, what is read, guarded and checked.

use super::linear::{Atom, Linear, Notation};
use super::mapping::Step as Launch;
use super::program::{Bound, Function, Role, Statement, Step, Subscript, SymbolKind};
use super::syntax::tree::Operator;
use std::fmt::Write;

/// A definition, a line for its interface, one for each statement, and one for each check of the launcher.
pub fn describe(function: &Function) -> String {
    let mut text = format!("def {}\n", function.name);
    // Writing to a string cannot fail, here and below.
    let sizes = function
        .symbols
        .iter()
        .filter(|symbol| symbol.kind == SymbolKind::Size);
    let sizes: Vec<&str> = sizes.map(|symbol| symbol.name.as_str()).collect();
    if !sizes.is_empty() {
        let _ = writeln!(text, "  sizes {}", sizes.join(", "));
    }
    for tensor in &function.tensors {
        let role = match tensor.role {
            Role::Input => "input",
            Role::Value => "value",
            Role::Changed => "changed",
            Role::Output => "output",
            Role::Temporary => "temporary",
        };
        let extents: Vec<String> = tensor
            .extents
            .iter()
            .map(|extent| form(function, &[], extent))
            .collect();
        let extents = match tensor.role {
            Role::Value => String::new(),
            _ => format!("({})", extents.join(", ")),
        };
        let _ = writeln!(text, "  {role} {}{extents} {}", tensor.scalar, tensor.name);
    }
    steps(function, &function.body, 1, &mut text);
    for check in &function.checks {
        let (left, right) = (
            form(function, &[], &check.left),
            form(function, &[], &check.right),
        );
        let operator = if check.equal { "==" } else { "<=" };
        let _ = write!(text, "  check {left} {operator} {right}");
        for (number, count) in check.when_positive.iter().enumerate() {
            let word = if number == 0 { "where" } else { "and" };
            let _ = write!(text, " {word} {} > 0", form(function, &[], count));
        }
        text.push('\n');
    }
    text
}

/// Launches, a line for each: the shape of its threads, and how many statements it has.
pub fn describe_launches(function: &Function, launches: &[Launch<'_>], depth: usize) -> String {
    let mut text = String::new();
    let indent = "  ".repeat(depth);
    for launch in launches {
        match launch {
            Launch::Kernel(kernel) => {
                let threads: Vec<String> = kernel
                    .threads
                    .iter()
                    .map(|extent| form(function, &[], extent))
                    .collect();
                let shape = match threads.is_empty() {
                    true => "one thread".to_owned(),
                    false => format!("threads ({})", threads.join(", ")),
                };
                let targets: Vec<&str> = kernel
                    .parts
                    .iter()
                    .map(|part| function.tensors[part.statement.target].name.as_str())
                    .collect();
                let _ = writeln!(text, "{indent}kernel of {shape}: {}", targets.join(", "));
            }
            Launch::Either { apart, .. } => text += &describe_launches(function, apart, depth),
            Launch::Loop { symbol, body, .. } => {
                let _ = writeln!(text, "{indent}for {}", function.symbols[*symbol].name);
                text += &describe_launches(function, body, depth + 1);
            }
        }
    }
    text
}

fn steps(function: &Function, steps: &[Step], depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    for step in steps {
        match step {
            Step::Statement(statement) => {
                let _ = writeln!(text, "{indent}{}", self::statement(function, statement));
            }
            Step::Loop(time_loop) => {
                let (low, high) = (
                    form(function, &[], &time_loop.low),
                    form(function, &[], &time_loop.high),
                );
                let symbol = &function.symbols[time_loop.symbol].name;
                let _ = writeln!(text, "{indent}for {symbol} in {low}:{high}");
                self::steps(function, &time_loop.body, depth + 1, text);
            }
        }
    }
}

fn statement(function: &Function, statement: &Statement) -> String {
    let names: Vec<String> = statement
        .variables
        .iter()
        .map(|variable| variable.name.clone())
        .collect();
    let target = access(function, &names, statement.target, &statement.subscripts);
    let operator = match statement.operator {
        Operator::Assign => "=",
        Operator::Reduce(reduction, _) => reduction.text(),
    };
    let new = match statement.operator {
        Operator::Reduce(_, true) => "!",
        _ => "",
    };
    let mut reads: Vec<String> = Vec::new();
    statement.reads(&mut |tensor, subscripts| {
        let read = access(function, &names, tensor, subscripts);
        if !reads.contains(&read) {
            reads.push(read);
        }
    });
    let mut text = format!("{target} {operator}{new} {}", statement.value.scalar);
    if !reads.is_empty() {
        let _ = write!(text, " of {}", reads.join(", "));
    }
    for (number, variable) in statement.variables.iter().enumerate() {
        let word = if number == 0 { " where" } else { "," };
        let reduced = if variable.on_left { "" } else { "reduced " };
        let bound = |bound: &Bound| match bound {
            Bound::Linear(linear) => form(function, &names, linear),
            Bound::Data(_) => "data".to_owned(),
        };
        let (low, high) = (bound(&variable.low), bound(&variable.high));
        let _ = write!(text, "{word} {reduced}{} in {low}:{high}", variable.name);
    }
    if statement.scatter {
        text += ", a scatter";
    }
    text
}

/// An element; a subscript that may be outside has a question mark.
fn access(
    function: &Function,
    names: &[String],
    tensor: usize,
    subscripts: &[Subscript],
) -> String {
    let each: Vec<String> = subscripts
        .iter()
        .map(|subscript| {
            let text = match &subscript.linear {
                Some(linear) => form(function, names, linear),
                None => "data".to_owned(),
            };
            let mark = if subscript.guarded { "?" } else { "" };
            format!("{text}{mark}")
        })
        .collect();
    match each.is_empty() {
        true => function.tensors[tensor].name.clone(),
        false => format!("{}({})", function.tensors[tensor].name, each.join(", ")),
    }
}

fn form(function: &Function, names: &[String], linear: &Linear) -> String {
    linear.text(Notation::Message, &mut |atom| match atom {
        Atom::Symbol(symbol) => function.symbols[*symbol].name.clone(),
        Atom::Variable(variable) => names[*variable].clone(),
        _ => String::new(),
    })
}
