//! A link's objects, exchanged for what their records hold.

use super::archives::{self, Member};
use super::device_code::{
    Candidate, check_fits, device_link_settings, needed_by_device_code, relocatable_records,
};
use super::record::{Record, Settings};
use super::{ObjectsError, digest};
use crate::build::{Build, Device, Input, Language, Relocatable, Target, UnitBitcode};
use crate::codegen::compile_host_bitcode;
use crate::files::private_folder;
use crate::program::read_source;
use crate::tools::Toolchain;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A link in which sources that were compiled before take part again.
pub struct Gathered {
    /// The link: inputs that were objects of ours are their sources, with bitcode.
    pub build: Build,
    /// What clang said of sources.
    pub warnings: String,
    /// Where the bitcode lies; it goes with this value.
    pub(super) _folder: tempfile::TempDir,
}

/// A folder for bitcode.
pub(super) fn temporary_folder() -> Result<tempfile::TempDir, ObjectsError> {
    private_folder().map_err(|error| ObjectsError::Files {
        what: "cannot make a temporary folder".into(),
        error,
    })
}

/// Writes a file of that folder.
pub(super) fn bitcode_file(
    folder: &Path,
    number: usize,
    name: &str,
    bytes: &[u8],
) -> Result<PathBuf, ObjectsError> {
    let path = folder.join(format!("{number}_{name}"));
    std::fs::write(&path, bytes).map_err(|error| ObjectsError::Files {
        what: format!("cannot write {}", path.display()),
        error,
    })?;
    Ok(path)
}

/// Exchanges objects of ours among the inputs and the libraries of a link. `None` when there are none.
///
/// Objects whose device code was made under other settings than the rest (other architectures, say)
/// stay as they are. Relocatable device code takes part as a whole or not at all: with one such object
/// that was changed since, all of them stay.
///
/// # Errors
/// An object was made for the other device; archives of ours are to be linked and a source does not
/// compile or the linker fails; temporary files cannot be written.
pub fn gather(build: &Build, toolchain: &Toolchain) -> Result<Option<Gathered>, ObjectsError> {
    let inputs: Vec<Content> = build.inputs.iter().map(Content::of).collect();
    let libraries: BTreeMap<&str, Library> = build
        .link_arguments
        .iter()
        .filter_map(|argument| {
            let library = Library::of(&archives::library(argument, build)?)?;
            Some((argument.as_str(), library))
        })
        .collect();
    let archives = || {
        let inputs = inputs.iter().filter_map(|content| match content {
            Content::Archive(library) => Some(library),
            _ => None,
        });
        inputs.chain(libraries.values())
    };
    let objects = inputs.iter().filter_map(|content| match content {
        Content::Object(kept) => Some(kept.as_ref()),
        _ => None,
    });
    let all = || objects.clone().chain(archives().flat_map(Library::kept));
    let records = || all().filter_map(|kept| kept.record.as_ref());
    let Some(first) = records()
        .find(|record| record.device.is_some())
        .or(records().next())
    else {
        return Ok(None);
    };
    let folder = temporary_folder()?;
    let is_source = |input: &Input| input.language == Language::Cuda;
    let settings = match build.inputs.iter().any(is_source) {
        true => Settings::of(build),
        false if first.header.relocatable.is_some() => {
            device_link_settings(build, &first.header.settings)
        }
        false => first.header.settings.clone(),
    };
    let mut exchange = Exchange {
        build: settings.apply(build),
        settings,
        folder: folder.path(),
        files: 0,
        taken: BTreeSet::new(),
        domains: BTreeMap::new(),
        relocatable: true,
    };
    // The options of a link concern only what it compiles itself.
    let compiles = |input: &Input| input.language != Language::Object;
    exchange.build.host_overflow_wraps &= build.inputs.iter().any(compiles);
    let mut warnings = String::new();
    let mut chosen = match archives().next() {
        Some(_) => {
            let compiled = exchange.compile_sources(toolchain, &mut warnings)?;
            archives::chosen(build, &compiled, toolchain, folder.path())?
        }
        None => BTreeMap::new(),
    };
    choose_for_device_code(&exchange.build, objects.clone(), archives, &mut chosen)?;
    let taking_part: Vec<&Kept> = objects
        .clone()
        .chain(archives().flat_map(|library| library.chosen(&chosen).map(|(_, kept)| kept)))
        .collect();
    let links = taking_part.iter().filter_map(|kept| kept.linked.as_ref());
    for (domain, names) in links.enumerate() {
        let names = names.iter().map(|name| (name.clone(), domain + 1));
        exchange.domains.extend(names);
    }
    exchange.relocatable = taking_part.iter().all(|kept| !kept.is_stale);
    let sources = std::mem::take(&mut exchange.build.inputs);
    exchange.build.link_arguments.clear();
    for (input, content) in sources.into_iter().zip(inputs.iter()) {
        match content {
            Content::Object(kept) => {
                if !exchange.take(kept, &input.path)? {
                    exchange.build.inputs.push(input);
                }
            }
            Content::Archive(library) => exchange.open(library, &chosen)?,
            Content::Other => exchange.build.inputs.push(input),
        }
    }
    for argument in &build.link_arguments {
        match libraries.get(argument.as_str()) {
            Some(library) => exchange.open(library, &chosen)?,
            None => exchange.build.link_arguments.push(argument.clone()),
        }
    }
    let build = exchange.build;
    Ok(Some(Gathered {
        build,
        warnings,
        _folder: folder,
    }))
}

