//! nvcc's spelling rules: arguments -> occurrences of options, and inputs.
//!
//! An option takes its value as `opt value` or `opt=value`; a few also as `optvalue` (`-Ipath`,
//! `-lm`, `-O3`); a short name has one dash, a long name two. Lists are separated by commas; a
//! backslash or double quotes protect one. Invariant: this module knows how options look, never
//! what they mean.

use super::options::{Arity, OptionRow, all_options};
use super::parse::UsageError;

/// One thing on the command line.
#[derive(Debug)]
pub(super) enum Argument<'a> {
    /// An option of the table.
    Option {
        /// Its row.
        row: &'static OptionRow,
        /// Its value; `None` for flags.
        value: Option<String>,
    },
    /// An input file.
    Input(&'a str),
    /// Begins with a dash and is in no row.
    Unknown(&'a str),
}

/// Splits a command line into options and inputs.
///
/// # Errors
/// A value is missing where one is needed, or given where none is.
pub(super) fn split_arguments(arguments: &[String]) -> Result<Vec<Argument<'_>>, UsageError> {
    let mut found = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if !argument.starts_with('-') || argument == "-" {
            found.push(Argument::Input(argument));
            continue;
        }
        let Some((row, spelled, attached)) = look_up(argument) else {
            found.push(Argument::Unknown(argument));
            continue;
        };
        let value = match (row.arity, attached) {
            (Arity::Flag, None) => None,
            (Arity::Flag, Some(_)) => return Err(UsageError::UnexpectedValue(spelled)),
            (_, Some(value)) => Some(value),
            (_, None) => match rest.next() {
                Some(value) => Some(value.clone()),
                None => return Err(UsageError::MissingValue(spelled)),
            },
        };
        found.push(Argument::Option { row, value });
    }
    Ok(found)
}

/// The row of an argument, its spelling without a value, and the value attached to it.
fn look_up(argument: &str) -> Option<(&'static OptionRow, String, Option<String>)> {
    let named = |name: &str| {
        all_options().find(|row| match name.strip_prefix("--") {
            Some(long) => row.long == long,
            None => name
                .strip_prefix('-')
                .is_some_and(|short| row.short.contains(&short)),
        })
    };
    if let Some(row) = named(argument) {
        return Some((row, argument.to_owned(), None));
    }
    if let Some((name, value)) = argument.split_once('=')
        && let Some(row) = named(name)
    {
        return Some((row, name.to_owned(), Some(value.to_owned())));
    }
    let text = argument.strip_prefix('-')?;
    all_options().filter(|row| row.joined).find_map(|row| {
        let short = row.short.iter().find(|short| text.starts_with(**short))?;
        Some((
            row,
            format!("-{short}"),
            Some(text[short.len()..].to_owned()),
        ))
    })
}

/// Splits a comma-separated list. A backslash keeps the next comma or quote; a quoted part is one
/// piece with its quotes left in place, so that string macros survive.
pub(super) fn split_list(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let piece = pieces
            .last_mut()
            .expect("starts with one piece and only grows");
        match character {
            '\\' if characters.peek() == Some(&',') => {
                piece.extend(characters.next());
            }
            '"' => {
                quoted = !quoted;
                piece.push(character);
            }
            ',' if !quoted => pieces.push(String::new()),
            _ => piece.push(character),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Splits text as a shell would: at white space, outside of quotes; quotes go away, a backslash
/// keeps what follows. For environment variables, options files and `-Xcompiler "a b"`.
pub(super) fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

/// Splits the text of an options file as nvcc does: at white space outside of double quotes, a backslash keeping what
/// follows; then each word loses its quotes, and once more a backslash before what it keeps. `None` where a quote
/// is not closed.
pub(super) fn split_options_file(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.get_or_insert_default().extend(characters.next()),
            character if character.is_whitespace() && !quoted => words.extend(word.take()),
            character => {
                quoted ^= character == '"';
                word.get_or_insert_default().push(character);
            }
        }
    }
    words.extend(word);
    let unquoted = |word: &String| {
        let mut kept = String::new();
        let mut characters = word.chars();
        while let Some(character) = characters.next() {
            match character {
                '\\' => kept.extend(characters.next()),
                '"' => {}
                character => kept.push(character),
            }
        }
        kept
    };
    (!quoted).then(|| words.iter().map(unquoted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_protected_commas() {
        assert_eq!(split_list("a,b"), ["a", "b"]);
        assert_eq!(split_list("-Wl\\,-rpath\\,/x,-g"), ["-Wl,-rpath,/x", "-g"]);
        assert_eq!(split_list("X=\"a,b\",Y"), ["X=\"a,b\"", "Y"]);
        assert!(split_list("").is_empty());
    }

    #[test]
    fn words_follow_the_shell() {
        assert_eq!(
            split_words(" -O2  '-DX=a b' -D\"Y z\"\n"),
            ["-O2", "-DX=a b", "-DY z"]
        );
        assert_eq!(split_words("-DS=\\\"s\\\""), ["-DS=\"s\""]);
        assert_eq!(split_words("''"), [""]);
    }

    #[test]
    fn options_files_lose_two_levels_of_quotes() {
        let words = |text: &str| split_options_file(text).unwrap();
        // What nvcc makes of each.
        for (text, word) in [
            (r#"-DS=\\\"hi\\\""#, r#"-DS="hi""#),
            (r#"-DS=\"hi\""#, "-DS=hi"),
            (r#"-DS="hi""#, "-DS=hi"),
            ("-DS='hi'", "-DS='hi'"),
            (r#"-DS="a b""#, "-DS=a b"),
            (r#""-DS=a b""#, "-DS=a b"),
            (r"-DS=a\ b", "-DS=a b"),
            (r#"-DS=\\"hi\\""#, r#"-DS="hi""#),
            (r#"-DS="\\\"hi\\\"""#, r#"-DS="hi""#),
            (r"-DS=a\\b", "-DS=ab"),
        ] {
            assert_eq!(words(text), [word], "{text}");
        }
        assert_eq!(words("-O2\n  'x y'\n"), ["-O2", "'x", "y'"]);
        assert_eq!(split_options_file("-DS=\"a"), None);
    }

    #[test]
    fn exact_names_win_over_joined_ones() {
        for (argument, long) in [
            ("-lineinfo", "generate-line-info"),
            ("-link", "link"),
            ("-lm", "library"),
            ("-Iinclude", "include-path"),
            ("-include", "pre-include"),
            ("-O3", "optimize"),
            ("-t0", "threads"),
            ("-Ofc", "Ofast-compile"),
        ] {
            assert_eq!(
                look_up(argument).map(|(row, ..)| row.long),
                Some(long),
                "{argument}"
            );
        }
        assert!(look_up("--arch").is_none());
        assert!(look_up("-ox.o").is_none());
    }
}
