//! Shared variables of a fused kernel that always hold the same.
//!
//! Members that work on the same input often bring the same part of it to shared memory, each to its
//! own variable. Where every store to one of two variables has a twin that stores the same value at the
//! same place of the other, next to it, a thread finds the same in both whenever it looks. Then one of
//! them is enough.

use crate::codegen::divisors::DIVISOR;
use crate::llvm::{Block, Opcode, Type, Value};
use inkwell::module::Module;
use std::collections::HashSet;

const SHARED_ADDRESS_SPACE: u32 = 3;

/// Replaces shared variables of a kernel by others that hold the same.
pub(in crate::codegen::fused_kernels::fuse) fn merge_tiles(module: &Module, kernel: Value) {
    let mut kept: Vec<Tile> = Vec::new();
    for variable in Value::globals(module) {
        let shared = variable.ty().address_space() == SHARED_ADDRESS_SPACE;
        if !shared || variable.is_declaration() || !variable.is_local() {
            continue;
        }
        let Some(tile) = Tile::of(variable) else {
            continue;
        };
        let own = |store: &Store| store.instruction.block().function() == kernel;
        if tile.stores.is_empty() || !tile.stores.iter().all(own) {
            continue;
        }
        match kept.iter_mut().find(|other| other.holds_the_same(&tile)) {
            Some(other) => {
                let alignment = other.variable.alignment().max(variable.alignment());
                other.variable.set_alignment(alignment);
                for store in &tile.stores {
                    store.instruction.erase();
                }
                variable.replace_uses_with(other.variable);
                variable.delete_global();
                // It now has the loads of both.
                if let Some(both) = Tile::of(other.variable) {
                    *other = both;
                }
            }
            None => kept.push(tile),
        }
    }
}

/// A shared variable of which every use is known: plain loads and stores.
struct Tile<'ctx> {
    variable: Value<'ctx>,
    stores: Vec<Store<'ctx>>,
    loads: HashSet<Value<'ctx>>,
}

struct Store<'ctx> {
    instruction: Value<'ctx>,
    place: Vec<Step<'ctx>>,
}

/// A step from an address to another: the type that is indexed, and the indices.
type Step<'ctx> = (Type<'ctx>, Vec<Value<'ctx>>);

impl<'ctx> Tile<'ctx> {
    fn of(variable: Value<'ctx>) -> Option<Self> {
        let mut tile = Self {
            variable,
            stores: Vec::new(),
            loads: HashSet::new(),
        };
        tile.note_uses(variable, &[])?;
        (!tile.stores.is_empty()).then_some(tile)
    }

    /// `None` when an address is used for something else.
    fn note_uses(&mut self, address: Value<'ctx>, place: &[Step<'ctx>]) -> Option<()> {
        let mut seen = HashSet::new();
        for user in address.users() {
            if !seen.insert(user) {
                continue;
            }
            match user.operation()? {
                Opcode::LLVMAddrSpaceCast => self.note_uses(user, place)?,
                Opcode::LLVMGetElementPtr => {
                    let operands = user.operands();
                    if operands[0] != address || operands[1..].contains(&address) {
                        return None;
                    }
                    let mut place = place.to_vec();
                    place.push((user.element_pointer_source_type(), operands[1..].to_vec()));
                    self.note_uses(user, &place)?;
                }
                Opcode::LLVMLoad if is_plain(user) => {
                    self.loads.insert(user);
                }
                Opcode::LLVMStore if is_plain(user) && user.operand(0) != address => {
                    self.stores.push(Store {
                        instruction: user,
                        place: place.to_vec(),
                    });
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// Whether each store to one has a twin to the other.
    fn holds_the_same(&self, other: &Self) -> bool {
        let (one, two) = (self.variable, other.variable);
        one.value_type() == two.value_type()
            && self.stores.len() == other.stores.len()
            && other.stores.iter().all(|store| {
                let mut twins = self.stores.iter();
                twins.any(|twin| self.is_twin(twin, other, store))
            })
            && self.stores.iter().all(|store| {
                let mut twins = other.stores.iter();
                twins.any(|twin| other.is_twin(twin, self, store))
            })
    }

    fn is_twin(&self, own: &Store, other: &Self, store: &Store) -> bool {
        let (one, two) = (own.instruction, store.instruction);
        own.place == store.place
            && one.operand(0) == two.operand(0)
            && one.block() == two.block()
            && between(one.block(), one, two).is_some_and(|between| {
                between.into_iter().all(|instruction| {
                    let of_either =
                        self.loads.contains(&instruction) || other.loads.contains(&instruction);
                    let writes = |tile: &Self| {
                        let mut stores = tile.stores.iter();
                        stores.any(|store| store.instruction == instruction)
                    };
                    !of_either && !writes(self) && !writes(other) && is_harmless(instruction)
                })
            })
    }
}

fn is_plain(access: Value) -> bool {
    !access.is_volatile() && !access.is_atomic()
}

/// The instructions between two of one block, whichever comes first.
fn between<'ctx>(
    block: Block<'ctx>,
    one: Value<'ctx>,
    two: Value<'ctx>,
) -> Option<Vec<Value<'ctx>>> {
    let instructions = block.instructions();
    let place = |of: Value| {
        instructions
            .iter()
            .position(|instruction| *instruction == of)
    };
    let (one, two) = (place(one)?, place(two)?);
    Some(instructions[one.min(two) + 1..one.max(two)].to_vec())
}

/// Neither waits nor looks at what other threads do.
fn is_harmless(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMCall) => instruction.called_name().is_some_and(|name| {
            ["__nv_", "llvm.fma", "llvm.nvvm.read.ptx.sreg.", DIVISOR]
                .iter()
                .any(|known| name.starts_with(known))
        }),
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => is_plain(instruction),
        Some(
            Opcode::LLVMFence
            | Opcode::LLVMAtomicRMW
            | Opcode::LLVMAtomicCmpXchg
            | Opcode::LLVMInvoke
            | Opcode::LLVMCallBr,
        ) => false,
        _ => true,
    }
}
