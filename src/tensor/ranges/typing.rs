//! Trees to values: types, and the linear forms of whole numbers.
//!
//! Numbers that are written have no type of their own: a number with a fraction gets the type of the value that it is
//! joined with, else `float`.

use super::Checked;
use super::scope::{Entity, Scope};
use crate::tensor::builtins::{self, Builtin, Signature};
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::program::{Role, Subscript, Value, ValueKind};
use crate::tensor::syntax::tree::{Binary, Expression, Kind, Name, Unary};
use crate::tensor::types::Scalar;

/// What names mean in a statement.
pub(super) struct Names<'s> {
    /// The definition's names.
    pub(super) scope: &'s Scope,
    /// Indices, in the order in which they were met, and where.
    pub(super) variables: Vec<Name>,
    /// Whether a name that is nothing else is a new index.
    open: bool,
    /// The tensor that the statement defines, where nothing before it does.
    pub(super) defined: Option<&'s str>,
}

impl<'s> Names<'s> {
    /// For a value of sizes alone.
    pub(super) fn without_indices(scope: &'s Scope) -> Self {
        Self {
            scope,
            variables: Vec::new(),
            open: false,
            defined: None,
        }
    }

    /// For a statement, whose indices are what is met.
    pub(super) fn of_statement(scope: &'s Scope) -> Self {
        Self {
            scope,
            variables: Vec::new(),
            open: true,
            defined: None,
        }
    }

    /// The number of an index.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|known| known.text == name)
    }
}

/// What an expression is expected to be.
#[derive(Clone, Copy)]
struct Wish {
    /// Indices and sizes are 64 bits wide.
    wide: bool,
    /// The type that written numbers get.
    real: Option<Scalar>,
}

/// The value of an expression; `target` is the type of the tensor that gets it, where that is known.
pub(super) fn value(
    names: &mut Names<'_>,
    expression: &Expression,
    target: Option<Scalar>,
) -> Checked<Value> {
    let real = target.filter(|scalar| scalar.is_floating());
    let wish = Wish { wide: false, real };
    let wish = match (is_written(expression), real) {
        (true, _) => wish,
        // Something in it has a type.
        (false, _) => Wish { real: None, ..wish },
    };
    typed(names, expression, wish)
}

/// The value of a subscript or bound.
pub(super) fn wide(names: &mut Names<'_>, expression: &Expression) -> Checked<Value> {
    let wish = Wish {
        wide: true,
        real: None,
    };
    let value = typed(names, expression, wish)?;
    if value.scalar.is_floating() || value.scalar == Scalar::Bool {
        let message = format!(
            "a whole number is needed here, and this is '{}'",
            value.scalar
        );
        let fault = Fault::new(expression.span, message);
        return Err(fault.mend("convert it: 'int(…)'").into());
    }
    Ok(value)
}

/// Whether nothing but written numbers is in it.
fn is_written(expression: &Expression) -> bool {
    match &expression.kind {
        Kind::Integer(_) | Kind::Real(_, None) => true,
        Kind::Real(_, Some(_)) | Kind::Truth(_) | Kind::Name(_) | Kind::Extent(..) => false,
        Kind::Cast(..) => false,
        Kind::Apply(name, arguments) => {
            builtins::of_name(&name.text).is_some() && arguments.iter().all(is_written)
        }
        Kind::Unary(_, operand) => is_written(operand),
        Kind::Binary(operator, left, right) => {
            !operator.is_truth() && is_written(left) && is_written(right)
        }
        Kind::Select(_, then, other) => is_written(then) && is_written(other),
    }
}

