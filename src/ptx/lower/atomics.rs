//! `atom` and `red`.

use super::address::space_of;
use super::function::Body;
use super::values::Type;
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Kind, Operand, Scalar};

impl Body<'_> {
    /// `st.async` and `red.async`: done at once, as a barrier in shared memory is told by how many bytes.
    pub(super) fn told_to_barrier(
        &mut self,
        instruction: &Instruction,
        (address, value): (&Operand, &Operand),
        barrier: &Operand,
    ) -> Result<(), PtxError> {
        let known = |word: &String| {
            !matches!(
                word.as_str(),
                "async" | "mbarrier::complete_tx::bytes" | "cluster" | "relaxed" | "weak"
            )
        };
        let mut opcode: Vec<String> = instruction
            .opcode
            .iter()
            .filter(|word| known(word))
            .cloned()
            .collect();
        if instruction.opcode[0] == "red" {
            opcode.insert(1, "relaxed".to_owned());
            opcode.insert(2, "cluster".to_owned());
        }
        let access = Instruction {
            opcode,
            operands: vec![address.clone(), value.clone()],
            ..instruction.clone()
        };
        match instruction.opcode[0].as_str() {
            "st" => self.store(&access, address, value)?,
            _ => self.update(&access)?,
        }
        let Some(scalar) = self.last_type(instruction) else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let parts = match value {
            Operand::Vector(parts) => parts.len() as u64,
            _ => 1,
        };
        let told = Instruction {
            opcode: [
                "mbarrier",
                "complete_tx",
                "relaxed",
                "cluster",
                "shared::cluster",
                "b64",
            ]
            .map(str::to_owned)
            .to_vec(),
            operands: vec![
                barrier.clone(),
                Operand::Integer(parts * u64::from(scalar.bits / 8)),
            ],
            ..instruction.clone()
        };
        self.assembly(&told)
    }

    /// `atom.global.v2.f32.add` and `red` of vectors: one update after the other.
    fn update_parts(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let vector = |word: &str| matches!(word, "v2" | "v4" | "v8");
        let words = instruction.opcode.iter();
        if !words.clone().any(|word| vector(word)) {
            return Ok(false);
        }
        // The type may stand in front of the operation.
        let is_type = |word: &str| Scalar::named(word).is_some();
        let Some(ty) = words.clone().find(|word| is_type(word)).cloned() else {
            return self.wrong(format!("`{}` has no type", instruction.name()));
        };
        let bytes = Scalar::named(&ty).map_or(0, |scalar| i64::from(scalar.bits / 8));
        let mut opcode: Vec<String> = words
            .filter(|word| !vector(word) && !is_type(word))
            .cloned()
            .collect();
        opcode.push(ty);
        let (results, address, values) = match instruction.operands.as_slice() {
            [
                Operand::Vector(results),
                address,
                Operand::Vector(values),
                ..,
            ] => (results.as_slice(), address, values),
            [address, Operand::Vector(values), ..] => (&[] as &[Operand], address, values),
            _ => return self.wrong("a vector is expected"),
        };
        let Operand::Memory(base, offset) = address else {
            return self.wrong("an address is expected");
        };
        for (position, value) in values.iter().enumerate() {
            let place = offset + position as i64 * bytes;
            let mut operands = vec![Operand::Memory(base.clone(), place), value.clone()];
            if let Some(result) = results.get(position) {
                operands.insert(0, result.clone());
            }
            let one = Instruction {
                opcode: opcode.clone(),
                operands,
                ..instruction.clone()
            };
            self.update(&one)?;
        }
        Ok(true)
    }

    pub(super) fn update(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        if self.update_parts(instruction)? {
            return Ok(());
        }
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
