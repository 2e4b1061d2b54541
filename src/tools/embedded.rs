//! The headers and the CPU device's runtime library that a compiler brings along which was installed by itself.
//!
//! Clang and the linker read files, so that these are written where what may be needed again is kept, once.

use crate::cache;
use crate::files::{private_folder, write_whole};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A file that the compiler brings along, by its path in the project's folders `include` and `lib`; `None` where it
/// does not, or there is no place to write it.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let is_there = FILES.iter().any(|(known, _)| *known == name);
    let folder = is_there.then(|| FOLDER.get_or_init(written).as_ref())??;
    Some(folder.join(name))
}

/// The folder with all of them: one for each state of the files, so that compilers of several versions do not disturb
/// each other.
fn written() -> Option<PathBuf> {
    let kept = cache::folder().map(|folder| folder.join(format!("files-{DIGEST:016x}")));
    let kept = kept.filter(|folder| write_to(folder, true).is_ok());
    // For this run alone.
    kept.or_else(|| {
        let folder = private_folder().ok()?.keep();
        write_to(&folder, false).ok().map(|()| folder)
    })
}

/// Writes what is missing; shared libraries only to a folder that stays, since programs load them from there.
fn write_to(folder: &Path, stays: bool) -> std::io::Result<()> {
    let wanted = FILES
        .iter()
        .filter(|(name, _)| stays || !name.ends_with(".so"));
    for (name, contents) in wanted {
        let place = folder.join(name);
        let known = std::fs::symlink_metadata(&place);
        let is_whole =
            known.is_ok_and(|known| known.is_file() && known.len() == contents.len() as u64);
        if !is_whole {
            std::fs::create_dir_all(place.parent().unwrap_or(folder))?;
            write_whole(&place, contents)?;
        }
    }
    Ok(())
}
