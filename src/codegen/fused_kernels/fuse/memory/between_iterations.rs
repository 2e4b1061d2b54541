//! Where iterations of a host's loop meet in a kernel: what is another value there, and how a thread hands its own ones on.

use super::super::control_flow::ControlFlow;
use super::super::memory::Root;
use crate::llvm::{Builder, NaturalLoop, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// Where an iteration begins, lets a variable have what another one had at the end of the iteration before.
pub(in crate::codegen::fused_kernels::fuse) fn hand_on<'ctx>(
    module: &Module<'ctx>,
    around: &NaturalLoop<'ctx>,
    (from, to): (Value<'ctx>, Value<'ctx>),
    ty: Type<'ctx>,
) {
    let mut instructions = around.header.instructions().into_iter();
    let Some(begin) = instructions.find(|at| at.opcode() != Some(Opcode::LLVMPHI)) else {
        return;
    };
    let (builder, alignment) = (Builder::before(begin), ty.alignment(module));
    let value = builder.load_aligned(ty, from, alignment);
    builder.store_aligned(value, to, alignment);
}

/// Whether this is the first iteration of a loop.
pub(in crate::codegen::fused_kernels::fuse) fn is_first<'ctx>(
    module: &Module<'ctx>,
    flow: &ControlFlow<'ctx>,
    around: &NaturalLoop<'ctx>,
) -> Value<'ctx> {
    let truth = Type::integer(module, 1);
    let begin = around.header.instructions()[0];
    let first = Builder::before(begin).phi(truth);
    for from in flow.predecessors(around.header) {
        let begins = !around.blocks.contains(from);
        first.add_incoming(truth.constant(begins.into()), *from);
    }
    first
}

/// The parameter that a pointer is in each iteration, as iterations count them: where pointers change places, that which it was in the
/// first one.
pub(in crate::codegen::fused_kernels::fuse) fn told_by_turns<'ctx>(
    kernel: Value<'ctx>,
    around: &NaturalLoop<'ctx>,
    pointer: Value<'ctx>,
) -> Option<Vec<usize>> {
    before(around, pointer)?;
    let incoming = pointer.incoming().into_iter();
    let mut begins = incoming.filter(|(_, from)| !around.blocks.contains(from));
    let (first, _) = begins.next()?;
    let mut parameters = kernel.parameters().into_iter();
    let own = parameters.position(|parameter| parameter == first)?;
    let is_one = begins.all(|(other, _)| other == first);
    let in_memory = kernel.has_attribute(own as u32 + 1, "byval");
    (is_one && !in_memory).then(|| vec![own])
}

/// Which pointer a pointer that changes places was in the iteration before: another one of these.
pub(in crate::codegen::fused_kernels::fuse) fn before<'ctx>(
    around: &NaturalLoop<'ctx>,
    pointer: Value<'ctx>,
) -> Option<Value<'ctx>> {
    let turns = |pointer: Value<'ctx>| {
        pointer.operation() == Some(Opcode::LLVMPHI)
            && pointer.block() == around.header
            && pointer.ty().is_pointer()
    };
    if !turns(pointer) {
        return None;
    }
    let incoming = pointer.incoming().into_iter();
    let mut latches = incoming.filter(|(_, from)| around.blocks.contains(from));
    let (before, _) = latches.next()?;
    let is_one = latches.all(|(other, _)| other == before);
    (is_one && turns(before)).then_some(before)
}

/// What an address is computed from, by way of choices between pointers, too.
pub(in crate::codegen::fused_kernels::fuse) fn roots_of<'ctx>(
    kernel: Value<'ctx>,
    address: Value<'ctx>,
    told: &dyn Fn(Value<'ctx>) -> Option<Vec<usize>>,
) -> Vec<Root<'ctx>> {
    let mut roots = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![address];
    while let Some(at) = work.pop() {
        if !seen.insert(at) {
            continue;
        }
        if let Some(parameters) = told(at) {
            roots.extend(parameters.into_iter().map(Root::Parameter));
            continue;
        }
        match at.operation() {
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => {
                work.push(at.operand(0));
            }
            Some(Opcode::LLVMPHI) => work.extend(at.incoming().into_iter().map(|(from, _)| from)),
            Some(Opcode::LLVMSelect) => work.extend([at.operand(1), at.operand(2)]),
            _ => roots.push(Root::of(kernel, at)),
        }
    }
    roots
}
