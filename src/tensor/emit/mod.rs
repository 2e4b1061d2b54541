//! Kernels and launchers as CUDA C++ that people can read and any CUDA compiler takes.
//!
//! Invariant: the text depends on nothing but the definitions, their text and the options, so that caches know it again.
//! Names that begin with `tc_` are those of this stage; no definition can have one.

mod fours;
mod kernels;
mod launcher;
mod layers;
mod nests;
mod packed;
mod rows;
mod tiles;
mod values;

use super::Translation;
use super::fault::Fault;
use super::linear::{Atom, Linear, Notation};
use super::mapping::{Kernel, Plan, Step, Work};
use super::program::{Function, Role, SymbolKind};
use super::transform::rows::is_in_registers;
use super::types::Scalar;
use super::versions::Versions;
use std::fmt::Write;
use std::path::Path;

/// The source and header of a file's definitions.
///
/// # Errors
/// What is wrong with a template.
pub(super) fn emit(name: &str, text: &str, definitions: &[Versions]) -> Result<Translation, Fault> {
    let file = Path::new(name)
        .file_name()
        .map(|file| file.to_string_lossy().into_owned());
    let file = file.unwrap_or_else(|| name.to_owned());
    let mut body = String::new();
    for definition in definitions {
        let function = &definition.general.function;
        let steps = definition.general.steps()?;
        let others = definition.others(&steps);
        // Each kernel has a number, whichever version it is of.
        let mut number = 0;
        let mut versions = vec![(function, steps.as_slice())];
        versions.extend(
            others
                .iter()
                .map(|other| (other.function, other.steps.as_slice())),
        );
        for (function, steps) in versions {
            let mut kernels = Vec::new();
            all_kernels(steps, &mut kernels);
            for kernel in kernels {
                body.push('\n');
                body += &self::kernel((function, kernel), &kernel_name(function, number), text);
                number += 1;
            }
        }
        body.push('\n');
        body += &launcher::launcher(function, (&steps, &others), (name, text));
    }
    let mut source = format!("// Made of {file} by sirius-rs.\n#include \"{file}.h\"\n");
    source += "#include <cstdio>\n#include <cstdlib>\n";
    for (header, call) in [
        ("cuda_pipeline.h", "__pipeline_"),
        ("mma.h", "nvcuda::wmma"),
    ] {
        if body.contains(call) {
            source += &format!("#include <{header}>\n");
        }
    }
    for helper in HELPERS {
        let is_called = |open: &str| body.contains(&format!("{}{open}", helper.name));
        if is_called("(") || is_called("<") {
            source.push('\n');
            source += helper.text;
        }
    }
    source += &body;
    let functions: Vec<&Function> = definitions
        .iter()
        .map(|definition| &definition.general.function)
        .collect();
    Ok(Translation {
        source,
        header: header(&file, text, &functions),
    })
}

