//! Reading a texture: coordinates -> texels -> a value, by the rules of the CUDA programming guide's
//! appendix on texture fetching.
//!
//! As on a GPU, weights of linear filtering have eight bits behind the point, and what several axes make of a
//! corner's has, too: one whole is divided along z, then along x, then along y, and each part is rounded. What a GPU
//! adds up in what order is not told, so that last bits of filtered values may differ. (Seen on an H200, of floats.)

use super::{AddressMode, Image, Sampler, Texture};

/// Which texels a fetch is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A row, plane or volume, by the number of its coordinates.
    Space(usize),
    /// A layer of rows or planes.
    Layer(usize),
    /// A cube around the origin.
    Cube,
    /// A layer of cubes.
    CubeLayer,
}

impl Shape {
    /// Coordinates besides the layer.
    pub fn coordinates(self) -> usize {
        match self {
            Self::Space(count) | Self::Layer(count) => count,
            Self::Cube | Self::CubeLayer => 3,
        }
    }
}

/// Where a fetch reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Which texels.
    pub shape: Shape,
    /// Layer, where the shape has layers.
    pub layer: usize,
    /// Coordinates; unused ones are 0.
    pub at: [f32; 3],
}

/// A fetch that reports the texels that it reads.
pub struct Fetch<'a> {
    /// The texture.
    pub texture: &'a Texture,
    /// Is told the address and bytes of each texel.
    pub report: &'a mut dyn FnMut(usize, usize),
}

