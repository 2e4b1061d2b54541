#!/usr/bin/env python3
"""Runs what `scripts/bench gpu --pack` built, on a machine with a GPU, and writes results.json beside itself.

usage: run.py [--programs REGEX] [--rounds N] [--seconds N] [--nvcc] [--check memcheck,racecheck] [--jobs N]

Every program runs without fusion and with it. Both must end with status 0, say PASS where either does, and print the same bytes.
Models take turns, so that a clock that changes meets all of them alike. `--check` runs the fused programs under
compute-sanitizer besides. `--nvcc` builds them by NVIDIA's compiler too, where it is, as a third way.
"""

import argparse
import concurrent.futures
import datetime
import importlib.util
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--rounds", type=int, default=5, help="turns of each model (5)")
    arguments.add_argument("--seconds", type=float, default=60, help="the longest that one program may take (60)")
    arguments.add_argument("--budget", type=float, default=500, help="seconds after which no further part begins (500)")
    arguments.add_argument("--check", default="", metavar="TOOLS", help="tools of compute-sanitizer to run fused programs under")
    arguments.add_argument("--jobs", type=int, default=4, help="programs at a time, except models (4)")
    arguments.add_argument("--nvcc", action="store_true", help="builds the programs by nvcc, too, and compares with that")
    options = arguments.parse_args()
    began = time.monotonic()
    contents = json.loads((HERE / "list.json").read_text())
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    name, driver, capability = [part.strip() for part in subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(",")]
    results = contents | {
        "date": datetime.date.today().isoformat(),
        "gpu": {"name": name, "driver": driver, "architecture": "sm_" + capability.replace(".", "")},
    }
    chosen = [program for program in results["programs"] if re.search(options.programs, program["name"])]
    results["programs"] = chosen
    built = [program for program in chosen if "failure" not in program]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        small = [program for program in built if "timed" not in program]
        for program, outcome in zip(small, pool.map(lambda program: compare(program, options), small)):
            program |= outcome
            if not outcome["same"]:
                print(f"{program['name']}: {outcome['difference']}", flush=True)
    save(results)
    for program in built:
        if "timed" in program:
            program |= compare(program, options)
            if not program["same"]:
                print(f"{program['name']}: {program['difference']}", flush=True)
            if time.monotonic() - began < options.budget:
                program["microseconds"] = measure(program, options)
            save(results)
    results["checked"] = {}
    for tool in filter(None, options.check.split(",")):
        if time.monotonic() - began < options.budget:
            results["checked"][tool] = check(tool, [program for program in built if "timed" not in program], options)
            save(results)
    right = sum(program.get("same", False) for program in built)
    print(f"{right} of {len(built)} programs are right and the same both ways; {time.monotonic() - began:.0f} s")


def save(results):
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")


def place_of(program, way):
    return HERE / "bin" / f"{program['name'].replace('/', '.')}.{way}"


def run(program, way, arguments, options, before=()):
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{HERE / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    command = [*before, place_of(program, way), *arguments]
    try:
        return subprocess.run(command, capture_output=True, timeout=options.seconds, env=environment, cwd=HERE / "bin")
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(command, "no end", late.stdout or b"", late.stderr or b"")


def compare(program, options):
    if options.nvcc and "timed" not in program:
        build_by_nvcc(program)
    for arguments in program["runs"]:
        said = {}
        for way in program["ways"]:
            done = run(program, way, arguments, options)
            # A model prints how long it took besides.
            output = re.sub(rb"^time \w+ [0-9.]+\n", b"", done.stdout, flags=re.M)
            said[way] = output
            if done.returncode != 0 or (b"PASS" not in output and b"FAIL" in output) or not output:
                lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
                what = f"{way}, arguments {arguments}: status {done.returncode}, {'; '.join(lines[:6]) or 'no output'}"
                return {"same": False, "difference": what}
        for way, output in said.items():
            if output != said[program["ways"][0]]:
                return {"same": False, "difference": f"{way}, arguments {arguments}: {first_difference(said[program['ways'][0]], output)}"}
    return {"same": True}


def build_by_nvcc(program):
    """Puts a program that nvcc made in front of ours, where nvcc takes the source without further options."""
    source = HERE / "sources" / program["source"]
    architecture = json.loads((HERE / "list.json").read_text())["architecture"]
    libraries = ["-lcublas", "-lcublasLt", "-lcufft", "-lcusparse", "-lcusolver", "-lcurand", "-lnvrtc", "-lcuda"]
    command = ["nvcc", "-O3", "-std=c++17", f"-arch={architecture}", "-w", source, "-o", place_of(program, "nvcc"), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        program["ways"] = ["nvcc", *program["ways"]]
    else:
        program["nvcc"] = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[-200:])


def first_difference(expected, found):
    for one, other in zip(expected.decode(errors="replace").splitlines(), found.decode(errors="replace").splitlines()):
        if one != other:
            return f"`{other}` in place of `{one}`"
    return f"{len(found)} bytes of output in place of {len(expected)}"


def measure(program, options):
    """Medians and quartiles in microseconds by way and kind of launch."""
    samples = {}
    size = program["timed"]
    commands = [(way, lambda way=way: run(program, way, [], options)) for way in program["ways"]]
    if importlib.util.find_spec("torch"):
        torch = [sys.executable, HERE / "pytorch_models.py", size]
        commands.append(("PyTorch", lambda: subprocess.run(torch, capture_output=True)))
    for turn in range(options.rounds):
        for label, command in commands:
            if label == "PyTorch" and turn > 1:
                continue
            done = command()
            for way, value in re.findall(rb"^time (\w+) ([0-9.]+)$", done.stdout, re.M):
                samples.setdefault(f"{label} {way.decode()}", []).append(float(value))
            if done.returncode:
                print(f"{program['name']}, {label}: status {done.returncode}: {done.stderr.decode(errors='replace').strip()[-300:]}", flush=True)
    times = {}
    for label, values in samples.items():
        if len(values) > 1:
            low, middle, high = statistics.quantiles(values, n=4)
            times[label] = {"median": round(middle, 2), "quartiles": [round(low, 2), round(high, 2)], "samples": len(values)}
            print(f"{program['name']} {label:18} {middle:10.1f} µs ({low:.1f} to {high:.1f})", flush=True)
    return times


def check(tool, programs, options):
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        return {"programs": 0, "complaints": {"all": "compute-sanitizer is not on the PATH"}}
    before = [sanitizer, "--tool", tool, "--error-exitcode", "99", "--print-limit", "3"]
    # Programs make calls that fail on purpose.
    before += ["--report-api-errors", "no"] if tool == "memcheck" else []
    complaints = {}
    right = [program for program in programs if program.get("same")]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, done in zip(right, pool.map(lambda program: run(program, "fused", program["runs"][0], options, before), right)):
            if done.returncode == 99:
                lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("=========")]
                complaints[program["name"]] = " ".join(lines[1:4])[:400]
                print(f"{tool}: {program['name']}: {complaints[program['name']]}", flush=True)
    return {"programs": len(right), "complaints": complaints}


if __name__ == "__main__":
    main()
