//! Variants by their names.
//!
//! A name is a layout, `unfused` for launches that are not fused, `without-grid-barriers` for the groups that there are
//! without such barriers, and behind a layout words for
//! what is special about the kernel: `-NAME` for an optimisation that it goes without, `threads=N` for
//! threads that are to run at once on a multiprocessor, `compact` for loops that are not unrolled,
//! `unroll=N` for innermost loops whose bodies stand N times in the code.

use crate::build::Optimisation;
use crate::schedule::Variant;
use std::fmt;

/// A variant of a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// The launches are not fused.
    Unfused,
    /// Launches between which all blocks would wait are those that there are without such barriers.
    WithoutGridBarriers,
    /// They are one kernel.
    Fused {
        /// The name of its layout.
        layout: String,
        /// How it is made.
        variant: Variant,
    },
}

impl Choice {
    /// The choice of a name; `None` for what is no name.
    pub fn named(name: &str) -> Option<Self> {
        let mut words = name.split(' ');
        let layout = words.next().filter(|word| !word.is_empty())?;
        let mut variant = Variant::default();
        for word in words {
            if let Some(without) = word.strip_prefix('-') {
                variant.without.insert(Optimisation::of_name(without)?);
            } else if let Some(threads) = word.strip_prefix("threads=") {
                variant.resident_threads = Some(threads.parse().ok()?);
            } else if let Some(times) = word.strip_prefix(UNROLL) {
                variant.unrolled = Some(times.parse().ok().filter(|times| *times > 1)?);
            } else if word == COMPACT {
                variant.compact = true;
            } else {
                return None;
            }
        }
        if variant.compact && variant.unrolled.is_some() {
            return None;
        }
        match layout {
            UNFUSED | FORMERLY_UNFUSED if variant.is_usual() => Some(Self::Unfused),
            WITHOUT_GRID_BARRIERS if variant.is_usual() => Some(Self::WithoutGridBarriers),
            UNFUSED | FORMERLY_UNFUSED | WITHOUT_GRID_BARRIERS => None,
            _ => Some(Self::Fused {
                layout: layout.to_owned(),
                variant,
            }),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, variant) = match self {
            Self::Unfused => return to.write_str(UNFUSED),
            Self::WithoutGridBarriers => return to.write_str(WITHOUT_GRID_BARRIERS),
            Self::Fused { layout, variant } => (layout, variant),
        };
        to.write_str(layout)?;
        for optimisation in &variant.without {
            write!(to, " -{}", optimisation.name())?;
        }
        if let Some(threads) = variant.resident_threads {
            write!(to, " threads={threads}")?;
        }
        if let Some(times) = variant.unrolled {
            write!(to, " {UNROLL}{times}")?;
        }
        match variant.compact {
            true => write!(to, " {COMPACT}"),
            false => Ok(()),
        }
    }
}

const UNFUSED: &str = "unfused";
/// What it was called before.
const FORMERLY_UNFUSED: &str = "apart";
const WITHOUT_GRID_BARRIERS: &str = "without-grid-barriers";
const COMPACT: &str = "compact";
const UNROLL: &str = "unroll=";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for name in [
            "unfused",
            "without-grid-barriers",
            "v",
            "v2h3.2",
            "h -row-promotion -loop-fusion",
            "v threads=1024",
            "v -code-motion threads=2048 compact",
            "vmin threads=1024 unroll=4",
        ] {
            assert_eq!(Choice::named(name).unwrap().to_string(), name);
        }
        assert_eq!(Choice::named("apart"), Some(Choice::Unfused));
        for name in [
            "",
            " v",
            "v -speed",
            "v threads=",
            "unfused compact",
            "without-grid-barriers compact",
            "v unroll=1",
            "v unroll=x",
            "v unroll=2 compact",
            "v  compact",
            "v x",
        ] {
            assert_eq!(Choice::named(name), None, "{name}");
        }
    }
}
