#!/usr/bin/env python3
"""How long sources take to compile, by nvcc and by this compiler. `scripts/bench compile` runs this.

Every source is compiled by `nvcc -O3 -c`, by this compiler for the CUDA device and by it for the CPU device, one after the
other so that what else the machine does meets all of them. What comes out goes into a file, from which a later run goes on.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULTS = ["-O3", "-arch=sm_80"]
WORST = 15


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench compile", description=__doc__.split("\n")[0])
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="of a folder, those whose path there matches")
    arguments.add_argument("--results", type=pathlib.Path, metavar="FILE", help="where results go (bench/results/compile.json)")
    arguments.add_argument("--rounds", type=int, default=1, help="turns of each compiler, the fastest of which counts (1)")
    arguments.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="the longest that a compiler takes (300)")
    arguments.add_argument("--devices", default="cuda,cpu", help="what is built for, besides nvcc (cuda,cpu)")
    arguments.add_argument("--compiler", type=pathlib.Path, help="another sirius-rs than that of this folder")
    arguments.add_argument("--again", action="store_true", help="measures also what the results have")
    arguments.add_argument("--draw", action="store_true", help="only draws docs/compile_time.md from the results")
    arguments.add_argument("places", nargs="*", type=pathlib.Path, metavar="LIST|FOLDER", help="sources and options, a line each; or programs with Makefiles")
    options = arguments.parse_args()
    place = (options.results or ROOT / "bench/results/compile.json").absolute()
    results = json.loads(place.read_text()) if place.exists() else {"files": {}}
    if not options.draw:
        measure(options, place, results)
    print(summary(results))
    if place.parent == ROOT / "bench/results":
        (ROOT / "docs/compile_time.md").write_text(page(results))


def measure(options, place, results):
    nvcc = find_nvcc()
    ours = options.compiler or ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
    compilers = {"nvcc": [nvcc]} | {device: [ours, f"--sirius-device={device}"] for device in options.devices.split(",")}
    results |= {
        "date": datetime.date.today().isoformat(),
        "machine": f"{cpu_name()}, {os.cpu_count()} cores",
        "nvcc": re.search(r"V([\d.]+)", subprocess.check_output([nvcc, "--version"], text=True)).group(1),
        "compiler": f"{'release' if options.release or options.compiler else 'debug'} build",
    }
    for named in options.places:
        commands = commands_of(named.absolute(), options.programs)
        # In an order of no meaning, so that what a run that was stopped has measured stands for the rest.
        random.Random(0).shuffle(commands)
        for name, folder, command in commands:
            if name in results["files"] and not options.again:
                continue
            row = compare(compilers, folder, command, options)
            results["files"][name] = row
            shown = "  ".join(f"{compiler} {text_of(row[compiler])}" for compiler in compilers)
            print(f"{shown}  {name}", flush=True)
            place.parent.mkdir(exist_ok=True)
            place.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def find_nvcc():
    """nvcc of $NVCC, else that of the wheels of scripts/setup."""
    if "NVCC" in os.environ:
        return os.environ["NVCC"]
    found = sorted(ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu*/bin/nvcc"))
    if not found:
        sys.exit("there is no nvcc: run scripts/setup without a CUDA toolkit on this machine, or set NVCC")
    return str(found[-1])


def commands_of(place, programs):
    """Name, folder and arguments of each compilation: the lines of a list, or what Makefiles would run."""
    if place.is_file():
        lines = (line.split("#")[0].split() for line in place.read_text().splitlines())
        return [(" ".join(line), place.parent, line) for line in lines if line]
    makefiles = sorted({*place.rglob("Makefile"), *place.rglob("makefile")})
    folders = [makefile.parent for makefile in makefiles if re.search(programs, makefile.parent.relative_to(place).as_posix())]
    return [
        (f"{place.name}/{folder.relative_to(place)}/{source}", folder, command)
        for folder in folders
        for source, command in made_by(folder)
    ]


def made_by(folder):
    """What `make` in a folder would give nvcc to compile: CUDA sources with the options that matter to each."""
    assignments = ["CC=nvcc", "NVCC=nvcc", "ARCH=sm_80"]
    text = subprocess.run(["make", "-nB", *assignments], cwd=folder, capture_output=True, text=True, errors="replace").stdout
    for line in text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line)
        except ValueError:
            continue
        if not words or not re.search(r"(^|/)nvcc$", words[0]):
            continue
        options, sources = separated(words[1:])
        for source in sources:
            if (folder / source).is_file():
                yield source, [source, *options]


def separated(words):
    """Options for a compilation, and the CUDA sources, of one of nvcc's command lines."""
    options, sources, words = [], [], iter(words)
    for word in words:
        if word == "-o" or word in ("-MF", "-MT", "-x"):
            next(words, None)
        elif word.endswith(".cu"):
            sources.append(word)
        elif word in ("-I", "-D", "-Xcompiler", "-Xptxas", "-gencode", "-arch", "-std", "-include", "-ccbin", "-O"):
            options += [word, next(words, "")]
        elif re.match(r"-(I|D|U|std|-std|arch|-gpu|gencode|use_fast_math|-use_fast|O|-expt|-extended|rdc|-rdc|fmad|-fmad|Xcompiler|maxrregcount)", word):
            options.append(word)
    return options, sources


