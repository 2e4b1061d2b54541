//! An object as a C++ source (`-cuda`): nvcc's `x.cu.cpp.ii`, which a host compiler makes into the object.
//!
//! The source is one piece of assembly at file scope that says section by section what the object holds,
//! what is to be relocated to what, and which symbols there are. Nothing else is in it, so that the host
//! compiler adds nothing a linker looks at, and the object made of it has the [`digest`] of the first: a
//! link of ours still takes its bitcode.
//!
//! Invariant: debug information stays behind, since the host compiler's own would share its sections.
//!
//! [`digest`]: super::digest

use super::ObjectsError;
use object::elf::{
    self, FileHeader64, SHF_ALLOC, SHF_EXCLUDE, SHF_EXECINSTR, SHF_GROUP, SHF_MERGE, SHF_STRINGS,
    SHF_TLS, SHF_WRITE,
};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{Endianness, SectionIndex, SymbolIndex};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

type Header = FileHeader64<Endianness>;

/// The C++ source that stands for the object file at `object`.
///
/// # Errors
/// [`ObjectsError::NoCxxForm`] for what is no relocatable object of 64 bits, or relocates in a way that has
/// no name.
pub fn cxx_form(bytes: &[u8], object: &Path) -> Result<String, ObjectsError> {
    let failed = |reason: String| ObjectsError::NoCxxForm {
        path: object.to_owned(),
        reason,
    };
    let assembly = assembly_of(bytes).map_err(|error| failed(error.to_string()))?;
    let assembly = assembly.map_err(failed)?;
    Ok(format!(
        "/* Made by sirius-rs: an object as assembly. */\nasm(R\"{DELIMITER}(\n{assembly}){DELIMITER}\");\n"
    ))
}

/// Ends the string in the source; octal escapes keep it out of the assembly.
const DELIMITER: &str = "sirius";

/// An assembler writes these itself, or they describe the object instead of the program.
fn is_left_out(name: &str, kind: elf::SectionType) -> bool {
    let has_contents = !matches!(
        kind,
        elf::SHT_NULL
            | elf::SHT_SYMTAB
            | elf::SHT_STRTAB
            | elf::SHT_RELA
            | elf::SHT_GROUP
            | elf::SHT_SYMTAB_SHNDX
    );
    let described = [
        ".debug",
        ".rela.debug",
        ".comment",
        ".note.GNU-stack",
        ".llvm_addrsig",
    ];
    !has_contents || described.iter().any(|prefix| name.starts_with(prefix))
}

