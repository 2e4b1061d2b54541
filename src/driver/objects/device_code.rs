//! Relocatable device code among the inputs of a link, for a device link of its own.
//!
//! Invariant: of a device link that is no whole program only the device side of records is used, so that
//! objects may have been joined or edited since; the host sides are the objects themselves.

use super::gather::{Gathered, bitcode_file, temporary_folder};
use super::record::{DeviceSettings, Record, Settings};
use super::{ObjectsError, archives, digest};
use crate::build::{
    Build, Device, Input, Language, Phase, Relocatable, Target, UnitBitcode, compiled_targets,
};
use crate::program::DeviceSymbols;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The device link that `-dlink` asks for: of all relocatable device code among the inputs.
///
/// # Errors
/// An object was made for the other device or for newer architectures; temporary files cannot be
/// written.
pub fn gather_device_link(build: &Build) -> Result<Gathered, ObjectsError> {
    gathered(build, &Units::of(build))
}

/// The device link that an ordinary link lacks: of relocatable device code whose objects stay as they
/// are and that no `-dlink` has linked. `None` when there is none.
///
/// # Errors
/// As [`gather_device_link`].
pub fn unlinked_device_code(build: &Build) -> Result<Option<Gathered>, ObjectsError> {
    let units = Units::of(build);
    if units.found.is_empty() {
        return Ok(None);
    }
    gathered(build, &units).map(Some)
}

/// The relocatable units of a link that no `-dlink` has linked.
struct Units {
    /// With the object or archive that each is in.
    found: Vec<(PathBuf, Record)>,
}

impl Units {
    fn of(build: &Build) -> Self {
        let mut found = Vec::new();
        let mut linked = BTreeSet::new();
        let mut look = |path: &Path, bytes: &[u8]| {
            linked.extend(digest::device_link_of(bytes).into_iter().flatten());
            let records = relocatable_records(bytes).into_iter();
            found.extend(records.map(|record| (path.to_owned(), record)));
        };
        let objects = build.inputs.iter();
        let objects = objects.filter(|input| input.language == Language::Object);
        let libraries = build.link_arguments.iter();
        let libraries = libraries.filter_map(|argument| archives::library(argument, build));
        let mut seen = BTreeSet::new();
        for path in objects.map(|input| input.path.clone()).chain(libraries) {
            // A library may stand on the command line more than once.
            if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                continue;
            }
            let members = archives::members(&path);
            for member in &members {
                look(&path.join(&member.name), &member.bytes);
            }
            if members.is_empty() {
                look(&path, &std::fs::read(&path).unwrap_or_default());
            }
        }
        let mut names = BTreeSet::new();
        found.retain(|(_, record): &(PathBuf, Record)| {
            let name = record.header.relocatable.clone().unwrap_or_default();
            !linked.contains(&name) && names.insert(name)
        });
        Self { found }
    }
}

/// The records of an object that have relocatable device code.
pub(super) fn relocatable_records(bytes: &[u8]) -> Vec<Record> {
    let section = digest::section_of_records(bytes).unwrap_or_default();
    let mut records = Record::decode_all(section);
    records.retain(|record| record.header.relocatable.is_some() && record.device.is_some());
    records
}

/// A member of a library that its host side alone does not bring into a program.
pub(super) struct Candidate<'a> {
    /// The library.
    pub(super) library: &'a Path,
    /// The member.
    pub(super) member: &'a str,
    pub(super) record: &'a Record,
}

