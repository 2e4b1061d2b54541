//! Updates of one cell: which pairs of them a fused launch may leave without an order.

use super::*;
use sirius_rs::kernel::{Reduction, ReductionOperator};

/// An update of four bytes whose result is not used.
fn update(operator: ReductionOperator) -> AccessKind {
    AccessKind::Reduction(Reduction {
        operator,
        cell_bytes: 4,
        within_block: false,
    })
}

/// Every thread of both launches touches element 0 of `b` so.
fn at_one_place(first: AccessKind, second: AccessKind) -> Chain {
    let total = |scene: &mut Scene| {
        let accesses = vec![
            access(AccessKind::Read, 0, own_element(0)),
            access(first, 1, Affine::constant(0)),
        ];
        scene.kernel("total", 2, accesses)
    };
    let again =
        |scene: &mut Scene| scene.kernel("again", 2, vec![access(second, 0, Affine::constant(0))]);
    chain_of(total, again)
}

#[test]
fn accepts_updates_that_commute() {
    use ReductionOperator::*;
    let operators = [
        Add,
        Minimum,
        Maximum,
        UnsignedMinimum,
        UnsignedMaximum,
        And,
        Or,
        Xor,
        Increment(7),
        Decrement(7),
    ];
    for operator in operators {
        let chain = at_one_place(update(operator), update(operator));
        assert_passes(&chain.scene, &chain.plan());
    }
    // Wherever they are.
    let mut chain = at_one_place(update(Add), update(Add));
    chain.scene.kernels[0].accesses[1].subscript = None;
    assert_passes(&chain.scene, &chain.plan());
}

#[test]
fn refuses_updates_that_do_not_commute() {
    use ReductionOperator::*;
    let pairs = [
        (FloatingAdd, FloatingAdd),
        (FloatingExtremum, FloatingExtremum),
        (Add, Xor),
        (Add, FloatingAdd),
        (Minimum, UnsignedMinimum),
        (Minimum, Maximum),
        (Increment(7), Increment(8)),
        (Increment(7), Decrement(7)),
    ];
    for (first, second) in pairs {
        let chain = at_one_place(update(first), update(second));
        assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    }
    let add = update(Add);
    let chain = at_one_place(add, AccessKind::Atomic);
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    let chain = at_one_place(AccessKind::Write, add);
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    let chain = at_one_place(add, AccessKind::Read);
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    let narrow = |cell_bytes, within_block| {
        AccessKind::Reduction(Reduction {
            operator: Add,
            cell_bytes,
            within_block,
        })
    };
    let chain = at_one_place(add, narrow(8, false));
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    // One that is atomic for its block only is none for the threads of other blocks.
    let chain = at_one_place(add, narrow(4, true));
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
    let mut chain = at_one_place(add, add);
    chain.scene.kernels[1].accesses[0].volatile = true;
    assert_refused!(chain.scene, chain.plan(), Refusal::CrossesBlocks { .. });
}

#[test]
fn refuses_atomics_then_use() {
    // Every thread adds to element 0; the next launch reads it.
    let total = |scene: &mut Scene| {
        let accesses = vec![
            access(AccessKind::Read, 0, own_element(0)),
            access(update(ReductionOperator::Add), 1, Affine::constant(0)),
        ];
        scene.kernel("total", 2, accesses)
    };
    let divide = |scene: &mut Scene| {
        let accesses = vec![
            access(AccessKind::Read, 0, Affine::constant(0)),
            access(AccessKind::Write, 1, own_element(0)),
        ];
        scene.kernel("divide", 2, accesses)
    };
    let chain = chain_of(total, divide);
    let plan = chain.plan_with(true, Vec::new());
    assert_refused!(chain.scene, plan, Refusal::CrossesBlocks { .. });
}
