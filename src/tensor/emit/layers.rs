//! A kernel of layers: the block's rows, what of them lies in shared memory, and one stage after the other.

use super::kernels::{Lines, accumulate, comment, element_at, open_loop, parameters, take};
use super::values::{self, Scope, bracketed};
use super::{factor, fours, rows, size, tiles};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Function, Statement, Subscript};
use crate::tensor::syntax::tree::Operator;
use crate::tensor::transform::Layers;
use crate::tensor::transform::layers::{LayerArray, MOST_BYTES, StageWork, THREADS, pitch};
use std::fmt::Write;

/// Blocks of a launch.
pub(super) fn blocks(function: &Function, kernel: &Kernel<'_>, layers: &Layers<'_>) -> String {
    let rows = factor(function, &kernel.threads[0]);
    format!(
        "tc_max(({rows} + {}) / {}, 1)",
        layers.rows - 1,
        layers.rows
    )
}

/// Bytes of shared memory that a launch brings.
pub(super) fn bytes(function: &Function, layers: &Layers<'_>) -> String {
    let each: Vec<String> = layers
        .arrays
        .iter()
        .map(|array| array_bytes(function, layers, array))
        .collect();
    match each.is_empty() {
        true => "0".to_owned(),
        false => each.join(" + "),
    }
}

/// Under which condition of the sizes the launch is worth its blocks, as a condition of the host.
pub(super) fn condition(function: &Function, layers: &Layers<'_>) -> String {
    let bytes = MOST_BYTES - layers.box_bytes(function);
    let mut condition = format!("tc_bytes <= {bytes}");
    let mut seen = Vec::new();
    for (extents, most) in layers.limits() {
        if extents.iter().all(|extent| extent.as_number().is_some()) || seen.contains(&extents) {
            continue;
        }
        let product: Vec<String> = extents
            .iter()
            .map(|extent| factor(function, extent))
            .collect();
        // Writing to a string cannot fail.
        let _ = write!(condition, " && {} <= {most}", product.join(" * "));
        seen.push(extents);
    }
    condition
}

/// The text of a kernel of layers.
pub(super) fn kernel(
    function: &Function,
    (kernel, layers): (&Kernel<'_>, &Layers<'_>),
    name: &str,
    source: &str,
) -> String {
    let mut lines = Lines::default();
    let rows = factor(function, &kernel.threads[0]);
    lines.line(&format!(
        "// A block computes {} rows, one layer after the other.",
        layers.rows
    ));
    lines.line(&format!(
        "static __global__ void __launch_bounds__({THREADS}) {name}({}{})",
        parameters(function, kernel),
        fours(function, layers).map_or("", |_| ", bool tc_fours")
    ));
    lines.line("{");
    lines.depth = 1;
    lines.line(&format!(
        "const long long tc_first0 = (long long)blockIdx.x * {};",
        layers.rows
    ));
    lines.line(&format!("if (tc_first0 >= {rows})"));
    lines.line("    return;");
    shared(function, (kernel, layers), &mut lines);
    for (number, stage) in layers.stages.iter().enumerate() {
        if number > 0 {
            lines.line("__syncthreads();");
        }
        match &stage.work {
            StageWork::Tiles(plan) => {
                tiles::layer(function, (&stage.kernel, plan, layers), source, &mut lines);
            }
            StageWork::Elements => {
                elements(function, (&stage.kernel, layers), source, &mut lines);
            }
            StageWork::Lanes => lanes(function, (&stage.kernel, layers), source, &mut lines),
        }
    }
    lines.depth = 0;
    lines.line("}");
    lines.text
}

/// Where rows of tensors lie, and copies of those that are inputs.
fn shared(function: &Function, (kernel, layers): (&Kernel<'_>, &Layers<'_>), lines: &mut Lines) {
    let boxes = layers.box_bytes(function);
    if boxes > 0 {
        lines.line(&format!(
            "__shared__ __align__(16) unsigned char tc_boxes[{boxes}];"
        ));
    }
    if layers.arrays.is_empty() {
        return;
    }
    lines.line("extern __shared__ __align__(16) unsigned char tc_shared[];");
    let mut offset = String::new();
    for array in &layers.arrays {
        let tensor = &function.tensors[array.tensor];
        let (name, cuda) = (&tensor.name, tensor.scalar.cuda());
        lines.line(&format!(
            "{cuda} *const tc_row_{name} = reinterpret_cast<{cuda} *>(tc_shared{offset});"
        ));
        // Writing to a string cannot fail.
        let _ = write!(offset, " + {}", array_bytes(function, layers, array));
    }
    let mut copied = layers
        .arrays
        .iter()
        .filter(|array| array.is_copied)
        .peekable();
    if copied.peek().is_none() {
        return;
    }
    let (rows, extent) = (layers.rows, size(function, &kernel.threads[0]));
    lines.line(&format!(
        "const long long tc_rows = tc_min({rows}, {} - tc_first0);",
        bracketed(&extent)
    ));
    for array in copied {
        let name = &function.tensors[array.tensor].name;
        let elements = row_pitch(function, array);
        lines.line(&format!(
            "for (long long tc_at = threadIdx.x; tc_at < tc_rows * {elements}; tc_at += {THREADS})"
        ));
        lines.line(&format!(
            "    tc_row_{name}[tc_at] = ({name} + tc_first0 * {elements})[tc_at];"
        ));
    }
    lines.line("__syncthreads();");
}

