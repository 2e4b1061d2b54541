//! Everything the project needs of isl (the integer set library), safe and owned.
//!
//! Invariants: this is the only place that calls isl; every thread has one isl context, which
//! outlives every object made in it; each operation runs under a budget of isl's own elementary
//! operations, so that each ends; isl never aborts the process and never prints. Whoever gets
//! [`IslError::Quota`] knows nothing about the answer and must assume the worst.
//!
//! The crate `isl-rs` builds and links the library. Of its generated bindings nothing is used: they
//! leak every string and hide the difference between a quota and a failure.

mod bounds;
mod built;
mod delinearisation;
mod formula;
mod linear;
mod map;
#[cfg(test)]
mod reader;
mod remembered;
pub mod schedule;
#[cfg(test)]
mod tests;

pub use formula::RowFormula;
pub use linear::{Conjunction, Found, System};
pub use map::Map;
pub use remembered::{recall, told};

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::ptr::NonNull;
use std::rc::Rc;

// Naming the crate is what links the static library.
use isl_rs as _;

/// Why isl gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IslError {
    /// The operation would have cost more than its budget.
    #[error("the polyhedral operation is too expensive")]
    Quota,
    /// Spaces that do not match, or what cannot be said to isl.
    #[error("isl refused an operation: {0}")]
    Invalid(String),
}

/// What an isl operation gives.
pub type Result<T> = std::result::Result<T, IslError>;

/// Elementary operations that one call may cost, unless [`with_operation_budget`] says otherwise.
///
/// isl counts two things: pieces of memory that it asks for, and pivots of its simplex tableaus. This bounds the work,
/// not the time: a pivot goes through all numbers of a tableau, which have no limit to their digits. A question over
/// some tens of columns ends well within a second; one over hundreds may take much longer before its budget is spent,
/// so that who asks such questions gives them a budget by their size ([`System::cells`]).
pub const DEFAULT_OPERATION_BUDGET: u64 = 400_000;

/// Runs `work` with another budget for each isl call that it makes on this thread. There is always one: none at all
/// would be no limit to isl, and is taken for a single operation. The budget before is back also when `work` panics.
pub fn with_operation_budget<T>(operations: u64, work: impl FnOnce() -> T) -> T {
    let context = context();
    let before = context.budget.replace(operations.max(1));
    let _restored = Restored { context, before };
    work()
}

/// The budget of the next isl call of this thread.
fn operation_budget() -> u64 {
    context().budget.get()
}

/// Sets a context's budget back at the end of its life.
struct Restored {
    context: Rc<Context>,
    before: u64,
}

impl Drop for Restored {
    fn drop(&mut self) {
        self.context.budget.set(self.before);
    }
}

/// A set of integer points in a named space, with parameters: an `isl_set`.
pub struct Set {
    raw: NonNull<c_void>,
    context: Rc<Context>,
}

impl Set {
    /// Reads isl's notation, such as `[n] -> { a[i] : 0 <= i < n }`.
    ///
    /// # Errors
    /// [`IslError::Invalid`] when the text is not a set.
    #[cfg(test)]
    pub fn parse(text: &str) -> Result<Self> {
        let context = context();
        let text = c_string(text)?;
        context.start();
        // SAFETY: the context lives; the text is NUL-terminated and only read during the call.
        let raw = unsafe { isl_set_read_from_str(context.raw.as_ptr(), text.as_ptr()) };
        Self::own(context, raw)
    }

