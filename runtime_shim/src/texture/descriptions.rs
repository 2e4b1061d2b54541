//! CUDA's structures that say what an object is made from: plain data.

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

/// `cudaResourceDesc`; newer versions reserve more behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceDescription {
    pub(crate) kind: u32,
    /// An array's handle, or the address of memory.
    pub(crate) handle: usize,
    pub(crate) channel: ChannelFormat,
    /// Bytes of linear memory, or texels of a row.
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pitch: usize,
}

/// `cudaTextureDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureDescription {
    pub(crate) address: [u32; 3],
    pub(crate) filter: u32,
    pub(crate) read: u32,
    pub(crate) srgb: i32,
    pub(crate) border: [f32; 4],
    pub(crate) normalised_coordinates: i32,
    pub(crate) anisotropy: u32,
    pub(crate) level_filter: u32,
    pub(crate) level_bias: f32,
    pub(crate) level_bounds: [f32; 2],
    pub(crate) trilinear: i32,
    pub(crate) seamless: i32,
}
