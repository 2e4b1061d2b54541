//! What inline PTX does, by a table of its instructions.
//!
//! Invariant: an instruction is without effect only when [`COMPUTING`] names it; memory is touched
//! behind the pointer that an operand is followed to, else anywhere in the instruction's address
//! space; a template that is not read, or an instruction that is not known, is
//! [`Effect::Opaque`] by name.

use super::super::body::{Body, Operation, ValueRef};
use super::super::features::{Effect, PARTIAL_COPY, Touch, special_register};
use super::super::ptx::{Instruction, Operand, Statement, read_template};
use super::super::tensor;
use super::super::{AccessKind, Reduction, ReductionOperator, Unfusable};
use crate::ptx::COMPUTING;
use std::collections::HashMap;

/// Instructions by which threads of a warp work together, without touching memory.
const WARP: &[&str] = &[
    "activemask",
    "elect",
    "match",
    "mma",
    "movmatrix",
    "redux",
    "shfl",
    "vote",
];

/// Whether an instruction is without effect: it computes, or says what will be read.
fn computes(family: &str) -> bool {
    COMPUTING.contains(&family) || matches!(family, "prefetch" | "prefetchu")
}

/// Whether an inline assembly surely touches no memory.
pub fn only_computes(template: &str) -> bool {
    read_template(template).is_some_and(|statements| {
        statements.iter().all(|statement| match statement {
            Statement::Registers { .. } | Statement::Label(_) => true,
            Statement::Instruction(instruction) => {
                let name = instruction.opcode[0].as_str();
                computes(name) || WARP.contains(&name)
            }
        })
    })
}

/// Whether an inline assembly computes its results from its operands and nothing else: no memory, no other
/// threads, no special registers, no carry that another one leaves or takes.
pub fn computes_from_operands(template: &str) -> bool {
    let statements = read_template(template);
    let pure = |statement: &Statement| match statement {
        Statement::Registers { .. } => true,
        Statement::Label(_) => false,
        Statement::Instruction(instruction) => {
            let name = instruction.opcode[0].as_str();
            computes(name)
                && !["addc", "madc", "prefetch", "prefetchu", "subc"].contains(&name)
                && !instruction.has("cc")
        }
    };
    !template.contains('%') && statements.is_some_and(|all| all.iter().all(pure))
}

/// The effects of an inline assembly. What it touches without telling LLVM so is told when kernels
/// are fused.
pub fn assembly(body: &Body, value: ValueRef) -> Vec<Effect> {
    let Operation::Assembly { text, .. } = &body.value(value).operation else {
        return Vec::new();
    };
    let Some(mut reader) = Reader::new(body, value) else {
        return vec![unread(text)];
    };
    let Some(statements) = read_template(text) else {
        return vec![unread(text)];
    };
    let mut all = Vec::new();
    for statement in &statements {
        match statement {
            Statement::Registers { .. } => {}
            // Addresses would have to be followed along branches.
            Statement::Label(_) => return vec![unread(text)],
            Statement::Instruction(instruction) => {
                let first = all.len();
                reader.instruction(instruction, &mut all);
                if instruction.predicate.is_some() {
                    for effect in &mut all[first..] {
                        if let Effect::Touch(touch) = effect {
                            touch.why_inexact = "a predicate decides";
                        }
                    }
                }
            }
        }
    }
    all
}

/// The pointer, or the integer made of one, that the assembly's only result is an address of:
/// headers convert generic addresses to shared ones so.
pub fn converted_address(body: &Body, value: ValueRef) -> Option<ValueRef> {
    let Operation::Assembly { text, .. } = &body.value(value).operation else {
        return None;
    };
    let mut reader = Reader::new(body, value)?;
    if reader.results != 1 {
        return None;
    }
    for statement in read_template(text)? {
        match statement {
            Statement::Registers { .. } => {}
            Statement::Label(_) => return None,
            Statement::Instruction(instruction) => {
                reader.instruction(&instruction, &mut Vec::new())
            }
        }
    }
    let (pointer, offset) = reader.registers.get(&Register::Placeholder(0)).copied()??;
    (offset == 0).then_some(pointer)
}

