//! The names of a definition.
//!
//! Invariant: a name is one thing in the whole definition: a size, a value, a tensor or the index of a time loop. What is
//! none of these is an index, of one statement alone.

use super::Checked;
use super::proofs::Questions;
use super::typing::{self, Names};
use crate::tensor::fault::{Fault, Span};
use crate::tensor::linear::Atom;
use crate::tensor::linear::{Linear, Notation};
use crate::tensor::program::{Function, Role, Symbol, SymbolKind, Tensor};
use crate::tensor::syntax::tree::{
    Declaration, Definition, Expression, Kind, Name, Returned, Statement,
};
use crate::tensor::{builtins, types::Scalar};
use std::collections::HashMap;

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entity {
    /// A number in `symbols`.
    Symbol(usize),
    /// A number in `tensors`.
    Tensor(usize),
}

/// A definition while its statements are typed.
pub(super) struct Scope {
    /// What has been found so far.
    pub(super) function: Function,
    /// The names.
    pub(super) names: HashMap<String, Entity>,
    /// By tensor: whether a statement before has written it.
    pub(super) written: Vec<bool>,
    /// By symbol: the range of a time loop around the statement.
    pub(super) times: HashMap<usize, (Linear, Linear)>,
    /// By tensor: it was defined in a time loop that has ended.
    pub(super) ended: Vec<bool>,
    /// Names that some statement of the definition defines.
    pub(super) defined: Vec<String>,
    /// How many definitions have been called, for names of their temporaries.
    pub(super) calls: usize,
    /// The call in the definition's own text for which statements are copied.
    pub(super) call: Option<Span>,
    /// Names of the definitions before this one, and of those behind it.
    pub(super) others: [Vec<String>; 2],
}

impl Scope {
    /// The scope with inputs and declared outputs.
    pub(super) fn new(definition: &Definition, others: [&[Definition]; 2]) -> Checked<Self> {
        let function = Function {
            name: definition.name.text.clone(),
            span: definition.name.span,
            symbols: Vec::new(),
            tensors: Vec::new(),
            returns: Vec::new(),
            checks: Vec::new(),
            body: Vec::new(),
        };
        let mut scope = Self {
            function,
            names: HashMap::new(),
            written: Vec::new(),
            times: HashMap::new(),
            ended: Vec::new(),
            defined: Vec::new(),
            calls: 0,
            call: None,
            others: others.map(|others| {
                let names = others.iter().map(|other| other.name.text.clone());
                names.collect()
            }),
        };
        targets(&definition.body, &mut scope.defined);
        is_usable(&definition.name)?;
        for parameter in &definition.parameters {
            scope.sizes_of(parameter)?;
        }
        for parameter in &definition.parameters {
            let is_returned = |returned: &Returned| match returned {
                Returned::Name(name) => name.text == parameter.name.text,
                Returned::Declared(_) => false,
            };
            let role = match (
                &parameter.extents,
                definition.returns.iter().any(is_returned),
            ) {
                (None, true) => {
                    let message = format!(
                        "'{}' is a value and cannot be a result",
                        parameter.name.text
                    );
                    let mend = format!(
                        "write '{}() {}', which is a tensor of one element that the call changes",
                        parameter.scalar, parameter.name.text
                    );
                    return Err(Fault::new(parameter.name.span, message).mend(mend).into());
                }
                (None, false) => Role::Value,
                (Some(_), true) => Role::Changed,
                (Some(_), false) => Role::Input,
            };
            let tensor = scope.declare(parameter, role)?;
            scope.written[tensor] = true;
            if role == Role::Value && parameter.scalar.is_integer() {
                scope.function.symbols.push(Symbol {
                    name: parameter.name.text.clone(),
                    kind: SymbolKind::Value(tensor),
                });
            }
        }
        for returned in &definition.returns {
            if let Returned::Declared(declaration) = returned {
                let mut declaration = declaration.clone();
                declaration.extents.get_or_insert_default();
                scope.declare(&declaration, Role::Output)?;
            }
        }
        Ok(scope)
    }

    /// The sizes that the extents of an input bring along.
    fn sizes_of(&mut self, parameter: &Declaration) -> Checked<()> {
        for extent in parameter.extents.iter().flatten() {
            let fault = |message: &str| Fault::new(extent.span, message);
            match &extent.kind {
                Kind::Name(name) => {
                    let name = Name {
                        text: name.clone(),
                        span: extent.span,
                    };
                    if !self.names.contains_key(&name.text) {
                        is_usable(&name)?;
                        let number = self.function.symbols.len();
                        self.function.symbols.push(Symbol {
                            name: name.text.clone(),
                            kind: SymbolKind::Size,
                        });
                        self.names.insert(name.text, Entity::Symbol(number));
                    }
                }
                Kind::Integer(0) => {
                    return Err(fault("an extent is at least 1").into());
                }
                Kind::Integer(_) => {}
                _ => {
                    let fault = fault("the extent of an input is a name or a number");
                    let mend =
                        "write a name of its own, as in 'float(M) A': each call brings its value";
                    return Err(fault.mend(mend).into());
                }
            }
        }
        Ok(())
    }

