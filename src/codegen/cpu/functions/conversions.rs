//! PTX's `cvt` between numbers: whole ones of 8 to 64 bits, half precision, bfloat16, `float` and `double`, with
//! every rounding that PTX has for the pair. Halves travel as 16-bit integers.
//!
//! Invariant: a result is rounded once. Where there is a step between, it rounds to odd: what it leaves out shows in
//! its last bit, so that the next rounding sees neither a tie nor an exact number where there is none.

use super::super::functions::PREFIX;
use std::fmt::Write;

/// A type of numbers with a point.
#[derive(Clone, Copy)]
struct Float {
    /// PTX's name of the type.
    name: &'static str,
    /// LLVM's, of what it travels as.
    register: &'static str,
    /// LLVM's type, and its ending, that it is computed in.
    wide: (&'static str, &'static str),
}

const FLOAT: (&str, &str) = ("float", "f32");
const HALVES: [Float; 2] = [half("f16"), half("bf16")];
const SINGLE: Float = Float {
    name: "f32",
    register: "float",
    wide: FLOAT,
};
const DOUBLE: Float = Float {
    name: "f64",
    register: "double",
    wide: ("double", "f64"),
};

const fn half(name: &'static str) -> Float {
    Float {
        name,
        register: "i16",
        wide: FLOAT,
    }
}

/// A type of whole numbers.
#[derive(Clone, Copy)]
struct Whole {
    bits: u32,
    signed: bool,
}

impl Whole {
    fn name(self) -> String {
        format!("{}{}", if self.signed { 's' } else { 'u' }, self.bits)
    }

    /// The first letters of LLVM's instructions for signed and unsigned numbers.
    fn letter(self) -> char {
        if self.signed { 's' } else { 'u' }
    }
}

/// Roundings to a whole number, and LLVM's functions.
const TO_WHOLE: [(&str, &str); 4] = [
    ("rni", "roundeven"),
    ("rzi", "trunc"),
    ("rmi", "floor"),
    ("rpi", "ceil"),
];

/// Roundings to a number with a point: to the nearest, towards zero, down, up.
const ROUNDINGS: [&str; 4] = ["rn", "rz", "rm", "rp"];

/// Appends the definitions.
pub(in crate::codegen::cpu) fn add_conversions(text: &mut String) {
    declare(text);
    add_odd_rounding(text);
    for float in [HALVES[0], HALVES[1], SINGLE, DOUBLE] {
        for (rounding, function) in TO_WHOLE {
            add_whole_part(text, float, (rounding, function));
            for whole in whole_numbers() {
                add_to_whole(text, float, whole, (rounding, function));
            }
        }
    }
    for rounding in ROUNDINGS {
        for half in HALVES {
            if rounding != "rn" {
                add_directed(text, half, rounding);
            }
            let other = HALVES[usize::from(half.name == "f16")];
            let body = widen(other);
            narrow(text, half, rounding, (other.name, other.register), &body);
            let body = format!("%f = call float @{PREFIX}float.odd(double %a)\n  ");
            narrow(text, half, rounding, ("f64", "double"), &body);
            for whole in whole_numbers() {
                let body = format!(
                    "{}%f = call float @{PREFIX}float.odd(double %w)\n  ",
                    odd_double(whole)
                );
                let from = (&*whole.name(), &*format!("i{}", whole.bits));
                narrow(text, half, rounding, from, &body);
            }
        }
        for whole in whole_numbers() {
            add_from_whole(text, whole, rounding);
        }
    }
    add_single_and_double(text);
}

fn whole_numbers() -> impl Iterator<Item = Whole> {
    [8, 16, 32, 64]
        .into_iter()
        .flat_map(|bits| [true, false].map(|signed| Whole { bits, signed }))
}

/// LLVM's functions that the definitions call.
fn declare(text: &mut String) {
    for (ty, ending) in [FLOAT, DOUBLE.wide] {
        let mut declarations = vec![format!("declare {ty} @llvm.fabs.{ending}({ty})\n")];
        for (_, function) in TO_WHOLE {
            declarations.push(format!("declare {ty} @llvm.{function}.{ending}({ty})\n"));
        }
        for whole in whole_numbers() {
            let Whole { bits, .. } = whole;
            declarations.push(format!(
                "declare i{bits} @llvm.fpto{}i.sat.i{bits}.{ending}({ty})\n",
                whole.letter()
            ));
        }
        text.extend(declarations);
    }
}

