//! Values as C++ expressions.

use super::{is_tight, name_of};
use crate::tensor::builtins::Signature;
use crate::tensor::linear::{Atom, Linear, Notation};
use crate::tensor::program::{Bound, Function, Role, Statement, Subscript, Value, ValueKind};
use crate::tensor::syntax::tree::{Reduction, Unary};
use crate::tensor::types::Scalar;

/// An expression, and how tightly its outermost operator binds.
struct Text {
    text: String,
    strength: u8,
}

const LOOSEST: u8 = 0;
const UNARY: u8 = 7;
const TIGHTEST: u8 = 8;

impl Text {
    fn of(text: String, strength: u8) -> Self {
        Self { text, strength }
    }

    /// In brackets where its place needs something tighter.
    fn at(self, strength: u8) -> String {
        match self.strength >= strength {
            true => self.text,
            false => format!("({})", self.text),
        }
    }
}

/// What names in an expression mean: those of a statement, and elements that are at hand.
#[derive(Clone, Copy)]
pub(super) struct Scope<'s> {
    /// The statement.
    pub statement: &'s Statement,
    /// The expression that a read is, where the element is in a register or in shared memory.
    pub held: &'s Held<'s>,
}

/// What finds an element that is at hand.
pub(super) type Held<'s> = dyn Fn(usize, &[Subscript]) -> Option<String> + 's;

impl<'s> From<&'s Statement> for Scope<'s> {
    fn from(statement: &'s Statement) -> Self {
        Self {
            statement,
            held: &|_, _| None,
        }
    }
}

/// A form with the statement's indices, in C++.
pub(super) fn form(function: &Function, statement: &Statement, form: &Linear) -> String {
    // Bounds speak of indices before their own, so this ends.
    fn natural(function: &Function, statement: &Statement, variable: usize) -> bool {
        let low = statement.variables[variable].low.linear();
        low.is_some_and(|low| {
            function.is_natural(low, &|other| {
                other < variable && natural(function, statement, other)
            })
        })
    }
    form.text(Notation::Cuda, &mut |atom| match atom {
        Atom::Variable(variable) => statement.variables[*variable].name.clone(),
        other => name_of(function, other, &|variable| {
            natural(function, statement, variable)
        }),
    })
}

/// One end of a range.
pub(super) fn bound<'s>(function: &Function, scope: impl Into<Scope<'s>>, bound: &Bound) -> String {
    let scope = scope.into();
    match bound {
        Bound::Linear(linear) => form(function, scope.statement, linear),
        Bound::Data(value) => self::value(function, scope, value),
    }
}

/// A value in the type in which it is computed.
pub(super) fn value<'s>(function: &Function, scope: impl Into<Scope<'s>>, value: &Value) -> String {
    text(function, scope.into(), value).at(LOOSEST)
}

/// A value converted to the type in which another one is computed.
pub(super) fn value_as<'s>(
    function: &Function,
    scope: impl Into<Scope<'s>>,
    value: &Value,
    computed: Scalar,
) -> String {
    converted(function, scope.into(), value, computed).at(LOOSEST)
}

fn converted(function: &Function, scope: Scope<'_>, value: &Value, computed: Scalar) -> Text {
    let inner = text(function, scope, value);
    match value.scalar.computed() == computed && value.scalar != Scalar::Bool {
        true => inner,
        false => Text::of(format!("({}){}", computed.cuda(), inner.at(UNARY)), UNARY),
    }
}

