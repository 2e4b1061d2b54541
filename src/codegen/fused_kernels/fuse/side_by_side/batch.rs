//! The body of a launch or group -> a kernel that runs several launches of it at once.
//!
//! Invariant: block (x, y, z) of launch r sees the block indices, the grid and the arguments that it
//! has when it is launched alone; it is block (x, y, r · depth + z) of a grid that is as many times as
//! deep as there are launches.

use super::super::super::super::device::{
    KERNEL_CALL_CONVENTION, device_target_machine, run_passes,
};
use super::super::super::super::{BatchKernel, BatchedSite, CodegenError, RecordPiece};
use super::super::at_once;
use super::super::batch_phases::{self, InPhases, Walked};
use super::super::fields::{self, Piece};
use super::super::heterogeneous::{self, Code, Slice};
use super::super::persistent::{self, Persistent};
use super::super::{Built, function_of, launch_bounds, shared_memory_reuse};
use crate::build::Optimisation;
use crate::launch::{HostBlockId, Launch, LaunchGraph, LaunchId, NodeKind};
use crate::llvm::{
    Block, Builder, DebugScope, FUNCTION_ATTRIBUTES, Linkage, Opcode, RETURN_ATTRIBUTES, Type,
    Value,
};
use crate::schedule::{FusionGroup, FusionPlan, Member, PersistentLoop, ThreadMap, Variant};
use crate::tune::Figures;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A statement of the plan whose code is built for batches.
pub(in crate::codegen::fused_kernels::fuse) struct Statement {
    launch: LaunchId,
    what: What,
    site: usize,
    /// The number of its region.
    region: usize,
    /// A loop of the region is around it.
    repeats: bool,
    /// The region waits for graphs alone: a group of it is never launched several at once.
    for_graphs: bool,
    persistent: Option<PersistentLoop>,
    phase_rounds: Option<u32>,
}

enum What {
    /// The group of this number.
    Group(usize),
    /// A launch by itself, as a group of one.
    Single(Box<FusionGroup>),
}

impl Statement {
    /// At whose place it runs.
    pub(in crate::codegen::fused_kernels::fuse) fn launch(&self) -> LaunchId {
        self.launch
    }

    /// The group of the plan that it runs.
    pub(in crate::codegen::fused_kernels::fuse) fn group(&self) -> Option<usize> {
        match self.what {
            What::Group(index) => Some(index),
            What::Single(_) => None,
        }
    }

    /// What it runs.
    pub(in crate::codegen::fused_kernels::fuse) fn of_plan<'a>(
        &'a self,
        plan: &'a FusionPlan,
    ) -> &'a FusionGroup {
        match &self.what {
            What::Group(index) => &plan.groups[*index],
            What::Single(group) => group,
        }
    }

    /// What it runs, when that is no group of the plan.
    pub(in crate::codegen::fused_kernels::fuse) fn single_launch(&self) -> Option<&FusionGroup> {
        match &self.what {
            What::Group(_) => None,
            What::Single(group) => Some(group),
        }
    }

    /// The number of its site: sites of groups come first.
    pub(in crate::codegen::fused_kernels::fuse) fn site(&self) -> usize {
        self.site
    }

    /// A group that waits.
    #[cfg(test)]
    pub(in crate::codegen::fused_kernels::fuse) fn waiting(
        site: usize,
        region: usize,
        repeats: bool,
    ) -> Self {
        Self {
            launch: LaunchId(site as u32),
            what: What::Group(site),
            site,
            region,
            repeats,
            for_graphs: false,
            persistent: None,
            phase_rounds: None,
        }
    }

    /// Its launches follow each other in one kernel.
    pub(in crate::codegen::fused_kernels::fuse) fn persistent(&self) -> Option<&PersistentLoop> {
        self.persistent.as_ref()
    }

    /// How many blocks of its batch a block of a cooperative launch runs at most, where its batches may be phases of one.
    pub(in crate::codegen::fused_kernels::fuse) fn phase_rounds(&self) -> Option<u32> {
        self.phase_rounds
    }

    /// The number of the region in which it waits.
    pub(in crate::codegen::fused_kernels::fuse) fn region(&self) -> usize {
        self.region
    }

    /// Whether its region waits for graphs alone.
    pub(in crate::codegen::fused_kernels::fuse) fn for_graphs(&self) -> bool {
        self.for_graphs
    }

    /// Whether it may be met several times before its region ends.
    pub(in crate::codegen::fused_kernels::fuse) fn repeats(&self) -> bool {
        self.repeats
    }
}

