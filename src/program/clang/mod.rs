//! clang as the front end: what it is given, what it says, and what it makes.

pub(super) mod front_end;
pub(super) mod front_end_cache;
pub(super) mod front_end_messages;
pub(super) mod precompiled_headers;
pub(super) mod lean_headers;
pub(super) mod leading_headers;
pub(super) mod clang_warnings;
pub(super) mod source_places;
pub(super) mod source_repairs;
