#!/usr/bin/env python3
"""Runs other people's programs that `scripts/gpu --corpus PROGRAMS` packed, on a machine with a GPU.

usage: run_corpus.py [--programs REGEX] [--rounds N] [--seconds N] [--budget N] [--jobs N] [--results FILE]

Each program was built by nvcc, without fusion and with it. At first many run at once, and what they print is compared, but for
times and rates. Then the programs run alone, the ways taking turns, the quick programs first, until the budget is used up: the
time of the whole process, and what times the program prints. At last each runs with a library that counts launches and sums up
how long kernels ran. What takes too long gets smaller numbers on its command line.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time

import corpus

HERE = pathlib.Path(__file__).resolve().parent
PLACE = HERE / "corpus"
COUNTER = HERE / "lib/count_launches.so"
WAYS = ["nvcc", "unfused", "fused"]
NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)"
UNITS = {"s": 1e6, "sec": 1e6, "secs": 1e6, "second": 1e6, "seconds": 1e6, "ms": 1e3, "msec": 1e3, "millisecond": 1e3, "milliseconds": 1e3,
         "us": 1, "usec": 1, "µs": 1, "microsecond": 1, "microseconds": 1, "ns": 1e-3, "nanosecond": 1e-3, "nanoseconds": 1e-3}
UNIT = "|".join(sorted(UNITS, key=len, reverse=True))
TIME = re.compile(rf"({NUMBER})\s*[(\[]?\s*({UNIT})\b(?!\s*/)", re.I)
UNIT_FIRST = re.compile(rf"[(\[]\s*({UNIT})\s*[)\]]\s*[:=]?\s*({NUMBER})", re.I)
# A line in which numbers depend on how fast the program was.
ABOUT_SPEED = re.compile(rf"time|elapsed|took|duration|speed|throughput|bandwidth|rate\b|per second|/\s*s(ec)?\b|[kmgt]i?(b|byte|flop|op)s?\b|flop|fps|latency|cycles|clock|{TIME.pattern}", re.I)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--rounds", type=int, default=3, help="turns of each program (3)")
    arguments.add_argument("--seconds", type=float, default=10, help="the longest that a program may take before it gets smaller numbers (10)")
    arguments.add_argument("--budget", type=float, default=240, help="seconds after which nothing more begins (240)")
    arguments.add_argument("--jobs", type=int, default=8, help="programs at a time while outputs are compared (8)")
    arguments.add_argument("--results", type=pathlib.Path, default=HERE / "corpus_results.json", metavar="FILE", help="where results go")
    options = arguments.parse_args()
    began = time.monotonic()
    end = began + options.budget
    import run as project

    results = json.loads((PLACE / "list.json").read_text())
    results |= {"date": datetime.date.today().isoformat(), "gpu": project.find_gpu(None)}
    programs = [program for program in results["programs"] if "failure" not in program and re.search(options.programs, program["name"])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # What is left is for the times.
        for program, outcome in zip(programs, pool.map(lambda program: compare(program, options, began + options.budget * 0.4), programs)):
            program |= outcome
            print(f"{program['name']}: {'same' if outcome.get('same') else outcome.get('difference', 'no time left')}", flush=True)
    save(results, options)
    print(f"compared after {time.monotonic() - began:.0f} s", flush=True)
    right = sorted((program for program in programs if program.get("status") == 0), key=lambda program: sum(program["first"].values()))
    for program in right:
        # What would not come to its end is not begun.
        if time.monotonic() + options.rounds * sum(program["first"].values()) / 2 < end:
            measure(program, options)
            if COUNTER.exists():
                program["busy"] = {way: count for way in WAYS[1:] if (count := counted(program, way, options))}
            walls = ", ".join(f"{way} {sorted(times)[len(times) // 2]:.2f} s" for way, times in program["wall"].items())
            print(f"{program['name']}: {walls}", flush=True)
            save(results, options)
    print(f"{len(programs)} programs, {sum(program.get('same', False) for program in programs)} the same, "
          f"{sum('wall' in program for program in programs)} timed; {time.monotonic() - began:.0f} s")


def save(results, options):
    options.results.write_text(json.dumps(results, indent=1) + "\n")


def run(program, way, arguments, seconds, **variables):
    """Status (None where the time was up), standard output, standard error and seconds."""
    path = f"{HERE / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    folder = PLACE / "data" / pathlib.Path(program["name"]).name
    folder.mkdir(parents=True, exist_ok=True)
    command = [PLACE / "bin" / f"{program['name'].replace('/', '.')}.{way}", *arguments]
    start = time.monotonic()
    try:
        done = subprocess.run(command, cwd=folder, env=dict(os.environ, LD_LIBRARY_PATH=path, **variables), stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
        status, output, errors = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        status, output, errors = None, late.stdout or b"", late.stderr or b""
    except OSError as error:
        status, output, errors = 127, b"", str(error).encode()
    return status, output.decode(errors="replace"), errors.decode(errors="replace"), time.monotonic() - start


def compare(program, options, end):
    """Runs a program in all ways, once, with numbers with which it ends in time."""
    told, first = {}, {}
    commands = program["commands"][:1]
    line = " ".join(commands[0])
    smaller = [command.split()[1:] for command in corpus.smaller_commands(f"program {line}")]
    for arguments in [commands[0], *smaller]:
        if time.monotonic() > end:
            return {}
        status, output, errors, seconds = run(program, "nvcc", arguments, options.seconds)
        if status is not None:
            break
    told["nvcc"], first["nvcc"] = (status, output, errors), seconds
    for way in WAYS[1:]:
        status, output, errors, seconds = run(program, way, arguments, options.seconds * 2)
        told[way], first[way] = (status, output, errors), seconds
    row = {"arguments": arguments, "first": {way: round(seconds, 2) for way, seconds in first.items()}, "status": 0, "same": True}
    row["check"] = {way: corpus.check_class(status, output + errors) for way, (status, output, errors) in told.items()}
    for way, (status, output, errors) in told.items():
        if status != 0:
            last = (output + errors).strip().splitlines()[-3:]
            ended = "was not at its end in time" if status is None else f"status {status}"
            return row | {"same": False, "status": status if status else "late", "difference": f"{way}, arguments {arguments}: {ended}, {'; '.join(last)[:300]}"}
    for way in WAYS[1:]:
        base = "nvcc" if way == "unfused" else "unfused"
        difference = first_difference(masked(told[base][1]), masked(told[way][1]))
        if difference:
            both = masked(told["fused"][1]) == masked(told["unfused"][1])
            again = run(program, base, arguments, options.seconds)[1]
            varies = " (it prints other numbers when it runs again, too)" if masked(again) != masked(told[base][1]) else ""
            row |= {"same": False, "difference": f"{way} in place of {base}: {difference}{varies}", "fused_as_unfused": both}
            row["told"] = {way: output[:6000] for way, (_, output, _) in told.items()}
            return row
    if row["check"]["fused"] == "fails":
        return row | {"same": False, "difference": f"its own check: {row['check']}"}
    return row


def masked(text):
    """What a program prints without the numbers that depend on time."""
    lines = (re.sub(r"\s+", " ", line).strip() for line in text.splitlines())
    return [re.sub(NUMBER + r"|\b(inf|nan)\b", "#", line) if ABOUT_SPEED.search(line) else line for line in lines]


def first_difference(expected, found):
    for one, other in zip(expected, found):
        if one != other:
            return f"`{other[:150]}` in place of `{one[:150]}`"
    return f"{len(found)} lines in place of {len(expected)}" if len(expected) != len(found) else None


def own_times(text):
    """The times that a program prints, in microseconds: by the line around them."""
    found = {}
    for line in text.splitlines():
        times = [(float(number.replace(",", "")), UNITS[unit.lower()]) for number, unit in TIME.findall(line)]
        # The unit stands before the number: `time (us) = 5`; or nowhere.
        times = times or [(float(number.replace(",", "")), UNITS[unit.lower()]) for unit, number in UNIT_FIRST.findall(line)]
        if not times and re.search(r"\btimes?\b|elapsed", line, re.I):
            times = [(float(number.replace(",", "")), 1) for number in re.findall(NUMBER, line)[-1:]]
        for place, (value, scale) in enumerate(times):
            label = re.sub(NUMBER, "#", line).strip()[:100] + (f" [{place + 1}]" if place else "")
            while label in found:
                label += "'"
            found[label] = value * scale
    return found


def measure(program, options):
    wall, own = {way: [] for way in WAYS}, {}
    for turn in range(options.rounds):
        for way in WAYS[turn % 3:] + WAYS[: turn % 3]:
            status, output, _, seconds = run(program, way, program["arguments"], options.seconds * 2)
            if status != 0:
                program["difference"] = f"{way} ended with status {status} in a later run"
                program["same"] = False
                continue
            wall[way].append(round(seconds, 3))
            for label, value in own_times(output).items():
                own.setdefault(label, {}).setdefault(way, []).append(value)
    program["wall"] = wall
    # What is the same each time is no time, such as a number of steps.
    varies = lambda ways: len({value for values in ways.values() for value in values}) > 1
    program["own"] = {label: ways for label, ways in own.items() if set(ways) == set(WAYS) and varies(ways)}


def counted(program, way, options):
    """Launches, and nanoseconds that the GPU was busy, as the injected library tells."""
    told = PLACE / f"count.{os.getpid()}"
    told.unlink(missing_ok=True)
    run(program, way, program["arguments"], options.seconds * 2, CUDA_INJECTION64_PATH=str(COUNTER), COUNT_FILE=str(told))
    try:
        launches, nanoseconds = map(int, told.read_text().split())
    except (OSError, ValueError):
        return None
    return {"launches": launches, "nanoseconds": nanoseconds}


if __name__ == "__main__":
    sys.exit(main())
