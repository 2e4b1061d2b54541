//! cuRAND's host interface on the CPU device: generators that fill memory.
//!
//! Whole numbers and uniform floats of XORWOW, MRG32k3a and Philox are those of `curand_kernel.h` in the order that
//! [`engines`] tells, which for the first two is the one that cuRAND's manual gives for its legacy order. In
//! what order a GPU's library makes normal, log-normal and Poisson numbers of them is not told: here results
//! 2i and 2i + 1 are the two of one Box-Muller transformation of two numbers, and each Poisson number takes
//! its own. So sequences of these differ from a GPU's, their distributions do not. Quasirandom generators
//! need NVIDIA's direction vectors and are refused with a sentence. The seed that nobody set is 0.

pub mod engines;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::stream;
use crate::library_calls::LibraryError;
use crate::{check, memory, termination, trace};
use engines::{Engine, Family};

/// Version of cuRAND whose interface this is.
const VERSION: c_int = 10_400;

/// A status other than `CURAND_STATUS_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomError(u32);

/// What a call comes to.
pub type RandomResult<T = ()> = Result<T, RandomError>;

impl RandomError {
    /// `CURAND_STATUS_NOT_INITIALIZED`.
    pub const NOT_INITIALIZED: Self = Self(101);
    /// `CURAND_STATUS_TYPE_ERROR`.
    pub const TYPE_ERROR: Self = Self(103);
    /// `CURAND_STATUS_OUT_OF_RANGE`.
    pub const OUT_OF_RANGE: Self = Self(104);
    /// `CURAND_STATUS_LENGTH_NOT_MULTIPLE`.
    pub const LENGTH_NOT_MULTIPLE: Self = Self(105);
    /// `CURAND_STATUS_LAUNCH_FAILURE`.
    pub const LAUNCH_FAILURE: Self = Self(201);
}

/// Defines C functions whose bodies return a `RandomResult`.
macro_rules! curand_functions {
    ($($functions:tt)*) => {
        $crate::library_calls::library_functions! { "cuRAND" $crate::curand::RandomError; $($functions)* }
    };
}

struct Generator {
    family: Family,
    on_host: bool,
    seed: u64,
    offset: u64,
    stream: usize,
    /// Made when the first number is drawn.
    engine: Option<Engine>,
}

static GENERATORS: Mutex<BTreeMap<usize, Generator>> = Mutex::new(BTreeMap::new());

