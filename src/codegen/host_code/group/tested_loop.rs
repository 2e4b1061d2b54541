//! Host loops whose iterations run ahead in a kernel, as the host goes through them.
//!
//! Invariant: the host's code stays as it is. In front of the loop's first launch it asks whether the iteration that begins
//! has been run, and else lets the kernel run it and those that follow, where all guards hold. Of an iteration that has been
//! run launches, sets and copies within the device do nothing, and copies to the host bring what they would have brought; in
//! others all of them are made as they are written. The kernel takes what its members take in the first of the iterations that
//! it runs.

use super::super::super::batches::issue_waiting;
use super::super::super::fuse::piece_bytes;
use super::super::super::host::{MemberCall, detached, replace_status};
use super::super::super::host_library::HostLibrary;
use super::super::super::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, address_array, announce_side, announce_site,
    operand_slot,
};
use super::super::super::region::HostFlow;
use super::super::super::{
    CodegenError, FusedKernel, FusedParameter, LOOP_ROWS_OFFSET_BYTES, LoopValue, loop_row_bytes,
};
use super::residency::resident_grid;
use super::{GroupFunctions, GroupOperands, add_operand_function, ask_for_room, key_of, passed};
use crate::build::{Build, Device};
use crate::codegen::guard::emit_guards;
use crate::dependence::Guard;
use crate::launch::{
    HostPlace, LaunchGraph, LaunchId, LoopArgumentValue, LoopTest, NodeId, ScalarType,
};
use crate::llvm;
use crate::program::{Program, operation_call};
use crate::schedule::{FusionGroup, FusionPlan, TestedLoop};
use crate::tools::Toolchain;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{
    AnyValue, BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue,
    InstructionOpcode, InstructionValue, PointerValue,
};
use inkwell::{AddressSpace, IntPredicate};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Puts into the host module what loops need that run ahead.
///
/// # Errors
/// When clang fails or what it makes does not fit: our bugs.
pub(in crate::codegen) fn link_tested_loops(
    program: &Program<'_>,
    (build, toolchain): (&Build, &Toolchain),
    launcher: &Launcher,
    folder: &Path,
) -> Result<(), CodegenError> {
    let suffix = match launcher.launch_function.ends_with("_ptsz") {
        true => "_ptsz",
        false => "",
    };
    let together = launcher.cooperative_launch;
    let mut macros = vec![format!("SIRIUS_LAUNCH_TOGETHER={together}")];
    for (name, function) in [
        ("WAIT", "cudaStreamSynchronize"),
        ("COPY", "cudaMemcpyAsync"),
        ("ALLOCATE", "cudaMallocAsync"),
        ("FREE", "cudaFreeAsync"),
    ] {
        macros.push(format!("SIRIUS_{name}={function}{suffix}"));
    }
    if build.device == Device::Cpu {
        macros.push("SIRIUS_CPU_DEVICE".to_owned());
    }
    let library = HostLibrary {
        name: "sirius_tested_loop",
        source: include_str!("../tested_loop.c"),
        macros,
        functions: &[NEXT, RUN, ROW],
    };
    library.link_into(program, (build, toolchain), folder)
}

const NEXT: &str = "sirius_ahead_next";
const RUN: &str = "sirius_ahead_run";
const ROW: &str = "sirius_ahead_row";

/// Values of the host that kernels of tested loops take, as they are before anything of the host module has changed.
pub(in crate::codegen) struct LoopValues<'ctx> {
    /// By group of the plan.
    values: HashMap<usize, HashMap<HostPlace, BasicValueEnum<'ctx>>>,
}

