//! PTX's video instructions: `vadd`, `vsub`, `vabsdiff`, `vmin`, `vmax`, `vshl`, `vshr`, `vmad` and `vset` on one
//! number, and those on two halves or four bytes of a register.
//!
//! They follow the PTX manual's tables: operands are selected and extended, the operation is exact, its result is saturated
//! where `.sat` asks for it, then comes a second operation with `c`, or `c` gives what the destination's selector leaves
//! out. Invariant: an opcode is understood whole or not at all.

use super::super::statements::Lowering;
use crate::kernel::ptx::{Instruction, Operand};
use crate::llvm::{IntegerPredicate, Opcode, Value};

/// What a video instruction computes.
#[derive(Clone, Copy, Debug)]
pub(in crate::codegen::cpu) struct Video {
    operation: Operation,
    /// How many numbers a register holds: 1, 2 or 4.
    lanes: u32,
    /// Whether the result has a sign, and both sources.
    signed: [bool; 3],
    saturates: bool,
    then: Option<Then>,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Subtract,
    Average,
    Difference,
    Smaller,
    Larger,
    Shift {
        left: bool,
        wraps: bool,
    },
    /// The product with `c`, so many places to the right; `.po` adds one.
    Multiply {
        places: u32,
        plus_one: bool,
    },
    Set(Comparison),
}

#[derive(Clone, Copy, Debug)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The second operation.
#[derive(Clone, Copy, Debug)]
enum Then {
    Add,
    Smaller,
    Larger,
}

