//! The tree of a PTX module, as it stands in the text.

/// A whole module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`: major and minor.
    pub version: (u32, u32),
    /// The number of `.target sm_80`.
    pub architecture: u32,
    /// `.file`: names of sources by number.
    pub files: Vec<(u32, String)>,
    /// What it declares and defines, in the order of the text.
    pub items: Vec<Item>,
}

/// Something at the level of the module.
#[derive(Clone, Debug)]
pub enum Item {
    /// A variable.
    Variable(Variable),
    /// A kernel or a function, declared or defined.
    Function(Function),
    /// `.alias name, target;`
    Alias {
        /// The further name.
        name: String,
        /// The function that it names.
        target: String,
    },
}

/// Who sees a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// The module alone.
    #[default]
    Module,
    /// `.visible`.
    Visible,
    /// `.extern`.
    External,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Any: an address says itself where it leads.
    Generic,
    /// `.global`.
    Global,
    /// `.shared`, also that of another block of the cluster.
    Shared,
    /// `.const`.
    Constant,
    /// `.local`.
    Local,
    /// `.param`.
    Parameter,
}

/// What the bits of a type mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `.b32`.
    Bits,
    /// `.u32`.
    Unsigned,
    /// `.s32`.
    Signed,
    /// `.f16`, `.f32`, `.f64`.
    Float,
    /// `.bf16`, `.tf32`, `.f16x2`, `.e4m3x2`, ….
    Other,
    /// `.pred`.
    Predicate,
}

/// A type of a register, a variable or an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// What its bits mean.
    pub kind: Kind,
    /// How many they are.
    pub bits: u32,
}

/// A variable, a parameter, or a result of a function.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Where it stands.
    pub line: u32,
    /// Who sees it.
    pub linkage: Linkage,
    /// Where it lies; `None`: a register.
    pub space: Option<Space>,
    /// `.align`, in bytes.
    pub alignment: Option<u32>,
    /// Type of an element.
    pub scalar: Scalar,
    /// Elements of a vector: 1, 2 or 4.
    pub vector: u32,
    /// Its name.
    pub name: String,
    /// Its extents; `None` where one is not given.
    pub dimensions: Vec<Option<u64>>,
    /// Initial value.
    pub initializer: Option<Initializer>,
    /// `.attribute(.managed)`.
    pub managed: bool,
    /// `.ptr`: the parameter is an address.
    pub pointer: bool,
}

impl Variable {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// How many bytes it has; 0 where an extent is not given.
    pub fn bytes(&self) -> u64 {
        let extents = self.dimensions.iter().map(|extent| extent.unwrap_or(0));
        let elements = extents.fold(u64::from(self.vector), u64::saturating_mul);
        elements.saturating_mul(u64::from(self.scalar.bits.div_ceil(8)))
    }

    /// How it is aligned, in bytes.
    pub fn aligned(&self) -> u32 {
        let natural = self.scalar.bits.div_ceil(8) * self.vector;
        self.alignment.unwrap_or(natural.max(1))
    }
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// `{…}`.
    List(Vec<Initializer>),
    /// An integer by its lowest 64 bits.
    Integer(u64),
    /// A float by its bits.
    Single(u32),
    /// A double by its bits.
    Double(u64),
    /// `symbol+4`, `generic(symbol)`, `0xFF00(symbol)`.
    Address {
        /// What it is the address of.
        symbol: String,
        /// Bytes behind it.
        offset_bytes: i64,
        /// Which of the address's bytes this is; `None`: all of them.
        byte: Option<u32>,
    },
}

