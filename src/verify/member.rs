//! A kernel model at one launch: its uniform values as polynomials over host values.

use super::formula::{Assumptions, Formula};
use super::place::{Place, Values, single_value};
use super::polynomial::{Atom, Polynomial, normal_form};
use crate::kernel::{KernelModel, KernelSymbol, Target};
use crate::launch::{Launch, LaunchGraph, ValueId};
use crate::math::affine::Variable;

/// A launch with its model.
pub(super) struct Member<'a> {
    pub(super) launch: &'a Launch,
    pub(super) model: &'a KernelModel,
    /// Grid x, y, z, then block x, y, z.
    pub(super) extents: [Polynomial; 6],
    /// Bytes of dynamic shared memory, where constant.
    pub(super) dynamic_shared_bytes: Option<u64>,
    /// The model's parameters.
    pub(super) parameters: Vec<Polynomial>,
    /// The place of each access.
    pub(super) places: Vec<Place>,
}

/// The largest grid and block extents that CUDA accepts, in the order of [`Member::extents`].
pub(super) const MAXIMUM_EXTENTS: [i64; 6] = [2_147_483_647, 65_535, 65_535, 1024, 1024, 64];
/// The most threads a block.
pub(super) const MAXIMUM_THREADS: i64 = 1024;

impl<'a> Member<'a> {
    pub(super) fn new(
        graph: &LaunchGraph,
        values: &Values<'_>,
        launch: &'a Launch,
        model: &'a KernelModel,
    ) -> Self {
        let extent = |value: ValueId| {
            let computed = graph.computed.get(&value).and_then(|computed| {
                normal_form(computed, &mut |value| Some(values.resolve(*value)))
            });
            computed.unwrap_or_else(|| values.resolve(value))
        };
        let [gx, gy, gz] = launch.grid.map(extent);
        let [bx, by, bz] = launch.block.map(extent);
        let mut member = Self {
            launch,
            model,
            extents: [gx, gy, gz, bx, by, bz],
            dynamic_shared_bytes: values
                .resolve(launch.shared_bytes)
                .as_constant()
                .and_then(|bytes| u64::try_from(bytes).ok()),
            parameters: Vec::new(),
            places: Vec::new(),
        };
        for (index, parameter) in model.parameters.iter().enumerate() {
            let polynomial = normal_form(parameter, &mut |symbol| member.symbol(values, symbol));
            // What has no normal form is some value that nobody else has.
            let private = Atom::Private(launch.id, PRIVATE_PARAMETERS + index);
            member
                .parameters
                .push(polynomial.unwrap_or(Polynomial::atom(private)));
        }
        for access in &model.accesses {
            let place = Place::of_target(graph, values, launch, &access.target);
            member.places.push(place);
        }
        member
    }

    /// The value of a kernel symbol at this launch.
    pub(super) fn symbol(&self, values: &Values<'_>, symbol: &KernelSymbol) -> Option<Polynomial> {
        Some(match symbol {
            KernelSymbol::GridSize(axis) => self.extents[axis.index()].clone(),
            KernelSymbol::BlockSize(axis) => self.extents[3 + axis.index()].clone(),
            KernelSymbol::Opaque(index) => Polynomial::atom(Atom::Private(self.launch.id, *index)),
            KernelSymbol::Argument {
                argument,
                offset_bytes,
                bits,
                signed,
            } => {
                let argument = self.launch.arguments.get(*argument)?;
                let mut pieces = argument.pieces.iter();
                match pieces
                    .find(|piece| piece.offset_bytes == *offset_bytes && piece.bits >= *bits)
                {
                    Some(piece) => reading(values, piece.value, piece.bits, *bits, *signed)?,
                    None => Polynomial::atom(Atom::Reading {
                        value: argument.identity?,
                        offset_bytes: *offset_bytes,
                        bits: *bits,
                        signed: *signed,
                        whole: false,
                    }),
                }
            }
        })
    }

