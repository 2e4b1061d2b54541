//! Which thread of a block stores where a thread of it loads, as far as the addresses are polynomials that tell.
//!
//! This is a guess: operations are read as if none ever wrapped, and both addresses as if they began at one pointer. Whoever follows it
//! compares the addresses.

use super::super::memory::made_alike;
use crate::llvm::{Opcode, Value};
use inkwell::module::Module;
use std::collections::BTreeMap;

/// Which thread to ask for what one loads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::fused_kernels::fuse) enum Guess {
    /// The one that is so far away along each axis.
    Constant([i64; 3]),
    /// Along this axis the one that is as many elements away as what it stored is from what is loaded.
    Counted(usize),
}

/// Which thread of a block of these extents stores at the address of a load, where it is worth asking: `stored` and `loaded` are what one
/// thread computes, and elements have so many bytes.
pub(in crate::codegen::fused_kernels::fuse) fn guess<'ctx>(
    module: &Module<'ctx>,
    (stored, loaded): (Value<'ctx>, Value<'ctx>),
    bytes: u64,
    block: [u64; 3],
) -> Option<Guess> {
    let mut atoms = Atoms {
        module,
        all: Vec::new(),
    };
    let own = atoms.read(stored, MOST_DEPTH)?;
    let other = atoms.read(loaded, MOST_DEPTH)?;
    let distance = other.plus(&own, -1);
    let axes: Vec<usize> = (0..3).filter(|axis| block[*axis] > 1).collect();
    let steps = axes.iter().map(|axis| atoms.step(&own, *axis));
    let steps: Vec<Polynomial> = steps.collect::<Option<_>>()?;
    if let Some(distances) = apart(&distance, &axes, &steps) {
        let is_near = |axis: usize| distances[axis].unsigned_abs() < block[axis];
        return (0..3).all(is_near).then_some(Guess::Constant(distances));
    }
    let ([axis], [step]) = (&axes[..], &steps[..]) else {
        return None;
    };
    let by_elements = step.as_constant() == Some(i128::from(bytes));
    (by_elements && atoms.are_of_block(&distance)).then_some(Guess::Counted(*axis))
}

/// How many steps along each of some axes make a distance, where each step makes so much of it.
fn apart(distance: &Polynomial, axes: &[usize], steps: &[Polynomial]) -> Option<[i64; 3]> {
    let mut found = [0; 3];
    let mut left = distance.clone();
    let is_others = |own: usize, product: &Vec<usize>| {
        let others = steps.iter().enumerate();
        let mut others = others.filter(|(number, _)| *number != own);
        others.any(|(_, step)| step.0.contains_key(product))
    };
    // What only one step has tells how many of it there are; of what several have the greatest comes first.
    let mut order: Vec<(bool, i128, usize, &Vec<usize>)> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let own = step.0.iter();
        let own = own.map(|(product, factor)| {
            let shared = is_others(number, product);
            (shared, -factor.abs(), number, product)
        });
        order.push(own.min()?);
    }
    order.sort();
    for (_, _, number, product) in order {
        let factor = *steps[number].0.get(product)?;
        let of = left.0.get(product).copied().unwrap_or_default();
        // To the nearest number.
        let count = (2 * of + factor.abs()).div_euclid(2 * factor.abs()) * factor.signum();
        left = left.plus(&steps[number], -count);
        found[axes[number]] = i64::try_from(count).ok()?;
    }
    left.0.is_empty().then_some(found)
}

/// So many operations are read that stand in each other.
const MOST_DEPTH: usize = 24;

/// A polynomial has so many products at most.
const MOST_PRODUCTS: usize = 48;

/// Products of atoms, by number, each with its factor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Polynomial(BTreeMap<Vec<usize>, i128>);

impl Polynomial {
    fn constant(number: i128) -> Self {
        Self::default().with(Vec::new(), number)
    }

    fn with(mut self, product: Vec<usize>, factor: i128) -> Self {
        let own = self.0.entry(product.clone()).or_default();
        *own = own.wrapping_add(factor);
        if *own == 0 {
            self.0.remove(&product);
        }
        self
    }

    /// With another one, so many times.
    fn plus(&self, other: &Self, times: i128) -> Self {
        let terms = other.0.iter();
        terms.fold(self.clone(), |sum, (product, factor)| {
            sum.with(product.clone(), factor.wrapping_mul(times))
        })
    }

    fn product(&self, other: &Self) -> Self {
        let mut found = Self::default();
        for (one, factor) in &self.0 {
            for (two, times) in &other.0 {
                let mut both = [one.as_slice(), two].concat();
                both.sort_unstable();
                found = found.with(both, factor.wrapping_mul(*times));
            }
        }
        found
    }

