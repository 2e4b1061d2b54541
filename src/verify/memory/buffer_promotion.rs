//! Whether a block may keep what its threads hand to each other in shared memory.
//!
//! A kernel that an earlier and a later segment make together writes a buffer and reads it again, by
//! other threads of the same block, a barrier between. A shared variable can stand for the part of the
//! buffer that a block works on: each store also goes there, and loads read it there. What is judged is
//! the kernel with both: beside each global access that takes part stands its shared one, and nothing
//! has been taken away. A load may read the shared variable instead of the buffer when
//! * the variable is touched by the shared halves of pairs alone, within its bytes, and all that may
//!   write to the buffer are global halves of pairs;
//! * both halves of a pair are executed for the same threads and iterations, and the place in the buffer
//!   is the place in the variable and what is the same for all of the block, for every pair the same: so
//!   that two accesses of a block meet in the one exactly if they meet in the other, and no half has an
//!   order of its own to keep. Places are multiples of the one size that all have, so that none meets a
//!   part of another;
//! * no two threads meet in one interval, one of them storing: which of two stores came last, or whether a load
//!   came before a store, would be open, and the buffer could tell something else than the variable;
//! * whatever the load reads, the same block has certainly written before: in stores that stand before it
//!   in no loop of the load's, a barrier that all threads come to between, whose places in a block are
//!   together at least those of the load.
//!
//! That another block writes there between would be a race in the kernel, which the plan's judge has excluded.
//! As everywhere, subscripts are those of runs in which the model's preconditions hold.

use super::super::targets::may_meet;
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel, KernelSymbol, Target};
use crate::math::affine::{Affine, Axis, Constraint, Variable};
use crate::math::expression::Expression;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{IslError, Set, with_operation_budget};
use std::collections::BTreeSet;
use std::fmt;

/// A shared variable that stands for the part of a buffer that a block works on. Accesses are named by
/// [`Access::place`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromotedBuffer {
    /// Its name in the device module.
    pub variable: String,
    /// How much it has room for.
    pub size: WindowSize,
    /// Stores to the buffer, each with the one to the variable.
    pub mirrored: Vec<(usize, usize)>,
    /// Loads of the buffer, each with the one of the variable that takes its place.
    pub replaced: Vec<(usize, usize)>,
}

/// How large such a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSize {
    /// So many bytes.
    Bytes(u64),
    /// So many elements as this argument of the kernel says, which is not negative.
    Elements(usize),
}

/// What speaks against it; `None` when nothing does. `block` are the block's extents where they are known;
/// `disjoint` tells of two pointers that they never lead to a common byte.
pub fn buffer_promotion_conflict(
    kernel: &KernelModel,
    promoted: &PromotedBuffer,
    block: [Option<u64>; 3],
    disjoint: impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> Option<String> {
    judge(kernel, promoted, block, &disjoint).err()
}

/// A global access and the shared one beside it.
struct Pair<'a> {
    global: &'a Access,
    shared: &'a Access,
    /// Where they go.
    place: &'a Affine,
    window: &'a Affine,
}

