//! Tokens -> the tree.
//!
//! Invariant: nothing is passed over but what changes no value: `.pragma`, `.section` (debug information), and
//! attributes of pointers. A directive that is not known is an error with its line.

use super::PtxError;
use super::syntax::*;
use super::tokens::{Placed, Token, tokens};

/// Reads a module.
///
/// # Errors
/// What is not PTX, with its line.
pub fn parse(text: &str) -> Result<Module> {
    let tokens = tokens(text)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        files: Vec::new(),
    };
    let mut module = Module::default();
    while parser.peek().is_some() {
        parser.module_item(&mut module)?;
    }
    module.files = parser.files;
    if module.architecture == 0 {
        let what = "the module names no architecture (`.target sm_80`)";
        return Err(PtxError::syntax(1, what.to_owned()));
    }
    Ok(module)
}

struct Parser<'a> {
    tokens: &'a [Placed],
    at: usize,
    files: Vec<(u32, String)>,
}

type Result<T> = std::result::Result<T, PtxError>;

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn peek_after(&self, further: usize) -> Option<&Token> {
        self.tokens
            .get(self.at + further)
            .map(|placed| &placed.token)
    }

    fn line(&self) -> u32 {
        let last = self.tokens.len().saturating_sub(1);
        self.tokens
            .get(self.at.min(last))
            .map_or(1, |placed| placed.line)
    }

    fn error<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(PtxError::syntax(self.line(), what.into()))
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        match self.accept(sign) {
            true => Ok(()),
            false => self.error(format!("`{sign}` is expected{}", self.but())),
        }
    }

    /// What stands here instead of what is expected.
    fn but(&self) -> String {
        match self.peek() {
            None => ", and the text ends".to_owned(),
            Some(Token::Word(word)) => format!(" in front of `{word}`"),
            Some(Token::Sign(sign)) => format!(" in front of `{sign}`"),
            Some(_) => " in front of a number".to_owned(),
        }
    }

    fn word(&mut self) -> Result<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => self.error(format!("a name is expected{}", self.but())),
        }
    }

    fn accept_word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(word)) if word == wanted);
        self.at += usize::from(found);
        found
    }

    fn integer(&mut self) -> Result<u64> {
        match self.peek() {
            Some(Token::Integer(value)) => {
                let value = *value;
                self.at += 1;
                Ok(value)
            }
            _ => self.error(format!("an integer is expected{}", self.but())),
        }
    }

    fn module_item(&mut self, module: &mut Module) -> Result<()> {
        let line = self.line();
        let word = self.word()?;
        match word.as_str() {
            ".version" => {
                module.version = match self.peek() {
                    Some(Token::Double(bits)) => {
                        let text = format!("{:.1}", f64::from_bits(*bits));
                        self.at += 1;
                        let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
                        (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
                    }
                    _ => (self.integer()? as u32, 0),
                };
            }
            ".target" => loop {
                let target = self.word()?;
                if let Some(number) = target.strip_prefix("sm_") {
                    let digits = number.trim_end_matches(|letter: char| letter.is_alphabetic());
                    module.architecture = digits.parse().unwrap_or(0);
                }
                if !self.accept(',') {
                    break;
                }
            },
            ".address_size" => {
                if self.integer()? != 64 {
                    return Err(PtxError::unsupported(line, "`.address_size 32`".to_owned()));
                }
            }
            ".file" => self.file()?,
            ".section" => self.section()?,
            ".pragma" => self.pass_statement()?,
            ".alias" => {
                let name = self.word()?;
                self.expect(',')?;
                let target = self.word()?;
                self.expect(';')?;
                module.items.push(Item::Alias { name, target });
            }
            _ => {
                self.at -= 1;
                let item = self.declaration()?;
                module.items.extend(item);
            }
        }
        Ok(())
    }

    /// `.file 1 "name"[, time, size]`.
    fn file(&mut self) -> Result<()> {
        let number = self.integer()? as u32;
        let Some(Token::Text(name)) = self.peek().cloned() else {
            return self.error("a file's name is expected");
        };
        self.at += 1;
        while self.accept(',') {
            self.integer()?;
        }
        self.files.push((number, name));
        Ok(())
    }

    /// `.section name { … }`: debug information.
    fn section(&mut self) -> Result<()> {
        self.word()?;
        self.expect('{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Some(Token::Sign('{')) => depth += 1,
                Some(Token::Sign('}')) => depth -= 1,
                None => return self.error("a section that does not end"),
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    fn pass_statement(&mut self) -> Result<()> {
        while !self.accept(';') {
            if self.peek().is_none() {
                return self.error("`;` is expected");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Variables, a kernel or a function.
    fn declaration(&mut self) -> Result<Vec<Item>> {
        let mut linkage = Linkage::Module;
        loop {
            let word = self.word()?;
            match word.as_str() {
                ".visible" => linkage = Linkage::Visible,
                ".extern" => linkage = Linkage::External,
                ".weak" => linkage = Linkage::Weak,
                ".common" => linkage = Linkage::Common,
                ".entry" | ".func" => {
                    let function = self.function(linkage, word == ".entry")?;
                    return Ok(vec![Item::Function(function)]);
                }
                _ => {
                    self.at -= 1;
                    let variables = self.variables(linkage)?;
                    return Ok(variables.into_iter().map(Item::Variable).collect());
                }
            }
        }
    }

    fn function(&mut self, linkage: Linkage, is_kernel: bool) -> Result<Function> {
        let line = self.line();
        let mut never_returns = false;
        // `.attribute(…)` and `.noreturn` may stand in front of the results.
        while self.accept_word(".attribute") {
            self.pass_parentheses()?;
        }
        let results = match self.peek() {
            Some(Token::Sign('(')) => self.parameters()?,
            _ => Vec::new(),
        };
        let name = self.word()?;
        let parameters = match self.peek() {
            Some(Token::Sign('(')) => self.parameters()?,
            _ => Vec::new(),
        };
        let mut directives = Vec::new();
        let body = loop {
            if self.accept(';') {
                break None;
            }
            if self.accept('{') {
                break Some(self.statements()?);
            }
            let word = self.word()?;
            match word.as_str() {
                ".noreturn" => never_returns = true,
                ".pragma" => self.pass_statement()?,
                ".attribute" => self.pass_parentheses()?,
                ".maxntid"
                | ".reqntid"
                | ".minnctapersm"
                | ".maxnctapersm"
                | ".maxnreg"
                | ".reqnctapercluster"
                | ".maxclusterrank"
                | ".explicitcluster"
                | ".blocksareclusters"
                | ".abi_preserve"
                | ".abi_preserve_control" => {
                    let mut numbers = Vec::new();
                    if let Some(Token::Integer(_)) = self.peek() {
                        numbers.push(self.integer()?);
                        while self.accept(',') {
                            numbers.push(self.integer()?);
                        }
                    }
                    directives.push((word[1..].to_owned(), numbers));
                }
                _ => return self.error(format!("the directive `{word}` is not known")),
            }
        };
        Ok(Function {
            line,
            linkage,
            is_kernel,
            name,
            results,
            parameters,
            never_returns,
            directives,
            body,
        })
    }

    fn pass_parentheses(&mut self) -> Result<()> {
        self.expect('(')?;
        while !self.accept(')') {
            if self.peek().is_none() {
                return self.error("`)` is expected");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// `(.param .b64 a, .param .align 8 .b8 b[16])`.
    fn parameters(&mut self) -> Result<Vec<Variable>> {
        self.expect('(')?;
        let mut all = Vec::new();
        while !self.accept(')') {
            if !all.is_empty() {
                self.expect(',')?;
            }
            let mut variable = self.variable_head(Linkage::Module)?;
            self.declarator(&mut variable)?;
            all.push(variable);
        }
        Ok(all)
    }

    /// Space, alignment and type of a variable.
    fn variable_head(&mut self, linkage: Linkage) -> Result<Variable> {
        let mut variable = Variable {
            line: self.line(),
            linkage,
            space: None,
            alignment: None,
            scalar: Scalar::of_bits(8),
            vector: 1,
            name: String::new(),
            dimensions: Vec::new(),
            initializer: None,
            managed: false,
            pointer: false,
        };
        let mut typed = false;
        while let Some(Token::Word(word)) = self.peek()
            && word.starts_with('.')
        {
            let word = self.word()?;
            match word.as_str() {
                ".reg" => variable.space = None,
                ".global" if variable.pointer => {}
                ".const" | ".shared" | ".local" | ".param" if variable.pointer => {}
                ".global" => variable.space = Some(Space::Global),
                ".const" => variable.space = Some(Space::Constant),
                ".shared" => variable.space = Some(Space::Shared),
                ".local" => variable.space = Some(Space::Local),
                ".param" => variable.space = Some(Space::Parameter),
                ".tex" => {
                    return Err(PtxError::unsupported(
                        self.line(),
                        "a variable in `.tex`".to_owned(),
                    ));
                }
                ".align" if variable.pointer => {
                    self.integer()?;
                }
                ".align" => variable.alignment = Some(self.integer()? as u32),
                ".ptr" => variable.pointer = true,
                ".v2" => variable.vector = 2,
                ".v4" => variable.vector = 4,
                ".attribute" => {
                    self.expect('(')?;
                    while !self.accept(')') {
                        variable.managed |= self.accept_word(".managed");
                        if self.peek().is_none() {
                            return self.error("`)` is expected");
                        }
                        if self.peek() != Some(&Token::Sign(')')) {
                            self.at += 1;
                        }
                    }
                }
                _ => match Scalar::named(&word[1..]) {
                    Some(scalar) => {
                        variable.scalar = scalar;
                        typed = true;
                    }
                    None => {
                        self.at -= 1;
                        return self.error(format!("the directive `{word}` is not known"));
                    }
                },
            }
        }
        match typed {
            true => Ok(variable),
            false => self.error("a type is expected"),
        }
    }

    /// Name, extents and initial value of a variable.
    fn declarator(&mut self, variable: &mut Variable) -> Result<()> {
        variable.line = self.line();
        variable.name = self.word()?;
        while self.accept('[') {
            if self.accept(']') {
                variable.dimensions.push(None);
            } else {
                variable.dimensions.push(Some(self.integer()?));
                self.expect(']')?;
            }
        }
        if self.accept('=') {
            variable.initializer = Some(self.initializer()?);
        }
        if let (Some(None), Some(Initializer::List(list))) =
            (variable.dimensions.first(), &variable.initializer)
        {
            variable.dimensions[0] = Some(list.len() as u64);
        }
        Ok(())
    }

    fn variables(&mut self, linkage: Linkage) -> Result<Vec<Variable>> {
        let head = self.variable_head(linkage)?;
        let mut all = Vec::new();
        loop {
            let mut variable = head.clone();
            self.declarator(&mut variable)?;
            all.push(variable);
            if !self.accept(',') {
                break;
            }
        }
        self.expect(';')?;
        Ok(all)
    }

    fn initializer(&mut self) -> Result<Initializer> {
        if self.accept('{') {
            let mut list = Vec::new();
            while !self.accept('}') {
                if !list.is_empty() {
                    self.expect(',')?;
                }
                list.push(self.initializer()?);
            }
            return Ok(Initializer::List(list));
        }
        let minus = self.accept('-');
        let value = match self.peek().cloned() {
            Some(Token::Integer(mask)) if self.peek_after(1) == Some(&Token::Sign('(')) => {
                self.at += 2;
                let inner = self.initializer()?;
                self.expect(')')?;
                let Initializer::Address {
                    symbol,
                    offset_bytes,
                    ..
                } = inner
                else {
                    return self.error("an address is expected");
                };
                return Ok(Initializer::Address {
                    symbol,
                    offset_bytes,
                    byte: Some(mask.trailing_zeros() / 8),
                });
            }
            Some(Token::Integer(value)) => Initializer::Integer(match minus {
                true => value.wrapping_neg(),
                false => value,
            }),
            Some(Token::Single(bits)) => Initializer::Single(bits ^ u32::from(minus) << 31),
            Some(Token::Double(bits)) => Initializer::Double(bits ^ u64::from(minus) << 63),
            Some(Token::Word(word)) if word == "generic" => {
                self.at += 1;
                self.expect('(')?;
                let inner = self.initializer()?;
                self.expect(')')?;
                return match inner {
                    Initializer::Address {
                        symbol,
                        offset_bytes,
                        byte,
                    } => {
                        let offset_bytes = offset_bytes.wrapping_add(self.offset()?);
                        Ok(Initializer::Address {
                            symbol,
                            offset_bytes,
                            byte,
                        })
                    }
                    _ => self.error("an address is expected"),
                };
            }
            Some(Token::Word(symbol)) => {
                self.at += 1;
                let offset_bytes = self.offset()?;
                return Ok(Initializer::Address {
                    symbol,
                    offset_bytes,
                    byte: None,
                });
            }
            _ => return self.error("an initial value is expected"),
        };
        self.at += 1;
        Ok(value)
    }

    /// `+4`, `-4`, or nothing.
    fn offset(&mut self) -> Result<i64> {
        let mut sum = 0i64;
        loop {
            let minus = match self.peek() {
                Some(Token::Sign('+')) => false,
                Some(Token::Sign('-')) => true,
                _ => return Ok(sum),
            };
            self.at += 1;
            // `+-4` is written, too.
            let minus = minus ^ self.accept('-');
            let value = self.integer()? as i64;
            sum = match minus {
                true => sum.wrapping_sub(value),
                false => sum.wrapping_add(value),
            };
        }
    }

    /// Up to the closing brace, which is taken.
    fn statements(&mut self) -> Result<Vec<Statement>> {
        let mut all = Vec::new();
        while !self.accept('}') {
            if self.peek().is_none() {
                return self.error("`}` is expected, and the text ends");
            }
            self.statement(&mut all)?;
        }
        Ok(all)
    }

    fn statement(&mut self, all: &mut Vec<Statement>) -> Result<()> {
        if self.accept(';') {
            return Ok(());
        }
        if self.accept('{') {
            all.push(Statement::Block(self.statements()?));
            return Ok(());
        }
        if let (Some(Token::Word(label)), Some(Token::Sign(':'))) =
            (self.peek(), self.peek_after(1))
        {
            let label = label.clone();
            self.at += 2;
            return self.labelled(label, all);
        }
        if let Some(Token::Word(word)) = self.peek()
            && word.starts_with('.')
        {
            return self.directive(all);
        }
        all.push(Statement::Instruction(self.instruction()?));
        Ok(())
    }

    fn labelled(&mut self, label: String, all: &mut Vec<Statement>) -> Result<()> {
        if self.accept_word(".branchtargets") {
            let mut targets = vec![self.word()?];
            while self.accept(',') {
                targets.push(self.word()?);
            }
            self.expect(';')?;
            all.push(Statement::BranchTargets(label, targets));
        } else if self.accept_word(".callprototype") {
            let results = match self.peek() {
                Some(Token::Sign('(')) => self.parameters()?,
                _ => Vec::new(),
            };
            self.word()?;
            let parameters = match self.peek() {
                Some(Token::Sign('(')) => self.parameters()?,
                _ => Vec::new(),
            };
            // `.noreturn` and how registers are kept.
            self.pass_statement()?;
            all.push(Statement::Prototype {
                label,
                results,
                parameters,
            });
        } else if self.accept_word(".calltargets") {
            // The call has the type of any of them.
            self.pass_statement()?;
        } else {
            all.push(Statement::Label(label));
        }
        Ok(())
    }

    fn directive(&mut self, all: &mut Vec<Statement>) -> Result<()> {
        let word = self.word()?;
        match word.as_str() {
            ".reg" => {
                self.at -= 1;
                let head = self.variable_head(Linkage::Module)?;
                let mut names = Vec::new();
                loop {
                    let name = self.word()?;
                    let count = match self.accept('<') {
                        true => {
                            let count = self.integer()? as u32;
                            self.expect('>')?;
                            Some(count)
                        }
                        false => None,
                    };
                    names.push((name, count));
                    if !self.accept(',') {
                        break;
                    }
                }
                self.expect(';')?;
                all.push(Statement::Registers {
                    scalar: head.scalar,
                    vector: head.vector,
                    names,
                });
            }
            ".loc" => {
                let file = self.integer()? as u32;
                let line = self.integer()? as u32;
                let column = self.integer()? as u32;
                while self.accept(',') {
                    self.place_of_inlining()?;
                }
                all.push(Statement::Place(file, line, column));
            }
            ".pragma" => self.pass_statement()?,
            ".file" => self.file()?,
            ".section" => self.section()?,
            _ => {
                self.at -= 1;
                let variables = self.variables(Linkage::Module)?;
                all.extend(variables.into_iter().map(Statement::Variable));
            }
        }
        Ok(())
    }

    /// `function_name label[+n]`, `inlined_at file line column`.
    fn place_of_inlining(&mut self) -> Result<()> {
        match self.word()?.as_str() {
            "function_name" => {
                self.word()?;
                self.offset()?;
            }
            _ => {
                while let Some(Token::Integer(_)) = self.peek() {
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self) -> Result<Instruction> {
        let line = self.line();
        let guard = match self.accept('@') {
            true => {
                let negated = self.accept('!');
                Some((self.word()?, negated))
            }
            false => None,
        };
        let word = self.word()?;
        let opcode: Vec<String> = word.split('.').map(str::to_owned).collect();
        if opcode.iter().any(String::is_empty) {
            self.at -= 1;
            return self.error(format!("`{word}` is no instruction"));
        }
        let mut operands = Vec::new();
        while !self.accept(';') {
            if !operands.is_empty() {
                self.expect(',')?;
            }
            operands.push(self.operand()?);
        }
        Ok(Instruction {
            line,
            guard,
            opcode,
            operands,
        })
    }

    fn operand(&mut self) -> Result<Operand> {
        let first = self.single_operand()?;
        match self.accept('|') {
            true => {
                let second = self.single_operand()?;
                Ok(Operand::Pair(Box::new(first), Box::new(second)))
            }
            false => Ok(first),
        }
    }

    fn single_operand(&mut self) -> Result<Operand> {
        let token = self.peek().cloned();
        if token.is_some() {
            self.at += 1;
        }
        Ok(match token {
            Some(Token::Word(name)) => Operand::Name(name, self.offset()?),
            Some(Token::Integer(value)) => Operand::Integer(value),
            Some(Token::Single(bits)) => Operand::Single(bits),
            Some(Token::Double(bits)) => Operand::Double(bits),
            Some(Token::Sign('!')) => Operand::Not(Box::new(self.single_operand()?)),
            Some(Token::Sign('-')) => match self.single_operand()? {
                Operand::Integer(value) => Operand::Integer(value.wrapping_neg()),
                Operand::Single(bits) => Operand::Single(bits ^ 1 << 31),
                Operand::Double(bits) => Operand::Double(bits ^ 1 << 63),
                other => Operand::Negative(Box::new(other)),
            },
            Some(Token::Sign('~')) => match self.single_operand()? {
                Operand::Integer(value) => Operand::Integer(!value),
                _ => return self.error("an integer is expected behind `~`"),
            },
            Some(Token::Sign('{')) => Operand::Vector(self.operands_until('}')?),
            Some(Token::Sign('(')) => Operand::List(self.operands_until(')')?),
            Some(Token::Sign('[')) => {
                let base = match self.single_operand()? {
                    Operand::Name(name, offset) => (Operand::Name(name, 0), offset),
                    Operand::Integer(address) => (Operand::Integer(address), 0),
                    _ => return self.error("a register or a symbol is expected behind `[`"),
                };
                if self.accept(',') {
                    let coordinates = self.operands_until(']')?;
                    Operand::Texel(Box::new(base.0), coordinates)
                } else {
                    let offset = base.1.wrapping_add(self.offset()?);
                    self.expect(']')?;
                    Operand::Memory(Box::new(base.0), offset)
                }
            }
            _ => {
                self.at -= usize::from(token.is_some());
                return self.error(format!("an operand is expected{}", self.but()));
            }
        })
    }

    fn operands_until(&mut self, end: char) -> Result<Vec<Operand>> {
        let mut all = Vec::new();
        while !self.accept(end) {
            if !all.is_empty() {
                self.expect(',')?;
            }
            all.push(self.operand()?);
        }
        Ok(all)
    }
}