    /// The condition of the model at this launch; `None` when it cannot be told.
    pub(super) fn precondition(&self, values: &Values<'_>, index: usize) -> Option<Formula> {
        Formula::from_condition(&self.model.preconditions[index], &mut |symbol| {
            self.symbol(values, symbol)
        })
    }

    /// The bytes of a target that the model may touch, `low ..  high`, from the target's start.
    pub(super) fn footprint(
        &self,
        values: &Values<'_>,
        target: &Target,
    ) -> Option<(Polynomial, Polynomial)> {
        let mut footprints = self.model.footprints.iter();
        let footprint = footprints.find(|footprint| footprint.target == *target)?;
        let bound = |expression| normal_form(expression, &mut |s| self.symbol(values, s));
        let low = bound(footprint.low_bytes.as_ref()?)?;
        let high = bound(footprint.high_bytes.as_ref()?)?;
        Some((low, high))
    }

    /// The columns of a matrix that all it touches of a target lies in: the pitch of the rows, the first byte and one past the last,
    /// as [`crate::kernel::Columns`].
    pub(super) fn columns(&self, values: &Values<'_>, target: &Target) -> Option<[Polynomial; 3]> {
        let mut footprints = self.model.footprints.iter();
        let footprint = footprints.find(|footprint| footprint.target == *target)?;
        let columns = footprint.columns.as_ref()?;
        let bound = |expression| normal_form(expression, &mut |s| self.symbol(values, s));
        let low = bound(&columns.low_bytes)?;
        Some([
            bound(&columns.pitch_bytes)?,
            low,
            bound(&columns.high_bytes)?,
        ])
    }

    /// What CUDA demands of the configuration of a launch that runs.
    pub(super) fn assume_valid(&self, assumptions: &mut Assumptions) {
        for (extent, maximum) in self.extents.iter().zip(MAXIMUM_EXTENTS) {
            let least = Formula::less_equal(&Polynomial::constant(1), extent);
            let most = Formula::less_equal(extent, &Polynomial::constant(maximum));
            least
                .into_iter()
                .chain(most)
                .for_each(|bound| assumptions.assume(bound));
        }
        let [.., x, y, z] = &self.extents;
        let threads = x.multiply(y).and_then(|area| area.multiply(z));
        let limit = Polynomial::constant(MAXIMUM_THREADS);
        if let Some(bound) = threads.and_then(|threads| Formula::less_equal(&threads, &limit)) {
            assumptions.assume(bound);
        }
    }

    /// The value of terms that are the same for all threads.
    pub(in crate::verify) fn uniform(&self, terms: &[(i64, Variable)]) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (coefficient, variable) in terms {
            let value = match variable {
                Variable::Parameter(index) => self.parameters.get(*index)?.clone(),
                Variable::Floor(numerator, divisor) => {
                    let inner = self.uniform(&numerator.terms)?;
                    let inner = inner.add(&Polynomial::constant(numerator.constant))?;
                    inner.floor_divide(&Polynomial::constant(*divisor))?
                }
                _ => return None,
            };
            sum = sum.add(&value.scale(*coefficient)?)?;
        }
        Some(sum)
    }
}

fn reading(
    values: &Values<'_>,
    value: ValueId,
    piece_bits: u32,
    bits: u32,
    signed: bool,
) -> Option<Polynomial> {
    let resolved = values.resolve(value);
    let whole = piece_bits == bits;
    if let Some(constant) = resolved.as_constant() {
        let low = constant as u64 & (u64::MAX >> (64 - bits));
        let shift = 64 - bits;
        return match signed {
            true => Some(Polynomial::constant(((low << shift) as i64) >> shift)),
            false => Some(Polynomial::constant(i64::try_from(low).ok()?)),
        };
    }
    if whole && (signed || values.is_non_negative(value)) {
        return Some(resolved);
    }
    // A value that has been found equal to another is read through its representative.
    let representative = single_value(&resolved).unwrap_or(value);
    Some(Polynomial::atom(Atom::Reading {
        value: representative,
        offset_bytes: 0,
        bits,
        signed,
        whole,
    }))
}

const PRIVATE_PARAMETERS: usize = 1 << 32;
