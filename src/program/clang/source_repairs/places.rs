//! One place of a source: what an error of clang's there is about, and the text that it takes.

use super::code::{closing, code_alone, declaration_begin, words};
use super::{dependent, shared_variables, variable_arrays};
use std::ops::Range;

/// Other text for a part of a file.
pub(super) struct Change {
    pub(super) range: Range<usize>,
    pub(super) text: String,
    /// What nvcc says there.
    pub(super) warning: Option<&'static str>,
}

impl Change {
    pub(super) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
            warning: None,
        }
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// What is changed where clang gave an error; `None` where nothing is.
pub(super) fn change_at(text: &str, at: usize, message: &str) -> Option<Change> {
    if let Some(name) = between(
        message,
        "missing 'template' keyword prior to dependent template name '",
    ) {
        return named_template(text, at, name);
    }
    if let Some(name) = between(message, "use 'template' keyword to treat '") {
        // `typename a<T>::name<n>`: clang says so where nothing but a template can be meant.
        let named = word(text.get(at..)?) == name;
        return named.then(|| Change::insert(at, "template "));
    }
    if message.starts_with("missing 'typename' prior to dependent type name '") {
        // `a::b(x)`, which nvcc's front end takes for a conversion when it knows `a`.
        let done = text.get(..at)?.trim_end().ends_with("typename");
        return (!done).then(|| Change::insert(at, "typename "));
    }
    let unresolved = "reference to overloaded function could not be resolved";
    if message.starts_with("reference to non-static member function must be called")
        || message.starts_with(unresolved)
    {
        // As part of a sum: `a + p->name<n>(x)` is read as `(a + p->name) < n > (x)`.
        let member = named_template(text, at, word(text.get(at..)?));
        let here = member.filter(|change| change.range.start == at);
        return here
            .or_else(|| qualified_template(text, at).filter(|_| message.starts_with(unresolved)));
    }
    if message.starts_with("__shared__ variable '") && message.ends_with("' cannot be 'extern'") {
        return shared_variables::defined(text, at);
    }
    if message.starts_with("initialization is not supported for __shared__ variables") {
        return shared_variables::uninitialised(text, at);
    }
    if message.starts_with("requested alignment is less than minimum alignment of ") {
        return lesser_alignment(text, at);
    }
    if message == variable_arrays::MESSAGE {
        return variable_arrays::assigned(text, at);
    }
    if message.starts_with("use of overloaded operator '=' is ambiguous") {
        return emptied_vector(text, at, message);
    }
    if message.starts_with("call to deleted constructor of '") {
        return copied_index(text, at, message);
    }
    if let Some(name) = between(message, "redeclaration of '") {
        return declared_index(text, at, name, message);
    }
    if let Some(name) = between(message, "explicit qualification required to use member '") {
        let named = word(text.get(at..)?) == name;
        return named.then(|| Change::insert(at, "this->"));
    }
    if message.starts_with("restrict requires a pointer or reference ('")
        && message.contains("(aka '")
    {
        // nvcc lets it stand behind a name of a type, whatever that is.
        let restrict = word(text.get(at..)?);
        let is_it = matches!(restrict, "__restrict__" | "__restrict");
        return is_it.then(|| Change::replace(at..at + restrict.len(), ""));
    }
    if message == "expected expression" {
        return launch_spelling(text, at);
    }
    if message == "expected ')'" {
        return next_operand(text, at);
    }
    if message == "string literal with user-defined suffix cannot be used here" {
        // `extern "C"__global__`, at what is behind the quotes.
        let before = text.get(..at)?.strip_suffix("\"C\"")?.trim_end();
        return before.ends_with("extern").then(|| Change::insert(at, " "));
    }
    if let Some(change) = dependent::checked_later(text, at, message) {
        return Some(change);
    }
    UNROLL_MESSAGES
        .iter()
        .any(|start| message.starts_with(start))
        .then(|| misplaced_unroll(text, at))?
}

