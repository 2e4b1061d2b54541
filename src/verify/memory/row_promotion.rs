//! Whether rows of a kernel may be kept in shared memory.
//!
//! A thread that comes over elements of a row several times finds each where it left it: the loads that
//! are replaced read the copy's element of their iteration, and the loads and stores that are mirrored
//! bring the value there. Read off a model of the kernel as it is before, that is right when of all
//! accesses of a *stream*
//! * each stands in one loop, of its own or common ones, that is inside no other, and executes for
//!   counters `threadIdx.x + step · n` below the length of the row, the step at least the threads of a
//!   block of one row: so no two iterations of a loop, and no two threads, have an element in common;
//! * each touches the same place as a function of block and counter, the place being `width · counter`
//!   and what is the same for all of the block: so two elements are one only where the places are;
//! * a replaced load has a mirrored access that is executed for each of the counters of the load, certainly,
//!   and before it;
//! * whatever else may write to that place, mirrored stores apart, comes after all replaced loads, as
//!   a function of the counter again;
//! * a store that is left out is executed before another one of the stream for the same counters, and
//!   nobody looks at what it wrote.
//!
//! Streams follow each other in one copy when all of the one comes before all of the next. Accesses are
//! numbered in an order of control flow that has each loop in one piece, so that of two in different
//! loops, and of two in one iteration, none of larger number comes before. As everywhere, subscripts are
//! those of runs in which the model's preconditions hold.

use super::super::iterations::{COUNTER, Reader, Row, Sum, Term};
use super::super::targets::may_meet;
use crate::kernel::{Access, AccessKind, ArgumentPointer, KernelModel, KernelSymbol, Target};
use crate::math::affine::{Axis, Variable};
use crate::math::expression::Expression;
use std::collections::BTreeSet;

/// What is done to a kernel that keeps rows. Accesses are named by [`Access::place`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowPromotion {
    /// By copy, the streams that have it one after the other.
    pub copies: Vec<Vec<PromotedStream>>,
    /// How many elements a row has.
    pub length: RowLength,
}

/// Accesses that go to one place, as a function of their loops' counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromotedStream {
    /// Loads and stores whose value also goes to the copy.
    pub mirrored: Vec<usize>,
    /// Loads that read the copy.
    pub replaced: Vec<usize>,
    /// Stores that are left out, after they were mirrored.
    pub dead: Vec<usize>,
}

/// How many elements a row has, and every copy room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLength {
    /// That many.
    Constant(u64),
    /// As many as this argument of the kernel says.
    Argument(usize),
}

impl Default for RowLength {
    fn default() -> Self {
        Self::Constant(0)
    }
}

/// What speaks against keeping rows so; `None` when nothing does. `block` are the block's extents where
/// they are known; `disjoint` tells of two pointers that they never lead to a common byte.
pub fn row_promotion_conflict(
    kernel: &KernelModel,
    promotion: &RowPromotion,
    block: [Option<u64>; 3],
    disjoint: impl Fn(ArgumentPointer, ArgumentPointer) -> bool,
) -> Option<String> {
    if !kernel.opaque.is_empty() || !kernel.unfusable.is_empty() {
        return Some("the kernel is not understood".to_owned());
    }
    if block[1..] != [Some(1), Some(1)] {
        return Some("blocks are not known to have one row of threads".to_owned());
    }
    let judge = PromotionCheck {
        kernel,
        length: promotion.length,
        threads: block[0],
        disjoint: &disjoint,
    };
    for streams in &promotion.copies {
        let mut last: Option<usize> = None;
        let mut widths = None;
        for stream in streams {
            let found = match judge.stream(stream) {
                Ok(found) => found,
                Err(reason) => return Some(reason),
            };
            if found.first <= last || widths.get_or_insert(found.width) != &found.width {
                return Some("two rows are in one copy at the same time".to_owned());
            }
            last = found.last;
        }
    }
    None
}

struct PromotionCheck<'a, F> {
    kernel: &'a KernelModel,
    length: RowLength,
    threads: Option<u64>,
    disjoint: &'a F,
}

