//! NVRTC on the CPU device: kernels that a program compiles when it runs.
//!
//! sirius-rs compiles them, as `-ptx` for this device: one run gives PTX with this device's machine code in it
//! ([`crate::api::driver::loaded`]), which stands for both of NVRTC's results. The compiler is the one that
//! linked the program, unless `SIRIUS_COMPILER` names another.
//!
//! A name expression becomes a variable behind the source, whose value is the address that is asked for, so that
//! templates are instantiated; PTX says by which name it was initialised.

mod compilation;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::handles::Handles;
use crate::library_calls::LibraryError;
use crate::registry;
use compilation::{Compiled, Source};

/// A status other than `NVRTC_SUCCESS`, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompilerError(u32);

/// What a call comes to.
pub type CompilerResult<T = ()> = Result<T, CompilerError>;

impl CompilerError {
    /// `NVRTC_ERROR_INVALID_INPUT`.
    pub const INVALID_INPUT: Self = Self(3);
    /// `NVRTC_ERROR_INVALID_PROGRAM`.
    pub const INVALID_PROGRAM: Self = Self(4);
    /// `NVRTC_ERROR_INVALID_OPTION`.
    pub const INVALID_OPTION: Self = Self(5);
    /// `NVRTC_ERROR_COMPILATION`.
    pub const COMPILATION: Self = Self(6);
    /// `NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION`.
    pub const NO_NAMES_AFTER_COMPILATION: Self = Self(8);
    /// `NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION`.
    pub const NO_NAMES_BEFORE_COMPILATION: Self = Self(9);
    /// `NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID`.
    pub const NAME_NOT_VALID: Self = Self(10);
    /// `NVRTC_ERROR_INTERNAL_ERROR`.
    pub const INTERNAL: Self = Self(11);
}

impl LibraryError for CompilerError {
    const EXECUTION_FAILED: Self = Self::INTERNAL;

    fn number(self) -> u32 {
        self.0
    }

    fn notice(self) -> Option<&'static str> {
        None
    }
}

/// The names of statuses, by number.
const STATUSES: [&CStr; 18] = [
    c"NVRTC_SUCCESS",
    c"NVRTC_ERROR_OUT_OF_MEMORY",
    c"NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    c"NVRTC_ERROR_INVALID_INPUT",
    c"NVRTC_ERROR_INVALID_PROGRAM",
    c"NVRTC_ERROR_INVALID_OPTION",
    c"NVRTC_ERROR_COMPILATION",
    c"NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    c"NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    c"NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    c"NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    c"NVRTC_ERROR_INTERNAL_ERROR",
    c"NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    c"NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    c"NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    c"NVRTC_ERROR_PCH_CREATE",
    c"NVRTC_ERROR_CANCELLED",
    c"NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
];

/// The architectures that device code can be compiled for, with CUDA 13 from 7.5 on.
const ARCHITECTURES: [c_int; 18] = [
    50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 120, 121,
];

/// A program with its results, which stay where they are until it is destroyed.
struct Program {
    source: Source,
    compiled: Option<Compiled>,
}

static PROGRAMS: Handles<Arc<Mutex<Program>>> = Handles::new();

/// The name of a status.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "the library's own name")]
pub extern "C" fn nvrtcGetErrorString(status: u32) -> *const c_char {
    let known = STATUSES.get(status as usize);
    known.unwrap_or(&c"NVRTC_ERROR unknown").as_ptr()
}

