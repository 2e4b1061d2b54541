//! Members whose threads are remapped: whether each thread of theirs runs once, needs no other of its
//! block, and meets what it depends on.
//!
//! An order of the threads of a launch is a numeration in mixed radix, which is one-to-one whatever its
//! digits' order. A remapped member's number n runs in the thread of the fused launch that has number n there,
//! or n less a multiple of the number of its threads. So two instances of *one number*, each by the order
//! that its member is remapped by, or by the fused launch's for members that stay where they are, are
//! in one thread. The converse need not hold. So of a pair of members of which one is remapped, no conflicting
//! instances may have different numbers; or, where a barrier stands between, numbers in different blocks of
//! the fused launch, which are runs of as many numbers as a block has threads, or as the member's map says
//! (`runs`). The numbers of the threads of
//! the fused launch are below 2³¹, as are those of the members, so that 32 bits hold them and what is
//! added to them.
//!
//! A thread may leave its block only where it does not count on it: no barrier, no shared memory, no operation
//! of a warp, no atomic of whose scope the model does not speak.

use super::super::Refusal;
use super::super::conflict::{ConflictSet, Side};
use super::super::elements;
use super::super::emptiness::{Condition, Sum, Symbol};
use super::super::formula::{Assumptions, Formula};
use super::super::matrix_tiles;
use super::super::member::Member;
use super::super::place::Values;
use super::super::polynomial::Polynomial;
use super::super::runs::{self, Quotient};
use crate::kernel::{AccessKind, Target};
use crate::math::affine::{Affine, Axis, Variable};
use crate::schedule::{FusionGroup, ThreadMap, ThreadOrder};
use std::collections::BTreeMap;

/// The numbers of the threads of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::verify) struct Numbers {
    order: ThreadOrder,
    /// Grid x, y, z; `None` for an extent that is not told.
    grid: [Option<Polynomial>; 3],
    block: [Polynomial; 3],
    /// So many that follow each other count as one.
    together: Polynomial,
    /// The axes of an array with their extents, the fastest first: numbers are those of its elements, and only
    /// threads whose positions along these axes are below the extents have one. Empty: all threads have.
    array: Vec<(Axis, Polynomial)>,
}

/// What is known of the fused launch of a group with remapped members.
pub(in crate::verify) struct Remapping {
    /// Its grid; `None` on the x axis where only some member's grid is known to have the largest extent.
    grid: [Option<Polynomial>; 3],
    block: [Polynomial; 3],
    /// Each is at most the number of its threads.
    least_totals: Vec<Polynomial>,
    /// The largest of these is the number of its threads.
    totals: Vec<Polynomial>,
    /// The largest of these is the number of its blocks.
    block_counts: Vec<Polynomial>,
}

