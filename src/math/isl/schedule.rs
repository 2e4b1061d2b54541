//! isl's scheduler: from domains and dependences to a schedule tree, as plain data.
//!
//! What comes out is a proposal: who uses a tree proves for itself that it keeps the order of what depends on each other.

use super::built::Owned;
use super::{
    Context, DIM_INPUT, DIM_PARAMETER, DIM_QUOTIENT, IslError, LARGEST_COORDINATE, Result, Set,
    c_string, context, dimension, isl_set_copy, isl_set_free, isl_val_cmp_si, isl_val_free,
    isl_val_get_num_si,
};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::rc::Rc;

/// What is to be scheduled. A statement is named by its place in `domains`.
#[derive(Default)]
pub struct Constraints<'s> {
    /// The instances of each statement.
    pub domains: Vec<&'s Set>,
    /// Pairs of which the first is computed before the second (validity); dimensions that carry none of them are coincident.
    pub order: Vec<Pairs<'s>>,
    /// Pairs that are best computed near each other.
    pub proximity: Vec<Pairs<'s>>,
    /// How far a statement may be shifted at most; `None` for as far as isl likes.
    pub largest_shift: Option<u8>,
}

/// Pairs of instances of two statements.
#[derive(Clone, Copy)]
pub struct Pairs<'s> {
    /// The statement of the first ones.
    pub from: usize,
    /// That of the second ones.
    pub to: usize,
    /// Both instances, the dimensions of one behind those of the other.
    pub set: &'s Set,
    /// How many dimensions the first one has.
    pub split: usize,
}

/// A schedule tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// Nothing more is said.
    Leaf,
    /// Dimensions of time.
    Band {
        /// Whether its members may be interchanged.
        permutable: bool,
        /// The dimensions, the outermost first.
        members: Vec<Member>,
        /// What is inside.
        child: Box<Self>,
    },
    /// Some statements, then others.
    Sequence {
        /// Otherwise any order will do.
        ordered: bool,
        /// Statements, and what becomes of them.
        children: Vec<(Vec<usize>, Self)>,
    },
}

/// A member of a band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// No dependence leads from one of its values to another one.
    pub coincident: bool,
    /// By statement, the value at an instance; `None` where that is no sum of whole multiples.
    pub values: Vec<(usize, Option<Affine>)>,
}

/// A sum of multiples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// Of parameters, by name; none of them 0.
    pub parameters: Vec<(String, i64)>,
    /// Of the statement's dimensions.
    pub dimensions: Vec<i64>,
    /// What is added.
    pub constant: i64,
}

/// Asks isl for a schedule: dimensions of a band are coincident as long as there are such; coefficients are at
/// most 1, and statements go together where isl sees no reason against it.
///
/// # Errors
/// Quota, or dimensions that do not fit.
pub fn schedule(constraints: &Constraints<'_>) -> Result<Tree> {
    let context = context();
    let name = |statement: usize| format!("S{statement}");
    let mut domain: Option<Owned> = None;
    for (statement, set) in constraints.domains.iter().enumerate() {
        let name = c_string(&name(statement))?;
        context.start();
        // SAFETY: isl_set_copy gives a reference that the call consumes, and the next one takes what it gives; null is
        // passed through; the name is NUL-terminated and copied.
        let named = unsafe {
            let copy = isl_set_copy(set.raw.as_ptr());
            isl_union_set_from_set(isl_set_set_tuple_name(copy, name.as_ptr()))
        };
        let named = Owned::new(&context, named, isl_union_set_free)?;
        domain = Some(match domain {
            None => named,
            Some(others) => {
                // SAFETY: the call takes both, each ours and given away once.
                let raw = unsafe { isl_union_set_union(others.into_raw(), named.into_raw()) };
                Owned::new(&context, raw, isl_union_set_free)?
            }
        });
    }
    let Some(domain) = domain else {
        return Ok(Tree::Leaf);
    };
    let order = union(&context, &constraints.order)?;
    let proximity = union(&context, &constraints.proximity)?;
    context.start();
    // SAFETY: the context lives; the calls set numbers in it.
    unsafe {
        let raw = context.raw.as_ptr();
        isl_options_set_schedule_max_coefficient(raw, 1);
        isl_options_set_schedule_max_constant_term(
            raw,
            constraints.largest_shift.map_or(-1, c_int::from),
        );
        isl_options_set_schedule_outer_coincidence(raw, 0);
        isl_options_set_schedule_maximize_band_depth(raw, 0);
        isl_options_set_schedule_maximize_coincidence(raw, 0);
        isl_options_set_schedule_serialize_sccs(raw, 0);
        isl_options_set_schedule_whole_component(raw, 0);
    }
    // SAFETY: each call takes what the one before gave and one more object of ours, which is given away once, or a copy; null
    // is passed through.
    let made = unsafe {
        let constraints = isl_schedule_constraints_on_domain(domain.into_raw());
        let also = isl_union_map_copy(order.object.as_ptr());
        let constraints = isl_schedule_constraints_set_validity(constraints, also);
        let constraints = isl_schedule_constraints_set_coincidence(constraints, order.into_raw());
        let constraints = isl_schedule_constraints_set_proximity(constraints, proximity.into_raw());
        isl_schedule_constraints_compute_schedule(constraints)
    };
    let made = Owned::new(&context, made, isl_schedule_free)?;
    context.start();
    // SAFETY: the schedule lives and is only read; the node that comes back is ours.
    let root = unsafe { isl_schedule_get_root(made.object.as_ptr()) };
    let root = Owned::new(&context, root, isl_schedule_node_free)?;
    Reader { context: &context }.tree(&root)
}