/// A `double` as `float`; of two neighbours the odd one, if it lies between them.
fn add_odd_rounding(text: &mut String) {
    let _ = writeln!(
        text,
        "define internal float @{PREFIX}float.odd(double %w) alwaysinline {{\n  \
         %n = fptrunc double %w to float\n  %e = fpext float %n to double\n  \
         %b = bitcast float %n to i32\n  %l = fcmp one double %e, %w\n  \
         %m = call double @llvm.fabs.f64(double %e)\n  %k = call double @llvm.fabs.f64(double %w)\n  \
         %o = fcmp ogt double %m, %k\n  %p = zext i1 %o to i32\n  %q = sub i32 %b, %p\n  \
         %s = zext i1 %l to i32\n  %t = or i32 %q, %s\n  %f = bitcast i32 %t to float\n  ret float %f\n}}"
    );
}

/// `%w`: the whole number `%a` as `double`. Of 64 bits those that a `double` may lack are one, which is odd.
fn odd_double(whole: Whole) -> String {
    let Whole { bits, signed } = whole;
    let cast = format!("{}itofp i{bits}", whole.letter());
    if bits < 64 {
        return format!("%w = {cast} %a to double\n  ");
    }
    let (shifted, limit) = match signed {
        true => ("add i64 %a, 9007199254740992", "18014398509481984"),
        false => ("add i64 %a, 0", "9007199254740992"),
    };
    format!(
        "%x = {shifted}\n  %y = icmp ult i64 %x, {limit}\n  %low = and i64 %a, 2047\n  \
         %some = icmp ne i64 %low, 0\n  %high = and i64 %a, -2048\n  %odd = or i64 %high, 2048\n  \
         %kept = select i1 %some, i64 %odd, i64 %high\n  %exact = select i1 %y, i64 %a, i64 %kept\n  \
         %w = {cast} %exact to double\n  "
    )
}

/// `%f`: the number `%a` in the type that it is computed in.
fn widen(float: Float) -> String {
    let Float {
        name,
        register,
        wide: (wide, _),
    } = float;
    match register {
        "i16" => format!("%f = call float @{PREFIX}asm.cvt.f32.{name}(ptr %c, i16 %a)\n  "),
        _ => format!("%f = fadd {wide} %a, -0.0\n  "),
    }
}

/// `cvt.rni.f16.f16` and its like.
fn add_whole_part(text: &mut String, float: Float, (rounding, function): (&str, &str)) {
    let Float {
        name,
        register,
        wide: (wide, ending),
    } = float;
    let result = match register {
        "i16" => format!("%r = call i16 @{PREFIX}asm.cvt.rn.{name}.f32(ptr %c, float %x)\n  "),
        _ => format!("%r = fadd {wide} %x, -0.0\n  "),
    };
    for flush in flushes(float) {
        let _ = writeln!(
            text,
            "define internal {register} @{PREFIX}asm.cvt.{rounding}{flush}.{name}.{name}(ptr %c, {register} %a) \
             alwaysinline {{\n  {}%x = call {wide} @llvm.{function}.{ending}({wide} %f)\n  {result}\
             ret {register} %r\n}}",
            widen(float)
        );
    }
}

/// `cvt.rni.s32.f16` and its like. What does not fit becomes the nearest number that does. Of what is no number zero
/// is left, and the highest bit where one of the two has 64 bits. Registers are wider than bytes and shorts.
fn add_to_whole(text: &mut String, float: Float, whole: Whole, (rounding, function): (&str, &str)) {
    let Float {
        name,
        register,
        wide: (wide, ending),
    } = float;
    let Whole { bits, signed } = whole;
    let none = match bits == 64 || name == "f64" {
        true => format!(
            "%none = fcmp uno {wide} %f, 0.0\n  %i = select i1 %none, i{bits} {}, i{bits} %t\n  ",
            i64::MIN >> (64 - bits)
        ),
        false => format!("%i = add i{bits} %t, 0\n  "),
    };
    let result = bits.max(32);
    let extended = match (bits < 32, signed) {
        (true, true) => format!("%r = sext i{bits} %i to i32\n  "),
        (true, false) => format!("%r = zext i{bits} %i to i32\n  "),
        (false, _) => format!("%r = add i{bits} %i, 0\n  "),
    };
    for flush in flushes(float) {
        let _ = writeln!(
            text,
            "define internal i{result} @{PREFIX}asm.cvt.{rounding}{flush}.{}.{name}(ptr %c, {register} %a) \
             alwaysinline {{\n  {}%x = call {wide} @llvm.{function}.{ending}({wide} %f)\n  \
             %t = call i{bits} @llvm.fpto{}i.sat.i{bits}.{ending}({wide} %x)\n  {none}{extended}ret i{result} %r\n}}",
            whole.name(),
            widen(float),
            whole.letter()
        );
    }
}