/// The video instruction that this is, where it is one.
pub(in crate::codegen::cpu) fn video(instruction: &Instruction) -> Option<Video> {
    let (family, words) = instruction.opcode.split_first()?;
    let (family, lanes) = match family.as_bytes() {
        [.., b'2'] => (&family[..family.len() - 1], 2),
        [.., b'4'] => (&family[..family.len() - 1], 4),
        _ => (family.as_str(), 1),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (types, words) = match family {
        "vset" => (["u32", words.first()?, words.get(1)?], words.get(2..)?),
        _ => (
            [*words.first()?, words.get(1)?, words.get(2)?],
            words.get(3..)?,
        ),
    };
    let mut signed = [false; 3];
    for (signed, ty) in signed.iter_mut().zip(types) {
        *signed = match ty {
            "s32" => true,
            "u32" => false,
            _ => return None,
        };
    }
    let (first, words) = match (family, words) {
        ("vset" | "vmad", [first, rest @ ..]) => (Some(*first), rest),
        (_, words) => (None, words),
    };
    let (plus_one, words) = match (family, first) {
        ("vmad", Some("po")) => (true, words.to_vec()),
        ("vmad", Some(first)) => (false, [&[first], words].concat()),
        _ => (false, words.to_vec()),
    };
    let (saturates, words) = match words.as_slice() {
        ["sat", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (operation, words) = match (family, words) {
        ("vadd", words) => (Operation::Add, words),
        ("vsub", words) => (Operation::Subtract, words),
        ("vavrg", words) if lanes > 1 => (Operation::Average, words),
        ("vabsdiff", words) => (Operation::Difference, words),
        ("vmin", words) => (Operation::Smaller, words),
        ("vmax", words) => (Operation::Larger, words),
        ("vshl" | "vshr", [mode @ ("wrap" | "clamp"), rest @ ..]) if lanes == 1 => {
            let left = family == "vshl";
            let wraps = *mode == "wrap";
            (Operation::Shift { left, wraps }, rest)
        }
        ("vmad", words) if lanes == 1 => {
            let (places, words) = match words {
                ["shr7", rest @ ..] => (7, rest),
                ["shr15", rest @ ..] => (15, rest),
                rest => (0, rest),
            };
            (Operation::Multiply { places, plus_one }, words)
        }
        ("vset", words) if !saturates => (Operation::Set(comparison(first?)?), words),
        _ => return None,
    };
    let then = match words {
        [] => None,
        ["add"] => Some(Then::Add),
        ["min"] if lanes == 1 => Some(Then::Smaller),
        ["max"] if lanes == 1 => Some(Then::Larger),
        _ => return None,
    };
    let operands = instruction.operands.len();
    let is_partial = matches!(instruction.operands.first()?, Operand::Part { .. });
    let wanted = match operation {
        Operation::Multiply { .. } if then.is_some() || is_partial => return None,
        Operation::Multiply { .. } => 4,
        _ if lanes > 1 || then.is_some() || is_partial => 4,
        _ => 3,
    };
    (operands == wanted && !(lanes == 1 && then.is_some() && is_partial)).then_some(Video {
        operation,
        lanes,
        signed,
        saturates,
        then,
    })
}

fn comparison(word: &str) -> Option<Comparison> {
    Some(match word {
        "eq" => Comparison::Equal,
        "ne" => Comparison::Unequal,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// Emits a video instruction; `None`: an operand is not what it should be.
    pub(in crate::codegen::cpu) fn compute_video(
        &mut self,
        video: Video,
        operands: &[Operand],
    ) -> Option<()> {
        let (result, selector) = match operands.first()? {
            Operand::Part { of, selector } => (of.as_ref(), Some(selector.as_str())),
            whole => (whole, None),
        };
        let value = match (video.operation, video.lanes) {
            (Operation::Multiply { places, plus_one }, _) => {
                self.multiply_and_scale(video, (places, plus_one), operands)?
            }
            (_, 1) => self.of_one(video, selector, operands)?,
            _ => self.of_lanes(video, selector, operands)?,
        };
        self.assign(result, value)
    }

    /// An operation on one number, in 64 bits.
    fn of_one(
        &self,
        video: Video,
        selector: Option<&str>,
        operands: &[Operand],
    ) -> Option<Value<'ctx>> {
        let left = self.selected(operands.get(1)?, video.signed[1])?;
        let right = self.selected(operands.get(2)?, video.signed[2])?;
        let mut value = self.operate_exactly(video, left, right);
        let part = selector.map_or(Some((0, 32)), place_of)?;
        if video.saturates {
            value = self.saturate(value, part.1, video.signed[0]);
        }
        let value = self.resize(value, 32);
        let Some(last) = operands.get(3) else {
            return Some(value);
        };
        let last = self.word(last)?;
        if let Some(then) = video.then {
            return Some(self.second(then, value, last, video.signed[0]));
        }
        Some(self.merge(part, value, last))
    }

    /// An operation on each of some halves or bytes.
    fn of_lanes(
        &self,
        video: Video,
        selector: Option<&str>,
        operands: &[Operand],
    ) -> Option<Value<'ctx>> {
        let bits = 32 / video.lanes;
        let letter = if video.lanes == 2 { 'h' } else { 'b' };
        let (first, first_places) = lanes_of(operands.get(1)?, letter, video.lanes, 0)?;
        let (second, second_places) = lanes_of(operands.get(2)?, letter, video.lanes, video.lanes)?;
        let long = self.integer(64);
        let low = self.resize(self.word(first)?, 64);
        let high = self.resize(self.word(second)?, 64);
        let high = (self.builder).binary(Opcode::LLVMShl, high, long.constant(32));
        let both = self.builder.binary(Opcode::LLVMOr, low, high);
        let last = self.word(operands.get(3)?)?;
        let mask = selector.map_or_else(
            || Some((0..video.lanes).collect()),
            |selector| digits(selector, letter, video.lanes),
        )?;
        let lane = |place: u32, signed: bool| {
            let places = long.constant(u64::from(place * bits));
            let moved = self.builder.binary(Opcode::LLVMLShr, both, places);
            self.widened(self.resize(moved, bits), signed)
        };
        let mut whole = last;
        for index in mask {
            let left = lane(*first_places.get(index as usize)?, video.signed[1]);
            let right = lane(*second_places.get(index as usize)?, video.signed[2]);
            let mut value = self.operate_exactly(video, left, right);
            if video.saturates {
                value = self.saturate(value, bits, video.signed[0]);
            }
            let value = self.resize(value, 32);
            whole = match video.then {
                Some(_) => self.builder.binary(Opcode::LLVMAdd, whole, value),
                None => self.merge((index * bits, bits), value, whole),
            };
        }
        Some(whole)
    }

    /// `vmad`: the product and the sum in 128 bits.
    fn multiply_and_scale(
        &self,
        video: Video,
        (places, plus_one): (u32, bool),
        operands: &[Operand],
    ) -> Option<Value<'ctx>> {
        let [_, left, right, last] = operands else {
            return None;
        };
        let negated = |operand| matches!(operand, &Operand::Negated(_));
        let bare = |operand: &'_ Operand| match operand {
            Operand::Negated(inner) => inner.as_ref().clone(),
            other => other.clone(),
        };
        let turns_product = negated(left) != negated(right);
        let signed = video.signed[1] || video.signed[2] || turns_product || negated(last);
        let wide = self.integer(128);
        let zero = wide.zero();
        let widen = |value, signed| {
            let how = if signed {
                Opcode::LLVMSExt
            } else {
                Opcode::LLVMZExt
            };
            self.builder.cast(how, value, wide)
        };
        let turned = |value| self.builder.binary(Opcode::LLVMSub, zero, value);
        let left = widen(self.selected(&bare(left), video.signed[1])?, true);
        let right = widen(self.selected(&bare(right), video.signed[2])?, true);
        let mut sum = self.builder.binary(Opcode::LLVMMul, left, right);
        if turns_product && !plus_one {
            sum = turned(sum);
        }
        let addend = widen(self.word(&bare(last))?, signed);
        let addend = match negated(last) && !plus_one && !turns_product {
            true => turned(addend),
            false => addend,
        };
        sum = self.builder.binary(Opcode::LLVMAdd, sum, addend);
        if plus_one {
            sum = (self.builder).binary(Opcode::LLVMAdd, sum, wide.constant(1));
        }
        let moved = (self.builder).binary(
            if signed {
                Opcode::LLVMAShr
            } else {
                Opcode::LLVMLShr
            },
            sum,
            wide.constant(places.into()),
        );
        let (least, most) = match signed {
            true => (i64::from(i32::MIN), i64::from(i32::MAX)),
            false => (0, i64::from(u32::MAX)),
        };
        let value = match video.saturates {
            true => {
                let [least, most] = [least, most].map(|bound| {
                    let bound = self.integer(64).constant(bound as u64);
                    self.builder.cast(Opcode::LLVMSExt, bound, wide)
                });
                self.within(moved, least, most)
            }
            false => moved,
        };
        Some(self.resize(value, 32))
    }

    /// What an operation gives of two numbers in 64 bits, where none goes over.
    fn operate_exactly(&self, video: Video, left: Value, right: Value) -> Value<'ctx> {
        let builder = &self.builder;
        let long = self.integer(64);
        let less = builder.compare(IntegerPredicate::LLVMIntSLT, left, right);
        match video.operation {
            Operation::Add | Operation::Multiply { .. } => {
                builder.binary(Opcode::LLVMAdd, left, right)
            }
            Operation::Subtract => builder.binary(Opcode::LLVMSub, left, right),
            Operation::Average => {
                let sum = builder.binary(Opcode::LLVMAdd, left, right);
                let below = builder.compare(IntegerPredicate::LLVMIntSLT, sum, long.zero());
                let one = builder.select(below, long.zero(), long.constant(1));
                let sum = builder.binary(Opcode::LLVMAdd, sum, one);
                builder.binary(Opcode::LLVMAShr, sum, long.constant(1))
            }
            Operation::Difference => {
                let down = builder.binary(Opcode::LLVMSub, left, right);
                let up = builder.binary(Opcode::LLVMSub, right, left);
                builder.select(less, up, down)
            }
            Operation::Smaller => builder.select(less, left, right),
            Operation::Larger => builder.select(less, right, left),
            Operation::Shift { left: to, wraps } => {
                let places = match wraps {
                    true => builder.binary(Opcode::LLVMAnd, right, long.constant(31)),
                    false => {
                        let within = builder.is_below(right, long.constant(32));
                        builder.select(within, right, long.constant(32))
                    }
                };
                // Sources without a sign have zeros above their 32 bits.
                let how = if to {
                    Opcode::LLVMShl
                } else {
                    Opcode::LLVMAShr
                };
                builder.binary(how, left, places)
            }
            Operation::Set(comparison) => {
                let predicate = match comparison {
                    Comparison::Equal => IntegerPredicate::LLVMIntEQ,
                    Comparison::Unequal => IntegerPredicate::LLVMIntNE,
                    Comparison::Less => IntegerPredicate::LLVMIntSLT,
                    Comparison::LessOrEqual => IntegerPredicate::LLVMIntSLE,
                    Comparison::Greater => IntegerPredicate::LLVMIntSGT,
                    Comparison::GreaterOrEqual => IntegerPredicate::LLVMIntSGE,
                };
                let truth = builder.compare(predicate, left, right);
                builder.cast(Opcode::LLVMZExt, truth, long)
            }
        }
    }

    /// The nearest number that so many bits hold.
    fn saturate(&self, value: Value, bits: u32, signed: bool) -> Value<'ctx> {
        let (least, most) = match signed {
            true => ((-1i64) << (bits - 1), (1i64 << (bits - 1)) - 1),
            false => (0, (1i64 << bits) - 1),
        };
        let long = self.integer(64);
        let [least, most] = [least, most].map(|bound| long.constant(bound as u64));
        self.within(value, least, most)
    }

    fn within(&self, value: Value, least: Value, most: Value) -> Value<'ctx> {
        let below = (self.builder).compare(IntegerPredicate::LLVMIntSLT, value, least);
        let value = self.builder.select(below, least, value);
        let above = (self.builder).compare(IntegerPredicate::LLVMIntSGT, value, most);
        self.builder.select(above, most, value)
    }

    fn second(&self, then: Then, value: Value, last: Value, signed: bool) -> Value<'ctx> {
        let predicate = match signed {
            true => IntegerPredicate::LLVMIntSLT,
            false => IntegerPredicate::LLVMIntULT,
        };
        let less = |left, right| self.builder.compare(predicate, left, right);
        match then {
            Then::Add => self.builder.binary(Opcode::LLVMAdd, value, last),
            Then::Smaller => self.builder.select(less(value, last), value, last),
            Then::Larger => self.builder.select(less(value, last), last, value),
        }
    }

    /// A register with some of its bits, from a place on, replaced.
    fn merge(
        &self,
        (place, bits): (u32, u32),
        value: Value<'ctx>,
        rest: Value<'ctx>,
    ) -> Value<'ctx> {
        if bits == 32 {
            return value;
        }
        let word = self.integer(32);
        let mask = ((1u64 << bits) - 1) << place;
        let value = (self.builder).binary(Opcode::LLVMShl, value, word.constant(place.into()));
        let value = (self.builder).binary(Opcode::LLVMAnd, value, word.constant(mask));
        let kept = (self.builder).binary(
            Opcode::LLVMAnd,
            rest,
            word.constant(!mask & u64::from(u32::MAX)),
        );
        self.builder.binary(Opcode::LLVMOr, value, kept)
    }

    /// An operand, or the part of it that its selector names, in 64 bits.
    fn selected(&self, operand: &Operand, signed: bool) -> Option<Value<'ctx>> {
        let (operand, (place, bits)) = match operand {
            Operand::Part { of, selector } => (of.as_ref(), place_of(selector)?),
            whole => (whole, (0, 32)),
        };
        let places = self.integer(32).constant(place.into());
        let moved = (self.builder).binary(Opcode::LLVMLShr, self.word(operand)?, places);
        Some(self.widened(self.resize(moved, bits), signed))
    }

    fn widened(&self, value: Value, signed: bool) -> Value<'ctx> {
        let how = if signed {
            Opcode::LLVMSExt
        } else {
            Opcode::LLVMZExt
        };
        self.builder.cast(how, value, self.integer(64))
    }
}

