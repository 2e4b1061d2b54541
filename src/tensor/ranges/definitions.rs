//! Whether every element is defined once, before it is read, and whether what is changed in place is provably the same as on
//! whole tensors (§3 of the paper: everything is read before anything is written).

use super::Checked;
use super::proofs::{OTHER, OWN, Questions, Visit, domain, instances_differ, reads_under};
use super::scope::shown;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::Set;
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::Linear;
use crate::tensor::points::{Condition, Name, Naming, Value, coordinates};
use crate::tensor::program::{Bound, Function, Role, Statement, Step, Subscript};
use crate::tensor::syntax::tree::Operator;
use std::collections::HashMap;

/// What of a tensor is defined.
#[derive(Clone, Debug, PartialEq)]
enum State {
    Nothing,
    Whole,
    /// Where one of these holds, and which statements say so.
    Parts(Vec<(Condition, Span)>),
}

struct Walk<'f> {
    function: &'f Function,
    states: Vec<State>,
    /// By tensor: what defines it wholly, or else declares it.
    firsts: Vec<Span>,
    times: HashMap<usize, (Linear, Linear)>,
    /// By tensor: it was wholly defined before the outermost time loop around the statement, so that it is a state that
    /// steps may set anew.
    carried: Vec<bool>,
    /// Instances and times that were named so far.
    named: usize,
}

/// Checks a definition whose statements are typed.
///
/// # Errors
/// The first element that is defined twice, read before it is defined, or never defined.
pub(super) fn check(function: &mut Function) -> Checked<()> {
    let states = function.tensors.iter().map(|tensor| match tensor.role {
        Role::Input | Role::Value | Role::Changed => State::Whole,
        Role::Output | Role::Temporary => State::Nothing,
    });
    let mut walk = Walk {
        function,
        states: states.collect(),
        firsts: function.tensors.iter().map(|tensor| tensor.span).collect(),
        times: HashMap::new(),
        carried: Vec::new(),
        named: OTHER.instance,
    };
    walk.steps(&function.body)?;
    for number in &function.returns {
        let tensor = &function.tensors[*number];
        let rank = tensor.extents.len();
        let questions = Questions::new(function, &walk.times);
        let all = whole(&tensor.extents);
        if !walk.covers(&questions, *number, rank, &all) {
            let message = format!(
                "some elements of '{}' are defined by no statement, as far as can be seen",
                tensor.name
            );
            let questions_of = "that statements cover a tensor is seen only where their ranges are sums of sizes and numbers";
            let mend = format!("define the other elements as well; {questions_of}");
            return Err(Fault::new(tensor.span, message).mend(mend).into());
        }
    }
    Ok(())
}

/// That the coordinates name an element.
fn whole(extents: &[Linear]) -> Vec<Condition> {
    let each = extents.iter().enumerate();
    each.flat_map(|(number, extent)| {
        let coordinate = Value::name(Name::Element(number));
        [
            coordinate.is(Sum::at_least, &Value::number(0)),
            coordinate.is(Sum::below, &Value::of(extent, OWN)),
        ]
    })
    .collect()
}

