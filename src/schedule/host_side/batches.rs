//! Global scheduling (paper §4): which parts of the host program are issued in batches.
//!
//! Everything that is launched there waits; when the part is left, each launch goes into the earliest
//! batch after all that it depends on, and launches of one batch with equal code and shape become one; code generation
//! makes kernels for several codes, too, of which the host decides whether what meets has room at once.
//! Dependences are those of the bytes that each launch touches, which its operands tell when it is
//! issued. So host code may be a loop nest or written out, and nothing has to be affine: a stack of
//! recurrent cells over time becomes steps + cells - 1 batches.
//!
//! Invariant: between two launches of a region the host does nothing that a kernel could see or be
//! seen by. What is planned here is what may save launches; the verifier decides whether it may be.

use super::super::asked_memory::questions_of_waiting;
use super::super::batch_phases;
use super::super::expansion::Expansion;
use super::super::obstacle::never_runs;
use super::super::passing::{HowTheyWait, Passing, may_wait};
use super::super::{
    BatchedRegion, BatchedStatement, FusionGroup, FusionPlan, ScheduleOptions, ThreadMap,
};
use crate::dependence::{
    DependenceGraph, Edge, Guard, RangeTouch, SharedMemory, WholeWrite, WholeWrites,
};
use crate::kernel::KernelModel;
use crate::launch::{HostBlockId, Launch, LaunchGraph, LaunchId, NodeId, NodeKind};
use crate::program::KernelId;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The regions of a program whose launches are issued in batches, given the groups that run as one, and
/// how many launches, sets and copies that leaves where each loop runs once. `memory` is what is known of these launches.
pub fn plan_batches(
    graph: &LaunchGraph,
    (kernels, memory): (&[KernelModel], &SharedMemory<'_>),
    dependences: &DependenceGraph,
    groups: &[FusionGroup],
    options: &ScheduleOptions,
) -> (Vec<BatchedRegion>, usize) {
    let expands_buffers = options.expands_buffers;
    let candidates = candidates(
        graph,
        (kernels, memory),
        groups,
        Several::AtOnce { expands_buffers },
    );
    let expansion = expands_buffers.then(|| Expansion::new(graph, kernels, dependences));
    let renewed = expansion
        .as_ref()
        .map(|expansion| expansion.renewed(dependences));
    let planned_by = renewed.as_ref().unwrap_or(dependences);
    let grouped: usize = groups.iter().map(|group| group.members.len()).sum();
    let all = graph.nodes.iter();
    let all = all.filter(|node| matches!(node.kind, NodeKind::Launch(_)));
    let mut launches = all.count() + groups.len() - grouped;
    let mut planned: Vec<BatchedRegion> = Vec::new();
    // Waits of the host end a region, unless there is none without passing them; and so does what the host does with its
    // own memory, and what it may do elsewhere.
    let keeps = options.keep_synchronisations;
    for passing in [
        Passing::Nothing,
        Passing::Waits { keeps },
        Passing::HostWork { keeps },
    ] {
        if passing == (Passing::HostWork { keeps }) && !options.asks_memory {
            continue;
        }
        let taken: BTreeSet<LaunchId> = planned
            .iter()
            .flat_map(|region| region.statements.iter().map(|statement| statement.launch))
            .collect();
        for (outside_loops, members, waiting) in found(graph, passing, &candidates, &taken) {
            let issued = issued(graph, planned_by, outside_loops, &members);
            if issued.saves {
                launches = launches + issued.launches - members.len();
                let mut region = region_of((outside_loops, &members, waiting), false);
                for (statement, candidate) in region.statements.iter_mut().zip(&members) {
                    if let Some(expansion) = &expansion {
                        expansion.choose(statement, &candidate.members);
                    }
                }
                // A number of fusions is for bisection, which wants the same launches every time.
                if options.grid_barriers && options.max_fusions.is_none() {
                    batch_phases::choose(graph, kernels, &mut region, &members, groups);
                }
                planned.push(region);
            }
        }
    }
    (planned, launches)
}

/// Regions whose launches wait for nothing but to be issued as a graph, of what the plan leaves alone: those that come
/// again and again, and long runs of others.
pub fn plan_graph_regions(
    graph: &LaunchGraph,
    (kernels, memory): (&[KernelModel], &SharedMemory<'_>),
    plan: &FusionPlan,
    options: &ScheduleOptions,
) -> Vec<BatchedRegion> {
    let of_plan = plan.batched_regions.iter();
    let statements = of_plan.flat_map(|region| &region.statements);
    let mut taken: BTreeSet<LaunchId> = statements.map(|statement| statement.launch).collect();
    // What may be absent, and what begins early behind another launch, is issued in its turn.
    let groups = plan.groups.iter();
    let in_turn = groups.filter(|group| group.is_partial() || group.overlap.is_some());
    taken.extend(in_turn.filter_map(|group| Some(group.members.last()?.launch)));
    let candidates = candidates(graph, (kernels, memory), &plan.groups, Several::InTurn);
    let made = plan.groups.len() + plan.batched_regions.len();
    let most = options
        .max_fusions
        .map_or(usize::MAX, |most| most.saturating_sub(made));
    let mut planned: Vec<BatchedRegion> = Vec::new();
    let keeps = options.keep_synchronisations;
    for passing in [
        Passing::Nothing,
        Passing::Waits { keeps },
        Passing::HostWork { keeps },
    ] {
        if passing == (Passing::HostWork { keeps }) && !options.asks_memory {
            continue;
        }
        for (outside_loops, members, waiting) in found(graph, passing, &candidates, &taken) {
            let loops =
                |member: &Candidate| graph.loops_around(graph.nodes[member.node.0].block).len();
            let repeats = members.iter().any(|member| loops(member) > outside_loops);
            if repeats || members.len() >= LONG_RUN {
                planned.push(region_of((outside_loops, &members, waiting), true));
            }
        }
        let regions = planned.iter().flat_map(|region| &region.statements);
        taken.extend(regions.map(|statement| statement.launch));
    }
    planned.truncate(most);
    planned
}

/// So many launches that stand one after the other may be worth a graph.
const LONG_RUN: usize = 4;

/// The largest regions of candidates that are not taken.
fn found<'a>(
    graph: &LaunchGraph,
    passing: Passing,
    candidates: &'a [Candidate],
    taken: &BTreeSet<LaunchId>,
) -> Vec<Region<'a>> {
    let mut regions = Vec::new();
    for function in 0..graph.functions.len() {
        let members: Vec<&Candidate> = candidates
            .iter()
            .filter(|candidate| {
                let block = graph.nodes[candidate.node.0].block;
                graph.blocks[block.0].function == function
                    && !taken.contains(&candidate.statement.launch)
            })
            .collect();
        collect((graph, passing), None, members, &mut regions);
    }
    regions
}

