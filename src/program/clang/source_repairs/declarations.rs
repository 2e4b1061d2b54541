//! Declarations that nvcc takes: `main` with any parameters or without a type, members of templates
//! with the template's own parameters behind their names, and default arguments that name what their
//! parameter hides.

use super::code::{closing, code_alone, declaration_begin, pieces, scope_header, words};
use super::places::{Change, angled, word};

/// `main` by another name, of which clang asks nothing, and which has the same one in the object.
const MAIN: &str = "sirius_main_of_program";

/// What clang is told about a default argument in a class: the host's compiler sees this class too, and refuses it.
pub(super) const ARGUMENTS: [&str; 4] = [
    "-Xarch_host",
    "-D__sirius_default(own, outer)=own",
    "-Xarch_device",
    "-D__sirius_default(own, outer)=outer",
];

/// What is changed where clang gave an error about a declaration; nothing where it is about another.
pub(super) fn declared(text: &str, at: usize, message: &str) -> Vec<Change> {
    let of_main = ["first", "second", "third"]
        .iter()
        .any(|which| message.starts_with(&format!("{which} parameter of 'main' ")));
    if of_main || message.starts_with("too many parameters (") {
        return main_by_symbol(text, at).unwrap_or_default();
    }
    let one = if message.starts_with("a type specifier is required for all declarations") {
        (word(&text[at..]) == "main").then(|| Change::insert(at, "int "))
    } else if message == "function template partial specialization is not allowed"
        || message.starts_with("out-of-line constructor for '")
    {
        without_arguments(text, at)
    } else if message.starts_with("default argument references parameter '") {
        return default_of_scope(text, at)
            .map(Vec::from)
            .unwrap_or_default();
    } else {
        None
    };
    one.into_iter().collect()
}

/// `int main(int, char **, T) {…}` as a function that only its symbol makes the program's first.
fn main_by_symbol(text: &str, at: usize) -> Option<Vec<Change>> {
    let code = code_alone(text);
    let end = at + "main".len();
    (word(&code[at..]) == "main").then_some(())?;
    let begin = declaration_begin(&code, at);
    let open = end + code[end..].find('(')?;
    let close = closing(&code, open)?;
    // Both compilers refuse a main of another type.
    let specified: Vec<&str> = words(&code[begin..at]).collect();
    let others = [
        "static",
        "inline",
        "constexpr",
        "template",
        "long",
        "unsigned",
        "short",
    ];
    let is_main = specified.contains(&"int") && !specified.iter().any(|word| others.contains(word));
    is_main.then_some(())?;
    // A directive in between would be lost.
    let has_directive = text[begin..close]
        .lines()
        .any(|line| line.trim_start().starts_with('#'));
    (code[end..open].trim().is_empty() && !has_directive).then_some(())?;
    let mut changes = vec![Change::replace(at..end, MAIN)];
    let body = code[close..].find('{').map(|body| close + body);
    if let Some(body) = body
        && code[close + 1..body].trim().is_empty()
    {
        let declared = code[begin..=close].replace('\n', " ");
        let (specifiers, parameters) = (&declared[..at - begin], &declared[end - begin..]);
        let symbol = format!("{specifiers}{MAIN}{parameters} __asm__(\"main\"); ");
        changes.push(Change::insert(begin, symbol));
        // Its end gives 0, which is main's alone.
        changes.push(Change::insert(closing(&code, body)?, " return 0; "));
    }
    Some(changes)
}

/// `C S<A>::go<C>(C c)`, where `C` is the member's own parameter.
fn without_arguments(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let name = word(&code[at..]);
    let angle = at + name.len() + code[at + name.len()..].find('<')?;
    let end = angle + angled(&code[angle..])?;
    let is_name = code[at + name.len()..angle].trim().is_empty();
    let begin = declaration_begin(&code, at);
    let headers = template_headers(&code[begin..at])?;
    let own = headers.last()?;
    let arguments = pieces(&code[angle + 1..end - 1]);
    let arguments: Vec<&str> = arguments.iter().map(|argument| argument.trim()).collect();
    let is_own = arguments.iter().copied().eq(own.iter().map(String::as_str));
    let before = code[..at].trim_end();
    let is_known = match before.strip_suffix("::") {
        // Its class has to have such a template, which clang looks for; a constructor that is none has fewer parameters than the name says.
        Some(scope) => headers.len() > usize::from(scope.trim_end().ends_with('>')),
        // Declared before, as no specialisation can be the first.
        None => is_called_before(&code[..begin], name),
    };
    (is_name && is_own && is_known).then(|| Change::replace(angle..end, ""))
}

/// Whether a name stands before parentheses.
fn is_called_before(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(begin, _)| {
        let is_end =
            !code[..begin].ends_with(|part: char| part == '_' || part.is_ascii_alphanumeric());
        is_end && code[begin + name.len()..].trim_start().starts_with('(')
    })
}

