//! Places within a memory object: one byte, or one in every so many.
//!
//! Invariant: whatever is combined stands for every byte that one of its parts stands for, or one that it may come to by
//! what is added.

/// The bytes `first + k * every` for all integers k; with `every` 0 only `first`, with 1 any byte.
///
/// An array of structs keeps its fields apart that way: a pointer to field 8 of some element of 48 bytes is `8 + k * 48`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset {
    first: i64,
    every: i64,
}

impl Offset {
    /// Any byte.
    pub const ANY: Self = Self { first: 0, every: 1 };

    /// One byte.
    pub const fn exact(byte: i64) -> Self {
        Self {
            first: byte,
            every: 0,
        }
    }

    /// A multiple of `bytes` bytes; of 0: byte 0.
    pub fn multiple(bytes: i64) -> Self {
        Self {
            first: 0,
            every: bytes.saturating_abs(),
        }
    }

    /// The byte, where there is only one.
    pub fn as_exact(self) -> Option<i64> {
        (self.every == 0).then_some(self.first)
    }

    /// Nothing is known of it.
    pub fn is_any(self) -> bool {
        self.every == 1
    }

    /// Every sum of one of its bytes and one of the other's.
    pub fn plus(self, other: Self) -> Self {
        match self.first.checked_add(other.first) {
            Some(first) => Self::reduced(first, greatest_divisor(self.every, other.every)),
            None => Self::ANY,
        }
    }

    /// Every difference of one of its bytes and one of the other's.
    pub fn minus(self, other: Self) -> Self {
        match other.first.checked_neg() {
            Some(first) => self.plus(Self {
                first,
                every: other.every,
            }),
            None => Self::ANY,
        }
    }

    /// The smallest one that has all bytes of both.
    pub fn join(self, other: Self) -> Self {
        match self.first.checked_sub(other.first) {
            Some(distance) => {
                let every = greatest_divisor(self.every, other.every);
                Self::reduced(
                    self.first,
                    greatest_divisor(every, distance.saturating_abs()),
                )
            }
            None => Self::ANY,
        }
    }

    /// Every byte of the other is one of its own.
    pub fn contains(self, other: Self) -> bool {
        self.join(other) == self
    }

    /// `bytes` bytes (`None`: any number) from one of its own on may have one in common with `other_bytes` from one of the
    /// other's on.
    pub fn meets(self, bytes: Option<u64>, other: Self, other_bytes: Option<u64>) -> bool {
        let end = |bytes: Option<u64>| {
            bytes.map_or(i64::MAX, |bytes| i64::try_from(bytes).unwrap_or(i64::MAX))
        };
        let (own, others) = (end(bytes), end(other_bytes));
        let every = greatest_divisor(self.every, other.every);
        let Some(distance) = other.first.checked_sub(self.first) else {
            return true;
        };
        match every {
            0 => distance < own && distance.saturating_neg() < others,
            _ => {
                let distance = distance.rem_euclid(every);
                distance < own || every - distance < others
            }
        }
    }

    fn reduced(first: i64, every: i64) -> Self {
        match every {
            0 => Self { first, every },
            _ => Self {
                first: first.rem_euclid(every),
                every,
            },
        }
    }
}

fn greatest_divisor(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All of so few bytes that a set of them is easily looked at.
    fn bytes(offset: Offset) -> Vec<i64> {
        let is_one = |byte: &i64| match offset.every {
            0 => *byte == offset.first,
            every => (byte - offset.first).rem_euclid(every) == 0,
        };
        (-60..60).filter(is_one).collect()
    }

    fn all() -> Vec<Offset> {
        let strides = [0, 1, 2, 3, 4, 6, 8];
        let of = |every: i64| (0..9).map(move |first| Offset::reduced(first, every));
        strides.into_iter().flat_map(of).collect()
    }

    #[test]
    fn what_is_combined_has_every_byte() {
        for one in all() {
            for other in all() {
                let (own, others, joined) = (bytes(one), bytes(other), bytes(one.join(other)));
                assert!(own.iter().chain(&others).all(|byte| joined.contains(byte)));
                let (sum, difference) = (bytes(one.plus(other)), bytes(one.minus(other)));
                for byte in &own {
                    for step in &others {
                        let near = |byte: i64| (-60..60).contains(&byte);
                        assert!(!near(byte + step) || sum.contains(&(byte + step)));
                        assert!(!near(byte - step) || difference.contains(&(byte - step)));
                    }
                }
                let within = others.iter().all(|byte| own.contains(byte));
                assert_eq!(one.contains(other), within, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn what_meets_is_told_exactly() {
        for one in all() {
            for other in all() {
                for (length, others) in [(1, 1), (8, 4), (2, 8)] {
                    let meet = bytes(one).iter().any(|byte| {
                        bytes(other)
                            .iter()
                            .any(|start| byte < &(start + others) && start < &(byte + length))
                    });
                    let told = one.meets(Some(length as u64), other, Some(others as u64));
                    assert_eq!(told, meet, "{one:?} of {length}, {other:?} of {others}");
                }
            }
        }
        assert!(Offset::exact(8).meets(None, Offset::exact(100), Some(1)));
        assert!(!Offset::exact(8).meets(None, Offset::exact(0), Some(8)));
    }
}
