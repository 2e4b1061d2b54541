//! Channel descriptions: plain data that texture calls take.

use std::ffi::c_int;

use crate::texture::descriptions::ChannelFormat;

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
