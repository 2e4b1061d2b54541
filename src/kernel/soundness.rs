//! A test of the stage's invariant: kernels are interpreted, and every access that happens must be
//! in the model, at that block, thread and iteration, when the preconditions hold. Accesses that
//! the model calls exact must happen wherever it says.
//!
//! The interpreter runs each thread alone and reads random values from memory, since a model must
//! hold whatever memory contains.

mod blocks;
mod point;

use super::address::Root;
use super::assembly::converted_address;
use super::body::{
    BinaryOperator, BlockRef, Body, Cast, Operation, Predicate, Terminator, Type, ValueRef,
};
use super::cfg::Flow;
use super::features::{Effect, Touch, effects};
use super::{Access, KernelModel, Target};
use crate::math::affine::Axis;
use inkwell::context::Context;
use point::{Point, evaluate, holds};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Steps after which a thread is left alone; what it did so far is checked all the same.
const STEPS: usize = 4_000;
/// Launches tried for each kernel.
const LAUNCHES: usize = 8;

#[derive(Clone, Debug, PartialEq)]
enum Bits {
    Integer(u64),
    Pointer(Root, i64),
    Unknown,
}

struct Launch {
    grid: [i64; 3],
    block: [i64; 3],
    /// By argument and offset.
    scalars: HashMap<(usize, u32), i64>,
}

/// What one thread did: target, offset and size, loops around and their counters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    root: Root,
    offset: i64,
    bytes: Option<u32>,
    writes: bool,
    loops: Vec<usize>,
    counters: Vec<i64>,
    /// Which row of a tile it is.
    row: Option<i64>,
    /// What the numbers are of which the model only knows bounds, by value of the body.
    unknowns: BTreeMap<usize, i64>,
}

#[test]
fn models_cover_what_kernels_do() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources: Vec<PathBuf> = ["tests/kernel"]
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "cu"))
        .collect();
    sources.sort();
    let events: usize = sources.par_iter().map(|source| check_source(source)).sum();
    assert!(events > 10_000, "only {events} accesses were checked");
}

fn check_source(source: &Path) -> usize {
    let words = ["--sirius-device=cpu", "-arch=sm_80", "-c"];
    let mut arguments: Vec<OsString> = words.map(OsString::from).to_vec();
    arguments.push(source.into());
    let environment = |name: &str| std::env::var(name).ok();
    let (crate::driver::cli::Invocation::Build(build), _) =
        crate::driver::cli::parse(&arguments, &environment).unwrap()
    else {
        panic!("not a compile command");
    };
    let toolchain = crate::tools::find_toolchain(&build).unwrap();
    let context = Context::create();
    let program = crate::program::read_program(&context, &build, &toolchain).unwrap();
    let mut checked = 0;
    for kernel in &program.kernels {
        let function = program.analysis.get_function(&kernel.unique_name).unwrap();
        let body = super::read::read_body(function);
        let model = super::model::model_body(&body, kernel.id, &kernel.name);
        checked += check_kernel(&body, &model);
    }
    checked
}

