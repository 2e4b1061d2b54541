//! Operations on memory that several threads share.

use super::super::*;
use inkwell::llvm_sys::{LLVMAtomicOrdering, LLVMAtomicRMWBinOp};

/// What an atomic operation does with the value in memory and its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtomicOperation {
    Add,
    FloatAdd,
    Exchange,
    And,
    Or,
    Xor,
    Min,
    Max,
    UnsignedMin,
    UnsignedMax,
    /// One more, or 0 where that would be above its own value.
    IncrementWrapping,
    /// One less, or its own value where that is out of its range.
    DecrementWrapping,
}

impl<'ctx> Builder<'ctx> {
    /// An atomic operation on memory that is so aligned, in bytes; the value that was there.
    pub(crate) fn atomic(
        &self,
        operation: AtomicOperation,
        pointer: Value,
        value: Value,
        alignment: u32,
    ) -> Value<'ctx> {
        use LLVMAtomicRMWBinOp::*;
        let operation = match operation {
            AtomicOperation::Add => LLVMAtomicRMWBinOpAdd,
            AtomicOperation::FloatAdd => LLVMAtomicRMWBinOpFAdd,
            AtomicOperation::Exchange => LLVMAtomicRMWBinOpXchg,
            AtomicOperation::And => LLVMAtomicRMWBinOpAnd,
            AtomicOperation::Or => LLVMAtomicRMWBinOpOr,
            AtomicOperation::Xor => LLVMAtomicRMWBinOpXor,
            AtomicOperation::Min => LLVMAtomicRMWBinOpMin,
            AtomicOperation::Max => LLVMAtomicRMWBinOpMax,
            AtomicOperation::UnsignedMin => LLVMAtomicRMWBinOpUMin,
            AtomicOperation::UnsignedMax => LLVMAtomicRMWBinOpUMax,
            AtomicOperation::IncrementWrapping => LLVMAtomicRMWBinOpUIncWrap,
            AtomicOperation::DecrementWrapping => LLVMAtomicRMWBinOpUDecWrap,
        };
        // SAFETY: as in `Value`; callers give a value that the operation takes.
        unsafe {
            let made = LLVMBuildAtomicRMW(self.0, operation, pointer.0, value.0, STRICTEST, 0);
            LLVMSetAlignment(made, alignment);
            Value::new(made)
        }
    }

    /// Stores `new` where memory that is so aligned, in bytes, has `expected`; the value that was there.
    pub(crate) fn compare_and_swap(
        &self,
        pointer: Value,
        expected: Value,
        new: Value,
        alignment: u32,
    ) -> Value<'ctx> {
        // SAFETY: as above; both values have one type.
        unsafe {
            let made = LLVMBuildAtomicCmpXchg(
                self.0, pointer.0, expected.0, new.0, STRICTEST, STRICTEST, 0,
            );
            LLVMSetAlignment(made, alignment);
            Value::new(LLVMBuildExtractValue(self.0, made, 0, c"".as_ptr()))
        }
    }
}

impl<'ctx> Value<'ctx> {
    /// Whether an atomic operation stores its own value, whatever was there.
    pub(crate) fn is_exchange(self) -> bool {
        // SAFETY: as above; callers give an `atomicrmw`.
        unsafe { LLVMGetAtomicRMWBinOp(self.0) == LLVMAtomicRMWBinOp::LLVMAtomicRMWBinOpXchg }
    }

    /// Makes a load or store one that is never left out and that other threads see in order; of one that
    /// is wider than the processor's atomic ones, only the first.
    pub(crate) fn make_ordered(self, bits: u32) {
        // SAFETY: as above; callers give a load or store of so many bits.
        unsafe {
            LLVMSetVolatile(self.0, 1);
            if bits <= 64 {
                let ordering = match self.opcode() {
                    Some(Opcode::LLVMStore) => LLVMAtomicOrdering::LLVMAtomicOrderingRelease,
                    _ => LLVMAtomicOrdering::LLVMAtomicOrderingAcquire,
                };
                LLVMSetAlignment(self.0, bits / 8);
                LLVMSetOrdering(self.0, ordering);
            }
        }
    }

    /// What an `atomicrmw` does.
    pub(crate) fn atomic_update(self) -> AtomicUpdate {
        // SAFETY: as above; callers give an `atomicrmw`.
        unsafe { LLVMGetAtomicRMWBinOp(self.0) }
    }

    /// Whether an atomic operation holds for one of these scopes, by their names; the whole system's is empty.
    pub(crate) fn has_scope_of(self, names: &[&str]) -> bool {
        // SAFETY: as above; pointers and lengths describe the names.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let own = LLVMGetAtomicSyncScopeID(self.0);
            let mut scopes = names
                .iter()
                .map(|name| LLVMGetSyncScopeID(context, name.as_ptr().cast(), name.len()));
            scopes.any(|scope| scope == own)
        }
    }
}

const STRICTEST: LLVMAtomicOrdering = LLVMAtomicOrdering::LLVMAtomicOrderingSequentiallyConsistent;
