//! Metadata that instructions carry.

use super::*;
use inkwell::llvm_sys::core::{
    LLVMGetMDNodeNumOperands, LLVMGetMDNodeOperands, LLVMGetMDString, LLVMIsAMDNode,
    LLVMIsAMDString, LLVMMDNodeInContext2, LLVMMDStringInContext2, LLVMMetadataAsValue,
    LLVMValueAsMetadata,
};
use inkwell::llvm_sys::debuginfo::{LLVMMetadataReplaceAllUsesWith, LLVMTemporaryMDNode};

/// What a loop has that is not to be unrolled for now, and one that is: what LLVM reads, and that it was we who
/// said so.
const HELD: [[&str; 2]; 2] = [
    ["llvm.loop.unroll.disable", "sirius.held"],
    ["llvm.loop.unroll.full", "sirius.chosen"],
];

/// A node of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Metadata<'ctx>(LLVMMetadataRef, PhantomData<&'ctx Context>);

impl<'ctx> Metadata<'ctx> {
    fn new(raw: LLVMMetadataRef) -> Self {
        Self(raw, PhantomData)
    }

    /// A list of nodes.
    pub(crate) fn list(module: &Module<'ctx>, items: &[Metadata<'ctx>]) -> Self {
        let mut raw: Vec<_> = items.iter().map(|item| item.0).collect();
        // SAFETY: pointer and length describe `raw`; the context of a live module is alive.
        Self::new(unsafe {
            let context = module.get_context().as_ctx_ref();
            LLVMMDNodeInContext2(context, raw.as_mut_ptr(), raw.len())
        })
    }

    /// An integer constant.
    fn constant(value: Value<'ctx>) -> Self {
        // SAFETY: constants live as long as their context.
        Self::new(unsafe { LLVMValueAsMetadata(value.0) })
    }

    /// The text that a list begins with; empty where it begins with none.
    fn first_text(self, module: &Module) -> String {
        // SAFETY: the node is alive, `raw` has room for its operands, and a text for as many bytes as LLVM
        // says.
        unsafe {
            let context = module.get_context().as_ctx_ref();
            let node = LLVMMetadataAsValue(context, self.0);
            if LLVMIsAMDNode(node).is_null() {
                return String::new();
            }
            let mut raw = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, raw.as_mut_ptr());
            let first = raw.first().copied().unwrap_or(std::ptr::null_mut());
            if first.is_null() || LLVMIsAMDString(first).is_null() {
                return String::new();
            }
            let mut length = 0;
            let bytes = LLVMGetMDString(first, &raw mut length);
            let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length as usize);
            String::from_utf8_lossy(bytes).into_owned()
        }
    }

    /// A text.
    pub(crate) fn text(module: &Module<'ctx>, text: &str) -> Self {
        // SAFETY: pointer and length describe `text`.
        Self::new(unsafe {
            let context = module.get_context().as_ctx_ref();
            LLVMMDStringInContext2(context, text.as_ptr().cast(), text.len())
        })
    }
}

impl<'ctx> Value<'ctx> {
    /// Whether an instruction has metadata of a kind.
    pub(crate) fn has_metadata(self, kind: &str) -> bool {
        // SAFETY: as above.
        unsafe { !LLVMGetMetadata(self.0, metadata_kind(self, kind)).is_null() }
    }

    /// Takes the metadata of a kind away from an instruction.
    pub(crate) fn remove_metadata(self, kind: &str) {
        // SAFETY: as above; null removes.
        unsafe { LLVMSetMetadata(self.0, metadata_kind(self, kind), std::ptr::null_mut()) }
    }