/// The text of a kernel.
fn kernel((function, kernel): (&Function, &Kernel<'_>), name: &str, text: &str) -> String {
    match &kernel.plan {
        Plan::Elements => kernels::kernel(function, kernel, name, text),
        Plan::Tiles(tiles) => tiles::kernel(function, (kernel, tiles), name, text),
        Plan::Rows(rows) => rows::kernel(function, (kernel, rows), name, text),
        Plan::Layers(plan) => layers::kernel(function, (kernel, plan), name, text),
        Plan::Packed(parts) => packed::kernel(function, (kernel, parts), name, text),
        Plan::Nest(nest) => nests::kernel(function, (kernel, nest), name, text),
    }
}

/// A function that emitted code may call.
struct Helper {
    name: &'static str,
    text: &'static str,
}

/// None of them calls another one.
const HELPERS: &[Helper] = &[
    Helper {
        name: "tc_floor",
        text: "// A quotient, rounded down.\n\
               static __host__ __device__ inline long long tc_floor(long long number, long long divisor)\n{\n    \
               return number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor);\n}\n",
    },
    Helper {
        name: "tc_min",
        text: "static __host__ __device__ inline long long tc_min(long long a, long long b)\n{\n    \
               return a < b ? a : b;\n}\n",
    },
    Helper {
        name: "tc_max",
        text: "static __host__ __device__ inline long long tc_max(long long a, long long b)\n{\n    \
               return a > b ? a : b;\n}\n",
    },
    Helper {
        name: "tc_place",
        text: "// The place of an element, one subscript after the other; -1 where one of them is outside.\n\
               static __device__ inline long long tc_place(long long before, long long subscript, long long extent)\n{\n    \
               return before < 0 || subscript < 0 || subscript >= extent ? -1 : before * extent + subscript;\n}\n",
    },
    Helper {
        name: "tc_read",
        text: "// An element, or 0 where its place is outside.\n\
               template <typename T>\nstatic __device__ inline T tc_read(const T *tensor, long long place)\n{\n    \
               return place < 0 ? T() : tensor[place];\n}\n",
    },
    Helper {
        name: "tc_inside",
        text: "static __device__ inline bool tc_inside(long long subscript, long long extent)\n{\n    \
               return static_cast<unsigned long long>(subscript) < static_cast<unsigned long long>(extent);\n}\n",
    },
    Helper {
        name: "tc_by_16_bytes",
        text: "// Whether rows can be read by 16 bytes from a place on.\n\
               template <typename T>\nstatic __device__ inline bool tc_by_16_bytes(const T *tensor, long long place, long long extent)\n{\n    \
               constexpr long long count = 16 / sizeof(T);\n    \
               return (reinterpret_cast<size_t>(tensor) % 16 | place % count | extent % count) == 0;\n}\n",
    },
    Helper {
        name: "tc_reduce",
        text: "// What all threads of a block have, joined: the lanes of a warp pair by pair, then warp after warp.\n\
               template <int threads, typename T, typename Join>\nstatic __device__ inline T tc_reduce(T value, Join join)\n{\n    \
               __shared__ T warps[8];\n    \
               for (int distance = 16; distance > 0; distance /= 2)\n        \
               value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));\n    \
               if (threadIdx.x % 32 == 0)\n        warps[threadIdx.x / 32] = value;\n    \
               __syncthreads();\n    value = warps[0];\n    \
               if (threads == 256 || blockDim.x == 256) {\n        for (int warp = 1; warp < 8; ++warp)\n            \
               value = join(value, warps[warp]);\n    } else {\n        \
               for (int warp = 1; warp < blockDim.x / 32; ++warp)\n            value = join(value, warps[warp]);\n    }\n    \
               __syncthreads();\n    return value;\n}\n",
    },
    Helper {
        name: "tc_reduce_lanes",
        text: "// What some lanes of a warp have, joined pair by pair.\n\
               template <int lanes, typename T, typename Join>\nstatic __device__ inline T tc_reduce_lanes(T value, Join join)\n{\n    \
               for (int distance = lanes / 2; distance > 0; distance /= 2)\n        \
               value = join(value, __shfl_xor_sync(0xffffffffu, value, distance));\n    return value;\n}\n",
    },
    Helper {
        name: "tc_reduce_team",
        text: "// The same of lanes that have no others of their warp with them.\n\
               template <int lanes, typename T, typename Join>\nstatic __device__ inline T tc_reduce_team(T value, unsigned mask, Join join)\n{\n    \
               for (int distance = lanes / 2; distance > 0; distance /= 2)\n        \
               value = join(value, __shfl_xor_sync(mask, value, distance));\n    return value;\n}\n",
    },
    Helper {
        name: "tc_reduce_columns",
        text: "// What the threads of one lane of all warps of a block have, joined warp after warp.\n\
               template <int warps, typename T, typename Join>\nstatic __device__ inline T tc_reduce_columns(T value, Join join)\n{\n    \
               __shared__ T all[warps * 32];\n    all[threadIdx.x] = value;\n    __syncthreads();\n    \
               value = all[threadIdx.x % 32];\n    for (int warp = 1; warp < warps; ++warp)\n        \
               value = join(value, all[warp * 32 + threadIdx.x % 32]);\n    \
               __syncthreads();\n    return value;\n}\n",
    },
    Helper {
        name: "tc_join_sum",
        text: "struct tc_join_sum {\n    \
               template <typename T> __device__ T operator()(T a, T b) const { return a + b; }\n};\n",
    },
    Helper {
        name: "tc_join_product",
        text: "struct tc_join_product {\n    \
               template <typename T> __device__ T operator()(T a, T b) const { return a * b; }\n};\n",
    },
    Helper {
        name: "tc_join_smallest",
        text: "struct tc_join_smallest {\n    \
               __device__ float operator()(float a, float b) const { return fminf(a, b); }\n    \
               __device__ double operator()(double a, double b) const { return fmin(a, b); }\n    \
               template <typename T> __device__ T operator()(T a, T b) const { return min(a, b); }\n};\n",
    },
    Helper {
        name: "tc_join_largest",
        text: "struct tc_join_largest {\n    \
               __device__ float operator()(float a, float b) const { return fmaxf(a, b); }\n    \
               __device__ double operator()(double a, double b) const { return fmax(a, b); }\n    \
               template <typename T> __device__ T operator()(T a, T b) const { return max(a, b); }\n};\n",
    },
    Helper {
        name: "tc_row_threads",
        text: "// Threads for a row: whole warps, up to 256.\n\
               static inline unsigned tc_row_threads(long long length)\n{\n    \
               return length >= 256 ? 256u : length <= 32 ? 32u : static_cast<unsigned>((length + 31) / 32 * 32);\n}\n",
    },
    Helper {
        name: "tc_refuse",
        text: "[[noreturn]] static void tc_refuse(const char *message, long long left, long long right)\n{\n    \
               std::fprintf(stderr, \"%s (%lld, %lld)\\n\", message, left, right);\n    std::abort();\n}\n",
    },
    Helper {
        name: "tc_blocks",
        text: "// Blocks of 256 threads, at least one: a launch of none would be an error.\n\
               static inline unsigned tc_blocks(long long threads)\n{\n    \
               return threads <= 0 ? 1u : static_cast<unsigned>((threads + 255) / 256);\n}\n",
    },
];

/// Threads of a block.
const BLOCK_THREADS: usize = 256;

fn header(file: &str, text: &str, functions: &[&Function]) -> String {
    let mut header = format!(
        "// Made of {file} by sirius-rs: tensors are row-major in device memory.\n#pragma once\n#include <cuda_runtime.h>\n"
    );
    let uses = |scalar: Scalar| {
        let mut all = functions.iter().flat_map(|function| &function.tensors);
        all.any(|tensor| tensor.scalar == scalar)
    };
    if uses(Scalar::Half) {
        header += "#include <cuda_fp16.h>\n";
    }
    if uses(Scalar::Bfloat16) {
        header += "#include <cuda_bf16.h>\n";
    }
    for function in functions {
        let (line, _) = super::fault::place(text, function.span.start);
        let shapes: Vec<String> = interface(function)
            .map(|tensor| shape(function, tensor))
            .collect();
        // Writing to a string cannot fail.
        let _ = write!(
            header,
            "\n// {file}:{line}: {}\n{};\n",
            shapes.join(", "),
            launcher::signature(function)
        );
    }
    header
}

/// Tensors of the interface: inputs, then outputs in the order of the returns.
pub(super) fn interface(function: &Function) -> impl Iterator<Item = usize> {
    let is_input = |number: &usize| {
        matches!(
            function.tensors[*number].role,
            Role::Input | Role::Value | Role::Changed
        )
    };
    let outputs = function.returns.iter().copied();
    let outputs = outputs.filter(|number| function.tensors[*number].role == Role::Output);
    (0..function.tensors.len()).filter(is_input).chain(outputs)
}

/// `A(M, K)`.
fn shape(function: &Function, tensor: usize) -> String {
    let tensor = &function.tensors[tensor];
    let extents: Vec<String> = tensor
        .extents
        .iter()
        .map(|extent| extent.text(Notation::Message, &mut |atom| symbol_name(function, atom)))
        .collect();
    match extents.is_empty() {
        true => tensor.name.clone(),
        false => format!("{}({})", tensor.name, extents.join(", ")),
    }
}

fn symbol_name(function: &Function, atom: &Atom) -> String {
    match atom {
        Atom::Symbol(symbol) => function.symbols[*symbol].name.clone(),
        _ => String::new(),
    }
}

/// A number of sizes alone, in C++.
fn size(function: &Function, form: &Linear) -> String {
    form.text(Notation::Cuda, &mut |atom| {
        name_of(function, atom, &|_| false)
    })
}

/// The name of an atom; for a quotient, whether the one of C++ will do.
fn name_of(function: &Function, atom: &Atom, natural: &dyn Fn(usize) -> bool) -> String {
    match atom {
        // Values have the types of their declarations, which sums would overflow.
        Atom::Symbol(symbol) if matches!(function.symbols[*symbol].kind, SymbolKind::Value(_)) => {
            format!("(long long){}", function.symbols[*symbol].name)
        }
        Atom::Floor(form, _) if function.is_natural(form, natural) => "/".to_owned(),
        other => symbol_name(function, other),
    }
}

/// The same as a factor.
fn factor(function: &Function, form: &Linear) -> String {
    let text = size(function, form);
    match is_tight(&text) {
        true => text,
        false => format!("({text})"),
    }
}

/// Whether no operator of an expression stands outside of brackets.
fn is_tight(text: &str) -> bool {
    let mut depth = 0;
    text.bytes().all(|byte| {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b' ' | b'-' => return depth > 0,
            _ => {}
        }
        true
    })
}

