//! Functions of the runtime that compiled kernels call.
//!
//! All but one take the thread's context first. The compiler declares them as [`FUNCTIONS`] says; the runtime
//! lists their addresses by [`functions_of_kernels!`](crate::functions_of_kernels), where one of another type does
//! not compile.

use crate::layout::InLlvm;

/// A function of the runtime.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Its symbol.
    pub name: &'static str,
    /// The type of its result in LLVM IR.
    pub result: &'static str,
    /// The types of its parameters in LLVM IR.
    pub parameters: &'static [&'static str],
    /// What LLVM may know of it.
    pub attributes: &'static str,
}

impl Function {
    /// Its declaration in LLVM IR, without an end of the line.
    pub fn declaration(&self) -> String {
        let (result, name) = (self.result, self.name);
        let parameters = self.parameters.join(", ");
        let declaration = format!("declare {result} @{name}({parameters}) {}", self.attributes);
        declaration.trim_end().to_owned()
    }
}

/// Gives `$rows!` a row `NAME: TYPE, "ATTRIBUTES";` for each function of the runtime that compiled kernels call.
#[macro_export]
macro_rules! functions_of_kernels {
    ($rows:ident) => {
        $rows! {
            // `__syncthreads`.
            __sirius_barrier: unsafe extern "C" fn(*mut ThreadContext), "";
            // `bar.red`: number; threads, 0 for all; predicate; 0 count, 1 and, 2 or.
            __sirius_barrier_reduce: unsafe extern "C" fn(*mut ThreadContext, u32, u32, u32, u32) -> u32, "";
            // `bar.arrive`: number; threads.
            __sirius_barrier_arrive: unsafe extern "C" fn(*mut ThreadContext, u32, u32), "";
            // `bar.sync`: number; threads, 0 for all.
            __sirius_named_barrier: unsafe extern "C" fn(*mut ThreadContext, u32, u32), "";
            // `__syncwarp`: mask.
            __sirius_warp_barrier: unsafe extern "C" fn(*mut ThreadContext, u32), "";
            // `mbarrier.arrive`: barrier; count; whether they leave; bytes that are to come, less those that have come.
            __sirius_shared_barrier_arrive: unsafe extern "C" fn(*mut ThreadContext, *mut u64, u32, u32, i32) -> u64, "";
            // `mbarrier.test_wait`: barrier; phase. 1 when that is over.
            __sirius_shared_barrier_wait: unsafe extern "C" fn(*mut ThreadContext, *const u64, u32) -> u32, "";
            // `shfl.sync`: mask; value; PTX's operands; 0 up, 1 down, 2 bfly, 3 idx; where it says whether it was in range.
            __sirius_shuffle: unsafe extern "C" fn(*mut ThreadContext, u32, u32, u32, u32, u32, *mut u32) -> u32, "";
            // `vote.sync`: mask; predicate; 0 all, 1 any, 2 uni, 3 ballot.
            __sirius_vote: unsafe extern "C" fn(*mut ThreadContext, u32, u32, u32) -> u32, "";
            // `match.sync`: mask; value; 1 for all; where the predicate goes.
            __sirius_match: unsafe extern "C" fn(*mut ThreadContext, u32, u64, u32, *mut u32) -> u32, "";
            __sirius_active_mask: unsafe extern "C" fn(*mut ThreadContext) -> u32, "";
            // `mma` and its kin: three operands, the result; shape; form; what a lane holds.
            __sirius_multiply_tiles:
                unsafe extern "C" fn(*mut ThreadContext, *const c_void, *const c_void, *const c_void, *mut c_void, u32, u32, u32), "";
            // Others run before memory is read once more.
            __sirius_give_way: unsafe extern "C" fn(*mut ThreadContext), "";
            // `griddepcontrol.wait` of a kernel that may begin early.
            __sirius_dependency_wait: unsafe extern "C" fn(*mut ThreadContext), "";
            // Other lanes come to the same place: the number of the step.
            __sirius_keep_step: unsafe extern "C" fn(*mut ThreadContext, u32), "";
            // Where the blocks of a grid meet, or 0.
            __sirius_grid_workspace: unsafe extern "C" fn(*const BlockContext) -> u64, "nounwind willreturn memory(none)";
            // `barrier.cluster`.
            __sirius_cluster_arrive: unsafe extern "C" fn(*mut ThreadContext), "";
            __sirius_cluster_wait: unsafe extern "C" fn(*mut ThreadContext), "";
            // `mapa`: address; rank.
            __sirius_map_shared: unsafe extern "C" fn(*mut ThreadContext, u64, u32) -> u64, "";
            // `getctarank`: address.
            __sirius_shared_rank: unsafe extern "C" fn(*mut ThreadContext, u64) -> u32, "";
            __sirius_trap: unsafe extern "C" fn(*mut ThreadContext) -> !, "noreturn";
            // Message; file; line; function.
            __sirius_assert_fail:
                unsafe extern "C" fn(*mut ThreadContext, *const c_char, *const c_char, u32, *const c_char) -> !, "noreturn";
            __sirius_vprintf: unsafe extern "C" fn(*mut ThreadContext, *const c_char, *const c_void) -> i32, "";
            __sirius_clock: unsafe extern "C" fn(*mut ThreadContext) -> u64, "";
            __sirius_global_timer: unsafe extern "C" fn(*mut ThreadContext) -> u64, "";
            __sirius_device_malloc: unsafe extern "C" fn(*mut ThreadContext, u64) -> *mut c_void, "";
            __sirius_device_free: unsafe extern "C" fn(*mut ThreadContext, *mut c_void), "";
            // Instrumented code only: address; bytes; one of `access`. The runtime tells global, shared and local memory apart,
            // counts bytes and writes the trace.
            __sirius_access: unsafe extern "C" fn(*mut ThreadContext, *const c_void, u64, u32), "";
            // Before the next three in instrumented code: their line.
            __sirius_note_place: unsafe extern "C" fn(*mut ThreadContext), "";
            // `tex`, `tld4`; `suld`; `sust`: object; what is asked for; coordinates.
            __sirius_texture: unsafe extern "C" fn(*mut ThreadContext, u64, u32, *const u32) -> Texel, "";
            __sirius_surface_read: unsafe extern "C" fn(*mut ThreadContext, u64, u32, *const u32) -> Texel, "";
            __sirius_surface_write: unsafe extern "C" fn(*mut ThreadContext, u64, u32, *const u32, u64, u64), "";
            // Names what the CPU device does not have.
            __sirius_unsupported: unsafe extern "C" fn(*mut ThreadContext, *const c_char) -> !, "noreturn cold";
        }
    };
}

