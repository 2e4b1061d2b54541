//! Kernels of a scene's text.
//!
//! ```text
//! kernel sum(const float in[n], float out[m], int n, int m) {
//!     if (i < n) { read in[i]; }
//!     barrier;
//!     if (threadIdx.x == 0) { write out[blockIdx.x]; }
//! }
//! ```
//!
//! A subscript is in elements, `i` is `blockIdx.x * blockDim.x + threadIdx.x`, `?` any element. The size of an array, where
//! it is given, is what the kernel's accesses stay within. Besides, a kernel may say `for (j < n) { … }`, `update out[i];`
//! (`atomicAdd` of an integer), `exchange out[i];` (any other atomic), `shared N;`, `prints;`, `opaque "why";`.

use super::syntax::{Syntax, Tokens};
use sirius_rs::diagnostics::Location;
use sirius_rs::kernel::{
    Access, AccessId, AccessKind, Barrier, Footprint, Intervals, KernelModel, KernelParameter,
    KernelSymbol, Loop, Product, Reduction, ReductionOperator, Span, Target,
};
use sirius_rs::math::affine::{Affine, Axis, Constraint, Variable};
use sirius_rs::math::expression::{Condition, Expression};
use sirius_rs::program::KernelId;
use std::collections::{BTreeMap, BTreeSet};

/// Reads a kernel behind its keyword.
pub fn read_kernel(tokens: &mut Tokens<'_>, id: KernelId) -> Syntax<KernelModel> {
    let name = tokens.word()?;
    let mut reader = Reader::default();
    tokens.expect("(")?;
    let formals = tokens.list(")", read_formal)?;
    for (argument, formal) in formals.iter().enumerate() {
        if !formal.is_pointer {
            let symbol = KernelSymbol::Argument {
                argument,
                offset_bytes: 0,
                bits: formal.element_bytes * 8,
                signed: true,
            };
            reader.scalars.insert(formal.name.to_owned(), symbol);
        }
        reader
            .arguments
            .insert(formal.name.to_owned(), (argument, formal.element_bytes));
    }
    tokens.expect("{")?;
    reader.statements(tokens)?;
    let footprints = formals
        .iter()
        .enumerate()
        .filter(|(_, formal)| formal.is_pointer);
    let footprints = footprints
        .map(|(argument, formal)| reader.footprint(argument, formal))
        .collect::<Syntax<Vec<_>>>()?;
    Ok(reader.finish(id, name, &formals, footprints))
}

struct Formal<'a> {
    name: &'a str,
    is_pointer: bool,
    element_bytes: u32,
    /// How many elements the kernel stays within: a number or a parameter.
    elements: Option<&'a str>,
}

fn read_formal<'a>(tokens: &mut Tokens<'a>) -> Syntax<Formal<'a>> {
    tokens.take("const");
    let element_bytes = match tokens.word()? {
        "char" => 1,
        "half" => 2,
        "int" | "float" => 4,
        "long" | "double" => 8,
        other => return tokens.fail(&format!("'{other}' is no type of a parameter")),
    };
    let is_starred = tokens.take("*");
    let name = tokens.word()?;
    let mut elements = None;
    if tokens.take("[") {
        elements = Some(tokens.peek().unwrap_or_default());
        if tokens.take_number()?.is_none() {
            tokens.word()?;
        }
        tokens.expect("]")?;
    }
    Ok(Formal {
        name,
        is_pointer: is_starred || elements.is_some(),
        element_bytes,
        elements,
    })
}

#[derive(Default)]
struct Reader {
    /// Position and bytes of an element, or of a scalar, by name.
    arguments: BTreeMap<String, (usize, u32)>,
    scalars: BTreeMap<String, KernelSymbol>,
    parameters: Vec<KernelSymbol>,
    products: Vec<Product>,
    loops: Vec<Loop>,
    /// The loops around, with the names of their counters.
    around: Vec<(String, usize)>,
    /// What holds where the next statement stands.
    holds: Vec<Constraint>,
    accesses: Vec<Access>,
    /// By access, how many barriers stand before it.
    intervals: Vec<usize>,
    barriers: Vec<Barrier>,
    shared_bytes: u64,
    prints: bool,
    opaque: Vec<(String, Location)>,
}

impl Reader {
    fn statements(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        while !tokens.take("}") {
            self.statement(tokens)?;
        }
        Ok(())
    }

