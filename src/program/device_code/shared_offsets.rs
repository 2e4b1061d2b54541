//! Offsets in shared memory, which count modulo 2³².
//!
//! Hardware addresses shared memory with 32 bits, so that `tile[~i]` and `tile[i - 1u]` with an `unsigned` `i` lead
//! to the elements before `tile` once the compiler knows that `tile` is shared, though C says that the subscript is
//! a large number. Programs rely on it. Here addresses have 64 bits, and so do those that analyses use: the
//! subscript is made the signed number that leads to the same place.

use crate::llvm::{Builder, Opcode, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Address space of shared memory.
const SHARED: u32 = 3;

/// Makes unsigned subscripts of 32 bits of shared variables signed, in place. An access to more than 2³¹ bytes of
/// shared memory cannot be, so that nothing else changes.
pub(in crate::program) fn settle_shared_offsets(device: &Module<'_>) {
    for address in Value::functions(device)
        .into_iter()
        .flat_map(Value::instructions)
    {
        if address.opcode() != Some(Opcode::LLVMGetElementPtr) || !is_shared(address) {
            continue;
        }
        for (position, subscript) in address.operands().into_iter().enumerate().skip(1) {
            if let Some(signed) = made_signed(subscript, address, DEEPEST_SUBSCRIPT) {
                address.set_operand(position as u32, signed);
                address.promise_in_bounds_only();
            }
        }
    }
}

/// Sums in subscripts are looked into this deep: `tile - i` is one of depth 1.
const DEEPEST_SUBSCRIPT: u32 = 4;

/// The same subscript modulo 2³² for an address, with each number that may be beyond what 31 bits hold read as
/// signed; `None` where it has no such number.
fn made_signed<'ctx>(
    subscript: Value<'ctx>,
    address: Value<'ctx>,
    depth: u32,
) -> Option<Value<'ctx>> {
    let builder = Builder::before(address);
    if let Some(narrow) = unsigned_of_32_bits(subscript) {
        return Some(builder.cast(Opcode::LLVMSExt, narrow, subscript.ty()));
    }
    let sum = match subscript.opcode()? {
        sum @ (Opcode::LLVMAdd | Opcode::LLVMSub) => sum,
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
    // As instructions of their own they promise nothing about overflow.
    Some(builder.binary(sum, left, right))
}

/// The number that a subscript is made of when it may be beyond what 31 bits hold.
fn unsigned_of_32_bits(subscript: Value) -> Option<Value> {
    if subscript.opcode() != Some(Opcode::LLVMZExt) {
        return None;
    }
    let narrow = subscript.operands()[0];
    let is_word = narrow.ty().is_integer() && narrow.ty().integer_bits() == 32;
    (is_word && !subscript.is_of_no_negative()).then_some(narrow)
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
        if at.ty().address_space() == SHARED {
            found = true;
            continue;
        }
        let operands = at.operands();
        match at.operation() {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
                pending.push(operands[0])
            }
            Some(Opcode::LLVMSelect) => pending.extend(&operands[1..]),
            Some(Opcode::LLVMPHI) => pending.extend(operands),
            _ => return false,
        }
    }
    found
}
