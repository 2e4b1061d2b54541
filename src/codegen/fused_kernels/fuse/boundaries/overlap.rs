//! The version of a kernel that may begin before the launch before it has ended.
//!
//! Invariants: each way through it comes to a wait, and before that touches nothing but memory of its own block and
//! what the plan says that nobody writes, by loads. The wait stands as late as that allows, but in no loop. Right
//! behind it the block tells the launch behind to begin, which then meets nobody but this one.
//!
//! The wait is assembly that may change any memory, so that LLVM moves nothing across it. What a kernel promises of its
//! memory, that nobody else writes it while the kernel runs, does not hold any more, and is taken away.

use super::super::built::Built;
use super::super::memory::{Effect, Root, base_of};
use super::super::specialisation::Shape;
use crate::codegen::CodegenError;
use crate::codegen::device::device_target_machine;
use crate::kernel::{TRIGGER, Target, WAIT, dependency_waits};
use crate::llvm::{Block, Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use crate::program::Program;
use crate::verify::early_access;
use inkwell::module::Module;
use std::collections::HashSet;

/// Makes a kernel wait. `untouched` is what it may load from before.
pub(in crate::codegen::fused_kernels::fuse) fn wait_late<'ctx>(
    module: &Module<'ctx>,
    function: Value<'ctx>,
    untouched: &[Target],
) -> Result<(), CodegenError> {
    forget_promises(function);
    let machine = device_target_machine("sm_90")?;
    function
        .run_passes(FORM, Some(&machine))
        .map_err(CodegenError::Llvm)?;
    let kernel = Kernel {
        module,
        function,
        untouched,
    };
    let reached = reach([function.blocks()[0]]);
    let conflicting: HashSet<Block> = reached
        .iter()
        .copied()
        .filter(|block| kernel.first_conflict(*block).is_some())
        .collect();
    let behind = reach(conflicting.iter().flat_map(|block| block.successors()));
    for block in function.blocks() {
        if !reached.contains(&block) || behind.contains(&block) {
            continue;
        }
        if let Some(conflict) = kernel.first_conflict(block) {
            let wait = kernel.wait_before(conflict);
            kernel.load_before(block, wait);
            continue;
        }
        let Some(end) = block.terminator() else {
            continue;
        };
        if end.opcode() == Some(Opcode::LLVMRet) {
            kernel.wait_before(end);
        }
        let entered: HashSet<Block> = block.successors().into_iter().collect();
        for next in entered.into_iter().filter(|next| behind.contains(next)) {
            kernel.wait_between(block, next);
        }
    }
    Ok(())
}

/// Pointers can be followed in it.
const FORM: &str = "sroa,early-cse,simplifycfg,instcombine<no-verify-fixpoint>,simplifycfg";

fn forget_promises(function: Value) {
    for position in 1..=function.parameters().len() as u32 {
        for name in ["noalias", "readonly", "readnone", "writeonly"] {
            function.remove_attribute(position, name);
        }
    }
    for name in ["memory", "nosync"] {
        function.remove_attribute(FUNCTION_ATTRIBUTES, name);
    }
    for instruction in function.instructions() {
        for kind in ["invariant.load", "alias.scope", "noalias"] {
            instruction.remove_metadata(kind);
        }
    }
}

/// Some blocks and all that are reached from them.
fn reach<'ctx>(from: impl IntoIterator<Item = Block<'ctx>>) -> HashSet<Block<'ctx>> {
    let mut met = HashSet::new();
    let mut work: Vec<Block> = from.into_iter().collect();
    while let Some(block) = work.pop() {
        if met.insert(block) {
            work.extend(block.successors());
        }
    }
    met
}

struct Kernel<'a, 'ctx> {
    module: &'a Module<'ctx>,
    function: Value<'ctx>,
    untouched: &'a [Target],
}

