//! Files that the compiler makes: outputs, and the folder of a run for what is made on the way.
//!
//! Invariant: an output stands under its name whole, or what was there before does. What is made on the way lies
//! in folders that nobody else may read, and goes when the run ends, also where a signal ends it.

use std::fs::{File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{NamedTempFile, TempDir};

/// Puts a file that was made elsewhere under a name, with its permissions.
///
/// # Errors
/// It cannot be read, or not be written there.
pub(crate) fn install(made: &Path, place: &Path) -> io::Result<()> {
    let mut from = File::open(made)?;
    let mode = from.metadata()?.permissions().mode() & 0o777;
    put(place, Some(mode), |to| io::copy(&mut from, to).map(drop))
}

/// Writes a file, which then has these contents and no others.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_whole(place: &Path, contents: &[u8]) -> io::Result<()> {
    put(place, None, |to| to.write_all(contents))
}

/// Reads a file that is a regular one by itself: who may write in a folder can put a pipe or a link there, of which
/// the first never ends and the second leads anywhere.
///
/// # Errors
/// It is something else, or cannot be read.
pub(crate) fn read_regular(path: &Path) -> io::Result<(File, Vec<u8>)> {
    let mut file = open_regular(path)?;
    let known = file.metadata()?;
    let mut bytes = Vec::new();
    let length = usize::try_from(known.len()).map_err(io::Error::other)?;
    bytes.try_reserve_exact(length).map_err(io::Error::other)?;
    // What grows meanwhile is not read to an end that never comes.
    (&mut file).take(known.len()).read_to_end(&mut bytes)?;
    Ok((file, bytes))
}

/// Opens a regular file to be read; what else may stand there under the name is no such file.
///
/// # Errors
/// It cannot be opened, or is no regular file.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("not a regular file")),
    }
}

/// A folder that nobody else may look into, which goes with the value.
///
/// # Errors
/// It cannot be made.
pub(crate) fn private_folder() -> io::Result<TempDir> {
    let mut run = run();
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder
            .prefix("sirius-")
            .permissions(Permissions::from_mode(0o700));
        builder
    };
    let Some(run) = run.as_mut() else {
        return builder().tempdir();
    };
    if run.folder.is_none() {
        run.folder = Some(builder().tempdir()?);
    }
    match &run.folder {
        Some(folder) => builder().tempdir_in(folder.path()),
        None => builder().tempdir(),
    }
}

/// A file that nobody else may read, which goes with the value.
///
/// # Errors
/// It cannot be made.
pub(crate) fn private_file(suffix: &str) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("sirius-").suffix(suffix);
    match run().as_ref().and_then(|run| run.folder.as_ref()) {
        Some(folder) => builder.tempfile_in(folder.path()),
        None => builder.tempfile(),
    }
}

/// A run of the compiler: while it lasts, private folders lie in one of its own, which goes with it.
pub(crate) struct Run;

impl Run {
    /// Begins it.
    pub(crate) fn begin() -> Self {
        *run() = Some(Made::default());
        Self
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        remove_all();
    }
}

/// Removes what a run has made and not put in place.
pub(crate) fn remove_all() {
    let made = run().take();
    for beside in made.into_iter().flat_map(|made| made.beside) {
        let _ = std::fs::remove_file(beside);
    }
}

/// What a run has made that is to go with it.
#[derive(Default)]
struct Made {
    /// The folder of all private ones, once there is one.
    folder: Option<TempDir>,
    /// Outputs that are being written beside their places.
    beside: Vec<PathBuf>,
}

static RUN: Mutex<Option<Made>> = Mutex::new(None);

fn run() -> MutexGuard<'static, Option<Made>> {
    // A list of names is right after any panic.
    RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes a file beside its place and renames it.
fn put(
    place: &Path,
    mode: Option<u32>,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let of_system = place.starts_with("/dev") || place.starts_with("/proc");
    let is_special = |known: std::fs::Metadata| !known.is_file() && !known.is_dir();
    if of_system || std::fs::metadata(place).is_ok_and(is_special) {
        let mut file = File::options().write(true).truncate(true).open(place)?;
        return write(&mut file);
    }
    let place = followed(place);
    if place.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = match place.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut beside = tempfile::Builder::new()
        .prefix(UNFINISHED)
        // As any program's new files, less what the user keeps from others.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    if let Some(run) = run().as_mut() {
        run.beside.push(beside.path().to_owned());
    }
    let written = write(beside.as_file_mut()).and_then(|()| {
        if let Some(mode) = mode {
            let permissions = Permissions::from_mode(mode);
            beside.as_file().set_permissions(permissions)?;
        }
        Ok(())
    });
    let name = beside.path().to_owned();
    let put = written.and_then(|()| {
        beside
            .persist(&place)
            .map(drop)
            .map_err(|error| error.error)
    });
    if let Some(run) = run().as_mut() {
        run.beside.retain(|beside| *beside != name);
    }
    put
}

/// What names of files begin with that are being written.
const UNFINISHED: &str = ".sirius-";

/// Whether a file is one that was being written, by its name.
pub(crate) fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(UNFINISHED)
}

/// Where links lead: who links a name to another place wants the file there.
fn followed(place: &Path) -> PathBuf {
    /// As many as the system follows.
    const MOST_LINKS: usize = 40;
    let mut path = place.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("x");
        std::fs::write(&place, "old").unwrap();
        let broken = put(&place, None, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "old");
        write_whole(&place, b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn links_are_followed_and_devices_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (place, link) = (folder.path().join("x"), folder.path().join("link"));
        std::os::unix::fs::symlink("x", &link).unwrap();
        write_whole(&link, b"text").unwrap();
        assert_eq!(std::fs::read_to_string(&place).unwrap(), "text");
        assert!(link.is_symlink());
        write_whole(Path::new("/dev/null"), b"text").unwrap();
        let full = write_whole(Path::new("/dev/full"), b"text").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::write(place("x"), "text").unwrap();
        std::os::unix::fs::symlink("x", place("link")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(place("pipe"))
            .status();
        assert!(made.unwrap().success());
        assert_eq!(read_regular(&place("x")).unwrap().1, b"text");
        for other in ["link", "pipe", "."] {
            assert!(read_regular(&place(other)).is_err(), "{other}");
        }
    }
}
