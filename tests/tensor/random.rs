//! Random definitions, many in one program: the interpreter, the identity mapping and the parallel one make the same.

use super::host::{Case, program};
use super::{generator, interpreter, run};
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Definitions of one program.
const DEFINITIONS: u64 = 48;

/// The seeds to run: each gives a program.
pub fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("SIRIUS_FUZZ_SEEDS").ok();
    let range = given.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..1)
}

/// Compares the definitions of one seed.
///
/// # Errors
/// The first one whose results differ, with its text.
pub fn check(seed: u64) -> Result<(), Failed> {
    let (mut text, mut cases, mut expected, mut sources) =
        (String::new(), Vec::new(), String::new(), Vec::new());
    for number in 0..DEFINITIONS {
        let name = format!("f{number}");
        let (source, function, _) = generator::definition(seed * DEFINITIONS + number, &name);
        let mut random = StdRng::seed_from_u64(seed ^ (number << 32));
        let sizes = function
            .symbols
            .iter()
            .filter(|symbol| symbol.kind == sirius_rs::tensor::program::SymbolKind::Size);
        let count = sizes.count();
        // Sizes that the launcher takes, if there are small ones.
        let case = (0..50).find_map(|_| {
            let sizes = (0..count).map(|_| random.random_range(0..6)).collect();
            let case = Case {
                function: function.clone(),
                sizes,
            };
            case.is_accepted().then_some(case)
        });
        let Some(case) = case else { continue };
        expected += &format!("{name}: ");
        let inputs = case.inputs();
        let symbols = interpreter::symbols(&case.function, &case.sizes, &inputs);
        let results = interpreter::run(&case.function, &symbols, &inputs);
        for number in &case.function.returns {
            for element in &results[*number].elements {
                // Writing to a string cannot fail.
                let _ = write!(expected, "{} ", shown(element.value()));
            }
            expected.push('\n');
        }
        text += &source;
        sources.push((name, source));
        cases.push(case);
    }
    let folder = tempfile::tempdir()?;
    let definitions = folder.path().join("random.tc");
    std::fs::write(&definitions, &text)?;
    let main = folder.path().join("main.cu");
    std::fs::write(&main, program("random.tc.h", &cases))?;
    let result = compare(folder.path(), (&cases, &sources), &expected);
    if result.is_err() || std::env::var_os("SIRIUS_FUZZ_KEEP").is_some() {
        let kept = std::env::temp_dir().join(format!("sirius_tensor_{seed}"));
        std::fs::create_dir_all(&kept)?;
        for file in [&definitions, &main] {
            std::fs::copy(file, kept.join(file.file_name().unwrap_or_default()))?;
        }
        eprintln!("the program of seed {seed} is kept in {}", kept.display());
    }
    result
}

/// Builds the program in a folder with each mapping, and compares what it says.
fn compare(
    folder: &Path,
    (cases, sources): (&[Case], &[(String, String)]),
    expected: &str,
) -> Result<(), Failed> {
    for mapping in ["identity", "parallel"] {
        let built = folder.join(mapping);
        let mapping_option = format!("--sirius-tc-mapping={mapping}");
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        // With contraction, results would depend on what stands in one expression.
        compiler.args([
            "--sirius-device=cpu",
            "-fmad=false",
            "--sirius-fusion=off",
            &mapping_option,
        ]);
        compiler
            .arg(folder.join("random.tc"))
            .arg(folder.join("main.cu"))
            .arg("-o")
            .arg(&built)
            .env("SIRIUS_STRICT", "1");
        run(&mut compiler)?;
        let said = run(&mut Command::new(&built))?;
        if let Some((found, wanted)) = difference(&said, expected) {
            let name = wanted.split(':').next().unwrap_or_default();
            let source = sources.iter().find(|(known, _)| known == name);
            let source = source.map_or("", |(_, source)| source.as_str());
            let sizes = cases
                .iter()
                .find(|case| case.function.name == name)
                .map(|case| &case.sizes);
            return Err(format!(
                "{mapping}, sizes {sizes:?}:\n{source}\nfound  {found}\nwanted {wanted}"
            )
            .into());
        }
    }
    Ok(())
}

/// The first definition whose results differ: what was found, and what the interpreter says.
fn difference(said: &str, expected: &str) -> Option<(String, String)> {
    let parts = |text: &str| -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for line in text.lines() {
            match (line.contains(':'), parts.last_mut()) {
                (false, Some(last)) => {
                    last.push('\n');
                    last.push_str(line);
                }
                _ => parts.push(line.to_owned()),
            }
        }
        parts
    };
    let (said, expected) = (parts(said), parts(expected));
    let numbers = |text: &str| -> Vec<String> {
        text.split_whitespace()
            .map(|word| word.parse().map_or(word.to_owned(), shown))
            .collect()
    };
    if said.len() != expected.len() {
        return Some((
            format!("{} definitions", said.len()),
            format!("{}", expected.len()),
        ));
    }
    let mut pairs = said.into_iter().zip(expected);
    pairs.find(|(said, expected)| numbers(said) != numbers(expected))
}

/// A number in one way of writing; both zeros are one.
fn shown(value: f64) -> String {
    match value {
        value if value.is_nan() => "nan".to_owned(),
        0.0 => "0".to_owned(),
        value => format!("{value:e}"),
    }
}