impl Fetch<'_> {
    /// The texel at whole coordinates, as `tex1Dfetch` reads it. Outside of linear memory it is zero.
    pub fn texel(&mut self, shape: Shape, layer: usize, at: [i64; 3]) -> [u32; 4] {
        let image = self.texture.levels[0];
        let extents = [image.width, image.height, image.depth].map(|extent| extent as i64);
        let mut place = [0; 3];
        for axis in 0..shape.coordinates() {
            let inside = (0..extents[axis]).contains(&at[axis]);
            if !inside && self.texture.is_linear_memory {
                return [0; 4];
            }
            place[axis] = at[axis].clamp(0, extents[axis] - 1) as usize;
        }
        if let Shape::Layer(_) = shape {
            place[2] = layer.min(image.depth - 1);
        }
        self.texel_at(&image, place)
    }

    /// The value at coordinates, at a level of detail.
    pub fn sample(&mut self, point: Point, level: f32) -> [u32; 4] {
        let sampler = &self.texture.sampler;
        let highest = (self.texture.levels.len() - 1) as f32;
        let [low, high] = sampler.level_bounds;
        let level = match self.texture.levels.len() {
            1 => 0.0,
            _ => (level + sampler.level_bias)
                .max(low)
                .min(high)
                .clamp(0.0, highest),
        };
        if sampler.linear_levels && level.fract() != 0.0 {
            let weight = (level.fract() * 256.0).round() / 256.0;
            let near = self.in_level(point, level as usize).map(f32::from_bits);
            let far = self.in_level(point, level as usize + 1).map(f32::from_bits);
            return std::array::from_fn(|n| (near[n] + (far[n] - near[n]) * weight).to_bits());
        }
        self.in_level(point, level.round() as usize)
    }

    /// One component of the four texels that linear filtering would weigh, counter-clockwise from the
    /// lower left one.
    pub fn gather(&mut self, point: Point, component: usize) -> [u32; 4] {
        let image = self.texture.levels[0];
        let (at, z) = plane(&image, point);
        let [x, y] = [0, 1].map(|axis| self.footprint(&image, axis, at[axis]).0);
        [(0, 1), (1, 1), (1, 0), (0, 0)]
            .map(|(right, down)| self.value(&image, [x + right, y + down, z as i64], 2)[component])
    }

    fn in_level(&mut self, point: Point, level: usize) -> [u32; 4] {
        let image = self.texture.levels[level];
        let sampler = &self.texture.sampler;
        let [x, y, _] = point.at;
        let inside =
            (0.0..image.width as f32).contains(&x) && (0.0..image.height as f32).contains(&y);
        // The commonest reads need none of what follows.
        if inside
            && point.shape == Shape::Space(2)
            && !(sampler.linear || sampler.normalised_coordinates || sampler.normalised_float)
        {
            return self.load(&image, [x as usize, y as usize, 0]);
        }
        let (at, z) = plane(&image, point);
        let axes = match point.shape {
            Shape::Space(count) | Shape::Layer(count) => count,
            Shape::Cube | Shape::CubeLayer => 2,
        };
        let mut first = [0, 0, z as i64];
        if !self.texture.sampler.linear {
            for axis in 0..axes {
                first[axis] = nearest(&self.texture.sampler, &image, axis, at[axis]);
            }
            return self.value(&image, first, axes);
        }
        let mut weights = [0; 3];
        for axis in 0..axes {
            (first[axis], weights[axis]) = self.footprint(&image, axis, at[axis]);
        }
        // A row is the middle of a plane of one row to a GPU, half of which is border.
        let beside = axes == 1 && sampler.address[0] == AddressMode::Border;
        let whole = if beside { WHOLE / 2 } else { WHOLE };
        let border = sampler.border;
        let mut sum = [0.0f64; 4];
        let mut add = |weight: u32, value: [f32; 4]| {
            if weight > 0 {
                for (sum, value) in sum.iter_mut().zip(value) {
                    *sum += f64::from(weight) * f64::from(value);
                }
            }
        };
        add(WHOLE - whole, border);
        for corner in 0..1usize << axes {
            let mut place = first;
            for (axis, place) in place.iter_mut().take(axes).enumerate() {
                *place += (corner >> axis & 1) as i64;
            }
            let weight = corner_weight(whole, &weights[..axes], corner);
            if weight > 0 {
                add(weight, self.value(&image, place, axes).map(f32::from_bits));
            }
        }
        sum.map(|sum| ((sum / f64::from(WHOLE)) as f32).to_bits())
    }

    /// The first of the two texels that linear filtering weighs along an axis, and the other's weight of [`WHOLE`].
    fn footprint(&self, image: &Image, axis: usize, coordinate: f32) -> (i64, u32) {
        let sampler = &self.texture.sampler;
        let place = in_texels(sampler, image, axis, coordinate) - 0.5;
        let weight = ((place - place.floor()) * WHOLE as f32 + 0.5).floor() as u32;
        let (first, weight) = match weight {
            WHOLE => (place.floor() as i64 + 1, 0),
            _ => (place.floor() as i64, weight),
        };
        let last = [image.width, image.height, image.depth][axis] as i64 - 1;
        match clamps(sampler, axis) {
            true if first < 0 => (0, 0),
            true if first >= last => (last, 0),
            _ => (first, weight),
        }
    }

    /// A texel, or what is outside of the image in its place, read as the sampler says.
    fn value(&mut self, image: &Image, at: [i64; 3], axes: usize) -> [u32; 4] {
        let sampler = &self.texture.sampler;
        let mut place = at.map(|each| each.max(0) as usize);
        for axis in 0..axes {
            let extent = [image.width, image.height, image.depth][axis];
            match addressed(sampler, axis, at[axis], extent) {
                Some(index) => place[axis] = index,
                None => return sampler.border.map(f32::to_bits),
            }
        }
        self.texel_at(image, place)
    }

    /// A texel, read as the sampler says.
    fn texel_at(&mut self, image: &Image, place: [usize; 3]) -> [u32; 4] {
        let texel = self.load(image, place);
        match self.texture.sampler.normalised_float {
            true => {
                let mut values = image.format.as_floats(texel);
                if self.texture.sampler.srgb {
                    values
                        .iter_mut()
                        .take(3)
                        .for_each(|value| *value = of_srgb(*value));
                }
                values.map(f32::to_bits)
            }
            false => texel,
        }
    }

    fn load(&mut self, image: &Image, place: [usize; 3]) -> [u32; 4] {
        let address = image.address(place);
        (self.report)(address, image.format.bytes());
        // SAFETY: within the image, whose memory the program keeps as long as the texture; where it has
        // not, the runtime reports the fault as a kernel's.
        unsafe { image.format.load(address) }
    }
}

/// One, in the numbers in which weights are kept.
const WHOLE: u32 = 256;

