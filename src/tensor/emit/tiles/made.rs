//! What a statement makes of an element of a box alone, such as its product with a factor: it is computed once, as the element
//! is loaded, and not again for each point that reads it.
//!
//! The operations are those of the value, in its types, so that the result is the same to the last bit.

use super::{Tiled, reducing_part};
use crate::tensor::emit::values::{self, Scope};
use crate::tensor::linear::Linear;
use crate::tensor::program::{Function, Role, Subscript, Value, ValueKind};
use crate::tensor::transform::Promoted;
use crate::tensor::types::Scalar;

/// The value of a product, and what of it is computed as boxes are loaded.
pub(super) struct Made {
    /// By box: its elements are this; none: those of the tensor.
    pub(super) of_boxes: Vec<Option<Value>>,
    /// The value, where an element of a box stands for what is made of it.
    pub(super) rest: Value,
}

/// What of a value depends on an element of a box.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depends {
    /// Nothing, and on no index: it is the same for all points.
    Fixed,
    /// Nothing but that and the element.
    OfElement,
    /// Something else.
    Other,
}

impl Tiled<'_> {
    /// What is computed as boxes are loaded.
    pub(super) fn made(&self) -> Made {
        let statement = reducing_part(self).statement;
        let mut made = Made {
            of_boxes: vec![None; self.tiles.promoted.len()],
            rest: statement.value.clone(),
        };
        // Asynchronous copies and tensor cores take elements as they are, and so do other products of the same boxes.
        let is_open =
            self.tiles.stages == 1 && self.tiles.cores.is_none() && self.tiles.beside.is_empty();
        if !is_open {
            return made;
        }
        for (number, promoted) in self.tiles.promoted.iter().enumerate() {
            let scalar = self.function.tensors[promoted.tensor].scalar;
            if promoted.resident || !matches!(scalar, Scalar::Float | Scalar::Double) {
                continue;
            }
            let mut taken = Taken {
                function: self.function,
                promoted,
                found: Vec::new(),
            };
            let mut rest = made.rest.clone();
            if taken.parts(&mut rest) == Depends::OfElement {
                taken.take(&mut rest);
            }
            let text = |value: &Value| {
                let held = |tensor: usize, subscripts: &[Subscript]| {
                    is_of(promoted, tensor, subscripts).then(|| "tc_element".to_owned())
                };
                let scope = Scope {
                    statement,
                    held: &held,
                };
                values::value(self.function, scope, value)
            };
            // A box has one value for all who read it.
            let Some((first, others)) = taken.found.split_first() else {
                continue;
            };
            let first_text = text(first);
            let is_one = others.iter().all(|other| text(other) == first_text);
            let is_bare = matches!(first.kind, ValueKind::Read { .. });
            if is_one && !is_bare && first.scalar == scalar {
                made.of_boxes[number] = Some(first.clone());
                made.rest = rest;
            }
        }
        made
    }
}

/// Whether an access is what a box has.
pub(super) fn is_of(promoted: &Promoted, tensor: usize, subscripts: &[Subscript]) -> bool {
    let forms: Option<Vec<&Linear>> = subscripts
        .iter()
        .map(|subscript| subscript.linear.as_ref())
        .collect();
    promoted.tensor == tensor
        && forms.is_some_and(|forms| promoted.subscripts.iter().eq(forms.iter().copied()))
}

/// What is taken out of a value for a box.
struct Taken<'t> {
    function: &'t Function,
    promoted: &'t Promoted,
    /// The largest parts that depend on nothing but an element.
    found: Vec<Value>,
}

