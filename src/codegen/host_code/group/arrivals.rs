//! Which word counts the blocks that have arrived of a launch whose last block goes on alone.
//!
//! Invariant: two launches that may run at the same time count in two words. Launches of one stream run one after the
//! other, so that each stream has a word of its own, for as long as the program runs: even a stream that was destroyed
//! may still have something to run. Where there are more streams than words, the originals run.

use super::GroupOperands;
use crate::codegen::guard::emit_guards;
use crate::codegen::launch_call::{Launcher, SHARED_BYTES, declared};
use crate::codegen::{ARRIVAL_COUNTERS, CodegenError};
use crate::dependence::Guard;
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::values::{FunctionValue, IntValue, PointerValue};

/// The number of the word in a slot, and whether there is one.
pub(super) fn counter<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    operands: &GroupOperands<'_, 'ctx>,
) -> Result<(PointerValue<'ctx>, IntValue<'ctx>), CodegenError> {
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    // All members are on one stream.
    let missing = || CodegenError::Inconsistent("a launch without a stream".into());
    let stream = operands.starts.first().map(|start| start + STREAM);
    let stream = stream.and_then(|at| operands.parameters.get(at));
    let stream = *stream.ok_or_else(missing)?;
    let number = builder.build_alloca(long, "stream.number")?;
    builder.build_store(number, long.const_all_ones())?;
    let name = match launcher.launch_function.ends_with("_ptsz") {
        true => "cudaStreamGetId_ptsz",
        false => "cudaStreamGetId",
    };
    let ask = declared(
        program,
        name,
        int.fn_type(&[pointer.into(), pointer.into()], false),
    );
    let status = builder
        .build_call(ask, &[stream.into(), number.into()], "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let zero = int.const_zero();
    let told = builder.build_int_compare(IntPredicate::EQ, status, zero, "told")?;
    let number = builder.build_load(long, number, "number")?;
    let arrivals = match program.host.get_function(ARRIVALS) {
        Some(known) => known,
        None => link_arrivals(program)?,
    };
    let word = builder
        .build_call(arrivals, &[number.into()], "word")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let is_one = builder.build_int_compare(IntPredicate::SGE, word, zero, "has.word")?;
    let slot = builder.build_alloca(int, "word")?;
    builder.build_store(slot, word)?;
    Ok((slot, builder.build_and(told, is_one, "counted")?))
}

/// The number of the word in a slot, or of none where the group is to run without its last block: one of the tests that are
/// made of the launch behind alone does not hold, or there is no word. Says which it is.
pub(super) fn counted<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    operands: &GroupOperands<'_, 'ctx>,
    group: &FusionGroup,
) -> Result<(PointerValue<'ctx>, IntValue<'ctx>), CodegenError> {
    let (context, int) = (program.context, program.context.i32_type());
    let (slot, known) = counter(program, builder, launcher, operands)?;
    let of_front = group.guards_of_front();
    let rest = group
        .guards
        .iter()
        .filter(|guard| !of_front.contains(guard))
        // What memory a launch touches is asked where it is kept.
        .filter(|guard| !matches!(guard, Guard::DeviceMemory { .. }));
    let rest: Vec<Guard> = rest.cloned().collect();
    let holds = emit_guards(context, &program.host, builder, operands, &rest)?;
    let whole = builder.build_and(known, holds, "whole")?;
    let word = builder.build_load(int, slot, "word")?.into_int_value();
    let word = builder.build_select(whole, word, int.const_all_ones(), "word")?;
    builder.build_store(slot, word)?;
    Ok((slot, whole))
}

fn link_arrivals<'ctx>(program: &Program<'ctx>) -> Result<FunctionValue<'ctx>, CodegenError> {
    let failed = |message: inkwell::support::LLVMString| CodegenError::Llvm(message.to_string());
    let text = format!(
        "{}\0",
        TEXT.replace("$COUNT", &ARRIVAL_COUNTERS.to_string())
    );
    let text = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "arrivals");
    let library = program
        .context
        .create_module_from_ir(text)
        .map_err(failed)?;
    library.set_triple(&program.host.get_triple());
    library.set_data_layout(&program.host.get_data_layout());
    program.host.link_in_module(library).map_err(failed)?;
    let function = program.host.get_function(ARRIVALS);
    let function =
        function.ok_or_else(|| CodegenError::Inconsistent("arrivals are not linked".into()))?;
    function.set_linkage(inkwell::module::Linkage::Internal);
    Ok(function)
}

/// Where the stream stands among the operands of a launch.
const STREAM: usize = SHARED_BYTES + 1;
const ARRIVALS: &str = "sirius.arrivals";
const TEXT: &str = include_str!("arrivals.ll");
