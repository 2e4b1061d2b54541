//! Whether accesses stay inside their tensors: proven by isl, checked by the launcher, guarded at the access where data
//! decide, or refused.

use super::Checked;
use super::inference::extreme;
use super::scope::{Scope, shown};
use crate::math::formula::{Formula, Sum};
use crate::math::isl::Set;
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::points::{self, Condition, Name, Naming, Value};
use crate::tensor::program::{
    self, Bound, Check, Function, Statement, Subscript, SymbolKind, ValueKind, Variable,
};
use crate::tensor::syntax::tree::{Binary, Comprehension, Operator, Unary};
use crate::tensor::types::Scalar;
use std::collections::{BTreeSet, HashMap};

/// Asks isl about sizes and indices.
pub(super) struct Questions<'f> {
    function: &'f Function,
    times: &'f HashMap<usize, (Linear, Linear)>,
}

/// How the indices of the statement in question are named.
pub(super) const OWN: Naming = Naming {
    instance: 0,
    time: None,
};

/// How those of another instance of it are.
pub(super) const OTHER: Naming = Naming {
    instance: 1,
    time: None,
};

impl<'f> Questions<'f> {
    /// For a definition, inside of time loops.
    pub(super) fn new(function: &'f Function, times: &'f HashMap<usize, (Linear, Linear)>) -> Self {
        Self { function, times }
    }

    /// Whether nothing satisfies all conditions; `None` where isl does not say.
    pub(super) fn is_empty(&self, conditions: &[Condition]) -> Option<bool> {
        points::is_empty(self.all(conditions))
    }

    /// The points that satisfy all conditions.
    pub(super) fn set(&self, dimensions: &[Name], conditions: &[Condition]) -> Option<Set> {
        points::set(dimensions, self.all(conditions))
    }

    /// The conditions, and what is known besides.
    fn all(&self, conditions: &[Condition]) -> Vec<Condition> {
        let mut all = self.context();
        all.extend_from_slice(conditions);
        let mut products = BTreeSet::new();
        all.iter().for_each(|condition| {
            condition.visit(&mut |name| {
                if let Name::Product(product) = name {
                    products.insert(product.clone());
                }
            });
        });
        for product in products {
            let form = Linear::atom(product);
            if self.function.is_natural(&form, &|_| false) {
                all.push(Value::of(&form, OWN).is(Sum::at_least, &Value::number(0)));
            }
        }
        all
    }

    /// What is known of all sizes: none is negative, nor is an extent, and time is inside its loop.
    fn context(&self) -> Vec<Condition> {
        let value = |form: &Linear| Value::of(form, OWN);
        let zero = Value::number(0);
        let mut known = Vec::new();
        for (number, symbol) in self.function.symbols.iter().enumerate() {
            if symbol.kind == SymbolKind::Size {
                known.push(Value::name(Name::Symbol(number)).is(Sum::at_least, &zero));
            }
        }
        for tensor in &self.function.tensors {
            for extent in &tensor.extents {
                let plain = extent.as_number().is_some() || extent.terms.len() == 1;
                if !plain {
                    known.push(value(extent).is(Sum::at_least, &zero));
                }
            }
        }
        for check in &self.function.checks {
            // The launcher looks before anything runs.
            if check.when_positive.is_empty() {
                let (left, right) = (value(&check.left), value(&check.right));
                known.push(match check.equal {
                    true => left.is(Sum::equal, &right),
                    false => left.is(Sum::at_most, &right),
                });
            }
        }
        for (symbol, (low, high)) in self.times {
            let time = Value::name(Name::Symbol(*symbol));
            known.push(time.is(Sum::at_least, &value(low)));
            known.push(time.is(Sum::below, &value(high)));
        }
        known
    }

    /// What must hold where a truth value is what is given; a part that has no form may be anything.
    pub(super) fn condition(&self, value: &program::Value, holds: bool) -> Condition {
        match &value.kind {
            ValueKind::Unary(Unary::Not, operand) => self.condition(operand, !holds),
            ValueKind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let both = [left, right].map(|side| self.condition(side, holds));
                match (*operator == Binary::And) == holds {
                    true => Formula::All(both.into()),
                    false => Formula::Any(both.into()),
                }
            }
            ValueKind::Binary(operator, left, right) if operator.is_truth() => {
                let both = program::Value::compared(left, right, self.function);
                let Some((left, right)) = both else {
                    return Formula::truth();
                };
                let compare = match (operator, holds) {
                    (Binary::Less, true) | (Binary::GreaterEqual, false) => Sum::below,
                    (Binary::LessEqual, true) | (Binary::Greater, false) => Sum::at_most,
                    (Binary::Greater, true) | (Binary::LessEqual, false) => Sum::above,
                    (Binary::GreaterEqual, true) | (Binary::Less, false) => Sum::at_least,
                    (Binary::Equal, true) | (Binary::NotEqual, false) => Sum::equal,
                    _ => Formula::differ,
                };
                Value::of(&left, OWN).is(compare, &Value::of(&right, OWN))
            }
            ValueKind::Integer(number) if value.scalar == Scalar::Bool => {
                match (*number != 0) == holds {
                    true => Formula::truth(),
                    false => Formula::falsehood(),
                }
            }
            _ => Formula::truth(),
        }
    }
}

