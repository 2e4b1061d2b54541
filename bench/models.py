#!/usr/bin/env python3
"""The models in test_programs/models/: what fusion makes of them. `scripts/bench models` runs this.

Each model is built for the CPU device step by step, every step with more of what the compiler can do, and run, counting
launches, instructions, barriers and bytes. Where there is a GPU, the program without fusion and the one with all of it
also take turns there, launched one by one and as a graph, and PyTorch's version of the network where PyTorch is there.
What comes out goes into bench/results/, the table and figures of docs/models.md are drawn from that.
"""

import argparse
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import model_boundaries

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["lstm", "seq2seq", "deepspeech2", "resnext", "nasnet", "bert"]
SMALL = ["-DSMALL"]
BOUNDARIES = "bench/results/models-boundaries.json"

# Which launches run as one is decided by the first three; what the fused kernels do by the rest.
JOINING = ["thread-remapping", "permuted-blocks"]
BATCHES = JOINING + ["launch-batches", "buffer-renaming", "heterogeneous-batches"]
BARRIERS = BATCHES + ["redundant-barriers"]
MOTION = BARRIERS + ["code-motion", "loop-fusion"]
INSTRUCTIONS = MOTION + ["host-constants", "pointer-rebasing", "alias-scopes"]
STEPS = [
    ("unfused", ["--sirius-fusion=off"]),
    ("fusion", ["--sirius-opt=" + ",".join(JOINING)]),
    ("launch batches", ["--sirius-opt=" + ",".join(BATCHES)]),
    ("fewer barriers", ["--sirius-opt=" + ",".join(BARRIERS)]),
    ("code motion", ["--sirius-opt=" + ",".join(MOTION)]),
    ("constants and bases", ["--sirius-opt=" + ",".join(INSTRUCTIONS)]),
    ("values kept", ["--sirius-opt=all"]),
]
COUNTS = ["launches", "instructions", "barriers", "global_bytes"]

# What the paper reports of BERT's query, key and value: nine kernels, before and after.
PAPER_QKV = (4.7e6, 0.77e6)


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench models", description=__doc__.split("\n")[0])
    arguments.add_argument("--full", action="store_true", help="the paper's sizes; the default are small ones")
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler and the CPU device")
    arguments.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="the longest that a program runs (600)")
    arguments.add_argument("--ends", action="store_true", help="only without fusion and with all of it, no step between")
    arguments.add_argument("--compile-only", action="store_true", help="only times the compiler anew, and keeps what was counted")
    arguments.add_argument("--rounds", type=int, default=5, help="turns that each program takes on a GPU (5)")
    arguments.add_argument("--boundaries", action="store_true", help="instead, launches and estimates with each way to make boundaries cheaper")
    arguments.add_argument("--way", action="append", dest="ways", metavar="WAY", help="with --boundaries: only this way, of a model whose other figures stay as they are; several times for several")
    arguments.add_argument("--once", action="store_true", help="with --boundaries: launches that are alike run once and count each, and outputs are not compared")
    arguments.add_argument("--draw", action="store_true", help="only draws docs/models.md from the results that are there")
    arguments.add_argument("models", nargs="*", metavar="MODEL", help="of " + ", ".join(MODELS) + "; all by default")
    options = arguments.parse_args()
    unknown = set(options.models) - set(MODELS)
    if unknown:
        arguments.error("no model is called " + ", ".join(sorted(unknown)))
    unknown = set(options.ways or []) - {way for way, _ in model_boundaries.WAYS}
    if unknown:
        arguments.error("no way is called " + ", ".join(sorted(unknown)))
    if options.boundaries and not options.draw:
        measure_boundaries(options)
    elif not options.draw:
        measure(options)
    draw()


