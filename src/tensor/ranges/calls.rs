//! Statements that call another definition, or `concat`: the statements that they stand for.
//!
//! A called definition is copied, with tensors of the caller in the place of its inputs and outputs, their extents in the
//! place of its sizes, and new names for all else that would have another meaning here.

use super::Checked;
use super::scope::{Entity, Scope};
use super::typing::{counted, instead_of};
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::Linear;
use crate::tensor::program::{Check, Role};
use crate::tensor::syntax::tree::{
    Binary, Call, Clause, Comprehension, Declaration, Definition, Expression, Kind, Loop, Name,
    Operator, Returned, Statement,
};
use std::collections::HashMap;

/// A call of something that is no definition: a tensor without subscripts gets a value, as in `s = A(0)`.
pub(super) fn as_comprehension(scope: &Scope, call: &Call) -> Option<Comprehension> {
    let [target] = call.targets.as_slice() else {
        return None;
    };
    if !scope.names.contains_key(&call.function.text) {
        return None;
    }
    let span = call.function.span.to(call.span);
    Some(Comprehension {
        target: target.clone(),
        subscripts: Vec::new(),
        operator: Operator::Assign,
        operator_span: target.span,
        value: Expression {
            span,
            kind: Kind::Apply(call.function.clone(), call.arguments.clone()),
        },
        clauses: Vec::new(),
        span: call.span,
    })
}

/// What a call stands for.
pub(super) fn inlined(
    scope: &mut Scope,
    call: &Call,
    earlier: &[Definition],
) -> Checked<Vec<Statement>> {
    if call.function.text == "concat" {
        return concatenation(scope, call);
    }
    let name = &call.function;
    let Some(called) = earlier
        .iter()
        .find(|definition| definition.name.text == name.text)
    else {
        let message = format!("no definition '{}' stands before this one", name.text);
        let known = earlier.iter().map(|other| format!("'{}'", other.name.text));
        let known: Vec<String> = known.collect();
        let [_, later] = &scope.others;
        let mend = match (later.contains(&name.text), known.is_empty()) {
            (true, _) => "move it up, above the one that calls it".to_owned(),
            (false, _) if instead_of(&name.text).is_some() => instead_of(&name.text).unwrap_or_default().to_owned(),
            (false, true) => "only definitions that stand before can be called so; functions of CUDA's math, such as 'exp', take elements: 'B(i) = exp(A(i))'".to_owned(),
            (false, false) => format!("what stands there is {}", known.join(", ")),
        };
        return Err(Fault::new(name.span, message).mend(mend).into());
    };
    counts_fit(call, called)?;
    scope.calls += 1;
    if scope.calls > MOST_CALLS {
        let message = format!(
            "with this call, '{}' makes more than {MOST_CALLS} calls, those of what it calls among them",
            scope.function.name
        );
        let fault = Fault::new(scope.call.unwrap_or(call.span), message);
        let mend = "statements of a definition are copied wherever it is called; let the program call some of them one by one";
        return Err(fault.mend(mend).into());
    }
    let mut copy = Copy {
        suffix: format!("{}{}", name.text, scope.calls),
        replaced: HashMap::new(),
        taken: scope.names.keys().cloned().collect(),
    };
    for (parameter, argument) in called.parameters.iter().zip(&call.arguments) {
        bind(scope, &mut copy, parameter, argument)?;
    }
    let mut statements = Vec::new();
    for (returned, target) in called.returns.iter().zip(&call.targets) {
        let is_input = |parameter: &Declaration| parameter.name.text == returned.name().text;
        if called.parameters.iter().any(is_input) {
            let message = format!(
                "'{}' changes its input in place and cannot be called here",
                name.text
            );
            return Err(Fault::new(name.span, message)
                .mend("write its statements here")
                .into());
        }
        if let Some(Entity::Tensor(known)) = scope.names.get(&target.text)
            && scope.written[*known]
        {
            let message = format!("'{}' is defined already", target.text);
            let fault = Fault::new(target.span, message).mend("choose another name for the result");
            return Err(fault
                .note(scope.function.tensors[*known].span, "here")
                .into());
        }
        copy.replaced.insert(
            returned.name().text.clone(),
            Expression {
                span: target.span,
                kind: Kind::Name(target.text.clone()),
            },
        );
        if let Returned::Declared(declaration) = returned
            && !scope.names.contains_key(&target.text)
        {
            let mut declaration = declaration.clone();
            declaration.extents.get_or_insert_default();
            statements.push(Statement::Declaration(declaration));
        }
    }
    statements.extend(called.body.iter().cloned());
    for statement in &mut statements {
        copy.statement(statement);
    }
    Ok(statements)
}

