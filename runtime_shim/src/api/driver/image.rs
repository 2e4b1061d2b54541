//! Arrays, textures and surfaces: the runtime's, under the driver's names and structures.

use std::ffi::{c_int, c_void};

use super::context::required;
use super::{DevicePointer, passed_on};
use crate::api::copy::{DEVICE_TO_DEVICE, DEVICE_TO_HOST, HOST_TO_DEVICE};
use crate::api::memory::Extent;
use crate::api::texture;
use crate::api::{array, store};
use crate::error::{CudaError, CudaResult};
use crate::texture::descriptions::ChannelFormat;
use crate::texture::descriptions::{ResourceDescription, TextureDescription};

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PlaneDescription {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayDescription {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

/// `CUDA_RESOURCE_DESC`; more is reserved behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    kind: u32,
    /// An array's handle, or the address of memory.
    handle: usize,
    format: u32,
    channels: u32,
    /// Bytes of linear memory, or texels of a row.
    width: usize,
    height: usize,
    pitch: usize,
}

/// `CUDA_TEXTURE_DESC`; more is reserved behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    address: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    level_filter: u32,
    level_bias: f32,
    level_bounds: [f32; 2],
    border: [f32; 4],
}

/// `CU_TRSF_READ_AS_INTEGER` and the like.
const READ_AS_INTEGER: u32 = 1;
const NORMALISED_COORDINATES: u32 = 2;
const SRGB: u32 = 16;
const NO_TRILINEAR_OPTIMISATION: u32 = 32;
const SEAMLESS: u32 = 64;

