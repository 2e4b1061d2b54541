//! What the CPU device does not have is named where a thread comes to it, and nowhere else.

use crate::folder::COMPILER;
use libtest_mimic::Failed;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A kernel that goes to the instructions of one row of the table, by the number that it reads.
pub fn check(root: &Path, driver: &Path) -> Result<(), Failed> {
    let listed = std::fs::read_to_string(root.join("tests/ptx/instructions.txt"))?;
    let page = std::fs::read_to_string(root.join("docs/ptx.md"))?;
    let rows: Vec<&str> = listed
        .lines()
        .filter_map(|line| {
            let (names, body) = line.split_once(" | ")?;
            let shown = format!("| `{}` | yes | no |", names.replace(", ", "` `"));
            page.contains(&shown)
                .then(|| body.trim_end_matches(" | programs"))
        })
        .collect();
    for family in ["wgmma", "tcgen05", "multimem", "cp.async.bulk.tensor"] {
        if !rows.iter().any(|body| body.starts_with(family)) {
            return Err(format!("no row that does not run begins with {family}").into());
        }
    }
    let place = tempfile::tempdir()?;
    let file = place.path().join("reached.ptx");
    std::fs::write(&file, kernel(&rows))?;
    for (number, body) in rows.iter().enumerate() {
        let (status, output, errors) = run(driver, &file, number + 1)?;
        let opcode = body.split([' ', ';']).next().unwrap_or(body);
        let lines: Vec<&str> = errors.lines().collect();
        let [line] = lines.as_slice() else {
            return Err(format!("{opcode}: not one line: {errors}").into());
        };
        let says = "sirius: kernel case needs what the CPU device does not have: ";
        if status != Some(1) || !output.is_empty() || !line.starts_with(says) {
            return Err(format!("{opcode}: status {status:?}: {output}{errors}").into());
        }
        if !line.contains(opcode) {
            return Err(format!("{opcode} is not named: {line}").into());
        }
    }
    match run(driver, &file, 0)? {
        (Some(0), output, errors) if output == "00000007\n" && errors.is_empty() => Ok(()),
        other => Err(format!("reaches nothing, and ends with {other:?}").into()),
    }
}

fn run(driver: &Path, file: &Path, input: usize) -> Result<(Option<i32>, String, String), Failed> {
    let ran = Command::new(driver)
        .arg(file)
        .args(["1", "1", "1"])
        .arg(format!("{input:x}"))
        .env("SIRIUS_COMPILER", COMPILER)
        .output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((ran.status.code(), text(&ran.stdout), text(&ran.stderr)))
}

fn kernel(rows: &[&str]) -> String {
    let mut text = ".version 9.0\n.target sm_100a\n.address_size 64\n\
        .visible .global .align 128 .b8 words[1024];\n\
        .visible .entry case(.param .u64 from, .param .u64 to) {\n\
        .shared .align 128 .b8 bytes[1024]; .shared .align 8 .b64 barrier;\n\
        .reg .b64 %in, %out; .reg .pred %p<3>, %go; .reg .b32 %way;\n\
        .reg .b128 %q<2>; .reg .b64 %d<4>; .reg .b32 %r<8>; .reg .b16 %h<4>; .reg .f32 %f<8>; .reg .f64 %g<4>;\n\
        ld.param.u64 %in, [from]; ld.param.u64 %out, [to]; ld.global.u32 %way, [%in];\n"
        .to_owned();
    for (number, body) in rows.iter().enumerate() {
        let way = number + 1;
        let _ = writeln!(
            text,
            "setp.ne.u32 %go, %way, {way};\n@%go bra after{way};\n{{ {body} }}\nafter{way}:"
        );
    }
    text + "st.global.u32 [%out], 7;\nret;\n}\n"
}
