//! What programs hold by an address: the libraries' handles and descriptors.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// Things of one kind, each known by an address that nothing else has, ever.
pub struct Handles<T>(Mutex<BTreeMap<usize, T>>);

impl<T> Handles<T> {
    /// None yet.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Keeps one and makes its address: a block of its own, which is never freed.
    pub fn open(&self, value: T) -> *mut c_void {
        let made: *mut c_void = Box::into_raw(Box::new(0_u64)).cast();
        self.with(|all| all.insert(made as usize, value));
        made
    }

    /// Looks at or changes one; nothing where there is none at the address.
    pub fn visit<R>(&self, handle: *const c_void, how: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.with(|all| all.get_mut(&(handle as usize)).map(how))
    }

    /// One as it is.
    pub fn get(&self, handle: *const c_void) -> Option<T>
    where
        T: Clone,
    {
        self.visit(handle, |value| value.clone())
    }

    /// Forgets one.
    pub fn close(&self, handle: *const c_void) -> Option<T> {
        self.with(|all| all.remove(&(handle as usize)))
    }

    fn with<R>(&self, how: impl FnOnce(&mut BTreeMap<usize, T>) -> R) -> R {
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self::new()
    }
}
