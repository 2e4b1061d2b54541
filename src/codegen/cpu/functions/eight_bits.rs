//! Numbers with a point in eight bits, as `cuda_fp8.h` converts them in pairs: `e4m3` has no infinity, `e5m2` is the
//! upper half of a half. What is too large becomes the largest number; of what is no number one pattern is left.

use super::super::functions::PREFIX;
use std::fmt::Write;

struct Format {
    name: &'static str,
    /// Places of the mantissa.
    places: u32,
    /// What is added to the exponent.
    bias: u32,
    /// The largest number's pattern.
    largest: u32,
    /// From a pattern without its sign, moved to where a half has its mantissa, to the number.
    scale: &'static str,
}

const FORMATS: [Format; 2] = [
    Format {
        name: "e4m3",
        places: 3,
        bias: 7,
        largest: 0x7e,
        scale: "256.0",
    },
    Format {
        name: "e5m2",
        places: 2,
        bias: 15,
        largest: 0x7b,
        scale: "1.0",
    },
];

/// The pattern of what is no number.
const NONE: u32 = 0x7f;

/// Appends the definitions.
pub(in crate::codegen::cpu) fn add_eight_bits(text: &mut String) {
    for format in &FORMATS {
        add_from_float(text, format);
        add_to_half(text, format);
        add_pairs(text, format.name);
    }
}

/// A `float` to eight bits, to the nearest. Below the least normal number, patterns count a fixed step.
fn add_from_float(text: &mut String, format: &Format) {
    let Format {
        name,
        places,
        bias,
        largest,
        ..
    } = format;
    let moved = 23 - places;
    let least = f64::exp2(1.0 - f64::from(*bias));
    let steps = f64::exp2(f64::from(bias - 1 + places));
    let (least, steps) = (least.to_bits(), steps.to_bits());
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}eight.of.{name}(float %a) alwaysinline {{\n  \
         %b = bitcast float %a to i32\n  %size = and i32 %b, 2147483647\n  %x = bitcast i32 %size to float\n  \
         %whole = lshr i32 %size, {moved}\n  %even = and i32 %whole, 1\n  \
         %half = add i32 %size, {}\n  %tie = add i32 %half, %even\n  %kept = lshr i32 %tie, {moved}\n  \
         %normal = sub i32 %kept, {}\n  %count = fmul float %x, 0x{steps:016X}\n  \
         %round = call float @llvm.roundeven.f32(float %count)\n  \
         %small = call i32 @llvm.fptoui.sat.i32.f32(float %round)\n  %least = fcmp olt float %x, 0x{least:016X}\n  \
         %some = select i1 %least, i32 %small, i32 %normal\n  %over = icmp ugt i32 %some, {largest}\n  \
         %most = select i1 %over, i32 {largest}, i32 %some\n  %top = lshr i32 %b, 24\n  %sign = and i32 %top, 128\n  \
         %signed = or i32 %most, %sign\n  %none = fcmp uno float %a, 0.0\n  \
         %r = select i1 %none, i32 {NONE}, i32 %signed\n  %t = trunc i32 %r to i16\n  ret i16 %t\n}}",
        (1u32 << (moved - 1)) - 1,
        (127 - bias) << places
    );
}

/// Eight bits to a half, which has them all.
fn add_to_half(text: &mut String, format: &Format) {
    let Format {
        name,
        places,
        largest,
        scale,
        ..
    } = format;
    // The pattern behind the largest number is no number, or the infinite one.
    let none = match *name {
        "e4m3" => format!("%over = icmp ugt i16 %size, {largest}\n  "),
        _ => "%over = icmp ugt i16 %size, 124\n  ".to_owned(),
    };
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}half.of.{name}(ptr %c, i16 %a) alwaysinline {{\n  \
         %size = and i16 %a, 127\n  %sign = and i16 %a, 128\n  %place = shl i16 %size, {}\n  \
         %x = call float @{PREFIX}asm.cvt.f32.f16(ptr %c, i16 %place)\n  %y = fmul float %x, {scale}\n  \
         %h = call i16 @{PREFIX}asm.cvt.rn.f16.f32(ptr %c, float %y)\n  %top = shl i16 %sign, 8\n  \
         %signed = or i16 %h, %top\n  {none}%r = select i1 %over, i16 32767, i16 %signed\n  ret i16 %r\n}}",
        10 - places
    );
}

/// The instructions, the first operand above the second.
fn add_pairs(text: &mut String, name: &str) {
    let _ = writeln!(
        text,
        "define internal i16 @{PREFIX}asm.cvt.rn.satfinite.{name}x2.f32(ptr %c, float %a, float %b) alwaysinline {{\n  \
         %h = call i16 @{PREFIX}eight.of.{name}(float %a)\n  %l = call i16 @{PREFIX}eight.of.{name}(float %b)\n  \
         %p = shl i16 %h, 8\n  %r = or i16 %p, %l\n  ret i16 %r\n}}\n\
         define internal i16 @{PREFIX}asm.cvt.rn.satfinite.{name}x2.f16x2(ptr %c, i32 %a) alwaysinline {{\n  \
         %h = call float @{PREFIX}asm.half2.high(ptr %c, i32 %a)\n  \
         %l = call float @{PREFIX}asm.half2.low(ptr %c, i32 %a)\n  \
         %r = call i16 @{PREFIX}asm.cvt.rn.satfinite.{name}x2.f32(ptr %c, float %h, float %l)\n  ret i16 %r\n}}\n\
         define internal i32 @{PREFIX}asm.cvt.rn.f16x2.{name}x2(ptr %c, i16 %a) alwaysinline {{\n  \
         %m = and i16 %a, 255\n  %n = lshr i16 %a, 8\n  \
         %l = call i16 @{PREFIX}half.of.{name}(ptr %c, i16 %m)\n  \
         %h = call i16 @{PREFIX}half.of.{name}(ptr %c, i16 %n)\n  \
         %r = call i32 @{PREFIX}asm.pack(ptr %c, i16 %l, i16 %h)\n  ret i32 %r\n}}"
    );
}
