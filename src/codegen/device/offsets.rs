//! Constants inside indices become offsets of addresses.
//!
//! An unrolled loop over rows reads `base[((row | k) << 8 | column)]` for k = 0, 1, 2, …: LLVM writes sums whose
//! parts have no bit in common as `or`, and does not look for constants below a shift. Each address is then computed
//! by itself. As `base[(row << 8) + column]` and so many elements further, the addresses share all but a number that a
//! load has room for.
//!
//! Invariant: an index `zext(e)` is only taken apart into `zext(f) + c` where `e = f + c` in whole numbers: through
//! sums, shifts and products that are said not to wrap, read without sign.

use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;

/// Takes constants out of the indices of a module. Returns of how many.
pub(super) fn take_constants_out(module: &Module) -> usize {
    let functions = Value::functions(module).into_iter();
    let instructions = functions.flat_map(Value::instructions);
    let addresses: Vec<Value> = instructions
        .filter(|at| at.opcode() == Some(Opcode::LLVMGetElementPtr))
        .collect();
    let changed = addresses.into_iter().filter(|at| take_out(module, *at));
    changed.count()
}

fn take_out(module: &Module, address: Value) -> bool {
    let [base, index] = address.operands()[..] else {
        return false;
    };
    let widened = index.is_instruction()
        && index.opcode() == Some(Opcode::LLVMZExt)
        && index.ty().integer_bits() == 64
        && index.operand(0).ty().integer_bits() <= 32;
    if !widened {
        return false;
    }
    let narrow = index.operand(0);
    let part = match constant_part(narrow, MOST_DEPTH) {
        Some(part) if part.hidden && part.constant > 0 => part.constant,
        _ => return false,
    };
    let builder = Builder::before(address);
    let long = Type::integer(module, 64);
    let element = address.element_pointer_source_type();
    let start = match rest(&builder, narrow) {
        Some(rest) => {
            let rest = builder.cast(Opcode::LLVMZExt, rest, long);
            builder.element_pointer(element, base, &[rest])
        }
        None => base,
    };
    let moved = builder.element_pointer(element, start, &[long.constant(part)]);
    address.replace_uses_with(moved);
    address.erase();
    true
}

/// What of a number is constant.
struct Part {
    constant: u64,
    /// It stands below a shift or a product, where LLVM does not look for it.
    hidden: bool,
}

/// Deeper sums are left as they are.
const MOST_DEPTH: usize = 8;

/// The constant summand of a number, both read without sign; `None` where it is too large.
fn constant_part(value: Value, depth: usize) -> Option<Part> {
    let nothing = Part {
        constant: 0,
        hidden: false,
    };
    if let Some(constant) = value.constant_integer() {
        return Some(Part {
            constant,
            hidden: false,
        });
    }
    let Some(scale) = scale_of(value).filter(|_| depth > 0) else {
        return Some(nothing);
    };
    let one = constant_part(value.operand(0), depth - 1)?;
    let part = match scale {
        Scale::Sum => {
            let other = constant_part(value.operand(1), depth - 1)?;
            Part {
                constant: one.constant.checked_add(other.constant)?,
                hidden: one.hidden || other.hidden,
            }
        }
        Scale::Factor(factor) => Part {
            constant: one.constant.checked_mul(factor)?,
            hidden: one.constant > 0,
        },
    };
    // A load has room for 24 bits of bytes.
    (part.constant < 1 << 20).then_some(part)
}

/// How a number is made of its operands, without wrapping.
enum Scale {
    Sum,
    /// The first operand so many times.
    Factor(u64),
}

fn scale_of(value: Value) -> Option<Scale> {
    if !value.is_instruction() {
        return None;
    }
    match value.opcode() {
        Some(Opcode::LLVMOr) if value.is_disjoint() => Some(Scale::Sum),
        Some(Opcode::LLVMAdd) if value.has_no_unsigned_wrap() => Some(Scale::Sum),
        Some(Opcode::LLVMShl) if value.has_no_unsigned_wrap() => {
            let bits = value.operand(1).constant_integer()?;
            (bits < 32).then(|| Scale::Factor(1 << bits))
        }
        Some(Opcode::LLVMMul) if value.has_no_unsigned_wrap() => {
            value.operand(1).constant_integer().map(Scale::Factor)
        }
        _ => None,
    }
}

