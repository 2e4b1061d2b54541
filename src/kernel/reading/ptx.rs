//! Reads inline PTX: a template of `asm` as LLVM keeps it -> statements.
//!
//! A small tokeniser: the crates that parse PTX read whole modules, and none knows the operand
//! places (`$0`) of a template. Invariant: a template is read whole or not at all, so that no
//! instruction of it goes unseen.

/// One statement of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// `.reg .f16 low, high;`: registers of the template, by name, and their type.
    Registers {
        /// `f16`, `b32`, `pred`, ….
        register_type: String,
        /// Names, which may begin with `%`.
        names: Vec<String>,
    },
    /// An instruction.
    Instruction(Instruction),
    /// A label, to which a branch of the template may go.
    Label(String),
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Register whose truth decides whether it is executed.
    pub predicate: Option<String>,
    /// Executed when the predicate is false.
    pub negated: bool,
    /// Operation and modifiers: `["ld", "global", "nc", "f32"]`.
    pub opcode: Vec<String>,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// `$n`: the n-th output or input of the template.
    Placeholder(usize),
    /// A register that the template declares (its name may begin with `%`), or a symbol.
    Name(String),
    /// `%laneid`: a special register, without the sign.
    Special(String),
    /// An integer literal; floating-point ones by their bits.
    Literal(i64),
    /// `[base + offset]`.
    Memory {
        /// A place, name or literal.
        base: Box<Operand>,
        /// Bytes.
        offset_bytes: i64,
    },
    /// `[object, {x, y}]`: a place in a texture or on a surface.
    Texel {
        /// A place or name.
        object: Box<Operand>,
        /// Layer and coordinates.
        coordinates: Vec<Operand>,
    },
    /// `{a, b}`: the parts of a vector.
    Vector(Vec<Operand>),
    /// `!p` or `-x`.
    Negated(Box<Operand>),
    /// `a.b0`, `a.h10`: some bytes or halves of a register, as video instructions have them.
    Part {
        /// A place or name.
        of: Box<Operand>,
        /// `b0`, `h10`.
        selector: String,
    },
}

impl Instruction {
    /// Its opcode as one word.
    pub fn name(&self) -> String {
        self.opcode.join(".")
    }

    /// Whether the opcode has a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.opcode.iter().any(|part| part == modifier)
    }
}

/// The statements of a template; `None` when something in it is not understood.
pub fn read_template(text: &str) -> Option<Vec<Statement>> {
    // Two dollar signs are one; names such as `__$temp3` have it where PTX's own have `%`.
    let tokens = tokens(&text.replace("$$", "%"))?;
    let mut reader = Reader {
        tokens: &tokens,
        at: 0,
        own: Vec::new(),
    };
    let mut statements = Vec::new();
    let mut depth = 0usize;
    while let Some(token) = reader.peek() {
        match token {
            Token::Sign('{') => {
                depth += 1;
                reader.at += 1;
            }
            Token::Sign('}') => {
                depth = depth.checked_sub(1)?;
                reader.at += 1;
            }
            Token::Sign(';') => reader.at += 1,
            _ => statements.push(reader.statement()?),
        }
    }
    (depth == 0).then_some(statements)
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// An opcode, name, type or number.
    Word(String),
    Placeholder(usize),
    Special(String),
    Sign(char),
}

/// Words may hold dots, colons in pairs and percent signs inside.
fn tokens(text: &str) -> Option<Vec<Token>> {
    let letters: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let next = letters.get(at + 1).copied();
        match letter {
            _ if letter.is_whitespace() => at += 1,
            '/' if next == Some('/') => {
                at += letters[at..]
                    .iter()
                    .take_while(|each| **each != '\n')
                    .count();
            }
            '/' if next == Some('*') => {
                let end = letters[at + 2..]
                    .windows(2)
                    .position(|pair| pair == ['*', '/'])?;
                at += end + 4;
            }
            '$' if next.is_some_and(|next| next.is_ascii_digit()) => {
                at += 1;
                let digits = take(&letters, &mut at, |each| each.is_ascii_digit());
                tokens.push(Token::Placeholder(digits.parse().ok()?));
            }
            // `${:uid}` makes names of one copy of a template its own.
            '$' if letters[at..].starts_with(&['$', '{', ':', 'u', 'i', 'd', '}']) => {
                at += 7;
                match tokens.last_mut() {
                    Some(Token::Word(word)) => word.push_str("_uid"),
                    _ => return None,
                }
                let rest = take(&letters, &mut at, is_word_letter);
                if let Some(Token::Word(word)) = tokens.last_mut() {
                    word.push_str(&rest);
                }
            }
            // A register of the template may be written with a sign as well; only PTX's own
            // are special.
            '%' => {
                at += 1;
                while letters.get(at) == Some(&'%') {
                    at += 1;
                }
                let name = take(&letters, &mut at, is_word_letter);
                if name.is_empty() {
                    return None;
                }
                tokens.push(Token::Special(name));
            }
            _ if is_word_letter(letter) => {
                tokens.push(Token::Word(take(&letters, &mut at, is_word_letter)));
            }
            '{' | '}' | '[' | ']' | ',' | ';' | '@' | '!' | '+' | '-' | '|' | '(' | ')' | ':'
            | '<' | '>' => {
                tokens.push(Token::Sign(letter));
                at += 1;
            }
            _ => return None,
        }
    }
    // A label's colon is no part of its word, the pair in `shared::cta` is.
    let mut split = Vec::new();
    for token in tokens {
        match token {
            Token::Word(word) if word.ends_with(':') && !word.ends_with("::") => {
                split.push(Token::Word(word.trim_end_matches(':').to_owned()));
                split.push(Token::Sign(':'));
            }
            other => split.push(other),
        }
    }
    Some(split)
}