fn typed(names: &mut Names<'_>, expression: &Expression, wish: Wish) -> Checked<Value> {
    let span = expression.span;
    let of = |scalar, kind| Ok(Value { scalar, kind });
    let index_type = if wish.wide {
        Scalar::Int64
    } else {
        Scalar::Int32
    };
    match &expression.kind {
        Kind::Integer(number) => {
            let number = i64::try_from(*number).unwrap_or(i64::MAX);
            let scalar = match i32::try_from(number) {
                Ok(_) => index_type,
                Err(_) => Scalar::Int64,
            };
            of(scalar, ValueKind::Integer(number))
        }
        Kind::Real(number, scalar) => {
            let scalar = scalar.or(wish.real).unwrap_or(Scalar::Float);
            of(scalar, ValueKind::Real(*number))
        }
        Kind::Truth(truth) => of(Scalar::Bool, ValueKind::Integer(i64::from(*truth))),
        Kind::Name(name) => {
            let name = Name {
                text: name.clone(),
                span,
            };
            named(names, &name, index_type)
        }
        Kind::Extent(name, dimension) => {
            let extent = extent(names.scope, name, *dimension, span)?;
            of(index_type, ValueKind::Size(extent))
        }
        Kind::Apply(name, arguments) => match names.scope.names.get(&name.text) {
            Some(Entity::Tensor(tensor)) => read(names, *tensor, (name, span), arguments),
            Some(Entity::Symbol(_)) => {
                let fault = Fault::new(
                    name.span,
                    format!("'{}' is a size, not a tensor", name.text),
                );
                Err(fault
                    .mend(format!("to multiply by it, write '{} * (…)'", name.text))
                    .into())
            }
            None => match builtins::of_name(&name.text) {
                Some(builtin) => call(names, builtin, (name, span), arguments, wish),
                None => Err(unknown(names, name)),
            },
        },
        Kind::Cast(scalar, operand) => {
            let inner = Wish {
                wide: wish.wide,
                real: Some(*scalar).filter(|scalar| scalar.is_floating()),
            };
            let operand = typed(names, operand, inner)?;
            of(*scalar, ValueKind::Cast(Box::new(operand)))
        }
        Kind::Unary(operator, operand) => {
            let operand = typed(names, operand, wish)?;
            let scalar = match operator {
                Unary::Not => Scalar::Bool,
                Unary::Negate if operand.scalar.is_floating() => operand.scalar,
                Unary::Negate => operand.scalar.computed(),
            };
            of(scalar, ValueKind::Unary(*operator, Box::new(operand)))
        }
        Kind::Binary(operator, left, right) => {
            let (left, right) = joined(names, left, right, wish)?;
            let joined = left.scalar.joined(right.scalar);
            if *operator == Binary::Remainder && joined.is_floating() {
                let fault = Fault::new(span, "'%' takes whole numbers");
                return Err(fault.mend("write 'fmod(x, y)'").into());
            }
            let scalar = match operator.is_truth() {
                true => Scalar::Bool,
                false => joined,
            };
            of(
                scalar,
                ValueKind::Binary(*operator, Box::new(left), Box::new(right)),
            )
        }
        Kind::Select(condition, then, other) => {
            let condition = typed(names, condition, Wish { real: None, ..wish })?;
            let (then, other) = joined(names, then, other, wish)?;
            let scalar = match then.scalar == other.scalar {
                true => then.scalar,
                false => then.scalar.joined(other.scalar),
            };
            let parts = (Box::new(condition), Box::new(then), Box::new(other));
            of(scalar, ValueKind::Select(parts.0, parts.1, parts.2))
        }
    }
}

/// Two operands; numbers that are written on one side get their type from the other.
fn joined(
    names: &mut Names<'_>,
    left: &Expression,
    right: &Expression,
    wish: Wish,
) -> Checked<(Value, Value)> {
    let real = |value: &Value| Some(value.scalar).filter(|scalar| scalar.is_floating());
    match (is_written(left), is_written(right)) {
        (true, false) => {
            // Indices are met in the order in which they are written.
            let right = typed(names, right, Wish { real: None, ..wish })?;
            let real = real(&right);
            Ok((typed(names, left, Wish { real, ..wish })?, right))
        }
        (false, true) => {
            let left = typed(names, left, Wish { real: None, ..wish })?;
            let real = real(&left);
            let right = typed(names, right, Wish { real, ..wish })?;
            Ok((left, right))
        }
        (true, true) => Ok((typed(names, left, wish)?, typed(names, right, wish)?)),
        (false, false) => {
            let wish = Wish { real: None, ..wish };
            Ok((typed(names, left, wish)?, typed(names, right, wish)?))
        }
    }
}

