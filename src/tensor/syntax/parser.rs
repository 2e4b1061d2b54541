//! Tokens to trees: one function a rule of the grammar.

use super::lexer::{Token, tokens};
use super::tree::{
    Binary, Call, Clause, Comprehension, Declaration, Definition, Expression, Kind, Loop, Name,
    Operator, Reduction, Returned, Statement, Unary,
};
use crate::tensor::fault::{Fault, Span};
use crate::tensor::types::Scalar;

/// How deeply values and loops may be nested: what walks over them can take on a small stack.
const DEEPEST: usize = 64;

/// How many operators may follow each other without brackets; the tree is as deep.
const LONGEST: usize = 200;

/// Reads the definitions of a file.
///
/// # Errors
/// The first fault of each definition that is not well formed.
pub fn parse(text: &str) -> Result<Vec<Definition>, Vec<Fault>> {
    let tokens = tokens(text).map_err(|fault| vec![fault])?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let (mut definitions, mut faults) = (Vec::new(), Vec::new());
    while !parser.is(Token::End) {
        match parser.definition() {
            Ok(definition) => definitions.push(definition),
            Err(fault) => {
                faults.push(fault);
                parser.skip_to_definition();
            }
        }
    }
    if definitions.is_empty() && faults.is_empty() {
        let fault = Fault::new(parser.span(), "the file defines nothing");
        faults.push(fault.mend("write 'def name(float(N) A) -> (B) { B(i) = A(i) }'"));
    }
    match faults.is_empty() {
        true => Ok(definitions),
        false => Err(faults),
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [(Token, Span)],
    at: usize,
    depth: usize,
}

type Parsed<T> = Result<T, Fault>;

impl Parser<'_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn ahead(&self, count: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + count).min(last)].0
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// The place of the token that was taken last.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn word(&self) -> &str {
        let span = self.span();
        &self.text[span.start..span.end]
    }

    fn is(&self, token: Token) -> bool {
        self.peek() == token
    }

    fn advance(&mut self) {
        if !self.is(Token::End) {
            self.at += 1;
        }
    }

    fn take(&mut self, token: Token) -> bool {
        let found = self.is(token);
        if found {
            self.advance();
        }
        found
    }

    /// What stands here, as a message names it.
    fn found(&self) -> String {
        match self.peek() {
            Token::End => "the end of the file".to_owned(),
            _ => format!("'{}'", self.word()),
        }
    }

    /// That something else should stand here.
    fn expected(&self, what: &str) -> Fault {
        Fault::new(
            self.span(),
            format!("{what} is expected here, not {}", self.found()),
        )
    }

    fn expect(&mut self, token: Token, what: &str, mend: &str) -> Parsed<Span> {
        let span = self.span();
        if self.take(token) {
            return Ok(span);
        }
        Err(self.expected(what).mend(mend))
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let (text, span) = (self.word().to_owned(), self.span());
        if self.take(Token::Name) {
            return Ok(Name { text, span });
        }
        let fault = self.expected(what);
        let is_word = matches!(
            self.peek(),
            Token::Def | Token::Where | Token::In | Token::Exists | Token::Let | Token::For
        );
        Err(match is_word {
            true => fault.mend(format!(
                "'{text}' is a word of the language; choose another name"
            )),
            false => fault,
        })
    }

    /// To the next definition, or the end.
    fn skip_to_definition(&mut self) {
        while !matches!(self.peek(), Token::Def | Token::End) {
            self.advance();
        }
    }

    fn definition(&mut self) -> Parsed<Definition> {
        // The one before may have ended in the middle of a value.
        self.depth = 0;
        let fault = self.expected("'def'");
        if !self.take(Token::Def) {
            self.advance();
            return Err(fault.mend("a file is a list of 'def name(inputs) -> (outputs) { … }'"));
        }
        let name = self.name("the name of the definition")?;
        self.expect(
            Token::Open,
            "'('",
            "list the inputs in '(…)', also where there are none",
        )?;
        let parameters = self.list(Token::Close, Self::parameter)?;
        self.expect(
            Token::Arrow,
            "'->'",
            "name the outputs: 'def f(inputs) -> (outputs) { … }'",
        )?;
        self.expect(Token::Open, "'('", "list the outputs in '(…)'")?;
        let returns = self.list(Token::Close, Self::returned)?;
        if returns.is_empty() {
            let fault = Fault::new(self.last(), format!("'{}' has no output", name.text));
            return Err(fault.mend("name what it computes: '-> (O)'"));
        }
        if self.is(Token::Colon) || self.is(Token::Equals) {
            let fault = self.expected("'{'");
            return Err(fault.mend("the statements stand in '{ … }'"));
        }
        let body = self.block()?;
        Ok(Definition {
            name,
            parameters,
            returns,
            body,
        })
    }

    fn block(&mut self) -> Parsed<Vec<Statement>> {
        let open = self.expect(Token::OpenBrace, "'{'", "the statements stand in '{ … }'")?;
        let mut body = Vec::new();
        while !self.take(Token::CloseBrace) {
            if self.take(Token::Semicolon) {
                continue;
            }
            if matches!(self.peek(), Token::End | Token::Def) {
                let fault = self.expected("'}'");
                return Err(fault.note(open, "it closes this '{'"));
            }
            body.push(self.statement()?);
        }
        Ok(body)
    }

    /// Elements between commas up to a closing token.
    fn list<T>(&mut self, close: Token, element: fn(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let open = self.last();
        let mut elements = Vec::new();
        if self.take(close) {
            return Ok(elements);
        }
        loop {
            elements.push(element(self)?);
            if self.take(close) {
                return Ok(elements);
            }
            if !self.take(Token::Comma) {
                return Err(self
                    .expected("',' or ')'")
                    .note(open, "the list begins here"));
            }
        }
    }

    fn parameter(&mut self) -> Parsed<Declaration> {
        let span = self.span();
        let word = self.word().to_owned();
        let Some(scalar) = Scalar::of_name(&word) else {
            let fault = match self.is(Token::Name) {
                true => Fault::new(span, format!("'{word}' is not a type")),
                false => self.expected("a type"),
            };
            return Err(fault.mend(instead_of_type(&word)));
        };
        self.declaration(scalar)
    }

    /// `float(N) A`, where the type is the next token.
    fn declaration(&mut self, scalar: Scalar) -> Parsed<Declaration> {
        self.advance();
        let extents = match self.take(Token::Open) {
            true => Some(self.list(Token::Close, Self::expression)?),
            false => None,
        };
        if self.is(Token::OpenBracket) {
            return Err(brackets(self.span()));
        }
        if self.is(Token::Times) {
            let fault = self.expected("a name");
            return Err(fault.mend(format!(
                "a tensor is declared by type and extents: '{scalar}(N) A'"
            )));
        }
        let name = self.name("a name")?;
        if self.is(Token::OpenBracket) {
            return Err(brackets(self.span()));
        }
        if self.is(Token::Open) {
            let fault = self.expected("',' or ')'");
            return Err(fault.mend(format!(
                "extents stand behind the type: '{scalar}(…) {}'",
                name.text
            )));
        }
        Ok(Declaration {
            scalar,
            extents,
            name,
        })
    }

    fn returned(&mut self) -> Parsed<Returned> {
        match Scalar::of_name(self.word()) {
            Some(scalar) => Ok(Returned::Declared(self.declaration(scalar)?)),
            None => Ok(Returned::Name(self.name("the name of an output")?)),
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        if self.take(Token::For) {
            return self.time_loop(start).map(Statement::Loop);
        }
        if let Some(scalar) = Scalar::of_name(self.word()) {
            return self.declaration(scalar).map(Statement::Declaration);
        }
        let target = self.name("a statement")?;
        if self.is(Token::OpenBracket) {
            return Err(brackets(self.span()));
        }
        if self.is(Token::Comma) {
            return self.call(target).map(Statement::Call);
        }
        let is_call = self.is(Token::Equals) && self.calls_something();
        if is_call {
            return self.call(target).map(Statement::Call);
        }
        let subscripts = match self.take(Token::Open) {
            true => self.list(Token::Close, Self::expression)?,
            false => Vec::new(),
        };
        let operator_span = self.span();
        let operator = self.operator().map_err(|fault| {
            let is_known = fault.mend.is_some();
            let mend = instead_of_statement(&target.text);
            if is_known { fault } else { fault.mend(mend) }
        })?;
        let value = self.expression()?;
        let clauses = match self.take(Token::Where) {
            true => self.clauses()?,
            false => Vec::new(),
        };
        self.end_of_statement()?;
        Ok(Statement::Comprehension(Comprehension {
            target,
            subscripts,
            operator,
            operator_span,
            value,
            clauses,
            span: start.to(self.last()),
        }))
    }

    /// Whether `= f(A, B)` follows, with nothing but names and numbers, and nothing behind it that would go on. What `f`
    /// is decides later: of a tensor or a function of values it is a comprehension without subscripts.
    fn calls_something(&self) -> bool {
        if self.ahead(1) != Token::Name || self.ahead(2) != Token::Open {
            return false;
        }
        let name = self.tokens[self.at + 1].1;
        let name = &self.text[name.start..name.end];
        if Scalar::of_name(name).is_some() || crate::tensor::builtins::of_name(name).is_some() {
            return false;
        }
        let mut count = 3;
        while matches!(
            self.ahead(count),
            Token::Name | Token::Integer | Token::Comma
        ) {
            count += 1;
        }
        let is_closed = self.ahead(count) == Token::Close;
        let goes_on = self.ahead(count + 1);
        let next_statement = matches!(
            goes_on,
            Token::Name | Token::CloseBrace | Token::Semicolon | Token::For | Token::End
        );
        is_closed && next_statement
    }

    fn call(&mut self, first: Name) -> Parsed<Call> {
        let start = first.span;
        let mut targets = vec![first];
        while self.take(Token::Comma) {
            targets.push(self.name("the name of a result")?);
        }
        self.expect(
            Token::Equals,
            "'='",
            "several results are those of a definition: 'a, b = f(x)'",
        )?;
        let function = self.name("the name of a definition")?;
        self.expect(Token::Open, "'('", "give the arguments in '(…)'")?;
        let arguments = self.list(Token::Close, Self::expression)?;
        self.end_of_statement()?;
        Ok(Call {
            targets,
            function,
            arguments,
            span: start.to(self.last()),
        })
    }

    fn end_of_statement(&self) -> Parsed<()> {
        match self.peek() {
            Token::Name
            | Token::CloseBrace
            | Token::Semicolon
            | Token::For
            | Token::End
            | Token::Def => Ok(()),
            Token::OpenBracket => Err(brackets(self.span())),
            Token::ForeignOperator => Err(self.foreign_operator()),
            Token::Comma => {
                let fault = self.expected("the end of the statement");
                Err(fault.mend("ranges stand behind 'where': 'where i in 0:N, j in 0:M'"))
            }
            Token::In => {
                let fault = self.expected("the end of the statement");
                Err(fault.mend("write 'where' before the ranges of indices"))
            }
            Token::Close => Err(self
                .expected("the end of the statement")
                .mend("it closes no '('")),
            _ => Err(self.expected("the end of the statement")),
        }
    }

    fn foreign_operator(&self) -> Fault {
        let word = self.word();
        let fault = Fault::new(self.span(), format!("there is no operator '{word}'"));
        match word {
            "-=" => fault.mend("write '+=' and negate the value"),
            "/=" => fault.mend("write '*=' with '1.0 / …'"),
            "=+" => fault.mend("write '+='"),
            "=*" => fault.mend("write '*='"),
            "=-" => fault.mend("write '= -'"),
            "=!" => fault.mend("write '=': only reductions have '!', such as '+=!'"),
            "--" => fault.mend("put a blank or brackets between the signs: '-(-x)'"),
            "++" => fault.mend("write 'x + 1'"),
            _ => fault.mend("statements have '=', '+=', '*=', 'min=' and 'max=', and the last four with '!', such as '+=!', which begin anew"),
        }
    }

    fn operator(&mut self) -> Parsed<Operator> {
        let operator = match self.peek() {
            Token::Equals => Operator::Assign,
            Token::PlusEquals => Operator::Reduce(Reduction::Sum, false),
            Token::PlusEqualsNew => Operator::Reduce(Reduction::Sum, true),
            Token::TimesEquals => Operator::Reduce(Reduction::Product, false),
            Token::TimesEqualsNew => Operator::Reduce(Reduction::Product, true),
            Token::MinEquals => Operator::Reduce(Reduction::Minimum, false),
            Token::MinEqualsNew => Operator::Reduce(Reduction::Minimum, true),
            Token::MaxEquals => Operator::Reduce(Reduction::Maximum, false),
            Token::MaxEqualsNew => Operator::Reduce(Reduction::Maximum, true),
            Token::ForeignOperator => return Err(self.foreign_operator()),
            Token::Equal => {
                let fault = Fault::new(self.span(), "'==' compares, it defines nothing");
                return Err(fault.mend("write '='"));
            }
            Token::In => {
                let fault = self.expected("'=', '+=', '*=', 'min=' or 'max='");
                return Err(fault.mend("write 'where' before the ranges of indices"));
            }
            _ => return Err(self.expected("'=', '+=', '*=', 'min=' or 'max='")),
        };
        self.advance();
        Ok(operator)
    }

    fn clauses(&mut self) -> Parsed<Vec<Clause>> {
        let mut clauses = Vec::new();
        loop {
            clauses.push(self.clause()?);
            if !self.take(Token::Comma) {
                return Ok(clauses);
            }
        }
    }

    fn clause(&mut self) -> Parsed<Clause> {
        if self.take(Token::Exists) {
            return Ok(Clause::Exists(self.expression()?));
        }
        let is_let = self.take(Token::Let);
        let clauses = "behind 'where' stand 'i in low:high', 'x = value' and 'exists T(i)'";
        let name = self.name("an index or a name");
        let name = name.map_err(|fault| match fault.mend {
            Some(_) => fault,
            None => fault.mend(clauses),
        })?;
        if self.take(Token::Equals) {
            return Ok(Clause::Let(name, self.expression()?));
        }
        if is_let {
            return Err(self
                .expected("'='")
                .mend(format!("write 'let {} = …'", name.text)));
        }
        if !self.take(Token::In) {
            let fault = self.expected("'in' or '='");
            return Err(fault.mend(format!(
                "write '{0} in low:high', '{0} = value' or 'exists T({0})'",
                name.text
            )));
        }
        let (low, high) = self.bounds()?;
        Ok(Clause::Range(name, low, high))
    }

    fn bounds(&mut self) -> Parsed<(Expression, Expression)> {
        let low = self.expression()?;
        self.expect(
            Token::Colon,
            "':'",
            "write a range as 'low:high', as in '0:N', which ends before 'high'",
        )?;
        Ok((low, self.expression()?))
    }

    fn time_loop(&mut self, start: Span) -> Parsed<Loop> {
        if self.is(Token::Open) {
            let fault = self.expected("the index of the loop");
            return Err(fault.mend("'B(i) = A(i)' is for all 'i', without a loop; steps that need those before them are 'for t in 0:T { … }'"));
        }
        let variable = self.name("the index of the loop")?;
        self.expect(Token::In, "'in'", "write 'for t in 0:T { … }'")?;
        let (low, high) = self.bounds()?;
        let span = start.to(self.last());
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(span, "loops are nested too deeply"));
        }
        let body = self.block()?;
        self.depth -= 1;
        Ok(Loop {
            variable,
            low,
            high,
            body,
            span,
        })
    }

    fn expression(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let fault = Fault::new(self.span(), "the value is nested too deeply");
            return Err(fault.mend("give parts of it names with 'where x = …'"));
        }
        let condition = self.binary(1)?;
        let chosen = match self.take(Token::Question) {
            false => condition,
            true => {
                let then = self.expression()?;
                self.expect(Token::Colon, "':'", "write 'condition ? value : value'")?;
                let other = self.expression()?;
                let span = condition.span.to(other.span);
                let parts = (Box::new(condition), Box::new(then), Box::new(other));
                Expression {
                    span,
                    kind: Kind::Select(parts.0, parts.1, parts.2),
                }
            }
        };
        self.depth -= 1;
        Ok(chosen)
    }

    fn binary_operator(&self) -> Option<Binary> {
        Some(match self.peek() {
            Token::Plus => Binary::Add,
            Token::Minus => Binary::Subtract,
            Token::Times => Binary::Multiply,
            Token::Divide => Binary::Divide,
            Token::Percent => Binary::Remainder,
            Token::Less => Binary::Less,
            Token::LessEqual => Binary::LessEqual,
            Token::Greater => Binary::Greater,
            Token::GreaterEqual => Binary::GreaterEqual,
            Token::Equal => Binary::Equal,
            Token::NotEqual => Binary::NotEqual,
            Token::And => Binary::And,
            Token::Or => Binary::Or,
            _ => return None,
        })
    }

    fn binary(&mut self, weakest: u8) -> Parsed<Expression> {
        let mut left = self.unary()?;
        let mut length = 0;
        while let Some(operator) = self.binary_operator() {
            if operator.strength() < weakest {
                break;
            }
            length += 1;
            if length > LONGEST {
                let fault = Fault::new(self.span(), "the value is too long");
                return Err(fault.mend("give parts of it names with 'where x = …'"));
            }
            self.advance();
            let right = self.binary(operator.strength() + 1)?;
            left = Expression {
                span: left.span.to(right.span),
                kind: Kind::Binary(operator, Box::new(left), Box::new(right)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expression> {
        let start = self.span();
        let operator = match self.peek() {
            Token::Minus => Unary::Negate,
            Token::Not => Unary::Not,
            Token::Plus => {
                self.advance();
                return self.unary();
            }
            _ => return self.primary(),
        };
        self.advance();
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::new(start, "the value is nested too deeply"));
        }
        let operand = self.unary()?;
        self.depth -= 1;
        Ok(Expression {
            span: start.to(operand.span),
            kind: Kind::Unary(operator, Box::new(operand)),
        })
    }

    fn primary(&mut self) -> Parsed<Expression> {
        let span = self.span();
        let word = self.word().to_owned();
        let kind = match self.peek() {
            Token::Integer => {
                self.advance();
                let number = word
                    .parse()
                    .ok()
                    .filter(|number| *number <= i64::MAX as u64);
                let fault = || {
                    let fault = Fault::new(span, "the number is too large for 64 bits");
                    fault.mend("write a real number, as in '1e20'")
                };
                Kind::Integer(number.ok_or_else(fault)?)
            }
            Token::Real => {
                self.advance();
                real(&word, span)?
            }
            Token::Open => {
                self.advance();
                let inner = self.expression()?;
                let fault = self.expected("')'").note(span, "it closes this '('");
                if !self.take(Token::Close) {
                    return Err(fault);
                }
                return Ok(Expression {
                    span: span.to(self.last()),
                    kind: inner.kind,
                });
            }
            Token::Name => return self.named(&word, span),
            Token::OpenBracket => return Err(brackets(span)),
            Token::ForeignOperator => return Err(self.foreign_operator()),
            Token::Colon => {
                let fault = self.expected("a value");
                return Err(fault.mend(
                    "an index stands for all values of a dimension: write a name, such as 'j'",
                ));
            }
            Token::Times if self.at > 0 && self.tokens[self.at - 1].0 == Token::Times => {
                return Err(self
                    .expected("a value")
                    .mend("write 'pow(x, y)' for a power"));
            }
            _ => return Err(self.expected("a value")),
        };
        Ok(Expression { span, kind })
    }

    /// A value that begins with a name.
    fn named(&mut self, word: &str, span: Span) -> Parsed<Expression> {
        self.advance();
        let name = Name {
            text: word.to_owned(),
            span,
        };
        let kind = match self.peek() {
            Token::Open => {
                self.advance();
                let arguments = self.list(Token::Close, Self::expression)?;
                match Scalar::of_name(word) {
                    None => Kind::Apply(name, arguments),
                    Some(scalar) => {
                        let count = arguments.len();
                        let mut arguments = arguments.into_iter();
                        let (Some(only), None) = (arguments.next(), arguments.next()) else {
                            let whole = span.to(self.last());
                            let message =
                                format!("a conversion to '{word}' takes one value, not {count}");
                            return Err(Fault::new(whole, message));
                        };
                        Kind::Cast(scalar, Box::new(only))
                    }
                }
            }
            Token::OpenBracket => return Err(brackets(self.span())),
            // `T.1` is a name and a number that begins with a point.
            Token::Real if self.span().start == span.end && self.word().starts_with('.') => {
                let digits = self.word()[1..].to_owned();
                let fault = || Fault::new(self.span(), "a dimension is a number such as '.0'");
                let dimension = digits.parse().map_err(|_| fault())?;
                self.advance();
                Kind::Extent(name, dimension)
            }
            _ if word == "true" || word == "false" => Kind::Truth(word == "true"),
            _ => Kind::Name(name.text),
        };
        Ok(Expression {
            span: span.to(self.last()),
            kind,
        })
    }
}

fn real(word: &str, span: Span) -> Parsed<Kind> {
    let (digits, scalar) = match word.as_bytes().last() {
        Some(b'f' | b'F') => (&word[..word.len() - 1], Some(Scalar::Float)),
        Some(b'h' | b'H') => (&word[..word.len() - 1], Some(Scalar::Half)),
        _ => (word, None),
    };
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Kind::Real(value, scalar)),
        _ => Err(Fault::new(span, "the number is too large for a double")),
    }
}

fn brackets(span: Span) -> Fault {
    Fault::new(span, "subscripts stand in '(…)', not in '[…]'")
        .mend("write them as in 'A(i, j)', and extents behind the type, as in 'float(N, M) A'")
}

/// What is written for a statement that other languages have.
fn instead_of_statement(word: &str) -> &'static str {
    match word {
        "if" | "else" | "while" | "switch" => {
            "values are chosen by 'B(i) = condition ? value : other'"
        }
        "return" => "what stands behind '->' is returned, without a statement",
        _ => {
            "a statement is 'B(i) = value' or a reduction such as 'B(i) +=! value', for one tensor"
        }
    }
}

fn instead_of_type(word: &str) -> String {
    let close = Scalar::names()
        .map(|name| (strsim::damerau_levenshtein(name, word), name))
        .min();
    match close {
        Some((distance, name)) if distance <= 2 && !word.is_empty() => {
            format!("did you mean '{name}'?")
        }
        _ => "write a type before each input: 'float(N, M) A', 'int n'".to_owned(),
    }
}