def measure(options):
    configuration = "full" if options.full else "small"
    place = ROOT / "bench/results" / f"models-{configuration}.json"
    results = json.loads(place.read_text()) if place.exists() else {"models": {}}
    gpu = find_gpu()
    results |= {
        "configuration": configuration,
        "date": datetime.date.today().isoformat(),
        "device": f"CPU device on {cpu_name()}, {os.cpu_count()} cores",
        "gpu": gpu,
    }
    compiler_name = ("release" if options.release else "debug") + " build of " + commit()
    present = [name for name in MODELS if source_of(name).exists()]
    for name in options.models or present:
        print(f"\n{name}, {configuration}", flush=True)
        if options.compile_only and name in results["models"]:
            with tempfile.TemporaryDirectory() as folder:
                flags = STEPS[-1][1] + ["--sirius-device=cpu"]
                take_compilation(results["models"][name], compile_model(name, options, pathlib.Path(folder), flags, cached=False))
            place.write_text(json.dumps(results, indent=1) + "\n")
            continue
        with tempfile.TemporaryDirectory() as folder:
            model = {"compiler": compiler_name} | measure_model(name, options, pathlib.Path(folder))
            if name == "lstm":
                model["per_multiply_add"] = machine_code(name, options, pathlib.Path(folder))
            if gpu:
                model["microseconds"] = measure_on_gpu(name, options, gpu, pathlib.Path(folder))
        results["models"][name] = model
        # After each, so that a run that is interrupted leaves what it has.
        results["models"] = {name: results["models"][name] for name in MODELS if name in results["models"]}
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\nwritten to {place.relative_to(ROOT)}")


def measure_boundaries(options):
    compiler_name = ("release" if options.release else "debug") + " build of " + commit()
    for name in options.models or MODELS:
        print(f"\n{name}, {'full' if options.full else 'small'}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            model = model_boundaries.measure_model(sys.modules[__name__], name, options, pathlib.Path(folder))
        # After each, so that a run that is interrupted leaves what it has.
        model_boundaries.add(ROOT / BOUNDARIES, name, model, compiler_name, only=options.ways)


def measure_model(name, options, folder):
    model = {"steps": []}
    print(f"{'':22}" + "".join(f"{count.replace('_', ' '):>18}" for count in COUNTS))
    said = None
    for step, flags in [STEPS[0], STEPS[-1]] if options.ends else STEPS:
        final = step == STEPS[-1][0]
        build = compile_model(name, options, folder, flags + ["--sirius-device=cpu"], cached=not final)
        row = {"step": step, "flags": flags}
        model["steps"].append(row)
        if "failure" in build:
            row["failure"] = build["failure"]
            print(f"{step:22}  {row['failure']}", flush=True)
            continue
        if final:
            take_compilation(model, build)
        run = run_program(build["program"], options.limit, folder)
        row |= run
        if "failure" not in run:
            # Fusion may not change a bit of what a program says.
            if said is not None and run["said"] != said:
                sys.exit(f"{name}: `{step}` says {run['said']!r}, `{STEPS[0][0]}` said {said!r}")
            said = run["said"]
        print(f"{step:22}" + (row.get("failure") or "".join(f"{row[count]:18,}" for count in COUNTS)), flush=True)
    return model


def take_compilation(model, build):
    model["compile_seconds"] = build["seconds"]
    model["compile_stages"] = build["stages"]
    model["launch_sites"] = build["sites"]
    model["apart"] = build["apart"]
    print(f"compiled in {build['seconds']:.1f} CPU s", flush=True)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compile_model(name, options, folder, flags, cached):
    program, report = folder / "program", folder / "report.json"
    environment = dict(os.environ, SIRIUS_CACHE="off", SIRIUS_STRICT="1")
    if cached:
        environment["SIRIUS_FRONT_END_CACHE"] = str(folder)
    architecture = [] if any(flag.startswith("-arch=") for flag in flags) else ["-arch=sm_80"]
    command = [compiler(options), "-O3", *architecture, *flags, f"--sirius-report={report}", source_of(name), "-o", program]
    command += [] if options.full else SMALL
    command += ["-DCOUNTED"] if options.once else []
    began = cpu_seconds()
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    seconds = cpu_seconds() - began
    if done.returncode:
        return {"failure": "is not compiled: " + done.stderr.strip().splitlines()[-1]}
    report = json.loads(report.read_text())
    sites = re.search(r"(\d+) launches -> (\d+)", done.stderr)
    apart = {}
    for missed in (each for each in report["missed"] if not each.get("carried")):
        apart[missed["reason"]] = apart.get(missed["reason"], 0) + 1
    return {
        "program": program,
        "seconds": round(seconds, 2),
        "stages": {stage["name"]: round(stage["seconds"], 3) for stage in report["stages"]},
        "sites": [int(sites[1]), int(sites[2])] if sites else None,
        "apart": apart,
    }


def run_program(program, limit, folder, folder_of_run=None, once=False):
    statistics_file = folder / "statistics.json"
    statistics_file.unlink(missing_ok=True)
    environment = dict(os.environ, SIRIUS_STATS=str(statistics_file)) | ({"SIRIUS_STATS_ONCE": "1"} if once else {})
    began = time.monotonic()
    try:
        done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=limit, cwd=folder_of_run)
    except subprocess.TimeoutExpired:
        return {"failure": f"not run to its end in {limit:.0f} s"}
    if done.returncode:
        return {"failure": "fails: " + (done.stdout + done.stderr).strip().replace("\n", "; ")}
    counted = json.loads(statistics_file.read_text())
    kernels = counted["kernels"]
    return {
        "said": done.stdout.strip(),
        "launches": counted["launches"],
        "instructions": sum(kernel["instructions"] for kernel in kernels),
        "barriers": sum(kernel["barriers"] for kernel in kernels),
        "global_bytes": sum(kernel["global_load_bytes"] + kernel["global_store_bytes"] for kernel in kernels),
        "seconds": round(time.monotonic() - began, 1),
        "kernels": [[kernel["name"], kernel["launches"], kernel["instructions"]] for kernel in kernels],
    }


