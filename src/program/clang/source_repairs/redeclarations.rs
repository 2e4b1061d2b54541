//! Functions whose declarations are for different sides: to nvcc they are functions of both, to clang they are
//! different functions, which no class can have and no definition outside of one may bring.
//!
//! The place of the error and that of the note to it are names of one function. Both get the attributes of both
//! sides; where clang only says that a definition matches nothing in its class, the declaration there gets them
//! first, and the next message of clang's tells whether that was it.

use super::places::{Change, word};

/// As nvcc's warnings of the same (#20035 to #20040) end.
pub(super) const WARNING: &str =
    "a function is redeclared for another side, hence treated as a __host__ __device__ function";

const ATTRIBUTES: &str = "__attribute__((host)) __attribute__((device)) ";

/// What clang says of a function that is declared again.
#[derive(Clone, Copy)]
pub(super) enum Redeclared {
    /// It is for another side now.
    OtherSide {
        /// Whether it was for both sides before, of which nvcc says nothing.
        was_of_both: bool,
    },
    /// Its class has no such function, but one that is nearly the same.
    NearlySame,
}

impl Redeclared {
    /// Whether nvcc warns.
    pub(super) fn warns(self) -> bool {
        matches!(
            self,
            Self::OtherSide { was_of_both: false } | Self::NearlySame
        )
    }
}

/// Whether an error is about a function that is declared again.
pub(super) fn redeclared(error: &str) -> Option<Redeclared> {
    if error.starts_with("out-of-line definition of '") {
        let is_member = error.contains("' does not match any declaration in '");
        return is_member.then_some(Redeclared::NearlySame);
    }
    let (now, before) = error.split_once(" cannot overload ")?;
    let both = "__host__ __device__";
    let sides = [both, "__host__", "__device__"];
    let is_known = |said: &str| sides.contains(&said.split(" function '").next().unwrap_or(said));
    (is_known(now) && is_known(before)).then(|| Redeclared::OtherSide {
        was_of_both: before.starts_with(both),
    })
}

/// Whether a note says where the function was declared before.
pub(super) fn is_about_declaration(note: &str) -> bool {
    [
        "previous declaration is here",
        "member declaration nearly matches",
    ]
    .contains(&note)
}

/// Gives the function whose name stands at a place the attributes of both sides.
pub(super) fn for_both_sides(text: &str, at: usize) -> Option<Change> {
    let name = text.get(at..)?;
    let is_named = !word(name.strip_prefix('~').unwrap_or(name)).is_empty();
    let begin = beginning(text, at)?;
    let done = text[..begin].ends_with(ATTRIBUTES);
    (is_named && !done).then(|| Change::insert(begin, ATTRIBUTES))
}

/// Where the qualified name begins that ends with the name at a place.
fn beginning(text: &str, at: usize) -> Option<usize> {
    let mut begin = at;
    while let Some(before) = text[..begin].trim_end().strip_suffix("::") {
        // A blank before `::` may stand behind another word of the declaration: `int ::f()`.
        let scope = without_arguments(before)?;
        let name = scope
            .rfind(|part: char| !part.is_ascii_alphanumeric() && part != '_')
            .map_or(0, |end| end + 1);
        if name == scope.len() {
            // `::f`, whose declaration stands elsewhere, or a scope that is no name.
            return None;
        }
        begin = name;
    }
    Some(begin)
}

/// What stands before the arguments of a template with which a text may end.
fn without_arguments(text: &str) -> Option<&str> {
    if !text.ends_with('>') {
        return Some(text);
    }
    let mut depth = 0_usize;
    let open = text.char_indices().rev().find(|(_, part)| {
        match part {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some(text[..open.0].trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Redeclared, for_both_sides, redeclared};

    /// `text` with the attributes, written `@`, of the function whose name stands behind `^`.
    fn changed(text: &str) -> Option<String> {
        let at = text.find('^')?;
        let mut text = text.replacen('^', "", 1);
        let change = for_both_sides(&text, at)?;
        text.insert_str(change.range.start, "@ ");
        Some(text)
    }

    #[test]
    fn attributes_stand_before_qualified_names() {
        let cases = [
            ("int &^operator+=(int);", "int &@ operator+=(int);"),
            ("inline S::^S() {}", "inline @ S::S() {}"),
            ("S:: ^~S() {}", "@ S:: ~S() {}"),
            (
                "int n::S<T, a<3>>::^get() {}",
                "int @ n::S<T, a<3>>::get() {}",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(changed(text).as_deref(), Some(expected));
        }
        for text in [
            "int ::^f() {}",
            "^(",
            "int __attribute__((host)) __attribute__((device)) ^f();",
        ] {
            assert!(changed(text).is_none(), "{text}");
        }
    }

    #[test]
    fn messages_name_the_sides() {
        let of = "__host__ __device__ function 'f' cannot overload __host__ function 'f'";
        assert!(redeclared(of).is_some_and(Redeclared::warns));
        let of = "__host__ function 'f' cannot overload __host__ __device__ function 'f'";
        assert!(redeclared(of).is_some_and(|redeclared| !redeclared.warns()));
        for other in [
            "__global__ function 'f' cannot overload __host__ function 'f'",
            "out-of-line definition of 'f' from class 'A' without definition",
        ] {
            assert!(redeclared(other).is_none(), "{other}");
        }
    }
}
