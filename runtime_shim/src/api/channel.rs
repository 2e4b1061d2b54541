//! Channel descriptions: plain data that texture calls take.

use std::ffi::c_int;

/// `cudaChannelFormatDesc`: bits of each component, and their kind.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelFormat {
    /// Bits of x, y, z and w; 0 where there is none.
    pub bits: [c_int; 4],
    /// `cudaChannelFormatKind`.
    pub kind: u32,
}

/// Puts a description together.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "CUDA's own name")]
pub extern "C" fn cudaCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    kind: u32,
) -> ChannelFormat {
    ChannelFormat {
        bits: [x, y, z, w],
        kind,
    }
}
