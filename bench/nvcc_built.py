#!/usr/bin/env python3
"""Other people's programs as NVIDIA's nvcc links them, on the CPU device, beside the same programs by this compiler.

usage: bench/nvcc_built.py --results FILE [--programs REGEX] [--seconds N] SUITE FOLDER
       bench/nvcc_built.py --table FILE ...

A program is a folder below FOLDER with a Makefile. Its Makefile builds it by sirius-rs for the CPU device without fusion. Where
that ends well, nvcc builds it, too, with PTX alone and the CUDA runtime as a shared library, and it runs with the CPU device's
libraries. A line a program goes into FILE, where a later run goes on; --table prints what docs/ptx.md has of such files.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
import corpus
import models
import toolkit

SCRIPT = corpus.CORPUS
# What the Makefile says of architectures and of the runtime is left out.
WRAPPER = """#!/bin/bash
words=() skip=
for word; do
  [[ ! $skip ]] || { skip=; continue; }
  case $word in
    -arch=* | --gpu-architecture=* | -gencode=* | --generate-code=* | -code=* | -cudart=* | --cudart=*) ;;
    -arch | -gencode | --gpu-architecture | --generate-code | -code | -cudart | --cudart) skip=1 ;;
    *) words+=("$word") ;;
  esac
done
exec NVCC -gencode arch=compute_80,code=compute_80 -cudart shared -Wno-deprecated-gpu-targets -DcudaThreadSynchronize=cudaDeviceSynchronize "${words[@]}" -LRUNTIME/lib -LCPU/lib64
"""
ENDS_WELL = ("passes", "says nothing")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--table", type=pathlib.Path, nargs="+", metavar="FILE", help="prints the table of these results")
    arguments.add_argument("--results", type=pathlib.Path, metavar="FILE", help="where results go, a line each")
    arguments.add_argument("--programs", default="", metavar="REGEX", help="only programs whose names match")
    arguments.add_argument("--seconds", type=float, default=12, help="the longest that a program may run before it gets smaller numbers (12)")
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler")
    arguments.add_argument("suite", nargs="?", help="what the collection is called")
    arguments.add_argument("folder", nargs="?", type=pathlib.Path, help="where it is")
    options = arguments.parse_args()
    if options.table:
        print(table([json.loads(line) for file in options.table for line in file.read_text().splitlines()]))
        return
    if not options.results or not options.folder:
        arguments.error("--results, a name and a folder are needed")
    done = SCRIPT.read_results(options.results)
    with tempfile.TemporaryDirectory() as scratch:
        own, nvidia = toolkits(pathlib.Path(scratch), options)
        for folder in sorted({makefile.parent for makefile in options.folder.absolute().rglob("[Mm]akefile")}):
            name = f"{options.suite}/{folder.name}"
            if name in done or not re.search(options.programs, folder.name):
                continue
            row = {"program": name, "own": attempt(folder, own, options.seconds)}
            if ends_well(row["own"]):
                # The PTX is compiled when the program starts.
                row["nvcc"] = attempt(folder, nvidia, 3 * options.seconds, row["own"].get("smaller"))
            with options.results.open("a") as results:
                results.write(json.dumps(row) + "\n")
            print(name, *(f"{way}: {row[way]['build']}, {row[way]['run']}, {row[way]['check']}, {row[way]['run_seconds']} s {row[way]['message']}" for way in ("own", "nvcc") if way in row), flush=True)


def toolkits(scratch, options):
    """A folder for the CPU device, and one like it whose nvcc is NVIDIA's."""
    compiler = models.compiler(options)
    own, nvidia = scratch / "cpu", scratch / "nvidia"
    subprocess.run([compiler, "--sirius-device=cpu", "--sirius-toolkit", own], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (nvidia / "bin").mkdir(parents=True)
    toolkit.take_runtime(nvidia)
    nvcc = toolkit.tool("nvcc")
    (nvidia / "include").symlink_to(nvcc.parent.parent / "include")
    (nvidia / "nvvm").symlink_to(nvcc.parent.parent / "nvvm")
    (nvidia / "lib64").symlink_to(own / "lib64")
    wrapper = nvidia / "bin/nvcc"
    wrapper.write_text(WRAPPER.replace("NVCC", str(nvcc)).replace("RUNTIME", str(nvidia)).replace("CPU", str(own)))
    wrapper.chmod(0o755)
    os.environ |= {"LD_LIBRARY_PATH": str(own / "lib64"), "SIRIUS_COMPILER": str(compiler), "SIRIUS_CPU_THREADS": "1"}
    return own, nvidia


def attempt(folder, place, seconds, command=None):
    """Builds and runs a program one way; with the numbers with which it ended the other way."""
    settings = types.SimpleNamespace(make=["ARCH=sm_80"], seconds=seconds)
    if command is None:
        return SCRIPT.attempt(folder, None, place, settings, "off")
    former, SCRIPT.run_command = SCRIPT.run_command, lambda *_: ["sh", "-c", command]
    try:
        return SCRIPT.attempt(folder, None, place, settings, "off")
    finally:
        SCRIPT.run_command = former


def ends_well(row):
    return row["build"] == "builds" and row["run"] == "runs" and row["check"] in ENDS_WELL


def table(rows):
    lines = [
        "| collection | tried | own check passes with sirius-rs | of these nvcc builds | pass as nvcc built them | says nothing with sirius-rs | of these nvcc builds | end as nvcc built them |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    suites = list(dict.fromkeys(row["program"].split("/")[0] for row in rows))
    for suite in [*suites, "**all**"]:
        of_suite = [row for row in rows if suite in ("**all**", row["program"].split("/")[0])]
        cells = [len(of_suite)]
        for check in ENDS_WELL:
            ended = [row for row in of_suite if ends_well(row["own"]) and row["own"]["check"] == check]
            built = [row for row in ended if row["nvcc"]["build"] == "builds"]
            cells += [len(ended), len(built), sum(ends_well(row["nvcc"]) and (check != "passes" or row["nvcc"]["check"] == check) for row in built)]
        lines.append(f"| {suite} | " + " | ".join(map(str, cells)) + " |")
    for row in rows:
        if "nvcc" in row and (not ends_well(row["nvcc"]) or row["own"]["check"] != row["nvcc"]["check"]):
            found = row["nvcc"]
            lines.append(f"- {row['program']}: {found['build']}, {found['run']}, {found['check']}: {found['message']}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