/// All statements of the plan's regions.
pub(in crate::codegen::fused_kernels::fuse) fn statements(
    graph: &LaunchGraph,
    plan: &FusionPlan,
    launches: &HashMap<LaunchId, &Launch>,
) -> Vec<Statement> {
    let nodes = graph.nodes.iter().filter_map(|node| match &node.kind {
        NodeKind::Launch(launch) => Some((launch.id, node.block)),
        _ => None,
    });
    let blocks: HashMap<LaunchId, HostBlockId> = nodes.collect();
    let loops = |launch: &LaunchId| {
        let block = blocks.get(launch);
        block.map_or(usize::MAX, |block| graph.loops_around(*block).len())
    };
    let mut groups = HashMap::new();
    for (index, group) in plan.groups.iter().enumerate() {
        groups.extend(group.members.iter().map(|member| (member.launch, index)));
    }
    let mut statements: Vec<Statement> = Vec::new();
    let with_fallbacks = plan.with_fallbacks().len();
    let mut singles = 0;
    let waiting = plan
        .batched_regions
        .iter()
        .enumerate()
        .flat_map(|(number, region)| {
            let statements = region.statements.iter();
            statements.map(move |statement| {
                ((number, region.for_graphs), region.outside_loops, statement)
            })
        });
    for ((region, for_graphs), outside_loops, statement) in waiting {
        let launch = statement.launch;
        let repeats = loops(&launch) > outside_loops;
        if let Some(index) = groups.get(&launch) {
            statements.push(Statement {
                launch,
                what: What::Group(*index),
                site: *index,
                region,
                repeats,
                for_graphs,
                persistent: statement.persistent.clone(),
                phase_rounds: statement.phase_rounds,
            });
            continue;
        }
        if launches
            .get(&launch)
            .is_none_or(|launch| launch.kernel.is_none())
        {
            continue;
        }
        let member = Member {
            launch,
            map: ThreadMap::Identity,
            barrier_before: false,
        };
        let group = FusionGroup {
            members: vec![member],
            layout: String::from("v"),
            guards: Vec::new(),
            layouts: Vec::new(),
            unread_afterwards: Vec::new(),
            awaited_copies: Vec::new(),
            issued_before: Vec::new(),
            partial_guards: Vec::new(),
            segments: Vec::new(),
            variant: Variant::default(),
            grid_barriers: Vec::new(),
            overlap: None,
            last_block: None,
            front_guards: None,
            early_guards: None,
            recomputation: None,
            fallback: Vec::new(),
            tested_loop: None,
        };
        statements.push(Statement {
            launch,
            what: What::Single(Box::new(group)),
            site: with_fallbacks + singles,
            region,
            repeats,
            for_graphs,
            persistent: None,
            phase_rounds: statement.phase_rounds,
        });
        singles += 1;
    }
    statements
}

/// A kernel of statements that wait.
pub(in crate::codegen::fused_kernels::fuse) struct Body<'a> {
    pub(in crate::codegen::fused_kernels::fuse) kernel: &'a Built,
    pub(in crate::codegen::fused_kernels::fuse) statements: Vec<BatchedSite>,
    /// A launch by itself has a kernel of its own.
    pub(in crate::codegen::fused_kernels::fuse) single: bool,
    /// The kernel is that of a group, and there is never more than one launch of it at once.
    pub(in crate::codegen::fused_kernels::fuse) never_batched: bool,
    /// The regions in which several launches of it may wait, and how many statements of each are its own.
    pub(in crate::codegen::fused_kernels::fuse) regions: BTreeMap<usize, usize>,
    /// The regions whose batches may be phases of a cooperative launch with all of its statements, and how many of these each has.
    pub(in crate::codegen::fused_kernels::fuse) phases: Option<InPhases>,
    /// Its launches follow each other.
    pub(in crate::codegen::fused_kernels::fuse) persistent: Option<Persistent>,
}

/// See [`Body::regions`], of a kernel's statements.
pub(in crate::codegen::fused_kernels::fuse) fn meeting<'a>(
    own: impl Iterator<Item = &'a Statement>,
) -> BTreeMap<usize, usize> {
    let mut regions: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    for statement in own {
        let (count, repeats) = regions.entry(statement.region()).or_default();
        *count += 1;
        *repeats |= statement.repeats();
    }
    let several = regions.into_iter();
    let several = several.filter(|(_, (count, repeats))| *count > 1 || *repeats);
    several
        .map(|(region, (count, _))| (region, count))
        .collect()
}

