//! Planes of images: rows of rows, of which guards say how many there are.

use super::*;
use sirius_rs::math::expression::Condition;

/// Thread x of block y of image z has element x of that plane; a plane has as many elements as the last argument says,
/// an image as many planes as the grid has blocks along x, of which only the first does anything.
fn of_planes(scene: &mut Scene) -> KernelId {
    let id = scene.pointwise("planes");
    let model = &mut scene.kernels[id.0];
    let variable = Affine::variable;
    let planes = model.parameters.len();
    model
        .parameters
        .push(Expression::Leaf(KernelSymbol::GridSize(Axis::X)));
    model.products.push(Product {
        factor: variable(Variable::Block(Axis::Z)),
        parameter: planes,
    });
    let image = variable(Variable::Product(1));
    model.products.push(Product {
        factor: variable(Variable::Block(Axis::Y)).add(&image).unwrap(),
        parameter: 1,
    });
    let inside = variable(Variable::Thread(Axis::X));
    let room = variable(Variable::Parameter(1)).subtract(&inside).unwrap();
    let domain = vec![vec![
        Constraint::NonNegative(room.add(&Affine::constant(-1)).unwrap()),
        Constraint::Zero(variable(Variable::Block(Axis::X))),
    ]];
    for access in &mut model.accesses {
        let plane = variable(Variable::Product(2));
        access.subscript = plane.add(&inside).unwrap().scale(4);
        access.domain = domain.clone();
        access.loops = Vec::new();
    }
    id
}

/// Two launches over five images, and the conditions that a guard may hold: of the planes of an image and of those that
/// there are blocks for, by themselves and times the elements of one.
fn images() -> (Chain, [Guard; 4]) {
    let mut chain = chain_of(of_planes, of_planes);
    let [planes, told] = [chain.scene.unknown(), chain.scene.unknown()];
    let five = chain.scene.constant(5);
    for launch in chain.launches {
        chain.scene.launch_mut(launch).grid = [planes, told, five];
    }
    let leaf = Expression::Leaf;
    let at_most = |least: Expression<ValueId>, most: Expression<ValueId>| Guard::Holds {
        class: "rows".to_string(),
        condition: Condition::LessEqual(least, most),
    };
    let size = chain.size;
    let guards = [
        at_most(leaf(told), leaf(planes)),
        at_most(
            leaf(told).multiply(leaf(size)),
            leaf(planes).multiply(leaf(size)),
        ),
        at_most(
            leaf(planes).multiply(leaf(size)),
            leaf(told).multiply(leaf(size)),
        ),
        at_most(
            leaf(told).multiply(leaf(size)),
            leaf(planes).multiply(leaf(planes)),
        ),
    ];
    (chain, guards)
}

fn planned(chain: &Chain, guards: &[&Guard]) -> FusionPlan {
    let [one, two] = chain.launches.map(|launch| {
        let shape = |graph: &Scene| {
            let mut nodes = graph.graph.nodes.iter();
            nodes.find_map(|node| match &node.kind {
                NodeKind::Launch(found) if found.id == launch => Some(Shape {
                    grid: found.grid[0],
                    block: found.block[0],
                }),
                _ => None,
            })
        };
        [
            valid(launch),
            no_wrap(shape(&chain.scene).expect("a launch")),
        ]
    });
    let mut all = [one, two].concat();
    all.extend(guards.iter().map(|guard| (*guard).clone()));
    chain.plan_with(false, all)
}

#[test]
fn no_more_planes_than_an_image_has() {
    let (chain, [fewer, fewer_elements, ..]) = images();
    assert_passes(&chain.scene, &planned(&chain, &[&fewer]));
    // A plane with an element is what both are multiplied by.
    assert_passes(&chain.scene, &planned(&chain, &[&fewer_elements]));
}

#[test]
fn images_that_overlap_are_refused() {
    let (chain, [_, _, more, other]) = images();
    for guards in [vec![], vec![&more], vec![&other], vec![&more, &other]] {
        let plan = planned(&chain, &guards);
        assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
    }
}
