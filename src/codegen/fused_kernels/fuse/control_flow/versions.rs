//! A fused kernel in two versions: one that may rely on a condition, and the general one.

use super::super::launch_bounds;
use crate::codegen::CodegenError;
use crate::codegen::device::{device_target_machine, run_passes};
use crate::llvm::{Block, Builder, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use inkwell::module::Module;

/// The new beginning of a kernel, without an end yet.
pub(in crate::codegen::fused_kernels::fuse) struct Entry<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) block: Block<'ctx>,
    /// Where the old body begins, for the special case.
    pub(in crate::codegen::fused_kernels::fuse) special: Block<'ctx>,
    /// Where a copy of it is called.
    pub(in crate::codegen::fused_kernels::fuse) general: Block<'ctx>,
    /// That copy.
    pub(in crate::codegen::fused_kernels::fuse) copy: Value<'ctx>,
}

/// Puts a block before the body of a kernel, and a call of a copy of that body beside it, which the caller
/// has to [release](release_copy). `None`, and nothing done, for a kernel with parameters in memory.
///
/// # Errors
/// When LLVM refuses to copy.
pub(in crate::codegen::fused_kernels::fuse) fn split<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
) -> Result<Option<Entry<'ctx>>, CodegenError> {
    let parameters = kernel.parameters().len() as u32;
    if (1..=parameters).any(|position| kernel.has_attribute(position, "byval")) {
        return Ok(None);
    }
    let ty = Type::function(Type::void(module), &kernel.value_type().parameters());
    let add = |suffix: &str| {
        let function = Value::add_function(module, &format!("{}{suffix}", kernel.name()), ty);
        kernel.copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
        launch_bounds::take_away(function);
        function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        function
    };
    let (holder, copy) = (add(".body"), add(".general"));
    move_body(kernel, holder);
    let builder = Builder::at_end(Block::append(copy, "entry"));
    builder.call(ty, holder, &copy.parameters());
    builder.ret(None);
    drop(builder);
    // External linkage keeps the body alive while it is inlined.
    copy.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
    run_passes(module, "always-inline", &device_target_machine("sm_80")?)?;
    let old: Vec<Block> = holder.blocks();
    let [special, ..] = old[..] else {
        return Err(CodegenError::Inconsistent(
            "a kernel has no body".to_owned(),
        ));
    };
    let block = Block::append(kernel, "entry");
    move_body(holder, kernel);
    holder.delete_function();
    // What is made once belongs to the very beginning.
    for instruction in special.instructions() {
        if is_register_read(instruction) || instruction.opcode() == Some(Opcode::LLVMAlloca) {
            instruction.move_to_end(block);
        }
    }
    let general = Block::append(kernel, "general");
    let builder = Builder::at_end(general);
    builder.call(ty, copy, &kernel.parameters());
    builder.ret(None);
    Ok(Some(Entry {
        block,
        special,
        general,
        copy,
    }))
}

/// Lets the copy of a body be inlined where it is called. Not before all kernels of the module are split, which
/// inlines whatever may be.
pub(in crate::codegen::fused_kernels::fuse) fn release_copy(copy: Value) {
    copy.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    copy.set_linkage(Linkage::LLVMInternalLinkage);
}

/// The call of a general version, taken out of its kernel.
pub(in crate::codegen::fused_kernels::fuse) struct Call<'ctx> {
    copy: Value<'ctx>,
    end: Value<'ctx>,
    arguments: Vec<Value<'ctx>>,
}

/// Takes out the call of a version that is not released yet, so that a kernel can be looked at without it.
pub(in crate::codegen::fused_kernels::fuse) fn take_call_out<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
) -> Option<Call<'ctx>> {
    let name = format!("{}.general", kernel.name());
    let copy = Value::function(module, &name)?;
    let mut calls = copy.users().into_iter();
    let call = calls.find(|call| {
        call.opcode() == Some(Opcode::LLVMCall) && call.function_of_instruction() == kernel
    })?;
    let end = call.block().terminator()?;
    let arguments = call.call_arguments();
    call.erase();
    Some(Call {
        copy,
        end,
        arguments,
    })
}

impl<'ctx> Call<'ctx> {
    /// Puts it back where it was, the last before the end of its block.
    pub(in crate::codegen::fused_kernels::fuse) fn put_back(self) {
        let builder = Builder::before(self.end);
        builder.call(self.copy.value_type(), self.copy, &self.arguments);
    }
}

fn move_body(from: Value, to: Value) {
    for block in from.blocks() {
        block.move_to(to);
    }
    for (before, after) in from.parameters().into_iter().zip(to.parameters()) {
        before.replace_uses_with(after);
    }
    from.move_subprogram_to(to);
}

/// Whether a number can be computed at the beginning of its kernel, whatever the thread does later.
pub(in crate::codegen::fused_kernels::fuse) fn can_be_computed_again(value: Value) -> bool {
    let mut work = vec![value];
    let mut steps = 0;
    while let Some(value) = work.pop() {
        steps += 1;
        if steps > MOST_STEPS {
            return false;
        }
        if !value.is_instruction() {
            continue;
        }
        match value.opcode() {
            Some(Opcode::LLVMCall) if is_register_read(value) => {}
            Some(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul) => {
                work.extend(value.operands())
            }
            _ => return false,
        }
    }
    true
}

/// Longer sums are not computed twice.
const MOST_STEPS: usize = 32;

/// Computes it there, in wrapping arithmetic.
pub(in crate::codegen::fused_kernels::fuse) fn computed_again<'ctx>(
    builder: &Builder<'ctx>,
    value: Value<'ctx>,
) -> Value<'ctx> {
    let Some(opcode) = value.opcode().filter(|opcode| *opcode != Opcode::LLVMCall) else {
        return value;
    };
    let [one, other] = [0, 1].map(|at| computed_again(builder, value.operand(at)));
    builder.binary(opcode, one, other)
}

fn is_register_read(instruction: Value) -> bool {
    let name = instruction.called_name();
    name.is_some_and(|name| name.starts_with("llvm.nvvm.read.ptx.sreg."))
}
