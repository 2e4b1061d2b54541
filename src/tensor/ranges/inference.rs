//! The range of each index, in rounds (§3.1 of the paper).
//!
//! What is written counts first: a range behind `where`, then the extent of a tensor on the left that is known already. In
//! each round, every index that is the only one without a range in some subscript gets the largest range with which all such
//! subscripts stay inside, whatever the others are. Reads that only happen under a condition count where no other gives a
//! range, and last of all those that the condition alone keeps inside.

use super::Checked;
use super::proofs::OWN;
use super::scope::{Scope, shown};
use super::statements::Clauses;
use super::typing;
use crate::math::formula::{Formula, Sum};
use crate::tensor::fault::Fault;
use crate::tensor::linear::{Atom, Linear};
use crate::tensor::points::{self, Condition};
use crate::tensor::program::{Bound, Subscript, Tensor, Value, ValueKind};
use crate::tensor::syntax::tree::{Binary, Comprehension, Name};
use std::collections::HashMap;

/// What is known of a statement.
pub(super) struct Question<'q> {
    /// The definition.
    pub(super) scope: &'q Scope,
    /// As it is written.
    pub(super) tree: &'q Comprehension,
    /// Its indices.
    pub(super) variables: &'q [Name],
    /// The subscripts on the left, and the tensor there where it is known.
    pub(super) left: (&'q [Subscript], Option<&'q Tensor>),
    /// The value.
    pub(super) value: &'q Value,
    /// What `where` says.
    pub(super) clauses: &'q Clauses,
}

/// An extent and a subscript that has to stay below it.
struct Limit<'q> {
    subscript: &'q Subscript,
    form: &'q Linear,
    extent: &'q Linear,
    /// What holds where it is read.
    conditions: Vec<Condition>,
}

type Range = (Bound, Bound);

/// The ranges of all indices.
///
/// # Errors
/// The first index that no subscript gives a range to, with the `where` that would.
pub(super) fn ranges(question: &Question<'_>) -> Checked<Vec<Range>> {
    let count = question.variables.len();
    let mut known: Vec<Option<Range>> = vec![None; count];
    for (variable, range) in &question.clauses.ranges {
        known[*variable] = Some(range.clone());
    }
    if let (subscripts, Some(target)) = question.left {
        for (subscript, extent) in subscripts.iter().zip(&target.extents) {
            let variable = subscript.linear.as_ref().and_then(Linear::as_variable);
            if let Some(variable) = variable.filter(|variable| known[*variable].is_none()) {
                let zero = Bound::Linear(Linear::number(0));
                known[variable] = Some((zero, Bound::Linear(extent.clone())));
            }
        }
    }
    let limits = limits(question);
    for counted in [Counted::Unconditional, Counted::NotKeptInside, Counted::All] {
        loop {
            let found = round(question, &known, &limits, counted);
            if found.is_empty() {
                break;
            }
            for (variable, (low, high)) in found {
                let (low, high) = (pruned(question.scope, low), pruned(question.scope, high));
                known[variable] = Some((Bound::Linear(low), Bound::Linear(high)));
            }
        }
    }
    if let Some(missing) = known.iter().position(Option::is_none) {
        return Err(without_range(question, &known, &limits, missing));
    }
    Ok(known.into_iter().flatten().collect())
}

/// Which reads give ranges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Those that happen in any case.
    Unconditional,
    /// Also those under conditions that alone do not keep them inside.
    NotKeptInside,
    /// All.
    All,
}

/// What one round finds.
fn round(
    question: &Question<'_>,
    known: &[Option<Range>],
    limits: &[Limit<'_>],
    counted: Counted,
) -> HashMap<usize, (Linear, Linear)> {
    let mut found: HashMap<usize, (Linear, Linear)> = HashMap::new();
    let counts = |limit: &&Limit<'_>| match counted {
        Counted::Unconditional => limit.conditions.is_empty(),
        Counted::NotKeptInside => !is_kept_inside(question, known, limit),
        Counted::All => true,
    };
    for limit in limits.iter().filter(counts) {
        let inside = limit.form.variables();
        let mut missing = inside.iter().filter(|variable| known[**variable].is_none());
        let (Some(variable), None) = (missing.next(), missing.next()) else {
            continue;
        };
        let Some((low, high)) = solved(question.scope, known, limit, *variable) else {
            continue;
        };
        let both = match found.remove(variable) {
            None => Some((low, high)),
            Some((l, h)) => l.maximum(&low).zip(h.minimum(&high)),
        };
        if let Some(both) = both {
            found.insert(*variable, both);
        }
    }
    found
}

