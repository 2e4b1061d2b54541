//! Lines that a report would say again and again, said once.

use std::collections::HashMap;
use std::hash::Hash;

/// The items in the order in which each key comes first, those of one key together.
pub(super) fn fold<T, K: Eq + Hash>(items: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    let mut known = HashMap::new();
    for item in items {
        let group = *known.entry(key(item)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(item);
    }
    groups
}

/// Most places that are listed.
const MOST_PLACES: usize = 6;

/// How often a line holds besides the first time, and where; `None` where it does not.
pub(super) fn again(places: &[String]) -> Option<String> {
    let others = places.get(1..).filter(|others| !others.is_empty())?;
    let times = match others.len() {
        1 => String::from("once more"),
        count => format!("{count} times more"),
    };
    let listed = others[..others.len().min(MOST_PLACES)].join(", ");
    let more = if others.len() > MOST_PLACES {
        ", …"
    } else {
        ""
    };
    Some(format!("the same {times}: {listed}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_and_every_item() {
        let groups = fold(&[3, 1, 13, 2, 11], |number| number % 10);
        assert_eq!(groups, [vec![&3, &13], vec![&1, &11], vec![&2]]);
    }

    #[test]
    fn tells_how_many_and_where() {
        let places: Vec<_> = (0..9).map(|line| format!("a.cu:{line}")).collect();
        assert_eq!(again(&places[..1]), None);
        assert_eq!(
            again(&places[..2]).as_deref(),
            Some("the same once more: a.cu:1")
        );
        let many = again(&places).unwrap();
        assert!(
            many.starts_with("the same 8 times more: a.cu:1, "),
            "{many}"
        );
        assert!(many.ends_with("a.cu:6, …"), "{many}");
    }
}
