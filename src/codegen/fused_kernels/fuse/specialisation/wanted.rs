//! Sites of a plan -> the kernels that are made for them.
//!
//! Invariant: sites share a kernel only where their shapes are equal and its facts hold at each of them.

use super::super::Part;
use super::super::batch::Statement;
use super::super::specialisation::{Shape, Site, SpecialisationKey};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A kernel to be made, and the sites that use it, by their positions.
#[derive(Clone, Debug)]
pub(in crate::codegen::fused_kernels::fuse) struct Order<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) specialisation: SpecialisationKey<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) sites: Vec<usize>,
}

/// All kernels to be made for a plan.
pub(in crate::codegen::fused_kernels::fuse) struct Wanted<'ctx> {
    /// Those of groups, then those of statements that wait.
    pub(in crate::codegen::fused_kernels::fuse) orders: Vec<Order<'ctx>>,
    of_groups: usize,
    /// The numbers of those that run the launches of a loop one after the other, of one statement each.
    persistent: BTreeSet<usize>,
    /// Kernels of groups by their numbers, and statements of theirs by their sites, which wait but are never
    /// launched several at once: the kernel of the group is all that they need.
    pub(in crate::codegen::fused_kernels::fuse) never_batched: Vec<(usize, Vec<usize>)>,
}

impl<'ctx> Wanted<'ctx> {
    /// Of the sites of all groups, then those of statements.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        sites: &[Option<Site<'ctx>>],
        groups: usize,
        statements: &[Statement],
    ) -> Self {
        let site = |position: usize| Some((position, sites[position].as_ref()?));
        let mut made = orders(&(0..groups).filter_map(site).collect::<Vec<_>>(), false);
        let of_groups = made.len();
        let (persistent, waiting): (Vec<&Statement>, Vec<&Statement>) = statements
            .iter()
            .partition(|statement| statement.persistent().is_some());
        let waiting = waiting.into_iter().map(Statement::site);
        let mut never_batched = Vec::new();
        for order in orders(&waiting.filter_map(site).collect::<Vec<_>>(), true) {
            match single(&made[..of_groups], &order) {
                Some(number) if !may_meet(statements, &order) => {
                    never_batched.push((number, order.sites))
                }
                _ => made.push(order),
            }
        }
        let first = made.len();
        for statement in persistent {
            made.extend(site(statement.site()).map(|(position, site)| Order {
                specialisation: site.specialisation.clone(),
                sites: vec![position],
            }));
        }
        Self {
            persistent: (first..made.len()).collect(),
            orders: made,
            of_groups,
            never_batched,
        }
    }

    /// The kernels of one part, and the number of the first.
    pub(in crate::codegen::fused_kernels::fuse) fn of_part(
        &self,
        part: Part,
    ) -> (usize, &[Order<'ctx>]) {
        let (of_groups, of_batches) = self.orders.split_at(self.of_groups);
        match part {
            Part::Groups => (0, of_groups),
            Part::Batches => (self.of_groups, of_batches),
        }
    }

    /// Whether the sites of a kernel for batches have one kernel for themselves that takes the same.
    pub(in crate::codegen::fused_kernels::fuse) fn is_single(&self, number: usize) -> bool {
        let order = &self.orders[number];
        let is_as_written =
            order.specialisation.shape.members.len() == 1 && !self.persistent.contains(&number);
        is_as_written || single(&self.orders[..self.of_groups], order).is_some()
    }
}

/// The kernel of groups that all sites of another one have, from an equal specialisation key.
fn single(of_groups: &[Order], order: &Order) -> Option<usize> {
    of_groups.iter().position(|other| {
        other.specialisation == order.specialisation
            && order.sites.iter().all(|site| other.sites.contains(site))
    })
}

