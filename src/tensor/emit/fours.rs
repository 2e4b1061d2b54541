//! Four neighbours at once: elements that lie one behind the other along an index are loaded and stored as `float4`.
//!
//! Whether rows begin where four floats may is asked by the launcher; this says for which statements that would help.

use super::kernels::{Lines, accumulate, open_loop};
use super::values::{self, Scope};
use super::{factor, size};
use crate::tensor::linear::Linear;
use crate::tensor::program::{Function, Role, Statement, Subscript, Value, ValueKind};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::types::Scalar;

/// Four elements that a statement reads.
pub(super) struct Four {
    tensor: usize,
    subscripts: Vec<Subscript>,
    /// The array that has them.
    name: String,
    /// When they are read: each of one of these ways holds, as a condition that is true or false. Elsewhere they may not be
    /// there.
    ways: Vec<Vec<(Value, bool)>>,
}

/// Tensors of which a statement reads or writes neighbours along an index of the given extent; `None` where it touches
/// what four elements do not share and do not have as neighbours.
pub(super) fn tensors(
    function: &Function,
    statement: &Statement,
    (index, extent): (usize, &Linear),
) -> Option<Vec<usize>> {
    if values::used_indices(&statement.value).contains(&index) {
        return None;
    }
    let mut found = Vec::new();
    let mut is_possible = true;
    statement.value.reads_under(&mut |tensor, subscripts, way| {
        let read = (tensor, subscripts);
        match kind(function, read, (index, extent)) {
            Kind::Same => {}
            // Each of four neighbours would be read or not.
            Kind::Neighbours
                if way.iter().any(|(test, _)| mentions(test, index))
                    && !is_always_read(&statement.value, read) =>
            {
                is_possible = false;
            }
            Kind::Neighbours => found.push(read.0),
            Kind::Other => is_possible = false,
        }
    });
    let is_along = kind(
        function,
        (statement.target, &statement.subscripts),
        (index, extent),
    );
    match is_along {
        Kind::Neighbours if statement.subscripts.iter().all(|one| !one.guarded) => {
            found.push(statement.target);
        }
        // A reduction along the index makes one element.
        Kind::Same if !statement.variables[index].on_left => {}
        _ => return None,
    }
    // What only data say would be another loop for each of the four.
    let is_fixed = statement.variables.iter().all(|variable| {
        [&variable.low, &variable.high].into_iter().all(|bound| {
            let form = bound.linear();
            form.is_some_and(|form| !form.variables().contains(&index))
        })
    });
    found.sort_unstable();
    found.dedup();
    (is_possible && is_fixed).then_some(found)
}

/// What four neighbours along an index touch by an access.
enum Kind {
    /// All the same.
    Same,
    /// Neighbours.
    Neighbours,
    /// Neither.
    Other,
}

fn kind(
    function: &Function,
    (tensor, subscripts): (usize, &[Subscript]),
    (index, extent): (usize, &Linear),
) -> Kind {
    let known = &function.tensors[tensor];
    let Some((last, before)) = subscripts
        .split_last()
        .filter(|_| known.role != Role::Value)
    else {
        return Kind::Same;
    };
    let depends = |subscript: &Subscript| {
        let form = subscript.linear.as_ref();
        form.is_some_and(|form| form.variables().contains(&index))
            || mentions(&subscript.value, index)
    };
    if before.iter().any(depends) {
        return Kind::Other;
    }
    let is_it = last.linear.as_ref().and_then(Linear::as_variable) == Some(index);
    match (depends(last), is_it && !last.guarded) {
        (false, _) => Kind::Same,
        (true, true) if known.scalar == Scalar::Float && known.extents.last() == Some(extent) => {
            Kind::Neighbours
        }
        _ => Kind::Other,
    }
}

/// Whether a value depends on an index.
fn mentions(value: &Value, index: usize) -> bool {
    let of = |value: &Value| mentions(value, index);
    match &value.kind {
        ValueKind::Integer(_) | ValueKind::Real(_) | ValueKind::Size(_) => false,
        ValueKind::Variable(variable) => *variable == index,
        ValueKind::Read { subscripts, .. } => {
            subscripts.iter().any(|subscript| of(&subscript.value))
        }
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => of(operand),
        ValueKind::Binary(_, left, right) => of(left) || of(right),
        ValueKind::Select(condition, then, other) => of(condition) || of(then) || of(other),
        ValueKind::Call(_, _, arguments) => arguments.iter().any(of),
    }
}

