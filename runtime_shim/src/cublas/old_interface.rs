//! cuBLAS's first interface (`cublas.h`): one handle for the process, letters for operations, scalars and
//! results by value, and an error that waits until somebody asks for it. Calls go on to those of today.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;

use nalgebra::Complex;

use super::handle::{VERSION, cublasCreate_v2, cublasDestroy_v2, cublasSetStream_v2};
use crate::api::memory::{cudaFree, cudaMalloc};

/// `CUBLAS_STATUS_NOT_INITIALIZED`.
const NOT_INITIALIZED: u32 = 1;
/// `CUBLAS_STATUS_ALLOC_FAILED`.
const ALLOC_FAILED: u32 = 3;
/// `CUBLAS_STATUS_INVALID_VALUE`.
const INVALID_VALUE: u32 = 7;

#[derive(Debug)]
struct State {
    /// The handle, or zero before the first call.
    handle: usize,
    error: u32,
}

static STATE: Mutex<State> = Mutex::new(State {
    handle: 0,
    error: 0,
});

fn state<T>(visit: impl FnOnce(&mut State) -> T) -> T {
    let mut state = STATE.lock().unwrap_or_else(|state| state.into_inner());
    visit(&mut state)
}

/// Keeps the status of a call until it is asked for.
fn note(status: u32) {
    if status != 0 {
        state(|state| state.error = status);
    }
}

/// The process's handle. The first call that needs one opens it.
fn handle() -> *mut c_void {
    state(|state| {
        if state.handle == 0 {
            let mut new = std::ptr::null_mut();
            // SAFETY: the address is that of a variable.
            if unsafe { cublasCreate_v2(&raw mut new) } == 0 {
                state.handle = new as usize;
            }
        }
        state.handle as *mut c_void
    })
}

/// What an argument of the first interface is in that of today.
trait Argument {
    type Now;
    fn now(&self) -> Self::Now;
}

macro_rules! letters {
    ($($(#[$meta:meta])* $name:ident { $($letters:pat => $value:literal),* })*) => {$(
        $(#[$meta])*
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name(c_char);

        impl Argument for $name {
            type Now = u32;
            fn now(&self) -> u32 {
                // What is no such letter is no value of today's enumeration either.
                #[allow(clippy::cast_sign_loss, reason = "letters of ASCII")]
                match (self.0 as u8).to_ascii_uppercase() {
                    $($letters => $value,)*
                    _ => u32::MAX,
                }
            }
        }
    )*};
}

letters! {
    /// `N`, `T` or `C`.
    Operation { b'N' => 0, b'T' => 1, b'C' => 2 }
    /// `L` or `R`.
    Side { b'L' => 0, b'R' => 1 }
    /// `L` or `U`.
    Fill { b'L' => 0, b'U' => 1 }
    /// `N` or `U`.
    Diagonal { b'N' => 0, b'U' => 1 }
}

/// A scalar, whose address today's interface takes.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Value<T>(T);

impl<T> Argument for Value<T> {
    type Now = *const T;
    fn now(&self) -> *const T {
        &raw const self.0
    }
}

impl Argument for c_int {
    type Now = Self;
    fn now(&self) -> Self {
        *self
    }
}

impl<T> Argument for *const T {
    type Now = Self;
    fn now(&self) -> Self {
        *self
    }
}

impl<T> Argument for *mut T {
    type Now = Self;
    fn now(&self) -> Self {
        *self
    }
}

macro_rules! old_functions {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the first interface.")]
        ///
        /// # Safety
        /// As for the function of today's interface.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuBLAS's own name")]
        pub unsafe extern "C" fn $name($($argument: $kind),*) {
            unsafe extern "C" {
                #[link_name = concat!(stringify!($name), "_v2")]
                fn of_today(handle: *mut c_void, $($argument: <$kind as Argument>::Now),*) -> u32;
            }
            // SAFETY: as the caller promises; scalars live until the call has returned.
            note(unsafe { of_today(handle(), $($argument.now()),*) });
        }
    )*};
}