fn judge(
    kernel: &KernelModel,
    promoted: &PromotedBuffer,
    block: [Option<u64>; 3],
    disjoint: &impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> Result<(), String> {
    let [Some(x), Some(y), Some(z)] = block else {
        return Err("the block's extents are not known".to_owned());
    };
    let understood = kernel.opaque.is_empty()
        && kernel.unfusable.is_empty()
        && kernel.barriers.iter().all(|barrier| barrier.uniform)
        && kernel.intervals.accesses.len() == kernel.accesses.len();
    if !understood {
        return Err("the kernel is not understood".to_owned());
    }
    let pairs = |places: &[(usize, usize)], kind| -> Result<Vec<Pair<'_>>, String> {
        let places = places.iter();
        places.map(|both| pair(kernel, *both, kind)).collect()
    };
    let mirrored = pairs(&promoted.mirrored, AccessKind::Write)?;
    let replaced = pairs(&promoted.replaced, AccessKind::Read)?;
    let all = || mirrored.iter().chain(&replaced);
    let Some(first) = all().next() else {
        return Err("nothing is kept".to_owned());
    };
    let variable = Target::Shared(promoted.variable.clone());
    let difference = first.place.subtract(first.window);
    let size = first.global.size_bytes;
    for pair in all() {
        if pair.shared.target != variable || pair.global.target != first.global.target {
            return Err("a pair goes elsewhere".to_owned());
        }
        if pair.global.size_bytes != size || size == 0 || !divides(size, pair.window) {
            return Err("elements are not of one size".to_owned());
        }
        let own = pair.place.subtract(pair.window);
        let translated =
            own.is_some_and(|own| Some(&own) == difference.as_ref() && is_uniform(kernel, &own));
        if !translated {
            return Err("places of the buffer and of the variable do not agree".to_owned());
        }
    }
    let is_half = |access: &Access, pairs: &[Pair<'_>]| {
        let mut pairs = pairs.iter();
        pairs.any(|pair| pair.global.id == access.id || pair.shared.id == access.id)
    };
    for access in &kernel.accesses {
        let known = is_half(access, &mirrored) || is_half(access, &replaced);
        match &access.target {
            Target::UnknownShared => return Err("some shared access is not known".to_owned()),
            Target::Shared(_) if access.target == variable && !known => {
                return Err("something else touches the variable".to_owned());
            }
            Target::Shared(_) => {}
            target => {
                let writes = access.kind != AccessKind::Read;
                let meets = may_meet(target, &first.global.target, disjoint);
                if writes && meets && !is_half(access, &mirrored) {
                    return Err("something else may write to the buffer".to_owned());
                }
            }
        }
    }
    let space = Space {
        kernel,
        threads: [x, y, z],
    };
    for pair in all() {
        if !space.is_within(pair, promoted.size) {
            return Err("the variable may have no place for an access".to_owned());
        }
    }
    for (index, store) in mirrored.iter().enumerate() {
        let others = mirrored[index..].iter().chain(&replaced);
        let spans = &kernel.intervals.accesses;
        let mut others =
            others.filter(|other| spans[store.global.id.0].meets(&spans[other.global.id.0]));
        if others.any(|other| !space.are_disjoint(store, other)) {
            return Err("two threads may meet in a place".to_owned());
        }
    }
    for load in &replaced {
        let before: Vec<&Pair<'_>> = mirrored
            .iter()
            .filter(|store| comes_before(kernel, store, load))
            .collect();
        if !space.covers(&before, load) {
            return Err("a load may read what the block has not written".to_owned());
        }
    }
    Ok(())
}

/// The accesses at two places of the text, one at each.
fn pair(
    kernel: &KernelModel,
    (global, shared): (usize, usize),
    kind: AccessKind,
) -> Result<Pair<'_>, String> {
    let at = |place: usize| -> Result<(&Access, &Affine), String> {
        let mut found = kernel.accesses.iter().filter(|each| each.place == place);
        let (Some(access), None) = (found.next(), found.next()) else {
            return Err(format!("not one access at place {place}"));
        };
        let plain = access.kind == kind && !access.volatile && !access.asynchronous;
        let subscript = access.subscript.as_ref().filter(|_| plain);
        let subscript = subscript.ok_or_else(|| "an access is not understood".to_owned())?;
        Ok((access, subscript))
    };
    let ((global, place), (shared, window)) = (at(global)?, at(shared)?);
    let argument = matches!(
        global.target,
        Target::Argument {
            offset_bytes: 0,
            ..
        }
    );
    let together = global.domain == shared.domain
        && global.loops == shared.loops
        && global.exact == shared.exact
        && global.size_bytes == shared.size_bytes
        && kernel.intervals.accesses[global.id.0] == kernel.intervals.accesses[shared.id.0];
    match argument && together {
        true => Ok(Pair {
            global,
            shared,
            place,
            window,
        }),
        false => Err("two accesses are no pair".to_owned()),
    }
}

/// Whether every value of an expression is a multiple of a number.
fn divides(size: u32, affine: &Affine) -> bool {
    let mut coefficients = affine.terms.iter().map(|(coefficient, _)| coefficient);
    let size = i64::from(size);
    affine.constant % size == 0 && coefficients.all(|coefficient| coefficient % size == 0)
}

/// Whether all threads of a block find one value, in all iterations.
fn is_uniform(kernel: &KernelModel, affine: &Affine) -> bool {
    affine.terms.iter().all(|(_, variable)| match variable {
        Variable::Block(_) | Variable::Parameter(_) => true,
        Variable::Thread(_) | Variable::Loop(_) => false,
        Variable::Floor(inner, _) => is_uniform(kernel, inner),
        Variable::Product(index) => {
            let product = kernel.products.get(*index);
            product.is_some_and(|product| is_uniform(kernel, &product.factor))
        }
    })
}

/// Whether all instances of a store come before all of a load, of whichever threads of a block.
fn comes_before(kernel: &KernelModel, store: &Pair<'_>, load: &Pair<'_>) -> bool {
    let spans = &kernel.intervals.accesses;
    let common = |index: &usize| load.global.loops.contains(index);
    // Quotients stand among the loops and are none.
    let looped = |index: &&usize| {
        let each = kernel.loops.get(**index);
        each.is_none_or(|each| each.quotient.is_none() && each.unknown.is_none())
    };
    let mut loops = store.global.loops.iter().filter(looped);
    store.global.id < load.global.id
        && !loops.any(common)
        && !spans[store.global.id.0].meets(&spans[load.global.id.0])
}

