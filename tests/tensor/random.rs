//! Random definitions, many in one program: the interpreter and all mappings make the same.

use super::host::{Call, Case, program};
use super::once::Known;
use super::quick_link::QUICK_LINK;
use super::{STRATEGIES, generator, interpreter, run, templates};
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::seq::IndexedMutRandom;
use rand::{Rng, SeedableRng};
use sirius_rs::tensor::mapping::{Mapping, Scatter};
use sirius_rs::tensor::polyhedral::Strategy;
use sirius_rs::tensor::program::{Function, SymbolKind};
use sirius_rs::tensor::split::Split;
use sirius_rs::tensor::stitch::template::Teams;
use sirius_rs::tensor::transform::{SharedMemory, TensorCores, TileSizes};
use sirius_rs::tensor::versions::Choice;
use sirius_rs::tensor::{Options, check as definitions, translate, translate_versions};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// The space of what isl's scheduler makes, with a mapping and a strategy that are drawn.
const SCHEDULED: &str = "scheduled";

/// What is compared. Inputs are halves, so that sums are exact and reordered ones equal, too. With the last one,
/// asynchronous copies are made as late as they may be; the CPU device makes them at once. It is a version for the sizes
/// of the call alone.
const MAPPINGS: &[(Mapping, &str)] = &[
    (Mapping::Identity, "identity"),
    (Mapping::Parallel, "parallel"),
    (Mapping::Tiled, "tiled"),
    (Mapping::Auto, "automatic"),
    (Mapping::Parallel, SCHEDULED),
    (Mapping::Stitched, "stitched"),
    (Mapping::Stitched, BY_TEMPLATE),
    (Mapping::Auto, LATE),
    (Mapping::Auto, PIECES),
];

/// The one of them in which templates are changed at random.
const BY_TEMPLATE: &str = "by_template";
/// The one of them whose asynchronous copies are made late.
const LATE: &str = "late";

/// The one of them whose sums are made in pieces.
const PIECES: &str = "pieces";

/// Copies that a thread asks for, and that are made where it waits for them.
const LATE_COPIES: &str = r"
struct Late {
    void *to[256];
    const void *from[256];
    int bytes[256], ends[4], count = 0, groups = 0;
    static __device__ void make(void *to, const void *from, int bytes)
    {
        for (int i = 0; i < bytes; i += 2)
            reinterpret_cast<short *>(to)[i / 2] = reinterpret_cast<const short *>(from)[i / 2];
    }
    __device__ void copy(void *a, const void *b, int n)
    {
        if (count == 256)
            return make(a, b, n);
        to[count] = a;
        from[count] = b;
        bytes[count++] = n;
    }
    __device__ void commit() { ends[groups++] = count; }
    __device__ void wait(int left)
    {
        const int done = groups > left ? groups - left : 0, end = done ? ends[done - 1] : 0;
        for (int i = 0; i < end; ++i)
            make(to[i], from[i], bytes[i]);
        for (int i = end; i < count; ++i) {
            to[i - end] = to[i];
            from[i - end] = from[i];
            bytes[i - end] = bytes[i];
        }
        for (int i = done; i < groups; ++i)
            ends[i - done] = ends[i] - end;
        count -= end;
        groups -= done;
    }
};
";

/// The same source with such copies.
fn with_late_copies(source: &str) -> String {
    let fetch = "const auto tc_fetch";
    source
        .replace(fetch, &format!("Late tc_late;\n{fetch}"))
        .replace("__pipeline_memcpy_async(", "tc_late.copy(")
        .replace("__pipeline_commit()", "tc_late.commit()")
        .replace("__pipeline_wait_prior(", "tc_late.wait(")
}

/// Definitions of one program.
const DEFINITIONS: u64 = 16;

/// The seeds to run: each gives a program.
pub fn seeds() -> std::ops::Range<u64> {
    let given = std::env::var("SIRIUS_FUZZ_SEEDS").ok();
    let range = given.as_deref().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    range.unwrap_or(0..1)
}

