//! Counting and tracing, inserted into the final device IR before it is lowered, so that the
//! numbers are those of the device IR on every machine.

use super::loads::{self, Sight};
use crate::codegen::divisors::DIVISOR;
use crate::llvm::{Builder, Opcode, Type, Value};
use crate::program::EXCHANGED;
use inkwell::module::Module;

/// Named like a device function; the library turns it into the runtime's own.
const ACCESS: &str = "__sirius_access";
pub(super) const COUNT: &str = "__sirius_count";

/// Kinds of accesses, as the runtime numbers them.
pub(super) const LOAD: u64 = 0;
pub(super) const STORE: u64 = 1;
pub(super) const ATOMIC: u64 = 2;
pub(super) const ATOMIC_LOAD: u64 = 3;
pub(super) const ATOMIC_STORE: u64 = 4;
const SPECULATED_LOAD: u64 = 5;
const USED_LOAD: u64 = 6;
const GUESS_LOAD: u64 = 7;

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
            .find(|instruction| instruction.opcode() != Some(Opcode::LLVMPHI))
            .copied();
        if let Some(place) = place.filter(|_| counted > 0) {
            Builder::before(place).call(count_type, count, &[i64.constant(counted as u64)]);
        }
    }
}

/// Makes each access to memory other than a thread's own stack report itself, in all functions of a
/// device module. What inline PTX and intrinsics access reports itself where they are lowered.
pub(super) fn report_accesses(module: &Module) {
    let functions = Value::functions(module);
    let reporter = Reporter::new(module);
    let instructions = functions.into_iter().flat_map(Value::instructions);
    // All are found before anything is inserted.
    let touched: Vec<(Value, Touch, Sight)> = instructions
        .flat_map(|instruction| {
            touches(module, instruction)
                .into_iter()
                .map(move |touch| (instruction, touch))
        })
        .filter(|(_, touch)| !is_stack(touch.address))
        .map(|(instruction, touch)| {
            let is_plain = touch.kind == LOAD && instruction.opcode() == Some(Opcode::LLVMLoad);
            let sight = match is_plain {
                true => loads::sight(instruction),
                false => Sight::Plain,
            };
            (instruction, touch, sight)
        })
        .collect();
    for (instruction, touch, sight) in touched {
        let kind = match &sight {
            Sight::Plain => touch.kind,
            Sight::Guess => GUESS_LOAD,
            Sight::Speculated(_) => SPECULATED_LOAD,
        };
        let builder = Builder::before(instruction);
        let bytes = reporter.bytes(&builder, &touch);
        reporter.report(&builder, touch.address, bytes, kind);
        let Sight::Speculated(uses) = sight else {
            continue;
        };
        for one in uses {
            let builder = Builder::before_as(one.before, instruction);
            let mut bytes = reporter.bytes(&builder, &touch);
            for (condition, is) in one.conditions {
                let nothing = bytes.ty().constant(0);
                bytes = match is {
                    true => builder.select(condition, bytes, nothing),
                    false => builder.select(condition, nothing, bytes),
                };
            }
            reporter.report(&builder, touch.address, bytes, USED_LOAD);
        }
    }
}

/// Makes calls that report accesses.
struct Reporter<'ctx> {
    access: Value<'ctx>,
    ty: Type<'ctx>,
    number: Type<'ctx>,
    bytes: Type<'ctx>,
    pointer: Type<'ctx>,
}

impl<'ctx> Reporter<'ctx> {
    fn new(module: &Module<'ctx>) -> Self {
        let [number, bytes] = [32, 64].map(|bits| Type::integer(module, bits));
        let pointer = Type::pointer(module, 0);
        let ty = Type::function(Type::void(module), &[pointer, bytes, number]);
        Self {
            access: Value::add_function(module, ACCESS, ty),
            ty,
            number,
            bytes,
            pointer,
        }
    }