/// Turns the kernels that were built for statements into functions, each called by a kernel of
/// several launches, and where that is wanted by one of several codes. Those that cannot be are left out.
pub(in crate::codegen::fused_kernels::fuse) fn build_batches<'ctx>(
    module: &Module<'ctx>,
    bodies: Vec<Body<'_>>,
    optimisations: &BTreeSet<Optimisation>,
    figures: &Figures,
) -> Result<Vec<BatchKernel>, CodegenError> {
    let mut batches = Vec::new();
    let mut built = Vec::new();
    let mut codes = Vec::new();
    let mut loops = Vec::new();
    // Bodies that pointers take turns in are inlined at once, before others may be.
    let (in_loops, bodies): (Vec<Body<'_>>, Vec<Body<'_>>) = bodies
        .into_iter()
        .partition(|found| found.persistent.is_some());
    for found in in_loops {
        let body = function_of(module, found.kernel)?;
        let Some(persistent) = found.persistent else {
            continue;
        };
        let in_phases = persistent.grid_barrier;
        let built = persistent.build(module, (found.kernel, body), optimisations)?;
        loops.extend(built.map(|(function, layout, rows)| {
            let kept = in_phases.then(|| (found.kernel, layout.plain_offsets()));
            let batch = BatchKernel {
                persistent: Some(rows),
                ..layout.batch(function.name(), found.statements, found.single)
            };
            (function, batch, kept)
        }));
    }
    for found in bodies {
        if found.never_batched {
            let name = batch_name(found.kernel);
            let layout = Layout::of(module, function_of(module, found.kernel)?);
            let layout = layout.map(|layout| Layout {
                capacity: 1,
                ..layout
            });
            batches.extend(layout.map(|layout| layout.batch(name, found.statements, true)));
            continue;
        }
        if let Some((batch, code)) = Batch::begin(module, found, built.len(), optimisations)? {
            built.push(batch);
            codes.push(code);
        }
    }
    if built.is_empty() && loops.is_empty() {
        return Ok(batches);
    }
    let chosen = match optimisations.contains(&Optimisation::HeterogeneousBatches) {
        true => heterogeneous::choose(&codes, 2),
        false => Vec::new(),
    };
    let slice = |number: &usize| {
        let (of, name) = (&built[*number], format!("sirius_slice_{number}"));
        let slice = Slice::build(module, &name, (of.body, of.kernel), &of.layout);
        (*number, slice)
    };
    let slices: BTreeMap<usize, Slice> = chosen.iter().flatten().map(slice).collect();
    let in_phases = batch_phases::choose(
        codes
            .iter()
            .zip(built.iter().map(|own| own.phases.as_ref())),
    );
    let walked = in_phases.iter().flatten().filter_map(|number| {
        let of = &built[*number];
        let in_phases = (&of.layout, of.phases.as_ref()?);
        let walked = Walked::build(module, *number, (of.body, of.kernel), in_phases);
        Some((*number, walked))
    });
    let walked: BTreeMap<usize, Walked> = walked.collect();
    run_passes(
        module,
        "always-inline,globaldce",
        &device_target_machine("sm_80")?,
    )?;
    let mut keeps = false;
    for (function, batch, in_phases) in &mut loops {
        if let (Some((of, offsets)), Some(rows)) = (in_phases, &batch.persistent) {
            let places = (offsets.as_slice(), rows);
            let facts = &of.facts;
            let (held, kept) = persistent::keep_values(module, *function, facts, places, figures)?;
            keeps |= held;
            batch.handed_on = of.handed_on(&kept);
        }
    }
    if keeps {
        at_once::settle(module);
        let machine = device_target_machine("sm_80")?;
        run_passes(module, "always-inline,globaldce", &machine)?;
    }
    for (function, batch, in_phases) in loops {
        if calls_code(function) {
            function.delete_function();
            continue;
        }
        // Next to nothing stays the same from phase to phase.
        if in_phases.is_none() {
            persistent::hoist(function)?;
        }
        batches.push(batch);
    }
    let mut heterogeneous = heterogeneous::build_heterogeneous(module, slices, &chosen)?;
    let mut phases = batch_phases::build(module, &walked, &in_phases)?;
    for (number, found) in built.into_iter().enumerate() {
        let Batch {
            kernel: batch,
            indices,
            ..
        } = found;
        if calls_code(batch) || names_block_in_assembly(batch) {
            batch.delete_function();
            continue;
        }
        for instruction in batch.instructions() {
            let value = match instruction.called_name().as_deref() {
                Some(BLOCK_INDEX_Z) if instruction != indices.of_grid => indices.of_launch,
                Some(GRID_EXTENT_Z) => indices.depth,
                _ => continue,
            };
            instruction.replace_uses_with(value);
            instruction.erase();
        }
        let waiting = found
            .waiting
            .batch(batch.name(), found.statements, found.single);
        batches.push(BatchKernel {
            pieces: found.pieces,
            record_bytes: found.layout.record,
            capacity: found.layout.capacity,
            heterogeneous: heterogeneous.remove(&number),
            phases: phases.remove(&number),
            ..waiting
        });
    }
    Ok(batches)
}

