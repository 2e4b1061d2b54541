//! The host side of batches: statements of a region hand their launches to a queue, and every way out of
//! the region issues what waits there.
//!
//! Invariants. A launch waits only behind its guards, with the ranges that it touches; whatever else
//! launches something issues what waits first, so that the queue never lets anything overtake.
//! What stands between a waiting launch and the end of its region was judged by the verifier, from
//! the same blocks as here.
//!
//! The queue may give a range that a launch replaces other memory (`queue.c` says when). A group that is only
//! right so is launched by the queue or not at all: then its members run, unfused. Of each range the queue
//! is told which argument of the record leads there, where that is one pointer of kernels to which an
//! address is nothing but a place to load from and store to.

mod region;

use super::fuse::SLOTS;
use super::group::{GroupOperands, add_operand_function, passed};
use super::guard::{emit_columns, emit_guards, emit_ranges};
use super::host::{MemberCall, launch_calls, replace_status};
use super::host_library::HostLibrary;
use super::launch_call::{
    Launcher, OPERANDS_BEFORE_ARGUMENTS, SHARED_BYTES, address_array, operand_slot,
};
use super::shared_functions::SharedFunctions;
use super::{
    BatchKernel, BatchedSite, CodegenError, FusedParameter, HeterogeneousKernel, PhasesKernel,
};
use crate::build::{Boundary, Build, Device};
use crate::dependence::RangeTouch;
use crate::kernel::KernelModel;
use crate::launch::{Launch, LaunchGraph, LaunchId, NodeKind, Operand};
use crate::llvm;
use crate::program::Program;
use crate::schedule::{BatchedStatement, FusionPlan, blocks_at_once};
use crate::tools::Toolchain;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Linkage;
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, IntValue, PointerValue};
use std::collections::HashMap;
use std::path::Path;

/// Puts the queue into the host module.
///
/// # Errors
/// When clang fails or what it makes does not fit: our bugs.
pub fn link_queue(
    program: &Program<'_>,
    build: &Build,
    toolchain: &Toolchain,
    launcher: &Launcher,
    folder: &Path,
) -> Result<(), CodegenError> {
    let mut macros = vec![
        format!("SIRIUS_LAUNCH={}", launcher.launch_function),
        format!("SIRIUS_LAUNCH_TOGETHER={}", launcher.cooperative_launch),
        format!("SIRIUS_SLOTS={SLOTS}"),
    ];
    // Copies and memory for versions belong to the stream that the launches are in.
    let suffix = match launcher.launch_function.ends_with("_ptsz") {
        true => "_ptsz",
        false => "",
    };
    for (name, function) in [
        ("WAIT", "cudaStreamSynchronize"),
        ("COPY", "cudaMemcpyAsync"),
        ("ALLOCATE", "cudaMallocAsync"),
        ("FREE", "cudaFreeAsync"),
        ("IS_CAPTURING", "cudaStreamIsCapturing"),
    ] {
        macros.push(format!("SIRIUS_{name}={function}{suffix}"));
    }
    if let Some(function) = launcher.announce_site {
        macros.push(format!("SIRIUS_ANNOUNCE={function}"));
    }
    if build.device == Device::Cpu {
        macros.push("SIRIUS_CPU_DEVICE".to_owned());
    }
    // What a launch takes is noted for one site.
    if build.sirius.boundaries.contains(&Boundary::Graph) && !build.sirius.tuning.timed {
        macros.push("SIRIUS_GRAPHS".to_owned());
        for (name, function) in [
            ("GRAPH_LAUNCH", "cudaGraphLaunch"),
            ("STREAM_NUMBER", "cudaStreamGetId"),
            ("STREAM_PRIORITY", "cudaStreamGetPriority"),
        ] {
            macros.push(format!("SIRIUS_{name}={function}{suffix}"));
        }
    }
    // As above.
    if build.sirius.boundaries.contains(&Boundary::GridBarrier) && !build.sirius.tuning.timed {
        macros.push("SIRIUS_PHASES".to_owned());
    }
    let queue = HostLibrary {
        name: "sirius_batchs",
        source: QUEUE,
        macros,
        functions: &[DRAIN, SUBMIT, SUBMIT_PERSISTENT, OWE_WAIT],
    };
    queue.link_into(program, (build, toolchain), folder)
}

