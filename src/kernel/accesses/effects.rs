//! The bytes that a block touches, as a set.
//!
//! The threads of the block and the iterations of its loops are projected out of the accesses; what is
//! left are the block's indices (`bx`, `by`, `bz`), its extents (`nx`, `ny`, `nz`), the launch's values
//! (`p0`, …) and the products of both (`q0 = bx * p0`). A product of a thread's or loop's variable with
//! a run-time value is some unknown then, and the set larger than what is touched.

use super::super::{Access, AccessId, BlockEffect, BlockSymbol, KernelModel, KernelSymbol};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::math::isl::{Set, with_operation_budget};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// Operations of isl for each effect.
const MOST_OPERATIONS: u64 = 100_000;

/// More accesses to one target are not united.
const MOST_ACCESSES: usize = 64;

/// Bytes of a target that a block touches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSet {
    /// `[p0, bx, by, bz, q0] -> { [byte] : … }`, in isl's notation.
    pub bytes: String,
    /// All of them are touched, whenever the launch runs to its end; otherwise no others may be.
    pub exact: bool,
}

impl KernelModel {
    /// The effects of a block, a line each: what filetests and dumps show.
    pub fn block_effects_text(&self) -> String {
        let mut text = String::new();
        for effect in &self.block_effects {
            let set = match self.block_set(effect) {
                Some(BlockSet { bytes, exact: true }) => format!("exactly {bytes}"),
                Some(BlockSet { bytes, .. }) => format!("at most {bytes}"),
                None => "anywhere there".to_owned(),
            };
            text.push_str(&format!("  {effect}: {set}\n"));
        }
        text
    }

    /// The set of bytes of one of [`KernelModel::block_effects`]; `None` where an access may be
    /// anywhere in the target, or isl gives up.
    pub fn block_set(&self, effect: &BlockEffect) -> Option<BlockSet> {
        let set = self.bytes_touched(&effect.accesses, [None; 3])?;
        let exact = effect.exact && set.exact;
        Some(BlockSet { exact, ..set })
    }

    /// The bytes that a block touches by some accesses, `extents` being the block's where they are known; `None`
    /// where one may be anywhere in its target, or isl gives up.
    pub fn bytes_touched(
        &self,
        accesses: &[AccessId],
        extents: [Option<u64>; 3],
    ) -> Option<BlockSet> {
        if accesses.len() > MOST_ACCESSES {
            return None;
        }
        let mut exact = true;
        let mut united: Option<Set> = None;
        with_operation_budget(MOST_OPERATIONS, || {
            for id in accesses {
                let access = self.accesses.get(id.0)?;
                let (set, all) = self.bytes_of(access, extents)?;
                exact &= all && access.exact;
                united = Some(match united.take() {
                    Some(known) => known.union(&set).ok()?,
                    None => set,
                });
            }
            let bytes = united.take()?.coalesce().ok()?.to_text().ok()?;
            Some(BlockSet { bytes, exact })
        })
    }

