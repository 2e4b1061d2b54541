//! What links of programs made of their objects' bitcode, kept for links of the same again.
//!
//! Reading and analysing a program is most of its link; a build that changed no object comes here with
//! the same bitcode. `SIRIUS_CACHE` names the folder, `off` switches this off; without it, it is
//! `sirius-rs` in the user's folder of caches.
//!
//! Invariant: an entry holds all that its objects were made from (bitcode, options, tools), and counts only
//! where that is the same byte for byte and its own checksum is right. So no other file, and no damage, can
//! change a program. What fails to be kept is no error.

use super::outcome::Outcome;
use crate::cli::{Build, Language, Phase, SiriusOptions, Toolchain, Tuning};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The place of one link in the cache.
pub(super) struct LinkCache {
    folder: PathBuf,
    /// All that the objects are made from.
    made_from: Vec<u8>,
}

/// What a link came to, before the host's linker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Linked {
    /// Object files, in order.
    pub(super) objects: Vec<Vec<u8>>,
    /// What was said.
    pub(super) warnings: String,
    /// The summary, where something fused.
    pub(super) summary: Option<String>,
}

impl LinkCache {
    /// `None` for a build that is no link of bitcode, that asks for more than the program, or where nothing
    /// is to be kept.
    pub(super) fn of(build: &Build, toolchain: &Toolchain) -> Option<Self> {
        let options = &build.sirius;
        let only_the_program = build.phase == Phase::Link
            && options.report.is_none()
            && options.dump.is_empty()
            && options.stop_after.is_none()
            && options.save_directory.is_none()
            && build.keep_directory.is_none()
            && !options.reference
            && options.tuning == Tuning::default()
            && !build.dry_run
            && !build.verbose;
        if !only_the_program {
            return None;
        }
        Some(Self {
            folder: folder()?,
            made_from: made_from(build, toolchain)?,
        })
    }

    fn entry(&self) -> PathBuf {
        let name = format!("{:016x}.link", checksum(&self.made_from));
        self.folder.join(name)
    }

    /// What an earlier link of the same came to.
    pub(super) fn take(&self) -> Option<Linked> {
        let path = self.entry();
        let bytes = std::fs::read(&path).ok()?;
        let linked = decode(&bytes, &self.made_from)?;
        // What is used stays longest.
        let file = std::fs::File::options().append(true).open(&path);
        let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        Some(linked)
    }

    /// Keeps what a link came to, and removes what was used longest ago where there is too much.
    pub(super) fn keep(&self, outcome: &Outcome) {
        if outcome.objects.is_empty() {
            return;
        }
        let linked = Linked {
            objects: outcome.objects.clone(),
            warnings: outcome.warnings.clone(),
            summary: outcome.summary.clone(),
        };
        let _kept = self.write(&encode(&self.made_from, &linked));
        bound(&self.folder, LARGEST_BYTES);
    }

    /// An entry appears whole, since builds share the folder.
    fn write(&self, bytes: &[u8]) -> Option<()> {
        std::fs::create_dir_all(&self.folder).ok()?;
        let file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        std::fs::write(file.path(), bytes).ok()?;
        file.persist(self.entry()).ok()?;
        Some(())
    }
}

/// What all entries together may take.
const LARGEST_BYTES: u64 = 512 << 20;

/// Where what may be needed again is kept; `None` where nothing is to be.
pub(super) fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|text| !text.is_empty());
    match variable("SIRIUS_CACHE") {
        Some(text) if text == "off" => None,
        Some(folder) => Some(folder.into()),
        None => {
            let caches = variable("XDG_CACHE_HOME").map(PathBuf::from);
            let at_home = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
            let folder = caches.or_else(at_home)?.join("sirius-rs");
            folder.is_absolute().then_some(folder)
        }
    }
}

/// Removes the entries that were used longest ago until the others take no more than `most` bytes.
fn bound(folder: &Path, most: u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let known = entry.metadata().ok()?;
            let path = entry.path();
            let is_entry = path.extension().is_some_and(|ending| ending == "link");
            is_entry.then_some((known.modified().ok()?, known.len(), path))
        })
        .collect();
    entries.sort();
    let mut total: u64 = entries.iter().map(|(_, bytes, _)| bytes).sum();
    for (_, bytes, path) in entries {
        if total <= most {
            break;
        }
        let _ = std::fs::remove_file(path);
        total -= bytes;
    }
}