/// Under which condition pointers and rows are such that four floats are loaded at once, as a condition of the host.
pub(super) fn condition(function: &Function, tensors: &[usize], extents: &[&Linear]) -> String {
    let mut conditions: Vec<String> = Vec::new();
    for extent in extents {
        let text = format!("{} % 4 == 0", factor(function, extent));
        let is_known = extent.as_number().is_some_and(|number| number % 4 == 0);
        if !is_known && !conditions.contains(&text) {
            conditions.push(text);
        }
    }
    // Temporaries are aligned.
    let given = tensors
        .iter()
        .filter(|tensor| function.tensors[**tensor].role != Role::Temporary);
    let pointers: Vec<String> = given
        .map(|tensor| {
            let name = &function.tensors[*tensor].name;
            format!("reinterpret_cast<size_t>({name})")
        })
        .collect();
    match pointers.as_slice() {
        [] => {}
        [only] => conditions.push(format!("{only} % 16 == 0")),
        several => conditions.push(format!("({}) % 16 == 0", several.join(" | "))),
    }
    match conditions.is_empty() {
        true => "true".to_owned(),
        false => conditions.join(" && "),
    }
}

/// The neighbours along an index that a statement reads.
pub(super) fn reads(
    function: &Function,
    statement: &Statement,
    (index, extent): (usize, &Linear),
) -> Vec<Four> {
    let mut found: Vec<Four> = Vec::new();
    statement.value.reads_under(&mut |tensor, subscripts, way| {
        let read = (tensor, subscripts);
        if !matches!(kind(function, read, (index, extent)), Kind::Neighbours) {
            return;
        }
        let way: Vec<(Value, bool)> = match is_always_read(&statement.value, read) {
            true => Vec::new(),
            false => way
                .iter()
                .map(|(test, is)| ((*test).clone(), *is))
                .collect(),
        };
        let known = found
            .iter_mut()
            .find(|four| four.tensor == tensor && four.subscripts == subscripts);
        match known {
            Some(four) if four.ways.contains(&way) => {}
            Some(four) => four.ways.push(way),
            None => {
                let number = found.len();
                found.push(Four {
                    tensor,
                    subscripts: subscripts.to_vec(),
                    name: format!("tc_four{number}_{}", function.tensors[tensor].name),
                    ways: vec![way],
                });
            }
        }
    });
    found
}

/// Whether an element is read under no condition, here or elsewhere in a value.
fn is_always_read(value: &Value, (tensor, subscripts): (usize, &[Subscript])) -> bool {
    let mut found = false;
    value.reads_under(&mut |other, others, way| {
        let mut pairs = subscripts.iter().zip(others);
        found |= way.is_empty()
            && tensor == other
            && pairs.all(|(one, other)| {
                one.linear.is_some() && one.linear == other.linear && one.guarded == other.guarded
            });
    });
    found
}

impl Four {
    /// The condition under which they are read, unless they always are.
    fn condition(&self, function: &Function, scope: Scope<'_>) -> Option<String> {
        let text = |(test, is): &(Value, bool)| {
            let test = values::value_as(function, scope, test, Scalar::Bool);
            match is {
                true => format!("({test})"),
                false => format!("!({test})"),
            }
        };
        if self.ways.iter().any(Vec::is_empty) {
            return None;
        }
        let ways = self.ways.iter();
        let ways = ways.map(|way| way.iter().map(text).collect::<Vec<_>>().join(" && "));
        Some(match ways.collect::<Vec<_>>().as_slice() {
            [only] => only.clone(),
            several => format!("(({}))", several.join(") || (")),
        })
    }
}

/// The one of four elements of the counter `tc_j` that a read is.
pub(super) fn find(fours: &[Four], tensor: usize, subscripts: &[Subscript]) -> Option<String> {
    let mut fours = fours.iter();
    let four = fours.find(|four| four.tensor == tensor && four.subscripts == subscripts)?;
    Some(format!("{}[tc_j]", four.name))
}

/// Loads four elements, unless `scope` has them at hand as one of four already; zeros where they are not read, or where data
/// name a row that is not there.
pub(super) fn load(function: &Function, scope: Scope<'_>, four: &Four, lines: &mut Lines) {
    let tensor = &function.tensors[four.tensor];
    let mut conditions: Vec<String> = four.condition(function, scope).into_iter().collect();
    let from = match (scope.held)(four.tensor, &four.subscripts) {
        Some(element) if element.ends_with("[tc_j]") => {
            let array = element.trim_end_matches("[tc_j]");
            lines.line(&format!("const float *const {} = {array};", four.name));
            return;
        }
        Some(element) => element,
        None => {
            let mut plain = four.subscripts.clone();
            for (subscript, extent) in plain.iter_mut().zip(&tensor.extents) {
                if subscript.guarded {
                    let index = values::value_as(function, scope, &subscript.value, Scalar::Int64);
                    let extent = size(function, extent);
                    conditions.push(format!("tc_inside({index}, {extent})"));
                    subscript.guarded = false;
                }
            }
            let place = values::place(function, scope, four.tensor, &plain);
            format!("{}[{place}]", tensor.name)
        }
    };
    let load = format!(
        "*reinterpret_cast<float4 *>({}) = *reinterpret_cast<const float4 *>(&{from});",
        four.name
    );
    if conditions.is_empty() {
        lines.line(&format!("__align__(16) float {}[4];", four.name));
        lines.line(&load);
    } else {
        lines.line(&format!("__align__(16) float {}[4] = {{}};", four.name));
        lines.line(&format!("if ({})", conditions.join(" && ")));
        lines.line(&format!("    {load}"));
    }
}