fn text(function: &Function, scope: Scope<'_>, value: &Value) -> Text {
    let statement = scope.statement;
    let of = |value: &Value| text(function, scope, value);
    match &value.kind {
        ValueKind::Integer(number) => Text::of(integer(*number, value.scalar), TIGHTEST),
        ValueKind::Real(number) => Text::of(real(*number, value.scalar), TIGHTEST),
        ValueKind::Variable(variable) => {
            let name = &statement.variables[*variable].name;
            match value.scalar {
                Scalar::Int64 => Text::of(name.clone(), TIGHTEST),
                _ => Text::of(format!("(int){name}"), UNARY),
            }
        }
        ValueKind::Size(linear) => {
            let inner = form(function, statement, linear);
            match (value.scalar, linear.as_number()) {
                (Scalar::Int32, Some(_)) => Text::of(inner, TIGHTEST),
                (Scalar::Int32, None) => Text::of(format!("(int)({inner})"), UNARY),
                _ => Text::of(format!("(long long)({inner})"), UNARY),
            }
        }
        ValueKind::Read { tensor, subscripts } => {
            Text::of(read(function, scope, *tensor, subscripts), TIGHTEST)
        }
        ValueKind::Unary(operator, operand) => {
            let sign = match operator {
                Unary::Negate => "-",
                Unary::Not => "!",
            };
            // `--x` would be another operator.
            let inner = of(operand).at(TIGHTEST);
            let inner = match inner.starts_with('-') {
                true => format!("({inner})"),
                false => inner,
            };
            Text::of(format!("{sign}{inner}"), UNARY)
        }
        ValueKind::Binary(operator, left, right) => {
            let strength = operator.strength();
            if operator.is_truth()
                && let Some((left, right)) = Value::compared(left, right, function)
            {
                let side = |linear: &Linear| form(function, statement, linear);
                return Text::of(
                    format!("{} {} {}", side(&left), operator.text(), side(&right)),
                    strength,
                );
            }
            let (left, right) = (of(left).at(strength), of(right).at(strength + 1));
            Text::of(format!("{left} {} {right}", operator.text()), strength)
        }
        ValueKind::Select(condition, then, other) => {
            let condition = of(condition).at(1);
            let branch = |branch: &Value| match value.scalar.computed() == branch.scalar.computed()
            {
                true => of(branch).at(1),
                false => converted(function, scope, branch, value.scalar.computed()).at(1),
            };
            Text::of(
                format!("{condition} ? {} : {}", branch(then), branch(other)),
                LOOSEST,
            )
        }
        ValueKind::Call(builtin, computed, arguments) => {
            let last = arguments.len() - 1;
            let each = arguments.iter().enumerate().map(|(position, argument)| {
                let is_index = match builtin.signature {
                    Signature::RealThenInteger => position == last,
                    Signature::IntegerThenReal => position == 0,
                    _ => false,
                };
                let wanted = if is_index { Scalar::Int32 } else { *computed };
                converted(function, scope, argument, wanted).at(LOOSEST)
            });
            let each: Vec<String> = each.collect();
            match (builtin.name, computed.is_signed()) {
                ("abs", false) => Text::of(format!("({})", each.join(", ")), TIGHTEST),
                _ => Text::of(
                    format!("{}({})", builtin.cuda(*computed), each.join(", ")),
                    TIGHTEST,
                ),
            }
        }
        ValueKind::Cast(operand) => match value.scalar {
            Scalar::Half | Scalar::Bfloat16 => {
                let inner = converted(function, scope, operand, Scalar::Float).at(LOOSEST);
                Text::of(
                    loaded(&stored(inner, value.scalar, Scalar::Float), value.scalar),
                    TIGHTEST,
                )
            }
            scalar => {
                let inner = of(operand).at(UNARY);
                Text::of(format!("({}){inner}", scalar.cuda()), UNARY)
            }
        },
    }
}

fn integer(number: i64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Bool => (number != 0).to_string(),
        Scalar::Int64 => format!("{number}LL"),
        _ => number.to_string(),
    }
}

fn real(number: f64, scalar: Scalar) -> String {
    match scalar {
        Scalar::Double => format!("{number:?}"),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the literal is one of single precision"
        )]
        _ => {
            let single = number as f32;
            match single.is_finite() {
                true => format!("{single:?}f"),
                false => "INFINITY".to_owned(),
            }
        }
    }
}

