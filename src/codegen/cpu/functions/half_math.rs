//! PTX's instructions on half precision and bfloat16 beyond plain arithmetic, as `cuda_fp16.h` and `cuda_bf16.h`
//! use them: comparisons with a number or a mask as their result, saturating sums and products, approximate
//! functions. Values travel as 16-bit integers, pairs as 32-bit ones.
//!
//! A number is computed in `float` and rounded once, which is right for one sum, product or function of halves;
//! a pair is two numbers.

use super::super::functions::PREFIX;
use std::fmt::Write;

/// The numbers of 16 bits that PTX has.
struct Format {
    /// `f16`
    name: &'static str,
    /// 1.0
    one: &'static str,
}

const FORMATS: [Format; 2] = [
    Format {
        name: "f16",
        one: "15360",
    },
    Format {
        name: "bf16",
        one: "16256",
    },
];

/// PTX's comparisons and LLVM's.
const COMPARISONS: [(&str, &str); 14] = [
    ("eq", "oeq"),
    ("ne", "one"),
    ("lt", "olt"),
    ("le", "ole"),
    ("gt", "ogt"),
    ("ge", "oge"),
    ("equ", "ueq"),
    ("neu", "une"),
    ("ltu", "ult"),
    ("leu", "ule"),
    ("gtu", "ugt"),
    ("geu", "uge"),
    ("nan", "uno"),
    ("num", "ord"),
];

/// Appends the definitions.
pub(in crate::codegen::cpu) fn add_half_math(text: &mut String) {
    for format in &FORMATS {
        add_comparisons(text, format);
        add_saturation(text, format);
        add_functions(text, format);
        add_signs(text, format);
    }
    // What the halves' functions are made of.
    for (comparison, predicate) in COMPARISONS {
        for (to, ty, chosen) in [
            ("f32", "float", "select i1 %t, float 1.0, float 0.0"),
            ("u32", "i32", "sext i1 %t to i32"),
        ] {
            let _ = writeln!(
                text,
                "define internal {ty} @{PREFIX}asm.set.{comparison}.{to}.f32(ptr %c, float %a, float %b) alwaysinline {{\n  \
                 %t = fcmp {predicate} float %a, %b\n  %r = {chosen}\n  ret {ty} %r\n}}"
            );
        }
    }
    for ending in ["", ".ftz"] {
        let name = |operation: &str| format!("{PREFIX}asm.{operation}.approx{ending}.f32");
        let root = "%s = call float @llvm.sqrt.f32(float %a)";
        let _ = writeln!(
            text,
            "define internal float @{}(ptr %c, float %a) alwaysinline {{\n  {root}\n  ret float %s\n}}\n\
             define internal float @{}(ptr %c, float %a) alwaysinline {{\n  {root}\n  \
             %r = fdiv float 1.0, %s\n  ret float %r\n}}",
            name("sqrt"),
            name("rsqrt")
        );
    }
    let _ = writeln!(
        text,
        "define internal float @{PREFIX}asm.fma.rn.f32(ptr %c, float %a, float %b, float %e) alwaysinline {{\n  \
         %r = call float @llvm.fma.f32(float %a, float %b, float %e)\n  ret float %r\n}}"
    );
}

/// `set`: one or zero; with a mask, all bits or none.
fn add_comparisons(text: &mut String, format: &Format) {
    let Format { name, one } = format;
    for (comparison, predicate) in COMPARISONS {
        let truth = format!("%t = fcmp {predicate} float %x, %y\n  ");
        for (result, chosen) in [(*name, *one), ("u32", "-1")] {
            let body = format!("{truth}%r = select i1 %t, i16 {chosen}, i16 0");
            let scalar = format!("set.{comparison}.{result}.{name}");
            if result == "u32" {
                // A number has a mask as wide as a register.
                let _ = writeln!(
                    text,
                    "define internal i32 @{PREFIX}asm.{scalar}(ptr %c, i16 %a, i16 %b) alwaysinline {{\n  \
                     {}{truth}%r = sext i1 %t to i32\n  ret i32 %r\n}}",
                    widened(format, &["a", "b"])
                );
                let half = format!("half.mask.{comparison}.{name}");
                define(text, format, &half, &["a", "b"], &body);
                define_pair(
                    text,
                    &format!("set.{comparison}.u32.{name}x2"),
                    &half,
                    &["a", "b"],
                );
            } else {
                define(text, format, &scalar, &["a", "b"], &body);
                let pair = format!("set.{comparison}.{name}x2.{name}x2");
                define_pair(text, &pair, &scalar, &["a", "b"]);
            }
        }
    }
}

