//! Pointers that are equal or disjoint, which a run tells: right plans and wrong ones.

use super::*;

/// The chain with its pointers equal or disjoint.
fn equal_or_disjoint(mut plan: FusionPlan) -> FusionPlan {
    for guard in &mut plan.groups[0].guards {
        if let Guard::RangesDisjoint { left, right } = guard.clone() {
            *guard = Guard::SameOrDisjoint { left, right };
        }
    }
    plan
}

#[test]
fn passes_pointers_that_are_equal_or_disjoint() {
    let (scene, plan) = aliasing_chain();
    assert_passes(&scene, &equal_or_disjoint(plan));
}

#[test]
fn refuses_equal_pointers_over_too_little() {
    let (scene, plan) = aliasing_chain();
    let plan = equal_or_disjoint(plan);
    for guard in 0..plan.groups[0].guards.len() {
        let mut less = plan.clone();
        if let Guard::SameOrDisjoint { left, .. } = &mut less.groups[0].guards[guard] {
            left.high_bytes = left.high_bytes.clone().subtract(Expression::Constant(4));
        }
        assert_refused!(scene, less, Refusal::MayAlias { .. });
    }
}

#[test]
fn refuses_equal_pointers_of_other_threads() {
    // The second kernel reads its neighbours: apart it is harmless, in place it is not.
    let (mut scene, plan) = aliasing_chain();
    let stencil = scene.stencil("stencil");
    let two = plan.groups[0].members[1].launch;
    scene.launch_mut(two).kernel = Some(stencil);
    let mut wider = plan.clone();
    for guard in &mut wider.groups[0].guards {
        if let Guard::RangesDisjoint { left, right } = guard {
            for range in [left, right] {
                range.low_bytes = range.low_bytes.clone().subtract(Expression::Constant(64));
                range.high_bytes = range.high_bytes.clone().add(Expression::Constant(64));
            }
        }
    }
    assert_passes(&scene, &wider);
    assert_refused!(
        scene,
        equal_or_disjoint(wider),
        Refusal::CrossesBlocks { .. }
    );
}
