//! Reductions across blocks: a sum whose elements are too few to fill a GPU becomes sums of pieces and a sum of these.
//!
//! `S(i) +=! f(i, k)` becomes `P(i, p) +=! f(i, k)` for the values of `k` in piece `p`, and `S(i) +=! P(i, p)`. Both are ordinary
//! statements of a function, of which mappings make what they make of any other; there are no atomic operations, so that
//! each run gives the same.
//!
//! Invariant: each term is in exactly one piece. Terms are joined in another order only where that may be.

use super::Options;
use super::linear::{Atom, Linear};
use super::mapping::Mapping;
use super::polyhedral::Strategy;
use super::program::{
    Bound, Function, Role, Statement, Step, Subscript, SymbolKind, Tensor, TimeLoop, Value,
    ValueKind, Variable,
};
use super::syntax::tree::Operator;
use super::transform::rows::may_reorder;
use super::types::Scalar;

/// `--sirius-tc-split`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Where there are few elements of many terms.
    #[default]
    Auto,
    /// Nowhere.
    Off,
    /// Everywhere, in pieces of so many values of the outermost index that is reduced.
    Pieces(u32),
}

impl Split {
    /// Reads `auto`, `off`, or a number.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            number => {
                let number = number.parse().ok().filter(|number| *number > 0);
                number.map(Self::Pieces)
            }
        }
    }
}

/// For which sizes a statement is worth it.
#[derive(Clone, Debug, PartialEq)]
pub struct Few {
    /// Elements, as a product of extents.
    pub elements: Vec<Linear>,
    /// At most so many.
    pub most_elements: i64,
    /// Values of the index that is cut.
    pub terms: Linear,
    /// At least so many.
    pub least_terms: i64,
}

/// A definition whose sums are cut into pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Pieces {
    /// The definition.
    pub function: Function,
    /// For which sizes, where only a call says so: one of these holds. None: for all.
    pub when: Vec<Few>,
}

/// Values of the index in a piece of which a block joins the terms.
const OF_BLOCK: i64 = 4096;
/// The same where a thread does.
const OF_THREAD: i64 = 512;
/// Pieces that are worth a launch.
const ENOUGH_PIECES: i64 = 16;
/// Elements that are few, where a block computes one.
const FEW_OF_BLOCKS: i64 = 64;
/// The same where a thread does.
const FEW_OF_THREADS: i64 = 2048;
/// Statements at most, and indices of an element at most, of definitions that have a version for sizes of a call.
const MOST_STATEMENTS: usize = 3;
const MOST_INDICES: usize = 1;

/// The definition with sums in pieces; none where that is not worth it for any sizes, or where sums keep their order.
pub fn split(function: &Function, options: Options) -> Option<Pieces> {
    let is_open = options.mapping == Mapping::Auto && options.fusion == Strategy::Auto;
    if !is_open || options.split == Split::Off {
        return None;
    }
    let mut cutter = Cutter {
        function,
        options,
        made: Pieces {
            function: function.clone(),
            when: Vec::new(),
        },
        changes: false,
        always: false,
    };
    cutter.made.function.body = cutter.steps(&function.body)?;
    if cutter.always {
        // What is cut for some sizes does no harm for others.
        cutter.made.when.clear();
    }
    cutter.changes.then_some(cutter.made)
}

/// A definition on its way to pieces.
struct Cutter<'f> {
    function: &'f Function,
    options: Options,
    made: Pieces,
    changes: bool,
    always: bool,
}

impl Cutter<'_> {
    /// Steps whose sums are cut; `None` where a number does not fit.
    fn steps(&mut self, steps: &[Step]) -> Option<Vec<Step>> {
        let mut body = Vec::new();
        // Sums of pieces come together, so that one kernel can make several of them; those of these follow.
        let mut joined: Vec<Step> = Vec::new();
        for step in steps {
            let (statement, size) = match step {
                Step::Loop(time_loop) => {
                    body.append(&mut joined);
                    body.push(Step::Loop(TimeLoop {
                        body: self.steps(&time_loop.body)?,
                        ..time_loop.clone()
                    }));
                    continue;
                }
                Step::Statement(statement) => (statement, self.size(statement)),
            };
            let Some(size) = size else {
                body.append(&mut joined);
                body.push(step.clone());
                continue;
            };
            if joined.iter().any(|before| is_needed(before, statement)) {
                body.append(&mut joined);
            }
            let [partial, sum] = cut(&mut self.made.function, statement, size)?;
            body.push(Step::Statement(Box::new(partial)));
            joined.push(Step::Statement(Box::new(sum)));
            self.changes = true;
        }
        body.append(&mut joined);
        Some(body)
    }

    /// How many values a piece of a statement has, where it is cut.
    fn size(&mut self, statement: &Statement) -> Option<i64> {
        let (size, few) = pieces(self.function, statement, self.options)?;
        match self.options.split {
            Split::Pieces(_) => self.always = true,
            _ => match worth(self.function, statement, &few) {
                Worth::Always => self.always = true,
                Worth::Never => return None,
                Worth::Sometimes => self.made.when.push(few),
            },
        }
        Some(size)
    }
}

