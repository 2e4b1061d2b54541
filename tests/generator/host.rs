//! Random host code: what stands around and between launches.

use super::Case;
use super::kernels::{Kernel, Shape};
use rand::Rng;
use std::fmt::Write;

/// What a host function has at hand.
struct Scene {
    /// `None`: every kernel has a shape of its own.
    shape: Option<Shape>,
    threads: u32,
    /// Pointers that may be given to kernels; any two are different allocations.
    pointers: Vec<String>,
    /// Kernels defined so far, to be launched again.
    kernels: Vec<Kernel>,
    /// Two streams with an event, used in turn.
    streams: bool,
    /// Nesting of the statement.
    depth: usize,
    /// How many of the statements around it are loops with the counter `step`.
    loops: usize,
    /// Launch statements still to be written.
    budget: usize,
}

impl Case<'_> {
    /// The host function `case_N(int n, int repeat, int stride)`.
    pub fn host_function(&mut self) -> String {
        let element = self.element;
        let mut text = format!(
            "static void case_{}(int n, int repeat, int stride) {{\n",
            self.number
        );
        let buffers = self.random.random_range(2..5);
        for buffer in 0..buffers {
            let _ = writeln!(
                text,
                "    {element} *b{buffer} = make<{element}>({buffer});"
            );
        }
        let width = self.pick(&[8, 16, 24]);
        let padding = self.pick(&[0, 3, 8]);
        let scale = self.random.random_range(1..5);
        let _ = writeln!(
            text,
            "    int width = {width} + (n & 1), pitch = width + (n > 200 ? {padding} : 0);\n\
             \x20   {element} scale = ({element}){scale};\n    (void)pitch;"
        );
        let mut scene = Scene {
            shape: self.pick(&[
                Some(Shape::Line),
                Some(Shape::Line),
                Some(Shape::Line),
                Some(Shape::Rows),
                Some(Shape::Plane),
                Some(Shape::Solid),
                None,
            ]),
            threads: self.pick(&[32, 64, 128]),
            pointers: (0..buffers).map(|buffer| format!("b{buffer}")).collect(),
            kernels: Vec::new(),
            streams: self.chance(0.12),
            depth: 0,
            loops: 0,
            budget: self.random.random_range(2..7),
        };
        if self.chance(0.2) {
            let _ = writeln!(text, "    {element} *p = b0, *q = b1;");
            scene.pointers[0] = "p".to_owned();
            scene.pointers[1] = "q".to_owned();
        }
        if scene.streams {
            text.push_str(
                "    cudaStream_t s0, s1;\n    cudaEvent_t event;\n    cudaStreamCreate(&s0);\n\
                 \x20   cudaStreamCreate(&s1);\n    cudaEventCreate(&event);\n",
            );
        }
        while scene.budget > 0 {
            self.statement(&mut text, &mut scene);
        }
        if scene.streams {
            text.push_str("    cudaStreamSynchronize(s0);\n    cudaStreamSynchronize(s1);\n");
        }
        for buffer in 0..buffers {
            let _ = writeln!(
                text,
                "    show(\"case {} b{buffer}\", b{buffer});",
                self.number
            );
        }
        if self.chance(0.5) {
            for buffer in 0..buffers {
                let _ = writeln!(text, "    cudaFree(b{buffer});");
            }
        }
        text.push_str("}\n\n");
        text
    }

    /// A launch, or a loop or branch around some.
    fn statement(&mut self, text: &mut String, scene: &mut Scene) {
        if scene.depth < 2 && self.chance(0.15) {
            let opening = self.pick(&[
                "for (int step = 0; step < repeat; ++step) {",
                "for (int step = 0; step < repeat; ++step) {",
                "for (int step = 2; step > 0; --step) {",
                "if (n > 700) {",
                "if (repeat != 1) {",
                "{",
            ]);
            let _ = writeln!(text, "    {opening}");
            scene.depth += 1;
            scene.loops += usize::from(opening.starts_with("for"));
            let inner = self.random.random_range(1..4);
            for _ in 0..inner {
                self.statement(text, scene);
            }
            scene.depth -= 1;
            scene.loops -= usize::from(opening.starts_with("for"));
            if scene.pointers[0] == "p" && opening.starts_with("for") && self.chance(0.7) {
                let element = self.element;
                let _ = writeln!(text, "    {element} *t = p; p = q; q = t;");
            }
            text.push_str("    }\n");
            return;
        }
        self.between(text, scene);
        self.launch(text, scene);
        scene.budget = scene.budget.saturating_sub(1);
    }

    fn launch(&mut self, text: &mut String, scene: &mut Scene) {
        let again = !scene.kernels.is_empty() && self.chance(0.2);
        let kernel = if again {
            let index = self.random.random_range(0..scene.kernels.len());
            scene.kernels[index].clone()
        } else {
            let any = [
                Shape::Line,
                Shape::Plane,
                Shape::Transposed,
                Shape::Solid,
                Shape::Rows,
            ];
            let shape = scene.shape.unwrap_or_else(|| self.pick(&any));
            let kernel = self.kernel(shape);
            scene.kernels.push(kernel.clone());
            kernel
        };
        let (out, input) = self.operands(scene, &kernel);
        let count = if self.chance(if self.tame { 0.1 } else { 0.25 }) {
            self.pick(&["n / 2", "n - 1", "n + 1"])
        } else {
            "n"
        };
        // Arguments that the counter of a host loop decides.
        let counted = scene.loops > 0 && self.chance(0.25);
        let count = if counted {
            self.pick(&["n - step", "n / (step + 1)", "step < 1 ? n : n / 2"])
        } else {
            count
        };
        let mut threads = scene.threads;
        let is_line = kernel.shape == Shape::Line;
        if self.chance(if self.tame { 0.03 } else { 0.1 }) && is_line {
            threads = 256;
        } else if is_line && scene.shape.is_none() {
            threads = self.pick(&[32, 64, 128, 256]);
        }
        let (tile_x, tile_y) = match scene.shape {
            Some(_) => (8, 8),
            None => self.pick(&[(8, 8), (16, 4), (4, 16), (32, 2)]),
        };
        let mut configuration = match kernel.shape {
            Shape::Line => format!("(n + {threads} - 1) / {threads}, {threads}"),
            Shape::Rows => format!("n / width + 1, {threads}"),
            Shape::Plane => format!(
                "dim3((width + {tile_x} - 1) / {tile_x}, (n / width + {tile_y} - 1) / {tile_y}), \
                 dim3({tile_x}, {tile_y})"
            ),
            Shape::Transposed => format!(
                "dim3((n / width + {tile_x} - 1) / {tile_x}, (width + {tile_y} - 1) / {tile_y}), \
                 dim3({tile_x}, {tile_y})"
            ),
            Shape::Solid => {
                "dim3((width + 3) / 4, (n / width / 2 + 3) / 4, 1), dim3(4, 4, 2)".to_owned()
            }
        };
        let shared = if kernel.shared_elements {
            format!("{threads} * sizeof({})", self.element)
        } else {
            "0".to_owned()
        };
        if scene.streams {
            let stream = if scene.budget.is_multiple_of(3) {
                "s1"
            } else {
                "s0"
            };
            let other = if stream == "s1" { "s0" } else { "s1" };
            if self.chance(0.5) {
                let _ = writeln!(
                    text,
                    "    cudaEventRecord(event, {other});\n    cudaStreamWaitEvent({stream}, event, 0);"
                );
                let _ = write!(configuration, ", {shared}, {stream}");
            } else {
                let _ = write!(configuration, ", {shared}, s0");
                text.push_str("    cudaStreamSynchronize(s1);\n");
            }
        } else if kernel.shared_elements {
            let _ = write!(configuration, ", {shared}");
        }
        let name = &kernel.name;
        let arguments = if kernel.packed {
            format!(
                "(Pack<{}>{{{out}, {input}, {count}, width, pitch, stride, scale}})",
                self.element
            )
        } else {
            format!("({out}, {input}, {count}, width, pitch, stride, scale)")
        };
        if !kernel.packed && !scene.streams && self.chance(0.12) {
            // The same launch behind a helper.
            let helper = format!("helper_{}_{}", self.number, self.count);
            self.count += 1;
            let (opening, call) = match self.random.random_range(0..3) {
                0 => (
                    format!(
                        "template <typename T> static void {helper}(T *x, const T *y, int n, int count, int width, int pitch, int stride, T scale) {{"
                    ),
                    format!("{helper}({out}, {input}, n, {count}, width, pitch, stride, scale);"),
                ),
                1 => (
                    format!(
                        "__attribute__((noinline)) static void {helper}({0} *x, const {0} *y, int n, int count, int width, int pitch, int stride, {0} scale) {{",
                        self.element
                    ),
                    format!("{helper}({out}, {input}, n, {count}, width, pitch, stride, scale);"),
                ),
                _ => (
                    format!(
                        "struct {helper} {{ {0} *x; const {0} *y; int n, count, width, pitch, stride; {0} scale; void run() {{",
                        self.element
                    ),
                    format!(
                        "{helper} object{{{out}, {input}, n, {count}, width, pitch, stride, scale}}; object.run();"
                    ),
                ),
            };
            let closing = if opening.starts_with("struct") {
                "} };"
            } else {
                "}"
            };
            let _ = writeln!(
                self.definitions,
                "{opening}\n    {name}<<<{configuration}>>>(x, y, count, width, pitch, stride, scale);\n{closing}\n"
            );
            let _ = writeln!(text, "    {{ {call} }}");
            return;
        }
        let _ = writeln!(text, "    {name}<<<{configuration}>>>{arguments};");
    }

    /// Output and input pointer of a launch: apart, or the same for a kernel that allows it.
    fn operands(&mut self, scene: &Scene, kernel: &Kernel) -> (String, String) {
        let out = self.random.random_range(0..scene.pointers.len());
        let input = self.random.random_range(0..scene.pointers.len());
        let output = scene.pointers[out].clone();
        let plain = self.tame && self.chance(0.9);
        let offset = if plain {
            ""
        } else {
            let moving = if scene.loops > 0 { " + step" } else { " + 1" };
            self.pick(&["", "", "", "", " + 32", moving, " + (n & 31)"])
        };
        if input != out {
            let second = if plain {
                ""
            } else {
                self.pick(&["", "", "", "", " + 32", " + HALF"])
            };
            return (
                format!("{output}{offset}"),
                format!("{}{second}", scene.pointers[input]),
            );
        }
        if kernel.in_place && self.chance(0.7) {
            return (format!("{output}{offset}"), format!("{output}{offset}"));
        }
        if self.chance(0.5) {
            (format!("{output}{offset}"), format!("{output} + HALF"))
        } else {
            (format!("{output} + HALF"), format!("{output}{offset}"))
        }
    }

    /// What stands before a launch.
    fn between(&mut self, text: &mut String, scene: &Scene) {
        let a = self.random.random_range(0..scene.pointers.len());
        let b = self.random.random_range(0..scene.pointers.len());
        let (first, second) = (&scene.pointers[a], &scene.pointers[b]);
        let element = self.element;
        let kind = if self.tame && self.chance(0.85) {
            self.pick(&[0, 2, 3, 4, 13, 22, 22, 22, 22])
        } else {
            self.random.random_range(0..22)
        };
        match kind {
            0 | 1 => text.push_str("    cudaDeviceSynchronize();\n"),
            2 => text.push_str(
                "    if (cudaGetLastError() != cudaSuccess) { printf(\"error PASS\\n\"); exit(0); }\n",
            ),
            3 => text.push_str("    if (cudaGetLastError() != cudaSuccess) return;\n"),
            4 => text.push_str(
                "    { cudaError_t e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf(\"%s\\n\", cudaGetErrorString(e)); return; } }\n",
            ),
            5 if a != b => {
                let _ = writeln!(
                    text,
                    "    cudaMemcpy({first}, {second}, 64 * sizeof({element}), cudaMemcpyDeviceToDevice);"
                );
            }
            6 => {
                let _ = writeln!(text, "    cudaMemset({first}, 1, 16 * sizeof({element}));");
            }
            7 => {
                let _ = writeln!(text, "    if (n == 3) {{ show(\"early\", {first}); return; }}");
            }
            8 => text.push_str("    printf(\"between\\n\");\n"),
            9 => {
                let _ = writeln!(
                    text,
                    "    {{ {element} value; cudaMemcpy(&value, {first}, sizeof value, cudaMemcpyDeviceToHost); printf(\"%g\\n\", (double)value); if (value > ({element})500) printf(\"large\\n\"); }}"
                );
            }
            10 | 11 => self.symbol_copy(text),
            12 => {
                let _ = writeln!(
                    text,
                    "    cudaMemcpyAsync({first} + 5, {first} + HALF, 7 * sizeof({element}), cudaMemcpyDeviceToDevice);"
                );
            }
            13 => {
                let _ = writeln!(
                    text,
                    "    {{ {element} *fresh; cudaMalloc(&fresh, 64); cudaMemset(fresh, 0, 64); cudaFree(fresh); }}"
                );
            }
            _ => {}
        }
    }

    fn symbol_copy(&mut self, text: &mut String) {
        let element = self.element;
        let Some(name) = self.variables.last().cloned() else {
            return;
        };
        if self.chance(0.6) {
            let value = self.random.random_range(1..9);
            let _ = writeln!(
                text,
                "    {{ {element} table[16]; for (int k = 0; k < 16; ++k) table[k] = ({element})(k + {value}); cudaMemcpyToSymbol({name}, table, sizeof table); }}"
            );
        } else {
            let _ = writeln!(
                text,
                "    {{ {element} value; cudaMemcpyFromSymbol(&value, {name}, sizeof value); printf(\"%g\\n\", (double)value); }}"
            );
        }
    }
}