/// A number without its constant part; `None` when nothing is left. Parts that had no bit in common with a constant
/// or with each other are added: without the constants they may have.
fn rest<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>) -> Option<Value<'ctx>> {
    rest_to(builder, value, MOST_DEPTH)
}

fn rest_to<'ctx>(builder: &Builder<'ctx>, value: Value<'ctx>, depth: usize) -> Option<Value<'ctx>> {
    if value.constant_integer().is_some() {
        return None;
    }
    let Some(scale) = scale_of(value).filter(|_| depth > 0) else {
        return Some(value);
    };
    if constant_part(value, depth).is_some_and(|part| part.constant == 0) {
        return Some(value);
    }
    let one = rest_to(builder, value.operand(0), depth - 1);
    match scale {
        Scale::Factor(_) => Some(builder.binary(value.opcode()?, one?, value.operand(1))),
        Scale::Sum => match (one, rest_to(builder, value.operand(1), depth - 1)) {
            (Some(one), Some(other)) => Some(builder.binary(Opcode::LLVMAdd, one, other)),
            (one, other) => one.or(other),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;

    /// Whether the address of a load is taken apart, the index being made of `row` and `column` so.
    fn is_taken_apart(index: &str) -> bool {
        let text = format!(
            "define float @f(ptr %base, i32 %row, i32 %column) {{
               {index}
               %wide = zext i32 %index to i64
               %place = getelementptr float, ptr %base, i64 %wide
               %value = load float, ptr %place
               ret float %value
             }}\0"
        );
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "case");
        let module = context
            .create_module_from_ir(buffer)
            .expect("the case is valid IR");
        let changed = take_constants_out(&module);
        module.verify().expect("the result is valid IR");
        let kept = Value::function(&module, "f").map(Value::instructions);
        let kept = kept.into_iter().flatten();
        let addresses = kept.filter(|at| at.opcode() == Some(Opcode::LLVMGetElementPtr));
        assert_eq!(addresses.count(), 1 + changed);
        changed == 1
    }

    #[test]
    fn constants_come_out_from_below_shifts_where_nothing_wraps() {
        for (index, apart) in [
            (
                "%a = or disjoint i32 %row, 3 %b = shl nuw i32 %a, 8 %index = or disjoint i32 %b, %column",
                true,
            ),
            (
                "%a = add nuw i32 %row, 3 %b = mul nuw i32 %a, 100 %index = add nuw i32 %column, %b",
                true,
            ),
            (
                "%a = or i32 %row, 3 %b = shl nuw i32 %a, 8 %index = or disjoint i32 %b, %column",
                false,
            ),
            (
                "%a = or disjoint i32 %row, 3 %b = shl i32 %a, 8 %index = or disjoint i32 %b, %column",
                false,
            ),
            (
                "%a = or disjoint i32 %row, 3 %b = shl nsw i32 %a, 8 %index = or disjoint i32 %b, %column",
                false,
            ),
            (
                "%a = or disjoint i32 %row, 3 %b = shl nuw i32 %a, 8 %index = add nsw i32 %b, %column",
                false,
            ),
            (
                "%a = add i32 %row, 3 %b = shl nuw i32 %a, 8 %index = or disjoint i32 %b, %column",
                false,
            ),
            // LLVM finds these, and there is no room for that.
            ("%index = or disjoint i32 %row, 3", false),
            (
                "%a = or disjoint i32 %row, 3 %index = shl nuw i32 %a, 20",
                false,
            ),
        ] {
            let lines = index
                .replace(" %b =", "\n%b =")
                .replace(" %index =", "\n%index =");
            assert_eq!(is_taken_apart(&lines), apart, "{index}");
        }
    }
}