/// Adds the members of archives that only device code needs: of a function that kernels of other units
/// call, the host side knows nothing.
fn choose_for_device_code<'a, A: Iterator<Item = &'a Library>>(
    build: &Build,
    objects: impl Iterator<Item = &'a Kept>,
    archives: impl Fn() -> A,
    chosen: &mut BTreeMap<PathBuf, Vec<String>>,
) -> Result<(), ObjectsError> {
    let members = |is_chosen: bool| {
        let chosen = &*chosen;
        archives().flat_map(move |library| {
            let names = chosen.get(&library.path).map_or(&[][..], Vec::as_slice);
            let members = library.members.iter().filter_map(move |(member, kept)| {
                let record = kept.relocatable()?;
                (names.contains(&member.name) == is_chosen).then_some((member, record))
            });
            members.map(|(member, record)| Candidate {
                library: &library.path,
                member: &member.name,
                record,
            })
        })
    };
    // What a library has linked itself serves itself only.
    let linked: BTreeSet<&String> = archives()
        .flat_map(Library::kept)
        .filter_map(|kept| kept.linked.as_ref())
        .flatten()
        .collect();
    let candidates: Vec<Candidate<'_>> = members(false)
        .filter(|candidate| {
            let name = candidate.record.header.relocatable.as_ref();
            !name.is_some_and(|name| linked.contains(name))
        })
        .collect();
    if candidates.is_empty() {
        return Ok(());
    }
    let mut units = Vec::new();
    let records = objects.filter_map(Kept::relocatable);
    for record in records.chain(members(true).map(|candidate| candidate.record)) {
        let code = record.device_code();
        units.extend(code.map(|code| (code.to_owned(), record.header.source.clone())));
    }
    for input in &build.inputs {
        let bitcode = input.bitcode.as_ref();
        let bitcode = bitcode.filter(|bitcode| bitcode.relocatable.is_some());
        let Some(bitcode) = bitcode else {
            continue;
        };
        let newer = bitcode.newer.iter().map(|(_, path)| path);
        for code in bitcode.device.iter().chain(newer) {
            units.push((std::fs::read(code).unwrap_or_default(), input.path.clone()));
        }
    }
    let needed: Vec<(PathBuf, String)> = needed_by_device_code(&units, candidates)?
        .into_iter()
        .map(|candidate| (candidate.library.to_owned(), candidate.member.to_owned()))
        .collect();
    for (library, member) in needed {
        chosen.entry(library).or_default().push(member);
    }
    Ok(())
}

/// What an input is to a link that looks for records.
enum Content {
    /// An object of ours.
    Object(Box<Kept>),
    /// An archive with objects of ours.
    Archive(Library),
    /// A source, or what others made.
    Other,
}

