//! cuBLASLt on the CPU device: products of matrices by columns that descriptors describe, with a bias and an
//! activation behind them.
//!
//! Descriptors lie in memory of the program or of ours, in the size that `cublasLt.h` gives them, and begin
//! with what stands here. What a product would need beyond that is refused by name where it is set or asked for.

use std::ffi::{c_int, c_void};

use super::matrices::Batch;
use super::mixed::{self, BFLOAT, BYTE, DOUBLE, HALF, SINGLE, Sum, bytes, load};
use super::{BlasError, BlasResult, check, whole_numbers};
use crate::api::stream;
use crate::termination;

/// `cublasLtMatmulDesc_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    compute_type: u32,
    scale_type: u32,
    pointer_mode: u32,
    operations: [u32; 3],
    fill_mode: u32,
    epilogue: u32,
    bias: u64,
    bias_type: i32,
    unused: [u32; 3],
}

/// `cublasLtMatrixLayout_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    kind: u32,
    order: u32,
    rows: u64,
    columns: u64,
    leading: i64,
    count: i32,
    unused: u32,
    stride: i64,
}

/// `cublasLtMatmulPreference_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Preference {
    search_mode: u32,
    unused: u32,
    workspace_bytes: u64,
}

/// `cublasLtMatmulHeuristicResult_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    algorithm: [u64; 8],
    workspace_bytes: usize,
    state: u32,
    waves: f32,
    reserved: [i32; 4],
}

/// Bits of a `cublasLtEpilogue_t`.
const RELU: u32 = 2;
const BIAS: u32 = 4;
const GELU: u32 = 32;
/// `CUBLASLT_EPILOGUE_DEFAULT`.
const NOTHING: u32 = 1;
/// `CUBLASLT_MATMUL_DESC_FAST_ACCUM`.
const FAST_ACCUMULATION: u32 = 25;
/// `CUDA_R_32I`.
const WORD: u32 = 10;