/// Results kept between zero and one, or from zero on.
fn add_saturation(text: &mut String, format: &Format) {
    let name = format.name;
    // Of what is no number zero is left.
    let clamp = "%p = fcmp ogt float %v, 0.0\n  %u = select i1 %p, float %v, float 0.0\n  \
                 %q = fcmp olt float %u, 1.0\n  %w = select i1 %q, float %u, float 1.0\n  ";
    for (operation, instruction) in [("add", "fadd"), ("sub", "fsub"), ("mul", "fmul")] {
        let body = format!(
            "%v = {instruction} float %x, %y\n  {clamp}{}",
            rounded(format)
        );
        for rounding in ["", ".rn"] {
            let scalar = format!("{operation}{rounding}.sat.{name}");
            define(text, format, &scalar, &["a", "b"], &body);
            define_pair(text, &format!("{scalar}x2"), &scalar, &["a", "b"]);
        }
    }
    let sum = format!(
        "%f = call i16 @{PREFIX}asm.fma.rn.{name}(ptr %c, i16 %a, i16 %b, i16 %e)\n  \
         %v = call float @{PREFIX}asm.cvt.f32.{name}(ptr %c, i16 %f)\n  "
    );
    let positive = "%p = fcmp ole float %v, 0.0\n  %w = select i1 %p, float 0.0, float %v\n  ";
    for (ending, finish) in [("sat", clamp), ("relu", positive)] {
        let scalar = format!("fma.rn.{ending}.{name}");
        let body = format!("{sum}{finish}{}", rounded(format));
        define(text, format, &scalar, &["a", "b", "e"], &body);
        define_pair(text, &format!("{scalar}x2"), &scalar, &["a", "b", "e"]);
    }
}

/// Functions of one number.
fn add_functions(text: &mut String, format: &Format) {
    let name = format.name;
    let exponential = match name {
        "bf16" => "ex2.approx.ftz",
        _ => "ex2.approx",
    };
    for (function, called) in [("tanh.approx", "tanhf"), (exponential, "exp2f")] {
        let body = format!("%w = call float @{called}(float %x)\n  {}", rounded(format));
        let scalar = format!("{function}.{name}");
        define(text, format, &scalar, &["a"], &body);
        define_pair(text, &format!("{scalar}x2"), &scalar, &["a"]);
    }
}

/// Signs of pairs.
fn add_signs(text: &mut String, format: &Format) {
    let name = format.name;
    let mut signs = vec![("abs", "and", "2147450879")];
    if name == "bf16" {
        signs.push(("neg", "xor", "-2147450880"));
    }
    for (operation, instruction, mask) in signs {
        let _ = writeln!(
            text,
            "define internal i32 @{PREFIX}asm.{operation}.{name}x2(ptr %c, i32 %a) alwaysinline {{\n  \
             %r = {instruction} i32 %a, {mask}\n  ret i32 %r\n}}"
        );
    }
}

/// `%x`, `%y`, `%z`: the parameters as `float`.
fn widened(format: &Format, parameters: &[&str]) -> String {
    let names = ["x", "y", "z"];
    let each = parameters.iter().zip(names).map(|(parameter, wide)| {
        format!(
            "%{wide} = call float @{PREFIX}asm.cvt.f32.{}(ptr %c, i16 %{parameter})\n  ",
            format.name
        )
    });
    each.collect()
}

/// `%w` rounded to the result.
fn rounded(format: &Format) -> String {
    format!(
        "%r = call i16 @{PREFIX}asm.cvt.rn.{}.f32(ptr %c, float %w)",
        format.name
    )
}

/// A function of numbers, of which `body` makes `%r`.
fn define(text: &mut String, format: &Format, name: &str, parameters: &[&str], body: &str) {
    let list: String = parameters
        .iter()
        .map(|each| format!(", i16 %{each}"))
        .collect();
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}asm.{name}(ptr %c{list}) alwaysinline {{\n  {}{body}\n  ret i16 %r\n}}",
        widened(format, parameters)
    );
}

/// The same function of pairs.
fn define_pair(text: &mut String, name: &str, scalar: &str, parameters: &[&str]) {
    let list: String = parameters
        .iter()
        .map(|each| format!(", i32 %{each}"))
        .collect();
    let mut body = String::new();
    for each in parameters {
        let _ = write!(
            body,
            "%{each}.low = trunc i32 %{each} to i16\n  %{each}.moved = lshr i32 %{each}, 16\n  \
             %{each}.high = trunc i32 %{each}.moved to i16\n  "
        );
    }
    for part in ["low", "high"] {
        let given: String = parameters
            .iter()
            .map(|each| format!(", i16 %{each}.{part}"))
            .collect();
        let _ = write!(
            body,
            "%{part} = call i16 @{PREFIX}asm.{scalar}(ptr %c{given})\n  %{part}.wide = zext i16 %{part} to i32\n  "
        );
    }
    let _ = writeln!(
        text,
        "define internal i32 @{PREFIX}asm.{name}(ptr %c{list}) alwaysinline {{\n  {body}\
         %high.place = shl i32 %high.wide, 16\n  %r = or i32 %high.place, %low.wide\n  ret i32 %r\n}}"
    );
}
