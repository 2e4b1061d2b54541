//! What the CPU device counts of kernels that are made, beside kernels by hand for the same.
//!
//! The table of `docs/tensor.md` has the figures; `SIRIUS_BLESS=1` rewrites it.

use super::quick_link::QUICK_LINK;
use super::run;
use libtest_mimic::Failed;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What is counted, as `by_hand_…` and `counted_…` name it, and how the page names it.
const ROWS: &[(&str, &str)] = &[
    ("small_tmm", "tmm, 128 x 32 x 256"),
    ("tmm", "tmm, 128 x 1024 x 1024"),
    ("sgemm", "sgemm, 128 x 128 x 256"),
    ("htmm", "tmm of halves, 128 x 1024 x 1024"),
    ("tbmm", "tbmm, 20 of 500 x 72 x 26 x 26"),
    ("gconv", "gconv, 1 of 32 x 32 x 16 x 16 x 14 x 14"),
    ("softmax", "softmax, 16 x 1024"),
    ("layer_norm", "layer norm, 16 x 1024"),
    ("2lut", "2LUT, 128 x 50 x 64 twice"),
    ("mlp3", "MLP3, 128 x 128 x 64 x 32 x 2"),
];

/// How much more than by hand there may be: instructions, bytes of device memory and of shared memory.
const LIMITS: [f64; 3] = [1.10, 1.10, 1.25];

/// The figures of one side.
#[derive(Clone, Copy, Default)]
struct Counts {
    launches: u64,
    figures: [u64; 3],
}

/// Counts, and compares with the limits.
///
/// # Errors
/// A row is beyond them, or a program fails.
pub fn check() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let statistics = statistics("test_programs/tensor/counted")?;
    let (mut table, mut beyond) = (String::new(), String::new());
    for (name, title) in ROWS {
        let made = of_kernels(&statistics, |kernel| {
            kernel.starts_with(&format!("counted_{name}_kernel"))
        });
        let by_hand = of_kernels(&statistics, |kernel| kernel == format!("by_hand_{name}"));
        if made.launches != 1 || by_hand.launches != 1 {
            let _ = writeln!(beyond, "{name} has {} launches", made.launches);
        }
        // Writing to a string cannot fail, here and below.
        let _ = write!(table, "| {title} |");
        for ((made, by_hand), limit) in made.figures.iter().zip(by_hand.figures).zip(LIMITS) {
            let _ = write!(table, " {} | {} |", grouped(*made), grouped(by_hand));
            if *made as f64 > by_hand as f64 * limit {
                let _ = writeln!(beyond, "{name}: {made} and by hand {by_hand}");
            }
        }
        table.push('\n');
    }
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        bless(&root.join("docs/tensor.md"), &table)?;
    }
    match beyond.is_empty() {
        true => Ok(()),
        false => Err(format!("{beyond}\n{table}").into()),
    }
}

/// Short rows are those of warps: no barriers, nothing in shared memory, and far fewer instructions than a block a row has.
///
/// # Errors
/// A kernel has more, or a program fails.
pub fn short_rows() -> Result<(), Failed> {
    let statistics = statistics("tests/tensor/short_rows")?;
    let kernels = [
        ("short_softmax_kernel0", 8_000_000, 2_097_152),
        ("short_layer_norm_kernel0", 10_000_000, 4_194_304),
    ];
    for (name, instructions, bytes) in kernels {
        let found = of_kernels(&statistics, |kernel| kernel == name);
        let barriers = statistics["kernels"].as_array().into_iter().flatten();
        let barriers: u64 = barriers
            .filter_map(|kernel| kernel["barriers"].as_u64())
            .sum();
        let [found_instructions, global, shared] = found.figures;
        let is_right = found.launches == 1
            && barriers == 0
            && found_instructions <= instructions
            && global == bytes
            && shared == 0;
        if !is_right {
            return Err(format!("{name}: {statistics}").into());
        }
    }
    Ok(())
}

/// Several products are one launch in tiles, which reads what they share once for a tile.
///
/// # Errors
/// A definition has more launches, or touches or computes more.
pub fn products() -> Result<(), Failed> {
    let statistics = statistics("tests/tensor/products")?;
    for (name, instructions, bytes) in PRODUCTS {
        let found = of_kernels(&statistics, |kernel| kernel.starts_with(name));
        let [found_instructions, global, _] = found.figures;
        if found.launches != 1 || found_instructions > *instructions || global > *bytes {
            return Err(format!("{name}: {:?} {}", found.figures, found.launches).into());
        }
    }
    Ok(())
}

