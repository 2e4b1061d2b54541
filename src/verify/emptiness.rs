//! The one question that the verifier asks of isl: is this set empty?

/// Whether the set, in isl's notation, is empty for all values of its parameters. `None` when isl
/// gave up or did not understand: the caller refuses.
pub(super) fn is_empty(set: &str) -> Option<bool> {
    let context = isl_rs::Context::alloc();
    isl_rs::Options::set_on_error(&context, ON_ERROR_CONTINUE).ok()?;
    context.set_max_operations(MAXIMUM_OPERATIONS);
    isl_rs::Set::read_from_str(&context, set)
        .ok()?
        .is_empty()
        .ok()
}

const ON_ERROR_CONTINUE: i32 = 1;
const MAXIMUM_OPERATIONS: u64 = 20_000_000;