impl<'ctx> LoopValues<'ctx> {
    /// Those of the loops of a plan.
    ///
    /// # Errors
    /// When a place is not there: our bug.
    pub(in crate::codegen) fn of(
        program: &Program<'ctx>,
        graph: &LaunchGraph,
        plan: &FusionPlan,
        kernels: &[FusedKernel],
    ) -> Result<Self, CodegenError> {
        let missing = || CodegenError::Inconsistent("a value of a loop's test is not there".into());
        let mut values = HashMap::new();
        for kernel in kernels {
            let group = plan.groups.get(kernel.group);
            let Some(tested) = group.and_then(|group| group.tested_loop.as_ref()) else {
                continue;
            };
            let header = graph.loops[tested.host_loop].header;
            let function = &graph.functions[graph.blocks[header.0].function];
            let function = program.host.get_function(&function.name);
            let function = function.ok_or_else(missing)?;
            let blocks = function.get_basic_blocks();
            let mut own = HashMap::new();
            for parameter in &kernel.parameters {
                let FusedParameter::LoopValue(LoopValue::Scalar(place, ty)) = parameter else {
                    continue;
                };
                let value = match *place {
                    HostPlace::Parameter(index) => function.get_nth_param(index as u32),
                    HostPlace::Instruction { block, index } => {
                        let block: Option<&BasicBlock<'ctx>> = blocks.get(block);
                        let found = block.and_then(|block| block.get_instructions().nth(index));
                        found.and_then(value_of)
                    }
                };
                let value = value.filter(|value| is_of_type(value, *ty));
                own.insert(*place, value.ok_or_else(missing)?);
            }
            values.insert(kernel.group, own);
        }
        Ok(Self { values })
    }
}

/// A tested loop of the plan in the host module.
pub(in crate::codegen) struct LoopCalls<'a, 'ctx> {
    pub(in crate::codegen) group: &'a FusionGroup,
    pub(in crate::codegen) kernel: &'a FusedKernel,
    pub(in crate::codegen) tested: &'a TestedLoop,
    pub(in crate::codegen) test: &'a LoopTest,
    /// Launches by their nodes.
    pub(in crate::codegen) nodes: BTreeMap<NodeId, LaunchId>,
    /// By copy to the host, in order.
    pub(in crate::codegen) copies: Vec<InstructionValue<'ctx>>,
}

impl<'ctx> LoopCalls<'_, 'ctx> {
    /// Whether a member takes a number that is only known behind the first launch of an iteration.
    fn computes(&self, member: &MemberCall<'_, 'ctx>, argument: usize) -> bool {
        self.test.arguments.iter().any(|own| {
            own.argument == argument
                && self.nodes.get(&own.node) == Some(&member.launch.id)
                && matches!(own.value, LoopArgumentValue::Computed(_))
        })
    }
}