/// Whether a statement touches what one before it writes.
fn is_needed(before: &Step, statement: &Statement) -> bool {
    let Step::Statement(before) = before else {
        return true;
    };
    let mut touches = before.target == statement.target;
    statement.reads(&mut |tensor, _| touches |= tensor == before.target);
    touches
}

enum Worth {
    Always,
    Sometimes,
    Never,
}

fn worth(function: &Function, statement: &Statement, few: &Few) -> Worth {
    let elements: Option<i64> = few
        .elements
        .iter()
        .map(Linear::as_number)
        .try_fold(1_i64, |all, each| all.checked_mul(each?.max(1)));
    let of_elements = elements.map(|elements| elements <= few.most_elements);
    let of_terms = few.terms.as_number().map(|terms| terms >= few.least_terms);
    match (of_elements, of_terms) {
        (Some(true), Some(true)) => Worth::Always,
        (Some(false), _) | (_, Some(false)) => Worth::Never,
        _ if statements(&function.body) <= MOST_STATEMENTS
            && statement.free().count() <= MOST_INDICES =>
        {
            Worth::Sometimes
        }
        _ => Worth::Never,
    }
}

/// How many statements there are, those of time loops among them.
fn statements(steps: &[Step]) -> usize {
    let each = steps.iter().map(|step| match step {
        Step::Statement(_) => 1,
        Step::Loop(time_loop) => statements(&time_loop.body),
    });
    each.sum()
}

/// How many values of its outermost reduced index a piece of a statement has, and when that is worth it.
fn pieces(function: &Function, statement: &Statement, options: Options) -> Option<(i64, Few)> {
    let index = statement.reduced().next()?;
    let variable = &statement.variables[index];
    let (low, high) = (variable.low.linear()?, variable.high.linear()?);
    // How many pieces there are is the same at all times, since they have one tensor.
    let is_time = |symbol: usize| function.symbols[symbol].kind == SymbolKind::Time;
    let mut is_fixed = !low.has_variables() && !high.has_variables();
    for form in [low, high] {
        form.visit(&mut |atom| {
            is_fixed &= !matches!(atom, Atom::Symbol(symbol) if is_time(*symbol))
        });
    }
    let is_plain = |subscript: &Subscript| {
        let form = subscript.linear.as_ref();
        let own = form.and_then(Linear::as_variable);
        !subscript.guarded && own.is_some_and(|own| statement.variables[own].on_left)
    };
    let mut reads_own = false;
    statement.reads(&mut |tensor, _| reads_own |= tensor == statement.target);
    let rank = statement.free().count();
    let is_whole = statement.subscripts.len() == rank
        && statement.subscripts.iter().all(is_plain)
        && (0..rank).all(|index| statement.variables[index].on_left);
    if !is_fixed
        || !is_whole
        || reads_own
        || statement.scatter
        || !may_reorder(function, statement, options.reductions)
    {
        return None;
    }
    let terms = high.subtract(low)?;
    let along = reads_along(statement);
    let mut inner = statement.reduced().skip(1).map(|index| {
        let variable = &statement.variables[index];
        let count = variable.high.linear()?.subtract(variable.low.linear()?)?;
        count.as_number()
    });
    // Each value has many terms where others are reduced as well.
    let inner = inner.try_fold(1_i64, |all, each| all.checked_mul(each?.max(1)));
    let inner = inner.unwrap_or(256);
    let size = match options.split {
        Split::Pieces(size) => i64::from(size),
        _ => ((if along { OF_BLOCK } else { OF_THREAD }) / inner).max(1),
    };
    let target = &function.tensors[statement.target];
    let few = Few {
        elements: target.extents.clone(),
        most_elements: if along { FEW_OF_BLOCKS } else { FEW_OF_THREADS },
        terms,
        least_terms: size.checked_mul(ENOUGH_PIECES)?,
    };
    Some((size, few))
}

