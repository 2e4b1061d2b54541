//! The statements of a definition, one after the other.

use super::inference::{self, Question};
use super::scope::{Entity, Scope, is_usable, taken};
use super::typing::{self, Names, counted};
use super::{Checked, calls, proofs};
use crate::tensor::fault::Fault;
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::program::{
    Bound, Role, Statement, Step, Subscript, Symbol, SymbolKind, TimeLoop, Value, Variable,
};
use crate::tensor::syntax::tree::{
    self, Clause, Comprehension, Definition, Name, Operator, Reduction,
};
use crate::tensor::types::Scalar;

/// Types statements in their order.
pub(super) fn steps(
    scope: &mut Scope,
    body: &[tree::Statement],
    earlier: &[Definition],
) -> Checked<Vec<Step>> {
    let mut steps = Vec::new();
    for statement in body {
        match statement {
            tree::Statement::Declaration(declaration) => {
                let mut declaration = declaration.clone();
                declaration.extents.get_or_insert_default();
                scope.declare(&declaration, Role::Temporary)?;
            }
            tree::Statement::Comprehension(comprehension) => {
                let typed = statement_of(scope, comprehension)?;
                steps.push(Step::Statement(Box::new(typed)));
            }
            tree::Statement::Call(call) => match calls::as_comprehension(scope, call) {
                Some(comprehension) => {
                    let typed = statement_of(scope, &comprehension)?;
                    steps.push(Step::Statement(Box::new(typed)));
                }
                None => {
                    let outer = scope.call;
                    scope.call = outer.or(Some(call.span));
                    let inlined = calls::inlined(scope, call, earlier)?;
                    steps.extend(self::steps(scope, &inlined, earlier)?);
                    scope.call = outer;
                }
            },
            tree::Statement::Loop(time_loop) => {
                steps.push(Step::Loop(loop_of(scope, time_loop, earlier)?));
            }
        }
    }
    Ok(steps)
}

fn loop_of(scope: &mut Scope, tree: &tree::Loop, earlier: &[Definition]) -> Checked<TimeLoop> {
    let low = scope.size(&tree.low, "a bound of a loop")?;
    let high = scope.size(&tree.high, "a bound of a loop")?;
    let name = &tree.variable;
    is_usable(name)?;
    if scope.names.contains_key(&name.text) {
        let message = format!("'{}' is the name of something else already", name.text);
        return Err(Fault::new(name.span, message)
            .mend("choose another name")
            .into());
    }
    let symbol = scope.function.symbols.len();
    scope.function.symbols.push(Symbol {
        name: name.text.clone(),
        kind: SymbolKind::Time,
    });
    scope
        .names
        .insert(name.text.clone(), Entity::Symbol(symbol));
    scope.times.insert(symbol, (low.clone(), high.clone()));
    let before = scope.written.len();
    let body = steps(scope, &tree.body, earlier)?;
    // What only an iteration has defined is no more: there may have been none.
    let declared = |step: &tree::Statement, name: &str| match step {
        tree::Statement::Declaration(declaration) => declaration.name.text == name,
        _ => false,
    };
    for tensor in before..scope.written.len() {
        let name = &scope.function.tensors[tensor].name;
        if !tree.body.iter().any(|step| declared(step, name)) {
            scope.written[tensor] = false;
            scope.ended[tensor] = true;
        }
    }
    scope.names.remove(&name.text);
    Ok(TimeLoop {
        symbol,
        low,
        high,
        body,
    })
}