const QUEUE: &str = concat!(
    include_str!("records.c"),
    include_str!("graphs.c"),
    include_str!("phases.c"),
    include_str!("queue.c")
);
const DRAIN: &str = "sirius_batch_drain";
const SUBMIT: &str = "sirius_batch_submit";
const SUBMIT_PERSISTENT: &str = "sirius_persistent_submit";
const OWE_WAIT: &str = "sirius_batch_owe_wait";
/// What it returns when it could not do what a launch cannot be without.
const NOT_LAUNCHED: i32 = -1;
/// The first word of a region whose launches wait for graphs alone.
const WAITS_FOR_GRAPHS: u64 = 2;
/// In place of an offset in a row, of an argument that does not vary.
const NOT_VARYING: u32 = u32::MAX;

/// Issues what waits, in programs where something may.
pub(super) fn issue_waiting<'ctx>(
    program: &Program<'ctx>,
    builder: &Builder<'ctx>,
) -> Result<(), CodegenError> {
    if let Some(drain) = program.host.get_function(DRAIN) {
        builder.build_call(drain, &[], "")?;
    }
    Ok(())
}

/// The host symbol that stands for a kernel of several launches.
pub(super) fn batch_key(kernel: &BatchKernel) -> String {
    format!("sirius.batch.key.{}", kernel.name)
}

/// The host symbol that stands for a kernel of several codes.
pub(super) fn heterogeneous_key(heterogeneous: &HeterogeneousKernel) -> String {
    format!("sirius.batch.key.{}", heterogeneous.name)
}

/// The host symbol that stands for a kernel whose phases are batches.
pub(super) fn phases_key(phases: &PhasesKernel) -> String {
    format!("sirius.batch.key.{}", phases.name)
}

/// A statement of the plan with the code that runs several of its launches.
pub(super) struct Waiting<'a> {
    region: usize,
    /// Its region waits for graphs alone.
    for_graphs: bool,
    statement: &'a BatchedStatement,
    site: &'a BatchedSite,
    kernel: &'a BatchKernel,
}

impl<'a> Waiting<'a> {
    /// All statements that have code.
    pub(super) fn all(plan: &'a FusionPlan, kernels: &'a [BatchKernel]) -> Vec<Self> {
        let mut sites = HashMap::new();
        for kernel in kernels {
            let own = kernel.statements.iter();
            sites.extend(own.map(|site| (site.launch, (kernel, site))));
        }
        let mut waiting = Vec::new();
        for (region, of_plan) in plan.batched_regions.iter().enumerate() {
            for statement in &of_plan.statements {
                let known = sites.get(&statement.launch);
                waiting.extend(known.map(|(kernel, site)| Self {
                    region,
                    for_graphs: of_plan.for_graphs,
                    statement,
                    site,
                    kernel,
                }));
            }
        }
        waiting
    }

    /// What a record of its launches holds, in order.
    pub(super) fn parameters(&self) -> &[FusedParameter] {
        &self.site.parameters
    }

