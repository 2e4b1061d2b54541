//! What the host knows goes into a fused kernel: arguments that are the same constant at every launch,
//! extents of grid and block and that indices stay below them, and pointers at a known distance from another.
//!
//! Invariant: a specialised kernel does what the general one does for every launch that the host
//! makes of it; what is put in are facts of the launch graph, which hold in every run.

use super::super::fields::Piece;
use crate::codegen::CodegenError;
use crate::codegen::expansion::entry_place;
use crate::launch::{Launch, LaunchGraph, Pointer, ValueId};
use crate::llvm::{Builder, Type, Value};
use inkwell::module::Module;

/// What is known of a parameter of a fused kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) enum Known {
    /// Nothing: it is passed.
    Nothing,
    /// It is always this integer.
    Constant(u64),
    /// It is another parameter, that many bytes further.
    Distance {
        /// The other parameter, which is passed.
        base: usize,
        /// How far.
        bytes: i64,
    },
}

/// What a parameter stands for of a launch's arguments, with the parameter's type.
pub(in crate::codegen::fused_kernels::fuse) type Passed<'a, 'ctx> =
    Option<(&'a Launch, Piece, Type<'ctx>)>;

/// What is known of each parameter; `None` stands for one that is no argument.
pub(in crate::codegen::fused_kernels::fuse) fn known<'ctx>(
    graph: &LaunchGraph,
    parameters: &[Passed<'_, 'ctx>],
    constants: bool,
    one_base: bool,
) -> Vec<Known> {
    let mut bases: Vec<(usize, &Pointer, i64)> = Vec::new();
    let mut known = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let found = match parameter {
            Some((launch, piece, ty)) if ty.is_integer() && constants => {
                constant(graph, launch, *piece, ty.integer_bits())
            }
            Some((launch, piece, ty)) if ty.is_pointer() && one_base => {
                let place = graph.place_of(launch, piece.argument, piece.begin());
                place.and_then(|(pointer, offset)| {
                    let mut before = bases.iter();
                    match before.find(|(_, base, _)| base.root == pointer.root) {
                        Some((base, _, from)) => Some(Known::Distance {
                            base: *base,
                            bytes: offset.checked_sub(*from)?,
                        }),
                        None => {
                            bases.push((index, pointer, offset));
                            None
                        }
                    }
                })
            }
            _ => None,
        };
        known.push(found.unwrap_or(Known::Nothing));
    }
    known
}

fn constant(graph: &LaunchGraph, launch: &Launch, own: Piece, bits: u32) -> Option<Known> {
    let mut pieces = launch.arguments.get(own.argument)?.pieces.iter();
    let piece = pieces.find(|piece| piece.offset_bytes == own.begin() && piece.bits == bits)?;
    if piece.pointer.is_some() || !(8..=64).contains(&bits) {
        return None;
    }
    let value = graph.values.get(piece.value.0)?.constant?;
    Some(Known::Constant(
        value.cast_unsigned() & (u64::MAX >> (64 - bits)),
    ))
}

/// What two sites of a kernel both know of its parameters. Pointers that are computed from others in each stay
/// equally far apart in both, whatever they were computed from.
pub(in crate::codegen::fused_kernels::fuse) fn known_by_both(
    one: &[Known],
    other: &[Known],
) -> Vec<Known> {
    // Where a parameter leads in each site: what it is computed from, and how far behind that it is.
    let place = |known: &[Known], index: usize| match known[index] {
        Known::Nothing => Some((index, 0)),
        Known::Distance { base, bytes } => Some((base, bytes)),
        Known::Constant(_) => None,
    };
    let mut bases: Vec<(usize, [(usize, i64); 2])> = Vec::new();
    let mut known = Vec::new();
    for index in 0..one.len().min(other.len()) {
        let places = place(one, index).zip(place(other, index));
        let both = match (one[index], places) {
            (constant @ Known::Constant(_), _) if constant == other[index] => constant,
            (_, Some((own, of_other))) => {
                let places = [own, of_other];
                let distance = |base: &[(usize, i64); 2]| {
                    let [one, other] = [0, 1].map(|site| {
                        let ((from, begin), (to, end)) = (base[site], places[site]);
                        end.checked_sub(begin).filter(|_| from == to)
                    });
                    one.filter(|_| one == other)
                };
                let mut before = bases.iter();
                let found = before.find_map(|(base, places)| Some((*base, distance(places)?)));
                if found.is_none() {
                    bases.push((index, places));
                }
                found.map_or(Known::Nothing, |(base, bytes)| Known::Distance {
                    base,
                    bytes,
                })
            }
            _ => Known::Nothing,
        };
        known.push(both);
    }
    known
}