/// How the program of a seed is built. To look for what fuses in all launches together takes longer than all else, and next to
/// that LLVM takes longest to optimise: one program of eight is fused, and one is optimised besides.
fn options(seed: u64) -> &'static [&'static str] {
    match seed % 8 {
        0 => &["--sirius-fusion=all"],
        4 => &["--sirius-fusion=off"],
        _ => &["--sirius-fusion=off", "--Ofast-compile=max", "-O0"],
    }
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
            .filter(|symbol| symbol.kind == SymbolKind::Size);
        let count = sizes.count();
        // Sizes that the launcher takes, if there are small ones.
        let case = (0..50).find_map(|_| {
            let mut sizes: Vec<i64> = (0..count).map(|_| random.random_range(0..6)).collect();
            // One that is longer than a tile.
            if let Some(size) = sizes.choose_mut(&mut random).filter(|_| number % 2 == 1) {
                *size = [17, 33, 40, 66][(number / 2 % 4) as usize];
            }
            let case = Case {
                function: function.clone(),
                sizes,
            };
            case.is_accepted().then_some(case)
        });
        let Some(case) = case else { continue };
        // Half of the definitions say their sizes, of which tiles then know.
        let given = (number % 4 >= 2).then(|| with_sizes(&source, &case, &name));
        let (source, case) = given.flatten().unwrap_or((source, case));
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
    let main = folder.path().join("main.cu");
    std::fs::write(&main, whole_program(seed * DEFINITIONS, &sources, &cases)?)?;
    // Every second program is one for tensor cores of all types, and asynchronous copies; of those that fuse, too.
    let architecture = ["-arch=sm_75", "-arch=sm_80"][((seed + seed / 8) % 2) as usize];
    let options = options(seed);
    let result = compare(
        folder.path(),
        (&cases, &sources),
        (&expected, architecture, options),
    );
    if result.is_err() || std::env::var_os("SIRIUS_FUZZ_KEEP").is_some() {
        let kept = std::env::temp_dir().join(format!("sirius_tensor_{seed}"));
        std::fs::create_dir_all(&kept)?;
        std::fs::write(kept.join("random.tc"), &text)?;
        std::fs::copy(&main, kept.join("main.cu"))?;
        eprintln!("the program of seed {seed} is kept in {}", kept.display());
    }
    result
}

/// The definition with numbers for its sizes, where that is one.
fn with_sizes(source: &str, case: &Case, name: &str) -> Option<(String, Case)> {
    let symbols = case.function.symbols.iter();
    let sizes = symbols.filter(|symbol| symbol.kind == SymbolKind::Size);
    let sizes: Vec<(&str, i64)> = sizes
        .map(|symbol| symbol.name.as_str())
        .zip(case.sizes.iter().copied())
        .collect();
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut text = String::new();
    let mut rest = source;
    while let Some(start) = rest.find(is_name) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|byte| !is_name(byte)).unwrap_or(word.len());
        let (word, behind) = word.split_at(end);
        text += before;
        match sizes.iter().find(|(known, _)| *known == word) {
            Some((_, number)) => text += &number.to_string(),
            None => text += word,
        }
        rest = behind;
    }
    text += rest;
    let functions = definitions(&text).ok()?;
    let function = functions.into_iter().find(|known| known.name == name)?;
    let case = Case {
        function,
        sizes: Vec::new(),
    };
    case.is_accepted().then_some((text, case))
}