/// The quoted text behind `start`.
fn between<'a>(message: &'a str, start: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.split('\'').next()
}

/// `a<T>::name<n>(x)`, `x.name<n>(y)` and `p->name<n>(y)` of what depends on a parameter: nvcc's front end reads a template
/// where what stands there could be a comparison too, and refuses it otherwise, so that something has to be in the parentheses.
fn named_template(text: &str, at: usize, name: &str) -> Option<Change> {
    let statement = &text[at..at + text[at..].find([';', '{', '}'])?];
    let found = statement.match_indices(name).find(|(begin, _)| {
        let before = text[..at + begin].trim_end();
        let behind = statement[begin + name.len()..].trim_start();
        let is_member = ["::", ".", "->"]
            .iter()
            .any(|access| before.ends_with(access));
        let arguments = angled(behind).map(|length| behind[length..].trim_start());
        let call = arguments.and_then(|rest| rest.strip_prefix('('));
        is_member && call.is_some_and(|call| !call.trim_start().starts_with(')'))
    });
    Some(Change::insert(at + found?.0, "template "))
}

/// The same without the name in the message: the place is where the qualified name begins.
fn qualified_template(text: &str, at: usize) -> Option<Change> {
    let mut place = at;
    loop {
        let qualified = place > at;
        let name = word(&text[place..]);
        let behind = place + name.len() + blanks(&text[place + name.len()..]);
        if name.is_empty() || name == "template" {
            return None;
        }
        let mut next = behind;
        if text[behind..].starts_with('<') {
            next = behind + angled(&text[behind..])?;
            next += blanks(&text[next..]);
            if text[next..].starts_with('(') {
                return qualified.then(|| Change::insert(place, "template "));
            }
        }
        place = next + text[next..].strip_prefix("::").map(|_| 2)?;
        place += blanks(&text[place..]);
    }
}

/// `vector = {}` of CUDA's packed types, whose constructors and assignments clang finds equally good. All give zeros.
fn emptied_vector(text: &str, at: usize, message: &str) -> Option<Change> {
    let types = ["__half2", "__nv_bfloat162"];
    let name = types
        .iter()
        .find(|name| message.contains(&format!("'{name}'")))?;
    let brace = at + 1 + blanks(text.get(at..)?.strip_prefix('=')?);
    let inside = text[brace..].strip_prefix('{')?;
    inside[blanks(inside)..]
        .starts_with('}')
        .then(|| Change::insert(brace, *name))
}

/// `alignas(64) CUtensorMap map;` of a type that asks for more, as nvcc and g++ read it: what asks for less is left aside.
fn lesser_alignment(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let name = "alignas";
    if word(code.get(at..)?) != name {
        return None;
    }
    let open = at + name.len() + blanks(&code[at + name.len()..]);
    let end = closing(&code, open).filter(|_| code[open..].starts_with('('))? + 1;
    Some(Change::replace(at..end, ""))
}

/// What a kernel reads its place from, which nvcc has as vectors that can be copied and clang as types of its own that cannot.
const INDICES: [(&str, &str); 4] = [
    ("threadIdx", "uint3"),
    ("blockIdx", "uint3"),
    ("blockDim", "dim3"),
    ("gridDim", "dim3"),
];

/// `auto t = threadIdx` and `f(threadIdx)` for a template's parameter, as copies of nvcc's types.
fn copied_index(text: &str, at: usize, message: &str) -> Option<Change> {
    let (name, vector) = INDICES
        .iter()
        .find(|(name, _)| message.contains(&format!("__cuda_builtin_{name}_t'")))?;
    let statement = &text[at..at + text[at..].find([';', '{', '}'])?];
    let is_named = |character: char| character == '_' || character.is_ascii_alphanumeric();
    let (begin, _) = statement.match_indices(name).find(|(begin, _)| {
        let behind = &statement[begin + name.len()..];
        let is_part = statement[..*begin].ends_with(is_named) || behind.starts_with(is_named);
        let is_copied = statement[..*begin].ends_with(&format!("{vector}("));
        !is_part && !is_copied && !behind.trim_start().starts_with('.')
    })?;
    let range = at + begin..at + begin + name.len();
    Some(Change::replace(range, format!("{vector}({name})")))
}

