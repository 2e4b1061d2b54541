//! What threads of a block hand to each other through a buffer: kept in shared memory.
//!
//! Where an earlier segment writes what other threads of the same block read in a later one, a barrier
//! between, the fused kernel needs no round through global memory: a shared variable, the *window*, stands for
//! the part of the buffer that the block works on. Each store also goes there, and loads read it there. Where
//! nobody reads the buffer any more then, its stores are left out afterwards (`dead-stores`).
//!
//! The place in the window is the place in the buffer without what all threads of a block have in
//! common: summands of the address that are made of constants, parameters and the block's registers alone.
//! So accesses of a block meet in the window as they meet in the buffer, and barriers that order these
//! order those. A window has a size of its own, or one element for each that an argument counts, the length of
//! a row; then launches bring its memory along, and a kernel whose rows are too long goes the old way.
//!
//! What is planned: of each buffer that a parameter leads to, that no other access may write to, all
//! stores, and the loads of which a block has written all before, by the sets of bytes that stores and load
//! touch in a block. The shared accesses are put beside the global ones, and the verifier judges the kernel
//! with both, by a model that is read anew; where it finds something, they are taken out again.

mod window;

use super::super::memory::{Effect, KernelFacts, Root, instructions_in_text, places_of};
use super::super::shared_memory_reuse::{self, shared_bytes};
use super::super::versions;
use crate::codegen::{CodegenError, PromotedRows};
use crate::kernel::{Access, AccessId, AccessKind, KernelModel, Tables, Target, model_accesses};
use crate::llvm::{Builder, IntegerPredicate, Opcode, Type, Value};
use crate::math::affine::{Affine, Variable};
use crate::math::isl::{IslError, with_operation_budget};
use inkwell::module::Module;
use std::collections::HashSet;
use window::{Size, Window};

/// A kernel whose blocks keep what their threads hand to each other.
#[derive(Debug, Default)]
pub(in crate::codegen::fused_kernels::fuse) struct PromotedBuffers<'ctx> {
    /// Loads that read it in shared memory.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests count them"))]
    pub(in crate::codegen::fused_kernels::fuse) loads: usize,
    /// The version without, where one was made, which the kernel calls where windows do not fit.
    pub(in crate::codegen::fused_kernels::fuse) general: Option<Value<'ctx>>,
}

/// Bytes for each element of a row that windows of a kernel may need, as far as can be told beforehand.
pub(in crate::codegen::fused_kernels::fuse) fn bytes_wanted(
    module: &Module,
    kernel: Value,
    facts: &KernelFacts,
) -> u64 {
    match module.get_function(&kernel.name()) {
        Some(function) if is_candidate(facts) && may_hand_on(kernel) => {
            let model = model_accesses(function, &kernel.name(), Tables::Unknown);
            let planned = plan(&model, facts);
            planned.iter().map(|planned| planned.size_bytes).sum()
        }
        _ => 0,
    }
}

/// Keeps in shared memory what threads of a block hand to each other. Of `rows`, what launches bring along already,
/// the kernel may need `spare_bytes` more for each element; without them it may begin to need some where
/// `launched` says that launches of the kernel can bring memory along.
///
/// # Errors
/// When LLVM refuses a copy of the kernel.
pub(in crate::codegen::fused_kernels::fuse) fn promote_buffers<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    rows: &mut Option<PromotedRows>,
    (spare_bytes, launched): (u64, bool),
) -> Result<PromotedBuffers<'ctx>, CodegenError> {
    // A version that the kernel calls is looked at by itself.
    let call = versions::take_call_out(module, kernel);
    let promoted = promote_in(module, kernel, facts, rows, (spare_bytes, launched));
    if let Some(call) = call {
        call.put_back();
    }
    promoted
}