fn statement_of(scope: &mut Scope, tree: &Comprehension) -> Checked<Statement> {
    let tree = &without_lets(tree)?;
    let target = target_of(scope, tree)?;
    let mut names = Names::of_statement(scope);
    names.defined = target.is_none().then_some(tree.target.text.as_str());
    let mut subscripts = Vec::new();
    for subscript in &tree.subscripts {
        subscripts.push(typing::subscript(&mut names, subscript)?);
    }
    let free = names.variables.len();
    let known = target.map(|number| &scope.function.tensors[number]);
    let mut value = typing::value(&mut names, &tree.value, known.map(|tensor| tensor.scalar))?;
    let clauses = clauses_of(&mut names, tree)?;
    let variables = names.variables;
    let question = Question {
        scope,
        tree,
        variables: &variables,
        left: (&subscripts, known),
        value: &value,
        clauses: &clauses,
    };
    let ranges = inference::ranges(&question)?;
    if let (Some(first), Operator::Assign) = (variables.get(free), tree.operator) {
        let message = format!(
            "'{}' stands only on the right, so one element gets several values",
            first.text
        );
        let mend = format!(
            "reduce over it with '+=!', '*=!', 'min=!' or 'max=!', or add it to the left: '{}(…, {})'",
            tree.target.text, first.text
        );
        return Err(Fault::new(first.span, message).mend(mend).into());
    }
    let order = inference::order(&variables, free, &ranges)?;
    let mut places = vec![0; variables.len()];
    for (place, variable) in order.iter().enumerate() {
        places[*variable] = place;
    }
    let renumbered = |bound: &Bound| {
        let mut bound = bound.clone();
        match &mut bound {
            Bound::Data(value) => typing::renumber(value, &places),
            Bound::Linear(form) => {
                if let Some(renumbered) = typing::renumbered(form, &places) {
                    *form = renumbered;
                }
            }
        }
        bound
    };
    let of_order = order.iter().map(|variable| Variable {
        name: variables[*variable].text.clone(),
        low: renumbered(&ranges[*variable].0),
        high: renumbered(&ranges[*variable].1),
        on_left: *variable < free,
    });
    let ordered: Vec<Variable> = of_order.collect();
    typing::renumber(&mut value, &places);
    for subscript in &mut subscripts {
        typing::renumber_subscript(subscript, &places);
    }
    let target = match target {
        Some(target) => target,
        None => {
            let extents = new_extents(scope, tree, &subscripts, &ordered)?;
            let scalar = scalar_of(&value, tree.operator);
            scope.add(&tree.target, scalar, extents, Role::Temporary)
        }
    };
    let mut statement = Statement {
        span: tree.span,
        target,
        subscripts,
        variables: ordered,
        operator: tree.operator,
        value,
        scatter: false,
    };
    let has_value = scope.written[target];
    proofs::settle(scope, &mut statement, tree)?;
    let starts = !matches!(tree.operator, Operator::Reduce(_, false));
    if !starts && !has_value {
        let Operator::Reduce(reduction, _) = tree.operator else {
            unreachable!("only a reduction goes on with what is there")
        };
        let message = format!(
            "'{}' goes on with the value of '{}', which nothing has defined",
            reduction.text(),
            tree.target.text
        );
        let mend = format!(
            "write '{}!' to begin with {}",
            reduction.text(),
            match reduction {
                Reduction::Sum => "0",
                Reduction::Product => "1",
                Reduction::Minimum => "the largest number",
                Reduction::Maximum => "the smallest number",
            }
        );
        return Err(Fault::new(tree.operator_span, message).mend(mend).into());
    }
    scope.written[target] = true;
    scope.ended[target] = false;
    Ok(statement)
}

/// The tensor that a statement writes; `None` for a new one.
fn target_of(scope: &Scope, tree: &Comprehension) -> Checked<Option<usize>> {
    let name = &tree.target;
    let number = match scope.names.get(&name.text) {
        None => {
            is_usable(name)?;
            return Ok(None);
        }
        Some(Entity::Symbol(_)) => {
            let message = format!("'{}' is a size and cannot be defined", name.text);
            return Err(Fault::new(name.span, message).into());
        }
        Some(Entity::Tensor(number)) => *number,
    };
    let tensor = &scope.function.tensors[number];
    if matches!(tensor.role, Role::Input | Role::Value) {
        let message = format!("'{}' is an input and cannot be changed", name.text);
        let fault = Fault::new(name.span, message).note(tensor.span, "it is declared here");
        return Err(match tensor.role {
            Role::Input => fault.mend(format!(
                "add '{}' to the outputs, so that the call changes it in place, or choose another name",
                name.text
            )),
            _ => fault.mend("choose another name"),
        }
        .into());
    }
    if tensor.extents.len() != tree.subscripts.len() {
        let message = format!(
            "'{}' has {}, and {} here",
            name.text,
            counted(tensor.extents.len(), "dimension", "dimensions"),
            counted(tree.subscripts.len(), "subscript", "subscripts"),
        );
        let fault = Fault::new(name.span, message);
        let fault = match tensor.extents.is_empty() {
            true => fault.mend(format!(
                "declare it with its extents, as in 'float(N) {0}', or without a type: '{0}'",
                name.text
            )),
            false => fault,
        };
        return Err(fault.note(tensor.span, "it stands here first").into());
    }
    Ok(Some(number))
}

