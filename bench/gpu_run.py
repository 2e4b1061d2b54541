#!/usr/bin/env python3
"""Runs what `scripts/bench gpu --pack` built, on a machine with a GPU, and writes results.json beside itself.

usage: run.py [--programs REGEX] [--rounds N] [--seconds N] [--nvcc] [--check memcheck,racecheck [--only-check]] [--jobs N] [--results FILE]

Every program runs without fusion and with it. Both must end with status 0, say PASS where either does, and print the same bytes.
Models take turns, so that a clock that changes meets all of them alike. `--check` runs the fused programs under
compute-sanitizer besides; `--only-check` leaves the rest out and adds to what --results has. `--nvcc` builds the programs by
NVIDIA's compiler too, where it is, as a third way.
"""

import argparse
import concurrent.futures
import datetime
import importlib.util
import json
import os
import pathlib
import re
import select
import shutil
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
# How many times a model tells: so many of launches one by one, and as many of a graph.
TIMES = 40


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--rounds", type=int, default=5, help="turns of each model (5)")
    arguments.add_argument("--seconds", type=float, default=60, help="the longest that one program may take (60)")
    arguments.add_argument("--budget", type=float, default=500, help="seconds after which no further part begins (500)")
    arguments.add_argument("--check", default="", metavar="TOOLS", help="tools of compute-sanitizer to run fused programs under")
    arguments.add_argument("--jobs", type=int, default=4, help="programs at a time, except models (4)")
    arguments.add_argument("--nvcc", action="store_true", help="builds the programs by nvcc, too, and compares with that")
    arguments.add_argument("--only-check", action="store_true", help="only what --check says, of the programs that --results calls right")
    arguments.add_argument("--results", type=pathlib.Path, default=HERE / "results.json", metavar="FILE", help="where results go (results.json)")
    options = arguments.parse_args()
    options.end = time.monotonic() + options.budget
    earlier = json.loads(options.results.read_text()) if options.only_check and options.results.exists() else None
    results = earlier or json.loads((HERE / "list.json").read_text()) | {"date": datetime.date.today().isoformat(), "gpu": find_gpu(), "checked": {}}
    if not options.only_check:
        compare_and_time(results, options)
    for tool in filter(None, options.check.split(",")):
        if time.monotonic() < options.end:
            small = [program for program in results["programs"] if is_built(program) and "timed" not in program and program.get("same", not earlier)]
            results["checked"][tool] = check(tool, [program for program in small if re.search(options.programs, program["name"])], options)
            save(results, options)


def find_gpu():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"]
    name, driver, capability = [part.strip() for part in subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(",")]
    return {"name": name, "driver": driver, "architecture": "sm_" + capability.replace(".", "")}


def is_built(program):
    return "failure" not in program


def compare_and_time(results, options):
    began = time.monotonic()
    chosen = [program for program in results["programs"] if re.search(options.programs, program["name"])]
    results["programs"] = chosen
    built = [program for program in chosen if is_built(program)]
    timed = [program for program in built if "timed" in program]
    # PyTorch compiles the models meanwhile, and waits.
    options.pytorch = {program["timed"]: start_pytorch(program) for program in timed if importlib.util.find_spec("torch")}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, outcome in zip(built, pool.map(lambda program: compare(program, options), built)):
            program |= outcome
            if not outcome["same"]:
                print(f"{program['name']}: {outcome['difference']}", flush=True)
    print(f"compared after {time.monotonic() - began:.0f} s", flush=True)
    save(results, options)
    # What still compiles would disturb the times.
    patience = time.monotonic() + min(options.seconds, options.budget / 5)
    for name, process in list(options.pytorch.items()):
        if not select.select([process.stdout], [], [], max(patience - time.monotonic(), 0))[0]:
            print(f"{name}: PyTorch was not ready in time", flush=True)
            options.pytorch.pop(name).kill()
    print(f"PyTorch is ready after {time.monotonic() - began:.0f} s", flush=True)
    for program in timed:
        if time.monotonic() < options.end:
            program["microseconds"] = measure(program, options)
            save(results, options)
    for process in options.pytorch.values():
        process.kill()
    right = sum(program.get("same", False) for program in built)
    print(f"{right} of {len(built)} programs are right and the same both ways; {time.monotonic() - began:.0f} s")


