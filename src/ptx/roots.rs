//! What the addresses in a function are derived from: a variable or a kernel's parameter, where it is one and the
//! same on all ways. Accesses are made relative to that, so that analyses see what clang's code would show them.
//!
//! Invariant: a root changes the form of an address and never its value.

use super::flat::{Flat, Step};
use super::syntax::{Instruction, Operand};
use std::collections::{HashMap, HashSet};

/// What a register holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Holds {
    /// A number, or an address from nobody knows where.
    Number,
    /// An address in this variable, or in what this parameter points to. `narrow`: of 32 bits on some way.
    Within { root: String, narrow: bool },
    /// Addresses of several origins.
    Several,
}

/// The root of each register that has one, and whether its address has lost its upper half.
pub(super) fn roots(
    flat: &Flat,
    is_variable: &dyn Fn(&str) -> bool,
    pointer_parameters: &HashSet<String>,
) -> HashMap<String, (String, bool)> {
    let registers: HashMap<&str, u32> = (flat.registers.iter())
        .map(|(name, scalar)| (name.as_str(), scalar.bits))
        .collect();
    let analysis = Analysis {
        registers,
        is_variable,
        pointer_parameters,
    };
    let mut held: HashMap<String, Holds> = HashMap::new();
    loop {
        let mut changed = false;
        for step in &flat.steps {
            let Step::Instruction(instruction) = step else {
                continue;
            };
            for (register, holds) in analysis.results(instruction, &held) {
                let Some(holds) = holds else {
                    continue;
                };
                let joined = match held.get(register) {
                    None => holds,
                    Some(before) => either(before, &holds),
                };
                if held.get(register) != Some(&joined) {
                    held.insert(register.to_owned(), joined);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let rooted = held
        .into_iter()
        .filter_map(|(register, holds)| match holds {
            Holds::Within { root, narrow } => Some((register, (root, narrow))),
            _ => None,
        });
    rooted.collect()
}

struct Analysis<'a> {
    registers: HashMap<&'a str, u32>,
    is_variable: &'a dyn Fn(&str) -> bool,
    pointer_parameters: &'a HashSet<String>,
}

/// What a register holds that is given one thing or the other.
fn either(one: &Holds, other: &Holds) -> Holds {
    match (one, other) {
        (Holds::Number, Holds::Number) => Holds::Number,
        (
            Holds::Within { root, narrow },
            Holds::Within {
                root: second,
                narrow: also,
            },
        ) if root == second => Holds::Within {
            root: root.clone(),
            narrow: *narrow || *also,
        },
        _ => Holds::Several,
    }
}

/// What a sum holds.
fn sum(one: Option<Holds>, other: Option<Holds>) -> Option<Holds> {
    match (one?, other?) {
        (Holds::Number, holds) | (holds, Holds::Number) => Some(holds),
        _ => Some(Holds::Several),
    }
}

impl Analysis<'_> {
    /// What an instruction's results hold; nothing is known yet of those without.
    fn results<'i>(
        &self,
        instruction: &'i Instruction,
        held: &HashMap<String, Holds>,
    ) -> Vec<(&'i str, Option<Holds>)> {
        let Some(first) = instruction.operands.first() else {
            return Vec::new();
        };
        let mut all = Vec::new();
        let result = match first {
            Operand::Name(name, _) if self.registers.contains_key(name.as_str()) => name,
            other => {
                collect(other, &mut all);
                let known = all.into_iter();
                let known = known.filter(|name| self.registers.contains_key(name));
                return known.map(|name| (name, Some(Holds::Number))).collect();
            }
        };
        let operands = &instruction.operands[1..];
        let of = |index: usize| operands.get(index).map(|each| self.held(each, held));
        let of = |index: usize| of(index).unwrap_or(Some(Holds::Number));
        let opcode: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let is_64 = matches!(opcode.last(), Some(&("b64" | "u64" | "s64")));
        let is_word = matches!(opcode.last(), Some(&("b32" | "u32" | "s32")));
        let mut holds = match opcode[0] {
            // In any space an address has both halves.
            "cvta" if is_64 && !instruction.has("to") => of(0).map(|holds| match holds {
                Holds::Within { root, .. } => Holds::Within {
                    root,
                    narrow: false,
                },
                other => other,
            }),
            "mov" | "cvta" if is_64 || is_word => of(0),
            "ld" if is_64 && instruction.has("param") => match operands.first() {
                Some(Operand::Memory(base, 0)) => match base.name() {
                    Some(name) if self.pointer_parameters.contains(name) => Some(Holds::Within {
                        root: name.to_owned(),
                        narrow: false,
                    }),
                    _ => Some(Holds::Number),
                },
                _ => Some(Holds::Number),
            },
            "add" | "or" if is_64 || is_word => sum(of(0), of(1)),
            "sub" if is_64 || is_word => match (of(0), of(1)) {
                (Some(holds), Some(Holds::Number)) => Some(holds),
                (Some(_), Some(_)) => Some(Holds::Number),
                _ => None,
            },
            "and" if is_64 || is_word => match (of(0), of(1)) {
                (Some(Holds::Number), Some(holds)) | (Some(holds), Some(Holds::Number)) => {
                    Some(holds)
                }
                (Some(_), Some(_)) => Some(Holds::Number),
                _ => None,
            },
            "mad" => match (instruction.has("hi"), of(2)) {
                (false, holds) => holds,
                _ => Some(Holds::Number),
            },
            "selp" => match (of(0), of(1)) {
                (Some(one), Some(other)) => Some(either(&one, &other)),
                (one, other) => one.or(other),
            },
            "cvt" if matches!(opcode.as_slice(), ["cvt", to, from] if is_integer(to) && is_integer(from)) => {
                of(0)
            }
            _ => Some(Holds::Number),
        };
        if let Some(Holds::Within { narrow, .. }) = &mut holds {
            *narrow |= self.registers[result.as_str()] < 64;
        }
        vec![(result, holds)]
    }

    fn held(&self, operand: &Operand, held: &HashMap<String, Holds>) -> Option<Holds> {
        match operand {
            Operand::Name(name, _) if self.registers.contains_key(name.as_str()) => {
                held.get(name).cloned()
            }
            Operand::Name(name, _) if (self.is_variable)(name) => Some(Holds::Within {
                root: name.clone(),
                narrow: false,
            }),
            _ => Some(Holds::Number),
        }
    }
}

fn is_integer(name: &str) -> bool {
    matches!(name, "u64" | "s64" | "b64" | "u32" | "s32" | "b32")
}

fn collect<'o>(operand: &'o Operand, names: &mut Vec<&'o str>) {
    match operand {
        Operand::Name(name, _) => names.push(name),
        Operand::Vector(parts) | Operand::List(parts) => {
            parts.iter().for_each(|part| collect(part, names));
        }
        Operand::Pair(first, second) => {
            collect(first, names);
            collect(second, names);
        }
        _ => {}
    }
}
