//! Accesses of two loops that go to one place in iterations of equal number, and to places apart in others.
//!
//! An address is read as a pointer and a sum of bytes, of which a multiple of the loop's counter is a part
//! and the rest does not change in the loop. Counters of two loops that begin elsewhere and advance alike stay
//! as far apart as they begin.
//!
//! Invariant: sums are exact numbers, so that counters must not wrap where they begin elsewhere; those of one
//! loop differ in any case, since it ends.

use super::super::counting::Sum;
use super::super::guarded_values::Place;
use super::super::memory::made_alike;
use crate::llvm::Value;
use inkwell::module::Module;

/// An address as a function of a loop's counter.
pub(in crate::codegen::fused_kernels::fuse) struct Progress<'ctx> {
    base: Value<'ctx>,
    /// Bytes that do not change, from the base on.
    steady: Sum<'ctx>,
    /// Bytes from one counter to the next.
    factor: i128,
}

/// How a loop counts.
#[derive(Clone, Copy)]
pub(in crate::codegen::fused_kernels::fuse) struct Counter<'ctx> {
    pub(in crate::codegen::fused_kernels::fuse) value: Value<'ctx>,
    pub(in crate::codegen::fused_kernels::fuse) begin: Value<'ctx>,
    /// Neither counter begins elsewhere than the other's, or none wraps.
    pub(in crate::codegen::fused_kernels::fuse) exact: bool,
}

impl<'ctx> Progress<'ctx> {
    /// `None` where an address is no such function. `is_steady` tells what does not change in the loop.
    pub(in crate::codegen::fused_kernels::fuse) fn of(
        module: &Module<'ctx>,
        address: Value<'ctx>,
        counter: Counter<'ctx>,
        is_steady: impl Fn(Value<'ctx>) -> bool,
    ) -> Option<Self> {
        let place = Place::of(module, address);
        let (factor, steady) = place.bytes.apart_from(counter.value);
        let narrow = counter.value.ty().integer_bits() <= 32;
        let known = narrow
            && counter.exact
            && (1..MOST_BYTES).contains(&factor.abs())
            && is_steady(place.base)
            && steady.is_made_of(&is_steady);
        known.then_some(Self {
            base: place.base,
            steady,
            factor,
        })
    }

    /// How many bytes an address of another loop lies behind this one in the iteration of equal number.
    pub(in crate::codegen::fused_kernels::fuse) fn distance(
        &self,
        counter: Counter,
        other: &Self,
        other_counter: Counter,
    ) -> Option<i128> {
        if self.factor != other.factor || !made_alike(self.base, other.base) {
            return None;
        }
        let begins = Sum::of(other_counter.begin).minus(&Sum::of(counter.begin));
        let rest = other.steady.minus(&self.steady);
        rest.plus(&begins.times(self.factor)).as_constant()
    }

    /// Whether so many bytes there, and so many at a distance, stay within what one counter moves by.
    pub(in crate::codegen::fused_kernels::fuse) fn holds(
        &self,
        bytes: i128,
        distance: i128,
        other_bytes: i128,
    ) -> bool {
        let low = distance.min(0);
        let high = bytes.max(distance + other_bytes);
        high - low <= self.factor.abs()
    }
}

/// Counters of 32 bits move by less than half of what an address holds then.
const MOST_BYTES: i128 = 1 << 30;
