//! Functions of ours in the host module, each there once.
//!
//! Invariant: what is taken for the same function is the same instruction by instruction, so that
//! sharing never changes what a program does. Whatever tells one site from another therefore has to be
//! an operand.

use crate::llvm;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::types::AsTypeRef;
use inkwell::values::{
    AsValueRef, CallSiteValue, FunctionValue, InstructionOpcode, InstructionValue, Operand,
};
use std::collections::HashMap;

/// The functions that were made so far, by what is in them.
#[derive(Default)]
pub(in crate::codegen) struct SharedFunctions<'ctx> {
    known: HashMap<Vec<usize>, FunctionValue<'ctx>>,
    /// Whether each function that was given is often run.
    often: HashMap<FunctionValue<'ctx>, bool>,
}

/// With so many functions the host compiler takes its time over all of them.
const MOST_OPTIMISED: usize = 64;

impl<'ctx> SharedFunctions<'ctx> {
    /// A function that is complete and that nothing calls yet; where an equal one was given before, that
    /// one, and the new one is gone. `often`: it is run more than once each time that its caller is.
    pub(in crate::codegen) fn one_of(
        &mut self,
        function: FunctionValue<'ctx>,
        often: bool,
    ) -> FunctionValue<'ctx> {
        let function = self.shared(function);
        *self.often.entry(function).or_default() |= often;
        function
    }

    /// Where there are many, those that stand in no loop stay as they are: each is a long straight line
    /// that runs next to a launch, and optimising them takes longer than everything else of the host.
    pub(in crate::codegen) fn leave_seldom_run(&self) {
        if self.often.len() <= MOST_OPTIMISED {
            return;
        }
        let kind = Attribute::get_named_enum_kind_id("optnone");
        for (function, _) in self.often.iter().filter(|(_, often)| !**often) {
            let context = function.get_type().get_context();
            let optnone = context.create_enum_attribute(kind, 0);
            function.add_attribute(AttributeLoc::Function, optnone);
        }
    }

    fn shared(&mut self, function: FunctionValue<'ctx>) -> FunctionValue<'ctx> {
        // One that is called from a single place would become part of its caller; all of them together
        // in one large function take the optimiser more than linear time.
        let noinline = Attribute::get_named_enum_kind_id("noinline");
        let context = function.get_type().get_context();
        let noinline = context.create_enum_attribute(noinline, 0);
        function.add_attribute(AttributeLoc::Function, noinline);
        let Some(contents) = contents(function) else {
            return function;
        };
        if let Some(known) = self.known.get(&contents) {
            // It was made by the caller a moment ago, and nothing refers to it.
            llvm::delete_function(function);
            return *known;
        }
        self.known.insert(contents, function);
        function
    }
}

/// All that a function is, but for names: types, constants and global values by their identity, of which
/// each has one within a context, what is the function's own by its place. `None` where it has an
/// instruction that is not looked into here.
fn contents(function: FunctionValue<'_>) -> Option<Vec<usize>> {
    let blocks = function.get_basic_blocks();
    let mut own = HashMap::new();
    let mut numbered = 0..;
    let parameters = function.get_params();
    own.extend(
        parameters
            .iter()
            .map(AsValueRef::as_value_ref)
            .zip(&mut numbered),
    );
    for block in &blocks {
        let values = block.get_instructions();
        own.extend(values.map(|value| value.as_value_ref()).zip(&mut numbered));
    }
    let places: HashMap<_, usize> = blocks.iter().copied().zip(0..).collect();
    let mut contents = vec![function.get_type().as_type_ref().addr(), blocks.len()];
    for block in &blocks {
        for instruction in block.get_instructions() {
            contents.push(instruction.get_opcode() as usize);
            contents.push(instruction.get_type().as_type_ref().addr());
            contents.extend(beside_operands(instruction)?);
            for operand in instruction.get_operands() {
                contents.extend(match operand? {
                    Operand::Block(block) => [0, *places.get(&block)?],
                    Operand::Value(value) => match own.get(&value.as_value_ref()) {
                        Some(place) => [1, *place],
                        None => [2, value.as_value_ref().addr()],
                    },
                });
            }
        }
        contents.push(usize::MAX);
    }
    Some(contents)
}

/// What an instruction of ours has beside its kind, its type and its operands. Ours have no flags.
fn beside_operands(instruction: InstructionValue<'_>) -> Option<Vec<usize>> {
    use InstructionOpcode as Opcode;
    let count = usize::try_from(instruction.get_num_operands()).ok()?;
    let mut beside = vec![count];
    match instruction.get_opcode() {
        Opcode::Alloca => {
            let type_ = instruction.get_allocated_type().ok()?;
            beside.push(type_.as_type_ref().addr());
            beside.push(instruction.get_alignment().ok()? as usize);
        }
        Opcode::Load | Opcode::Store => {
            beside.push(usize::from(instruction.get_volatile().ok()?));
            beside.push(instruction.get_alignment().ok()? as usize);
        }
        Opcode::GetElementPtr => {
            let type_ = instruction.get_gep_source_element_type().ok()?;
            beside.push(type_.as_type_ref().addr());
        }
        Opcode::ICmp => beside.push(instruction.get_icmp_predicate()? as usize),
        Opcode::ExtractValue => {
            beside.extend(instruction.get_indices().into_iter().map(|at| at as usize))
        }
        Opcode::Call => {
            let call = CallSiteValue::try_from(instruction).ok()?;
            let parameters = (0..call.count_arguments()).map(AttributeLoc::Param);
            let places = [AttributeLoc::Function, AttributeLoc::Return];
            for place in places.into_iter().chain(parameters) {
                let attributes = call.attributes(place);
                beside.push(attributes.len());
                beside.extend(attributes.iter().map(|each| each.as_mut_ptr().addr()));
            }
        }
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::Shl
        | Opcode::LShr
        | Opcode::AShr
        | Opcode::SDiv
        | Opcode::SRem
        | Opcode::UDiv
        | Opcode::URem
        | Opcode::Trunc
        | Opcode::ZExt
        | Opcode::SExt
        | Opcode::PtrToInt
        | Opcode::IntToPtr
        | Opcode::Select
        | Opcode::Br
        | Opcode::Return => {}
        _ => return None,
    }
    Some(beside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;

    /// By function, whether the host compiler leaves it as it is; the first stands in a loop.
    fn left(count: usize) -> Vec<bool> {
        let context = Context::create();
        let module = context.create_module("host");
        let int = context.i32_type();
        let mut shared = SharedFunctions::default();
        let functions: Vec<_> = (0..count)
            .map(|number| {
                let function = module.add_function("group", int.fn_type(&[], false), None);
                let builder = context.create_builder();
                builder.position_at_end(context.append_basic_block(function, "entry"));
                let value = int.const_int(number as u64, false);
                builder.build_return(Some(&value)).expect("a return");
                shared.one_of(function, number == 0)
            })
            .collect();
        shared.leave_seldom_run();
        let kind = Attribute::get_named_enum_kind_id("optnone");
        let is_left = |function: &FunctionValue<'_>| {
            let place = AttributeLoc::Function;
            function.get_enum_attribute(place, kind).is_some()
        };
        functions.iter().map(is_left).collect()
    }

    #[test]
    fn many_functions_that_run_seldom_are_left_as_they_are() {
        assert!(left(MOST_OPTIMISED).iter().all(|left| !left));
        let many = left(MOST_OPTIMISED + 1);
        assert!(!many[0], "it stands in a loop");
        assert!(many[1..].iter().all(|left| *left));
    }
}
