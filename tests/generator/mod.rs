//! The generator of random CUDA programs.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// Cases of one program: front-end runs are dear, so that several share one.
const CASES: usize = 6;

/// Elements that every buffer has; offsets and overshoots stay within.
const ELEMENTS: usize = 4096;

/// The text of the program of a seed.
pub fn program(seed: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let mut kernels = String::new();
    let mut cases = String::new();
    let mut main = String::new();
    for case in 0..CASES {
        let mut generator = Case {
            random: &mut random,
            case,
            kernels: String::new(),
            count: 0,
        };
        cases.push_str(&generator.host_function());
        kernels.push_str(&generator.kernels);
        let elements = random.random_range(1..1500);
        let repeat = random.random_range(0..3);
        let _ = writeln!(
            main,
            "    case_{case}(argc > 9 ? 7 : {elements}, {repeat});"
        );
    }
    format!(
        "// A generated program, seed {seed}.\n\
         #include <cstdio>\n#include <cstdlib>\n#include <vector>\n\n\
         static const int ELEMENTS = {ELEMENTS};\n\n\
         static int *make(int start) {{\n\
         \x20   std::vector<int> host(ELEMENTS);\n\
         \x20   for (int i = 0; i < ELEMENTS; ++i) host[i] = (i * 37 + start * 101) % 997;\n\
         \x20   int *device;\n\
         \x20   cudaMalloc(&device, ELEMENTS * sizeof(int));\n\
         \x20   cudaMemcpy(device, host.data(), ELEMENTS * sizeof(int), cudaMemcpyHostToDevice);\n\
         \x20   return device;\n}}\n\n\
         static void show(const char *name, const int *device) {{\n\
         \x20   std::vector<int> host(ELEMENTS);\n\
         \x20   cudaMemcpy(host.data(), device, ELEMENTS * sizeof(int), cudaMemcpyDeviceToHost);\n\
         \x20   unsigned long long sum = 14695981039346656037ull;\n\
         \x20   for (int value : host) sum = (sum ^ (unsigned)value) * 1099511628211ull;\n\
         \x20   printf(\"%s %llx\\n\", name, sum);\n}}\n\n\
         {kernels}\n{cases}\n\
         int main(int argc, char **) {{\n{main}\
         \x20   printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n\
         \x20   printf(\"PASS\\n\");\n}}\n"
    )
}

struct Case<'a> {
    random: &'a mut StdRng,
    case: usize,
    kernels: String,
    count: usize,
}

/// How a kernel's threads find their elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One element a thread.
    Line,
    /// One row a block.
    Rows,
    /// One element a thread in two dimensions.
    Plane,
}