/// The type of a tensor that a statement defines: that of its value, but sums of narrow integers are `int`.
fn scalar_of(value: &Value, operator: Operator) -> Scalar {
    match operator {
        Operator::Reduce(..) if value.scalar == Scalar::Bool => Scalar::Int32,
        Operator::Reduce(Reduction::Sum | Reduction::Product, _) if value.scalar.is_integer() => {
            value.scalar.computed()
        }
        _ => value.scalar,
    }
}

/// The extents of a tensor that a statement defines: where its indices end.
fn new_extents(
    scope: &Scope,
    tree: &Comprehension,
    subscripts: &[Subscript],
    variables: &[Variable],
) -> Checked<Vec<Linear>> {
    let target = &tree.target.text;
    let declared = |extents: &str| {
        format!(
            "declare it in a line before: 'float({extents}) {target}', with its type and extents"
        )
    };
    let mut extents = Vec::new();
    let mut seen = Vec::new();
    for subscript in subscripts {
        let number = subscript.linear.as_ref().and_then(Linear::as_variable);
        let Some(number) = number.filter(|number| !seen.contains(number)) else {
            let unknown = vec!["…"; subscripts.len()].join(", ");
            let form = subscript.linear.as_ref();
            let size = form.filter(|form| !form.has_variables() && form.as_number().is_none());
            if let Some(size) = size {
                let size = scope.shown(size, &[]);
                let message = format!(
                    "'{size}' is a size or value of the inputs, so that this defines one element of '{target}'"
                );
                let mend = format!(
                    "give the index another name than a size or input has, or {}",
                    declared(&unknown)
                );
                return Err(Fault::new(subscript.span, message).mend(mend).into());
            }
            let message = format!(
                "this subscript does not say how large '{target}' is; it is not an index of its own"
            );
            return Err(Fault::new(subscript.span, message)
                .mend(declared(&unknown))
                .into());
        };
        seen.push(number);
        let variable = &variables[number];
        let (Some(low), Some(high)) = (variable.low.linear(), variable.high.linear()) else {
            let message = format!(
                "data bound '{}', so the extent of '{target}' is not known",
                variable.name
            );
            let fault = Fault::new(subscript.span, message);
            return Err(fault
                .mend("only indices that are reduced can have such a range")
                .into());
        };
        if low.as_number() != Some(0) {
            let names: Vec<String> = variables.iter().map(|other| other.name.clone()).collect();
            let low = scope.shown(low, &names);
            let message = format!(
                "the range of '{}' begins at {low}, so that nothing would define the first elements of '{target}'",
                variable.name
            );
            let mend = format!(
                "let it begin at 0, as with '{0} + …' in subscripts on the right, or declare '{target}' with its extents and define the first elements in another statement",
                variable.name
            );
            return Err(Fault::new(subscript.span, message).mend(mend).into());
        }
        let mut changes = high.has_variables();
        high.visit(&mut |atom| {
            changes |= match atom {
                Atom::Symbol(symbol) => scope.times.contains_key(symbol),
                _ => false,
            };
        });
        if changes {
            let message = format!("the extent of '{target}' here would change with another index");
            let mend = format!(
                "give '{}' a range of sizes alone with 'where'",
                variable.name
            );
            return Err(Fault::new(subscript.span, message).mend(mend).into());
        }
        extents.push(high.clone());
    }
    Ok(extents)
}