    fn as_constant(&self) -> Option<i128> {
        let constant = self.0.get(&Vec::new()).copied();
        match self.0.len() {
            0 => Some(0),
            1 => constant,
            _ => None,
        }
    }
}

/// Values that are not taken apart.
struct Atoms<'a, 'ctx> {
    module: &'a Module<'ctx>,
    all: Vec<Value<'ctx>>,
}

impl<'ctx> Atoms<'_, 'ctx> {
    /// What a value is; `None` where that is too much to say.
    fn read(&mut self, value: Value<'ctx>, depth: usize) -> Option<Polynomial> {
        let found = match self.operation(value, depth)? {
            Some(found) => found,
            None => Polynomial::default().with(vec![self.number(value)], 1),
        };
        (found.0.len() <= MOST_PRODUCTS).then_some(found)
    }

    /// The same of an operation that is taken apart; none of another one.
    fn operation(&mut self, value: Value<'ctx>, depth: usize) -> Option<Option<Polynomial>> {
        if let Some(number) = value.signed_integer() {
            return Some(Some(Polynomial::constant(number.into())));
        }
        let is_address = matches!(
            value.operation(),
            Some(Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast,)
        );
        if value.ty().is_pointer() && (!is_address || !value.is_instruction()) {
            return Some(Some(Polynomial::default()));
        }
        if !value.is_instruction() || depth == 0 {
            return Some(None);
        }
        let mut operand = |index: u32| self.read(value.operand(index), depth - 1);
        Some(Some(match value.opcode() {
            Some(Opcode::LLVMAdd) => operand(0)?.plus(&operand(1)?, 1),
            Some(Opcode::LLVMOr) if value.is_disjoint() => operand(0)?.plus(&operand(1)?, 1),
            Some(Opcode::LLVMSub) => operand(0)?.plus(&operand(1)?, -1),
            Some(Opcode::LLVMMul) => operand(0)?.product(&operand(1)?),
            Some(Opcode::LLVMShl) => match value.operand(1).constant_integer() {
                Some(shift @ 0..62) => operand(0)?.product(&Polynomial::constant(1 << shift)),
                _ => return Some(None),
            },
            Some(
                Opcode::LLVMSExt
                | Opcode::LLVMZExt
                | Opcode::LLVMTrunc
                | Opcode::LLVMAddrSpaceCast
                | Opcode::LLVMBitCast,
            ) => operand(0)?,
            Some(Opcode::LLVMGetElementPtr) if value.operands().len() == 2 => {
                let element = value.element_pointer_source_type();
                let bytes = element.allocation_bytes(self.module);
                let base = self.read(value.operand(0), depth - 1)?;
                let index = self.read(value.operand(1), depth - 1)?;
                base.plus(&index, bytes.into())
            }
            _ => return Some(None),
        }))
    }

    /// The number of an atom.
    fn number(&mut self, value: Value<'ctx>) -> usize {
        let is_it = |other: &Value<'ctx>| {
            let register = register(value);
            made_alike(*other, value) || register.is_some() && register == self::register(*other)
        };
        let known = self.all.iter().position(is_it);
        known.unwrap_or_else(|| {
            self.all.push(value);
            self.all.len() - 1
        })
    }

    /// What one step along an axis makes; `None` where that is not the same everywhere.
    fn step(&self, of: &Polynomial, axis: usize) -> Option<Polynomial> {
        let is_axis = |atom: &usize| {
            let own = register(self.all[*atom]);
            own.is_some_and(|own| own.ends_with(THREAD[axis]))
        };
        let mut step = Polynomial::default();
        for (product, factor) in &of.0 {
            let rest = product.iter().copied().filter(|atom| !is_axis(atom));
            let rest: Vec<usize> = rest.collect();
            match product.len() - rest.len() {
                0 => {}
                1 => step = step.with(rest, *factor),
                _ => return None,
            }
        }
        Some(step)
    }

    /// Whether a number is made of what says nothing of where a block is.
    fn are_of_block(&self, number: &Polynomial) -> bool {
        let mut atoms = number.0.keys().flatten();
        atoms.all(|atom| {
            let value = self.all[*atom];
            let of_block = register(value)
                .is_some_and(|name| name.contains(".tid.") || name.contains(".ntid."));
            of_block || value.is_parameter() || value.operation() == Some(Opcode::LLVMPHI)
        })
    }
}

/// How the names of registers end that say where a thread is.
const THREAD: [&str; 3] = [".tid.x", ".tid.y", ".tid.z"];

/// The register that is read.
fn register(value: Value) -> Option<String> {
    if value.operation() != Some(Opcode::LLVMCall) {
        return None;
    }
    let name = value.called_name();
    name.filter(|name| name.starts_with("llvm.nvvm.read.ptx.sreg."))
}