fn is_word_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | ':' | '%')
}

fn take(letters: &[char], at: &mut usize, wanted: impl Fn(char) -> bool) -> String {
    let found: String = letters[*at..]
        .iter()
        .copied()
        .take_while(|each| wanted(*each))
        .collect();
    *at += found.chars().count();
    found
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    /// Registers that the template declares with the sign of PTX's own, without it.
    own: Vec<String>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at)?.clone();
        self.at += 1;
        Some(token)
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn statement(&mut self) -> Option<Statement> {
        if let [Token::Word(label), Token::Sign(':'), ..] = &self.tokens[self.at..] {
            self.at += 2;
            return Some(Statement::Label(label.clone()));
        }
        let (mut predicate, mut negated) = (None, false);
        if self.accept('@') {
            negated = self.accept('!');
            predicate = Some(match self.next()? {
                Token::Word(name) | Token::Special(name) => name,
                _ => return None,
            });
        }
        let Token::Word(word) = self.next()? else {
            return None;
        };
        if let Some(register_type) = word.strip_prefix(".reg") {
            return self.registers(register_type);
        }
        let opcode: Vec<String> = word.split('.').map(str::to_owned).collect();
        if opcode.iter().any(String::is_empty) {
            return None;
        }
        let mut operands = Vec::new();
        while !self.accept(';') {
            // The last statement may lack its semicolon.
            if matches!(self.peek(), None | Some(Token::Sign('}'))) {
                break;
            }
            if !operands.is_empty() && !self.accept(',') && !self.accept('|') {
                return None;
            }
            operands.push(self.operand()?);
        }
        Some(Statement::Instruction(Instruction {
            predicate,
            negated,
            opcode,
            operands,
        }))
    }

    /// `.reg .b16 a, b;`, also written `.reg.b16`.
    fn registers(&mut self, register_type: &str) -> Option<Statement> {
        let register_type = match register_type {
            "" => match self.next()? {
                Token::Word(word) => word,
                _ => return None,
            },
            joined => joined.to_owned(),
        };
        let mut names = Vec::new();
        while !self.accept(';') {
            match self.next()? {
                Token::Word(name) => names.push(name),
                Token::Special(name) => {
                    names.push(format!("%{name}"));
                    self.own.push(name);
                }
                Token::Sign(',') => {}
                _ => return None,
            }
        }
        Some(Statement::Registers {
            register_type: register_type.trim_start_matches('.').to_owned(),
            names,
        })
    }

    fn operand(&mut self) -> Option<Operand> {
        Some(match self.next()? {
            Token::Placeholder(place) => {
                let placeholder = Operand::Placeholder(place);
                match self.peek() {
                    Some(Token::Word(word)) if word.starts_with('.') => {
                        let selector = selector(&word[1..])?.to_owned();
                        self.at += 1;
                        let of = Box::new(placeholder);
                        Operand::Part { of, selector }
                    }
                    _ => placeholder,
                }
            }
            Token::Special(name) | Token::Word(name) if selected(&name).is_some() => {
                let (base, chosen) = selected(&name)?;
                let of = match self.own.iter().any(|own| own == base) {
                    true => Operand::Name(format!("%{base}")),
                    false => Operand::Name(base.to_owned()),
                };
                Operand::Part {
                    of: Box::new(of),
                    selector: chosen.to_owned(),
                }
            }
            Token::Special(name) if self.own.contains(&name) => Operand::Name(format!("%{name}")),
            Token::Special(name) => Operand::Special(name),
            Token::Word(word) => named(&word)?,
            Token::Sign('!') => Operand::Negated(Box::new(self.operand()?)),
            Token::Sign('-') => match self.operand()? {
                Operand::Literal(value) => Operand::Literal(value.checked_neg()?),
                other => Operand::Negated(Box::new(other)),
            },
            Token::Sign('{') => {
                let mut parts = Vec::new();
                while !self.accept('}') {
                    if !parts.is_empty() && !self.accept(',') {
                        return None;
                    }
                    parts.push(self.operand()?);
                }
                Operand::Vector(parts)
            }
            Token::Sign('[') => {
                let base = self.operand()?;
                if self.accept(',') {
                    let coordinates = match self.operand()? {
                        Operand::Vector(parts) => parts,
                        one => vec![one],
                    };
                    return self.accept(']').then(|| Operand::Texel {
                        object: Box::new(base),
                        coordinates,
                    });
                }
                let mut offset_bytes = 0i64;
                loop {
                    let minus = match self.next()? {
                        Token::Sign(']') => break,
                        Token::Sign('+') => false,
                        Token::Sign('-') => true,
                        _ => return None,
                    };
                    // `[%0 + %1]` with an immediate in place 1 is written in some headers.
                    let Operand::Literal(value) = self.operand()? else {
                        return None;
                    };
                    let value = if minus { value.checked_neg()? } else { value };
                    offset_bytes = offset_bytes.checked_add(value)?;
                }
                Operand::Memory {
                    base: Box::new(base),
                    offset_bytes,
                }
            }
            Token::Sign(_) => return None,
        })
    }
}