/// The assembly, or which relocation has no name.
fn assembly_of(bytes: &[u8]) -> object::Result<Result<String, String>> {
    let header = Header::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let symbols = sections.symbols(endian, bytes, elf::SHT_SYMTAB)?;
    let relocation_names = elf::machine_names(header.e_machine(endian)).r;
    let name_of = |section: &elf::SectionHeader64<Endianness>| {
        let name = sections.section_name(endian, section);
        name.map(|name| String::from_utf8_lossy(name).into_owned())
    };
    let mut text = String::new();
    let names = names_of(&symbols, endian)?;
    let target = |index: SymbolIndex| -> object::Result<String> {
        let symbol = symbols.symbol(index)?;
        Ok(match symbol.st_type() {
            elf::STT_SECTION => start_of(symbol.st_shndx(endian).0.into()),
            _ => names[&index.0].clone(),
        })
    };

    let groups = groups_of(&sections, &symbols, endian, bytes)?;
    let mut used = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for (index, section) in sections.enumerate() {
        let name = name_of(section)?;
        let kind = section.sh_type(endian);
        if is_left_out(&name, kind) {
            continue;
        }
        kept.insert(index.0);
        let head = section_head(section, &name, groups.get(&index.0), endian);
        line(&mut text, format_args!("{head}"));
        line(
            &mut text,
            format_args!(".balign {}", section.sh_addralign(endian).max(1)),
        );
        line(&mut text, format_args!("{}:", start_of(index.0)));
        let mut relocated_places = BTreeSet::new();
        let mut relocations_text = String::new();
        for relocated in sections.iter() {
            let Some((relocations, _)) = relocated.rela(endian, bytes)? else {
                continue;
            };
            if relocated.info_link(endian) != SectionIndex(index.0) {
                continue;
            }
            for relocation in relocations {
                let kind = relocation.r_type(endian, false);
                let Some(kind_name) = relocation_names.name(kind) else {
                    return Ok(Err(format!("relocation {kind:?} of section {name}")));
                };
                let offset: u64 = relocation.r_offset(endian);
                relocated_places.insert(offset);
                let place = format!("{}+{offset}", start_of(index.0));
                let addend = relocation.r_addend(endian);
                let to = match relocation.symbol(endian, false) {
                    Some(symbol) => {
                        used.insert(symbol.0);
                        format!("{}{addend:+}", target(symbol)?)
                    }
                    None => addend.to_string(),
                };
                line(
                    &mut relocations_text,
                    format_args!(".reloc {place}, {kind_name}, {to}"),
                );
            }
        }
        if kind == elf::SHT_NOBITS {
            line(&mut text, format_args!(".zero {}", section.sh_size(endian)));
        } else {
            write_bytes(section.data(endian, bytes)?, &relocated_places, &mut text);
        }
        text.push_str(&relocations_text);
        line(&mut text, format_args!(".popsection"));
    }

    for (index, symbol) in symbols.enumerate() {
        let name = &names[&index.0];
        let (place, kind) = (symbol.st_shndx(endian), symbol.st_type());
        if index.0 == 0 || matches!(kind, elf::STT_SECTION | elf::STT_FILE) {
            continue;
        }
        let size: u64 = symbol.st_size(endian);
        let value: u64 = symbol.st_value(endian);
        match place {
            elf::SHN_UNDEF if !used.contains(&index.0) => continue,
            elf::SHN_UNDEF => {}
            elf::SHN_COMMON => line(&mut text, format_args!(".comm {name},{size},{value}")),
            elf::SHN_ABS => line(&mut text, format_args!(".set {name}, {value}")),
            _ if !kept.contains(&usize::from(place.0)) => continue,
            _ => line(
                &mut text,
                format_args!(".set {name}, {}+{value}", start_of(place.0.into())),
            ),
        }
        attributes(symbol, name, endian, &mut text);
    }
    Ok(Ok(text))
}

/// Adds a line.
fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // A string takes everything.
    let _ = writeln!(text, "{words}");
}

/// The names of symbols: local ones may have the same, since they come from several objects.
fn names_of(
    symbols: &SymbolTable<'_, Header>,
    endian: Endianness,
) -> object::Result<BTreeMap<usize, String>> {
    let mut names = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (index, symbol) in symbols.enumerate() {
        let name = symbols.symbol_name(endian, symbol)?;
        let mut name = String::from_utf8_lossy(name).into_owned();
        if symbol.st_bind() == elf::STB_LOCAL && !name.is_empty() && !taken.insert(name.clone()) {
            name = format!("{name}.sirius.{}", index.0);
        }
        names.insert(index.0, quoted(&name));
    }
    Ok(names)
}

/// Which symbol names the group of a section.
fn groups_of<'data>(
    sections: &SectionTable<'data, Header>,
    symbols: &SymbolTable<'data, Header>,
    endian: Endianness,
    bytes: &'data [u8],
) -> object::Result<BTreeMap<usize, String>> {
    let mut groups = BTreeMap::new();
    for section in sections.iter() {
        if let Some((_, members)) = section.group(endian, bytes)? {
            let signature = SymbolIndex(section.sh_info(endian) as usize);
            let name = symbols.symbol_name(endian, symbols.symbol(signature)?)?;
            for member in members {
                let name = String::from_utf8_lossy(name).into_owned();
                groups.insert(member.get(endian) as usize, name);
            }
        }
    }
    Ok(groups)
}

/// The directive that begins a section.
fn section_head(
    section: &elf::SectionHeader64<Endianness>,
    name: &str,
    group: Option<&String>,
    endian: Endianness,
) -> String {
    let flags = section.sh_flags(endian);
    let mut head = format!(
        ".pushsection {},\"{}\",{}",
        quoted(name),
        letters(flags),
        kind_of(section.sh_type(endian))
    );
    if flags.contains(SHF_MERGE) {
        let _ = write!(head, ",{}", section.sh_entsize(endian));
    }
    if let Some(group) = group.filter(|_| flags.contains(SHF_GROUP)) {
        let _ = write!(head, ",{},comdat", quoted(group));
    }
    head
}

