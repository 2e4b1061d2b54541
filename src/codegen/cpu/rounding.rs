//! Arithmetic that rounds towards zero, down or up (`__fmul_rz`, `__dadd_ru`, `__double2float_rd`).
//!
//! The result is computed to nearest, together with a value that has the sign of what rounding left
//! out (by Dekker's and Knuth's error-free transformations, and Boldo's and Muller's for the fused
//! multiply-add); where that lies on the wrong side, the result is the neighbouring number. A result
//! that overflows is left infinite.

use super::functions::PREFIX;
use std::fmt::Write;

/// PTX's names of the directions.
const DIRECTIONS: [&str; 3] = ["rz", "rm", "rp"];

/// The error terms of each type, as a function of its operands and the result to nearest.
const ERRORS: &str = "
define internal T @sirius.error.sum.T(T %a, T %b, T %q) alwaysinline {
  %v = fsub T %q, %a
  %w = fsub T %q, %v
  %x = fsub T %a, %w
  %y = fsub T %b, %v
  %e = fadd T %x, %y
  ret T %e
}
define internal T @sirius.error.mul.T(T %a, T %b, T %q) alwaysinline {
  %n = fneg T %q
  %e = call T @llvm.fma.FN(T %a, T %b, T %n)
  ret T %e
}
define internal T @sirius.error.div.T(T %a, T %b, T %q) alwaysinline {
  %n = fneg T %q
  %r = call T @llvm.fma.FN(T %n, T %b, T %a)
  %s = call T @llvm.copysign.FN(T 1.0, T %b)
  %e = fmul T %r, %s
  ret T %e
}
define internal T @sirius.error.sqrt.T(T %a, T %q) alwaysinline {
  %n = fneg T %q
  %e = call T @llvm.fma.FN(T %n, T %q, T %a)
  ret T %e
}
define internal T @sirius.error.fma.T(T %a, T %b, T %c, T %q) alwaysinline {
  %p = fmul T %a, %b
  %pl = call T @sirius.error.mul.T(T %a, T %b, T %p)
  %u = fadd T %c, %pl
  %ul = call T @sirius.error.sum.T(T %c, T %pl, T %u)
  %v = fadd T %p, %u
  %vl = call T @sirius.error.sum.T(T %p, T %u, T %v)
  %d = fsub T %v, %q
  %m = fadd T %d, %vl
  %e = fadd T %m, %ul
  ret T %e
}
define internal T @sirius.step.down.T(T %q) alwaysinline {
  %bits = bitcast T %q to IN
  %negative = icmp slt IN %bits, 0
  %less = add IN %bits, -1
  %more = add IN %bits, 1
  %stepped = select i1 %negative, IN %more, IN %less
  %zero = fcmp oeq T %q, 0.0
  %r = select i1 %zero, IN LEAST, IN %stepped
  %t = bitcast IN %r to T
  ret T %t
}
define internal T @sirius.toward.rm.T(T %q, T %e) alwaysinline {
  %wrong = fcmp olt T %e, 0.0
  %d = call T @sirius.step.down.T(T %q)
  %r = select i1 %wrong, T %d, T %q
  ret T %r
}
define internal T @sirius.toward.rp.T(T %q, T %e) alwaysinline {
  %nq = fneg T %q
  %ne = fneg T %e
  %d = call T @sirius.toward.rm.T(T %nq, T %ne)
  %r = fneg T %d
  ret T %r
}
define internal T @sirius.toward.rz.T(T %q, T %e) alwaysinline {
  %positive = fcmp ogt T %q, 0.0
  %negative = fcmp olt T %q, 0.0
  %down = call T @sirius.toward.rm.T(T %q, T %e)
  %up = call T @sirius.toward.rp.T(T %q, T %e)
  %some = select i1 %negative, T %up, T %q
  %r = select i1 %positive, T %down, T %some
  ret T %r
}
";

