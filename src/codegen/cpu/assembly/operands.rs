//! Operands of inline PTX as values: registers, places of results and inputs, addresses, and the widths of each.

use super::super::functions::PREFIX;
use super::statements::Lowering;
use crate::codegen::CodegenError;
use crate::kernel::ptx::Operand;
use crate::llvm::{Opcode, Type, Value};

impl<'ctx> Lowering<'_, 'ctx> {
    /// Gives a result's place or register its value.
    pub(in crate::codegen::cpu) fn assign(
        &mut self,
        result: &Operand,
        value: Value<'ctx>,
    ) -> Option<()> {
        match result {
            Operand::Placeholder(place) => {
                self.places.insert(*place, value);
            }
            Operand::Name(name) => {
                self.registers.insert(name.clone(), value);
            }
            // A register of the template's own.
            Operand::Special(name) => {
                self.registers.insert(format!("%{name}"), value);
            }
            _ => return None,
        }
        Some(())
    }

    /// An operand's value; literals get so many bits.
    pub(in crate::codegen::cpu) fn value(
        &self,
        operand: &Operand,
        bits: u32,
    ) -> Option<Value<'ctx>> {
        match operand {
            Operand::Placeholder(place) => self.places.get(place).copied(),
            Operand::Name(name) => self.registers.get(name).copied(),
            Operand::Special(name) => {
                let own = self.registers.get(&format!("%{name}")).copied();
                own.or_else(|| self.special_register(name))
            }
            Operand::Literal(value) => Some(self.integer(bits).constant(*value as u64)),
            _ => None,
        }
    }

    /// A special register of PTX's own.
    fn special_register(&self, name: &str) -> Option<Value<'ctx>> {
        let name = format!("llvm.nvvm.read.ptx.sreg.{}", name.replace('_', "."));
        if !self.library.has(&name) {
            return None;
        }
        let symbol = format!("{}{name}", PREFIX);
        let function = self.library.declare(self.module, &symbol).ok()?;
        let arguments = [self.context];
        Some((self.builder).call(function.value_type(), function, &arguments))
    }

    /// The same bits as another type; wider and narrower registers hold integers.
    pub(in crate::codegen::cpu) fn fit(
        &self,
        value: Value<'ctx>,
        wanted: Type<'ctx>,
    ) -> Option<Value<'ctx>> {
        let given = value.ty();
        if given == wanted {
            return Some(value);
        }
        let as_integer = match () {
            () if given.is_pointer() => {
                self.builder
                    .cast(Opcode::LLVMPtrToInt, value, self.integer(64))
            }
            () if given.is_integer() => value,
            () => {
                let bits = given.allocation_bytes(self.module) as u32 * 8;
                self.builder
                    .cast(Opcode::LLVMBitCast, value, self.integer(bits))
            }
        };
        if wanted.is_pointer() {
            let address = self.resize(as_integer, 64);
            return Some(self.builder.cast(Opcode::LLVMIntToPtr, address, wanted));
        }
        if wanted.is_integer() {
            return Some(self.resize(as_integer, wanted.integer_bits()));
        }
        let bits = wanted.allocation_bytes(self.module) as u32 * 8;
        (as_integer.ty().integer_bits() == bits)
            .then(|| self.builder.cast(Opcode::LLVMBitCast, as_integer, wanted))
    }

    /// An integer of so many bits: without sign, or without the upper ones.
    pub(in crate::codegen::cpu) fn resize(&self, value: Value<'ctx>, bits: u32) -> Value<'ctx> {
        let wanted = self.integer(bits);
        match value.ty().integer_bits() {
            given if given == bits => value,
            given if given < bits => self.builder.cast(Opcode::LLVMZExt, value, wanted),
            _ => self.builder.cast(Opcode::LLVMTrunc, value, wanted),
        }
    }

    /// The pointer of a memory operand. An address of 32 bits is one in shared memory, of which the
    /// host's address lacks the upper half: it is told from the block's own shared memory.
    pub(in crate::codegen::cpu) fn pointer(
        &self,
        operand: &Operand,
    ) -> Result<Option<Value<'ctx>>, CodegenError> {
        let Operand::Memory { base, offset_bytes } = operand else {
            return Ok(None);
        };
        let Some(base) = self.value(base, 64) else {
            return Ok(None);
        };
        let long = self.integer(64);
        let address = if base.ty().is_integer() && base.ty().integer_bits() == 32 {
            let shared = self.library.declare(self.module, "sirius.shared")?;
            let start = self
                .builder
                .call(shared.value_type(), shared, &[self.context]);
            let start = self.builder.cast(Opcode::LLVMPtrToInt, start, long);
            let low = self.resize(start, 32);
            let distance = self.builder.binary(Opcode::LLVMSub, base, low);
            let distance = self.builder.cast(Opcode::LLVMSExt, distance, long);
            self.builder.binary(Opcode::LLVMAdd, start, distance)
        } else {
            match self.fit(base, long) {
                Some(address) => address,
                None => return Ok(None),
            }
        };
        let offset = long.constant(*offset_bytes as u64);
        let address = self.builder.binary(Opcode::LLVMAdd, address, offset);
        let pointer = Type::pointer(self.module, 0);
        Ok(Some(self.builder.cast(
            Opcode::LLVMIntToPtr,
            address,
            pointer,
        )))
    }

    /// A pointer so many bytes further.
    pub(in crate::codegen::cpu) fn further(&self, pointer: Value, bytes: u64) -> Value<'ctx> {
        let long = self.integer(64);
        let address = self.builder.cast(Opcode::LLVMPtrToInt, pointer, long);
        let address = self
            .builder
            .binary(Opcode::LLVMAdd, address, long.constant(bytes));
        self.builder
            .cast(Opcode::LLVMIntToPtr, address, pointer.ty())
    }
}