fn check_kernel(body: &Body, model: &KernelModel) -> usize {
    let flow = Flow::new(body);
    let unknowns: Vec<_> = model
        .loops
        .iter()
        .filter_map(|each| Some(each.unknown.as_ref()?.value))
        .collect();
    let effects: Vec<Vec<Effect>> = (0..body.values.len())
        .map(|value| effects(body, ValueRef(value)))
        .collect();
    let mut random = StdRng::seed_from_u64(7);
    let mut checked = 0;
    let mut checks = blocks::BlockChecks::new(model);
    for _ in 0..LAUNCHES {
        let mut launch = Launch {
            grid: std::array::from_fn(|_| random.random_range(1..4)),
            block: [random.random_range(1..40), random.random_range(1..4), 1],
            scalars: HashMap::new(),
        };
        // Every symbol that the kernel can read.
        for value in 0..body.formals.len() {
            for offset in 0..body.formals[value].bytes.min(256) {
                let scalar = match random.random_range(0..10) {
                    0 => random.random_range(-3..3),
                    1 => random.random_range(i64::from(i32::MAX) - 40..=i64::from(i32::MAX)),
                    _ => random.random_range(1..60),
                };
                launch.scalars.insert((value, offset), scalar);
            }
        }
        if !model.preconditions.iter().all(|each| holds(each, &launch)) {
            continue;
        }
        for _ in 0..12 {
            let block: [i64; 3] = std::array::from_fn(|a| random.random_range(0..launch.grid[a]));
            let thread: [i64; 3] = std::array::from_fn(|a| random.random_range(0..launch.block[a]));
            let mut machine = Machine {
                body,
                flow: &flow,
                launch: &launch,
                block,
                thread,
                random: StdRng::seed_from_u64(random.random()),
                values: vec![None; body.values.len()],
                effects: &effects,
                kept: HashMap::new(),
                counters: vec![-1; flow.loops.len()],
                events: BTreeSet::new(),
                undefined: false,
                unknowns: unknowns.clone(),
            };
            let finished = machine.run();
            for event in &machine.events {
                checked += 1;
                let covered = model
                    .accesses
                    .iter()
                    .any(|access| covers(model, access, event, &launch, (block, thread)));
                assert!(
                    covered,
                    "{} is not covered at block {block:?}, thread {thread:?} of {:?}:\n{event:?}\n{model}",
                    model.name, launch.scalars
                );
            }
            for event in &machine.events {
                check_footprint(model, event, &launch);
                checks.check(event, &launch, block);
            }
            if finished {
                check_exact(model, &machine.events, &launch, (block, thread));
            }
        }
    }
    checked
}

fn target_matches(target: &Target, root: &Root) -> bool {
    match (target, root) {
        (
            Target::Argument {
                argument,
                offset_bytes,
            },
            Root::Argument {
                argument: a,
                offset_bytes: o,
            },
        ) => argument == a && offset_bytes == o,
        (Target::Global(name), Root::Global(other)) => name == other,
        (Target::Shared(name), Root::Shared(other)) => name == other,
        (Target::Unknown, Root::Argument { .. } | Root::Global(_) | Root::Unknown(_)) => true,
        (Target::UnknownShared, Root::Shared(_)) => true,
        _ => false,
    }
}

fn covers(
    model: &KernelModel,
    access: &Access,
    event: &Event,
    launch: &Launch,
    at: ([i64; 3], [i64; 3]),
) -> bool {
    let writes = access.kind != super::AccessKind::Read;
    if writes != event.writes || !target_matches(&access.target, &event.root) {
        return false;
    }
    // A row of a tile is one more loop of the model, unless the tile is not told.
    let (mut loops, mut counters) = (event.loops.clone(), event.counters.clone());
    let natural = natural(model, access);
    if let Some(row) = event.row
        && natural.len() > loops.len()
    {
        loops.extend(natural.last());
        counters.push(row);
    }
    if natural != loops {
        return false;
    }
    let point = Point {
        model,
        launch,
        at,
        loops: &loops,
        counters: &counters,
        unknowns: &event.unknowns,
    };
    point.inside(access)
        && match &access.subscript {
            None => true,
            Some(subscript) => {
                point.value(subscript) == event.offset && event.bytes == Some(access.size_bytes)
            }
        }
}

/// The loops around an access, without its quotients and unknown numbers.
fn natural(model: &KernelModel, access: &Access) -> Vec<usize> {
    let loops = access.loops.iter().copied();
    loops
        .filter(|index| {
            let each = &model.loops[*index];
            each.quotient.is_none() && each.unknown.is_none()
        })
        .collect()
}

/// Every byte lies within the bounds of its target.
fn check_footprint(model: &KernelModel, event: &Event, launch: &Launch) {
    if matches!(event.root, Root::Shared(_)) {
        return;
    }
    let within = model.footprints.iter().any(|footprint| {
        let low = footprint.low_bytes.as_ref();
        let high = footprint.high_bytes.as_ref();
        let (start, bytes) = (
            i128::from(event.offset),
            i128::from(event.bytes.unwrap_or(0)),
        );
        target_matches(&footprint.target, &event.root)
            && (footprint.written || !event.writes)
            && low.is_none_or(|low| evaluate(low, launch) <= start)
            && high.is_none_or(|high| start + bytes <= evaluate(high, launch))
            && footprint.columns.as_ref().is_none_or(|columns| {
                let [pitch, low, high] = [
                    &columns.pitch_bytes,
                    &columns.low_bytes,
                    &columns.high_bytes,
                ]
                .map(|each| evaluate(each, launch));
                // Of some row they are in the columns: the latest that begins early enough.
                pitch <= 0 || (start - low).rem_euclid(pitch) + low + bytes <= high
            })
    });
    assert!(
        within,
        "{event:?} is outside the footprints for {:?}, grid {:?}, block {:?}\n{model}",
        launch.scalars, launch.grid, launch.block
    );
}