fn named(names: &mut Names<'_>, name: &Name, index_type: Scalar) -> Checked<Value> {
    match names.scope.names.get(&name.text) {
        Some(Entity::Symbol(symbol)) => Ok(Value {
            scalar: index_type,
            kind: ValueKind::Size(Linear::symbol(*symbol)),
        }),
        Some(Entity::Tensor(tensor)) => read(names, *tensor, (name, name.span), &[]),
        None => {
            let number = match (names.number(&name.text), names.open) {
                (Some(number), _) => number,
                (None, true) => {
                    super::scope::is_usable(name)?;
                    names.variables.push(name.clone());
                    names.variables.len() - 1
                }
                (None, false) => {
                    let message = format!("'{}' is no size of an input", name.text);
                    let mend = format!(
                        "use sizes from the extents of inputs, or an extent such as 'A.0', or add the input 'int {}'",
                        name.text
                    );
                    return Err(Fault::new(name.span, message).mend(mend).into());
                }
            };
            Ok(Value {
                scalar: index_type,
                kind: ValueKind::Variable(number),
            })
        }
    }
}

fn read(
    names: &mut Names<'_>,
    tensor: usize,
    (name, span): (&Name, Span),
    arguments: &[Expression],
) -> Checked<Value> {
    let known = &names.scope.function.tensors[tensor];
    let (rank, scalar) = (known.extents.len(), known.scalar);
    if rank != arguments.len() {
        let message = match (known.role, rank) {
            (Role::Value, _) => format!("'{}' is a value and has no subscripts", name.text),
            (_, rank) => format!(
                "'{}' has {}, and {} here",
                name.text,
                counted(rank, "dimension", "dimensions"),
                counted(arguments.len(), "subscript", "subscripts"),
            ),
        };
        let mut fault = Fault::new(span, message);
        if known.role != Role::Value {
            let indices = ["i", "j", "k", "l"];
            let all: Vec<&str> = (0..rank)
                .map(|at| *indices.get(at).unwrap_or(&"…"))
                .collect();
            fault = fault.mend(match rank {
                0 => format!("write '{}'", name.text),
                _ => format!(
                    "values are those of elements, with a subscript for each dimension: '{}({})'",
                    name.text,
                    all.join(", ")
                ),
            });
        }
        return Err(fault.note(known.span, "it is declared here").into());
    }
    if names.scope.ended[tensor] {
        let message = format!(
            "'{}' is gone when the loop ends: each iteration makes one of its own",
            name.text
        );
        return Err(Fault::new(span, message)
            .mend("read it inside of the loop, or declare it before the loop with a dimension for the iterations")
            .into());
    }
    if !names.scope.written[tensor] {
        let message = format!("'{}' is read before anything defines it", name.text);
        return Err(Fault::new(span, message)
            .mend("give it a first value in a statement before this one, and before the loop around it if there is one")
            .into());
    }
    let mut subscripts = Vec::new();
    for argument in arguments {
        subscripts.push(subscript(names, argument)?);
    }
    Ok(Value {
        scalar,
        kind: ValueKind::Read { tensor, subscripts },
    })
}

/// A subscript, not yet known to be inside.
pub(super) fn subscript(names: &mut Names<'_>, expression: &Expression) -> Checked<Subscript> {
    let value = wide(names, expression)?;
    let linear = value.linear(&names.scope.function);
    Ok(Subscript {
        span: expression.span,
        value,
        linear,
        guarded: false,
    })
}

/// `T.1`.
fn extent(scope: &Scope, name: &Name, dimension: usize, span: Span) -> Checked<Linear> {
    let Some(Entity::Tensor(tensor)) = scope.names.get(&name.text) else {
        let fault = Fault::new(name.span, format!("'{}' is not a tensor", name.text));
        return Err(fault.into());
    };
    let tensor = &scope.function.tensors[*tensor];
    match tensor.extents.get(dimension) {
        Some(extent) => Ok(extent.clone()),
        None => {
            let count = counted(tensor.extents.len(), "dimension", "dimensions");
            let message = format!(
                "there is no '{}.{dimension}': '{}' has {count}",
                name.text, name.text
            );
            let fault = Fault::new(span, message);
            Err(fault.mend("dimensions are counted from 0").into())
        }
    }
}