/// Calls in one definition, also those of definitions that it calls: their number doubles with each level at worst.
const MOST_CALLS: usize = 1000;

fn counts_fit(call: &Call, called: &Definition) -> Checked<()> {
    let name = &call.function.text;
    let (wanted, given) = (called.parameters.len(), call.arguments.len());
    if wanted != given {
        let takes = counted(wanted, "input", "inputs");
        let message = format!("'{name}' takes {takes}, not {given}");
        let fault = Fault::new(call.span, message);
        return Err(fault.note(called.name.span, "it is defined here").into());
    }
    let (wanted, given) = (called.returns.len(), call.targets.len());
    if wanted != given {
        let gives = counted(wanted, "output", "outputs");
        let message = format!("'{name}' gives {gives}, not {given}");
        let fault = Fault::new(call.span, message);
        return Err(fault.note(called.name.span, "it is defined here").into());
    }
    Ok(())
}

/// Puts an argument in the place of an input.
fn bind(
    scope: &mut Scope,
    copy: &mut Copy,
    parameter: &Declaration,
    argument: &Expression,
) -> Checked<()> {
    let Some(extents) = &parameter.extents else {
        let value = Expression {
            span: argument.span,
            kind: Kind::Cast(parameter.scalar, Box::new(argument.clone())),
        };
        copy.replaced.insert(parameter.name.text.clone(), value);
        return Ok(());
    };
    let number = match &argument.kind {
        Kind::Name(name) => match scope.names.get(name) {
            Some(Entity::Tensor(number)) => Some(*number),
            _ => None,
        },
        _ => None,
    };
    let tensor = number.map(|number| &scope.function.tensors[number]);
    let Some(tensor) = tensor.filter(|tensor| tensor.role != Role::Value) else {
        let message = format!(
            "the input '{}' is a tensor, so that only the name of one can be passed",
            parameter.name.text
        );
        let mend = "define a tensor with this value in a statement before, and pass its name";
        return Err(Fault::new(argument.span, message).mend(mend).into());
    };
    let here = |message: String| {
        let fault = Fault::new(argument.span, message);
        fault.note(parameter.name.span, "the input is declared here")
    };
    if tensor.scalar != parameter.scalar {
        let message = format!(
            "elements of '{}' are of type '{}', and those of the input are '{}'",
            tensor.name, tensor.scalar, parameter.scalar
        );
        let mend = format!(
            "convert them in a statement before, as in 'T(…) = {}({}(…))', and pass 'T'",
            parameter.scalar, tensor.name
        );
        return Err(here(message).mend(mend).into());
    }
    if tensor.extents.len() != extents.len() {
        let has = counted(tensor.extents.len(), "dimension", "dimensions");
        let message = format!(
            "'{}' has {has}, and the input {}",
            tensor.name,
            extents.len()
        );
        return Err(here(message).into());
    }
    let name = Name {
        text: tensor.name.clone(),
        span: argument.span,
    };
    let actual = tensor.extents.clone();
    for (dimension, (extent, actual)) in extents.iter().zip(actual).enumerate() {
        let wanted = match &extent.kind {
            Kind::Integer(number) => Linear::number(i64::try_from(*number).unwrap_or(i64::MAX)),
            Kind::Name(size) => match copy.replaced.get(size) {
                None => {
                    let extent = Expression {
                        span: argument.span,
                        kind: Kind::Extent(name.clone(), dimension),
                    };
                    copy.replaced.insert(size.clone(), extent);
                    continue;
                }
                Some(bound) => scope.size(bound, "an extent")?,
            },
            _ => continue,
        };
        equal(
            scope,
            (argument.span, &name.text, dimension),
            actual,
            wanted,
        )?;
    }
    copy.replaced
        .insert(parameter.name.text.clone(), argument.clone());
    Ok(())
}

