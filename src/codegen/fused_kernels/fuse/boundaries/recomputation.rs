//! Kernels in which every block does the work of one block by itself.
//!
//! Invariants: the first member's body is given the place of its own launch, block 0 of one block, and shared memory of the
//! block wherever it stores; the second's gets the same memory through the pointers that lead there. Between the two all
//! threads of the block wait. Only the first block stores the copies where they belong. The bodies do no more with these
//! pointers than to load and store plainly, so that any memory serves: a kernel of which that is not so is not made.

use super::super::fields::Piece;
use super::super::indices::Index;
use super::super::partitions::Number;
use super::super::phases::link;
use super::super::specialisation::{Parameter, SiteReader};
use super::super::{GroupBuilder, segment};
use crate::codegen::CodegenError;
use crate::llvm::{Builder, Opcode, Type, Value};
use crate::schedule::COPY_ALIGNMENT;
use std::collections::HashSet;

/// What each block keeps of the first member's stores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::codegen::fused_kernels::fuse) struct Recomputed {
    copies: Vec<Copy>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Copy {
    /// The parameter of the first member's body.
    stored: usize,
    /// Those of the second's.
    loaded: Vec<usize>,
    /// Where it begins in dynamic shared memory, in bytes.
    begin: Number,
    /// How many bytes it is.
    bytes: Number,
}

impl<'ctx> SiteReader<'_, 'ctx> {
    /// What each block keeps; what of it is known at run time only becomes a parameter.
    pub(in crate::codegen::fused_kernels::fuse) fn recomputed(
        &self,
        parameters: &mut Vec<Parameter<'ctx>>,
    ) -> Option<Recomputed> {
        let recomputation = self.group.recomputation.as_ref()?;
        let place = |member: usize, argument: usize| {
            let whole = |piece: &Piece| piece.argument == argument && piece.is_whole();
            self.bodies.get(member)?.pieces().iter().position(whole)
        };
        let copies = recomputation.copies.iter().enumerate();
        let copies = copies.map(|(number, copy)| {
            let mut number_of = |expression| Number::of(self.module, expression, parameters);
            let loaded = copy.loaded.iter();
            Some(Copy {
                stored: place(0, copy.stored)?,
                loaded: loaded
                    .map(|argument| place(1, *argument))
                    .collect::<Option<_>>()?,
                begin: number_of(&recomputation.begin(number)),
                bytes: number_of(&copy.bytes),
            })
        });
        // Pointers are never taken apart; what is missing here is found missing when the kernel is made.
        let copies = copies.collect::<Option<_>>().unwrap_or_default();
        Some(Recomputed { copies })
    }
}