/// First bit and number of bits of `b0` to `b3`, `h0`, `h1`.
fn place_of(selector: &str) -> Option<(u32, u32)> {
    let (letter, digit) = selector.split_at_checked(1)?;
    let digit: u32 = digit.parse().ok()?;
    match letter {
        "b" if digit < 4 => Some((8 * digit, 8)),
        "h" if digit < 2 => Some((16 * digit, 16)),
        _ => None,
    }
}

/// An operand, and the place of each of its numbers among those of both sources, the lowest first.
fn lanes_of(
    operand: &Operand,
    letter: char,
    lanes: u32,
    from: u32,
) -> Option<(&Operand, Vec<u32>)> {
    match operand {
        Operand::Part { of, selector } => {
            let places = digits(selector, letter, 2 * lanes)?;
            (places.len() == lanes as usize).then_some((of.as_ref(), places))
        }
        whole => Some((whole, (from..from + lanes).collect())),
    }
}

/// The numbers below `end` of a selector such as `h32`, the last one first.
fn digits(selector: &str, letter: char, end: u32) -> Option<Vec<u32>> {
    let digits = selector.strip_prefix(letter)?.chars().rev();
    let digits: Vec<u32> = digits
        .map(|digit| digit.to_digit(10))
        .collect::<Option<_>>()?;
    (!digits.is_empty() && digits.iter().all(|digit| *digit < end)).then_some(digits)
}
