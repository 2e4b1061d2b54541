//! Definitions by several mappings in one program, whose launches fuse with each other.

use super::quick_link::QUICK_LINK;
use super::run;
use libtest_mimic::Failed;
use serde_json::Value;
use sirius_rs::tensor::mapping::Mapping;
use sirius_rs::tensor::{Options, translate_by};
use std::path::Path;
use std::process::Command;

/// The mappings, by the beginning of a definition's name.
const MAPPINGS: &[(&str, Mapping)] = &[
    ("identity", Mapping::Identity),
    ("automatic", Mapping::Auto),
    ("stitched", Mapping::Stitched),
];

/// Where definitions begin that are not repeated for each mapping.
const ONCE: &str = "# Those that follow are there once.\n";

/// Results are those of the host, and with fusion the same to the last bit as without; launches of different mappings fuse; and
/// nothing races, with fusion and without.
///
/// # Errors
/// What of that does not hold.
pub fn check() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    let text = std::fs::read_to_string(root.join("tests/tensor/together.tc"))?;
    let (several, once) = text.split_once(ONCE).ok_or("some are there once")?;
    let several = MAPPINGS
        .iter()
        .map(|(space, _)| several.replace("SPACE", space));
    let text: String = several.chain([once.to_owned()]).collect();
    let mut options = |function: &sirius_rs::tensor::program::Function| {
        let named = MAPPINGS
            .iter()
            .find(|(space, _)| function.name.starts_with(space));
        let mapping = named.map_or(Mapping::Auto, |(_, mapping)| *mapping);
        Options {
            mapping,
            ..Options::default()
        }
    };
    let made = translate_by("together.tc", &text, &mut options, &[])
        .map_err(|wrong| format!("it is right, but {wrong:?}"))?;
    let program = root.join("tests/tensor/together.cu");
    let whole = format!("{}#include \"{}\"\n", made.source, program.display());
    std::fs::write(place("whole.cu"), whole)?;
    std::fs::write(place("together.tc.h"), made.header)?;
    let mut said = Vec::new();
    for fusion in ["off", "all"] {
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        compiler
            .args(["--sirius-device=cpu", &format!("--sirius-fusion={fusion}")])
            .arg("-I")
            .arg(folder.path())
            .arg("-I")
            .arg(root.join("test_programs/tensor"))
            .arg(place("whole.cu"))
            .args(QUICK_LINK)
            .arg("-o")
            .arg(place(fusion));
        run(compiler.env("SIRIUS_STRICT", "1"))?;
        said.push(run(
            Command::new(place(fusion)).env("SIRIUS_STATS", place("counted.json"))
        )?);
        let raced = run(Command::new(place(fusion)).env("SIRIUS_CHECK", "race"))?;
        said.push(raced);
    }
    if said.iter().any(|each| *each != said[0]) || !said[0].ends_with("PASS\n") {
        return Err(said.join("\n").into());
    }
    // The last run counted is the fused one.
    let counted = std::fs::read_to_string(place("counted.json"))?;
    let counted: Value = serde_json::from_str(&counted)?;
    let kernels = counted["kernels"].as_array().into_iter().flatten();
    let mixed = kernels.filter(|kernel| {
        let name = kernel["name"].as_str().unwrap_or_default();
        let spaces = MAPPINGS.iter().filter(|(space, _)| name.contains(space));
        spaces.count() > 1
    });
    match mixed.count() {
        0 => Err(format!("no launches of different mappings fuse: {counted}").into()),
        _ => Ok(()),
    }
}
