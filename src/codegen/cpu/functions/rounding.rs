//! Arithmetic that rounds towards zero, down or up (`__fmul_rz`, `__dadd_ru`, `__double2float_rd`).
//!
//! Floats are computed in double precision, as a number and what it misses, whose sum is exact in sign; then they are
//! rounded once. So overflows and numbers below the least normal one are rounded as they have to be.
//!
//! Doubles are computed to nearest, together with a value that has the sign of what rounding left
//! out (by Dekker's and Knuth's error-free transformations, and Boldo's and Muller's for the fused
//! multiply-add); where that lies on the wrong side, the result is the neighbouring number. Where that value itself
//! is too small to be a number, below about 1e-290, the result is the nearest one.

use super::super::functions::PREFIX;
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
pub(in crate::codegen::cpu) fn add_directed_rounding(text: &mut String) {
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
        if ty == "float" {
            continue;
        }
        for direction in DIRECTIONS {
            let nvvm = |name: &str| format!("llvm.nvvm.{name}.{direction}.{suffix}");
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
                     {}{}ret {ty} %o\n}}",
                    list.join(", "),
                    zero_of_sum(name, direction),
                    overflow(name, direction, operands),
                );
            };
            let two = ["%a", "%b"];
            let sum = format!("sum.{ty}({ty} %a, {ty} %b");
            define(&nvvm("add"), &two, &format!("%q = fadd {ty} %a, %b"), &sum);
            let difference = format!("%n = fneg {ty} %b\n  %q = fadd {ty} %a, %n");
            let assembly = format!("asm.sub.{direction}.{function}");
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
    for direction in DIRECTIONS {
        add_floats(text, direction);
    }
    for direction in DIRECTIONS {
        add_conversions(text, direction);
    }
}

/// `%z`, the result: a sum of opposite numbers, which is zero to nearest, is -0 downwards.
fn zero_of_sum(name: &str, direction: &str) -> String {
    let signs = match (direction, name) {
        ("rm", name) if name.contains(".add.") => {
            "%i = bitcast double %a to i64\n  %j = bitcast double %b to i64\n  "
        }
        ("rm", name) if name.contains(".sub.") => {
            "%i = bitcast double %a to i64\n  %j = bitcast double %n to i64\n  "
        }
        ("rm", name) if name.contains(".fma.") => {
            "%x = bitcast double %a to i64\n  %y = bitcast double %b to i64\n  %i = xor i64 %x, %y\n  \
             %j = bitcast double %c to i64\n  "
        }
        _ => return "%z = fadd double %r, -0.0\n  ".to_owned(),
    };
    format!(
        "%none = fcmp oeq double %q, 0.0\n  %exact = fcmp oeq double %e, 0.0\n  %zero = and i1 %none, %exact\n  \
         {signs}%ij = or i64 %i, %j\n  \
         %some = icmp slt i64 %ij, 0\n  %is = and i1 %zero, %some\n  \
         %z = select i1 %is, double -0.0, double %r\n  "
    )
}

/// `%o`, the result: what is beyond all numbers is the last of them, but where the rounding leads away from zero.
fn overflow(name: &str, direction: &str, operands: &[&str]) -> String {
    let mut text = String::from(
        "%size = call double @llvm.fabs.f64(double %q)\n  %f0 = fcmp oeq double %size, 0x7FF0000000000000\n  ",
    );
    for (number, operand) in operands.iter().enumerate() {
        let _ = write!(
            text,
            "%s{number} = call double @llvm.fabs.f64(double {operand})\n  \
             %l{number} = fcmp olt double %s{number}, 0x7FF0000000000000\n  \
             %f{} = and i1 %f{number}, %l{number}\n  ",
            number + 1
        );
    }
    // A quotient by zero is no number that is too large.
    let divided = match name.contains(".div.") || name.contains(".rcp.") {
        true => "fcmp one double %b, 0.0",
        false => "fcmp oeq double 0.0, 0.0",
    };
    let outward = match direction {
        "rm" => "fcmp olt double %q, 0.0",
        "rp" => "fcmp ogt double %q, 0.0",
        _ => "fcmp uno double 0.0, 0.0",
    };
    let _ = write!(
        text,
        "%outward = {outward}\n  %inward = xor i1 %outward, true\n  \
         %divided = {divided}\n  %some.over = and i1 %f{}, %inward\n  \
         %over = and i1 %some.over, %divided\n  \
         %last = call double @llvm.copysign.f64(double 0x7FEFFFFFFFFFFFFF, double %q)\n  \
         %o = select i1 %over, double %last, double %z\n  ",
        operands.len()
    );
    text
}