fn call(
    names: &mut Names<'_>,
    builtin: &'static Builtin,
    (name, span): (&Name, Span),
    arguments: &[Expression],
    wish: Wish,
) -> Checked<Value> {
    if builtin.arguments != arguments.len() {
        let takes = counted(builtin.arguments, "argument", "arguments");
        let message = format!("'{}' takes {takes}, not {}", name.text, arguments.len());
        return Err(Fault::new(span, message).into());
    }
    let real = Wish {
        real: match arguments.iter().all(is_written) {
            true => wish.real,
            false => None,
        },
        ..wish
    };
    let mut values = Vec::new();
    for argument in arguments {
        values.push(typed(names, argument, real)?);
    }
    let is_index = |position: usize| match builtin.signature {
        Signature::RealThenInteger => position + 1 == arguments.len(),
        Signature::IntegerThenReal => position == 0,
        _ => false,
    };
    let strong = values.iter().zip(arguments).enumerate();
    let strong = strong.filter(|(position, (_, argument))| {
        !is_index(*position) && (!is_written(argument) || arguments.iter().all(is_written))
    });
    let strong = strong.map(|(_, (value, _))| value.scalar);
    let joined = strong.reduce(|a, b| if a == b { a } else { a.joined(b) });
    let mut joined = joined.unwrap_or(Scalar::Float);
    // A written number with a fraction beside whole numbers makes them `float`.
    if joined.is_integer() && values.iter().any(|value| value.scalar.is_floating()) {
        joined = Scalar::Float;
    }
    let joined = match builtin.signature {
        Signature::Any if joined.is_integer() => joined.computed(),
        Signature::Any => joined,
        _ if joined.is_integer() => Scalar::Float,
        _ => joined,
    };
    for (position, argument) in arguments.iter().enumerate() {
        if is_index(position) {
            if values[position].scalar.is_floating() {
                let message = format!("'{}' takes a whole number here", name.text);
                return Err(Fault::new(argument.span, message).into());
            }
        } else if is_written(argument) && joined.is_floating() {
            let real = Some(joined);
            values[position] = typed(names, argument, Wish { real, ..wish })?;
        }
    }
    let scalar = match builtin.signature {
        Signature::Predicate => Scalar::Bool,
        Signature::ToInteger => Scalar::Int32,
        Signature::ToLong => Scalar::Int64,
        _ => joined,
    };
    Ok(Value {
        scalar,
        kind: ValueKind::Call(builtin, joined.computed(), values),
    })
}

fn unknown(names: &Names<'_>, name: &Name) -> Box<Fault> {
    let later = names.scope.defined.contains(&name.text);
    if names.defined == Some(name.text.as_str()) || later {
        let message = format!("'{}' is read before anything defines it", name.text);
        let fault = Fault::new(name.span, message);
        let mend = match later {
            true => {
                "statements run in the order in which they stand: move the one that defines it up, or give it a first value before"
            }
            false => "give it a first value in a statement before this one",
        };
        return fault.mend(mend).into();
    }
    if names
        .scope
        .others
        .iter()
        .flatten()
        .any(|other| *other == name.text)
    {
        let message = format!("the definition '{}' cannot be called in a value", name.text);
        let mend = format!(
            "call it in a statement of its own, as in 'T = {}(A)', and read 'T(…)' here",
            name.text
        );
        return Fault::new(name.span, message).mend(mend).into();
    }
    let message = format!("'{}' is neither a tensor nor a function", name.text);
    let fault = Fault::new(name.span, message);
    if let Some(mend) = instead_of(&name.text) {
        return fault.mend(mend).into();
    }
    let tensors = names.scope.function.tensors.iter();
    let known = tensors.map(|tensor| tensor.name.as_str());
    let known = known.chain(builtins::BUILTINS.iter().map(|row| row.name));
    let close = known.map(|known| (strsim::damerau_levenshtein(known, &name.text), known));
    match close.min() {
        // Two letters of three are another word.
        Some((distance, known)) if distance <= 2 && distance * 3 <= name.text.len() => {
            fault.mend(format!("did you mean '{known}'?")).into()
        }
        _ => fault
            .mend("add it to the inputs, or define it in a statement before; functions are those of CUDA's math, such as 'exp(x)' and 'fmax(x, y)'")
            .into(),
    }
}

