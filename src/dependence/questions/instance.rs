//! A kernel model at one launch: uniform values, places touched, and what must hold.
//!
//! Invariant: where a value is not known it becomes a value of its own (never equal to another),
//! and where a precondition cannot be stated in host values the instance is *broken*: nothing that
//! its model says about subscripts may be used.

use super::super::Guard;
use super::super::contradiction::guards_contradict;
use super::super::polynomial::{Atom, Polynomial};
use super::super::relation::Shape;
use crate::kernel::{Access, AccessKind, Barrier, Columns, KernelModel, KernelSymbol, Target};
use crate::launch::{
    ArgumentPiece, BufferId, Launch, LaunchGraph, MemoryKind, NodeId, Operand, Pointer, Root,
    ValueId,
};
use crate::math::affine::Axis;
use crate::math::expression::{Condition, Expression};
use crate::program::KernelId;
use std::collections::BTreeMap;

/// Where memory is reached from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::dependence) enum Base {
    /// An allocation or a known variable.
    Buffer(BufferId),
    /// Behind a pointer value less its offset.
    Value(ValueId),
    /// A device variable that the launch graph does not list.
    Variable(String),
    /// Anywhere on the device.
    Anything,
}

/// A pointer as far as it is known.
#[derive(Clone, Debug)]
pub(in crate::dependence) struct Place {
    pub(in crate::dependence) base: Base,
    /// The pointer itself, where it is a value.
    pub(in crate::dependence) pointer: Option<ValueId>,
    /// Bytes from the base.
    pub(in crate::dependence) offset: Option<Polynomial>,
    pub(in crate::dependence) may_point_to: Option<Vec<BufferId>>,
    /// The launch operand that holds the pointer, for guards.
    pub(in crate::dependence) operand: Option<Operand>,
    /// Memory that the host cannot touch.
    pub(in crate::dependence) device_only: bool,
    /// For people.
    pub(in crate::dependence) name: String,
}

/// All accesses of a launch to one target.
#[derive(Clone)]
pub(in crate::dependence) struct TargetUse {
    pub(in crate::dependence) place: Place,
    /// Indices into the model's accesses: those that read, those that write.
    pub(in crate::dependence) reads: Vec<usize>,
    pub(in crate::dependence) writes: Vec<usize>,
    /// First byte and one past the last, relative to the pointer.
    pub(in crate::dependence) footprint: Option<(Expression<ValueId>, Expression<ValueId>)>,
    /// The columns of a matrix that it lies in, where rows were found.
    pub(in crate::dependence) columns: Option<Columns<ValueId>>,
    /// The same bytes as polynomials, where they are some.
    pub(in crate::dependence) range: Option<(Polynomial, Polynomial)>,
}

/// What two launches have in common that differ in their pointers only: every question about their
/// accesses at a known distance has the same answer.
#[derive(PartialEq, Eq, Hash)]
pub(in crate::dependence) struct Alike {
    pub(in crate::dependence) kernel: KernelId,
    pub(in crate::dependence) shape: Shape,
    /// Values of the model's parameters with that shape.
    pub(in crate::dependence) parameters: Vec<Polynomial>,
    /// See [`Instance::inputs`].
    pub(in crate::dependence) inputs: Vec<Polynomial>,
    pub(in crate::dependence) facts: Vec<Polynomial>,
    pub(in crate::dependence) conditions: Vec<Guard>,
}

/// What is known of a launch in other iterations of the loops around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dependence) enum Motion {
    /// All that its subscripts depend on is the same.
    Fixed,
    /// Something varies, maybe as a function of the loops' counters.
    Moving,
    /// Not even its extents have a reading.
    Unknown,
}

