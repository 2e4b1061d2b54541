//! Typed statements: what [`super::ranges`] makes of trees, and what every mapping begins with.
//!
//! This is the interface for schedulers. A [`Statement`] is one statement in the polyhedral sense: its `variables` with
//! their bounds are its domain, the `linear` forms of subscripts are its accesses, and it is atomic: for each value of the
//! indices on the left one element is computed, by a reduction over the others. A subscript without a linear form may be
//! any number; a bound that is [`Bound::Data`] may be, too. The order of the statements is the order in which they are
//! written, each on whole tensors.
//!
//! Invariant: each read that is not `guarded` is inside its tensor whenever the [`Function::checks`] hold; each element of
//! an output is defined; a statement that reads the tensor that it writes reads no element that another of its own
//! instances writes.

use super::builtins::Builtin;
use super::fault::Span;
use super::linear::{Atom, Linear};
use super::syntax::tree::{Binary, Operator, Unary};
use super::types::Scalar;

/// A definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub span: Span,
    /// Sizes in the order of their first appearance, and what else bounds and subscripts may speak of.
    pub symbols: Vec<Symbol>,
    /// All tensors: inputs in their order, then outputs and temporaries as they are met.
    pub tensors: Vec<Tensor>,
    /// The outputs in the order of the returns: numbers in `tensors`.
    pub returns: Vec<usize>,
    /// What the launcher checks.
    pub checks: Vec<Check>,
    /// What is done, in order.
    pub body: Vec<Step>,
}

/// A number that the host knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub kind: SymbolKind,
}

/// Where a symbol comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// An extent: never negative, an `int` of the launcher.
    Size,
    /// A value among the inputs: a number in the function's `tensors`.
    Value(usize),
    /// The index of a time loop.
    Time,
}

/// A tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name; no other one of the function has it.
    pub name: String,
    /// Where it is declared, or defined first.
    pub span: Span,
    /// The type of its elements.
    pub scalar: Scalar,
    /// Its extents in elements, row-major, without indices.
    pub extents: Vec<Linear>,
    /// What it is for.
    pub role: Role,
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Given, never changed.
    Input,
    /// A value instead of a tensor.
    Value,
    /// Given and changed: an input that is among the returns.
    Changed,
    /// A result.
    Output,
    /// Neither.
    Temporary,
}

/// What must hold of the sizes that a call brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is about.
    pub span: Span,
    /// The left side.
    pub left: Linear,
    /// Whether both sides are to be equal; else the left one is at most the right one.
    pub equal: bool,
    /// The right side.
    pub right: Linear,
    /// It is needed only where all of these are positive.
    pub when_positive: Vec<Linear>,
    /// What is wrong where it does not hold.
    pub message: String,
}

/// A step of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One statement.
    Statement(Box<Statement>),
    /// A time loop.
    Loop(TimeLoop),
}

/// Steps that are carried out for each value of a symbol, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeLoop {
    /// The symbol.
    pub symbol: usize,
    /// Its first value.
    pub low: Linear,
    /// Behind its last value.
    pub high: Linear,
    /// The steps.
    pub body: Vec<Step>,
}

/// A tensor, element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// All of it.
    pub span: Span,
    /// The tensor that it writes.
    pub target: usize,
    /// Which element.
    pub subscripts: Vec<Subscript>,
    /// Its indices: those on the left in their order there, then those that are reduced as they are met.
    pub variables: Vec<Variable>,
    /// What happens to the element.
    pub operator: Operator,
    /// The value.
    pub value: Value,
    /// Several values of the indices on the left may name one element: a scatter, in the order of the indices. With
    /// `!` the whole tensor is first set to the neutral element.
    pub scatter: bool,
}

impl Statement {
    /// Numbers of the indices on the left.
    pub fn free(&self) -> impl Iterator<Item = usize> {
        let all = self.variables.iter().enumerate();
        all.filter(|(_, variable)| variable.on_left)
            .map(|(number, _)| number)
    }

    /// Numbers of the indices that are reduced.
    pub fn reduced(&self) -> impl Iterator<Item = usize> {
        let all = self.variables.iter().enumerate();
        all.filter(|(_, variable)| !variable.on_left)
            .map(|(number, _)| number)
    }

