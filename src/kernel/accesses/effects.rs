//! The bytes that a block touches, as a set.
//!
//! The threads of the block and the iterations of its loops are projected out of the accesses; what is
//! left are the block's indices (`bx`, `by`, `bz`), its extents (`nx`, `ny`, `nz`), the launch's values
//! (`p0`, …) and the products of both (`q0 = bx * p0`). A product of a thread's or loop's variable with
//! a run-time value is some unknown then, and the set larger than what is touched.

use super::super::{Access, AccessId, BlockEffect, BlockSymbol, KernelModel, KernelSymbol};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{Set, with_operation_budget};
use std::collections::BTreeSet;
use std::fmt;

/// Operations of isl for each effect.
const MOST_OPERATIONS: u64 = 100_000;

/// More accesses to one target are not united.
const MOST_ACCESSES: usize = 64;

/// Bytes of a target that a block touches.
pub struct BlockSet {
    /// Of one dimension, the byte; its parameters are named `p0`, `bx`, `nx`, `q0` and so on.
    pub bytes: Set,
    /// All of them are touched, whenever the launch runs to its end; otherwise no others may be.
    pub exact: bool,
}

impl BlockSet {
    /// `[p0, bx, by, bz, q0] -> { [byte] : … }`, in isl's notation, for who reads it; `None` where isl gives up.
    pub fn text(&self) -> Option<String> {
        with_operation_budget(MOST_OPERATIONS, || self.bytes.to_text()).ok()
    }
}

/// What such a set speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Symbol {
    Byte,
    Of(Variable),
    /// A block's extent that the kernel does not read.
    Extent(Axis),
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte => formatter.write_str("byte"),
            Self::Of(variable) => write!(formatter, "{variable}"),
            Self::Extent(axis) => write!(formatter, "n{}", axis.name()),
        }
    }
}

fn value(variable: Variable) -> Sum<Symbol> {
    Sum::variable(Symbol::Of(variable))
}

fn expression(affine: &Affine) -> Option<Sum<Symbol>> {
    Sum::of_affine(affine, &mut |variable| Some(value(variable.clone())))
}

impl KernelModel {
    /// The effects of a block, a line each: what filetests and dumps show.
    pub fn block_effects_text(&self) -> String {
        let mut text = String::new();
        for effect in &self.block_effects {
            let set = self.block_set(effect);
            let set = match set.and_then(|set| Some((set.text()?, set.exact))) {
                Some((bytes, true)) => format!("exactly {bytes}"),
                Some((bytes, false)) => format!("at most {bytes}"),
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
            let bytes = united.take()?.coalesce().ok()?;
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
        let mut parameters: Vec<Symbol> = (0..self.parameters.len())
            .map(Variable::Parameter)
            .chain(Axis::ALL.map(Variable::Block))
            .map(Symbol::Of)
            .collect();
        let (fixed, moving): (Vec<usize>, Vec<usize>) =
            mentioned.iter().partition(|index| of_block.contains(index));
        let products = |indices: &[usize]| -> Vec<Symbol> {
            let products = indices.iter().copied().map(Variable::Product);
            products.map(Symbol::Of).collect()
        };
        parameters.extend(products(&fixed));
        let mut dimensions = vec![Symbol::Byte];
        let mut conditions = Vec::new();
        let number = |number: u64| Sum::number(number);
        for axis in Axis::ALL {
            let (block, thread) = (value(Variable::Block(axis)), value(Variable::Thread(axis)));
            dimensions.push(Symbol::Of(Variable::Thread(axis)));
            let most = if axis == Axis::Z { 64 } else { 1024 };
            let known = extents[axis.index()];
            let most = known.unwrap_or(most);
            conditions.push(block.clone().at_least(number(0)));
            conditions.push(Formula::within(thread.clone(), number(0), number(most)));
            let named = |symbol| {
                let symbol = Expression::Leaf(symbol);
                let index = self.parameters.iter().position(|known| *known == symbol)?;
                Some(Symbol::Of(Variable::Parameter(index)))
            };
            let extent = named(KernelSymbol::BlockSize(axis));
            match (known, extent) {
                (Some(known), Some(extent)) => {
                    conditions.push(Sum::variable(extent).equal(number(known)));
                }
                (None, extent) if self.depends_on(access, &Variable::Thread(axis)) => {
                    let extent = extent.unwrap_or_else(|| {
                        parameters.push(Symbol::Extent(axis));
                        Symbol::Extent(axis)
                    });
                    let extent = Sum::variable(extent);
                    conditions.push(thread.below(extent.clone()));
                    conditions.push(extent.at_most(number(most)));
                }
                _ => {}
            }
            if let Some(extent) = named(KernelSymbol::GridSize(axis)) {
                conditions.push(block.below(Sum::variable(extent)));
            }
        }
        for index in &access.loops {
            dimensions.push(Symbol::Of(Variable::Loop(*index)));
            conditions.push(value(Variable::Loop(*index)).at_least(number(0)));
        }
        dimensions.extend(products(&moving));
        let domain = access.domain.iter().map(|conjunction| {
            let rows = conjunction.iter().map(|constraint| {
                Some(match constraint {
                    Constraint::NonNegative(row) => Formula::NonNegative(expression(row)?),
                    Constraint::Zero(row) => Formula::Zero(expression(row)?),
                })
            });
            rows.collect::<Option<_>>().map(Formula::All)
        });
        conditions.push(Formula::Any(domain.collect::<Option<_>>()?));
        let first = expression(subscript)?;
        let end = first.clone() + i128::from(access.size_bytes);
        conditions.push(Formula::within(Sum::variable(Symbol::Byte), first, end));
        let set = Set::of(&parameters, &dimensions, &Formula::All(conditions)).ok()?;
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
