//! One function -> one [`KernelModel`].

use super::access::{Collector, mentions_shared};
use super::address::{Root, roots};
use super::body::{Body, Operation};
use super::cfg::Flow;
use super::domain::{Domains, merge};
use super::features::{Effect, effects};
use super::footprint::footprints;
use super::privacy;
use super::space::Space;
use super::uniformity::Uniformity;
use super::{Barrier, KernelModel, KernelParameter, Loop, Quotient};
use crate::diagnostics::Location;
use crate::expression::{Condition, Expression};
use crate::program::KernelId;
use std::collections::BTreeMap;

/// Models a body; `name` is the mangled name that the user's program has for it.
pub fn model_body(body: &Body, id: KernelId, name: &str) -> KernelModel {
    let flow = Flow::new(body);
    let privacy = privacy::analyse(body);
    let uniformity = Uniformity::new(body, &flow, &privacy.changed_arguments);
    let mut opaque: Vec<(String, Location)> = Vec::new();
    let mut add_reason = |reason: &str, location: &Location| {
        if !opaque.iter().any(|(known, _)| known == reason) {
            opaque.push((reason.to_owned(), location.clone()));
        }
    };
    if flow.irreducible {
        add_reason("has a cycle with several entries", &body.location);
    }
    for location in &privacy.escapes {
        add_reason("lets the address of a local variable escape", location);
    }
    let mut collector = Collector {
        body,
        flow: &flow,
        changed_arguments: &privacy.changed_arguments,
        space: Space {
            natural_loops: flow.loops.len(),
            ..Space::default()
        },
        domains: (!flow.irreducible).then(|| Domains::new(body, &flow, &privacy.changed_arguments)),
        accesses: Vec::new(),
        conditions: Vec::new(),
        has_shared: mentions_shared(body),
    };
    let mut barriers = Vec::new();
    let mut warp_operations = false;
    let mut prints = false;
    for block in &flow.order {
        for value in &body.block(*block).instructions {
            let location = &body.value(*value).location;
            for effect in effects(body, *value) {
                match &effect {
                    Effect::Touch {
                        pointer, volatile, ..
                    } => {
                        if *volatile {
                            // Old code relies on warps in lockstep with volatile shared memory;
                            // volatile global memory means that blocks talk to each other.
                            let roots = roots(body, &privacy.changed_arguments, *pointer);
                            let shared = |root: &Root| {
                                matches!(root, Root::Shared(_) | Root::Unknown(3) | Root::Local)
                            };
                            if roots.iter().all(shared) {
                                warp_operations = true;
                            } else {
                                add_reason("accesses volatile global memory", location);
                            }
                        }
                        collector.touch(*value, *block, &effect);
                    }
                    Effect::Barrier => barriers.push(Barrier {
                        uniform: !flow.irreducible && !uniformity.divergent_blocks.contains(block),
                        loops: flow.loops_of(*block),
                        location: location.clone(),
                    }),
                    Effect::WarpOperation => warp_operations = true,
                    Effect::Print => prints = true,
                    Effect::Opaque(reason) => add_reason(reason, location),
                }
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
    let footprints = footprints(&collector.space, &collector.accesses);
    let loops = flow
        .loops
        .iter()
        .zip(&uniformity.uniform_loops)
        .map(|(each, uniform)| Loop {
            parent: each.parent,
            uniform_in_block: *uniform && !flow.irreducible,
            location: body.block(each.header).location.clone(),
            quotient: None,
        })
        .chain(collector.space.quotients.iter().map(|each| Loop {
            parent: None,
            uniform_in_block: false,
            location: body.location.clone(),
            quotient: Some(Quotient {
                dividend: each.dividend.clone(),
                divisor: each.divisor.clone(),
            }),
        }))
        .collect();
    let (static_shared_bytes, dynamic_shared) = shared_memory(body);
    KernelModel {
        id,
        name: name.to_owned(),
        display_name: display_name(name),
        location: body.location.clone(),
        formals: body
            .formals
            .iter()
            .map(|formal| KernelParameter {
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
        footprints,
        preconditions,
        opaque,
        warp_operations,
        prints,
        distinguishes_threads: super::in_step::distinguished_axes(body, &flow.order),
        static_shared_bytes,
        dynamic_shared,
        max_threads: body.max_threads,
    }
}

/// The model of a kernel whose body is not there: nothing is known, so it is opaque.
pub fn absent(id: KernelId, name: &str) -> KernelModel {
    KernelModel {
        id,
        name: name.to_owned(),
        display_name: display_name(name),
        location: Location::default(),
        formals: Vec::new(),
        parameters: Vec::new(),
        loops: Vec::new(),
        products: Vec::new(),
        accesses: Vec::new(),
        barriers: Vec::new(),
        footprints: Vec::new(),
        preconditions: Vec::new(),
        opaque: vec![("has no body".to_owned(), Location::default())],
        warp_operations: false,
        prints: false,
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
