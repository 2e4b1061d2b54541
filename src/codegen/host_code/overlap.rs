//! Launches that begin early: the host's side.
//!
//! Invariant: a launch has leave to begin early only where the launch that its stream was given last is one that the plan
//! names for it. Each host function with such launches keeps the last one in mind: it is set behind a named launch
//! that CUDA took, and cleared before one, when the function begins, and at the end of each block of the host in which
//! the last thing that concerns a stream is anything else. Between two of these in one block the verifier has looked.

use super::super::CodegenError;
use super::super::host::detached;
use super::super::launch_call::{Launcher, address_array, declared};
use crate::launch::{LaunchGraph, LaunchId, NodeId, NodeKind};
use crate::llvm;
use crate::program::Program;
use crate::schedule::FusionGroup;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionValue, IntValue, PointerValue};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// The calls of launches, by launch.
type Calls<'ctx> = HashMap<LaunchId, InstructionValue<'ctx>>;

/// Lets host functions keep in mind which launch was the last, and gives for each launch of these groups that begins early
/// whether it may, a value of 32 bits that is there at its call.
pub(in crate::codegen) fn keep_last_launches<'a, 'ctx>(
    program: &Program<'ctx>,
    graph: &LaunchGraph,
    groups: impl Iterator<Item = &'a FusionGroup> + Clone,
    calls: &Calls<'ctx>,
    launcher: &Launcher,
) -> Result<HashMap<LaunchId, IntValue<'ctx>>, CodegenError> {
    let overlaps = groups.filter_map(|group| {
        let launch = group.members.last()?.launch;
        Some((launch, group.overlap.as_ref()?))
    });
    let named: BTreeSet<LaunchId> = overlaps
        .clone()
        .flat_map(|(_, overlap)| overlap.predecessors.iter().copied())
        .collect();
    let host = Host {
        program,
        graph,
        named: &named,
        calls,
    };
    let mut places: HashMap<FunctionValue<'ctx>, PointerValue<'ctx>> = HashMap::new();
    for launch in &named {
        let function = host.function_of(*launch)?;
        if let Entry::Vacant(entry) = places.entry(function) {
            entry.insert(host.place_in(function)?);
        }
    }
    let (int, builder) = (program.context.i32_type(), program.context.create_builder());
    let mut may = HashMap::new();
    for (launch, overlap) in overlaps {
        builder.position_before(host.call(launch)?);
        let mut found = program.context.bool_type().const_zero();
        if !overlap.predecessors.is_empty() {
            let place = places.get(&host.function_of(launch)?);
            let place = *place.ok_or_else(|| apart(launch))?;
            let last = builder.build_load(int, place, "last")?.into_int_value();
            for before in &overlap.predecessors {
                let number = number_of(program, *before);
                let is = builder.build_int_compare(IntPredicate::EQ, last, number, "follows")?;
                found = builder.build_or(found, is, "follows")?;
            }
        }
        may.insert(launch, builder.build_int_z_extend(found, int, "follows")?);
    }
    for launch in &named {
        let call = *host.call(*launch)?;
        let place = places[&host.function_of(*launch)?];
        host.set_around(call, *launch, place, launcher)?;
    }
    Ok(may)
}

fn apart(launch: LaunchId) -> CodegenError {
    CodegenError::Inconsistent(format!(
        "launch {} and those before it are in different functions",
        launch.0
    ))
}

/// What stands for a launch in the place that keeps the last one; 0 is none.
fn number_of<'ctx>(program: &Program<'ctx>, launch: LaunchId) -> IntValue<'ctx> {
    let number = u64::from(launch.0) + 1;
    program.context.i32_type().const_int(number, false)
}

struct Host<'a, 'ctx> {
    program: &'a Program<'ctx>,
    graph: &'a LaunchGraph,
    named: &'a BTreeSet<LaunchId>,
    calls: &'a Calls<'ctx>,
}

