//! One block in front of many, each of which needs all that it made: sums, norms, tables and single numbers, of lengths that the
//! run may make too long, by blocks of equal and of other sizes, in place or not; and what looks like it but is not: parts that
//! nobody stores, a second block, results that are read as they were before. What needs it may be one of several launches.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// The kernels, for every type. Where nothing else is said, `out` and `in` are apart.
pub const KERNELS: &str = r#"
// A norm; in place, too.
template <typename T> __global__ void first_norm(T *out, const T *in, int n, int count, T scale) {
    __shared__ T part[256];
    T own = (T)0, all = (T)0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own = mad(in[i], scale, own);
    part[threadIdx.x] = own;
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) all = mad(part[k], (T)1, all);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = mad(in[i], scale, all);
}

// A single number.
template <typename T> __global__ void first_number(T *out, const T *in, int n, int count, T scale) {
    T all = (T)0;
    for (int i = 0; i < n; ++i) all = mad(in[i], scale, all);
    if (threadIdx.x == 0) out[0] = all;
}

// An element for each thread, of which there may be too few.
template <typename T> __global__ void first_table(T *out, const T *in, int n, int count, T scale) {
    if (threadIdx.x < n) out[threadIdx.x] = mad(in[threadIdx.x], scale, (T)2);
}

// By steps that may leave something out.
template <typename T> __global__ void first_steps(T *out, const T *in, int n, int count, T scale) {
    for (int i = threadIdx.x; i < n; i += 128) out[i] = mad(in[i], scale, (T)4);
}

// Not all elements.
template <typename T> __global__ void first_some(T *out, const T *in, int n, int count, T scale) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (i % 3 != 1) out[i] = mad(in[i], scale, (T)5);
}

// Each thread takes all of them.
template <typename T> __global__ void then_all(T *out, const T *in, int n, int count, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T all = (T)i;
    for (int k = 0; k < count; ++k) all = mad(in[k], scale, all);
    out[i] = all;
}

// The lanes of a warp do.
template <typename T> __global__ void then_warps(T *out, const T *in, int n, int count, T scale) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    T all = (T)row;
    for (int k = lane; k < count; k += 32) all = mad(in[k], scale, all);
    for (int far = 16; far > 0; far /= 2) all = mad(__shfl_xor_sync(0xffffffffu, all, far), (T)1, all);
    if (lane == 0) out[row] = all;
}

// The threads of a block do.
template <typename T> __global__ void then_blocks(T *out, const T *in, int n, int count, T scale) {
    __shared__ T part[256];
    T own = (T)blockIdx.x, all = (T)0;
    for (int k = threadIdx.x; k < count; k += blockDim.x) own = mad(in[k], scale, own);
    part[threadIdx.x] = own;
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) all = mad(part[k], (T)1, all);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(all, (T)threadIdx.x, (T)1);
}

// The one that belongs to it.
template <typename T> __global__ void then_one(T *out, const T *in, int n, int count, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i % count], scale, (T)i);
}
"#;

impl Case<'_> {
    /// Pairs of these launches.
    pub fn repeated(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let count = self.pick(&[
            "64",
            "100",
            "40 + (int)(mix >> 5 & 127)",
            "1 + (int)(mix >> 4 & 255)",
        ]);
        let rows = self.pick(&["300", "777", "100 + (int)(mix >> 9 & 511)"]);
        let _ = writeln!(text, "    int count = {count}, rows = {rows};");
        for _ in 0..self.pick(&[1, 2, 2, 3]) {
            let places: Vec<usize> = (0..scene.pointers.len()).collect();
            let input = self.pick(&places);
            let (first, in_place) = self.pick(&[
                ("first_norm", true),
                ("first_norm", true),
                ("first_norm", true),
                ("first_number", false),
                ("first_table", false),
                ("first_steps", false),
                ("first_some", false),
            ]);
            let mut made = self.pick(&places);
            while made == input && !(in_place && self.chance(0.3)) {
                made = self.pick(&places);
            }
            let usual = self.pick(&["64", "128", "256"]);
            let own = self.pick(&[usual, usual, "256", "96"]);
            let blocks = match made == input {
                true => "1",
                false => self.pick(&["1", "1", "1", "1", "1 + (int)(mix >> 12 & 1)"]),
            };
            let source = &scene.pointers[input];
            let to = &scene.pointers[made];
            let _ = writeln!(
                text,
                "    {first}<{element}><<<{blocks}, {own}>>>({to}, {source}, count, count, ({element})3);"
            );
            if self.chance(0.1) {
                self.between(text, scene);
            }
            if self.chance(0.3) {
                // One of several, or none.
                let by = self.pick(&["mix >> 3", "mix >> 7", "mix >> 14"]);
                let _ = writeln!(text, "    switch ({by} & 3) {{");
                for label in ["case 0", "case 1", "default"] {
                    if label == "default" && self.chance(0.5) {
                        continue;
                    }
                    let _ = writeln!(text, "    {label}: {{");
                    if self.chance(0.1) {
                        self.between(text, scene);
                    }
                    self.second(text, scene, (made, usual));
                    let _ = writeln!(text, "        break;\n    }}");
                }
                let _ = writeln!(text, "    }}");
            } else {
                self.second(text, scene, (made, usual));
            }
        }
        scene.budget = 0;
    }

    /// A launch that needs what one before it made, or looks so.
    fn second(&mut self, text: &mut String, scene: &mut Scene, (made, usual): (usize, &str)) {
        let element = self.element;
        let places: Vec<usize> = (0..scene.pointers.len()).collect();
        // Mostly what was made.
        let read = match self.chance(0.9) {
            true => made,
            false => self.pick(&places),
        };
        let mut output = self.pick(&places);
        while output == read {
            output = self.pick(&places);
        }
        let then = self.pick(&[
            "then_all",
            "then_warps",
            "then_warps",
            "then_blocks",
            "then_one",
        ]);
        let threads = self.pick(&[usual, usual, "32", "64"]);
        let taken = self.pick(&["count", "count", "count", "count", "1", "(count + 1) / 2"]);
        let grid = match then {
            "then_warps" => format!("(rows * 32 + {threads} - 1) / {threads}"),
            _ => format!("(rows + {threads} - 1) / {threads}"),
        };
        let (from, to) = (&scene.pointers[read], &scene.pointers[output]);
        let _ = writeln!(
            text,
            "    {then}<{element}><<<{grid}, {threads}>>>({to}, {from}, rows, {taken}, ({element})2);"
        );
        scene.last = Some(output);
    }
}
