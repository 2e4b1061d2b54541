//! The table of instructions in `docs/ptx.md`: of each instruction of the PTX manual, whether it is read, runs and is
//! tested.
//!
//! `tests/ptx/instructions.txt` has a line `NAMES | PTX` for each, and `| programs` behind it where test programs test it.
//! It is read where a kernel with this PTX becomes LLVM IR, and runs where the compiled kernel does not name it as what the
//! CPU device lacks. Cases test it where some have an instruction of the same name on numbers of the same kind.

use crate::folder::{build, compiler};
use libtest_mimic::Failed;
use sirius_rs::ptx;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

struct Row<'a> {
    section: &'a str,
    names: &'a str,
    body: &'a str,
    in_programs: bool,
}

/// Checks the page, or writes it with `SIRIUS_BLESS=1`.
pub fn check(root: &Path) -> Result<(), Failed> {
    let listed = std::fs::read_to_string(root.join("tests/ptx/instructions.txt"))?;
    let rows = rows(&listed);
    let mut kernels = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let text = kernel(index, row.body);
        let made = ptx::parse(&format!("{HEAD}{text}"))
            .and_then(|module| ptx::device_module(&module, "instructions.ptx"));
        kernels.push((text, made.ok().map(|made| made.text)));
    }
    let lacking = lacking(&kernels)?;
    let tested = tested(&root.join("tests/ptx/cases"))?;
    let mut table = String::new();
    let mut section = "";
    let mut counts = [0; 3];
    for (row, (_, made)) in rows.iter().zip(&kernels) {
        if row.section != section {
            section = row.section;
            let _ = write!(
                table,
                "\n**{section}**\n\n| instructions | read | run | tested |\n|---|---|---|---|\n"
            );
        }
        let runs = made.as_ref().is_some_and(|made| {
            !lacking.iter().any(|what| {
                made.contains(&format!("\"{what}\"")) || made.contains(&format!("@{what}("))
            })
        });
        let keys = keys(row.body);
        let has_case = keys.iter().any(|key| tested.contains(key));
        let how = match (runs, has_case, row.in_programs) {
            (false, ..) => "",
            (_, true, true) => "cases, programs",
            (_, true, false) => "cases",
            (_, false, true) => "programs",
            _ => "",
        };
        let yes = |is: bool| if is { "yes" } else { "no" };
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {how} |",
            row.names.replace(", ", "` `"),
            yes(made.is_some()),
            yes(runs)
        );
        for (count, is) in counts
            .iter_mut()
            .zip([made.is_some(), runs, !how.is_empty()])
        {
            *count += u32::from(is);
        }
    }
    let [read, run, tested] = counts;
    let table = format!(
        "Of {} lines {read} are read, {run} run, and {tested} are tested.\n{table}",
        rows.len()
    );
    compare(&root.join("docs/ptx.md"), &table)
}

fn rows(listed: &str) -> Vec<Row<'_>> {
    let mut section = "";
    let mut rows = Vec::new();
    for line in listed.lines() {
        if let Some(name) = line.strip_prefix("# ") {
            section = name;
        } else if let Some((names, body)) = line.split_once(" | ") {
            let (body, in_programs) = match body.strip_suffix(" | programs") {
                Some(body) => (body, true),
                None => (body, false),
            };
            rows.push(Row {
                section,
                names,
                body,
                in_programs,
            });
        }
    }
    rows
}

const HEAD: &str = ".version 9.0\n.target sm_100a\n.address_size 64\n\
    .visible .global .align 128 .b8 words[1024];\n\
    .func (.param .b32 r) twice(.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, %x; \
    st.param.b32 [r], %x; ret; }\n";

/// Registers of a kernel: type, name, how many, and where in memory they come from and go to.
const REGISTERS: [(&str, &str, u32, u32); 5] = [
    ("b32", "%r", 8, 0),
    ("b64", "%d", 4, 32),
    ("b16", "%h", 4, 64),
    ("f32", "%f", 8, 72),
    ("f64", "%g", 4, 104),
];

