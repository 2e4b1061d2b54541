//! Sobol's sequences: points that fill the unit cube evenly.
//!
//! The direction numbers are Joe and Kuo's D6, which the crate `sobol` has, expanded by their recurrence to 32 and 64
//! bits. Point number n takes the direction vectors that the bits of n's Gray code name, as in `curand_kernel.h`.
//! A generator writes all its results of the first dimension, then those of the second and so on; the next
//! call goes on with the points behind. Scrambled sequences take matrices and constants of NVIDIA's, which are
//! nowhere told, and are refused.
//!
//! Whole and uniform numbers are those of a GPU. Normal numbers are quantiles of the normal distribution as they are
//! there, rounded once, so that last bits may differ; Poisson numbers are quantiles too, where a GPU looks some up in
//! tables of another kind.

use std::sync::OnceLock;

use sobol::SobolParams;
use sobol::params::JoeKuoD6;

/// Dimensions for which there are direction vectors.
pub const DIMENSIONS: usize = 20_000;

/// A number of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Of 32 bits.
    Narrow(u32),
    /// Of 64 bits.
    Wide(u64),
}

impl Number {
    /// Above 0 and up to 1.
    pub fn uniform(self) -> f32 {
        let high = match self {
            Self::Narrow(bits) => bits,
            Self::Wide(bits) => (bits >> 32) as u32,
        };
        super::uniform_of(high)
    }

    /// Above 0 and up to 1.
    pub fn uniform_double(self) -> f64 {
        match self {
            Self::Narrow(bits) => (f64::from(bits) + 1.0) / 4_294_967_296.0,
            Self::Wide(bits) => super::uniform_double_of(bits >> 11),
        }
    }

    /// Normal.
    pub fn normal(self) -> f32 {
        let high = match self {
            Self::Narrow(bits) => bits,
            Self::Wide(bits) => (bits >> 32) as u32,
        };
        let (below, sign) = match high > 1 << 31 {
            true => (!high, 1.0),
            false => (high, -1.0),
        };
        // The probability is one of single precision there.
        (sign * tail_quantile(f64::from(super::uniform_of(below)))) as f32
    }

    /// Normal.
    pub fn normal_double(self) -> f64 {
        let (bits, width) = match self {
            Self::Narrow(bits) => (u64::from(bits), 32),
            Self::Wide(bits) => (bits >> 11, 53),
        };
        let all = (1_u64 << width) - 1;
        let (below, sign) = match bits > 1 << (width - 1) {
            true => (all - bits, 1.0),
            false => (bits, -1.0),
        };
        sign * tail_quantile((below as f64 + 0.5) / (all as f64 + 1.0))
    }
}

/// Where a generator is in its sequence.
#[derive(Clone, Copy, Debug)]
pub struct Sobol {
    /// Numbers of 64 bits instead of 32.
    pub wide: bool,
    /// Numbers of a point.
    pub dimensions: usize,
    /// The next point.
    pub position: u64,
}

impl Sobol {
    /// Hands over so many results by place, which are whole points.
    pub fn each(&mut self, count: usize, mut write: impl FnMut(usize, Number)) {
        let points = count / self.dimensions;
        let position = self.position;
        let behind = |step: usize| position.wrapping_add(step as u64 + 1);
        for dimension in 0..self.dimensions {
            let first = dimension * points;
            match self.wide {
                true => {
                    let vectors = &vectors_64()[dimension];
                    let mut bits = point(vectors, position);
                    for step in 0..points {
                        write(first + step, Number::Wide(bits));
                        let next = behind(step);
                        bits ^= vectors.get(next.trailing_zeros() as usize).unwrap_or(&0);
                    }
                }
                false => {
                    let vectors = &vectors_32()[dimension];
                    let mut bits = point(vectors, position);
                    for step in 0..points {
                        write(first + step, Number::Narrow(bits));
                        let next = behind(step);
                        // After 2^32 points they come again.
                        bits = match vectors.get(next.trailing_zeros() as usize) {
                            Some(vector) => bits ^ vector,
                            None => point(vectors, next),
                        };
                    }
                }
            }
        }
        self.position = position.wrapping_add(points as u64);
    }
}