/// A minimum or maximum without the parts that another part makes needless for all sizes.
fn pruned(scope: &Scope, form: Linear) -> Linear {
    let (parts, smallest) = match (form.terms.iter().next(), form.terms.len(), form.constant) {
        (Some((Atom::Minimum(parts), 1)), 1, 0) => (parts, true),
        (Some((Atom::Maximum(parts), 1)), 1, 0) => (parts, false),
        _ => return form,
    };
    let questions = scope.questions();
    let mut kept = parts.clone();
    for part in parts {
        let decides = |other: &Linear| {
            let compare = if smallest { Sum::above } else { Sum::below };
            let [other, part] = [other, part].map(|form| points::Value::of(form, OWN));
            questions.is_empty(&[other.is(compare, &part)]) == Some(true)
        };
        if kept.len() > 1 && kept.iter().any(|other| other != part && decides(other)) {
            kept.retain(|other| other != part);
        }
    }
    let joined = |a: Linear, b: Linear| {
        if smallest {
            a.minimum(&b)
        } else {
            a.maximum(&b)
        }
    };
    let mut kept = kept.into_iter();
    let first = kept.next();
    first
        .and_then(|first| kept.try_fold(first, joined))
        .unwrap_or(form)
}

/// The values of an index with which a subscript stays inside, whatever the other indices in it are.
fn solved(
    scope: &Scope,
    known: &[Option<Range>],
    limit: &Limit<'_>,
    variable: usize,
) -> Option<(Linear, Linear)> {
    let factor = *limit.form.terms.get(&Atom::Variable(variable))?;
    let rest = limit
        .form
        .plus(&Linear::variable(variable), factor.checked_neg()?)?;
    if rest.variables().contains(&variable) {
        return None;
    }
    let ranges = |variable: usize| {
        let (low, high) = known[variable].as_ref()?;
        Some((low.linear()?.clone(), high.linear()?.clone()))
    };
    let none = HashMap::new();
    let least = extreme(&rest, &ranges, &none, false)?;
    let most = extreme(&rest, &ranges, &none, true)?;
    let _ = scope;
    let last = limit.extent.offset(-1)?;
    match factor > 0 {
        true => {
            let low = least.scale(-1)?.ceil_divide(factor)?;
            let high = last.subtract(&most)?.floor_divide(factor)?.offset(1)?;
            Some((low, high))
        }
        false => {
            let factor = factor.checked_neg()?;
            let low = most.subtract(&last)?.ceil_divide(factor)?;
            let high = least.floor_divide(factor)?.offset(1)?;
            Some((low, high))
        }
    }
}

/// The largest or smallest value of a form over the ranges of its indices and of time loops, where none of them is empty; it
/// may be missed by those that depend on each other.
pub(super) fn extreme(
    form: &Linear,
    ranges: &dyn Fn(usize) -> Option<(Linear, Linear)>,
    times: &HashMap<usize, (Linear, Linear)>,
    largest: bool,
) -> Option<Linear> {
    let mut sum = Linear::number(form.constant);
    for (atom, factor) in &form.terms {
        let upwards = largest == (*factor > 0);
        let of_range = |(low, high): &(Linear, Linear)| {
            let end = match upwards {
                true => high.offset(-1)?,
                false => low.clone(),
            };
            extreme(&end, ranges, times, upwards)
        };
        let each = |forms: &[Linear]| -> Option<Vec<Linear>> {
            forms
                .iter()
                .map(|form| extreme(form, ranges, times, upwards))
                .collect()
        };
        let value = match atom {
            Atom::Variable(variable) => of_range(&ranges(*variable)?)?,
            Atom::Symbol(symbol) => match times.get(symbol) {
                Some(range) => of_range(range)?,
                None => Linear::symbol(*symbol),
            },
            Atom::Floor(form, divisor) => {
                extreme(form, ranges, times, upwards)?.floor_divide(*divisor)?
            }
            Atom::Minimum(forms) => {
                let forms = each(forms)?;
                let (first, rest) = forms.split_first()?;
                rest.iter().try_fold(first.clone(), |a, b| a.minimum(b))?
            }
            Atom::Maximum(forms) => {
                let forms = each(forms)?;
                let (first, rest) = forms.split_first()?;
                rest.iter().try_fold(first.clone(), |a, b| a.maximum(b))?
            }
            Atom::Product(a, b) => a.multiply(b)?,
        };
        sum = sum.plus(&value, *factor)?;
    }
    Some(sum)
}

