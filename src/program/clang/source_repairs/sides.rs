//! What only device code's side of a source can make sense of.
//!
//! A header that writes `__host__ __device__` where `__CUDA_ARCH__` is defined, and nothing elsewhere, has functions
//! of the host alone when the host's code is compiled; others declare functions for kernels only there. nvcc looks
//! neither at the side of what a kernel calls then, as nobody runs it, nor into kernels that are templates; clang
//! does. So such functions become functions of both sides there, and bodies of such templates are left out, there
//! and there alone: device code is read as it stands, and what nvcc refuses in it, clang refuses too.

use super::code::{code_alone, function_around, words};
use super::places::{Change, blanks, word};

/// The macro that stands before the name of a function that becomes one of both sides.
const BOTH_SIDES: &str = "__sirius_both_sides";

/// The macro that stands before a body that the host's side has no use for.
const FOR_DEVICE: &str = "__sirius_for_device";

/// What clang is told about the macros. What is behind a constant condition is not instantiated.
pub(super) const ARGUMENTS: [&str; 9] = [
    "-Xarch_host",
    "-D__sirius_both_sides=__attribute__((host)) __attribute__((device))",
    "-Xarch_host",
    "-D__sirius_for_device=if constexpr (false)",
    "-Xarch_device",
    "-D__sirius_both_sides=",
    "-Xarch_device",
    "-D__sirius_for_device=",
    "-Wno-c++17-extensions",
];

/// Whether a note is about a function of the host that device code calls.
pub(super) fn is_about_sides(note: &str) -> bool {
    note.starts_with("candidate ")
        && [
            "not viable: call to __host__ function from __global__ function",
            "not viable: call to __host__ function from __device__ function",
        ]
        .iter()
        .any(|end| note.ends_with(end))
}

/// Whether an error is about a specialisation, which nvcc takes whatever side its template is for.
pub(super) fn is_specialisation(error: &str) -> bool {
    error.starts_with("no function template matches function template specialization '")
}

/// Whether a note says that such a specialisation is for other sides than its template.
pub(super) fn is_about_attributes(note: &str) -> bool {
    note == "candidate template ignored: target attributes do not match"
}

/// Makes the specialisation whose name stands at a place one for both sides, wherever it is read.
pub(super) fn specialisation_for_both(text: &str, at: usize) -> Option<Change> {
    let attributes = "__attribute__((host)) __attribute__((device)) ";
    let is_named = !word(text.get(at..)?).is_empty();
    let before = &text[..at];
    let other = before.ends_with(attributes) || before.ends_with("::");
    (is_named && !other).then(|| Change::insert(at, attributes))
}

/// Whether a note says where a template was needed.
pub(super) fn is_about_need(note: &str) -> bool {
    note.starts_with("in instantiation of ") && note.ends_with(" requested here")
}

/// Makes the function whose name stands at a place one of both sides.
pub(super) fn of_both_sides(text: &str, at: usize) -> Option<Change> {
    // A constructor's or a function's name, or `operator` with what follows.
    (!word(text.get(at..)?).is_empty()).then_some(())?;
    let before = text[..at].trim_end();
    let done = before.ends_with(BOTH_SIDES);
    // Behind `::` a type ends, before which the place would be; such a function has a declaration besides.
    let is_qualified = before.ends_with("::");
    (!done && !is_qualified).then(|| Change::insert(at, format!("{BOTH_SIDES} ")))
}

/// Leaves out, on the host's side, the body of the function template around a place. It has to be a kernel by its
/// attributes, unless clang says that the place is device code (`known`).
pub(super) fn for_device(text: &str, at: usize, known: bool) -> Option<[Change; 2]> {
    let code = code_alone(text);
    let function = function_around(&code, at)?;
    let has = |wanted: &str| words(function.header).any(|word| word == wanted);
    // A lambda of a host function is device code by itself.
    let is_device = has("__global__") || (known && function.only_statements);
    let inside = &code[function.body.start + 1..];
    let done = inside[blanks(inside)..].starts_with(FOR_DEVICE);
    (is_device && has("template") && !done).then(|| {
        [
            Change::insert(function.body.start + 1, format!("{FOR_DEVICE} {{")),
            Change::insert(function.body.end, "}"),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::{for_device, is_about_sides, of_both_sides, specialisation_for_both};

    #[test]
    fn names_get_the_attributes_once() {
        let text = "inline float &get(int);\n";
        let at = text.find("get").unwrap();
        let change = of_both_sides(text, at).unwrap();
        let mut after = text.to_string();
        after.replace_range(change.range, &change.text);
        assert_eq!(after, "inline float &__sirius_both_sides get(int);\n");
        let again = after.find("get").unwrap();
        assert!(of_both_sides(&after, again).is_none());
        assert!(of_both_sides("int A::f() {}", 7).is_none());
        assert!(of_both_sides("(", 0).is_none());
    }

    #[test]
    fn specialisations_get_the_attributes_once() {
        let text = "template <> __device__ float get(int) {}";
        let at = text.find("get").unwrap();
        let mut after = text.to_string();
        after.insert_str(at, &specialisation_for_both(text, at).unwrap().text);
        assert!(after.contains("float __attribute__((host)) __attribute__((device)) get(int)"));
        let again = after.find("get").unwrap();
        assert!(specialisation_for_both(&after, again).is_none());
    }

    #[test]
    fn notes_name_the_side() {
        let note =
            "candidate function not viable: call to __host__ function from __global__ function";
        assert!(is_about_sides(note));
        assert!(!is_about_sides(
            "candidate function not viable: requires 2 arguments, but 1 was provided"
        ));
    }

    /// `text` without the body around `^`, which marks the place and is no part of it.
    fn left_out(text: &str, known: bool) -> Option<String> {
        let at = text.find('^')?;
        let text = text.replacen('^', "", 1);
        let [first, second] = for_device(&text, at, known)?;
        let mut after = text.clone();
        after.insert_str(second.range.start, &second.text);
        after.insert_str(first.range.start, &first.text);
        Some(after)
    }

    #[test]
    fn bodies_of_kernel_templates() {
        assert_eq!(
            left_out(
                "namespace n { // {\ntemplate <class T> __global__ void k(T x) { if (x) { ^f('}'); } g(); } }",
                false
            )
            .as_deref(),
            Some(
                "namespace n { // {\ntemplate <class T> __global__ void k(T x) \
                 {__sirius_for_device { if (x) { f('}'); } g(); }} }"
            )
        );
        let device = "template <class T> DEVICE int k(T x) noexcept { for (;;) { return ^f(x); } }";
        assert!(left_out(device, false).is_none());
        assert!(left_out(device, true).is_some());
        for host in [
            // The word in a comment, a kernel before, no template, code of the host with a lambda in it.
            "template <class T> /* no __global__ */ void h(T x) { ^f(x); }",
            "__global__ void k() {}\ntemplate <class T> void h(T x) { ^f(x); }",
            "__global__ void k() { ^f(); }",
            "^",
        ] {
            assert!(left_out(host, false).is_none(), "{host}");
        }
        let lambda = "template <class T> void h(T x) { each([=] __device__ (int i) { ^f(i); }); }";
        assert!(left_out(lambda, true).is_none());
        let returned = "template <class T> auto h(T x) { if (x) return [=](int i) { ^f(i); }; }";
        assert!(left_out(returned, true).is_none());
        let class =
            "template <class T> void h(T x) { struct A { DEVICE int f() { return ^g(); } }; }";
        assert!(left_out(class, true).is_none());
    }
}
