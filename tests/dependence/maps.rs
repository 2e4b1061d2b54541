//! Scopes under maps that are not the identity. What a map claims is compared with every pair of
//! threads that touch a common element, one by one.

use crate::builder::{Actual, Kernel, World, X, Y, actuals, pointwise, shape, sum};
use sirius_rs::dependence::{CoordinateSymbol, Edge, MappedScope, Scope, build_dependence_graph};
use sirius_rs::kernel::{AccessKind, KernelModel};
use sirius_rs::launch::ValueId;
use sirius_rs::math::affine::{Affine, Variable};
use sirius_rs::math::expression::Expression;
use std::collections::{BTreeSet, HashMap};

const BX: Variable = Variable::Block(X);
const BY: Variable = Variable::Block(Y);
const TX: Variable = Variable::Thread(X);
const TY: Variable = Variable::Thread(Y);

/// Grid x, y and block x, y.
type Extents = [i64; 4];

/// A kernel that writes or reads elements of four bytes at some places.
fn kernel(name: &str, kind: AccessKind, elements: &[Affine]) -> KernelModel {
    let mut kernel = Kernel::new(name, 1);
    for element in elements {
        kernel.access(kind, 0, element.scale(4).unwrap(), vec![vec![]]);
    }
    kernel.model
}

/// The only edge between a launch that writes and one that reads.
fn edge(writer: (&[Affine], Extents), reader: (&[Affine], Extents)) -> Edge {
    let mut world = World::new();
    let buffer = world.buffer("a");
    let mut launches = Vec::new();
    for (kind, (elements, extents)) in [(AccessKind::Write, writer), (AccessKind::Read, reader)] {
        let model = world.kernel(kernel(&format!("{kind:?}"), kind, elements));
        let one = world.number(1);
        let [gx, gy, bx, by] = extents.map(|extent| world.number(extent));
        launches.push(world.launch(
            model,
            [gx, gy, one],
            [bx, by, one],
            vec![Actual::Pointer(buffer.clone())],
        ));
    }
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let found: Vec<_> = dependences.edges().cloned().collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    check(&found[0], writer, reader);
    found[0].clone()
}

type Coordinates = [i64; 4];

fn places([gx, gy, bx, by]: Extents) -> Vec<Coordinates> {
    let mut places = Vec::new();
    for block in 0..gx * gy {
        for thread in 0..bx * by {
            places.push([block % gx, block / gx, thread % bx, thread / bx]);
        }
    }
    places
}

fn at(affine: &Affine, place: &Coordinates) -> i64 {
    let value = |variable: &Variable| match variable {
        Variable::Floor(inner, divisor) => at(inner, place).div_euclid(*divisor),
        other => place[[BX, BY, TX, TY].iter().position(|v| v == other).unwrap()],
    };
    let terms = affine.terms.iter();
    terms.map(|(c, v)| c * value(v)).sum::<i64>() + affine.constant
}

fn coordinate(expression: &Expression<CoordinateSymbol>, place: &Coordinates) -> i64 {
    let value = |symbol: &CoordinateSymbol| match symbol {
        CoordinateSymbol::Block(axis) => place.get(axis.index()).copied().filter(|_| *axis <= Y),
        CoordinateSymbol::Thread(axis) => place.get(2 + axis.index()).copied(),
        CoordinateSymbol::Value(_) => panic!("all shapes are known"),
    };
    let known = expression
        .substitute::<u8>(&mut |symbol| Some(Expression::Constant(value(symbol).unwrap_or(0))));
    known.unwrap().as_constant().unwrap()
}

/// Every pair of threads that meet has equal coordinates, and coordinates tell places apart.
fn check(edge: &Edge, writer: (&[Affine], Extents), reader: (&[Affine], Extents)) {
    let Some(MappedScope { scope, map, .. }) = edge.mapped.as_deref() else {
        return;
    };
    assert!(*scope < edge.scope);
    let coordinates = |list: &[Expression<CoordinateSymbol>], place: &Coordinates| -> Vec<i64> {
        list.iter().map(|part| coordinate(part, place)).collect()
    };
    let mut written: HashMap<i64, Vec<Vec<i64>>> = HashMap::new();
    for place in places(writer.1) {
        for element in writer.0 {
            let entry = written.entry(at(element, &place)).or_default();
            entry.push(coordinates(&map.source, &place));
        }
    }
    let mut met = 0;
    for place in places(reader.1) {
        let own = coordinates(&map.sink, &place);
        for element in reader.0 {
            for other in written.get(&at(element, &place)).into_iter().flatten() {
                assert_eq!(*other, own, "{map:?}");
                met += 1;
            }
        }
    }
    assert!(met > 0);
    for (extents, list, blocks) in [
        (writer.1, &map.source, map.source_blocks),
        (reader.1, &map.sink, map.sink_blocks),
    ] {
        let mut classes: HashMap<Vec<i64>, BTreeSet<Vec<i64>>> = HashMap::new();
        for place in places(extents) {
            let unit = match scope {
                Scope::Thread => place.to_vec(),
                _ => place[..2].to_vec(),
            };
            classes
                .entry(coordinates(list, &place))
                .or_default()
                .insert(unit);
        }
        for units in classes.values() {
            let few = units.len() as i64 <= blocks;
            assert!(blocks == 0 || few, "{units:?} share {list:?}");
        }
    }
}

