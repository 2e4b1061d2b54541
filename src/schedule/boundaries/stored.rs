//! What a launch of one block surely stores behind a pointer: all bytes from there on, up to some number.

use super::super::obstacle::Candidate;
use crate::kernel::{Access, AccessKind, KernelModel, KernelSymbol, Target};
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::{Condition, Expression};

/// All that is stored behind a pointer.
pub(super) struct StoredAll {
    /// How many bytes, from the pointer on.
    pub(super) bytes: Expression<ValueId>,
    /// What has to hold for that.
    pub(super) guard: Option<Condition<ValueId>>,
}

/// What the only store of a launch through an argument writes, where it writes every byte of it.
///
/// # Errors
/// What it does else: the rest of a sentence about the kernel.
pub(super) fn stores_all(
    graph: &LaunchGraph,
    member: &Candidate<'_>,
    argument: usize,
) -> Result<StoredAll, &'static str> {
    let model = member.model;
    let own = |access: &&Access| match access.target {
        Target::Argument { argument: of, .. } => of == argument,
        Target::Unknown => true,
        _ => false,
    };
    let accesses: Vec<&Access> = model.accesses.iter().filter(own).collect();
    let [access] = accesses.as_slice() else {
        return Err("touches what it stores more than once");
    };
    if access.kind != AccessKind::Write || !access.exact {
        return Err("may leave something of it unwritten");
    }
    let unknown = "stores in an order that is not understood";
    let subscript = access.subscript.as_ref().ok_or(unknown)?;
    let [conjunction] = access.domain.as_slice() else {
        return Err(unknown);
    };
    let size = i64::from(access.size_bytes);
    if subscript.as_constant() == Some(0) {
        return match conjunction.iter().all(holds_in_first_thread) {
            true => Ok(StoredAll {
                bytes: Expression::Constant(size),
                guard: None,
            }),
            false => Err("may leave something of it unwritten"),
        };
    }
    let elements = Elements::of(model, access, subscript, size).ok_or(unknown)?;
    let count = elements.count(conjunction).ok_or(unknown)?;
    let leaf = |index: usize| -> Option<Expression<ValueId>> {
        model.parameters[index].substitute(&mut |symbol| value_of(graph, member.launch, symbol))
    };
    let threads = graph.extent(member.launch.block[0]);
    let count = match count {
        Some(count) => {
            expression(&count, &leaf).ok_or("stores a number of bytes that no test tells")?
        }
        None => threads.clone(),
    };
    let most = match elements {
        Elements::Strided => None,
        // One each.
        Elements::OfThreads => Some(Condition::LessEqual(count.clone(), threads)),
        Elements::SteppedBy(step) => {
            Some(Condition::LessEqual(Expression::Constant(step), threads))
        }
    };
    Ok(StoredAll {
        bytes: Expression::Constant(size).multiply(count),
        guard: most.filter(|guard| guard.decided() != Some(true)),
    })
}

/// Which elements a thread stores.
enum Elements {
    /// Its own number, and on by as many as there are threads.
    Strided,
    /// Its own number, and on by a fixed number.
    SteppedBy(i64),
    /// Its own number.
    OfThreads,
}

