//! Which loads and stores of a fused kernel go to different allocations, for LLVM.
//!
//! The host program knows what kernels cannot: that two of their pointers point into different
//! allocations. `noalias` would say more than that, see [`super::super::aliasing`]; alias scopes speak of
//! loads and stores alone, in pairs, so that a barrier still separates whatever it separated.

use super::super::memory::base_of;
use crate::llvm::{Metadata, Opcode, Value};
use inkwell::module::Module;
use std::collections::HashSet;

/// The scope of each pointer of a fused kernel.
pub(in crate::codegen::fused_kernels::fuse) struct AliasScopes<'a, 'ctx> {
    /// By pointer, parameters first: its own scope, and those of the pointers that lead elsewhere. `None` for one
    /// that nothing is known of.
    scopes: Vec<Option<(Metadata<'ctx>, Vec<Metadata<'ctx>>)>>,
    /// See [`super::super::specialisation::Facts::tables`].
    tables: &'a [(usize, u32)],
}

impl<'a, 'ctx> AliasScopes<'a, 'ctx> {
    /// Scopes for the parameters of the kernel of a group and the `tables` behind them, of which `disjoint` tells by two
    /// whether what is reached through the one is never reached through the other.
    pub(in crate::codegen::fused_kernels::fuse) fn new(
        module: &Module<'ctx>,
        kernel: &str,
        disjoint: &[Vec<bool>],
        tables: &'a [(usize, u32)],
    ) -> Self {
        let domain = Metadata::list(module, &[Metadata::text(module, kernel)]);
        let scope = |parameter: usize| {
            let name = Metadata::text(module, &format!("{kernel}: parameter {parameter}"));
            Metadata::list(module, &[name, domain])
        };
        let scopes = (0..disjoint.len())
            .map(|one| {
                let elsewhere: Vec<Metadata> = (0..disjoint.len())
                    .filter(|other| *other != one && disjoint[one][*other])
                    .map(scope)
                    .collect();
                (!elsewhere.is_empty()).then(|| (scope(one), elsewhere))
            })
            .collect();
        Self { scopes, tables }
    }

    /// Marks the loads and stores of a body, the n-th parameter of which is `places[n]` of the
    /// kernel's.
    pub(in crate::codegen::fused_kernels::fuse) fn mark(
        &self,
        module: &Module<'ctx>,
        body: Value<'ctx>,
        places: &[usize],
    ) {
        for (pointer, place) in body.parameters().into_iter().zip(places) {
            let reached = accesses(pointer);
            self.mark_all(module, &reached, *place);
            let behind = self.scopes.len() - self.tables.len();
            for (at, (parameter, distance_bytes)) in self.tables.iter().enumerate() {
                if parameter != place {
                    continue;
                }
                for load in &reached {
                    let stands = || {
                        let (base, distance) = base_of(module, load.operand(0));
                        base == pointer && distance == Some(i64::from(*distance_bytes))
                    };
                    if load.opcode() == Some(Opcode::LLVMLoad) && load.ty().is_pointer() && stands()
                    {
                        self.mark_all(module, &accesses(*load), behind + at);
                    }
                }
            }
        }
    }

    /// Marks accesses that are reached through the pointer of a number.
    fn mark_all(&self, module: &Module<'ctx>, reached: &[Value<'ctx>], pointer: usize) {
        let Some(Some((own, elsewhere))) = self.scopes.get(pointer) else {
            return;
        };
        for access in reached {
            access.extend_metadata(module, "alias.scope", &[*own]);
            access.extend_metadata(module, "noalias", elsewhere);
        }
    }
}

/// The loads from and stores to addresses that are computed from a pointer and numbers alone.
pub(in crate::codegen::fused_kernels::fuse) fn accesses(pointer: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut work = vec![pointer];
    while let Some(pointer) = work.pop() {
        for user in pointer.users() {
            if !user.is_instruction() || !seen.insert((user, pointer)) {
                continue;
            }
            match user.opcode() {
                Some(Opcode::LLVMGetElementPtr) if user.operand(0) == pointer => work.push(user),
                Some(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast) => work.push(user),
                Some(Opcode::LLVMLoad) => found.push(user),
                Some(Opcode::LLVMStore) if user.operand(1) == pointer => found.push(user),
                _ => {}
            }
        }
    }
    found
}
