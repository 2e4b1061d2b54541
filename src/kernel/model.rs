//! One function -> one [`KernelModel`].

use super::access::{Collector, touched_roots};
use super::address::Root;
use super::body::{BlockRef, Body, Operation, ValueRef};
use super::cfg::Flow;
use super::domain::{Domains, merge};
use super::exchange;
use super::features::{Effect, Touch, barrier_parts, effects, makes_lanes_meet};
use super::footprint::{block_effects, footprints};
use super::intervals::{Event, Intervals, intervals};
use super::lanes::missed_by_lanes;
use super::never_taken::rely_on_launch;
use super::privacy;
use super::sides::sides_of;
use super::space::Space;
use super::uniformity::{Uniformity, pointers_relied_on};
use super::{
    Barrier, KernelModel, KernelParameter, Loop, Quotient, Target, Unfusable, Unknown,
    WarpOperation,
};
use crate::diagnostics::Location;
use crate::math::expression::{Condition, Expression};
use crate::program::KernelId;
use std::collections::{BTreeMap, BTreeSet};

/// Models a body; `name` is the mangled name that the user's program has for it.
pub fn model_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    model_with((body, id, name), Asked::Effects)
}

/// The same of a kernel that the user wrote, which may go by lanes that run in lockstep.
pub fn model_written_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    model_with((body, id, name), Asked::EffectsAndExchanges)
}

/// A model of accesses that nothing sums up: without footprints, and without the effects of blocks.
pub fn accesses_of_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    model_with((body, id, name), Asked::Accesses)
}

/// The same with accesses to shared memory alone.
pub fn shared_accesses_of_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    model_with((body, id, name), Asked::SharedAccesses)
}

/// The exchanges of such a kernel, in a model that has its accesses to shared memory alone, and nothing that sums them up.
pub fn exchanges_of_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    model_with((body, id, name), Asked::Exchanges)
}

/// What a model is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Effects,
    EffectsAndExchanges,
    /// To find the bounds of what a kernel and its blocks touch is most of the work.
    Accesses,
    /// These take a small part of the time: what a kernel touches in global memory is what is hard to bound.
    SharedAccesses,
    /// Among accesses to shared memory alone.
    Exchanges,
}