/// That two extents are equal: known, checked by the launcher, or refused.
fn equal(
    scope: &mut Scope,
    (span, name, dimension): (Span, &str, usize),
    actual: Linear,
    wanted: Linear,
) -> Checked<()> {
    if actual == wanted {
        return Ok(());
    }
    let shown = |form: &Linear| scope.shown(form, &[]);
    let message = format!(
        "dimension {dimension} of '{name}' has the extent {}, and {} is needed",
        shown(&actual),
        shown(&wanted)
    );
    let difference = actual.subtract(&wanted);
    if difference.and_then(|form| form.as_number()).is_some() {
        return Err(Fault::new(span, message).into());
    }
    scope.function.checks.push(Check {
        span,
        left: actual,
        equal: true,
        right: wanted,
        when_positive: Vec::new(),
        message,
    });
    Ok(())
}

/// `C = concat(A, B, 1)`: each tensor behind the one before along a dimension.
fn concatenation(scope: &mut Scope, call: &Call) -> Checked<Vec<Statement>> {
    let usage = "write 'C = concat(A, B, 0)': the tensors, and the dimension along which they follow each other";
    let [target] = call.targets.as_slice() else {
        return Err(Fault::new(call.span, "'concat' gives one tensor")
            .mend(usage)
            .into());
    };
    let axis = match call.arguments.last().map(|argument| &argument.kind) {
        Some(Kind::Integer(axis)) => usize::try_from(*axis).unwrap_or(usize::MAX),
        _ => {
            let message = "'concat' needs the number of a dimension behind the tensors";
            return Err(Fault::new(call.span, message).mend(usage).into());
        }
    };
    let parts = &call.arguments[..call.arguments.len() - 1];
    if parts.len() < 2 {
        return Err(Fault::new(call.span, "'concat' takes at least two tensors")
            .mend(usage)
            .into());
    }
    let mut tensors = Vec::new();
    for part in parts {
        let number = match &part.kind {
            Kind::Name(name) => match scope.names.get(name) {
                Some(Entity::Tensor(number)) => Some(*number),
                _ => None,
            },
            _ => None,
        };
        let Some(number) = number else {
            return Err(Fault::new(part.span, "'concat' takes names of tensors")
                .mend(usage)
                .into());
        };
        let tensor = &scope.function.tensors[number];
        if axis >= tensor.extents.len() {
            let has = counted(tensor.extents.len(), "dimension", "dimensions");
            let message = format!(
                "'{}' has {has}, and there is no dimension {axis} among them",
                tensor.name
            );
            let mend = "dimensions are counted from 0: the last number is that of the dimension along which they follow each other";
            return Err(Fault::new(part.span, message).mend(mend).into());
        }
        tensors.push((
            tensor.name.clone(),
            tensor.extents.clone(),
            tensor.scalar,
            part.span,
        ));
    }
    let (first, extents, scalar, _) = tensors[0].clone();
    for (name, others, other_scalar, span) in &tensors[1..] {
        if *other_scalar != scalar {
            let message = format!(
                "elements of '{name}' are of type '{other_scalar}', and those of '{first}' are '{scalar}'"
            );
            let mend = format!(
                "convert them in a statement before, as in 'T(…) = {scalar}({name}(…))', and pass 'T'"
            );
            return Err(Fault::new(*span, message).mend(mend).into());
        }
        if others.len() != extents.len() {
            let has = counted(others.len(), "dimension", "dimensions");
            let message = format!("'{name}' has {has}, and '{first}' {}", extents.len());
            return Err(Fault::new(*span, message).into());
        }
        for (dimension, (extent, other)) in extents.iter().zip(others).enumerate() {
            if dimension != axis {
                equal(
                    scope,
                    (*span, name, dimension),
                    other.clone(),
                    extent.clone(),
                )?;
            }
        }
    }
    let span = call.span;
    let of = |kind: Kind| Expression { span, kind };
    let name = |text: &str| Name {
        text: text.to_owned(),
        span,
    };
    let mut index_names = Vec::new();
    for dimension in 0..extents.len() {
        let mut text = format!("i{dimension}");
        while scope.names.contains_key(&text) || target.text == text {
            text.push('_');
        }
        index_names.push(text);
    }
    let index = |dimension: usize| of(Kind::Name(index_names[dimension].clone()));
    let extent = |tensor: &str, dimension: usize| of(Kind::Extent(name(tensor), dimension));
    let binary = |operator, left: Expression, right: Expression| {
        of(Kind::Binary(operator, Box::new(left), Box::new(right)))
    };
    // Where each part ends along the dimension.
    let mut ends: Vec<Expression> = Vec::new();
    for (tensor, ..) in &tensors {
        let own = extent(tensor, axis);
        let end = match ends.last() {
            None => own,
            Some(before) => binary(Binary::Add, before.clone(), own),
        };
        ends.push(end);
    }
    let mut value: Option<Expression> = None;
    for (number, (tensor, ..)) in tensors.iter().enumerate().rev() {
        let subscripts = (0..extents.len()).map(|dimension| match number {
            _ if dimension != axis => index(dimension),
            0 => index(dimension),
            _ => binary(Binary::Subtract, index(dimension), ends[number - 1].clone()),
        });
        let read = of(Kind::Apply(name(tensor), subscripts.collect()));
        value = Some(match value {
            None => read,
            Some(rest) => {
                let is_in = binary(Binary::Less, index(axis), ends[number].clone());
                of(Kind::Select(
                    Box::new(is_in),
                    Box::new(read),
                    Box::new(rest),
                ))
            }
        });
    }
    let clauses = (0..extents.len()).map(|dimension| {
        let end = match dimension == axis {
            true => ends[ends.len() - 1].clone(),
            false => extent(&first, dimension),
        };
        Clause::Range(name(&index_names[dimension]), of(Kind::Integer(0)), end)
    });
    let Some(value) = value else {
        return Ok(Vec::new());
    };
    Ok(vec![Statement::Comprehension(Comprehension {
        target: target.clone(),
        subscripts: (0..extents.len()).map(index).collect(),
        operator: Operator::Assign,
        operator_span: span,
        value,
        clauses: clauses.collect(),
        span,
    })])
}

