//! Whether it pays to keep values of a block in slots, by the cost model.
//!
//! Counted is what a thread does in one pass through the phases of the form of a kernel in which blocks run at once: instructions and
//! bytes as they stand in the code, in loops that a phase has as often as their counters say, or [`ASSUMED_ITERATIONS`] times. A load that looks into a slot saves its bytes as
//! often as the thread that it asks is one of the block. Slots cost instructions, the words that go to shared memory and come from
//! there, and room in it: with too much of that, blocks are not all on the device.

use super::super::at_once::{is_kept_read, is_own_read, waits_for_grid};
use super::super::control_flow::ControlFlow;
use super::super::memory::{Effect, Root, is_remark};
use crate::llvm::{Block, IntegerPredicate, NaturalLoop, Opcode, Value};
use crate::tune::{Figures, PhaseWork, pass_nanoseconds};
use inkwell::module::Module;

/// How blocks of a kernel are, and what device they are for.
#[derive(Clone, Copy)]
pub(in crate::codegen::fused_kernels::fuse) struct Setting<'a> {
    pub(in crate::codegen::fused_kernels::fuse) figures: &'a Figures,
    /// Where that is known.
    pub(in crate::codegen::fused_kernels::fuse) blocks: Option<u64>,
    pub(in crate::codegen::fused_kernels::fuse) threads: u64,
}

/// What slots of a family change for a thread in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::codegen::fused_kernels::fuse) struct SlotCost {
    /// Bytes that are not loaded from global memory.
    pub(in crate::codegen::fused_kernels::fuse) saved_bytes: f64,
    /// Instructions that are more.
    pub(in crate::codegen::fused_kernels::fuse) instructions: f64,
    /// Words of 32 bits that go to shared memory and come from there.
    pub(in crate::codegen::fused_kernels::fuse) shared_words: f64,
    /// Shared memory of a block.
    pub(in crate::codegen::fused_kernels::fuse) shared_bytes: u64,
}

impl SlotCost {
    /// Of the work without the slots, what it is with them.
    fn added_to(self, work: PhaseWork, figures: &Figures) -> PhaseWork {
        PhaseWork {
            load_bytes: (work.load_bytes - self.saved_bytes).max(0.0),
            instructions: work.instructions + self.all_instructions(figures),
            shared_bytes: work.shared_bytes + self.shared_bytes,
            ..work
        }
    }

    /// Instructions, and those that words of shared memory take the time of.
    fn all_instructions(self, figures: &Figures) -> f64 {
        self.instructions + self.shared_words * figures.instructions_of_shared_word
    }
}

/// What the model says of slots of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::codegen::fused_kernels::fuse) struct Verdict {
    pub(in crate::codegen::fused_kernels::fuse) pays: bool,
    /// Nanoseconds of a pass without them, and with all that pays before.
    pub(in crate::codegen::fused_kernels::fuse) without: f64,
    /// With them; `None` where blocks are not all on the device then.
    pub(in crate::codegen::fused_kernels::fuse) with: Option<f64>,
}

/// Which of some families pay: those first that save most bytes for an instruction, each beside those that pay already.
/// `None` where nothing is known of the kernel's time.
pub(in crate::codegen::fused_kernels::fuse) fn judge(
    setting: Setting<'_>,
    mut work: PhaseWork,
    costs: &[SlotCost],
) -> Option<Vec<Verdict>> {
    let usual = work.shared_bytes;
    let time = |work: &PhaseWork| {
        let blocks = (setting.blocks, setting.threads);
        pass_nanoseconds(setting.figures, blocks, work, usual)
    };
    let mut without = time(&work)?;
    let worth =
        |cost: &SlotCost| cost.saved_bytes / cost.all_instructions(setting.figures).max(1.0);
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by(|one, other| worth(&costs[*other]).total_cmp(&worth(&costs[*one])));
    let unknown = Verdict {
        pays: false,
        without,
        with: None,
    };
    let mut verdicts = vec![unknown; costs.len()];
    for number in order {
        let changed = costs[number].added_to(work, setting.figures);
        let with = time(&changed);
        let pays = with.is_some_and(|with| with < without);
        verdicts[number] = Verdict {
            pays,
            without,
            with,
        };
        if let Some(with) = with.filter(|_| pays) {
            (work, without) = (changed, with);
        }
    }
    Some(verdicts)
}