macro_rules! old_results {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {$(
        #[doc = concat!("`", stringify!($name), "` of the first interface.")]
        ///
        /// # Safety
        /// As for the function of today's interface.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuBLAS's own name")]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            unsafe extern "C" {
                #[link_name = concat!(stringify!($name), "_v2")]
                fn of_today(
                    handle: *mut c_void,
                    $($argument: <$kind as Argument>::Now,)*
                    result: *mut $result,
                ) -> u32;
            }
            let mut result = <$result>::default();
            // SAFETY: as the caller promises.
            note(unsafe { of_today(handle(), $($argument.now(),)* &raw mut result) });
            result
        }
    )*};
}

macro_rules! of_any_numbers {
    ($t:ty, $real:ty: $axpy:ident $scal:ident $copy:ident $swap:ident, $nrm2:ident $asum:ident $amax:ident
     $amin:ident, $gemv:ident $gbmv:ident $trmv:ident $trsv:ident $tbmv:ident $tbsv:ident $tpmv:ident
     $tpsv:ident, $gemm:ident $symm:ident $syrk:ident $syr2k:ident $trsm:ident) => {
        old_functions! {
            $axpy(n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *mut $t, y_step: c_int);
            $scal(n: c_int, alpha: Value<$t>, x: *mut $t, x_step: c_int);
            $copy(n: c_int, x: *const $t, x_step: c_int, y: *mut $t, y_step: c_int);
            $swap(n: c_int, x: *mut $t, x_step: c_int, y: *mut $t, y_step: c_int);
            $gemv(of: Operation, m: c_int, n: c_int, alpha: Value<$t>, a: *const $t, a_leading: c_int,
                x: *const $t, x_step: c_int, beta: Value<$t>, y: *mut $t, y_step: c_int);
            $gbmv(of: Operation, m: c_int, n: c_int, below: c_int, above: c_int, alpha: Value<$t>,
                a: *const $t, a_leading: c_int, x: *const $t, x_step: c_int, beta: Value<$t>, y: *mut $t,
                y_step: c_int);
            $trmv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, a: *const $t, a_leading: c_int,
                x: *mut $t, x_step: c_int);
            $trsv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, a: *const $t, a_leading: c_int,
                x: *mut $t, x_step: c_int);
            $tbmv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, k: c_int, a: *const $t,
                a_leading: c_int, x: *mut $t, x_step: c_int);
            $tbsv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, k: c_int, a: *const $t,
                a_leading: c_int, x: *mut $t, x_step: c_int);
            $tpmv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, a: *const $t, x: *mut $t,
                x_step: c_int);
            $tpsv(fill: Fill, of: Operation, diagonal: Diagonal, n: c_int, a: *const $t, x: *mut $t,
                x_step: c_int);
            $gemm(a_of: Operation, b_of: Operation, m: c_int, n: c_int, k: c_int, alpha: Value<$t>,
                a: *const $t, a_leading: c_int, b: *const $t, b_leading: c_int, beta: Value<$t>,
                c: *mut $t, c_leading: c_int);
            $symm(side: Side, fill: Fill, m: c_int, n: c_int, alpha: Value<$t>, a: *const $t,
                a_leading: c_int, b: *const $t, b_leading: c_int, beta: Value<$t>, c: *mut $t,
                c_leading: c_int);
            $syrk(fill: Fill, of: Operation, n: c_int, k: c_int, alpha: Value<$t>, a: *const $t,
                a_leading: c_int, beta: Value<$t>, c: *mut $t, c_leading: c_int);
            $syr2k(fill: Fill, of: Operation, n: c_int, k: c_int, alpha: Value<$t>, a: *const $t,
                a_leading: c_int, b: *const $t, b_leading: c_int, beta: Value<$t>, c: *mut $t,
                c_leading: c_int);
            $trsm(side: Side, fill: Fill, of: Operation, diagonal: Diagonal, m: c_int, n: c_int,
                alpha: Value<$t>, a: *const $t, a_leading: c_int, b: *mut $t, b_leading: c_int);
        }
        old_results! {
            $nrm2(n: c_int, x: *const $t, x_step: c_int) -> $real;
            $asum(n: c_int, x: *const $t, x_step: c_int) -> $real;
            $amax(n: c_int, x: *const $t, x_step: c_int) -> c_int;
            $amin(n: c_int, x: *const $t, x_step: c_int) -> c_int;
        }
    };
}