/// Where an exact access's domain holds, the thread did it.
fn check_exact(
    model: &KernelModel,
    events: &BTreeSet<Event>,
    launch: &Launch,
    at: ([i64; 3], [i64; 3]),
) {
    for access in model.accesses.iter().filter(|access| access.exact) {
        let Some(subscript) = &access.subscript else {
            continue;
        };
        let loops = natural(model, access);
        let depth = loops.len();
        for index in 0..6i64.pow(depth as u32) {
            let counters: Vec<_> = (0..depth).map(|d| index / 6i64.pow(d as u32) % 6).collect();
            let point = Point {
                model,
                launch,
                at,
                loops: &loops,
                counters: &counters,
                unknowns: &BTreeMap::new(),
            };
            if !point.inside(access) {
                continue;
            }
            let offset = point.value(subscript);
            let happened = events.iter().any(|event| {
                event.offset == offset
                    && event.loops == loops
                    && event.counters == counters
                    && target_matches(&access.target, &event.root)
            });
            assert!(
                happened,
                "{access} does not happen at {at:?} {counters:?} of {:?}\n{model}",
                launch.scalars
            );
        }
    }
}

fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

fn signed_reading(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.min(64);
    ((value << shift) as i64) >> shift
}

struct Machine<'a> {
    body: &'a Body,
    flow: &'a Flow,
    launch: &'a Launch,
    block: [i64; 3],
    thread: [i64; 3],
    random: StdRng,
    /// By value of the body, those that were computed.
    values: Vec<Option<Bits>>,
    /// By value of the body.
    effects: &'a [Vec<Effect>],
    /// What the thread's own variables hold, by variable and byte.
    kept: HashMap<(ValueRef, i64), Bits>,
    counters: Vec<i64>,
    events: BTreeSet<Event>,
    /// Signed overflow that the source rules out: what follows means nothing.
    undefined: bool,
    /// Values whose numbers the model only bounds.
    unknowns: Vec<usize>,
}

