use super::*;

#[test]
fn intersects_and_decides() {
    let low = Set::parse("[n] -> { a[i] : 0 <= i < n }").unwrap();
    let high = Set::parse("[n] -> { a[i] : i >= n }").unwrap();
    assert!(low.intersect(&high).unwrap().is_empty().unwrap());
    assert!(!low.is_empty().unwrap());
    assert!(low.is_subset(&low.union(&high).unwrap()).unwrap());
    let first = low.lexmin().unwrap().to_text().unwrap();
    assert_eq!(first, "[n] -> { a[i = 0] : n > 0 }");
}

#[test]
fn bad_text_is_an_error_and_harms_nothing() {
    assert!(matches!(Set::parse("{ ["), Err(IslError::Invalid(_))));
    assert!(
        Set::parse("{ [i] : i = 1 and i = 2 }")
            .unwrap()
            .is_empty()
            .unwrap()
    );
}

#[test]
fn a_small_budget_is_a_quota() {
    let hard = "{ [a,b,c,d] : 12a + 7b - 13c + 5d >= 3 and 0 <= a <= 90 and 0 <= b <= 9 and \
                0 <= c and c <= 2a + b and 7a - 11b + 3c - 17d >= 1 and 4a < 3d + 2c }";
    let hard = Set::parse(hard).unwrap();
    let quota = with_operation_budget(1, || hard.is_empty());
    assert_eq!(quota, Err(IslError::Quota));
    let quota = with_operation_budget(0, || hard.is_empty());
    assert_eq!(quota, Err(IslError::Quota));
    let failed = std::panic::catch_unwind(|| with_operation_budget(1, || panic!("on the way")));
    assert!(failed.is_err());
    assert!(hard.is_empty().is_ok());
}

#[test]
fn what_has_to_exist_can_be_left_out() {
    let even = Set::parse("[n] -> { [i] : exists e : i = 2e and 0 <= e < n and n <= 3 }").unwrap();
    let all = even.without_existentials().unwrap();
    assert!(even.is_subset(&all).unwrap());
    let more = Set::parse("[n] -> { [i] : i = 3 and n = 2 }").unwrap();
    assert!(!more.is_subset(&all).unwrap());
    let outside = Set::parse("[n] -> { [i] : i = 8 and n = 5 }").unwrap();
    assert!(!outside.is_subset(&all).unwrap());
}

#[test]
fn a_sample_is_a_point() {
    let set = Set::parse("[n] -> { a[i, j] : 3 <= i < n and j = -2i and n = 5 }").unwrap();
    let first = set.project_out_parameters().unwrap().lexmin().unwrap();
    assert_eq!(first.sample().unwrap(), Some(vec![3, -6]));
    let none = Set::parse("{ a[i] : 3 < i < 4 }").unwrap();
    assert_eq!(none.sample().unwrap(), None);
}

#[test]
fn sets_of_pairs_become_relations() {
    let pairs = Set::parse("[n] -> { [i, j, k] : j = i + k and k = n }").unwrap();
    let pairs = pairs.project_out(2, 1).unwrap();
    let relation = pairs.relation(1, ["s", "t"]).unwrap();
    assert_eq!(
        relation.to_text().unwrap(),
        "[n] -> { s[i] -> t[j = n + i] }"
    );
    assert_eq!(relation.cells(), Ok(4));
    let named = relation.with_parameters(&["m".to_owned()]).unwrap();
    let expected = Map::parse("[m] -> { s[x] -> t[x + m] }").unwrap();
    assert!(named.is_subset(&expected).unwrap() && expected.is_subset(&named).unwrap());
    assert!(pairs.relation(3, ["s", "t"]).is_err());
    let twice = ["m".to_owned(), "m".to_owned()];
    assert!(relation.with_parameters(&twice).is_err());
}

#[test]
fn a_reduction_and_what_needs_all_of_it_are_scheduled_by_rows() {
    use super::schedule::{Constraints, Pairs, Tree, schedule};
    let rows = Set::parse("{ [i, k] : 0 <= i and 0 <= k }").unwrap();
    // The terms of a row in order; then each element of the row needs all of them.
    let order = "{ [i, k, j, l] : j = i and l > k and 0 <= i, k, l }";
    let needs = "{ [i, k, j, l] : j = i and 0 <= i, k, l }";
    let [order, needs] = [order, needs].map(|text| Set::parse(text).unwrap());
    let pairs = |from, to, set| Pairs {
        from,
        to,
        set,
        split: 2,
    };
    let flow = pairs(0, 1, &needs);
    let constraints = Constraints {
        domains: vec![&rows, &rows],
        order: vec![pairs(0, 0, &order), flow],
        proximity: vec![flow],
        largest_shift: None,
    };
    let made = schedule(&constraints).unwrap();
    let Tree::Band { members, child, .. } = &made else {
        panic!("{made:?}")
    };
    assert!(members.len() == 1 && members[0].coincident, "{made:?}");
    for (statement, value) in &members[0].values {
        let value = value.as_ref().unwrap();
        assert_eq!(value.dimensions, [1, 0], "S{statement}");
    }
    let Tree::Sequence { children, ordered } = child.as_ref() else {
        panic!("{made:?}")
    };
    let filters: Vec<_> = children.iter().map(|(filter, _)| filter.clone()).collect();
    assert!(*ordered);
    assert_eq!(filters, [[0], [1]]);
    // Unbounded work is no answer.
    let quota = with_operation_budget(10, || schedule(&constraints));
    assert_eq!(quota, Err(IslError::Quota));
}
