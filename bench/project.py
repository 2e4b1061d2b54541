#!/usr/bin/env python3
"""How long `make -j2` takes for a project of many sources, by nvcc and by this compiler. `scripts/bench project` runs this.

The project is written anew: sources with three kernels and a host function each, a header that all of them include, a `main`
that calls all functions. It is built from nothing with an empty cache, after a comment of one source was changed, after one
of its launches was, and after the header was. The compilers take turns. What comes out goes into bench/results/project.json and docs/compile_time.md.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import compile as single

RESULTS = single.ROOT / "bench/results/project.json"
STATES = {
    "nothing": "from nothing",
    "comment": "a comment changed",
    "source": "a launch of one source changed",
    "header": "a header changed",
    "same": "nothing changed",
}

HEADER = """#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                     \\
    do {                                                                                \\
        cudaError_t status = (call);                                                    \\
        if (status != cudaSuccess) {                                                    \\
            std::fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(status)); \\
            std::exit(1);                                                               \\
        }                                                                               \\
    } while (0)

struct Field {
    float *values;
    float *other;
    float *sums;
    int width, height;
    int count() const { return width * height; }
};

template <typename T> __device__ T clamped(T value, T low, T high) {
    return value < low ? low : value > high ? high : value;
}

const int THREADS = 256;
inline int blocks(int count) { return (count + THREADS - 1) / THREADS; }
"""

POINTWISE = """
__global__ void scale{n}(float *to, const float *from, float factor, int count) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = clamped(from[i] * factor + {n}.5f, -1e6f, 1e6f);
}}
"""

# By kind, the second and the third kernel of a source and how they are launched.
KINDS = [
    (
        """
__global__ void work{n}(float *to, const float *from, int width, int height) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    const float *at = from + y * width + x;
    to[y * width + x] = 0.2f * (at[0] + at[-1] + at[1] + at[-width] + at[width]);
}}
""",
        "work{n}<<<dim3(blocks(f.width), f.height), THREADS>>>(f.other, f.values, f.width, f.height);",
    ),
    (
        """
__global__ void work{n}(float *sums, const float *from, int count) {{
    __shared__ float part[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    part[t] = i < count ? from[i] : 0.0f;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {{
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }}
    if (t == 0) sums[blockIdx.x] = part[0];
}}
""",
        "work{n}<<<blocks(f.count()), THREADS>>>(f.sums, f.values, f.count());",
    ),
    (
        """
__global__ void work{n}(float *to, const float *from, int width, int height) {{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = from[y * width + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) to[y * height + x] = tile[threadIdx.x][threadIdx.y];
}}
""",
        "work{n}<<<dim3((f.width + 15) / 16, (f.height + 15) / 16), dim3(16, 16)>>>(f.other, f.values, f.width, f.height);",
    ),
    (
        """
__global__ void work{n}(float *to, const float *from, int count) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float x = from[i], sum = 0.0f;
    for (int k = 1; k <= 8; ++k) sum += sinf(x * k) / k + expf(-x * x * {n});
    to[i] = sum;
}}
""",
        "work{n}<<<blocks(f.count()), THREADS>>>(f.other, f.values, f.count());",
    ),
]

LAST = """
__global__ void add{n}(float *to, const float *from, int count) {{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] += from[i];
}}