/// Functions of symmetric matrices of real numbers, and of Hermitian ones of complex numbers.
macro_rules! of_symmetric {
    ($t:ty, $real:ty: $symv:ident $syr:ident $syr2:ident $sbmv:ident $spmv:ident $spr:ident $spr2:ident) => {
        old_functions! {
            $symv(fill: Fill, n: c_int, alpha: Value<$t>, a: *const $t, a_leading: c_int, x: *const $t,
                x_step: c_int, beta: Value<$t>, y: *mut $t, y_step: c_int);
            $syr(fill: Fill, n: c_int, alpha: Value<$real>, x: *const $t, x_step: c_int, a: *mut $t,
                a_leading: c_int);
            $syr2(fill: Fill, n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *const $t,
                y_step: c_int, a: *mut $t, a_leading: c_int);
            $sbmv(fill: Fill, n: c_int, k: c_int, alpha: Value<$t>, a: *const $t, a_leading: c_int,
                x: *const $t, x_step: c_int, beta: Value<$t>, y: *mut $t, y_step: c_int);
            $spmv(fill: Fill, n: c_int, alpha: Value<$t>, a: *const $t, x: *const $t, x_step: c_int,
                beta: Value<$t>, y: *mut $t, y_step: c_int);
            $spr(fill: Fill, n: c_int, alpha: Value<$real>, x: *const $t, x_step: c_int, a: *mut $t);
            $spr2(fill: Fill, n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *const $t,
                y_step: c_int, a: *mut $t);
        }
    };
}

macro_rules! of_real_numbers {
    ($t:ty: $dot:ident $ger:ident $rot:ident $rotg:ident $rotm:ident $rotmg:ident) => {
        old_results! {
            $dot(n: c_int, x: *const $t, x_step: c_int, y: *const $t, y_step: c_int) -> $t;
        }
        old_functions! {
            $ger(m: c_int, n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *const $t,
                y_step: c_int, a: *mut $t, a_leading: c_int);
            $rot(n: c_int, x: *mut $t, x_step: c_int, y: *mut $t, y_step: c_int, cosine: Value<$t>,
                sine: Value<$t>);
            $rotg(a: *mut $t, b: *mut $t, cosine: *mut $t, sine: *mut $t);
            $rotm(n: c_int, x: *mut $t, x_step: c_int, y: *mut $t, y_step: c_int, parameters: *const $t);
            $rotmg(d1: *mut $t, d2: *mut $t, x1: *mut $t, y1: *const $t, parameters: *mut $t);
        }
    };
}