/// A launch whose kernel is modelled.
pub(in crate::dependence) struct Instance<'a> {
    pub(in crate::dependence) node: NodeId,
    pub(in crate::dependence) launch: &'a Launch,
    pub(in crate::dependence) model: &'a KernelModel,
    pub(in crate::dependence) shape: Shape,
    pub(in crate::dependence) uses: Vec<TargetUse>,
    /// What the model relies on, undecided at compile time.
    pub(in crate::dependence) conditions: Vec<Guard>,
    /// The same as facts about the uniform values.
    pub(in crate::dependence) facts: Vec<Polynomial>,
    /// Why the model cannot be used at this launch.
    pub(in crate::dependence) broken: Option<String>,
}

impl<'a> Instance<'a> {
    /// The model at the launch.
    pub(in crate::dependence) fn new(
        graph: &LaunchGraph,
        node: NodeId,
        launch: &'a Launch,
        model: &'a KernelModel,
    ) -> Self {
        let mut readings = Vec::new();
        let extent = |values: &[ValueId; 3], readings: &mut Vec<Condition<ValueId>>| {
            [0, 1, 2].map(|axis| {
                match host_value(graph, values[axis], 32, false, readings) {
                    Some(expression) => leaf_polynomial(&expression),
                    // A holder of another width: the value has no reading as an extent.
                    None => Polynomial::atom(Atom::SinkSide(Box::new(Atom::Value(values[axis])))),
                }
            })
        };
        let mut grid = extent(&launch.grid, &mut readings);
        if model.iteration_of.is_some() {
            // The number of iterations, which whoever counts by them tests to be positive.
            let count = launch.grid[0];
            let own = Polynomial::atom(Atom::Value(count));
            grid[0] = host_polynomial(&graph.extent(count)).unwrap_or(own);
        }
        let block = extent(&launch.block, &mut readings);
        let mut broken = None;
        let mut stated = Vec::new();
        for precondition in &model.preconditions {
            let at_launch = precondition
                .substitute(&mut |symbol| host_symbol(graph, launch, symbol, &mut readings));
            match at_launch {
                None => {
                    broken = Some(String::from(
                        "its indices depend on values that the host program does not show",
                    ));
                }
                Some(condition) => stated.push(condition),
            }
        }
        let uses = target_uses(graph, launch, model, &mut readings);
        // The parameters' own readings are conditions as well.
        for parameter in &model.parameters {
            let _ = parameter
                .substitute(&mut |symbol| host_symbol(graph, launch, symbol, &mut readings));
        }
        stated.extend(readings);
        let mut conditions = Vec::new();
        let mut facts = Vec::new();
        for condition in stated {
            match condition.decided() {
                Some(true) => {}
                Some(false) => {
                    broken = Some(String::from("its indices may wrap around at this launch"));
                }
                None => {
                    collect_facts(&condition, &mut facts);
                    let guard = Guard::Holds {
                        class: String::from("wrap"),
                        condition,
                    };
                    if !conditions.contains(&guard) {
                        conditions.push(guard);
                    }
                }
            }
        }
        if guards_contradict(&conditions) {
            broken = Some(String::from(
                "what its indices rely on holds at no launch all together",
            ));
        }
        Self {
            node,
            launch,
            model,
            shape: Shape { grid, block },
            uses,
            conditions,
            facts,
            broken,
        }
    }

    /// The values of the model's parameters when it runs with `shape`.
    pub(in crate::dependence) fn parameters(
        &self,
        graph: &LaunchGraph,
        shape: &Shape,
    ) -> Vec<Polynomial> {
        let mut ignored = Vec::new();
        self.model
            .parameters
            .iter()
            .enumerate()
            .map(|(index, parameter)| {
                let mut leaf = |symbol: &KernelSymbol| {
                    Some(match symbol {
                        KernelSymbol::GridSize(axis) => shape.grid[axis.index()].clone(),
                        KernelSymbol::BlockSize(axis) => shape.block[axis.index()].clone(),
                        _ => match host_symbol(graph, self.launch, symbol, &mut ignored) {
                            Some(expression) => leaf_polynomial(&expression),
                            None => Polynomial::atom(Atom::Private(self.node, symbol.clone())),
                        },
                    })
                };
                Polynomial::from_expression(parameter, &mut leaf).unwrap_or_else(|| {
                    // Too large to write down: a value of its own.
                    let symbol = KernelSymbol::Opaque(usize::MAX - index);
                    Polynomial::atom(Atom::Private(self.node, symbol))
                })
            })
            .collect()
    }