    /// The points of a space of so many parameters, named `p0`, `p1`, …, and so many dimensions for
    /// which each linear form of the first matrix is zero and each of the second is not negative: the
    /// constant, then the coefficients of the parameters, then those of the dimensions.
    ///
    /// # Errors
    /// Quota, or more columns than isl can have.
    fn from_constraints(
        [parameters, dimensions]: [usize; 2],
        matrices: &[Vec<Vec<i64>>; 2],
    ) -> Result<Self> {
        let context = context();
        let columns = dimension(1 + parameters + dimensions)?;
        let names = (0..parameters)
            .map(|index| c_string(&format!("p{index}")))
            .collect::<Result<Vec<_>>>()?;
        let (parameters, dimensions) = (dimension(parameters)?, dimension(dimensions)?);
        context.start();
        let equalities = Matrix::new(&context, &matrices[0], columns)?;
        let inequalities = Matrix::new(&context, &matrices[1], columns)?;
        // Writing numbers down is not what the budget is for.
        context.start();
        // SAFETY: the context lives; isl takes each space and gives one back that is ours, or null,
        // which it passes through; the names are NUL-terminated and copied.
        let space = unsafe {
            let unnamed = isl_space_set_alloc(context.raw.as_ptr(), parameters, dimensions);
            (0..).zip(&names).fold(unnamed, |space, (index, name)| {
                isl_space_set_dim_name(space, DIM_PARAMETER, index, name.as_ptr())
            })
        };
        // SAFETY: isl takes the space and both matrices, each ours and given away once, and passes
        // a null space through; the four kinds name each column of the matrices once.
        let raw = unsafe {
            isl_set_from_basic_set(isl_basic_set_from_constraint_matrices(
                space,
                equalities.into_raw(),
                inequalities.into_raw(),
                DIM_CONSTANT,
                DIM_PARAMETER,
                DIM_SET,
                DIM_QUOTIENT,
            ))
        };
        Self::own(context, raw)
    }

    /// The points in both.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn intersect(&self, other: &Self) -> Result<Self> {
        self.binary(isl_set_intersect, other)
    }

    /// The points in either.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn union(&self, other: &Self) -> Result<Self> {
        self.binary(isl_set_union, other)
    }

    /// Whether there is no point for any value of the parameters.
    ///
    /// # Errors
    /// Quota.
    pub fn is_empty(&self) -> Result<bool> {
        self.context.start();
        // SAFETY: the object lives and is only read.
        let answer = unsafe { isl_set_is_empty(self.raw.as_ptr()) };
        self.context.decide(answer)
    }

    /// Whether every point is in `other`.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn is_subset(&self, other: &Self) -> Result<bool> {
        self.context.start();
        // SAFETY: both objects live, in one context, and are only read.
        let answer = unsafe { isl_set_is_subset(self.raw.as_ptr(), other.raw.as_ptr()) };
        self.context.decide(answer)
    }

    /// Forgets `count` dimensions from position `first` on: there is some value of them.
    ///
    /// # Errors
    /// Quota, or a range outside the space.
    pub fn project_out(&self, first: usize, count: usize) -> Result<Self> {
        let (first, count) = (dimension(first)?, dimension(count)?);
        self.context.start();
        // SAFETY: isl_set_copy gives a reference that the call consumes.
        let raw =
            unsafe { isl_set_project_out(isl_set_copy(self.raw.as_ptr()), DIM_SET, first, count) };
        Self::own(self.context.clone(), raw)
    }

    /// Forgets the parameters: the points that belong for some value of them.
    ///
    /// # Errors
    /// Quota.
    pub fn project_out_parameters(&self) -> Result<Self> {
        self.unary(isl_set_project_out_all_params)
    }

    /// A set that has every point of this one, and perhaps more, of conditions that no number has to exist for: those
    /// that exist need not be whole.
    ///
    /// # Errors
    /// Quota.
    pub fn without_existentials(&self) -> Result<Self> {
        self.unary(isl_set_remove_divs)
    }

    /// A point of a set without parameters, one number for each dimension; `None` when the set is
    /// empty or a number leaves 64 bits.
    ///
    /// # Errors
    /// Quota, or a set with parameters.
    pub fn sample(&self) -> Result<Option<Vec<i64>>> {
        Ok(match self.find()? {
            Found::Point(point) => Some(point),
            Found::Nothing | Found::TooLarge => None,
        })
    }

    /// The same, with the two cases apart.
    fn find(&self) -> Result<Found> {
        self.context.start();
        // SAFETY: the object lives; the copy is a reference that the call consumes.
        let point = unsafe { isl_set_sample_point(isl_set_copy(self.raw.as_ptr())) };
        let Some(point) = NonNull::new(point) else {
            return Err(self.context.failure());
        };
        let point = Point(point);
        // SAFETY: both objects live and are only read.
        let (void, count) = unsafe {
            (
                isl_point_is_void(point.0.as_ptr()),
                isl_set_dim(self.raw.as_ptr(), DIM_SET),
            )
        };
        if self.context.decide(void)? {
            return Ok(Found::Nothing);
        }
        let count = usize::try_from(count).map_err(|_| self.context.failure())?;
        let coordinates = (0..count)
            .map(|position| point.coordinate(&self.context, dimension(position)?))
            .collect::<Result<Option<Vec<i64>>>>()?;
        Ok(coordinates.map_or(Found::TooLarge, Found::Point))
    }

    /// The same set in fewer pieces where isl sees how.
    ///
    /// # Errors
    /// Quota.
    pub fn coalesce(&self) -> Result<Self> {
        self.unary(isl_set_coalesce)
    }

    /// The first point in lexicographic order, for each value of the parameters.
    ///
    /// # Errors
    /// Quota, or a set without a first point.
    pub fn lexmin(&self) -> Result<Self> {
        self.unary(isl_set_lexmin)
    }

    /// The last point in lexicographic order, for each value of the parameters.
    ///
    /// # Errors
    /// Quota, or a set without a last point.
    pub fn lexmax(&self) -> Result<Self> {
        self.unary(isl_set_lexmax)
    }

    /// In isl's notation.
    ///
    /// # Errors
    /// Quota.
    pub fn to_text(&self) -> Result<String> {
        self.context.start();
        // SAFETY: the object lives; the string is freed by `take_text`.
        self.context
            .take_text(unsafe { isl_set_to_str(self.raw.as_ptr()) })
    }

    fn unary(&self, operation: UnaryOperation) -> Result<Self> {
        self.context.start();
        // SAFETY: isl_set_copy gives a reference that the operation consumes.
        let raw = unsafe { operation(isl_set_copy(self.raw.as_ptr())) };
        Self::own(self.context.clone(), raw)
    }

    fn binary(&self, operation: BinaryOperation, other: &Self) -> Result<Self> {
        self.context.start();
        // SAFETY: the copies are references that the operation consumes; one context a thread, and
        // neither object can leave its thread.
        let raw = unsafe {
            operation(
                isl_set_copy(self.raw.as_ptr()),
                isl_set_copy(other.raw.as_ptr()),
            )
        };
        Self::own(self.context.clone(), raw)
    }

    /// Gives the object away.
    fn into_raw(self) -> *mut c_void {
        // SAFETY: copying counts one more reference to a living object, which is what is given away.
        unsafe { isl_set_copy(self.raw.as_ptr()) }
    }

    fn own(context: Rc<Context>, raw: *mut c_void) -> Result<Self> {
        match NonNull::new(raw) {
            Some(raw) => Ok(Self { raw, context }),
            None => Err(context.failure()),
        }
    }
}

