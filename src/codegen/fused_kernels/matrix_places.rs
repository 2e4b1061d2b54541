//! Matrices of tensor cores that stand in shared memory, by instructions that say so.
//!
//! `wmma.load` and `wmma.store` take a generic pointer, and LLVM leaves the intrinsic with it where it finds out that
//! the pointer leads to shared memory. ptxas then loads a fragment word by word; told the state space, it takes
//! `ldmatrix`. The instruction does the same either way.

use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Gives loads and stores of matrices that are in shared memory pointers that say so.
pub(in crate::codegen) fn name_shared_matrices(module: &Module) {
    for intrinsic in generic_intrinsics(module) {
        for call in intrinsic.users() {
            let is_call = call.is_instruction() && call.opcode() == Some(Opcode::LLVMCall);
            if is_call && call.called() == intrinsic && is_shared(call.operand(0)) {
                name_shared(module, call);
            }
        }
    }
}

/// `llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p0` and its like.
fn generic_intrinsics<'ctx>(module: &Module<'ctx>) -> Vec<Value<'ctx>> {
    let mut functions = Value::functions(module);
    functions.retain(|function| {
        let name = function.name();
        name.starts_with("llvm.nvvm.wmma.") && name.ends_with(".p0") && function.has_uses()
    });
    functions
}

/// Whether a generic pointer is computed from shared ones alone.
fn is_shared(pointer: Value) -> bool {
    let mut seen = HashSet::new();
    let mut work = vec![pointer];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        let Some(opcode) = at.operation() else {
            return false;
        };
        match opcode {
            Opcode::LLVMAddrSpaceCast => {
                if at.operand(0).ty().address_space() != SHARED_ADDRESS_SPACE {
                    return false;
                }
            }
            Opcode::LLVMGetElementPtr => work.push(at.operand(0)),
            Opcode::LLVMSelect => work.extend([at.operand(1), at.operand(2)]),
            Opcode::LLVMPHI => work.extend(at.incoming().into_iter().map(|(value, _)| value)),
            _ => return false,
        }
    }
    true
}

const SHARED_ADDRESS_SPACE: u32 = 3;

fn name_shared<'ctx>(module: &Module<'ctx>, call: Value<'ctx>) {
    let generic = call.called_type();
    let mut parameters = generic.parameters();
    parameters[0] = Type::pointer(module, SHARED_ADDRESS_SPACE);
    let ty = Type::function(generic.result(), &parameters);
    let generic_name = call.called().name();
    let name = match generic_name.strip_suffix(".p0") {
        Some(stem) => format!("{stem}.p{SHARED_ADDRESS_SPACE}"),
        None => return,
    };
    let intrinsic = Value::function(module, &name);
    let intrinsic = intrinsic.unwrap_or_else(|| Value::add_function(module, &name, ty));
    let mut arguments = call.call_arguments();
    let builder = Builder::before(call);
    arguments[0] = builder.cast(Opcode::LLVMAddrSpaceCast, arguments[0], parameters[0]);
    let same = builder.call(ty, intrinsic, &arguments);
    call.replace_uses_with_or_nothing(same);
    call.erase();
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    const CASE: &str = r#"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
@tile = internal addrspace(3) global [2048 x half] undef, align 32
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare {<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>}
  @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p0(ptr, i32)
declare void @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f16.p0(ptr, <2 x half>, <2 x half>, <2 x half>, <2 x half>, i32)

define ptx_kernel void @kernel(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = zext i32 %t to i64
  %at = getelementptr half, ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 %x
  %a = call {<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>}
    @llvm.nvvm.wmma.m16n16k16.load.a.row.stride.f16.p0(ptr %at, i32 16)
  %p = extractvalue {<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>} %a, 0
  call void @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f16.p0(ptr addrspacecast (ptr addrspace(3) @tile to ptr), <2 x half> %p, <2 x half> %p, <2 x half> %p, <2 x half> %p, i32 16)
  call void @llvm.nvvm.wmma.m16n16k16.store.d.row.stride.f16.p0(ptr %out, <2 x half> %p, <2 x half> %p, <2 x half> %p, <2 x half> %p, i32 16)
  ret void
}
"#;

    #[test]
    fn matrices_in_shared_memory_are_told_from_others() {
        let context = Context::create();
        let text = format!("{CASE}\0");
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "case");
        let module = context.create_module_from_ir(buffer).expect("valid IR");
        name_shared_matrices(&module);
        module.verify().expect("the result is valid IR");
        let kernel = Value::function(&module, "kernel").expect("the case has it");
        let calls = kernel.instructions().into_iter();
        let names: Vec<String> = calls
            .filter(|at| at.opcode() == Some(Opcode::LLVMCall))
            .filter_map(|call| {
                call.called_name()?
                    .rsplit_once("wmma.")
                    .map(|(_, name)| name.to_owned())
            })
            .collect();
        assert_eq!(
            names,
            [
                "m16n16k16.load.a.row.stride.f16.p3",
                "m16n16k16.store.d.row.stride.f16.p3",
                "m16n16k16.store.d.row.stride.f16.p0",
            ]
        );
    }
}
