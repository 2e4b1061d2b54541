//! Instructions on bits and bytes that inline assembly has no more than the simplest form of: `prmt` with a mode, `lop3`
//! with a predicate, `cvt.pack`, sizes of halves with the sign of both.

use super::super::function::Body;
use super::super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

const WORD: Scalar = Scalar::of_bits(32);

impl Body<'_> {
    /// Lowers such an instruction; `false`: it is none.
    pub(in crate::ptx::lower) fn bits(
        &mut self,
        instruction: &Instruction,
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        match (words.as_slice(), instruction.operands.as_slice()) {
            (["prmt", "b32", mode], [result, low, high, selector]) => {
                let low = self.operand(low, WORD)?;
                let high = self.operand(high, WORD)?;
                let selector = self.operand(selector, WORD)?;
                match self.permuted(mode, (&low, &high), &selector) {
                    Some(value) => self.set(result, value, false)?,
                    None => return Ok(false),
                }
            }
            (
                ["lop3", how @ ("or" | "and"), "b32"],
                [result, first, second, third, Operand::Integer(table), with],
            ) => {
                let (value, truth) = match result {
                    Operand::Pair(value, truth) => (Some(value.as_ref()), truth.as_ref()),
                    truth => (None, truth),
                };
                let mut inputs = Vec::new();
                for operand in [first, second, third] {
                    inputs.push(self.operand(operand, WORD)?);
                }
                let call = format!(
                    "call i32 asm \"lop3.b32 $0, $1, $2, $3, {};\", \"=r,r,r,r\"({}, {}, {}) #3",
                    table & 0xff,
                    inputs[0],
                    inputs[1],
                    inputs[2]
                );
                let bits = self.op(Type::Int(32), &call);
                let some = self.op(Type::Int(1), &format!("icmp ne {bits}, 0"));
                let with = self.operand(with, Scalar::PREDICATE)?;
                let combined = self.op(Type::Int(1), &format!("{how} {some}, {}", with.text));
                if let Some(value) = value {
                    self.set(value, bits, false)?;
                }
                self.set(truth, combined, false)?;
            }
            (["cvt", "pack", "sat", to, "s32", rest @ ..], [result, high, low, above @ ..])
                if rest.len() == above.len() && matches!(rest, [] | ["b32"]) =>
            {
                let above = match above {
                    [above] => self.operand(above, WORD)?,
                    _ => Value::constant(32, 0),
                };
                let high = self.operand(high, WORD)?;
                let low = self.operand(low, WORD)?;
                match self.packed(to, (&high, &low), &above) {
                    Some(value) => self.set(result, value, false)?,
                    None => return Ok(false),
                }
            }
            (
                [
                    name @ ("min" | "max"),
                    modifiers @ ..,
                    "xorsign",
                    "abs",
                    ty @ ("f16" | "bf16" | "f16x2" | "bf16x2"),
                ],
                [result, left, right],
            ) => {
                let left = self.operand(left, WORD)?;
                let right = self.operand(right, WORD)?;
                let opcode = [&[*name][..], modifiers, &[*ty]].concat().join(".");
                let value = self.extreme_of_halves(&opcode, ty.ends_with("x2"), (&left, &right));
                self.set(result, value, false)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `min.xorsign.abs.f16x2`: sizes are compared, and the sign is that of a product.
    fn extreme_of_halves(
        &mut self,
        opcode: &str,
        is_pair: bool,
        (left, right): (&Value, &Value),
    ) -> Value {
        let word = Type::Int(32);
        let sizes =
            [left, right].map(|value| self.op(word, &format!("and {value}, {}", 0x7fff_7fff)));
        let (ty, letter) = match is_pair {
            true => (word, 'r'),
            false => (Type::Int(16), 'h'),
        };
        let [one, other] = sizes.map(|size| self.as_type(size, ty));
        let call = format!(
            "call {ty} asm \"{opcode} $0, $1, $2;\", \"={letter},{letter},{letter}\"({one}, {other}) #3"
        );
        let best = self.op(ty, &call);
        let best = self.as_type(best, word);
        let best = self.op(word, &format!("and {best}, {}", 0x7fff_7fff));
        let signs = self.op(word, &format!("xor {left}, {}", right.text));
        let signs = self.op(word, &format!("and {signs}, {}", 0x8000_8000u32));
        let whole = self.op(word, &format!("or {best}, {}", signs.text));
        self.as_type(whole, ty)
    }

    /// The byte of each place is that of a table of eight which the mode names, by the selector's lowest two bits.
    fn permuted(
        &mut self,
        mode: &str,
        (low, high): (&Value, &Value),
        selector: &Value,
    ) -> Option<Value> {
        // Bytes of results, the first being the lowest, for each value of the selector.
        let table: [[u64; 4]; 4] = match mode {
            "f4e" => [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
            "b4e" => [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
            "rc8" => [[0; 4], [1; 4], [2; 4], [3; 4]],
            "ecl" => [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
            "ecr" => [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
            "rc16" => [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
            _ => return None,
        };
        let word = Type::Int(32);
        let chosen = self.op(word, &format!("and {selector}, 3"));
        let mut places = Value::constant(32, 0);
        for (number, row) in table.iter().enumerate() {
            let nibbles = row.iter().rev().fold(0, |sum, byte| sum << 4 | byte);
            let is = self.op(Type::Int(1), &format!("icmp eq {chosen}, {number}"));
            places = self.op(word, &format!("select {is}, i32 {nibbles}, {places}"));
        }
        Some(self.op(
            word,
            &format!(
                "call i32 asm \"prmt.b32 $0, $1, $2, $3;\", \"=r,r,r,r\"({low}, {high}, {places}) #3"
            ),
        ))
    }

    /// `cvt.pack`: two numbers as near as the type holds them, the second lowest, and behind them what `above` has.
    fn packed(&mut self, to: &str, (high, low): (&Value, &Value), above: &Value) -> Option<Value> {
        let (bits, signed): (u32, bool) = match to {
            "s16" => (16, true),
            "u16" => (16, false),
            "s8" => (8, true),
            "u8" => (8, false),
            "s4" => (4, true),
            "u4" => (4, false),
            "s2" => (2, true),
            "u2" => (2, false),
            _ => return None,
        };
        let word = Type::Int(32);
        let (least, most) = match signed {
            true => (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        let mask = (1u64 << bits) - 1;
        let mut whole = match bits {
            16 => Value::constant(32, 0),
            _ => self.op(word, &format!("shl {above}, {}", 2 * bits)),
        };
        for (number, places) in [(low, 0), (high, bits)] {
            let least = Value::constant(32, least as u64);
            let most = Value::constant(32, most as u64);
            let value = self.intrinsic(word, "llvm.smax.i32", &[number, &least]);
            let value = self.intrinsic(word, "llvm.smin.i32", &[&value, &most]);
            let value = self.op(word, &format!("and {value}, {mask}"));
            let value = self.op(word, &format!("shl {value}, {places}"));
            whole = self.op(word, &format!("or {whole}, {}", value.text));
        }
        Some(whole)
    }
}
