//! Counting and tracing, inserted into the final device IR before it is lowered, so that the
//! numbers are those of the device IR on every machine.

use crate::codegen::ir::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Named like a device function; the library turns it into the runtime's own.
const ACCESS: &str = "__sirius_access";
const COUNT: &str = "__sirius_count";

const LOAD: u64 = 0;
const STORE: u64 = 1;
const ATOMIC: u64 = 2;
/// No access: what follows may write memory and does not report it.
const UNSEEN: u64 = 3;

/// Makes each basic block add its number of instructions to the counters, in all functions of a device
/// module.
pub(super) fn count(module: &Module) {
    let void = Type::void(module);
    let i64 = Type::integer(module, 64);
    let count_type = Type::function(void, &[i64]);
    let functions = Value::functions(module);
    let count = Value::add_function(module, COUNT, count_type);
    for block in functions.into_iter().flat_map(Value::blocks) {
        let instructions = block.instructions();
        let counted = instructions
            .iter()
            .filter(|instruction| counts(**instruction))
            .count();
        let place = instructions
            .iter()
            .find(|instruction| instruction.opcode() != Opcode::LLVMPHI)
            .copied();
        if let Some(place) = place.filter(|_| counted > 0) {
            Builder::before(place).call(count_type, count, &[i64.constant(counted as u64)]);
        }
    }
}

/// Makes each access to memory other than a thread's own stack report itself, in all functions of a
/// device module.
pub(super) fn report_accesses(module: &Module) {
    let void = Type::void(module);
    let [i32, i64] = [32, 64].map(|bits| Type::integer(module, bits));
    let pointer = Type::pointer(module, 0);
    let access_type = Type::function(void, &[pointer, i64, i32]);
    let functions = Value::functions(module);
    let access = Value::add_function(module, ACCESS, access_type);
    for instruction in functions.into_iter().flat_map(Value::instructions) {
        if hides_writes(instruction) {
            let (nowhere, none) = (pointer.zero(), i64.constant(0));
            let arguments = [nowhere, none, i32.constant(UNSEEN)];
            Builder::before(instruction).call(access_type, access, &arguments);
        }
        for touched in touches(module, instruction) {
            if is_stack(touched.address) {
                continue;
            }
            let builder = Builder::before(instruction);
            let address = builder.to_pointer_type(touched.address, pointer);
            let bytes = match touched.bytes {
                Bytes::Constant(bytes) => i64.constant(bytes),
                Bytes::Value(value) if value.ty() == i64 => value,
                Bytes::Value(value) => builder.cast(Opcode::LLVMZExt, value, i64),
            };
            let arguments = [address, bytes, i32.constant(touched.kind)];
            builder.call(access_type, access, &arguments);
        }
    }
}

enum Bytes {
    Constant(u64),
    Value(Value),
}

struct Touch {
    address: Value,
    bytes: Bytes,
    kind: u64,
}

fn touches(module: &Module, instruction: Value) -> Vec<Touch> {
    let fixed = |address: Value, ty: Type, kind: u64| {
        vec![Touch {
            address,
            bytes: Bytes::Constant(ty.access_bytes(module)),
            kind,
        }]
    };
    match instruction.opcode() {
        Opcode::LLVMLoad => fixed(instruction.operand(0), instruction.ty(), LOAD),
        Opcode::LLVMStore => fixed(instruction.operand(1), instruction.operand(0).ty(), STORE),
        Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg => {
            fixed(instruction.operand(0), instruction.operand(1).ty(), ATOMIC)
        }
        Opcode::LLVMCall => {
            let Some(name) = instruction.called_name() else {
                return Vec::new();
            };
            let arguments = instruction.call_arguments();
            let sized = |index: usize, kind| Touch {
                address: arguments[index],
                bytes: Bytes::Value(arguments[2]),
                kind,
            };
            if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
                vec![sized(1, LOAD), sized(0, STORE)]
            } else if name.starts_with("llvm.memset.") {
                vec![sized(0, STORE)]
            } else if name.starts_with("llvm.nvvm.ldg.") || name.starts_with("llvm.nvvm.ldu.") {
                fixed(arguments[0], instruction.ty(), LOAD)
            } else {
                Vec::new()
            }
        }
        _ => Vec::new(),
    }
}

/// Whether an instruction may write memory in a way that [`touches`] does not know: inline PTX that
/// stores, and the intrinsics that stand for it.
fn hides_writes(instruction: Value) -> bool {
    if instruction.opcode() != Opcode::LLVMCall {
        return false;
    }
    let text = match instruction.called().inline_assembly() {
        Some((template, _)) => template,
        None => match instruction.called_name() {
            Some(name) if name.starts_with("llvm.nvvm.") => name,
            _ => return false,
        },
    };
    [
        "st.",
        "cp.async.c",
        "cp.async.bulk",
        "red.",
        "atom",
        ".store",
        "stmatrix",
    ]
    .iter()
    .any(|word| text.contains(word))
}

/// Instructions other than phi, debug and lifetime.
fn counts(instruction: Value) -> bool {
    if instruction.opcode() == Opcode::LLVMPHI {
        return false;
    }
    !instruction.called_name().is_some_and(|name| {
        name.starts_with("llvm.dbg.")
            || name.starts_with("llvm.lifetime.")
            || name.starts_with("llvm.experimental.noalias")
            || name == "llvm.assume"
    })
}

/// Whether an address is obviously in the thread's own stack or in its copy of an argument.
fn is_stack(mut address: Value) -> bool {
    while address.is_instruction() {
        match address.opcode() {
            Opcode::LLVMAlloca => return true,
            Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => {
                address = address.operand(0);
            }
            _ => return false,
        }
    }
    address.is_by_value_parameter()
}