    /// What is known of it in other iterations of the loops around it.
    pub(in crate::dependence) fn motion(&self, graph: &LaunchGraph) -> Motion {
        if self.is_invariant(graph) && !self.has_courses(graph) {
            return Motion::Fixed;
        }
        let extents = self.shape.grid.iter().chain(&self.shape.block);
        let mut atoms = extents.flat_map(|extent| extent.terms.keys().flatten());
        match atoms.all(|atom| matches!(atom, Atom::Value(_))) {
            true => Motion::Moving,
            false => Motion::Unknown,
        }
    }

    /// Whether all that its subscripts depend on is the same in all iterations of all loops; its
    /// pointers may vary.
    fn is_invariant(&self, graph: &LaunchGraph) -> bool {
        let varies = |value: &ValueId| graph.values[value.0].varies_in.is_some();
        let launch = self.launch;
        let extents = launch.grid.iter().chain(&launch.block);
        let scalars = launch.arguments.iter().flat_map(|argument| {
            let pieces = argument.pieces.iter();
            pieces.filter(|piece| piece.pointer.is_none())
        });
        let known = |polynomial: &Polynomial| {
            let mut atoms = polynomial.terms.keys().flatten();
            atoms.all(|atom| match atom {
                Atom::Value(value) => !varies(value),
                _ => false,
            })
        };
        !extents.chain([&launch.shared_bytes]).any(varies)
            && !scalars.map(|piece| &piece.value).any(varies)
            && self.inputs(graph).iter().all(known)
            && self.shape.grid.iter().chain(&self.shape.block).all(known)
    }

    /// Whether it touches places that move with the iterations of a loop in a known way.
    fn has_courses(&self, graph: &LaunchGraph) -> bool {
        let varies = |value: &ValueId| graph.values[value.0].varies_in.is_some();
        self.uses.iter().any(|used| {
            let place = &used.place;
            let offset = place.offset.iter().flat_map(Polynomial::atoms);
            let mut moving = offset.filter_map(|atom| match atom {
                Atom::Value(value) => Some(value),
                _ => None,
            });
            place.pointer.is_some_and(|pointer| {
                varies(&pointer) && graph.iterations.courses.contains_key(&pointer)
            }) || moving.any(varies)
        })
    }

    /// The values of all arguments that the model's parameters are made of, in order.
    pub(in crate::dependence) fn inputs(&self, graph: &LaunchGraph) -> Vec<Polynomial> {
        let mut inputs = Vec::new();
        for parameter in &self.model.parameters {
            let _ = parameter.substitute(&mut |symbol| {
                if !matches!(
                    symbol,
                    KernelSymbol::GridSize(_) | KernelSymbol::BlockSize(_)
                ) {
                    let value = host_symbol(graph, self.launch, symbol, &mut Vec::new());
                    inputs.push(match value {
                        Some(expression) => leaf_polynomial(&expression),
                        None => Polynomial::atom(Atom::Private(self.node, symbol.clone())),
                    });
                }
                Some(Expression::<ValueId>::Constant(0))
            });
        }
        inputs
    }

    /// A place that is the whole device, for launches that are not modelled.
    pub(in crate::dependence) fn anywhere() -> Place {
        Place {
            base: Base::Anything,
            pointer: None,
            offset: None,
            may_point_to: None,
            operand: None,
            device_only: false,
            name: String::from("device memory"),
        }
    }
}

/// Memory of which no variable is known.
pub(in crate::dependence) const UNNAMED: &str = "memory behind a pointer";

