"""What `scripts/bench models --boundaries` counts and draws: the launches of each model with each way to make boundaries cheaper, and
what the cost model estimates that they take.

Each model is built for the CPU device in each way, and run with its counts. `sirius-rs analyze --with-stats` estimates from these
counts what the launches take on a GPU. The estimates are no measurements.
"""

import datetime
import json
import os
import subprocess
import sys

ARCHITECTURE = "sm_90"
# Of an H100, the device of that architecture.
MULTIPROCESSORS = "132"
BATCHES = "--sirius-opt=-launch-batches"
WAYS = [
    ("unfused", ["--sirius-fusion=off"]),
    ("none", ["--sirius-boundaries=none"]),
    ("last-block", ["--sirius-boundaries=last-block"]),
    ("grid-barrier", ["--sirius-boundaries=grid-barrier"]),
    ("overlap", ["--sirius-boundaries=overlap"]),
    ("overlap, no batches", ["--sirius-boundaries=overlap", BATCHES]),
    ("graph", ["--sirius-boundaries=graph"]),
]
KINDS = ["overlapping", "in_graphs", "grid_barriers"]
# Ways whose estimates differ by less are as good as each other.
EQUAL = 0.005
# What is estimated depends on the counts, not on the program that is looked at.
PROGRAM = "__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); return 0; }\n"


def measure_model(bench, name, options, folder):
    """The counts of a model in each way, and what they are estimated to take."""
    ways = {}
    said, unfused = None, None
    for way, flags in WAYS:
        if options.ways and way not in options.ways:
            continue
        build = bench.compile_model(name, options, folder, [*flags, f"-arch={ARCHITECTURE}", "--sirius-device=cpu"], cached=True)
        run = build if "failure" in build else run_with_room(bench, build["program"], options, folder)
        if "failure" in run:
            ways[way] = {"failure": run["failure"]}
            print(f"{way:22}  {run['failure']}", flush=True)
            continue
        if not options.once and said is not None and run["said"] != said:
            sys.exit(f"{name}: `{way}` says {run['said']!r}, unfused it says {said!r}")
        said = run["said"]
        counts = json.loads((folder / "statistics.json").read_text())
        place = folder / f"{len(ways)}.json"
        place.write_text(json.dumps(counts))
        unfused = unfused or place
        sums = {kind: sum(kernel.get(kind, 0) for kernel in counts["kernels"]) for kind in KINDS}
        ways[way] = {"launches": counts["launches"], **sums, **estimated(bench, unfused, place, options, folder)}
        print(f"{way:22}" + "".join(f"  {key} {value}" for key, value in ways[way].items()), flush=True)
    return {"ways": ways, "small": not options.full} | ({"once": True} if options.once else {})


def run_with_room(bench, program, options, folder):
    """A run on a device with as many multiprocessors as cooperative launches need; the CPU device has one for each thread of its own. In full size that
    is as many as the device has that is estimated."""
    before = os.environ.get("SIRIUS_CPU_THREADS")
    os.environ["SIRIUS_CPU_THREADS"] = MULTIPROCESSORS if options.full else "16"
    try:
        return bench.run_program(program, options.limit, folder, once=options.once)
    finally:
        os.environ.pop("SIRIUS_CPU_THREADS")
        if before is not None:
            os.environ["SIRIUS_CPU_THREADS"] = before


def estimated(bench, unfused, fused, options, folder):
    source = folder / "nothing.cu"
    source.write_text(PROGRAM)
    command = [bench.compiler(options), "analyze", source, f"-arch={ARCHITECTURE}", "--format=json", f"--with-stats={unfused},{fused}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"no estimate: {done.stderr.strip()}")
    modelled = json.loads(done.stdout)["executed"]["modelled"]
    return {"microseconds": round(modelled["after"] / 1e3, 1), "device": modelled["device"]}


def add(place, name, model, compiler, only=None):
    """Puts the figures of a model beside those of others that are there; where only some ways were taken, beside those of the others."""
    results = json.loads(place.read_text()) if place.exists() else {"models": {}}
    results["date"] = datetime.date.today().isoformat()
    size = results.setdefault("models" if model["small"] else "full", {})
    if only and name in size:
        for figures in model["ways"].values():
            figures["compiler"] = compiler
        size[name]["ways"] |= model["ways"]
    else:
        size[name] = {"compiler": compiler} | model
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(results, indent=1) + "\n")