impl Walk<'_> {
    fn steps(&mut self, steps: &[Step]) -> Checked<()> {
        for step in steps {
            match step {
                Step::Statement(statement) => self.statement(statement)?,
                Step::Loop(time_loop) => {
                    let before = self.states.clone();
                    let mut written = Vec::new();
                    self.regions(&time_loop.body, &mut written);
                    // What an iteration defines wholly is its own.
                    written.retain(|(tensor, region)| {
                        region.is_some() || before[*tensor] != State::Nothing
                    });
                    let outer = self.times.clone();
                    if outer.is_empty() {
                        self.carried = before.iter().map(|state| *state == State::Whole).collect();
                    }
                    self.add_earlier(time_loop, &written, true);
                    let range = (time_loop.low.clone(), time_loop.high.clone());
                    self.times.insert(time_loop.symbol, range);
                    self.steps(&time_loop.body)?;
                    self.times = outer;
                    if self.times.is_empty() {
                        self.carried.clear();
                    }
                    self.states = before;
                    self.add_earlier(time_loop, &written, false);
                }
            }
        }
        Ok(())
    }

    /// What statements define, where they do not define it wholly.
    fn regions(&self, steps: &[Step], found: &mut Vec<(usize, Option<Statement>)>) {
        for step in steps {
            match step {
                Step::Statement(statement) => {
                    let starts = !matches!(statement.operator, Operator::Reduce(_, false));
                    if !starts {
                        continue;
                    }
                    let is_whole = self.is_whole(statement);
                    let region = (!is_whole).then(|| (**statement).clone());
                    found.push((statement.target, region));
                }
                Step::Loop(time_loop) => self.regions(&time_loop.body, found),
            }
        }
    }

    /// Adds what iterations of a loop define: those before the present one, or all.
    fn add_earlier(
        &mut self,
        time_loop: &crate::tensor::program::TimeLoop,
        written: &[(usize, Option<Statement>)],
        only_earlier: bool,
    ) {
        for (tensor, statement) in written {
            let Some(statement) = statement else { continue };
            self.named += 1;
            let naming = Naming {
                instance: self.named,
                time: Some((time_loop.symbol, self.named)),
            };
            let time = Value::name(Name::Time(self.named));
            let mut all = vec![
                time.is(Sum::at_least, &Value::of(&time_loop.low, OWN)),
                time.is(Sum::below, &Value::of(&time_loop.high, OWN)),
            ];
            if only_earlier {
                let now = Value::name(Name::Symbol(time_loop.symbol));
                all.push(time.is(Sum::below, &now));
            }
            all.push(region(statement, naming));
            let region = Formula::All(all);
            self.add(*tensor, (region, statement.span));
        }
    }

    fn add(&mut self, tensor: usize, region: (Condition, Span)) {
        match &mut self.states[tensor] {
            State::Whole => {}
            State::Nothing => self.states[tensor] = State::Parts(vec![region]),
            State::Parts(parts) => parts.push(region),
        }
    }

    /// Whether a statement writes every element, at every time.
    fn is_whole(&self, statement: &Statement) -> bool {
        if statement.scatter {
            return true;
        }
        let tensor = &self.function.tensors[statement.target];
        let each = statement.subscripts.iter().zip(&tensor.extents);
        let mut seen = Vec::new();
        each.into_iter().all(|(subscript, extent)| {
            let variable = subscript.linear.as_ref().and_then(Linear::as_variable);
            let Some(variable) = variable.filter(|variable| !seen.contains(variable)) else {
                return false;
            };
            seen.push(variable);
            let variable = &statement.variables[variable];
            let zero = Bound::Linear(Linear::number(0));
            variable.low == zero && variable.high.linear() == Some(extent)
        })
    }

    /// Whether the defined elements include all that satisfy conditions.
    fn covers(
        &self,
        questions: &Questions<'_>,
        tensor: usize,
        rank: usize,
        conditions: &[Condition],
    ) -> bool {
        let parts = match &self.states[tensor] {
            State::Whole => return true,
            State::Nothing => {
                return questions.is_empty(conditions) == Some(true);
            }
            State::Parts(parts) => parts,
        };
        let names = coordinates(rank);
        let Some(wanted) = questions.set(&names, conditions) else {
            return false;
        };
        let mut union: Option<Set> = None;
        for (part, _) in parts {
            let Some(part) = questions.set(&names, std::slice::from_ref(part)) else {
                return false;
            };
            union = match union {
                None => Some(part),
                Some(union) => match union.union(&part) {
                    Ok(both) => Some(both),
                    Err(_) => return false,
                },
            };
        }
        union.is_some_and(|union| wanted.is_subset(&union) == Ok(true))
    }

    fn statement(&mut self, statement: &Statement) -> Checked<()> {
        self.reads_are_defined(statement)?;
        self.reads_own_element(statement)?;
        let target = statement.target;
        let tensor = &self.function.tensors[target];
        let rank = tensor.extents.len();
        let reads_itself = reads_target(statement);
        let region = {
            let questions = Questions::new(self.function, &self.times);
            self.named += 1;
            let naming = Naming {
                instance: self.named,
                time: None,
            };
            let own = region(statement, naming);
            let goes_on = matches!(statement.operator, Operator::Reduce(_, false));
            let is_whole = self.is_whole(statement);
            let wanted = match statement.scatter {
                true => whole(&tensor.extents),
                false => vec![own.clone()],
            };
            if goes_on || reads_itself {
                if !self.covers(&questions, target, rank, &wanted) {
                    let message = format!(
                        "elements of '{}' are changed that nothing has defined",
                        tensor.name
                    );
                    let mend = "define all of them in a statement before";
                    return Err(Fault::new(statement.span, message).mend(mend).into());
                }
                return Ok(());
            }
            let is_carried = self.carried.get(target).is_some_and(|carried| *carried);
            if is_carried && (is_whole || statement.scatter) {
                return Ok(());
            }
            let first = match &self.states[target] {
                State::Nothing => None,
                State::Whole => Some(self.firsts[target]),
                State::Parts(parts) => {
                    let mut parts = parts.iter();
                    let overlapping = parts.find(|(part, _)| {
                        let mut both = wanted.clone();
                        both.push(part.clone());
                        questions.is_empty(&both) != Some(true)
                    });
                    overlapping.map(|(_, span)| *span)
                }
            };
            if let Some(first) = first {
                return Err(self.defined_twice(statement, first).into());
            }
            (!is_whole).then_some(own)
        };
        match region {
            None => {
                self.states[target] = State::Whole;
                self.firsts[target] = statement.span;
            }
            Some(region) => self.add(target, (region, statement.span)),
        }
        Ok(())
    }

    /// That a statement defines what another one, or an input, has defined.
    fn defined_twice(&self, statement: &Statement, first: Span) -> Fault {
        let tensor = &self.function.tensors[statement.target];
        let name = &tensor.name;
        if tensor.role == Role::Changed {
            let message = format!(
                "this overwrites the input '{name}', of which nothing is read on the right"
            );
            let mend = format!(
                "remove '{name}' from the inputs, so that it is an output alone, or read it: '{name}(…) = … {name}(…) …'"
            );
            let fault = Fault::new(statement.span, message).mend(mend);
            return fault.note(tensor.span, "it is declared here");
        }
        let how = match self.states[statement.target] {
            State::Whole => "are",
            _ => "may be",
        };
        let message = format!("elements of '{name}' {how} defined twice");
        let mend = format!(
            "to change what is defined, read it on the right, as in '{name}(…) = {name}(…) * 2'; else choose another name, or ranges that have nothing in common"
        );
        let fault = Fault::new(statement.span, message).mend(mend);
        match first == statement.span {
            true => fault.note(first, "another iteration of the loop has defined them"),
            false => fault.note(first, "they are defined here first"),
        }
    }

    /// That every element that is read has been defined.
    fn reads_are_defined(&self, statement: &Statement) -> Checked<()> {
        let questions = Questions::new(self.function, &self.times);
        let mut fault = None;
        let mut visit = |tensor: usize, subscripts: &[Subscript], conditions: &[Condition]| {
            let state = &self.states[tensor];
            if fault.is_some() || *state == State::Whole {
                return;
            }
            let known = &self.function.tensors[tensor];
            // As a set of elements: some values of the indices name it.
            let mut all = conditions.to_vec();
            for (number, subscript) in subscripts.iter().enumerate() {
                if let Some(form) = &subscript.linear {
                    let coordinate = Value::name(Name::Element(number));
                    all.push(coordinate.is(Sum::equal, &Value::of(form, OWN)));
                }
            }
            all.extend(whole(&known.extents));
            if !self.covers(&questions, tensor, known.extents.len(), &all) {
                let span = subscripts
                    .first()
                    .map_or(statement.span, |first| first.span);
                let message = format!(
                    "elements of '{}' may be read here that nothing has defined yet",
                    known.name
                );
                let mend = "define them in a statement before, or narrow the range of the indices";
                let new = Fault::new(span, message).mend(mend);
                fault = Some(new.note(known.span, "it stands here first"));
            }
        };
        self.each_read(&questions, statement, &mut visit);
        match fault {
            None => Ok(()),
            Some(fault) => Err(fault.into()),
        }
    }

    /// That a statement which reads what it writes reads no element that it writes for other values of its indices.
    fn reads_own_element(&self, statement: &Statement) -> Checked<()> {
        if statement.scatter || !reads_target(statement) {
            return Ok(());
        }
        let questions = Questions::new(self.function, &self.times);
        let free = statement.free().count();
        let others = &statement.variables[..free];
        let mut found: Option<(Span, Vec<String>)> = None;
        let mut visit = |tensor: usize, subscripts: &[Subscript], conditions: &[Condition]| {
            if tensor != statement.target || found.is_some() {
                return;
            }
            let mut all = conditions.to_vec();
            all.extend(domain(others, OTHER));
            for (read, written) in subscripts.iter().zip(&statement.subscripts) {
                if let (Some(read), Some(written)) = (&read.linear, &written.linear) {
                    all.push(Value::of(read, OWN).is(Sum::equal, &Value::of(written, OTHER)));
                }
            }
            if free == 0 {
                return;
            }
            all.push(instances_differ(OWN, OTHER, free));
            if questions.is_empty(&all) != Some(true) {
                let variables: Vec<String> = statement
                    .variables
                    .iter()
                    .map(|variable| variable.name.clone())
                    .collect();
                let text = |subscript: &Subscript| match &subscript.linear {
                    Some(form) => shown(self.function, form, &variables),
                    None => "…".to_owned(),
                };
                let span = subscripts
                    .first()
                    .map_or(statement.span, |first| first.span);
                found = Some((span, subscripts.iter().map(text).collect()));
            }
        };
        self.each_read(&questions, statement, &mut visit);
        let Some((span, subscripts)) = found else {
            return Ok(());
        };
        let name = &self.function.tensors[statement.target].name;
        let message = format!(
            "'{name}({})' is read while other elements of '{name}' are written",
            subscripts.join(", ")
        );
        let mend = format!(
            "a statement reads everything before it writes anything, so that '{name}' would have to exist twice; give the result another name"
        );
        Err(Fault::new(span, message).mend(mend).into())
    }

    /// Calls `visit` with each read of a statement and what holds there.
    fn each_read(&self, questions: &Questions<'_>, statement: &Statement, visit: &mut Visit<'_>) {
        for (number, variable) in statement.variables.iter().enumerate() {
            let mut before = domain(&statement.variables[..number], OWN);
            for bound in [&variable.low, &variable.high] {
                if let Bound::Data(value) = bound {
                    reads_under(questions, value, &mut before, visit);
                }
            }
        }
        let free = statement.free().count();
        let mut left = domain(&statement.variables[..free], OWN);
        for subscript in &statement.subscripts {
            reads_under(questions, &subscript.value, &mut left, visit);
        }
        let mut all = domain(&statement.variables, OWN);
        reads_under(questions, &statement.value, &mut all, visit);
    }
}

fn reads_target(statement: &Statement) -> bool {
    let mut found = false;
    statement.reads(&mut |tensor, _| found |= tensor == statement.target);
    found
}

/// That an instance of a statement, with names of its own, writes the element in question.
fn region(statement: &Statement, naming: Naming) -> Condition {
    let free = statement.free().count();
    let mut all = domain(&statement.variables[..free], naming);
    for (number, subscript) in statement.subscripts.iter().enumerate() {
        if let Some(form) = &subscript.linear {
            let coordinate = Value::name(Name::Element(number));
            all.push(coordinate.is(Sum::equal, &Value::of(form, naming)));
        }
    }
    Formula::All(all)
}