/// `None` where an input is no bitcode, or cannot be read.
fn made_from(build: &Build, toolchain: &Toolchain) -> Option<Vec<u8>> {
    // Neither says what the objects are.
    let mut lasting = Build {
        output: None,
        run: None,
        sirius: SiriusOptions {
            command: String::new(),
            ..build.sirius.clone()
        },
        ..build.clone()
    };
    let mut modules = Vec::new();
    for input in &mut lasting.inputs {
        if input.language == Language::Object {
            continue;
        }
        let bitcode = input.bitcode.as_mut()?;
        let newer = bitcode.newer.iter_mut().map(|(_, path)| Some(path));
        let oldest = [Some(&mut bitcode.host), bitcode.device.as_mut()];
        for path in oldest.into_iter().chain(newer) {
            modules.push(path.as_ref().map(std::fs::read));
            // A name of this run.
            path.map(std::mem::take);
        }
    }
    let mut text = format!("{lasting:?}\n{toolchain:?}\n");
    let own = std::env::current_exe().ok()?;
    let tools = [
        Some(&own),
        Some(&toolchain.clang),
        Some(&toolchain.libdevice),
        toolchain.ptxas.as_ref(),
        toolchain.fatbinary.as_ref(),
    ];
    for tool in tools.into_iter().flatten() {
        let known = std::fs::metadata(tool).ok()?;
        let _ = writeln!(text, "{} {:?}", known.len(), known.modified().ok()?);
    }
    let mut variables: Vec<_> = std::env::vars_os()
        .filter(|(name, _)| name.to_string_lossy().starts_with("SIRIUS_"))
        .filter(|(name, _)| name != "SIRIUS_CACHE")
        .collect();
    variables.sort();
    let _ = writeln!(text, "{variables:?}");
    let mut bytes = Vec::new();
    put(&mut bytes, text.as_bytes());
    for module in modules {
        put(&mut bytes, &module.transpose().ok()?.unwrap_or_default());
    }
    Some(bytes)
}

const MAGIC: &[u8; 8] = b"siriusL1";

/// The magic number, a checksum of the rest, what it was made from, what was said, the summary (nothing,
/// or after a byte), the objects.
fn encode(made_from: &[u8], linked: &Linked) -> Vec<u8> {
    let mut rest = Vec::new();
    put(&mut rest, made_from);
    put(&mut rest, linked.warnings.as_bytes());
    let summary = linked.summary.as_ref().map(|text| format!("s{text}"));
    put(&mut rest, summary.unwrap_or_default().as_bytes());
    for object in &linked.objects {
        put(&mut rest, object);
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(checksum(&rest).to_le_bytes());
    bytes.extend(rest);
    bytes
}

fn decode(bytes: &[u8], made_from: &[u8]) -> Option<Linked> {
    let (sum, mut rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    if checksum(rest) != u64::from_le_bytes(*sum) || part(&mut rest)? != made_from {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let warnings = text(part(&mut rest)?)?;
    let summary = text(part(&mut rest)?)?;
    let mut objects = Vec::new();
    while !rest.is_empty() {
        objects.push(part(&mut rest)?.to_vec());
    }
    Some(Linked {
        objects,
        warnings,
        summary: summary.strip_prefix('s').map(str::to_owned),
    })
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Adds one part, after its length as eight bytes.
fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

fn part<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, after) = after.split_at_checked(length)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_entries_of_the_same_count() {
        let linked = Linked {
            objects: vec![vec![1, 2, 3], Vec::new()],
            warnings: "said\n".into(),
            summary: Some(String::new()),
        };
        let entry = encode(b"sources", &linked);
        assert_eq!(decode(&entry, b"sources"), Some(linked));
        assert_eq!(decode(&entry, b"sourced"), None);
        for place in 0..entry.len() {
            assert_eq!(decode(&entry[..place], b"sources"), None);
            let mut damaged = entry.clone();
            damaged[place] ^= 1;
            assert_eq!(decode(&damaged, b"sources"), None);
        }
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (age, name) in [(3, "old.link"), (2, "new.link"), (9, "other")] {
            let path = folder.path().join(name);
            std::fs::write(&path, [0; 10]).unwrap();
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(now - std::time::Duration::from_secs(age))
                .unwrap();
        }
        bound(folder.path(), 10);
        let left = |name: &str| folder.path().join(name).exists();
        assert!(!left("old.link") && left("new.link") && left("other"));
    }
}