    /// The symbol of the kernel in which its launches follow each other, if they do.
    pub(super) fn persistent_key<'ctx>(
        &self,
        program: &Program<'ctx>,
    ) -> Option<BasicValueEnum<'ctx>> {
        self.kernel.persistent.as_ref()?;
        let key = program.host.get_global(&batch_key(self.kernel))?;
        Some(key.as_pointer_value().into())
    }

    /// The launch at whose place it is issued.
    pub(super) fn launch(&self) -> LaunchId {
        self.statement.launch
    }

    /// Hands a launch of `single` to the queue and returns its status, where its guards hold. The
    /// builder then stands where they do not.
    #[allow(clippy::too_many_arguments, reason = "all that a launch is made of")]
    pub(super) fn submit<'ctx>(
        &self,
        program: &Program<'ctx>,
        builder: &Builder<'ctx>,
        operands: &GroupOperands<'_, 'ctx>,
        single: PointerValue<'ctx>,
        configuration: &[BasicValueEnum<'ctx>],
        slots: &[PointerValue<'ctx>],
        site: IntValue<'ctx>,
    ) -> Result<(), CodegenError> {
        let context = program.context;
        let long = context.i64_type();
        let broken = || CodegenError::Inconsistent("a launch outside of a function".into());
        let block = builder.get_insert_block().ok_or_else(broken)?;
        let function = block.get_parent().ok_or_else(broken)?;
        let [wait, direct] =
            ["wait", "direct"].map(|name| context.append_basic_block(function, name));
        let host = &program.host;
        let holds = emit_guards(context, host, builder, operands, &self.statement.guards)?;
        let touches = &self.statement.touches;
        let ranges: Vec<_> = touches.iter().map(|touch| &touch.range).collect();
        let (ends, exact) = emit_ranges(context, host, builder, operands, &ranges)?;
        let may_wait = builder.build_and(holds, exact, "may.wait")?;
        // Nobody asks for more on behalf of the kernel that runs several at once.
        let fits = operands.fits_without_asking(builder, configuration[SHARED_BYTES])?;
        let may_wait = builder.build_and(may_wait, fits, "may.wait")?;
        builder.build_conditional_branch(may_wait, wait, direct)?;

        builder.position_at_end(wait);
        if self.statement.persistent.is_some() {
            let arguments = address_array(program, builder, slots)?;
            let mut passed: Vec<BasicMetadataValueEnum<'_>> =
                vec![self.descriptor(program, single)?.into()];
            let configuration = configuration.iter();
            passed.extend(configuration.map(|value| BasicMetadataValueEnum::from(*value)));
            passed.extend([BasicMetadataValueEnum::from(arguments), site.into()]);
            let submit = host
                .get_function(SUBMIT_PERSISTENT)
                .ok_or_else(|| CodegenError::Inconsistent("no queue".into()))?;
            let status = builder.build_call(submit, &passed, "status")?;
            builder.build_return(Some(&status.try_as_basic_value().unwrap_basic()))?;
            builder.position_at_end(direct);
            return Ok(());
        }
        let count = u32::try_from(touches.len()).map_err(|_| broken())?;
        let array = builder.build_alloca(long.array_type(RANGE_FIELDS * count.max(1)), "ranges")?;
        for (index, ([low, high], touch)) in (0_u64..).zip(ends.iter().zip(touches)) {
            let replaced = self.statement.replaced.contains(&(index as usize));
            let how = u64::from(touch.writes) + 2 * u64::from(replaced);
            let (argument, segment) = self.lead(touch);
            let columns = touch.columns.as_ref().filter(|_| !replaced);
            let [pitch, column, column_bytes] = match columns {
                Some(columns) => {
                    emit_columns(context, host, builder, operands, (&touch.range, columns))?
                }
                None => [long.const_zero(); 3],
            };
            let fields: [_; RANGE_FIELDS as usize] = [
                *low,
                *high,
                long.const_int(how, false),
                long.const_int(argument.cast_unsigned(), true),
                long.const_int(segment, false),
                pitch,
                column,
                column_bytes,
            ];
            for (field, value) in (0_u64..).zip(fields) {
                let at = long.const_int(u64::from(RANGE_FIELDS) * index + field, false);
                let place = llvm::element_address(builder, long, array, at, "range")?;
                builder.build_store(place, value)?;
            }
        }
        let arguments = address_array(program, builder, slots)?;
        let submit = host
            .get_function(SUBMIT)
            .ok_or_else(|| CodegenError::Inconsistent("no queue".into()))?;
        let mut passed: Vec<BasicMetadataValueEnum<'_>> =
            vec![self.descriptor(program, single)?.into()];
        passed.extend(
            configuration
                .iter()
                .map(|value| BasicMetadataValueEnum::from(*value)),
        );
        let int = context.i32_type();
        let number = int.const_int(u64::from(count), false);
        let must = int.const_int(u64::from(self.statement.must_replace), false);
        passed.extend([
            BasicMetadataValueEnum::from(arguments),
            array.into(),
            number.into(),
            site.into(),
            self.patience(program).into(),
            must.into(),
        ]);
        let status = builder
            .build_call(submit, &passed, "status")?
            .try_as_basic_value()
            .unwrap_basic();
        if self.statement.must_replace {
            let waits = context.append_basic_block(function, "waits");
            let none = int.const_int(NOT_LAUNCHED.cast_unsigned().into(), false);
            let status = status.into_int_value();
            let done = builder.build_int_compare(IntPredicate::NE, status, none, "done")?;
            builder.build_conditional_branch(done, waits, direct)?;
            builder.position_at_end(waits);
        }
        builder.build_return(Some(&status))?;
        builder.position_at_end(direct);
        Ok(())
    }

    /// The argument of a record that leads to a range and may lead elsewhere, else -1; and the number of the
    /// segment that touches the range.
    fn lead(&self, touch: &RangeTouch) -> (i64, u64) {
        let members = self.site.members.iter();
        let mut own = members.filter(|member| member.launch == touch.range.launch);
        let Some(member) = own.next() else {
            return (-1, 0);
        };
        let argument = match touch.range.operand {
            Operand::Argument {
                argument,
                offset_bytes: 0,
                bits: 64,
                ..
            } => member.pointers.get(argument).copied().flatten(),
            _ => None,
        };
        let argument = argument.and_then(|argument| i64::try_from(argument).ok());
        (argument.unwrap_or(-1), member.segment as u64)
    }

    /// Whether a launch of it is right only where the queue takes it.
    pub(super) fn must_replace(&self) -> bool {
        self.statement.must_replace
    }

    /// The word of its region that says whether waiting is worth while, and for what.
    fn patience<'ctx>(&self, program: &Program<'ctx>) -> PointerValue<'ctx> {
        let name = format!("sirius.batch.patience.{}", self.region);
        let known = program.host.get_global(&name).unwrap_or_else(|| {
            let int = program.context.i32_type();
            let word = program.host.add_global(int, None, &name);
            word.set_linkage(Linkage::Internal);
            let first = match self.for_graphs {
                true => int.const_int(WAITS_FOR_GRAPHS, false),
                false => int.const_zero(),
            };
            word.set_initializer(&first);
            word
        });
        known.as_pointer_value()
    }

    /// What `struct sirius_batch_kernel` of the queue is told of the code.
    fn descriptor<'ctx>(
        &self,
        program: &Program<'ctx>,
        single: PointerValue<'ctx>,
    ) -> Result<PointerValue<'ctx>, CodegenError> {
        let (context, host) = (program.context, &program.host);
        let name = format!("sirius.batch.kernel.{}", self.kernel.name);
        if let Some(known) = host.get_global(&name) {
            return Ok(known.as_pointer_value());
        }
        let int = context.i32_type();
        let number = |value: u32| int.const_int(u64::from(value), false);
        let table = |values: &[u32]| {
            let values: Vec<_> = values.iter().map(|value| number(*value)).collect();
            let table = int.const_array(&values);
            let global = host.add_global(table.get_type(), None, "sirius.batch.table");
            global.set_linkage(Linkage::Internal);
            global.set_constant(true);
            global.set_initializer(&table);
            global.as_pointer_value()
        };
        let single = match self.kernel.single {
            true => single,
            false => single.get_type().const_null(),
        };
        let key = match self.kernel.is_built() {
            true => host
                .get_global(&batch_key(self.kernel))
                .ok_or_else(|| CodegenError::Inconsistent("a batch's kernel has no key".into()))?
                .as_pointer_value(),
            false => context
                .ptr_type(inkwell::AddressSpace::default())
                .const_null(),
        };
        let arguments = u32::try_from(self.site.parameters.len())
            .map_err(|_| CodegenError::Inconsistent("too many arguments".into()))?;
        let pieces = u32::try_from(self.kernel.pieces.len())
            .map_err(|_| CodegenError::Inconsistent("too many pieces of a record".into()))?;
        let of_pieces = self.kernel.pieces.iter();
        let of_pieces = of_pieces.flat_map(|piece| [piece.from_bytes, piece.to_bytes, piece.bytes]);
        let of_pieces: Vec<u32> = of_pieces.collect();
        let none = single.get_type().const_null();
        let (batch, persistent) = match &self.kernel.persistent {
            None => (key, none),
            Some(rows) => {
                let varying = rows.offsets_bytes.iter();
                let varying: Vec<u32> = varying
                    .map(|offset| offset.unwrap_or(NOT_VARYING))
                    .collect();
                let sources = rows.sources.iter().flatten();
                let sources: Vec<u32> = sources
                    .map(|source| u32::try_from(*source).unwrap_or(u32::MAX))
                    .collect();
                let period = u32::try_from(rows.sources.len()).unwrap_or(1);
                let value = context.const_struct(
                    &[
                        key.into(),
                        number(self.kernel.capacity).into(),
                        number(rows.row_bytes).into(),
                        number(rows.first_offset_bytes).into(),
                        number(period).into(),
                        number(rows.cooperative.into()).into(),
                        table(&varying).into(),
                        table(&sources).into(),
                    ],
                    false,
                );
                let name = format!("sirius.persistent.{}", self.kernel.name);
                let global = host.add_global(value.get_type(), None, &name);
                global.set_linkage(Linkage::Internal);
                global.set_constant(true);
                global.set_initializer(&value);
                (none, global.as_pointer_value())
            }
        };
        let (heterogeneous, code) = match &self.kernel.heterogeneous {
            Some(heterogeneous) => (
                heterogeneous_descriptor(program, heterogeneous)?,
                heterogeneous.code,
            ),
            None => (single.get_type().const_null(), 0),
        };
        let (phases, phase_code) = match &self.kernel.phases {
            Some(phases) => (phases_descriptor(program, phases)?, phases.code),
            None => (single.get_type().const_null(), 0),
        };
        let value = context.const_struct(
            &[
                single.into(),
                batch.into(),
                number(self.kernel.capacity).into(),
                number(self.kernel.record_bytes).into(),
                number(arguments).into(),
                number(self.kernel.arguments_bytes).into(),
                table(&self.kernel.offsets_bytes).into(),
                table(&self.kernel.sizes_bytes).into(),
                number(pieces).into(),
                table(&of_pieces).into(),
                number(self.kernel.records_offset_bytes).into(),
                number(0).into(),
                heterogeneous.into(),
                number(code).into(),
                persistent.into(),
                phases.into(),
                number(phase_code).into(),
            ],
            false,
        );
        let global = host.add_global(value.get_type(), None, &name);
        global.set_linkage(Linkage::Internal);
        global.set_initializer(&value);
        Ok(global.as_pointer_value())
    }
}