/// Takes known parameters out of a kernel, which keeps its name. Returns it, and which of its
/// parameters each old one is now, or is computed from; `None` for a constant.
pub(in crate::codegen::fused_kernels::fuse) fn specialise<'ctx>(
    module: &Module<'ctx>,
    general: Value<'ctx>,
    known: &[Known],
) -> Result<(Value<'ctx>, Vec<Option<usize>>), CodegenError> {
    let mut place = Vec::new();
    let mut kept = Vec::new();
    for (index, known) in known.iter().enumerate() {
        place.push(match known {
            Known::Nothing => {
                kept.push(index);
                Some(kept.len() - 1)
            }
            Known::Constant(_) => None,
            Known::Distance { base, .. } => place[*base],
        });
    }
    if kept.len() == known.len() {
        return Ok((general, place));
    }
    let ty = general.value_type();
    let types = ty.parameters();
    let types: Vec<Type> = kept.iter().map(|index| types[*index]).collect();
    let function = general.with_parameters(module, &types);
    for (new, old) in kept.iter().enumerate() {
        general.copy_attributes(*old as u32 + 1, function, new as u32 + 1);
    }
    let name = function.name();
    let start = entry_place(function)
        .ok_or_else(|| CodegenError::Inconsistent(format!("'{name}' has no body")))?;
    let builder = Builder::before(start);
    let byte = Type::integer(module, 8);
    let parameters = function.parameters();
    for (index, old) in general.parameters().into_iter().enumerate() {
        let passed = place[index].map(|place| parameters[place]);
        let value = match (known[index], passed) {
            (Known::Constant(value), _) => old.ty().constant(value),
            (Known::Distance { bytes, .. }, Some(base)) if bytes != 0 => {
                let distance = Type::integer(module, 64).constant(bytes.cast_unsigned());
                builder.element_pointer(byte, base, &[distance])
            }
            (_, Some(same)) => same,
            (_, None) => continue,
        };
        old.replace_uses_with_or_nothing(value);
    }
    general.delete_function();
    Ok((function, place))
}

/// Which of so many pointers never reach what others reach, by the places that [`specialise`] and
/// [`tables_as_passed`] gave: a parameter reaches what all those reach that are computed from it.
pub(in crate::codegen::fused_kernels::fuse) fn disjoint_as_passed(
    disjoint: &[Vec<bool>],
    place: &[Option<usize>],
    count: usize,
) -> Vec<Vec<bool>> {
    let mut passed = vec![vec![true; count]; count];
    for (row, one) in disjoint.iter().zip(place) {
        for (disjoint, other) in row.iter().zip(place) {
            if let (Some(one), Some(other)) = (one, other) {
                passed[*one][*other] &= disjoint;
            }
        }
    }
    passed
}

/// The tables of a kernel after [`specialise`], which left it so many parameters, and which of them each was: as a
/// place behind those of the parameters.
pub(in crate::codegen::fused_kernels::fuse) fn tables_as_passed(
    tables: &[(usize, u32)],
    known: &[Known],
    place: &[Option<usize>],
    parameters: usize,
) -> (Vec<(usize, u32)>, Vec<Option<usize>>) {
    let mut passed: Vec<(usize, u32)> = Vec::new();
    let places = tables.iter().map(|(parameter, distance_bytes)| {
        let further = match known[*parameter] {
            Known::Distance { bytes, .. } => bytes,
            Known::Nothing | Known::Constant(_) => 0,
        };
        let distance_bytes = i64::from(*distance_bytes).checked_add(further)?;
        let table = (place[*parameter]?, u32::try_from(distance_bytes).ok()?);
        let at = passed.iter().position(|known| *known == table);
        Some(
            parameters
                + at.unwrap_or_else(|| {
                    passed.push(table);
                    passed.len() - 1
                }),
        )
    });
    let places = places.collect();
    (passed, places)
}

