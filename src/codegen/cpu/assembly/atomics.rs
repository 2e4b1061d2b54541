//! Inline PTX that several threads of a grid meet by: `atom`, `red`, and loads and stores with an order.
//!
//! Invariant: a load with an order is made anew each time, and gives way before: a thread that waits in a
//! loop of such loads does not keep the threads from running that it waits for.

use super::super::instrument;
use super::super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{AtomicOperation, Type, Value};

/// What an `atom` or `red` does to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::cpu) enum Update {
    /// A value combined with the one in memory.
    Combine(AtomicOperation),
    /// The second value stored if the first is there.
    CompareAndSwap,
}

/// The update of an instruction, and the type of its value; none where it is not known.
pub(in crate::codegen::cpu) fn update(instruction: &Instruction) -> Option<(Update, Number)> {
    let (last, modifiers) = instruction.opcode.split_last()?;
    let number = Number::of(last)?;
    let is_float = !matches!(number, Number::Integer { .. });
    let is_half = matches!(number, Number::Half(_));
    let is_signed = last.starts_with('s');
    let operations = modifiers.iter().skip(1).filter_map(|modifier| {
        Some(match (modifier.as_str(), is_float) {
            ("add", true) => Update::Combine(AtomicOperation::FloatAdd),
            ("add", false) => Update::Combine(AtomicOperation::Add),
            ("exch", _) if !is_half => Update::Combine(AtomicOperation::Exchange),
            ("and", false) => Update::Combine(AtomicOperation::And),
            ("or", false) => Update::Combine(AtomicOperation::Or),
            ("xor", false) => Update::Combine(AtomicOperation::Xor),
            ("min", false) if is_signed => Update::Combine(AtomicOperation::Min),
            ("max", false) if is_signed => Update::Combine(AtomicOperation::Max),
            ("min", false) => Update::Combine(AtomicOperation::UnsignedMin),
            ("max", false) => Update::Combine(AtomicOperation::UnsignedMax),
            ("inc", false) => Update::Combine(AtomicOperation::IncrementWrapping),
            ("dec", false) => Update::Combine(AtomicOperation::DecrementWrapping),
            ("cas", false) => Update::CompareAndSwap,
            _ => return None,
        })
    });
    let known = |modifier: &String| {
        const OTHERS: [&str; 13] = [
            "relaxed",
            "acquire",
            "release",
            "acq_rel",
            "sc",
            "cta",
            "gpu",
            "sys",
            "global",
            "shared",
            "shared::cta",
            "add",
            "exch",
        ];
        const MORE: [&str; 10] = [
            "and", "or", "xor", "min", "max", "inc", "dec", "cas", "cluster", "noftz",
        ];
        OTHERS.contains(&modifier.as_str()) || MORE.contains(&modifier.as_str())
    };
    let found: Vec<Update> = operations.collect();
    match found.as_slice() {
        [one] if modifiers.iter().skip(1).all(known) => Some((*one, number)),
        _ => None,
    }
}

/// The type of a value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::cpu) enum Number {
    /// An integer of so many bits.
    Integer {
        /// 32 or 64.
        bits: u32,
    },
    /// A floating-point number.
    Float {
        /// Of 64 bits instead of 32.
        double: bool,
    },
    /// One number of 16 bits or two of them, with the name that PTX has for it.
    Half(&'static str),
}

impl Number {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "u32" | "s32" | "b32" => Self::Integer { bits: 32 },
            "u64" | "s64" | "b64" => Self::Integer { bits: 64 },
            "f32" => Self::Float { double: false },
            "f64" => Self::Float { double: true },
            "f16" => Self::Half("f16"),
            "bf16" => Self::Half("bf16"),
            "f16x2" => Self::Half("f16x2"),
            "bf16x2" => Self::Half("bf16x2"),
            _ => return None,
        })
    }

    fn bytes(self) -> u32 {
        match self {
            Self::Integer { bits } => bits / 8,
            Self::Float { double } => 4 << u32::from(double),
            Self::Half(name) => 2 << u32::from(name.ends_with("x2")),
        }
    }
}

/// Whether a load or store stands in an order with what other threads do, and may meet others that do so at one
/// place without a race.
pub(in crate::codegen::cpu) fn is_ordered(instruction: &Instruction) -> bool {
    ["volatile", "acquire", "relaxed", "release", "mmio"]
        .iter()
        .any(|modifier| instruction.has(modifier))
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// `atom`, which gives the value that was there, and `red`.
    pub(in crate::codegen::cpu) fn update_memory(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let (result, rest) = match (instruction.opcode[0].as_str(), operands) {
            ("red", rest) => (None, rest),
            (_, [result, rest @ ..]) => (Some(result), rest),
            _ => return Ok(None),
        };
        let (Some((update, number)), [address, values @ ..]) = (update(instruction), rest) else {
            return Ok(None);
        };
        let Some(pointer) = self.pointer(address)? else {
            return Ok(None);
        };
        let ty = match number {
            Number::Integer { bits } => self.integer(bits),
            Number::Float { double } => Type::float(self.module, double),
            // They travel as integers.
            Number::Half(_) => self.integer(number.bytes() * 8),
        };
        let mut given = Vec::new();
        for value in values {
            let value = self.value(value, number.bytes() * 8);
            let Some(value) = value.and_then(|value| self.fit(value, ty)) else {
                return Ok(None);
            };
            given.push(value);
        }
        // The definition of a half's tells of its access itself.
        if !matches!(number, Number::Half(_)) {
            self.report(pointer, number.bytes().into(), instrument::ATOMIC)?;
        }
        let before = match (update, number, given.as_slice()) {
            (Update::Combine(_), Number::Half(name), [value]) => {
                let symbol = format!("{}asm.atomic.add.{name}", super::super::functions::PREFIX);
                let function = self.library.declare(self.module, &symbol)?;
                let arguments = [self.context, pointer, *value];
                (self.builder).call(function.value_type(), function, &arguments)
            }
            (Update::Combine(operation), _, [value]) => {
                self.builder
                    .atomic(operation, pointer, *value, number.bytes())
            }
            (Update::CompareAndSwap, _, [expected, new]) => {
                self.builder
                    .compare_and_swap(pointer, *expected, *new, number.bytes())
            }
            _ => return Ok(None),
        };
        match result {
            // The value that was there is not wanted: `_`.
            Some(Operand::Name(name)) if name == "_" => Ok(Some(())),
            Some(result) => Ok(self.assign(result, before)),
            None => Ok(Some(())),
        }
    }

    /// Gives way to the threads that the next load may wait for.
    pub(in crate::codegen::cpu) fn give_way(&mut self) -> Result<(), CodegenError> {
        let function = self.library.declare(self.module, "__sirius_give_way")?;
        (self.builder).call(function.value_type(), function, &[self.context]);
        Ok(())
    }

    /// Makes a load or store of so many bits one that others see in order.
    pub(in crate::codegen::cpu) fn order(&self, access: Value, bits: u32) {
        access.make_ordered(bits);
    }
}
