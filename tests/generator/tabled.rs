//! Launches of kernels that find their pointers in tables in memory of the device, which the host has filled:
//! lists of pointers and lists of pairs, with entries that are equal, that the run decides on, that lead into parts
//! of one allocation, and that are written again between launches; cells over steps whose places all stand in one list.
//!
//! Invariant: what entries may be is settled before anything is written, so that a launch whose kernel reads other
//! threads' elements never writes where it reads, whenever in the run it comes.

use super::Case;
use super::host::Scene;
use rand::Rng;
use std::fmt::Write;

/// The kernels, for every type.
pub const KERNELS: &str = r#"
template <typename T> struct Places {
    const T *in;
    T *out;
};

// Where a pair leads: the same place or apart. `kept` leads nowhere else.
template <typename T> __global__ void pair_own(const Places<T> *pair, T *kept, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) pair->out[i] = mad(pair->in[i], scale, kept[i]);
}

template <typename T> __global__ void pair_from_last(const Places<T> *__restrict__ pair, T *__restrict__ kept, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    kept[i] = scale;
    pair->out[i] = mad(pair->in[n - 1 - i], scale, (T)2);
}

template <typename T> __global__ void pair_mirror(const Places<T> *pair, T *kept, int n, T scale) {
    const T *in = pair->in;
    T *out = pair->out;
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.x * blockDim.x + (blockDim.x - 1 - threadIdx.x);
    if (i >= n || j >= n) return;
    kept[i] = mad(in[j], scale, in[i]);
    out[i] = mad(kept[i], scale, (T)4);
}

// The first and second entry of a list: the same place or apart.
template <typename T> __global__ void list_own(T *const *list, T *kept, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    list[1][i] = mad(list[0][i], scale, (T)3);
    kept[i] = mad(kept[i], scale, (T)1);
}

template <typename T> __global__ void list_near(T *const *list, T *kept, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) list[1][i] = mad(list[0][i + 1], scale, kept[i]);
}

// One entry and a pointer.
template <typename T> __global__ void list_in(T *const *list, const T *in, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) list[0][i] = mad(in[i], scale, (T)4);
}

template <typename T> __global__ void list_out(T *out, T *const *list, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(list[0][i], scale, (T)5);
}

template <typename T> __global__ void list_from_last(T *out, T *const *list, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(list[0][n - 1 - i], scale, (T)6);
}

// Two entries; so many entries as the run says.
template <typename T> __global__ void list_both(T *out, T *const *list, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = mad(list[0][i], scale, list[1][i]);
}

template <typename T> __global__ void list_sum(T *out, T *const *list, int entries, int n, T scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T sum = scale;
    for (int k = 0; k < entries; ++k) sum = mad(list[k][i], (T)1, sum);
    out[i] = sum;
}

// Changes an entry.
template <typename T> __global__ void list_give(T **list, T *place) { *list = place; }
"#;

/// Entries of a list, pairs of a list of them.
const ENTRIES: usize = 6;

/// What is compared at the end are no addresses.
const END: &str = "    memset((void *)filled, 0, sizeof filled); \
                   (void)cudaMemcpy(list, filled, sizeof filled, cudaMemcpyHostToDevice); cudaFree(list); cudaFree(kept);\n";

/// What an entry may hold.
#[derive(Clone)]
struct Entry {
    /// What the host may write there; the first one from the start on.
    choices: Vec<String>,
    /// Halves of buffers where that is.
    halves: Vec<(usize, usize)>,
}

impl Entry {
    fn is_apart_from(&self, other: &[(usize, usize)]) -> bool {
        !self.halves.iter().any(|half| other.contains(half))
    }

