//! Wrong schedules, of which each is refused.

use super::dependences::Dependences;
use super::nest::Nest;
use super::order::{keeps_order, may_swap};
use super::{Obstacle, Strategy, groups};
use crate::math::isl::schedule::{Affine, Member, Tree};
use crate::tensor::check;
use crate::tensor::program::{Function, Statement, Step};

fn function(text: &str) -> Function {
    check(text).expect("it is right").remove(0)
}

fn statements(function: &Function) -> Vec<&Statement> {
    let steps = function.body.iter();
    steps
        .map(|step| match step {
            Step::Statement(statement) => statement.as_ref(),
            Step::Loop(_) => unreachable!("there is no loop"),
        })
        .collect()
}

/// A member of a band, by statement the factors of its indices and what is added.
fn member(coincident: bool, values: &[(usize, &[i64], i64)]) -> Member {
    let value = |(statement, factors, constant): &(usize, &[i64], i64)| {
        let value = Affine {
            parameters: Vec::new(),
            dimensions: factors.to_vec(),
            constant: *constant,
        };
        (*statement, Some(value))
    };
    Member {
        coincident,
        values: values.iter().map(value).collect(),
    }
}

fn band(members: Vec<Member>, child: Tree) -> Tree {
    Tree::Band {
        permutable: true,
        members,
        child: Box::new(child),
    }
}

fn sequence(order: &[usize]) -> Tree {
    let children = order.iter().map(|statement| (vec![*statement], Tree::Leaf));
    Tree::Sequence {
        ordered: true,
        children: children.collect(),
    }
}

/// What becomes of a schedule of two statements.
fn judged(text: &str, tree: &Tree) -> Result<(), Obstacle> {
    let function = function(text);
    let all = statements(&function);
    let nest = Nest::of(&all, tree, true)?;
    let dependences = Dependences::of(&function, all);
    keeps_order(&dependences, &[0, 1], &nest)
}

const ROWS: &str = "def f(float(N,M) A) -> (t, O) {\n t(n) +=! A(n,k)\n O(n,k) = A(n,k) / t(n)\n}";

#[test]
fn rows_one_statement_after_the_other_are_in_order() {
    let rows = || vec![member(true, &[(0, &[1, 0], 0), (1, &[1, 0], 0)])];
    assert_eq!(judged(ROWS, &band(rows(), sequence(&[0, 1]))), Ok(()));
    // The other way round, the sum would be read before it is there.
    let swapped = judged(ROWS, &band(rows(), sequence(&[1, 0])));
    assert_eq!(swapped, Err(Obstacle::Dependence(0, 1)));
}

#[test]
fn a_sum_is_not_read_in_the_loop_of_its_terms() {
    let members = vec![
        member(true, &[(0, &[1, 0], 0), (1, &[1, 0], 0)]),
        member(false, &[(0, &[0, 1], 0), (1, &[0, 1], 0)]),
    ];
    let made = judged(ROWS, &band(members, sequence(&[0, 1])));
    assert_eq!(made, Err(Obstacle::Dependence(0, 1)));
    // What is summed up may be made there.
    let text = "def f(float(N,M) A) -> (e, t) {\n e(n,k) = A(n,k) * 2\n t(n) +=! e(n,k)\n}";
    let members = || {
        vec![
            member(true, &[(0, &[1, 0], 0), (1, &[1, 0], 0)]),
            member(false, &[(0, &[0, 1], 0), (1, &[0, 1], 0)]),
        ]
    };
    assert_eq!(judged(text, &band(members(), sequence(&[0, 1]))), Ok(()));
    let swapped = judged(text, &band(members(), sequence(&[1, 0])));
    assert_eq!(swapped, Err(Obstacle::Dependence(0, 1)));
    // A step too late.
    let mut late = members();
    late[1] = member(false, &[(0, &[0, 1], 1), (1, &[0, 1], 0)]);
    let late = judged(text, &band(late, sequence(&[0, 1])));
    assert_eq!(late, Err(Obstacle::Dependence(0, 1)));
}

