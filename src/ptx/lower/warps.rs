//! Barriers, and what the threads of a warp do together: the intrinsics that clang's headers lead to.

use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

const WORD: Scalar = Scalar::of_bits(32);

impl Body<'_> {
    /// Lowers such an instruction; `false`: it is none, or inline assembly knows it.
    pub(super) fn warp_operation(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let operands = instruction.operands.as_slice();
        match (words.as_slice(), operands) {
            (["bar", "warp", "sync"], [mask]) => {
                let mask = self.operand(mask, WORD)?;
                self.together("void", "llvm.nvvm.bar.warp.sync", &[mask]);
            }
            (["bar" | "barrier", rest @ ..], _) if !rest.contains(&"cluster") => {
                return self.barrier(words[0], rest, operands);
            }
            (["nanosleep", "u32"], [time]) => {
                let time = self.operand(time, WORD)?;
                self.together("void", "llvm.nvvm.nanosleep", &[time]);
            }
            (["activemask", "b32"], [result]) => {
                let mask = self.together("i32", "llvm.nvvm.activemask", &[]);
                self.set_word(result, mask)?;
            }
            (
                ["shfl", "sync", mode, "b32"] | ["shfl", mode, "sync", "b32"],
                [result, rest @ ..],
            ) if rest.len() == 4 => {
                let value = self.operand(&rest[0], WORD)?;
                let lane = self.operand(&rest[1], WORD)?;
                let clamp = self.operand(&rest[2], WORD)?;
                let mask = self.operand(&rest[3], WORD)?;
                self.shuffle(&format!("sync.{mode}"), result, &[mask, value, lane, clamp])?;
            }
            // Which lanes shuffle is not said: all that are there.
            (["shfl", mode, "b32"], [result @ Operand::Pair(..), value, lane, clamp]) => {
                let mask = self.together("i32", "llvm.nvvm.activemask", &[]);
                let mask = Value::new(Type::Int(32), mask);
                let value = self.operand(value, WORD)?;
                let lane = self.operand(lane, WORD)?;
                let clamp = self.operand(clamp, WORD)?;
                self.shuffle(&format!("sync.{mode}"), result, &[mask, value, lane, clamp])?;
            }
            (["shfl", mode, "b32"], [result, value, lane, clamp]) => {
                let value = self.operand(value, WORD)?;
                let lane = self.operand(lane, WORD)?;
                let clamp = self.operand(clamp, WORD)?;
                self.shuffle(mode, result, &[value, lane, clamp])?;
            }
            (["vote", "sync", mode, kind], [result, truth, mask]) => {
                let truth = self.operand(truth, Scalar::PREDICATE)?;
                let mask = self.operand(mask, WORD)?;
                let ty = if *kind == "pred" { "i1" } else { "i32" };
                let name = format!("llvm.nvvm.vote.{mode}.sync");
                let value = self.together(ty, &name, &[mask, truth]);
                self.set_word(result, value)?;
            }
            (["vote", mode, kind], [result, truth]) => {
                let truth = self.operand(truth, Scalar::PREDICATE)?;
                let ty = if *kind == "pred" { "i1" } else { "i32" };
                let value = self.together(ty, &format!("llvm.nvvm.vote.{mode}"), &[truth]);
                self.set_word(result, value)?;
            }
            (["match", "any", "sync", kind @ ("b32" | "b64")], [result, value, mask]) => {
                let bits = if *kind == "b64" { 64 } else { 32 };
                let value = self.operand(value, Scalar::of_bits(bits))?;
                let mask = self.operand(mask, WORD)?;
                let name = format!("llvm.nvvm.match.any.sync.i{bits}");
                let value = self.together("i32", &name, &[mask, value]);
                self.set_word(result, value)?;
            }
            (["match", "all", "sync", kind @ ("b32" | "b64")], [result, value, mask]) => {
                let bits = if *kind == "b64" { 64 } else { 32 };
                let value = self.operand(value, Scalar::of_bits(bits))?;
                let mask = self.operand(mask, WORD)?;
                let name = format!("llvm.nvvm.match.all.sync.i{bits}p");
                let both = self.together("{ i32, i1 }", &name, &[mask, value]);
                self.set_both(result, &both)?;
            }
            (
                [
                    "redux",
                    "sync",
                    operation @ ("min" | "max"),
                    modifiers @ ..,
                    "f32",
                ],
                [result, value, mask],
            ) => {
                return self.extreme_of_lanes(operation, modifiers, result, [value, mask]);
            }
            (["elect", "sync"], [result, mask]) => self.elect(result, mask)?,
            (["redux", "sync", operation, kind], [result, value, mask]) => {
                let name = match (*operation, *kind) {
                    ("add" | "and" | "or" | "xor", _) => (*operation).to_owned(),
                    ("min" | "max", "s32") => (*operation).to_owned(),
                    ("min" | "max", "u32") => format!("u{operation}"),
                    _ => return Ok(false),
                };
                let value = self.operand(value, WORD)?;
                let mask = self.operand(mask, WORD)?;
                let name = format!("llvm.nvvm.redux.sync.{name}");
                let value = self.together("i32", &name, &[value, mask]);
                self.set_word(result, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `bar.sync`, `barrier.sync.aligned`, `bar.red.popc.u32`.
    fn barrier(
        &mut self,
        family: &str,
        words: &[&str],
        operands: &[Operand],
    ) -> Result<bool, PtxError> {
        let words: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| *word != "cta")
            .collect();
        let is_aligned = family == "bar" || words.contains(&"aligned");
        let words: Vec<&str> = words
            .into_iter()
            .filter(|word| *word != "aligned")
            .collect();
        let aligned = if is_aligned { ".aligned" } else { "" };
        let all = |count: usize| if count == 1 { "all" } else { "count" };
        match (words.as_slice(), operands) {
            (["sync"], numbers @ ([_] | [_, _])) => {
                let mut values = Vec::new();
                for number in numbers {
                    values.push(self.operand(number, WORD)?);
                }
                let name = format!("llvm.nvvm.barrier.cta.sync{aligned}.{}", all(values.len()));
                self.together("void", &name, &values);
            }
            (["red", operation @ ("popc" | "and" | "or"), _], [result, rest @ .., truth])
                if matches!(rest.len(), 1 | 2) =>
            {
                let mut values = Vec::new();
                for number in rest {
                    values.push(self.operand(number, WORD)?);
                }
                let count = values.len();
                values.push(self.operand(truth, Scalar::PREDICATE)?);
                let ty = if *operation == "popc" { "i32" } else { "i1" };
                let name = format!(
                    "llvm.nvvm.barrier.cta.red.{operation}{aligned}.{}",
                    all(count)
                );
                let value = self.together(ty, &name, &values);
                self.set_word(result, value)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `redux.sync.max.f32`: floats are compared as integers of the same order. What is no number is beside them all,
    /// or with `.NaN` beyond.
    fn extreme_of_lanes(
        &mut self,
        operation: &str,
        modifiers: &[&str],
        result: &Operand,
        [value, mask]: [&Operand; 2],
    ) -> Result<bool, PtxError> {
        let word = Type::Int(32);
        let mut bits = self.operand(value, WORD)?;
        for modifier in modifiers {
            match *modifier {
                "abs" => bits = self.op(word, &format!("and {bits}, {}", i32::MAX)),
                "NaN" => {}
                _ => return Ok(false),
            }
        }
        // Numbers below zero grow as their bits do, so that these are turned around.
        let below = self.op(word, &format!("ashr {bits}, 31"));
        let turned = self.op(word, &format!("and {below}, {}", i32::MAX));
        let key = self.op(word, &format!("xor {bits}, {}", turned.text));
        let wins = modifiers.contains(&"NaN");
        let beside = match (operation == "max") == wins {
            true => i32::MAX,
            false => i32::MIN,
        };
        let float = self.as_type(bits, Type::Float);
        let none = self.op(Type::Int(1), &format!("fcmp uno {float}, 0.0"));
        let key = self.op(word, &format!("select {none}, i32 {beside}, {key}"));
        let mask = self.operand(mask, WORD)?;
        let name = format!("llvm.nvvm.redux.sync.{operation}");
        let key = Value::new(word, self.together("i32", &name, &[key, mask]));
        let below = self.op(word, &format!("ashr {key}, 31"));
        let turned = self.op(word, &format!("and {below}, {}", i32::MAX));
        let bits = self.op(word, &format!("xor {key}, {}", turned.text));
        let none = self.op(Type::Int(1), &format!("icmp eq {key}, {beside}"));
        let bits = self.op(word, &format!("select {none}, i32 {}, {bits}", i32::MAX));
        self.set(result, bits, false)?;
        Ok(true)
    }

    /// `elect.sync`: the first of the lanes is the one.
    fn elect(&mut self, result: &Operand, mask: &Operand) -> Result<(), PtxError> {
        let word = Type::Int(32);
        let mask = self.operand(mask, WORD)?;
        let all = Value::constant(1, 1);
        let lanes = self.together("i32", "llvm.nvvm.vote.ballot.sync", &[mask, all]);
        let (lanes, kept) = (Value::new(word, lanes), Value::constant(1, 0));
        let first = self.intrinsic(word, "llvm.cttz.i32", &[&lanes, &kept]);
        let own = self.intrinsic(word, "llvm.nvvm.read.ptx.sreg.laneid", &[]);
        let truth = self.op(Type::Int(1), &format!("icmp eq {own}, {}", first.text));
        match result {
            Operand::Pair(lane, is_first) => {
                self.set(lane, first, false)?;
                self.set(is_first, truth, false)
            }
            lane => self.set(lane, first, false),
        }
    }

    fn shuffle(&mut self, mode: &str, result: &Operand, values: &[Value]) -> Result<(), PtxError> {
        match result {
            Operand::Pair(..) => {
                let name = format!("llvm.nvvm.shfl.{mode}.i32p");
                let both = self.together("{ i32, i1 }", &name, values);
                self.set_both(result, &both)
            }
            one => {
                let name = format!("llvm.nvvm.shfl.{mode}.i32");
                let value = self.together("i32", &name, values);
                self.set_word(one, value)
            }
        }
    }

    /// A call that threads make together.
    fn together(&mut self, ty: &str, name: &str, values: &[Value]) -> String {
        let types: Vec<String> = values.iter().map(|each| each.ty.to_string()).collect();
        let list: Vec<String> = values.iter().map(ToString::to_string).collect();
        self.made
            .declare(format!("declare {ty} @{name}({})", types.join(", ")));
        let call = format!("call {ty} @{name}({}) #0", list.join(", "));
        match ty {
            "void" => {
                self.emit(&call);
                String::new()
            }
            _ => {
                let bits = if ty == "i1" { 1 } else { 32 };
                self.op(Type::Int(bits), &call).text
            }
        }
    }

    fn set_word(&mut self, result: &Operand, value: String) -> Result<(), PtxError> {
        let bits = match result.name().and_then(|name| self.register(name)) {
            Some(scalar) if scalar == Scalar::PREDICATE => 1,
            _ => 32,
        };
        self.set(result, Value::new(Type::Int(bits), value), false)
    }

    fn set_both(&mut self, result: &Operand, both: &str) -> Result<(), PtxError> {
        let (first, second) = match result {
            Operand::Pair(first, second) => (first.as_ref(), Some(second.as_ref())),
            one => (one, None),
        };
        let word = self.op(
            Type::Int(32),
            &format!("extractvalue {{ i32, i1 }} {both}, 0"),
        );
        self.set(first, word, false)?;
        if let Some(second) = second {
            let truth = self.op(
                Type::Int(1),
                &format!("extractvalue {{ i32, i1 }} {both}, 1"),
            );
            self.set(second, truth, false)?;
        }
        Ok(())
    }
}
