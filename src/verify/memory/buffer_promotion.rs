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
use super::instances::{MOST_OPERATIONS, Space, Symbol, is_uniform};
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel, KernelSymbol, Target};
use crate::math::affine::{Affine, Variable};
use crate::math::expression::Expression;
use crate::math::formula::{Formula, Sum};
use crate::math::isl::{IslError, Set, with_operation_budget};

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

impl<'a> Pair<'a> {
    fn in_window(&self) -> (&'a Access, &'a Affine) {
        (self.global, self.window)
    }
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
        threads: [Some(x), Some(y), Some(z)],
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
        if others.any(|other| !space.never_meet(store.in_window(), other.in_window())) {
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

/// Questions about windows.
impl Space<'_> {
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
        let (window, instances) = (
            self.sum(pair.window, false),
            self.instances(pair.global, false),
        );
        let Some((window, (variables, mut conditions))) = window.zip(instances) else {
            return false;
        };
        conditions.push(Formula::Any(vec![
            window.clone().below(Sum::number(0)),
            (window + size).above(end),
        ]));
        self.is_empty(variables, conditions)
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
            let (place, instances) = (
                self.sum(pair.place, false),
                self.instances(pair.global, false),
            );
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
