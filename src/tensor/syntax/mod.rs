//! Text to trees.
//!
//! `logos` makes the lexer. The parser is a descent with one function a rule, since each place in it knows which mend to
//! name. Invariant: an error never depends on what stands behind it.

mod lexer;
mod parser;
pub mod tree;

pub use parser::parse;