/// `extern const dim3 blockDim;`, as headers have it for what reads sources in an editor: declares nothing anew.
fn declared_index(text: &str, at: usize, name: &str, message: &str) -> Option<Change> {
    let (_, vector) = INDICES.iter().find(|(index, _)| *index == name)?;
    let code = code_alone(text);
    let declared = &code[declaration_begin(&code, at)..at];
    let is_same = message.contains(&format!("with a different type: 'const {vector}'"));
    let is_extern = words(declared).any(|word| word == "extern");
    let fits = is_same && is_extern && word(&text[at..]) == name;
    fits.then(|| Change::insert(at, "sirius_declared_"))
}

/// A launch's angle brackets with blanks before the last of three, and its sizes in braces.
fn launch_spelling(text: &str, at: usize) -> Option<Change> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    match text[at..].chars().next()? {
        bracket @ ('<' | '>') => {
            let pair = before.strip_suffix(bracket)?.strip_suffix(bracket)?;
            let split = before.len() < at && !pair.ends_with(bracket);
            let range = before.len()..at + 1;
            let blanks = " ".repeat(at - before.len());
            split.then(|| Change::replace(range, format!("{bracket}{blanks}")))
        }
        '{' => {
            let sizes = before.ends_with("<<<") || before.ends_with(',');
            let statement = before.rfind([';', '}']).map_or(0, |end| end + 1);
            let launches =
                before[statement..].contains("<<<") || before[statement..].contains("<< <");
            // Behind a size in braces, which ends the piece above.
            let second = before.ends_with("},") && before[..statement].contains("<<<");
            (sizes && (launches || second)).then(|| Change::insert(at, "dim3"))
        }
        _ => None,
    }
}

/// Operands of an `asm` without a comma between them: nvcc's front end sees by the parenthesis before that one is over.
fn next_operand(text: &str, at: usize) -> Option<Change> {
    let begins = text[at..].starts_with(['"', '[']) && text[..at].trim_end().ends_with(')');
    let is_asm = |&(begin, name): &(usize, &str)| {
        let whole =
            !text[..begin].ends_with(|before: char| before == '_' || before.is_alphanumeric());
        let rest = text[begin + name.len()..at].trim_start_matches('_');
        whole && begins && in_operands(rest)
    };
    let found = text[..at].rmatch_indices("asm").map(|(begin, name)| {
        let start = text[..begin].trim_end_matches('_').len();
        (start, &text[start..begin + name.len()])
    });
    found.take(1).find(is_asm).map(|_| Change::insert(at, ", "))
}

/// Whether what stands behind `asm` ends among its operands, at one's border.
fn in_operands(text: &str) -> bool {
    let mut rest = text.trim_start();
    while ["volatile", "goto", "inline"].contains(&word(rest).trim_matches('_')) {
        rest = rest[word(rest).len()..].trim_start();
    }
    let (mut depth, mut colons, mut quoted, mut escaped) = (0, 0, false, false);
    for character in rest.chars() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' if depth == 1 => return false,
            ')' => depth -= 1,
            ':' if depth == 1 => colons += 1,
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    depth == 1 && !quoted && colons > 0
}

/// How clang says that a pragma for loops stands where none follows, or by another.
const UNROLL_MESSAGES: [&str; 7] = [
    "expected a for, while, or do-while loop to follow '#pragma ",
    "expected statement",
    "expected unqualified-id",
    "this pragma cannot appear in ",
    "incompatible directives '#pragma ",
    "duplicate directives '#pragma ",
    "invalid value '",
];

