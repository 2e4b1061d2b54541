//! Kernels that run launches of different code, or of one code with different grids, at once.
//!
//! Invariant: a block sees the block indices, the grid and the arguments that it has when its launch is
//! made alone, and runs the code of that launch only. Blocks stand in a row: those of a *slot* one after
//! the other, a slot being launches of one code and grid. All that the host says of a slot is in the
//! kernel's one parameter, so that one kernel runs whatever meets in a batch.

use super::super::super::super::device::{
    KERNEL_CALL_CONVENTION, device_target_machine, max_threads, run_passes,
};
use super::super::super::super::{CodegenError, HeterogeneousKernel};
use super::super::batch::{
    Layout, PARAMETER_BYTES, RECORD_ALIGNMENT_BYTES, call_body, calls_code, names_block_in_assembly,
};
use super::super::launch_bounds::{Demand, MOST_THREADS};
use super::super::shared_memory_reuse;
use crate::llvm::{Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, Type, Value};
use inkwell::IntPredicate;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// So many codes may share a kernel whatever they are: each costs every other one registers and room in the cache.
const ANY_CODES: usize = 4;
/// More of them share one as long as all are short and small.
const MOST_CODES: usize = 64;
/// Instructions of them all.
const MOST_INSTRUCTIONS: usize = 8192;
/// Instructions of each, where the first codes of a region have a kernel: what has more takes long to compile, and is seldom launched
/// for little.
const SHORT_INSTRUCTIONS: usize = 256;
/// Static shared memory of them all, in bytes: a multiprocessor has room for several blocks.
const MOST_SHARED_BYTES: u64 = 16 << 10;
/// Slots of a launch; a power of two.
pub(in crate::codegen) const SLOTS: u64 = 64;
/// A slot: its first block, code, grid, where its records begin, and in the first one how many slots there are.
const SLOT_BYTES: u64 = 32;
/// Where that stands in a slot.
const SLOTS_AT: u64 = 24;

/// A code that may meet others.
pub(in crate::codegen::fused_kernels::fuse) struct Code {
    /// Its number among all bodies.
    pub(in crate::codegen::fused_kernels::fuse) number: usize,
    /// Extents of its blocks, where they are known when compiling: those of one launch are equal.
    pub(in crate::codegen::fused_kernels::fuse) block: [Option<u64>; 3],
    /// The regions in which several launches of it may wait, and how many statements of each are its own.
    pub(in crate::codegen::fused_kernels::fuse) regions: BTreeMap<usize, usize>,
    pub(in crate::codegen::fused_kernels::fuse) instructions: usize,
    pub(in crate::codegen::fused_kernels::fuse) static_shared_bytes: u64,
}

impl Code {
    fn known_block(&self) -> Option<[u64; 3]> {
        let [Some(x), Some(y), Some(z)] = self.block else {
            return None;
        };
        Some([x, y, z])
    }
}

/// Which codes share a kernel, so many of them at least; each is in one at most. Those whose blocks are not known stand with the
/// most statements of a region. Those with the most statements come first, then those that stand first; what is short and does
/// not fit into a kernel shares the next one.
pub(in crate::codegen::fused_kernels::fuse) fn choose(
    codes: &[Code],
    least: usize,
) -> Vec<Vec<usize>> {
    let mut regions: BTreeMap<usize, Vec<&Code>> = BTreeMap::new();
    for code in codes {
        for region in code.regions.keys() {
            regions.entry(*region).or_default().push(code);
        }
    }
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut chosen = Vec::new();
    for (region, mut left) in regions {
        left.retain(|code| !taken.contains(&code.number));
        left.sort_by_key(|code| (std::cmp::Reverse(code.regions[&region]), code.number));
        while let Some(first) = left.first() {
            let block = left.iter().find_map(|code| code.known_block());
            let block = first.known_block().or(block);
            let alike = |code: &Code| code.known_block().is_none_or(|own| Some(own) == block);
            let mut own: Vec<&Code> = Vec::new();
            let mut others = Vec::new();
            for code in left {
                match alike(code) && have_room(&own, code) {
                    true => own.push(code),
                    false => others.push(code),
                }
            }
            if own.len() >= least {
                let numbers: Vec<usize> = own.iter().map(|code| code.number).collect();
                taken.extend(&numbers);
                chosen.push(numbers);
                others.retain(|code| !alike(code) || code.instructions <= SHORT_INSTRUCTIONS);
            }
            left = others;
        }
    }
    chosen
}