/// The ranges and reads that `where` gives.
pub(super) struct Clauses {
    /// By index.
    pub(super) ranges: Vec<(usize, (Bound, Bound))>,
    /// Reads that only give ranges.
    pub(super) exists: Vec<Value>,
}

fn clauses_of(names: &mut Names<'_>, tree: &Comprehension) -> Checked<Clauses> {
    let mut clauses = Clauses {
        ranges: Vec::new(),
        exists: Vec::new(),
    };
    for clause in &tree.clauses {
        match clause {
            Clause::Let(..) => {}
            Clause::Exists(expression) => {
                let is_read = matches!(&expression.kind, tree::Kind::Apply(..));
                let value = typing::value(names, expression, None)?;
                if !is_read {
                    let fault =
                        Fault::new(expression.span, "'exists' names an element of a tensor");
                    return Err(fault.mend("write 'exists T(i, j)'").into());
                }
                clauses.exists.push(value);
            }
            Clause::Range(name, low, high) => {
                match names.scope.names.get(&name.text) {
                    Some(Entity::Symbol(_)) => return Err(taken(name.span, &name.text, "a size")),
                    Some(Entity::Tensor(_)) => {
                        return Err(taken(name.span, &name.text, "a tensor"));
                    }
                    None => {}
                }
                let mut bound = |expression: &tree::Expression| -> Checked<Bound> {
                    let value = typing::wide(names, expression)?;
                    let form = value.linear(&names.scope.function);
                    Ok(form.map_or(Bound::Data(value), Bound::Linear))
                };
                let range = (bound(low)?, bound(high)?);
                let number = number_of(names, name)?;
                if clauses.ranges.iter().any(|(known, _)| *known == number) {
                    let message = format!("'{}' has two ranges", name.text);
                    let mend = "write one range with 'max(a, b):min(c, d)'";
                    return Err(Fault::new(name.span, message).mend(mend).into());
                }
                clauses.ranges.push((number, range));
            }
        }
    }
    Ok(clauses)
}

fn number_of(names: &mut Names<'_>, name: &Name) -> Checked<usize> {
    if let Some(number) = names.number(&name.text) {
        return Ok(number);
    }
    is_usable(name)?;
    names.variables.push(name.clone());
    Ok(names.variables.len() - 1)
}

/// The same comprehension with what `let` names in the place of the names.
fn without_lets(tree: &Comprehension) -> Checked<Comprehension> {
    let mut tree = tree.clone();
    let clauses = std::mem::take(&mut tree.clauses);
    let mut lets: Vec<(Name, tree::Expression)> = Vec::new();
    let mut kept = Vec::new();
    let mut size = 0;
    for mut clause in clauses {
        calls::replace_in_clause(&mut clause, &lets);
        match clause {
            Clause::Let(name, value) => {
                is_usable(&name)?;
                if let Some((other, _)) = lets.iter().find(|(known, _)| known.text == name.text) {
                    let fault = Fault::new(name.span, format!("'{}' is named twice", name.text));
                    return Err(fault
                        .note(other.span, "the first one is here")
                        .mend("choose another name")
                        .into());
                }
                size += calls::size(&value);
                if size > LARGEST_LETS || calls::depth(&value) > DEEPEST {
                    let fault = Fault::new(value.span, "these names stand for too large a value");
                    return Err(fault.mend("make tensors of parts of it").into());
                }
                lets.push((name, value));
            }
            other => kept.push(other),
        }
    }
    for subscript in &mut tree.subscripts {
        calls::replace(subscript, &lets);
    }
    calls::replace(&mut tree.value, &lets);
    let is_too_large =
        calls::size(&tree.value) > LARGEST_LETS || calls::depth(&tree.value) > DEEPEST;
    if is_too_large {
        let fault = Fault::new(tree.value.span, "the value is too large");
        return Err(fault.mend("make tensors of parts of it").into());
    }
    for clause in &mut kept {
        calls::replace_in_clause(clause, &lets);
    }
    tree.clauses = kept;
    Ok(tree)
}

/// How deeply values may be nested when all names are replaced.
const DEEPEST: usize = 400;

/// Nodes of all that names stand for, which doubles with each line at worst.
const LARGEST_LETS: usize = 20_000;