fn model_with((body, id, name): (&Body, KernelId, &str), asked: Asked) -> KernelModel {
    let flow = Flow::new(body);
    let privacy = privacy::analyse(body);
    let uniformity = Uniformity::new(body, &flow, &privacy.changed_arguments, &BTreeSet::new());
    let mut opaque: Vec<(String, Location)> = Vec::new();
    let mut unfusable: Vec<(Unfusable, Location)> = Vec::new();
    let mut keep_unfused = |reason: Unfusable, location: &Location| {
        if !unfusable.iter().any(|(known, _)| *known == reason) {
            unfusable.push((reason, location.clone()));
        }
    };
    if flow.irreducible {
        keep_unfused(Unfusable::IrreducibleLoop, &body.location);
    }
    if body.is_clustered {
        keep_unfused(Unfusable::Clusters, &body.location);
    }
    for location in &privacy.escapes {
        keep_unfused(Unfusable::EscapingAddress, location);
    }
    let mut collector = Collector {
        body,
        flow: &flow,
        changed_arguments: &privacy.changed_arguments,
        space: Space {
            // Beyond any loop of the control flow or of a tile's rows, until all are known.
            first_quotient: usize::MAX / 2,
            first_unknown: usize::MAX / 4 * 3,
            ..Space::default()
        },
        domains: (!flow.irreducible).then(|| Domains::new(body, &flow, &privacy.changed_arguments)),
        accesses: Vec::new(),
        conditions: Vec::new(),
        row_loops: Vec::new(),
        gives_shared_away: privacy::gives_shared_away(body),
    };
    let is_left_out = |touch: &Touch| {
        let may_be_shared = |root: &Root| matches!(root, Root::Shared(_) | Root::Unknown(0 | 3));
        let roots = || touched_roots(body, &privacy.changed_arguments, touch);
        matches!(asked, Asked::SharedAccesses | Asked::Exchanges)
            && !roots().iter().any(may_be_shared)
    };
    let mut barriers: Vec<Barrier> = Vec::new();
    let mut barrier_blocks: Vec<BlockRef> = Vec::new();
    let mut events: BTreeMap<BlockRef, Vec<Event>> = BTreeMap::new();
    // The instruction that each access is of, and its pointer.
    let mut touches = Vec::new();
    let mut warp_operations = false;
    let mut warp_operation_sites = Vec::new();
    let mut meeting_lanes: Vec<(ValueRef, BlockRef)> = Vec::new();
    let mut asynchronous_copies = false;
    let mut prints = false;
    for block in &flow.order {
        // Arrived at a barrier, and has touched nothing since, which a wait there would not order.
        let mut has_arrived = false;
        for value in &body.block(*block).instructions {
            let location = &body.value(*value).location;
            for effect in effects(body, *value) {
                match &effect {
                    Effect::Touch(touch) => {
                        has_arrived = false;
                        if touch.volatile {
                            // Old code relies on warps in lockstep with volatile shared memory;
                            // volatile global memory means that blocks talk to each other.
                            let roots = touched_roots(body, &privacy.changed_arguments, touch);
                            let shared = |root: &Root| {
                                matches!(root, Root::Shared(_) | Root::Unknown(3) | Root::Local)
                            };
                            if roots.iter().all(shared) {
                                warp_operations = true;
                            } else {
                                keep_unfused(Unfusable::VolatileMemory, location);
                            }
                        }
                        if is_left_out(touch) {
                            continue;
                        }
                        let first = collector.accesses.len();
                        collector.touch(*value, *block, touch);
                        touches.resize(collector.accesses.len(), (*value, touch.pointer));
                        let found = (first..collector.accesses.len()).map(Event::Access);
                        events.entry(*block).or_default().extend(found);
                    }
                    Effect::Barrier => {
                        let event = Event::Barrier(barriers.len());
                        events.entry(*block).or_default().push(event);
                        barrier_blocks.push(*block);
                        barriers.push(Barrier {
                            uniform: !flow.irreducible
                                && !uniformity.divergent_blocks.contains(block),
                            uniform_while_unwritten: Vec::new(),
                            reached_if: Vec::new(),
                            loops: flow.loops_of(*block),
                            // Values are numbered as they stand in the text.
                            place: value.0,
                            location: location.clone(),
                        });
                    }
                    Effect::WarpOperation => {
                        warp_operations = true;
                        if makes_lanes_meet(body, *value) {
                            events.entry(*block).or_default().push(Event::LanesMeet);
                        }
                        meeting_lanes.push((*value, *block));
                        warp_operation_sites.push(WarpOperation {
                            uniform: !flow.irreducible
                                && !uniformity.divergent_blocks.contains(block),
                            loops: flow.loops_of(*block),
                            accesses_before: collector.accesses.len(),
                        });
                    }
                    Effect::AsynchronousCopy => asynchronous_copies = true,
                    Effect::CopiesComplete => {
                        events
                            .entry(*block)
                            .or_default()
                            .push(Event::CopiesComplete);
                    }
                    Effect::Print => prints = true,
                    Effect::Unfusable(reason) => {
                        if *reason == Unfusable::NamedBarrier {
                            let [arrives, waits] = barrier_parts(body, *value);
                            has_arrived |= arrives;
                            if waits && has_arrived {
                                events.entry(*block).or_default().push(Event::LanesMeet);
                            }
                        }
                        keep_unfused(reason.clone(), location);
                    }
                    Effect::Opaque(reason) => {
                        if !opaque.iter().any(|(known, _)| known == reason) {
                            opaque.push((reason.clone(), location.clone()));
                        }
                    }
                }
            }
        }
    }
    if !flow.irreducible {
        rely_on_pointers(
            body,
            &flow,
            &privacy.changed_arguments,
            &barrier_blocks,
            &mut barriers,
        );
    }
    let mut places: Vec<usize> = barriers.iter().map(|barrier| barrier.place).collect();
    places.sort_unstable();
    for barrier in &mut barriers {
        barrier.place = places.partition_point(|place| *place < barrier.place);
    }
    let distinguishes_threads = super::in_step::distinguished_axes(body, &flow.order);
    let is_row = !distinguishes_threads[1] && !distinguishes_threads[2];
    let changed = &privacy.changed_arguments;
    let missed = missed_by_lanes((body, &flow), changed, &uniformity, &meeting_lanes, is_row);
    let (lane_blocks, mut missed_by_lanes): (Vec<BlockRef>, Vec<Barrier>) =
        missed.into_iter().unzip();
    if let Some(domains) = &mut collector.domains {
        let bodies = (body, &flow);
        let known = (&mut *domains, &mut collector.space);
        rely_on_launch(bodies, changed, known, &barrier_blocks, &mut barriers);
        // What a row of whole warps is enough for needs nothing else.
        let (domains, space) = (domains, &mut collector.space);
        for (block, missed) in lane_blocks.iter().zip(&mut missed_by_lanes) {
            if missed.reached_if.is_empty() {
                let (block, missed) = (std::slice::from_ref(block), std::slice::from_mut(missed));
                rely_on_launch(bodies, changed, (domains, space), block, missed);
            }
        }
    }
    // Bounds have been taken with these at least zero, whether or not an access mentions them.
    let mut preconditions = Vec::new();
    for product in &collector.space.products {
        let parameter = &collector.space.parameters[product.parameter];
        if parameter.range().0 < 0 {
            let condition = Condition::LessEqual(Expression::Constant(0), parameter.expression());
            merge(&mut preconditions, vec![condition]);
        }
    }
    merge(
        &mut preconditions,
        std::mem::take(&mut collector.conditions),
    );
    collector.finish();
    let mut intervals = intervals(body, &flow, &events, &collector.accesses, barriers.len());
    intervals.sides = vec![BTreeSet::new(); collector.accesses.len()];
    for (block, events) in &events {
        let sides = sides_of(body, &flow, &uniformity, *block);
        for event in events {
            if let Event::Access(access) = event {
                intervals.sides[*access].clone_from(&sides);
            }
        }
    }
    let (footprints, block_effects) = match asked {
        Asked::Effects | Asked::EffectsAndExchanges => (
            footprints(&collector.space, &collector.accesses),
            block_effects(&collector.space, &collector.accesses),
        ),
        Asked::Accesses | Asked::SharedAccesses | Asked::Exchanges => (Vec::new(), Vec::new()),
    };
    let loops = flow
        .loops
        .iter()
        .zip(&uniformity.uniform_loops)
        .map(|(each, uniform)| Loop {
            parent: each.parent,
            uniform_in_block: *uniform && !flow.irreducible,
            location: body.block(each.header).location.clone(),
            quotient: None,
            unknown: None,
        })
        .chain(std::mem::take(&mut collector.row_loops))
        .chain(collector.space.quotients.iter().map(|each| Loop {
            parent: None,
            uniform_in_block: false,
            location: body.location.clone(),
            quotient: Some(Quotient {
                dividend: each.dividend.clone(),
                divisor: each.divisor.clone(),
            }),
            unknown: None,
        }))
        .chain(collector.space.unknowns.iter().map(|each| Loop {
            parent: None,
            uniform_in_block: false,
            location: body.value(each.value).location.clone(),
            quotient: None,
            unknown: Some(Unknown {
                value: each.value.0,
                least: each.least.clone(),
            }),
        }))
        .collect();
    let (static_shared_bytes, dynamic_shared) = shared_memory(body);
    let mut model = KernelModel {
        id,
        iteration_of: None,
        name: name.to_owned(),
        display_name: display_name(name),
        location: body.location.clone(),
        formals: body
            .formals
            .iter()
            .enumerate()
            .map(|(index, formal)| KernelParameter {
                name: formal.name.clone(),
                captured: privacy.captured_arguments.contains(&index),
                size_bytes: formal.bytes,
                align_bytes: formal.align_bytes,
                is_pointer: formal.is_pointer,
            })
            .collect(),
        parameters: collector
            .space
            .parameters
            .iter()
            .map(|parameter| parameter.expression())
            .collect(),
        loops,
        products: collector.space.products,
        accesses: collector.accesses,
        barriers,
        intervals,
        footprints,
        block_effects,
        preconditions,
        opaque,
        unfusable,
        warp_operations,
        warp_operation_sites,
        missed_by_lanes,
        exchanges: Vec::new(),
        asynchronous_copies,
        prints,
        reads_addresses: privacy.reads_addresses,
        distinguishes_threads,
        static_shared_bytes,
        dynamic_shared,
        max_threads: body.max_threads,
    };
    if matches!(asked, Asked::EffectsAndExchanges | Asked::Exchanges) {
        let statements = (&events, touches.as_slice());
        model.exchanges = exchange::exchanges(body, &flow, &uniformity, statements, &model);
    }
    model
}