curand_functions! {
    /// A generator that fills device memory.
    fn curandCreateGenerator(generator: *mut *mut c_void, kind: u32) {
        // SAFETY: the program passes a writable address or null.
        unsafe { create(generator, kind, false) }
    }

    /// A generator that fills host memory.
    fn curandCreateGeneratorHost(generator: *mut *mut c_void, kind: u32) {
        // SAFETY: as above.
        unsafe { create(generator, kind, true) }
    }

    /// Forgets a generator.
    fn curandDestroyGenerator(generator: *mut c_void) {
        let known = generators().remove(&(generator as usize));
        known.map(|_| ()).ok_or(RandomError::NOT_INITIALIZED)
    }

    /// The interface's version.
    fn curandGetVersion(version: *mut c_int) {
        // SAFETY: as above.
        unsafe { store(version, VERSION) }
    }

    /// A part of the version: major, minor, patch.
    fn curandGetProperty(kind: u32, value: *mut c_int) {
        let part = match kind {
            0 => VERSION / 1000,
            1 => VERSION / 100 % 10,
            2 => VERSION % 100,
            _ => return Err(RandomError::OUT_OF_RANGE),
        };
        // SAFETY: as above.
        unsafe { store(value, part) }
    }

    /// The stream in whose order numbers are made.
    fn curandSetStream(generator: *mut c_void, stream: *mut c_void) {
        change(generator, |generator| generator.stream = stream as usize)
    }

    /// The seed; begins again.
    fn curandSetPseudoRandomGeneratorSeed(generator: *mut c_void, seed: u64) {
        change(generator, |generator| {
            generator.seed = seed;
            generator.engine = None;
        })
    }

    /// Begins again so many results behind the start.
    fn curandSetGeneratorOffset(generator: *mut c_void, offset: u64) {
        change(generator, |generator| {
            generator.offset = offset;
            generator.engine = None;
        })
    }

    /// All orders are one here.
    fn curandSetGeneratorOrdering(generator: *mut c_void, order: u32) {
        if !(100..=104).contains(&order) {
            return Err(RandomError::OUT_OF_RANGE);
        }
        change(generator, |_| ())
    }

    /// Generators here have no dimensions.
    fn curandSetQuasiRandomGeneratorDimensions(_generator: *mut c_void, _dimensions: u32) {
        Err(RandomError::TYPE_ERROR)
    }

    /// Makes the generator's state, which else the first numbers do.
    fn curandGenerateSeeds(generator: *mut c_void) {
        change(generator, |generator| {
            generator.engine();
        })
    }

    /// Whole numbers of 32 bits.
    fn curandGenerate(generator: *mut c_void, to: *mut u32, count: usize) {
        // SAFETY: the program passes memory for so many results; the same in this file.
        unsafe { fill(generator, to, count, |engine| engine.draw::<1>()[0]) }
    }

    /// Whole numbers of 64 bits.
    fn curandGenerateLongLong(generator: *mut c_void, to: *mut u64, count: usize) {
        // SAFETY: as above.
        unsafe {
            fill(generator, to, count, |engine| {
                let [low, high] = engine.draw();
                u64::from(high) << 32 | u64::from(low)
            })
        }
    }

    /// Above 0 and up to 1.
    fn curandGenerateUniform(generator: *mut c_void, to: *mut f32, count: usize) {
        // SAFETY: as above.
        unsafe { fill(generator, to, count, uniform) }
    }

    /// Above 0 and up to 1.
    fn curandGenerateUniformDouble(generator: *mut c_void, to: *mut f64, count: usize) {
        // SAFETY: as above.
        unsafe { fill(generator, to, count, uniform_double) }
    }

    /// Normal numbers.
    fn curandGenerateNormal(
        generator: *mut c_void,
        to: *mut f32,
        count: usize,
        mean: f32,
        deviation: f32,
    ) {
        // SAFETY: as above.
        unsafe { fill_pairs(generator, to, count, |engine| normals(engine).map(|z| mean + deviation * z)) }
    }

    /// Normal numbers.
    fn curandGenerateNormalDouble(
        generator: *mut c_void,
        to: *mut f64,
        count: usize,
        mean: f64,
        deviation: f64,
    ) {
        // SAFETY: as above.
        unsafe {
            fill_pairs(generator, to, count, |engine| normal_doubles(engine).map(|z| mean + deviation * z))
        }
    }

    /// Powers of e of normal numbers.
    fn curandGenerateLogNormal(
        generator: *mut c_void,
        to: *mut f32,
        count: usize,
        mean: f32,
        deviation: f32,
    ) {
        // SAFETY: as above.
        unsafe {
            fill_pairs(generator, to, count, |engine| {
                normals(engine).map(|z| (mean + deviation * z).exp())
            })
        }
    }

    /// Powers of e of normal numbers.
    fn curandGenerateLogNormalDouble(
        generator: *mut c_void,
        to: *mut f64,
        count: usize,
        mean: f64,
        deviation: f64,
    ) {
        // SAFETY: as above.
        unsafe {
            fill_pairs(generator, to, count, |engine| {
                normal_doubles(engine).map(|z| (mean + deviation * z).exp())
            })
        }
    }

    /// Numbers of events where so many are expected.
    fn curandGeneratePoisson(generator: *mut c_void, to: *mut u32, count: usize, expected: f64) {
        if expected.is_nan() || expected <= 0.0 || expected > 400_000.0 {
            return Err(RandomError::OUT_OF_RANGE);
        }
        // SAFETY: as above.
        unsafe { fill(generator, to, count, |engine| poisson(engine, expected)) }
    }
}

impl Generator {
    fn engine(&mut self) -> &mut Engine {
        let (family, seed, offset) = (self.family, self.seed, self.offset);
        self.engine
            .get_or_insert_with(|| Engine::new(family, seed, offset))
    }
}

impl LibraryError for RandomError {
    const EXECUTION_FAILED: Self = Self::LAUNCH_FAILURE;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        match self {
            Self::LAUNCH_FAILURE => Some("the results are not within device memory"),
            _ => None,
        }
    }
}

/// # Safety
/// The address is writable or null.
unsafe fn create(generator: *mut *mut c_void, kind: u32, on_host: bool) -> RandomResult {
    let family = match kind {
        100 | 101 => Family::Xorwow,
        121 => Family::Mrg32k3a,
        141 | 142 => Family::MersenneTwister,
        161 => Family::Philox,
        200..=204 => {
            termination::notice(
                "the CPU device has no quasirandom generators (curandCreateGenerator)",
            );
            return Err(RandomError::TYPE_ERROR);
        }
        _ => return Err(RandomError::TYPE_ERROR),
    };
    // A block of its own gives each generator an address that nothing else has, ever.
    let made: *mut c_void = Box::into_raw(Box::new(0_u64)).cast();
    // SAFETY: as the caller promises.
    unsafe { store(generator, made)? };
    generators().insert(
        made as usize,
        Generator {
            family,
            on_host,
            seed: 0,
            offset: 0,
            stream: 0,
            engine: None,
        },
    );
    Ok(())
}

/// # Safety
/// The address is writable or null.
unsafe fn store<T>(pointer: *mut T, value: T) -> RandomResult {
    if pointer.is_null() {
        return Err(RandomError::OUT_OF_RANGE);
    }
    // SAFETY: as the caller promises.
    unsafe { pointer.write(value) };
    Ok(())
}

fn generators() -> MutexGuard<'static, BTreeMap<usize, Generator>> {
    GENERATORS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn change(generator: *mut c_void, how: impl FnOnce(&mut Generator)) -> RandomResult {
    let mut all = generators();
    how(all
        .get_mut(&(generator as usize))
        .ok_or(RandomError::NOT_INITIALIZED)?);
    Ok(())
}

