//! What clang checks where a template is defined and nvcc where it is instantiated: members of classes
//! that are incomplete still, access to members, members that the class around does not have.
//!
//! The object becomes one whose type depends on the template: `__func__` depends on it where a function
//! is in one, and is a plain array elsewhere, so that clang refuses there as before.

use super::code::{code_alone, function_around, object_before, words};
use super::places::{Change, word};

/// Gives an object's type, which is known, as one that is known when the template around is instantiated.
const KNOWN_LATER: &str = "sirius_known_later<decltype(__func__)>(";

/// The same for a class, whose name follows.
const CLASS_KNOWN_LATER: &str = "sirius_class_known_later<decltype(__func__), ";

/// What is changed where clang gave an error about such a check.
pub(super) fn checked_later(text: &str, at: usize, message: &str) -> Option<Change> {
    if message.starts_with("member access into incomplete type '")
        || message.starts_with("arithmetic on a pointer to an incomplete type '")
    {
        return object_known_later(text, at, KNOWN_LATER);
    }
    if message.starts_with("subscript of pointer to incomplete type '") {
        return subscripted(text, at);
    }
    if message.starts_with("no viable conversion from returned value of type '") {
        return returned(text, at);
    }
    if [" is a private member of '", " is a protected member of '"]
        .iter()
        .any(|kind| message.contains(kind))
    {
        return member(text, at, KNOWN_LATER, CLASS_KNOWN_LATER);
    }
    if [
        "calling a private constructor of class '",
        "calling a protected constructor of class '",
    ]
    .iter()
    .any(|kind| message.starts_with(kind))
    {
        return constructed(text, at);
    }
    // Where the class depends on no parameter, the object does not become dependent by this.
    message.starts_with("no member named '").then(|| {
        member(
            text,
            at,
            "sirius_known_later_itself(",
            "sirius_class_known_later<",
        )
    })?
}

/// The object before a place, in `later` and a closing parenthesis.
fn object_known_later(text: &str, at: usize, later: &str) -> Option<Change> {
    let code = code_alone(text);
    let begin = object_before(&code, at)?;
    let end = begin + code[begin..at].trim_end().len();
    let object = &text[begin..end];
    (!object.starts_with("sirius_known_later"))
        .then(|| Change::replace(begin..end, format!("{later}{object})")))
}

/// The object, or the class, of the member whose name stands at a place.
fn member(text: &str, at: usize, object: &str, class: &str) -> Option<Change> {
    let code = code_alone(text);
    (!word(text.get(at..)?).is_empty()).then_some(())?;
    let before = code[..at].trim_end();
    let before = before
        .strip_suffix("template")
        .map_or(before, str::trim_end);
    if let Some(scope) = before.strip_suffix("::") {
        let begin = object_before(&code, scope.len())?;
        let name = text[begin..scope.len()].trim_end();
        let is_class = !name.starts_with("sirius_class_known_later") && !name.ends_with([')', ']']);
        return is_class
            .then(|| Change::replace(begin..scope.len(), format!("{class}{name}>::type")));
    }
    let end = before
        .strip_suffix("->")
        .or(before.strip_suffix('.'))?
        .len();
    object_known_later(text, end, object)
}

/// `p[i]` with the error at either.
fn subscripted(text: &str, at: usize) -> Option<Change> {
    if text[at..].starts_with('[') {
        return object_known_later(text, at, KNOWN_LATER);
    }
    let name = word(&text[at..]);
    let end = at + name.len();
    let is_element = !name.is_empty() && text[end..].trim_start().starts_with('[');
    is_element.then(|| object_known_later(text, end, KNOWN_LATER))?
}

/// `return x;` in device code, which g++ does not see.
fn returned(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let function = function_around(&code, at)?;
    let is_for = |wanted: &str| words(function.header).any(|word| word == wanted);
    let end = at + code[at..].find(';')?;
    let value = &text[at..end];
    let is_whole =
        code[..at].trim_end().ends_with("return") && !value.starts_with("sirius_known_later");
    (is_whole && is_for("__device__") && !is_for("__host__"))
        .then(|| Change::replace(at..end, format!("{KNOWN_LATER}{value})")))
}

