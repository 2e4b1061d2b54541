//! Blocks written twice: what host loops are taken apart with.
//!
//! Invariant: before blocks are copied, every value that leaves its block goes through memory ([`VALUES_TO_MEMORY`]), so that a
//! copy is right wherever control comes to it. Computations alone are copied in any form.

use super::super::loops::{innermost, reaches_without};
use crate::llvm::{Block, Builder, ControlFlow, FUNCTION_ATTRIBUTES, Opcode, TypeKind, Value};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Every value that leaves its block goes through memory, so that blocks can be copied as they are.
pub(in crate::program) const VALUES_TO_MEMORY: &str = "reg2mem";

/// So many instructions may be written twice for one loop.
pub(in crate::program) const MOST_INSTRUCTIONS: usize = 2_000;

/// Whether the blocks of a function can be copied: no block has its address taken, nothing returns twice, and all values
/// can go through memory.
pub(in crate::program) fn is_copyable(function: Value) -> bool {
    function.instructions().into_iter().all(|each| {
        let opcode = each.opcode();
        let is_strange = matches!(
            opcode,
            Some(
                Opcode::LLVMIndirectBr
                    | Opcode::LLVMCallBr
                    | Opcode::LLVMCatchSwitch
                    | Opcode::LLVMCatchPad
                    | Opcode::LLVMCleanupPad
            )
        );
        let returns_twice = each
            .called_function()
            .is_some_and(|called| called.has_attribute(FUNCTION_ATTRIBUTES, "returns_twice"));
        !is_strange && !returns_twice && each.ty().kind() != TypeKind::LLVMTokenTypeKind
    })
}

/// Takes back what inlining said of pointers that lead apart: it holds within one copy of the code, and the copies of two
/// iterations stand side by side afterwards.
pub(in crate::program) fn forget_scopes(function: Value) {
    for each in function.instructions() {
        each.remove_metadata("noalias");
        each.remove_metadata("alias.scope");
        let declares = each
            .called_name()
            .is_some_and(|name| name == "llvm.experimental.noalias.scope.decl");
        if declares {
            each.erase();
        }
    }
}

/// A place in a loop: what comes behind it can compute anew what was computed before it.
pub(in crate::program) struct Place<'ctx> {
    block: Block<'ctx>,
    /// What comes before it in its block.
    here: Vec<Value<'ctx>>,
    /// The blocks of the loop that control comes to without it.
    before: HashSet<Block<'ctx>>,
    /// What comes behind it in its block.
    behind: HashSet<Value<'ctx>>,
}

impl<'ctx> Place<'ctx> {
    /// The place behind an instruction of a loop, or right in front of it.
    pub(in crate::program) fn new(
        function: Value<'ctx>,
        at: Value<'ctx>,
        behind: bool,
    ) -> Option<Self> {
        let block = at.parent_block()?;
        let around = innermost(&ControlFlow::of(function)?, block)?;
        // Whatever else is in the loop comes behind the place.
        let mut before = around.blocks;
        before.retain(|each| reaches_without(around.header, *each, block));
        let mut here = block.instructions();
        let place = here.iter().position(|each| *each == at)?;
        let from = place + usize::from(behind);
        Some(Self {
            block,
            behind: here[from..].iter().copied().collect(),
            here: {
                here.truncate(place);
                here
            },
            before,
        })
    }

    /// Whether an instruction comes before the place in its block.
    pub(in crate::program) fn is_before(&self, value: Value) -> bool {
        self.here.contains(&value)
    }

    /// The uses of a value behind the place, each as an instruction and the number of its operand.
    pub(in crate::program) fn uses(&self, value: Value<'ctx>) -> BTreeSet<(Value<'ctx>, u32)> {
        // What a phi takes, it takes at the end of the block where it comes from.
        let is_behind = |of: Block| of == self.block || !self.before.contains(&of);
        let uses = value.users().into_iter().flat_map(|user| {
            let takes = (0..)
                .zip(user.operands())
                .filter(|(_, operand)| *operand == value);
            takes
                .map(move |(index, _)| (user, index))
                .collect::<Vec<(Value, u32)>>()
        });
        let uses = uses.filter(|(user, index)| match user.incoming_block(*index) {
            Some(from) => is_behind(from),
            None => {
                self.behind.contains(user)
                    || (user.parent_block()).is_some_and(|of| of != self.block && is_behind(of))
            }
        });
        uses.collect()
    }

    /// Has what comes behind the place compute anew what was computed before it and can be, from `at` on. Returns the
    /// new instructions.
    pub(in crate::program) fn compute_again(
        &self,
        function: Value<'ctx>,
        at: Value<'ctx>,
    ) -> Vec<Value<'ctx>> {
        let in_order = function.blocks().into_iter();
        let in_order: Vec<Value> = in_order
            .filter(|each| self.before.contains(each))
            .flat_map(Block::instructions)
            .chain(self.here.iter().copied())
            .filter(|each| is_arithmetic(*each))
            .collect();
        let computed: HashSet<Value> = in_order.iter().copied().collect();
        let builder = Builder::before(at);
        let mut copies = HashMap::new();
        for value in &in_order {
            let uses = self.uses(*value);
            if uses.is_empty() || copies.len() > MOST_INSTRUCTIONS {
                continue;
            }
            let copy = copy_with_operands(*value, &computed, &builder, &mut copies);
            for (user, index) in uses {
                user.set_operand(index, copy);
            }
        }
        copies.into_values().collect()
    }
}

