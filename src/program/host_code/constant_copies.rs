//! Copies of a constant to the device, soon before a wait -> sets.
//!
//! `changed = 0; cudaMemcpy(on_device, &changed, sizeof changed, cudaMemcpyHostToDevice);`, launches, and a copy back: so
//! loops ask whether anything is left to do. What such a copy brings is a constant of equal bytes. A set brings the same, and may
//! be part of a kernel.
//!
//! Invariant: nobody sees the difference. A copy waits for what was issued before, and a set does not; but up to the next wait the
//! host does nothing in the same block but launch and set on the default stream and ask for errors, so that it looks at nothing in
//! between. An error of what was issued before is returned by that wait at the latest.

use super::launches::{DRIVER_LAUNCH_PREFIX, LAUNCH_PREFIX};
use crate::llvm::{Builder, Layout, Opcode, Type, Value};
use inkwell::module::Module;

/// Makes sets of copies of constants that the host waits for soon after.
pub(in crate::program) fn set_what_is_copied(host: &Module<'_>) {
    let copies = Value::functions(host)
        .into_iter()
        .flat_map(Value::blocks)
        .flat_map(|block| {
            let instructions = block.instructions();
            let places = 0..instructions.len();
            let found =
                places.filter_map(|at| Some((instructions[at], set_of(&instructions, at)?)));
            found.collect::<Vec<_>>()
        });
    for (copy, byte) in copies.collect::<Vec<_>>() {
        let arguments = copy.call_arguments();
        let (to, bytes) = (arguments[0], arguments[2]);
        let number = Type::integer(host, 32);
        let set = Value::function(host, SET).unwrap_or_else(|| {
            let ty = Type::function(number, &[to.ty(), number, bytes.ty()]);
            Value::add_function(host, SET, ty)
        });
        let set =
            Builder::before_as(copy, copy).call_function(set, &[to, number.constant(byte), bytes]);
        copy.replace_uses_with(set);
        copy.erase();
    }
}

const COPY: &str = "cudaMemcpy";
const SET: &str = "cudaMemset";
const TO_DEVICE: u64 = 1;
const TO_HOST: u64 = 2;
/// Where a launch has its stream.
const STREAM: usize = 7;

/// The number that a set has to store in each byte in the place of the copy at a place of a block.
fn set_of(instructions: &[Value], at: usize) -> Option<u64> {
    let copy = instructions[at];
    let bytes = copied_bytes(copy, TO_DEVICE)?;
    let from = copy.call_arguments()[1];
    if from.opcode() != Some(Opcode::LLVMAlloca) || !is_awaited(&instructions[at + 1..]) {
        return None;
    }
    if let Some(store) = only_store(from) {
        return equal_bytes(store, bytes);
    }
    let before = instructions[..at].iter().rev();
    for instruction in before {
        match instruction.opcode()? {
            Opcode::LLVMStore if instruction.operand(1) == from => {
                return equal_bytes(*instruction, bytes);
            }
            Opcode::LLVMStore if !is_local(instruction.operand(1)) => return None,
            Opcode::LLVMCall if !marks_only(*instruction) => return None,
            Opcode::LLVMInvoke | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => return None,
            _ => {}
        }
    }
    None
}

/// The store to a variable that nothing else is stored to, and that is only copied to the device.
fn only_store(variable: Value) -> Option<Value> {
    let mut store = None;
    for user in variable.users() {
        let is_copied =
            || copied_bytes(user, TO_DEVICE).is_some() && user.call_arguments()[0] != variable;
        match user.opcode() {
            Some(Opcode::LLVMStore) if user.operand(0) != variable && store.is_none() => {
                store = Some(user);
            }
            Some(Opcode::LLVMCall) if ends_only(user) || is_copied() => {}
            _ => return None,
        }
    }
    store
}

/// How many bytes a call of `cudaMemcpy` in this direction copies.
fn copied_bytes(call: Value, direction: u64) -> Option<u64> {
    let is_copy = call.opcode() == Some(Opcode::LLVMCall) && call.called_name()? == COPY;
    let arguments = is_copy.then(|| call.call_arguments())?;
    let [_, _, bytes, kind] = arguments.as_slice() else {
        return None;
    };
    (kind.constant_integer() == Some(direction)).then(|| bytes.constant_integer())?
}

/// Whether the host does nothing but launch and set, at least once, before it waits for the default stream.
fn is_awaited(behind: &[Value]) -> bool {
    let mut launches = false;
    for instruction in behind {
        match instruction.opcode() {
            Some(Opcode::LLVMCall) if marks_only(*instruction) => {}
            Some(Opcode::LLVMCall) => {
                let name = instruction.called_name().unwrap_or_default();
                let is_launch =
                    name.starts_with(LAUNCH_PREFIX) && !name.starts_with(DRIVER_LAUNCH_PREFIX);
                if is_launch {
                    let stream = instruction.call_arguments().get(STREAM).copied();
                    if stream.is_none_or(|stream| !stream.is_null_constant()) {
                        return false;
                    }
                    launches = true;
                } else if waits(*instruction, &name) {
                    return launches;
                } else if ![SET, "cudaGetLastError", "cudaPeekAtLastError"].contains(&name.as_str())
                {
                    return false;
                }
            }
            Some(Opcode::LLVMLoad) if !is_local(instruction.operand(0)) => return false,
            Some(Opcode::LLVMStore) if !is_local(instruction.operand(1)) => return false,
            Some(
                Opcode::LLVMInvoke
                | Opcode::LLVMAtomicRMW
                | Opcode::LLVMAtomicCmpXchg
                | Opcode::LLVMFence,
            )
            | None => return false,
            Some(_) => {}
        }
    }
    false
}

/// Whether a call waits for all work of the default stream.
fn waits(call: Value, name: &str) -> bool {
    let copied = copied_bytes(call, TO_HOST);
    copied.is_some_and(|bytes| bytes > 0) || name == "cudaDeviceSynchronize"
}

/// Whether a pointer is a variable of the function: of those no two overlap.
fn is_local(pointer: Value) -> bool {
    pointer.opcode() == Some(Opcode::LLVMAlloca)
}

/// Whether a call only says where variables begin and what they are called.
fn marks_only(call: Value) -> bool {
    let name = call.called_name().unwrap_or_default();
    name.starts_with("llvm.dbg.") || name.starts_with("llvm.lifetime.start")
}

/// Whether a call only says where a variable begins and ends.
fn ends_only(call: Value) -> bool {
    (call.called_name()).is_some_and(|name| name.starts_with("llvm.lifetime."))
}

/// The byte that all those are which an instruction stores, where it stores a constant of so many.
fn equal_bytes(store: Value, bytes: u64) -> Option<u64> {
    let constant = store.operand(0);
    let layout = Layout::of_function(store.function_of_instruction());
    if !constant.is_constant() || layout.access_bytes(constant.ty()) != bytes {
        return None;
    }
    if constant.is_null_constant() {
        return Some(0);
    }
    let value = constant.constant_integer()?;
    let byte = value & 0xff;
    (0..bytes)
        .all(|at| value >> (8 * at) & 0xff == byte)
        .then_some(byte)
}
