//! Chains of launches over tiles whose blocks, and threads in them, correspond in another arrangement:
//! transposed, from the last on, counted along other axes, with and without barriers inside.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// The kernels, for every type. `wide` and `high` are whole tiles of 16 elements, lines whole blocks of 256.
pub const KERNELS: &str = r#"
template <typename T> __global__ void turn_tiles(T *out, const T *in, int wide, int high, T scale) {
    __shared__ T tile[16][17];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = mad(in[row * wide + column], scale, (T)1);
    __syncthreads();
    column = blockIdx.y * 16 + threadIdx.x;
    row = blockIdx.x * 16 + threadIdx.y;
    out[row * high + column] = tile[threadIdx.x][threadIdx.y];
}

template <typename T> __global__ void turn_plainly(T *out, const T *in, int wide, int high, T scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < wide && row < high) out[column * high + row] = mad(in[row * wide + column], scale, (T)2);
}

template <typename T> __global__ void mix_tile(T *out, const T *in, int wide, int high, T scale) {
    __shared__ T tile[16][16];
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[row * wide + column];
    __syncthreads();
    out[row * wide + column] = mad(tile[15 - threadIdx.y][(threadIdx.x + 3) % 16], scale, in[row * wide + column]);
}

template <typename T> __global__ void each_place(T *out, const T *in, int wide, int high, T scale) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    out[row * wide + column] = mad(in[row * wide + column], scale, (T)(3 * blockIdx.x + blockIdx.y + gridDim.x));
}

template <typename T> __global__ void next_tile(T *out, const T *in, int wide, int high, T scale) {
    int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    out[row * wide + column] = mad(in[row * wide + (column + 16) % wide], scale, in[row * wide + column]);
}

template <typename T> __global__ void line_blocks(T *out, const T *in, int wide, int high, T scale) {
    __shared__ T part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = mad(part[255 - threadIdx.x], scale, part[threadIdx.x]);
}

template <typename T> __global__ void counted_blocks(T *out, const T *in, int wide, int high, T scale) {
    __shared__ T part[256];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int i = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + thread;
    part[thread] = in[i];
    __syncthreads();
    out[i] = mad(part[thread ^ 5], scale, part[thread]);
}

template <typename T> __global__ void from_last(T *out, const T *in, int wide, int high, T scale) {
    int last = gridDim.x - 1;
    out[(last - blockIdx.x) * 256 + threadIdx.x] = mad(in[blockIdx.x * 256 + threadIdx.x], scale, (T)blockIdx.x);
}

template <typename T> __global__ void backwards(T *out, const T *in, int wide, int high, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[wide * high - 1 - i] = mad(in[i], scale, (T)7);
}
"#;

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote; tiles are as many across
    /// and down as a constant or the run says.
    pub fn arranged(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let extents = self.pick(&[["2", "3"], ["4", "4"], ["1", "4"], ["3", "2"]]);
        let extents = match self.chance(0.4) {
            true => ["1 + (int)(mix >> 5 & 3)", "1 + (int)(mix >> 7 & 3)"],
            false => extents,
        };
        let qualifier = self.pick(&["const ", ""]);
        let _ = writeln!(
            text,
            "    {qualifier}int across = {}, down = {};",
            extents[0], extents[1]
        );
        let mut shape = ["across", "down"];
        let mut input = self.random_pointer(scene);
        for _ in 0..self.pick(&[2, 2, 3, 3, 4, 5]) {
            if self.chance(0.1) {
                self.between(text, scene);
            }
            if self.chance(0.1) {
                input = self.random_pointer(scene);
            }
            let mut output = self.random_pointer(scene);
            while output == input {
                output = self.random_pointer(scene);
            }
            let [wide, high] = shape;
            let grid = format!("dim3({wide}, {high})");
            let half = format!("dim3({wide}, 2 * {high})");
            let line = "across * down".to_owned();
            let (tile, flat) = ("dim3(16, 16)", "dim3(16, 8)");
            let (name, grid, block) =
                match self.pick(&[0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 10]) {
                    0 => ("turn_tiles", grid, tile),
                    1 => ("turn_plainly", grid, tile),
                    2 => ("turn_plainly", half, flat),
                    3 => ("each_place", grid, tile),
                    4 => ("each_place", half, flat),
                    5 => ("line_blocks", line, "256"),
                    6 => match self.chance(0.5) {
                        true => ("counted_blocks", grid, tile),
                        false => (
                            "counted_blocks",
                            format!("dim3({high}, {wide})"),
                            "dim3(32, 8)",
                        ),
                    },
                    7 => ("from_last", line, "256"),
                    8 => ("backwards", line, "256"),
                    9 => ("next_tile", grid, tile),
                    _ => ("mix_tile", grid, tile),
                };
            let (out, of) = (&scene.pointers[output], &scene.pointers[input]);
            let _ = writeln!(
                text,
                "    {name}<{element}><<<{grid}, {block}>>>({out}, {of}, 16 * {wide}, 16 * {high}, ({element})3);"
            );
            if name.starts_with("turn") {
                shape.swap(0, 1);
            }
            scene.last = Some(output);
            input = output;
        }
        scene.budget = 0;
    }

    fn random_pointer(&mut self, scene: &Scene) -> usize {
        let pointers: Vec<usize> = (0..scene.pointers.len()).collect();
        self.pick(&pointers)
    }
}
