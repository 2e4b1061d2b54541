//! Products and sums of matrices.

use std::ffi::{c_int, c_void};

use super::{BlasError, BlasResult, Matrix, Number, handle, is_transposed, mixed, whole_numbers};
use crate::termination;

/// Operations, extents and scalars of a product.
#[derive(Clone, Copy, Debug)]
struct Product<T> {
    operations: [u32; 2],
    m: c_int,
    n: c_int,
    k: c_int,
    alpha: *const T,
    beta: *const T,
}

/// One matrix of each of a batch: start, leading dimension, elements from one to the next.
pub(super) type Batch<T> = (*const T, c_int, i64);

macro_rules! matrix_functions {
    ($kind:ty, $gemm:ident $strided:ident $batched:ident $geam:ident) => {
        cublas_functions! {
            /// `C = alpha * op(A) * op(B) + beta * C`.
            fn $gemm(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                b: *const $kind,
                b_leading: c_int,
                beta: *const $kind,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                let product = Product { operations: [a_operation, b_operation], m, n, k, alpha, beta };
                // SAFETY: the program passes scalars or null; the same in this file.
                unsafe { product.run((a, a_leading, 0), (b, b_leading, 0), (c, c_leading, 0), 1) }
            }

            /// The same for matrices at equal distances.
            fn $strided(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                a_stride: i64,
                b: *const $kind,
                b_leading: c_int,
                b_stride: i64,
                beta: *const $kind,
                c: *mut $kind,
                c_leading: c_int,
                c_stride: i64,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let product = Product { operations: [a_operation, b_operation], m, n, k, alpha, beta };
                let (a, b) = ((a, a_leading, a_stride), (b, b_leading, b_stride));
                // SAFETY: as above.
                unsafe { product.run(a, b, (c, c_leading, c_stride), count) }
            }

            /// The same for matrices whose addresses stand in arrays on the device.
            fn $batched(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                k: c_int,
                alpha: *const $kind,
                a: *const *const $kind,
                a_leading: c_int,
                b: *const *const $kind,
                b_leading: c_int,
                beta: *const $kind,
                c: *const *mut $kind,
                c_leading: c_int,
                count: c_int,
            ) {
                handle::in_order(handle)?;
                let product = Product { operations: [a_operation, b_operation], m, n, k, alpha, beta };
                let count = super::check_arrays([a.cast(), b.cast(), c.cast()], count)?;
                for index in 0..count {
                    // SAFETY: as above; the arrays were checked.
                    unsafe {
                        let (a, b) = (a.add(index).read(), b.add(index).read());
                        let c = c.add(index).read().cast_const();
                        product.run((a, a_leading, 0), (b, b_leading, 0), (c, c_leading, 0), 1)?;
                    }
                }
                Ok(())
            }

            /// `C = alpha * op(A) + beta * op(B)`.
            fn $geam(
                handle: *mut c_void,
                a_operation: u32,
                b_operation: u32,
                m: c_int,
                n: c_int,
                alpha: *const $kind,
                a: *const $kind,
                a_leading: c_int,
                beta: *const $kind,
                b: *const $kind,
                b_leading: c_int,
                c: *mut $kind,
                c_leading: c_int,
            ) {
                handle::in_order(handle)?;
                // SAFETY: as above.
                let (alpha, beta) = unsafe { (scalar(alpha)?, scalar(beta)?) };
                let side = |operation, start: *const $kind, leading, factor: $kind| {
                    let transposed = is_transposed(operation)?;
                    let (rows, columns) = if transposed { (n, m) } else { (m, n) };
                    // A factor of zero does not look at the matrix.
                    let matrix = if factor == 0.0 {
                        None
                    } else {
                        Some(Matrix::new(rows, columns, start, leading)?)
                    };
                    Ok::<_, BlasError>(move |row, column| match matrix {
                        None => 0.0,
                        Some(matrix) if transposed => factor * matrix.get(column, row),
                        Some(matrix) => factor * matrix.get(row, column),
                    })
                };
                let left = side(a_operation, a, a_leading, alpha)?;
                let right = side(b_operation, b, b_leading, beta)?;
                let c = Matrix::new(m, n, c, c_leading)?;
                for column in 0..c.columns {
                    for row in 0..c.rows {
                        c.set(row, column, left(row, column) + right(row, column));
                    }
                }
                c.written();
                Ok(())
            }
        }
    };
}

matrix_functions!(f32, cublasSgemm_v2 cublasSgemmStridedBatched cublasSgemmBatched cublasSgeam);
matrix_functions!(f64, cublasDgemm_v2 cublasDgemmStridedBatched cublasDgemmBatched cublasDgeam);

