//! Guards for people: `scale.gridDim.x == shift.gridDim.x`.

use super::{ReportGuard, ReportMappedScope};
use crate::dependence::{CoordinateSymbol, Guard, MappedScope, PointerRange};
use crate::kernel::KernelModel;
use crate::launch::{BEHIND_POINTER, LaunchGraph, LaunchId, NodeKind, Operand, ValueId};
use crate::math::expression::{Condition, Expression};
use std::collections::BTreeMap;

/// How launches are called in conditions: by their kernel, with the line where one kernel is
/// launched at several places.
pub(super) struct LaunchNames<'a> {
    graph: &'a LaunchGraph,
    names: BTreeMap<LaunchId, String>,
    /// The names of each launch's parameters, as its kernel has them.
    parameters: BTreeMap<LaunchId, Vec<String>>,
}

impl<'a> LaunchNames<'a> {
    pub(super) fn new(graph: &'a LaunchGraph, kernels: &[KernelModel]) -> Self {
        let mut launches = Vec::new();
        let mut parameters = BTreeMap::new();
        for node in &graph.nodes {
            if let NodeKind::Launch(launch) = &node.kind {
                let model = launch.kernel.and_then(|kernel| kernels.get(kernel.0));
                let name = model.map_or("launch", |model| &model.display_name);
                launches.push((launch.id, name, node.location.line));
                let formals = model.into_iter().flat_map(|model| &model.formals);
                parameters.insert(
                    launch.id,
                    formals.map(|formal| formal.name.clone()).collect(),
                );
            }
        }
        let mut namesakes: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, name, _) in &launches {
            *namesakes.entry(name).or_default() += 1;
        }
        let names = launches
            .iter()
            .map(|(id, name, line)| match namesakes[name] {
                1 => (*id, (*name).to_string()),
                _ => (*id, format!("{name}@{line}")),
            });
        let names = names.collect();
        Self {
            graph,
            names,
            parameters,
        }
    }

    pub(super) fn guard(&self, guard: &Guard) -> ReportGuard {
        let condition = match guard {
            Guard::Holds { condition, .. } => self.condition(condition),
            Guard::RangesDisjoint { left, right } => format!(
                "{} and {} do not overlap",
                self.range(left),
                self.range(right)
            ),
            Guard::SameOrDisjoint { left, right } => format!(
                "{} and {} do not overlap, or the two are equal",
                self.range(left),
                self.range(right)
            ),
            Guard::DeviceMemory { launch, operand } => format!(
                "{} leads to memory of the device alone",
                self.operand(*launch, *operand)
            ),
            Guard::NotCapturing { launch } => {
                format!("the stream of {} is not captured", self.launch(*launch))
            }
            Guard::SameStream { first, second } => format!(
                "{} and {} are on one stream",
                self.launch(*first),
                self.launch(*second)
            ),
            Guard::Resident { rounds } => format!(
                "the device runs so many of the blocks at once that none has more than {rounds} rounds"
            ),
            Guard::ConfigurationValid { launch } => match self.graph.operation_of(*launch) {
                Some(_) => format!("{} has no null pointer", self.launch(*launch)),
                None => format!("{} has a valid configuration", self.launch(*launch)),
            },
        };
        ReportGuard {
            kind: guard.kind().to_owned(),
            condition,
        }
    }

    /// A map with its coordinates written out.
    pub(super) fn mapped(&self, mapped: &MappedScope) -> ReportMappedScope {
        let coordinate = |expression: &Expression<CoordinateSymbol>| {
            let named = expression.substitute(&mut |symbol| {
                Some(Expression::Leaf(match symbol {
                    CoordinateSymbol::Value(value) => self.value(*value),
                    place => place.to_string(),
                }))
            });
            named.map_or_else(String::new, |named| named.to_string())
        };
        ReportMappedScope {
            scope: mapped.scope,
            source: mapped.map.source.iter().map(coordinate).collect(),
            sink: mapped.map.sink.iter().map(coordinate).collect(),
            source_blocks: mapped.map.source_blocks,
            sink_blocks: mapped.map.sink_blocks,
            guards: mapped.conditions.iter().map(|g| self.guard(g)).collect(),
        }
    }

    fn launch(&self, launch: LaunchId) -> String {
        let name = self.names.get(&launch).cloned();
        name.unwrap_or_else(|| format!("launch{}", launch.0))
    }

    fn range(&self, range: &PointerRange) -> String {
        let pointer = self.operand(range.launch, range.operand);
        let (low, high) = (&range.low_bytes, &range.high_bytes);
        format!(
            "{pointer} bytes [{}, {})",
            self.expression(low, 0),
            self.expression(high, 0)
        )
    }

    fn operand(&self, launch: LaunchId, operand: Operand) -> String {
        let name = self.launch(launch);
        // `scale.n`, or by its number where the source has no name for it.
        let parameter = |argument: usize| {
            let names = self.parameters.get(&launch);
            match names.and_then(|names| names.get(argument)) {
                Some(parameter) if !parameter.is_empty() => format!("{name}.{parameter}"),
                _ => format!("{name}.argument{argument}"),
            }
        };
        let axis = |axis: u8| {
            ["x", "y", "z"]
                .get(usize::from(axis))
                .copied()
                .unwrap_or("?")
        };
        match operand {
            Operand::Grid(index) => format!("{name}.gridDim.{}", axis(index)),
            Operand::Block(index) => format!("{name}.blockDim.{}", axis(index)),
            Operand::SharedBytes => format!("{name}.sharedBytes"),
            Operand::Stream => format!("{name}.stream"),
            Operand::Argument {
                argument,
                offset_bytes: 0,
                ..
            } => parameter(argument),
            Operand::Argument {
                argument,
                offset_bytes,
                ..
            } => match offset_bytes.checked_sub(BEHIND_POINTER) {
                Some(distance) => format!("the pointer at {}+{distance}", parameter(argument)),
                None => format!("{}+{offset_bytes}", parameter(argument)),
            },
        }
    }

    fn value(&self, value: ValueId) -> String {
        let Some(host) = self.graph.values.get(value.0) else {
            return format!("v{}", value.0);
        };
        match host.constant {
            Some(constant) => constant.to_string(),
            None if !self.names.contains_key(&host.holder.0) => format!("v{}", value.0),
            None => self.operand(host.holder.0, host.holder.1),
        }
    }

    fn condition(&self, condition: &Condition<ValueId>) -> String {
        let joined = |parts: &[Condition<ValueId>], word: &str, none: &str| {
            let parts: Vec<_> = parts.iter().map(|part| self.condition(part)).collect();
            match parts.as_slice() {
                [] => none.to_string(),
                [one] => one.clone(),
                _ => format!("({})", parts.join(word)),
            }
        };
        match condition {
            Condition::LessEqual(a, b) => {
                format!("{} <= {}", self.expression(a, 0), self.expression(b, 0))
            }
            Condition::Equal(a, b) => {
                format!("{} == {}", self.expression(a, 0), self.expression(b, 0))
            }
            Condition::All(parts) => joined(parts, " and ", "true"),
            Condition::Any(parts) => joined(parts, " or ", "false"),
        }
    }

    /// `strength` is 0 where a sum may stand, 1 where a product, 2 where only a factor.
    pub(super) fn expression(&self, expression: &Expression<ValueId>, strength: u8) -> String {
        let both = |a, b, left, right| (self.expression(a, left), self.expression(b, right));
        let (text, own) = match expression {
            Expression::Constant(value) => (value.to_string(), 2),
            Expression::Leaf(value) => (self.value(*value), 2),
            Expression::Add(a, b) => {
                let (a, b) = both(a, b, 0, 0);
                (format!("{a} + {b}"), 0)
            }
            Expression::Subtract(a, b) => {
                let (a, b) = both(a, b, 0, 1);
                (format!("{a} - {b}"), 0)
            }
            Expression::Multiply(a, b) => {
                let (a, b) = both(a, b, 1, 2);
                (format!("{a} * {b}"), 1)
            }
            Expression::FloorDivide(a, b) => {
                let (a, b) = both(a, b, 1, 2);
                (format!("{a} / {b}"), 1)
            }
            Expression::Minimum(a, b) => {
                let (a, b) = both(a, b, 0, 0);
                (format!("min({a}, {b})"), 2)
            }
            Expression::Maximum(a, b) => {
                let (a, b) = both(a, b, 0, 0);
                (format!("max({a}, {b})"), 2)
            }
        };
        match own < strength {
            true => format!("({text})"),
            false => text,
        }
    }
}
