//! The text of implementation templates.
//!
//! ```text
//! template    = "template" NAME "{" item* "}"
//! item        = kernel | "packing" "{" kernel kernel+ "}" | "for" NAME "{" item* "}"
//! kernel      = "kernel" schedule "{" ("input" value)* value+ "}"
//! schedule    = "elements" | "tiles" | "row" NUMBER ("threads" NUMBER "rows" NUMBER)? | "column" NUMBER "threads" NUMBER
//! value       = NAME ("@" NUMBER)? ":" composition
//! composition = "thread" | "warp" | "block" | "memory" | "again"
//! ```

use super::template::{Composition, Item, KernelTemplate, Schedule, Template, ValueTemplate, Word};
use crate::tensor::fault::{Fault, Span};
use logos::Logos;

/// How deeply time loops may be nested.
const DEEPEST: usize = 64;

/// Reads templates.
///
/// # Errors
/// The first place that is not well formed.
pub fn parse(text: &str) -> Result<Vec<Template>, Fault> {
    let mut tokens = Vec::new();
    for (token, range) in Token::lexer(text).spanned() {
        let span = Span {
            start: range.start,
            end: range.end,
        };
        match token {
            Ok(token) => tokens.push((token, span)),
            Err(()) => {
                let character = &text[span.start..span.end];
                let fault = Fault::new(span, format!("'{character}' has no meaning in a template"));
                return Err(fault);
            }
        }
    }
    let end = Span {
        start: text.trim_end().len(),
        end: text.trim_end().len(),
    };
    tokens.push((Token::End, end));
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let mut templates: Vec<Template> = Vec::new();
    while parser.peek() != Token::End {
        let template = parser.template()?;
        let name = &template.name;
        if let Some(first) = templates.iter().find(|known| known.name == *name) {
            let message = format!("'{}' has a template already", name.text);
            let fault = Fault::new(name.span, message);
            return Err(fault.note(first.name.span, "it is here"));
        }
        templates.push(template);
    }
    match templates.is_empty() {
        true => Err(Fault::new(end, "there is no template in the text")
            .mend("write 'template name { kernel elements { tensor: thread } }'")),
        false => Ok(templates),
    }
}

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f;]+")]
#[logos(skip(r"(#|//)[^\n]*", allow_greedy = true))]
enum Token {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex(r"[0-9]+")]
    Number,
    #[token("{")]
    Open,
    #[token("}")]
    Close,
    #[token(":")]
    Colon,
    #[token("@")]
    At,
    /// The end of the text.
    End,
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

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    fn word(&self) -> &str {
        let span = self.span();
        &self.text[span.start..span.end]
    }

    fn advance(&mut self) {
        if self.peek() != Token::End {
            self.at += 1;
        }
    }

    fn expected(&self, what: &str) -> Fault {
        let found = match self.peek() {
            Token::End => "the end of the text".to_owned(),
            _ => format!("'{}'", self.word()),
        };
        Fault::new(self.span(), format!("{what} is expected here, not {found}"))
    }

    /// Takes a word of the language, if it stands here.
    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Name && self.word() == word;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, token: Token, what: &str) -> Parsed<()> {
        if self.peek() != token {
            return Err(self.expected(what));
        }
        self.advance();
        Ok(())
    }

    fn name(&mut self, what: &str) -> Parsed<Word> {
        let word = Word {
            text: self.word().to_owned(),
            span: self.span(),
        };
        self.expect(Token::Name, what)?;
        Ok(word)
    }

    fn number(&mut self, what: &str) -> Parsed<usize> {
        let (text, span) = (self.word().to_owned(), self.span());
        self.expect(Token::Number, what)?;
        let number = text.parse().ok().filter(|number| *number <= 1024);
        number.ok_or_else(|| Fault::new(span, format!("{text} is too large: 1024 is the most")))
    }

    fn template(&mut self) -> Parsed<Template> {
        if !self.take("template") {
            return Err(self
                .expected("'template'")
                .mend("a text is a list of 'template name { … }'"));
        }
        let name = self.name("the name of a definition")?;
        Ok(Template {
            name,
            items: self.items()?,
        })
    }

    fn items(&mut self) -> Parsed<Vec<Item>> {
        self.expect(Token::Open, "'{'")?;
        let mut items = Vec::new();
        while self.peek() != Token::Close {
            items.push(self.item()?);
        }
        self.advance();
        Ok(items)
    }

    fn item(&mut self) -> Parsed<Item> {
        let span = self.span();
        if self.take("packing") {
            self.expect(Token::Open, "'{'")?;
            let mut kernels = Vec::new();
            while self.peek() != Token::Close {
                kernels.push(self.kernel()?);
            }
            self.advance();
            return match kernels.len() {
                0 | 1 => Err(Fault::new(span, "a packing has at least two kernels")),
                _ => Ok(Item::Packing(kernels)),
            };
        }
        if self.take("for") {
            let index = self.name("the index of a time loop")?;
            self.depth += 1;
            if self.depth > DEEPEST {
                let message = format!("time loops are nested more than {DEEPEST} deep");
                return Err(Fault::new(span, message));
            }
            let body = self.items()?;
            self.depth -= 1;
            return Ok(Item::Loop(index, body));
        }
        Ok(Item::Kernel(self.kernel()?))
    }

    fn kernel(&mut self) -> Parsed<KernelTemplate> {
        let start = self.span();
        if !self.take("kernel") {
            return Err(self
                .expected("'kernel', 'packing' or 'for'")
                .mend("write 'kernel elements { … }' around statements"));
        }
        let schedule = self.schedule()?;
        let span = start.to(self.tokens[self.at - 1].1);
        self.expect(Token::Open, "'{'")?;
        let (mut inputs, mut values) = (Vec::new(), Vec::new());
        while self.peek() != Token::Close {
            // A tensor may have the name.
            let is_input = self.tokens.get(self.at + 1).map(|next| next.0) == Some(Token::Name);
            match is_input && self.take("input") {
                true => inputs.push(self.value()?),
                false => values.push(self.value()?),
            }
        }
        self.advance();
        match values.is_empty() {
            true => Err(Fault::new(span, "the kernel has no statement")
                .mend("write a line for each tensor that it defines, such as 'total: warp'")),
            false => Ok(KernelTemplate {
                span,
                schedule,
                inputs,
                values,
            }),
        }
    }

    fn schedule(&mut self) -> Parsed<Schedule> {
        if self.take("elements") {
            return Ok(Schedule::Elements);
        }
        if self.take("tiles") {
            return Ok(Schedule::Tiles);
        }
        if self.take("row") {
            let dimensions = self.number("the number of dimensions of rows")?;
            let span = self.span();
            if !self.take("threads") {
                return Ok(Schedule::Row {
                    dimensions,
                    lanes: None,
                });
            }
            let lanes = self.number("the number of lanes for a row")?;
            if !self.take("rows") {
                return Err(self
                    .expected("'rows'")
                    .mend("write 'threads 32 rows 8'; without either, a block computes a row"));
            }
            let rows = self.number("the number of rows of a block")?;
            let span = span.to(self.tokens[self.at - 1].1);
            if !lanes.is_power_of_two() || !(2..=32).contains(&lanes) {
                return Err(Fault::new(
                    span,
                    format!("{lanes} lanes cannot compute a row: it takes 2, 4, 8, 16 or 32"),
                ));
            }
            if !(lanes * rows).is_multiple_of(32) || lanes * rows > 512 || rows == 0 {
                return Err(Fault::new(
                    span,
                    format!(
                        "a block of {rows} rows by {lanes} threads has {} threads: it takes whole warps of 32, and at most 512",
                        lanes * rows
                    ),
                ));
            }
            return Ok(Schedule::Row {
                dimensions,
                lanes: Some((lanes, rows)),
            });
        }
        if self.take("column") {
            return self.column();
        }
        Err(self.expected("'elements', 'tiles', 'row' or 'column'"))
    }

    fn column(&mut self) -> Parsed<Schedule> {
        let dimensions = self.number("the number of dimensions of columns")?;
        let span = self.span();
        if !self.take("threads") {
            return Err(self
                .expected("'threads'")
                .mend("write how many threads compute a column, such as 'column 1 threads 8'"));
        }
        let threads = self.number("the number of threads for a column")?;
        let span = span.to(self.tokens[self.at - 1].1);
        if dimensions == 0 {
            return Err(Fault::new(span, "columns have at least one dimension")
                .mend("what reduces all of a tensor is one row: write 'row 0'"));
        }
        match (1..=16).contains(&threads) {
            true => Ok(Schedule::Column {
                dimensions,
                threads,
            }),
            false => Err(Fault::new(
                span,
                format!("{threads} threads cannot compute a column: it takes 1 to 16"),
            )),
        }
    }

    fn value(&mut self) -> Parsed<ValueTemplate> {
        let tensor = self.name("the name of a tensor")?;
        let mut number = 1;
        if self.peek() == Token::At {
            self.advance();
            let span = self.span();
            number = self.number("the number of a statement")?;
            if number == 0 {
                return Err(Fault::new(span, "statements are counted from 1"));
            }
        }
        self.expect(Token::Colon, "':'")?;
        let found = Composition::ALL
            .into_iter()
            .find(|(name, _)| self.peek() == Token::Name && self.word() == *name);
        let Some((_, composition)) = found else {
            return Err(self.expected("'thread', 'warp', 'block', 'memory' or 'again'"));
        };
        self.advance();
        Ok(ValueTemplate {
            tensor,
            number,
            composition,
        })
    }
}