impl Elements {
    fn of(model: &KernelModel, access: &Access, subscript: &Affine, size: i64) -> Option<Self> {
        if subscript.constant != 0 {
            return None;
        }
        let is_thread = |term: &(i64, Variable)| *term == (size, Variable::Thread(Axis::X));
        match subscript.terms.as_slice() {
            [thread] if is_thread(thread) && access.loops.is_empty() => Some(Self::OfThreads),
            [a, b] => {
                let (thread, other) = match is_thread(a) {
                    true => (a, b),
                    false => (b, a),
                };
                let [counter] = access.loops.as_slice() else {
                    return None;
                };
                let plain = model.loops.get(*counter)?;
                if !is_thread(thread) || plain.quotient.is_some() || plain.unknown.is_some() {
                    return None;
                }
                match other {
                    (scale, Variable::Loop(own)) if own == counter && scale % size == 0 => {
                        Some(Self::SteppedBy(scale / size)).filter(|_| *scale > 0)
                    }
                    (scale, Variable::Product(product)) if *scale == size => {
                        let product = model.products.get(*product)?;
                        let step = model.parameters.get(product.parameter)?;
                        let by_threads = *step
                            == Expression::Leaf(KernelSymbol::BlockSize(Axis::X))
                            && product.factor == Affine::variable(Variable::Loop(*counter));
                        by_threads.then_some(Self::Strided)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// How many elements there are, of what says that an element is below that number; `None` within where nothing says
    /// so, and there is one for each thread.
    fn count(&self, conjunction: &[Constraint]) -> Option<Option<Affine>> {
        match (self, conjunction) {
            (Self::OfThreads, []) => Some(None),
            (_, [Constraint::NonNegative(row)]) => {
                let is_element = |term: &&(i64, Variable)| match &term.1 {
                    Variable::Thread(Axis::X) => term.0 == -1,
                    Variable::Product(_) => matches!(self, Self::Strided) && term.0 == -1,
                    Variable::Loop(_) => match self {
                        Self::SteppedBy(step) => term.0 == -step,
                        _ => false,
                    },
                    _ => false,
                };
                let elements = row.terms.iter().filter(is_element).count();
                let terms: Vec<(i64, Variable)> = row
                    .terms
                    .iter()
                    .filter(|term| !is_element(term))
                    .cloned()
                    .collect();
                let wanted = match self {
                    Self::OfThreads => 1,
                    Self::Strided | Self::SteppedBy(_) => 2,
                };
                let constant = row.constant.checked_add(1)?;
                (elements == wanted).then_some(Some(Affine { constant, terms }))
            }
            _ => None,
        }
    }
}

/// Whether a constraint holds in thread 0 of block 0, whatever the launch is given.
fn holds_in_first_thread(constraint: &Constraint) -> bool {
    let at_zero = |affine: &Affine| {
        let mut terms = affine.terms.iter();
        let zero = |variable: &Variable| match variable {
            Variable::Thread(_) | Variable::Block(_) => true,
            Variable::Floor(numerator, _) => {
                let mut inner = numerator.terms.iter();
                numerator.constant == 0
                    && inner
                        .all(|(_, each)| matches!(each, Variable::Thread(_) | Variable::Block(_)))
            }
            _ => false,
        };
        terms.all(|(_, variable)| zero(variable))
    };
    match constraint {
        Constraint::NonNegative(row) => at_zero(row) && row.constant >= 0,
        Constraint::Zero(row) => at_zero(row) && row.constant == 0,
    }
}

/// An affine expression of parameters as the host computes it.
fn expression(
    affine: &Affine,
    leaf: &impl Fn(usize) -> Option<Expression<ValueId>>,
) -> Option<Expression<ValueId>> {
    let mut sum = Expression::Constant(affine.constant);
    for (coefficient, variable) in &affine.terms {
        let value = match variable {
            Variable::Parameter(index) => leaf(*index)?,
            Variable::Floor(numerator, divisor) => {
                expression(numerator, leaf)?.floor_divide(Expression::Constant(*divisor))
            }
            _ => return None,
        };
        sum = sum.add(Expression::Constant(*coefficient).multiply(value));
    }
    Some(sum)
}

/// What a launch gives for a symbol of its kernel.
fn value_of(
    graph: &LaunchGraph,
    launch: &Launch,
    symbol: &KernelSymbol,
) -> Option<Expression<ValueId>> {
    match symbol {
        KernelSymbol::GridSize(axis) => Some(graph.extent(launch.grid[axis.index()])),
        KernelSymbol::BlockSize(axis) => Some(graph.extent(launch.block[axis.index()])),
        KernelSymbol::Opaque(_) => None,
        KernelSymbol::Argument {
            argument,
            offset_bytes,
            bits,
            signed,
        } => {
            let mut pieces = launch.arguments.get(*argument)?.pieces.iter();
            let piece = pieces.find(|piece| piece.offset_bytes == *offset_bytes)?;
            let value = &graph.values[piece.value.0];
            let whole = piece.bits == *bits && (*signed || *bits == 64);
            match value.constant {
                Some(constant) if *signed || constant >= 0 => Some(Expression::Constant(constant)),
                None if whole => Some(Expression::Leaf(piece.value)),
                _ => None,
            }
        }
    }
}