impl Taken<'_> {
    /// What a value depends on; parts of it that depend on the element alone, where it depends on more, are taken.
    fn parts(&mut self, value: &mut Value) -> Depends {
        match &value.kind {
            ValueKind::Integer(_) | ValueKind::Real(_) | ValueKind::Size(_) => {
                return Depends::Fixed;
            }
            ValueKind::Variable(_) => return Depends::Other,
            ValueKind::Read { tensor, subscripts } => {
                let is_value = self.function.tensors[*tensor].role == Role::Value;
                return match is_of(self.promoted, *tensor, subscripts) {
                    true => Depends::OfElement,
                    false if is_value => Depends::Fixed,
                    false => Depends::Other,
                };
            }
            _ => {}
        }
        let parts: Vec<Depends> = operands(value)
            .into_iter()
            .map(|operand| self.parts(operand))
            .collect();
        if parts.iter().all(|part| *part == Depends::Fixed) {
            return Depends::Fixed;
        }
        if !parts.contains(&Depends::Other) {
            return Depends::OfElement;
        }
        for (operand, part) in operands(value).into_iter().zip(parts) {
            if part == Depends::OfElement {
                self.take(operand);
            }
        }
        Depends::Other
    }

    /// Takes a part: the element stands in its place.
    fn take(&mut self, value: &mut Value) {
        if let Some(read) = self.read(value) {
            self.found.push(std::mem::replace(value, read));
        }
    }

    /// The read of the element.
    fn read(&self, value: &mut Value) -> Option<Value> {
        if let ValueKind::Read { tensor, subscripts } = &value.kind {
            return is_of(self.promoted, *tensor, subscripts).then(|| value.clone());
        }
        operands(value)
            .into_iter()
            .find_map(|operand| self.read(operand))
    }
}

/// Operands and arguments.
fn operands(value: &mut Value) -> Vec<&mut Value> {
    match &mut value.kind {
        ValueKind::Integer(_)
        | ValueKind::Real(_)
        | ValueKind::Variable(_)
        | ValueKind::Size(_)
        | ValueKind::Read { .. } => Vec::new(),
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => vec![operand],
        ValueKind::Binary(_, left, right) => vec![left, right],
        ValueKind::Select(condition, then, other) => vec![condition, then, other],
        ValueKind::Call(_, _, arguments) => arguments.iter_mut().collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::tensor::mapping::Mapping;
    use crate::tensor::{Options, translate};

    /// What is made of a product's value, in tiles of one stage or of several.
    fn product(value: &str, stages: u8) -> String {
        let text =
            format!("def f(float a, float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! {value} }}");
        let options = Options {
            mapping: Mapping::Tiled,
            stages: Some(stages),
            ..Options::default()
        };
        translate("f.tc", &text, options)
            .expect("it is right")
            .source
    }

    #[test]
    fn what_is_made_of_an_element_alone_is_made_as_it_is_loaded() {
        for (value, loaded, term) in [
            (
                "a * A(m,k) * B(k,n)",
                "tc_tile_A[tc_1][tc_0] = a * tc_four.x;",
                "+= tc_of_tile_A[tc_i] * tc_of_tile_B[tc_j];",
            ),
            (
                "A(m,k) * fmax(B(k,n), a)",
                "make_float4(fmaxf(tc_four.x, a), ",
                "+= tc_of_tile_A[tc_i] * tc_of_tile_B[tc_j];",
            ),
            (
                "(A(m,k) > 0 ? A(m,k) : 0) * B(k,n)",
                "? (tc_",
                "+= tc_of_tile_A[tc_i] * tc_of_tile_B[tc_j];",
            ),
            (
                "(a * A(m,k)) * B(k,n) - a * A(m,k)",
                "= a * tc_four.x;",
                "+= tc_of_tile_A[tc_i] * tc_of_tile_B[tc_j] - tc_of_tile_A[tc_i];",
            ),
        ] {
            let made = product(value, 1);
            assert!(made.contains(loaded) || value.contains('?'), "{made}");
            assert!(made.contains(term), "{made}");
        }
    }

    #[test]
    fn what_is_read_in_two_ways_or_depends_on_an_index_stays() {
        for value in [
            "a * A(m,k) * B(k,n) + A(m,k)",
            "(a * A(m,k)) * B(k,n) - (2 * A(m,k)) * B(k,n)",
            "(A(m,k) * k) * B(k,n)",
            "(A(m,k) * B(k,n)) * a",
            "double(A(m,k)) * B(k,n)",
        ] {
            let made = product(value, 1);
            assert!(made.contains("= tc_four.x;"), "{value}: {made}");
        }
        // Asynchronous copies compute nothing.
        assert!(product("a * A(m,k) * B(k,n)", 2).contains("+= a * tc_of_tile_A[tc_i] *"));
    }
}
