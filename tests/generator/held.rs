//! Chains of launches whose pointers C++ objects hold: owners that free what they have, containers, objects that
//! swap what they read and write, layers behind virtual functions, and launches in lambdas that are called by name or
//! through `std::function`.

use super::Case;
use super::host::Scene;
use std::fmt::Write;

/// What the classes are made of.
pub const HEADERS: &str = "#include <algorithm>\n#include <array>\n#include <functional>\n#include <memory>\n\
    #include <new>\n#include <utility>\n#include <vector>\n";

/// Kernels and classes, for every type.
pub const CLASSES: &str = r#"
template <typename T> struct TimesPlus {
    T factor, summand;
    __device__ T operator()(T value) const { return mad(value, factor, summand); }
};

template <typename T, typename F> __global__ void on_each(T *out, const T *in, int n, F function) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = function(in[i]);
}

// Memory of the device, which goes with its owner.
template <typename T> class Owner {
    T *memory = nullptr;

  public:
    explicit Owner(int start) {
        if (cudaMalloc(&memory, ELEMENTS * sizeof(T)) != cudaSuccess) throw std::bad_alloc();
        cudaMemcpy(memory, initial<T>(start), ELEMENTS * sizeof(T), cudaMemcpyHostToDevice);
    }
    Owner(Owner &&other) noexcept : memory(std::exchange(other.memory, nullptr)) {}
    Owner &operator=(Owner &&other) noexcept {
        std::swap(memory, other.memory);
        return *this;
    }
    ~Owner() { cudaFree(memory); }
    T *get() const { return memory; }
};

// Two buffers that take turns.
template <typename T> struct Turns {
    T *from, *to;
    int n;
    void line(T scale) {
        on_line<T><<<(n + 127) / 128, 128>>>(to, from, n, 32, scale);
        std::swap(from, to);
    }
    void in_place(T scale) { on_each<<<(n + 127) / 128, 128>>>(from, from, n, TimesPlus<T>{scale, (T)1}); }
};

template <typename T> struct Layer {
    virtual ~Layer() = default;
    virtual void run(T *out, const T *in, int n) const = 0;
};

template <typename T> struct LineLayer : Layer<T> {
    T scale;
    explicit LineLayer(T by) : scale(by) {}
    void run(T *out, const T *in, int n) const override { on_line<T><<<(n + 127) / 128, 128>>>(out, in, n, 32, scale); }
};

template <typename T> struct EachLayer : Layer<T> {
    TimesPlus<T> function;
    explicit EachLayer(T by) : function{by, (T)5} {}
    void run(T *out, const T *in, int n) const override { on_each<<<(n + 127) / 128, 128>>>(out, in, n, function); }
};
"#;

