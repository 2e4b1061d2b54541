//! Members whose threads run in the blocks that work on the tiles of a matrix with their elements.

use super::*;
use sirius_rs::schedule::ThreadMap;

const X: Axis = Axis::X;
const Y: Axis = Axis::Y;

/// Columns and rows of the matrix.
const WIDTH: i64 = 48;
const HEIGHT: i64 = 64;
/// Rows and columns of a tile.
const TILE: [i64; 2] = [32, 16];
/// Threads a block along either axis.
const THREADS: i64 = 16;

/// A kernel that works on a matrix tile by tile, rows along x.
#[derive(Clone, Copy)]
struct Tiled {
    pitch: i64,
    /// Rows from one block's first to the next one's.
    rows: i64,
    /// Rows that a thread works on, THREADS apart.
    turns: i64,
    /// The first column of the first tile.
    begin: i64,
    /// What columns stay below, where it is tested.
    most_columns: Option<i64>,
    element: u32,
    blocks: [i64; 2],
}

const TILED: Tiled = Tiled {
    pitch: WIDTH,
    rows: TILE[0],
    turns: TILE[0] / THREADS,
    begin: 0,
    most_columns: None,
    element: 4,
    blocks: [HEIGHT / TILE[0], WIDTH / TILE[1]],
};

fn sum(parts: &[(i64, Variable)], constant: i64) -> Affine {
    let parts = parts.iter().map(|(times, variable)| {
        let variable = Affine::variable(variable.clone());
        variable.scale(*times).unwrap()
    });
    parts.fold(Affine::constant(constant), |all, part| {
        all.add(&part).unwrap()
    })
}

impl Tiled {
    fn kernel(self, scene: &mut Scene) -> KernelId {
        let id = scene.pointwise("tiled");
        let row = [
            (self.rows, Variable::Block(X)),
            (1, Variable::Thread(X)),
            (THREADS, Variable::Loop(0)),
        ];
        let column = [(TILE[1], Variable::Block(Y)), (1, Variable::Thread(Y))];
        let column = sum(&column, self.begin);
        let number = sum(&row, 0)
            .scale(self.pitch)
            .unwrap()
            .add(&column)
            .unwrap();
        let turn = sum(&[(-1, Variable::Loop(0))], self.turns - 1);
        let mut domain = vec![Constraint::NonNegative(turn)];
        if let Some(most) = self.most_columns {
            let room = Affine::constant(most - 1).subtract(&column).unwrap();
            domain.push(Constraint::NonNegative(room));
        }
        let model = &mut scene.kernels[id.0];
        model.loops.push(Loop {
            parent: None,
            uniform_in_block: true,
            location: Location::default(),
            quotient: None,
            unknown: None,
        });
        for access in &mut model.accesses {
            access.subscript = number.scale(i64::from(self.element));
            access.size_bytes = self.element;
            access.domain = vec![domain.clone()];
        }
        id
    }
}

/// A line of elements, of which those below a limit are touched; each so many elements behind its own.
fn line(limit: i64, ahead: i64) -> impl Fn(&mut Scene) -> KernelId {
    move |scene| {
        let id = scene.pointwise("line");
        let model = &mut scene.kernels[id.0];
        model.parameters[1] = Expression::Constant(limit);
        let read = model.accesses[0].subscript.clone().unwrap();
        model.accesses[0].subscript = read.add(&Affine::constant(4 * ahead));
        id
    }
}

fn shape(chain: &mut Chain, launch: usize, grid: [i64; 2], block: [i64; 2]) {
    for axis in 0..2 {
        let [grid, block] = [grid[axis], block[axis]].map(|extent| chain.scene.constant(extent));
        let launch = chain.scene.launch_mut(chain.launches[launch]);
        (launch.grid[axis], launch.block[axis]) = (grid, block);
    }
}