/// Takes away the pragma that stands at a place, or before it with nothing but blanks and other pragmas between.
fn misplaced_unroll(text: &str, at: usize) -> Option<Change> {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let mut line = begin..begin + text[begin..].find('\n').unwrap_or(text.len() - begin);
    if text[line.clone()].trim_start().starts_with('#') {
        return without_pragma(text, line);
    }
    if !text[begin..at].trim().is_empty() {
        return None;
    }
    loop {
        let end = line.start.checked_sub(1)?;
        line = text[..end].rfind('\n').map_or(0, |end| end + 1)..end;
        let content = text[line.clone()].trim();
        if let Some(change) = without_pragma(text, line.clone()) {
            return Some(change);
        }
        if !content.is_empty() && !content.starts_with("//") && !content.starts_with("#pragma") {
            return None;
        }
    }
}

/// A macro that stands for a pragma about unrolling, `#define UNROLL #pragma unroll`, as the operator that makes one: nvcc's front
/// end takes what the macro becomes for the pragma.
pub(super) fn pragma_of_macro(text: &str, at: usize) -> Option<Change> {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[begin..begin + text[begin..].find('\n').unwrap_or(text.len() - begin)];
    let definition = line.trim_start().strip_prefix('#')?.trim_start();
    let named = definition.strip_prefix("define")?.trim_start();
    let body = named[word(named).len()..].trim_start();
    let directive = body.strip_prefix('#')?.trim_start();
    let what = directive.strip_prefix("pragma")?.trim();
    let count = what[word(what).len()..].trim_start();
    let is_count = count.bytes().all(|byte| byte.is_ascii_digit());
    let starts_here = at - begin == line.len() - body.len();
    let range = at..begin + line.trim_end().len();
    (starts_here && is_count && ["unroll", "nounroll"].contains(&word(what)))
        .then(|| Change::replace(range, format!("_Pragma(\"{what}\")")))
}

/// A line that is a pragma about unrolling, as an empty one.
fn without_pragma(text: &str, line: Range<usize>) -> Option<Change> {
    let content = &text[line.clone()];
    let directive = content.trim_start().strip_prefix('#')?.trim_start();
    let what = directive.strip_prefix("pragma")?.trim_start();
    let goes_on = content.ends_with('\\');
    (!goes_on && ["unroll", "nounroll"].contains(&word(what)))
        .then(|| Change::replace(line, String::new()))
}

/// The identifier at the beginning.
pub(super) fn word(text: &str) -> &str {
    let end = text.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    &text[..end.unwrap_or(text.len())]
}

