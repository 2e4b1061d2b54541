//! Wrong words on the command line: which ones are right, and which one is nearest.

use super::parse::UsageError;

/// The meaning of a value by its name.
///
/// # Errors
/// A sentence that lists the names, where `value` is none of them.
pub(super) fn one_of<T: Copy>(
    option: &'static str,
    value: &str,
    choices: &[(&str, T)],
) -> Result<T, UsageError> {
    let found = choices.iter().find(|(name, _)| *name == value);
    match found {
        Some((_, meaning)) => Ok(*meaning),
        None => Err(undefined(
            option,
            value,
            choices.iter().map(|(name, _)| *name),
        )),
    }
}

/// A value that an option does not have, with those that it has.
pub(super) fn undefined<'a>(
    option: &str,
    value: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> UsageError {
    UsageError::UndefinedValue {
        option: option.to_owned(),
        value: value.to_owned(),
        instead: instead(value, known),
    }
}

/// `there are 'a', 'b' and 'c'; did you mean 'b'?`
pub fn instead<'a>(value: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let quoted: Vec<String> = known.iter().map(|name| format!("'{name}'")).collect();
    let listed = match quoted.as_slice() {
        [] => return String::from("it has no values"),
        [one] => format!("there is {one}"),
        [first @ .., last] => format!("there are {} and {last}", first.join(", ")),
    };
    match nearest(value, known) {
        Some(near) => format!("{listed}; did you mean '{near}'?"),
        None => listed,
    }
}

/// The name that a user may have meant, where one is near.
pub(super) fn nearest<'a>(
    value: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Of shorter words anything is near.
    let most = match value.chars().count() {
        0..=3 => return None,
        length => (length / 3).min(4),
    };
    let distance = |name: &str| strsim::damerau_levenshtein(value, name);
    let measured = known.into_iter().map(|name| (distance(name), name));
    let near = measured.filter(|(distance, _)| *distance <= most);
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_near() {
        let stages = ["program", "launch", "kernel"];
        assert_eq!(nearest("lunch", stages), Some("launch"));
        assert_eq!(nearest("kenrels", stages), Some("kernel"));
        assert_eq!(nearest("codegen", stages), None);
        // Who asks for a GPU does not mean a processor.
        assert_eq!(nearest("gpu", ["cuda", "cpu"]), None);
    }
}
