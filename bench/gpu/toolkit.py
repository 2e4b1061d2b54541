"""The CUDA toolkit that programs are built with, and what stands in for NVIDIA's libraries here."""

import os
import pathlib
import shutil
import subprocess
import sys

from models import ROOT


def take_runtime(folder):
    """The shared CUDA runtime, so that programs are small."""
    for place in places():
        for library in [*place.glob("lib/libcudart.so.1?"), *place.glob("lib64/libcudart.so.1?")]:
            (folder / "lib").mkdir(exist_ok=True)
            shutil.copy(library, folder / "lib" / library.name)
            # NVIDIA's wheels lack the name that a linker looks for.
            link = folder / "lib/libcudart.so"
            link.unlink(missing_ok=True)
            link.symlink_to(library.name)
            return
    sys.exit("scripts/gpu: the shared library libcudart.so is nowhere; set CUDA_PATH to a toolkit")


def places():
    named = [pathlib.Path(os.environ[name]) for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ]
    return [*named, *ROOT.glob(".venv/lib/python3*/site-packages/nvidia/cu13"), pathlib.Path("/usr/local/cuda")]


def tool(name):
    """A program of the toolkit, or None."""
    return next((place / "bin" / name for place in places() if (place / "bin" / name).exists()), None)


# Where NVIDIA's libraries have what a program calls: the beginning of the name, then the library.
LIBRARIES = [
    ("cublasLt", "libcublasLt.so.13"), ("cublas", "libcublas.so.13"), ("cufft", "libcufft.so.12"), ("cusparse", "libcusparse.so.12"),
    ("cusolver", "libcusolver.so.12"), ("curand", "libcurand.so.10"), ("nvrtc", "libnvrtc.so.13"), ("cu", "libcuda.so.1"),
    ("nvml", "libnvidia-ml.so.1"),
]
# Options that ask for them. There need be none where programs are built, and `stand_ins` has what is missing.
LINKED = {f"-l{library.removeprefix('lib').split('.so')[0]}" for _, library in LIBRARIES}


def stand_ins(undefined, folder):
    """What to link a program with in place of the libraries that define these symbols: libraries of their names without code in
    them, so that the program finds the true ones where it runs. None when a symbol is nobody's."""
    by_library = {}
    for symbol in undefined:
        library = next((library for prefix, library in LIBRARIES if symbol.startswith(prefix)), None)
        if library is None:
            return None
        by_library.setdefault(library, []).append(symbol)
    for library, symbols in by_library.items():
        folder.mkdir(parents=True, exist_ok=True)
        code = "".join(f"void {symbol}(void) {{}}\n" for symbol in symbols)
        command = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", folder / library, f"-Wl,-soname,{library}"]
        subprocess.run(command, input=code, text=True, check=True)
    return [folder / library for library in by_library]
