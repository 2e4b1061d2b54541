//! Random host code over memory of which only the run tells whether it is the device's or both sides': the pointers stand
//! behind containers, the host touches what it may touch, and calls in between may throw.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// The arguments that a program is run with: bit k says that buffer k is managed memory, higher ones where it throws.
const FLAGS: [u32; 6] = [0, 31, 5, 10 + 32, 64, 21 + 128];

/// A program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let functions = random.random_range(2..4);
    let mut text = format!("// Generated memory, seed {seed}.\n");
    for flags in FLAGS {
        let _ = writeln!(text, "// arguments: {flags}");
    }
    text.push_str(PRELUDE);
    for function in 0..functions {
        let attribute = match random.random_bool(0.7) {
            true => "__attribute__((noinline)) ",
            false => "",
        };
        let _ = writeln!(text, "static {attribute}void run_{function}() {{");
        let launches = random.random_range(3..8);
        statements(&mut random, &mut text, launches, 1);
        text.push_str("}\n\n");
    }
    text.push_str("int main(int argc, char **argv) {\n    begin(argc > 1 ? atoi(argv[1]) : 7);\n");
    for function in 0..functions {
        let _ = writeln!(
            text,
            "    try {{ run_{function}(); }} catch (const std::runtime_error &) {{ caught(); }}"
        );
    }
    text.push_str("    end();\n    printf(\"PASS\\n\");\n}\n");
    text
}

/// Launches with what the host does between them.
fn statements(random: &mut StdRng, text: &mut String, launches: usize, depth: usize) {
    let indent = " ".repeat(4 * depth);
    for _ in 0..launches {
        let _ = writeln!(text, "{indent}{}", launch(random));
        match random.random_range(0..12) {
            0..=2 => {
                let (buffer, element) = (random.random_range(0..5), random.random_range(0..1500));
                let touch = ["seen += BUFFER[AT]", "BUFFER[AT] = 2.5f"]
                    .choose(random)
                    .map_or("", |touch| touch);
                let touch = touch
                    .replace("BUFFER", &format!("hidden.b[{buffer}]"))
                    .replace("AT", &element.to_string());
                let _ = writeln!(
                    text,
                    "{indent}if (hidden.managed[{buffer}]) cudaDeviceSynchronize(), {touch};"
                );
            }
            3 => text.push_str(&format!("{indent}cudaDeviceSynchronize();\n")),
            4 => text.push_str(&format!(
                "{indent}printf(\"%d\\n\", hidden.numbers.at(1));\n"
            )),
            5 | 6 => {
                let bit = random.random_range(5..9);
                let _ = writeln!(text, "{indent}seen += positive(!(flags >> {bit} & 1));");
            }
            7 => {
                let key = random.random_range(1..6);
                let _ = writeln!(text, "{indent}hidden.numbers[{key}] = N;");
            }
            8 if depth < 2 => {
                let _ = writeln!(text, "{indent}for (int step = 0; step < 3; step++) {{");
                statements(random, text, 2, depth + 1);
                let _ = writeln!(text, "{indent}}}");
            }
            9 if depth < 2 => {
                let bit = random.random_range(0..8);
                let _ = writeln!(text, "{indent}if (flags >> {bit} & 1) {{");
                statements(random, text, 1, depth + 1);
                let _ = writeln!(text, "{indent}}}");
            }
            // It may wait for the device, and so may the host rely on it.
            10 => {
                let _ = writeln!(text, "{indent}{{ float *more; cudaMalloc(&more, 256); }}");
            }
            _ => {}
        }
    }
}

fn launch(random: &mut StdRng) -> String {
    let kernels = ["scale", "add", "mix", "turn", "halve"];
    let kernel = kernels.choose(random).map_or("", |kernel| kernel);
    let to = random.random_range(0..5);
    // In place each thread keeps to its own element.
    let least = usize::from(kernel == "turn");
    let from = (to + random.random_range(least..5)) % 5;
    let key = random.random_range(1..3);
    format!(
        "{kernel}<<<hidden.grids.at({key}), THREADS>>>(hidden.b[{to}], hidden.b[{from}], hidden.numbers.at({key}));"
    )
}

const PRELUDE: &str = r#"#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>

const int N = 1500, THREADS = 128, BLOCKS = (N + THREADS - 1) / THREADS;

#define KERNEL(name, statement)                                                                  \
    __global__ void name(float *y, const float *x, int n) {                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                           \
        if (i < n) statement;                                                                    \
    }
KERNEL(scale, y[i] = 3.0f * x[i] + 1.0f)
KERNEL(add, y[i] += x[i])
KERNEL(mix, y[i] = -x[i] + 0.5f * y[i])
KERNEL(turn, y[i] = i < N / 2 ? x[N - 1 - i] : 1.0f)
KERNEL(halve, y[i] = y[i] * 0.5f + 2.0f)

struct Hidden {
    std::map<int, dim3> grids;
    std::map<int, int> numbers;
    std::map<std::string, int> names;
    float *b[5];
    bool managed[5];
};
static Hidden hidden;
static float seen;
static unsigned flags;

static void begin(int value) {
    static float host[N];
    flags = value;
    for (int key = 1; key < 6; key++) hidden.grids[key] = dim3(BLOCKS), hidden.numbers[key] = N;
    hidden.names["all"] = 5;
    for (int k = 0; k < hidden.names.at("all"); k++) {
        hidden.managed[k] = flags >> k & 1;
        if (hidden.managed[k]) cudaMallocManaged(&hidden.b[k], sizeof(host));
        else cudaMalloc(&hidden.b[k], sizeof(host));
        for (int i = 0; i < N; i++) host[i] = (float)(i * (k + 3) % 17);
        cudaMemcpy(hidden.b[k], host, sizeof(host), cudaMemcpyDefault);
    }
}

__attribute__((noinline)) static int positive(int number) {
    if (number <= 0) throw std::runtime_error("not positive");
    return number;
}

// Who catches waits, and then looks at what may be looked at.
static void caught() {
    cudaDeviceSynchronize();
    for (int k = 0; k < 5; k++)
        if (hidden.managed[k]) printf("%d: %g\n", k, hidden.b[k][77]);
}

static void end() {
    static float host[N];
    printf("%g\n", seen);
    for (int k = 0; k < 5; k++) {
        cudaMemcpy(host, hidden.b[k], sizeof(host), cudaMemcpyDefault);
        unsigned long long sum = 14695981039346656037ull;
        for (unsigned i = 0; i < sizeof(host); ++i) sum = (sum ^ ((unsigned char *)host)[i]) * 1099511628211ull;
        printf("%d %llx\n", k, sum);
    }
}

"#;
