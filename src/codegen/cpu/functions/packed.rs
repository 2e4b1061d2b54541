//! PTX's instructions on four bytes or two halves of a word (`vadd4`, `vabsdiff2`, `vset4`, …),
//! behind `__vadd4`, `__vsadu4`, `__vcmpeq2` and their like, and the sums of products of bytes behind
//! `__dp4a` and `__dp2a_lo`.

use super::super::functions::PREFIX;
use std::fmt::Write;

/// Appends the definitions.
pub(in crate::codegen::cpu) fn add_packed_arithmetic(text: &mut String) {
    for (lanes, bits) in [(2, 16), (4, 8)] {
        let vector = format!("<{lanes} x i32>");
        for name in ["smin", "smax", "umin", "umax"] {
            let _ = writeln!(
                text,
                "declare {vector} @llvm.{name}.v{lanes}i32({vector}, {vector})"
            );
        }
        let _ = writeln!(text, "declare {vector} @llvm.abs.v{lanes}i32({vector}, i1)");
        let _ = writeln!(
            text,
            "declare i32 @llvm.vector.reduce.add.v{lanes}i32({vector})"
        );
        for (sign, signed) in [("s32", true), ("u32", false)] {
            for operation in ["add", "sub", "avrg", "absdiff", "min", "max"] {
                let name = format!("v{operation}{lanes}.{sign}.{sign}.{sign}");
                let compute = arithmetic(operation, signed);
                for ending in ["", ".sat", ".add"] {
                    let finish = match ending {
                        ".sat" => Finish::Saturate,
                        ".add" => Finish::Accumulate,
                        _ => Finish::Pack,
                    };
                    define(
                        text,
                        &format!("{name}{ending}"),
                        lanes,
                        bits,
                        signed,
                        &compute,
                        finish,
                    );
                }
            }
            for comparison in ["eq", "ne", "lt", "le", "gt", "ge"] {
                let name = format!("vset{lanes}.{sign}.{sign}.{comparison}");
                let predicate = match (comparison, signed) {
                    ("eq" | "ne", _) => comparison.to_owned(),
                    (_, true) => format!("s{comparison}"),
                    (_, false) => format!("u{comparison}"),
                };
                let compute = format!(
                    "%truth = icmp {predicate} VECTOR %x, %y\n  \
                     %v = zext <LANES x i1> %truth to VECTOR\n"
                );
                define(text, &name, lanes, bits, signed, &compute, Finish::Pack);
                let name = format!("{name}.add");
                define(
                    text,
                    &name,
                    lanes,
                    bits,
                    signed,
                    &compute,
                    Finish::Accumulate,
                );
            }
        }
    }
}

/// Appends `dp4a` and `dp2a`: the third operand and the products of four bytes with four, or of two
/// halves with the low or high two bytes, each operand with a sign of its own.
pub(in crate::codegen::cpu) fn add_sums_of_products(text: &mut String) {
    let signs = [("s32", "sext"), ("u32", "zext")];
    for (a_sign, a_extend) in signs {
        for (b_sign, b_extend) in signs {
            for (name, a_narrow, b_part, lanes) in [
                ("dp4a", "<4 x i8>", [0, 1, 2, 3].as_slice(), 4),
                ("dp2a.lo", "<2 x i16>", &[0, 1], 2),
                ("dp2a.hi", "<2 x i16>", &[2, 3], 2),
            ] {
                let wide = format!("<{lanes} x i32>");
                let picked: Vec<String> = b_part.iter().map(|byte| format!("i32 {byte}")).collect();
                let picked = picked.join(", ");
                let _ = writeln!(
                    text,
                    "define internal i32 @{PREFIX}asm.{name}.{a_sign}.{b_sign}\
                     (ptr %ctx, i32 %a, i32 %b, i32 %c) alwaysinline {{\n  \
                     %pa = bitcast i32 %a to {a_narrow}\n  %bytes = bitcast i32 %b to <4 x i8>\n  \
                     %pb = shufflevector <4 x i8> %bytes, <4 x i8> poison, {wide} <{picked}>\n  \
                     %x = {a_extend} {a_narrow} %pa to {wide}\n  \
                     %y = {b_extend} <{lanes} x i8> %pb to {wide}\n  \
                     %p = mul {wide} %x, %y\n  \
                     %t = call i32 @llvm.vector.reduce.add.v{lanes}i32({wide} %p)\n  \
                     %r = add i32 %t, %c\n  ret i32 %r\n}}"
                );
            }
        }
    }
}

