//! What may be shared out, and what may not.

use super::legality::parallel_dimensions;
use super::rows::rows;
use super::tiles::{Shape, tiles};
use super::{Reductions, SharedMemory, TileSizes};
use crate::tensor::mapping::{Kernel, Mapping, Plan, Step, Work, map};
use crate::tensor::program::Function;
use crate::tensor::{Options, check};

fn function(text: &str) -> Function {
    check(text).expect("it is right").remove(0)
}

/// The kernels of a thread for each element.
fn kernels(function: &Function) -> Vec<Kernel<'_>> {
    let options = Options {
        mapping: Mapping::Parallel,
        ..Options::default()
    };
    let steps = map(function, options).into_iter();
    steps
        .filter_map(|step| match step {
            Step::Kernel(kernel) => Some(kernel),
            Step::Loop { .. } | Step::Either { .. } => None,
        })
        .collect()
}

/// All statements in one kernel, as if that were legal.
fn joined(function: &Function) -> Kernel<'_> {
    let mut all = kernels(function).into_iter();
    let mut first = all.next().expect("there is a statement");
    first.parts.extend(all.flat_map(|kernel| kernel.parts));
    first
}

#[test]
fn a_dimension_on_which_a_dependence_leads_elsewhere_is_refused() {
    // Each element of C is made of the neighbour's.
    let shifted = function(
        "def f(float(N) A) -> (B, C) {\n B(i) = A(i) where i in 0:N\n C(i) = B(i + 1) where i in 0:N - 1\n}",
    );
    assert_eq!(parallel_dimensions(&shifted, &joined(&shifted)), [false]);
    let straight = function("def f(float(N) A) -> (B, C) {\n B(i) = A(i)\n C(i) = B(i)\n}");
    assert_eq!(parallel_dimensions(&straight, &joined(&straight)), [true]);
    // The rows are independent, the columns are not.
    let reversed = function(
        "def f(float(N, M) A) -> (B, C) {\n B(i, j) = A(i, j)\n C(i, j) = B(i, M - 1 - j) where j in 0:M\n}",
    );
    assert_eq!(
        parallel_dimensions(&reversed, &joined(&reversed)),
        [true, false]
    );
    let transposed =
        function("def f(float(N, N) A) -> (B, C) {\n B(i, j) = A(i, j)\n C(i, j) = B(j, i)\n}");
    assert_eq!(
        parallel_dimensions(&transposed, &joined(&transposed)),
        [false, false]
    );
}

#[test]
fn data_as_subscripts_may_name_any_element() {
    let scatter =
        function("def f(int(B) I, float(B, D) G) -> (float(B, D) O) {\n O(I(b), d) +=! G(b, d)\n}");
    let mut kernel = kernels(&scatter).pop().expect("there is a kernel");
    // As if every index on the left were shared out.
    let statement = kernel.parts[0].statement;
    let all: Vec<usize> = statement.free().collect();
    let count = |index: &usize| {
        let variable = &statement.variables[*index];
        variable.high.linear().cloned().unwrap_or_default()
    };
    kernel.threads = all.iter().map(count).collect();
    kernel.parts[0].work = Work::Compute {
        taken: all,
        atomic: false,
    };
    assert_eq!(parallel_dimensions(&scatter, &kernel), [false, true]);
}

#[test]
fn products_are_tiled_and_what_may_not_be_is_not() {
    let is_tiled = |text: &str| {
        let function = function(text);
        let kernel = joined(&function);
        tiles(&function, &kernel, Shape::Any, Some(TileSizes::default())).is_some()
    };
    let product = "C(i, j) +=! A(i, k) * B(k, j)";
    let with = |before: &str, body: &str| {
        is_tiled(&format!(
            "def f(float(N, M) A, float(M, K) B, int(N, M) D) -> (C) {{\n{before}\n {body}\n}}"
        ))
    };
    assert!(with("", product));
    assert!(with("", "C(i) +=! A(i, k)"));
    // The range of k is another one in each point of a tile.
    assert!(!with(
        "",
        "C(i, j) +=! A(i, k) * B(k, j) where k in 0:min(M, i + 1)"
    ));
    // Points outside would divide by zero.
    assert!(!with("", "C(i, j) +=! 4 / D(i, k) * D(j, k)"));
    // The product reads what the same kernel writes for other points.
    let own =
        "def f(float(N, N) A) -> (B, C) {\n B(i, j) = A(i, j)\n C(i, j) +=! B(i, k) * B(k, j)\n}";
    assert!(!is_tiled(own));
    // Nothing is read twice, nor apart.
    assert!(!with("", "C(i) +=! B(k, i)"));
}

#[test]
fn rows_join_only_what_stays_in_the_row() {
    let count = |text: &str, reductions: Reductions| {
        let function = function(text);
        let all = kernels(&function).into_iter().map(Step::Kernel).collect();
        let made = rows(&function, all, reductions, SharedMemory::On);
        let is_row = |step: &Step<'_>| match step {
            // By lanes, where rows are short, else by a block.
            Step::Kernel(kernel)
            | Step::Either {
                together: kernel, ..
            } => {
                matches!(kernel.plan, Plan::Rows(_))
            }
            Step::Loop { .. } => false,
        };
        (made.len(), made.iter().filter(|step| is_row(step)).count())
    };
    let softmax = "def f(float(N, D) I) -> (O) {\n m(n) max=! I(n, d)\n e(n, d) = exp(I(n, d) - m(n))\n \
                   s(n) +=! e(n, d)\n O(n, d) = e(n, d) / s(n)\n}";
    assert_eq!(count(softmax, Reductions::Parallel), (1, 1));
    // The sum keeps its order, and so has threads of its own.
    assert_eq!(count(softmax, Reductions::Ordered), (3, 1));
    let crossed =
        "def f(float(N, N) I) -> (O) {\n m(n) max=! I(n, d)\n O(n, d) = I(n, d) - m(d)\n}";
    assert_eq!(count(crossed, Reductions::Parallel), (2, 1));
    // Threads that follow the reduced index would read apart.
    let columns = "def f(float(N, D) I) -> (m) {\n m(d) max=! I(n, d)\n}";
    assert_eq!(count(columns, Reductions::Parallel), (1, 0));
}