impl Content {
    fn of(input: &Input) -> Self {
        if input.language != Language::Object {
            return Self::Other;
        }
        if let Some(library) = Library::of(&input.path) {
            return Self::Archive(library);
        }
        let bytes = std::fs::read(&input.path).unwrap_or_default();
        let kept = Kept::of(&bytes);
        match kept.is_ours() {
            true => Self::Object(Box::new(kept)),
            false => Self::Other,
        }
    }
}

/// What an object keeps for a link.
struct Kept {
    /// Its record, where it is just what it was when the record was added.
    record: Option<Record>,
    /// It has relocatable device code, and is not what it was.
    is_stale: bool,
    /// `-dlink` made it, of these units.
    linked: Option<Vec<String>>,
}

impl Kept {
    fn of(bytes: &[u8]) -> Self {
        let record = digest::section_of_records(bytes)
            .and_then(Record::decode)
            .filter(|record| digest::digest(bytes) == Some(record.header.object_digest));
        Self {
            is_stale: record.is_none() && !relocatable_records(bytes).is_empty(),
            linked: digest::device_link_of(bytes),
            record,
        }
    }

    /// Its record, where device code of others may use it.
    fn relocatable(&self) -> Option<&Record> {
        let record = self.record.as_ref();
        record.filter(|record| record.header.relocatable.is_some() && record.device.is_some())
    }

    fn is_ours(&self) -> bool {
        self.record.is_some() || self.is_stale || self.linked.is_some()
    }
}

/// An archive with objects of ours among its members.
struct Library {
    path: PathBuf,
    members: Vec<(Member, Kept)>,
}

impl Library {
    fn of(path: &Path) -> Option<Self> {
        let members: Vec<(Member, Kept)> = archives::members(path)
            .into_iter()
            .map(|member| {
                let kept = Kept::of(&member.bytes);
                (member, kept)
            })
            .collect();
        let path = path.canonicalize().ok()?;
        let is_ours = members.iter().any(|(_, kept)| kept.is_ours());
        is_ours.then_some(Self { path, members })
    }

    fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.members.iter().map(|(_, kept)| kept)
    }

    /// The members that the linker chose.
    fn chosen<'a>(
        &'a self,
        chosen: &'a BTreeMap<PathBuf, Vec<String>>,
    ) -> impl Iterator<Item = (&'a Member, &'a Kept)> {
        let names = chosen.get(&self.path).map_or(&[][..], Vec::as_slice);
        let members = self.members.iter();
        let members = members.filter(move |(member, _)| names.contains(&member.name));
        members.map(|(member, kept)| (member, kept))
    }
}

struct Exchange<'a> {
    build: Build,
    settings: Settings,
    folder: &'a Path,
    files: usize,
    /// Archives that were opened already: naming one twice does not link its members twice.
    taken: BTreeSet<PathBuf>,
    /// By units of device links among the inputs, which of those it is.
    domains: BTreeMap<String, usize>,
    /// Relocatable device code takes part.
    relocatable: bool,
}

