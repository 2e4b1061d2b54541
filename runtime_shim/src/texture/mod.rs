//! Texture and surface objects: how kernels read and write images.
//!
//! An image is memory with a format of texels and extents; it belongs to a CUDA array, or is linear memory
//! that a descriptor gives a shape. Objects are numbers into a table, so that one that does not exist is
//! named instead of followed. What is read is the memory as it is at that moment: a GPU reads through a
//! cache that writes of the same kernel do not reach, and says nothing of what such a read gives.

pub mod descriptions;
pub mod format;
pub mod sample;

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::error::{CudaError, CudaResult};
use descriptions::{ResourceDescription, TextureDescription};
use format::Format;

/// Memory seen as texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Address of the first texel.
    pub base: usize,
    /// Texels of a row.
    pub width: usize,
    /// Rows, at least 1.
    pub height: usize,
    /// Slices of a volume, layers, or faces; at least 1.
    pub depth: usize,
    /// Bytes from row to row.
    pub pitch: usize,
    /// What a texel is.
    pub format: Format,
}

impl Image {
    /// Address of a texel.
    pub fn address(&self, [x, y, z]: [usize; 3]) -> usize {
        self.base + (z * self.height + y) * self.pitch + x * self.format.bytes()
    }
}

/// What happens to a coordinate outside of the image, `cudaTextureAddressMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The image repeats.
    Wrap,
    /// The nearest texel.
    Clamp,
    /// The image repeats, every other time reversed.
    Mirror,
    /// The border colour.
    Border,
}

impl AddressMode {
    /// By CUDA's number.
    pub fn from_number(number: u32) -> CudaResult<Self> {
        Ok(match number {
            0 => Self::Wrap,
            1 => Self::Clamp,
            2 => Self::Mirror,
            3 => Self::Border,
            _ => return Err(CudaError::INVALID_VALUE),
        })
    }
}

/// How a texture object reads its image.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    /// For each axis.
    pub address: [AddressMode; 3],
    /// Interpolates between texels.
    pub linear: bool,
    /// Interpolates between levels.
    pub linear_levels: bool,
    /// Integers are read as floats between -1 or 0 and 1.
    pub normalised_float: bool,
    /// The first three components are read as sRGB has them.
    pub srgb: bool,
    /// Coordinates count from 0 to 1 along each axis.
    pub normalised_coordinates: bool,
    /// What is outside with [`AddressMode::Border`].
    pub border: [f32; 4],
    /// Added to levels.
    pub level_bias: f32,
    /// The lowest and the highest level.
    pub level_bounds: [f32; 2],
}

/// A texture object.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Its levels, the largest first.
    pub levels: Vec<Image>,
    /// Plain memory, which has no address modes.
    pub is_linear_memory: bool,
    /// How it is read.
    pub sampler: Sampler,
    /// What it was made from by the runtime's call, for those who ask.
    pub descriptions: Option<(ResourceDescription, TextureDescription)>,
}

/// A surface object.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Its image.
    pub image: Image,
    /// What it was made from by the runtime's call, for those who ask.
    pub resource: Option<ResourceDescription>,
}

/// Objects that may live at once, of each kind.
const LIMIT: usize = 1 << 16;

/// Numbered objects; numbers begin with 1.
pub struct Objects<T> {
    places: [AtomicPtr<T>; LIMIT],
}

/// All texture objects.
pub static TEXTURES: Objects<Texture> = Objects::new();
/// All surface objects.
pub static SURFACES: Objects<Surface> = Objects::new();

impl<T> Objects<T> {
    const fn new() -> Self {
        Self {
            places: [const { AtomicPtr::new(std::ptr::null_mut()) }; LIMIT],
        }
    }

    /// Gives an object a number. Errors: `cudaErrorMemoryAllocation` when all numbers are taken.
    pub fn add(&self, object: T) -> CudaResult<u64> {
        let object = Box::into_raw(Box::new(object));
        for (number, place) in (1..).zip(&self.places) {
            let taken = place.compare_exchange(
                std::ptr::null_mut(),
                object,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if taken.is_ok() {
                return Ok(number);
            }
        }
        // SAFETY: nobody else has seen it.
        drop(unsafe { Box::from_raw(object) });
        Err(CudaError::MEMORY_ALLOCATION)
    }

    /// The object of a number.
    pub fn get(&self, number: u64) -> Option<&T> {
        let place = self.place(number)?.load(Ordering::Acquire);
        // SAFETY: null or an object that lives until `remove`, after which the program must not use
        // the number; kernels that do still run inside a call of the program's.
        unsafe { place.as_ref() }
    }

    /// Forgets an object. Errors: `cudaErrorInvalidValue` when there is none of that number.
    pub fn remove(&self, number: u64) -> CudaResult {
        let place = self.place(number).ok_or(CudaError::INVALID_VALUE)?;
        let object = place.swap(std::ptr::null_mut(), Ordering::AcqRel);
        if object.is_null() {
            return Err(CudaError::INVALID_VALUE);
        }
        // SAFETY: `add` made it, and only one caller takes it out.
        drop(unsafe { Box::from_raw(object) });
        Ok(())
    }

    fn place(&self, number: u64) -> Option<&AtomicPtr<T>> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.places.get(index)
    }
}
