//! Calls: what stands in `.param` variables goes by value.

use super::function::{Body, Named};
use super::values::{Type, Value, quoted};
use super::{Passed, Signature};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Instruction, Operand, Space, Variable};

impl Body<'_> {
    /// `call[.uni] [(result),] function[, (parameters)][, prototype]`.
    pub(super) fn call(&mut self, instruction: &Instruction) -> Result<(), PtxError> {
        let operands = instruction.operands.as_slice();
        let (results, rest) = match operands {
            [Operand::List(results), rest @ ..] => (results.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let [callee, rest @ ..] = rest else {
            return self.wrong("the name of a function is expected");
        };
        let (arguments, rest) = match rest {
            [Operand::List(arguments), rest @ ..] => (arguments.as_slice(), rest),
            rest => (&[][..], rest),
        };
        let Some(name) = callee.name().map(str::to_owned) else {
            return self.wrong("the name of a function is expected");
        };
        let (signature, target) = match self.named(&name).cloned() {
            Some(Named::Function) => {
                let signature = self.made.functions.get(&name).cloned();
                let Some(signature) = signature else {
                    return self.wrong(format!("`{name}` is no function"));
                };
                (signature, format!("@{}", quoted(&name)))
            }
            Some(Named::Register(_)) => {
                let prototype = rest.first().and_then(Operand::name);
                let prototype = prototype.and_then(|label| self.flat.prototypes.get(label));
                let Some((results, parameters)) = prototype else {
                    return self.unsupported("a call through a register without a prototype");
                };
                let signature = Signature {
                    result: results.first().map(Passed::of),
                    parameters: parameters.iter().map(Passed::of).collect(),
                    never_returns: false,
                };
                let address = self.read_register(&name)?;
                let address = self.resized(address, 64);
                let target = self.op(Type::Pointer(0), &format!("inttoptr {address} to ptr"));
                (signature, target.text)
            }
            _ => return self.wrong(format!("`{name}` is declared nowhere")),
        };
        if signature.parameters.len() != arguments.len() {
            return self.wrong(format!(
                "`{name}` takes {} parameters and gets {}",
                signature.parameters.len(),
                arguments.len()
            ));
        }
        let mut list = Vec::new();
        for (argument, passed) in arguments.iter().zip(&signature.parameters) {
            list.push(self.argument(argument, passed)?);
        }
        let result = signature.result();
        let call = format!("call {result} {target}({}) #0", list.join(", "));
        match (&signature.result, results) {
            (None, _) => self.emit(&call),
            (Some(passed), results) => {
                let ty = match passed {
                    Passed::Pointer => Type::Pointer(0),
                    other => Type::Int((other.bytes() * 8) as u32),
                };
                let value = self.op(ty, &call);
                if let [result] = results {
                    self.keep_result(result, value)?;
                }
            }
        }
        if signature.never_returns {
            self.end("unreachable");
        }
        Ok(())
    }

    /// What a parameter passes, with its type.
    fn argument(&mut self, argument: &Operand, passed: &Passed) -> Result<String, PtxError> {
        let place = argument.name().and_then(|name| self.parameter_place(name));
        let Some((address, align)) = place else {
            // A register or a number, as functions with registers for parameters take them.
            let bits = (passed.bytes() * 8) as u32;
            let scalar = crate::ptx::syntax::Scalar::of_bits(bits);
            let value = self.operand(argument, scalar)?;
            return Ok(value.to_string());
        };
        Ok(match passed {
            Passed::Memory(..) => format!("{} {address}", passed.parameter()),
            Passed::Bits(bits) => {
                let ty = Type::Int(*bits);
                let value = self.op(ty, &format!("load {ty}, ptr {address}, align {align}"));
                value.to_string()
            }
            Passed::Pointer => {
                let ty = Type::Pointer(0);
                let value = self.op(ty, &format!("load {ty}, ptr {address}, align {align}"));
                value.to_string()
            }
        })
    }

    fn keep_result(&mut self, result: &Operand, value: Value) -> Result<(), PtxError> {
        let place = result.name().and_then(|name| self.parameter_place(name));
        match place {
            Some((address, align)) => {
                self.emit(&format!("store {value}, ptr {address}, align {align}"));
                Ok(())
            }
            None => self.set(result, value, false),
        }
    }

    /// Address and alignment of a `.param` variable.
    fn parameter_place(&self, name: &str) -> Option<(String, u32)> {
        let variables: &[Variable] = &self.flat.variables;
        let all = variables.iter().chain(&self.function.parameters);
        let mut all = all.filter(|variable| variable.space == Some(Space::Parameter));
        let variable = all.find(|variable| variable.name == name)?;
        match self.named(name)? {
            Named::Variable(address, _) => Some((address.clone(), variable.aligned())),
            _ => None,
        }
    }
}