impl Machine<'_> {
    /// Runs to the end; false when it took too long.
    fn run(&mut self) -> bool {
        let (mut at, mut from) = (BlockRef(0), None);
        for _ in 0..STEPS {
            if let Some(index) = self.flow.loops.iter().position(|each| each.header == at) {
                let again = from.is_some_and(|from| self.flow.loops[index].blocks.contains(&from));
                self.counters[index] = if again { self.counters[index] + 1 } else { 0 };
            }
            let phis: Vec<_> = self
                .body
                .block(at)
                .instructions
                .iter()
                .filter_map(|value| {
                    let Operation::Phi(incoming) = &self.body.value(*value).operation else {
                        return None;
                    };
                    let (source, _) = incoming.iter().find(|(_, block)| Some(*block) == from)?;
                    Some((*value, self.get(*source)))
                })
                .collect();
            for (phi, value) in phis {
                self.values[phi.0] = Some(value);
            }
            for value in self.body.block(at).instructions.clone() {
                self.execute(value, at);
                if self.undefined {
                    return false;
                }
            }
            let next = match &self.body.block(at).terminator {
                Terminator::Jump(to) => *to,
                Terminator::Branch {
                    condition,
                    on_true,
                    on_false,
                } => {
                    let taken = match self.get(*condition) {
                        Bits::Integer(bit) => bit & 1 == 1,
                        _ => self.random.random(),
                    };
                    if taken { *on_true } else { *on_false }
                }
                Terminator::Switch {
                    value,
                    cases,
                    default,
                } => {
                    let bits = self.bits(*value);
                    let to = match self.get(*value) {
                        Bits::Integer(chosen) => cases
                            .iter()
                            .find(|(literal, _)| *literal as u64 & mask(bits) == chosen)
                            .map(|(_, to)| *to),
                        _ => None,
                    };
                    // What LLVM says never occurs is undefined behaviour, of which models say
                    // nothing.
                    match to.or(*default) {
                        Some(to) => to,
                        None => return true,
                    }
                }
                Terminator::Return | Terminator::Unreachable | Terminator::Other(_) => return true,
            };
            from = Some(at);
            at = next;
        }
        false
    }

    fn bits(&self, value: ValueRef) -> u32 {
        match self.body.value(value).value_type {
            Type::Integer(bits) => bits.min(64),
            _ => 64,
        }
    }

    fn get(&self, value: ValueRef) -> Bits {
        if let Some(known) = &self.values[value.0] {
            return known.clone();
        }
        let bits = self.bits(value);
        match &self.body.value(value).operation {
            Operation::Constant(literal) => Bits::Integer(*literal as u64 & mask(bits)),
            Operation::Argument(argument) => match self.body.value(value).value_type {
                Type::Pointer(_) => Bits::Pointer(
                    Root::Argument {
                        argument: *argument,
                        offset_bytes: 0,
                    },
                    0,
                ),
                Type::Integer(_) => {
                    Bits::Integer(self.launch.scalars[&(*argument, 0)] as u64 & mask(bits))
                }
                Type::Other => Bits::Unknown,
            },
            Operation::ByValueArgument(argument) => Bits::Pointer(Root::ByValue(*argument), 0),
            Operation::Global(variable) if variable.address_space == 3 => {
                Bits::Pointer(Root::Shared(variable.name.clone()), 0)
            }
            Operation::Global(variable) => Bits::Pointer(Root::Global(variable.name.clone()), 0),
            Operation::Null | Operation::Undefined => Bits::Unknown,
            // Constant expressions.
            _ if self.body.value(value).block.is_none() => {
                self.compute(value).unwrap_or(Bits::Unknown)
            }
            _ => Bits::Unknown,
        }
    }

    /// The thread's variable that an address leads into, where it is computed from that alone.
    fn variable(&self, address: ValueRef) -> Option<ValueRef> {
        match &self.body.value(address).operation {
            Operation::Alloca => Some(address),
            Operation::Offset { base, .. } => self.variable(*base),
            Operation::Cast { operand, .. } => self.variable(*operand),
            _ => None,
        }
    }

    fn execute(&mut self, value: ValueRef, block: BlockRef) {
        self.undefined = self.overflows(value);
        if self.undefined {
            return;
        }
        for effect in &self.effects[value.0] {
            let Effect::Touch(Touch {
                kind,
                pointer: Some(pointer),
                offset_bytes,
                bytes,
                rows,
                ..
            }) = effect
            else {
                continue;
            };
            let Bits::Pointer(root, offset) = self.get(*pointer) else {
                continue;
            };
            if let (Operation::Store { value, .. }, Root::Local, Some(variable)) = (
                &self.body.value(value).operation,
                &root,
                self.variable(*pointer),
            ) {
                let stored = self.get(*value);
                self.kept.insert((variable, offset), stored);
            }
            if matches!(root, Root::Local | Root::ByValue(_) | Root::Null) {
                continue;
            }
            let loops = self.flow.loops_of(block);
            let counters = loops.iter().map(|index| self.counters[*index]).collect();
            let unknowns = self
                .unknowns
                .iter()
                .filter_map(|index| match &self.values[*index] {
                    Some(Bits::Integer(number)) => {
                        let bits = self.bits(ValueRef(*index));
                        Some((*index, signed_reading(*number, bits)))
                    }
                    _ => None,
                })
                .collect();
            let event = Event {
                unknowns,
                root,
                offset: offset.wrapping_add(*offset_bytes),
                bytes: *bytes,
                writes: *kind != super::AccessKind::Read,
                loops,
                counters,
                row: None,
            };
            let Some(rows) = rows else {
                self.events.insert(event);
                continue;
            };
            let Bits::Integer(stride) = self.get(rows.stride) else {
                continue;
            };
            let stride = signed_reading(stride, 32) * i64::from(rows.element_bytes);
            self.events
                .extend((0..i64::from(rows.count)).map(|row| Event {
                    offset: event.offset + row * stride,
                    row: Some(row),
                    ..event.clone()
                }));
        }
        if matches!(self.body.value(value).operation, Operation::Phi(_)) {
            return;
        }
        let result =
            self.compute(value)
                .unwrap_or_else(|| match self.body.value(value).value_type {
                    Type::Integer(bits) => {
                        Bits::Integer(self.random.random_range(0..70u64) & mask(bits))
                    }
                    _ => Bits::Unknown,
                });
        self.values[value.0] = Some(result);
    }

    fn overflows(&self, value: ValueRef) -> bool {
        let Operation::Binary {
            operator,
            left,
            right,
            no_signed_wrap,
            no_unsigned_wrap,
            ..
        } = &self.body.value(value).operation
        else {
            return false;
        };
        let (Bits::Integer(a), Bits::Integer(b)) = (self.get(*left), self.get(*right)) else {
            return false;
        };
        let bits = self.bits(value);
        let (x, y) = (
            i128::from(signed_reading(a, bits)),
            i128::from(signed_reading(b, bits)),
        );
        let (u, v) = (i128::from(a), i128::from(b));
        let (signed, unsigned) = match operator {
            BinaryOperator::Add => (x + y, u + v),
            BinaryOperator::Subtract => (x - y, u - v),
            BinaryOperator::Multiply => (x * y, u * v),
            BinaryOperator::ShiftLeft if v < 64 => (x << v, u << v),
            _ => return false,
        };
        let limit = 1i128 << (bits - 1);
        (*no_signed_wrap && !(-limit..limit).contains(&signed))
            || (*no_unsigned_wrap && !(0..2 * limit).contains(&unsigned))
    }

    /// `None`: any value may come out.
    fn compute(&self, value: ValueRef) -> Option<Bits> {
        let bits = self.bits(value);
        let integer = |at| match self.get(at) {
            Bits::Integer(value) => Some(value),
            _ => None,
        };
        Some(match &self.body.value(value).operation {
            Operation::Binary {
                operator,
                left,
                right,
                ..
            } => match (operator, self.get(*left), self.get(*right)) {
                (BinaryOperator::Add, Bits::Pointer(root, at), Bits::Integer(change))
                | (BinaryOperator::Add, Bits::Integer(change), Bits::Pointer(root, at)) => {
                    Bits::Pointer(root, at.wrapping_add(signed_reading(change, bits)))
                }
                (BinaryOperator::Subtract, Bits::Pointer(root, at), Bits::Integer(change)) => {
                    Bits::Pointer(root, at.wrapping_sub(signed_reading(change, bits)))
                }
                (_, Bits::Integer(a), Bits::Integer(b)) => {
                    Bits::Integer(binary(*operator, a, b, bits)? & mask(bits))
                }
                _ => return None,
            },
            Operation::PointerToInteger(inner) | Operation::IntegerToPointer(inner) => {
                match self.get(*inner) {
                    address @ Bits::Pointer(..) => address,
                    _ => return None,
                }
            }
            Operation::Assembly { .. } => self.get(converted_address(self.body, value)?),
            Operation::Compare {
                predicate,
                left,
                right,
                ..
            } => {
                if let (Bits::Pointer(root, a), Bits::Pointer(other, b)) =
                    (self.get(*left), self.get(*right))
                {
                    // Places in one object are ordered as their offsets are.
                    let holds = compare(predicate.signed(), a as u64, b as u64, 64);
                    return (root == other).then_some(Bits::Integer(holds.into()));
                }
                let (a, b) = (integer(*left)?, integer(*right)?);
                Bits::Integer(compare(*predicate, a, b, self.bits(*left)).into())
            }
            Operation::Cast { cast, operand, .. } => match (cast, self.get(*operand)) {
                (Cast::SignExtend, Bits::Integer(a)) => {
                    Bits::Integer(signed_reading(a, self.bits(*operand)) as u64 & mask(bits))
                }
                (_, Bits::Integer(a)) => Bits::Integer(a & mask(bits)),
                (_, other) => other,
            },
            Operation::Freeze(inner) => self.get(*inner),
            Operation::Absolute(inner) => {
                let magnitude = signed_reading(integer(*inner)?, bits).unsigned_abs();
                Bits::Integer(magnitude & mask(bits))
            }
            Operation::Select {
                condition,
                on_true,
                on_false,
            } => {
                if integer(*condition)? & 1 == 1 {
                    self.get(*on_true)
                } else {
                    self.get(*on_false)
                }
            }
            Operation::Offset {
                base,
                constant,
                terms,
            } => {
                let Bits::Pointer(root, mut offset) = self.get(*base) else {
                    return Some(Bits::Unknown);
                };
                offset = offset.wrapping_add(*constant);
                for (scale, index) in terms {
                    let index = signed_reading(integer(*index)?, self.bits(*index));
                    offset = offset.wrapping_add(index.wrapping_mul(*scale));
                }
                Bits::Pointer(root, offset)
            }
            Operation::Load { pointer, .. } => {
                match (self.get(*pointer), self.body.value(value).value_type) {
                    (Bits::Pointer(Root::ByValue(argument), offset), Type::Pointer(_)) => {
                        Bits::Pointer(
                            Root::Argument {
                                argument,
                                offset_bytes: u32::try_from(offset).ok()?,
                            },
                            0,
                        )
                    }
                    (Bits::Pointer(Root::ByValue(argument), offset), Type::Integer(_)) => {
                        let scalar = self
                            .launch
                            .scalars
                            .get(&(argument, u32::try_from(offset).ok()?))?;
                        Bits::Integer(*scalar as u64 & mask(bits))
                    }
                    (Bits::Pointer(Root::Local, offset), Type::Pointer(_)) => {
                        let place = self.variable(*pointer).map(|variable| (variable, offset));
                        place.and_then(|place| self.kept.get(&place)).cloned()?
                    }
                    (_, Type::Pointer(space)) => Bits::Pointer(Root::Unknown(space), 0),
                    _ => return None,
                }
            }
            Operation::Alloca => Bits::Pointer(Root::Local, 0),
            Operation::Call(call) => {
                let register = call
                    .callee
                    .as_deref()?
                    .strip_prefix("llvm.nvvm.read.ptx.sreg.")?;
                if register == "warpsize" {
                    return Some(Bits::Integer(32));
                }
                let (register, axis) = register.split_once('.')?;
                let axis = Axis::ALL
                    .into_iter()
                    .find(|each| each.name() == axis)?
                    .index();
                let value = match register {
                    "tid" => self.thread[axis],
                    "ctaid" => self.block[axis],
                    "ntid" => self.launch.block[axis],
                    "nctaid" => self.launch.grid[axis],
                    _ => return None,
                };
                Bits::Integer(value as u64)
            }
            _ => return None,
        })
    }
}

