//! The text of a source as code: what stands in no comment, literal or directive, and what is around a place of it.

use super::places::word;
use std::ops::Range;

/// A function by its text.
pub(super) struct Function<'a> {
    /// From the end of what stands before it to its body.
    pub(super) header: &'a str,
    /// From its opening brace to the closing one.
    pub(super) body: Range<usize>,
    /// Whether all braces between it and the place are those of plain statements.
    pub(super) only_statements: bool,
}

/// The function whose body is around a place; `code` is what [`code_alone`] gives.
pub(super) fn function_around(code: &str, at: usize) -> Option<Function<'_>> {
    // Where a brace opens, and where what stands before it begins.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut begin, mut parentheses) = (0, 0_usize);
    let mut around: Vec<(usize, usize)> = Vec::new();
    for (index, byte) in code.bytes().enumerate() {
        if index == at {
            around.clone_from(&open);
        }
        match byte {
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            b'{' => {
                open.push((index, begin));
                begin = index + 1;
            }
            b'}' => {
                let closed = open.pop()?;
                begin = index + 1;
                let header = |(brace, begin): (usize, usize)| code[begin..brace].trim();
                let function = around.iter().position(|brace| is_function(header(*brace)));
                let Some(function) = function else { continue };
                if around[function] == closed {
                    let inner = &around[function + 1..];
                    return Some(Function {
                        header: header(closed),
                        body: closed.0..index,
                        only_statements: inner.iter().all(|brace| is_statement(header(*brace))),
                    });
                }
            }
            b';' if parentheses == 0 => begin = index + 1,
            _ => {}
        }
    }
    None
}

/// Whether what stands before a brace is a function's declaration, given that it is in none.
fn is_function(header: &str) -> bool {
    let end = ["const", "noexcept"]
        .iter()
        .find_map(|word| header.strip_suffix(word));
    end.unwrap_or(header).trim_end().ends_with(')')
}

/// Whether what stands before a brace in a function is a statement's beginning, and no lambda's or class's.
fn is_statement(header: &str) -> bool {
    let known = ["", "if", "else", "for", "while", "do", "switch"];
    let lambdas = ["[]", "[=", "[&", "[this"];
    known.contains(&word(header)) && !lambdas.iter().any(|capture| header.contains(capture))
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
}

/// The text with blanks for comments, literals and directives, byte by byte.
pub(super) fn code_alone(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut blank = |range: Range<usize>| {
        for byte in &mut code[range] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    };
    let (mut index, mut line_begins) = (0, true);
    while index < bytes.len() {
        let rest = &text.as_bytes()[index..];
        let length = match rest[0] {
            b'#' if line_begins => directive(rest),
            b'/' if rest.starts_with(b"//") => rest
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            quote @ (b'"' | b'\'') if !follows_digit(bytes, index) => literal(rest, quote),
            _ => 0,
        };
        blank(index..index + length);
        line_begins = match rest[0] {
            b'\n' => true,
            byte => line_begins && byte.is_ascii_whitespace(),
        };
        index += length.max(1);
    }
    String::from_utf8_lossy(&code).into_owned()
}

/// The length of a directive, with the lines that go on with it.
fn directive(rest: &[u8]) -> usize {
    let mut ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let end = ends.find(|(index, _)| !rest[..*index].ends_with(b"\\"));
    end.map_or(rest.len(), |(index, _)| index)
}

/// The length of a literal, which ends on its line.
fn literal(rest: &[u8], quote: u8) -> usize {
    let mut index = 1;
    while index < rest.len() && rest[index] != b'\n' {
        match rest[index] {
            b'\\' => index += 1,
            byte if byte == quote => return index + 1,
            _ => {}
        }
        index += 1;
    }
    index.min(rest.len())
}

/// Whether a quote separates digits of a number.
fn follows_digit(bytes: &[u8], index: usize) -> bool {
    bytes[index] == b'\'' && index > 0 && bytes[index - 1].is_ascii_hexdigit()
}

/// The place of the bracket that closes the one at a place.
pub(super) fn closing(code: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

/// The place of the bracket, one of `pair`, that opens what ends before a place.
fn opening(code: &str, end: usize, pair: [u8; 2]) -> Option<usize> {
    let mut depth = 0_usize;
    for index in (0..end).rev() {
        match code.as_bytes()[index] {
            byte if byte == pair[1] => depth += 1,
            byte if byte == pair[0] => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            b';' | b'{' | b'}' => return None,
            _ => {}
        }
    }
    None
}

/// Where the identifier begins that ends at a place; the place itself where there is none.
fn word_before(code: &str, end: usize) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let bytes = code.as_bytes()[..end].iter().rev();
    end - bytes.take_while(|byte| is_part(byte)).count()
}

