//! Tests at run time: each that a plan needs is missed where it lacks, or says too little.

use super::*;

#[test]
fn passes_rows_of_unknown_length() {
    let (scene, plan) = row_chain(true);
    assert_passes(&scene, &plan);
    let (scene, plan) = row_chain(false);
    assert_refused!(scene, plan, Refusal::MissingBarrier { .. });
}

#[test]
fn every_guard_and_barrier_is_needed() {
    for (scene, plan) in [guarded_chain(), aliasing_chain(), row_chain(true)] {
        assert_passes(&scene, &plan);
        for group in 0..plan.groups.len() {
            for guard in 0..plan.groups[group].guards.len() {
                let mut less = plan.clone();
                let dropped = less.groups[group].guards.remove(guard);
                let found = refusals(&scene, &less);
                assert!(!found.is_empty(), "passes without {dropped:?}");
            }
            for member in 0..plan.groups[group].members.len() {
                let mut less = plan.clone();
                if std::mem::take(&mut less.groups[group].members[member].barrier_before) {
                    assert!(
                        !refusals(&scene, &less).is_empty(),
                        "passes without barrier"
                    );
                }
            }
        }
    }
}

#[test]
fn refuses_missing_wrap_guard() {
    let (scene, mut plan) = guarded_chain();
    plan.groups[0].guards.pop();
    assert_refused!(scene, plan, Refusal::PreconditionUnchecked { .. });
}

#[test]
fn refuses_missing_configuration_guard() {
    let (scene, mut plan) = guarded_chain();
    plan.groups[0].guards.remove(2);
    assert_refused!(scene, plan, Refusal::ConfigurationUnchecked { .. });
}

#[test]
fn refuses_missing_alias_guard() {
    let (scene, mut plan) = aliasing_chain();
    plan.groups[0].guards.pop();
    assert_refused!(scene, plan, Refusal::MayAlias { .. });
}

#[test]
fn refuses_alias_guard_over_too_little() {
    let (scene, plan) = aliasing_chain();
    for guard in 0..plan.groups[0].guards.len() {
        for side in 0..2 {
            let mut less = plan.clone();
            if let Guard::RangesDisjoint { left, right } = &mut less.groups[0].guards[guard] {
                let range = if side == 0 { left } else { right };
                range.high_bytes = range.high_bytes.clone().subtract(Expression::Constant(4));
            }
            assert_refused!(scene, less, Refusal::MayAlias { .. });
        }
    }
}

#[test]
fn refuses_alias_guard_for_a_moved_launch() {
    // A guard cannot justify passing a node: when it fails, the originals run at the same place.
    let between = |scene: &mut Scene, _: [BufferId; 3]| {
        let shape = scene.known_shape();
        let kernel = scene.pointwise("elsewhere");
        let (x, y) = (scene.unknown(), scene.unknown());
        let size = scene.unknown();
        scene.launch(
            kernel,
            shape,
            &[Pass::Anything(x), Pass::Anything(y), Pass::Integer(size)],
        );
    };
    let chain = chain_with(scale, between, shift);
    assert_refused!(chain.scene, chain.plan(), Refusal::Reordered { .. });
}