/// How many bytes of white space are at the beginning.
pub(super) fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The length of what stands in angle brackets at the beginning, with them.
pub(super) fn angled(text: &str) -> Option<usize> {
    let (mut angles, mut others) = (0, 0);
    for (index, character) in text.char_indices() {
        match character {
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            '<' if others == 0 => angles += 1,
            '>' if others == 0 => angles -= 1,
            ';' | '{' | '}' => return None,
            _ => {}
        }
        if angles == 0 {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{change_at, pragma_of_macro};

    /// `text` with the change at `^`, which marks the place and is no part of it.
    fn changed(text: &str, message: &str) -> Option<String> {
        let at = text.find('^')?;
        let text = text.replacen('^', "", 1);
        let change = change_at(&text, at, message)?;
        let mut after = text.clone();
        after.replace_range(change.range, &change.text);
        Some(after)
    }

    #[test]
    fn templates_of_dependent_names() {
        let missing = "missing 'template' keyword prior to dependent template name 'get'";
        for (before, after) in [
            (
                "return ^get<T>::get<2>(v);",
                "return get<T>::template get<2>(v);",
            ),
            ("x = ^v.get <2>(1);", "x = v.template get <2>(1);"),
            ("x = v.^get<2>(1);", "x = v.template get<2>(1);"),
            (
                "x = p->^get<n, (1 > 2)>(1);",
                "x = p->template get<n, (1 > 2)>(1);",
            ),
        ] {
            assert_eq!(changed(before, missing).as_deref(), Some(after));
        }
        // nvcc refuses what cannot be read as a comparison.
        for text in [
            "x = v.^get<2>();",
            "x = ^get<2>(1);",
            "x = v.template ^get<2>(1);",
        ] {
            assert_eq!(changed(text, missing), None, "{text}");
        }
        let behind = "use 'template' keyword to treat 'to' as a dependent template name";
        assert_eq!(
            changed("using b = typename a<T>::^to<bool>;", behind).as_deref(),
            Some("using b = typename a<T>::template to<bool>;")
        );
        assert_eq!(changed("using b = ^a<T>::to<bool>;", behind), None);
        let of_type = "missing 'typename' prior to dependent type name 'a<int>::b' (aka 'int')";
        assert_eq!(
            changed("x = ^a::b(!!y);", of_type).as_deref(),
            Some("x = typename a::b(!!y);")
        );
        assert_eq!(changed("x = typename ^a::b(!!y);", of_type), None);
        let sum = "reference to non-static member function must be called";
        assert_eq!(
            changed("a + p->^get<3>(1);", sum).as_deref(),
            Some("a + p->template get<3>(1);")
        );
        assert_eq!(changed("p->^other; p->get<3>(1);", sum), None);
        let overloaded =
            "reference to overloaded function could not be resolved; did you mean to call it?";
        assert_eq!(
            changed("^n::to<A<(1 > 2)>, B>::go<n>(\n a);", overloaded).as_deref(),
            Some("n::to<A<(1 > 2)>, B>::template go<n>(\n a);")
        );
        for text in [
            "^go<n>(a);",
            "^to<A>::go;",
            "^to<A>::template go<n>(a);",
            "^",
        ] {
            assert_eq!(changed(text, overloaded), None, "{text}");
        }
    }

    #[test]
    fn members_of_bases_that_depend_on_a_parameter() {
        let message =
            "explicit qualification required to use member 'get' from dependent base class";
        assert_eq!(
            changed("{ return ^get(x); }", message).as_deref(),
            Some("{ return this->get(x); }")
        );
        assert_eq!(changed("{ return ^GET(x); }", message), None);
    }

    #[test]
    fn languages_without_a_blank_behind() {
        let message = "string literal with user-defined suffix cannot be used here";
        assert_eq!(
            changed("extern \"C\"^__global__ void k();", message).as_deref(),
            Some("extern \"C\" __global__ void k();")
        );
        assert_eq!(changed("f(\"C\"^_x);", message), None);
    }

    #[test]
    fn copies_of_indices() {
        let thread = "call to deleted constructor of 'const __cuda_builtin_threadIdx_t'";
        let size = "call to deleted constructor of '__cuda_builtin_blockDim_t'";
        for (before, after, message) in [
            ("auto ^t = threadIdx;", "auto t = uint3(threadIdx);", thread),
            (
                "f(threadIdx.x, ^threadIdx);",
                "f(threadIdx.x, uint3(threadIdx));",
                thread,
            ),
            (
                "auto ^myblockDim = f(blockDim.x, blockDim);",
                "auto myblockDim = f(blockDim.x, dim3(blockDim));",
                size,
            ),
        ] {
            assert_eq!(changed(before, message).as_deref(), Some(after));
        }
        for text in ["auto ^t = INDEX;", "auto ^t = uint3(threadIdx);"] {
            assert_eq!(changed(text, thread), None, "{text}");
        }
    }

    #[test]
    fn brackets_of_launches() {
        for (before, after) in [
            ("k << ^<1, 1>>>();", "k <<< 1, 1>>>();"),
            ("k<<<1, 1>>  ^> ();", "k<<<1, 1>>>   ();"),
            ("k<<<1, ^{2, 3}>>>();", "k<<<1, dim3{2, 3}>>>();"),
            ("k<<<^{2, 3}, 1>>>();", "k<<<dim3{2, 3}, 1>>>();"),
        ] {
            assert_eq!(
                changed(before, "expected expression").as_deref(),
                Some(after)
            );
        }
        // nvcc refuses these too.
        for text in [
            "a < ^< b;",
            "k <<< ^< 1;",
            "f(1, ^{2});",
            "k<<<1, 1>>>(); f(2, ^{1});",
        ] {
            assert_eq!(changed(text, "expected expression"), None, "{text}");
        }
    }

    #[test]
    fn operands_without_commas() {
        for (before, after) in [
            (
                "asm volatile(\"a; b) %0\" ::\"r\"(f(x)) ^\"l\"(p) : \"m\");",
                "asm volatile(\"a; b) %0\" ::\"r\"(f(x)) , \"l\"(p) : \"m\");",
            ),
            (
                "__asm__ __volatile__ (\"x\\\"\" : \"=r\"(a), \"=r\"(b)\n ^[n] \"=r\"(c));",
                "__asm__ __volatile__ (\"x\\\"\" : \"=r\"(a), \"=r\"(b)\n , [n] \"=r\"(c));",
            ),
        ] {
            assert_eq!(changed(before, "expected ')'").as_deref(), Some(after));
        }
        for text in [
            "asm(\"x\" (a) ^\"r\"(b));",
            "asm(\"x\" : \"r\"(a)); f((b) ^\"r\");",
            "plasma(\"x\" : \"r\"(a) ^\"r\"(b));",
            "f((a) ^\"b\");",
            "asm(\"x\" : \"r\"(a) ^b);",
        ] {
            assert_eq!(changed(text, "expected ')'"), None, "{text}");
        }
    }

    #[test]
    fn pragmas_without_loops() {
        let statement = "expected a for, while, or do-while loop to follow '#pragma unroll'";
        for (before, after, message) in [
            (
                "a;\n #pragma unroll 4\n\n // b\n ^b;\n",
                "a;\n\n\n // b\n b;\n",
                statement,
            ),
            (
                "a;\n#pragma unroll\n^}\n",
                "a;\n\n}\n",
                "expected statement",
            ),
            (
                "^#pragma unroll\nint f();\n",
                "\nint f();\n",
                "expected unqualified-id",
            ),
        ] {
            assert_eq!(changed(before, message).as_deref(), Some(after));
        }
        for text in [
            "#pragma unroll\na; ^b;",
            "#pragma unroll\na;\n^b;",
            "#pragma once\n^b;",
            "^b",
        ] {
            assert_eq!(changed(text, statement), None, "{text}");
        }
    }

    #[test]
    fn macros_that_are_pragmas() {
        let changed = |text: &str| {
            let at = text.find('^')?;
            let text = text.replacen('^', "", 1);
            let change = pragma_of_macro(&text, at)?;
            let mut after = text.clone();
            after.replace_range(change.range, &change.text);
            Some(after)
        };
        for (before, after) in [
            (
                "a\n # define UNROLL ^#pragma unroll \nb",
                "a\n # define UNROLL _Pragma(\"unroll\") \nb",
            ),
            (
                "#define FOUR ^# pragma unroll 4",
                "#define FOUR _Pragma(\"unroll 4\")",
            ),
        ] {
            assert_eq!(changed(before).as_deref(), Some(after));
        }
        for text in [
            "#define OTHER ^#pragma once",
            "#define TIMES(n) ^#pragma unroll n",
            "#define TIMES ^#pragma unroll N",
            "#define MORE ^#pragma unroll \\\nfor (;;)",
            "#define LESS x ^#pragma unroll",
            "^#pragma unroll",
        ] {
            assert_eq!(changed(text), None, "{text}");
        }
    }

    #[test]
    fn packed_numbers_without_contents() {
        let message = "use of overloaded operator '=' is ambiguous (with operand types 'half2' (aka '__half2') and 'void')";
        assert_eq!(
            changed("x ^= { };", message).as_deref(),
            Some("x = __half2{ };")
        );
        assert_eq!(changed("x ^= {1};", message), None);
        let other = message.replace("__half2", "mine");
        assert_eq!(changed("x ^= {};", &other), None);
    }
}