    /// The bytes of an access, and whether its set is no larger than the access's own.
    fn bytes_of(&self, access: &Access, extents: [Option<u64>; 3]) -> Option<(Set, bool)> {
        let subscript = access.subscript.as_ref()?;
        let of_block: BTreeSet<usize> = (0..self.products.len())
            .filter(|index| self.is_of_block(&self.products[*index].factor))
            .collect();
        let mentioned = self.products_of(access);
        let mut parameters: Vec<String> = (0..self.parameters.len())
            .map(|index| format!("p{index}"))
            .collect();
        parameters.extend(Axis::ALL.map(|axis| format!("b{}", axis.name())));
        let (fixed, moving): (Vec<usize>, Vec<usize>) =
            mentioned.iter().partition(|index| of_block.contains(index));
        parameters.extend(fixed.iter().map(|index| format!("q{index}")));
        let mut dimensions = vec!["byte".to_owned()];
        let mut constraints = Vec::new();
        for axis in Axis::ALL {
            let name = axis.name();
            dimensions.push(format!("t{name}"));
            let most = if axis == Axis::Z { 64 } else { 1024 };
            let known = extents[axis.index()];
            let most = known.unwrap_or(most);
            constraints.push(format!("b{name} >= 0 and 0 <= t{name} < {most}"));
            let named = |symbol| {
                let symbol = Expression::Leaf(symbol);
                let index = self.parameters.iter().position(|known| *known == symbol)?;
                Some(format!("p{index}"))
            };
            let extent = named(KernelSymbol::BlockSize(axis));
            match (known, extent) {
                (Some(known), Some(extent)) => constraints.push(format!("{extent} = {known}")),
                (None, extent) if self.depends_on(access, &Variable::Thread(axis)) => {
                    let extent = extent.unwrap_or_else(|| {
                        parameters.push(format!("n{name}"));
                        format!("n{name}")
                    });
                    constraints.push(format!("t{name} < {extent} <= {most}"));
                }
                _ => {}
            }
            if let Some(extent) = named(KernelSymbol::GridSize(axis)) {
                constraints.push(format!("b{name} < {extent}"));
            }
        }
        for index in &access.loops {
            dimensions.push(format!("i{index}"));
            constraints.push(format!("i{index} >= 0"));
        }
        dimensions.extend(moving.iter().map(|index| format!("q{index}")));
        let domain = access.domain.iter().map(|conjunction| {
            let rows = conjunction.iter().map(Constraint::to_string);
            let rows: Vec<_> = rows.chain(["0 = 0".to_owned()]).collect();
            format!("({})", rows.join(" and "))
        });
        let domain: Vec<_> = domain.chain(["1 = 0".to_owned()]).collect();
        constraints.push(format!("({})", domain.join(" or ")));
        let size = access.size_bytes;
        constraints.push(format!("{subscript} <= byte < {subscript} + {size}"));
        let text = format!(
            "[{}] -> {{ [{}] : {} }}",
            parameters.join(", "),
            dimensions.join(", "),
            constraints.join(" and ")
        );
        let set = Set::parse(&text).ok()?;
        let set = set.project_out(1, dimensions.len() - 1).ok()?;
        Some((set, moving.is_empty()))
    }

    /// The products that an access mentions, directly or through others.
    fn products_of(&self, access: &Access) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        self.visit(access, &mut |variable| {
            if let Variable::Product(index) = variable {
                found.insert(*index);
            }
        });
        found
    }

    fn depends_on(&self, access: &Access, wanted: &Variable) -> bool {
        let mut found = false;
        self.visit(access, &mut |variable| found |= variable == wanted);
        found
    }

    fn visit(&self, access: &Access, see: &mut impl FnMut(&Variable)) {
        let domain = access.domain.iter().flatten().map(|constraint| {
            let (Constraint::NonNegative(row) | Constraint::Zero(row)) = constraint;
            row
        });
        for affine in domain.chain(&access.subscript) {
            self.visit_affine(affine, see);
        }
    }

    fn visit_affine(&self, affine: &Affine, see: &mut impl FnMut(&Variable)) {
        for (_, variable) in &affine.terms {
            see(variable);
            match variable {
                Variable::Product(index) => self.visit_affine(&self.products[*index].factor, see),
                Variable::Floor(inner, _) => self.visit_affine(inner, see),
                _ => {}
            }
        }
    }

    /// All threads of a block have one value of it.
    fn is_of_block(&self, affine: &Affine) -> bool {
        let mut uniform = true;
        self.visit_affine(affine, &mut |variable| {
            uniform &= !matches!(variable, Variable::Thread(_) | Variable::Loop(_));
        });
        uniform
    }
}

impl fmt::Display for BlockSymbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(axis) => write!(formatter, "blockIdx.{}", axis.name()),
            Self::Launch(symbol) => write!(formatter, "{symbol}"),
        }
    }
}

impl fmt::Display for BlockEffect {
    /// `a block writes arg0 within [4*blockIdx.x*blockDim.x, …)`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.writes { "writes" } else { "reads" };
        write!(formatter, "a block {verb} {} within [", self.target)?;
        let bounds = [&self.low_bytes, &self.high_bytes];
        for (bound, end) in bounds.into_iter().zip([", ", ")"]) {
            match bound {
                Some(bound) => write!(formatter, "{bound}{end}")?,
                None => write!(formatter, "?{end}")?,
            }
        }
        Ok(())
    }
}
