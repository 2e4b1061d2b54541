//! Random programs of caches: launches that write one row or a few, of which the host knows the number, and others that
//! walk over rows, with rows of equal and of other lengths, and neighbours that may stand in the next row.

use super::PRELUDE;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// Cases of one program.
const CASES: usize = 6;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x6361_6368_6573);
    let (mut kernels, mut cases, mut calls) = (String::new(), String::new(), String::new());
    for number in 0..CASES {
        let (own, case) = case(&mut random, number);
        kernels.push_str(&own);
        cases.push_str(&case);
        let _ = writeln!(calls, "    case_{number}(width, row, rows);");
    }
    format!(
        "// Generated caches, seed {seed}.\n// arguments: 70 1 4\n// arguments: 64 3 3\n// arguments: 1 0 5\n\
         // arguments: 129 2 0\n#include <cstdio>\n#include <cstdlib>\n{PRELUDE}\n{kernels}\n{cases}\n\
         int main(int argc, char **argv) {{\n    int width = atoi(argv[1]), row = atoi(argv[2]), rows = atoi(argv[3]);\n\
         {calls}    printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n    printf(\"PASS\\n\");\n}}\n"
    )
}

/// Two to four kernels and the host function that launches them.
fn case(random: &mut StdRng, number: usize) -> (String, String) {
    let (mut kernels, mut launches) = (String::new(), String::new());
    let threads = *[32, 64].choose(random).unwrap_or(&32);
    for kernel in 0..random.random_range(2..=4) {
        let body = body(random);
        let _ = writeln!(
            kernels,
            "__global__ void cache_{number}_{kernel}(float *cache, const float *in, float *out, int width, int length, \
             int row, int rows) {{\n    int c = blockIdx.x * blockDim.x + threadIdx.x;\n{body}}}\n"
        );
        // Where the cache begins, which row, and how long rows are that this launch reads.
        let cache = one_of(
            random,
            &[
                "cache",
                "cache",
                "cache",
                "cache + row * width",
                "cache + width",
            ],
        );
        let length = one_of(
            random,
            &[
                "width",
                "width",
                "width",
                "width - 1",
                "width + 1",
                "2 * width",
            ],
        );
        let row = one_of(random, &["row", "row", "0", "row + 1", "rows", "2"]);
        let _ = writeln!(
            launches,
            "    cache_{number}_{kernel}<<<(width + {threads} - 1) / {threads}, {threads}>>>\
             ({cache}, in, out, width, {length}, {row}, rows);"
        );
    }
    let host = format!(
        "static void case_{number}(int width, int row, int rows) {{\n    int count = 24 * (width + 2);\n\
         \x20   float *cache = filled(count, {number}), *in = filled(width + 2, 11), *out = filled(width + 2, 12);\n\
         {launches}    show(\"cache\", cache, count);\n    show(\"out\", out, width + 2);\n\
         \x20   float *all[] = {{cache, in, out}};\n    for (float *each : all) cudaFree(each);\n}}\n"
    );
    (kernels, host)
}

fn one_of(random: &mut StdRng, of: &[&'static str]) -> &'static str {
    of.choose(random).copied().unwrap_or_default()
}

/// What a kernel does. Rows that it writes are `width` long and apart, so that no two threads write one place.
fn body(random: &mut StdRng) -> String {
    let value = one_of(random, &["in[c]", "in[c] + row", "out[c] * 0.5f", "1.5f"]);
    let row = one_of(random, &["row", "(row + 1)", "row"]);
    match random.random_range(0..5) {
        0 | 1 => format!("    if (c < width) cache[{row} * width + c] = {value};\n"),
        2 => format!(
            "    if (c < width)\n        for (int r = 0; r < rows; ++r) cache[({row} + r) * width + c] = {value} - r;\n"
        ),
        3 => format!(
            "    if (c < width)\n        for (int r = 0; r < rows; ++r)\n            cache[r * width + c] = \
             cache[r * width + c] * 0.5f + {value};\n"
        ),
        _ => {
            let column = one_of(random, &["c", "c", "c + 1", "(width - 1 - c)"]);
            let from = one_of(random, &["r", "r", "(row + r)", "row"]);
            let length = one_of(random, &["width", "width", "length"]);
            format!(
                "    if (c >= width) return;\n    float sum = {value};\n    for (int r = 0; r < rows; ++r) \
                 sum += cache[{from} * {length} + {column}];\n    out[c] = sum;\n"
            )
        }
    }
}