/// The conditions that the linear bounds of indices give.
pub(super) fn domain(variables: &[Variable], naming: Naming) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (number, variable) in variables.iter().enumerate() {
        let index = Value::name(Name::Index(naming.instance, number));
        if let Some(low) = variable.low.linear() {
            conditions.push(index.is(Sum::at_least, &Value::of(low, naming)));
        }
        if let Some(high) = variable.high.linear() {
            conditions.push(index.is(Sum::below, &Value::of(high, naming)));
        }
    }
    conditions
}

/// That two instances differ in one of so many indices.
pub(super) fn instances_differ(one: Naming, other: Naming, count: usize) -> Condition {
    let each = (0..count).map(|number| {
        let [one, other] =
            [one, other].map(|naming| Value::name(Name::Index(naming.instance, number)));
        one.is(Formula::differ, &other)
    });
    Formula::Any(each.collect())
}

/// What is done with a read: a tensor, its subscripts, and the conditions under which it happens.
pub(super) type Visit<'v> = dyn FnMut(usize, &[Subscript], &[Condition]) + 'v;

/// Calls `visit` with each read of a value, and the conditions under which it happens.
pub(super) fn reads_under(
    questions: &Questions<'_>,
    value: &program::Value,
    conditions: &mut Vec<Condition>,
    visit: &mut Visit<'_>,
) {
    value.reads_under(&mut |tensor, subscripts, tests| {
        let depth = conditions.len();
        let tests = tests.iter();
        conditions.extend(tests.map(|(test, holds)| questions.condition(test, *holds)));
        visit(tensor, subscripts, conditions);
        conditions.truncate(depth);
    });
}

/// The condition under which the second operand is computed.
fn second_condition(
    questions: &Questions<'_>,
    operator: Binary,
    left: &program::Value,
) -> Option<Condition> {
    match operator {
        Binary::And => Some(questions.condition(left, true)),
        Binary::Or => Some(questions.condition(left, false)),
        _ => None,
    }
}

/// Settles each access of a statement, and whether it is a scatter.
pub(super) fn settle(
    scope: &mut Scope,
    statement: &mut Statement,
    tree: &Comprehension,
) -> Checked<()> {
    let mut settled = statement.clone();
    let mut checks = Vec::new();
    {
        let questions = scope.questions();
        let mut prover = Prover {
            scope,
            questions: &questions,
            variables: &statement.variables,
            checks: &mut checks,
        };
        for (number, variable) in settled.variables.iter_mut().enumerate() {
            let before = domain(&statement.variables[..number], OWN);
            for bound in [&mut variable.low, &mut variable.high] {
                if let Bound::Data(value) = bound {
                    prover.value(value, &mut before.clone(), true)?;
                }
            }
        }
        let mut all = domain(&statement.variables, OWN);
        // What is on the left is computed once for each element, also where nothing is reduced.
        let free = statement.free().count();
        let mut left = domain(&statement.variables[..free], OWN);
        for subscript in &mut settled.subscripts {
            prover.value(&mut subscript.value, &mut left, true)?;
        }
        prover.access(statement.target, &mut settled.subscripts, &left, true)?;
        prover.value(&mut settled.value, &mut all, true)?;
        settled.scatter = is_scatter(&questions, &settled);
    }
    if settled.scatter {
        scatter_is_sound(scope, &settled, tree)?;
    }
    for check in checks {
        if !scope.function.checks.contains(&check) {
            scope.function.checks.push(check);
        }
    }
    *statement = settled;
    Ok(())
}