/// The place that a pointer of the launch graph names.
pub(in crate::dependence) fn pointer_place(graph: &LaunchGraph, pointer: &Pointer) -> Place {
    let name = match &pointer.root {
        Root::Buffer(buffer) => graph.buffers[buffer.0].name.clone(),
        Root::Value(_) => match pointer.may_point_to.as_deref() {
            Some(several) if (1..=3).contains(&several.len()) => {
                let names: Vec<_> = several
                    .iter()
                    .map(|buffer| graph.buffers[buffer.0].name.as_str())
                    .collect();
                names.join(" or ")
            }
            _ => String::from(UNNAMED),
        },
    };
    let (base, may_point_to) = match pointer.root {
        Root::Buffer(buffer) => (Base::Buffer(buffer), Some(vec![buffer])),
        Root::Value(value) => (Base::Value(value), pointer.may_point_to.clone()),
    };
    Place {
        base,
        pointer: None,
        offset: pointer.offset_bytes.as_ref().and_then(host_polynomial),
        may_point_to,
        operand: None,
        device_only: pointer.device_only,
        name,
    }
}

/// The polynomial of an expression of the launch graph.
pub(in crate::dependence) fn host_polynomial(
    expression: &Expression<ValueId>,
) -> Option<Polynomial> {
    Polynomial::from_expression(expression, &mut |value: &ValueId| {
        Some(Polynomial::atom(Atom::Value(*value)))
    })
}

fn leaf_polynomial(expression: &Expression<ValueId>) -> Polynomial {
    match expression {
        Expression::Leaf(value) => Polynomial::atom(Atom::Value(*value)),
        other => Polynomial::constant(other.as_constant().unwrap_or(0)),
    }
}

/// What a launch must satisfy so that all threads of its blocks reach a barrier of its kernel, where that is known to depend on
/// the launch; `None` where it is not, or where it cannot be so.
pub fn barrier_conditions(
    graph: &LaunchGraph,
    launch: &Launch,
    barrier: &Barrier,
) -> Option<Vec<Guard>> {
    let mut readings = Vec::new();
    let mut stated = Vec::new();
    for condition in &barrier.reached_if {
        let at_launch =
            condition.substitute(&mut |symbol| host_symbol(graph, launch, symbol, &mut readings));
        stated.push(at_launch?);
    }
    if stated.is_empty() {
        return None;
    }
    let mut guards = Vec::new();
    for condition in stated.into_iter().chain(readings) {
        match condition.decided() {
            Some(true) => {}
            Some(false) => return None,
            None => guards.push(Guard::Holds {
                class: String::from("barrier"),
                condition,
            }),
        }
    }
    Some(guards)
}

/// A kernel symbol as a host value; what its reading relies on is added to `readings`.
pub(in crate::dependence) fn host_symbol(
    graph: &LaunchGraph,
    launch: &Launch,
    symbol: &KernelSymbol,
    readings: &mut Vec<Condition<ValueId>>,
) -> Option<Expression<ValueId>> {
    let extent = |values: &[ValueId; 3], axis: &Axis, readings: &mut Vec<_>| {
        host_value(graph, values[axis.index()], 32, false, readings)
    };
    match symbol {
        KernelSymbol::GridSize(axis) => extent(&launch.grid, axis, readings),
        KernelSymbol::BlockSize(axis) => extent(&launch.block, axis, readings),
        KernelSymbol::Opaque(_) => None,
        KernelSymbol::Argument {
            argument,
            offset_bytes,
            bits,
            signed,
        } => {
            let piece = find_piece(launch, *argument, *offset_bytes)?;
            let constant = graph.values[piece.value.0].constant.is_some();
            if piece.bits != *bits && !(constant && piece.bits > *bits) {
                return None;
            }
            host_value(graph, piece.value, *bits, *signed, readings)
        }
    }
}

