//! Floating-point decisions, taken once, in each original kernel by itself.
//!
//! nvcc lets a product and a sum be contracted into one rounding (`-fmad`), and lets divisions and
//! square roots be approximate. Whoever decides that after kernels were fused may decide otherwise
//! than for the kernels alone. So it is decided here and written down as explicit operations.
//!
//! Invariant: after [`decide`] no instruction of the module carries a fast-math flag, every
//! contraction is an `llvm.fma`, every approximate single-precision division is an
//! `llvm.nvvm.div.full`, every approximate square root an `llvm.nvvm.sqrt.approx.f` (with `.ftz`
//! where denormals are flushed).
//!
//! The rule for contraction is the one of LLVM's NVPTX back end with its aggressive fusing: within
//! a basic block, a product that carries `contract`, used by a sum or difference that carries
//! `contract`, becomes a fused multiply-add, also when the product has other uses (an FMA costs
//! what an addition costs). When both operands of the sum are products, the one with fewer uses is
//! taken, the left one if they are equal. Negations of the product count as the product.

use crate::build::Numerics;
use crate::llvm::{self, Builder, FUNCTION_ATTRIBUTES, Opcode, Type, TypeKind, Value};
use inkwell::module::Module;

/// Decides everything in a device module whose kernels have their callees inlined.
pub(in crate::program) fn decide(module: &Module<'_>, numerics: Numerics) {
    for function in Value::functions(module) {
        if function.is_declaration() {
            declare_device_library(function);
            continue;
        }
        for block in function.blocks() {
            for instruction in block.instructions() {
                if matches!(
                    instruction.opcode(),
                    Some(Opcode::LLVMFAdd | Opcode::LLVMFSub)
                ) {
                    contract(module, instruction);
                }
            }
        }
        for instruction in function.instructions() {
            make_explicit(module, instruction, numerics);
        }
        for instruction in function.instructions() {
            instruction.strip_fast_math();
        }
        remove_dead_products(function);
    }
}

/// The device library's functions are pure as far as IR can see; those that return a second
/// result through a pointer write only that.
fn declare_device_library(function: Value) {
    if !function.name().starts_with("__nv_") {
        return;
    }
    let takes_pointer = function
        .value_type()
        .parameters()
        .into_iter()
        .any(Type::is_pointer);
    for name in ["nounwind", "willreturn", "nosync", "nofree", "nocallback"] {
        function.add_attribute(FUNCTION_ATTRIBUTES, name, 0);
    }
    let effects = if takes_pointer {
        ARGUMENTS_READ_WRITE
    } else {
        0
    };
    function.add_attribute(FUNCTION_ATTRIBUTES, "memory", effects);
}

/// `memory(argmem: readwrite)` in LLVM's encoding.
const ARGUMENTS_READ_WRITE: u64 = 0b11;

fn contract<'ctx>(module: &Module<'ctx>, sum: Value<'ctx>) {
    if !sum.may_contract() {
        return;
    }
    let operands = sum.operands();
    let (left, right) = (operands[0], operands[1]);
    let subtraction = sum.opcode() == Some(Opcode::LLVMFSub);
    let candidates = (Product::of(left, sum), Product::of(right, sum));
    let (product, is_left) = match candidates {
        (Some(left), Some(right)) if right.uses < left.uses => (right, false),
        (Some(left), _) => (left, true),
        (None, Some(right)) => (right, false),
        (None, None) => return,
    };
    let addend = if is_left { right } else { left };
    let builder = Builder::before(sum);
    // left - right: the addend is negated when the product is on the left, else the product is.
    let negate_product = product.negated != (subtraction && !is_left);
    let negate_addend = subtraction && is_left;
    let negate_if = |condition: bool, value: Value<'ctx>| {
        if condition {
            builder.negate(value)
        } else {
            value
        }
    };
    let multiplicand = negate_if(negate_product, product.factors.0);
    let addend = negate_if(negate_addend, addend);
    let fused = fused_multiply_add(module, sum.ty());
    let result = builder.call_function(fused, &[multiplicand, product.factors.1, addend]);
    sum.replace_uses_with(result);
    sum.erase();
}

/// A product that a sum may take in.
struct Product<'ctx> {
    factors: (Value<'ctx>, Value<'ctx>),
    negated: bool,
    uses: usize,
}