/// Extents multiplied.
fn product(function: &Function, extents: &[Linear]) -> String {
    let factors: Vec<String> = extents
        .iter()
        .map(|extent| factor(function, extent))
        .collect();
    match factors.is_empty() {
        true => "1".to_owned(),
        false => factors.join(" * "),
    }
}

fn kernel_name(function: &Function, number: usize) -> String {
    format!("{}_kernel{number}", function.name)
}

fn all_kernels<'s, 'f>(steps: &'s [Step<'f>], found: &mut Vec<&'s Kernel<'f>>) {
    for step in steps {
        match step {
            Step::Kernel(kernel) => found.push(kernel),
            Step::Loop { body, .. } => all_kernels(body, found),
            Step::Either { together, apart } => {
                found.push(together);
                all_kernels(apart, found);
            }
        }
    }
}

/// What a kernel gets: symbols and tensors, each with whether it is written.
struct Arguments {
    symbols: Vec<usize>,
    tensors: Vec<(usize, bool)>,
}

fn arguments(function: &Function, kernel: &Kernel<'_>) -> Arguments {
    let mut symbols: Vec<usize> = Vec::new();
    let mut tensors: Vec<(usize, bool)> = Vec::new();
    let mut form = |form: &Linear| {
        form.visit(&mut |atom| {
            if let Atom::Symbol(symbol) = atom {
                symbols.push(*symbol);
            }
        });
    };
    let mut tensor =
        |number: usize, written: bool| match tensors.iter_mut().find(|(known, _)| *known == number)
        {
            Some((_, known)) => *known |= written,
            None => tensors.push((number, written)),
        };
    kernel.threads.iter().for_each(&mut form);
    if let Plan::Packed(kernels) = &kernel.plan {
        let threads = kernels.iter().flat_map(|kernel| &kernel.threads);
        threads.for_each(&mut form);
    }
    for part in &kernel.parts {
        let statement = part.statement;
        tensor(statement.target, true);
        function.tensors[statement.target]
            .extents
            .iter()
            .for_each(&mut form);
        if part.work == Work::Initialise {
            continue;
        }
        statement.reads(&mut |number, subscripts| {
            tensor(number, false);
            if !subscripts.is_empty() {
                function.tensors[number].extents.iter().for_each(&mut form);
            }
        });
        values::forms(statement, &mut form);
    }
    tensors.retain(|(tensor, _)| match &kernel.plan {
        Plan::Layers(layers) => !layers.keeps(*tensor),
        _ => !is_in_registers(kernel, *tensor),
    });
    symbols.sort_unstable();
    symbols.dedup();
    tensors.sort_unstable();
    Arguments { symbols, tensors }
}
