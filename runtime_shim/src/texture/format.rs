//! Formats of texels: one to four components of 8, 16 or 32 bits.

use super::descriptions::ChannelFormat;
use crate::error::{CudaError, CudaResult};

/// What the components are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
    /// IEEE floats, of 16 bits as well.
    Float,
}

/// What a texel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Kind of all components.
    pub component: Component,
    /// Bytes of a component: 1, 2 or 4.
    pub component_bytes: usize,
    /// Components: 1, 2 or 4 (3 in linear memory).
    pub components: usize,
}

impl Format {
    /// Of a channel description. Errors: `cudaErrorInvalidChannelDescriptor` when no texel is so.
    pub fn of(channel: &ChannelFormat) -> CudaResult<Self> {
        let component = match channel.kind {
            0 => Component::Signed,
            1 => Component::Unsigned,
            2 => Component::Float,
            _ => return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR),
        };
        let [bits, ..] = channel.bits;
        let components = channel.bits.iter().take_while(|each| **each != 0).count();
        let alike = channel.bits[..components].iter().all(|each| *each == bits);
        let rest = channel.bits[components..].iter().all(|each| *each == 0);
        let fits = match component {
            Component::Float => matches!(bits, 16 | 32),
            _ => matches!(bits, 8 | 16 | 32),
        };
        if components == 0 || components == 3 || !alike || !rest || !fits {
            return Err(CudaError::INVALID_CHANNEL_DESCRIPTOR);
        }
        Ok(Self {
            component,
            component_bytes: bits as usize / 8,
            components,
        })
    }

    /// Bytes of a texel.
    pub fn bytes(self) -> usize {
        self.component_bytes * self.components
    }

    /// The components of a texel at an address as registers hold them: integers extended to 32 bits,
    /// floats as such.
    ///
    /// # Safety
    /// The texel is memory that may be read.
    pub unsafe fn load(self, address: usize) -> [u32; 4] {
        let mut texel = [0; 4];
        for (position, component) in texel.iter_mut().take(self.components).enumerate() {
            let at = address + position * self.component_bytes;
            // SAFETY: within the texel.
            *component = unsafe {
                match (self.component, self.component_bytes) {
                    (Component::Signed, 1) => i32::from((at as *const i8).read()) as u32,
                    (Component::Signed, 2) => i32::from((at as *const i16).read_unaligned()) as u32,
                    (Component::Float, 2) => {
                        float_of_half((at as *const u16).read_unaligned()).to_bits()
                    }
                    (_, 1) => u32::from((at as *const u8).read()),
                    (_, 2) => u32::from((at as *const u16).read_unaligned()),
                    (_, _) => (at as *const u32).read_unaligned(),
                }
            };
        }
        texel
    }

    /// The components as floats: integers of 8 and 16 bits between -1 or 0 and 1.
    pub fn as_floats(self, texel: [u32; 4]) -> [f32; 4] {
        texel.map(|component| match (self.component, self.component_bytes) {
            (Component::Float, _) | (_, 4) => f32::from_bits(component),
            (Component::Unsigned, 1) => component as f32 / 255.0,
            (Component::Unsigned, _) => component as f32 / 65535.0,
            // The lowest number and the one above it are both -1.
            (Component::Signed, 1) => (component as i32 as f32 / 127.0).max(-1.0),
            (Component::Signed, _) => (component as i32 as f32 / 32767.0).max(-1.0),
        })
    }
}

/// The float that a half is.
pub fn float_of_half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 31);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        // Below the smallest normal number: so many times 2^-24.
        0 => f32::from_bits(sign | (fraction as f32 / 16_777_216.0).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}