/// All mappings of the definitions in one source, each in a namespace of its own. Where several mappings make the same of a
/// definition, it stands there once, and they call it by one name.
fn whole_program(
    seed: u64,
    sources: &[(String, String)],
    cases: &[Case],
) -> Result<String, Failed> {
    let mut text = String::from("#include <cuda_runtime.h>\n");
    text += "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_pipeline.h>\n#include <mma.h>\n";
    text += "#include <cstdio>\n#include <cstdlib>\n";
    text += LATE_COPIES;
    let mut calls: Vec<Vec<Call>> = sources.iter().map(|_| Vec::new()).collect();
    let mut known = Known::default();
    for (mapping, name) in MAPPINGS {
        for (number, (function, source)) in sources.iter().enumerate() {
            // Small tiles have more whole ones.
            let sizes = ["64,64,4", "16,32,4", "16,16,8"][number % 3];
            // Tiles of what has no size to be given are of its own numbers.
            let tile = match cases[number].sizes.is_empty() {
                true => None,
                false => Some(TileSizes::parse(sizes)?),
            };
            let mut random = StdRng::seed_from_u64(source.len() as u64);
            let drawn = random.random_range(0..6);
            let (mapping, fusion) = match *name == SCHEDULED {
                // Loops that are shared show only where nothing else knows better.
                true => (
                    [mapping, &Mapping::Tiled, mapping, &Mapping::Auto][drawn % 4],
                    STRATEGIES[1 + drawn % 3].0,
                ),
                false => (mapping, Strategy::Auto),
            };
            let options = Options {
                mapping: *mapping,
                fusion,
                // Sums are exact, so that the order of atomic operations shows nowhere.
                scatter: match *name {
                    "parallel" | SCHEDULED => Scatter::Atomic,
                    _ => Scatter::Ordered,
                },
                tile,
                stages: match *name {
                    LATE => Some([2, 3][number / 3 % 2]),
                    "tiled" => Some([1, 2, 3][number / 3 % 3]),
                    _ => None,
                },
                tensor_cores: match (*name, number % 4) {
                    (LATE, 0) => TensorCores::Off,
                    _ => TensorCores::On,
                },
                shared: match *name {
                    "tiled" | SCHEDULED | "automatic" if random.random_bool(0.4) => {
                        SharedMemory::Off
                    }
                    _ => SharedMemory::On,
                },
                split: match *name {
                    PIECES => Split::Pieces(random.random_range(1..5)),
                    _ => Split::Auto,
                },
                teams: match *name {
                    "stitched" => Teams::NAMES[random.random_range(0..Teams::NAMES.len())].1,
                    _ => Teams::Any,
                },
                ..Options::default()
            };
            let choice = |_: &Function| Choice {
                general: Options::default().into(),
                known: vec![(cases[number].sizes.clone(), options.into())],
            };
            let made = match *name {
                BY_TEMPLATE => templates::at_random(source, options, seed + number as u64),
                LATE => translate_versions("random.tc", source, &mut { choice }, &[]).ok(),
                _ => translate("random.tc", source, options).ok(),
            };
            let made = made.ok_or("what is accepted is translated")?;
            // Rows are read by four, however short they are.
            let source = made.source.replace(" >= 512;", " >= 4;");
            let source = match *name {
                LATE => with_late_copies(&source),
                _ => source,
            };
            let lines = source.lines();
            let lines: Vec<&str> = lines.filter(|line| !line.starts_with("#include")).collect();
            let made = lines.join("\n");
            if let Some(known) = calls[number].iter_mut().find(|known| known.made == made) {
                known.mappings.push(name);
                continue;
            }
            let namespace = format!("{name}_{function}");
            let own = known.once(&namespace, &made);
            // Writing to a string cannot fail.
            let _ = writeln!(text, "namespace {namespace} {{\n{own}\n}}");
            calls[number].push(Call {
                made,
                namespace,
                mappings: vec![name],
            });
        }
    }
    text += &program(cases, &calls);
    Ok(text)
}

/// Builds the program in a folder, and compares what it says of each mapping. Nothing races in it.
fn compare(
    folder: &Path,
    (cases, sources): (&[Case], &[(String, String)]),
    (expected, architecture, options): (&str, &str, &[&str]),
) -> Result<(), Failed> {
    let built = folder.join("built");
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    // With contraction, results would depend on what stands in one expression.
    compiler
        .args(["--sirius-device=cpu", "-fmad=false", architecture])
        .args(options)
        .args(QUICK_LINK)
        .arg(folder.join("main.cu"))
        .arg("-o")
        .arg(&built)
        .env("SIRIUS_STRICT", "1");
    run(&mut compiler)?;
    for (_, mapping) in MAPPINGS {
        let program = || Command::new(&built);
        let plain = run(program().arg(mapping))?;
        let watched = run(program().arg(mapping).env("SIRIUS_CHECK", "race"))?;
        let said = [plain, watched];
        let found = said.iter().find_map(|said| difference(said, expected));
        if let Some((found, wanted)) = found {
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
