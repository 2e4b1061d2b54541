//! Images of device code: made, kept and put into objects.

pub(super) mod images;
pub(super) mod pending;
pub(super) mod parts;
pub(super) mod kept_images;
pub mod ptx;
pub(super) mod fatbin_object;
pub(super) mod loadable;
pub(super) mod kernel_text;