/// Appends the definitions.
pub(super) fn add_directed_rounding(text: &mut String) {
    let types = [
        ("float", "f32", "i32", "-2147483647", "f"),
        ("double", "f64", "i64", "-9223372036854775807", "d"),
    ];
    for (ty, function, integer, least, suffix) in types {
        for name in ["fma", "copysign", "sqrt"] {
            let count = if name == "fma" {
                3
            } else {
                2 - usize::from(name == "sqrt")
            };
            let parameters = vec![ty; count].join(", ");
            let _ = writeln!(text, "declare {ty} @llvm.{name}.{function}({parameters})");
        }
        let errors = ERRORS
            .replace(" T ", &format!(" {ty} "))
            .replace("(T ", &format!("({ty} "))
            .replace(".T(", &format!(".{ty}("))
            .replace("to T\n", &format!("to {ty}\n"))
            .replace("FN", function)
            .replace("IN", integer)
            .replace("LEAST", least);
        text.push_str(&errors);
        for direction in DIRECTIONS {
            for flush in ["", ".ftz"] {
                if flush == ".ftz" && ty == "double" {
                    continue;
                }
                let nvvm = |name: &str| format!("llvm.nvvm.{name}.{direction}{flush}.{suffix}");
                let mut define = |name: &str, operands: &[&str], result: &str, error: &str| {
                    let list: Vec<String> = operands
                        .iter()
                        .map(|operand| format!("{ty} {operand}"))
                        .collect();
                    let _ = writeln!(
                        text,
                        "define internal {ty} @{PREFIX}{name}(ptr %ctx, {}) alwaysinline {{\n  \
                         {result}\n  \
                         %e = call {ty} @{PREFIX}error.{error}, {ty} %q)\n  \
                         %r = call {ty} @{PREFIX}toward.{direction}.{ty}({ty} %q, {ty} %e)\n  \
                         {}ret {ty} %z\n}}",
                        list.join(", "),
                        zero_of_sum(name, direction, (ty, integer)),
                    );
                };
                let two = ["%a", "%b"];
                let sum = format!("sum.{ty}({ty} %a, {ty} %b");
                define(&nvvm("add"), &two, &format!("%q = fadd {ty} %a, %b"), &sum);
                let difference = format!("%n = fneg {ty} %b\n  %q = fadd {ty} %a, %n");
                let assembly = format!("asm.sub.{direction}{flush}.{function}");
                define(
                    &assembly,
                    &two,
                    &difference,
                    &format!("sum.{ty}({ty} %a, {ty} %n"),
                );
                let product = format!("mul.{ty}({ty} %a, {ty} %b");
                define(
                    &nvvm("mul"),
                    &two,
                    &format!("%q = fmul {ty} %a, %b"),
                    &product,
                );
                let quotient = format!("div.{ty}({ty} %a, {ty} %b");
                define(
                    &nvvm("div"),
                    &two,
                    &format!("%q = fdiv {ty} %a, %b"),
                    &quotient,
                );
                let reciprocal = format!("div.{ty}({ty} 1.0, {ty} %b");
                define(
                    &nvvm("rcp"),
                    &["%b"],
                    &format!("%q = fdiv {ty} 1.0, %b"),
                    &reciprocal,
                );
                let root = format!("%q = call {ty} @llvm.sqrt.{function}({ty} %a)");
                define(&nvvm("sqrt"), &["%a"], &root, &format!("sqrt.{ty}({ty} %a"));
                let all = format!("({ty} %a, {ty} %b, {ty} %c");
                define(
                    &nvvm("fma"),
                    &["%a", "%b", "%c"],
                    &format!("%q = call {ty} @llvm.fma.{function}{all})"),
                    &format!("fma.{ty}{all}"),
                );
            }
        }
    }
    for direction in DIRECTIONS {
        add_conversions(text, direction);
    }
}

/// `%z`, the result: a sum of opposite numbers, which is zero to nearest, is -0 downwards.
fn zero_of_sum(name: &str, direction: &str, (ty, integer): (&str, &str)) -> String {
    let second = match (direction, name.contains(".add."), name.contains(".sub.")) {
        ("rm", true, _) => "%b",
        ("rm", _, true) => "%n",
        _ => return format!("%z = fadd {ty} %r, -0.0\n  "),
    };
    format!(
        "%zero = fcmp oeq {ty} %q, 0.0\n  %i = bitcast {ty} %a to {integer}\n  \
         %j = bitcast {ty} {second} to {integer}\n  %ij = or {integer} %i, %j\n  \
         %some = icmp slt {integer} %ij, 0\n  %is = and i1 %zero, %some\n  \
         %z = select i1 %is, {ty} -0.0, {ty} %r\n  "
    )
}

/// Conversions to a narrower type: the error is what converting back misses.
fn add_conversions(text: &mut String, direction: &str) {
    for flush in ["", ".ftz"] {
        let _ = writeln!(
            text,
            "define internal float @{PREFIX}llvm.nvvm.d2f.{direction}{flush}(ptr %ctx, double %a) \
             alwaysinline {{\n  \
             %q = fptrunc double %a to float\n  \
             %back = fpext float %q to double\n  \
             %d = fsub double %a, %back\n  \
             %above = fcmp ogt double %d, 0.0\n  \
             %below = fcmp olt double %d, 0.0\n  \
             %s = select i1 %above, float 1.0, float 0.0\n  \
             %e = select i1 %below, float -1.0, float %s\n  \
             %r = call float @{PREFIX}toward.{direction}.float(float %q, float %e)\n  \
             ret float %r\n}}"
        );
    }
    let conversions = [
        ("i2f", "sitofp", "i32", "float"),
        ("ui2f", "uitofp", "i32", "float"),
        ("ll2f", "sitofp", "i64", "float"),
        ("ull2f", "uitofp", "i64", "float"),
        ("ll2d", "sitofp", "i64", "double"),
        ("ull2d", "uitofp", "i64", "double"),
    ];
    for (name, convert, integer, ty) in conversions {
        let (extend, back) = match convert {
            "sitofp" => ("sext", "fptosi"),
            _ => ("zext", "fptoui"),
        };
        let _ = writeln!(
            text,
            "define internal {ty} @{PREFIX}llvm.nvvm.{name}.{direction}(ptr %ctx, {integer} %a) \
             alwaysinline {{\n  \
             %q = {convert} {integer} %a to {ty}\n  \
             %back = {back} {ty} %q to i128\n  \
             %wide = {extend} {integer} %a to i128\n  \
             %above = icmp sgt i128 %wide, %back\n  \
             %below = icmp slt i128 %wide, %back\n  \
             %s = select i1 %above, {ty} 1.0, {ty} 0.0\n  \
             %e = select i1 %below, {ty} -1.0, {ty} %s\n  \
             %r = call {ty} @{PREFIX}toward.{direction}.{ty}({ty} %q, {ty} %e)\n  \
             ret {ty} %r\n}}"
        );
    }
}
