//! Kernels of other shapes, and subscripts that are one to one without being the thread's own index.

use super::Case;
use super::kernels::Kernel;
use rand::Rng;
use rand::seq::SliceRandom;
use std::fmt::Write;

/// How many kinds of [`Case::permuted_body`] there are.
pub const PERMUTATIONS: usize = 16;

impl Case<'_> {
    /// A line of threads that write one element each (or a few), but in another order.
    pub fn permuted_body(&mut self, kind: usize) -> String {
        let constant = self.random.random_range(1..9);
        let element = self.element;
        let line = "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
        let at = |own: &str, value: String, guard: &str| {
            format!("{line}    int j = {own};\n    if ({guard}) out[j] = {value};\n")
        };
        let read = self.pick(&["i", "j"]);
        match kind {
            0 => {
                // Threads of one block lie a grid apart; no bound, the whole grid writes.
                let value = self.value("j", "j", false, Some("j"));
                at("threadIdx.x * gridDim.x + blockIdx.x", value, "true")
            }
            1 => {
                // The block is read as a matrix and transposed.
                let value = self.value(read, "i", false, None);
                let own = "blockIdx.x * blockDim.x + threadIdx.x % 8 * (blockDim.x / 8) + threadIdx.x / 8";
                at(own, value, "i < n && j < n")
            }
            2 => {
                let bit = self.pick(&[1, 2, 16, 64]);
                let value = self.value(read, "i", false, None);
                at(&format!("i ^ {bit}"), value, "i < n && j < n")
            }
            3 => {
                let value = self.value(read, "i", false, None);
                at("i / 4 * 4 + 3 - i % 4", value, "i < n && j < n")
            }
            4 => {
                let value = self.value("4 * i + k", "i", false, Some("4 * i + k"));
                format!(
                    "{line}    if (4 * i + 3 >= n) return;\n\
                     \x20   for (int k = 0; k < 4; ++k) out[4 * i + k] = {value};\n"
                )
            }
            5 => {
                // Two elements a thread, a block apart.
                let value = self.value("j", "j", false, Some("j"));
                format!(
                    "    int first = blockIdx.x * 2 * blockDim.x + threadIdx.x;\n\
                     \x20   for (int j = first; j < first + 2 * (int)blockDim.x; j += blockDim.x)\n\
                     \x20       if (j < n) out[j] = {value};\n"
                )
            }
            6 => {
                let value = self.value(read, "i", false, None);
                format!(
                    "{line}    if (i >= n) return;\n    int j = (i + {constant}) % n;\n\
                     \x20   out[j] = {value};\n"
                )
            }
            7 if !self.is_float() => format!(
                "{line}    if (i < n) atomicMax(&out[bits(in[i]) % 512u], ({element})(i % {constant}));\n"
            ),
            7 => {
                let value = self.value("2 * i", "i", false, None);
                format!("{line}    if (2 * i + 1 < n) out[2 * i + 1] = {value};\n")
            }
            8 => self.through_memory_body(constant, line),
            9 => {
                // A quotient and a remainder by a width that only the run knows.
                let (value, pitch) = (self.value(read, "i", false, None), self.pitch);
                at(&format!("i / width * {pitch} + i % width"), value, "i < n")
            }
            10 => {
                // The same with columns of rows, of which there may be none.
                let value = self.value("i", "i", false, None);
                format!(
                    "{line}    int rows = n / width;\n    if (rows == 0 || i >= rows * width) return;\n\
                     \x20   out[i % rows * width + i / rows] = {value};\n"
                )
            }
            11 => {
                // An order that stands in memory.
                let order = self.order_table();
                let value = self.value(read, "i", false, None);
                let own = format!("i / 32 * 32 + {order}[i % 32]");
                at(&own, value, "i < n && j < n")
            }
            12 => {
                // Structs of two fields, or one field of them.
                let value = self.value("2 * i + 1", "i", false, None);
                let first = self.pick(&["cells[i].a = cells[i].b;", ""]);
                format!(
                    "{line}    Cell<{element}> *cells = (Cell<{element}> *)out;\n\
                     \x20   if (2 * i + 1 >= n) return;\n    {first}\n    cells[i].b = {value};\n"
                )
            }
            13 => format!(
                // A loop that ends when the data says so.
                "{line}    if (i >= n) return;\n    {element} sum = ({element}){constant};\n\
                 \x20   for (int k = 0; k < 8; ++k) {{\n\
                 \x20       if (in[i + k] > ({element})900) break;\n\
                 \x20       sum = mad(in[i + k], scale, sum);\n    }}\n    out[i] = sum;\n"
            ),
            14 if element != "double" => format!(
                // Places that the data decides; all threads put the same there.
                "{line}    if (i < n) atomicExch(&out[bits(in[i]) % 512u], ({element}){constant});\n"
            ),
            _ => {
                // A thread does a row, or every so many rows.
                let pitch = self.pitch;
                let place = format!("row * {pitch} + c");
                let value = self.value(&place, &place, false, Some(&place));
                format!(
                    "{line}    for (int row = i; row < n / width; row += gridDim.x * blockDim.x)\n\
                     \x20       for (int c = 0; c < width; ++c) out[{place}] = {value};\n"
                )
            }
        }
    }

    /// A table with the numbers below 32 in some order.
    fn order_table(&mut self) -> String {
        let mut order: Vec<u32> = (0..32).collect();
        order.shuffle(self.random);
        let name = format!("order_{}_{}", self.number, self.count);
        self.count += 1;
        let space = self.pick(&["__constant__", "__device__"]);
        let _ = writeln!(self.definitions, "{space} int {name}[32] = {{");
        for number in order {
            let _ = write!(self.definitions, " {number},");
        }
        self.definitions.push_str("\n};\n");
        name
    }

    /// What threads tell each other by way of the block's shared memory.
    fn through_memory_body(&mut self, constant: i32, line: &str) -> String {
        let element = self.element;
        // The block's sum in shared memory, then every thread adds it to its element.
        format!(
            "    __shared__ {element} sums[1024];\n{line}\
                     \x20   sums[threadIdx.x] = i < n ? in[i] : ({element})0;\n    __syncthreads();\n\
                     \x20   if (threadIdx.x == 0)\n\
                     \x20       for (int t = 1; t < (int)blockDim.x; ++t) sums[0] = mad(({element})1, sums[0], sums[t]);\n\
                     \x20   __syncthreads();\n\
                     \x20   if (i < n) out[i] = mad(sums[0], scale, ({element}){constant});\n"
        )
    }

    /// A line of threads that have a few elements each, every one under conditions of its own.
    pub fn own_tile_body(&mut self, kernel: &mut Kernel) -> String {
        let constant = self.random.random_range(1..9);
        let element = self.element;
        kernel.in_place = true;
        // Mostly one manner, so that what is next to each other often has the same elements.
        let (first, next) = self.pick(&[
            (
                "blockIdx.x * 4 * blockDim.x + threadIdx.x",
                "k * (int)blockDim.x",
            ),
            (
                "blockIdx.x * 4 * blockDim.x + threadIdx.x",
                "k * (int)blockDim.x",
            ),
            ("(blockIdx.x * blockDim.x + threadIdx.x) * 4", "k"),
            (
                "threadIdx.x + 4 * blockDim.x * blockIdx.x",
                "(int)blockDim.x * k",
            ),
        ]);
        let value = self.value("i", "i", true, Some("i"));
        let condition = match self.random.random_range(0..6) {
            0 => format!("i < n && k != {}", constant % 4),
            1 => format!("i < n && in[i] > ({element}){constant}"),
            2 => format!("i < n - {constant}"),
            _ => "i < n".to_owned(),
        };
        let besides = match self.random.random_range(0..6) {
            0 => format!("        else if (i < n + {constant}) out[i] = in[i];\n"),
            1 => format!(
                "        if (i < n && k == {}) out[i] = out[i];\n",
                constant % 4
            ),
            _ => String::new(),
        };
        format!(
            "    int first = {first};\n\
             \x20   for (int k = 0; k < 4; ++k) {{\n        int i = first + {next};\n\
             \x20       if ({condition}) out[i] = {value};\n{besides}    }}\n"
        )
    }

    /// The plane of [`Case::plane_body`], through a tile in shared memory.
    pub fn tile_body(&mut self) -> String {
        let (element, pitch) = (self.element, self.pitch);
        let other = self.pick(&[
            "tile[blockDim.y - 1 - threadIdx.y][threadIdx.x]",
            "tile[threadIdx.y][blockDim.x - 1 - threadIdx.x]",
            "tile[(threadIdx.y + 1) % blockDim.y][(threadIdx.x + 1) % blockDim.x]",
        ]);
        format!(
            "    __shared__ {element} tile[16][33];\n\
             \x20   int column = blockIdx.x * blockDim.x + threadIdx.x;\n\
             \x20   int row = blockIdx.y * blockDim.y + threadIdx.y;\n\
             \x20   bool inside = column < width && row < n / width;\n\
             \x20   tile[threadIdx.y][threadIdx.x] = inside ? in[row * {pitch} + column] : ({element})1;\n\
             \x20   __syncthreads();\n\
             \x20   if (inside) out[row * {pitch} + column] = mad({other}, scale, tile[threadIdx.y][threadIdx.x]);\n"
        )
    }

    /// The plane of [`Case::plane_body`] with rows along x.
    pub fn transposed_body(&mut self) -> (String, bool) {
        let pitch = self.pitch;
        let place = format!("row * {pitch} + column");
        let own_only = self.chance(0.6);
        let value = self.value(&place, &place, own_only, Some(&place));
        let body = format!(
            "    int row = blockIdx.x * blockDim.x + threadIdx.x;\n\
             \x20   int column = blockIdx.y * blockDim.y + threadIdx.y;\n\
             \x20   if (column < width && row < n / width) out[{place}] = {value};\n"
        );
        (body, own_only)
    }

    /// Rows are remapped out to two layers of blocks in three dimensions.
    pub fn solid_body(&mut self) -> (String, bool) {
        let pitch = self.pitch;
        let place = format!("(layer * half + row) * {pitch} + column");
        let own_only = self.chance(0.6);
        let value = self.value(&place, &place, own_only, Some(&place));
        let body = format!(
            "    int column = blockIdx.x * blockDim.x + threadIdx.x;\n\
             \x20   int row = blockIdx.y * blockDim.y + threadIdx.y;\n\
             \x20   int layer = blockIdx.z * blockDim.z + threadIdx.z, half = n / width / 2;\n\
             \x20   if (column >= width || row >= half || layer >= 2) return;\n\
             \x20   out[{place}] = {value};\n"
        );
        (body, own_only)
    }
}
