#!/usr/bin/env python3
"""How much of the main loops of contractions multiplies, beside kernels by hand: docs/tensor.md has the table that this prints.

`counted.tc` and the kernels by hand of `by_hand.h` (both in test_programs/tensor) are compiled for sm_90. A main loop is the
longest run of machine code without a branch that multiplies most; other runs are what it does at borders. Beside it stands
the run from its first multiplication to its last one, so that what the loop loads before is not in it for either side.

usage: bench/tensor_loops.py [--compiler SIRIUS-RS] [--arch sm_90]
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

from baseline_products import ROOT, tool

# How the page names them, the kernel that is made, and the one by hand.
ROWS = [
    ("tmm, large", "counted_tmm_kernel0", "by_hand_tmm"),
    ("tmm, small", "counted_small_tmm_kernel0", "by_hand_small_tmm"),
    ("tbmm", "counted_tbmm_kernel0", "by_hand_tbmm"),
    ("gconv", "counted_gconv_kernel0", "by_hand_gconv"),
    ("sgemm", "counted_sgemm_kernel0", "by_hand_sgemm"),
    ("MLP3, first layer", "counted_mlp3_kernel0", "by_hand_mlp3"),
]
BRANCHES = {"BRA", "BRX", "BREAK", "BSYNC", "CALL", "EXIT", "JMP", "RET", "WARPSYNC"}


def compiled(compiler, architecture, folder):
    """The machine code of both sides, as cuobjdump prints it, and what its kernels take."""
    programs = ROOT / "test_programs/tensor"
    folder = pathlib.Path(folder)
    for form, name in [("cuda", "made.cu"), ("header", "counted.tc.h")]:
        options = ["tc", programs / "counted.tc", f"--emit={form}", f"-arch={architecture}", "--sirius-tc-known=off"]
        subprocess.run([compiler, *options, "-o", folder / name], check=True)
    whole = folder / "whole.cu"
    whole.write_text(f'#include "made.cu"\n#include "{programs}/counted.cu"\n')
    flags = ["--sirius-device=cuda", "--sirius-fusion=off", f"-arch={architecture}", "-O3", "-cubin"]
    cubin = folder / "whole.cubin"
    subprocess.run([compiler, *flags, f"-I{folder}", f"-I{programs}", whole, "-o", cubin], check=True)
    say = lambda what: subprocess.run([tool("cuobjdump"), what, cubin], capture_output=True, text=True, check=True).stdout
    return say("-sass"), say("-res-usage")


def main_loop(code):
    """How many instructions of the main loop's straight run multiply, and how many there are from the first of them to the last."""
    best, run = (0, 0), []
    for operation in [*code, "EXIT"]:
        if operation not in BRANCHES:
            run.append(operation)
            continue
        places = [place for place, each in enumerate(run) if each == "FFMA"]
        if places:
            best = max(best, (len(places), places[-1] - places[0] + 1))
        run = []
    return best


def operations(function):
    """The operations of a kernel's code, in their order."""
    for each in re.findall(r"^\s+/\*[0-9a-f]{4,}\*/\s+(.*?);", function, re.M):
        operation = re.sub(r"^@!?\w+\s+", "", each).split()[0].split(".")[0]
        if operation != "NOP":
            yield operation


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default=str(ROOT / "target/debug/sirius-rs"))
    parser.add_argument("--arch", default="sm_90")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        code, resources = compiled(arguments.compiler, arguments.arch, folder)
    loops = {}
    for function in code.split("Function : ")[1:]:
        mangled = function.split(maxsplit=1)[0]
        length, rest = re.match(r"_Z(\d+)(.*)", mangled).groups()
        loops[rest[: int(length)]] = main_loop(operations(function))
    spilled = [line for line in resources.splitlines() if re.search(r"STACK:[1-9]|LOCAL:[1-9]", line)]
    print("| | FFMA | of | | by hand | of | |\n|---|---|---|---|---|---|---|")
    for title, *kernels in ROWS:
        each = [f" {ffma} | {of} | {100 * ffma / of:.0f} % |" for ffma, of in (loops[kernel] for kernel in kernels)]
        print(f"| {title} |{''.join(each)}")
    print(f"\nKernels that spill registers or have a stack: {len(spilled)}.")


if __name__ == "__main__":
    main()
