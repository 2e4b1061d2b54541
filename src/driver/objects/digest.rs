//! What a linker looks at in an object, as one number.

use super::record::SECTION;
use object::elf::{SHF_ALLOC, SHF_EXCLUDE};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The digest of an object's sections that go into a program, where they are to be relocated and to what,
/// and of its symbols that others see, in whatever order they come; `None` for what is no relocatable ELF
/// object.
pub(super) fn digest(bytes: &[u8]) -> Option<u64> {
    let file = relocatable(bytes)?;
    let mut sections = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            return None;
        };
        if !sh_flags.contains(SHF_ALLOC) || sh_flags.contains(SHF_EXCLUDE) || section.size() == 0 {
            continue;
        }
        let relocations = section.relocations().count();
        let contents = section.data().ok()?;
        sections.push((section.name().ok()?, section.size(), contents, relocations));
    }
    sections.sort_unstable();
    let mut hasher = DefaultHasher::new();
    sections.hash(&mut hasher);
    let mut symbols = BTreeSet::new();
    for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
        let section = symbol.section_index();
        let section = section.and_then(|index| file.section_by_index(index).ok());
        let place = section.and_then(|section| section.name().ok().map(str::to_owned));
        let name = symbol.name().ok()?.to_owned();
        symbols.insert((name, symbol.is_weak(), place, symbol.address()));
    }
    symbols.hash(&mut hasher);
    Some(hasher.finish())
}

/// What an object keeps in the section of records.
pub(super) fn section_of_records(bytes: &[u8]) -> Option<&[u8]> {
    section(bytes, SECTION)
}

/// The section in which an object that `-dlink` made names the units whose device code it holds, a line
/// each.
pub(super) const DEVICE_LINK: &str = ".sirius.device_link";

/// The units that an object's device code is of; `None` unless `-dlink` made it.
pub(super) fn device_link_of(bytes: &[u8]) -> Option<Vec<String>> {
    let text = std::str::from_utf8(section(bytes, DEVICE_LINK)?).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

fn section<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let file = relocatable(bytes)?;
    file.section_by_name_bytes(name.as_bytes())?.data().ok()
}

fn relocatable(bytes: &[u8]) -> Option<object::File<'_>> {
    let file = object::File::parse(bytes).ok()?;
    let is_relocatable = file.kind() == object::ObjectKind::Relocatable;
    (is_relocatable && file.format() == object::BinaryFormat::Elf).then_some(file)
}