/// The weight of a corner: of a whole, the second texels along an axis get their part, rounded, and the first ones the
/// rest.
fn corner_weight(whole: u32, weights: &[u32], corner: usize) -> u32 {
    [2, 0, 1]
        .into_iter()
        .filter(|axis| *axis < weights.len())
        .fold(whole, |weight, axis| {
            let second = (weight * weights[axis] + WHOLE / 2) / WHOLE;
            match corner >> axis & 1 {
                1 => second,
                _ => weight - second,
            }
        })
}

/// The brightness that a number of sRGB stands for, in eight bits as a GPU has it.
fn of_srgb(value: f32) -> f32 {
    let exact = match value {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    };
    f32::from_bits((exact.to_bits() + 0x8000) & 0xffff_0000)
}

/// The coordinates in the image, and the slice or layer of what has only two.
fn plane(image: &Image, point: Point) -> ([f32; 3], usize) {
    let last = image.depth - 1;
    match point.shape {
        Shape::Space(_) => (point.at, 0),
        Shape::Layer(_) => (point.at, point.layer.min(last)),
        Shape::Cube | Shape::CubeLayer => {
            let (face, at) = on_cube(point.at);
            (at, (point.layer * 6 + face).min(last))
        }
    }
}

/// The face that a direction meets, and where, between 0 and 1.
fn on_cube([x, y, z]: [f32; 3]) -> (usize, [f32; 3]) {
    let [ax, ay, az] = [x.abs(), y.abs(), z.abs()];
    // Of axes that are as long, z comes before y, and y before x.
    let (face, major, s, t) = if az >= ax && az >= ay {
        match z >= 0.0 {
            true => (4, az, x, -y),
            false => (5, az, -x, -y),
        }
    } else if ay >= ax {
        match y >= 0.0 {
            true => (2, ay, x, z),
            false => (3, ay, x, -z),
        }
    } else {
        match x >= 0.0 {
            true => (0, ax, -z, -y),
            false => (1, ax, z, -y),
        }
    };
    let on_face = |along: f32| match major {
        0.0 => 0.5,
        _ => (along / major + 1.0) / 2.0,
    };
    (face, [on_face(s), on_face(t), 0.0])
}

/// A coordinate in texels. Repetition is taken out first, while the number is small.
fn in_texels(sampler: &Sampler, image: &Image, axis: usize, coordinate: f32) -> f32 {
    /// Further than any image reaches, and far from the ends of integers.
    const FAR: f32 = 1e9;
    let extent = [image.width, image.height, image.depth][axis] as f32;
    let repeats = match sampler.address[axis] {
        AddressMode::Wrap => Some(1.0),
        AddressMode::Mirror => Some(2.0),
        AddressMode::Clamp | AddressMode::Border => None,
    };
    // What is no number is the beginning, and so is infinity where the image repeats.
    match repeats.filter(|_| sampler.normalised_coordinates) {
        _ if coordinate.is_nan() => 0.0,
        Some(_) if coordinate.is_infinite() => 0.0,
        Some(turn) => (coordinate - turn * (coordinate / turn).floor()) * extent,
        None if sampler.normalised_coordinates => (coordinate * extent).clamp(-FAR, FAR),
        None => coordinate.clamp(-FAR, FAR),
    }
}

/// Whether what is outside along an axis is the nearest texel. Modes that repeat are for normalised coordinates.
fn clamps(sampler: &Sampler, axis: usize) -> bool {
    match sampler.address[axis] {
        AddressMode::Clamp => true,
        AddressMode::Border => false,
        AddressMode::Wrap | AddressMode::Mirror => !sampler.normalised_coordinates,
    }
}

fn nearest(sampler: &Sampler, image: &Image, axis: usize, coordinate: f32) -> i64 {
    in_texels(sampler, image, axis, coordinate).floor() as i64
}

/// The index that stands for one that may be outside; none where the border does.
fn addressed(sampler: &Sampler, axis: usize, index: i64, extent: usize) -> Option<usize> {
    let extent = extent as i64;
    let index = match sampler.address[axis] {
        AddressMode::Border => {
            return (0..extent).contains(&index).then_some(index as usize);
        }
        _ if clamps(sampler, axis) => index.clamp(0, extent - 1),
        AddressMode::Mirror => {
            let turn = index.rem_euclid(2 * extent);
            turn.min(2 * extent - 1 - turn)
        }
        AddressMode::Wrap | AddressMode::Clamp => index.rem_euclid(extent),
    };
    Some(index as usize)
}