/// A read in the type in which it is computed.
fn read(function: &Function, scope: Scope<'_>, tensor: usize, subscripts: &[Subscript]) -> String {
    let known = &function.tensors[tensor];
    if let Some(held) = (scope.held)(tensor, subscripts) {
        return loaded(&held, known.scalar);
    }
    if known.role == Role::Value {
        return loaded(&known.name, known.scalar);
    }
    let place = place(function, scope, tensor, subscripts);
    let is_guarded = subscripts.iter().any(|subscript| subscript.guarded);
    let element = match is_guarded {
        true => format!("tc_read({}, {place})", known.name),
        false => format!("{}[{place}]", known.name),
    };
    loaded(&element, known.scalar)
}

/// An element as it is computed with.
pub(super) fn loaded(element: &str, scalar: Scalar) -> String {
    match scalar {
        Scalar::Half => format!("__half2float({element})"),
        Scalar::Bfloat16 => format!("__bfloat162float({element})"),
        _ => element.to_owned(),
    }
}

/// A computed value as an element.
pub(super) fn stored(value: String, scalar: Scalar, computed: Scalar) -> String {
    match scalar {
        Scalar::Half => format!("__float2half({value})"),
        Scalar::Bfloat16 => format!("__float2bfloat16({value})"),
        _ if scalar == computed => value,
        _ => format!("({})({value})", scalar.cuda()),
    }
}

/// The place of an element in its tensor; -1 where a subscript that may be outside is.
pub(super) fn place<'s>(
    function: &Function,
    scope: impl Into<Scope<'s>>,
    tensor: usize,
    subscripts: &[Subscript],
) -> String {
    let scope = scope.into();
    let extents = &function.tensors[tensor].extents;
    let is_guarded = subscripts.iter().any(|subscript| subscript.guarded);
    let index = |subscript: &Subscript| match &subscript.linear {
        Some(linear) => form(function, scope.statement, linear),
        None => converted(function, scope, &subscript.value, Scalar::Int64).at(LOOSEST),
    };
    let mut place: Option<String> = None;
    for (subscript, extent) in subscripts.iter().zip(extents) {
        let index = index(subscript);
        let extent = super::factor(function, extent);
        place = Some(match (place, is_guarded) {
            (before, true) => {
                let before = before.unwrap_or_else(|| "0".to_owned());
                format!("tc_place({before}, {index}, {extent})")
            }
            (None, false) => index,
            (Some(before), false) if before == "0" => index,
            (Some(before), false) => {
                format!("{} * {extent} + {}", bracketed(&before), bracketed(&index))
            }
        });
    }
    place.unwrap_or_else(|| "0".to_owned())
}

/// What a reduction begins with, in the type in which it is computed.
pub(super) fn neutral(reduction: Reduction, scalar: Scalar) -> String {
    let computed = scalar.computed();
    let number = |number: i64| match computed {
        Scalar::Float => format!("{number}.0f"),
        Scalar::Double => format!("{number}.0"),
        Scalar::Int64 => format!("{number}LL"),
        Scalar::Uint32 => format!("{number}u"),
        Scalar::Uint64 => format!("{number}ull"),
        _ => number.to_string(),
    };
    match reduction {
        Reduction::Sum => number(0),
        Reduction::Product => number(1),
        Reduction::Minimum => largest(scalar).to_owned(),
        Reduction::Maximum => smallest(scalar).to_owned(),
    }
}

fn largest(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "1",
        Scalar::Int8 => "127",
        Scalar::Uint8 => "255",
        Scalar::Int16 => "32767",
        Scalar::Uint16 => "65535",
        Scalar::Int32 => "2147483647",
        Scalar::Uint32 => "4294967295u",
        Scalar::Int64 => "9223372036854775807LL",
        Scalar::Uint64 => "18446744073709551615ull",
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float => "INFINITY",
        Scalar::Double => "(double)INFINITY",
    }
}

