//! Text to tokens.

use crate::tensor::fault::{Fault, Span};
use logos::Logos;

/// A token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f]+")]
#[logos(skip(r"(#|//)[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*[^/])*\*/")]
pub(super) enum Token {
    #[token("def")]
    Def,
    #[token("where")]
    Where,
    #[token("in")]
    In,
    #[token("exists")]
    Exists,
    #[token("let")]
    Let,
    #[token("for")]
    For,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex(r"[0-9]+")]
    Integer,
    #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFhH]?")]
    #[regex(r"[0-9]+[eE][+-]?[0-9]+[fFhH]?")]
    #[regex(r"[0-9]+[fF]")]
    Real,
    #[token("->")]
    Arrow,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("?")]
    Question,
    #[token("=")]
    Equals,
    #[token("+=")]
    PlusEquals,
    #[token("+=!")]
    PlusEqualsNew,
    #[token("*=")]
    TimesEquals,
    #[token("*=!")]
    TimesEqualsNew,
    #[token("min=")]
    MinEquals,
    #[token("min=!")]
    MinEqualsNew,
    #[token("max=")]
    MaxEquals,
    #[token("max=!")]
    MaxEqualsNew,
    /// What C has and this language has not.
    #[regex(r"-=|/=|%=|&=|\|=|\^=|<<=|>>=|=\+|=-|=!|=\*|\+\+|--|<=>")]
    ForeignOperator,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Times,
    #[token("/")]
    Divide,
    #[token("%")]
    Percent,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("&&")]
    And,
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    /// The beginning of a comment that has no end.
    #[token("/*")]
    EndlessComment,
    /// The end of the text.
    End,
}

/// The tokens of a text with their places; the last one is [`Token::End`].
///
/// # Errors
/// A character that no token begins with.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    let mut tokens = Vec::new();
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span {
            start: range.start,
            end: range.end,
        };
        let Ok(token) = token else {
            return Err(foreign(text, span));
        };
        if token == Token::EndlessComment {
            let fault = Fault::new(span, "this comment has no end");
            return Err(fault.mend("close it with '*/'"));
        }
        tokens.push((token, span));
    }
    let end = Span {
        start: text.trim_end().len(),
        end: text.trim_end().len(),
    };
    tokens.push((Token::End, end));
    Ok(tokens)
}

fn foreign(text: &str, span: Span) -> Fault {
    let rest = &text[span.start..];
    let character = rest.chars().next().unwrap_or(' ');
    let span = Span {
        start: span.start,
        end: span.start + character.len_utf8(),
    };
    let fault = Fault::new(span, format!("'{character}' has no meaning here"));
    match character {
        '&' => fault.mend("write '&&' for \"and\""),
        '|' => fault.mend("write '||' for \"or\""),
        '^' => fault.mend("write 'pow(x, y)' for a power"),
        '.' => fault.mend("a tensor's extents are 'A.0', 'A.1', …; nothing else has a '.'"),
        '"' | '\'' => fault.mend("values are numbers and elements of tensors"),
        '@' => fault.mend("write a product as 'C(i, j) +=! A(i, k) * B(k, j)'"),
        _ => fault,
    }
}
