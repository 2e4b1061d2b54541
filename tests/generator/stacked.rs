//! Programs of stacks of layers over time: loops over steps and layers whose launches need what the step before and the layer
//! below made, with kernels of several codes, grids and blocks, of which many wait for their batches; and what keeps batches
//! from one launch in some of them.
//!
//! Invariant: no kernel races with itself, and all arithmetic is of whole numbers.

use super::pick;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The text of the program of a seed.
pub fn stacks(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x57_ac4);
    let cases = 4;
    let functions: String = (0..cases)
        .map(|case| Stack::new(&mut random, case).text())
        .collect();
    let calls: String = (0..cases)
        .map(|case| format!("    stack_{case}(n, steps, layers);\n"))
        .collect();
    // Of more than some thousand not all blocks are on the device at once.
    let size = pick(&mut random, &[64, 1024, 9000]);
    let ways = pick(
        &mut random,
        &["grid-barrier", "grid-barrier", "grid-barrier", "all"],
    );
    format!(
        "// A generated program, seed {seed}.\n// built with: --sirius-boundaries={ways}\n\
         // arguments: 512 5 3\n// arguments: 64 1 1\n// arguments: {size} 3 4\n\
         {KERNELS}\n{functions}\n\
         int main(int argc, char **argv) {{\n\
         \x20   int n = argc > 1 ? atoi(argv[1]) : 512, steps = argc > 2 ? atoi(argv[2]) : 4, layers = argc > 3 ? atoi(argv[3]) : 3;\n\
         {calls}\
         \x20   printf(\"%s\\nPASS\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n}}\n"
    )
}

/// What every program begins with. All lengths are multiples of 64.
const KERNELS: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <vector>

__device__ unsigned mixed(unsigned v) { v ^= v >> 15; v *= 0x2c1b3c6du; return v ^ v >> 12; }