fn smallest(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool | Scalar::Uint8 | Scalar::Uint16 => "0",
        Scalar::Uint32 => "0u",
        Scalar::Uint64 => "0ull",
        Scalar::Int8 => "-128",
        Scalar::Int16 => "-32768",
        Scalar::Int32 => "-2147483647 - 1",
        Scalar::Int64 => "-9223372036854775807LL - 1",
        Scalar::Half | Scalar::Bfloat16 | Scalar::Float => "-INFINITY",
        Scalar::Double => "-(double)INFINITY",
    }
}

/// Two values joined by a reduction.
pub(super) fn joined(reduction: Reduction, computed: Scalar, left: &str, right: &str) -> String {
    let function = match (reduction, computed) {
        (Reduction::Sum, _) => return format!("{left} + {}", bracketed(right)),
        (Reduction::Product, _) => return format!("{left} * {}", bracketed(right)),
        (Reduction::Minimum, Scalar::Float) => "fminf",
        (Reduction::Minimum, Scalar::Double) => "fmin",
        (Reduction::Minimum, _) => "min",
        (Reduction::Maximum, Scalar::Float) => "fmaxf",
        (Reduction::Maximum, Scalar::Double) => "fmax",
        (Reduction::Maximum, _) => "max",
    };
    format!("{function}({left}, {right})")
}

/// In brackets unless it is one word or one call.
pub(super) fn bracketed(text: &str) -> String {
    match is_tight(text) {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

/// Calls `visit` with each form in a statement.
pub(super) fn forms(statement: &Statement, visit: &mut dyn FnMut(&Linear)) {
    fn of_value(value: &Value, visit: &mut dyn FnMut(&Linear)) {
        match &value.kind {
            ValueKind::Integer(_) | ValueKind::Real(_) | ValueKind::Variable(_) => {}
            ValueKind::Size(form) => visit(form),
            ValueKind::Read { subscripts, .. } => {
                subscripts
                    .iter()
                    .for_each(|subscript| of_subscript(subscript, visit));
            }
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => of_value(operand, visit),
            ValueKind::Binary(_, left, right) => {
                of_value(left, visit);
                of_value(right, visit);
            }
            ValueKind::Select(condition, then, other) => {
                of_value(condition, visit);
                of_value(then, visit);
                of_value(other, visit);
            }
            ValueKind::Call(_, _, arguments) => {
                arguments
                    .iter()
                    .for_each(|argument| of_value(argument, visit));
            }
        }
    }
    fn of_subscript(subscript: &Subscript, visit: &mut dyn FnMut(&Linear)) {
        match &subscript.linear {
            Some(form) => visit(form),
            None => of_value(&subscript.value, visit),
        }
    }
    for variable in &statement.variables {
        for bound in [&variable.low, &variable.high] {
            match bound {
                Bound::Linear(form) => visit(form),
                Bound::Data(value) => of_value(value, visit),
            }
        }
    }
    statement
        .subscripts
        .iter()
        .for_each(|subscript| of_subscript(subscript, visit));
    of_value(&statement.value, visit);
}

/// Indices that a value names outside of the subscripts of its reads.
pub(super) fn used_indices(value: &Value) -> Vec<usize> {
    fn walk(value: &Value, found: &mut Vec<usize>) {
        match &value.kind {
            ValueKind::Variable(index) => found.push(*index),
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => walk(operand, found),
            ValueKind::Binary(_, left, right) => {
                walk(left, found);
                walk(right, found);
            }
            ValueKind::Select(condition, then, other) => {
                walk(condition, found);
                walk(then, found);
                walk(other, found);
            }
            ValueKind::Call(_, _, arguments) => {
                arguments.iter().for_each(|argument| walk(argument, found));
            }
            ValueKind::Integer(_)
            | ValueKind::Real(_)
            | ValueKind::Size(_)
            | ValueKind::Read { .. } => {}
        }
    }
    let mut found = Vec::new();
    walk(value, &mut found);
    found
}