def compare(compilers, folder, command, options):
    arguments = [default for default in DEFAULTS if not any(word.startswith(default[:3]) for word in command if default != DEFAULTS[1])]
    if any(re.match(r"-(-gpu-)?(arch|gencode)", word) for word in command):
        arguments = [argument for argument in arguments if argument != DEFAULTS[1]]
    row = {}
    with tempfile.TemporaryDirectory() as made:
        for _ in range(options.rounds):
            for name, compiler in compilers.items():
                if row.get(name, {}) is None:
                    continue
                line = [*compiler, *arguments, "-c", *command, "-o", f"{made}/{name}.o"]
                row[name] = better(row.get(name), timed(line, folder, options.limit))
    return row


def timed(line, folder, limit):
    """CPU seconds of a command and all its processes, and elapsed ones; None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    environment = dict(os.environ, SIRIUS_CACHE="off")
    process = subprocess.Popen(
        [str(word) for word in line],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        status = None
    elapsed = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if status not in (0, None):
        return None
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu": round(cpu, 2), "elapsed": round(elapsed, 2), "ended": status == 0}


def better(one, other):
    return min((each for each in (one, other) if each), key=lambda each: each["cpu"], default=None)


def text_of(measured):
    return f"{measured['cpu']:.2f}{'' if measured['ended'] else ' and more'}" if measured else "fails"


def ratios(results, device):
    """Ratio of CPU seconds to nvcc's by source, the largest first, where both compile it."""
    rows = results["files"].items()
    both = [(row[device]["cpu"] / row["nvcc"]["cpu"], name, row) for name, row in rows if row.get("nvcc") and row.get(device)]
    return sorted(both, key=lambda each: -each[0])


def summary(results):
    lines = []
    for device in ("cuda", "cpu"):
        found = ratios(results, device)
        if not found:
            continue
        values = [ratio for ratio, _, _ in found]
        over = sum(ratio > 4 for ratio in values)
        lines += [f"{device}: {len(found)} sources, median {statistics.median(values):.2f}, largest {values[0]:.2f}, {over} above 4"]
        lines += [f"  {ratio:6.2f}  {row['nvcc']['cpu']:7.2f} {text_of(row[device]):>8}  {name}" for ratio, name, row in found[:WORST]]
    return "\n".join(lines)


def page(results):
    """docs/compile_time.md."""
    lines = [
        "# How long compilation takes",
        "",
        "`scripts/bench compile` draws this page. Each source is compiled with `-O3 -arch=sm_80 -c` and the options of its Makefile by nvcc,",
        "by this compiler for the CUDA device (through ptxas, as nvcc) and by it for the CPU device; seconds are CPU time of all processes.",
        f"nvcc {results['nvcc']} and a {results['compiler']} on {results['machine']}, {results['date']}.",
        "",
        "| device | sources | median of ours / nvcc | nine in ten are below | largest | above 4 | sum, nvcc | sum, ours |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for device in ("cuda", "cpu"):
        found = ratios(results, device)
        if not found:
            continue
        values = [ratio for ratio, _, _ in found]
        tenth = values[len(values) // 10]
        sums = [sum(row[name]["cpu"] for _, _, row in found) for name in ("nvcc", device)]
        lines += [
            f"| {device} | {len(found)} | {statistics.median(values):.2f} | {tenth:.2f} | {values[0]:.2f} "
            f"| {sum(value > 4 for value in values)} | {sums[0]:.0f} s | {sums[1]:.0f} s |"
        ]
    for device in ("cuda", "cpu"):
        found = ratios(results, device)
        if not found:
            continue
        lines += ["", f"The slowest beside nvcc, {device} device:", "", "| source | nvcc | ours | ratio |", "|---|---:|---:|---:|"]
        lines += [f"| {name} | {row['nvcc']['cpu']:.1f} s | {text_of(row[device])} s | {ratio:.2f} |" for ratio, name, row in found[:WORST]]
    failed = {name: [each for each in ("cuda", "cpu") if each in row and not row[each]] for name, row in results["files"].items() if row.get("nvcc")}
    failed = {name: which for name, which in failed.items() if which}
    if failed:
        lines += ["", f"nvcc compiles {len(failed)} more sources that this compiler refuses:", ""]
        lines += [f"- {name} ({', '.join(which)})" for name, which in sorted(failed.items())]
    return "\n".join(lines) + "\n"


def cpu_name():
    text = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"model name\s*:\s*(.*)", text)
    return found.group(1) if found else platform.machine()


if __name__ == "__main__":
    main()