/// Whether two values of the indices on the left may name one element.
fn is_scatter(questions: &Questions<'_>, statement: &Statement) -> bool {
    let forms: Option<Vec<&Linear>> = statement
        .subscripts
        .iter()
        .map(|subscript| subscript.linear.as_ref())
        .collect();
    let Some(forms) = forms else { return true };
    let mut seen: Vec<usize> = forms.iter().filter_map(|form| form.as_variable()).collect();
    seen.sort_unstable();
    seen.dedup();
    let free: Vec<usize> = statement.free().collect();
    if free.iter().all(|variable| seen.contains(variable)) {
        return false;
    }
    let count = free.len();
    let variables = &statement.variables[..count];
    let mut conditions = domain(variables, OWN);
    conditions.extend(domain(variables, OTHER));
    for form in forms {
        conditions.push(Value::of(form, OWN).is(Sum::equal, &Value::of(form, OTHER)));
    }
    conditions.push(instances_differ(OWN, OTHER, count));
    questions.is_empty(&conditions) != Some(true)
}

fn scatter_is_sound(scope: &Scope, statement: &Statement, tree: &Comprehension) -> Checked<()> {
    let target = &scope.function.tensors[statement.target];
    if statement.operator == Operator::Assign {
        let message = format!(
            "several values may meet in one element of '{}'",
            target.name
        );
        let fault = Fault::new(tree.target.span.to(tree.operator_span), message);
        return Err(fault
            .mend("say what becomes of them: '+=', '*=', 'min=' or 'max=', or these with '!'")
            .into());
    }
    if matches!(target.scalar, Scalar::Half | Scalar::Bfloat16) {
        let message = format!(
            "a scatter into '{}' would round after every term",
            target.scalar
        );
        let mend = format!(
            "declare '{}' as 'float' and convert it afterwards",
            target.name
        );
        return Err(Fault::new(tree.target.span, message).mend(mend).into());
    }
    let mut own = None;
    statement.reads(&mut |tensor, subscripts| {
        if tensor == statement.target {
            own = Some(
                subscripts
                    .first()
                    .map_or(tree.span, |subscript| subscript.span),
            );
        }
    });
    match own {
        None => Ok(()),
        Some(span) => {
            let message = format!(
                "'{}' is read while elements of it change in any order",
                target.name
            );
            let mend = "copy it to another tensor in a statement before";
            Err(Fault::new(span, message).mend(mend).into())
        }
    }
}

struct Prover<'p> {
    scope: &'p Scope,
    questions: &'p Questions<'p>,
    variables: &'p [Variable],
    checks: &'p mut Vec<Check>,
}