/// Whether launches of two sites, or two of one site, may wait at the same time, to be launched at once, or may be launched
/// with those of other batches.
fn may_meet(statements: &[Statement], order: &Order) -> bool {
    let sites: HashSet<usize> = order.sites.iter().copied().collect();
    let own = statements
        .iter()
        .filter(|statement| sites.contains(&statement.site()) && !statement.for_graphs());
    let mut regions = HashSet::new();
    own.into_iter().any(|statement| {
        let repeats = statement.repeats() || !regions.insert(statement.region());
        repeats || statement.phase_rounds().is_some()
    })
}

/// The statements of some sites, with these.
pub(in crate::codegen::fused_kernels::fuse) fn statements_at<'a, 'ctx>(
    own: &[usize],
    statements: &'a [Statement],
    sites: &'a [Option<Site<'ctx>>],
) -> Vec<(&'a Statement, &'a Site<'ctx>)> {
    let own: BTreeSet<usize> = own.iter().copied().collect();
    let statements = statements.iter();
    let own = statements.filter(|statement| own.contains(&statement.site()));
    own.filter_map(|statement| Some((statement, sites[statement.site()].as_ref()?)))
        .collect()
}

/// The kernels for sites, in the order of their first sites. `in_common`: one a shape, whatever the
/// facts.
fn orders<'ctx>(sites: &[(usize, &Site<'ctx>)], in_common: bool) -> Vec<Order<'ctx>> {
    let mut shapes: Vec<&Shape> = Vec::new();
    let mut by_shape: HashMap<&Shape, Vec<Order>> = HashMap::new();
    for (position, site) in sites {
        let orders = by_shape
            .entry(&site.specialisation.shape)
            .or_insert_with(|| {
                shapes.push(&site.specialisation.shape);
                Vec::new()
            });
        let mut known = orders.iter_mut();
        match known.find(|order| order.specialisation.facts == site.specialisation.facts) {
            Some(order) => order.sites.push(*position),
            None => orders.push(Order {
                specialisation: site.specialisation.clone(),
                sites: vec![*position],
            }),
        }
    }
    let mut made = Vec::new();
    for shape in shapes {
        let mut orders = by_shape.remove(shape).unwrap_or_default().into_iter();
        if orders.len() <= MOST_VARIANTS && !in_common {
            made.extend(orders);
            continue;
        }
        let Some(mut order) = orders.next() else {
            continue;
        };
        for other in orders {
            order.specialisation.facts =
                order.specialisation.facts.meet(&other.specialisation.facts);
            order.sites.extend(other.sites);
        }
        made.push(order);
    }
    made.sort_by_key(|order| order.sites.iter().min().copied());
    made
}

/// So many kernels are made at most for sites of one shape that differ in facts; with more of them
/// all use one kernel, made from what all have in common.
const MOST_VARIANTS: usize = 4;

#[cfg(test)]
mod tests {
    use super::super::super::specialisation::tests::site;
    use super::*;

    /// How many kernels of several launches are made for two groups that wait in some regions, in
    /// loops or not.
    fn kernels_of_batches(equal: bool, waiting: [(usize, bool); 2]) -> usize {
        let sites = [Some(site(32)), Some(site(if equal { 32 } else { 64 }))];
        let statements = [0, 1].map(|site| {
            let (region, repeats) = waiting[site];
            Statement::waiting(site, region, repeats)
        });
        let wanted = Wanted::of(&sites, sites.len(), &statements);
        wanted.of_part(Part::Batches).1.len()
    }

    #[test]
    fn what_never_waits_beside_an_equal_launch_has_no_kernel_for_several() {
        assert_eq!(kernels_of_batches(true, [(0, false), (1, false)]), 0);
        assert_eq!(kernels_of_batches(true, [(0, false), (0, false)]), 1);
        assert_eq!(kernels_of_batches(true, [(0, true), (1, false)]), 1);
        // They have a kernel each, and none that is both's.
        assert_eq!(kernels_of_batches(false, [(0, false), (1, false)]), 1);
    }
}
