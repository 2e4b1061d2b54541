//! Members of which each block of the fused launch runs as much as it touches: an elementwise kernel before or
//! after one whose blocks work on whole rows.
//!
//! Invariant: an edge that stays inside of blocks does so by numbers of which each block of the fused launch
//! runs so many in one piece, of either member, by the map of the edge.

use super::super::ThreadOrder;
use super::super::domains::{Found, Launched, MOST_NUMBERS, Numbered};
use super::super::group::{Judge, orders};
use super::super::numbers::{Sum, sum_of};
use super::super::obstacle::Candidate;
use crate::dependence::{CoordinateSymbol, Edge, Guard, Scope};
use crate::launch::ValueId;
use crate::math::expression::{Condition, Expression};

impl<'a> Judge<'a> {
    /// How many of a member's threads a block of the fused launch may have to run, by the maps of the edges
    /// to members that have their place, and by theirs.
    pub(in crate::schedule) fn runs(
        &self,
        member: &Candidate<'a>,
        numbered: &[Numbered<'a>],
    ) -> Vec<Expression<ValueId>> {
        let mut runs = Vec::new();
        let mut add = |run: Option<Expression<ValueId>>| {
            if let Some(run) = run
                && !runs.contains(&run)
            {
                runs.push(run);
            }
        };
        for other in numbered {
            let [first, second] = match other.member.node < member.node {
                true => [&other.member, member],
                false => [member, &other.member],
            };
            let edges = self.edges_as_counted(first, second).unwrap_or_default();
            let is_source = first.node == member.node;
            let sides = edges.into_iter().map(|edge| (edge, is_source));
            for (edge, is_source) in sides.filter(|(edge, _)| orders(edge)) {
                let coordinates = edge.mapped.as_ref().map(|mapped| match is_source {
                    true => mapped.map.source.as_slice(),
                    false => mapped.map.sink.as_slice(),
                });
                if let Some([coordinate]) = coordinates {
                    add(self.share_of(coordinate, member));
                }
            }
        }
        for other in numbered {
            add(other.run.clone());
        }
        runs
    }

    /// What a member's numbers are divided by in a coordinate.
    fn share_of(
        &self,
        coordinate: &Expression<CoordinateSymbol>,
        member: &Candidate,
    ) -> Option<Expression<ValueId>> {
        let (inner, divisor) = match coordinate {
            Expression::FloorDivide(inner, divisor) => (&**inner, (**divisor).clone()),
            other => (other, Expression::Constant(1)),
        };
        let divisor = divisor.substitute(&mut |symbol| match symbol {
            CoordinateSymbol::Value(value) => Some(Expression::Leaf(*value)),
            CoordinateSymbol::Block(_) | CoordinateSymbol::Thread(_) => None,
        })?;
        let sum = sum_of(inner)?;
        if self.linear_block(member).as_ref() == Some(&sum) {
            return Some(divisor.multiply(self.block_threads(member)));
        }
        let number = self.number(member, ThreadOrder::Blocks, None)?;
        (number == sum).then_some(divisor)
    }

    /// What has to hold, and pays, where each block runs `length` of a member's numbers; `None` when it
    /// cannot.
    pub(in crate::schedule) fn run_conditions(
        &self,
        member: &Candidate,
        length: &Expression<ValueId>,
        launch: &Launched,
        found: &mut Found,
    ) -> Option<()> {
        let constant = |value: i64| Expression::Constant(value);
        let [x, y, z] = launch.grid.clone();
        let blocks = x.multiply(y).multiply(z);
        let positive = Condition::LessEqual(constant(1), length.clone());
        match positive.decided() {
            Some(true) => {}
            Some(false) => return None,
            None => found.add_of("map", positive),
        }
        let mut conditions = Vec::new();
        for blocks in &launch.grids {
            let end = blocks.clone().multiply(length.clone());
            conditions.push(Condition::LessEqual(end, constant(MOST_NUMBERS)));
        }
        let most = launch.threads.saturating_mul(MOST_TURNS);
        conditions.push(Condition::LessEqual(length.clone(), constant(most)));
        // The last block is left with no more than what its launch was rounded up by.
        let slack = self.block_threads(member).subtract(constant(1));
        let reached = blocks.multiply(length.clone()).add(slack);
        conditions.push(Condition::LessEqual(self.total(member), reached));
        for condition in conditions {
            match condition.decided() {
                Some(true) => {}
                Some(false) => return None,
                None => found.add(condition),
            }
        }
        Some(())
    }

    /// What it relies on that an edge stays inside the blocks of the fused launch, each of which runs so many
    /// numbers of either member; `None` when it does not.
    pub(in crate::schedule) fn in_one_block<'b>(
        &self,
        edge: &'b Edge,
        source: &Numbered,
        sink: &Numbered,
        launch: &Launched,
    ) -> Option<&'b [Guard]> {
        let counted = |side: &Numbered| {
            let by_blocks = self.number(&side.member, ThreadOrder::Blocks, None);
            by_blocks.as_ref() == Some(&side.number)
        };
        // Beyond the last block runs stay in it.
        let apart = |one: &Numbered, other: &Numbered| one.run.is_some() && other.repeats;
        if launch.fused != ThreadOrder::Blocks
            || !counted(source)
            || !counted(sink)
            || apart(source, sink)
            || apart(sink, source)
        {
            return None;
        }
        let share = |side: &Numbered| match &side.run {
            Some(run) => run.clone(),
            None => Expression::Constant(launch.threads),
        };
        let (many, few) = (share(source), share(sink));
        let blocks = [source, sink].map(|side| self.linear_block(&side.member));
        if edge.scope <= Scope::Block
            && blocks[0].is_some()
            && blocks[0] == blocks[1]
            && let Some(together) = self.blocks_in(&source.member, &many)
            && self.blocks_in(&sink.member, &few) == Some(together)
        {
            return Some(&edge.conditions);
        }
        let mapped = edge.mapped.as_ref()?;
        let ([one], [other]) = (mapped.map.source.as_slice(), mapped.map.sink.as_slice()) else {
            return None;
        };
        let is = |coordinate: &Expression<CoordinateSymbol>, side: &Numbered, share: &_| {
            let divisor = self.share_of(coordinate, &side.member);
            let sums = divisor
                .and_then(|divisor| value_of(&divisor))
                .zip(value_of(share));
            sums.is_some_and(|(divisor, share)| divisor == share)
        };
        (is(one, source, &many) && is(other, sink, &few)).then_some(mapped.conditions.as_slice())
    }

    /// How many whole blocks of a member so many threads are.
    fn blocks_in(&self, member: &Candidate, threads: &Expression<ValueId>) -> Option<i64> {
        let own = self.block_threads(member).as_constant()?;
        let threads = threads.as_constant()?;
        (own > 0 && threads % own == 0).then(|| threads / own)
    }
}

/// A host value, multiplied out.
fn value_of(expression: &Expression<ValueId>) -> Option<Sum> {
    let value = |value: &ValueId| Some(Expression::Leaf(CoordinateSymbol::Value(*value)));
    sum_of(&expression.substitute(&mut { value })?)
}

/// At most so many numbers of a member a thread of the fused launch runs.
const MOST_TURNS: i64 = 32;
