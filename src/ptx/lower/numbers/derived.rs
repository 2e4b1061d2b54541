//! Registers that hold addresses in one variable, or in what one parameter points to: they are kept as the distance
//! from there, so that LLVM sees from which variable an access is, as it does in clang's code.
//!
//! Invariant: read as a number, such a register is the address that PTX gives it; of one that has come through 32
//! bits the lower half.

use super::super::address::space_of;
use super::super::function::{Body, Named};
use super::super::values::{Type, Value, quoted};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar, Space};

impl Body<'_> {
    /// Lowers an instruction whose result is such a register, where the distance can be computed from distances.
    pub(in crate::ptx::lower) fn derived(
        &mut self,
        instruction: &Instruction,
    ) -> Result<bool, PtxError> {
        let [result, operands @ ..] = instruction.operands.as_slice() else {
            return Ok(false);
        };
        let Some(name) = result.name() else {
            return Ok(false);
        };
        let (Some((root, _)), Some(scalar)) = (self.roots.get(name).cloned(), self.register(name))
        else {
            return Ok(false);
        };
        let bits = scalar.bits;
        let ty = Type::Int(bits);
        let type_bits = self.last_type(instruction).map_or(0, |scalar| scalar.bits);
        let number = Scalar::of_bits(bits);
        let distance = match (instruction.opcode[0].as_str(), operands) {
            ("mov", [source]) if type_bits == bits => self.distance(source, &root, bits),
            ("cvta", [source]) if type_bits == bits => {
                let distance = self.distance(source, &root, bits);
                let is_whole = instruction.has("to") || space_of(instruction) != Space::Shared;
                match (distance, is_whole) {
                    (Some(distance), false) => Some(self.of_lower_half(distance)),
                    (distance, _) => distance,
                }
            }
            ("ld", [Operand::Memory(base, 0)]) if base.name() == Some(&*root) => self
                .is_pointer_parameter(&root)
                .then(|| Value::constant(bits, 0)),
            ("add", [left, right]) if type_bits == bits => {
                let (distance, other) = match self.distance(left, &root, bits) {
                    Some(distance) => (Some(distance), right),
                    None => (self.distance(right, &root, bits), left),
                };
                match distance {
                    Some(distance) => {
                        let other = self.operand(other, number)?;
                        Some(self.op(ty, &format!("add {distance}, {}", other.text)))
                    }
                    None => None,
                }
            }
            ("sub", [left, right]) if type_bits == bits => match self.distance(left, &root, bits) {
                Some(distance) => {
                    let right = self.operand(right, number)?;
                    Some(self.op(ty, &format!("sub {distance}, {}", right.text)))
                }
                None => None,
            },
            ("mad", [left, right, addend]) if !instruction.has("hi") && !instruction.has("cc") => {
                match (
                    self.distance(addend, &root, bits),
                    self.last_type(instruction),
                ) {
                    (Some(distance), Some(scalar)) => {
                        let left = self.operand(left, scalar)?;
                        let right = self.operand(right, scalar)?;
                        let left = self.extended(left, ty, scalar.is_signed());
                        let right = self.extended(right, ty, scalar.is_signed());
                        let product = self.op(ty, &format!("mul {left}, {}", right.text));
                        Some(self.op(ty, &format!("add {product}, {}", distance.text)))
                    }
                    _ => None,
                }
            }
            ("selp", [one, other, truth]) if type_bits == bits => {
                let one = self.distance(one, &root, bits);
                let other = self.distance(other, &root, bits);
                match (one, other) {
                    (Some(one), Some(other)) => {
                        let truth = self.operand(truth, Scalar::PREDICATE)?;
                        Some(self.op(ty, &format!("select {truth}, {one}, {other}")))
                    }
                    _ => None,
                }
            }
            ("cvt", [source]) if instruction.opcode.len() == 3 => {
                self.distance(source, &root, bits)
            }
            _ => None,
        };
        let Some(distance) = distance else {
            return Ok(false);
        };
        let place = quoted(&format!("r.{name}"));
        self.emit(&format!("store {distance}, ptr %{place}"));
        Ok(true)
    }

    /// How far an operand is from a root, where it is derived from it.
    fn distance(&mut self, operand: &Operand, root: &str, bits: u32) -> Option<Value> {
        let Operand::Name(name, offset) = operand else {
            return None;
        };
        if name == root && matches!(self.named(name), Some(Named::Variable(..))) {
            return Some(Value::constant(bits, *offset as u64));
        }
        let scalar = self.register(name)?;
        let (own, _) = self.roots.get(name)?;
        if own != root || *offset != 0 {
            return None;
        }
        let ty = Type::of(scalar);
        let place = quoted(&format!("r.{name}"));
        let distance = self.op(ty, &format!("load {ty}, ptr %{place}"));
        // Distances of 32 bits are signed ones.
        Some(self.extended(distance, Type::Int(bits), true))
    }

    /// The distance in 64 bits that the lower half of one stands for.
    pub(in crate::ptx::lower) fn of_lower_half(&mut self, distance: Value) -> Value {
        let low = self.resized(distance, 32);
        self.extended(low, Type::Int(64), true)
    }

    /// The address that a register with a root holds.
    pub(in crate::ptx::lower) fn derived_address(
        &mut self,
        distance: Value,
        root: &str,
        is_narrow: bool,
    ) -> Value {
        let bits = distance.ty.bits();
        let Some((pointer, _)) = self.root(root) else {
            return distance;
        };
        let start = self.address_of(&pointer);
        let start = self.resized(start, bits);
        let address = self.op(start.ty, &format!("add {start}, {}", distance.text));
        match is_narrow && bits == 64 {
            true => {
                let low = self.resized(address, 32);
                self.resized(low, 64)
            }
            false => address,
        }
    }

    /// The distance that a register with a root holds for an address.
    pub(in crate::ptx::lower) fn derived_distance(&mut self, address: Value, root: &str) -> Value {
        let Some((pointer, _)) = self.root(root) else {
            return address;
        };
        let start = self.address_of(&pointer);
        let start = self.resized(start, address.ty.bits());
        self.op(start.ty, &format!("sub {address}, {}", start.text))
    }
}