/// What the instances of accesses range over.
struct Space<'a> {
    kernel: &'a KernelModel,
    threads: [u64; 3],
}

/// What questions speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Symbol {
    /// What is the same for all instances in a block.
    Common(Variable),
    /// What tells an instance from others, of the first or (`true`) of the second access.
    Own(Variable, bool),
    /// A byte of the buffer.
    Byte,
}

impl fmt::Display for Symbol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Common(variable) | Self::Own(variable, false) => write!(formatter, "{variable}"),
            Self::Own(variable, true) => write!(formatter, "{variable}_"),
            Self::Byte => formatter.write_str("byte"),
        }
    }
}

/// The thread index on an axis.
fn thread(axis: Axis, primed: bool) -> Sum<Symbol> {
    Sum::variable(Symbol::Own(Variable::Thread(axis), primed))
}

/// Operations of isl for each question.
const MOST_OPERATIONS: u64 = 200_000;

impl Space<'_> {
    /// Whether two threads of a block never go to one place by these accesses.
    fn are_disjoint(&self, one: &Pair<'_>, other: &Pair<'_>) -> bool {
        let sides = [(one, false), (other, true)];
        let instances = sides.map(|(pair, primed)| self.instances(pair, primed));
        let places = sides.map(|(pair, primed)| self.sum(pair.window, primed));
        let ([Some(first), Some(second)], [Some(place), Some(same)]) = (instances, places) else {
            return false;
        };
        let (mut variables, mut conditions) = first;
        variables.extend(second.0);
        conditions.extend(second.1);
        conditions.push(place.equal(same));
        let differ = Axis::ALL.into_iter().map(|axis| {
            let [one, other] = [false, true].map(|primed| thread(axis, primed));
            Formula::differ(one, other)
        });
        conditions.push(Formula::Any(differ.collect()));
        self.is_empty(variables, conditions)
    }

    /// Whether all instances stay within the variable.
    fn is_within(&self, pair: &Pair<'_>, room: WindowSize) -> bool {
        let size = i128::from(pair.global.size_bytes);
        let end = match room {
            WindowSize::Bytes(bytes) => Sum::number(bytes),
            WindowSize::Elements(argument) => {
                let mut parameters = self.kernel.parameters.iter();
                match parameters.position(|known| is_argument(known, argument)) {
                    Some(index) => Sum::variable(Symbol::Common(Variable::Parameter(index))) * size,
                    None => return false,
                }
            }
        };
        let (window, instances) = (self.sum(pair.window, false), self.instances(pair, false));
        let Some((window, (variables, mut conditions))) = window.zip(instances) else {
            return false;
        };
        conditions.push(Formula::Any(vec![
            window.clone().below(Sum::number(0)),
            (window + size).above(end),
        ]));
        self.is_empty(variables, conditions)
    }

    fn is_empty(&self, variables: BTreeSet<Symbol>, conditions: Vec<Formula<Symbol>>) -> bool {
        let variables: Vec<Symbol> = variables.into_iter().collect();
        let condition = Formula::All(conditions);
        let ask = || Set::of(&self.common(), &variables, &condition)?.is_empty();
        with_operation_budget(MOST_OPERATIONS, ask).is_ok_and(|empty| empty)
    }

    /// Whether the stores of a block certainly write all that its loads read.
    fn covers(&self, stores: &[&Pair<'_>], load: &Pair<'_>) -> bool {
        let certain = |store: &&&Pair<'_>| {
            let products = self.products(store.global);
            store.global.exact
                && products.iter().all(|index| self.is_of_block(*index))
                && !self.mentions_unknown(store.global)
        };
        let places = |pair: &Pair<'_>| {
            let (place, instances) = (self.sum(pair.place, false), self.instances(pair, false));
            let Some((place, (variables, mut conditions))) = place.zip(instances) else {
                return Err(IslError::Invalid("no expression".to_owned()));
            };
            conditions.push(Sum::variable(Symbol::Byte).equal(place));
            let own = variables.len();
            let dimensions: Vec<Symbol> = [Symbol::Byte].into_iter().chain(variables).collect();
            let all = Set::of(&self.common(), &dimensions, &Formula::All(conditions))?;
            all.project_out(1, own)
        };
        let ask = || {
            let mut stores = stores.iter().filter(certain).copied();
            let Some(first) = stores.next() else {
                return Ok(false);
            };
            let mut known = places(first)?;
            for store in stores {
                known = known.union(&places(store)?)?;
            }
            places(load)?.is_subset(&known)
        };
        with_operation_budget(MOST_OPERATIONS, ask).is_ok_and(|covered| covered)
    }

    /// What is the same for all instances in a block: the launch's values, the block's indices and products of
    /// these.
    fn common(&self) -> Vec<Symbol> {
        let products = (0..self.kernel.products.len()).filter(|index| self.is_of_block(*index));
        (0..self.kernel.parameters.len())
            .map(Variable::Parameter)
            .chain(Axis::ALL.map(Variable::Block))
            .chain(products.map(Variable::Product))
            .map(Symbol::Common)
            .collect()
    }

    fn is_of_block(&self, product: usize) -> bool {
        let product = self.kernel.products.get(product);
        product.is_some_and(|product| is_uniform(self.kernel, &product.factor))
    }

    /// What tells one instance of an access from the others of its block, and what holds for all; the former are
    /// `primed` for the second of two accesses. `None` for no expression.
    fn instances(
        &self,
        pair: &Pair<'_>,
        primed: bool,
    ) -> Option<(BTreeSet<Symbol>, Vec<Formula<Symbol>>)> {
        let kernel = self.kernel;
        let mut variables: BTreeSet<Symbol> = BTreeSet::new();
        let mut conditions = Vec::new();
        let number = |number: u64| Sum::number(number);
        for axis in Axis::ALL {
            let extent = self.threads[axis.index()];
            let block = Sum::variable(Symbol::Common(Variable::Block(axis)));
            variables.insert(Symbol::Own(Variable::Thread(axis), primed));
            conditions.push(block.clone().at_least(number(0)));
            conditions.push(Formula::within(
                thread(axis, primed),
                number(0),
                number(extent),
            ));
            let named = |symbol| {
                let symbol = Expression::Leaf(symbol);
                let index = kernel
                    .parameters
                    .iter()
                    .position(|known| *known == symbol)?;
                Some(Sum::variable(Symbol::Common(Variable::Parameter(index))))
            };
            if let Some(size) = named(KernelSymbol::BlockSize(axis)) {
                conditions.push(size.equal(number(extent)));
            }
            if let Some(size) = named(KernelSymbol::GridSize(axis)) {
                conditions.push(block.below(size));
            }
        }
        for index in &pair.global.loops {
            let counter = Symbol::Own(Variable::Loop(*index), primed);
            conditions.push(Sum::variable(counter.clone()).at_least(number(0)));
            variables.insert(counter);
        }
        let products = self.products(pair.global).into_iter();
        let moving = products.filter(|index| !self.is_of_block(*index));
        variables.extend(moving.map(|index| Symbol::Own(Variable::Product(index), primed)));
        let domain = pair.global.domain.iter().map(|conjunction| {
            let rows = conjunction.iter().map(|constraint| {
                Some(match constraint {
                    Constraint::NonNegative(row) => Formula::NonNegative(self.sum(row, primed)?),
                    Constraint::Zero(row) => Formula::Zero(self.sum(row, primed)?),
                })
            });
            rows.collect::<Option<_>>().map(Formula::All)
        });
        conditions.push(Formula::Any(domain.collect::<Option<_>>()?));
        Some((variables, conditions))
    }

    /// The value of an expression; `None` for no expression.
    fn sum(&self, affine: &Affine, primed: bool) -> Option<Sum<Symbol>> {
        Sum::of_affine(affine, &mut |variable| {
            let is_common = match variable {
                Variable::Block(_) | Variable::Parameter(_) => true,
                Variable::Product(index) => self.is_of_block(*index),
                Variable::Thread(_) | Variable::Loop(_) | Variable::Floor(..) => false,
            };
            Some(Sum::variable(match is_common {
                true => Symbol::Common(variable.clone()),
                false => Symbol::Own(variable.clone(), primed),
            }))
        })
    }

    /// The products that an access mentions, directly or through others.
    fn products(&self, access: &Access) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let domain = access.domain.iter().flatten().map(|constraint| {
            let (Constraint::NonNegative(row) | Constraint::Zero(row)) = constraint;
            row
        });
        for affine in domain.chain(&access.subscript) {
            self.note_products(affine, &mut found);
        }
        found
    }

    fn note_products(&self, affine: &Affine, found: &mut BTreeSet<usize>) {
        for (_, variable) in &affine.terms {
            match variable {
                Variable::Product(index) => {
                    found.insert(*index);
                    self.note_products(&self.kernel.products[*index].factor, found);
                }
                Variable::Floor(inner, _) => self.note_products(inner, found),
                _ => {}
            }
        }
    }

    /// A number of which only bounds are known: of its values not all need occur.
    fn mentions_unknown(&self, access: &Access) -> bool {
        access.loops.iter().any(|index| {
            let each = self.kernel.loops.get(*index);
            each.is_none_or(|each| each.quotient.is_some() || each.unknown.is_some())
        })
    }
}

fn is_argument(known: &Expression<KernelSymbol>, wanted: usize) -> bool {
    matches!(
        known,
        Expression::Leaf(KernelSymbol::Argument { argument, offset_bytes: 0, .. })
            if *argument == wanted
    )
}