/// All subscripts of reads that have a form, with the extents that they have to stay below.
fn limits<'q>(question: &'q Question<'_>) -> Vec<Limit<'q>> {
    let mut limits = Vec::new();
    let clauses = question.clauses;
    for (_, (low, high)) in &clauses.ranges {
        for bound in [low, high] {
            if let Bound::Data(value) = bound {
                gather(question.scope, value, &mut Vec::new(), &mut limits);
            }
        }
    }
    for subscript in question.left.0 {
        gather(
            question.scope,
            &subscript.value,
            &mut Vec::new(),
            &mut limits,
        );
    }
    gather(question.scope, question.value, &mut Vec::new(), &mut limits);
    for value in &clauses.exists {
        gather(question.scope, value, &mut Vec::new(), &mut limits);
    }
    limits
}

/// Gathers the limits of a value that is computed where `conditions` hold.
fn gather<'q>(
    scope: &'q Scope,
    value: &'q Value,
    conditions: &mut Vec<Condition>,
    limits: &mut Vec<Limit<'q>>,
) {
    match &value.kind {
        ValueKind::Read { tensor, subscripts } => {
            let extents = &scope.function.tensors[*tensor].extents;
            for (subscript, extent) in subscripts.iter().zip(extents) {
                if let Some(form) = &subscript.linear {
                    limits.push(Limit {
                        subscript,
                        form,
                        extent,
                        conditions: conditions.clone(),
                    });
                }
                gather(scope, &subscript.value, conditions, limits);
            }
        }
        ValueKind::Integer(_)
        | ValueKind::Real(_)
        | ValueKind::Variable(_)
        | ValueKind::Size(_) => {}
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => {
            gather(scope, operand, conditions, limits);
        }
        ValueKind::Binary(operator, left, right) => {
            gather(scope, left, conditions, limits);
            let depth = conditions.len();
            if let Binary::And | Binary::Or = operator {
                let holds = *operator == Binary::And;
                conditions.push(scope.questions().condition(left, holds));
            }
            gather(scope, right, conditions, limits);
            conditions.truncate(depth);
        }
        ValueKind::Select(condition, then, other) => {
            gather(scope, condition, conditions, limits);
            for (branch, holds) in [(then, true), (other, false)] {
                conditions.push(scope.questions().condition(condition, holds));
                gather(scope, branch, conditions, limits);
                conditions.pop();
            }
        }
        ValueKind::Call(_, _, arguments) => {
            for argument in arguments {
                gather(scope, argument, conditions, limits);
            }
        }
    }
}

/// Whether the conditions around a read keep it inside, whatever the indices without a range are.
fn is_kept_inside(question: &Question<'_>, known: &[Option<Range>], limit: &Limit<'_>) -> bool {
    if limit.conditions.is_empty() {
        return false;
    }
    let value = |form: &Linear| points::Value::of(form, OWN);
    let mut all = limit.conditions.clone();
    for (number, range) in known.iter().enumerate() {
        let Some((low, high)) = range else { continue };
        let index = points::Value::name(points::Name::Index(OWN.instance, number));
        if let Some(low) = low.linear() {
            all.push(index.is(Sum::at_least, &value(low)));
        }
        if let Some(high) = high.linear() {
            all.push(index.is(Sum::below, &value(high)));
        }
    }
    let form = value(limit.form);
    all.push(Formula::Any(vec![
        form.is(Sum::below, &points::Value::number(0)),
        form.is(Sum::at_least, &value(limit.extent)),
    ]));
    question.scope.questions().is_empty(&all) == Some(true)
}

