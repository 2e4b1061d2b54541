//! Marks of stores whose values threads of a block may hand to each other, and of the loads that may take them.
//!
//! A *family* are the stores that a member of a cooperative launch makes by one argument. Behind each of them a function is called that
//! does nothing, with the address and the value, so that a pass that moves the store or makes one of two has to do so with the call.
//! Another one is called where the phase of the family begins, and one where the form of the kernel begins in which each block runs one
//! block of each phase. The calls are gone once `block_values` has seen them.

use super::super::phases::Phase;
use super::super::scopes::accesses;
use super::super::{GroupBuilder, segment};
use crate::llvm::{Builder, FUNCTION_ATTRIBUTES, Opcode, Type, Value};
use crate::verify::OwnReads;
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet};

/// What names of marks begin with.
pub(in crate::codegen::fused_kernels::fuse) const MARK: &str = "sirius.mark.";
/// An attribute of marks: what they mark.
const MEANS: &str = "sirius-mark";
/// A kernel has so many families at most.
const MOST_FAMILIES: usize = 8;
/// The encoding of `memory(inaccessiblemem: readwrite)`.
const INACCESSIBLE_MEMORY: u64 = 3 << 2;

/// When what a load may read was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::codegen::fused_kernels::fuse) enum Since {
    /// In an earlier phase of the same iteration.
    Within,
    /// In the iteration before, by a phase behind that of the load.
    Across,
    /// In the iteration before, by the phase of the load or one in front of it.
    AcrossOwnPhase,
}

/// What is marked in a kernel.
#[derive(Default)]
pub(in crate::codegen::fused_kernels::fuse) struct Marks<'ctx> {
    /// Where the form begins in which values may be handed on.
    pub(in crate::codegen::fused_kernels::fuse) forms: Vec<Value<'ctx>>,
    /// By number.
    pub(in crate::codegen::fused_kernels::fuse) families: BTreeMap<usize, Family<'ctx>>,
}

/// Calls that mark a family.
#[derive(Default)]
pub(in crate::codegen::fused_kernels::fuse) struct Family<'ctx> {
    /// Where its phase begins.
    pub(in crate::codegen::fused_kernels::fuse) begins: Vec<Value<'ctx>>,
    /// Behind its stores, in any form of the kernel.
    pub(in crate::codegen::fused_kernels::fuse) stores: Vec<Value<'ctx>>,
}

impl<'ctx> Marks<'ctx> {
    /// Those of a kernel.
    pub(in crate::codegen::fused_kernels::fuse) fn of(kernel: Value<'ctx>) -> Self {
        let mut found = Self::default();
        for call in kernel.instructions() {
            if call.opcode() != Some(Opcode::LLVMCall) || !call.called().is_function() {
                continue;
            }
            let Some(means) = call.called().string_attribute(MEANS) else {
                continue;
            };
            let Some((what, number)) = means.split_once(' ') else {
                found.forms.push(call);
                continue;
            };
            if let Ok(number) = number.parse() {
                let family = found.families.entry(number).or_default();
                match what {
                    "begin" => family.begins.push(call),
                    _ => family.stores.push(call),
                }
            }
        }
        found
    }

    /// Takes them out of the kernel.
    pub(in crate::codegen::fused_kernels::fuse) fn take_out(self) {
        let families = self.families.into_values();
        let of_families = families.flat_map(|family| [family.begins, family.stores]);
        let calls = self.forms.into_iter().chain(of_families.flatten());
        calls.for_each(Value::erase);
    }
}

/// When what a load may read was stored by a family, if it may be.
pub(in crate::codegen::fused_kernels::fuse) fn reads_since(
    load: Value,
    family: usize,
) -> Option<Since> {
    let mut all = SINCE.into_iter();
    all.find(|since| load.has_metadata(&kind(*since, family)))
}

const SINCE: [Since; 3] = [Since::Within, Since::Across, Since::AcrossOwnPhase];

fn kind(since: Since, family: usize) -> String {
    let name = match since {
        Since::Within => "within",
        Since::Across => "across",
        Since::AcrossOwnPhase => "across_own_phase",
    };
    format!("sirius.read_{name}.{family}")
}

/// Forgets of a load what it may read.
pub(in crate::codegen::fused_kernels::fuse) fn unmark(load: Value) {
    for family in 0..MOST_FAMILIES {
        for since in SINCE {
            load.remove_metadata(&kind(since, family));
        }
    }
}

