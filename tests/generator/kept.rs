//! Programs of host loops in kernels with barriers across the grid, and of launches with such barriers without a loop. Threads store and
//! load elements of their own, and load those of others of their block, from phase to phase and from iteration to
//! iteration: in place, under conditions that change or do not, beside launches in which other threads write the same elements, by
//! other names, from other grids, by atomic operations.
//!
//! Invariant: no kernel races with itself: what threads read of others' elements lies in another array. Numbers are whole and wrap, so
//! that each value that is not the right one changes all that follow.

use super::pick;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The text of the program of a seed.
pub fn kept(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed ^ 0x6b_e971);
    let cases = 6;
    let functions: String = (0..cases)
        .map(|case| host_loop(&mut random, case))
        .collect();
    let calls: String = (0..cases)
        .map(|case| format!("    loop_{case}(n, steps);\n"))
        .collect();
    let steps = pick(&mut random, &[1, 2, 5, 9]);
    // Of more than some thousand not all blocks are on the device at once.
    let size = pick(&mut random, &[200, 1300, 9000]);
    format!(
        "// A generated program, seed {seed}.\n// built with: --sirius-boundaries=grid-barrier\n\
         // arguments: 900 {steps}\n// arguments: {size} 4\n// arguments: 1 3\n\
         {KERNELS}\n{functions}\n\
         int main(int argc, char **argv) {{\n\
         \x20   int n = argc > 1 ? atoi(argv[1]) : 900, steps = argc > 2 ? atoi(argv[2]) : 5;\n{calls}\
         \x20   printf(\"%s\\nPASS\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n}}\n"
    )
}

/// What every program begins with.
const KERNELS: &str = r#"
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