impl<'ctx> GroupFunctions<'_, 'ctx> {
    /// Lets iterations of a loop run ahead: rewrites its launches and copies.
    pub(in crate::codegen) fn run_ahead(
        &self,
        graph: &LaunchGraph,
        of_loop: &LoopCalls<'_, 'ctx>,
        values: &LoopValues<'ctx>,
        launcher: &Launcher,
    ) -> Result<(), CodegenError> {
        let program = self.program;
        let first = &self.members[0];
        let host = first.block.get_parent();
        let host = host.ok_or_else(|| detached(first.launch.id))?;
        let bytes = loop_row_bytes(of_loop.test.copies.iter().map(|copy| copy.bytes));
        let state = self.state(
            host,
            u64::from(bytes) * u64::from(of_loop.tested.most_iterations),
        )?;
        let flow = HostFlow::of(host);
        let builder = program.context.create_builder();
        let place = first.call;
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![state.into()];
        for member in self.members {
            for (index, operand) in member.operands.iter().enumerate() {
                let argument = index.checked_sub(OPERANDS_BEFORE_ARGUMENTS);
                let operand = match argument.is_some_and(|at| of_loop.computes(member, at)) {
                    // The kernel does, too.
                    true => operand.get_type().const_zero(),
                    false => brought(&builder, *operand, place, &flow)?,
                };
                arguments.push(operand.into());
            }
        }
        let mut extra = Vec::new();
        for parameter in &of_loop.kernel.parameters {
            let FusedParameter::LoopValue(value) = parameter else {
                continue;
            };
            let found = match value {
                LoopValue::Scalar(place, _) => {
                    let own = values.values.get(&self.number);
                    own.and_then(|own| own.get(place)).copied()
                }
                LoopValue::Source(node) => {
                    let copies = of_loop.test.copies.iter().zip(&of_loop.copies);
                    let mut own = copies.filter(|(copy, _)| copy.node == *node);
                    own.next().and_then(|(_, call)| operand(*call, SOURCE))
                }
            };
            let missing = || CodegenError::Inconsistent("a loop takes what is not there".into());
            let found = brought(&builder, found.ok_or_else(missing)?, place, &flow)?;
            arguments.push(found.into());
            extra.push(*value);
        }
        let types: Vec<BasicMetadataTypeEnum<'ctx>> = arguments
            .iter()
            .map(type_of)
            .collect::<Option<_>>()
            .ok_or_else(|| CodegenError::Inconsistent("an operand of a loop has no type".into()))?;
        let function = self.begin_iteration(graph, of_loop, launcher, (&types, &extra))?;
        builder.position_before(&place);
        builder.build_call(function, &arguments, "")?;
        for (index, member) in self.members.iter().enumerate() {
            self.skip(member, index, state)?;
        }
        let mut offset = 0;
        for (copy, call) in of_loop.test.copies.iter().zip(&of_loop.copies) {
            self.tell(*call, state, (bytes, offset, copy.bytes))?;
            offset += copy.bytes.next_multiple_of(8);
        }
        Ok(())
    }

    /// Memory of the host function for what runs ahead, with so many bytes of rows.
    fn state(
        &self,
        host: FunctionValue<'ctx>,
        bytes: u64,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let context = self.program.context;
        let builder = context.create_builder();
        let entry = host.get_first_basic_block();
        let first = entry.and_then(|entry| entry.get_first_instruction());
        let first = first.ok_or_else(|| CodegenError::Inconsistent("empty function".into()))?;
        builder.position_before(&first);
        let bytes = u32::try_from(u64::from(LOOP_ROWS_OFFSET_BYTES) + bytes)
            .map_err(|_| CodegenError::Inconsistent("too many iterations".into()))?;
        let state = builder.build_alloca(context.i8_type().array_type(bytes), "sirius.ahead")?;
        if let Some(instruction) = state.as_instruction() {
            instruction
                .set_alignment(16)
                .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        }
        builder.build_store(state, context.i128_type().const_zero())?;
        Ok(state)
    }

    /// `void sirius.ahead.G(ptr state, operands of all members, further values)`: an iteration begins.
    fn begin_iteration(
        &self,
        graph: &LaunchGraph,
        of_loop: &LoopCalls<'_, 'ctx>,
        launcher: &Launcher,
        (types, extra): (&[BasicMetadataTypeEnum<'ctx>], &[LoopValue]),
    ) -> Result<FunctionValue<'ctx>, CodegenError> {
        let (program, members) = (self.program, self.members);
        let (group, kernel) = (of_loop.group, of_loop.kernel);
        let context = program.context;
        let int = context.i32_type();
        let name = format!("sirius.ahead.{}", self.number);
        let function = program.host.add_function(
            &name,
            context.void_type().fn_type(types, false),
            Some(Linkage::Internal),
        );
        let builder = context.create_builder();
        let [entry, begin, room, ask, fused, run, separate, done] = [
            "entry", "begin", "room", "ask", "fused", "run", "separate", "done",
        ]
        .map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let parameters = function.get_params();
        let state = parameters[0];
        let next = library_function(program, NEXT)?;
        let is_run = builder
            .build_call(next, &[state.into()], "is.run")?
            .try_as_basic_value()
            .unwrap_basic()
            .into_int_value();
        let zero = int.const_zero();
        let is_run = builder.build_int_compare(IntPredicate::NE, is_run, zero, "is.run")?;
        builder.build_conditional_branch(is_run, done, begin)?;

        builder.position_at_end(begin);
        let (own, further) = parameters[1..].split_at(parameters.len() - 1 - extra.len());
        let mut operands = GroupOperands::new(program, self.models, members, &builder, own)?;
        operands.take_shapes(program, graph)?;
        operands.static_shared_bytes = kernel.static_shared_bytes;
        let mut holds = context.bool_type().const_all_ones();
        let mut slots = Vec::new();
        let mut further = further.iter();
        for parameter in &kernel.parameters {
            slots.push(match parameter {
                FusedParameter::Argument { launch, argument }
                | FusedParameter::Field {
                    launch, argument, ..
                } => {
                    let begin = parameter.begin_in_argument();
                    self.operand_place(&builder, &operands, (*launch, *argument, begin))?
                }
                FusedParameter::LoopRows => {
                    let pointer = context.ptr_type(AddressSpace::default());
                    builder.build_alloca(pointer, "rows")?
                }
                FusedParameter::LoopValue(value) => {
                    let passed = further.next();
                    let passed = passed
                        .ok_or_else(|| CodegenError::Inconsistent("a value is missing".into()))?;
                    if let LoopValue::Source(node) = value {
                        let is_aligned =
                            self.is_aligned(&builder, *passed, (of_loop.test, *node))?;
                        holds = builder.build_and(holds, is_aligned, "holds")?;
                    }
                    self.value_slot(&builder, *passed, value)?
                }
                _ => {
                    // Nothing of these is kept in a frame.
                    let pointer = context.ptr_type(AddressSpace::default());
                    let none = pointer.const_null();
                    self.argument(&builder, launcher, none, &operands, parameter, &mut holds)?
                }
            });
        }
        let first = members[0].launch.id;
        let mut guards = vec![Guard::NotCapturing { launch: first }];
        let launches = members.iter().filter(|member| !member.is_operation());
        guards.extend(launches.map(|member| Guard::ConfigurationValid {
            launch: member.launch.id,
        }));
        let asked = |guard: &&Guard| !matches!(guard, Guard::Resident { .. });
        let period = of_loop.tested.places().period().unwrap_or(1);
        for guard in group.guards.iter().filter(asked) {
            for number in 0..period {
                let turned = of_loop.tested.turned(guard, number);
                if !guards.contains(&turned) {
                    guards.push(turned);
                }
            }
        }
        let guard = emit_guards(context, &program.host, &builder, &operands, &guards)?;
        let guard = builder.build_and(guard, holds, "run.ahead")?;
        builder.build_conditional_branch(guard, room, separate)?;

        builder.position_at_end(room);
        let key = key_of(program, kernel)?;
        let ways = [ask, fused, separate];
        let shared = ask_for_room(program, &builder, &operands, (key, group), ways)?;
        builder.position_at_end(fused);
        let resident = resident_grid(
            program,
            &builder,
            &operands,
            (graph, group),
            (&[key], shared),
        )?;
        let (grid, fits) = resident
            .ok_or_else(|| CodegenError::Inconsistent("nobody asks how many blocks fit".into()))?;
        builder.build_conditional_branch(fits, run, separate)?;

        builder.position_at_end(run);
        let side = |fused: bool| match launcher.announce_side {
            true => announce_side(program, &builder, &kernel.name, self.first_site(), fused),
            false => Ok(()),
        };
        side(true)?;
        issue_waiting(program, &builder)?;
        let of_group = int.const_int(1 << 31, false);
        let site = builder.build_or(self.first_site(), of_group, "site")?;
        announce_site(program, &builder, launcher, site)?;
        let shape = group.leader_of_blocks(graph);
        let configuration =
            &operands.parameters[operands.starts[shape]..][..OPERANDS_BEFORE_ARGUMENTS];
        let array = address_array(program, &builder, &slots)?;
        let rows = kernel.parameters.iter();
        let rows = rows
            .clone()
            .position(|each| *each == FusedParameter::LoopRows);
        let number = |value: u64| int.const_int(value, false);
        let bytes = loop_row_bytes(of_loop.test.copies.iter().map(|copy| copy.bytes));
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![
            state.into(),
            key.into(),
            grid[0].into(),
            grid[1].into(),
            configuration[2].into(),
            configuration[3].into(),
            array.into(),
            number(rows.unwrap_or_default() as u64).into(),
            shared.into(),
            configuration[SHARED_BYTES + 1].into(),
            number(bytes.into()).into(),
            number(of_loop.tested.most_iterations.into()).into(),
        ];
        builder.build_call(library_function(program, RUN)?, &arguments, "")?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(separate);
        side(false)?;
        builder.build_unconditional_branch(done)?;
        builder.position_at_end(done);
        builder.build_return(None)?;
        Ok(function)
    }

    /// The address of an argument of a member, so many bytes into it.
    fn operand_place(
        &self,
        builder: &Builder<'ctx>,
        operands: &GroupOperands<'_, 'ctx>,
        (launch, argument, begin): (LaunchId, usize, u32),
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let missing = || CodegenError::Inconsistent("missing argument".into());
        let index = OPERANDS_BEFORE_ARGUMENTS + argument;
        let at = operands.position(launch, index).ok_or_else(missing)?;
        let mut members = self.members.iter();
        let member = members.find(|member| member.launch.id == launch);
        let in_memory = member.ok_or_else(missing)?.in_memory.get(index);
        let in_memory = in_memory.is_some_and(Option::is_some);
        let slot = operand_slot(builder, operands.parameters[at], in_memory)?;
        if begin == 0 {
            return Ok(slot);
        }
        let context = self.program.context;
        let offset = context.i64_type().const_int(begin.into(), false);
        Ok(llvm::element_address(
            builder,
            context.i8_type(),
            slot,
            offset,
            "field",
        )?)
    }

    /// Whether what a copy reads can be read in the pieces that the kernel reads.
    fn is_aligned(
        &self,
        builder: &Builder<'ctx>,
        source: BasicValueEnum<'ctx>,
        (test, node): (&LoopTest, NodeId),
    ) -> Result<inkwell::values::IntValue<'ctx>, CodegenError> {
        let long = self.program.context.i64_type();
        let copy = test.copies.iter().find(|copy| copy.node == node);
        let piece = copy.map_or(8, |copy| piece_bytes(copy.bytes));
        let address = builder.build_ptr_to_int(source.into_pointer_value(), long, "address")?;
        let rest = long.const_int(u64::from(piece) - 1, false);
        let rest = builder.build_and(address, rest, "rest")?;
        let zero = long.const_zero();
        Ok(builder.build_int_compare(IntPredicate::EQ, rest, zero, "aligned")?)
    }

    /// A value in memory as the kernel takes it.
    fn value_slot(
        &self,
        builder: &Builder<'ctx>,
        value: BasicValueEnum<'ctx>,
        which: &LoopValue,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let wide = match which {
            LoopValue::Scalar(_, ty @ ScalarType::Integer(_)) => Some(8 * ty.bytes()),
            _ => None,
        };
        let value = match (wide.and_then(std::num::NonZeroU32::new), value) {
            (Some(bits), BasicValueEnum::IntValue(number)) => {
                let context = self.program.context;
                let to = context
                    .custom_width_int_type(bits)
                    .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
                builder
                    .build_int_z_extend_or_bit_cast(number, to, "wide")?
                    .into()
            }
            (_, value) => value,
        };
        operand_slot(builder, value, false)
    }

    /// `i32 sirius.skip.G.I(ptr state, operands)` in place of a launch: it has been made, or is.
    fn skip(
        &self,
        member: &MemberCall<'_, 'ctx>,
        index: usize,
        state: PointerValue<'ctx>,
    ) -> Result<(), CodegenError> {
        let program = self.program;
        let context = program.context;
        let pointer = context.ptr_type(AddressSpace::default());
        let name = format!("sirius.skip.{}.{index}", self.number);
        let function = add_operand_function(program, &name, &[pointer.into()], member);
        let builder = context.create_builder();
        let parameters = function.get_params();
        let [skipped, made] = self.by_state(function, &builder, ["skipped", "made"])?;
        builder.position_at_end(skipped);
        builder.build_return(Some(&context.i32_type().const_zero()))?;
        builder.position_at_end(made);
        let status = member.build_call(&builder, &passed(&parameters[1..], member))?;
        builder.build_return(Some(&status))?;
        builder.position_before(&member.call);
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![state.into()];
        arguments.extend(member.passed());
        let status = builder
            .build_call(function, &arguments, "sirius.status")?
            .try_as_basic_value()
            .unwrap_basic();
        replace_status(member.call, status.into_int_value());
        Ok(())
    }

    /// Branches by whether the iteration has been run.
    fn by_state(
        &self,
        function: FunctionValue<'ctx>,
        builder: &Builder<'ctx>,
        names: [&str; 2],
    ) -> Result<[BasicBlock<'ctx>; 2], CodegenError> {
        let context = self.program.context;
        let int = context.i32_type();
        let entry = context.append_basic_block(function, "entry");
        let ways = names.map(|name| context.append_basic_block(function, name));
        builder.position_at_end(entry);
        let state = function.get_params()[0].into_pointer_value();
        let live = builder.build_load(int, state, "live")?.into_int_value();
        let zero = int.const_zero();
        let live = builder.build_int_compare(IntPredicate::NE, live, zero, "live")?;
        builder.build_conditional_branch(live, ways[0], ways[1])?;
        Ok(ways)
    }

    /// A copy to the host that brings what the kernel kept for it. The first of those that ran ahead is made besides, since the
    /// host may rely on what else it waits for.
    fn tell(
        &self,
        call: InstructionValue<'ctx>,
        state: PointerValue<'ctx>,
        (row_bytes, offset, bytes): (u32, u32, u32),
    ) -> Result<(), CodegenError> {
        let broken = || CodegenError::Inconsistent("a copy of a loop is no call".into());
        let program = self.program;
        let context = program.context;
        let (int, long) = (context.i32_type(), context.i64_type());
        let pointer = context.ptr_type(AddressSpace::default());
        let site = CallSiteValue::try_from(call).map_err(|()| broken())?;
        let original = site.get_called_fn_value().ok_or_else(broken)?;
        let own = operation_call(&original.get_name().to_string_lossy());
        let waits = own.is_none_or(|own| own.stream.is_none());
        let types = original.get_type().get_param_types();
        let mut types: Vec<BasicMetadataTypeEnum<'ctx>> = types.to_vec();
        types.insert(0, pointer.into());
        let name = format!("sirius.told.{}.{offset}", self.number);
        let type_ = int.fn_type(&types, false);
        let function = program
            .host
            .add_function(&name, type_, Some(Linkage::Internal));
        let builder = context.create_builder();
        let parameters = function.get_params();
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = parameters[1..]
            .iter()
            .map(|value| (*value).into())
            .collect();
        let [told, made] = self.by_state(function, &builder, ["told", "made"])?;
        builder.position_at_end(made);
        let status = |builder: &Builder<'ctx>| -> Result<_, CodegenError> {
            let status = builder.build_call(original, &arguments, "status")?;
            Ok(status.try_as_basic_value().unwrap_basic().into_int_value())
        };
        builder.build_return(Some(&status(&builder)?))?;
        builder.position_at_end(told);
        let [first, failed, bring] =
            ["first", "failed", "bring"].map(|name| context.append_basic_block(function, name));
        let state_of = parameters[0].into_pointer_value();
        let place = long.const_int(NUMBER_OFFSET_BYTES, false);
        let number = llvm::element_address(&builder, context.i8_type(), state_of, place, "number")?;
        let number = builder.build_load(int, number, "number")?.into_int_value();
        let zero = int.const_zero();
        let is_first = builder.build_int_compare(IntPredicate::EQ, number, zero, "is.first")?;
        let besides = if waits { first } else { bring };
        builder.build_conditional_branch(is_first, besides, bring)?;
        builder.position_at_end(first);
        let status = status(&builder)?;
        let fails = builder.build_int_compare(IntPredicate::NE, status, zero, "fails")?;
        builder.build_conditional_branch(fails, failed, bring)?;
        builder.position_at_end(failed);
        builder.build_return(Some(&status))?;
        builder.position_at_end(bring);
        let row = library_function(program, ROW)?;
        let numbers = [row_bytes, offset].map(|value| int.const_int(value.into(), false));
        let row = builder
            .build_call(
                row,
                &[state_of.into(), numbers[0].into(), numbers[1].into()],
                "row",
            )?
            .try_as_basic_value()
            .unwrap_basic()
            .into_pointer_value();
        let target = parameters[1].into_pointer_value();
        let bytes = long.const_int(bytes.into(), false);
        builder
            .build_memcpy(target, 1, row, 1, bytes)
            .map_err(|error| CodegenError::Inconsistent(error.to_string()))?;
        builder.build_return(Some(&zero))?;

        builder.position_before(&call);
        let mut arguments: Vec<BasicMetadataValueEnum<'ctx>> = vec![state.into()];
        for index in 0..original.count_params() {
            arguments.push(operand(call, index).ok_or_else(broken)?.into());
        }
        let status = builder
            .build_call(function, &arguments, "sirius.status")?
            .try_as_basic_value()
            .unwrap_basic();
        replace_status(call, status.into_int_value());
        Ok(())
    }
}

