//! Plans that are chosen, judged, cut and made again.

pub(super) mod planning;
pub(super) mod refused;
pub(super) mod crowded;
pub(super) mod resources;
pub(super) mod rotation;
pub(super) mod graphs;
pub(super) mod overlaps;
pub(super) mod tuning;
pub(super) mod measure;