/// Tiles, and then a line of as many elements.
fn tiles_and_line(tiled: Tiled, line: impl Fn(&mut Scene) -> KernelId) -> Chain {
    let mut chain = chain_of(|scene: &mut Scene| tiled.kernel(scene), line);
    shape(&mut chain, 0, tiled.blocks, [THREADS; 2]);
    shape(&mut chain, 1, [WIDTH * HEIGHT / 256, 1], [256, 1]);
    chain
}

fn usual() -> Chain {
    tiles_and_line(TILED, line(WIDTH * HEIGHT, 0))
}

fn tiles(axes: [Axis; 2], extents: [i64; 2], pitch: i64) -> ThreadMap {
    ThreadMap::Tiles {
        axes,
        extents,
        pitch: Expression::Constant(pitch),
    }
}

fn right() -> ThreadMap {
    tiles([X, Y], TILE, WIDTH)
}

fn planned(chain: &Chain, maps: [ThreadMap; 2]) -> FusionPlan {
    let mut plan = chain.plan_with(true, Vec::new());
    for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
        member.map = map;
    }
    plan
}

fn second(chain: &Chain, map: ThreadMap) -> FusionPlan {
    planned(chain, [ThreadMap::Identity, map])
}

#[test]
fn a_line_runs_where_its_tiles_are() {
    for limit in [1, WIDTH * HEIGHT - 1, WIDTH * HEIGHT] {
        let chain = tiles_and_line(TILED, line(limit, 0));
        assert_passes(&chain.scene, &second(&chain, right()));
    }
    let mut chain = chain_of(line(WIDTH * HEIGHT, 0), |scene: &mut Scene| {
        TILED.kernel(scene)
    });
    shape(&mut chain, 0, [WIDTH * HEIGHT / 256, 1], [256, 1]);
    shape(&mut chain, 1, TILED.blocks, [THREADS; 2]);
    assert_passes(
        &chain.scene,
        &planned(&chain, [right(), ThreadMap::Identity]),
    );
    // Tiles that reach beyond the rows, where nothing is touched; the line ends below the last tile.
    let narrow = Tiled {
        pitch: WIDTH - 5,
        most_columns: Some(WIDTH - 5),
        ..TILED
    };
    let chain = tiles_and_line(narrow, line(WIDTH * HEIGHT, 0));
    let map = tiles([X, Y], TILE, WIDTH - 5);
    assert_passes(&chain.scene, &second(&chain, map));
}

#[test]
fn tiles_are_those_that_blocks_work_on() {
    let chain = usual();
    // Rows of other lengths, tiles of other extents, the axes exchanged.
    for map in [
        tiles([X, Y], TILE, WIDTH - 1),
        tiles([X, Y], TILE, WIDTH - TILE[1]),
        tiles([X, Y], [TILE[0] - 1, TILE[1]], WIDTH),
        tiles([X, Y], [TILE[0] / 2, TILE[1]], WIDTH),
        tiles([X, Y], [TILE[0] * 2, TILE[1]], WIDTH),
        tiles([X, Y], [TILE[0], TILE[1] + 1], WIDTH),
        tiles([X, Y], [TILE[0], TILE[1] * 3], WIDTH),
        tiles([Y, X], [TILE[0], TILE[1] * 2], WIDTH),
    ] {
        let found = refusals(&chain.scene, &second(&chain, map.clone()));
        let apart = |refusal: &Refusal| matches!(refusal, Refusal::RemappedConflict { .. });
        assert!(found.iter().any(apart), "{map:?}: {found:#?}");
    }
    // Some numbers are in no tile, or the tiles are none.
    for map in [
        tiles([X, Y], TILE, WIDTH + 1),
        tiles([X, Y], [TILE[0], TILE[1] - 1], WIDTH),
        tiles([Y, X], TILE, WIDTH),
        tiles([X, X], TILE, WIDTH),
        tiles([X, Axis::Z], TILE, WIDTH),
        tiles([X, Y], [0, TILE[1]], WIDTH),
        tiles([X, Y], [-TILE[0], -TILE[1]], WIDTH),
        tiles([X, Y], [1 << 20, TILE[1]], WIDTH),
        tiles([X, Y], TILE, 0),
        tiles([X, Y], TILE, -WIDTH),
    ] {
        let found = refusals(&chain.scene, &second(&chain, map.clone()));
        let refused = |refusal: &Refusal| matches!(refusal, Refusal::NotRemapped { .. });
        assert!(found.iter().any(refused), "{map:?}: {found:#?}");
    }
}