    fn statement(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        match tokens.word()? {
            "if" => {
                tokens.expect("(")?;
                let before = self.holds.len();
                self.condition(tokens)?;
                tokens.expect("{")?;
                self.statements(tokens)?;
                self.holds.truncate(before);
                return Ok(());
            }
            "for" => return self.counted_loop(tokens),
            "barrier" => self.barrier(tokens),
            "shared" => self.shared_bytes = tokens.number()?.unsigned_abs(),
            "prints" => self.prints = true,
            "opaque" => {
                let why = tokens.text()?.to_owned();
                self.opaque.push((why, tokens.location()));
            }
            "read" => self.access(tokens, AccessKind::Read)?,
            "write" => self.access(tokens, AccessKind::Write)?,
            "update" => self.access(
                tokens,
                AccessKind::Reduction(Reduction {
                    operator: ReductionOperator::Add,
                    cell_bytes: 4,
                    within_block: false,
                }),
            )?,
            "exchange" => self.access(tokens, AccessKind::Atomic)?,
            other => return tokens.fail(&format!("'{other}' is no statement of a kernel")),
        }
        tokens.expect(";")
    }

    /// `for (j < bound) { … }`: `j` counts from 0.
    fn counted_loop(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        tokens.expect("(")?;
        let counter = tokens.word()?.to_owned();
        tokens.expect("<")?;
        let bound = self.sum(tokens)?;
        tokens.expect(")")?;
        tokens.expect("{")?;
        let number = self.loops.len();
        self.loops.push(Loop {
            parent: self.around.last().map(|(_, outer)| *outer),
            uniform_in_block: !mentions_threads(&bound) && self.is_uniform(),
            location: tokens.location(),
            quotient: None,
            unknown: None,
        });
        let before = self.holds.len();
        let room = less(&Affine::variable(Variable::Loop(number)), &bound, tokens)?;
        self.holds.push(room);
        self.around.push((counter, number));
        self.statements(tokens)?;
        self.around.pop();
        self.holds.truncate(before);
        Ok(())
    }

    fn barrier(&mut self, tokens: &Tokens<'_>) {
        self.barriers.push(Barrier {
            uniform: self.is_uniform(),
            uniform_while_unwritten: Vec::new(),
            reached_if: Vec::new(),
            loops: self.loops_around(),
            place: self.barriers.len(),
            location: tokens.location(),
        });
    }

    /// Whether all threads of a block come here together.
    fn is_uniform(&self) -> bool {
        let mut conditions = self.holds.iter();
        conditions.all(|condition| match condition {
            Constraint::NonNegative(affine) | Constraint::Zero(affine) => !mentions_threads(affine),
        })
    }

    fn loops_around(&self) -> Vec<usize> {
        self.around.iter().map(|(_, number)| *number).collect()
    }

    fn access(&mut self, tokens: &mut Tokens<'_>, kind: AccessKind) -> Syntax<()> {
        let name = tokens.word()?;
        let Some((argument, size_bytes)) = self.arguments.get(name).copied() else {
            return tokens.fail(&format!("'{name}' is no parameter"));
        };
        tokens.expect("[")?;
        let subscript = match tokens.take("?") {
            true => None,
            false => self.sum(tokens)?.scale(i64::from(size_bytes)),
        };
        tokens.expect("]")?;
        let is_known = subscript.is_some();
        self.intervals.push(self.barriers.len());
        self.accesses.push(Access {
            id: AccessId(self.accesses.len()),
            kind,
            target: Target::Argument {
                argument,
                offset_bytes: 0,
            },
            subscript,
            size_bytes,
            domain: vec![self.holds.clone()],
            loops: self.loops_around(),
            exact: is_known,
            why_inexact: if is_known { "" } else { "an unknown subscript" }.to_owned(),
            invariant_load: false,
            volatile: false,
            asynchronous: false,
            place: self.accesses.len(),
            location: tokens.location(),
        });
        Ok(())
    }

    /// Comparisons, all of which hold, up to the closing bracket.
    fn condition(&mut self, tokens: &mut Tokens<'_>) -> Syntax<()> {
        loop {
            let left = self.sum(tokens)?;
            let comparison = tokens.peek().unwrap_or_default();
            if !["<", "<=", ">", ">=", "=="].contains(&comparison) {
                return tokens.fail("a comparison is missing");
            }
            tokens.take(comparison);
            let right = self.sum(tokens)?;
            let constraint = match comparison {
                "<" => less(&left, &right, tokens)?,
                ">" => less(&right, &left, tokens)?,
                "<=" => Constraint::NonNegative(difference(&right, &left, tokens)?),
                ">=" => Constraint::NonNegative(difference(&left, &right, tokens)?),
                _ => Constraint::Zero(difference(&left, &right, tokens)?),
            };
            self.holds.push(constraint);
            if !tokens.take("&&") {
                return tokens.expect(")");
            }
        }
    }