impl Case<'_> {
    /// Launches of these kernels, each mostly reads what the one before wrote.
    pub fn held(&mut self, text: &mut String, scene: &mut Scene) {
        let element = self.element;
        let count = self.pick(&["n", "n", "1024"]);
        let _ = writeln!(text, "    int all = {count};");
        // How a buffer is spoken of, by its number.
        let (own, name): (usize, &str) = match self.pick(&[0, 1, 2, 3, 4]) {
            0 => {
                let _ = writeln!(
                    text,
                    "    Owner<{element}> own0(0), own1(1), own2(2);\n    if (mix & 1) std::swap(own0, own1);"
                );
                (3, "own#.get()")
            }
            1 => {
                let _ = writeln!(
                    text,
                    "    std::vector<Owner<{element}>> own;\n    for (int i = 0; i < 3; ++i) own.emplace_back(i);"
                );
                (3, "own[#].get()")
            }
            2 => {
                let _ = writeln!(
                    text,
                    "    std::vector<{element} *> own;\n    for (int i = 0; i < 4; ++i) own.push_back(make<{element}>(i));"
                );
                (4, "own[#]")
            }
            3 => {
                let _ = writeln!(
                    text,
                    "    using Pointer = std::unique_ptr<{element}, decltype(&cudaFree)>;\n\
                     \x20   Pointer own0(make<{element}>(0), &cudaFree), own1(make<{element}>(1), &cudaFree), own2(make<{element}>(2), &cudaFree);\n\
                     \x20   if (mix & 2) own1.swap(own2);"
                );
                (3, "own#.get()")
            }
            _ => {
                let _ = writeln!(
                    text,
                    "    std::array<{element} *, 3> own{{{{make<{element}>(0), make<{element}>(1), make<{element}>(2)}}}};\n\
                     \x20   if (mix & 4) std::reverse(own.begin(), own.end());"
                );
                (3, "own.at(#)")
            }
        };
        let mut places: Vec<String> = (0..own)
            .map(|buffer| name.replace('#', &buffer.to_string()))
            .collect();
        places.push(scene.pointers[0].clone());
        match self.pick(&[0, 0, 1, 2, 3]) {
            0 => self.held_launches(text, &places),
            1 => self.held_turns(text, &places),
            2 => self.held_layers(text, &places),
            _ => self.held_lambdas(text, &places),
        }
        for (buffer, place) in places[..own].iter().enumerate() {
            let _ = writeln!(
                text,
                "    show<{element}>(\"case {} own{buffer}\", {place});",
                self.number
            );
        }
        scene.budget = 0;
    }

    fn held_launches(&mut self, text: &mut String, places: &[String]) {
        let element = self.element;
        let mut input = self.pick_name(places);
        for _ in 0..self.pick(&[2, 3, 4, 5]) {
            let output = self.pick_name(places);
            let threads = self.pick(&["128", "128", "64"]);
            let grid = format!("(all + {threads} - 1) / {threads}, {threads}");
            let launch = match self.chance(0.5) {
                true => format!(
                    "on_each<<<{grid}>>>({output}, (const {element} *){input}, all, TimesPlus<{element}>{{({element})3, ({element})2}});"
                ),
                false => format!(
                    "on_line<{element}><<<{grid}>>>({output}, {input}, all, 32, ({element})3);"
                ),
            };
            let _ = writeln!(text, "    {launch}");
            input = if self.chance(0.8) {
                output
            } else {
                self.pick_name(places)
            };
        }
    }

    fn held_turns(&mut self, text: &mut String, places: &[String]) {
        let element = self.element;
        let (from, to) = (self.pick_name(places), self.pick_name(places));
        let _ = writeln!(text, "    Turns<{element}> turns{{{from}, {to}, all}};");
        let around = self.chance(0.4);
        if around {
            text.push_str("    for (int step = 0; step < repeat; ++step) {\n");
        }
        for _ in 0..self.pick(&[2, 3, 4]) {
            let call = self.pick(&["line", "line", "in_place"]);
            let _ = writeln!(text, "    turns.{call}(({element})3);");
        }
        if around {
            text.push_str("    }\n");
        }
    }

    fn held_layers(&mut self, text: &mut String, places: &[String]) {
        let element = self.element;
        let _ = writeln!(
            text,
            "    std::vector<std::unique_ptr<Layer<{element}>>> layers;"
        );
        for _ in 0..self.pick(&[2, 3]) {
            let layer = self.pick(&["LineLayer", "EachLayer"]);
            let _ = writeln!(
                text,
                "    layers.push_back(std::make_unique<{layer}<{element}>>(({element})2));"
            );
        }
        let (first, second) = (self.pick_name(places), self.pick_name(places));
        let _ = writeln!(
            text,
            "    {element} *x = {first}, *y = {second};\n\
             \x20   for (const auto &layer : layers) {{\n    layer->run(y, x, all);\n    std::swap(x, y);\n    }}"
        );
    }

    fn held_lambdas(&mut self, text: &mut String, places: &[String]) {
        let element = self.element;
        let kind = self.pick(&[
            "auto",
            "auto",
            "std::function<void(ELEMENT *, const ELEMENT *, int)>",
        ]);
        let kind = kind.replace("ELEMENT", element);
        let _ = writeln!(
            text,
            "    {kind} launch = [&]({element} *to, const {element} *from, int by) {{ on_line<{element}><<<(all + 127) / 128, 128>>>(to, from, all, 32, ({element})by); }};"
        );
        let mut input = self.pick_name(places);
        for by in 1..self.pick(&[3, 4, 5]) {
            let output = self.pick_name(places);
            let _ = writeln!(text, "    launch({output}, {input}, {by});");
            input = output;
        }
    }
}