#[test]
fn blocks_keep_to_their_tiles() {
    for tiled in [
        // Rows of the next block, a gap that is another tile's, columns of the next tile.
        Tiled { turns: 3, ..TILED },
        Tiled { rows: 16, ..TILED },
        Tiled { begin: 1, ..TILED },
        Tiled { begin: -1, ..TILED },
        // Rows that are longer, or shorter, than the line has it.
        Tiled {
            pitch: WIDTH + 1,
            ..TILED
        },
        Tiled {
            pitch: WIDTH - 1,
            ..TILED
        },
        // Elements of eight bytes, where the line has them of four.
        Tiled {
            element: 8,
            ..TILED
        },
    ] {
        let chain = tiles_and_line(tiled, line(WIDTH * HEIGHT, 0));
        let plan = second(&chain, right());
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
    // A column behind the rows, which is the first one of the next.
    let wide = Tiled {
        blocks: [HEIGHT / TILE[0], WIDTH / TILE[1] + 1],
        ..TILED
    };
    let chain = tiles_and_line(wide, line(WIDTH * HEIGHT, 0));
    let plan = second(&chain, right());
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    let tested = Tiled {
        most_columns: Some(WIDTH),
        ..wide
    };
    let chain = tiles_and_line(tested, line(WIDTH * HEIGHT, 0));
    assert_passes(&chain.scene, &second(&chain, right()));
}

#[test]
fn elements_are_those_of_the_line() {
    for ahead in [-1, 1, WIDTH] {
        let chain = tiles_and_line(TILED, line(WIDTH * HEIGHT, ahead));
        let plan = second(&chain, right());
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
    // Each thread has every other element.
    let mut chain = usual();
    let access = &mut chain.scene.kernels[1].accesses[0];
    access.subscript = access.subscript.take().unwrap().scale(2);
    let plan = second(&chain, right());
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    // Each has two, of which one is the next one's.
    let mut chain = usual();
    chain.scene.kernels[1].accesses[0].size_bytes = 8;
    let plan = second(&chain, right());
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
}

#[test]
fn tiles_have_a_barrier_behind_them() {
    let chain = usual();
    let mut plan = second(&chain, right());
    plan.groups[0].members[1].barrier_before = false;
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    // Blocks along the third axis would run each number once more.
    let mut chain = usual();
    let plan = second(&chain, right());
    let two = chain.scene.constant(2);
    chain.scene.launch_mut(chain.launches[0]).grid[2] = two;
    assert!(!refusals(&chain.scene, &plan).is_empty());
    // So many columns of tiles that one begins at the first column again.
    let mut chain = usual();
    let most = chain.scene.constant((1 << 31) / TILE[1]);
    chain.scene.launch_mut(chain.launches[0]).grid[1] = most;
    assert!(!refusals(&chain.scene, &plan).is_empty());
    // The line needs its blocks.
    let mut chain = usual();
    chain.scene.kernels[1].warp_operations = true;
    assert_refused!(chain.scene, plan, Refusal::NotRemapped { .. });
    // Both by tiles: nobody tells the shape.
    let chain = usual();
    let plan = planned(&chain, [right(), right()]);
    assert_refused!(chain.scene, plan, Refusal::MixedMaps { .. });
    let plan = planned(&chain, [ThreadMap::Clipped, right()]);
    assert!(!refusals(&chain.scene, &plan).is_empty());
}
