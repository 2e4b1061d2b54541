//! Values that are computed again where they are read, so that nothing keeps them: a definition without their statements.

use super::statements::{Named, Piece, pieces};
use super::template::{Composition, Item, KernelTemplate, Template, ValueTemplate};
use crate::tensor::fault::Fault;
use crate::tensor::linear::Atom;
use crate::tensor::program::{
    Bound, Function, Role, Statement, Step, Subscript, TimeLoop, Value, ValueKind,
};
use crate::tensor::syntax::tree::Operator;

/// Parts of a value at most: each time, a value may become as many times larger as it is read.
const LARGEST: usize = 2000;
/// How deeply it may be nested.
const DEEPEST: usize = 200;

/// The same definition and template, without values that are computed again.
///
/// # Errors
/// A value that cannot be, at its place in the template.
pub(super) fn without(
    function: &Function,
    template: &Template,
) -> Result<(Function, Template), Fault> {
    let mut function = function.clone();
    for value in again(&template.items) {
        let wrong = |message: String| Fault::new(value.tensor.span, message);
        let target = inline(&function, value).map_err(wrong)?;
        function.body = target;
    }
    let mut template = template.clone();
    template.items = template.items.into_iter().filter_map(kept).collect();
    Ok((function, template))
}

/// Whether a value can be computed again by all that read it.
pub(super) fn can_be(function: &Function, value: &ValueTemplate) -> bool {
    inline(function, value).is_ok()
}

/// The values that are computed again, in the order of the template.
fn again(items: &[Item]) -> Vec<&ValueTemplate> {
    let of_kernel = |kernel: &'_ KernelTemplate| -> Vec<usize> {
        let all = kernel.values.iter().enumerate();
        all.filter(|(_, value)| value.composition == Composition::Again)
            .map(|(number, _)| number)
            .collect()
    };
    let mut found = Vec::new();
    for item in items {
        let kernels = match item {
            Item::Kernel(kernel) => std::slice::from_ref(kernel),
            Item::Packing(kernels) => kernels.as_slice(),
            Item::Loop(_, body) => {
                found.extend(again(body));
                continue;
            }
        };
        for kernel in kernels {
            let values = of_kernel(kernel).into_iter();
            found.extend(values.map(|number| &kernel.values[number]));
        }
    }
    found
}

/// An item without such values; none if nothing is left of it.
fn kept(item: Item) -> Option<Item> {
    let of_kernel = |mut kernel: KernelTemplate| {
        let is_kept = |value: &ValueTemplate| value.composition != Composition::Again;
        kernel.values.retain(is_kept);
        (!kernel.values.is_empty()).then_some(kernel)
    };
    match item {
        Item::Kernel(kernel) => of_kernel(kernel).map(Item::Kernel),
        Item::Packing(kernels) => {
            let mut kernels: Vec<KernelTemplate> =
                kernels.into_iter().filter_map(of_kernel).collect();
            match kernels.len() {
                0 => None,
                1 => kernels.pop().map(Item::Kernel),
                _ => Some(Item::Packing(kernels)),
            }
        }
        Item::Loop(index, body) => {
            let body = body.into_iter().filter_map(kept).collect();
            Some(Item::Loop(index, body))
        }
    }
}

/// The steps of a definition without a statement, whose value stands where it was read.
fn inline(function: &Function, value: &ValueTemplate) -> Result<Vec<Step>, String> {
    let name = &value.tensor.text;
    let all = pieces(function);
    let Some(run) = find(&all, function, value) else {
        return Err(format!("no statement of the definition defines '{name}'"));
    };
    let position = run.iter().position(|named| named.is(function, value));
    let at = position.unwrap_or_default();
    let statement = run[at].statement;
    let cannot = |why: &str| Err(format!("'{name}' cannot be computed again: {why}"));
    if let Err(why) = is_plain(function, statement) {
        return cannot(why);
    }
    let mut made = Vec::new();
    let mut changed: Vec<usize> = Vec::new();
    for named in &run[at + 1..] {
        let reader = named.statement;
        let mut reads = false;
        reader.reads(&mut |tensor, _| reads |= tensor == statement.target);
        let mut needs = Vec::new();
        statement.reads(&mut |tensor, _| needs.push(tensor));
        changed.push(reader.target);
        if !reads {
            continue;
        }
        if let Some(tensor) = needs.iter().find(|tensor| changed.contains(tensor)) {
            let changed = &function.tensors[*tensor].name;
            return cannot(&format!(
                "it is made of '{changed}', which is another one where it is read"
            ));
        }
        let mut reader = reader.clone();
        replace(function, statement, &mut reader)?;
        made.push((named.statement, reader));
    }
    let is_elsewhere = all_statements(function).any(|other| {
        let mut reads = false;
        other.reads(&mut |tensor, _| reads |= tensor == statement.target);
        reads
            && !run[at + 1..]
                .iter()
                .any(|known| std::ptr::eq(known.statement, other))
    });
    if is_elsewhere {
        return cannot("a statement before it, or in another time loop, reads it");
    }
    Ok(rebuilt(&function.body, statement, &made))
}

