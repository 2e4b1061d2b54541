//! `atom` and `red`.

use super::address::space_of;
use super::function::Body;
use super::values::Type;
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Kind, Operand, Scalar};

impl Body<'_> {
    pub(super) fn update(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let Some(scalar) = self.last_type(instruction) else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let (result, operands) = match instruction.opcode[0].as_str() {
            "red" => (None, instruction.operands.as_slice()),
            _ => match instruction.operands.split_first() {
                Some((result, rest)) => (Some(result), rest),
                None => return self.wrong("operands are missing"),
            },
        };
        let order = match () {
            () if instruction.has("acq_rel") => "acq_rel",
            () if instruction.has("acquire") => "acquire",
            () if instruction.has("release") => "release",
            () => "monotonic",
        };
        let is_scalar = matches!(scalar.kind, Kind::Bits | Kind::Unsigned | Kind::Signed)
            && matches!(scalar.bits, 16 | 32 | 64)
            || scalar.is_float();
        let vector = matches!(operands.get(1), Some(Operand::Vector(_)));
        let Some(operation) = operation_of(instruction, scalar).filter(|_| is_scalar && !vector)
        else {
            return self.assembly(instruction);
        };
        let [address, values @ ..] = operands else {
            return self.wrong("operands are missing");
        };
        let pointer = self.pointer(address, space_of(instruction))?;
        let bytes = scalar.bits / 8;
        let old = match (operation, values) {
            ("cmpxchg", [expected, new, ..]) => {
                let bits = Scalar::of_bits(scalar.bits);
                let expected = self.operand(expected, bits)?;
                let new = self.operand(new, bits)?;
                // Where nothing is exchanged nothing is released.
                let failed = match order {
                    "acq_rel" | "acquire" => "acquire",
                    _ => "monotonic",
                };
                let ty = Type::Int(scalar.bits);
                let both = self.op(
                    ty,
                    &format!(
                        "cmpxchg {pointer}, {expected}, {new} {order} {failed}, align {bytes}"
                    ),
                );
                self.op(ty, &format!("extractvalue {{ {ty}, i1 }} {}, 0", both.text))
            }
            (operation, [value, ..]) => {
                let scalar = match operation {
                    "fadd" => scalar,
                    _ => Scalar::of_bits(scalar.bits),
                };
                let value = self.operand(value, scalar)?;
                let ty = value.ty;
                self.op(
                    ty,
                    &format!("atomicrmw {operation} {pointer}, {value} {order}, align {bytes}"),
                )
            }
            _ => return self.wrong("operands are missing"),
        };
        match result {
            Some(result) => self.set(result, old, scalar.is_signed()),
            None => Ok(()),
        }
    }
}

/// LLVM's name of an update.
fn operation_of(instruction: &Instruction, scalar: Scalar) -> Option<&'static str> {
    let signed = scalar.is_signed();
    let known = [
        "add", "exch", "cas", "and", "or", "xor", "min", "max", "inc", "dec",
    ];
    let name = known.into_iter().find(|name| instruction.has(name))?;
    Some(match name {
        "add" if scalar.kind == Kind::Float => "fadd",
        "add" => "add",
        "exch" => "xchg",
        "cas" => "cmpxchg",
        _ if scalar.kind == Kind::Float => return None,
        "and" => "and",
        "or" => "or",
        "xor" => "xor",
        "min" if signed => "min",
        "max" if signed => "max",
        "min" => "umin",
        "max" => "umax",
        "inc" => "uinc_wrap",
        _ => "udec_wrap",
    })
}
