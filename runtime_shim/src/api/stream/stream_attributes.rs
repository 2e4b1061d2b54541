//! Attributes of streams, which are remembered: hints on caches and on how the host waits, of which a
//! device that is the host's own processor needs none.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::{store, stream};
use crate::error::{CudaError, CudaResult};

/// `cudaLaunchAttributeValue`.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Value([u8; 64]);

/// `cudaLaunchAttribute…`: those that streams have.
const ACCESS_POLICY_WINDOW: u32 = 1;
const SYNCHRONIZATION_POLICY: u32 = 3;
const PRIORITY: u32 = 8;
const MEMORY_DOMAIN_MAP: u32 = 9;
const MEMORY_DOMAIN: u32 = 10;

/// Where a window's ratio of hits begins: behind an address and a size.
const HIT_RATIO_AT: usize = 16;
/// `cudaSyncPolicyAuto` to `cudaSyncPolicyBlockingSync`.
const SYNCHRONIZATION_POLICIES: std::ops::RangeInclusive<i32> = 1..=4;

cuda_functions! {
    /// One attribute: what was set, or what a stream begins with.
    fn cudaStreamGetAttribute = cudaStreamGetAttribute_ptsz (
        stream: *mut c_void,
        attribute: u32,
        value: *mut Value,
    ) {
        // SAFETY: the program passes a writable address or null.
        unsafe { store(value, of(stream, attribute)?) }
    }

    /// Remembers an attribute.
    fn cudaStreamSetAttribute = cudaStreamSetAttribute_ptsz (
        stream: *mut c_void,
        attribute: u32,
        value: *const Value,
    ) {
        let (id, _) = stream::id_and_priority(stream)?;
        // SAFETY: the program passes a readable address or null.
        let value = *unsafe { value.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        check(attribute, &value)?;
        attributes().entry(id).or_default().insert(attribute, value);
        Ok(())
    }

    /// Gives a stream what was set of another one.
    fn cudaStreamCopyAttributes = cudaStreamCopyAttributes_ptsz (
        destination: *mut c_void,
        source: *mut c_void,
    ) {
        let (to, _) = stream::id_and_priority(destination)?;
        let (from, _) = stream::id_and_priority(source)?;
        let mut attributes = attributes();
        let copied = attributes.get(&from).cloned().unwrap_or_default();
        attributes.insert(to, copied);
        Ok(())
    }
}

/// The priority of a stream, which one is made with or which is set.
pub fn priority(stream: *mut c_void) -> CudaResult<i32> {
    of(stream, PRIORITY).map(|value| i32::from_ne_bytes(value.word(0)))
}

/// Forgets what was set of a stream that has ended.
pub fn forget(id: u64) {
    attributes().remove(&id);
}

/// What was set, by the stream's number and the attribute's.
static ATTRIBUTES: Mutex<BTreeMap<u64, BTreeMap<u32, Value>>> = Mutex::new(BTreeMap::new());

fn attributes() -> MutexGuard<'static, BTreeMap<u64, BTreeMap<u32, Value>>> {
    ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of(stream: *mut c_void, attribute: u32) -> CudaResult<Value> {
    let (id, priority) = stream::id_and_priority(stream)?;
    let attributes = attributes();
    let set = attributes
        .get(&id)
        .and_then(|of_stream| of_stream.get(&attribute));
    match set {
        Some(value) => Ok(*value),
        None => at_first(attribute, priority),
    }
}

impl Value {
    /// Zeros behind what is given.
    fn of(first: &[u8]) -> Self {
        let mut bytes = [0; 64];
        bytes[..first.len()].copy_from_slice(first);
        Self(bytes)
    }

    fn word(&self, at: usize) -> [u8; 4] {
        [0, 1, 2, 3].map(|byte| self.0[at + byte])
    }
}

/// What a stream begins with. Errors: `cudaErrorInvalidValue` for what no stream has.
fn at_first(attribute: u32, priority: i32) -> CudaResult<Value> {
    match attribute {
        ACCESS_POLICY_WINDOW | MEMORY_DOMAIN => Ok(Value::of(&[])),
        SYNCHRONIZATION_POLICY => Ok(Value::of(&SYNCHRONIZATION_POLICIES.start().to_ne_bytes())),
        PRIORITY => Ok(Value::of(&priority.to_ne_bytes())),
        // The default domain is the first, the remote one the second.
        MEMORY_DOMAIN_MAP => Ok(Value::of(&[0, 1])),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Errors: `cudaErrorInvalidValue` for a value that the attribute cannot have.
fn check(attribute: u32, value: &Value) -> CudaResult {
    let number = i32::from_ne_bytes(value.word(0));
    let is_valid = match attribute {
        ACCESS_POLICY_WINDOW => (0.0..=1.0).contains(&f32::from_ne_bytes(value.word(HIT_RATIO_AT))),
        SYNCHRONIZATION_POLICY => SYNCHRONIZATION_POLICIES.contains(&number),
        PRIORITY => (stream::PRIORITIES.1..=stream::PRIORITIES.0).contains(&number),
        MEMORY_DOMAIN => (0..=1).contains(&number),
        MEMORY_DOMAIN_MAP => true,
        _ => false,
    };
    match is_valid {
        true => Ok(()),
        false => Err(CudaError::INVALID_VALUE),
    }
}