/// The statements in a row of which one is what a line is about.
fn find<'p, 'f>(
    pieces: &'p [Piece<'f>],
    function: &Function,
    value: &ValueTemplate,
) -> Option<&'p [Named<'f>]> {
    pieces.iter().find_map(|piece| match piece {
        Piece::Statements(all) => {
            let is_there = all.iter().any(|named| named.is(function, value));
            is_there.then_some(all.as_slice())
        }
        Piece::Loop(_, inner) => find(inner, function, value),
    })
}

fn all_statements(function: &Function) -> impl Iterator<Item = &Statement> {
    fn of<'f>(body: &'f [Step], found: &mut Vec<&'f Statement>) {
        for step in body {
            match step {
                Step::Statement(statement) => found.push(statement),
                Step::Loop(time_loop) => of(&time_loop.body, found),
            }
        }
    }
    let mut found = Vec::new();
    of(&function.body, &mut found);
    found.into_iter()
}

/// Whether each element of a temporary is one value that its place says.
fn is_plain(function: &Function, statement: &Statement) -> Result<(), &'static str> {
    let target = &function.tensors[statement.target];
    if statement.operator != Operator::Assign || statement.scatter {
        return Err("it is a reduction");
    }
    if target.role != Role::Temporary {
        return Err("it is a result");
    }
    let writers = all_statements(function).filter(|other| other.target == statement.target);
    if writers.count() > 1 {
        return Err("several statements define it");
    }
    let mut seen = Vec::new();
    for (subscript, extent) in statement.subscripts.iter().zip(&target.extents) {
        let index = subscript
            .linear
            .as_ref()
            .and_then(|form| form.as_variable());
        let whole = index.is_some_and(|index| {
            let variable = &statement.variables[index];
            let low = variable.low.linear().and_then(|low| low.as_number());
            low == Some(0) && variable.high.linear() == Some(extent) && !seen.contains(&index)
        });
        if !whole || subscript.guarded {
            return Err("it is not defined element by element from 0 to its extents");
        }
        seen.extend(index);
    }
    Ok(())
}

/// Puts the value of a statement where another one reads it.
fn replace(function: &Function, of: &Statement, reader: &mut Statement) -> Result<(), String> {
    let name = &function.tensors[of.target].name;
    let mut is_possible = true;
    for variable in &reader.variables {
        for bound in [&variable.low, &variable.high] {
            if let Bound::Data(value) = bound {
                value.reads(&mut |tensor, _| is_possible &= tensor != of.target);
            }
        }
    }
    for subscript in &reader.subscripts {
        let value = &subscript.value;
        value.reads(&mut |tensor, _| is_possible &= tensor != of.target);
    }
    let replacing = Replacing { function, of };
    reader.value = replacing.value(&reader.value, &mut is_possible);
    if !is_possible {
        let target = &function.tensors[reader.target].name;
        return Err(format!(
            "'{name}' cannot be computed again: '{target}' reads it in a range or a subscript, or where it may be outside"
        ));
    }
    let (mut count, mut deepest) = (0, 0);
    size(&reader.value, 1, &mut count, &mut deepest);
    match count > LARGEST || deepest > DEEPEST {
        true => Err(format!(
            "'{name}' cannot be computed again: the values that read it become too large"
        )),
        false => Ok(()),
    }
}

struct Replacing<'s> {
    function: &'s Function,
    of: &'s Statement,
}

impl Replacing<'_> {
    /// The value with that of the statement where it is read.
    fn value(&self, value: &Value, possible: &mut bool) -> Value {
        if let ValueKind::Read { tensor, subscripts } = &value.kind
            && *tensor == self.of.target
        {
            let inner: Vec<Subscript> = subscripts
                .iter()
                .map(|one| self.subscript(one, possible))
                .collect();
            *possible &= inner.iter().all(|one| !one.guarded);
            let made = at(self.of, &self.of.value, &inner);
            let scalar = self.function.tensors[*tensor].scalar;
            return match made.scalar == scalar && scalar == scalar.computed() {
                true => made,
                false => Value {
                    scalar,
                    kind: ValueKind::Cast(Box::new(made)),
                },
            };
        }
        map(
            value,
            &mut |inner, possible| self.value(inner, possible),
            &mut |one, possible| self.subscript(one, possible),
            possible,
        )
    }

    fn subscript(&self, subscript: &Subscript, possible: &mut bool) -> Subscript {
        Subscript {
            value: self.value(&subscript.value, possible),
            ..subscript.clone()
        }
    }
}

