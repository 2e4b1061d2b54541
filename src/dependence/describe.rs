//! Dependences in words, for the CUDA programmer.

use super::instance::Place;
use super::polynomial::{Atom, Polynomial};
use super::relation::Shape;
use super::witness::Example;
use super::{Scope, Witness, WitnessEnd};
use crate::kernel::{Access, AccessKind, KernelModel, KernelSymbol, Reduction};
use crate::launch::{LaunchGraph, NodeId, NodeKind, Operand};
use crate::math::affine::{Affine, Variable};
use crate::math::expression::Expression;

/// Why two launches of different shape have no thread or block in common.
pub(super) fn different_shapes(source: &KernelModel, sink: &KernelModel) -> String {
    format!(
        "`{}` and `{}` are launched with different grids or blocks",
        source.display_name, sink.display_name
    )
}

/// Why a dependence between two accesses is as wide as it is; empty for thread scope.
pub(super) fn accesses(
    source: &KernelModel,
    sink: &KernelModel,
    (earlier, later): (&Access, &Access),
    buffer: &str,
    scope: Scope,
) -> String {
    let where_else = match scope {
        Scope::Thread => return String::new(),
        Scope::Block => "another thread of the block",
        Scope::Global => "another block",
    };
    let how = |model: &KernelModel, access: &Access| match &access.subscript {
        Some(subscript) => format!("`{buffer}[{}]`", element(model, access, subscript)),
        None if access.why_inexact.is_empty() => format!("`{buffer}` at an unknown place"),
        None => format!("`{buffer}` at an unknown place ({})", access.why_inexact),
    };
    // Where the earlier access is not known, that is the reason, and not the later one.
    let unknown = if earlier.subscript.is_none() && later.subscript.is_some() {
        match earlier.why_inexact.as_str() {
            "" => String::from(" at an unknown place"),
            why => format!(" at an unknown place ({why})"),
        }
    } else {
        String::new()
    };
    let order = match (earlier.kind, later.kind) {
        (AccessKind::Reduction(one), AccessKind::Reduction(other)) => ordered(&one, &other),
        _ => String::new(),
    };
    format!(
        "`{}` {} {}, which `{}` {}{unknown} in {where_else}{order}",
        sink.display_name,
        verb(later),
        how(sink, later),
        source.display_name,
        verb(earlier)
    )
}

/// Why two updates keep their order.
fn ordered(one: &Reduction, other: &Reduction) -> String {
    if one.operator != other.operator {
        return format!("; {} and {} do not commute", one.operator, other.operator);
    }
    if one.cell_bytes != other.cell_bytes {
        return String::from("; their cells are of different size");
    }
    if !one.commutes_with(other) {
        return String::from("; results of floating-point numbers depend on the order");
    }
    String::from("; they are atomic for the threads of a block only")
}

/// What two launches do that may do it in any order.
pub(super) fn reductions(
    source: &KernelModel,
    sink: &KernelModel,
    update: &Access,
    buffer: &str,
) -> String {
    let operator = match update.kind {
        AccessKind::Reduction(reduction) => reduction.operator.to_string(),
        _ => String::from("update"),
    };
    format!(
        "`{}` and `{}` update `{buffer}` by one operator ({operator}), in any order",
        source.display_name, sink.display_name
    )
}

/// Why two pointers keep two launches apart.
pub(super) fn may_alias(
    (source, from): (&KernelModel, &Place),
    (sink, to): (&KernelModel, &Place),
) -> String {
    if from.name == to.name {
        return format!(
            "`{}` and `{}` use parts of `{}` that may overlap",
            source.display_name, sink.display_name, to.name
        );
    }
    format!(
        "{} of `{}` and {} of `{}` may overlap",
        quoted(from),
        source.display_name,
        quoted(to),
        sink.display_name
    )
}