/// The names of the parameters of each `template <…>` at the beginning.
fn template_headers(code: &str) -> Option<Vec<Vec<String>>> {
    let mut headers = Vec::new();
    let mut rest = code.trim_start();
    while let Some(behind) = rest.strip_prefix("template") {
        let parameters = behind.trim_start();
        let length = angled(parameters)?;
        let named = |parameter: &str| {
            let declared = parameter.split('=').next().unwrap_or(parameter).trim();
            let begin = declared.rfind(|part: char| part != '_' && !part.is_ascii_alphanumeric());
            let name = &declared[begin.map_or(0, |begin| begin + 1)..];
            format!(
                "{name}{}",
                if declared.contains("...") { "..." } else { "" }
            )
        };
        headers.push(
            pieces(&parameters[1..length - 1])
                .into_iter()
                .map(named)
                .collect(),
        );
        rest = parameters[length..].trim_start();
    }
    Some(headers)
}

/// `int n = n`, where the scope around has an `n`, by a function that sees no parameter.
fn default_of_scope(text: &str, at: usize) -> Option<[Change; 2]> {
    let code = code_alone(text);
    let name = word(&text[at..]);
    let begin = declaration_begin(&code, at);
    let header = &code[begin..at];
    let is_first = !name.is_empty() && !header.contains("__sirius_default");
    let is_for = |wanted: &str| words(header).any(|word| word == wanted);
    let is_class = scope_header(&code, at).is_some_and(|header| {
        words(header).any(|word| ["struct", "class", "union"].contains(&word))
            && !header.ends_with(')')
    });
    (is_first && is_for("__device__")).then_some(())?;
    let outer = format!("sirius_outer_{name}_{at}");
    let function =
        format!("static inline __attribute__((device)) auto {outer}() {{ return {name}; }} ");
    let argument = match is_class || is_for("__host__") {
        true => format!("__sirius_default({name}, {outer}())"),
        false => format!("{outer}()"),
    };
    Some([
        Change::insert(begin, function),
        Change::replace(at..at + name.len(), argument),
    ])
}

#[cfg(test)]
mod tests {
    use super::declared;

    fn changed(text: &str, message: &str) -> Option<String> {
        let at = text.find('^')?;
        let mut text = text.replacen('^', "", 1);
        let mut changes = declared(&text, at, message);
        changes.sort_by_key(|change| std::cmp::Reverse(change.range.start));
        (!changes.is_empty()).then_some(())?;
        for change in changes {
            text.replace_range(change.range, &change.text);
        }
        Some(text)
    }

    #[test]
    fn main_with_other_parameters() {
        let message = "too many parameters (4) for 'main': must be 0, 2, or 3";
        assert_eq!(
            changed(
                "int x;\nint ^main(int c, T /* t */ t,\n int d) { { } }\n",
                message
            )
            .as_deref(),
            Some(
                "int x;\nint sirius_main_of_program(int c, T         t,  int d) __asm__(\"main\"); \
                 int sirius_main_of_program(int c, T /* t */ t,\n int d) { { }  return 0; }\n"
            )
        );
        let untyped = "a type specifier is required for all declarations";
        assert_eq!(
            changed("^main() { }", untyped).as_deref(),
            Some("int main() { }")
        );
        assert_eq!(changed("^helper() { }", untyped), None);
        for text in [
            "int ^main(int c,\n#if X\n T t) { }",
            "void ^main(int c, T t) { }",
            "static int ^main(int c, T t) { }",
        ] {
            assert_eq!(changed(text, message), None, "{text}");
        }
    }

    #[test]
    fn own_parameters_behind_names() {
        let message = "function template partial specialization is not allowed";
        for (before, after) in [
            (
                "template <class A> template <class C, int n = 1> int S<A>::^go<C, n>(C c) {}",
                "template <class A> template <class C, int n = 1> int S<A>::go(C c) {}",
            ),
            (
                "template <class... C> int S::^go<C...>(C... c) {}",
                "template <class... C> int S::go(C... c) {}",
            ),
            (
                "template <class C> int f(C c);\ntemplate <class C> int ^f<C>(C c) {}",
                "template <class C> int f(C c);\ntemplate <class C> int f(C c) {}",
            ),
        ] {
            assert_eq!(changed(before, message).as_deref(), Some(after));
        }
        for text in [
            "template <class A> template <class C> int S<A>::^go<int>(C c) {}",
            "template <class C> int ^f<C>(C c) {}",
            "template <class A> S<A>::^S<A>() {}",
        ] {
            assert_eq!(changed(text, message), None, "{text}");
        }
    }

    #[test]
    fn default_arguments_of_the_scope_around() {
        let message = "default argument references parameter 'n'";
        let text = "struct A { int m; __device__ static void f(int n = ^n); };";
        let changed = changed(text, message).unwrap();
        assert!(
            changed.contains("auto sirius_outer_n_51() { return n; } __device__ static void f("),
            "{changed}"
        );
        assert!(
            changed.contains("(int n = __sirius_default(n, sirius_outer_n_51()));"),
            "{changed}"
        );
    }
}