impl Prover<'_> {
    /// Settles each read in a value; `always` where nothing but the domain decides whether it happens.
    fn value(
        &mut self,
        value: &mut program::Value,
        conditions: &mut Vec<Condition>,
        always: bool,
    ) -> Checked<()> {
        match &mut value.kind {
            ValueKind::Integer(_)
            | ValueKind::Real(_)
            | ValueKind::Variable(_)
            | ValueKind::Size(_) => Ok(()),
            ValueKind::Read { tensor, subscripts } => {
                for subscript in subscripts.iter_mut() {
                    self.value(&mut subscript.value, conditions, always)?;
                }
                self.access(*tensor, subscripts, conditions, always)
            }
            ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => {
                self.value(operand, conditions, always)
            }
            ValueKind::Binary(operator, left, right) => {
                self.value(left, conditions, always)?;
                let added = second_condition(self.questions, *operator, left);
                let always = always && added.is_none();
                let depth = conditions.len();
                conditions.extend(added);
                self.value(right, conditions, always)?;
                conditions.truncate(depth);
                Ok(())
            }
            ValueKind::Select(condition, then, other) => {
                self.value(condition, conditions, always)?;
                for (branch, holds) in [(then, true), (other, false)] {
                    conditions.push(self.questions.condition(condition, holds));
                    self.value(branch, conditions, false)?;
                    conditions.pop();
                }
                Ok(())
            }
            ValueKind::Call(_, _, arguments) => arguments
                .iter_mut()
                .try_for_each(|argument| self.value(argument, conditions, always)),
        }
    }

    fn access(
        &mut self,
        tensor: usize,
        subscripts: &mut [Subscript],
        conditions: &[Condition],
        always: bool,
    ) -> Checked<()> {
        let known = &self.scope.function.tensors[tensor];
        for (subscript, extent) in subscripts.iter_mut().zip(&known.extents) {
            let Some(form) = subscript.linear.clone() else {
                subscript.guarded = true;
                continue;
            };
            let (value, end) = (Value::of(&form, OWN), Value::of(extent, OWN));
            let is_never = |condition: Condition| {
                let mut all = conditions.to_vec();
                all.push(condition);
                self.questions.is_empty(&all) == Some(true)
            };
            let below = !is_never(value.is(Sum::below, &Value::number(0)));
            let above = !is_never(value.is(Sum::at_least, &end));
            if !below && !above {
                continue;
            }
            let of_data = |variable: &usize| {
                let variable = &self.variables[*variable];
                variable.low.linear().is_none() || variable.high.linear().is_none()
            };
            if form.variables().iter().any(of_data) {
                subscript.guarded = true;
                continue;
            }
            let place = (tensor, subscript.span, &form, extent);
            self.check_or_refuse(place, (below, above), conditions, always)?;
        }
        Ok(())
    }

    /// Has the launcher check an access where sizes decide, or refuses it.
    fn check_or_refuse(
        &mut self,
        (tensor, span, form, extent): (usize, Span, &Linear, &Linear),
        (below, above): (bool, bool),
        conditions: &[Condition],
        always: bool,
    ) -> Checked<()> {
        let function = &self.scope.function;
        let ranges = |variable: usize| {
            let variable: &Variable = &self.variables[variable];
            Some((
                variable.low.linear()?.clone(),
                variable.high.linear()?.clone(),
            ))
        };
        let times = &self.scope.times;
        let ends = (|| {
            let least = extreme(form, &ranges, times, false)?;
            let most = extreme(form, &ranges, times, true)?;
            // Extents have no indices, but time may stand in a bound that the form has.
            Some((least, most, extent.offset(-1)?))
        })();
        // Under a condition, only a subscript without indices is worth a check that does not know the condition.
        let may_check = always || !form.has_variables();
        let fits = ends
            .as_ref()
            .filter(|_| may_check)
            .is_some_and(|(least, most, last)| {
                let value = |form: &Linear| Value::of(form, OWN);
                let mut all = conditions.to_vec();
                all.push(value(least).is(Sum::at_least, &Value::number(0)));
                all.push(value(most).is(Sum::at_most, &value(last)));
                self.questions.is_empty(&all) == Some(false)
            });
        let names: Vec<String> = self
            .variables
            .iter()
            .map(|variable| variable.name.clone())
            .collect();
        let shown = |form: &Linear| shown(function, form, &names);
        let name = &function.tensors[tensor].name;
        let form_text = shown(form);
        let Some((least, most, last)) = ends.filter(|_| fits) else {
            let message = match (below, above) {
                (true, false) if form.as_number().is_some() => {
                    format!("the subscript '{form_text}' of '{name}' is negative")
                }
                (true, false) => format!("the subscript '{form_text}' of '{name}' can be negative"),
                (false, true) if form.as_number().is_some() && extent.as_number().is_some() => {
                    format!(
                        "the subscript '{form_text}' of '{name}' is outside: the extent is {}",
                        shown(extent)
                    )
                }
                _ => format!(
                    "the subscript '{form_text}' of '{name}' can reach or pass its extent {}",
                    shown(extent)
                ),
            };
            let fault = Fault::new(span, message);
            let index = form
                .variables()
                .first()
                .map(|variable| names[*variable].clone());
            let mend = match index {
                Some(index) => format!(
                    "narrow the range of '{index}' with 'where', or read it only where it is inside: '{form_text} >= 0 && {form_text} < {} ? … : …'",
                    shown(extent)
                ),
                None => {
                    let last = extent.offset(-1);
                    let last = last.map_or_else(|| "…".to_owned(), |last| shown(&last));
                    format!("subscripts are counted from 0, and the last one is '{last}'")
                }
            };
            return Err(fault.mend(mend).into());
        };
        let mut when_positive = Vec::new();
        let has_time = |form: &Linear| {
            let mut found = form.has_variables();
            form.visit(&mut |atom| {
                if let Atom::Symbol(symbol) = atom {
                    found |= times.contains_key(symbol);
                }
            });
            found
        };
        let variables = self.variables.iter();
        let ends_of =
            variables.filter_map(|variable| variable.low.linear().zip(variable.high.linear()));
        for (low, high) in ends_of.chain(times.values().map(|(low, high)| (low, high))) {
            if let Some(count) = high.subtract(low).filter(|count| !has_time(count))
                && count.as_number().is_none_or(|number| number <= 0)
                && !when_positive.contains(&count)
            {
                when_positive.push(count);
            }
        }
        let zero = Linear::number(0);
        let sides = [
            (
                below,
                zero,
                least.clone(),
                format!(
                    "reaches {}, before the first element of '{name}'",
                    shown(&least)
                ),
            ),
            (
                above,
                most.clone(),
                last,
                format!(
                    "reaches {}, but '{name}' has the extent {}",
                    shown(&most),
                    shown(extent)
                ),
            ),
        ];
        for (needed, left, right, what) in sides {
            if needed {
                self.checks.push(Check {
                    span,
                    left,
                    equal: false,
                    right,
                    when_positive: when_positive.clone(),
                    message: format!("the subscript '{form_text}' {what}"),
                });
            }
        }
        Ok(())
    }
}
