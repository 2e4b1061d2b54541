//! Relations between integer points.

use super::{
    BinaryOperation, Context, DIM_INPUT, DIM_PARAMETER, DIM_SET, IslError, Result, Set,
    UnaryOperation, c_string, context, dimension, isl_set_copy,
};
use std::collections::HashSet;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::NonNull;
use std::rc::Rc;

/// A binary relation between integer points, with parameters: an `isl_map`.
pub struct Map {
    raw: NonNull<c_void>,
    context: Rc<Context>,
}

impl Set {
    /// The relation of the first dimensions, so many, to the others, with names for the two spaces.
    ///
    /// # Errors
    /// Quota, or fewer dimensions.
    pub fn relation(&self, first: usize, names: [&str; 2]) -> Result<Map> {
        let first = dimension(first)?;
        let [input, output] = [c_string(names[0])?, c_string(names[1])?];
        self.context.start();
        // SAFETY: isl_set_copy gives a reference that the call consumes; each further call takes what the one before gave,
        // and passes null through; the names are NUL-terminated and copied.
        let raw = unsafe {
            let all = isl_map_from_range(isl_set_copy(self.raw.as_ptr()));
            let split = isl_map_move_dims(all, DIM_INPUT, 0, DIM_SET, 0, first);
            let named = isl_map_set_tuple_name(split, DIM_INPUT, input.as_ptr());
            isl_map_set_tuple_name(named, DIM_SET, output.as_ptr())
        };
        Map::own(self.context.clone(), raw)
    }
}

impl Map {
    /// Reads isl's notation, such as `{ a[i] -> b[j] : j = i + 1 }`, which relations have in reports. It is for who reads
    /// these; the compiler itself makes all that it asks about of formulas.
    ///
    /// # Errors
    /// [`IslError::Invalid`] when the text is not a map.
    pub fn parse(text: &str) -> Result<Self> {
        let context = context();
        let text = c_string(text)?;
        context.start();
        // SAFETY: the context lives; the text is NUL-terminated and only read during the call.
        let raw = unsafe { isl_map_read_from_str(context.raw.as_ptr(), text.as_ptr()) };
        Self::own(context, raw)
    }

    /// The pairs in both.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn intersect(&self, other: &Self) -> Result<Self> {
        self.binary(isl_map_intersect, other)
    }

    /// The pairs in either.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn union(&self, other: &Self) -> Result<Self> {
        self.binary(isl_map_union, other)
    }

    /// The same relation with other names of its parameters, in their order.
    ///
    /// # Errors
    /// Quota, more names than there are parameters, or a name that stands twice.
    pub fn with_parameters(&self, parameters: &[String]) -> Result<Self> {
        let mut seen = HashSet::new();
        if !parameters.iter().all(|name| seen.insert(name)) {
            return Err(IslError::Invalid(String::from(
                "two parameters of one name",
            )));
        }
        self.context.start();
        let names = parameters.iter().map(|name| c_string(name));
        let names: Vec<CString> = names.collect::<Result<_>>()?;
        // SAFETY: copying counts one more reference to a living object. Each call takes what the one before gave, and passes
        // null through; the names are NUL-terminated and copied.
        let raw = unsafe {
            let copy = isl_map_copy(self.raw.as_ptr());
            (0..).zip(&names).fold(copy, |map, (position, name)| {
                isl_map_set_dim_name(map, DIM_PARAMETER, position, name.as_ptr())
            })
        };
        Self::own(self.context.clone(), raw)
    }

    /// Numbers in the matrices of its pieces: what each step of isl's goes through.
    ///
    /// # Errors
    /// Quota.
    pub fn cells(&self) -> Result<usize> {
        /// Adds those of one piece.
        unsafe extern "C" fn add(piece: *mut c_void, sum: *mut c_void) -> c_int {
            // SAFETY: isl gives a piece that is ours, read and given back once, and the number that it was given below,
            // which nothing else uses meanwhile.
            unsafe {
                let rows = isl_basic_map_n_constraint(piece);
                let columns = isl_basic_map_dim(piece, DIM_ALL);
                isl_basic_map_free(piece);
                let (Ok(rows), Ok(columns)) = (usize::try_from(rows), usize::try_from(columns))
                else {
                    return -1;
                };
                *sum.cast::<usize>() += rows * (1 + columns);
            }
            0
        }
        let mut sum = 0usize;
        self.context.start();
        // SAFETY: the object lives and is only read; the number outlives the call.
        let done =
            unsafe { isl_map_foreach_basic_map(self.raw.as_ptr(), add, (&raw mut sum).cast()) };
        match done {
            0 => Ok(sum),
            _ => Err(self.context.failure()),
        }
    }

    /// Whether there is no pair for any value of the parameters.
    ///
    /// # Errors
    /// Quota.
    pub fn is_empty(&self) -> Result<bool> {
        self.context.start();
        // SAFETY: the object lives and is only read.
        let answer = unsafe { isl_map_is_empty(self.raw.as_ptr()) };
        self.context.decide(answer)
    }

    /// Whether every pair is in `other`.
    ///
    /// # Errors
    /// Quota, or different spaces.
    pub fn is_subset(&self, other: &Self) -> Result<bool> {
        self.context.start();
        // SAFETY: both objects live, in one context, and are only read.
        let answer = unsafe { isl_map_is_subset(self.raw.as_ptr(), other.raw.as_ptr()) };
        self.context.decide(answer)
    }

    /// The same relation in fewer pieces where isl sees how.
    ///
    /// # Errors
    /// Quota.
    pub fn coalesce(&self) -> Result<Self> {
        self.unary(isl_map_coalesce)
    }

    /// In isl's notation.
    ///
    /// # Errors
    /// Quota.
    pub fn to_text(&self) -> Result<String> {
        self.context.start();
        // SAFETY: the object lives; the string is freed by `take_text`.
        self.context
            .take_text(unsafe { isl_map_to_str(self.raw.as_ptr()) })
    }

    fn unary(&self, operation: UnaryOperation) -> Result<Self> {
        self.context.start();
        // SAFETY: isl_map_copy gives a reference that the operation consumes.
        let raw = unsafe { operation(isl_map_copy(self.raw.as_ptr())) };
        Self::own(self.context.clone(), raw)
    }

    fn binary(&self, operation: BinaryOperation, other: &Self) -> Result<Self> {
        self.context.start();
        // SAFETY: the copies are references that the operation consumes; one context a thread, and
        // neither object can leave its thread.
        let raw = unsafe {
            operation(
                isl_map_copy(self.raw.as_ptr()),
                isl_map_copy(other.raw.as_ptr()),
            )
        };
        Self::own(self.context.clone(), raw)
    }

    /// Gives the object away.
    pub(super) fn into_raw(self) -> *mut c_void {
        // SAFETY: copying counts one more reference to a living object, which is what is given away.
        unsafe { isl_map_copy(self.raw.as_ptr()) }
    }

    fn own(context: Rc<Context>, raw: *mut c_void) -> Result<Self> {
        match NonNull::new(raw) {
            Some(raw) => Ok(Self { raw, context }),
            None => Err(context.failure()),
        }
    }
}