impl Exchange<'_> {
    /// Compiles the sources of the build, which are bitcode from then on, to objects that show what they
    /// need of libraries.
    fn compile_sources(
        &mut self,
        toolchain: &Toolchain,
        warnings: &mut String,
    ) -> Result<Vec<PathBuf>, ObjectsError> {
        let mut objects = Vec::new();
        let mut inputs = std::mem::take(&mut self.build.inputs);
        for input in &mut inputs {
            if input.language == Language::Object {
                continue;
            }
            let (bitcode, said) = read_source(input, &self.build, toolchain)?;
            warnings.push_str(&said);
            let host = self.write("host.bc", &bitcode.host)?;
            let device = bitcode.device.as_ref();
            let device = device.map(|bytes| self.write("device.bc", bytes));
            let newer = self.write_newer(&bitcode.newer)?;
            let object = host.with_extension("o");
            compile_host_bitcode(&host, &self.build, toolchain, &object)?;
            objects.push(object);
            input.bitcode = Some(UnitBitcode {
                host,
                device: device.transpose()?,
                newer,
                numerics: self.build.numerics,
                relocatable: bitcode
                    .relocatable
                    .map(|name| Relocatable { name, domain: 0 }),
                kernel_symbols: self.build.kernel_symbols,
                unfused_object: false,
            });
        }
        self.build.inputs = inputs;
        Ok(objects)
    }

    /// Lets the source of an object take part; false where the object stays.
    fn take(&mut self, kept: &Kept, object: &Path) -> Result<bool, ObjectsError> {
        // What a device link made is made again.
        if kept.linked.is_some() && self.relocatable {
            return Ok(true);
        }
        let Some(record) = &kept.record else {
            return Ok(false);
        };
        let settings = &record.header.settings;
        let relocatable = record.header.relocatable.as_ref();
        if relocatable.is_some() {
            check_fits(record, &self.settings.device, object)?;
            if !self.relocatable {
                return Ok(false);
            }
        }
        if record.device.is_some() && settings.device.device != self.build.device {
            return Err(ObjectsError::OtherDevice {
                path: object.to_owned(),
                device: match settings.device.device {
                    Device::Cuda => "cuda",
                    Device::Cpu => "cpu",
                },
            });
        }
        let fits = relocatable.is_some() || settings.device == self.settings.device;
        if record.device.is_some() && !fits {
            return Ok(false);
        }
        let host = self.write("host.bc", &record.host)?;
        let device = record
            .device
            .as_ref()
            .map(|bytes| self.write("device.bc", bytes));
        let newer = self.write_newer(&record.newer)?;
        self.build.inputs.push(Input {
            path: record.header.source.clone(),
            language: record.header.language,
            bitcode: Some(UnitBitcode {
                host,
                device: device.transpose()?,
                newer,
                numerics: record.header.numerics,
                relocatable: relocatable.map(|name| Relocatable {
                    name: name.clone(),
                    domain: self.domains.get(name).copied().unwrap_or(0),
                }),
                kernel_symbols: settings.kernel_symbols,
                unfused_object: record.header.unfused,
            }),
        });
        self.build.optimisation = self.build.optimisation.max(settings.optimisation);
        self.build.host_overflow_wraps |= settings.host_overflow_wraps;
        self.build.host_debug |= settings.host_debug;
        self.build.line_info |= settings.line_info;
        for argument in &settings.host_arguments {
            if !self.build.host_arguments.contains(argument) {
                self.build.host_arguments.push(argument.clone());
            }
        }
        Ok(true)
    }

    /// Puts the members of an archive that the linker chose in its place.
    fn open(
        &mut self,
        library: &Library,
        chosen: &BTreeMap<PathBuf, Vec<String>>,
    ) -> Result<(), ObjectsError> {
        if !self.taken.insert(library.path.clone()) {
            return Ok(());
        }
        for (member, kept) in library.chosen(chosen) {
            if self.take(kept, &library.path.join(&member.name))? {
                continue;
            }
            let path = self.write(&format!("member_{}", member.name), &member.bytes)?;
            self.build.inputs.push(Input {
                path,
                language: Language::Object,
                bitcode: None,
            });
        }
        Ok(())
    }

    fn write_newer(
        &mut self,
        newer: &[(Target, Vec<u8>)],
    ) -> Result<Vec<(Target, PathBuf)>, ObjectsError> {
        let write = |(target, bytes): &(Target, Vec<u8>)| {
            let path = self.write(&format!("device_{target}.bc"), bytes)?;
            Ok((*target, path))
        };
        newer.iter().map(write).collect()
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<PathBuf, ObjectsError> {
        self.files += 1;
        bitcode_file(self.folder, self.files, name, bytes)
    }
}

impl Settings {
    /// A link under these settings.
    pub(super) fn apply(&self, build: &Build) -> Build {
        let device = self.device.clone();
        Build {
            architectures: device.architectures,
            architectures_named: device.architectures_named,
            device_debug: device.device_debug,
            device_optimised: device.device_optimised,
            per_thread_default_stream: device.per_thread_default_stream,
            maximum_registers: device.maximum_registers,
            ptxas_arguments: device.ptxas_arguments,
            ..build.clone()
        }
    }
}