/// Which members of libraries a device link of `units` (device modules) takes in: those that define what
/// is undefined, and what they need in turn.
///
/// # Errors
/// When a module is no bitcode.
pub(super) fn needed_by_device_code<'a>(
    units: &[(Vec<u8>, PathBuf)],
    mut candidates: Vec<Candidate<'a>>,
) -> Result<Vec<Candidate<'a>>, ObjectsError> {
    let mut needed = Vec::new();
    if candidates.is_empty() {
        return Ok(needed);
    }
    let mut all = DeviceSymbols::default();
    for (device, source) in units {
        all.add(DeviceSymbols::of(device, source)?);
    }
    let mut symbols = Vec::new();
    for candidate in &candidates {
        let mut found = DeviceSymbols::default();
        for code in candidate.record.device_code() {
            found.add(DeviceSymbols::of(code, &candidate.record.header.source)?);
        }
        symbols.push(found);
    }
    loop {
        let gives = |found: &DeviceSymbols| {
            let mut missing = all.undefined.difference(&all.defined);
            missing.any(|name| found.defined.contains(name))
        };
        let Some(next) = symbols.iter().position(gives) else {
            return Ok(needed);
        };
        all.add(symbols.remove(next));
        needed.push(candidates.remove(next));
    }
}

fn gathered(build: &Build, units: &Units) -> Result<Gathered, ObjectsError> {
    let folder = temporary_folder()?;
    let settings = match units.found.first() {
        Some((_, first)) => device_link_settings(build, &first.header.settings),
        None => Settings::of(build),
    };
    let mut link = Build {
        phase: Phase::DeviceLink,
        inputs: Vec::new(),
        host_overflow_wraps: false,
        ..settings.apply(build)
    };
    for (index, (path, record)) in units.found.iter().enumerate() {
        check_fits(record, &settings.device, path)?;
        let file = |name: &str, bytes: &[u8]| bitcode_file(folder.path(), index, name, bytes);
        let device = record.device.as_deref();
        link.inputs.push(Input {
            path: record.header.source.clone(),
            language: record.header.language,
            bitcode: Some(UnitBitcode {
                host: file("host.bc", &record.host)?,
                device: device.map(|bytes| file("device.bc", bytes)).transpose()?,
                newer: record
                    .newer
                    .iter()
                    .map(|(target, bytes)| {
                        Ok((*target, file(&format!("device_{target}.bc"), bytes)?))
                    })
                    .collect::<Result<_, ObjectsError>>()?,
                numerics: record.header.numerics,
                relocatable: record.header.relocatable.clone().map(in_domain_0),
                kernel_symbols: record.header.settings.kernel_symbols,
                unfused_object: false,
            }),
        });
        link.optimisation = link.optimisation.max(record.header.settings.optimisation);
        link.host_overflow_wraps |= record.header.settings.host_overflow_wraps;
        link.line_info |= record.header.settings.line_info;
    }
    Ok(Gathered {
        build: link,
        warnings: String::new(),
        _folder: folder,
    })
}

fn in_domain_0(name: String) -> Relocatable {
    Relocatable { name, domain: 0 }
}

/// Under which settings relocatable device code is linked: those of its compilation, for the
/// architectures that the link names.
pub(super) fn device_link_settings(build: &Build, compiled: &Settings) -> Settings {
    let mut settings = compiled.clone();
    if build.architectures_named {
        settings.device.architectures = build.architectures.clone();
        settings.device.architectures_named = true;
    }
    settings
}

/// Whether relocatable device code can be linked for what a link is for.
///
/// # Errors
/// When it was compiled for the other device, or for newer architectures only.
pub(super) fn check_fits(
    record: &Record,
    link: &DeviceSettings,
    object: &Path,
) -> Result<(), ObjectsError> {
    let compiled = &record.header.settings.device;
    if compiled.device != link.device {
        return Err(ObjectsError::OtherDevice {
            path: object.to_owned(),
            device: match compiled.device {
                Device::Cuda => "cuda",
                Device::Cpu => "cpu",
            },
        });
    }
    let targets =
        |settings: &DeviceSettings| compiled_targets(settings.device, &settings.architectures);
    let made = targets(compiled);
    let runs_none = |target: &Target| !made.iter().any(|made| target.runs(*made));
    match targets(link).into_iter().find(runs_none) {
        Some(linked) => Err(ObjectsError::NewerArchitecture {
            path: object.to_owned(),
            compiled: made[0],
            linked,
        }),
        None => Ok(()),
    }
}