fn promote_in<'ctx>(
    module: &Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &KernelFacts,
    rows: &mut Option<PromotedRows>,
    (spare_bytes, launched): (u64, bool),
) -> Result<PromotedBuffers<'ctx>, CodegenError> {
    let function = module.get_function(&kernel.name());
    let Some(function) = function.filter(|_| is_candidate(facts) && may_hand_on(kernel)) else {
        return Ok(PromotedBuffers::default());
    };
    let read = || model_accesses(function, &kernel.name(), Tables::Unknown);
    let work = Work {
        module,
        kernel,
        facts,
    };
    let at = instructions_in_text(kernel);
    let planned = plan(&read(), facts);
    let windows = planned
        .iter()
        .filter_map(|planned| Window::of(planned, &at));
    let mut windows: Vec<Window> = windows.collect();
    if windows.is_empty() {
        return Ok(PromotedBuffers::default());
    }
    windows.iter_mut().for_each(|window| window.insert(&work));
    let (inserted, places) = (read(), places_of(kernel));
    windows.retain_mut(|window| window.begin_at_block(&work, (&inserted, &places)));
    let inserted = read();
    let places = places_of(kernel);
    // Rows of a length that only a run tells may take all shared memory.
    let taken = shared_bytes(module, kernel)
        - windows.len() as u64 * shared_memory_reuse::MOST_SHARED_BYTES;
    let behind_bytes = behind_bytes(facts);
    let taken = taken.max(facts.static_shared_bytes) + behind_bytes;
    let mut left = match rows {
        Some(_) => 0,
        None => shared_memory_reuse::MOST_SHARED_BYTES.saturating_sub(taken),
    };
    windows.retain_mut(|window| {
        let size = window.size(&work, (&inserted, &places), rows.as_ref(), left);
        let fits = match size {
            Some(Size::Bytes { bytes, .. }) => {
                left -= bytes.next_multiple_of(window::ALIGNMENT);
                true
            }
            Some(Size::Elements { .. }) => launched,
            None => false,
        };
        window.take_out();
        window.set_size(size.filter(|_| fits))
    });
    keep_one_length(&mut windows, rows.as_ref(), spare_bytes);
    windows.iter_mut().for_each(|window| window.insert(&work));
    let (inserted, places) = (read(), places_of(kernel));
    windows.retain_mut(|window| {
        let confirmed = window.is_confirmed(&work, (&inserted, &places));
        if !confirmed {
            window.take_out();
        }
        confirmed
    });
    let (of_rows, mut fixed): (Vec<Window>, Vec<Window>) =
        windows.into_iter().partition(Window::is_of_rows);
    let (of_rows, general) = place_rows(&work, of_rows, rows, left)?;
    fixed.extend(of_rows);
    Ok(PromotedBuffers {
        loads: fixed.into_iter().map(Window::carry_out).sum(),
        general,
    })
}

fn is_candidate(facts: &KernelFacts) -> bool {
    facts.block.iter().all(Option::is_some) && facts.dynamic_shared_bytes.is_some()
}

/// Whether a kernel has a barrier, and loads through a parameter what has the type of something that it stores through
/// the same one; to read a model of it takes much longer.
fn may_hand_on(kernel: Value) -> bool {
    let (mut stored, mut loaded) = (HashSet::new(), HashSet::new());
    let mut waits = false;
    for at in kernel.instructions() {
        let (address, ty, of_kind) = match Effect::of(at) {
            Effect::Store(address) => (address, at.operand(0).ty(), &mut stored),
            Effect::Load(address) => (address, at.ty(), &mut loaded),
            effect => {
                waits |= effect == Effect::Barrier;
                continue;
            }
        };
        if let root @ Root::Parameter(_) = Root::of(kernel, address) {
            of_kind.insert((root, ty));
        }
    }
    waits && !stored.is_disjoint(&loaded)
}

/// Dynamic shared memory that members have, behind which launches bring more along.
fn behind_bytes(facts: &KernelFacts) -> u64 {
    let bytes = facts.dynamic_shared_bytes.unwrap_or(0);
    bytes.next_multiple_of(window::ALIGNMENT)
}

/// The kernel that windows are made in.
struct Work<'a, 'ctx> {
    module: &'a Module<'ctx>,
    kernel: Value<'ctx>,
    facts: &'a KernelFacts,
}

/// What is to be kept of one buffer.
struct Planned {
    /// Bytes of an element.
    size_bytes: u64,
    /// Places of its stores.
    stores: Vec<usize>,
    /// Places of loads of what the block has written before.
    loads: Vec<usize>,
}

