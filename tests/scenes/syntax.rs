//! Tokens of a scene's text, and the cursor that reads them.

use logos::Logos;
use sirius_rs::diagnostics::Location;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"([ \t\r\n]|//[^\n]*)+")]
enum Kind {
    #[regex(r"[A-Za-z_][A-Za-z0-9_.]*")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[regex(r#""[^"\n]*""#)]
    Text,
    #[regex(r"<<<|>>>|->|<=|>=|==|&&|[|]{2}|[-+*/%<>=(){}\[\],;:|?]")]
    Symbol,
}

/// What is still to be read, and the line that it begins in.
pub struct Tokens<'a> {
    tokens: Vec<(Kind, &'a str, usize)>,
    next: usize,
}

/// What is wrong with a text, and the line where.
pub type Syntax<T> = Result<T, String>;

impl<'a> Tokens<'a> {
    pub fn of(text: &'a str) -> Syntax<Self> {
        let mut tokens = Vec::new();
        for (kind, span) in Kind::lexer(text).spanned() {
            let line = text[..span.start].matches('\n').count() + 1;
            let slice = &text[span];
            let kind = kind.map_err(|()| format!("line {line}: {slice:?} has no meaning here"))?;
            tokens.push((kind, slice, line));
        }
        Ok(Self { tokens, next: 0 })
    }

    pub fn is_at_end(&self) -> bool {
        self.next == self.tokens.len()
    }

    /// The line of the next token, or the last one.
    pub fn line(&self) -> usize {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(1, |(_, _, line)| *line)
    }

    /// Where the next token stands, as messages of the compiler say it.
    pub fn location(&self) -> Location {
        Location {
            file: "scene".to_owned(),
            line: self.line() as u32,
            column: 1,
        }
    }

    pub fn fail<T>(&self, what: &str) -> Syntax<T> {
        let found = self.peek().unwrap_or("the end");
        Err(format!("line {}: {what}, at '{found}'", self.line()))
    }

    pub fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.next).map(|(_, text, _)| *text)
    }

    /// Whether a token is the next one but so many.
    pub fn is_ahead(&self, distance: usize, text: &str) -> bool {
        let token = self.tokens.get(self.next + distance);
        token.is_some_and(|(_, found, _)| *found == text)
    }

    /// Reads a token if it is this one.
    pub fn take(&mut self, text: &str) -> bool {
        let is_next = self.peek() == Some(text);
        self.next += usize::from(is_next);
        is_next
    }

    pub fn expect(&mut self, text: &str) -> Syntax<()> {
        match self.take(text) {
            true => Ok(()),
            false => self.fail(&format!("'{text}' is missing")),
        }
    }

    pub fn word(&mut self) -> Syntax<&'a str> {
        self.of_kind(Kind::Word, "a name is missing")
    }

    pub fn text(&mut self) -> Syntax<&'a str> {
        let quoted = self.of_kind(Kind::Text, "a text in quotes is missing")?;
        Ok(quoted.trim_matches('"'))
    }

    pub fn number(&mut self) -> Syntax<i64> {
        let line = self.line();
        let digits = self.of_kind(Kind::Number, "a number is missing")?;
        let number = digits.parse();
        number.map_err(|error| format!("line {line}: {digits}: {error}"))
    }

    /// The next token, if it is a number.
    pub fn take_number(&mut self) -> Syntax<Option<i64>> {
        match self.tokens.get(self.next) {
            Some((Kind::Number, ..)) => self.number().map(Some),
            _ => Ok(None),
        }
    }

    fn of_kind(&mut self, wanted: Kind, what: &str) -> Syntax<&'a str> {
        match self.tokens.get(self.next) {
            Some((kind, text, _)) if *kind == wanted => {
                self.next += 1;
                Ok(*text)
            }
            _ => self.fail(what),
        }
    }

    /// Items between two tokens, with commas.
    pub fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Syntax<T>,
    ) -> Syntax<Vec<T>> {
        let mut items = Vec::new();
        while !self.take(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}
