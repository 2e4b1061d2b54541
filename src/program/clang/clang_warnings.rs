//! Warnings of clang's that neither nvcc's front end nor g++ has: programs are built with `-Werror`
//! that give them. They are off unless the command line asks for one by its name; `-Wall` asks for what
//! g++ knows by it.

use std::ffi::OsString;

/// The names of clang's groups. Some are errors by themselves, of what g++ and nvcc take.
const CLANG_ONLY: [&str; 61] = [
    "absolute-value",
    "asm-operand-widths",
    "bitwise-instead-of-logical",
    "bitwise-op-parentheses",
    "bool-conversion",
    "braced-scalar-init",
    "c99-designator",
    "constant-conversion",
    "cuda-compat",
    "delete-non-abstract-non-virtual-dtor",
    "deprecated-literal-operator",
    "deprecated-this-capture",
    "deprecated-volatile",
    "extern-initializer",
    "for-loop-analysis",
    "gnu-designator",
    "gnu-folding-constant",
    "implicit-const-int-float-conversion",
    "implicit-conversion-floating-point-to-bool",
    "inconsistent-missing-override",
    "inline-asm",
    "instantiation-after-specialization",
    "invalid-constexpr",
    "literal-conversion",
    "literal-range",
    "missing-braces",
    "nan-infinity-disabled",
    "nontrivial-memcall",
    "null-dereference",
    "null-pointer-arithmetic",
    "null-pointer-subtraction",
    "parentheses-equality",
    "pass-failed",
    "pointer-bool-conversion",
    "potentially-evaluated-expression",
    "reorder-init-list",
    "self-assign",
    "self-assign-field",
    "self-assign-overloaded",
    "shift-op-parentheses",
    "sizeof-array-decay",
    "sometimes-uninitialized",
    "string-conversion",
    "string-plus-char",
    "string-plus-int",
    "tautological-bitwise-compare",
    "tautological-constant-compare",
    "tautological-constant-out-of-range-compare",
    "tautological-overlap-compare",
    "tautological-pointer-compare",
    "tautological-undefined-compare",
    "typename-missing",
    "undefined-bool-conversion",
    "undefined-inline",
    "undefined-internal",
    "undefined-var-template",
    "unneeded-internal-declaration",
    "unused-const-variable",
    "unused-lambda-capture",
    "unused-private-field",
    "vla-cxx-extension",
];

/// What turns them off behind the options of a command line.
pub(in crate::program) fn left_off(asked: &[String]) -> impl Iterator<Item = OsString> {
    let is_asked = |name: &str| {
        asked.iter().any(|option| {
            let named = option.strip_prefix("-Werror=");
            named.or(option.strip_prefix("-W")) == Some(name)
        })
    };
    let off = CLANG_ONLY.into_iter().filter(move |name| !is_asked(name));
    off.map(|name| format!("-Wno-{name}").into())
}