impl Clone for Set {
    fn clone(&self) -> Self {
        // SAFETY: copying counts one more reference to a living object; it cannot fail for one.
        let raw = unsafe { isl_set_copy(self.raw.as_ptr()) };
        Self {
            raw: NonNull::new(raw).unwrap_or(self.raw),
            context: self.context.clone(),
        }
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        // SAFETY: this object owns one reference, given back once.
        unsafe { isl_set_free(self.raw.as_ptr()) };
    }
}

/// An `isl_point`.
struct Point(NonNull<c_void>);

impl Point {
    /// A coordinate; `None` when it leaves 64 bits.
    fn coordinate(&self, context: &Context, position: c_uint) -> Result<Option<i64>> {
        // SAFETY: the point lives and is only read; the value that comes back is ours to free, and is
        // freed once, after it was read.
        unsafe {
            let value = isl_point_get_coordinate_val(self.0.as_ptr(), DIM_SET, position as c_int);
            if value.is_null() {
                return Err(context.failure());
            }
            let fits = isl_val_cmp_si(value, LARGEST_COORDINATE) <= 0
                && isl_val_cmp_si(value, -LARGEST_COORDINATE) >= 0;
            let number = fits.then(|| isl_val_get_num_si(value));
            isl_val_free(value);
            Ok(number)
        }
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        // SAFETY: this object owns one reference, given back once.
        unsafe { isl_point_free(self.0.as_ptr()) };
    }
}

/// An `isl_mat`.
struct Matrix(NonNull<c_void>);