impl Remapping {
    /// `None` for groups without remapped members.
    ///
    /// # Errors
    /// When the shape of the fused launch is not told by members that keep it.
    pub(in crate::verify) fn of(
        group: &FusionGroup,
        members: &[Member<'_>],
        is_operation: impl Fn(&Member<'_>) -> bool,
        assumptions: &Assumptions,
    ) -> Result<Option<Self>, Refusal> {
        let planned = || members.iter().zip(&group.members);
        if !planned().any(|(_, planned)| is_remapped(&planned.map)) {
            return Ok(None);
        }
        let first = members[0].launch.id;
        let mixed = || Refusal::MixedMaps { first };
        let keepers: Vec<_> = planned()
            .filter(|(_, planned)| !is_remapped(&planned.map))
            .collect();
        if !keepers
            .iter()
            .all(|(_, planned)| planned.map.keeps_indices())
        {
            return Err(mixed());
        }
        // The shape of a set or a copy is that of a launch, which has to be one that tells the shape.
        let launches: Vec<&Member<'_>> = keepers
            .iter()
            .map(|(member, _)| *member)
            .filter(|member| !is_operation(member))
            .collect();
        let carried = |member: &Member<'_>| {
            let mut launches = launches.iter();
            launches.any(|launch| launch.extents == member.extents)
        };
        if launches.is_empty() || !keepers.iter().all(|(member, _)| carried(member)) {
            return Err(mixed());
        }
        let total = |member: &Member<'_>| product(&member.extents);
        let block_counts = launches.iter().map(|member| product(&member.extents[..3]));
        let block_counts = block_counts.collect::<Option<Vec<_>>>().ok_or_else(mixed)?;
        let block = |member: &Member<'_>| -> [Polynomial; 3] {
            std::array::from_fn(|axis| member.extents[3 + axis].clone())
        };
        let whole = keepers
            .iter()
            .find(|(_, planned)| planned.map == ThreadMap::Identity);
        if let Some((member, _)) = whole {
            let all = total(member).ok_or_else(mixed)?;
            return Ok(Some(Self {
                grid: std::array::from_fn(|axis| Some(member.extents[axis].clone())),
                block: block(member),
                least_totals: vec![all.clone()],
                totals: vec![all],
                block_counts,
            }));
        }
        let one = Polynomial::constant(1);
        let line = |member: &&Member<'_>| {
            let mut extents = member.extents[1..3].iter();
            extents.all(|extent| assumptions.equal(extent, &one))
        };
        if !launches.iter().all(line) {
            return Err(mixed());
        }
        let totals = launches.iter().map(|member| total(member));
        let totals: Vec<Polynomial> = totals.collect::<Option<_>>().ok_or_else(mixed)?;
        Ok(Some(Self {
            grid: [None, Some(one.clone()), Some(one)],
            block: block(launches[0]),
            least_totals: totals.clone(),
            totals,
            block_counts,
        }))
    }

    /// What speaks against the maps of remapped members by themselves.
    pub(in crate::verify) fn refusals(
        &self,
        group: &FusionGroup,
        members: &[Member<'_>],
        values: &Values<'_>,
        assumptions: &Assumptions,
    ) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        let at_most = |left: &Polynomial, right: &Polynomial| {
            let bound = Formula::less_equal(left, right);
            bound.is_some_and(|bound| assumptions.imply(&bound))
        };
        let most = Polynomial::constant(MOST_NUMBERS);
        let first = members[0].launch.id;
        if !self.totals.iter().all(|total| at_most(total, &most)) {
            refusals.push(Refusal::TooManyThreads { launch: first });
        }
        for (member, planned) in members.iter().zip(&group.members) {
            let launch = member.launch.id;
            // In the fused launch the threads of all axes are told apart.
            for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
                let single = member.extents[3 + axis].as_constant() == Some(1);
                if !single && !member.model.distinguishes_threads[axis] {
                    refusals.push(Refusal::NotInStep {
                        first,
                        second: launch,
                        axis: name,
                    });
                }
            }
            if !is_remapped(&planned.map) {
                continue;
            }
            if let Some(what) = needs_its_block(member) {
                let what = what.to_owned();
                refusals.push(Refusal::NotRemapped { launch, what });
            }
            let Some(total) = product(&member.extents) else {
                refusals.push(Refusal::TooManyThreads { launch });
                continue;
            };
            if !at_most(&total, &most) {
                refusals.push(Refusal::TooManyThreads { launch });
            }
            if let ThreadMap::Elements { .. } = &planned.map {
                let fused = (&self.grid, &self.block);
                refusals.extend(elements::refusal(
                    member,
                    &planned.map,
                    fused,
                    values,
                    assumptions,
                ));
            }
            if let ThreadMap::Tiles { .. } = &planned.map {
                let map = &planned.map;
                refusals.extend(matrix_tiles::refusal(
                    member,
                    map,
                    &self.grid,
                    values,
                    assumptions,
                ));
            }
            let once = matches!(planned.map, ThreadMap::Remapped { repeats: false, .. });
            if once && !self.least_totals.iter().any(|all| at_most(&total, all)) {
                let what = String::from("perhaps more threads than the fused launch");
                refusals.push(Refusal::NotRemapped { launch, what });
            }
            if let ThreadMap::Runs { length, .. } = &planned.map {
                let length = runs::length(length, values);
                let counts = &self.block_counts;
                if !length.is_some_and(|length| runs::fit(&length, counts, &most, assumptions)) {
                    refusals.push(Refusal::TooManyThreads { launch });
                }
            }
        }
        refusals
    }

    /// Whether the fused launch has the grid and the block of a member.
    pub(in crate::verify) fn has_shape_of(
        &self,
        member: &Member<'_>,
        assumptions: &Assumptions,
    ) -> bool {
        let grid = self.grid.iter().zip(&member.extents[..3]);
        let mut blocks = self.block.iter().zip(&member.extents[3..]);
        let mut grids = grid.map(|(grid, own)| {
            let known = grid.as_ref();
            known.is_some_and(|grid| assumptions.equal(grid, own))
        });
        grids.all(|equal| equal) && blocks.all(|(fused, own)| assumptions.equal(fused, own))
    }

    /// The numbers of the threads of two members, of which one is remapped at least, where equal ones are in
    /// one thread of the fused launch; `None` when they are counted in different orders, or the blocks
    /// run them by different runs.
    pub(in crate::verify) fn thread_numbers(
        &self,
        members: [&Member<'_>; 2],
        maps: [&ThreadMap; 2],
        values: &Values<'_>,
        assumptions: &Assumptions,
    ) -> Option<[Numbers; 2]> {
        let lengths = maps.map(|map| match map {
            ThreadMap::Runs { length, .. } => Some(runs::length(length, values)),
            _ => None,
        });
        let alike = match lengths {
            [None, None] => true,
            [Some(one), Some(other)] => assumptions.equal(&one?, &other?),
            _ => false,
        };
        if maps
            .iter()
            .any(|map| matches!(map, ThreadMap::Elements { .. }))
        {
            return elements::numbers(members, maps, values, assumptions);
        }
        let alike = matrix_tiles::alike(maps, values, assumptions).unwrap_or(alike);
        alike.then(|| self.numbers(members, maps)).flatten()
    }

    /// The same where all numbers count as one that a block of the fused launch runs; `None` when
    /// these do not follow each other.
    pub(in crate::verify) fn block_numbers(
        &self,
        members: [&Member<'_>; 2],
        maps: [&ThreadMap; 2],
        values: &Values<'_>,
    ) -> Option<[Numbers; 2]> {
        // Beyond the last block one begins anew with the first, the other stays.
        let repeats = |map: &&ThreadMap| matches!(map, ThreadMap::Remapped { repeats: true, .. });
        let stays = |map: &&ThreadMap| matches!(map, ThreadMap::Runs { .. });
        // Elements of a block do not follow each other.
        let of_elements =
            |map: &&ThreadMap| matches!(map, ThreadMap::Elements { .. } | ThreadMap::Tiles { .. });
        if maps.iter().any(of_elements) {
            return None;
        }
        if maps.iter().any(repeats) && maps.iter().any(stays) {
            return None;
        }
        let mut numbers = self.numbers(members, maps)?;
        for (numbers, map) in numbers.iter_mut().zip(maps) {
            numbers.together = match map {
                ThreadMap::Runs { length, .. } => runs::length(length, values)?,
                ThreadMap::Remapped {
                    fused: ThreadOrder::Rows,
                    ..
                } => return None,
                _ => {
                    let threads = self.block.iter().map(Polynomial::as_constant);
                    let threads = threads.product::<Option<i64>>()?;
                    Polynomial::constant(Some(threads).filter(|threads| *threads >= 1)?)
                }
            };
        }
        Some(numbers)
    }

    fn numbers(&self, members: [&Member<'_>; 2], maps: [&ThreadMap; 2]) -> Option<[Numbers; 2]> {
        let fused = maps.map(|map| match map {
            ThreadMap::Remapped { fused, .. } => Some(*fused),
            ThreadMap::Runs { .. } | ThreadMap::Tiles { .. } => Some(ThreadOrder::Blocks),
            _ => None,
        });
        if !maps
            .iter()
            .all(|map| is_remapped(map) || map.keeps_indices())
        {
            return None;
        }
        let fused = match fused {
            [Some(one), Some(other)] => (one == other).then_some(one)?,
            [one, other] => one.or(other)?,
        };
        let numbers = |at: usize| {
            let extents = &members[at].extents;
            let (order, grid) = match maps[at] {
                ThreadMap::Remapped { own, .. } | ThreadMap::Runs { own, .. } => {
                    let own_grid = |axis: usize| Some(extents[axis].clone());
                    (*own, std::array::from_fn(own_grid))
                }
                ThreadMap::Tiles { .. } => return Numbers::counted(extents),
                _ => (fused, self.grid.clone()),
            };
            Numbers {
                order,
                grid,
                block: std::array::from_fn(|axis| extents[3 + axis].clone()),
                together: Polynomial::constant(1),
                array: Vec::new(),
            }
        };
        Some([numbers(0), numbers(1)])
    }
}

/// Whether the member's threads are remapped.
pub(in crate::verify) fn is_remapped(map: &ThreadMap) -> bool {
    map.is_remapped()
}

/// What a member's threads count on other threads of their block for.
pub(in crate::verify) fn needs_its_block(member: &Member<'_>) -> Option<&'static str> {
    let model = member.model;
    if !model.barriers.is_empty() {
        return Some("barriers");
    }
    if model.warp_operations {
        return Some("warp operations");
    }
    if model.asynchronous_copies {
        return Some("asynchronous copies");
    }
    if model.prints {
        return Some("output");
    }
    let shared = model.static_shared_bytes > 0 || model.dynamic_shared;
    for access in &model.accesses {
        if matches!(access.target, Target::Shared(_) | Target::UnknownShared) {
            return Some("shared memory");
        }
        match access.kind {
            AccessKind::Atomic => return Some("atomics of unknown scope"),
            AccessKind::Reduction(update) if update.within_block => {
                return Some("atomics within a block");
            }
            AccessKind::Read | AccessKind::Write | AccessKind::Reduction(_) => {}
        }
    }
    shared.then_some("shared memory")
}

fn product(extents: &[Polynomial]) -> Option<Polynomial> {
    let mut extents = extents.iter();
    extents.try_fold(Polynomial::constant(1), |all, extent| all.multiply(extent))
}

/// A part of a number: a sum over blocks and threads, times a unit.
pub(in crate::verify) struct Part {
    pub(in crate::verify) unit: Polynomial,
    pub(in crate::verify) sum: BTreeMap<Variable, i64>,
}

impl Numbers {
    /// Those of a launch's threads, block after block.
    pub(in crate::verify) fn counted(extents: &[Polynomial; 6]) -> Self {
        Self {
            order: ThreadOrder::Blocks,
            grid: std::array::from_fn(|axis| Some(extents[axis].clone())),
            block: std::array::from_fn(|axis| extents[3 + axis].clone()),
            together: Polynomial::constant(1),
            array: Vec::new(),
        }
    }

    /// Those of the elements that a launch's threads stand for.
    pub(in crate::verify) fn of_elements(
        extents: &[Polynomial; 6],
        array: Vec<(Axis, Polynomial)>,
    ) -> Self {
        Self {
            array,
            ..Self::counted(extents)
        }
    }

    /// For each axis of the array, which of an instance's threads are none of its elements.
    pub(in crate::verify) fn outside(
        &self,
        set: &mut ConflictSet,
        side: &mut Side<'_>,
        assumptions: &Assumptions,
    ) -> Option<Vec<Condition>> {
        let beyond = self.array.iter().map(|(axis, extent)| {
            let position = elements::position(set, side, *axis, assumptions)?;
            let extent = set.polynomial(extent);
            Some(position.at_least(extent))
        });
        beyond.collect()
    }

    /// The number as a sum; neighbouring digits whose units have a known ratio are one part. `None` when it
    /// needs an extent that is not told.
    fn parts(&self, assumptions: &Assumptions) -> Option<Vec<Part>> {
        let block = |axis: Axis| (Variable::Block(axis), self.grid[axis.index()].clone());
        let thread = |axis: Axis| {
            (
                Variable::Thread(axis),
                Some(self.block[axis.index()].clone()),
            )
        };
        if !self.array.is_empty() {
            return elements::parts(&self.array, &self.grid, &self.block);
        }
        let digits: Vec<_> = match self.order {
            // The member is a launch of one block for each iteration then.
            ThreadOrder::Blocks | ThreadOrder::Iterations => Axis::ALL
                .map(thread)
                .into_iter()
                .chain(Axis::ALL.map(block))
                .collect(),
            ThreadOrder::Rows => Axis::ALL
                .into_iter()
                .flat_map(|axis| [thread(axis), block(axis)])
                .collect(),
        };
        let one = Polynomial::constant(1);
        let mut parts: Vec<Part> = Vec::new();
        // The unit of the next digit, and how often it is that of the last part.
        let (mut unit, mut ratio) = (Some(one.clone()), None);
        for (variable, extent) in digits {
            if extent
                .as_ref()
                .is_some_and(|extent| assumptions.equal(extent, &one))
            {
                continue;
            }
            let own = unit.take()?;
            match (ratio, parts.last_mut()) {
                (Some(ratio), Some(last)) => {
                    last.sum.insert(variable, ratio);
                }
                _ => {
                    parts.push(Part {
                        unit: own.clone(),
                        sum: BTreeMap::from([(variable, 1)]),
                    });
                    ratio = Some(1);
                }
            }
            let constant = extent.as_ref().and_then(Polynomial::as_constant);
            ratio = match (ratio, constant) {
                (Some(ratio), Some(constant)) => Some(i64::checked_mul(ratio, constant)?),
                _ => None,
            };
            unit = match extent {
                Some(extent) => Some(own.multiply(&extent)?),
                None => None,
            };
        }
        Some(parts)
    }

    /// The number of an instance's thread, or that of the run that it is in, which may be
    /// defined by the quotient. Products that it needs become ones of the side.
    pub(in crate::verify) fn sum(
        &self,
        set: &mut ConflictSet,
        side: &mut Side<'_>,
        assumptions: &Assumptions,
    ) -> Option<(Sum, Option<Quotient>)> {
        let number = self.thread_number(set, side, assumptions)?;
        match self.together.as_constant() {
            Some(1) => Some((number, None)),
            Some(together) if together > 1 => Some((number.floor(together), None)),
            Some(_) => None,
            None => {
                let quotient = Quotient::of(set, side, &number, &self.together)?;
                Some((quotient.run.clone(), Some(quotient)))
            }
        }
    }

    fn thread_number(
        &self,
        set: &mut ConflictSet,
        side: &mut Side<'_>,
        assumptions: &Assumptions,
    ) -> Option<Sum> {
        let mut sum = Sum::number(0);
        for part in self.parts(assumptions)? {
            let Some(unit) = part.unit.as_constant() else {
                let index = product_of(side.member, &part, assumptions)?;
                side.mention(index);
                sum = sum + set.product(side, index);
                continue;
            };
            for (variable, coefficient) in &part.sum {
                let symbol = match variable {
                    Variable::Block(axis) => Symbol::Block(side.instance, *axis),
                    Variable::Thread(axis) => Symbol::Thread(side.instance, *axis),
                    _ => return None,
                };
                let scaled = coefficient.checked_mul(unit)?;
                sum = sum + Sum::variable(symbol) * i128::from(scaled);
            }
        }
        Some(sum)
    }
}

/// A product of the member's model that is the part.
pub(in crate::verify) fn product_of(
    member: &Member<'_>,
    part: &Part,
    assumptions: &Assumptions,
) -> Option<usize> {
    let mut products = member.model.products.iter();
    products.position(|product| {
        let parameter = member.parameters.get(product.parameter);
        expanded(member, &product.factor).is_some_and(|sum| sum == part.sum)
            && parameter.is_some_and(|parameter| assumptions.equal(parameter, &part.unit))
    })
}

/// A sum over blocks and threads, products with constants multiplied out; `None` for any other.
fn expanded(member: &Member<'_>, affine: &Affine) -> Option<BTreeMap<Variable, i64>> {
    let mut sum: BTreeMap<Variable, i64> = BTreeMap::new();
    if affine.constant != 0 {
        return None;
    }
    for (coefficient, variable) in &affine.terms {
        let inner = match variable {
            Variable::Block(_) | Variable::Thread(_) => BTreeMap::from([(variable.clone(), 1)]),
            Variable::Product(index) => {
                let product = member.model.products.get(*index)?;
                let scale = member.parameters.get(product.parameter)?.as_constant()?;
                let inner = expanded(member, &product.factor)?.into_iter();
                inner
                    .map(|(variable, own)| Some((variable, own.checked_mul(scale)?)))
                    .collect::<Option<_>>()?
            }
            _ => return None,
        };
        for (variable, own) in inner {
            let entry = sum.entry(variable).or_insert(0);
            *entry = entry.checked_add(own.checked_mul(*coefficient)?)?;
        }
    }
    // An axis of one thread or block adds nothing.
    sum.retain(|variable, _| match variable {
        Variable::Block(axis) => member.extents[axis.index()].as_constant() != Some(1),
        Variable::Thread(axis) => member.extents[3 + axis.index()].as_constant() != Some(1),
        _ => true,
    });
    Some(sum)
}

/// The most threads of a launch that are counted.
pub(in crate::verify) const MOST_NUMBERS: i64 = (1 << 31) - 1;
