//! Random host code: what stands around and between launches.

use super::Case;
use super::kernels::{Kernel, Shape};
use super::together::Manner;
use rand::Rng;
use std::fmt::Write;

/// What a host function has at hand.
pub(super) struct Scene {
    /// `None`: every kernel has a shape of its own.
    pub(super) shape: Option<Shape>,
    /// Threads of a block of a line or of rows: a literal, or a variable of the host function.
    pub(super) threads: &'static str,
    /// Pointers that may be given to kernels; any two are different allocations.
    pub(super) pointers: Vec<String>,
    /// `ring[0]` and `ring[1]` are the first two of them.
    pub(super) ring: bool,
    /// Kernels defined so far, to be launched again.
    pub(super) kernels: Vec<Kernel>,
    /// Host functions that launch a kernel, to be called again with other buffers.
    helpers: Vec<Helper>,
    /// Two streams with an event, used in turn.
    pub(super) streams: bool,
    /// The pointer that the last launch wrote through.
    pub(super) last: Option<usize>,
    /// Nesting of the statement.
    pub(super) depth: usize,
    /// How many of the statements around it are loops with the counter `step`.
    pub(super) loops: usize,
    /// Launch statements still to be written.
    pub(super) budget: usize,
    /// Launches are to join: mostly of kernels that keep to their blocks, with arguments in place.
    pub(super) near: bool,
    /// The pointers that the next launch writes and reads, where they are not to be chosen.
    pub(super) fixed: Option<(usize, usize)>,
}

/// A host function or class that launches a kernel.
#[derive(Clone)]
struct Helper {
    name: String,
    kernel: Kernel,
    is_class: bool,
}

impl Helper {
    fn call(&self, arguments: &str) -> String {
        let name = &self.name;
        match self.is_class {
            true => format!("{name} object{{{arguments}}}; object.run();"),
            false => format!("{name}({arguments});"),
        }
    }
}

