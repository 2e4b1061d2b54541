//! Random programs of matrices: kernels whose blocks work on tiles, before and behind kernels with a thread for each element, which
//! may look at another element, go by another pitch, or leave some columns out.

use super::PRELUDE;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// Matrices of one program.
const CASES: usize = 6;
/// Elements before and behind each matrix, which kernels that overhang touch.
const MARGIN: usize = 4096;

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x7469_6c65);
    let (mut kernels, mut cases, mut calls) = (String::new(), String::new(), String::new());
    for number in 0..CASES {
        let case = Case::new(&mut random, number);
        let (own, host) = case.write(&mut random);
        kernels.push_str(&own);
        cases.push_str(&host);
        let _ = writeln!(calls, "    case_{number}(rows, width);");
    }
    format!(
        "// Generated matrices, seed {seed}.\n// arguments: 64 96\n// arguments: 45 70\n// arguments: 32 33\n// arguments: 1 1\n\
         #include <cstdio>\n#include <cstdlib>\n{PRELUDE}\n{kernels}\n{cases}\n\
         int main(int argc, char **argv) {{\n    int rows = atoi(argv[1]), width = atoi(argv[2]);\n\
         {calls}    printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n    printf(\"PASS\\n\");\n}}\n"
    )
}

/// The tiles of a case's kernels.
struct Case {
    number: usize,
    /// Rows and columns of a tile.
    tile: [usize; 2],
    /// Threads along rows and along columns.
    threads: [usize; 2],
    /// Rows are along x.
    rows_along_x: bool,
    /// Each access is tested against the matrix.
    tested: bool,
    /// What is written for the number of columns.
    width: &'static str,
}

impl Case {
    fn new(random: &mut StdRng, number: usize) -> Self {
        let one_of = |random: &mut StdRng, of: &[usize]| of.choose(random).copied().unwrap_or(8);
        let threads = [one_of(random, &[4, 8, 16]), one_of(random, &[8, 16])];
        let tile = threads.map(|threads| threads * one_of(random, &[1, 2, 3]));
        Self {
            number,
            tile,
            threads,
            rows_along_x: random.random_bool(0.5),
            tested: random.random_bool(0.6),
            width: if random.random_bool(0.8) {
                "width"
            } else {
                "80"
            },
        }
    }

    /// Kernels and the host function of the case.
    fn write(&self, random: &mut StdRng) -> (String, String) {
        let (mut kernels, mut launches) = (String::new(), String::new());
        let (number, width) = (self.number, self.width);
        let [tile_rows, tile_columns] = self.tile;
        // Whole tiles, or as many as cover the matrix; seldom fewer.
        let down = format!("(rows + {}) / {tile_rows}", tile_rows - 1);
        let across = match random.random_range(0..8) {
            _ if !self.tested => format!("{width} / {tile_columns}"),
            0 => format!("({width} + {}) / {tile_columns} + 1", tile_columns - 1),
            1 => format!("{width} / {tile_columns} + 1"),
            _ => format!("({width} + {}) / {tile_columns}", tile_columns - 1),
        };
        let [grid, block] = [
            [down, across],
            self.threads.map(|threads| threads.to_string()),
        ]
        .map(|[along_rows, along_columns]| match self.rows_along_x {
            true => format!("dim3({along_rows}, {along_columns})"),
            false => format!("dim3({along_columns}, {along_rows})"),
        });
        // Without tests there are whole tiles only.
        let whole = match self.tested {
            true => String::new(),
            false => format!("    if (rows % {tile_rows} || {width} % {tile_columns}) return;\n"),
        };
        let steps = random.random_range(2..=4);
        let tiled_at = random.random_range(0..steps);
        for step in 0..steps {
            let name = format!("step_{number}_{step}");
            let head = format!(
                "__global__ void {name}(float *m, float *o, const float *x, int rows, int width)"
            );
            let is_tiled = step == tiled_at || random.random_bool(0.15);
            let body = match is_tiled {
                true => self.tiled(random),
                false => self.line(random),
            };
            let _ = writeln!(kernels, "{head} {{\n{body}}}\n");
            let _ = match is_tiled {
                true => writeln!(
                    launches,
                    "    {name}<<<{grid}, {block}>>>(m, o, x, rows, width);"
                ),
                false => {
                    let threads = [32, 128, 192].choose(random).copied().unwrap_or(64);
                    let line = format!("(rows * {width} + {}) / {threads}", threads - 1);
                    writeln!(
                        launches,
                        "    {name}<<<{line}, {threads}>>>(m, o, x, rows, width);"
                    )
                }
            };
        }
        let host = format!(
            "static void case_{number}(int rows, int width) {{\n{whole}    int count = (rows + 64) * ({width} + 96) + 2 * {MARGIN};\n\
             \x20   float *all = filled(count, {number}), *others = filled(count, 7), *x = filled(count, 9);\n\
             \x20   float *m = all + {MARGIN}, *o = others + {MARGIN};\n{launches}\
             \x20   show(\"m\", all, count);\n    show(\"o\", others, count);\n\
             \x20   cudaFree(all);\n    cudaFree(others);\n    cudaFree(x);\n}}\n"
        );
        (kernels, host)
    }

