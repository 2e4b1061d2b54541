//! Attributes of functions, calls and parameters.

use super::*;

/// Position of the attributes of a function's or a call's result.
pub(crate) const RETURN_ATTRIBUTES: u32 = 0;

/// Position of the attributes of the function or call itself.
pub(crate) const FUNCTION_ATTRIBUTES: u32 = u32::MAX;

/// Position of the attributes of a parameter, which are counted from 0.
pub(crate) fn parameter_attributes(number: u32) -> u32 {
    number + 1
}

impl<'ctx> Value<'ctx> {
    fn attributes(self, position: u32) -> Vec<LLVMAttributeRef> {
        // SAFETY: `raw` has room for as many attributes as LLVM writes.
        unsafe {
            let count = LLVMGetAttributeCountAtIndex(self.0, position) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetAttributesAtIndex(self.0, position, raw.as_mut_ptr());
            raw
        }
    }

    fn call_attributes(self, position: u32) -> Vec<LLVMAttributeRef> {
        // SAFETY: as above.
        unsafe {
            let count = LLVMGetCallSiteAttributeCount(self.0, position) as usize;
            let mut raw = vec![std::ptr::null_mut(); count];
            LLVMGetCallSiteAttributes(self.0, position, raw.as_mut_ptr());
            raw
        }
    }