def table(results):
    """Markdown: a row for each model, launches and estimate in each way, and the way with the lowest estimate. A star is for counts of which
    launches that are alike made one."""
    models = [*results["models"].items(), *results.get("full", {}).items()]
    devices = sorted({way["device"] for _, model in models for way in model["ways"].values() if "device" in way})
    compilers = {model["compiler"] for _, model in models}
    compilers |= {way["compiler"] for _, model in models for way in model["ways"].values() if "compiler" in way}
    compilers = sorted(compilers)
    lines = [f"{results['date']}; {', '.join(compilers)}; launches, and what they are estimated to take on {', '.join(devices)}.", ""]
    lines += ["| model | " + " | ".join(way for way, _ in WAYS) + " | the model would choose |", "|---|" + "---:|" * len(WAYS) + "---|"]
    for name, model in models:
        cells = [cell_of(model["ways"].get(way, {})) for way, _ in WAYS]
        size = ", small" if model["small"] else ""
        size += "\\*" if model.get("once") else ""
        lines.append(f"| {name}{size} | " + " | ".join(cells) + f" | {chosen(model['ways'])} |")
    return "\n".join([*lines, "", *shares(models)])


def shares(models):
    """Markdown: of the boundaries between two launches that follow each other without fusion, the share that is gone or overlapped in each way."""
    ways = [way for way, _ in WAYS[1:]]
    lines = ["| boundaries removed or overlapped | without fusion | " + " | ".join(ways) + " |", "|---|" + "---:|" * (1 + len(ways))]
    sums = {way: 0 for way in ["unfused", *ways]}
    for name, model in models:
        unfused = model["ways"].get("unfused", {})
        if model["small"] or "launches" not in unfused:
            continue
        every = unfused["launches"] - 1
        counted = {way: model["ways"][way] for way in ways if "launches" in model["ways"].get(way, {})}
        left = {way: each["launches"] - 1 - each["overlapping"] for way, each in counted.items()}
        cells = [f"{1 - left[way] / every:.1%}" if way in left else "not run" for way in ways]
        lines.append(f"| {name} | {every:,} | " + " | ".join(cells) + " |")
        sums["unfused"] += every
        for way in ways:
            # A way that is not known of a model is not known of all.
            sums[way] = sums[way] + left[way] if way in left and sums[way] is not None else None
    every = sums.pop("unfused")
    if not every or None in sums.values():
        return lines
    cells = [f"{1 - left / every:.1%}" for left in sums.values()]
    return [*lines, f"| all | {every:,} | " + " | ".join(cells) + " |"]


def cell_of(way):
    if "launches" not in way:
        return way.get("failure", "not run").split(":")[0].replace("sirius-rs fatal", "").strip()
    kinds = [(way["overlapping"], "overlap"), (way["in_graphs"], "in graphs"), (way["grid_barriers"], "barriers")]
    notes = ", ".join(f"{count:,} {what}" for count, what in kinds if count)
    return f"{way['launches']:,}" + (f" ({notes})" if notes else "") + f"; {way['microseconds']:,.0f} μs"


def chosen(ways):
    """The way with the lowest estimate: of several that are as good, the first."""
    known = [(way, ways[way]["microseconds"]) for way, _ in WAYS if "microseconds" in ways.get(way, {})]
    if len(known) < len(WAYS):
        return "not known"
    least = min(time for _, time in known)
    return next(way for way, time in known if time <= least * (1 + EQUAL))
