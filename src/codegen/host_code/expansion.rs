//! Uses of a global variable, also inside constant expressions -> uses of a computed value.
//!
//! Invariant: what replaces a constant is computed once, in the entry block of the function, so
//! that it dominates every use.

use super::super::CodegenError;
use crate::llvm::{Block, Builder, Opcode, Value};
use std::collections::{HashMap, HashSet};

/// Replaces constants in a function by values; `replacements` are available before `place`, an
/// instruction of the entry block (see [`entry_place`]).
pub(in crate::codegen) fn replace_constants(
    function: Value,
    place: Value,
    replacements: HashMap<Value, Value>,
) -> Result<(), CodegenError> {
    let mut expansion = Expansion::new(place, replacements);
    for instruction in function.instructions() {
        for (index, operand) in instruction.operands().into_iter().enumerate() {
            if operand.is_null() || !operand.is_constant() {
                continue;
            }
            if let Some(value) = expansion.expand(operand)? {
                instruction.set_operand(index as u32, value);
            }
        }
    }
    Ok(())
}

/// Replaces a constant inside the constant expressions that an instruction uses by a value that is
/// computed in the function's entry block.
struct Expansion<'ctx> {
    builder: Builder<'ctx>,
    done: HashMap<Value<'ctx>, Value<'ctx>>,
}

impl<'ctx> Expansion<'ctx> {
    /// Starts with the values that stand for given constants; new instructions go before `place`.
    fn new(place: Value<'ctx>, replacements: HashMap<Value<'ctx>, Value<'ctx>>) -> Self {
        Self {
            builder: Builder::before(place),
            done: replacements,
        }
    }

    /// The value of a constant, as instructions; `None` when no replaced constant occurs in it.
    fn expand(&mut self, constant: Value<'ctx>) -> Result<Option<Value<'ctx>>, CodegenError> {
        if let Some(value) = self.done.get(&constant) {
            return Ok(Some(*value));
        }
        let composite = constant.is_constant_expression() || constant.is_aggregate_constant();
        if !composite || !constant.is_constant() {
            return Ok(None);
        }
        let mut changed = false;
        let mut operands = Vec::new();
        for operand in constant.operands() {
            let expanded = self.expand(operand)?;
            changed |= expanded.is_some();
            operands.push(expanded.unwrap_or(operand));
        }
        if !changed {
            return Ok(None);
        }
        let value = self.rebuild(constant, &operands)?;
        self.done.insert(constant, value);
        Ok(Some(value))
    }

    fn rebuild(
        &self,
        constant: Value<'ctx>,
        operands: &[Value<'ctx>],
    ) -> Result<Value<'ctx>, CodegenError> {
        if constant.is_aggregate_constant() {
            let mut aggregate = constant.ty().poison();
            for (position, operand) in operands.iter().enumerate() {
                aggregate = self.builder.insert(aggregate, *operand, position as u32);
            }
            return Ok(aggregate);
        }
        Ok(match constant.constant_opcode() {
            Opcode::LLVMGetElementPtr => self.builder.element_pointer(
                constant.element_pointer_source_type(),
                operands[0],
                &operands[1..],
            ),
            cast @ (Opcode::LLVMAddrSpaceCast
            | Opcode::LLVMPtrToInt
            | Opcode::LLVMIntToPtr
            | Opcode::LLVMBitCast
            | Opcode::LLVMTrunc) => self.builder.cast(cast, operands[0], constant.ty()),
            binary @ (Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMXor) => {
                self.builder.binary(binary, operands[0], operands[1])
            }
            other => {
                return Err(CodegenError::Inconsistent(format!(
                    "constant expression {other:?} over a shared variable"
                )));
            }
        })
    }
}

/// The first instruction after a function's allocas: what is inserted there dominates all uses
/// but those in phis of the entry block, of which there are none.
pub(in crate::codegen) fn entry_place(function: Value) -> Option<Value> {
    let entry: Block = *function.blocks().first()?;
    entry
        .instructions()
        .into_iter()
        .find(|instruction| instruction.opcode() != Some(Opcode::LLVMAlloca))
}

/// Functions and global variables that a function's instructions mention, also inside constant
/// expressions.
pub(in crate::codegen) fn constants_in(function: Value) -> HashSet<Value> {
    let mut found = HashSet::new();
    for instruction in function.instructions() {
        for operand in instruction.operands() {
            if !operand.is_null() && operand.is_constant() {
                collect_constants(operand, &mut found);
            }
        }
    }
    found
}

pub(in crate::codegen) fn collect_constants<'ctx>(
    constant: Value<'ctx>,
    found: &mut HashSet<Value<'ctx>>,
) {
    if constant.is_function() || constant.is_global_variable() {
        found.insert(constant);
    } else if constant.is_constant_expression() || constant.is_aggregate_constant() {
        for operand in constant.operands() {
            collect_constants(operand, found);
        }
    }
}
