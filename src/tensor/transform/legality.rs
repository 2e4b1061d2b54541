//! Which dimensions of a kernel's threads are parallel: what dependences say.
//!
//! Two instances depend on each other where they touch one element and one of them writes it. A dimension is parallel
//! where no dependence leads from one of its values to another one; then its points may be computed in any order, by any
//! threads, at any time. isl answers for all sizes and all values of the data: a subscript without a linear form may be
//! any number, and a bound that data give may be, too.

use crate::math::formula::{Formula, Sum};
use crate::tensor::linear::Linear;
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::points::{self, Condition, Name, Naming, Value};
use crate::tensor::program::{Bound, Function, Subscript, SymbolKind};

/// For each dimension of the kernel's threads, whether it is parallel. What cannot be answered is not.
pub fn parallel_dimensions(function: &Function, kernel: &Kernel<'_>) -> Vec<bool> {
    let count = kernel.threads.len();
    (0..count)
        .map(|dimension| is_parallel(function, kernel, dimension))
        .collect()
}

/// Whether no dependence of the kernel leads from one value of a dimension of its threads to another one.
pub fn is_parallel(function: &Function, kernel: &Kernel<'_>, dimension: usize) -> bool {
    let accesses: Option<Vec<Vec<Access<'_>>>> = kernel.parts.iter().map(accesses).collect();
    let Some(accesses) = accesses else {
        return false;
    };
    let of_kernel = || kernel.parts.iter().zip(&accesses);
    of_kernel().all(|(writer, own)| {
        let written = own.iter().filter(|access| access.writes);
        written.into_iter().all(|write| {
            of_kernel().all(|(other, touched)| {
                let mut touched = touched
                    .iter()
                    .filter(|access| access.tensor == write.tensor);
                touched.all(|touch| {
                    let pair = [(writer, write), (other, touch)];
                    let conditions = conditions(function, pair, dimension);
                    let set = conditions.and_then(|conditions| points::set(&[], conditions));
                    set.is_some_and(|set| set.is_empty() == Ok(true))
                })
            })
        })
    })
}

/// An element that a part touches.
struct Access<'s> {
    tensor: usize,
    subscripts: &'s [Subscript],
    writes: bool,
}

/// All elements that a part touches; `None` where it is not known by which thread.
fn accesses<'f>(part: &Part<'f>) -> Option<Vec<Access<'f>>> {
    if part.work == Work::Initialise {
        return None;
    }
    let statement = part.statement;
    let mut all = vec![Access {
        tensor: statement.target,
        subscripts: &statement.subscripts,
        writes: true,
    }];
    statement.reads(&mut |tensor, subscripts| {
        all.push(Access {
            tensor,
            subscripts,
            writes: false,
        });
    });
    Some(all)
}

/// What holds of the pairs of instances that touch one element, at different values of the dimension.
fn conditions(
    function: &Function,
    pair: [(&Part<'_>, &Access<'_>); 2],
    dimension: usize,
) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut places = Vec::new();
    let mut taken_by = Vec::new();
    for (instance, (part, access)) in pair.into_iter().enumerate() {
        let time = None;
        let value = |form: &Linear| Value::of(form, Naming { instance, time });
        for (number, variable) in part.statement.variables.iter().enumerate() {
            let own = Value::name(Name::Index(instance, number));
            if let Bound::Linear(low) = &variable.low {
                conditions.push(own.is(Sum::at_least, &value(low)));
            }
            if let Bound::Linear(high) = &variable.high {
                conditions.push(own.is(Sum::below, &value(high)));
            }
        }
        let subscripts = access.subscripts.iter();
        let place: Vec<Option<Value>> = subscripts
            .map(|subscript| subscript.linear.as_ref().map(value))
            .collect();
        places.push(place);
        let Work::Compute { taken, .. } = &part.work else {
            return None;
        };
        let index = *taken.get(dimension)?;
        let low = part.statement.variables[index].low.linear()?;
        taken_by.push(value(&Linear::variable(index).subtract(low)?));
    }
    for (left, right) in places[0].iter().zip(&places[1]) {
        if let (Some(left), Some(right)) = (left, right) {
            conditions.push(left.is(Sum::equal, right));
        }
    }
    conditions.push(taken_by[0].is(Formula::differ, &taken_by[1]));
    for (number, symbol) in function.symbols.iter().enumerate() {
        if symbol.kind == SymbolKind::Size {
            let size = Value::name(Name::Symbol(number));
            conditions.push(size.is(Sum::at_least, &Value::number(0)));
        }
    }
    Some(conditions)
}