void step{n}(Field &f, float factor) {{
    scale{n}<<<blocks(f.count()), THREADS>>>(f.values, f.other, factor, f.count());
    {launch}
    CHECK(cudaGetLastError());
    add{n}<<<64, THREADS>>>(f.values, f.other, f.count());
    CHECK(cudaGetLastError());
}}
"""

MAIN = """#include "field.h"
{declared}
int main() {{
    Field f = {{nullptr, nullptr, nullptr, 96, 64}};
    CHECK(cudaMalloc(&f.values, f.count() * sizeof(float)));
    CHECK(cudaMalloc(&f.other, f.count() * sizeof(float)));
    CHECK(cudaMalloc(&f.sums, f.count() * sizeof(float)));
    CHECK(cudaMemset(f.values, 0, f.count() * sizeof(float)));
    CHECK(cudaMemset(f.other, 0, f.count() * sizeof(float)));
{called}
    std::vector<float> values(f.count());
    CHECK(cudaMemcpy(values.data(), f.values, f.count() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float value : values) sum += value;
    std::printf("%.6e\\n", sum);
    CHECK(cudaFree(f.values));
    CHECK(cudaFree(f.other));
    CHECK(cudaFree(f.sums));
}}
"""

MAKEFILE = """objects := $(patsubst %.cu,%.o,$(wildcard *.cu))
program: $(objects)
	$(NVCC) $(objects) -o $@
%.o: %.cu
	$(NVCC) -O3 -arch=sm_80 -MMD -MP -c $< -o $@
-include $(objects:.o=.d)
"""


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench project", description=__doc__.split("\n")[0])
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("--sources", type=int, default=40, help="sources of the project (40)")
    arguments.add_argument("--rounds", type=int, default=3, help="turns of each compiler, the median of which counts (3)")
    arguments.add_argument("--devices", default="cuda,cpu", help="what is built for, besides nvcc (cuda,cpu)")
    options = arguments.parse_args()
    ours = single.ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
    compilers = {"nvcc": str(single.find_nvcc())}
    compilers |= {device: f"{ours} --sirius-device={device}" for device in options.devices.split(",")}
    seconds = {name: {state: [] for state in STATES} for name in compilers}
    for _ in range(options.rounds):
        for name, compiler in compilers.items():
            for state, elapsed in built(compiler, options.sources):
                seconds[name][state].append(round(elapsed, 2))
                print(f"{name:5} {STATES[state]:30} {elapsed:7.2f} s", flush=True)
    results = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{single.cpu_name()}, {os.cpu_count()} cores",
        "compiler": f"{'release' if options.release else 'debug'} build",
        "sources": options.sources,
        "seconds": seconds,
    }
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print("\n".join(table(results)))
    single.draw()


def built(compiler, sources):
    """Builds a project in all states, and yields how long each took."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        folder = pathlib.Path(folder)
        write_project(folder, sources)

        def make():
            start = time.monotonic()
            command = ["make", "-j2", f"NVCC={compiler}"]
            made = subprocess.run(command, cwd=folder, env=dict(os.environ, SIRIUS_CACHE=cache), capture_output=True, text=True)
            if made.returncode:
                sys.exit(f"{compiler} fails:\n{made.stdout[-2000:]}{made.stderr[-2000:]}")
            return time.monotonic() - start

        yield "nothing", make()
        append(folder / "field7.cu", "// Changed.")
        yield "comment", make()
        source = folder / "field7.cu"
        source.write_text(source.read_text().replace("<<<64,", "<<<65,"))
        yield "source", make()
        append(folder / "field.h", "// Changed.")
        yield "header", make()
        yield "same", make()


def append(path, line):
    path.write_text(f"{path.read_text()}{line}\n")


def write_project(folder, sources):
    (folder / "field.h").write_text(HEADER)
    (folder / "Makefile").write_text(MAKEFILE)
    numbers = range(1, sources)
    for n in numbers:
        kernel, launch = KINDS[n % len(KINDS)]
        text = '#include "field.h"\n' + POINTWISE.format(n=n) + kernel.format(n=n)
        text += LAST.format(n=n, launch=launch.format(n=n))
        (folder / f"field{n}.cu").write_text(text)
    declared = "\n".join(f"void step{n}(Field &f, float factor);" for n in numbers)
    called = "\n".join(f"    step{n}(f, 0.{n:02}f);" for n in numbers)
    (folder / "main.cu").write_text(MAIN.format(declared=declared, called=called))


def table(results):
    """Medians, and those of nvcc as parts of them."""
    seconds = results["seconds"]
    medians = {name: {state: statistics.median(each[state]) for state in STATES} for name, each in seconds.items()}
    lines = [f"| `make -j2` | {' | '.join(medians)} |", f"|---|{'---:|' * len(medians)}"]
    for state, name_of_state in STATES.items():
        cells = []
        for name, each in medians.items():
            ratio = f" ({each[state] / medians['nvcc'][state]:.2f})" if name != "nvcc" and medians["nvcc"][state] >= 0.1 else ""
            cells.append(f"{each[state]:.2f} s{ratio}")
        lines.append(f"| {name_of_state} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