impl<'ctx> GroupBuilder<'_, 'ctx> {
    /// Whether any memory serves for the copies.
    pub(in crate::codegen::fused_kernels::fuse) fn are_copies_plain(
        &self,
        bodies: &[segment::Body<'ctx>],
    ) -> bool {
        let Some(recomputed) = &self.specialisation.shape.recomputed else {
            return true;
        };
        let parameter = |member: usize, own: usize| bodies[member].function.parameters()[own];
        let is_plain = |copy: &Copy| {
            let stored = Uses::of(parameter(0, copy.stored));
            let mut loaded = copy.loaded.iter();
            stored.is_some()
                && loaded.all(|own| {
                    let uses = Uses::of(parameter(1, *own));
                    uses.is_some_and(|uses| uses.stores.is_empty())
                })
        };
        !recomputed.copies.is_empty() && recomputed.copies.iter().all(is_plain)
    }

    /// What both members do, where the builder stands.
    pub(in crate::codegen::fused_kernels::fuse) fn write_recomputed(
        &self,
        (function, builder): (Value<'ctx>, &Builder<'ctx>),
        bodies: &[segment::Body<'ctx>],
    ) -> Result<(), CodegenError> {
        let shape = &self.specialisation.shape;
        let Some(recomputed) = &shape.recomputed else {
            return Ok(());
        };
        let (module, parameters) = (self.module, function.parameters());
        let copies = self.addresses(function, builder, recomputed);
        let int = Type::integer(module, 32);
        let given = |index: Index| {
            Ok(match index {
                Index::Block(_) => int.constant(0),
                Index::GridSize(_) => int.constant(1),
                Index::Thread(_) | Index::BlockSize(_) => index.read(module, builder),
            })
        };
        let mut arguments = self.arguments_of(&parameters, 0);
        for (copy, address) in recomputed.copies.iter().zip(&copies) {
            arguments[copy.stored] = *address;
        }
        self.call_member(builder, &bodies[0], arguments, &given)?;
        self.begin_segment(builder, &[1]);
        for (number, (copy, address)) in recomputed.copies.iter().zip(&copies).enumerate() {
            let stored = bodies[0].function.parameters()[copy.stored];
            let unit = Uses::of(stored).map_or(1, |uses| uses.unit(module));
            let text = STORE.replace("$UNIT", &unit.to_string());
            let text = text.replace("$BITS", &(8 * unit).to_string());
            let store = link(module, &text, &format!("{}.store{number}", self.name))?;
            let to = self.arguments_of(&parameters, 0)[copy.stored];
            let bytes = copy.bytes.value(module, function);
            builder.call(store.value_type(), store, &[to, *address, bytes]);
        }
        if self.model(1).warp_operations {
            // The first block's threads have stored more or less often.
            self.synchronise(builder, "llvm.nvvm.bar.warp.sync", u64::from(u32::MAX));
        }
        let remapped = shape.remapped[1].as_ref();
        let remapped = remapped.map(|remapped| self.remap(function, builder, remapped));
        let given = |index: Index| match &remapped {
            Some(place) => Ok(place.given(index)),
            None => Ok(index.read(module, builder)),
        };
        let mut arguments = self.arguments_of(&parameters, 1);
        for (copy, address) in recomputed.copies.iter().zip(&copies) {
            for own in &copy.loaded {
                arguments[*own] = *address;
            }
        }
        self.call_member(builder, &bodies[1], arguments, &given)?;
        if let Some(place) = remapped {
            place.leave(builder);
        }
        Ok(())
    }

    /// Where the copies are.
    fn addresses(
        &self,
        function: Value<'ctx>,
        builder: &Builder<'ctx>,
        recomputed: &Recomputed,
    ) -> Vec<Value<'ctx>> {
        let module = self.module;
        let byte = Type::integer(module, 8);
        let name = format!("{}_copies", self.name);
        // Dynamic shared memory, of which no member has any.
        let memory = Value::add_global(module, &name, byte.array(0), SHARED_ADDRESS_SPACE);
        memory.set_alignment(COPY_ALIGNMENT as u32);
        let memory = memory.constant_address_space_cast(Type::pointer(module, 0));
        let copies = recomputed.copies.iter();
        copies
            .map(|copy| {
                let begin = copy.begin.value(module, function);
                builder.element_pointer(byte, memory, &[begin])
            })
            .collect()
    }

    /// What a member's body gets of the kernel's parameters.
    pub(in crate::codegen::fused_kernels::fuse) fn arguments_of(
        &self,
        parameters: &[Value<'ctx>],
        position: usize,
    ) -> Vec<Value<'ctx>> {
        let places = self.specialisation.shape.members[position].places.iter();
        places.map(|index| parameters[*index]).collect()
    }
}

/// What is done with a pointer, and with those that are computed of it.
struct Uses<'ctx> {
    stores: Vec<Value<'ctx>>,
}

impl<'ctx> Uses<'ctx> {
    /// `None` where it is anything but plain loads and stores.
    fn of(pointer: Value<'ctx>) -> Option<Self> {
        let (mut stores, mut seen, mut work) = (Vec::new(), HashSet::new(), vec![pointer]);
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            for user in value.users() {
                match user.opcode() {
                    Some(Opcode::LLVMGetElementPtr | Opcode::LLVMPHI | Opcode::LLVMSelect) => {
                        work.push(user);
                    }
                    Some(Opcode::LLVMLoad) if is_plain(user) => {}
                    Some(Opcode::LLVMStore) if is_plain(user) && user.operand(0) != value => {
                        stores.push(user);
                    }
                    _ => return None,
                }
            }
        }
        Some(Self { stores })
    }

    /// So many bytes can be stored at once where these are.
    fn unit(&self, module: &inkwell::module::Module) -> u64 {
        let stores = self.stores.iter();
        let units = stores.map(|store| {
            let bytes = store.operand(0).ty().access_bytes(module);
            let aligned = u64::from(store.alignment()).max(1);
            1 << bytes.max(1).trailing_zeros().min(aligned.trailing_zeros())
        });
        units.chain([LARGEST_UNIT]).min().unwrap_or(1)
    }
}

/// Any memory serves for it that is aligned as copies are.
fn is_plain(access: Value) -> bool {
    !access.is_volatile() && !access.is_atomic() && i64::from(access.alignment()) <= COPY_ALIGNMENT
}

const STORE: &str = include_str!("../recomputation.ll");
const SHARED_ADDRESS_SPACE: u32 = 3;
/// Bytes that a thread stores at once.
const LARGEST_UNIT: u64 = 4;