/// A register and its selector.
fn selected(word: &str) -> Option<(&str, &str)> {
    let (base, word) = word.rsplit_once('.')?;
    let is_name = base.starts_with(|first: char| !first.is_ascii_digit());
    is_name.then_some(())?;
    Some((base, selector(word)?))
}

/// `b0`, `h10`, ….
fn selector(word: &str) -> Option<&str> {
    let digits = word.strip_prefix(['b', 'h'])?;
    let known = (1..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    known.then_some(word)
}

/// A word as operand: a number, or a name.
fn named(word: &str) -> Option<Operand> {
    if !word.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(Operand::Name(word.to_owned()));
    }
    let digits = word.trim_end_matches('U');
    let literal = match digits.get(..2) {
        Some("0x" | "0X") => u64::from_str_radix(&digits[2..], 16).ok()? as i64,
        Some("0f" | "0F") => i64::from(u32::from_str_radix(&digits[2..], 16).ok()?),
        Some("0d" | "0D") => u64::from_str_radix(&digits[2..], 16).ok()? as i64,
        Some("0b" | "0B") => u64::from_str_radix(&digits[2..], 2).ok()? as i64,
        // The bits of a literal such as 0.5 matter to nobody here.
        _ if digits.contains('.') => digits.parse::<f64>().ok()?.to_bits() as i64,
        _ => digits.parse().ok()?,
    };
    Some(Operand::Literal(literal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instructions(text: &str) -> Vec<String> {
        read_template(text)
            .expect("it is read")
            .iter()
            .map(|statement| match statement {
                Statement::Instruction(instruction) => {
                    format!("{} {:?}", instruction.name(), instruction.operands)
                }
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn blocks_declare_registers() {
        assert_eq!(
            instructions("{.reg .f16 low,high; mov.b32 {low,high}, $1; mov.b16 $0, low;}"),
            [
                r#"Registers { register_type: "f16", names: ["low", "high"] }"#,
                r#"mov.b32 [Vector([Name("low"), Name("high")]), Placeholder(1)]"#,
                r#"mov.b16 [Placeholder(0), Name("low")]"#,
            ]
        );
    }

    #[test]
    fn memory_operands_have_offsets_and_hints() {
        assert_eq!(
            instructions("ld.global.L1::no_allocate.L2::128B.v2.f32 {$0, $1}, [$2 + 16];"),
            [
                "ld.global.L1::no_allocate.L2::128B.v2.f32 [Vector([Placeholder(0), Placeholder(1)]), Memory { base: Placeholder(2), offset_bytes: 16 }]"
            ]
        );
    }

    #[test]
    fn registers_with_the_sign_of_special_ones_are_the_templates_own() {
        let read = instructions("{ .reg .u32 %own; mov.u32 %own, %tid.x; }");
        assert!(
            read[1].contains(r#"[Name("%own"), Special("tid.x")]"#),
            "{read:?}"
        );
    }

    #[test]
    fn predicates_labels_and_comments_are_seen() {
        let text = "{ .reg .pred p; // a comment\n setp.ne.b32 p, $0, 0; \n@!p bra DONE;\n st.shared.u32 [$1], $2; DONE: }";
        let read = read_template(text).expect("it is read");
        assert_eq!(read.len(), 5);
        assert!(
            matches!(&read[2], Statement::Instruction(jump) if jump.negated && jump.predicate.as_deref() == Some("p"))
        );
        assert_eq!(read[4], Statement::Label("DONE".to_owned()));
    }

    #[test]
    fn parts_of_registers_have_selectors() {
        assert_eq!(
            instructions("{ .reg .u32 %own; vadd2.u32.u32.u32 %own.h1, $1.h10, $2, $0; }")[1],
            r#"vadd2.u32.u32.u32 [Part { of: Name("%own"), selector: "h1" }, Part { of: Placeholder(1), selector: "h10" }, Placeholder(2), Placeholder(0)]"#
        );
    }

    #[test]
    fn what_is_not_ptx_is_not_read() {
        for text in ["mov.u32 $0 = $1;", "{ mov.u32 $0, $1;", "\"quoted\""] {
            assert_eq!(read_template(text), None, "{text}");
        }
    }
}
