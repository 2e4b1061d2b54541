#!/usr/bin/env python3
"""How long sources take to compile, by nvcc and by this compiler. `scripts/bench compile` runs this.

Every source is compiled by `nvcc -O3 -c`, by this compiler for the CUDA device and by it for the CPU device, one after the
other so that what else the machine does meets all of them. This compiler does so cold, with nothing in its cache, and warm,
with what is the same for all programs: the headers precompiled that CUDA sources begin with, and what another program for
the same device left. What comes out goes into a file, from which a
later run goes on.
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
WORST = 10
RESULTS = ROOT / "bench/results/compile.json"
LINKS = ROOT / "bench/results/compile_links.json"


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench compile", description=__doc__.split("\n")[0])
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="of a folder, those whose path there matches")
    arguments.add_argument("--results", type=pathlib.Path, metavar="FILE", help="where results go (bench/results/compile.json, and compile_links.json for --link)")
    arguments.add_argument("--rounds", type=int, default=1, help="turns of each compiler, the fastest of which counts (1)")
    arguments.add_argument("--limit", type=float, default=300, metavar="SECONDS", help="the longest that a compiler takes (300)")
    arguments.add_argument("--devices", default="cuda,cpu", help="what is built for, besides nvcc (cuda,cpu)")
    arguments.add_argument("--caches", default="cold,warm", help="what this compiler has kept before (cold,warm)")
    arguments.add_argument("--at-random", type=int, metavar="N", help="so many sources of each place, drawn at random")
    arguments.add_argument("--link", action="store_true", help="programs of one source are linked, in place of compiled")
    arguments.add_argument("--compiler", type=pathlib.Path, help="another sirius-rs than that of this folder")
    arguments.add_argument("--again", action="store_true", help="measures also what the results have")
    arguments.add_argument("--draw", action="store_true", help="only draws docs/compile_time.md from the results")
    arguments.add_argument("places", nargs="*", type=pathlib.Path, metavar="LIST|FOLDER", help="sources and options, a line each; or programs with Makefiles")
    options = arguments.parse_args()
    place = (options.results or (LINKS if options.link else RESULTS)).absolute()
    results = json.loads(place.read_text()) if place.exists() else {"files": {}}
    if not options.draw:
        measure(options, place, results)
    print("\n".join(tables(results)))
    if place in (RESULTS, LINKS):
        draw()


def measure(options, place, results):
    nvcc = find_nvcc()
    ours = options.compiler or ROOT / "target" / ("release" if options.release else "debug") / "sirius-rs"
    states = [(device, cache) for device in options.devices.split(",") for cache in options.caches.split(",")]
    compilers = {"nvcc": [nvcc]} | {f"{device} {cache}": [ours, f"--sirius-device={device}"] for device, cache in states}
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
        for name, folder, command in commands[: options.at_random]:
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
    arguments = defaults_for(command)
    row = {}
    with tempfile.TemporaryDirectory() as made:
        for _ in range(options.rounds):
            for name, compiler in compilers.items():
                if row.get(name, {}) is None:
                    continue
                with tempfile.TemporaryDirectory() as cache:
                    output = ["-o", f"{made}/{name.replace(' ', '-')}.o"]
                    line = [*compiler, *arguments, *([] if options.link else ["-c"]), *command, *output]
                    if name.endswith("warm"):
                        # Headers are precompiled for options that are met a second time.
                        for _ in range(2):
                            timed([*line, "--sirius-stop-after=program"], folder, options.limit, cache)
                        other = pathlib.Path(made) / "other.cu"
                        other.write_text("__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); }\n")
                        timed([*compiler, other, "-o", other.with_suffix("")], made, options.limit, cache)
                    row[name] = better(row.get(name), timed(line, folder, options.limit, cache))
    return row


def defaults_for(command):
    """Of the options that each source is compiled with, those that its command does not set."""
    level, architecture = DEFAULTS
    sets_level = any(word.startswith("-O") for word in command)
    sets_architecture = any(re.match(r"-(-gpu-)?(arch|gencode)", word) for word in command)
    return [level] * (not sets_level) + [architecture] * (not sets_architecture)


def timed(line, folder, limit, cache, variables={}):
    """CPU seconds of a command and all its processes, and elapsed ones; None where it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in line],
        cwd=folder,
        env=dict(os.environ, SIRIUS_CACHE=cache, **variables),
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


def text_of(measured, unit="cpu"):
    return f"{measured[unit]:.2f}{'' if measured['ended'] else ' and more'}" if measured else "fails"


COLUMNS = [(f"{device} {cache}", unit) for device in ("cuda", "cpu") for cache in ("cold", "warm") for unit in ("elapsed", "cpu")]
UNITS = {"elapsed": "elapsed time", "cpu": "CPU time"}


