#!/usr/bin/env python3
"""Whether the products in test_programs/models/ are a fair baseline, on paper: docs/baseline.md has what this prints.

Each model is compiled without fusion for sm_80 and sm_90. From the machine code of each product, convolution and
matrix-vector product come the instructions of its main loop, its registers and its shared memory; from the kernel's
name its size. What bounds it on an A100 and an H100 is set beside the same bounds of the tile that suits a library
best. Nothing here was measured.

usage: bench/baseline_products.py [--compiler SIRIUS-RS]
"""

import argparse
import collections
import dataclasses
import json
import math
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["lstm", "seq2seq", "deepspeech2", "resnext", "nasnet", "bert"]


@dataclasses.dataclass
class Gpu:
    """Figures of the public white papers of A100 and H100 (SXM). A clock is one of a multiprocessor; `tensor` counts
    multiply-adds of halves by mma.sync (on an H100 five eighths of what groups of warps reach, an assumption), `fma` warps'
    single-precision ones."""

    name: str
    architecture: str
    processors: int
    clock: float  # GHz
    fma: int  # warps' multiply-adds a clock and multiprocessor
    tensor: int  # multiply-adds a clock and multiprocessor
    memory: float  # bytes a nanosecond
    second_level: float  # bytes a clock that one multiprocessor takes from the second level of caches
    shared: int  # bytes of shared memory a multiprocessor
    latency: int  # clocks until a load from the second level is there


GPUS = [
    Gpu("A100", "sm_80", 108, 1.41, 2, 1024, 1555, 64, 164 << 10, 300),
    Gpu("H100", "sm_90", 132, 1.755, 4, 1280, 3350, 64, 228 << 10, 300),
]
LAUNCH = 2.0  # µs that a launch takes beside its loops, whoever launches
RAMP = 900  # clocks before the first step and after the last: the first tile from memory, the result to it
EXPOSED = 90  # clocks of a step in which a block that is alone waits: a barrier, a store to shared memory, a load from it
TUNED = 0.92  # of all slots for multiply-adds, what a loop fills that nothing else bounds, a library's or ours


@dataclasses.dataclass
class Kernel:
    """The main loop of a kernel as it is in machine code, and what it takes."""

    name: str
    registers: int
    shared: int
    step: collections.Counter  # instructions of the main loop's body
    body: int


@dataclasses.dataclass
class Product:
    """rows × columns, each a sum of `depth`; `batch` of them."""

    kind: str
    rows: int
    columns: int
    depth: int
    batch: int
    kernel: Kernel
    note: str = ""
    parts: int = 1  # of the sum, in blocks of their own
    enough_tiles: int = 0  # as the model has it


def tool(name):
    found = list(ROOT.glob(f".venv/lib/python3*/site-packages/nvidia/cu*/bin/{name}"))
    return str(found[0]) if found else name