crate::library_calls::library_functions! { "NVRTC" CompilerError;
    /// The version of the toolkit that the program was compiled with.
    fn nvrtcVersion(major: *mut c_int, minor: *mut c_int) {
        let version = registry::toolkit_version() as c_int;
        // SAFETY: the program passes writable addresses or null; the same in this file.
        unsafe { tell(major, version / 1000).and_then(|()| tell(minor, version % 1000 / 10)) }
    }

    /// How many architectures there are.
    fn nvrtcGetNumSupportedArchs(count: *mut c_int) {
        // SAFETY: as above.
        unsafe { tell(count, architectures().len() as c_int) }
    }

    /// These architectures.
    fn nvrtcGetSupportedArchs(list: *mut c_int) {
        for (index, architecture) in architectures().iter().enumerate() {
            // SAFETY: the list has room for all of them.
            unsafe { tell(list.wrapping_add(index), *architecture)? };
        }
        Ok(())
    }

    /// A program of a source and of headers that it includes by these names.
    fn nvrtcCreateProgram(
        program: *mut *mut c_void,
        source: *const c_char,
        name: *const c_char,
        header_count: c_int,
        headers: *const *const c_char,
        include_names: *const *const c_char,
    ) {
        // SAFETY: the program passes strings or null, and lists of as many strings as it says; the same in this
        // file.
        let source = unsafe { bytes(source) }.ok_or(CompilerError::INVALID_INPUT)?;
        // SAFETY: as above.
        let name = unsafe { bytes(name) }.unwrap_or_else(|| b"default_program".to_vec());
        // SAFETY: as above.
        let (texts, names) = unsafe { (strings(header_count, headers)?, strings(header_count, include_names)?) };
        let source = Source {
            text: source,
            name: String::from_utf8_lossy(&name).into_owned(),
            headers: names.into_iter().zip(texts).collect(),
            expressions: Vec::new(),
        };
        let made = PROGRAMS.open(Arc::new(Mutex::new(Program { source, compiled: None })));
        // SAFETY: as above.
        unsafe { tell(program, made) }
    }

    /// Forgets a program.
    fn nvrtcDestroyProgram(program: *mut *mut c_void) {
        // SAFETY: as above.
        let place = unsafe { program.as_mut() }.ok_or(CompilerError::INVALID_PROGRAM)?;
        let known = PROGRAMS.close(std::mem::replace(place, std::ptr::null_mut()).cast_const());
        known.map(drop).ok_or(CompilerError::INVALID_PROGRAM)
    }

    /// Asks for the name that a kernel or variable has in the compiled program.
    fn nvrtcAddNameExpression(program: *mut c_void, expression: *const c_char) {
        // SAFETY: as above.
        let expression = unsafe { bytes(expression) }.ok_or(CompilerError::INVALID_INPUT)?;
        with(program, |program| {
            if program.compiled.is_some() {
                return Err(CompilerError::NO_NAMES_AFTER_COMPILATION);
            }
            program.source.expressions.push(expression);
            Ok(())
        })
    }

    /// That name.
    fn nvrtcGetLoweredName(
        program: *mut c_void,
        expression: *const c_char,
        name: *mut *const c_char,
    ) {
        // SAFETY: as above.
        let expression = unsafe { bytes(expression) }.ok_or(CompilerError::INVALID_INPUT)?;
        with(program, |program| {
            let compiled = program.compiled.as_ref().ok_or(CompilerError::NO_NAMES_BEFORE_COMPILATION)?;
            let mut all = program.source.expressions.iter().zip(&compiled.names);
            let found = all.find(|(known, _)| **known == expression);
            let (_, found) = found.ok_or(CompilerError::NAME_NOT_VALID)?;
            // SAFETY: as above.
            unsafe { tell(name, found.as_ptr()) }
        })
    }

    /// Compiles a program.
    fn nvrtcCompileProgram(program: *mut c_void, count: c_int, options: *const *const c_char) {
        // SAFETY: as above.
        let options = unsafe { strings(count, options)? };
        with(program, |program| {
            let compiled = compilation::compile(&program.source, &options)?;
            let succeeded = compiled.succeeded;
            program.compiled = Some(compiled);
            if succeeded { Ok(()) } else { Err(CompilerError::COMPILATION) }
        })
    }

    /// How long the compiler's messages are, with the zero behind them.
    fn nvrtcGetProgramLogSize(program: *mut c_void, size: *mut usize) {
        with_compiled(program, |compiled| {
            // SAFETY: as above.
            unsafe { tell(size, compiled.log.len()) }
        })
    }

    /// The compiler's messages.
    fn nvrtcGetProgramLog(program: *mut c_void, log: *mut c_char) {
        with_compiled(program, |compiled| {
            // SAFETY: the program has room for what its size is said to be; the same below.
            unsafe { tell_all(log, &compiled.log) }
        })
    }

    /// How long the PTX is, with the zero behind it.
    fn nvrtcGetPTXSize(program: *mut c_void, size: *mut usize) {
        with_result(program, |compiled| {
            // SAFETY: as above.
            unsafe { tell(size, compiled.ptx.len()) }
        })
    }

    /// The PTX, with this device's machine code in comments.
    fn nvrtcGetPTX(program: *mut c_void, ptx: *mut c_char) {
        with_result(program, |compiled| {
            // SAFETY: as above.
            unsafe { tell_all(ptx, &compiled.ptx) }
        })
    }

    /// How long the machine code is: nothing where no real architecture was named.
    fn nvrtcGetCUBINSize(program: *mut c_void, size: *mut usize) {
        with_result(program, |compiled| {
            // SAFETY: as above.
            unsafe { tell(size, compiled.machine_code.len()) }
        })
    }

    /// The machine code, this device's.
    fn nvrtcGetCUBIN(program: *mut c_void, code: *mut c_char) {
        with_result(program, |compiled| {
            // SAFETY: as above.
            unsafe { tell_all(code, &compiled.machine_code) }
        })
    }
}

