//! `exit` in inline PTX: the thread ends.
//!
//! Invariant: a kernel with such an instruction is never a member of a fused one, whose later members the
//! thread would have to go on with; and it is understood in kernels alone, where it is a return.

use crate::llvm::{Builder, Opcode, Value};

/// Makes returns of the `exit`s of a kernel.
pub(in crate::codegen::cpu) fn return_from_exits(kernel: Value) {
    for call in kernel.instructions() {
        let is_exit = call.opcode() == Some(Opcode::LLVMCall)
            && (call.called().inline_assembly())
                .is_some_and(|(template, _)| template.trim().trim_end_matches(';') == "exit");
        if !is_exit || !call.ty().is_void() {
            continue;
        }
        let rest = call.block();
        let before = rest
            .instructions()
            .iter()
            .take_while(|each| **each != call)
            .count();
        let head = rest.split_head(before);
        // Nothing leads to what comes after the call.
        if let Some(way) = head.terminator() {
            Builder::before(way).ret(None);
            way.erase();
        }
        call.erase();
    }
}