/// A type of functions, in LLVM IR.
trait Signature {
    const RESULT: &'static str;
    const PARAMETERS: &'static [&'static str];
}

macro_rules! signatures {
    ($(($($parameter:ident)*))*) => {
        $(
            impl<Result: InLlvm, $($parameter: InLlvm),*> Signature for unsafe extern "C" fn($($parameter),*) -> Result {
                const RESULT: &'static str = Result::TYPE;
                const PARAMETERS: &'static [&'static str] = &[$($parameter::TYPE),*];
            }

            impl<$($parameter: InLlvm),*> Signature for unsafe extern "C" fn($($parameter),*) -> ! {
                const RESULT: &'static str = "void";
                const PARAMETERS: &'static [&'static str] = &[$($parameter::TYPE),*];
            }
        )*
    };
}

signatures! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

macro_rules! table {
    ($($name:ident: $ty:ty, $attributes:literal;)*) => {
        use crate::{BlockContext, Texel, ThreadContext};
        use std::ffi::{c_char, c_void};

        /// All of them.
        pub const FUNCTIONS: &[Function] = &[$(Function {
            name: stringify!($name),
            result: <$ty as Signature>::RESULT,
            parameters: <$ty as Signature>::PARAMETERS,
            attributes: $attributes,
        },)*];
    };
}

functions_of_kernels! { table }