impl<'ctx> Host<'_, 'ctx> {
    fn call(&self, launch: LaunchId) -> Result<&InstructionValue<'ctx>, CodegenError> {
        let missing = || CodegenError::Inconsistent(format!("no launch {}", launch.0));
        self.calls.get(&launch).ok_or_else(missing)
    }

    fn function_of(&self, launch: LaunchId) -> Result<FunctionValue<'ctx>, CodegenError> {
        let block = self.call(launch)?.get_parent();
        let function = block.and_then(|block| block.get_parent());
        function.ok_or_else(|| detached(launch))
    }

    /// Memory of a function for its last launch, cleared wherever something else comes last.
    fn place_in(&self, function: FunctionValue<'ctx>) -> Result<PointerValue<'ctx>, CodegenError> {
        let elsewhere = || CodegenError::Inconsistent("blocks of a function were not found".into());
        let (int, builder) = (
            self.program.context.i32_type(),
            self.program.context.create_builder(),
        );
        let blocks = function.get_basic_blocks();
        let entry = blocks
            .first()
            .and_then(|entry| entry.get_first_instruction());
        builder.position_before(&entry.ok_or_else(elsewhere)?);
        let place = builder.build_alloca(int, "sirius.last.launch")?;
        builder.build_store(place, int.const_zero())?;
        let name = function.get_name().to_string_lossy();
        let number = self
            .graph
            .functions
            .iter()
            .position(|each| each.name == name);
        let number = number.ok_or_else(elsewhere)?;
        for block in self
            .graph
            .blocks
            .iter()
            .filter(|block| block.function == number)
        {
            let own = *blocks.get(block.position).ok_or_else(elsewhere)?;
            // Blocks have stayed where the launch graph found them.
            for node in &block.nodes {
                if let NodeKind::Launch(launch) = &self.graph.nodes[node.0].kind
                    && let Some(call) = self.calls.get(&launch.id)
                    && call.get_parent() != Some(own)
                {
                    return Err(elsewhere());
                }
            }
            let mut last = block.nodes.iter().rev();
            let last = last.find_map(|node| self.is_named(*node));
            if last == Some(false) {
                builder.position_before(&own.get_terminator().ok_or_else(elsewhere)?);
                builder.build_store(place, int.const_zero())?;
            }
        }
        Ok(place)
    }

    /// Whether a node is a named launch; `None` for what concerns no stream.
    fn is_named(&self, node: NodeId) -> Option<bool> {
        match &self.graph.nodes[node.0].kind {
            NodeKind::ErrorCheck | NodeKind::Output { .. } | NodeKind::MayThrow { .. } => None,
            NodeKind::Launch(launch) => Some(self.named.contains(&launch.id)),
            _ => Some(false),
        }
    }

    /// Sets the place behind a named launch, and clears it before.
    fn set_around(
        &self,
        call: InstructionValue<'ctx>,
        launch: LaunchId,
        place: PointerValue<'ctx>,
        launcher: &Launcher,
    ) -> Result<(), CodegenError> {
        let program = self.program;
        let (int, builder) = (program.context.i32_type(), program.context.create_builder());
        builder.position_before(&call);
        builder.build_store(place, int.const_zero())?;
        if let Some(name) = launcher.announce_successor {
            let ty = program.context.void_type().fn_type(&[], false);
            builder.build_call(declared(program, name, ty), &[], "")?;
        }
        // One that may throw ends its block: behind it nothing is kept in mind.
        let (Some(next), Ok(status)) = (call.get_next_instruction(), IntValue::try_from(call))
        else {
            return Ok(());
        };
        builder.position_before(&next);
        let zero = int.const_zero();
        let taken = builder.build_int_compare(IntPredicate::EQ, status, zero, "taken")?;
        let number = number_of(program, launch);
        let number = builder.build_select(taken, number, zero, "last")?;
        builder.build_store(place, number)?;
        Ok(())
    }
}

/// Launches a kernel, with leave to begin early where `follows` is 1 and in its turn where it is 0.
pub(in crate::codegen) fn launch_early<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
    launcher: &Launcher,
    (function, follows): (BasicValueEnum<'ctx>, IntValue<'ctx>),
    configuration: &[BasicValueEnum<'ctx>],
    slots: &[PointerValue<'ctx>],
) -> Result<IntValue<'ctx>, CodegenError> {
    let context = program.context;
    let (byte, int, long) = (context.i8_type(), context.i32_type(), context.i64_type());
    let pointer = context.ptr_type(inkwell::AddressSpace::default());
    let [grid_xy, grid_z, block_xy, block_z, shared_bytes, stream] = configuration else {
        return Err(CodegenError::Inconsistent(
            "a launch without a configuration".into(),
        ));
    };
    let arguments = address_array(program, builder, slots)?;
    let attribute = builder.build_alloca(long.array_type(ATTRIBUTE_WORDS), "attribute")?;
    let whole = builder.build_alloca(long.array_type(CONFIGURATION_WORDS), "configuration")?;
    let put = |memory: PointerValue<'ctx>, offset_bytes: u64, value: BasicValueEnum<'ctx>| {
        let offset = long.const_int(offset_bytes, false);
        let place = llvm::element_address(builder, byte, memory, offset, "field")?;
        let store = builder.build_store(place, value)?;
        store
            .set_alignment(4)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))
    };
    for word in 0..u64::from(ATTRIBUTE_WORDS) {
        put(attribute, 8 * word, long.const_zero().into())?;
    }
    put(
        attribute,
        0,
        int.const_int(STREAM_SERIALIZATION, false).into(),
    )?;
    put(attribute, 8, int.const_int(1, false).into())?;
    // Two `dim3` of 12 bytes, `size_t`, the stream, the attributes and their number.
    put(whole, 0, *grid_xy)?;
    put(whole, 8, *grid_z)?;
    put(whole, 12, *block_xy)?;
    put(whole, 20, *block_z)?;
    put(whole, 24, *shared_bytes)?;
    put(whole, 32, *stream)?;
    put(whole, 40, attribute.into())?;
    put(whole, 48, follows.into())?;
    let ty = int.fn_type(&[pointer.into(), pointer.into(), pointer.into()], false);
    let callee = declared(program, launcher.launch_with_attributes(), ty);
    let passed = [whole.into(), function.into(), arguments.into()];
    Ok(builder
        .build_call(callee, &passed, "status")?
        .try_as_basic_value()
        .unwrap_basic()
        .into_int_value())
}

/// `cudaLaunchAttributeProgrammaticStreamSerialization`.
const STREAM_SERIALIZATION: u64 = 6;
/// The 64-bit words of a `cudaLaunchAttribute`: its number, and 64 bytes of value.
const ATTRIBUTE_WORDS: u32 = 9;
/// Those of a `cudaLaunchConfig_t`.
const CONFIGURATION_WORDS: u32 = 7;