impl<'ctx> Product<'ctx> {
    fn of(value: Value<'ctx>, sum: Value<'ctx>) -> Option<Self> {
        if value.parent_block().is_none() || value.parent_block() != sum.parent_block() {
            return None;
        }
        match value.opcode()? {
            Opcode::LLVMFMul if value.may_contract() => Some(Self {
                factors: (value.operands()[0], value.operands()[1]),
                negated: false,
                uses: value.users().len(),
            }),
            Opcode::LLVMFNeg => {
                let inner = Self::of(value.operands()[0], sum)?;
                Some(Self {
                    negated: !inner.negated,
                    ..inner
                })
            }
            _ => None,
        }
    }
}

/// Products that only contractions used are gone; so are negations of them.
fn remove_dead_products(function: Value) {
    for instruction in function.instructions().into_iter().rev() {
        if is_product(instruction) && instruction.users().is_empty() {
            instruction.erase();
        }
    }
}

fn is_product(value: Value) -> bool {
    matches!(value.opcode(), Some(Opcode::LLVMFMul | Opcode::LLVMFNeg))
}

/// Divisions and square roots as what they are going to be.
fn make_explicit<'ctx>(module: &Module<'ctx>, instruction: Value<'ctx>, numerics: Numerics) {
    let flush = numerics.fast_math || numerics.flush_to_zero;
    let approximate_division = numerics.fast_math || !numerics.precise_division;
    let approximate_root = numerics.fast_math || !numerics.precise_square_root;
    let is_float = |value: Value| value.ty().kind() == TypeKind::LLVMFloatTypeKind;
    match instruction.opcode() {
        Some(Opcode::LLVMFDiv) if approximate_division && is_float(instruction) => {
            let name = if flush {
                "llvm.nvvm.div.full.ftz"
            } else {
                "llvm.nvvm.div.full"
            };
            let divide = intrinsic(module, name, instruction.ty(), 2);
            let result =
                Builder::before(instruction).call_function(divide, &instruction.operands());
            instruction.replace_uses_with(result);
            instruction.erase();
        }
        Some(Opcode::LLVMCall) => {
            let called = instruction.called_name();
            let fused;
            let name = match called.as_deref() {
                Some("__nv_sqrtf" | "llvm.sqrt.f32") if approximate_root && flush => {
                    "llvm.nvvm.sqrt.approx.ftz.f"
                }
                Some("__nv_sqrtf" | "llvm.sqrt.f32") if approximate_root => {
                    "llvm.nvvm.sqrt.approx.f"
                }
                Some("__nv_sqrtf") => "llvm.sqrt.f32",
                Some("__nv_sqrt") => "llvm.sqrt.f64",
                // Left to the back end's taste by clang; it fuses on every GPU.
                Some(name) if name.starts_with("llvm.fmuladd.") => {
                    fused = name.replacen("fmuladd", "fma", 1);
                    fused.as_str()
                }
                _ => {
                    // What the accuracy allowed is decided above; nobody decides again.
                    instruction.remove_metadata("fpmath");
                    return;
                }
            };
            let arguments = instruction.call_arguments();
            let replacement = intrinsic(module, name, instruction.ty(), arguments.len());
            let result = Builder::before(instruction).call_function(replacement, &arguments);
            instruction.replace_uses_with(result);
            instruction.erase();
        }
        Some(_) => instruction.remove_metadata("fpmath"),
        None => {}
    }
}

fn fused_multiply_add<'ctx>(module: &Module<'ctx>, operand: Type<'ctx>) -> Value<'ctx> {
    let scalar = match operand.scalar().kind() {
        TypeKind::LLVMHalfTypeKind => "f16",
        TypeKind::LLVMBFloatTypeKind => "bf16",
        TypeKind::LLVMFloatTypeKind => "f32",
        _ => "f64",
    };
    let name = match operand.vector_length() {
        Some(length) => format!("llvm.fma.v{length}{scalar}"),
        None => format!("llvm.fma.{scalar}"),
    };
    intrinsic(module, &name, operand, 3)
}

/// Declares an intrinsic of `count` operands and a result of one type.
fn intrinsic<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    operand: Type<'ctx>,
    count: usize,
) -> Value<'ctx> {
    llvm::declare(module, name, Type::function(operand, &vec![operand; count]))
}