/// Stores four elements of an array where the first one's places are.
pub(super) fn store(array: &str, places: &[String], lines: &mut Lines) {
    for place in places {
        lines.line(&format!(
            "*reinterpret_cast<float4 *>(&{place}) = *reinterpret_cast<const float4 *>({array});"
        ));
    }
}

/// Opens the loop over the four; the caller closes it.
pub(super) fn each(lines: &mut Lines) {
    lines.line("#pragma unroll");
    lines.open("for (int tc_j = 0; tc_j < 4; ++tc_j)");
}

/// Four elements that no other instance of a statement writes: the places of the first one, and the array that gets them, if
/// others need them.
pub(super) fn elements(
    function: &Function,
    scope: Scope<'_>,
    (index, extent): (usize, &Linear),
    (places, array): (&[String], Option<&str>),
    lines: &mut Lines,
) {
    let statement = scope.statement;
    let fours = reads(function, statement, (index, extent));
    let held = |tensor: usize, subscripts: &[Subscript]| {
        find(&fours, tensor, subscripts).or_else(|| (scope.held)(tensor, subscripts))
    };
    let own = Scope {
        statement,
        held: &held,
    };
    let array = array.unwrap_or_else(|| {
        lines.line("__align__(16) float tc_value[4];");
        "tc_value"
    });
    let element = format!("{array}[tc_j]");
    let depth = lines.depth;
    if let Operator::Reduce(reduction, starts) = statement.operator {
        let before = (scope.held)(statement.target, &statement.subscripts);
        let first = match (starts, before) {
            (true, _) => values::neutral(reduction, Scalar::Float),
            (false, Some(before)) if before.ends_with("[tc_j]") => before,
            (false, _) => format!("(&{})[tc_j]", places[places.len() - 1]),
        };
        each(lines);
        lines.line(&format!("{element} = {first};"));
        lines.close_to(depth);
        for reduced in statement.reduced() {
            // Loads of two rows are on their way at once.
            lines.line("#pragma unroll 2");
            open_loop(function, scope, reduced, lines);
        }
    }
    for four in &fours {
        load(function, scope, four, lines);
    }
    each(lines);
    let term = values::value_as(function, own, &statement.value, Scalar::Float);
    match statement.operator {
        Operator::Assign => lines.line(&format!("{element} = {term};")),
        Operator::Reduce(reduction, _) => {
            lines.line(&accumulate(reduction, Scalar::Float, &element, &term));
        }
    }
    lines.close_to(depth);
    store(array, places, lines);
}

#[cfg(test)]
mod tests {
    use crate::tensor::mapping::Mapping;
    use crate::tensor::{Options, translate};

    /// The lines that load four elements of A, each with the line before it.
    fn loads(text: &str) -> Vec<[String; 2]> {
        let options = Options {
            mapping: Mapping::Stitched,
            ..Options::default()
        };
        let made = translate("f.tc", text, options).expect("it is right");
        let lines: Vec<&str> = made.source.lines().map(str::trim).collect();
        let pairs = lines.windows(2);
        let pairs = pairs.filter(|pair| pair[1].contains("*reinterpret_cast<const float4 *>(&A["));
        pairs
            .map(|pair| [0, 1].map(|at| pair[at].to_owned()))
            .collect()
    }

    #[test]
    fn what_may_not_be_there_is_loaded_where_it_is_read() {
        let sums = |value: &str| {
            loads(&format!(
                "def f(float(33,1024) A, float(33,1024) B) -> (O) {{ O(i) +=! {value} }}"
            ))
        };
        let rows = loads("def f(float(33,1024) A) -> (O) { T = concat(A, A, 0) O(i) +=! T(i,j) }");
        let tests: Vec<&str> = rows.iter().map(|[before, _]| before.as_str()).collect();
        assert_eq!(tests, ["if (((bool)(i0 < 33)))", "if (!((bool)(i0 < 33)))"]);
        let always = sums("A(i,j) > 0 ? A(i,j) : 0");
        assert!(
            !always.is_empty() && always.iter().all(|[before, _]| !before.starts_with("if")),
            "{always:?}"
        );
        let nested = sums("i < 4 ? 0 : i > 7 && B(i,0) > 0 ? A(i,j) : 0");
        assert_eq!(
            nested[0][0],
            "if (!((bool)(i < 4)) && ((bool)(i > 7 && B[i * 1024 + 0] > 0)))"
        );
        // Neighbours of which some are read, and some are not.
        for value in ["j > 4 ? A(i,j) : 0", "i > 4 && j > 4 && A(i,j) > 0 ? 1 : 0"] {
            assert_eq!(sums(value), Vec::<[String; 2]>::new(), "{value}");
        }
    }
}