    /// Whether both are one place at all times.
    fn is_same_as(&self, other: &Self) -> bool {
        self.choices.len() == 1 && self.choices == other.choices
    }
}

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote.
    pub fn tabled(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let _ = writeln!(
            text,
            "    {element} *kept; cudaMalloc(&kept, ELEMENTS * sizeof({element})); \
             cudaMemcpy(kept, initial<{element}>(8), ELEMENTS * sizeof({element}), cudaMemcpyHostToDevice);"
        );
        match self.chance(0.25) {
            true => self.tabled_cells(text, scene),
            false => self.tabled_entries(text, scene),
        }
        let _ = writeln!(text, "    show(\"case {} kept\", kept);", self.number);
        text.push_str(END);
        scene.last = None;
        scene.budget = 0;
    }

    /// A list of a few entries, and launches that each have some of them.
    fn tabled_entries(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let pairs = self.chance(0.5);
        let changes = self.chance(0.5);
        let entries: Vec<Entry> = (0..ENTRIES).map(|_| self.entry(scene, changes)).collect();
        let first: Vec<&str> = entries
            .iter()
            .map(|entry| entry.choices[0].as_str())
            .collect();
        let (kind, length) = match pairs {
            true => (format!("Places<{element}>"), ENTRIES / 2),
            false => (format!("{element} *"), ENTRIES),
        };
        let _ = writeln!(
            text,
            "    {kind} filled[{length}] = {{{}}}; {kind} *list; cudaMalloc(&list, sizeof filled); \
             cudaMemcpy(list, filled, sizeof filled, cudaMemcpyHostToDevice);",
            first.join(", ")
        );
        let streams = self.chance(0.2);
        if streams {
            text.push_str(
                "    cudaStream_t one, two;\n    cudaStreamCreate(&one);\n    cudaStreamCreate(&two);\n\
                 \x20   if (orders_streams || mix >> 10 & 1) two = one;\n",
            );
        }
        let around = self.chance(0.25);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
            scene.depth += 1;
            scene.loops += 1;
        }
        for _ in 0..self.pick(&[2, 2, 3, 3, 4, 5]) {
            if self.chance(0.08) {
                let between = self.pick(&[
                    "cudaDeviceSynchronize();",
                    "cudaMemset(b0, 1, 64);",
                    "cudaMemcpy(b0 + 5, b1 + HALF, 64, cudaMemcpyDeviceToDevice);",
                ]);
                let _ = writeln!(text, "    {between}");
            }
            if changes && self.chance(0.2) {
                let entry = self.random.random_range(0..ENTRIES);
                self.change(text, pairs, &entries, entry);
            }
            let stream = match streams {
                true => self.pick(&[", 0, one", ", 0, one", ", 0, two"]),
                false => "",
            };
            let threads = match self.chance(0.8) {
                true => "64",
                false => self.pick(&["32", "128"]),
            };
            let configuration = format!("<<<(n + {threads} - 1) / {threads}, {threads}{stream}>>>");
            if let Some((name, arguments)) = self.by_list(scene, pairs, &entries) {
                let _ = writeln!(
                    text,
                    "    {name}<{element}>{configuration}({arguments}, n, ({element})3);"
                );
            }
        }
        if !pairs && self.chance(0.03) {
            let _ = writeln!(
                text,
                "    list_give<{element}><<<1, 1>>>(list + {}, b0);",
                ENTRIES - 1
            );
        }
        if around {
            text.push_str("    }\n");
            scene.depth -= 1;
            scene.loops -= 1;
        }
    }

    /// What an entry may be: a buffer or its other half, one of two, a few elements further on.
    fn entry(&mut self, scene: &Scene, changes: bool) -> Entry {
        let choices = match changes && self.chance(0.4) {
            true => 2,
            false => 1,
        };
        let mut entry = Entry {
            choices: Vec::new(),
            halves: Vec::new(),
        };
        for _ in 0..choices {
            let (one, half) = self.half(scene);
            entry.halves.push(half);
            let choice = match self.random.random_range(0..8) {
                0 => {
                    let (other, half) = self.half(scene);
                    entry.halves.push(half);
                    format!("mix >> 8 & 1 ? {one} : {other}")
                }
                1 => format!("{one} + (n & 31)"),
                2 => format!("{one} + 64"),
                _ => one,
            };
            entry.choices.push(choice);
        }
        entry
    }

    fn half(&mut self, scene: &Scene) -> (String, (usize, usize)) {
        let buffer = self.random.random_range(0..scene.pointers.len());
        let name = &scene.pointers[buffer];
        match self.chance(0.3) {
            true => (format!("{name} + HALF"), (buffer, 1)),
            false => (name.clone(), (buffer, 0)),
        }
    }

    /// Writes an entry again, in one of the ways in which a host can.
    fn change(&mut self, text: &mut String, pairs: bool, entries: &[Entry], entry: usize) {
        let choices = &entries[entry].choices;
        let choice = choices[self.random.random_range(0..choices.len())].clone();
        let (place, at) = match (pairs, entry % 2) {
            (true, 0) => (
                format!("filled[{}].in", entry / 2),
                format!("list[{}].in", entry / 2),
            ),
            (true, _) => (
                format!("filled[{}].out", entry / 2),
                format!("list[{}].out", entry / 2),
            ),
            (false, _) => (format!("filled[{entry}]"), format!("list[{entry}]")),
        };
        let copy = match self.random.random_range(0..5) {
            0 => "cudaMemcpy(list, filled, sizeof filled, cudaMemcpyHostToDevice);".to_owned(),
            1 => format!(
                "cudaMemcpy((char *)&{at}, (char *)&{place}, 4, cudaMemcpyHostToDevice); \
                 cudaMemcpy((char *)&{at} + 4, (char *)&{place} + 4, 4, cudaMemcpyHostToDevice);"
            ),
            2 => {
                format!("cudaMemcpyAsync(&{at}, &{place}, sizeof {place}, cudaMemcpyHostToDevice);")
            }
            _ => format!("cudaMemcpy(&{at}, &{place}, sizeof {place}, cudaMemcpyHostToDevice);"),
        };
        let _ = writeln!(text, "    {{ {place} = {choice}; {copy} }}");
    }

    /// A launch that finds pointers in the list: the kernel and its arguments. `None` where what was drawn would race
    /// with itself.
    fn by_list(
        &mut self,
        scene: &mut Scene,
        pairs: bool,
        entries: &[Entry],
    ) -> Option<(&'static str, String)> {
        for _ in 0..12 {
            if pairs {
                let pair = self.random.random_range(0..ENTRIES / 2);
                let (input, output) = (&entries[2 * pair], &entries[2 * pair + 1]);
                let apart = input.is_apart_from(&output.halves);
                let kernel = self.pick(&["pair_own", "pair_own", "pair_from_last", "pair_mirror"]);
                if apart || (kernel == "pair_own" && input.is_same_as(output)) {
                    return Some((kernel, format!("list + {pair}, kept")));
                }
                continue;
            }
            let entry = self.random.random_range(0..ENTRIES - 1);
            let (first, second) = (&entries[entry], &entries[entry + 1]);
            let kernel = self.pick(&[
                "list_own",
                "list_own",
                "list_near",
                "list_in",
                "list_in",
                "list_out",
                "list_out",
                "list_from_last",
                "list_both",
                "list_sum",
            ]);
            let buffer = match scene.last {
                Some(last) if self.chance(0.5) => last,
                _ => self.random.random_range(0..scene.pointers.len()),
            };
            let pointer = scene.pointers[buffer].clone();
            let halves = [(buffer, 0)];
            let near = match kernel {
                "list_own" | "list_near" => first.is_apart_from(&second.halves),
                "list_in" | "list_out" | "list_from_last" => first.is_apart_from(&halves),
                "list_both" => first.is_apart_from(&halves) && second.is_apart_from(&halves),
                _ => entries[..3]
                    .iter()
                    .all(|entry| entry.is_apart_from(&halves)),
            };
            if !(near || (kernel == "list_own" && first.is_same_as(second))) {
                continue;
            }
            scene.last = Some(buffer);
            let arguments = match kernel {
                "list_own" | "list_near" => format!("list + {entry}, kept"),
                "list_in" => format!("list + {entry}, {pointer}"),
                "list_sum" => format!("{pointer}, list, repeat"),
                _ => format!("{pointer}, list + {entry}"),
            };
            return Some((kernel, arguments));
        }
        None
    }

    /// Cells over steps, as stacks of recurrent layers are, whose places stand in a list.
    fn tabled_cells(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let lasting = self.pick(&["static ", ""]);
        let states = &scene.pointers[0];
        let (in_row, out_row) = self.pick(&[
            (
                "(step - 1) * (cells + 1) + cell",
                "step * (cells + 1) + cell",
            ),
            ("step * (cells + 1) + cell - 1", "step * (cells + 1) + cell"),
            (
                "(step - 1) * (cells + 1) + cell - 1",
                "step * (cells + 1) + cell",
            ),
            ("step * (cells + 1) + cell", "step * (cells + 1) + cell"),
            ("step * (cells + 1) + cell", "cell"),
        ]);
        let _ = writeln!(
            text,
            "    int steps = 1 + repeat, cells = 1 + (int)(mix >> 4 & 3), elements = n < 120 ? n : 120;\n\
             \x20   {lasting}Places<{element}> filled[25];\n\
             \x20   Places<{element}> *list;\n\
             \x20   cudaMalloc(&list, sizeof filled);\n\
             \x20   for (int step = 1; step <= steps; ++step)\n\
             \x20       for (int cell = 1; cell <= cells; ++cell)\n\
             \x20           filled[step * (cells + 1) + cell] = {{{states} + ({in_row}) * 128, {states} + ({out_row}) * 128}};\n\
             \x20   (void)cudaMemcpy(list, filled, sizeof filled, cudaMemcpyHostToDevice);"
        );
        let own = in_row == out_row;
        let mut loops = [
            "for (int step = 1; step <= steps; ++step) {",
            "for (int cell = 1; cell <= cells; ++cell) {",
        ];
        if self.chance(0.3) {
            loops.swap(0, 1);
        }
        for opening in loops {
            let _ = writeln!(text, "    {opening}");
        }
        for _ in 0..self.random.random_range(1..4) {
            let kernel = match own {
                true => "pair_own",
                false => self.pick(&["pair_own", "pair_from_last", "pair_mirror"]),
            };
            let threads = self.pick(&["32", "32", "64"]);
            let _ = writeln!(
                text,
                "    {kernel}<{element}><<<(elements + {threads} - 1) / {threads}, {threads}>>>(list + step * (cells + 1) + cell, kept + (step * (cells + 1) + cell) * 128, elements, ({element})2);"
            );
        }
        text.push_str("    }\n    }\n");
    }
}