/// Whether the kernel of some codes has room for another.
fn have_room(codes: &[&Code], other: &Code) -> bool {
    let all = || codes.iter().copied().chain([other]);
    let bytes: u64 = all().map(|code| code.static_shared_bytes).sum();
    let instructions: usize = all().map(|code| code.instructions).sum();
    let fit = bytes <= shared_memory_reuse::MOST_SHARED_BYTES;
    let are_few = codes.len() < ANY_CODES && fit;
    let are_small = bytes <= MOST_SHARED_BYTES && instructions <= MOST_INSTRUCTIONS;
    codes.is_empty() || are_few || codes.len() < MOST_CODES && are_small
}

/// A body as a function of where its record and its block are.
pub(in crate::codegen::fused_kernels::fuse) struct Slice<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) function: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) demand: Demand,
    pub(in crate::codegen::fused_kernels::fuse) most_threads: u32,
}

impl<'ctx> Slice<'ctx> {
    /// Of a body with arguments in records, and with the bounds of a kernel. Nobody calls it yet.
    pub(in crate::codegen::fused_kernels::fuse) fn build(
        module: &Module<'ctx>,
        name: &str,
        (body, kernel): (Value<'ctx>, Value<'ctx>),
        layout: &Layout<'ctx>,
    ) -> Self {
        let (int, pointer) = (Type::integer(module, 32), Type::pointer(module, 0));
        let types = [pointer, int, int, int, int, int, int, int];
        let ty = Type::function(Type::void(module), &types);
        let function = Value::add_function(module, name, ty);
        body.copy_attributes(FUNCTION_ATTRIBUTES, function, FUNCTION_ATTRIBUTES);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
        let builder = Builder::at_end(Block::append(function, "entry"));
        if let Some(scope) = DebugScope::of(module, body) {
            scope.cover(function, name, &builder);
        }
        let parameters = function.parameters();
        call_body(
            module,
            &builder,
            (body, layout),
            parameters[0],
            parameters[1],
        );
        builder.ret(None);
        Self {
            function,
            demand: Demand::of(kernel),
            most_threads: max_threads(kernel).unwrap_or(MOST_THREADS),
        }
    }

    /// Puts the block's place for what names it, after the body has been inlined. `false` where something may
    /// name it that is not seen.
    pub(in crate::codegen::fused_kernels::fuse) fn place(&self) -> bool {
        if calls_code(self.function) || names_block_in_assembly(self.function) {
            return false;
        }
        let parameters = self.function.parameters();
        for instruction in self.function.instructions() {
            let Some(name) = instruction.called_name() else {
                continue;
            };
            let register = REGISTERS.iter().position(|register| *register == name);
            let Some(register) = register else { continue };
            instruction.replace_uses_with(parameters[2 + register]);
            instruction.erase();
        }
        true
    }
}

/// In the order of a slice's parameters.
pub(in crate::codegen::fused_kernels::fuse) const REGISTERS: [&str; 6] = [
    "llvm.nvvm.read.ptx.sreg.ctaid.x",
    "llvm.nvvm.read.ptx.sreg.ctaid.y",
    "llvm.nvvm.read.ptx.sreg.ctaid.z",
    "llvm.nvvm.read.ptx.sreg.nctaid.x",
    "llvm.nvvm.read.ptx.sreg.nctaid.y",
    "llvm.nvvm.read.ptx.sreg.nctaid.z",
];