typedef unsigned T;
__device__ int own() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void in_place(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[i] = to[i] * 3 + from[i];
}
__global__ void copied(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[i] = from[i] * 5 + 1;
}
__global__ void near(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[i] = to[i] * 3 + (i > 0 ? from[i - 1] : 1) + 7 * (i + 1 < n ? from[i + 1] : 2);
}
__global__ void far(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[i] += from[n - 1 - i];
}
__global__ void turned(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[n - 1 - i] = to[n - 1 - i] * 3 + from[i];
}
__global__ void one(T *to, const T *from, int n) {
    if (own() == n / 2) to[0] += from[n - 1];
}
__global__ void added(T *to, const T *from, int n) {
    int i = own();
    if (i < n && i % 7 == 0) atomicAdd(&to[n - 1 - i], from[i]);
}
__global__ void by_one(T *to, const T *from, int n) {
    int i = own();
    if (i < n) to[i] = to[i] * 3 + from[0];
}
__global__ void pairs(T *to, const T *from, int n) {
    int i = 2 * own();
    if (i < n) to[i] = to[i] * 3 + from[i];
    if (i + 1 < n) to[i + 1] = to[i + 1] * 5 + from[i + 1];
}
__global__ void strided(T *to, const T *from, int n) {
    for (int i = own(); i < n; i += gridDim.x * blockDim.x) to[i] = to[i] * 3 + from[i];
}
__global__ void often(T *to, const T *from, int n) {
    int i = own();
    if (i >= n) return;
    for (T round = 0; round < 3; ++round) to[i] = to[i] * 3 + from[i] + round;
}
__global__ void where(T *to, const T *from, int n) {
    int i = own();
    if (i >= n) return;
    if (from[i] & 1) to[i] = to[i] * 3 + 1;
    else if (from[i] & 2) to[i] = from[i];
}
__global__ void plane(T *to, const T *from, int n) {
    int i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    if (i < n) to[i] = to[i] * 3 + from[i];
}
__global__ void now_and_then(T *to, const T *from, int n, int step) {
    int i = own();
    if (i < n && step % 3 != 1) to[i] = to[i] * 3 + from[i];
}
__global__ void growing(T *to, const T *from, int n, int step) {
    int i = own();
    if (i < n && i < 100 * step) to[i] = to[i] * 3 + from[i];
}
__global__ void moving(T *to, const T *from, int n, int step) {
    int i = own();
    if (i < n) to[i] = to[i] * 3 + from[(i + step) % n];
}
__global__ void block_sums(T *to, const T *from, int n) {
    __shared__ T part[256];
    int i = own();
    part[threadIdx.x] = i < n ? from[i] : 0;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (i < n) to[i] = to[i] * 3 + part[0];
}
__global__ void mirrored(T *to, const T *from, int n) {
    int i = own(), other = blockIdx.x * blockDim.x + blockDim.x - 1 - threadIdx.x;
    if (i < n) to[i] = to[i] * 3 + (other < n ? from[other] : 4);
}
__global__ void part(T *to, const T *from, int n) {
    int i = own(), first = blockIdx.x * blockDim.x;
    if (i >= n) return;
    T sum = to[i];
    for (int each = threadIdx.x % 4; each < blockDim.x && first + each < n; each += 5) sum = sum * 3 + from[first + each];
    to[i] = sum;
}
__global__ void rows(T *to, const T *from, int n) {
    int width = 29, column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int i = row * width + column;
    if (column >= width || i >= n) return;
    T sum = column > 0 ? from[i - 1] : 1;
    if (column + 1 < width && i + 1 < n) sum = sum * 3 + from[i + 1];
    if (row > 0) sum = sum * 5 + from[i - width];
    if (i + width < n) sum = sum * 7 + from[i + width];
    to[i] = to[i] * 3 + sum;
}
__global__ void only_some(T *to, const T *from, int n) {
    int i = own();
    if (i < n && from[i] % 3) to[i] = from[i] * 5 + (i > 1 ? from[i - 2] : 6);
}
__global__ void either(T *to, const T *from, int n) {
    int i = own();
    if (i >= n) return;
    if (i > 2) to[i] = from[i - 3] * 5 + from[i];
    else to[i] = from[i] * 7;
}
__global__ void two_places(T *to, const T *from, int n) {
    int i = own();
    if (i < n / 2) {
        to[i] = from[i + 1] * 3;
        if (from[i] % 2) to[i + n / 2] = from[i] * 5;
    }
}
__global__ void folded(T *to, const T *from, int n, int step) {
    int i = own();
    if (i + step < n && i < 300) to[i] = to[i] * 3 + from[i + step];
}
__global__ void total(const T *v, T *result, int n) {
    if (threadIdx.x != 0) return;
    T sum = 0;
    for (int i = 0; i < n && i < 50; ++i) sum += v[i];
    *result = sum;
}
static void show(int number, const T *v, int n) {
    std::vector<T> host(n);
    cudaMemcpy(host.data(), v, n * sizeof(T), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (T each : host) sum = (sum ^ each) * 1099511628211ull;
    printf("%d %llx\n", number, sum);
}
"#;

/// A host loop, as a function.
fn host_loop(random: &mut StdRng, case: usize) -> String {
    let threads = pick(random, &["64", "96", "128", "256"]);
    let mut text = format!(
        "static void loop_{case}(int n, int steps) {{\n\
         \x20   T *a, *b, *c, *d, *result;\n    std::vector<T> start(n + 1);\n\
         \x20   for (int i = 0; i <= n; ++i) start[i] = (i * 37u + {case}) % 9973u;\n\
         \x20   for (T **each : {{&a, &b, &c, &d}}) {{\n\
         \x20       cudaMalloc(each, (n + 1) * sizeof(T));\n\
         \x20       cudaMemcpy(*each, start.data(), (n + 1) * sizeof(T), cudaMemcpyHostToDevice);\n    }}\n\
         \x20   cudaMalloc(&result, sizeof(T));\n    T found = 1;\n"
    );
    let again = random.random_bool(0.1);
    if again {
        text.push_str("    for (int outer = 0; outer < 2; ++outer)\n");
    }
    // Without a loop there is nothing to be tested.
    let once = random.random_bool(0.25);
    let tested = !once && random.random_bool(0.5);
    let _ = match tested {
        _ if once => writeln!(text, "    {{\n        const int step = 2;"),
        true => writeln!(
            text,
            "    for (int step = 0; step < steps && found % 16 != 5; ++step) {{"
        ),
        false => writeln!(text, "    for (int step = 0; step < steps; ++step) {{"),
    };
    // A pair that needs what other blocks made, so that the loop is one launch, and what may come between.
    let first = pick(random, &["in_place", "copied", "either", "only_some"]);
    let mut launches = vec![
        format!("        {first}<<<(n + {threads} - 1) / {threads}, {threads}>>>(a, b, n);\n"),
        format!("        near<<<(n + {threads} - 1) / {threads}, {threads}>>>(b, a, n);\n"),
    ];
    for _ in 0..random.random_range(0..4) {
        let place = random.random_range(0..=launches.len());
        launches.insert(place, launch(random, threads));
    }
    text.extend(launches);
    if tested {
        let of = pick(random, &["a", "b", "c", "d"]);
        let _ = writeln!(
            text,
            "        total<<<1, 32>>>({of}, result, n);\n\
             \x20       cudaMemcpy(&found, result, sizeof found, cudaMemcpyDeviceToHost);"
        );
    }
    if random.random_bool(0.4) {
        let pair = pick(random, &["a, b", "a, b", "a, c", "c, d"]);
        let _ = writeln!(text, "        std::swap({pair});");
    }
    if random.random_bool(0.1) {
        text.push_str(
            "        cudaMemcpy(a, start.data(), n / 2 * sizeof(T), cudaMemcpyHostToDevice);\n",
        );
    }
    text.push_str("    }\n");
    let _ = writeln!(text, "    printf(\"case {case}: %u\\n\", found);");
    for (number, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let _ = writeln!(
            text,
            "    show({number}, {name}, n + 1);\n    cudaFree({name});"
        );
    }
    text.push_str("    cudaFree(result);\n}\n\n");
    text
}

/// A launch, mostly of threads that touch elements of their own.
fn launch(random: &mut StdRng, threads: &'static str) -> String {
    let kernel = match random.random_bool(0.5) {
        true => pick(
            random,
            &["in_place", "near", "copied", "mirrored", "either", "rows"],
        ),
        false => pick(
            random,
            &[
                "far",
                "turned",
                "one",
                "added",
                "by_one",
                "pairs",
                "strided",
                "often",
                "where",
                "plane",
                "now_and_then",
                "growing",
                "moving",
                "block_sums",
                "part",
                "only_some",
                "two_places",
                "folded",
            ],
        ),
    };
    let to = pick(random, &["a", "a", "b", "c"]);
    let others = ["a", "b", "a", "b", "c", "d"].into_iter();
    let others: Vec<&str> = others.filter(|each| *each != to).collect();
    let from = pick(random, &others);
    // Under another name, an element further.
    let (to, from, n) = match random.random_range(0..12) {
        0 => (format!("{to} + 1"), from.to_owned(), "n - 1"),
        1 => (to.to_owned(), format!("{from} + 1"), "n"),
        _ => (to.to_owned(), from.to_owned(), "n"),
    };
    let same = random.random_bool(0.9);
    let other = if same {
        threads
    } else {
        pick(random, &["64", "256"])
    };
    let shape = match kernel {
        "plane" => "(n + 127) / 128, dim3(32, 4)".to_owned(),
        "rows" => "dim3(2, (n + 115) / 116), dim3(16, 4)".to_owned(),
        "strided" => {
            let blocks = pick(random, &["3", "(n + 63) / 64"]);
            format!("{blocks}, {other}")
        }
        "pairs" => format!("(n / 2 + {other}) / {other}, {other}"),
        _ => format!("(n + {other} - 1) / {other}, {other}"),
    };
    let step = match kernel {
        "now_and_then" | "growing" | "moving" | "folded" => ", step",
        _ => "",
    };
    format!("        {kernel}<<<{shape}>>>({to}, {from}, {n}{step});\n")
}
