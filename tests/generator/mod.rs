//! The generator of random CUDA programs.
//!
//! Invariant: no kernel races with itself. Each thread writes elements of its own (or changes shared
//! ones atomically), and what a kernel reads of other threads' elements lies in memory that the kernel
//! does not write: its input is another allocation, the other half of the same one, or exactly its
//! output when the kernel touches its own element only.

mod arranged;
pub mod groups;
mod handed;
mod held;
mod host;
mod hosted;
pub mod kept;
mod kernels;
mod mixed;
mod parted;
mod reduced;
mod repeated;
mod shapes;
mod sized;
pub mod solved;
pub mod stacked;
mod tabled;
mod together;

use kernels::Kernel;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::fmt::Write;

/// Elements that every buffer has.
const ELEMENTS: usize = 8192;

/// Where the second half of a buffer begins; what a kernel touches from its pointer stays below,
/// less the offsets that the host adds.
const HALF: usize = ELEMENTS / 2;

/// The text of the program of a seed, with some cases: front-end runs are dear, so that many share
/// one. Its leading comments name the argument lists to run it with.
pub fn program(seed: u64, cases: usize) -> String {
    let mut random = StdRng::seed_from_u64(seed);
    let mut kernels = String::new();
    let mut functions = String::new();
    let mut main = String::new();
    for number in 0..cases {
        let element = pick(
            &mut random,
            &["int", "unsigned", "float", "float", "double"],
        );
        let tame = random.random_bool(0.65);
        let pitch = pick(&mut random, &["width", "pitch", "pitch"]);
        let mut case = Case {
            random: &mut random,
            tame,
            near: false,
            pitch,
            number,
            element,
            definitions: String::new(),
            variables: Vec::new(),
            pool: Vec::new(),
            count: 0,
        };
        functions.push_str(&case.host_function());
        kernels.push_str(&case.definitions);
        let elements = random.random_range(1..1500);
        let repeat = random.random_range(0..3);
        let _ = writeln!(
            main,
            "    case_{number}(size < -1 ? {elements} : size, {repeat}, stride);"
        );
    }
    let other = pick(&mut random, &["0", "-1", "1", "3", "32", "512", "1500"]);
    format!(
        "// A generated program, seed {seed}.\n// arguments: -2 1\n// arguments: {other} 1\n\
         // arguments: -2 2863311531\n\
         // float atomics do not meet: each thread adds to a place of its own\n{}",
        whole_program(&kernels, &functions, &main)
    )
}

/// The text of a program whose `main` has some statements; `size` and `stride` are its arguments.
fn whole_program(kernels: &str, functions: &str, calls: &str) -> String {
    format!(
        "#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <cuda_pipeline.h>\n\
         {}\n\
         static const int ELEMENTS = {ELEMENTS};\nstatic const int HALF = {HALF};\n{PRELUDE}{}{}{}{}{}{}{}{}{}{}\n\
         {kernels}\n{functions}\n\
         int main(int argc, char **argv) {{\n\
         \x20   int size = argc > 1 ? atoi(argv[1]) : -2;\n\
         \x20   int stride = argc > 2 ? (int)strtoul(argv[2], nullptr, 10) : 1;\n{calls}\
         \x20   printf(\"%s\\n\", cudaGetErrorString(cudaDeviceSynchronize()));\n\
         \x20   printf(\"PASS\\n\");\n}}\n",
        held::HEADERS,
        arranged::KERNELS,
        mixed::KERNELS,
        sized::KERNELS,
        handed::KERNELS,
        tabled::KERNELS,
        parted::KERNELS,
        reduced::KERNELS,
        repeated::KERNELS,
        held::CLASSES,
        hosted::CALLED
    )
}