fn binary(operator: BinaryOperator, a: u64, b: u64, bits: u32) -> Option<u64> {
    use BinaryOperator::*;
    let (x, y) = (signed_reading(a, bits), signed_reading(b, bits));
    Some(match operator {
        Add => a.wrapping_add(b),
        Subtract => a.wrapping_sub(b),
        Multiply => a.wrapping_mul(b),
        UnsignedDivide => a.checked_div(b)?,
        SignedDivide => x.checked_div(y)? as u64,
        UnsignedRemainder => a.checked_rem(b)?,
        SignedRemainder => x.checked_rem(y)? as u64,
        ShiftLeft if b < bits.into() => a << b,
        LogicalShiftRight if b < bits.into() => a >> b,
        ArithmeticShiftRight if b < bits.into() => (x >> b) as u64,
        ShiftLeft | LogicalShiftRight | ArithmeticShiftRight => return None,
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        SignedMinimum => x.min(y) as u64,
        SignedMaximum => x.max(y) as u64,
        UnsignedMinimum => a.min(b),
        UnsignedMaximum => a.max(b),
    })
}

fn compare(predicate: Predicate, a: u64, b: u64, bits: u32) -> bool {
    let (x, y) = (signed_reading(a, bits), signed_reading(b, bits));
    match predicate {
        Predicate::Equal => a == b,
        Predicate::NotEqual => a != b,
        Predicate::SignedLess => x < y,
        Predicate::SignedLessEqual => x <= y,
        Predicate::SignedGreater => x > y,
        Predicate::SignedGreaterEqual => x >= y,
        Predicate::UnsignedLess => a < b,
        Predicate::UnsignedLessEqual => a <= b,
        Predicate::UnsignedGreater => a > b,
        Predicate::UnsignedGreaterEqual => a >= b,
    }
}