__global__ void near(unsigned *out, const unsigned *a, const unsigned *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = mixed(a[i ? i - 1 : n - 1] + 3 * b[i]);
}
__global__ void cached(unsigned *__restrict__ out, const unsigned *__restrict__ a, const unsigned *__restrict__ b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mixed(__ldg(a + (i * 5 + 1) % n) ^ __ldg(b + n - 1 - i)) + gridDim.x;
}
__global__ void summed(unsigned *out, const unsigned *a, const unsigned *b, int n) {
    __shared__ unsigned part[256];
    unsigned own = 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) own = mixed(own + a[i] * (blockIdx.x + 1));
    part[threadIdx.x] = own;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = mixed(part[0] + b[i]);
}
__global__ void plane(unsigned *out, const unsigned *a, const unsigned *b, int n) {
    int i = ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    int all = gridDim.x * gridDim.y * gridDim.z * blockDim.x;
    for (; i < n; i += all) out[i] = mixed(a[n - 1 - i] + b[i / 2] + gridDim.y);
}
struct Factors { unsigned by[4]; int n; };
__global__ void scattered(unsigned *out, const unsigned *a, const unsigned *b, Factors factors) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < factors.n) atomicAdd(out + (i / 3 + 7) % factors.n, mixed(a[i] * factors.by[i % 4] + b[i]));
}
__global__ void turned(unsigned *out, const unsigned *a, const unsigned *b, int n) {
    extern __shared__ unsigned piece[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    piece[threadIdx.x] = i < n ? mixed(a[i] + b[n - 1 - i]) : 0;
    __syncthreads();
    if (i < n) out[i] = piece[blockDim.x - 1 - threadIdx.x];
}
__global__ void lanes(unsigned *out, const unsigned *a, const unsigned *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned own = i < n ? mixed(a[i] + b[(i + 9) % n]) : 0;
    own += __shfl_xor_sync(0xffffffffu, own, 3);
    if (i < n) out[i] = own;
}
static void show(const char *name, const unsigned *v, size_t n) {
    std::vector<unsigned> host(n);
    cudaMemcpy(host.data(), v, n * sizeof(unsigned), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (unsigned each : host) sum = (sum ^ each) * 1099511628211ull;
    printf("%s %llx\n", name, sum);
}
"#;

const WIDTH: usize = 3;

/// A stack over time.
struct Stack<'a> {
    random: &'a mut StdRng,
    case: usize,
    threads: &'static str,
    stream: &'static str,
    /// States of earlier steps are overwritten.
    ring: bool,
}

impl<'a> Stack<'a> {
    fn new(random: &'a mut StdRng, case: usize) -> Self {
        let threads = pick(random, &["32", "64", "64", "128"]);
        let stream = pick(random, &["0", "0", "0", "stream"]);
        let ring = random.random_bool(0.3);
        Self {
            random,
            case,
            threads,
            stream,
            ring,
        }
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    /// A launch that writes this part of a layer's state.
    fn launch(&mut self, part: usize) -> String {
        let kernel = pick(
            self.random,
            &[
                "near",
                "near",
                "cached",
                "cached",
                "summed",
                "plane",
                "scattered",
                "turned",
                "lanes",
            ],
        );
        let threads = match self.chance(0.1) {
            true => "96",
            false => self.threads,
        };
        // Blocks of a sum are a power of two.
        let threads = match (kernel, threads) {
            ("summed", "96") => "64",
            _ => threads,
        };
        let grid = match kernel {
            "summed" => pick(self.random, &["3", "2 + layer", "1"]).to_owned(),
            "plane" => pick(
                self.random,
                &[
                    "dim3(2, 3)",
                    "dim3(1, 2, 1 + step % 3)",
                    "dim3(2, layer, 2)",
                ],
            )
            .to_owned(),
            _ => format!("(n + {threads} - 1) / {threads}"),
        };
        let shared = match kernel {
            "turned" => format!("{threads} * sizeof(unsigned)"),
            _ => "0".to_owned(),
        };
        let read = |random: &mut StdRng| {
            let which = random.random_range(0..4);
            let other = random.random_range(0..WIDTH);
            match which {
                0 | 1 => format!("at(step - 1, layer, {other})"),
                2 => format!("at(step, layer - 1, {other})"),
                _ if part > 0 => format!("at(step, layer, {})", random.random_range(0..part)),
                _ => format!("at(step - 1, layer - 1, {other})"),
            }
        };
        let (a, b) = (read(self.random), read(self.random));
        let count = match kernel {
            "scattered" => "Factors{{1u + layer, 2u * step, 3, 5}, n}",
            _ => "n",
        };
        let stream = self.stream;
        format!(
            "{kernel}<<<{grid}, {threads}, {shared}, {stream}>>>(at(step, layer, {part}), {a}, {b}, {count});"
        )
    }

    /// What stands beside the launches of a layer.
    fn beside(&mut self) -> Option<String> {
        let stream = self.stream;
        match self.random.random_range(0..24) {
            0 => Some(format!("if (step % 2 == layer % 2) {}", self.launch(0))),
            1 => Some("cudaDeviceSynchronize();".to_owned()),
            2 => Some("if (cudaGetLastError() != cudaSuccess) printf(\"an error\\n\");".to_owned()),
            3 => Some(format!(
                "cudaMemsetAsync(at(step, layer, 1), 7, n * sizeof(unsigned), {stream});"
            )),
            4 => Some(
                "if (layer == 2) { unsigned seen; cudaMemcpy(&seen, at(step, layer, 0), 4, cudaMemcpyDeviceToHost); printf(\"%u\\n\", seen); }"
                    .to_owned(),
            ),
            5 => Some("{ std::vector<int> own(step + layer); if (own.size() > 1000) return; }".to_owned()),
            _ => None,
        }
    }

    fn text(mut self) -> String {
        let case = self.case;
        let mut layers = String::new();
        let parts = self.random.random_range(1..=WIDTH);
        for part in 0..parts {
            if let Some(beside) = self.beside() {
                let _ = writeln!(layers, "            {beside}");
            }
            let launch = self.launch(part);
            let _ = writeln!(layers, "            {launch}");
        }
        let written = match self.ring {
            true => "step % 2",
            false => "step",
        };
        let behind = match self.chance(0.2) {
            true => format!("        {}\n", self.launch(0).replace("layer", "1")),
            false => String::new(),
        };
        let capture = self.stream != "0"
            && self.chance(0.3)
            && !layers.contains("cudaM")
            && !layers.contains("cudaDeviceS");
        let (begin, end) = match capture {
            true => (
                "    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n",
                "    cudaGraph_t graph; cudaGraphExec_t executable;\n    cudaStreamEndCapture(stream, &graph);\n\
                 \x20   cudaGraphInstantiate(&executable, graph, 0);\n    cudaGraphLaunch(executable, stream);\n\
                 \x20   cudaGraphLaunch(executable, stream);\n",
            ),
            false => ("", ""),
        };
        format!(
            "static void stack_{case}(int n, int steps, int layers) {{\n\
             \x20   cudaStream_t stream;\n    cudaStreamCreate(&stream);\n    unsigned *states;\n\
             \x20   size_t all = (size_t)(steps + 1) * (layers + 1) * {WIDTH} * n;\n\
             \x20   cudaMalloc(&states, all * sizeof(unsigned));\n\
             \x20   std::vector<unsigned> start(all);\n\
             \x20   for (size_t i = 0; i < all; ++i) start[i] = i * 2654435761u;\n\
             \x20   cudaMemcpy(states, start.data(), all * sizeof(unsigned), cudaMemcpyHostToDevice);\n\
             \x20   auto at = [&](int step, int layer, int part) {{ return states + ((size_t)({written} * (layers + 1) + layer) * {WIDTH} + part) * n; }};\n\
             {begin}\
             \x20   for (int step = 1; step <= steps; ++step) {{\n\
             \x20       for (int layer = 1; layer <= layers; ++layer) {{\n{layers}        }}\n{behind}    }}\n\
             {end}\
             \x20   cudaStreamSynchronize(stream);\n    show(\"stack_{case}\", states, all);\n\
             \x20   cudaFree(states);\n    cudaStreamDestroy(stream);\n}}\n"
        )
    }
}
