//! Callbacks: device functions of the program's that load elements of a transform or store its results.
//!
//! They are called by the threads of a kernel of the runtime's own, which takes elements in the order of their indices.
//! A device function takes its thread's context first (`crate::abi`). What it gets and gives by value it does as
//! the device's code does it: it returns the two parts of a complex number in a register each, and takes a complex
//! number on the stack. What it accesses is seen by no check and no trace.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;

use crate::abi::{CpuKernel, ThreadContext, flags};
use crate::api::launch;
use crate::execution::kernel::KernelRecord;

use super::{TransformError, TransformResult};

/// Threads of a block of the kernel.
const THREADS: usize = 32;

/// Both parts of an element; of a real one the first.
pub type Element = [f64; 2];

/// A callback of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// The device function.
    pub function: usize,
    /// What it gets as the program's own information.
    pub information: usize,
    /// Bytes of shared memory that it may use.
    pub shared_bytes: u32,
}

/// What kind of elements a callback has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Stores instead of loading.
    pub store: bool,
    /// Numbers without an imaginary part.
    pub real: bool,
    /// Of double precision.
    pub double: bool,
}

impl Elements {
    /// By a `cufftXtCallbackType`.
    pub fn from_number(number: u32) -> TransformResult<Self> {
        if number > 7 {
            return Err(TransformError::INVALID_TYPE);
        }
        Ok(Self {
            store: number & 4 != 0,
            real: number & 2 != 0,
            double: number & 1 != 0,
        })
    }
}

struct Work<'a> {
    callback: Callback,
    elements: Elements,
    data: usize,
    offsets: &'a [usize],
    values: *mut Element,
}

/// Calls a callback for elements that lie so far, in elements, behind the start of the data, and loads their values
/// or stores them.
///
/// # Errors
/// It failed as a kernel does.
pub fn run(
    callback: Callback,
    elements: Elements,
    data: usize,
    offsets: &[usize],
    values: &mut [Element],
) -> TransformResult {
    assert_eq!(offsets.len(), values.len());
    let blocks =
        u32::try_from(offsets.len().div_ceil(THREADS)).map_err(|_| TransformError::INVALID_SIZE)?;
    let work = Work {
        callback,
        elements,
        data,
        offsets,
        values: values.as_mut_ptr(),
    };
    let arguments: [*const c_void; 1] = [(&raw const work).cast()];
    let done = launch::run_own(
        kernel(),
        blocks,
        THREADS as u32,
        callback.shared_bytes,
        &arguments,
    );
    done.map_err(|_| TransformError::EXEC_FAILED)
}

fn kernel() -> &'static KernelRecord {
    static KERNEL: OnceLock<KernelRecord> = OnceLock::new();
    KERNEL.get_or_init(|| {
        let kernel = CpuKernel {
            name: c"cufft_callback".as_ptr(),
            display_name: c"cufft_callback".as_ptr(),
            thread,
            thread_instrumented: thread,
            block_loop: None,
            static_shared_bytes: 0,
            shared_align: 16,
            max_threads: THREADS as u32,
            argument_count: 0,
            // What a device function does is not known here.
            flags: flags::BARRIERS | flags::WARP_OPERATIONS | flags::PRINTS_OR_TRAPS,
            argument_sizes: std::ptr::null(),
            stack_bytes: 0,
            argument_offsets: std::ptr::null(),
        };
        KernelRecord {
            kernel: Box::leak(Box::new(kernel)),
            name: "cufft_callback".to_owned(),
            display_name: "cufft_callback".to_owned(),
            architecture: 0,
            dynamic_shared_opt_in: AtomicU32::new(0),
        }
    })
}

/// Two numbers that are returned in registers of their own.
#[repr(C)]
struct Pair(f64, f64);

/// So large that it is passed on the stack, where a smaller one by value begins at the same place.
#[repr(C)]
struct OnStack([u64; 4]);

type Load<T> = unsafe extern "C" fn(*mut ThreadContext, usize, usize, usize, *mut u8) -> T;
type Store<T> = unsafe extern "C" fn(*mut ThreadContext, usize, usize, T, usize, *mut u8);

/// One thread: one element.
///
/// # Safety
/// The only argument is a [`Work`] whose function is a callback for its elements.
unsafe extern "C" fn thread(context: *mut ThreadContext, arguments: *const *const c_void) {
    // SAFETY: as the caller promises, and the context is that of a running thread.
    let (work, block) = unsafe { (&*(*arguments).cast::<Work>(), &*(*context).block) };
    // SAFETY: as above.
    let index =
        block.block_index[0] as usize * THREADS + unsafe { (*context).thread_index[0] } as usize;
    let Some(offset) = work.offsets.get(index).copied() else {
        return;
    };
    let function = work.callback.function as *const ();
    let (data, information) = (work.data, work.callback.information);
    let shared = match work.callback.shared_bytes {
        0 => std::ptr::null_mut(),
        _ => block.dynamic_shared,
    };
    let Elements {
        store,
        real,
        double,
    } = work.elements;
    // SAFETY: there are as many values as offsets, and each thread has its own; functions are of the types of
    // the elements, which the device's code takes and returns as these signatures say.
    unsafe {
        let value = work.values.add(index);
        match (store, real, double) {
            (false, true, false) => {
                let load: Load<f32> = std::mem::transmute(function);
                *value = [load(context, data, offset, information, shared).into(), 0.0];
            }
            (false, true, true) => {
                let load: Load<f64> = std::mem::transmute(function);
                *value = [load(context, data, offset, information, shared), 0.0];
            }
            (false, false, false) => {
                let load: Load<Pair> = std::mem::transmute(function);
                let Pair(re, im) = load(context, data, offset, information, shared);
                *value = [re, im].map(|part| f32::from_bits(part.to_bits() as u32).into());
            }
            (false, false, true) => {
                let load: Load<Pair> = std::mem::transmute(function);
                let Pair(re, im) = load(context, data, offset, information, shared);
                *value = [re, im];
            }
            (true, true, false) => {
                let store: Store<f32> = std::mem::transmute(function);
                store(
                    context,
                    data,
                    offset,
                    (*value)[0] as f32,
                    information,
                    shared,
                );
            }
            (true, true, true) => {
                let store: Store<f64> = std::mem::transmute(function);
                store(context, data, offset, (*value)[0], information, shared);
            }
            (true, false, false) => {
                let store: Store<OnStack> = std::mem::transmute(function);
                let [re, im] = value.read().map(|part| u64::from((part as f32).to_bits()));
                let on_stack = OnStack([im << 32 | re, 0, 0, 0]);
                store(context, data, offset, on_stack, information, shared);
            }
            (true, false, true) => {
                let store: Store<OnStack> = std::mem::transmute(function);
                let [re, im] = value.read().map(f64::to_bits);
                let on_stack = OnStack([re, im, 0, 0]);
                store(context, data, offset, on_stack, information, shared);
            }
        }
    }
}