macro_rules! of_complex_numbers {
    ($t:ty, $real:ty: $real_scal:ident $dotu:ident $dotc:ident $geru:ident $gerc:ident $rot:ident
     $real_rot:ident, $hemm:ident $herk:ident $her2k:ident) => {
        old_results! {
            $dotu(n: c_int, x: *const $t, x_step: c_int, y: *const $t, y_step: c_int) -> $t;
            $dotc(n: c_int, x: *const $t, x_step: c_int, y: *const $t, y_step: c_int) -> $t;
        }
        old_functions! {
            $real_scal(n: c_int, alpha: Value<$real>, x: *mut $t, x_step: c_int);
            $geru(m: c_int, n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *const $t,
                y_step: c_int, a: *mut $t, a_leading: c_int);
            $gerc(m: c_int, n: c_int, alpha: Value<$t>, x: *const $t, x_step: c_int, y: *const $t,
                y_step: c_int, a: *mut $t, a_leading: c_int);
            $rot(n: c_int, x: *mut $t, x_step: c_int, y: *mut $t, y_step: c_int, cosine: Value<$real>,
                sine: Value<$t>);
            $real_rot(n: c_int, x: *mut $t, x_step: c_int, y: *mut $t, y_step: c_int,
                cosine: Value<$real>, sine: Value<$real>);
            $hemm(side: Side, fill: Fill, m: c_int, n: c_int, alpha: Value<$t>, a: *const $t,
                a_leading: c_int, b: *const $t, b_leading: c_int, beta: Value<$t>, c: *mut $t,
                c_leading: c_int);
            $herk(fill: Fill, of: Operation, n: c_int, k: c_int, alpha: Value<$real>, a: *const $t,
                a_leading: c_int, beta: Value<$real>, c: *mut $t, c_leading: c_int);
            $her2k(fill: Fill, of: Operation, n: c_int, k: c_int, alpha: Value<$t>, a: *const $t,
                a_leading: c_int, b: *const $t, b_leading: c_int, beta: Value<$real>, c: *mut $t,
                c_leading: c_int);
        }
    };
}

of_any_numbers!(f32, f32: cublasSaxpy cublasSscal cublasScopy cublasSswap, cublasSnrm2 cublasSasum
    cublasIsamax cublasIsamin, cublasSgemv cublasSgbmv cublasStrmv cublasStrsv cublasStbmv cublasStbsv
    cublasStpmv cublasStpsv, cublasSgemm cublasSsymm cublasSsyrk cublasSsyr2k cublasStrsm);
of_any_numbers!(f64, f64: cublasDaxpy cublasDscal cublasDcopy cublasDswap, cublasDnrm2 cublasDasum
    cublasIdamax cublasIdamin, cublasDgemv cublasDgbmv cublasDtrmv cublasDtrsv cublasDtbmv cublasDtbsv
    cublasDtpmv cublasDtpsv, cublasDgemm cublasDsymm cublasDsyrk cublasDsyr2k cublasDtrsm);
of_any_numbers!(Complex<f32>, f32: cublasCaxpy cublasCscal cublasCcopy cublasCswap, cublasScnrm2
    cublasScasum cublasIcamax cublasIcamin, cublasCgemv cublasCgbmv cublasCtrmv cublasCtrsv cublasCtbmv
    cublasCtbsv cublasCtpmv cublasCtpsv, cublasCgemm cublasCsymm cublasCsyrk cublasCsyr2k cublasCtrsm);
of_any_numbers!(Complex<f64>, f64: cublasZaxpy cublasZscal cublasZcopy cublasZswap, cublasDznrm2
    cublasDzasum cublasIzamax cublasIzamin, cublasZgemv cublasZgbmv cublasZtrmv cublasZtrsv cublasZtbmv
    cublasZtbsv cublasZtpmv cublasZtpsv, cublasZgemm cublasZsymm cublasZsyrk cublasZsyr2k cublasZtrsm);
of_symmetric!(f32, f32: cublasSsymv cublasSsyr cublasSsyr2 cublasSsbmv cublasSspmv cublasSspr cublasSspr2);
of_symmetric!(f64, f64: cublasDsymv cublasDsyr cublasDsyr2 cublasDsbmv cublasDspmv cublasDspr cublasDspr2);
of_symmetric!(Complex<f32>, f32: cublasChemv cublasCher cublasCher2 cublasChbmv cublasChpmv cublasChpr
    cublasChpr2);
of_symmetric!(Complex<f64>, f64: cublasZhemv cublasZher cublasZher2 cublasZhbmv cublasZhpmv cublasZhpr
    cublasZhpr2);
