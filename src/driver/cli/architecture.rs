//! `-arch`, `-code` and `-gencode` -> [`Architecture`]s that LLVM and the toolkit both know.
//!
//! Invariant: what leaves here is at least one target, sorted by number, each number with the same features once.

use super::parse::UsageError;
use super::spelling::split_list;
use super::values::instead;
use crate::build::{Architecture, FeatureSet, Phase, Target};
use std::collections::BTreeSet;

/// What LLVM 22 and a CUDA toolkit both know, with the first and last major version of the toolkit.
const KNOWN: [(u32, u32, u32); 20] = [
    (50, 11, 12),
    (52, 11, 12),
    (53, 11, 12),
    (60, 11, 12),
    (61, 11, 12),
    (62, 11, 12),
    (70, 11, 12),
    (72, 11, 12),
    (75, 11, u32::MAX),
    (80, 11, u32::MAX),
    (86, 11, u32::MAX),
    (87, 11, u32::MAX),
    (88, 13, u32::MAX),
    (89, 11, u32::MAX),
    (90, 12, u32::MAX),
    (100, 12, u32::MAX),
    (103, 12, u32::MAX),
    (110, 13, u32::MAX),
    (120, 12, u32::MAX),
    (121, 12, u32::MAX),
];

/// The first architectures with features of their own (`sm_90a`), and of their family (`sm_100f`).
const FIRST_SPECIFIC: u32 = 90;
const FIRST_FAMILY: u32 = 100;

fn portable(number: u32) -> Target {
    Target {
        number,
        features: FeatureSet::Portable,
    }
}

/// Compiled for when nothing is asked, by nvcc of a toolkit of this major version and so by us: machine code,
/// and PTX for newer GPUs.
fn default_architecture(toolkit_major: u32) -> Architecture {
    Architecture {
        number: if toolkit_major < 13 { 52 } else { 75 },
        features: FeatureSet::Portable,
        machine_code: true,
        ptx: true,
    }
}

/// The architecture options of a command line, as written.
#[derive(Debug, Default)]
pub(super) struct ArchitectureOptions {
    /// `-arch`.
    pub architecture: Option<String>,
    /// `-code`, one entry each.
    pub code: Vec<String>,
    /// `-gencode`, one entry each: `arch=compute_80,code=[sm_80,compute_80]`.
    pub generate_code: Vec<String>,
}

/// The numbers that a toolkit of this major version and LLVM 22 know, ascending.
pub fn known_architectures(toolkit_major: u32) -> Vec<u32> {
    KNOWN
        .iter()
        .filter(|(_, first, last)| (*first..=*last).contains(&toolkit_major))
        .map(|(number, ..)| *number)
        .collect()
}

