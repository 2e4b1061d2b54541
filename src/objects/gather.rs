//! A link's objects, exchanged for what their records hold.

use super::archives::{self, Member};
use super::record::{Record, Settings};
use super::{ObjectsError, digest};
use crate::cli::{Build, Device, Input, Language, Toolchain, UnitBitcode};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A link in which sources that were compiled before take part again.
pub struct Gathered {
    /// The link: inputs that were objects of ours are their sources, with bitcode.
    pub build: Build,
    /// Where the bitcode lies; it goes with this value.
    _folder: tempfile::TempDir,
}

/// Exchanges objects of ours among the inputs and the libraries of a link. `None` when there are none.
///
/// Objects whose device code was made under other settings than the rest (other architectures, say)
/// stay as they are. So do archives where the link has sources as well, since which of their members it
/// chooses is known only once those are compiled.
///
/// # Errors
/// An object was made for the other device; archives of ours are to be linked and the linker fails;
/// temporary files cannot be written.
pub fn gather(build: &Build, toolchain: &Toolchain) -> Result<Option<Gathered>, ObjectsError> {
    let has_sources = build
        .inputs
        .iter()
        .any(|input| input.language != Language::Object);
    let inputs: Vec<Content> = build
        .inputs
        .iter()
        .map(|input| Content::of(input, has_sources))
        .collect();
    let searched = match has_sources {
        true => &[],
        false => build.link_arguments.as_slice(),
    };
    let libraries: BTreeMap<&str, Library> = searched
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
        Content::Object(record) => Some(&**record),
        _ => None,
    });
    let records = || objects.clone().chain(archives().flat_map(Library::records));
    let Some(first) = records()
        .find(|record| record.device.is_some())
        .or(records().next())
    else {
        return Ok(None);
    };
    let folder = tempfile::tempdir().map_err(|error| ObjectsError::Files {
        what: "cannot make a temporary folder".into(),
        error,
    })?;
    let chosen = match archives().next() {
        Some(_) => archives::chosen(build, toolchain, folder.path())?,
        None => BTreeMap::new(),
    };
    let is_source = |input: &Input| input.language == Language::Cuda;
    let settings = match build.inputs.iter().any(is_source) {
        true => Settings::of(build),
        false => first.header.settings.clone(),
    };
    let mut exchange = Exchange {
        build: settings.apply(build),
        settings,
        folder: folder.path(),
        files: 0,
        taken: BTreeSet::new(),
    };
    exchange.build.inputs.clear();
    exchange.build.link_arguments.clear();
    for (input, content) in build.inputs.iter().zip(inputs.iter()) {
        match content {
            Content::Object(record) => {
                if !exchange.take(record, &input.path)? {
                    exchange.build.inputs.push(input.clone());
                }
            }
            Content::Archive(library) => exchange.open(library, &chosen)?,
            Content::Other => exchange.build.inputs.push(input.clone()),
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
        _folder: folder,
    }))
}

/// What an input is to a link that looks for records.
enum Content {
    /// An object of ours.
    Object(Box<Record>),
    /// An archive with objects of ours.
    Archive(Library),
    /// A source, or what others made.
    Other,
}

impl Content {
    fn of(input: &Input, has_sources: bool) -> Self {
        if input.language != Language::Object {
            return Self::Other;
        }
        if !has_sources && let Some(library) = Library::of(&input.path) {
            return Self::Archive(library);
        }
        let bytes = std::fs::read(&input.path).unwrap_or_default();
        record_of(&bytes).map_or(Self::Other, |record| Self::Object(Box::new(record)))
    }
}

/// An archive with objects of ours among its members.
struct Library {
    path: PathBuf,
    members: Vec<(Member, Option<Record>)>,
}

impl Library {
    fn of(path: &Path) -> Option<Self> {
        let members = archives::members(path)
            .into_iter()
            .map(|member| {
                let record = record_of(&member.bytes);
                (member, record)
            })
            .collect();
        let path = path.canonicalize().ok()?;
        let library = Self { path, members };
        library.records().next()?;
        Some(library)
    }

    fn records(&self) -> impl Iterator<Item = &Record> {
        self.members
            .iter()
            .filter_map(|(_, record)| record.as_ref())
    }
}

/// The record of an object that is just what it was when the record was added.
fn record_of(bytes: &[u8]) -> Option<Record> {
    let record = Record::decode(digest::section_of_records(bytes)?)?;
    (digest::digest(bytes) == Some(record.header.object_digest)).then_some(record)
}

struct Exchange<'a> {
    build: Build,
    settings: Settings,
    folder: &'a Path,
    files: usize,
    /// Archives that were opened already: naming one twice does not link its members twice.
    taken: BTreeSet<PathBuf>,
}

impl Exchange<'_> {
    /// Lets a record's source take part; false when its settings do not fit.
    fn take(&mut self, record: &Record, object: &Path) -> Result<bool, ObjectsError> {
        let settings = &record.header.settings;
        if record.device.is_some() && settings.device.device != self.build.device {
            return Err(ObjectsError::OtherDevice {
                path: object.to_owned(),
                device: match settings.device.device {
                    Device::Cuda => "cuda",
                    Device::Cpu => "cpu",
                },
            });
        }
        if record.device.is_some() && settings.device != self.settings.device {
            return Ok(false);
        }
        let host = self.write("host.bc", &record.host)?;
        let device = record
            .device
            .as_ref()
            .map(|bytes| self.write("device.bc", bytes));
        self.build.inputs.push(Input {
            path: record.header.source.clone(),
            language: record.header.language,
            bitcode: Some(UnitBitcode {
                host,
                device: device.transpose()?,
                numerics: record.header.numerics,
            }),
        });
        self.build.optimisation = self.build.optimisation.max(settings.optimisation);
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
        let Some(names) = chosen.get(&library.path) else {
            return Ok(());
        };
        let members = library.members.iter();
        for (member, record) in members.filter(|(member, _)| names.contains(&member.name)) {
            if let Some(record) = record
                && self.take(record, &library.path.join(&member.name))?
            {
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

    fn write(&mut self, name: &str, bytes: &[u8]) -> Result<PathBuf, ObjectsError> {
        let path = self.folder.join(format!("{}_{name}", self.files));
        self.files += 1;
        std::fs::write(&path, bytes).map_err(|error| ObjectsError::Files {
            what: format!("cannot write {}", path.display()),
            error,
        })?;
        Ok(path)
    }
}

impl Settings {
    /// A link under these settings.
    fn apply(&self, build: &Build) -> Build {
        let device = self.device.clone();
        Build {
            architectures: device.architectures,
            architectures_named: device.architectures_named,
            device_debug: device.device_debug,
            per_thread_default_stream: device.per_thread_default_stream,
            maximum_registers: device.maximum_registers,
            ptxas_arguments: device.ptxas_arguments,
            ..build.clone()
        }
    }
}
