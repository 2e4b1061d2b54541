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
use crate::tensor::program::{self, Bound, Function, Statement, Subscript, SymbolKind};

/// For each dimension of the kernel's threads, whether it is parallel. What cannot be answered is not.
pub fn parallel_dimensions(function: &Function, kernel: &Kernel<'_>) -> Vec<bool> {
    let count = kernel.threads.len();
    (0..count)
        .map(|dimension| is_parallel(function, kernel, dimension))
        .collect()
}

/// Whether no dependence of the kernel leads from one value of a dimension of its threads to another one.
pub fn is_parallel(function: &Function, kernel: &Kernel<'_>, dimension: usize) -> bool {
    let accesses: Option<Vec<Vec<Access<'_>>>> = kernel.parts.iter().map(of_part).collect();
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
                    conditions.is_some_and(never)
                })
            })
        })
    })
}

/// Whether isl says that conditions never hold together.
pub fn never(conditions: Vec<Condition>) -> bool {
    points::is_empty(conditions) == Some(true)
}

/// An element that a statement touches.
#[derive(Clone, Copy, Debug)]
pub struct Access<'s> {
    /// The tensor.
    pub tensor: usize,
    /// Which element.
    pub subscripts: &'s [Subscript],
    /// The statement writes it; else it only reads it.
    pub writes: bool,
    /// It is touched once for each term; else once for each element, even where there are no terms.
    pub in_terms: bool,
}

/// All elements that a statement touches: first the one that it makes, then those that it reads.
pub fn accesses(statement: &Statement) -> Vec<Access<'_>> {
    let mut all = vec![Access {
        tensor: statement.target,
        subscripts: &statement.subscripts,
        writes: true,
        in_terms: false,
    }];
    for variable in &statement.variables {
        for bound in [&variable.low, &variable.high] {
            if let Bound::Data(value) = bound {
                reads(value, false, &mut all);
            }
        }
    }
    for subscript in &statement.subscripts {
        reads(&subscript.value, false, &mut all);
    }
    reads(&statement.value, true, &mut all);
    all
}

fn reads<'s>(value: &'s program::Value, in_terms: bool, all: &mut Vec<Access<'s>>) {
    value.reads(&mut |tensor, subscripts| {
        all.push(Access {
            tensor,
            subscripts,
            writes: false,
            in_terms,
        });
    });
}

/// What holds of the pairs of instances, 0 and 1, that touch one element.
pub fn meeting(function: &Function, pair: [(&Statement, &Access<'_>); 2]) -> Vec<Condition> {
    let mut conditions = Vec::new();
    let mut places = Vec::new();
    for (instance, (statement, access)) in pair.into_iter().enumerate() {
        conditions.extend(inside(statement, instance, access.in_terms));
        let place: Vec<Option<Value>> = access
            .subscripts
            .iter()
            .map(|subscript| Some(value(subscript.linear.as_ref()?, instance)))
            .collect();
        places.push(place);
    }
    for (left, right) in places[0].iter().zip(&places[1]) {
        if let (Some(left), Some(right)) = (left, right) {
            conditions.push(left.is(Sum::equal, right));
        }
    }
    conditions.extend(natural_sizes(function));
    conditions
}

/// That the indices of an instance are in their ranges: all of them, or those on the left.
pub fn inside(statement: &Statement, instance: usize, with_reduced: bool) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (number, variable) in statement.variables.iter().enumerate() {
        let own = Value::name(Name::Index(instance, number));
        if !variable.on_left && !with_reduced {
            continue;
        }
        if let Bound::Linear(low) = &variable.low {
            conditions.push(own.is(Sum::at_least, &value(low, instance)));
        }
        if let Bound::Linear(high) = &variable.high {
            conditions.push(own.is(Sum::below, &value(high, instance)));
        }
    }
    conditions
}

/// That sizes are not negative.
pub fn natural_sizes(function: &Function) -> impl Iterator<Item = Condition> + '_ {
    let symbols = function.symbols.iter().enumerate();
    let sizes = symbols.filter(|(_, symbol)| symbol.kind == SymbolKind::Size);
    sizes.map(|(number, _)| {
        let size = Value::name(Name::Symbol(number));
        size.is(Sum::at_least, &Value::number(0))
    })
}

/// A form with the indices of an instance.
pub fn value(form: &Linear, instance: usize) -> Value {
    Value::of(
        form,
        Naming {
            instance,
            time: None,
        },
    )
}

/// All elements that a part touches; `None` where it is not known by which thread.
fn of_part<'f>(part: &Part<'f>) -> Option<Vec<Access<'f>>> {
    (part.work != Work::Initialise).then(|| accesses(part.statement))
}

/// What holds of the pairs of instances that touch one element, at different values of the dimension.
fn conditions(
    function: &Function,
    pair: [(&Part<'_>, &Access<'_>); 2],
    dimension: usize,
) -> Option<Vec<Condition>> {
    let mut conditions = meeting(
        function,
        pair.map(|(part, access)| (part.statement, access)),
    );
    let mut taken_by = Vec::new();
    for (instance, (part, _)) in pair.into_iter().enumerate() {
        let Work::Compute { taken, .. } = &part.work else {
            return None;
        };
        let index = *taken.get(dimension)?;
        let low = part.statement.variables[index].low.linear()?;
        let number = Linear::variable(index).subtract(low)?;
        taken_by.push(value(&number, instance));
    }
    conditions.push(taken_by[0].is(Formula::differ, &taken_by[1]));
    Some(conditions)
}
