#!/usr/bin/env python3
"""The programs of networks-minimal, the networks that the paper was measured with. `scripts/bench networks` runs this.

A checkout of github.com/Blacknana/networks-minimal is given; nothing of it enters this repository. Each network is there
as one kernel an operator and fused by hand. Both are built for the CPU device without fusion, the first also with all
of it, and run once with random weights, counting launches, instructions, barriers and bytes. Three things are changed
in a copy: the numbers of rounds that are timed, GoogleTest, Abseil's span and cuDNN, which bench/stand_ins/ stands for, and the files
of weights, which are drawn from a seed. What comes out goes into bench/results/networks.json and docs/models.md.
"""

import argparse
import array
import datetime
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import models
from models import COUNTS, ROOT, between, commit, cpu_name, run_program, short

RESULTS = ROOT / "bench/results/networks.json"
# Rounds before and while the clock runs: what is left is one run of the network.
NO_ROUNDS = [(r"\bkWarmUp = \d+", "kWarmUp = 0"), (r"\bkLoop = \d+", "kLoop = 0")]


class Network:
    """Sources without fusion and fused by hand (`*.cu` stands for all there), the files that they read (name, numbers, smallest
    and largest one; `None` where the sources say which), and what is changed in the copy."""

    def __init__(self, unfused, fused, files, text, edits=NO_ROUNDS):
        self.sources = {"unfused": unfused, "by hand": fused}
        self.files, self.text, self.edits = files, text, edits

    def paths(self, which, place):
        """Sources in a copy."""
        return [path for source in self.sources[which] for path in sorted(place.glob(source))]


def lstm_weights(cells, hidden):
    return cells * (8 * hidden * hidden + 4 * hidden)


NETWORKS = {
    "lstm": Network(
        ["base.cu"], ["lstm.cu"],
        [("model_params.txt", lstm_weights(10, 256), -0.05, 0.05), ("input_params.txt", 100 * 256, -1, 1),
         ("expect_results.txt", 100 * 256, 0, 0)], text=True),
    "seq2seq": Network(
        ["base.cu"], ["seq2seq.cu"],
        [("seq2seq_model_params.txt", lstm_weights(12, 128), -0.05, 0.05), ("seq2seq_input_params.txt", 100 * 128, -1, 1),
         ("seq2seq_expect_results.txt", 30 * 128, 0, 0)], text=True),
    "deepspeech2": Network(
        ["deepspeech.cu", "op/cuda_ops.cu", "op/rammer_ops.cu", "lstm/base.cu"],
        ["deepspeech.cu", "op/cuda_ops.cu", "op/rammer_ops.cu", "lstm/lstm.cu"],
        [("deepspeech.input", 171 * 300, 0, 1), ("deepspeech.output", 75 * 29, 0, 0), ("deepspeech.weight", 1 << 20, 0.001, 0.02),
         ("w.data", 2752 * 1024 + 6 * 256 * 1024, -0.05, 0.05), ("u.data", 7 * 256 * 1024, -0.05, 0.05), ("bias", 7 * 1024, -0.1, 0.1)],
        text=False, edits=[(r"\bkLoop = \d+, kWarmupLoop = \d+", "kLoop = 0, kWarmupLoop = 1")]),
    "resnext": Network(
        ["base.cu", "op/cuda_ops.cu"], ["resnext.cu", "op/cuda_ops.cu"], [("resnext50_32x4d.output", 1000, 0, 0)], text=False,
        # Without what base.h lacks NVIDIA's nvcc refuses base.cu, too. The network runs once before the clock does.
        edits=[(r'\A#include "base.h"', r'#include "op/utils.h"\n\g<0>'), (r"\bkLoop = \d+", "kLoop = 1"), (r"(?s)(cudaEventRecord\(start_cuda.*?i < )kLoop", r"\g<1>0")]),
    "nasnet": Network(
        ["nasnet.cpp", "base_kernels/*.cu"], ["nasnet.cpp", "kernels/*.cu"], None, text=False,
        # It says nothing of its results where they are as expected.
        edits=[(r"i_ < 200", "i_ < 0"), (r"\bsteps = 1000", "steps = 1"),
               (r'ReadAll\(\(char \*\)result, "output"\);',
                'printf("results:"); for (int i = 0; i < 10; ++i) printf(" %a", (double)Result_1763_0_host[i]); puts("");')]),
    "bert": Network(
        ["base.cu"], ["bert.cu"],
        [("bert_model_params.txt", 384 * 384 + 12 * 768 * 768 + 13 * 768, -0.05, 0.05), ("bert_input_params.txt", 384 * 768, -1, 1),
         ("bert_expect_results.txt", 384 * 768, 0, 0)], text=True,
        # Unfused, it asks for 1,024 bytes of shared memory less than gemm_k2 uses, at which the CPU device ends.
        edits=[*NO_ROUNDS, (r"(const int gemm_k2_shared_mem =\s+\()kChunkK \* kWmmaK \*\s+\(kBlockRowWarps \* kGemmK2WarpRowTiles \* kWmmaM \+ "
                            r"kInputSkew\)", r"\g<1>kBlockRowWarps * kGemmK2WarpRowTiles * kWmmaM * (kChunkK * kWmmaK + kInputSkew)")]),
}