fn region_of(
    (outside_loops, members, waiting): (usize, &[&Candidate], HowTheyWait),
    for_graphs: bool,
) -> BatchedRegion {
    let statements = members.iter().map(|candidate| {
        let mut statement = candidate.statement.clone();
        if waiting.asks {
            let questions = candidate.questions.iter().flatten();
            statement.guards.extend(questions.cloned());
        }
        statement
    });
    BatchedRegion {
        statements: statements.collect(),
        outside_loops,
        drained_before: waiting.drained_before.into_iter().collect(),
        for_graphs,
    }
}

/// A launch or group that may wait for its batch.
pub(in crate::schedule) struct Candidate {
    /// Where it is issued.
    pub(in crate::schedule) node: NodeId,
    /// All launches that it is.
    pub(in crate::schedule) members: Vec<NodeId>,
    /// Equal for equal code.
    pub(in crate::schedule) kernels: Vec<KernelId>,
    statement: BatchedStatement,
    /// What tells that the host cannot touch the memory that it touches; `None` where nothing does.
    pub(in crate::schedule) questions: Option<Vec<Guard>>,
}

/// What becomes of several launches of one group that wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum Several {
    /// They may run as one launch; what they replace may get other memory.
    AtOnce {
        /// It gets that.
        expands_buffers: bool,
    },
    /// Each is a launch by itself.
    InTurn,
}

