//! Instructions that compute: integers, bits, floating-point numbers, and conversions among them.

pub(super) mod arithmetic;
pub(super) mod bits;
pub(super) mod conversions;
pub(super) mod derived;
pub(super) mod floats;