# The columns of the table: which sources, and what is done to them.
BUILDS = [
    ("unfused", "unfused", "--sirius-fusion=off"),
    ("by us", "unfused", "--sirius-fusion=all"),
    ("by hand", "by hand", "--sirius-fusion=off"),
]


def main():
    arguments = argparse.ArgumentParser(prog="scripts/bench networks", description=__doc__.split("\n")[0])
    arguments.add_argument("--release", action="store_true", help="an optimised build of the compiler and the CPU device")
    arguments.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="the longest that a program runs (600)")
    arguments.add_argument("--builds", metavar="LIST", help="only these columns, with commas between; what the others counted is kept")
    arguments.add_argument("--draw", action="store_true", help="only draws docs/models.md from the results that are there")
    arguments.add_argument("checkout", nargs="?", type=pathlib.Path, help="a checkout of networks-minimal")
    arguments.add_argument("networks", nargs="*", metavar="NETWORK", help="of " + ", ".join(NETWORKS) + "; all by default")
    options = arguments.parse_args()
    labels = [label for label, *_ in BUILDS]
    options.builds = options.builds.split(",") if options.builds else labels
    if not set(options.builds) <= set(labels):
        arguments.error("the columns are " + ", ".join(labels))
    unknown = set(options.networks) - set(NETWORKS)
    if unknown:
        arguments.error("no network is called " + ", ".join(sorted(unknown)))
    if not options.draw:
        if options.checkout is None or not (options.checkout / "lstm/base.cu").exists():
            arguments.error("a checkout of networks-minimal is needed")
        measure(options)
    draw()