/// `A x(1)` and `A(1)`, of which the error names the variable or the class.
fn constructed(text: &str, at: usize) -> Option<Change> {
    let code = code_alone(text);
    let name = word(text.get(at..)?);
    let behind = code[at + name.len()..].trim_start();
    (!name.is_empty() && behind.starts_with(['(', '{', ';'])).then_some(())?;
    let before = code[..at].trim_end();
    let known = |class: &str| format!("typename {CLASS_KNOWN_LATER}{class}>::type");
    let is_declared =
        before.ends_with(|last: char| last == '_' || last == '>' || last.is_ascii_alphanumeric());
    if !is_declared
        || ["return", "new", "throw"]
            .iter()
            .any(|word| before.ends_with(word))
    {
        let end = at + name.len();
        return behind
            .starts_with(['(', '{'])
            .then(|| Change::replace(at..end, known(name)));
    }
    let begin = object_before(&code, before.len())?;
    let starts = code[..begin].trim_end().ends_with([';', '{', '}', ')']);
    let class = &text[begin..before.len()];
    (starts && !class.ends_with('>')).then(|| Change::replace(begin..before.len(), known(class)))
}

#[cfg(test)]
mod tests {
    use super::checked_later;

    fn changed(text: &str, message: &str) -> Option<String> {
        let at = text.find('^')?;
        let mut text = text.replacen('^', "", 1);
        let change = checked_later(&text, at, message)?;
        text.replace_range(change.range, &change.text);
        Some(text)
    }

    #[test]
    fn objects_become_known_later() {
        let incomplete = "member access into incomplete type 'A'";
        let private = "'x' is a private member of 'A'";
        let missing = "no member named 'x' in 'B<T>'";
        let constructor = "calling a private constructor of class 'A'";
        for (before, after, message) in [
            (
                "{ return p^->v; }",
                "{ return sirius_known_later<decltype(__func__)>(p)->v; }",
                incomplete,
            ),
            (
                "{ f(a.b(1) ^. v); }",
                "{ f(sirius_known_later<decltype(__func__)>(a.b(1)) . v); }",
                incomplete,
            ),
            (
                "{ a.^x = 1; }",
                "{ sirius_known_later<decltype(__func__)>(a).x = 1; }",
                private,
            ),
            (
                "{ f(A::^x); }",
                "{ f(sirius_class_known_later<decltype(__func__), A>::type::x); }",
                private,
            ),
            (
                "{ this->template ^x<1>(2); }",
                "{ sirius_known_later_itself(this)->template x<1>(2); }",
                missing,
            ),
            (
                "{ f(B::^x); }",
                "{ f(sirius_class_known_later<B>::type::x); }",
                missing,
            ),
            (
                "{ A ^x(1); }",
                "{ typename sirius_class_known_later<decltype(__func__), A>::type x(1); }",
                constructor,
            ),
            (
                "{ return ^A(1); }",
                "{ return typename sirius_class_known_later<decltype(__func__), A>::type(1); }",
                constructor,
            ),
        ] {
            assert_eq!(changed(before, message).as_deref(), Some(after));
        }
        for (text, message) in [("{ ^x = 1; }", private), ("{ A{}^.v; }", incomplete)] {
            assert_eq!(changed(text, message), None, "{text}");
        }
    }

    #[test]
    fn conversions_of_what_is_returned_by_device_code() {
        let message =
            "no viable conversion from returned value of type 'A' to function return type 'int'";
        let device = "template <class T> __device__ int f(A &a) { return ^a; }";
        let wanted = device.replace("^a;", "sirius_known_later<decltype(__func__)>(a);");
        assert_eq!(changed(device, message), Some(wanted));
        assert_eq!(changed(&device.replace("__device__ ", ""), message), None);
    }
}