/// Elements between a row in shared memory and the next one, as a factor.
fn row_pitch(function: &Function, array: &LayerArray) -> String {
    if let Some(number) = pitch(function, array) {
        return number.to_string();
    }
    let extents: Vec<String> = function.tensors[array.tensor].extents[1..]
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    let elements = extents.join(" * ");
    match array.is_copied {
        true => bracketed(&elements),
        false => format!("(({elements} + 3) / 4 * 4 + 4)"),
    }
}

fn array_bytes(function: &Function, layers: &Layers<'_>, array: &LayerArray) -> String {
    let bytes = function.tensors[array.tensor].scalar.bytes();
    let row = row_pitch(function, array);
    match pitch(function, array) {
        Some(number) => (number * layers.rows as u64 * bytes)
            .next_multiple_of(16)
            .to_string(),
        None => format!("({row} * {} + 15) / 16 * 16", layers.rows as u64 * bytes),
    }
}

/// An element of a row in shared memory: which of the block's rows, and where in it.
pub(super) fn row_element(
    function: &Function,
    layers: &Layers<'_>,
    tensor: usize,
    row: &str,
    along: &[String],
) -> String {
    let mut arrays = layers.arrays.iter();
    let array = arrays.find(|array| array.tensor == tensor);
    let name = &function.tensors[tensor].name;
    let mut place = String::new();
    for (subscript, extent) in along.iter().zip(&function.tensors[tensor].extents[1..]) {
        place = match place.is_empty() {
            true => subscript.clone(),
            false => format!(
                "{} * {} + {}",
                bracketed(&place),
                factor(function, extent),
                bracketed(subscript)
            ),
        };
    }
    let pitch = array.map_or("1".to_owned(), |array| row_pitch(function, array));
    let row = bracketed(row);
    let place = match (place.as_str(), pitch.as_str()) {
        ("", _) => row,
        (place, _) => format!("{row} * {pitch} + {}", bracketed(place)),
    };
    format!("tc_row_{name}[{place}]")
}

/// What a read is, where it is in shared memory.
pub(super) fn resident(
    function: &Function,
    layers: &Layers<'_>,
    statement: &Statement,
    (tensor, subscripts): (usize, &[Subscript]),
) -> Option<String> {
    layers.arrays.iter().find(|array| array.tensor == tensor)?;
    let mut forms = subscripts.iter().map(|subscript| {
        let form: &Linear = subscript.linear.as_ref()?;
        Some(values::form(function, statement, form))
    });
    let row = format!("{} - tc_first0", bracketed(&forms.next()??));
    let along: Vec<String> = forms.collect::<Option<_>>()?;
    Some(row_element(function, layers, tensor, &row, &along))
}

/// Where the element is that a part makes; the last one is the nearest.
pub(super) fn places(function: &Function, layers: &Layers<'_>, part: &Part<'_>) -> Vec<String> {
    let statement = part.statement;
    let place = values::place(function, statement, statement.target, &statement.subscripts);
    let memory = format!("{}[{place}]", function.tensors[statement.target].name);
    let own = (statement.target, statement.subscripts.as_slice());
    match resident(function, layers, statement, own) {
        Some(element) if layers.keeps(statement.target) => vec![element],
        Some(element) => vec![memory, element],
        None => vec![memory],
    }
}

/// A stage in which threads share the elements of the rows out.
fn elements(
    function: &Function,
    (kernel, layers): (&Kernel<'_>, &Layers<'_>),
    source: &str,
    lines: &mut Lines,
) {
    let depth = lines.depth;
    for part in &kernel.parts {
        lines.line(&format!("// {}", comment(source, part.statement.span)));
    }
    match by_four(function, kernel) {
        Some(_) => {
            lines.open("if (tc_fours)");
            shared_out(function, (kernel, layers), true, lines);
            lines.close_to(depth);
            lines.open("else");
        }
        None => lines.open(""),
    }
    shared_out(function, (kernel, layers), false, lines);
    lines.close_to(depth);
}