/// Puts the known extents of a launch into the function of its kernel, and the one index that there is where
/// an extent is 1.
pub(in crate::codegen::fused_kernels::fuse) fn put_extents(body: Value, extents: [Option<u32>; 6]) {
    const NAMES: [[&str; 2]; 6] = [
        ["nctaid.x", "ctaid.x"],
        ["nctaid.y", "ctaid.y"],
        ["nctaid.z", "ctaid.z"],
        ["ntid.x", "tid.x"],
        ["ntid.y", "tid.y"],
        ["ntid.z", "tid.z"],
    ];
    for instruction in body.instructions() {
        let name = instruction.called_name();
        let Some(register) = name
            .as_deref()
            .and_then(|name| name.strip_prefix("llvm.nvvm.read.ptx.sreg."))
        else {
            continue;
        };
        let known = NAMES.iter().zip(extents);
        let mut values = known.filter_map(|([extent, index], known)| match known? {
            known if *extent == register => Some(known),
            1 if *index == register => Some(0),
            _ => None,
        });
        if let Some(value) = values.next() {
            instruction.replace_uses_with_or_nothing(instruction.ty().constant(value.into()));
            instruction.erase();
        }
    }
}

/// Says of the indices that a body of a fused kernel reads that they are below the extents of the fused grid
/// and blocks, where these are known. One read may then stand for another, of any member.
pub(in crate::codegen::fused_kernels::fuse) fn bound_indices(
    body: Value,
    grid: &[Option<u64>; 3],
    block: &[Option<u64>; 3],
) {
    const NAMES: [&str; 6] = ["ctaid.x", "ctaid.y", "ctaid.z", "tid.x", "tid.y", "tid.z"];
    for instruction in body.instructions() {
        let name = instruction.called_name();
        let register = name
            .as_deref()
            .and_then(|name| name.strip_prefix("llvm.nvvm.read.ptx.sreg."));
        let position = NAMES.iter().position(|known| Some(*known) == register);
        let extent = position.and_then(|position| *grid.iter().chain(block).nth(position)?);
        if let Some(extent) = extent.filter(|extent| *extent > 0) {
            instruction.bound_result(extent);
        }
    }
}

/// Grid x, y, z and block x, y, z, where the host knows them.
pub(in crate::codegen::fused_kernels::fuse) fn extents(
    graph: &LaunchGraph,
    launch: &Launch,
) -> [Option<u32>; 6] {
    let constant = |value: ValueId| {
        let value = graph.values.get(value.0)?.constant?;
        u32::try_from(value & 0xffff_ffff).ok()
    };
    let [gx, gy, gz] = launch.grid.map(constant);
    let [bx, by, bz] = launch.block.map(constant);
    [gx, gy, gz, bx, by, bz]
}

/// Blocks of the largest of some launches, given extents of each, where all are known.
pub(in crate::codegen::fused_kernels::fuse) fn largest_grid(
    launches: &[[Option<u32>; 6]],
) -> Option<u64> {
    let blocks = |extents: &[Option<u32>; 6]| -> Option<u64> {
        let grid = extents[..3].iter();
        grid.map(|extent| extent.map(u64::from)).product()
    };
    let all: Option<Vec<u64>> = launches.iter().map(blocks).collect();
    all?.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_that_two_sites_share_are_known_whatever_they_are_computed_from() {
        let at = |base, bytes| Known::Distance { base, bytes };
        let one = [
            Known::Nothing,
            at(0, 64),
            at(0, 96),
            at(0, 32),
            Known::Constant(7),
            Known::Constant(8),
            Known::Nothing,
        ];
        // The first leads elsewhere, and one of the others does.
        let other = [
            Known::Nothing,
            at(0, 640),
            at(0, 672),
            at(0, 640),
            Known::Constant(7),
            Known::Constant(9),
            at(0, 8),
        ];
        let both = [
            Known::Nothing,
            Known::Nothing,
            at(1, 32),
            Known::Nothing,
            Known::Constant(7),
            Known::Nothing,
            Known::Nothing,
        ];
        assert_eq!(known_by_both(&one, &other), both);
        assert_eq!(known_by_both(&other, &one), both);
        assert_eq!(known_by_both(&one, &one), one);
        assert_eq!(known_by_both(&both, &one), both);
    }
}
