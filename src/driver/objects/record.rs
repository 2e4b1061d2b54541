//! The record that an object keeps: a header of fixed form, a description as JSON, and bitcode.
//!
//! Invariant: a record says how long it is and which compiler wrote it. One that another version wrote, or
//! that does not fill its section to the end, is none.

use crate::build::{Architecture, Build, Device, KernelSymbols, Language, Numerics, Target};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The section of an object that holds its record.
pub(super) const SECTION: &str = ".sirius.unit";

/// What an object keeps of its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) header: Header,
    /// The host side's bitcode, as clang made it.
    pub(super) host: Vec<u8>,
    /// The device side's, of a CUDA source, for the oldest architecture.
    pub(super) device: Option<Vec<u8>>,
    /// The device side's for newer ones, see [`crate::program::Unit::newer`].
    pub(super) newer: Vec<(Target, Vec<u8>)>,
}

/// The description of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// As on the command line that compiled it.
    pub(super) source: PathBuf,
    pub(super) language: Language,
    pub(super) numerics: Numerics,
    pub(super) settings: Settings,
    /// The unit's name in a device link, where it was compiled with `-rdc=true`.
    pub(super) relocatable: Option<String>,
    /// Whether nothing is fused in the object.
    pub(super) unfused: bool,
    /// The digest of the object that the record was added to.
    pub(super) object_digest: u64,
}

/// Options of a compilation that outlive it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) device: DeviceSettings,
    pub(super) optimisation: u8,
    pub(super) host_overflow_wraps: bool,
    pub(super) host_debug: bool,
    pub(super) line_info: bool,
    pub(super) kernel_symbols: KernelSymbols,
    /// Those that the code generator of the host compiler looks at.
    pub(super) host_arguments: Vec<String>,
}

/// Options on which all units of one program have to agree that have device code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeviceSettings {
    pub(super) device: Device,
    pub(super) architectures: Vec<Architecture>,
    pub(super) architectures_named: bool,
    pub(super) device_debug: bool,
    pub(super) device_optimised: bool,
    pub(super) per_thread_default_stream: bool,
    pub(super) maximum_registers: Option<u32>,
    pub(super) ptxas_arguments: Vec<String>,
}

impl Settings {
    /// Those of a build.
    pub(super) fn of(build: &Build) -> Self {
        Self {
            device: DeviceSettings {
                device: build.device,
                architectures: build.architectures.clone(),
                architectures_named: build.architectures_named,
                device_debug: build.device_debug,
                device_optimised: build.device_optimised,
                per_thread_default_stream: build.per_thread_default_stream,
                maximum_registers: build.maximum_registers,
                ptxas_arguments: build.ptxas_arguments.clone(),
            },
            optimisation: build.optimisation,
            host_overflow_wraps: build.lets_host_overflow_wrap(),
            host_debug: build.host_debug,
            line_info: build.line_info,
            kernel_symbols: build.kernel_symbols,
            host_arguments: build
                .host_arguments
                .iter()
                .filter(|argument| steers_code_generation(argument))
                .cloned()
                .collect(),
        }
    }
}

/// `-fPIC -fopenmp -march=native -pthread -g`, and their like; not warnings, nor where to write
/// dependencies.
fn steers_code_generation(argument: &str) -> bool {
    ["-f", "-m", "-g"]
        .iter()
        .any(|start| argument.starts_with(start))
        || argument == "-pthread"
}

const MAGIC: &[u8; 8] = b"siriusU3";

/// Whose records are read: bitcode is read by the LLVM that wrote it.
const COMPILER: &str = concat!("sirius-rs ", env!("CARGO_PKG_VERSION"), ", LLVM 22");

impl Record {
    /// The bitcode of the device side, for the oldest architecture first.
    pub(super) fn device_code(&self) -> impl Iterator<Item = &[u8]> {
        let newer = self.newer.iter().map(|(_, bytes)| bytes.as_slice());
        self.device.as_deref().into_iter().chain(newer)
    }

