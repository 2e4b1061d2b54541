//! Inline PTX: templates of one known instruction are lowered like the intrinsic of the same
//! meaning, others instruction by instruction ([`super::statements`]); what is not known reports
//! itself when it is executed.

pub(super) mod atomics;
pub(super) mod barriers;
pub(super) mod carries;
pub(super) mod copies;
pub(super) mod exits;
pub(super) mod integers;
pub(super) mod matrices;
pub(super) mod operands;
pub(super) mod predicates;
pub(super) mod saturation;
pub(super) mod shared_barrier;
pub(super) mod statements;
pub(super) mod textures;
pub(super) mod video;

use super::functions::Library;
use super::statements::lower_statements;
use crate::codegen::CodegenError;
use crate::llvm::{Builder, Value};
use inkwell::module::Module;

/// Lowers a call of inline assembly, in a function whose templates keep the carry flag in `carry` where they share it.
pub(super) fn lower_assembly<'ctx>(
    module: &Module<'ctx>,
    call: Value<'ctx>,
    template: &str,
    constraints: &str,
    library: &Library<'ctx>,
    carry: Option<Value<'ctx>>,
) -> Result<(), CodegenError> {
    let text = normalise(template);
    if text.is_empty() {
        // A compiler barrier, `asm volatile("" ::: "memory")`, means the same here.
        if call.ty().is_void() && call.call_arguments().is_empty() {
            call.erase();
            return Ok(());
        }
    } else if let Some(definition) = definition_of(&text)
        && let Some(function) = library.find(&definition.name, call.called_type())
    {
        let declared = library.declare(module, &function.name)?;
        let builder = Builder::before(call);
        let mut arguments = vec![call.function_of_instruction().parameters()[0]];
        let given = call.call_arguments();
        if definition.order.iter().any(|index| *index >= given.len()) {
            return library.unsupported(module, call, &describe(template));
        }
        arguments.extend(definition.order.iter().map(|index| given[*index]));
        let new = builder.call(function.ty, declared, &arguments);
        call.replace_uses_with_or_nothing(new);
        call.erase();
        return Ok(());
    } else if let Some(results) =
        lower_statements(module, call, template, constraints, library, carry)?
    {
        let builder = Builder::before(call);
        match results.as_slice() {
            [] => {}
            [result] => call.replace_uses_with(*result),
            many => {
                let mut all = call.ty().poison();
                for (position, result) in many.iter().enumerate() {
                    all = builder.insert(all, *result, position as u32);
                }
                call.replace_uses_with(all);
            }
        }
        call.erase();
        return Ok(());
    }
    library.unsupported(module, call, &describe(template))
}

struct Definition {
    name: String,
    order: Vec<usize>,
}

