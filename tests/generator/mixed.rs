//! Chains of launches over the rows of a matrix that have little in common but the elements: other block
//! sizes, planes, grids that are too small, blocks that work on whole rows, blocks from the last on; on
//! streams and with lengths of rows of which only the run knows whether they are the same.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// The kernels, for every type. Rows are mostly whole multiples of 16 elements, and all elements whole blocks of
/// 256; `out` and `in` are the same pointer or apart where not said otherwise.
pub const KERNELS: &str = r#"
template <typename T> __global__ void on_line(T *out, const T *in, int n, int columns, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i], scale, (T)1);
}

template <typename T> __global__ void on_line_by_place(T *out, const T *in, int n, int columns, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i], scale, (T)(i % columns + 5 * blockIdx.x + threadIdx.x + gridDim.x));
}

template <typename T> __global__ void on_line_by_steps(T *out, const T *in, int n, int columns, T scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = mad(in[i], scale, (T)2);
}

template <typename T> __global__ void on_line_by_long_steps(T *out, const T *in, int n, int columns, T scale) {
    const size_t step = (size_t)gridDim.x * blockDim.x, end = n;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < end; i += step) {
        if (i % 5 == 0) {
            out[i] = mad(in[i], (T)2, (T)(i % 11));
            continue;
        }
        out[i] = mad(in[i], scale, (T)3);
    }
}

template <typename T> __global__ void on_line_while(T *out, const T *in, int n, int columns, T scale) {
    unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
    while (i < (unsigned)n) {
        T sum = in[i];
        for (int k = 0; k < 3; ++k) sum = mad(sum, scale, (T)(i % 7 + k));
        out[i] = sum;
        i += blockDim.x * gridDim.x;
    }
}

// A thread hands its last element on.
template <typename T> __global__ void on_line_handed_on(T *out, const T *in, int n, int columns, T scale) {
    T last = (T)1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        last = mad(in[i], scale, last);
        out[i] = last;
    }
}

// The pointers are apart.
template <typename T> __global__ void on_line_of_next(T *out, const T *in, int n, int columns, T scale) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = mad(in[i], scale, i + 1 < n ? in[i + 1] : (T)5);
}

template <typename T> __global__ void on_plane(T *out, const T *in, int n, int columns, T scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < columns && row < n / columns)
        out[row * columns + column] = mad(in[row * columns + column], scale, (T)3);
}

template <typename T> __global__ void on_plane_by_columns(T *out, const T *in, int n, int columns, T scale) {
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= (unsigned)columns) return;
    if ((int)row >= n / columns) return;
    out[row * columns + column] = mad(in[row * columns + column], scale, (T)(row % 7));
}

// Blocks of 16 by 16.
template <typename T> __global__ void on_tile(T *out, const T *in, int n, int columns, T scale) {
    __shared__ T tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    bool inside = column < columns && row < n / columns;
    tile[threadIdx.y][threadIdx.x] = inside ? in[row * columns + column] : (T)0;
    __syncthreads();
    if (inside) out[row * columns + column] = mad(tile[threadIdx.y][15 - threadIdx.x], scale, tile[threadIdx.y][threadIdx.x]);
}

// Rows are `columns` apart and at most as long.
template <typename T> __global__ void on_pitched(T *out, const T *in, int length, int columns, T scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < length) out[row * columns + column] = mad(in[row * columns + column], scale, (T)column);
}

template <typename T> __global__ void on_row(T *out, const T *in, int n, int columns, T scale) {
    __shared__ T first;
    if (threadIdx.x == 0) first = in[blockIdx.x * columns];
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        out[blockIdx.x * columns + j] = mad(first, scale, in[blockIdx.x * columns + j]);
}

template <typename T> __global__ void on_four_rows(T *out, const T *in, int n, int columns, T scale) {
    __shared__ T first[4];
    int row = blockIdx.x * 4 + threadIdx.y;
    if (threadIdx.x == 0) first[threadIdx.y] = in[row * columns];
    __syncthreads();
    for (int j = threadIdx.x; j < columns; j += blockDim.x)
        out[row * columns + j] = mad(first[threadIdx.y], scale, in[row * columns + j]);
}

// The pointers are apart.
template <typename T> __global__ void sum_of_row(T *out, const T *in, int n, int columns, T scale) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n / columns) return;
    T sum = (T)0;
    for (int j = lane; j < columns; j += 32) sum = mad(in[row * columns + j], scale, sum);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum = mad(sum, (T)1, __shfl_xor_sync(0xffffffffu, sum, lanes));
    for (int j = lane; j < columns; j += 32) out[row * columns + j] = mad(in[row * columns + j], scale, sum);
}