#[test]
fn threads_keep_to_what_they_made() {
    // Another thread's element.
    let text =
        "def f(float(N,M) A) -> (t, O) {\n t(n) +=! A(n,k)\n O(n,k) = A(n,k) / t(N - 1 - n)\n}";
    let rows = vec![member(true, &[(0, &[1, 0], 0), (1, &[1, 0], 0)])];
    let made = judged(text, &band(rows, sequence(&[0, 1])));
    assert_eq!(made, Err(Obstacle::Dependence(0, 1)));
    // The element of the first row, of which no term is computed.
    let text = "def f(float(N,N) A) -> (t, O) {\n t(n) +=! A(n,k) where k in 0:n\n O(n) = t(0) * A(n,n)\n}";
    let rows = vec![member(true, &[(0, &[1, 0], 0), (1, &[1], 0)])];
    let made = judged(text, &band(rows, sequence(&[0, 1])));
    assert_eq!(made, Err(Obstacle::Dependence(0, 1)));
    // Shifted as it has to be, and not.
    let text =
        "def f(float(N) A) -> (B, C) {\n B(i) = A(i)\n C(i) = B(i + 1) where i in 0:N - 1\n}";
    let ahead = |by| vec![member(true, &[(0, &[1], 0), (1, &[1], by)])];
    assert_eq!(judged(text, &band(ahead(1), sequence(&[0, 1]))), Ok(()));
    let made = judged(text, &band(ahead(0), sequence(&[0, 1])));
    assert_eq!(made, Err(Obstacle::Dependence(0, 1)));
}

#[test]
fn what_cannot_be_written_has_a_reason() {
    let made = |members: Vec<Member>| judged(ROWS, &band(members, sequence(&[0, 1])));
    let skewed = vec![member(true, &[(0, &[1, 0], 0), (1, &[1, 1], 0)])];
    assert_eq!(made(skewed), Err(Obstacle::Skewed));
    let reversed = vec![member(true, &[(0, &[-1, 0], 0), (1, &[-1, 0], 0)])];
    assert_eq!(made(reversed), Err(Obstacle::Reversed));
    let fixed = vec![member(true, &[(0, &[1, 0], 0), (1, &[0, 0], 3)])];
    assert_eq!(made(fixed), Err(Obstacle::Fixed));
    // The terms of an element outside of the elements.
    let terms = vec![
        member(false, &[(0, &[0, 1], 0), (1, &[0, 1], 0)]),
        member(false, &[(0, &[1, 0], 0), (1, &[1, 0], 0)]),
    ];
    let Tree::Band { members, child, .. } = band(terms, sequence(&[0, 1])) else {
        unreachable!("it is one")
    };
    let fixed_order = Tree::Band {
        permutable: false,
        members,
        child,
    };
    assert_eq!(judged(ROWS, &fixed_order), Err(Obstacle::Terms));
    assert_eq!(judged(ROWS, &sequence(&[0, 1])), Err(Obstacle::Sequence));
}

#[test]
fn statements_change_places_only_where_they_touch_nothing_together() {
    let text =
        "def f(float(N) A) -> (B, C, D) {\n B(i) = A(i)\n C(i) = A(i) * 2\n D(i) = B(i) + 1\n}";
    let function = function(text);
    let dependences = Dependences::of(&function, statements(&function));
    assert!(may_swap(&dependences, [0, 1]));
    assert!(!may_swap(&dependences, [0, 2]));
    // So the third one joins the first one over the second one.
    let segment = groups::segment(&function, statements(&function), Strategy::Maximal);
    let members: Vec<&[usize]> = segment
        .groups
        .iter()
        .map(|group| group.members.as_slice())
        .collect();
    assert_eq!(members, [[0, 2].as_slice(), &[1]]);
}