/// Makes kernels of the chosen slices, whose bodies have been inlined. By the number of a code, the kernel
/// that it is in and its number there.
///
/// # Errors
/// When LLVM refuses what was built: our bug.
pub(in crate::codegen::fused_kernels::fuse) fn build_heterogeneous<'ctx>(
    module: &Module<'ctx>,
    slices: BTreeMap<usize, Slice<'ctx>>,
    chosen: &[Vec<usize>],
) -> Result<BTreeMap<usize, HeterogeneousKernel>, CodegenError> {
    let mut heterogeneous = Vec::new();
    for (index, numbers) in chosen.iter().enumerate() {
        let own = numbers.iter().filter_map(|number| {
            let slice = slices.get(number).filter(|slice| slice.place())?;
            Some((*number, slice))
        });
        let own: Vec<(usize, &Slice)> = own.collect();
        if own.len() > 1 {
            let functions: Vec<Value> = own.iter().map(|(_, slice)| slice.function).collect();
            let name = format!("sirius_batch_mixed_{index}");
            heterogeneous.push((build(module, &name, &functions), own));
        }
    }
    for slice in slices.values() {
        let function = slice.function;
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        function.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
    }
    if !slices.is_empty() {
        let passes = "always-inline,globaldce";
        run_passes(module, passes, &device_target_machine("sm_80")?)?;
    }
    let mut of_codes = BTreeMap::new();
    for (kernel, own) in heterogeneous {
        let static_shared_bytes = shared_memory_reuse::shared_bytes(module, kernel);
        if static_shared_bytes > shared_memory_reuse::MOST_SHARED_BYTES {
            kernel.delete_function();
            continue;
        }
        // Whatever meets has blocks that each of the codes can have.
        let threads = own.iter().map(|(_, slice)| slice.most_threads).min();
        let demands = own.iter().map(|(_, slice)| slice.demand);
        let demand = demands.fold(Demand::default(), Demand::and);
        demand.bound(kernel, threads.unwrap_or(MOST_THREADS), static_shared_bytes);
        for (code, (number, _)) in own.iter().enumerate() {
            let heterogeneous = HeterogeneousKernel {
                name: kernel.name(),
                code: code as u32,
                static_shared_bytes,
            };
            of_codes.insert(*number, heterogeneous);
        }
    }
    Ok(of_codes)
}

/// The kernel of some slices.
fn build<'ctx>(module: &Module<'ctx>, name: &str, slices: &[Value<'ctx>]) -> Value<'ctx> {
    let [byte, int, long] = [8, 32, 64].map(|bits| Type::integer(module, bits));
    let ty = Type::function(Type::void(module), &[Type::pointer(module, 0)]);
    let kernel = Value::add_function(module, name, ty);
    kernel.set_call_convention(KERNEL_CALL_CONVENTION);
    slices[0].copy_attributes(FUNCTION_ATTRIBUTES, kernel, FUNCTION_ATTRIBUTES);
    kernel.add_attribute(FUNCTION_ATTRIBUTES, "convergent", 0);
    // What one code does is not what all of them do.
    for name in [
        "memory",
        "nosync",
        "nofree",
        "willreturn",
        "noreturn",
        "noinline",
    ] {
        kernel.remove_attribute(FUNCTION_ATTRIBUTES, name);
    }
    let memory = byte.array(u64::from(PARAMETER_BYTES));
    kernel.add_type_attribute(1, "byval", memory);
    kernel.add_attribute(1, "align", u64::from(RECORD_ALIGNMENT_BYTES));
    kernel.add_attribute(1, "noundef", 0);
    let builder = Builder::at_end(Block::append(kernel, "entry"));
    if let Some(scope) = slices
        .iter()
        .find_map(|slice| DebugScope::of(module, *slice))
    {
        scope.cover(kernel, name, &builder);
    }
    let parameter = kernel.parameters()[0];
    let register = |name: &str| {
        let ty = Type::function(int, &[]);
        let intrinsic =
            Value::function(module, name).unwrap_or_else(|| Value::add_function(module, name, ty));
        builder.call(ty, intrinsic, &[])
    };
    let block = register(REGISTERS[0]);
    // First blocks grow: the last slot that begins before the block is its own.
    let at = long.constant(SLOTS_AT);
    let slots = builder.load_aligned(int, builder.element_pointer(byte, parameter, &[at]), 4);
    let place = |slot: Value<'ctx>| {
        let slot = builder.cast(Opcode::LLVMZExt, slot, long);
        let at = builder.binary(Opcode::LLVMMul, slot, long.constant(SLOT_BYTES));
        builder.element_pointer(byte, parameter, &[at])
    };
    let mut slot = int.zero();
    let mut step = SLOTS / 2;
    while step > 0 {
        let later = builder.binary(Opcode::LLVMAdd, slot, int.constant(step));
        let first = builder.load_aligned(int, place(later), 4);
        let is_one = builder.is_below(later, slots);
        let begins = builder.compare(IntPredicate::UGE.into(), block, first);
        let goes_on = builder.binary(Opcode::LLVMAnd, is_one, begins);
        slot = builder.select(goes_on, later, slot);
        step /= 2;
    }
    let slot = place(slot);
    let [first, code, x, y, z, records] = [0, 1, 2, 3, 4, 5].map(|field| {
        let at = builder.element_pointer(byte, slot, &[long.constant(4 * field)]);
        builder.load_aligned(int, at, 4)
    });
    let mut rest = builder.binary(Opcode::LLVMSub, block, first);
    let indices = [x, y, z].map(|extent| {
        let index = builder.binary(Opcode::LLVMURem, rest, extent);
        rest = builder.binary(Opcode::LLVMUDiv, rest, extent);
        index
    });
    let records = builder.cast(Opcode::LLVMZExt, records, long);
    let records = builder.element_pointer(byte, parameter, &[records]);
    let [column, row, layer] = indices;
    let arguments = [records, rest, column, row, layer, x, y, z];
    let end = Block::append(kernel, "end");
    run_code((kernel, &builder), (code, slices, 0), &arguments, end);
    builder.continue_in(end);
    builder.ret(None);
    kernel
}

