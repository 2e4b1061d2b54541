//! Textures and surfaces in inline PTX: `tex`, `tld4`, `suld.b` and `sust.b`.
//!
//! Each is one call of the runtime, with coordinates in words on the stack and what the opcode says in a
//! word whose bits `runtime_shim::texture::device_functions` lists. Queries, formatted surfaces and
//! samples of one texel are not understood.

use super::super::functions::PREFIX;
use super::super::statements::{Lowering, parts};
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{Builder, Opcode, Value};

const LAYERED: u32 = 1 << 2;
const CUBE: u32 = 1 << 3;
const INTEGERS: u32 = 1 << 4;
const REPORTED: u32 = 1 << 5;
const GATHERS: u32 = 1 << 6;
const LEVEL: u32 = 1 << 7;
const GRADIENTS: u32 = 1 << 10;
/// A layer, three coordinates and two gradients.
const MOST_WORDS: u64 = 10;

/// An instruction that is understood.
pub(in crate::codegen::cpu) struct Access {
    family: Family,
    request: u32,
    /// Layer and coordinates.
    words: usize,
    /// Bits of a component that a surface holds.
    bits: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Texture,
    Read,
    Write,
}

/// What an instruction asks for, when it is understood.
pub(in crate::codegen::cpu) fn access(instruction: &Instruction) -> Option<Access> {
    let (family, rest) = instruction.opcode.split_first()?;
    let mut rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let mut request = 0;
    let family = match family.as_str() {
        "tex" => {
            match *rest.first()? {
                "base" => drop(rest.remove(0)),
                "level" => {
                    request |= LEVEL;
                    rest.remove(0);
                }
                "grad" => {
                    request |= GRADIENTS;
                    rest.remove(0);
                }
                _ => {}
            }
            Family::Texture
        }
        "tld4" => {
            let component = ["r", "g", "b", "a"]
                .iter()
                .position(|name| name == &rest[0])?;
            request |= GATHERS | (component as u32) << 8;
            rest.remove(0);
            Family::Texture
        }
        "suld" if rest.first() == Some(&"b") => {
            rest.remove(0);
            Family::Read
        }
        "sust" if rest.first() == Some(&"b") => {
            rest.remove(0);
            Family::Write
        }
        _ => return None,
    };
    let (shape, coordinates) = match *rest.first()? {
        "1d" => (0, 1),
        "2d" => (0, 2),
        "3d" => (0, 3),
        "a1d" => (LAYERED, 1),
        "a2d" => (LAYERED, 2),
        "cube" => (CUBE, 3),
        "acube" => (LAYERED | CUBE, 3),
        _ => return None,
    };
    request |= shape | coordinates;
    rest.remove(0);
    let mut bits = 32;
    match (family, rest.as_slice()) {
        (Family::Texture, ["v4", "f32" | "s32" | "u32", coordinates @ ("f32" | "s32")]) => {
            request |= if *coordinates == "s32" { INTEGERS } else { 0 };
        }
        (Family::Read | Family::Write, [vector @ .., component, mode]) => {
            let count = match vector {
                [] => 1,
                ["v2"] => 2,
                ["v4"] => 4,
                _ => return None,
            };
            bits = match *component {
                "b8" => 8,
                "b16" => 16,
                "b32" => 32,
                "b64" => 64,
                _ => return None,
            };
            let outside = ["trap", "clamp", "zero"]
                .iter()
                .position(|name| name == mode)?;
            request |= (outside as u32) << 8 | (count * bits / 8) << 16;
            if count * bits > 128 || shape & CUBE != 0 {
                return None;
            }
        }
        _ => return None,
    }
    let extra = match request & (LEVEL | GRADIENTS) {
        0 => 2,
        LEVEL => 3,
        _ => 4,
    };
    let expected = if family == Family::Write { 2 } else { extra };
    let words = (coordinates + u32::from(shape & LAYERED != 0)) as usize;
    (instruction.operands.len() == expected).then_some(Access {
        family,
        request,
        words,
        bits,
    })
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits an access to a texture or a surface.
    pub(in crate::codegen::cpu) fn texture(
        &mut self,
        instruction: &Instruction,
    ) -> Result<Option<()>, CodegenError> {
        let Some(access) = access(instruction) else {
            return Ok(None);
        };
        let operands = instruction.operands.as_slice();
        let (place, rest) = match (access.family, operands) {
            (Family::Write, [place, rest @ ..]) | (_, [_, place, rest @ ..]) => (place, rest),
            _ => return Ok(None),
        };
        // The object and its coordinates are one operand: `[object, {x, y}]`.
        let Operand::Texel {
            object,
            coordinates,
        } = place
        else {
            return Ok(None);
        };
        let long = self.integer(64);
        let object = self
            .value(object, 64)
            .and_then(|value| self.fit(value, long));
        let mut given: Vec<&Operand> = coordinates.iter().take(access.words).collect();
        if access.family == Family::Texture {
            let own = access.words - usize::from(access.request & LAYERED != 0);
            given.extend(
                rest.iter()
                    .flat_map(|operand| parts(operand).into_iter().take(own)),
            );
        }
        let word = self.integer(32);
        let words: Option<Vec<Value>> = given
            .into_iter()
            .map(|operand| {
                self.value(operand, 32)
                    .and_then(|value| self.fit(value, word))
            })
            .collect();
        let (Some(object), Some(words)) = (object, words) else {
            return Ok(None);
        };
        let stack = self.words_on_stack();
        for (position, value) in words.into_iter().enumerate() {
            let at = self.further(stack, position as u64 * 4);
            self.builder.store_aligned(value, at, 4);
        }
        let mut request = access.request;
        if self.library.reports_accesses() {
            request |= REPORTED;
            let note = self
                .library
                .declare(self.module, &format!("{PREFIX}note_place"))?;
            self.builder.call(note.value_type(), note, &[self.context]);
        }
        let request = word.constant(u64::from(request));
        let mut arguments = vec![self.context, object, request, stack];
        let name = match access.family {
            Family::Texture => "texture",
            Family::Read => "surface_read",
            Family::Write => "surface_write",
        };
        if access.family == Family::Write {
            let Some(halves) = rest
                .first()
                .and_then(|value| self.halves(value, access.bits))
            else {
                return Ok(None);
            };
            arguments.extend(halves);
        }
        let function = self
            .library
            .declare(self.module, &format!("{PREFIX}{name}"))?;
        let both = self
            .builder
            .call(function.value_type(), function, &arguments);
        if access.family == Family::Write {
            return Ok(Some(()));
        }
        let halves = [0, 1].map(|half| self.builder.extract(both, half));
        for (position, result) in parts(&operands[0]).into_iter().enumerate() {
            let first_bit = position as u64 * u64::from(access.bits);
            let half = halves[usize::from(first_bit >= 64)];
            let by = long.constant(first_bit % 64);
            let value = self.builder.binary(Opcode::LLVMLShr, half, by);
            let value = self.fit(value, self.integer(access.bits));
            if value.and_then(|value| self.assign(result, value)).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The components of a value, so many bits each, in two words.
    fn halves(&self, value: &Operand, bits: u32) -> Option<[Value<'ctx>; 2]> {
        let long = self.integer(64);
        let mut halves = [long.zero(); 2];
        for (position, part) in parts(value).into_iter().enumerate() {
            let first_bit = position as u64 * u64::from(bits);
            let narrow = self.fit(self.value(part, bits)?, self.integer(bits))?;
            let wide = self.fit(narrow, long)?;
            let by = long.constant(first_bit % 64);
            let moved = self.builder.binary(Opcode::LLVMShl, wide, by);
            let half = &mut halves[usize::from(first_bit >= 64)];
            *half = self.builder.binary(Opcode::LLVMOr, *half, moved);
        }
        Some(halves)
    }

    /// Room for the words of one access, once in each call of the function.
    fn words_on_stack(&self) -> Value<'ctx> {
        let first = self.function.blocks()[0].instructions()[0];
        Builder::before(first).alloca(self.integer(32).array(MOST_WORDS))
    }
}