impl std::fmt::Debug for Map {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_text().unwrap_or_default())
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: this object owns one reference, given back once.
        unsafe { isl_map_free(self.raw.as_ptr()) };
    }
}

/// `isl_dim_all`.
const DIM_ALL: c_int = 5;

// SAFETY: the signatures are those of isl's headers; enumerations are C ints there, `isl_bool` and `isl_stat` are
// enumerations of -1, 0, 1, and `__isl_take` pointers are consumed also when the call fails.
unsafe extern "C" {
    fn isl_map_read_from_str(context: *mut c_void, text: *const c_char) -> *mut c_void;
    fn isl_map_from_range(set: *mut c_void) -> *mut c_void;
    fn isl_map_move_dims(
        map: *mut c_void,
        to: c_int,
        to_position: c_uint,
        from: c_int,
        from_position: c_uint,
        count: c_uint,
    ) -> *mut c_void;
    fn isl_map_set_tuple_name(map: *mut c_void, kind: c_int, name: *const c_char) -> *mut c_void;
    fn isl_map_set_dim_name(
        map: *mut c_void,
        kind: c_int,
        position: c_uint,
        name: *const c_char,
    ) -> *mut c_void;
    fn isl_map_foreach_basic_map(
        map: *mut c_void,
        work: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        user: *mut c_void,
    ) -> c_int;
    fn isl_basic_map_n_constraint(map: *mut c_void) -> c_int;
    fn isl_basic_map_dim(map: *mut c_void, kind: c_int) -> c_int;
    fn isl_basic_map_free(map: *mut c_void) -> *mut c_void;
    fn isl_map_copy(map: *mut c_void) -> *mut c_void;
    fn isl_map_free(map: *mut c_void) -> *mut c_void;
    fn isl_map_intersect(left: *mut c_void, right: *mut c_void) -> *mut c_void;
    fn isl_map_union(left: *mut c_void, right: *mut c_void) -> *mut c_void;
    fn isl_map_is_empty(map: *mut c_void) -> c_int;
    fn isl_map_is_subset(left: *mut c_void, right: *mut c_void) -> c_int;
    fn isl_map_coalesce(map: *mut c_void) -> *mut c_void;
    fn isl_map_to_str(map: *mut c_void) -> *mut c_char;
}