/// All pairs.
fn union(context: &Rc<Context>, all: &[Pairs<'_>]) -> Result<Owned> {
    context.start();
    // SAFETY: the context lives; what comes back is ours.
    let empty = unsafe { isl_union_map_empty_ctx(context.raw.as_ptr()) };
    let empty = Owned::new(context, empty, isl_union_map_free)?;
    all.iter().try_fold(empty, |all, pairs| {
        let names = [format!("S{}", pairs.from), format!("S{}", pairs.to)];
        let map = pairs.set.relation(pairs.split, [&names[0], &names[1]])?;
        context.start();
        // SAFETY: the calls take both objects, each ours and given away once.
        let raw =
            unsafe { isl_union_map_union(all.into_raw(), isl_union_map_from_map(map.into_raw())) };
        Owned::new(context, raw, isl_union_map_free)
    })
}

/// Reads trees.
struct Reader<'c> {
    context: &'c Rc<Context>,
}

impl Reader<'_> {
    fn tree(&self, node: &Owned) -> Result<Tree> {
        // SAFETY: the node lives and is only read.
        let kind = unsafe { isl_schedule_node_get_type(node.object.as_ptr()) };
        match kind {
            NODE_LEAF => Ok(Tree::Leaf),
            NODE_DOMAIN | NODE_CONTEXT => self.tree(&self.child(node, 0)?),
            NODE_BAND => self.band(node),
            NODE_SEQUENCE | NODE_SET => {
                // SAFETY: the node lives and is only read.
                let count = unsafe { isl_schedule_node_n_children(node.object.as_ptr()) };
                let count = self.count(count)?;
                let children = (0..count).map(|position| {
                    let filter = self.child(node, position)?;
                    Ok((self.filter(&filter)?, self.tree(&self.child(&filter, 0)?)?))
                });
                Ok(Tree::Sequence {
                    ordered: kind == NODE_SEQUENCE,
                    children: children.collect::<Result<_>>()?,
                })
            }
            _ => Err(IslError::Invalid(String::from(
                "a node that no scheduler makes",
            ))),
        }
    }

    fn band(&self, node: &Owned) -> Result<Tree> {
        let raw = node.object.as_ptr();
        // SAFETY: the node lives and is only read; what comes back is ours.
        let (count, permutable, schedule) = unsafe {
            (
                isl_schedule_node_band_n_member(raw),
                isl_schedule_node_band_get_permutable(raw),
                isl_schedule_node_band_get_partial_schedule(raw),
            )
        };
        let schedule = Owned::new(self.context, schedule, isl_multi_union_pw_aff_free)?;
        let mut members = Vec::new();
        for position in 0..self.count(count)? {
            let at = dimension(position)? as c_int;
            // SAFETY: the node and the schedule live and are only read; what comes back is ours.
            let (coincident, values) = unsafe {
                (
                    isl_schedule_node_band_member_get_coincident(raw, at),
                    isl_multi_union_pw_aff_get_at(schedule.object.as_ptr(), at),
                )
            };
            let values = Owned::new(self.context, values, isl_union_pw_aff_free)?;
            members.push(Member {
                coincident: self.context.decide(coincident)?,
                values: self.values(&values)?,
            });
        }
        Ok(Tree::Band {
            permutable: self.context.decide(permutable)?,
            members,
            child: Box::new(self.tree(&self.child(node, 0)?)?),
        })
    }

    fn child(&self, node: &Owned, position: usize) -> Result<Owned> {
        let position = dimension(position)? as c_int;
        // SAFETY: the node lives and is only read; what comes back is ours.
        let raw = unsafe { isl_schedule_node_get_child(node.object.as_ptr(), position) };
        Owned::new(self.context, raw, isl_schedule_node_free)
    }

    /// The statements that a filter lets through.
    fn filter(&self, node: &Owned) -> Result<Vec<usize>> {
        // SAFETY: the node lives and is only read; each call gives what is ours.
        let sets = unsafe {
            let filter = isl_schedule_node_filter_get_filter(node.object.as_ptr());
            let filter = Owned::new(self.context, filter, isl_union_set_free)?;
            isl_union_set_get_set_list(filter.object.as_ptr())
        };
        let sets = Owned::new(self.context, sets, isl_set_list_free)?;
        // SAFETY: the list lives and is only read.
        let count = unsafe { isl_set_list_n_set(sets.object.as_ptr()) };
        let mut statements = Vec::new();
        for position in 0..self.count(count)? {
            // SAFETY: the list lives and is only read; the set is ours.
            let set =
                unsafe { isl_set_list_get_at(sets.object.as_ptr(), dimension(position)? as c_int) };
            statements.push(statement(&Set::own(self.context.clone(), set)?)?);
        }
        statements.sort_unstable();
        Ok(statements)
    }

    /// By statement, a value of a band.
    fn values(&self, values: &Owned) -> Result<Vec<(usize, Option<Affine>)>> {
        // SAFETY: the object lives and is only read; the list is ours.
        let list = unsafe { isl_union_pw_aff_get_pw_aff_list(values.object.as_ptr()) };
        let list = Owned::new(self.context, list, isl_pw_aff_list_free)?;
        // SAFETY: the list lives and is only read.
        let count = unsafe { isl_pw_aff_list_n_pw_aff(list.object.as_ptr()) };
        let mut all = Vec::new();
        for position in 0..self.count(count)? {
            // SAFETY: the list lives and is only read; what comes back is ours.
            let value = unsafe {
                isl_pw_aff_list_get_at(list.object.as_ptr(), dimension(position)? as c_int)
            };
            let value = Owned::new(self.context, value, isl_pw_aff_free)?;
            // SAFETY: the call takes a copy, which counts one more reference; the set is ours.
            let domain = unsafe { isl_pw_aff_domain(isl_pw_aff_copy(value.object.as_ptr())) };
            let domain = Set::own(self.context.clone(), domain)?;
            all.push((statement(&domain)?, self.affine(&value)?));
        }
        all.sort_by_key(|(statement, _)| *statement);
        Ok(all)
    }

    /// The sum that is the value in all pieces.
    fn affine(&self, value: &Owned) -> Result<Option<Affine>> {
        /// Puts a piece's sum behind those before.
        unsafe extern "C" fn note(set: *mut c_void, sum: *mut c_void, all: *mut c_void) -> c_int {
            // SAFETY: isl gives a set and a sum that are ours, of which the set is given back at once, and the list that it
            // was given below, which nothing else uses meanwhile.
            unsafe {
                isl_set_free(set);
                (*all.cast::<Vec<*mut c_void>>()).push(sum);
            }
            0
        }
        let mut pieces: Vec<*mut c_void> = Vec::new();
        // SAFETY: the object lives and is only read; the list outlives the call.
        let done = unsafe {
            isl_pw_aff_foreach_piece(value.object.as_ptr(), note, (&raw mut pieces).cast())
        };
        let pieces: Result<Vec<Owned>> = pieces
            .into_iter()
            .map(|sum| Owned::new(self.context, sum, isl_aff_free))
            .collect();
        let pieces = pieces?;
        if done != 0 {
            return Err(self.context.failure());
        }
        match pieces.as_slice() {
            [only] => self.sum(only),
            _ => Ok(None),
        }
    }
}

