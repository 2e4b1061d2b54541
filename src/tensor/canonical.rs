//! What a definition says, whatever its names are and wherever it stands.

use super::fault::Span;
use super::program::{
    Bound, Function, Statement, Step, Subscript, SymbolKind, TimeLoop, Value, ValueKind,
};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// A number that definitions share which differ in names, comments and layout alone. It stays the same as long as the compiler does.
pub fn key(function: &Function) -> u64 {
    let mut function = function.clone();
    function.name = String::new();
    function.span = Span::default();
    // Symbols and tensors are numbered in the order in which they are met.
    for symbol in &mut function.symbols {
        symbol.name = String::new();
    }
    for tensor in &mut function.tensors {
        tensor.name = String::new();
        tensor.span = Span::default();
    }
    for check in &mut function.checks {
        check.span = Span::default();
        check.message = String::new();
    }
    function.body.iter_mut().for_each(step);
    let mut hasher = DefaultHasher::new();
    format!("{function:?}").hash(&mut hasher);
    hasher.finish()
}

/// Names of the sizes, in their order.
pub fn sizes(function: &Function) -> impl Iterator<Item = &str> {
    let symbols = function.symbols.iter();
    let sizes = symbols.filter(|symbol| symbol.kind == SymbolKind::Size);
    sizes.map(|symbol| symbol.name.as_str())
}

/// Names of tensors and symbols, which definitions that say the same have in the same order.
pub fn names(function: &Function) -> Vec<String> {
    let tensors = function.tensors.iter().map(|tensor| &tensor.name);
    let symbols = function.symbols.iter().map(|symbol| &symbol.name);
    tensors.chain(symbols).cloned().collect()
}

fn step(step: &mut Step) {
    match step {
        Step::Statement(statement) => self::statement(statement),
        Step::Loop(TimeLoop { body, .. }) => body.iter_mut().for_each(self::step),
    }
}

fn statement(statement: &mut Statement) {
    statement.span = Span::default();
    for variable in &mut statement.variables {
        variable.name = String::new();
        for bound in [&mut variable.low, &mut variable.high] {
            if let Bound::Data(value) = bound {
                self::value(value);
            }
        }
    }
    statement.subscripts.iter_mut().for_each(subscript);
    value(&mut statement.value);
}

fn subscript(subscript: &mut Subscript) {
    subscript.span = Span::default();
    value(&mut subscript.value);
}

fn value(value: &mut Value) {
    match &mut value.kind {
        ValueKind::Integer(_)
        | ValueKind::Real(_)
        | ValueKind::Variable(_)
        | ValueKind::Size(_) => {}
        ValueKind::Read { subscripts, .. } => subscripts.iter_mut().for_each(subscript),
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => self::value(operand),
        ValueKind::Binary(_, left, right) => {
            [left, right].into_iter().for_each(|side| self::value(side))
        }
        ValueKind::Select(condition, then, other) => {
            [condition, then, other]
                .into_iter()
                .for_each(|part| self::value(part));
        }
        ValueKind::Call(_, _, arguments) => arguments.iter_mut().for_each(self::value),
    }
}

#[cfg(test)]
mod tests {
    use super::key;
    use crate::tensor::check;

    fn of(text: &str) -> u64 {
        key(&check(text).expect("it is right")[0])
    }

    #[test]
    fn names_and_layout_are_not_what_a_definition_says() {
        let one = of("def mv(float(M,K) A, float(K) x) -> (C) { C(i) +=! A(i,k) * x(k) }");
        let renamed = "# The same.\ndef product(float(R,S) W, float(S) v) -> (O) {\n  O(r) +=! W(r,s) *\n v(s)\n}";
        assert_eq!(one, of(renamed));
        for other in [
            "def mv(float(M,K) A, float(K) x) -> (C) { C(i) max=! A(i,k) * x(k) }",
            "def mv(float(M,K) A, float(K) x) -> (C) { C(i) +=! A(i,k) + x(k) }",
            "def mv(half(M,K) A, float(K) x) -> (C) { C(i) +=! A(i,k) * x(k) }",
            "def mv(float(K,M) A, float(K) x) -> (C) { C(i) +=! A(k,i) * x(k) }",
            "def mv(float(M,9) A, float(9) x) -> (C) { C(i) +=! A(i,k) * x(k) }",
        ] {
            assert_ne!(one, of(other), "{other}");
        }
    }
}