cublas_functions! {
    /// A handle. cuBLASLt takes those of cuBLAS as well.
    fn cublasLtCreate(handle: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null.
        match unsafe { super::handle::cublasCreate_v2(handle) } {
            0 => Ok(()),
            _ => Err(BlasError::INVALID_VALUE),
        }
    }

    /// Ends a handle.
    fn cublasLtDestroy(handle: *mut c_void) {
        // SAFETY: a handle is only looked up.
        match unsafe { super::handle::cublasDestroy_v2(handle) } {
            0 => Ok(()),
            _ => Err(BlasError::NOT_INITIALIZED),
        }
    }

    /// Describes a product, in memory of ours.
    fn cublasLtMatmulDescCreate(made: *mut *mut Operation, compute_type: u32, scale_type: u32) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { make(made, Operation::new(compute_type, scale_type)) }
    }

    /// Describes a product, in memory of the program's.
    fn cublasLtMatmulDescInit_internal(
        place: *mut Operation,
        size: usize,
        compute_type: u32,
        scale_type: u32,
    ) {
        // SAFETY: as above.
        unsafe { initialise(place, size, Operation::new(compute_type, scale_type)) }
    }

    /// Ends a description.
    fn cublasLtMatmulDescDestroy(made: *mut Operation) {
        // SAFETY: the program passes what `cublasLtMatmulDescCreate` made, once.
        unsafe { end(made) }
    }

    /// Changes a description.
    fn cublasLtMatmulDescSetAttribute(
        operation: *mut Operation,
        attribute: u32,
        value: *const c_void,
        size: usize,
    ) {
        // SAFETY: as above.
        let operation = unsafe { operation.as_mut() }.ok_or(BlasError::INVALID_VALUE)?;
        // SAFETY: the program passes as many bytes as it says.
        unsafe {
            match attribute {
                0 => set(&mut operation.compute_type, value, size),
                1 => set(&mut operation.scale_type, value, size),
                2 => set(&mut operation.pointer_mode, value, size),
                3..=5 => set(&mut operation.operations[attribute as usize - 3], value, size),
                6 => set(&mut operation.fill_mode, value, size),
                7 => set(&mut operation.epilogue, value, size),
                8 => set(&mut operation.bias, value, size),
                // Sums are exact whether they may be fast or not.
                FAST_ACCUMULATION => Ok(()),
                26 => set(&mut operation.bias_type, value, size),
                other => refuse(&format!("the attribute {other} of products")),
            }
        }
    }

    /// Describes a matrix, in memory of ours.
    fn cublasLtMatrixLayoutCreate(
        made: *mut *mut Layout,
        kind: u32,
        rows: u64,
        columns: u64,
        leading: i64,
    ) {
        // SAFETY: as above.
        unsafe { make(made, Layout::new(kind, rows, columns, leading)) }
    }

    /// Describes a matrix, in memory of the program's.
    fn cublasLtMatrixLayoutInit_internal(
        place: *mut Layout,
        size: usize,
        kind: u32,
        rows: u64,
        columns: u64,
        leading: i64,
    ) {
        // SAFETY: as above.
        unsafe { initialise(place, size, Layout::new(kind, rows, columns, leading)) }
    }

    /// Ends a description.
    fn cublasLtMatrixLayoutDestroy(made: *mut Layout) {
        // SAFETY: as above.
        unsafe { end(made) }
    }

    /// Changes a description.
    fn cublasLtMatrixLayoutSetAttribute(
        layout: *mut Layout,
        attribute: u32,
        value: *const c_void,
        size: usize,
    ) {
        // SAFETY: as above.
        let layout = unsafe { layout.as_mut() }.ok_or(BlasError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe {
            match attribute {
                0 => set(&mut layout.kind, value, size),
                1 => set(&mut layout.order, value, size),
                2 => set(&mut layout.rows, value, size),
                3 => set(&mut layout.columns, value, size),
                4 => set(&mut layout.leading, value, size),
                5 => set(&mut layout.count, value, size),
                6 => set(&mut layout.stride, value, size),
                other => refuse(&format!("the attribute {other} of matrices")),
            }
        }
    }

    /// What algorithms may take, in memory of ours.
    fn cublasLtMatmulPreferenceCreate(made: *mut *mut Preference) {
        // SAFETY: as above.
        unsafe { make(made, Preference::default()) }
    }

    /// What algorithms may take, in memory of the program's.
    fn cublasLtMatmulPreferenceInit_internal(place: *mut Preference, size: usize) {
        // SAFETY: as above.
        unsafe { initialise(place, size, Preference::default()) }
    }

    /// Ends a preference.
    fn cublasLtMatmulPreferenceDestroy(made: *mut Preference) {
        // SAFETY: as above.
        unsafe { end(made) }
    }

    /// Changes a preference. The one algorithm there is needs no memory, and alignments bind it not.
    fn cublasLtMatmulPreferenceSetAttribute(
        preference: *mut Preference,
        attribute: u32,
        value: *const c_void,
        size: usize,
    ) {
        // SAFETY: as above.
        let preference = unsafe { preference.as_mut() }.ok_or(BlasError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe {
            match attribute {
                0 => set(&mut preference.search_mode, value, size),
                1 => set(&mut preference.workspace_bytes, value, size),
                _ => Ok(()),
            }
        }
    }

    /// The one algorithm, for a product that is made here.
    fn cublasLtMatmulAlgoGetHeuristic(
        handle: *mut c_void,
        operation: *const Operation,
        a: *const Layout,
        b: *const Layout,
        c: *const Layout,
        d: *const Layout,
        _preference: *const Preference,
        wanted: c_int,
        found: *mut Found,
        count: *mut c_int,
    ) {
        super::handle::in_order(handle)?;
        if wanted < 1 || found.is_null() || count.is_null() {
            return Err(BlasError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe {
            count.write(0);
            Product::described(operation, [a, b, c, d])?;
            found.write(Found::default());
            count.write(1);
        }
        Ok(())
    }

    /// `D = epilogue(alpha * op(A) * op(B) + beta * C)`.
    fn cublasLtMatmul(
        handle: *mut c_void,
        operation: *const Operation,
        alpha: *const c_void,
        a: *const c_void,
        a_layout: *const Layout,
        b: *const c_void,
        b_layout: *const Layout,
        beta: *const c_void,
        c: *const c_void,
        c_layout: *const Layout,
        d: *mut c_void,
        d_layout: *const Layout,
        _algorithm: *const c_void,
        _workspace: *mut c_void,
        _workspace_bytes: usize,
        stream: *mut c_void,
    ) {
        super::handle::in_order(handle)?;
        stream::in_order(stream).map_err(|_| BlasError::EXECUTION_FAILED)?;
        if alpha.is_null() || beta.is_null() {
            return Err(BlasError::INVALID_VALUE);
        }
        // SAFETY: as above.
        unsafe {
            let product = Product::described(operation, [a_layout, b_layout, c_layout, d_layout])?;
            product.run([alpha, beta], [a, b, c, d.cast_const()])
        }
    }
}

/// The version that this library implements, not a status.
#[unsafe(no_mangle)]
#[allow(non_snake_case, reason = "cuBLASLt's own name")]
pub extern "C" fn cublasLtGetVersion() -> usize {
    super::handle::VERSION as usize
}

impl Operation {
    fn new(compute_type: u32, scale_type: u32) -> Self {
        Self {
            compute_type,
            scale_type,
            pointer_mode: 0,
            operations: [0; 3],
            fill_mode: 2,
            epilogue: NOTHING,
            bias: 0,
            bias_type: -1,
            unused: [0; 3],
        }
    }
}

impl Layout {
    fn new(kind: u32, rows: u64, columns: u64, leading: i64) -> Self {
        Self {
            kind,
            order: 0,
            rows,
            columns,
            leading,
            count: 1,
            unused: 0,
            stride: 0,
        }
    }
}

/// A product that is made here.
struct Product {
    operation: Operation,
    layouts: [Layout; 4],
    extents: [c_int; 3],
}

impl Product {
    /// Errors: extents that do not fit each other, or what is not made here.
    ///
    /// # Safety
    /// The descriptions are readable or null.
    unsafe fn described(
        operation: *const Operation,
        layouts: [*const Layout; 4],
    ) -> BlasResult<Self> {
        // SAFETY: as the caller promises.
        let operation = unsafe { operation.as_ref() }
            .copied()
            .ok_or(BlasError::INVALID_VALUE)?;
        let mut read = [Layout::new(0, 0, 0, 0); 4];
        for (place, layout) in read.iter_mut().zip(layouts) {
            // SAFETY: as the caller promises.
            *place = unsafe { layout.as_ref() }
                .copied()
                .ok_or(BlasError::INVALID_VALUE)?;
        }
        let [a, b, c, d] = read;
        let side = |layout: Layout, operation| {
            let transposed = super::is_transposed(operation)?;
            Ok::<_, BlasError>(match transposed {
                true => (layout.columns, layout.rows),
                false => (layout.rows, layout.columns),
            })
        };
        let ((m, k), (inner, n)) = (
            side(a, operation.operations[0])?,
            side(b, operation.operations[1])?,
        );
        let fits = |layout: Layout| (layout.rows, layout.columns) == (m, n);
        let counts = read.iter().all(|layout| layout.count == d.count);
        if k != inner || !fits(c) || !fits(d) || !counts {
            return Err(BlasError::INVALID_VALUE);
        }
        let extent = |value: u64| c_int::try_from(value).map_err(|_| BlasError::INVALID_VALUE);
        let product = Self {
            operation,
            layouts: read,
            extents: [extent(m)?, extent(n)?, extent(k)?],
        };
        product.check()?;
        Ok(product)
    }

    fn check(&self) -> BlasResult {
        let Operation {
            epilogue,
            operations,
            pointer_mode,
            scale_type,
            ..
        } = self.operation;
        if self.layouts.iter().any(|layout| layout.order != 0) {
            return refuse("matrices that are not stored by columns");
        }
        if operations[2] != 0 || pointer_mode > 1 {
            return refuse("a transposed C, and scalars by row");
        }
        let known = [NOTHING, RELU, BIAS, RELU | BIAS, GELU, GELU | BIAS];
        let whole = self.is_of_whole_numbers();
        if !known.contains(&epilogue) || whole && epilogue != NOTHING {
            return refuse(&format!("the epilogue {epilogue}"));
        }
        let types = self.types();
        let doubles = types == [DOUBLE; 4];
        let singles = types[..3] == [SINGLE; 3] || mixed::takes([types[0], types[1], types[2]]);
        let singles = singles && matches!(types[3], SINGLE | HALF | BFLOAT);
        let scale = match (whole, doubles) {
            (true, _) => scale_type == WORD,
            (_, true) => scale_type == DOUBLE,
            _ => matches!(scale_type, SINGLE | HALF),
        };
        // Factors of which one is whole and the other is not are nobody's.
        if (types[0] == BYTE) != (types[1] == BYTE) {
            return Err(BlasError::INVALID_VALUE);
        }
        if !(whole || doubles || singles) || !scale {
            return refuse("products of these types");
        }
        Ok(())
    }

    fn types(&self) -> [u32; 4] {
        self.layouts.map(|layout| layout.kind)
    }

    fn is_of_whole_numbers(&self) -> bool {
        let [a, b, c, d] = self.types();
        c == d && whole_numbers::takes([a, b, c])
    }

    /// # Safety
    /// The scalars are readable.
    unsafe fn run(&self, scalars: [*const c_void; 2], starts: [*const c_void; 4]) -> BlasResult {
        let mut matrices: [Batch<c_void>; 4] = [(std::ptr::null(), 0, 0); 4];
        for ((place, layout), start) in matrices.iter_mut().zip(self.layouts).zip(starts) {
            let leading = c_int::try_from(layout.leading).map_err(|_| BlasError::INVALID_VALUE)?;
            *place = (start, leading, layout.stride);
        }
        let [a, b, _] = self.operation.operations;
        let count = self.layouts[3].count;
        if self.is_of_whole_numbers() {
            // SAFETY: as the caller promises.
            return unsafe {
                whole_numbers::product([a, b], self.extents, scalars, matrices, count)
            };
        }
        let kind = self.operation.scale_type;
        // SAFETY: as the caller promises.
        let scalars = scalars.map(|scalar| unsafe { load(scalar as usize, kind) });
        match kind {
            DOUBLE => self.add_up::<f64>(scalars, matrices),
            _ => self.add_up::<f32>(scalars, matrices),
        }
    }

    fn add_up<T: Sum>(&self, scalars: [f64; 2], matrices: [Batch<c_void>; 4]) -> BlasResult {
        let Operation {
            epilogue,
            operations,
            bias,
            bias_type,
            ..
        } = self.operation;
        let bias_type = u32::try_from(bias_type).unwrap_or(self.layouts[3].kind);
        let rows = usize::try_from(self.extents[0]).unwrap_or(0);
        if epilogue & BIAS != 0 && rows > 0 {
            check(bias as *const c_void, rows * bytes(bias_type))?;
        }
        let finish = |row: usize, sum: T| {
            let mut value = sum;
            if epilogue & BIAS != 0 {
                // SAFETY: the bias was found within device memory.
                let bias = unsafe { load(bias as usize + row * bytes(bias_type), bias_type) };
                value = value + T::of(bias);
            }
            if epilogue & RELU != 0 && value < T::ZERO {
                value = T::ZERO;
            }
            if epilogue & GELU != 0 {
                value = T::of(gelu(value.wide()));
            }
            value
        };
        mixed::product_into(
            [operations[0], operations[1]],
            self.extents,
            scalars.map(T::of),
            matrices,
            self.types(),
            self.layouts[3].count,
            &finish,
        )
    }
}

/// The form with the hyperbolic tangent, which cuBLASLt's is.
fn gelu(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
    0.5 * x * (1.0 + inner.tanh())
}

fn refuse(what: &str) -> BlasResult {
    termination::notice(&format!("the CPU device's cuBLASLt does not have {what}"));
    Err(BlasError::NOT_SUPPORTED)
}

/// # Safety
/// The address is writable or null.
unsafe fn make<T>(place: *mut *mut T, value: T) -> BlasResult {
    if place.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// # Safety
/// There are as many writable bytes as is said, or the address is null.
unsafe fn initialise<T>(place: *mut T, size: usize, value: T) -> BlasResult {
    if place.is_null() || size < size_of::<T>() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// # Safety
/// [`make`] made it, and it is not used again.
unsafe fn end<T>(made: *mut T) -> BlasResult {
    if made.is_null() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    drop(unsafe { Box::from_raw(made) });
    Ok(())
}

/// # Safety
/// As many bytes are readable as is said, or the address is null.
unsafe fn set<T: Copy>(field: &mut T, value: *const c_void, size: usize) -> BlasResult {
    if value.is_null() || size != size_of::<T>() {
        return Err(BlasError::INVALID_VALUE);
    }
    // SAFETY: as the caller promises.
    *field = unsafe { value.cast::<T>().read_unaligned() };
    Ok(())
}