def save(results, options):
    options.results.write_text(json.dumps(results, indent=1) + "\n")


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
    if not shutil.which("nvcc"):
        program["nvcc"] = "there is no nvcc on the PATH"
        return
    source = HERE / "sources" / program["source"]
    architecture = json.loads((HERE / "list.json").read_text())["architecture"]
    libraries = ["-lcublas", "-lcublasLt", "-lcufft", "-lcusparse", "-lcusolver", "-lcurand", "-lnvrtc", "-lcuda"]
    libraries += ["-lnvidia-ml"] if "nvml" in source.read_text() else []
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


def start_pytorch(program):
    command = [sys.executable, HERE / "pytorch_models.py", program["timed"], "--wait"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def measure(program, options):
    """Medians and quartiles in microseconds by way and kind of launch."""
    samples = {}
    for _ in range(options.rounds):
        for way in program["ways"]:
            take_times(run_for_times(program, way, options), way, samples)
    if process := options.pytorch.pop(program["timed"], None):
        try:
            output, _ = process.communicate(b"\n", timeout=min(options.seconds, max(options.end - time.monotonic(), 2)))
            take_times(output, "PyTorch", samples)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            print(f"{program['name']}: PyTorch was not at its end in time", flush=True)
    times = {}
    for label, values in samples.items():
        if len(values) > 1:
            low, middle, high = statistics.quantiles(values, n=4)
            times[label] = {"median": round(middle, 2), "quartiles": [round(low, 2), round(high, 2)], "samples": len(values)}
            print(f"{program['name']} {label:18} {middle:10.1f} µs ({low:.1f} to {high:.1f})", flush=True)
    return times


def take_times(output, label, samples):
    for kind, value in re.findall(rb"^time (\w+) ([0-9.]+)$", output, re.M):
        samples.setdefault(f"{label} {kind.decode()}", []).append(float(value))


def run_for_times(program, way, options):
    """What a model prints until it has told all its times. Its check, which the host computes for seconds, is not waited for."""
    environment = dict(os.environ, LD_LIBRARY_PATH=f"{HERE / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}")
    by_line = ["stdbuf", "-oL"] if shutil.which("stdbuf") else []
    process = subprocess.Popen([*by_line, place_of(program, way)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, cwd=HERE / "bin")
    late = threading.Timer(options.seconds, process.kill)
    late.start()
    output, told = b"", 0
    for line in process.stdout:
        output += line
        told += line.startswith(b"time ")
        if told == TIMES:
            break
    late.cancel()
    process.kill()
    process.wait()
    if told < TIMES:
        print(f"{program['name']}, {way}: {told} times, status {process.returncode}", flush=True)
    return output


def check(tool, programs, options):
    sanitizer = shutil.which("compute-sanitizer")
    if not sanitizer:
        return {"programs": 0, "complaints": {"all": "compute-sanitizer is not on the PATH"}}
    before = [sanitizer, "--tool", tool, "--error-exitcode", "99", "--print-limit", "3"]
    # Programs make calls that fail on purpose.
    before += ["--report-api-errors", "no"] if tool == "memcheck" else []
    complaints, late, ended = {}, [], 0

    def run_checked(program):
        if time.monotonic() > options.end:
            return None
        return run(program, "fused", program["runs"][0], options, before)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program, done in zip(programs, pool.map(run_checked, programs)):
            # The tool ends with a summary, unless it could not run.
            if done is None or done.returncode == "no end" or b"SUMMARY" not in done.stdout:
                late.append(program["name"])
                continue
            ended += 1
            if done.returncode == 99:
                lines = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("=========")]
                complaints[program["name"]] = " ".join(lines[1:4])[:400]
                print(f"{tool}: {program['name']}: {complaints[program['name']]}", flush=True)
    print(f"{tool}: {ended} programs, {len(complaints)} complaints, {len(late)} not at their end", flush=True)
    return {"programs": ended, "complaints": complaints, "late": late}


if __name__ == "__main__":
    main()