/// What a kernel's code has in loops within phases.
pub(in crate::codegen::fused_kernels::fuse) struct Counted<'ctx> {
    /// Loops that have no phase in them, and how often each runs.
    loops: Vec<(NaturalLoop<'ctx>, f64)>,
}

impl<'ctx> Counted<'ctx> {
    /// `begins` are where phases begin.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        flow: &ControlFlow<'ctx>,
        begins: &[Value<'ctx>],
    ) -> Self {
        let loops = flow.natural_loops().into_iter();
        let within = |own: &NaturalLoop<'ctx>| {
            let of_phases = |block: &Block<'ctx>| {
                let mut instructions = block.instructions().into_iter();
                instructions.any(waits_for_grid)
            };
            let mut begins = begins.iter();
            !begins.any(|begin| own.blocks.contains(&begin.block()))
                && !own.blocks.iter().any(of_phases)
        };
        Self {
            loops: loops
                .filter(within)
                .map(|own| {
                    let times = iterations(&own).map_or(ASSUMED_ITERATIONS, f64::from);
                    (own, times)
                })
                .collect(),
        }
    }

    /// How often a thread comes to a block in a pass, as is assumed.
    pub(in crate::codegen::fused_kernels::fuse) fn times(&self, block: Block<'ctx>) -> f64 {
        let around = self.loops.iter();
        let around = around.filter(|(own, _)| own.blocks.contains(&block));
        around.take(DEEPEST).map(|(_, times)| times).product()
    }

    /// What a thread does in the form of a kernel that begins at `form`, in a kernel that has so much shared memory.
    pub(in crate::codegen::fused_kernels::fuse) fn work(
        &self,
        module: &Module<'ctx>,
        (kernel, flow): (Value<'ctx>, &ControlFlow<'ctx>),
        forms: &[Value<'ctx>],
        shared_bytes: u64,
    ) -> PhaseWork {
        let mut work = PhaseWork {
            shared_bytes,
            ..PhaseWork::default()
        };
        let is_at_once = |at: Value<'ctx>| forms.iter().any(|form| flow.precedes(*form, at));
        let blocks = flow.blocks().map(|block| (block, self.times(block)));
        for (block, times) in blocks {
            for at in block.instructions() {
                let counts = at.opcode() != Some(Opcode::LLVMPHI) && !is_remark(at);
                if !counts || !is_at_once(at) {
                    continue;
                }
                work.instructions += times;
                if waits_for_grid(at) {
                    work.grid_barriers += times;
                    continue;
                }
                let is_global = |address| {
                    !matches!(
                        Root::of(kernel, address),
                        Root::Shared(_) | Root::DynamicShared | Root::Private
                    )
                };
                match Effect::of(at) {
                    Effect::Barrier => work.barriers += times,
                    // These stay in registers.
                    Effect::Load(_) if is_own_read(at) || is_kept_read(at) => {}
                    Effect::Load(address) if is_global(address) => {
                        work.load_bytes += times * at.ty().access_bytes(module) as f64;
                    }
                    Effect::Store(address) if is_global(address) => {
                        work.store_bytes += times * at.operand(0).ty().access_bytes(module) as f64;
                    }
                    Effect::Atomic(address) if is_global(address) => {
                        let bytes = times * at.ty().access_bytes(module) as f64;
                        work.load_bytes += bytes;
                        work.store_bytes += bytes;
                    }
                    _ => {}
                }
            }
        }
        // Where the host's loop is another kernel's, the barrier stands there.
        work.grid_barriers = work.grid_barriers.max(1.0);
        work
    }
}

