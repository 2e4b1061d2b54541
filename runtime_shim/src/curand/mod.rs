//! cuRAND's host interface on the CPU device: generators that fill memory.
//!
//! Whole numbers and uniform floats of XORWOW, MRG32k3a and Philox are those of `curand_kernel.h` in the order that
//! [`engines`] tells, which for the first two is the one that cuRAND's manual gives for its legacy order. In
//! what order a GPU's library makes normal, log-normal and Poisson numbers of them is not told: here results
//! 2i and 2i + 1 are the two of one Box-Muller transformation of two numbers, and each Poisson number takes
//! its own. So sequences of these differ from a GPU's, their distributions do not. [`quasirandom`] has Sobol's
//! sequences, but not the scrambled ones, which are refused with a sentence. The seed that nobody set is 0.

pub mod engines;
pub mod quasirandom;

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::api::stream;
use crate::execution::check;
use crate::library_calls::LibraryError;
use crate::output::trace;
use crate::{memory, termination};
use engines::{Engine, Family};
use quasirandom::{Number, Poisson, Sobol};

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
    kind: Kind,
    on_host: bool,
    stream: usize,
}

enum Kind {
    Pseudorandom {
        family: Family,
        seed: u64,
        offset: u64,
        /// Made when the first number is drawn.
        engine: Option<Engine>,
    },
    Quasirandom(Sobol),
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
        change(generator, |generator| {
            generator.stream = stream as usize;
            Ok(())
        })
    }

    /// The seed; begins again.
    fn curandSetPseudoRandomGeneratorSeed(generator: *mut c_void, new: u64) {
        change(generator, |generator| match &mut generator.kind {
            Kind::Pseudorandom { seed, engine, .. } => {
                (*seed, *engine) = (new, None);
                Ok(())
            }
            Kind::Quasirandom(_) => Err(RandomError::TYPE_ERROR),
        })
    }

    /// Begins again so many results, or points of a quasirandom sequence, behind the start.
    fn curandSetGeneratorOffset(generator: *mut c_void, new: u64) {
        change(generator, |generator| {
            match &mut generator.kind {
                Kind::Pseudorandom { offset, engine, .. } => (*offset, *engine) = (new, None),
                Kind::Quasirandom(sobol) => sobol.position = new,
            }
            Ok(())
        })
    }

    /// All orders of a kind are one here.
    fn curandSetGeneratorOrdering(generator: *mut c_void, order: u32) {
        change(generator, |generator| {
            let orders = match generator.kind {
                Kind::Pseudorandom { .. } => 100..=104,
                Kind::Quasirandom(_) => 201..=201,
            };
            let known = orders.contains(&order);
            known.then_some(()).ok_or(RandomError::OUT_OF_RANGE)
        })
    }

    /// How many numbers a point has.
    fn curandSetQuasiRandomGeneratorDimensions(generator: *mut c_void, dimensions: u32) {
        change(generator, |generator| match &mut generator.kind {
            Kind::Pseudorandom { .. } => Err(RandomError::TYPE_ERROR),
            Kind::Quasirandom(_) if !(1..=quasirandom::DIMENSIONS).contains(&(dimensions as usize)) => {
                Err(RandomError::OUT_OF_RANGE)
            }
            Kind::Quasirandom(sobol) => {
                sobol.dimensions = dimensions as usize;
                Ok(())
            }
        })
    }

    /// Makes the generator's state, which else the first numbers do.
    fn curandGenerateSeeds(generator: *mut c_void) {
        change(generator, |generator| {
            if let Kind::Pseudorandom { family, seed, offset, engine } = &mut generator.kind {
                engine.get_or_insert_with(|| Engine::new(*family, *seed, *offset));
            }
            Ok(())
        })
    }

    /// The direction vectors of the sequences of 32 bits, by dimension.
    fn curandGetDirectionVectors32(vectors: *mut *const [u32; 32], set: u32) {
        match set {
            // SAFETY: as above.
            101 => unsafe { store(vectors, quasirandom::vectors_32().as_ptr()) },
            102 => Err(unknown_tables("curandGetDirectionVectors32")),
            _ => Err(RandomError::OUT_OF_RANGE),
        }
    }

    /// The direction vectors of the sequences of 64 bits, by dimension.
    fn curandGetDirectionVectors64(vectors: *mut *const [u64; 64], set: u32) {
        match set {
            // SAFETY: as above.
            103 => unsafe { store(vectors, quasirandom::vectors_64().as_ptr()) },
            104 => Err(unknown_tables("curandGetDirectionVectors64")),
            _ => Err(RandomError::OUT_OF_RANGE),
        }
    }

    /// Refused.
    fn curandGetScrambleConstants32(_constants: *mut *mut u32) {
        Err(unknown_tables("curandGetScrambleConstants32"))
    }

    /// Refused.
    fn curandGetScrambleConstants64(_constants: *mut *mut u64) {
        Err(unknown_tables("curandGetScrambleConstants64"))
    }

    /// Whole numbers of 32 bits.
    fn curandGenerate(generator: *mut c_void, to: *mut u32, count: usize) {
        let narrow = |number| match number {
            Number::Narrow(bits) => Ok(bits),
            Number::Wide(_) => Err(RandomError::TYPE_ERROR),
        };
        // SAFETY: the program passes memory for so many results; the same in this file.
        unsafe { fill(generator, to, count, |engine| Ok(engine.draw::<1>()[0]), narrow) }
    }

    /// Whole numbers of 64 bits, which only the sequences of such have.
    fn curandGenerateLongLong(generator: *mut c_void, to: *mut u64, count: usize) {
        let wide = |number| match number {
            Number::Narrow(_) => Err(RandomError::TYPE_ERROR),
            Number::Wide(bits) => Ok(bits),
        };
        // SAFETY: as above.
        unsafe { fill(generator, to, count, |_| Err(RandomError::TYPE_ERROR), wide) }
    }

    /// Above 0 and up to 1.
    fn curandGenerateUniform(generator: *mut c_void, to: *mut f32, count: usize) {
        // SAFETY: as above.
        unsafe { fill(generator, to, count, |engine| Ok(uniform(engine)), |number| Ok(number.uniform())) }
    }

    /// Above 0 and up to 1.
    fn curandGenerateUniformDouble(generator: *mut c_void, to: *mut f64, count: usize) {
        let other = |number: Number| Ok(number.uniform_double());
        // SAFETY: as above.
        unsafe { fill(generator, to, count, |engine| Ok(uniform_double(engine)), other) }
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
        unsafe { fill_pairs(generator, to, count, normals, Number::normal, |z| mean + deviation * z) }
    }

    /// Normal numbers.
    fn curandGenerateNormalDouble(
        generator: *mut c_void,
        to: *mut f64,
        count: usize,
        mean: f64,
        deviation: f64,
    ) {
        let scaled = |z| mean + deviation * z;
        // SAFETY: as above.
        unsafe { fill_pairs(generator, to, count, normal_doubles, Number::normal_double, scaled) }
    }

    /// Powers of e of normal numbers.
    fn curandGenerateLogNormal(
        generator: *mut c_void,
        to: *mut f32,
        count: usize,
        mean: f32,
        deviation: f32,
    ) {
        let power = |z: f32| (mean + deviation * z).exp();
        // SAFETY: as above.
        unsafe { fill_pairs(generator, to, count, normals, Number::normal, power) }
    }

    /// Powers of e of normal numbers.
    fn curandGenerateLogNormalDouble(
        generator: *mut c_void,
        to: *mut f64,
        count: usize,
        mean: f64,
        deviation: f64,
    ) {
        let power = |z: f64| (mean + deviation * z).exp();
        // SAFETY: as above.
        unsafe { fill_pairs(generator, to, count, normal_doubles, Number::normal_double, power) }
    }

    /// Numbers of events where so many are expected.
    fn curandGeneratePoisson(generator: *mut c_void, to: *mut u32, count: usize, expected: f64) {
        if expected.is_nan() || expected <= 0.0 || expected > 400_000.0 {
            return Err(RandomError::OUT_OF_RANGE);
        }
        let mut quantiles = None;
        let quantile = |number: Number| {
            let quantiles = quantiles.get_or_insert_with(|| Poisson::new(expected));
            Ok(quantiles.quantile(number.uniform_double()))
        };
        // SAFETY: as above.
        unsafe { fill(generator, to, count, |engine| Ok(poisson(engine, expected)), quantile) }
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
    let pseudorandom = |family| Kind::Pseudorandom {
        family,
        seed: 0,
        offset: 0,
        engine: None,
    };
    let quasirandom = |wide| {
        Kind::Quasirandom(Sobol {
            wide,
            dimensions: 1,
            position: 0,
        })
    };
    let kind = match kind {
        100 | 101 => pseudorandom(Family::Xorwow),
        121 => pseudorandom(Family::Mrg32k3a),
        141 | 142 => pseudorandom(Family::MersenneTwister),
        161 => pseudorandom(Family::Philox),
        200 | 201 => quasirandom(false),
        203 => quasirandom(true),
        202 | 204 => return Err(unknown_tables("curandCreateGenerator")),
        _ => return Err(RandomError::TYPE_ERROR),
    };
    // A block of its own gives each generator an address that nothing else has, ever.
    let made: *mut c_void = Box::into_raw(Box::new(0_u64)).cast();
    // SAFETY: as the caller promises.
    unsafe { store(generator, made)? };
    generators().insert(
        made as usize,
        Generator {
            kind,
            on_host,
            stream: 0,
        },
    );
    Ok(())
}