def machine_code(name, options, folder):
    """Instructions that a warp executes beside each multiply-add of a cell, in the machine code for sm_80: of nine kernels
    and of the one that runs several cells at once. What follows the last barrier only one of a block's warps executes; a
    loop before it runs until a warp has its part of all products."""
    tool = shutil.which("cuobjdump") or next(map(str, ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu*/bin/cuobjdump")), None)
    build = compile_model(name, options, folder, ["-arch=sm_80", "--sirius-device=cuda"], cached=False)
    if tool is None or "failure" in build:
        return None
    tools = dict(os.environ, PATH=f"{pathlib.Path(tool).parent}:{os.environ['PATH']}")
    listing = subprocess.run([tool, "-sass", build["program"]], capture_output=True, text=True, env=tools).stdout
    warps, products, rows = 8, 8, 256 if options.full else 64
    sums = {"apart": [0, 0], "batch": [0, 0]}
    for function in listing.split("Function : ")[1:]:
        kernel = function.split(maxsplit=1)[0]
        found = re.findall(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);", function, re.M)
        addresses = [int(address, 16) for address, each in found if "NOP" not in each]
        code = [each for _, each in found if "NOP" not in each]
        waits = [place for place, each in enumerate(code) if "BAR." in each]
        leaves = [place for place, each in enumerate(code) if "EXIT" in each]
        end = (waits[-1] if waits else leaves[0]) + 1
        times = products if "gemv" in kernel else 1
        side = "batch" if kernel.startswith("sirius_batch") else "apart"
        if kernel.startswith("sirius") and side == "apart":
            continue
        if side == "batch":
            times = 1
        for place, each in enumerate(code[:end]):
            target = re.search(r"BRA 0x([0-9a-f]+)", each)
            if target and int(target[1], 16) < addresses[place]:
                body = code[addresses.index(int(target[1], 16)) : place + 1]
                adds = sum("FFMA" in each for each in body)
                again = (rows // warps * products if side == "batch" else rows // warps) / adds - 1
                sums[side][0] += times * again * len(body)
                sums[side][1] += times * again * adds
        for part, share in [(code[:end], 1), (code[end:], 1 / warps)]:
            sums[side][0] += times * share * len(part)
            sums[side][1] += times * share * sum("FFMA" in each for each in part)
    return {side: round((all_ - adds) / adds, 2) for side, (all_, adds) in sums.items() if adds}


def measure_on_gpu(name, options, gpu, folder):
    """Medians and quartiles in microseconds: without fusion and with it, launch by launch and as a graph."""
    flags = ["-DTIMED", "-arch=" + gpu["architecture"], "--sirius-device=cuda"]
    samples = {}
    programs = []
    for label, fusion in [("unfused", "off"), ("fused", "all")]:
        place = folder / label
        place.mkdir()
        build = compile_model(name, options, place, flags + ["--sirius-fusion=" + fusion], cached=False)
        if "failure" in build:
            return {"failure": f"{label} {build['failure']}"}
        programs.append((label, [build["program"]]))
    if importlib.util.find_spec("torch"):
        size = [] if options.full else ["--small"]
        programs.append(("PyTorch", [sys.executable, ROOT / "bench/pytorch_models.py", name, *size]))
    for _ in range(options.rounds):
        for label, command in programs:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
            if done.returncode:
                samples[label] = None
                print(f"{label} fails: {done.stderr.strip() or done.stdout.strip()}", flush=True)
                continue
            for way, value in re.findall(r"^time (\w+) ([0-9.]+)$", done.stdout, re.M):
                samples.setdefault(f"{label} {way}", []).append(float(value))
    times = {}
    for label, values in samples.items():
        if values and len(values) > 1:
            low, middle, high = statistics.quantiles(values, n=4)
            times[label] = {"median": round(middle, 2), "quartiles": [round(low, 2), round(high, 2)]}
            print(f"{label:18} {middle:10.1f} µs ({low:.1f} to {high:.1f})", flush=True)
    return times


def find_gpu():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    try:
        said = subprocess.run(query, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    if said.returncode or not said.stdout.strip():
        return None
    name, driver, capability = [part.strip() for part in said.stdout.splitlines()[0].split(",")]
    return {"name": name, "driver": driver, "architecture": "sm_" + capability.replace(".", "")}


def compiler(options):
    return ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"


def source_of(name):
    return ROOT / "test_programs/models" / f"{name}.cu"


def commit():
    said = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return said.stdout.strip() or "an unknown state"


def cpu_name():
    try:
        names = re.findall(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        names = []
    return names[0] if names else platform.machine()


# The page.


def draw(root=ROOT):
    """Draws the page and its figures below `root` from the results that are there."""
    page = root / "docs/models.md"
    text = page.read_text()
    for configuration in ["full", "small"]:
        place = root / "bench/results" / f"models-{configuration}.json"
        if not place.exists():
            continue
        results = json.loads(place.read_text())
        text = between(text, f"{configuration} table", tables(results))
        if configuration == "full":
            text = between(text, "times on a GPU", summary(results))
        for count, title in [
            ("launches", "launches"),
            ("instructions", "instructions"),
            ("barriers", "barriers of a block"),
            ("global_bytes", "bytes loaded and stored in global memory"),
        ]:
            figure = root / f"docs/figures/models-{configuration}-{count.replace('_', '-')}.svg"
            figure.parent.mkdir(parents=True, exist_ok=True)
            figure.write_text(figure_of(results, count, f"{title}, in parts of those without fusion ({configuration} sizes)"))
    place = root / BOUNDARIES
    if place.exists():
        results = json.loads(place.read_text())
        results["models"] = {name: results["models"][name] for name in MODELS if name in results["models"]}
        text = between(text, "boundaries table", model_boundaries.table(results))
    page.write_text(text)
    print(f"drawn in {page}")


def between(text, mark, new):
    """`text` with what stands between the two comments of a mark replaced."""
    begin, end = f"<!-- {mark} -->", f"<!-- end of {mark} -->"
    if begin not in text or end not in text:
        sys.exit(f"docs/models.md lacks the comments of the {mark}")
    head, rest = text.split(begin, 1)
    return head + begin + "\n" + new.strip() + "\n" + end + rest.split(end, 1)[1]


def tables(results):
    models = results["models"]
    gpu = results["gpu"]
    where = f"{gpu['name']}, driver {gpu['driver']}" if gpu else "no GPU: the columns of times are open"
    compilers = {}
    for name, model in models.items():
        compilers.setdefault(model["compiler"], []).append(name)
    compilers = "; ".join(f"{', '.join(names)}: {compiler}" for compiler, names in compilers.items())
    lines = [f"{results['date']}; {results['device']}; {where}. {compilers}.", ""]
    lines += ["| model | launches | | instructions | | barriers | | global bytes | | compiled in, CPU |",
              "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"]
    for name, model in models.items():
        first, last = model["steps"][0], model["steps"][-1]
        pairs = [" | ".join(short(step.get(count)) for step in (first, last)) for count in COUNTS]
        seconds = model.get("compile_seconds")
        lines.append(f"| {name} | {' | '.join(pairs)} | {'not timed' if seconds is None else f'{seconds} s'} |")
    lines += ["", "Step by step, each with all of the steps before it:", ""]
    lines += ["| model | count | " + " | ".join(step for step, _ in STEPS) + " |", "|---|---|" + "---:|" * len(STEPS)]
    for name, model in models.items():
        if len(model["steps"]) < len(STEPS):
            continue
        for count in COUNTS:
            steps = {step["step"]: step for step in model["steps"]}
            values = " | ".join(short(steps.get(step, {}).get(count)) for step, _ in STEPS)
            lines.append(f"| {name} | {count.replace('_', ' ')} | {values} |")
    stages = sorted({stage for model in models.values() for stage in model.get("compile_stages", {})}, key=stage_place)
    lines += ["", "Seconds of each stage of the compiler, elapsed:", ""]
    lines += ["| model | " + " | ".join(stages) + " |", "|---|" + "---:|" * len(stages)]
    for name, model in models.items():
        seconds = model.get("compile_stages", {})
        if not seconds:
            continue
        lines.append(f"| {name} | " + " | ".join(f"{seconds.get(stage, 0):.2f}" for stage in stages) + " |")
    if any(model.get("microseconds") for model in models.values()):
        lines += ["", "Microseconds on the GPU, median and quartiles:", "", *gpu_rows(models)]
    code = models.get("lstm", {}).get("per_multiply_add")
    if code:
        lines += [
            "",
            f"LSTM, machine code for sm_80: beside each multiply-add a warp executes {code.get('apart')} other instructions in the nine kernels "
            f"of a cell and {code.get('batch')} in the kernel of a launch batch (the paper: 6.1 and 1.9).",
        ]
    if "bert" in models:
        lines += ["", qkv(models["bert"], results["configuration"])]
    return "\n".join(lines)


# Ways to build a model that are timed on a GPU, and those of which every model has a row.
GPU_WAYS = ["nvcc", "unfused", "fused", "vertical", "grid-barrier", "last-block", "overlap", "overlap-without-batches", "graph"]
EXPECTED_WAYS = ["unfused", "fused", "grid-barrier", "last-block", "overlap"]


def summary(results):
    """Medians in milliseconds: one row a model, one by one and as a graph."""
    columns = [("unfused", "unfused"), ("fused", "fused"), ("grid-barrier", "grid barriers"), ("last-block", "last block"), ("overlap", "overlap")]
    titles = [cell for _, title in columns for cell in (title, "as a graph")] + ["PyTorch, eager", "compiled"]
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---:|" * len(titles)]
    for name, model in results["models"].items():
        cells = [milliseconds(model, f"{way} {kind}") for way, _ in columns for kind in ("plain", "graph")]
        cells += [milliseconds(model, f"PyTorch {kind}") for kind in ("eager", "compiled")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def milliseconds(model, label):
    way, kind = label.split(" ")
    same = model.get("same_as", {}).get(way)
    times = (model.get("microseconds") or {}).get(label)
    if same:
        return f"as {same}"
    if not times:
        return "open"
    value = times["median"] / 1e3
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def gpu_rows(models):
    """Times of each model, a row for each way that it was built, one by one and as a graph."""
    lines = ["| model | way | one by one | as a graph |", "|---|---|---:|---:|"]
    for name, model in models.items():
        times, same = model.get("microseconds") or {}, model.get("same_as", {})
        for way in GPU_WAYS:
            if way in same:
                lines.append(f"| {name} | {way} | as {same[way]} | as {same[way]} |")
            elif way in EXPECTED_WAYS or f"{way} plain" in times:
                lines.append(f"| {name} | {way} | {time_of(times.get(f'{way} plain'))} | {time_of(times.get(f'{way} graph'))} |")
        for kind in ("eager", "compiled"):
            lines.append(f"| {name} | PyTorch, {kind} | {time_of(times.get(f'PyTorch {kind}'))} | |")
    return lines


def qkv(bert, configuration):
    """Instructions of query, key and value in a layer: three of a layer's products of this size, and what follows."""
    first, last = bert["steps"][0], bert["steps"][-1]
    if "kernels" not in first or "kernels" not in last:
        return "BERT's query, key and value: not counted."
    before = fused = 0
    layers = None
    for name, launches, instructions in first["kernels"]:
        if name.startswith("split_heads"):
            layers = launches // 3
            before += instructions / layers
    hidden = {name.split("<")[1] for name, *_ in first["kernels"] if name.startswith("add_bias<")}
    hidden = min(hidden, key=lambda width: int(width.rstrip(">")))
    width = hidden.rstrip(">")
    for name, launches, instructions in first["kernels"]:
        # A layer has as many launches of a kernel of this size as `launches / layers`, all alike.
        if name in (f"dense<{width}, {width}>", f"add_bias<{width}>"):
            before += 3 * instructions / launches
    joined = set()
    for name, _, instructions in last["kernels"]:
        if "split_heads" in name:
            fused += instructions / layers
            joined |= {other for other in ("score", "attend") if other in name}
    # What else is in these fused kernels counts on both sides.
    before += sum(instructions / layers for name, _, instructions in first["kernels"] if name in joined)
    what = " with " + " and ".join(sorted(joined)) + ", which join them" if joined else ""
    return (
        f"BERT's query, key and value in a layer{what}, {configuration} sizes: {before / 1e6:.2f} M instructions of threads before, "
        f"{fused / 1e6:.2f} M after ({before / 32e6:.3f} M and {fused / 32e6:.3f} M where all 32 threads of a warp count as one). "
        f"The paper has {PAPER_QKV[0] / 1e6:.1f} M before and {PAPER_QKV[1] / 1e6:.2f} M after for nine kernels in full size; where the "
        "products are most of the instructions, as here, what fusion saves is in what stands around them."
    )


def stage_place(stage):
    order = ["program", "launch", "kernel", "dependence", "schedule", "verify", "codegen"]
    return order.index(stage) if stage in order else len(order)


def time_of(time):
    return f"{time['median']:.1f} ({time['quartiles'][0]:.1f} to {time['quartiles'][1]:.1f})" if time else "open"


def short(value):
    if value is None:
        return "not run"
    for factor, unit in [(1e9, " G"), (1e6, " M")]:
        if value >= factor:
            return f"{value / factor:.3g}{unit}"
    return f"{value:,}"


COLOURS = ["#4d4d4d", "#1f77b4", "#17becf", "#2ca02c", "#bcbd22", "#ff7f0e", "#d62728"]


def figure_of(results, count, title):
    """Bars for each model, one a step, as parts of the first."""
    groups = []
    for name, model in results["models"].items():
        steps = {step["step"]: step for step in model["steps"]}
        values = [steps.get(step, {}).get(count) for step, _ in STEPS]
        if values[0]:
            groups.append((name, [value / values[0] if value is not None else None for value in values]))
    bar, gap, left, top, height = 14, 26, 46, 62, 190
    most = max([1.0] + [value for _, values in groups for value in values if value is not None])
    wide = left + sum(bar * len(values) + gap for _, values in groups) + 10
    wide = max(wide, 620)
    tall = top + height + 34
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {wide} {tall}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{wide}" height="{tall}" fill="white"/>',
           f'<text x="{left}" y="16" font-size="13">{title}</text>']
    x = left
    for (step, _), colour in zip(STEPS, COLOURS):
        out.append(f'<rect x="{x}" y="26" width="10" height="10" fill="{colour}"/><text x="{x + 13}" y="35">{step}</text>')
        x += 22 + 6 * len(step)
    for tick in range(0, 5):
        value = most * tick / 4
        y = top + height * (1 - tick / 4)
        out.append(f'<line x1="{left}" x2="{wide - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
                   f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">{value:.2f}</text>')
    x = left + gap / 2
    for name, values in groups:
        for place, value in enumerate(values):
            if value is None:
                continue
            tall_bar = height * value / most
            out.append(f'<rect x="{x + place * bar:.1f}" y="{top + height - tall_bar:.1f}" width="{bar - 2}" '
                       f'height="{max(tall_bar, 0.5):.1f}" fill="{COLOURS[place]}"><title>{name}, {STEPS[place][0]}: '
                       f'{value:.3f}</title></rect>')
        out.append(f'<text x="{x + bar * len(values) / 2:.1f}" y="{top + height + 16}" text-anchor="middle">{name}</text>')
        x += bar * len(values) + gap
    return "\n".join(out) + "\n</svg>\n"


if __name__ == "__main__":
    main()