/// The fields of the queue's `struct sirius_batch_range`.
const RANGE_FIELDS: u32 = 8;

/// What `struct sirius_heterogeneous` of the queue is told of a kernel of several codes.
fn heterogeneous_descriptor<'ctx>(
    program: &Program<'ctx>,
    heterogeneous: &HeterogeneousKernel,
) -> Result<PointerValue<'ctx>, CodegenError> {
    let (context, host) = (program.context, &program.host);
    let name = format!("sirius.batch.heterogeneous.{}", heterogeneous.name);
    if let Some(known) = host.get_global(&name) {
        return Ok(known.as_pointer_value());
    }
    let key = host
        .get_global(&heterogeneous_key(heterogeneous))
        .ok_or_else(|| CodegenError::Inconsistent("a heterogeneous kernel has no key".into()))?;
    let int = context.i32_type();
    let bytes = u32::try_from(heterogeneous.static_shared_bytes).unwrap_or(u32::MAX);
    let blocks = blocks_at_once(bytes).map(|blocks| int.const_int(u64::from(blocks), false));
    let value = context.const_struct(
        &[
            key.as_pointer_value().into(),
            int.const_array(&blocks).into(),
            int.const_zero().into(),
        ],
        false,
    );
    let global = host.add_global(value.get_type(), None, &name);
    global.set_linkage(Linkage::Internal);
    global.set_initializer(&value);
    Ok(global.as_pointer_value())
}