/// Says what is missing for scrambled sequences.
fn unknown_tables(call: &str) -> RandomError {
    termination::notice(&format!(
        "the CPU device has no scrambled quasirandom sequences, whose tables are NVIDIA's own ({call})"
    ));
    RandomError::TYPE_ERROR
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

fn change(
    generator: *mut c_void,
    how: impl FnOnce(&mut Generator) -> RandomResult,
) -> RandomResult {
    let mut all = generators();
    how(all
        .get_mut(&(generator as usize))
        .ok_or(RandomError::NOT_INITIALIZED)?)
}

/// Fills memory in order of the generator's stream, so many results at a time by an engine, one at a time by a
/// quasirandom sequence.
///
/// # Safety
/// Of a generator for the host the memory is writable; a device's is checked.
unsafe fn fill_by<T, const AT_ONCE: usize>(
    generator: *mut c_void,
    to: *mut T,
    count: usize,
    mut draw: impl FnMut(&mut Engine) -> RandomResult<[T; AT_ONCE]>,
    mut of: impl FnMut(Number) -> RandomResult<T>,
) -> RandomResult {
    let mut all = generators();
    let generator = all
        .get_mut(&(generator as usize))
        .ok_or(RandomError::NOT_INITIALIZED)?;
    let bytes = count
        .checked_mul(size_of::<T>())
        .ok_or(RandomError::OUT_OF_RANGE)?;
    let whole = match &generator.kind {
        Kind::Pseudorandom { .. } => AT_ONCE,
        Kind::Quasirandom(sobol) => sobol.dimensions,
    };
    if !count.is_multiple_of(whole) {
        return Err(RandomError::LENGTH_NOT_MULTIPLE);
    }
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
    match &mut generator.kind {
        Kind::Pseudorandom {
            family,
            seed,
            offset,
            engine,
        } => {
            let engine = engine.get_or_insert_with(|| Engine::new(*family, *seed, *offset));
            for position in (0..count).step_by(AT_ONCE) {
                for (place, value) in draw(engine)?.into_iter().enumerate() {
                    // SAFETY: as the caller promises.
                    unsafe { to.add(position + place).write_unaligned(value) };
                }
            }
        }
        Kind::Quasirandom(sobol) => {
            // Whether a generator has such numbers shows at the first.
            of(match sobol.wide {
                true => Number::Wide(0),
                false => Number::Narrow(0),
            })?;
            sobol.each(count, |place, number| {
                if let Ok(value) = of(number) {
                    // SAFETY: as the caller promises.
                    unsafe { to.add(place).write_unaligned(value) };
                }
            });
        }
    }
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
    mut next: impl FnMut(&mut Engine) -> RandomResult<T>,
    of: impl FnMut(Number) -> RandomResult<T>,
) -> RandomResult {
    // SAFETY: as the caller promises.
    unsafe { fill_by(generator, to, count, |engine| Ok([next(engine)?]), of) }
}

/// # Safety
/// As for [`fill_by`].
unsafe fn fill_pairs<T>(
    generator: *mut c_void,
    to: *mut T,
    count: usize,
    mut next: impl FnMut(&mut Engine) -> [T; 2],
    of: impl Fn(Number) -> T,
    change: impl Fn(T) -> T,
) -> RandomResult {
    let pair = |engine: &mut Engine| Ok(next(engine).map(&change));
    // SAFETY: as the caller promises.
    unsafe { fill_by(generator, to, count, pair, |number| Ok(change(of(number)))) }
}

/// 2^-32.
const UNIT: f32 = 1.0 / 4_294_967_296.0;
/// 2^-53.
const UNIT_DOUBLE: f64 = 1.0 / 9_007_199_254_740_992.0;

fn uniform(engine: &mut Engine) -> f32 {
    match engine.draw_fraction() {
        Some(fraction) => fraction as f32,
        None => uniform_of(engine.draw::<1>()[0]),
    }
}

/// One rounding, as a GPU's fused multiply-add has.
fn uniform_of(bits: u32) -> f32 {
    (bits as f32).mul_add(UNIT, UNIT / 2.0)
}

fn uniform_double(engine: &mut Engine) -> f64 {
    match engine.draw_fraction() {
        Some(fraction) => fraction,
        None => fraction_of(engine.draw()),
    }
}

fn fraction_of([low, high]: [u32; 2]) -> f64 {
    uniform_double_of(u64::from(low) ^ u64::from(high) << 21)
}

/// Of 53 bits.
fn uniform_double_of(bits: u64) -> f64 {
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