/// The value of a statement at other indices: those with which an element of its target is read.
fn at(of: &Statement, value: &Value, subscripts: &[Subscript]) -> Value {
    let index = |variable: usize| {
        let is_it = |subscript: &Subscript| {
            subscript
                .linear
                .as_ref()
                .and_then(|form| form.as_variable())
                == Some(variable)
        };
        let dimension = of.subscripts.iter().position(is_it)?;
        subscripts.get(dimension)
    };
    if let ValueKind::Variable(variable) = value.kind {
        return match index(variable).map(|one| &one.value) {
            Some(Value {
                kind: ValueKind::Variable(other),
                ..
            }) => Value {
                scalar: value.scalar,
                kind: ValueKind::Variable(*other),
            },
            Some(other) => Value {
                scalar: value.scalar,
                kind: ValueKind::Cast(Box::new(other.clone())),
            },
            None => value.clone(),
        };
    }
    map(
        value,
        &mut |inner, _| at(of, inner, subscripts),
        &mut |one, _| Subscript {
            value: at(of, &one.value, subscripts),
            linear: one.linear.as_ref().and_then(|form| {
                let linear = |variable: usize| index(variable)?.linear.clone();
                let mut variables = form.variables().into_iter();
                if !variables.all(|variable| linear(variable).is_some()) {
                    return None;
                }
                form.substitute(&|atom| match atom {
                    Atom::Variable(variable) => linear(*variable),
                    _ => None,
                })
            }),
            ..one.clone()
        },
        &mut true,
    )
}

/// The value with other operands and subscripts.
fn map(
    value: &Value,
    inner: &mut dyn FnMut(&Value, &mut bool) -> Value,
    subscript: &mut dyn FnMut(&Subscript, &mut bool) -> Subscript,
    possible: &mut bool,
) -> Value {
    let mut boxed = |value: &Value| Box::new(inner(value, possible));
    let kind = match &value.kind {
        ValueKind::Unary(operator, operand) => ValueKind::Unary(*operator, boxed(operand)),
        ValueKind::Cast(operand) => ValueKind::Cast(boxed(operand)),
        ValueKind::Binary(operator, left, right) => {
            ValueKind::Binary(*operator, boxed(left), boxed(right))
        }
        ValueKind::Select(condition, then, other) => {
            ValueKind::Select(boxed(condition), boxed(then), boxed(other))
        }
        ValueKind::Call(builtin, computed, arguments) => {
            let arguments = arguments.iter().map(|one| *boxed(one)).collect();
            ValueKind::Call(builtin, *computed, arguments)
        }
        ValueKind::Read { tensor, subscripts } => ValueKind::Read {
            tensor: *tensor,
            subscripts: subscripts
                .iter()
                .map(|one| subscript(one, possible))
                .collect(),
        },
        other => other.clone(),
    };
    Value {
        scalar: value.scalar,
        kind,
    }
}

/// Counts the parts of a value, and how deeply they are nested.
fn size(value: &Value, depth: usize, count: &mut usize, deepest: &mut usize) {
    *count += 1;
    *deepest = depth.max(*deepest);
    let mut of = |value: &Value| size(value, depth + 1, count, deepest);
    match &value.kind {
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => of(operand),
        ValueKind::Binary(_, left, right) => [left, right].into_iter().for_each(|one| of(one)),
        ValueKind::Select(a, b, c) => [a, b, c].into_iter().for_each(|one| of(one)),
        ValueKind::Call(_, _, arguments) => arguments.iter().for_each(of),
        ValueKind::Read { subscripts, .. } => subscripts.iter().for_each(|one| of(&one.value)),
        _ => {}
    }
}

/// Steps without a statement, with others in the place of some.
fn rebuilt(body: &[Step], without: &Statement, made: &[(&Statement, Statement)]) -> Vec<Step> {
    let each = body.iter().filter_map(|step| match step {
        Step::Loop(time_loop) => Some(Step::Loop(TimeLoop {
            body: rebuilt(&time_loop.body, without, made),
            ..time_loop.clone()
        })),
        Step::Statement(statement) if std::ptr::eq(&**statement, without) => None,
        Step::Statement(statement) => {
            let mut made = made.iter();
            let other = made.find(|(known, _)| std::ptr::eq(*known, &**statement));
            Some(Step::Statement(match other {
                Some((_, other)) => Box::new(other.clone()),
                None => statement.clone(),
            }))
        }
    });
    each.collect()
}