/// How often a loop runs whose counter begins with a number, or with that of the thread, and is compared with one.
fn iterations(own: &NaturalLoop) -> Option<u32> {
    let instructions = own.header.instructions().into_iter();
    let counters = instructions.take_while(|at| at.opcode() == Some(Opcode::LLVMPHI));
    let known = counters.filter_map(|counter| {
        let (mut begin, mut next) = (None, None);
        for (value, from) in counter.incoming() {
            match own.blocks.contains(&from) {
                true => next = Some(value),
                false => begin = Some(value),
            }
        }
        let (begin, next) = (begin?, next?);
        let begins_with_thread = begin
            .called_name()
            .is_some_and(|name| name.contains(".tid."));
        let begin = begin.signed_integer().or(begins_with_thread.then_some(0))?;
        let step = (next.is_instruction() && next.operand(0) == counter)
            .then(|| next.operand(1).signed_integer())??;
        let advance = |value: i64| match next.opcode()? {
            Opcode::LLVMAdd => value.checked_add(step),
            Opcode::LLVMSub => value.checked_sub(step),
            Opcode::LLVMMul => value.checked_mul(step),
            Opcode::LLVMSDiv | Opcode::LLVMUDiv => value.checked_div(step),
            Opcode::LLVMLShr | Opcode::LLVMAShr => value.checked_shr(u32::try_from(step).ok()?),
            Opcode::LLVMShl => value.checked_mul(1_i64.checked_shl(u32::try_from(step).ok()?)?),
            _ => None,
        };
        let exits = own.blocks.iter().filter_map(|block| {
            let end = block.terminator()?;
            let goes_on = end.successors();
            let [taken, _] = goes_on[..] else { return None };
            let leaves = goes_on.iter().any(|to| !own.blocks.contains(to));
            let condition = end.operand(0);
            let compared = condition.operation() == Some(Opcode::LLVMICmp);
            (leaves && compared).then_some((condition, own.blocks.contains(&taken)))
        });
        for (condition, goes_on_if) in exits {
            let (compared, bound) = (condition.operand(0), condition.operand(1));
            let Some(bound) = bound.signed_integer() else {
                continue;
            };
            if compared != counter && compared != next {
                continue;
            }
            let holds = |value: i64| match condition.integer_predicate() {
                Some(IntegerPredicate::LLVMIntEQ) => Some(value == bound),
                Some(IntegerPredicate::LLVMIntNE) => Some(value != bound),
                Some(IntegerPredicate::LLVMIntSLT | IntegerPredicate::LLVMIntULT) => {
                    Some(value < bound)
                }
                Some(IntegerPredicate::LLVMIntSLE | IntegerPredicate::LLVMIntULE) => {
                    Some(value <= bound)
                }
                Some(IntegerPredicate::LLVMIntSGT | IntegerPredicate::LLVMIntUGT) => {
                    Some(value > bound)
                }
                Some(IntegerPredicate::LLVMIntSGE | IntegerPredicate::LLVMIntUGE) => {
                    Some(value >= bound)
                }
                None => None,
            };
            let mut value = begin;
            for iteration in 1..=MOST_ITERATIONS {
                let following = advance(value)?;
                let seen = match compared == counter {
                    true => value,
                    false => following,
                };
                if holds(seen)? != goes_on_if {
                    return Some(iteration);
                }
                value = following;
            }
        }
        None
    });
    known.min()
}

