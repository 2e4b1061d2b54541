//! XLA's rule, as a baseline: a producer is fused into all its consumers, and nothing expensive runs twice.
//!
//! From the results on, each elementwise operator joins the kernel of those that read it, where all of them are in one
//! kernel. Products and reductions are expensive: they take in what they read from where they reduce it, and join
//! nobody. Products, which XLA leaves to libraries, take nothing in either. No cost model is asked.
//!
//! XLA also runs cheap producers once in each of several kernels. A plan has each launch once, so that a producer whose
//! readers are in several kernels stays by itself here.

use super::greedy::stays_acyclic;
use super::oracle::union;
use super::{Class, EdgeKind, Oracle, Pattern, Plan, Planner, Scope};

/// The plan of XLA's rule.
pub fn xla(oracle: &mut Oracle<'_>) -> Plan {
    let problem = oracle.problem();
    let count = problem.nodes.len();
    let mut groups: Vec<Pattern> = (0..count).map(|node| vec![node]).collect();
    let mut home: Vec<usize> = (0..count).collect();
    for producer in (0..count).rev() {
        if problem.nodes[producer].class != Class::Elementwise {
            continue;
        }
        let out = || {
            let edges = problem.edges.iter();
            edges.filter(|edge| edge.source == producer && edge.kind == EdgeKind::Flow)
        };
        let Some(target) = out().next().map(|edge| home[edge.sink]) else {
            continue;
        };
        let takes_in = |node: usize| {
            !matches!(
                problem.nodes[node].class,
                Class::Product | Class::BatchedProduct | Class::Opaque
            )
        };
        let fits = out().all(|edge| {
            home[edge.sink] == target && edge.scope != Scope::Global && takes_in(edge.sink)
        });
        if !fits {
            continue;
        }
        let larger = union(&groups[target], &groups[producer]);
        if oracle.nanoseconds(&larger).is_some() && stays_acyclic(problem, &groups, &larger) {
            home[producer] = target;
            groups[producer].clear();
            groups[target] = larger;
        }
    }
    groups.retain(|group| group.len() > 1);
    Plan::of(Planner::Xla, groups, oracle)
}
