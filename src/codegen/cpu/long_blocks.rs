//! Long blocks, cut before the code generator sees them.
//!
//! Scheduling, two-address form and register hints take the square of a block's length: each looks from one
//! instruction at all others of its block. A block of some thousand statements, which a program that was made by
//! another one has, would take minutes. Its pieces follow each other without a jump.

use crate::llvm::{Block, Opcode, Value};
use inkwell::module::Module;

/// Blocks of more instructions are cut.
const LONGEST_BLOCK: usize = 1_500;
/// Into pieces of so many, and a last one that has no fewer.
const PIECE: usize = 500;

/// Cuts the long blocks of a module. Nothing may put blocks together afterwards but the code generator, which leaves
/// alone those whose addresses are taken: so a table that nobody reads has the address of each piece.
pub(super) fn cut(module: &Module) {
    let mut addresses = Vec::new();
    for function in Value::functions(module) {
        for block in function.blocks() {
            if block.instructions().len() > LONGEST_BLOCK {
                let first = cut_block(block);
                // Nobody may take the address of the block that a function begins with.
                addresses.extend(first.into_iter().map(|piece| piece.address(function)));
            }
        }
    }
    if !addresses.is_empty() {
        Value::add_private_table(module, "sirius.pieces", &addresses);
    }
}

/// Cuts one block; returns its pieces but the first.
fn cut_block(block: Block) -> Vec<Block> {
    let mut left = block.instructions();
    // What has to stay at the begin of a function or of a block.
    let stays = |instruction: &Value| {
        matches!(
            instruction.opcode(),
            Some(Opcode::LLVMPHI | Opcode::LLVMAlloca)
        )
    };
    let begin = left.iter().rposition(stays).map_or(0, |last| last + 1);
    let mut length = begin.max(PIECE);
    let mut pieces = Vec::new();
    while left.len() >= length + PIECE {
        pieces.push(block.split_head(length));
        left.drain(..length);
        length = PIECE;
    }
    pieces.push(block);
    pieces.remove(0);
    pieces
}