/// Resolves the options. `installed` lists the compute capabilities of the machine's GPUs (as `80`)
/// for `-arch=native`. Warnings are added to `warnings`.
///
/// An architecture older than the toolkit's oldest is mapped up to it with one warning.
/// `-gencode arch=compute_X,code=sm_Y` is compiled as one target for Y.
///
/// # Errors
/// A malformed or unknown architecture, or `-code` without `-arch`.
pub(super) fn resolve(
    options: &ArchitectureOptions,
    toolkit_major: u32,
    installed: &dyn Fn() -> Vec<u32>,
    phase: Phase,
    warnings: &mut Vec<String>,
) -> Result<Vec<Architecture>, UsageError> {
    let mut resolver = Resolver {
        known: known_architectures(toolkit_major),
        targets: Vec::new(),
        instances: BTreeSet::new(),
        mapped: None,
    };
    match options.architecture.as_deref() {
        None if !options.code.is_empty() => return Err(UsageError::CodeWithoutArchitecture),
        None => {}
        Some("native") => {
            let found = installed();
            if found.is_empty() {
                warnings.push(
                    "Cannot find valid GPU for '-arch=native', default arch is used".to_owned(),
                );
            }
            for installed in found {
                // PTX of the newest known architecture serves a GPU that is newer still.
                if let Some(&number) = resolver.known.iter().rfind(|known| **known <= installed) {
                    resolver.target(portable(number), true, true);
                }
            }
        }
        Some(all @ ("all" | "all-major")) => {
            let numbers = resolver.known.clone();
            let oldest = numbers.first().copied();
            for number in numbers {
                if all == "all" || number % 10 == 0 || Some(number) == oldest {
                    let target = portable(number);
                    resolver.target(target, true, false);
                    resolver.instances.insert((target, target, true));
                }
            }
            if let Some(last) = resolver
                .targets
                .iter_mut()
                .rfind(|target| target.number % 10 == 0)
            {
                last.ptx = true;
            }
        }
        Some(name) if options.code.is_empty() => {
            let (target, real) = resolver.number(name)?;
            resolver.target(target, real, true);
            resolver.instances.insert((target, target, real));
        }
        Some(name) => {
            let (target, real) = resolver.number(name)?;
            virtual_only(name, real)?;
            resolver.codes(name, target, &options.code)?;
        }
    }
    for specification in &options.generate_code {
        resolver.generate_code(specification)?;
    }
    one_for_a_file(phase, &resolver.instances)?;
    if let Some((name, number)) = resolver.mapped {
        warnings.push(format!(
            "gpu architecture '{name}' is older than this CUDA toolkit compiles for, sm_{number} \
             is used instead"
        ));
    }
    if resolver.targets.is_empty() {
        resolver.targets.push(default_architecture(toolkit_major));
    }
    resolver.targets.sort();
    Ok(resolver.targets)
}

/// A file of PTX is for one virtual architecture, a cubin is one piece of machine code.
fn one_for_a_file(
    phase: Phase,
    instances: &BTreeSet<(Target, Target, bool)>,
) -> Result<(), UsageError> {
    let sources: BTreeSet<Target> = instances.iter().map(|(from, ..)| *from).collect();
    let refused = |option, several| Err(UsageError::OneArchitecture { option, several });
    match phase {
        Phase::Ptx if sources.len() > 1 => refused("--ptx (-ptx)", "multiple GPU architectures"),
        Phase::Cubin if instances.len() > 1 => refused("--cubin", "multiple GPU code instances"),
        Phase::Cubin if instances.iter().any(|(.., real)| !real) => {
            refused("--cubin", "a virtual compute architecture")
        }
        _ => Ok(()),
    }
}

/// The state of [`resolve`].
struct Resolver {
    known: Vec<u32>,
    targets: Vec<Architecture>,
    /// What is compiled, as written: from which virtual architecture, for which, and whether that is a real one.
    instances: BTreeSet<(Target, Target, bool)>,
    /// The first name that was mapped up, and to which number.
    mapped: Option<(String, u32)>,
}

impl Resolver {
    fn target(&mut self, wanted: Target, machine_code: bool, ptx: bool) {
        let mut targets = self.targets.iter_mut();
        match targets.find(|target| target.target() == wanted) {
            Some(target) => {
                target.machine_code |= machine_code;
                target.ptx |= ptx;
            }
            None => self.targets.push(Architecture {
                number: wanted.number,
                features: wanted.features,
                machine_code,
                ptx,
            }),
        }
    }

    /// The number and features of `sm_80` or `compute_90a`, mapped up, and whether it is a real architecture;
    /// so is `lto_80`, device code that is to be optimised when it is linked, as all of ours is.
    fn number(&mut self, name: &str) -> Result<(Target, bool), UsageError> {
        let unsupported = || {
            let prefix = match name.starts_with("compute") {
                true => "compute_",
                false => "sm_",
            };
            let known = self.known.iter();
            let known: Vec<String> = known.map(|number| format!("{prefix}{number}")).collect();
            UsageError::UnsupportedArchitecture {
                name: name.to_owned(),
                instead: instead(name, known.iter().map(String::as_str)),
            }
        };
        let real = name.strip_prefix("sm_").or(name.strip_prefix("lto_"));
        let (digits, real) = match (real, name.strip_prefix("compute_")) {
            (Some(digits), _) => (digits, true),
            (None, Some(digits)) => (digits, false),
            (None, None) => return Err(unsupported()),
        };
        let with = |features, first| {
            let number = digits[..digits.len() - 1].parse::<u32>().ok()?;
            (number >= first && self.known.contains(&number)).then_some(Target { number, features })
        };
        let specific = match digits.chars().last() {
            Some('a') => Some(with(FeatureSet::Specific, FIRST_SPECIFIC)),
            Some('f') => Some(with(FeatureSet::Family, FIRST_FAMILY)),
            _ => None,
        };
        if let Some(target) = specific {
            return Ok((target.ok_or_else(unsupported)?, real));
        }
        let number: u32 = digits.parse().map_err(|_| unsupported())?;
        if self.known.contains(&number) {
            return Ok((portable(number), real));
        }
        match self.known.first() {
            Some(&oldest) if number < oldest && number >= 10 => {
                self.mapped.get_or_insert_with(|| (name.to_owned(), oldest));
                Ok((portable(oldest), real))
            }
            _ => Err(unsupported()),
        }
    }