/// A host value read with `bits` and `signed`: its constant, or itself when its witness reads it
/// the same way, or differs in the sign only (then the value must be in both ranges).
fn host_value(
    graph: &LaunchGraph,
    value: ValueId,
    bits: u32,
    signed: bool,
    readings: &mut Vec<Condition<ValueId>>,
) -> Option<Expression<ValueId>> {
    let host = &graph.values[value.0];
    if let Some(constant) = host.constant {
        return read_constant(constant, bits, signed).map(Expression::Constant);
    }
    let (holder_bits, holder_signed) = match host.holder.1 {
        Operand::Grid(_) | Operand::Block(_) => (32, false),
        Operand::SharedBytes => (64, false),
        Operand::Stream => return None,
        Operand::Argument { bits, signed, .. } => (bits, signed),
    };
    if holder_bits != bits {
        return None;
    }
    let leaf = Expression::Leaf(value);
    if holder_signed != signed {
        let reading = if holder_signed {
            Condition::LessEqual(Expression::Constant(0), leaf.clone())
        } else {
            let largest = i64::MAX >> (64 - bits.clamp(1, 64));
            Condition::LessEqual(leaf.clone(), Expression::Constant(largest))
        };
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    Some(leaf)
}

/// The low `bits` of a constant, read as asked; `None` for what 64 signed bits do not hold.
fn read_constant(constant: i64, bits: u32, signed: bool) -> Option<i64> {
    let unused = 64 - bits.clamp(1, 64);
    if signed {
        return Some((constant << unused) >> unused);
    }
    let value = ((constant as u64) << unused) >> unused;
    i64::try_from(value).ok()
}

fn find_piece(launch: &Launch, argument: usize, offset_bytes: u32) -> Option<&ArgumentPiece> {
    launch
        .arguments
        .get(argument)?
        .pieces
        .iter()
        .find(|piece| piece.offset_bytes == offset_bytes)
}

fn target_uses(
    graph: &LaunchGraph,
    launch: &Launch,
    model: &KernelModel,
    readings: &mut Vec<Condition<ValueId>>,
) -> Vec<TargetUse> {
    let mut by_target: BTreeMap<&Target, TargetUse> = BTreeMap::new();
    for (index, access) in model.accesses.iter().enumerate() {
        if matches!(access.target, Target::Shared(_) | Target::UnknownShared) {
            continue;
        }
        let entry = by_target.entry(&access.target).or_insert_with(|| {
            let bounds = model
                .footprints
                .iter()
                .find(|footprint| footprint.target == access.target);
            let mut bound = |bytes: &Expression<KernelSymbol>| {
                bytes.substitute(&mut |symbol| host_symbol(graph, launch, symbol, readings))
            };
            let footprint = bounds.and_then(|footprint| {
                let low = footprint.low_bytes.as_ref().map(&mut bound);
                let high = footprint.high_bytes.as_ref().map(&mut bound);
                low.flatten().zip(high.flatten())
            });
            let columns = bounds.and_then(|footprint| footprint.columns.as_ref());
            let columns = columns.and_then(|columns| {
                Some(Columns {
                    pitch_bytes: bound(&columns.pitch_bytes)?,
                    low_bytes: bound(&columns.low_bytes)?,
                    high_bytes: bound(&columns.high_bytes)?,
                })
            });
            let range = footprint
                .as_ref()
                .and_then(|(low, high)| Some((host_polynomial(low)?, host_polynomial(high)?)));
            TargetUse {
                place: target_place(graph, launch, (model, &access.target)),
                reads: Vec::new(),
                writes: Vec::new(),
                footprint,
                columns,
                range,
            }
        });
        // What may change places with others is not the same as what may not.
        let reduction = |access: &Access| match access.kind {
            AccessKind::Reduction(reduction) => Some(reduction),
            _ => None,
        };
        // Accesses that differ in their place in the source only count once.
        let same = |known: &usize| {
            let known = &model.accesses[*known];
            known.subscript == access.subscript
                && known.size_bytes == access.size_bytes
                && known.domain == access.domain
                && known.exact == access.exact
                && reduction(known) == reduction(access)
        };
        let (reads, writes) = match access.kind {
            AccessKind::Read => (true, false),
            AccessKind::Write => (false, true),
            AccessKind::Reduction(_) | AccessKind::Atomic => (true, true),
        };
        if reads && !entry.reads.iter().any(same) {
            entry.reads.push(index);
        }
        if writes && !entry.writes.iter().any(same) {
            entry.writes.push(index);
        }
    }
    by_target.into_values().collect()
}

fn target_place(
    graph: &LaunchGraph,
    launch: &Launch,
    (model, target): (&KernelModel, &Target),
) -> Place {
    // Where the host's variable is not known, the kernel's parameter has a name; with the kernel's before it, it is
    // no variable's.
    let parameter = |argument: usize| {
        let formal = model.formals.get(argument)?;
        let name = format!("{}.{}", model.display_name, formal.name);
        (!formal.name.is_empty()).then_some(name)
    };
    let by_number = |argument: usize| {
        parameter(argument).unwrap_or_else(|| format!("memory behind argument {argument}"))
    };
    let zero = Some(Polynomial::default());
    match target {
        Target::Argument {
            argument,
            offset_bytes,
        } => {
            let operand = Operand::Argument {
                argument: *argument,
                offset_bytes: *offset_bytes,
                bits: 64,
                signed: false,
            };
            let place = match find_piece(launch, *argument, *offset_bytes) {
                None => Place {
                    name: by_number(*argument),
                    ..Instance::anywhere()
                },
                Some(piece) => match &piece.pointer {
                    Some(pointer) => Place {
                        pointer: Some(piece.value),
                        ..pointer_place(graph, pointer)
                    },
                    None => Place {
                        base: Base::Value(piece.value),
                        pointer: Some(piece.value),
                        offset: zero,
                        may_point_to: None,
                        operand: None,
                        device_only: false,
                        name: by_number(*argument),
                    },
                },
            };
            let name = match place.name == UNNAMED {
                true => parameter(*argument).unwrap_or(place.name),
                false => place.name,
            };
            Place {
                operand: Some(operand),
                name,
                ..place
            }
        }
        Target::Global(name) => {
            let mut listed = (0..graph.buffers.len())
                .filter(|index| graph.buffers[*index].variable.as_deref() == Some(name));
            match (listed.next(), listed.next()) {
                (Some(index), None) => Place {
                    base: Base::Buffer(BufferId(index)),
                    pointer: None,
                    offset: zero,
                    may_point_to: Some(vec![BufferId(index)]),
                    operand: None,
                    device_only: graph.buffers[index].memory != MemoryKind::Managed,
                    name: graph.buffers[index].name.clone(),
                },
                // Not listed, or two units have variables of this name.
                _ => Place {
                    base: Base::Variable(name.clone()),
                    pointer: None,
                    offset: zero,
                    may_point_to: None,
                    operand: None,
                    device_only: false,
                    name: name.clone(),
                },
            }
        }
        Target::Unknown | Target::Shared(_) | Target::UnknownShared => Instance::anywhere(),
    }
}

/// What a condition says about uniform values, each polynomial at least zero.
fn collect_facts(condition: &Condition<ValueId>, facts: &mut Vec<Polynomial>) {
    let difference =
        |larger, smaller| host_polynomial(larger)?.subtract(&host_polynomial(smaller)?);
    match condition {
        Condition::LessEqual(a, b) => facts.extend(difference(b, a)),
        Condition::Equal(a, b) => {
            facts.extend(difference(a, b));
            facts.extend(difference(b, a));
        }
        Condition::All(parts) => parts.iter().for_each(|part| collect_facts(part, facts)),
        Condition::Any(_) => {}
    }
}