driver_functions! {
    /// An array of one or two dimensions.
    fn cuArrayCreate = cuArrayCreate_v2 (
        array: *mut *mut c_void,
        description: *const PlaneDescription,
    ) {
        required()?;
        // SAFETY: the program passes structures, writable addresses or null; the same in this file.
        let description = unsafe { description.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let extent = Extent { width: description.width, height: description.height, depth: 0 };
        let channel = channel(description.format, description.channels)?;
        // SAFETY: as above.
        unsafe { store(array, array::create(channel, extent, 0, false)? as *mut c_void) }
    }

    /// An array of up to three dimensions, or of layers.
    fn cuArray3DCreate = cuArray3DCreate_v2 (
        array: *mut *mut c_void,
        description: *const ArrayDescription,
    ) {
        required()?;
        // SAFETY: as above.
        let description = unsafe { description.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let (channel, extent) = shape(description)?;
        let made = array::create(channel, extent, description.flags, false)?;
        // SAFETY: as above.
        unsafe { store(array, made as *mut c_void) }
    }

    /// What an array was made with.
    fn cuArrayGetDescriptor = cuArrayGetDescriptor_v2 (
        description: *mut PlaneDescription,
        array: *const c_void,
    ) {
        required()?;
        let found = array::find(array as usize)?;
        let (format, channels) = format(found.channel)?;
        let Extent { width, height, .. } = found.extent;
        // SAFETY: as above.
        unsafe { store(description, PlaneDescription { width, height, format, channels }) }
    }

    /// What an array was made with.
    fn cuArray3DGetDescriptor = cuArray3DGetDescriptor_v2 (
        description: *mut ArrayDescription,
        array: *const c_void,
    ) {
        required()?;
        let found = array::find(array as usize)?;
        let (format, channels) = format(found.channel)?;
        let Extent { width, height, depth } = found.extent;
        let flags = found.flags;
        let found = ArrayDescription { width, height, depth, format, channels, flags };
        // SAFETY: as above.
        unsafe { store(description, found) }
    }

    /// Frees an array.
    fn cuArrayDestroy(array: *mut c_void) {
        required()?;
        if array.is_null() {
            return Err(CudaError::INVALID_RESOURCE_HANDLE);
        }
        // SAFETY: any handle may be passed.
        passed_on(unsafe { array::cudaFreeArray(array) })
    }

    /// An array in levels.
    fn cuMipmappedArrayCreate(
        array: *mut *mut c_void,
        description: *const ArrayDescription,
        levels: u32,
    ) {
        required()?;
        // SAFETY: as above.
        let description = unsafe { description.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let (channel, extent) = shape(description)?;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMallocMipmappedArray(array, &raw const channel, extent, levels, description.flags)
        })
    }

    /// A level.
    fn cuMipmappedArrayGetLevel(level_array: *mut *mut c_void, array: *const c_void, level: u32) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe { array::cudaGetMipmappedArrayLevel(level_array, array, level) })
    }

    /// Frees an array in levels.
    fn cuMipmappedArrayDestroy(array: *mut c_void) {
        required()?;
        // SAFETY: any handle may be passed.
        passed_on(unsafe { array::cudaFreeMipmappedArray(array) })
    }

    /// Copies into an array.
    fn cuMemcpyHtoA = cuMemcpyHtoA_v2 cuMemcpyHtoA_v2_ptds (
        array: *mut c_void,
        offset: usize,
        source: *const c_void,
        bytes: usize,
    ) {
        required()?;
        // SAFETY: the program passes as many bytes as it says.
        passed_on(unsafe { array::cudaMemcpyToArray(array, offset, 0, source, bytes, HOST_TO_DEVICE) })
    }

    /// Copies into an array.
    fn cuMemcpyDtoA = cuMemcpyDtoA_v2 cuMemcpyDtoA_v2_ptds (
        array: *mut c_void,
        offset: usize,
        source: DevicePointer,
        bytes: usize,
    ) {
        required()?;
        let source = source as *const c_void;
        // SAFETY: as above.
        passed_on(unsafe { array::cudaMemcpyToArray(array, offset, 0, source, bytes, DEVICE_TO_DEVICE) })
    }

    /// Copies out of an array.
    fn cuMemcpyAtoH = cuMemcpyAtoH_v2 cuMemcpyAtoH_v2_ptds (
        destination: *mut c_void,
        array: *const c_void,
        offset: usize,
        bytes: usize,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMemcpyFromArray(destination, array, offset, 0, bytes, DEVICE_TO_HOST)
        })
    }

    /// Copies into an array, in order of the stream.
    fn cuMemcpyHtoAAsync = cuMemcpyHtoAAsync_v2 cuMemcpyHtoAAsync_v2_ptsz (
        array: *mut c_void,
        offset: usize,
        source: *const c_void,
        bytes: usize,
        stream: *mut c_void,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMemcpyToArrayAsync(array, offset, 0, source, bytes, HOST_TO_DEVICE, stream)
        })
    }

    /// Copies out of an array, in order of the stream.
    fn cuMemcpyAtoHAsync = cuMemcpyAtoHAsync_v2 cuMemcpyAtoHAsync_v2_ptsz (
        destination: *mut c_void,
        array: *const c_void,
        offset: usize,
        bytes: usize,
        stream: *mut c_void,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMemcpyFromArrayAsync(
                destination, array, offset, 0, bytes, DEVICE_TO_HOST, stream,
            )
        })
    }

    /// Copies from array to array.
    fn cuMemcpyAtoA = cuMemcpyAtoA_v2 cuMemcpyAtoA_v2_ptds (
        destination: *mut c_void,
        destination_offset: usize,
        source: *const c_void,
        source_offset: usize,
        bytes: usize,
    ) {
        required()?;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMemcpyArrayToArray(
                destination, destination_offset, 0, source, source_offset, 0, bytes,
                DEVICE_TO_DEVICE,
            )
        })
    }

    /// Copies out of an array.
    fn cuMemcpyAtoD = cuMemcpyAtoD_v2 cuMemcpyAtoD_v2_ptds (
        destination: DevicePointer,
        array: *const c_void,
        offset: usize,
        bytes: usize,
    ) {
        required()?;
        let destination = destination as *mut c_void;
        // SAFETY: as above.
        passed_on(unsafe {
            array::cudaMemcpyFromArray(destination, array, offset, 0, bytes, DEVICE_TO_DEVICE)
        })
    }

    /// A texture object. Views in other formats are not supported.
    fn cuTexObjectCreate(
        object: *mut u64,
        resource: *const Resource,
        sampling: *const Sampling,
        view: *const c_void,
    ) {
        required()?;
        // SAFETY: as above.
        let (resource, sampling) = unsafe { (resource.as_ref(), sampling.as_ref()) };
        let (Some(resource), Some(sampling)) = (resource, sampling) else {
            return Err(CudaError::INVALID_VALUE);
        };
        let resource = described(resource)?;
        let sampling = sampled(sampling, &resource)?;
        // SAFETY: as above.
        passed_on(unsafe {
            texture::cudaCreateTextureObject(object, &raw const resource, &raw const sampling, view)
        })
    }

    /// Forgets a texture object.
    fn cuTexObjectDestroy(object: u64) {
        required()?;
        // SAFETY: any number may be passed.
        passed_on(unsafe { texture::cudaDestroyTextureObject(object) })
    }

    /// A surface object.
    fn cuSurfObjectCreate(object: *mut u64, resource: *const Resource) {
        required()?;
        // SAFETY: as above.
        let resource = unsafe { resource.as_ref() }.ok_or(CudaError::INVALID_VALUE)?;
        let resource = described(resource)?;
        // SAFETY: as above.
        passed_on(unsafe { texture::cudaCreateSurfaceObject(object, &raw const resource) })
    }

    /// Forgets a surface object.
    fn cuSurfObjectDestroy(object: u64) {
        required()?;
        // SAFETY: any number may be passed.
        passed_on(unsafe { texture::cudaDestroySurfaceObject(object) })
    }
}