/// Fills memory in order of the generator's stream.
///
/// # Safety
/// Of a generator for the host the memory is writable; a device's is checked.
unsafe fn fill_by<T>(
    generator: *mut c_void,
    to: *mut T,
    count: usize,
    mut write: impl FnMut(&mut Engine, *mut T),
) -> RandomResult {
    let mut all = generators();
    let generator = all
        .get_mut(&(generator as usize))
        .ok_or(RandomError::NOT_INITIALIZED)?;
    let bytes = count
        .checked_mul(size_of::<T>())
        .ok_or(RandomError::OUT_OF_RANGE)?;
    if count == 0 {
        return Ok(());
    }
    let start = to as usize;
    if !generator.on_host {
        let stream = generator.stream as *mut c_void;
        stream::in_order(stream).map_err(|_| RandomError::LAUNCH_FAILURE)?;
        match memory::place(start) {
            Some(place) if bytes <= place.bytes - (start - place.base) => {}
            _ => return Err(RandomError::LAUNCH_FAILURE),
        }
    }
    write(generator.engine(), to);
    if !generator.on_host {
        trace::set(start, bytes);
        check::filled(start, bytes);
    }
    Ok(())
}

/// # Safety
/// As for [`fill_by`].
unsafe fn fill<T>(
    generator: *mut c_void,
    to: *mut T,
    count: usize,
    mut next: impl FnMut(&mut Engine) -> T,
) -> RandomResult {
    // SAFETY: as the caller promises.
    unsafe {
        fill_by(generator, to, count, |engine, to| {
            for position in 0..count {
                to.add(position).write_unaligned(next(engine));
            }
        })
    }
}

/// # Safety
/// As for [`fill_by`].
unsafe fn fill_pairs<T>(
    generator: *mut c_void,
    to: *mut T,
    count: usize,
    mut next: impl FnMut(&mut Engine) -> [T; 2],
) -> RandomResult {
    if !count.is_multiple_of(2) {
        return Err(RandomError::LENGTH_NOT_MULTIPLE);
    }
    // SAFETY: as the caller promises.
    unsafe {
        fill_by(generator, to, count, |engine, to| {
            for position in (0..count).step_by(2) {
                let [one, other] = next(engine);
                to.add(position).write_unaligned(one);
                to.add(position + 1).write_unaligned(other);
            }
        })
    }
}

/// 2^-32.
const UNIT: f32 = 1.0 / 4_294_967_296.0;
/// 2^-53.
const UNIT_DOUBLE: f64 = 1.0 / 9_007_199_254_740_992.0;

fn uniform(engine: &mut Engine) -> f32 {
    match engine.draw_fraction() {
        Some(fraction) => fraction as f32,
        // One rounding, as a GPU's fused multiply-add has.
        None => (engine.draw::<1>()[0] as f32).mul_add(UNIT, UNIT / 2.0),
    }
}

fn uniform_double(engine: &mut Engine) -> f64 {
    match engine.draw_fraction() {
        Some(fraction) => fraction,
        None => fraction_of(engine.draw()),
    }
}

fn fraction_of([low, high]: [u32; 2]) -> f64 {
    let bits = u64::from(low) ^ u64::from(high) << 21;
    (bits as f64).mul_add(UNIT_DOUBLE, UNIT_DOUBLE / 2.0)
}

fn normals(engine: &mut Engine) -> [f32; 2] {
    let (radius, turn) = (uniform(engine), uniform(engine));
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sine, cosine) = (turn * std::f32::consts::TAU).sin_cos();
    [sine * radius, cosine * radius]
}

fn normal_doubles(engine: &mut Engine) -> [f64; 2] {
    let (radius, turn) = (uniform_double(engine), uniform_double(engine));
    let radius = (-2.0 * radius.ln()).sqrt();
    let (sine, cosine) = (turn * std::f64::consts::TAU).sin_cos();
    [sine * radius, cosine * radius]
}

/// Of few events by the times between them, of many by transformed rejection with squeeze (Hörmann).
fn poisson(engine: &mut Engine, expected: f64) -> u32 {
    if expected < 10.0 {
        let limit = (-expected).exp();
        let mut product = uniform_double(engine);
        let mut events = 0;
        while product > limit {
            events += 1;
            product *= uniform_double(engine);
        }
        return events;
    }
    let root = expected.sqrt();
    let b = 0.931 + 2.53 * root;
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let v_r = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = uniform_double(engine) - 0.5;
        let v = uniform_double(engine);
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + expected + 0.43).floor();
        if us >= 0.07 && v <= v_r {
            return k as u32;
        }
        if k < 0.0 || (us < 0.013 && v > us) {
            continue;
        }
        let left = (v * inverse_alpha / (a / (us * us) + b)).ln();
        if left <= k * expected.ln() - expected - logarithm_of_factorial(k) {
            return k as u32;
        }
    }
}

fn logarithm_of_factorial(k: f64) -> f64 {
    // SAFETY: a function of the C library without preconditions.
    unsafe { lgamma(k + 1.0) }
}

unsafe extern "C" {
    fn lgamma(value: f64) -> f64;
}