    /// As bytes: the magic number, then the compiler, the description, the host's module, the oldest of the
    /// device, the targets of newer ones, and those; each after its length as eight bytes, the lowest first. A
    /// missing module has the length 2^64 - 1.
    pub(super) fn encode(&self) -> Vec<u8> {
        let header = serde_json::to_vec(&self.header).unwrap_or_default();
        let targets: Vec<Target> = self.newer.iter().map(|(target, _)| *target).collect();
        let targets = serde_json::to_vec(&targets).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        let parts = [
            Some(COMPILER.as_bytes()),
            Some(header.as_slice()),
            Some(self.host.as_slice()),
            self.device.as_deref(),
            Some(targets.as_slice()),
        ];
        let newer = self.newer.iter().map(|(_, bytes)| Some(bytes.as_slice()));
        for part in parts.into_iter().chain(newer) {
            let length = part.map_or(u64::MAX, |part| part.len() as u64);
            bytes.extend(length.to_le_bytes());
            bytes.extend(part.unwrap_or_default());
        }
        bytes
    }

    /// Reads a section that holds one record and nothing else.
    pub(super) fn decode(mut section: &[u8]) -> Option<Self> {
        let record = Self::take(&mut section)?;
        section.is_empty().then_some(record)
    }

    /// Reads a section with the records of all objects that a linker joined; none where it holds anything
    /// else.
    pub(super) fn decode_all(mut section: &[u8]) -> Vec<Self> {
        let mut records = Vec::new();
        while !section.is_empty() {
            match Self::take(&mut section) {
                Some(record) => records.push(record),
                None => return Vec::new(),
            }
        }
        records
    }

    fn take(rest: &mut &[u8]) -> Option<Self> {
        *rest = rest.strip_prefix(MAGIC)?;
        let compiler = part(rest)??;
        let header = part(rest)??;
        let host = part(rest)??;
        let device = part(rest)?;
        let targets = part(rest)??;
        let targets: Vec<Target> = serde_json::from_slice(targets).ok()?;
        let mut newer = Vec::new();
        for target in targets {
            newer.push((target, part(rest)??.to_vec()));
        }
        if compiler != COMPILER.as_bytes() {
            return None;
        }
        Some(Self {
            header: serde_json::from_slice(header).ok()?,
            host: host.to_vec(),
            device: device.map(<[u8]>::to_vec),
            newer,
        })
    }
}

/// Takes one part off; the inner `None` is a part that is not there.
fn part<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (length, after) = rest.split_first_chunk::<8>()?;
    *rest = after;
    let length = u64::from_le_bytes(*length);
    if length == u64::MAX {
        return Some(None);
    }
    let (part, after) = after.split_at_checked(usize::try_from(length).ok()?)?;
    *rest = after;
    Some(Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::FeatureSet;

    fn record(device: Option<Vec<u8>>) -> Record {
        Record {
            header: Header {
                source: "a b.cu".into(),
                language: Language::Cuda,
                numerics: Numerics {
                    contract: true,
                    fast_math: false,
                    flush_to_zero: false,
                    precise_division: true,
                    precise_square_root: true,
                },
                settings: Settings {
                    device: DeviceSettings {
                        device: Device::Cpu,
                        architectures: Vec::new(),
                        architectures_named: false,
                        device_debug: false,
                        device_optimised: true,
                        per_thread_default_stream: false,
                        maximum_registers: Some(32),
                        ptxas_arguments: vec!["-v".into()],
                    },
                    optimisation: 3,
                    host_overflow_wraps: false,
                    host_debug: false,
                    line_info: true,
                    kernel_symbols: KernelSymbols {
                        hidden: None,
                        local_templates: Some(false),
                    },
                    host_arguments: vec!["-fPIC".into()],
                },
                relocatable: None,
                unfused: true,
                object_digest: 7,
            },
            host: vec![1, 2, 3],
            newer: match device {
                Some(_) => vec![(target(80), vec![5; 10]), (target(90), Vec::new())],
                None => Vec::new(),
            },
            device,
        }
    }

    fn target(number: u32) -> Target {
        Target {
            number,
            features: FeatureSet::Portable,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for device in [None, Some(Vec::new()), Some(vec![9; 1000])] {
            let record = record(device);
            assert_eq!(Record::decode(&record.encode()).as_ref(), Some(&record));
        }
    }

    #[test]
    fn a_section_of_two_records_or_half_a_record_is_none() {
        let one = record(Some(vec![4])).encode();
        let two = [one.clone(), one.clone()].concat();
        assert_eq!(Record::decode(&two), None);
        assert_eq!(Record::decode_all(&two).len(), 2);
        assert!(Record::decode_all(&two[..two.len() - 1]).is_empty());
        for length in 0..one.len() {
            assert_eq!(Record::decode(&one[..length]), None);
        }
        let mut other_version = one;
        other_version[MAGIC.len() + 8 + 10] ^= 1;
        assert_eq!(Record::decode(&other_version), None);
    }
}
