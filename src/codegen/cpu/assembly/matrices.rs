//! Inline PTX on matrices: `mma.sync`, `ldmatrix`, `stmatrix` and `movmatrix`.
//!
//! Invariant: fragments lie as PTX says. What the lanes give each other goes through operations of the
//! warp, so that lanes may come in any order.

use super::super::functions::{Library, PREFIX};
use super::super::statements::{Lowering, parts};
use super::super::tiles::mma_definition;
use crate::codegen::CodegenError;
use crate::kernel::ptx::{Instruction, Operand, Statement, read_template};
use crate::llvm::{Opcode, Value};
use inkwell::module::Module;
use std::collections::BTreeSet;

/// Appends definitions of the products that inline PTX of a module asks for.
pub(in crate::codegen::cpu) fn add_products(text: &mut String, module: &Module) {
    let mut names = BTreeSet::new();
    let instructions = Value::functions(module)
        .into_iter()
        .flat_map(Value::instructions);
    let calls = instructions.filter(|instruction| instruction.opcode() == Some(Opcode::LLVMCall));
    for call in calls {
        let Some((template, _)) = call.called().inline_assembly() else {
            continue;
        };
        if !template.contains("mma.sync") {
            continue;
        }
        let statements = read_template(&template).unwrap_or_default();
        names.extend(statements.iter().filter_map(|statement| match statement {
            Statement::Instruction(instruction) => Some(instruction.name()),
            _ => None,
        }));
    }
    for name in names {
        text.extend(mma_definition(&format!("{PREFIX}asm.{name}"), &name));
    }
}

/// What moves between fragments and memory, or lanes.
pub(in crate::codegen::cpu) struct MatrixTransfer {
    /// Matrices of 8 x 8 elements of 16 bits.
    count: usize,
    transposed: bool,
}

/// What `ldmatrix`, `stmatrix` or `movmatrix` moves; `None`: it is not known.
pub(in crate::codegen::cpu) fn transfer(instruction: &Instruction) -> Option<MatrixTransfer> {
    let [family, sync, aligned, rest @ ..] = instruction.opcode.as_slice() else {
        return None;
    };
    let known = [sync, aligned] == ["sync", "aligned"] && instruction.operands.len() == 2;
    let (last, rest) = rest.split_last()?;
    // The assembler takes shape and count in either order.
    let shapes = rest.iter().filter(|word| *word == "m8n8").count();
    if !known || last != "b16" || shapes != 1 {
        return None;
    }
    let mut found = MatrixTransfer {
        count: 1,
        transposed: false,
    };
    let mut counted = family == "movmatrix";
    for word in rest {
        match word.as_str() {
            "m8n8" => {}
            "trans" => found.transposed = true,
            "shared" | "shared::cta" if family != "movmatrix" => {}
            "x1" | "x2" | "x4" if !counted => {
                found.count = word[1..].parse().ok()?;
                counted = true;
            }
            _ => return None,
        }
    }
    (counted && (family != "movmatrix" || found.transposed)).then_some(found)
}

impl<'ctx> Lowering<'_, 'ctx> {
    /// `mma.sync… {d…}, {a…}, {b…}, {c…}`.
    pub(in crate::codegen::cpu) fn multiply(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let [results, inputs @ ..] = operands else {
            return Ok(None);
        };
        let symbol = format!("{PREFIX}asm.{}", instruction.name());
        let function = self.library.declare(self.module, &symbol)?;
        let wanted = function.value_type().parameters();
        let inputs: Vec<&Operand> = inputs.iter().flat_map(parts).collect();
        if inputs.len() + 1 != wanted.len() {
            return Ok(None);
        }
        let mut arguments = vec![self.context];
        for (input, wanted) in inputs.into_iter().zip(&wanted[1..]) {
            let bits = wanted.allocation_bytes(self.module) as u32 * 8;
            let value = self.value(input, bits);
            let Some(value) = value.and_then(|value| self.fit(value, *wanted)) else {
                return Ok(None);
            };
            arguments.push(value);
        }
        let product = self
            .builder
            .call(function.value_type(), function, &arguments);
        let results = parts(results);
        for (position, result) in (0..).zip(&results) {
            let part = match results.len() {
                1 => product,
                _ => self.builder.extract(product, position),
            };
            if self.assign(result, part).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// `ldmatrix… {r…}, [row]`, `stmatrix… [row], {r…}`, `movmatrix… d, a`.
    pub(in crate::codegen::cpu) fn transfer_matrices(
        &mut self,
        instruction: &Instruction,
        operands: &[Operand],
    ) -> Result<Option<()>, CodegenError> {
        let (Some(found), [first, second]) = (transfer(instruction), operands) else {
            return Ok(None);
        };
        let transposed = self.integer(1).constant(found.transposed.into());
        match instruction.opcode[0].as_str() {
            "ldmatrix" => {
                let (Some(row), results) = (self.pointer(second)?, parts(first)) else {
                    return Ok(None);
                };
                if results.len() != found.count {
                    return Ok(None);
                }
                for (matrix, result) in results.into_iter().enumerate() {
                    let matrix = self.integer(32).constant(matrix as u64);
                    let part = self.matrix_call("load_matrix", &[row, matrix, transposed])?;
                    if self.assign(result, part).is_none() {
                        return Ok(None);
                    }
                }
            }
            "stmatrix" => {
                let (Some(row), inputs) = (self.pointer(first)?, parts(second)) else {
                    return Ok(None);
                };
                if inputs.len() != found.count {
                    return Ok(None);
                }
                for (matrix, input) in inputs.into_iter().enumerate() {
                    let Some(value) = self.word(input) else {
                        return Ok(None);
                    };
                    let matrix = self.integer(32).constant(matrix as u64);
                    self.matrix_call("store_matrix", &[row, matrix, transposed, value])?;
                }
            }
            _ => {
                let Some(value) = self.word(second) else {
                    return Ok(None);
                };
                let moved = self.matrix_call("transpose_matrix", &[value])?;
                return Ok(self.assign(first, moved));
            }
        }
        Ok(Some(()))
    }

    /// An operand's 32 bits.
    pub(in crate::codegen::cpu) fn word(&self, operand: &Operand) -> Option<Value<'ctx>> {
        let value = self.value(operand, 32)?;
        self.fit(value, self.integer(32))
    }

    /// A call of a definition of `matrices.ll`.
    fn matrix_call(
        &self,
        name: &str,
        arguments: &[Value<'ctx>],
    ) -> Result<Value<'ctx>, CodegenError> {
        let library: &Library = self.library;
        let function = library.declare(self.module, &format!("{PREFIX}{name}"))?;
        let mut all = vec![self.context];
        all.extend(arguments);
        Ok(self.builder.call(function.value_type(), function, &all))
    }
}
