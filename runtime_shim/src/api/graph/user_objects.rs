//! Objects of the program that graphs keep alive: counts of references, and a function that ends them.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{References, fresh_handle, with_graphs};
use crate::api::store;
use crate::error::{CudaError, CudaResult};

/// What runs when the last reference to an object is gone.
pub type Destructor = unsafe extern "C" fn(*mut c_void);

struct Object {
    references: u32,
    data: usize,
    destructor: Destructor,
}

cuda_functions! {
    /// An object that ends, by a call of `destructor`, when nothing refers to it any more.
    fn cudaUserObjectCreate(
        object: *mut *mut c_void,
        data: *mut c_void,
        destructor: Option<Destructor>,
        references: u32,
        flags: u32,
    ) {
        /// `cudaUserObjectNoDestructorSync`, which is asked for.
        const NO_DESTRUCTOR_SYNC: u32 = 1;
        let Some(destructor) = destructor else { return Err(CudaError::INVALID_VALUE) };
        if object.is_null() || references == 0 || flags != NO_DESTRUCTOR_SYNC {
            return Err(CudaError::INVALID_VALUE);
        }
        let handle = fresh_handle();
        objects().insert(handle, Object { references, data: data as usize, destructor });
        // SAFETY: the program passes a writable address or null.
        unsafe { store(object, handle as *mut c_void) }
    }

    /// Adds references.
    fn cudaUserObjectRetain(object: *mut c_void, count: u32) {
        change(object as usize, i64::from(count))
    }

    /// Takes references away.
    fn cudaUserObjectRelease(object: *mut c_void, count: u32) {
        change(object as usize, -i64::from(count))
    }

    /// Lets a graph refer to an object, by references of its own or those of the caller.
    fn cudaGraphRetainUserObject(
        graph: *mut c_void,
        object: *mut c_void,
        count: u32,
        flags: u32,
    ) {
        /// `cudaGraphUserObjectMove`.
        const MOVE: u32 = 1;
        with_graphs(|graphs| graphs.graph(graph as usize).map(drop))?;
        if flags != MOVE {
            change(object as usize, i64::from(count))?;
        }
        with_graphs(|graphs| {
            let objects = &mut graphs.graph(graph as usize)?.objects;
            *objects.entry(object as usize).or_default() += count;
            Ok(())
        })
    }

    /// Takes references of a graph's away.
    fn cudaGraphReleaseUserObject(graph: *mut c_void, object: *mut c_void, count: u32) {
        with_graphs(|graphs| {
            let objects = &mut graphs.graph(graph as usize)?.objects;
            match objects.get_mut(&(object as usize)) {
                Some(references) if *references >= count => *references -= count,
                _ => return Err(CudaError::INVALID_VALUE),
            }
            Ok(())
        })?;
        change(object as usize, -i64::from(count))
    }
}

/// Adds a copied graph's references.
pub(super) fn retain(references: &References) {
    for (object, count) in references {
        let _ = change(*object, i64::from(*count));
    }
}

/// Takes the references of graphs away that have ended. Objects may end, so that no lock of graphs may be held.
pub(super) fn release(references: &[References]) {
    for (object, count) in references.iter().flatten() {
        let _ = change(*object, -i64::from(*count));
    }
}

fn change(handle: usize, by: i64) -> CudaResult {
    let mut all = objects();
    let object = all.get_mut(&handle).ok_or(CudaError::INVALID_VALUE)?;
    let references = i64::from(object.references) + by;
    if references > 0 {
        object.references = u32::try_from(references).map_err(|_| CudaError::INVALID_VALUE)?;
        return Ok(());
    }
    if let Some(object) = all.remove(&handle) {
        drop(all);
        // On a thread of its own, as CUDA calls it: it may take locks that its caller holds.
        let (destructor, data) = (object.destructor, object.data);
        // SAFETY: the program asked for this call.
        let call = move || unsafe { destructor(data as *mut c_void) };
        if let Ok(thread) = std::thread::Builder::new().spawn(call) {
            let _ = thread.join();
        }
    }
    Ok(())
}

static OBJECTS: Mutex<BTreeMap<usize, Object>> = Mutex::new(BTreeMap::new());

fn objects() -> MutexGuard<'static, BTreeMap<usize, Object>> {
    OBJECTS.lock().unwrap_or_else(PoisonError::into_inner)
}
