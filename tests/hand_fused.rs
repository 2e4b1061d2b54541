//! Our fused kernels beside kernels that were fused by hand.
//!
//! Each program of `test_programs/hand_fused/` does with one kernel, written as one writes it by hand,
//! what the program of the same name in `test_programs/` does with several. Both print the same
//! bytes, the checksum of their results among them. What the CPU device counts in the two is
//! compared: the table of ratios, ours to the hand's, is printed, and none may be above its bound.

#[path = "harness/counts.rs"]
mod counts;
#[path = "harness/quick_link.rs"]
mod quick_link;

use counts::{Counts, counted};
use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = PROGRAMS
        .iter()
        .map(|program| Trial::test(program.name, || program.check()))
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A program, and by how much the fused kernel may be worse than the one made by hand.
struct Comparison {
    name: &'static str,
    instructions: f64,
    /// Bytes that a block has to load, each once, and to store, over all blocks; `None` where a block
    /// cannot keep what it loads.
    compulsory: Option<(u64, u64)>,
}

const PROGRAMS: &[Comparison] = &[
    Comparison {
        name: "pointwise_chain",
        instructions: 1.0,
        compulsory: Some((4 * 100_003, 4 * 100_003)),
    },
    Comparison {
        name: "optimiser_step",
        instructions: 0.8,
        compulsory: Some((4 * 4 * 20_000, 3 * 4 * 20_000)),
    },
    Comparison {
        name: "softmax_rows",
        instructions: 1.02,
        compulsory: Some((4 * 96 * 300, 4 * 96 * 300)),
    },
    Comparison {
        name: "layer_norm",
        instructions: 1.03,
        // The row, and what scales and shifts it.
        compulsory: Some((4 * 64 * 3 * 200, 4 * 64 * 200)),
    },
    Comparison {
        name: "row_attention",
        instructions: 1.05,
        compulsory: None,
    },
    Comparison {
        name: "tile_layers",
        instructions: 1.05,
        compulsory: None,
    },
    Comparison {
        name: "bert_qkv",
        instructions: 1.0,
        compulsory: None,
    },
];

impl Comparison {
    fn check(&self) -> Result<(), Failed> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("test_programs");
        let file = format!("{}.cu", self.name);
        let (expected, hand) = counted(&folder.join("hand_fused").join(&file), &[], &[])?;
        let (printed, ours) = counted(&folder.join(&file), &[], &[])?;
        if expected != printed {
            return Err(format!("by hand:\n{expected}\nfused:\n{printed}").into());
        }
        assert_eq!((hand.launches, ours.launches), (1, 1));
        type Measure = (&'static str, fn(&Counts) -> u64, f64);
        let measures: [Measure; 4] = [
            ("instructions", |of| of.instructions, self.instructions),
            ("global load bytes", |of| of.global_load_bytes, 1.0),
            ("global store bytes", |of| of.global_store_bytes, 1.0),
            ("barriers", |of| of.barriers, 1.0),
        ];
        let mut worse = Vec::new();
        for (measure, of, most) in measures {
            let (by_hand, fused) = (of(&hand), of(&ours));
            let ratio = fused as f64 / by_hand.max(1) as f64;
            println!(
                "{:<16} {measure:<18} by hand {by_hand:>9}  fused {fused:>9}  {ratio:.3}",
                self.name
            );
            if fused > 0 && ratio > most {
                worse.push(format!("{measure}: {ratio:.3} and not {most} at most"));
            }
        }
        if let Some(compulsory) = self.compulsory {
            assert_eq!(
                (ours.global_load_bytes, ours.global_store_bytes),
                compulsory
            );
        }
        match worse.is_empty() {
            true => Ok(()),
            false => Err(worse.join("\n").into()),
        }
    }
}