impl Reader<'_> {
    /// A sum, where it has no quotients and all its factors are whole.
    fn sum(&self, sum: &Owned) -> Result<Option<Affine>> {
        let raw = sum.object.as_ptr();
        // SAFETY: the sum lives and is only read.
        let counts =
            unsafe { [DIM_PARAMETER, DIM_INPUT, DIM_QUOTIENT].map(|kind| isl_aff_dim(raw, kind)) };
        let [parameters, dimensions, quotients] = counts;
        if self.count(quotients)? > 0 {
            return Ok(None);
        }
        let mut all = Affine::default();
        for position in 0..dimension(self.count(parameters)?)? as c_int {
            // SAFETY: the sum lives and is only read; the value is ours.
            let factor = unsafe { isl_aff_get_coefficient_val(raw, DIM_PARAMETER, position) };
            let Some(factor) = self.number(factor)? else {
                return Ok(None);
            };
            if factor != 0 {
                // SAFETY: the sum lives and is only read; the name is isl's, NUL-terminated, and copied at once.
                let name = unsafe {
                    let name = isl_aff_get_dim_name(raw, DIM_PARAMETER, position as u32);
                    match name.is_null() {
                        true => return Err(self.context.failure()),
                        false => CStr::from_ptr(name).to_string_lossy().into_owned(),
                    }
                };
                all.parameters.push((name, factor));
            }
        }
        for position in 0..dimension(self.count(dimensions)?)? as c_int {
            // SAFETY: the sum lives and is only read; the value is ours.
            let factor = unsafe { isl_aff_get_coefficient_val(raw, DIM_INPUT, position) };
            match self.number(factor)? {
                Some(factor) => all.dimensions.push(factor),
                None => return Ok(None),
            }
        }
        // SAFETY: the sum lives and is only read; the value is ours.
        let constant = unsafe { isl_aff_get_constant_val(raw) };
        let constant = self.number(constant)?;
        Ok(constant.map(|constant| Affine { constant, ..all }))
    }

    /// What a value is, which is given back; `None` for one that is not whole, or large.
    fn number(&self, value: *mut c_void) -> Result<Option<i64>> {
        let value = Owned::new(self.context, value, isl_val_free)?;
        let raw = value.object.as_ptr();
        // SAFETY: the value lives and is only read.
        let (whole, fits, number) = unsafe {
            let fits = isl_val_cmp_si(raw, LARGEST_COORDINATE) <= 0
                && isl_val_cmp_si(raw, -LARGEST_COORDINATE) >= 0;
            (isl_val_is_int(raw), fits, isl_val_get_num_si(raw))
        };
        Ok((self.context.decide(whole)? && fits).then_some(number))
    }

    /// A number of things, where it is one.
    fn count(&self, count: c_int) -> Result<usize> {
        usize::try_from(count).map_err(|_| self.context.failure())
    }
}