/// A kernel of several launches while it is being made.
struct Batch<'ctx> {
    kernel: Value<'ctx>,
    /// What it calls.
    body: Value<'ctx>,
    indices: Indices<'ctx>,
    statements: Vec<BatchedSite>,
    single: bool,
    /// The arguments of a launch that waits.
    waiting: Layout<'ctx>,
    /// What a record has of them.
    pieces: Vec<RecordPiece>,
    layout: Layout<'ctx>,
    phases: Option<InPhases>,
}

impl<'ctx> Batch<'ctx> {
    /// The kernel of several launches, which calls the body; `None` where there can be none.
    fn begin(
        module: &Module<'ctx>,
        found: Body<'_>,
        number: usize,
        optimisations: &BTreeSet<Optimisation>,
    ) -> Result<Option<(Self, Code)>, CodegenError> {
        let kernel = found.kernel;
        let body = function_of(module, kernel)?;
        let (statements, single) = (found.statements, found.single);
        body.set_linkage(Linkage::LLVMInternalLinkage);
        body.set_call_convention(0);
        body.remove_attribute(FUNCTION_ATTRIBUTES, "noinline");
        body.add_attribute(FUNCTION_ATTRIBUTES, "alwaysinline", 0);
        // Addresses of variables come with the launch of a group.
        let only_arguments = kernel.facts.arguments.iter().all(|argument| *argument);
        let of_groups = statements.iter().all(|statement| statement.group.is_some());
        if !only_arguments && !of_groups {
            return Ok(None);
        }
        // Those of a launch that waits have to fit, too.
        let waiting = Layout::of(module, body).filter(|layout| layout.capacity > 0);
        let Some(waiting) = waiting else {
            return Ok(None);
        };
        let (body, pieces) = match optimisations.contains(&Optimisation::ArgumentPromotion) {
            true => fields::take_apart(module, body)?,
            false => (body, Piece::all(body)),
        };
        let layout = Layout::of(module, body).filter(|layout| layout.capacity > 1);
        let Some(layout) = layout else {
            return Ok(None);
        };
        let pieces = layout.pieces(&pieces, &waiting);
        let (batch, indices) = build_batch(module, &batch_name(kernel), body, &layout);
        // The same blocks are launched as by each launch alone.
        launch_bounds::hand_over(body, batch);
        let code = Code {
            number,
            block: kernel.facts.block,
            regions: found.regions,
            instructions: body.instructions().len(),
            static_shared_bytes: shared_memory_reuse::shared_bytes(module, body),
        };
        let batch = Self {
            kernel: batch,
            body,
            indices,
            statements,
            single,
            waiting,
            pieces,
            layout,
            phases: found.phases,
        };
        Ok(Some((batch, code)))
    }
}

fn batch_name(kernel: &Built) -> String {
    kernel.name.replacen("sirius_fused_", "sirius_batch_", 1)
}

const BLOCK_INDEX_Z: &str = "llvm.nvvm.read.ptx.sreg.ctaid.z";
const GRID_EXTENT_Z: &str = "llvm.nvvm.read.ptx.sreg.nctaid.z";