impl Matrix {
    fn new(context: &Context, rows: &[Vec<i64>], columns: c_uint) -> Result<Self> {
        let count = dimension(rows.len())?;
        // SAFETY: the context lives; what comes back is ours, or null.
        let matrix = unsafe { isl_mat_alloc(context.raw.as_ptr(), count, columns) };
        let mut matrix = Self(NonNull::new(matrix).ok_or_else(|| context.failure())?);
        for (row, numbers) in rows.iter().enumerate() {
            for (column, number) in numbers.iter().enumerate() {
                let (row, column) = (row as c_int, column as c_int);
                // SAFETY: the matrix and the value are ours and taken by the calls; a value that is
                // null is passed through. A place outside of the matrix is refused by isl.
                let raw = unsafe {
                    match c_int::try_from(*number) {
                        Ok(number) => {
                            isl_mat_set_element_si(matrix.into_raw(), row, column, number)
                        }
                        Err(_) => {
                            let value = isl_val_int_from_si(context.raw.as_ptr(), *number);
                            isl_mat_set_element_val(matrix.into_raw(), row, column, value)
                        }
                    }
                };
                matrix = Self(NonNull::new(raw).ok_or_else(|| context.failure())?);
            }
        }
        Ok(matrix)
    }

    /// Gives the object away.
    fn into_raw(self) -> *mut c_void {
        std::mem::ManuallyDrop::new(self).0.as_ptr()
    }
}

impl Drop for Matrix {
    fn drop(&mut self) {
        // SAFETY: this object owns one reference, given back once.
        unsafe { isl_mat_free(self.0.as_ptr()) };
    }
}

/// A thread's isl context: freed when the thread's last object and the thread itself are gone.
struct Context {
    raw: NonNull<c_void>,
    budget: Cell<u64>,
}

impl Context {
    fn new() -> Self {
        // SAFETY: allocation has no precondition; isl exits the process when memory is out, so a
        // null pointer does not come back.
        let raw = unsafe { isl_ctx_alloc() };
        let raw = NonNull::new(raw).expect("isl could not allocate its context");
        // SAFETY: the context was just made. "Continue" makes failures come back as null or -1
        // instead of aborting the process.
        unsafe { isl_options_set_on_error(raw.as_ptr(), ON_ERROR_CONTINUE) };
        Self {
            raw,
            budget: Cell::new(DEFAULT_OPERATION_BUDGET),
        }
    }

    /// Gives the next call its budget and forgets earlier failures.
    fn start(&self) {
        // SAFETY: the context lives; these calls set counters and flags.
        unsafe {
            isl_ctx_reset_error(self.raw.as_ptr());
            isl_ctx_reset_operations(self.raw.as_ptr());
            isl_ctx_set_max_operations(self.raw.as_ptr(), self.budget.get() as c_ulong);
        }
    }

    fn decide(&self, answer: c_int) -> Result<bool> {
        match answer {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.failure()),
        }
    }

    fn take_text(&self, text: *mut c_char) -> Result<String> {
        if text.is_null() {
            return Err(self.failure());
        }
        // SAFETY: isl returned a NUL-terminated string from malloc, which is ours to free; it is
        // copied first.
        unsafe {
            let owned = CStr::from_ptr(text).to_string_lossy().into_owned();
            libc::free(text.cast());
            Ok(owned)
        }
    }

    fn failure(&self) -> IslError {
        // SAFETY: the context lives; the message is a static string of isl's or null.
        unsafe {
            if isl_ctx_last_error(self.raw.as_ptr()) == ERROR_QUOTA {
                return IslError::Quota;
            }
            let message = isl_ctx_last_error_msg(self.raw.as_ptr());
            IslError::Invalid(if message.is_null() {
                String::from("no reason given")
            } else {
                CStr::from_ptr(message).to_string_lossy().into_owned()
            })
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: every object holds an Rc of this context, so none is left.
        unsafe { isl_ctx_free(self.raw.as_ptr()) };
    }
}

fn context() -> Rc<Context> {
    thread_local! {
        static CONTEXT: Rc<Context> = Rc::new(Context::new());
    }
    CONTEXT.with(Rc::clone)
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| IslError::Invalid(String::from("a NUL byte in the text")))
}

fn dimension(number: usize) -> Result<c_uint> {
    c_uint::try_from(number).map_err(|_| IslError::Invalid(String::from("too many dimensions")))
}

type UnaryOperation = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
type BinaryOperation = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;

/// `isl_dim_cst`.
const DIM_CONSTANT: c_int = 0;
/// `isl_dim_param`.
const DIM_PARAMETER: c_int = 1;
/// `isl_dim_set`.
const DIM_SET: c_int = 3;
/// `isl_dim_in`.
const DIM_INPUT: c_int = 2;
/// `isl_dim_div`.
const DIM_QUOTIENT: c_int = 4;
/// Greatest coordinate of a point that is read: sums of a few do not leave 64 bits.
const LARGEST_COORDINATE: c_long = 1 << 60;
/// `ISL_ON_ERROR_CONTINUE`.
const ON_ERROR_CONTINUE: c_int = 1;
/// `isl_error_quota`.
const ERROR_QUOTA: c_int = 6;