of_real_numbers!(f32: cublasSdot cublasSger cublasSrot cublasSrotg cublasSrotm cublasSrotmg);
of_real_numbers!(f64: cublasDdot cublasDger cublasDrot cublasDrotg cublasDrotm cublasDrotmg);
of_complex_numbers!(Complex<f32>, f32: cublasCsscal cublasCdotu cublasCdotc cublasCgeru cublasCgerc
    cublasCrot cublasCsrot, cublasChemm cublasCherk cublasCher2k);
of_complex_numbers!(Complex<f64>, f64: cublasZdscal cublasZdotu cublasZdotc cublasZgeru cublasZgerc
    cublasZrot cublasZdrot, cublasZhemm cublasZherk cublasZher2k);

/// A product with a triangular matrix, in place of its right side.
macro_rules! triangular_products {
    ($($name:ident $of_today:path: $t:ty;)*) => {$(
        /// `B = alpha * op(A) * B`, or with `op(A)` behind `B`.
        ///
        /// # Safety
        /// As for the function of today's interface.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuBLAS's own name")]
        pub unsafe extern "C" fn $name(
            side: Side,
            fill: Fill,
            of: Operation,
            diagonal: Diagonal,
            m: c_int,
            n: c_int,
            alpha: Value<$t>,
            a: *const $t,
            a_leading: c_int,
            b: *mut $t,
            b_leading: c_int,
        ) {
            let (side, fill, of, diagonal) = (side.now(), fill.now(), of.now(), diagonal.now());
            let (handle, alpha) = (handle(), alpha.now());
            // SAFETY: as the caller promises.
            note(unsafe {
                $of_today(
                    handle, side, fill, of, diagonal, m, n, alpha, a, a_leading, b, b_leading, b, b_leading,
                )
            });
        }
    )*};
}

triangular_products! {
    cublasStrmm super::symmetric_products::cublasStrmm_v2: f32;
    cublasDtrmm super::symmetric_products::cublasDtrmm_v2: f64;
    cublasCtrmm super::symmetric_products::cublasCtrmm_v2: Complex<f32>;
    cublasZtrmm super::symmetric_products::cublasZtrmm_v2: Complex<f64>;
}

macro_rules! statuses {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// Addresses that are passed are readable or writable, or null.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, reason = "cuBLAS's own name")]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> u32 $body
    )*};
}

statuses! {
    /// Opens the process's handle; once more is no error.
    fn cublasInit() {
        match handle().is_null() {
            true => NOT_INITIALIZED,
            false => 0,
        }
    }

    /// Closes the process's handle.
    fn cublasShutdown() {
        let old = state(|state| std::mem::take(&mut state.handle)) as *mut c_void;
        // SAFETY: a handle, or null, which is none.
        unsafe { cublasDestroy_v2(old) }
    }

    /// The last error, and forgets it.
    fn cublasGetError() {
        state(|state| std::mem::take(&mut state.error))
    }

    /// The version of the interface of today.
    fn cublasGetVersion(version: *mut c_int) {
        if version.is_null() {
            return INVALID_VALUE;
        }
        // SAFETY: the program passes a writable address.
        unsafe { version.write(VERSION) };
        0
    }

    /// The stream of the calls that follow.
    fn cublasSetKernelStream(stream: *mut c_void) {
        // SAFETY: a handle, or null, which is none.
        unsafe { cublasSetStream_v2(handle(), stream) }
    }

    /// Device memory for so many elements.
    fn cublasAlloc(count: c_int, size: c_int, place: *mut *mut c_void) {
        let (Ok(count), Ok(size)) = (usize::try_from(count), usize::try_from(size)) else {
            return INVALID_VALUE;
        };
        // SAFETY: the program passes a writable address or null.
        match unsafe { cudaMalloc(place, count * size) } {
            0 => 0,
            _ => ALLOC_FAILED,
        }
    }

    /// Gives device memory back.
    fn cublasFree(place: *mut c_void) {
        // SAFETY: the program passes what `cublasAlloc` gave.
        match unsafe { cudaFree(place) } {
            0 => 0,
            _ => INVALID_VALUE,
        }
    }
}
