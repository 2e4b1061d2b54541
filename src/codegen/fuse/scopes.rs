//! Which loads and stores of a fused kernel go to different allocations, for LLVM.
//!
//! The host program knows what kernels cannot: that two of their pointers point into different
//! allocations. `noalias` would say more than that, see [`super::aliasing`]; alias scopes speak of
//! loads and stores alone, in pairs, so that a barrier still separates whatever it separated.

use crate::codegen::ir::{Metadata, Opcode, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// The scope of each parameter of a fused kernel.
pub(super) struct AliasScopes {
    /// By parameter: its own scope, and those of the parameters that point elsewhere. `None` for one
    /// that nothing is known of.
    scopes: Vec<Option<(Metadata, Vec<Metadata>)>>,
}

impl AliasScopes {
    /// Scopes for the parameters of the kernel of a group, of which `apart` tells by two whether what
    /// is reached through the one is never reached through the other.
    pub(super) fn new(module: &Module, kernel: &str, apart: &[Vec<bool>]) -> Self {
        let domain = Metadata::list(module, &[Metadata::text(module, kernel)]);
        let scope = |parameter: usize| {
            let name = Metadata::text(module, &format!("{kernel}: parameter {parameter}"));
            Metadata::list(module, &[name, domain])
        };
        let scopes = (0..apart.len())
            .map(|one| {
                let elsewhere: Vec<Metadata> = (0..apart.len())
                    .filter(|other| *other != one && apart[one][*other])
                    .map(scope)
                    .collect();
                (!elsewhere.is_empty()).then(|| (scope(one), elsewhere))
            })
            .collect();
        Self { scopes }
    }

    /// Marks the loads and stores of a body, the n-th parameter of which is `places[n]` of the
    /// kernel's.
    pub(super) fn mark(&self, module: &Module, body: Value, places: &[usize]) {
        for (pointer, place) in body.parameters().into_iter().zip(places) {
            let Some(Some((own, elsewhere))) = self.scopes.get(*place) else {
                continue;
            };
            for access in accesses(pointer) {
                access.extend_metadata(module, "alias.scope", &[*own]);
                access.extend_metadata(module, "noalias", elsewhere);
            }
        }
    }
}

/// The loads from and stores to addresses that are computed from a pointer and numbers alone.
fn accesses(pointer: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![pointer];
    while let Some(pointer) = work.pop() {
        for user in pointer.users() {
            if !user.is_instruction() || !seen.insert((user, pointer)) {
                continue;
            }
            match user.opcode() {
                Opcode::LLVMGetElementPtr if user.operand(0) == pointer => work.push(user),
                Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => work.push(user),
                Opcode::LLVMLoad => found.push(user),
                Opcode::LLVMStore if user.operand(1) == pointer => found.push(user),
                _ => {}
            }
        }
    }
    found
}
