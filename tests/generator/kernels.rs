//! Random kernels: how threads find their elements, what they read, and what they write.

use super::Case;
use super::shapes::PERMUTATIONS;
use rand::Rng;
use std::fmt::Write;

/// How a kernel's threads find their elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// One element a thread.
    Line,
    /// One row a block.
    Rows,
    /// One element a thread in two dimensions.
    Plane,
    /// The same with rows along x.
    Transposed,
    /// One element a thread in three dimensions.
    Solid,
}

/// A kernel as the host must launch it.
#[derive(Clone)]
pub struct Kernel {
    pub name: String,
    pub shape: Shape,
    /// It takes one [`Pack`](super::PRELUDE) instead of single arguments.
    pub packed: bool,
    /// Bytes of dynamic shared memory for each thread of a block.
    pub shared_elements: bool,
    /// Input and output may be the same pointer.
    pub in_place: bool,
    /// Threads read and write elements of their own thread or block only.
    pub near: bool,
}

impl Case<'_> {
    /// Defines a kernel and says how to launch it.
    pub fn kernel(&mut self, shape: Shape) -> Kernel {
        let name = format!("kernel_{}_{}", self.number, self.count);
        self.count += 1;
        let mut kernel = Kernel {
            name,
            shape,
            packed: self.chance(0.15),
            shared_elements: false,
            in_place: false,
            near: self.near,
        };
        let body = match shape {
            Shape::Line => self.line_body(&mut kernel),
            Shape::Rows => self.rows_body(&mut kernel),
            Shape::Plane => self.plane_body(&mut kernel),
            Shape::Transposed | Shape::Solid => {
                let (body, in_place) = match shape {
                    Shape::Solid => self.solid_body(),
                    _ => self.transposed_body(),
                };
                kernel.in_place = in_place;
                body
            }
        };
        let element = self.element;
        let (parameters, unpack) = if kernel.packed {
            (format!("Pack<{element}> p"), self.unpacked())
        } else {
            let restrict = if kernel.in_place {
                ""
            } else {
                self.pick(&["", "__restrict__ "])
            };
            (
                format!(
                    "{element} *{restrict}out, const {element} *{restrict}in, int n, int width, \
                     int pitch, int stride, {element} scale"
                ),
                String::new(),
            )
        };
        let _ = write!(
            self.definitions,
            "__global__ void {}({parameters}) {{\n{unpack}{body}}}\n\n",
            kernel.name
        );
        kernel
    }

    /// How a kernel gets at what it is given in a struct: fields that are copied first, that it uses where they are,
    /// that it changes there, or that it reads by a number which only the run knows.
    fn unpacked(&mut self) -> String {
        let element = self.element;
        let copied = format!(
            "    {element} *out = p.out;\n    const {element} *in = p.in;\n\
             \x20   int n = p.n, width = p.width, pitch = p.pitch, stride = p.stride;\n\
             \x20   {element} scale = p.scale;\n"
        );
        let used = format!(
            "    {element} *&out = p.out;\n    const {element} *&in = p.in;\n\
             \x20   int &n = p.n, &width = p.width, &pitch = p.pitch, &stride = p.stride;\n\
             \x20   {element} &scale = p.scale;\n"
        );
        match self.random.random_range(0..8) {
            0..=2 => copied,
            3..=4 => used,
            5 => format!(
                "{used}    if (n > width) n -= 1 + (width & 1);\n    scale += ({element})p.more.b;\n"
            ),
            6 => format!(
                "{used}    p.more.a = p.more.a + ({element})stride;\n    scale = p.more.a;\n"
            ),
            _ => format!("{copied}    scale += ({element})p.spare[(n + threadIdx.x) & 3];\n"),
        }
    }

    /// A value from the thread's own elements `in[own]` and `out[own]` and, unless `own_only`, from
    /// others around `index`.
    pub fn value(
        &mut self,
        own: &str,
        index: &str,
        own_only: bool,
        output: Option<&str>,
    ) -> String {
        let constant = self.random.random_range(1..9);
        let element = self.element;
        let mut terms = vec![format!("in[{own}]")];
        if let Some(output) = output
            && self.chance(0.3)
        {
            terms.push(format!("out[{output}]"));
        }
        if !own_only && !self.near && self.chance(if self.tame { 0.1 } else { 0.5 }) {
            terms.push(match self.random.random_range(0..7) {
                0 => format!("in[{index} + {constant}]"),
                1 => format!("in[{index} / {constant}]"),
                2 => format!("in[{index} % {constant}]"),
                3 => format!("in[({index} >> 2) << 1]"),
                4 => format!("in[bits(in[{index}]) % 1000u]"),
                5 => format!("in[({index} & 63) + {constant}]"),
                _ => format!("in[{index} ^ 1]"),
            });
        }
        let a = self.pick(&[0, terms.len() - 1]);
        let (a, b) = (terms[a].clone(), terms[terms.len() - 1].clone());
        match self.random.random_range(0..8) {
            0 => format!("mad({a}, ({element}){constant}, {b})"),
            1 => format!("mad({a}, scale, ({element}){constant})"),
            2 => format!("{a} > ({element}){constant} ? {b} : ({element}){constant}"),
            3 if self.is_float() => format!("{a} * ({element})0.5 + {b} * scale"),
            4 if self.is_float() => format!("{a} * {b} - scale"),
            5 if self.is_float() => format!("{a} / ({element}){constant} + {b}"),
            3 => format!("({element})(bits({a}) ^ bits({b}) ^ {constant}u)"),
            4 => format!("({element})((bits({a}) >> 3) + bits({b}))"),
            _ => format!("mad(({element})1, {a}, {b})"),
        }
    }

    fn device_array(&mut self, qualifier: &str, elements: usize) -> String {
        let name = format!("variable_{}_{}", self.number, self.count);
        self.count += 1;
        let _ = writeln!(
            self.definitions,
            "{qualifier} {} {name}[{elements}];",
            self.element
        );
        self.variables.push(name.clone());
        name
    }

    fn line_body(&mut self, kernel: &mut Kernel) -> String {
        let constant = self.random.random_range(1..9);
        let element = self.element;
        let index = self.pick(&[
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n",
            "    int i = threadIdx.x + blockDim.x * blockIdx.x;\n",
            "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n",
            "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n",
            "    long long i = blockIdx.x * blockDim.x + threadIdx.x;\n",
        ]);
        let guard = self.pick(&[
            "    if ((int)i >= n) return;\n",
            "    if (n <= (int)i) return;\n",
            "    if ((int)i >= n || n > 100000) return;\n",
            "    if (!((int)i < n)) return;\n",
        ]);
        let permuted = match (self.near, self.tame) {
            (true, _) => 0.1,
            (false, true) => 0.12,
            (false, false) => 0.3,
        };
        if self.chance(permuted) {
            let kind = match self.near {
                true => self.pick(&[1, 3, 8]),
                false => self.random.random_range(0..PERMUTATIONS),
            };
            return self.permuted_body(kind);
        }
        let kind = if self.near {
            self.pick(&[0, 0, 0, 4, 10, 10, 12, 17, 19, 20, 21, 29, 31, 31, 31])
        } else if self.tame && self.chance(0.85) {
            self.pick(&[
                0, 0, 0, 4, 7, 10, 10, 12, 15, 16, 17, 19, 20, 21, 22, 23, 25, 26, 27, 29, 30, 31,
                31, 31,
            ])
        } else {
            self.random.random_range(0..32)
        };
        match kind {
            0..=3 => {
                kernel.in_place = true;
                let value = self.value("i", "i", true, Some("i"));
                format!("{index}{guard}    out[i] = {value};\n")
            }
            4..=6 => {
                let value = self.value("i", "i", false, Some("i"));
                format!("{index}    if ((int)i < n) out[i] = {value};\n")
            }
            7 => {
                // No guard: the whole grid writes.
                let value = self.value("i", "i", false, Some("i"));
                format!("{index}    out[i] = {value};\n")
            }
            8 => {
                let value = self.value("i", "i", false, None);
                format!("{index}{guard}    out[n - 1 - i] = {value};\n")
            }
            9 => {
                let value = self.value("j", "i", false, None);
                format!(
                    "    int first = blockIdx.x * blockDim.x;\n\
                     \x20   int i = first + threadIdx.x;\n\
                     \x20   int j = first + (blockDim.x - 1 - threadIdx.x);\n\
                     \x20   if (i < n && j < n) out[i] = {value};\n"
                )
            }
            10 if (self.number + self.count) % 2 == 1 => {
                threads_that_end(element, index, constant, self.count)
            }
            10 => format!(
                "    __shared__ {element} tile[1024];\n{index}\
                 \x20   tile[threadIdx.x] = (int)i < n ? in[i] : ({element}){constant};\n\
                 \x20   __syncthreads();\n\
                 \x20   if ((int)i < n) out[i] = mad(tile[blockDim.x - 1 - threadIdx.x], scale, tile[threadIdx.x]);\n"
            ),
            11 => {
                kernel.shared_elements = true;
                let name = format!("dynamic_{}_{}", self.number, self.count);
                format!(
                    "    extern __shared__ {element} {name}[];\n{index}\
                     \x20   {name}[threadIdx.x] = (int)i < n ? in[i] : ({element}){constant};\n\
                     \x20   __syncthreads();\n\
                     \x20   for (int half = blockDim.x / 2; half > 0; half >>= 1) {{\n\
                     \x20       if (threadIdx.x < half) {name}[threadIdx.x] = mad(({element})1, {name}[threadIdx.x], {name}[threadIdx.x + half]);\n\
                     \x20       __syncthreads();\n    }}\n\
                     \x20   if (threadIdx.x == 0) out[blockIdx.x] = {name}[0];\n"
                )
            }
            12 => {
                let value = self.value("i", "i", false, Some("i"));
                let head = self.pick(&[
                    "int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x",
                    "unsigned i = threadIdx.x + blockIdx.x * blockDim.x; i < (unsigned)n; i += blockDim.x * gridDim.x",
                    "long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < (long long)n; i += (long long)gridDim.x * blockDim.x",
                ]);
                format!("    for ({head})\n        out[i] = {value};\n")
            }
            13 => {
                let value = self.value("i", "i", false, None);
                format!(
                    "{index}{guard}    out[i / {constant} * {constant} + i % {constant}] = {value};\n"
                )
            }
            14 if !self.is_float() => {
                format!("{index}{guard}    atomicAdd(&out[i % {constant}], in[i]);\n")
            }
            26 | 27 if !self.is_float() => {
                // Mostly one operator, so that launches into one buffer often commute.
                let operator = self.pick(&["Add", "Add", "Add", "Max", "Min", "Xor", "Or", "And"]);
                let bins = self.pick(&["16u", "64u", "blockDim.x"]);
                format!(
                    "{index}{guard}    atomic{operator}(&out[bits(in[i]) % {bins}], in[i + {constant}]);\n"
                )
            }
            14 | 15 | 26 | 27 => {
                format!("{index}{guard}    atomicAdd(&out[i], in[i + {constant}]);\n")
            }
            16 => {
                let (first, second) = (
                    self.value("i", "i", false, None),
                    self.value("i", "i", true, None),
                );
                format!("{index}{guard}    out[2 * i] = {first};\n    out[2 * i + 1] = {second};\n")
            }
            17 => format!(
                "{index}    {element} v = (int)i < n ? in[i] : ({element})0;\n\
                 \x20   v = mad(({element})1, v, __shfl_down_sync(0xffffffffu, v, {constant}));\n\
                 \x20   v = mad(v, scale, __shfl_xor_sync(0xffffffffu, v, 1));\n\
                 \x20   if ((int)i < n) out[i] = v;\n"
            ),
            18 => {
                // `stride` is odd, so that the product is one to one even where it wraps.
                let value = self.value("i", "i", false, None);
                format!(
                    "    int i = (int)((blockIdx.x * blockDim.x + threadIdx.x) * (unsigned)stride);\n\
                     \x20   if (i < 0 || i >= n) return;\n    out[i] = {value};\n"
                )
            }
            19 => {
                let table = self.device_array("__constant__", 16);
                format!("{index}{guard}    out[i] = mad(in[i], scale, {table}[i % 16]);\n")
            }
            20 => {
                let state = self.device_array("__device__", 64);
                format!(
                    "{index}{guard}    if (i < 64) {state}[i] = in[i];\n    out[i] = i < 64 ? {state}[i] : in[i];\n"
                )
            }
            21 => {
                let value = self.value("i", "i", true, None);
                format!(
                    "{index}{guard}    if (in[i] > ({element}){constant}) return;\n    out[i] = {value};\n"
                )
            }
            22 => format!(
                "{index}{guard}    {element} sum = out[i];\n\
                 \x20   for (int k = 0; k < {constant}; ++k) sum = mad(in[i + k], scale, sum);\n\
                 \x20   out[i] = sum;\n"
            ),
            23 => format!(
                "{index}{guard}    out[i] = in[i];\n    if (i == 0) printf(\"{} %d\\n\", (int)(bits(in[0]) & 255u));\n",
                kernel.name
            ),
            24 => {
                let value = self.value("i >> 1", "i", false, None);
                format!("{index}{guard}    out[(i << 1) / 2 ^ 1] = {value};\n")
            }
            28 => {
                // The block's sum as a tree, into an element of its own or added to that of others.
                let into = if self.is_float() {
                    "out[blockIdx.x] = part[0]"
                } else {
                    self.pick(&["out[blockIdx.x] = part[0]", "atomicAdd(&out[0], part[0])"])
                };
                format!(
                    "    __shared__ {element} part[1024];\n{index}\
                     \x20   part[threadIdx.x] = (int)i < n ? in[i] : ({element})0;\n\
                     \x20   __syncthreads();\n\
                     \x20   for (int stride = 512; stride > 0; stride /= 2) {{\n\
                     \x20       if (threadIdx.x < stride && threadIdx.x + stride < blockDim.x) part[threadIdx.x] = mad(({element})1, part[threadIdx.x], part[threadIdx.x + stride]);\n\
                     \x20       __syncthreads();\n    }}\n\
                     \x20   if (threadIdx.x == 0) {into};\n"
                )
            }
            29 => format!(
                "    __shared__ alignas(16) {element} tile[1024];\n{index}\
                 \x20   if ((int)i < n) __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof({element}));\n\
                 \x20   else tile[threadIdx.x] = ({element}){constant};\n\
                 \x20   __pipeline_commit();\n    __pipeline_wait_prior(0);\n    __syncthreads();\n\
                 \x20   if ((int)i < n) out[i] = mad(tile[(threadIdx.x + {constant}) % blockDim.x], scale, tile[threadIdx.x]);\n"
            ),
            31 => self.own_tile_body(kernel),
            30 => format!(
                // Two groups: the second one is under way while the first one is used.
                "    __shared__ alignas(16) {element} tile[2][1024];\n{index}\
                 \x20   __pipeline_memcpy_async(&tile[0][threadIdx.x], &in[i], sizeof({element}));\n\
                 \x20   __pipeline_commit();\n\
                 \x20   __pipeline_memcpy_async(&tile[1][threadIdx.x], &in[i + {constant}], sizeof({element}));\n\
                 \x20   __pipeline_commit();\n    __pipeline_wait_prior(1);\n    __syncthreads();\n\
                 \x20   {element} first = tile[0][blockDim.x - 1 - threadIdx.x];\n\
                 \x20   __pipeline_wait_prior(0);\n    __syncthreads();\n\
                 \x20   if ((int)i < n) out[i] = mad(first, scale, tile[1][blockDim.x - 1 - threadIdx.x]);\n"
            ),
            _ => {
                // A guard on products: for large sizes the bound wraps, the accesses stay small.
                let value = self.value("i", "i", false, Some("i"));
                format!(
                    "{index}    if ((unsigned)i * (unsigned)stride >= (unsigned)n) return;\n\
                     \x20   if ((int)i >= {}) return;\n    out[i] = {value};\n",
                    constant * 100
                )
            }
        }
    }

    fn rows_body(&mut self, kernel: &mut Kernel) -> String {
        let constant = self.random.random_range(1..9);
        let element = self.element;
        let pitch = self.pitch;
        let place = format!("row * {pitch} + c");
        let each = "    for (int c = threadIdx.x; c < width; c += blockDim.x)";
        let kind = if self.near {
            self.pick(&[0, 0, 4, 5])
        } else if self.tame && self.chance(0.85) {
            self.pick(&[0, 0, 4, 5, 6])
        } else {
            self.random.random_range(0..7)
        };
        match kind {
            0 | 1 => {
                kernel.in_place = true;
                let value = self.value(&place, &place, true, Some(&place));
                format!("    int row = blockIdx.x;\n{each}\n        out[{place}] = {value};\n")
            }
            2 => format!(
                "    __shared__ {element} partial[1024];\n\
                 \x20   int row = blockIdx.x;\n\
                 \x20   {element} sum = 0;\n\
                 {each} sum = mad(({element})1, sum, in[{place}]);\n\
                 \x20   partial[threadIdx.x] = sum;\n\
                 \x20   __syncthreads();\n\
                 \x20   if (threadIdx.x == 0) {{\n\
                 \x20       for (int t = 1; t < blockDim.x; ++t) sum = mad(partial[t], scale, sum);\n\
                 \x20       out[row] = sum;\n\
                 \x20   }}\n"
            ),
            3 => format!(
                "    int row = blockIdx.x;\n{each}\n\
                 \x20       out[{place}] = mad(in[row], scale, out[{place}]);\n"
            ),
            4 => format!(
                "    int row = blockIdx.x;\n{each}\n\
                 \x20       out[{place}] = mad(in[row * {pitch} + width - 1 - c], scale, ({element}){constant});\n"
            ),
            5 => format!(
                "    extern __shared__ {element} rows_{number}_{count}[];\n\
                 \x20   int row = blockIdx.x;\n\
                 \x20   for (int first = 0; first < width; first += blockDim.x) {{\n\
                 \x20       int c = first + threadIdx.x;\n\
                 \x20       rows_{number}_{count}[threadIdx.x] = c < width ? in[{place}] : ({element})0;\n\
                 \x20       __syncthreads();\n\
                 \x20       if (c < width) out[{place}] = rows_{number}_{count}[(threadIdx.x + {constant}) % blockDim.x];\n\
                 \x20       __syncthreads();\n    }}\n",
                number = self.number,
                count = {
                    kernel.shared_elements = true;
                    self.count
                },
            ),
            _ => format!(
                "    int row = blockIdx.x;\n    {element} v = (int)threadIdx.x < width ? in[row * {pitch} + threadIdx.x] : ({element})0;\n\
                 \x20   for (int d = 16; d > 0; d /= 2) v = mad(({element})1, v, __shfl_xor_sync(0xffffffffu, v, d));\n\
                 \x20   if (threadIdx.x == 0) out[row * {pitch}] = v;\n"
            ),
        }
    }

    fn plane_body(&mut self, kernel: &mut Kernel) -> String {
        let index = self.pick(&[
            "    int column = blockIdx.x * blockDim.x + threadIdx.x;\n\
             \x20   int row = blockIdx.y * blockDim.y + threadIdx.y;\n\
             \x20   if (column >= width || row >= n / width) return;\n",
            "    unsigned column = blockIdx.x * blockDim.x + threadIdx.x;\n\
             \x20   unsigned row = blockIdx.y * blockDim.y + threadIdx.y;\n\
             \x20   if (column >= (unsigned)width) return;\n\
             \x20   if ((int)row >= n / width) return;\n",
        ]);
        let pitch = self.pitch;
        let place = format!("row * {pitch} + column");
        let kind = if self.near {
            self.pick(&[0, 0, 6])
        } else if self.tame && self.chance(0.85) {
            self.pick(&[0, 0, 3, 6])
        } else {
            self.random.random_range(0..7)
        };
        match kind {
            6 => self.tile_body(),
            0..=2 => {
                kernel.in_place = true;
                let value = self.value(&place, &place, true, Some(&place));
                format!("{index}    out[{place}] = {value};\n")
            }
            3 => {
                let value = self.value(&place, &place, false, Some(&place));
                format!("{index}    out[{place}] = {value};\n")
            }
            4 => {
                let value = self.value(&place, &place, false, None);
                format!("{index}    out[column * (n / width) + row] = {value};\n")
            }
            _ => {
                let value = self.value("column", &place, false, None);
                format!("{index}    out[{place}] = {value};\n")
            }
        }
    }
}