    /// Whether the bounds of all indices that are reduced are sums of sizes and numbers, the same for all values of others.
    pub fn reduces_a_box(&self) -> bool {
        self.reduced().all(|index| {
            let variable = &self.variables[index];
            let mut bounds = [&variable.low, &variable.high].into_iter();
            bounds.all(|bound| {
                bound
                    .linear()
                    .is_some_and(|form| form.variables().is_empty())
            })
        })
    }
}

/// An index.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its first value.
    pub low: Bound,
    /// Behind its last value.
    pub high: Bound,
    /// Whether it stands on the left; its bounds then have no index.
    pub on_left: bool,
}

/// One end of a range; it speaks only of indices before its own.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// A number that sizes and other indices give.
    Linear(Linear),
    /// A number that data give: ragged rows.
    Data(Value),
}

impl Bound {
    /// The form, where there is one.
    pub fn linear(&self) -> Option<&Linear> {
        match self {
            Self::Linear(form) => Some(form),
            Self::Data(_) => None,
        }
    }
}

/// One subscript of an access.
#[derive(Clone, Debug, PartialEq)]
pub struct Subscript {
    /// Where it stands.
    pub span: Span,
    /// Its value, in 64 bits.
    pub value: Value,
    /// The form that it is, where there is one.
    pub linear: Option<Linear>,
    /// It may lie outside: a read then gives 0, and a write does nothing.
    pub guarded: bool,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Its type; it is computed in [`Scalar::computed`] of it.
    pub scalar: Scalar,
    /// What it is.
    pub kind: ValueKind,
}

/// Kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    /// A whole number or truth value.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// An index of the statement.
    Variable(usize),
    /// A size or extent, which has no index.
    Size(Linear),
    /// An element of a tensor, or a value among the inputs.
    Read {
        /// The tensor.
        tensor: usize,
        /// Which element.
        subscripts: Vec<Subscript>,
    },
    /// One operand.
    Unary(Unary, Box<Value>),
    /// Two operands, converted to the type that C++ joins them to.
    Binary(Binary, Box<Value>, Box<Value>),
    /// The second where the first holds, else the third; only that one is computed.
    Select(Box<Value>, Box<Value>, Box<Value>),
    /// A function of arguments that are converted to the given type.
    Call(&'static Builtin, Scalar, Vec<Value>),
    /// The operand in another type.
    Cast(Box<Value>),
}

impl Value {
    /// The linear form of a whole number, where it has one. Quotients and remainders by positive numbers are rounded down,
    /// which is what they are in subscripts, bounds and comparisons.
    pub fn linear(&self, function: &Function) -> Option<Linear> {
        let of = |value: &Self| value.linear(function);
        match &self.kind {
            ValueKind::Integer(number) if self.scalar != Scalar::Bool => {
                Some(Linear::number(*number))
            }
            ValueKind::Variable(variable) => Some(Linear::variable(*variable)),
            ValueKind::Size(form) => Some(form.clone()),
            ValueKind::Read { tensor, .. } => {
                let is_it = |kind: SymbolKind| kind == SymbolKind::Value(*tensor);
                let number = function
                    .symbols
                    .iter()
                    .position(|symbol| is_it(symbol.kind))?;
                Some(Linear::symbol(number))
            }
            ValueKind::Unary(Unary::Negate, operand) => of(operand)?.scale(-1),
            ValueKind::Cast(operand) => {
                // Others could cut the number off.
                let keeps = matches!(self.scalar, Scalar::Int32 | Scalar::Int64);
                of(operand).filter(|_| keeps && operand.scalar.is_integer())
            }
            ValueKind::Binary(operator, left, right) => {
                let (left, right) = (of(left)?, of(right)?);
                match operator {
                    Binary::Add => left.add(&right),
                    Binary::Subtract => left.subtract(&right),
                    Binary::Multiply => left.multiply(&right),
                    Binary::Divide => left.floor_divide(right.as_number()?),
                    Binary::Remainder => {
                        let divisor = right.as_number()?;
                        left.plus(&left.floor_divide(divisor)?, divisor.checked_neg()?)
                    }
                    _ => None,
                }
            }
            ValueKind::Call(builtin, _, arguments) => match (builtin.name, arguments.as_slice()) {
                ("min", [left, right]) => of(left)?.minimum(&of(right)?),
                ("max", [left, right]) => of(left)?.maximum(&of(right)?),
                _ => None,
            },
            _ => None,
        }
    }