/// Why a copy, set, free or unknown kernel is tied to another operation.
pub(super) fn whole(
    graph: &LaunchGraph,
    (source, from): (NodeId, &str),
    (sink, to): (NodeId, &str),
    certain: bool,
) -> String {
    let word = |node: NodeId| match &graph.nodes[node.0].kind {
        NodeKind::Launch(_) => "a launch",
        NodeKind::Copy { .. } => "a copy",
        NodeKind::Set { .. } => "a set",
        NodeKind::Library { .. } => "a library's call",
        NodeKind::Free { .. } => "a free",
        _ => "an operation",
    };
    let may = if certain { "" } else { "may " };
    format!(
        "{} of `{from}` and {} of `{to}` {may}touch the same bytes",
        word(source),
        word(sink)
    )
}

/// Two accesses that meet at a place, in one iteration or (`carried`) in two, with an example of the
/// threads where there is one.
pub(super) fn witness(
    graph: &LaunchGraph,
    (earlier, later): (&Access, &Access),
    shapes: [&Shape; 2],
    (place, carried): (&Place, bool),
    example: Option<&Example>,
) -> Witness {
    let when = if carried { " in a later iteration" } else { "" };
    let certain = example.is_some() && earlier.exact && later.exact;
    let verb = |access: &Access| match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "written",
        AccessKind::Reduction(_) | AccessKind::Atomic => "updated",
    };
    let is = if certain { "is" } else { "may be" };
    let end = |place: Option<&[i64; 6]>, access: &Access| WitnessEnd {
        place: place.map(|&[a, b, c, d, e, f]| ([a, b, c], [d, e, f])),
        location: access.location.clone(),
    };
    let mut doubts: Vec<&str> = Vec::new();
    for access in [earlier, later] {
        let why = access.why_inexact.as_str();
        if !access.exact && !why.is_empty() && !doubts.contains(&why) {
            doubts.push(why);
        }
    }
    let doubts = match doubts.as_slice() {
        [] => String::new(),
        some => format!(" ({})", some.join("; ")),
    };
    let Some(example) = example else {
        return Witness {
            text: format!(
                "{} {is} {} by any thread ({}) and {} by any thread ({}){when}{doubts}",
                quoted(place),
                verb(earlier),
                earlier.location,
                verb(later),
                later.location
            ),
            certain,
            byte: None,
            source: end(None, earlier),
            sink: end(None, later),
        };
    };
    let sample = &example.sample;
    let offset = place.offset.as_ref();
    let byte = offset
        .and_then(|offset| {
            example
                .assignment
                .evaluate(offset)?
                .checked_add(sample.byte)
        })
        .unwrap_or(sample.byte);
    let size = i64::from(earlier.size_bytes.min(later.size_bytes).max(1));
    let what = match byte.rem_euclid(size) {
        0 => format!("`{}[{}]`", place.name, byte / size),
        _ => format!("byte {byte} of `{}`", place.name),
    };
    let agent = |place: &[i64; 6], shape: &Shape| {
        let point = |values: &[i64], extents: &[Polynomial; 3]| {
            let flat = extents[1..]
                .iter()
                .all(|extent| example.assignment.evaluate(extent) == Some(1));
            match values {
                [x, ..] if flat => x.to_string(),
                values => {
                    let values: Vec<_> = values.iter().map(i64::to_string).collect();
                    format!("({})", values.join(", "))
                }
            }
        };
        format!(
            "block {}, thread {}",
            point(&place[..3], &shape.grid),
            point(&place[3..], &shape.block)
        )
    };
    let assumed = assumptions(graph, example);
    Witness {
        text: format!(
            "{what} {is} {} by {} ({}) and {} by {} ({}){when}{doubts}{assumed}",
            verb(earlier),
            agent(&sample.source, shapes[0]),
            earlier.location,
            verb(later),
            agent(&sample.sink, shapes[1]),
            later.location
        ),
        certain,
        byte: Some(byte),
        source: end(Some(&sample.source), earlier),
        sink: end(Some(&sample.sink), later),
    }
}