/// A kernel with these statements, whose registers come from memory and go there.
fn kernel(index: usize, body: &str) -> String {
    let call = "{ .param .b32 x; .param .b32 y; st.param.b32 [y], %r1; call.uni (x), twice, (y); ld.param.b32 %r0, [x]; }";
    let body = body.replace("call.uni (%r0), twice, (%r1);", call);
    let mut text = format!(
        ".visible .entry k{index}(.param .u64 p) {{\n.shared .align 128 .b8 bytes[1024]; .shared .align 8 .b64 barrier;\n\
         .reg .b64 %in; .reg .pred %p<3>; .reg .b128 %q<2>;\nld.param.u64 %in, [p];\n"
    );
    let mut stores = String::new();
    for (ty, name, count, from) in REGISTERS {
        let bytes: u32 = ty[1..].parse::<u32>().unwrap_or(0) / 8;
        let _ = writeln!(text, ".reg .{ty} {name}<{count}>;");
        for number in 0..count {
            let place = from + number * bytes;
            let _ = writeln!(text, "ld.global.{ty} {name}{number}, [%in+{place}];");
            let _ = writeln!(stores, "st.global.{ty} [%in+{place}], {name}{number};");
        }
    }
    for number in 0..3 {
        let _ = writeln!(text, "setp.ne.b32 %p{number}, %r{number}, 0;");
        let place = 136 + 4 * number;
        let _ = writeln!(
            stores,
            "selp.b32 %r0, 1, 0, %p{number}; st.global.b32 [%in+{place}], %r0;"
        );
    }
    let _ = write!(
        text,
        "mov.b128 %q1, {{%d1, %d2}};\n{body}\n{stores}mov.b128 {{%d0, %d1}}, %q0; st.global.b64 [%in+152], %d0;\nret;\n}}\n"
    );
    text
}

/// What the compiled kernels name as lacking: instructions as inline assembly has them, and functions of LLVM's.
fn lacking(kernels: &[(String, Option<String>)]) -> Result<BTreeSet<String>, Failed> {
    let place = tempfile::tempdir()?;
    let source = place.path().join("instructions.ptx");
    let product = place.path().join("instructions.cubin");
    let mut text = HEAD.to_owned();
    for (kernel, made) in kernels {
        if made.is_some() {
            text.push_str(kernel);
        }
    }
    std::fs::write(&source, text)?;
    let mut command = compiler();
    command
        .args(["--sirius-device=cpu", "-cubin"])
        .arg(&source)
        .arg("-o")
        .arg(&product);
    build(&mut command)?;
    let bytes = std::fs::read(&product)?;
    let text = String::from_utf8_lossy(&bytes);
    let after = |start: &str, end: char| {
        let parts: Vec<&str> = text.split(start).skip(1).collect();
        let named = parts
            .into_iter()
            .filter_map(move |part| part.split(end).next());
        named.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let mut all = after("inline PTX `", '`');
    all.extend(
        after("\0llvm.nvvm.", '\0')
            .into_iter()
            .map(|name| format!("llvm.nvvm.{name}")),
    );
    Ok(all)
}

/// Name and kind of numbers of each instruction in a text.
fn keys(text: &str) -> BTreeSet<(String, char)> {
    let statements = text.split([';', '\n', '{']);
    statements
        .filter_map(|statement| {
            let statement = statement.trim();
            let statement = match statement.strip_prefix('@') {
                Some(guarded) => guarded.split_once(' ')?.1,
                None => statement,
            };
            let opcode = statement.split(' ').next()?;
            let (family, rest) = opcode.split_once('.').unwrap_or((opcode, ""));
            let known =
                !family.is_empty() && family.bytes().all(|byte| byte.is_ascii_alphanumeric());
            let ty = rest.rsplit('.').next().unwrap_or("");
            let kind = match ty {
                "f16" | "f16x2" | "bf16" | "bf16x2" => 'h',
                ty if ty.starts_with('f') => 'f',
                _ if rest.starts_with("async") => 'a',
                _ if rest.starts_with("cluster") => 'c',
                _ => 'i',
            };
            known.then(|| (family.to_owned(), kind))
        })
        .collect()
}

fn tested(cases: &Path) -> Result<BTreeSet<(String, char)>, Failed> {
    let mut all = BTreeSet::new();
    for entry in std::fs::read_dir(cases)? {
        all.extend(keys(&std::fs::read_to_string(entry?.path())?));
    }
    Ok(all)
}

fn compare(page: &Path, table: &str) -> Result<(), Failed> {
    let (begin, end) = ("<!-- instructions -->\n", "<!-- end of instructions -->");
    let text = std::fs::read_to_string(page)?;
    let (before, rest) = text
        .split_once(begin)
        .ok_or("the page has no place for the table")?;
    let (found, after) = rest
        .split_once(end)
        .ok_or("the page does not end the table")?;
    if std::env::var_os("SIRIUS_BLESS").is_some() {
        std::fs::write(page, format!("{before}{begin}{table}{end}{after}"))?;
        return Ok(());
    }
    match found == table {
        true => Ok(()),
        false => Err(format!("docs/ptx.md has another table than this one:\n{table}").into()),
    }
}
