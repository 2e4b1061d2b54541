//! Arrays on the stack whose length is no constant, with what stands in them at first: g++ has them, and clang refuses the initialisation.
//!
//! `int a[n] = {1, 2};` becomes `int a[n]; sirius_fill(…, {1, 2});`, in which a function of ours assigns, and so on for rows.

use super::code::{closing, code_alone, declaration_begin, pieces, words};
use super::places::Change;

/// How clang says so, at the first bound.
pub(super) const MESSAGE: &str = "variable-sized object may not be initialized";

/// Reads the declaration whose first bound is at a place as one without a value and an assignment behind it.
pub(super) fn assigned(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let begin = declaration_begin(&code, at);
    let open = code.get(..at)?.rfind('[')?;
    let name = words(code.get(begin..open)?).last()?;
    let mut dimensions = 0;
    let mut end = open;
    while code[end..].trim_start().starts_with('[') {
        end = closing(&code, end + code[end..].find('[')?)? + 1;
        dimensions += 1;
    }
    let list = end + code[end..].find('{')?;
    if !matches!(code[end..list].trim(), "" | "=") {
        return None;
    }
    let after = closing(&code, list)? + 1;
    let is_alone = code[after..].trim_start().starts_with(';')
        && pieces(&code[begin..open]).len() == 1
        && words(&code[begin..open]).all(|word| !matches!(word, "const" | "constexpr"));
    let (first, row) = match dimensions {
        1 => (format!("&{name}[0]"), format!("{name}[0]")),
        2 => (format!("&{name}[0][0]"), format!("{name}[0][0]")),
        _ => return None,
    };
    let lengths = match dimensions {
        1 => format!("sizeof {name} / sizeof {row}"),
        _ => format!("sizeof {name} / sizeof {name}[0], sizeof {name}[0] / sizeof {row}"),
    };
    is_alone.then(|| {
        let values = &text[list..after];
        Change::replace(
            end..after,
            format!("; sirius_fill({first}, {lengths}, {values})"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::assigned;

    fn changed(text: &str) -> Option<String> {
        let at = text.find('[')? + 1;
        let change = assigned(text, at)?;
        let mut changed = text.to_owned();
        changed.replace_range(change.range, &change.text);
        Some(changed)
    }

    #[test]
    fn lists_are_assigned() {
        assert_eq!(
            changed("f(); int a[n] = {1, 2}; g();").unwrap(),
            "f(); int a[n]; sirius_fill(&a[0], sizeof a / sizeof a[0], {1, 2}); g();"
        );
        assert_eq!(
            changed("{ float a[2][n]{{1}, {}}; }").unwrap(),
            "{ float a[2][n]; sirius_fill(&a[0][0], sizeof a / sizeof a[0], sizeof a[0] / sizeof a[0][0], {{1}, {}}); }"
        );
    }

    #[test]
    fn others_stay() {
        for text in [
            "{ const int a[n] = {1}; }",
            "{ int b, a[n] = {1}; }",
            "{ int a[n] = {1}, b; }",
            "{ char a[n] = \"text\"; }",
            "{ int a[n][m][2] = {}; }",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