    /// A tensor with declared type and extents.
    pub(super) fn declare(&mut self, declaration: &Declaration, role: Role) -> Checked<usize> {
        let mut extents = Vec::new();
        for extent in declaration.extents.iter().flatten() {
            extents.push(self.size(extent, "an extent")?);
        }
        let name = &declaration.name;
        is_usable(name)?;
        if let Some(entity) = self.names.get(&name.text) {
            let fault = Fault::new(name.span, format!("'{}' is declared twice", name.text));
            return Err(match entity {
                Entity::Tensor(tensor) => {
                    fault.note(self.function.tensors[*tensor].span, "the first one is here")
                }
                Entity::Symbol(_) => fault.mend(
                    "it is the name of a size, which is an input by itself; remove this one, or choose another name",
                ),
            }
            .into());
        }
        Ok(self.add(name, declaration.scalar, extents, role))
    }

    /// A tensor; its name is free.
    pub(super) fn add(
        &mut self,
        name: &Name,
        scalar: Scalar,
        extents: Vec<Linear>,
        role: Role,
    ) -> usize {
        let number = self.function.tensors.len();
        self.names.insert(name.text.clone(), Entity::Tensor(number));
        self.function.tensors.push(Tensor {
            name: name.text.clone(),
            span: name.span,
            scalar,
            extents,
            role,
        });
        self.written.push(false);
        self.ended.push(false);
        number
    }

    /// A number without indices, of sizes alone.
    pub(super) fn size(&self, expression: &Expression, what: &str) -> Checked<Linear> {
        let mut names = Names::without_indices(self);
        let value = typing::wide(&mut names, expression)?;
        match value.linear(&self.function) {
            Some(form) => Ok(form),
            None => {
                let message = format!("{what} is a sum of sizes and numbers");
                Err(Fault::new(expression.span, message).into())
            }
        }
    }

    /// That all results have been written, and their numbers.
    pub(super) fn all_returns_are_defined(&mut self, definition: &Definition) -> Checked<()> {
        for returned in &definition.returns {
            let name = returned.name();
            let number = match self.names.get(&name.text) {
                Some(Entity::Tensor(number)) if self.written[*number] => *number,
                _ => {
                    let message = format!("nothing defines the output '{}'", name.text);
                    let mend = format!("add a statement '{}(…) = …'", name.text);
                    return Err(Fault::new(name.span, message).mend(mend).into());
                }
            };
            if self.function.returns.contains(&number) {
                let message = format!("'{}' is returned twice", name.text);
                return Err(Fault::new(name.span, message).mend("name it once").into());
            }
            self.function.returns.push(number);
            let tensor = &mut self.function.tensors[number];
            if tensor.role == Role::Temporary {
                tensor.role = Role::Output;
            }
        }
        Ok(())
    }

    /// Questions about conditions, with what is known of all sizes.
    pub(super) fn questions(&self) -> Questions<'_> {
        Questions::new(&self.function, &self.times)
    }

    /// A form for messages.
    pub(super) fn shown(&self, form: &Linear, variables: &[String]) -> String {
        shown(&self.function, form, variables)
    }
}

/// The names that statements define.
fn targets(body: &[Statement], found: &mut Vec<String>) {
    for statement in body {
        match statement {
            Statement::Comprehension(comprehension) => {
                found.push(comprehension.target.text.clone())
            }
            Statement::Call(call) => {
                found.extend(call.targets.iter().map(|name| name.text.clone()))
            }
            Statement::Loop(time_loop) => targets(&time_loop.body, found),
            Statement::Declaration(_) => {}
        }
    }
}

/// A form for messages.
pub(super) fn shown(function: &Function, form: &Linear, variables: &[String]) -> String {
    form.text(Notation::Message, &mut |atom| match atom {
        Atom::Symbol(symbol) => function.symbols[*symbol].name.clone(),
        Atom::Variable(variable) => variables[*variable].clone(),
        _ => String::new(),
    })
}

/// That a name can be one of C++ and is none of the language's own functions and types.
pub(super) fn is_usable(name: &Name) -> Checked<()> {
    let text = name.text.as_str();
    let what = if builtins::of_name(text).is_some() || text == "concat" {
        "a function of the language"
    } else if Scalar::of_name(text).is_some() {
        "a type"
    } else if CXX_WORDS.contains(&text) || text.starts_with("__") || text.starts_with("tc_") {
        "reserved in the CUDA C++ that is made of this"
    } else {
        return Ok(());
    };
    let fault = Fault::new(name.span, format!("'{text}' is {what}"));
    Err(fault.mend("choose another name").into())
}

/// The place of a name that two things want.
pub(super) fn taken(span: Span, name: &str, what: &str) -> Box<Fault> {
    let fault = Fault::new(span, format!("'{name}' is {what} and cannot be an index"));
    fault.mend("choose another name").into()
}

/// Words of C++ and names that CUDA's headers have as macros.
const CXX_WORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "friend",
    "goto",
    "if",
    "inline",
    "linux",
    "main",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unix",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "stream",
    "NULL",
    "EOF",
    "blockIdx",
    "blockDim",
    "threadIdx",
    "gridDim",
    "warpSize",
    "std",
    "stdin",
    "stdout",
    "stderr",
    "errno",
    "assert",
    "signbit",
    "INFINITY",
    "NAN",
    "M_PI",
    "M_E",
    "isnan",
    "isinf",
    "isfinite",
];