    /// What is made of a virtual architecture: code has the features of the source that it is made of.
    fn codes(&mut self, name: &str, from: Target, codes: &[String]) -> Result<(), UsageError> {
        for code in codes {
            let (target, real) = self.number(code)?;
            let same_family = target.number / 10 == from.number / 10;
            let fits = match from.features {
                _ if !real => target == from,
                FeatureSet::Portable => target.number >= from.number,
                FeatureSet::Family => same_family && target.number >= from.number,
                FeatureSet::Specific => target == from,
            };
            if !fits {
                return Err(UsageError::IncompatibleCode {
                    architecture: name.to_owned(),
                    code: code.to_owned(),
                });
            }
            let features = from.features;
            self.instances.insert((from, target, real));
            self.target(Target { features, ..target }, real, !real);
        }
        Ok(())
    }

    /// One `-gencode` specification.
    fn generate_code(&mut self, specification: &str) -> Result<(), UsageError> {
        let malformed = || UsageError::MalformedGenerateCode(specification.to_owned());
        let (mut architecture, mut code) = (None, None);
        let mut rest = specification.trim();
        while !rest.is_empty() {
            let (key, value) = rest.split_once('=').ok_or_else(malformed)?;
            let value_end = if let Some(list) = value.strip_prefix('[') {
                list.find(']').ok_or_else(malformed)? + 2
            } else if let Some(list) = value.strip_prefix('"') {
                list.find('"').ok_or_else(malformed)? + 2
            } else {
                value.find(',').unwrap_or(value.len())
            };
            let (value, tail) = value.split_at(value_end);
            match key.trim() {
                "arch" => architecture = Some(value.trim()),
                "code" => {
                    code = Some(split_list(value.trim_matches(['[', ']', '"'])));
                }
                _ => return Err(malformed()),
            }
            rest = tail.strip_prefix(',').unwrap_or(tail).trim();
        }
        let name = architecture.ok_or_else(malformed)?;
        let (target, real) = self.number(name)?;
        virtual_only(name, real)?;
        let missing = || UsageError::MissingCode(specification.to_owned());
        let code = code.filter(|codes| !codes.is_empty());
        self.codes(name, target, &code.ok_or_else(missing)?)
    }
}