/// The parameter space that every device has.
pub(in crate::codegen::fused_kernels::fuse) const PARAMETER_BYTES: u32 = 4096;
pub(in crate::codegen::fused_kernels::fuse) const RECORDS_OFFSET_BYTES: u32 = 16;
pub(in crate::codegen::fused_kernels::fuse) const RECORD_ALIGNMENT_BYTES: u32 = 16;

/// Arguments in a record.
pub(in crate::codegen::fused_kernels::fuse) struct Layout<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) offsets: Vec<u32>,
    pub(in crate::codegen::fused_kernels::fuse) sizes: Vec<u32>,
    pub(in crate::codegen::fused_kernels::fuse) in_memory: Vec<Option<Type<'ctx>>>,
    pub(in crate::codegen::fused_kernels::fuse) record: u32,
    pub(in crate::codegen::fused_kernels::fuse) capacity: u32,
}

impl<'ctx> Layout<'ctx> {
    /// Where each argument stands; `None` for one that is passed in memory.
    fn plain_offsets(&self) -> Vec<Option<u32>> {
        let all = self.offsets.iter().zip(&self.in_memory);
        all.map(|(offset, in_memory)| in_memory.is_none().then_some(*offset))
            .collect()
    }

    fn batch(self, name: String, statements: Vec<BatchedSite>, single: bool) -> BatchKernel {
        BatchKernel {
            name,
            statements,
            single,
            offsets_bytes: self.offsets,
            sizes_bytes: self.sizes,
            arguments_bytes: self.record,
            pieces: vec![RecordPiece {
                from_bytes: 0,
                to_bytes: 0,
                bytes: self.record,
            }],
            record_bytes: self.record,
            records_offset_bytes: RECORDS_OFFSET_BYTES,
            capacity: self.capacity,
            heterogeneous: None,
            phases: None,
            persistent: None,
            handed_on: Vec::new(),
        }
    }

    /// Where a record of these arguments has its bytes from, given what each is of the arguments of a launch that waits.
    fn pieces(&self, of_waiting: &[Piece], waiting: &Layout) -> Vec<RecordPiece> {
        let mut pieces: Vec<RecordPiece> = Vec::new();
        for (index, piece) in of_waiting.iter().enumerate() {
            let (to_bytes, bytes) = (self.offsets[index], self.sizes[index]);
            let from_bytes = waiting.offsets[piece.argument] + piece.begin();
            match pieces.last_mut() {
                // What lies between is padding in the record.
                Some(last)
                    if from_bytes >= last.from_bytes
                        && from_bytes - last.from_bytes == to_bytes - last.to_bytes =>
                {
                    last.bytes = to_bytes + bytes - last.to_bytes;
                }
                _ => pieces.push(RecordPiece {
                    from_bytes,
                    to_bytes,
                    bytes,
                }),
            }
        }
        pieces
    }

    /// `None` for an argument with more alignment than a record has.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        module: &Module<'ctx>,
        body: Value<'ctx>,
    ) -> Option<Self> {
        let mut layout = Self {
            offsets: Vec::new(),
            sizes: Vec::new(),
            in_memory: Vec::new(),
            record: 0,
            capacity: 0,
        };
        let mut end = 0_u32;
        for (index, ty) in body.value_type().parameters().into_iter().enumerate() {
            let in_memory = body.type_attribute(index as u32 + 1, "byval");
            let bytes = match in_memory {
                Some(pointee) => pointee.allocation_bytes(module),
                None => ty.access_bytes(module),
            };
            let bytes = u32::try_from(bytes).ok()?;
            let declared = body.integer_attribute(index as u32 + 1, "align");
            let natural = in_memory.unwrap_or(ty).alignment(module);
            let alignment = match in_memory {
                Some(_) => declared
                    .map_or(natural, |declared| declared as u32)
                    .max(natural),
                None => natural,
            };
            if alignment > RECORD_ALIGNMENT_BYTES {
                return None;
            }
            end = end.next_multiple_of(alignment.max(1));
            layout.offsets.push(end);
            layout.sizes.push(bytes);
            layout.in_memory.push(in_memory);
            end = end.checked_add(bytes)?;
        }
        layout.record = end.max(1).next_multiple_of(RECORD_ALIGNMENT_BYTES);
        layout.capacity = (PARAMETER_BYTES - RECORDS_OFFSET_BYTES) / layout.record;
        Some(layout)
    }
}

/// What the instructions of a launch see in place of the registers.
struct Indices<'ctx> {
    of_grid: Value<'ctx>,
    of_launch: Value<'ctx>,
    depth: Value<'ctx>,
}