/// What becomes of the lanes, which are computed in 32 bits each.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finish {
    /// Their low bits are the result.
    Pack,
    /// They are brought into range first.
    Saturate,
    /// Their sum is added to the third operand.
    Accumulate,
}

/// The lanes `%v` of the result from the lanes `%x` and `%y`.
fn arithmetic(operation: &str, signed: bool) -> String {
    let sign = if signed { 's' } else { 'u' };
    match operation {
        "add" => "%v = add VECTOR %x, %y\n".to_owned(),
        "sub" => "%v = sub VECTOR %x, %y\n".to_owned(),
        // Halves are rounded away from zero.
        "avrg" => "%sum = add VECTOR %x, %y\n  \
             %negative = lshr VECTOR %sum, splat (i32 31)\n  \
             %up = xor VECTOR %negative, splat (i32 1)\n  \
             %even = add VECTOR %sum, %up\n  \
             %v = ashr VECTOR %even, splat (i32 1)\n"
            .to_owned(),
        "absdiff" => "%d = sub VECTOR %x, %y\n  \
             %v = call VECTOR @llvm.abs.vLANESi32(VECTOR %d, i1 false)\n"
            .to_owned(),
        _ => format!("%v = call VECTOR @llvm.{sign}{operation}.vLANESi32(VECTOR %x, VECTOR %y)\n"),
    }
}

fn define(
    text: &mut String,
    name: &str,
    lanes: u32,
    bits: u32,
    signed: bool,
    compute: &str,
    finish: Finish,
) {
    let extend = if signed { "sext" } else { "zext" };
    let narrow = format!("<{lanes} x i{bits}>");
    let last = match finish {
        Finish::Pack => {
            format!("%p = trunc VECTOR %v to {narrow}\n  %r = bitcast {narrow} %p to i32\n")
        }
        Finish::Saturate => {
            let (low, high) = match signed {
                true => (-(1_i64 << (bits - 1)), (1_i64 << (bits - 1)) - 1),
                false => (0, (1_i64 << bits) - 1),
            };
            format!(
                "%m = call VECTOR @llvm.smax.vLANESi32(VECTOR %v, VECTOR splat (i32 {low}))\n  \
                 %n = call VECTOR @llvm.smin.vLANESi32(VECTOR %m, VECTOR splat (i32 {high}))\n  \
                 %p = trunc VECTOR %n to {narrow}\n  %r = bitcast {narrow} %p to i32\n"
            )
        }
        Finish::Accumulate => "%t = call i32 @llvm.vector.reduce.add.vLANESi32(VECTOR %v)\n  \
             %r = add i32 %t, %c\n"
            .to_owned(),
    };
    let body = format!(
        "define internal i32 @{PREFIX}asm.{name}(ptr %ctx, i32 %a, i32 %b, i32 %c) alwaysinline {{\n  \
         %pa = bitcast i32 %a to {narrow}\n  %pb = bitcast i32 %b to {narrow}\n  \
         %x = {extend} {narrow} %pa to VECTOR\n  %y = {extend} {narrow} %pb to VECTOR\n  \
         {compute}  {last}  ret i32 %r\n}}"
    );
    let body = body
        .replace("VECTOR", &format!("<{lanes} x i32>"))
        .replace("LANES", &lanes.to_string());
    let _ = writeln!(text, "{body}");
}