/// The numbers of the first and last access of a stream that use the copy.
struct Used {
    first: Option<usize>,
    last: Option<usize>,
    /// Bytes of an element.
    width: u32,
}

/// An access of a stream.
struct Step<'a> {
    access: &'a Access,
    /// Where it goes, the loop's counter being [`COUNTER`].
    place: Sum,
    /// For which iterations it is executed.
    domain: Vec<BTreeSet<Row>>,
    /// Nothing of the domain is left out.
    whole: bool,
}

impl<F: Fn(ArgumentPointer, ArgumentPointer) -> bool> PromotionCheck<'_, F> {
    fn stream(&self, stream: &PromotedStream) -> Result<Used, String> {
        let steps = |places: &[usize]| -> Result<Vec<Step<'_>>, String> {
            places.iter().map(|place| self.step(*place)).collect()
        };
        let mirrored = steps(&stream.mirrored)?;
        let replaced = steps(&stream.replaced)?;
        let dead = steps(&stream.dead)?;
        let all = || mirrored.iter().chain(&replaced).chain(&dead);
        let Some(first) = all().next() else {
            return Err("a row without accesses".to_owned());
        };
        for step in all() {
            let (one, other) = (step.access, first.access);
            if one.target != other.target || one.size_bytes != other.size_bytes {
                return Err("a row of different places".to_owned());
            }
            if step.place != first.place {
                return Err("accesses of a row go to different places".to_owned());
            }
            self.element(step)?;
        }
        if replaced
            .iter()
            .any(|load| load.access.kind != AccessKind::Read)
        {
            return Err("something else than a load reads the copy".to_owned());
        }
        for load in &replaced {
            let known = mirrored
                .iter()
                .any(|before| before.access.id < load.access.id && before.covers(load));
            if !known {
                return Err("a load may read what nobody brought to the copy".to_owned());
            }
        }
        let own = |access: &Access, steps: &[Step<'_>]| {
            steps.iter().any(|step| step.access.id == access.id)
        };
        let others = || {
            self.kernel
                .accesses
                .iter()
                .filter(|other| may_meet(&other.target, &first.access.target, &self.disjoint))
        };
        for other in others() {
            if other.kind == AccessKind::Read || own(other, &mirrored) {
                continue;
            }
            // Of the same place as a function of the counter, and later than all loads.
            let later = self.step(other.place).is_ok_and(|step| {
                let mut loads = replaced.iter();
                step.place == first.place
                    && step.access.target == first.access.target
                    && step.access.size_bytes == first.access.size_bytes
                    && self.element(&step).is_ok()
                    && loads.all(|load| load.access.id < other.id)
            });
            if !later {
                return Err("something else may write to a row".to_owned());
            }
        }
        for store in &dead {
            let overwritten = self.kernel.accesses.iter().any(|later| {
                let step = self.step(later.place);
                later.kind == AccessKind::Write
                    && later.id > store.access.id
                    && later.target == store.access.target
                    && later.size_bytes == store.access.size_bytes
                    && !own(later, &dead)
                    && step.is_ok_and(|step| step.place == store.place && step.covers(store))
            });
            let looked_at =
                others().any(|other| other.kind != AccessKind::Write && !own(other, &replaced));
            if store.access.kind != AccessKind::Write || !overwritten || looked_at {
                return Err("a store is left out that somebody may miss".to_owned());
            }
        }
        let numbers = || {
            mirrored
                .iter()
                .chain(&replaced)
                .map(|step| step.access.id.0)
        };
        Ok(Used {
            first: numbers().min(),
            last: numbers().max(),
            width: first.access.size_bytes,
        })
    }

    /// The access at a place of the text, which must be a single one in a loop of its own.
    fn step(&self, place: usize) -> Result<Step<'_>, String> {
        let mut found = self.kernel.accesses.iter();
        let Some(access) = found.find(|access| access.place == place) else {
            return Err(format!("no access at place {place}"));
        };
        let plain = matches!(access.kind, AccessKind::Read | AccessKind::Write)
            && matches!(access.target, Target::Argument { .. })
            && !access.volatile
            && !access.asynchronous
            && found.all(|other| other.place != place);
        let [of] = access.loops[..] else {
            return Err("an access is not in one loop".to_owned());
        };
        let looped = self.kernel.loops.get(of).is_some_and(|each| {
            each.parent.is_none() && each.quotient.is_none() && each.unknown.is_none()
        });
        let reader = Reader {
            kernel: self.kernel,
            of,
        };
        let subscript = access.subscript.as_ref();
        let place = subscript.and_then(|subscript| reader.sum(subscript));
        let Some(place) = place.filter(|_| plain && looped) else {
            return Err("an access is not understood".to_owned());
        };
        let (domain, whole) = reader.domain(access);
        Ok(Step {
            access,
            place,
            domain,
            whole,
        })
    }

    /// That the elements of a copy are as the places of the accesses: apart for different threads and
    /// iterations, within the length, and as far from each other.
    fn element(&self, step: &Step<'_>) -> Result<(), String> {
        let length = match self.length {
            RowLength::Constant(length) => {
                let length = i64::try_from(length).map_err(|_| "a long row".to_owned())?;
                vec![Sum::constant(length)]
            }
            RowLength::Argument(argument) => (self.kernel.parameters.iter().enumerate())
                .filter(|(_, known)| is_argument(known, argument))
                .map(|(index, _)| Sum::term(Term::Variable(Variable::Parameter(index))))
                .collect(),
        };
        let thread = Term::Variable(Variable::Thread(Axis::X));
        let counter = |conjunction: &BTreeSet<Row>| {
            conjunction.iter().find_map(|row| {
                let Row::NonNegative(row) = row else {
                    return None;
                };
                // The length, less one, less the counter.
                length.iter().find_map(|length| {
                    let counter = length.subtract(row)?.subtract(&Sum::constant(1))?;
                    self.is_counter(&counter).then_some(counter)
                })
            })
        };
        let counters: BTreeSet<Option<Sum>> = step.domain.iter().map(counter).collect();
        let Some(Some(counter)) = counters.first().filter(|_| counters.len() == 1) else {
            return Err("an access may be outside of its row".to_owned());
        };
        let width = step.place.coefficient(&thread);
        let rest = counter
            .scale(width)
            .and_then(|moved| step.place.subtract(&moved));
        let same_for_block = rest.is_some_and(|rest| rest.is_uniform());
        let disjoint =
            width.unsigned_abs() >= u64::from(step.access.size_bytes) && step.access.size_bytes > 0;
        match same_for_block && disjoint {
            true => Ok(()),
            false => Err("elements of a row are not disjoint".to_owned()),
        }
    }

    /// `threadIdx.x + step · n`, with a step of at least a block's threads.
    fn is_counter(&self, counter: &Sum) -> bool {
        let [(1, thread), (factor, step)] = &counter.terms[..] else {
            return false;
        };
        let iteration = Term::Variable(Variable::Loop(COUNTER));
        let wide = match step {
            step if *step == iteration => self.threads.is_some_and(|threads| {
                u64::try_from(*factor).is_ok_and(|factor| factor >= threads)
            }),
            Term::Product(iterations, parameter) => {
                let size = Expression::Leaf(KernelSymbol::BlockSize(Axis::X));
                *factor == 1
                    && **iterations == Sum::term(iteration)
                    && self.kernel.parameters.get(*parameter) == Some(&size)
            }
            _ => false,
        };
        counter.constant == 0 && *thread == Term::Variable(Variable::Thread(Axis::X)) && wide
    }
}

impl Step<'_> {
    /// Whether this access is certainly executed in every iteration in which another one may be.
    fn covers(&self, other: &Self) -> bool {
        let within = |conjunction: &BTreeSet<Row>| {
            let mut own = self.domain.iter();
            own.any(|own| own.is_subset(conjunction))
        };
        self.access.exact && self.whole && other.domain.iter().all(within)
    }
}

fn is_argument(known: &Expression<KernelSymbol>, wanted: usize) -> bool {
    matches!(
        known,
        Expression::Leaf(KernelSymbol::Argument { argument, offset_bytes: 0, .. })
            if *argument == wanted
    )
}