def measure(options):
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"networks": {}}
    results |= {"date": datetime.date.today().isoformat(), "device": f"CPU device on {cpu_name()}"}
    for name in options.networks or NETWORKS:
        print(f"\n{name}", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            network = measure_network(name, options, pathlib.Path(folder), results["networks"].get(name, {}))
        results["networks"][name] = network
        results["networks"] = {name: results["networks"][name] for name in NETWORKS if name in results["networks"]}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


def measure_network(name, options, folder, before):
    network, place = NETWORKS[name], folder / name
    shutil.copytree(options.checkout / name, place)
    for source in {path for which in network.sources for path in network.paths(which, place)}:
        text = source.read_text()
        for pattern, new in network.edits:
            text = re.sub(pattern, new, text)
        source.write_text(text)
    write_weights(network, place)
    rows, digests = {}, {"unfused": before.get("results")}
    for label, row in before.get("builds", {}).items():
        rows[label] = {"compiler": before.get("compiler")} | row
        digests[label] = digests.get(label) or row.get("results")
    print(f"{'':12}" + "".join(f"{count.replace('_', ' '):>18}" for count in COUNTS))
    for label, which, fusion in BUILDS:
        digests.setdefault(label)
        if label not in options.builds:
            continue
        row = {"compiler": ("release" if options.release else "debug") + " build of " + commit()}
        row |= build_and_run(place, network.paths(which, place), fusion, options)
        digests[label] = row["results"] = row.pop("said", None)
        rows[label] = row
        print(f"{label:12}" + (row.get("failure") or "".join(f"{row[count]:18,}" for count in COUNTS)), flush=True)
    if None not in (digests["unfused"], digests["by us"]) and digests["unfused"] != digests["by us"]:
        sys.exit(f"{name}: fused it says {digests['by us']!r}, unfused {digests['unfused']!r}")
    exact = digests["unfused"] == digests["by hand"] if digests["by hand"] else before.get("exact_by_hand")
    rows = {label: rows[label] for label, *_ in BUILDS if label in rows}
    return {"builds": rows, "results": digests["unfused"], "exact_by_hand": exact}


def write_weights(network, place):
    """Numbers that repeat after a prime, so that no two rows of a matrix are the same."""
    drawn = random.Random(1)
    files = network.files
    if files is None:
        # NASNet's program reads each of its constants into memory of its own, in so many bytes.
        text = "".join(path.read_text() for which in network.sources for path in network.paths(which, place))
        bytes_of = {}
        for name, count in re.findall(r'ifstream bin_file\("\./(\S+?)".*?bin_file\.read\(tmp_mem, (\d+)\)', text, re.S):
            bytes_of[name] = max(int(count), bytes_of.get(name, 0))
        files = [(name, count // 4, 0.001, 0.02) for name, count in sorted(bytes_of.items())]
    for name, count, least, most in files:
        block = [drawn.uniform(least, most) for _ in range(min(count, 100_003))]
        whole, rest = divmod(count, len(block))
        (place / name).parent.mkdir(exist_ok=True)
        with open(place / name, "wb") as file:
            for part in [block] * whole + [block[:rest]]:
                file.write("".join(f"{value:.5f}\n" for value in part).encode() if network.text else array.array("f", part).tobytes())


def build_and_run(place, sources, fusion, options):
    program = place / "program"
    stand_ins = ROOT / "bench/stand_ins"
    command = [models.compiler(options), "-O3", "-std=c++20", "-arch=sm_80", "-w", "--sirius-device=cpu", fusion, f"-I{stand_ins}",
               *sources, "-o", program, "-lcuda", "-lcublas"]
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=place)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        return {"failure": "is not compiled: " + said[0]}
    row = {"compile_seconds": round(time.monotonic() - began, 1)}
    row |= run_program(program, options.limit, place, folder_of_run=place)
    row.pop("kernels", None)
    if "said" in row:
        row["said"] = re.findall(r"^results: .*$", row["said"], re.M)[-1]
    return row


def draw():
    page = ROOT / "docs/models.md"
    results = json.loads(RESULTS.read_text())
    page.write_text(between(page.read_text(), "networks table", table(results)))
    print(f"drawn in {page.relative_to(ROOT)}")


def table(results):
    compilers = {}
    for name, network in results["networks"].items():
        own = {}
        for label, row in network["builds"].items():
            own.setdefault(row.get("compiler") or network.get("compiler"), []).append(label)
        for compiler, labels in own.items():
            which = name if len(own) == 1 else f"{name} ({', '.join(labels)})"
            compilers.setdefault(compiler, []).append(which)
    compilers = "; ".join(f"{', '.join(names)}: {compiler}" for compiler, names in compilers.items())
    lines = [f"{results['date']}; {results['device']}. {compilers}.", ""]
    labels = [label for label, *_ in BUILDS]
    lines += ["| network | count | " + " | ".join(labels) + " |", "|---|---|" + "---:|" * len(labels)]
    for name, network in results["networks"].items():
        for count in COUNTS:
            values = " | ".join(short(network["builds"][label].get(count)) for label in labels)
            lines.append(f"| {name} | {count.replace('_', ' ')} | {values} |")
    failures = [f"{name} ({label}) {row['failure']}" for name, network in results["networks"].items()
                for label, row in network["builds"].items() if "failure" in row]
    return "\n".join(lines + ([""] + [failure + "." for failure in failures] if failures else []))


if __name__ == "__main__":
    main()