impl Case<'_> {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        *choices.choose(self.random).expect("there are choices")
    }

    /// A kernel `name(int *out, const int *in, int n, int width)`.
    fn kernel(&mut self, shape: Shape) -> String {
        let name = format!("kernel_{}_{}", self.case, self.count);
        self.count += 1;
        let constant = self.random.random_range(1..9);
        let restrict = self.pick(&["", "__restrict__ "]);
        let body = match shape {
            Shape::Line => self.line_body(constant),
            Shape::Rows => self.rows_body(constant),
            Shape::Plane => self.plane_body(constant),
        };
        let _ = write!(
            self.kernels,
            "__global__ void {name}(int *{restrict}out, const int *in, int n, int width) {{\n{body}}}\n\n"
        );
        name
    }

    fn line_body(&mut self, constant: i32) -> String {
        let index = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
        let guard = self.pick(&["    if (i >= n) return;\n", "    if (n <= i) return;\n"]);
        match self.random.random_range(0..13) {
            0 | 1 => format!("{index}{guard}    out[i] = in[i] * {constant} + 1;\n"),
            2 | 3 => format!("{index}    if (i < n) out[i] += in[i] ^ {constant};\n"),
            4 => format!("{index}{guard}    out[i] = in[i + {constant}] - in[i];\n"),
            5 => format!("{index}{guard}    out[n - 1 - i] = in[i] + {constant};\n"),
            6 => format!(
                "    int first = blockIdx.x * blockDim.x;\n\
                 \x20   int i = first + threadIdx.x;\n\
                 \x20   int j = first + (blockDim.x - 1 - threadIdx.x);\n\
                 \x20   if (i < n && j < n) out[i] = in[j] + {constant};\n"
            ),
            7 => format!(
                "    __shared__ int tile[1024];\n{index}\
                 \x20   tile[threadIdx.x] = i < n ? in[i] : {constant};\n\
                 \x20   __syncthreads();\n\
                 \x20   if (i < n) out[i] = tile[blockDim.x - 1 - threadIdx.x] + tile[threadIdx.x];\n"
            ),
            8 => format!(
                "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n\
                 \x20       out[i] = in[i] + {constant};\n"
            ),
            9 => format!(
                "{index}{guard}    out[i / {constant} * {constant} + i % {constant}] = in[i] + i;\n"
            ),
            10 => format!(
                "{index}{guard}    out[i] = in[(unsigned)in[i] % (unsigned)n] + {constant};\n"
            ),
            11 => format!("{index}{guard}    atomicAdd(&out[i % {constant}], in[i]);\n"),
            _ => format!(
                "{index}{guard}    out[2 * i] = in[i];\n    out[2 * i + 1] = in[i] - {constant};\n"
            ),
        }
    }

    fn rows_body(&mut self, constant: i32) -> String {
        match self.random.random_range(0..4) {
            0 => format!(
                "    int row = blockIdx.x;\n\
                 \x20   for (int c = threadIdx.x; c < width; c += blockDim.x)\n\
                 \x20       out[row * width + c] = in[row * width + c] * {constant};\n"
            ),
            1 => format!(
                "    __shared__ int partial[1024];\n\
                 \x20   int row = blockIdx.x;\n\
                 \x20   int sum = 0;\n\
                 \x20   for (int c = threadIdx.x; c < width; c += blockDim.x) sum += in[row * width + c];\n\
                 \x20   partial[threadIdx.x] = sum;\n\
                 \x20   __syncthreads();\n\
                 \x20   if (threadIdx.x == 0) {{\n\
                 \x20       for (int t = 1; t < blockDim.x; ++t) sum += partial[t];\n\
                 \x20       out[row] = sum + {constant};\n\
                 \x20   }}\n"
            ),
            2 => format!(
                "    int row = blockIdx.x;\n\
                 \x20   for (int c = threadIdx.x; c < width; c += blockDim.x)\n\
                 \x20       out[row * width + c] -= in[row] + {constant};\n"
            ),
            _ => format!(
                "    int row = blockIdx.x;\n\
                 \x20   for (int c = threadIdx.x; c < width; c += blockDim.x)\n\
                 \x20       out[row * width + c] = in[row * width + width - 1 - c] + {constant};\n"
            ),
        }
    }

    fn plane_body(&mut self, constant: i32) -> String {
        let index = "    int column = blockIdx.x * blockDim.x + threadIdx.x;\n\
                     \x20   int row = blockIdx.y * blockDim.y + threadIdx.y;\n\
                     \x20   if (column >= width || row >= n / width) return;\n";
        match self.random.random_range(0..3) {
            0 => format!(
                "{index}    out[row * width + column] = in[row * width + column] + {constant};\n"
            ),
            1 => format!(
                "{index}    out[row * width + column] += in[row * width + column] * {constant};\n"
            ),
            _ => {
                format!("{index}    out[column * (n / width) + row] = in[row * width + column];\n")
            }
        }
    }

    fn host_function(&mut self) -> String {
        let mut text = format!("static void case_{}(int n, int repeat) {{\n", self.case);
        let buffers = self.random.random_range(2..5);
        for buffer in 0..buffers {
            let _ = writeln!(text, "    int *b{buffer} = make({buffer});");
        }
        let shape = self.pick(&[
            Shape::Line,
            Shape::Line,
            Shape::Line,
            Shape::Rows,
            Shape::Plane,
        ]);
        let width = self.pick(&[8, 16, 24]);
        let threads = self.pick(&[32, 64, 128]);
        let _ = writeln!(text, "    int width = {width} + (n & 1);");
        let configuration = match shape {
            Shape::Line => format!("(n + {threads} - 1) / {threads}, {threads}"),
            Shape::Rows => format!("n / width + 1, {threads}"),
            Shape::Plane => "dim3((width + 7) / 8, (n / width + 7) / 8), dim3(8, 8)".to_owned(),
        };
        let length = self.random.random_range(2..7);
        let looped = self.random.random_bool(0.25);
        if looped {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
        }
        for _ in 0..length {
            self.between(&mut text, buffers);
            let kernel = self.kernel(shape);
            let out = self.random.random_range(0..buffers);
            let mut input = self.random.random_range(0..buffers);
            if input == out {
                input = (out + 1) % buffers;
            }
            let offset = if self.random.random_bool(0.15) {
                " + 32"
            } else {
                ""
            };
            let configuration = if self.random.random_bool(0.1) && shape == Shape::Line {
                "(n + 255) / 256, 256".to_owned()
            } else {
                configuration.clone()
            };
            let count = if self.random.random_bool(0.1) {
                "n / 2"
            } else {
                "n"
            };
            let _ = writeln!(
                text,
                "    {kernel}<<<{configuration}>>>(b{out}{offset}, b{input}, {count}, width);"
            );
        }
        if looped {
            text.push_str("    }\n");
        }
        for buffer in 0..buffers {
            let _ = writeln!(
                text,
                "    show(\"case {} b{buffer}\", b{buffer});",
                self.case
            );
        }
        for buffer in 0..buffers {
            let _ = writeln!(text, "    cudaFree(b{buffer});");
        }
        text.push_str("}\n\n");
        text
    }

    /// What stands between two launches.
    fn between(&mut self, text: &mut String, buffers: usize) {
        let (a, b) = (
            self.random.random_range(0..buffers),
            self.random.random_range(0..buffers),
        );
        match self.random.random_range(0..14) {
            0 | 1 => text.push_str("    cudaDeviceSynchronize();\n"),
            2 | 3 => text.push_str(
                "    if (cudaGetLastError() != cudaSuccess) { printf(\"error PASS\\n\"); exit(0); }\n",
            ),
            4 if a != b => {
                let _ = writeln!(
                    text,
                    "    cudaMemcpy(b{a}, b{b}, 64 * sizeof(int), cudaMemcpyDeviceToDevice);"
                );
            }
            5 => {
                let _ = writeln!(text, "    cudaMemset(b{a}, 1, 16 * sizeof(int));");
            }
            6 => {
                let _ = writeln!(text, "    if (n == 3) {{ show(\"early\", b{a}); return; }}");
            }
            7 => text.push_str("    printf(\"between\\n\");\n"),
            8 => {
                let _ = writeln!(
                    text,
                    "    {{ int value; cudaMemcpy(&value, b{a}, sizeof(int), cudaMemcpyDeviceToHost); printf(\"%d\\n\", value); }}"
                );
            }
            _ => {}
        }
    }
}
