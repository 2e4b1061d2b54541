//! Every other instruction: inline assembly of itself, with registers as operands, which the code generators know.

use super::address::space_named;
use super::function::{Body, Named};
use super::values::{Type, Value};
use crate::ptx::syntax::{Instruction, Operand, Scalar, Space};
use crate::ptx::{COMPUTING, PtxError};
use std::fmt::Write;

/// A template that is being written.
#[derive(Default)]
struct Template {
    /// What stands before the instruction, and behind it.
    before: String,
    after: String,
    outputs: Vec<Output>,
    inputs: Vec<Value>,
    truths: usize,
}

struct Output {
    register: String,
    ty: Type,
}

impl Body<'_> {
    /// An instruction as inline assembly.
    pub(super) fn assembly(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let family = instruction.opcode[0].as_str();
        let spaces: Vec<Space> = (instruction.opcode.iter().skip(1))
            .filter_map(|part| space_named(part))
            .collect();
        let mut template = Template::default();
        let has_result = !without_result(instruction);
        // Places of outputs come before those of inputs, so that their number is needed first.
        for (index, operand) in instruction.operands.iter().enumerate() {
            if index == 0 && has_result {
                self.count_outputs(operand, &mut template)?;
            }
        }
        let mut texts = Vec::new();
        let mut memory = 0;
        let mut output = 0;
        for (index, operand) in instruction.operands.iter().enumerate() {
            if index == 0 && has_result {
                texts.push(output_text(operand, &mut output, &template));
                continue;
            }
            let space = match memory {
                // Behind both ends of a copy comes its barrier.
                2 => Some(Space::Shared),
                _ => spaces.get(memory).or(spaces.last()).copied(),
            };
            memory += usize::from(matches!(operand, Operand::Memory(..)));
            texts.push(self.input_text(operand, space.unwrap_or(Space::Generic), &mut template)?);
        }
        let mut text = instruction.name();
        if !texts.is_empty() {
            let _ = write!(text, " {}", texts.join(", "));
        }
        text.push(';');
        if !template.before.is_empty() || !template.after.is_empty() {
            let mut names = String::new();
            for number in 0..template.truths {
                let _ = write!(names, "{}p{number}", if number > 0 { ", " } else { "" });
            }
            text = format!(
                "{{ .reg .pred {names}; {}{text} {}}}",
                template.before, template.after
            );
        }
        let mut constraints = Vec::new();
        for output in &template.outputs {
            constraints.push(format!("={}", letter(output.ty)));
        }
        for input in &template.inputs {
            constraints.push(letter(input.ty).to_string());
        }
        let computes = COMPUTING.contains(&family);
        if !computes {
            constraints.push("~{memory}".to_owned());
        }
        let types: Vec<String> = (template.outputs.iter())
            .map(|output| output.ty.to_string())
            .collect();
        let ty = match types.as_slice() {
            [] => "void".to_owned(),
            [one] => one.clone(),
            many => format!("{{ {} }}", many.join(", ")),
        };
        let inputs: Vec<String> = template.inputs.iter().map(ToString::to_string).collect();
        let (effects, attributes) = match computes {
            true => ("", "#3"),
            false => ("sideeffect ", "#0"),
        };
        let call = format!(
            "call {ty} asm {effects}\"{text}\", \"{}\"({}) {attributes}",
            constraints.join(","),
            inputs.join(", ")
        );
        match template.outputs.as_slice() {
            [] => self.emit(&call),
            [output] => {
                let value = self.op(output.ty, &call);
                self.keep_output(output, value)?;
            }
            outputs => {
                let whole = self.op(Type::Int(32), &call);
                for (position, output) in outputs.iter().enumerate() {
                    let value = self.op(
                        output.ty,
                        &format!("extractvalue {ty} {}, {position}", whole.text),
                    );
                    self.keep_output(output, value)?;
                }
            }
        }
        Ok(())
    }

    /// The register of `%r.b0` or `%r.h10`, and the selector of its bytes or halves, which video instructions have.
    fn selected<'n>(&self, name: &'n str) -> Option<(&'n str, &'n str)> {
        let (base, selector) = name.rsplit_once('.')?;
        let digits = selector.strip_prefix(['b', 'h'])?;
        let known =
            matches!(digits.len(), 1..=4) && digits.bytes().all(|byte| byte.is_ascii_digit());
        (known && self.register(base).is_some()).then_some((base, selector))
    }

    fn keep_output(&mut self, output: &Output, value: Value) -> Result<(), PtxError> {
        let is_truth = self.register(&output.register) == Some(Scalar::PREDICATE);
        let value = match is_truth {
            true => self.op(Type::Int(1), &format!("icmp ne {value}, 0")),
            false => value,
        };
        self.write_register(&output.register, value, false)
    }

    fn count_outputs(&self, operand: &Operand, template: &mut Template) -> Result<(), PtxError> {
        match operand {
            Operand::Name(name, 0) if name == "_" => {}
            Operand::Name(name, 0) => match self.register(name) {
                Some(Scalar::PREDICATE) => {
                    let number = template.truths;
                    template.truths += 1;
                    let place = template.outputs.len();
                    let _ = write!(template.after, "selp.u32 ${place}, 1, 0, p{number}; ");
                    template.outputs.push(Output {
                        register: name.clone(),
                        ty: Type::Int(32),
                    });
                }
                Some(scalar) => template.outputs.push(Output {
                    register: name.clone(),
                    ty: Type::of(scalar),
                }),
                None => match self.selected(name) {
                    Some((base, _)) => {
                        let base = Operand::Name(base.to_owned(), 0);
                        return self.count_outputs(&base, template);
                    }
                    None => return self.wrong(format!("`{name}` is no register")),
                },
            },
            Operand::Vector(parts) => {
                for part in parts {
                    self.count_outputs(part, template)?;
                }
            }
            Operand::Pair(first, second) => {
                self.count_outputs(first, template)?;
                self.count_outputs(second, template)?;
            }
            _ => return self.wrong("a register is expected as the result"),
        }
        Ok(())
    }

    fn input_text(
        &mut self,
        operand: &Operand,
        space: Space,
        template: &mut Template,
    ) -> Result<String, PtxError> {
        let mut list = |body: &mut Self, parts: &[Operand]| {
            let texts: Result<Vec<String>, PtxError> = parts
                .iter()
                .map(|part| body.input_text(part, space, template))
                .collect();
            texts.map(|texts| texts.join(", "))
        };
        Ok(match operand {
            Operand::Vector(parts) => format!("{{{}}}", list(self, parts)?),
            Operand::Texel(object, coordinates) => {
                let object = self.input_text(object, space, template)?;
                let mut texts = Vec::new();
                for coordinate in coordinates {
                    texts.push(self.input_text(coordinate, space, template)?);
                }
                format!("[{object}, {}]", texts.join(", "))
            }
            Operand::Memory(..) => {
                let pointer = self.pointer(operand, space)?;
                let address = self.address_of(&pointer);
                format!("[{}]", template.input(address))
            }
            Operand::Integer(value) => (*value as i64).to_string(),
            Operand::Single(bits) => format!("0f{bits:08X}"),
            Operand::Double(bits) => format!("0d{bits:016X}"),
            Operand::Not(inner) => format!("!{}", self.input_text(inner, space, template)?),
            Operand::Negative(inner) => format!("-{}", self.input_text(inner, space, template)?),
            Operand::Name(name, offset) => match self.named(name).cloned() {
                Some(Named::Register(Scalar::PREDICATE)) => {
                    let value = self.read_register(name)?;
                    let value = self.resized(value, 32);
                    let number = template.truths;
                    template.truths += 1;
                    let place = template.input(value);
                    let _ = write!(template.before, "setp.ne.u32 p{number}, {place}, 0; ");
                    format!("p{number}")
                }
                Some(Named::Register(_)) => {
                    let value = self.read_register(name)?;
                    template.input(value)
                }
                Some(_) => {
                    let address = self.address_of_symbol(name, *offset)?;
                    template.input(address)
                }
                None => match self.selected(name) {
                    Some((base, selector)) => {
                        let base = Operand::Name(base.to_owned(), 0);
                        let text = self.input_text(&base, space, template)?;
                        format!("{text}.{selector}")
                    }
                    None => {
                        let value = self.special_register(name, Scalar::of_bits(32))?;
                        template.input(value)
                    }
                },
            },
            Operand::List(_) | Operand::Pair(..) => {
                return self.unsupported("such an operand");
            }
        })
    }
}