/// A kernel or a function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Where it stands.
    pub line: u32,
    /// Who sees it.
    pub linkage: Linkage,
    /// Whether it is an `.entry`.
    pub is_kernel: bool,
    /// Its name.
    pub name: String,
    /// What it returns: at most one result where it is called with the usual convention.
    pub results: Vec<Variable>,
    /// Its parameters.
    pub parameters: Vec<Variable>,
    /// `.noreturn`.
    pub never_returns: bool,
    /// `.maxntid` and its kin: names and numbers.
    pub directives: Vec<(String, Vec<u64>)>,
    /// Its statements; `None` for a declaration.
    pub body: Option<Vec<Statement>>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `.reg .b32 %r<10>, %x;`
    Registers {
        /// Their type.
        scalar: Scalar,
        /// Elements of each.
        vector: u32,
        /// Names, and how many registers a name stands for: `%r<10>` is `%r0` to `%r9`.
        names: Vec<(String, Option<u32>)>,
    },
    /// A variable of the function.
    Variable(Variable),
    /// `label:`
    Label(String),
    /// An instruction.
    Instruction(Instruction),
    /// `{ … }`, with names of its own.
    Block(Vec<Statement>),
    /// `.loc`: file, line and column of what follows.
    Place(u32, u32, u32),
    /// `label: .branchtargets a, b;`
    BranchTargets(String, Vec<String>),
    /// `label: .callprototype (…) _ (…);`
    Prototype {
        /// Its label.
        label: String,
        /// What is returned.
        results: Vec<Variable>,
        /// What is passed.
        parameters: Vec<Variable>,
    },
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Where it stands.
    pub line: u32,
    /// `@p`, `@!p`: the register that decides whether it is executed, and whether it must be false.
    pub guard: Option<(String, bool)>,
    /// Operation and modifiers: `["ld", "global", "f32"]`.
    pub opcode: Vec<String>,
    /// Its operands, results first.
    pub operands: Vec<Operand>,
}

impl Instruction {
    /// Its opcode as one word.
    pub fn name(&self) -> String {
        self.opcode.join(".")
    }

    /// Whether the opcode has a modifier.
    pub fn has(&self, modifier: &str) -> bool {
        self.opcode.iter().skip(1).any(|part| part == modifier)
    }
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a symbol, a label or a special register; bytes behind it (`symbol+4`).
    Name(String, i64),
    /// An integer by its lowest 64 bits.
    Integer(u64),
    /// A float by its bits.
    Single(u32),
    /// A double by its bits.
    Double(u64),
    /// `[base + offset]`.
    Memory(Box<Operand>, i64),
    /// `[object, {x, y}]`: a place in a texture, on a surface or in a tensor.
    Texel(Box<Operand>, Vec<Operand>),
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `(a, b)`.
    List(Vec<Operand>),
    /// `p|q`.
    Pair(Box<Operand>, Box<Operand>),
    /// `!p`.
    Not(Box<Operand>),
    /// `-x`.
    Negative(Box<Operand>),
}

impl Operand {
    /// The name, where it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name, 0) => Some(name),
            _ => None,
        }
    }
}

impl Scalar {
    /// So many bits without a meaning.
    pub const fn of_bits(bits: u32) -> Self {
        Self {
            kind: Kind::Bits,
            bits,
        }
    }

    /// A truth value.
    pub const PREDICATE: Self = Self {
        kind: Kind::Predicate,
        bits: 1,
    };

    /// The type of this name, without the dot.
    pub fn named(name: &str) -> Option<Self> {
        let kind_of = |letter| match letter {
            'b' => Some(Kind::Bits),
            'u' => Some(Kind::Unsigned),
            's' => Some(Kind::Signed),
            'f' => Some(Kind::Float),
            _ => None,
        };
        let other = |bits| {
            Some(Self {
                kind: Kind::Other,
                bits,
            })
        };
        match name {
            "pred" => return Some(Self::PREDICATE),
            "f16x2" | "bf16x2" | "tf32" | "u16x2" | "s16x2" | "e4m3x4" | "e5m2x4" => {
                return other(32);
            }
            "bf16" | "e4m3x2" | "e5m2x2" => return other(16),
            "f32x2" => return other(64),
            "texref" | "samplerref" | "surfref" => return other(64),
            _ => {}
        }
        let mut letters = name.chars();
        let kind = kind_of(letters.next()?)?;
        let bits = letters.as_str().parse().ok()?;
        let known = match kind {
            Kind::Bits => matches!(bits, 8 | 16 | 32 | 64 | 128),
            Kind::Float => matches!(bits, 16 | 32 | 64),
            _ => matches!(bits, 8 | 16 | 32 | 64),
        };
        known.then_some(Self { kind, bits })
    }

    /// Whether its numbers have a sign.
    pub fn is_signed(self) -> bool {
        self.kind == Kind::Signed
    }

    /// Whether it is `.f32` or `.f64`.
    pub fn is_float(self) -> bool {
        self.kind == Kind::Float && self.bits != 16
    }

    /// Whether it is an integer, or bits without a meaning.
    pub fn is_integer(self) -> bool {
        matches!(self.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
    }
}
