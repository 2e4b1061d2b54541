//! Operands of `asm` in device code that nvcc takes: `"C"`, a constant text that stands in the
//! template's place for it, and objects that convert to one scalar, at `"n"` to a constant number.

use super::super::super::assembly_operands;
use super::code::{closing, code_alone, words};
use super::places::{Change, word};
use std::ops::Range;

/// Constraints of operands in registers, where objects are converted.
const REGISTERS: [&str; 6] = ["h", "r", "l", "q", "f", "d"];

/// What is changed where clang gave an error about an operand.
pub(super) fn operand(text: &str, at: usize, message: &str) -> Vec<Change> {
    match message {
        "invalid input constraint 'C' in asm" => constant_texts(text, at).unwrap_or_default(),
        assembly_operands::NO_NUMBER => converted(text, at, &["n"]).unwrap_or_default(),
        assembly_operands::NO_SCALAR => converted(text, at, &REGISTERS).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The template with the texts in it, and in their operands' places numbers that nobody reads.
fn constant_texts(text: &str, at: usize) -> Option<Vec<Change>> {
    let code = code_alone(text);
    let statement = statement(&code, at)?;
    let mut changes = Vec::new();
    let (mut before, mut behind) = (String::new(), String::new());
    for (index, operand) in statement.inputs.iter().enumerate() {
        let Some(value) = value(&text[operand.clone()], "\"C\"") else {
            continue;
        };
        before += "sirius_assembly(";
        behind += &format!(", {}, {value})", statement.outputs + index);
        changes.push(Change::replace(operand.clone(), "\"n\"(0)"));
    }
    (!changes.is_empty()).then_some(())?;
    changes.push(Change::insert(
        statement.template.start,
        format!("({before}"),
    ));
    changes.push(Change::insert(statement.template.end, format!("{behind})")));
    Some(changes)
}

/// `"r"(x)` with the scalar that `x` becomes, for each of these constraints.
fn converted(text: &str, at: usize, constraints: &[&str]) -> Option<Vec<Change>> {
    let code = code_alone(text);
    let statement = statement(&code, at)?;
    let mut changes = Vec::new();
    for operand in statement.inputs {
        for constraint in constraints.iter().map(|letter| format!("\"{letter}\"")) {
            if let Some(value) = value(&text[operand.clone()], &constraint)
                && !value.starts_with("(+(")
            {
                changes.push(Change::replace(
                    operand.clone(),
                    format!("{constraint}(+{value})"),
                ));
            }
        }
    }
    Some(changes)
}

/// What a constraint stands before, in its parentheses, where an operand is that and no more.
fn value<'a>(operand: &'a str, constraint: &str) -> Option<&'a str> {
    let value = operand.trim().strip_prefix(constraint)?.trim_start();
    let code = code_alone(value);
    (code.starts_with('(') && closing(&code, 0)? + 1 == code.trim_end().len()).then_some(value)
}

/// A statement of assembly by its text.
struct Statement {
    template: Range<usize>,
    /// How many there are.
    outputs: usize,
    inputs: Vec<Range<usize>>,
}

/// The statement whose first word is at a place, or around it.
fn statement(code: &str, at: usize) -> Option<Statement> {
    let is_first = ["asm", "__asm", "__asm__"].contains(&word(code.get(at..)?));
    let asm = if is_first {
        at
    } else {
        code[..at].rfind("asm")?
    };
    let open = asm + code[asm..].find('(')?;
    let mut qualifiers = words(&code[asm..open]).skip(1);
    let known = [
        "",
        "__",
        "volatile",
        "__volatile",
        "__volatile__",
        "inline",
        "__inline__",
    ];
    let close = closing(code, open)?;
    (at < close && qualifiers.all(|word| known.contains(&word))).then_some(())?;
    let template = open + 1..open + 1 + colon(&code[open + 1..close])?;
    let outputs = template.end + 1;
    let inputs = outputs + colon(&code[outputs..close])? + 1;
    let inputs_end = colon(&code[inputs..close]).map_or(close, |end| inputs + end);
    Some(Statement {
        template,
        outputs: ranges(code, outputs..inputs - 1).len(),
        inputs: ranges(code, inputs..inputs_end),
    })
}

/// The places between commas that stand in no brackets; angles are comparisons or arrows as well, and operands have parentheses.
fn ranges(code: &str, within: Range<usize>) -> Vec<Range<usize>> {
    if code[within.clone()].trim().is_empty() {
        return Vec::new();
    }
    let mut depth = 0;
    let mut begin = within.start;
    let mut found = Vec::new();
    for (index, character) in code[within.clone()].char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(begin..within.start + index);
                begin = within.start + index + 1;
            }
            _ => {}
        }
    }
    found.push(begin..within.end);
    found
}

/// Where the next colon is in no brackets.
fn colon(code: &str) -> Option<usize> {
    let mut depth = 0;
    code.char_indices().find_map(|(index, character)| {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        (character == ':' && depth == 0).then_some(index)
    })
}

#[cfg(test)]
mod tests {
    use super::{assembly_operands, operand};

    fn changed(text: &str, message: &str) -> Option<String> {
        let at = text.find('^')?;
        let mut text = text.replacen('^', "", 1);
        let mut changes = operand(&text, at, message);
        changes.sort_by_key(|change| std::cmp::Reverse(change.range.start));
        (!changes.is_empty()).then_some(())?;
        for change in changes {
            text.replace_range(change.range, &change.text);
        }
        Some(text)
    }

    #[test]
    fn texts_of_constants() {
        let message = "invalid input constraint 'C' in asm";
        assert_eq!(
            changed("asm volatile(\"mul%1 %0, %2\"\n \";\" : \"=l\"(r) : ^\"C\"(M<a, b>::t), \"r\"(c), \"C\" (u) : \"memory\");", message).as_deref(),
            Some(
                "asm volatile((sirius_assembly(sirius_assembly(\"mul%1 %0, %2\"\n \";\" , 1, (M<a, b>::t)), 3, (u))): \"=l\"(r) :\"n\"(0), \"r\"(c),\"n\"(0): \"memory\");"
            )
        );
        assert_eq!(
            changed("asm(\"x\" : \"=r\"(a) : [n] ^\"C\"(t));", message),
            None
        );
    }

    #[test]
    fn outputs_of_members_and_comparisons_count() {
        let message = "invalid input constraint 'C' in asm";
        assert_eq!(
            changed(
                "asm(\"x\" : \"=r\"(p->x), \"=r\"(q) : \"r\"(a > b), ^\"C\"(t));",
                message
            )
            .as_deref(),
            Some(
                "asm((sirius_assembly(\"x\" , 3, (t))): \"=r\"(p->x), \"=r\"(q) : \"r\"(a > b),\"n\"(0));"
            )
        );
    }

    #[test]
    fn numbers_of_objects() {
        let message = assembly_operands::NO_NUMBER;
        assert_eq!(
            changed(
                "^asm volatile(\"x\" :: \"n\"(f(n)), \"r\"(a), \"n\" (B()));",
                message
            )
            .as_deref(),
            Some("asm volatile(\"x\" ::\"n\"(+(f(n))), \"r\"(a),\"n\"(+(B())));")
        );
        for text in [
            "^asm(\"x\" :: \"n\"(+(n)));",
            "^ADD(n); asm(\"x\" :: \"n\"(n));",
        ] {
            assert_eq!(changed(text, message), None, "{text}");
        }
    }
}
