//! Members whose threads stand for the elements of one array.

use super::*;
use sirius_rs::kernel::Barrier;
use sirius_rs::schedule::ThreadMap;

const X: Axis = Axis::X;
const Y: Axis = Axis::Y;

/// Elements of a row, rows.
const WIDTH: i64 = 50;
const HEIGHT: i64 = 20;

/// A position along an axis through blocks of so many threads.
fn position(axis: Axis, threads: i64) -> Affine {
    let block = Affine::variable(Variable::Block(axis)).scale(threads);
    let thread = Affine::variable(Variable::Thread(axis));
    block.unwrap().add(&thread).unwrap()
}

/// What a matrix kernel is made with.
#[derive(Clone, Copy)]
struct Matrix {
    /// Threads a block along x and y.
    threads: [i64; 2],
    /// Along which axes columns and rows are.
    axes: [Axis; 2],
    pitch: i64,
    /// What columns and rows stay below.
    inside: [i64; 2],
}

const MATRIX: Matrix = Matrix {
    threads: [16, 16],
    axes: [X, Y],
    pitch: WIDTH,
    inside: [WIDTH, HEIGHT],
};

impl Matrix {
    fn kernel(self, scene: &mut Scene) -> KernelId {
        let id = scene.pointwise("matrix");
        let along = |axis: Axis| position(axis, self.threads[axis.index()]);
        let [column, row] = self.axes.map(along);
        let number = row.scale(self.pitch).unwrap().add(&column).unwrap();
        let below = |position: &Affine, limit: i64| {
            let room = Affine::constant(limit - 1).subtract(position).unwrap();
            Constraint::NonNegative(room)
        };
        let [most_columns, most_rows] = self.inside;
        for access in &mut scene.kernels[id.0].accesses {
            access.subscript = number.scale(4);
            access.domain = vec![vec![below(&column, most_columns), below(&row, most_rows)]];
        }
        id
    }

    /// Gives one of the launches as many blocks as the array needs.
    fn shape(self, chain: &mut Chain, launch: usize) {
        let extents = match self.axes {
            [X, _] => [WIDTH, HEIGHT],
            _ => [HEIGHT, WIDTH],
        };
        for (axis, extent) in extents.into_iter().enumerate() {
            let threads = self.threads[axis];
            let grid = chain.scene.constant((extent + threads - 1) / threads);
            let block = chain.scene.constant(threads);
            let launch = chain.scene.launch_mut(chain.launches[launch]);
            (launch.grid[axis], launch.block[axis]) = (grid, block);
        }
    }
}

/// A line of elements, of which those below a limit are touched.
fn line(limit: i64) -> impl Fn(&mut Scene) -> KernelId {
    move |scene| {
        let id = scene.pointwise("line");
        scene.kernels[id.0].parameters[1] = Expression::Constant(limit);
        id
    }
}

fn stand_in_line(chain: &mut Chain, launch: usize, blocks: i64) {
    let (grid, block) = (chain.scene.constant(blocks), chain.scene.constant(256));
    let launch = chain.scene.launch_mut(chain.launches[launch]);
    (launch.grid[0], launch.block[0]) = (grid, block);
}

/// A matrix, and then a line of as many elements.
fn matrix_and_line(matrix: Matrix, limit: i64) -> Chain {
    let mut chain = chain_of(|scene: &mut Scene| matrix.kernel(scene), line(limit));
    matrix.shape(&mut chain, 0);
    stand_in_line(&mut chain, 1, 4);
    chain
}

fn elements(axes: &[Axis], extents: [i64; 2], own: &[Axis]) -> ThreadMap {
    ThreadMap::Elements {
        axes: axes.to_vec(),
        extents: extents.map(Expression::Constant).to_vec(),
        own: own.to_vec(),
    }
}

fn planned(chain: &Chain, maps: [ThreadMap; 2]) -> FusionPlan {
    let mut plan = chain.plan();
    for (member, map) in plan.groups[0].members.iter_mut().zip(maps) {
        member.map = map;
    }
    plan
}

