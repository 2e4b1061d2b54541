//! Attributes of functions carried over to what stands for them.

use super::ir::Value;
use llvm_sys::LLVMAttributeIndex;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

impl Value {
    /// Gives a function all attributes that another of its type has, of its own and of its parameters,
    /// and its calling convention.
    pub(super) fn copy_attributes_of(self, from: Self) {
        // SAFETY: both are live functions of one context.
        unsafe {
            LLVMSetFunctionCallConv(self.0, LLVMGetFunctionCallConv(from.0));
            for place in places(from) {
                for attribute in attributes(from, place) {
                    LLVMAddAttributeAtIndex(self.0, place, attribute);
                }
            }
        }
    }

    /// Makes a call fit the function that it calls: its convention and the attributes of its parameters.
    pub(super) fn call_as(self, function: Self) {
        // SAFETY: a live call and a live function of one context.
        unsafe {
            LLVMSetInstructionCallConv(self.0, LLVMGetFunctionCallConv(function.0));
            for place in places(function).filter(|place| *place != FUNCTION) {
                for attribute in attributes(function, place) {
                    LLVMAddCallSiteAttribute(self.0, place, attribute);
                }
            }
        }
    }

    /// Asks for a call to be inlined.
    pub(super) fn inline_call(self) {
        const NAME: &str = "alwaysinline";
        // SAFETY: a live call; the attribute is made in its context.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(NAME.as_ptr().cast(), NAME.len());
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, kind, 0);
            LLVMAddCallSiteAttribute(self.0, FUNCTION, attribute);
        }
    }

    /// Makes a call one of another function of the same type.
    pub(super) fn set_called(self, function: Self) {
        if let Some(last) = self.operands().len().checked_sub(1) {
            self.set_operand(last as u32, function);
        }
    }
}

const FUNCTION: LLVMAttributeIndex = llvm_sys::LLVMAttributeFunctionIndex;

/// The places of a function at which attributes stand: itself, its result, its parameters.
fn places(function: Value) -> impl Iterator<Item = LLVMAttributeIndex> {
    let parameters = function.parameters().len() as u32;
    std::iter::once(FUNCTION).chain(0..=parameters)
}

fn attributes(function: Value, place: LLVMAttributeIndex) -> Vec<LLVMAttributeRef> {
    // SAFETY: a live function; the buffer has the length that LLVM asks for.
    unsafe {
        let count = LLVMGetAttributeCountAtIndex(function.0, place) as usize;
        let mut attributes = vec![std::ptr::null_mut(); count];
        LLVMGetAttributesAtIndex(function.0, place, attributes.as_mut_ptr());
        attributes
    }
}
