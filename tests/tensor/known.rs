//! Options that are known for some sizes: found by a search or written by hand, taken by builds, and harmless where they are stale.

use super::run;
use libtest_mimic::Failed;
use std::path::Path;
use std::process::{Command, Output};

const NET: &str = "def tmm(float(M,K) A, float(N,K) B) -> (C) {\n  C(m,n) +=! A(m,k) * B(n,k)\n}\n\
                   def twice(float(4) A) -> (B) {\n  B(i) = A(i) * 2\n}\n";

/// Two products, of which one has the sizes that are known.
const MAIN: &str = r#"
#include "net.tc.h"
#include <cstdio>
int main()
{
    float a[33 * 20], b[40 * 20], c[33 * 40], *A, *B, *C;
    for (int i = 0; i < 33 * 20; ++i)
        a[i] = i % 7;
    for (int i = 0; i < 40 * 20; ++i)
        b[i] = i % 5;
    cudaMalloc((void **)&A, sizeof a);
    cudaMalloc((void **)&B, sizeof b);
    cudaMalloc((void **)&C, sizeof c);
    cudaMemcpy(A, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(B, b, sizeof b, cudaMemcpyHostToDevice);
    for (int rows : {33, 32}) {
        tmm(0, rows, 20, 40, A, B, C);
        cudaMemcpy(c, C, sizeof c, cudaMemcpyDeviceToHost);
        for (int m = 0; m < rows; ++m)
            for (int n = 0; n < 40; ++n) {
                float sum = 0;
                for (int k = 0; k < 20; ++k)
                    sum += a[m * 20 + k] * b[n * 20 + k];
                if (c[m * 40 + n] != sum)
                    return printf("FAIL %d %d: %g, not %g\n", m, n, c[m * 40 + n], sum);
            }
    }
    printf("PASS\n");
}
"#;

/// What is known stands in a file or in the cache; only right entries change what is made, and the results stay.
pub fn check() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("net.tc"), NET)?;
    std::fs::write(place("main.cu"), MAIN)?;
    let made = |arguments: &[&str]| {
        run(compiler(folder.path())
            .args(["tc", "net.tc"])
            .args(arguments))
    };
    let general = made(&[])?;
    // What a search finds is kept in the cache, and taken from there.
    let sizes = "--tune=M=33,K=20,N=40";
    let found = made(&[sizes, "--emit=options"])?;
    if std::fs::read_to_string(place("cache/tuned.json"))? != found {
        return Err(format!("the cache has another file than {found}").into());
    }
    expect(
        &made(&[])?,
        &[("if (M == 33 && K == 20 && N == 40) {", true)],
    )?;
    if made(&["--sirius-tc-known=off"])? != general {
        return Err("'off' takes what is known".into());
    }
    // A file by hand: of two entries for the same sizes the last one counts, and stages and shared memory are options as well.
    let by_hand = |entry: &str, options: &str| -> Result<String, Failed> {
        let mut known: serde_json::Value = serde_json::from_str(&found)?;
        let entries = known["entries"].as_array_mut().ok_or("there are entries")?;
        let mut own = entries
            .iter()
            .find(|own| own["name"] == entry)
            .ok_or("it is there")?
            .clone();
        own["options"] = serde_json::from_str(options)?;
        entries.push(own);
        std::fs::write(place("known.json"), known.to_string())?;
        Ok(known.to_string())
    };
    by_hand(
        "tmm",
        r#"["--sirius-tc-mapping=tiled", "--sirius-tc-tile=16,32,4", "--sirius-tc-shared=off"]"#,
    )?;
    let known = "--sirius-tc-known=known.json";
    let schedule = made(&[known, "--emit=schedule"])?;
    expect(&schedule, &[("where M = 33, K = 20, N = 40:", true)])?;
    run(compiler(folder.path()).args([
        "net.tc",
        "main.cu",
        known,
        "--sirius-tc-emit=shown",
        "-o",
        "app",
    ]))?;
    let shown = std::fs::read_to_string(place("shown/net.tc.cu"))?;
    let tile = "A block computes 16 m x 32 n, and takes 4 k at a time.";
    expect(
        &shown,
        &[(tile, true), ("if (M == 33 && K == 20 && N == 40) {", true)],
    )?;
    expect(&run(&mut Command::new(place("app")))?, &[("PASS", true)])?;
    // A file that is named is there.
    let named = [
        "-c",
        "net.tc",
        "--sirius-tc-known=none.json",
        "-o",
        "none.o",
    ];
    let missing = compiler(folder.path()).args(named).output()?;
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    if missing.status.success() || !said.contains("none.json: No such file or directory") {
        return Err(format!("{}: {said}", missing.status).into());
    }
    // What is asked for by hand counts more.
    let tiled = made(&[known, "--sirius-tc-mapping=tiled"])?;
    expect(&tiled, &[("M == 33", false)])?;
    // A definition without sizes has one version.
    by_hand("twice", r#"["--sirius-tc-mapping=identity"]"#)?;
    let twice = made(&[known])?;
    expect(
        &twice,
        &[
            ("twice_kernel0<<<1, 1, 0, stream>>>", true),
            ("twice_kernel1", false),
        ],
    )?;
    // An entry may have the text of a template; one that is wrong is none.
    let with_template = |lines: &str| -> Result<(), Failed> {
        by_hand("tmm", r#"["--sirius-tc-mapping=stitched"]"#)?;
        let mut text: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(place("known.json"))?)?;
        let last = text["entries"]
            .as_array_mut()
            .and_then(|all| all.last_mut());
        last.ok_or("there are entries")?["template"] = serde_json::from_str(lines)?;
        Ok(std::fs::write(place("known.json"), text.to_string())?)
    };
    with_template(
        r#"["template tmm {", "  kernel row 2 threads 8 rows 32 {", "    C: warp", "  }", "}"]"#,
    )?;
    let lanes = made(&[known])?;
    expect(&lanes, &[("threadIdx.x % 8;", true), ("M == 33", true)])?;
    with_template(r#"["template tmm { kernel elements { D: thread } }"]"#)?;
    let stale = compiler(folder.path())
        .args(["tc", "net.tc", known])
        .output()?;
    expect(
        &String::from_utf8_lossy(&stale.stderr),
        &[("the entry of 'tmm': its template: ", true)],
    )?;
    // What is not understood, what is of other definitions, and a file that is none change nothing.
    let text = by_hand("tmm", r#"["--sirius-tc-tile=1,2,3"]"#)?;
    let stale = compiler(folder.path())
        .args(["tc", "net.tc", known])
        .output()?;
    let said = String::from_utf8_lossy(&stale.stderr).into_owned();
    expect(
        &said,
        &[(
            "the entry of 'tmm': '--sirius-tc-tile=1,2,3': it takes three numbers",
            true,
        )],
    )?;
    std::fs::write(
        place("known.json"),
        text.replace("\"key\":\"", "\"key\":\"0"),
    )?;
    same(&made(&[known])?, &general)?;
    std::fs::write(place("cache/tuned.json"), "{")?;
    let damaged = compiler(folder.path()).args(["tc", "net.tc"]).output()?;
    same(&String::from_utf8_lossy(&damaged.stdout), &general)?;
    is_refused(&damaged, "this is no file of known options", true)?;
    std::fs::write(place("known.json"), "{")?;
    let refused = compiler(folder.path())
        .args(["tc", "net.tc", known])
        .output()?;
    is_refused(&refused, "this is no file of known options", false)
}

fn compiler(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sirius-rs"));
    command
        .current_dir(folder)
        .env("SIRIUS_DEVICE", "cpu")
        .env("SIRIUS_CACHE", folder.join("cache"));
    command
}

fn expect(text: &str, parts: &[(&str, bool)]) -> Result<(), Failed> {
    match parts
        .iter()
        .find(|(part, is_there)| text.contains(part) != *is_there)
    {
        None => Ok(()),
        Some((part, true)) => Err(format!("there is no '{part}' in {text}").into()),
        Some((part, false)) => Err(format!("there is '{part}' in {text}").into()),
    }
}

fn same(found: &str, wanted: &str) -> Result<(), Failed> {
    match found == wanted {
        true => Ok(()),
        false => Err(format!("it is {found}").into()),
    }
}

fn is_refused(output: &Output, message: &str, succeeds: bool) -> Result<(), Failed> {
    let said = String::from_utf8_lossy(&output.stderr);
    match said.contains(message) && output.status.success() == succeeds {
        true => Ok(()),
        false => Err(format!("{}: {said}", output.status).into()),
    }
}