/// All of them, in host order.
pub(in crate::schedule) fn candidates(
    graph: &LaunchGraph,
    (kernels, memory): (&[KernelModel], &SharedMemory<'_>),
    groups: &[FusionGroup],
    several: Several,
) -> Vec<Candidate> {
    let expands_buffers = several
        == Several::AtOnce {
            expands_buffers: true,
        };
    let mut whole = expands_buffers.then(|| WholeWrites::new(graph, kernels));
    let launches: BTreeMap<LaunchId, (NodeId, &Launch)> = graph
        .nodes
        .iter()
        .filter_map(|node| match &node.kind {
            NodeKind::Launch(launch) => Some((launch.id, (node.id, launch))),
            _ => None,
        })
        .collect();
    let mut grouped = BTreeSet::new();
    let mut sets: Vec<Vec<LaunchId>> = Vec::new();
    for group in groups {
        let members: Vec<LaunchId> = group.members.iter().map(|member| member.launch).collect();
        grouped.extend(members.iter().copied());
        // Ranges of blocks are counted in a grid of one dimension, of which a batch makes several.
        let mut maps = group.members.iter().map(|member| &member.map);
        let in_one_grid =
            several == Several::InTurn || maps.all(|map| !matches!(map, ThreadMap::Blocks { .. }));
        // A cooperative launch is one by itself.
        let by_itself = group.last_block.is_some() || group.recomputation.is_some();
        if in_one_grid && !group.is_cooperative() && !by_itself {
            sets.push(members);
        }
    }
    sets.extend(
        launches
            .keys()
            .filter(|launch| !grouped.contains(*launch))
            .map(|launch| vec![*launch]),
    );
    let mut candidates: Vec<Candidate> = sets
        .into_iter()
        .filter_map(|set| {
            let members: Option<Vec<(NodeId, &Launch)>> = set
                .iter()
                .map(|launch| launches.get(launch).copied())
                .collect();
            candidate(graph, kernels, memory, &members?, whole.as_mut())
        })
        .collect();
    candidates.sort_by_key(|candidate| candidate.node);
    candidates
}

fn candidate(
    graph: &LaunchGraph,
    kernels: &[KernelModel],
    memory: &SharedMemory<'_>,
    members: &[(NodeId, &Launch)],
    whole: Option<&mut WholeWrites<'_>>,
) -> Option<Candidate> {
    let mut replaced = Vec::new();
    let reads_addresses = members.iter().any(|(_, launch)| {
        let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
        model.is_none_or(|model| model.reads_addresses)
    });
    let mut whole = whole.filter(|_| !reads_addresses);
    let mut touches: Vec<RangeTouch> = Vec::new();
    let mut guards: Vec<Guard> = Vec::new();
    let mut codes = Vec::new();
    let mut questions = Some(Vec::new());
    for (node, launch) in members {
        let kernel = launch.kernel?;
        let model = kernels.get(kernel.0)?;
        let is_operation = graph.operation_of(launch.id).is_some();
        if is_operation
            || launch.special
            || graph.becomes_node(*node)
            || model.prints
            || !model.unfusable.is_empty()
            || !model.opaque.is_empty()
            || never_runs(graph, launch, model)
        {
            return None;
        }
        let whole = whole.as_mut().map(|whole| whole.of(*node));
        let whole = whole.unwrap_or_default();
        for touch in memory.ranges(*node)? {
            let is_whole = |write: &WholeWrite| write.operand == Some(touch.range.operand);
            if !touches.contains(touch) {
                if whole.iter().any(is_whole) {
                    replaced.push(touches.len());
                }
                touches.push(touch.clone());
            }
        }
        let valid = Guard::ConfigurationValid { launch: launch.id };
        if graph.is_seen_in_capture(*node, launch) {
            guards.push(Guard::NotCapturing { launch: launch.id });
        }
        let conditions = memory.conditions(*node)?.as_ref().ok()?;
        for guard in conditions.iter().cloned().chain([valid]) {
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        codes.push(kernel);
        let own = questions_of_waiting(graph, memory, (*node, *launch), model);
        questions = questions.zip(own).map(|(mut all, own)| {
            all.extend(own);
            all
        });
    }
    let (node, last) = members.last()?;
    Some(Candidate {
        node: *node,
        members: members.iter().map(|(node, _)| *node).collect(),
        kernels: codes,
        questions,
        statement: BatchedStatement {
            launch: last.id,
            touches,
            guards,
            replaced,
            must_replace: false,
            persistent: None,
            phase_rounds: None,
        },
    })
}

type Region<'a> = (usize, Vec<&'a Candidate>, HowTheyWait);

/// The largest regions inside one iteration of `scope` (or one call of the function).
fn collect<'a>(
    (graph, passing): (&LaunchGraph, Passing),
    scope: Option<usize>,
    members: Vec<&'a Candidate>,
    regions: &mut Vec<Region<'a>>,
) {
    let Some(first) = members.first() else {
        return;
    };
    let around = graph.loops_around(graph.nodes[first.node.0].block);
    let outside = match scope {
        None => 0,
        Some(index) => match around.iter().position(|each| *each == index) {
            Some(position) => position + 1,
            None => return,
        },
    };
    if let Some(waiting) = may_wait(graph, passing, scope, &members) {
        regions.push((outside, members, waiting));
        return;
    }
    let mut inside: BTreeMap<usize, Vec<&Candidate>> = BTreeMap::new();
    let mut straight: BTreeMap<HostBlockId, Vec<&Candidate>> = BTreeMap::new();
    for member in members {
        let block = graph.nodes[member.node.0].block;
        match graph.loops_around(block).get(outside) {
            Some(index) => inside.entry(*index).or_default().push(member),
            None => straight.entry(block).or_default().push(member),
        }
    }
    for (index, members) in inside {
        match may_wait(graph, passing, scope, &members) {
            Some(waiting) => regions.push((outside, members, waiting)),
            None => collect((graph, passing), Some(index), members, regions),
        }
    }
    for (block, members) in straight {
        for run in runs((graph, passing), block, &members) {
            if run.len() > 1
                && let Some(waiting) = may_wait(graph, passing, scope, &run)
            {
                regions.push((outside, run, waiting));
            }
        }
    }
}

