//! Halves of wide values: launch shapes arrive with two extents in one register.

use super::*;

impl Numbering<'_> {
    pub(super) fn half(&mut self, symbol: Symbol, upper: bool) -> Symbol {
        if let Some(half) = self.halves.get(&(symbol, upper)) {
            return *half;
        }
        let half = self.find_half(symbol, upper);
        self.halves.insert((symbol, upper), half);
        half
    }

    pub(super) fn find_half(&mut self, symbol: Symbol, upper: bool) -> Symbol {
        let zero = Definition::Literal { bits: 32, value: 0 };
        match self.definitions[symbol.0].clone() {
            Definition::Literal { value, .. } => {
                let half = if upper {
                    (value >> 32) as i32
                } else {
                    value as i32
                };
                self.intern(
                    Definition::Literal {
                        bits: 32,
                        value: half.into(),
                    },
                    None,
                )
            }
            Definition::Operation {
                operation,
                operands,
                ..
            } => match (operation, &operands[..]) {
                (Operation::Or | Operation::Add, [left, right]) => {
                    let (a, b) = (self.half(*left, upper), self.half(*right, upper));
                    match (self.literal(a), self.literal(b)) {
                        // Adding disjoint halves carries nothing upwards when one low half is zero.
                        (Some(0), _)
                            if operation == Operation::Or
                                || self.no_carry(*left, *right, upper) =>
                        {
                            b
                        }
                        (_, Some(0))
                            if operation == Operation::Or
                                || self.no_carry(*left, *right, upper) =>
                        {
                            a
                        }
                        _ => self.opaque_half(symbol, upper),
                    }
                }
                (Operation::ZeroExtend, [inner]) if self.width(*inner) == Some(32) => {
                    if upper {
                        self.intern(zero, None)
                    } else {
                        *inner
                    }
                }
                (Operation::ZeroExtend, [inner])
                    if upper && self.width(*inner).is_some_and(|width| width < 32) =>
                {
                    self.intern(zero, None)
                }
                (Operation::SignExtend, [inner]) if !upper && self.width(*inner) == Some(32) => {
                    *inner
                }
                (Operation::ShiftLeft, [inner, by]) if self.literal(*by) == Some(32) => {
                    if upper {
                        self.half(*inner, false)
                    } else {
                        self.intern(zero, None)
                    }
                }
                (Operation::ShiftRightLogical, [inner, by]) if self.literal(*by) == Some(32) => {
                    if upper {
                        self.intern(zero, None)
                    } else {
                        self.half(*inner, true)
                    }
                }
                (Operation::And, [inner, mask]) => match self.literal(*mask) {
                    Some(0xffff_ffff) => {
                        if upper {
                            self.intern(zero, None)
                        } else {
                            self.half(*inner, false)
                        }
                    }
                    Some(-0x1_0000_0000) => {
                        if upper {
                            self.half(*inner, true)
                        } else {
                            self.intern(zero, None)
                        }
                    }
                    _ => self.opaque_half(symbol, upper),
                },
                _ => self.opaque_half(symbol, upper),
            },
            _ => self.opaque_half(symbol, upper),
        }
    }

    pub(super) fn no_carry(&mut self, left: Symbol, right: Symbol, upper: bool) -> bool {
        if !upper {
            return true;
        }
        let (a, b) = (self.half(left, false), self.half(right, false));
        self.literal(a) == Some(0) || self.literal(b) == Some(0)
    }

    pub(super) fn opaque_half(&mut self, symbol: Symbol, upper: bool) -> Symbol {
        let definition = if upper {
            Definition::High(symbol)
        } else {
            Definition::Low(symbol)
        };
        self.derived(definition, &[symbol])
    }

    pub(in crate::launch) fn width(&self, symbol: Symbol) -> Option<u32> {
        match &self.definitions[symbol.0] {
            Definition::Literal { bits, .. } | Definition::Operation { bits, .. } => Some(*bits),
            Definition::Low(_) | Definition::High(_) => Some(32),
            Definition::Load { bytes, .. } => u32::try_from(bytes * 8).ok(),
            Definition::Instruction(function, at) => self.facts.host.functions[*function]
                .instructions[*at]
                .result
                .scalar_bits(),
            Definition::Parameter(function, index) => {
                self.facts.host.functions[*function].parameters[*index].scalar_bits()
            }
            Definition::Exit(inner, _) => self.width(*inner),
            Definition::Offset(..) | Definition::Displaced(..) | Definition::Allocation(..) => {
                Some(64)
            }
            _ => None,
        }
    }

    /// An upper bound of the bits that hold the value as a signed number, and whether it is known
    /// not to be negative.
    pub fn range(&self, symbol: Symbol) -> (u32, bool) {
        self.range_within(symbol, RANGE_DEPTH)
    }

    pub(super) fn range_within(&self, symbol: Symbol, depth: u32) -> (u32, bool) {
        if depth == 0 {
            return (self.width(symbol).unwrap_or(64), false);
        }
        match &self.definitions[symbol.0] {
            Definition::Literal { value, .. } => {
                let magnitude = if *value < 0 { !*value } else { *value };
                (65 - magnitude.leading_zeros(), *value >= 0)
            }
            Definition::Operation {
                operation,
                bits,
                operands,
            } => match operation {
                Operation::ZeroExtend => {
                    let (inner, positive) = self.range_within(operands[0], depth - 1);
                    let by_width = self.width(operands[0]).map_or(*bits, |width| width + 1);
                    (
                        if positive {
                            inner.min(by_width)
                        } else {
                            by_width
                        },
                        true,
                    )
                }
                Operation::SignExtend => self.range_within(operands[0], depth - 1),
                Operation::And => {
                    let ranges = [
                        self.range_within(operands[0], depth - 1),
                        self.range_within(operands[1], depth - 1),
                    ];
                    match ranges
                        .iter()
                        .filter(|range| range.1)
                        .map(|range| range.0)
                        .min()
                    {
                        Some(least) => (least, true),
                        None => (*bits, false),
                    }
                }
                _ => (*bits, false),
            },
            Definition::Exit(inner, _) => self.range_within(*inner, depth - 1),
            _ => (self.width(symbol).unwrap_or(64), false),
        }
    }
}
