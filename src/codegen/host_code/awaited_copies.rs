//! Copies to the host that wait even with nothing to copy.
//!
//! Invariant: behind a copy that a plan names, all earlier work of its stream is done. A copy that succeeds and
//! copies anything has seen to that; behind any other the host waits for the stream, as it would have known that
//! launches are done before they moved below a wait. What the copy returns is what the program gets.

use super::super::CodegenError;
use super::super::launch_call::declared;
use super::super::reserve::call_instead;
use crate::launch::{LaunchGraph, NodeKind};
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::module::Linkage;
use inkwell::values::{BasicMetadataValueEnum, CallSiteValue, FunctionValue, InstructionValue};
use std::collections::BTreeSet;

/// Lets the copies that `groups` name wait in any case. `calls` are those of all sets and copies, in the order
/// in which they are numbered.
///
/// # Errors
/// When a group names what is no such copy: our bug, since plans are verified.
pub(in crate::codegen) fn let_copies_wait<'ctx, 'g>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    groups: impl Iterator<Item = &'g FusionGroup>,
    calls: &[InstructionValue<'ctx>],
) -> Result<(), CodegenError> {
    let nodes: BTreeSet<_> = groups.flat_map(|group| &group.awaited_copies).collect();
    for node in nodes {
        let ordinal = match &graph.nodes[node.0].kind {
            NodeKind::Copy { awaited_call, .. } => *awaited_call,
            _ => None,
        };
        let call = ordinal.and_then(|ordinal| calls.get(ordinal)).copied();
        let site = call.and_then(|call| Some((call, CallSiteValue::try_from(call).ok()?)));
        let copy = site.and_then(|(call, site)| Some((call, site.get_called_fn_value()?)));
        let (call, original) =
            copy.ok_or_else(|| CodegenError::Inconsistent(format!("node {} is no copy", node.0)))?;
        let name = format!("sirius.awaited.{}", original.get_name().to_string_lossy());
        if program.host.get_function(&name).is_none() {
            define(program, original, &name)?;
        }
        call_instead(program, call, &name)?;
    }
    Ok(())
}

/// Bytes that a copy is told, among its operands.
const BYTES: usize = 2;

/// What copies as `original` does, and waits for its stream where that has not.
fn define<'ctx>(
    program: &Program<'ctx>,
    original: FunctionValue<'ctx>,
    name: &str,
) -> Result<(), CodegenError> {
    let context = program.context;
    let linkage = Some(Linkage::Internal);
    let function = program
        .host
        .add_function(name, original.get_type(), linkage);
    let parameters = function.get_params();
    let (int, pointer) = (
        context.i32_type(),
        context.ptr_type(inkwell::AddressSpace::default()),
    );
    // A default stream of each thread has functions of its own.
    let wait = match original.get_name().to_bytes().ends_with(b"_ptds") {
        true => "cudaStreamSynchronize_ptsz",
        false => "cudaStreamSynchronize",
    };
    let wait = declared(program, wait, int.fn_type(&[pointer.into()], false));
    let builder = context.create_builder();
    let [entry, waits, done] =
        ["entry", "waits", "done"].map(|name| context.append_basic_block(function, name));
    builder.position_at_end(entry);
    let arguments = parameters.iter().copied();
    let arguments: Vec<_> = arguments.map(BasicMetadataValueEnum::from).collect();
    let status = builder
        .build_call(original, &arguments, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let bytes = parameters[BYTES].into_int_value();
    let zero = [int.const_zero(), bytes.get_type().const_zero()];
    let failed = builder.build_int_compare(IntPredicate::NE, status, zero[0], "failed")?;
    let nothing = builder.build_int_compare(IntPredicate::EQ, bytes, zero[1], "nothing")?;
    let unknown = builder.build_or(failed, nothing, "unknown")?;
    builder.build_conditional_branch(unknown, waits, done)?;
    builder.position_at_end(waits);
    builder.build_call(wait, &[pointer.const_null().into()], "")?;
    builder.build_unconditional_branch(done)?;
    builder.position_at_end(done);
    builder.build_return(Some(&status))?;
    Ok(())
}
