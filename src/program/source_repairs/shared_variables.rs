//! Shared variables whose constructors do something. nvcc leaves them uninitialised and warns; clang refuses them.
//!
//! `__shared__ barrier a[2], b;` becomes a member `a[2], b` of a structure, which is in a union with a constructor
//! of ours that does nothing; `a` and `b` are references to what is in there.

use super::places::{Change, word};

/// As clang words a warning; nvcc's of the same (#20054) has these words.
const WARNING: &str = "dynamic initialization is not supported for a function-scope static __shared__ variable \
                       within a __device__/__global__ function";

/// How programs, NVIDIA's samples among them, ask nvcc not to warn.
const SUPPRESSED: &str = "diag_suppress static_var_with_dynamic_init";

/// Reads the declaration of the variable at a place without an initialisation.
pub(super) fn uninitialised(text: &str, at: usize) -> Option<Change> {
    let keyword = text[..at].rfind("__shared__")?;
    let mut begin = keyword;
    let before = text[..keyword].trim_end();
    if before.ends_with("static") {
        begin = before.len() - "static".len();
    }
    let type_begin = keyword + "__shared__".len();
    let end = at + text[at..].find(';')?;
    let members = &text[type_begin..end];
    if members.contains(['=', '{', '}', ';', '#']) || begins_amid(&text[..begin]) {
        return None;
    }
    let mut names = Vec::new();
    for declarator in declarators(&text[at..end]) {
        let behind = declarator.trim_start().trim_start_matches(['*', '&', ' ']);
        let name = word(behind);
        let rest = behind[name.len()..].trim();
        let is_array = rest.starts_with('[') && rest.ends_with(']');
        if name.is_empty() || !(rest.is_empty() || is_array) {
            return None;
        }
        names.push(name);
    }
    let (contents, storage) = (
        format!("sirius_contents_of_{}", names[0]),
        format!("sirius_storage_of_{}", names[0]),
    );
    let mut changed = format!(
        "struct {contents} {{{members}; }}; __shared__ sirius_uninitialised<{contents}> {storage};"
    );
    for name in names {
        changed += &format!(" auto &{name} = {storage}.value.{name};");
    }
    Some(Change {
        range: begin..end + 1,
        text: changed,
        warning: (!text[..at].contains(SUPPRESSED)).then_some(WARNING),
    })
}

/// Whether something of the same declaration may stand before a place: what ends there is no end of a statement.
fn begins_amid(before: &str) -> bool {
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let same_line = before[line..].trim();
    !(same_line.is_empty()
        || same_line.ends_with([';', '{', '}', ')', ':'])
        || same_line.ends_with("*/"))
}

/// Pieces between commas that stand in no brackets.
fn declarators(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_comma = |character: char| {
        match character {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth -= 1,
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(is_comma).collect()
}

#[cfg(test)]
mod tests {
    use super::uninitialised;

    fn changed(text: &str) -> Option<String> {
        let at = text.find('^')?;
        let text = text.replacen('^', "", 1);
        let change = uninitialised(&text, at)?;
        let mut after = text.clone();
        after.replace_range(change.range, &change.text);
        Some(after)
    }

    #[test]
    fn declarations_become_members() {
        assert_eq!(
            changed("{ static __shared__ P<a, b>\n ^x[n][f(1, 2)], y; z(); }").as_deref(),
            Some(
                "{ struct sirius_contents_of_x { P<a, b>\n x[n][f(1, 2)], y; }; \
                 __shared__ sirius_uninitialised<sirius_contents_of_x> sirius_storage_of_x; \
                 auto &x = sirius_storage_of_x.value.x; auto &y = sirius_storage_of_x.value.y; z(); }"
            )
        );
    }

    #[test]
    fn what_is_no_plain_declaration_stays() {
        for text in [
            "__shared__ S ^x = 3;",
            "__shared__ S ^x{};",
            "__shared__ S ^x(3);",
            "extern __shared__ S ^x;",
            "SHARED(^x);",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }
}
