//! One planner, or the best of all.
//!
//! Invariant: `auto` never takes a plan that takes longer by the model than greedy's, and takes another one than greedy's only
//! where it is better by [`LEAST_GAIN`] at least: what a model says of less than that is chance.

use super::contraction::find_cycle;
use super::greedy::greedy;
use super::ilp::ilp;
use super::priority::priority;
use super::span::span;
use super::xla::xla;
use super::{Class, Deadline, Oracle, Plan, PlanOptions, Planner, Priority};

/// `auto` leaves greedy's plan only for one that takes less by this part of its time.
pub const LEAST_GAIN: f64 = 0.03;

/// `auto` asks the learned order in problems of so many operators; smaller ones the integer program searches well.
pub const LEAST_OF_LEARNED: usize = 24;

/// The plan that the options ask for. A plan that has a forbidden set of patterns, or a cycle, loses the latest of these
/// patterns until it has none; greedy's without forbidden sets is taken as it is.
pub fn plan(oracle: &mut Oracle<'_>, options: &PlanOptions) -> Plan {
    let deadline = Deadline::after(options.budget);
    let found = match options.planner {
        Planner::Auto => return best(oracle, options, deadline),
        Planner::Greedy => greedy(oracle),
        Planner::Ilp => ilp(oracle, options, &[], deadline),
        Planner::Span => span(oracle),
        Planner::Priority => priority(oracle, options, deadline),
        Planner::Xla => xla(oracle),
    };
    allowed(oracle, options, found)
}

fn best(oracle: &mut Oracle<'_>, options: &PlanOptions, deadline: Deadline) -> Plan {
    let safe = greedy(oracle);
    let safe = allowed(oracle, options, safe);
    if is_out_of_reach(oracle, &safe) {
        return safe;
    }
    let by_layers = span(oracle);
    let by_layers = allowed(oracle, options, by_layers);
    let walked = priority(oracle, options, deadline);
    let walked = allowed(oracle, options, walked);
    let learned = match oracle.problem().nodes.len() {
        0..LEAST_OF_LEARNED => walked.clone(),
        _ => {
            let options = PlanOptions {
                priority: Priority::Learned,
                ..options.clone()
            };
            priority(oracle, &options, deadline)
        }
    };
    let learned = allowed(oracle, options, learned);
    let solved = ilp(oracle, options, &[&by_layers, &walked, &learned], deadline);
    let solved = allowed(oracle, options, solved);
    let most = safe.nanoseconds * (1.0 - LEAST_GAIN);
    let others = [solved, by_layers, walked, learned].into_iter();
    let better = others.filter(|plan| plan.nanoseconds < most);
    // Of equal ones the first.
    let better = better.reduce(|best, next| match next.nanoseconds < best.nanoseconds {
        true => next,
        false => best,
    });
    better.unwrap_or(safe)
}

/// Whether greedy makes one kernel of all that may join, and two kernels would take longer whatever they do: each is
/// launched, and waits for its first bytes.
fn is_out_of_reach(oracle: &mut Oracle<'_>, greedy: &Plan) -> bool {
    let problem = oracle.problem();
    let joins = |node: &usize| problem.nodes[*node].class != Class::Opaque;
    let joining: Vec<usize> = (0..problem.nodes.len()).filter(joins).collect();
    if greedy.patterns.as_slice() != [joining.as_slice()] {
        return joining.len() < 2;
    }
    let device = &problem.device;
    let first_bytes = device.half_rate_bytes / device.bytes_per_nanosecond;
    let alone = joining
        .iter()
        .filter_map(|node| oracle.nanoseconds(&[*node]));
    let least = alone.fold(first_bytes, f64::min);
    let one = oracle.nanoseconds(&joining).unwrap_or(f64::INFINITY);
    let launch = device.launch_nanoseconds;
    2.0 * (launch + least) >= (launch + one) * (1.0 - LEAST_GAIN)
}

fn allowed(oracle: &mut Oracle<'_>, options: &PlanOptions, mut plan: Plan) -> Plan {
    let problem = oracle.problem();
    let is_fine = |plan: &Plan| {
        options.allows(&plan.patterns) && find_cycle(problem, &plan.patterns).is_none()
    };
    if is_fine(&plan) {
        return plan;
    }
    let mut kept = Plan {
        patterns: Vec::new(),
        ..plan.clone()
    };
    for pattern in std::mem::take(&mut plan.patterns) {
        kept.patterns.push(pattern);
        if !is_fine(&kept) {
            kept.patterns.pop();
        }
    }
    kept.nanoseconds = oracle.nanoseconds_of_plan(&kept.patterns);
    kept
}
