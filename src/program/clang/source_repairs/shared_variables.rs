//! Shared variables whose constructors do something. nvcc leaves them uninitialised and warns; clang refuses them.
//!
//! `__shared__ barrier a[2], b;` becomes a member `a[2], b` of a structure, which is in a union with a constructor
//! of ours that does nothing; `a` and `b` are references to what is in there.

use super::code::{code_alone, pieces, words};
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
    for declarator in pieces(&text[at..end]) {
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

/// What nvcc says of these (#20044).
const NOT_EXTERN: &str =
    "an extern declaration of a __shared__ variable is treated as a static definition";

/// `extern __shared__ T x;` and `extern __shared__ T x[n];`, which nvcc takes for definitions: without `extern`. What has no bound is memory of
/// the launch's own size, and stays. Functions that each declare a variable of the same name mean the same one, which this cannot give them.
pub(super) fn defined(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let begin = code[..at].rfind([';', '{', '}']).map_or(0, |end| end + 1);
    let end = at + code[at..].find(';')?;
    let declaration = &code[begin..end];
    let is_extern = |declaration: &str| {
        ["extern", "__shared__"]
            .iter()
            .all(|wanted| words(declaration).any(|word| word == *wanted))
    };
    if !is_extern(declaration) || declaration.contains(['=', '{']) || text[begin..end].contains('#')
    {
        return None;
    }
    let pieces = pieces(declaration);
    let names: Vec<&str> = pieces.iter().map(|piece| declared_name(piece)).collect();
    let is_bounded = |piece: &str| {
        let bound = piece.find('[').map(|open| piece[open + 1..].trim_start());
        bound.is_none_or(|bound| !bound.starts_with(']'))
    };
    let others = code[..begin].split(';').chain(code[end..].split(';'));
    let others = others.map(|other| other.rsplit(['{', '}']).next().unwrap_or(other));
    let named = |other: &str| words(other).any(|word| names.contains(&word));
    if names.contains(&"") || others.filter(|other| is_extern(other)).any(named) {
        return None;
    }
    let (bounded, open): (Vec<_>, Vec<_>) = pieces.iter().partition(|piece| is_bounded(piece));
    let first = pieces[0];
    let specifiers = first[..first.rfind(names[0])?].trim_end_matches(['*', ' ']);
    let declared = |kept: &[&&str]| {
        let kept = kept
            .iter()
            .map(|piece| piece.strip_prefix(specifiers).unwrap_or(piece).trim());
        format!("{specifiers} {};", kept.collect::<Vec<_>>().join(", "))
    };
    let mut text = declared(&bounded).replacen("extern", "", 1);
    if !open.is_empty() {
        text += &declared(&open).replace('\n', " ");
    }
    Some(Change {
        range: begin..end + 1,
        text,
        warning: Some(NOT_EXTERN),
    })
}

/// The name in a declarator, which may stand behind the specifiers.
fn declared_name(piece: &str) -> &str {
    let end = piece.find('[').unwrap_or(piece.len());
    let before = piece[..end].trim_end();
    let begin = before.rfind(|part: char| !part.is_ascii_alphanumeric() && part != '_');
    &before[begin.map_or(0, |begin| begin + 1)..]
}

/// Whether something of the same declaration may stand before a place: what ends there is no end of a statement.
fn begins_amid(before: &str) -> bool {
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let same_line = before[line..].trim();
    !(same_line.is_empty()
        || same_line.ends_with([';', '{', '}', ')', ':'])
        || same_line.ends_with("*/"))
}

#[cfg(test)]
mod tests {
    use super::{defined, uninitialised};

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

    #[test]
    fn variables_with_a_size_are_definitions() {
        for (before, after) in [
            ("{ extern ^__shared__ P p; }", "{  __shared__ P p; }"),
            (
                "^__shared__ extern int *p[2][3]; x;",
                "__shared__  int *p[2][3]; x;",
            ),
            (
                "; extern ^__shared__ int p, q[], *r[3];",
                ";  __shared__ int p, *r[3]; extern __shared__ int q[];",
            ),
        ] {
            let at = before.find('^').unwrap();
            let mut text = before.replacen('^', "", 1);
            let change = defined(&text, at).unwrap();
            text.replace_range(change.range, &change.text);
            assert_eq!(text, after);
        }
        for text in [
            "{ extern ^__shared__ int p = 3; }",
            "f() { extern ^__shared__ P p; } g() { extern __shared__ P p; }",
        ] {
            let at = text.find('^').unwrap();
            assert!(defined(&text.replacen('^', "", 1), at).is_none(), "{text}");
        }
    }
}