/// Whether a block joins the terms of an element: neighbours in memory are terms.
fn reads_along(statement: &Statement) -> bool {
    let mut along = true;
    statement.reads(&mut |_, subscripts| {
        if let Some(form) = subscripts.last().and_then(|last| last.linear.as_ref()) {
            let mut indices = form.variables().into_iter();
            along &= indices.all(|index| !statement.variables[index].on_left);
        }
    });
    along
}

/// The sums of pieces, and the sum of these.
fn cut(function: &mut Function, statement: &Statement, size: i64) -> Option<[Statement; 2]> {
    let index = statement.reduced().next()?;
    let rank = statement.free().count();
    let variable = &statement.variables[index];
    let (low, high) = (variable.low.linear()?, variable.high.linear()?);
    let count = high.subtract(low)?.ceil_divide(size)?;
    let count = match function.is_natural(&count, &|_| false) {
        true => count,
        false => count.maximum(&Linear::number(0))?,
    };
    let target = &function.tensors[statement.target];
    let mut extents = target.extents.clone();
    extents.push(count.clone());
    let partial = function.tensors.len();
    let scalar = target.scalar.computed();
    let tensor = Tensor {
        name: format!("tc_pieces{partial}"),
        span: target.span,
        scalar,
        extents,
        role: Role::Temporary,
    };
    function.tensors.push(tensor);
    let Operator::Reduce(reduction, _) = statement.operator else {
        return None;
    };
    let of_pieces = |on_left: bool| Variable {
        name: "tc_piece".to_owned(),
        low: Bound::Linear(Linear::number(0)),
        high: Bound::Linear(count.clone()),
        on_left,
    };
    let subscript = |variable: usize| Subscript {
        span: statement.span,
        value: Value {
            scalar: Scalar::Int64,
            kind: ValueKind::Variable(variable),
        },
        linear: Some(Linear::variable(variable)),
        guarded: false,
    };
    // The piece is the slowest index, so that neighbours in memory stay those of neighbours.
    let mut sums = statement.clone();
    shift(&mut sums)?;
    let first = low.add(&Linear::variable(0).scale(size)?)?;
    let last = first.offset(size)?.minimum(high)?;
    let cut = &mut sums.variables[index];
    (cut.low, cut.high) = (Bound::Linear(first), Bound::Linear(last));
    sums.variables.insert(0, of_pieces(true));
    sums.target = partial;
    sums.subscripts.push(subscript(0));
    sums.operator = Operator::Reduce(reduction, true);
    let mut subscripts = statement.subscripts.clone();
    subscripts.push(subscript(rank));
    let mut variables = statement.variables[..rank].to_vec();
    variables.push(of_pieces(false));
    let joined = Statement {
        variables,
        value: Value {
            scalar,
            kind: ValueKind::Read {
                tensor: partial,
                subscripts,
            },
        },
        ..statement.clone()
    };
    Some([sums, joined])
}

/// Makes place for an index in front of all others.
fn shift(statement: &mut Statement) -> Option<()> {
    for variable in &mut statement.variables {
        for bound in [&mut variable.low, &mut variable.high] {
            match bound {
                Bound::Linear(form) => *form = shifted(form)?,
                Bound::Data(value) => shift_value(value)?,
            }
        }
    }
    for subscript in &mut statement.subscripts {
        shift_subscript(subscript)?;
    }
    shift_value(&mut statement.value)
}

fn shifted(form: &Linear) -> Option<Linear> {
    form.substitute(&|atom| match atom {
        Atom::Variable(index) => Some(Linear::variable(index + 1)),
        _ => None,
    })
}

fn shift_subscript(subscript: &mut Subscript) -> Option<()> {
    if let Some(form) = &mut subscript.linear {
        *form = shifted(form)?;
    }
    shift_value(&mut subscript.value)
}

fn shift_value(value: &mut Value) -> Option<()> {
    match &mut value.kind {
        ValueKind::Integer(_) | ValueKind::Real(_) => Some(()),
        ValueKind::Variable(index) => {
            *index += 1;
            Some(())
        }
        ValueKind::Size(form) => {
            *form = shifted(form)?;
            Some(())
        }
        ValueKind::Read { subscripts, .. } => subscripts.iter_mut().try_for_each(shift_subscript),
        ValueKind::Unary(_, operand) | ValueKind::Cast(operand) => shift_value(operand),
        ValueKind::Binary(_, left, right) => {
            shift_value(left)?;
            shift_value(right)
        }
        ValueKind::Select(condition, then, other) => {
            shift_value(condition)?;
            shift_value(then)?;
            shift_value(other)
        }
        ValueKind::Call(_, _, arguments) => arguments.iter_mut().try_for_each(shift_value),
    }
}
