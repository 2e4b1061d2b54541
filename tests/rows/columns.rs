//! Random programs of columns: launches in a host loop that each touch some columns of a matrix, beside those of others, over
//! them, or with rows of another length.

use super::PRELUDE;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// Host loops of one program.
const CASES: usize = 5;
/// Iterations of one.
const ITERATIONS: usize = 7;
/// Room for the columns of a row, at the most.
const LONGEST: usize = 48;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x636f_6c75_6d6e);
    let (mut kernels, mut cases, mut calls) = (String::new(), String::new(), String::new());
    for number in 0..CASES {
        let (own, case) = case(&mut random, number);
        kernels.push_str(&own);
        cases.push_str(&case);
        let _ = writeln!(calls, "    case_{number}(rows);");
    }
    format!(
        "// Generated columns, seed {seed}.\n// arguments: 37\n// arguments: 1\n// arguments: 64\n// arguments: 0\n\
         #include <cstdio>\n#include <cstdlib>\n{PRELUDE}\n{kernels}\n{cases}\n\
         int main(int argc, char **argv) {{\n    int rows = atoi(argv[1]);\n\
         {calls}    printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n    printf(\"PASS\\n\");\n}}\n"
    )
}

/// One or two kernels, and a loop that launches them.
fn case(random: &mut StdRng, number: usize) -> (String, String) {
    let (mut kernels, mut launches, mut tables) = (String::new(), String::new(), String::new());
    let several = [LONGEST, LONGEST, 40, 33];
    let pitch = several.choose(random).copied().unwrap_or(LONGEST);
    let width = random.random_range(1..=9);
    for kernel in 0..random.random_range(1..=2) {
        let (body, block) = body(random, pitch);
        let _ = writeln!(
            kernels,
            "__global__ void columns_{number}_{kernel}(float *m, int rows, int width, int pitch, int at, int from, float v) {{\n{body}}}\n"
        );
        let mut rows = String::new();
        for iteration in 0..ITERATIONS {
            // Seldom rows of another length. A launch reads no column that it writes, so that it does not race by itself.
            let pitch = match random.random_bool(0.15) {
                true => pitch - 7,
                false => pitch,
            };
            let most = pitch - width;
            let at = match random.random_range(0..4) {
                0 => random.random_range(0..=most),
                _ => (iteration * 2 + kernel) * width % (most + 1),
            };
            let apart: Vec<usize> = (0..=most)
                .filter(|from| from + width <= at || at + width <= *from)
                .collect();
            let from = apart.choose(random).copied().unwrap_or(at);
            let width = match apart.is_empty() {
                true => 0,
                false => width,
            };
            let _ = write!(rows, "{{{at}, {from}, {width}, {pitch}}}, ");
        }
        let _ = writeln!(tables, "    static const int t{kernel}[][4] = {{{rows}}};");
        let (grid, block) = match block {
            Block::OfRows => ("(rows + 7) / 8", "dim3(16, 8)"),
            Block::OfElements => ("(rows * 9 + 63) / 64", "64"),
        };
        let condition = match random.random_range(0..4) {
            0 => "if (i % 3 != 1) ",
            _ => "",
        };
        let _ = writeln!(
            launches,
            "        {condition}columns_{number}_{kernel}<<<{grid}, {block}>>>\
             (m, rows, t{kernel}[i][2], t{kernel}[i][3], t{kernel}[i][0], t{kernel}[i][1], i + 0.5f);"
        );
    }
    let host = format!(
        "static void case_{number}(int rows) {{\n{tables}    if (!rows) return;\n    int count = (rows + 1) * {LONGEST};\n\
         \x20   float *m = filled(count, {number});\n    for (int i = 0; i < {ITERATIONS}; ++i) {{\n{launches}    }}\n\
         \x20   show(\"m\", m, count);\n    cudaFree(m);\n}}\n"
    );
    (kernels, host)
}

/// How a kernel's threads are launched.
enum Block {
    /// Some rows of 16 threads.
    OfRows,
    /// A thread an element, or a row.
    OfElements,
}

/// What a kernel does.
fn body(random: &mut StdRng, pitch: usize) -> (String, Block) {
    let constant = pitch.to_string();
    let pitch = match random.random_bool(0.2) {
        true => constant.as_str(),
        false => "pitch",
    };
    let element = format!("m[r * {pitch} + at + c]");
    let other = match random.random_range(0..4) {
        0 => format!("m[r * {pitch} + from + width - 1 - c]"),
        1 => format!("m[r * {pitch} + from + c]"),
        2 => format!("{element} * 0.25f"),
        _ => String::from("1.0f"),
    };
    let change = match random.random_range(0..3) {
        0 => format!("{element} = {other} + v;"),
        1 => format!("{element} += {other} * v;"),
        _ => format!("if (c % 2 == 0) {element} = {other} - v;"),
    };
    match random.random_range(0..3) {
        0 => (
            format!(
                "    int c = threadIdx.x, r = blockIdx.x * blockDim.y + threadIdx.y;\n    if (r < rows && c < width) {{ {change} }}\n"
            ),
            Block::OfRows,
        ),
        1 => (
            format!(
                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= rows * width) return;\n\
                 \x20   int c = i % width, r = i / width;\n    {change}\n"
            ),
            Block::OfElements,
        ),
        _ => (
            format!(
                "    int r = blockIdx.x * blockDim.x + threadIdx.x;\n    if (r >= rows) return;\n\
                 \x20   for (int c = 0; c < width; ++c) {{ {change} }}\n"
            ),
            Block::OfElements,
        ),
    }
}