/// A copy of a definition's statements with other names.
struct Copy {
    /// Behind names that would have another meaning.
    suffix: String,
    /// What stands for names of the definition.
    replaced: HashMap<String, Expression>,
    /// Names that have a meaning where the copy is made.
    taken: Vec<String>,
}

impl Copy {
    fn statement(&mut self, statement: &mut Statement) {
        match statement {
            Statement::Declaration(declaration) => {
                for extent in declaration.extents.iter_mut().flatten() {
                    self.expression(extent);
                }
                self.defined(&mut declaration.name);
            }
            Statement::Comprehension(comprehension) => {
                self.defined(&mut comprehension.target);
                for subscript in &mut comprehension.subscripts {
                    self.expression(subscript);
                }
                self.expression(&mut comprehension.value);
                for clause in &mut comprehension.clauses {
                    match clause {
                        Clause::Range(name, low, high) => {
                            self.index(name);
                            self.expression(low);
                            self.expression(high);
                        }
                        Clause::Let(name, value) => {
                            self.index(name);
                            self.expression(value);
                        }
                        Clause::Exists(value) => self.expression(value),
                    }
                }
            }
            Statement::Call(call) => {
                for target in &mut call.targets {
                    self.defined(target);
                }
                for argument in &mut call.arguments {
                    self.expression(argument);
                }
            }
            Statement::Loop(Loop {
                variable,
                low,
                high,
                body,
                ..
            }) => {
                self.expression(low);
                self.expression(high);
                self.index(variable);
                for statement in body {
                    self.statement(statement);
                }
            }
        }
    }

    /// The name of a tensor that the copy defines: an output, or a temporary, which gets a name of its own.
    fn defined(&mut self, name: &mut Name) {
        let suffix = &self.suffix;
        let span = name.span;
        let new = self
            .replaced
            .entry(name.text.clone())
            .or_insert_with(|| Expression {
                span,
                kind: Kind::Name(format!("{}_{suffix}", name.text)),
            });
        if let Kind::Name(text) = &new.kind {
            name.text.clone_from(text);
        }
    }

