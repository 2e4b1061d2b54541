//! Shared variables -> offsets from the block's shared memory.
//!
//! Invariant: two variables that one kernel can reach do not overlap; variables of different
//! kernels may. A variable without a definition (`extern __shared__`) starts at the beginning of
//! dynamic shared memory.

use super::super::assembly::is_reserved_shared;
use super::super::functions::Library;
use crate::codegen::CodegenError;
use crate::codegen::device::kernels;
use crate::codegen::expansion::{collect_constants, constants_in, entry_place, replace_constants};
use crate::llvm::{Builder, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Address space of shared memory.
pub(in crate::codegen::cpu) const SHARED_ADDRESS_SPACE: u32 = 3;

/// Where the shared variables of a module lie.
pub(in crate::codegen::cpu) struct SharedLayout<'ctx> {
    variables: Vec<SharedVariable<'ctx>>,
    /// By kernel name.
    kernels: BTreeMap<String, KernelShared>,
}

/// Shared memory of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::codegen::cpu) struct KernelShared {
    /// Bytes of static shared memory.
    pub(in crate::codegen::cpu) bytes: u64,
    /// Largest alignment of a variable.
    pub(in crate::codegen::cpu) alignment: u32,
    /// Uses dynamic shared memory.
    pub(in crate::codegen::cpu) dynamic: bool,
}

struct SharedVariable<'ctx> {
    global: Value<'ctx>,
    /// `None` for dynamic shared memory.
    offset_bytes: Option<u64>,
}

impl<'ctx> SharedLayout<'ctx> {
    /// Lays out the shared variables of a device module that is not yet lowered.
    pub(in crate::codegen::cpu) fn of(module: &Module<'ctx>) -> Self {
        let reached: Vec<(String, HashSet<Value>)> = kernels(module)
            .into_iter()
            .map(|kernel| (kernel.name(), reached_globals(kernel)))
            .collect();
        let mut layouts: BTreeMap<String, KernelShared> = reached
            .iter()
            .map(|(name, _)| {
                let empty = KernelShared {
                    alignment: 1,
                    ..KernelShared::default()
                };
                (name.clone(), empty)
            })
            .collect();
        let mut variables = Vec::new();
        for global in Value::globals(module) {
            if global.ty().address_space() != SHARED_ADDRESS_SPACE {
                continue;
            }
            let users: BTreeSet<&String> = reached
                .iter()
                .filter(|(_, globals)| globals.contains(&global))
                .map(|(name, _)| name)
                .collect();
            let alignment = global
                .alignment()
                .max(global.value_type().alignment(module))
                .max(1);
            let bytes = global.value_type().allocation_bytes(module);
            let dynamic = global.is_declaration() || bytes == 0;
            let end = users.iter().map(|name| layouts[*name].bytes).max();
            let offset = end.unwrap_or(0).next_multiple_of(alignment.into());
            for name in users {
                let layout = layouts.entry(name.clone()).or_default();
                layout.alignment = layout.alignment.max(alignment);
                if dynamic {
                    layout.dynamic = true;
                } else {
                    layout.bytes = offset + bytes;
                }
            }
            variables.push(SharedVariable {
                global,
                offset_bytes: (!dynamic).then_some(offset),
            });
        }
        Self {
            variables,
            kernels: layouts,
        }
    }

    /// Shared memory of a kernel.
    pub(in crate::codegen::cpu) fn kernel(&self, name: &str) -> KernelShared {
        self.kernels.get(name).copied().unwrap_or_default()
    }

    /// Makes a lowered function address its shared variables through its context.
    pub(in crate::codegen::cpu) fn replace_uses(
        &self,
        module: &Module<'ctx>,
        function: Value<'ctx>,
        library: &Library<'ctx>,
    ) -> Result<(), CodegenError> {
        let used = globals_in(function);
        let Some(place) = entry_place(function) else {
            return Ok(());
        };
        let context = function.parameters()[0];
        let mut replacements = HashMap::new();
        for variable in &self.variables {
            if !used.contains(&variable.global) {
                continue;
            }
            let base = if variable.offset_bytes.is_some() {
                "sirius.shared"
            } else {
                "sirius.dynamic_shared"
            };
            let base = library.declare(module, base)?;
            let builder = Builder::before(place);
            let start = builder.call(base.value_type(), base, &[context]);
            let offset = Type::integer(module, 64).constant(variable.offset_bytes.unwrap_or(0));
            let address = builder.element_pointer(Type::integer(module, 8), start, &[offset]);
            let address = builder.to_pointer_type(address, variable.global.ty());
            replacements.insert(variable.global, address);
        }
        if replacements.is_empty() {
            return Ok(());
        }
        replace_constants(function, place, replacements)
    }

    /// Deletes the variables; all functions have been rewritten.
    pub(in crate::codegen::cpu) fn delete_globals(&self, module: &Module) {
        for variable in &self.variables {
            // A constant expression without users may still hold the variable.
            let ty = variable.global.ty();
            variable.global.replace_uses_with(ty.poison());
            variable.global.delete_global();
        }
        assert!(
            Value::globals(module)
                .iter()
                .all(|global| global.ty().address_space() != SHARED_ADDRESS_SPACE)
        );
    }
}

/// Bytes of the shared memory that cooperative groups have in each block, from sm_80 on.
const RESERVED_BYTES: u64 = 288;

/// Makes the memory for cooperative groups a shared variable, where inline assembly asks for its address.
pub(in crate::codegen::cpu) fn place_reserved(module: &Module) {
    let functions = Value::functions(module).into_iter();
    let asks = |call: &Value| {
        let assembly = (call.opcode() == Some(Opcode::LLVMCall))
            .then(|| call.called().inline_assembly())
            .flatten();
        assembly.is_some_and(|(template, _)| is_reserved_shared(&template))
    };
    let calls: Vec<Value> = functions
        .flat_map(Value::instructions)
        .filter(asks)
        .collect();
    if calls.is_empty() {
        return;
    }
    let ty = Type::integer(module, 8).array(RESERVED_BYTES);
    let reserved = Value::add_global(module, "sirius.reserved", ty, SHARED_ADDRESS_SPACE);
    // It is not local, so that it stays until the layout is done with it, also where nobody uses the address.
    reserved.set_initializer(Some(ty.poison()));
    reserved.set_alignment(16);
    for call in calls {
        let builder = Builder::before(call);
        let address = builder.to_pointer_type(reserved, Type::pointer(module, 0));
        let address = builder.cast(Opcode::LLVMPtrToInt, address, call.ty());
        call.replace_uses_with(address);
        call.erase();
    }
}

/// Global variables that a function or anything that it may call mentions. An indirect call may
/// reach every function whose address is taken.
fn reached_globals(kernel: Value) -> HashSet<Value> {
    let mut globals = HashSet::new();
    let mut seen = HashSet::from([kernel]);
    let mut work = vec![kernel];
    while let Some(function) = work.pop() {
        for found in constants_in(function) {
            if found.is_function() && !found.is_declaration() && seen.insert(found) {
                work.push(found);
            } else if found.is_global_variable() && globals.insert(found) {
                // A table of function pointers makes its functions reachable.
                if let Some(initializer) = found.initializer() {
                    let mut inner = HashSet::new();
                    collect_constants(initializer, &mut inner);
                    for function in inner {
                        if function.is_function()
                            && !function.is_declaration()
                            && seen.insert(function)
                        {
                            work.push(function);
                        }
                    }
                }
            }
        }
    }
    globals
}

fn globals_in(function: Value) -> HashSet<Value> {
    constants_in(function)
        .into_iter()
        .filter(|value| value.is_global_variable())
        .collect()
}