fn plan(model: &KernelModel, facts: &KernelFacts) -> Vec<Planned> {
    let understood = model.opaque.is_empty()
        && model.unfusable.is_empty()
        && model.barriers.iter().any(|barrier| barrier.uniform);
    if !understood {
        return Vec::new();
    }
    let arguments = 0..model.formals.len();
    let planned = arguments.filter_map(|argument| of_buffer(model, facts, argument));
    planned.collect()
}

fn of_buffer(model: &KernelModel, facts: &KernelFacts, argument: usize) -> Option<Planned> {
    let own = Target::Argument {
        argument,
        offset_bytes: 0,
    };
    let disjoint = |other: &Target| match other {
        Target::Argument {
            argument: other,
            offset_bytes,
        } => facts.are_disjoint((argument, 0), (*other, *offset_bytes)),
        Target::Shared(_) | Target::UnknownShared => true,
        Target::Global(_) | Target::Unknown => false,
    };
    let mut stores: Vec<&Access> = Vec::new();
    let mut loads: Vec<&Access> = Vec::new();
    for access in &model.accesses {
        let plain = !access.volatile && !access.asynchronous && access.subscript.is_some();
        match access.kind {
            AccessKind::Read if access.target == own && plain => loads.push(access),
            AccessKind::Write if access.target == own && plain => stores.push(access),
            AccessKind::Read => {}
            _ if access.target == own || !disjoint(&access.target) => return None,
            _ => {}
        }
    }
    let size_bytes = stores.first()?.size_bytes;
    let one_size = stores.iter().all(|store| store.size_bytes == size_bytes);
    if !one_size || !matches!(size_bytes, 1 | 2 | 4 | 8 | 16) {
        return None;
    }
    loads.retain(|load| load.size_bytes == size_bytes && may_be_handed_on(model, &stores, load));
    // What a tile's elements are written and read by one by one is too much to compare; values that a thread keeps
    // for itself are in registers by now.
    if loads.len() > MOST_ACCESSES || stores.len() > MOST_ACCESSES {
        return None;
    }
    loads.retain(|load| is_written_before(model, facts.block, &stores, load));
    (!loads.is_empty()).then(|| Planned {
        size_bytes: size_bytes.into(),
        stores: stores.iter().map(|store| store.place).collect(),
        loads: loads.iter().map(|load| load.place).collect(),
    })
}

/// More stores or loads of a buffer are not compared.
const MOST_ACCESSES: usize = 12;

/// Whether a load may read what other threads of the block stored, by what is seen at a glance: it begins where
/// the block does, and is no thread's reading again of what it stored itself.
fn may_be_handed_on(model: &KernelModel, stores: &[&Access], load: &Access) -> bool {
    let of_block = |access: &Access| {
        let subscript = access.subscript.as_ref()?;
        let terms = subscript.terms.iter();
        let terms = terms.filter(|(_, variable)| mentions_block(model, variable));
        Some(terms.cloned().collect::<Vec<_>>())
    };
    let begin = of_block(load);
    let mut before = stores.iter().filter(|store| store.id < load.id);
    before.clone().any(|store| of_block(store) == begin)
        && !before.any(|store| store.subscript == load.subscript && store.loops == load.loops)
}

fn mentions_block(model: &KernelModel, variable: &Variable) -> bool {
    let any = |affine: &Affine| {
        let mut variables = affine.terms.iter().map(|(_, variable)| variable);
        variables.any(|variable| mentions_block(model, variable))
    };
    match variable {
        Variable::Block(_) => true,
        Variable::Thread(_) | Variable::Loop(_) | Variable::Parameter(_) => false,
        Variable::Floor(inner, _) => any(inner),
        Variable::Product(index) => any(&model.products[*index].factor),
    }
}

