//! Trees to typed statements: what each name is, the type of each value, the range of each index, and whether all of it is
//! sound.
//!
//! | module | question |
//! |---|---|
//! | [`scope`] | what is a name? |
//! | [`calls`] | what does a statement that calls another definition stand for? |
//! | [`typing`] | of which type is a value, and which form is it? |
//! | [`inference`] | between which numbers is an index? (§3.1 of the paper) |
//! | [`proofs`] | is every access inside its tensor? |
//! | [`definitions`] | is every element defined once, before it is read? |
//!
//! Invariant: that of [`super::program`].

mod calls;
mod definitions;
mod inference;
mod proofs;
mod scope;
mod statements;
mod typing;

use super::fault::Fault;
use super::program::Function;
use super::syntax::tree::Definition;

/// Types the definitions of a file.
///
/// # Errors
/// The first fault of each definition, and names that two of them have.
pub fn infer(definitions: &[Definition]) -> Result<Vec<Function>, Vec<Fault>> {
    let (mut functions, mut faults) = (Vec::new(), Vec::new());
    for (number, definition) in definitions.iter().enumerate() {
        let others = [&definitions[..number], &definitions[number + 1..]];
        match function(definition, others) {
            Ok(function) => functions.push(function),
            Err(fault) => faults.push(*fault),
        }
    }
    match faults.is_empty() {
        true => Ok(functions),
        false => Err(faults),
    }
}

/// What a question of this stage gives; faults are large.
type Checked<T> = Result<T, Box<Fault>>;

fn function(definition: &Definition, others: [&[Definition]; 2]) -> Checked<Function> {
    let [earlier, _] = others;
    let name = &definition.name;
    if let Some(other) = earlier.iter().find(|other| other.name.text == name.text) {
        let fault = Fault::new(name.span, format!("'{}' is defined twice", name.text));
        return Err(fault.note(other.name.span, "the first one is here").into());
    }
    let mut scope = scope::Scope::new(definition, others)?;
    let body = statements::steps(&mut scope, &definition.body, earlier)?;
    scope.function.body = body;
    scope.all_returns_are_defined(definition)?;
    definitions::check(&mut scope.function)?;
    Ok(scope.function)
}
