//! Loops that read a group of steps ahead, in rows by blocks: `n / blockDim.x` steps lie in a row of `n`, and no more.

use super::*;
use sirius_rs::kernel::AccessKind::{Read, Write};

/// The number of a model's parameter that is the distance of rows.
const PITCH: usize = 2;

/// A kernel with a block a row: `place` is what its threads touch of it.
fn kernel(
    scene: &mut Scene,
    kind: AccessKind,
    place: impl Fn(&mut KernelModel) -> (Affine, Vec<Constraint>),
) -> KernelId {
    let id = scene.kernel("rows", 2, vec![access(kind, 1, own_element(0))]);
    let model = &mut scene.kernels[id.0];
    let integer = model.formals[2].clone();
    model.formals.push(integer);
    let pitch = Expression::Leaf(KernelSymbol::Argument {
        argument: 3,
        offset_bytes: 0,
        bits: 32,
        signed: true,
    });
    model.parameters.push(pitch.clone());
    model.products.push(Product {
        factor: Affine::variable(Variable::Block(Axis::X)),
        parameter: PITCH,
    });
    let row = Affine::variable(Variable::Product(1));
    let (place, tested) = place(model);
    let access = &mut model.accesses[0];
    access.subscript = row.add(&place).and_then(|place| place.scale(4));
    access.domain = vec![tested];
    let not_negative = Condition::LessEqual(Expression::Constant(0), pitch);
    model.preconditions.push(not_negative);
    model.footprints.clear();
    id
}

/// The elements of a row, a thread each.
fn own(_: &mut KernelModel) -> (Affine, Vec<Constraint>) {
    let thread = Affine::variable(Variable::Thread(Axis::X));
    let size = Affine::variable(Variable::Parameter(1));
    let room = size.subtract(&thread).unwrap();
    let room = room.add(&Affine::constant(-1)).unwrap();
    (thread, vec![Constraint::NonNegative(room)])
}

/// What is `ahead` steps after each of the steps but the last `left_out`.
fn stepwise(model: &mut KernelModel, left_out: i64, ahead: i64) -> (Affine, Vec<Constraint>) {
    let [block, size] = [0, 1].map(|index| model.parameters[index].clone());
    let steps = Affine::variable(Variable::Parameter(model.parameters.len()));
    model.parameters.push(size.floor_divide(block));
    model.loops.push(Loop {
        parent: None,
        uniform_in_block: true,
        location: Location::default(),
        quotient: None,
        unknown: None,
    });
    model.accesses[0].loops = vec![0];
    let counter = Affine::variable(Variable::Loop(0));
    model.products.push(Product {
        factor: counter.clone(),
        parameter: 0,
    });
    let further = Affine::variable(Variable::Parameter(0))
        .scale(ahead)
        .unwrap();
    let place = Affine::variable(Variable::Thread(Axis::X))
        .add(&Affine::variable(Variable::Product(2)))
        .and_then(|place| place.add(&further));
    let room = steps.subtract(&counter).unwrap();
    let room = room.add(&Affine::constant(-1 - left_out)).unwrap();
    (place.unwrap(), vec![Constraint::NonNegative(room)])
}

/// Whether a launch that makes rows and one that reads so far ahead may be one, in either order.
fn verdicts(left_out: i64, ahead: i64, guarded: bool) -> [bool; 2] {
    [false, true].map(|reads_first| {
        let mut scene = Scene::new();
        let [a, rows] = ["a", "rows"].map(|name| Pass::To(scene.buffer(name)));
        let shape = scene.unknown_shape();
        let [size, pitch] = [(); 2].map(|()| scene.unknown());
        let makes = kernel(&mut scene, Write, own);
        let reads = kernel(&mut scene, Read, |model| stepwise(model, left_out, ahead));
        let order = if reads_first {
            [reads, makes]
        } else {
            [makes, reads]
        };
        let numbers = [size, pitch].map(Pass::Integer);
        let arguments = [&[a, rows][..], &numbers].concat();
        let [one, two] = order.map(|kernel| scene.launch(kernel, shape, &arguments));
        let least = |low, high| Guard::Holds {
            class: "rows".to_string(),
            condition: Condition::LessEqual(low, Expression::Leaf(high)),
        };
        let mut guards = vec![valid(one), valid(two), no_wrap(shape)];
        let zero = Expression::Constant(0);
        guards.extend([size, pitch].map(|value| least(zero.clone(), value)));
        if guarded {
            guards.push(least(Expression::Leaf(size), pitch));
        }
        let found = refusals(&scene, &plan(&[(one, false), (two, true)], guards));
        let crosses = |refusal: &Refusal| matches!(refusal, Refusal::CrossesBlocks { .. });
        assert!(found.iter().all(crosses), "{found:?}");
        found.is_empty()
    })
}

#[test]
fn groups_that_end_with_the_row_pass() {
    for (left_out, ahead) in [(0, 0), (3, 3), (3, 1), (15, 15)] {
        assert_eq!(
            verdicts(left_out, ahead, true),
            [true; 2],
            "{left_out} {ahead}"
        );
    }
}

#[test]
fn groups_that_reach_the_next_row_are_refused() {
    for (left_out, ahead) in [(0, 1), (3, 4), (15, 16), (-1, 0)] {
        assert_eq!(
            verdicts(left_out, ahead, true),
            [false; 2],
            "{left_out} {ahead}"
        );
    }
}

#[test]
fn rows_that_may_overlap_are_refused() {
    assert_eq!(verdicts(3, 3, false), [false; 2]);
}