fn second(chain: &Chain, map: ThreadMap) -> FusionPlan {
    planned(chain, [ThreadMap::Identity, map])
}

const SIZE: [i64; 2] = [WIDTH, HEIGHT];

#[test]
fn a_line_runs_where_its_elements_are() {
    for limit in [1, 999, 1000] {
        let chain = matrix_and_line(MATRIX, limit);
        assert_passes(&chain.scene, &second(&chain, elements(&[X, Y], SIZE, &[])));
    }
    let mut chain = chain_of(line(1000), |scene: &mut Scene| MATRIX.kernel(scene));
    stand_in_line(&mut chain, 0, 4);
    MATRIX.shape(&mut chain, 1);
    let first = elements(&[X, Y], SIZE, &[]);
    assert_passes(&chain.scene, &planned(&chain, [first, ThreadMap::Identity]));
    let rows = Matrix {
        axes: [Y, X],
        ..MATRIX
    };
    let chain = matrix_and_line(rows, 1000);
    assert_passes(&chain.scene, &second(&chain, elements(&[Y, X], SIZE, &[])));
    let crossed = second(&chain, elements(&[X, Y], [HEIGHT, WIDTH], &[]));
    assert_refused!(chain.scene, crossed, Refusal::RemappedConflict { .. });
}

#[test]
fn an_array_is_that_of_the_elements() {
    let chain = matrix_and_line(MATRIX, 1000);
    // Rows of other lengths, fewer rows, and more rows than the line has threads for.
    for (extents, apart) in [
        ([WIDTH - 1, HEIGHT], true),
        ([WIDTH + 1, HEIGHT], true),
        ([2 * WIDTH, HEIGHT / 2], true),
        ([WIDTH, HEIGHT - 1], true),
        ([WIDTH, HEIGHT + 1], false),
        ([WIDTH, HEIGHT + 13], false),
        ([0, HEIGHT], true),
        ([-WIDTH, -HEIGHT], false),
    ] {
        let found = refusals(
            &chain.scene,
            &second(&chain, elements(&[X, Y], extents, &[])),
        );
        let expected = |refusal: &Refusal| match apart {
            true => matches!(refusal, Refusal::RemappedConflict { .. }),
            false => matches!(refusal, Refusal::NotRemapped { .. }),
        };
        assert!(found.iter().any(expected), "{extents:?}: {found:#?}");
    }
    let one = |axes: &[Axis], extents: &[i64], own: &[Axis]| ThreadMap::Elements {
        axes: axes.to_vec(),
        extents: extents.iter().copied().map(Expression::Constant).collect(),
        own: own.to_vec(),
    };
    for map in [
        one(&[X], &[WIDTH], &[]),
        one(&[Y], &[HEIGHT], &[]),
        one(&[], &[], &[]),
        one(&[X, Y], &[WIDTH], &[]),
        one(&[X, X], &[WIDTH, HEIGHT], &[]),
        one(&[X, Y], &[WIDTH, HEIGHT], &[X]),
        one(&[X, Y], &[WIDTH, HEIGHT], &[X, X]),
        one(&[X, Y], &[WIDTH, HEIGHT], &[X, Y]),
    ] {
        let found = refusals(&chain.scene, &second(&chain, map));
        let refused = |refusal: &Refusal| matches!(refusal, Refusal::NotRemapped { .. });
        assert!(found.iter().any(refused), "{found:#?}");
    }
}