def kernels_of(model, gpu, compiler, folder):
    """The kernels of a model, by their names in the source."""
    cubin = pathlib.Path(folder) / f"{model}.{gpu.architecture}"
    flags = ["-O3", f"-arch={gpu.architecture}", "--sirius-device=cuda", "--sirius-fusion=off", "-cubin"]
    subprocess.run([compiler, *flags, ROOT / f"test_programs/models/{model}.cu", "-o", cubin], check=True)
    say = lambda what: subprocess.run([tool("cuobjdump"), what, cubin], capture_output=True, text=True, check=True).stdout
    resources = dict(re.findall(r"Function (\S+):\s+(REG.*)", say("-res-usage")))
    for function in say("-sass").split("Function : ")[1:]:
        name = function.split(maxsplit=1)[0]
        found = [(int(at, 16), each) for at, each in re.findall(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", function, re.M)]
        addresses, code = [at for at, _ in found], [each for _, each in found if "NOP" not in each]
        taken = dict(part.split(":") for part in resources[name].split() if ":" in part)
        # The loop that multiplies most; code without loops is one step.
        best, body = collections.Counter(operations(code)), len(code)
        loops = []
        for place, each in enumerate(code):
            target = re.search(r"BRA.*?0x([0-9a-f]+)", each)
            if target and int(target[1], 16) < addresses[place]:
                loops.append(code[addresses.index(int(target[1], 16)) : place + 1])
        loops = [loop for loop in loops if any("FFMA" in each or "HMMA." in each for each in loop)]
        if loops:
            loop = max(loops, key=lambda loop: sum("FFMA" in each or "HMMA.1" in each for each in loop))
            best, body = collections.Counter(operations(loop)), len(loop)
        yield Kernel(name, int(taken["REG"]), int(taken["SHARED"]), best, body)


def operations(code):
    """The first word of each instruction; loads of shared memory with their width."""
    for each in code:
        word = re.sub(r"^@!?\w+\s+", "", each).split()[0]
        first = word.split(".")[0]
        if each.startswith("@!PT"):
            yield "NOP"
        elif first == "HFMA2":
            yield "HFMA2"
        else:
            yield first + (".128" if ".128" in word else "")


def product_of(kernel):
    """What a kernel computes, from the numbers in its mangled name; nothing where it is no product."""
    name = re.match(r"_Z\d+([a-z_]+)", kernel.name)[1]
    numbers = [int(each) for each in re.findall(r"Li(\d+)E", kernel.name)]
    if name.startswith("convolve"):
        channels, high, wide, out, rows, columns, up, left, down_step, right_step, groups = numbers
        pixels = ((high + 2 * up - rows) // down_step + 1) * ((wide + 2 * left - columns) // right_step + 1)
        depth = channels // groups * rows * columns
        kind = "grouped" if groups > 1 else "convolution"
        return Product(kind, out, pixels, depth, 1, kernel, f"{rows} × {columns}" + (f", {groups} groups" if groups > 1 else ""))
    if name.startswith("depthwise"):
        channels, high, window, stride = numbers
        return Product("depthwise", channels, (high // stride) ** 2, window**2, 1, kernel, f"{window} × {window}, stride {stride}")
    if name.startswith("gemv"):
        return Product("vector", 1, numbers[1], numbers[0], 1, kernel)
    if name.startswith("classify"):
        return Product("vector", 1, numbers[1], numbers[0], 1, kernel, "a warp a class")
    if name.startswith("characters"):
        return Product("vector", 75, 29, 256, 1, kernel, "a block a step")
    if name.startswith("dense_in_parts"):
        return Product("tensor", 384, numbers[0], numbers[1], 1, kernel, f"{numbers[2]} parts", numbers[2])
    if name.startswith("dense"):
        return Product("tensor", 384, numbers[0], numbers[1], 1, kernel)
    if name.startswith("score"):
        return Product("tensor", 384, 384, 64, 12, kernel, "score")
    if name.startswith("attend"):
        return Product("tensor", 384, 64, 384, 12, kernel, "attend")
    return None


def ceil(a, b):
    return -(-a // b)


def bounds_of(p, gpu):
    """Clocks of one step of one block of ours for each thing that may bound it, steps, blocks, and clocks a step takes at
    least in a block that is alone."""
    step, far = p.kernel.step, 2 * gpu.latency
    multiplies = step["FFMA"] + step["IMAD"]
    if p.kind == "tensor":
        # 64 × 64 a block, 32 at a step; two steps are on their way.
        steps, body, hmma = p.depth // 32, p.kernel.body, step["HMMA"]
        if p.depth == 64:
            body, hmma = body * 16 // 32, 16  # two steps and what is around them, written out
        clocks = {"issue": body, "tensor": hmma * 4 * 2048 / gpu.tensor / TUNED, "shared": 4 * 32 + 64, "caches": 8192 / gpu.second_level}
        blocks = ceil(p.rows, 64) * ceil(p.columns, 64) * p.batch * p.parts
        return clocks, steps / p.parts, blocks, max(max(clocks.values()) + EXPOSED, far / 2)
    if p.kind == "convolution":
        # A block takes 16 at a step, or, in small tiles, 32, of which each warp sums up a part; an access of 16 bytes
        # a thread takes the time of one or two.
        high, wide = tile_of(p)
        deep = 16 if high * wide == 2048 else 32
        shared = 4 * (step["LDS"] + step["LDS.128"] * 1.5 + step["STS"] * 2)
        caches = deep * (high + wide) * 4 / gpu.second_level
        clocks = {"issue": p.kernel.body, "multiply": 4 * multiplies / gpu.fma / TUNED, "shared": shared, "caches": caches}
        return clocks, ceil(p.depth, deep), ceil(p.rows, high) * ceil(p.columns, wide), max(max(clocks.values()) + EXPOSED, far)
    if p.kind == "grouped":
        clocks = {"issue": p.kernel.body, "multiply": 4 * multiplies / gpu.fma / TUNED, "shared": 4 * step["LDS"]}
        high, wide = tile_of(p)
        steps = high * wide // 128 * p.depth / step["FFMA"]
        return clocks, steps, ceil(p.rows, high) * ceil(p.columns, wide), max(clocks.values()) + gpu.latency
    # A channel's row of a window at a time, four channels: each waits for its loads.
    clocks = {"issue": p.kernel.body, "multiply": 4 * multiplies / gpu.fma / TUNED}
    high, wide = tile_of(p)
    steps = high * wide // 128 * p.depth / step["FFMA"]
    return clocks, steps, ceil(p.rows, high) * ceil(p.columns, wide), max(clocks.values()) + gpu.latency


def tile_of(p):
    """Channels and pixels of a block, as `Tile` in test_programs/models/convolution.h has them."""
    if ceil(p.rows, 32) * ceil(p.columns, 64) >= p.enough_tiles:
        return 32, 64
    return (8, 64) if p.columns == 64 else (32, 16)


def bytes_of(p):
    if p.kind == "tensor":
        return 2 * p.batch * (p.rows * p.depth + p.depth * p.columns + p.rows * p.columns)
    weights = p.rows * p.depth if p.kind != "vector" else p.columns * p.depth
    return 4 * (weights + p.rows * p.columns)


def memory_clocks(p, gpu):
    """At 85 % of the memory's rate; weights of cells, and what the launch before made, are in the second level of caches."""
    if p.kind == "vector" and not p.note or p.batch > 1:
        return 0
    return bytes_of(p) / (0.85 * gpu.memory) * gpu.clock


def ours(p, gpu):
    """Clocks beside a launch, and what bounds them."""
    if p.kind == "vector":
        # A warp's loads go in groups of eight, two loads for each multiply-add, and what blocks take from the caches.
        if p.note == "a warp a class":
            rounds, part = ceil(p.depth // 32, 16), 0
        elif p.note:
            rounds, part = 2, 0
        else:
            rounds, part = ceil(p.depth // 8, 9), p.depth * 32 * 4 / gpu.second_level
        return max(rounds * gpu.latency + RAMP, part + RAMP, memory_clocks(p, gpu) + RAMP), "latency"
    clocks, steps, blocks, alone = bounds_of(p, gpu)
    binding = max(clocks, key=clocks.get)
    room = min(65536 // (ceil(p.kernel.registers, 8) * 8 * 128), gpu.shared // (p.kernel.shared + 1024), 16)
    at_once = ceil(blocks, gpu.processors)
    loops = steps * max(at_once * clocks[binding], ceil(at_once, room) * alone)
    if loops > steps * at_once * clocks[binding]:
        binding = "latency"
    if p.parts > 1:  # sums are written and read once more, by an operator that is there anyway
        loops += 2 * p.parts * p.rows * p.columns * 4 / gpu.processors / gpu.second_level
    memory = memory_clocks(p, gpu)
    return (memory + RAMP, "memory") if memory > loops else (loops + RAMP, binding)


def library(p, gpu):
    """Clocks beside a launch with the tile, and the parts of the sum, that suit best."""
    memory = memory_clocks(p, gpu)
    if p.kind == "vector":
        return max(3 * gpu.latency, memory) + RAMP, "as many blocks as processors"
    if p.kind == "depthwise":
        work = p.rows * p.columns * p.depth * 3 / 32 / 4 / gpu.processors
        return max(work, 2 * gpu.latency) + RAMP, "a thread an element"
    if p.kind == "grouped":
        # Tiles of 32 channels, of which one group fills a part, or a kernel of its own that fills half of the slots.
        width = p.depth // 9
        work = p.rows * p.columns * p.depth / 32 / gpu.fma / gpu.processors
        return max(work * min(max(32 / width, 1) / TUNED, 2), 2 * gpu.latency, memory) + RAMP, "guessed"
    best = None
    for high, wide, warps in [(128, 128, 8), (128, 64, 4), (64, 128, 4), (64, 64, 4), (64, 32, 2), (32, 64, 2), (32, 32, 2)]:
        for parts in [1, 2, 3, 4, 6, 8, 12, 16]:
            if p.depth / parts < 64 and parts > 1 or p.kind == "tensor" and min(high, wide) < 64:
                continue
            count = ceil(p.rows, high) * ceil(p.columns, wide) * p.batch * parts
            at_once = ceil(count, gpu.processors)
            if p.kind == "tensor":
                # Warps have 32 × 32 of 64 × 64, 64 × 32 of 128 × 64, 64 × 32 of eight of 128 × 128; a step is 32.
                side = 64 if high * wide == 64 * 64 else 96
                reads, writes = warps * side * 64 / 128, (high + wide) * 64 / 128
                rate = gpu.tensor if gpu.architecture == "sm_80" else 2048
                if gpu.architecture != "sm_80":
                    reads = writes * 2  # warp groups read shared memory once
                step = max(high * wide * 32 / rate / TUNED, reads + writes, (high + wide) * 64 / gpu.second_level)
                loops = p.depth / 32 / parts * max(at_once * step, 1.15 * step)
            else:
                fill = TUNED if at_once * warps >= 8 else 0.85
                slots = high * wide / 32 / gpu.fma / fill * max(1, 4 / (at_once * warps))
                reads = high * wide / 2048 * 3 if min(high, wide) >= 64 else high * wide / 1024 * 2
                step = max(slots, reads + (high + wide) * 4 / 128, (high + wide) * 4 / gpu.second_level)
                loops = p.depth / parts * at_once * step * (1.05 if "1 × 1" not in p.note else 1)
            if parts > 1:  # partial sums are stored and read, by a kernel of its own
                loops += gpu.clock * 1000 + 2 * parts * p.rows * p.columns * 4 * p.batch / gpu.processors / gpu.second_level
            clocks = max(loops, memory) + RAMP
            if best is None or clocks < best[0]:
                best = clocks, f"{high} × {wide}" + (f", {parts} parts" if parts > 1 else "")
    return best


def launches_of(model, kernel):
    """How often the program launches a kernel, as it was counted on the CPU device."""
    counted = json.loads((ROOT / "bench/results/models-full.json").read_text())["models"][model]["steps"][0]["kernels"]
    key = lambda name, numbers: (re.match(r"(?:_Z\d+)?([a-z_]+?)(?:PK|I|$|<)", name)[1], numbers)
    wanted = key(kernel.name, re.findall(r"Li(\d+)E", kernel.name))
    return sum(count for name, count, _ in counted if key(name, re.findall(r"\d+", name)) == wanted)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--compiler", default=ROOT / "target/release/sirius-rs")
    options = arguments.parse_args()
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        for gpu in GPUS:
            for model in MODELS:
                source = (ROOT / f"test_programs/models/{model}.cu").read_text()
                # Small sizes have a smaller one.
                enough_tiles = max(map(int, re.findall(r"ENOUGH_TILES = (\d+)", source)), default=0)
                for kernel in kernels_of(model, gpu, options.compiler, folder):
                    product = product_of(kernel)
                    if product:
                        product.enough_tiles = enough_tiles
                        rows.setdefault((model, kernel.name), []).append((gpu, product, ours(product, gpu), library(product, gpu)))
    microseconds = lambda gpu, clocks: LAUNCH + clocks / gpu.clock / 1000
    totals, merged = {}, {}
    for (model, name), both in rows.items():
        p = both[0][1]
        same = merged.setdefault((model, p.kind, p.note.split(", stride")[0], p.rows, p.columns, p.depth, p.batch), [0, both])
        same[0] += launches_of(model, p.kernel)
    print("| model | product | M × N × K | launches | FFMA, HMMA of the loop | registers | bound | ours, µs | library, µs | its tile | ratio | ratio, H100 |")
    print("|---|---|---:|---:|---:|---:|---|---:|---:|---|---:|---:|")
    order = lambda each: (MODELS.index(each[0][0]), each[0][1], -each[0][4], each[0][3], each[0][5])
    for (model, *_), (count, both) in sorted(merged.items(), key=order):
        times = [(microseconds(gpu, mine[0]), microseconds(gpu, its[0])) for gpu, _, mine, its in both]
        total = totals.setdefault(model, [0.0] * 4)
        for place, time in enumerate(time for pair in times for time in pair):
            total[place] += count * time
        _, p, mine, its = both[0]
        share = (p.kernel.step["FFMA"] + p.kernel.step["HMMA"]) / p.kernel.body
        kind = {"tensor": "product", "vector": "with a vector"}.get(p.kind, p.kind)
        size = f"{p.rows:,} × {p.columns:,} × {p.depth:,}" + (f", {p.batch} times" if p.batch > 1 else "")
        ratios = [f"{a / b:.2f}" for a, b in times]
        print(f"| {model} | {kind}{', ' + p.note.split(', stride')[0] if p.note else ''} | {size} | {count:,} | {share:.0%} | {p.kernel.registers} | {mine[1]} "
              f"| {times[0][0]:.1f} | {times[0][1]:.1f} | {its[1]} | {ratios[0]} | {ratios[1]} |")
    print("\n| all products of | ours, ms | library, ms | ratio | ratio, H100 |\n|---|---:|---:|---:|---:|")
    for model, (a, b, c, d) in totals.items():
        print(f"| {model} | {a / 1000:.2f} | {b / 1000:.2f} | {a / b:.2f} | {c / d:.2f} |")


if __name__ == "__main__":
    main()
