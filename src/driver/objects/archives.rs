//! Static libraries: which of their members a link chooses.

use crate::build::Build;
use crate::codegen::{CodegenError, trace_link};
use crate::tools::Toolchain;
use object::read::archive::ArchiveFile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A member of an archive.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The members of the archive at `path` in order; none when that is no archive, or one that only points
/// at files or has two members of one name, which a linker's list does not tell apart.
pub(super) fn members(path: &Path) -> Vec<Member> {
    let Ok(bytes) = std::fs::read(path) else {
        return Vec::new();
    };
    read(&bytes).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Option<Vec<Member>> {
    let archive = ArchiveFile::parse(bytes).ok()?;
    if archive.is_thin() {
        return None;
    }
    let mut members: Vec<Member> = Vec::new();
    for member in archive.members() {
        let member = member.ok()?;
        let name = String::from_utf8(member.name().to_vec()).ok()?;
        if members.iter().any(|other| other.name == name) {
            return None;
        }
        members.push(Member {
            name,
            bytes: member.data(bytes).ok()?.to_vec(),
        });
    }
    Some(members)
}

/// The static library that `-lNAME` means, where one of the folders of the link's own `-L` options holds
/// it and no shared library of that name.
pub(super) fn library(argument: &str, build: &Build) -> Option<PathBuf> {
    let name = argument.strip_prefix("-l")?;
    // `-l:FILE` is the name as it is.
    let (shared, archive) = match name.strip_prefix(':') {
        Some(file) => (None, file.to_owned()),
        None => (Some(format!("lib{name}.so")), format!("lib{name}.a")),
    };
    let folders = build
        .link_arguments
        .iter()
        .filter_map(|argument| argument.strip_prefix("-L"));
    for folder in folders.map(Path::new) {
        if shared
            .as_ref()
            .is_some_and(|name| folder.join(name).exists())
        {
            return None;
        }
        let library = folder.join(&archive);
        if library.is_file() {
            return Some(library);
        }
    }
    None
}

/// By archive, the names of the members that a link of everything as it is takes in: links once, with the
/// sources' objects, and reads what the linker says of it.
///
/// # Errors
/// What the linker says when the program does not link.
pub(super) fn chosen(
    build: &Build,
    sources: &[PathBuf],
    toolchain: &Toolchain,
    folder: &Path,
) -> Result<BTreeMap<PathBuf, Vec<String>>, CodegenError> {
    let said = trace_link(build, toolchain, sources, &folder.join("trial"))?;
    let mut chosen: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for (archive, member) in said.lines().filter_map(traced_member) {
        let archive = archive.canonicalize().unwrap_or(archive);
        chosen.entry(archive).or_default().push(member);
    }
    Ok(chosen)
}

/// A line of a linker's `-t`: GNU ld writes `(libx.a)member.o`, the others `libx.a(member.o)`.
fn traced_member(line: &str) -> Option<(PathBuf, String)> {
    let line = line.trim();
    let (archive, member) = match line.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?,
        None => line.strip_suffix(')')?.rsplit_once('(')?,
    };
    Some((PathBuf::from(archive), member.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_from_all_linkers() {
        let expected = Some((PathBuf::from("./lib(1)/x.a"), String::from("m.o")));
        assert_eq!(traced_member("./lib(1)/x.a(m.o)"), expected);
        let expected = Some((PathBuf::from("./x.a"), String::from("m.o")));
        assert_eq!(traced_member("(./x.a)m.o"), expected);
        assert_eq!(traced_member("/lib/crt1.o"), None);
    }
}