/// Words behind which an expression begins.
const BEFORE_EXPRESSIONS: [&str; 13] = [
    "return", "if", "while", "for", "switch", "sizeof", "throw", "else", "do", "case", "and", "or",
    "not",
];

/// Where the object begins that ends at a place, before which `.`, `->` or an operator stands: a name, a call, an element, a member, or
/// something in parentheses.
pub(super) fn object_before(code: &str, end: usize) -> Option<usize> {
    let mut at = code[..end].trim_end().len();
    loop {
        let last = *code.as_bytes().get(at.checked_sub(1)?)?;
        if let b')' | b']' = last {
            let pair = if last == b')' {
                [b'(', b')']
            } else {
                [b'[', b']']
            };
            let open = opening(code, at, pair)?;
            at = code[..open].trim_end().len();
            let before = &code[word_before(code, at)..at];
            let is_call = code[..at].ends_with([')', ']']) || !before.is_empty();
            if code[..at].ends_with('>') && !code[..at].ends_with("->") {
                at = code[..opening(code, at, [b'<', b'>'])?].trim_end().len();
            } else if !is_call || BEFORE_EXPRESSIONS.contains(&before) {
                return Some(open);
            }
            continue;
        }
        let begin = word_before(code, at);
        let name = &code[begin..at];
        if name.is_empty()
            || BEFORE_EXPRESSIONS.contains(&name)
            || name.starts_with(|first: char| first.is_ascii_digit())
        {
            return None;
        }
        let before = code[..begin].trim_end();
        if let Some(scope) = before.strip_suffix("::") {
            at = scope.trim_end().len();
            if scope.trim_end().ends_with('>') {
                at = code[..opening(code, at, [b'<', b'>'])?].trim_end().len();
            }
            let is_global = word_before(code, at) == at;
            if is_global {
                return Some(before.len() - 2);
            }
            continue;
        }
        let object = before.strip_suffix("->").or(before.strip_suffix('.'));
        match object {
            Some(object) => at = object.trim_end().len(),
            None => return Some(begin),
        }
    }
}

/// Where the declaration begins in which a place is that stands in no braces of it.
pub(super) fn declaration_begin(code: &str, at: usize) -> usize {
    let before = code[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
    before + (code[before..].len() - code[before..].trim_start().len())
}

/// What stands before the innermost brace around a place; nothing at file scope.
pub(super) fn scope_header(code: &str, at: usize) -> Option<&str> {
    let mut depth = 0_usize;
    for index in (0..at).rev() {
        match code.as_bytes()[index] {
            b'}' => depth += 1,
            b'{' if depth == 0 => {
                let header = code[..index].trim_end();
                return Some(&header[declaration_begin(code, header.len()).min(header.len())..]);
            }
            b'{' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Pieces between commas that stand in no brackets.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_comma = |character: char| {
        match character {
            '[' | '(' | '<' | '{' => depth += 1,
            ']' | ')' | '>' | '}' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(is_comma).collect()
}

#[cfg(test)]
mod tests {
    use super::{object_before, scope_header};

    #[test]
    fn objects_of_members() {
        for (text, object) in [
            ("return p", "p"),
            ("x = a.b->c[i](j)", "a.b->c[i](j)"),
            ("x + (*p)", "(*p)"),
            ("return (*p)", "(*p)"),
            ("= n::f<A<B>>(x) ", "n::f<A<B>>(x) "),
            ("-static_cast<A *>(p)", "static_cast<A *>(p)"),
            ("= S<T>::all", "S<T>::all"),
            ("{ this", "this"),
            ("! ::p", "::p"),
        ] {
            let begin = object_before(text, text.len());
            assert_eq!(begin.map(|begin| &text[begin..]), Some(object), "{text}");
        }
        for text in ["return", "3", "A{}", "x +", ""] {
            assert_eq!(object_before(text, text.len()), None, "{text}");
        }
    }

    #[test]
    fn scopes_by_what_stands_before_them() {
        let code = "int x; template <class T> struct A : B { int f() { } int g(";
        let scope = scope_header(code, code.len());
        assert_eq!(scope, Some("template <class T> struct A : B"));
        assert_eq!(scope_header("int f() { } int g(", 18), None);
    }
}