/// What `struct sirius_phases` of the queue is told of a kernel whose phases are batches.
fn phases_descriptor<'ctx>(
    program: &Program<'ctx>,
    phases: &PhasesKernel,
) -> Result<PointerValue<'ctx>, CodegenError> {
    let (context, host) = (program.context, &program.host);
    let name = format!("sirius.batch.phases.{}", phases.name);
    if let Some(known) = host.get_global(&name) {
        return Ok(known.as_pointer_value());
    }
    let key = host
        .get_global(&phases_key(phases))
        .ok_or_else(|| CodegenError::Inconsistent("a kernel of phases has no key".into()))?;
    let number = |value: u64| context.i32_type().const_int(value, false).into();
    let key = key.as_pointer_value().into();
    let rounds = number(phases.rounds.into());
    let value = context.const_struct(&[key, rounds, number(phases.dynamic_shared_bytes)], false);
    let global = host.add_global(value.get_type(), None, &name);
    global.set_linkage(Linkage::Internal);
    global.set_constant(true);
    global.set_initializer(&value);
    Ok(global.as_pointer_value())
}

/// Puts the ends of the plan's regions into the host module, and what hands the launches of its
/// statements to the queue; groups do that themselves.
///
/// # Errors
/// When the plan and the host module do not fit together: our bug.
pub(super) fn rewrite_regions(
    program: &Program<'_>,
    graph: &LaunchGraph,
    models: &[KernelModel],
    plan: &FusionPlan,
    waiting: &[Waiting<'_>],
) -> Result<(), CodegenError> {
    let calls = launch_calls(program);
    let queue = |name: &str| {
        let function = program.host.get_function(name);
        function.ok_or_else(|| CodegenError::Inconsistent("no queue".into()))
    };
    let queue = region::Queue {
        drain: queue(DRAIN)?,
        owe_wait: queue(OWE_WAIT)?,
    };
    let mut flows = region::Flows::new();
    let mut shared = SharedFunctions::default();
    for (index, region) in plan.batched_regions.iter().enumerate() {
        let of_region = waiting.iter().filter(|each| each.region == index);
        let places = of_region
            .map(|each| calls.get(&each.launch()).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| CodegenError::Inconsistent("a statement without a call".into()))?;
        region::end_region(
            program,
            &mut flows,
            &places,
            region.outside_loops,
            queue,
            &mut shared,
        )?;
        region::drain_before(program, graph, region, &places, queue)?;
    }
    let launches: HashMap<LaunchId, &Launch> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, launch)),
            _ => None,
        })
        .collect();
    for each in waiting.iter().filter(|each| each.site.group.is_none()) {
        let missing = || CodegenError::Inconsistent(format!("no launch {}", each.launch().0));
        let call = *calls.get(&each.launch()).ok_or_else(missing)?;
        let launch = *launches.get(&each.launch()).ok_or_else(missing)?;
        let member = MemberCall::new(call, launch)?;
        wait_alone(program, models, &member, each, &mut shared)?;
    }
    Ok(())
}