/// Whether a block has written all that a load reads, in stores behind which a barrier stands.
fn is_written_before(
    model: &KernelModel,
    block: [Option<u64>; 3],
    stores: &[&Access],
    load: &Access,
) -> bool {
    let spans = &model.intervals.accesses;
    let before = stores.iter().filter(|store| {
        let mut loops = store.loops.iter();
        store.id < load.id
            && store.exact
            && !loops.any(|index| load.loops.contains(index))
            && !spans[store.id.0].meets(&spans[load.id.0])
    });
    let before: Vec<AccessId> = before.map(|store| store.id).collect();
    if before.is_empty() {
        return false;
    }
    let set = |accesses: &[AccessId]| model.bytes_touched(accesses, block);
    let (Some(written), Some(read)) = (set(&before), set(&[load.id])) else {
        return false;
    };
    let within = || -> Result<bool, IslError> {
        let (read, written) = (&read.bytes, &written.bytes);
        // That a block reads what no such block could write is seen at once; whole numbers take seconds.
        let perhaps = read.is_subset(&written.without_existentials()?)?;
        Ok(perhaps && read.is_subset(written)?)
    };
    written.exact && with_operation_budget(MOST_OPERATIONS, within).is_ok_and(|within| within)
}

/// Operations of isl for each load.
const MOST_OPERATIONS: u64 = 100_000;

/// Launches count the elements of one length: that of the rows that are kept already, of which so many bytes for
/// each element are to spare, or else of the first window.
fn keep_one_length(windows: &mut Vec<Window>, rows: Option<&PromotedRows>, spare_bytes: u64) {
    // Larger elements first, so that each window begins where its elements may.
    windows.sort_by_key(|window| std::cmp::Reverse(window.element_bytes));
    let mut parameter = rows.map(|rows| rows.parameter);
    let mut taken = rows.map_or(0, |rows| rows.element_bytes);
    let most = rows.map_or(u64::MAX, |rows| rows.element_bytes + spare_bytes);
    windows.retain(|window| {
        let Some(Size::Elements { parameter: own, .. }) = window.size else {
            return true;
        };
        let each = window.element_bytes;
        let fits = *parameter.get_or_insert(own) == own
            && taken.is_multiple_of(each)
            && taken + each <= most;
        taken += u64::from(fits) * each;
        fits
    });
}

/// Puts windows into the memory that launches bring along.
fn place_rows<'ctx>(
    work: &Work<'_, 'ctx>,
    mut windows: Vec<Window<'ctx>>,
    rows: &mut Option<PromotedRows>,
    left_bytes: u64,
) -> Result<(Vec<Window<'ctx>>, Option<Value<'ctx>>), CodegenError> {
    let Some(Size::Elements { parameter, bits }) = windows.first().and_then(|first| first.size)
    else {
        return Ok((Vec::new(), None));
    };
    windows.iter_mut().for_each(Window::take_out);
    let (module, kernel) = (work.module, work.kernel);
    let long = Type::integer(module, 64);
    let length = |builder: &Builder<'ctx>| {
        let value = kernel.parameters()[parameter];
        match bits < 64 {
            true => builder.cast(Opcode::LLVMZExt, value, long),
            false => value,
        }
    };
    let mut general = None;
    if rows.is_none() {
        let element_bytes: u64 = windows.iter().map(|window| window.element_bytes).sum();
        let most_elements = left_bytes.saturating_sub(window::ALIGNMENT) / element_bytes;
        let split = match most_elements {
            0 => None,
            _ => versions::split(module, kernel)?,
        };
        let Some(entry) = split else {
            return Ok((Vec::new(), None));
        };
        let builder = Builder::at_end(entry.block);
        let most = long.constant(most_elements);
        let fits = builder.compare(IntegerPredicate::LLVMIntULE, length(&builder), most);
        builder.branch_if(fits, entry.special, entry.general);
        general = Some(entry.copy);
        *rows = Some(PromotedRows {
            parameter,
            bits,
            element_bytes: 0,
            most_elements,
            behind_bytes: behind_bytes(work.facts),
        });
    }
    let Some(rows) = rows else {
        return Ok((Vec::new(), general));
    };
    let memory = window::memory_of_launch(module, kernel);
    let memory = memory.constant_offset(module, rows.behind_bytes);
    for window in &mut windows {
        let before = rows.element_bytes;
        rows.element_bytes += window.element_bytes;
        window.insert_at(work, |builder| match before {
            0 => memory,
            _ => {
                let skipped = long.constant(before);
                let skipped = builder.binary(Opcode::LLVMMul, length(builder), skipped);
                builder.element_pointer(Type::integer(module, 8), memory, &[skipped])
            }
        });
    }
    Ok((windows, general))
}
