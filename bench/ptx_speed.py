#!/usr/bin/env python3
"""Compares kernels that come as PTX with those that clang makes of the same source, both on the CPU device.

Each SOURCE is built twice without fusion: for the CPU device, and for CUDA devices with the CUDA runtime as a shared
library, which then runs with the CPU device's libraries. Both run in turns, the PTX once before, so that what is made of it
is kept. A time is the least of some runs: what the program prints behind --pattern, or else the processor's time of the whole
process. Programs that take less than --least seconds say nothing and are left out.
"""

import argparse
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent


def main():
    options = arguments()
    ratios = []
    print("| program | clang, s | PTX, s | PTX / clang |\n|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as scratch:
        libraries = Path(scratch) / "cpu"
        subprocess.run([options.compiler, "--sirius-device=cpu", "--sirius-toolkit", libraries], check=True, stdout=subprocess.DEVNULL)
        for source in options.sources:
            times = measure(source, libraries / "lib64", Path(scratch), options)
            if times is None:
                continue
            clang, ptx = times
            ratios.append(ptx / clang)
            print(f"| {source.stem} | {clang:.3f} | {ptx:.3f} | {ptx / clang:.2f} |", flush=True)
    if ratios:
        print(f"| **median of {len(ratios)}** | | | {statistics.median(ratios):.2f} |")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+", type=lambda text: Path(text).resolve(), metavar="SOURCE")
    parser.add_argument("--compiler", type=Path, default=PROJECT / "target/release/sirius-rs")
    parser.add_argument("--cudart", type=Path, help="folder of NVIDIA's libcudart.so, to link with", required=True)
    parser.add_argument("--nvcc", help="makes the PTX in place of sirius-rs")
    parser.add_argument("--option", action="append", default=[], help="of both compilations")
    parser.add_argument("--pattern", help="a regular expression whose first group is a time, in seconds")
    parser.add_argument("--least", type=float, default=0.05, metavar="SECONDS")
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def measure(source, libraries, scratch, options):
    """Seconds through clang and through PTX, or None."""
    common = ["--sirius-fusion=off", "-arch=sm_80", "-O3", *options.option, source]
    own, ptx = scratch / "own", scratch / "ptx"
    ways = [
        (own, ["--sirius-device=cpu"]),
        (ptx, ["--sirius-device=cuda", "-cudart", "shared", "-L", options.cudart]),
    ]
    for program, words in ways:
        command = [options.compiler, *words, *common, "-o", program]
        if program is ptx and options.nvcc:
            command = [options.nvcc, "-cudart", "shared", "-L", options.cudart, *common[1:], "-o", program]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if made.returncode:
            print(f"{source.name} does not build: {made.stdout.strip()[-200:]}", file=sys.stderr)
            return None
    environment = dict(os.environ, LD_LIBRARY_PATH=str(libraries), SIRIUS_COMPILER=str(options.compiler), SIRIUS_CPU_THREADS="1")
    if seconds([ptx], environment, options) is None:
        print(f"{source.name} does not run", file=sys.stderr)
        return None
    best = [math.inf, math.inf]
    for _ in range(options.runs):
        for way, program in enumerate([own, ptx]):
            found = seconds([program], environment, options)
            if found is None:
                print(f"{source.name} does not run", file=sys.stderr)
                return None
            best[way] = min(best[way], found)
    if best[0] < options.least:
        print(f"{source.name} takes {best[0]:.3f} s only", file=sys.stderr)
        return None
    return best


def seconds(command, environment, options):
    """How long a run takes; None where it fails or does not say so."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ran.returncode:
        return None
    if not options.pattern:
        return after.ru_utime - before.ru_utime
    found = re.search(options.pattern, ran.stdout)
    return float(found.group(1)) if found else None


if __name__ == "__main__":
    main()