/// `i32 sirius.batch.L(operands)` in place of a launch that is not in a group.
fn wait_alone<'ctx>(
    program: &Program<'ctx>,
    models: &[KernelModel],
    member: &MemberCall<'_, 'ctx>,
    waiting: &Waiting<'_>,
    shared: &mut SharedFunctions<'ctx>,
) -> Result<(), CodegenError> {
    let context = program.context;
    let one = std::slice::from_ref(member);
    let name = format!("sirius.batch.{}", member.launch.id.0);
    let function = add_operand_function(program, &name, &[], member);
    let builder = context.create_builder();
    builder.position_at_end(context.append_basic_block(function, "entry"));
    let own = passed(&function.get_params(), member);
    let operands = GroupOperands::new(program, models, one, &builder, &own.operands)?;
    let mut slots = Vec::new();
    for parameter in &waiting.site.parameters {
        let FusedParameter::Argument { argument, .. } = parameter else {
            return Err(CodegenError::Inconsistent(
                "a launch by itself takes a variable".into(),
            ));
        };
        let index = OPERANDS_BEFORE_ARGUMENTS + argument;
        let in_memory = member.in_memory.get(index).is_some_and(Option::is_some);
        let value = own.operands.get(index);
        let value = value.ok_or_else(|| CodegenError::Inconsistent("missing argument".into()))?;
        slots.push(operand_slot(&builder, *value, in_memory)?);
    }
    let site = own.site.map(BasicValueEnum::into_int_value);
    let site = site.ok_or_else(|| CodegenError::Inconsistent("a launch without site".into()))?;
    let single = member.stub().map(BasicValueEnum::into_pointer_value);
    let single = single
        .ok_or_else(|| CodegenError::Inconsistent("a set or a copy waits in no batch".into()))?;
    let configuration = &own.operands[..OPERANDS_BEFORE_ARGUMENTS];
    waiting.submit(
        program,
        &builder,
        &operands,
        single,
        configuration,
        &slots,
        site,
    )?;
    let status = member.build_call(&builder, &own)?;
    builder.build_return(Some(&status))?;

    builder.position_before(&member.call);
    let arguments: Vec<_> = member.passed().collect();
    let status = builder
        .build_call(shared.one_of(function, true), &arguments, "sirius.status")?
        .try_as_basic_value()
        .unwrap_basic();
    replace_status(member.call, status.into_int_value());
    Ok(())
}