    /// The forms of both sides of a comparison, where both have one: it then is one of numbers that never overflow.
    pub fn compared(left: &Self, right: &Self, function: &Function) -> Option<(Linear, Linear)> {
        // Unsigned numbers compare as such.
        let is_signed = left.scalar.joined(right.scalar).is_signed();
        let both = left.linear(function).zip(right.linear(function));
        both.filter(|_| is_signed)
    }

    /// Calls `visit` with each read in the value: tensor and subscripts; those in subscripts first.
    pub fn reads<'v>(&'v self, visit: &mut dyn FnMut(usize, &'v [Subscript])) {
        self.reads_under(&mut |tensor, subscripts, _| visit(tensor, subscripts));
    }

    /// The same, with the tests under which the read is computed.
    pub fn reads_under<'v>(&'v self, visit: VisitTested<'_, 'v>) {
        self.reads_behind(&mut Vec::new(), visit);
    }

    fn reads_behind<'v>(&'v self, tests: &mut Vec<Test<'v>>, visit: VisitTested<'_, 'v>) {
        match &self.kind {
            ValueKind::Integer(_)
            | ValueKind::Real(_)
            | ValueKind::Variable(_)
            | ValueKind::Size(_) => {}
            ValueKind::Read { tensor, subscripts } => {
                for subscript in subscripts {
                    subscript.value.reads_behind(tests, visit);
                }
                visit(*tensor, subscripts, tests);
            }
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => {
                operand.reads_behind(tests, visit);
            }
            ValueKind::Binary(operator, left, right) => {
                left.reads_behind(tests, visit);
                let holds = match operator {
                    Binary::And => true,
                    Binary::Or => false,
                    _ => return right.reads_behind(tests, visit),
                };
                tests.push((left, holds));
                right.reads_behind(tests, visit);
                tests.pop();
            }
            ValueKind::Select(condition, then, other) => {
                condition.reads_behind(tests, visit);
                for (branch, holds) in [(then, true), (other, false)] {
                    tests.push((condition, holds));
                    branch.reads_behind(tests, visit);
                    tests.pop();
                }
            }
            ValueKind::Call(_, _, arguments) => {
                for argument in arguments {
                    argument.reads_behind(tests, visit);
                }
            }
        }
    }
}

/// A condition, and whether it holds.
pub type Test<'v> = (&'v Value, bool);

/// Is given a read: its tensor, its subscripts, and the tests under which it is computed, outer ones first.
pub type VisitTested<'f, 'v> = &'f mut dyn FnMut(usize, &'v [Subscript], &[Test<'v>]);

impl Statement {
    /// Calls `visit` with each read of the statement: in its value, its subscripts on the left and its bounds.
    pub fn reads<'s>(&'s self, visit: &mut dyn FnMut(usize, &'s [Subscript])) {
        for variable in &self.variables {
            for bound in [&variable.low, &variable.high] {
                if let Bound::Data(value) = bound {
                    value.reads(visit);
                }
            }
        }
        for subscript in &self.subscripts {
            subscript.value.reads(visit);
        }
        self.value.reads(visit);
    }
}

impl Function {
    /// Whether a form is never negative, as can be seen from its parts: sizes, and the given indices.
    pub fn is_natural(&self, form: &Linear, index: &dyn Fn(usize) -> bool) -> bool {
        let natural = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => self.symbols[*symbol].kind == SymbolKind::Size,
            Atom::Variable(variable) => index(*variable),
            Atom::Floor(form, _) => self.is_natural(form, index),
            Atom::Minimum(forms) => forms.iter().all(|form| self.is_natural(form, index)),
            Atom::Maximum(forms) => forms.iter().any(|form| self.is_natural(form, index)),
            Atom::Product(a, b) => self.is_natural(a, index) && self.is_natural(b, index),
        };
        let mut terms = form.terms.iter();
        form.constant >= 0 && terms.all(|(atom, factor)| *factor > 0 && natural(atom))
    }
}