/// Which operand of a copy says where it reads.
const SOURCE: u32 = 1;
/// Where the state has the number of the iteration.
const NUMBER_OFFSET_BYTES: u64 = 8;

fn library_function<'ctx>(
    program: &Program<'ctx>,
    name: &str,
) -> Result<FunctionValue<'ctx>, CodegenError> {
    let function = program.host.get_function(name);
    function.ok_or_else(|| CodegenError::Inconsistent(format!("no function {name}")))
}

fn operand<'ctx>(call: InstructionValue<'ctx>, index: u32) -> Option<BasicValueEnum<'ctx>> {
    call.get_operand(index)?.value()
}

fn value_of(instruction: InstructionValue<'_>) -> Option<BasicValueEnum<'_>> {
    BasicValueEnum::try_from(instruction.as_any_value_enum()).ok()
}

fn type_of<'ctx>(value: &BasicMetadataValueEnum<'ctx>) -> Option<BasicMetadataTypeEnum<'ctx>> {
    let value = BasicValueEnum::try_from(*value).ok()?;
    Some(value.get_type().into())
}

/// A value in front of an instruction: where it is computed elsewhere, it is computed there as well, as the launch graph says
/// that it can be.
fn brought<'ctx>(
    builder: &Builder<'ctx>,
    value: BasicValueEnum<'ctx>,
    place: InstructionValue<'ctx>,
    flow: &HostFlow<'ctx>,
) -> Result<BasicValueEnum<'ctx>, CodegenError> {
    let Some(instruction) = instruction_of(value) else {
        return Ok(value);
    };
    if comes_before(instruction, place, flow) {
        return Ok(value);
    }
    let broken = || CodegenError::Inconsistent("a loop takes what is not there yet".into());
    let computed = !matches!(
        instruction.get_opcode(),
        InstructionOpcode::Call
            | InstructionOpcode::Invoke
            | InstructionOpcode::Phi
            | InstructionOpcode::Alloca
            | InstructionOpcode::Store
    );
    if !computed {
        return Err(broken());
    }
    let copy = llvm::copied(instruction);
    for index in 0..instruction.get_num_operands() {
        if let Some(operand) = operand(instruction, index) {
            let operand = brought(builder, operand, place, flow)?;
            copy.set_operand(index, operand);
        }
    }
    builder.position_before(&place);
    builder.insert_instruction(&copy, None);
    value_of(copy).ok_or_else(broken)
}