/// The definition whose meaning a one-instruction template has: `opcode $0, $1, …;` with all
/// operands in order. Special registers are `mov.u32 $0, %laneid;`.
fn definition_of(text: &str) -> Option<Definition> {
    if let Some((_, name, order)) = TEMPLATES.iter().find(|(template, ..)| *template == text) {
        return Some(Definition {
            name: format!("asm.{name}"),
            order: order.to_vec(),
        });
    }
    // The intrinsic of the same meaning has the mask in front.
    if let Some(mode) = text
        .strip_prefix("{shfl.sync.")
        .and_then(|rest| rest.strip_suffix(".b32 $0,$1,$2,$3,$4; }"))
    {
        return Some(Definition {
            name: format!("llvm.nvvm.shfl.sync.{mode}.i32"),
            order: vec![3, 0, 1, 2],
        });
    }
    // GPUs whose warps run in step have one that names no lanes.
    if let Some(mode) = text
        .strip_prefix("{shfl.")
        .and_then(|rest| rest.strip_suffix(".b32 $0,$1,$2,$3; }"))
    {
        return Some(Definition {
            name: format!("llvm.nvvm.shfl.{mode}.i32"),
            order: vec![0, 1, 2],
        });
    }
    if let Some(comparison) = text
        .strip_prefix("{.reg .b32 a,b; mov.b32 a, {0, $1}; mov.b32 b, {0, $2}; set.")
        .and_then(|rest| rest.strip_suffix(".f32.f32 $0, a, b;}"))
    {
        return Some(Definition {
            name: format!("asm.bfloat.set.{comparison}"),
            order: vec![0, 1],
        });
    }
    if let Some(comparison) = comparison_of(text) {
        return Some(Definition {
            name: format!("asm.{comparison}"),
            order: vec![0, 1],
        });
    }
    let inner = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    let statement = inner.unwrap_or(text).trim();
    let statement = statement.strip_suffix(';').unwrap_or(statement);
    if statement.contains(';') || statement.contains('{') {
        return None;
    }
    let (opcode, operands) = statement.split_once(' ').unwrap_or((statement, ""));
    let operands: Vec<&str> = operands
        .split(',')
        .map(str::trim)
        .filter(|operand| !operand.is_empty())
        .collect();
    if matches!(opcode, "mov.u32" | "mov.b32" | "mov.u64" | "mov.s32")
        && let [_, register] = operands.as_slice()
        && let Some(register) = register.strip_prefix('%')
    {
        return Some(Definition {
            name: format!(
                "llvm.nvvm.read.ptx.sreg.{}",
                register.trim_start_matches('%').replace('_', ".")
            ),
            order: Vec::new(),
        });
    }
    // An operand that is read and written: `ex2.approx.f32 $0, $0;`.
    if let ["$0", "$0"] = operands.as_slice() {
        return Some(Definition {
            name: format!("asm.{opcode}"),
            order: vec![0],
        });
    }
    let in_order = operands
        .iter()
        .enumerate()
        .all(|(n, operand)| *operand == format!("${n}"));
    in_order
        .then(|| Definition {
            name: format!("asm.{opcode}"),
            order: (0..operands.len()).collect::<Vec<_>>(),
        })
        .map(|mut definition| {
            // The first operand is the result, except for instructions that have none.
            if !matches!(opcode, "nanosleep.u32" | "bar.sync" | "bar.warp.sync") {
                definition.order = (0..operands.len().saturating_sub(1)).collect();
            }
            definition
        })
}

/// The comparison of cuda_fp16.h and cuda_bf16.h: `setp.gt.f16` into a predicate, which then
/// selects 1 or 0.
fn comparison_of(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("{ .reg .pred __%temp3; ")?;
    let (opcode, rest) = rest.split_once(' ')?;
    let wanted = "__%temp3, $1, $2; selp.u16 $0, 1, 0, __%temp3;}";
    (opcode.starts_with("setp.") && rest == wanted).then_some(opcode)
}