#[test]
fn who_stands_for_no_element_touches_nothing() {
    // A line that is longer than the array, and one that is cut off before its end.
    let chain = matrix_and_line(MATRIX, 1001);
    let plan = second(&chain, elements(&[X, Y], SIZE, &[]));
    assert_refused!(chain.scene, plan, Refusal::NotRemapped { .. });
    let mut chain = matrix_and_line(MATRIX, 1000);
    stand_in_line(&mut chain, 1, 3);
    let plan = second(&chain, elements(&[X, Y], SIZE, &[]));
    assert_refused!(chain.scene, plan, Refusal::NotRemapped { .. });
    // Rows behind those that the line has are its own affair.
    let high = Matrix {
        inside: [WIDTH, HEIGHT + 1],
        ..MATRIX
    };
    let chain = matrix_and_line(high, 1000);
    assert_passes(&chain.scene, &second(&chain, elements(&[X, Y], SIZE, &[])));
    // A matrix that goes on behind its rows, and one whose rows are apart.
    for matrix in [
        Matrix {
            inside: [WIDTH + 1, HEIGHT],
            ..MATRIX
        },
        Matrix {
            pitch: WIDTH + 1,
            ..MATRIX
        },
    ] {
        let chain = matrix_and_line(matrix, 1000);
        let plan = second(&chain, elements(&[X, Y], SIZE, &[]));
        assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
    }
}

#[test]
fn who_needs_others_keeps_its_place() {
    let mut chain = matrix_and_line(MATRIX, 1000);
    let plan = second(&chain, elements(&[X, Y], SIZE, &[]));
    chain.scene.kernels[1].barriers = vec![Barrier {
        uniform: true,
        uniform_while_unwritten: Vec::new(),
        reached_if: Vec::new(),
        loops: Vec::new(),
        place: 0,
        location: Location::default(),
    }];
    assert_refused!(chain.scene, plan, Refusal::NotRemapped { .. });
    let mut chain = matrix_and_line(MATRIX, 1000);
    let what = (String::from("inline assembly"), Location::default());
    chain.scene.kernels[1].opaque.push(what);
    assert!(!refusals(&chain.scene, &plan).is_empty());
    // A line that looks at its neighbour's element.
    let mut chain = matrix_and_line(MATRIX, 1000);
    let access = &mut chain.scene.kernels[1].accesses[0];
    let subscript = access.subscript.take().unwrap();
    access.subscript = subscript.add(&Affine::constant(-4));
    assert_refused!(chain.scene, plan, Refusal::RemappedConflict { .. });
}

#[test]
fn matrices_of_other_blocks_meet_in_elements() {
    let flat = Matrix {
        threads: [32, 8],
        ..MATRIX
    };
    let both = |other: Matrix| {
        let mut chain = chain_of(
            |scene: &mut Scene| MATRIX.kernel(scene),
            |scene: &mut Scene| other.kernel(scene),
        );
        MATRIX.shape(&mut chain, 0);
        other.shape(&mut chain, 1);
        chain
    };
    let chain = both(flat);
    assert_passes(
        &chain.scene,
        &second(&chain, elements(&[X, Y], SIZE, &[X, Y])),
    );
    for own in [&[Y, X][..], &[]] {
        let found = refusals(&chain.scene, &second(&chain, elements(&[X, Y], SIZE, own)));
        assert!(!found.is_empty(), "{own:?}");
    }
    let by_rows = Matrix {
        axes: [Y, X],
        ..flat
    };
    let chain = both(by_rows);
    assert_passes(
        &chain.scene,
        &second(&chain, elements(&[X, Y], SIZE, &[Y, X])),
    );
    let found = refusals(
        &chain.scene,
        &second(&chain, elements(&[X, Y], SIZE, &[X, Y])),
    );
    assert!(!found.is_empty());
    // One of which more is touched.
    let wide = Matrix {
        inside: [WIDTH + 14, HEIGHT],
        ..flat
    };
    let chain = both(wide);
    let found = refusals(
        &chain.scene,
        &second(&chain, elements(&[X, Y], SIZE, &[X, Y])),
    );
    let refused = |refusal: &Refusal| matches!(refusal, Refusal::NotRemapped { .. });
    assert!(found.iter().any(refused), "{found:#?}");
}
