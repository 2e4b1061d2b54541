//! Attributes of functions, calls and parameters.

use super::*;

impl Value {
    /// Copies the attributes at one position of a function to a position of another.
    pub(in crate::codegen) fn copy_attributes(self, from: u32, other: Value, to: u32) {
        for attribute in self.attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddAttributeAtIndex(other.0, to, attribute) }
        }
    }

    /// Copies the attributes at one position of a call to a position of another call.
    pub(in crate::codegen) fn copy_call_attributes(self, from: u32, other: Value, to: u32) {
        for attribute in self.call_attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddCallSiteAttribute(other.0, to, attribute) }
        }
    }

    /// Gives a call the ABI attributes (`byval`, `sret`, extensions, alignment) that the callee's
    /// parameters have.
    pub(in crate::codegen) fn copy_function_attributes_to_call(
        self,
        from: u32,
        call: Value,
        to: u32,
    ) {
        for attribute in self.attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddCallSiteAttribute(call.0, to, attribute) }
        }
    }

    pub(in crate::codegen) fn has_attribute(self, position: u32, name: &str) -> bool {
        // SAFETY: as above; a kind that LLVM does not know is 0 and never present.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name)).is_null() }
    }

    /// The type of a type attribute (`byval`), when present.
    pub(in crate::codegen) fn type_attribute(self, position: u32, name: &str) -> Option<Type> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| Type(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// The number of an integer attribute (`align`), when present.
    pub(in crate::codegen) fn integer_attribute(self, position: u32, name: &str) -> Option<u64> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| LLVMGetEnumAttributeValue(found))
        }
    }

    pub(in crate::codegen) fn add_attribute(self, position: u32, name: &str, value: u64) {
        // SAFETY: as above; the names that callers use are LLVM's.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), value);
            LLVMAddAttributeAtIndex(self.0, position, attribute);
        }
    }

    /// Adds a type attribute (`byval`).
    pub(in crate::codegen) fn add_type_attribute(self, position: u32, name: &str, ty: Type) {
        // SAFETY: as above.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateTypeAttribute(context, attribute_kind(name), ty.0);
            LLVMAddAttributeAtIndex(self.0, position, attribute);
        }
    }

    pub(in crate::codegen) fn remove_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, position, attribute_kind(name)) }
    }

    /// Whether this is a parameter of a function.
    pub(in crate::codegen) fn is_parameter(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    /// Whether this is a parameter that is passed in memory.
    pub(in crate::codegen) fn is_by_value_parameter(self) -> bool {
        // SAFETY: as above; the parent of an argument is a function.
        unsafe {
            if LLVMIsAArgument(self.0).is_null() {
                return false;
            }
            let function = Value(LLVMGetParamParent(self.0));
            function
                .parameters()
                .iter()
                .position(|parameter| *parameter == self)
                .is_some_and(|n| function.has_attribute(n as u32 + 1, "byval"))
        }
    }

    pub(in crate::codegen) fn string_attribute(self, name: &str) -> Option<String> {
        // SAFETY: LLVM returns `length` bytes that live as long as the context.
        unsafe {
            let found = LLVMGetStringAttributeAtIndex(
                self.0,
                FUNCTION_ATTRIBUTES,
                name.as_ptr().cast(),
                name.len() as u32,
            );
            if found.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(found, &mut length);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    pub(in crate::codegen) fn remove_string_attribute(self, name: &str) {
        // SAFETY: as above.
        unsafe {
            LLVMRemoveStringAttributeAtIndex(
                self.0,
                FUNCTION_ATTRIBUTES,
                name.as_ptr().cast(),
                name.len() as u32,
            );
        }
    }

    pub(in crate::codegen) fn set_string_attribute(self, name: &str, value: &str) {
        // SAFETY: as above; pointers and lengths describe the strings.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateStringAttribute(
                context,
                name.as_ptr().cast(),
                name.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(self.0, FUNCTION_ATTRIBUTES, attribute);
        }
    }

    pub(in crate::codegen) fn add_call_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddCallSiteAttribute(self.0, position, attribute);
        }
    }

    /// Says of what a call returns, an integer of at most 64 bits, that it is below a number, read without sign.
    pub(in crate::codegen) fn bound_result(self, end: u64) {
        let bits = self.ty().integer_bits();
        // SAFETY: as above; of each bound there is one word, which is as many as such an integer has.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let kind = attribute_kind("range");
            let range = LLVMCreateConstantRangeAttribute(context, kind, bits, &0, &end);
            LLVMAddCallSiteAttribute(self.0, RETURN_ATTRIBUTES, range);
            // The C interface does not read ranges.
            let text = end.to_string();
            let told = LLVMCreateStringAttribute(
                context,
                BELOW.as_ptr().cast(),
                BELOW.len() as u32,
                text.as_ptr().cast(),
                text.len() as u32,
            );
            LLVMAddCallSiteAttribute(self.0, FUNCTION_ATTRIBUTES, told);
        }
    }

    /// What [`Self::bound_result`] said of a call.
    pub(in crate::codegen) fn bound_of_result(self) -> Option<u64> {
        // SAFETY: LLVM returns `length` bytes that live as long as the context.
        unsafe {
            let (name, length) = (BELOW.as_ptr().cast(), BELOW.len() as u32);
            let found = LLVMGetCallSiteStringAttribute(self.0, FUNCTION_ATTRIBUTES, name, length);
            if found.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetStringAttributeValue(found, &mut length);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length as usize);
            std::str::from_utf8(bytes).ok()?.parse().ok()
        }
    }

    pub(in crate::codegen) fn remove_call_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, position, attribute_kind(name)) }
    }

    // Instructions and constants.
}

/// An attribute of calls whose result is below a number.
const BELOW: &str = "sirius-below";

pub(super) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: pointer and length describe `name`.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
