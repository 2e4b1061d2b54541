//! Rows that all threads of a launch share, beside rows that a loop goes through.

use super::*;
use sirius_rs::kernel::AccessKind::{Read, Write};

/// Thread c of a launch has column c of a row of the last buffer; its arguments are a buffer, the cache, a number of columns,
/// a row and the distance of rows.
const ROW: usize = 2;
const DISTANCE: usize = 3;

fn argument(argument: usize) -> Expression<KernelSymbol> {
    Expression::Leaf(KernelSymbol::Argument {
        argument,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    })
}

/// A kernel of the columns, whose places are `place` further on.
fn kernel(
    scene: &mut Scene,
    (kind, columns): (AccessKind, i64),
    place: impl Fn(&mut KernelModel) -> Affine,
) -> KernelId {
    let accesses = vec![access(kind, 1, own_element(columns))];
    let id = scene.kernel("columns", 2, accesses);
    let model = &mut scene.kernels[id.0];
    let integer = model.formals[2].clone();
    model.formals.extend([integer.clone(), integer]);
    model.parameters.extend([argument(3), argument(4)]);
    let place = place(model).scale(4).unwrap();
    let access = &mut model.accesses[0];
    access.subscript = access.subscript.as_ref().unwrap().add(&place);
    model
        .preconditions
        .push(Condition::LessEqual(Expression::Constant(0), argument(4)));
    model.footprints.clear();
    id
}

/// The row that the host says.
fn one_row(model: &mut KernelModel) -> Affine {
    let row = model.parameters[ROW].clone();
    let distance = model.parameters[DISTANCE].clone();
    model.parameters.push(row.multiply(distance));
    Affine::variable(Variable::Parameter(model.parameters.len() - 1))
}

/// All rows, one after the other.
fn all_rows(model: &mut KernelModel) -> Affine {
    model.loops.push(Loop {
        parent: None,
        uniform_in_block: false,
        location: Location::default(),
        quotient: None,
        unknown: None,
    });
    model.accesses[0].loops = vec![0];
    model.products.push(Product {
        factor: Affine::variable(Variable::Loop(0)),
        parameter: DISTANCE,
    });
    Affine::variable(Variable::Product(1))
}

struct Told {
    scene: Scene,
    launches: [LaunchId; 2],
    distances: [ValueId; 2],
}

/// The host says of each launch how many columns there are, which row, and the distance.
fn told(
    first: impl Fn(&mut Scene) -> KernelId,
    second: impl Fn(&mut Scene) -> KernelId,
    is_equal: [bool; 2],
) -> Told {
    let mut scene = Scene::new();
    let [a, cache] = ["a", "cache"].map(|name| Pass::To(scene.buffer(name)));
    let shape = scene.known_shape();
    let [columns, row, other_row, distance, other_distance] = [(); 5].map(|()| scene.unknown());
    let (first, second) = (first(&mut scene), second(&mut scene));
    let mut launch = |kernel, columns, row, distance| {
        let numbers = [columns, row, distance].map(Pass::Integer);
        let arguments = [&[a.clone(), cache.clone()][..], &numbers].concat();
        scene.launch(kernel, shape, &arguments)
    };
    let one = launch(first, columns, row, columns);
    let (length, step) = match is_equal {
        [true, true] => (columns, columns),
        [true, false] => (columns, other_distance),
        [false, _] => (distance, columns),
    };
    let two = launch(second, length, other_row, step);
    Told {
        launches: [one, two],
        distances: [columns, step],
        scene,
    }
}

fn planned(told: &Told) -> FusionPlan {
    let [one, two] = told.launches;
    let mut guards = vec![valid(one), valid(two)];
    guards.extend(told.distances.map(|distance| Guard::Holds {
        class: "wrap".to_string(),
        condition: Condition::LessEqual(Expression::Constant(0), Expression::Leaf(distance)),
    }));
    plan(&[(one, false), (two, false)], guards)
}

#[test]
fn own_columns_of_any_rows_pass() {
    let put = |scene: &mut Scene| kernel(scene, (Write, 0), one_row);
    for told in [
        told(put, |scene| kernel(scene, (Read, 0), all_rows), [true; 2]),
        told(put, |scene| kernel(scene, (Write, 0), one_row), [true; 2]),
        told(|scene| kernel(scene, (Read, 0), all_rows), put, [true; 2]),
    ] {
        assert_passes(&told.scene, &planned(&told));
    }
}

#[test]
fn another_column_is_refused() {
    let put = |scene: &mut Scene| kernel(scene, (Write, 0), one_row);
    for columns in [-1, 1, 2] {
        for told in [
            told(
                put,
                |scene| kernel(scene, (Read, columns), all_rows),
                [true; 2],
            ),
            told(
                put,
                |scene| kernel(scene, (Write, columns), one_row),
                [true; 2],
            ),
            told(
                |scene| kernel(scene, (Read, columns), all_rows),
                put,
                [true; 2],
            ),
        ] {
            assert_refused!(told.scene, planned(&told), Refusal::CrossesBlocks { .. });
        }
    }
}

#[test]
fn rows_of_another_distance_or_length_are_refused() {
    let put = |scene: &mut Scene| kernel(scene, (Write, 0), one_row);
    for is_equal in [[true, false], [false, true]] {
        for told in [
            told(put, |scene| kernel(scene, (Read, 0), all_rows), is_equal),
            told(put, |scene| kernel(scene, (Write, 0), one_row), is_equal),
            told(|scene| kernel(scene, (Read, 0), all_rows), put, is_equal),
        ] {
            assert_refused!(told.scene, planned(&told), Refusal::CrossesBlocks { .. });
        }
    }
}