/// Threads that end before others come to a barrier, in one of several ways, some of which all threads of a block take.
fn threads_that_end(element: &str, index: &str, constant: i32, number: usize) -> String {
    let mut body = format!(
        "    __shared__ {element} tile[1024];\n{index}    unsigned t = threadIdx.x;\n\
         \x20   {element} v = (int)i < n ? in[i] : ({element}){constant};\n    tile[t] = v;\n"
    );
    let ways = [
        "(int)i >= n",
        "t >= blockDim.x / 2",
        "t % 3 == 1",
        "bits(v) % 5u == 2u",
        "blockIdx.x % 2 == 1",
        "t / 32 % 2 == 1",
    ];
    let mut step = constant as usize + number;
    for stage in 0..1 + constant % 3 {
        let way = ways[step % ways.len()];
        step = step * 5 + 3;
        let leaves = match step % 3 {
            0 => format!("    if ({way}) return;\n"),
            1 => format!(
                "    if ({way}) {{\n        if ((int)i < n) out[i] = v;\n        return;\n    }}\n"
            ),
            _ => format!(
                "    if ({way}) {{\n        for (unsigned k = 0; k < t % 4; ++k) v = mad(v, scale, ({element})k);\n        if ((int)i < n) out[i] = v;\n        return;\n    }}\n"
            ),
        };
        let (before, between) = match stage % 2 {
            0 => (leaves.as_str(), ""),
            _ => ("", leaves.as_str()),
        };
        body += &format!(
            "{before}    __syncthreads();\n\
             \x20   v = mad(tile[(t + {constant}) % blockDim.x], scale, v);\n{between}\
             \x20   __syncthreads();\n    tile[t] = v;\n"
        );
    }
    body + "    if ((int)i < n) out[i] = v;\n"
}