/// What the toolkit of the program knows.
fn architectures() -> &'static [c_int] {
    const OF_CUDA_13: usize = 8;
    let first = match registry::toolkit_version() >= 13_000 {
        true => OF_CUDA_13,
        false => 0,
    };
    &ARCHITECTURES[first..]
}

fn with<T>(
    program: *mut c_void,
    how: impl FnOnce(&mut Program) -> CompilerResult<T>,
) -> CompilerResult<T> {
    let program = PROGRAMS
        .get(program)
        .ok_or(CompilerError::INVALID_PROGRAM)?;
    let mut program: MutexGuard<'_, Program> =
        program.lock().unwrap_or_else(PoisonError::into_inner);
    how(&mut program)
}

fn with_compiled(
    program: *mut c_void,
    how: impl FnOnce(&Compiled) -> CompilerResult,
) -> CompilerResult {
    with(program, |program| {
        how(program.compiled.as_ref().unwrap_or(&Compiled::NOTHING))
    })
}

fn with_result(
    program: *mut c_void,
    how: impl FnOnce(&Compiled) -> CompilerResult,
) -> CompilerResult {
    with(program, |program| {
        let compiled = program
            .compiled
            .as_ref()
            .filter(|compiled| compiled.succeeded);
        how(compiled.ok_or(CompilerError::INVALID_PROGRAM)?)
    })
}

/// # Safety
/// The address is writable or null.
unsafe fn tell<T>(place: *mut T, value: T) -> CompilerResult {
    if place.is_null() {
        return Err(CompilerError::INVALID_INPUT);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(value) };
    Ok(())
}

/// # Safety
/// The address has room for all bytes, or is null.
unsafe fn tell_all(place: *mut c_char, all: &[u8]) -> CompilerResult {
    if place.is_null() {
        return Err(CompilerError::INVALID_INPUT);
    }
    // SAFETY: as the caller promises.
    unsafe { std::ptr::copy_nonoverlapping(all.as_ptr(), place.cast(), all.len()) };
    Ok(())
}

/// # Safety
/// A string or null.
unsafe fn bytes(text: *const c_char) -> Option<Vec<u8>> {
    // SAFETY: as the caller promises.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_bytes().to_vec())
}

/// # Safety
/// A list of so many strings, or null.
unsafe fn strings(count: c_int, list: *const *const c_char) -> CompilerResult<Vec<Vec<u8>>> {
    let count = usize::try_from(count).map_err(|_| CompilerError::INVALID_INPUT)?;
    if count > 0 && list.is_null() {
        return Err(CompilerError::INVALID_INPUT);
    }
    // SAFETY: as the caller promises.
    let each = (0..count).map(|index| unsafe { bytes(*list.add(index)) });
    each.map(|text| text.ok_or(CompilerError::INVALID_INPUT))
        .collect()
}