/// Indices on the left, then the others so that bounds speak only of those before.
pub(super) fn order(variables: &[Name], free: usize, ranges: &[Range]) -> Checked<Vec<usize>> {
    let needs = |variable: usize| {
        let mut needs = Vec::new();
        for bound in [&ranges[variable].0, &ranges[variable].1] {
            match bound {
                Bound::Linear(form) => needs.extend(form.variables()),
                Bound::Data(value) => typing::variables(value, &mut needs),
            }
        }
        needs
    };
    let mut order = Vec::new();
    for variable in 0..free {
        let name = &variables[variable];
        let is_data = [&ranges[variable].0, &ranges[variable].1]
            .iter()
            .any(|bound| bound.linear().is_none());
        if is_data || !needs(variable).is_empty() {
            let on = match is_data {
                true => "elements of a tensor",
                false => "another index",
            };
            let message = format!(
                "the range of '{}' depends on {on}, which that of an index on the left may not",
                name.text
            );
            let fault = Fault::new(name.span, message);
            let mend = format!(
                "give '{0}' a range of sizes and numbers, and say what the elements beyond are: '{0} < … ? … : 0'",
                name.text
            );
            return Err(fault.mend(mend).into());
        }
        order.push(variable);
    }
    while order.len() < variables.len() {
        let ready = (0..variables.len()).find(|variable| {
            !order.contains(variable) && needs(*variable).iter().all(|need| order.contains(need))
        });
        let Some(ready) = ready else {
            let mut rest = (0..variables.len()).filter(|variable| !order.contains(variable));
            let name = &variables[rest.next().unwrap_or_default()];
            let message = format!("the range of '{}' depends on itself", name.text);
            let mend =
                "bounds are made of sizes, numbers, and indices whose ranges come without this one";
            return Err(Fault::new(name.span, message).mend(mend).into());
        };
        order.push(ready);
    }
    Ok(order)
}

fn without_range(
    question: &Question<'_>,
    known: &[Option<Range>],
    limits: &[Limit<'_>],
    missing: usize,
) -> Box<Fault> {
    let name = &question.variables[missing];
    let names: Vec<String> = question
        .variables
        .iter()
        .map(|name| name.text.clone())
        .collect();
    let is_in = |limit: &&Limit<'_>| limit.form.variables().contains(&missing);
    let text = &name.text;
    let fault = Fault::new(name.span, format!("the range of '{text}' is not known"));
    let Some(limit) = limits.iter().find(is_in) else {
        let target = &question.tree.target.text;
        let mut is_subscript = false;
        let mut look = |value: &Value| {
            let mut inside = Vec::new();
            typing::variables(value, &mut inside);
            is_subscript |= inside.contains(&missing);
        };
        let left = question.left.0.iter();
        left.for_each(|subscript| look(&subscript.value));
        question.value.reads(&mut |_, subscripts| {
            subscripts
                .iter()
                .for_each(|subscript| look(&subscript.value));
        });
        if !is_subscript {
            return fault
                .mend(format!(
                    "'{text}' is taken for an index, since no tensor, size or value has that name: write another name, or a range, 'where {text} in 0:…'"
                ))
                .into();
        }
        return fault
            .mend(format!(
                "no subscript of a tensor on the right bounds it; write 'where {text} in 0:…', or declare '{target}' with its extents"
            ))
            .into();
    };
    let form = shown(&question.scope.function, limit.form, &names);
    let extent = shown(&question.scope.function, limit.extent, &names);
    let others: Vec<usize> = limit.form.variables();
    let mut others = others
        .into_iter()
        .filter(|other| *other != missing && known[*other].is_none());
    let note = format!("the subscript '{form}' stays below {extent}");
    match others.next() {
        Some(other) => {
            let other = &names[other];
            fault
                .note(limit.subscript.span, format!("{note}, but '{other}' has no range either"))
                .mend(format!(
                    "a range for one of them gives that of the other: 'where {other} in 0:…' or 'where {text} in 0:…'"
                ))
                .into()
        }
        None => fault
            .note(
                limit.subscript.span,
                format!("{note}, and no range of '{text}' is concluded from that"),
            )
            .mend(format!("say it: 'where {text} in 0:…'"))
            .into(),
    }
}