    fn bytes(&self, builder: &Builder<'ctx>, touch: &Touch<'ctx>) -> Value<'ctx> {
        match touch.bytes {
            Bytes::Constant(bytes) => self.bytes.constant(bytes),
            Bytes::Value(value) if value.ty() == self.bytes => value,
            Bytes::Value(value) => builder.cast(Opcode::LLVMZExt, value, self.bytes),
        }
    }

    fn report(&self, builder: &Builder, address: Value, bytes: Value, kind: u64) {
        let address = builder.to_pointer_type(address, self.pointer);
        let arguments = [address, bytes, self.number.constant(kind)];
        builder.call(self.ty, self.access, &arguments);
    }
}

/// Makes what a definition of the library, which takes the context first, does to the program's memory
/// report itself through `access`, the definition of the report.
pub(super) fn report_accesses_of_definition<'ctx>(
    module: &Module<'ctx>,
    definition: Value<'ctx>,
    access: Value<'ctx>,
) {
    let [i32, i64] = [32, 64].map(|bits| Type::integer(module, bits));
    let context = definition.parameters()[0];
    for instruction in definition.instructions() {
        for touched in touches(module, instruction) {
            let bytes = match touched.bytes {
                Bytes::Constant(bytes) => i64.constant(bytes),
                Bytes::Value(bytes) if bytes.ty() == i64 => bytes,
                Bytes::Value(_) => continue,
            };
            let arguments = [context, touched.address, bytes, i32.constant(touched.kind)];
            Builder::before(instruction).call(access.value_type(), access, &arguments);
        }
    }
}

enum Bytes<'ctx> {
    Constant(u64),
    Value(Value<'ctx>),
}

struct Touch<'ctx> {
    address: Value<'ctx>,
    bytes: Bytes<'ctx>,
    kind: u64,
}

fn touches<'ctx>(module: &Module<'ctx>, instruction: Value<'ctx>) -> Vec<Touch<'ctx>> {
    let fixed = |address: Value<'ctx>, ty: Type, kind: u64| {
        vec![Touch {
            address,
            bytes: Bytes::Constant(ty.access_bytes(module)),
            kind,
        }]
    };
    match instruction.opcode() {
        Some(Opcode::LLVMLoad) => {
            let kind = [LOAD, ATOMIC_LOAD][usize::from(meets_others(instruction))];
            fixed(instruction.operand(0), instruction.ty(), kind)
        }
        Some(Opcode::LLVMStore) => {
            let kind = [STORE, ATOMIC_STORE][usize::from(meets_others(instruction))];
            fixed(instruction.operand(1), instruction.operand(0).ty(), kind)
        }
        Some(Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => {
            fixed(instruction.operand(0), instruction.operand(1).ty(), ATOMIC)
        }
        Some(Opcode::LLVMCall) => {
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

/// Whether a load or store may meet others of its kind at one place: it is atomic, or volatile, which programs
/// write where threads wait for each other.
fn meets_others(instruction: Value) -> bool {
    instruction.is_atomic() || instruction.is_volatile() && !instruction.has_metadata(EXCHANGED)
}

/// Instructions other than phi, debug and lifetime, and what is no instruction of a GPU.
fn counts(instruction: Value) -> bool {
    if instruction.opcode() == Some(Opcode::LLVMPHI) {
        return false;
    }
    !instruction.called_name().is_some_and(|name| {
        name.starts_with("llvm.dbg.")
            || name.starts_with("llvm.lifetime.")
            || name.starts_with("llvm.experimental.noalias")
            || name == "llvm.assume"
            || name.starts_with(DIVISOR)
    })
}

/// Whether an address is obviously in the thread's own stack or in its copy of an argument.
fn is_stack(mut address: Value) -> bool {
    while address.is_instruction() {
        match address.opcode() {
            Some(Opcode::LLVMAlloca) => return true,
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
                address = address.operand(0);
            }
            _ => return false,
        }
    }
    address.is_by_value_parameter()
}