/// What headers of CUDA say to find the shared memory that the system reserves for them; what then
/// goes through that pointer is an access of its own.
const RESERVED_SHARED_MEMORY: &str = "reserved_smem_offset";

fn unread(text: &str) -> Effect {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut words = words.join(" ");
    if words.chars().count() > 60 {
        words = words.chars().take(57).chain("...".chars()).collect();
    }
    Effect::Opaque(format!("uses inline assembly that is not read: `{words}`"))
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Register {
    Placeholder(usize),
    Named(String),
}

/// Follows addresses through the registers of one template.
struct Reader<'a> {
    /// Number of results of the template.
    results: usize,
    /// Inputs, in the order of their places, which follow those of the results.
    inputs: &'a [ValueRef],
    body: &'a Body,
    used: bool,
    /// Values and byte offsets that registers hold; `None`: something else.
    registers: HashMap<Register, Option<(ValueRef, i64)>>,
}

impl<'a> Reader<'a> {
    fn new(body: &'a Body, value: ValueRef) -> Option<Self> {
        let Operation::Assembly {
            constraints,
            arguments,
            ..
        } = &body.value(value).operation
        else {
            return None;
        };
        let mut reader = Self {
            results: 0,
            inputs: arguments,
            body,
            used: body.value(value).used,
            registers: HashMap::new(),
        };
        let mut inputs = 0;
        for constraint in constraints.split(',').filter(|part| !part.is_empty()) {
            if constraint.contains('*') {
                return None;
            }
            if constraint.starts_with("~") {
                continue;
            }
            if constraint.starts_with('=') {
                reader.results += 1;
            } else {
                // A place that is read and written begins with the input that it is tied to.
                if let Ok(tied) = constraint.parse::<usize>() {
                    let value = arguments.get(inputs).map(|value| (*value, 0));
                    reader.registers.insert(Register::Placeholder(tied), value);
                }
                inputs += 1;
            }
        }
        (inputs == arguments.len()).then_some(reader)
    }

    fn instruction(&mut self, instruction: &Instruction, all: &mut Vec<Effect>) {
        let family = instruction.opcode[0].as_str();
        let operands = &instruction.operands;
        for operand in operands {
            self.special(operand, all);
        }
        match family {
            "ld" | "ldu" | "st" => self.load_or_store(instruction, family == "st", all),
            "atom" | "red" if !instruction.has("async") && !instruction.has("shared::cluster") => {
                self.atomic(instruction, all)
            }
            "ldmatrix" | "stmatrix" => {
                all.push(Effect::WarpOperation);
                self.touch(instruction, 3, all, |pointer| {
                    tensor::row_of_matrix(family == "stmatrix", pointer)
                });
            }
            "wmma" => {
                all.push(Effect::WarpOperation);
                if instruction.has("load") || instruction.has("store") {
                    self.tile(instruction, all);
                }
            }
            "bar" | "barrier" => self.barrier(instruction, all),
            "membar" | "fence" => {
                let own_block = instruction.has("cta") && !instruction.has("proxy");
                if !own_block {
                    all.push(Effect::Unfusable(Unfusable::MemoryFence));
                }
            }
            "nanosleep" => all.push(Effect::Unfusable(Unfusable::Sleep)),
            "mbarrier" if !instruction.has("complete_tx") => {
                all.push(Effect::Unfusable(Unfusable::SharedBarrier));
                self.touch(instruction, 3, all, |pointer| {
                    Touch::new(AccessKind::Atomic, pointer, 8)
                });
            }
            "cp" => self.asynchronous_copy(instruction, all),
            "trap" | "brkpt" => all.push(Effect::Print),
            _ if WARP.contains(&family) => all.push(Effect::WarpOperation),
            _ if computes(family) || is_video(family) => {}
            _ => all.push(Effect::Opaque(format!(
                "uses the PTX instruction `{}`",
                instruction.name()
            ))),
        }
        self.follow(instruction);
    }

