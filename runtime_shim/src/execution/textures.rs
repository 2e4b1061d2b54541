//! What compiled kernels call to read textures, and to read and write surfaces.
//!
//! The compiler puts what an instruction says into one word, see [`Request`], and its coordinates into
//! others; texels come back as four words of 32 bits, or, from surfaces, as up to 16 bytes.

use crate::abi::{Texel, ThreadContext, access};
use crate::execution::Failure;
use crate::execution::block::BlockState;
use crate::execution::device_functions::{place_of, reported_access};
use crate::termination;
use crate::texture::sample::{Fetch, Point, Shape};
use crate::texture::{Image, SURFACES, TEXTURES, Texture};

/// What an instruction asks for, as a word:
///
/// | bits | meaning |
/// |---|---|
/// | 0, 1 | number of coordinates |
/// | 2 | a layer comes before them |
/// | 3 | a direction into a cube |
/// | 4 | the coordinates are integers |
/// | 5 | the access is reported |
/// | 6 | gathers one component |
/// | 7 | a level follows the coordinates |
/// | 8, 9 | the component, or what a surface does with what is outside: stop, clamp, leave out |
/// | 10 | two gradients follow the coordinates |
/// | 16 to 23 | bytes that a surface reads or writes |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request(u32);

impl Request {
    fn has(self, bit: u32) -> bool {
        self.0 >> bit & 1 != 0
    }

    fn is_layered(self) -> bool {
        self.has(2)
    }

    fn is_reported(self) -> bool {
        self.has(5)
    }

    fn shape(self) -> Shape {
        let coordinates = (self.0 & 3) as usize;
        match (self.has(3), self.is_layered()) {
            (true, false) => Shape::Cube,
            (true, true) => Shape::CubeLayer,
            (false, false) => Shape::Space(coordinates),
            (false, true) => Shape::Layer(coordinates),
        }
    }

    fn choice(self) -> u32 {
        self.0 >> 8 & 3
    }

    fn bytes(self) -> usize {
        (self.0 >> 16 & 0xff).min(16) as usize
    }
}

/// `tex` and `tld4`. Ends the program when there is no such texture object.
///
/// # Safety
/// Compiled kernels call it with the context that they were given; `words` are as many as the request
/// says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_texture(
    context: *mut ThreadContext,
    handle: u64,
    request: u32,
    words: *const u32,
) -> Texel {
    let request = Request(request);
    let Some(texture) = TEXTURES.get(handle) else {
        // SAFETY: as the caller promises.
        unsafe { no_object(context, "texture", handle) }
    };
    // SAFETY: as the caller promises.
    let word = |position: usize| unsafe { words.add(position).read() };
    let mut report = |address: usize, bytes: usize| {
        if request.is_reported() {
            // SAFETY: as the caller promises.
            unsafe { reported_access(context, address, bytes, access::LOAD) }
        }
    };
    let shape = request.shape();
    let count = shape.coordinates();
    let (layer, first) = match request.is_layered() {
        true => (word(0) as usize, 1),
        false => (0, 0),
    };
    let three = |from: usize| std::array::from_fn(|n| if n < count { word(from + n) } else { 0 });
    let coordinates: [u32; 3] = three(first);
    let mut fetch = Fetch {
        texture,
        report: &mut report,
    };
    if request.has(4) {
        let at = coordinates.map(|word| i64::from(word as i32));
        return fetch.texel(shape, layer, at).into();
    }
    let after = first + count;
    let level = if request.has(7) {
        f32::from_bits(word(after))
    } else if request.has(10) {
        let gradients = [three(after), three(after + count)];
        level_of(texture, gradients.map(|words| words.map(f32::from_bits)))
    } else {
        0.0
    };
    let at = coordinates.map(f32::from_bits);
    let point = Point { shape, layer, at };
    match request.has(6) {
        true => fetch.gather(point, request.choice() as usize),
        false => fetch.sample(point, level),
    }
    .into()
}

/// The level of detail whose texels are as long as the longer of two gradients.
fn level_of(texture: &Texture, gradients: [[f32; 3]; 2]) -> f32 {
    let image = &texture.levels[0];
    let scale = match texture.sampler.normalised_coordinates {
        true => [image.width, image.height, image.depth].map(|extent| extent as f32),
        false => [1.0; 3],
    };
    let length = |gradient: [f32; 3]| {
        let squares = gradient
            .iter()
            .zip(scale)
            .map(|(part, scale)| (part * scale).powi(2));
        squares.sum::<f32>().sqrt()
    };
    length(gradients[0]).max(length(gradients[1])).log2()
}

