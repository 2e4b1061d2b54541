//! What isl answered in the last build of the same output: a change of one source asks little that is new.

use crate::build::Build;
use crate::cache::{Entry, put, tools_as_text};
use crate::math::isl;
use std::path::Path;

/// Where the answers of a build are kept, and what was there.
pub(in crate::driver) struct Answers {
    place: Entry,
    before: Vec<u8>,
}

impl Answers {
    /// Has isl remember what it answered in the last build of this output; `None` where nothing is kept.
    pub(in crate::driver) fn recall(build: &Build) -> Option<Self> {
        let place = Entry::of("answers", made_from(build)?)?;
        let kept = place.take().and_then(|mut parts| parts.pop());
        let before = kept.unwrap_or_default();
        isl::recall(&before);
        Some(Self { place, before })
    }

    /// Keeps what this build asked, where that is not what is kept already.
    pub(in crate::driver) fn keep(self) {
        if let Some(told) = isl::told().filter(|told| *told != self.before) {
            self.place.keep(&[&told]);
        }
    }
}

/// Which output it is. Answers are right for any: these are the ones that will be asked for.
fn made_from(build: &Build) -> Option<Vec<u8>> {
    let folder = std::env::current_dir().ok()?;
    let mut bytes = Vec::new();
    put(&mut bytes, tools_as_text([])?.as_bytes());
    put(&mut bytes, folder.as_os_str().as_encoded_bytes());
    let inputs = build.inputs.iter().map(|input| input.path.as_path());
    let names: Vec<&Path> = match &build.output {
        Some(output) => vec![output],
        None => inputs.collect(),
    };
    for name in names {
        put(&mut bytes, name.as_os_str().as_encoded_bytes());
    }
    Some(bytes)
}