    fn index(&self, name: &mut Name) {
        if self.taken.contains(&name.text) && !self.replaced.contains_key(&name.text) {
            name.text = format!("{}_{}", name.text, self.suffix);
        }
    }

    fn expression(&self, expression: &mut Expression) {
        let span = expression.span;
        match &mut expression.kind {
            Kind::Integer(_) | Kind::Real(..) | Kind::Truth(_) => {}
            Kind::Name(text) => match self.replaced.get(text) {
                Some(new) => {
                    let kind = new.kind.clone();
                    *expression = Expression { span, kind };
                }
                None => {
                    let mut name = Name {
                        text: std::mem::take(text),
                        span,
                    };
                    self.index(&mut name);
                    *text = name.text;
                }
            },
            Kind::Extent(name, _) => self.tensor(name),
            Kind::Apply(name, arguments) => {
                self.tensor(name);
                arguments
                    .iter_mut()
                    .for_each(|argument| self.expression(argument));
            }
            _ => for_each_part(expression, &mut |part| self.expression(part)),
        }
    }

    fn tensor(&self, name: &mut Name) {
        if let Some(Expression {
            kind: Kind::Name(text),
            ..
        }) = self.replaced.get(&name.text)
        {
            name.text.clone_from(text);
        }
    }
}

/// Calls `visit` with each operand and argument.
fn for_each_part(expression: &mut Expression, visit: &mut dyn FnMut(&mut Expression)) {
    match &mut expression.kind {
        Kind::Integer(_) | Kind::Real(..) | Kind::Truth(_) | Kind::Name(_) | Kind::Extent(..) => {}
        Kind::Apply(_, arguments) => arguments.iter_mut().for_each(visit),
        Kind::Cast(_, operand) | Kind::Unary(_, operand) => visit(operand),
        Kind::Binary(_, left, right) => {
            visit(left);
            visit(right);
        }
        Kind::Select(condition, then, other) => {
            visit(condition);
            visit(then);
            visit(other);
        }
    }
}

/// Puts what names stand for in their place.
pub(super) fn replace(expression: &mut Expression, lets: &[(Name, Expression)]) {
    if let Kind::Name(text) = &expression.kind
        && let Some((_, value)) = lets.iter().find(|(name, _)| name.text == *text)
    {
        *expression = value.clone();
        return;
    }
    for_each_part(expression, &mut |part| replace(part, lets));
}

/// As [`replace`], in a part of `where`.
pub(super) fn replace_in_clause(clause: &mut Clause, lets: &[(Name, Expression)]) {
    match clause {
        Clause::Range(_, low, high) => {
            replace(low, lets);
            replace(high, lets);
        }
        Clause::Exists(value) | Clause::Let(_, value) => replace(value, lets),
    }
}

/// How deeply a value is nested.
pub(super) fn depth(expression: &Expression) -> usize {
    let deepest = |parts: &[&Expression]| parts.iter().map(|part| depth(part)).max();
    let inside = match &expression.kind {
        Kind::Integer(_) | Kind::Real(..) | Kind::Truth(_) | Kind::Name(_) | Kind::Extent(..) => {
            None
        }
        Kind::Apply(_, arguments) => arguments.iter().map(depth).max(),
        Kind::Cast(_, operand) | Kind::Unary(_, operand) => Some(depth(operand)),
        Kind::Binary(_, left, right) => deepest(&[left, right]),
        Kind::Select(condition, then, other) => deepest(&[condition, then, other]),
    };
    1 + inside.unwrap_or(0)
}

/// How many nodes a value has.
pub(super) fn size(expression: &Expression) -> usize {
    let parts = match &expression.kind {
        Kind::Integer(_) | Kind::Real(..) | Kind::Truth(_) | Kind::Name(_) | Kind::Extent(..) => 0,
        Kind::Apply(_, arguments) => arguments.iter().map(size).sum(),
        Kind::Cast(_, operand) | Kind::Unary(_, operand) => size(operand),
        Kind::Binary(_, left, right) => size(left) + size(right),
        Kind::Select(condition, then, other) => size(condition) + size(then) + size(other),
    };
    1 + parts
}