impl Case<'_> {
    /// The host function `case_N(int n, int repeat, int stride)`.
    pub fn host_function(&mut self) -> String {
        let element = self.element;
        let mut text = format!(
            "static void case_{}(int n, int repeat, int stride{}) {{\n",
            self.number,
            if self.pool.is_empty() {
                ""
            } else {
                ", unsigned mix"
            },
        );
        let pooled = !self.pool.is_empty();
        let buffers = self.random.random_range(2..if pooled { 7 } else { 5 });
        // Buffers of their own, or parts of one allocation, cut where constants or the run say.
        let cut = self.chance(0.2).then(|| {
            self.pick(&[
                "ELEMENTS",
                "ELEMENTS + 32 * (n & 3)",
                "n > 500 ? ELEMENTS : ELEMENTS + 64",
            ])
        });
        if let Some(part) = cut {
            let _ = writeln!(
                text,
                "    int part = {part};\n    {element} *parts = make_parts<{element}>({buffers}, part);"
            );
        }
        // Buffers that a loop allocates, in some of the cases.
        let looped = pooled && cut.is_none() && self.number % 4 == 3;
        if looped {
            let _ = writeln!(
                text,
                "    {element} *made[{buffers}];\n\
                 \x20   for (int i = 0; i < {buffers}; ++i) {{\n\
                 \x20       cudaMalloc(&made[i], ELEMENTS * sizeof({element}));\n\
                 \x20       cudaMemcpy(made[i], initial<{element}>(i), ELEMENTS * sizeof({element}), cudaMemcpyHostToDevice);\n\
                 \x20   }}"
            );
        }
        for buffer in 0..buffers {
            let made = match cut {
                None if looped => format!("{element} *b{buffer} = made[{buffer}];"),
                Some(_) => format!("{element} *b{buffer} = parts + {buffer} * part;"),
                // Each allocation of a pooled case is one of its own for the analysis too.
                None if pooled => format!(
                    "{element} *b{buffer}; cudaMalloc(&b{buffer}, ELEMENTS * sizeof({element})); \
                     cudaMemcpy(b{buffer}, initial<{element}>({buffer}), ELEMENTS * sizeof({element}), cudaMemcpyHostToDevice);"
                ),
                None => format!("{element} *b{buffer} = make<{element}>({buffer});"),
            };
            let _ = writeln!(text, "    {made}");
        }
        let width = self.pick(&[8, 16, 24]);
        let padding = self.pick(&[0, 3, 8]);
        let scale = self.random.random_range(1..5);
        let _ = writeln!(
            text,
            "    int width = {width} + (n & 1), pitch = width + (n > 200 ? {padding} : 0);\n\
             \x20   {element} scale = ({element}){scale};\n    (void)pitch;"
        );
        let manner = self.manner();
        let shape = match manner {
            Manner::Any => self.scene_shape(),
            Manner::Chain => self.near_shape(),
            Manner::Sharing
            | Manner::Batches
            | Manner::Arranged
            | Manner::Mixed
            | Manner::Sized
            | Manner::Handed
            | Manner::Tabled
            | Manner::Hosted
            | Manner::Held
            | Manner::Parted
            | Manner::Reduced
            | Manner::Repeated => Some(Shape::Line),
        };
        let mut scene = Scene {
            shape,
            threads: self.pick(&["32", "64", "128"]),
            pointers: (0..buffers).map(|buffer| format!("b{buffer}")).collect(),
            ring: false,
            kernels: self.pool.clone(),
            helpers: Vec::new(),
            streams: matches!(manner, Manner::Any | Manner::Chain)
                && self.chance(if pooled { 0.05 } else { 0.12 }),
            last: None,
            depth: 0,
            loops: 0,
            budget: self.random.random_range(2..7),
            near: false,
            fixed: None,
        };
        if pooled && self.chance(0.15) {
            text.push_str("    int threads = 32 << (mix >> 1 & 3);\n");
            scene.threads = "threads";
        }
        if self.chance(0.2) {
            // Only the run knows which is which, or everybody does.
            let (p, q) = match pooled && self.chance(0.7) {
                true => ("mix & 1 ? b0 : b1", "mix & 1 ? b1 : b0"),
                false => ("b0", "b1"),
            };
            let _ = writeln!(text, "    {element} *p = {p}, *q = {q};");
            scene.pointers[0] = "p".to_owned();
            scene.pointers[1] = "q".to_owned();
        } else if self.chance(0.2) {
            let _ = writeln!(text, "    {element} *ring[2] = {{b0, b1}};");
            scene.ring = true;
        }
        if scene.streams {
            text.push_str(
                "    cudaStream_t s0, s1;\n    cudaEvent_t event;\n    cudaStreamCreate(&s0);\n\
                 \x20   cudaStreamCreate(&s1);\n    cudaEventCreate(&event);\n",
            );
        }
        self.together(manner, &mut text, &mut scene);
        while manner == Manner::Any && scene.budget > 0 {
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
        if cut.is_some() {
            text.push_str("    cudaFree(parts);\n");
        } else if self.chance(if pooled { 0.98 } else { 0.5 }) {
            for buffer in 0..buffers {
                let _ = writeln!(text, "    cudaFree(b{buffer});");
            }
        }
        text.push_str("}\n\n");
        text
    }

    /// The shape of most launches of a function; `None`: each has its own.
    fn scene_shape(&mut self) -> Option<Shape> {
        if !self.pool.is_empty() && self.chance(0.5) {
            return Some(Shape::Line);
        }
        self.pick(&[
            Some(Shape::Line),
            Some(Shape::Line),
            Some(Shape::Line),
            Some(Shape::Rows),
            Some(Shape::Plane),
            Some(Shape::Solid),
            None,
        ])
    }

    /// A launch, or a loop or branch around some.
    fn statement(&mut self, text: &mut String, scene: &mut Scene) {
        if scene.depth < 2 && self.chance(if self.pool.is_empty() { 0.15 } else { 0.1 }) {
            let opening = self.pick(&[
                "for (int step = 0; step < repeat; ++step) {",
                "for (int step = 0; step < repeat; ++step) {",
                "for (int step = 2; step > 0; --step) {",
                "if (n > 700) {",
                "if (repeat != 1) {",
                "{",
            ]);
            let is_loop = opening.starts_with("for");
            // A pointer that the loop moves on stands for one of the others.
            let last = scene.pointers.len() - 1;
            let moved = (is_loop && last >= 2 && self.chance(0.3)).then(|| {
                let name = format!("moving{}", self.count);
                self.count += 1;
                let before = std::mem::replace(&mut scene.pointers[last], name.clone());
                let element = self.element;
                let _ = writeln!(text, "    {element} *{name} = {before};");
                (name, before)
            });
            let _ = writeln!(text, "    {opening}");
            scene.depth += 1;
            scene.loops += usize::from(is_loop);
            let inner = self.random.random_range(1..4);
            for _ in 0..inner {
                self.statement(text, scene);
            }
            scene.depth -= 1;
            scene.loops -= usize::from(is_loop);
            if let Some((name, before)) = moved {
                let far = self.pick(&["1", "16", "width"]);
                let _ = writeln!(text, "    {name} += {far};");
                scene.pointers[last] = before;
            }
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

    pub(super) fn launch(&mut self, text: &mut String, scene: &mut Scene) {
        if !scene.helpers.is_empty() && self.chance(0.3) {
            let index = self.random.random_range(0..scene.helpers.len());
            let helper = scene.helpers[index].clone();
            let (out, input) = self.operands(scene, &helper.kernel);
            let arguments = format!("{out}, {input}, n, n, width, pitch, stride, scale");
            let _ = writeln!(text, "    {{ {} }}", helper.call(&arguments));
            return;
        }
        let again = !scene.kernels.is_empty() && (!self.pool.is_empty() || self.chance(0.2));
        let kernel = if again {
            self.known_kernel(scene)
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
        let odd = match self.pool.is_empty() {
            true if self.tame => 0.1,
            false if self.tame || scene.near => 0.02,
            _ => 0.25,
        };
        let count = if self.chance(odd) {
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
        if self.chance(odd / 2.0) && is_line {
            threads = "256";
        } else if is_line && scene.shape.is_none() {
            threads = self.pick(&["32", "64", "128", "256"]);
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
        // A helper does not see the variables of the host function.
        let may_help = !kernel.packed && !scene.streams && threads != "threads";
        if may_help && self.chance(0.12) {
            // The same launch behind a helper.
            let helper = format!("helper_{}_{}", self.number, self.count);
            self.count += 1;
            let element = self.element;
            let values = format!(
                "{element} *x, const {element} *y, int n, int count, int width, int pitch, int stride, {element} scale"
            );
            let opening = match self.random.random_range(0..3) {
                0 => format!(
                    "template <typename T> static void {helper}({}) {{",
                    values.replace(element, "T")
                ),
                1 => format!("__attribute__((noinline)) static void {helper}({values}) {{"),
                _ => format!(
                    "struct {helper} {{ {}; void run() {{",
                    values.replace(", ", "; ")
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
            let arguments = format!("{out}, {input}, n, {count}, width, pitch, stride, scale");
            let helper = Helper {
                name: helper,
                kernel,
                is_class: opening.starts_with("struct"),
            };
            let _ = writeln!(text, "    {{ {} }}", helper.call(&arguments));
            scene.helpers.push(helper);
            return;
        }
        let _ = writeln!(text, "    {name}<<<{configuration}>>>{arguments};");
    }

    /// One that is defined already; of the pool rather one of the scene's own shape.
    fn known_kernel(&mut self, scene: &Scene) -> Kernel {
        let near = scene.near && self.chance(0.92);
        let fits: Vec<&Kernel> = scene
            .kernels
            .iter()
            .filter(|kernel| scene.shape.is_none_or(|shape| shape == kernel.shape))
            .filter(|kernel| !near || kernel.near)
            .collect();
        let choices =
            match self.pool.is_empty() || fits.is_empty() || (!scene.near && self.chance(0.1)) {
                true => scene.kernels.iter().collect(),
                false => fits,
            };
        let index = self.random.random_range(0..choices.len());
        choices[index].clone()
    }

    /// Output and input pointer of a launch: apart, or the same for a kernel that allows it.
    fn operands(&mut self, scene: &mut Scene, kernel: &Kernel) -> (String, String) {
        if scene.ring && scene.loops > 0 && self.chance(0.5) {
            return (
                "ring[step & 1]".to_owned(),
                "ring[(step + 1) & 1]".to_owned(),
            );
        }
        let out = match scene.fixed {
            Some((out, _)) => out,
            None => self.random.random_range(0..scene.pointers.len()),
        };
        let input = match scene.last {
            _ if scene.fixed.is_some() => scene.fixed.map_or(0, |(_, input)| input),
            // Pools make chains.
            Some(last) if !self.pool.is_empty() && self.chance(0.6) => last,
            _ => self.random.random_range(0..scene.pointers.len()),
        };
        scene.last = Some(out);
        let output = scene.pointers[out].clone();
        let plain =
            (self.tame || scene.near) && self.chance(if self.pool.is_empty() { 0.9 } else { 0.97 });
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
    pub(super) fn between(&mut self, text: &mut String, scene: &Scene) {
        let a = self.random.random_range(0..scene.pointers.len());
        let b = self.random.random_range(0..scene.pointers.len());
        let (first, second) = (&scene.pointers[a], &scene.pointers[b]);
        let element = self.element;
        let kind = if self.tame && self.chance(0.85) {
            match self.pool.is_empty() {
                true => self.pick(&[0, 2, 3, 4, 13, 15, 17, 22, 22, 22, 22]),
                // Sets and copies may become segments.
                false => self.pick(&[
                    0, 2, 3, 4, 5, 6, 12, 13, 15, 17, 22, 22, 22, 22, 22, 22, 22, 22,
                ]),
            }
        } else {
            self.random.random_range(0..22)
        };
        match kind {
            0 | 1 => text.push_str("    cudaDeviceSynchronize();\n"),
            2 => {
                // One process runs all cases of a pool.
                let leave = if self.pool.is_empty() { "exit(0)" } else { "return" };
                let _ = writeln!(
                    text,
                    "    if (cudaGetLastError() != cudaSuccess) {{ printf(\"error PASS\\n\"); {leave}; }}"
                );
            }
            3 => text.push_str("    if (cudaGetLastError() != cudaSuccess) return;\n"),
            4 => text.push_str(
                "    { cudaError_t e = cudaDeviceSynchronize(); if (e != cudaSuccess) { printf(\"%s\\n\", cudaGetErrorString(e)); return; } }\n",
            ),
            5 if a != b => {
                let count = self.pick(&["64", "n", "width"]);
                let _ = writeln!(
                    text,
                    "    if (n >= 0) cudaMemcpy({first}, {second}, {count} * sizeof({element}), cudaMemcpyDeviceToDevice);"
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
            14 => text.push_str("    tell(n);\n"),
            15 | 16 => {
                let bytes = self.pick(&["sizeof value", "n > 300 ? sizeof value : 0"]);
                let _ = writeln!(
                    text,
                    "    {{ {element} value = 0; cudaMemcpy(&value, {first}, {bytes}, cudaMemcpyDeviceToHost); tell((double)value); }}"
                );
            }
            17 => {
                let _ = writeln!(
                    text,
                    "    {{ void *fresh; cudaMalloc(&fresh, 64); cudaFree(fresh); }}"
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
