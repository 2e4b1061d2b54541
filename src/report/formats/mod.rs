//! The forms of a report for people: text, a page, a graph.

pub(super) mod dot;
pub(super) mod html;
pub(super) mod text;
