//! Operations of the host that give the same bits on the device.

use crate::launch::host_ir::Operation;
use crate::launch::{FloatComparison, IntegerComparison, ScalarOperation};
use crate::llvm::Opcode;

/// What gives the same bits on any machine with IEEE arithmetic, unless its instruction carries a fast-math flag.
pub fn exact(operation: Operation) -> Option<ScalarOperation> {
    const INTEGER: u32 = Opcode::LLVMICmp as u32;
    const FLOAT: u32 = Opcode::LLVMFCmp as u32;
    let plain = |code: Opcode| code as u32;
    Some(match operation {
        Operation::Add => ScalarOperation::Add,
        Operation::Subtract => ScalarOperation::Subtract,
        Operation::Multiply => ScalarOperation::Multiply,
        Operation::And => ScalarOperation::And,
        Operation::Or => ScalarOperation::Or,
        Operation::ZeroExtend => ScalarOperation::ZeroExtend,
        Operation::SignExtend => ScalarOperation::SignExtend,
        Operation::Truncate => ScalarOperation::Truncate,
        Operation::Select => ScalarOperation::Select,
        Operation::Other(INTEGER, predicate) => ScalarOperation::Compare(match predicate {
            32 => IntegerComparison::Equal,
            33 => IntegerComparison::NotEqual,
            34 => IntegerComparison::UnsignedGreater,
            35 => IntegerComparison::UnsignedGreaterEqual,
            36 => IntegerComparison::UnsignedLess,
            37 => IntegerComparison::UnsignedLessEqual,
            38 => IntegerComparison::SignedGreater,
            39 => IntegerComparison::SignedGreaterEqual,
            40 => IntegerComparison::SignedLess,
            41 => IntegerComparison::SignedLessEqual,
            _ => return None,
        }),
        // LLVM's numbers of these comparisons have a bit for each outcome.
        Operation::Other(FLOAT, predicate @ 0..=15) => {
            ScalarOperation::CompareFloat(FloatComparison {
                equal: predicate & 1 != 0,
                greater: predicate & 2 != 0,
                less: predicate & 4 != 0,
                unordered: predicate & 8 != 0,
            })
        }
        Operation::Other(code, 0) => match code {
            code if code == plain(Opcode::LLVMXor) => ScalarOperation::Xor,
            code if code == plain(Opcode::LLVMFAdd) => ScalarOperation::FloatAdd,
            code if code == plain(Opcode::LLVMFSub) => ScalarOperation::FloatSubtract,
            code if code == plain(Opcode::LLVMFMul) => ScalarOperation::FloatMultiply,
            code if code == plain(Opcode::LLVMFDiv) => ScalarOperation::FloatDivide,
            code if code == plain(Opcode::LLVMFNeg) => ScalarOperation::FloatNegate,
            code if code == plain(Opcode::LLVMFPExt) => ScalarOperation::FloatExtend,
            code if code == plain(Opcode::LLVMFPTrunc) => ScalarOperation::FloatTruncate,
            code if code == plain(Opcode::LLVMSIToFP) => ScalarOperation::SignedToFloat,
            code if code == plain(Opcode::LLVMUIToFP) => ScalarOperation::UnsignedToFloat,
            _ => return None,
        },
        _ => return None,
    })
}
