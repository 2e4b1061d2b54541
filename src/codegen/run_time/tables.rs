//! Pointers that kernels load from tables, where tests at run time ask for them.
//!
//! Invariant: each copy that may write to such a table is told to what keeps its bytes (`tables.c`), after it has
//! succeeded; the source has been read by then. So what is asked for before a launch is what its kernel finds.

use super::super::CodegenError;
use super::super::host_library::HostLibrary;
use super::super::launch_call::declared;
use super::super::reserve::call_instead;
use crate::build::Build;
use crate::launch::{BEHIND_POINTER, BufferId, LaunchGraph, NodeKind};
use crate::program::Program;
use crate::tools::Toolchain;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{
    BasicMetadataValueEnum, CallSiteValue, FunctionValue, InstructionValue, IntValue,
};
use std::collections::BTreeSet;
use std::path::Path;

const COPIED: &str = "sirius_table_copied";
const POINTER: &str = "sirius_table_pointer";

/// Puts what keeps the tables of a program into its host module, where launches have pointers from some.
///
/// # Errors
/// When clang fails or what it makes does not fit: our bugs.
pub(in crate::codegen) fn link_tables(
    program: &Program<'_>,
    graph: &LaunchGraph,
    build: &Build,
    toolchain: &Toolchain,
    folder: &Path,
) -> Result<(), CodegenError> {
    if tables(graph).is_empty() {
        return Ok(());
    }
    let library = HostLibrary {
        name: "sirius_tables",
        source: include_str!("tables.c"),
        macros: Vec::new(),
        functions: &[COPIED, POINTER],
    };
    library.link_into(program, (build, toolchain), folder)
}

/// Lets the copies to such tables tell of themselves. `calls` are those of all sets and copies, in the order in which
/// they are numbered.
///
/// # Errors
/// When the graph and the host module do not fit together: our bug.
pub(in crate::codegen) fn let_copies_tell<'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    calls: &[InstructionValue<'ctx>],
) -> Result<(), CodegenError> {
    if program.host.get_function(COPIED).is_none() {
        return Ok(());
    }
    let tables = tables(graph);
    for node in &graph.nodes {
        let NodeKind::Copy {
            writes,
            from_host: Some(ordinal),
            ..
        } = &node.kind
        else {
            continue;
        };
        let mut places = writes
            .iter()
            .flat_map(|touch| touch.pointer.may_point_to.iter().flatten());
        if !places.any(|buffer| tables.contains(buffer)) {
            continue;
        }
        let call = calls.get(*ordinal).copied();
        let site = call.and_then(|call| CallSiteValue::try_from(call).ok());
        let copy = site.and_then(CallSiteValue::get_called_fn_value);
        let (call, original) = call
            .zip(copy)
            .ok_or_else(|| CodegenError::Inconsistent(format!("node {} is no copy", node.id.0)))?;
        let name = format!("sirius.table.{}", original.get_name().to_string_lossy());
        if program.host.get_function(&name).is_none() {
            define(program, original, &name)?;
        }
        call_instead(program, call, &name)?;
    }
    Ok(())
}

/// The tables of which launches have pointers.
fn tables(graph: &LaunchGraph) -> BTreeSet<BufferId> {
    let mut tables = BTreeSet::new();
    for node in &graph.nodes {
        let NodeKind::Launch(launch) = &node.kind else {
            continue;
        };
        for argument in &launch.arguments {
            let mut pieces = argument.pieces.iter();
            if !pieces.any(|piece| piece.offset_bytes >= BEHIND_POINTER) {
                continue;
            }
            let starts = argument
                .pieces
                .iter()
                .filter(|piece| piece.offset_bytes == 0);
            let starts = starts.filter_map(|piece| piece.pointer.as_ref());
            tables.extend(starts.flat_map(|start| start.may_point_to.iter().flatten()));
        }
    }
    tables
}

/// What copies as `original` does, and tells of it.
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
    let builder = context.create_builder();
    let [entry, copied, done] =
        ["entry", "copied", "done"].map(|name| context.append_basic_block(function, name));
    builder.position_at_end(entry);
    let arguments = parameters.iter().copied();
    let arguments: Vec<_> = arguments.map(BasicMetadataValueEnum::from).collect();
    let status = builder
        .build_call(original, &arguments, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let zero = status.get_type().const_zero();
    let succeeded = builder.build_int_compare(IntPredicate::EQ, status, zero, "succeeded")?;
    builder.build_conditional_branch(succeeded, copied, done)?;
    builder.position_at_end(copied);
    let tell = program
        .host
        .get_function(COPIED)
        .ok_or_else(|| CodegenError::Inconsistent("no tables".into()))?;
    // Destination, source, bytes.
    builder.build_call(tell, &arguments[..3], "")?;
    builder.build_unconditional_branch(done)?;
    builder.position_at_end(done);
    builder.build_return(Some(&status))?;
    Ok(())
}

/// The pointer that stands so many bytes behind an address, as a 64-bit value, and whether it is known, as an `i1`.
pub(in crate::codegen) fn pointer_behind<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    address: IntValue<'ctx>,
    distance: u32,
) -> Result<(IntValue<'ctx>, IntValue<'ctx>), CodegenError> {
    let context = program.context;
    let (int, long) = (context.i32_type(), context.i64_type());
    let place = context.ptr_type(inkwell::AddressSpace::default());
    let type_ = int.fn_type(&[long.into(), place.into()], false);
    let ask = declared(program, POINTER, type_);
    let at = builder.build_int_add(address, long.const_int(distance.into(), false), "at")?;
    let value = builder.build_alloca(long, "pointer")?;
    let known = builder
        .build_call(ask, &[at.into(), value.into()], "known")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value();
    let known = builder.build_int_compare(IntPredicate::NE, known, int.const_zero(), "known")?;
    let value = builder.build_load(long, value, "pointer")?.into_int_value();
    Ok((value, known))
}