// So are they.
template <typename T> __global__ void on_last_block(T *out, const T *in, int n, int columns, T scale) {
    int block = gridDim.x - 1 - blockIdx.x;
    out[block * blockDim.x + threadIdx.x] = mad(in[blockIdx.x * blockDim.x + threadIdx.x], scale, (T)blockIdx.x);
}
"#;

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote.
    pub fn mixed(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let qualifier = self.pick(&["const ", ""]);
        let ragged = self.chance(0.4);
        let columns = match ragged {
            true => self.pick(&["37", "64", "20 + (int)(mix >> 5 & 31)"]),
            false => self.pick(&["32", "48", "64", "64", "16 * (1 + (int)(mix >> 5 & 3))"]),
        };
        let rows = match ragged {
            true => self.pick(&["21", "32", "9 + (int)(mix >> 11 & 15)"]),
            false => self.pick(&["16", "32", "48", "16 * (1 + (int)(mix >> 7 & 1))"]),
        };
        let _ = writeln!(
            text,
            "    {qualifier}int columns = {columns}, rows = {rows}, all = rows * columns;"
        );
        // Another length of rows that the run makes the same or not.
        let told = self.chance(0.25);
        if told {
            text.push_str("    int told = mix >> 9 & 1 ? columns : 16;\n    (void)told;\n");
        }
        // Only the run knows whether two streams are one. The CPU device does what it is asked in order, so that
        // launches on two that depend on each other have one result there.
        let streams = self.chance(0.4);
        if streams {
            text.push_str(
                "    cudaStream_t one, two;\n    cudaStreamCreate(&one);\n    cudaStreamCreate(&two);\n\
                 \x20   if (orders_streams || mix >> 10 & 1) two = one;\n",
            );
        }
        // Most launches have blocks of one size, so that grids that cover a part only are met too.
        let usual = self.pick(&["64", "128", "256"]);
        let alike = self.chance(if streams { 0.8 } else { 0.2 });
        let around = self.chance(0.2);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
            scene.depth += 1;
            scene.loops += 1;
        }
        let places: Vec<usize> = (0..scene.pointers.len()).collect();
        let mut input = self.pick(&places);
        for _ in 0..self.pick(&[2, 3, 3, 4, 4, 5, 6]) {
            if self.chance(0.08) {
                self.between(text, scene);
            }
            if self.chance(0.1) {
                input = self.pick(&places);
            }
            let kind = match alike {
                true => self.pick(&[0, 0, 1, 2]),
                false if ragged => self.pick(&[0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 8, 8, 9, 10, 10, 4]),
                false => self.pick(&[0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 6, 7]),
            };
            let steps = self.pick(&[
                "on_line_by_steps",
                "on_line_by_steps",
                "on_line_by_long_steps",
                "on_line_while",
                "on_line_handed_on",
                "on_line_of_next",
            ]);
            let mut output = self.pick(&places);
            let is_apart = matches!(kind, 6 | 7 | 9) || kind == 2 && steps == "on_line_of_next";
            while is_apart && output == input {
                output = self.pick(&places);
            }
            let length = match told && self.chance(0.5) {
                true => "told",
                false => "columns",
            };
            let threads = match alike || self.chance(0.5) {
                true => usual,
                false => self.pick(&["32", "64", "96", "128", "256", "256"]),
            };
            let count = self.pick(&["all", "all", "all", "all / 2", "all - columns"]);
            let line = format!("({count} + {threads} - 1) / {threads}, {threads}");
            let (name, configuration) = match kind {
                0 => ("on_line", line),
                1 => ("on_line_by_place", line),
                2 => {
                    let blocks = self.pick(&["1", "2", "5", "rows"]);
                    (steps, format!("{blocks}, {threads}"))
                }
                3 => {
                    let (x, y) = self.pick(&[(16, 16), (32, 8), (8, 8), (64, 1), (16, 4)]);
                    let grid = format!("dim3(({length} + {x} - 1) / {x}, (rows + {y} - 1) / {y})");
                    ("on_plane", format!("{grid}, dim3({x}, {y})"))
                }
                4 => ("on_row", format!("rows, {threads}")),
                5 => ("on_four_rows", "rows / 4, dim3(32, 4)".to_owned()),
                6 => ("sum_of_row", format!("rows / 4, {}", 128)),
                8 => {
                    let (x, y) = self.pick(&[(16, 16), (8, 32), (8, 8), (1, 64)]);
                    let grid = format!("dim3((rows + {x} - 1) / {x}, ({length} + {y} - 1) / {y})");
                    ("on_plane_by_columns", format!("{grid}, dim3({x}, {y})"))
                }
                9 => {
                    let grid = format!("dim3(({length} + 15) / 16, (rows + 15) / 16)");
                    ("on_tile", format!("{grid}, dim3(16, 16)"))
                }
                10 => {
                    let (x, y) = self.pick(&[(16, 16), (16, 16), (32, 8)]);
                    let grid = format!("dim3((columns + {x} - 1) / {x}, (rows + {y} - 1) / {y})");
                    ("on_pitched", format!("{grid}, dim3({x}, {y})"))
                }
                _ => ("on_last_block", "all / 256, 256".to_owned()),
            };
            let stream = match streams {
                true => self.pick(&[", 0, one", ", 0, one", ", 0, two"]),
                false => "",
            };
            let count = match kind {
                0..=2 => count,
                10 => self.pick(&["columns - 3", "columns - 3", "columns"]),
                _ => "all",
            };
            let length = if kind == 10 { "columns" } else { length };
            let (out, of) = (&scene.pointers[output], &scene.pointers[input]);
            let _ = writeln!(
                text,
                "    {name}<{element}><<<{configuration}{stream}>>>({out}, {of}, {count}, {length}, ({element})3);"
            );
            scene.last = Some(output);
            input = output;
        }
        if around {
            text.push_str("    }\n");
            scene.depth -= 1;
            scene.loops -= 1;
        }
        scene.budget = 0;
    }
}