    /// Appends to the list of metadata that an instruction has under a name.
    pub(crate) fn extend_metadata(
        self,
        module: &Module<'ctx>,
        kind: &str,
        items: &[Metadata<'ctx>],
    ) {
        let mut all = self.metadata_list(kind);
        for item in items {
            if !all.contains(item) {
                all.push(*item);
            }
        }
        let list = Metadata::list(module, &all);
        // SAFETY: as above.
        unsafe {
            let context = module.get_context().as_ctx_ref();
            let value = LLVMMetadataAsValue(context, list.0);
            LLVMSetMetadata(self.0, metadata_kind(self, kind), value);
        }
    }

    /// Asks LLVM to unroll the loop that this branch ends, whatever its size.
    pub(crate) fn unroll_fully(self, module: &Module) {
        let wish = Metadata::list(module, &[Metadata::text(module, "llvm.loop.unroll.full")]);
        self.set_loop_properties(module, &[wish]);
    }

    /// Asks LLVM to repeat the body of the loop that this branch ends so many times, unless the loop says
    /// itself how often.
    pub(crate) fn unroll_times(self, module: &Module, times: u32) {
        if self.says_of_unrolling(module) {
            return;
        }
        let mut properties = self.loop_properties();
        let times = Type::integer(module, 32).constant(times.into());
        let wish = [
            Metadata::text(module, "llvm.loop.unroll.count"),
            Metadata::constant(times),
        ];
        properties.push(Metadata::list(module, &wish));
        self.set_loop_properties(module, &properties);
    }

    /// Whether the loop that this branch ends says itself whether it is to be unrolled.
    pub(crate) fn says_of_unrolling(self, module: &Module) -> bool {
        let says = |property: &Metadata| {
            let text = property.first_text(module);
            text.starts_with("llvm.loop.unroll.")
        };
        self.loop_properties().iter().any(says)
    }

    /// Has LLVM unroll the loop that this branch ends, or forbids it, until [`Self::release_unrolling`].
    pub(crate) fn hold_unrolling(self, module: &Module, unrolled: bool) {
        let mut properties = self.loop_properties();
        for text in HELD[usize::from(unrolled)] {
            properties.push(Metadata::list(module, &[Metadata::text(module, text)]));
        }
        self.set_loop_properties(module, &properties);
    }

    /// Takes back what [`Self::hold_unrolling`] said, where it did.
    pub(crate) fn release_unrolling(self, module: &Module) {
        let properties = self.loop_properties();
        for held in HELD {
            let held = held.map(|text| Metadata::list(module, &[Metadata::text(module, text)]));
            match properties.strip_suffix(&held[..]) {
                None => {}
                Some([]) => self.remove_metadata("llvm.loop"),
                Some(rest) => self.set_loop_properties(module, rest),
            }
        }
    }

    /// Says of the loop that this branch ends these properties and no others.
    fn set_loop_properties(self, module: &Module, properties: &[Metadata]) {
        // SAFETY: the lists have as many elements as is said; the temporary node is replaced by the one
        // that names itself, as a loop's does, and is gone then.
        unsafe {
            let context = module.get_context().as_ctx_ref();
            let name = LLVMTemporaryMDNode(context, std::ptr::null_mut(), 0);
            let mut raw = vec![name];
            raw.extend(properties.iter().map(|property| property.0));
            let node = LLVMMDNodeInContext2(context, raw.as_mut_ptr(), raw.len());
            LLVMMetadataReplaceAllUsesWith(name, node);
            let kind = metadata_kind(self, "llvm.loop");
            LLVMSetMetadata(self.0, kind, LLVMMetadataAsValue(context, node));
        }
    }

    /// Whether two ends of iterations say the same of their loops.
    pub(crate) fn has_loop_properties_of(self, other: Value) -> bool {
        self.loop_properties() == other.loop_properties()
    }

    fn loop_properties(self) -> Vec<Metadata<'ctx>> {
        // The first one is the loop's name.
        let list = self.metadata_list("llvm.loop");
        list.into_iter().skip(1).collect()
    }

    fn metadata_list(self, kind: &str) -> Vec<Metadata<'ctx>> {
        // SAFETY: `raw` has room for as many operands as LLVM writes.
        unsafe {
            let node = LLVMGetMetadata(self.0, metadata_kind(self, kind));
            if node.is_null() {
                return Vec::new();
            }
            let mut raw = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, raw.as_mut_ptr());
            raw.into_iter()
                .map(|operand| Metadata::new(LLVMValueAsMetadata(operand)))
                .collect()
        }
    }

    /// Gives an instruction empty metadata of a kind.
    pub(crate) fn add_metadata(self, module: &Module, kind: &str) {
        let node = Metadata::list(module, &[]);
        // SAFETY: a live instruction; the empty node belongs to its context.
        unsafe {
            let value = LLVMMetadataAsValue(module.get_context().as_ctx_ref(), node.0);
            LLVMSetMetadata(self.0, metadata_kind(self, kind), value);
        }
    }
}
