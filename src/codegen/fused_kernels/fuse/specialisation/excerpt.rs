//! A copy of a unit for the sake of one of its kernels.

use crate::codegen::device::KERNEL_CALL_CONVENTION;
use crate::llvm::{Block, Value, copy_unchecked};
use inkwell::module::Module;

/// Copies of units for the sake of one kernel each. To copy all bodies for each of many long kernels would take longer than
/// to compile them, and so would it to put them aside for each: they are aside as long as this lives.
#[derive(Default)]
pub(in crate::codegen::fused_kernels::fuse) struct Excerpts<'p, 'ctx> {
    /// The units that were asked for, and their kernels.
    units: Vec<(&'p Module<'ctx>, Vec<Emptied<'ctx>>)>,
}

impl<'p, 'ctx> Excerpts<'p, 'ctx> {
    /// Copies a unit in which no other kernel than this one has its body.
    pub(in crate::codegen::fused_kernels::fuse) fn copy_for(
        &mut self,
        unit: &'p Module<'ctx>,
        kernel: Value<'ctx>,
    ) -> Module<'ctx> {
        let mut units = self.units.iter();
        let known = units.position(|(known, _)| known.as_mut_ptr() == unit.as_mut_ptr());
        let known = known.unwrap_or_else(|| {
            let functions = Value::functions(unit).into_iter();
            let kernels = functions.filter(|function| {
                function.call_convention() == KERNEL_CALL_CONVENTION && !function.is_declaration()
            });
            let emptied = kernels.map(Emptied::new);
            self.units.push((unit, emptied.collect()));
            self.units.len() - 1
        });
        let aside = &mut self.units[known].1;
        let own = aside.iter().position(|other| other.function == kernel);
        let own = own.map(|place| aside.swap_remove(place));
        let has_body = own.is_some();
        drop(own);
        // A check would find the bodies that are aside.
        let copy = copy_unchecked(unit);
        if has_body {
            aside.push(Emptied::new(kernel));
        }
        copy
    }
}

/// A function whose body is aside; it is put back in the end.
struct Emptied<'ctx> {
    function: Value<'ctx>,
    body: Vec<Block<'ctx>>,
    /// What stands in for it: a function without blocks would be a declaration, which may have neither
    /// this linkage nor a place in the source.
    instead: Block<'ctx>,
}

impl<'ctx> Emptied<'ctx> {
    fn new(function: Value<'ctx>) -> Self {
        let body = function.blocks();
        body.iter().for_each(|block| block.take_out());
        let instead = Block::append(function, "");
        instead.end_as_unreachable();
        Self {
            function,
            body,
            instead,
        }
    }
}

impl<'ctx> Drop for Emptied<'ctx> {
    fn drop(&mut self) {
        self.instead.delete();
        for block in &self.body {
            block.put_into(self.function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::block_tests::parsed;
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

    fn function<'ctx>(module: &Module<'ctx>, name: &str) -> Value<'ctx> {
        Value::function(module, name).expect(name)
    }

    #[test]
    fn a_copy_has_one_kernel_and_what_it_calls() {
        let context = Context::create();
        let unit = parsed(&context, UNIT);
        let before = unit.to_string();
        let mut excerpts = Excerpts::default();
        let copies = ["short", "long", "short"]
            .map(|kernel| excerpts.copy_for(&unit, function(&unit, kernel)));
        drop(excerpts);
        assert_eq!(unit.to_string(), before);
        unit.verify().expect("the unit is as it was");
        for (copy, expected) in copies
            .iter()
            .zip([[2, 1, 3, 0], [2, 6, 1, 0], [2, 1, 3, 0]])
        {
            copy.verify().expect("the copy is valid IR");
            let lengths = ["helper", "long", "short", "outside"]
                .map(|name| function(copy, name).instructions().len());
            assert_eq!(lengths, expected);
        }
    }
}