    fn sum(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Affine> {
        let mut sum = self.product(tokens)?;
        loop {
            let is_added = tokens.take("+");
            if !is_added && !tokens.take("-") {
                return Ok(sum);
            }
            let term = self.product(tokens)?;
            let next = match is_added {
                true => sum.add(&term),
                false => sum.subtract(&term),
            };
            sum = known(next, tokens)?;
        }
    }

    fn product(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Affine> {
        let mut left = self.factor(tokens)?;
        loop {
            left = match () {
                () if tokens.take("*") => {
                    let right = self.factor(tokens)?;
                    self.times(&left, &right, tokens)?
                }
                () if tokens.take("/") => left.floor_divide(tokens.number()?),
                () if tokens.take("%") => known(left.modulo(tokens.number()?), tokens)?,
                () => return Ok(left),
            };
        }
    }

    fn times(&mut self, left: &Affine, right: &Affine, tokens: &Tokens<'_>) -> Syntax<Affine> {
        if let Some(factor) = right.as_constant() {
            return known(left.scale(factor), tokens);
        }
        if let Some(factor) = left.as_constant() {
            return known(right.scale(factor), tokens);
        }
        let parameter = |affine: &Affine| match affine.terms.as_slice() {
            [(1, Variable::Parameter(parameter))] if affine.constant == 0 => Some(*parameter),
            _ => None,
        };
        let (factor, parameter) = match (parameter(right), parameter(left)) {
            (Some(parameter), _) => (left, parameter),
            (_, Some(parameter)) => (right, parameter),
            _ => return tokens.fail("a factor has to be a constant or a parameter"),
        };
        let product = Product {
            factor: factor.clone(),
            parameter,
        };
        Ok(Affine::variable(Variable::Product(
            self.products
                .iter()
                .position(|known| *known == product)
                .unwrap_or_else(|| {
                    self.products.push(product);
                    self.products.len() - 1
                }),
        )))
    }

    fn factor(&mut self, tokens: &mut Tokens<'_>) -> Syntax<Affine> {
        if tokens.take("(") {
            let inner = self.sum(tokens)?;
            tokens.expect(")")?;
            return Ok(inner);
        }
        if tokens.take("-") {
            return known(self.factor(tokens)?.scale(-1), tokens);
        }
        if let Some(number) = tokens.take_number()? {
            return Ok(Affine::constant(number));
        }
        let name = tokens.word()?;
        if name == "i" {
            let base = Affine::variable(Variable::Block(Axis::X));
            let extent = self.parameter(KernelSymbol::BlockSize(Axis::X));
            let base = self.times(&base, &extent, tokens)?;
            return known(
                base.add(&Affine::variable(Variable::Thread(Axis::X))),
                tokens,
            );
        }
        if let Some((_, number)) = self
            .around
            .iter()
            .rev()
            .find(|(counter, _)| counter == name)
        {
            return Ok(Affine::variable(Variable::Loop(*number)));
        }
        if let Some(symbol) = self.scalars.get(name) {
            return Ok(self.parameter(symbol.clone()));
        }
        let axis = [Axis::X, Axis::Y, Axis::Z]
            .into_iter()
            .find(|axis| name.ends_with(axis.name()));
        match (name.split('.').next(), axis) {
            (Some("threadIdx"), Some(axis)) => Ok(Affine::variable(Variable::Thread(axis))),
            (Some("blockIdx"), Some(axis)) => Ok(Affine::variable(Variable::Block(axis))),
            (Some("blockDim"), Some(axis)) => Ok(self.parameter(KernelSymbol::BlockSize(axis))),
            (Some("gridDim"), Some(axis)) => Ok(self.parameter(KernelSymbol::GridSize(axis))),
            _ => tokens.fail(&format!("'{name}' is no value of this kernel")),
        }
    }

    fn parameter(&mut self, symbol: KernelSymbol) -> Affine {
        let known = self.parameters.iter().position(|known| *known == symbol);
        Affine::variable(Variable::Parameter(known.unwrap_or_else(|| {
            self.parameters.push(symbol);
            self.parameters.len() - 1
        })))
    }

    fn footprint(&self, argument: usize, formal: &Formal<'_>) -> Syntax<Footprint> {
        let elements = formal.elements.map(|text| match text.parse() {
            Ok(number) => Ok(Expression::Constant(number)),
            Err(_) => self
                .scalars
                .get(text)
                .cloned()
                .map(Expression::Leaf)
                .ok_or_else(|| {
                    format!(
                        "the size of '{}' is no number and no parameter",
                        formal.name
                    )
                }),
        });
        let bytes = Expression::Constant(i64::from(formal.element_bytes));
        let target = Target::Argument {
            argument,
            offset_bytes: 0,
        };
        let mut touching = self
            .accesses
            .iter()
            .filter(|access| access.target == target);
        Ok(Footprint {
            written: touching.any(|access| access.kind != AccessKind::Read),
            target,
            columns: None,
            low_bytes: elements.is_some().then_some(Expression::Constant(0)),
            high_bytes: elements
                .transpose()?
                .map(|elements| bytes.multiply(elements)),
        })
    }

    fn finish(
        self,
        id: KernelId,
        name: &str,
        formals: &[Formal<'_>],
        footprints: Vec<Footprint>,
    ) -> KernelModel {
        // What a 32-bit index has to obey.
        let threads = Expression::Leaf(KernelSymbol::GridSize(Axis::X))
            .multiply(Expression::Leaf(KernelSymbol::BlockSize(Axis::X)));
        let is_indexed = self.parameters.contains(&KernelSymbol::BlockSize(Axis::X));
        let fits = Condition::LessEqual(threads, Expression::Constant(1 << 31));
        KernelModel {
            id,
            iteration_of: None,
            name: format!("_Z{name}"),
            display_name: name.to_owned(),
            location: Location::default(),
            formals: formals.iter().map(parameter_of).collect(),
            intervals: self.spans(),
            parameters: self.parameters.into_iter().map(Expression::Leaf).collect(),
            loops: self.loops,
            products: self.products,
            accesses: self.accesses,
            barriers: self.barriers,
            footprints,
            block_effects: Vec::new(),
            preconditions: is_indexed.then_some(fits).into_iter().collect(),
            opaque: self.opaque,
            unfusable: Vec::new(),
            asynchronous_copies: false,
            warp_operations: false,
            warp_operation_sites: Vec::new(),
            missed_by_lanes: Vec::new(),
            exchanges: Vec::new(),
            prints: self.prints,
            reads_addresses: false,
            static_shared_bytes: self.shared_bytes,
            distinguishes_threads: [true; 3],
            dynamic_shared: false,
            max_threads: None,
        }
    }

    /// Where accesses stand among the barriers: exactly, where no barrier is in a loop, else anywhere.
    fn spans(&self) -> Intervals {
        let is_straight = self.barriers.iter().all(|barrier| barrier.loops.is_empty());
        let span = |interval: usize| Span {
            intervals: self.places(is_straight, interval),
            next: self.places(is_straight, interval),
        };
        Intervals {
            accesses: self.intervals.iter().map(|before| span(*before)).collect(),
            barriers: (0..self.barriers.len())
                .map(|barrier| Span {
                    intervals: self.places(is_straight, barrier),
                    next: self.places(is_straight, barrier + 1),
                })
                .collect(),
            sides: vec![BTreeSet::new(); self.accesses.len()],
        }
    }

    fn places(&self, is_straight: bool, interval: usize) -> BTreeSet<usize> {
        match is_straight {
            true => BTreeSet::from([interval]),
            false => (0..=self.barriers.len()).collect(),
        }
    }
}

fn parameter_of(formal: &Formal<'_>) -> KernelParameter {
    let bytes = if formal.is_pointer {
        8
    } else {
        formal.element_bytes
    };
    KernelParameter {
        name: formal.name.to_owned(),
        captured: false,
        size_bytes: bytes,
        align_bytes: bytes,
        is_pointer: formal.is_pointer,
    }
}

fn mentions_threads(affine: &Affine) -> bool {
    affine.terms.iter().any(|(_, variable)| match variable {
        Variable::Thread(_) | Variable::Loop(_) => true,
        Variable::Floor(inner, _) => mentions_threads(inner),
        Variable::Block(_) | Variable::Product(_) | Variable::Parameter(_) => false,
    })
}

fn less(left: &Affine, right: &Affine, tokens: &Tokens<'_>) -> Syntax<Constraint> {
    let room = difference(right, left, tokens)?;
    let room = known(room.add(&Affine::constant(-1)), tokens)?;
    Ok(Constraint::NonNegative(room))
}

fn difference(left: &Affine, right: &Affine, tokens: &Tokens<'_>) -> Syntax<Affine> {
    known(left.subtract(right), tokens)
}

fn known(affine: Option<Affine>, tokens: &Tokens<'_>) -> Syntax<Affine> {
    match affine {
        Some(affine) => Ok(affine),
        None => tokens.fail("numbers are too large"),
    }
}
