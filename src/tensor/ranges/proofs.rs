//! Whether accesses stay inside their tensors: proven by isl, checked by the launcher, guarded at the access where data
//! decide, or refused.

use super::Checked;
use super::inference::extreme;
use super::scope::{Scope, shown};
use crate::math::isl::Set;
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::{Atom, Linear, Notation};
use crate::tensor::program::{
    Bound, Check, Function, Statement, Subscript, SymbolKind, Value, ValueKind, Variable,
};
use crate::tensor::syntax::tree::{Binary, Comprehension, Operator, Unary};
use crate::tensor::types::Scalar;
use std::cell::RefCell;
use std::collections::HashMap;

/// Writes conditions on sizes and indices in isl's notation, and asks isl.
pub(super) struct Texts<'f> {
    function: &'f Function,
    times: &'f HashMap<usize, (Linear, Linear)>,
    /// Products of sizes, each a parameter of its own.
    products: RefCell<Vec<Atom>>,
}

impl<'f> Texts<'f> {
    /// For a definition, inside of time loops.
    pub(super) fn new(function: &'f Function, times: &'f HashMap<usize, (Linear, Linear)>) -> Self {
        Self {
            function,
            times,
            products: RefCell::new(Vec::new()),
        }
    }

    /// A form; indices are named `prefix` and their number, symbols `s` and theirs unless `renamed` has another name.
    pub(super) fn form(
        &self,
        form: &Linear,
        prefix: &str,
        renamed: &HashMap<usize, String>,
    ) -> String {
        form.text(Notation::Isl, &mut |atom| match atom {
            Atom::Symbol(symbol) => renamed.get(symbol).cloned().unwrap_or(format!("s{symbol}")),
            Atom::Variable(variable) => format!("{prefix}{variable}"),
            product => {
                let mut products = self.products.borrow_mut();
                let number = products.iter().position(|known| known == product);
                let number = number.unwrap_or_else(|| {
                    products.push(product.clone());
                    products.len() - 1
                });
                format!("q{number}")
            }
        })
    }

    /// The conditions that the linear bounds of indices give.
    pub(super) fn domain(
        &self,
        variables: &[Variable],
        prefix: &str,
        renamed: &HashMap<usize, String>,
    ) -> Vec<String> {
        let mut conditions = Vec::new();
        for (number, variable) in variables.iter().enumerate() {
            if let Some(low) = variable.low.linear() {
                conditions.push(format!(
                    "{prefix}{number} >= {}",
                    self.form(low, prefix, renamed)
                ));
            }
            if let Some(high) = variable.high.linear() {
                conditions.push(format!(
                    "{prefix}{number} < {}",
                    self.form(high, prefix, renamed)
                ));
            }
        }
        conditions
    }

    /// Whether nothing satisfies all conditions; `None` where isl does not say.
    pub(super) fn is_empty(&self, dimensions: &[String], conditions: &[String]) -> Option<bool> {
        self.set(dimensions, conditions)?.is_empty().ok()
    }

    /// The points that satisfy all conditions.
    pub(super) fn set(&self, dimensions: &[String], conditions: &[String]) -> Option<Set> {
        let mut all = self.context();
        all.extend(conditions.iter().cloned());
        let symbols = (0..self.function.symbols.len()).map(|symbol| format!("s{symbol}"));
        let count = self.products.borrow().len();
        let parameters: Vec<String> = symbols
            .chain((0..count).map(|number| format!("q{number}")))
            .collect();
        let condition = match all.is_empty() {
            true => "true".to_owned(),
            false => all.join(" and "),
        };
        let text = format!(
            "[{}] -> {{ [{}] : {condition} }}",
            parameters.join(", "),
            dimensions.join(", ")
        );
        Set::parse(&text).ok()
    }

