//! What a text of definitions says, as it is written.

use crate::tensor::fault::Span;
use crate::tensor::types::Scalar;

/// A name and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// `def name(parameters) -> (returns) { body }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: Name,
    /// What it is given.
    pub parameters: Vec<Declaration>,
    /// What it gives: names, with types where they are written.
    pub returns: Vec<Returned>,
    /// Its statements.
    pub body: Vec<Statement>,
}

/// `float(N, 4) A`, `int n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The type of its elements.
    pub scalar: Scalar,
    /// Its extents; `None` without parentheses: a value instead of a tensor.
    pub extents: Option<Vec<Expression>>,
    /// Its name.
    pub name: Name,
}

/// A result.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// `C`.
    Name(Name),
    /// `float(N) C`.
    Declared(Declaration),
}

impl Returned {
    /// Its name.
    pub fn name(&self) -> &Name {
        match self {
            Self::Name(name) => name,
            Self::Declared(declaration) => &declaration.name,
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `C(i) +=! A(i, k) * x(k) where …`.
    Comprehension(Comprehension),
    /// `a, b = f(x, y)`.
    Call(Call),
    /// `for t in 0:T { … }`.
    Loop(Loop),
    /// `float(N) t`: the type and extents of a temporary, which statements fill in parts.
    Declaration(Declaration),
}

/// What a statement does with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `=`.
    Assign,
    /// `+=` and the like; with `!` the tensor is first set to the neutral element.
    Reduce(Reduction, bool),
}

/// An associative operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// `+=`.
    Sum,
    /// `*=`.
    Product,
    /// `min=`.
    Minimum,
    /// `max=`.
    Maximum,
}

impl Reduction {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Sum => "+=",
            Self::Product => "*=",
            Self::Minimum => "min=",
            Self::Maximum => "max=",
        }
    }
}

/// One tensor defined or changed, element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The tensor on the left.
    pub target: Name,
    /// Its subscripts, none for a scalar.
    pub subscripts: Vec<Expression>,
    /// What happens with the value.
    pub operator: Operator,
    /// Where the operator stands.
    pub operator_span: Span,
    /// The value.
    pub value: Expression,
    /// `where …`.
    pub clauses: Vec<Clause>,
    /// All of it.
    pub span: Span,
}

/// One part of `where`.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// `i in low:high`.
    Range(Name, Expression, Expression),
    /// `exists T(i)`: indices are as if this were read.
    Exists(Expression),
    /// `x = value`, also `let x = value`.
    Let(Name, Expression),
}

/// Results of another definition, or of `concat`.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The names that they get.
    pub targets: Vec<Name>,
    /// What is called.
    pub function: Name,
    /// With what.
    pub arguments: Vec<Expression>,
    /// All of it.
    pub span: Span,
}

/// Statements that are carried out for each value of an index, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The index.
    pub variable: Name,
    /// Its first value.
    pub low: Expression,
    /// Behind its last value.
    pub high: Expression,
    /// The statements.
    pub body: Vec<Statement>,
    /// The line that begins it.
    pub span: Span,
}

/// A value, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// Kinds of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer(u64),
    /// A number with a fraction, and the type that its ending gives it.
    Real(f64, Option<Scalar>),
    /// `true`, `false`.
    Truth(bool),
    /// An index, a size, a value, or a tensor without subscripts.
    Name(String),
    /// `T.1`.
    Extent(Name, usize),
    /// A read of a tensor, or a function of values.
    Apply(Name, Vec<Expression>),
    /// `float(x)`.
    Cast(Scalar, Box<Expression>),
    /// `-x`, `!x`.
    Unary(Unary, Box<Expression>),
    /// `x + y`.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// `c ? x : y`.
    Select(Box<Expression>, Box<Expression>, Box<Expression>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`.
    Negate,
    /// `!`.
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `%`.
    Remainder,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

impl Binary {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "&&",
            Self::Or => "||",
        }
    }

    /// Whether the result is a truth value.
    pub fn is_truth(self) -> bool {
        !matches!(
            self,
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Remainder
        )
    }

    /// How tightly it binds; all associate to the left.
    pub fn strength(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Equal | Self::NotEqual => 3,
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide | Self::Remainder => 6,
        }
    }
}