def ratios(results, compiler, unit):
    """Ratio of seconds to nvcc's by source, the largest first, where both compile it."""
    rows = results["files"].items()
    both = [(row[compiler][unit] / row["nvcc"][unit], name, row) for name, row in rows if row.get("nvcc") and row.get(compiler)]
    return sorted(both, key=lambda each: -each[0])


def tables(results):
    """A line for each of what was built, and the slowest of each, with what `causes` in the results says of them."""
    causes = results.get("causes", {})
    lines = ["| | | sources | median of ours / nvcc | nine in ten are below | largest | sum, nvcc | sum, ours |"]
    lines += ["|---|---|---:|---:|---:|---:|---:|---:|"]
    for compiler, unit in COLUMNS:
        found = ratios(results, compiler, unit)
        if not found:
            continue
        values = [ratio for ratio, _, _ in found]
        sums = [sum(row[name][unit] for _, _, row in found) for name in ("nvcc", compiler)]
        lines += [
            f"| {compiler} | {UNITS[unit]} | {len(found)} | {statistics.median(values):.2f} | {values[len(values) // 10]:.2f} "
            f"| {values[0]:.2f} | {sums[0]:.0f} s | {sums[1]:.0f} s |"
        ]
    for compiler, unit in COLUMNS:
        found = ratios(results, compiler, unit)
        if not found or unit == "cpu":
            continue
        lines += ["", f"The slowest beside nvcc, {compiler}, {UNITS[unit]}:", "", "| source | nvcc | ours | ratio | where the time goes |", "|---|---:|---:|---:|---|"]
        lines += [
            f"| {name} | {row['nvcc'][unit]:.1f} s | {text_of(row[compiler], unit)} s | {ratio:.2f} | {causes.get(name, '')} |"
            for ratio, name, row in found[:WORST]
        ]
    return lines


def draw():
    """Writes docs/compile_time.md."""
    import objects
    import project

    lines = page(json.loads(RESULTS.read_text()))
    if objects.RESULTS.exists():
        lines += ["", objects.sentence(json.loads(objects.RESULTS.read_text()))]
    if LINKS.exists():
        results = json.loads(LINKS.read_text())
        lines += [
            "",
            "## Programs",
            "",
            f"`scripts/bench compile --link` makes whole programs of one source each, for both devices ({results['compiler']} on {results['machine']},",
            f"{results['date']}).",
            "",
            *tables(results),
        ]
    if project.RESULTS.exists():
        results = json.loads(project.RESULTS.read_text())
        count = len(results["seconds"]["nvcc"]["nothing"])
        runs = f"{count} run" + "s" * (count != 1)
        lines += [
            "",
            "## Projects",
            "",
            f"`scripts/bench project` builds a project of {results['sources']} sources with `make -j2` ({results['compiler']} on {results['machine']},",
            f"{results['date']}). Each source has three kernels and includes one common header. Seconds are elapsed time, medians of {runs};",
            "the number in brackets is how many times nvcc's they are. *From nothing* begins with an empty cache, too.",
            "",
            *project.table(results),
        ]
    (ROOT / "docs/compile_time.md").write_text("\n".join(lines) + "\n")


def page(results):
    """What docs/compile_time.md says of single sources."""
    lines = [
        "# How long compilation takes",
        "",
        "`scripts/bench compile` writes this page, which compares sirius-rs with nvcc. Each source is compiled with `-O3 -arch=sm_80 -c` and the",
        "options of its Makefile: by nvcc, by sirius-rs for the CUDA device (`cuda`, through ptxas, as nvcc), and where a row says `cpu`, by sirius-rs for",
        "the CPU device. *Cold*, sirius-rs has nothing kept. *Warm*, it has the headers precompiled that every CUDA source begins with, what another program left, and nothing",
        "else. *Ours* is sirius-rs; a ratio below 1 means that it takes less. CPU time is that of all processes. A source's name is its path in the folder that",
        "was measured; folders whose names end in `-cuda` are programs of HeCBench.",
        f"nvcc {results['nvcc']} and a {results['compiler']} on {results['machine']}, {results['date']}.",
        "",
        *tables(results),
    ]
    refused = lambda row: [name for name in sorted(row) if name != "nvcc" and not row[name]]
    failed = {name: refused(row) for name, row in results["files"].items() if row.get("nvcc") and refused(row)}
    if failed:
        lines += ["", f"nvcc compiles {len(failed)} more sources that this compiler refuses:", ""]
        lines += [f"- {name} ({', '.join(which)})" for name, which in sorted(failed.items())]
    return lines


def cpu_name():
    text = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
    found = re.search(r"model name\s*:\s*(.*)", text)
    return found.group(1) if found else platform.machine()


if __name__ == "__main__":
    main()