/// Templates of several instructions: text, definition, the operands that are its arguments.
const TEMPLATES: &[(&str, &str, &[usize])] = &[
    (
        "{ mad.lo.cc.u32 $0, $2, $3, $4; madc.hi.u32 $1, $2, $3, 0; }",
        "mad.wide.carry",
        &[0, 1, 2],
    ),
    // 128-bit integers of libdevice, as pairs of 64 bits.
    (
        "{ .reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3; mov.b64 {a0,a1}, $2; mov.b64 {a2,a3}, $3; mov.b64 {b0,b1}, $4; mov.b64 {b2,b3}, $5; add.cc.u32 r0, a0, b0; addc.cc.u32 r1, a1, b1; addc.cc.u32 r2, a2, b2; addc.u32 r3, a3, b3; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
        "wide.add",
        &[0, 1, 2, 3],
    ),
    (
        "{ .reg .u32 r0, r1, r2, r3, a0, a1, a2, a3, b0, b1, b2, b3; mov.b64 {a0,a1}, $2; mov.b64 {a2,a3}, $3; mov.b64 {b0,b1}, $4; mov.b64 {b2,b3}, $5; sub.cc.u32 r0, a0, b0; subc.cc.u32 r1, a1, b1; subc.cc.u32 r2, a2, b2; subc.u32 r3, a3, b3; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
        "wide.sub",
        &[0, 1, 2, 3],
    ),
    (
        "{ .reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi, clo, chi; mov.b64 {alo,ahi}, $2; mov.b64 {blo,bhi}, $3; mov.b64 {clo,chi}, $4; mad.lo.cc.u32 r0, alo, blo, clo; madc.hi.cc.u32 r1, alo, blo, chi; madc.hi.u32 r2, alo, bhi, 0; mad.lo.cc.u32 r1, alo, bhi, r1; madc.hi.cc.u32 r2, ahi, blo, r2; madc.hi.u32 r3, ahi, bhi, 0; mad.lo.cc.u32 r1, ahi, blo, r1; madc.lo.cc.u32 r2, ahi, bhi, r2; addc.u32 r3, r3, 0; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
        "wide.mad",
        &[0, 1, 2],
    ),
    (
        "{ .reg .u32 r0, r1, r2, r3, alo, ahi, blo, bhi; mov.b64 {alo,ahi}, $2; mov.b64 {blo,bhi}, $3; mul.lo.u32 r0, alo, blo; mul.hi.u32 r1, alo, blo; mad.lo.cc.u32 r1, alo, bhi, r1; madc.hi.u32 r2, alo, bhi, 0; mad.lo.cc.u32 r1, ahi, blo, r1; madc.hi.cc.u32 r2, ahi, blo, r2; madc.hi.u32 r3, ahi, bhi, 0; mad.lo.cc.u32 r2, ahi, bhi, r2; addc.u32 r3, r3, 0; mov.b64 $0, {r0,r1}; mov.b64 $1, {r2,r3}; }",
        "wide.mul",
        &[0, 1],
    ),
    ("{mov.u32 $0, WARP_SZ; }", "warp.size", &[]),
    (
        "{ cvt.rn.bf16x2.f32 $0, $2, $1;}",
        "cvt.rn.bf16x2.f32",
        &[1, 0],
    ),
    (
        "{.reg .f16 low,high; mov.b32 {low,high}, $1; mov.b16 $0, low;}",
        "half.low",
        &[0],
    ),
    (
        "{.reg .f16 low,high; mov.b32 {low,high}, $1; mov.b16 $0, high;}",
        "half.high",
        &[0],
    ),
    (
        "{.reg .f16 low,high; mov.b32 {low,high}, $1; mov.b32 $0, {high,low};}",
        "half.swap",
        &[0],
    ),
    (
        "{.reg .b16 c; mov.b16 c, 0x8000U; fma.rn.bf16 $0,$1,$2,c;}",
        "bfloat.mul",
        &[0, 1],
    ),
    (
        "{.reg .b32 c; mov.b32 c, 0x3f803f80U; fma.rn.bf16x2 $0,$1,c,$2;}",
        "bfloat2.add",
        &[0, 1],
    ),
    (
        "{.reg .b32 c; mov.b32 c, 0x80008000U; fma.rn.bf16x2 $0,$1,$2,c;}",
        "bfloat2.mul",
        &[0, 1],
    ),
    ("bar.sync 0;", "block.barrier", &[]),
    ("barrier.sync 0;", "block.barrier", &[]),
    ("{ mov.b32 $0, {$1,$2};}", "pack", &[0, 1]),
    ("{ mov.b32 $0, {0,$1};}", "float.of.bf16", &[0]),
    (
        "{.reg .f16 low,high; mov.b32 {low,high},$1; cvt.f32.f16 $0, low;}",
        "half2.low",
        &[0],
    ),
    (
        "{.reg .f16 low,high; mov.b32 {low,high},$1; cvt.f32.f16 $0, high;}",
        "half2.high",
        &[0],
    ),
    (
        "{.reg .f16 low; cvt.rn.f16.f32 low, $1; mov.b32 $0, {low,low};}",
        "half2.splat",
        &[0],
    ),
    (
        "{.reg .f16 low,high; cvt.rn.f16.f32 low, $1; cvt.rn.f16.f32 high, $2; mov.b32 $0, {low,high};}",
        "half2.pair",
        &[0, 1],
    ),
    (
        "{.reg .b16 c; mov.b16 c, 0x3f80U; fma.rn.bf16 $0,$1,c,$2;}",
        "bfloat.add",
        &[0, 1],
    ),
    (
        "{.reg .b16 c; mov.b16 c, 0xbf80U; fma.rn.bf16 $0,$2,c,$1;}",
        "bfloat.sub",
        &[1, 0],
    ),
];

/// Whether inline assembly gives the address of the shared memory that each block has for cooperative groups.
pub(super) fn is_reserved_shared(template: &str) -> bool {
    normalise(template)
        == "{ .reg .u32 start; .reg .u64 extended; mov.u32 start, %reserved_smem_offset_1; cvt.u64.u32 extended, start; cvta.shared.u64 $0, extended; }"
}

fn normalise(template: &str) -> String {
    template
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace("$$", "%")
        .replace("%%", "%")
}

fn describe(template: &str) -> String {
    format!("inline PTX `{}`", normalise(template))
}