impl Template {
    /// The place of one more input.
    fn input(&mut self, value: Value) -> String {
        self.inputs.push(value);
        format!("${}", self.outputs.len() + self.inputs.len() - 1)
    }
}

/// A result as it stands in the template.
fn output_text(operand: &Operand, at: &mut usize, template: &Template) -> String {
    match operand {
        Operand::Vector(parts) => {
            let texts: Vec<String> = (parts.iter())
                .map(|part| output_text(part, at, template))
                .collect();
            format!("{{{}}}", texts.join(", "))
        }
        Operand::Pair(first, second) => {
            let first = output_text(first, at, template);
            let second = output_text(second, at, template);
            format!("{first}|{second}")
        }
        Operand::Name(name, _) if name == "_" => "_".to_owned(),
        _ => {
            let place = *at;
            *at += 1;
            let after = format!("selp.u32 ${place}, ");
            // A truth value has a register of the template.
            match template.after.split_once(&after) {
                Some((_, rest)) => {
                    let name = rest.split([',', ';']).nth(2).unwrap_or("").trim();
                    name.to_owned()
                }
                None => {
                    let selector = operand.name().and_then(|name| name.rsplit_once('.'));
                    let selector =
                        selector.map_or_else(String::new, |(_, selector)| format!(".{selector}"));
                    format!("${place}{selector}")
                }
            }
        }
    }
}

/// The letter of a register in constraints.
fn letter(ty: Type) -> char {
    match ty {
        Type::Float => 'f',
        Type::Double => 'd',
        Type::Int(64) | Type::Pointer(_) => 'l',
        Type::Int(128) => 'q',
        Type::Int(8 | 16) => 'h',
        Type::Int(_) => 'r',
    }
}

/// Whether an instruction's first operand is none that it writes.
fn without_result(instruction: &Instruction) -> bool {
    if matches!(
        instruction.operands.first(),
        Some(Operand::Memory(..) | Operand::Texel(..))
    ) {
        return true;
    }
    match instruction.opcode[0].as_str() {
        "st" | "red" | "bar" | "barrier" | "cp" | "sust" | "sured" | "stmatrix" | "nanosleep"
        | "brkpt" | "trap" | "exit" | "membar" | "fence" | "wgmma" | "tcgen05" | "multimem" => true,
        "wmma" => instruction.has("store"),
        "mbarrier" => {
            let writes = ["test_wait", "try_wait", "pending_count"];
            let arrives = instruction.has("arrive") || instruction.has("arrive_drop");
            // An arrival may leave its state to nobody.
            !(writes.iter().any(|word| instruction.has(word))
                || arrives && !matches!(instruction.operands.first(), Some(Operand::Memory(..))))
        }
        _ => false,
    }
}