    /// What a kernel does whose blocks work on tiles. Two blocks must not touch what one of them writes.
    fn tiled(&self, random: &mut StdRng) -> String {
        let ([rows, columns], [row_threads, column_threads]) = (self.tile, self.threads);
        let [row_axis, column_axis] = if self.rows_along_x {
            ['x', 'y']
        } else {
            ['y', 'x']
        };
        let width = self.width;
        // Tiles that begin later end later, also those of other rows. Where they are larger than blocks are apart, they touch those
        // of others: they only read there.
        let late = match random.random_range(0..8) {
            0 => " + 1",
            _ => "",
        };
        let larger = usize::from(random.random_range(0..8) == 0);
        let apart = larger == 0;
        let (row, column) = match random.random_bool(0.5) {
            // Neighbours belong to one thread, or to the threads of a row.
            true => (
                format!("{row_axis}0 + threadIdx.{row_axis} + {row_threads} * i"),
                format!("{column_axis}0 + threadIdx.{column_axis} + {column_threads} * j{late}"),
            ),
            false => (
                format!(
                    "{row_axis}0 + threadIdx.{row_axis} * {} + i",
                    rows / row_threads
                ),
                format!(
                    "{column_axis}0 + threadIdx.{column_axis} * {} + j{late}",
                    columns / column_threads
                ),
            ),
        };
        let test = match self.tested {
            true => format!("if (r < rows && c < {width}) "),
            false => String::new(),
        };
        let element = format!("r * {width} + c");
        let change = match random.random_range(0..4) {
            0 if apart => format!("m[{element}] = m[{element}] * 0.5f + x[c];"),
            1 if apart => format!("m[{element}] = x[r * 3 + c] + o[{element}];"),
            2 if apart => format!("if (c % 3) m[{element}] = o[{element}] * 2.0f;"),
            _ if apart => format!("m[{element}] = x[{element}] - x[r];"),
            // What is never written is the same in any order.
            0 | 1 => format!("if (m[{element}] > 1.0e9f) o[0] = 1.0f;"),
            _ => format!("if (m[{element}] + o[{element}] > 1.0e9f) m[0] = 1.0f;"),
        };
        format!(
            "    int {row_axis}0 = blockIdx.{row_axis} * {rows}, {column_axis}0 = blockIdx.{column_axis} * {columns};\n\
             \x20   for (int i = 0; i < {}; ++i)\n        for (int j = 0; j < {}; ++j) {{\n\
             \x20           int r = {row}, c = {column};\n            {test}{{ {change} }}\n        }}\n",
            rows / row_threads,
            columns / column_threads + larger,
        )
    }

    /// What a kernel does that has a thread for each element.
    fn line(&self, random: &mut StdRng) -> String {
        let width = self.width;
        let at = match random.random_range(0..10) {
            0 => "i + 1",
            1 => "i - 1",
            2 => "n - 1 - i",
            _ => "i",
        };
        let change = match random.random_range(0..5) {
            0 => format!("o[i] = m[{at}] * 1.5f;"),
            1 => format!("o[i] = m[{at}] + x[i];"),
            2 => String::from("m[i] = m[i] + x[i];"),
            3 => String::from("if (i % 5 != 2) m[i] = o[i] - 1.0f;"),
            _ => String::from("o[i] = o[i] * 0.5f + m[i];"),
        };
        format!(
            "    int i = blockIdx.x * blockDim.x + threadIdx.x, n = rows * {width};\n    if (i < n) {{ {change} }}\n"
        )
    }
}