fn virtual_only(name: &str, real: bool) -> Result<(), UsageError> {
    if real {
        Err(UsageError::ArchitectureMustBeVirtual(name.to_owned()))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets as text: `80mp` is sm_80 with machine code and PTX.
    fn targets(architecture: Option<&str>, code: &[&str], generate: &[&str]) -> String {
        let options = ArchitectureOptions {
            architecture: architecture.map(str::to_owned),
            code: code.iter().map(|text| (*text).to_owned()).collect(),
            generate_code: generate.iter().map(|text| (*text).to_owned()).collect(),
        };
        let mut warnings = Vec::new();
        match resolve(&options, 13, &Vec::new, Phase::Link, &mut warnings) {
            Err(error) => error.to_string(),
            Ok(found) => {
                let mut words: Vec<String> = found
                    .iter()
                    .map(|target| {
                        format!(
                            "{}{}{}",
                            target.target(),
                            if target.machine_code { "m" } else { "" },
                            if target.ptx { "p" } else { "" }
                        )
                    })
                    .collect();
                words.extend(warnings.iter().map(|_| "warning".to_owned()));
                words.join(" ")
            }
        }
    }

    #[test]
    fn architectures_resolve_as_nvcc_does() {
        assert_eq!(targets(None, &[], &[]), "75mp", "nvcc 13's default");
        assert_eq!(default_architecture(12).number, 52, "nvcc 12's default");
        assert_eq!(targets(Some("sm_90"), &[], &[]), "90mp");
        assert_eq!(targets(Some("compute_90"), &[], &[]), "90p");
        assert_eq!(
            targets(Some("compute_80"), &["sm_80", "sm_86"], &[]),
            "80m 86m"
        );
        assert_eq!(targets(Some("sm_35"), &[], &[]), "75mp warning");
        assert_eq!(
            targets(
                None,
                &[],
                &[
                    "arch=compute_60,code=sm_60",
                    "arch=compute_70,code=[sm_70,compute_70]"
                ]
            ),
            "75mp warning"
        );
        assert_eq!(
            targets(
                None,
                &[],
                &[
                    "arch=compute_75,code=[compute_75,sm_75]",
                    "code=sm_86,arch=compute_86"
                ]
            ),
            "75mp 86m"
        );
        assert_eq!(
            targets(None, &[], &["arch=compute_80,code=\"sm_80,compute_80\""]),
            "80mp"
        );
        assert_eq!(
            targets(None, &[], &["arch=compute_90,code=[compute_90,lto_90]"]),
            "90mp"
        );
        assert_eq!(targets(Some("native"), &[], &[]), "75mp warning");
        assert!(targets(Some("all"), &[], &[]).ends_with("120mp 121m"));
        assert!(targets(Some("all-major"), &[], &[]).starts_with("75m 80m 90m"));
    }

    #[test]
    fn wrong_architectures_are_refused() {
        let unsupported = |name: &str| {
            let refused = targets(Some(name), &[], &[]);
            let sentence = format!("Unsupported gpu architecture '{name}'; there are 'sm_75', ");
            assert!(refused.starts_with(&sentence), "{refused}");
        };
        unsupported("sm_99");
        unsupported("pascal");
        assert_eq!(targets(None, &["sm_80"], &[]), "-arch option not specified");
        assert_eq!(
            targets(None, &[], &["arch=sm_80,code=sm_80"]),
            "Value of -arch option ('sm_80') must be a virtual code architecture"
        );
        assert!(targets(None, &[], &["arch=compute_80,code=[sm_80"]).contains("gencode"));
        unsupported("sm_80a");
        unsupported("sm_90f");
        for wrong in [
            "arch=compute_90a,code=sm_100",
            "arch=compute_90a,code=sm_90",
            "arch=compute_100f,code=sm_120",
            "arch=compute_100a,code=sm_100f",
            "arch=compute_86,code=sm_80",
            "arch=compute_80,code=compute_86",
            "arch=compute_86,code=compute_80",
        ] {
            let message = targets(None, &[], &[wrong]);
            assert!(
                message.starts_with("Incompatible code generation requested: arch='compute_"),
                "{wrong}: {message}"
            );
        }
    }

    #[test]
    fn a_file_of_device_code_holds_one_piece() {
        let made = |phase, architecture: Option<&str>, code: &[&str], generate: &[&str]| {
            let words = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
            let options = ArchitectureOptions {
                architecture: architecture.map(str::to_owned),
                code: words(code),
                generate_code: words(generate),
            };
            match resolve(&options, 13, &Vec::new, phase, &mut Vec::new()) {
                Err(error) => error.to_string(),
                Ok(_) => String::new(),
            }
        };
        let two = ["arch=compute_75,code=sm_75", "arch=compute_80,code=sm_80"];
        let with_ptx = ["arch=compute_80,code=[sm_80,compute_80]"];
        for (option, phase, architecture, code, generate, several) in [
            (
                "--ptx (-ptx)",
                Phase::Ptx,
                None,
                &[][..],
                &two[..],
                "multiple GPU architectures",
            ),
            (
                "--ptx (-ptx)",
                Phase::Ptx,
                Some("all"),
                &[],
                &[],
                "multiple GPU architectures",
            ),
            (
                "--cubin",
                Phase::Cubin,
                None,
                &[],
                &two,
                "multiple GPU code instances",
            ),
            (
                "--cubin",
                Phase::Cubin,
                None,
                &[],
                &with_ptx,
                "multiple GPU code instances",
            ),
            (
                "--cubin",
                Phase::Cubin,
                Some("compute_80"),
                &[],
                &[],
                "a virtual compute architecture",
            ),
        ] {
            assert_eq!(
                made(phase, architecture, code, generate),
                format!("Option '{option}' is not allowed when compiling for {several}")
            );
        }
        assert_eq!(
            made(Phase::Ptx, Some("compute_80"), &["sm_80", "sm_86"], &[]),
            ""
        );
        assert_eq!(made(Phase::Ptx, None, &[], &with_ptx), "");
        assert_eq!(made(Phase::Cubin, Some("sm_80"), &[], &[]), "");
        assert_eq!(made(Phase::Cubin, None, &[], &two[1..]), "");
        assert_eq!(made(Phase::Fatbin, None, &[], &two), "");
        for missing in ["arch=compute_80", "arch=compute_80,code="] {
            let refused = made(Phase::Link, None, &[], &[missing]);
            let sentence = format!("Option '--generate-code {missing}', missing code");
            let names_nothing = "Unsupported gpu architecture ''";
            assert!(refused == sentence || refused == names_nothing, "{refused}");
        }
    }

    #[test]
    fn features_are_those_of_the_virtual_architecture() {
        assert_eq!(targets(Some("sm_90a"), &[], &[]), "90amp");
        assert_eq!(targets(Some("compute_120a"), &[], &[]), "120ap");
        assert_eq!(targets(None, &[], &["arch=compute_90,code=sm_90a"]), "90m");
        assert_eq!(
            targets(None, &[], &["arch=compute_100f,code=[sm_103,compute_100f]"]),
            "100fp 103fm"
        );
        assert_eq!(
            targets(
                None,
                &[],
                &["arch=compute_90,code=sm_90", "arch=compute_90a,code=sm_90a"]
            ),
            "90m 90am"
        );
    }

    #[test]
    fn device_code_is_compiled_for_each() {
        let compiled = |device, generate: &[&str]| {
            let options = ArchitectureOptions {
                generate_code: generate
                    .iter()
                    .map(|name| format!("arch=compute_{name},code=sm_{name}"))
                    .collect(),
                ..ArchitectureOptions::default()
            };
            let targets =
                resolve(&options, 13, &Vec::new, Phase::Link, &mut Vec::new()).unwrap_or_default();
            let compiled = crate::build::compiled_targets(device, &targets);
            let compiled = compiled.iter().map(ToString::to_string);
            compiled.collect::<Vec<_>>().join(" ")
        };
        use crate::build::Device::{Cpu, Cuda};
        assert_eq!(compiled(Cuda, &["90a"]), "90a");
        assert_eq!(compiled(Cuda, &["90a", "80"]), "80 90a");
        assert_eq!(compiled(Cuda, &["90a", "90"]), "90 90a");
        assert_eq!(compiled(Cpu, &["75", "80", "90"]), "80");
        assert_eq!(compiled(Cpu, &["90", "100"]), "90");
        assert_eq!(compiled(Cpu, &[]), "75");
    }

    #[test]
    fn newer_ones_run_older_code_that_is_portable() {
        let target = |number, features| Target { number, features };
        let portable = target(80, FeatureSet::Portable);
        let specific = target(90, FeatureSet::Specific);
        let family = target(100, FeatureSet::Family);
        let newer = target(103, FeatureSet::Specific);
        assert!(specific.runs(portable) && newer.runs(portable) && !portable.runs(specific));
        assert!(specific.runs(specific) && !newer.runs(specific));
        assert!(newer.runs(family) && !target(120, FeatureSet::Portable).runs(family));
    }
}
