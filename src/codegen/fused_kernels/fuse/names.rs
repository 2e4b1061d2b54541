//! Names of fused kernels.
//!
//! Invariant: what a kernel is called depends on its members and on the kernels of the same members before it, on nothing
//! else of the program. A change elsewhere leaves its image as it was, which is kept from the build before.

use super::wanted::Order;
use crate::kernel::KernelModel;
use std::collections::BTreeMap;

/// So much of the members' names is enough to tell what runs.
const MOST_LETTERS: usize = 180;

/// By kernel `sirius_fused_0_scale_add`: a name that PTX allows and that says what runs. The number counts kernels of the
/// same members.
pub(super) fn kernel_names(orders: &[Order], models: &[KernelModel]) -> Vec<String> {
    let mut earlier: BTreeMap<String, usize> = BTreeMap::new();
    let names = orders.iter().map(|order| {
        let mut members = String::new();
        for member in &order.specialisation.shape.members {
            members.push('_');
            let letters = models[member.kernel.0].display_name.chars();
            members.extend(letters.map(|letter| match letter.is_ascii_alphanumeric() {
                true => letter,
                false => '_',
            }));
        }
        members.truncate(MOST_LETTERS);
        let number = earlier.entry(members.clone()).or_default();
        *number += 1;
        format!("sirius_fused_{}{members}", *number - 1)
    });
    names.collect()
}