/// What every program begins with. Integer arithmetic wraps, so that no value is undefined.
const PRELUDE: &str = r#"
// What is called only the run knows.
static void says(double value) { printf("said %g\n", value); }
static void says_nothing(double) {}
void (*tell)(double) = getenv("SIRIUS_TELLS_NOTHING") ? says_nothing : says;
// Whether what is launched on two streams goes to one: on two, with nothing that orders them, it may race.
static const bool orders_streams = getenv("SIRIUS_ORDERS_STREAMS") != nullptr;

template <typename T> struct Cell {
    T a, b;
};

template <typename T> struct Pack {
    T *out;
    const T *in;
    int n, width, pitch, stride;
    T scale;
    signed char spare[4] = {1, -2, 3, 5};
    Cell<T> more = {(T)2, (T)3};
};

template <typename T> static T *initial(int start) {
    static T host[ELEMENTS];
    for (int i = 0; i < ELEMENTS; ++i) host[i] = (T)((i * 37 + start * 101) % 997);
    return host;
}

template <typename T> static T *make(int start) {
    T *device;
    cudaMalloc(&device, ELEMENTS * sizeof(T));
    cudaMemcpy(device, initial<T>(start), ELEMENTS * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

// One allocation of several parts, each with room for a buffer.
template <typename T> static T *make_parts(int parts, int part) {
    static T host[7 * (ELEMENTS + 96)];
    for (int i = 0; i < parts * part; ++i) host[i] = (T)((i * 53 + 17) % 991);
    T *device;
    cudaMalloc(&device, parts * part * sizeof(T));
    cudaMemcpy(device, host, parts * part * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

template <typename T> static void show(const char *name, const T *device) {
    alignas(8) static T host[ELEMENTS];
    cudaMemcpy(host, device, ELEMENTS * sizeof(T), cudaMemcpyDeviceToHost);
    unsigned long long sum = 14695981039346656037ull;
    for (unsigned i = 0; i < ELEMENTS * sizeof(T) / 8; ++i) {
        sum = (sum ^ ((unsigned long long *)host)[i]) * 1099511628211ull;
        sum ^= sum >> 29;
    }
    printf("%s %llx\n", name, sum);
}

__device__ inline int mad(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }
__device__ inline unsigned mad(unsigned a, unsigned b, unsigned c) { return a * b + c; }
__device__ inline float mad(float a, float b, float c) { return a * b + c; }
__device__ inline double mad(double a, double b, double c) { return a * b + c; }
__device__ inline unsigned bits(int a) { return (unsigned)a; }
__device__ inline unsigned bits(unsigned a) { return a; }
__device__ inline unsigned bits(float a) { return __float_as_uint(a); }
__device__ inline unsigned bits(double a) { return (unsigned)__double2loint(a) ^ (unsigned)__double2hiint(a); }
"#;

/// One of some choices.
fn pick<T: Copy>(random: &mut StdRng, choices: &[T]) -> T {
    *choices.choose(random).expect("there are choices")
}

/// One case: a host function and the kernels that it launches.
struct Case<'a> {
    random: &'a mut StdRng,
    number: usize,
    /// Most launches keep to their own elements and most statements between them are harmless, so
    /// that much fuses; else anything goes.
    tame: bool,
    /// Kernels to be made keep to elements of their own thread or block.
    near: bool,
    /// What separates rows.
    pitch: &'static str,
    /// Type of the buffers' elements.
    element: &'static str,
    /// Kernels, device variables and host helpers so far.
    definitions: String,
    /// Names of the device variables.
    variables: Vec<String>,
    /// Kernels that stand ready for several cases; none: a case makes kernels of its own.
    pool: Vec<Kernel>,
    /// How many kernels and helpers there are.
    count: usize,
}

impl Case<'_> {
    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        pick(self.random, choices)
    }

    /// One of some names.
    fn pick_name(&mut self, names: &[String]) -> String {
        let positions: Vec<usize> = (0..names.len()).collect();
        names[self.pick(&positions)].clone()
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn is_float(&self) -> bool {
        matches!(self.element, "float" | "double")
    }
}
