//! A copy of a unit for the sake of one of its kernels.

use crate::codegen::device::KERNEL_CALL_CONVENTION;
use crate::codegen::ir::{Block, Value, copy_unchecked};
use inkwell::module::Module;

/// Copies a unit in which no other kernel than this one has its body. To copy all bodies for each of
/// many long kernels would take longer than to compile them.
pub(super) fn copy_for<'ctx>(unit: &Module<'ctx>, kernel: Value) -> Module<'ctx> {
    let others = Value::functions(unit).into_iter().filter(|function| {
        *function != kernel
            && function.call_convention() == KERNEL_CALL_CONVENTION
            && !function.is_declaration()
    });
    let _without: Vec<_> = others.map(|other| Emptied::new(unit, other)).collect();
    // A check would find the bodies that are aside.
    copy_unchecked(unit)
}

/// A function whose body is aside; it is put back in the end.
struct Emptied {
    function: Value,
    body: Vec<Block>,
    /// What stands in for it: a function without blocks would be a declaration, which may have neither
    /// this linkage nor a place in the source.
    instead: Block,
}

impl Emptied {
    fn new(unit: &Module, function: Value) -> Self {
        let body = function.blocks();
        body.iter().for_each(|block| block.take_out());
        let instead = Block::append(function, "");
        instead.end_as_unreachable(unit);
        Self {
            function,
            body,
            instead,
        }
    }
}

impl Drop for Emptied {
    fn drop(&mut self) {
        self.instead.delete();
        for block in &self.body {
            block.put_into(self.function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_tests::parsed;
    use super::*;
    use inkwell::context::Context;

    const UNIT: &str = "
declare void @outside()
define internal void @helper(ptr %p) {
  store float 1.0, ptr %p
  ret void
}
define internal ptx_kernel void @long(ptr %p, i1 %c) {
entry:
  br i1 %c, label %then, label %end
then:
  call void @helper(ptr %p)
  br label %end
end:
  %number = phi i32 [ 0, %entry ], [ 1, %then ]
  store i32 %number, ptr %p
  ret void
}
define ptx_kernel void @short(ptr %p) {
  call void @helper(ptr %p)
  call void @outside()
  ret void
}
";

    #[test]
    fn a_copy_has_one_kernel_and_what_it_calls() {
        let context = Context::create();
        let unit = parsed(&context, UNIT);
        let before = unit.to_string();
        let function = |module: &Module, name: &str| Value::function(module, name).expect(name);
        let copy = copy_for(&unit, function(&unit, "short"));
        assert_eq!(unit.to_string(), before);
        unit.verify().expect("the unit is as it was");
        copy.verify().expect("the copy is valid IR");
        let lengths = ["helper", "long", "short", "outside"]
            .map(|name| function(&copy, name).instructions().len());
        assert_eq!(lengths, [2, 1, 3, 0]);
    }
}