/// Whether NVIDIA's library has a product of such types. Bytes whose sums are words are read four at a time.
fn check_types(types: [u32; 3], leading: [c_int; 2], compute_type: u32) -> BlasResult {
    const WORD: u32 = 10;
    let in_single = matches!(compute_type, 68 | 69 | 74..=78);
    let has = match types {
        [mixed::HALF, mixed::HALF, mixed::HALF] => in_single || matches!(compute_type, 64 | 65),
        [mixed::HALF | mixed::BFLOAT | mixed::BYTE, _, SINGLE] if types[0] == types[1] => in_single,
        [mixed::BFLOAT, mixed::BFLOAT, mixed::BFLOAT] | [SINGLE, SINGLE, SINGLE] => in_single,
        [DOUBLE, DOUBLE, DOUBLE] => matches!(compute_type, 70 | 71),
        [mixed::BYTE, mixed::BYTE, WORD] => {
            matches!(compute_type, 72 | 73) && leading.iter().all(|each| each % 4 == 0)
        }
        // Others say so below.
        _ => true,
    };
    match has {
        true => Ok(()),
        false => Err(BlasError::NOT_SUPPORTED),
    }
}

/// `CUDA_R_32F`, `CUDA_R_64F`.
const SINGLE: u32 = 0;
const DOUBLE: u32 = 1;

cublas_functions! {
    /// A product whose types are named: all single, all double, or of half precision.
    fn cublasGemmEx(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        a_type: u32,
        a_leading: c_int,
        b: *const c_void,
        b_type: u32,
        b_leading: c_int,
        beta: *const c_void,
        c: *mut c_void,
        c_type: u32,
        c_leading: c_int,
        compute_type: u32,
        _algorithm: c_int,
    ) {
        handle::in_order(handle)?;
        let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c.cast_const(), c_leading, 0)];
        let operations = [a_operation, b_operation];
        let types = [a_type, b_type, c_type];
        // SAFETY: the program passes scalars of the type that is named, or null; the same below.
        unsafe { named(operations, [m, n, k], [alpha, beta], matrices, (types, compute_type), 1) }
    }

    /// The same for matrices whose addresses stand in arrays on the device.
    fn cublasGemmBatchedEx(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const *const c_void,
        a_type: u32,
        a_leading: c_int,
        b: *const *const c_void,
        b_type: u32,
        b_leading: c_int,
        beta: *const c_void,
        c: *const *mut c_void,
        c_type: u32,
        c_leading: c_int,
        count: c_int,
        compute_type: u32,
        _algorithm: c_int,
    ) {
        handle::in_order(handle)?;
        let operations = [a_operation, b_operation];
        let types = [a_type, b_type, c_type];
        let count = super::check_arrays([a.cast(), b.cast(), c.cast()], count)?;
        for index in 0..count {
            // SAFETY: as above; the arrays were checked.
            unsafe {
                let (a, b) = (a.add(index).read(), b.add(index).read());
                let c = c.add(index).read().cast_const();
                let matrices = [(a, a_leading, 0), (b, b_leading, 0), (c, c_leading, 0)];
                named(operations, [m, n, k], [alpha, beta], matrices, (types, compute_type), 1)?;
            }
        }
        Ok(())
    }

    /// The same for matrices at equal distances.
    fn cublasGemmStridedBatchedEx(
        handle: *mut c_void,
        a_operation: u32,
        b_operation: u32,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        a_type: u32,
        a_leading: c_int,
        a_stride: i64,
        b: *const c_void,
        b_type: u32,
        b_leading: c_int,
        b_stride: i64,
        beta: *const c_void,
        c: *mut c_void,
        c_type: u32,
        c_leading: c_int,
        c_stride: i64,
        count: c_int,
        compute_type: u32,
        _algorithm: c_int,
    ) {
        handle::in_order(handle)?;
        let (a, b) = ((a, a_leading, a_stride), (b, b_leading, b_stride));
        let matrices = [a, b, (c.cast_const(), c_leading, c_stride)];
        let operations = [a_operation, b_operation];
        let types = [a_type, b_type, c_type];
        // SAFETY: as above.
        unsafe { named(operations, [m, n, k], [alpha, beta], matrices, (types, compute_type), count) }
    }
}