impl<'ctx> Kernel<'_, 'ctx> {
    /// The first instruction of a block that has to stand behind the wait.
    fn first_conflict(&self, block: Block<'ctx>) -> Option<Value<'ctx>> {
        let mut instructions = block.instructions().into_iter();
        instructions.find(|instruction| !self.may_come_first(*instruction))
    }

    fn may_come_first(&self, instruction: Value<'ctx>) -> bool {
        match Effect::of(instruction) {
            Effect::Nothing | Effect::Barrier => true,
            Effect::Load(address) => {
                self.is_own(address) || self.is_untouched(address) || waits_too_late()
            }
            Effect::Store(address) => self.is_own(address),
            Effect::Atomic(_) => false,
            Effect::Unknown => {
                let name = instruction.called_name();
                name.is_some_and(|name| BETWEEN_LANES.iter().any(|each| name.starts_with(each)))
            }
        }
    }

    /// Whether an address is of memory that the block or the thread has for itself.
    fn is_own(&self, address: Value) -> bool {
        matches!(
            Root::of(self.function, address),
            Root::Shared(_) | Root::DynamicShared | Root::Private
        )
    }

    fn is_untouched(&self, address: Value<'ctx>) -> bool {
        let target = match Root::of(self.function, address) {
            Root::Parameter(argument) => Target::Argument {
                argument,
                offset_bytes: 0,
            },
            _ => {
                let (mut base, _) = base_of(self.module, address);
                while base.is_constant_expression() {
                    base = base.operand(0);
                }
                match base.is_global_variable() {
                    true => Target::Global(base.name()),
                    false => return false,
                }
            }
        };
        self.untouched.contains(&target)
    }

    /// A wait, and what tells the launch behind to begin, before an instruction; the wait.
    fn wait_before(&self, place: Value<'ctx>) -> Value<'ctx> {
        let ty = Type::function(Type::void(self.module), &[]);
        let builder = Builder::before(place);
        let say = |text: &str| {
            let assembly = Value::assembly(ty, text, "~{memory}", true);
            let call = builder.call(ty, assembly, &[]);
            call.add_call_attribute(FUNCTION_ATTRIBUTES, "nounwind");
            call
        };
        let wait = say(WAIT);
        say(TRIGGER);
        wait
    }

    /// A wait on the way from one block to another.
    fn wait_between(&self, from: Block, to: Block) {
        let between = Block::append(self.function, "");
        between.branch_to(to);
        for phi in to.phis() {
            let known = phi.incoming();
            let mut incoming = known.clone();
            incoming.retain(|(_, block)| *block != from);
            let own = known.into_iter().find(|(_, block)| *block == from);
            incoming.extend(own.map(|(value, _)| (value, between)));
            phi.replace_phi(to, &incoming);
        }
        from.redirect(to, between);
        if let Some(end) = between.terminator() {
            self.wait_before(end);
        }
    }

    /// Moves loads of the block that may come before the wait there, up to what they would pass.
    fn load_before(&self, block: Block<'ctx>, wait: Value<'ctx>) {
        let behind: Vec<Value> = {
            let all = block.instructions().into_iter();
            all.skip_while(|instruction| *instruction != wait).collect()
        };
        let inside: HashSet<Value> = behind.iter().copied().collect();
        let mut moved: HashSet<Value> = HashSet::new();
        // The wait and the trigger are the first two.
        for instruction in behind.iter().copied().skip(2) {
            match Effect::of(instruction) {
                Effect::Nothing => {}
                Effect::Load(address) if self.is_untouched(address) => {
                    let mut needed = HashSet::from([instruction]);
                    if self.computed_from(instruction, &inside, &moved, &mut needed) {
                        let order = behind.iter().filter(|each| needed.contains(each));
                        order.for_each(|each| each.move_before(wait));
                        moved.extend(needed);
                    }
                }
                // Of others it is not moved past.
                Effect::Load(_) => {}
                Effect::Store(_) | Effect::Atomic(_) | Effect::Barrier | Effect::Unknown => return,
            }
        }
    }

    /// Whether all that an instruction needs is there before the wait or can be, and what that is.
    fn computed_from(
        &self,
        instruction: Value<'ctx>,
        inside: &HashSet<Value<'ctx>>,
        moved: &HashSet<Value<'ctx>>,
        needed: &mut HashSet<Value<'ctx>>,
    ) -> bool {
        instruction.operands().into_iter().all(|operand| {
            if !inside.contains(&operand) || moved.contains(&operand) || needed.contains(&operand) {
                return true;
            }
            let computes = Effect::of(operand) == Effect::Nothing
                && operand.opcode() != Some(Opcode::LLVMPHI)
                && operand.opcode() != Some(Opcode::LLVMAlloca);
            needed.insert(operand);
            computes && self.computed_from(operand, inside, moved, needed)
        })
    }
}

/// What lanes of a warp do with each other's registers.
const BETWEEN_LANES: [&str; 3] = [
    "llvm.nvvm.shfl.",
    "llvm.nvvm.vote.",
    "llvm.nvvm.bar.warp.sync",
];

/// Looks at a version as it was made.
///
/// # Errors
/// It does something before its wait that it may not: our bug.
pub(in crate::codegen::fused_kernels::fuse) fn check(
    program: &Program<'_>,
    module: &Module<'_>,
    built: &Built,
    shape: &Shape,
) -> Result<(), CodegenError> {
    let Some(untouched) = &shape.untouched else {
        return Ok(());
    };
    if waits_too_late() {
        return Ok(());
    }
    let function = module.get_function(&built.name);
    let missing = || CodegenError::Inconsistent(format!("no kernel {}", built.name));
    let found = dependency_waits(function.ok_or_else(missing)?);
    let (pieces, places) = (&built.pieces[0], &built.places[0]);
    let own = &shape.members[0].places;
    // What a parameter of the version is of the launch's arguments, or which variable.
    let may_load = |target: &Target| match target {
        Target::Argument {
            argument,
            offset_bytes,
        } => places.iter().enumerate().any(|(position, place)| {
            let named = match pieces.get(position) {
                Some(piece) => Some(Target::Argument {
                    argument: piece.argument,
                    offset_bytes: *offset_bytes,
                }),
                None => own.get(position).and_then(|at| {
                    let variable = shape.parameters.get(*at)?.variable?;
                    let variable = program.variables.get(variable)?;
                    Some(Target::Global(variable.name.clone()))
                }),
            };
            *place == Some(*argument) && named.is_some_and(|named| untouched.contains(&named))
        }),
        Target::Global(_) | Target::Shared(_) | Target::Unknown | Target::UnknownShared => false,
    };
    match early_access(&found, may_load) {
        None => Ok(()),
        Some(refusal) => Err(CodegenError::Inconsistent(format!(
            "of '{}': {refusal}",
            built.name
        ))),
    }
}

/// Whether `SIRIUS_FAULT` asks for waits behind all loads, for a test of what the CPU device makes of that.
fn waits_too_late() -> bool {
    std::env::var("SIRIUS_FAULT").is_ok_and(|named| named == "wait")
}