/// Sums in pieces are made where elements are few and terms are many, as the definition or the call says; not where terms keep
/// their order.
///
/// # Errors
/// A definition has other launches, or a result is beyond the bound.
pub fn pieces() -> Result<(), Failed> {
    let statistics = statistics("tests/tensor/pieces")?;
    // Kernels of all calls, in the order of their numbers.
    let wanted: [(&str, &[u64]); 6] = [
        ("pieces_whole", &[1, 1]),
        ("pieces_columns", &[1, 1, 1]),
        ("pieces_product", &[1, 1]),
        ("pieces_over_time", &[1, 3, 3]),
        ("pieces_of_tiles", &[1, 1]),
        ("pieces_triangle", &[1]),
    ];
    for (name, launches) in wanted {
        for (number, wanted) in launches.iter().enumerate() {
            let kernel = format!("{name}_kernel{number}");
            let found = of_kernels(&statistics, |known| known == kernel).launches;
            if found != *wanted {
                return Err(format!("{kernel} has {found} launches\n{statistics}").into());
            }
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tensor");
    let made = |options: &[&str]| {
        let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
        compiler.current_dir(&folder).args(["tc", "pieces.tc"]);
        run(compiler.arg("--sirius-tc-known=off").args(options))
    };
    let text = made(&[])?;
    let holds =
        text.contains("if (M <= 2048 && N >= 8192) {") && !text.contains("pieces_many_kernel2");
    if !holds {
        return Err(text.into());
    }
    for (options, pieces) in [
        (vec!["--sirius-tc-split=off"], false),
        (vec!["--sirius-tc-mapping=tiled"], false),
        // Those of the largest element alone.
        (vec!["--sirius-tc-reductions=ordered"], true),
    ] {
        let text = made(&options)?;
        let sums = text.contains("float *tc_pieces");
        let columns = text.contains("N >= 8192");
        if sums != pieces || columns {
            return Err(format!("{options:?} {sums} {columns}: {text}").into());
        }
    }
    Ok(())
}

/// By name: instructions and bytes of device memory at most.
const PRODUCTS: &[(&str, u64, u64)] = &[
    ("several_qkv", 5_100_000, 458_752),
    ("several_gates", 5_200_000, 458_752),
    ("several_step", 1_000_000, 200_000),
];

/// The sum over all kernels of such a name.
fn of_kernels(statistics: &Value, is_it: impl Fn(&str) -> bool) -> Counts {
    let mut sum = Counts::default();
    for kernel in statistics["kernels"].as_array().into_iter().flatten() {
        if !is_it(kernel["name"].as_str().unwrap_or_default()) {
            continue;
        }
        let of = |field: &str| kernel[field].as_u64().unwrap_or_default();
        let bytes =
            |space: &str| of(&format!("{space}_load_bytes")) + of(&format!("{space}_store_bytes"));
        let figures = [of("instructions"), bytes("global"), bytes("shared")];
        sum.launches += of("launches");
        for (sum, figure) in sum.figures.iter_mut().zip(figures) {
            *sum += figure;
        }
    }
    sum
}

/// A number with commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Writes the table of the page anew.
fn bless(page: &Path, table: &str) -> Result<(), Failed> {
    let text = std::fs::read_to_string(page)?;
    let head = "|---|---|---|---|---|---|---|\n";
    let start = text.find(head).ok_or("the page has a table")? + head.len();
    let end = text[start..]
        .find("\n\n")
        .map_or(text.len(), |end| start + end + 1);
    std::fs::write(page, format!("{}{table}{}", &text[..start], &text[end..]))?;
    Ok(())
}

/// What is counted in a run of the `.tc` and the `.cu` of a name.
fn statistics(name: &str) -> Result<Value, Failed> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    let mut compiler = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    compiler
        .args(["--sirius-device=cpu", "--sirius-fusion=off", "-arch=sm_80"])
        .arg("--sirius-tc-known=off")
        .arg(program.with_extension("tc"))
        .arg(program.with_extension("cu"))
        .args(QUICK_LINK)
        .arg("-o")
        .arg(place("counted"))
        .env("SIRIUS_STRICT", "1");
    let output = compiler.output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    // Among them would be exchanges between lanes that the compiler sees in rows of symbolic lengths.
    if !output.status.success() || said.contains("warning: ") {
        return Err(format!("{}: {said}", output.status).into());
    }
    counted_run(&place("counted"), &place("counted.json"))
}

/// What is counted in a run of a program.
fn counted_run(program: &Path, place: &Path) -> Result<Value, Failed> {
    run(Command::new(program).env("SIRIUS_STATS", place))?;
    let statistics = std::fs::read_to_string(place)?;
    Ok(serde_json::from_str(&statistics)?)
}

/// Whether a run of a program executes as many launches of definitions as `name number, …` says.
///
/// # Errors
/// One has another count.
pub fn launches(program: &Path, place: &Path, said: &str) -> Result<(), Failed> {
    let statistics = counted_run(program, place)?;
    for each in said.split(", ") {
        let (name, number) = each.split_once(' ').ok_or("it says no number")?;
        let kernels = format!("{name}_kernel");
        let found = of_kernels(&statistics, |kernel| kernel.starts_with(&kernels)).launches;
        if found != number.parse::<u64>()? {
            return Err(format!("{name} has {found} launches, not {number}").into());
        }
    }
    Ok(())
}