    /// Special registers among the operands.
    fn special(&self, operand: &Operand, all: &mut Vec<Effect>) {
        match operand {
            Operand::Special(name) if name.starts_with(RESERVED_SHARED_MEMORY) => {}
            Operand::Special(name) => all.extend(special_register(name)),
            Operand::Memory { base, .. } => self.special(base, all),
            Operand::Negated(inner) | Operand::Part { of: inner, .. } => self.special(inner, all),
            Operand::Vector(parts) => parts.iter().for_each(|part| self.special(part, all)),
            Operand::Texel { coordinates, .. } => {
                coordinates.iter().for_each(|part| self.special(part, all));
            }
            Operand::Placeholder(_) | Operand::Name(_) | Operand::Literal(_) => {}
        }
    }

    /// The value and offset that an operand is.
    fn value(&self, operand: &Operand) -> Option<(ValueRef, i64)> {
        match operand {
            Operand::Placeholder(place) => match self.registers.get(&Register::Placeholder(*place))
            {
                Some(known) => *known,
                None => self
                    .inputs
                    .get(place.checked_sub(self.results)?)
                    .map(|value| (*value, 0)),
            },
            Operand::Name(name) => *self.registers.get(&Register::Named(name.clone()))?,
            Operand::Memory { base, offset_bytes } => {
                let (value, offset) = self.value(base)?;
                Some((value, offset.checked_add(*offset_bytes)?))
            }
            _ => None,
        }
    }

    /// An operand's literal, or the literal that its place is given.
    fn literal(&self, operand: &Operand) -> Option<i64> {
        match operand {
            Operand::Literal(value) => Some(*value),
            _ => {
                let (value, offset) = self.value(operand)?;
                self.body.literal(value)?.checked_add(offset)
            }
        }
    }

    /// What the instruction leaves in its results.
    fn follow(&mut self, instruction: &Instruction) {
        let stores = [
            "st", "red", "bar", "barrier", "cp", "membar", "fence", "stmatrix",
        ];
        let family = instruction.opcode[0].as_str();
        if stores.contains(&family) || family == "wmma" && instruction.has("store") {
            return;
        }
        let [result, sources @ ..] = instruction.operands.as_slice() else {
            return;
        };
        let kept = match (family, sources) {
            ("mov" | "cvta", [source]) => self.value(source),
            ("cvt", [source])
                if instruction.opcode[1..]
                    .iter()
                    .all(|part| ["u32", "u64", "s64", "b32", "b64"].contains(&part.as_str())) =>
            {
                self.value(source)
            }
            ("add", [left, right])
                if ["u32", "s32", "u64", "s64"].contains(&instruction.opcode[1].as_str()) =>
            {
                match (self.literal(left), self.literal(right)) {
                    (None, Some(change)) => self
                        .value(left)
                        .and_then(|(value, offset)| Some((value, offset.checked_add(change)?))),
                    (Some(change), None) => self
                        .value(right)
                        .and_then(|(value, offset)| Some((value, offset.checked_add(change)?))),
                    _ => None,
                }
            }
            _ => None,
        };
        // One that is executed for some threads only leaves either value; parts hold no address.
        let is_whole = !matches!(result, Operand::Vector(_) | Operand::Part { .. });
        let kept = kept.filter(|_| instruction.predicate.is_none() && is_whole);
        let mut pending = vec![result];
        while let Some(result) = pending.pop() {
            match result {
                Operand::Placeholder(place) => {
                    self.registers.insert(Register::Placeholder(*place), kept);
                }
                Operand::Name(name) => {
                    self.registers.insert(Register::Named(name.clone()), kept);
                }
                Operand::Vector(parts) => pending.extend(parts),
                Operand::Part { of, .. } => pending.push(of),
                _ => {}
            }
        }
    }

    /// Adds the touch of the first memory operand.
    fn touch(
        &self,
        instruction: &Instruction,
        space: u32,
        all: &mut Vec<Effect>,
        touch: impl FnOnce(ValueRef) -> Touch,
    ) {
        let memory = |operand: &&Operand| matches!(operand, Operand::Memory { .. });
        let operand = instruction.operands.iter().find(memory);
        self.touch_operand(operand, space, all, touch);
    }

