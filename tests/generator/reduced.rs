//! Sums in two launches: many blocks make partial sums, and one block, or two, adds them; elementwise launches stand before and
//! behind, and other things between the two.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// Kernels, for every type.
pub const KERNELS: &str = r#"
template <typename T> __global__ void red_map(T *out, const T *in, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(in[i], (T)by, (T)1);
}

template <typename T> __device__ T red_tree(T own) {
    __shared__ T part[256];
    part[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] = mad(part[threadIdx.x + half], (T)1, part[threadIdx.x]);
    }
    return threadIdx.x ? (T)0 : part[0];
}

template <typename T> __global__ void red_block(T *sums, const T *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T all = red_tree<T>(i < n ? in[i] : (T)0);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

// What it adds it makes, too, and threads beyond the end leave.
template <typename T> __global__ void red_own(T *sums, T *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    in[i] = mad(in[i], (T)3, (T)1);
    if (i % 64 == 0) sums[i / 64] = in[i];
}

template <typename T> __global__ void red_last(const T *__restrict__ sums, T *all, int count) {
    T own = (T)0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) own = mad(sums[i], (T)1, own);
    T found = red_tree<T>(own);
    if (threadIdx.x == 0) all[blockIdx.x] = found;
}

template <typename T> __global__ void red_cached(const T *sums, T *all, int count) {
    if (threadIdx.x != 0) return;
    T own = (T)0;
    for (int i = 0; i < count; ++i) own = mad(__ldg(sums + i), (T)2, own);
    all[blockIdx.x] = own;
}

// It writes over what the blocks have read.
template <typename T> __global__ void red_over(T *sums, T *all, int count, T *in, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) in[i] = mad(in[i], (T)2, sums[i % (count > 0 ? count : 1)]);
    if (threadIdx.x == 0) all[blockIdx.x] = (T)count;
}

template <typename T> __global__ void red_spread(T *out, const T *all, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(*all, (T)2, out[i]);
}
"#;

impl Case<'_> {
    /// Launches of these kernels.
    pub fn reduced(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let _ = writeln!(
            text,
            "    {element} *sums = make<{element}>(5), *all = make<{element}>(6);\n\
             \x20   int each = n < 1200 ? n : 1200, wide = 32 << (mix >> 4 & 3), stray = 32 << (mix >> 6 & 3);\n\
             \x20   int few = 1 + (mix >> 9 & 1);\n\
             \x20   (void)wide, (void)stray, (void)few;"
        );
        let threads = self.pick(&["32", "64", "128", "128", "256", "wide"]);
        let around = self.chance(0.4);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
        }
        let grid = format!("(each + {threads} - 1) / {threads}");
        let rounds = self.pick(&[1, 1, 2]);
        for round in 0..rounds {
            let input = self.pick_name(&scene.pointers);
            let other = self.pick_name(&scene.pointers);
            if self.chance(0.4) && input != other {
                let by = self.pick(&["2", "5", "repeat"]);
                let _ = writeln!(
                    text,
                    "    red_map<{element}><<<{grid}, {threads}>>>({input}, {other}, each, {by});"
                );
            }
            let own = self.chance(0.3);
            let (kernel, count) = match own {
                true => ("red_own", "(each + 63) / 64".to_owned()),
                false => ("red_block", grid.clone()),
            };
            let _ = writeln!(
                text,
                "    {kernel}<{element}><<<{grid}, {threads}>>>(sums, {input}, each);"
            );
            let between = match self.chance(0.2) {
                false => String::new(),
                true => match self.pick(&[0, 1, 2, 3]) {
                    0 => format!("    red_map<{element}><<<4, 64>>>(sums, sums, 200, 3);\n"),
                    1 => format!("    cudaMemset(sums + 1, 0, 2 * sizeof({element}));\n"),
                    2 => format!(
                        "    show<{element}>(\"case {} sums\", sums);\n",
                        self.number
                    ),
                    _ => "    cudaDeviceSynchronize();\n".to_owned(),
                },
            };
            text.push_str(&between);
            // Of some only the run knows how many they are.
            let blocks = self.pick(&["1", "1", "1", "few", "few", "2"]);
            let waits = self.pick(&[threads, threads, threads, "32", "256", "stray"]);
            let alone = self.pick(&["1", threads, "32", "stray"]);
            let place = format!("all + {}", 2 * round);
            // The host need not come to it.
            if self.chance(0.15) {
                text.push_str("    if (mix >> 10 & 1)\n");
            }
            let _ = match self.pick(&[0, 0, 0, 1, 1, 2]) {
                0 => writeln!(
                    text,
                    "    red_last<{element}><<<{blocks}, {waits}>>>(sums, {place}, {count});"
                ),
                1 => writeln!(
                    text,
                    "    red_cached<{element}><<<{blocks}, {alone}>>>(sums, {place}, {count});"
                ),
                _ => writeln!(
                    text,
                    "    red_over<{element}><<<1, {threads}>>>(sums, {place}, {count}, {input}, each);"
                ),
            };
            if self.chance(0.4) {
                let _ = writeln!(
                    text,
                    "    red_spread<{element}><<<{grid}, {threads}>>>({other}, {place}, each);"
                );
            }
        }
        if around {
            text.push_str("    }\n");
        }
        let _ = writeln!(
            text,
            "    show<{element}>(\"case {number} sums\", sums);\n    show<{element}>(\"case {number} all\", all);\n\
             \x20   cudaFree(sums);\n    cudaFree(all);",
            number = self.number
        );
        scene.budget = 0;
    }
}