/// The tensors of which a stage can load four elements at once, if any.
fn by_four(function: &Function, kernel: &Kernel<'_>) -> Option<Vec<usize>> {
    let [_, .., extent] = kernel.threads.as_slice() else {
        return None;
    };
    if extent.as_number().is_some_and(|number| number % 4 != 0) {
        return None;
    }
    let of_part = |part: &Part<'_>| {
        let Work::Compute { taken, .. } = &part.work else {
            return None;
        };
        let low = part.statement.variables[*taken.last()?].low.linear()?;
        let index = (*taken.last()?, extent);
        let is_whole = low.as_number() == Some(0);
        fours::tensors(function, part.statement, index).filter(|_| is_whole)
    };
    let each: Option<Vec<Vec<usize>>> = kernel.parts.iter().map(of_part).collect();
    Some(each?.concat())
}

/// Under which condition stages load four elements at once, if any does.
pub(super) fn fours(function: &Function, layers: &Layers<'_>) -> Option<String> {
    let stages = layers.stages.iter();
    let stages = stages.filter(|stage| stage.work == StageWork::Elements);
    let (mut tensors, mut extents) = (Vec::new(), Vec::new());
    for stage in stages {
        if let Some(found) = by_four(function, &stage.kernel) {
            tensors.extend(found);
            extents.extend(stage.kernel.threads.last());
        }
    }
    tensors.retain(|tensor| !layers.keeps(*tensor));
    tensors.sort_unstable();
    tensors.dedup();
    (!extents.is_empty()).then(|| fours::condition(function, &tensors, &extents))
}

/// The loop in which threads share elements out, one or four at a time.
fn shared_out(
    function: &Function,
    (kernel, layers): (&Kernel<'_>, &Layers<'_>),
    at_once: bool,
    lines: &mut Lines,
) {
    let depth = lines.depth;
    let rows = size(function, &kernel.threads[0]);
    // Each row has threads of its own, which share its elements out.
    let lanes = THREADS / layers.rows;
    match &kernel.threads[1..] {
        [] => {
            lines.line("const long long tc_row = tc_first0 + threadIdx.x;");
            let condition = format!("threadIdx.x < {} && tc_row < {rows}", layers.rows);
            lines.open(&format!("if ({condition})"));
        }
        inner => {
            lines.line(&format!(
                "const long long tc_row = tc_first0 + threadIdx.x / {lanes};"
            ));
            lines.open(&format!("if (tc_row < {rows})"));
            let inner = inner.iter().map(|extent| factor(function, extent));
            let (width, step) = match at_once {
                true => (" * 4", lanes * 4),
                false => ("", lanes),
            };
            lines.open(&format!(
                "for (long long tc_at = threadIdx.x % {lanes}{width}; tc_at < {}; tc_at += {step})",
                inner.collect::<Vec<String>>().join(" * ")
            ));
        }
    }
    let alone = kernel.parts.len() == 1;
    for (number, part) in kernel.parts.iter().enumerate() {
        let goes_on = number + 1 < kernel.parts.len();
        if goes_on {
            let cuda = function.tensors[part.statement.target].scalar.cuda();
            lines.line(&match at_once {
                true => format!("__align__(16) {cuda} tc_new_{number}[4];"),
                false => format!("{cuda} tc_new_{number};"),
            });
        }
        let depth = lines.depth;
        if !alone {
            lines.open("");
        }
        indices(function, kernel, part, lines);
        let held = |tensor: usize, subscripts: &[Subscript]| {
            // What a part before has made is this thread's element.
            let mut before = kernel.parts[..number].iter().enumerate().rev();
            let writer = before.find(|(_, before)| before.statement.target == tensor);
            match (writer, at_once) {
                (Some((writer, _)), true) => Some(format!("tc_new_{writer}[tc_j]")),
                (Some((writer, _)), false) => Some(format!("tc_new_{writer}")),
                (None, _) => resident(function, layers, part.statement, (tensor, subscripts)),
            }
        };
        let scope = Scope {
            statement: part.statement,
            held: &held,
        };
        let mut places = places(function, layers, part);
        match (at_once, &part.work, kernel.threads.last()) {
            (true, Work::Compute { taken, .. }, Some(extent)) => {
                let index = (taken[taken.len() - 1], extent);
                let array = goes_on.then(|| format!("tc_new_{number}"));
                fours::elements(function, scope, index, (&places, array.as_deref()), lines);
            }
            _ => {
                let own = (part.statement.target, part.statement.subscripts.as_slice());
                let element = held(own.0, own.1).unwrap_or_else(|| places[0].clone());
                if goes_on {
                    places.push(format!("tc_new_{number}"));
                }
                element_at(function, scope, (&element, &places.join(" = ")), lines);
            }
        }
        lines.close_to(depth);
    }
    lines.close_to(depth);
}

