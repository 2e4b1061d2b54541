//! Whether what a launch writes is a new version: all bytes of a range, none of which it reads.
//!
//! Invariant: a write is called whole only where every thread of the launch was followed, in a model
//! that says exactly what is executed; what is not known to be whole may still be.

use super::super::effect::{Effect, ranges_disjoint};
use super::super::instance::Instance;
use super::super::overlap::{Overlap, overlap};
use crate::kernel::{Access, AccessId, AccessKind, KernelModel, Product};
use crate::launch::{LaunchGraph, NodeId, Operand};
use crate::math::affine::{Affine, Axis, Constraint, Constraints, Variable};
use crate::program::KernelId;
use std::collections::HashMap;

/// A range of bytes that a launch replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeWrite {
    /// The buffer, as edges name it.
    pub buffer: String,
    /// The operand that is the launch's pointer; `None` where it has none.
    pub operand: Option<Operand>,
    /// First byte, from the launch's pointer on.
    pub low_bytes: i64,
    /// One past the last byte.
    pub high_bytes: i64,
}

/// What the launches of a program write wholly. Equal launches of a kernel are followed once.
pub struct WholeWrites<'a> {
    graph: &'a LaunchGraph,
    kernels: &'a [KernelModel],
    known: HashMap<Question, bool>,
}

/// Everything that decides whether accesses touch all of a range.
#[derive(PartialEq, Eq, Hash)]
struct Question {
    kernel: KernelId,
    extents: [i64; 6],
    parameters: Vec<Option<i64>>,
    accesses: Vec<AccessId>,
    range: (i64, i64),
}

impl<'a> WholeWrites<'a> {
    /// Of a program, `kernels` indexed by id.
    pub fn new(graph: &'a LaunchGraph, kernels: &'a [KernelModel]) -> Self {
        let known = HashMap::new();
        Self {
            graph,
            kernels,
            known,
        }
    }

    /// The ranges that a launch of known shape writes wholly, whose earlier contents it does not read.
    pub fn of(&mut self, node: NodeId) -> Vec<WholeWrite> {
        let Some(Effect::Modelled(instance)) = Effect::of(self.graph, self.kernels, node) else {
            return Vec::new();
        };
        let Some(threads) = Threads::of(self.graph, &instance) else {
            return Vec::new();
        };
        let known = &mut self.known;
        let covered = |accesses: &[&Access], low: i64, high: i64| {
            let question = Question {
                kernel: instance.model.id,
                extents: threads.extents,
                parameters: threads.parameters.clone(),
                accesses: accesses.iter().map(|access| access.id).collect(),
                range: (low, high),
            };
            *known
                .entry(question)
                .or_insert_with(|| threads.cover(accesses, low, high) == Some(true))
        };
        whole_writes(self.graph, &instance, covered)
    }
}

fn whole_writes(
    graph: &LaunchGraph,
    instance: &Instance<'_>,
    mut covered: impl FnMut(&[&Access], i64, i64) -> bool,
) -> Vec<WholeWrite> {
    let mut whole = Vec::new();
    for used in &instance.uses {
        let writes: Vec<&Access> = used
            .writes
            .iter()
            .map(|at| &instance.model.accesses[*at])
            .collect();
        let plain = |access: &&Access| access.kind == AccessKind::Write && access.exact;
        let range = used.range.as_ref();
        let range = range.and_then(|(low, high)| Some((low.as_constant()?, high.as_constant()?)));
        let (Some((low_bytes, high_bytes)), true) = (range, used.reads.is_empty()) else {
            continue;
        };
        let reads_it = instance.uses.iter().any(|other| {
            let distance = overlap(graph, &used.place, &other.place, &|_| true);
            !other.reads.is_empty()
                && match distance {
                    Overlap::Never => false,
                    Overlap::Distance(distance) => {
                        let ranges = (used.range.as_ref(), other.range.as_ref());
                        !ranges_disjoint(&distance, ranges.0, ranges.1, &|_| false)
                    }
                    Overlap::Unknown => true,
                }
        });
        if !reads_it
            && !writes.is_empty()
            && writes.iter().all(plain)
            && covered(&writes, low_bytes, high_bytes)
        {
            whole.push(WholeWrite {
                buffer: used.place.name.clone(),
                operand: used.place.operand,
                low_bytes,
                high_bytes,
            });
        }
    }
    whole
}

/// All threads of a launch, and the values that their subscripts depend on.
struct Threads<'a> {
    /// Grid x, y, z, then block x, y, z.
    extents: [i64; 6],
    parameters: Vec<Option<i64>>,
    products: &'a [Product],
}

impl<'a> Threads<'a> {
    /// `None` where there are too many, or it is not known how many.
    fn of(graph: &LaunchGraph, instance: &Instance<'a>) -> Option<Self> {
        let shape = &instance.shape;
        let extents = shape.grid.iter().chain(&shape.block);
        let extents: Vec<i64> = extents
            .map(|extent| extent.as_constant())
            .collect::<Option<_>>()?;
        let extents: [i64; 6] = extents.try_into().ok()?;
        let count = extents
            .iter()
            .try_fold(1_i64, |count, extent| count.checked_mul(*extent))?;
        let parameters = instance.parameters(graph, shape);
        (instance.broken.is_none() && count <= MOST_THREADS).then(|| Self {
            extents,
            parameters: parameters.iter().map(|value| value.as_constant()).collect(),
            products: &instance.model.products,
        })
    }