fn build_batch<'ctx>(
    module: &Module<'ctx>,
    name: &str,
    body: Value<'ctx>,
    layout: &Layout<'ctx>,
) -> (Value<'ctx>, Indices<'ctx>) {
    let [byte, int, long] = [8, 32, 64].map(|bits| Type::integer(module, bits));
    let pointer = Type::pointer(module, 0);
    let ty = Type::function(Type::void(module), &[pointer]);
    let batch = Value::add_function(module, name, ty);
    batch.set_call_convention(KERNEL_CALL_CONVENTION);
    body.copy_attributes(FUNCTION_ATTRIBUTES, batch, FUNCTION_ATTRIBUTES);
    batch.remove_attribute(FUNCTION_ATTRIBUTES, "alwaysinline");
    let memory = byte.array(u64::from(
        RECORDS_OFFSET_BYTES + layout.capacity * layout.record,
    ));
    batch.add_type_attribute(1, "byval", memory);
    batch.add_attribute(1, "align", u64::from(RECORD_ALIGNMENT_BYTES));
    batch.add_attribute(1, "noundef", 0);
    let builder = Builder::at_end(Block::append(batch, "entry"));
    if let Some(scope) = DebugScope::of(module, body) {
        scope.cover(batch, name, &builder);
    }
    let register = |name: &str| {
        let ty = Type::function(int, &[]);
        let intrinsic =
            Value::function(module, name).unwrap_or_else(|| Value::add_function(module, name, ty));
        builder.call(ty, intrinsic, &[])
    };
    let parameter = batch.parameters()[0];
    let of_grid = register(BLOCK_INDEX_Z);
    let depth = builder.load_aligned(int, parameter, 4);
    let record = builder.binary(Opcode::LLVMUDiv, of_grid, depth);
    let of_launch = builder.binary(Opcode::LLVMURem, of_grid, depth);
    let records = long.constant(u64::from(RECORDS_OFFSET_BYTES));
    let records = builder.element_pointer(byte, parameter, &[records]);
    call_body(module, &builder, (body, layout), records, record);
    builder.ret(None);
    let indices = Indices {
        of_grid,
        of_launch,
        depth,
    };
    (batch, indices)
}

/// Calls a body with the arguments of one of several records.
pub(in crate::codegen::fused_kernels::fuse) fn call_body(
    module: &Module,
    builder: &Builder,
    (body, layout): (Value, &Layout),
    records: Value,
    record: Value,
) {
    let [byte, long] = [8, 64].map(|bits| Type::integer(module, bits));
    let record = builder.cast(Opcode::LLVMZExt, record, long);
    let bytes = long.constant(u64::from(layout.record));
    let from = builder.binary(Opcode::LLVMMul, record, bytes);
    let mut arguments = Vec::new();
    let types = body.value_type().parameters();
    for (index, ty) in types.into_iter().enumerate() {
        let offset = u64::from(layout.offsets[index]);
        let at = builder.binary(Opcode::LLVMAdd, from, long.constant(offset));
        let place = builder.element_pointer(byte, records, &[at]);
        arguments.push(match layout.in_memory[index] {
            Some(_) => place,
            None => builder.load_aligned(ty, place, ty.alignment(module)),
        });
    }
    let call = builder.call(body.value_type(), body, &arguments);
    for at in 1..=arguments.len() as u32 {
        body.copy_function_attributes_to_call(at, call, at);
    }
    body.copy_function_attributes_to_call(RETURN_ATTRIBUTES, call, RETURN_ATTRIBUTES);
}

/// Inline assembly may read a register that only the block of the grid has.
pub(in crate::codegen::fused_kernels::fuse) fn names_block_in_assembly(body: Value) -> bool {
    body.instructions().into_iter().any(|instruction| {
        instruction.opcode() == Some(Opcode::LLVMCall)
            && instruction
                .called()
                .inline_assembly()
                .is_some_and(|(template, _)| template.contains("ctaid"))
    })
}

pub(in crate::codegen::fused_kernels::fuse) fn calls_code(function: Value) -> bool {
    function.instructions().into_iter().any(|instruction| {
        instruction.opcode() == Some(Opcode::LLVMCall)
            && instruction.called().inline_assembly().is_none()
            && !(instruction.called().is_function() && instruction.called().is_declaration())
    })
}