/// The number of a dimension's sequence at a position.
fn point<T: Copy + Default + std::ops::BitXor<Output = T>>(vectors: &[T], position: u64) -> T {
    let width = vectors.len() as u32;
    let position = match width {
        64 => position,
        _ => position & ((1 << width) - 1),
    };
    let gray = position ^ position >> 1;
    let chosen = (0..width).filter(|bit| gray >> bit & 1 == 1);
    chosen.fold(T::default(), |bits, bit| bits ^ vectors[bit as usize])
}

/// The direction vectors of 32 bits, by dimension.
pub fn vectors_32() -> &'static [[u32; 32]] {
    static VECTORS: OnceLock<Vec<[u32; 32]>> = OnceLock::new();
    VECTORS.get_or_init(|| {
        let wide = vectors_64().iter();
        wide.map(|vectors| std::array::from_fn(|bit| (vectors[bit] >> 32) as u32))
            .collect()
    })
}

/// The direction vectors of 64 bits, by dimension.
pub fn vectors_64() -> &'static [[u64; 64]] {
    static VECTORS: OnceLock<Vec<[u64; 64]>> = OnceLock::new();
    VECTORS.get_or_init(|| {
        let parameters = JoeKuoD6::extended();
        // The crate counts dimensions from 1, and the first has no parameters.
        (1..=DIMENSIONS)
            .map(|dimension| match dimension {
                1 => std::array::from_fn(|bit| 1 << (63 - bit)),
                _ => expanded(parameters.get_dim(dimension)),
            })
            .collect()
    })
}

/// Direction vectors by the recurrence of a dimension's primitive polynomial.
fn expanded(dimension: &dyn sobol::ParamDimension<u32>) -> [u64; 64] {
    let degree = dimension.s();
    let mut vectors = [0_u64; 64];
    for bit in 0..64 {
        vectors[bit] = match bit.checked_sub(degree) {
            None => u64::from(dimension.m(bit)) << (63 - bit),
            Some(back) => (1..degree)
                .filter(|term| dimension.coefficient(degree - term - 1) == 1)
                .fold(vectors[back] ^ vectors[back] >> degree, |vector, term| {
                    vector ^ vectors[bit - term]
                }),
        };
    }
    vectors
}

/// How far above the mean a standard normal number lies with a probability of at most one half.
fn tail_quantile(probability: f64) -> f64 {
    std::f64::consts::SQRT_2 * inverse_complementary_error(2.0 * probability)
}

/// The `x` of which `erfc` is `y`, of `y` above 0 and up to 1: an approximation of Winitzki's, then Halley's steps.
fn inverse_complementary_error(y: f64) -> f64 {
    const A: f64 = 0.147;
    let logarithm = (y * (2.0 - y)).ln();
    let term = 2.0 / (std::f64::consts::PI * A) + logarithm / 2.0;
    let mut x = ((term * term - logarithm / A).sqrt() - term)
        .max(0.0)
        .sqrt();
    for _ in 0..3 {
        // Near 1 the complement is exact, and differences of `erfc` are not.
        // SAFETY: functions of the C library without preconditions.
        let (error, complement) = unsafe { (erf(x), erfc(x)) };
        let above = match y > 0.5 {
            true => (1.0 - y) - error,
            false => complement - y,
        };
        let step = above * (std::f64::consts::PI.sqrt() / 2.0) * (x * x).exp();
        x += step / (1.0 - x * step);
    }
    x
}

/// Quantiles of Poisson's distribution: the least number of events with at least such a probability.
pub struct Poisson {
    /// The number of events of the first entry.
    first: u32,
    /// Probabilities of at most so many events.
    up_to: Vec<f64>,
}

impl Poisson {
    /// The distribution with so many events expected.
    pub fn new(expected: f64) -> Self {
        // What lies further out has less than a double's last bit.
        let far = 12.0 * expected.sqrt() + 40.0;
        let first = (expected - far).max(0.0) as u32;
        let mut sum = 0.0;
        let up_to = (first..=(expected + far) as u32)
            .map(|events| {
                let events = f64::from(events);
                sum += (events * expected.ln() - expected - super::logarithm_of_factorial(events))
                    .exp();
                sum
            })
            .collect();
        Self { first, up_to }
    }

    /// The number of events at a probability.
    pub fn quantile(&self, probability: f64) -> u32 {
        let below = self.up_to.partition_point(|up_to| *up_to < probability);
        self.first + below.min(self.up_to.len() - 1) as u32
    }
}

unsafe extern "C" {
    fn erf(value: f64) -> f64;
    fn erfc(value: f64) -> f64;
}