/// What is written here for what other languages have as a function.
pub(super) fn instead_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "sum" | "mean" | "dot" | "matmul" | "einsum" => {
            "write a sum as a statement: 'C(i, j) +=! A(i, k) * B(k, j)' adds up over 'k', which stands only on the right"
        }
        "prod" | "amax" | "amin" => {
            "write a reduction as a statement, such as 'L(i) max=! A(i, j)', which is over 'j'"
        }
        "len" | "size" | "shape" => "the extent of dimension 0 of a tensor is 'A.0'",
        "relu" => "write 'fmax(x, 0)'",
        "sigmoid" => "write '1 / (1 + exp(-x))'",
        "sqr" | "square" => "write 'x * x'",
        _ => return None,
    })
}

/// "one dimension", "2 dimensions", "no dimensions".
pub(super) fn counted(count: usize, one: &str, several: &str) -> String {
    match count {
        0 => format!("no {several}"),
        1 => format!("one {one}"),
        _ => format!("{count} {several}"),
    }
}

/// The indices in a value.
pub(super) fn variables(value: &Value, found: &mut Vec<usize>) {
    match &value.kind {
        ValueKind::Variable(variable) => {
            if !found.contains(variable) {
                found.push(*variable);
            }
        }
        ValueKind::Integer(_) | ValueKind::Real(_) => {}
        ValueKind::Size(form) => assert!(!form.has_variables(), "sizes have no indices"),
        ValueKind::Read { subscripts, .. } => {
            subscripts
                .iter()
                .for_each(|subscript| variables(&subscript.value, found));
        }
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => variables(operand, found),
        ValueKind::Binary(_, left, right) => {
            variables(left, found);
            variables(right, found);
        }
        ValueKind::Select(condition, then, other) => {
            variables(condition, found);
            variables(then, found);
            variables(other, found);
        }
        ValueKind::Call(_, _, arguments) => {
            arguments
                .iter()
                .for_each(|argument| variables(argument, found));
        }
    }
}

/// The same value with indices renumbered.
pub(super) fn renumber(value: &mut Value, places: &[usize]) {
    match &mut value.kind {
        ValueKind::Variable(variable) => *variable = places[*variable],
        ValueKind::Integer(_) | ValueKind::Real(_) | ValueKind::Size(_) => {}
        ValueKind::Read { subscripts, .. } => {
            subscripts
                .iter_mut()
                .for_each(|subscript| renumber_subscript(subscript, places));
        }
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => renumber(operand, places),
        ValueKind::Binary(_, left, right) => {
            renumber(left, places);
            renumber(right, places);
        }
        ValueKind::Select(condition, then, other) => {
            renumber(condition, places);
            renumber(then, places);
            renumber(other, places);
        }
        ValueKind::Call(_, _, arguments) => {
            arguments
                .iter_mut()
                .for_each(|argument| renumber(argument, places));
        }
    }
}

/// The same subscript with indices renumbered.
pub(super) fn renumber_subscript(subscript: &mut Subscript, places: &[usize]) {
    renumber(&mut subscript.value, places);
    subscript.linear = subscript
        .linear
        .take()
        .and_then(|form| renumbered(&form, places));
}

/// The same form with indices renumbered.
pub(super) fn renumbered(form: &Linear, places: &[usize]) -> Option<Linear> {
    form.substitute(&|atom| match atom {
        Atom::Variable(variable) => Some(Linear::variable(places[*variable])),
        _ => None,
    })
}