/// `suld`: up to 16 bytes at coordinates, of which the first counts bytes and a layer is the third.
///
/// # Safety
/// As for [`__sirius_texture`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_surface_read(
    context: *mut ThreadContext,
    handle: u64,
    request: u32,
    words: *const u32,
) -> Texel {
    let request = Request(request);
    let mut value = [0u64; 2];
    // SAFETY: as the caller promises; the bytes lie in the surface's image.
    unsafe {
        if let Some(address) = place_on_surface(context, handle, request, words) {
            if request.is_reported() {
                reported_access(context, address, request.bytes(), access::LOAD);
            }
            let to = value.as_mut_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(address as *const u8, to, request.bytes());
        }
    }
    let [low, high] = value;
    Texel { low, high }
}

/// `sust`: writes up to 16 bytes at coordinates.
///
/// # Safety
/// As for [`__sirius_texture`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __sirius_surface_write(
    context: *mut ThreadContext,
    handle: u64,
    request: u32,
    words: *const u32,
    low: u64,
    high: u64,
) {
    let request = Request(request);
    let value = [low, high];
    // SAFETY: as for reads.
    unsafe {
        if let Some(address) = place_on_surface(context, handle, request, words) {
            if request.is_reported() {
                reported_access(context, address, request.bytes(), access::STORE);
            }
            let from = value.as_ptr().cast::<u8>();
            std::ptr::copy_nonoverlapping(from, address as *mut u8, request.bytes());
        }
    }
}

/// Address of what a surface instruction names; none where it leaves out what is outside.
///
/// # Safety
/// As for [`__sirius_texture`].
unsafe fn place_on_surface(
    context: *mut ThreadContext,
    handle: u64,
    request: Request,
    words: *const u32,
) -> Option<usize> {
    let Some(surface) = SURFACES.get(handle) else {
        // SAFETY: as the caller promises.
        unsafe { no_object(context, "surface", handle) }
    };
    let image: &Image = &surface.image;
    let count = request.shape().coordinates();
    // SAFETY: as the caller promises.
    let word = |position: usize| i64::from(unsafe { words.add(position).read() } as i32);
    let mut at = [0i64; 3];
    let first = usize::from(request.is_layered());
    for (axis, place) in at.iter_mut().enumerate().take(count) {
        *place = word(first + axis);
    }
    if request.is_layered() {
        at[2] = word(0);
    }
    let row = image.width * image.format.bytes();
    let last = [
        row as i64 - request.bytes() as i64,
        image.height as i64 - 1,
        image.depth as i64 - 1,
    ];
    let inside = at
        .iter()
        .zip(last)
        .all(|(at, last)| (0..=last).contains(at));
    if !inside {
        match request.choice() {
            0 => {
                // SAFETY: as the caller promises.
                unsafe {
                    let state = BlockState::of(context);
                    let name = &(*state).launch().kernel.display_name;
                    termination::notice(&format!(
                        "kernel {name} is outside of surface object {handle} ({} bytes by {} by {}) at \
                         byte {}, {}, {} in {}",
                        row,
                        image.height,
                        image.depth,
                        at[0],
                        at[1],
                        at[2],
                        place_of(context)
                    ));
                    BlockState::abandon(state, (*context).linear_index, Failure::Trap)
                }
            }
            1 => {
                for (at, last) in at.iter_mut().zip(last) {
                    *at = (*at).min(last).max(0);
                }
            }
            _ => return None,
        }
    }
    let [x, y, z] = at.map(|each| each as usize);
    Some(image.address([0, y, z]) + x)
}

/// # Safety
/// As for [`__sirius_texture`].
unsafe fn no_object(context: *mut ThreadContext, kind: &str, handle: u64) -> ! {
    // SAFETY: as the caller promises.
    unsafe {
        let state = BlockState::of(context);
        let name = &(*state).launch().kernel.display_name;
        termination::fail(&format!(
            "kernel {name} uses {kind} object {handle}, which does not exist, in {}",
            place_of(context)
        ))
    }
}
