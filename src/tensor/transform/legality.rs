//! Which dimensions of a kernel's threads are parallel: what dependences say.
//!
//! Two instances depend on each other where they touch one element and one of them writes it. A dimension is parallel
//! where no dependence leads from one of its values to another one; then its points may be computed in any order, by any
//! threads, at any time. isl answers for all sizes and all values of the data: a subscript without a linear form may be
//! any number, and a bound that data give may be, too.

use crate::math::isl::Set;
use crate::tensor::linear::{Atom, Linear, Notation};
use crate::tensor::mapping::{Kernel, Part, Work};
use crate::tensor::program::{Bound, Function, Subscript, SymbolKind};
use std::fmt::Write;

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
                    let question = question(function, kernel, pair, dimension);
                    question.is_some_and(|text| {
                        Set::parse(&text).and_then(|set| set.is_empty()) == Ok(true)
                    })
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

/// The pairs of instances that touch one element, at different values of the dimension, as a set of isl.
fn question(
    function: &Function,
    kernel: &Kernel<'_>,
    pair: [(&Part<'_>, &Access<'_>); 2],
    dimension: usize,
) -> Option<String> {
    let mut products: Vec<Atom> = Vec::new();
    let mut conditions: Vec<String> = Vec::new();
    let mut dimensions: Vec<String> = Vec::new();
    let mut places: Vec<Vec<Option<String>>> = Vec::new();
    let mut taken_by = Vec::new();
    for (side, (part, access)) in pair.into_iter().enumerate() {
        let mut name = |atom: &Atom| match atom {
            Atom::Symbol(symbol) => format!("p{symbol}"),
            Atom::Variable(variable) => format!("x{side}_{variable}"),
            // Factors of sizes that are not known: any number.
            other => {
                let known = products.iter().position(|product| product == other);
                let number = known.unwrap_or_else(|| {
                    products.push(other.clone());
                    products.len() - 1
                });
                format!("q{number}")
            }
        };
        let mut text = |form: &Linear| form.text(Notation::Isl, &mut name);
        for (number, variable) in part.statement.variables.iter().enumerate() {
            let own = format!("x{side}_{number}");
            if let Bound::Linear(low) = &variable.low {
                conditions.push(format!("{own} >= {}", text(low)));
            }
            if let Bound::Linear(high) = &variable.high {
                conditions.push(format!("{own} < {}", text(high)));
            }
            dimensions.push(own);
        }
        let subscripts = access.subscripts.iter();
        places.push(
            subscripts
                .map(|subscript| subscript.linear.as_ref().map(&mut text))
                .collect(),
        );
        let Work::Compute { taken, .. } = &part.work else {
            return None;
        };
        let index = *taken.get(dimension)?;
        let low = part.statement.variables[index].low.linear()?;
        taken_by.push(format!("x{side}_{index} - ({})", text(low)));
    }
    for (left, right) in places[0].iter().zip(&places[1]) {
        if let (Some(left), Some(right)) = (left, right) {
            conditions.push(format!("{left} = {right}"));
        }
    }
    conditions.push(format!("{} != {}", taken_by[0], taken_by[1]));
    let mut parameters: Vec<String> = Vec::new();
    for (number, symbol) in function.symbols.iter().enumerate() {
        parameters.push(format!("p{number}"));
        if symbol.kind == SymbolKind::Size {
            conditions.push(format!("p{number} >= 0"));
        }
    }
    parameters.extend((0..products.len()).map(|number| format!("q{number}")));
    assert_eq!(
        kernel.threads.len(),
        kernel.threads.len().max(dimension + 1)
    );
    let mut question = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        question,
        "[{}] -> {{ [{}] : {} }}",
        parameters.join(", "),
        dimensions.join(", "),
        conditions.join(" and ")
    );
    Some(question)
}
