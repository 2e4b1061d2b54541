//! Offsets in shared memory, which count modulo 2³².
//!
//! Hardware addresses shared memory with 32 bits, so that `tile[~i]` and `tile[i - 1u]` with an `unsigned` `i` lead
//! to the elements before `tile` once the compiler knows that `tile` is shared, though C says that the subscript is
//! a large number. Programs rely on it. Here addresses have 64 bits, and so do those that analyses use: the
//! subscript is made the signed number that leads to the same place.

use super::super::builder::Builder;
use super::super::ir::{self, Value};
use inkwell::module::Module;
use llvm_sys::core::*;
use llvm_sys::{LLVMGEPFlagInBounds, LLVMOpcode};
use std::collections::HashSet;

/// Address space of shared memory.
const SHARED: u32 = 3;

/// Makes unsigned subscripts of 32 bits of shared variables signed, in place. An access to more than 2³¹ bytes of
/// shared memory cannot be, so that nothing else changes.
pub(in crate::program) fn settle_shared_offsets(device: &Module<'_>) {
    for address in ir::functions(device)
        .into_iter()
        .flat_map(Value::instructions)
    {
        if address.opcode() != Some(LLVMOpcode::LLVMGetElementPtr) || !is_shared(address) {
            continue;
        }
        for (position, subscript) in address.operands().into_iter().enumerate().skip(1) {
            if let Some(signed) = made_signed(subscript, address, DEEPEST_SUBSCRIPT) {
                address.set_operand(position as u32, signed);
                keep_in_bounds_only(address);
            }
        }
    }
}

/// Sums in subscripts are looked into this deep: `tile - i` is one of depth 1.
const DEEPEST_SUBSCRIPT: u32 = 4;

/// The same subscript modulo 2³² for an address, with each number that may be beyond what 31 bits hold read as
/// signed; `None` where it has no such number.
fn made_signed(subscript: Value, address: Value, depth: u32) -> Option<Value> {
    let builder = Builder::before(address);
    if let Some(narrow) = unsigned_of_32_bits(subscript) {
        // SAFETY: the subscript is wider than the number that it is made of.
        return Some(Value(unsafe {
            LLVMBuildSExt(builder.raw(), narrow.0, subscript.type_of().0, c"".as_ptr())
        }));
    }
    let sum = match subscript.opcode() {
        Some(LLVMOpcode::LLVMAdd) => LLVMBuildAdd,
        Some(LLVMOpcode::LLVMSub) => LLVMBuildSub,
        _ => return None,
    };
    let operands = subscript.operands();
    let signed = match depth {
        0 => return None,
        _ => [0, 1].map(|side| made_signed(operands[side], address, depth - 1)),
    };
    if signed == [None, None] {
        return None;
    }
    let [left, right] = [0, 1].map(|side| signed[side].unwrap_or(operands[side]));
    // SAFETY: operands of the sum that is there, or of their types; it promises nothing about overflow.
    Some(Value(unsafe {
        sum(builder.raw(), left.0, right.0, c"".as_ptr())
    }))
}

/// The number that a subscript is made of when it may be beyond what 31 bits hold.
fn unsigned_of_32_bits(subscript: Value) -> Option<Value> {
    if subscript.opcode() != Some(LLVMOpcode::LLVMZExt) {
        return None;
    }
    let narrow = subscript.operands()[0];
    // SAFETY: a live zero extension of an integer or vector of them.
    let (kind, is_small) = unsafe {
        let kind = LLVMTypeOf(narrow.0);
        (kind, LLVMGetNNeg(subscript.0) != 0)
    };
    // SAFETY: a live type.
    let is_word = unsafe {
        LLVMGetTypeKind(kind) == llvm_sys::LLVMTypeKind::LLVMIntegerTypeKind
            && LLVMGetIntTypeWidth(kind) == 32
    };
    (is_word && !is_small).then_some(narrow)
}

/// Takes back the promise that a subscript is not negative.
fn keep_in_bounds_only(address: Value) {
    // SAFETY: a live `getelementptr`; fewer promises are always true.
    unsafe {
        let flags = LLVMGEPGetNoWrapFlags(address.0);
        LLVMGEPSetNoWrapFlags(address.0, flags & LLVMGEPFlagInBounds);
    }
}

/// Whether a pointer leads into shared memory whichever way it was computed.
fn is_shared(pointer: Value) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![pointer];
    let mut found = false;
    while let Some(at) = pending.pop() {
        if !seen.insert(at) {
            continue;
        }
        // SAFETY: a live pointer.
        if unsafe { LLVMGetPointerAddressSpace(LLVMTypeOf(at.0)) } == SHARED {
            found = true;
            continue;
        }
        let opcode = match at.is_constant_expression() {
            // SAFETY: a live constant expression.
            true => Some(unsafe { LLVMGetConstOpcode(at.0) }),
            false => at.opcode(),
        };
        let operands = at.operands();
        match opcode {
            Some(
                LLVMOpcode::LLVMGetElementPtr
                | LLVMOpcode::LLVMAddrSpaceCast
                | LLVMOpcode::LLVMBitCast,
            ) => pending.push(operands[0]),
            Some(LLVMOpcode::LLVMSelect) => pending.extend(&operands[1..]),
            Some(LLVMOpcode::LLVMPHI) => pending.extend(operands),
            _ => return false,
        }
    }
    found
}