fn linear(block: i64) -> Affine {
    sum(&[(block, BX), (1, TX)], 0)
}

fn mapped(edge: &Edge) -> (Scope, i64, i64) {
    let found = edge.mapped.as_ref();
    let found = found.unwrap_or_else(|| panic!("no map: {} {}", edge.because, edge.relation));
    (found.scope, found.map.source_blocks, found.map.sink_blocks)
}

#[test]
fn grids_of_another_shape_are_thread_wide() {
    let found = edge(
        (&[linear(64)], [16, 1, 64, 1]),
        (&[linear(128)], [8, 1, 128, 1]),
    );
    assert_eq!(found.scope, Scope::Global);
    assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
    let map = found.mapped.unwrap().map;
    assert_eq!(
        map.source[0].to_string(),
        "threadIdx.x + 64*blockIdx.x".to_string()
    );
    assert_eq!(map.sink[0].to_string(), "threadIdx.x + 128*blockIdx.x");
}

#[test]
fn two_dimensional_blocks_meet_one_dimensional_ones() {
    // A matrix of 16 columns in blocks of 4 by 4, and the same elements in a row.
    let tile = sum(&[(64, BY), (16, TY), (4, BX), (1, TX)], 0);
    let found = edge((&[tile], [4, 4, 4, 4]), (&[linear(16)], [16, 1, 16, 1]));
    assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
    // Blocks that are linear in themselves.
    let inside = sum(&[(16, BX), (4, TY), (1, TX)], 0);
    let found = edge((&[inside], [16, 1, 4, 4]), (&[linear(16)], [16, 1, 16, 1]));
    assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
}

#[test]
fn transposed_blocks_and_threads() {
    let straight = sum(&[(64, BY), (16, TY), (4, BX), (1, TX)], 0);
    let turned = sum(&[(64, BX), (16, TX), (4, BY), (1, TY)], 0);
    let blocks = sum(&[(64, BX), (16, TY), (4, BY), (1, TX)], 0);
    let shape = [4, 4, 4, 4];
    for other in [turned, blocks] {
        let found = edge((std::slice::from_ref(&straight), shape), (&[other], shape));
        assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
    }
    // Neighbours in a transposed block: the block is what stays together.
    let rotated = sum(&[(64, BX), (16, TY), (4, BY), (-1, TX)], 3);
    let both = [sum(&[(64, BX), (16, TY), (4, BY), (1, TX)], 0), rotated];
    let found = edge((&[straight], shape), (&both, shape));
    assert_eq!(mapped(&found), (Scope::Block, 1, 1));
}

#[test]
fn four_small_blocks_for_one_large_one() {
    let opposite = sum(&[(64, BX), (-1, TX)], 63);
    let large = (&[linear(64), opposite.clone()][..], [4, 1, 64, 1]);
    let small = (&[linear(16)][..], [16, 1, 16, 1]);
    assert_eq!(mapped(&edge(small, large)), (Scope::Block, 4, 1));
    assert_eq!(mapped(&edge(large, small)), (Scope::Block, 1, 4));
}