/// The statement that a set of instances is of.
fn statement(set: &Set) -> Result<usize> {
    // SAFETY: the set lives and is only read; the name is isl's, NUL-terminated, and copied at once.
    let name = unsafe {
        let name = isl_set_get_tuple_name(set.raw.as_ptr());
        match name.is_null() {
            true => return Err(set.context.failure()),
            false => CStr::from_ptr(name).to_string_lossy().into_owned(),
        }
    };
    let number = name
        .strip_prefix('S')
        .and_then(|number| number.parse().ok());
    number.ok_or_else(|| IslError::Invalid(format!("{name} is no statement")))
}

/// `isl_schedule_node_band`.
const NODE_BAND: c_int = 0;
/// `isl_schedule_node_context`.
const NODE_CONTEXT: c_int = 1;
/// `isl_schedule_node_domain`.
const NODE_DOMAIN: c_int = 2;
/// `isl_schedule_node_leaf`.
const NODE_LEAF: c_int = 6;
/// `isl_schedule_node_sequence`.
const NODE_SEQUENCE: c_int = 9;
/// `isl_schedule_node_set`.
const NODE_SET: c_int = 10;

// SAFETY: the signatures are those of isl's headers; enumerations are C ints there, `isl_bool`, `isl_stat` and `isl_size` are
// C ints, too, and `__isl_take` pointers are consumed also when the call fails.
unsafe extern "C" {
    fn isl_options_set_schedule_max_coefficient(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_max_constant_term(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_outer_coincidence(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_maximize_band_depth(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_maximize_coincidence(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_serialize_sccs(context: *mut c_void, value: c_int) -> c_int;
    fn isl_options_set_schedule_whole_component(context: *mut c_void, value: c_int) -> c_int;
    fn isl_schedule_constraints_on_domain(domain: *mut c_void) -> *mut c_void;
    fn isl_schedule_constraints_set_validity(
        constraints: *mut c_void,
        pairs: *mut c_void,
    ) -> *mut c_void;
    fn isl_schedule_constraints_set_coincidence(
        constraints: *mut c_void,
        pairs: *mut c_void,
    ) -> *mut c_void;
    fn isl_schedule_constraints_set_proximity(
        constraints: *mut c_void,
        pairs: *mut c_void,
    ) -> *mut c_void;
    fn isl_schedule_constraints_compute_schedule(constraints: *mut c_void) -> *mut c_void;
    fn isl_schedule_get_root(schedule: *mut c_void) -> *mut c_void;
    fn isl_schedule_free(schedule: *mut c_void) -> *mut c_void;
    fn isl_schedule_node_free(node: *mut c_void) -> *mut c_void;
    fn isl_schedule_node_get_type(node: *mut c_void) -> c_int;
    fn isl_schedule_node_n_children(node: *mut c_void) -> c_int;
    fn isl_schedule_node_get_child(node: *mut c_void, position: c_int) -> *mut c_void;
    fn isl_schedule_node_filter_get_filter(node: *mut c_void) -> *mut c_void;
    fn isl_schedule_node_band_n_member(node: *mut c_void) -> c_int;
    fn isl_schedule_node_band_get_permutable(node: *mut c_void) -> c_int;
    fn isl_schedule_node_band_member_get_coincident(node: *mut c_void, position: c_int) -> c_int;
    fn isl_schedule_node_band_get_partial_schedule(node: *mut c_void) -> *mut c_void;
    fn isl_multi_union_pw_aff_get_at(values: *mut c_void, position: c_int) -> *mut c_void;
    fn isl_multi_union_pw_aff_free(values: *mut c_void) -> *mut c_void;
    fn isl_union_pw_aff_get_pw_aff_list(values: *mut c_void) -> *mut c_void;
    fn isl_union_pw_aff_free(values: *mut c_void) -> *mut c_void;
    fn isl_pw_aff_list_n_pw_aff(list: *mut c_void) -> c_int;
    fn isl_pw_aff_list_get_at(list: *mut c_void, position: c_int) -> *mut c_void;
    fn isl_pw_aff_list_free(list: *mut c_void) -> *mut c_void;
    fn isl_pw_aff_copy(value: *mut c_void) -> *mut c_void;
    fn isl_pw_aff_domain(value: *mut c_void) -> *mut c_void;
    fn isl_pw_aff_free(value: *mut c_void) -> *mut c_void;
    fn isl_pw_aff_foreach_piece(
        value: *mut c_void,
        work: unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int,
        user: *mut c_void,
    ) -> c_int;
    fn isl_aff_dim(sum: *mut c_void, kind: c_int) -> c_int;
    fn isl_aff_get_coefficient_val(sum: *mut c_void, kind: c_int, position: c_int) -> *mut c_void;
    fn isl_aff_get_constant_val(sum: *mut c_void) -> *mut c_void;
    fn isl_aff_get_dim_name(sum: *mut c_void, kind: c_int, position: u32) -> *const c_char;
    fn isl_aff_free(sum: *mut c_void) -> *mut c_void;
    fn isl_val_is_int(value: *mut c_void) -> c_int;
    fn isl_set_get_tuple_name(set: *mut c_void) -> *const c_char;
    fn isl_set_set_tuple_name(set: *mut c_void, name: *const c_char) -> *mut c_void;
    fn isl_set_list_n_set(list: *mut c_void) -> c_int;
    fn isl_set_list_get_at(list: *mut c_void, position: c_int) -> *mut c_void;
    fn isl_set_list_free(list: *mut c_void) -> *mut c_void;
    fn isl_union_set_from_set(set: *mut c_void) -> *mut c_void;
    fn isl_union_set_union(one: *mut c_void, other: *mut c_void) -> *mut c_void;
    fn isl_union_set_get_set_list(set: *mut c_void) -> *mut c_void;
    fn isl_union_set_free(set: *mut c_void) -> *mut c_void;
    fn isl_union_map_empty_ctx(context: *mut c_void) -> *mut c_void;
    fn isl_union_map_from_map(map: *mut c_void) -> *mut c_void;
    fn isl_union_map_union(one: *mut c_void, other: *mut c_void) -> *mut c_void;
    fn isl_union_map_copy(map: *mut c_void) -> *mut c_void;
    fn isl_union_map_free(map: *mut c_void) -> *mut c_void;
}
