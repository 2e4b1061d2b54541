//! PTX text -> tokens with their lines.

use super::PtxError;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, a register or a directive with all its dots: `%tid.x`, `ld.global.f32`, `.visible`.
    Word(String),
    /// An integer, as its lowest 64 bits.
    Integer(u64),
    /// A float by its bits: `0f3F800000`.
    Single(u32),
    /// A double by its bits: `0d…`, or a decimal number.
    Double(u64),
    /// What stands between quotes.
    Text(String),
    /// A sign of its own.
    Sign(char),
}

/// A token and the line that it stands in, the first being 1.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) line: u32,
}

/// Takes a text apart.
///
/// # Errors
/// A number or a text that does not end.
pub(super) fn tokens(text: &str) -> Result<Vec<Placed>, PtxError> {
    let mut reader = Reader {
        rest: text.as_bytes(),
        line: 1,
        tokens: Vec::new(),
    };
    while reader.step()? {}
    Ok(reader.tokens)
}

struct Reader<'a> {
    rest: &'a [u8],
    line: u32,
    tokens: Vec<Placed>,
}

impl Reader<'_> {
    fn step(&mut self) -> Result<bool, PtxError> {
        let Some(&first) = self.rest.first() else {
            return Ok(false);
        };
        let second = self.rest.get(1).copied().unwrap_or(0);
        match first {
            b'\n' => {
                self.line += 1;
                self.rest = &self.rest[1..];
            }
            _ if first.is_ascii_whitespace() => self.rest = &self.rest[1..],
            b'/' if second == b'/' => {
                let end = self.rest.iter().position(|byte| *byte == b'\n');
                self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
            }
            b'/' if second == b'*' => {
                let end = self.rest.windows(2).skip(2).position(|pair| pair == b"*/");
                let end = end.ok_or_else(|| self.error("a comment that does not end"))? + 4;
                self.skip(end);
            }
            b'"' => {
                let end = self.rest[1..].iter().position(|byte| *byte == b'"');
                let end = end.ok_or_else(|| self.error("a text that does not end"))?;
                let text = String::from_utf8_lossy(&self.rest[1..=end]).into_owned();
                self.push(Token::Text(text));
                self.skip(end + 2);
            }
            b'0'..=b'9' => self.number()?,
            b'.' if second.is_ascii_digit() => self.number()?,
            _ if begins_word(first) => {
                let mut length = word_length(self.rest);
                if first == b'.' {
                    // `.reg.b32` are two directives.
                    let inner = self.rest[1..length].iter().position(|byte| *byte == b'.');
                    length = inner.map_or(length, |dot| dot + 1);
                }
                let word = String::from_utf8_lossy(&self.rest[..length]).into_owned();
                self.push(Token::Word(word));
                self.rest = &self.rest[length..];
            }
            _ => {
                self.push(Token::Sign(char::from(first)));
                self.rest = &self.rest[1..];
            }
        }
        Ok(true)
    }

    fn push(&mut self, token: Token) {
        let line = self.line;
        self.tokens.push(Placed { token, line });
    }

    fn skip(&mut self, bytes: usize) {
        let lines = self.rest[..bytes].iter().filter(|byte| **byte == b'\n');
        self.line += lines.count() as u32;
        self.rest = &self.rest[bytes..];
    }

    fn error(&self, what: &str) -> PtxError {
        PtxError::syntax(self.line, what.to_owned())
    }

    fn number(&mut self) -> Result<(), PtxError> {
        let letters = |byte: &u8| byte.is_ascii_alphanumeric();
        let length = self.rest.iter().take_while(|byte| letters(byte)).count();
        let word = String::from_utf8_lossy(&self.rest[..length]).into_owned();
        let wrong = || PtxError::syntax(self.line, format!("`{word}` is no number"));
        let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).map_err(|_| wrong());
        let digits = word.trim_end_matches(['U', 'u']);
        let token = match word.get(..2).unwrap_or_default() {
            "0f" | "0F" => Token::Single(u32::from_str_radix(&word[2..], 16).map_err(|_| wrong())?),
            "0d" | "0D" => Token::Double(radix(&word[2..], 16)?),
            "0x" | "0X" => Token::Integer(radix(&digits[2..], 16)?),
            "0b" | "0B" => Token::Integer(radix(&digits[2..], 2)?),
            _ if self.rest.get(length) == Some(&b'.') || is_exponent(&word) => {
                return self.decimal();
            }
            _ if digits.len() > 1 && digits.starts_with('0') => Token::Integer(radix(digits, 8)?),
            _ => Token::Integer(radix(digits, 10)?),
        };
        self.push(token);
        self.rest = &self.rest[length..];
        Ok(())
    }

    /// `0.5`, `1e-3`.
    fn decimal(&mut self) -> Result<(), PtxError> {
        let mut length = 0;
        while let Some(&byte) = self.rest.get(length) {
            let sign = matches!(byte, b'+' | b'-')
                && length > 0
                && matches!(self.rest[length - 1], b'e' | b'E');
            if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || sign) {
                break;
            }
            length += 1;
        }
        let word = String::from_utf8_lossy(&self.rest[..length]).into_owned();
        let value: f64 = word
            .parse()
            .map_err(|_| PtxError::syntax(self.line, format!("`{word}` is no number")))?;
        self.push(Token::Double(value.to_bits()));
        self.rest = &self.rest[length..];
        Ok(())
    }
}

fn is_exponent(word: &str) -> bool {
    let (digits, rest) = word.split_once(['e', 'E']).unwrap_or((word, "x"));
    digits.bytes().all(|byte| byte.is_ascii_digit())
        && rest.bytes().all(|byte| byte.is_ascii_digit())
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

/// Letters, digits, and dots and colons in pairs (`L1::evict_last`) inside a word.
fn word_length(text: &[u8]) -> usize {
    let mut length = 1;
    while let Some(&byte) = text.get(length) {
        let next = text.get(length + 1).copied().unwrap_or(0);
        match byte {
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'%') => {
                length += 1;
            }
            b':' if next == b':' => length += 2,
            _ => break,
        }
    }
    length
}