// SAFETY: the signatures are those of isl's headers; enumerations are C ints there, `isl_bool` is
// an enumeration of -1, 0, 1, and `__isl_take` pointers are consumed also when the call fails.
unsafe extern "C" {
    fn isl_ctx_alloc() -> *mut c_void;
    fn isl_ctx_free(context: *mut c_void);
    fn isl_ctx_reset_error(context: *mut c_void);
    fn isl_ctx_reset_operations(context: *mut c_void);
    fn isl_ctx_set_max_operations(context: *mut c_void, operations: c_ulong);
    fn isl_ctx_last_error(context: *mut c_void) -> c_int;
    fn isl_ctx_last_error_msg(context: *mut c_void) -> *const c_char;
    fn isl_options_set_on_error(context: *mut c_void, value: c_int) -> c_int;

    #[cfg(test)]
    fn isl_set_read_from_str(context: *mut c_void, text: *const c_char) -> *mut c_void;
    fn isl_space_set_alloc(
        context: *mut c_void,
        parameters: c_uint,
        dimensions: c_uint,
    ) -> *mut c_void;
    fn isl_space_set_dim_name(
        space: *mut c_void,
        kind: c_int,
        position: c_uint,
        name: *const c_char,
    ) -> *mut c_void;
    fn isl_mat_alloc(context: *mut c_void, rows: c_uint, columns: c_uint) -> *mut c_void;
    fn isl_mat_set_element_si(
        matrix: *mut c_void,
        row: c_int,
        column: c_int,
        number: c_int,
    ) -> *mut c_void;
    fn isl_mat_set_element_val(
        matrix: *mut c_void,
        row: c_int,
        column: c_int,
        value: *mut c_void,
    ) -> *mut c_void;
    fn isl_mat_free(matrix: *mut c_void) -> *mut c_void;
    fn isl_val_int_from_si(context: *mut c_void, number: c_long) -> *mut c_void;
    fn isl_basic_set_from_constraint_matrices(
        space: *mut c_void,
        equalities: *mut c_void,
        inequalities: *mut c_void,
        first: c_int,
        second: c_int,
        third: c_int,
        fourth: c_int,
    ) -> *mut c_void;
    fn isl_set_from_basic_set(set: *mut c_void) -> *mut c_void;
    fn isl_set_copy(set: *mut c_void) -> *mut c_void;
    fn isl_set_free(set: *mut c_void) -> *mut c_void;
    fn isl_set_intersect(left: *mut c_void, right: *mut c_void) -> *mut c_void;
    fn isl_set_union(left: *mut c_void, right: *mut c_void) -> *mut c_void;
    fn isl_set_is_empty(set: *mut c_void) -> c_int;
    fn isl_set_is_subset(left: *mut c_void, right: *mut c_void) -> c_int;
    fn isl_set_project_out(
        set: *mut c_void,
        kind: c_int,
        first: c_uint,
        count: c_uint,
    ) -> *mut c_void;
    fn isl_set_coalesce(set: *mut c_void) -> *mut c_void;
    fn isl_set_lexmin(set: *mut c_void) -> *mut c_void;
    fn isl_set_lexmax(set: *mut c_void) -> *mut c_void;
    fn isl_set_to_str(set: *mut c_void) -> *mut c_char;
    fn isl_set_project_out_all_params(set: *mut c_void) -> *mut c_void;
    fn isl_set_remove_divs(set: *mut c_void) -> *mut c_void;
    fn isl_set_dim(set: *mut c_void, kind: c_int) -> c_int;
    fn isl_set_sample_point(set: *mut c_void) -> *mut c_void;

    fn isl_point_is_void(point: *mut c_void) -> c_int;
    fn isl_point_get_coordinate_val(
        point: *mut c_void,
        kind: c_int,
        position: c_int,
    ) -> *mut c_void;
    fn isl_point_free(point: *mut c_void) -> *mut c_void;
    fn isl_val_cmp_si(value: *mut c_void, other: c_long) -> c_int;
    fn isl_val_get_num_si(value: *mut c_void) -> c_long;
    fn isl_val_free(value: *mut c_void) -> *mut c_void;
}