#[test]
fn runs_of_threads_for_a_block() {
    // A block and a half of elements for each block of the other, in whatever order it takes them.
    let rows = [linear(24), sum(&[(24, BX), (-1, TX)], 23)];
    let of_rows = (&rows[..], [4, 1, 24, 1]);
    let elements = (&[linear(16)][..], [6, 1, 16, 1]);
    let found = edge(elements, of_rows);
    assert_eq!(mapped(&found), (Scope::Block, 0, 1));
    let map = found.mapped.unwrap().map;
    let run = "floor((threadIdx.x + 16*blockIdx.x)/24)";
    assert_eq!(map.source[0].to_string(), run);
    assert_eq!(map.sink[0].to_string(), "blockIdx.x");
    assert_eq!(mapped(&edge(of_rows, elements)), (Scope::Block, 1, 0));
    // One element of the next row, or rows that overlap.
    let beyond = [linear(24), sum(&[(24, BX), (1, TX)], 1)];
    let found = edge(elements, (&beyond, [4, 1, 24, 1]));
    assert!(found.mapped.is_none());
    let overlapping = [sum(&[(20, BX), (1, TX)], 0), sum(&[(20, BX), (-1, TX)], 23)];
    let found = edge(elements, (&overlapping, [4, 1, 24, 1]));
    assert!(found.mapped.is_none());
}

#[test]
fn reversed_and_shifted_places() {
    let shape = [4, 1, 16, 1];
    let reversed = sum(&[(-16, BX), (-1, TX)], 63);
    let found = edge(
        (&[linear(16)], shape),
        (std::slice::from_ref(&reversed), shape),
    );
    assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
    let found = edge(
        (&[linear(16)], shape),
        (&[reversed, sum(&[(-16, BX), (1, TX)], 48)], shape),
    );
    assert_eq!(mapped(&found), (Scope::Block, 1, 1));
    let later = sum(&[(16, BX), (1, TX)], 32);
    let found = edge(
        (&[linear(16)], shape),
        (std::slice::from_ref(&later), shape),
    );
    assert_eq!(mapped(&found), (Scope::Thread, 1, 1));
    let neighbour = sum(&[(16, BX), (-1, TX)], 47);
    let found = edge((&[linear(16)], shape), (&[later, neighbour], shape));
    assert_eq!(mapped(&found), (Scope::Block, 1, 1));
}

#[test]
fn what_no_map_holds_has_none() {
    let shape = [4, 1, 16, 1];
    let stencil = [linear(16), sum(&[(16, BX), (1, TX)], 1)];
    assert!(
        edge((&[linear(16)], shape), (&stencil, shape))
            .mapped
            .is_none()
    );
    // All read one element; three blocks of one for two of the other.
    let one = sum(&[], 5);
    assert!(
        edge((&[linear(16)], shape), (&[one], shape))
            .mapped
            .is_none()
    );
    let opposite = sum(&[(16, BX), (-1, TX)], 15);
    let found = edge(
        (&[linear(16), opposite], [6, 1, 16, 1]),
        (&[linear(24), sum(&[(24, BX), (-1, TX)], 23)], [4, 1, 24, 1]),
    );
    assert!(found.mapped.is_none());
    // A thread of the sink for two of the source: no map of threads, but one of blocks.
    let half = Affine::variable(TX).floor_divide(2);
    let pairs = half.add(&sum(&[(8, BX)], 0)).unwrap();
    let found = edge((&[pairs], shape), (&[linear(8)], [4, 1, 8, 1]));
    assert_eq!(found.scope, Scope::Block);
    assert!(found.mapped.is_none());
}

/// Unknown blocks and grids on both sides: the number of the thread in the grid is the map.
#[test]
fn maps_are_parametric() {
    let mut world = World::new();
    let (x, y, z) = (world.buffer("x"), world.buffer("y"), world.buffer("z"));
    let (grid, block, n) = (world.extent(), world.extent(), world.unknown());
    let rows = world.extent();
    let one = world.number(1);
    let first_shape = shape(&mut world, grid);
    let first_block = shape(&mut world, block);
    let scale = world.kernel(pointwise("scale", 0));
    let first = world.launch(scale, first_shape, first_block, actuals(&x, &y, n));
    // Its blocks are numbered along y, which cannot be the identity when both grids are long.
    let mut turned = pointwise("turned", 0);
    turned.products[0].factor = Affine::variable(BY);
    let turned = world.kernel(turned);
    let last = world.launch(turned, [one, rows, one], first_block, actuals(&y, &z, n));
    let dependences = build_dependence_graph(&world.graph, &world.kernels);
    let found = dependences
        .edges()
        .find(|edge| edge.source == first && edge.sink == last)
        .unwrap();
    let found = found
        .mapped
        .as_ref()
        .unwrap_or_else(|| panic!("{} {}", found.because, found.relation));
    assert_eq!(found.scope, Scope::Thread);
    let value = |value: ValueId| CoordinateSymbol::Value(value).to_string();
    assert!(
        found.map.source[0].to_string().contains(&value(block)),
        "{:?}",
        found.map
    );
}