/// Says of barriers that stand behind loads for all threads of a block which pointers these take.
fn rely_on_pointers(
    body: &Body,
    flow: &Flow,
    changed_arguments: &BTreeSet<usize>,
    blocks: &[BlockRef],
    barriers: &mut [Barrier],
) {
    let places = || blocks.iter().zip(barriers.iter());
    let divergent: BTreeSet<BlockRef> = places()
        .filter(|(_, barrier)| !barrier.uniform)
        .map(|(block, _)| *block)
        .collect();
    if divergent.is_empty() {
        return;
    }
    let pointers = pointers_relied_on(body, flow, changed_arguments, &divergent);
    if pointers.is_empty() {
        return;
    }
    let left = Uniformity::new(body, flow, changed_arguments, &pointers).divergent_blocks;
    let targets: Vec<Target> = pointers
        .into_iter()
        .filter_map(|pointer| match pointer {
            Root::Argument {
                argument,
                offset_bytes,
            } => Some(Target::Argument {
                argument,
                offset_bytes,
            }),
            _ => None,
        })
        .collect();
    for (block, barrier) in blocks.iter().zip(barriers) {
        if !barrier.uniform && !left.contains(block) {
            barrier.uniform_while_unwritten.clone_from(&targets);
        }
    }
}

/// The model of a kernel whose body is not there: nothing is known, so it is opaque.
pub fn absent(id: KernelId, name: &str) -> KernelModel {
    KernelModel {
        id,
        iteration_of: None,
        name: name.to_owned(),
        display_name: display_name(name),
        location: Location::default(),
        formals: Vec::new(),
        parameters: Vec::new(),
        loops: Vec::new(),
        products: Vec::new(),
        accesses: Vec::new(),
        barriers: Vec::new(),
        intervals: Intervals::default(),
        footprints: Vec::new(),
        block_effects: Vec::new(),
        preconditions: Vec::new(),
        opaque: vec![("has no body".to_owned(), Location::default())],
        unfusable: Vec::new(),
        warp_operations: false,
        warp_operation_sites: Vec::new(),
        missed_by_lanes: Vec::new(),
        exchanges: Vec::new(),
        asynchronous_copies: false,
        prints: false,
        reads_addresses: true,
        distinguishes_threads: [true; 3],
        static_shared_bytes: 0,
        dynamic_shared: false,
        max_threads: None,
    }
}

/// Bytes of the static variables that the body mentions, and whether it uses dynamic memory.
fn shared_memory(body: &Body) -> (u64, bool) {
    let mut variables = BTreeMap::new();
    let mut dynamic = false;
    for value in &body.values {
        if let Operation::Global(variable) = &value.operation
            && variable.address_space == 3
        {
            if variable.external || variable.bytes == 0 {
                dynamic = true;
            } else {
                // Padding before it, where its alignment is more than is counted below.
                let padding = u64::from(variable.align_bytes.saturating_sub(16));
                variables.insert(&variable.name, variable.bytes + padding);
            }
        }
    }
    // Most variables start at a multiple of 16 bytes at the most; the sum is rounded up so.
    let bytes = variables
        .values()
        .map(|bytes| bytes.next_multiple_of(16))
        .sum();
    (bytes, dynamic)
}

/// The name as the user wrote it, without parameters and return type.
fn display_name(mangled: &str) -> String {
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    cpp_demangle::Symbol::new(mangled)
        .ok()
        .and_then(|symbol| symbol.demangle(&options).ok())
        .unwrap_or_else(|| mangled.to_owned())
}