/// Runs the slice of a number, one of these, the first of which has this one.
pub(in crate::codegen::fused_kernels::fuse) fn run_code<'ctx>(
    (kernel, builder): (Value<'ctx>, &Builder<'ctx>),
    (code, slices, first): (Value<'ctx>, &[Value<'ctx>], usize),
    arguments: &[Value<'ctx>],
    end: Block<'ctx>,
) {
    if let [slice] = slices {
        builder.call(slice.value_type(), *slice, arguments);
        builder.branch(end);
        return;
    }
    let (lower, upper) = slices.split_at(slices.len() / 2);
    let middle = first + lower.len();
    let [below, above] = ["below", "above"].map(|name| Block::append(kernel, name));
    let number = code.ty().constant(middle as u64);
    let is_below = builder.is_below(code, number);
    builder.branch_if(is_below, below, above);
    builder.continue_in(below);
    run_code((kernel, builder), (code, lower, first), arguments, end);
    builder.continue_in(above);
    run_code((kernel, builder), (code, upper, middle), arguments, end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(number: usize, threads: Option<u64>, regions: &[(usize, usize)]) -> Code {
        Code {
            number,
            block: [threads, Some(1), Some(1)],
            regions: regions.iter().copied().collect(),
            instructions: 100,
            static_shared_bytes: 0,
        }
    }

    #[test]
    fn codes_of_a_region_and_a_block_share_a_kernel() {
        let codes = [
            code(0, Some(64), &[(0, 1)]),
            code(1, Some(64), &[(0, 5), (1, 2)]),
            code(2, Some(128), &[(0, 3)]),
            code(3, Some(64), &[(1, 1)]),
            code(4, Some(128), &[(0, 1)]),
            code(5, None, &[(0, 9)]),
        ];
        // Code 1 is taken in the second region, where only code 3 is left.
        assert_eq!(choose(&codes, 2), [vec![5, 1, 0], vec![2, 4]]);
        assert_eq!(choose(&codes[2..4], 2), [[0; 0]; 0]);
        assert_eq!(choose(&codes[2..4], 1), [[2], [3]]);
    }

    /// How many codes each kernel has of so many that are of these sizes.
    fn sizes(count: usize, instructions: usize, static_shared_bytes: u64) -> Vec<usize> {
        let code = |number| Code {
            instructions,
            static_shared_bytes,
            ..code(number, Some(64), &[(0, 1)])
        };
        let chosen = choose(&(0..count).map(code).collect::<Vec<_>>(), 2);
        assert!(chosen.iter().flatten().is_sorted());
        chosen.iter().map(Vec::len).collect()
    }

    #[test]
    fn small_codes_share_a_kernel_with_more_of_them() {
        assert_eq!(sizes(60, 100, 0), [60]);
        assert_eq!(sizes(70, 100, 0), [64, 6]);
        assert_eq!(sizes(65, 100, 0), [64]);
        assert_eq!(sizes(63, 256, 0), [32, 31]);
        assert_eq!(sizes(9, 1500, 0), [5]);
        assert_eq!(sizes(9, 5000, 0), [4]);
        assert_eq!(sizes(9, 100, 3 << 10), [5, 4]);
        assert_eq!(sizes(9, 100, 12 << 10), [4, 4]);
        assert_eq!(sizes(9, 100, 20 << 10), [2, 2, 2, 2]);
    }
}
