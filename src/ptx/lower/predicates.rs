//! Comparisons, selections and arithmetic of truth values.

use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Kind, Operand, Scalar};

impl Body<'_> {
    /// Lowers an instruction that makes or takes truth values; `false`: it is none of those.
    pub(super) fn predicates(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let operands = instruction.operands.as_slice();
        match (words.as_slice(), operands) {
            ([name @ ("and" | "or" | "xor"), "pred"], [result, left, right]) => {
                let left = self.operand(left, Scalar::PREDICATE)?;
                let right = self.operand(right, Scalar::PREDICATE)?;
                let value = self.op(Type::Int(1), &format!("{name} {left}, {}", right.text));
                self.set(result, value, false)?;
            }
            (["not", "pred"], [result, source]) => {
                let source = self.operand(source, Scalar::PREDICATE)?;
                let value = self.op(Type::Int(1), &format!("xor {source}, true"));
                self.set(result, value, false)?;
            }
            (["setp", ..], _) => return self.compare(instruction),
            (["set", ..], _) => return self.compare_to_value(instruction),
            (["selp", name], [result, one, other, truth]) => {
                let Some(scalar) = Scalar::named(name) else {
                    return Ok(false);
                };
                let one = self.operand(one, scalar)?;
                let other = self.operand(other, scalar)?;
                let truth = self.operand(truth, Scalar::PREDICATE)?;
                let value = self.op(one.ty, &format!("select {truth}, {one}, {other}"));
                self.set(result, value, scalar.is_signed())?;
            }
            (["slct", rest @ .., name, by], [result, one, other, number]) => {
                let (Some(scalar), Some(by)) = (Scalar::named(name), Scalar::named(by)) else {
                    return Ok(false);
                };
                let one = self.operand(one, scalar)?;
                let other = self.operand(other, scalar)?;
                let mut number = self.operand(number, by)?;
                let truth = match by.is_float() {
                    true => {
                        if rest.contains(&"ftz") {
                            number = self.flushed(&number);
                        }
                        self.op(Type::Int(1), &format!("fcmp oge {number}, 0.0"))
                    }
                    false => self.op(Type::Int(1), &format!("icmp sge {number}, 0")),
                };
                let value = self.op(one.ty, &format!("select {truth}, {one}, {other}"));
                self.set(result, value, scalar.is_signed())?;
            }
            (["testp", what, name], [result, source]) => {
                let Some(scalar) = Scalar::named(name).filter(|scalar| scalar.is_float()) else {
                    return Ok(false);
                };
                let class = match *what {
                    "notanumber" => 0x003,
                    "infinite" => 0x204,
                    "finite" => 0x1f8,
                    "number" => 0x3fc,
                    "normal" => 0x108,
                    "subnormal" => 0x090,
                    _ => return Ok(false),
                };
                let value = self.operand(source, scalar)?;
                let class = Value::constant(32, class);
                let name = match value.ty {
                    Type::Double => "llvm.is.fpclass.f64",
                    _ => "llvm.is.fpclass.f32",
                };
                let ty = value.ty;
                self.made
                    .declare(format!("declare i1 @{name}({ty}, i32 immarg)"));
                let truth = self.op(Type::Int(1), &format!("call i1 @{name}({value}, {class})"));
                self.set(result, truth, false)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, [!]c]`.
    fn compare(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let (comparison, combination, flushes, name) = match words.as_slice() {
            ["setp", comparison, name] => (*comparison, None, false, *name),
            ["setp", comparison, "ftz", name] => (*comparison, None, true, *name),
            ["setp", comparison, how, name] => (*comparison, Some(*how), false, *name),
            ["setp", comparison, how, "ftz", name] => (*comparison, Some(*how), true, *name),
            _ => return Ok(false),
        };
        let [result, left, right, third @ ..] = instruction.operands.as_slice() else {
            return Ok(false);
        };
        let Some(scalar) = Scalar::named(name) else {
            return Ok(false);
        };
        if matches!(name, "f16x2" | "bf16x2") {
            return self.compare_pairs(instruction, (comparison, combination, flushes));
        }
        let Some(truth) = self.comparison((comparison, flushes), (left, right), (name, scalar))?
        else {
            return Ok(false);
        };
        let with = match third {
            [with] => Some(self.operand(with, Scalar::PREDICATE)?),
            _ => None,
        };
        let (first, second) = match result {
            Operand::Pair(first, second) => (first.as_ref(), Some(second.as_ref())),
            one => (one, None),
        };
        let combined = self.combined(&truth, combination, with.as_ref())?;
        if let Some(second) = second {
            let opposite = self.op(Type::Int(1), &format!("xor {truth}, true"));
            let opposite = self.combined(&opposite, combination, with.as_ref())?;
            self.set(second, opposite, false)?;
        }
        self.set(first, combined, false)?;
        Ok(true)
    }

    /// Both halves of a register each against that of another.
    fn compare_pairs(
        &mut self,
        instruction: &Instruction,
        (comparison, combination, flushes): (&str, Option<&str>, bool),
    ) -> Result<bool, PtxError> {
        let name = match instruction.opcode.last().map(String::as_str) {
            Some("f16x2") => "f16",
            _ => "bf16",
        };
        let [Operand::Pair(low, high), left, right, third @ ..] = instruction.operands.as_slice()
        else {
            return Ok(false);
        };
        let with = match third {
            [with] => Some(self.operand(with, Scalar::PREDICATE)?),
            _ => None,
        };
        let left = self.operand(left, Scalar::of_bits(32))?;
        let right = self.operand(right, Scalar::of_bits(32))?;
        for (result, places) in [(low, 0), (high, 16)] {
            let half = |body: &mut Self, whole: &Value| {
                let moved = body.op(Type::Int(32), &format!("lshr {whole}, {places}"));
                body.resized(moved, 16)
            };
            let (one, other) = (half(self, &left), half(self, &right));
            let truth = self.compare_halves((comparison, flushes), &one, &other, name);
            let truth = self.combined(&truth, combination, with.as_ref())?;
            self.set(result, truth, false)?;
        }
        Ok(true)
    }

    fn combined(
        &mut self,
        truth: &Value,
        combination: Option<&str>,
        with: Option<&Value>,
    ) -> Result<Value, PtxError> {
        match (combination, with) {
            (None, None) => Ok(truth.clone()),
            (Some(how @ ("and" | "or" | "xor")), Some(with)) => {
                Ok(self.op(Type::Int(1), &format!("{how} {truth}, {}", with.text)))
            }
            _ => self.wrong("a comparison with a third operand names how both are combined"),
        }
    }

    /// `set.CMP[.ftz].DTYPE.STYPE d, a, b`: all ones or 1.0 where it holds.
    fn compare_to_value(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let (comparison, combination, flushes, to, name) = match words.as_slice() {
            ["set", comparison, to, name] => (*comparison, None, false, *to, *name),
            ["set", comparison, "ftz", to, name] => (*comparison, None, true, *to, *name),
            ["set", comparison, how, to, name] => (*comparison, Some(*how), false, *to, *name),
            ["set", comparison, how, "ftz", to, name] => {
                (*comparison, Some(*how), true, *to, *name)
            }
            _ => return Ok(false),
        };
        let ([result, left, right, third @ ..], Some(to), Some(scalar)) = (
            instruction.operands.as_slice(),
            Scalar::named(to),
            Scalar::named(name),
        ) else {
            return Ok(false);
        };
        if matches!(name, "f16x2" | "bf16x2") || !(to.is_integer() || to.is_float()) {
            return Ok(false);
        }
        let Some(truth) = self.comparison((comparison, flushes), (left, right), (name, scalar))?
        else {
            return Ok(false);
        };
        let with = match third {
            [with] => Some(self.operand(with, Scalar::PREDICATE)?),
            _ => None,
        };
        let truth = self.combined(&truth, combination, with.as_ref())?;
        let ty = Type::of(to);
        let value = match to.is_integer() {
            true => self.op(ty, &format!("sext {truth} to {ty}")),
            false => self.op(ty, &format!("uitofp {truth} to {ty}")),
        };
        self.set(result, value, true)?;
        Ok(true)
    }

    fn comparison(
        &mut self,
        (comparison, flushes): (&str, bool),
        (left, right): (&Operand, &Operand),
        (name, scalar): (&str, Scalar),
    ) -> Result<Option<Value>, PtxError> {
        let left = self.operand(left, scalar)?;
        let right = self.operand(right, scalar)?;
        if scalar.is_float() {
            let predicate = match comparison {
                "eq" => "oeq",
                "ne" => "one",
                "lt" => "olt",
                "le" => "ole",
                "gt" => "ogt",
                "ge" => "oge",
                "equ" => "ueq",
                "neu" => "une",
                "ltu" => "ult",
                "leu" => "ule",
                "gtu" => "ugt",
                "geu" => "uge",
                "num" => "ord",
                "nan" => "uno",
                _ => return Ok(None),
            };
            let (left, right) = match flushes {
                true => (self.flushed(&left), self.flushed(&right)),
                false => (left, right),
            };
            let text = format!("fcmp {predicate} {left}, {}", right.text);
            return Ok(Some(self.op(Type::Int(1), &text)));
        }
        if matches!(name, "f16" | "bf16") {
            return Ok(Some(self.compare_halves(
                (comparison, flushes),
                &left,
                &right,
                name,
            )));
        }
        if !Self::is_whole(scalar) && scalar.kind != Kind::Predicate {
            return Ok(None);
        }
        let signed = scalar.is_signed();
        let predicate = match comparison {
            "eq" => "eq",
            "ne" => "ne",
            "lt" if signed => "slt",
            "le" if signed => "sle",
            "gt" if signed => "sgt",
            "ge" if signed => "sge",
            "lt" | "lo" => "ult",
            "le" | "ls" => "ule",
            "gt" | "hi" => "ugt",
            "ge" | "hs" => "uge",
            _ => return Ok(None),
        };
        let text = format!("icmp {predicate} {left}, {}", right.text);
        Ok(Some(self.op(Type::Int(1), &text)))
    }

    /// In the form that CUDA's headers have, too.
    fn compare_halves(
        &mut self,
        (comparison, flushes): (&str, bool),
        left: &Value,
        right: &Value,
        name: &str,
    ) -> Value {
        let _ = flushes;
        let template = format!(
            "{{ .reg .pred __$$temp3; setp.{comparison}.{name} __$$temp3, $1, $2; selp.u16 $0, 1, 0, __$$temp3;}}"
        );
        let word = self.op(
            Type::Int(16),
            &format!("call i16 asm \"{template}\", \"=h,h,h\"({left}, {right}) #3"),
        );
        self.op(Type::Int(1), &format!("icmp ne {word}, 0"))
    }
}
