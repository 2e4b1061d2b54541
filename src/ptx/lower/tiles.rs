//! `wmma`: the intrinsics that CUDA's headers lead clang to.

use super::address::{space_named, space_of};
use super::function::Body;
use super::values::{Type, Value};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Scalar};

impl Body<'_> {
    /// Lowers an instruction on tiles; `false`: it is none of those.
    pub(super) fn tile(&mut self, instruction: &Instruction) -> Result<bool, PtxError> {
        let words: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let is_space = |word: &&str| space_named(word).is_some();
        let Some(("wmma", words)) = words.split_first().map(|(first, rest)| (*first, rest)) else {
            return Ok(false);
        };
        let words: Vec<&str> = words
            .iter()
            .copied()
            .filter(|word| !is_space(word))
            .collect();
        match (words.as_slice(), instruction.operands.as_slice()) {
            (
                ["load", which, "sync", "aligned", layout, shape, element],
                [Operand::Vector(parts), address, stride @ ..],
            ) => {
                let register = register_of(element);
                let pointer = self.pointer(address, space_of(instruction))?;
                let (strided, mut arguments) = self.stride(stride)?;
                arguments.insert(0, pointer.to_string());
                let space = space_suffix(&pointer);
                let name = format!(
                    "llvm.nvvm.wmma.{shape}.load.{which}.{layout}{strided}.{element}.{space}"
                );
                let ty = fragment(register, parts.len());
                let whole = self.tile_call(&ty, &name, &arguments);
                self.set_fragment(parts, &whole, register)?;
            }
            (
                ["store", "d", "sync", "aligned", layout, shape, element],
                [address, Operand::Vector(parts), stride @ ..],
            ) => {
                let register = register_of(element);
                let pointer = self.pointer(address, space_of(instruction))?;
                let (strided, last) = self.stride(stride)?;
                let mut arguments = vec![pointer.to_string()];
                arguments.extend(self.fragment_arguments(parts, register)?);
                arguments.extend(last);
                let space = space_suffix(&pointer);
                let name =
                    format!("llvm.nvvm.wmma.{shape}.store.d.{layout}{strided}.{element}.{space}");
                self.tile_call("void", &name, &arguments);
            }
            (
                ["mma", rest @ ..],
                [
                    Operand::Vector(result),
                    Operand::Vector(a),
                    Operand::Vector(b),
                    Operand::Vector(c),
                ],
            ) => {
                let (bits, rest) = match rest {
                    [how @ ("xor" | "and"), "popc", rest @ ..] => (format!("{how}.popc."), rest),
                    rest => (String::new(), rest),
                };
                let ["sync", "aligned", first, second, shape, types @ ..] = rest else {
                    return Ok(false);
                };
                // To nearest is what LLVM takes for granted.
                let types = match types {
                    [types @ .., "rn"] => types,
                    types => types,
                };
                let (saturates, types) = match types {
                    [types @ .., "satfinite"] => (".satfinite", types),
                    types => ("", types),
                };
                let (ends, input, accumulator, made) = match types {
                    [d, c] => (format!("{d}.{c}"), "f16", *c, *d),
                    [d, input, _, c] => ((*input).to_owned(), *input, *c, *d),
                    _ => return Ok(false),
                };
                let mut arguments = self.fragment_arguments(a, register_of(input))?;
                arguments.extend(self.fragment_arguments(b, register_of(input))?);
                arguments.extend(self.fragment_arguments(c, register_of(accumulator))?);
                let name =
                    format!("llvm.nvvm.wmma.{shape}.mma.{bits}{first}.{second}.{ends}{saturates}");
                let register = register_of(made);
                let whole = self.tile_call(&fragment(register, result.len()), &name, &arguments);
                self.set_fragment(result, &whole, register)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn stride(&mut self, stride: &[Operand]) -> Result<(&'static str, Vec<String>), PtxError> {
        match stride {
            [] => Ok(("", Vec::new())),
            [stride] => {
                let value = self.operand(stride, Scalar::of_bits(32))?;
                Ok((".stride", vec![value.to_string()]))
            }
            _ => self.wrong("too many operands"),
        }
    }

    fn tile_call(&mut self, ty: &str, name: &str, arguments: &[String]) -> String {
        let types: Vec<&str> = arguments
            .iter()
            .map(|argument| argument.rsplit_once(' ').map_or("", |(ty, _)| ty))
            .collect();
        self.made
            .declare(format!("declare {ty} @{name}({})", types.join(", ")));
        let call = format!("call {ty} @{name}({}) #0", arguments.join(", "));
        match ty {
            "void" => {
                self.emit(&call);
                String::new()
            }
            _ => self.op(Type::Int(32), &call).text,
        }
    }

    fn fragment_arguments(
        &mut self,
        parts: &[Operand],
        register: &str,
    ) -> Result<Vec<String>, PtxError> {
        let mut all = Vec::new();
        for part in parts {
            let bits = if register == "double" { 64 } else { 32 };
            let value = self.operand(part, Scalar::of_bits(bits))?;
            let value = match register {
                "i32" => value,
                _ => {
                    let text = format!("bitcast {value} to {register}");
                    self.op(Type::Int(bits), &text)
                }
            };
            all.push(format!("{register} {}", value.text));
        }
        Ok(all)
    }

    fn set_fragment(
        &mut self,
        parts: &[Operand],
        whole: &str,
        register: &str,
    ) -> Result<(), PtxError> {
        let bits = if register == "double" { 64 } else { 32 };
        let ty = fragment(register, parts.len());
        for (position, part) in parts.iter().enumerate() {
            let text = match parts.len() {
                1 => whole.to_owned(),
                _ => {
                    let text = format!("extractvalue {ty} {whole}, {position}");
                    self.op(Type::Int(bits), &text).text
                }
            };
            let value = match register {
                "i32" => Value::new(Type::Int(32), text),
                _ => {
                    let text = format!("bitcast {register} {text} to i{bits}");
                    self.op(Type::Int(bits), &text)
                }
            };
            self.set(part, value, false)?;
        }
        Ok(())
    }
}

/// The register that holds elements of a kind, as LLVM has it.
fn register_of(element: &str) -> &'static str {
    match element {
        "f16" => "<2 x half>",
        "f32" => "float",
        "f64" => "double",
        _ => "i32",
    }
}

/// The type of so many registers.
fn fragment(register: &str, count: usize) -> String {
    match count {
        1 => register.to_owned(),
        _ => format!("{{ {} }}", vec![register; count].join(", ")),
    }
}

fn space_suffix(pointer: &Value) -> String {
    match pointer.ty {
        Type::Pointer(space) => format!("p{space}"),
        _ => "p0".to_owned(),
    }
}