/// What assemblers call the properties of a section.
fn letters(flags: elf::SectionFlags) -> String {
    let all = [
        (SHF_ALLOC, 'a'),
        (SHF_WRITE, 'w'),
        (SHF_EXECINSTR, 'x'),
        (SHF_MERGE, 'M'),
        (SHF_STRINGS, 'S'),
        (SHF_GROUP, 'G'),
        (SHF_TLS, 'T'),
        (SHF_EXCLUDE, 'e'),
    ];
    let has = all.into_iter().filter(|(flag, _)| flags.contains(*flag));
    has.map(|(_, letter)| letter).collect()
}

/// Who sees a symbol, what it is, and how large.
fn attributes(symbol: &elf::Sym64<Endianness>, name: &str, endian: Endianness, text: &mut String) {
    let (place, kind) = (symbol.st_shndx(endian), symbol.st_type());
    let size: u64 = symbol.st_size(endian);
    match symbol.st_bind() {
        elf::STB_WEAK => line(text, format_args!(".weak {name}")),
        elf::STB_LOCAL => {}
        _ => line(text, format_args!(".globl {name}")),
    }
    let visibility = match symbol.st_visibility() {
        elf::STV_HIDDEN => Some(".hidden"),
        elf::STV_INTERNAL => Some(".internal"),
        elf::STV_PROTECTED => Some(".protected"),
        _ => None,
    };
    if let Some(visibility) = visibility {
        line(text, format_args!("{visibility} {name}"));
    }
    let type_name = match kind {
        _ if symbol.st_bind() == elf::STB_GNU_UNIQUE => Some("gnu_unique_object"),
        elf::STT_FUNC => Some("function"),
        elf::STT_OBJECT => Some("object"),
        elf::STT_TLS => Some("tls_object"),
        elf::STT_GNU_IFUNC => Some("gnu_indirect_function"),
        _ => None,
    };
    if let Some(type_name) = type_name {
        line(text, format_args!(".type {name}, @{type_name}"));
    }
    if size != 0 && place != elf::SHN_UNDEF && place != elf::SHN_COMMON {
        line(text, format_args!(".size {name}, {size}"));
    }
}

/// The label where a section begins.
fn start_of(section: usize) -> String {
    format!(".Lsirius_section_{section}")
}

/// A name as assemblers read any.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._$".contains(letter);
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("\"{name}\""),
    }
}

fn kind_of(kind: elf::SectionType) -> String {
    match kind {
        elf::SHT_PROGBITS => "@progbits".to_owned(),
        elf::SHT_NOBITS => "@nobits".to_owned(),
        elf::SHT_NOTE => "@note".to_owned(),
        elf::SHT_INIT_ARRAY => "@init_array".to_owned(),
        elf::SHT_FINI_ARRAY => "@fini_array".to_owned(),
        elf::SHT_PREINIT_ARRAY => "@preinit_array".to_owned(),
        other => format!("@{:#x}", other.0),
    }
}

/// Bytes as strings, and long runs of zeros that nothing relocates counted: assemblers know no place inside
/// what they only count.
fn write_bytes(bytes: &[u8], relocated: &BTreeSet<u64>, text: &mut String) {
    const A_LINE: usize = 64;
    let mut rest = bytes;
    while !rest.is_empty() {
        let here = (bytes.len() - rest.len()) as u64;
        let next = relocated.range(here..).next();
        let free = next.map_or(rest.len(), |next| (next - here) as usize);
        let zeros = rest
            .iter()
            .take(free)
            .take_while(|byte| **byte == 0)
            .count();
        if zeros >= A_LINE {
            let _ = writeln!(text, ".zero {zeros}");
            rest = &rest[zeros..];
            continue;
        }
        let (now, later) = rest.split_at(rest.len().min(A_LINE));
        text.push_str(".ascii \"");
        for &byte in now {
            match byte {
                b'"' | b'\\' | b')' | b'%' | 0..=31 | 127.. => {
                    let _ = write!(text, "\\{byte:03o}");
                }
                plain => text.push(plain.into()),
            }
        }
        text.push_str("\"\n");
        rest = later;
    }
}
