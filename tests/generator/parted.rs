//! Chains of launches over parts of one allocation, of which some are only read: threads read behind barriers in
//! loops what others of their block write in another part, and pointers to all of them are computed from where the
//! first begins.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// Kernels, for every type. `way` is apart from `out` and `in` wherever threads meet.
pub const KERNELS: &str = r#"
template <typename T> __global__ void part_own(T *way, T *out, const T *in, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) way[i] = mad(in[i], (T)by, (T)1);
}

template <typename T> __global__ void part_both(T *way, T *out, const T *in, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T value = in[i];
    way[i] = mad(value, (T)by, (T)2);
    out[i] = mad(value, (T)3, way[i]);
}

// Each round a thread takes what its neighbour has.
template <typename T> __global__ void part_rounds(T *way, T *out, const T *in, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool is_last = threadIdx.x + 1 == blockDim.x || i + 1 >= n;
    T sum = (T)0;
    for (int round = 0; round < 4; ++round) {
        T next = is_last ? (T)by : way[i + 1];
        __syncthreads();
        if (i < n) way[i] = mad(next, (T)2, (T)round);
        __syncthreads();
        sum = mad(next, (T)1, sum);
    }
    if (i < n) out[i] = sum;
}

// Each adds what was so far before it.
template <typename T> __global__ void part_sums(T *way, T *out, const T *in, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int far = 1; far < blockDim.x; far *= 2) {
        T before = threadIdx.x >= far && i < n ? way[i - far] : (T)0;
        __syncthreads();
        if (i < n) way[i] = mad(before, (T)1, way[i]);
        __syncthreads();
    }
    if (i < n) out[i] = mad(way[i], (T)by, in[i]);
}

// The same element of what is only read is asked for anew each round.
template <typename T> __global__ void part_mirror(T *way, T *out, const T *in, int n, int by) {
    int first = blockIdx.x * blockDim.x, i = first + threadIdx.x, j = first + (blockDim.x - 1 - threadIdx.x);
    for (int round = 0; round < by; ++round) {
        T other = j < n ? way[j] : in[first];
        __syncthreads();
        if (i < n) way[i] = mad(other, (T)2, in[i]);
        __syncthreads();
    }
    if (i < n) out[i] = j < n ? mad(way[j], (T)3, way[i]) : way[i];
}
"#;

/// Elements of a part; a launch has no more.
const PART: usize = 1024;

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote.
    pub fn parted(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let part = match self.chance(0.7) {
            true => PART.to_string(),
            false => "distance".to_owned(),
        };
        let _ = writeln!(
            text,
            "    {element} *whole = make<{element}>(5);\n\
             \x20   int distance = {PART} - 32 * (int)(mix >> 6 & 3), each = n < 900 ? n : 900;"
        );
        let place = |number: usize| match number {
            0 => "whole".to_owned(),
            _ => format!("whole + {number} * {part}"),
        };
        // What stands first is mostly not written.
        let writable: &[usize] = match self.chance(0.75) {
            true => &[1, 2, 3, 4],
            false => &[0, 1, 2, 3],
        };
        let threads = self.pick(&["32", "64", "128", "128", "256"]);
        let around = self.chance(0.3);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
        }
        let mut input = self.pick(&[0, 0, 0, 1, 2]);
        for number in 0..self.pick(&[2, 2, 3, 4]) {
            let way = self.pick(writable);
            let (kernel, way, read) = match number == 0 || self.chance(0.3) {
                true => (self.pick(&["part_own", "part_both"]), way, input),
                // What is changed behind barriers was mostly written just now.
                false => {
                    let kernel = self.pick(&["part_rounds", "part_sums", "part_mirror"]);
                    let way = match writable.contains(&input) && self.chance(0.8) {
                        true => input,
                        false => way,
                    };
                    (kernel, way, self.pick(&[0, 0, 1, 2, 3]))
                }
            };
            // No thread may meet another in parts that lie on each other.
            let meet = read == way && !["part_own", "part_both"].contains(&kernel);
            let read = if meet { 5 } else { read };
            let mut out = self.pick(writable);
            while out == way || out == read {
                out = self.pick(&[1, 2, 3, 4, 6]);
            }
            let by = self.pick(&["2", "3", "repeat"]);
            let _ = writeln!(
                text,
                "    {kernel}<{element}><<<(each + {threads} - 1) / {threads}, {threads}>>>({}, {}, {}, each, {by});",
                place(way),
                place(out),
                place(read)
            );
            if self.chance(0.1) {
                let _ = writeln!(
                    text,
                    "    cudaMemset({}, 0, each > 0 ? each * sizeof({element}) : 0);",
                    place(self.pick(writable))
                );
            }
            input = match kernel {
                "part_own" | "part_both" => way,
                _ => self.pick(&[way, out]),
            };
        }
        if around {
            text.push_str("    }\n");
        }
        let _ = writeln!(
            text,
            "    show<{element}>(\"case {} whole\", whole);\n    cudaFree(whole);",
            self.number
        );
        scene.budget = 0;
    }
}