/// The host values that an example takes for given: `, for instance with gridDim.x = 4`.
fn assumptions(graph: &LaunchGraph, example: &Example) -> String {
    let mut parts: Vec<String> = Vec::new();
    for atom in &example.mentioned {
        let Atom::Value(value) = atom else { continue };
        let (Some(host), Some(number)) = (
            graph.values.get(value.0),
            example.assignment.atom(&Atom::Value(*value)),
        ) else {
            continue;
        };
        let axis = |axis: u8| ["x", "y", "z"][usize::from(axis.min(2))];
        let name = match host.holder.1 {
            Operand::Grid(index) => format!("gridDim.{}", axis(index)),
            Operand::Block(index) => format!("blockDim.{}", axis(index)),
            Operand::Argument { argument, .. } => format!("argument {argument}"),
            Operand::SharedBytes | Operand::Stream => continue,
        };
        let part = format!("{name} = {number}");
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    match parts.as_slice() {
        [] => String::new(),
        some => format!(", for instance with {}", some.join(", ")),
    }
}

fn verb(access: &Access) -> &'static str {
    match access.kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Reduction(_) | AccessKind::Atomic => "updates",
    }
}

fn quoted(place: &Place) -> String {
    if place.name.contains(' ') {
        place.name.clone()
    } else {
        format!("`{}`", place.name)
    }
}

/// A byte subscript as an element index in CUDA's words, where it is one.
fn element(model: &KernelModel, access: &Access, subscript: &Affine) -> String {
    let size = i64::from(access.size_bytes.max(1));
    let whole = subscript.constant % size == 0
        && subscript
            .terms
            .iter()
            .all(|(coefficient, _)| coefficient % size == 0);
    if whole {
        affine(model, subscript, size)
    } else {
        format!("byte {}", affine(model, subscript, 1))
    }
}

fn affine(model: &KernelModel, expression: &Affine, divisor: i64) -> String {
    let mut text = String::new();
    for (coefficient, name) in &expression.terms {
        let coefficient = coefficient / divisor;
        let sign = match (coefficient < 0, text.is_empty()) {
            (false, true) => "",
            (true, true) => "-",
            (false, false) => " + ",
            (true, false) => " - ",
        };
        text.push_str(sign);
        if coefficient.unsigned_abs() != 1 {
            text.push_str(&format!("{}*", coefficient.unsigned_abs()));
        }
        text.push_str(&variable(model, name));
    }
    let constant = expression.constant / divisor;
    if text.is_empty() {
        return constant.to_string();
    }
    match constant {
        0 => {}
        value if value < 0 => text.push_str(&format!(" - {}", value.unsigned_abs())),
        value => text.push_str(&format!(" + {value}")),
    }
    text
}

fn variable(model: &KernelModel, variable: &Variable) -> String {
    match variable {
        Variable::Block(axis) => format!("blockIdx.{}", axis.name()),
        Variable::Thread(axis) => format!("threadIdx.{}", axis.name()),
        Variable::Loop(index) => format!("i{index}"),
        Variable::Parameter(index) => parameter(model, *index),
        Variable::Product(index) => match model.products.get(*index) {
            Some(product) => {
                let factor = affine(model, &product.factor, 1);
                let parameter = parameter(model, product.parameter);
                if product.factor.terms.len() + usize::from(product.factor.constant != 0) > 1 {
                    format!("({factor})*{parameter}")
                } else {
                    format!("{factor}*{parameter}")
                }
            }
            None => format!("q{index}"),
        },
        Variable::Floor(numerator, divisor) => {
            format!("({})/{divisor}", affine(model, numerator, 1))
        }
    }
}

/// A value of the launch by the name of its parameter, where it is one.
fn symbol_name(model: &KernelModel, symbol: &KernelSymbol) -> String {
    let formal = match symbol {
        KernelSymbol::Argument {
            argument,
            offset_bytes: 0,
            ..
        } => model.formals.get(*argument),
        _ => None,
    };
    match formal {
        Some(formal) if !formal.name.is_empty() => formal.name.clone(),
        _ => symbol.to_string(),
    }
}

fn parameter(model: &KernelModel, index: usize) -> String {
    match model.parameters.get(index) {
        Some(expression) => {
            let named = expression
                .substitute(&mut |symbol| Some(Expression::Leaf(symbol_name(model, symbol))));
            named.map_or_else(|| expression.to_string(), |named| named.to_string())
        }
        None => format!("p{index}"),
    }
}