/// So far iterations are counted.
const MOST_ITERATIONS: u32 = 1024;
/// Loops of which it is not known are taken to run so often, as in `tune`.
const ASSUMED_ITERATIONS: f64 = 16.0;
/// Loops inside each other beyond these are not counted.
const DEEPEST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Device;

    fn setting(blocks: Option<u64>) -> Setting<'static> {
        Setting {
            figures: Figures::of(Device::Cuda, 80),
            blocks,
            threads: 128,
        }
    }

    fn work(instructions: f64) -> PhaseWork {
        PhaseWork {
            load_bytes: 20.0,
            store_bytes: 8.0,
            instructions,
            grid_barriers: 1.0,
            ..PhaseWork::default()
        }
    }

    fn cost(saved_bytes: f64, instructions: f64) -> SlotCost {
        SlotCost {
            saved_bytes,
            instructions,
            shared_words: 0.0,
            shared_bytes: 2 << 10,
        }
    }

    fn paying(setting: Setting<'_>, work: PhaseWork, costs: &[SlotCost]) -> Vec<bool> {
        let verdicts = judge(setting, work, costs).expect("blocks are all there");
        verdicts.iter().map(|verdict| verdict.pays).collect()
    }

    #[test]
    fn slots_pay_where_bytes_take_longest() {
        let costs = [cost(3.5, 40.0)];
        assert_eq!(paying(setting(None), work(60.0), &costs), [true]);
        assert_eq!(paying(setting(None), work(2_000.0), &costs), [false]);
        assert_eq!(
            paying(setting(None), work(60.0), &[cost(0.0, 40.0)]),
            [false]
        );
    }

    #[test]
    fn the_best_comes_first_and_others_stay_where_instructions_take_longest_then() {
        // The first two make as many instructions as bytes; a third would make more.
        let costs = [cost(0.5, 300.0), cost(4.0, 50.0), cost(4.0, 40.0)];
        assert_eq!(
            paying(setting(None), work(60.0), &costs),
            [false, true, true]
        );
    }

    #[test]
    fn slots_for_which_there_is_no_room_do_not_pay() {
        let large = SlotCost {
            shared_bytes: 30 << 10,
            ..cost(3.5, 40.0)
        };
        // 108 multiprocessors hold sixteen such blocks each without them, and five with them.
        assert_eq!(paying(setting(Some(500)), work(60.0), &[large]), [true]);
        let verdicts = judge(setting(Some(1_700)), work(60.0), &[large]);
        let verdict = verdicts.expect("blocks are all there")[0];
        assert!(!verdict.pays && verdict.with.is_none());
        assert!(judge(setting(Some(2_000)), work(60.0), &[large]).is_none());
    }

    /// A kernel with a loop whose counter begins so, is made anew so, and goes on while a comparison holds.
    fn loop_of(begin: &str, advance: &str, compare: &str) -> Option<u32> {
        let text = format!(
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
             define void @f(i32 %n) {{
             entry:
               %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
               br label %body
             body:
               %i = phi i32 [ {begin}, %entry ], [ %next, %body ]
               %next = {advance}
               %more = icmp {compare}
               br i1 %more, label %body, label %end
             end:
               ret void
             }}"
        );
        let context = inkwell::context::Context::create();
        let module = super::super::super::block_tests::parsed(&context, &text);
        let function = Value::function(&module, "f")?;
        let flow = ControlFlow::of(function)?;
        iterations(&flow.natural_loops()[0])
    }

    #[test]
    fn loops_run_as_often_as_their_counters_say() {
        let halves = |compare| loop_of("64", "lshr i32 %i, 1", compare);
        assert_eq!(halves("ugt i32 %i, 1"), Some(7));
        assert_eq!(halves("ne i32 %next, 0"), Some(7));
        let strides = |begin, compare| loop_of(begin, "add i32 %i, 128", compare);
        assert_eq!(strides("%tid", "slt i32 %next, 33"), Some(1));
        assert_eq!(strides("0", "ult i32 %next, 1000"), Some(8));
        // Nobody knows where these begin or end, and the last one never does.
        assert_eq!(strides("%n", "slt i32 %next, 33"), None);
        assert_eq!(strides("0", "slt i32 %next, %n"), None);
        assert_eq!(strides("0", "ne i32 %next, 33"), None);
    }
}