/// Operations on floats, as a double `%s` and what it misses, `%e`.
fn add_floats(text: &mut String, direction: &str) {
    // The number to nearest, or the last one, and the side that the exact one is on.
    let _ = writeln!(
        text,
        "define internal float @{PREFIX}toward.{direction}.exact(double %s, double %e) alwaysinline {{\n  \
         %near = fptrunc double %s to float\n  \
         %size = call float @llvm.fabs.f32(float %near)\n  \
         %beyond = fcmp oeq float %size, 0x7FF0000000000000\n  \
         %whole = call double @llvm.fabs.f64(double %s)\n  \
         %finite = fcmp olt double %whole, 0x7FF0000000000000\n  \
         %over = and i1 %beyond, %finite\n  \
         %last = call float @llvm.copysign.f32(float 0x47EFFFFFE0000000, float %near)\n  \
         %q = select i1 %over, float %last, float %near\n  \
         %back = fpext float %q to double\n  \
         %d = fsub double %s, %back\n  \
         %t = fadd double %d, %e\n  \
         %above = fcmp ogt double %t, 0.0\n  \
         %below = fcmp olt double %t, 0.0\n  \
         %up = select i1 %above, float 1.0, float 0.0\n  \
         %side = select i1 %below, float -1.0, float %up\n  \
         %r = call float @{PREFIX}toward.{direction}.float(float %q, float %side)\n  \
         ret float %r\n}}"
    );
    let sum = "%s = fadd double %A, %B\n  \
               %e = call double @sirius.error.sum.double(double %A, double %B, double %s)";
    let quotient = "%s = fdiv double %A, %B\n  %n = fneg double %s\n  \
                    %left = call double @llvm.fma.f64(double %n, double %B, double %A)\n  \
                    %e = fdiv double %left, %B";
    let root = "%s = call double @llvm.sqrt.f64(double %A)\n  %n = fneg double %s\n  \
                %left = call double @llvm.fma.f64(double %n, double %s, double %A)\n  \
                %e = fdiv double %left, %s";
    let product = "%s = fmul double %A, %B\n  %e = fadd double 0.0, 0.0";
    let fused = "%p = fmul double %A, %B\n  %s = fadd double %p, %C\n  \
                 %e = call double @sirius.error.sum.double(double %p, double %C, double %s)";
    for flush in ["", ".ftz"] {
        let nvvm = |name: &str| format!("llvm.nvvm.{name}.{direction}{flush}.f");
        let subtract = format!("asm.sub.{direction}{flush}.f32");
        let turned = format!("%m = fneg double %B0\n  %B = fadd double %m, -0.0\n  {sum}");
        let inverse = format!("%A = fadd double 1.0, -0.0\n  {quotient}");
        let rows: [(String, &[&str], &str, &str); 7] = [
            (nvvm("add"), &["A", "B"], sum, "A B"),
            (subtract, &["A", "B0"], &turned, "A B"),
            (nvvm("mul"), &["A", "B"], product, ""),
            (nvvm("div"), &["A", "B"], quotient, ""),
            (nvvm("rcp"), &["B"], &inverse, ""),
            (nvvm("sqrt"), &["A"], root, ""),
            (nvvm("fma"), &["A", "B", "C"], fused, "p C"),
        ];
        for (name, operands, body, addends) in rows {
            let parameters: Vec<String> = operands
                .iter()
                .map(|name| format!("float %{name}.f"))
                .collect();
            let _ = writeln!(
                text,
                "define internal float @{PREFIX}{name}(ptr %ctx, {}) alwaysinline {{",
                parameters.join(", ")
            );
            for operand in operands {
                let _ = writeln!(text, "  %{operand} = fpext float %{operand}.f to double");
            }
            let _ = writeln!(
                text,
                "  {body}\n  %r = call float @{PREFIX}toward.{direction}.exact(double %s, double %e)"
            );
            match addends.split_once(' ').filter(|_| direction == "rm") {
                // A sum of opposite numbers is -0 downwards.
                Some((one, other)) => {
                    let _ = writeln!(
                        text,
                        "  %zero = fcmp oeq double %s, 0.0\n  \
                         %i = bitcast double %{one} to i64\n  %j = bitcast double %{other} to i64\n  \
                         %ij = or i64 %i, %j\n  %some = icmp slt i64 %ij, 0\n  \
                         %is = and i1 %zero, %some\n  \
                         %z = select i1 %is, float -0.0, float %r\n  ret float %z\n}}"
                    );
                }
                None => text.push_str("  ret float %r\n}\n"),
            }
        }
    }
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
