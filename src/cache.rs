//! What takes long to make, kept for those who need the same again: links of whole programs, images of device code, answers of isl.
//!
//! `SIRIUS_CACHE` names the folder, `off` switches this off; without it, it is `sirius-rs` in the user's
//! folder of caches.
//!
//! Invariant: an entry holds all that its parts were made from (code, options, tools), and counts only where that is
//! the same byte for byte and its own checksum is right, in a regular file. So no other file, and no damage, can change a
//! program. What fails to be kept is no error.

use crate::files::{is_unfinished, open_regular, read_regular, write_whole};
use std::fmt::Write as _;
use std::fs::{File, Metadata, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The place of one thing in the cache.
pub struct Entry {
    folder: PathBuf,
    /// The ending of its file's name: what sort of thing it is.
    sort: &'static str,
    made_from: Vec<u8>,
}

impl Entry {
    /// The place of what is made from these bytes; `None` where nothing is to be kept.
    pub fn of(sort: &'static str, made_from: Vec<u8>) -> Option<Self> {
        Some(Self::within(folder()?, sort, made_from))
    }

    /// [`Self::of`], in a folder of its own.
    pub fn within(folder: PathBuf, sort: &'static str, made_from: Vec<u8>) -> Self {
        Self {
            folder,
            sort,
            made_from,
        }
    }

    fn path(&self) -> PathBuf {
        let name = format!("{:016x}.{}", checksum(&self.made_from), self.sort);
        self.folder.join(name)
    }

    /// The parts that were kept here.
    pub fn take(&self) -> Option<Vec<Vec<u8>>> {
        let path = self.path();
        let (file, bytes) = read_regular(&path).ok()?;
        let parts = decode(&bytes, &self.made_from)?;
        // What is used stays longest.
        let _ = file.set_modified(SystemTime::now());
        Some(parts)
    }

    /// That this run is the one to make what is to be kept here instead of what is, until the value is dropped or the
    /// run ends; `None` where another one is.
    pub fn claim(&self) -> Option<File> {
        let file = open_regular(&self.path()).ok()?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => None,
            // Where nothing can be locked, each makes its own.
            Ok(()) | Err(TryLockError::Error(_)) => Some(file),
        }
    }

    /// Keeps parts, and removes what was used longest ago where there is too much.
    pub fn keep(&self, parts: &[&[u8]]) {
        let _kept = self.write(&encode(&self.made_from, parts));
        bound(&self.folder, LARGEST_BYTES);
    }

    /// An entry appears whole, since builds share the folder.
    fn write(&self, bytes: &[u8]) -> Option<()> {
        std::fs::create_dir_all(&self.folder).ok()?;
        write_whole(&self.path(), bytes).ok()
    }
}

/// What all entries together may take.
const LARGEST_BYTES: u64 = 1 << 30;

/// Where what may be needed again is kept; `None` where nothing is to be.
pub fn folder() -> Option<PathBuf> {
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

/// Tells tools apart by what their files are, this compiler first; `None` where one cannot be looked at.
pub fn tools_as_text<'a>(tools: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    let own = std::env::current_exe().ok()?;
    let mut text = String::new();
    let tools = tools.into_iter().map(Path::to_owned);
    for tool in std::iter::once(own).chain(tools) {
        let known = std::fs::metadata(&tool).ok()?;
        let (bytes, modified) = (known.len(), known.modified().ok()?);
        let _ = writeln!(text, "{} {bytes} {modified:?}", tool.display());
    }
    Some(text)
}

/// The sorts of entries that [`bound`] removes; other files in the folder are not its own.
const SORTS: [&str; 10] = [
    "link", "cubin", "image", "cpu", "headers", "host", "library", "part", "ptx", "answers",
];

/// Removes the entries that were used longest ago until the others take no more than `most` bytes, and what runs
/// left that were killed while they wrote one.
fn bound(folder: &Path, most: u64) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<(SystemTime, u64, PathBuf)> = entries
        .filter_map(|entry| {
            let known = entry.metadata().ok().filter(Metadata::is_file)?;
            let path = entry.path();
            let age = known.modified().ok()?.elapsed().unwrap_or_default();
            if is_unfinished(&path) && age > LONGEST_WRITE {
                let _ = std::fs::remove_file(&path);
            }
            let ending = path.extension().and_then(|ending| ending.to_str());
            let is_entry = ending.is_some_and(|ending| SORTS.contains(&ending));
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

/// Nobody writes a file for so long.
const LONGEST_WRITE: Duration = Duration::from_secs(3600);

const MAGIC: &[u8; 8] = b"siriusK1";

/// The magic number, a checksum of the rest, what it was made from, the parts.
fn encode(made_from: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut rest = Vec::new();
    put(&mut rest, made_from);
    for part in parts {
        put(&mut rest, part);
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(checksum(&rest).to_le_bytes());
    bytes.extend(rest);
    bytes
}

fn decode(bytes: &[u8], made_from: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (sum, mut rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<8>()?;
    if checksum(rest) != u64::from_le_bytes(*sum) || part(&mut rest)? != made_from {
        return None;
    }
    let mut parts = Vec::new();
    while !rest.is_empty() {
        parts.push(part(&mut rest)?.to_vec());
    }
    Some(parts)
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// Adds one part, after its length as eight bytes.
pub fn put(bytes: &mut Vec<u8>, part: &[u8]) {
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
        let parts: [&[u8]; 3] = [&[1, 2, 3], &[], b"said\n"];
        let entry = encode(b"sources", &parts);
        assert_eq!(decode(&entry, b"sources").unwrap(), parts);
        assert_eq!(decode(&entry, b"sourced"), None);
        for place in 0..entry.len() {
            assert_eq!(decode(&entry[..place], b"sources"), None);
            let mut damaged = entry.clone();
            damaged[place] ^= 1;
            assert_eq!(decode(&damaged, b"sources"), None);
        }
    }

    #[test]
    fn one_at_a_time_makes_an_entry() {
        let folder = tempfile::tempdir().unwrap();
        let entry = || Entry::within(folder.path().to_owned(), "headers", b"options".to_vec());
        assert!(entry().claim().is_none());
        entry().keep(&[]);
        let claim = entry().claim();
        assert!(claim.is_some() && entry().claim().is_none());
        drop(claim);
        assert!(entry().claim().is_some());
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (age, name) in [
            (3, "old.link"),
            (2, "new.cubin"),
            (9, "other"),
            (9, ".sirius-now"),
            (9999, ".sirius-then"),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, [0; 10]).unwrap();
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        }
        bound(folder.path(), 10);
        let left = |name: &str| folder.path().join(name).exists();
        assert!(!left("old.link") && left("new.cubin") && left("other"));
        assert!(left(".sirius-now") && !left(".sirius-then"));
    }
}
