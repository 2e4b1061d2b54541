//! Statements of a definition by the names that templates give them.

use super::template::{ValueTemplate, Word};
use crate::tensor::program::{Function, Statement, Step, TimeLoop};

/// A statement and its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'f> {
    pub statement: &'f Statement,
    /// The how manieth one of the definition that has its target, from 1.
    pub number: usize,
}

impl Named<'_> {
    /// How a message names it.
    pub fn name(&self, function: &Function) -> String {
        let tensor = &function.tensors[self.statement.target].name;
        match self.number {
            1 => tensor.clone(),
            number => format!("{tensor}@{number}"),
        }
    }

    /// The name of the tensor, as a word of a template.
    pub fn word(&self, function: &Function) -> Word {
        Word::new(function.tensors[self.statement.target].name.clone())
    }

    /// Whether a line of a template is about it.
    pub fn is(&self, function: &Function, value: &ValueTemplate) -> bool {
        function.tensors[self.statement.target].name == value.tensor.text
            && self.number == value.number
    }
}

/// Steps of a body: statements in a row, or a loop.
pub(super) enum Piece<'f> {
    Statements(Vec<Named<'f>>),
    Loop(&'f TimeLoop, Vec<Self>),
}

/// The pieces of a definition.
pub(super) fn pieces(function: &Function) -> Vec<Piece<'_>> {
    let mut counts = vec![0; function.tensors.len()];
    of_body(&function.body, &mut counts)
}

fn of_body<'f>(body: &'f [Step], counts: &mut [usize]) -> Vec<Piece<'f>> {
    let mut pieces = Vec::new();
    for step in body {
        match step {
            Step::Loop(time_loop) => {
                let inner = of_body(&time_loop.body, counts);
                pieces.push(Piece::Loop(time_loop, inner));
            }
            Step::Statement(statement) => {
                counts[statement.target] += 1;
                let named = Named {
                    statement,
                    number: counts[statement.target],
                };
                match pieces.last_mut() {
                    Some(Piece::Statements(all)) => all.push(named),
                    _ => pieces.push(Piece::Statements(vec![named])),
                }
            }
        }
    }
    pieces
}

/// Whether two statements may run in any order, or at the same time: neither writes what the other one touches.
pub(super) fn are_independent(a: &Statement, b: &Statement) -> bool {
    let touches = |statement: &Statement, tensor: usize| {
        let mut found = statement.target == tensor;
        statement.reads(&mut |read, _| found |= read == tensor);
        found
    };
    !touches(a, b.target) && !touches(b, a.target)
}