/// The names of a part's indices: the row's, and those behind it.
fn indices(function: &Function, kernel: &Kernel<'_>, part: &Part<'_>, lines: &mut Lines) {
    let Work::Compute { taken, .. } = &part.work else {
        return;
    };
    let names = taken.iter().map(|index| {
        let variable = &part.statement.variables[*index];
        let low = variable.low.linear().cloned().unwrap_or_default();
        (variable.name.clone(), low)
    });
    let mut names: Vec<(String, Linear)> = names.collect();
    let (row, low) = names.remove(0);
    let row_place = match low.as_number() {
        Some(0) => "tc_row".to_owned(),
        _ => format!("{} + tc_row", size(function, &low)),
    };
    lines.line(&format!("const long long {row} = {row_place};"));
    take(
        function,
        ("tc_at", &kernel.threads[1..]),
        names.into_iter(),
        lines,
    );
}

/// A stage in which some lanes of a warp reduce a row together.
fn lanes(
    function: &Function,
    (kernel, layers): (&Kernel<'_>, &Layers<'_>),
    source: &str,
    lines: &mut Lines,
) {
    let part = &kernel.parts[0];
    let statement = part.statement;
    let Operator::Reduce(reduction, starts) = statement.operator else {
        unreachable!("only a reduction has terms")
    };
    let target = &function.tensors[statement.target];
    let computed = target.scalar.computed();
    let lanes = (THREADS / layers.rows).min(32);
    lines.line(&format!("// {}", comment(source, statement.span)));
    let depth = lines.depth;
    lines.open("");
    lines.line(&format!(
        "const long long tc_row = tc_first0 + threadIdx.x / {lanes};"
    ));
    indices(function, kernel, part, lines);
    let neutral = values::neutral(reduction, target.scalar);
    lines.line(&format!("{} tc_value = {neutral};", computed.cuda()));
    let held = |tensor: usize, subscripts: &[Subscript]| {
        resident(function, layers, statement, (tensor, subscripts))
    };
    let scope = Scope {
        statement,
        held: &held,
    };
    let inside = {
        let mut conditions = Vec::new();
        if THREADS > lanes * layers.rows {
            conditions.push(format!("threadIdx.x < {}", lanes * layers.rows));
        }
        conditions.push(format!("tc_row < {}", size(function, &kernel.threads[0])));
        conditions.join(" && ")
    };
    let outside = lines.depth;
    lines.open(&format!("if ({inside})"));
    let reduced: Vec<usize> = statement.reduced().collect();
    for index in &reduced[..reduced.len() - 1] {
        open_loop(function, scope, *index, lines);
    }
    let last = &statement.variables[reduced[reduced.len() - 1]];
    let (low, high) = (
        values::bound(function, scope, &last.low),
        values::bound(function, scope, &last.high),
    );
    let name = &last.name;
    lines.line(&format!("const long long tc_end_{name} = {high};"));
    lines.open(&format!(
        "for (long long {name} = {} + (long long)threadIdx.x % {lanes}; {name} < tc_end_{name}; {name} += {lanes})",
        bracketed(&low)
    ));
    let term = values::value_as(function, scope, &statement.value, computed);
    lines.line(&accumulate(reduction, computed, "tc_value", &term));
    lines.close_to(outside);
    lines.line(&format!(
        "tc_value = tc_reduce_lanes<{lanes}>(tc_value, {}());",
        rows::join(reduction)
    ));
    let places = places(function, layers, part);
    let value = match starts {
        true => "tc_value".to_owned(),
        false => {
            let before = values::loaded(&places[places.len() - 1], target.scalar);
            values::joined(reduction, computed, &before, "tc_value")
        }
    };
    let stored = values::stored(value, target.scalar, computed);
    lines.line(&format!("if ({inside} && threadIdx.x % {lanes} == 0)"));
    lines.line(&format!("    {} = {stored};", places.join(" = ")));
    lines.close_to(depth);
}
