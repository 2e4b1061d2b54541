//! Mathematics that knows no program: graphs with an entry.

pub mod flow;
