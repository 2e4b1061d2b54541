//! Templates of `asm` in which a register of PTX has one percent sign,
//! `asm("mov.u32 %0, %laneid;" : …)`: nvcc takes what stands for no operand as it is,
//! clang wants the sign twice.

use super::places::Change;

/// clang's message.
pub(super) const MESSAGE: &str = "invalid % escape in inline assembly string";

/// Doubles the signs of the last template that begins before a place, where clang knows no other meaning of them.
pub(super) fn doubled_signs(text: &str, at: usize) -> Option<Change> {
    let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    let begin = text[..line_end]
        .rmatch_indices("asm")
        .find_map(|(found, _)| {
            let before = text[..found].trim_end_matches('_');
            let is_name = before.ends_with(|letter: char| letter.is_alphanumeric());
            let template = template_after(text, found + "asm".len())?;
            (!is_name && template <= at).then_some(template)
        })?;
    let end = begin + strings_end(&text[begin..]);
    let template = &text[begin..end];
    let mut changed = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('%') {
        changed += before;
        changed.push('%');
        if let Some(behind) = behind.strip_prefix('%') {
            changed.push('%');
            rest = behind;
            continue;
        }
        if is_register(behind) {
            changed.push('%');
        }
        rest = behind;
    }
    changed += rest;
    (changed != template).then(|| Change::replace(begin..end, changed))
}

/// Whether a register's name stands here. With a number or a bracket behind its first letter, both compilers take it for an operand with
/// a modifier, and nvcc refuses it.
fn is_register(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
        && !letters
            .next()
            .is_some_and(|second| second == '[' || second.is_ascii_digit())
}

/// Where the first string behind `asm`, its qualifiers and its parenthesis begins.
fn template_after(text: &str, from: usize) -> Option<usize> {
    let rest = text[from..].trim_start_matches('_');
    let open = rest.find('(')?;
    let qualifiers = ["volatile", "goto", "inline", "__volatile__", "__volatile"];
    let known = rest[..open].split_whitespace();
    if !known.into_iter().all(|word| qualifiers.contains(&word)) {
        return None;
    }
    let inside = rest[open + 1..]
        .trim_start_matches(|letter: char| letter.is_whitespace() || letter == '\\');
    let is_string = inside.starts_with(['"', 'R']);
    is_string.then(|| text.len() - inside.len())
}

/// Where the last of several strings ends that stand side by side, with nothing but blanks and macros between.
fn strings_end(text: &str) -> usize {
    let mut end = 0;
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let here = &text[at..];
        at += if let Some(raw) = here.strip_prefix("R\"") {
            let delimiter = raw.split('(').next().unwrap_or_default();
            let closing = format!("){delimiter}\"");
            let Some(close) = raw.find(&closing) else {
                return end;
            };
            end = at + 2 + close + closing.len();
            2 + close + closing.len()
        } else if next == '"' {
            let mut escaped = false;
            let close = here[1..].find(|letter| {
                let closes = letter == '"' && !escaped;
                escaped = letter == '\\' && !escaped;
                closes
            });
            let Some(close) = close else {
                return end;
            };
            end = at + close + 2;
            close + 2
        } else if here.starts_with("//") {
            here.find('\n').unwrap_or(here.len())
        } else if next == ':' || next == ')' || next == ';' {
            return end;
        } else {
            next.len_utf8()
        };
    }
    end
}

#[cfg(test)]
mod tests {
    use super::doubled_signs;

    fn changed(text: &str, at: usize) -> Option<String> {
        let change = doubled_signs(text, at)?;
        let mut after = text.to_owned();
        after.replace_range(change.range, &change.text);
        Some(after)
    }

    #[test]
    fn registers_get_two_signs_and_operands_one() {
        let text = "asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x));";
        let wanted = "asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x));";
        assert_eq!(changed(text, 20).as_deref(), Some(wanted));
        assert_eq!(changed(wanted, 20), None);
    }

    #[test]
    fn templates_are_of_several_strings_or_raw() {
        let text = "asm volatile(\"{ .reg .u32 %first; \"\n \" mov.u32 %first, %%clock; mov.u32 %0, %first; }\" : \"=r\"(x));";
        let wanted = "asm volatile(\"{ .reg .u32 %%first; \"\n \" mov.u32 %%first, %%clock; mov.u32 %0, %%first; }\" : \"=r\"(x));";
        assert_eq!(changed(text, 20).as_deref(), Some(wanted));
        let text = "asm(R\"({mov.u32 %0, %tid.x;})\":\"=r\"(x));";
        let wanted = "asm(R\"({mov.u32 %0, %%tid.x;})\":\"=r\"(x));";
        assert_eq!(changed(text, 12).as_deref(), Some(wanted));
    }

    #[test]
    fn what_may_be_a_modifier_stays() {
        assert_eq!(changed("asm(\"mov.b32 %0, %h1;\" : \"=r\"(x));", 10), None);
        assert_eq!(changed("int asmall(\"%laneid\");", 12), None);
    }
}