    /// Copies the attributes at one position of a function to a position of another.
    pub(crate) fn copy_attributes(self, from: u32, other: Value, to: u32) {
        for attribute in self.attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddAttributeAtIndex(other.0, to, attribute) }
        }
    }

    /// Copies the attributes at one position of a call to a position of another call.
    pub(crate) fn copy_call_attributes(self, from: u32, other: Value, to: u32) {
        for attribute in self.call_attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddCallSiteAttribute(other.0, to, attribute) }
        }
    }

    /// Gives a call the ABI attributes (`byval`, `sret`, extensions, alignment) that the callee's
    /// parameters have.
    pub(crate) fn copy_function_attributes_to_call(self, from: u32, call: Value, to: u32) {
        for attribute in self.attributes(from) {
            // SAFETY: as above.
            unsafe { LLVMAddCallSiteAttribute(call.0, to, attribute) }
        }
    }

    /// Whether a function has an attribute at a position.
    pub(crate) fn has_attribute(self, position: u32, name: &str) -> bool {
        // SAFETY: as above; a kind that LLVM does not know is 0 and never present.
        unsafe { !LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name)).is_null() }
    }

    /// The type of a type attribute (`byval`), when present.
    pub(crate) fn type_attribute(self, position: u32, name: &str) -> Option<Type<'ctx>> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| Type::new(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// The number of an integer attribute (`align`), when present.
    pub(crate) fn integer_attribute(self, position: u32, name: &str) -> Option<u64> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| LLVMGetEnumAttributeValue(found))
        }
    }

    /// Adds an attribute (`nounwind`, `memory` with its bits, …) at a position of a function.
    pub(crate) fn add_attribute(self, position: u32, name: &str, value: u64) {
        let kind = attribute_kind(name);
        assert_ne!(kind, 0, "LLVM has no attribute {name}");
        // SAFETY: as above; the attribute is made in the function's context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, kind, value);
            LLVMAddAttributeAtIndex(self.0, position, attribute);
        }
    }

    /// Adds a type attribute (`byval`).
    pub(crate) fn add_type_attribute(self, position: u32, name: &str, ty: Type) {
        // SAFETY: as above.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateTypeAttribute(context, attribute_kind(name), ty.0);
            LLVMAddAttributeAtIndex(self.0, position, attribute);
        }
    }

    /// Takes an attribute away from a position of a function.
    pub(crate) fn remove_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe { LLVMRemoveEnumAttributeAtIndex(self.0, position, attribute_kind(name)) }
    }

    /// Whether this is a parameter of a function.
    pub(crate) fn is_parameter(self) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMIsAArgument(self.0).is_null() }
    }

    /// Whether this is a parameter that is passed in memory.
    pub(crate) fn is_by_value_parameter(self) -> bool {
        // SAFETY: as above; the parent of an argument is a function.
        unsafe {
            if LLVMIsAArgument(self.0).is_null() {
                return false;
            }
            let function = Value::new(LLVMGetParamParent(self.0));
            function
                .parameters()
                .iter()
                .position(|parameter| *parameter == self)
                .is_some_and(|n| function.has_attribute(n as u32 + 1, "byval"))
        }
    }

    /// The text of an attribute of a function that has a text for its name, when present.
    pub(crate) fn string_attribute(self, name: &str) -> Option<String> {
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

    /// Takes such an attribute away.
    pub(crate) fn remove_string_attribute(self, name: &str) {
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

    /// Gives a function such an attribute.
    pub(crate) fn set_string_attribute(self, name: &str, value: &str) {
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

    /// Adds an attribute at a position of a call.
    pub(crate) fn add_call_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let attribute = LLVMCreateEnumAttribute(context, attribute_kind(name), 0);
            LLVMAddCallSiteAttribute(self.0, position, attribute);
        }
    }

    /// Says of what a call returns, an integer of at most 64 bits, that it is below a number, read without sign.
    pub(crate) fn bound_result(self, end: u64) {
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
    pub(crate) fn bound_of_result(self) -> Option<u64> {
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

    /// Takes an attribute away from a position of a call.
    pub(crate) fn remove_call_attribute(self, position: u32, name: &str) {
        // SAFETY: as above.
        unsafe { LLVMRemoveCallSiteEnumAttribute(self.0, position, attribute_kind(name)) }
    }

    /// Gives a function all attributes that another of its type has, of its own and of its parameters,
    /// and its calling convention.
    pub(crate) fn copy_attributes_of(self, from: Self) {
        self.set_call_convention(from.call_convention());
        for position in from.attribute_positions() {
            from.copy_attributes(position, self, position);
        }
    }

    /// Makes a call fit the function that it calls: its convention and the attributes of its parameters.
    pub(crate) fn call_as(self, function: Self) {
        self.set_convention_of_call(function.call_convention());
        for position in function.attribute_positions().skip(1) {
            function.copy_function_attributes_to_call(position, self, position);
        }
    }

    /// The positions of a function at which attributes stand: itself, its result, its parameters.
    fn attribute_positions(self) -> impl Iterator<Item = u32> {
        let parameters = self.parameters().len() as u32;
        std::iter::once(FUNCTION_ATTRIBUTES).chain(RETURN_ATTRIBUTES..=parameters)
    }

    /// Adds `byval(T)` and an alignment to a parameter of a function or call.
    pub(crate) fn add_by_value(self, parameter: u32, pointee: Type, align_bytes: u64) {
        let index = parameter_attributes(parameter);
        // SAFETY: a live function or call; attributes are made in its context.
        unsafe {
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            let by_value = LLVMCreateTypeAttribute(context, attribute_kind("byval"), pointee.0);
            let align = LLVMCreateEnumAttribute(context, attribute_kind("align"), align_bytes);
            for attribute in [by_value, align] {
                if self.is_call() {
                    LLVMAddCallSiteAttribute(self.0, index, attribute);
                } else {
                    LLVMAddAttributeAtIndex(self.0, index, attribute);
                }
            }
        }
    }

    /// The type and alignment of a `byval` parameter of a function.
    pub(crate) fn by_value(self, parameter: u32) -> Option<(Type<'ctx>, u64)> {
        let position = parameter_attributes(parameter);
        let pointee = self.type_attribute(position, "byval")?;
        Some((
            pointee,
            self.integer_attribute(position, "align").unwrap_or(1),
        ))
    }

    /// Copies the attributes of one call's parameters to another's, `shift` places further on.
    pub(crate) fn copy_parameter_attributes(self, from: Self, shift: u32) {
        for number in 0..from.call_arguments().len() as u32 {
            let position = parameter_attributes(number);
            from.copy_call_attributes(position, self, position + shift);
        }
    }

    /// Whether a call may call this function directly: it has the type, the convention, and what else says how
    /// arguments are passed.
    pub(crate) fn fits(self, function: Self) -> bool {
        // SAFETY: a live call and a live function of one context, in which equal types and attributes are one.
        unsafe {
            LLVMGetCalledFunctionType(self.0) == LLVMGlobalGetValueType(function.0)
                && LLVMGetInstructionCallConv(self.0) == LLVMGetFunctionCallConv(function.0)
                && (0..=LLVMGetNumArgOperands(self.0)).all(|place| {
                    let kinds = PASSING.map(attribute_kind).into_iter();
                    let is_copied =
                        !LLVMGetCallSiteEnumAttribute(self.0, place, attribute_kind("byval"))
                            .is_null();
                    // Elsewhere an alignment is only something that one of them knows.
                    let alignment = is_copied.then(|| attribute_kind("align"));
                    kinds.chain(alignment).all(|kind| {
                        LLVMGetCallSiteEnumAttribute(self.0, place, kind)
                            == LLVMGetEnumAttributeAtIndex(function.0, place, kind)
                    })
                })
        }
    }

    /// Gives a call the convention of another one of the same arguments, and the attributes of its parameters that say
    /// how they are passed.
    pub(crate) fn make_like(self, call: Self) {
        // SAFETY: both are live calls of one context.
        unsafe {
            LLVMSetInstructionCallConv(self.0, LLVMGetInstructionCallConv(call.0));
            for place in 0..=LLVMGetNumArgOperands(call.0) {
                let kinds = PASSING.into_iter().chain(["align"]);
                for kind in kinds.map(attribute_kind) {
                    let attribute = LLVMGetCallSiteEnumAttribute(call.0, place, kind);
                    if !attribute.is_null() {
                        LLVMAddCallSiteAttribute(self.0, place, attribute);
                    }
                }
            }
        }
    }

    /// The number of an integer attribute of a call, when present; 0 of one without a number.
    pub(crate) fn call_integer_attribute(self, position: u32, name: &str) -> Option<u64> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| LLVMGetEnumAttributeValue(found))
        }
    }

    /// The type of a type attribute (`byval`) of a call, when present.
    pub(crate) fn call_type_attribute(self, position: u32, name: &str) -> Option<Type<'ctx>> {
        // SAFETY: as above.
        unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.0, position, attribute_kind(name));
            (!found.is_null()).then(|| Type::new(LLVMGetTypeAttributeValue(found)))
        }
    }
}

/// Attributes of parameters and results that say how they are passed.
const PASSING: [&str; 12] = [
    "byval",
    "byref",
    "sret",
    "inalloca",
    "preallocated",
    "inreg",
    "nest",
    "zeroext",
    "signext",
    "swiftself",
    "swifterror",
    "swiftasync",
];

/// An attribute of calls whose result is below a number.
const BELOW: &str = "sirius-below";

pub(super) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: pointer and length describe `name`.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}