    fn touch_operand(
        &self,
        operand: Option<&Operand>,
        space: u32,
        all: &mut Vec<Effect>,
        touch: impl FnOnce(ValueRef) -> Touch,
    ) {
        let value = operand.and_then(|operand| self.value(operand));
        // The kind is the same wherever the address comes from.
        let told = touch(value.map_or(ValueRef(0), |(value, _)| value));
        all.push(Effect::Touch(match value {
            Some((pointer, offset_bytes)) => Touch {
                pointer: Some(pointer),
                offset_bytes,
                space,
                ..told
            },
            None => Touch {
                volatile: told.volatile,
                ..Touch::anywhere(told.kind, space)
            },
        }));
    }

    fn load_or_store(&self, instruction: &Instruction, writes: bool, all: &mut Vec<Effect>) {
        let elsewhere = ["const", "param", "local", "shared::cluster"];
        if elsewhere.iter().any(|space| instruction.has(space)) {
            all.push(Effect::Opaque(format!(
                "uses the PTX instruction `{}`",
                instruction.name()
            )));
            return;
        }
        let kind = if writes {
            AccessKind::Write
        } else {
            AccessKind::Read
        };
        let bytes = bytes(instruction);
        let invariant = instruction.has("nc") || instruction.opcode[0] == "ldu";
        let volatile = instruction.has("volatile") || instruction.has("mmio");
        self.touch(instruction, space(instruction), all, |pointer| Touch {
            bytes,
            volatile,
            invariant,
            ..Touch::new(kind, pointer, bytes.unwrap_or(0))
        });
        if ["relaxed", "acquire", "release"]
            .iter()
            .any(|order| instruction.has(order))
        {
            all.push(Effect::Unfusable(Unfusable::AtomicOrder));
        }
    }

    fn atomic(&self, instruction: &Instruction, all: &mut Vec<Effect>) {
        let unused = instruction.opcode[0] == "red" || !self.used && self.results == 1;
        let bytes = bytes(instruction);
        let vector = instruction.opcode.iter().any(|part| part.starts_with('v'));
        let kind = match (self.operator(instruction), bytes) {
            (Some(operator), Some(cell_bytes)) if unused && !vector => {
                AccessKind::Reduction(Reduction {
                    operator,
                    cell_bytes,
                    within_block: instruction.has("cta") || instruction.has("cluster"),
                })
            }
            _ => AccessKind::Atomic,
        };
        self.touch(instruction, space(instruction), all, |pointer| Touch {
            bytes,
            ..Touch::new(kind, pointer, bytes.unwrap_or(0))
        });
        if ["acquire", "release", "acq_rel"]
            .iter()
            .any(|order| instruction.has(order))
        {
            all.push(Effect::Unfusable(Unfusable::AtomicOrder));
        }
    }

    /// The operator of `red.global.add.u32 [p], v` or `atom.global.add.u32 d, [p], v`.
    fn operator(&self, instruction: &Instruction) -> Option<ReductionOperator> {
        let number = instruction.opcode.last()?.chars().next()?;
        let limit = || {
            let limit = instruction.operands.last()?;
            u64::try_from(self.literal(limit)?).ok()
        };
        let operations = ["add", "min", "max", "and", "or", "xor", "inc", "dec"];
        let mut named = operations.into_iter().filter(|name| instruction.has(name));
        Some(match (named.next()?, number) {
            ("add", 'f' | 'b') => ReductionOperator::FloatingAdd,
            ("add", 'u' | 's') => ReductionOperator::Add,
            ("min" | "max", 'f' | 'b') => ReductionOperator::FloatingExtremum,
            ("min", 's') => ReductionOperator::Minimum,
            ("min", 'u') => ReductionOperator::UnsignedMinimum,
            ("max", 's') => ReductionOperator::Maximum,
            ("max", 'u') => ReductionOperator::UnsignedMaximum,
            ("and", 'b') => ReductionOperator::And,
            ("or", 'b') => ReductionOperator::Or,
            ("xor", 'b') => ReductionOperator::Xor,
            ("inc", 'u') => ReductionOperator::Increment(limit()?),
            ("dec", 'u') => ReductionOperator::Decrement(limit()?),
            _ => return None,
        })
    }

