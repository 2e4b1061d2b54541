"""What a program should print on a GPU, as the CPU device has it, and why a GPU may print something else."""

import hashlib
import os
import re
import subprocess

import toolkit

# Instructions that a GPU works out in its own way, by the PTX that asks for them.
APPROXIMATE = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:ex2|lg2|sin|cos|tanh|rcp|sqrt|rsqrt|div)\.(?:approx|full)\S*)", re.M)
SUMS_IN_ANY_ORDER = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:atom|red)\.\S*add\S*\.(?:f16|bf16|f32|f64|f16x2|bf16x2))\b", re.M)
# Products and sums without a rounding in their name, which ptxas may fuse.
CONTRACTED = re.compile(r"^\s*(?:@!?%p\d+\s+)?((?:mul|add|sub)\.(?:ftz\.)?(?:f32|f64))\b", re.M)
PLACES = re.compile(r"%(clock64|clock|clock_hi|globaltimer|smid|nsmid|warpid|nwarpid|gridid)\b")
# Calls whose answers differ from device to device.
PROPERTIES = re.compile(r"\bU (cudaGetDeviceProperties\w*|cudaDeviceGetAttribute|cudaMemGetInfo|cudaOccupancy\w+|cudaFuncGetAttributes|cuDeviceGet\w+|cuMemGetInfo\w*|cuFuncGetAttribute|cudaDriverGetVersion|cudaDeviceGetName)\b")
LIBRARY_CALLS = re.compile(r"\bU (cublas|cufft|cusparse|cusolver|curand|nvrtc|nvml)")


def prepare(options):
    """The CPU device's libraries under CUDA's names."""
    options.cpu_libraries = options.folder / "cpu/lib64"
    if not options.cpu_libraries.exists():
        command = [options.compiler, "--sirius-device=cpu", "--sirius-toolkit", options.folder / "cpu"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def of(program, binary, options):
    """For each command line what the program without fusion prints on the CPU device, which runs the PTX in it."""
    runs = []
    why_not = None
    for arguments in program["runs"]:
        environment = dict(
            os.environ, LD_LIBRARY_PATH=str(options.cpu_libraries), SIRIUS_COMPILER=str(options.compiler), SIRIUS_CACHE=str(options.folder / "cache"),
            SIRIUS_CPU_THREADS="1", MODEL_SAMPLES="0",
        )
        try:
            done = subprocess.run([binary, *arguments], capture_output=True, env=environment, timeout=options.limit, stdin=subprocess.DEVNULL, cwd=binary.parent)
        except subprocess.TimeoutExpired:
            why_not = f"it takes more than {options.limit:.0f} s there"
            runs.append({})
            continue
        if done.returncode != 0 or (b"FAIL" in done.stdout and b"PASS" not in done.stdout) or not done.stdout:
            said = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
            why_not = f"status {done.returncode} there, {'; '.join(said[-2:])[:300]}"
            runs.append({})
            continue
        runs.append({"hash": hashlib.sha256(done.stdout).hexdigest()[:16], "text": done.stdout.decode(errors="replace")[:4000]})
    found = {"expected": runs, "may_differ": reasons(binary)}
    return found | ({"not_compared": why_not} if why_not else {})


def reasons(binary):
    """Why a GPU may print something else than the CPU device, by what is in the program."""
    said = []
    dump = toolkit.tool("cuobjdump")
    text = subprocess.run([dump, "-ptx", binary], capture_output=True, text=True, errors="replace").stdout if dump else ""
    for pattern, reason in [
        (APPROXIMATE, "approximate instructions"),
        (SUMS_IN_ANY_ORDER, "sums of floats in any order"),
        (CONTRACTED, "products and sums that ptxas may fuse"),
        (PLACES, "clocks, and places of blocks and warps"),
    ]:
        found = sorted(set(pattern.findall(text)))
        if found:
            said.append(f"{reason} (`{'`, `'.join(found[:4])}`)")
    symbols = subprocess.run(["nm", "-D", binary], capture_output=True, text=True).stdout
    for pattern, reason in [(LIBRARY_CALLS, "NVIDIA's library"), (PROPERTIES, "what the device says of itself")]:
        found = sorted(set(pattern.findall(symbols)))
        if found:
            said.append(f"{reason} (`{'`, `'.join(found[:4])}`)")
    return said