/// The members and parameters that store what others may take, as many as there may be families.
pub(in crate::codegen::fused_kernels::fuse) fn families(own: &OwnReads) -> Vec<(usize, usize)> {
    let pairs = [&own.in_blocks, &own.in_blocks_across];
    let all: BTreeSet<(usize, usize)> = pairs
        .into_iter()
        .flat_map(|pairs| pairs.keys())
        .copied()
        .collect();
    all.into_iter().take(MOST_FAMILIES).collect()
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Marks stores of families, loads of what they store, and where the form begins, which is where the builder stands.
    pub(in crate::codegen::fused_kernels::fuse) fn mark_families(
        &self,
        builder: &Builder<'ctx>,
        bodies: &[segment::Body<'ctx>],
    ) {
        let families = families(&self.specialisation.shape.own_reads);
        if families.is_empty() {
            return;
        }
        builder.call_function(self.mark("form", &[]), &[]);
        let own = &self.specialisation.shape.own_reads;
        for (number, stored) in families.into_iter().enumerate() {
            let (member, parameter) = stored;
            let pointer = bodies[member].function.parameters()[parameter];
            let stores = all_stores(pointer).unwrap_or_default();
            let types = |store: &Value<'ctx>| [1, 0].map(|index| store.operand(index).ty());
            let Some(first) = stores.first().map(types) else {
                continue;
            };
            if stores.iter().any(|store| types(store) != first) {
                continue;
            }
            let mark = self.mark(&format!("store {number}"), &first);
            for store in stores {
                let builder = Builder::after(store);
                builder.call_function(mark, &[store.operand(1), store.operand(0)]);
            }
            self.mark(&format!("begin {number}"), &[]);
            let home = self.phase_of(member);
            let mark_loads = |(member, parameter): &(usize, usize), since: Since| {
                let pointer = bodies[*member].function.parameters()[*parameter];
                let loads = accesses(pointer).into_iter();
                for load in loads.filter(|access| access.opcode() == Some(Opcode::LLVMLoad)) {
                    load.add_metadata(self.module, &kind(since, number));
                }
            };
            for load in own.in_blocks.get(&stored).into_iter().flatten() {
                mark_loads(load, Since::Within);
            }
            for load in own.in_blocks_across.get(&stored).into_iter().flatten() {
                mark_loads(
                    load,
                    match self.phase_of(load.0) < home {
                        true => Since::Across,
                        false => Since::AcrossOwnPhase,
                    },
                );
            }
        }
    }

    /// Marks where a phase begins, for the families that store in it.
    pub(in crate::codegen::fused_kernels::fuse) fn mark_phase(
        &self,
        builder: &Builder<'ctx>,
        phase: &Phase,
    ) {
        let families = families(&self.specialisation.shape.own_reads);
        for (number, (member, _)) in families.into_iter().enumerate() {
            let mark = Value::function(self.module, &self.name_of(&format!("begin {number}")));
            if let Some(mark) = mark.filter(|_| phase.contains(member)) {
                builder.call_function(mark, &[]);
            }
        }
    }

    /// The number of the phase that has a member.
    fn phase_of(&self, member: usize) -> Option<usize> {
        let mut phases = self.specialisation.shape.phases.iter();
        phases.position(|phase| phase.contains(member))
    }

    fn name_of(&self, means: &str) -> String {
        format!("{MARK}{}.{}", self.name, means.replace(' ', ""))
    }

    /// A function that marks places by calls of it.
    fn mark(&self, means: &str, parameters: &[Type<'ctx>]) -> Value<'ctx> {
        let ty = Type::function(Type::void(self.module), parameters);
        let mark = Value::add_function(self.module, &self.name_of(means), ty);
        for promise in ["nounwind", "willreturn", "nosync", "nofree", "nocallback"] {
            mark.add_attribute(FUNCTION_ATTRIBUTES, promise, 0);
        }
        // No memory that anybody else sees.
        mark.add_attribute(FUNCTION_ATTRIBUTES, "memory", INACCESSIBLE_MEMORY);
        mark.set_string_attribute(MEANS, means);
        mark
    }
}

/// Takes all marks out of a module.
pub(in crate::codegen::fused_kernels::fuse) fn settle(module: &Module) {
    for function in Value::functions(module) {
        if function.string_attribute(MEANS).is_some() {
            for call in function.users() {
                call.erase();
            }
            function.delete_function();
        }
    }
}

/// All stores by a pointer; `None` where others may be made by it, or where it goes elsewhere.
fn all_stores(pointer: Value) -> Option<Vec<Value>> {
    let mut stores = Vec::new();
    let mut work = vec![pointer];
    while let Some(pointer) = work.pop() {
        for user in pointer.users() {
            match user.operation()? {
                Opcode::LLVMGetElementPtr if user.operand(0) == pointer => work.push(user),
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => work.push(user),
                Opcode::LLVMLoad => {}
                Opcode::LLVMStore
                    if user.operand(1) == pointer
                        && user.operand(0) != pointer
                        && !user.is_volatile()
                        && !user.is_atomic() =>
                {
                    stores.push(user);
                }
                _ => return None,
            }
        }
    }
    Some(stores)
}