/// `CUarray_format`: number, bits and `cudaChannelFormatKind`.
const FORMATS: [(u32, c_int, u32); 8] = [
    (0x01, 8, 1),
    (0x02, 16, 1),
    (0x03, 32, 1),
    (0x08, 8, 0),
    (0x09, 16, 0),
    (0x0a, 32, 0),
    (0x10, 16, 2),
    (0x20, 32, 2),
];

fn channel(format: u32, channels: u32) -> CudaResult<ChannelFormat> {
    let mut rows = FORMATS.iter();
    let row = rows.find(|row| row.0 == format);
    let (_, each, kind) = *row.ok_or(CudaError::INVALID_VALUE)?;
    let mut bits = [0; 4];
    let used = bits.get_mut(..channels as usize);
    used.ok_or(CudaError::INVALID_VALUE)?.fill(each);
    Ok(ChannelFormat { bits, kind })
}

fn format(channel: ChannelFormat) -> CudaResult<(u32, u32)> {
    let mut rows = FORMATS.iter();
    let row = rows.find(|row| row.1 == channel.bits[0] && row.2 == channel.kind);
    let channels = channel.bits.iter().filter(|bits| **bits != 0).count();
    Ok((row.ok_or(CudaError::INVALID_VALUE)?.0, channels as u32))
}

fn shape(description: &ArrayDescription) -> CudaResult<(ChannelFormat, Extent)> {
    let extent = Extent {
        width: description.width,
        height: description.height,
        depth: description.depth,
    };
    Ok((channel(description.format, description.channels)?, extent))
}

/// The runtime's description of a resource, whose numbers of kinds are the driver's.
fn described(resource: &Resource) -> CudaResult<ResourceDescription> {
    const LINEAR: u32 = 2;
    let of_memory = resource.kind >= LINEAR;
    let nothing = ChannelFormat {
        bits: [0; 4],
        kind: 0,
    };
    let (channel, [width, height, pitch]) = match of_memory {
        true => (
            channel(resource.format, resource.channels)?,
            [resource.width, resource.height, resource.pitch],
        ),
        false => (nothing, [0; 3]),
    };
    Ok(ResourceDescription {
        kind: resource.kind,
        handle: resource.handle,
        channel,
        width,
        height,
        pitch,
    })
}

/// The runtime's description of how a texture is read. The driver reads integers of 8 and 16 bits as floats
/// unless it is told not to, the runtime when it is told to.
fn sampled(sampling: &Sampling, resource: &ResourceDescription) -> CudaResult<TextureDescription> {
    const ARRAY: u32 = 0;
    const MIPMAPPED: u32 = 1;
    const FLOAT: u32 = 2;
    let channel = match resource.kind {
        ARRAY => array::find(resource.handle)?.channel,
        MIPMAPPED => {
            let levels = array::levels(resource.handle)?;
            array::find(*levels.first().ok_or(CudaError::INVALID_VALUE)?)?.channel
        }
        _ => resource.channel,
    };
    let has = |flag: u32| sampling.flags & flag != 0;
    let as_floats = !has(READ_AS_INTEGER) && channel.kind != FLOAT && channel.bits[0] < 32;
    Ok(TextureDescription {
        address: sampling.address,
        filter: sampling.filter,
        read: u32::from(as_floats),
        srgb: i32::from(has(SRGB)),
        border: sampling.border,
        normalised_coordinates: i32::from(has(NORMALISED_COORDINATES)),
        anisotropy: sampling.anisotropy,
        level_filter: sampling.level_filter,
        level_bias: sampling.level_bias,
        level_bounds: sampling.level_bounds,
        trilinear: i32::from(has(NO_TRILINEAR_OPTIMISATION)),
        seamless: i32::from(has(SEAMLESS)),
    })
}