    /// What is known of all sizes: none is negative, nor is an extent, and time is inside its loop.
    fn context(&self) -> Vec<String> {
        let none = HashMap::new();
        let mut known = Vec::new();
        for (number, symbol) in self.function.symbols.iter().enumerate() {
            if symbol.kind == SymbolKind::Size {
                known.push(format!("s{number} >= 0"));
            }
        }
        for tensor in &self.function.tensors {
            for extent in &tensor.extents {
                let plain = extent.as_number().is_some() || extent.terms.len() == 1;
                if !plain {
                    known.push(format!("{} >= 0", self.form(extent, "i", &none)));
                }
            }
        }
        for check in &self.function.checks {
            // The launcher looks before anything runs.
            if check.when_positive.is_empty() {
                let (left, right) = (
                    self.form(&check.left, "i", &none),
                    self.form(&check.right, "i", &none),
                );
                let operator = if check.equal { "=" } else { "<=" };
                known.push(format!("{left} {operator} {right}"));
            }
        }
        for (symbol, (low, high)) in self.times {
            known.push(format!("s{symbol} >= {}", self.form(low, "i", &none)));
            known.push(format!("s{symbol} < {}", self.form(high, "i", &none)));
        }
        for (number, product) in self.products.borrow().iter().enumerate() {
            let form = Linear::atom(product.clone());
            if self.function.is_natural(&form, &|_| false) {
                known.push(format!("q{number} >= 0"));
            }
        }
        known
    }

    /// What must hold where a truth value is what is given; a part that has no form may be anything.
    pub(super) fn condition(&self, value: &Value, holds: bool, prefix: &str) -> String {
        let none = HashMap::new();
        match &value.kind {
            ValueKind::Unary(Unary::Not, operand) => self.condition(operand, !holds, prefix),
            ValueKind::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
                let word = match (*operator == Binary::And) == holds {
                    true => "and",
                    false => "or",
                };
                let (left, right) = (
                    self.condition(left, holds, prefix),
                    self.condition(right, holds, prefix),
                );
                format!("({left} {word} {right})")
            }
            ValueKind::Binary(operator, left, right) if operator.is_truth() => {
                let both = Value::compared(left, right, self.function);
                let Some((left, right)) = both else {
                    return "true".to_owned();
                };
                let word = match (operator, holds) {
                    (Binary::Less, true) | (Binary::GreaterEqual, false) => "<",
                    (Binary::LessEqual, true) | (Binary::Greater, false) => "<=",
                    (Binary::Greater, true) | (Binary::LessEqual, false) => ">",
                    (Binary::GreaterEqual, true) | (Binary::Less, false) => ">=",
                    (Binary::Equal, true) | (Binary::NotEqual, false) => "=",
                    _ => "!=",
                };
                let side = |form: &Linear| self.form(form, prefix, &none);
                format!("{} {word} {}", side(&left), side(&right))
            }
            ValueKind::Integer(number) if value.scalar == Scalar::Bool => {
                ((*number != 0) == holds).to_string()
            }
            _ => "true".to_owned(),
        }
    }
}

/// Names of dimensions.
pub(super) fn dimensions(prefix: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("{prefix}{number}"))
        .collect()
}

/// What is done with a read: a tensor, its subscripts, and the conditions under which it happens.
pub(super) type Visit<'v> = dyn FnMut(usize, &[Subscript], &[String]) + 'v;

/// Calls `visit` with each read of a value, and the conditions under which it happens.
pub(super) fn reads_under(
    texts: &Texts<'_>,
    value: &Value,
    (conditions, prefix): (&mut Vec<String>, &str),
    visit: &mut Visit<'_>,
) {
    match &value.kind {
        ValueKind::Integer(_)
        | ValueKind::Real(_)
        | ValueKind::Variable(_)
        | ValueKind::Size(_) => {}
        ValueKind::Read { tensor, subscripts } => {
            for subscript in subscripts {
                reads_under(texts, &subscript.value, (conditions, prefix), visit);
            }
            visit(*tensor, subscripts, conditions);
        }
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => {
            reads_under(texts, operand, (conditions, prefix), visit);
        }
        ValueKind::Binary(operator, left, right) => {
            reads_under(texts, left, (conditions, prefix), visit);
            let added = second_condition(texts, *operator, left, prefix);
            let depth = conditions.len();
            conditions.extend(added);
            reads_under(texts, right, (conditions, prefix), visit);
            conditions.truncate(depth);
        }
        ValueKind::Select(condition, then, other) => {
            reads_under(texts, condition, (conditions, prefix), visit);
            for (branch, holds) in [(then, true), (other, false)] {
                conditions.push(texts.condition(condition, holds, prefix));
                reads_under(texts, branch, (conditions, prefix), visit);
                conditions.pop();
            }
        }
        ValueKind::Call(_, _, arguments) => {
            for argument in arguments {
                reads_under(texts, argument, (conditions, prefix), visit);
            }
        }
    }
}

