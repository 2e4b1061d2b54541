//! Texture and surface objects.

use std::ffi::c_void;

use super::{array, store};
use crate::error::{CudaError, CudaResult};
use crate::memory;
use crate::termination;
use crate::texture::descriptions::{ChannelFormat, ResourceDescription, TextureDescription};
use crate::texture::format::{Component, Format};
use crate::texture::{AddressMode, Image, SURFACES, Sampler, Surface, TEXTURES, Texture};

const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCHED: u32 = 3;

cuda_functions! {
    /// A texture object. Views in other formats are not supported.
    fn cudaCreateTextureObject = cudaCreateTextureObject_v2 (
        object: *mut u64,
        resource: *const ResourceDescription,
        description: *const TextureDescription,
        view: *const c_void,
    ) {
        // SAFETY: the program passes structures or null.
        let (resource, description) = unsafe { (resource.as_ref(), description.as_ref()) };
        let (Some(resource), Some(description)) = (resource, description) else {
            return Err(CudaError::INVALID_VALUE);
        };
        if !view.is_null() {
            termination::notice("the CPU device has no views of resources (cudaCreateTextureObject)");
            return Err(CudaError::NOT_SUPPORTED);
        }
        let levels = images(resource)?;
        let is_linear_memory = resource.kind == LINEAR;
        let texture = Texture {
            sampler: sampler(description, levels[0].format)?,
            levels,
            is_linear_memory,
            descriptions: Some((*resource, *description)),
        };
        // SAFETY: the program passes a writable address or null.
        unsafe { store(object, TEXTURES.add(texture)?) }
    }

    /// Forgets a texture object.
    fn cudaDestroyTextureObject(object: u64) {
        super::stream::all_in_order()?;
        match object {
            0 => Ok(()),
            _ => TEXTURES.remove(object),
        }
    }

    /// What a texture object reads.
    fn cudaGetTextureObjectResourceDesc(resource: *mut ResourceDescription, object: u64) {
        // SAFETY: as above.
        unsafe { store(resource, descriptions(object)?.0) }
    }

    /// How a texture object reads.
    fn cudaGetTextureObjectTextureDesc(description: *mut TextureDescription, object: u64) {
        // SAFETY: as above.
        unsafe { store(description, descriptions(object)?.1) }
    }

    /// A surface object.
    fn cudaCreateSurfaceObject(object: *mut u64, resource: *const ResourceDescription) {
        // SAFETY: the program passes a structure or null.
        let resource = unsafe { resource.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        if resource.kind != ARRAY {
            return Err(CudaError::INVALID_VALUE);
        }
        let image = images(resource)?[0];
        let surface = Surface { image, resource: Some(*resource) };
        // SAFETY: as above.
        unsafe { store(object, SURFACES.add(surface)?) }
    }

    /// Forgets a surface object.
    fn cudaDestroySurfaceObject(object: u64) {
        super::stream::all_in_order()?;
        match object {
            0 => Ok(()),
            _ => SURFACES.remove(object),
        }
    }

    /// What a surface object shows.
    fn cudaGetSurfaceObjectResourceDesc(resource: *mut ResourceDescription, object: u64) {
        let surface = SURFACES.get(object).ok_or(CudaError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe { store(resource, surface.resource.ok_or(CudaError::INVALID_VALUE)?) }
    }

    /// The most texels of linear memory, of any format.
    fn cudaDeviceGetTexture1DLinearMaxWidth(
        width: *mut usize,
        channel: *const ChannelFormat,
        _device: i32,
    ) {
        // SAFETY: the program passes a structure or null.
        let channel = unsafe { channel.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        Format::of(channel)?;
        // SAFETY: as above.
        unsafe { store(width, 1 << 28) }
    }
}

/// Rows of textures over plain memory begin at multiples of so many bytes, `texturePitchAlignment`.
pub const PITCH_ALIGNMENT: usize = 32;

fn descriptions(object: u64) -> CudaResult<(ResourceDescription, TextureDescription)> {
    let texture = TEXTURES.get(object).ok_or(CudaError::INVALID_VALUE)?;
    texture.descriptions.ok_or(CudaError::INVALID_VALUE)
}

/// The images of a resource, largest first.
fn images(resource: &ResourceDescription) -> CudaResult<Vec<Image>> {
    let linear = |width: usize, height: usize, pitch: usize| {
        let format = Format::of(&resource.channel)?;
        let width = match resource.kind {
            LINEAR => width / format.bytes(),
            _ => width,
        };
        let misplaced = !resource.handle.is_multiple_of(memory::ALIGNMENT)
            || resource.kind == PITCHED && !pitch.is_multiple_of(PITCH_ALIGNMENT);
        if resource.handle == 0 || misplaced || width == 0 || height == 0 {
            return Err(CudaError::INVALID_VALUE);
        }
        Ok(vec![Image {
            base: resource.handle,
            width,
            height,
            depth: 1,
            pitch,
            format,
        }])
    };
    match resource.kind {
        ARRAY => Ok(vec![array::find(resource.handle)?.image]),
        MIPMAPPED => {
            let levels = array::levels(resource.handle)?;
            levels
                .into_iter()
                .map(|level| Ok(array::find(level)?.image))
                .collect()
        }
        LINEAR => linear(resource.width, 1, resource.width),
        PITCHED => linear(resource.width, resource.height, resource.pitch),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

fn sampler(description: &TextureDescription, format: Format) -> CudaResult<Sampler> {
    let normalised_float = description.read == 1 && format.component != Component::Float;
    let reads_floats = normalised_float || format.component == Component::Float;
    let linear = description.filter == 1;
    if linear
        && format.component != Component::Float
        && !(normalised_float && format.component_bytes < 4)
    {
        return Err(CudaError::INVALID_FILTER_SETTING);
    }
    if description.read == 1 && format.component_bytes == 4 {
        return Err(CudaError::INVALID_NORM_SETTING);
    }
    let [x, y, z] = description.address.map(AddressMode::from_number);
    let border = description.border.map(|value| match reads_floats {
        true if normalised_float => value.clamp(-1.0, 1.0),
        true => value,
        // Registers of integers.
        false => f32::from_bits(value as i32 as u32),
    });
    Ok(Sampler {
        address: [x?, y?, z?],
        linear,
        linear_levels: linear && description.level_filter == 1,
        normalised_float,
        srgb: description.srgb != 0 && normalised_float && format.component_bytes == 1,
        normalised_coordinates: description.normalised_coordinates != 0,
        border,
        level_bias: description.level_bias,
        level_bounds: description.level_bounds,
    })
}