/// Has what comes behind a launch compute anew what was computed before it and can be: a counter is all that has to come
/// from one iteration to the next then, and that pointers are equal which are computed alike can be seen.
pub(in crate::program) fn compute_again_behind(function: Value, site: Value) {
    let behind = match site.invoke_destinations() {
        None => site.parent_block().and_then(|block| {
            let mut instructions = block.instructions().into_iter();
            instructions.by_ref().find(|each| *each == site);
            instructions.next()
        }),
        Some((next, _)) if next.predecessors().len() == 1 => {
            let mut instructions = next.instructions().into_iter();
            instructions.find(|each| each.opcode() != Some(Opcode::LLVMPHI))
        }
        Some(_) => None,
    };
    if let (Some(at), Some(place)) = (behind, Place::new(function, site, true)) {
        place.compute_again(function, at);
    }
}

/// Instructions that compute a value of their operands and nothing else.
pub(in crate::program) fn is_arithmetic(instruction: Value) -> bool {
    use Opcode::*;
    matches!(
        instruction.opcode(),
        Some(
            LLVMAdd
                | LLVMSub
                | LLVMMul
                | LLVMShl
                | LLVMLShr
                | LLVMAShr
                | LLVMAnd
                | LLVMOr
                | LLVMXor
                | LLVMICmp
                | LLVMSelect
                | LLVMZExt
                | LLVMSExt
                | LLVMTrunc
                | LLVMGetElementPtr
        )
    )
}

/// A copy of a computation, with copies of those that it is made of.
pub(in crate::program) fn copy_with_operands<'ctx>(
    value: Value<'ctx>,
    computed: &HashSet<Value<'ctx>>,
    builder: &Builder<'ctx>,
    copies: &mut HashMap<Value<'ctx>, Value<'ctx>>,
) -> Value<'ctx> {
    if let Some(copy) = copies.get(&value) {
        return *copy;
    }
    let operands: Vec<Option<Value>> = (value.operands().into_iter())
        .map(|operand| {
            let is_computed = computed.contains(&operand);
            is_computed.then(|| copy_with_operands(operand, computed, builder, copies))
        })
        .collect();
    let copy = value.copy_instruction();
    builder.put(copy);
    for (index, operand) in (0..).zip(operands) {
        if let Some(operand) = operand {
            copy.set_operand(index, operand);
        }
    }
    copies.insert(value, copy);
    copy
}

/// The block where control goes on behind a launch, which nothing else comes to. Values do not leave their blocks.
pub(in crate::program) fn split_behind<'ctx>(
    function: Value<'ctx>,
    site: Value<'ctx>,
) -> Option<Block<'ctx>> {
    if let Some((next, _)) = site.invoke_destinations() {
        return (next.predecessors().len() == 1).then_some(next);
    }
    let block = site.parent_block()?;
    let behind: Vec<Value> = block
        .instructions()
        .into_iter()
        .skip_while(|each| *each != site)
        .skip(1)
        .collect();
    let next = Block::append(function, "");
    next.move_behind(block);
    let builder = Builder::at_end(next);
    for each in behind {
        each.take_out();
        builder.put(each);
    }
    Builder::at_end(block).branch(next);
    Some(next)
}

/// Copies the instructions of a block, whose values do not leave it. Returns which copy is of which.
pub(in crate::program) fn copy_instructions<'ctx>(
    from: Block<'ctx>,
    to: Block<'ctx>,
) -> HashMap<Value<'ctx>, Value<'ctx>> {
    let builder = Builder::at_end(to);
    let mut copies: HashMap<Value, Value> = HashMap::new();
    for each in from.instructions() {
        let copy = each.copy_instruction();
        builder.put(copy);
        for (operand, value) in (0..).zip(each.operands()) {
            if let Some(value) = copies.get(&value) {
                copy.set_operand(operand, *value);
            }
        }
        copies.insert(each, copy);
    }
    copies
}

/// Has the end of a block go to other blocks.
pub(in crate::program) fn redirect(block: Block, to: &HashMap<Block, Block>) {
    let Some(end) = block.terminator() else {
        return;
    };
    for (index, successor) in (0..).zip(end.successors()) {
        if let Some(other) = to.get(&successor) {
            block.set_successor(index, *other);
        }
    }
}

/// Assembly may hold a label, and some functions may be called at one place only.
pub(in crate::program) fn may_stand_twice(instruction: Value) -> bool {
    let is_unique = instruction.called_assembly().is_some()
        || instruction
            .called_function()
            .is_some_and(|called| called.has_attribute(FUNCTION_ATTRIBUTES, "noduplicate"));
    !is_unique
}