/// The condition under which the second operand is computed.
fn second_condition(
    texts: &Texts<'_>,
    operator: Binary,
    left: &Value,
    prefix: &str,
) -> Option<String> {
    match operator {
        Binary::And => Some(texts.condition(left, true, prefix)),
        Binary::Or => Some(texts.condition(left, false, prefix)),
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
        let texts = scope.texts();
        let mut prover = Prover {
            scope,
            texts: &texts,
            variables: &statement.variables,
            checks: &mut checks,
        };
        for (number, variable) in settled.variables.iter_mut().enumerate() {
            let domain = texts.domain(&statement.variables[..number], "i", &HashMap::new());
            for bound in [&mut variable.low, &mut variable.high] {
                if let Bound::Data(value) = bound {
                    prover.value(value, &mut domain.clone(), true)?;
                }
            }
        }
        let mut domain = texts.domain(&statement.variables, "i", &HashMap::new());
        // What is on the left is computed once for each element, also where nothing is reduced.
        let free = statement.free().count();
        let mut left = texts.domain(&statement.variables[..free], "i", &HashMap::new());
        for subscript in &mut settled.subscripts {
            prover.value(&mut subscript.value, &mut left, true)?;
        }
        prover.access(statement.target, &mut settled.subscripts, &left, true)?;
        prover.value(&mut settled.value, &mut domain, true)?;
        settled.scatter = is_scatter(&texts, &settled);
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
fn is_scatter(texts: &Texts<'_>, statement: &Statement) -> bool {
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
    let none = HashMap::new();
    let count = free.len();
    let variables = &statement.variables[..count];
    let mut conditions = texts.domain(variables, "i", &none);
    conditions.extend(texts.domain(variables, "j", &none));
    for form in forms {
        conditions.push(format!(
            "{} = {}",
            texts.form(form, "i", &none),
            texts.form(form, "j", &none)
        ));
    }
    let differ: Vec<String> = (0..count)
        .map(|number| format!("i{number} != j{number}"))
        .collect();
    conditions.push(format!("({})", differ.join(" or ")));
    let names = [dimensions("i", count), dimensions("j", count)].concat();
    texts.is_empty(&names, &conditions) != Some(true)
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
    texts: &'p Texts<'p>,
    variables: &'p [Variable],
    checks: &'p mut Vec<Check>,
}

impl Prover<'_> {
    /// Settles each read in a value; `always` where nothing but the domain decides whether it happens.
    fn value(
        &mut self,
        value: &mut Value,
        conditions: &mut Vec<String>,
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
                let added = second_condition(self.texts, *operator, left, "i");
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
                    conditions.push(self.texts.condition(condition, holds, "i"));
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
        conditions: &[String],
        always: bool,
    ) -> Checked<()> {
        let known = &self.scope.function.tensors[tensor];
        for (subscript, extent) in subscripts.iter_mut().zip(&known.extents) {
            let Some(form) = subscript.linear.clone() else {
                subscript.guarded = true;
                continue;
            };
            let none = HashMap::new();
            let (text, end) = (
                self.texts.form(&form, "i", &none),
                self.texts.form(extent, "i", &none),
            );
            let is_never = |condition: String| {
                let mut all = conditions.to_vec();
                all.push(condition);
                let names = dimensions("i", self.variables.len());
                self.texts.is_empty(&names, &all) == Some(true)
            };
            let below = !is_never(format!("{text} < 0"));
            let above = !is_never(format!("{text} >= {end}"));
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
        conditions: &[String],
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
        let none = HashMap::new();
        // Under a condition, only a subscript without indices is worth a check that does not know the condition.
        let may_check = always || !form.has_variables();
        let fits = ends
            .as_ref()
            .filter(|_| may_check)
            .is_some_and(|(least, most, last)| {
                let text = |form: &Linear| self.texts.form(form, "i", &none);
                let mut all = conditions.to_vec();
                all.push(format!("{} >= 0", text(least)));
                all.push(format!("{} <= {}", text(most), text(last)));
                self.texts
                    .is_empty(&dimensions("i", self.variables.len()), &all)
                    == Some(false)
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
                (true, false) => format!("the subscript '{form_text}' of '{name}' can be negative"),
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
                None => "read it only where it is inside: 'condition ? … : …'".to_owned(),
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
