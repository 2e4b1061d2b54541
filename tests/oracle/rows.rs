//! Edges between launches that ran one after the other, by name: what the graph says and what was seen.

use crate::compare::{Claim, LaunchNode};
use sirius_rs::dependence::{DependenceKind, Scope};
use std::collections::BTreeMap;

/// A static edge, or several of one kind, between two sites that ran one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourEdge {
    /// `scale:14 -> shift:15 flow`.
    pub name: String,
    /// What the graph says for all sizes; `None`: a test at run time told that there is nothing, each
    /// time that the two ran.
    pub predicted: Option<Scope>,
    /// What its relation says for the sizes of the run.
    pub at_run: Option<Scope>,
    /// What was seen; `None`: no common byte.
    pub observed: Option<Scope>,
    /// One of the widest edges is a *may*: its relation covers what the data decides.
    pub may: bool,
    /// Why the graph says so, in its own words.
    pub because: String,
}

impl NeighbourEdge {
    /// The graph says what was seen.
    pub fn is_exact(&self) -> bool {
        self.observed == self.predicted
    }
}

/// Edges between neighbours by their names.
#[derive(Default)]
pub struct Rows {
    rows: BTreeMap<String, NeighbourEdge>,
}

impl Rows {
    /// Adds what the graph says of a pair of launches, for each kind that it has an edge of.
    pub fn predict(
        &mut self,
        (source, sink): (&LaunchNode, &LaunchNode),
        claims: &[Claim],
        mut at_run: impl FnMut(&Claim) -> Option<Scope>,
    ) {
        for claim in claims {
            let row = self.row(source, sink, claim.edge.kind);
            row.at_run = row.at_run.max(at_run(claim));
            row.may |= !claim.edge.exact;
            if claim.scope > row.predicted {
                row.predicted = claim.scope;
                row.because = claim.edge.because.to_string();
            }
        }
    }

    /// Adds what was seen between a pair of launches.
    pub fn observe(
        &mut self,
        (source, sink): (&LaunchNode, &LaunchNode),
        (kind, scope): (DependenceKind, Scope),
    ) {
        let row = self.row(source, sink, kind);
        row.observed = row.observed.max(Some(scope));
    }

    fn row(
        &mut self,
        source: &LaunchNode,
        sink: &LaunchNode,
        kind: DependenceKind,
    ) -> &mut NeighbourEdge {
        let name = format!("{} {}", pair_name(source, sink), kind_name(kind));
        self.rows
            .entry(name.clone())
            .or_insert_with(|| NeighbourEdge {
                name,
                predicted: None,
                at_run: None,
                observed: None,
                may: false,
                because: String::new(),
            })
    }

    pub fn finish(self) -> Vec<NeighbourEdge> {
        self.rows.into_values().collect()
    }
}

/// `scale:14 -> shift:15`.
pub fn pair_name(source: &LaunchNode, sink: &LaunchNode) -> String {
    format!(
        "{}:{} -> {}:{}",
        source.name, source.line, sink.name, sink.line
    )
}

/// The kind's name in reports.
pub fn kind_name(kind: DependenceKind) -> &'static str {
    match kind {
        DependenceKind::Flow => "flow",
        DependenceKind::Anti => "anti",
        DependenceKind::Output => "output",
        DependenceKind::Reduction => "reduction",
    }
}
