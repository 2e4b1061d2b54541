//! The processor's floating-point mode while device code runs.
//!
//! A program that is linked with `-Ofast` or `-ffast-math` begins in a mode that takes subnormal numbers for zero,
//! any program may have its numbers rounded otherwise, and threads begin in the mode of the one that made them.
//! Kernels and libraries of the device know nothing of that.

use std::arch::asm;
use std::marker::PhantomData;

/// Rounding to nearest, no exceptions that trap, subnormal numbers as they are.
const DEVICE: u32 = 0x1f80;

/// The bits that note which exceptions there were.
const NOTES: u32 = 0x3f;

/// The device's mode on this thread, as long as it lives.
#[derive(Debug)]
pub struct DeviceMode {
    /// The host's, where it is another.
    host: Option<u32>,
    of_this_thread: PhantomData<*const ()>,
}

impl DeviceMode {
    /// Begins it.
    #[must_use]
    pub fn begin() -> Self {
        let mode = current();
        let host = (mode & !NOTES != DEVICE).then_some(mode);
        if host.is_some() {
            set(DEVICE);
        }
        Self {
            host,
            of_this_thread: PhantomData,
        }
    }
}

impl Drop for DeviceMode {
    fn drop(&mut self) {
        if let Some(mode) = self.host {
            set(mode);
        }
    }
}

fn current() -> u32 {
    let mut mode = 0_u32;
    // SAFETY: stores the register in four bytes of ours.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags)) };
    mode
}

fn set(mode: u32) {
    // SAFETY: a value that the register had, or one without reserved bits; Rust's own computations mean the same
    // in either as long as the mode is the host's again when the host goes on.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags, readonly))
    };
}

#[cfg(test)]
mod tests {
    use super::{DEVICE, DeviceMode, NOTES, current, set};
    use std::hint::black_box;

    #[test]
    fn the_host_gets_its_mode_back() {
        const TO_ZERO: u32 = 0x8040;
        let before = current();
        set(before | TO_ZERO);
        let with_kernels = {
            let _mode = DeviceMode::begin();
            assert_eq!(current() & !NOTES, DEVICE);
            black_box(black_box(2e-38_f32) * black_box(0.125))
        };
        assert_eq!(current() & TO_ZERO, TO_ZERO);
        set(before);
        assert!(with_kernels > 0.0);
    }
}