    /// `wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {…}, [p], stride` and stores.
    fn tile(&self, instruction: &Instruction, all: &mut Vec<Effect>) {
        let parts: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let stride = instruction
            .operands
            .get(2)
            .map(|operand| self.value(operand).filter(|(_, offset)| *offset == 0));
        self.touch(
            instruction,
            space(instruction),
            all,
            |pointer| match stride {
                None => tensor::wmma(&parts, pointer, None),
                Some(Some((stride, _))) => tensor::wmma(&parts, pointer, Some(stride)),
                Some(None) => Touch {
                    bytes: None,
                    rows: None,
                    ..tensor::wmma(&parts, pointer, None)
                },
            },
        );
    }

    fn barrier(&self, instruction: &Instruction, all: &mut Vec<Effect>) {
        if instruction.has("warp") {
            all.push(Effect::WarpOperation);
            return;
        }
        let whole = match instruction.operands.as_slice() {
            [id] => instruction.has("sync") && self.literal(id) == Some(0),
            _ => false,
        };
        all.push(match whole && !instruction.has("cluster") {
            true => Effect::Barrier,
            false => Effect::Unfusable(Unfusable::NamedBarrier),
        });
    }

    /// `cp.async.ca.shared.global [destination], [source], bytes{, bytes of source}`.
    fn asynchronous_copy(&self, instruction: &Instruction, all: &mut Vec<Effect>) {
        let name = instruction.name();
        let left = instruction.operands.first();
        match name.strip_prefix("cp.async.") {
            Some("wait_all") => return all.push(Effect::CopiesComplete),
            Some("wait_group") => {
                if left.and_then(|left| self.literal(left)) == Some(0) {
                    all.push(Effect::CopiesComplete);
                }
                return;
            }
            Some("commit_group") => return,
            _ => {}
        }
        if instruction.has("mbarrier") && instruction.has("arrive") {
            all.push(Effect::Unfusable(Unfusable::SharedBarrier));
            self.touch(instruction, 3, all, |pointer| {
                Touch::new(AccessKind::Atomic, pointer, 8)
            });
            return;
        }
        let plain = instruction.has("async") && (instruction.has("ca") || instruction.has("cg"));
        let [destination, source, size, rest @ ..] = instruction.operands.as_slice() else {
            all.push(Effect::Opaque(format!("uses the PTX instruction `{name}`")));
            return;
        };
        let size = self.literal(size).and_then(|size| u32::try_from(size).ok());
        let (true, Some(bytes)) = (plain, size) else {
            all.push(Effect::Opaque(format!("uses the PTX instruction `{name}`")));
            return;
        };
        let told = match rest {
            [] => Some(bytes),
            [told] => self.literal(told).and_then(|told| u32::try_from(told).ok()),
            _ => None,
        };
        match told {
            Some(0) => {}
            _ => self.touch_operand(Some(source), 1, all, |pointer| Touch {
                why_inexact: if told.is_some() { "" } else { PARTIAL_COPY },
                asynchronous: true,
                ..Touch::new(AccessKind::Read, pointer, told.unwrap_or(bytes).min(bytes))
            }),
        }
        self.touch_operand(Some(destination), 3, all, |pointer| Touch {
            asynchronous: true,
            ..Touch::new(AccessKind::Write, pointer, bytes)
        });
        all.push(Effect::AsynchronousCopy);
    }
}

/// The address space that an instruction names, 0 for generic addresses.
fn space(instruction: &Instruction) -> u32 {
    if instruction.has("global") {
        1
    } else if instruction.has("shared") || instruction.has("shared::cta") {
        3
    } else {
        0
    }
}

/// Whether an instruction is one of PTX's video instructions, which only compute.
fn is_video(family: &str) -> bool {
    const STEMS: [&str; 10] = [
        "vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vmad", "vset",
    ];
    STEMS.contains(&family.trim_end_matches(['2', '4']))
}

/// Bytes of a vector of the instruction's last type.
fn bytes(instruction: &Instruction) -> Option<u32> {
    let element = match instruction.opcode.last()?.as_str() {
        "f16x2" | "bf16x2" => 4,
        name => {
            let digits = name.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
            digits.parse::<u32>().ok().filter(|bits| bits % 8 == 0)? / 8
        }
    };
    let count = instruction
        .opcode
        .iter()
        .find_map(|part| match part.as_str() {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
    Some(element * count.unwrap_or(1))
}
