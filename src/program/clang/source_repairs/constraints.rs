//! Requirements of templates that name functions of one side, which nvcc does not look at there. A
//! requires-expression is read in a function for both sides, from which clang takes functions of
//! either.

use super::code::{closing, code_alone};
use super::places::Change;

/// Whether a note says which requirement is not met, at its place.
pub(super) fn is_about_requirement(note: &str) -> bool {
    note.starts_with("because '") && note.contains("' would be invalid: ")
}

/// The requires-expression around a place, for both sides.
pub(super) fn for_both_sides(text: &str, at: usize) -> Option<[Change; 2]> {
    let code = code_alone(text);
    let mut open = at;
    loop {
        open = code[..open].rfind('{')?;
        let header = code[..open].trim_end();
        let begin = match header.strip_suffix("requires") {
            Some(before) => Some(before.len()),
            None if header.ends_with(')') => parameters_begin(header)
                .and_then(|begin| Some(header[..begin].trim_end().strip_suffix("requires")?.len())),
            None => None,
        };
        let end = closing(&code, open).filter(|end| *end > at);
        let (Some(begin), Some(end)) = (begin, end) else {
            continue;
        };
        let lambda =
            "decltype([] __attribute__((host)) __attribute__((device)) { return sirius_truth<";
        let done = code[..begin].ends_with("sirius_truth<");
        return (!done).then(|| {
            [
                Change::insert(begin, lambda),
                Change::insert(end + 1, ">(); }())::value"),
            ]
        });
    }
}

/// Where the parenthesis opens that closes at the end.
fn parameters_begin(header: &str) -> Option<usize> {
    let mut depth = 0_usize;
    header.char_indices().rev().find_map(|(index, character)| {
        match character {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0).then_some(index)
    })
}

#[cfg(test)]
mod tests {
    use super::for_both_sides;

    #[test]
    fn requires_expressions_are_read_in_functions_of_both_sides() {
        let mut text =
            "template <class T> concept C = A<T> && requires(T &t) { f(t); { t.v } -> D; };"
                .to_owned();
        let [first, second] = for_both_sides(&text, text.find("f(t)").unwrap()).unwrap();
        text.insert_str(second.range.start, &second.text);
        text.insert_str(first.range.start, &first.text);
        assert_eq!(
            text,
            "template <class T> concept C = A<T> && decltype([] __attribute__((host)) __attribute__((device)) \
             { return sirius_truth<requires(T &t) { f(t); { t.v } -> D; }>(); }())::value;"
        );
        assert!(for_both_sides(&text, text.find("f(t)").unwrap()).is_none());
        assert!(for_both_sides("void f() { g(); }", 11).is_none());
    }
}