fn is_of_type(value: &BasicValueEnum<'_>, ty: ScalarType) -> bool {
    match (value, ty) {
        (BasicValueEnum::IntValue(value), ScalarType::Integer(bits)) => {
            value.get_type().get_bit_width() == bits
        }
        (BasicValueEnum::FloatValue(value), ScalarType::Float(double)) => {
            value.get_type().get_bit_width() == 32 << u32::from(double)
        }
        _ => false,
    }
}

fn instruction_of(value: BasicValueEnum<'_>) -> Option<InstructionValue<'_>> {
    match value {
        BasicValueEnum::ArrayValue(value) => value.as_instruction(),
        BasicValueEnum::IntValue(value) => value.as_instruction(),
        BasicValueEnum::FloatValue(value) => value.as_instruction(),
        BasicValueEnum::PointerValue(value) => value.as_instruction(),
        BasicValueEnum::StructValue(value) => value.as_instruction(),
        BasicValueEnum::VectorValue(value) => value.as_instruction(),
        BasicValueEnum::ScalableVectorValue(value) => value.as_instruction(),
    }
}

/// Whether an instruction is there in front of another one.
fn comes_before<'ctx>(
    instruction: InstructionValue<'ctx>,
    place: InstructionValue<'ctx>,
    flow: &HostFlow<'ctx>,
) -> bool {
    let (Some(own), Some(block)) = (instruction.get_parent(), place.get_parent()) else {
        return false;
    };
    if own != block {
        return flow.dominates(own, block);
    }
    let mut next = instruction.get_next_instruction();
    while let Some(instruction) = next {
        if instruction == place {
            return true;
        }
        next = instruction.get_next_instruction();
    }
    false
}