/// The candidates of a block between which nothing speaks against waiting.
fn runs<'a>(
    (graph, passing): (&LaunchGraph, Passing),
    block: HostBlockId,
    members: &[&'a Candidate],
) -> Vec<Vec<&'a Candidate>> {
    let mut runs = vec![Vec::new()];
    let mut left = members.iter().peekable();
    for node in &graph.blocks[block.0].nodes {
        if let Some(member) = left.next_if(|member| member.node == *node) {
            runs.last_mut()
                .into_iter()
                .for_each(|run| run.push(*member));
        } else if !passing.allows(graph, *node) {
            runs.push(Vec::new());
        }
    }
    runs
}

/// What becomes of a region's launches.
pub(in crate::schedule) struct Issued {
    /// Two launches of equal code may come into one batch.
    pub(in crate::schedule) saves: bool,
    /// So many are left, those of one batch with equal code being one.
    pub(in crate::schedule) launches: usize,
    /// The batch of each member within one iteration, from 0 on, at least.
    pub(in crate::schedule) batches: Vec<usize>,
    /// Of each member, whether its runs surely come one after the other.
    pub(in crate::schedule) serial: Vec<bool>,
}

/// As far as the dependences that always exist tell.
pub(in crate::schedule) fn issued(
    graph: &LaunchGraph,
    dependences: &DependenceGraph,
    outside: usize,
    members: &[&Candidate],
) -> Issued {
    let mut statement_of = HashMap::new();
    for (index, member) in members.iter().enumerate() {
        statement_of.extend(member.members.iter().map(|node| (*node, index)));
    }
    let mut flow = DiGraph::<(), bool>::new();
    members.iter().for_each(|_| {
        flow.add_node(());
    });
    let mut batches = vec![0_usize; members.len()];
    for (sink, member) in members.iter().enumerate() {
        let mut batch = 0;
        for node in &member.members {
            let edges = dependences
                .graph
                .edges_directed(NodeIndex::new(node.0), petgraph::Direction::Incoming);
            for edge in edges {
                let (from, edge) = (NodeId(edge.source().index()), edge.weight());
                let Some(source) = statement_of
                    .get(&from)
                    .filter(|_| edge.absent_if.is_empty())
                else {
                    continue;
                };
                if edge.carried {
                    if edge.certain && is_next_iteration(edge) {
                        flow.add_edge(NodeIndex::new(*source), NodeIndex::new(sink), true);
                    }
                } else if *source < sink {
                    batch = batch.max(batches[*source] + 1);
                    if edge.certain {
                        flow.add_edge(NodeIndex::new(*source), NodeIndex::new(sink), false);
                    }
                }
            }
        }
        batches[sink] = batch;
    }
    // Statements in a circle of dependences from each iteration to the next.
    let mut serial = vec![false; members.len()];
    for circle in kosaraju_scc(&flow) {
        let carried = circle.iter().any(|index| {
            flow.edges(*index)
                .any(|edge| *edge.weight() && circle.contains(&edge.target()))
        });
        for index in circle {
            serial[index.index()] = carried;
        }
    }
    let loops = |member: &Candidate| graph.loops_around(graph.nodes[member.node.0].block).len();
    let repeats = |member: &Candidate| loops(member) > outside;
    let mut all = members.iter().enumerate();
    let in_loops = all.any(|(index, member)| repeats(member) && !serial[index]);
    let all = members.iter().enumerate();
    let met: BTreeSet<_> = all
        .map(|(index, member)| (batches[index], &member.kernels))
        .collect();
    Issued {
        saves: in_loops || met.len() < members.len(),
        launches: met.len(),
        batches,
        serial,
    }
}

/// Whether an edge surely holds from each iteration to the next one, in all of the loops around: its
/// relation has nothing in it that the two ends may have different values of.
fn is_next_iteration(edge: &Edge) -> bool {
    !edge.values_differ
        && edge.distances.iter().all(|distance| {
            distance.least.is_none_or(|least| least <= 1) && distance.most.is_none()
        })
}