    /// Whether the accesses touch every byte of a range; `None` where that is not known.
    fn cover(&self, accesses: &[&Access], low: i64, high: i64) -> Option<bool> {
        let bytes = usize::try_from(high.checked_sub(low)?).ok()?;
        if bytes > MOST_BYTES {
            return None;
        }
        let mut touched = vec![false; bytes];
        for access in accesses {
            let subscript = access.subscript.as_ref()?;
            let mut place = [0_i64; 6];
            loop {
                if self.holds(&access.domain, &place)? {
                    let from = self.value(subscript, &place)?.checked_sub(low)?;
                    let to = from.checked_add(i64::from(access.size_bytes))?;
                    let [from, to] = [from, to].map(|byte| byte.clamp(0, high - low) as usize);
                    touched[from..to].fill(true);
                }
                let Some(axis) = (0..6).find(|axis| place[*axis] + 1 < self.extents[*axis]) else {
                    break;
                };
                place[..axis].fill(0);
                place[axis] += 1;
            }
        }
        Some(touched.into_iter().all(|byte| byte))
    }

    fn holds(&self, constraints: &Constraints, place: &[i64; 6]) -> Option<bool> {
        let mut any = false;
        for conjunction in constraints {
            let mut all = true;
            for constraint in conjunction {
                all &= match constraint {
                    Constraint::NonNegative(affine) => self.value(affine, place)? >= 0,
                    Constraint::Zero(affine) => self.value(affine, place)? == 0,
                };
            }
            any |= all;
        }
        Some(any)
    }

    /// `None` for what depends on a loop or on a value of the run, or is too large.
    fn value(&self, affine: &Affine, place: &[i64; 6]) -> Option<i64> {
        let at = |axis: &Axis| axis.index();
        let mut sum = affine.constant;
        for (coefficient, variable) in &affine.terms {
            let value = match variable {
                Variable::Block(axis) => place[at(axis)],
                Variable::Thread(axis) => place[3 + at(axis)],
                Variable::Loop(_) => return None,
                Variable::Parameter(index) => (*self.parameters.get(*index)?)?,
                Variable::Product(index) => {
                    let product = self.products.get(*index)?;
                    let factor = self.value(&product.factor, place)?;
                    factor.checked_mul((*self.parameters.get(product.parameter)?)?)?
                }
                Variable::Floor(numerator, divisor) => {
                    self.value(numerator, place)?.checked_div_euclid(*divisor)?
                }
            };
            sum = sum.checked_add(coefficient.checked_mul(value)?)?;
        }
        Some(sum)
    }
}

/// Larger launches are not followed thread by thread.
const MOST_THREADS: i64 = 1 << 18;
/// Nor larger ranges byte by byte.
const MOST_BYTES: usize = 1 << 22;

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(products: &[Product]) -> Threads<'_> {
        Threads {
            extents: [3, 1, 1, 4, 1, 1],
            parameters: vec![Some(4), None],
            products,
        }
    }

    fn linear(coefficient: i64, product: bool) -> Affine {
        let block = match product {
            true => (coefficient, Variable::Product(0)),
            false => (4 * coefficient, Variable::Block(Axis::X)),
        };
        Affine {
            constant: 0,
            terms: vec![(coefficient, Variable::Thread(Axis::X)), block],
        }
    }

    fn covered(subscript: Affine, domain: Constraints, size_bytes: u32, high: i64) -> Option<bool> {
        let factor = Affine {
            constant: 0,
            terms: vec![(1, Variable::Block(Axis::X))],
        };
        let products = [Product {
            factor,
            parameter: 0,
        }];
        let access = Access {
            subscript: Some(subscript),
            domain,
            size_bytes,
            ..write()
        };
        threads(&products).cover(&[&access], 0, high)
    }

    fn write() -> Access {
        Access {
            id: crate::kernel::AccessId(0),
            kind: AccessKind::Write,
            target: crate::kernel::Target::Unknown,
            subscript: None,
            size_bytes: 4,
            domain: vec![Vec::new()],
            loops: Vec::new(),
            exact: true,
            why_inexact: String::new(),
            invariant_load: false,
            volatile: false,
            asynchronous: false,
            place: 0,
            location: crate::diagnostics::Location::default(),
        }
    }

    #[test]
    fn every_byte_has_to_be_written() {
        let all = || vec![Vec::new()];
        let below = |bound: i64| {
            let mut left = linear(-1, false);
            left.constant = bound - 1;
            vec![vec![Constraint::NonNegative(left)]]
        };
        assert_eq!(covered(linear(4, true), all(), 4, 48), Some(true));
        assert_eq!(covered(linear(4, false), all(), 4, 48), Some(true));
        assert_eq!(
            covered(linear(4, false), all(), 4, 52),
            Some(false),
            "one more"
        );
        assert_eq!(
            covered(linear(8, false), all(), 4, 96),
            Some(false),
            "every other"
        );
        assert_eq!(covered(linear(4, false), all(), 3, 48), Some(false), "gaps");
        assert_eq!(covered(linear(4, false), below(12), 4, 48), Some(true));
        assert_eq!(
            covered(linear(4, false), below(11), 4, 48),
            Some(false),
            "not the last"
        );
        assert_eq!(
            covered(linear(4, false), Vec::new(), 4, 48),
            Some(false),
            "nobody"
        );
    }

    #[test]
    fn what_depends_on_the_run_is_not_known() {
        for variable in [Variable::Parameter(1), Variable::Loop(0)] {
            let mut subscript = linear(4, false);
            subscript.terms.push((1, variable));
            assert_eq!(covered(subscript, vec![Vec::new()], 4, 48), None);
        }
    }
}