/// Endings of the rounding; that subnormal numbers are zero makes no difference here.
fn flushes(float: Float) -> &'static [&'static str] {
    match float.name {
        "f32" => &["", ".ftz"],
        _ => &[""],
    }
}

/// `cvt.rm.f16.f32` and its like: what rounding to the nearest makes of a number, or its neighbour.
fn add_directed(text: &mut String, half: Float, rounding: &str) {
    let name = half.name;
    // A number away from zero has larger bits, whatever its sign.
    let step = match rounding {
        "rm" => "%o = fcmp ogt float %y, %a\n  %d = select i1 %s, i16 1, i16 -1\n  ",
        "rp" => "%o = fcmp olt float %y, %a\n  %d = select i1 %s, i16 -1, i16 1\n  ",
        _ => {
            "%m = call float @llvm.fabs.f32(float %y)\n  %k = call float @llvm.fabs.f32(float %a)\n  \
             %o = fcmp ogt float %m, %k\n  %d = select i1 %o, i16 -1, i16 0\n  "
        }
    };
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}asm.cvt.{rounding}.{name}.f32(ptr %c, float %a) alwaysinline {{\n  \
         %n = call i16 @{PREFIX}asm.cvt.rn.{name}.f32(ptr %c, float %a)\n  \
         %y = call float @{PREFIX}asm.cvt.f32.{name}(ptr %c, i16 %n)\n  \
         %s = icmp slt i16 %n, 0\n  {step}%g = select i1 %o, i16 %d, i16 0\n  \
         %r = add i16 %n, %g\n  ret i16 %r\n}}"
    );
}

/// A conversion to a half, of `%a` as the `float` `%f`, which `body` makes.
fn narrow(
    text: &mut String,
    half: Float,
    rounding: &str,
    (from, register): (&str, &str),
    body: &str,
) {
    let name = half.name;
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}asm.cvt.{rounding}.{name}.{from}(ptr %c, {register} %a) alwaysinline {{\n  \
         {body}%r = call i16 @{PREFIX}asm.cvt.{rounding}.{name}.f32(ptr %c, float %f)\n  ret i16 %r\n}}"
    );
}

/// `cvt.rz.f32.s32` and its like: exact, to the nearest as LLVM does it, or as the intrinsic of the same meaning.
fn add_from_whole(text: &mut String, whole: Whole, rounding: &str) {
    let Whole { bits, signed } = whole;
    for (float, exact) in [(SINGLE, 16), (DOUBLE, 32)] {
        let ty = float.register;
        let convert = match bits <= exact || rounding == "rn" {
            true => format!("%r = {}itofp i{bits} %a to {ty}", whole.letter()),
            false => format!(
                "%r = call {ty} @{PREFIX}llvm.nvvm.{}{}2{}.{rounding}(ptr %c, i{bits} %a)",
                if signed { "" } else { "u" },
                if bits == 64 { "ll" } else { "i" },
                &ty[..1]
            ),
        };
        let _ = writeln!(
            text,
            "define internal {ty} @{PREFIX}asm.cvt.{rounding}.{}.{}(ptr %c, i{bits} %a) alwaysinline {{\n  \
             {convert}\n  ret {ty} %r\n}}",
            float.name,
            whole.name()
        );
    }
}

/// `float` and `double`, and halves as `double`.
fn add_single_and_double(text: &mut String) {
    for half in HALVES {
        let _ = writeln!(
            text,
            "define internal double @{PREFIX}asm.cvt.f64.{}(ptr %c, i16 %a) alwaysinline {{\n  {}\
             %r = fpext float %f to double\n  ret double %r\n}}",
            half.name,
            widen(half)
        );
    }
    for flush in flushes(SINGLE) {
        let _ = writeln!(
            text,
            "define internal double @{PREFIX}asm.cvt{flush}.f64.f32(ptr %c, float %a) alwaysinline {{\n  \
             %r = fpext float %a to double\n  ret double %r\n}}"
        );
        for rounding in ROUNDINGS {
            let _ = writeln!(
                text,
                "define internal float @{PREFIX}asm.cvt.{rounding}{flush}.f32.f64(ptr %c, double %a) alwaysinline {{\n  \
                 %r = call float @{PREFIX}llvm.nvvm.d2f.{rounding}(ptr %c, double %a)\n  ret float %r\n}}"
            );
        }
    }
}