/// So many products whose types, and the type that is computed in, are named.
///
/// # Safety
/// As for [`Product::run`].
unsafe fn named(
    operations: [u32; 2],
    extents: [c_int; 3],
    [alpha, beta]: [*const c_void; 2],
    matrices: [Batch<c_void>; 3],
    (types, compute_type): ([u32; 3], u32),
    count: c_int,
) -> BlasResult {
    check_types(types, [matrices[0].1, matrices[1].1], compute_type)?;
    if mixed::takes(types) {
        // SAFETY: as the caller promises.
        let scalars = unsafe { mixed::scalars([alpha, beta], compute_type)? };
        return mixed::product(operations, extents, scalars, matrices, types, count);
    }
    let scalars = [alpha, beta];
    if whole_numbers::takes(types) {
        let [a, b, c] = matrices;
        // SAFETY: as the caller promises.
        return unsafe {
            whole_numbers::product(operations, extents, scalars, [a, b, c, c], count)
        };
    }
    // SAFETY: as the caller promises.
    unsafe { typed(operations, extents, scalars, matrices, types, count) }
}

/// # Safety
/// As for [`Product::run`].
unsafe fn typed(
    operations: [u32; 2],
    [m, n, k]: [c_int; 3],
    [alpha, beta]: [*const c_void; 2],
    matrices: [Batch<c_void>; 3],
    types: [u32; 3],
    count: c_int,
) -> BlasResult {
    /// # Safety
    /// As for [`Product::run`].
    unsafe fn run<T: Number>(
        product: Product<T>,
        matrices: [Batch<c_void>; 3],
        count: c_int,
    ) -> BlasResult {
        let [a, b, c] =
            matrices.map(|(start, leading, stride)| (start.cast::<T>(), leading, stride));
        // SAFETY: as the caller promises.
        unsafe { product.run(a, b, c, count) }
    }
    // SAFETY: as the caller promises.
    match types {
        [SINGLE, SINGLE, SINGLE] => unsafe {
            let (alpha, beta) = (alpha.cast::<f32>(), beta.cast());
            let product = Product {
                operations,
                m,
                n,
                k,
                alpha,
                beta,
            };
            run(product, matrices, count)
        },
        // SAFETY: as the caller promises.
        [DOUBLE, DOUBLE, DOUBLE] => unsafe {
            let (alpha, beta) = (alpha.cast::<f64>(), beta.cast());
            let product = Product {
                operations,
                m,
                n,
                k,
                alpha,
                beta,
            };
            run(product, matrices, count)
        },
        _ => {
            termination::notice(
                "the CPU device's cuBLAS multiplies matrices of float, double, half, bfloat16 and bytes only (cublasGemmEx)",
            );
            Err(BlasError::NOT_SUPPORTED)
        }
    }
}

impl<T: Number> Product<T> {
    /// # Safety
    /// The scalars are readable or null.
    unsafe fn run(self, a: Batch<T>, b: Batch<T>, c: Batch<T>, count: c_int) -> BlasResult {
        let Self { m, n, k, .. } = self;
        let transposed = [
            is_transposed(self.operations[0])?,
            is_transposed(self.operations[1])?,
        ];
        // SAFETY: as the caller promises.
        let (alpha, beta) = unsafe { (scalar(self.alpha)?, scalar(self.beta)?) };
        let count = usize::try_from(count).map_err(|_| BlasError::INVALID_VALUE)?;
        for index in 0..count {
            let nth = |(start, leading, stride): Batch<T>, rows, columns| {
                let distance = stride.wrapping_mul(index as i64) as isize;
                Matrix::new(rows, columns, start.wrapping_offset(distance), leading)
            };
            let c = nth(c, m, n)?;
            let inner = usize::try_from(k).map_err(|_| BlasError::INVALID_VALUE)?;
            // A factor of zero does not look at the matrices.
            let inner = if alpha == T::ZERO { 0 } else { inner };
            let (mut left, mut right) = (c.strided(false), c.strided(false));
            if inner > 0 && c.rows > 0 && c.columns > 0 {
                let plain = |transposed, rows, columns| {
                    if transposed {
                        (columns, rows)
                    } else {
                        (rows, columns)
                    }
                };
                let (rows, columns) = plain(transposed[0], m, k);
                left = nth(a, rows, columns)?.strided(transposed[0]);
                let (rows, columns) = plain(transposed[1], k, n);
                right = nth(b, rows, columns)?.strided(transposed[1]);
            }
            let (start, row, column) = c.strided(false);
            let target = (start.cast_mut(), row, column);
            // SAFETY: the matrices were found within device memory; an inner extent of zero looks at
            // none but the target.
            unsafe { T::product(c.rows, inner, c.columns, alpha, left, right, beta, target) };
            c.written();
        }
        Ok(())
    }
}

/// # Safety
/// The address is readable or null.
unsafe fn scalar<T: Number>(place: *const T) -> BlasResult<T> {
    // SAFETY: as the caller promises.
    unsafe { place.as_ref() }
        .copied()
        .ok_or(BlasError::INVALID_VALUE)
}
